"""Labels of a judge for documents that people did not judge, or are taken not to have judged, on the people's scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import lowest_of, values_on_scale
from pt_reuse.scoring.caveats import Caveat, of_judged


@dataclass(frozen=True)
class HoleLabels:
    """What one judge says of documents.

    Attributes:
        name: of the judge.
        judge_rel: the lowest of its labels that is relevant, on its own scale.
        labels: (documents,) its labels as measures take them, relevant from the same label on as those of people;
            :data:`UNJUDGED` where it gave none.
    """

    name: str
    judge_rel: int
    labels: NDArray[np.int16]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return (documents,): whether the judge gave a label."""
        return self.labels != UNJUDGED

    def words(self) -> str:
        """Return who was asked, and what counts as relevant, for settings."""
        told = f"{self.name}: {count(len(self.labels), 'document')} asked, relevant from its label {self.judge_rel}"
        unknown = int((~self.known).sum())
        return told + (f", {unknown:,} without a label" if unknown else "")


def higher_grades(
    given: HoleLabels, people: NDArray[np.int16], measures: Iterable[ir_measures.Measure]
) -> list[Caveat]:
    """Return the caveat that a judge has higher grades than people, where a measure takes labels for gains.

    Args:
        given: what the judge says.
        people: the labels of people.
        measures: the measures.
    """
    mine, theirs = int(given.labels.max(initial=0)), int(people.max(initial=0))
    graded = [measure for measure in measures if "rel" not in measure.SUPPORTED_PARAMS]
    named = [repr(measure) for measure in graded if not of_judged([measure])]
    if mine <= theirs or not named:
        return []
    note = f"labels of {given.name} go up to {mine}, those of people to {theirs}"
    return [
        Caveat(
            note,
            (
                f"{note}: under {examples(named)} what it labels weighs more than the best that people found. Map its "
                "labels to the grades of people first.",
            ),
        )
    ]


def labels_of_holes(judge: NamedJudge, documents: pd.DataFrame, rel: int) -> HoleLabels:
    """Ask a judge for the labels of documents, all in one frame, and bring them to the scale of people.

    Args:
        judge: who is asked.
        documents: one a row: ``qid docno``, and what else the judge reads.
        rel: the lowest label of people that is relevant.

    Returns:
        HoleLabels: a label below 0 says that there is none, as in judgments.

    Raises:
        InputError: what the judge answers is no label.
    """
    given = judge.labels(documents.reset_index(drop=True))
    known = (given >= 0).fillna(False).to_numpy(dtype=bool)
    values = given[known].to_numpy(dtype=np.int64)
    lowest = lowest_of(judge, values, rel)
    labels = np.full(len(documents), UNJUDGED, dtype=np.int16)
    labels[known] = values_on_scale(values, lowest, rel)
    return HoleLabels(judge.name, lowest, labels)
