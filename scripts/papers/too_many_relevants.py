"""Redo Voorhees, Craswell and Lin 2022 on Deep Learning 2021 passages and TREC-8, and save the results for the docs.

    python scripts/papers/too_many_relevants.py [DATA]
    python scripts/papers/too_many_relevants.py --collection NAME --out FOLDER

DATA is a folder with dl21-passages and trec8-adhoc (default: PT_REUSE_DATA). The results go to docs/papers/stored, and
a table to docs/experiments. Names of documents become numbers, as judgments may not ship. It takes half a minute.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt
from ir_measures import AP, RR, P, nDCG

import pt_reuse as ptr
from pt_reuse.studies.minimum_ranks import MinimumRanks

DOCS = Path(__file__).resolve().parents[2] / "docs"
TARGET, TABLES = DOCS / "papers" / "stored", DOCS / "experiments"
_COLUMNS = ("measure", "pooled", "scored", "uniques", "teams", "largest", "tau_b", "names")


def passages(data: Path) -> Iterator[tuple[str, Any]]:
    """Yield what there is to say of the passages of Deep Learning 2021: relevant from label 2, pooled in file order."""
    folder = data / "dl21-passages"
    runs = ptr.read_runs(
        folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file"
    )
    qrels = ptr.read_qrels(folder / "qrels.gz", rel=2)
    measures = [P(rel=2) @ 10, nDCG @ 10]
    yield "density-dl21", ptr.profile.density(qrels, runs=runs, depths=10)
    yield "saturation-dl21", ptr.profile.saturation(ptr.score(runs, qrels, [*measures, RR(rel=2)]))
    yield "ranks-dl21", numbered(ptr.pools.minimum_ranks(runs, qrels))
    yield "costs-dl21", ptr.pools.pool_costs(runs, qrels, [AP(rel=2), nDCG @ 10], resamples=1000)
    yield "uniques-dl21", ptr.leave_out_uniques(runs.reorder("file"), qrels, measures, depth=10)
    (TABLES / "too-many-drops.txt").write_text(drops(runs, qrels), encoding="utf-8")


def of_collection(name: str) -> Iterator[tuple[str, Any]]:
    """Yield what there is to say of a collection known by name, whose runs are here or can be downloaded."""
    dataset = pt.get_dataset(f"reuse:{name}")
    yield from of_field(dataset.get_runs(), dataset.get_judgments())


def of_field(runs: ptr.RunSet, qrels: ptr.Qrels) -> Iterator[tuple[str, Any]]:
    """Yield what there is to say of any field: rounds are its pool, to the depth on record, and all judgments."""
    rel = qrels.rel
    measures = [P @ 10 if rel == 1 else P(rel=rel) @ 10, nDCG @ 10]
    yield "density", ptr.profile.density(qrels, runs=runs)
    yield "saturation", ptr.profile.saturation(ptr.score(runs, qrels, measures))
    yield "ranks", ptr.pools.minimum_ranks(runs, qrels)
    yield "costs", ptr.pools.pool_costs(runs, qrels, measures)
    yield "uniques", ptr.leave_out_uniques(runs, qrels, measures)


def drops(runs: ptr.RunSet, qrels: ptr.Qrels) -> str:
    """Return how many left-out teams have a run that drops more than ten ranks, under each convention, as text."""
    rows = []
    for pooled, scored, rel in product(("file", "trec_eval"), ("file", "trec_eval", "trec_eval9"), (1, 2)):
        ranked, measures = runs.reorder(scored), [P(rel=2) @ 10, nDCG @ 10]
        lou = ptr.leave_out_uniques(ranked, qrels.with_rel(rel), measures, depth=10, pool_order=pooled)
        for row in lou.large_drops().to_dict("records"):
            tau = lou.table.loc[lou.table["measure"] == row["measure"], "tau_b"].min()
            found = (row["measure"], pooled, scored, f"label {rel}", row["units"], row["largest"], f"{tau:.4f}")
            rows.append(dict(zip(_COLUMNS, (*found, first_of(row["names"].split(", "))), strict=True)))
    table = pd.DataFrame(rows).sort_values(["measure", "pooled", "uniques"], kind="stable")
    widths = {name: max(len(name), *table[name].astype(str).map(len)) for name in _COLUMNS}
    lines = [
        "  ".join(str(cell).ljust(width) for cell, width in zip(cells, widths.values(), strict=True)).rstrip()
        for cells in [_COLUMNS, *table.itertuples(index=False, name=None)]
    ]
    return "\n".join(lines) + "\n"


def first_of(names: list[str]) -> str:
    """Return two names at most, with dots where there are more."""
    return ", ".join([*names[:2], *(["..."] if len(names) > 2 else [])])


def trec8(data: Path) -> Iterator[tuple[str, Any]]:
    """Yield the same of TREC-8 ad hoc, scores as float32 as trec_eval had them then."""
    folder = data / "trec8-adhoc"
    rows = [line.split(":") for line in (folder / "runs_table.adhoc").read_text("latin-1").splitlines() if line]
    runs = ptr.read_runs(
        folder / "inputs",
        teams=folder / "runs-pids",
        types={row[0]: row[4] for row in rows},
        pooled=[row[0] for row in rows if row[12].strip()],
    )
    qrels = ptr.read_qrels(folder / "trec8.qrels.gz")
    yield "density-trec8", ptr.profile.density(qrels, runs=runs, depths=[10, 100])
    yield "saturation-trec8", ptr.profile.saturation(ptr.score(runs, qrels, P @ 10))
    yield "ranks-trec8", numbered(ptr.pools.minimum_ranks(runs.reorder("trec_eval9"), qrels))
    yield "costs-trec8", ptr.pools.pool_costs(runs, qrels, [AP, P @ 10], depths=[1, 5, 10, 20, 50, 100], resamples=1000)


def numbered(found: MinimumRanks) -> MinimumRanks:
    """Return minimum ranks with numbers in place of the names of documents."""
    table = found.table.assign(docno=[str(n) for n in range(1, len(found.table) + 1)])
    return replace(found, table=table)


def main() -> None:
    """Compute and save every result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", default=os.environ.get("PT_REUSE_DATA"), metavar="DATA")
    parser.add_argument("--collection", metavar="NAME", help="a collection known by name, instead of DATA")
    parser.add_argument("--out", metavar="FOLDER", help="where its results go")
    options = parser.parse_args()
    if (options.collection is None) != (options.out is None) or not (options.collection or options.data):
        parser.error("give DATA, or --collection and --out")
    # what a caveat says stands in the settings, and on the page
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    if options.collection is not None:
        for name, result in of_collection(options.collection):
            result.save(Path(options.out) / name, overwrite=True)
            result.plot().figure.savefig(Path(options.out) / f"{name}.pdf")
            print(f"{name}: {result.headline()}", flush=True)
        return
    for results in (passages(Path(options.data)), trec8(Path(options.data))):
        for name, result in results:
            result.save(TARGET / f"too-many-{name}", overwrite=True)
            print(f"{name}: {result.headline()}", flush=True)


if __name__ == "__main__":
    main()
