"""Compute the swap rates of TREC-8 and of Deep Learning 2021 passages under two judgment sets each, for the docs.

    python scripts/papers/stability.py [DATA]

DATA is a folder with trec8-adhoc and dl21-passages (default: PT_REUSE_DATA). The results go to docs/papers/stored: all
judgments beside those of the depth-10 pool, as in section 5 of Voorhees, Craswell and Lin 2022. It takes about two
minutes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ir_measures import AP, P, nDCG

import pt_reuse as ptr
from pt_reuse.studies.stability import Stability

TARGET = Path(__file__).resolve().parents[2] / "docs" / "papers" / "stored"
RESAMPLES = 100


def trec8(data: Path) -> Stability:
    """Return the swap rates of TREC-8 ad hoc, pooled to depth 10 in trec_eval's order."""
    folder = data / "trec8-adhoc"
    rows = [line.split(":") for line in (folder / "runs_table.adhoc").read_text("latin-1").splitlines() if line]
    runs = ptr.read_runs(
        folder / "inputs", teams=folder / "runs-pids", pooled=[row[0] for row in rows if row[12].strip()]
    )
    return _under_both(runs, ptr.read_qrels(folder / "trec8.qrels.gz"), [AP, P @ 10])


def dl21(data: Path) -> Stability:
    """Return the swap rates of the passages of Deep Learning 2021, relevant from label 2, pooled in file order."""
    folder = data / "dl21-passages"
    runs = ptr.read_runs(
        folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file"
    )
    return _under_both(runs, ptr.read_qrels(folder / "qrels.gz", rel=2), [nDCG @ 10, P(rel=2) @ 10, AP(rel=2)])


def _under_both(runs: ptr.RunSet, qrels: ptr.Qrels, measures: list) -> Stability:
    shallow = qrels.restrict(ptr.depth_pool(runs, depth=10))
    scores = {"all judgments": ptr.score(runs, qrels, measures), "depth 10": ptr.score(runs, shallow, measures)}
    return ptr.profile.stability(scores, resamples=RESAMPLES, n_jobs=2)


def main(data: Path) -> None:
    """Compute and save."""
    for name, study in (("stability-trec8", trec8), ("stability-dl21", dl21)):
        found = study(data)
        found.save(TARGET / name, overwrite=True)
        print(found.report(), found.report(found.measures[1]), sep="\n")


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
