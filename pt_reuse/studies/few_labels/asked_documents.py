"""What a judge is asked for where people labelled little: documents, and the labels that it gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, told
from pt_reuse._errors import InputError, Option, arguments_as, located
from pt_reuse.data.frame_columns import in_our_columns
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import Scale, lowest_of, on_scale, scale_words
from pt_reuse.pooling.pool import Pool, documents_of

_PAIR = ["qid", "docno"]


@dataclass(frozen=True)
class JudgeLabels:
    """The labels of a judge, on the scale of people.

    Attributes:
        labels: of the documents that it labelled; their topics alone.
        judge_rel: the lowest label that is relevant, on the judge's own scale.
        asked: how many documents it was asked for.
        grades: its label -> the label of people for which it is taken; None where it is taken as it is.
    """

    labels: Qrels
    judge_rel: int
    asked: int
    grades: Mapping[int, int] | None = None

    def scale_words(self) -> str:
        """Return what counts as relevant for the judge, for settings."""
        return scale_words(self.judge_rel, self.grades)

    @property
    def missing(self) -> int:
        """Return how many documents it gave no label."""
        return self.asked - len(self.labels)


def checked_pool(pool: Any) -> pd.DataFrame | None:
    """Return what a user gives as the documents to label as a frame: ``qid docno``, and what a judge reads of each.

    Raises:
        InputError: neither a Pool nor a frame, a missing column, a document twice.
    """
    if pool is None:
        return None
    if isinstance(pool, Pool):
        every = [pool] if pool.unsampled is None else [pool, pool.unsampled]
        return pd.concat([part.to_frame()[_PAIR] for part in every], ignore_index=True)
    if not isinstance(pool, pd.DataFrame):
        raise InputError(
            f"pool must be a Pool, or a frame with qid and docno, got {told(pool)}.",
            argument="pool",
        )
    frame = in_our_columns(pool)
    with arguments_as(frame="pool"):
        documents_of(frame[[column for column in _PAIR if column in frame]], None)
    return frame.assign(qid=frame["qid"].astype(str), docno=frame["docno"].astype(str)).reset_index(drop=True)


def documents_to_label(judge: NamedJudge, pool: pd.DataFrame | None) -> pd.DataFrame:
    """Return the documents that a judge is to label: those of the pool, or those whose labels exist already.

    Raises:
        InputError: neither a pool nor labels that exist already.
    """
    if pool is not None:
        return pool
    known = judge.judge.known_pairs()
    if known is None:
        raise InputError(
            "the judge has to be asked, and nobody says for which documents. Give ",
            Option("pool", ...),
            ", a Pool or a frame with qid, docno and what the judge reads.",
            argument="pool",
        )
    return known


def labels_for(judge: NamedJudge, pairs: pd.DataFrame, people: Scale) -> JudgeLabels:
    """Ask a judge for labels.

    Args:
        judge: who is asked.
        pairs: the documents, ``qid docno`` and what the judge reads.
        people: the scale of people.

    Raises:
        InputError: no label for any document, what it answers is no label, or its labels go beyond those of people and
            nobody says which are relevant.
    """
    labels = judge.labels(pairs)
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    if not known.any():
        with located(judge.name):
            of = f" for any of {count(len(pairs), 'document')} that it was asked for" if len(pairs) else ""
            raise InputError(f"the judge has no label of at least 0{of}.", argument="judge")
    found = pairs.loc[known, _PAIR].assign(label=labels[known].astype(np.int64))
    lowest = lowest_of(judge, found["label"], people)
    return JudgeLabels(on_scale(Qrels(found, rel=lowest), lowest, people.rel), lowest, len(pairs), judge.grades)
