"""Redo Voorhees, Craswell and Lin 2022 on Deep Learning 2021 passages and TREC-8, and save the results for the docs.

    python scripts/papers/too_many_relevants.py [DATA]

DATA is a folder with dl21-passages and trec8-adhoc (default: PT_REUSE_DATA). The results go to docs/papers/stored, and
tables to docs/experiments. Names of documents become numbers, as judgments may not ship. It takes half a minute.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from ir_measures import AP, RR, P, nDCG

import pt_reuse as ptr
from pt_reuse.studies.minimum_ranks import MinimumRanks

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESAMPLES = 1000
TARGET, TABLES = DOCS / "papers" / "stored", DOCS / "experiments"
_COLUMNS = ("measure", "units", "scored", "uniques", "teams", "largest", "tau_b", "names")
#: the paper counts the baselines and test runs of four institutions as teams of their own: how these runs' names begin
BASELINES = {
    "bl_bcai": "bcai baselines",
    "ielab-roberta": "ielab baselines",
    "uogTrBase": "uogTr baselines",
    "p_": "h2oloo baselines",
    "paug_": "h2oloo baselines",
}


def passages(data: Path) -> Iterator[tuple[str, Any]]:
    """Yield what there is to say of the passages of Deep Learning 2021: relevant from label 2, pooled in file order."""
    folder = data / "dl21-passages"
    runs = ptr.read_runs(
        folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file"
    )
    qrels = ptr.read_qrels(folder / "qrels.gz", rel=2)
    measures = [P(rel=2) @ 10, nDCG @ 10]
    yield "density-dl21", ptr.profile.density(qrels, runs=runs, depths=range(1, 11))
    yield "saturation-dl21", ptr.profile.saturation(ptr.score(runs, qrels, [*measures, RR(rel=2)]))
    yield "ranks-dl21", numbered(ptr.pools.minimum_ranks(runs, qrels))
    yield "costs-dl21", ptr.pools.pool_costs(runs, qrels, [AP(rel=2), nDCG @ 10], resamples=RESAMPLES)
    yield "uniques-dl21", ptr.leave_out_uniques(in_19_teams(runs), qrels.with_rel(1), measures, depth=10)
    (TABLES / "too-many-drops.txt").write_text(drops(runs, qrels), encoding="utf-8")
    (TABLES / "too-many-thirds.txt").write_text(thirds(runs, qrels), encoding="utf-8")
    (TABLES / "too-many-agreement.txt").write_text(agreement(runs, qrels), encoding="utf-8")


def in_19_teams(runs: ptr.RunSet) -> ptr.RunSet:
    """Return the runs of the passages in the paper's teams."""
    table = runs.run_table
    baselines = table.loc[table["team"] == "BASELINES", "name"]
    return runs.with_metadata(
        teams={name: team for name in baselines for start, team in BASELINES.items() if name.startswith(start)}
    )


def drops(runs: ptr.RunSet, qrels: ptr.Qrels) -> str:
    """Return how many left-out teams have a run that drops more than ten ranks, under each convention, as text."""
    rows = []
    fields, measures = (in_19_teams(runs), runs), [P(rel=2) @ 10, nDCG @ 10]
    for field, scored, rel in product(fields, ("file", "trec_eval", "trec_eval9"), (1, 2)):
        lou = ptr.leave_out_uniques(field.reorder(scored), qrels.with_rel(rel), measures, depth=10)
        for row in lou.large_drops().to_dict("records"):
            tau = lou.table.loc[lou.table["measure"] == row["measure"], "tau_b"].min()
            found = (row["measure"], row["of"], scored, f"label {rel}", row["units"], row["largest"], f"{tau:.4f}")
            rows.append(dict(zip(_COLUMNS, (*found, first_of(row["names"].split(", "))), strict=True)))
    table = pd.DataFrame(rows).sort_values(["measure", "uniques"], kind="stable")
    widths = {name: max(len(name), *table[name].astype(str).map(len)) for name in _COLUMNS}
    lines = [
        "  ".join(str(cell).ljust(width) for cell, width in zip(cells, widths.values(), strict=True)).rstrip()
        for cells in [_COLUMNS, *table.itertuples(index=False, name=None)]
    ]
    return "\n".join(lines) + "\n"


def thirds(runs: ptr.RunSet, qrels: ptr.Qrels) -> str:
    """Return what depth-10 pools of random thirds of the documents cost and find, as text."""
    rows, docnos = [], runs.docnos()
    for seed in (0, 1, 2, 3):
        third = runs.restrict(ptr.profile.subsample_corpus(docnos, share=1 / 3, seed=seed)) if seed else runs
        pool = ptr.depth_pool(third, depth=10)
        end = ptr.profile.density(qrels.restrict(pool)).summary.iloc[-1]
        rows.append(
            {
                "documents": f"a third, seed {seed}" if seed else "all",
                "pool": pool.counts().query("qid in @qrels.topics")["documents"].sum(),
                "judged": end["judgments"],
                "relevant": end["relevant"],
                "mean density": f"{end['mean_density']:.3f}",
                "above 1/3": end["above_third"],
                "above 1/2": end["above_half"],
            }
        )
    return pd.DataFrame(rows).to_string(index=False) + "\n"


def agreement(runs: ptr.RunSet, qrels: ptr.Qrels) -> str:
    """Return how the rankings by a smaller and a larger set of judgments agree, as text."""
    pool = qrels.restrict(ptr.depth_pool(runs, depth=10))
    pairs = [("all judgments, the depth-10 pool", qrels, pool, [P(rel=2) @ 10, nDCG @ 10, AP(rel=2)])]
    for low, high in ((1, 2), (1, 3), (2, 3)):
        pairs.append((f"relevant from {low}, from {high}", qrels.threshold(low), qrels.threshold(high), [P @ 10]))
    rows = []
    for compared, one, other, measures in pairs:
        found = ptr.score(runs, one, measures).compare(ptr.score(runs, other, measures))
        columns = found.table[["measure", "tau_b", "max_drop", "max_rise"]].round({"tau_b": 4})
        rows.append(columns.assign(compared=compared)[["compared", *columns]])
    return pd.concat(rows).to_string(index=False) + "\n"


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
    yield (
        "costs-trec8",
        ptr.pools.pool_costs(runs, qrels, [AP, P @ 10], depths=[1, 5, 10, 20, 50, 100], resamples=RESAMPLES),
    )


def numbered(found: MinimumRanks) -> MinimumRanks:
    """Return minimum ranks with numbers in place of the names of documents."""
    table = found.table.assign(docno=[str(n) for n in range(1, len(found.table) + 1)])
    return replace(found, table=table)


def main(data: Path) -> None:
    """Compute and save every result."""
    # what a caveat says stands in the settings, and on the page
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    for results in (passages(data), trec8(data)):
        for name, result in results:
            result.save(TARGET / f"too-many-{name}", overwrite=True)
            print(result, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["PT_REUSE_DATA"]))
