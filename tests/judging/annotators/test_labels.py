"""Labels of several annotators, in every form in which they come, and their votes against a count by hand."""

from __future__ import annotations

from collections import Counter

import ir_measures
import numpy as np
import pandas as pd
import pytest
from annotator_parts import by_item, labelled
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

import pt_reuse as ptr
from pt_reuse.judging.annotators.labels import TIES, AnnotatorLabels, as_annotator_labels


def slow_vote(labels, ties):
    """Return what a vote makes of a list of labels."""
    times = Counter(labels)
    best = sorted(label for label, n in times.items() if n == max(times.values()))
    if len(best) == 1:
        return best[0]
    middle = sorted(labels)[(len(labels) + 1) // 2 - 1]
    return {"lower": best[0], "higher": best[-1], "median": middle, "unresolved": -1}[ties]


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


def test_every_form_gives_the_same_labels(tmp_path):
    for form, made in FORMS.items():
        labels = as_annotator_labels(made(tmp_path))
        assert isinstance(labels, AnnotatorLabels)
        assert content(labels) == by_item(FRAME), form
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
    several = {"x": ptr.Qrels(parts()["ann0"], rel=2), "y": ptr.Qrels(parts()["ann1"], rel=1)}
    for place, wrong in (
        ("annotator ann0", twice),
        ("annotator ann0", FRAME.assign(label=0.5)),
        ("annotator x", {"x": "nowhere.txt"}),
        *((None, each) for each in (FRAME.drop(columns="annotator"), FRAME.assign(label=-1), several)),
        *((None, each) for each in ({}, {1: FRAME}, [1, 2], None)),
    ):
        messages.refused(lambda wrong=wrong: ptr.judging.majority_vote(wrong), argument="labels", place=place)
    messages.refused(lambda: ptr.judging.majority_vote(FRAME.assign(annotator=None)), place="row 0")


FOUR = labelled(seed=5, n_annotators=4, gaps=0.2)
RULES = [rule for rule in TIES if rule != "error"]


def frame_of(lists):
    rows = [("1", f"d{i}", label, f"a{j}") for i, given in enumerate(lists) for j, label in enumerate(given)]
    return pd.DataFrame(rows, columns=["qid", "docno", "label", "annotator"])


@settings(deadline=None, max_examples=15)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=8), st.sampled_from(RULES))
def test_votes_of_any_labels(lists, ties):
    voted = ptr.judging.majority_vote(frame_of(lists), ties=ties).to_frame()
    assert voted["label"].tolist() == [slow_vote(labels, ties) for labels in lists]
    assert voted["labels"].tolist() == [len(labels) for labels in lists]
    assert voted["majority"].tolist() == [max(map(labels.count, labels)) for labels in lists]


def test_provenance_says_who_voted_what():
    frame = frame_of([[2, 2, 0], [1, 3, None]])
    found = ptr.judging.majority_vote(frame, ties="higher").to_frame()
    assert list(found) == ["qid", "docno", "label", "judge", "decided", "labels", "majority", "tied", "votes"]
    assert found.to_numpy().tolist() == [
        ["1", "d0", 2, "majority of 3 annotators", "majority", 3, 2, False, "a0 2, a1 2, a2 0"],
        ["1", "d1", 3, "majority of 3 annotators", "tie: higher", 2, 1, True, "a0 1, a1 3"],
    ]


def test_what_is_known_of_how_a_document_was_chosen_is_kept():
    chosen = {"strategy": "rrf", "round": 1, "reason": ["rank 1", "rank 1", "rank 2", "rank 2"], "inclusion": 0.5}
    times = ["2026-03-01T12:00:00+00:00", "2026-03-02T12:00:00+00:00", None, "2026-03-01T13:00:00+00:00"]
    labels = pd.DataFrame({"qid": "1", "docno": [*"aabb"], "label": [1, 1, 0, 0], "annotator": ["x", "y"] * 2})
    labels = labels.assign(**chosen, time=times, note=["fine", "odd", "", ""], differs=range(4))
    found = ptr.judging.majority_vote(labels).to_frame()
    assert list(found)[:8] == ["qid", "docno", "label", "judge", "time", "strategy", "round", "reason"]
    rows = found[["time", "strategy", "round", "reason", "inclusion"]].to_dict("records")
    assert rows == [
        {"time": times[1], "strategy": "rrf", "round": 1, "reason": "rank 1", "inclusion": 0.5},
        {"time": times[3], "strategy": "rrf", "round": 1, "reason": "rank 2", "inclusion": 0.5},
    ]
    assert not {"note", "differs", "annotator"} & set(found)


def test_a_document_without_a_label_stays():
    voted = ptr.judging.majority_vote(frame_of([[2, 2, 0], [1], [None, 3], [None]]))
    assert voted.to_frame()["label"].tolist() == [2, 1, 3, -1]
    assert voted.to_frame()["decided"].tolist() == [*["majority"] * 3, "no label"]
    assert voted.counts()[["judged", "unjudged"]].to_numpy().tolist() == [[3, 1]]


def test_what_cannot_be_voted_is_refused(messages):
    messages.refused(lambda: ptr.judging.majority_vote(frame_of([[1, 1], [0, 2]]), ties="error"), argument="ties")
    messages.refused(lambda: ptr.judging.majority_vote(FOUR, ties="first"), argument="ties")
    messages.refused(lambda: ptr.judging.majority_vote(FOUR, rel=0), argument="rel")
    assert ptr.judging.majority_vote(frame_of([[1, 1]]), ties="error").to_frame()["label"].tolist() == [1]


MANY = labelled(seed=21, n_annotators=6, n_topics=2, n_docs=8, gaps=0.1)


def test_distributions_are_those_counted_by_hand():
    result = ptr.judging.label_distributions(MANY, rel=2)
    items = {item: given for item, given in by_item(MANY).items() if len(given) == 6}
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
    assert result.table["entropy"].is_monotonic_decreasing
    assert result.settings["left out"] == len(by_item(MANY)) - len(items)


def test_what_has_no_distribution_is_named(messages):
    two = pd.DataFrame({"qid": "1", "docno": list("abb"), "label": 1, "annotator": list("xyz")})
    messages.refused(lambda: ptr.judging.label_distributions(two), argument="labels")
    messages.refused(lambda: ptr.judging.label_distributions(MANY, rel="2"), argument="rel")
    alone = MANY[MANY["annotator"] == "ann0"]
    messages.refused(lambda: ptr.judging.label_distributions(alone), argument="labels")


def test_seconds_and_positions_are_columns(messages):
    docnos = ["a%p0", "a%p3", "b%p0"]
    frame = pd.DataFrame({"qid": "1", "docno": docnos * 2, "label": [0, 1, 2] * 2, "annotator": ["x"] * 3 + ["y"] * 3})
    table = ptr.judging.label_distributions(frame).table
    assert table.set_index("docno")["position"].to_dict() == {"a%p0": 0.125, "a%p3": 0.875, "b%p0": 0.5}
    assert "seconds" not in table
    for name, seconds in (("seconds", [10, None, "", 30, 5, None]), ("lead_time", ["10", "", None, "30", "5.0", ""])):
        found = ptr.judging.label_distributions(frame.assign(**{name: seconds})).table.set_index("docno")["seconds"]
        assert found["a%p0"] == 20
        assert found["a%p3"] == 5
        assert np.isnan(found["b%p0"])
    # a row without a label took time, and none for a label; the same label twice took it once
    more = pd.DataFrame({"qid": "1", "docno": ["a%p0", "a%p3"], "label": [None, 1], "annotator": ["y", "y"]})
    both = pd.concat([frame.assign(seconds=[10, None, None, 30, 5, None]), more.assign(seconds=[800, 95])])
    skipped = messages.warned(lambda: ptr.judging.label_distributions(both))
    assert skipped.table.set_index("docno")["seconds"].reindex(docnos).tolist()[:2] == [20, 5]
    assert skipped.settings["labels without a time"] == "3, not in mean seconds"
    assert "position" not in ptr.judging.label_distributions(frame.replace("b%p0", "b")).table
    for odd in ("soon", -1, float("inf")):
        timed = frame.assign(seconds=[1, 1, 1, odd, 1, 1])
        messages.refused(lambda timed=timed: ptr.judging.label_distributions(timed), argument="labels")
