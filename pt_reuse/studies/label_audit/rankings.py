"""A field under the labels of people, of each judge and of others: rankings, runs that move, people beside judges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice
from pt_reuse._errors import ReuseWarning, located
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement, whole_changes
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.correlation import rounded
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import COLUMNS, Units
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.topic_sets import topics_of_runs
from pt_reuse.studies.label_audit.documents import DocumentEffects, Labels, MovingDocuments, places_by_name, ranks_of

#: `by` of the parts that are no groups, and what the first is called
ALL, BEST = "all", "best"
#: what runs can be grouped by
GROUPS = tuple(name for name in COLUMNS if name != "run")


@dataclass(frozen=True)
class FieldPart:
    """Some runs of a field.

    Attributes:
        by: ``"all"``, ``"best"``, or what the runs are grouped by.
        name: of the part.
        runs: (runs of the part,) their positions in the field.
    """

    by: str
    name: str
    runs: NDArray[np.int64]


def checked_grouping(by: str | None) -> str | None:
    """Return a user's ``by=``, or say that nothing groups runs so."""
    return None if by is None else choice("by", by, GROUPS)


def parts_of(truth: NDArray[np.float64], best: int, groups: Units | None) -> Iterator[FieldPart]:
    """Yield all runs, the best of them, and each group.

    Args:
        truth: (runs,) means under the labels of people.
        best: how many are the best; runs that tie with the last of them are among them. Where that is all runs there
            is no such part.
        groups: of the runs, None for none.
    """
    yield FieldPart(ALL, ALL, np.arange(len(truth)))
    chosen = np.flatnonzero(pairs.ranks(rounded(truth)) <= best)
    if len(chosen) < len(truth):
        yield FieldPart(BEST, f"{BEST} {best:,}", chosen)
    if groups is not None:
        for number, name in enumerate(groups.names):
            yield FieldPart(groups.by, name, np.flatnonzero(groups.of_run == number))


class LabelSheet:
    """Sets of labels of the documents that people judged, a row each, to be scored together.

    Args:
        human: the judgments of people.

    Attributes:
        human: as given.
    """

    def __init__(self, human: Qrels):
        self.human = human
        self._sets: list[Labels] = []

    def labels_of(self, judged: Qrels) -> Labels:
        """Return the labels that judgments of some of the documents give."""
        labels = np.full(len(self.human), UNJUDGED, dtype=np.int16)
        labels[self.human.arrays.documents.find(judged.arrays.documents)] = judged.arrays.labels
        return labels

    def add(self, labels: Labels) -> int:
        """Add a set and return its number; one that is there already keeps its own."""
        for number, known in enumerate(self._sets):
            if np.array_equal(known, labels):
                return number
        self._sets.append(labels)
        return len(self._sets) - 1

    def places(self, topics: Sequence[str]) -> NDArray[np.int64]:
        """Return the positions of topics among those of people."""
        place = self.human.arrays.documents.place
        return np.array([place[topic] for topic in topics], dtype=np.int64)

    def scored(
        self,
        runs: RunSet,
        measures: Sequence[ir_measures.Measure],
        *,
        complete: bool,
        n_jobs: int | None,
        verbose: bool,
    ) -> FieldScores:
        """Return the scores of every run under every set."""
        values = np.empty((len(self._sets), len(measures), len(self.human.topics), len(runs)))
        for block in rescore(runs, self.human, measures, self._changes(), n_jobs=n_jobs, verbose=verbose):
            values[:, :, block.topics.start : block.topics.stop] = block.base[None]
            values[block.set, :, block.topic] = block.values.transpose(1, 0, 2)
        return FieldScores(self._sets, values, None if complete else topics_of_runs(runs, self.human))

    def _changes(self) -> Changes:
        base = self.human.arrays.labels
        rows = [np.flatnonzero(labels != base) for labels in self._sets]
        return Changes(
            len(self._sets),
            np.repeat(np.arange(len(rows)), [len(changed) for changed in rows]),
            np.concatenate(rows),
            np.concatenate([labels[changed] for labels, changed in zip(self._sets, rows, strict=True)]),
        )


@dataclass(frozen=True)
class FieldScores:
    """Scores of a field under sets of labels.

    Attributes:
        labels: of each set.
        values: (sets, measures, topics of people, runs).
        has_topic: (topics, runs) whether a run has the topic, where means are over its own; None where over all.
    """

    labels: Sequence[Labels]
    values: NDArray[np.float64]
    has_topic: NDArray[np.bool_] | None

    def of(self, number: int, measure: int, topics: NDArray[np.int64]) -> TopicScores:
        """Return the scores under one set by one measure on some topics."""
        return TopicScores(self.values[number, measure, topics], self.has(topics))

    def has(self, topics: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return (topics, runs) whether a run has each of some topics; None where all count for all."""
        return None if self.has_topic is None else self.has_topic[topics]


#: who gives the labels that are compared with those of people
MODEL, PEOPLE = "model", "people"


@dataclass(frozen=True)
class Comparison:
    """Who is compared with people, and on what.

    Attributes:
        judge: the name.
        kind: :data:`MODEL` or :data:`PEOPLE`.
        family: of the judge, None where nobody says.
        truth: the number of the labels of people among those scored.
        estimate: the number of the judge's.
        topics: those that count, as positions among the topics of people.
        documents: how many documents both labelled.
    """

    judge: str
    kind: str
    family: str | None
    truth: int
    estimate: int
    topics: NDArray[np.int64]
    documents: int

    @property
    def columns(self) -> dict[str, object]:
        """Return what each row of a table says of the judge."""
        return {"judge": self.judge, "kind": self.kind}


@dataclass(frozen=True)
class RankedField:
    """The field ranked under two sets of labels by one measure.

    Attributes:
        truth: scores under the labels of people.
        estimate: under those of a judge, on the same topics.
        bootstrap: over these topics, None for no intervals.
    """

    truth: TopicScores
    estimate: TopicScores
    bootstrap: TopicBootstrap | None

    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (runs,) means of both."""
        return self.truth.means()[0], self.estimate.means()[0]

    def rises(self, counts: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return (draws, runs): how many ranks each run gains under the judge, negative where it loses."""
        before, after = (pairs.ranks(rounded(side.means(counts))) for side in (self.truth, self.estimate))
        return before - after

    @cached_property
    def drawn_rises(self) -> NDArray[np.float64]:
        """Return (draws, runs) ranks gained in each draw; one draw of NaN where there is nothing to draw."""
        n_topics, n_runs = self.truth.values.shape
        if self.bootstrap is None or n_topics < 2:
            return np.full((1, n_runs), np.nan)
        return np.concatenate([self.rises(counts) for counts in self.bootstrap.blocks(n_topics)]).astype(np.float64)

    def rise_interval(self, runs: NDArray[np.int64], *, integer: bool) -> dict[str, float]:
        """Return the ends of the interval of the mean rise of some runs, by name; nothing without a bootstrap."""
        if self.bootstrap is None:
            return {}
        mean, most = float(self.rises()[0][runs].mean()), float(self.truth.values.shape[1] - 1)
        drawn = self.drawn_rises[:, runs].mean(axis=1)
        low, high = self.bootstrap.interval(mean, drawn, within=(-most, most), integer=integer)
        return {"low": low, "high": high}

    def of(self, part: FieldPart) -> tuple[TopicScores, TopicScores]:
        """Return the scores of some of the runs, to be ranked among themselves."""
        topics, runs = range(len(self.truth.values)), part.runs.tolist()
        return self.truth.of(topics, runs), self.estimate.of(topics, runs)


def agreement_rows(
    compared: Comparison, measure: str, field: RankedField, *, best: int, groups: Units | None
) -> list[dict[str, object]]:
    """Return a row per part of the field: how far the two rank its runs alike.

    Args:
        compared: who is compared.
        measure: by which the runs are scored.
        field: the two rankings.
        best: how many runs are the best.
        groups: of the runs, or None.

    Returns:
        Rows: ``judge kind family measure by part runs topics documents``, the numbers of
        :func:`~pt_reuse.arrays.bootstrap.ranking_agreement` within the part, and ``mean_rise``, the mean number of
        ranks that its runs gain in the whole field; each with its ends where there is a bootstrap.
    """
    rises = field.rises()[0]
    rows = []
    for part in parts_of(field.means()[0], best, groups):
        with located(f"{compared.judge}, {measure}"), warnings.catch_warnings():
            if part.by != ALL:
                # of a few runs all tie in some draws as a rule, which settings tell
                warnings.simplefilter("ignore", ReuseWarning)
            found = ranking_agreement(*field.of(part), field.bootstrap)
        ends = field.rise_interval(part.runs, integer=False)
        rows.append(
            {
                **compared.columns,
                "family": compared.family,
                "measure": measure,
                "by": part.by,
                "part": part.name,
                "runs": len(part.runs),
                "topics": len(compared.topics),
                "documents": compared.documents,
                **found,
                "mean_rise": float(rises[part.runs].mean()),
                **{f"mean_rise_{end}": value for end, value in ends.items()},
            }
        )
    return rows


def moved_runs(compared: Comparison, measure: str, field: RankedField, run_table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run, in the order of the field.

    Returns:
        DataFrame: ``judge kind measure name team type score judge_score change relative by_documents rank judge_rank
        rise``, and ``rise_low rise_high`` where there is a bootstrap. ``relative`` is the change of the score less the
        mean change of all runs; ``by_documents`` is not known here, NaN.
    """
    score, judge_score = field.means()
    change, rises = judge_score - score, field.rises()[0]
    rank = pairs.ranks(rounded(score))
    moved = pd.DataFrame({name: run_table[name].to_numpy() for name in ("name", "team", "type")})
    for at, (column, value) in enumerate({**compared.columns, "measure": measure}.items()):
        moved.insert(at, column, value)
    ends = [field.rise_interval(np.array([run]), integer=True) for run in range(len(rises))]
    return moved.assign(
        score=score,
        judge_score=judge_score,
        change=change,
        relative=change - change.mean(),
        by_documents=np.nan,
        rank=rank,
        judge_rank=rank - rises,
        rise=rises,
        **{f"rise_{end}": [of_run[end] for of_run in ends] for end in ends[0]},
    )


def furthest_first(moved: pd.DataFrame) -> pd.DataFrame:
    """Return runs that moved, the one that gains most ranks first; of several the best one under people."""
    return moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable").reset_index(drop=True)


def without_ranking(table: pd.DataFrame) -> Sequence[str]:
    """Return which rankings of all runs do not exist, since all tie under people or under the judge."""
    none = table[(table["by"] == ALL) & table["tau_b"].isna()]
    return [f"{row.measure} of {row.judge}" for row in none.itertuples()]


#: columns of the table per other person, and of the one over all of them
BESIDE = ("judge", "person", "measure", "topics", "documents", "tau_b", "person_tau_b", "difference")
OVER_ALL = ("judge", "measure", "people", "tau_b", "people_tau_b", "difference")
ENDS = ("difference_low", "difference_high")


@dataclass(frozen=True)
class BesidePerson:
    """A judge and another person on the same documents.

    Attributes:
        judge: the name of the judge.
        person: the name of the other person.
        truth: the number of the labels of people among those scored, on these documents alone.
        by_judge: the number of those of the judge.
        by_person: the number of those of the other person.
        topics: of these documents, as positions among the topics of people.
        documents: how many there are.
    """

    judge: str
    person: str
    truth: int
    by_judge: int
    by_person: int
    topics: NDArray[np.int64]
    documents: int


@dataclass(frozen=True)
class _Taus:
    """tau_b of the judge and of the other person with people.

    Attributes:
        judge: of all topics.
        person: of all topics.
        drawn: (draws,) the first less the second in each draw; NaN where there is one topic.
    """

    judge: float
    person: float
    drawn: NDArray[np.float64]


class Yardstick:
    """The agreement that people reach with each other, beside that of each judge.

    Topics are drawn once for all, from those of people, so that the differences of several other people may be averaged
    draw by draw. A draw without a topic of a person has no difference there. A person on whose documents all runs tie,
    under people, judge or person, has no ranking to compare, and is no part of the mean.

    Args:
        scores: of the field under all labels.
        bootstrap: over topics, None for no intervals.
    """

    def __init__(self, scores: FieldScores, bootstrap: TopicBootstrap | None):
        self._scores, self._bootstrap = scores, bootstrap
        n_topics = scores.values.shape[2]
        self._counts = None if bootstrap is None else bootstrap.counts(n_topics)
        self._known: dict[tuple[int, int, int], tuple[float, NDArray[np.float64]]] = {}

    def tables(self, measures: Sequence[str], beside: Sequence[BesidePerson]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a row per judge, other person and measure, and one per judge and measure, the mean over the others."""
        rows, over_all = [], []
        for m, measure in enumerate(measures):
            for judge in dict.fromkeys(one.judge for one in beside):
                mine = [one for one in beside if one.judge == judge]
                taus = [self._taus(m, one) for one in mine]
                for one, found in zip(mine, taus, strict=True):
                    rows.append(
                        {
                            "judge": judge,
                            "person": one.person,
                            "measure": measure,
                            "topics": len(one.topics),
                            "documents": one.documents,
                            "tau_b": found.judge,
                            "person_tau_b": found.person,
                            # one topic is always itself
                            **self._difference(found.judge - found.person, found.drawn),
                        }
                    )
                ranked = [found for found in taus if not np.isnan(found.judge - found.person)]
                means = [_mean([getattr(found, who) for found in ranked]) for who in ("judge", "person")]
                drawn = np.mean([found.drawn for found in ranked], axis=0) if ranked else np.full(1, np.nan)
                over_all.append(
                    {
                        "judge": judge,
                        "measure": measure,
                        "people": len(ranked),
                        "tau_b": means[0],
                        "people_tau_b": means[1],
                        **self._difference(means[0] - means[1], drawn),
                    }
                )
        ends = () if self._bootstrap is None else ENDS
        return pd.DataFrame(rows, columns=[*BESIDE, *ends]), pd.DataFrame(over_all, columns=[*OVER_ALL, *ends])

    def _difference(self, value: float, drawn: NDArray[np.float64]) -> dict[str, float]:
        found = {"difference": value}
        if self._bootstrap is not None:
            found |= dict(zip(ENDS, self._bootstrap.interval(value, drawn, within=(-2, 2)), strict=True))
        return found

    def _taus(self, measure: int, one: BesidePerson) -> _Taus:
        judge, of_judge = self._tau(measure, one, one.by_judge)
        person, of_person = self._tau(measure, one, one.by_person)
        # one topic is always itself, so that nothing says what another one would do
        drawn = of_judge - of_person if len(one.topics) > 1 else np.full(len(of_judge), np.nan)
        return _Taus(judge, person, drawn)

    def _tau(self, measure: int, one: BesidePerson, estimate: int) -> tuple[float, NDArray[np.float64]]:
        # the same person beside each judge
        key = (measure, one.truth, estimate)
        if key not in self._known:
            sides = (
                self._scores.of(one.truth, measure, one.topics),
                self._scores.of(estimate, measure, one.topics),
            )
            value = float(_tau_b(*sides)[0])
            drawn = np.full(1, np.nan) if self._counts is None else _tau_b(*sides, self._counts[:, one.topics])
            self._known[key] = value, drawn
        return self._known[key]


def _mean(values: Sequence[float]) -> float:
    """Return the mean of values, NaN of none."""
    return float(np.mean(values)) if values else math.nan


def _tau_b(truth: TopicScores, estimate: TopicScores, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return (draws,) tau_b of two rankings; NaN where all runs tie."""
    x, y = rounded(truth.means(counts)), rounded(estimate.means(counts))
    return pairs.coefficients(x, y, ("tau_b",))["tau_b"].astype(np.float64)


#: columns of the documents that move runs
DOCUMENTS = ("judge", "measure", "name", "qid", "docno", "label", "judge_label", "rank", "effect")


@dataclass(frozen=True)
class Asked:
    """What a user asks of the rankings.

    Attributes:
        best: how many runs are the best.
        groups: of the runs, None for none.
        bootstrap: over topics, None for no intervals.
    """

    best: int
    groups: Units | None
    bootstrap: TopicBootstrap | None


@dataclass(frozen=True)
class RankedJudges:
    """What there is to say of the rankings; the tables are those of a LabelAudit.

    Attributes:
        table: agreement by part of the field.
        movers: each run.
        documents: what moves it.
        beside: each judge beside each other person.
        yardstick: each judge beside all other people.
        effects: measure -> what the effect of a document is.
    """

    table: pd.DataFrame
    movers: pd.DataFrame
    documents: pd.DataFrame
    beside: pd.DataFrame
    yardstick: pd.DataFrame
    effects: dict[str, str]


class FieldAudit:
    """Ranks a field under the labels of people, of each judge, and of each other person.

    Args:
        runs: the field.
        human: the judgments of people.
        measures: by which runs are scored.
        judges: labels of judges beside those of people.
        people: labels of other people beside those of people.
        drop: whether a document that a judge did not label counts for neither.
    """

    def __init__(
        self,
        runs: RunSet,
        human: Qrels,
        measures: Sequence[ir_measures.Measure],
        judges: Sequence[ComparedLabels],
        people: Sequence[ComparedLabels],
        *,
        drop: bool,
    ):
        self._runs, self._human, self._measures, self._drop = runs, human, measures, drop
        self._sheet = LabelSheet(human)
        self._judges = judges
        self._compared = [
            *(self._comparison(one, MODEL) for one in judges),
            *(self._comparison(one, PEOPLE) for one in people),
        ]
        beside = [self._beside_person(judge, person) for judge, person in product(judges, people)]
        self._beside = [one for one in beside if len(one.topics)]

    def ranked(self, asked: Asked, *, complete: bool, n_jobs: int | None, verbose: bool) -> RankedJudges:
        """Score the field under all labels, and compare."""
        scores = self._sheet.scored(self._runs, self._measures, complete=complete, n_jobs=n_jobs, verbose=verbose)
        rows: list[dict[str, object]] = []
        movers, documents, effects = [], [], {}
        ranks, places = list(ranks_of(self._runs, self._human)), places_by_name(self._human)
        for m, measure in enumerate(self._measures):
            for number, one in enumerate(self._compared):
                truth, estimate = (scores.of(which, m, one.topics) for which in (one.truth, one.estimate))
                field = RankedField(truth, estimate, asked.bootstrap)
                rows += agreement_rows(one, repr(measure), field, best=asked.best, groups=asked.groups)
                moved = moved_runs(one, repr(measure), field, self._runs.run_table)
                if one.kind == MODEL:
                    of = DocumentEffects(self._runs, self._human, measure, one.topics, scores.has(one.topics))
                    effects[repr(measure)] = of.words
                    labels = scores.labels[one.truth], scores.labels[one.estimate]
                    found = MovingDocuments.of(of.between(*labels), moved, places)
                    own = self._sheet.labels_of(self._judges[number].judge)
                    table = found.table(self._human, (labels[0], own), self._runs.names, ranks)
                    documents.append(table.assign(judge=one.judge, measure=repr(measure)))
                    moved = moved.assign(by_documents=found.totals if of.adds_up else np.nan)
                movers.append(furthest_first(moved))
        beside, yardstick = Yardstick(scores, asked.bootstrap).tables(list(map(repr, self._measures)), self._beside)
        return RankedJudges(
            table=whole_changes(pd.DataFrame(rows)).assign(
                family=pd.Series([row["family"] for row in rows], dtype=object)
            ),
            movers=whole_changes(pd.concat(movers, ignore_index=True)),
            documents=pd.concat(documents, ignore_index=True)[list(DOCUMENTS)],
            beside=beside,
            yardstick=yardstick,
            effects=effects,
        )

    def _comparison(self, labels: ComparedLabels, kind: str) -> Comparison:
        truth, estimate = self._sheet.labels_of(labels.human), self._sheet.labels_of(labels.on_scale)
        if kind == PEOPLE:
            # what a person did not label is no concern of this person's
            truth = np.where(estimate != UNJUDGED, truth, UNJUDGED)
        return Comparison(
            judge=labels.name,
            kind=kind,
            family=labels.family,
            truth=self._sheet.add(truth),
            estimate=self._sheet.add(estimate),
            topics=self._sheet.places(labels.human.topics),
            documents=len(labels.pairs),
        )

    def _beside_person(self, judge: ComparedLabels, person: ComparedLabels) -> BesidePerson:
        """Return a judge and a person on the documents of the person, and of the judge, too, where others drop out."""
        theirs, mine = (self._sheet.labels_of(one.on_scale) for one in (person, judge))
        known = theirs != UNJUDGED
        kept = known & (mine != UNJUDGED) if self._drop else known
        topics = np.intersect1d(self._sheet.places(judge.human.topics), self._sheet.places(person.human.topics))
        documents = self._human.arrays.documents
        kept &= np.isin(documents.topic, topics)
        none = np.full(len(known), UNJUDGED, dtype=np.int16)
        truth, by_person, by_judge = (
            self._sheet.add(np.where(kept, labels, none)) for labels in (self._human.arrays.labels, theirs, mine)
        )
        there = np.unique(documents.topic[kept])
        return BesidePerson(judge.name, person.name, truth, by_judge, by_person, there, int(kept.sum()))
