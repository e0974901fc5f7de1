"""audit_labels: what labels by a model do to the ranking of systems, and how far they agree with those of people."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, positive
from pt_reuse._report import Digits
from pt_reuse._text import ends, with_ends, written
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import OF_DROPS, TopicBootstrap, TopicScores, ranking_agreement, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.units import COLUMNS, Units, units_of
from pt_reuse.errors import InputError, ReuseWarning, located, warn
from pt_reuse.judge import JudgeRel
from pt_reuse.judging.compare_labels import (
    OTHER_PEOPLE,
    LabelAgreement,
    agreement_of_labels,
    check_names,
    compared_people,
)
from pt_reuse.judging.document_effects import (
    DocumentEffects,
    Labels,
    documents_table,
    moving_documents,
    places_by_name,
    ranks_of,
)
from pt_reuse.options import Flag, Parameter
from pt_reuse.plots.forests import plot_judge_taus
from pt_reuse.plots.lines import plot_judge_ranks
from pt_reuse.plots.run_scores import plot_squares
from pt_reuse.plots.sheet import of_tau
from pt_reuse.result import KeyFigures, Result, Shown, View, cells, clauses
from pt_reuse.scoring.caveats import FEW_TOPICS, few_topics, one_unit
from pt_reuse.scoring.measures import MeasureLike, adds_up
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import check_topics, topics_of_runs
from pt_reuse.studies.judged_fields import (
    ALL,
    BEST,
    AskedJudges,
    ComparedLabels,
    drawn_by_judge,
    drawn_by_measure,
    extremes,
    parts_of,
    under,
    verdict,
    with_names,
)
from pt_reuse.study import Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: who gives the labels that are compared with those of people
MODEL, PEOPLE = "model", "people"
#: tau_b of a judge and of people, and draws of the difference, where no person's labels rank the runs
_NO_RANKING = ([math.nan], [math.nan], [[math.nan]])


@dataclass(frozen=True)
class Compared:
    """Who is compared with people: numbers of sets of labels, and positions of the (topics,) that count."""

    about: dict[str, Any]  # the first columns: ``judge kind family``, or ``judge person`` of the two beside each other
    truth: int
    estimates: tuple[int, ...]  # one, or that of the judge and that of the person
    topics: NDArray[np.int64]
    documents: int


class LabelSheet:
    """Sets of labels of the documents that people judged, a row each, to be scored together."""

    def __init__(self, human: Qrels):
        self.human = human
        self.sets: list[Labels] = []
        self.values = np.zeros((0, 0, 0, 0))
        self._has_topic: NDArray[np.bool_] | None = None
        self._added: list[bool] = []

    def labels_of(self, judged: Qrels) -> Labels:
        """Return the labels that judgments of some of the documents give."""
        labels = np.full(len(self.human), UNJUDGED, dtype=np.int16)
        labels[self.human.arrays.documents.find(judged.arrays.documents)] = judged.arrays.labels
        return labels

    def add(self, labels: Labels) -> int:
        """Add a set and return its number; one that is there already keeps its own."""
        for number, known in enumerate(self.sets):
            if np.array_equal(known, labels):
                return number
        self.sets.append(labels)
        return len(self.sets) - 1

    def places(self, topics: Sequence[str]) -> NDArray[np.int64]:
        """Return the positions of topics among those of people."""
        place = self.human.arrays.documents.place
        return np.array([place[topic] for topic in topics], dtype=np.int64)

    def compare(self, labels: ComparedLabels, kind: str) -> Compared:
        """Add the labels of a judge, or of another person, and those of people beside them."""
        truth, estimate = self.labels_of(labels.human), self.labels_of(labels.on_scale)
        if kind == PEOPLE:
            # what a person did not label is no concern of this person's
            truth = np.where(estimate != UNJUDGED, truth, UNJUDGED)
        about = {"judge": labels.name, "kind": kind, "family": labels.family}
        number, topics = self.add(truth), self.places(labels.human.topics)
        return Compared(about, number, (self.add(estimate),), topics, len(labels.pairs))

    def beside(self, judge: ComparedLabels, person: ComparedLabels, *, drop: bool) -> Compared:
        """Add a judge and a person on the documents of the person, and of the judge, too, where others drop out."""
        mine, theirs = (self.labels_of(one.on_scale) for one in (judge, person))
        topic = self.human.arrays.documents.topic
        topics = np.intersect1d(self.places(judge.human.topics), self.places(person.human.topics))
        kept = (theirs != UNJUDGED) & ((mine != UNJUDGED) | (not drop)) & np.isin(topic, topics)
        truth, *estimates = (
            self.add(np.where(kept, labels, UNJUDGED).astype(np.int16))
            for labels in (self.human.arrays.labels, mine, theirs)
        )
        about = {"judge": judge.name, "person": person.name}
        return Compared(about, truth, tuple(estimates), np.unique(topic[kept]), int(kept.sum()))

    def score(self, asked: AskedJudges) -> None:
        """Score every run under every set, (sets, measures, topics of people, runs)."""
        base = self.human.arrays.labels
        rows = [np.flatnonzero(labels != base) for labels in self.sets]
        changed = np.concatenate([labels[some] for labels, some in zip(self.sets, rows, strict=True)])
        in_set = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        changes = Changes(len(self.sets), in_set, np.concatenate(rows), changed)
        self.values = np.empty((len(self.sets), len(asked.measures), len(self.human.topics), len(asked.runs)))
        for block in rescore(asked.runs, self.human, asked.measures, changes, **asked.how):
            self.values[:, :, block.topics.start : block.topics.stop] = block.base[None]
            self.values[block.set, :, block.topic] = block.values.transpose(1, 0, 2)
        self._has_topic = None if asked["complete"] else topics_of_runs(asked.runs, self.human)
        self._added = adds_up(asked.measures).tolist()

    def of(self, number: int, measure: int, topics: NDArray[np.int64]) -> TopicScores:
        """Return the scores under one set by one measure on some topics."""
        return TopicScores(self.values[number, measure, topics], self.has(topics), self._added[measure])

    def has(self, topics: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return (topics, runs) whether a run has each of some topics; None where all count for all."""
        return None if self._has_topic is None else self._has_topic[topics]


@dataclass(frozen=True)
class RankedField:
    """The field ranked under the labels of people and of a judge by one measure, on the same topics."""

    truth: TopicScores
    estimate: TopicScores
    bootstrap: TopicBootstrap | None

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

    def rise_ends(self, name: str, runs: NDArray[np.int64], *, integer: bool) -> dict[str, float]:
        """Return the ends of the interval of the mean rise of some runs, as columns; nothing without a bootstrap."""
        if self.bootstrap is None:
            return {}
        mean, most = float(self.rises()[0][runs].mean()), float(self.truth.values.shape[1] - 1)
        drawn = self.drawn_rises[:, runs].mean(axis=1)
        low, high = self.bootstrap.interval(mean, drawn, within=(-most, most), integer=integer)
        return {f"{name}_low": low, f"{name}_high": high}

    def agreement_rows(
        self, compared: Compared, measure: str, best: int, groups: Units | None
    ) -> Iterator[dict[str, Any]]:
        """Yield a row per part of the field: how far the two rank its runs alike, and how many ranks these gain."""
        rises, topics = self.rises()[0], range(len(self.truth.values))
        for by, part, runs in parts_of(self.truth.means()[0], best, groups):
            truth, estimate = (side.of(topics, runs.tolist()) for side in (self.truth, self.estimate))
            with located(f"{compared.about['judge']}, {measure}"), warnings.catch_warnings():
                if by != ALL:
                    # of a few runs all tie in some draws as a rule, which settings tell
                    warnings.simplefilter("ignore", ReuseWarning)
                found = ranking_agreement(truth, estimate, self.bootstrap)
            row = {**compared.about, "measure": measure, "by": by, "part": part, "runs": len(runs)}
            row |= {"topics": len(compared.topics), "documents": compared.documents, **found}
            yield {
                **row,
                "mean_rise": float(rises[runs].mean()),
                **self.rise_ends("mean_rise", runs, integer=False),
            }

    def moved_runs(self, compared: Compared, measure: str, run_table: pd.DataFrame) -> pd.DataFrame:
        """Return a row per run, in the order of the field; ``by_documents`` is not known here, NaN."""
        score, judge_score = self.truth.means()[0], self.estimate.means()[0]
        change, rises, rank = judge_score - score, self.rises()[0], pairs.ranks(rounded(score))
        columns: dict[str, Any] = {name: compared.about[name] for name in ("judge", "kind")} | {"measure": measure}
        columns |= {name: run_table[name].to_numpy() for name in ("name", "team", "type")}
        columns |= {"score": score, "judge_score": judge_score, "change": change, "relative": change - change.mean()}
        columns |= {"by_documents": np.nan, "rank": rank, "judge_rank": rank - rises, "rise": rises}
        ends_of = [self.rise_ends("rise", np.array([run]), integer=True) for run in range(len(rises))]
        return pd.DataFrame(columns | {name: [run[name] for run in ends_of] for name in ends_of[0]})


def furthest_first(moved: pd.DataFrame) -> pd.DataFrame:
    """Return runs that moved, the one that gains most ranks first; of several the best one under people."""
    return moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable", ignore_index=True)


class Yardstick:
    """The agreement that people reach with each other, beside that of each judge, on the same draws of all topics."""

    def __init__(self, sheet: LabelSheet, bootstrap: TopicBootstrap | None):
        self._sheet, self._bootstrap = sheet, bootstrap
        self._counts = None if bootstrap is None else bootstrap.counts(len(sheet.human.topics))
        self._known: dict[tuple[int, int, int], tuple[float, NDArray[np.float64]]] = {}

    def tables(self, measures: Sequence[str], beside: Sequence[Compared]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a row per judge, other person and measure, and one per judge and measure, the mean over the others."""
        rows, over_all = [], []
        for (m, measure), judge in product(enumerate(measures), dict.fromkeys(one.about["judge"] for one in beside)):
            ranked = []
            for one in (one for one in beside if one.about["judge"] == judge):
                (mine, of_judge), (theirs, of_person) = (self._tau(m, one, estimate) for estimate in one.estimates)
                # one topic is always itself, so that nothing says what another one would do
                drawn = of_judge - of_person if len(one.topics) > 1 else np.full(len(of_judge), np.nan)
                about = {**one.about, "measure": measure, "topics": len(one.topics), "documents": one.documents}
                taus = {"tau_b": mine, "person_tau_b": theirs}
                rows.append({**about, **taus, **self._difference(mine - theirs, drawn)})
                if not np.isnan(mine - theirs):
                    ranked.append((mine, theirs, drawn))
            mine, theirs, drawn = (
                np.mean(values, axis=0) for values in (zip(*ranked, strict=True) if ranked else _NO_RANKING)
            )
            about = {"judge": judge, "measure": measure, "people": len(ranked)}
            taus = {"tau_b": float(mine), "people_tau_b": float(theirs)}
            over_all.append({**about, **taus, **self._difference(float(mine) - float(theirs), drawn)})
        last = list(self._difference(math.nan, np.full(1, np.nan)))
        columns = ["judge", "person", "measure", "topics", "documents", "tau_b", "person_tau_b", *last]
        of_all = ["judge", "measure", "people", "tau_b", "people_tau_b", *last]
        return pd.DataFrame(rows, columns=columns), pd.DataFrame(over_all, columns=of_all)

    def _difference(self, value: float, drawn: NDArray[np.float64]) -> dict[str, float]:
        if self._bootstrap is None:
            return {"difference": value}
        low, high = self._bootstrap.interval(value, drawn, within=(-2, 2))
        return {"difference": value, "difference_low": low, "difference_high": high}

    def _tau(self, measure: int, one: Compared, estimate: int) -> tuple[float, NDArray[np.float64]]:
        # the same person beside each judge
        key = (measure, one.truth, estimate)
        if key not in self._known:
            truth, other = (self._sheet.of(number, measure, one.topics) for number in (one.truth, estimate))
            counts = None if self._counts is None else self._counts[:, one.topics]
            drawn = np.full(1, np.nan) if counts is None else _tau_b(truth, other, counts)
            self._known[key] = float(_tau_b(truth, other)[0]), drawn
        return self._known[key]


def _tau_b(truth: TopicScores, estimate: TopicScores, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return (draws,) tau_b of two rankings; NaN where all runs tie."""
    x, y = rounded(truth.means(counts)), rounded(estimate.means(counts))
    return pairs.coefficients(x, y, ("tau_b",))["tau_b"].astype(np.float64)


def _draw_scores(result: LabelAudit, measure: str, place: Place, *, judge: str | None = None) -> Axes:
    """Draw the score of each run by a judge against the one by people; of all judges in a new figure, a panel each."""
    taus = result.of_all(measure).set_index("judge")["tau_b"].to_dict()
    movers = result.movers[result.movers["measure"] == measure].rename(columns={"score": "x", "judge_score": "y"})
    several = judge is None and place.ax is None
    chosen = result.judges if several else [result.judges[0] if judge is None else choice("judge", judge, list(taus))]
    panels = {f"{name}\n{of_tau(taus[name])}": movers[movers["judge"] == name] for name in chosen}
    x, y = f"{measure}, people", f"{measure}, {'judge' if len(panels) > 1 else chosen[0]}"
    return plot_squares(panels, x=x, y=y, title="Scores by each judge against those by people", place=place)


_DROP = Shown("Largest drop", "max_drop", Digits.COUNT)
_RISE = Shown("Interval of the rise", "rise", Digits.RISE, interval=True)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelAudit(Result):
    """What labels by a model do to the ranking of systems.

    ``judge`` names who is compared with people: a model (``kind`` is ``"model"``), or another person (``"people"``),
    to read the models against. A model is compared on the topics in which it labelled something; another person on the
    documents that this person labelled, and on their topics. Columns that end in ``_low`` and ``_high`` are the ends
    of intervals over topics; there are none without resamples.

    Attributes:
        table: how far the rankings agree, per judge, measure and part of the field: ``judge kind family measure by part
            runs topics documents``; ``tau_b gamma tau_ap_b`` of the two rankings of the runs of this part, and
            ``max_drop max_rise``, the most ranks that one of them loses and gains among them (their intervals lie too
            high in about 20 of 100 simulated fields where a judge is good); ``mean_rise``, the mean
            number of ranks that they gain in the whole field. ``by`` is ``"all"`` for all runs; ``"best"`` for the best
            under people, whose tau_b is *tau at k*; or ``"type"``, ``"team"`` or ``"family"`` for the runs of one. A
            part of one run, or whose runs all tie, has no coefficient: NaN.
        movers: per judge, measure and run, the one that gains most ranks first: ``judge kind measure name team type
            score judge_score change``; ``relative``, the change less the mean change of all runs; ``by_documents``, the
            part of it that is of documents whose labels differ (NaN for other people, and for measures that are no sum
            over documents); ``rank judge_rank rise``.
        documents: for each model, measure and run the ten documents that push it most the way that it moves (by rank;
            by ``relative`` where it keeps its rank), the most important first: ``judge measure name qid docno``;
            ``label judge_label``, each on its own scale, but the judge's as the label of people that it stands for
            where ``judge_rel=`` says so, <NA> for none; ``rank``, where the run has it, <NA> where it
            has not; ``effect``, what the judge's label adds to the mean score of the run, less what it adds to that of
            all runs on average. For a document that the run has not that is what the others gain or lose. ``settings``
            says how effects of a measure are computed.
        beside: per judge, other person and measure, on the documents that this person labelled: ``judge person measure
            topics documents``; ``tau_b`` of the judge's ranking with the one of people and ``person_tau_b`` of the
            person's; ``difference`` of the first less the second. Empty where there are no other people.
        yardstick: the same over all other people: ``judge measure people``, how many there is a ranking of; the means
            over these ``tau_b people_tau_b`` and their ``difference``, which has no interval where one of them labelled
            a single topic.
        labels: how far the labels agree.
    """

    title = "Audit of labels"
    condition = "It takes the labels of people as the truth, relevant: {relevant}; {missing}."
    limit = "It does not say whether people are right, nor how a judge ranks other runs or those built with its labels."
    views = {
        "judge": View(
            table="by_judge",
            columns=(
                Shown("Judge", "named"),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("Interval of tau_b", "tau_b", Digits.SCORE, interval=True),
                Shown("tau_AP", "tau_ap_b", Digits.SCORE, unless="tau_b_low"),
                Shown("Tau of the best", "at_k", Digits.SCORE),
                _DROP,
                Shown("Largest rise", "max_rise", Digits.COUNT),
            ),
            caption="The ranking of runs by {measure} under the labels of each judge against the one under those of "
            "people: correlations, of all and of {best}, and the most ranks that a run loses or gains. A person is "
            "compared on the documents that this person labelled, which are others.",
            noun="judges",
        ),
        "part": View(
            select={"judge": None},
            columns=(
                Shown("Runs", "part"),
                Shown("Number", "runs", Digits.COUNT),
                Shown("tau_b", "tau_b", Digits.SCORE),
                _DROP,
                Shown("Mean rise", "mean_rise", Digits.PLACES),
                Shown("Interval of the rise", "mean_rise", Digits.PLACES, interval=True),
            ),
            caption="Runs ranked by {measure} under the labels of {judge} against those of people, within each part of "
            "the field; the mean rise is the number of ranks that its runs gain in the whole field.",
            noun="parts",
        ),
        "run": View(
            table="furthest",
            select={"judge": None},
            columns=(
                Shown("Run", "name"),
                Shown("Score", "score", Digits.SCORE),
                Shown("Judge's score", "judge_score", Digits.SCORE),
                Shown("Rank", "rank", Digits.COUNT),
                Shown("Rise", "rise", Digits.RISE),
                _RISE,
            ),
            caption="The runs that gain and lose most ranks by {measure} under the labels of {judge}: scores and rank "
            "under people, and the ranks gained under {judge}; none where each has the rank that people give it.",
            noun="runs",
        ),
        "document": View(
            table="moving",
            select={"judge": None},
            columns=(
                Shown("Run", "name"),
                Shown("Topic", "qid"),
                Shown("Document", "docno"),
                Shown("People / judge", "labels"),
                Shown("At rank", "rank", Digits.COUNT),
                Shown("Effect", "effect", Digits.EFFECT),
            ),
            caption="The documents that do most for the runs that gain and lose most ranks by {measure} under the "
            "labels of {judge}: both labels, and what the judge's adds to the run's mean score beyond what it adds to "
            "that of all runs on average.",
            noun="documents",
        ),
        "person": View(
            table="persons",
            select={"judge": None},
            columns=(
                Shown("Person", "person"),
                Shown("Topics", "topics", Digits.COUNT),
                Shown("Judge's tau_b", "tau_b", Digits.SCORE),
                Shown("Person's tau_b", "person_tau_b", Digits.SCORE),
                Shown("Difference", "difference", Digits.DIFFERENCE),
                Shown("Interval of the difference", "difference", Digits.DIFFERENCE, interval=True),
            ),
            caption="How far the ranking by {measure} under {judge} agrees with the one under people, and how far "
            "those under other people do, on the documents that each of them labelled. Each person counts alike in "
            "the mean, without those under whom all runs tie; with one topic there is no interval.",
            noun="people",
        ),
    }
    plots = {
        "agreement": drawn_by_measure(plot_judge_taus, "by_judge"),
        "scores": _draw_scores,
        "ranks": drawn_by_judge(plot_judge_ranks, "movers"),
    }
    key = (KeyFigures(("tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"), "by_judge", "{judge}"),)
    sentences = {"missing": "Missing: {missing}.", **{name: f"{name.capitalize()}: {{{name}}}." for name in OF_DROPS}}

    movers: pd.DataFrame
    documents: pd.DataFrame
    beside: pd.DataFrame
    yardstick: pd.DataFrame
    labels: LabelAgreement

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name; those of the labels are called ``labels`` and ``labels_...``."""
        own = {"rankings" if name == "table" else name: table for name, table in super().tables().items()}
        of_labels = self.labels.tables().items()
        return own | {"labels" if name == "agreement" else f"labels_{name}": table for name, table in of_labels}

    def headline(self) -> str:
        """Return by each measure how far the judge's ranking agrees, of several judges the nearest and the furthest."""
        said = "{judge} ranks {runs:run} on {topics:topic} by {measure} with "
        one = said + "tau_b {tau_b:.4f} to the ranking by people"
        nearest = said + "the highest tau_b of {n} judges to the ranking by people, {tau_b:.4f}"
        told = []
        for of_measure in extremes(self.models(), "tau_b"):
            first, *last = map(cells, of_measure)
            text = (nearest if last else one).format(n=len(self.judges), **first)
            told.append(text + "".join(", {judge} with the lowest, {tau_b:.4f}".format(**row) for row in last))
        return clauses(told)

    def _shown(self) -> pd.DataFrame:
        numbers = ["tau_b", "tau_b_low", "tau_b_high", "tau_ap_b", "max_drop", "max_rise"]
        return self.by_judge().filter(["named", "measure", *numbers]).rename(columns={"named": "judge"})

    def _rest(self) -> str:
        return "judges and measures in .by_judge()"

    @property
    def judges(self) -> list[str]:
        """Return the names of the models, without other people."""
        return self.models()["judge"].unique().tolist()

    def of_all(self, measure: str) -> pd.DataFrame:
        """Return the rows of all runs by one measure."""
        return self.table[(self.table["by"] == ALL) & (self.table["measure"] == measure)]

    def models(self) -> pd.DataFrame:
        """Return the rows of all runs under models."""
        return self.table[(self.table["by"] == ALL) & (self.table["kind"] == MODEL)]

    def by_judge(self) -> pd.DataFrame:
        """Return the rows of all runs, with tau_b of the best."""
        rows, best = (self.table[self.table["by"] == by] for by in (ALL, BEST))
        keys = ["judge", "kind", "measure"]
        named = rows["judge"].where(rows["kind"] == MODEL, rows["judge"] + " (person)")
        at_k = rows[keys].merge(best[[*keys, "tau_b"]], how="left", on=keys)["tau_b"]
        return rows.assign(named=named, at_k=at_k.to_numpy()) if len(best) else rows.assign(named=named)

    def furthest(self, most: int = 3) -> pd.DataFrame:
        """Return per judge and measure the runs that gain most ranks, then those that lose most, each once."""
        n, moved = positive("most", most, "runs"), self.movers[self.movers["rise"] != 0]
        up, down = (moved[moved["rise"] * way > 0].groupby(["judge", "measure"], sort=False) for way in (1, -1))
        return pd.concat([up.head(n), down.tail(n)]).sort_index()

    def moving(self, most: int = 3) -> pd.DataFrame:
        """Return the documents that do most for the runs that move furthest, so many of each run."""
        keys = ["judge", "measure", "name"]
        rows = self.furthest(most)[keys].merge(self.documents, on=keys).groupby(keys, sort=False).head(most)
        return _with_labels(rows)

    def persons(self) -> pd.DataFrame:
        """Return each judge beside each other person, and last beside all."""
        if not len(self.beside):
            raise InputError("there are no other people to stand beside; give people=.")
        last = self.yardstick.rename(columns={"people_tau_b": "person_tau_b"}).assign(person="all, mean")
        return pd.concat([self.beside.astype({"topics": float}), last], ignore_index=True)

    def _further(self) -> list[str]:
        """Return per judge and measure how far the rankings agree, beside other people, and who gains and loses."""
        kinds: list[list[str]] = [[], [], []]
        for row in self.models().to_dict("records"):
            tables = (self.table, self.yardstick, self.movers, self.documents)
            ranked, people, runs, causes = (
                table[(table["judge"] == row["judge"]) & (table["measure"] == row["measure"])] for table in tables
            )
            kinds[0] += _of_ranking(row, ranked)
            kinds[1] += _of_people(people)
            kinds[2] += _of_movers(runs, causes) if pd.notna(row["tau_b"]) else []
        # a kind of number stands together, so that judges can be read beside each other
        found = [sentence for kind in kinds for sentence in kind] + self.labels._further()
        if not len(self.yardstick):
            found.append("There are no labels of other people here, so nothing says whether a person would do better.")
        return found


def _with_labels(documents: pd.DataFrame) -> pd.DataFrame:
    people, judge = (documents[name].astype("string").fillna("-") for name in ("label", "judge_label"))
    return documents.assign(labels=people + " / " + judge)


def _of_ranking(row: Mapping[Any, Any], table: pd.DataFrame) -> Iterator[str]:
    if np.isnan(row["tau_b"]):
        yield f"{row['judge']}: by {row['measure']} all runs tie under people or under the judge: there is no ranking."
        return
    best = table[(table["by"] == BEST) & table["tau_b"].notna()].to_dict("records")
    at_k = "".join(f"; among the {part['part']} it is {with_ends(part, 'tau_b', '.4f')}" for part in best)
    yield (
        f"{row['judge']} ranks {count(int(row['runs']), 'run')} by {row['measure']} on "
        f"{count(int(row['topics']), 'topic')} "
        f"with tau_b {with_ends(row, 'tau_b', '.4f')} to the ranking by people{at_k}."
    )


def _of_people(yardstick: pd.DataFrame) -> Iterator[str]:
    for row in yardstick[yardstick["people"] > 0].to_dict("records"):
        said = verdict(
            row,
            "difference",
            ". It is nearer to these people than the others are",
            ". It is further from these people than the others are",
            ". The two are not told apart",
        )
        yield (
            f"{row['judge']} reaches tau_b {row['tau_b']:.4f} by {row['measure']} on the documents of "
            f"{count(row['people'], 'other person')}, who reach {row['people_tau_b']:.4f}: a difference of "
            f"{with_ends(row, 'difference', '+,.4f')}{said}."
        )


def _of_movers(movers: pd.DataFrame, documents: pd.DataFrame) -> Iterator[str]:
    for row, way in ((movers.iloc[0].to_dict(), 1), (movers.iloc[-1].to_dict(), -1)):
        if row["rise"] * way <= 0:
            continue
        cause = "".join(
            f" The document that does most is {mine['docno']} of topic {mine['qid']} (labels of people / judge "
            f"{mine['labels']}): {written(mine['effect'], '+,.5f')}."
            # a run may move since others do
            for mine in _with_labels(documents[documents["name"] == row["name"]].head(1)).to_dict("records")
        )
        between = ends(row, "rise", "+,.0f")
        yield (
            f"{row['judge']}: by {row['measure']} run {row['name']} {'gains' if way > 0 else 'loses'} most, "
            f"{count(abs(int(row['rise'])), 'rank')}{f' ({between} ranks gained)' * bool(between)}, from "
            f"{row['rank']:,} to {row['judge_rank']:,}; its score changes by {written(row['change'], '+,.4f')}, "
            f"{written(row['relative'], '+,.4f')} beyond the mean run.{cause}"
        )


@study(
    OTHER_PEOPLE,
    Parameter(
        name="by",
        meaning='``"type"``, ``"team"`` or ``"family"``: rank the runs of each one among themselves, too. Default '
        "none.",
        choices=tuple(name for name in COLUMNS if name != "run"),
        flag=Flag(help="rank the runs of each team, type or family apart, too", metavar="UNIT", kind="text"),
    ),
    Parameter(
        name="best",
        meaning="how many runs are the best: tau of these is *tau at k*. Which runs are the best follows from all "
        "topics under `human`, also in resamples; those that tie with the last of them belong to them.",
        check=partial(positive, "best", unit="runs"),
        flag=Flag(help="tau of the K best runs", metavar="K"),
    ),
    entry=Entry(question="Do a model's labels rank the systems as people's labels do?", command="audit"),
)
def audit_labels(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    people: Any = None,
    by: str | None = None,
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
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LabelAudit:
    """Compare the ranking of systems by the labels of models with that by people, and the labels with people's labels.

    Each judge is asked for labels of the documents that people judged. The field is ranked under the labels of people
    and under those of the judge, on the same documents and topics. Labels of other people, if given, show how far
    people agree with each other; compare a judge with that.

    Returns:
        LabelAudit: ``.table`` (how far rankings agree), ``.movers`` (each run), ``.documents`` (what moves it),
        ``.labels`` (how far labels agree), ``.yardstick`` and ``.beside`` (judges and other people on the same
        documents), ``.report()``, ``.plot()``.

    Raises:
        InputError: only one run, an unknown measure, a judge that labelled none of the documents, a label that is no
            whole number (a probability), a judge and a person of one name, runs without a type.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing, fewer than five topics, runs that all tie, a measure
            that counts labels as relevant that are not relevant for people, a `rel` above every label of people. Also
            runs of only one unit (`by`).

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> people = field.qrels.threshold()
        >>> judge = ptr.judging.Noisy(people, ptr.judging.flips(0.2), seed=1)
        >>> found = ptr.audit_labels(field.runs, people, judge, "P@10", resamples=200)
        >>> found.headline()
        'noisy ranks 18 runs on 25 topics by P@10 with tau_b 0.6756 (0.5044 to 0.8468) to the ranking by people'
        >>> found.movers[["name", "rank", "judge_rank", "rise", "rise_low", "rise_high"]].head(2)
            name  rank  judge_rank  rise  rise_low  rise_high
        0  lex4a    14           8     6        -1         13
        1  lex1b    12           9     3        -4         10

    Source: Voorhees 2000, Variations in relevance judgments and the measurement of retrieval effectiveness, Information
    Processing and Management 36, for rankings under the labels of other people; Upadhyay et al. 2024, UMBRELA,
    https://arxiv.org/abs/2406.06519, for those under the labels of a model.
    """
    asked = AskedJudges(audit_labels, locals())
    others, bootstrap = asked["people"], asked.bootstrap
    check_names([one.name for one in asked.judges], () if others is None else others.annotators)
    field, human = asked.runs, asked.qrels
    if len(field) < 2:
        raise InputError("there is 1 run, and a ranking takes 2 at least.", argument="runs")
    groups = None if by is None else units_of(field.run_table, by, grouping=True)
    # labels of people are there already, a judge may take its time
    persons = [] if others is None else list(compared_people(human, others))
    for one in persons:
        with located(one.name):
            if without_topics == "error":
                check_topics(field, one.human)
    _tell(asked, persons, groups)
    sheet = LabelSheet(human)
    compared = [sheet.compare(one, MODEL) for one in asked.compared] + [sheet.compare(one, PEOPLE) for one in persons]
    beside = [sheet.beside(mine, theirs, drop=missing == "drop") for mine in asked.compared for theirs in persons]
    sheet.score(asked)
    rows, movers, documents, effects = _ranked(asked, sheet, compared, groups)
    stood = [one for one in beside if len(one.topics)]
    tables = Yardstick(sheet, bootstrap).tables(list(map(repr, asked.measures)), stood)
    table = whole_changes(with_names(rows))
    none = table[(table["by"] == ALL) & table["tau_b"].isna()]
    if len(none):
        warn(
            "all runs tie under people or under the judge, so that there is no ranking to compare: "
            f"{examples(none['measure'] + ' of ' + none['judge'])}. Is any document of these topics relevant by the "
            "measure?"
        )
    labels = agreement_of_labels(asked.compared, bootstrap, people=persons)
    return LabelAudit(
        table=table,
        settings=_settings(asked, groups, effects, labels.settings),
        movers=whole_changes(pd.concat(movers, ignore_index=True)),
        documents=pd.concat(documents, ignore_index=True),
        beside=tables[0],
        yardstick=tables[1],
        labels=labels,
    )


def _tell(asked: AskedJudges, persons: Sequence[ComparedLabels], groups: Units | None) -> None:
    n_topics, every = len(asked.qrels.topics), np.ones(len(asked.runs), dtype=bool)
    of_each = (*asked.compared, *persons) if n_topics >= FEW_TOPICS else ()
    asked.tell(
        asked.label_caveats(n_topics),
        () if groups is None else one_unit(groups, every, "they are no other group than all runs"),
        *(few_topics(len(one.human.topics), one.name) for one in of_each),
    )


def _ranked(
    asked: AskedJudges, sheet: LabelSheet, compared: Sequence[Compared], groups: Units | None
) -> tuple[list[dict[str, Any]], list[pd.DataFrame], list[pd.DataFrame], dict[str, str]]:
    """Return the rows of the table, each run, what moves it under models, and what the effect of a document is."""
    rows: list[dict[str, Any]] = []
    movers, documents, effects, runs = [], [], {}, asked.runs
    ranks, places = list(ranks_of(runs, sheet.human)), places_by_name(sheet.human)
    for m, measure in enumerate(asked.measures):
        name = repr(measure)
        for number, one in enumerate(compared):
            both = one.truth, one.estimates[0]
            truth, estimate = (sheet.of(number_of, m, one.topics) for number_of in both)
            field = RankedField(truth, estimate, asked.bootstrap)
            rows += field.agreement_rows(one, name, asked["best"], groups)
            moved = field.moved_runs(one, name, runs.run_table)
            if one.about["kind"] == MODEL:
                of = DocumentEffects(runs, sheet.human, measure, one.topics, sheet.has(one.topics))
                effects[f"documents, {name}"] = of.words
                mine, theirs = (sheet.sets[number_of] for number_of in both)
                found, sizes, totals = moving_documents(of.between(mine, theirs), moved, places)
                labels = mine, sheet.labels_of(asked.compared[number].judge)
                table = documents_table(found, sizes, sheet.human, labels, runs.names, ranks)
                documents.append(under({"judge": one.about["judge"], "measure": name}, table))
                moved = moved.assign(by_documents=totals if of.adds_up else np.nan)
            movers.append(furthest_first(moved))
    return rows, movers, documents, effects


def _settings(
    asked: AskedJudges, groups: Units | None, effects: Mapping[str, str], of_labels: Mapping[str, Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "topics": "those in which the judge labelled a document; of a person, those that the person labelled",
        "best": f"the {asked['best']:,} best runs under the labels of people, over all topics",
        "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        "intervals of labels": of_labels["intervals"],
        **({} if groups is None else {"by": groups.by, **groups.settings}),
        **({"people": of_labels["people"]} if "people" in of_labels else {}),
        **effects,
    }
    if asked.bootstrap is not None:
        found["intervals"] = f"{asked.bootstrap.words()}; of resamples in which a part of the runs does not tie"
        found |= OF_DROPS
    return asked.settings(**found)
