"""Scores given as a frame, one row for each run, topic and measure, as pt.Experiment returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import columns, count, examples, listed, shown, told
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.scoring.measures import canonical_name

_COLUMNS = ("name", "qid", "measure", "value")
#: what becomes of a topic that a run lacks
MISSING = ("error", "zero", "leave_out")


@dataclass(frozen=True)
class ScoreArrays:
    """Scores with their labels, each in the order in which it first stands in the frame.

    Attributes:
        names: of the runs.
        topics: the topics.
        measures: as ir_measures writes them; one it does not know, as given.
        values: (measures, topics, runs); 0 where a run lacks a topic.
        has_topic: (topics, runs) whether the run has the topic.
    """

    names: list[str]
    topics: list[str]
    measures: list[str]
    values: NDArray[np.float64]
    has_topic: NDArray[np.bool_]


def score_arrays(frame: Any, missing: str) -> ScoreArrays:
    """Return the scores of a frame with the columns ``name qid measure value``."""
    if not isinstance(frame, pd.DataFrame):
        hint = " pt.Experiment returns one with perquery=True and dataframe=True." if isinstance(frame, dict) else ""
        raise InputError(
            Argument("frame"),
            f" must be a DataFrame with {listed(_COLUMNS)}, got {told(frame)}.{hint}",
            argument="frame",
        )
    columns("frame", frame.columns, _COLUMNS)
    if frame.empty:
        raise InputError(Argument("frame"), " has no row.", argument="frame")
    values = _numbers(frame)
    coded = [pd.factorize(_texts(frame, column)) for column in _COLUMNS[:3]]
    (run, names), (topic, topics), (measure, given) = coded
    measures = [canonical_name(name) for name in given]
    _check_measures(list(given), measures)
    shape = len(measures), len(topics), len(names)
    cell = np.ravel_multi_index((measure, topic, run), shape)
    _check_once(frame, cell)
    there = np.zeros(shape, dtype=bool)
    there.ravel()[cell] = True
    found = np.zeros(shape)
    found.ravel()[cell] = values
    has_topic = np.asarray(there.any(axis=0))
    arrays = ScoreArrays(list(names), list(topics), measures, found, has_topic)
    _check_all_there(there, arrays, missing)
    return arrays


def _texts(frame: pd.DataFrame, column: str) -> NDArray[Any]:
    """Return the cells of a column as texts: of whole numbers, such as topics often are, the digits."""
    cells = frame[column].to_numpy(dtype=object)
    odd = [cell for cell in pd.unique(cells) if not _is_name(cell) and not isinstance(cell, ir_measures.Measure)]
    if odd:
        what = "is empty in some row" if pd.isna(odd[0]) or odd[0] == "" else f"holds {shown(odd[0])}"
        raise InputError(f"column {column!r} {what}. Give every row a text there.", argument="frame")
    return np.array([str(cell) for cell in cells], dtype=object)


def _is_name(cell: Any) -> bool:
    return isinstance(cell, str | int | np.integer) and not isinstance(cell, bool) and cell != ""


def _numbers(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return the values, which must be finite numbers, or say which row has another."""
    column = frame["value"]
    kind = pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column)
    values = np.full(len(frame), np.nan) if kind else column.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if not len(bad):
        return values
    row = frame.iloc[int(bad[0])]
    if kind:
        raise InputError(f"column 'value' must hold numbers, got {shown(row['value'])}.", argument="frame")
    raise InputError(
        f"{len(bad):,} of {count(len(frame), 'value')} not finite, the first {shown(row['value'])}: run "
        f"{shown(row['name'])}, topic {shown(row['qid'])}, measure {shown(row['measure'])}. A mean would not be. "
        "Score it 0, or take the measure out.",
        argument="frame",
    )


def _check_measures(given: list[str], measures: list[str]) -> None:
    """Raise where a measure goes under two names."""
    for name in measures:
        same = [word for word, known in zip(given, measures, strict=True) if known == name]
        if len(same) > 1:
            problem = f"the measures {listed([shown(word) for word in same])} are the same. Keep one of them."
            raise InputError(problem, argument="frame")


def _check_once(frame: pd.DataFrame, cell: NDArray[np.int64]) -> None:
    """Raise where two rows say the score of one run on one topic by one measure."""
    again = pd.Series(cell).duplicated().to_numpy()
    if again.any():
        row = frame.iloc[int(np.flatnonzero(again)[0])]
        raise InputError(
            f"{count(int(again.sum()), 'row')} too many: run {shown(row['name'])} has topic {shown(row['qid'])} and "
            f"measure {shown(row['measure'])} more than once. Give each one row; pipelines of one name need names of "
            "their own.",
            argument="frame",
        )


def _check_all_there(there: NDArray[np.bool_], arrays: ScoreArrays, missing: str) -> None:
    """Raise where a run lacks a topic and this is an error, or has it by some of the measures only."""
    has, (n_measures, n_topics, n_runs) = arrays.has_topic, there.shape
    lacking = ~there if missing == "error" else ~there & has
    if not lacking.any():
        return
    m, t, r = (int(at[0]) for at in np.nonzero(lacking))
    whole = not has[t, r]
    parts = [
        f"{int(lacking.sum()):,} of {n_measures * n_topics * n_runs:,} scores are missing, the first of run "
        f"{shown(arrays.names[r])}, topic {shown(arrays.topics[t])}, measure {shown(arrays.measures[m])}. ",
    ]
    if not whole:
        problem = f"The run has the topic by {count(int(there[:, t, r].sum()), 'other measure')}. Give the score."
        raise InputError(*parts, problem, argument="frame")
    without = [arrays.names[run] for run in np.flatnonzero(~has.all(axis=0))]
    raise InputError(
        *parts,
        f"{count(len(without), 'run')} without a topic: {examples(without)}. ",
        Option("missing", "zero"),
        " counts it 0, ",
        Option("missing", "leave_out"),
        " averages over the topics that a run has.",
        argument="frame",
    )
