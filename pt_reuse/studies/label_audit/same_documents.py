"""Judges beside other people on the same documents: the fair reading of a kappa.

Other people often labelled a part of the topics, and documents that were chosen: more of them relevant, or harder. What
a judge reaches on all documents cannot be read against what people reach on these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.studies.label_audit.agreement_tables import usable, with_ends
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


def beside_people(
    judges: Mapping[str, BothLabelled], people: Mapping[str, BothLabelled], bootstrap: TopicBootstrap | None
) -> pd.DataFrame:
    """Return what each judge and each other person reach with people on the documents that both labelled.

    Args:
        judges: name -> labels beside those of people.
        people: name of another person -> labels beside those of the same people.
        bootstrap: how intervals are made: both are drawn on the same topics, so that their difference has an interval;
            None for none.
    """
    rows = [
        {"judge": judge, "person": person, **row}
        for judge, mine in judges.items()
        for person, theirs in people.items()
        for row in _rows(*theirs.with_other(mine), bootstrap)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(person: BothLabelled, judge: BothLabelled, bootstrap: TopicBootstrap | None) -> Iterator[dict[str, object]]:
    if not len(judge.pairs):
        return
    sides = [LabelCounts.of(judge), LabelCounts.of(person)]
    topics = sides[0].topics
    ways = [side.ways(side.counts.sum(axis=0, keepdims=True)) for side in sides]
    how = usable(bootstrap, len(topics))
    drawn = None if how is None else [side.ways(side.drawn(how.counts(len(topics)))) for side in sides]
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
            row |= {"n_topics": len(topics), "n_items": len(judge.pairs)}
            row |= with_ends("value", value, draws[0], how)
            row |= with_ends("person_value", other, draws[1], how)
            between = None if draws[0] is None or draws[1] is None else draws[0] - draws[1]
            yield row | with_ends("difference", value - other, between, how)
