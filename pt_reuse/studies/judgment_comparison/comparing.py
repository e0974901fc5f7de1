"""compare_judgments: the same runs under two sets of judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import pandas as pd

from pt_reuse._check import checked_jobs, choice, count, examples
from pt_reuse._errors import Argument, InputError, Option, arguments_as, door, located, warn
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import check_pooling, depth_of, pool_to_depth
from pt_reuse.scoring.agreement import UNNAMED, Agreement, checked_names
from pt_reuse.scoring.caveats import few_topics, noted, one_run, relevant_only, tell, told_elsewhere
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.run_scores import check_scoring, checked_measures, score
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.judgment_comparison.comparison import JudgmentComparison
from pt_reuse.studies.judgment_comparison.documents import NamedJudgments, new_documents
from pt_reuse.studies.judgment_comparison.moves import checked_selected, selected_runs, topic_moves

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
