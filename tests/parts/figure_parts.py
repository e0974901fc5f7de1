"""A small field with its judgments, and files of figures about it."""

from __future__ import annotations

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


HEAD = 'collection = "mine"\ntitle = "Mine"\n'


def figure(lines, what="it"):
    return f'\n[[figure]]\nwhat = "{what}"\nsource = "by hand"\n{lines}\n'


def written(folder, *figures):
    path = folder / "mine.toml"
    path.write_text(HEAD + "".join(figures))
    return path


def replay(folder, *figures, runs=None, qrels=None):
    return verify(
        "mine",
        runs=small_field() if runs is None else runs,
        qrels=small_qrels() if qrels is None else qrels,
        figures=written(folder, *figures),
    )


def tied_files(folder):
    """Write a run whose scores tie as float32, and tie altogether at the end, in another order than docnos."""
    folder.mkdir()
    rows = [("d1", 100000.002), ("d2", 100000.001), ("d3", 5.0), ("d4", 5.0)]
    text = "".join(f"1 Q0 {docno} {rank} {score} R\n" for rank, (docno, score) in enumerate(rows, 1))
    # the file does not begin with the best score
    (folder / "R").write_text("1 Q0 d9 5 1.0 R\n" + text)
    return folder


def relevant(*docnos):
    judged = [f"d{n}" for n in range(1, 10)]
    return Qrels(pd.DataFrame({"qid": "1", "docno": judged, "label": [int(docno in docnos) for docno in judged]}))


UNIQUES = 'kind = "uniques"\ndepth = 2\nconventions = [{ contributors = "pooled" }, { contributors = "all" }]\n'
