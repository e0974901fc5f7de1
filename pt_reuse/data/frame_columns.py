"""Columns of frames: names, numbers and labels as they are used here, whatever types they came in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, MappingView, Sequence, Set, Sized
from datetime import datetime, timezone
from itertools import chain, islice, repeat
from numbers import Number
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import columns, count, examples, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.tokens import Words, as_tokens, words_at
from pt_reuse.errors import InputError, located, warn

_U = np.uint64
_ALL, _BYTE, _TOP = _U(2**64 - 1), _U(8), _U(56)
_ZEROS, _LOW7, _HIGH = _U(0x3030303030303030), _U(0x7F7F7F7F7F7F7F7F), _U(0x8080808080808080)
_DOTS = _U(0x1E1E1E1E1E1E1E1E)  # "." ^ "0" in every byte
_SIX = _U(0x7676767676767676)  # added to a byte sets its top bit when it is above 9
_PLACES = _U(0x0706050403020100)
_MOST = 16  # characters that are read as two words
_LAST = np.array([(2**64 - 1) & ~((1 << 8 * (8 - min(n, 8))) - 1) for n in range(_MOST + 1)], dtype=np.uint64)
_BEFORE = np.array([(2**64 - 1) & ~((1 << 8 * (16 - max(n, 8))) - 1) for n in range(_MOST + 1)], dtype=np.uint64)
_TENS = np.array([10.0**n for n in range(_MOST)])  # exact in float64
_MOST_LONG = 40  # characters that are read as words with more digits than float64 has
_HUNDRED_MILLION = np.longdouble(10**8)
_TENS_LONG = np.array([np.longdouble(f"1e{n}") for n in range(_MOST_LONG)])
#: eleven roundings to 64 bits at most make an error of less than 2^-60
_AROUND = (1 - np.longdouble(2) ** -60, 1 + np.longdouble(2) ** -60)
_EXACT = np.finfo(np.longdouble).nmant >= 63  # whether there are 64 bits: not so on every machine
_BLOCK = 1 << 15  # rows at a time, so that what lies between two steps stays in the processor's cache
_LONG = 64  # bytes of a number; longer ones are not gathered into a table
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse_numbers(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read the numbers at [starts, ends): (values, rows that hold no finite decimal number)."""
    values = np.empty(len(starts))
    plain = np.empty(len(starts), dtype=np.bool_)
    loads = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))  # a word at every byte
    for at in range(0, len(starts), _BLOCK):
        block = slice(at, at + _BLOCK)
        _read_block(buffer, loads, starts[block], ends[block], values[block], plain[block])
    rest = np.flatnonzero(~plain)
    for at in range(0, len(rest) if _EXACT else 0, _BLOCK):
        some = rest[at : at + _BLOCK]
        values[some], plain[some] = _read_long(buffer, loads, starts[some], ends[some])
    rest = rest[~plain[rest]]
    if len(rest):
        values[rest] = _one_by_one(buffer, starts[rest], ends[rest])
    return values, rest[~np.isfinite(values[rest])]


def plain_decimal(token: bytes) -> float:
    """Read one number; NaN for all that is not a decimal number, such as nan, inf, 1_0 and 0x1."""
    return float(token) if _NUMBER.fullmatch(token) else np.nan


def _read_block(
    buffer: NDArray[np.uint8],
    loads: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    values: NDArray[np.float64],
    plain: NDArray[np.bool_],
) -> None:
    # Fill `values` where the token is a sign, at most 16 characters, digits and one dot; mark these rows in `plain`.
    # What is the same in all rows (mostly the length, the place of the dot) is held in arrays of one element.
    lengths = ends - starts
    first = buffer[starts]
    negative = None
    if int(first.min()) < 46:
        negative = first == 45
        lengths -= negative | (first == 43)
    longest = int(lengths.max())
    kept = _if_alike(np.minimum(lengths, _MOST))
    low = (loads[ends - 8] ^ _ZEROS) & _LAST[kept]  # the digits are 0..9 now, and so is what stands in front
    high = (loads[ends - 16] ^ _ZEROS) & _BEFORE[kept] if longest > 8 else np.zeros(1, dtype=np.uint64)

    low_dot, high_dot = _if_alike(_dots(low)), _if_alike(_dots(high))
    in_low = (low_dot != 0).astype(np.uint64)
    in_high = (high_dot != 0).astype(np.uint64)
    decimals = ((low_dot * _PLACES) >> _TOP) + ((high_dot * _PLACES) >> _TOP) + _BYTE * in_high
    # close the gap of the dot: what stands before it moves up by one byte; a second dot stays and is no digit
    low = _close(low, (low_dot << _BYTE) - in_low) | ((high >> _TOP) * in_low)
    high = _close(high, np.where(in_low != 0, _ALL, (high_dot << _BYTE) - in_high))

    wrong = low | (low + _SIX) | high | (high + _SIX)
    whole = _eight_digits(low)
    if longest > 8:
        whole = _eight_digits(high) * _U(100_000_000) + whole
    np.divide(whole, _TENS[decimals.astype(np.int64) & 15], out=values)
    if negative is not None:
        np.negative(values, out=values, where=negative)
    np.equal(wrong & _HIGH, 0, out=plain)
    plain &= lengths > (in_low | in_high).astype(np.int64)  # one digit at least
    if longest > _MOST:
        plain &= lengths <= _MOST


def _read_long(
    buffer: NDArray[np.uint8], loads: NDArray[np.uint64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    # (values, whether each is the nearest float64) of tokens of a sign, at most 40 characters, digits and one dot
    first = buffer[starts]
    negative = first == 45
    lengths = ends - starts - (negative | (first == 43))
    n_words = -(-min(int(lengths.max()), _MOST_LONG) // 8)
    words, dots = [], []
    for w in range(n_words):  # from the end
        held = np.clip(lengths - 8 * w, 0, 8)
        words.append((loads[ends - 8 * (w + 1)] ^ _ZEROS) & _LAST[held])
        dots.append(_dots(words[-1]))
    words.append(np.zeros(1, dtype=np.uint64))

    value = np.zeros(len(starts), dtype=np.longdouble)
    behind = [np.zeros(len(starts), dtype=np.bool_)]  # whether the dot stands in a word nearer to the end
    decimals, wrong = np.zeros(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=np.uint64)
    for w, dot in enumerate(dots):
        here = dot != 0
        decimals += np.where(here, ((dot * _PLACES) >> _TOP).astype(np.int64) + 8 * w, 0)
        behind.append(behind[-1] | here)
    for w in reversed(range(n_words)):
        # close the gap of the dot: what stands before it moves up by one byte
        through = np.where(behind[w], _ALL, (dots[w] << _BYTE) - (dots[w] != 0).astype(np.uint64))
        word = _close(words[w], through) | ((words[w + 1] >> _TOP) * behind[w + 1])
        wrong |= word | (word + _SIX)
        value = value * _HUNDRED_MILLION + _eight_digits(word)
    value /= _TENS_LONG[np.minimum(decimals, _MOST_LONG - 1)]
    low, high = (value * factor for factor in _AROUND)
    nearest = low.astype(np.float64)
    known = (wrong & _HIGH == 0) & (nearest == high.astype(np.float64))
    known &= (lengths > behind[-1]) & (lengths <= _MOST_LONG)
    return np.where(negative, -nearest, nearest), known


def _one_by_one(buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    if int((ends - starts).max()) <= _LONG:
        tokens = as_tokens(words_at(buffer, starts, ends)).tolist()
    else:
        tokens = [buffer[start:end].tobytes() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    # nothing but these characters left: float() cannot read them as nan, inf or 1_0
    if not b"".join(tokens).translate(None, b"0123456789.+-eE"):
        try:
            return np.fromiter(map(float, tokens), dtype=np.float64, count=len(tokens))
        except ValueError:
            pass
    return np.array([plain_decimal(token) for token in tokens], dtype=np.float64)


def _if_alike(values: NDArray) -> NDArray:
    # one element instead of many equal ones
    return values[:1] if (values == values[0]).all() else values


def _dots(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # the lowest bit of each byte that is a dot
    other = word ^ _DOTS
    return (~(((other & _LOW7) + _LOW7) | other | _LOW7)) >> _U(7)


def _close(word: NDArray[np.uint64], through: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # drop the last byte under the mask `through` and move the others under it up by one
    return (word & ~through) | ((word << _BYTE) & through)


def _eight_digits(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # pairs, then fours, then eights: three multiplications for eight digits (first byte = first digit)
    value = (word * _U(2561)) >> _BYTE
    value = (value & _U(0x00FF00FF00FF00FF)) * _U(6553601) >> _U(16)
    return (value & _U(0x0000FFFF0000FFFF)) * _U(42949672960001) >> _U(32)


#: bytes of a qid or docno, in frames and in files
LONGEST_NAME = 1024
#: whole numbers from which on none is a name
_LARGEST_ID = 10**100


def check_frame(frame: Any, needed: Sequence[str]) -> None:
    """Raise unless `frame` is a DataFrame that has each of the columns needed once and no label missing."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"expected a DataFrame, got {type(frame).__name__}.")
    columns("the frame", frame.columns, needed)
    twice = [column for column in needed if (frame.columns == column).sum() > 1]
    if twice:
        raise InputError(f"the frame has more than one column {examples(twice)}. Drop or rename one.")
    if "label" in needed and len(missing := np.flatnonzero(frame["label"].isna())):
        raise InputError("the label is missing. Fill it in or drop the row.", place=f"row {missing[0]:,}")


def as_ids(column: str, values: Iterable[Any], topics: Iterable[Any] | None = None) -> list[str]:
    """Return names as texts: bytes are read as UTF-8, whole numbers as they are written, and all else is refused.

    What is no name is told by its row, and by its topic where `topics` has that of each row.
    """
    names = list(values)
    if set(map(type, names)) <= {str}:
        return names
    try:
        return [as_id(column, value) for value in names]
    except InputError:
        _say_which(lambda value: as_id(column, value), names, topics)
        raise


def _say_which(check: Callable[[Any], Any], names: Sequence[Any], topics: Iterable[Any] | None) -> None:
    # raise what is wrong with one of the names again, with its place
    for row, (name, topic) in enumerate(zip(names, repeat(None) if topics is None else topics, strict=False)):
        topic = topic.decode("utf-8", "replace") if isinstance(topic, bytes) else topic
        with located(f"row {row:,}" if topics is None else f"topic {shown(topic)}, row {row:,}"):
            check(name)


def as_pairs(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return topic and document of each row of a frame as texts."""
    qids = as_ids("qid", frame["qid"].tolist())
    return qids, as_ids("docno", frame["docno"].tolist(), qids)


def as_id(column: str, value: Any) -> str:
    """Return one name as :func:`as_ids` does."""
    return value if type(value) is str else _as_id(column, value)


def _as_id(column: str, value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        # Python writes no number of thousands of digits
        return str(int(value)) if abs(int(value)) < _LARGEST_ID else _refuse_id(column, "a number", value)
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"the {column} is bytes that are no UTF-8, {shown(bytes(value))}. Decode them.") from error
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        raise InputError(f"the {column} is missing. Fill it in or drop the row.")
    if isinstance(value, Number | np.number | np.bool_):
        return _refuse_id(column, "a number that could be written in more than one way", value)
    return _refuse_id(column, f"a {type(value).__name__}", value)


def _refuse_id(column: str, what: str, value: Any) -> NoReturn:
    raise InputError(f"the {column} must be text, got {shown(value)}, {what}. Give it as text (dtype=str).")


def text_column(column: str, values: pd.Series, topics: pd.Series | None = None) -> Words:
    """Return the names in a column of qids or docnos as words, one row per cell; errors name its topic, if given."""
    names = as_ids(column, values.tolist(), topics)
    try:
        return text_words(column, names, empty=False)
    except InputError:
        _say_which(lambda name: text_words(column, [name], empty=False), names, topics)
        raise


def text_groups(column: str, values: pd.Series, topics: pd.Series | None = None) -> tuple[NDArray[np.int64], list[str]]:
    """Number the names in a column, in order of appearance: (code of each row, the names)."""
    words = text_column(column, values, topics)
    codes, first = tokens.factorize(words)
    return codes, tokens.decode(tokens.as_tokens(words.take(first, axis=0)))


def text_words(column: str, names: Sequence[str], *, empty: bool = True) -> Words:
    """Return names of a column of qids or docnos as words; an empty one is refused where it may not be."""
    if not names:
        return np.zeros((0, 1), dtype="<u8")
    try:
        # all names as one text, which is encoded at once and cut again
        joined = "\0".join(names).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        check_text(column, names)
        raise
    buffer = np.frombuffer(joined + bytes(8), dtype=np.uint8)
    ends = np.append(np.flatnonzero(buffer[: len(joined)] == 0), len(joined))
    starts = np.append(0, ends[:-1] + 1)
    if len(ends) != len(names) or not (empty or (ends > starts).all()):
        odd = [name for name in dict.fromkeys(names) if "\0" in name or not (empty or name)]
        raise InputError(f"{examples(odd)} cannot be a {column}; it must be text without NUL bytes.")
    longest = int((ends - starts).max())
    if longest > LONGEST_NAME:
        start = names[int(np.argmax(ends - starts))][:20] + "..."
        raise InputError(f"a {column} of {longest:,} bytes, {start!r}; the longest possible has {LONGEST_NAME:,}.")
    return tokens.words_at(buffer, starts, ends)


def check_text(what: str, names: Iterable[str]) -> None:
    """Raise where a name is none that UTF-8 can hold; bytes that were not UTF-8 when read are let pass."""
    for name in names:
        try:
            tokens.as_texts([name.encode("utf-8", "surrogateescape")])
        except UnicodeEncodeError:
            raise InputError(f"{shown(name)} cannot be a {what}; it must be text that UTF-8 can hold.") from None


#: characters that nobody sees at the end of a name, besides white space
_UNSEEN = "\ufeff\u200b"


def warn_of_white_space(topics: Iterable[str], docs: Words) -> None:
    """Warn of white space around names, which makes others of them."""
    odd = np.unique(tokens.as_tokens(docs.take(tokens.with_odd_ends(docs), axis=0)))
    for what, names in (("topic id", topics), ("docno", tokens.decode(odd))):
        spaced = [name for name in names if name.strip().strip(_UNSEEN) != name]
        if spaced:
            warn(
                f"{count(len(spaced), what)} with white space at an end, such as {shown(spaced[0])}. It is part of the "
                "name, which equals none without it. Strip the column if it should not be."
            )


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


#: what ir_measures and ir_datasets, ranx, and BEIR call a column -> what PyTerrier calls it
OURS = {
    "query_id": "qid", "doc_id": "docno", "relevance": "label", "iter": "iteration",
    "q_id": "qid",
    "query-id": "qid", "corpus-id": "docno", "corpus_id": "docno",
}  # fmt: skip
#: what trectools calls them; PyTerrier has a `query`, too, and its text is no name
_TRECTOOLS = {"query": "qid", "docid": "docno", "rel": "label", "system": "name", "q0": "iteration"}
#: names of documents beside which ranx and BEIR call a label `score`; those of ir_measures are of results, too
_LABELLED_SCORE = ({"q_id", "doc_id"}, {"query-id", "corpus-id"}, {"query_id", "corpus_id"})


def in_our_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with PyTerrier's names of columns; one that has both names of a column keeps both."""
    there = set(frame.columns)
    theirs = OURS
    if {"query", "docid"} <= there and not there & {"qid", "docno", *OURS}:
        theirs = _TRECTOOLS
    named: dict[Any, str] = {}
    for name, ours in theirs.items():
        if name in there and ours not in there and ours not in named.values():
            named[name] = ours
    return frame.rename(columns=named) if named else frame


def in_judgment_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of judgments with PyTerrier's names of columns, `score` being the label where a tool says so."""
    found = in_our_columns(frame)
    labelled = any(names <= set(frame.columns) for names in _LABELLED_SCORE)
    if not labelled or "label" in found or (found.columns == "score").sum() != 1:
        return found
    if not_labels(number_column(found["score"])).any():
        return found
    return found.rename(columns={"score": "label"})


def has_fields(item: Any, *columns: str) -> bool:
    """Return whether a value is a named tuple with fields for some of PyTerrier's columns, by either name."""
    fields = getattr(type(item), "_fields", ()) if isinstance(item, tuple) else ()
    return bool(fields) and {OURS.get(field, field) for field in fields} >= set(columns)


def frame_of_tuples(items: Sequence[Any]) -> pd.DataFrame:
    """Return the fields of named tuples as columns, those that all of them have."""
    kinds = {type(item): item._fields for item in items}
    first, *others = kinds.values()
    if not others:
        return in_our_columns(pd.DataFrame(items, columns=list(first)))
    shared = [field for field in first if all(field in fields for fields in others)]
    return in_our_columns(pd.DataFrame({field: [getattr(item, field) for item in items] for field in shared}))


def is_nested(value: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is one of topic -> document -> number, as ir_measures and pytrec_eval take it."""

    def of_numbers(inner: Any) -> bool:
        # the first of a topic tells what all are
        first = next(iter(inner.values()), None) if isinstance(inner, Mapping) else ()
        return isinstance(first, str) or not isinstance(first, Iterable)

    return bool(value) and all(map(of_numbers, value.values()))


def frame_of_nested(value: Mapping[Any, Mapping[Any, Any]], column: str) -> pd.DataFrame:
    """Return topic -> document -> number as ``qid docno`` and a column of the numbers."""
    qids = list(chain.from_iterable([qid] * len(inner) for qid, inner in value.items()))
    docnos = list(chain.from_iterable(value.values()))
    numbers = list(chain.from_iterable(inner.values() for inner in value.values()))
    return pd.DataFrame({"qid": qids, "docno": docnos, column: numbers})


#: what a frame of results, or the tuples of a run, must have
COLUMNS = ("qid", "docno", "score")
#: what to do with the file of one run
_READ_FILES = " Files are read by read_runs(), several into one field."


def result_frame(results: Any) -> pd.DataFrame:
    """Return the results of one run as a frame with PyTerrier's names of columns; what they hold is not checked."""
    if isinstance(results, pd.DataFrame):
        return in_our_columns(results)
    got, more = type(results).__name__, _READ_FILES if isinstance(results, str | os.PathLike) else ""
    if isinstance(results, Mapping):
        if is_nested(results) or not results:
            return frame_of_nested(results, "score")
        got = f"a dict of {shown(next(iter(results)))} -> {type(next(iter(results.values()))).__name__}"
    elif results is None or isinstance(results, str | os.PathLike):
        got = shown(results)
    elif isinstance(results, Iterable) and not isinstance(results, pt.Transformer | bytes):
        items = list(results)
        if not items:
            raise InputError(
                "there is no result in it. Where it is an iterator that was read before, make it anew; for a run "
                "without results give an empty frame."
            )
        odd = [item for item in items if not has_fields(item, *COLUMNS)]
        if not odd:
            return frame_of_tuples(items)
        got = f"{got} of {shown(odd[0])}"
    forms = "a frame with the columns 'qid', 'docno' and 'score', ScoredDoc tuples, or a dict of topic -> document -> "
    raise InputError(f"expected the results of a run: {forms}score, got {got}.{more}")


def no_results_yet(argument: str) -> InputError:
    """Return the error that pipelines were given, which have no results yet."""
    run = "RunSet.from_pipelines({name: pipeline}, topics)"
    problem = "these are pipelines, which have no results before they are run. Run them first: "
    return InputError(f"{problem}{run}.", argument=argument)


LABELS = (-(2**15), 2**15 - 1)


def not_labels(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are no labels: not whole, too large, or not finite."""
    return ~((values == np.floor(values)) & (values >= LABELS[0]) & (values <= LABELS[1]))


def how_to_grade(value: float) -> str:
    """Return what to do with a number that is no label: of a fraction it is told what makes grades of scores."""
    advice = "Map the labels to whole grades (0 not relevant, 1, 2, ... relevant) first"
    if not np.isfinite(value) or value == np.floor(value):
        return f"{advice}."
    return f"{advice}: of scores and probabilities grade_scores(..., thresholds=0.5) makes them."


#: what is known of each label beside the label: who gave it and when, by which strategy the document was chosen, in
#: which round, and why
PROVENANCE = ("judge", "time", "strategy", "round", "reason")


def provenance_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Return labels with their columns in the order in which one reads them: document, label, provenance, the rest."""
    first = ["qid", "docno", "label", *(column for column in PROVENANCE if column in frame)]
    return frame[[*first, *(column for column in frame if column not in first)]]


def now() -> str:
    """Return the time as text of ISO 8601, in UTC, to the second: ``2026-03-01T12:00:00+00:00``."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def label_values(pairs: pd.DataFrame, labels: pd.Series) -> NDArray[np.float64]:
    """Return labels as numbers, or raise for the first that is none: the one place that says what a label is."""
    values = number_column(labels)
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row, got = pairs.iloc[int(odd[0])], shown(labels.iloc[int(odd[0])])
        label = f"the label of topic {shown(row['qid'])}, document {shown(row['docno'])}"
        problem = f"{label} must be a whole number from {LABELS[0]} to {LABELS[1]}, got {got}. "
        raise InputError(f"{problem}{how_to_grade(float(values[odd[0]]))}")
    return values


def in_rows(said: Any, index: pd.Index | None, what: str, n: int) -> list[Any]:
    """Return what somebody says of `n` rows, one after the other; answers without an order are refused.

    Of one who never ends no more is taken than tells that it is too much.
    """
    wanted = f"{what}, in their order, as a list or an array"
    if isinstance(said, pd.Series):
        default = pd.RangeIndex(len(said))
        # of shuffled rows the default index may be theirs, sorted
        plainly = said.index.equals(default) and (index is None or set(index) != set(default))
        if plainly or (index is not None and said.index.equals(index)):
            return said.tolist()
        got = f"a Series whose index ({examples(said.index)}) is another, so that its order is unclear"
        raise InputError(f"{wanted}, got {got}.")
    if isinstance(said, str | bytes | Mapping | Set | MappingView | pd.DataFrame) or not isinstance(said, Iterable):
        raise InputError(f"{wanted}, got {shown(said)}.")
    # a length may be wrong, and what is iterated may call a service, whose errors hold keys
    try:
        most = max(n, len(said)) if isinstance(said, Sized) else n
        listed = list(islice(said, most + 1))
    except Exception as error:
        raise InputError(
            f"{wanted}, got {type(said).__name__} that failed: {type(error).__name__}, whose text is in the error's "
            "__cause__."
        ) from error
    if len(listed) > most:
        raise InputError(f"{wanted}, got {type(said).__name__} of more than the {most:,} that were asked for.")
    return listed


def checked_labels(labels: Any, pairs: pd.DataFrame) -> pd.Series:
    """Return the labels that a judge gave, <NA> where it gave none (None, NaN, <NA>)."""
    what = "the judge must return one label per document"
    listed = [plain(label) for label in in_rows(labels, pairs.index, what, len(pairs))]
    if len(listed) != len(pairs):
        ends = [pairs.iloc[row] for row in (0, -1)] if len(pairs) else []
        which = " to ".join(f"topic {shown(row['qid'])}, document {shown(row['docno'])}" for row in ends)
        many = f"{count(len(listed), 'label')} for {count(len(pairs), 'document')}"
        raise InputError(f"the judge returned {many}{f', from {which}' if which else ''}.")
    missing = pd.isna(pd.Series(listed, dtype=object)).to_numpy(dtype=bool)
    labelled = pd.Series([0 if no else label for no, label in zip(missing, listed, strict=True)], dtype=object)
    values = label_values(pairs, labelled)
    return pd.Series(pd.arrays.IntegerArray(values.astype(np.int64), missing), index=pairs.index, name="label")


def plain(value: Any) -> Any:
    """Return a number of numpy or torch as one of Python, None for one that is masked, anything else as it is."""
    if isinstance(value, np.ma.MaskedArray) and value.ndim == 0 and np.ma.getmaskarray(value).item():
        return None
    return value.item() if callable(getattr(value, "item", None)) else value


def with_provenance(label: pd.Series, said: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Return labels with who gave each, and when: the name, and now, where nothing else is said."""
    given, columns = label.notna().tolist(), {"label": label}
    for column, value in (("judge", name), ("time", now())):
        known = said[column] if column in said else [None] * len(label)
        cells = [None if not has else value if pd.isna(cell) else cell for has, cell in zip(given, known, strict=True)]
        columns[column] = pd.Series(cells, index=label.index, dtype=object)
    return {**columns, **{column: values for column, values in said.items() if column not in columns}}
