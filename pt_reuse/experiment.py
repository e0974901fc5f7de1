"""Experiment: pt.Experiment with columns that say how far the judgments can be trusted for each system."""

from __future__ import annotations

import inspect
import os
import types
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import InputError, ReuseWarning, choice, count, examples
from pt_reuse.engine import pairs
from pt_reuse.measures import Unjudged, cutoff_of
from pt_reuse.metadata import Labels
from pt_reuse.qrels import Qrels
from pt_reuse.runs import RunSet
from pt_reuse.scores import score
from pt_reuse.stats.correlation import DECIMALS
from pt_reuse.studies.uniques import leave_out_uniques, rank_alone
from pt_reuse.transformers import Tap

#: what `reuse=` may name, and the columns it adds for a measure m
REUSE = {
    "lou": "`m LOU`, the score without the uniques of the system's own unit, and `m LOU %`, its change in per cent",
    "rank": "`m rank`; with `lou` also `m LOU rank` and `m drop` = LOU rank - rank",
    "unjudged": "`m unjudged`, the share of unjudged documents down to the measure's cutoff",
}
#: the order of pt.Experiment's own scores, so that all columns rank documents alike
ORDER = "trec_eval9"
_SAME = 1e-9


def Experiment(
    retr_systems: Mapping[str, Any] | Sequence[Any],
    topics: pd.DataFrame,
    qrels: Any,
    eval_metrics: Sequence[Any],
    names: Sequence[str] | None = None,
    *,
    teams: Labels | None = None,
    types: Labels | None = None,
    pooled: Labels | Collection[str] | bool | None = None,
    field: RunSet | None = None,
    reuse: str | Iterable[str] = ("lou", "rank", "unjudged"),
    by: str = "team",
    depth: int = 100,
    perquery: bool | str = False,
    dataframe: bool = True,
    highlight: str | None = None,
    round: int | dict[str, int] | None = None,
    **experiment_arguments: Any,
) -> Any:
    """Run pt.Experiment and add, for every measure, what the scores would be had the system not been pooled.

    Each pipeline is executed once, by pt.Experiment, which does all that it does without this function. Its results
    are then placed in the `field` (or among themselves), pooled to `depth`, and scored without the uniques of their
    team, as :func:`leave_out_uniques` does. The added columns of a measure m:

    - ``m LOU``, ``m LOU %``: the score without the uniques of the system's own unit, and its change in per cent
    - ``m rank``: rank in the field, 1 + the number of strictly better runs
    - ``m LOU rank``, ``m drop``: the rank when the unit's runs are scored without its uniques, and how many ranks it lost
    - ``m unjudged``: the share of the top k documents without a judgment (label >= 0), k the measure's cutoff; all
      documents for a measure without one

    With ``perquery=True`` the columns are ``LOU``, ``LOU %``, ``rank``, ``LOU rank``, ``drop``, ``unjudged``, for the
    measure and topic of the row. ``result.attrs["reuse"]`` (of the averages, where there are two frames) holds the
    settings and, per measure, tau_b, gamma and the largest drop over the field; :func:`reuse_summary` shows it.

    Args:
        retr_systems: dict of name -> pipeline or result frame, or a list with `names`.
        topics: frame with ``qid`` and ``query``, or a topics file.
        qrels: frame with ``qid docno label``, a Qrels, or a qrels file.
        eval_metrics: measures, as for pt.Experiment.
        names: names of the systems of a list.
        teams: who belongs together: system -> team, as in :func:`read_runs`; default each system is its own team.
        types: system -> type; default none.
        pooled: which systems count as contributors to the pool; default all.
        field: the collection's official runs, so that ranks and pools include them.
        reuse: which columns to add: any of ``"lou"``, ``"rank"``, ``"unjudged"``; default all three.
        by: the unit left out, ``"team"`` (default), ``"run"`` or ``"type"``.
        depth: pool depth, documents per run and topic.
        perquery: as for pt.Experiment.
        dataframe: as for pt.Experiment; the dicts of ``dataframe=False`` get the same values, but hold no summary.
        highlight: as for pt.Experiment.
        round: as for pt.Experiment; the added columns of a measure are rounded as the measure is.
        **experiment_arguments: every other argument of pt.Experiment.

    Returns:
        What pt.Experiment returns for these arguments, with more columns.

    Raises:
        InputError: systems without distinct names, a system named as a run of the field, an unknown `reuse` column.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> from ir_measures import P
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "label": [1, 1, 0]})
        >>> topics = pd.DataFrame({"qid": ["1"], "query": ["one"]})
        >>> ptr.Experiment({"A": a, "B": b}, topics, qrels, [P@2], reuse=["lou", "rank"])
          name  P@2  P@2 LOU  P@2 LOU %  P@2 rank  P@2 LOU rank  P@2 drop
        0    A  1.0      0.5      -50.0         1             1         0
        1    B  0.5      0.5        0.0         2             2         0

    Source: leave-out-uniques as in :func:`leave_out_uniques`; documents are ranked as pt.Experiment's own scores rank
    them (float32 scores, ties by docno descending).
    """
    wanted = _wanted_columns(reuse)
    unknown = set(experiment_arguments) - set(inspect.signature(pt.Experiment).parameters)
    if unknown:
        raise InputError(f"Experiment: neither pt.Experiment nor this function has an argument {examples(sorted(unknown))}.")
    system_names = _names(retr_systems, names)
    topics_frame = pt.io.read_topics(topics) if isinstance(topics, str) else topics
    qrels_frame = qrels.to_frame() if isinstance(qrels, Qrels) else pt.io.read_qrels(qrels) if isinstance(qrels, str) else qrels
    systems = dict(zip(system_names, retr_systems.values() if isinstance(retr_systems, Mapping) else retr_systems, strict=True))
    taps = {name: Tap(name) for name, system in systems.items() if isinstance(system, pt.Transformer)}
    tapped = {name: system >> taps[name] if name in taps else system for name, system in systems.items()}
    arguments = experiment_arguments
    if isinstance(arguments.get("baseline"), int) or not isinstance(retr_systems, Mapping):
        given: Any = list(tapped.values())
        arguments = {**arguments, "names": system_names}
    else:
        given = tapped
    result = pt.Experiment(
        given, topics_frame, qrels_frame, eval_metrics, perquery=perquery, dataframe=dataframe, highlight=highlight,
        round=round, **arguments,
    )  # fmt: skip

    frames = {name: _results(name, system, taps, experiment_arguments) for name, system in systems.items()}
    judged = Qrels(qrels_frame[["qid", "docno", "label"]])
    if experiment_arguments.get("filter_by_topics", True):
        asked = set(topics_frame["qid"].astype(str))
        judged = judged.select([topic for topic in judged.topics if topic in asked])
    runs = _place(frames, field, teams, types, pooled)
    columns = _compute(runs, system_names, judged, _measures(eval_metrics), wanted, by, depth)
    return _Added(columns, system_names, round).to(result, perquery, dataframe)


def reuse_summary(result: Any) -> pd.DataFrame:
    """Return, per measure, how the ranking of the whole field changes: ``measure tau_b gamma max_drop`` and more.

    Args:
        result: what :func:`Experiment` returned; not a dict, which has no place for it.

    Returns:
        DataFrame: the ``summary`` of :class:`LeaveOutUniques`; empty when ``reuse`` had no ``"lou"``.
    """
    frame = result[0] if isinstance(result, tuple) else getattr(result, "data", result)
    kept = getattr(frame, "attrs", {}).get("reuse")
    if kept is None:
        raise InputError("reuse_summary: this is not a frame that ptr.Experiment returned, or its attrs were lost.")
    return pd.DataFrame(kept["summary"])


@dataclass(frozen=True)
class _Columns:
    """The added values: column suffix -> measure -> (systems,) means and (topics, systems) values."""

    means: dict[str, dict[str, NDArray]]
    topics: dict[str, dict[str, NDArray]]
    qids: list[str]
    attrs: dict[str, Any]


def _wanted_columns(reuse: str | Iterable[str]) -> list[str]:
    wanted = [reuse] if isinstance(reuse, str) else list(reuse)
    for value in wanted:
        choice("Experiment", "reuse", value, tuple(REUSE))
    return wanted


def _names(systems: Any, names: Sequence[str] | None) -> list[str]:
    if isinstance(systems, Mapping):
        found = [str(name) for name in systems]
    elif isinstance(systems, list | tuple):
        found = [str(name) for name in names] if names is not None else [str(system) for system in systems]
        if len(found) != len(systems):
            raise InputError(f"Experiment: {count(len(systems), 'system')} but {count(len(found), 'name')}. Give one name each.")
    else:
        raise InputError(f"Experiment: retr_systems must be a dict or a list, got {type(systems).__name__}.")
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise InputError(f"Experiment: {examples(twice)} names more than one system. Give a dict, or distinct names=.")
    return found


def _results(name: str, system: Any, taps: Mapping[str, Tap], arguments: Mapping[str, Any]) -> pd.DataFrame:
    if name not in taps:
        return system
    if not taps[name].empty:
        return taps[name].results()
    # save_mode="reuse": pt.Experiment evaluated the saved file and never ran the pipeline
    folder, form = arguments["save_dir"], arguments.get("save_format", "trec")
    ending = "res.gz" if form == "trec" else "mod" if isinstance(form, types.ModuleType) else "custom"
    path = os.path.join(folder, f"{name}.{ending}")
    if form == "trec":
        return pt.io.read_results(path)
    with pt.io.autoopen(path, "rb") as file:
        return form.load(file) if isinstance(form, types.ModuleType) else form[0](file)


def _place(
    frames: Mapping[str, pd.DataFrame],
    field: RunSet | None,
    teams: Labels | None,
    types: Labels | None,
    pooled: Labels | Collection[str] | bool | None,
) -> RunSet:
    teams = dict(zip(frames, frames, strict=True)) if teams is None else teams
    systems = RunSet.from_frames(frames, teams=teams, types=types, pooled=pooled, order=ORDER)
    if field is None:
        return systems
    if not isinstance(field, RunSet):
        raise InputError(f"Experiment: field must be a RunSet (read_runs makes one), got {type(field).__name__}.")
    both = [name for name in systems.names if name in field]
    if both:
        raise InputError(f"Experiment: {examples(both)} is a run of the field, too. Give the system another name.")
    return field.reorder(ORDER) | systems


def _measures(eval_metrics: Sequence[Any]) -> dict[str, ir_measures.Measure]:
    """Return column name -> measure, named as pt.Experiment names its columns."""
    found: dict[str, ir_measures.Measure] = {}
    for metric in eval_metrics:
        if isinstance(metric, ir_measures.Measure):
            found.setdefault(str(metric), metric)
        elif metric != "mrt":
            parsed = list(ir_measures.parse_trec_measure(metric))
            for measure in parsed:
                found[metric if len(parsed) == 1 else str(measure)] = measure
    return found


def _compute(
    runs: RunSet,
    systems: list[str],
    qrels: Qrels,
    measures: dict[str, ir_measures.Measure],
    wanted: list[str],
    by: str,
    depth: int,
) -> _Columns:
    means: dict[str, dict[str, NDArray]] = {}
    topics: dict[str, dict[str, NDArray]] = {}
    at = [runs.row(name) for name in systems]
    attrs: dict[str, Any] = {"summary": [], "settings": {"order": runs.order, "complete": True, "runs ranked": len(runs)}}

    def add(suffix: str, measure: str, by_mean: NDArray, by_topic: NDArray) -> None:
        means.setdefault(suffix, {})[measure] = by_mean[at]
        topics.setdefault(suffix, {})[measure] = by_topic[:, at]

    distinct = list(dict.fromkeys(measures.values()))
    lou = leave_out_uniques(runs, qrels, distinct, by=by, depth=depth) if "lou" in wanted else None
    full = score(runs, qrels, distinct) if lou is None else lou.scores
    if lou is not None:
        attrs["settings"].update(lou.settings)
        attrs["summary"] = lou.summary.to_dict("records")
    for column, measure in measures.items():
        m = full.measures.index(repr(measure))
        base, base_topic = full.means[m], full.values[m]
        add("", column, base, base_topic)
        if lou is not None:
            own, own_topic = lou.own_scores.means[m], lou.own_scores.values[m]
            add(" LOU", column, own, own_topic)
            add(" LOU %", column, _per_cent(own, base), _per_cent(own_topic, base_topic))
        if "rank" in wanted:
            add(" rank", column, _ranks(base), _ranks(base_topic))
            if lou is not None:
                after = rank_alone(base, own, lou.unit_of_run)
                after_topic = rank_alone(base_topic, own_topic, lou.unit_of_run)
                add(" LOU rank", column, after, after_topic)
                add(" drop", column, after - _ranks(base), after_topic - _ranks(base_topic))
        if "unjudged" in wanted:
            cutoff = cutoff_of(measure)
            rate = score(runs, qrels, [Unjudged if cutoff is None else Unjudged @ cutoff])
            add(" unjudged", column, rate.means[0], rate.values[0])
    return _Columns(means, topics, full.topics, attrs)


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    return pairs.ranks(np.round(scores, DECIMALS))


def _per_cent(after: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(100 * (after - before), before, out=np.full(before.shape, np.nan), where=before != 0)


class _Added:
    """Puts the columns into whatever pt.Experiment returned."""

    def __init__(self, columns: _Columns, systems: list[str], rounding: int | dict[str, int] | None):
        self.columns, self.systems, self.rounding = columns, systems, rounding

    def to(self, result: Any, perquery: bool | str, dataframe: bool) -> Any:
        """Return the same kind of result with the columns."""
        if perquery == "both":
            averages, per_topic = self.to(result[0], False, dataframe), self.to(result[1], True, dataframe)
            return type(result)(averages, per_topic) if dataframe else (averages, per_topic)
        if not dataframe:
            return self._topic_dict(result) if perquery else self._mean_dict(result)
        if perquery:
            return self._topic_frame(result)
        if hasattr(result, "data") and hasattr(result, "export"):
            # a Styler: the same styles on the wider frame
            return self._mean_frame(result.data).style.use(result.export())
        return self._mean_frame(result)

    def _mean_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        self._compare(frame)
        at = [self.systems.index(str(name)) for name in frame["name"]]
        added = {
            measure + suffix: self._rounded(values[measure][at], measure)
            for measure in self.columns.means[""]
            for suffix, values in self.columns.means.items()
            if suffix
        }
        wide = pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)
        wide.attrs = {**frame.attrs, "reuse": self.columns.attrs}
        return wide

    def _topic_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        wide = frame.copy()
        system = np.array([self.systems.index(str(name)) for name in frame["name"]], dtype=np.int64)
        row_of = {qid: t for t, qid in enumerate(self.columns.qids)}
        topic = np.array([row_of.get(qid, -1) for qid in frame["qid"]], dtype=np.int64)
        for suffix, by_measure in self.columns.topics.items():
            if not suffix:
                continue
            column = np.full(len(frame), np.nan)
            for measure, values in by_measure.items():
                # a topic without judgments has no value, as in pt.Experiment
                rows = np.flatnonzero((frame["measure"] == measure).to_numpy() & (topic >= 0))
                column[rows] = self._rounded(values[topic[rows], system[rows]], measure)
            whole = suffix in (" rank", " LOU rank", " drop") and not np.isnan(column).any()
            wide[suffix.strip()] = column.astype(np.int64) if whole else column
        wide.attrs = {**frame.attrs, "reuse": self.columns.attrs}
        return wide

    def _mean_dict(self, result: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            name: {**values, **{
                measure + suffix: self.columns.means[suffix][measure][self.systems.index(str(name))].item()
                for measure in self.columns.means[""] for suffix in self.columns.means if suffix
            }}
            for name, values in result.items()
        }  # fmt: skip

    def _topic_dict(self, result: dict[int, dict[str, dict[str, Any]]]) -> dict[int, dict[str, dict[str, Any]]]:
        row_of = {qid: t for t, qid in enumerate(self.columns.qids)}
        return {
            system: {
                qid: {**values, **{
                    measure + suffix: self.columns.topics[suffix][measure][row_of[qid], system].item()
                    for measure in self.columns.topics[""] for suffix in self.columns.topics if suffix and qid in row_of
                }}
                for qid, values in by_topic.items()
            }
            for system, by_topic in result.items()
        }  # fmt: skip

    def _rounded(self, values: NDArray, measure: str) -> NDArray:
        digits = self.rounding.get(measure) if isinstance(self.rounding, dict) else self.rounding
        return values if digits is None or values.dtype.kind != "f" else np.round(values, digits)

    def _compare(self, frame: pd.DataFrame) -> None:
        # both must rank documents alike, or the columns of one row would not be comparable
        if self.rounding is not None:
            return
        at = [self.systems.index(str(name)) for name in frame["name"]]
        for measure, values in self.columns.means[""].items():
            if measure not in frame.columns:
                continue
            theirs = frame[measure].to_numpy(dtype=np.float64)
            odd = np.flatnonzero(~(np.abs(theirs - values[at]) <= _SAME))
            if len(odd):
                i = int(odd[0])
                warnings.warn(
                    f"Experiment: {measure} of {frame['name'].iloc[i]!r} is {theirs[i]:.6f} by pt.Experiment and "
                    f"{values[at][i]:.6f} in the order of the added columns ({ORDER}): its provider breaks score ties another way, "
                    f"or averages over other topics. Compare the added columns of this measure among themselves.",
                    ReuseWarning,
                    stacklevel=5,
                )
