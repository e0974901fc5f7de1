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
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from ir_measures import AP, P
from numpy.typing import NDArray
from scipy.stats import kendalltau

import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.studies.by_type import PoolsByType

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED, TEXTS = DOCS / "papers" / "stored", DOCS / "experiments"
RESAMPLES = 1000
#: as the paper: all runs of a group go together
BY_TEAM = {"unit": "team", "gold": "judgments"}
BY_RUN = {**BY_TEAM, "unit": "run"}
CONDENSED = ["RR(rel=2,judged_only=True)", "nDCG(judged_only=True)@10"]
#: what the paper's table 2 may have been computed from: in words, depth, measures, options; of the first two, the
#: pools of both types
WAYS = (
    ("teams", 10, None, BY_TEAM),
    ("runs", 10, None, BY_RUN),
    ("teams, pool of all is gold", 10, None, {**BY_TEAM, "gold": "pool"}),
    ("runs, pool of all is gold", 10, None, {**BY_RUN, "gold": "pool"}),
    ("runs, pooled as scored", 10, None, {**BY_RUN, "pool_order": "trec_eval9"}),
    ("teams, condensed lists", 10, CONDENSED, BY_TEAM),
    ("runs, condensed lists", 10, CONDENSED, BY_RUN),
    ("teams, depth 40", 40, None, BY_TEAM),
    ("runs, depth 40", 40, None, BY_RUN),
    ("teams, depth 100", 100, None, BY_TEAM),
    ("runs, depth 100", 100, None, BY_RUN),
)
GROUPS = ("traditional", "neural", "all")
#: the pooled runs and the tested ones, as masks
Split = tuple[NDArray[np.bool_], NDArray[np.bool_]]


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
    """Return table 2 by every way that was tried: all halves of 11 traditional runs or 3 teams, 40 of 26 neural runs.

    There are 462 halves of 11 traditional runs, as there are of 11 neural teams.
    """
    parts = []
    for n, (way, depth, measures, options) in enumerate(WAYS):
        for kind in ("traditional", "neural")[: 2 if n < 2 else 1]:
            splits = 40 if kind == "neural" and options["unit"] == "run" else "all"
            found = ptr.by_type(runs, qrels, measures, pools=kind, splits=splits, depth=depth, **options)
            parts.append(rows_of(found, way))
    return pd.concat([*parts, *by_hand(runs, qrels)], ignore_index=True)


def closures(runs: ptr.RunSet) -> dict[str, list[Split]]:
    """Return other readings of "all runs of a group go together", each with its splits."""
    table = runs.run_table
    team, traditional = table["team"].to_numpy(dtype=object), (table["type"] == "traditional").to_numpy()
    parts = np.where(table["name"].str.startswith("bm25base"), "base", team)
    parts = np.where(table["name"].str.startswith("bm25tuned"), "tuned", parts)
    teams, every, four = (sorted(set(names)) for names in (team[traditional], team, parts[traditional]))
    halves = [(traditional & inside, ~inside) for inside in (np.isin(team, of) for of in combinations(every, 6))]
    return {
        "teams, their neural runs not tested": [(traditional & (team == one), team != one) for one in teams],
        "teams, their neural runs pooled": [(team == one, team != one) for one in teams],
        "teams, 2 of 3 pooled": [
            (traditional & (team != one), ~traditional | (traditional & (team == one))) for one in teams
        ],
        "baselines as 2 teams, 2 of 4 pooled": [
            (inside, ~inside) for inside in (traditional & np.isin(parts, two) for two in combinations(four, 2))
        ],
        "halves of all 12 teams": [(pooled, tested) for pooled, tested in halves if pooled.any()],
    }


def taus_by_hand(runs: ptr.RunSet, qrels: ptr.Qrels, splits: list[Split]) -> pd.DataFrame:
    """Return tau_b of each split, measure and group, of scores under the depth-10 pool of the pooled runs alone."""
    names, kinds = runs.run_table["name"], runs.run_table["type"].to_numpy()
    measures, scored = ["RR(rel=2)", "nDCG@10"], {}

    def means(judged: ptr.Qrels) -> NDArray[np.float64]:
        return ptr.score(runs, judged, measures).mean.set_index("name").loc[names, measures].to_numpy().round(12)

    gold, rows = means(qrels), []
    for split, (pooled, tested) in enumerate(splits):
        key = pooled.tobytes()
        if key not in scored:
            pool = ptr.depth_pool(runs.select(names[pooled].tolist()), depth=10)
            scored[key] = means(qrels.restrict(pool))
        for group in GROUPS:
            who = tested & ((kinds == group) | (group == "all"))
            for m, measure in enumerate(measures):
                tau = kendalltau(gold[who, m], scored[key][who, m]).statistic if who.sum() > 1 else np.nan
                rows.append((split, measure, group, tau))
    return pd.DataFrame(rows, columns=["split", "measure", "tested", "tau_b"])


def by_hand(runs: ptr.RunSet, qrels: ptr.Qrels) -> list[pd.DataFrame]:
    """Return rows as of `rows_of` for the closures that are no option of the study."""
    parts = []
    for way, splits in closures(runs).items():
        taus = taus_by_hand(runs, qrels, splits).groupby(["measure", "tested"])["tau_b"].agg(["mean", "std"])
        taus["cell"] = [f"{mean:6.3f} ({sd:.2f})" for mean, sd in zip(taus["mean"], taus["std"], strict=True)]
        wide = taus.pivot_table("cell", "measure", "tested", "first").reset_index()
        parts.append(wide.assign(way=way, pool="traditional", splits=len(splits)))
    return parts


def told(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(frame.to_string(index=False, columns=list(frame)) + "\n", encoding="utf-8")


def paper(data: Path) -> None:
    """Make what the page of the paper shows."""
    runs, qrels = passages(data)
    found = table_2(runs, qrels)
    told(found[["way", "pool", "splits", "measure", *GROUPS]], TEXTS / "types-dl19-ways.txt")
    for name, options in (("teams", BY_TEAM), ("runs", BY_RUN)):
        ten = ptr.by_type(runs, qrels, splits=10, resamples=RESAMPLES, **options)
        ten.save(STORED / f"pools-of-one-type-{name}", overwrite=True)
    ptr.pools.found_by_depth(runs, qrels).save(STORED / "pools-of-one-type-found", overwrite=True)
    runs, qrels = trec8(data)
    left = ptr.pools.leave_out_type(runs, qrels, [AP, P @ 10])
    reports = [left.report(), left.report(measure=P @ 10), left.report("recovery", left_out="manual").head(10)]
    text = "\n\n".join(str(report) for report in reports)
    (TEXTS / "types-trec8.txt").write_text(text + "\n", encoding="utf-8")


def collection(name: str, runs: str | None, types: str | None, out: Path) -> None:
    """Make the paper's tables and figures of a collection known by name, in a folder."""
    dataset = ReuseDataset(name)
    field = dataset.get_runs(runs=runs, types=types)
    qrels = dataset.get_judgments()
    out.mkdir(parents=True, exist_ok=True)
    # the figures are of teams, as in the paper
    for unit in ("run", "team"):
        found = ptr.by_type(field, qrels, unit=unit, gold="pool")
        found.save(out / f"by-{unit}")
        (out / f"by-{unit}.txt").write_text(
            f"{found.wide().round(3)}\n\n{found.wide('tau_b_sd').round(3)}\n", encoding="utf-8"
        )
    for measure in found.measures:
        for pool in found.pools:
            figure = found.plot(measure, pool=pool, width=3.3).figure
            figure.savefig(out / f"by-team-{measure}-{pool}.pdf".replace("/", "-"))
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
