"""Judging a random part of a pool, with the probability with which each document had its chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, count, examples, positive, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.stratified import share_of
from pt_reuse.errors import InputError
from pt_reuse.pooling.adaptive.chooser import random_of_topic
from pt_reuse.pooling.pool import Pool


def sample_pool(
    pool: Pool,
    *,
    share: float | Sequence[float] | Mapping[str, float] | None = None,
    n: int | Sequence[int] | Mapping[str, int] | None = None,
    strata: str | None = None,
    bands: Sequence[float] | None = None,
    seed: int,
) -> Pool:
    """Sample a pool at random, topic by topic and stratum by stratum, without replacement.

    The result holds the documents to judge. Each has its ``stratum`` and its ``inclusion``, the probability of being
    sampled: n_h / N_h, sampled divided by pooled documents of the topic's stratum. The documents that were pooled and
    not sampled are in :attr:`Pool.unsampled`, with the same columns; :meth:`Pool.judge` gives them label -1, so that
    infAP, :data:`~pt_reuse.pools.xinfAP` and :data:`~pt_reuse.pools.xinfNDCG` see the whole pool.

    Args:
        pool: the pool, of any strategy.
        share: the part to sample, above 0 and at most 1, of each stratum: one number, one for each band, or a dict of
            stratum -> share. A stratum's sample is rounded to whole documents, halves up, and is at least one document.
        n: the number of documents to sample of each topic's stratum, instead of `share`; likewise one number or
            several. A smaller stratum is judged in full.
        strata: a column of the pool by which topics are divided: ``"rank"`` (the best rank of a document), ``"runs"``
            (how many runs have it), ``"priority"``, or one of the pool's own. Default: a topic is one stratum.
        bands: the last value of each band of that column, ascending; the last may be ``float("inf")``. ``strata="rank",
            bands=[10, 100]`` makes the strata ``1-10`` and ``11-100``. Bands of ``"priority"`` are ranks by descending
            priority. Default: each value is a stratum.
        seed: the same seed gives the same sample in every process. A topic's sample does not depend on other topics or
            on the order of its documents; a larger share of the same strata contains the smaller.

    Returns:
        Pool: the sampled documents with ``stratum`` and ``inclusion``; contributors and further columns stay.

    Raises:
        InputError: neither or both of `share` and `n`, a share outside (0, 1], strata or bands that the pool does not
            have, a pool that is already a sample.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> found = pd.DataFrame({"qid": "1", "docno": list("abcdef"), "part": ["x", "x", "y", "y", "y", "y"]})
        >>> sample = ptr.pools.sample_pool(ptr.Pool.from_frame(found), share={"x": 1, "y": 0.5}, strata="part", seed=1)
        >>> sample.to_frame()[["stratum", "inclusion"]].value_counts(sort=False).to_dict()
        {('x', 1.0): 2, ('y', 0.5): 2}
        >>> sample.judge(lambda frame: [1] * len(frame)).counts()[["judged", "unjudged"]].values.tolist()
        [[4, 2]]

    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008, "A simple and efficient sampling method for estimating AP and NDCG";
    by bands of rank, as in TREC's Terabyte 2006, Million Query, Legal, Clinical Decision Support and TRECVID tracks.
    """
    if not isinstance(pool, Pool):
        raise InputError(f"pool must be a Pool, such as depth_pool makes, got {shown(pool)}.", argument="pool")
    if pool.unsampled is not None:
        raise InputError("the pool is a sample already. Sample the pool that it was drawn from.", argument="pool")
    check_sampling(share=share, n=n, strata=strata, bands=bands, seed=seed)
    chosen = strata_of(pool, strata, bands)
    argument, given = ("share", share) if n is None else ("n", n)
    amounts = [_amount(argument, value) for value in chosen.each(argument, given)]
    sampled, inclusion = _drawn(pool, chosen, amounts, int(seed))
    stratum = np.array([*chosen.names, None], dtype=object)[chosen.of_document]
    columns = pool.columns.drop(columns=["stratum", "inclusion"], errors="ignore").assign(
        stratum=stratum, inclusion=inclusion
    )
    settings = {
        **pool.settings,
        "sampled": f"{int(sampled.sum()):,} of {len(pool):,}",
        **({} if strata is None else {"strata": strata if bands is None else f"{strata} {'/'.join(chosen.names)}"}),
        argument: "/".join(f"{amount:g}" for amount in dict.fromkeys(amounts)),
        "seed": int(seed),
    }
    rest = pool.take(np.flatnonzero(~sampled), columns=columns)
    return pool.take(np.flatnonzero(sampled), columns=columns, settings=settings, unsampled=rest)


def check_sampling(*, share: Any, n: Any, strata: Any, bands: Any, seed: Any) -> None:
    """Raise where arguments of :func:`~pt_reuse.pools.sample_pool` are wrong whatever the pool is."""
    if (share is None) == (n is None):
        raise InputError("say how much to sample: either share=0.1 or n=50.", argument="share")
    checked_seed(seed)
    ends = checked_bands(strata, bands)
    argument, given = ("share", share) if n is None else ("n", n)
    names = (ALL,) if ends is None else tuple(map(str, ends))
    values = (
        list(given.values())
        if isinstance(given, Mapping)
        else Strata(names, np.zeros(0, dtype=np.int64), banded=ends is not None).each(argument, given)
    )
    for value in values:
        _amount(argument, value)


def _amount(argument: str, value: Any) -> float:
    if argument == "n":
        return positive("n", value, "documents per topic and stratum")
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value <= 1:
        what = "What is not to be judged at all, leave out of the pool."
        raise InputError(f"share must be above 0 and at most 1, got {shown(value)}. {what}", argument="share")
    return float(value)


def _drawn(
    pool: Pool, strata: Strata, amounts: Sequence[float], seed: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which documents are sampled, and the probability with which each is."""
    sampled, inclusion = np.zeros(len(pool), dtype=bool), np.zeros(len(pool))
    for t, qid in enumerate(pool.topics):
        rows = pool.documents.rows(t)
        random = random_of_topic(seed, qid)
        # keys are dealt out in the order of the names, so that the order of the pool has no part in the sample
        by_name = np.lexsort(tokens.descending(pool.documents.words[rows]))
        key = np.empty(len(by_name))
        key[by_name] = random.random(len(by_name))
        for s, amount in enumerate(amounts):
            mine = np.flatnonzero(strata.of_document[rows] == s)
            if not len(mine):
                continue
            size = min(int(amount), len(mine)) if isinstance(amount, int) else max(1, share_of(amount, len(mine)))
            sampled[rows.start + mine[np.argsort(key[mine], kind="stable")[:size]]] = True
            inclusion[rows.start + mine] = size / len(mine)
    return sampled, inclusion


#: the columns of which bands are asked, since every value would be a stratum of its own; their bands count places
RANK, PRIORITY = "rank", "priority"
_PLACES = (RANK, PRIORITY)
#: the one stratum of a uniform sample
ALL = "all"


@dataclass(frozen=True)
class Strata:
    """The stratum of each document of a pool, a position among the names; bands have an order that the user gave."""

    names: tuple[str, ...]
    of_document: NDArray[np.int64]
    banded: bool = False

    def each(self, argument: str, given: Any) -> list[Any]:
        """Return what is given for each stratum: one value for all, one for each band, or stratum -> value."""
        if isinstance(given, str) or not isinstance(given, Iterable):
            return [given] * len(self.names)
        # numbers of a column, such as "runs", name their strata too
        by_name = {str(name): value for name, value in given.items()} if isinstance(given, Mapping) else {}
        if set(by_name) == set(self.names):
            return [by_name[name] for name in self.names]
        values = list(given)
        if isinstance(given, Mapping) or not self.banded or len(values) != len(self.names):
            raise InputError(
                f"{argument} must be one number{', one for each band' if self.banded else ''}, or a dict of stratum "
                f"-> number, got {shown(given)}. Strata are {examples(self.names, 12)}; only bands have an order.",
                argument=argument,
            )
        return values


def strata_of(pool: Pool, column: str | None, bands: Any) -> Strata:
    """Return the strata of a pool: one for no column, a stratum for each band of it, or for each of its values."""
    ends = checked_bands(column, bands)
    if column is None:
        return Strata((ALL,), np.zeros(len(pool), dtype=np.int64))
    frame = pool.to_frame()
    known = [name for name in frame.columns if name not in ("qid", "docno")]
    if not isinstance(column, str) or column not in known:
        raise InputError(
            f"strata must be a column of the pool, one of {examples(known, 12)}, got {shown(column)}.",
            argument="strata",
        )
    values = frame[column]
    missing = values.isna().to_numpy()
    if missing.any():
        raise _without(frame, missing, f"without a {column}. Take another column for strata.", "strata")
    if ends is not None:
        return _banded(frame, column, ends)
    codes, names = pd.factorize(values.astype(str), sort=True)
    return Strata(tuple(names), codes.astype(np.int64))


def _without(frame: pd.DataFrame, which: NDArray[np.bool_], what: str, argument: str) -> InputError:
    first = frame.iloc[int(which.argmax())]
    place = f"topic {shown(first['qid'])}, document {shown(first['docno'])}"
    return InputError(f"{count(int(which.sum()), 'document')} of {len(frame):,} {what}", argument=argument, place=place)


def checked_bands(column: Any, bands: Any) -> list[float] | None:
    """Return the upper ends of bands, None for none; or say that they are none, or that a column needs them."""
    if bands is None and column not in _PLACES:
        return None
    given = list(bands) if isinstance(bands, Iterable) and not isinstance(bands, str) else []
    ends = [float(end) for end in given if isinstance(end, int | float | np.number) and not isinstance(end, bool)]
    whole = column not in _PLACES or all(end >= 1 and (end == np.inf or end % 1 == 0) for end in ends)
    ascending = all(low < high for low, high in pairwise(ends))
    if column is None or not ends or len(ends) < len(given) or not ascending or not whole:
        kind = "whole numbers from 1, each" if column in _PLACES else "numbers, each"
        raise InputError(
            "bands must be the last value of each band of a column, "
            f"strata={(RANK if column is None else column)!r}, {kind} larger than the one before, such as [10, 50, "
            f"100], got {shown(bands)}.",
            argument="bands",
        )
    return ends


def _banded(frame: pd.DataFrame, column: str, ends: list[float]) -> Strata:
    values = frame[column]
    if column == PRIORITY:
        # the scale of a priority means nothing: its bands count places, the document of highest priority first
        values = frame.groupby("qid")[column].rank(method="first", ascending=False)
    elif not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        raise InputError(
            f"bands are of numbers, and {shown(column)} holds {shown(values.iloc[0])}. Leave them out.",
            argument="bands",
        )
    band = np.searchsorted(ends, values.to_numpy(dtype=np.float64), side="left").astype(np.int64)
    beyond = band == len(ends)
    if beyond.any():
        what = f"beyond the last band, which ends at {ends[-1]:g}. Add a last band, float('inf') for all that is left."
        raise _without(frame, beyond, what, "bands")
    places = column in _PLACES
    return Strata(tuple(_band_name(low, high, places) for low, high in pairwise([0.0, *ends])), band, banded=True)


def _band_name(low: float, high: float, places: bool) -> str:
    # without white space, so that it can stand in a column of a file
    if not places:
        return f"<={high:g}" if np.isfinite(high) else f">{low:g}"
    first = int(low) + 1
    return f"{first}+" if not np.isfinite(high) else f"{first}-{int(high)}" if high > first else f"{first}"
