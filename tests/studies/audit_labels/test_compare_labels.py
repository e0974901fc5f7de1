"""compare_labels: labels in every form, what is refused and warned of, and what is checked before a judge is asked."""

from __future__ import annotations

import pandas as pd
import pytest
from label_parts import judged, labelled, row_of

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels

HUMAN = judged()
GRADED = labelled(HUMAN)
FRAME = GRADED.to_frame()[["qid", "docno", "label"]]
KNOWN = {(row.qid, row.docno): row.label for row in FRAME.itertuples()}


def say(pairs):
    return pairs.assign(label=[KNOWN[pair] for pair in zip(pairs["qid"], pairs["docno"], strict=True)])


class Asked:
    """A judge that must not be asked."""

    def __call__(self, pairs):
        raise AssertionError("asked")


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (GRADED, "judge"),
        (FRAME, "judge"),
        ({"model": FRAME}, "model"),
        ({qid: dict(zip(part["docno"], part["label"], strict=True)) for qid, part in FRAME.groupby("qid")}, "judge"),
        (ptr.judging.Oracle(GRADED, name="known"), "known"),
        (say, "say"),
        ({"f": say}, "f"),
    ],
)
def test_a_judge_comes_in_any_form(form, name):
    found = ptr.labels.compare_labels(HUMAN, form, resamples=0)
    assert found.judges == [name]
    wanted = ptr.labels.compare_labels(HUMAN, {name: GRADED}, resamples=0)
    pd.testing.assert_frame_equal(found.table, wanted.table)


def test_what_is_relevant_can_be_said():
    bare = HUMAN.to_frame()[["qid", "docno", "label"]]
    found = ptr.labels.compare_labels(bare, {"a": GRADED, "b": GRADED}, rel=3, judge_rel={"a": 3, "b": 1}, resamples=0)
    assert found.bounds.to_numpy().tolist() == [["a", 3, 3], ["b", 3, 1]]
    for name, bound in (("a", 3), ("b", 1)):
        row = row_of(found.table, judge=name, items="all", labels="binary")
        assert row["judge_relevant"] == (FRAME["label"] >= bound).mean()
        assert row["human_relevant"] == (bare["label"] >= 3).mean()
    assert ptr.labels.compare_labels(bare, GRADED, resamples=0).bounds.to_numpy().tolist() == [["judge", 1, 1]]
    others = ptr.labels.compare_labels(HUMAN, GRADED, people={"ann": GRADED.with_rel(3)}, resamples=0)
    assert others.bounds.to_numpy().tolist() == [["judge", 2, 2], ["ann", 2, 3]]


REFUSED = {
    "rel": {"rel": 0},
    "judge_rel": {"judge_rel": "high"},
    "judge_rel of a stranger": {"judge_rel": {"modle": 2}},
    "people without names": {"people": GRADED},
    "families": {"families": "gpt"},
    "resamples": {"resamples": -1},
    "confidence": {"confidence": 95},
    "seed": {"seed": "x"},
    "no judge": {"judge": {}},
    "no judgments": {"human": 5},
    "nothing judged": {"human": pd.DataFrame({"qid": ["1"], "docno": ["d"], "label": [-1]})},
    "people": {"people": {}},
    "one name for two": {"people": {"model": GRADED}},
    "a person beside the topics": {"people": {"ann": pd.DataFrame({"qid": ["x"], "docno": ["d"], "label": [1]})}},
}


@pytest.mark.parametrize("case", REFUSED)
def test_everything_is_checked_before_a_judge_is_asked(case, messages):
    given = {"human": HUMAN, "judge": {"model": Asked()}, **REFUSED[case]}
    words = {"no judgments": "human", "nothing judged": "human", "no judge": "judge", "one name for two": "people"}
    argument = words.get(case, next(iter(reversed(REFUSED[case]))))
    argument = {
        "judge_rel of a stranger": "judge_rel",
        "a person beside the topics": "people",
        "people without names": "people",
    }.get(case, argument)
    messages.refused(lambda: ptr.labels.compare_labels(**given), argument=argument)


def test_labels_that_all_are_one():
    human = Qrels(HUMAN.to_frame().assign(label=0))
    found = ptr.labels.compare_labels(human, {"model": human}, resamples=9)
    row = row_of(found.table, items="all")
    assert (row["agreement"], row["human_relevant"], row["why"]) == (
        1, 0, "all labels are the same; the judge calls none relevant; people call none relevant"
    )  # fmt: skip
    assert pd.isna(row[["kappa", "kappa_low", "precision", "recall"]].astype(float)).all()
    assert row_of(found.table, items="relevant")["n_items"] == 0
    assert "model has no kappa with people on 180 documents of 6 topics: all labels are the same" in found.findings()[0]
