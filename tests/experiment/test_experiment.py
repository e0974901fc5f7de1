"""ptr.Experiment returns what pt.Experiment returns, runs each pipeline once, and says first what it cannot do."""

from __future__ import annotations

import pickle
import subprocess
import sys

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import (
    FIELD,
    NAMES,
    OTHERS,
    QRELS,
    SUFFIXES,
    TOPICS,
    Retriever,
    Shift,
    assert_same,
    frames,
    mixed,
    recorded,
    retrievers,
)
from ir_measures import AP, RR, Judged, NumRet, P, SetP, nDCG

import pt_reuse as ptr
from pt_reuse.experiment import columns

ARGUMENTS = {
    "defaults": {},
    "perquery": {"perquery": True},
    "both": {"perquery": "both"},
    "dict": {"dataframe": False},
    "perquery dict": {"dataframe": False, "perquery": True},
    "both dict": {"dataframe": False, "perquery": "both"},
    "baseline": {"baseline": 1},
    "baseline by name": {"baseline": "man3a"},
    "correction": {"baseline": 0, "correction": "bonferroni", "correction_alpha": 0.2},
    "wilcoxon": {"baseline": 2, "test": "wilcoxon", "correction": "holm"},
    "own test": {"baseline": 2, "test": lambda x, y: (0, float(np.sum(x - y)))},
    "round": {"round": 2},
    "round none": {"round": 0},
    "round each": {"round": {"AP": 1, "nDCG@10": 4}},
    "round perquery": {"round": 1, "perquery": True},
    "round both": {"round": 3, "perquery": "both"},
    "round dict": {"round": 1, "dataframe": False},
    "bold": {"highlight": "bold"},
    "color": {"highlight": "color", "round": 3, "baseline": 0},
    "batches": {"batch_size": 2},
    "batches perquery": {"batch_size": 4, "perquery": True},
    "tree": {"plan": "tree", "verbose": False},
    "tree batches": {"plan": "tree", "verbose": False, "batch_size": 4, "perquery": True},
    "verbose": {"verbose": True},
    "verbose tree": {"plan": "tree"},
    "prefix": {"precompute_prefix": True},
    "ignore": {"validate": "ignore"},
    "error": {"validate": "error"},
}
SYSTEMS = {"frames": frames, "pipelines": retrievers, "mixed": mixed}


@pytest.mark.parametrize("systems", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.parametrize("field", [None, OTHERS], ids=["alone", "field"])
def test_returns_what_pt_experiment_returns(arguments, systems, field):
    metrics = [AP, nDCG @ 10, "P_5"]
    theirs, expected, _ = recorded(pt.Experiment, systems(), TOPICS, QRELS, metrics, **arguments)
    ours, said, warned = recorded(ptr.Experiment, systems(), TOPICS, QRELS, metrics, field=field, **arguments)
    assert_same(ours, theirs)
    assert warned == []
    assert said == expected


@pytest.mark.parametrize("perquery", [False, True, "both"])
@pytest.mark.parametrize("filter_by_qrels", [False, True])
@pytest.mark.parametrize("filter_by_topics", [False, True])
@pytest.mark.parametrize("plan", ["linear", "tree"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_topics_and_qrels_that_differ(perquery, filter_by_qrels, filter_by_topics, plan, batch_size):
    arguments = {
        "perquery": perquery,
        "filter_by_qrels": filter_by_qrels,
        "filter_by_topics": filter_by_topics,
        "plan": plan,
        "verbose": False,
        "batch_size": batch_size,
    }
    topics, qrels = TOPICS[:4], QRELS[QRELS["qid"] != "2"]  # 2 is asked only, 5 and 6 are judged only
    theirs, expected, _ = recorded(pt.Experiment, mixed(), topics, qrels, [AP, P @ 5], **arguments)
    ours, said, warned = recorded(ptr.Experiment, mixed(), topics, qrels, [AP, P @ 5], field=OTHERS, **arguments)
    assert_same(ours, theirs)
    assert warned == []
    assert said == expected
    if perquery is True and not filter_by_qrels:
        assert ours.loc[ours["qid"] == "2", ["value", "LOU", "rank", "unjudged"]].isna().all(axis=None)
        assert ours.loc[ours["qid"] != "2", ["LOU", "rank", "drop", "unjudged"]].notna().all(axis=None)


@pytest.mark.parametrize("field", [None, OTHERS], ids=["alone", "field"])
@pytest.mark.parametrize(
    "metrics",
    [
        ["map", "ndcg_cut_10", "mrt"],
        ["official"],
        ["map", AP, AP],
        [AP, "num_ret", "num_rel_ret"],
        [NumRet, SetP, ptr.Unjudged @ 10, Judged @ 10],
        [RR, RR @ 10, P(rel=2) @ 5],
        [AP(rel=2)],
        "map",
    ],
    ids=str,
)
def test_measures(metrics, field, capfd):
    theirs = pt.Experiment(retrievers(), TOPICS, QRELS, [metrics] if isinstance(metrics, str) else metrics)
    said = capfd.readouterr()
    ours = ptr.Experiment(retrievers(), TOPICS, QRELS, metrics, field=field)
    assert_same(ours, theirs)
    assert capfd.readouterr() == said
    for measure in theirs.columns.drop(["name", "mrt"], errors="ignore"):
        assert [f"{measure} {suffix}" in ours for suffix in SUFFIXES] == [True] * 6


def test_names_that_ir_measures_gives_are_measures_too():
    ours = ptr.Experiment(frames(), TOPICS, QRELS, ["nDCG@10", "P(rel=2)@5"])
    theirs = pt.Experiment(frames(), TOPICS, QRELS, [nDCG @ 10, P(rel=2) @ 5])
    assert_same(ours, theirs)


def test_sums_stay_sums():
    ours = ptr.Experiment(frames(), TOPICS, QRELS, ["num_rel_ret"], field=OTHERS)
    mean = ptr.Experiment(frames(), TOPICS, QRELS, [NumRet(rel=1)], field=OTHERS)
    assert ours["num_rel_ret LOU"].tolist() == pytest.approx(6 * mean["NumRet(rel=1) LOU"])
    assert ours["num_rel_ret LOU %"].tolist() == pytest.approx(mean["NumRet(rel=1) LOU %"])
    assert ours["num_rel_ret LOU rank"].tolist() == mean["NumRet(rel=1) LOU rank"].tolist()


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_no_columns_is_pt_experiment(arguments):
    theirs, expected, _ = recorded(pt.Experiment, retrievers(), TOPICS, QRELS, ["map"], **arguments)
    ours, said, _ = recorded(ptr.Experiment, retrievers(), TOPICS, FIELD.qrels, ["map"], reuse=[], **arguments)
    assert said == expected
    assert type(ours) is type(theirs)
    if isinstance(theirs, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, theirs)
        assert ours.attrs == {}


def test_what_a_call_of_pt_experiment_looks_like():
    systems, plain = list(frames().values()), list(frames().values())
    for extra in ([], [NAMES], [NAMES, True], [None, "both"]):
        if not extra or extra[0] is None:
            systems, plain = [list(retrievers().values()) for _ in range(2)]
            plain = systems  # they are named by their addresses
        assert_same(
            ptr.Experiment(systems, TOPICS, QRELS, ["map"], *extra),
            pt.Experiment(plain, TOPICS, QRELS, ["map"], *extra),
        )
    assert_same(
        ptr.Experiment(tuple(systems), TOPICS, QRELS, ["map"], NAMES, baseline=0),
        pt.Experiment(systems, TOPICS, QRELS, ["map"], NAMES, baseline=0),
    )
    assert_same(
        ptr.Experiment(systems, TOPICS, QRELS, ["map"], NAMES, True, dataframe=False),
        pt.Experiment(plain, TOPICS, QRELS, ["map"], NAMES, True, False),
    )


def test_one_system_alone():
    ours = ptr.Experiment([FIELD.runs["neu2a"]], TOPICS, QRELS, [AP], ["only"])
    assert ours["name"].tolist() == ["only"]
    assert ours[["AP rank", "AP LOU rank", "AP drop"]].to_numpy().tolist() == [[1, 1, 0]]
    assert ours["AP LOU"].tolist() == [0.0]  # every relevant document is its unique
    assert np.isnan(ptr.reuse_summary(ours)["own_tau_b"]).all()
    in_field = ptr.Experiment({"only": FIELD.runs["neu2a"]}, TOPICS, QRELS, [AP], field=OTHERS, reuse="lou")
    assert list(in_field) == ["name", "AP", "AP LOU", "AP LOU %"]
    assert in_field["AP LOU"].item() > 0


def test_names_keep_their_type():
    systems = {1: FIELD.runs["neu2a"], 2: FIELD.runs["lex1a"]}
    assert_same(ptr.Experiment(systems, TOPICS, QRELS, [AP]), pt.Experiment(systems, TOPICS, QRELS, [AP]))
    ours = ptr.Experiment(list(systems.values()), TOPICS, QRELS, [AP], [1, 2], perquery=True)
    assert_same(ours, pt.Experiment(list(systems.values()), TOPICS, QRELS, [AP], [1, 2], perquery=True))


# inputs


def test_files_and_qrels_objects(tmp_path):
    topics, qrels = str(tmp_path / "topics.txt"), str(tmp_path / "qrels.txt")
    (tmp_path / "topics.txt").write_text(
        "".join(
            f"<top>\n<num>{qid}</num>\n<title>{query}</title>\n</top>\n"
            for qid, query in TOPICS.itertuples(index=False)
        )
    )
    FIELD.qrels.write(qrels)
    theirs = pt.Experiment(retrievers(), topics, qrels, [AP])
    assert_same(ptr.Experiment(retrievers(), topics, qrels, [AP]), theirs)
    assert_same(ptr.Experiment(retrievers(), tmp_path / "topics.txt", tmp_path / "qrels.txt", [AP]), theirs)
    assert_same(ptr.Experiment(retrievers(), TOPICS, ptr.read_qrels(qrels), [AP]), theirs)


def test_extra_columns_of_qrels_and_ids_that_are_numbers():
    theirs = pt.Experiment(frames(), TOPICS, QRELS, [AP, ptr.Unjudged @ 5])
    rich = QRELS.assign(iteration="0", team="x")
    assert_same(ptr.Experiment(frames(), TOPICS, rich, [AP, ptr.Unjudged @ 5]), theirs)
    systems = {name: frame.astype({"qid": int}) for name, frame in frames().items()}
    assert_same(ptr.Experiment(systems, TOPICS, QRELS, [AP, ptr.Unjudged @ 5]), theirs)
    topics, qrels = TOPICS.astype({"qid": int}), QRELS.astype({"qid": int})  # pt.Experiment fails on these
    assert_same(ptr.Experiment(retrievers(), topics, qrels, [AP, ptr.Unjudged @ 5]), theirs)
    assert topics["qid"].dtype == qrels["qid"].dtype == np.int64


def test_nothing_that_was_given_changes():
    systems = mixed()
    given = {"topics": TOPICS.copy(), "qrels": QRELS.copy(), "frame": systems["neu2a"].copy()}
    ptr.Experiment(systems, TOPICS, QRELS, [AP], field=OTHERS, teams=dict.fromkeys(NAMES, "us"))
    pd.testing.assert_frame_equal(TOPICS, given["topics"])
    pd.testing.assert_frame_equal(QRELS, given["qrels"])
    pd.testing.assert_frame_equal(systems["neu2a"], given["frame"])
    assert list(systems) == NAMES
    assert isinstance(systems["lex1a"], Retriever)


# one execution


@pytest.mark.parametrize(
    "arguments", [{}, {"perquery": "both"}, {"plan": "tree", "verbose": False}, {"reuse": "unjudged"}]
)
def test_each_pipeline_runs_once(arguments):
    systems = retrievers()
    ptr.Experiment(systems, TOPICS, QRELS, [AP, NumRet], field=OTHERS, **arguments)
    assert [system.calls for system in systems.values()] == [1, 1, 1]
    assert all(system.asked == TOPICS["qid"].tolist() for system in systems.values())


def test_batches_run_once_each():
    systems = retrievers()
    ptr.Experiment(systems, TOPICS, QRELS, [AP], batch_size=4)
    assert [(system.calls, system.asked) for system in systems.values()] == [(2, TOPICS["qid"].tolist())] * 3


@pytest.mark.parametrize("arguments", [{"plan": "tree", "verbose": False}, {"precompute_prefix": True}])
@pytest.mark.parametrize("batch_size", [None, 3])
def test_shared_prefixes_run_once(arguments, batch_size):
    def pipelines():
        first = Retriever(FIELD.runs["lex1a"])
        return first, {
            "first": first,
            "two": first >> Shift(2),
            "five": first >> Shift(5),
            "twice": first >> Shift(5) % 9,
        }

    plain, theirs = pipelines()
    expected, _, _ = recorded(pt.Experiment, theirs, TOPICS, QRELS, [AP, P @ 3], batch_size=batch_size, **arguments)
    first, systems = pipelines()
    result, _, warned = recorded(
        ptr.Experiment, systems, TOPICS, QRELS, [AP, P @ 3], batch_size=batch_size, **arguments
    )
    assert_same(result, expected)
    assert warned == []
    assert first.calls == plain.calls == (1 if batch_size is None else 2)
    assert result["P@3 LOU"].notna().all()


def test_same_pipeline_under_two_names():
    system = Retriever(FIELD.runs["lex1a"])
    result = ptr.Experiment({"a": system, "b": system}, TOPICS, QRELS, [AP], plan="tree", verbose=False)
    assert system.calls == 1
    assert result["AP rank"].tolist() == [1, 1]


def test_source_that_answers_every_batch_with_all_it_has():
    source = pt.transformer.UniformTransformer(FIELD.runs["lex1a"])
    systems = {"all": source, "neu2a": FIELD.runs["neu2a"]}
    ours = ptr.Experiment(systems, TOPICS, QRELS, [AP], batch_size=2)
    pd.testing.assert_frame_equal(ours, ptr.Experiment(systems, TOPICS, QRELS, [AP]))


# saving

FORMATS = {
    "trec": "trec",
    "pickle": pickle,
    "functions": (lambda file: pd.read_pickle(file), lambda frame, file: frame.to_pickle(file)),
}


@pytest.mark.parametrize("save_format", FORMATS.values(), ids=FORMATS)
def test_saved_results_are_read_and_not_made_again(save_format, tmp_path):
    theirs_dir, ours_dir = tmp_path / "theirs", tmp_path / "ours"
    theirs_dir.mkdir()
    ours_dir.mkdir()
    pt.Experiment(retrievers(), TOPICS, QRELS, [AP], save_dir=str(theirs_dir), save_format=save_format)
    first = ptr.Experiment(retrievers(), TOPICS, QRELS, [AP], save_dir=str(ours_dir), save_format=save_format)
    assert sorted(path.name for path in ours_dir.iterdir()) == sorted(path.name for path in theirs_dir.iterdir())
    assert (ours_dir / "aggregated.csv").read_text() == (theirs_dir / "aggregated.csv").read_text()
    systems = retrievers()
    again = ptr.Experiment(systems, TOPICS, QRELS, [AP], save_dir=ours_dir, save_format=save_format, save_mode="reuse")
    assert [system.calls for system in systems.values()] == [0, 0, 0]
    pd.testing.assert_frame_equal(again, first)


def test_save_modes(tmp_path):
    save = {"save_dir": str(tmp_path)}
    ptr.Experiment({"A": Retriever(FIELD.runs["lex1a"])}, TOPICS, QRELS, [AP], **save)
    other = Retriever(FIELD.runs["neu2a"])
    with pytest.raises(ValueError, match="already exists"):
        ptr.Experiment({"A": other}, TOPICS, QRELS, [AP], save_mode="error", **save)
    with pytest.warns(UserWarning, match="already exists"):
        warned = ptr.Experiment({"A": other}, TOPICS, QRELS, [AP], field=OTHERS, **save)
    written = ptr.Experiment({"A": other}, TOPICS, QRELS, [AP], field=OTHERS, save_mode="overwrite", **save)
    assert other.calls == 2
    pd.testing.assert_frame_equal(warned, written)
    # the file of A now holds neu2a, and takes the place of whatever A is, as in pt.Experiment
    both = {"A": FIELD.runs["lex1a"], "B": Retriever(FIELD.runs["man3a"])}
    reused = ptr.Experiment(both, TOPICS, QRELS, [AP], field=OTHERS, save_mode="reuse", **save)
    assert both["B"].calls == 1
    assert reused.loc[0, "AP"] == written.loc[0, "AP"]
    direct = ptr.Experiment({**both, "A": FIELD.runs["neu2a"]}, TOPICS, QRELS, [AP], field=OTHERS)
    pd.testing.assert_frame_equal(reused, direct)


def test_verbose_shows_progress(capsys):
    ptr.Experiment(retrievers(), TOPICS, QRELS, [AP, SetP], verbose=True)
    assert "pt.Experiment" in capsys.readouterr().err
    ptr.Experiment(retrievers(), TOPICS, QRELS, [AP], plan="tree")
    assert "Pipeline structure" in capsys.readouterr().out
    ptr.Experiment(retrievers(), TOPICS, QRELS, [AP, SetP])
    assert capsys.readouterr() == ("", "")


def test_validation_looks_through_the_tap():
    class Scoreless(Retriever):
        def transform_outputs(self, input_columns):
            return [*input_columns, "docno"]

    system = Scoreless(FIELD.runs["lex1a"])
    with pytest.raises(ValueError, match="do not produce the required outputs"):
        ptr.Experiment({"A": system}, TOPICS, QRELS, [AP], validate="error")
    assert system.calls == 0


@pytest.mark.parametrize("pool_order", [None, "file", "rank"])
def test_the_order_of_the_pool_is_that_of_the_study(pool_order, monkeypatch):
    asked = []

    def study(runs, qrels, measures, **options):
        asked.append(options.pop("pool_order", None))
        return ptr.leave_out_uniques(runs, qrels, measures, **options)

    monkeypatch.setattr(columns, "leave_out_uniques", study)
    ptr.Experiment(frames(), TOPICS, QRELS, [AP], field=OTHERS, pool_order=pool_order)
    assert asked == [pool_order]


# errors, before anything is run

TYPED = OTHERS.with_metadata(types=dict.fromkeys(OTHERS.names, "any"))
TEAMLESS = ptr.RunSet.from_frames({"x": FIELD.runs["lex1b"]})
ERRORS = [
    ({"reuse": "taus"}, "reuse", None),
    ({"reuse": ["lou", "ranks"]}, "reuse", None),
    ({"reuse": 3}, "reuse", None),
    ({"drop_unused": True}, "drop_unused", None),
    ({"base_line": 0}, "base_line", None),
    ({"kwargs": {}}, "kwargs", None),
    ({"by": "runs"}, "by", None),
    ({"depth": 0}, "depth", None),
    ({"pool_order": "files"}, "pool_order", None),
    ({"field": FIELD.qrels}, "field", None),
    ({"field": FIELD.runs}, "retr_systems", None),
    ({"teams": {"lex1a": "us"}}, None, None),
    ({"by": "type"}, "by", None),
    ({"field": TEAMLESS}, None, "field"),
    ({"pooled": False}, "pooled", None),
    ({"field": OTHERS.with_metadata(teams={name: "neu2a" for name in OTHERS})}, "teams", None),
]


@pytest.mark.parametrize(
    ("arguments", "about", "place"), ERRORS, ids=[str(list(arguments)) for arguments, _, _ in ERRORS]
)
def test_errors_come_before_anything_is_run(arguments, about, place, messages):
    systems = retrievers()
    messages.refused(lambda: ptr.Experiment(systems, TOPICS, QRELS, [AP], **arguments), argument=about, place=place)
    assert [system.calls for system in systems.values()] == [0, 0, 0]


class Needy(ir_measures.Measure):
    NAME = __name__ = "Needy"
    SUPPORTED_PARAMS = {}  # noqa: RUF012 - the form ir_measures asks for
    RUN_INPUTS = ("query_id", "doc_id", "score", "team")

    def runtime_impl(self, qrels, run):
        for qid in sorted(set(qrels["query_id"]) & set(run["query_id"])):
            yield ir_measures.Metric(qid, self, 0.5)


def test_errors_of_systems_topics_and_measures(messages):
    a, b = retrievers()["lex1a"], FIELD.runs["lex1b"]
    calls = [
        (([b, b], TOPICS, QRELS, [AP], ["A", "A"]), "retr_systems"),
        (([b, b], TOPICS, QRELS, [AP]), "retr_systems"),
        (({1: b, "1": b}, TOPICS, QRELS, [AP]), "retr_systems"),
        (([b, b], TOPICS, QRELS, [AP], ["A"]), "names"),
        ((b, TOPICS, QRELS, [AP]), "retr_systems"),
        (([a], "no-topics", QRELS, [AP]), "topics"),
        (([a], TOPICS, "no-qrels", [AP]), "qrels"),
        (([a], None, QRELS, [AP]), "topics"),
        (([a], TOPICS, TOPICS, [AP]), "qrels"),
        (([a], TOPICS.assign(qid="x"), QRELS, [AP]), "topics"),
        (([a], TOPICS, QRELS, ["ndgc@10"]), None),
        (([a], TOPICS, QRELS, [AP, 3]), None),
        (([a], TOPICS, QRELS, ["mrt"]), "eval_metrics"),
        (([a], TOPICS, QRELS, [AP, Needy()]), "eval_metrics"),
    ]
    for arguments, about in calls:
        messages.refused(lambda arguments=arguments: ptr.Experiment(*arguments), argument=about)
    assert a.calls == 0
    with_team = {"A": b.assign(team="x")}
    ours = ptr.Experiment(with_team, TOPICS, QRELS, [Needy()], reuse="unjudged")
    assert_same(ours, pt.Experiment(with_team, TOPICS, QRELS, [Needy()]))


def test_document_twice_is_an_error_of_the_system(messages):
    twice = pd.concat([FIELD.runs["lex1a"], FIELD.runs["lex1a"][:1]])
    systems = {"B": FIELD.runs["lex1a"], "A": Retriever(twice)}
    messages.refused(lambda: ptr.Experiment(systems, TOPICS, QRELS, [AP]), argument="retr_systems")


def test_another_fault_of_the_results_is_told_as_it_is(messages):
    worse = FIELD.runs["lex1a"].assign(score=np.inf)
    messages.refused(lambda: ptr.Experiment({"A": Retriever(worse)}, TOPICS, QRELS, [AP]), place="run 'A'")


def test_field_and_topics(messages):
    elsewhere = FIELD.runs["lex1b"][:25].assign(qid="99")
    far = ptr.RunSet.from_frames({"far": elsewhere}, teams={"far": "T"})
    messages.refused(lambda: ptr.Experiment(frames(), TOPICS, QRELS, [AP], field=far), place="field")
    partial = OTHERS | far
    ours, _, warned = recorded(ptr.Experiment, frames(), TOPICS[:2], QRELS, [AP], field=partial)
    assert len(warned) == 1
    messages.told(warned[0])
    pd.testing.assert_frame_equal(ours, ptr.Experiment(frames(), TOPICS[:2], QRELS, [AP], field=OTHERS))
    stranger = {"A": elsewhere, "B": FIELD.runs["lex1b"]}
    ours, _, warned = recorded(ptr.Experiment, stranger, TOPICS, QRELS, [AP])
    assert len(warned) == 1
    messages.told(warned[0])
    assert ours.loc[0, ["AP", "AP LOU", "AP rank", "AP drop"]].tolist() == [0.0, 0.0, 2, 0]


def test_a_name_of_teams_that_is_no_system_is_told_once(messages):
    _, _, warned = recorded(
        ptr.Experiment, frames(), TOPICS, QRELS, [AP], teams={**dict.fromkeys(NAMES, "us"), "x": "y"}
    )
    assert len(warned) == 1
    messages.told(warned[0])


def test_is_pt_reuse_experiment_and_needs_no_java():
    assert pt.reuse.Experiment is ptr.Experiment
    code = (
        "import pandas as pd, pyterrier as pt\n"
        "a = pd.DataFrame({'qid': '1', 'docno': ['d1', 'd2'], 'score': [2.0, 1.0], 'rank': [0, 1]})\n"
        "q = pd.DataFrame({'qid': '1', 'docno': ['d1'], 'label': [1]})\n"
        "t = pd.DataFrame({'qid': ['1'], 'query': ['one']})\n"
        "r = pt.reuse.Experiment([pt.Transformer.from_df(a)], t, q, ['map'], ['A'])\n"
        "print(r['map'].item(), pt.java.started())\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout == "1.0 False\n"
