"""What a pool of each depth costs, what it finds, and how the runs rank by its judgments alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._choices import POOL_DEPTHS
from pt_reuse._report import Digits
from pt_reuse.arrays.bootstrap import TopicScores, ranking_agreement, whole_changes
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.rescore import Changes, HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.options import Flag, Parameter
from pt_reuse.plots.lines import plot_pool_costs
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import Contributors, Pool
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import Caveat, few_topics, one_run
from pt_reuse.scoring.measures import MeasureLike, adds_up
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import topics_of_runs
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.judging_rounds import checked_depths
from pt_reuse.studies.relevant_documents import found_none
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


@dataclass(frozen=True)
class PoolSizes:
    """The sizes of the pools of a field at every depth, on the topics of some judgments."""

    rank: NDArray[np.int64]  # (judgments,)
    pooled: NDArray[np.int64]  # (depths,) documents of the pool of depth 1, 2 and so on
    judged: NDArray[np.int64]  # (depths,) how many of these are judged
    relevant: NDArray[np.int64]  # (depths,) how many are relevant
    n_relevant: int  # how many are relevant in all
    n_topics: int  # topics with judgments

    @classmethod
    def of(cls, ranked: RunSet, qrels: Qrels, contributors: Contributors, lowest: int) -> PoolSizes:
        """Count the documents of a field."""
        field, labels = ranked.field, qrels.arrays.labels
        index = HitIndex(field, qrels.arrays.documents)
        longest = max(int(field.lengths[:, contributors.runs].max(initial=1)), 1)
        rank, pooled = np.zeros(len(labels), dtype=np.int64), np.zeros(longest + 1, dtype=np.int64)
        starts = qrels.arrays.documents.starts.tolist()
        for t, rows in zip(index.topics, index.rows_of_codes(index.topics), strict=True):
            if rows is None:
                continue
            code, _, at = field.top(index.field_topic[t], longest, contributors.runs)
            best = np.full(len(rows), longest + 1)
            np.minimum.at(best, code, at)
            found = best <= longest
            # a topic that nobody judged is no part of what pools cost
            if starts[t + 1] > starts[t]:
                pooled += np.bincount(best[found], minlength=longest + 1)
            known = found & (rows >= 0)
            rank[rows[known]] = best[known]
        relevant = labels >= lowest
        of_judged, of_relevant = (
            np.bincount(rank[kept & (rank > 0)], minlength=longest + 1) for kept in (labels >= 0, relevant)
        )
        return cls(
            rank,
            np.cumsum(pooled)[1:],
            np.cumsum(of_judged)[1:],
            np.cumsum(of_relevant)[1:],
            int(relevant.sum()),
            int((np.diff(starts) > 0).sum()),
        )

    def table(self, depths: Sequence[int]) -> pd.DataFrame:
        """Return one row per depth; see ``PoolCosts``."""
        # runs that end before a depth bring all they have
        at = np.minimum(depths, len(self.pooled)) - 1
        documents, judged, relevant = self.pooled[at], self.judged[at], self.relevant[at]
        new, new_relevant = np.diff(documents, prepend=0), np.diff(relevant, prepend=0)
        return pd.DataFrame(
            {
                "depth": depths,
                "documents": documents,
                "per_topic": documents / max(self.n_topics, 1),
                "judged": judged,
                "unjudged": documents - judged,
                "relevant": relevant,
                "share": relevant / self.n_relevant if self.n_relevant else np.nan,
                "new_documents": new,
                "new_relevant": new_relevant,
                "cost": np.divide(new, new_relevant, out=np.full(len(new), np.nan), where=new_relevant > 0),
            }
        )

    def needed(self, shares: Sequence[float]) -> pd.DataFrame:
        """Return for each share of the relevant documents the smallest depth whose pool has it, and its size."""
        wanted = np.ceil(np.round(np.array(shares) * self.n_relevant, 9)).astype(np.int64)
        at = np.searchsorted(self.relevant, wanted)
        missing = (at >= len(self.relevant)) | (wanted == 0)
        at = np.where(missing, 0, at)
        columns = {"depth": at + 1, "documents": self.pooled[at]}
        numbers = {name: pd.Series(values, dtype="Int64").mask(missing) for name, values in columns.items()}
        return pd.DataFrame({"share": list(shares), "relevant": wanted, **numbers})


def pool_on_topics(ranked: RunSet, depth: int, contributors: Contributors, qrels: Qrels) -> Pool:
    """Return the depth-k pool on the topics of the judgments: runs bring topics that nobody chose to judge."""
    pool, topics = pool_to_depth(ranked, depth, contributors), set(qrels.topics)
    known = np.array([topic in topics for topic in pool.documents.topics], dtype=bool)
    return pool.take(np.flatnonzero(known[pool.documents.topic]))


#: the shares of the known relevant documents for which a depth is looked for
SHARES = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
#: the one of them that is told in a line
_MOST = 0.9
#: a larger share of what a depth adds that was never judged is told by a warning
_MOSTLY = 0.5


def _draw_found(result: PoolCosts, _: str, place: Place) -> Axes:
    """Draw the share of the relevant documents that is found over the size of the pool."""
    label = "share of the known relevant documents"
    return plot_pool_costs(result.table, "share", title="What a pool of each depth finds", label=label, place=place)


def _draw_tau(result: PoolCosts, measure: str, place: Place) -> Axes:
    """Draw tau_b of the ranking by each pool to the one by all judgments over the size of the pool."""
    rows = result.agreement[result.agreement["measure"] == measure].merge(result.table[["depth", "documents"]])
    label = f"tau_b by {measure} to all judgments"
    return plot_pool_costs(rows, "tau_b", title="How a pool of each depth ranks", label=label, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PoolCosts(Result):
    """What a pool of each depth costs and finds, and how runs rank by its judgments alone.

    Its figures are over the size of the pool: ``"found"``, the share of the relevant documents that it has, and
    ``"tau_b"``, how its judgments rank the runs.

    Attributes:
        table: one row per depth: ``depth``; ``documents``, the size of the pool; ``per_topic``, of a topic with
            judgments; ``judged unjudged``, how many of them have a judgment or none; ``relevant``, how many are known
            to be relevant, and ``share``, of all that are (NaN where there are none); ``new_documents new_relevant``,
            beyond the depth before; ``cost``, new documents for each new relevant one (NaN where there is none).
        agreement: one row per depth and measure: ``depth measure``, then ``tau_b gamma tau_ap_b max_drop max_rise`` of
            the ranking by the judgments of the pool alone, the truth being that by all judgments; with resamples the
            ends of their intervals, ``tau_b_low tau_b_high`` and so on.
        needed: one row per share of the known relevant documents: ``share relevant`` (how many that are), ``depth``,
            how deep a pool must be to find them, and ``documents``, its size; <NA> where no depth finds them.
        rel: the lowest label that counts as relevant.
    """

    title = "Pool costs"
    condition = (
        "It holds for the judgments given, relevant: {relevant}, and pools of these contributors: {contributors}."
    )
    limit = "It does not say how many relevant documents nobody judged, in these pools or beyond."
    views = {
        "depth": View(
            columns=(
                Shown("Depth", "depth", Digits.COUNT),
                Shown("Documents", "documents", Digits.COUNT),
                Shown("Unjudged", "unjudged", Digits.COUNT),
                Shown("Relevant", "relevant", Digits.COUNT),
                Shown("Share of relevant", "share", Digits.SCORE),
                Shown("New per new relevant", "cost", Digits.TENTHS),
            ),
            caption="What a pool of each depth costs and finds: its documents, those that nobody judged, the relevant "
            "ones, their share of all that are known, and documents beyond the depth before for each further relevant "
            "one.",
            noun="depths",
        ),
        "measure": View(
            table="agreement",
            columns=(
                Shown("Depth", "depth", Digits.COUNT),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("Interval of tau_b", "tau_b", Digits.SCORE, interval=True),
                Shown("tau_AP", "tau_ap_b", Digits.SCORE),
                Shown("Largest drop", "max_drop", Digits.COUNT),
                Shown("Largest rise", "max_rise", Digits.COUNT),
            ),
            caption="The ranking of runs by {measure} with the judgments of a pool alone against the one with all "
            "judgments: correlations, and the most ranks that a run loses or gains.",
            noun="depths",
        ),
        "share": View(
            table="needed",
            columns=(
                Shown("Share", "share", Digits.SHARE),
                Shown("Relevant", "relevant", Digits.COUNT),
                Shown("Depth", "depth", Digits.COUNT),
                Shown("Documents", "documents", Digits.COUNT),
            ),
            caption="How deep a pool must be to find a share of the known relevant documents, and its size.",
            noun="shares",
        ),
    }
    plots = {"found": _draw_found, "tau_b": _draw_tau}
    key = (
        KeyFigures(("depth", "documents"), "_most_found", row=f"for {_MOST:.0%} of the relevant"),
        KeyFigures(("tau_b", "max_drop"), "agreement", row="depth {depth}"),
        KeyFigures(("documents", "unjudged", "share"), row="depth {depth}"),
    )

    agreement: pd.DataFrame
    needed: pd.DataFrame
    rel: int

    def _most_found(self) -> pd.DataFrame:
        return self.needed[self.needed["share"] == _MOST]

    def headline(self) -> str:
        """Return the size of the largest pool, what it finds, and how deep a pool must be to find nine tenths."""
        last = self.table.iloc[-1]
        needed = self.needed.set_index("share").loc[_MOST]
        deep = "no depth finds 90 % of them"
        if pd.notna(needed["depth"]):
            deep = f"depth {needed['depth']:,} ({needed['documents']:,} documents) finds 90 % of them"
        found = "no relevant document is known"
        if pd.notna(last["share"]):
            found = f"{last['relevant']:,.0f} relevant ({last['share']:.0%} of those known), {deep}"
        return f"depth {last['depth']:,.0f}: {last['documents']:,.0f} documents, {found}"


@study(
    Parameter(
        name="depths",
        meaning="of the pools, documents per run and topic; default 1, 2, 5, 10, 20, 50 and 100.",
        check=checked_depths,
        flag=Flag(help="comma-separated pool depths", metavar="LIST", kind="counts"),
    ),
    command=Command(
        name="profile pool-costs",
        summary="what pools of several depths cost and find, and how runs rank by them",
        details="For each depth the judgments are restricted to the pool, and the ranking of all runs is compared "
        "with the one by all judgments.",
    ),
    entry=Entry(question="How deep must a pool be, and what does it cost?", group="pools", papers="[V00]_, [V22b]_"),
)
def pool_costs(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    depths: int | Iterable[int] = POOL_DEPTHS,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    complete: bool = True,
    without_topics: str = "error",
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PoolCosts:
    """Compute what pools of several depths cost and find, and how the runs rank by their judgments alone.

    For each depth the judgments are restricted to the depth-k pool and all runs are scored again; the topic set stays.
    ``.needed`` has the depths at which a pool finds shares of the known relevant documents, down to the end of the
    runs.

    Returns:
        PoolCosts: ``.table`` (per depth), ``.agreement`` (per depth and measure), ``.needed``, ``.plot()``.

    Raises:
        InputError: an invalid depth, an unknown measure or run, runs without any topic of the judgments.

    Warns:
        ReuseWarning: no document is relevant; judgments of relevant documents only; a depth whose additional documents
            are mostly unjudged, so that it would find more than is known; intervals over fewer than five topics. Also a
            field of one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = pool_costs(field.runs, field.qrels, depths=[1, 5, 10])
        >>> found.table[["depth", "documents", "relevant", "new_relevant"]]
           depth  documents  relevant  new_relevant
        0      1        127        89            89
        1      5        450       256           167
        2     10        894       387           131

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR; Zobel 1998,
    SIGIR. On TREC-8 ad hoc (71 contributors) pools of depth 1, 5, 10, 20 and 50 have 1,487, 5,542, 10,134, 19,231 and
    45,584 documents, and tau_b of AP is .7354, .8924, .9133, .9448 and .9847.
    """
    asked = Asked(pool_costs, locals())
    contributing, qrels, parsed, wanted = asked.contributors, asked.qrels, asked.measures, asked["depths"]
    sizes = PoolSizes.of(asked.ranked, qrels, contributing, asked.rel)
    table = sizes.table(wanted)
    asked.tell(
        one_run(len(asked.runs)),
        found_none(qrels, asked.rel),
        _mostly_unjudged(table),
        few_topics(len(qrels.topics)) if asked.bootstrap else (),
    )
    full = np.empty((len(parsed), len(qrels.topics), len(asked.runs)))
    reduced = np.empty((len(wanted), *full.shape))
    for block in rescore(asked.runs, qrels, parsed, _without(qrels, sizes.rank, wanted), **asked.how):
        topics = slice(block.topics.start, block.topics.stop)
        full[:, topics] = reduced[:, :, topics] = block.base
        reduced[block.set, :, block.topic] = block.values.swapaxes(0, 1)
    has, added = None if complete else topics_of_runs(asked.runs, qrels), adds_up(parsed).tolist()
    agreement = []
    for d, depth in enumerate(wanted):
        for m, measure in enumerate(parsed):
            truth, estimate = (TopicScores(values[m], has, added[m]) for values in (full, reduced[d]))
            found = ranking_agreement(truth, estimate, asked.bootstrap)
            agreement.append({"depth": depth, "measure": repr(measure), **found})
    return PoolCosts(
        table=table,
        agreement=whole_changes(pd.DataFrame(agreement)),
        needed=sizes.needed(SHARES),
        rel=asked.rel,
        settings=asked.settings(),
    )


def _mostly_unjudged(table: pd.DataFrame) -> Iterator[Caveat]:
    """Yield a caveat where most of what a depth adds was never judged, so that it finds more than is known."""
    blind = table[table["unjudged"].diff().fillna(table["unjudged"]) > _MOSTLY * table["new_documents"]]
    if blind.empty:
        return
    first, last = blind.iloc[0], table.iloc[-1]
    yield Caveat(
        f"not judged to depth {last['depth']:,.0f}",
        f"from depth {first['depth']:,.0f} on most of what a pool adds was never judged: to depth "
        f"{last['depth']:,.0f} {last['unjudged']:,.0f} of {count(int(last['documents']), 'document')} were not. "
        "There a pool would find more relevant documents than are known, each at a lower cost than is said here.",
    )


def _without(qrels: Qrels, rank: NDArray[np.int64], depths: Sequence[int]) -> Changes:
    """Return the judgments of each depth as what all judgments lose."""
    judged = qrels.arrays.labels >= 0
    lost = [np.flatnonzero(judged & ((rank == 0) | (rank > depth))) for depth in depths]
    row = np.concatenate(lost)
    in_set = np.repeat(np.arange(len(depths)), [len(rows) for rows in lost])
    return Changes(len(depths), in_set, row, np.full(len(row), UNJUDGED))
