"""What Doccano and Label Studio export, made as their own exporters make it, comes back as it was given."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people_parts import (
    PAIRS,
    WORDS,
    annotation,
    doccano_file,
    doccano_records,
    export,
    label_studio,
    label_studio_min,
    returned,
    rows_of,
    truth,
    write_rows,
    zipped,
)

import pt_reuse as ptr
from pt_reuse.judging.people.manifest import read_manifest

MARCH = 1_772_366_400  # 2026-03-01T12:00:00Z


def word(row):
    return [WORDS[truth(row["qid"], row["docno"])]]


def labels_of(result):
    rows = result.table[["annotator", "qid", "docno", "label"]].itertuples(index=False, name=None)
    return {(who, qid, docno): label for who, qid, docno, label in rows}


def asked(folder):
    return {(who, *pair.key): truth(*pair.key) for pair in read_manifest(folder).pairs for who in pair.asked}


def tasks_of(folder, *people):
    """Return the rows of several annotators' files, as they stand in one project to which all were given."""
    return [row for who in people for row in rows_of(next(folder.glob(f"{who}-round1.json*")))]


# ---- Doccano


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv"])
def test_doccano_a_project_for_each_annotator(kind, tmp_path):
    export(tmp_path, format="doccano", overlap=2)
    for who in ("ann", "bob"):
        records = doccano_records(tasks_of(tmp_path, who), word, ["a comment", "and more"])
        # the file of a shared project is called all, whoever worked in it
        archive = returned(tmp_path) / f"export of {who}.zip"
        zipped(archive, {f"all.{kind}": doccano_file(records, kind)})
        os.utime(archive, (MARCH, MARCH))
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == asked(tmp_path)
    assert set(result.table["time"]) == {"2026-03-01T12:00:00+00:00"}
    assert set(result.table["note"]) == {"a comment#and more" if kind == "csv" else "a comment\nand more"}


def test_doccano_one_project_in_which_everybody_has_labels_of_their_own(tmp_path):
    export(tmp_path, format="doccano", annotators=None, overlap=2)
    rows = rows_of(tmp_path / "tasks-round1.jsonl")
    files = {
        "ann.jsonl": doccano_file(doccano_records(rows, word)),
        "bob.jsonl": doccano_file(doccano_records(rows, lambda row: ["relevant"])),
        # an administrator who judged nothing is a member, too
        "admin.jsonl": doccano_file(doccano_records(rows, lambda row: [])),
        "__MACOSX/ann.jsonl": b"\0",
    }
    zipped(returned(tmp_path) / "export.zip", files)
    found = labels_of(ptr.judging.import_labels(tmp_path))
    expected = {("ann", q, d): truth(q, d) for q, docnos in PAIRS.items() for d in docnos}
    assert found == expected | {("bob", q, d): 1 for _, q, d in expected}


def test_doccano_users_are_matched_by_whose_rows_they_answered(tmp_path, messages):
    export(tmp_path, format="doccano")
    rows = tasks_of(tmp_path, "ann", "bob")
    mine = {who: (lambda row, who=who: word(row) if row["assigned"] == who else []) for who in ("ann", "bob")}

    def bring(**users):
        files = {f"{user}.jsonl": doccano_file(doccano_records(rows, labels)) for user, labels in users.items()}
        zipped(returned(tmp_path) / "export.zip", files)

    bring(ann=mine["ann"], robert=mine["bob"])
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == asked(tmp_path)
    assert result.settings["users"] == "robert=bob"
    # two users answered tasks of one annotator: nobody knows who is meant
    bring(
        ann=mine["ann"],
        rob=lambda row: mine["bob"](row) if row["docno"] < "b" else [],
        bert=lambda row: mine["bob"](row) if row["docno"] >= "b" else [],
    )
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert len(error.faults) == 2
    assert labels_of(ptr.judging.import_labels(tmp_path, annotators={"rob": "bob", "bert": "bob"})) == asked(tmp_path)
    # somebody answered what was asked of another
    bring(ann=word)
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert len(error.faults) == 4


def test_doccano_files_of_an_archive_that_was_unpacked(tmp_path, messages):
    export(tmp_path, format="doccano")
    rows = tasks_of(tmp_path, "ann", "bob")
    for who in ("ann", "bob"):
        mine = doccano_records(rows, lambda row, who=who: word(row) if row["assigned"] == who else [])
        (returned(tmp_path) / f"{who}.jsonl").write_bytes(doccano_file(mine))
    assert labels_of(ptr.judging.import_labels(tmp_path)) == asked(tmp_path)
    # the file says who it was, and not for whom the rows were written
    (returned(tmp_path) / "ann.jsonl").write_bytes(doccano_file(doccano_records(rows, word)))
    error = messages.refused(lambda: ptr.judging.import_labels(tmp_path))
    assert {fault.place.split(",")[0] for fault in error.faults} == {"returned/ann.jsonl"}


def test_doccano_of_older_versions(tmp_path, messages):
    export(tmp_path, format="doccano", annotators=["ann"])
    rows = tasks_of(tmp_path, "ann")

    def bring(of):
        lines = [
            json.dumps({"id": i, "text": row["text"], "annotation_approver": None, **of(row)})
            for i, row in enumerate(rows)
        ]
        (returned(tmp_path) / "file.jsonl").write_text("\n".join(lines))

    def meta(row):
        return {name: value for name, value in row.items() if name not in ("text", "label")}

    # "JSONL (Text label)" of version 1.0
    bring(lambda row: {"meta": meta(row), "labels": word(row)})
    assert labels_of(ptr.judging.import_labels(tmp_path)) == asked(tmp_path)
    # of version 1.5
    bring(lambda row: {"data": row["text"], "metadata": meta(row), "label": word(row)})
    assert labels_of(ptr.judging.import_labels(tmp_path)) == asked(tmp_path)
    # what nobody labelled was in a file of its own, without what was imported beside the text
    of = {"ann.jsonl": rows[:5], "unknown.jsonl": [{"text": row["text"], "label": []} for row in rows[5:]]}
    (returned(tmp_path) / "file.jsonl").unlink()
    zipped(
        returned(tmp_path) / "export.zip",
        {
            name: doccano_file(doccano_records(part, lambda row: word(row) if "qid" in row else []))
            for name, part in of.items()
        },
    )
    result = ptr.judging.import_labels(tmp_path, partial=True)
    assert (len(result.table), len(result.missing)) == (5, len(rows) - 5)
    (returned(tmp_path) / "export.zip").unlink()
    # "JSONL" of version 1.0 has numbers of its own for labels
    bring(lambda row: {"meta": meta(row), "annotations": [{"label": 3, "user": 1}]})
    messages.refused(lambda: ptr.judging.import_labels(tmp_path), place="returned/file.jsonl, line 1")


# ---- Label Studio


def users(*people):
    """Return annotations of several users for each task: all of them, with a note of the first."""
    return lambda i, row: [
        annotation(10 * i + n, who, word(row), "because" if n == 0 else None) for n, who in enumerate(people)
    ]


@pytest.mark.parametrize("made", [label_studio, label_studio_min])
def test_label_studio_several_annotators_in_one_project(made, tmp_path):
    export(tmp_path, format="label-studio", annotators=None, overlap=2)
    rows = rows_of(tmp_path / "tasks-round1.json")
    (returned(tmp_path) / "export.json").write_bytes(made(rows, users(3, 5)))
    expected = {(who, q, d): truth(q, d) for q, docnos in PAIRS.items() for d in docnos for who in "35"}
    assert labels_of(ptr.judging.import_labels(tmp_path)) == expected
    named = labels_of(ptr.judging.import_labels(tmp_path, annotators={"3": "cem", 5: "dot"}))
    assert named == {({"3": "cem", "5": "dot"}[who], q, d): label for (who, q, d), label in expected.items()}


def test_label_studio_skipped_drafts_and_none(tmp_path):
    export(tmp_path, format="label-studio", annotators=["ann"])
    rows = tasks_of(tmp_path, "ann")

    def given(i, row):
        if i == 0:
            return []
        if i == 1:
            return [annotation(i, 1, word(row), "no text", was_cancelled=True)]
        if i == 2:
            return [annotation(i, 1, [])]
        return [annotation(i, 1, word(row))]

    (returned(tmp_path) / "e.json").write_bytes(label_studio(rows, given))
    result = ptr.judging.import_labels(tmp_path, partial=True)
    assert len(result.table) == len(rows) - 3
    lacking = result.missing.set_index("docno")
    assert set(lacking.index) == {row["docno"] for row in rows[:3]}
    assert lacking["skipped"].to_dict() == {row["docno"]: i == 1 for i, row in enumerate(rows[:3])}
    assert lacking["note"][rows[1]["docno"]] == "no text"


def test_label_studio_two_annotations_of_one(tmp_path, messages):
    export(tmp_path, format="label-studio", annotators=["ann"])
    rows = tasks_of(tmp_path, "ann")
    path = returned(tmp_path) / "e.json"
    path.write_bytes(label_studio(rows, users(1, 1)))
    assert labels_of(messages.warned(lambda: ptr.judging.import_labels(tmp_path))) == asked(tmp_path)
    other = lambda row: [WORDS[(truth(row["qid"], row["docno"]) + 1) % 3]]  # noqa: E731
    path.write_bytes(
        label_studio(
            rows, lambda i, row: [annotation(i, 1, word(row)), *([annotation(99, 1, other(row))] if i == 3 else [])]
        )
    )
    messages.refused(lambda: ptr.judging.import_labels(tmp_path), place="returned/e.json, record 4, annotation 99")


@pytest.mark.parametrize(("separator", "ending"), [(",", "csv"), ("\t", "tsv")])
def test_label_studio_as_a_table(separator, ending, tmp_path):
    export(tmp_path, format="label-studio", annotators=["ann"])
    rows = []
    for i, row in enumerate(tasks_of(tmp_path, "ann")):
        more = {"id": 7 + i, "label": word(row)[0], "annotator": "x@y.org", "annotation_id": i, "lead_time": 1.5}
        times = {"created_at": "2026-03-01T10:00:00.1Z", "updated_at": "2026-03-02T11:30:00.893578Z"}
        rows.append(dict(sorted({**row, **more, **times}.items())))
    write_rows(returned(tmp_path) / f"project.{ending}", rows, separator)
    result = ptr.judging.import_labels(tmp_path)
    assert labels_of(result) == asked(tmp_path)
    assert result.table["time"][0] == "2026-03-02T11:30:00+00:00"


# ---- any text


@settings(deadline=None, max_examples=15)
@given(
    st.text(max_size=60).filter(str.strip),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9),
)
def test_any_text_goes_there_and_back(tmp_path_factory, text, name):
    pairs = {"1": [f"d{name}"], "2": [f"e{name}", "="]}
    for form in ("doccano", "label-studio"):
        folder = tmp_path_factory.mktemp(form)
        export(folder, pairs, format=form, annotators=["ann"], texts=dict.fromkeys([f"d{name}", f"e{name}", "="], text))
        rows = tasks_of(folder, "ann")
        made = doccano_file(doccano_records(rows, lambda row: ["relevant"])) if form == "doccano" else None
        made = made or label_studio(rows, lambda i, row: [annotation(i, 4, ["relevant"])])
        (returned(folder) / ("all.jsonl" if form == "doccano" else "all.json")).write_bytes(made)
        result = ptr.judging.import_labels(folder)
        assert sorted(zip(result.table["qid"], result.table["docno"], strict=True)) == sorted(
            (qid, docno) for qid, docnos in pairs.items() for docno in docnos
        )
