"""Compare all strategies of judging on three fields, and write tables and figures into docs/experiments.

    python scripts/build_strategies.py [DATA] [FIELD ...]

DATA is a folder with trec8-adhoc, dl19-passages and dl21-passages (default: PT_REUSE_DATA); FIELD is any of trec8, dl19
and dl21 (default: all). Two cores take some minutes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pt_reuse as ptr
from pt_reuse.studies.compare_strategies import StrategyComparison

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments"
BUDGETS = [0.01, 0.05, 0.1, 0.25, 0.5]
REPEATS = 10
#: more lines than these are too many for one figure
DRAWN = ["max-mean", "thompson", "hedge", "mtf", "mtc", "rrf", "rank", "random"]


def trec8(data: Path) -> dict[str, Any]:
    """Return TREC-8: the depth-100 pool of the 71 pooled runs, all of it judged; 129 runs are ranked."""
    folder = data / "trec8-adhoc"
    table = [line.split(":") for line in (folder / "runs_table.adhoc").read_text("latin-1").splitlines() if line]
    runs = ptr.read_runs(
        folder / "inputs",
        teams=folder / "runs-pids",
        types={row[0]: row[4] for row in table},
        pooled=[row[0] for row in table if row[12].strip()],
    )
    qrels = ptr.read_qrels(folder / "trec8.qrels.gz")
    return {"runs": runs, "qrels": qrels, "measures": ["AP", "P@10"], "depth": 100}


def deep_learning(data: Path, name: str) -> dict[str, Any]:
    """Return a Deep Learning field: the depth-10 pool of all runs in file order, relevant from label 2."""
    folder = data / name
    types = folder / "types" if (folder / "types").exists() else None
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", types=types)
    qrels = ptr.read_qrels(next(folder.glob("*qrels.gz"))).with_rel(2)
    measures = ["nDCG@10", "AP(rel=2)", "RR(rel=2)"]
    given = {"measures": measures, "depth": 10, "contributors": "all", "pool_order": "file"}
    return {"runs": runs, "qrels": qrels, **given}


FIELDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "trec8": trec8,
    "dl19": lambda data: deep_learning(data, "dl19-passages"),
    "dl21": lambda data: deep_learning(data, "dl21-passages"),
}


def written(found: StrategyComparison, column: str, measure: str) -> str:
    """Return a table of strategies by budgets: means over seeds, and how far the farthest seed is from the mean."""
    rows = found.table[found.table["measure"] == measure]
    away = np.maximum(rows[f"{column}_high"] - rows[column], rows[column] - rows[f"{column}_low"])
    cells = [
        f"{mean:.3f}".replace("0.", ".") + (f" ±{off:.3f}".replace("0.", ".") if f"{off:.3f}" != "0.000" else " " * 6)
        for mean, off in zip(rows[column], away, strict=True)
    ]
    wide = rows.assign(cell=cells).pivot_table(index="strategy", columns="budget", values="cell", aggfunc="first")
    order = rows[rows["budget"] == 0.1].sort_values(column, ascending=False, kind="stable")["strategy"]
    wide = wide.loc[order].rename(columns=lambda share: f"{share:.0%}      ")
    text = wide.rename_axis(None, axis=1).rename_axis(None).to_string()
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def biases(found: StrategyComparison, measure: str, budget: float) -> str:
    """Return the ranks that the runs of each type, and of teams without a pooled run, lose at one budget."""
    groups = found.groups[(found.groups["measure"] == measure) & (found.groups["budget"] == budget)]
    groups = groups.assign(column=groups["group"].where(groups["by"] == "type", "teams not pooled"))
    wide = groups.pivot_table(index="strategy", columns="column", values="mean_drop", aggfunc="mean", sort=False)
    return wide.rename_axis(None, axis=1).rename_axis(None).round(1).to_string() + "\n"


def main(arguments: list[str]) -> None:
    """Write the tables and figures of the fields named."""
    named = [one for one in arguments if one in FIELDS]
    folders = [one for one in arguments if one not in FIELDS]
    data = Path(folders[0] if folders else os.environ["PT_REUSE_DATA"])
    for name in named or FIELDS:
        given = FIELDS[name](data)
        found = ptr.pools.compare_strategies(
            **given, budgets=BUDGETS, repeats=REPEATS, leave_out="team", n_jobs=-1, verbose=True
        )
        parts = {"relevant": written(found, "recall", found.measures[0])}
        for measure in found.measures:
            parts[f"tau-{measure.partition('@')[0].partition('(')[0]}"] = written(found, "tau_b", measure)
        if len(found.groups):
            parts["groups"] = biases(found, found.measures[0], 0.1)
        left = found.left_out[found.left_out["measure"] == found.measures[0]]
        shown = {
            "own_tau_b": "own tau_b",
            "alone_max_drop": "alone drop",
            "largest_loss_pct": "loss %",
            "field_min_tau_b": "field tau_b",
            "field_max_drop": "drop",
            "field_worst": "worst",
        }
        left = left[left["budget"] == 0.1].set_index("strategy")[list(shown)].rename(columns=shown)
        parts["left-out"] = left.rename_axis(None).round({"loss %": 1}).round(3).to_string() + "\n"
        for part, text in parts.items():
            (TARGET / f"strategies-{name}-{part}.txt").write_text(text, encoding="utf-8")
        for kind in ("relevant", "tau_b"):
            figure = found.plot(kind, strategies=DRAWN, title="").figure
            figure.savefig(TARGET / f"strategies-{name}-{kind}.png", dpi=150)
        print(name, pd.Series(found.settings), found, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
