"""Label distributions: how the labels of one document spread where many annotators judged it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import count, positive
from pt_reuse._errors import InputError, Option, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result
from pt_reuse.data.judgments import checked_rel
from pt_reuse.judging.annotators.labels import as_annotator_labels, checked_scale
from pt_reuse.judging.annotators.voting import Vote
from pt_reuse.plots.marks import checked_top

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
