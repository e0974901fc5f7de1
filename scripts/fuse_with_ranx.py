"""Fuse generated lists with ranx and keep what it gives, for the tests of fused scores.

ranx is no dependency: ``pip install ranx`` first. The tests compare with the file, so they need it no more.

    python scripts/fuse_with_ranx.py            # write
    python scripts/fuse_with_ranx.py --check    # compare with what is there; 1 if it differs
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

from ranx import Run, fuse

OUT = Path(__file__).resolve().parents[1] / "tests" / "arrays" / "fused_by_ranx.json"
SIZES = ((1, 2), (4, 2), (4, 3), (9, 5), (20, 6))
SCORES = {
    "untied": lambda chance: chance.random() * 30,
    "tied": lambda chance: float(chance.randint(0, 3)),
    "equal": lambda chance: 2.0,
    "negative": lambda chance: -chance.random() * 100,
}


def a_run(chance: random.Random, kind: str, n_docs: int) -> Run:
    """Return a list of one topic; ranx puts it in order."""
    found = chance.sample([f"d{i}" for i in range(n_docs)], chance.randint(1, n_docs))
    return Run({"q": {doc: round(SCORES[kind](chance), 6) for doc in found}})


def scores_of(run: Run) -> dict[str, float]:
    """Return the documents of a run, best first, and their scores to 15 digits."""
    return {doc: float(f"{score:.15g}") for doc, score in dict(run.run["q"]).items()}


def fused(runs: list[Run], kind: str) -> dict[str, dict[str, float]]:
    """Return method and option -> fused scores."""
    found = {f"rrf k={k}": fuse(runs, norm=None, method="rrf", params={"k": k}) for k in (60, 1)}
    found |= {f"rbp p={p}": fuse(runs, norm=None, method="rbc", params={"phi": p}) for p in (0.8, 0.5)}
    for norm in ("min-max", "max", "sum", "zmuv", "rank"):
        if norm == "max" and kind == "negative":
            continue  # all are divided by 1e-9
        found |= {f"comb{method} norm={norm}": fuse(runs, norm=norm, method=method) for method in ("sum", "mnz")}
    found["borda"] = fuse(runs, norm=None, method="bordafuse")
    # documents that tie stand in any order
    return {name: dict(sorted(scores_of(run).items())) for name, run in found.items()}


def main() -> int:
    """Write the file, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with what is there")
    options = parser.parse_args()
    chance, cases = random.Random(7), []
    for n_docs, n_runs in SIZES:
        for kind in SCORES:
            runs = [a_run(chance, kind, n_docs) for _ in range(n_runs)]
            cases.append({"runs": [list(scores_of(run).items()) for run in runs], "fused": fused(runs, kind)})
    text = json.dumps(cases, separators=(",", ":")) + "\n"
    if options.check:
        return int(OUT.read_text() != text)
    OUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
