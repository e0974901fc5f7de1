"""Labels of a judge for documents that people did not judge, or are taken not to have judged, on the people's scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import Scale, lowest_of, scale_words, values_on_scale


@dataclass(frozen=True)
class HoleLabels:
    """What one judge says of documents.

    Attributes:
        name: of the judge.
        judge_rel: the lowest of its labels that is relevant, on its own scale.
        labels: (documents,) its labels as measures take them, relevant from the same label on as those of people, and
            none above the highest of people; :data:`UNJUDGED` where it gave none.
        highest: the label to which higher ones were lowered, None where there are none.
        grades: its label -> the label of people for which it is taken; None where it is taken as it is.
    """

    name: str
    judge_rel: int
    labels: NDArray[np.int16]
    highest: int | None = None
    grades: Mapping[int, int] | None = None

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return (documents,): whether the judge gave a label."""
        return self.labels != UNJUDGED

    def words(self) -> str:
        """Return who was asked, and what counts as relevant, for settings."""
        told = f"{self.name}: {count(len(self.labels), 'document')} asked, {scale_words(self.judge_rel, self.grades)}"
        told += "" if self.highest is None else f", labels above {self.highest} taken for {self.highest}"
        unknown = int((~self.known).sum())
        return told + (f", {unknown:,} without a label" if unknown else "")


def labels_of_holes(judge: NamedJudge, documents: pd.DataFrame, people: Scale) -> HoleLabels:
    """Ask a judge for the labels of documents, all in one frame, and bring them to the scale of people.

    Args:
        judge: who is asked.
        documents: one a row: ``qid docno``, and what else the judge reads.
        people: the scale of people, whose labels stand beside these.

    Returns:
        HoleLabels: a label below 0 says that there is none, as in judgments.

    Raises:
        InputError: what the judge answers is no label, or its labels go beyond those of people and nobody says which
            are relevant.
    """
    given = judge.labels(documents.reset_index(drop=True))
    known = (given >= 0).fillna(False).to_numpy(dtype=bool)
    values = given[known].to_numpy(dtype=np.int64)
    lowest = lowest_of(judge, values, people)
    scaled = values_on_scale(values, lowest, people.rel)
    # beside labels of people a higher one would weigh more than the best that these found
    most = max(people.highest, people.rel)
    lowered = judge.grades is None and bool((scaled > most).any())
    labels = np.full(len(documents), UNJUDGED, dtype=np.int16)
    labels[known] = np.minimum(scaled, most) if lowered else scaled
    return HoleLabels(judge.name, lowest, labels, most if lowered else None, judge.grades)
