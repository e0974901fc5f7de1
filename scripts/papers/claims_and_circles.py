"""Compute what five models' labels do to significance, and to runs that re-rank by them, for the docs.

    python scripts/papers/claims_and_circles.py [DATA]

DATA is a folder with dl19-passages and dl21-passages, their llm-labels and the re-annotators of 2019 (default:
PT_REUSE_DATA). The results go to docs/papers/stored, the pairs of runs and most runs' gains left out, which would take
megabytes; the tables under the corrections and the findings are printed. It takes about a minute.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path

from ir_measures import nDCG

import pt_reuse as ptr
from pt_reuse.studies.significance_fidelity import SignificanceFidelity

DOCS = Path(__file__).resolve().parents[2] / "docs"
JUDGES = ("umbrela-gpt-4", "binary-gpt-4o", "binary-gpt-4", "exam-gpt-4", "binary-llama-3.2")
#: EXAM labels from 0 to 5; published figures take the label 2 of people for it, too
SCALES = {"exam-gpt-4": 2}
CORRECTIONS = ("bonferroni", "holm", "benjamini-hochberg")


def track(folder: Path) -> tuple[ptr.RunSet, ptr.Qrels, dict[str, Path]]:
    """Return the runs, the judgments of people and the labels of the judges."""
    runs = ptr.read_runs(
        folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file"
    )
    judges = {judge: folder / "llm-labels" / f"{judge}.gz" for judge in JUDGES}
    return runs, ptr.read_qrels(folder / "qrels.gz", rel=2), judges


def claims(data: Path, year: str) -> None:
    """Compute which significant differences of a year each judge claims falsely, and which it misses."""
    runs, people, judges = track(data / f"dl{year}-passages")
    found = ptr.labels.significance_fidelity(runs, people, judges, nDCG @ 10, judge_rel=SCALES)
    _keep(f"claims-dl{year}", found)
    texts = [found.report(), str(found)]
    for correction in CORRECTIONS:
        corrected = ptr.labels.significance_fidelity(
            runs, people, judges, nDCG @ 10, judge_rel=SCALES, correction=correction, resamples=0
        )
        texts.append(corrected.report())
        if (year, correction) == ("21", "holm"):
            _keep(f"claims-dl{year}-holm", corrected)
    _show(texts)


def yardstick(data: Path) -> None:
    """Compute both for 2019 on the passages that two people each judged again, who stand beside the models."""
    runs, people, models = track(data / "dl19-passages")
    folder = data / "dl19-passages" / "re-annotators"
    # eight people judged a quarter of the topics each, two of them the same quarter
    again = [ptr.read_qrels(folder / f"annotator-{n}.txt") for n in range(1, 9)]
    sides = {f"re-annotators, {name}": reduce(or_, again[n::2]) for n, name in enumerate(("first", "second"))}
    people = people.restrict(sides["re-annotators, first"])
    judges = {**sides, **models}
    fidelity = ptr.labels.significance_fidelity(runs, people, judges, nDCG @ 10, judge_rel=SCALES)
    _keep("claims-dl19-people", fidelity)
    circle = ptr.labels.circularity(runs, people, judges, nDCG @ 10, judge_rel=SCALES)
    replace(circle, by_run=circle.by_run.head(0)).save(
        DOCS / "papers" / "stored" / "circle-dl19-people", overwrite=True
    )
    _show([fidelity.report(), circle.report()])


def _keep(name: str, found: SignificanceFidelity) -> None:
    """Save a result without its pairs of runs."""
    replace(found, pairs=found.pairs.head(0)).save(DOCS / "papers" / "stored" / name, overwrite=True)


def circles(data: Path, year: str) -> None:
    """Compute what runs of a year gain that re-rank by each judge's labels."""
    runs, people, judges = track(data / f"dl{year}-passages")
    found = ptr.labels.circularity(runs, people, judges, nDCG @ 10, judge_rel=SCALES)
    if year == "21":
        shown = found.by_run[(found.by_run["judge"] == JUDGES[0]) & found.by_run["scorer"].isin([JUDGES[0], "people"])]
        few = replace(found, by_run=shown.reset_index(drop=True))
        few.save(DOCS / "papers" / "stored" / f"circle-dl{year}", overwrite=True)
    _show([found.report(), found.report("rankings"), str(found)])


def _show(texts: list) -> None:
    print("\n\n".join(map(str, texts)) + "\n")


def main(data: Path) -> None:
    """Compute and save."""
    for year in ("21", "19"):
        claims(data, year)
        circles(data, year)
    yardstick(data)


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
