"""What comes back of sheets, as spreadsheets save them: labels with all that is known, or every fault at once."""

from __future__ import annotations

import os

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import infAP
from people_parts import (
    MARCH,
    PAIRS,
    as_asked,
    export,
    fill,
    fill_all,
    frame,
    labels_of,
    returned,
    rows_of,
    truth,
    write_rows,
)

import pt_reuse as ptr
from pt_reuse.judging.people.export import (
    LONGEST_CELL,
    Scale,
    guarded,
    read_manifest,
    read_sheet,
    restored,
    sheet_text,
    write_sheet,
)

#: what OWASP's page on CSV injection lists, and the same as letters of full width
FORMULAS = "=+-@\t\r\n＝＋－＠"
TEXTS = st.text(st.one_of(st.sampled_from(" ,;\"'\r\n\t=+-@\0|éÉ日#"), st.characters()), max_size=30)


def rows_in(data):
    return list(read_sheet(data))


@given(TEXTS)
def test_no_cell_is_a_formula_and_each_is_given_back(text):
    cell = guarded(text)
    assert restored(cell) == text
    assert cell[:1] not in FORMULAS or not text
    assert cell.lstrip()[:1] not in FORMULAS or not cell.lstrip()


def test_what_is_written_is_what_spreadsheets_read():
    data = write_sheet(["label", "text"], [["", 'a "b", c\nd'], ["", "=x"], ["", "é"]])
    assert data == '\ufefflabel,text\r\n,"a ""b"", c\nd"\r\n,\'=x\r\n,é\r\n'.encode()
    cells = ['a "b", c\nd', "'=x", "é"]
    assert rows_in(data) == [(line, {"label": "", "text": text}) for line, text in zip((2, 4, 5), cells, strict=True)]
    odd = 'sep=;\r\n\r\nlabel;text\r\n1;"a\r\nb"\r\n\r\n;;\r\n2;c;\r\n3\r\n'
    expected = [(4, ("1", "a\r\nb")), (8, ("2", "c")), (9, ("3", ""))]
    assert [(line, tuple(row.values())) for line, row in rows_in(odd.encode())] == expected


def test_what_is_no_sheet_is_refused_with_its_line(messages):
    header = "label,text"
    for text in ("", "a,b\n1,2\n", f"{header},label\n1,2,3\n", f"{header}\n1,2,3\n", f'{header}\n1,"a\n2,b\n'):
        messages.refused(lambda text=text: rows_in(text.encode()))


def test_a_long_text_is_cut_with_a_mark():
    assert sheet_text("y" * (LONGEST_CELL - 1)) == "y" * (LONGEST_CELL - 1)
    cut = sheet_text("y" * 50_000)
    kept = cut.count("y")
    assert 32_000 < kept < len(cut) < LONGEST_CELL
    assert cut == f"{'y' * kept} [cut here: {50_000 - kept:,} more characters]"


SCALE = Scale.of({2: "highly  relevant", 0: "not relevant", 1: "relevant", -2: "spam"})


SAID = {
    1: ("1", " 1 ", "1.0", "1,0", 1, 1.0, "Relevant", "RELEVANT "),
    2: ("highly\n relevant", "2: highly relevant", "2 = Highly Relevant", "2 highly relevant"),
    0: ("0 - not relevant",),
    -2: ("-2",),
    None: (
        *("0 (not relevant)", "3", "1.5", 1.5, "", "relevant?", "1: highly relevant", "7: relevant", "-1", True, None),
        *("one", "11", "1 2", float("nan")),
    ),
}
NO_SCALES = (
    *(None, ["no", "yes"], {1: "yes"}, {0: "no", 1.0: "yes"}, {0: "no", "1": "yes"}, {0: "no", -1: "unjudged"}),
    *({0: "no", 40000: "yes"}, {0: "no", 1: " "}, {0: "no", 1: "NO"}, {0: "no", 1: 2}, {0: "1", 1: "0"}),
    *({0: "a\nb", 1: "c"}, {0: "no", 1: "2: yes"}),
)


def test_an_answer_is_read_as_number_or_word(messages):
    for label, answers in SAID.items():
        assert [SCALE.read(said) for said in answers] == [label] * len(answers)
    for labels in NO_SCALES:
        messages.refused(lambda labels=labels: Scale.of(labels), argument="labels")


TRUTH = {(qid, docno): truth(qid, docno) for qid, docnos in PAIRS.items() for docno in docnos}


# ---- labels and their provenance


def test_labels_come_back_with_all_that_is_known(tmp_path):
    made = ptr.Pool.from_frame(
        frame(reason=["top", None, *["drawn"] * 6], inclusion=[1.0, *[0.25] * 7], label=range(8)),
        settings={"strategy": "hedge"},
    )
    tasks = export(tmp_path, pool=made, overlap=2)
    for name in tasks.table["file"]:
        fill(tmp_path / name, note="a,\n note")
        os.utime(tmp_path / name, (MARCH, MARCH))
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == {(who, *key): label for key, label in TRUTH.items() for who in ("ann", "bob")}
    known = "qid docno label annotator time strategy round reason note inclusion pool_label"
    assert " ".join(result.table) == known
    first = result.table[result.table["docno"] == "b1"].to_dict("records")
    common = {"qid": "2", "docno": "b1", "label": truth("2", "b1"), "time": "2026-03-01T12:00:00+00:00"}
    common |= {"strategy": "hedge", "round": 1, "reason": "top", "note": "a,\n note", "inclusion": 1.0, "pool_label": 0}
    assert first == [{**common, "annotator": "ann"}, {**common, "annotator": "bob"}]
    assert result.table["qid"].drop_duplicates().tolist() == ["1", "2", "10"]
    assert len(result.missing) == 0
    assert result.headline() == "16 labels of 2 annotators for 8 documents, 0 missing"


def test_judgments_of_one_annotator_each_keep_their_provenance(tmp_path):
    export(tmp_path)
    fill_all(tmp_path)
    qrels = ptr.judging.import_labels(tmp_path).to_qrels(rel=2)
    judged = qrels.to_frame()
    assert dict(zip(zip(judged["qid"], judged["docno"], strict=True), judged["label"], strict=True)) == TRUTH
    assert (qrels.rel, qrels.topics) == (2, ["1", "2", "10"])
    assert judged.columns.tolist()[3:] == ["judge", "time", "strategy", "round", "reason", "note"]
    asked = {pair.key: pair.asked[0] for pair in read_manifest(tmp_path).pairs}
    assert [asked[key] for key in zip(judged["qid"], judged["docno"], strict=True)] == judged["judge"].tolist()
    assert set(judged["strategy"]) == {"mtf"}


def test_people_judge_a_sample_and_estimates_know_it(tmp_path):
    """What was not sampled stays in the pool, and each label keeps its stratum and chance, also after a vote."""
    field = ptr.demo.simulate_field(seed=7, n_topics=3, n_docs=60, n_teams=4, length=12, depth=6)
    sample = ptr.pools.sample_pool(ptr.depth_pool(field.runs, depth=6), share=0.5, seed=1)
    texts = dict.fromkeys(sample.to_frame()["docno"], "a text")
    export(tmp_path, pool=sample, topics=dict.fromkeys(sample.topics, "q"), texts=texts, overlap=2)
    known = field.qrels.to_frame().set_index(["qid", "docno"])["label"]
    fill_all(tmp_path, lambda row: str(min(known.get((row["qid"], row["docno"]), 0), 2)))
    judged = sample.judge(ptr.judging.majority_vote(ptr.judging.import_labels(tmp_path)))
    expected = sample.judge(lambda f: [min(known.get(pair, 0), 2) for pair in zip(f["qid"], f["docno"], strict=True)])
    columns = ["qid", "docno", "label", "stratum", "inclusion"]
    pd.testing.assert_frame_equal(judged.to_frame()[columns], expected.to_frame()[columns])
    assert (judged.to_frame()["label"] == -1).sum() == len(sample.unsampled) > 0
    ours, theirs = (ptr.score(field.runs, qrels, [infAP, ptr.pools.xinfAP]).mean for qrels in (judged, expected))
    pd.testing.assert_frame_equal(ours, theirs)


def test_any_spreadsheet_may_have_saved_them(tmp_path):
    odd = {"1": ["a1", "=b", "-c", "@d", "'e", 'é,"f', "+1"], "2": ["b1"]}
    for separator, encoding in ((";", "utf-8-sig"), ("\t", "utf-16"), (",", "cp1252")):
        folder = tmp_path / encoding
        export(folder, odd, annotators=["ann"])
        sheet = folder / "ann-round1.csv"
        # in another order, with a column of the annotator's own
        rows = [{"mine": "x", **row, "label": f"{len(row['qid'])}.0"} for row in rows_of(sheet)[::-1]]
        write_rows(sheet, rows, separator=separator, encoding=encoding)
        assert sorted(ptr.judging.import_labels(folder).table["docno"]) == sorted([*odd["1"], "b1"])


#: what may be a docno: bytes that were no UTF-8 when read among it, as Python keeps them
LETTERS = st.one_of(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), st.sampled_from("\udc80\udcff'=\"\r\n,;")
)


@settings(deadline=None, max_examples=12)
@given(
    st.sets(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=6), st.text(max_size=20).filter(str.strip)
)
def test_any_names_and_texts_come_back(tmp_path_factory, docnos, text):
    folder, pairs = tmp_path_factory.mktemp("any"), {"1": sorted(docnos)}
    export(folder, pairs, annotators=["ann"], texts=dict.fromkeys(docnos, text), topics={"1": f"q {text}"})
    fill(folder / "ann-round1.csv", lambda row: "1")
    assert sorted(ptr.judging.import_labels(folder).table["docno"]) == sorted(docnos)


# ---- partial returns


def test_what_is_missing_is_an_error_or_a_table(tmp_path, messages):
    export(tmp_path)
    fill(tmp_path / "ann-round1.csv", lambda row: "1" if row["docno"] != "a2" else " ")
    asked = as_asked(tmp_path)
    messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    result = ptr.judging.import_labels(tmp_path, partial=True)
    lacking = {(row.annotator, row.qid, row.docno) for row in result.missing.itertuples()}
    assert lacking == {key for key in asked if key[0] == "bob" or key[2] == "a2"}
    assert set(labels_of(result)) == set(asked) - lacking
    missing = [sum(key[0] == who for key in lacking) for who in ("ann", "bob")]
    assert result.by_annotator()["missing"].tolist() == missing
    # the rest is filled in, and the same call has all
    fill_all(tmp_path, lambda row: "1")
    assert set(labels_of(ptr.judging.import_labels(tmp_path))) == set(asked)


# ---- several files of one annotator


def test_the_same_twice_counts_once_with_a_warning(tmp_path, messages):
    export(tmp_path)
    fill_all(tmp_path)
    copy = returned(tmp_path) / "ann-round1 (1).csv"
    copy.write_bytes((tmp_path / "ann-round1.csv").read_bytes())
    os.utime(copy, (MARCH, MARCH))
    result = messages.warned(lambda: ptr.judging.import_labels(tmp_path))
    assert labels_of(result) == as_asked(tmp_path)
    # when it was said first
    assert set(result.table["time"][result.table["annotator"] == "ann"]) == {"2026-03-01T12:00:00+00:00"}


def test_a_copy_beside_the_sheets_is_told(tmp_path, messages):
    export(tmp_path)
    empty = (tmp_path / "ann-round1.csv").read_bytes()
    fill_all(tmp_path)
    (tmp_path / "ann-round1 - Copy.csv").write_bytes((tmp_path / "ann-round1.csv").read_bytes())
    (tmp_path / "ann-round1.csv").write_bytes(empty)
    result = messages.warned(lambda: ptr.judging.import_labels(tmp_path, partial=True))
    assert len(result.missing) == 4


def test_files_can_be_named(tmp_path):
    export(tmp_path / "tasks")
    away = tmp_path / "away"
    away.mkdir()
    for path in (tmp_path / "tasks").glob("*.csv"):
        (away / path.name).write_bytes(path.read_bytes())
        fill(away / path.name)
    (away / ".~lock.ann.csv#").write_text("lock")
    (away / "~$ann.csv").write_text("lock")
    expected = as_asked(tmp_path / "tasks")
    for files in (away, str(away), sorted(away.glob("*-round1.csv")), iter([str(away)])):
        assert labels_of(ptr.judging.import_labels(tmp_path / "tasks", files)) == expected
    one = ptr.judging.import_labels(tmp_path / "tasks", away / "ann-round1.csv", partial=True)
    assert set(one.table["annotator"]) == {"ann"}


# ---- who


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
    "a pair that nobody asked": (lambda rows: [*rows, {**rows[0], "pair": "p1", "docno": "zz"}], "line 6", 1),
    "ids moved": (swapped, None, 4),
    "a pair of somebody else": (lambda rows: [*rows, {**rows[0], **BOBS}], "line 6", 1),
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
#: the ids of a row of bob's sheet, filled in by the test
BOBS: dict[str, str] = {}


def test_each_fault_is_told_with_its_place(folder, messages):
    BOBS.update((name, rows_of(folder / "bob-round1.csv")[0][name]) for name in ("qid", "docno", "pair"))
    whole = (folder / ANN).read_bytes()
    for what, (change, line, n) in FAULTS.items():
        (folder / ANN).write_bytes(whole)
        changed(folder, change)
        error = messages.refused(lambda: ptr.judging.import_labels(folder))
        assert len(error.faults) == n, what
        assert all(fault.place.startswith(f"{ANN}, ") for fault in error.faults), what
        assert line is None or error.faults[0].place == f"{ANN}, {line}", what


def test_all_faults_of_all_files_are_told_at_once(folder, messages):
    changed(folder, lambda rows: [{**row, "label": "9"} for row in rows])
    changed(folder, first(label="maybe"), "bob-round1.csv")
    odd = {"ann.xlsx": "PK", "cut.json": '[{"label": 1, "pa', "list.json": "[1]", "none.json": '"x"'}
    for name, text in odd.items():
        (returned(folder) / name).write_text(text)
    error = messages.refused(lambda: ptr.judging.import_labels(folder))
    places = [fault.place for fault in error.faults]
    assert len(places) == 9
    assert {place.split(", ")[0] for place in places} == {ANN, "bob-round1.csv", *(f"returned/{name}" for name in odd)}
    assert sum(place.startswith(ANN) for place in places) == 4


# ---- what spreadsheets do to ids


def test_ids_that_became_numbers_and_dates_are_restored(tmp_path, messages):
    pairs = {"007": ["00123", "1e5", "3-2", "true", "ab"], "1-2": ["12345678901234567890"]}
    export(tmp_path, pairs, annotators=["ann"])
    became = {"00123": "123", "1e5": "1.00E+05", "3-2": "02-Mar", "true": "TRUE", "12345678901234567890": "1.23457E+19"}
    topics = {"007": "7", "1-2": "01-Feb"}

    def restyled(row):
        return {**row, "label": "1", "qid": topics[row["qid"]], "docno": became.get(row["docno"], row["docno"])}

    changed(tmp_path, lambda rows: [restyled(row) for row in rows])
    result = messages.warned(lambda: ptr.judging.import_labels(tmp_path))
    found = set(result.table[["qid", "docno"]].itertuples(index=False, name=None))
    assert found == {(qid, docno) for qid, docnos in pairs.items() for docno in docnos}


def test_what_is_another_pair_is_not_restored(tmp_path, messages):
    export(tmp_path, {"1": ["0123", "123"]}, annotators=["ann"])
    changed(tmp_path, lambda rows: [{**row, "label": "1", "docno": "123"} for row in rows])
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert len(error.faults) == 1


# ---- arguments


def test_arguments_are_checked(folder, messages):
    wrong = {
        "annotators": (["ann"], {"x.csv": 3}, {"x.csv": "zoe"}, {"ann-round3.csv": "ann"}),
        "files": (3, [], "nowhere", ["nowhere.csv"]),
        "folder": (None, "a\0b"),
        "partial": ("yes",),
    }
    for argument, values in wrong.items():
        for value in values:
            given = {"folder": folder, argument: value}
            messages.refused(lambda given=given: ptr.judging.import_labels(**given), argument=argument)


def test_sheets_for_anybody_are_of_whom_their_files_are_called_and_keep_notes(tmp_path):
    export(tmp_path, annotators=None)
    (sheet,) = tmp_path.glob("*.csv")
    rows = rows_of(sheet)
    marked = [{**row, "label": str(truth(row["qid"], row["docno"])) if n else ""} for n, row in enumerate(rows)]
    marked[0]["note"] = "no text"
    write_rows(sheet, marked)
    found = ptr.judging.import_labels(tmp_path, partial=True)
    assert set(found.table["annotator"]) == {sheet.stem}
    assert len(found.table) == len(rows) - 1
    assert found.missing[["qid", "docno", "note"]].values.tolist() == [[rows[0]["qid"], rows[0]["docno"], "no text"]]
