"""Strata: the parts of each topic's pool of which samples are drawn, by a column of the pool or by bands of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import Argument, Aside, InputError, Option
from pt_reuse.pooling.pool import Pool

#: the columns of which bands are asked, since every value would be a stratum of its own
RANK, PRIORITY = "rank", "priority"
#: the one stratum of a uniform sample
ALL = "all"


@dataclass(frozen=True)
class Strata:
    """The stratum of each document of a pool.

    Attributes:
        names: what the strata are called, in their order.
        of_document: (documents,) the stratum, as a position among the names.
        banded: whether they are bands, which have an order that the user gave.
    """

    names: tuple[str, ...]
    of_document: NDArray[np.int64]
    banded: bool = False

    def each(self, argument: str, given: Any) -> list[Any]:
        """Return what is given for each stratum: one value for all, one for each band, or stratum -> value.

        Raises:
            InputError: another number of values than of bands, or a stratum that is missing or unknown.
        """
        if isinstance(given, Mapping):
            odd = [name for name in given if name not in self.names]
            missing = [name for name in self.names if name not in given]
            if odd or missing:
                raise InputError(
                    Argument(argument),
                    f" must have one value for each stratum, {examples(self.names, 12)}; "
                    f"{examples(odd or missing)} {'is none of them' if odd else 'is missing'}.",
                    argument=argument,
                )
            return [given[name] for name in self.names]
        if isinstance(given, str) or not isinstance(given, Iterable):
            return [given] * len(self.names)
        values = list(given)
        if not self.banded:
            raise InputError(
                Argument(argument),
                " must be one number",
                Aside(", or a dict of stratum -> number"),
                f", got {told(given)}. Only bands have an order.",
                argument=argument,
            )
        if len(values) != len(self.names):
            raise InputError(
                Argument(argument),
                f" must have one value for each of the {count(len(self.names), 'band')}, got {len(values)}.",
                argument=argument,
            )
        return values


def strata_of(pool: Pool, column: str | None, bands: Any) -> Strata:
    """Return the strata of a pool.

    Args:
        pool: the pool.
        column: a column of its frame, None for one stratum.
        bands: the upper ends of bands of the column, the last perhaps infinite; None: each value is a stratum.

    Raises:
        InputError: a column that the pool does not have or that is missing for some documents, bands that are none,
            or a document beyond the last band.
    """
    check_bands(column, bands)
    if column is None:
        return Strata((ALL,), np.zeros(len(pool), dtype=np.int64))
    frame = pool.to_frame()
    known = [name for name in frame.columns if name not in ("qid", "docno")]
    if not isinstance(column, str) or column not in known:
        raise InputError(
            f"strata must be a column of the pool, one of {examples(known, 12)}, got {told(column)}.", argument="strata"
        )
    values = frame[column]
    missing = np.flatnonzero(values.isna().to_numpy())
    if len(missing):
        raise InputError(
            f"{count(len(missing), 'document')} of {len(pool):,} without a {column}, such as "
            f"{_document(frame, missing[0])}. Take another column for strata.",
            argument="strata",
        )
    if bands is not None:
        return _banded(frame, column, _ends(bands, column))
    codes, names = pd.factorize(values.astype(str), sort=True)
    return Strata(tuple(names), codes.astype(np.int64))


def check_bands(column: Any, bands: Any) -> None:
    """Raise where bands are none whatever the pool is, or where those are lacking that a column needs."""
    if bands is not None and column is None:
        raise InputError("bands are bands of a column. Pass ", Option("strata", RANK), ", too.", argument="bands")
    if bands is not None:
        _ends(bands, column)
    elif column in (RANK, PRIORITY):
        raise InputError(
            f"every {column} would be a stratum of its own. Give the last {column} of each band, such as ",
            Option("bands", [10, 50, 100]),
            ".",
            argument="bands",
        )


def amounts_of(argument: str, given: Any, bands: Any) -> list[Any]:
    """Return the amounts that are given: one for all, one for each band, or of stratum -> amount.

    Raises:
        InputError: another number of values than of bands, or several where there are no bands.
    """
    if isinstance(given, Mapping):
        return list(given.values())
    names = (ALL,) if bands is None else tuple(map(str, bands))
    return Strata(names, np.zeros(0, dtype=np.int64), banded=bands is not None).each(argument, given)


def _banded(frame: pd.DataFrame, column: str, ends: list[float]) -> Strata:
    if column == PRIORITY:
        # the scale of a priority means nothing: its bands count places, the document of highest priority first
        values = frame.groupby("qid")[column].rank(method="first", ascending=False).to_numpy(dtype=np.float64)
    else:
        values = _numbers(frame[column], column)
    band = np.searchsorted(ends, values, side="left").astype(np.int64)
    beyond = np.flatnonzero(band == len(ends))
    if len(beyond):
        raise InputError(
            f"{count(len(beyond), 'document')} of {len(frame):,} beyond the last band, which ends at {ends[-1]:g}, "
            f"such as {_document(frame, beyond[0])} with {column} {values[beyond[0]]:g}. Add a last band, "
            "float('inf') for all that is left.",
            argument="bands",
        )
    places = column in (RANK, PRIORITY)
    return Strata(tuple(_band_name(low, high, places) for low, high in pairwise([0.0, *ends])), band, banded=True)


def _band_name(low: float, high: float, places: bool) -> str:
    # without white space, so that it can stand in a column of a file
    if not places:
        return f"<={high:g}" if np.isfinite(high) else f">{low:g}"
    first = int(low) + 1
    return f"{first}+" if not np.isfinite(high) else f"{first}-{int(high)}" if high > first else f"{first}"


def _ends(bands: Any, column: str) -> list[float]:
    given = [] if isinstance(bands, str) or not isinstance(bands, Iterable) else list(bands)
    numbers = [float(end) for end in given if isinstance(end, int | float | np.number) and not isinstance(end, bool)]
    ascends = all(low < high for low, high in pairwise(numbers))
    whole = column not in (RANK, PRIORITY) or all(end >= 1 and (end == np.inf or end % 1 == 0) for end in numbers)
    if not numbers or len(numbers) < len(given) or not ascends or not whole:
        kind = "whole numbers from 1, each" if column in (RANK, PRIORITY) else "numbers, each"
        raise InputError(
            f"bands must be the last {column} of each band, {kind} larger than the one before, got {told(bands)}.",
            argument="bands",
        )
    return numbers


def _numbers(values: pd.Series, column: str) -> NDArray[np.float64]:
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        raise InputError(
            f"bands are of numbers, and the column {shown(column)} holds {shown(values.iloc[0])}. Leave out bands: "
            "each value is a stratum.",
            argument="bands",
        )
    return values.to_numpy(dtype=np.float64)


def _document(frame: pd.DataFrame, row: int) -> str:
    return f"topic {shown(frame['qid'].iloc[row])}, document {shown(frame['docno'].iloc[row])}"
