"""Judgments of relevant documents only: what they make of measures of judged documents."""

from __future__ import annotations

import pandas as pd
import pytest
from ir_measures import AP, RR, Bpref, Judged, P, infAP, nDCG

from pt_reuse.data.judgments import Qrels
from pt_reuse.demo.simulated import simulate_field
from pt_reuse.scoring.caveats import BEWARE, of_judged, relevant_only
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.run_scores import score

FIELD = simulate_field(seed=3, n_topics=4)
RELEVANT = FIELD.qrels.keep(FIELD.qrels.arrays.labels > 0)


def test_unjudged_is_1_minus_precision(messages):
    scores = messages.warned(lambda: score(FIELD.runs, RELEVANT, [P @ 10, Unjudged @ 10, AP]))
    found = scores.mean
    assert (found["Unjudged@10"] + found["P@10"]).tolist() == pytest.approx([1.0] * len(found))
    assert scores.settings[BEWARE] == "judgments of relevant documents only"


@pytest.mark.parametrize("measure", [Unjudged @ 5, Judged @ 5, Bpref, infAP, AP(judged_only=True)], ids=repr)
def test_measures_of_judged_documents(measure):
    assert of_judged([AP, measure, nDCG @ 10]) == [repr(measure)]


def test_other_measures_take_an_unjudged_document_as_not_relevant_anyway():
    assert of_judged([AP, P @ 10, nDCG, RR @ 10, AP(judged_only=False)]) == []
    assert BEWARE not in score(FIELD.runs, RELEVANT, [AP, nDCG @ 10]).settings
    assert BEWARE not in score(FIELD.runs, FIELD.qrels, [AP, Unjudged @ 10]).settings


@pytest.mark.parametrize(
    ("labels", "told"), [([1, 2], 1), ([1, 0], 0), ([1, -1], 1), ([0, 0], 0), ([-1, -2], 0), ([1, 0, -1], 0)], ids=str
)
def test_labels(labels, told, messages):
    rows = [("1", f"d{i}", label) for i, label in enumerate(labels)]
    qrels = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))
    found = list(relevant_only(qrels, ["Unjudged@10"]))
    assert len(found) == told
    assert list(relevant_only(qrels, [])) == []
    for caveat in found:
        messages.told("".join(map(str, caveat.parts)))


def test_vaswani_and_cranfield_hold_relevant_documents_only(data):
    # vaswani: the first line of a block is its topic; cranfield: topic, document, label
    cache = data / "irds-cache"
    if not cache.is_dir():
        pytest.skip("the test data has no folder irds-cache")
    blocks = [block.split() for block in (cache / "vaswani" / "qrels.txt").read_text().split("/") if block.split()]
    rows = [(block[0], docno, 1) for block in blocks for docno in block[1:]]
    vaswani = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]).drop_duplicates())
    lines = [line.split() for line in (cache / "cranfield" / "qrels.txt").read_text().splitlines() if line.split()]
    cranfield = pd.DataFrame([(a, b, int(c)) for a, b, c in lines], columns=["qid", "docno", "label"])
    assert len(vaswani) == 2083
    assert [caveat.note for caveat in relevant_only(vaswani, ["x"])] == ["judgments of relevant documents only"]
    cranfield = Qrels(cranfield.drop_duplicates(["qid", "docno"]))
    assert sorted(set(cranfield.arrays.labels.tolist())) == [-1, 1, 2, 3, 4]
    text = "".join(map(str, next(relevant_only(cranfield, ["x"])).parts))
    assert "Labels below 0, 225 of them, count as no judgment." in text
