"""Judges by name, and their labels beside those of people."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.judging.judges import as_judges
from pt_reuse.judging.label_pairs import compared_labels

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


def test_a_judge_says_for_which_documents_it_has_labels():
    pairs = [("1", "a"), ("1", "b"), ("1", "c"), ("2", "a")]
    for judge in (ptr.judging.Oracle(HUMAN), ptr.judging.Noisy(HUMAN, ptr.judging.flips(0.5, range(4)), seed=1)):
        known = judge.known_pairs()
        assert list(zip(known["qid"], known["docno"], strict=True)) == pairs
    (asked,) = as_judges(lambda frame: [1] * len(frame))
    assert asked.judge.known_pairs() is None
