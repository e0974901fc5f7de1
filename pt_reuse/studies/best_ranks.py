"""Minimum ranks: how far down the runs go before one of them has each relevant document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, positive, told
from pt_reuse._choices import EDGES
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse.data.judgments import as_qrels, checked_rel, relevant_from
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import checked_depth
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, noted, tell
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.relevant_documents import RelevantDocuments, found_none

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what a document is called that no run has
NOT_FOUND = "NR"
_ROWS = ("rank", "topic")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MinimumRanks(Result):
    """The best rank at which any run has each relevant document.

    Attributes:
        table: one row per relevant document: ``qid docno label rank runs``; ``rank`` is the best over the runs, from 1,
            <NA> where no run has the document down to the depth (*NR*, not retrieved); ``runs`` is how many have it.
        topics: one row per topic of the judgments: ``qid relevant found not_found``, and the ``median`` and ``deepest``
            of the ranks of those found, NaN and <NA> where there is none.
        depth: the rank down to which runs were looked at.
        rel: the lowest label that counts as relevant.
    """

    title: ClassVar[str] = "Minimum ranks"

    topics: pd.DataFrame
    depth: int
    rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "topics": self.topics, "by_rank": self.by_rank()}

    def key_figures(self) -> pd.DataFrame:
        """Return how many relevant documents some run has, and how deep, see :meth:`Result.key_figures`."""
        rank = self.table["rank"].astype("Float64")
        whole = pd.DataFrame(
            {
                "median_rank": [rank.median()],
                "deepest_rank": [rank.max()],
                "in_first_ten": [(rank <= 10).sum()],
                "found": [rank.notna().sum()],
                "not_found": [rank.isna().sum()],
            }
        )
        return key_figures_of(whole, list(whole))

    def headline(self) -> str:
        """Return how many relevant documents some run has, and how many of these among its first ten."""
        rank = self.table["rank"]
        return (
            f"{count(len(rank), 'relevant document')}, {int(rank.notna().sum()):,} in the first {self.depth:,} of some "
            f"run, {int((rank <= 10).sum()):,} in the first 10"
        )

    @door
    def by_rank(self, edges: Iterable[int] = EDGES) -> pd.DataFrame:
        """Return how many relevant documents have their minimum rank in each bin.

        Args:
            edges: the upper ends of the bins, ranks of at least 1; default those of the paper, 1, 5, 10, 30 and 50. One
                more bin ends at the depth, and one holds what no run has.

        Returns:
            DataFrame: one row per bin: ``ranks`` (such as ``"2-5"``, and ``"NR"``), ``documents``, their ``share`` of
            all relevant ones (NaN where there are none), ``up_to``, the share found down to the end of the bin; and,
            where relevant documents have several labels, ``label 1`` and so on, how many of each there are.

        Raises:
            InputError: an end that is no rank.
        """
        ends = [edge for edge in checked_edges(edges) if edge < self.depth]
        limits = [0, *ends, self.depth]
        rank = self.table["rank"].to_numpy(dtype=float, na_value=np.nan)
        # a document that no run has comes into the last bin
        at = np.where(np.isnan(rank), len(limits) - 1, np.searchsorted(limits, np.nan_to_num(rank), side="left") - 1)
        documents, n = np.bincount(at, minlength=len(limits)), max(len(rank), 1)
        found = pd.DataFrame({"ranks": [*_bins(limits), NOT_FOUND], "documents": documents})
        share = documents / n if len(rank) else np.full(len(documents), np.nan)
        found["share"], found["up_to"] = share, [*np.cumsum(share)[:-1], np.nan]
        labels = self.table["label"].to_numpy()
        grades = np.unique(labels).tolist()
        for grade in grades if len(grades) > 1 else []:
            found[f"label {grade}"] = np.bincount(at[labels == grade], minlength=len(limits))
        return found

    @door
    def cells(self, *, label: int | None = None) -> pd.DataFrame:
        """Return how many relevant documents each topic has at each minimum rank: what :meth:`plot` draws.

        Args:
            label: documents of this label alone; default all relevant ones.

        Returns:
            DataFrame: one row per topic and rank with a document: ``qid rank documents``; <NA> is NR.

        Raises:
            InputError: a label that no relevant document has.
        """
        rows = self.table if label is None else self.table[self.table["label"] == self._known(label)]
        found = rows.groupby(["qid", "rank"], sort=False, dropna=False).size()
        return found.rename("documents").reset_index().astype({"rank": "Int64"})

    @door
    def report(self, by: str = "rank") -> Report:
        """Return what a paper prints: how many relevant documents are first found at which ranks, or each topic.

        Args:
            by: the rows: bins of ``"rank"`` (default), or each ``"topic"``, with most documents that no run has first.
        """
        choice("by", by, _ROWS)
        notes = [
            f"The best rank over {self.settings['runs']}, in the order {self.settings['order']}; NR: in the first "
            f"{self.depth:,} of no run.",
            f"A document is relevant from label {self.rel} on.",
            *([f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else []),
        ]
        if by == "topic":
            rows = self.topics.sort_values(["not_found", "deepest"], ascending=False, kind="stable", na_position="last")
            return Report(
                [
                    Column("Topic", rows["qid"]),
                    Column("Relevant", rows["relevant"], Digits.COUNT),
                    Column("Found", rows["found"], Digits.COUNT),
                    Column("Not found", rows["not_found"], Digits.COUNT),
                    Column("Median rank", rows["median"].map("{:.1f}".format).where(rows["median"].notna())),
                    Column("Deepest rank", rows["deepest"], Digits.COUNT),
                ],
                caption=f"Minimum ranks of the relevant documents of {count(len(rows), 'topic')}.",
                notes=notes,
            )
        rows = self.by_rank()
        return Report(
            [
                Column("Minimum rank", rows["ranks"]),
                Column("Documents", rows["documents"], Digits.COUNT),
                Column("Share", rows["share"], Digits.SCORE),
                Column("Up to here", rows["up_to"], Digits.SCORE),
            ],
            caption=f"The best rank at which some run has each of {count(len(self.table), 'relevant document')}.",
            notes=notes,
        )

    @door
    def plot(
        self,
        *,
        label: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how many relevant documents each topic has at each minimum rank, as a map of shades.

        Args:
            label: documents of this label alone; default all relevant ones.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a column for each topic, those with most relevant documents on the right; rank 1 at the bottom, above
            the deepest rank the row of documents that no run has (NR); the darker a cell, the more documents it has: 1,
            2-5, 6-10, 11-30, 31-50, more than 50.

        Raises:
            InputError: a label that no relevant document has.

        Source: Voorhees, Craswell and Lin 2022, figures 5 and 6.
        """
        from pt_reuse.plots.maps import plot_minimum_ranks
        from pt_reuse.plots.sheet import Place

        of = "" if label is None else f" of label {self._known(label)}"
        place = Place(ax, title, legend, width)
        return plot_minimum_ranks(
            self.cells(label=label), self.topics, documents=f"relevant documents{of}", place=place
        )

    def _known(self, label: Any) -> int:
        known = sorted(set(self.table["label"].tolist()))
        if isinstance(label, bool) or label not in known:
            raise InputError(
                Argument("label"),
                f" must be the label of a relevant document, {examples(known, 12) or 'of which there is none'}, got "
                f"{told(label)}.",
                argument="label",
            )
        return int(label)


@door
def minimum_ranks(
    runs: Any,
    qrels: Any,
    *,
    rel: int | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "all",
    pool_order: str | None = None,
) -> MinimumRanks:
    """Say at which rank any run first has each relevant document.

    The minimum rank of a relevant document is the best rank over the runs, down to the depth; a document that no run
    has there is *NR*, not retrieved: judgments of another origin found it. Many relevant documents at deep ranks, or
    NR, say that a shallow pool would have missed them, and that there are more that nobody found.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1.
        depth: the rank down to which runs are looked at, >= 1; default the length of the longest list, to which depth
            runs were submitted.
        contributors: the runs that are looked at: ``"all"`` (default), ``"pooled"``, or run names.
        pool_order: the order of the documents, where it is not the one in which the runs stand; default theirs, in
            which they are scored.

    Returns:
        MinimumRanks: ``.table`` (per relevant document), ``.topics``, ``.by_rank()``, ``.plot()``.

    Raises:
        InputError: a depth that is none, an unknown run, runs without any topic of the judgments.

    Warns:
        ReuseWarning: no document is relevant.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> minimum_ranks(field.runs, field.all_qrels, depth=20).by_rank([10])
           ranks  documents     share     up_to  label 1  label 2
        0   1-10        405  0.370201  0.370201      121      284
        1  11-20        186  0.170018  0.540219      120       66
        2     NR        503  0.459781       NaN      409       94

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR, section 6.
    On TREC-8 ad hoc (129 runs, scores as float32) 1,910 relevant documents have a minimum rank up to 10, 1,958 one of
    11 to 50, 860 one of 51 to 100.
    """
    checked_rel(rel)
    if depth is not None:
        checked_depth(depth)
    check_order_or_none("pool_order", pool_order)
    runs, qrels = as_runs_before(runs, qrels)
    chosen = contributors_of(runs, contributors)
    qrels = as_qrels(qrels)
    check_topics(runs, qrels)
    ranked = runs if pool_order is None else runs.reorder(pool_order)
    deepest = int(ranked.field.lengths[:, chosen.runs].max(initial=1)) if depth is None else depth
    lowest = relevant_from(qrels, rel)
    found = RelevantDocuments.of(ranked, qrels, lowest, chosen, deepest)
    caveats = list(found_none(qrels, lowest))
    tell(caveats)
    rank = pd.Series(found.rank, dtype="Int64").mask(found.rank == 0)
    table = pd.DataFrame(
        {"qid": found.qids, "docno": found.docnos, "label": found.labels, "rank": rank, "runs": found.runs}
    )
    return MinimumRanks(
        table=table,
        topics=_topics(qrels.topics, table),
        depth=deepest,
        rel=lowest,
        settings={
            "relevant": f"label of at least {lowest}",
            "depth": deepest,
            "depth from": "the longest list" if depth is None else "the call",
            "runs": str(chosen),
            **ranked.settings,
            **noted(caveats),
        },
    )


def checked_edges(edges: Any) -> list[int]:
    """Return a user's ``edges=`` as ascending ranks, each once.

    Raises:
        InputError: no list of ranks.
    """
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InputError(Argument("edges"), f" must list ranks, such as [10, 50], got {told(edges)}.", argument="edges")
    return sorted({positive("edges", edge, "ranks") for edge in edges})


def _topics(qids: Sequence[str], table: pd.DataFrame) -> pd.DataFrame:
    ranks = {qid: of for qid, of in table.groupby("qid", sort=False)["rank"]}
    rows = []
    for qid in qids:
        all_ = ranks.get(qid, table["rank"].iloc[:0])
        found = all_.dropna().to_numpy(dtype=np.int64)
        rows.append(
            {
                "qid": qid,
                "relevant": len(all_),
                "found": len(found),
                "not_found": len(all_) - len(found),
                "median": float(np.median(found)) if len(found) else np.nan,
                "deepest": int(found.max()) if len(found) else pd.NA,
            }
        )
    return pd.DataFrame(rows).astype({"deepest": "Int64"})


def _bins(limits: Sequence[int] | NDArray[np.int64]) -> list[str]:
    return [f"{high:,}" if high == low + 1 else f"{low + 1:,}-{high:,}" for low, high in pairwise(limits)]
