"""Who was pooled: which runs must have contributed to the pool behind a set of judgments, and to which depth."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import InputError, count, examples, positive
from pt_reuse._result import Result
from pt_reuse.engine import tokens
from pt_reuse.pooling.judged_ranks import JudgedRanks, RankedTopic, Settled
from pt_reuse.qrels import Qrels, as_qrels
from pt_reuse.runs import RunSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what speaks for a run, from proof to none
EVIDENCE = ("needed", "needed together", "covered", "not pooled", "no documents")
#: where a judged document that the pool does not have comes from
ORIGINS = ("contributor, deeper", "other run", "no run")
_NEARLY, _MOST = 0.95, 0.5  # share of the judgments explained


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InferredPool(Result):
    """Which runs must have been pooled, and to which depth, as far as the judgments tell.

    Attributes:
        table: one row per run, in field order: ``name team type``; ``pooled``, what the RunSet says;
            ``contributed``, what was inferred; ``evidence``, one of

            - ``needed``: judged documents in the pool that no other run in it has;
            - ``needed together``: documents that none of the needed runs has, but several others: at least one run
              of each ``group`` (numbered from 1) contributed, the judgments do not tell which;
            - ``covered``: judged as deep, but the runs above explain all its documents: pooled or judged by accident;
            - ``not pooled``: unjudged documents down to the depth, more than tolerated, or more than the judged ones
              that it alone would explain;
            - ``no documents``: it retrieves nothing for these topics;

            ``judged_to``, the largest depth to which it is judged; ``entries`` and ``missing``, its documents down to
            the depth and how many of them are unjudged; ``first_missing``, its best rank with an unjudged document;
            ``alone`` and ``alone_unjudged``, judged and unjudged documents down to the depth that no other pooled run
            has; ``nearest``, the contributor with most of its documents, and ``common``, their share.
        by_topic: one row per topic: ``qid``; ``depth``, the one used; ``own_depth``, at which the pool of these runs
            fits this topic best; ``judged`` documents and how many are ``explained``; of the others those that a pooled
            run has below the depth (``deeper``), that only other runs have (``other``), that no run has (``nowhere``);
            ``unjudged``, documents in the pool without judgment.
        by_rank: one row per rank: documents of the pooled runs there (``entries``) and the share of them that is
            ``judged``; the same of all other runs (``other_entries``, ``other_judged``); the documents that no pooled
            run has at a better rank (``new``) and the share of them that is judged (``new_judged``): the latter falls
            at the depth of a pool. NaN where there is none.
        unexplained: the judged documents that are not in the pool: ``qid docno label``, ``origin`` (``"contributor,
            deeper"``, ``"other run"``, ``"no run"``), ``best_rank`` and ``best_run``, who retrieves it best.
        confusion: the record against the inference: runs by ``pooled`` and evidence.
        summary: the numbers behind the headline, one row: ``judged explained deeper other nowhere``; ``unjudged`` in
            the pool; ``at_depth`` and ``below``, the share of the pooled runs' documents that is judged at the depth
            and one rank below, and ``new_at_depth``, ``new_below``, the same of documents that are new there;
            ``depth_up_to``, the largest depth for all topics that fits as well.
        depth: the depth, None when topics differ; 0 when no pool was found.
        contributors: the runs that are needed, alone or together.
        certainty: how far the pool explains the judgments, in words.
    """

    title: ClassVar[str] = "Inferred pool"

    by_topic: pd.DataFrame
    by_rank: pd.DataFrame
    unexplained: pd.DataFrame
    confusion: pd.DataFrame
    summary: pd.DataFrame
    depth: int | None
    contributors: list[str]
    certainty: str

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table, "by_topic": self.by_topic, "by_rank": self.by_rank, "unexplained": self.unexplained,
            "confusion": self.confusion, "summary": self.summary,
        }  # fmt: skip

    def headline(self) -> str:
        """Return depth, contributors and what they explain."""
        row = self.summary.iloc[0]
        explained = f"{int(row['explained']):,} of {count(int(row['judged']), 'judgment')} explained"
        if self.depth == 0:
            return f"no pool found, {explained}"
        covered = int((self.table["evidence"] == "covered").sum())
        more = f" ({covered:,} more {'is' if covered == 1 else 'are'} judged as deep)" if covered else ""
        runs = f"{len(self.contributors):,} of {count(len(self.table), 'run')} contributed{more}"
        return f"{_depths_in_words(self.by_topic)}, {runs}, {explained}"

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the share of judged documents by rank, of the pooled and of all other runs; see plots.inference."""
        from pt_reuse.plots.inference import plot_judged_by_rank

        return plot_judged_by_rank(self.by_rank, self.by_topic, ax=ax)


def infer_pool(runs: RunSet, qrels: Any, *, depth: int | str | None = None, tolerance: float = 0.0) -> InferredPool:
    """Say which runs must have contributed to the pool behind a set of judgments, and to which depth.

    A run *is judged to depth k* when all its first k documents of every topic are judged. For each k, the runs judged
    to k pool their first k documents; the depth is the k whose pool differs least from the judged set, the smallest
    of several. Every pair of topic and document with any label counts as judged, -1 (pooled, not judged) too.

    Args:
        runs: the field; the more of the submitted runs, the surer the answer. Its order decides who is at rank k.
        qrels: the judgments: a Qrels, a frame or a file; its topics are used.
        depth: None (default) finds one depth for all topics; ``"topic"`` one for each topic, for pools that were
            made as deep as a topic's budget allowed; a whole number is taken as it is.
        tolerance: share of a run's documents down to the depth that may be unjudged, at least 0 (default, strict) and
            below 1; for collections whose documents were dropped or renamed after pooling. A run that alone brings
            more unjudged than judged documents is not taken as pooled all the same.

    Returns:
        InferredPool: ``.depth``, ``.contributors`` (for ``runs.with_metadata(pooled=...)``), ``.certainty``,
        ``.table``, ``.by_topic``, ``.by_rank``, ``.unexplained``, ``.confusion``, ``.plot()``.

    Raises:
        InputError: no judgments, no topic in common, a depth or tolerance out of range.

    Example:
        >>> import pt_reuse as ptr
        >>> from pt_reuse.pooling.inference import infer_pool
        >>> field = ptr.simulate_field(seed=7)
        >>> found = infer_pool(field.runs, field.qrels)
        >>> found.depth, len(found.contributors), len(found.unexplained)
        (10, 16, 0)
        >>> found.confusion["needed"].tolist()
        [16, 0]

    Source: the record of TREC-8 ad hoc, which this gives back: depth 100, 71 of 129 runs, all 86,830 judgments.
    """
    function = "infer_pool"
    if not isinstance(runs, RunSet):
        swapped = " The runs come first, then the qrels." if isinstance(qrels, RunSet) else ""
        raise InputError(
            f"{function}: runs must be a RunSet (read_runs makes one), got {type(runs).__name__}.{swapped}"
        )
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= tolerance < 1:
        raise InputError(f"{function}: tolerance must be a share, at least 0 and below 1, got {tolerance!r}.")
    if isinstance(depth, str) and depth != "topic":
        raise InputError(f"{function}: depth must be None, 'topic' or a whole number, got {depth!r}.")
    if depth is not None and not isinstance(depth, str):
        depth = positive(function, "depth", depth, "documents per run and topic")
    qrels = as_qrels(qrels, function)
    _check_overlap(runs, qrels, function)

    ranks = JudgedRanks(runs, qrels, float(tolerance))
    if depth is None:
        settled = ranks.common_depth()
    elif depth == "topic":
        settled = ranks.own_depths()
    else:
        settled = ranks.settle(np.full(len(ranks.topics), depth, dtype=np.int64), int(depth))
    evidence, group = _evidence(settled, ranks.lengths > 0)
    table = _table(runs, ranks, settled, evidence, group)
    unexplained = _unexplained(runs, qrels, ranks, settled)
    by_topic = _by_topic(qrels, ranks, settled, unexplained)
    used = by_topic["depth"][[topic is not None for topic in ranks.topics]]
    summary = _summary(ranks, settled, by_topic)
    better = ranks.own_depths() if depth is None and settled.difference else settled
    how = {None: "inferred", "topic": "inferred for each topic"}.get(depth, "given")
    return InferredPool(
        table=table, by_topic=by_topic, by_rank=_by_rank(ranks, settled.runs), unexplained=unexplained,
        summary=summary, contributors=table["name"][table["contributed"]].tolist(),
        confusion=_confusion(table), depth=int(used.iloc[0]) if len(set(used)) == 1 else None,
        certainty=_certainty(summary, settled, better),
        settings={
            "depth": _depths_in_words(by_topic).removeprefix("depth ") + f" ({how})", "tolerance": float(tolerance),
            "order": runs.order, "topics": len(qrels.topics), "judged": "any label",
        },
    )  # fmt: skip


def _check_overlap(runs: RunSet, qrels: Qrels, function: str) -> None:
    if not len(qrels):
        raise InputError(f"{function}: the qrels hold no judgments, so there is no pool to infer.")
    if not set(runs.topics) & set(qrels.topics):
        raise InputError(
            f"{function}: the runs and the qrels have no topic in common: runs {examples(runs.topics)}; "
            f"qrels {examples(qrels.topics)}. Are they of the same track, and are the topic ids written alike?"
        )


def _evidence(settled: Settled, has_documents: NDArray[np.bool_]) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    # (runs,) what speaks for each run; (runs,) number of its group of runs needed together, 0 for none
    tops, pooled = settled.tops, settled.runs
    needed = pooled & (tops.alone(pooled)[0] > 0)
    open_docs = tops.judged & (tops.times(pooled) > 0) & (tops.times(needed) == 0)
    of_open = open_docs[tops.doc] & pooled[tops.run]
    run, doc = tops.run[of_open], tops.doc[of_open]
    together = np.zeros(len(pooled), dtype=bool)
    together[run] = True
    # runs that share a document are one group: the smallest run number spreads until nothing changes
    label, before = np.arange(len(pooled)), None
    while before is None or (label != before).any():
        before = label.copy()
        least = np.full(len(tops.row), len(pooled))
        np.minimum.at(least, doc, label[run])
        np.minimum.at(label, run, least[doc])
    group = np.zeros(len(pooled), dtype=np.int64)
    group[together] = np.unique(label[together], return_inverse=True)[1] + 1
    evidence = np.select([needed, together, pooled, has_documents], list(EVIDENCE[:4]), default=EVIDENCE[4]).astype(
        object
    )
    return evidence, group


def _table(
    runs: RunSet, ranks: JudgedRanks, settled: Settled, evidence: NDArray[np.object_], group: NDArray[np.int64]
) -> pd.DataFrame:
    tops = settled.tops
    contributed = np.isin(evidence, EVIDENCE[:2])
    alone, alone_unjudged = tops.alone(settled.runs)
    names = np.array(runs.names, dtype=object)
    nearest, common = np.full(len(runs), None, dtype=object), np.full(len(runs), np.nan)
    shared = tops.in_common(contributed)
    shared[np.flatnonzero(contributed), np.arange(int(contributed.sum()))] = 0  # a run is not its own nearest
    some = shared.max(axis=1, initial=0) > 0
    if some.any():
        nearest[some] = names[contributed][shared[some].argmax(axis=1)]
        common[some] = shared[some].max(axis=1) / tops.entries[some]
    # lists differ in length: the first unjudged rank of a run is where its count of missing documents leaves 0
    first = (ranks.missing == 0).sum(axis=1)
    return runs.table[["name", "team", "type", "pooled"]].assign(
        contributed=contributed, evidence=pd.Series(evidence, dtype=object),
        group=pd.Series(group, dtype="Int64").mask(group == 0), judged_to=ranks.judged_to, entries=tops.entries,
        missing=tops.missing, first_missing=pd.Series(first, dtype="Int64").mask(first > ranks.longest),
        alone=alone, alone_unjudged=alone_unjudged, nearest=pd.Series(nearest, dtype=object), common=common,
    )  # fmt: skip


def _unexplained(runs: RunSet, qrels: Qrels, ranks: JudgedRanks, settled: Settled) -> pd.DataFrame:
    tops, judgments = settled.tops, qrels.judgments
    explained = np.zeros(len(qrels), dtype=bool)
    explained[tops.row[tops.judged & (tops.times(settled.runs) > 0)]] = True
    best_rank, best_run = np.zeros(len(qrels), dtype=np.int64), np.full(len(qrels), -1, dtype=np.int64)
    deeper = np.zeros(len(qrels), dtype=bool)
    every = np.ones(len(runs), dtype=bool)
    for topic in ranks.topics:
        if topic is not None:
            of = topic.row[:-1][topic.judged]
            rank, run = topic.best(every)
            best_rank[of], best_run[of] = rank[topic.judged], run[topic.judged]
            deeper[of] = topic.best(settled.runs)[0][topic.judged] > 0
    rows = np.flatnonzero(~explained)
    origin = np.select([deeper[rows], best_run[rows] >= 0], list(ORIGINS[:2]), default=ORIGINS[2])
    topic_of = np.searchsorted(judgments.starts, rows, side="right") - 1
    docnos = tokens.decode(tokens.as_tokens(judgments.docs[rows]))
    return pd.DataFrame({
        "qid": np.array(judgments.topics, dtype=object)[topic_of], "docno": pd.Series(docnos, dtype=object),
        "label": judgments.labels[rows].astype(np.int64), "origin": origin.astype(object),
        "best_rank": pd.Series(best_rank[rows], dtype="Int64").mask(best_rank[rows] == 0),
        "best_run": pd.Series(np.array([*runs.names, None], dtype=object)[best_run[rows]], dtype=object),
    })  # fmt: skip


def _by_topic(qrels: Qrels, ranks: JudgedRanks, settled: Settled, unexplained: pd.DataFrame) -> pd.DataFrame:
    tops, topics = settled.tops, qrels.topics
    pool = tops.times(settled.runs) > 0
    topic_of = np.repeat(np.arange(len(topics)), np.diff(tops.doc_starts))
    unjudged = np.bincount(topic_of[pool & ~tops.judged], minlength=len(topics))
    judged = np.diff(qrels.judgments.starts)
    left = pd.crosstab(unexplained["qid"], unexplained["origin"]).reindex(index=topics, columns=ORIGINS, fill_value=0)
    deeper, other, nowhere = left.to_numpy(dtype=np.int64).T
    return pd.DataFrame({
        "qid": topics, "depth": settled.depths, "own_depth": ranks.topic_depths(settled.runs), "judged": judged,
        "explained": judged - deeper - other - nowhere, "deeper": deeper, "other": other, "nowhere": nowhere,
        "unjudged": unjudged,
    })  # fmt: skip


def _by_rank(ranks: JudgedRanks, pooled: NDArray[np.bool_]) -> pd.DataFrame:
    entries, missing = np.diff(ranks.entries, axis=1), np.diff(ranks.missing, axis=1)
    new, new_judged = np.zeros((2, ranks.longest + 1), dtype=np.int64)
    for topic in ranks.topics:
        if topic is not None:
            rank = topic.best(pooled)[0]
            new += np.bincount(rank, minlength=ranks.longest + 1)
            new_judged += np.bincount(rank[topic.judged], minlength=ranks.longest + 1)
    mine, others = entries[pooled].sum(axis=0), entries[~pooled].sum(axis=0)
    return pd.DataFrame({
        "rank": np.arange(1, ranks.longest + 1),
        "entries": mine, "judged": _share(mine - missing[pooled].sum(axis=0), mine),
        "other_entries": others, "other_judged": _share(others - missing[~pooled].sum(axis=0), others),
        "new": new[1:], "new_judged": _share(new_judged[1:], new[1:]),
    })  # fmt: skip


def _summary(ranks: JudgedRanks, settled: Settled, by_topic: pd.DataFrame) -> pd.DataFrame:
    totals = {name: int(by_topic[name].sum()) for name in ("judged", "explained", "deeper", "other", "nowhere")}
    edges = np.zeros((2, 4), dtype=np.int64)
    for topic, depth in zip(ranks.topics, settled.depths.tolist(), strict=True):
        if topic is not None and depth > 0:
            edges += [_at_rank(topic, settled.runs, depth), _at_rank(topic, settled.runs, depth + 1)]
    (at, at_judged, new_at, new_at_judged), (below, below_judged, new, new_judged) = edges.tolist()
    return pd.DataFrame([{
        **totals, "unjudged": int(by_topic["unjudged"].sum()),
        "at_depth": at_judged / at if at else np.nan, "below": below_judged / below if below else np.nan,
        "new_at_depth": new_at_judged / new_at if new_at else np.nan, "new_below": new_judged / new if new else np.nan,
        "depth_up_to": settled.up_to,
    }])  # fmt: skip


def _at_rank(topic: RankedTopic, pooled: NDArray[np.bool_], rank: int) -> list[int]:
    # documents of the pooled runs at a rank, how many are judged, and the same of the documents first met there
    docs = topic.docs[pooled, rank - 1 : rank]
    docs = docs[docs >= 0]
    new = topic.best(pooled)[0] == rank
    return [len(docs), int(topic.judged[docs].sum()), int(new.sum()), int((new & topic.judged).sum())]


def _confusion(table: pd.DataFrame) -> pd.DataFrame:
    found = pd.crosstab(table["pooled"].astype(bool), table["evidence"])
    return found.reindex(index=[True, False], columns=EVIDENCE, fill_value=0).rename_axis(columns=None).reset_index()


def _certainty(summary: pd.DataFrame, settled: Settled, better: Settled) -> str:
    row = summary.iloc[0]
    judged, explained, unjudged = int(row["judged"]), int(row["explained"]), int(row["unjudged"])
    if not settled.runs.any():
        where = f"to depth {int(settled.depths.max())}" if settled.depths.any() else "to any depth"
        words = (
            f"none: no run is judged closely enough {where}. The judgments are a sample, or of other runs, or "
            "documents were dropped or renamed after pooling (try a tolerance)."
        )
    elif explained == judged and not unjudged:
        words = "exact: the pool of these runs is the judged set."
    else:
        share = explained / judged
        word = "nearly exact" if share >= _NEARLY else "most" if share >= _MOST else "partial"
        words = f"{word}: these runs explain {share:.1%} of the judgments"
        words += f", and {count(unjudged, 'document')} in their pool lack a judgment" if unjudged else ""
        words += (
            "; the rest has another origin, or some pooled runs are not in the field or not recognised."
            if explained < judged
            else "."
        )
    if better.difference < settled.difference:
        low, high = _range(better.depths)
        words += f" With a depth for each topic ({low} to {high}) a pool fits better: depth='topic'."
    return words


def _range(depths: NDArray[np.int64]) -> tuple[int, int]:
    used = depths[depths > 0]
    return int(used.min(initial=int(used.max(initial=0)))), int(used.max(initial=0))


def _depths_in_words(by_topic: pd.DataFrame) -> str:
    low, high = _range(by_topic["depth"].to_numpy())
    return f"depth {high}" if low == high else f"depth {low} to {high} by topic"


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
