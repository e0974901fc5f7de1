"""What a wanted stability needs: how large a difference at so many topics, how many topics for such a difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

_OF_A_LINE = ["judgments", "measure"]
#: sizes with swaps that a curve is fitted to, at least
_LEAST_SIZES = 3


def differences(table: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Return for each size the smallest difference from which on no bin has more swaps than wanted.

    Returns:
        DataFrame: ``judgments measure size pairs swaps rate difference share``, see
        ``Stability.differences_needed``.
    """
    rows = []
    for (judgments, measure, size), bins in table.groupby([*_OF_A_LINE, "size"], sort=False):
        pairs, swaps = int(bins["pairs"].sum()), int(bins["swaps"].sum())
        known = bins["rate"].notna().any()
        too_many = np.flatnonzero((bins["rate"] > rate).to_numpy())
        first = int(too_many[-1]) + 1 if len(too_many) else 0
        found = known and first < len(bins) and bool(bins["pairs"].iloc[first:].any())
        rows.append(
            {
                "judgments": judgments,
                "measure": measure,
                "size": size,
                "pairs": pairs,
                "swaps": swaps,
                "rate": swaps / pairs if known else np.nan,
                "difference": float(bins["at_least"].iloc[first]) if found else np.nan,
                "share": bins["pairs"].iloc[first:].sum() / pairs if found else np.nan,
            }
        )
    return pd.DataFrame(rows)


def topics(table: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Return for each bin how many topics it takes to have no more swaps than wanted.

    Returns:
        DataFrame: ``judgments measure bin at_least below topics extrapolated start decay``, see
        ``Stability.topics_needed``.
    """
    return pd.DataFrame(list(_topics(table, rate)))


def _topics(table: pd.DataFrame, rate: float) -> Iterator[dict[str, Any]]:
    for (judgments, measure, number), sizes in table.groupby([*_OF_A_LINE, "bin"], sort=False):
        sizes = sizes.sort_values("size")
        start, decay = _fit(sizes)
        known = sizes[sizes["rate"].notna()]
        too_many = np.flatnonzero((known["rate"] > rate).to_numpy())
        first = int(too_many[-1]) + 1 if len(too_many) else 0
        measured = first < len(known)
        needed = float(known["size"].iloc[first]) if measured else np.nan
        if not measured and len(known) and decay > 0:
            needed = float(max(np.ceil(np.log(start / rate) / decay), known["size"].iloc[-1] + 1))
        yield {
            "judgments": judgments,
            "measure": measure,
            "bin": number,
            "at_least": sizes["at_least"].iloc[0],
            "below": sizes["below"].iloc[0],
            "topics": needed,
            "extrapolated": not measured and not np.isnan(needed),
            "start": start,
            "decay": decay,
        }


def _fit(sizes: pd.DataFrame) -> tuple[float, float]:
    """Return a and b of rate = a exp(-b size), by least squares of the logarithm, each size by its number of swaps."""
    seen = sizes[sizes["swaps"] > 0]
    if len(seen) < _LEAST_SIZES:
        return np.nan, np.nan
    weight = np.sqrt(seen["swaps"].to_numpy(dtype=float))
    slope, level = np.polyfit(seen["size"].to_numpy(dtype=float), np.log(seen["rate"].to_numpy()), 1, w=weight)
    return float(np.exp(level)), float(-slope)
