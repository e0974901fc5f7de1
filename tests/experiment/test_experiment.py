"""ptr.Experiment returns what pt.Experiment returns, and more columns."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import (
    ALL,
    FIELD,
    LIVE,
    NO_FIELD,
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
from pt_reuse.experiment.arguments import parse_metrics
from pt_reuse.experiment.systems import Recorder

ARGUMENTS = {
    "defaults": {},
    "perquery": {"perquery": True},
    "correction": {"baseline": 0, "correction": "bonferroni", "correction_alpha": 0.2},
    "own test": {"baseline": 2, "test": lambda x, y: (0, float(np.sum(x - y)))},
    "round both": {"round": 3, "perquery": "both"},
    "color": {"highlight": "color", "round": 3, "baseline": 0},
    "batches": {"batch_size": 2},
    "tree batches": {"plan": "tree", "verbose": False, "batch_size": 4, "perquery": True},
    "prefix": {"precompute_prefix": True},
}
#: without a field, and with one: a depth that changes nothing is told
DEPTH: dict[bool, dict[str, int]] = {True: {}, False: {"depth": 8}}


@pytest.mark.parametrize(("name", "arguments"), ARGUMENTS.items())
def test_returns_what_pt_experiment_returns(name, arguments):
    metrics, at = [AP, nDCG @ 10, "P_5"], list(ARGUMENTS).index(name)
    # in turns with pipelines and frames, one kind alone or among each other, and with a field and without
    systems, field = (frames, retrievers, mixed)[at % 3], (None, OTHERS)[at % 2]
    theirs, expected, _ = recorded(pt.Experiment, systems(), TOPICS, QRELS, metrics, **arguments)
    ours, said, warned = recorded(
        ptr.Experiment, systems(), TOPICS, QRELS, metrics, field=field, **DEPTH[field is None], **arguments
    )
    assert_same(ours, theirs)
    assert warned == []
    assert said == expected


@pytest.mark.filterwarnings("ignore:.*without a result for over a tenth")
@pytest.mark.parametrize(
    ("perquery", "filter_by_qrels", "filter_by_topics", "plan", "batch_size"),
    [
        (True, False, False, "tree", 2),
        (True, True, True, "tree", 2),
        ("both", True, False, "linear", None),
    ],
)
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
    ours, said, warned = recorded(
        ptr.Experiment, mixed(), topics, qrels, [AP, P @ 5], field=OTHERS, depth=8, **arguments
    )
    assert_same(ours, theirs)
    assert warned == []
    assert said == expected
    if perquery is True and not filter_by_qrels:
        assert ours.loc[ours["qid"] == "2", ["value", *LIVE]].isna().all(axis=None)
        assert ours.loc[ours["qid"] != "2", ["value", *LIVE]].notna().all(axis=None)


@pytest.mark.parametrize(
    ("metrics", "field"),
    [
        (["map", "ndcg_cut_10", "mrt"], None),
        (["official"], OTHERS),
        ([NumRet, SetP, ptr.Unjudged @ 10, Judged @ 10], None),
        ([RR, RR @ 10, P(rel=2) @ 5], OTHERS),
        ("map", OTHERS),
    ],
    ids=str,
)
def test_measures(metrics, field, capfd):
    theirs = pt.Experiment(retrievers(), TOPICS, QRELS, [metrics] if isinstance(metrics, str) else metrics)
    said = capfd.readouterr()
    ours = ptr.Experiment(retrievers(), TOPICS, QRELS, metrics, field=field, **DEPTH[field is None])
    assert_same(ours, theirs)
    assert capfd.readouterr() == said
    known = parse_metrics(metrics)[1]
    for measure in theirs.columns.drop(["name", "mrt"], errors="ignore"):
        expected = LIVE if known[measure].NAME in ("AP", "P", "R", "Rprec", "nDCG", "RR") else LIVE[:2]
        every = dict.fromkeys((*SUFFIXES, *LIVE))
        assert [suffix for suffix in every if f"{measure} {suffix}" in ours] == list(expected)
        assert not any(f"{measure} {suffix}" in ours for suffix in NO_FIELD)


def test_sums_stay_sums():
    given = {"field": OTHERS, "depth": 8, "reuse": ALL}
    ours = ptr.Experiment(frames(), TOPICS, QRELS, ["num_rel_ret"], **given)
    mean = ptr.Experiment(frames(), TOPICS, QRELS, [NumRet(rel=1)], **given)
    assert ours["num_rel_ret LOU"].tolist() == pytest.approx(6 * mean["NumRet(rel=1) LOU"])
    assert ours["num_rel_ret LOU %"].tolist() == pytest.approx(mean["NumRet(rel=1) LOU %"])
    assert ours["num_rel_ret LOU rank"].tolist() == mean["NumRet(rel=1) LOU rank"].tolist()


@pytest.mark.parametrize("arguments", [{"dataframe": False, "perquery": "both"}, ARGUMENTS["color"]], ids=str)
def test_no_columns_is_pt_experiment(arguments):
    theirs, expected, _ = recorded(pt.Experiment, retrievers(), TOPICS, QRELS, ["map"], **arguments)
    ours, said, _ = recorded(ptr.Experiment, retrievers(), TOPICS, FIELD.qrels, ["map"], reuse=[], **arguments)
    assert said == expected
    assert type(ours) is type(theirs)
    if isinstance(theirs, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, theirs)
        assert ours.attrs == {}


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


# inputs


def test_extra_columns_of_qrels_and_ids_that_are_numbers():
    theirs = pt.Experiment(frames(), TOPICS, QRELS, [AP, ptr.Unjudged @ 5])
    rich = QRELS.assign(iteration="0", team="x")
    assert_same(ptr.Experiment(frames(), TOPICS, rich, [AP, ptr.Unjudged @ 5]), theirs)
    systems = {name: frame.astype({"qid": int}) for name, frame in frames().items()}
    assert_same(ptr.Experiment(systems, TOPICS, QRELS, [AP, ptr.Unjudged @ 5]), theirs)
    topics, qrels = TOPICS.astype({"qid": int}), QRELS.astype({"qid": int})  # pt.Experiment fails on these
    assert_same(ptr.Experiment(retrievers(), topics, qrels, [AP, ptr.Unjudged @ 5]), theirs)
    assert topics["qid"].dtype == qrels["qid"].dtype == np.int64


# each system runs once, and what it retrieved is saved and read as in pt.Experiment


@pytest.mark.parametrize(
    "arguments", [{}, {"perquery": "both"}, {"plan": "tree", "verbose": False}, {"reuse": "unjudged"}]
)
def test_each_pipeline_runs_once(arguments):
    systems = retrievers()
    ptr.Experiment(systems, TOPICS, QRELS, [AP, NumRet], field=OTHERS, depth=8, **arguments)
    assert [system.calls for system in systems.values()] == [1, 1, 1]
    assert all(system.asked == TOPICS["qid"].tolist() for system in systems.values())


@pytest.mark.parametrize(
    ("arguments", "batch_size"), [({"plan": "tree", "verbose": False}, 3), ({"precompute_prefix": True}, None)]
)
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
    assert result["P@3 rank"].min() == 1


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
    assert {path.name for path in ours_dir.iterdir()} == {path.name for path in theirs_dir.iterdir()}
    assert (ours_dir / "aggregated.csv").read_text() == (theirs_dir / "aggregated.csv").read_text()
    systems = retrievers()
    again = ptr.Experiment(systems, TOPICS, QRELS, [AP], save_dir=ours_dir, save_format=save_format, save_mode="reuse")
    assert [system.calls for system in systems.values()] == [0, 0, 0]
    pd.testing.assert_frame_equal(again, first)


def results(qids=("1", "1", "2")):
    return pd.DataFrame(
        {"qid": list(qids), "query": "q", "docno": [f"d{i}" for i in range(len(qids))], "score": 1.5, "x": 0}
    )


@pytest.mark.parametrize("docno", ["d9", None])
def test_what_a_later_batch_repeats_stands_once_but_not_what_one_batch_repeats(docno):
    recorder = Recorder("a")
    frame = pd.concat([results(), results(["1", "1"]).assign(docno=docno)])
    recorder(frame)
    once = recorder.results()
    assert len(once) == 5
    recorder(frame)
    pd.testing.assert_frame_equal(recorder.results(), once)
    recorder(results(["4"]))
    assert len(recorder.results()) == 6
