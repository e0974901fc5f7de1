"""How the labels of each document spread, against counts by hand and scipy's entropy."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

import pandas as pd
import pytest
from annotator_parts import by_item, labelled
from same import assert_same
from scipy.stats import entropy

import pt_reuse as ptr

FRAME = labelled(seed=21, n_annotators=6, n_topics=2, n_docs=8, gaps=0.1)


@pytest.mark.parametrize("least", [None, 5, 2])
def test_distributions_are_those_counted_by_hand(least):
    result = ptr.judging.label_distributions(FRAME, least=least, rel=2)
    items = {item: given for item, given in by_item(FRAME).items() if len(given) >= (least or 6)}
    assert set(zip(result.table["qid"], result.table["docno"], strict=True)) == set(items)
    for row in result.table.itertuples():
        labels = list(items[row.qid, row.docno].values())
        times = Counter(labels)
        most = max(times.values())
        assert row.n == len(labels)
        assert row.mean == pytest.approx(sum(labels) / len(labels))
        assert row.majority == min(label for label, n in times.items() if n == most)
        assert row.majority_share == pytest.approx(most / len(labels))
        assert row.entropy == pytest.approx(entropy(list(times.values()), base=2), abs=1e-12)
        assert row.relevant_share == pytest.approx(sum(label >= 2 for label in labels) / len(labels))
        shares = result.shares[(result.shares["qid"] == row.qid) & (result.shares["docno"] == row.docno)]
        assert shares["label"].tolist() == [0, 1, 2, 3]
        assert shares["n"].tolist() == [times[label] for label in range(4)]
        assert shares["share"].sum() == pytest.approx(1)
    assert result.table["entropy"].is_monotonic_decreasing
    assert result.settings["left out"] == len(by_item(FRAME)) - len(items)


def test_unanimous_labels_have_no_entropy():
    frame = pd.DataFrame({"qid": "1", "docno": list("aabb"), "label": [2, 2, 0, 1], "annotator": list("xyxy")})
    result = ptr.judging.label_distributions(frame)
    found = result.table[["docno", "entropy", "majority_share"]].to_numpy().tolist()
    assert found == [["b", 1.0, 0.5], ["a", 0.0, 1.0]]
    assert str(result.table["entropy"].iloc[1]) == "0.0"
    assert result.headline() == "2 documents, on 1 of them all annotators agree; mean share of the majority 0.7500"


def test_what_has_no_distribution_is_named(messages):
    two = pd.DataFrame({"qid": "1", "docno": list("abb"), "label": 1, "annotator": list("xyz")})
    messages.refused(lambda: ptr.judging.label_distributions(two), argument="least")
    messages.refused(lambda: ptr.judging.label_distributions(FRAME, least=0), argument="least")
    messages.refused(lambda: ptr.judging.label_distributions(FRAME, rel="2"), argument="rel")
    messages.refused(lambda: ptr.judging.label_distributions(FRAME, scale=(0, 1)), argument="labels")
    alone = FRAME[FRAME["annotator"] == "ann0"]
    messages.refused(lambda: ptr.judging.label_distributions(alone), argument="labels")


def test_saved_and_read_back(tmp_path):
    result = ptr.judging.label_distributions(FRAME, least=3)
    result.save(tmp_path)
    again = ptr.read_result(tmp_path)
    for field in fields(result):
        assert_same(getattr(result, field.name), getattr(again, field.name), field.name)
