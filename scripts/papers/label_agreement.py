"""Hold labels of five judges against people on Deep Learning 2019 and 2021, and save what the docs show.

    python scripts/papers/label_agreement.py [DATA]

DATA is a folder with dl19-passages and dl21-passages (default: PT_REUSE_DATA). The results go to docs/papers/stored; so
that they are small, tables have eight decimals, and those by topic are of judges and all documents alone. It takes five
seconds.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pt_reuse as ptr
from pt_reuse.judging.compare_labels import LabelAgreement

TARGET = Path(__file__).resolve().parents[2] / "docs" / "papers" / "stored"
DECIMALS = 8
#: EXAM labels from 0 to 5; published figures take the label 2 of people for it, too
SCALES = {"exam-gpt-4": 2}


def compared(folder: Path) -> LabelAgreement:
    """Return labels of the judges, and of the people who judged again, beside the official judgments."""
    judges = {path.name.removesuffix(".gz"): path for path in sorted((folder / "llm-labels").glob("*.gz"))}
    people = {path.stem: path for path in sorted((folder / "re-annotators").glob("*.txt"))}
    return ptr.labels.compare_labels(folder / "qrels.gz", judges, rel=2, people=people or None, judge_rel=SCALES)


def small(found: LabelAgreement) -> LabelAgreement:
    """Return what the docs show."""
    topics = found.per_topic[(found.per_topic["kind"] == "model") & (found.per_topic["items"] == "all")]
    tables = {name: table for name, table in found.tables().items() if name not in ("agreement", "per_topic")}
    rounded = {name: table.round(DECIMALS) for name, table in tables.items()}
    return replace(found, table=found.table.round(DECIMALS), per_topic=topics.round(DECIMALS), **rounded)


def main(data: Path) -> None:
    """Compute and save."""
    for name, folder in (("label-agreement-dl19", "dl19-passages"), ("label-agreement-dl21", "dl21-passages")):
        found = small(compared(data / folder))
        found.save(TARGET / name, overwrite=True)
        print(found.report(), found, sep="\n")


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
