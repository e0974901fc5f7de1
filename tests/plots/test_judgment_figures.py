"""Figures of two sets of judgments: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.plots.run_scores import plot_topic_taus
from pt_reuse.plots.sheet import Place

FIELD = ptr.simulate_field(seed=7, n_topics=9, n_docs=120, n_teams=4, length=15, depth=4)
NAMES = ("old", "new")
ODD = "<b>$x_1$ & 50 %</b>"


@pytest.fixture(scope="module")
def found():
    return ptr.compare_judgments(FIELD.runs, FIELD.qrels, FIELD.all_qrels, ["AP", "P@5"], names=NAMES, depth=8)


def points(ax):
    drawn = np.concatenate([np.asarray(each.get_offsets()) for each in ax.collections])
    return sorted(map(tuple, drawn.tolist()))


@pytest.mark.parametrize(
    ("kind", "column", "width"), [("remainder", "remainder", 3.3), ("relevant", "new_relevant", 7)]
)
def test_topics_against_their_known_relevant_documents(found, kind, column, width):
    ax = found.plot(kind=kind, width=width)
    rows = found.by_topic[found.by_topic["new_by"] == "new"]
    assert points(ax) == sorted(zip(rows["relevant"].astype(float), rows[column].astype(float), strict=True))
    assert "relevant documents of the topic, old" in " ".join(ax.get_xlabel().split())
    said = {"remainder": "documents to rank 8 that old does not know", "relevant": "documents that new alone has"}
    assert said[kind] in " ".join(ax.get_ylabel().split())
    named = {text.get_text() for text in ax.texts}
    assert named <= set(rows["qid"])
    assert rows.sort_values([column, "relevant"], ascending=False, kind="stable")["qid"].iloc[0] in named


@pytest.mark.parametrize("by", ["team", None])
def test_runs_by_what_nobody_had_judged(found, by):
    ax = found.plot(kind="runs", by=by)
    rows = found.by_run[found.by_run["new_by"] == "new"]
    assert points(ax) == sorted(zip(rows["unjudged"].astype(float), rows["new_relevant"].astype(float), strict=True))
    assert ax.get_legend().get_title().get_text() == (by or "type")
    groups = rows.groupby(by or "type")[["unjudged", "new_relevant"]]
    for collection in ax.collections:
        group = groups.get_group(collection.get_label())
        assert sorted(map(tuple, collection.get_offsets().tolist())) == sorted(
            map(tuple, group.to_numpy(dtype=float).tolist())
        )


def test_runs_by_what_the_older_judgments_alone_have(found):
    assert all(y == 0 for _, y in points(found.plot(kind="runs", new_by="old")))


@pytest.mark.parametrize("measure", ["P@5"])
def test_tau_of_each_topic_the_lowest_first(found, measure):
    ax = found.plot(measure, kind="topics")
    taus = found.per_topic.loc[found.per_topic["measure"] == measure, "tau_b"].dropna().sort_values().tolist()
    assert [y for _, y in points(ax)] == pytest.approx(taus)
    assert [x for x, _ in points(ax)] == list(range(1, len(taus) + 1))
    overall = found.table.set_index("measure").loc[measure, "tau_b"]
    assert ax.lines[0].get_ydata()[0] == pytest.approx(overall)
    assert f"({overall:.4f})" in ax.get_legend().get_texts()[1].get_text()
    low, high = ax.get_ylim()
    assert low < min(taus)
    assert high > 1


def test_two_scorings_are_those_of_agreement(found):
    ax = found.plot("P@5", kind="scores")
    rows = found.changes[found.changes["measure"] == "P@5"]
    assert points(ax) == sorted(zip(rows["score"], rows["other_score"], strict=True))


def labels(ax):
    return [" ".join(label.split()) for label in (ax.get_xlabel(), ax.get_ylabel())]


def test_where_measures_differ_axes_name_both():
    found = ptr.compare_judgments(
        FIELD.runs, FIELD.qrels, FIELD.all_qrels, "nDCG@10", measures_b="RR", names=("dense", "sparse"), depth=8
    )
    ax = found.plot()
    assert labels(ax) == ["nDCG@10, dense", "RR, sparse"]
    assert points(ax) == sorted(zip(found.changes["score"], found.changes["other_score"], strict=True))
    assert labels(found.plot(kind="change"))[1] == "change (RR, sparse − nDCG@10, dense)"
    assert labels(found.plot(kind="topics"))[1] == "tau_b of the two rankings by nDCG@10 and RR"


@pytest.mark.parametrize("width", [3.3, 7])
def test_the_lowest_topic_is_named(width):
    """There is room for its name below it, so that it does not stand at that of the next one."""
    taus = np.concatenate([[0.887, 0.893, 0.894, 0.896], np.linspace(0.91, 1, 46)])
    topics = pd.DataFrame({"qid": [f"{404 + n}" for n in range(50)], "tau_b": taus})
    ax = plot_topic_taus(topics, measured="AP", overall=0.98, place=Place(width=width))
    names = [text.get_text() for text in ax.texts]
    assert names[0] == "404"
    assert "405" not in names


def test_nothing_new():
    found = ptr.compare_judgments(FIELD.runs, FIELD.qrels, FIELD.qrels.threshold(2), "AP", names=NAMES, depth=4)
    ax = found.plot(kind="relevant")
    assert all(y == 0 for _, y in points(ax))
    assert not ax.texts
