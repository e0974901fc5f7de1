"""leave_out_dynamic: teams left out where a classifier goes on judging after the pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, checked_seed, choice, count, examples, flag, whole
from pt_reuse._errors import arguments_as, door, warn
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse.arrays.bootstrap import checked_bootstrap
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels, as_qrels, relevant_from
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import COLUMNS, Units, described
from pt_reuse.judging.continuous import check_queries, places_of, queries_of
from pt_reuse.judging.judges import as_judge
from pt_reuse.judging.protocols import Protocol
from pt_reuse.judging.scorers import Scorer, TfIdf, check_corpus
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import depth_of, pool_to_depth
from pt_reuse.pooling.fit import PoolFit
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import (
    BEWARE,
    alone,
    few_topics,
    none_relevant,
    noted,
    of_judged,
    relevant_only,
    tell,
    warn_of_lower_grades,
)
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.rescoring import Block, MeansOfSets, rescore
from pt_reuse.scoring.run_scores import check_scoring, checked_measures, provided_measures, scores_of
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_topics, topics_of_runs
from pt_reuse.studies.dynamic_sets import (
    Chooser,
    DynamicSets,
    PooledTopic,
    TopicPools,
    check_topics_given,
    choose_all,
    pooled_topics,
)
from pt_reuse.studies.unique_sets import ChangedScores, UniqueIntervals
from pt_reuse.studies.unique_tables import LargeDrops, Means, by_run_table, count_uniques, summary_table, unit_table
from pt_reuse.studies.uniques import KEY_FIGURES, check_removal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = ("measure", "unit")


class DynamicReports:
    """Reports and draws a ``DynamicUniques``, which has the attributes that are named here."""

    table: pd.DataFrame
    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    topics: pd.DataFrame
    scores: Scores
    units: Units
    depth: int
    rel: int
    settings: Mapping[str, Any]

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals over topics were asked for."""
        return "tau_b_low" in self.table

    @door
    def report(self, by: str = "measure", *, measure: MeasureLike | None = None) -> Report:
        """Return what a paper prints: how the ranking holds, or what each left-out unit does to it.

        Args:
            by: the rows: each ``"measure"`` (default), or each left-out ``"unit"`` under one measure. Intervals, where
                there are any, take the place of some columns.
            measure: the one that units are shown under; default the first.
        """
        choice("by", by, _ROWS)
        name = measure_among(self.scores.measures, measure)
        return _per_measure(self) if by == "measure" else _per_unit(self, name)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "scores",
        by: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw each run's score under LOU-FULL against its score when judged without its own unit.

        Args:
            measure: one of the measures; default the first.
            kind: the upright axis: the other ``"scores"`` (default), the ``"change"`` of the score, or ``"percent"``.
            by: what gives colour and marker: ``"team"``, ``"type"``, ``"family"`` or ``"run"``; default the unit that
                was left out.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per run; those that lose most are named where there is room.

        Source: Voorhees, Craswell and Lin 2022, figure 3.
        """
        from pt_reuse.plots.points import check_view
        from pt_reuse.plots.run_scores import TwoScores, plot_reduced_scores
        from pt_reuse.plots.sheet import Place

        name, unit = measure_among(self.scores.measures, measure), self.units.by
        check_view(kind, by, tuple(COLUMNS), self.by_run)
        whose = "it" if unit == "run" else f"its {unit}"
        said = TwoScores("LOU-FULL", f"judged without {whose}", f"Runs judged without their {unit}, dynamically")
        place = Place(ax, title, legend, width)
        return plot_reduced_scores(self.by_run, measure=name, unit=unit, kind=kind, by=by, said=said, place=place)


def _per_measure(result: DynamicReports) -> Report:
    summary, by = result.summary, result.units.by
    drop = Column("Largest drop", summary["own_max_drop"], Digits.COUNT)
    least = Column("Smallest tau-b, field", summary["field_min_tau_b"], Digits.SCORE)
    if result.has_intervals:
        of_tau = intervals("tau-b", summary["own_tau_b_low"], summary["own_tau_b_high"], Digits.SCORE)
        of_drop = intervals("the drop", summary["own_max_drop_low"], summary["own_max_drop_high"], Digits.COUNT)
        rest = [of_tau, drop, of_drop, least]
    else:
        worst = Column("Worst change, %", 0.0 - summary["largest_loss_pct"], Digits.PERCENT)
        rest = [drop, worst, least, Column("Largest drop, field", summary["field_max_drop"], Digits.COUNT)]
    return Report(
        [Column("Measure", summary["measure"]), Column("tau-b", summary["own_tau_b"], Digits.SCORE), *rest],
        caption=(
            f"Leave-out-uniques by {by} under dynamic judging: {_field(result)} each judged without its own {by}, and "
            f"the whole field without each {by}, against LOU-FULL."
        ),
        notes=_notes(result),
    )


def _per_unit(result: DynamicReports, measure: str) -> Report:
    by, column = result.units.by, result.units.column
    rows = result.table[result.table["measure"] == measure].merge(
        result.unique_counts[[column, "found_again"]], on=column, sort=False
    )
    relevant = Column("Relevant uniques", rows["unique_relevant"], Digits.COUNT)
    tau, drop = Column("tau-b", rows["tau_b"], Digits.SCORE), Column("Largest drop", rows["max_drop"], Digits.COUNT)
    if result.has_intervals:
        of_tau = intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE)
        columns = [tau, of_tau, drop, intervals("the drop", rows["max_drop_low"], rows["max_drop_high"], Digits.COUNT)]
    else:
        again = Column("Found again", rows["found_again"], Digits.COUNT)
        columns = [again, tau, drop, Column("Dropped run", rows["dropped"])]
    return Report(
        [Column(by.capitalize(), rows[column]), relevant, *columns],
        caption=(
            f"Leave-out-uniques by {by} under dynamic judging and {measure}: {_field(result)} judged without each "
            f"{by}, against LOU-FULL."
        ),
        notes=_notes(result),
    )


def _field(result: DynamicReports) -> str:
    return count(len(result.scores.names), "run")


def _notes(result: DynamicReports) -> list[str]:
    settings, topics = result.settings, result.topics
    runs = count(int(result.unique_counts["contributing"].sum()), "run")
    chosen, without = int(topics["chosen"].sum()), int(topics["unlabelled"].sum())
    said = [
        f"LOU-FULL is the depth-{result.depth} pool of {runs}, in the order {settings['pool order']}, and "
        f"{count(chosen, 'document')} that the classifier {settings['scorer']} chose, {without:,} of them without a "
        f"label; relevant is a label of at least {result.rel}.",
    ]
    if result.has_intervals:
        said.append(f"Intervals: {settings[INTERVALS]}.")
    return [*said, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else said


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DynamicUniques(LargeDrops, DynamicReports, Result):
    """What leaving each unit out of a pool does to every run where a classifier judges on after the pool.

    The first scores are those under *LOU-FULL*: the pool of all contributors and one batch that the classifier chose.

    Attributes:
        table: one row per left-out unit and measure, the whole field re-ranked under the judgments made without the
            unit: the columns of ``LeaveOutUniques.table``; ``removed`` counts judged documents of LOU-FULL that
            are not judged without the unit.
        by_run: one row per run and measure, the run under the judgments made without its own unit: the columns of
            ``LeaveOutUniques.by_run``.
        summary: one row per measure, the columns of ``LeaveOutUniques.summary``. All three have the ends of
            intervals where these were asked for.
        unique_counts: one row per unit: its ``runs``, those ``contributing``, the judged documents that it alone
            contributed, ``unique unique_relevant unique_nonrelevant``; ``found_again``, how many of its unique relevant
            documents the classifier chose without it; ``relevant``, how many documents of its judgments are so.
        topics: one row per topic: ``qid judged pooled`` and ``chosen``, by the classifier in LOU-FULL; ``relevant``, in
            LOU-FULL, ``chosen_relevant``, of those chosen; ``unlabelled``, chosen documents without a label, which
            count as not relevant; ``units``, how many have a unique relevant document there and so judgments of their
            own.
        scores: the runs under LOU-FULL.
        own_scores: each run under the judgments made without its own unit.
        reduced: (measures, units, runs) means of all runs under the judgments made without each unit.
        units: the left-out units: ``.names`` and, for each run, its unit among them (``.of_run``).
        depth: the pool's.
        rel: the lowest label that counts as relevant.
    """

    title: ClassVar[str] = "Leave-out-uniques, judged dynamically"

    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    topics: pd.DataFrame
    scores: Scores
    own_scores: Scores
    reduced: NDArray[np.float64]
    units: Units
    depth: int
    rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "summary": self.summary,
            "table": self.table,
            "by_run": self.by_run,
            "unique_counts": self.unique_counts,
            "topics": self.topics,
        }

    def key_figures(self) -> pd.DataFrame:
        """Return the numbers that sum the result up, ``measure figure value``, see :meth:`Result.key_figures`."""
        counts = pd.concat(
            [self.unique_counts[["unique_relevant", "found_again"]], self.topics[["chosen", "unlabelled"]]]
        )
        total = counts.sum().to_frame().T
        parts = [key_figures_of(self.summary, KEY_FIGURES), key_figures_of(total, list(total))]
        return pd.concat(parts, ignore_index=True)

    def headline(self) -> str:
        """Return the agreement and the largest drops of each measure, and what the classifier found again."""
        parts = [
            f"{row['measure']} own tau_b {row['own_tau_b']:.4f}, whole field drop {row['field_max_drop']}"
            for row in self.summary.to_dict("records")
        ]
        again, unique = (int(self.unique_counts[name].sum()) for name in ("found_again", "unique_relevant"))
        return f"{'; '.join(parts)}; {again:,} of {count(unique, 'relevant unique')} found again"


@door
def leave_out_dynamic(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    corpus: Any,
    topics: pd.DataFrame,
    *,
    by: str = "team",
    depth: int | None = None,
    judge: Any = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    query_seed: bool = True,
    presumed_negatives: int = 100,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    resamples: int = 0,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> DynamicUniques:
    """Say what leaving each team out does to every run where a classifier goes on judging after the pool.

    *LOU-FULL* stands for the judgments: for each topic the judged documents of the depth-k pool of all contributors,
    and one batch that a classifier chooses which has learnt from them, X documents, so that there are as many
    judgments as there are in `qrels`. Then for each team the same is done without it: the pool of the others, and one
    batch that makes the judgments as many. On a topic where a team has no unique relevant document its judgments are
    those of LOU-FULL. What a team alone had brought may so be found without it, and other documents, too.

    The classifier chooses among all documents of `corpus`. Were they the judged ones alone, it would choose them all,
    whoever is left out.

    Args:
        runs: the field, with teams (``by="team"``) or types: a RunSet, a dict of run name -> results, or run files.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        measures: ir_measures measures or their names, one or several.
        corpus: the documents, one dict each with ``docno`` and ``text``, or a frame with these columns, or a
            :class:`~pt_reuse.judging.Scorer`, as of :func:`~pt_reuse.judging.judge_continuously`.
        topics: a frame with ``qid`` and ``query``.
        by: leave out one ``"team"`` (default), ``"run"``, ``"type"`` or ``"family"`` at a time.
        depth: of the pool; default the one on record for the collection, else 100.
        judge: who labels chosen documents that have no label in `qrels`: a Judge, a function, or judgments in any
            form. Default nobody: they count as not relevant, and ``.topics`` count them.
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1.
        contributors: ``"pooled"`` (default), ``"all"``, or run names.
        pool_order: the order in which the runs were pooled; default the one that the field knows of itself.
        query_seed: whether the query is one of the relevant examples from which the classifier learns.
        presumed_negatives: documents drawn at random from which it learns as if they were not relevant.
        seed: decides all that is random, topic by topic.
        complete: the mean is over all topics of the judgments (default), or over those that the run has.
        without_topics: a run with none of the judgments' topics is an ``"error"`` (default), or scores ``"zero"``.
        resamples: how often topics are drawn for the intervals that :func:`leave_out_uniques` has; default 0, none.
            What the classifier chose stays as it is.
        confidence: of the intervals, above 0 and below 1.
        n_jobs: jobs at a time, as joblib takes it; the numbers do not depend on it.
        verbose: show a progress bar.

    Returns:
        DynamicUniques: ``.summary``, ``.table`` (per unit), ``.by_run``, ``.unique_counts``, ``.topics``, ``.plot()``.

    Raises:
        InputError: runs without a type or family, a judged topic that is not among the topics, an unknown
            measure, run or option; scikit-learn is not installed.

    Warns:
        ReuseWarning: most documents that the classifier chose have no label; most of the pool has no judgment; pooled
            documents that the corpus lacks, which teach it nothing; a corpus that ends before as many are judged; no
            relevant judgment at all; intervals over fewer than five topics.
            Also contributing runs of one unit (`by`) alone, and a field of one run.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7, n_topics=5)
        >>> docnos = sorted(set(field.all_qrels.to_frame()["docno"]))
        >>> words = [{"docno": docno, "text": f"word{n % 7} word{n % 11}"} for n, docno in enumerate(docnos)]
        >>> topics = pd.DataFrame({"qid": field.qrels.topics, "query": "word1 word2"})
        >>> judge = ptr.judging.Oracle(field.all_qrels, unknown="not relevant")
        >>> found = leave_out_dynamic(field.runs, field.qrels, "AP", words, topics, depth=5, judge=judge)
        >>> found.topics[["judged", "pooled", "chosen"]].sum().tolist()
        [174, 87, 87]

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR, section 3
    and figure 3; their judgments and texts are not public. That chosen documents without a label count as not relevant
    is this library's choice.
    """
    parsed = checked_measures(measures)
    check_removal(by=by, depth=depth, pool_order=pool_order, rel=rel)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    checked_jobs(n_jobs)
    protocol = Protocol(
        batch=1,
        topic_budget=1,
        query_seed=flag("query_seed", query_seed),
        presumed_negatives=whole("presumed_negatives", presumed_negatives, "documents", least=0),
    )
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence, n_jobs=n_jobs)
    seed, asked_judge, told_of = checked_seed(seed), None if judge is None else as_judge(judge), TopicTexts(topics)
    queries = queries_of(topics)
    if not isinstance(corpus, Scorer):
        check_corpus(corpus)
    if protocol.query_seed:
        check_queries(queries, corpus)
    runs, qrels = as_runs_before(runs, qrels)
    units = runs.units(by)
    contributing_runs = contributors_of(runs, contributors)
    qrels = as_qrels(qrels)
    lowest = relevant_from(qrels, rel)
    warn_of_lower_grades(parsed, lowest)
    if without_topics == "error":
        check_topics(runs, qrels)
    check_topics_given(qrels, queries)

    asked = depth_of(runs, depth)
    with arguments_as(order="pool_order"):
        ranked = runs.in_pool_order(pool_order)
    pool = pool_to_depth(ranked, asked.value, contributing_runs)
    rows = qrels.arrays.documents.find(pool.documents)
    judged = (rows >= 0) & (np.append(qrels.arrays.labels, UNJUDGED)[rows] >= 0)
    sole, contributing = pool.sole(by)
    owner = np.append(units.positions(contributing.names), -1)[sole]
    fit = PoolFit.of(pool, qrels, judged, depth=asked.value)
    caveats = [*alone(units, contributing_runs.runs), *fit.of_pool()]
    caveats += [*relevant_only(qrels, of_judged(parsed)), *none_relevant(qrels, lowest)]

    scorer = corpus if isinstance(corpus, Scorer) else TfIdf(corpus, keep_text=asked_judge is not None)
    pooled = pooled_topics(qrels, pool, rows, judged, owner)
    texts = None if asked_judge is None else scorer.texts
    chooser = Chooser(scorer, protocol, seed, lowest)
    chosen = choose_all(_with_places(pooled, chooser, queries), chooser, n_jobs=n_jobs, verbose=verbose)
    made = DynamicSets(qrels, pooled, chosen, lowest)
    made.label(asked_judge, told_of, texts)
    by_topic = made.table()
    caveats += made.caveats()
    caveats += few_topics(len(qrels.topics)) if bootstrap else ()
    tell(caveats)

    n_units = len(units)
    base, changes = made.judgments(n_units)
    keep: list[Block] | None = None if bootstrap is None else []
    full, own, reduced = _score_all(runs, base, parsed, changes, units, complete=complete, verbose=verbose, keep=keep)
    scores = scores_of(runs, base, parsed, full, complete=complete)
    scores = replace(scores, settings={**scores.settings, "judgments": "LOU-FULL"})
    without = f"made without the run's own {by}, depth {asked.value}"
    own_scores = replace(scores, values=own, settings={**scores.settings, "judgments": without})
    means = Means(scores.mean_values, own_scores.mean_values, reduced)
    field = described(runs.run_table)
    contributed = field["name"].isin(pool.run_table["name"]).to_numpy()
    unique = judged & (owner >= 0)
    relevant = qrels.arrays.labels[rows[unique]] >= lowest
    counts = count_uniques(units, contributed, owner[unique], relevant)
    table = unit_table(units, counts, made.lost(n_units), scores, means)
    by_run = by_run_table(field, contributed, units, scores, means)
    summary = summary_table(units, table, by_run, scores.measures, means)
    if bootstrap is not None and keep is not None:
        ends = UniqueIntervals(bootstrap, scores, own_scores, _changed(keep))
        table = ends.of_units(table, units.column, list(units.names), verbose=verbose)
        by_run, summary = ends.of_runs(by_run), ends.of_summary(summary)
    provided = provided_measures(parsed)
    return DynamicUniques(
        table=table,
        by_run=by_run,
        summary=summary,
        unique_counts=counts.assign(found_again=made.found_again(n_units), relevant=made.relevant(n_units)),
        topics=by_topic,
        scores=scores,
        own_scores=own_scores,
        reduced=reduced,
        units=units,
        depth=asked.value,
        rel=lowest,
        settings={
            "by": by,
            "depth": asked.value,
            "depth from": asked.origin.value,
            "relevant": f"label of at least {lowest}",
            "contributors": str(pool.contributors),
            **units.settings,
            **runs.settings,
            "pool order": pool.order,
            "scorer": type(scorer).__name__,
            "query is an example": protocol.query_seed,
            "presumed not relevant": protocol.presumed_negatives,
            "chosen without a label": "not relevant" if judge is None else "asked of the judge, else not relevant",
            "seed": seed,
            "complete": complete,
            "ties": f"means equal to {DECIMALS} decimals",
            **({INTERVALS: f"{bootstrap.words()}; of a change of score the percentile interval"} if bootstrap else {}),
            **({"by ir_measures": provided} if provided else {}),
            **noted(caveats),
        },
    )


def _with_places(
    pooled: Sequence[PooledTopic], chooser: Chooser, queries: Mapping[str, str | None]
) -> list[TopicPools]:
    """Return the pools of all contributors and without each unit that loses something; tell what teaches nothing."""
    places = places_of(chooser.scorer, [topic.qid for topic in pooled])
    n = sum(len(topic.docnos) for topic in pooled)
    strangers = [docno for topic in pooled for docno in topic.docnos.tolist() if docno not in places[topic.qid]]
    if strangers:
        warn(
            f"{count(len(strangers), 'pooled document')} of {n:,} not among the documents of the scorer, such as "
            f"{examples(list(dict.fromkeys(strangers))[:3])}. They are judged, and teach it nothing. Has it the whole "
            "corpus?"
        )
    return [
        TopicPools(
            topic.qid,
            queries.get(topic.qid),
            places[topic.qid],
            [topic.without(unit) for unit in (None, *topic.losers(chooser.rel))],
        )
        for topic in pooled
    ]


def _score_all(
    runs: RunSet,
    qrels: Qrels,
    measures: Sequence[Any],
    changes: Changes,
    units: Units,
    *,
    complete: bool,
    verbose: bool,
    keep: list[Block] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return scores under LOU-FULL and each run's own, (measures, topics, runs), and means without each unit.

    What changes is added to `keep`, block by block, where intervals need it.
    """
    full = np.empty((len(measures), len(qrels.topics), len(runs)))
    own = np.empty(full.shape)
    has = None if complete else topics_of_runs(runs, qrels)
    means = MeansOfSets((len(measures), changes.n_sets, len(runs)), len(qrels.topics), has)
    for block in rescore(runs, qrels, list(measures), changes, verbose=verbose):
        topics = slice(block.topics.start, block.topics.stop)
        full[:, topics] = own[:, topics] = block.base
        of_full = np.flatnonzero(block.set == 0)
        full[:, block.topic[of_full]] = block.values[:, of_full]
        cell, run = np.nonzero(block.set[:, None] == units.of_run + 1)
        own[:, block.topic[cell], run] = block.values[:, cell, run]
        means.add(block)
        if keep is not None:
            keep.append(block)
    return full, own, means.means()[:, 1:]


def _changed(blocks: list[Block]) -> ChangedScores:
    """Return the scores that change where a unit is left out; the first set is LOU-FULL."""
    found = ChangedScores.of(blocks)
    of_unit = found.unit > 0
    return ChangedScores(found.topic[of_unit], found.unit[of_unit] - 1, found.values[:, of_unit])
