"""The labels that people may give, in all forms in which they give them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.judging.people.manifest import DEFAULT, Scale

SCALE = Scale.of({2: "highly  relevant", 0: "not relevant", 1: "relevant", -2: "spam"})


def test_labels_stand_in_order_with_plain_words():
    assert list(SCALE.words.items()) == [(-2, "spam"), (0, "not relevant"), (1, "relevant"), (2, "highly relevant")]
    assert str(Scale.of(DEFAULT)) == "0 (not relevant) and 1 (relevant)"


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("1", 1), (" 1 ", 1), ("1.0", 1), ("1,0", 1), (1, 1), (1.0, 1), ("-2", -2), ("Relevant", 1), ("RELEVANT ", 1),
        ("highly\n relevant", 2), ("2: highly relevant", 2), ("2 = Highly Relevant", 2), ("2 highly relevant", 2),
        ("0 - not relevant", 0), ("0 (not relevant)", None), ("3", None), ("1.5", None), (1.5, None), ("", None),
        ("relevant?", None), ("1: highly relevant", None), ("7: relevant", None), ("-1", None), (True, None),
        (None, None), ("one", None), ("11", None), ("1 2", None), (float("nan"), None),
    ],
)  # fmt: skip
def test_an_answer_is_read_as_number_or_word(said, label):
    assert SCALE.read(said) == label


@pytest.mark.parametrize(
    "labels",
    [
        None, ["no", "yes"], {1: "yes"}, {}, {0: "no", True: "yes"}, {0: "no", 1.0: "yes"}, {0: "no", "1": "yes"},
        {0: "no", -1: "unjudged"}, {0: "no", 40000: "yes"}, {0: "no", 1: " "}, {0: "no", 1: "NO"}, {0: "no", 1: 2},
        {0: "1", 1: "0"}, {0: "a\nb", 1: "c"}, {0: "no", 1: "2: yes"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_scale_is_refused(labels, messages):
    messages.refused(lambda: Scale.of(labels), argument="labels")


@settings(deadline=None, max_examples=60)
@given(st.sets(st.integers(-30000, 30000).filter(lambda n: n != -1), min_size=2, max_size=20))
def test_every_label_is_read_back_by_number_and_by_word(numbers):
    scale = Scale.of({label: f"grade {chr(97 + place)}x{place}" for place, label in enumerate(sorted(numbers))})
    for label, word in scale.words.items():
        assert scale.read(str(label)) == scale.read(f"{label}.0") == scale.read(label) == label
        assert scale.read(word) == scale.read(word.upper()) == scale.read(f"{label}: {word}") == label
