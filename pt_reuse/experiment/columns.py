"""The columns that Experiment adds: how they are computed, and how they get into what pt.Experiment returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import warn
from pt_reuse.engine import pairs
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.measures import Unjudged, cutoff_of
from pt_reuse.scoring.run_scores import score
from pt_reuse.stats.correlation import DECIMALS
from pt_reuse.studies.uniques import leave_out_uniques

#: what `reuse=` may name, and the columns it adds for a measure m
REUSE = {
    "lou": "`m LOU`, the score without the uniques of the system's own unit, and `m LOU %`, its change in per cent",
    "rank": "`m rank`; with `lou` also `m LOU rank` and `m drop` = LOU rank - rank",
    "unjudged": "`m unjudged`, the share of unjudged documents down to the measure's cutoff",
}
#: the order of pt.Experiment's own scores, so that all columns rank documents alike
ORDER = "trec_eval9"
#: columns for which pt.Experiment reports the sum over topics, not the mean
_SUMMED = {"num_q", "num_rel", "num_ret", "num_rel_ret", "NumQ", "NumRel", "NumRet", "NumRelRet"}
_RANKS = ("rank", "LOU rank", "drop")
_SAME = 1e-9
_SAME_BY_GDEVAL = 6e-6  # it prints five decimals, and computes nDCG(dcg='exp-log2')


@dataclass(frozen=True)
class Columns:
    """The values of the systems, per added column and measure; the column ``""`` is the measure itself.

    Attributes:
        systems: names of the systems, in the order of the last axis.
        qids: topics, in the order of the first axis of `topics`.
        means: added column -> measure -> (systems,) array.
        topics: added column -> measure -> (topics, systems) array.
        attrs: settings and summary, in plain Python values.
    """

    systems: list[str]
    qids: list[str]
    means: dict[str, dict[str, NDArray]]
    topics: dict[str, dict[str, NDArray]]
    attrs: dict[str, Any]


def compute_columns(
    systems: RunSet,
    field: RunSet | None,
    qrels: Qrels,
    measures: Mapping[str, ir_measures.Measure],
    wanted: Sequence[str],
    by: str,
    depth: int,
    verbose: bool,
) -> Columns:
    """Compute the columns of the `wanted` kinds; `measures` are named as pt.Experiment names them."""
    columns = Columns(systems.names, qrels.topics, {}, {}, {"summary": [], "settings": {"reuse": list(wanted)}})

    def add(column: str, measure: str, by_mean: NDArray, by_topic: NDArray) -> None:
        columns.means.setdefault(column, {})[measure] = by_mean
        columns.topics.setdefault(column, {})[measure] = by_topic

    if "lou" in wanted or "rank" in wanted:
        _rank_and_lou(systems, field, qrels, measures, wanted, by, depth, verbose, columns.attrs, add)
    if "unjudged" in wanted:
        rates = {name: _unjudged_to(measure) for name, measure in measures.items()}
        found = score(systems, qrels, list(dict.fromkeys(rates.values())), without_topics="zero")
        for name, rate in rates.items():
            m = found.measures.index(repr(rate))
            add("unjudged", name, found.mean_values[m], found.values[m])
    return columns


def _rank_and_lou(
    systems: RunSet,
    field: RunSet | None,
    qrels: Qrels,
    measures: Mapping[str, ir_measures.Measure],
    wanted: Sequence[str],
    by: str,
    depth: int,
    verbose: bool,
    attrs: dict[str, Any],
    add: Any,
) -> None:
    runs = systems if field is None else field.reorder(ORDER) | systems
    at = np.array([runs.row(name) for name in systems.names])
    distinct = list(measures.values())
    # a system that finds nothing on the judged topics scores 0, as in pt.Experiment
    options: dict[str, Any] = {"without_topics": "zero", "verbose": verbose}
    lou = leave_out_uniques(runs, qrels, distinct, by=by, depth=depth, **options) if "lou" in wanted else None
    full = score(runs, qrels, distinct, **options) if lou is None else lou.scores
    attrs["settings"] |= {**full.settings, **(lou.settings if lou else {}), "runs ranked": len(runs)}
    column_of = {repr(measure): name for name, measure in measures.items()}
    if lou is not None:
        summary = lou.summary.assign(measure=[column_of[measure] for measure in lou.summary["measure"]])
        attrs["summary"] = summary.to_dict("records")
    for m, measure in enumerate(full.measures):
        name = column_of[measure]
        times = len(qrels.topics) if name in _SUMMED else 1
        base, base_topic = full.mean_values[m], full.values[m]
        rank, rank_topic = _ranks(base), _ranks(base_topic)
        add("", name, base[at] * times, base_topic[:, at])
        if lou is not None:
            own, own_topic = lou.own_scores.mean_values[m], lou.own_scores.values[m]
            add("LOU", name, own[at] * times, own_topic[:, at])
            add(
                "LOU %", name, pairs.per_cent_change(base, own)[at], pairs.per_cent_change(base_topic, own_topic)[:, at]
            )
        if "rank" in wanted:
            add("rank", name, rank[at], rank_topic[:, at])
        if lou is not None and "rank" in wanted:
            after = _rank_alone(base, own, lou.units.of_run)
            after_topic = _rank_alone(base_topic, own_topic, lou.units.of_run)
            add("LOU rank", name, after[at], after_topic[:, at])
            add("drop", name, (after - rank)[at], (after_topic - rank_topic)[:, at])


def _unjudged_to(measure: ir_measures.Measure) -> ir_measures.Measure:
    cutoff = cutoff_of(measure)
    return Unjudged if cutoff is None else Unjudged @ cutoff


def _rank_alone(full: NDArray[np.float64], own: NDArray[np.float64], unit: NDArray[np.int64]) -> NDArray[np.int64]:
    return pairs.rank_alone(np.round(full, DECIMALS), np.round(own, DECIMALS), unit)


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    return pairs.ranks(np.round(scores, DECIMALS))


class Adding:
    """Puts columns into whatever pt.Experiment returned, and notes where its scores and ours differ."""

    def __init__(self, columns: Columns, rounding: int | dict[str, int] | None):
        self.columns, self.rounding = columns, rounding
        self._system = {name: s for s, name in enumerate(columns.systems)}
        self._topic = {qid: t for t, qid in enumerate(columns.qids)}
        self._added = [column for column in columns.means if column]
        self._odd: dict[str, dict[str, tuple[str, float, float]]] = {}

    def to(self, result: Any, perquery: bool | str) -> Any:
        """Return the same kind of result with the columns."""
        if perquery == "both":
            both = self.to(result[0], False), self.to(result[1], True)
            return type(result)(*both) if hasattr(result, "_fields") else both
        if isinstance(result, dict):
            return self._to_topic_dict(result) if perquery else self._to_mean_dict(result)
        if perquery:
            return self._to_topic_frame(result)
        if isinstance(result, pd.DataFrame):
            return self._to_mean_frame(result)
        # a Styler: the same styles on the wider frame
        return self._to_mean_frame(result.data).style.use(result.export())

    def warn_of_differences(self) -> None:
        """Warn, once per measure, where pt.Experiment's score is not the one the added columns go with."""
        for measure, found in self._odd.items():
            where, theirs, ours = next(iter(found.values()))
            some = f"{len(found)} of {count(len(self.columns.systems), 'system')}"
            warn(
                f"{measure} of {where} is {theirs:.6f} by pt.Experiment and {ours:.6f} in the order of the "
                f"added columns ({ORDER}), and differs for {some}: its provider breaks score ties another way, "
                f"averages differently, or mixes it up with another measure. Compare its added columns among "
                f"themselves.",
            )

    def _to_mean_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        names = [str(name) for name in frame["name"]]
        at = [self._system[name] for name in names]
        added = {}
        for measure in self._measures(self.columns.means):
            if measure in frame.columns and "" in self.columns.means:
                theirs = frame[measure].to_numpy(dtype=np.float64)
                self._compare(measure, names, None, theirs, self.columns.means[""][measure][at])
            for column in self._added:
                added[f"{measure} {column}"] = self._rounded(self.columns.means[column][measure][at], measure)
        return self._labelled(pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1), frame)

    def _to_topic_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        wide = frame.copy()
        names, qids = [str(name) for name in frame["name"]], [str(qid) for qid in frame["qid"]]
        system = np.array([self._system[name] for name in names], dtype=np.int64)
        topic = np.array([self._topic.get(qid, -1) for qid in qids], dtype=np.int64)
        measures = frame["measure"].to_numpy()
        # a topic without judgments has no value, as in pt.Experiment
        rows_of = {m: np.flatnonzero((measures == m) & (topic >= 0)) for m in self._measures(self.columns.topics)}
        for measure, ours in self.columns.topics.get("", {}).items():
            rows = rows_of[measure]
            theirs = frame["value"].to_numpy(dtype=np.float64)[rows]
            who, where = [names[row] for row in rows], [qids[row] for row in rows]
            self._compare(measure, who, where, theirs, ours[topic[rows], system[rows]])
        for column in self._added:
            found = np.full(len(frame), np.nan)
            for measure, rows in rows_of.items():
                values = self.columns.topics[column][measure][topic[rows], system[rows]]
                found[rows] = self._rounded(values, measure)
            wide[column] = found.astype(np.int64) if column in _RANKS and not np.isnan(found).any() else found
        return self._labelled(wide, frame)

    def _to_mean_dict(self, result: dict[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
        for name, values in result.items():
            s = self._system[str(name)]
            for measure in self._measures(self.columns.means):
                ours = self.columns.means.get("", {}).get(measure)
                if ours is not None and measure in values:
                    self._compare(measure, [str(name)], None, np.array([values[measure]], dtype=float), ours[[s]])
                for column in self._added:
                    values[f"{measure} {column}"] = self.columns.means[column][measure][s].item()
        return result

    def _to_topic_dict(self, result: dict[int, dict[str, dict[str, Any]]]) -> dict[int, dict[str, dict[str, Any]]]:
        for s, by_topic in result.items():
            for qid, values in by_topic.items():
                t = self._topic.get(str(qid), -1)
                for measure in self._measures(self.columns.topics) if t >= 0 else ():
                    ours = self.columns.topics.get("", {}).get(measure)
                    if ours is not None and measure in values:
                        theirs = np.array([values[measure]], dtype=float)
                        self._compare(measure, [self.columns.systems[s]], [str(qid)], theirs, ours[[t], [s]])
                    for column in self._added:
                        values[f"{measure} {column}"] = self.columns.topics[column][measure][t, s].item()
        return result

    def _labelled(self, wide: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
        wide.attrs = {**frame.attrs, "reuse": self.columns.attrs}
        return wide

    def _measures(self, values: dict[str, dict[str, NDArray]]) -> list[str]:
        return list(next(iter(values.values())))

    def _digits(self, measure: str) -> int | None:
        return self.rounding.get(measure) if isinstance(self.rounding, dict) else self.rounding

    def _rounded(self, values: NDArray, measure: str) -> NDArray:
        digits = self._digits(measure)
        return values if digits is None or values.dtype.kind != "f" else np.round(values, digits)

    def _compare(
        self, measure: str, names: list[str], qids: list[str] | None, theirs: NDArray[np.float64], ours: NDArray
    ) -> None:
        # both must rank documents alike, or the columns of one row would not be comparable; NaN is pt.Experiment's
        # value where a topic has no judgments, of which it warns itself
        digits = self._digits(measure)
        same = _SAME_BY_GDEVAL if "exp-log2" in measure else _SAME
        same += 0.0 if digits is None else 0.5 * 10.0**-digits
        for i in np.flatnonzero(np.abs(theirs - ours) > same).tolist():
            where = repr(names[i]) if qids is None else f"{names[i]!r} on topic {qids[i]!r}"
            self._odd.setdefault(measure, {}).setdefault(names[i], (where, float(theirs[i]), float(ours[i])))
