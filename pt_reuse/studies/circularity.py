"""circularity: what a system gains that re-ranks by the judge that scores it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.correlation import rounded
from pt_reuse.columns import Table
from pt_reuse.data.judgment_changes import rerank_by_labels
from pt_reuse.data.units import described
from pt_reuse.errors import InputError, count, located, positive, warn
from pt_reuse.inputs import interval_settings, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.plots.forests import plot_gains, plot_run_gains
from pt_reuse.plots.sheet import Axes
from pt_reuse.result import KeyFigures, cells, drawn_by_measure, records
from pt_reuse.scoring.scores import check_topics
from pt_reuse.studies.judged_fields import (
    Best,
    JudgedInputs,
    OfJudges,
    drawn_by_judge,
    number_with_ends,
    under,
    with_names,
)
from pt_reuse.study import study

#: who scores when no judge does
PEOPLE = "people"
#: judges and measures of which the answer speaks
_IN_ANSWER = 3


def _draw_runs(rows: pd.DataFrame, *, judge: str, **how: Any) -> Axes:
    own, people = (rows[rows["scorer"] == scorer] for scorer in (judge, PEOPLE))
    return plot_run_gains(own, people, judge=judge, **how)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Circularity(OfJudges):
    """What runs gain whose first documents are re-ranked by a judge's labels, by who scores them.

    ``judge`` is who re-ranks, ``scorer`` who scores: the same judge, another one, or ``"people"``.

    Attributes:
        depth: how many documents of each list are sorted.
        best: how many systems are the best.
    """

    title = "Circularity"
    about = "{topics} topics"
    valid_for = "the first {depth} documents of each run, sorted by the labels of the judge; {missing}."
    not_covered = "systems that use the judge in another way, such as one that is trained on its labels."
    plots = {"gains": drawn_by_measure(plot_gains, people=PEOPLE), "runs": drawn_by_judge(_draw_runs, "by_run")}
    key = (KeyFigures(("excess_gain", "mean_gain"), "own_gains", "{judge}"),)
    columns = """
    judge          | Re-ranked by | | the judge that re-ranks
    scorer         | Scored by    | | who scores
    same           | Same         | | whether the judge scores itself
    mean_gain      | Mean gain    | score  | by how much the mean score of the runs is higher once they are re-ranked
    excess_gain    | Excess gain  | score  | by how much that is above the one under people, NaN for people
    gaining        | Gaining      | count  | how many runs score higher
    losing         | Losing       | count  | how many score lower
    mean_rise      | Ranks gained | places | mean rank gain of a re-ranked run while the others stay as they were
    reranked_in_best  | Re-ranked among the best | count | re-ranked systems among the `best` of all
    originals_in_best | Originals among the best | count | systems as they were among them; more than `best` with ties
    field          | Ranked       | | what is ranked: "original" runs, "re-ranked" ones, or "both" together
    tau_b_best     | tau_b, best  | score  | tau_b of the systems alone that are best by people, of all topics
    reranked_score | Re-ranked    | score  | mean score once it is re-ranked
    gain           | Gain         | difference | by how much that is higher
    reranked_rank  | Rank re-ranked | ranks | its rank when it alone is re-ranked
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge, scorer and measure",
            "judge* family scorer* measure same topics runs mean_gain~* excess_gain~* gaining losing mean_rise* "
            "reranked_in_best* originals_in_best",
        ),
    ]
    rankings: Annotated[
        pd.DataFrame,
        Table(
            "judge, scorer but people, measure and field, ranked by the scorer and by people",
            "judge* family scorer* measure same field* systems tau_b~* tau_b_best~*",
        ),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "judge, scorer, measure and run",
            "judge scorer measure name* team type family? score* reranked_score* gain* rank* reranked_rank*",
            select={"judge": None, "scorer": None},
        ),
    ]
    depth: int
    best: int

    def own_gains(self) -> pd.DataFrame:
        return self.table[self.table["same"]]

    def answers(self) -> list[str]:
        line = "{measure} of runs re-ranked by {judge}: {mean_gain:+.4f} by {judge}, {people:+.4f} by people"
        own, people = (
            [cells(row, self.columns) for row in records(rows)]
            for rows in (self.own_gains(), self.table[self.table["scorer"] == PEOPLE])
        )
        both = zip(own, people, strict=True)
        return [line.format_map({**row, "people": other["mean_gain"]}) for row, other in both][:_IN_ANSWER]


@study(
    question="How much does a system gain if it re-ranks by the judge that scores it?",
    aim="models",
    command="audit",
    group="labels",
    papers="[C24]_",
)
def circularity(
    runs: options.Runs,
    human: options.HumanJudgments,
    judge: options.JudgeLabels,
    measures: options.Measures,
    *,
    depth: Annotated[
        int,
        options.Option(
            "how many documents of each list are sorted.", check=partial(positive, "depth", unit="documents")
        ),
    ] = 10,
    best: Best = 10,
    rel: options.Rel = None,
    judge_rel: options.JudgeGrade = None,
    families: options.Families = None,
    missing: options.Missing = "unjudged",
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    complete: options.Complete = True,
    verbose: options.Verbose = False,
) -> Circularity:
    """Re-rank runs by a judge's labels, and compute their gains under this judge, under other judges and under people.

    Each judge re-ranks every run: the first `depth` documents of a list are sorted by the judge's labels, the best
    label first; documents of one label stay in the order of the run, and those without a label keep their places. If
    the judge's own scores rise more than those of people, the evaluation is circular.

    Raises:
        InputError: a judge without labels for these documents, judges without a common topic, an unknown measure.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> noisy = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.25, range(3)), seed=1, name="noisy")
        >>> found = ptr.labels.circularity(field.runs, field.qrels, noisy, "nDCG@10", resamples=200)
        >>> found.table[["judge", "scorer", "mean_gain", "reranked_in_best"]]
           judge  scorer  mean_gain  reranked_in_best
        0  noisy  people   0.044355                 6
        1  noisy   noisy   0.100913                 9

    Source: Clarke and Dietz 2024, LLM-based relevance assessment still can't replace human relevance assessment,
    https://arxiv.org/abs/2412.17156. They let all systems of a track re-rank by the judge; here this is the field
    ``"re-ranked"`` of ``.rankings``.
    """
    judges = as_judges(judge, rel=judge_rel, families=families)
    if any(named.name == PEOPLE for named in judges):
        what = f"{PEOPLE!r} are those who made the judgments. Give the judge another name."
        raise InputError(what, argument="judge")
    asked = JudgedInputs.read(runs, human, judges, measures, rel, complete=complete, missing=missing)
    field, topics = asked.inputs.runs, _common_topics(asked)
    people = asked.inputs.qrels.select(topics)
    if missing == "drop":
        for labels in asked.compared:
            people = people.restrict(labels.judge)
    check_topics(field, people)
    asked.beware(len(topics))
    bootstrap = asked.inputs.bootstrap(resamples, seed, confidence, None)

    scoring = {PEOPLE: people}
    scoring |= {labels.name: labels.on_scale.select(topics).restrict(people) for labels in asked.compared}
    before = {scorer: asked.scored(qrels, verbose=verbose) for scorer, qrels in scoring.items()}
    about_runs = described(field.run_table).drop(columns="pooled")
    rows, rankings = list[dict[str, Any]](), list[dict[str, Any]]()
    by_run: list[pd.DataFrame] = []
    for labels in asked.compared:
        reranked = rerank_by_labels(field, labels.judge.select(topics).restrict(people), depth)
        after = {scorer: asked.scored(qrels, reranked, verbose=verbose) for scorer, qrels in scoring.items()}
        for measure, scorer in product(before[PEOPLE].measures, scoring):
            sides, of_people = (
                (before[who].topic_means[measure], after[who].topic_means[measure]) for who in (scorer, PEOPLE)
            )
            key = {"scorer": scorer, "measure": measure}
            who = {"judge": labels.name, "family": labels.family, **key, "same": scorer == labels.name}
            n_topics, excess = len(topics), partial(_excess_gain, sides, of_people)
            gains = number_with_ends("mean_gain", partial(_mean_gain, sides), n_topics, bootstrap, None)
            gains |= number_with_ends("excess_gain", excess, n_topics, bootstrap, None)
            if scorer == PEOPLE:
                gains = {name: np.nan if name.startswith("excess") else value for name, value in gains.items()}
            numbers, of_runs = _gains(sides, best)
            rows.append({**who, "topics": len(topics), "runs": len(field), **gains, **numbers})
            by_run.append(under({"judge": labels.name, **key}, about_runs.assign(**of_runs)))
            if scorer != PEOPLE:
                with located(f"{labels.name}, scored by {scorer}, {measure}"):
                    rankings += [{**who, **row} for row in _taus(of_people, sides, best, bootstrap)]
    settings = settings_of(
        asked,
        interval_settings(bootstrap, "; of gains t intervals from the same draws"),
        re_ranked=f"the first {count(depth, 'document')} of each list by the judge's labels, best first, ties as in "
        "the run, documents without a label in their places",
        topics=len(topics),
        best=best,
    )
    return Circularity(
        table=with_names(rows),
        rankings=with_names(rankings),
        by_run=pd.concat(by_run, ignore_index=True),
        depth=depth,
        best=best,
        settings=settings,
    )


def _common_topics(asked: JudgedInputs) -> list[str]:
    """Return the topics in which everybody labelled a document."""
    labelled = [set(labels.human.topics) for labels in asked.compared]
    common, most = set.intersection(*labelled), max(map(len, labelled))
    if not common:
        what = "the judges have no topic in common in which all labelled a document. Call it for each of them."
        raise InputError(what, argument="judge")
    if len(common) < most:
        warn(f"only the {count(len(common), 'topic')} count that all judges labelled, of the {most:,} of one of them.")
    return [topic for topic in asked.inputs.qrels.topics if topic in common]


#: scores of the runs as they were, and re-ranked
_Sides = tuple[TopicScores, TopicScores]


def _together(sides: _Sides) -> TopicScores:
    has = [side.has_topic for side in sides if side.has_topic is not None]
    values = np.hstack([side.values for side in sides])
    return replace(sides[0], values=values, has_topic=np.hstack(has) if has else None)


def _gains(sides: _Sides, best: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the numbers of a row of the table, and the columns of its runs."""
    before, after = (scores.means()[0] for scores in sides)
    gain, n = after - before, len(before)
    rank = pairs.ranks(rounded(before))
    reranked_rank = pairs.rank_alone(rounded(before), rounded(after), np.arange(n))
    in_best = pairs.ranks(rounded(_together(sides).means()[0])) <= best
    numbers = {
        "gaining": int((rounded(gain) > 0).sum()),
        "losing": int((rounded(gain) < 0).sum()),
        "mean_rise": float((rank - reranked_rank).mean()),
        "reranked_in_best": int(in_best[n:].sum()),
        "originals_in_best": int(in_best[:n].sum()),
    }
    runs = {"score": before, "reranked_score": after, "gain": gain, "rank": rank, "reranked_rank": reranked_rank}
    return numbers, runs


def _mean_gain(sides: _Sides, counts: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Return (draws,) the mean gain of the runs."""
    return (sides[1].means(counts) - sides[0].means(counts)).mean(axis=1)


def _excess_gain(sides: _Sides, people: _Sides, counts: NDArray[np.int64] | None) -> NDArray[np.float64]:
    return _mean_gain(sides, counts) - _mean_gain(people, counts)


def _taus(people: _Sides, scorer: _Sides, best: int, bootstrap: TopicBootstrap | None) -> Iterator[dict[str, Any]]:
    """Yield of each field tau_b of people's ranking and a scorer's, of all systems and of the best by people.

    The best are those of all topics in every draw; those that tie with the last of them are among them.
    """
    n_topics = len(people[0].values)
    fields = zip(("original", "re-ranked", "both"), *((*of, _together(of)) for of in (people, scorer)), strict=True)
    for name, truth, estimate in fields:
        n = truth.values.shape[1]
        first = np.flatnonzero(pairs.ranks(rounded(truth.means()[0])) <= best)
        row: dict[str, Any] = {"field": name, "systems": n}
        for suffix, runs in (("", range(n)), ("_best", first.tolist())):
            x, y = (scores.of(range(n_topics), runs) for scores in (truth, estimate))
            taus = ranking_agreement(x, y, bootstrap, coefficients=("tau_b",))
            row |= {n.replace("tau_b", f"tau_b{suffix}"): taus[n] for n in taus if n.startswith("tau_b")}
        yield row
