"""compare_judgments: the rankings of the same runs under two sets of judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import pandas as pd

from pt_reuse._check import checked_jobs, choice, count, examples
from pt_reuse._errors import Argument, InputError, Option, arguments_as, door, located, warn
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import check_pooling, depth_of, pool_to_depth
from pt_reuse.result import key_figures_of
from pt_reuse.scoring.agreement import INTERVALS, UNNAMED, Agreement, checked_names
from pt_reuse.scoring.caveats import BEWARE, few_topics, noted, one_run, relevant_only, tell, told_elsewhere
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.run_scores import check_scoring, checked_measures, score
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.judgment_comparison.known_documents import (
    NamedJudgments,
    checked_selected,
    new_documents,
    selected_runs,
    topic_moves,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what the rows of a report can be
ROWS = ("measure", "selected", "topic", "run")


def of_measures(
    table: pd.DataFrame, measured: Sequence[str], n_runs: int, names: tuple[str, str], settings: Mapping[str, Any]
) -> Report:
    """Return a row per measure: tau-b with its interval where there is one, gamma, and the largest moves."""
    columns = [Column("Measure", measured), Column("tau-b", table["tau_b"], Digits.SCORE)]
    if "tau_b_low" in table:
        columns.append(intervals("tau-b", table["tau_b_low"], table["tau_b_high"], Digits.SCORE))
    else:
        columns.append(Column("tau-AP", table["tau_ap_b"], Digits.SCORE))
    columns.append(Column("gamma", table["gamma"], Digits.SCORE))
    columns.append(Column("Largest drop", table["max_drop"], Digits.COUNT))
    columns.append(Column("Largest rise", table["max_rise"], Digits.COUNT))
    truth, other = names
    kind = "" if "tau_b_low" in table else " (tau-AP symmetric and with ties)"
    return Report(
        columns,
        caption=(
            f"The ranking of {count(n_runs, 'run')} by {other} against the one by {truth}: correlations{kind}, and the "
            "most ranks that a run loses or gains."
        ),
        notes=_notes(settings, with_intervals=True),
    )


def of_selected(
    selected: pd.DataFrame, measure: str, depth: int, names: tuple[str, str], settings: Mapping[str, Any]
) -> Report:
    """Return a row per selected run under one measure: score and rank under both, and its share of unjudged ones."""
    rows, (truth, other) = selected[selected["measure"] == measure], names
    pair = in_words(measure, rows["other_measure"].iloc[0])
    return Report(
        [
            Column("Run", [f"{row.name} ({row.why})" for row in rows[["name", "why"]].itertuples(index=False)]),
            Column(f"Score, {truth}", rows["score"], Digits.SCORE),
            Column(f"Score, {other}", rows["other_score"], Digits.SCORE),
            Column(f"Rank, {truth}", rows["rank"], Digits.COUNT),
            Column(f"Rank, {other}", rows["other_rank"], Digits.COUNT),
            Column("Unjudged", rows["unjudged_rate"], Digits.SCORE),
        ],
        caption=(
            f"Selected runs under two sets of judgments by {pair}, the best by {truth} first; unjudged is the share of "
            f"the first {depth:,} documents that {truth} does not know."
        ),
        notes=_notes(settings),
    )


def of_topics(per_topic: pd.DataFrame, names: tuple[str, str], settings: Mapping[str, Any]) -> Report:
    """Return a row per topic under one measure, the lowest tau-b first: the runs that move most."""
    rows, (truth, other) = per_topic.sort_values("tau_b", kind="stable", na_position="last"), names
    pair = in_words(rows["measure"].iloc[0], rows["other_measure"].iloc[0])
    without = int(rows["tau_b"].isna().sum())
    none = [f"{count(without, 'topic')} without tau-b: all runs tie by one of the two."] if without else []
    return Report(
        [
            Column("Topic", rows["qid"]),
            Column("tau-b", rows["tau_b"], Digits.SCORE),
            Column("Largest drop", rows["max_drop"], Digits.COUNT),
            Column("Of run", rows["dropped"]),
            Column("Largest rise", rows["max_rise"], Digits.COUNT),
            Column("By run", rows["risen"]),
        ],
        caption=(
            f"The runs ranked on each topic alone by {pair}: {other} against {truth}, and which run loses and which "
            "gains most ranks there."
        ),
        notes=[*none, *_notes(settings)],
    )


def of_runs(
    by_run: pd.DataFrame, newer: str, depth: int, names: tuple[str, str], settings: Mapping[str, Any]
) -> Report:
    """Return a row per run, the one with most unjudged documents first: how many of these are relevant."""
    older = names[names[0] == newer]
    rows = by_run.sort_values("unjudged", ascending=False, kind="stable")
    return Report(
        [
            Column("Run", rows["name"]),
            Column("Documents", rows["documents"], Digits.COUNT),
            Column("Unjudged", rows["unjudged"], Digits.COUNT),
            Column("Share", rows["unjudged_rate"], Digits.SCORE),
            Column("New", rows["new"], Digits.COUNT),
            Column("New relevant", rows["new_relevant"], Digits.COUNT),
        ],
        caption=(
            f"Of the first {depth:,} documents of each run on each topic: those that {older} does not know, and of "
            f"these the ones that {newer} has judged, and found relevant."
        ),
        notes=["Share: mean over topics of the share that is unjudged.", *_notes(settings)],
    )


def in_words(measure: str, other: str) -> str:
    """Return under which measure the two score: one name, or two where they differ."""
    return measure if measure == other else f"{measure} and {other}"


def _notes(settings: Mapping[str, Any], *, with_intervals: bool = False) -> list[str]:
    notes = [
        f"First: {settings['truth']}; other: {settings['estimate']}.",
        f"Topics: {settings['topics']}. Relevant: {settings['relevant']}.",
    ]
    if with_intervals and INTERVALS in settings:
        notes.append(f"Interval: {settings[INTERVALS]}.")
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes


#: kind of figure that is not of two scorings -> what it shows
OTHER_KINDS = ("topics", "remainder", "relevant", "runs")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgmentComparison(Agreement):
    """The same runs under two sets of judgments: how far the rankings agree, and what only one set knows.

    The first judgments are the older ones, or those taken as right; ``other_`` is what the second say. Both sets count
    on the topics of ``settings["topics"]``. What is *new* was judged by one of the two and not by the other
    (``new_by`` says by which); *judged* is a label of at least 0.

    Attributes:
        table: per measure ``measure other_measure tau_a tau_b gamma tau_ap tau_ap_b weighted_tau max_drop max_rise``,
            and where intervals were asked for, after each but weighted_tau its ends, ``tau_b_low tau_b_high`` and so
            on.
        changes: per run and measure ``name measure other_measure score other_score rank other_rank drop team type``.
        per_topic: per topic and measure ``qid measure other_measure tau_b max_drop dropped max_rise risen``: the
            systems ranked on this topic alone, tau_b NaN where all of them tie under one of the two; the most ranks
            that a run loses and gains, and which run it is, of several the best one, None where none does.
        selected: the runs that a paper shows, the same under every measure, the best by the first measure and the first
            judgments first: ``why name team type pooled measure other_measure score
            other_score change rank other_rank drop unjudged_rate other_unjudged_rate``.
        by_run: for each of the two and each run, over the documents that it ranks down to `depth`: ``new_by name team
            type pooled documents``; ``unjudged``, those that the other judgments do not know; ``unjudged_rate``, their
            share, the mean over topics (1 where the run returns nothing); ``new``, those of the unjudged that are
            judged by ``new_by``, and ``new_relevant`` of them.
        by_topic: for each of the two and each topic: ``new_by qid``; ``judged`` and ``relevant`` documents of the other
            judgments; ``remainder``, documents that a run ranks down to `depth` and the other judgments do not know;
            ``new``, all that only ``new_by`` judged, and ``new_relevant`` of them.
        names: what the two are called.
        depth: down to which rank the documents of runs are counted.
    """

    title: ClassVar[str] = "Judgments compared"

    selected: pd.DataFrame
    by_run: pd.DataFrame
    by_topic: pd.DataFrame
    depth: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return super().tables() | {"selected": self.selected, "by_run": self.by_run, "by_topic": self.by_topic}

    @property
    def measures(self) -> list[str]:
        """Return the names of the measures, under the first judgments."""
        return self.table["measure"].tolist()

    @property
    def measured(self) -> list[str]:
        """Return what the runs of each row of the table are scored by, both measures where they differ."""
        return [in_words(*pair) for pair in zip(self.measures, self.table["other_measure"], strict=True)]

    @property
    def newer(self) -> str:
        """Return which of the two have documents that the other do not: the second, unless the first alone do."""
        new = self.by_topic.groupby("new_by", sort=False)["new"].sum()
        return self.names[0] if new[self.names[0]] and not new[self.names[1]] else self.names[1]

    def key_figures(self) -> pd.DataFrame:
        """Return those of an ``Agreement``, and what each of the two alone knows."""
        figures = ["new", "new_relevant", "remainder"]
        of = self.by_topic.groupby("new_by", sort=False)[figures].sum().reset_index()
        new = key_figures_of(of, figures, rows=[f"by {name}" for name in of["new_by"]])
        return pd.concat([super().key_figures(), new], ignore_index=True)

    def headline(self) -> str:
        """Return what is compared with what, tau_b and the largest drop of each measure, and what is new."""
        rows = self.by_topic[self.by_topic["new_by"] == self.newer]
        new, relevant = int(rows["new"].sum()), int(rows["new_relevant"].sum())
        known = "no document is judged by one of the two alone"
        found = f"{count(new, 'document')} judged by {self.newer} alone, {relevant:,} relevant" if new else known
        return f"{super().headline()}; {found}"

    @door
    def report(self, by: str = "measure", *, measure: MeasureLike | None = None, new_by: str | None = None) -> Report:
        """Return what a paper prints; the caption says which judgments and topics are compared.

        Args:
            by: the rows: each ``"measure"`` (default) with its correlations and largest moves; the ``"selected"`` runs
                with score and rank under both, and the share of their documents that the first judgments do not know;
                each ``"topic"`` with its tau-b and the runs that move most, the lowest tau-b first; or each ``"run"``
                with how many documents were unjudged, and how many of these are relevant.
            measure: of selected runs and topics; default the first.
            new_by: of runs, which of the two judged the new documents; default :attr:`newer`.
        """
        choice("by", by, ROWS)
        name = measure_among(self.measures, measure)
        newer = self._newer(new_by)
        if by == "measure":
            return of_measures(self.table, self.measured, self.changes["name"].nunique(), self.names, self.settings)
        if by == "selected":
            return of_selected(self.selected, name, self.depth, self.names, self.settings)
        if by == "topic":
            return of_topics(self.per_topic[self.per_topic["measure"] == name], self.names, self.settings)
        return of_runs(self.by_run[self.by_run["new_by"] == newer], newer, self.depth, self.names, self.settings)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str | None = None,
        by: str | None = None,
        new_by: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the two scorings, how topics rank the runs, or what is new.

        Args:
            measure: one of the measures; default the first.
            kind: of two scorings, the upright axis: ``"change"`` of the score (default), ``"percent"`` of it, or the
                other ``"scores"`` (default where they are of another measure); ``"topics"``, tau-b of each topic, the
                lowest first; ``"remainder"``, how many documents each topic has that runs rank and the earlier
                judgments do not know, against its known relevant ones; ``"relevant"``, how many new relevant ones,
                against the same (both of figure 1 of the paper); ``"runs"``, how many new relevant documents each run
                has among its previously unjudged ones (figure 2).
            by: what gives runs their colour and marker, ``"type"`` or ``"team"``; default the first of these that any
                run has.
            new_by: which of the two judged the new documents; default :attr:`newer`.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per run or per topic.
        """
        from pt_reuse.plots.points import VIEWS, check_view
        from pt_reuse.plots.run_scores import plot_new_by_run, plot_new_by_topic, plot_topic_taus
        from pt_reuse.plots.sheet import Place

        name, newer = measure_among(self.measures, measure), self._newer(new_by)
        row = self.table[self.table["measure"] == name].iloc[0]
        usual = "change" if row["other_measure"] == name else "scores"
        kind = usual if kind is None else choice("kind", kind, (*VIEWS, *OTHER_KINDS))
        if kind in VIEWS:
            return super().plot(measure, kind=kind, by=by, ax=ax, title=title, legend=legend, width=width)
        place = Place(ax, title, legend, width)
        if kind == "topics":
            said = in_words(name, row["other_measure"])
            rows = self.per_topic[self.per_topic["measure"] == name]
            return plot_topic_taus(rows, measured=said, overall=float(row["tau_b"]), place=place)
        older = self.names[self.names[0] == newer]
        if kind == "runs":
            check_view("change", by, ("type", "team"), self.by_run)
            rows = self.by_run[self.by_run["new_by"] == newer]
            return plot_new_by_run(rows, judgments=(older, newer), depth=self.depth, by=by, place=place)
        rows = self.by_topic[self.by_topic["new_by"] == newer]
        return plot_new_by_topic(rows, kind=kind, judgments=(older, newer), depth=self.depth, place=place)

    def _newer(self, new_by: str | None) -> str:
        if new_by is None:
            return self.newer
        if new_by not in self.names:
            raise InputError(
                f"new_by must be one of the two, {self.names[0]!r} or {self.names[1]!r}, got {new_by!r}.",
                argument="new_by",
            )
        return new_by


#: the topics that count
TOPICS = ("shared", "own")


@door
def compare_judgments(
    runs: Any,
    qrels_a: Any,
    qrels_b: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    names: tuple[str, str] = UNNAMED,
    measures_b: MeasureLike | Iterable[MeasureLike] | None = None,
    topics: str = "shared",
    selected: str | Iterable[str] | None = None,
    depth: int | None = None,
    pool_order: str | None = None,
    rel: int | None = None,
    judge_rel: int | Mapping[int, int] | None = None,
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> JudgmentComparison:
    """Compare the rankings of the same runs under two sets of judgments, and say what only one of the two knows.

    The two may be old and new judgments of a collection, sparse and dense ones, lenient and strict ones
    (``qrels.threshold(2)``), those of two people, or of a person and a model.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`. Pipelines come in by
            :meth:`RunSet.from_pipelines`.
        qrels_a: the older judgments, or those taken as right: a Qrels, a frame, tuples, a dict or a file.
        qrels_b: the others, in any form.
        measures: ir_measures measures, or their names, one or several.
        names: what to call the two, such as ``("1999", "2021")``.
        measures_b: measures under the second judgments where they are others: one for all of `measures`, or as many
            as these and compared with them one by one, such as ``"RR"`` for sparse labels beside ``"nDCG@10"`` for
            dense ones. Default the same.
        topics: ``"shared"`` (default): both count on the topics that both have; ``"own"``: each on its own topics.
        selected: runs to show beside the best of each type and the median, such as the new ones; default those on
            record as not pooled, ten at most. Best and median are by the first measure under the first judgments; the
            median of an even number of runs is the better of the two in the middle.
        depth: down to which rank the documents of runs are counted that one of the two does not know; default the pool
            depth on record, else 100.
        pool_order: the order in which these ranks count; default the one in which the field is pooled.
        rel: the lowest label that counts as relevant among new and known documents, in both; default what each of the
            two says, else 1 in the first. Measures have their own.
        judge_rel: the lowest label of `qrels_b` that is relevant, or a dict of its label -> the label of `qrels_a` that
            it stands for. Default: where neither `rel` nor `qrels_b` says so, 1 where all its labels are 0 and 1, and
            as in `qrels_a` where none is above the highest there; labels above it are refused. Without `measures_b` the
            labels come to the scale of `qrels_a`, as those of a judge in :func:`audit_labels`; where `rel` or `qrels_b`
            says so, or measures of their own are given, they stay as they are.
        resamples: how often the topics are drawn for intervals, see ``Agreement``; default 0, no intervals.
        confidence: of the intervals.
        seed: of the draws.
        complete: the mean is over all topics that count, a topic that a run lacks counting 0 (default), or over those
            that the run has.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        n_jobs: topics, then parts of the draws, at a time, as joblib takes it; default what
            ``joblib.parallel_config`` says, else 1. The numbers do not depend on it.
        verbose: show progress bars.

    Returns:
        JudgmentComparison: ``.table`` per measure, ``.changes`` per run, ``.per_topic``, ``.selected``, ``.by_run`` and
        ``.by_topic`` (what is new), ``.report("selected")``, ``.plot()``.

    Raises:
        InputError: judgments without a common topic, labels beyond those of the first of which nobody says which are
            relevant, an unknown measure or run, other numbers of measures, a run without any of the topics; intervals
            of means over two sets of topics.

    Warns:
        ReuseWarning: topics that only one of the two has, which are left out; fewer than five topics; judgments of
            relevant documents only, which cannot say what is unjudged. ``settings["beware"]`` says the last two, too.
            A measure that counts labels as relevant that are not so for the judgments; runs that all tie.
            Also a field of one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> names = ("depth 10", "complete")
        >>> found = ptr.compare_judgments(field.runs, field.qrels, field.all_qrels, "AP", names=names, depth=10)
        >>> found.headline()
        'complete against depth 10: AP tau_b 0.7516, drop 4; 9,310 documents judged by complete alone, 707 relevant'
        >>> found.by_run.loc[found.by_run["new"] > 0, ["name", "unjudged", "new_relevant"]].head(2)
             name  unjudged  new_relevant
        14  neu8a        42            12
        15  neu8b        33            10

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?,
    https://arxiv.org/abs/2201.11086; sections 7.2 of Voorhees, Craswell and Lin 2022, Too many relevants: whither
    Cranfield test collections?, SIGIR, for strict and lenient labels.
    """
    names = checked_names(names)
    pairs = check_comparing(
        measures,
        measures_b,
        topics=topics,
        selected=selected,
        depth=depth,
        pool_order=pool_order,
        rel=rel,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
    )
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    jobs = checked_jobs(n_jobs)
    runs, qrels_a = as_runs_before(runs, qrels_a)
    wanted = checked_selected(selected, runs.names)
    both = as_qrels(qrels_a, "qrels_a"), as_qrels(qrels_b, "qrels_b")
    common = _common_topics(*both, names, own=topics == "own", bootstrap=bootstrap)
    # all topics tell the scales, those that only one has, too
    before = NamedJudgments.of(names[0], both[0], rel)
    with located(names[1]):
        same = measures_b is None
        after = NamedJudgments.beside(before, names[1], both[1], rel=rel, judge_rel=judge_rel, same_measures=same)
    if topics == "shared":
        before, after = (replace(side, qrels=side.qrels.select(common.shared)) for side in (before, after))
    sides = [before, after]
    caveats = [*one_run(len(runs)), *few_topics(len(common.shared))]
    tell(caveats)
    for side in sides:
        with located(side.name):
            tell(only := list(relevant_only(side.qrels, ["unjudged"])))
        caveats += [replace(caveat, note=f"{side.name}: {caveat.note}") for caveat in only]
    scores = []
    for side, used in zip(sides, zip(*pairs, strict=True), strict=True):
        with located(side.name), told_elsewhere():
            found = score(
                runs,
                side.qrels,
                used,
                complete=complete,
                without_topics=without_topics,
                n_jobs=jobs,
                verbose=verbose,
            )
        scores.append(found)
    first, second = scores[0], _in_pairs(scores[1], pairs)
    with told_elsewhere():
        agreement = first.compare(second, names, resamples=resamples, confidence=confidence, seed=seed, n_jobs=jobs)
    other_of = {repr(mine): repr(other) for mine, other in pairs}
    table = _with_other(agreement.table, other_of)
    changes = _with_other(agreement.changes, other_of)
    asked = depth_of(runs, depth)
    with arguments_as(order="pool_order"):
        ranked = runs.in_pool_order(pool_order)
    pool = pool_to_depth(ranked, asked.value, contributors_of(ranked, "all"))
    new = new_documents(pool, before, after, common.shared)
    gone = new_documents(pool, after, before, common.shared)
    rates = pd.DataFrame(
        {
            "unjudged_rate": new.by_run.set_index("name")["unjudged_rate"],
            "other_unjudged_rate": gone.by_run.set_index("name")["unjudged_rate"],
        }
    )
    return JudgmentComparison(
        table=table,
        settings={
            **agreement.settings,
            "topics": common.words,
            "relevant": _relevant_in_words(sides),
            "depth": asked.value,
            "depth from": asked.origin.value,
            "pool order": ranked.order,
            **noted(caveats),
        },
        changes=changes,
        per_topic=_per_topic(agreement, first, second, other_of),
        names=names,
        selected=selected_runs(changes, runs.run_table, rates, wanted),
        by_run=pd.concat([new.by_run, gone.by_run], ignore_index=True),
        by_topic=pd.concat([new.by_topic, gone.by_topic], ignore_index=True),
        depth=asked.value,
    )


def check_comparing(
    measures: Any,
    measures_b: Any,
    *,
    topics: Any = "shared",
    selected: Any = None,
    runs: Sequence[str] | None = None,
    depth: Any = None,
    pool_order: Any = None,
    rel: Any = None,
    resamples: Any = 0,
    confidence: Any = 0.95,
    seed: Any = 0,
) -> list[tuple[ir_measures.Measure, ir_measures.Measure]]:
    """Raise where one of the arguments of :func:`compare_judgments` is nothing of the kind.

    Args:
        measures: under the first judgments.
        measures_b: under the second, None for the same.
        topics: one of :data:`TOPICS`.
        selected: run names, or None.
        runs: the runs that there are; None where that is not known yet.
        depth: a pool's, or None.
        pool_order: a ranking order, or None.
        rel: the lowest label that is relevant, or None.
        resamples: of topics.
        confidence: of intervals.
        seed: of the draws.

    Returns:
        Which measure of the first judgments is compared with which of the second.
    """
    pairs = _checked_pairs(measures, measures_b)
    choice("topics", topics, TOPICS)
    checked_selected(selected, runs)
    with arguments_as(order="pool_order"):
        check_pooling(depth, pool_order)
    checked_rel(rel)
    checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    return pairs


def _checked_pairs(measures: Any, measures_b: Any) -> list[tuple[ir_measures.Measure, ir_measures.Measure]]:
    """Return which measure of the first judgments is compared with which of the second."""
    given = list(measures) if _are_several(measures) else measures
    mine = checked_measures(given)
    if measures_b is None:
        return [(measure, measure) for measure in mine]
    several = list(measures_b) if _are_several(measures_b) else [measures_b]
    with arguments_as(measures="measures_b"):
        checked_measures(several)
        # one by one, since the same one may be compared with several of the first
        others = [measure for one in several for measure in checked_measures([one])]
    if len(others) == 1:
        return [(measure, others[0]) for measure in mine]
    every = [measure for one in given for measure in checked_measures([one])] if isinstance(given, list) else mine
    if len(every) == len(others) != len(mine):
        twice = next(repr(measure) for measure in mine if every.count(measure) > 1)
        raise InputError(
            f"{twice} is given twice, and each measure is compared with one of the second judgments. Compare it with "
            "another one in a call of its own.",
            argument="measures",
        )
    if len(mine) != len(others):
        raise InputError(
            Argument("measures_b"),
            " must be one, or as many as the measures of the first judgments, with which they are compared one by one: "
            f"there {'is' if len(others) == 1 else 'are'} {len(others):,} ({examples(map(repr, others), 12)}) for "
            f"{len(mine):,} ({examples(map(repr, mine), 12)}).",
            argument="measures_b",
        )
    return list(zip(mine, others, strict=True))


def _are_several(measures: Any) -> bool:
    return isinstance(measures, Iterable) and not isinstance(measures, str | ir_measures.Measure)


def _in_pairs(scores: Scores, pairs: list[tuple[ir_measures.Measure, ir_measures.Measure]]) -> Scores:
    """Return the scores under the second judgments, each measure in the place and under the name of its partner."""
    rows = [scores.measures.index(repr(other)) for _, other in pairs]
    return replace(scores, measures=[repr(mine) for mine, _ in pairs], values=scores.values[rows])


@dataclass(frozen=True)
class _CommonTopics:
    """The topics that both sets of judgments have.

    Attributes:
        shared: the topics, in natural order.
        words: which topics count, for settings.
    """

    shared: list[str]
    words: str


def _common_topics(
    a: Qrels, b: Qrels, names: tuple[str, str], *, own: bool, bootstrap: TopicBootstrap | None
) -> _CommonTopics:
    there = set(b.topics)
    shared = [topic for topic in a.topics if topic in there]
    for name, qrels, argument in zip(names, (a, b), ("qrels_a", "qrels_b"), strict=True):
        if not qrels.topics:
            raise InputError(f"there is no judgment in {name}.", argument=argument)
    if not shared:
        raise InputError(
            f"{names[0]} and {names[1]} have no topic in common: {examples(a.topics)}; {examples(b.topics)}. Are these "
            "judgments of one collection, with ids written alike?",
            argument="qrels_b",
        )
    alone = [len(a.topics) - len(shared), len(b.topics) - len(shared)]
    if not any(alone):
        return _CommonTopics(shared, f"the same {len(shared):,}" if len(shared) > 1 else "the same one")
    if own and bootstrap is not None:
        raise InputError(
            f"intervals draw the same topics for both, and {names[0]} has {count(len(a.topics), 'topic')} and "
            f"{names[1]} {len(b.topics):,}, {len(shared):,} of them in common. Give ",
            Option("topics", "shared"),
            ".",
            argument="topics",
        )
    if own:
        words = f"its own for each: {len(a.topics):,} and {len(b.topics):,}, {len(shared):,} of them in common"
        return _CommonTopics(shared, words)
    left = [f"{count(n, 'topic')} of {name}" for n, name in zip(alone, names, strict=True) if n]
    warn(
        f"{' and '.join(left)} left out: both count on the {count(len(shared), 'topic')} that both have. To have each "
        "count on its own topics, give ",
        Option("topics", "own"),
        ".",
    )
    return _CommonTopics(shared, f"the {len(shared):,} that both have, without {' and '.join(left)}")


def _relevant_in_words(sides: list[NamedJudgments]) -> str:
    words = {side.words for side in sides}
    return words.pop() if len(words) == 1 else ", ".join(f"{side.words} ({side.name})" for side in sides)


def _with_other(frame: pd.DataFrame, other_of: dict[str, str]) -> pd.DataFrame:
    """Return a table with the measure of the second judgments beside that of the first."""
    found = frame.copy()
    found.insert(found.columns.get_loc("measure") + 1, "other_measure", found["measure"].map(other_of).astype(object))
    return found


def _per_topic(agreement: Agreement, first: Scores, second: Scores, other_of: dict[str, str]) -> pd.DataFrame:
    """Return tau_b of each shared topic, and the runs that move most there."""
    shared = [topic for topic in first.topics if topic in set(second.topics)]
    rows = [[scores.topics.index(topic) for topic in shared] for scores in (first, second)]
    moved = pd.concat(
        [
            topic_moves(truth[rows[0]], estimate[rows[1]], first.names)
            for truth, estimate in zip(first.values, second.values, strict=True)
        ],
        ignore_index=True,
    )
    return pd.concat([_with_other(agreement.per_topic, other_of), moved], axis=1)
