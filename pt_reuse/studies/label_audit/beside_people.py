"""Judges beside other people on the same documents: the fair reading of a kappa.

Other people often labelled a part of the topics, and documents that were chosen: more of them relevant, or harder. What
a judge reaches on all documents cannot be read against what people reach on these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.stats.bootstrap import TopicBootstrap
from pt_reuse.studies.label_audit.agreement_tables import with_ends
from pt_reuse.studies.label_audit.both_labelled import BothLabelled
from pt_reuse.studies.label_audit.label_counts import LabelCounts, figures_of

#: what other people are called where all of them count as one
TOGETHER = "people together"
COLUMNS = (
    "judge", "person", "labels", "figure", "n_topics", "n_items", "value", "value_low", "value_high", "person_value",
    "person_value_low", "person_value_high", "difference", "difference_low", "difference_high",
)  # fmt: skip
#: what is compared; how much each calls relevant is in the table of all documents
COMPARED = ("agreement", "kappa", "alpha_nominal", "alpha_ordinal", "precision", "recall")


@dataclass(frozen=True)
class Beside:
    """How judges are held beside other people.

    Attributes:
        bootstrap: how intervals are made: both are drawn on the same topics, so that their difference has an interval;
            None for none.
        scale: the labels that people give.
    """

    bootstrap: TopicBootstrap | None
    scale: tuple[int, ...]

    def table(self, judges: Sequence[ComparedLabels], people: Sequence[ComparedLabels]) -> pd.DataFrame:
        """Return what each judge and each other person reach with people on the documents that both labelled.

        Args:
            judges: labels of judges beside those of people.
            people: labels of other people beside those of the same people.
        """
        persons = {one.name: BothLabelled.of(one) for one in people}
        if len(people) > 1:
            persons[TOGETHER] = BothLabelled.together(people)
        rows = [
            {"judge": judge.name, "person": name, **row}
            for judge in judges
            for name, labelled in persons.items()
            for row in self._rows(judge, labelled)
        ]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def _rows(self, judge: ComparedLabels, person: BothLabelled) -> Iterator[dict[str, object]]:
        both = [person.as_labelled_by(judge), person.also_by(judge)]
        if not len(both[0].pairs):
            return
        sides = [LabelCounts.of(labelled, self.scale) for labelled in both]
        topics = sides[0].topics
        ways = [side.ways(side.counts.sum(axis=0, keepdims=True)) for side in sides]
        # of one topic every draw is the same
        times = None if self.bootstrap is None or len(topics) < 2 else self.bootstrap.counts(len(topics))
        drawn = None if times is None else [side.ways(side.drawn(times)) for side in sides]
        for labels in ("grades", "binary"):
            way = ("all", labels)
            if not all(way in each for each in ways):
                continue
            mine, theirs = (figures_of(each, way) for each in ways)
            again = None if drawn is None else [figures_of(each, way) for each in drawn]
            for figure in COMPARED:
                value, other = float(mine[figure][0]), float(theirs[figure][0])
                draws = (None, None) if again is None else (again[0][figure], again[1][figure])
                row: dict[str, object] = {"labels": labels, "figure": figure}
                row |= {"n_topics": len(topics), "n_items": len(both[0].pairs)}
                row |= with_ends("value", value, draws[0], self.bootstrap)
                row |= with_ends("person_value", other, draws[1], self.bootstrap)
                between = None if draws[0] is None or draws[1] is None else draws[0] - draws[1]
                yield row | with_ends("difference", value - other, between, self.bootstrap)
