"""What several people say together: majorities, and how labels are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, positive
from pt_reuse._errors import InputError, Option, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse.data.frame_columns import provenance_first
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.judging.annotators.labels import NO_LABEL, AnnotatorLabels, as_annotator_labels, checked_scale
from pt_reuse.plots.marks import checked_top
from pt_reuse.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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

    title: ClassVar[str] = "Label distributions"

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

    @door
    def report(self) -> Report:
        """Return what a paper prints: each document with its majority and how far annotators differ."""
        table = self.table
        return Report(
            [
                Column("Topic", table["qid"]),
                Column("Document", table["docno"]),
                Column("Labels", table["n"], Digits.COUNT),
                Column("Majority", table["majority"]),
                Column("Share", table["majority_share"], Digits.SCORE),
                Column("Entropy", table["entropy"], Digits.SCORE),
            ],
            caption=(
                f"Labels of {count(len(table), 'document')} that {self.settings['documents']}, those on which they "
                "differ most first: the label with the most votes, its share of the labels, and the entropy in bits."
            ),
        )

    @door
    def plot(
        self,
        *,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the share of each label as parts of a bar for each document, those with the largest mean label on top.

        Args:
            top: how many documents at most; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a bar per document.
        """
        from pt_reuse.plots.bars import plot_label_shares
        from pt_reuse.plots.sheet import Place

        return plot_label_shares(self.table, self.shares, top=checked_top(top), place=Place(ax, title, legend, width))


@door
def label_distributions(
    labels: Any, *, least: int | None = None, rel: int | None = None, scale: Any = None
) -> LabelDistributions:
    """Say how the labels of each document spread over the scale, where all annotators, or many, judged it.

    One label hides how far people differ on a document. Where many judged the same ones, relevance is a distribution:
    some documents are clear, others are relevant to half of the people.

    Args:
        labels: a frame ``qid docno label annotator`` (or with the columns of ir_measures), a dict of annotator ->
            judgments in any form, or what :func:`~pt_reuse.judging.import_labels` returns. A missing label, or -1, is
            none.
        least: how many labels a document must have, at least 2; default one of every annotator.
        rel: the lowest label that is relevant, >= 1; default what the judgments given say, else 1.
        scale: the labels that there are, such as ``(0, 1, 2, 3)``; default those that occur.

    Returns:
        LabelDistributions: ``.table`` per document, ``.shares`` per document and label, ``.plot()``.

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
    asked, stated = None if least is None else positive("least", least, "labels"), checked_rel(rel)
    given = as_annotator_labels(labels)
    if len(given.annotators) < 2:
        raise InputError(f"the labels are of one annotator, {given.annotators[0]!r}.", argument="labels")
    fewest = max(len(given.annotators) if asked is None else asked, 2)
    lowest = stated or given.rel or 1
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
    counts = given.counts(known)[kept]
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    vote = Vote.of(given.values[kept], "lower")
    table = pd.DataFrame(
        {
            "qid": given.qids[kept],
            "docno": given.docnos[kept],
            "n": n[kept],
            "mean": shares @ np.array(known, dtype=float),
            "majority": vote.label,
            "majority_share": vote.majority / vote.labels,
            # adding 0 turns the minus of -0.0 away
            "entropy": -(shares * logs).sum(axis=1) + 0.0,
            "relevant_share": shares[:, np.array(known) >= lowest].sum(axis=1),
        }
    )
    by_label = pd.DataFrame(
        {
            "qid": np.repeat(table["qid"].to_numpy(), len(known)),
            "docno": np.repeat(table["docno"].to_numpy(), len(known)),
            "label": np.tile(known, len(table)),
            "n": counts.ravel(),
            "share": shares.ravel(),
        }
    )
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
