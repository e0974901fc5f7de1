"""Rows of TREC run files: read, and written."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import examples, flag, shown
from pt_reuse._errors import InputError, Option, Part
from pt_reuse._files import check_writable, checked_path, write_together
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import FileRows
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.frame_columns import LABELS, how_to_grade, not_labels, parse_numbers
from pt_reuse.data.lines import (
    BOM,
    QRELS_LINE,
    SAMPLE_LINE,
    SKIP,
    Fields,
    document_in,
    fields_of_part,
    names_in,
    place_of,
    qrels_fields,
    topics_in,
)
from pt_reuse.data.packed_files import guarded, pieces_of_lines

#: what to do about a rank column that gives no order
NO_ORDER: tuple[Part, ...] = (
    Option("order", "rank"),
    " has no order to follow. Use ",
    Option("order", "trec_eval"),
    " (by score) or ",
    Option("order", "file"),
    ".",
)

#: bytes of qrels that are read at once, about, which bounds memory
_AT_ONCE = 1 << 20


@dataclass
class QrelsRows:
    """The lines of a qrels file, or of a piece of one."""

    topics: list[str]  # topic names, each once
    topic: NDArray[np.int64]  # (rows,) the topic of each row, as a position among the topics
    docs: Words  # (rows, k) words of the document names
    labels: NDArray[np.int16]  # (rows,) their labels
    strata: Words | None  # (rows, k) words of the strata of a sample, else None
    line_of: Callable[[int], int]  # the line on which a row stands, from 1


def without_advice(error: InputError) -> InputError:
    """Return an error of a run file without the advice to leave out lines or files."""
    # an error of now words options as the caller calls them
    advice = InputError(*SKIP).parts
    if error.parts[-len(advice) :] == advice:
        error.parts = error.parts[: -len(advice)]
    return error


def parse_qrels(data: bytes, *, strata: bool = False) -> QrelsRows:
    """Read one qrels file in its own line order, of judgments of a sample where it has `strata`."""
    columns, line = (5, SAMPLE_LINE) if strata else (4, QRELS_LINE)

    def line_of(row: int) -> int:
        return qrels_fields(data, columns, line).line_of(row)

    if len(data) > _AT_ONCE:
        pieces = pieces_of_lines(data.removeprefix(BOM), _AT_ONCE)
        try:
            each = (fields_of_part(one, columns, line) for one in pieces if not one.isspace())
            if parts := [_qrels_rows(fields, strata, line_of) for fields in each if len(fields)]:
                return _joined(parts, line_of)
        except InputError:
            pass  # of several faults the one is told that reading all at once finds first, and its line
    return _qrels_rows(qrels_fields(data, columns, line), strata, line_of)


def _qrels_rows(fields: Fields, strata: bool, line_of: Callable[[int], int]) -> QrelsRows:
    topics, topic = topics_in(fields)
    docs = names_in(fields, 2, "docno")
    values, _ = parse_numbers(fields.buffer, *fields.column(c := 3 + strata))
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row = int(odd[0])
        raise InputError(
            f"the label of {document_in(fields, row)} must be a whole number from {LABELS[0]} to {LABELS[1]}, got "
            f"{shown(fields.text(row, c))}. ",
            *how_to_grade(float(values[row])),
            place=place_of(fields, row),
        )
    found = names_in(fields, 3, "stratum") if strata else None
    return QrelsRows(topics, topic, docs, values.astype(np.int16), found, line_of)


def _joined(parts: list[QrelsRows], line_of: Callable[[int], int]) -> QrelsRows:
    place: dict[str, int] = {}
    numbers = [np.array([place.setdefault(name, len(place)) for name in part.topics], np.int64) for part in parts]
    topic = np.concatenate([number[part.topic] for number, part in zip(numbers, parts, strict=True)])
    strata = [part.strata for part in parts if part.strata is not None]
    labels, docs = np.concatenate([part.labels for part in parts]), tokens.stacked([part.docs for part in parts])
    return QrelsRows(list(place), topic, docs, labels, tokens.stacked(strata) if strata else None, line_of)


def tied_rank(fields: Fields, row: int) -> InputError:
    """Return what is wrong with a rank that two documents of a topic have."""
    return InputError(
        f"{document_in(fields, row)} has rank {fields.text(row, 3)}, which another document of the topic has too, so ",
        *NO_ORDER,
        place=place_of(fields, row),
    )


def check_names(names: Iterable[str], what: str) -> None:
    """Raise when a name could not stand in a file of white-space separated columns."""
    encoded = ((name, name.encode("utf-8", "surrogateescape")) for name in names)
    bad = [name for name, written in encoded if b"\0" in written or [written] != written.split()]
    if bad:
        why = "cannot be written to a TREC file, whose columns are separated by white space"
        raise InputError(f"the {what} {examples(bad)} {why}. Rename it first.")


def check_topics(topics: Iterable[str]) -> None:
    """Raise when a topic id could not stand in a file: it is no one column, or its line would be a comment."""
    topics = list(topics)
    check_names(topics, "topic")
    comments = [topic for topic in topics if topic.startswith("#")]
    if comments:
        why = "cannot be written to a TREC file, in which a line that begins with # is a comment"
        raise InputError(f"the topic {examples(comments)} {why}. Rename it first.")


_COLUMN = 3
_LARGE = 1 << 18  # rows of a run of which nothing is kept
_SHORT = 10**5  # smaller ranks are compared as words of text, in which they fit; larger ones are read as numbers


def count_from_zero(fields: Fields, rows: FileRows) -> NDArray[np.bool_]:
    """Return (topics,): whether the first rank of each is written as one that counts from 0."""
    return fields.buffer[rows.grouped(fields.column(_COLUMN)[0])[rows.starts[:-1]]] == ord("0")


def other_ranks(
    fields: Fields, rows: FileRows, from_zero: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the grouped rows whose ranks are not written as those that count the rows of their topic."""
    begins, ends = (rows.grouped(edge) for edge in fields.column(_COLUMN))
    lengths, firsts = np.diff(rows.starts), np.where(from_zero, 0, 1)
    # nearly always the ranks of a topic are 0, 1, 2, ... or 1, 2, 3, ..., each followed by the same white space
    count = _counted if len(begins) <= _LARGE else _counted.__wrapped__
    counted, kept = count(firsts.tobytes(), lengths.tobytes(), int(fields.buffer[ends[0]]))
    words = fields.words[begins]
    words &= kept
    other = np.flatnonzero(words != counted)
    ranks, wrong = parse_numbers(fields.buffer, begins[other], ends[other])
    ranks[wrong] = np.nan
    return other, ranks


@lru_cache(maxsize=2)
def _counted(firsts: bytes, lengths: bytes, white: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # the words in which ranks stand that count the lines, and which bytes of a word they are; the next run is often as
    # long as this one
    sizes, begins = (np.frombuffer(numbers, dtype=np.int64) for numbers in (lengths, firsts))
    ranks = ranges(begins, sizes)
    highest = int((begins + sizes).max())
    written, kept = _written(min(1 << highest.bit_length(), _SHORT), white)
    if highest >= _SHORT:
        ranks = np.minimum(ranks, _SHORT)
    return written[ranks], kept[ranks]


@lru_cache(maxsize=16)
def _written(n: int, white: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    # the numbers 0..n-1 in decimal writing with white space behind, and which bytes that are; last a word that none is
    texts = [b"%d%c" % (i, white) for i in range(n)]
    written = [*(int.from_bytes(text, "little") for text in texts), 1]
    return np.array(written, dtype=np.uint64), np.array([*((1 << 8 * len(text)) - 1 for text in texts), 0], np.uint64)


def write_runs(
    field: AnyField,
    names: Sequence[str],
    frame_of: Callable[[str], pd.DataFrame],
    folder: str | Path,
    *,
    compress: bool,
    overwrite: bool,
) -> list[Path]:
    """Write each run of a field as a file, all checked before the first is written; see :meth:`RunSet.write`."""
    flag("compress", compress)
    flag("overwrite", overwrite)
    folder = checked_path(folder)
    files = [f"input.{name}{'.gz' if compress else ''}" for name in _checked_names(field, names)]
    check_writable(folder, files, overwrite=overwrite, argument="folder")

    def contents() -> Iterator[tuple[str, bytes]]:
        for name, file in zip(names, files, strict=True):
            frame = frame_of(name)
            cells = zip(frame["qid"], frame["docno"], frame["rank"], frame["score"].tolist(), strict=True)
            lines = [f"{qid} Q0 {docno} {rank + 1} {score!r} {name}\n" for qid, docno, rank, score in cells]
            data = guarded("".join(lines).encode("utf-8", "surrogateescape"))
            # no time stamp: the same run gives the same bytes
            yield file, gzip.compress(data, mtime=0) if compress else data

    try:
        return write_together(folder, contents(), overwrite=overwrite)
    except OSError as error:
        problem = f"{folder} cannot be written to: {error.strerror or error}. It is as it was before."
        raise InputError(problem, argument="folder") from error


def _checked_names(field: AnyField, names: Sequence[str]) -> Sequence[str]:
    check_names(names, "run name")
    check_topics(field.topics)
    unsafe = [name for name in names if "/" in name or "\\" in name or name in (".", "..")]
    if unsafe:
        raise InputError(f"{examples(unsafe)} cannot be a file name. Rename the run first.")
    empty = [name for name, n in zip(names, field.lengths.sum(axis=0).tolist(), strict=True) if n == 0]
    if empty:
        why = "has no documents, and an empty file is no run"
        raise InputError(f"{examples(empty)} {why}. Leave it out: runs.select(...).")
    for i in range(len(field.parts)):
        block = field.part(i)
        used = np.zeros(len(block.vocabulary), dtype=np.bool_)
        used[block.all_docs()] = True
        check_names(tokens.decode(block.vocabulary[used]), "docno")
    return names
