"""Files of tools to which something happened: read or refused in words, and what is right in them is not dropped."""

from __future__ import annotations

import io
import json
import random
import warnings
import zipfile

import pytest
from faults import altered, altered_json
from packing_parts import zip_bomb
from people_parts import (
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
)

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.data import packed_files as files
from pt_reuse.judging.people.importing import import_labels

#: how many files of each kind, of which the large form has a thousand
CASES = 60
ARCHIVES = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


def word(row):
    return [WORDS[truth(row["qid"], row["docno"])]]


def by_ann(i, row):
    return [annotation(i, "ann", word(row), "a note")]


#: kind of file -> how an export reads that has it, and its records
KINDS = {
    "doccano": ("doccano", "ann.jsonl", lambda rows: doccano_records(rows, word, ["a comment"])),
    "label-studio": ("label-studio", "ann.json", lambda rows: json.loads(label_studio(rows, by_ann))),
    "label-studio-min": ("label-studio", "ann.json", lambda rows: json.loads(label_studio_min(rows, by_ann))),
}


def read(folder):
    """Return the labels that are read, None where something is refused; other errors are faults of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        try:
            labels = import_labels(folder, partial=True)
        except InputError:
            return None
    rows = labels.table[["qid", "docno", "label"]].itertuples(index=False, name=None)
    repr(labels)
    str(labels)
    return {(qid, docno): label for qid, docno, label in rows}


def tasks(folder, form):
    """Export tasks of one annotator, and return the rows that a tool has of them."""
    export(folder, format=form, annotators=["ann"])
    return rows_of(next(folder.glob("*-round1.*")))


@pytest.mark.parametrize("kind", KINDS)
def test_records_that_were_altered(kind, tmp_path):
    form, name, records_of = KINDS[kind]
    records = records_of(tasks(tmp_path, form))
    keys = [(row["qid"], row["docno"]) for row in (record.get("data", record) for record in records)]
    found = {"read": 0, "refused": 0}
    for seed in range(CASES * 5):
        chance, changed = random.Random(f"{kind} {seed}"), list(records)
        touched = {chance.randrange(len(records)) for _ in range(chance.choice([1, 1, 2]))}
        for at in touched:
            changed[at] = altered_json(changed[at], chance)
        text = json.dumps(changed) if name.endswith(".json") else "\n".join(map(json.dumps, changed))
        (returned(tmp_path) / name).write_text(text)
        labels = read(tmp_path)
        found["refused" if labels is None else "read"] += 1
        if labels is not None:
            # what nothing happened to is there
            assert {(key, truth(*key)) for i, key in enumerate(keys) if i not in touched} <= set(labels.items()), text
    # most get past the door, and some are refused
    assert found["read"] > CASES
    assert found["refused"] > CASES / 4


def sheet_zip(folder, packing):
    rows = tasks(folder, "csv")
    write_rows(folder / "s.csv", [{**row, "label": str(truth(row["qid"], row["docno"]))} for row in rows])
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for who in ("ann", "bob"):
            archive.writestr(f"{who}.csv", (folder / "s.csv").read_bytes())
    (folder / "s.csv").unlink()
    return held.getvalue()


@pytest.mark.parametrize("packing", ARCHIVES)
def test_archives_that_were_altered(packing, tmp_path):
    whole = sheet_zip(tmp_path, ARCHIVES[packing])
    refused = 0
    for seed in range(CASES):
        (returned(tmp_path) / "export.zip").write_bytes(altered(whole, random.Random(f"{packing} {seed}")))
        refused += read(tmp_path) is None
    assert refused > CASES / 2


@pytest.mark.parametrize(
    "case",
    ["../out.csv", "/out.csv", "a/../../out.csv", "..\\out.csv", "C:\\out.csv", "inner.zip", "more.csv.gz", "more.tar"],
)
def test_members_that_are_not_read(case, tmp_path):
    rows = doccano_file(doccano_records(tasks(tmp_path, "doccano"), word))
    with zipfile.ZipFile(returned(tmp_path) / "export.zip", "w") as archive:
        archive.writestr("ann.jsonl", rows)
        archive.writestr(case, rows)
    with pytest.raises(InputError) as error:
        import_labels(tmp_path)
    assert error.value.place.startswith("returned/export.zip")


def test_an_archive_that_unpacks_too_far_or_has_too_many_members(tmp_path, monkeypatch):
    rows = doccano_file(doccano_records(tasks(tmp_path, "doccano"), word))
    archive = returned(tmp_path) / "export.zip"
    monkeypatch.setattr(files, "ANY_UNPACKED", 10**6)
    # what they unpack to counts together
    for sizes in ([10**7], [400_000, 400_000, 400_000]):
        archive.write_bytes(zip_bomb(sizes))
        with pytest.raises(InputError, match="attack"):
            import_labels(tmp_path)
    monkeypatch.setattr(files, "MOST_MEMBERS", 3)
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("ann.jsonl", rows)
        for i in range(3):
            made.writestr(f".{i}", b"")
    with pytest.raises(InputError, match="members"):
        import_labels(tmp_path)
    monkeypatch.setattr(files, "MOST_MEMBERS", 4)
    assert len(import_labels(tmp_path).table) == 8


ODD_RESULTS = [5, "relevant", {"value": 1}, [5], [None], [{"from_name": "label", "value": 3}], [{"from_name": "label"}]]


@pytest.mark.parametrize(
    "change",
    [
        *({"result": result} for result in ODD_RESULTS),
        {"was_cancelled": "false"},
        {"skipped": []},
        *(
            {"result": [{"from_name": "label", "value": {"choices": odd}}]}
            for odd in ([{}], [["relevant"]], [True], {"a": 1})
        ),
        {"result": 2 * annotation(0, "ann", ["relevant"])["result"]},
    ],
)
def test_odd_annotations_are_told_with_record_and_document(change, tmp_path):
    rows = tasks(tmp_path, "label-studio")
    made = label_studio(rows, lambda i, row: [annotation(i, "ann", word(row), **(change if i == 2 else {}))])
    (returned(tmp_path) / "ann.json").write_bytes(made)
    with pytest.raises(InputError) as error:
        import_labels(tmp_path, partial=True)
    assert error.value.place == "returned/ann.json, record 3, annotation 2"
    assert repr(rows[2]["docno"]) in str(error.value)


TIMES = {
    "2026-03-02T13:30:00+02:00": "2026-03-02T11:30:00+00:00",
    "2026-03-02T11:30:00": "2026-03-02T11:30:00+00:00",
    "2026-03-02 06:30:00-0500": "2026-03-02T11:30:00+00:00",
    None: "2026-03-01T10:00:00+00:00",
    "": "2026-03-01T10:00:00+00:00",
}


@pytest.mark.parametrize("said", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "soon", -5, 1e300, {}, [1]])
def test_what_is_no_time_is_told_and_that_of_the_file_is_taken(said, tmp_path):
    rows = tasks(tmp_path, "label-studio")
    odd = {"updated_at": said, "created_at": None, "lead_time": -3.5}
    made = label_studio(rows, lambda i, row: [annotation(i, "ann", word(row), **(odd if i == 2 else {}))])
    (returned(tmp_path) / "ann.json").write_bytes(made)
    with pytest.warns(ReuseWarning) as told:
        labels = import_labels(tmp_path)
    assert repr(rows[2]["docno"]) in str(told[0].message)
    assert "record 3, annotation 2" in str(told[0].message)
    assert len(labels.table) == 8
