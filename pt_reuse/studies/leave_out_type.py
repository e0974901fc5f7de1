"""leave_out_type: what is lost when a type of system takes no part, and which runs would have found it all the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, positive
from pt_reuse._report import Digits, Report
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.options import Parameter
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.result import Result, Shown, Told, View, clauses, records
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques
from pt_reuse.studies.type_splits import checked_types, types_of
from pt_reuse.study import Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

_OF_RUNS = View(
    table="recovery",
    columns=(
        Shown("Run", "name"),
        Shown("Type", "type"),
        Shown("Recovered", "recovered", Digits.COUNT),
        Shown("Share", "share", Digits.SCORE),
        Shown("Median rank", "median_rank", Digits.COUNT),
        Shown("Deepest rank", "deepest_rank", Digits.COUNT),
    ),
    caption="The relevant documents that only {left_out} runs contributed, and how many others retrieve.",
    select={"left_out": None},
)


def _of_runs(result: LeftOutTypes, left_out: str | None = None) -> Report:
    """Return what each run recovers of the documents lost without a type, default the one that loses most."""
    return _OF_RUNS.of(result, None, {"left_out": result.chosen(left_out)})


def _draw(result: LeftOutTypes, _: str, place: Place, left_out: str | None = None, top: int | None = None) -> Axes:
    """Draw how many of the documents lost without a type each run of another type retrieves, at most `top` runs."""
    from pt_reuse.plots.bars import plot_recovery

    name = result.chosen(left_out)
    rows = result.recovery[result.recovery["left_out"] == name]
    lost = int((result.documents["left_out"] == name).sum())
    return plot_recovery(rows, left_out=name, lost=lost, top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeftOutTypes(Result):
    """What leaving out each type of system loses, what that does to the ranking, and who recovers how much of it.

    Its figure has a bar per run of another type than the one left out (``left_out=``, default the one that loses most):
    how many of the lost documents it retrieves; at most ``top=`` runs, default 30, 15 in a column.

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

    title = "Types left out"
    condition = (
        "It holds for the types {left out}, a pool of depth {depth}, contributors: {contributors}; relevant: "
        "{relevant}."
    )
    limit = (
        "It does not say what a type would find that has no run here, nor whether other runs have the lost "
        "documents high enough to be judged."
    )
    views = {
        "type": View(
            columns=(
                Shown("Left out", "type"),
                Shown("Lost", "lost", Digits.COUNT),
                Shown("In other runs", "recovered", Digits.COUNT),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("Interval of tau_b", "tau_b", Digits.SCORE, interval=True),
                Shown("gamma", "gamma", Digits.SCORE, unless="tau_b_low"),
                Shown("Largest drop", "max_drop", Digits.COUNT),
            ),
            caption="One type of system left out of the pool: the relevant documents that are lost, those of them that "
            "a run of another type retrieves, and the ranking by {measure} without them against the one by all "
            "judgments.",
            noun="types",
        ),
        "run": _of_runs,
    }
    plots = {"recovery": _draw}
    key = "tau_b max_drop lost recovered"

    recovery: pd.DataFrame
    documents: pd.DataFrame
    uniques: LeaveOutUniques

    def headline(self) -> str:
        """Return for each type what is lost without it, what others recover, and tau_b of the rankings."""
        parts = []
        for name, rows in self.table.groupby("type", sort=False):
            first = rows.iloc[0]
            lost = count(int(first["lost"]), "relevant document")
            taus = ", ".join(f"{row['measure']} tau_b {Told(row, 'tau_b'):.4f}" for row in records(rows))
            parts.append(f"without {name} {lost} lost, {first['recovered']:,} of them in other runs, {taus}")
        return clauses(parts)

    def chosen(self, left_out: str | None) -> str:
        """Return a left-out type, the one that loses most for None."""
        kinds = self.table["type"]
        if left_out is not None:
            return choice("left_out", left_out, list(dict.fromkeys(kinds)))
        return str(kinds.iloc[int(self.table["lost"].to_numpy().argmax())])


@study(
    Parameter(
        name="types",
        meaning="the types to leave out, one at a time; default each.",
        check=checked_types,
    ),
    Parameter(
        name="down_to",
        meaning="how far down a run's list, in the order in which it is scored, a document counts as recovered; "
        "default the whole list.",
        check=lambda value: positive("down_to", value, "documents per run and topic"),
    ),
    entry=Entry(
        question="What do systems lose if none of their type was pooled?",
        group="pools",
        page="studies/by-type",
        papers="[Y20]_",
    ),
)
def leave_out_type(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
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
    """Leave a type of system out of the pool, and show what is lost and which other runs would have found it.

    The pool has all types but one, where :func:`by_type` makes pools of one type. The numbers are those of
    :func:`leave_out_uniques` with ``by="type"``, and in addition which runs recover the lost documents. Every run can
    recover documents.

    Args:
        runs: the field, every run with its type: a RunSet, a dict of run name -> results, or run files, :doc:`runs`.

    Returns:
        LeftOutTypes: ``.table``, ``.recovery``, ``.documents``, ``.uniques``, ``.plot()``.

    Raises:
        InputError: as of :func:`leave_out_uniques`, or an unknown type.

    Warns:
        ReuseWarning: what :func:`leave_out_uniques` warns of.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> left = ptr.pools.leave_out_type(field.runs, field.qrels, "AP", types="manual", depth=field.depth)
        >>> left.table[["lost", "recovered", "max_drop"]].values.tolist()
        [[29, 29, 4]]

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?,
    https://arxiv.org/abs/2201.11086, section 5: TREC-8 without its manual runs, where this loses 1,130 relevant
    documents, with tau_b .9806 of MAP and gamma .9961 of ``P@10``.
    """
    asked = Asked(leave_out_type, locals())
    kinds, _ = types_of(asked.runs), asked.contributors
    chosen = list(kinds.names) if asked["types"] is None else [choice("types", t, kinds.names) for t in asked["types"]]
    kept = ("depth", "rel", "contributors", "pool_order", "resamples", "confidence", "seed", "verbose")
    options = {name: asked[name] for name in kept}
    with told_elsewhere():
        # by leaving out uniques
        qrels = asked.qrels
    lou = leave_out_uniques(asked.runs, qrels, asked["measures"], by="type", **options)
    row, sole = _lost(asked, lou)
    parts = [_recovered(asked.runs, asked.qrels, row[sole == kinds.names.index(n)], n, down_to) for n in chosen]
    recovery, documents = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    again = documents[documents["runs"] > 0].groupby("left_out").size()
    table = lou.table[lou.table["type"].isin(chosen)].reset_index(drop=True)
    table = table.rename(columns={"removed": "lost"}).drop(columns=["unique", "unique_relevant"])
    table.insert(table.columns.get_loc("lost") + 1, "recovered", table["type"].map(again).fillna(0).astype(int))
    within = "at any rank" if down_to is None else f"in the first {count(down_to, 'document')}"
    settings = {"left out": ", ".join(chosen), "recovered": within, **lou.settings}
    return LeftOutTypes(table=table, recovery=recovery, documents=documents, uniques=lou, settings=settings)


def _lost(asked: Asked, lou: LeaveOutUniques) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the judgments of relevant documents that one type alone put into the pool, and its number."""
    pool = pool_to_depth(asked.ranked, lou.depth, asked.contributors)
    sole, _ = pool.sole("type")
    row = asked.qrels.arrays.documents.find(pool.documents)
    lost = (sole >= 0) & (row >= 0) & (np.append(asked.qrels.arrays.labels, np.int16(-1))[row] >= lou.rel)
    order = np.argsort(row[lost], kind="stable")
    return row[lost][order], sole[lost][order]


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
    return recovery, pd.DataFrame(
        {
            "left_out": name,
            "qid": documents.qids(),
            "docno": documents.docnos(),
            "label": qrels.arrays.labels[rows].astype(np.int64),
            "runs": runs_of.to_numpy(),
            "best_rank": best["rank"].astype("Int64").reset_index(drop=True),
            "best_run": pd.Series([None if pd.isna(r) else runs.names[int(r)] for r in best["run"]], dtype=object),
        }
    )
