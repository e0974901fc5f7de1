"""The tables of a comparison of strategies, made of what each found and of the scores that it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS

TAUS = ("tau_b", "tau_ap_b")
#: what is told of every strategy, budget and measure as a mean over seeds, with the lowest and the highest
TOLD = ("relevant", "recall", *TAUS, "max_drop")


@dataclass(frozen=True)
class Group:
    """Runs that a way of judging may favour or harm together.

    Attributes:
        by: what they share, ``"type"`` or ``"team"``.
        name: of the type or team.
        runs: (runs,) which they are.
    """

    by: str
    name: str
    runs: NDArray[np.bool_]


def groups_of(run_table: pd.DataFrame, contributing: NDArray[np.bool_]) -> list[Group]:
    """Return every type of a field that has several, and every team none of whose runs contributes to the pool."""
    found = []
    for by in ("type", "team"):
        for name in dict.fromkeys(run_table[by].dropna()):
            runs = (run_table[by] == name).to_numpy(dtype=bool)
            if (by == "type" and not runs.all()) or not (runs & contributing).any():
                found.append(Group(by, str(name), runs))
    return found


def rankings(
    key: Mapping[str, object],
    measures: Sequence[str],
    full: NDArray[np.float64],
    built: NDArray[np.float64],
) -> pd.DataFrame:
    """Return one row per measure: the ranking under one built set against the one under all judgments.

    Args:
        key: what the row is of.
        measures: their names.
        full: (measures, runs) means under all judgments.
        built: (measures, runs) means under the built set.
    """
    rows = []
    for m, measure in enumerate(measures):
        found = pairs.coefficients(full[m].round(DECIMALS), built[m].round(DECIMALS)[None], TAUS)
        rows.append({**key, "measure": measure, **{name: found[name][0] for name in (*TAUS, "max_drop")}})
    return pd.DataFrame(rows)


def group_rows(
    key: Mapping[str, object],
    measures: Sequence[str],
    full: NDArray[np.float64],
    built: NDArray[np.float64],
    groups: Sequence[Group],
) -> pd.DataFrame:
    """Return one row per measure and group: the ranks its runs lose on average, and the change of their scores.

    Args:
        key: what the row is of.
        measures: their names.
        full: (measures, runs) means under all judgments.
        built: (measures, runs) means under the built set.
        groups: the groups.
    """
    rows = []
    for m, measure in enumerate(measures):
        drops = pairs.rank_drops(full[m].round(DECIMALS), built[m].round(DECIMALS)[None])[0]
        change = pairs.per_cent_change(full[m], built[m])
        for group in groups:
            mine, others = change[group.runs], change[~group.runs]
            rows.append(
                {
                    **key,
                    "measure": measure,
                    "by": group.by,
                    "group": group.name,
                    "runs": int(group.runs.sum()),
                    "mean_drop": drops[group.runs].mean(),
                    "change_pct": _mean(mine),
                    "others_change_pct": _mean(others),
                }
            )
    return pd.DataFrame(rows)


def over_seeds(by_seed: pd.DataFrame, keys: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Return the mean of values over seeds, with the lowest and the highest, in the order in which keys appear.

    Where one seed has no value, there is no mean, and neither a lowest nor a highest one.
    """
    grouped = by_seed.groupby(list(keys), sort=False)
    table = grouped.agg(seeds=("seed", "size")).reset_index()
    for name in values:
        column = grouped[name]
        has_all = column.count().to_numpy() == table["seeds"].to_numpy()
        for end, values_of in (("", column.mean()), ("_low", column.min()), ("_high", column.max())):
            table[f"{name}{end}"] = values_of.where(has_all).to_numpy()
    return table


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
