"""The columns of the lowest and the highest score, in every form of a result."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, frames, retrievers
from ir_measures import AP, RR, Judged, P, nDCG

import pt_reuse as ptr
from pt_reuse.scoring.bounds import score_bounds


@pytest.mark.parametrize("more", [{}, {"round": 2}, {"baseline": 0}, {"layout": "long"}, {"dataframe": False}], ids=str)
@pytest.mark.parametrize("field", [None, OTHERS], ids=["alone", "field"])
def test_low_and_high_stand_beside_each_score(field, more):
    metrics = ["map", P @ 5, nDCG @ 5, RR, Judged @ 5, "num_rel_ret"]
    given = {"field": field, "reuse": ["rank", "bounds"], **more}
    result = ptr.Experiment(retrievers(), TOPICS, QRELS, metrics, **given)
    runs = ptr.RunSet.from_frames(frames(), order="trec_eval9")
    found = score_bounds(runs, FIELD.qrels, [AP, P @ 5, nDCG @ 5, RR])
    for m, name in enumerate(["map", "P@5", "nDCG@5", "RR"]):
        for r, system in enumerate(NAMES):
            if isinstance(result, dict):
                low, score, high = (result[system][f"{name}{end}"] for end in (" low", "", " high"))
            elif "measure" in result:
                row = result[(result["name"] == system) & (result["measure"] == name)].iloc[0]
                low, score, high = row[["low", "value", "high"]]
            else:
                row = result.set_index("name").loc[system]
                low, score, high = (row[f"{name}{end}"] for end in (" low", "", " high"))
            assert low <= score <= high
            expected = [values[m, :, r].mean() for values in (found.low, found.high)]
            assert [low, high] == pytest.approx(expected, abs=0.00501 if "round" in more else 1e-12)
    if not isinstance(result, dict):
        assert result.attrs["reuse"]["settings"]["no bounds"] == "Judged@5 and num_rel_ret"
        assert not any(column.startswith(("Judged@5 low", "num_rel_ret high")) for column in result)


def test_the_highest_label_is_that_of_all_judgments_whichever_topics_are_asked():
    # grades above 1 are on the first topic alone
    first = QRELS["qid"] == TOPICS["qid"][0]
    qrels = QRELS.assign(label=QRELS["label"].where(first, QRELS["label"].clip(upper=1)))
    qrels.loc[first & (qrels["label"] > 0), "label"] = 3
    metrics = [nDCG @ 5, nDCG, P(rel=2) @ 5]
    every, some = (
        ptr.Experiment(frames(), topics, qrels, metrics, perquery=True).set_index(["name", "measure", "qid"])
        for topics in (TOPICS, TOPICS[1:])
    )
    ends = ["value", "low", "high"]
    pd.testing.assert_frame_equal(pd.DataFrame(some[ends]), pd.DataFrame(every.loc[some.index, ends]))


def test_filled_scores_are_between_low_and_high():
    given = {"field": OTHERS, "depth": 8, "fill": FIELD.all_qrels}
    result = ptr.Experiment(frames(), TOPICS, QRELS, [P @ 20, AP, nDCG @ 20], **given)
    for measure in ("P@20", "AP", "nDCG@20"):
        low, filled, high = (result[f"{measure} {end}"] for end in ("low", "filled", "high"))
        assert (low - 1e-12 <= filled).all()
        assert (filled <= high + 1e-12).all()
    assert (result["P@20 filled"] > result["P@20"]).any()
