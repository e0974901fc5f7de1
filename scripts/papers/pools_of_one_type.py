"""Redo Yilmaz, Craswell, Mitra and Campos 2020 on the passages of Deep Learning 2019, and save what its page shows.

    python scripts/papers/pools_of_one_type.py [DATA]
    python scripts/papers/pools_of_one_type.py --collection trec-2019/deep/docs --runs FOLDER --types FILE --out OUT

DATA is a folder with dl19-passages and trec8-adhoc (default: PT_REUSE_DATA). It takes about a minute. The second
form makes the same tables and figures of any collection known by name, such as the paper's document tasks, of which
nobody may hand on the runs: FOLDER has their files, FILE two columns, run and type.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from ir_measures import AP, P

import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.studies.by_type import PoolsByType

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED, TEXTS = DOCS / "papers" / "stored", DOCS / "experiments"
RESAMPLES = 1000
ALL_JUDGED = {"unit": "run", "gold": "judgments"}
#: what the paper's table 2 may have been computed from: in words, depth, measures, further options
WAYS = (
    ("depth 10, all judgments gold", 10, None, {}),
    ("depth 10, pool of all gold", 10, None, {"gold": "pool"}),
    ("depth 10, pooled as scored", 10, None, {"pool_order": "trec_eval9"}),
    ("depth 10, whole teams", 10, None, {"unit": "team", "gold": "pool"}),
    ("depth 10, condensed lists", 10, ["RR(rel=2,judged_only=True)", "nDCG(judged_only=True)@10"], {}),
    ("depth 100", 100, None, {}),
)


def passages(data: Path) -> tuple[ptr.RunSet, ptr.Qrels]:
    """Return the passages of 2019: 37 runs, neural and traditional, pooled to depth 10 in the order of their lines."""
    folder = data / "dl19-passages"
    runs = ptr.read_runs(
        folder / "inputs",
        teams=folder / "runs-pids",
        types=folder / "types",
        pooled=True,
        order="trec_eval9",
        pool_order="file",
        pool_depth=10,
    )
    return runs, ptr.read_qrels(folder / "qrels.gz").with_rel(2)


def trec8(data: Path) -> tuple[ptr.RunSet, ptr.Qrels]:
    """Return TREC-8 ad hoc: 129 runs, automatic and manual, 71 of them pooled to depth 100."""
    folder = data / "trec8-adhoc"
    table = [line.split(":") for line in (folder / "runs_table.adhoc").read_text("latin-1").splitlines() if line]
    runs = ptr.read_runs(
        folder / "inputs",
        teams=folder / "runs-pids",
        types={row[0]: row[4] for row in table},
        pooled=[row[0] for row in table if row[12].strip()],
        pool_depth=100,
    )
    return runs, ptr.read_qrels(folder / "trec8.qrels.gz")


def rows_of(found: PoolsByType, way: str) -> pd.DataFrame:
    """Return one row per pool and measure: the mean tau_b of each tested group, with its standard deviation."""
    table = found.table.assign(
        way=way,
        cell=[f"{tau:6.3f} ({sd:.2f})" for tau, sd in zip(found.table["tau_b"], found.table["tau_b_sd"], strict=True)],
        measure=found.table["measure"].str.replace(r"\(judged_only=True\)|,judged_only=True", "", regex=True),
    )
    groups = ["way", "pool", "splits", "measure"]
    # of few splits a group may have fewer with a tau
    table["splits"] = table.groupby(["pool", "measure"])["splits"].transform("max")
    return table.pivot_table("cell", groups, "tested", "first", sort=False).reset_index()


def table_2(runs: ptr.RunSet, qrels: ptr.Qrels) -> pd.DataFrame:
    """Return table 2 by every way that was tried: all 462 halves of the traditional runs, 40 random neural ones."""
    parts = []
    for way, depth, measures, options in WAYS:
        chosen = {**ALL_JUDGED, "depth": depth, **options}
        for kind, splits in (("traditional", "all"), ("neural", 40)):
            found = ptr.by_type(runs, qrels, measures, pools=kind, splits=splits, **chosen)
            parts.append(rows_of(found, way))
    return pd.concat(parts, ignore_index=True)


def told(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(frame.to_string(index=False, columns=list(frame)) + "\n", encoding="utf-8")


def paper(data: Path) -> None:
    """Make what the page of the paper shows."""
    runs, qrels = passages(data)
    found = table_2(runs, qrels)
    told(found[["way", "pool", "splits", "measure", "traditional", "neural", "all"]], TEXTS / "types-dl19-ways.txt")
    ten = ptr.by_type(runs, qrels, splits=10, resamples=RESAMPLES, **ALL_JUDGED)
    ten.save(STORED / "pools-of-one-type-halves", overwrite=True)
    ptr.pools.found_by_depth(runs, qrels).save(STORED / "pools-of-one-type-found", overwrite=True)
    runs, qrels = trec8(data)
    left = ptr.pools.leave_out_type(runs, qrels, [AP, P @ 10])
    reports = [left.report(), left.report(measure=P @ 10), left.report("run", left_out="manual").head(10)]
    text = "\n\n".join(str(report) for report in reports)
    (TEXTS / "types-trec8.txt").write_text(text + "\n", encoding="utf-8")


def collection(name: str, runs: str | None, types: str | None, out: Path) -> None:
    """Make the paper's tables and figures of a collection known by name, in a folder."""
    dataset = ReuseDataset(name)
    field = dataset.get_runs(runs=runs, types=types)
    qrels = dataset.get_judgments()
    out.mkdir(parents=True, exist_ok=True)
    for unit in ("team", "run"):
        found = ptr.by_type(field, qrels, unit=unit, gold="pool")
        found.save(out / f"by-{unit}")
        (out / f"by-{unit}.txt").write_text(
            f"{found.report()}\n\n{found.report(number='tau_b_sd')}\n", encoding="utf-8"
        )
    for measure in found.measures:
        for pool in found.pools:
            figure = found.plot(measure, pool=pool, width=3.3).figure
            figure.savefig(out / f"by-run-{measure}-{pool}.pdf".replace("/", "-"))
    by_depth = ptr.pools.found_by_depth(field, qrels)
    by_depth.save(out / "found")
    by_depth.plot(width=3.3).figure.savefig(out / "found.pdf")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and work."""
    parser = argparse.ArgumentParser(description="Redo Yilmaz et al. 2020.")
    parser.add_argument("data", nargs="?", default=os.environ.get("PT_REUSE_DATA"), help="default: PT_REUSE_DATA")
    parser.add_argument("--collection", help="a collection known by name, in place of DATA")
    parser.add_argument("--runs", help="the folder of its runs")
    parser.add_argument("--types", help="a file of two columns: run and type")
    parser.add_argument("--out", type=Path, default=Path("one-type"), help="where the tables and figures go")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        # the settings and the reports tell the same
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        if options.collection is not None:
            collection(options.collection, options.runs, options.types, options.out)
        elif options.data is None:
            parser.error("give DATA, or set PT_REUSE_DATA")
        else:
            paper(Path(options.data))


if __name__ == "__main__":
    main()
