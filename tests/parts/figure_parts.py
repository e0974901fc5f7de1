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
