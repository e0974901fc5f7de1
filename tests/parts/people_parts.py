"""A small pool for people to judge, and files as spreadsheets, Doccano and Label Studio write them back."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pandas as pd

import pt_reuse as ptr
from pt_reuse.judging.people.manifest import read_manifest

MARCH = 1_772_366_400  # 2026-03-01T12:00:00Z
WORDS = {0: "not relevant", 1: "relevant", 2: "highly relevant"}
PAIRS = {"2": ["b1", "b2", "b3"], "10": ["c1"], "1": ["a1", "a2", "a3", "a4"]}


def frame(pairs=None, **columns):
    rows = [(qid, docno) for qid, docnos in (pairs or PAIRS).items() for docno in docnos]
    return pd.DataFrame(rows, columns=["qid", "docno"]).assign(**columns)


def pool(pairs=None, **columns):
    return ptr.Pool.from_frame(frame(pairs, **columns), settings={"strategy": "mtf", "depth": 4})


def texts(pairs=None):
    return {docno: f"text of {docno}" for docnos in (pairs or PAIRS).values() for docno in docnos}


def export(folder, pairs=None, **options):
    """Export the pool with everything it needs; options replace parts of it."""
    given = {
        "topics": {qid: f"query {qid}" for qid in (pairs or PAIRS)},
        "texts": texts(pairs),
        "labels": WORDS,
        "annotators": ["ann", "bob"],
    }
    return ptr.judging.export_tasks(options.pop("pool", pool(pairs)), folder, **{**given, **options})


def truth(qid, docno):
    """Return the label that everybody gives."""
    return (len(qid) + int(docno[1:])) % 3


def as_asked(folder):
    """Return annotator, topic and document -> the label that everybody gives, of all that was asked."""
    return {(who, *pair.key): truth(*pair.key) for pair in read_manifest(folder).pairs for who in pair.asked}


def labels_of(result):
    """Return annotator, topic and document -> the label that came back."""
    rows = result.table[["annotator", "qid", "docno", "label"]].itertuples(index=False, name=None)
    return {(who, qid, docno): label for who, qid, docno, label in rows}


def rows_of(path):
    """Return the rows of a task file of any format, as dicts."""
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [task["data"] for task in json.loads(path.read_text(encoding="utf-8"))]


def write_rows(path, rows, separator=",", encoding="utf-8"):
    """Write rows as a spreadsheet does."""
    held = io.StringIO(newline="")
    writer = csv.DictWriter(held, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(held.getvalue().encode(encoding))


def fill(path, label=lambda row: str(truth(row["qid"], row["docno"])), **how):
    """Fill in the labels of a sheet."""
    write_rows(path, [{**row, "label": label(row)} for row in rows_of(path)], **how)


def fill_all(folder, label=lambda row: str(truth(row["qid"], row["docno"]))):
    for path in folder.glob("*.csv"):
        fill(path, label)


def returned(folder):
    (folder / "returned").mkdir(exist_ok=True)
    return folder / "returned"


def doccano_records(rows, labels, comments=()):
    """Return records as Doccano's exporter makes them: its own id, the text, what was imported, labels, comments."""
    return [
        {
            "id": 100 + i,
            "text": row["text"],
            **{name: value for name, value in row.items() if name not in ("text", "label")},
            "label": labels(row),
            "Comments": list(comments),
        }
        for i, row in enumerate(rows)
    ]


def doccano_file(records, kind="jsonl"):
    """Return a file of Doccano's: what pandas writes, as its exporter does; labels joined by # in CSV."""
    made = pd.DataFrame(records)
    if kind == "csv":
        joined = {name: ["#".join(sorted(value)) for value in made[name]] for name in ("label", "Comments")}
        return made.assign(**joined).to_csv(index=False).encode()
    return made.to_json(orient="records", force_ascii=False, lines=kind == "jsonl").encode()


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def annotation(number, who, labels, note=None, **further):
    """Return an annotation as Label Studio has it in its JSON export."""
    result = [
        {
            "id": f"r{number}",
            "type": "choices",
            "value": {"choices": labels},
            "origin": "manual",
            "to_name": "text",
            "from_name": "label",
        }
    ]
    if note is not None:
        said = {"id": f"n{number}", "type": "textarea", "value": {"text": [note]}, "origin": "manual"}
        result.append({**said, "to_name": "text", "from_name": "note"})
    return {
        "id": number,
        "completed_by": who,
        "result": result if labels else [],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-03-01T10:00:00.123456Z",
        "updated_at": "2026-03-02T11:30:00.893578Z",
        "lead_time": 8.65,
        "result_count": 1,
        **further,
    }


def label_studio(rows, annotations):
    """Return tasks as Label Studio exports them; `annotations` makes those of a row."""
    tasks = [
        {
            "id": 7 + i,
            "annotations": annotations(i, row),
            "file_upload": "1-tasks.json",
            "drafts": [],
            "predictions": [],
            "data": row,
            "meta": {},
            "created_at": "2026-02-01T00:00:00.000000Z",
            "updated_at": "2026-03-02T11:30:00.923985Z",
            "inner_id": i + 1,
            "total_annotations": 1,
            "cancelled_annotations": 0,
            "project": 1,
        }
        for i, row in enumerate(rows)
    ]
    return json.dumps(tasks).encode()


def label_studio_min(rows, annotations):
    """Return what Label Studio's converter makes of the same: one flat record for each annotation."""
    records = []
    for i, row in enumerate(rows):
        for one in annotations(i, row):
            values = {part["from_name"]: part["value"] for part in one["result"]}
            short = {}
            for name, key in (("label", "choices"), ("note", "text")):
                if name in values:
                    found = values[name][key]
                    short[name] = found[0] if len(found) == 1 else {key: found}
            times = {name: one[name] for name in ("created_at", "updated_at", "lead_time")}
            who = {"annotator": one["completed_by"], "annotation_id": one["id"]}
            records.append({**row, "id": 7 + i, **short, **who, **times})
    return json.dumps(records, indent=2, ensure_ascii=False).encode()
