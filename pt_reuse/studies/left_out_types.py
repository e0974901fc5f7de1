"""leave_out_type: what is lost when a type of system takes no part, and which runs would have found it all the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, flag, positive
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._result import OfMeasures, Result, key_figures_of
from pt_reuse.arrays.bootstrap import checked_bootstrap
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.contributors import Contributors, contributors_of
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.run_scores import checked_measures
from pt_reuse.studies.type_splits import checked_types, types_of
from pt_reuse.studies.uniques import LeaveOutUniques, check_removal, leave_out_uniques

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeftOutTypes(OfMeasures, Result):
    """What leaving out each type of system loses, what that does to the ranking, and who recovers how much of it.

    Attributes:
        table: one row per measure and left-out ``type``: its ``runs``, ``lost``, the relevant documents that it alone
            contributed to the pool, and of these ``recovered``, those that a run of another type retrieves;
            then ``tau_b gamma tau_ap_b`` between the rankings of all runs by the full judgments and by those without
            the lost documents, ``max_drop`` and the run that ``dropped`` so far; where intervals were asked for, their
            ends beside each number, ``_low`` and ``_high``.
        recovery: one row per left-out type and run of another type, most recovered first: ``left_out name team type
            pooled``, ``recovered``, how many of the lost documents it retrieves, ``share`` of them, and the median and
            the largest of the ranks at which it does, ``median_rank deepest_rank``. A run that was pooled has them
            below the pool's depth alone.
        documents: one row per lost document: ``left_out qid docno label``; ``runs`` of other types that retrieve it,
            ``best_rank`` among these and the run that has it there (``best_run``), missing where none retrieves it.
        uniques: leave-out-uniques by type, with the scores under all judgments and every further table.
    """

    title: ClassVar[str] = "Types left out"

    recovery: pd.DataFrame
    documents: pd.DataFrame
    uniques: LeaveOutUniques

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "recovery": self.recovery, "documents": self.documents}

    def key_figures(self) -> pd.DataFrame:
        """Return what is lost without each type, and how runs rank without it, see :meth:`Result.key_figures`."""
        rows = self.table
        once = rows.drop_duplicates("type")[["type", "lost", "recovered"]]
        parts = [
            key_figures_of(rows, ["tau_b", "max_drop"], rows=[f"without {name}" for name in rows["type"]]),
            key_figures_of(once, ["lost", "recovered"], rows=[f"without {name}" for name in once["type"]]),
        ]
        return pd.concat(parts, ignore_index=True)

    def headline(self) -> str:
        """Return for each type what is lost without it, what others recover, and tau_b of the rankings."""
        parts = []
        for name, rows in self.table.groupby("type", sort=False):
            first = rows.iloc[0]
            taus = ", ".join(f"{row.measure} tau_b {row.tau_b:.4f}" for row in rows.itertuples())
            parts.append(f"without {name} {first['lost']:,} lost, {first['recovered']:,} in other runs, {taus}")
        return "; ".join(parts)

    @door
    def report(self, by: str = "type", *, measure: MeasureLike | None = None, left_out: str | None = None) -> Report:
        """Return what a paper prints.

        Args:
            by: the rows: each left-out ``"type"`` (default) with what is lost, recovered, tau-b, gamma or the interval
                of tau-b, and the largest drop;
                or each ``"run"`` with what it recovers of one left-out type.
            measure: the one that types are shown under; default the first.
            left_out: the type whose lost documents runs recover; default the one that loses most.
        """
        choice("by", by, ("type", "run"))
        name = measure_among(self.measures, measure)
        return self._of_types(name) if by == "type" else self._of_runs(self._left_out(left_out))

    def _left_out(self, left_out: str | None) -> str:
        types = list(dict.fromkeys(self.table["type"]))
        if left_out is not None:
            return choice("left_out", left_out, types)
        return str(self.table["type"].iloc[int(self.table["lost"].to_numpy().argmax())])

    def _of_types(self, measure: str) -> Report:
        rows = self.table[self.table["measure"] == measure]
        second = Column("gamma", rows["gamma"], Digits.SCORE)
        if "tau_b_low" in rows:
            second = intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE)
        return Report(
            [
                Column("Left out", rows["type"]),
                Column("Lost", rows["lost"], Digits.COUNT),
                Column("In other runs", rows["recovered"], Digits.COUNT),
                Column("tau-b", rows["tau_b"], Digits.SCORE),
                second,
                Column("Largest drop", rows["max_drop"], Digits.COUNT),
            ],
            caption=(
                f"One type of system left out of the pool: the relevant documents that are lost, those of them that a "
                f"run of another type retrieves, and the ranking by {measure} without them against the one by all "
                "judgments."
            ),
            notes=[self._note(), *([f"Intervals: {self.settings['intervals']}."] if "tau_b_low" in rows else [])],
        )

    def _of_runs(self, left_out: str) -> Report:
        rows = self.recovery[self.recovery["left_out"] == left_out]
        return Report(
            [
                Column("Run", rows["name"]),
                Column("Type", rows["type"]),
                Column("Recovered", rows["recovered"], Digits.COUNT),
                Column("Share", rows["share"], Digits.SCORE),
                Column("Median rank", rows["median_rank"], Digits.COUNT),
                Column("Deepest rank", rows["deepest_rank"], Digits.COUNT),
            ],
            caption=f"The relevant documents that only {left_out} runs contributed, and how many others retrieve.",
            notes=[self._note()],
        )

    def _note(self) -> str:
        settings = self.settings
        return (
            f"Recovered: {settings['recovered']}. Pool of depth {settings['depth']}, contributors "
            f"{settings['contributors']}; relevant is a {settings['relevant']}; documents are ranked in the order "
            f"{settings['order']} and pooled in the order {settings['pool order']}."
        )

    @door
    def plot(
        self,
        left_out: str | None = None,
        *,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how many of the documents that are lost without a type each run of another type retrieves.

        Args:
            left_out: the type left out; default the one that loses most.
            top: how many runs at most, those that recover most; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: of no effect, as one colour needs none.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a bar per run; beside it its number.
        """
        from pt_reuse.plots.bars import plot_recovery
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        chosen, place = self._left_out(left_out), Place(ax, title, legend, width)
        rows = self.recovery[self.recovery["left_out"] == chosen]
        lost = int((self.documents["left_out"] == chosen).sum())
        return plot_recovery(rows, left_out=chosen, lost=lost, top=checked_top(top), place=place)


@door
def leave_out_type(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    types: str | Iterable[str] | None = None,
    depth: int | None = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    down_to: int | None = None,
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    verbose: bool = False,
) -> LeftOutTypes:
    """Leave a type of system out of the pool, and say what is lost and which other runs would have found it.

    It is the limit of pools of one type (:func:`by_type`): the pool of all types but one. The numbers are those of
    :func:`leave_out_uniques` with ``by="type"``; who recovers what is lost is new.

    Args:
        runs: the field, every run with its type: a RunSet, a dict of run name -> results, or run files, :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file.
        measures: ir_measures measures or their names, one or several.
        types: the types to leave out, one at a time; default each.
        depth: of the pool; default the one on record for the collection (``runs.pool_depth``), else 100.
        rel: the lowest label that is relevant; default what the judgments say.
        contributors: the runs that made the pool: ``"pooled"`` (default), ``"all"`` or run names. Every run can
            recover.
        pool_order: the order in which the runs were pooled; default the one that the field knows of itself.
        down_to: how far down a run's list, in the order in which it is scored, a document counts as recovered; default
            the whole list.
        resamples: how often the topics are drawn for bootstrap intervals of the agreement and of the largest drop, as
            :func:`leave_out_uniques` has them; default 0, none.
        confidence: of the intervals, above 0 and below 1.
        seed: of the draws.
        verbose: show a progress bar.

    Returns:
        LeftOutTypes: ``.table``, ``.recovery``, ``.documents``, ``.uniques``, ``.plot()``.

    Raises:
        InputError: as of :func:`leave_out_uniques`, or an unknown type.

    Warns:
        ReuseWarning: what :func:`leave_out_uniques` warns of.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> left = ptr.pools.leave_out_type(field.runs, field.qrels, "AP", types="manual", depth=field.depth)
        >>> left.table[["lost", "recovered", "max_drop"]].values.tolist()
        [[29, 29, 4]]

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?,
    https://arxiv.org/abs/2201.11086, section 5: TREC-8 without its manual runs, where this loses 1,130 relevant
    documents, with tau_b .9806 of MAP and gamma .9961 of ``P@10``.
    """
    parsed, wanted, verbose = (
        checked_measures(measures),
        None if types is None else checked_types(types),
        flag("verbose", verbose),
    )
    check_removal(by="type", depth=depth, pool_order=pool_order, rel=rel)
    checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    deepest = None if down_to is None else positive("down_to", down_to, "documents per run and topic")
    runs, qrels = as_runs_before(runs, qrels)
    kinds = types_of(runs)
    for name in wanted or ():
        choice("types", name, kinds.names)
    contributing = contributors_of(runs, contributors)
    qrels = as_qrels(qrels)
    lou = leave_out_uniques(
        runs,
        qrels,
        parsed,
        by="type",
        depth=depth,
        rel=rel,
        contributors=contributors,
        pool_order=pool_order,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
        verbose=verbose,
    )
    chosen = list(kinds.names) if wanted is None else wanted
    lost = _lost(runs.in_pool_order(pool_order), qrels, lou, contributing)
    parts = [_recovered(runs, qrels, lost.rows(name), name, deepest) for name in chosen]
    recovery = pd.concat([of_runs for of_runs, _ in parts], ignore_index=True)
    documents = pd.concat([of_documents for _, of_documents in parts], ignore_index=True)
    again = documents[documents["runs"] > 0].groupby("left_out").size()
    table = lou.table[lou.table["type"].isin(chosen)].reset_index(drop=True)
    table = table.rename(columns={"removed": "lost"}).drop(columns=["unique", "unique_relevant"])
    table.insert(table.columns.get_loc("lost") + 1, "recovered", table["type"].map(again).fillna(0).astype(int))
    within = "any rank" if deepest is None else f"the first {count(deepest, 'document')}"
    settings = {"left out": ", ".join(chosen), "recovered": f"at {within}" if deepest is None else f"in {within}"}
    settings |= lou.settings
    return LeftOutTypes(table=table, recovery=recovery, documents=documents, uniques=lou, settings=settings)


@dataclass(frozen=True)
class _Lost:
    """The relevant documents that one type alone contributed.

    Attributes:
        row: (documents,) rows of the judgments, ascending.
        type: (documents,) the type that alone contributed each.
    """

    row: NDArray[np.int64]
    type: NDArray[np.object_]

    def rows(self, name: str) -> NDArray[np.int64]:
        """Return the rows of one type's."""
        return self.row[self.type == name]


def _lost(ranked: RunSet, qrels: Qrels, lou: LeaveOutUniques, contributors: Contributors) -> _Lost:
    """Return what one type alone put into the pool of runs that stand in the order in which they are pooled."""
    pool = pool_to_depth(ranked, lou.depth, contributors)
    sole, kinds = pool.sole("type")
    row = qrels.arrays.documents.find(pool.documents)
    lost = (sole >= 0) & (row >= 0) & (np.append(qrels.arrays.labels, np.int16(-1))[row] >= lou.rel)
    order = np.argsort(row[lost], kind="stable")
    return _Lost(row[lost][order], np.array(kinds.names, dtype=object)[sole[lost][order]])


def _recovered(
    runs: RunSet, qrels: Qrels, rows: NDArray[np.int64], name: str, deepest: int | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return who recovers how much of the documents lost without a type, and where each document is found best."""
    table = runs.run_table
    other = (table["type"] != name).to_numpy()
    wanted = np.zeros(len(qrels), dtype=bool)
    wanted[rows] = True
    hits = HitIndex(runs.field, qrels.arrays.documents).gather(range(len(qrels.topics)), wanted).top(deepest)
    run = hits.of % len(runs)
    mine = other[run]
    found = pd.DataFrame({"run": run[mine], "row": hits.row[mine], "rank": hits.rank[mine]})
    of_run = found.groupby("run")["rank"].agg(["size", "median", "max"]).reindex(np.flatnonzero(other))
    recovery = table.loc[other, ["name", "team", "type", "pooled"]].reset_index(drop=True)
    recovery.insert(0, "left_out", name)
    recovery["recovered"] = of_run["size"].fillna(0).astype(np.int64).to_numpy()
    recovery["share"] = recovery["recovered"] / len(rows) if len(rows) else np.nan
    recovery["median_rank"] = of_run["median"].to_numpy(dtype=float)
    recovery["deepest_rank"] = of_run["max"].astype("Int64").reset_index(drop=True)
    recovery = recovery.sort_values("recovered", ascending=False, kind="stable").reset_index(drop=True)
    best = (
        found.sort_values(["row", "rank", "run"], kind="stable").drop_duplicates("row").set_index("row").reindex(rows)
    )
    runs_of = found.groupby("row").size().reindex(rows).fillna(0).astype(np.int64)
    documents = qrels.arrays.documents.take(rows)
    names: Sequence[str] = runs.names
    return recovery, pd.DataFrame(
        {
            "left_out": name,
            "qid": documents.qids(),
            "docno": documents.docnos(),
            "label": qrels.arrays.labels[rows].astype(np.int64),
            "runs": runs_of.to_numpy(),
            "best_rank": best["rank"].astype("Int64").reset_index(drop=True),
            "best_run": pd.Series([None if pd.isna(r) else names[int(r)] for r in best["run"]], dtype=object),
        }
    )
