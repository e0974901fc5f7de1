"""Figures of two sets of judgments: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest

import pt_reuse as ptr

FIELD = ptr.simulate_field(seed=7, n_topics=9, n_docs=120, n_teams=4, length=15, depth=4)
NAMES = ("old", "new")


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
