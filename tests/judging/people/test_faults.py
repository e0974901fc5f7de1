"""What is wrong with what came back is told all at once, with file, line, topic, document and what to do."""

from __future__ import annotations

import pytest
from people_parts import export, fill_all, returned, rows_of, write_rows

import pt_reuse as ptr

ANN = "ann-round1.csv"


@pytest.fixture
def folder(tmp_path):
    export(tmp_path)
    fill_all(tmp_path)
    return tmp_path


def changed(folder, change, name=ANN):
    """Change rows of a file: a function of the list of rows that returns another, or changes it."""
    rows = rows_of(folder / name)
    write_rows(folder / name, change(rows) or rows)


def first(**cells):
    """Return what sets cells of the first row."""
    return lambda rows: [{**rows[0], **cells}, *rows[1:]]


def swapped(rows):
    """Sort one column by itself, as happens in spreadsheets."""
    docnos = [row["docno"] for row in rows]
    return [{**row, "docno": docno} for row, docno in zip(rows, [*docnos[1:], docnos[0]], strict=True)]


FAULTS = {
    "a label out of the scale": (first(label="7"), "line 2", 1),
    "a word out of the scale": (first(label="perhaps"), "line 2", 1),
    "another document": (first(docno="b99"), "line 2", 1),
    "another topic": (first(qid="7"), "line 2", 1),
    "a pair that nobody asked": (lambda rows: [*rows, {**rows[0], "pair": "p1", "docno": "zz"}], "line 6", 1),
    "ids moved": (swapped, None, 4),
    "a pair of somebody else": (
        lambda rows: [*rows, {**rows[0], **dict(zip(("qid", "docno", "pair"), BOBS[0], strict=True))}],
        "line 6",
        1,
    ),
    "somebody unknown": (lambda rows: [{**row, "annotator": "anne"} for row in rows], "line 2", 1),
    "another task": (lambda rows: [{**row, "task": "t0"} for row in rows], "line 2", 1),
    "no ids": (lambda rows: [{"label": row["label"], "docno": row["docno"]} for row in rows], "line 2", 1),
    "a label twice, in two ways": (
        lambda rows: [*rows, {**rows[0], "label": str((int(rows[0]["label"]) + 1) % 3)}],
        "line 6",
        1,
    ),
    "no label column": (lambda rows: [{k: v for k, v in row.items() if k != "label"} for row in rows], "line 1", 1),
}
#: filled in by the fixture of the test
BOBS: list[tuple[str, str, str]] = []


@pytest.mark.parametrize("what", FAULTS)
def test_each_fault_is_told_with_its_place(what, folder, messages):
    change, line, n = FAULTS[what]
    BOBS[:] = [(row["qid"], row["docno"], row["pair"]) for row in rows_of(folder / "bob-round1.csv")]
    changed(folder, change)
    error = messages.refused(lambda: ptr.judging.import_labels(folder))
    assert len(error.faults) == n
    assert all(fault.place.startswith(f"{ANN}, ") for fault in error.faults)
    assert line is None or error.faults[0].place == f"{ANN}, {line}"


def test_all_faults_of_all_files_are_told_at_once(folder, messages):
    changed(folder, lambda rows: [{**row, "label": "9"} for row in rows])
    changed(folder, first(label="maybe"), "bob-round1.csv")
    (returned(folder) / "ann.xlsx").write_bytes(b"PK")
    (returned(folder) / "cut.jsonl").write_text('{"label": 1, "pa')
    (returned(folder) / "list.json").write_text("[1]")
    (returned(folder) / "none.json").write_text('"x"')
    (returned(folder) / "broken.zip").write_bytes(b"PK\3\4 and no more")
    error = messages.refused(lambda: ptr.judging.import_labels(folder))
    places = [fault.place for fault in error.faults]
    assert len(places) == 10
    assert {place.split(", ")[0] for place in places} == {
        ANN, "bob-round1.csv", "returned/ann.xlsx", "returned/cut.jsonl", "returned/list.json", "returned/none.json",
        "returned/broken.zip",
    }  # fmt: skip
    assert sum(place.startswith(ANN) for place in places) == 4


# ---- what spreadsheets do to ids


def test_ids_that_became_numbers_and_dates_are_restored(tmp_path, messages):
    pairs = {"007": ["00123", "1e5", "3-2", "true", "ab"], "1-2": ["12345678901234567890"]}
    export(tmp_path, pairs, annotators=["ann"])
    became = {"00123": "123", "1e5": "1.00E+05", "3-2": "02-Mar", "true": "TRUE", "12345678901234567890": "1.23457E+19"}
    topics = {"007": "7", "1-2": "01-Feb"}
    changed(
        tmp_path,
        lambda rows: [
            {**row, "label": "1", "qid": topics[row["qid"]], "docno": became.get(row["docno"], row["docno"])}
            for row in rows
        ],
    )
    result = messages.warned(lambda: ptr.judging.import_labels(tmp_path))
    found = set(result.table[["qid", "docno"]].itertuples(index=False, name=None))
    assert found == {(qid, docno) for qid, docnos in pairs.items() for docno in docnos}
    assert result.settings["ids_restored"] == 11


def test_what_is_another_pair_is_not_restored(tmp_path, messages):
    export(tmp_path, {"1": ["0123", "123"]}, annotators=["ann"])
    changed(tmp_path, lambda rows: [{**row, "label": "1", "docno": "123"} for row in rows])
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert len(error.faults) == 1


def test_a_formula_that_a_program_took_for_a_text_is_the_docno(tmp_path):
    export(tmp_path, {"1": ["=1+1", "'q"]}, annotators=["ann"])
    rows = rows_of(tmp_path / ANN)
    assert sorted(row["docno"] for row in rows) == ["''q", "'=1+1"]
    # some programs take the quote for their own mark, and drop it
    changed(tmp_path, lambda rows: [{**row, "label": "0", "docno": row["docno"].removeprefix("'")} for row in rows])
    assert sorted(ptr.judging.import_labels(tmp_path).table["docno"]) == ["'q", "=1+1"]


# ---- arguments


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("annotators", ["ann"]),
        ("annotators", {"x.csv": 3}),
        ("annotators", {"x.csv": "zoe"}),
        ("annotators", {"ann-round3.csv": "ann"}),
        ("files", 3),
        ("files", []),
        ("files", "nowhere"),
        ("files", ["nowhere.csv"]),
        ("folder", None),
        ("folder", "a\0b"),
        ("partial", "yes"),
    ],
    ids=str,
)
def test_arguments_are_checked(argument, value, folder, messages):
    given = {"folder": folder, argument: value}
    messages.refused(lambda: ptr.judging.import_labels(**given), argument=argument)
