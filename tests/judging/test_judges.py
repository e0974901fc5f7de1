"""Judges by name, and their labels beside those of people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.data.asking import labels_by
from pt_reuse.judging.judges import as_judges
from pt_reuse.judging.label_pairs import compared_labels, on_scale

HUMAN = ptr.Qrels(
    pd.DataFrame({"qid": ["1", "1", "1", "2", "2"], "docno": list("abcab"), "label": [3, 1, 0, 2, -1]}), rel=2
)


def judged(*labels, qids="11122"):
    rows = [(q, d, label) for q, d, label in zip(qids, "abcab", labels, strict=True) if label is not None]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def test_a_judge_may_be_given_in_every_form(tmp_path):
    frame = judged(1, 0, 0, 1, 1)
    path = ptr.Qrels(frame).write(tmp_path / "mine-3.2.txt.gz")
    nested = {"1": {"a": 1, "b": 0, "c": 0}, "2": {"a": 1, "b": 1}}

    def asked(pairs):
        return pairs.assign(label=(pairs["docno"] == "a").astype(int))

    forms = {"judge": frame, "mine-3.2": str(path), "oracle": ptr.judging.Oracle(frame), "asked": asked}
    for name, one in forms.items():
        (found,) = as_judges(one)
        assert found.name == name
        assert compared_labels(HUMAN, found).pairs["judge"].tolist() == [1, 0, 0, 1]
    assert [one.name for one in as_judges(nested)] == ["judge"]
    both = as_judges({"one": nested, "two": frame}, rel={"two": 1}, families={"one": "gpt"})
    assert [(one.name, one.rel, one.family) for one in both] == [("one", None, "gpt"), ("two", 1, None)]


NO_ORDER = {
    "set": lambda labels, index: set(labels),
    "frozenset": lambda labels, index: frozenset(labels),
    "keys": lambda labels, index: dict.fromkeys(labels).keys(),
    "values": lambda labels, index: dict(enumerate(labels)).values(),
    "dict": lambda labels, index: dict(enumerate(labels)),
    "frame": lambda labels, index: pd.DataFrame({0: labels, 1: labels}),
    "turned": lambda labels, index: pd.Series(labels[::-1], index=index[::-1]),
    "named": lambda labels, index: pd.Series(labels, index=list("xy")),
    "longer": lambda labels, index: iter([*labels, 1]),
    "shorter": lambda labels, index: (label for label in labels[:1]),
}
IN_ORDER = {
    "list": lambda labels, index: list(labels),
    "tuple": lambda labels, index: tuple(labels),
    "array": lambda labels, index: np.array(labels),
    "generator": lambda labels, index: (label for label in labels),
    "default": lambda labels, index: pd.Series(labels),
}
TWO = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"]}, index=[7, 3])


class Own(ptr.judging.Judge):
    def __init__(self, answer, column=None):
        super().__init__("own")
        self.answer, self.column = answer, column

    def labels_of(self, pairs):
        said = self.answer([1, 0], pairs.index)
        return said if self.column is None else {"label": [1, 0], self.column: said}


ASKED_OF_TWO = {
    "function": lambda answer: list(labels_by(lambda pairs: answer([1, 0], pairs.index), TWO)["label"]),
    "judge": lambda answer: list(Own(answer)(TWO)["label"]),
    "beside": lambda answer: list(Own(answer, "sure")(TWO)["sure"]),
    "batch": lambda answer: list(
        ptr.judging.Callable(lambda docno: answer([1, 0], pd.RangeIndex(2)), name="x", reads="docno", batch_size=2)(
            TWO
        )["label"]
    ),
    "probabilities": lambda answer: list(
        ptr.judging.Callable(
            lambda docno: answer([int(docno != "a"), int(docno == "a")], pd.RangeIndex(2)),
            name="x", reads="docno", answers="probabilities", labels=(0, 1),
        )(TWO)["label"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("asked", ASKED_OF_TWO)
@pytest.mark.parametrize("form", NO_ORDER)
def test_an_answer_without_the_order_of_the_documents_is_refused(asked, form):
    # probabilities may be a dict of label -> probability
    if (asked, form) != ("probabilities", "dict"):
        with pytest.raises(ptr.InputError):
            ASKED_OF_TWO[asked](NO_ORDER[form])


@pytest.mark.parametrize("asked", ASKED_OF_TWO)
@pytest.mark.parametrize("form", IN_ORDER)
def test_an_answer_in_the_order_of_the_documents(asked, form):
    assert ASKED_OF_TWO[asked](IN_ORDER[form]) == [1, 0]


def test_of_shuffled_rows_the_default_index_may_be_theirs_sorted():
    shuffled = TWO.set_axis([1, 0])
    for labels in (lambda index: pd.Series([1, 0], index=index).sort_index(), lambda index: pd.Series([1, 0])):
        with pytest.raises(ptr.InputError):
            labels_by(lambda pairs, labels=labels: labels(pairs.index), shuffled)
    kept = labels_by(lambda pairs: pd.Series([1, 0], index=pairs.index), shuffled)
    assert list(kept["label"]) == [1, 0]


def test_a_series_with_the_index_of_the_frame_is_in_order():
    assert ASKED_OF_TWO["function"](lambda labels, index: pd.Series(labels, index=index)) == [1, 0]
    assert ASKED_OF_TWO["beside"](lambda labels, index: pd.Series(labels, index=index)) == [1, 0]


def test_what_says_of_which_document_a_label_is_may_have_any_order():
    def turned(pairs):
        return pairs.assign(label=[1, 0])[::-1]

    def twice(pairs):
        return pd.concat([pairs, pairs]).assign(label=[1, 0, 0, 1])

    assert list(labels_by(turned, TWO)["label"]) == [1, 0]
    pipeline = {"name": "x", "reads": "docno", "batch_size": 2}
    judge = ptr.judging.Callable(pt.apply.generic(turned), **pipeline)
    assert list(judge(TWO)["label"]) == [1, 0]
    with pytest.raises(ptr.InputError, match="document 'a'"):
        labels_by(twice, TWO)
    with pytest.raises(ptr.InputError, match="document 'a'"):
        ptr.judging.Callable(pt.apply.generic(twice), **pipeline)(TWO)


def test_labels_of_probabilities_have_an_order():
    with pytest.raises(ptr.InputError) as error:
        ptr.judging.Callable(lambda text: [0.5, 0.5], name="x", answers="probabilities", labels={0, 1})
    assert error.value.argument == "labels"


def test_labels_of_both_beside_each_other():
    with pytest.warns(ptr.ReuseWarning, match="nothing in 1 topic that people judged: '2'"):
        found = compared_labels(HUMAN, as_judges({"x": judged(1, None, 0, None, 1)})[0])
    assert found.pairs.to_dict("list") == {"qid": ["1", "1"], "docno": ["a", "c"], "human": [3, 0], "judge": [1, 0]}
    assert (found.missing, found.without, found.human.topics, found.judge_rel, found.rel) == (1, ("2",), ["1"], 1, 2)
    assert found.words() == "relevant from label 1; 2 documents of both, 1 missing, 1 topic without labels"
    assert len(found.human) == 3
    with pytest.warns(ptr.ReuseWarning):
        dropped = compared_labels(HUMAN, as_judges(judged(1, None, 0, None, 1))[0], missing="drop")
    assert dropped.human.to_frame()["docno"].tolist() == ["a", "c"]
    # a binary 1 counts as much as the lowest label of people that is relevant
    assert found.on_scale.to_frame()["label"].tolist() == [2, 0]
    assert found.on_scale.rel == 2


def test_a_topic_in_which_people_judged_nothing_is_not_one_that_the_judge_left_out(messages):
    human = ptr.Qrels(HUMAN.to_frame().assign(label=[3, 1, 0, -1, -2]), rel=2)
    judge = as_judges(judged(1, 0, 0, 1, 1))[0]
    messages.warned(lambda: compared_labels(human, judge), times=1)
    with pytest.warns(ptr.ReuseWarning, match="people judged nothing in 1 topic"):
        found = compared_labels(human, judge)
    assert (found.without, found.human.topics, found.missing) == ((), ["1"], 0)


def test_labels_are_brought_to_one_scale():
    labels = ptr.Qrels(pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": [0, 1, 2, 3]}))
    assert on_scale(labels, 1, 2).to_frame()["label"].tolist() == [0, 2, 2, 3]
    assert on_scale(labels, 3, 2).to_frame()["label"].tolist() == [0, 1, 1, 3]
    assert on_scale(labels, 2, 2).to_frame()["label"].tolist() == [0, 1, 2, 3]
    assert on_scale(labels, 2, 1).to_frame()["label"].tolist() == [0, 0, 2, 3]


def test_what_is_no_judge_is_refused(messages):
    messages.refused(lambda: as_judges({}), argument="judge")
    messages.refused(lambda: as_judges({1: judged(1, 0, 0, 1, 1)}), argument="judge")
    messages.refused(lambda: as_judges({"x": judged(1, 0, 0, 1, 1)}, rel={"y": 1}), argument="judge_rel")
    messages.refused(lambda: as_judges({"x": judged(1, 0, 0, 1, 1)}, families="gpt"), argument="families")
    messages.refused(lambda: compared_labels(HUMAN, as_judges(judged(*[1] * 5, qids="33344"))[0]), argument="judge")


def test_a_folder_is_its_judges(tmp_path, messages):
    messages.hidden[str(tmp_path)] = "FOLDER"
    for place in (tmp_path, tmp_path / "nowhere"):
        messages.refused(lambda place=place: as_judges(place), argument="judge")
    ptr.Qrels(judged(1, 0, 0, 1, 1)).write(tmp_path / "one.qrels")
    (tmp_path / "two.jsonl").write_text('{"qid": "1", "docno": "a", "label": 3}\n')
    (tmp_path / "judges.csv").write_text("name,family,rel\ntwo,gpt,2\n")
    read = ptr.judging.read_judges(tmp_path)
    for given in (tmp_path, str(tmp_path), read):
        found = {one.name: (one.rel, one.family) for one in as_judges(given)}
        assert found == {"one": (None, None), "two": (2, "gpt")}
        assert [one.family for one in as_judges(given, families={"one": "llama"})] == ["llama", None]
    assert [one.name for one in as_judges(tmp_path / "two.jsonl")] == ["two"]
    (tmp_path / "two.eval").write_text("".join(f"r{r}\tAP\t{t}\t.{r}\n" for r in (1, 2) for t in ("1", "all")))
    (tmp_path / "three.eval").write_text((tmp_path / "two.eval").read_text())
    found = messages.warned(lambda: as_judges(tmp_path))
    assert [one.name for one in found] == ["one", "two"]
    for file in ("one.qrels", "two.jsonl", "judges.csv"):
        (tmp_path / file).unlink()
    messages.refused(lambda: as_judges(tmp_path), argument="judge")


def test_several_judges_without_names_are_refused(tmp_path, messages):
    ptr.Qrels(judged(1, 0, 0, 1, 1)).write(tmp_path / "one.qrels")
    messages.hidden[str(tmp_path)] = "FOLDER"
    messages.refused(lambda: as_judges([judged(1, 0, 0, 1, 1), HUMAN]), argument="judge")
    messages.refused(lambda: as_judges([str(tmp_path / "one.qrels")]), argument="judge")


def test_a_judge_says_for_which_documents_it_has_labels():
    pairs = [("1", "a"), ("1", "b"), ("1", "c"), ("2", "a")]
    for judge in (ptr.judging.Oracle(HUMAN), ptr.judging.Noisy(HUMAN, ptr.judging.flips(0.5, range(4)), seed=1)):
        known = judge.known_pairs()
        assert list(zip(known["qid"], known["docno"], strict=True)) == pairs
    (asked,) = as_judges(lambda frame: [1] * len(frame))
    assert asked.judge.known_pairs() is None
