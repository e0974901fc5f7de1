"""What can be checked before texts are read is: a fault costs no time, and leaves no file."""

from __future__ import annotations

import pyterrier as pt
import pytest
from people_parts import PAIRS, export, frame, texts


def never():
    raise AssertionError("texts are read before all else is checked")
    yield {}


WRONG = {
    "format": ["xlsx", 3],
    "annotators": ["ann", [], ["Ann", "ann"], [" ann"], [""], ["a\nb"], [3], 5],
    "overlap": [0, 3, "2", True, 1.0, float("nan")],
    "labels": [{1: "yes"}],
    "instructions": [3],
    "seed": [-1, 1.5, True, None],
    "topics": [
        None,
        "topics.txt",
        {},
        {"1": "only one"},
        dict.fromkeys(PAIRS, " "),
        frame(),
        {**dict.fromkeys(PAIRS, "q"), "2": 7},
    ],
    "pool": [None, frame().iloc[:0], [("1", "a1")]],
    "folder": ["", 3, "a\0b"],
    "verbose": ["yes"],
}


CASES = {f"{name} {n}": (name, value) for name, values in WRONG.items() for n, value in enumerate(values)}


@pytest.mark.parametrize("case", CASES)
def test_arguments_are_checked_before_texts_are_read(case, tmp_path, messages):
    argument, value = CASES[case]
    given = {"folder": tmp_path / "tasks", "texts": never(), argument: value}
    messages.refused(lambda: export(given.pop("folder"), **given))
    assert not (tmp_path / "tasks").exists()


TEXTS = {
    "None": None,
    "a file": "texts.jsonl",
    "one is missing": {docno: text for docno, text in texts().items() if docno != "b2"},
    "a number": {**texts(), "b2": 3},
    "no dicts": [("a1", "text")],
    "no docno": [{"id": "a1", "text": "t"}],
    "a corpus that ends": [{"docno": "a1", "text": "t"}],
    "a transformer without texts": pt.Transformer.identity(),
    "a transformer that drops some": pt.apply.generic(
        lambda inp: inp.iloc[:3].assign(text="t"), transform_outputs=None
    ),
}


@pytest.mark.parametrize("what", TEXTS)
def test_texts_are_whole_or_nothing_is_written(what, tmp_path, messages):
    messages.refused(lambda: export(tmp_path / "tasks", texts=TEXTS[what]), argument="texts")
    assert not (tmp_path / "tasks").exists()


def test_a_dollar_in_a_word_is_refused_where_it_means_something(tmp_path, messages):
    words = {0: "no", 1: "$yes"}
    messages.refused(lambda: export(tmp_path, labels=words, format="label-studio"), argument="labels")
    export(tmp_path, labels=words)
