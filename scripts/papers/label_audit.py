"""Audit five judges on Deep Learning 2019 and 2021, and save what the docs show.

    python scripts/papers/label_audit.py [DATA]

DATA is a folder with dl19-passages and dl21-passages (default: PT_REUSE_DATA). The results go to docs/papers/stored; so
that they are small, and hold nothing of the judgments, tables have eight decimals and no documents, and of the labels
there are the main table and the lowest relevant labels alone. It takes about ten seconds.
"""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import replace
from pathlib import Path

import pt_reuse as ptr
from pt_reuse.judging.audit_labels import LabelAudit

TARGET = Path(__file__).resolve().parents[2] / "docs" / "papers" / "stored"
DECIMALS = 8
#: EXAM labels from 0 to 5; published figures take the label 2 of people for it, too
SCALES = {"exam-gpt-4": 2}
#: what scores as the track does
ORDER = "trec_eval9"


def audited(folder: Path) -> LabelAudit:
    """Return the audit of one track; where runs came later, by when they came."""
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", order=ORDER)
    judges = {path.name.removesuffix(".gz"): path for path in sorted((folder / "llm-labels").glob("*.gz"))}
    people = {path.stem: path for path in sorted((folder / "re-annotators").glob("*.txt"))}
    qrels = ptr.read_qrels(folder / "qrels.gz", rel=2)
    later = folder / "later.csv"
    if not later.exists():
        return ptr.audit_labels(runs, qrels, judges, "nDCG@10", judge_rel=SCALES)
    with later.open(newline="") as lines:
        families = {row["name"]: row["family"] for row in csv.DictReader(lines)}
    types = dict.fromkeys(runs.names, "official")
    types |= {name: "later, GPT" if family == "gpt" else "later, other" for name, family in families.items()}
    field = runs | ptr.read_runs(folder / "later", names="file", order=ORDER)
    return ptr.audit_labels(
        field.with_metadata(types=types), qrels, judges, "nDCG@10", people=people, by="type", judge_rel=SCALES
    )


def small(found: LabelAudit) -> LabelAudit:
    """Return what the docs show."""
    labels = found.labels
    empty = {name: table.head(0) for name, table in labels.tables().items() if name not in ("agreement", "bounds")}
    main = labels.table[(labels.table["items"] == "all") & (labels.table["labels"] == "binary")]
    movers = found.movers[found.movers["kind"] == "model"]
    return replace(
        found,
        table=found.table.round(DECIMALS),
        movers=movers.round(DECIMALS).reset_index(drop=True),
        documents=found.documents.head(0),
        beside=found.beside.round(DECIMALS),
        yardstick=found.yardstick.round(DECIMALS),
        labels=replace(labels, table=main.round(DECIMALS).reset_index(drop=True), **empty),
    )


def main(data: Path) -> None:
    """Compute and save."""
    for name, folder in (("label-audit-dl19", "dl19-passages"), ("label-audit-dl21", "dl21-passages")):
        found = small(audited(data / folder))
        found.save(TARGET / name, overwrite=True)
        print(found.report(), found, sep="\n")


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
