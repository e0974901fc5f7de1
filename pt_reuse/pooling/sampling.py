"""Judging a random part of a pool, with the probability with which each document had its chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.prediction_powered import share_of
from pt_reuse.errors import InputError, checked_seed, count, examples, positive, shown
from pt_reuse.pooling.adaptive.bandits import random_of_topic
from pt_reuse.pooling.pool import Pool

#: the columns of which bands are asked, since every value would be a stratum of its own; their bands count places
_PLACES = ("rank", "priority")


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

    The result holds the documents to judge, each with its ``stratum`` and its ``inclusion``, the probability of being
    sampled: sampled divided by pooled documents of the topic's stratum. The others are in :attr:`Pool.unsampled`;
    :meth:`Pool.judge` gives them label -1, so that infAP, :data:`~pt_reuse.pools.xinfAP` and
    :data:`~pt_reuse.pools.xinfNDCG` see the whole pool.

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
        seed: of the draws. A topic's sample does not depend on other topics or on the order of its documents; a larger
            share of the same strata contains the smaller.

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
    if (share is None) == (n is None):
        raise InputError("say how much to sample: either share=0.1 or n=50.", argument="share")
    seed, ends = checked_seed(seed), _checked_bands(strata, bands)
    names, of_document = _strata(pool, strata, ends)
    argument, given = ("share", share) if n is None else ("n", n)
    amounts: list[float] = []
    for amount in _of_each(argument, given, names, banded=ends is not None):
        number = isinstance(amount, int | float | np.number) and not isinstance(amount, bool)
        if argument == "share" and not (number and 0 < amount <= 1):
            raise InputError(f"share must be above 0 and at most 1, got {shown(amount)}.", argument="share")
        amounts.append(positive("n", amount, "documents per topic and stratum") if argument == "n" else float(amount))
    sampled, inclusion = np.zeros(len(pool), dtype=bool), np.zeros(len(pool))
    for t, qid in enumerate(pool.topics):
        rows = pool.documents.rows(t)
        # keys are dealt out in the order of the names, so that the order of the pool has no part in the sample
        by_name = np.lexsort(tokens.descending(pool.documents.words[rows]))
        key = np.empty(len(by_name))
        key[by_name] = random_of_topic(seed, qid).random(len(by_name))
        for s, amount in enumerate(amounts):
            mine = np.flatnonzero(of_document[rows] == s)
            if not len(mine):
                continue
            size = min(int(amount), len(mine)) if isinstance(amount, int) else max(1, share_of(amount, len(mine)))
            sampled[rows.start + mine[np.argsort(key[mine], kind="stable")[:size]]] = True
            inclusion[rows.start + mine] = size / len(mine)
    stratum = np.array([*names, None], dtype=object)[of_document]
    columns = pool.columns.drop(columns=["stratum", "inclusion"], errors="ignore")
    columns = columns.assign(stratum=stratum, inclusion=inclusion)
    settings = {
        **pool.settings,
        "sampled": f"{int(sampled.sum()):,} of {len(pool):,}",
        **({} if strata is None else {"strata": strata if ends is None else f"{strata} {'/'.join(names)}"}),
        argument: "/".join(f"{amount:g}" for amount in dict.fromkeys(amounts)),
        "seed": seed,
    }
    rest = pool.take(np.flatnonzero(~sampled), columns=columns)
    return pool.take(np.flatnonzero(sampled), columns=columns, settings=settings, unsampled=rest)


def _of_each(argument: str, given: Any, names: Sequence[str], *, banded: bool) -> list[Any]:
    """Return what is given for each stratum: one value for all, one for each band, or stratum -> value."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given] * len(names)
    if isinstance(given, Mapping):
        # numbers of a column, such as "runs", name their strata too
        by_name = {str(name): value for name, value in given.items()}
        if set(by_name) == set(names):
            return [by_name[name] for name in names]
    elif banded and len(values := list(given)) == len(names):
        return values
    raise InputError(
        f"{argument} must be one number{', one for each band' if banded else ''}, or a dict of stratum -> number, got "
        f"{shown(given)}. Strata are {examples(names, 12)}; only bands have an order.",
        argument=argument,
    )


def _strata(pool: Pool, column: str | None, ends: list[float] | None) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the strata of a pool, one for no column, else one a band or value, and that of each document."""
    if column is None:
        return ("all",), np.zeros(len(pool), dtype=np.int64)
    frame = pool.to_frame()
    known = [name for name in frame.columns if name not in ("qid", "docno")]
    if not isinstance(column, str) or column not in known:
        raise InputError(
            f"strata must be a column of the pool, one of {examples(known, 12)}, got {shown(column)}.",
            argument="strata",
        )
    values = frame[column]
    _refuse(frame, values.isna().to_numpy(), f"without a {column}. Take another column for strata.", "strata")
    if ends is None:
        codes, names = pd.factorize(values.astype(str), sort=True)
        return tuple(names), codes.astype(np.int64)
    if column == "priority":
        # the scale of a priority means nothing: its bands count places, the document of highest priority first
        values = frame.groupby("qid")[column].rank(method="first", ascending=False)
    elif not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        what = f"bands are of numbers, and {shown(column)} holds {shown(values.iloc[0])}. Leave them out."
        raise InputError(what, argument="bands")
    band = np.searchsorted(ends, values.to_numpy(dtype=np.float64), side="left").astype(np.int64)
    beyond = f"beyond the last band, which ends at {ends[-1]:g}. Add a last band, float('inf') for all that is left."
    _refuse(frame, band == len(ends), beyond, "bands")
    return tuple(_band_name(low, high, column in _PLACES) for low, high in pairwise([0.0, *ends])), band


def _refuse(frame: pd.DataFrame, which: NDArray[np.bool_], what: str, argument: str) -> None:
    if which.any():
        first = frame.iloc[int(which.argmax())]
        place = f"topic {shown(first['qid'])}, document {shown(first['docno'])}"
        problem = f"{count(int(which.sum()), 'document')} of {len(frame):,} {what}"
        raise InputError(problem, argument=argument, place=place)


def _checked_bands(column: Any, bands: Any) -> list[float] | None:
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
            f"bands must be the last value of each band of a column, strata={(column or 'rank')!r}, {kind} larger than "
            f"the one before, such as [10, 50, 100], got {shown(bands)}.",
            argument="bands",
        )
    return ends


def _band_name(low: float, high: float, places: bool) -> str:
    # without white space, so that it can stand in a column of a file
    if not places:
        return f"<={high:g}" if np.isfinite(high) else f">{low:g}"
    first = int(low) + 1
    return f"{first}+" if not np.isfinite(high) else f"{first}-{int(high)}" if high > first else f"{first}"
