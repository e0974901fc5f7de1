"""Pools by rank: depth-k pools, the best n documents of a topic, and fusions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField
from pt_reuse.arrays.lists import Fusion, TopicDocs, TopicRows, offsets
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.coding import check_order_or_none
from pt_reuse.data.run_set import RunSet, as_runs
from pt_reuse.data.topic_jobs import TOPICS, Arrays, ArrayWork, cut_where, parts_of, run_topics, topics_array
from pt_reuse.errors import (
    InputError,
    checked_jobs,
    choice,
    count,
    did_you_mean,
    examples,
    positive,
    shown,
    warn,
    whole,
)
from pt_reuse.options import described
from pt_reuse.pooling.pool import Contributions, Contributors, Pool, contributors_of

#: to which depth most TREC tracks pooled
USUAL_DEPTH = 100
#: of a run or topic that has no depth of its own
_NONE = int(np.iinfo(np.int64).max)


class PoolDepth(NamedTuple):
    """To which depth runs are pooled, in documents per run and topic, and who says so."""

    value: int
    origin: str  # "the call", "the field" or "the default"


def depth_of(runs: RunSet, depth: int | None, usual: int = USUAL_DEPTH) -> PoolDepth:
    """Return the user's ``depth=``, else the one that the field knows of itself, else the usual one."""
    if depth is not None:
        return PoolDepth(checked_depth(depth), "the call")
    if runs.pool_depth is not None:
        return PoolDepth(runs.pool_depth, "the field")
    return PoolDepth(usual, "the default")


def check_pooling(depth: Any, order: Any) -> None:
    """Raise, before runs are read, where a user's ``depth=`` or ``order=`` is none; None leaves it to the field."""
    if depth is not None:
        checked_depth(depth)
    check_order_or_none("order", order)


def checked_depth(depth: Any, argument: str = "depth") -> int:
    """Return a user's ``depth=`` as an int, or say that it is no depth of a pool."""
    return positive(argument, depth, "documents per run and topic")


def checked_depths(depths: Any) -> list[int]:
    """Return a user's depths, one or several, as ascending numbers, each once."""
    several = isinstance(depths, Iterable) and not isinstance(depths, str | bytes)
    given = list(depths) if several else [depths]
    if not given:
        raise InputError("depths names no depth. Give one or several.", argument="depths")
    return sorted({checked_depth(depth, "depths") for depth in given})


@described
def depth_pool(
    runs: Any,
    depth: int | None = None,
    *,
    depth_by_run: Mapping[str, int] | None = None,
    depth_by_topic: Mapping[str, int] | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
    n_jobs: int | None = None,
) -> Pool:
    """Pool the top documents of the contributing runs.

    The depth-k pool of a topic is the union of the first k documents of every contributing run, in the order in which
    the field is pooled. A run shorter than k contributes all it has.

    Args:
        depth_by_run: run name -> its own depth, on all topics; a run that is not named has `depth`.
        depth_by_topic: topic -> its own depth, of all runs; a topic that is not named has `depth`. If a run and a topic
            both have one, the smaller counts.

    Returns:
        Pool: the documents with their contributors and best ranks; its ``run_table`` lists the contributing runs.

    Raises:
        InputError: a depth that is no whole number of at least 1, an unknown run or topic, no contributing run, an
            order that the field does not know.

    Warns:
        ReuseWarning: `depth_by_run` names runs that do not contribute.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, teams={"A": "x", "B": "y"}, pooled=["B"])
        >>> ptr.depth_pool(runs, depth=1).to_frame()
          qid docno  rank  runs  teams  types
        0   1    d2     1     1      1      0
        >>> ptr.depth_pool(runs, depth=1, depth_by_run={"A": 2}, contributors="all")
        Pool: 2 documents, 1 topic, 2 runs (strategy=depth, depth=1, depth_by_run=1 run: 2, contributors=all,
        order=trec_eval)

    Source: Sparck Jones and van Rijsbergen 1975; Harman, TREC overview papers. On TREC-8 ad hoc the depth-100 pool of
    the 71 pooled runs is exactly the 86,830 documents that NIST judged.
    """
    check_pooling(depth, order)
    jobs = checked_jobs(n_jobs)
    runs = as_runs(runs)
    common = depth_of(runs, depth).value
    chosen = contributors_of(runs, contributors)
    of_run = _own_depths("depth_by_run", depth_by_run, runs.names, "run")
    of_topic = _own_depths("depth_by_topic", depth_by_topic, runs.topics, "topic")
    idle = np.flatnonzero((of_run < _NONE) & ~chosen.runs).tolist()
    if idle:
        warn(
            f"depth_by_run has depths of {count(len(idle), 'run')} not among the contributors, of which nothing is "
            f"taken ({examples([runs.names[row] for row in idle])}). contributors says who contributes."
        )
    depths = of_topic if (of_run == _NONE).all() else np.minimum.outer(of_topic, of_run)
    own: dict[str, Any] = {"depth": common}
    for name, given, noun in (("depth_by_run", of_run, "run"), ("depth_by_topic", of_topic, "topic")):
        if len(some := given[given < _NONE]):
            ends = " to ".join(dict.fromkeys([f"{some.min():,}", f"{some.max():,}"]))
            own[name] = f"{count(len(some), noun)}: {ends}"
    return _pool_to(runs.in_pool_order(order), np.where(depths == _NONE, common, depths), chosen, own, n_jobs=jobs)


def _own_depths(argument: str, given: Any, known: Sequence[str], noun: str) -> NDArray[np.int64]:
    """Return (known,): the depth that a user gives each run or topic, `_NONE` where there is none."""
    if not isinstance(given, Mapping | None):
        raise InputError(f"{argument} must map each {noun} to its depth, got {shown(given)}.", argument=argument)
    own = dict.fromkeys(known, _NONE)
    for name, depth in (given or {}).items():
        if name not in own:
            hint = did_you_mean(name, known) or f" There is {examples(known)}."
            problem = f"{argument} names {shown(name)}, not among the {count(len(known), noun)}.{hint}"
            raise InputError(problem, argument=argument)
        own[name] = checked_depth(depth, f"{argument}[{name!r}]")
    return np.array(list(own.values()), dtype=np.int64)


def pool_to_depth(ranked: RunSet, depth: int, contributors: Contributors) -> Pool:
    """Pool the top documents of the contributing runs, in the order in which the field stands."""
    return _pool_to(ranked, np.full(ranked.field.n_topics, depth), contributors, {"depth": depth}, n_jobs=None)


def _pool_to(
    ranked: RunSet, depths: NDArray[np.int64], contributors: Contributors, own: Mapping[str, Any], *, n_jobs: int | None
) -> Pool:
    field = ranked.field
    work = DepthPooling(field, field.topics, depths, contributors.runs)
    n_rows = sum(work.n_rows())
    run = np.empty(n_rows, dtype=np.min_scalar_type(max(len(contributors) - 1, 0)))
    rank = np.empty(n_rows, dtype=np.min_scalar_type(int(field.lengths.max(initial=0))))
    words: list[Words] = []
    sizes, n_runs, end = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    for piece in run_topics(work, field, n_jobs=n_jobs, desc="pooling"):
        rows = slice(end, end := end + len(piece["run"]))
        run[rows], rank[rows] = piece["run"], piece["rank"]
        words.append(piece["words"])
        sizes.append(piece["size"])
        n_runs.append(piece["runs"])
        # before the next one takes memory
        del piece
    return Pool(
        TopicDocs(field.topics, offsets(np.concatenate(sizes)), tokens.stacked(words)),
        Contributions(offsets(np.concatenate(n_runs)), run, rank),
        run_table=ranked.run_table.iloc[np.flatnonzero(contributors.runs)],
        contributors=contributors,
        order=ranked.order,
        strategy="depth",
        settings=settings_of("depth", ranked, contributors, own),
    )


def settings_of(strategy: str, ranked: RunSet, contributors: Contributors, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a pool was made, for display."""
    assumed = {"pooled": contributors.note} if contributors.note else {}
    return {"strategy": strategy, **own, "contributors": contributors.rule.value, **ranked.settings, **assumed}


class DepthPooling(ArrayWork):
    """Taking the top documents, topic by topic, of the contributing (runs,); depths are (topics,) or (topics, runs)."""

    def __init__(
        self, field: AnyField, topics: Sequence[str], depths: NDArray[np.int64], contributors: NDArray[np.bool_]
    ):
        self.field, self.topics, self.depths, self.contributors = field, topics, depths, contributors

    def n_rows(self) -> list[int]:
        """Return of each topic how many rows the contributing runs have down to its depth."""
        rows = (self.field.topic_row[topic] for topic in self.topics)
        tops = (np.minimum(self.field.lengths[row], depth) for row, depth in zip(rows, self.depths, strict=True))
        return [int(top[self.contributors].sum()) for top in tops]

    def cut(self, at_once: int) -> list[range]:
        rows = [self.field.topic_row[topic] for topic in self.topics]
        return cut_where(self.n_rows(), parts_of(self.field, rows), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return of each topic how many documents it has (``size``); of each document its name and how many have it.

        ``run`` and ``rank`` are those that have it, document by document, as positions among the contributing runs.
        """
        place = (np.cumsum(self.contributors) - 1).astype(np.int32)
        words, runs, run, rank = [], [], [], []
        for t in topics:
            block, here = self.field.of(self.field.topic_row[self.topics[t]])
            top, of_row, at = block.top_rows(here, self.depths[t], self.contributors)
            code = block.codes[top]
            n_runs = np.bincount(code, minlength=block.n_docs(here))
            docs, order = np.flatnonzero(n_runs), np.argsort(code, kind="stable")
            words.append(block.words_at(here).take(docs, axis=0))
            runs.append(n_runs[docs])
            run.append(place[of_row[order]])
            rank.append(at[order])
        return {
            TOPICS: topics_array(topics),
            "size": np.array([len(some) for some in runs], dtype=np.int64),
            "words": tokens.stacked(words),
            "runs": np.concatenate(runs).astype(np.int64),
            "run": np.concatenate(run),
            "rank": np.concatenate(rank),
        }

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        width = max(part["words"].shape[1] for part in parts)
        return super().joined([{**part, "words": tokens.widen(part["words"], width)} for part in parts])

    def of_topics(self, topics: range, field: AnyField) -> DepthPooling:
        mine = slice(topics.start, topics.stop)
        return DepthPooling(field, self.topics[mine], self.depths[mine], self.contributors)


def topic_rows(field: AnyField, t: int, depth: int, runs: NDArray[np.bool_]) -> tuple[NDArray[Any], TopicRows]:
    """Return the depth-k pool of a topic of a field, codes that ascend, and the lists of the chosen (runs,) by it."""
    block, here = field.of(t)
    at, run, rank = block.top_rows(here, depth, runs)
    docs, number = np.unique(block.codes[at], return_inverse=True)
    return docs, TopicRows(number, run, rank, block.scores[at], len(docs))


def rows_in_order(pool: Pool, keys: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the rows of a pool, in each topic those of the smallest keys first, of equal ones by name, descending."""
    return np.lexsort([*tokens.descending(pool.documents.words), *reversed(keys), pool.documents.topic])


def _first_rows(pool: Pool, keys: Sequence[NDArray[Any]], n: int, per: str) -> NDArray[np.int64]:
    """Return the first `n` rows of each ``"topic"``, or of ``"all"``: equal keys from all topics in turn."""
    order, topic, here = rows_in_order(pool, keys), pool.documents.topic, np.arange(len(pool))
    if per == "topic":
        return order[here - pool.documents.starts[topic] < n]
    ordered, new = [key[order] for key in keys], np.ones(len(pool), dtype=bool)
    new[1:] = np.any([key[1:] != key[:-1] for key in (topic, *ordered)], axis=0)
    place_among_equals = here - np.maximum.accumulate(np.where(new, here, 0))
    return order[np.sort(np.lexsort([topic, place_among_equals, *reversed(ordered)])[:n])]


def _best_pool(
    runs: Any,
    n: int,
    per: str,
    fusion: Fusion | None,
    *,
    depth: int | None,
    contributors: str | Iterable[str],
    order: str | None,
) -> Pool:
    size, per = whole("n", n, "documents", least=0), choice("per", per, ("topic", "all"))
    check_pooling(depth, order)
    runs = as_runs(runs)
    common, chosen = depth_of(runs, depth).value, contributors_of(runs, contributors)
    ranked = runs.in_pool_order(order)
    pool = pool_to_depth(ranked, common, chosen)
    keys: list[NDArray[Any]] = [pool.entries.best_rank]
    strategy, own, columns = "take", {}, {}
    if fusion is not None:
        topics = (topic_rows(ranked.field, t, common, chosen.runs)[1] for t in range(ranked.field.n_topics))
        scores = [np.zeros(0), *map(fusion.scores, topics)]
        keys.insert(0, -np.concatenate([fusion.between_topics(of_topic) for of_topic in scores]))
        strategy, own, columns = fusion.method, fusion.options, {"priority": np.concatenate(scores)}
    settings = settings_of(strategy, ranked, chosen, {**own, "n": size, "per": per, "depth": common})
    frame = pd.DataFrame(columns, index=range(len(pool)))
    return pool.take(_first_rows(pool, keys, size, per), columns=frame, strategy=strategy, settings=settings)


@described
def take_pool(
    runs: Any,
    n: int,
    *,
    per: str = "topic",
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
) -> Pool:
    """Pool the `n` best-ranked documents of the depth-k pool, of each topic or in all.

    The documents of a topic are ordered by their best rank in a contributing run, then by descending name, as trec_eval
    orders ties. With ``per="all"``, documents of equal best rank are taken from all topics in turn.

    Args:
        n: how many documents to take, 0 or more. If the depth-k pool has fewer, all are taken.
        per: ``"topic"`` (default) takes `n` documents of each topic, ``"all"`` `n` of all topics together.

    Returns:
        Pool: the documents in the order in which they were taken, with the runs that have them within `depth`.

    Raises:
        InputError: a number out of range, an unknown run, no contributing run, an unknown order.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d1"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True)
        >>> ptr.pools.take_pool(runs, n=2).to_frame()[["qid", "docno", "rank", "runs"]]
          qid docno  rank  runs
        0   1    d3     1     1
        1   1    d1     1     2

    Source: Cormack, Palmer and Clarke, SIGIR 1998; Lipani, Zuccon, Lupu, Koopman and Hanbury, ICTIR 2016.
    """
    return _best_pool(runs, n, per, None, depth=depth, contributors=contributors, order=order)


@described
def fusion_pool(
    runs: Any,
    n: int,
    *,
    method: str = "rrf",
    per: str = "topic",
    k: float | None = None,
    p: float | None = None,
    norm: str | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
) -> Pool:
    """Pool the `n` documents of the depth-k pool with the highest fused scores, of each topic or in all.

    The lists of the contributing runs are cut at `depth` and then fused, topic by topic; documents below `depth` are
    ignored, also in the normalisation of scores. Documents are ordered by fused score (equal if they agree in 12
    digits), then as by :func:`take_pool`.

    Args:
        n: how many documents to take, as of :func:`take_pool`.
        method: ``"rrf"`` (default), reciprocal rank fusion, the sum of 1 / (k + rank); ``"rbp"``, rank-biased
            centroids, the sum of (1 - p) p^(rank - 1); ``"combsum"``, the sum of the normalised scores; ``"combmnz"``,
            that times the number of runs that have the document; ``"borda"``: of c documents a run gives c - rank + 1
            points to each that it has, and (c - l + 1) / 2 to each that it lacks, l the length of its list.
        per: ``"topic"`` (default) takes `n` documents of each topic, ``"all"`` `n` of all topics together, by their
            scores. Borda's points are first divided by the number of documents of the topic, with which they grow.
        k: of ``"rrf"``, >= 0; default 60.
        p: of ``"rbp"``, at least 0 and below 1; default .8.
        norm: of ``"combsum"`` and ``"combmnz"``, how the scores of each list are normalised: ``"min-max"`` (default) to
            0 for the lowest and 1 for the highest, ``"max"``, ``"sum"``, ``"zmuv"`` or ``"rank"``. As in ranx,
            ``"min-max"`` gives 0 to all documents of a list of equal scores.

    Returns:
        Pool: the documents, those of the highest score first; ``priority`` is the fused score. :meth:`Pool.without`
            does not fuse again.

    Raises:
        InputError: an unknown method, an option that the method does not have, and as :func:`take_pool`.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d2"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True)
        >>> ptr.pools.fusion_pool(runs, n=2).to_frame()[["qid", "docno", "rank", "priority"]].round(4)
          qid docno  rank  priority
        0   1    d2     2    0.0323
        1   1    d3     1    0.0164

    Source: Cormack, Clarke and Büttcher 2009 (RRF); Bailey, Moffat, Scholer and Thomas 2017 (RBC); Fox and Shaw 1994
    (CombSUM, CombMNZ); Aslam and Montague 2001 (Borda); Moffat, Webber and Zobel 2007 (RBP as an order of pools).
    """
    fusion = Fusion.of(method, k=k, p=p, norm=norm)
    return _best_pool(runs, n, per, fusion, depth=depth, contributors=contributors, order=order)
