"""A small pool for people to judge, and files as spreadsheets and Label Studio write them back."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd

import pt_reuse as ptr
from pt_reuse.judging.people.export import read_manifest

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
    return [task["data"] for task in json.loads(path.read_text(encoding="utf-8"))]


def write_rows(path, rows, separator=",", encoding="utf-8"):
    """Write rows as a spreadsheet does."""
    held = io.StringIO(newline="")
    writer = csv.DictWriter(held, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(held.getvalue().encode(encoding))


def fill(path, label=lambda row: str(truth(row["qid"], row["docno"])), **cells):
    """Fill in the labels of a sheet, and other cells of all rows."""
    write_rows(path, [{**row, "label": label(row), **cells} for row in rows_of(path)])


def fill_all(folder, label=lambda row: str(truth(row["qid"], row["docno"]))):
    for path in folder.glob("*.csv"):
        fill(path, label)


def returned(folder):
    (folder / "returned").mkdir(exist_ok=True)
    return folder / "returned"
