"""Coverage of fields and judgments that leave little to count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from coverage_parts import DEPTHS, POOL_DEPTH, QRELS_OF_NOTHING, TOPICS, ragged_field

import pt_reuse as ptr
from pt_reuse.scoring.caveats import CaveatWarning

quiet = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
RUNS, QRELS = ragged_field()


def cover(runs=RUNS, qrels=QRELS, **options):
    return ptr.profile.coverage(runs, qrels, **{"depths": DEPTHS, "depth": POOL_DEPTH, **options})


@quiet
def test_nothing_is_judged():
    found = cover(qrels=QRELS_OF_NOTHING)
    assert (found.table["unjudged"] == 1).all()
    assert (found.by_run[["judged_to", "median_judged_to", "RBP"]] == 0).all(axis=None)
    assert found.by_run["residual"].to_numpy() == pytest.approx(1)
    assert (found.by_run["best_rank"] == 1).all()
    assert (found.by_run["worst_rank"] == len(RUNS)).all()
    assert found.condensed["condensed_rank"].eq(1).all()
    found.plot("topics", width=3.3)


@quiet
def test_everything_is_judged():
    everything = RUNS.to_frame()[["qid", "docno"]].drop_duplicates().assign(label=0)
    everything.loc[everything.index[::3], "label"] = 1
    found = cover(qrels=ptr.Qrels(everything, topics=TOPICS))
    returned = found.per_topic()["documents"] > 0
    assert (found.per_topic().loc[returned, "unjudged"] == 0).all()
    assert (found.table["unjudged_of_k"] == 0).all()
    # a list without a gap counts as deep as the run's longest
    longest = RUNS.to_frame().groupby(["name", "qid"]).size().groupby("name").max()
    assert found.by_run.set_index("name")["judged_to"].astype(int).to_dict() == longest.to_dict()
    assert found.condensed["rise"].eq(0).all()
    # what follows a list is not known all the same
    assert (found.by_run["residual"] > 0).all()


@quiet
def test_one_run_and_one_topic():
    run = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
    found = cover({"mine": run}, {"1": {"a": 1, "c": 0}}, depths=3)
    row = found.by_run.iloc[0]
    assert (row["unjudged"], row["judged_to"], row["rank"], row["worst_rank"]) == (pytest.approx(1 / 3), 1, 1, 1)
    assert row["residual"] == pytest.approx(0.2 * 0.8 + 0.8**3)
    assert pd.isna(row["contributed"])
    assert np.isnan(row["unjudged_without_own"])
    assert found.settings["left out"] == "nobody: who was pooled is not on record for 1 run"
    assert found.headline() == "Unjudged@3 in the mean: runs 0.3333; most 0.3333 (mine); 0 runs of 1 with a flag"
    assert "Without" not in "".join(found.report().to_frame())
    assert len(found.groups) == 0
    for kind in ("topics", "depths", "residual", "rise"):
        found.plot(kind, width=3.3)


def test_fewer_than_five_topics(messages):
    few = QRELS.select(["1", "2", "3", "4"])
    with pytest.warns(CaveatWarning) as told:
        found = cover(qrels=few, contributors="pooled")
    said = [one.message for one in told if "4 topics only" in str(one.message)]
    assert len(said) == 1
    messages.told(said[0])
    assert "4 topics only" in found.settings["beware"]


@quiet
@pytest.mark.filterwarnings("ignore:.*1 run without a team")
@pytest.mark.parametrize(
    ("column", "values", "why"),
    [
        ("pooled", dict.fromkeys(RUNS.names, False), "no run is on record as pooled"),
        ("pooled", {RUNS.names[0]: pd.NA}, "who was pooled is not on record for 1 run"),
    ],
)
def test_nobody_can_be_left_out(column, values, why):
    table = RUNS.run_table.copy()
    for name, value in values.items():
        table.loc[table["name"] == name, column] = value
    frames = {name: RUNS[name] for name in RUNS.names}
    found = cover(ptr.RunSet.from_frames(frames, metadata=table))
    assert found.settings["left out"] == f"nobody: {why}"
    assert found.left_out is None
    assert found.table["unjudged_without_own"].isna().all()
    # what is unjudged does not hang on who was pooled
    assert found.table["unjudged"].tolist() == cover().table["unjudged"].tolist()
    assert "less covered than any contributor" not in set(found.flags["reason"])


@quiet
def test_contributors_that_the_user_names():
    names = RUNS.names[:2]
    found = cover(contributors=names)
    assert found.by_run.loc[found.by_run["contributed"], "name"].tolist() == names
    assert found.settings["contributors"] == "named (2 of 6 runs)"
    # one team alone brings all that it brings
    assert (found.by_run["unjudged_without_own"] >= found.by_run["unjudged"]).all()


@quiet
def test_a_run_without_any_topic_is_refused_or_unjudged_throughout(messages):
    other = RUNS[RUNS.names[0]].assign(qid=lambda f: "x" + f["qid"])
    frames = {**{name: RUNS[name] for name in RUNS.names}, "other": other}
    messages.refused(cover, runs=frames, argument="runs")
    found = cover(frames, without_topics="zero")
    row = found.by_run.set_index("name").loc["other"]
    assert (row["unjudged"], row["topics"]) == (1.0, 0)
    assert np.isnan(row["judged_to"])


@quiet
def test_an_unknown_depth_or_group_of_a_figure_is_refused(messages):
    found = cover()
    messages.refused(lambda: found.plot(depth=7), argument="depth")
    messages.refused(lambda: found.plot(kind="lines"), argument="kind")
    messages.refused(lambda: found.plot(by="run"), argument="by")
    messages.refused(lambda: found.plot("rise", measure="P@3"), argument="measure")
    messages.refused(lambda: found.report("colour"), argument="by")
