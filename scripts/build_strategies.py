"""Compare all strategies of judging on three fields, for the tables and the figure of the documentation."""

import numpy as np
from store import EXPERIMENTS, deep, trec8

import pt_reuse as ptr

#: more lines than these are too many for one figure
DRAWN = ["max-mean", "thompson", "hedge", "mtf", "mtc", "rrf", "rank", "random"]
#: columns of the results without one team, and their headings
LEFT_OUT = ["own_tau_b", "alone_max_drop", "largest_loss_pct", "field_min_tau_b", "field_max_drop", "field_worst"]
HEADINGS = ["own tau_b", "alone drop", "loss %", "field tau_b", "drop", "worst"]


def written(found, column, measure):
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
    return wide.rename_axis(None, axis=1).rename_axis(None).to_string()


def tables(given, name, runs, qrels, measures, **options):
    """Write the tables of one field."""
    budgets, repeats = given.size(([0.01, 0.05, 0.1, 0.25, 0.5], 10), ([0.1], 1))
    options |= {"budgets": budgets, "repeats": repeats, "leave_out": "team", "n_jobs": given.jobs, "verbose": True}
    options |= given.size({}, {"strategies": ["rank", "mtf"]})
    found = ptr.pools.compare_strategies(runs, qrels, measures=measures, **options)
    given.write(f"strategies-{name}-relevant", written(found, "recall", found.measures[0]))
    for measure in found.measures:
        part = measure.partition("@")[0].partition("(")[0]
        given.write(f"strategies-{name}-tau-{part}", written(found, "tau_b", measure))
    if len(found.groups):
        # ranks that the runs of each type, and of teams without a pooled run, lose
        groups = found.groups[(found.groups["measure"] == found.measures[0]) & (found.groups["budget"] == 0.1)]
        groups = groups.assign(column=groups["group"].where(groups["by"] == "type", "teams not pooled"))
        wide = groups.pivot_table(index="strategy", columns="column", values="mean_drop", aggfunc="mean", sort=False)
        given.write(f"strategies-{name}-groups", wide.rename_axis(None, axis=1).rename_axis(None).round(1).to_string())
    left = found.left_out[(found.left_out["measure"] == found.measures[0]) & (found.left_out["budget"] == 0.1)]
    left = left.set_index("strategy")[LEFT_OUT].set_axis(HEADINGS, axis=1).rename_axis(None)
    given.write(f"strategies-{name}-left-out", left.round({"loss %": 1}).round(3).to_string())
    if name == "trec8" and not given.smallest:
        figure = found.plot("relevant", strategies=DRAWN, title="").figure
        figure.savefig(EXPERIMENTS / "strategies-trec8-relevant.png", dpi=150)


def results(given):
    """Compare the strategies on each field: on TREC-8 by the depth-100 pool, else by the depth-10 pool of all runs."""
    for year in given.size((19, 21), (19,)):
        runs, qrels = deep(given.data, year, pooled=None, order="trec_eval", pool_order=None)
        options = {"depth": 10, "contributors": "all", "pool_order": "file"}
        tables(given, f"dl{year}", runs, qrels, ["nDCG@10", "AP(rel=2)", "RR(rel=2)"], **options)
    if not given.smallest:
        tables(given, "trec8", *trec8(given.data), ["AP", "P@10"], depth=100)
