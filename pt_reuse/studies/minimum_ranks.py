"""minimum_ranks: how far down the runs go before one of them has each relevant document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse._check import positive, shown
from pt_reuse.columns import Table
from pt_reuse.data.ordering import checked_pool_order
from pt_reuse.errors import InputError
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.options import EDGES
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.plots.topics import plot_minimum_ranks
from pt_reuse.pooling.fit import ranks_of_documents
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import beware, none_relevant
from pt_reuse.study import study


def _draw(result: MinimumRanks, _: None, place: Place, label: int | None = None) -> Axes:
    rows = result.table if label is None else result.table[result.table["label"] == label]
    if rows.empty and label is not None:
        raise InputError(f"label must be that of a relevant document, got {shown(label)}.", argument="label")
    counts = rows.groupby(["qid", "rank"], sort=False, dropna=False).size()
    cells = counts.rename("documents").reset_index().astype({"rank": "Int64"})
    documents = "relevant documents" if label is None else f"relevant documents of label {label}"
    return plot_minimum_ranks(cells, result.topics, documents=documents, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MinimumRanks(Result):
    """The best rank at which any run has each relevant document.

    Its figure has a column for each topic and darker cells for more documents; ``label=`` for documents of one label.
    Source: Voorhees, Craswell and Lin 2022, figures 5 and 6.

    Attributes:
        depth: the rank down to which runs were looked at.
        rel: the lowest label that counts as relevant.
    """

    title = "Minimum ranks"
    answer = (
        "whole",
        "{found} of {relevant} relevant documents in the first {depth} of some run, {in_first_ten} in the first 10; "
        "median rank {median_rank}",
    )
    key = "median_rank deepest_rank in_first_ten found not_found"
    valid_for = "the best rank over these runs: {runs}, to depth {depth}; relevant: {relevant}."
    not_covered = "relevant documents without a judgment."
    plots = {"ranks": _draw}
    derived = {"by_rank": "by_rank"}
    columns = """
    rank        | Minimum rank | count | the best over the runs, from 1; <NA>: no run has it down to the depth (NR)
    runs        | Runs         | count | how many runs have it there
    found       | Found        | count | how many of them some run has
    not_found   | Not found    | count | how many none has
    median      | Median rank  | ranks | of those found, NaN where there is none
    deepest     | Deepest rank | count | of those found, <NA> where there is none
    ranks       | Minimum rank |       | such as ``2-5``, and ``NR``
    share       | Share        | score | of all relevant documents, NaN where there are none
    up_to       | Up to here   | score | the share found down to the end of the bin
    median_rank | Median rank  | ranks | of all that are found
    deepest_rank | Deepest rank | count | of all that are found
    in_first_ten | First ten   | count | how many some run has in its first ten
    """

    table: Annotated[pd.DataFrame, Table("relevant document", "qid docno label rank runs", noun="documents")]
    topics: Annotated[
        pd.DataFrame,
        Table(
            "topic of the judgments",
            "qid relevant found not_found median deepest",
            descending=("not_found", "deepest"),
            noun="topics",
        ),
    ]
    depth: int
    rel: int

    def whole(self) -> pd.DataFrame:
        """Return a row with the numbers of all relevant documents."""
        rank = self.table["rank"].astype("Float64")
        numbers = {"median_rank": rank.median(), "deepest_rank": rank.max(), "in_first_ten": (rank <= 10).sum()}
        return pd.DataFrame(
            [numbers | {"relevant": len(rank), "found": rank.notna().sum(), "not_found": rank.isna().sum()}]
        )

    def by_rank(
        self, edges: Iterable[int] = EDGES
    ) -> Annotated[
        pd.DataFrame,
        Table(
            "bin of ranks",
            "ranks documents share up_to",
            about="Of several labels ``label 1`` and so on are how many of each there are.",
            noun="bins",
        ),
    ]:
        """Return how many relevant documents have their minimum rank in each bin.

        The `edges` are the upper ends of the bins, by default those of the paper; one more ends at the depth, and one
        holds what no run has.
        """
        limits = [*(edge for edge in _checked_edges(edges) if edge < self.depth), self.depth]
        at = np.searchsorted(limits, self.table["rank"].fillna(self.depth + 1).astype(int))
        documents, labels = np.bincount(at, minlength=len(limits) + 1), self.table["label"].to_numpy()
        share = documents / (len(at) or np.nan)
        bins = [f"{high:,}" if high == low + 1 else f"{low + 1:,}-{high:,}" for low, high in pairwise([0, *limits])]
        up_to = [*np.cumsum(share)[:-1], np.nan]
        grades = np.unique(labels).tolist()
        of_label = {f"label {grade}": np.bincount(at[labels == grade], minlength=len(documents)) for grade in grades}
        counts = {"ranks": [*bins, "NR"], "documents": documents, "share": share, "up_to": up_to}
        return pd.DataFrame(counts | (of_label if len(grades) > 1 else {}))


def _checked_edges(edges: Any) -> list[int]:
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InputError(f"edges must list ranks, such as [10, 50], got {shown(edges)}.", argument="edges")
    return sorted({positive("edges", edge, "ranks") for edge in edges})


@study(
    options.Option(
        name="edges",
        check=lambda value: _checked_edges([value] if isinstance(value, int) else value),
        flag=options.Flag(help="upper ends of bins", metavar="LIST", kind="counts", usual=list(EDGES)),
    ),
    question="At which ranks were the relevant documents found?",
    command="profile minimum-ranks",
    aim="building",
    summary="the best rank of each relevant document in any run",
    details="The minimum rank is the best over the runs; NR (not retrieved) is a document that no run has.",
    group="pools",
    papers="[V22b]_",
    screen=("by_rank", "topics"),
)
def minimum_ranks(
    runs: options.Runs,
    qrels: options.Judgments,
    *,
    rel: options.Rel = None,
    depth: Annotated[
        int | None,
        options.Option(
            "the rank down to which runs are looked at, >= 1; default the length of the longest list, to which depth "
            "runs were submitted.",
            check="pt_reuse.pooling.depth:checked_depth",
            flag=options.Flag(metavar="K", default="that of the longest list"),
        ),
    ] = None,
    contributors: Annotated[
        str | Iterable[str],
        options.Option('the runs that are looked at: ``"all"`` (default), ``"pooled"``, or run names.'),
    ] = "all",
    pool_order: Annotated[
        str | None,
        options.Option(
            "the order of the documents; default that in which the runs are scored.", check=checked_pool_order
        ),
    ] = None,
) -> MinimumRanks:
    """Compute the best rank of each relevant document in any run.

    A relevant document that no run has down to the depth is *NR*, not retrieved. Many relevant documents at deep ranks,
    or NR, show that a shallow pool would have missed them, and suggest that there are further ones.

    Raises:
        InputError: an invalid depth, an unknown run, runs without any topic of the judgments.

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
    inputs = Inputs.read(runs, qrels, (), rel)
    chosen = contributors_of(inputs.runs, contributors)
    ranked = inputs.runs if pool_order is None else inputs.runs.reorder(pool_order)
    deepest = int(ranked.field.lengths[:, chosen.runs].max(initial=1)) if depth is None else depth
    beware(none_relevant(inputs.qrels, inputs.rel))
    judgments = inputs.qrels.arrays
    relevant = np.flatnonzero(judgments.labels >= inputs.rel)
    documents = judgments.documents.take(relevant)
    best, n_runs, _ = ranks_of_documents(ranked, documents, chosen, deepest)
    about = {"qid": documents.qids(), "docno": documents.docnos(), "label": judgments.labels[relevant].astype(int)}
    table = pd.DataFrame({**about, "rank": pd.Series(best, dtype="Int64").mask(n_runs == 0), "runs": n_runs})
    origin = "the longest list" if depth is None else "the call"
    settings = settings_of(ranked, inputs, depth=deepest, depth_from=origin, runs=str(chosen))
    topics = _topics(inputs.qrels.topics, table)
    return MinimumRanks(table=table, topics=topics, depth=deepest, rel=inputs.rel, settings=settings)


def _topics(qids: list[str], table: pd.DataFrame) -> pd.DataFrame:
    rank = table.groupby("qid", sort=False)["rank"]
    counts = pd.DataFrame({"relevant": rank.size(), "found": rank.count()}).reindex(qids, fill_value=0)
    counts["not_found"] = counts["relevant"] - counts["found"]
    counts["median"] = rank.median().astype("Float64").reindex(qids).to_numpy(dtype=float, na_value=np.nan)
    counts["deepest"] = rank.max().astype("Int64").reindex(qids)
    return counts.reset_index(names="qid")
