"""What filled holes say: intervals, sentences, the report, and what is kept of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, nDCG

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import drawn_counts
from pt_reuse.scoring.scores import score

FIELD = ptr.demo.simulate_field(seed=11, n_topics=8, n_docs=120, n_teams=4, length=30, depth=10)
#: a judge that finds everything one grade better, as far as grades go, and does not know some documents
GENEROUS = FIELD.all_qrels.to_frame().assign(label=lambda f: (f["label"] + 1).clip(upper=f["label"].max()))
GENEROUS = GENEROUS.sample(frac=0.95, random_state=1)


def filled(**options):
    given = {"depth": 10, "fill": {"generous": GENEROUS}, "resamples": 200, "seed": 3, **options}
    return ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, [nDCG @ 10, AP], **given)


@pytest.fixture(scope="module")
def found():
    with pytest.warns(ptr.ReuseWarning, match="'generous' gave no label to"):
        return filled()


def own_scores(found, unit, way):
    """Score the unit's own runs under judgments built anew: {measure: (topics, runs)} changes."""
    runs = FIELD.runs.select(FIELD.runs.run_table.query("team == @unit")["name"])
    pool, labels = ptr.depth_pool(FIELD.runs, depth=10), FIELD.qrels.to_frame()[["qid", "docno", "label"]]
    mine = pool.uniques("team").query("team == @unit")
    if way == "judge_alone":
        new = labels[["qid", "docno"]].merge(GENEROUS[["qid", "docno", "label"]])
    else:
        gone = labels.merge(mine[["qid", "docno"]], how="left", indicator=True)["_merge"] == "both"
        new = labels[~gone.to_numpy()]
        if way == "filled":
            new = pd.concat([new, labels[gone.to_numpy()][["qid", "docno"]].merge(GENEROUS[["qid", "docno", "label"]])])
    after, before = (
        score(runs, qrels, [nDCG @ 10, AP]) for qrels in (ptr.Qrels(new, topics=FIELD.qrels.topics), FIELD.qrels)
    )
    return dict(zip(before.measures, after.values - before.values, strict=True))


def test_intervals_are_percentiles_of_topics_drawn(found):
    [counts] = drawn_counts(8, resamples=200, seed=3)
    for row in found.filled.to_dict("records"):
        for way in ("removed", "filled", "judge_alone"):
            change = own_scores(found, row["team"], way)[row["measure"]].mean(axis=1)
            drawn = counts @ change / 8
            low, high = np.percentile(drawn, [2.5, 97.5])
            ends = [row[f"{way}_change{end}"] for end in ("", "_low", "_high")]
            assert ends == pytest.approx([change.mean(), min(low, change.mean()), max(high, change.mean())], abs=1e-12)
    units = found.filled.query("measure == 'AP' and removed > 0")["team"]
    each = np.array([own_scores(found, unit, "filled")["AP"].mean(axis=1) for unit in units])
    summary = found.filled_summary.set_index("measure").loc["AP"]
    low, high = np.percentile(counts @ each.mean(axis=0) / 8, [2.5, 97.5])
    assert summary[["filled_change", "filled_change_low", "filled_change_high"]].tolist() == pytest.approx(
        [each.mean(), low, high], abs=1e-12
    )
    above = (np.round(each @ counts.T / 8, 12) > 0).sum(axis=0)
    n = int((each.mean(axis=1) > 0).sum())
    low, high = np.percentile(above, [2.5, 97.5])
    assert summary[["filled_above", "filled_above_low", "filled_above_high"]].tolist() == [n, min(low, n), max(high, n)]


def test_grades_above_those_of_people_weigh_as_the_highest_of_people():
    higher = FIELD.all_qrels.to_frame().assign(label=lambda f: 2 * f["label"])
    with pytest.raises(ptr.InputError) as error:
        filled(fill={"higher": higher})
    assert error.value.argument == "judge_rel"
    lowered = higher.assign(label=higher["label"].clip(upper=FIELD.qrels.to_frame()["label"].max()))
    asked, known = (filled(fill={"higher": labels}, judge_rel=1) for labels in (higher, lowered))
    pd.testing.assert_frame_equal(asked.filled, known.filled)
    # a map says which label of people each of them is
    mapped = filled(fill={"higher": higher}, judge_rel={2 * label: label for label in range(4)})
    truth = filled(fill={"higher": FIELD.all_qrels})
    pd.testing.assert_frame_equal(mapped.filled, truth.filled)


def test_options_of_a_judge_need_one_that_knows_something(messages):
    for argument, value in (("judge_rel", 2), ("holes", "unjudged")):
        messages.refused(
            lambda given={argument: value}: ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, AP, **given),
            argument=argument,
        )
    messages.refused(lambda: filled(fill={"j": lambda frame: [None] * len(frame)}), argument="fill")


def test_a_judge_that_was_fitted_on_the_uniques_is_told(messages):
    seen = ptr.judging.Calibrated(FIELD.all_qrels, FIELD.qrels, share=[FIELD.qrels.topics[0]])
    found = messages.warned(lambda: filled(fill={"seen": seen}, resamples=0))
    assert found.settings["beware"].startswith("seen was fitted on ")
