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

from pt_reuse._check import choice, count, flag
from pt_reuse._errors import InputError, door
from pt_reuse._result import Result
from pt_reuse.engine import pairs
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.engine.rescore import Changes, score_field
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import MeasureLike, native_spec, parse_measures
from pt_reuse.scoring.scores import (
    Scores,
    check_topics,
    hit_index,
    make_scores,
    mean_over_topics,
    score,
    topics_of_runs,
)
from pt_reuse.stats.correlation import DECIMALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AT_ONCE = 1 << 24  # scores held at a time: 128 MB
_TAUS = ("tau_b", "gamma", "tau_ap_b")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOutUniques(Result):
    """What leaving each unit (team, run or type) out of the pool does to every run.

    A run's name stands under ``name``; with ``by="run"`` so does the left-out unit.

    Attributes:
        table: one row per left-out unit and measure, the whole field re-ranked under the unit's reduced judgments:
            the unit under ``team``, ``type`` or ``name``; ``measure``; ``runs``, its runs in the field; ``unique`` and
            ``unique_relevant``, judged documents that it alone contributed; ``removed``, how many of these were taken
            out; ``tau_b gamma tau_ap_b`` between the full and the reduced ranking of all runs; ``max_drop``, the most
            ranks that a run loses, and ``dropped``, that run (the best one of several, None where no run loses any).
        by_run: one row per run and measure, the run under the reduced judgments of its own unit: ``name team type
            pooled contributed measure``, with ``pooled`` as the RunSet says and ``contributed`` whether the run was
            among the contributors here; ``score`` and ``reduced_score``; ``change`` = reduced - full and
            ``change_pct``, the same in per cent of the full score (NaN where that is 0); ``rank``, ``reduced_rank``
            when only the runs of this unit are re-scored, and ``drop`` = reduced_rank - rank.
        summary: one row per measure: ``tau_b gamma tau_ap_b max_drop`` of the ranking in which every run has the score
            under its own unit's reduced judgments (``own_``); ``alone_max_drop``, the largest ``drop`` of `by_run`; the
            mean change and the largest loss (0 when no run loses) of the runs' scores in per cent; when the whole field
            is re-ranked, the smallest tau_b, the largest drop, and the unit with that drop, of several the one with the
            smallest tau_b, None where no unit changes the ranking (``field_``).
        unique_counts: one row per unit, in order of appearance: its ``runs``, how many of them are
            ``contributing``, and the judged documents that it alone contributed: ``unique unique_relevant
            unique_nonrelevant``.
        scores: the runs under the full judgments.
        own_scores: each run under the reduced judgments of its own unit.
        reduced: (measures, units, runs) means of all runs under each unit's reduced judgments.
        units: the left-out units; `unit_of_run` is the unit of each run as a position among them.
    """

    title: ClassVar[str] = "Leave-out-uniques"

    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    own_scores: Scores
    reduced: NDArray[np.float64]
    units: list[str]
    unit_of_run: NDArray[np.int64]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "summary": self.summary,
            "table": self.table,
            "by_run": self.by_run,
            "unique_counts": self.unique_counts,
        }

    def headline(self) -> str:
        """Return the agreement and the largest drops of each measure, and the worst unit."""
        parts = []
        for row in self.summary.to_dict("records"):
            worst = "" if row["field_worst"] is None else f" ({row['field_worst']})"
            parts.append(
                f"{row['measure']} own tau_b {row['own_tau_b']:.4f}, largest drop {row['own_max_drop']}, "
                f"whole field drop {row['field_max_drop']}{worst}"
            )
        return "; ".join(parts)

    def whole_field(self) -> pd.DataFrame:
        """Return every run under every unit's reduced judgments, one row per left-out unit, measure and run.

        Returns:
            DataFrame: the left-out unit under ``team``, ``type`` or, for a run, ``left_out``; ``measure name score
            reduced_score rank reduced_rank drop``, all runs re-scored and re-ranked.
        """
        by, full = self.settings["by"], self.scores.mean_values
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

    @door
    def plot(self, measure: MeasureLike | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw each run's score under the full against its own unit's reduced judgments; see plots.uniques."""
        from pt_reuse.plots.uniques import plot_reduced_scores

        name = self.scores.measures[0] if measure is None else repr(parse_measures(measure)[0])
        choice("measure", name, self.scores.measures)
        return plot_reduced_scores(self.by_run, measure=name, by=self.settings["by"], ax=ax)

    @door
    def plot_uniques(self, *, ax: Axes | None = None) -> Axes:
        """Draw how many unique documents each unit contributed, relevant and not relevant."""
        from pt_reuse.plots.uniques import plot_unique_counts

        return plot_unique_counts(self.unique_counts, ax=ax)


@door
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
    without_topics: str = "error",
    verbose: bool = False,
) -> LeaveOutUniques:
    """Say what leaving each team, run or type out of the pool does to the score and rank of every run.

    A *unique* of a unit is a judged document (label >= 0) that only this unit's runs contributed to the depth-k pool.
    Without the unit, its uniques would not have been judged. So for each unit the uniques are removed from the
    judgments and the runs are scored again: a system whose score holds up could have been evaluated fairly without
    taking part. The topic set stays: a topic that loses its last relevant document counts 0.

    Args:
        runs: the field, with teams (``by="team"``) or types (``by="type"``).
        qrels: the judgments: a Qrels, a frame or a file.
        measures: ir_measures measures or their names, one or several.
        by: leave out one ``"team"`` (default), ``"run"`` or ``"type"`` at a time.
        depth: pool depth, documents per run and topic, >= 1; default 100, as in most TREC tracks.
        remove: ``"relevant"`` (default) removes the unique relevant documents; ``"judged"`` every unique judged
            document, as NIST's script does. The two agree for measures that take unjudged as not relevant.
        contributors: ``"pooled"`` (default) for the runs marked as pooled, ``"all"`` for every run, or run names.
        complete: the mean is over all topics of the qrels (default), or over those that the run has.
        without_topics: a run with none of the topics of the qrels is an ``"error"`` (default), or scores ``"zero"``.
        verbose: show a progress bar for measures that ir_measures computes.

    Returns:
        LeaveOutUniques: ``.summary``, ``.table`` (per unit), ``.by_run``, ``.unique_counts``, ``.whole_field()``,
        ``.plot()``.

    Raises:
        InputError: runs without a team or type, an unknown measure, run or option, a run that has no topic in common
            with the qrels.

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
    if not isinstance(runs, RunSet):
        swapped = " The runs come first, then the qrels." if isinstance(qrels, RunSet) else ""
        raise InputError(
            f"runs must be a RunSet (read_runs or get_runs() makes one), got {type(runs).__name__}.{swapped}"
        )
    choice("by", by, ("team", "run", "type"))
    choice("remove", remove, ("relevant", "judged"))
    flag("complete", complete)
    qrels = as_qrels(qrels)
    parsed = parse_measures(measures)
    of_field = runs.units(by)
    units, unit = list(of_field.names), of_field.of_run
    check_topics(runs, qrels, without_topics)

    pool = depth_pool(runs, depth=depth, contributors=contributors)
    labels = qrels.arrays.labels
    rows = qrels.arrays.documents.find(pool.documents)
    judged = (rows >= 0) & (np.append(labels, UNJUDGED)[rows] >= 0)
    sole, contributing = pool.sole(by)
    unique = judged & (sole >= 0)
    owner = of_field.positions(contributing.names)[sole[unique]]
    row = rows[unique]
    relevant = labels[row] > 0
    taken = relevant if remove == "relevant" else np.ones(len(row), dtype=bool)
    changes = Changes(len(units), owner[taken], row[taken], np.full(int(taken.sum()), UNJUDGED))

    scored = _score_all(runs, qrels, parsed, changes, unit, complete, verbose)
    provided = ", ".join(repr(measure) for measure in parsed if native_spec(measure) is None)
    settings = {
        "by": by, "depth": int(depth), "remove": remove, "contributors": str(pool.contributors),
        "order": runs.order, "complete": complete, "ties": f"means equal to {DECIMALS} decimals",
        "judged": int((labels >= 0).sum()), "judged without contributor": int((labels >= 0).sum() - judged.sum()),
        **({"by ir_measures": provided} if provided else {}),
    }  # fmt: skip
    measure_names = [repr(measure) for measure in parsed]
    full = make_scores(runs, qrels, measure_names, scored.full, complete, provided)
    what = "unique relevant" if remove == "relevant" else "unique judged"
    without = f"without the {what} documents of the run's own {by}, depth {depth}"
    own = make_scores(runs, qrels, measure_names, scored.own, complete, provided, judgments=without)
    contributed = runs.run_table["name"].isin(pool.run_table["name"]).to_numpy()
    uniques = _unique_counts(by, units, unit, contributed, owner, relevant)
    by_run = _by_run(runs, unit, contributed, full, own)
    removed = np.bincount(owner[taken], minlength=len(units))
    table = _by_unit(by, uniques, removed, full, scored.reduced)
    return LeaveOutUniques(
        table=table, settings=settings, by_run=by_run, unique_counts=uniques,
        summary=_summary(by, table, by_run, full, own, scored.reduced),
        scores=full, own_scores=own, reduced=scored.reduced, units=units, unit_of_run=unit,
    )  # fmt: skip


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
        index, labels = hit_index(runs, qrels), qrels.arrays.labels
        chosen = [spec for spec in specs if spec is not None]
        step = max(1, _AT_ONCE // max(1, len(chosen) * len(qrels.topics) * len(runs)))
        for first in range(0, changes.n_sets, step):
            base, changed = score_field(index, labels, chosen, changes.part(first, first + step))
            scored.full[native] = base
            scored.reduced[native, first : first + step] = mean_over_topics(changed.swapaxes(1, 2), has)
            mine = np.flatnonzero((unit >= first) & (unit < first + step))
            for m, values in zip(native, changed, strict=True):
                scored.own[m][:, mine] = values[:, unit[mine] - first, mine]
    others = [m for m, spec in enumerate(specs) if spec is None]
    if others:
        provided = [measures[m] for m in others]
        scored.full[others] = score(runs, qrels, provided, without_topics="zero").values
        for u in pt.tqdm(range(changes.n_sets), desc="leaving out", unit="unit", disable=not verbose):
            kept = np.ones(len(qrels), dtype=bool)
            kept[changes.row[changes.in_set == u]] = False
            # a unit without uniques leaves the judgments, and so the scores, as they are
            values = (
                scored.full[others]
                if kept.all()
                else score(runs, qrels.keep(kept), provided, without_topics="zero").values
            )
            scored.reduced[others, u] = mean_over_topics(values, has)
            mine = np.flatnonzero(unit == u)
            for m, value in zip(others, values, strict=True):
                scored.own[m][:, mine] = value[:, mine]
    return scored


def _unique_counts(
    by: str,
    units: list[str],
    unit: NDArray[np.int64],
    contributed: NDArray[np.bool_],
    owner: NDArray[np.int64],
    relevant: NDArray[np.bool_],
) -> pd.DataFrame:
    n = len(units)
    unique, unique_relevant = np.bincount(owner, minlength=n), np.bincount(owner[relevant], minlength=n)
    return pd.DataFrame({
        _column(by): units, "runs": np.bincount(unit, minlength=n),
        "contributing": np.bincount(unit[contributed], minlength=n), "unique": unique,
        "unique_relevant": unique_relevant, "unique_nonrelevant": unique - unique_relevant,
    })  # fmt: skip


def _column(by: str) -> str:
    return "name" if by == "run" else by


def _by_unit(
    by: str, uniques: pd.DataFrame, removed: NDArray[np.int64], full: Scores, reduced: NDArray[np.float64]
) -> pd.DataFrame:
    counts = uniques[[_column(by), "runs", "unique", "unique_relevant"]].assign(removed=removed)
    counts = counts.sort_values(
        ["unique_relevant", "unique", _column(by)], ascending=[False, False, True], kind="stable"
    )
    parts = []
    for measure, means, under in zip(full.measures, full.mean_values, reduced, strict=True):
        before, after = np.round(means, DECIMALS), np.round(under[counts.index], DECIMALS)
        found = pairs.coefficients(before, after, _TAUS)
        drops = pairs.rank_drops(before, after)
        best_first = np.argsort(-before, kind="stable")
        worst = np.array(full.names, dtype=object)[best_first[drops[:, best_first].argmax(axis=1)]]
        part = counts.assign(**{name: found[name] for name in (*_TAUS, "max_drop")})
        part.insert(1, "measure", measure)
        part["dropped"] = pd.Series(np.where(found["max_drop"] > 0, worst, None), dtype=object, index=part.index)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _by_run(
    runs: RunSet, unit: NDArray[np.int64], contributed: NDArray[np.bool_], full: Scores, own: Scores
) -> pd.DataFrame:
    before, after = full.mean_values, own.mean_values
    rounded = np.round(before, DECIMALS)
    rank, reduced_rank = (
        pairs.ranks(np.round(before, DECIMALS)),
        pairs.rank_alone(rounded, np.round(after, DECIMALS), unit),
    )
    per_cent = pairs.per_cent_change(before, after)
    parts = []
    for m, measure in enumerate(full.measures):
        parts.append(runs.run_table[["name", "team", "type", "pooled"]].assign(
            contributed=contributed, measure=measure, score=before[m], reduced_score=after[m],
            change=after[m] - before[m], change_pct=per_cent[m], rank=rank[m], reduced_rank=reduced_rank[m],
            drop=reduced_rank[m] - rank[m],
        ))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _summary(
    by: str, table: pd.DataFrame, by_run: pd.DataFrame, full: Scores, own: Scores, reduced: NDArray[np.float64]
) -> pd.DataFrame:
    rows = []
    units_of, runs_of = table.groupby("measure", sort=False), by_run.groupby("measure", sort=False)
    for measure, before, after, left in zip(full.measures, full.mean_values, own.mean_values, reduced, strict=True):
        found = pairs.coefficients(np.round(before, DECIMALS), np.round(after, DECIMALS)[None], _TAUS)
        # tau is undefined where all runs tie, so ranks say whether anything moved
        rank, new_rank = pairs.ranks(np.round(before, DECIMALS)), pairs.ranks(np.round(left, DECIMALS))
        moved = (rank != new_rank).any()
        units, runs = units_of.get_group(measure), runs_of.get_group(measure)
        # an undefined tau comes first: all runs tie without this unit
        worst = units.iloc[np.lexsort((units["tau_b"].fillna(-2), -units["max_drop"]))[0]]
        rows.append({
            "measure": measure, **{f"own_{name}": found[name][0] for name in (*_TAUS, "max_drop")},
            "alone_max_drop": int(runs["drop"].max()), "mean_change_pct": runs["change_pct"].mean(),
            "largest_loss_pct": 0.0 - runs["change_pct"].clip(upper=0).fillna(0).min(),
            "field_min_tau_b": units["tau_b"].min(skipna=False), "field_max_drop": int(worst["max_drop"]),
            "field_worst": worst[_column(by)] if moved else None,
        })  # fmt: skip
    return pd.DataFrame(rows).assign(field_worst=pd.Series([row["field_worst"] for row in rows], dtype=object))


def in_words(result: LeaveOutUniques) -> str:
    """Return what the result says, in words, one line per measure."""
    by, lines = result.settings["by"], []
    for row in result.summary.to_dict("records"):
        if row["field_worst"] is None:
            field = f"over the whole field, leaving out any one {by} changes no rank."
        else:
            moved = f"moves a run down by up to {count(row['field_max_drop'], 'rank')}"
            field = f"over the whole field, leaving out {by} {row['field_worst']!r} {moved}."
        alone, all_at_once = count(row["alone_max_drop"], "rank"), count(row["own_max_drop"], "rank")
        mean = "" if np.isnan(row["mean_change_pct"]) else f"mean change {row['mean_change_pct']:+.2f} %; "
        lines.append(
            f"{row['measure']}: judged without its own {by}, a run loses at most {row['largest_loss_pct']:.2f} % of "
            f"its score, {alone} if its {by} alone is, {all_at_once} if all are "
            f"({mean}tau_b {row['own_tau_b']:.4f}); {field}"
        )
    strangers, judged = result.settings["judged without contributor"], result.settings["judged"]
    if strangers > 0.05 * judged:
        lines.append(
            f"Beware: {strangers:,} of {judged:,} judged documents are within depth {result.settings['depth']} of no "
            "contributing run. The depth, the contributors, the order or the runs are not those of the real pool, so "
            "uniques are not what they were."
        )
    return "\n".join(lines)
