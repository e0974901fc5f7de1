"""Redo Voorhees, Soboroff and Lin 2022 on TREC-8 and Deep Learning, and save what the page of the paper shows.

    python scripts/papers/old_judgments.py [DATA]

DATA is a folder with trec8-adhoc, dl19-passages and dl21-passages (default: PT_REUSE_DATA). It takes about a minute.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pandas as pd
from ir_measures import AP, RR, P, nDCG

import pt_reuse as ptr
from pt_reuse.studies.compare_judgments import JudgmentComparison

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED, TEXTS = DOCS / "papers" / "stored", DOCS / "experiments"
RESAMPLES = 1000


def trec8(data: Path) -> tuple[ptr.RunSet, ptr.Qrels]:
    """Return TREC-8 ad hoc: 129 runs, automatic and manual, 71 of them pooled to depth 100."""
    folder = data / "trec8-adhoc"
    table = [line.split(":") for line in (folder / "runs_table.adhoc").read_text("latin-1").splitlines() if line]
    runs = ptr.read_runs(
        folder / "inputs",
        teams=folder / "runs-pids",
        types={row[0]: row[4] for row in table},
        pooled=[row[0] for row in table if row[12].strip()],
    )
    return runs, ptr.read_qrels(folder / "trec8.qrels.gz")


def deep(data: Path, name: str) -> tuple[ptr.RunSet, ptr.Qrels]:
    """Return a passage task of Deep Learning: all runs were pooled to depth 10, in the order of their lines."""
    folder = data / name
    types = folder / "types"
    runs = ptr.read_runs(
        folder / "inputs",
        teams=folder / "runs-pids",
        types=types if types.exists() else None,
        pooled=True,
        order="trec_eval9",
        pool_order="file",
    )
    return runs, ptr.read_qrels(folder / "qrels.gz", rel=2)


def with_later(data: Path, official: ptr.RunSet) -> ptr.RunSet:
    """Return the official runs of 2019 and the 24 that came later, which were not pooled."""
    folder = data / "dl19-passages"
    family = pd.read_csv(folder / "later.csv").set_index("name")["family"]
    later = ptr.read_runs(folder / "later", names="file", pooled=False, order="trec_eval9", pool_order="file")
    kinds = {name: "GPT, later" if family.get(name) == "gpt" else "other, later" for name in later.names}
    return official | later.with_metadata(types=kinds)


def without_manual(runs: ptr.RunSet, qrels: ptr.Qrels) -> JudgmentComparison:
    """Compare the judgments that there would be without manual runs with the official ones."""
    alone = ptr.depth_pool(runs, depth=100).uniques(by="type")
    old = qrels - alone[alone["type"] == "manual"]
    names = ("automatic pool", "official")
    return ptr.compare_judgments(runs, old, qrels, [AP, P @ 10], names=names, depth=100, resamples=RESAMPLES)


def people(data: Path, runs: ptr.RunSet, qrels: ptr.Qrels) -> pd.DataFrame:
    """Return a row per re-annotator: the official judgments against those with the person's labels put in."""
    rows = []
    for path in sorted((data / "dl19-passages" / "re-annotators").glob("annotator-*.txt")):
        theirs = ptr.read_qrels(path, rel=2)
        official = qrels.select(theirs.topics)
        put_in = theirs.union(official, conflict="first")
        names = ("NIST", path.stem)
        found = ptr.compare_judgments(
            runs, official, put_in, nDCG @ 10, names=names, depth=10, resamples=RESAMPLES
        ).table.iloc[0]
        rows.append({"annotator": path.stem, "topics": len(theirs.topics), **found[list(NUMBERS)]})
    return pd.DataFrame(rows)


def labels(data: Path) -> pd.DataFrame:
    """Return a row per pair of labels: strict and lenient ones, sparse and dense ones."""
    runs, graded = deep(data, "dl21-passages")
    official, dense = deep(data, "dl19-passages")
    frame = dense.to_frame()
    best = frame[frame["label"] == frame.groupby("qid")["label"].transform("max")].drop_duplicates("qid")
    sparse = ptr.Qrels(best.assign(label=1), topics=dense.topics)
    all_grades = graded.with_rel(1)
    strict = all_grades.threshold(2)
    rows = []
    for what, field, a, b, mine, theirs in (
        ("2021, grades 1-3 and 2-3", runs, all_grades, strict, [AP, P @ 10, RR, nDCG @ 10], None),
        ("2021, both binary", runs, all_grades.threshold(1), strict, [nDCG @ 10], None),
        ("2019, dense and sparse", official, dense, sparse, [nDCG @ 10, nDCG @ 10], [RR @ 10, nDCG @ 10]),
    ):
        pairs = zip(mine, mine if theirs is None else theirs, strict=True)
        for measure, other in pairs:
            found = ptr.compare_judgments(field, a, b, measure, measures_b=other, depth=10, resamples=RESAMPLES)
            rows.append({"labels": what, "measures": f"{measure}, {other}", **found.table.iloc[0][list(NUMBERS)]})
    return pd.DataFrame(rows)


#: what a text table shows of a comparison
NUMBERS = ("tau_b", "tau_b_low", "tau_b_high", "gamma", "max_drop", "max_rise")


def written(table: pd.DataFrame, name: str) -> None:
    """Write a table as text."""
    shown = table.astype({"max_drop": int, "max_rise": int}).to_string(index=False, float_format="{:.4f}".format)
    text = "\n".join(line.rstrip() for line in shown.splitlines()) + "\n"
    (TEXTS / f"{name}.txt").write_text(text, encoding="utf-8")
    print(text)


def main(data: Path) -> None:
    """Compute everything, print it and save it."""
    # sparse labels cannot say what is unjudged, and nobody asks them here
    warnings.filterwarnings("ignore", category=ptr.ReuseWarning)
    runs, qrels = trec8(data)
    results = {"old-judgments-manual": without_manual(runs, qrels)}
    official, nist = deep(data, "dl19-passages")
    field = with_later(data, official)
    for model, rel in (("umbrela-gpt-4", 2), ("binary-llama-3.2", 1)):
        given = ptr.read_qrels(data / "dl19-passages" / "llm-labels" / f"{model}.gz", rel=rel)
        results[f"old-judgments-{model}"] = ptr.compare_judgments(
            field,
            nist,
            given,
            nDCG @ 10,
            names=("people", model),
            selected=field.select(pooled=False).names,
            depth=10,
            resamples=RESAMPLES,
        )
    for name, result in results.items():
        result.save(STORED / name, overwrite=True)
        print(result, result.report("selected"), sep="\n")
    written(people(data, official, nist), "old-judgments-people")
    written(labels(data), "old-judgments-labels")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["PT_REUSE_DATA"]))
