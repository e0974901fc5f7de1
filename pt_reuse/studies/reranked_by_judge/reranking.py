"""circularity: what runs gain that re-rank by the labels of a judge, under that judge, other judges and people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pt_reuse._check import count, examples, positive
from pt_reuse._errors import InputError, door, located, warn
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.judgment_changes import rerank_by_labels
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.judges import JudgeRel, NamedJudge, as_judges
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import noted, tell
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.judged_fields import AskedJudges, JudgedField, under, with_names
from pt_reuse.studies.reranked_by_judge.circle import PEOPLE, Circularity
from pt_reuse.studies.reranked_by_judge.standings import (
    FIELDS,
    BeforeAfter,
    common_topics,
    gain_numbers,
    tau_numbers,
)

#: columns before those of runs
ABOUT = ("judge", "scorer", "measure")


@dataclass(frozen=True)
class _Labels:
    """The labels of everybody for the same documents, on the topics that all have.

    Attributes:
        people: the judgments of people.
        own: judge -> its labels, on its own scale, by which it sorts.
        scoring: who scores -> the labels that measures take; people first.
    """

    people: Qrels
    own: dict[str, Qrels]
    scoring: dict[str, Qrels]


@door
def circularity(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    scorers: Any = None,
    depth: int = 10,
    best: int = 10,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    missing: str = "unjudged",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> Circularity:
    """Say what runs gain that re-rank by a judge's labels, under the same judge, under other judges and under people.

    Each judge re-ranks every run: the first `depth` documents of a list are sorted by the judge's labels, the best
    label first; documents of one label stay in the order of the run, and those without a label keep their places. That
    is the best a system can do that asks the same judge. Then everybody scores the runs as they were and re-ranked.
    What the judge's own scores rise above those of people is its circle: the system found what the judge likes, not
    what people want.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        human: the judgments of people, in any form.
        judge: a judge that re-ranks, or a dict of name -> judge: judgments in any form, a
            :class:`~pt_reuse.judging.Judge`, a function or a pipeline. A judge is asked for the documents that people
            judged alone, so that the labels that sort are the labels that score.
        measures: ir_measures measures, or their names, one or several.
        scorers: further judges that score and do not re-rank, in the same forms. The judges that re-rank score, too,
            and so do people.
        depth: how many documents of each list are sorted.
        best: how many systems are the best, for tau_b of the best and for who is among them; systems that tie with the
            last of them are among them.
        rel: the lowest label of people that is relevant; default what their judgments say, else 1.
        judge_rel: the same of the judges, or a dict of their label -> the label of people, as in :func:`audit_labels`.
        families: a dict of judge -> family of models, shown beside the judge.
        missing: a document without a label of a judge is ``"unjudged"`` for it (default), or is dropped for everybody
            (``"drop"``).
        resamples: how often the topics are drawn for intervals, the same draws for all; 0 for none.
        confidence: of the intervals.
        seed: of the draws.
        complete: the mean is over all topics, a topic that a run lacks counting 0 (default), or over those that the run
            has.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        verbose: show progress bars.

    Returns:
        Circularity: ``.table`` (gains, per judge and scorer), ``.rankings`` (tau_b with people), ``.by_run``,
        ``.findings()``, ``.report()``, ``.plot()``.

    Raises:
        InputError: a judge without labels for these documents, judges without a common topic, a scorer of the name of a
            judge, an unknown measure.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing, which count for nobody; fewer than five topics, which
            ``settings["beware"]`` says, too; a measure that counts labels as relevant that are not so for people;
            a `rel` above every label of people.
            Also a field of one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> noisy = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.25, range(3)), seed=1, name="noisy")
        >>> found = ptr.labels.circularity(field.runs, field.qrels, noisy, "nDCG@10", resamples=200)
        >>> found.table[["judge", "scorer", "mean_gain", "reranked_in_best"]]
           judge  scorer  mean_gain  reranked_in_best
        0  noisy  people   0.044355                 6
        1  noisy   noisy   0.100913                 9

    Source: Clarke and Dietz 2024, LLM-based relevance assessment still can't replace human relevance assessment,
    https://arxiv.org/abs/2412.17156. They have all systems of a track re-rank by the judge, which here is the field
    ``"re-ranked"`` of ``.rankings``.
    """
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    to, top = positive("depth", depth, "documents"), positive("best", best, "systems")
    rerankers = as_judges(judge)
    mine, every = [one.name for one in rerankers], [*rerankers, *_further(scorers, rerankers)]
    if families is None:
        families = {one.name: one.family for one in every if one.family is not None}
    asked = AskedJudges.of(
        {one.name: one.judge for one in every},
        measures,
        rel=rel,
        judge_rel=judge_rel,
        families=families,
        missing=missing,
        complete=complete,
        without_topics=without_topics,
        verbose=verbose,
    )
    field = asked.read(runs, human)
    compared = field.compared()
    labels = _common_labels(field, compared)
    caveats = field.caveats(compared, len(labels.people.topics))
    tell(caveats)
    before = {scorer: field.scored(qrels) for scorer, qrels in labels.scoring.items()}
    rows, ranked, by_run = [], [], []
    for name in mine:
        reranked = rerank_by_labels(field.runs, labels.own[name], to)
        after = {scorer: field.scored(qrels, reranked) for scorer, qrels in labels.scoring.items()}
        for measure in before[PEOPLE].measures:
            sides = _sides(before, after, measure)
            for scorer, side in sides.items():
                about = {
                    "judge": name,
                    "family": next(one.family for one in compared if one.name == name),
                    "scorer": scorer,
                    "measure": measure,
                    "same": scorer == name,
                }
                rows.append({**about, **_numbers(side, sides[PEOPLE] if scorer != PEOPLE else None, top, bootstrap)})
                by_run.append(under(about, ABOUT, side.by_run(field.runs.run_table)))
                if scorer != PEOPLE:
                    with located(f"{name}, scored by {scorer}, {measure}"):
                        ranked += [
                            {**about, "field": kind, **_taus(sides[PEOPLE], side, kind, top, bootstrap)}
                            for kind in FIELDS
                        ]
    return Circularity(
        table=with_names(pd.DataFrame(rows), "family"),
        settings={
            "re-ranked": f"the first {count(to, 'document')} of each list by the judge's labels, best first, ties as "
            "in the run, documents without a label in their places",
            **field.settings(compared),
            "topics": len(labels.people.topics),
            "best": top,
            **({INTERVALS: _in_words(bootstrap)} if bootstrap else {}),
            **noted(caveats),
        },
        rankings=with_names(pd.DataFrame(ranked), "family"),
        by_run=pd.concat(by_run, ignore_index=True),
        depth=to,
        best=top,
    )


def _further(scorers: Any, judges: Sequence[NamedJudge]) -> list[NamedJudge]:
    """Return the judges that score and do not re-rank."""
    others = [] if scorers is None else as_judges(scorers, "scorers")
    names = [one.name for one in judges]
    both = [one.name for one in others if one.name in names]
    if both:
        raise InputError(
            f"{examples(both)} re-ranks, and who re-ranks scores, too. Give a scorer that is none of the judges, under "
            "a name of its own.",
            argument="scorers",
        )
    for argument, some in (("judge", judges), ("scorers", others)):
        if any(one.name == PEOPLE for one in some):
            problem = f"{PEOPLE!r} are those who made the judgments. Give the judge another name."
            raise InputError(problem, argument=argument)
    return others


def _common_labels(field: JudgedField, compared: list[ComparedLabels]) -> _Labels:
    """Return the labels of all judges and of people on the topics that all of them have."""
    topics = common_topics([labels.human.topics for labels in compared])
    if not topics:
        raise InputError(
            "the judges have no topic in common in which all of them labelled a document, and who re-ranks and who "
            "scores need the same topics. Call it for each of them.",
            argument="judge",
        )
    most = max(len(labels.human.topics) for labels in compared)
    if len(topics) < most:
        warn(
            f"the judges have {count(len(topics), 'topic')} in common, and one of them labelled documents in {most:,}. "
            "Who re-ranks and who scores need the same topics, so the common ones count."
        )
    people = field.human.select(topics)
    if field.asked.missing == "drop":
        for labels in compared:
            people = people.restrict(labels.judge)
    own, scoring = {}, {PEOPLE: people}
    for labels in compared:
        own[labels.name] = labels.judge.select(topics).restrict(people)
        scoring[labels.name] = labels.on_scale.select(topics).restrict(people)
    if field.asked.without_topics == "error":
        check_topics(field.runs, people)
    return _Labels(people, own, scoring)


def _sides(before: Mapping[str, Scores], after: Mapping[str, Scores], measure: str) -> dict[str, BeforeAfter]:
    """Return scorer -> the runs as they were and re-ranked, by one measure."""
    return {
        scorer: BeforeAfter(scores.topic_means[measure], after[scorer].topic_means[measure])
        for scorer, scores in before.items()
    }


def _numbers(
    side: BeforeAfter, people: BeforeAfter | None, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    gains, (rank, reranked) = rounded(side.gains()[0]), side.ranks()
    in_best = side.in_best(best)
    return {
        "topics": len(side.before.values),
        "runs": len(rank),
        **gain_numbers(side, people, bootstrap),
        "gaining": int((gains > 0).sum()),
        "losing": int((gains < 0).sum()),
        "mean_rise": float((rank - reranked).mean()),
        "reranked_in_best": in_best[0],
        "originals_in_best": in_best[1],
    }


def _taus(
    people: BeforeAfter, scorer: BeforeAfter, field: str, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    return tau_numbers(people.of(field), scorer.of(field), best, bootstrap)


def _in_words(bootstrap: TopicBootstrap) -> str:
    return (
        f"of tau_b {bootstrap.words()}, the best systems being those of all topics; of gains t intervals from the same "
        "draws"
    )
