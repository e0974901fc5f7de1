"""A small field with its judgments, and files of figures about it."""

from __future__ import annotations

import csv

import pandas as pd

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.verification.verification import verify

RANKED = {
    "A": {"1": "na nb wc", "2": "we nf"},
    "B": {"1": "nb wd na", "2": "nf ng"},
    "C": {"1": "wc wh na", "2": "we ng"},
}


LABELS = {"1": {"na": 1, "nb": 0, "wd": 1, "wh": -1}, "2": {"we": 1, "nf": 0, "ng": 2, "wj": 0, "wi": -2}}


def frame(lists):
    rows = [
        (qid, docno, float(-rank), rank) for qid, docnos in lists.items() for rank, docno in enumerate(docnos.split())
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])


def small_field():
    return RunSet.from_frames(
        {name: frame(lists) for name, lists in RANKED.items()},
        teams={"A": "x", "B": "y", "C": "z"},
        types={"A": "automatic", "B": "manual", "C": "automatic"},
        pooled=["A", "B"],
    )


def small_qrels():
    rows = [(qid, docno, label) for qid, labels in LABELS.items() for docno, label in labels.items()]
    return Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))


HEAD = ("collection", "what", "kind", "arguments", "name", "value", "source", "computed", "differs")


def figure(kind, values, what="it", *, collection="mine", known=(), differs=""):
    """Return the rows of a figure: kind and arguments; name -> value; name -> what is known to come out instead."""
    kind, _, arguments = kind.partition("; ")
    begin, known = [collection, what, kind, arguments], dict(known)
    return [
        [
            *(begin if n == 0 else [""] * 4),
            name,
            value,
            "by hand",
            known.get(name, ""),
            differs if name in known else "",
        ]
        for n, (name, value) in enumerate(values.items())
    ]


def written(folder, *figures):
    path = folder / "mine.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEAD, *(row for figure in figures for row in figure)])
    return path


def replay(folder, *figures, runs=None, qrels=None):
    return verify(
        "mine",
        runs=small_field() if runs is None else runs,
        qrels=small_qrels() if qrels is None else qrels,
        figures=written(folder, *figures),
    )
