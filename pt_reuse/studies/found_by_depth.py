"""found_by_depth: how many relevant documents pools of each type, or team, find as they grow deeper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.columns import Table
from pt_reuse.data.units import COLUMNS, units_of
from pt_reuse.errors import InputError
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.plots.lines import plot_found
from pt_reuse.plots.sheet import MOST, Axes, Place
from pt_reuse.pooling.depth import USUAL_DEPTH, checked_depths
from pt_reuse.pooling.fit import pool_on_topics
from pt_reuse.result import KeyFigures, Result
from pt_reuse.scoring.caveats import beware, none_relevant, one_unit
from pt_reuse.studies.by_type import ALL
from pt_reuse.study import study

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
    depth        | Depth         | count | depth of the pool
    documents    | Documents     | count | documents of the pool, on the topics of the judgments
    judged       | Judged        | count | how many of them are judged
    relevant     | Relevant      | count | how many are relevant
    unique       | Alone         | count | relevant ones that no other unit's pool of this depth has
    judged_share | Share judged  | score | the share of the pool that is judged, NaN where it is empty
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "unit and depth, and last those of all units together (``all``)",
            "unit depth documents judged relevant unique judged_share",
            report="unit depth documents relevant unique judged_share",
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
    every = np.ones(len(units.of_run), dtype=bool)
    beware(one_unit(units, every, "what it alone finds is all that is found"), none_relevant(inputs.qrels, lowest))
    return FoundByDepth(
        table=_table(units.column, units.names, best, labels, lowest, depths),
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


def _table(
    column: str,
    names: tuple[str, ...],
    best: NDArray[np.int64],
    labels: NDArray[np.int16],
    lowest: int,
    depths: list[int],
) -> pd.DataFrame:
    """Return a row per unit and depth, and last those of all, of (units, documents) best ranks."""
    least, relevant = best.min(axis=0), labels >= lowest
    kept = {"documents": np.ones(len(labels), dtype=bool), "judged": labels >= 0, "relevant": relevant}
    rows = []
    for name, ranks in zip((*names, ALL), (*best, least), strict=True):
        found = {what: np.searchsorted(np.sort(ranks[some]), depths, side="right") for what, some in kept.items()}
        rows.append(pd.DataFrame({column: name, "depth": depths, **found}))
    table = pd.concat(rows, ignore_index=True)
    of_relevant = best[:, relevant]
    found_within = (of_relevant <= depth for depth in depths)
    alone = np.stack([(has & (has.sum(axis=0) == 1)).sum(axis=1) for has in found_within], axis=1)
    share = table["judged"].to_numpy() / table["documents"].replace(0, np.nan).to_numpy()
    return table.assign(unique=np.vstack([alone, alone.sum(axis=0)]).ravel(), judged_share=share)
