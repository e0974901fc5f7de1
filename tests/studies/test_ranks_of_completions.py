"""The ranks of a new run under every completion, held against the rank under every labelling of small fields."""

from __future__ import annotations

import random
from itertools import product

import pandas as pd
import pytest

import pt_reuse as ptr

DOCS = [f"d{i}" for i in range(6)]
MEASURES = ["AP", "AP@2", "P@3", "nDCG", "nDCG@2", "RR", "R@3", "Success@2", "RBP(rel=1)"]
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.errors.ReuseWarning")


def made(seed, labels=(0, 0, 1)):
    """Return runs as lists, and judgments, of two topics."""
    drawn = random.Random(seed)
    lists = {n: {q: drawn.sample(DOCS, drawn.randint(1, 4)) for q in "12"} for n in ("new", "a", "b", "c", "newer")}
    judged = [(q, d, drawn.choice(labels)) for q in "12" for d in DOCS if drawn.random() < 0.5]
    frames = {
        name: pd.DataFrame([(q, d, -float(i)) for q, docs in of.items() for i, d in enumerate(docs)], columns=COLUMNS)
        for name, of in lists.items()
    }
    return lists, ptr.RunSet.from_frames(frames, teams={n: n for n in frames}, pooled=True), [*judged, *RELEVANT]


COLUMNS = ["qid", "docno", "score"]
#: documents that no run has, so that every topic has a relevant one
RELEVANT = [("1", "x", 1), ("2", "x", 1)]


def as_qrels(rows):
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def ranks_of_all_labellings(lists, runs, judged, measure, depth, new=("new",), labels=(0, 1)):
    """Return the ranks of the new run, any label for its documents to the depth and those that the measure sees."""
    cutoff = ptr.score(runs, as_qrels(judged), measure).measures[0].partition("@")[2] or 99
    # a label below 0 is none
    judged = [row for row in judged if row[2] >= 0]
    known, deepest = {row[:2] for row in judged}, max(depth, int(cutoff))
    tops = {(q, d) for n in new for q, docs in lists[n].items() for d in docs[: deepest if n == "new" else depth]}
    free, ranks = sorted(tops - known), set()
    for given in product(labels, repeat=len(free)):
        more = [(*pair, label) for pair, label in zip(free, given, strict=True)]
        means = ptr.score(runs, as_qrels([*judged, *more]), measure).mean.set_index("name").iloc[:, -1]
        ranks.add(1 + int((means > means["new"] + 1e-9).sum()))
    return ranks


@pytest.mark.parametrize("seed", range(27))
def test_no_labelling_gives_another_rank(seed):
    measure, depth = MEASURES[seed % 9], (2, 3, 10)[seed % 3 if seed % 9 else seed // 9]
    lists, runs, judged = made(seed)
    field = runs.select(names=["a", "b", "c"])
    row = ptr.check_new_run(runs.select(names=["new"]), field, as_qrels(judged), measure, depth=depth).table.iloc[0]
    beside = runs.select(names=["new", "a", "b", "c"])
    ranks = ranks_of_all_labellings(lists, beside, judged, measure, depth)
    assert row["rank_low"] <= min(ranks) <= max(ranks) <= row["rank_high"]
    assert row["rank"] in ranks


@pytest.mark.parametrize("seed", range(18))
def test_grades_labels_below_0_and_a_second_new_run(seed):
    drawn, measure, depth = 100 + seed, ("AP(rel=2)", "nDCG", "nDCG@2")[seed % 3], (2, 3, 10)[seed % 9 // 3]
    lists, runs, judged = made(drawn, labels=(0, 1, 2, -1, -1))
    names, field = ["new", "newer"], runs.select(names=["a", "b", "c"])
    found = ptr.check_new_run(runs.select(names=names), field, as_qrels(judged), measure, depth=depth)
    row, beside = found.table.set_index("name").loc["new"], runs.select(names=["new", "a", "b", "c"])
    given = (0, max(label for *_, label in judged))
    cases = ranks_of_all_labellings(lists, beside, judged, measure, depth, names, given)
    assert row["rank_low"] <= min(cases) <= max(cases) <= row["rank_high"]


def test_a_rival_gains_by_the_document_of_both():
    ranked = {"new": ["d1", "d2"], "old": ["d2", "d1"]}
    frames = {n: pd.DataFrame({"qid": "1", "docno": docs, "score": [2.0, 1.0]}) for n, docs in ranked.items()}
    runs = ptr.RunSet.from_frames(frames, teams={"new": "a", "old": "b"}, pooled=True)
    judged, new, old = as_qrels([("1", "d1", 0), ("1", "x", 1)]), runs.select(names=["new"]), runs.select(names=["old"])
    for measure in ("RR", "AP", "nDCG", "RBP(rel=1)", "Success@1"):
        found = ptr.check_new_run(new, old, judged, measure, depth=10)
        assert found.table[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 2]], measure
        assert found.against["difference_low"].item() < 0
