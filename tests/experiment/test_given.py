"""Whatever holds runs, judgments or topics does for ptr.Experiment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from experiment_parts import ALL, FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, frames, retrievers
from ir_measures import AP, P, nDCG

import pt_reuse as ptr
from pt_reuse.experiment.arguments import read_topics

RUNS = FIELD.runs.select(NAMES)
QUIET = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def columns(**labels):
    """Return what a RunSet says of its runs as arguments."""
    table = RUNS.run_table.set_index("name")
    return {
        "teams": table["team"].to_dict(),
        "types": table["type"].to_dict(),
        "pooled": table["pooled"].to_dict(),
        **labels,
    }


@QUIET
@pytest.mark.parametrize(
    "more",
    [
        {"field": OTHERS, "depth": 8, "perquery": "both"},
        {"reuse": ALL, "depth": 5},
    ],
    ids=str,
)
def test_systems_may_be_a_run_set(more):
    said = columns() if "lou" in more.get("reuse", ["lou"] if "field" in more else []) else {}
    expected = ptr.Experiment(frames(), TOPICS, QRELS, [AP, P @ 5], baseline=None, **said, **more)
    found = ptr.Experiment(RUNS, TOPICS, QRELS, [AP, P @ 5], **more)
    for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, expected)), strict=True):
        pd.testing.assert_frame_equal(one, other)
        assert one.attrs == other.attrs
    runs = found[0].runs if isinstance(found, tuple) else found.runs
    pd.testing.assert_frame_equal(runs.run_table, RUNS.run_table)


@QUIET
def test_a_run_set_is_pooled_as_it_was():
    """The order of the files and the depth are known of the runs; frames of them know neither."""
    by_file = {
        name: frame.sample(frac=1, random_state=3).sort_values("qid", kind="stable") for name, frame in frames().items()
    }
    runs = ptr.RunSet.from_frames(
        by_file, teams={name: name for name in NAMES}, pooled=True, pool_order="file", pool_depth=4
    )
    found = ptr.Experiment(runs, TOPICS, QRELS, [AP], reuse=ALL)
    settings = found.attrs["reuse"]["settings"]
    assert (settings["depth"], settings["pool order"]) == (4, "file")
    by_run = ptr.leave_out_uniques(runs.reorder("trec_eval9"), QRELS, AP).by_run
    assert found["AP LOU (no field)"].tolist() == pytest.approx(by_run["reduced_score"].tolist())
    by_score = ptr.Experiment(runs, TOPICS, QRELS, [AP], reuse=ALL, pool_order="trec_eval9")
    assert not np.allclose(found["AP LOU (no field)"], by_score["AP LOU (no field)"])
    # in a field, what is known of the field counts
    field = ptr.RunSet.from_frames({n: OTHERS[n] for n in OTHERS}, metadata=OTHERS.run_table, pool_depth=8)
    in_field = ptr.Experiment(runs, TOPICS, QRELS, [AP], field=field, pooled=False)
    assert in_field.attrs["reuse"]["settings"]["depth"] == 8


def test_judgments_of_any_kind(tmp_path):
    expected = ptr.Experiment(retrievers(), TOPICS, QRELS, [AP])
    FIELD.qrels.write(tmp_path / "qrels.txt")
    for qrels in (FIELD.qrels, tmp_path / "qrels.txt", str(tmp_path / "qrels.txt"), QRELS.astype({"qid": int})):
        pd.testing.assert_frame_equal(ptr.Experiment(retrievers(), TOPICS, qrels, [AP]), expected)
    # a topic whose documents were all taken away has no judgments, as in pt.Experiment
    without = FIELD.qrels.restrict(QRELS[QRELS["qid"] != "2"])
    assert "2" in without.topics
    found = ptr.Experiment(retrievers(), TOPICS, without, [AP])
    pd.testing.assert_frame_equal(found, ptr.Experiment(retrievers(), TOPICS, QRELS[QRELS["qid"] != "2"], [AP]))


class Query(NamedTuple):
    """A query as ir_datasets has it."""

    query_id: str
    text: str


def test_topics_of_ir_datasets():
    expected = ptr.Experiment(retrievers(), TOPICS, QRELS, [AP])
    queries = [Query(qid, query) for qid, query in TOPICS.itertuples(index=False)]
    for topics in (queries, iter(queries), pd.DataFrame(queries), pd.DataFrame(queries).astype({"query_id": int})):
        systems = retrievers()
        pd.testing.assert_frame_equal(ptr.Experiment(systems, topics, QRELS, [AP]), expected)
        assert systems["lex1a"].asked == TOPICS["qid"].tolist()
    both = TOPICS.assign(text="kept as it is")
    assert ptr.Experiment(retrievers(), both, QRELS, [AP]).equals(expected)


@QUIET
@pytest.mark.parametrize("pool_order", ["file", "rank"])
def test_systems_are_pooled_by_score_whatever_the_order_of_the_field(pool_order):
    # rows as a re-ranker leaves them
    unsorted = {name: FIELD.runs[name].sort_values("docno").drop(columns="rank") for name in NAMES}
    theirs = OTHERS.with_metadata(pooled=True)
    field = ptr.RunSet.from_frames(
        {name: theirs[name] for name in theirs}, metadata=theirs.run_table, pool_order=pool_order, pool_depth=2
    )
    given = (TOPICS, QRELS, [AP, nDCG @ 10])
    how = {"field": field, "pooled": True, "reuse": ["lou"]}
    sorted_rows = {name: FIELD.runs[name].sort_values(["qid", "rank"]) for name in NAMES}
    wanted = ptr.Experiment(sorted_rows, *given, **how)
    assert (wanted["AP LOU"] < wanted["AP"]).any()
    for systems in (unsorted, {name: Retriever(frame) for name, frame in unsorted.items()}):
        found = ptr.Experiment(systems, *given, **how)
        pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(wanted))
        assert found.attrs["reuse"]["settings"]["pool order of systems"] == "trec_eval9"


FILES = {
    "1\twhat is it?\n2\ta: b\n": [("1", "what is it?"), ("2", "a: b")],
    "1 what is it?\n": [("1", "what is it?")],
    "<top>\n<num> Number: 401\n<title> minorities, germany\n</top>\n": [("401", "minorities, germany")],
    "<topics><topic number='1'><query>origin</query></topic></topics>": [("1", "origin")],
}


def test_topics_files_of_each_form(tmp_path, messages):
    path = tmp_path / "topics.txt"
    for text, expected in FILES.items():
        path.write_text(text)
        assert read_topics(str(path))[["qid", "query"]].to_records(index=False).tolist() == expected
    for text in ("", "alone\n", "1 a\n1 b\n"):
        path.write_text(text)
        error = messages.refused(lambda: ptr.Experiment(RUNS, str(path), QRELS, [AP]), argument="topics")
        assert str(error).endswith(". Give TREC topics (<top>), XML, a line for each topic (its qid, a tab or blank, "
                                   "the query), or a frame.")  # fmt: skip


@pytest.mark.parametrize("odd", [None, 1.5, b"\xff"], ids=repr)
def test_a_name_of_a_system_that_is_no_text_is_refused(odd, messages):
    systems = frames()
    given = [systems[name] for name in NAMES[:2]]
    for more in ({}, {"reuse": []}):
        call = lambda *given, more=more, **how: ptr.Experiment(*given, TOPICS, QRELS, [AP], **how, **more)  # noqa: E731
        messages.refused(lambda call=call: call(given, names=[odd, "B"]), argument="names")
        messages.refused(lambda call=call: call({odd: given[0], "B": given[1]}), argument="retr_systems")
