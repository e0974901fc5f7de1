"""Where relevant passages lie: positions and what is expected by hand, the test by its formula."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import pt_reuse as ptr


def passages(seed=1, n_docs=40, *, early=True):
    """Return labels of passages of documents of 2 to 8 passages; early ones are relevant more often."""
    random = np.random.default_rng(seed)
    rows = []
    for doc in range(n_docs):
        n = int(random.integers(2, 9))
        for p in range(n):
            chance = 0.7 * 0.5**p if early else 0.3
            rows.append((f"q{doc % 3}", f"D{doc}%p{p}", f"D{doc}", p, n, int(random.random() < chance)))
    return pd.DataFrame(rows, columns=["qid", "docno", "document", "passage", "n_passages", "label"])


FRAME = passages()
PLAIN = ["qid", "docno", "label"]


def expected_by_hand(frame, bins, *, uniform):
    """Return relevant passages per bin, found and expected, by fractions."""
    found, expected = [0] * bins, [Fraction(0)] * bins
    for _, part in frame.groupby(["qid", "document"]):
        n = int(part["n_passages"].iloc[0])
        places = [int(Fraction(2 * p + 1, 2 * n) * bins) for p in part["passage"].tolist()]
        relevant = int(part["label"].sum())
        for place, label in zip(places, part["label"], strict=True):
            found[place] += int(label)
        possible = [int(Fraction(2 * p + 1, 2 * n) * bins) for p in range(n)] if uniform else places
        for place in possible:
            expected[place] += Fraction(relevant, len(possible))
    return found, [float(number) for number in expected]


@pytest.mark.parametrize("bins", [2, 5, 10])
@pytest.mark.parametrize("against", ["labelled", "uniform"])
def test_found_and_expected_are_those_by_hand(bins, against):
    # a third of the passages has no label
    frame = FRAME[np.arange(len(FRAME)) % 3 > 0]
    result = ptr.judging.passage_positions(frame, bins=bins, against=against)
    found, expected = expected_by_hand(frame, bins, uniform=against == "uniform")
    assert result.table["relevant"].tolist() == found
    assert result.table["expected"].tolist() == pytest.approx(expected)
    assert result.table["labelled"].sum() == len(frame)
    some = [(o, e) for o, e in zip(found, expected, strict=True) if e > 0]
    statistic = sum((o - e) ** 2 / e for o, e in some)
    assert result.chi_square == pytest.approx(statistic)
    assert result.p == pytest.approx(chi2.sf(statistic, len(some) - 1))
    middle = (frame["passage"] + 0.5) / frame["n_passages"]
    assert result.first["share"].tolist() == pytest.approx(
        [(frame["label"] * (middle < part)).sum() / frame["label"].sum() for part in (0.25, 0.5)]
    )


def test_the_number_in_the_docno_tells_the_same_where_all_passages_are_there():
    by_columns = ptr.judging.passage_positions(FRAME)
    by_name = ptr.judging.passage_positions(FRAME[PLAIN])
    pd.testing.assert_frame_equal(by_columns.table, by_name.table)
    hashed = FRAME[PLAIN].assign(docno=FRAME["docno"].str.replace("%p", "#"))
    pd.testing.assert_frame_equal(ptr.judging.passage_positions(hashed, separator="#").table, by_name.table)
    pd.testing.assert_frame_equal(ptr.judging.passage_positions(ptr.Qrels(FRAME[PLAIN])).table, by_name.table)


def test_start_and_length_tell_it_too():
    start, length = FRAME["passage"] * 100, FRAME["n_passages"] * 100
    drop = FRAME.assign(start=start, end=start + 100, length=length).drop(columns=["passage", "n_passages"])
    pd.testing.assert_frame_equal(ptr.judging.passage_positions(drop).table, ptr.judging.passage_positions(FRAME).table)
    # relevant spans alone: held against any place of the document
    spans = pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": 1, "start": [0, 10, 60, 30], "length": 100})
    result = ptr.judging.passage_positions(spans, bins=4, parts=[0.3], against="uniform")
    assert result.passages["position"].tolist() == [0, 0.1, 0.6, 0.3]
    assert result.table["relevant"].tolist() == [2, 1, 1, 0]
    assert result.table["expected"].tolist() == pytest.approx([1, 1, 1, 1])
    assert result.first.to_numpy().tolist() == [[0.3, 0.5, pytest.approx(0.3)]]


def test_several_annotators_vote_first():
    frames = [FRAME.assign(annotator=name) for name in ("x", "y")]
    frames.append(FRAME.assign(annotator="z", label=1 - FRAME["label"]))
    voted = ptr.judging.passage_positions(pd.concat(frames, ignore_index=True))
    pd.testing.assert_frame_equal(voted.table, ptr.judging.passage_positions(FRAME).table)
    assert voted.settings["ties of annotators"] == "lower"


def test_a_position_on_an_edge_is_in_the_bin_that_begins_there():
    frame = pd.DataFrame({"qid": "1", "docno": list("abcde"), "label": 1, "start": [0, 3, 6, 9, 10], "length": 10})
    result = ptr.judging.passage_positions(frame, bins=10, against="uniform")
    assert np.flatnonzero(result.table["relevant"]).tolist() == [0, 3, 6, 9]
    assert result.table["relevant"].iloc[9] == 2, "the end belongs to the last"


def test_few_expected_are_told_and_one_bin_is_no_test():
    few = ptr.judging.passage_positions(FRAME.head(12))
    assert "beware: fewer than 5 expected in" in few.settings["test"]
    one = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "label": [1, 0], "start": 1, "length": 100, "document": "d"})
    result = ptr.judging.passage_positions(one, bins=2)
    assert result.settings["test"].startswith("no test")
    assert np.isnan(result.chi_square)


def test_what_is_wrong_is_named(messages):
    position = ptr.judging.passage_positions
    messages.refused(lambda: position(FRAME.assign(label=0)), argument="rel")
    messages.refused(lambda: position(FRAME[PLAIN].assign(docno=lambda f: f["docno"] + "x")), argument="separator")
    messages.refused(lambda: position(FRAME.assign(passage=9)), argument="labels")
    messages.refused(lambda: position(FRAME.assign(passage="first")), argument="labels")
    spans = FRAME[PLAIN].assign(start=50, length=40)
    messages.refused(lambda: position(spans), argument="labels")
    messages.refused(lambda: position(FRAME[FRAME["label"] == 1]), argument="against")
    messages.refused(lambda: position(FRAME, bins=1), argument="bins")
    messages.refused(lambda: position(FRAME, parts=[0.5, 25]), argument="parts")
    messages.refused(lambda: position(FRAME, parts="half"), argument="parts")
    messages.refused(lambda: position(FRAME, separator=""), argument="separator")
    messages.refused(lambda: position(FRAME, against="all"), argument="against")
    messages.refused(lambda: position(FRAME, ties="first"), argument="ties")
