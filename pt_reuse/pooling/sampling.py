"""sample_pool: judge a random part of a pool, with the probability with which each document had its chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, positive, told
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse.engine import tokens
from pt_reuse.pooling.adaptive.lists import random_of_topic
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.strata import Strata, amounts_of, check_bands, strata_of

#: a share of a stratum that is this near to a whole number and a half is rounded up
_HALF = 0.5 + 1e-9


@door
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

    The result holds the documents to judge. Each has its ``stratum`` and its ``inclusion``, the probability with which
    it came into the sample: n_h / N_h, sampled by pooled documents of the topic's stratum. The documents that were
    pooled and not sampled are in :attr:`Pool.unsampled`, with the same columns; :meth:`Pool.judge` gives them label
    -1, so that infAP, :data:`xinfAP` and :data:`xinfNDCG` see the whole pool.

    Args:
        pool: the pool, of any strategy.
        share: the part to sample, above 0 and at most 1, of each stratum: one number, one for each band, or a dict of
            stratum -> share. A stratum's sample is rounded to whole documents, halves up, and is at least one document.
        n: the documents to sample of each topic's stratum, in place of `share`; likewise one number or several. A
            stratum with fewer is judged in full.
        strata: a column of the pool by which topics are divided: ``"rank"`` (the best rank of a document), ``"runs"``
            (how many runs have it), ``"priority"``, or one of the pool's own. Default: a topic is one stratum.
        bands: the last value of each band of that column, ascending; the last may be ``float("inf")``. ``strata="rank",
            bands=[10, 100]`` makes the strata ``1-10`` and ``11-100``. Bands of ``"priority"`` count places, the
            document of highest priority first. Default: each value is a stratum.
        seed: the same seed gives the same sample in every process. A topic's sample does not depend on other topics
            nor on the order of its documents, and a larger share of the same strata holds the smaller.

    Returns:
        Pool: the sampled documents with ``stratum`` and ``inclusion``; contributors and further columns stay.

    Raises:
        InputError: neither or both of `share` and `n`, a share outside of (0, 1], strata or bands that the pool does
            not have, a pool that is a sample already.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> found = pd.DataFrame({"qid": "1", "docno": list("abcdef"), "part": ["x", "x", "y", "y", "y", "y"]})
        >>> sample = ptr.sample_pool(ptr.Pool.from_frame(found), share={"x": 1, "y": 0.5}, strata="part", seed=1)
        >>> sample.to_frame()[["stratum", "inclusion"]].value_counts(sort=False).to_dict()
        {('x', 1.0): 2, ('y', 0.5): 2}
        >>> sample.judge(lambda frame: [1] * len(frame)).counts()[["judged", "unjudged"]].values.tolist()
        [[4, 2]]

    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008, "A simple and efficient sampling method for estimating AP and NDCG";
    by bands of rank, as in TREC's Terabyte 2006, Million Query, Legal, Clinical Decision Support and TRECVID tracks.
    """
    if not isinstance(pool, Pool):
        raise InputError(f"pool must be a Pool, such as depth_pool makes, got {told(pool)}.", argument="pool")
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
    """Raise where arguments of :func:`sample_pool` are wrong whatever the pool is.

    Raises:
        InputError: neither or both of `share` and `n`, an amount or a band out of range, bands without strata.
    """
    if (share is None) == (n is None):
        raise InputError(
            "say how much to sample: either ", Option("share", 0.1), " or ", Option("n", 50), ".", argument="share"
        )
    checked_seed(seed)
    check_bands(strata, bands)
    argument, given = ("share", share) if n is None else ("n", n)
    for amount in amounts_of(argument, given, bands):
        _amount(argument, amount)


def _amount(argument: str, value: Any) -> float:
    if argument == "n":
        return positive("n", value, "documents per topic and stratum")
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value <= 1:
        raise InputError(
            Argument("share"),
            f" must be above 0 and at most 1, got {told(value)}. What is not to be judged at all, leave out of the "
            "pool.",
            argument="share",
        )
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
            size = min(int(amount), len(mine)) if isinstance(amount, int) else _share_of(amount, len(mine))
            sampled[rows.start + mine[np.argsort(key[mine], kind="stable")[:size]]] = True
            inclusion[rows.start + mine] = size / len(mine)
    return sampled, inclusion


def _share_of(share: float, n: int) -> int:
    return max(1, int(share * n + _HALF))
