"""compare_judgments: the rankings of the same runs under two sets of judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, did_you_mean, examples, positive, told
from pt_reuse._report import Digits, Report
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.pairs import rank_drops
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.errors import InputError, located, warn
from pt_reuse.options import SHARED, Flag, Parameter
from pt_reuse.pooling.depth import depth_of, pool_to_depth
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.result import KeyFigures, Result, Shown, View, clauses
from pt_reuse.scoring.agreement import (
    UNNAMED,
    Agreement,
    checked_names,
    compare_scores,
    draw_scores,
    of_ranking,
)
from pt_reuse.scoring.caveats import few_topics, noted, one_run, relevant_only, tell, told_elsewhere, usual_measures
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.run_fit import misfits
from pt_reuse.scoring.scores import Scores, checked_measures, score
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.new_documents import NamedJudgments, new_documents
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: the topics that count
TOPICS = ("shared", "own")
_UNITS = ("type", "team")
#: the columns of `selected`
_SELECTED = (
    "why", "name", "team", "type", "pooled", "measure", "other_measure", "score", "other_score", "change", "rank",
    "other_rank", "drop", "unjudged_rate", "other_unjudged_rate",
)  # fmt: skip


def _draw_scores(
    result: JudgmentComparison, measure: str, place: Place, view: str | None = None, by: str | None = None
) -> Axes:
    """Draw a point per run, its score under both."""
    other = result.table.set_index("measure").loc[measure, "other_measure"]
    usual = "change" if other == measure else "scores"
    return draw_scores(result, measure, place, usual if view is None else view, by)


def _draw_topics(result: JudgmentComparison, measure: str, place: Place) -> Axes:
    """Draw tau_b of each topic, the lowest first."""
    from pt_reuse.plots.topics import plot_topic_taus

    rows = result.per_topic[result.per_topic["measure"] == measure]
    row = result.measured().set_index("measure_a").loc[measure]
    return plot_topic_taus(rows, measured=row["measure"], overall=float(row["tau_b"]), place=place)


def _of_new(kind: str) -> Callable[..., Axes]:
    """Return what draws how many documents, or new relevant ones, each topic has, against its known relevant ones."""

    def draw(result: JudgmentComparison, _: str, place: Place) -> Axes:
        from pt_reuse.plots.run_scores import plot_new_by_topic

        both = result.older_and_newer(None)
        rows = result.by_topic[result.by_topic["new_by"] == both[1]]
        return plot_new_by_topic(rows, kind=kind, judgments=both, depth=result.depth, place=place)

    return draw


def _draw_runs(result: JudgmentComparison, _: str, place: Place, by: str | None = None) -> Axes:
    """Draw how many new relevant documents each run has among its previously unjudged ones."""
    from pt_reuse.plots.run_scores import check_view, plot_new_by_run

    check_view("change", by, _UNITS, result.by_run)
    both = result.older_and_newer(None)
    rows = result.by_run[result.by_run["new_by"] == both[1]]
    return plot_new_by_run(rows, judgments=both, depth=result.depth, by=by, place=place)


_RUNS = View(
    table="by_run",
    columns=(
        Shown("Run", "name"),
        Shown("Documents", "documents", Digits.COUNT),
        Shown("Unjudged", "unjudged", Digits.COUNT),
        Shown("Share", "unjudged_rate", Digits.SCORE),
        Shown("New", "new", Digits.COUNT),
        Shown("New relevant", "new_relevant", Digits.COUNT),
    ),
    select={"new_by": None},
    descending=("unjudged",),
    caption="Of the first {depth} documents of each run on each topic: those that the other judgments do not know, and "
    "of these the ones that {new_by} has judged, and found relevant. The share that is unjudged is a mean over topics.",
    noun="runs",
)


def _of_runs(result: JudgmentComparison, new_by: str | None = None) -> Report:
    """Return a row per run, the one with most unjudged documents first: how many of these are relevant."""
    return _RUNS.of(result, None, {"new_by": result.older_and_newer(new_by)[1]})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class JudgmentComparison(Result):
    """The same runs under two sets of judgments: how far the rankings agree, and what only one set knows.

    The first judgments are the older ones, or those taken as right; ``other_`` is what the second say. Both sets count
    on the topics of ``settings["topics"]``. What is *new* was judged by one of the two and not by the other
    (``new_by`` says by which); *judged* is a label of at least 0.

    Its figures: ``"scores"``, a point per run, its score under both (``view=`` ``"change"`` of the score, ``"percent"``
    of it, or the other ``"scores"``, the default where these are of another measure); ``"topics"``, tau_b of each
    topic, the lowest first; ``"remainder"``, how many documents each topic has that runs rank and the earlier judgments
    do not know, against its known relevant ones; ``"relevant"``, how many new relevant ones, against the same (both of
    figure 1 of the paper); ``"runs"``, how many new relevant documents each run has among its previously unjudged ones
    (figure 2). ``by="type"`` or ``"team"`` gives runs their colour and marker; ``new_by=`` is which of the two judged
    the new documents, default :attr:`newer`.

    Attributes:
        table: per measure ``measure other_measure tau_a tau_b gamma tau_ap tau_ap_b weighted_tau max_drop max_rise``,
            and where intervals were asked for, after each but weighted_tau its ends, ``tau_b_low tau_b_high`` and so
            on. Then how many runs are among the best `top` by the first and by the other judgments (more where runs
            tie), how many by both, and their share of the larger number: ``top_runs other_top_runs top_shared
            top_overlap``, with ``top_overlap_low`` and ``_high``.
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

    title, main = "Judgments compared", "agreement"
    condition = (
        "It holds for these {compared}, each ranked by the labels of either; topics: {topics}; relevant: {relevant}."
    )
    limit = "It does not say which of the two is right, nor how they would rank other runs."
    views = {
        "measure": View(
            table="measured",
            columns=(
                Shown("Measure", "measure"),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("Interval of tau_b", "tau_b", Digits.SCORE, interval=True),
                Shown("tau_AP", "tau_ap_b", Digits.SCORE, unless="tau_b_low"),
                Shown("gamma", "gamma", Digits.SCORE),
                Shown("Largest drop", "max_drop", Digits.COUNT),
                Shown("Largest rise", "max_rise", Digits.COUNT),
            ),
            caption="The ranking of the runs by {other} against the one by {first}: correlations (tau_AP symmetric and "
            "with ties), and the most ranks that a run loses or gains.",
            noun="measures",
        ),
        "top": View(
            table="measured",
            columns=(
                Shown("Measure", "measure"),
                Shown("Best", "top_runs", Digits.COUNT),
                Shown("By the other", "other_top_runs", Digits.COUNT),
                Shown("Shared", "top_shared", Digits.COUNT),
                Shown("Overlap", "top_overlap", Digits.SCORE),
                Shown("Interval", "top_overlap", Digits.SCORE, interval=True),
            ),
            caption="How many of the best {top} runs by {first} are among the best by {other}; runs that tie with the "
            "last of them count.",
            noun="measures",
        ),
        "selected": View(
            table="chosen_runs",
            columns=(
                Shown("Run", "name"),
                Shown("Score", "score", Digits.SCORE),
                Shown("Other score", "other_score", Digits.SCORE),
                Shown("Rank", "rank", Digits.COUNT),
                Shown("Other rank", "other_rank", Digits.COUNT),
                Shown("Unjudged", "unjudged_rate", Digits.SCORE),
            ),
            caption="Selected runs by {measure} under {first}, the best first, and under {other}; unjudged is the "
            "share of the first {depth} documents that {first} does not know.",
            noun="runs",
        ),
        "topic": View(
            table="moving_topics",
            columns=(
                Shown("Topic", "qid"),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("Largest drop", "max_drop", Digits.COUNT),
                Shown("Of run", "dropped"),
                Shown("Largest rise", "max_rise", Digits.COUNT),
                Shown("By run", "risen"),
            ),
            caption="The runs ranked on each topic alone by {measure}, the lowest tau_b first: {other} against "
            "{first}, and which run loses and which gains most ranks there; none where all runs tie by one of the two.",
            noun="topics",
        ),
        "run": _of_runs,
    }
    plots = {
        "scores": _draw_scores,
        "topics": _draw_topics,
        "remainder": _of_new("remainder"),
        "relevant": _of_new("relevant"),
        "runs": _draw_runs,
    }
    key = (
        KeyFigures(("tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"), "measured"),
        KeyFigures(("new", "new_relevant", "remainder"), "new", row="by {new_by}"),
    )
    sentences = {
        "truth": "First: {truth}; other: {estimate}.",
        "topics": "Topics: {topics}.",
        "pool order": "",
    }

    changes: pd.DataFrame
    per_topic: pd.DataFrame
    names: tuple[str, str] = UNNAMED
    selected: pd.DataFrame
    by_run: pd.DataFrame
    by_topic: pd.DataFrame
    depth: int

    def words(self) -> dict[str, Any]:
        """Return what captions and notes speak of, with what the two are called."""
        compared = count(self.changes["name"].nunique(), "run")
        return {**super().words(), "first": self.names[0], "other": self.names[1], "compared": compared}

    def measured(self) -> pd.DataFrame:
        """Return the table with both measures in ``measure``, where they differ; ``measure_a`` is the first."""
        both = zip(self.table["measure"], self.table["other_measure"], strict=True)
        named = [mine if mine == other else f"{mine} and {other}" for mine, other in both]
        return self.table.assign(measure_a=self.table["measure"], measure=named)

    def chosen_runs(self) -> pd.DataFrame:
        """Return the selected runs, with why they are shown behind their names."""
        names = [f"{row.name} ({row.why})" for row in self.selected[["name", "why"]].itertuples(index=False)]
        return self.selected.assign(name=names)

    def moving_topics(self) -> pd.DataFrame:
        """Return the topics, the lowest tau_b first."""
        return self.per_topic.sort_values("tau_b", kind="stable", na_position="last")

    def new(self) -> pd.DataFrame:
        """Return ``new_by new new_relevant remainder``: how many documents each of the two alone knows."""
        return self.by_topic.groupby("new_by", sort=False)[["new", "new_relevant", "remainder"]].sum().reset_index()

    @property
    def newer(self) -> str:
        """Return which of the two have documents that the other do not: the second, unless the first alone do."""
        new = self.new().set_index("new_by")["new"]
        return self.names[0] if new[self.names[0]] and not new[self.names[1]] else self.names[1]

    def older_and_newer(self, new_by: str | None) -> tuple[str, str]:
        """Return the two, the one that judged the new documents last; None for the newer."""
        after = self.newer if new_by is None else choice("new_by", new_by, self.names)
        return self.names[self.names[0] == after], after

    def headline(self) -> str:
        """Return what is compared with what, tau_b and the largest drop of each measure, and what is new."""
        rows = self.measured().to_dict("records")
        taus = clauses([of_ranking(row["measure"], row) for row in rows])
        new = self.new().set_index("new_by").loc[self.newer]
        known = "no document is judged by one of the two alone"
        if new["new"]:
            known = f"{count(new['new'], 'document')} judged by {self.newer} alone, {new['new_relevant']:,} relevant"
        return f"{self.names[1]} against {self.names[0]}: {taus}; {known}"


def checked_selected(selected: Any) -> list[str]:
    """Return the run names that a user's ``selected=`` lists."""
    names = [selected] if isinstance(selected, str) else list(selected) if isinstance(selected, Iterable) else [None]
    if not all(isinstance(name, str) for name in names):
        problem = f" must be a run name or several, got {told(selected)}."
        raise InputError(f"selected{problem}", argument="selected")
    return list(dict.fromkeys(names))


@study(
    Parameter(
        name="qrels_a",
        meaning="the judgments that are older, or taken as right: a Qrels, a frame, tuples, a dict or a file.",
    ),
    Parameter(
        name="qrels_b",
        meaning="the other judgments, in any of these forms.",
        flag=Flag(name="--other", help="the other judgments: a file or a collection", metavar="FILE", kind="judgments"),
    ),
    Parameter(
        name="names",
        meaning='what to call the two, such as ``("1999", "2021")``.',
        check=checked_names,
        flag=Flag(
            name="--judgment-names",
            help="what to call the two",
            metavar="A,B",
            kind="names",
            default="the names of their files or collections",
        ),
    ),
    Parameter(
        name="measures_b",
        meaning="measures under the second judgments where they are others: one for all of `measures`, or as many as "
        'these and compared with them one by one, such as ``"RR"`` for sparse labels beside ``"nDCG@10"`` for dense '
        "ones. Default the same.",
        check=lambda value: _several(value, "measures_b"),
        flag=Flag(
            name="--other-measures",
            help="measures under --other: one, or as many as --measures, compared one by one",
            metavar="LIST",
            kind="list",
            default="the same",
        ),
    ),
    Parameter(
        name="topics",
        meaning='``"shared"`` (default): both count on the topics that both have; ``"own"``: each on its own topics.',
        choices=TOPICS,
        flag=Flag(
            help="shared: score on the topics that both have; own: each on those of its own judgments",
            metavar="WHICH",
            kind="text",
        ),
    ),
    Parameter(
        name="selected",
        meaning="runs to show beside the best of each type and the median, such as the new ones; default those on "
        "record as not pooled, ten at most. Best and median are by the first measure under the first judgments; the "
        "median of an even number of runs is the better of the two in the middle.",
        check=checked_selected,
        flag=Flag(
            help="runs to show beside the best of each type and the median",
            metavar="LIST",
            kind="list",
            default="those not pooled, ten at most",
        ),
    ),
    Parameter(
        name="top",
        meaning="how many runs are the best; those that tie with the last of them are, too.",
        check=partial(positive, "top", unit="runs"),
        flag=Flag(help="how many runs are the best"),
    ),
    Parameter(
        name="measures",
        meaning="ir_measures measures or their names, one or several; default AP, from the grade from which documents "
        "are relevant, and ``nDCG@10``.",
        check=lambda value: _several(value, "measures"),
        flag=SHARED["measures"].flag,
    ),
    Parameter(
        name="judge_rel",
        meaning="the lowest label of `qrels_b` that is relevant, or a dict of its label -> the label of `qrels_a` that "
        "it stands for. Default: where neither `rel` nor `qrels_b` says so, 1 where all its labels are 0 and 1, and as "
        "in `qrels_a` where none is above the highest there; labels above it are refused. Without `measures_b` the "
        "labels come to the scale of `qrels_a`, as those of a judge in :func:`audit_labels`; where `rel` or `qrels_b` "
        "says so, or measures of their own are given, they stay as they are.",
        flag=Flag(
            help="lowest label of --other that is relevant, or LABEL:GRADE,... for the label of --qrels that each "
            "stands for",
            metavar="LABEL",
            kind="labels",
            default="1 where all are 0 and 1, else as for --qrels",
        ),
    ),
    command=Command(
        name="compare",
        summary="how the ranking of runs changes from one set of judgments to another",
        details="The ranking by --qrels is the reference, that by --other the estimate: a drop is the number of ranks "
        "that a run loses under --other. The output also shows what only one of the two has judged, and which runs "
        "have it.",
    ),
    together=lambda given: given.get("measures") and _pairs(given["measures"], given.get("measures_b")),
    entry=Entry(question="Would other judgments give the same ranking?", papers="[V22a]_"),
)
def compare_judgments(
    runs: Any,
    qrels_a: Any,
    qrels_b: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    names: tuple[str, str] = UNNAMED,
    measures_b: MeasureLike | Iterable[MeasureLike] | None = None,
    topics: str = "shared",
    selected: str | Iterable[str] | None = None,
    top: int = 10,
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
    """Compare the rankings of the same runs under two sets of judgments, and what only one of the two contains.

    The two may be old and new judgments of a collection, sparse and dense ones, lenient and strict ones
    (``qrels.threshold(2)``), those of two people, or of a person and a model.

    Args:
        depth: the rank down to which documents are counted that only one of the two has judged; default the pool depth
            on record, else 100.
        pool_order: the order in which these ranks count; default the one in which the field is pooled.
        rel: the lowest label that counts as relevant among new and known documents, in both; default that of each of
            the two, else 1 in the first. Measures have their own.
        resamples: how often the topics are drawn for intervals, see ``Agreement``; default 0, no intervals.

    Returns:
        JudgmentComparison: ``.table`` per measure, ``.changes`` per run, ``.per_topic``, ``.selected``, ``.by_run`` and
        ``.by_topic`` (what is new), ``.report("selected")``, ``.plot()``.

    Raises:
        InputError: judgments without a common topic, labels above those of the first without a statement which are
            relevant, an unknown measure or run, different numbers of measures, a run without any of the topics;
            intervals of means over two sets of topics.

    Warns:
        ReuseWarning: topics that only one of the two has, which are left out; fewer than five topics; judgments of
            relevant documents only, which do not show what is unjudged. ``settings["beware"]`` has the last two, too. A
            measure that counts labels as relevant that are not relevant for the judgments; runs that all tie. Also a
            field of one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> names = ("depth 10", "complete")
        >>> found = ptr.compare_judgments(field.runs, field.qrels, field.all_qrels, "AP", names=names, depth=10)
        >>> found.headline()
        'complete against depth 10: AP tau_b 0.7516, largest drop 4 ranks; 9,310 documents judged by complete ...'
        >>> found.by_run.loc[found.by_run["new"] > 0, ["name", "unjudged", "new_relevant"]].head(2)
             name  unjudged  new_relevant
        14  neu8a        42            12
        15  neu8b        33            10

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?,
    https://arxiv.org/abs/2201.11086; sections 7.2 of Voorhees, Craswell and Lin 2022, Too many relevants: whither
    Cranfield test collections?, SIGIR, for strict and lenient labels; Fagin, Kumar and Sivakumar
    2003, Comparing top k lists, SIAM Journal on Discrete Mathematics 17, for the best runs.
    """
    asked = Asked(compare_judgments, locals())
    # where nobody names any they are those of the labels of the first judgments, which are read later
    pairs = [] if asked["measures"] is None else _pairs(asked["measures"], asked["measures_b"])
    names, bootstrap = asked["names"], asked.bootstrap
    runs, qrels_a = as_runs_before(runs, qrels_a)
    check_known(asked["selected"] or (), runs.names)
    both = as_qrels(qrels_a, "qrels_a"), as_qrels(qrels_b, "qrels_b")
    shared, words = _common_topics(*both, names, own=topics == "own", bootstrap=bootstrap)
    # all topics tell the scales, those that only one has, too
    before = NamedJudgments.of(names[0], both[0], rel)
    with located(names[1]):
        same = measures_b is None
        after = NamedJudgments.beside(before, names[1], both[1], rel=rel, judge_rel=judge_rel, same_measures=same)
    if topics == "shared":
        before, after = (replace(side, qrels=side.qrels.select(shared)) for side in (before, after))
    sides = [before, after]
    caveats = [*one_run(len(runs)), *few_topics(len(shared))]
    tell(caveats)
    for side in sides:
        tell(only := list(relevant_only(side.qrels, side.name)))
        caveats += only
    pairs = pairs or _pairs(usual_measures(before.rel), asked["measures_b"])
    how: dict[str, Any] = {"complete": complete, "without_topics": without_topics}
    of_runs: set[str] = set()  # said once, of the first judgments, where it is the same under both
    for side, used in zip(sides, zip(*pairs, strict=True), strict=True):
        with located(side.name):
            fitting = [one for one in misfits(runs, side.qrels, dict.fromkeys(used), **how) if one.note not in of_runs]
            tell(fitting)
        of_runs |= {caveat.note for caveat in fitting}
        caveats += [replace(caveat, note=f"{side.name}: {caveat.note}") for caveat in fitting]
    how |= asked.how
    scores = []
    for side, used in zip(sides, zip(*pairs, strict=True), strict=True):
        with located(side.name), told_elsewhere():
            scores.append(score(runs, side.qrels, used, **how))
    first, second = scores[0], _in_pairs(scores[1], pairs)
    with told_elsewhere():
        agreement = compare_scores(first, second, names, bootstrap)
    # draws are of the same topics in the same order
    at = [second.topics.index(topic) for topic in first.topics] if bootstrap else range(len(second.topics))
    others = [second.topic_means[name].of(at, range(len(runs))) for name in first.measures]
    of_both = zip(first.topic_means.values(), others, strict=True)
    best = pd.DataFrame([_of_best(truth, other, asked["top"], bootstrap) for truth, other in of_both])
    other_of = {repr(mine): repr(other) for mine, other in pairs}
    changes = _with_other(agreement.changes, other_of)
    down_to = depth_of(runs, asked["depth"])
    ranked = runs.in_pool_order(asked["pool_order"])
    pool = pool_to_depth(ranked, down_to.value, contributors_of(ranked, "all"))
    new, gone = new_documents(pool, before, after, shared), new_documents(pool, after, before, shared)
    by_side = {"unjudged_rate": new[0], "other_unjudged_rate": gone[0]}
    rates = pd.DataFrame({name: frame.set_index("name")["unjudged_rate"] for name, frame in by_side.items()})
    return JudgmentComparison(
        table=pd.concat([_with_other(agreement.table, other_of), best], axis=1),
        settings={
            **agreement.settings,
            "topics": words,
            "relevant": _relevant_in_words(sides),
            "top": asked["top"],
            "depth": down_to.value,
            "depth from": down_to.origin.value,
            "pool order": ranked.order,
            **noted(caveats),
        },
        changes=changes,
        per_topic=_per_topic(agreement, first, second, other_of),
        names=names,
        selected=selected_runs(changes, runs.run_table, rates, asked["selected"]),
        by_run=pd.concat([new[0], gone[0]], ignore_index=True),
        by_topic=pd.concat([new[1], gone[1]], ignore_index=True),
        depth=down_to.value,
    )


def _several(measures: Any, argument: str) -> list[ir_measures.Measure]:
    """Return measures one by one, since the same one may be compared with several of the first."""
    one = isinstance(measures, str | ir_measures.Measure) or not isinstance(measures, Iterable)
    given = [measures] if one else list(measures)
    try:
        checked_measures(measures if one else given)
        return [measure for each in given for measure in checked_measures([each])]
    except InputError as error:
        raise InputError(error.text, argument=argument) from None


def _pairs(
    mine: list[ir_measures.Measure], others: list[ir_measures.Measure] | None
) -> list[tuple[ir_measures.Measure, ir_measures.Measure]]:
    """Return which measure of the first judgments is compared with which of the second."""
    once = list(dict.fromkeys(mine))
    if others is None or len(others) == 1:
        return [(measure, others[0] if others else measure) for measure in once]
    if len(mine) == len(others) != len(once):
        twice = next(repr(measure) for measure in mine if mine.count(measure) > 1)
        raise InputError(
            f"{twice} is given twice, and each measure is compared with one of the second judgments. Compare it with "
            "another one in a call of its own.",
            argument="measures",
        )
    if len(once) != len(others):
        raise InputError(
            "measures_b must be one, or as many as the measures of the first judgments, with which they are "
            f"compared one by one: there are {len(others):,} ({examples(map(repr, others), 12)}) for {len(once):,} "
            f"({examples(map(repr, once), 12)}).",
            argument="measures_b",
        )
    return list(zip(once, others, strict=True))


def _in_pairs(scores: Scores, pairs: list[tuple[ir_measures.Measure, ir_measures.Measure]]) -> Scores:
    """Return the scores under the second judgments, each measure in the place and under the name of its partner."""
    rows = [scores.measures.index(repr(other)) for _, other in pairs]
    return replace(scores, measures=[repr(mine) for mine, _ in pairs], values=scores.values[rows])


def _common_topics(
    a: Qrels, b: Qrels, names: tuple[str, str], *, own: bool, bootstrap: TopicBootstrap | None
) -> tuple[list[str], str]:
    """Return the topics that both have, and in words which topics count."""
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
        return shared, f"the same {len(shared):,}" if len(shared) > 1 else "the same one"
    if own and bootstrap is not None:
        raise InputError(
            f"intervals draw the same topics for both, and {names[0]} has {count(len(a.topics), 'topic')} and "
            f"{names[1]} {len(b.topics):,}, {len(shared):,} of them in common. Give topics='shared'.",
            argument="topics",
        )
    if own:
        words = f"its own for each: {len(a.topics):,} and {len(b.topics):,}, {len(shared):,} of them in common"
        return shared, words
    left = [f"{count(n, 'topic')} of {name}" for n, name in zip(alone, names, strict=True) if n]
    warn(
        f"{' and '.join(left)} left out: both count on the {count(len(shared), 'topic')} that both have. To have "
        "each count on its own topics, give topics='own'."
    )
    return shared, f"the {len(shared):,} that both have, without {' and '.join(left)}"


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


def _of_best(truth: TopicScores, estimate: TopicScores, top: int, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    """Return how many runs are among the best by each and by both, their share, and the ends of its interval."""
    best, others = (_best(side.means(), top)[0] for side in (truth, estimate))
    found = {"top_runs": best.sum(), "other_top_runs": others.sum(), "top_shared": (best & others).sum()}
    found["top_overlap"] = overlap = float(_overlap(truth.means(), estimate.means(), top)[0])
    if bootstrap is None:
        return found
    blocks = bootstrap.blocks(len(truth.values))
    drawn = np.concatenate([_overlap(truth.means(counts), estimate.means(counts), top) for counts in blocks])
    low, high = bootstrap.interval(overlap, drawn, within=(0, 1))
    return {**found, "top_overlap_low": low, "top_overlap_high": high}


def _best(means: NDArray[np.float64], top: int) -> NDArray[np.bool_]:
    """Return which runs are among the best in each row of means, with those that tie with the last of them."""
    means = np.round(means, DECIMALS)
    return np.asarray(means >= -np.sort(-means, axis=1)[:, [min(top, means.shape[1]) - 1]])


def _overlap(means: NDArray[np.float64], other_means: NDArray[np.float64], top: int) -> NDArray[np.float64]:
    best, others = _best(means, top), _best(other_means, top)
    return np.asarray((best & others).sum(axis=1) / np.maximum(best.sum(axis=1), others.sum(axis=1)))


#: of the runs on record as not pooled so many are shown where nobody says which
SHOWN = 10
_OF_TOPIC = ("max_drop", "dropped", "max_rise", "risen")


def topic_moves(truth: NDArray[np.float64], estimate: NDArray[np.float64], names: Sequence[str]) -> pd.DataFrame:
    """Return ``max_drop dropped max_rise risen`` per topic of (topics, runs) scores: how far a run moves, and which."""
    found: dict[str, list[Any]] = {name: [] for name in _OF_TOPIC}
    for before, after in zip(np.round(truth, DECIMALS), np.round(estimate, DECIMALS), strict=True):
        drops, best_first = rank_drops(before, after), np.argsort(-before, kind="stable")
        for most, who, signed in (("max_drop", "dropped", drops), ("max_rise", "risen", -drops)):
            place = best_first[int(signed[best_first].argmax())]
            found[most].append(max(int(signed[place]), 0))
            found[who].append(names[place] if signed[place] > 0 else None)
    return pd.DataFrame(found | {who: pd.Series(found[who], dtype=object) for who in ("dropped", "risen")})


def check_known(selected: Sequence[str], known: Sequence[str]) -> None:
    """Raise where a selected run is none of the field."""
    strangers = [name for name in selected if name not in set(known)]
    if strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        raise InputError(
            f"selected names {examples(strangers)}, not among the {count(len(known), 'run')}.{hint}",
            argument="selected",
        )


def selected_runs(
    changes: pd.DataFrame, run_table: pd.DataFrame, rates: pd.DataFrame, wanted: Sequence[str] | None
) -> pd.DataFrame:
    """Return the rows of the runs that a paper shows, see ``JudgmentComparison.selected``."""
    measures = list(dict.fromkeys(changes["measure"]))
    first = changes[changes["measure"] == measures[0]].sort_values("rank", kind="stable")["name"].tolist()
    of_run = run_table.set_index("name")
    reasons: dict[str, list[str]] = {}
    types = [kind for kind in dict.fromkeys(of_run["type"]) if kind is not None and not pd.isna(kind)]
    for kind in types:
        best = next(name for name in first if of_run.loc[name, "type"] == kind)
        reasons.setdefault(best, []).append(f"best {kind}")
    if not types:
        reasons.setdefault(first[0], []).append("best")
    reasons.setdefault(first[(len(first) - 1) // 2], []).append("median")
    if wanted is None:
        not_pooled = set(of_run.index[(of_run["pooled"] == False).fillna(False)])  # noqa: E712 - <NA> is neither
        for name in [name for name in first if name in not_pooled][:SHOWN]:
            reasons.setdefault(name, []).append("not pooled")
    for name in wanted or ():
        reasons.setdefault(name, []).append("selected")
    shown = [name for name in first if name in reasons]
    of_names = of_run.loc[shown, ["team", "type", "pooled"]].join(rates)
    rows = pd.concat([changes[changes["measure"] == measure].set_index("name").loc[shown] for measure in measures])
    rows = rows.drop(columns=["team", "type"]).join(of_names).reset_index(names="name")
    why = rows["name"].map({name: ", ".join(said) for name, said in reasons.items()})
    found = rows.assign(why=why, change=rows["other_score"] - rows["score"])[list(_SELECTED)]
    return found.astype({"pooled": "boolean", "why": object, "name": object})
