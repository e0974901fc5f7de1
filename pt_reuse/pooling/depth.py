"""Pools by rank: what is taken of each topic, depth-k pools, the best n documents of a topic, and fusions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, choice, count, did_you_mean, examples, positive, shown, whole
from pt_reuse.arrays import tokens
from pt_reuse.arrays.fusion import Fusion, TopicRows
from pt_reuse.arrays.lists import TopicDocs, offsets
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import TOPICS, Arrays, ArrayWork, cut_where, parts_of, run_topics, topics_array
from pt_reuse.errors import InputError, warn
from pt_reuse.options import described
from pt_reuse.pooling.pool import Contributions, Contributors, Pool, contributors_of


@dataclass(frozen=True)
class Taken:
    """What a strategy took of one topic of a field."""

    codes: NDArray[Any]  # (documents,) codes of the documents it took, local to the topic, each once, in its order
    code: NDArray[Any]  # (rows,) which documents runs have; those it did not take do not count
    run: NDArray[np.int32]  # (rows,) the run of each row, as a row of the field, each once per document
    rank: NDArray[np.int32]  # (rows,) the rank, from 1, at which the run has the document
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def pool_of(
    runs: RunSet, taken: Iterable[Taken], *, strategy: str, contributors: Contributors, settings: Mapping[str, Any]
) -> Pool:
    """Return the pool of what a strategy took, its documents in that order, with the contributing runs."""
    columns: dict[str, list[NDArray[Any]]] = {}

    def noted() -> Iterator[Taken]:
        for topic in taken:
            for name, values in topic.columns.items():
                columns.setdefault(name, []).append(values)
            yield topic

    piece = piece_of(runs.field, range(runs.field.n_topics), contributors.runs, noted())
    n_rows = len(piece["run"])
    pool = pool_of_pieces(runs, [piece], n_rows, strategy=strategy, contributors=contributors, settings=settings)
    if columns:
        pool.columns = pd.DataFrame({name: np.concatenate(parts) for name, parts in columns.items()})
    return pool


def piece_of(field: AnyField, topics: Sequence[int], contributors: NDArray[np.bool_], taken: Iterable[Taken]) -> Arrays:
    """Return the documents of some topics, rows of the field, with the contributing (runs,) that have them, as arrays.

    ``size`` (topics,), how many documents each has; ``words`` (documents, k), their names; ``runs`` (documents,), how
    many contributing runs have each; ``run`` and ``rank``, which these are, among them, and at which ranks.
    """
    place = np.zeros(field.n_runs, dtype=np.int32)
    place[contributors] = np.arange(int(contributors.sum()))
    nothing = np.zeros(0, dtype=np.int32)
    words: list[Words] = [np.zeros((0, 1), dtype="<u8")]
    sizes: list[NDArray[Any]] = [nothing]
    run: list[NDArray[np.int32]] = [nothing]
    rank: list[NDArray[np.int32]] = [nothing]
    for t, topic in zip(topics, taken, strict=True):
        n_docs = field.n_docs(t)
        # numpy sorts numbers of 16 bits several times as fast
        at = np.zeros(n_docs, dtype=np.uint16 if n_docs < 2**16 - 1 else np.uint32)
        at[topic.codes] = np.arange(1, len(topic.codes) + 1)
        at_row = at[topic.code] * contributors[topic.run]  # 0 is no document of the pool
        of_place = np.bincount(at_row, minlength=len(topic.codes) + 1)
        order = np.argsort(at_row, kind="stable")[of_place[0] :]
        words.append(field.words_at(t).take(topic.codes, axis=0))
        sizes.append(of_place[1:])
        run.append(place[topic.run[order]])
        rank.append(topic.rank[order])
    return {
        "size": np.array([len(part) for part in words[1:]], dtype=np.int64),
        "words": tokens.stacked(words),
        "runs": np.concatenate(sizes).astype(np.int64),
        "run": np.concatenate(run),
        "rank": np.concatenate(rank),
    }


def pool_of_pieces(
    runs: RunSet,
    pieces: Iterable[Arrays],
    n_rows: int,
    *,
    strategy: str,
    contributors: Contributors,
    settings: Mapping[str, Any],
) -> Pool:
    """Return the pool of the documents of all topics, see :func:`pool_of`."""
    run = np.empty(n_rows, dtype=np.min_scalar_type(max(int(contributors.runs.sum()) - 1, 0)))
    rank = np.empty(n_rows, dtype=np.min_scalar_type(int(runs.field.lengths.max(initial=0))))
    words: list[Words] = [np.zeros((0, 1), dtype="<u8")]
    size: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    n_runs, end = list(size), 0
    for piece in pieces:
        rows = slice(end, end := end + len(piece["run"]))
        run[rows], rank[rows] = piece["run"], piece["rank"]
        words.append(piece["words"])
        size.append(piece["size"])
        n_runs.append(piece["runs"])
        # before the next one takes memory
        del piece
    shared = {"contributors": contributors.rule.value, **runs.settings}
    return Pool(
        TopicDocs(runs.field.topics, offsets(np.concatenate(size)), tokens.stacked(words)),
        Contributions(offsets(np.concatenate(n_runs)), run, rank),
        run_table=runs.run_table.iloc[np.flatnonzero(contributors.runs)],
        contributors=contributors,
        order=runs.order,
        strategy=strategy,
        settings={
            "strategy": strategy,
            **settings,
            **shared,
            **({"pooled": contributors.note} if contributors.note else {}),
        },
    )


@dataclass(frozen=True)
class Pooled:
    """The depth-k pool of one topic."""

    docs: NDArray[np.int64]  # (documents,) codes local to the topic, each once, ascending
    best_rank: NDArray[np.int64]  # (documents,) of each, over the runs
    code: NDArray[Any]  # (rows,) the document that a run has, as a code
    rows: TopicRows  # the same rows with documents numbered as in `docs`, and scores

    @classmethod
    def of(cls, coded: AnyField, t: int, depth: int, runs: NDArray[np.bool_]) -> Pooled:
        """Return the pool of a topic of a field: the first `depth` documents of the (runs,) that are chosen."""
        block, here = coded.of(t)
        at, run, rank = block.top_rows(here, depth, runs)
        code = block.codes[at]
        docs, number = np.unique(code, return_inverse=True)
        best = np.full(len(docs), np.iinfo(np.int64).max)
        np.minimum.at(best, number, rank)
        return cls(docs.astype(np.int64), best, code, TopicRows(number, run, rank, block.scores[at], len(docs)))

    def in_order(self, coded: AnyField, t: int, keys: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """Return (documents,) the positions in `docs`, in order: the one place that says how ties are broken."""
        words = coded.words_at(t).take(self.docs, axis=0)
        by_name: list[NDArray[Any]] = list(tokens.descending(words))
        return np.lexsort([*by_name, *reversed(keys)])

    def taken(self, codes: NDArray[np.int64], columns: Mapping[str, NDArray[Any]]) -> Taken:
        return Taken(codes, self.code, self.rows.run.astype(np.int32), self.rows.rank.astype(np.int32), columns)


@dataclass(frozen=True)
class Candidates:
    """The documents of one topic, the one to take first first; keys and columns are (documents,) each."""

    codes: NDArray[np.int64]
    keys: Sequence[NDArray[Any]]
    pool: Pooled
    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def ordered(
        cls, coded: AnyField, t: int, pool: Pooled, keys: Sequence[NDArray[Any]], **columns: NDArray[Any]
    ) -> Candidates:
        """Return the pool of topic `t` in the order of some keys; keys and columns are those of ``pool.docs``."""
        order = pool.in_order(coded, t, keys)
        ordered = {name: values[order] for name, values in columns.items()}
        return cls(pool.docs[order], [key[order] for key in keys], pool, ordered)

    def place_among_equals(self) -> NDArray[np.int64]:
        """Return (documents,): how many documents of the same keys come before each."""
        here = np.arange(len(self.codes))
        new = np.ones(len(here), dtype=bool)
        new[1:] = np.any([key[1:] != key[:-1] for key in self.keys], axis=0)
        return here - np.maximum.accumulate(np.where(new, here, 0))


def cut(topics: Sequence[Candidates], n: int, per: str) -> Iterator[Taken]:
    """Yield what is taken of each topic, `n` documents of each ``"topic"`` or of ``"all"``."""
    sizes = [n] * len(topics)
    if per == "all" and topics:
        topic = np.repeat(np.arange(len(topics)), [len(one.codes) for one in topics])
        keys = [np.concatenate(of_topics) for of_topics in zip(*(one.keys for one in topics), strict=True)]
        place = np.concatenate([one.place_among_equals() for one in topics])
        chosen = np.lexsort([topic, place, *reversed(keys)])[:n]
        sizes = np.bincount(topic[chosen], minlength=len(topics)).tolist()
    for one, size in zip(topics, sizes, strict=True):
        yield one.pool.taken(one.codes[:size], {name: values[:size] for name, values in one.columns.items()})


#: of a run or topic that has no depth of its own
_NONE = int(np.iinfo(np.int64).max)


def _own_depths(argument: str, given: Any, known: Sequence[str], noun: str) -> NDArray[np.int64]:
    """Return (known,): the depth that a user gives each run or topic, `_NONE` where there is none."""
    own = np.full(len(known), _NONE, dtype=np.int64)
    if not isinstance(given, Mapping | None):
        raise InputError(f"{argument} must map each {noun} to its depth, got {shown(given)}.", argument=argument)
    place = {name: i for i, name in enumerate(known)}
    for name, depth in (given or {}).items():
        if name not in place:
            hint = did_you_mean(name, known) or f" There is {examples(known)}."
            raise InputError(
                f"{argument} names {shown(name)}, not among the {count(len(known), noun)}.{hint}", argument=argument
            )
        own[place[name]] = checked_depth(depth, f"{argument}[{name!r}]")
    return own


def _warn_of_idle(runs: RunSet, of_run: NDArray[np.int64], contributors: Contributors) -> None:
    idle = np.flatnonzero((of_run < _NONE) & ~contributors.runs)
    if len(idle):
        warn(
            f"depth_by_run has depths of {count(len(idle), 'run')} not among the contributors, of which nothing is "
            f"taken ({examples([runs.names[row] for row in idle.tolist()])}). contributors says who contributes."
        )


def _on_topics(common: int, of_run: NDArray[np.int64], of_topic: NDArray[np.int64]) -> list[int | NDArray[np.int64]]:
    """Return for each topic the depth of its runs: one for all, or (runs,) of each its own."""
    if (of_run == _NONE).all():
        return list(np.where(of_topic == _NONE, common, of_topic).tolist())
    smaller = [np.minimum(of_run, depth) for depth in of_topic]
    return [np.where(depths == _NONE, common, depths) for depths in smaller]


def _in_words(own: NDArray[np.int64], noun: str) -> str:
    """Return how many have a depth of their own, and which depths: ``2 runs: 10 to 50``."""
    depths = own[own < _NONE]
    low, high = int(depths.min()), int(depths.max())
    return f"{count(len(depths), noun)}: {low:,}" + (f" to {high:,}" if high > low else "")


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
    _warn_of_idle(runs, of_run, chosen)
    own = {"depth_by_run": (of_run, "run"), "depth_by_topic": (of_topic, "topic")}
    words = {name: _in_words(depths, noun) for name, (depths, noun) in own.items() if (depths < _NONE).any()}
    depths = _on_topics(common, of_run, of_topic)
    return _pool_to(runs.in_pool_order(order), depths, chosen, {"depth": common, **words}, n_jobs=jobs)


#: to which depth most TREC tracks pooled
USUAL_DEPTH = 100


class DepthFrom(Enum):
    """Who says to which depth runs are pooled."""

    CALL = "the call"
    FIELD = "the field"
    DEFAULT = "the default"


@dataclass(frozen=True)
class PoolDepth:
    """To which depth runs are pooled, in documents per run and topic, and who says so."""

    value: int
    origin: DepthFrom


def depth_of(runs: RunSet, depth: int | None) -> PoolDepth:
    """Return the user's ``depth=``, else the one that the field knows of itself, else the usual one."""
    if depth is not None:
        return PoolDepth(checked_depth(depth), DepthFrom.CALL)
    if runs.pool_depth is not None:
        return PoolDepth(runs.pool_depth, DepthFrom.FIELD)
    return PoolDepth(USUAL_DEPTH, DepthFrom.DEFAULT)


def check_pooling(depth: Any, order: Any) -> None:
    """Raise, before runs are read, where a user's ``depth=`` or ``order=`` is none; None leaves it to the field."""
    if depth is not None:
        checked_depth(depth)
    check_order_or_none("order", order)


def checked_depth(depth: Any, argument: str = "depth") -> int:
    """Return a user's ``depth=`` as an int, or say that it is no depth of a pool."""
    return positive(argument, depth, "documents per run and topic")


def pool_to_depth(ranked: RunSet, depth: int, contributors: Contributors) -> Pool:
    """Pool the top documents of the contributing runs, in the order in which the field stands."""
    return _pool_to(ranked, [depth] * ranked.field.n_topics, contributors, {"depth": depth}, n_jobs=None)


def _pool_to(
    ranked: RunSet,
    depths: Sequence[int | NDArray[np.int64]],
    contributors: Contributors,
    settings: Mapping[str, Any],
    *,
    n_jobs: int | None,
) -> Pool:
    work = DepthPooling(ranked.field, ranked.field.topics, depths, contributors.runs)
    pieces = run_topics(work, ranked.field, n_jobs=n_jobs, desc="pooling")
    return pool_of_pieces(
        ranked, pieces, sum(work.n_rows()), strategy="depth", contributors=contributors, settings=settings
    )


class DepthPooling(ArrayWork):
    """Taking the top documents, topic by topic, of the contributing (runs,); a depth is one number or (runs,)."""

    def __init__(
        self,
        field: AnyField,
        topics: Sequence[str],
        depths: Sequence[int | NDArray[np.int64]],
        contributors: NDArray[np.bool_],
    ):
        self.field, self.topics, self.depths, self.contributors = field, topics, depths, contributors

    def _rows(self, topics: range) -> list[int]:
        return [self.field.topic_row[self.topics[t]] for t in topics]

    def n_rows(self) -> list[int]:
        """Return of each topic how many rows the contributing runs have down to its depth."""
        rows = self._rows(range(len(self.topics)))
        return [
            int(np.minimum(self.field.lengths[row], depth)[self.contributors].sum())
            for row, depth in zip(rows, self.depths, strict=True)
        ]

    def cut(self, at_once: int) -> list[range]:
        return cut_where(self.n_rows(), parts_of(self.field, self._rows(range(len(self.topics)))), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        rows = self._rows(topics)
        return {TOPICS: topics_array(topics), **piece_of(self.field, rows, self.contributors, self._tops(topics, rows))}

    def _tops(self, topics: range, rows: Sequence[int]) -> Iterator[Taken]:
        for t, row in zip(topics, rows, strict=True):
            code, run, rank = self.field.top(row, self.depths[t], self.contributors)
            taken = np.zeros(self.field.n_docs(row), dtype=bool)
            taken[code] = True
            yield Taken(np.flatnonzero(taken), code, run, rank)

    def joined(self, parts: Sequence[Arrays]) -> Arrays:
        width = max(part["words"].shape[1] for part in parts)
        return super().joined([{**part, "words": tokens.widen(part["words"], width)} for part in parts])

    def of_topics(self, topics: range, field: AnyField) -> DepthPooling:
        mine = slice(topics.start, topics.stop)
        return DepthPooling(field, self.topics[mine], self.depths[mine], self.contributors)


def _best_pool(
    runs: Any,
    n: int,
    per: str,
    scoring: tuple[str, dict[str, Any], Callable[[Pooled], tuple[list[NDArray[Any]], dict[str, NDArray[Any]]]]],
    *,
    depth: int | None,
    contributors: str | Iterable[str],
    order: str | None,
) -> Pool:
    """Return the best documents; `scoring` is a name, settings, and what gives the keys and columns of a topic."""
    size, per = checked_size(n, per)
    check_pooling(depth, order)
    strategy, own, keys_of = scoring
    runs = as_runs(runs)
    common = depth_of(runs, depth).value
    chosen = contributors_of(runs, contributors)
    ranked = runs.in_pool_order(order)
    topics = []
    for t in range(ranked.field.n_topics):
        pool = Pooled.of(ranked.field, t, common, chosen.runs)
        keys, columns = keys_of(pool)
        topics.append(Candidates.ordered(ranked.field, t, pool, keys, **columns))
    settings = {**own, "n": size, "per": per, "depth": common}
    return pool_of(ranked, cut(topics, size, per), strategy=strategy, contributors=chosen, settings=settings)


def checked_size(n: Any, per: Any) -> tuple[int, str]:
    """Return a user's ``n=`` and ``per=``, or say what is wrong with them."""
    return whole("n", n, "documents", least=0), choice("per", per, ("topic", "all"))


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

    The documents of a topic are ordered by their best rank in a contributing run, then by descending name (in the order
    of bytes), as trec_eval orders ties. With ``per="all"``, documents of equal best rank are taken from all topics in
    turn: the first of each topic, then the second of each, topics in natural order.

    Args:
        n: how many documents to take, 0 or more. If the depth-k pool has fewer, all are taken; with 0 the pool is empty
            and has the topics of the runs.
        per: ``"topic"`` (default) takes `n` documents of each topic, ``"all"`` `n` of all topics together.

    Returns:
        Pool: the documents in the order in which they were taken, with the runs that have them within `depth`.
        :meth:`Pool.without` keeps those that other runs have, too; it takes no further ones.

    Raises:
        InputError: a number that is no whole number in range, an unknown run, no contributing run, an order that the
            field does not know.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d1"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True)
        >>> ptr.pools.take_pool(runs, n=2).to_frame()[["qid", "docno", "rank", "runs"]]
          qid docno  rank  runs
        0   1    d3     1     1
        1   1    d1     1     2

    Source: Cormack, Palmer and Clarke 1998, Efficient construction of large test collections, SIGIR; Lipani, Zuccon,
    Lupu, Koopman and Hanbury 2016, The impact of fixed-cost pooling strategies on test collection bias, ICTIR.
    """

    def keys_of(pool: Pooled) -> tuple[list[NDArray[Any]], dict[str, NDArray[Any]]]:
        return [pool.best_rank], {}

    return _best_pool(runs, n, per, ("take", {}, keys_of), depth=depth, contributors=contributors, order=order)


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
    ignored, also in the normalisation of scores. Documents are ordered by fused score, then by best rank, then by
    descending name (in the order of bytes). Fused scores are equal if they agree in 12 digits. With ``per="all"``,
    documents of equal score and best rank are taken from all topics in turn: the first of each topic, then the second
    of each, topics in natural order.

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
        Pool: the documents, those of the highest score first; ``priority`` is the fused score. The runs of a document
            are those that have it within `depth`. :meth:`Pool.without` keeps the documents that other runs have; it
            does not fuse again.

    Raises:
        InputError: an unknown method, an option that the method does not have, a number out of range, an unknown run,
            no contributing run, an order that the field does not know.

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
    (CombSUM, CombMNZ); Aslam and Montague 2001 (Borda). Scores equal those of ranx to 11 digits. As an order of pools:
    Moffat, Webber and Zobel 2007, Strategic system comparisons via targeted relevance judgments, SIGIR (RBP).
    """
    fusion = Fusion.of(method, k=k, p=p, norm=norm)

    def keys_of(pool: Pooled) -> tuple[list[NDArray[Any]], dict[str, NDArray[Any]]]:
        score = fusion.scores(pool.rows)
        return [-fusion.between_topics(score), pool.best_rank], {"priority": score}

    scoring = fusion.method, fusion.options, keys_of
    return _best_pool(runs, n, per, scoring, depth=depth, contributors=contributors, order=order)
