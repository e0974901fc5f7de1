"""Labels of a judge for documents that people did not judge, or are taken not to have judged, on the people's scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import InputError
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import lowest_relevant, values_on_scale


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


def hole_labels(judge: NamedJudge, documents: pd.DataFrame, rel: int, *, argument: str = "fill") -> HoleLabels:
    """Ask a judge for the labels of documents, all in one frame, and bring them to the scale of people.

    Args:
        judge: who is asked.
        documents: one a row: ``qid docno``, and what else the judge reads.
        rel: the lowest label of people that is relevant.
        argument: what the user calls the judge, for errors.

    Returns:
        HoleLabels: a label below 0 says that there is none, as in judgments.

    Raises:
        InputError: the judge labelled none of the documents, or what it answers is no label.
    """
    given = judge.labels(documents.reset_index(drop=True))
    known = (given >= 0).fillna(False).to_numpy(dtype=bool)
    if len(documents) and not known.any():
        raise InputError(
            f"the judge labelled none of {count(len(documents), 'document')}. Are these labels of the same collection, "
            "with ids written alike?",
            argument=argument,
            place=judge.name,
        )
    values = given[known].to_numpy(dtype=np.int64)
    lowest = judge.rel if judge.rel is not None else lowest_relevant(values, rel) if len(values) else rel
    labels = np.full(len(documents), UNJUDGED, dtype=np.int16)
    labels[known] = values_on_scale(values, lowest, rel)
    return HoleLabels(judge.name, lowest, labels)
