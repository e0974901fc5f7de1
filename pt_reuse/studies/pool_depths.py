"""What a pool of each depth costs, what it finds, and how the runs rank by its judgments alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, choice, count
from pt_reuse._choices import POOL_DEPTHS
from pt_reuse._errors import arguments_as, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result, key_figures_of
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.engine.rescore import Changes
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.qrels.judgments import Qrels, as_qrels, checked_rel, relevant_from
from pt_reuse.runs.given import as_runs_before
from pt_reuse.runs.ordering import check_order_or_none
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.caveats import BEWARE, Caveat, few_topics, noted, of_judged, one_run, relevant_only, tell
from pt_reuse.scoring.grades import usual_measures, warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.run_scores import check_scoring, checked_measures, provided_measures
from pt_reuse.scoring.topic_sets import check_topics, topics_of_runs
from pt_reuse.stats.bootstrap import checked_bootstrap
from pt_reuse.stats.correlation import DECIMALS
from pt_reuse.stats.two_rankings import TopicScores, ranking_agreement, whole_changes
from pt_reuse.studies.judging_rounds import checked_depths
from pt_reuse.studies.pool_sizes import PoolSizes
from pt_reuse.studies.relevant_documents import found_none

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: the shares of the known relevant documents for which a depth is looked for
SHARES = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
#: the one of them that is told in a line
_MOST = 0.9
#: a larger share of what a depth adds that was never judged is told by a warning
_MOSTLY = 0.5
_ROWS = ("depth", "measure", "share")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PoolCosts(Result):
    """What a pool of each depth costs and finds, and how runs rank by its judgments alone.

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

    title: ClassVar[str] = "Pool costs"

    agreement: pd.DataFrame
    needed: pd.DataFrame
    rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "agreement": self.agreement, "needed": self.needed}

    @property
    def measures(self) -> list[str]:
        """Return the names of the measures."""
        return list(dict.fromkeys(self.agreement["measure"]))

    def key_figures(self) -> pd.DataFrame:
        """Return what finds nine tenths of the relevant documents, and what pools of each depth find and cost."""
        nine = self.needed[self.needed["share"] == _MOST]
        agreement, table = self.agreement, self.table
        parts = [
            key_figures_of(nine, ["depth", "documents"], rows=[f"for {_MOST:.0%} of the relevant"] * len(nine)),
            key_figures_of(agreement, ["tau_b", "max_drop"], rows=[f"depth {k}" for k in agreement["depth"]]),
            key_figures_of(table, ["documents", "unjudged", "share"], rows=[f"depth {k}" for k in table["depth"]]),
        ]
        return pd.concat(parts, ignore_index=True)

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

    @door
    def report(self, by: str = "depth", *, measure: MeasureLike | None = None) -> Report:
        """Return what a paper prints: what each depth costs and finds, how runs rank, or the depth that is needed.

        Args:
            by: the rows: each ``"depth"`` (default) with what it costs and finds; each depth under one ``"measure"``
                with how runs rank; or each ``"share"`` of the relevant documents with the depth that finds it.
            measure: the one for ``by="measure"``; default the first.
        """
        choice("by", by, _ROWS)
        name = measure_among(self.measures, measure)
        notes = [
            f"Contributors are {self.settings['contributors']}, pooled in the order {self.settings['pool order']}; a "
            f"document is relevant from label {self.rel} on.",
            *([f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else []),
        ]
        if by == "share":
            rows = self.needed
            return Report(
                [
                    Column("Share", rows["share"].map("{:.0%}".format)),
                    Column("Relevant", rows["relevant"], Digits.COUNT),
                    Column("Depth", rows["depth"], Digits.COUNT),
                    Column("Documents", rows["documents"], Digits.COUNT),
                ],
                caption="How deep a pool must be to find a share of the known relevant documents, and its size.",
                notes=notes,
            )
        if by == "measure":
            rows = self.agreement[self.agreement["measure"] == name]
            return Report(
                [
                    Column("Depth", rows["depth"], Digits.COUNT),
                    Column("Documents", self.table["documents"], Digits.COUNT),
                    Column("tau-b", rows["tau_b"], Digits.SCORE),
                    Column("tau-AP", rows["tau_ap_b"], Digits.SCORE),
                    Column("Largest drop", rows["max_drop"], Digits.COUNT),
                    Column("Largest rise", rows["max_rise"], Digits.COUNT),
                ],
                caption=(
                    f"The ranking of runs by {name} with the judgments of a pool alone against the one with all "
                    "judgments: correlations, and the most ranks that a run loses or gains."
                ),
                notes=notes,
            )
        rows = self.table
        return Report(
            [
                Column("Depth", rows["depth"], Digits.COUNT),
                Column("Documents", rows["documents"], Digits.COUNT),
                Column("Relevant", rows["relevant"], Digits.COUNT),
                Column("Share of relevant", rows["share"], Digits.SCORE),
                Column("New per new relevant", rows["cost"].map("{:.1f}".format).where(rows["cost"].notna())),
            ],
            caption=(
                "What a pool of each depth costs and finds: its documents, the relevant ones among them, their share "
                "of all that are known, and documents beyond the depth before for each relevant one more."
            ),
            notes=notes,
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the share of the relevant documents that is found, and tau_b of the ranking, over the size of the pool.

        Args:
            measure: the one whose tau_b is drawn; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a line each, with a marker and the depth at each pool.
        """
        from pt_reuse.plots.pool_costs import plot_pool_costs
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        rows = self.agreement[self.agreement["measure"] == name]
        return plot_pool_costs(self.table, rows, measure=name, place=Place(ax, title, legend, width))


@door
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
    """Say what pools of several depths cost, what they find, and how the runs rank by their judgments alone.

    For each depth the judgments are restricted to the depth-k pool and all runs are scored anew; the topic set stays.
    How deep a pool would have to be to find what is known is looked for down to the end of the runs.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        measures: under which runs are ranked, one or several; default AP, from the grade from which documents
            are relevant, and ``nDCG@10``.
        depths: of the pools, documents per run and topic; default 1, 2, 5, 10, 20, 50 and 100.
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1. Measures
            have a `rel` of their own.
        contributors: the runs that are pooled: ``"pooled"`` (default), ``"all"``, or run names.
        pool_order: the order in which the runs are pooled; default the one that the field knows of itself.
        complete: the mean is over all topics of the judgments (default), or over those that the run has.
        without_topics: a run with none of the judgments' topics is an ``"error"`` (default), or scores ``"zero"``.
        resamples: how often topics are drawn anew for the intervals of the agreement; default 0, no intervals.
        confidence: of the intervals.
        seed: of the draws.
        n_jobs: topics, then parts of the draws, at a time, as joblib takes it; default what
            ``joblib.parallel_config`` says, else 1. The numbers do not depend on it.
        verbose: show a progress bar.

    Returns:
        PoolCosts: ``.table`` (per depth), ``.agreement`` (per depth and measure), ``.needed``, ``.plot()``.

    Raises:
        InputError: a depth that is none, an unknown measure or run, runs without any topic of the judgments.

    Warns:
        ReuseWarning: no document is relevant; judgments of relevant documents only, under a measure that sets judged
            documents against unjudged ones; a depth that adds documents of which most were never judged, so that it
            would find more than is known; intervals over fewer than five topics.
            Also a field of one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
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
    given = None if measures is None else checked_measures(measures)
    wanted = checked_depths(depths)
    checked_rel(rel)
    check_order_or_none("pool_order", pool_order)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    jobs = checked_jobs(n_jobs)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence, n_jobs=n_jobs)
    runs, qrels = as_runs_before(runs, qrels)
    chosen = contributors_of(runs, contributors)
    qrels = as_qrels(qrels)
    lowest = relevant_from(qrels, rel)
    parsed = usual_measures(lowest) if given is None else given
    warn_of_lower_grades(parsed, lowest)
    if without_topics == "error":
        check_topics(runs, qrels)
    with arguments_as(order="pool_order"):
        ranked = runs.in_pool_order(pool_order)

    sizes = PoolSizes.of(ranked, qrels, chosen, lowest)
    table = sizes.table(wanted)
    caveats = [*one_run(len(runs)), *found_none(qrels, lowest), *relevant_only(qrels, of_judged(parsed))]
    caveats += _mostly_unjudged(table)
    caveats += few_topics(len(qrels.topics)) if bootstrap else ()
    tell(caveats)
    changes = _without(qrels, sizes.rank, wanted)
    full, reduced = _score_all(runs, qrels, parsed, changes, len(wanted), n_jobs=jobs, verbose=verbose)
    has = None if complete else topics_of_runs(runs, qrels)
    agreement = []
    for d, depth in enumerate(wanted):
        for m, measure in enumerate(parsed):
            found = ranking_agreement(TopicScores(full[m], has), TopicScores(reduced[d, m], has), bootstrap)
            agreement.append({"depth": depth, "measure": repr(measure), **found})
    provided = provided_measures(parsed)
    return PoolCosts(
        table=table,
        agreement=whole_changes(pd.DataFrame(agreement)),
        needed=sizes.needed(SHARES),
        rel=lowest,
        settings={
            "relevant": f"label of at least {lowest}",
            "contributors": str(chosen),
            **runs.settings,
            "pool order": ranked.order,
            "complete": complete,
            "ties": f"means equal to {DECIMALS} decimals",
            "intervals": "none" if bootstrap is None else bootstrap.words(),
            **({"by ir_measures": provided} if provided else {}),
            **noted(caveats),
        },
    )


def _mostly_unjudged(table: pd.DataFrame) -> Iterator[Caveat]:
    """Yield a caveat where most of what a depth adds was never judged, so that it finds more than is known."""
    blind = table[table["unjudged"].diff().fillna(table["unjudged"]) > _MOSTLY * table["new_documents"]]
    if blind.empty:
        return
    first, last = blind.iloc[0], table.iloc[-1]
    yield Caveat(
        f"not judged to depth {last['depth']:,.0f}",
        (
            f"from depth {first['depth']:,.0f} on most of what a pool adds was never judged: to depth "
            f"{last['depth']:,.0f} {last['unjudged']:,.0f} of {count(int(last['documents']), 'document')} were not. "
            "There a pool would find more relevant documents than are known, each at a lower cost than is said here.",
        ),
    )


def _without(qrels: Qrels, rank: NDArray[np.int64], depths: Sequence[int]) -> Changes:
    """Return the judgments of each depth as what all judgments lose."""
    judged = qrels.arrays.labels >= 0
    lost = [np.flatnonzero(judged & ((rank == 0) | (rank > depth))) for depth in depths]
    row = np.concatenate(lost)
    in_set = np.repeat(np.arange(len(depths)), [len(rows) for rows in lost])
    return Changes(len(depths), in_set, row, np.full(len(row), UNJUDGED))


def _score_all(
    runs: RunSet,
    qrels: Qrels,
    measures: Sequence[Any],
    changes: Changes,
    n_sets: int,
    *,
    n_jobs: int | None,
    verbose: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores under all judgments, (measures, topics, runs), and under each set, (sets, ...)."""
    full = np.empty((len(measures), len(qrels.topics), len(runs)))
    reduced = np.empty((n_sets, *full.shape))
    for block in rescore(runs, qrels, list(measures), changes, n_jobs=n_jobs, verbose=verbose):
        topics = slice(block.topics.start, block.topics.stop)
        full[:, topics] = block.base
        reduced[:, :, topics] = block.base
        for cell, (topic, in_set) in enumerate(zip(block.topic.tolist(), block.set.tolist(), strict=True)):
            reduced[in_set, :, topic] = block.values[:, cell]
    return full, reduced


def in_words(result: PoolCosts) -> str:
    """Return what the result says, in words: what the last step costs, and how deep a pool must be."""
    last = result.table.iloc[-1]
    lines = []
    if pd.notna(last["cost"]):
        lines.append(
            f"The last step, to depth {last['depth']:,.0f}, costs {last['cost']:.1f} documents for each relevant one "
            "more."
        )
    missing = result.needed[result.needed["depth"].isna()]
    if len(missing):
        lines.append(f"No pool of these runs finds {missing['share'].iloc[0]:.0%} of the relevant documents known.")
    n = int(last["unjudged"])
    if n:
        lines.append(f"{count(n, 'document')} of the deepest pool were never judged: it would find more than is known.")
    return "\n".join(lines)
