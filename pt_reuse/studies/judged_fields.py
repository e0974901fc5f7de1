"""A field of runs, judgments of people and labels of judges: read, checked, and scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import InputError, Option, arguments_as, located
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.judges import NamedJudge, as_judges
from pt_reuse.judging.label_pairs import MISSING, ComparedLabels, compared_labels
from pt_reuse.scoring.caveats import Caveat, few_topics, of_judged, one_run, relevant_only, warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.run_scores import check_scoring, checked_measures, scored
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_topics

#: what becomes of a document that a judge did not label, for settings
MISSING_WORDS = {
    "unjudged": "a document without a label of the judge is unjudged under the judge",
    "drop": "a document without a label of the judge counts for neither",
}


@dataclass(frozen=True)
class AskedJudges:
    """What a user says of judges, people and measures, checked; nobody was asked for a label yet.

    Attributes:
        judges: the judges by name.
        measures: the measures.
        rel: the lowest label of people that is relevant, None for what their judgments say.
        missing: what becomes of a document that a judge did not label, see :func:`compared_labels`.
        complete: whether means are over all topics.
        without_topics: what becomes of a run without a topic, see :func:`score`.
        verbose: show progress bars.
    """

    judges: list[NamedJudge]
    measures: list[ir_measures.Measure]
    rel: int | None
    missing: str
    complete: bool
    without_topics: str
    verbose: bool

    @classmethod
    def of(
        cls,
        judge: Any,
        measures: MeasureLike | Iterable[MeasureLike],
        *,
        rel: Any,
        judge_rel: Any,
        families: Any,
        missing: Any,
        complete: Any,
        without_topics: Any,
        verbose: Any,
    ) -> AskedJudges:
        """Return what the arguments of a study say, or say which of them is wrong."""
        parsed = checked_measures(measures)
        check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
        choice("missing", missing, MISSING)
        lowest = checked_rel(rel)
        judges = as_judges(judge, rel=judge_rel, families=families)
        return cls(judges, parsed, lowest, missing, complete, without_topics, verbose)

    def read(self, runs: Any, human: Any) -> JudgedField:
        """Return the field and the judgments of people, which are read here.

        Raises:
            InputError: what is no runs or no judgments; a run without any topic of the judgments.

        Warns:
            ReuseWarning: binary measures that count from another label on than people do.
        """
        with arguments_as(qrels="human"):
            field, judged = as_runs_before(runs, human)
        people = as_people(judged, self.rel)
        warn_of_lower_grades(self.measures, people.rel)
        if self.without_topics == "error":
            check_topics(field, people)
        return JudgedField(field, people, self)


@dataclass(frozen=True)
class ScoredSides:
    """The runs under the labels of people and of one judge, for the same documents.

    Attributes:
        labels: of both.
        human: scores under those of people.
        judge: scores under those of the judge.
    """

    labels: ComparedLabels
    human: Scores
    judge: Scores


@dataclass(frozen=True)
class JudgedField:
    """A field and the judgments of people, with what is asked of judges.

    Attributes:
        runs: the field.
        human: the judgments of people.
        asked: the judges, the measures, and how runs are scored.
    """

    runs: RunSet
    human: Qrels
    asked: AskedJudges

    def compared(self) -> list[ComparedLabels]:
        """Ask the judges for the documents that people judged, and put both beside each other.

        Raises:
            InputError: a judge without any label; a run without any topic that a judge labelled.
        """
        found = []
        for judge in self.asked.judges:
            labels = compared_labels(self.human, judge, missing=self.asked.missing)
            with located(judge.name):
                if labels.without and self.asked.without_topics == "error":
                    check_topics(self.runs, labels.human)
            found.append(labels)
        return found

    def caveats(self, compared: Sequence[ComparedLabels], n_topics: int | None = None) -> list[Caveat]:
        """Return what keeps numbers of these labels from meaning what they seem to mean.

        Args:
            compared: the labels of the judges.
            n_topics: over how many topics numbers are; default the fewest that a judge labelled.
        """
        few = min(len(labels.human.topics) for labels in compared) if n_topics is None else n_topics
        measured = of_judged(self.asked.measures)
        found = [*one_run(len(self.runs)), *few_topics(few)]
        found += [*relevant_only(self.human, measured), *_nothing_relevant(self.human)]
        for labels in compared:
            for caveat in relevant_only(labels.judge, measured):
                found.append(Caveat(f"{labels.name}: {caveat.note}", (f"{labels.name}: ", *caveat.parts)))
        return found

    def scored(self, qrels: Qrels, runs: RunSet | None = None) -> Scores:
        """Return scores of the field, or of other runs, under judgments."""
        asked = self.asked
        return scored(
            self.runs if runs is None else runs,
            qrels,
            asked.measures,
            complete=asked.complete,
            verbose=asked.verbose,
        )

    def both_scored(self, compared: Sequence[ComparedLabels]) -> list[ScoredSides]:
        """Return of each judge the scores under the labels of people, and under its own."""
        known: list[tuple[Qrels, Scores]] = []
        found = []
        for labels in compared:
            # most judges label a document of every topic, and are compared with the same judgments
            people = next((scores for qrels, scores in known if qrels is labels.human), None)
            if people is None:
                people = self.scored(labels.human)
                known.append((labels.human, people))
            found.append(ScoredSides(labels, people, self.scored(labels.on_scale)))
        return found

    def settings(self, compared: Sequence[ComparedLabels]) -> dict[str, Any]:
        """Return the conventions of the field, of people and of the judges, for display."""
        return {
            **self.runs.settings,
            "human": f"relevant from label {self.human.rel}, {count(len(self.human.topics), 'topic')}",
            "judges": "; ".join(f"{labels.name} ({labels.words()})" for labels in compared),
            "missing": MISSING_WORDS[self.asked.missing],
            "complete": self.asked.complete,
        }


def as_people(human: Any, rel: int | None) -> Qrels:
    """Return the judgments of people.

    Args:
        human: judgments in any form.
        rel: the lowest label that is relevant, None for what the judgments say.

    Raises:
        InputError: what is no judgments, or has no label of 0 or more.
    """
    people = as_qrels(human, "human")
    if not (people.arrays.labels >= 0).any():
        raise InputError("people judged no document: no label is 0 or more.", argument="human")
    return people if rel is None else people.with_rel(rel)


def _nothing_relevant(human: Qrels) -> Iterator[Caveat]:
    """Yield that people call no document relevant, where labels are judged by a bound above all of theirs."""
    highest = int(human.arrays.labels.max(initial=-1))
    if 0 <= highest < human.rel:
        yield Caveat(
            f"no label of people is relevant from {human.rel}",
            (
                f"people call no document relevant: their highest label is {highest}, and relevant is a label of at "
                f"least {human.rel}. ",
                Option("rel", ...),
                " is the lowest label that is relevant.",
            ),
        )


def under(about: Mapping[str, Any], columns: Sequence[str], frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with some columns before its own, each of one value.

    Args:
        about: column -> value.
        columns: which of these, in this order.
        frame: the rows.
    """
    return frame.assign(**{name: about[name] for name in columns})[[*columns, *frame.columns]]


def with_names(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table with a column of names, None where there is none, whatever pandas takes names for."""
    names = [None if pd.isna(name) else name for name in table[column]]
    return table.assign(**{column: pd.Series(names, index=table.index, dtype=object)})
