"""Labels of several annotators, in every form in which they come; what is wrong with them is named."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pytest
from annotator_parts import by_item, labelled

import pt_reuse as ptr
from pt_reuse.judging.annotators.labels import AnnotatorLabels, as_annotator_labels, checked_scale

FRAME = labelled(seed=3, n_docs=5, gaps=0.3)
THEIRS = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}


def parts():
    return {name: part.drop(columns="annotator") for name, part in FRAME.groupby("annotator", sort=False)}


class Bringing:
    """Something that brings labels as its frame."""

    def to_frame(self):
        return FRAME


def files(folder):
    for name, part in parts().items():
        ptr.Qrels(part).write(folder / name, overwrite=True)
    return {name: folder / name for name in parts()}


FORMS = {
    "a frame": lambda d: FRAME,
    "a frame of ir_measures": lambda d: FRAME.rename(columns=THEIRS).assign(iteration="0"),
    "with further columns": lambda d: FRAME.assign(time="now", judge="x"),
    "what has a frame": lambda d: Bringing(),
    "a dict of frames": lambda d: parts(),
    "a dict of Qrels": lambda d: {name: ptr.Qrels(part) for name, part in parts().items()},
    "a dict of files": files,
    "a dict of tuples": lambda d: {
        name: [ir_measures.Qrel(*row) for row in part.itertuples(index=False)] for name, part in parts().items()
    },
    "a dict of dicts": lambda d: {
        name: {qid: dict(zip(rows["docno"], rows["label"].tolist(), strict=True)) for qid, rows in part.groupby("qid")}
        for name, part in parts().items()
    },
    "themselves": lambda d: as_annotator_labels(FRAME),
}


def content(labels):
    return {
        (qid, docno): {name: int(label) for name, label in zip(labels.annotators, row, strict=True) if label != -1}
        for qid, docno, row in zip(labels.qids, labels.docnos, labels.values, strict=True)
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_labels(form, tmp_path):
    labels = as_annotator_labels(FORMS[form](tmp_path))
    assert isinstance(labels, AnnotatorLabels)
    assert content(labels) == by_item(FRAME)
    assert labels.topics == ("1", "2", "3", "4")
    assert (np.diff(labels.topic) >= 0).all()
    assert labels.scale == (0, 1, 2, 3)


def test_a_missing_label_and_minus_1_are_none():
    frame = pd.DataFrame(
        {"qid": "1", "docno": list("aabbcc"), "label": [1, None, -1, 2, pd.NA, -1], "annotator": list("xyxyxy")}
    )
    labels = as_annotator_labels(frame)
    assert labels.values.tolist() == [[1, -1], [-1, 2], [-1, -1]]
    # junk is a label: the annotator saw the document
    assert as_annotator_labels(frame.assign(label=-2)).scale == (-2,)


def test_what_is_wrong_is_named(messages, tmp_path):
    twice = pd.concat([FRAME, FRAME.iloc[:1].assign(label=9)])
    error = messages.refused(lambda: ptr.judging.majority_vote(twice), argument="labels", place="annotator ann0")
    assert "9" in str(error)
    messages.refused(lambda: ptr.judging.majority_vote(FRAME.drop(columns="annotator")), argument="labels")
    messages.refused(
        lambda: ptr.judging.majority_vote(FRAME.assign(label=0.5)), argument="labels", place="annotator ann0"
    )
    messages.refused(lambda: ptr.judging.majority_vote(FRAME.assign(label=-1)), argument="labels")
    messages.refused(lambda: ptr.judging.majority_vote(FRAME.assign(annotator=None)), place="row 0")
    messages.refused(lambda: ptr.judging.majority_vote({}), argument="labels")
    messages.refused(lambda: ptr.judging.majority_vote({1: FRAME}), argument="labels")
    messages.refused(lambda: ptr.judging.majority_vote([1, 2]), argument="labels")
    messages.refused(lambda: ptr.judging.majority_vote(None), argument="labels")
    messages.refused(lambda: ptr.judging.majority_vote({"x": "nowhere.txt"}), argument="labels", place="annotator x")
    several = {"x": ptr.Qrels(parts()["ann0"], rel=2), "y": ptr.Qrels(parts()["ann1"], rel=1)}
    messages.refused(lambda: ptr.judging.majority_vote(several), argument="labels")


def test_a_label_given_twice_counts_once(messages):
    again = pd.concat([FRAME, FRAME.iloc[:2]])
    voted = messages.warned(lambda: ptr.judging.majority_vote(again))
    pd.testing.assert_frame_equal(voted.to_frame(), ptr.judging.majority_vote(FRAME).to_frame())


def test_a_label_out_of_the_scale_is_named(messages):
    labels = as_annotator_labels(FRAME)
    assert checked_scale(None, labels) == (0, 1, 2, 3)
    assert checked_scale([4, 3, 2, 1, 0], labels) == (0, 1, 2, 3, 4)
    messages.refused(lambda: ptr.judging.annotator_agreement(FRAME, scale=(0, 1)), argument="labels")
    for scale in ((0,), (0, 0), "01", 3, (0, -1), (0, 1.5), (True, 0)):
        messages.refused(lambda given=scale: ptr.judging.annotator_agreement(FRAME, scale=given), argument="scale")
