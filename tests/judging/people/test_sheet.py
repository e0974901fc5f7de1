"""Sheets as spreadsheets write them back; cells that are no formulas; ids that were taken for numbers or dates."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.judging.people.manifest import (
    LONGEST_CELL,
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


@settings(deadline=None, max_examples=150)
@given(TEXTS)
def test_no_cell_is_a_formula_and_each_is_given_back(text):
    cell = guarded(text)
    assert restored(cell) == text
    assert cell[:1] not in FORMULAS or not text
    assert cell.lstrip()[:1] not in FORMULAS or not cell.lstrip()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", "'=1", "'", "\n=1"])
def test_what_may_be_a_formula_is_guarded(text):
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "d-1", "1", "FT911-3", "it's", '"', "éa"])
def test_what_is_none_stays_as_it_is(text):
    assert guarded(text) == text


@settings(deadline=None, max_examples=75)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=5), st.sampled_from(",;\t"))
def test_rows_come_back_whatever_stands_in_them(rows, separator):
    held = io.StringIO(newline="")
    csv.writer(held, delimiter=separator).writerows([["label", "text", "pair"], *rows])
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        found = read_sheet(held.getvalue().encode(encoding), ["label"])
        expected = [row for row in rows if any(cell.strip() for cell in row)]
        assert [[row["label"], row["text"], row["pair"]] for _, row in found] == expected


def test_what_is_written_is_what_spreadsheets_read():
    data = write_sheet(["label", "text"], [["", 'a "b", c\nd'], ["", "=x"], ["", "é"]])
    assert data == '\ufefflabel,text\r\n,"a ""b"", c\nd"\r\n,\'=x\r\n,é\r\n'.encode()
    assert read_sheet(data, ["label"]) == [
        (2, {"label": "", "text": 'a "b", c\nd'}),
        (4, {"label": "", "text": "'=x"}),
        (5, {"label": "", "text": "é"}),
    ]


def test_lines_are_those_of_the_file():
    text = 'sep=;\r\n\r\nlabel;text\r\n1;"a\r\nb"\r\n\r\n;;\r\n2;c;\r\n3\r\n'
    assert read_sheet(text.encode(), ["label"]) == [
        (4, {"label": "1", "text": "a\r\nb"}),
        (8, {"label": "2", "text": "c"}),
        (9, {"label": "3", "text": ""}),
    ]


def test_old_programs_and_old_letters():
    assert read_sheet(b"label,text\r1,x\r0,y\r", ["label"]) == [
        (2, {"label": "1", "text": "x"}),
        (3, {"label": "0", "text": "y"}),
    ]
    assert read_sheet("label;text\n1;é\n".encode("cp1252"), ["label"]) == [(2, {"label": "1", "text": "é"})]
    assert read_sheet(b"label,text\n1,a\0b\n", ["label"]) == [(2, {"label": "1", "text": "ab"})]


def test_a_text_as_long_as_a_book_is_read_and_the_limit_of_others_stays():
    before = csv.field_size_limit()
    ((_, row),) = read_sheet(b"label,text\n1," + b"x" * 300_000 + b"\n", ["label"])
    assert len(row["text"]) == 300_000
    assert csv.field_size_limit() == before


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
    messages.refused(lambda: read_sheet(text.encode(), ["label"]))


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
