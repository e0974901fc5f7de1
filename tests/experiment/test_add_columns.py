"""Columns added to a finished result of pt.Experiment are those of ptr.Experiment."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever
from ir_measures import AP, P, nDCG

import pt_reuse as ptr

MEASURES = [nDCG @ 10, "map", P @ 5]
FRAMES = {name: FIELD.runs[name] for name in NAMES}


def finished(**how):
    return pt.Experiment(list(FRAMES.values()), TOPICS, QRELS, MEASURES, names=NAMES, **how)


@pytest.mark.parametrize(
    ("how", "perquery"),
    [
        ({"field": OTHERS, "pooled": True, "depth": 8}, False),
        ({"reuse": ["rank", "bounds"]}, True),
        ({"field": OTHERS, "pooled": True, "reuse": ["lou"], "by": "type", "types": dict.fromkeys(NAMES, "a")}, False),
        ({"reuse": ["filled"], "fill": QRELS}, True),
    ],
)
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_as_in_an_experiment(how, perquery):
    wanted = ptr.Experiment(FRAMES, TOPICS, QRELS, MEASURES, perquery=perquery, **how)
    found = ptr.add_columns(finished(perquery=perquery), FRAMES, QRELS, **how)
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(wanted)[list(found)])
    assert set(found) == set(wanted)
    assert found.runs.names == NAMES
    assert found.attrs["reuse"]["settings"].get("ranked among") == wanted.attrs["reuse"]["settings"].get("ranked among")


def test_rows_and_other_columns_stay():
    given = finished(baseline=0, correction="holm", round=3).iloc[[2, 0]].assign(own="x")
    found = ptr.add_columns(given, FIELD.runs, QRELS, reuse=["rank"], round=3)
    pd.testing.assert_frame_equal(pd.DataFrame(found)[list(given)], given)
    # among the two that are there
    assert sorted(found["map rank"]) == [1, 2]
    assert "p as pt.Experiment gave it" in " ".join(str(found.report()).split())
    long = ptr.add_columns(given, FIELD.runs, QRELS, reuse=["rank"], round=3, layout="long")
    assert long.shape == (6, 9)


def test_from_the_folder_of_saved_results(tmp_path):
    systems = [Retriever(frame) for frame in FRAMES.values()]
    result = pt.Experiment(systems, TOPICS, QRELS, MEASURES, names=NAMES, save_dir=str(tmp_path))
    found = ptr.add_columns(result, tmp_path, QRELS, field=OTHERS)
    wanted = ptr.Experiment(FRAMES, TOPICS, QRELS, MEASURES, field=OTHERS)
    assert found["nDCG@10 rank"].tolist() == wanted["nDCG@10 rank"].tolist()


def test_of_an_experiment_that_knows_its_runs():
    before = ptr.Experiment(FRAMES, TOPICS, QRELS, [AP], reuse=["rank"], baseline=NAMES[0])
    found = ptr.add_columns(before, qrels=QRELS, field=OTHERS)
    wanted = ptr.Experiment(FRAMES, TOPICS, QRELS, [AP], field=OTHERS, baseline=NAMES[0])
    assert found["AP rank"].tolist() == wanted["AP rank"].tolist()
    assert list(found.columns).count("AP rank") == 1
    assert found.attrs["reuse"]["settings"]["baseline"] == NAMES[0]


def test_other_judgments_and_topics_are_told(messages):
    some = QRELS[QRELS["qid"] != TOPICS["qid"][0]]
    messages.warned(lambda: ptr.add_columns(finished(), FRAMES, some, reuse=["rank"]), times=3)
    few = pt.Experiment(list(FRAMES.values()), TOPICS[:3], QRELS, MEASURES, names=NAMES)
    messages.warned(lambda: ptr.add_columns(few, FRAMES, QRELS, reuse=["rank"]), times=3)
    messages.warned(lambda: ptr.add_columns(few, FRAMES, QRELS, reuse=["rank"], topics=TOPICS[:3]), times=0)


def test_topics_without_results_count_as_in_the_experiment(messages):
    some = {name: frame[frame["qid"] != TOPICS["qid"][0]] for name, frame in FRAMES.items()}
    # asked of all topics, or of those alone that have results
    for topics, given, told in ((TOPICS, TOPICS, 1), (TOPICS[1:], None, 0)):
        result = pt.Experiment(list(some.values()), topics, QRELS, MEASURES, names=NAMES)
        found = messages.warned(ptr.add_columns, times=told, result=result, runs=some, qrels=QRELS, topics=given)
        wanted = messages.warned(lambda topics=topics: ptr.Experiment(some, topics, QRELS, MEASURES), times=told)
        pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(wanted)[list(found)])


def test_a_rounded_result_is_told(messages):
    for how in ({}, {"perquery": True}):
        given = (finished(round=2, **how), FRAMES, QRELS)
        messages.warned(lambda given=given: ptr.add_columns(*given, round=2), times=0)
        with pytest.warns(ptr.ReuseWarning) as caught:
            ptr.add_columns(*given)
        # P@5 by topic has no third digit
        assert len(caught) == (2 if how else 3)
        assert all("pass round=" in str(warning.message) for warning in caught)


def test_bad_input(messages):
    result = finished()
    for given, argument in (
        ((result,), "qrels"),
        ((result, None, QRELS), "runs"),
        ((result, OTHERS, QRELS), "runs"),
        (({"AP": 1}, FRAMES, QRELS), "result"),
        ((result[["name"]], FRAMES, QRELS), "result"),
        ((result.iloc[:0], FRAMES, QRELS), "result"),
        ((result.assign(**{"map rank": 1}), FRAMES, QRELS), "result"),
        ((result.rename(columns={"name": "system"}), FRAMES, QRELS), "result"),
        ((pd.concat([result, result[:1]]), FRAMES, QRELS), "result"),
        ((pd.concat([finished(perquery=True)] * 2), FRAMES, QRELS), "result"),
    ):
        messages.refused(lambda given=given: ptr.add_columns(*given, reuse=["rank"]), argument=argument)
    messages.refused(lambda: ptr.add_columns(result, FRAMES, QRELS, reuse=[]), argument="reuse")
