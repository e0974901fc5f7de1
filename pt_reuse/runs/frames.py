"""Turn result frames into rows of the coded field, and rows into a field, with every fault in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import InputError, ReuseWarning, columns, count, examples
from pt_reuse.engine import tokens
from pt_reuse.engine.field import DuplicateError, Field, RunRows, build_field
from pt_reuse.engine.order import TiedRankError, ranking
from pt_reuse.engine.tokens import Words
from pt_reuse.formats.numbers import plain_decimal


def check_frame(where: str, frame: Any, needed: Sequence[str]) -> None:
    """Raise unless `frame` is a DataFrame that has each of the columns needed once and no cell of them missing."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{where}: expected a DataFrame, got {type(frame).__name__}.")
    columns(where, "the frame", frame.columns, needed)
    twice = [column for column in needed if (frame.columns == column).sum() > 1]
    if twice:
        raise InputError(f"{where}: the frame has more than one column {examples(twice)}. Drop or rename one.")
    for column in ("qid", "docno", "label"):
        if column in needed and frame[column].isna().any():
            row = int(np.flatnonzero(frame[column].isna())[0])
            raise InputError(f"{where}, row {row:,}: the {column} is missing. Fill it in or drop the row.")


def text_codes(where: str, column: str, values: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """Number the names of a column of qids or docnos: (code of each row, the names)."""
    if pd.api.types.infer_dtype(values) in ("floating", "mixed-integer-float", "decimal", "complex", "boolean"):
        raise InputError(
            f"{where}: the {column}s must be text, got numbers such as {shown(values.iloc[0])}, which could be written "
            f"in more than one way. Read the column as text (dtype=str)."
        )
    # a dict, because pandas 2 takes names with bytes that are not UTF-8 for one another
    place: dict[str, int] = {}
    texts = (value if type(value) is str else str(value) for value in values.tolist())
    codes = np.fromiter((place.setdefault(text, len(place)) for text in texts), dtype=np.int64, count=len(values))
    odd = [name for name in place if not name or "\0" in name]
    if odd:
        raise InputError(f"{where}: {examples(odd)} cannot be a {column}; it must be text without NUL bytes.")
    return codes, list(place)


def text_words(where: str, column: str, names: Sequence[str]) -> Words:
    """Encode names as words."""
    try:
        return tokens.as_words(tokens.encode(names))
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where}: {error.object!r} cannot be a {column}; it must be text that UTF-8 can hold."
        ) from None


def shown(value: Any) -> str:
    """Write a cell for a message: a number without its numpy type, a long value cut."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 80 else text[:77] + "..."


def number_column(values: pd.Series) -> NDArray[np.float64]:
    """Return a column as float64, with NaN for what is no number."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
        return values.to_numpy(dtype=np.float64)
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: Any) -> float:
    if isinstance(value, str):
        return plain_decimal(value.encode("utf-8", "replace"))
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def run_names(function: str, argument: str, given: Any, what: str) -> list[str]:
    """Return the run names of a dict of run name -> frame or pipeline."""
    if not isinstance(given, Mapping) or not given:
        got = "an empty one" if isinstance(given, Mapping) else type(given).__name__
        raise InputError(f"{function}: {argument} must be a dict of run name -> {what}, got {got}.")
    names = [str(name) for name in given]
    text_words(function, "run name", names)
    odd = [name for name in names if not name or "\0" in name]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if odd or twice:
        problem = f"{examples(odd)} cannot be a run name" if odd else f"{examples(twice)} given more than once"
        raise InputError(f"{function}: {problem}. Name each run by a text of its own.")
    return names


def frame_rows(name: str, frame: pd.DataFrame, order: str) -> RunRows:
    """Turn a result frame into rows in ranking order."""
    where = f"run {name!r}"
    check_frame(where, frame, ("qid", "docno", "score", *(["rank"] if order == "rank" else [])))
    scores = _finite(where, frame, "score")
    ranks = _finite(where, frame, "rank") if order == "rank" else None
    group, topics = text_codes(where, "qid", frame["qid"])
    doc_codes, docnos = text_codes(where, "docno", frame["docno"])
    text_words(where, "qid", topics)
    docs = text_words(where, "docno", docnos).take(doc_codes, axis=0)
    grouping = np.argsort(group, kind="stable")
    group, docs, scores = group[grouping], docs.take(grouping, axis=0), scores[grouping]
    try:
        permutation = ranking(group, docs, scores, order, None if ranks is None else ranks[grouping])
    except TiedRankError as error:
        row = frame.iloc[int(grouping[error.row])]
        raise InputError(
            f"{where}: topic {row['qid']!r} has rank {row['rank']} twice, so order='rank' has no order to follow. Use "
            f"order='trec_eval' (by score) or order='file'."
        ) from None
    if permutation is not None:
        docs, scores = docs.take(permutation, axis=0), scores[permutation]
    starts = np.searchsorted(group, np.arange(len(topics) + 1))
    return RunRows(name, topics, starts, docs, scores)


def _finite(where: str, frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    values = number_column(frame[column])
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        row = frame.iloc[int(bad[0])]
        raise InputError(
            f"{where}: the {column} of topic {row['qid']!r}, document {row['docno']!r} must be a finite number, got "
            f"{shown(row[column])}. Mend the row or drop it."
        )
    return values


def code_runs(
    rows: Sequence[RunRows],
    function: str,
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
            f"{function}: run {rows[error.run].name!r} has document {error.docno!r} more than once for topic "
            f"{error.topic!r}{lines(error.run, error.topic, error.docno)}. Mend the run, or pass duplicates='best' to "
            f"keep its better-ranked occurrence."
        ) from None


def warn_of_twin_topics(topics: Sequence[str], *, stacklevel: int) -> None:
    """Warn when two topic ids are the same number in different writing, like 1 and 001."""
    twins: dict[int, list[str]] = {}
    for topic in topics:
        if topic.isascii() and topic.isdigit() and len(topic) < 19:
            twins.setdefault(int(topic), []).append(topic)
    mixed = [same for same in twins.values() if len(same) > 1]
    if mixed:
        warnings.warn(
            f"topic ids are strings, so {examples(mixed[0])} are different topics; {count(len(mixed), 'such group')} "
            f"among the runs. If they are meant to be one topic, write its id alike everywhere.",
            ReuseWarning,
            stacklevel=stacklevel,
        )
