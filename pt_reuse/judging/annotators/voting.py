"""Majority vote: one label for each document out of the labels of several annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, positive
from pt_reuse._errors import InputError, Option, door
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.data.labelling import provenance_first
from pt_reuse.judging.annotators.labels import NO_LABEL, AnnotatorLabels, as_annotator_labels

#: what becomes of an item for which two labels or more have the most votes
TIES = ("lower", "higher", "median", "unresolved", "error")


@door
def majority_vote(labels: Any, *, ties: str = "lower", min_labels: int = 1, rel: int | None = None) -> Qrels:
    """Make judgments of the labels of several annotators: for each document the label that most of them gave.

    The most votes are enough; more than half of them are not needed: of the labels 0, 0, 1, 2, 3 the vote is 0.

    Args:
        labels: a frame ``qid docno label annotator`` (or with the columns of ir_measures), a dict of annotator ->
            judgments in any form, or what :func:`~pt_reuse.judging.import_labels` returns. A missing label, or -1, is
            no vote.
        ties: what a document gets for which two labels or more have the most votes: the ``"lower"`` (default) or the
            ``"higher"`` of them; the ``"median"`` of all its labels, of two middle ones the lower; ``"unresolved"``,
            -1, which judgments read as pooled and not judged; or an ``"error"``.
        min_labels: how many labels a document must have, >= 1; with fewer it is unresolved, -1. Default 1.
        rel: the lowest label that is relevant, for :attr:`Qrels.rel`; default what the judgments given say.

    Returns:
        Qrels: a judgment per document, with the columns ``judge`` (whose vote it is) and ``decided`` (``"majority"``,
        how a tie was decided, or which labels it lacks), ``labels`` (how many there are), ``majority`` (how many have
        the most votes), ``tied`` (whether several labels have them), and ``votes``, who voted what: ``"ann 2, bob 0"``.
        How a document was chosen is kept where the labels say it (``strategy round reason`` and what else is the same
        for all labels of a document), and so is the ``time`` of its last label.

    Raises:
        InputError: two labels of one annotator for a document, no label at all, a tie where that is an error.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> votes = pd.DataFrame({"qid": "1", "docno": ["a", "a", "a", "b", "b"], "label": [2, 2, 0, 1, 3],
        ...                       "annotator": ["ann", "bob", "cid", "ann", "bob"]})
        >>> voted = ptr.judging.majority_vote(votes)
        >>> voted.to_frame()[["docno", "label", "decided", "votes"]].to_dict("records")
        [{'docno': 'a', 'label': 2, 'decided': 'majority', 'votes': 'ann 2, bob 2, cid 0'},
         {'docno': 'b', 'label': 1, 'decided': 'tie: lower', 'votes': 'ann 1, bob 3'}]
    """
    choice("ties", ties, TIES)
    least, lowest = positive("min_labels", min_labels, "labels"), checked_rel(rel)
    given = as_annotator_labels(labels)
    vote = Vote.of(given.values, ties)
    if ties == "error" and vote.tied.any():
        item = int(np.flatnonzero(vote.tied)[0])
        in_all = count(int(vote.tied.sum()), "tie")
        raise InputError(
            f"{given.place(item)} has a tie: {_votes(given, item)} ({in_all} in all). Choose ",
            Option("ties", "lower"),
            ", 'higher', 'median' or 'unresolved'.",
            argument="ties",
        )
    few = vote.labels < least
    decided = np.where(vote.tied, f"tie: {ties}", "majority").astype(object)
    decided[few] = [f"{count(int(n), 'label')} of {least} needed" for n in vote.labels[few]]
    frame = pd.DataFrame(
        {
            "qid": given.qids,
            "docno": given.docnos,
            "label": np.where(few, NO_LABEL, vote.label),
            "judge": f"majority of {len(given.annotators)} annotators",
            "decided": decided,
            "labels": vote.labels,
            "majority": vote.majority,
            "tied": vote.tied,
            "votes": [_votes(given, item) for item in range(len(given))],
        }
    )
    known = given.chosen.drop(columns=frame.columns, errors="ignore")
    frame = provenance_first(pd.concat([frame, known], axis=1))
    return Qrels(frame, topics=given.topics, rel=given.rel if lowest is None else lowest)


class Vote:
    """The vote on each of some items.

    Attributes:
        label: (items,) what has the most votes, -1 where nobody voted or a tie is unresolved.
        labels: (items,) how many labels there are.
        majority: (items,) how many of them are the label with the most votes.
        tied: (items,) whether two labels or more have the most votes.
    """

    def __init__(
        self, label: NDArray[np.int64], labels: NDArray[np.int64], majority: NDArray[np.int64], tied: NDArray[np.bool_]
    ):
        self.label, self.labels, self.majority, self.tied = label, labels, majority, tied

    @classmethod
    def of(cls, values: NDArray[np.int64], ties: str) -> Vote:
        """Return the vote on items.

        Args:
            values: (items, annotators) labels, -1 for none.
            ties: one of :data:`TIES`; under ``"error"`` a tie is unresolved, and whoever calls looks at `tied`.
        """
        scale = np.unique(values[values != NO_LABEL])
        n_items = len(values)
        if not len(scale):
            none = np.zeros(n_items, dtype=np.int64)
            return cls(none + NO_LABEL, none, none, none > 0)
        counts = np.stack([(values == label).sum(axis=1) for label in scale.tolist()], axis=1)
        most = counts.max(axis=1)
        best = counts == most[:, None]
        tied = (best.sum(axis=1) > 1) & (most > 0)
        lower = scale[best.argmax(axis=1)]
        label = lower.copy()
        if ties == "higher":
            label = scale[len(scale) - 1 - best[:, ::-1].argmax(axis=1)]
        elif ties == "median":
            half = (counts.sum(axis=1) + 1) // 2
            label = np.where(tied, scale[(counts.cumsum(axis=1) >= half[:, None]).argmax(axis=1)], lower)
        elif ties in ("unresolved", "error"):
            label[tied] = NO_LABEL
        return cls(np.where(most > 0, label, NO_LABEL), counts.sum(axis=1), most, tied)


def _votes(labels: AnnotatorLabels, item: int) -> str:
    values: Sequence[int] = labels.values[item].tolist()
    voted = zip(labels.annotators, values, strict=True)
    return ", ".join(f"{name} {label}" for name, label in voted if label != NO_LABEL)
