"""Leave-out-uniques: what would the scores be had a team, a run or a type of system not taken part in the pool?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import InputError, choice, count
from pt_reuse._result import Result
from pt_reuse.engine import pairs
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.engine.rescore import Changes, score_field
from pt_reuse.measures import MeasureLike, native_spec, parse_measures
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels import Qrels, as_qrels
from pt_reuse.runs import RunSet
from pt_reuse.scores import Scores, check_topics, hit_index, make_scores, mean_over_topics, score, topics_of_runs
from pt_reuse.stats.correlation import DECIMALS, agreement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AT_ONCE = 1 << 24  # scores held at a time: 128 MB


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOutUniques(Result):
    """What leaving each unit (team, run or type) out of the pool does to every run.

    Attributes:
        table: one row per left-out unit and measure, the whole field re-ranked under the unit's reduced judgments:
            the unit under the name of `by`; ``measure``; ``runs``, its runs in the field; ``unique`` and
            ``unique_relevant``, documents that it alone contributed; ``removed``, how many of these were taken out;
            ``tau_b gamma tau_ap_b`` between the full and the reduced ranking of all runs; ``max_drop``, the most ranks
            that a run loses, and ``dropped``, that run.
        by_run: one row per run and measure, the run under the reduced judgments of its own unit: ``name team type
            pooled measure``; ``score`` and ``reduced_score``; ``change`` = reduced - full and ``change_pct``, the same in
            per cent of the full score; ``rank``, ``reduced_rank`` when only the runs of this unit are re-scored, and
            ``drop`` = reduced_rank - rank.
        summary: one row per measure: ``tau_b gamma tau_ap_b max_drop`` of the ranking in which every run has the score
            under its own unit's reduced judgments (``own_``); ``alone_max_drop``, the largest ``drop`` of `by_run`; the
            mean change and the largest loss of the runs' scores in per cent; the smallest tau_b and the largest drop
            when the whole field is re-ranked, and the unit with that drop (``field_``).
        uniques: one row per unit: ``runs contributing pooled unique unique_relevant unique_nonrelevant``.
        scores: the runs under the full judgments.
        own_scores: each run under the reduced judgments of its own unit.
        reduced: (measures, units, runs) means of all runs under each unit's reduced judgments.
        units: the left-out units; `unit_of_run` is the unit of each run as a position among them.
    """

    title: ClassVar[str] = "Leave-out-uniques"

    by_run: pd.DataFrame
    summary: pd.DataFrame
    uniques: pd.DataFrame
    scores: Scores
    own_scores: Scores
    reduced: NDArray[np.float64]
    units: list[str]
    unit_of_run: NDArray[np.int64]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"summary": self.summary, "table": self.table, "by_run": self.by_run, "uniques": self.uniques}

    def headline(self) -> str:
        """Return the worst unit and the agreement of each measure."""
        return "; ".join(
            f"{row.measure} own tau_b {row.own_tau_b:.4f}, largest drop {row.own_max_drop}, whole field drop "
            f"{row.field_max_drop} ({row.field_worst})"
            for row in self.summary.itertuples()
        )

    def whole_field(self) -> pd.DataFrame:
        """Return one row per left-out unit, measure and run: ``<by> measure name score reduced_score rank reduced_rank drop``."""
        by, full = self.settings["by"], self.scores.means
        shape = self.reduced.shape
        unit = np.broadcast_to(np.array(self.units, dtype=object)[None, :, None], shape)
        measure = np.broadcast_to(np.array(self.scores.measures, dtype=object)[:, None, None], shape)
        rank = np.broadcast_to(pairs.ranks(np.round(full, DECIMALS))[:, None], shape)
        frame = pd.DataFrame({
            "left_out" if by == "run" else by: unit.ravel(), "measure": measure.ravel(),
            "name": np.tile(np.array(self.scores.names, dtype=object), shape[0] * shape[1]),
            "score": np.broadcast_to(full[:, None], shape).ravel(), "reduced_score": self.reduced.ravel(),
            "rank": rank.ravel(), "reduced_rank": pairs.ranks(np.round(self.reduced, DECIMALS)).ravel(),
        })  # fmt: skip
        return frame.assign(drop=frame["reduced_rank"] - frame["rank"])

    def plot(self, measure: MeasureLike | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw each run's score under the full against its own unit's reduced judgments; see plots.uniques."""
        from pt_reuse.plots.uniques import plot_reduced_scores

        name = self.scores.measures[0] if measure is None else repr(parse_measures(measure, "plot")[0])
        return plot_reduced_scores(self, choice("plot", "measure", name, self.scores.measures), ax=ax)

    def plot_uniques(self, *, ax: Axes | None = None) -> Axes:
        """Draw how many unique documents each unit contributed, relevant and not relevant."""
        from pt_reuse.plots.uniques import plot_unique_counts

        return plot_unique_counts(self, ax=ax)


def leave_out_uniques(
    runs: RunSet,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    by: str = "team",
    depth: int = 100,
    remove: str = "relevant",
    contributors: str | Iterable[str] = "pooled",
    complete: bool = True,
    verbose: bool = False,
) -> LeaveOutUniques:
    """Say what leaving each team, run or type out of the pool does to the score and rank of every run.

    A *unique* of a unit is a judged document (label >= 0) that only this unit's runs contributed to the depth-k pool.
    Without the unit, its uniques would not have been judged. So for each unit the uniques are removed from the judgments
    and the runs are scored again: a system whose score holds up could have been evaluated fairly without taking part.

    Args:
        runs: the field, with teams (``by="team"``) or types (``by="type"``).
        qrels: the judgments: a Qrels, a frame or a file.
        measures: ir_measures measures or their names.
        by: leave out one ``"team"`` (default), ``"run"`` or ``"type"`` at a time.
        depth: pool depth, documents per run and topic, >= 1; default 100, as in most TREC tracks.
        remove: ``"relevant"`` (default) removes the unique relevant documents; ``"judged"`` every unique judged document,
            as NIST's script does. The two agree for measures that take unjudged as not relevant.
        contributors: ``"pooled"`` (default) for the runs marked as pooled, ``"all"`` for every run, or run names.
        complete: the mean is over all topics of the qrels (default), or over those that the run has.
        verbose: show a progress bar for measures that ir_measures computes.

    Returns:
        LeaveOutUniques: ``.summary``, ``.table`` (per unit), ``.by_run``, ``.uniques``, ``.whole_field()``, ``.plot()``.

    Raises:
        InputError: runs without a team, an unknown measure, a run that has no topic in common with the qrels.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> lou = ptr.leave_out_uniques(field.runs, field.qrels, ["AP", "nDCG@10"], depth=field.depth)
        >>> lou.summary[["measure", "own_max_drop"]].shape
        (2, 2)

    Source: Zobel 1998, How reliable are the results of large-scale information retrieval experiments?, SIGIR; Buckley,
    Dimmick, Soboroff and Voorhees 2007, Bias and the limits of pooling, Information Retrieval 10; Voorhees, Craswell
    and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR. On TREC-8 ad hoc (71 contributors,
    depth 100) own-team AP has tau_b .99806 and a largest drop of 2.
    """
    function = "leave_out_uniques"
    choice(function, "by", by, ("team", "run", "type"))
    choice(function, "remove", remove, ("relevant", "judged"))
    if not isinstance(runs, RunSet):
        raise InputError(f"{function}: runs must be a RunSet (read_runs makes one), got {type(runs).__name__}.")
    qrels = as_qrels(qrels, function)
    parsed = parse_measures(measures, function)
    unit_of_run = runs.units(by, function)
    units = list(dict.fromkeys(unit_of_run))
    check_topics(runs, qrels, function)
    pool = depth_pool(runs, depth=depth, contributors=contributors)
    owner, row = _owned_judgments(pool, qrels, by, units)
    relevant = qrels.judgments.labels[row] > 0
    taken = relevant if remove == "relevant" else np.ones(len(row), dtype=bool)
    changes = Changes(len(units), owner[taken], row[taken], np.full(int(taken.sum()), UNJUDGED))
    unit = np.array([units.index(name) for name in unit_of_run])
    scored = _score_all(runs, qrels, parsed, changes, unit, complete, verbose)

    settings = {
        "by": by, "depth": depth, "remove": remove,
        "contributors": f"{pool.settings['contributors']} ({len(pool.table)} of {len(runs)} runs)",
        "order": runs.order, "complete": complete,
        "judged without contributor": int((qrels.judgments.labels >= 0).sum()) - _n_judged(pool, qrels),
    }  # fmt: skip
    names = [repr(measure) for measure in parsed]
    full = make_scores(runs, qrels, names, scored.full, complete)
    own = make_scores(runs, qrels, names, scored.own, complete)
    contributing = runs.table["name"].isin(pool.table["name"]).to_numpy()
    uniques = _unique_counts(by, units, unit, contributing, owner, relevant)
    by_run = _by_run(runs, unit, full, own)
    removed = np.bincount(owner[taken], minlength=len(units))
    table = _by_unit(by, uniques, removed, full, scored.reduced)
    return LeaveOutUniques(
        table=table, settings=settings, by_run=by_run, uniques=uniques, summary=_summary(by, names, table, by_run),
        units=units, unit_of_run=unit, scores=full, own_scores=own, reduced=scored.reduced,
    )  # fmt: skip


def _owned_judgments(pool: Pool, qrels: Qrels, by: str, units: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the judged documents with one contributing unit: the unit and the row of the judgments."""
    sole, names = pool.sole(by)
    rows = qrels.rows_of(pool.topics, pool.starts, pool.words)
    owned = np.flatnonzero((sole >= 0) & (rows >= 0))
    owned = owned[qrels.judgments.labels[rows[owned]] >= 0]
    place = np.array([units.index(name) for name in names], dtype=np.int64)
    return place[sole[owned]], rows[owned]


def _n_judged(pool: Pool, qrels: Qrels) -> int:
    rows = qrels.rows_of(pool.topics, pool.starts, pool.words)
    return int((qrels.judgments.labels[rows[rows >= 0]] >= 0).sum())


@dataclass
class _Scored:
    full: NDArray[np.float64]  # (measures, topics, runs)
    own: NDArray[np.float64]  # (measures, topics, runs), each run under its own unit's reduced judgments
    reduced: NDArray[np.float64]  # (measures, units, runs), means of all runs under every unit's


def _score_all(
    runs: RunSet,
    qrels: Qrels,
    measures: list[ir_measures.Measure],
    changes: Changes,
    unit: NDArray[np.int64],
    complete: bool,
    verbose: bool,
) -> _Scored:
    shape = (len(measures), len(qrels.topics), len(runs))
    scored = _Scored(np.empty(shape), np.empty(shape), np.empty((len(measures), changes.n_sets, len(runs))))
    has = None if complete else topics_of_runs(runs, qrels)
    specs = [native_spec(measure) for measure in measures]
    native = [m for m, spec in enumerate(specs) if spec is not None]
    if native:
        index, labels = hit_index(runs, qrels), qrels.judgments.labels
        chosen = [spec for spec in specs if spec is not None]
        step = max(1, _AT_ONCE // max(1, len(chosen) * len(qrels.topics) * len(runs)))
        for first in range(0, changes.n_sets, step):
            base, changed = score_field(index, labels, chosen, changes.part(first, first + step))
            scored.full[native] = base
            scored.reduced[native, first : first + step] = mean_over_topics(changed.swapaxes(1, 2), has)
            mine = np.flatnonzero((unit >= first) & (unit < first + step))
            scored.own[np.ix_(native, range(shape[1]), mine)] = changed[:, :, unit[mine] - first, mine]
    others = [m for m, spec in enumerate(specs) if spec is None]
    if others:
        provided = [measures[m] for m in others]
        scored.full[others] = score(runs, qrels, provided).values
        for u in pt.tqdm(range(changes.n_sets), desc="leaving out", unit="unit", disable=not verbose):
            kept = np.ones(len(qrels), dtype=bool)
            kept[changes.row[changes.in_set == u]] = False
            # a unit without uniques leaves the judgments, and so the scores, as they are
            values = scored.full[others] if kept.all() else score(runs, qrels.keep(kept), provided).values
            scored.reduced[others, u] = mean_over_topics(values, has)
            mine = np.flatnonzero(unit == u)
            scored.own[np.ix_(others, range(shape[1]), mine)] = values[:, :, mine]
    return scored


def rank_alone(full: NDArray[np.float64], own: NDArray[np.float64], unit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (..., runs): the rank of each run when only the runs of its unit have their `own` scores."""
    full, own = np.round(full, DECIMALS), np.round(own, DECIMALS)
    # row r of the last two axes is the field as run r sees it
    fields = np.where(unit[None, :] == unit[:, None], own[..., None, :], full[..., None, :])
    return 1 + (fields > own[..., :, None]).sum(axis=-1)


def _unique_counts(
    by: str,
    units: list[str],
    unit: NDArray[np.int64],
    contributing: NDArray[np.bool_],
    owner: NDArray[np.int64],
    relevant: NDArray[np.bool_],
) -> pd.DataFrame:
    n = len(units)
    unique, unique_relevant = np.bincount(owner, minlength=n), np.bincount(owner[relevant], minlength=n)
    return pd.DataFrame({
        _column(by): units, "runs": np.bincount(unit, minlength=n),
        "contributing": np.bincount(unit[contributing], minlength=n), "unique": unique,
        "unique_relevant": unique_relevant, "unique_nonrelevant": unique - unique_relevant,
    })  # fmt: skip


def _column(by: str) -> str:
    return "name" if by == "run" else by


def _by_unit(
    by: str, uniques: pd.DataFrame, removed: NDArray[np.int64], full: Scores, reduced: NDArray[np.float64]
) -> pd.DataFrame:
    parts = []
    for measure, before, after in zip(full.measures, full.means, reduced, strict=True):
        found = agreement(before, after)[["tau_b", "gamma", "tau_ap_b", "max_drop"]]
        drops = pairs.rank_drops(np.round(before, DECIMALS), np.round(after, DECIMALS))
        worst = np.array(full.names, dtype=object)[drops.argmax(axis=1)]
        part = uniques[[_column(by), "runs", "unique", "unique_relevant"]].copy()
        part.insert(1, "measure", measure)
        part["removed"] = removed
        part = pd.concat([part, found.reset_index(drop=True)], axis=1)
        part["dropped"] = np.where(found["max_drop"] > 0, worst, None)
        parts.append(part.sort_values(
            ["unique_relevant", "unique", _column(by)], ascending=[False, False, True], kind="stable"
        ))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _by_run(runs: RunSet, unit: NDArray[np.int64], full: Scores, own: Scores) -> pd.DataFrame:
    parts = []
    for measure, before, after in zip(full.measures, full.means, own.means, strict=True):
        rank, reduced_rank = pairs.ranks(np.round(before, DECIMALS)), rank_alone(before, after, unit)
        part = runs.table[["name", "team", "type", "pooled"]].copy()
        part["measure"] = measure
        part["score"], part["reduced_score"], part["change"] = before, after, after - before
        part["change_pct"] = np.divide(
            100 * (after - before), before, out=np.full(len(before), np.nan), where=before != 0
        )
        part["rank"], part["reduced_rank"], part["drop"] = rank, reduced_rank, reduced_rank - rank
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _summary(by: str, measures: list[str], table: pd.DataFrame, by_run: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for measure in measures:
        mine, units = by_run[by_run["measure"] == measure], table[table["measure"] == measure]
        own = agreement(mine["score"].to_numpy(), mine["reduced_score"].to_numpy()[None]).iloc[0]
        worst = units.sort_values(["max_drop", "tau_b"], ascending=[False, True], kind="stable").iloc[0]
        hit = worst["max_drop"] > 0 or worst["tau_b"] < 1
        rows.append({
            "measure": measure, "own_tau_b": own["tau_b"], "own_gamma": own["gamma"], "own_tau_ap_b": own["tau_ap_b"],
            "own_max_drop": int(own["max_drop"]), "alone_max_drop": int(mine["drop"].max()), "mean_change_pct": mine["change_pct"].mean(),
            "largest_loss_pct": -mine["change_pct"].min(),
            "field_min_tau_b": units["tau_b"].min(), "field_max_drop": int(worst["max_drop"]),
            "field_worst": worst[_column(by)] if hit else None,
        })  # fmt: skip
    return pd.DataFrame(rows)


def describe(result: LeaveOutUniques) -> str:
    """Return what the result says, in words, one line per measure."""
    by, lines = result.settings["by"], []
    for row in result.summary.itertuples():
        place = f"leaving out {by} {row.field_worst!r}" if row.field_worst else f"leaving out any {by}"
        lines.append(
            f"{row.measure}: judged without its own {by}, a run loses at most {count(row.alone_max_drop, 'rank')} and "
            f"{row.largest_loss_pct:.2f} % of its score (mean change {row.mean_change_pct:+.2f} %; tau_b {row.own_tau_b:.4f}); "
            f"over the whole field, {place} moves a run by up to {count(row.field_max_drop, 'rank')}."
        )
    return "\n".join(lines)
