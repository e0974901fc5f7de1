"""How far down relevant documents are: found_by_depth and minimum_ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
import pandas as pd

from pt_reuse import options
from pt_reuse.columns import Table
from pt_reuse.data.coding import checked_pool_order
from pt_reuse.data.units import COLUMNS, units_of
from pt_reuse.errors import InputError, ascending, shown
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.options import EDGES
from pt_reuse.plots.bars import plot_minimum_ranks
from pt_reuse.plots.lines import plot_found
from pt_reuse.plots.sheet import MOST, Axes, Place
from pt_reuse.pooling.depth import USUAL_DEPTH, checked_depths
from pt_reuse.pooling.fit import pool_on_topics, ranks_of_documents
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.result import KeyFigures, Result
from pt_reuse.scoring.caveats import beware, none_relevant, one_unit
from pt_reuse.studies.by_type import ALL
from pt_reuse.study import study


def _draw_ranks(result: MinimumRanks, _: None, place: Place, label: int | None = None) -> Axes:
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
    plots = {"ranks": _draw_ranks}
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
        limits = [*(edge for edge in ascending("edges", edges, "ranks") if edge < self.depth), self.depth]
        at = np.searchsorted(limits, self.table["rank"].fillna(self.depth + 1).astype(int))
        documents, labels = np.bincount(at, minlength=len(limits) + 1), self.table["label"].to_numpy()
        share = documents / (len(at) or np.nan)
        bins = [f"{high:,}" if high == low + 1 else f"{low + 1:,}-{high:,}" for low, high in pairwise([0, *limits])]
        up_to = [*np.cumsum(share)[:-1], np.nan]
        grades = np.unique(labels).tolist()
        of_label = {f"label {grade}": np.bincount(at[labels == grade], minlength=len(documents)) for grade in grades}
        counts = {"ranks": [*bins, "NR"], "documents": documents, "share": share, "up_to": up_to}
        return pd.DataFrame(counts | (of_label if len(grades) > 1 else {}))


@study(
    options.Option(
        name="edges",
        check=partial(ascending, "edges", unit="ranks"),
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

    A relevant document that no run has down to the depth is *NR*, not retrieved.

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
    On TREC-8 ad hoc (129 runs, scores as float32) 1,910 relevant documents have a minimum rank up to 10.
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
    rank, qids = table.groupby("qid", sort=False)["rank"], inputs.qrels.topics
    topics = pd.DataFrame({"relevant": rank.size(), "found": rank.count()}).reindex(qids, fill_value=0)
    topics["not_found"] = topics["relevant"] - topics["found"]
    topics["median"] = rank.median().astype("Float64").reindex(qids).to_numpy(dtype=float, na_value=np.nan)
    topics["deepest"] = rank.max().astype("Int64").reindex(qids)
    tables = {"table": table, "topics": topics.reset_index(names="qid")}
    return MinimumRanks(**tables, depth=deepest, rel=inputs.rel, settings=settings)


#: units of which the answer speaks
_TOLD = 5
_NEVER = np.iinfo(np.int64).max


def _checked_depths(depths: Any) -> list[int]:
    """Return a user's ``depths=`` as depths that ascend; one alone stands for all down to it."""
    given = checked_depths(depths)
    return given if isinstance(depths, Iterable) else list(range(1, given[0] + 1))


def _draw(result: FoundByDepth, _: None, place: Place) -> Axes:
    last = result.table[result.table["depth"] == result.table["depth"].max()].set_index(result.column)["relevant"]
    most = set(last[result.units].nlargest(MOST).index)
    chosen = [name for name in result.units if name in most]
    return plot_found(result.table, column=result.column, units=chosen, judged_to=result.judged_to, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoundByDepth(Result):
    """How many relevant documents the depth-k pool of each unit (type, team or run) holds, for k = 1, 2, ...

    Its figure has a line for what the pool of each unit finds, and a broken one for what it alone finds.

    Attributes:
        by: what the units are.
        judged_to: the depth down to which all documents of the contributing runs are judged, at most the largest depth
            asked for. Beyond it, what is found depends on who was judged.
    """

    title = "Found by depth"
    valid_for = (
        "the pool of each {by}, contributors: {contributors}, relevant: {relevant}; all is judged down to depth "
        "{judged_to}, and beyond it what is found depends on who was judged."
    )
    not_covered = "relevant documents that are not judged, and what another {by} would find."
    plots = {"found": _draw}
    key = (KeyFigures(("relevant", "unique", "documents"), "deepest", row="{unit}"),)
    columns = """
    documents    | Documents     | count | documents of the pool, on the topics of the judgments
    unique       | Alone         | count | relevant ones that no other unit's pool of this depth has
    judged_share | Share judged  | score | the share of the pool that is judged, NaN where it is empty
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "unit and depth, and last those of all units together (``all``)",
            "unit* depth* documents* judged relevant* unique* judged_share*",
            select={"depth": None},
            noun="pools",
        ),
    ]
    by: str
    judged_to: int

    @property
    def column(self) -> str:
        """Return the column of the units: ``type``, ``team`` or, for runs, ``name``."""
        return str(self.table.columns[0])

    @property
    def units(self) -> list[str]:
        """Return the units, in order of appearance, without all together."""
        return [name for name in dict.fromkeys(self.table[self.column]) if name != ALL]

    def deepest(self) -> pd.DataFrame:
        """Return the rows of the depth down to which all is judged, or of the largest, the units as ``unit``."""
        depths = self.table["depth"]
        within = depths[depths <= self.judged_to]
        rows = self.table[depths == (within if len(within) else depths).max()]
        return rows.rename(columns={self.column: "unit"}).reset_index(drop=True)

    def answers(self) -> list[str]:
        """Return what the units find that find most, and what all do."""
        rows = self.deepest()
        most = rows[rows["unit"] != ALL].nlargest(_TOLD, "relevant")
        found = [
            f"{row.unit} {row.relevant:,} ({row.unique:,} alone)"
            for row in pd.concat([most, rows[rows["unit"] == ALL]]).itertuples()
        ]
        return [f"Relevant documents down to depth {rows['depth'].iloc[0]}: {', '.join(found)}"]


@study(
    question="How many relevant documents does each type find?",
    command="profile found-by-depth",
    aim="building",
    summary="how many relevant documents the pools of each type of system contain, by depth",
    details="In all, and those that no other type has, and down to which depth all is judged.",
    group="pools",
    page="studies/by-type",
    papers="[Y20]_",
)
def found_by_depth(
    runs: options.Runs,
    qrels: options.Judgments,
    *,
    by: Annotated[
        str,
        options.Option(
            'whose pools: each ``"type"`` (default), ``"team"``, ``"family"`` or ``"run"``.',
            choices=tuple(COLUMNS),
            flag=options.Flag(metavar="UNIT", kind="text"),
        ),
    ] = "type",
    depths: Annotated[
        Any,
        options.Option(
            "one depth for 1, 2, ... down to it, or several; default 100, or the longest list where that is shorter.",
            check=_checked_depths,
            flag=options.Flag(help="pool depths, or the largest", metavar="LIST", kind="counts", default="1 to 100"),
        ),
    ] = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    rel: options.Rel = None,
) -> FoundByDepth:
    """Count the relevant documents in the depth-k pool of each type of system, and those of this type alone.

    The numbers are valid down to the depth to which everything was judged. Below it, a type gets credit only for
    documents that were judged because of others; ``judged_to`` and the table's ``judged_share`` show this depth.

    Raises:
        InputError: a contributing run without a type (team), an invalid depth.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.pools.found_by_depth(field.runs, field.qrels, depths=[1, 10])
        >>> found.table[["type", "depth", "relevant", "unique"]].tail(2).values.tolist()
        [['all', 1, 89, 53], ['all', 10, 387, 134]]
        >>> found.judged_to
        10

    Source: Yilmaz, Craswell, Mitra and Campos 2020, On the reliability of test collections for evaluating systems of
    different types, SIGIR, https://doi.org/10.1145/3397271.3401317, figure 1.
    """
    inputs = Inputs.read(runs, qrels, (), rel)
    pooled = inputs.pooled(None, contributors, pool_order)
    contributing, lowest = pooled.contributors, inputs.rel
    units = units_of(inputs.runs.run_table[contributing.runs], by)
    if ALL in units.names:
        raise InputError(f"a {by} is called {ALL!r}, which here are all together. Rename it.", argument="runs")
    longest = int(inputs.runs.field.lengths[:, contributing.runs].max(initial=1))
    depths = depths or list(range(1, min(USUAL_DEPTH, longest) + 1))
    pool = pool_on_topics(pooled.ranked, depths[-1], contributing, inputs.qrels.topics)
    labels = inputs.qrels.arrays.labels_of(pool.documents)
    # (units, documents) the best rank at which a run of the unit has the document
    best = np.full((len(units), len(pool)), _NEVER)
    np.minimum.at(best, (units.of_run[pool.entries.run], pool.entries.document), pool.entries.rank)
    # the depth before the first gap
    judged_to = int(pool.entries.best_rank[labels < 0].min(initial=depths[-1] + 1)) - 1
    # a row per unit and depth, and last those of all
    relevant, rows = labels >= lowest, []
    kept = {"documents": np.ones(len(labels), dtype=bool), "judged": labels >= 0, "relevant": relevant}
    for name, ranks in zip((*units.names, ALL), (*best, best.min(axis=0)), strict=True):
        found = {what: np.searchsorted(np.sort(ranks[some]), depths, side="right") for what, some in kept.items()}
        rows.append(pd.DataFrame({units.column: name, "depth": depths, **found}))
    table = pd.concat(rows, ignore_index=True)
    found_within = (best[:, relevant] <= depth for depth in depths)
    alone = np.stack([(has & (has.sum(axis=0) == 1)).sum(axis=1) for has in found_within], axis=1)
    share = table["judged"].to_numpy() / table["documents"].replace(0, np.nan).to_numpy()
    every = np.ones(len(units.of_run), dtype=bool)
    beware(one_unit(units, every, "what it alone finds is all that is found"), none_relevant(inputs.qrels, lowest))
    return FoundByDepth(
        table=table.assign(unique=np.vstack([alone, alone.sum(axis=0)]).ravel(), judged_share=share),
        by=by,
        judged_to=judged_to,
        settings=settings_of(
            units,
            inputs,
            by=by,
            depths=" to ".join(map(str, dict.fromkeys([depths[0], depths[-1]]))),
            judged_to_depth=judged_to,
            contributors=str(contributing),
            pool_order=pooled.ranked.order,
        ),
    )
