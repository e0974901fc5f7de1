"""found_by_depth: how many relevant documents pools of each type, or team, find as they grow deeper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, examples, told
from pt_reuse._report import MOST, Column, Digits, Report
from pt_reuse.data.units import COLUMNS, units_of
from pt_reuse.errors import InputError
from pt_reuse.options import Flag, Parameter
from pt_reuse.pooling.depth import USUAL_DEPTH, checked_depth
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import KeyFigures, Result
from pt_reuse.scoring.caveats import Caveat, one_unit
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.pool_costs import pool_on_topics
from pt_reuse.studies.type_splits import ALL
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: depths of a report
_FEW = (1, 5, 10, 20, 50, 100)
_NEVER = np.iinfo(np.int64).max


def _checked_depths(depths: Any) -> list[int]:
    """Return a user's ``depths=`` as depths that ascend."""
    if isinstance(depths, Iterable) and not isinstance(depths, str | bytes):
        found = sorted({checked_depth(depth, "depths") for depth in depths})
        if not found:
            raise InputError("depths names no depth.", argument="depths")
        return found
    return list(range(1, checked_depth(depths, "depths") + 1))


def _depths_report(result: FoundByDepth, depths: int | Iterable[int] | None = None) -> Report:
    """Return a row per unit, and the relevant documents that its pool has down to some depths, five at most."""
    there = set(result.table["depth"])
    if depths is None:
        chosen = [depth for depth in _FEW if depth in there][-MOST:] or sorted(there)[:MOST]
    else:
        chosen = list(depths) if isinstance(depths, Iterable) else [depths]
    if not 0 < len(chosen) <= MOST or not set(chosen) <= there:
        raise InputError(f"depths must be one to {MOST} of those in the table, got {told(chosen)}.", argument="depths")
    cells = result.table.pivot_table("relevant", result.column, "depth", aggfunc="first").loc[[*result.units, ALL]]
    return Report(
        [
            Column(result.by.capitalize(), cells.index.tolist()),
            *(Column(f"Depth {depth}", cells[depth].tolist(), Digits.COUNT) for depth in chosen),
        ],
        caption=(
            f"Relevant documents ({result.settings['relevant']}) in the pool of the contributing runs of each "
            f"{result.by}, and of all, down to several depths."
        ),
        notes=[*result.notes(), result.meaningful()],
    )


def _draw(result: FoundByDepth, _: None, place: Place, units: str | Iterable[str] | None = None) -> Axes:
    """Draw the relevant documents that the pool of each unit finds, in all and alone, against its depth."""
    from pt_reuse.plots.lines import plot_found
    from pt_reuse.plots.sheet import MOST as MOST_UNITS

    chosen = result.units if units is None else [units] if isinstance(units, str) else list(units)
    for name in chosen:
        choice("units", name, result.units)
    if units is None and len(chosen) > MOST_UNITS:
        last = result.table[result.table["depth"] == result.table["depth"].max()].set_index(result.column)["relevant"]
        most = set(last[chosen].nlargest(MOST_UNITS).index)
        chosen = [name for name in chosen if name in most]
    return plot_found(result.table, column=result.column, units=chosen, judged_to=result.judged_to, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FoundByDepth(Result):
    """How many relevant documents the depth-k pool of each unit (type, team or run) holds, for k = 1, 2, ...

    Its figure has for each unit (``units=``; default the six that find most) a line for all that its pool finds and a
    broken one for what it alone finds, and an upright line where not everything is judged any more. ``report(depths=)``
    takes other depths, one to five.

    Attributes:
        table: one row per unit and depth, and last those of all units together (``"all"``): the unit under ``type``,
            ``team`` or ``name``; ``depth``; ``documents`` of its pool on the topics of the judgments, those of them
            that are ``judged`` (label >= 0) and ``relevant``; ``unique``, the relevant ones that no other unit's pool
            of the same depth has (for all together, those that one unit alone has); ``judged_share`` of the pool, NaN
            where it is empty.
        by: what the units are.
        judged_to: the depth down to which every document of every contributing run is judged, on the topics of the
            judgments; 0 where that is not so at rank 1, the largest depth asked for where it is so there. Beyond it,
            what is found depends on who was judged.
    """

    title = "Found by depth"
    condition = (
        "It holds for the pool of each {by}, contributors: {contributors}, relevant: {relevant}; all is judged down "
        "to depth {judged_to}."
    )
    limit = "It does not say how many relevant documents nobody judged, nor what another {by} would find."
    views = {"depths": _depths_report}
    plots = {"found": _draw}
    key = (KeyFigures(("relevant", "unique", "documents"), "_deepest", row="{unit}"),)

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

    def _deepest(self) -> pd.DataFrame:
        rows = self.table[self.table["depth"] == self.table["depth"].max()]
        return rows.assign(unit=rows[self.column])

    def headline(self) -> str:
        """Return what each unit finds at the depth down to which all is judged, or at the largest."""
        depth = self._depth()
        rows = self.table[self.table["depth"] == depth].to_dict("records")
        found = [f"{row[self.column]} {row['relevant']:,} ({row['unique']:,} alone)" for row in rows]
        return f"relevant documents down to depth {depth}: {', '.join(found)}"

    def _depth(self) -> int:
        depths = sorted(set(self.table["depth"]))
        within = [depth for depth in depths if depth <= self.judged_to]
        return int((within or depths)[-1])

    def _lines(self) -> list[str]:
        return [self.meaningful()]

    def meaningful(self) -> str:
        """Return down to which depth the numbers do not depend on who was judged, in words."""
        if not self.judged_to:
            return "Not even the first document of every run is judged: what is found depends on who was judged."
        return (
            f"Down to depth {self.judged_to} every document of every contributing run is judged; beyond, what is found "
            "depends on who was judged."
        )


@study(
    Parameter(
        name="by",
        meaning='whose pools: each ``"type"`` (default), ``"team"``, ``"family"`` or ``"run"``.',
        choices=tuple(COLUMNS),
        flag=Flag(help="whose pools: those of each type, team, family or run", metavar="UNIT", kind="text"),
    ),
    Parameter(
        name="depths",
        meaning="one depth for 1, 2, ... down to it, or several; default 100, or the longest list where that is "
        "shorter.",
        check=_checked_depths,
        flag=Flag(
            help="comma-separated pool depths, or the largest",
            metavar="LIST",
            kind="counts",
            default="every one to 100",
        ),
    ),
    command=Command(
        name="profile found-by-depth",
        summary="how many relevant documents the pools of each type of system contain, by depth",
        details="In all, and those that no other type has. Below the depth to which everything was judged, the counts "
        "depend on which runs were judged; the output gives that depth.",
    ),
    entry=Entry(
        question="How many relevant documents does each type find?",
        group="pools",
        page="studies/by-type",
        papers="[Y20]_",
    ),
)
def found_by_depth(
    runs: Any,
    qrels: Any,
    *,
    by: str = "type",
    depths: int | Iterable[int] | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    rel: int | None = None,
) -> FoundByDepth:
    """Count the relevant documents in the depth-k pool of each type of system, and those of this type alone.

    The numbers are valid down to the depth to which everything was judged. Below it, a type gets credit only for
    documents that were judged because of others; ``judged_to`` and the table's ``judged_share`` show this depth.

    Args:
        runs: the field, every run with its type (team): a RunSet, a dict of run name -> results, or run files.

    Returns:
        FoundByDepth: ``.table``, ``.judged_to``, ``.plot()``.

    Raises:
        InputError: a contributing run without a type (team), an invalid depth.

    Warns:
        ReuseWarning: no document is judged down to the first rank of every contributing run, or none is relevant. Also
            contributing runs of only one unit (`by`).

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
    asked = Asked(found_by_depth, locals())
    contributing = asked.contributors
    units = units_of(asked.runs.run_table[contributing.runs], by)
    qrels, lowest, ranked = asked.qrels, asked.rel, asked.ranked
    longest = int(asked.runs.field.lengths[:, contributing.runs].max(initial=1))
    chosen = asked["depths"] or list(range(1, min(USUAL_DEPTH, longest) + 1))
    pool = pool_on_topics(ranked, chosen[-1], contributing, qrels)
    labels = np.append(qrels.arrays.labels, np.int16(-1))[qrels.arrays.documents.find(pool.documents)]
    if ALL in units.names:
        raise InputError(
            f"a {by} is called {ALL!r}, which here are all together. Give it another name.", argument="runs"
        )
    best = _best_ranks(pool, units.of_run, len(units))
    judged_to = _judged_to(pool, labels, chosen[-1])
    asked.tell(
        one_unit(units, np.ones(len(units.of_run), dtype=bool), "what it alone finds is all that is found"),
        _caveats(judged_to, int((labels >= lowest).sum()), lowest),
    )
    return FoundByDepth(
        table=_table(units.column, units.names, best, labels, lowest, chosen),
        by=by,
        judged_to=judged_to,
        settings=asked.settings(
            by=by,
            depths=examples(chosen, 1) if len(chosen) == 1 else f"{chosen[0]} to {chosen[-1]}",
            judged_to_depth=judged_to,
            **units.settings,
        ),
    )


def _best_ranks(pool: Pool, of_run: NDArray[np.int64], n_units: int) -> NDArray[np.int64]:
    """Return (units, documents): the best rank at which a run of the unit has the document."""
    best = np.full((n_units, len(pool)), _NEVER)
    np.minimum.at(best, (of_run[pool.entries.run], pool.entries.document), pool.entries.rank)
    return best


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


def _judged_to(pool: Pool, labels: NDArray[np.int16], deepest: int) -> int:
    """Return the largest depth at which the pool is judged without a gap."""
    gaps = pool.entries.best_rank[labels < 0]
    return int(gaps.min(initial=deepest + 1)) - 1


def _caveats(judged_to: int, n_relevant: int, lowest: int) -> Iterable[Caveat]:
    if not judged_to:
        yield Caveat(
            "not judged to any depth",
            "not even the first documents of all contributing runs are judged. So what a type finds depends on who "
            "was judged. infer_pool(runs, qrels) says which runs must have been pooled, how deep and in which order.",
        )
    if not n_relevant:
        yield Caveat(
            f"no pooled document is relevant from label {lowest}",
            f"no document of the pool has a label of at least {lowest}, so nothing is found.",
        )
