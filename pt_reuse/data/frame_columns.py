"""Frames, tuples and dicts of results in PyTerrier's columns, and what may stand in these."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import columns, examples, shown, told
from pt_reuse._errors import Call, InputError, Part
from pt_reuse.arrays import tokens
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.numbers import plain_decimal

#: bytes of a qid or docno, in frames and in files
LONGEST_NAME = 1024
#: what pandas calls columns of numbers that have more than one way to be written
_NUMBERS = ("floating", "mixed-integer-float", "decimal", "complex", "boolean")


def check_frame(frame: Any, needed: Sequence[str]) -> None:
    """Raise unless `frame` is a DataFrame that has each of the columns needed once and no label missing."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"expected a DataFrame, got {type(frame).__name__}.")
    columns("the frame", frame.columns, needed)
    twice = [column for column in needed if (frame.columns == column).sum() > 1]
    if twice:
        raise InputError(f"the frame has more than one column {examples(twice)}. Drop or rename one.")
    if "label" in needed:
        _check_present("label", frame["label"])


def text_column(column: str, values: pd.Series) -> Words:
    """Return the names in a column of qids or docnos as words, one row per cell."""
    texts = values.tolist()
    if not set(map(type, texts)) <= {str}:
        _check_present(column, values)
        if pd.api.types.infer_dtype(values) in _NUMBERS:
            raise InputError(
                f"the {column}s must be text, got numbers such as {shown(values.iloc[0])}, which could be written "
                f"in more than one way. Read the column as text (dtype=str)."
            )
        texts = [str(value) for value in texts]
    words = _cut(column, texts)
    if words is None or not words[:, 0].all():
        odd = [name for name in dict.fromkeys(texts) if not name or "\0" in name]
        raise InputError(f"{examples(odd)} cannot be a {column}; it must be text without NUL bytes.")
    return words


def text_groups(column: str, values: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """Number the names in a column, in order of appearance: (code of each row, the names)."""
    words = text_column(column, values)
    codes, first = tokens.factorize(words)
    return codes, tokens.decode(tokens.as_tokens(words.take(first, axis=0)))


def text_words(column: str, names: Sequence[str]) -> Words:
    """Return names of a column of qids or docnos as words."""
    words = _cut(column, names)
    if words is None:
        odd = [name for name in names if "\0" in name]
        raise InputError(f"{examples(odd)} cannot be a {column}; it must be text without NUL bytes.")
    return words


def check_text(what: str, names: Iterable[str]) -> None:
    """Raise where a name is none that UTF-8 can hold; bytes that were not UTF-8 when read are let pass."""
    for name in names:
        if not _has_bytes(name):
            raise InputError(f"{shown(name)} cannot be a {what}; it must be text that UTF-8 can hold.")
        tokens.as_texts([name.encode("utf-8", "surrogateescape")])


def _cut(column: str, names: Sequence[str]) -> Words | None:
    # all names as one text, which is encoded at once and cut again; None where a name has a NUL byte of its own
    if not names:
        return np.zeros((0, 1), dtype="<u8")
    try:
        joined = "\0".join(names).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        check_text(column, names)
        raise
    buffer = np.frombuffer(joined + bytes(8), dtype=np.uint8)
    ends = np.append(np.flatnonzero(buffer[: len(joined)] == 0), len(joined))
    if len(ends) != len(names):
        return None
    starts = np.append(0, ends[:-1] + 1)
    longest = int((ends - starts).max())
    if longest > LONGEST_NAME:
        name = names[int(np.argmax(ends - starts))]
        shortened = name[:20] + "..."
        raise InputError(f"a {column} of {longest:,} bytes, {shortened!r}; the longest possible has {LONGEST_NAME:,}.")
    return tokens.words_at(buffer, starts, ends)


def _check_present(column: str, values: pd.Series) -> None:
    missing = np.flatnonzero(values.isna())
    if len(missing):
        raise InputError(f"the {column} is missing. Fill it in or drop the row.", place=f"row {missing[0]:,}")


def _has_bytes(name: str) -> bool:
    try:
        name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


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


#: what ir_measures and ir_datasets call a column -> what PyTerrier calls it
OURS = {"query_id": "qid", "doc_id": "docno", "relevance": "label", "iter": "iteration"}
_THEIRS = {ours: theirs for theirs, ours in OURS.items()}


def in_our_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with PyTerrier's names of columns; one that has both names of a column keeps both."""
    named = {theirs: ours for theirs, ours in OURS.items() if theirs in frame.columns and ours not in frame.columns}
    return frame.rename(columns=named) if named else frame


def has_fields(item: Any, *columns: str) -> bool:
    """Return whether a value is a named tuple with fields for some of PyTerrier's columns, by either name."""
    fields = _fields(item)
    return all(column in fields or _THEIRS.get(column, column) in fields for column in columns)


def _fields(item: Any) -> tuple[str, ...]:
    return getattr(type(item), "_fields", ()) if isinstance(item, tuple) else ()


def frame_of_tuples(items: Sequence[Any]) -> pd.DataFrame:
    """Return the fields of named tuples as columns, those that all of them have; each is one of one row."""
    kinds = [_fields(item) for item in {type(item): item for item in items}.values()]
    if len(kinds) == 1:
        return in_our_columns(pd.DataFrame(items, columns=list(kinds[0])))
    shared = [field for field in kinds[0] if all(field in fields for fields in kinds)]
    return in_our_columns(pd.DataFrame({field: [getattr(item, field) for item in items] for field in shared}))


def is_nested(value: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is one of topic -> document -> number, as ir_measures and pytrec_eval take it."""
    return bool(value) and all(
        # the first of a topic tells what all are
        isinstance(inner, Mapping) and not _holds_more(next(iter(inner.values()), None))
        for inner in value.values()
    )


def _holds_more(cell: Any) -> bool:
    return isinstance(cell, Iterable) and not isinstance(cell, str)


def frame_of_nested(value: Mapping[Any, Mapping[Any, Any]], column: str) -> pd.DataFrame:
    """Return topic -> document -> number as ``qid docno`` and a column of the numbers."""
    qids = list(chain.from_iterable([qid] * len(inner) for qid, inner in value.items()))
    docnos = list(chain.from_iterable(value.values()))
    numbers = list(chain.from_iterable(inner.values() for inner in value.values()))
    return pd.DataFrame({"qid": qids, "docno": docnos, column: numbers})


#: what a frame of results, or the tuples of a run, must have
COLUMNS = ("qid", "docno", "score")
#: what to do with the file of one run
READ_FILES: tuple[Part, ...] = (" Files are read by ", Call("read_runs"), ", several into one field.")


def result_frame(results: Any) -> pd.DataFrame:
    """Return the results of one run as a frame with PyTerrier's names of columns; what they hold is not checked.

    Args:
        results: a frame with ``qid docno score`` or ``query_id doc_id score``, tuples with such fields, or a mapping of
            topic -> document -> score.

    Raises:
        InputError: something else, or no tuple at all.
    """
    if isinstance(results, pd.DataFrame):
        return in_our_columns(results)
    if isinstance(results, Mapping):
        if is_nested(results) or not results:
            return frame_of_nested(results, "score")
        raise _no_results(f"a dict of {told(next(iter(results)))} -> {_type(next(iter(results.values())))}")
    if isinstance(results, str | os.PathLike):
        raise _no_results(told(results), *READ_FILES)
    if isinstance(results, pt.Transformer | bytes) or not isinstance(results, Iterable):
        raise _no_results(told(results) if results is None else _type(results))
    items = list(results)
    if not items:
        raise InputError(
            "there is no result in it. Where it is an iterator that was read before, make it anew; for a run without "
            "results give an empty frame."
        )
    odd = [item for item in items if not has_fields(item, *COLUMNS)]
    if odd:
        raise _no_results(f"{_type(results)} of {shown(odd[0])}")
    return frame_of_tuples(items)


def _no_results(got: str, *more: Part) -> InputError:
    return InputError(
        "expected the results of a run: a frame with the columns 'qid', 'docno' and 'score', ScoredDoc tuples, or a "
        f"dict of topic -> document -> score, got {got}.",
        *more,
    )


def _type(value: Any) -> str:
    return type(value).__name__


def no_results_yet(argument: str) -> InputError:
    """Return the error that pipelines were given, which have no results yet."""
    return InputError(
        "these are pipelines, which have no results before they are run. Run them first: ",
        Call("RunSet.from_pipelines", "{name: pipeline}, topics"),
        ".",
        argument=argument,
    )
