"""What several people say together: majorities, and how labels are distributed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, positive
from pt_reuse._errors import InputError, Option, door
from pt_reuse._report import Digits
from pt_reuse.data.frame_columns import provenance_first
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.judging.annotators.labels import (
    LABELS,
    NO_LABEL,
    SCALE,
    AnnotatorLabels,
    as_annotator_labels,
    checked_scale,
    label_counts,
)
from pt_reuse.options import Parameter
from pt_reuse.result import Result, Shown, View
from pt_reuse.study import Entry, study, study_of

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
    voted = vote(given.values, ties)
    if ties == "error" and voted.tied.any():
        item = int(np.flatnonzero(voted.tied)[0])
        in_all = count(int(voted.tied.sum()), "tie")
        raise InputError(
            f"{given.place(item)} has a tie: {_votes(given, item)} ({in_all} in all). Choose ",
            Option("ties", "lower"),
            ", 'higher', 'median' or 'unresolved'.",
            argument="ties",
        )
    few = voted.labels < least
    decided = np.where(voted.tied, f"tie: {ties}", "majority").astype(object)
    decided[few] = [f"{count(int(n), 'label')} of {least} needed" for n in voted.labels[few]]
    frame = pd.DataFrame(
        {
            "qid": given.qids,
            "docno": given.docnos,
            "label": np.where(few, NO_LABEL, voted.label),
            "judge": f"majority of {len(given.annotators)} annotators",
            "decided": decided,
            "labels": voted.labels,
            "majority": voted.majority,
            "tied": voted.tied,
            "votes": [_votes(given, item) for item in range(len(given))],
        }
    )
    known = given.chosen.drop(columns=frame.columns, errors="ignore")
    frame = provenance_first(pd.concat([frame, known], axis=1))
    return Qrels(frame, topics=given.topics, rel=given.rel if lowest is None else lowest)


class Vote(NamedTuple):
    """The vote on (items,), each an array: the label, -1 for none, how many labels there are, and for the label."""

    label: NDArray[np.int64]
    labels: NDArray[np.int64]
    majority: NDArray[np.int64]
    #: whether two labels or more have the most votes
    tied: NDArray[np.bool_]


def vote(values: NDArray[np.int64], ties: str) -> Vote:
    """Return the vote on (items, annotators) labels, -1 for none; with ``ties="error"`` a tie is unresolved."""
    scale = np.unique(values[values != NO_LABEL])
    if not len(scale):
        none = np.zeros(len(values), dtype=np.int64)
        return Vote(none + NO_LABEL, none, none, none > 0)
    counts = label_counts(values, scale.tolist())
    most = counts.max(axis=1)
    best = counts == most[:, None]
    tied = (best.sum(axis=1) > 1) & (most > 0)
    label = scale[best.argmax(axis=1)]
    if ties == "higher":
        label = scale[len(scale) - 1 - best[:, ::-1].argmax(axis=1)]
    elif ties == "median":
        half = (counts.sum(axis=1) + 1) // 2
        label = np.where(tied, scale[(counts.cumsum(axis=1) >= half[:, None]).argmax(axis=1)], label)
    elif ties in ("unresolved", "error"):
        label[tied] = NO_LABEL
    return Vote(np.where(most > 0, label, NO_LABEL), counts.sum(axis=1), most, tied)


def _votes(labels: AnnotatorLabels, item: int) -> str:
    voted = zip(labels.annotators, labels.values[item].tolist(), strict=True)
    return ", ".join(f"{name} {label}" for name, label in voted if label != NO_LABEL)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelDistributions(Result):
    """How the labels of each document spread: relevance as a distribution rather than one label.

    Attributes:
        table: one row per document, those on which annotators differ most first: ``qid docno``; ``n``, its labels;
            ``mean`` label; ``majority``, the label with the most votes, of several the lowest; ``majority_share``, its
            share of the labels; ``entropy`` of the labels in bits, 0 where all are equal, at most the logarithm to
            base 2 of the number of labels of the scale; ``relevant_share``, the share of labels that call it relevant.
        shares: one row per document and label of the scale: ``qid docno label n share``.
        scale: the labels, in order.
        rel: the lowest label that is relevant.
    """

    title = "Label distributions"
    views = {
        "document": View(
            columns=(
                Shown("Topic", "qid"),
                Shown("Document", "docno"),
                Shown("Labels", "n", Digits.COUNT),
                Shown("Majority", "majority"),
                Shown("Share", "majority_share", Digits.SCORE),
                Shown("Entropy", "entropy", Digits.SCORE),
            ),
            caption="Labels of the documents that {documents}, those on which they differ most first: the label with "
            "the most votes, its share of the labels, and the entropy in bits.",
            noun="documents",
            long=True,
        )
    }

    shares: pd.DataFrame
    scale: tuple[int, ...]
    rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"distributions": self.table, "shares": self.shares}

    def headline(self) -> str:
        """Return how many documents there are, and how far annotators differ on them."""
        unanimous = int((self.table["entropy"] == 0).sum())
        return (
            f"{count(len(self.table), 'document')}, on {unanimous:,} of them all annotators agree; mean share of the "
            f"majority {self.table['majority_share'].mean():.4f}"
        )


@study(
    LABELS,
    SCALE,
    Parameter(
        name="least",
        meaning="how many labels a document must have, at least 2; default one of every annotator.",
        check=partial(positive, "least", unit="labels"),
    ),
    entry=Entry(question="What do annotators say of each document?", group="judging", page="judging/annotators"),
)
def label_distributions(
    labels: Any, *, least: int | None = None, rel: int | None = None, scale: Any = None
) -> LabelDistributions:
    """Say how the labels of each document spread over the scale, where all annotators, or many, judged it.

    One label hides how far people differ on a document. Where many judged the same ones, relevance is a distribution:
    some documents are clear, others are relevant to half of the people.

    Returns:
        LabelDistributions: ``.table`` per document, ``.shares`` per document and label.

    Raises:
        InputError: no document with so many labels, a label out of the scale, one annotator alone.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"]})
        >>> given = {"ann": [2, 0], "bob": [2, 1], "cid": [2, 0], "dee": [2, 2]}
        >>> found = ptr.judging.label_distributions({name: frame.assign(label=label) for name, label in given.items()})
        >>> found.table[["docno", "majority", "majority_share", "entropy"]]
          docno  majority  majority_share  entropy
        0     b         0             0.5      1.5
        1     a         2             1.0      0.0

    Source: Hofstaetter, Zlabinger, Sertkan, Schroeder and Hanbury 2020, Fine-grained relevance annotations for
    multi-task document ranking and question answering, CIKM: ten pairs that all annotators judged.
    """
    asked = study_of(label_distributions).checked(locals())
    given = as_annotator_labels(labels)
    if len(given.annotators) < 2:
        raise InputError(f"the labels are of one annotator, {given.annotators[0]!r}.", argument="labels")
    fewest = max(len(given.annotators) if least is None else asked["least"], 2)
    lowest = asked["rel"] or given.rel or 1
    known = checked_scale(scale, given)
    n = given.given.sum(axis=1)
    kept = n >= fewest
    if not kept.any():
        raise InputError(
            f"no document has {fewest} labels; the most that one has is {n.max()}, of {len(given.annotators)} "
            "annotators. Choose ",
            Option("least", max(int(n.max()), 2)),
            ".",
            argument="least",
        )
    counts = label_counts(given.values[kept], known)
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    voted = vote(given.values[kept], "lower")
    table = pd.DataFrame(
        {
            "qid": given.qids[kept],
            "docno": given.docnos[kept],
            "n": n[kept],
            "mean": shares @ np.array(known, dtype=float),
            "majority": voted.label,
            "majority_share": voted.majority / voted.labels,
            # adding 0 turns the minus of -0.0 away
            "entropy": -(shares * logs).sum(axis=1) + 0.0,
            "relevant_share": shares[:, np.array(known) >= lowest].sum(axis=1),
        }
    )
    by_label = table.loc[table.index.repeat(len(known)), ["qid", "docno"]].reset_index(drop=True)
    by_label = by_label.assign(label=np.tile(known, len(table)), n=counts.ravel(), share=shares.ravel())
    everyone = fewest == len(given.annotators)
    return LabelDistributions(
        table=table.sort_values("entropy", ascending=False, kind="stable", ignore_index=True),
        settings={
            "documents": f"all {fewest} annotators judged" if everyone else f"have {fewest} labels or more",
            "left out": int((~kept).sum()),
            "relevant": f"label of at least {lowest}",
            "scale": ", ".join(map(str, known)),
            "majority": "most votes, of several labels the lowest",
        },
        shares=by_label,
        scale=known,
        rel=lowest,
    )
