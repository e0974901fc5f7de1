"""Code runs as a field: result frames into rows, and rows into a field, with every fault in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, located, warn
from pt_reuse.engine.field import DuplicateError, Field, RunRows, build_field
from pt_reuse.engine.order import TiedRankError, ranking
from pt_reuse.formats.frames import check_frame, number_column, shown, text_column, text_groups, text_words


def run_names(argument: str, given: Any, what: str) -> list[str]:
    """Return the run names of a dict of run name -> frame or pipeline."""
    if not isinstance(given, Mapping) or not given:
        got = "an empty one" if isinstance(given, Mapping) else type(given).__name__
        raise InputError(f"{argument} must be a dict of run name -> {what}, got {got}.")
    names = [str(name) for name in given]
    text_words("run name", names)
    odd = [name for name in names if not name or "\0" in name]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if odd or twice:
        problem = f"{examples(odd)} cannot be a run name" if odd else f"{examples(twice)} given more than once"
        raise InputError(f"{problem}. Name each run by a text of its own.")
    return names


def frame_rows(name: str, frame: pd.DataFrame, order: str) -> RunRows:
    """Turn a result frame into rows in ranking order."""
    with located(f"run {name!r}"):
        return _frame_rows(name, frame, order)


def _frame_rows(name: str, frame: pd.DataFrame, order: str) -> RunRows:
    check_frame(frame, ("qid", "docno", "score", *(["rank"] if order == "rank" else [])))
    scores = _finite(frame, "score")
    ranks = _finite(frame, "rank") if order == "rank" else None
    group, topics = text_groups("qid", frame["qid"])
    docs = text_column("docno", frame["docno"])
    grouping = np.argsort(group, kind="stable")
    group, docs, scores = group[grouping], docs.take(grouping, axis=0), scores[grouping]
    try:
        permutation = ranking(group, docs, scores, order, None if ranks is None else ranks[grouping])
    except TiedRankError as error:
        row = frame.iloc[int(grouping[error.row])]
        raise InputError(
            f"topic {row['qid']!r} has rank {row['rank']} twice, so order='rank' has no order to follow. Use "
            f"order='trec_eval' (by score) or order='file'."
        ) from None
    if permutation is not None:
        docs, scores = docs.take(permutation, axis=0), scores[permutation]
    starts = np.searchsorted(group, np.arange(len(topics) + 1))
    return RunRows(name, topics, starts, docs, scores)


def _finite(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    values = number_column(frame[column])
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        row = frame.iloc[int(bad[0])]
        raise InputError(
            f"the {column} of topic {row['qid']!r}, document {row['docno']!r} must be a finite number, got "
            f"{shown(row[column])}. Mend the row or drop it."
        )
    return values


def code_runs(
    rows: Sequence[RunRows],
    *,
    duplicates: str,
    threads: int = 1,
    lines: Callable[[int, str, str], str] = lambda run, topic, docno: "",
) -> Field:
    """Code runs as one field; a duplicate document is an error, `lines` tells where it stands."""
    try:
        return build_field(rows, keep_best=duplicates == "best", threads=threads)
    except DuplicateError as error:
        raise InputError(
            f"run {rows[error.run].name!r} has document {error.docno!r} more than once for topic "
            f"{error.topic!r}{lines(error.run, error.topic, error.docno)}. Mend the run, or pass duplicates='best' to "
            f"keep its better-ranked occurrence."
        ) from None


def warn_of_twin_topics(topics: Sequence[str]) -> None:
    """Warn when two topic ids are the same number in different writing, like 1 and 001."""
    twins: dict[int, list[str]] = {}
    for topic in topics:
        if topic.isascii() and topic.isdigit() and len(topic) < 19:
            twins.setdefault(int(topic), []).append(topic)
    mixed = [same for same in twins.values() if len(same) > 1]
    if mixed:
        warn(
            f"topic ids are strings, so {examples(mixed[0])} are different topics; {count(len(mixed), 'such group')} "
            f"among the runs. If they are meant to be one topic, write its id alike everywhere.",
        )
