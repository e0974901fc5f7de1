"""Minimum ranks: how far down the runs go before one of them has each relevant document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples, positive, told
from pt_reuse._choices import EDGES
from pt_reuse._report import Digits
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.errors import InputError
from pt_reuse.options import Flag, Parameter
from pt_reuse.plots.topics import plot_minimum_ranks
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.relevant_documents import RelevantDocuments, found_none
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: what a document is called that no run has
NOT_FOUND = "NR"


def _draw(result: MinimumRanks, _: None, place: Place, label: int | None = None) -> Axes:
    """Draw how many relevant documents each topic has at each minimum rank, as a map of shades."""
    of = "" if label is None else f" of label {result.known(label)}"
    return plot_minimum_ranks(
        result.cells(label=label), result.topics, documents=f"relevant documents{of}", place=place
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MinimumRanks(Result):
    """The best rank at which any run has each relevant document.

    Its figure has a column for each topic, those with most relevant documents on the right, rank 1 at the bottom, above
    the deepest rank the row of documents that no run has (NR), and darker cells for more documents; ``label=`` for
    documents of one label. Source: Voorhees, Craswell and Lin 2022, figures 5 and 6.

    Attributes:
        table: one row per relevant document: ``qid docno label rank runs``; ``rank`` is the best over the runs, from 1,
            <NA> where no run has the document down to the depth (*NR*, not retrieved); ``runs`` is how many have it.
        topics: one row per topic of the judgments: ``qid relevant found not_found``, and the ``median`` and ``deepest``
            of the ranks of those found, NaN and <NA> where there is none.
        depth: the rank down to which runs were looked at.
        rel: the lowest label that counts as relevant.
    """

    title = "Minimum ranks"
    condition = "It holds for the best rank over these runs: {runs}, to depth {depth}; relevant: {relevant}."
    limit = "It does not say anything of relevant documents that nobody judged."
    views = {
        "rank": View(
            table="by_rank",
            columns=(
                Shown("Minimum rank", "ranks"),
                Shown("Documents", "documents", Digits.COUNT),
                Shown("Share", "share", Digits.SCORE),
                Shown("Up to here", "up_to", Digits.SCORE),
            ),
            caption="The best rank at which some run has each relevant document (NR: no run has it).",
            noun="bins",
        ),
        "topic": View(
            table="topics",
            columns=(
                Shown("Topic", "qid"),
                Shown("Relevant", "relevant", Digits.COUNT),
                Shown("Found", "found", Digits.COUNT),
                Shown("Not found", "not_found", Digits.COUNT),
                Shown("Median rank", "median", Digits.RANKS),
                Shown("Deepest rank", "deepest", Digits.COUNT),
            ),
            caption="Minimum ranks of the relevant documents of {rows} topics.",
            descending=("not_found", "deepest"),
            noun="topics",
        ),
    }
    plots = {"ranks": _draw}
    key = (KeyFigures(("median_rank", "deepest_rank", "in_first_ten", "found", "not_found"), "_whole"),)
    sentences = {"runs": "The best rank over {runs}; NR: in the first {depth} of no run."}
    derived = {"by_rank": "by_rank"}

    topics: pd.DataFrame
    depth: int
    rel: int

    def _whole(self) -> pd.DataFrame:
        rank = self.table["rank"].astype("Float64")
        return pd.DataFrame(
            {
                "median_rank": [rank.median()],
                "deepest_rank": [rank.max()],
                "in_first_ten": [(rank <= 10).sum()],
                "found": [rank.notna().sum()],
                "not_found": [rank.isna().sum()],
            }
        )

    def headline(self) -> str:
        """Return how many relevant documents some run has, and how many of these among its first ten."""
        rank = self.table["rank"]
        return (
            f"{count(len(rank), 'relevant document')}, {int(rank.notna().sum()):,} in the first {self.depth:,} of some "
            f"run, {int((rank <= 10).sum()):,} in the first 10"
        )

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

    def cells(self, *, label: int | None = None) -> pd.DataFrame:
        """Return how many relevant documents each topic has at each minimum rank: what :meth:`plot` draws.

        Args:
            label: documents of this label alone; default all relevant ones.

        Returns:
            DataFrame: one row per topic and rank with a document: ``qid rank documents``; <NA> is NR.

        Raises:
            InputError: a label that no relevant document has.
        """
        rows = self.table if label is None else self.table[self.table["label"] == self.known(label)]
        found = rows.groupby(["qid", "rank"], sort=False, dropna=False).size()
        return found.rename("documents").reset_index().astype({"rank": "Int64"})

    def known(self, label: Any) -> int:
        """Return a label that a relevant document has."""
        known = sorted(set(self.table["label"].tolist()))
        if isinstance(label, bool) or label not in known:
            raise InputError(
                "label must be the label of a relevant document, "
                f"{examples(known, 12) or 'of which there is none'}, got {told(label)}.",
                argument="label",
            )
        return int(label)


def checked_edges(edges: Any) -> list[int]:
    """Return a user's ``edges=`` as ascending ranks, each once."""
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InputError(f"edges must list ranks, such as [10, 50], got {told(edges)}.", argument="edges")
    return sorted({positive("edges", edge, "ranks") for edge in edges})


def _checked_order(order: Any) -> Any:
    check_order_or_none("pool_order", order)
    return order


@study(
    Parameter(
        name="depth",
        meaning="the rank down to which runs are looked at, >= 1; default the length of the longest list, to which "
        "depth runs were submitted.",
        check="pt_reuse.pooling.depth:checked_depth",
        flag=Flag(help="rank down to which runs are looked at", metavar="K", default="that of the longest list"),
    ),
    Parameter(
        name="contributors",
        meaning='the runs that are looked at: ``"all"`` (default), ``"pooled"``, or run names.',
    ),
    Parameter(
        name="pool_order",
        meaning="the order of the documents, where it is not the one in which the runs stand; default theirs, in which "
        "they are scored.",
        check=_checked_order,
    ),
    Parameter(
        name="edges",
        check=lambda value: checked_edges([value] if isinstance(value, int) else value),
        flag=Flag(help="upper ends of bins", metavar="LIST", kind="counts", usual=list(EDGES)),
    ),
    command=Command(
        name="profile minimum-ranks",
        summary="the best rank of each relevant document in any run",
        details="The minimum rank of a relevant document is its best rank over the runs; NR (not retrieved) is one "
        "that no run has. If many are deep or NR, a shallow pool would have missed them, and there may be more that "
        "nobody found.",
    ),
    entry=Entry(question="At which ranks were the relevant documents found?", group="pools", papers="[V22b]_"),
)
def minimum_ranks(
    runs: Any,
    qrels: Any,
    *,
    rel: int | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "all",
    pool_order: str | None = None,
) -> MinimumRanks:
    """Compute the best rank of each relevant document in any run.

    The minimum rank of a relevant document is its best rank in any run, down to the depth; a document that no run has
    there is *NR*, not retrieved: it was judged for another reason. Many relevant documents at deep ranks, or NR, show
    that a shallow pool would have missed them, and suggest that there are further ones.

    Returns:
        MinimumRanks: ``.table`` (per relevant document), ``.topics``, ``.by_rank()``, ``.plot()``.

    Raises:
        InputError: an invalid depth, an unknown run, runs without any topic of the judgments.

    Warns:
        ReuseWarning: no document is relevant.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> minimum_ranks(field.runs, field.all_qrels, depth=20).by_rank([10])
           ranks  documents     share     up_to  label 1  label 2
        0   1-10        405  0.370201  0.370201      121      284
        1  11-20        186  0.170018  0.540219      120       66
        2     NR        503  0.459781       NaN      409       94

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR, section 6.
    On TREC-8 ad hoc (129 runs, scores as float32) 1,910 relevant documents have a minimum rank up to 10, 1,958 one of
    11 to 50, 860 one of 51 to 100.
    """
    asked = Asked(minimum_ranks, locals())
    chosen, qrels, lowest = asked.contributors, asked.qrels, asked.rel
    ranked = asked.runs if pool_order is None else asked.runs.reorder(pool_order)
    deepest = int(ranked.field.lengths[:, chosen.runs].max(initial=1)) if depth is None else asked["depth"]
    found = RelevantDocuments.of(ranked, qrels, lowest, chosen, deepest)
    asked.tell(found_none(qrels, lowest))
    rank = pd.Series(found.rank, dtype="Int64").mask(found.rank == 0)
    table = pd.DataFrame(
        {"qid": found.qids, "docno": found.docnos, "label": found.labels, "rank": rank, "runs": found.runs}
    )
    settings = {
        "relevant": f"label of at least {lowest}",
        "depth": deepest,
        "depth from": "the longest list" if depth is None else "the call",
        "runs": str(chosen),
        **ranked.settings,
    }
    settings |= {name: value for name, value in asked.settings().items() if name == BEWARE}
    return MinimumRanks(table=table, topics=_topics(qrels.topics, table), depth=deepest, rel=lowest, settings=settings)


def _topics(qids: Sequence[str], table: pd.DataFrame) -> pd.DataFrame:
    by_topic = table.groupby("qid", sort=False)["rank"]
    found = pd.DataFrame(
        {
            "relevant": by_topic.size(),
            "found": by_topic.count(),
            "not_found": by_topic.size() - by_topic.count(),
            "median": by_topic.median().astype("Float64"),
            "deepest": by_topic.max().astype("Int64"),
        }
    ).reindex(list(qids))
    counts = ["relevant", "found", "not_found"]
    found[counts] = found[counts].fillna(0).astype(int)
    found["median"] = found["median"].to_numpy(dtype=float, na_value=np.nan)
    return found.reset_index(names="qid")


def _bins(limits: Sequence[int]) -> list[str]:
    return [f"{high:,}" if high == low + 1 else f"{low + 1:,}-{high:,}" for low, high in pairwise(limits)]
