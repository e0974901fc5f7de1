"""Sheets as spreadsheets write them back; cells that are no formulas; ids that were taken for numbers or dates."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.judging.people.manifest import (
    DEFAULT,
    LONGEST_CELL,
    Scale,
    changed_by_sheet,
    guarded,
    read_sheet,
    restored,
    sheet_text,
    storable,
    write_sheet,
)

#: what OWASP's page on CSV injection lists, and the same as letters of full width
FORMULAS = "=+-@\t\r\n＝＋－＠"
TEXTS = st.text(st.one_of(st.sampled_from(" ,;\"'\r\n\t=+-@\0|éÉ日#"), st.characters()), max_size=30)
#: what a file can hold: no NUL, and no half of a letter
CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


def rows_in(data, needed):
    return list(read_sheet(data, needed))


@settings(deadline=None, max_examples=150)
@given(TEXTS)
def test_no_cell_is_a_formula_and_each_is_given_back(text):
    cell = guarded(text)
    assert restored(cell) == text
    assert cell[:1] not in FORMULAS or not text
    assert cell.lstrip()[:1] not in FORMULAS or not cell.lstrip()


@settings(deadline=None, max_examples=75)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=5), st.sampled_from(",;\t"))
def test_rows_come_back_whatever_stands_in_them(rows, separator):
    held = io.StringIO(newline="")
    csv.writer(held, delimiter=separator).writerows([["label", "text", "pair"], *rows])
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        found = rows_in(held.getvalue().encode(encoding), ["label"])
        expected = [row for row in rows if any(cell.strip() for cell in row)]
        assert [[row["label"], row["text"], row["pair"]] for _, row in found] == expected


def test_what_is_written_is_what_spreadsheets_read():
    data = write_sheet(["label", "text"], [["", 'a "b", c\nd'], ["", "=x"], ["", "é"]])
    assert data == '\ufefflabel,text\r\n,"a ""b"", c\nd"\r\n,\'=x\r\n,é\r\n'.encode()
    assert rows_in(data, ["label"]) == [
        (2, {"label": "", "text": 'a "b", c\nd'}),
        (4, {"label": "", "text": "'=x"}),
        (5, {"label": "", "text": "é"}),
    ]


def test_lines_are_those_of_the_file():
    text = 'sep=;\r\n\r\nlabel;text\r\n1;"a\r\nb"\r\n\r\n;;\r\n2;c;\r\n3\r\n'
    assert rows_in(text.encode(), ["label"]) == [
        (4, {"label": "1", "text": "a\r\nb"}),
        (8, {"label": "2", "text": "c"}),
        (9, {"label": "3", "text": ""}),
    ]


def test_old_programs_and_old_letters():
    assert rows_in(b"label,text\r1,x\r0,y\r", ["label"]) == [
        (2, {"label": "1", "text": "x"}),
        (3, {"label": "0", "text": "y"}),
    ]
    assert rows_in("label;text\n1;é\n".encode("cp1252"), ["label"]) == [(2, {"label": "1", "text": "é"})]
    assert rows_in(b"label,text\n1,a\0b\n", ["label"]) == [(2, {"label": "1", "text": "ab"})]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        "label,text,label\n1,2,3\n",
        "label,text\n1,2,3\n",
        'label,text\n1,"a\n2,b\n',
        'label,text\n1,"a"b\n',
    ],
)
def test_what_is_no_sheet_is_refused_with_its_line(text, messages):
    messages.refused(lambda: rows_in(text.encode(), ["label"]))


def test_a_long_text_is_cut_with_a_mark():
    assert sheet_text("x" * (LONGEST_CELL - 1)) == "x" * (LONGEST_CELL - 1)
    cut = sheet_text("x" * 50_000)
    assert len(cut) < LONGEST_CELL
    assert cut.startswith("x" * 32_000)
    left_out = 50_000 - cut.count("x")
    assert cut.endswith(f" [cut here: {left_out:,} more characters]")


@settings(deadline=None, max_examples=50)
@given(st.text())
def test_what_is_stored_can_be_stored(text):
    kept = storable(text)
    kept.encode("utf-8")
    assert "\0" not in kept
    assert storable(kept) == kept
    assert len(kept) == len(text)


@pytest.mark.parametrize(
    ("was", "cell"),
    [
        ("00123", "123"), ("1e5", "100000"), ("1E5", "1.00E+05"), ("1e5", "1,00E+05"), ("12", "12.0"), ("007", "7,0"),
        ("12345678901234567890", "1.23457E+19"), ("12345678901234567", "12345678901234500"), ("3-2", "02-Mar"),
        ("3/2", "3/2/2026"), ("MAR-03", "3-Mar"), ("1-2-2003", "2003-02-01"), ("3.2", "3. Feb"), ("3-2", "46054"),
        ("true", "TRUE"), ("d1 ", "d1"), ("-5", "'-5"), ("dé", "d?"), ("日1", "?1"), ("sep1", "01. Sep"),
    ],
)  # fmt: skip
def test_what_spreadsheets_do_to_ids_is_known(was, cell):
    assert changed_by_sheet(cell, was)


@pytest.mark.parametrize(
    ("was", "cell"),
    [
        ("d1", "d2"), ("00123", "124"), ("123", "1.2E+02"), ("1234567", "1234568"), ("12345678901", "12345678902"),
        ("12345678901234567", "12345678901234600"), ("123456789", "1.2E+08"), ("3-2", "d7"), ("d1", "02-Mar"),
        ("12345678901234567890", "1.3E+19"), ("dé", "dd"), ("dé", "d??"), ("d1", "?1"), ("", "d1"), ("nan", "inf"),
    ],
)  # fmt: skip
def test_another_id_is_none_of_that(was, cell):
    assert not changed_by_sheet(cell, was)


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
