"""Columns of frames: names, numbers and labels as they are used here, whatever types they came in."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MappingView, Sequence, Set, Sized
from contextlib import suppress
from datetime import datetime, timezone
from itertools import islice, repeat
from numbers import Number
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.tokens import Words, as_tokens, words_at
from pt_reuse.errors import InputError, columns, count, examples, located, shown, warn

_T = TypeVar("_T")
_U = np.uint64
_ONES = _U(0x0101010101010101)  # a byte times this is that byte in all eight places of a word
_PLACES = _U(0x0706050403020100)  # the bytes behind each byte of a word
_KEPT = np.array([0, *(2**64 - (1 << 8 * (8 - n)) for n in range(1, 9))], dtype=np.uint64)  # the last n of eight bytes
_WRITTEN = 19  # characters of a number that uint64 holds with a digit for its dot
_TENS = np.array([10**n for n in range(_WRITTEN)], dtype=np.uint64)
_AROUND = np.longdouble(2) ** -60 if np.finfo(np.longdouble).nmant >= 63 else np.longdouble(2) ** -52
_LONG = 64  # bytes of a number; longer ones are not gathered into a table
_BLOCK = 1 << 14  # rows at a time, which stay in the processor's cache
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse_numbers(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read the numbers at [starts, ends): (values, rows that hold no finite decimal number)."""
    values, short = np.empty(len(starts)), np.empty(len(starts), dtype=np.bool_)
    for at in range(0, len(starts), _BLOCK):
        block = slice(at, at + _BLOCK)
        values[block], short[block] = _short_decimals(buffer, starts[block], ends[block])
    rest = np.flatnonzero(~short)
    starts, ends = starts[rest], ends[rest]
    if int((ends - starts).max(initial=0)) <= _LONG:
        texts = as_tokens(words_at(buffer, starts, ends)).tolist()
    else:
        texts = [buffer[start:end].tobytes() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    # nothing but these characters: float() cannot read them as nan, inf or 1_0
    read = plain_decimal if b"".join(texts).translate(None, b"0123456789.+-eE") else float
    try:
        values[rest] = [read(text) for text in texts]
    except ValueError:
        values[rest] = [plain_decimal(text) for text in texts]
    return values, rest[~np.isfinite(values[rest])]


def _short_decimals(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read what is a minus, digits and a dot, 19 characters but for the minus: (values, whether each is the nearest).

    Digits are read eight at a time, from a little-endian word; `buffer` has 24 bytes before the first number.
    """
    words = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))  # one from each byte on
    negative = buffer[starts] == ord("-")
    lengths = ends - starts - negative
    written, decimals, dots, wrong = np.zeros((4, len(starts)), dtype=np.uint64)
    for w in reversed(range(-(-min(int(lengths.max(initial=0)), _WRITTEN) // 8))):
        word = (words[ends - 8 * (w + 1)] ^ ord("0") * _ONES) & _KEPT[np.clip(lengths - 8 * w, 0, 8)]
        dot = _equal(word, ord("0") ^ ord("."))
        dots += dot * _ONES >> _U(56)
        decimals += (dot * _PLACES >> _U(56)) + _U(8 * w) * (dot != 0)
        word ^= dot * _U(ord("0") ^ ord("."))
        wrong |= word | (word + _U(0x80 - 10) * _ONES)
        written = written * _U(10**8) + _eight_digits(word)
    tens = _TENS.take(decimals.astype(np.int64), mode="clip")
    # the dot was read as a digit 0, so what stands before it is ten times too much
    whole = written - dots * (written // (_U(10) * tens)) * _U(9) * tens
    good = (wrong & _U(0x80) * _ONES == 0) & (dots <= 1) & (lengths > dots) & (lengths <= _WRITTEN)
    values = whole / tens
    if len(long := np.flatnonzero(whole >= 2**53)):
        # where a little less and a little more round alike, so does the number; without 64 bits they never do
        quotient = whole[long].astype(np.longdouble) / tens[long]
        values[long], more = ((quotient + quotient * e).astype(np.float64) for e in (-_AROUND, _AROUND))
        good[long] &= values[long] == more
    return np.where(negative, -values, values), good


def _equal(word: NDArray[np.uint64], byte: int) -> NDArray[np.uint64]:
    # the lowest bit of each byte that is this one
    other, low = word ^ _U(byte) * _ONES, _U(0x7F) * _ONES
    return ~(((other & low) + low) | other | low) >> _U(7)


def _eight_digits(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # pairs, then fours, then eights; the lowest byte is the first digit
    word = word * _U(2561) >> _U(8)
    word = (word & _U(0x00FF00FF00FF00FF)) * _U(6553601) >> _U(16)
    return (word & _U(0x0000FFFF0000FFFF)) * _U(42949672960001) >> _U(32)


def plain_decimal(token: bytes) -> float:
    """Read one number; NaN for all that is not a decimal number, such as nan, inf, 1_0 and 0x1."""
    return float(token) if _NUMBER.fullmatch(token) else np.nan


#: bytes of a qid or docno, in frames and in files
LONGEST_NAME = 1024
#: whole numbers from which on none is a name
_LARGEST_ID = 10**100


def check_frame(frame: Any, needed: Sequence[str]) -> None:
    """Raise unless `frame` is a DataFrame that has each of the columns needed once and no label missing."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"expected a DataFrame, got {type(frame).__name__}.")
    columns("the frame", frame.columns, needed)
    check_once(frame.columns, needed)
    if "label" in needed and len(missing := np.flatnonzero(frame["label"].isna())):
        raise InputError("the label is missing. Fill it in or drop the row.", place=f"row {missing[0]:,}")


def check_once(there: Iterable[Any], needed: Sequence[str]) -> None:
    """Raise where one of the columns needed is there more than once."""
    times = Counter(there)
    if twice := [column for column in needed if times[column] > 1]:
        raise InputError(f"there is more than one column {examples(twice)}. Drop or rename one.")


def as_ids(column: str, values: Iterable[Any], topics: Iterable[Any] | None = None) -> list[str]:
    """Return names as texts: bytes are read as UTF-8, whole numbers as they are written, and all else is refused.

    What is no name is told by its row, and by its topic where `topics` has that of each row.
    """
    names = list(values)
    if set(map(type, names)) <= {str}:
        return names
    return _each(lambda some: [as_id(column, value) for value in some], names, topics)


def _each(read: Callable[[Sequence[Any]], _T], names: Sequence[Any], topics: Iterable[Any] | None) -> _T:
    """Return what is read of all names at once, or say which is at fault."""
    try:
        return read(names)
    except InputError:
        for row, (name, topic) in enumerate(zip(names, repeat(None) if topics is None else topics, strict=False)):
            topic = topic.decode("utf-8", "replace") if isinstance(topic, bytes) else topic
            with located(f"row {row:,}" if topics is None else f"topic {shown(topic)}, row {row:,}"):
                read([name])
        raise


def as_pairs(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return topic and document of each row of a frame as texts."""
    qids = as_ids("qid", frame["qid"].tolist())
    return qids, as_ids("docno", frame["docno"].tolist(), qids)


def as_id(column: str, value: Any) -> str:
    """Return one name as :func:`as_ids` does."""
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    what, whole = f"a {type(value).__name__}", isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and abs(int(value)) < _LARGEST_ID:
        return str(int(value))
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"the {column} is bytes that are no UTF-8, {shown(bytes(value))}. Decode them.") from error
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        raise InputError(f"the {column} is missing. Fill it in or drop the row.")
    if isinstance(value, Number | np.number | np.bool_):
        # Python writes no number of thousands of digits
        what = "a number" if whole else "a number that could be written in more than one way"
    raise InputError(f"the {column} must be text, got {shown(value)}, {what}. Give it as text (dtype=str).")


def text_column(column: str, values: pd.Series, topics: pd.Series | None = None) -> Words:
    """Return the names in a column of qids or docnos as words, one row per cell; errors name its topic, if given."""
    if isinstance(values.dtype, pd.CategoricalDtype) and values.notna().all():
        with suppress(InputError):  # else the rows are looked at one by one, to say which is at fault
            return text_column(column, pd.Series(values.cat.categories)).take(values.cat.codes, axis=0)
    names = as_ids(column, values.tolist(), topics)
    return _each(lambda some: text_words(column, some, empty=False), names, topics)


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
            warn(f"{count(len(spaced), what)} with white space at an end, such as {shown(spaced[0])}, part of it.")


def number_column(values: pd.Series) -> NDArray[np.float64]:
    """Return a column as float64, with NaN for what is no number."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
        return values.to_numpy(dtype=np.float64)
    return np.array([_number(value) for value in values], dtype=np.float64)


def finite_column(frame: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column of the results of runs as numbers, all of which must be finite."""
    values = number_column(frame[column])
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        row = frame.iloc[int(bad[0])]
        raise InputError(f"the {column} of {row_in_words(row)} must be a finite number, got {shown(row[column])}.")
    return values


def row_in_words(row: Mapping[Any, Any] | pd.Series) -> str:
    """Return of which topic and document a row is, and of which run where it says so."""
    return ", ".join(
        f"{noun} {shown(row[column])}"
        for column, noun in (("name", "run"), ("qid", "topic"), ("docno", "document"))
        if column in row
    )


def _number(value: Any) -> float:
    if isinstance(value, str):
        return plain_decimal(value.encode("utf-8", "replace"))
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


#: what ir_measures and ir_datasets, ranx, and BEIR call a column -> what PyTerrier calls it
OURS = {
    **dict.fromkeys(("query_id", "q_id", "query-id"), "qid"),
    **dict.fromkeys(("doc_id", "corpus-id", "corpus_id"), "docno"),
    "relevance": "label",
    "iter": "iteration",
}
#: what trectools calls them; PyTerrier has a `query`, too, and its text is no name
_TRECTOOLS = {"query": "qid", "docid": "docno", "rel": "label", "system": "name", "q0": "iteration"}
#: names of documents beside which ranx and BEIR call a label `score`; those of ir_measures are of results, too
_LABELLED_SCORE = ({"q_id", "doc_id"}, {"query-id", "corpus-id"}, {"query_id", "corpus_id"})


def in_our_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with PyTerrier's names of columns; one that has both names of a column keeps both."""
    there = set(frame.columns)
    trectools = {"query", "docid"} <= there and not there & {"qid", "docno", *OURS}
    theirs = _TRECTOOLS if trectools else OURS
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


def is_nested(value: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is one of topic -> document -> number, as ir_measures and pytrec_eval take it."""

    def of_numbers(inner: Any) -> bool:
        # the first of a topic tells what all are
        first = next(iter(inner.values()), None) if isinstance(inner, Mapping) else ()
        return isinstance(first, str) or not isinstance(first, Iterable)

    return bool(value) and all(map(of_numbers, value.values()))


def frame_of(given: Any, columns: Sequence[str]) -> pd.DataFrame | str:
    """Return named tuples, or topic -> document -> number, as a frame; else what is given instead, in words."""
    if isinstance(given, Mapping):
        if given and not is_nested(given):
            return f"a dict of {shown(next(iter(given)))} -> {type(next(iter(given.values()))).__name__}"
        rows = [(qid, *pair) for qid, inner in given.items() for pair in inner.items()]
        return pd.DataFrame({column: [row[i] for row in rows] for i, column in enumerate(columns)})
    if (
        given is None
        or isinstance(given, str | bytes | os.PathLike | pt.Transformer)
        or not isinstance(given, Iterable)
    ):
        return shown(given)
    items = list(given)
    odd = [item for item in items if not has_fields(item, *columns)]
    if odd or not items:
        return f"{type(given).__name__} {f'of {shown(odd[0])}' if odd else 'without an item (read before?)'}"
    fields = [set(item._fields) for item in {type(item): item for item in items}.values()]
    shared = [field for field in items[0]._fields if all(field in some for some in fields)]
    return in_our_columns(pd.DataFrame({field: [getattr(item, field) for item in items] for field in shared}))


#: what a frame of results, or the tuples of a run, must have
COLUMNS = ("qid", "docno", "score")


def result_frame(results: Any) -> pd.DataFrame:
    """Return the results of one run as a frame with PyTerrier's names of columns; what they hold is not checked."""
    found = in_our_columns(results) if isinstance(results, pd.DataFrame) else frame_of(results, COLUMNS)
    if isinstance(found, pd.DataFrame):
        return found
    file = isinstance(results, str | os.PathLike)
    raise InputError(
        f"expected the results of a run: a frame with 'qid', 'docno' and 'score', ScoredDoc tuples, or a dict of topic "
        f"-> document -> score, got {found}.{' Files are read by read_runs().' if file else ''}"
    )


def no_results_yet(argument: str) -> InputError:
    """Return the error that pipelines were given, which have no results yet."""
    run = "RunSet.from_pipelines({name: pipeline}, topics)"
    return InputError(f"these are pipelines, which have no results yet. Run them: {run}.", argument=argument)


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
        pair, got = pairs.iloc[int(odd[0])][["qid", "docno"]], shown(labels.iloc[int(odd[0])])
        problem = (
            f"the label of {row_in_words(pair)} must be a whole number from {LABELS[0]} to {LABELS[1]}, got {got}. "
        )
        raise InputError(f"{problem}{how_to_grade(float(values[odd[0]]))}")
    return values


def in_rows(given: Any, index: pd.Index | None, what: str, n: int) -> list[Any]:
    """Return what somebody says of `n` rows, one after the other; answers without an order are refused.

    Of one who never ends no more is taken than tells that it is too much.
    """
    wanted = f"{what}, in their order, as a list or an array"
    if isinstance(given, pd.Series):
        default = pd.RangeIndex(len(given))
        # of shuffled rows the default index may be theirs, sorted
        plainly = given.index.equals(default) and (index is None or set(index) != set(default))
        if not plainly and (index is None or not given.index.equals(index)):
            raise InputError(
                f"{wanted}, got a Series with another index ({examples(given.index)}), so without an order."
            )
    if isinstance(given, str | bytes | Mapping | Set | MappingView | pd.DataFrame) or not isinstance(given, Iterable):
        raise InputError(f"{wanted}, got {shown(given)}.")
    # a length may be wrong, and what is iterated may call a service, whose errors hold keys
    try:
        most = max(n, len(given)) if isinstance(given, Sized) else n
        listed = list(islice(given, most + 1))
    except Exception as error:
        problem = f"{wanted}, got {type(given).__name__} that failed: {type(error).__name__}, see __cause__."
        raise InputError(problem) from error
    if len(listed) > most:
        raise InputError(f"{wanted}, got {type(given).__name__} of more than the {most:,} that were asked for.")
    return listed


def checked_labels(labels: Any, pairs: pd.DataFrame) -> pd.Series:
    """Return the labels that a judge gave, <NA> where it gave none (None, NaN, <NA>)."""
    what = "the judge must return one label per document"
    listed = [plain(label) for label in in_rows(labels, pairs.index, what, len(pairs))]
    if len(listed) != len(pairs):
        ends = [pairs.iloc[row][["qid", "docno"]] for row in (0, -1)] if len(pairs) else []
        which = " to ".join(map(row_in_words, ends))
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


def with_provenance(label: pd.Series, further: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Return labels with who gave each, and when: the name, and now, where nothing else is said."""
    given, columns = label.notna().tolist(), {"label": label}
    for column, value in (("judge", name), ("time", now())):
        known = further[column] if column in further else [None] * len(label)
        cells = [None if not has else value if pd.isna(cell) else cell for has, cell in zip(given, known, strict=True)]
        columns[column] = pd.Series(cells, index=label.index, dtype=object)
    return {**columns, **{column: values for column, values in further.items() if column not in columns}}
