"""The field under the labels of people and of each judge: rankings, runs that move, and the documents that do it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse.arrays.bootstrap import TopicBootstrap, whole_changes
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.studies.label_audit.compared_rankings import (
    MODEL,
    PEOPLE,
    Comparison,
    RankedField,
    agreement_rows,
    furthest_first,
    moved_runs,
)
from pt_reuse.studies.label_audit.document_effects import DocumentEffects, ranks_of
from pt_reuse.studies.label_audit.field_scores import LabelSheet
from pt_reuse.studies.label_audit.moving_documents import MovingDocuments, places_by_name
from pt_reuse.studies.label_audit.yardstick import BesidePerson, Yardstick

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
