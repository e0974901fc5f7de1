"""Rows of TREC run files: read, and written."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import examples, flag
from pt_reuse._errors import InputError, Option, Part
from pt_reuse._files import check_writable, checked_path, write_together
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import FileRows
from pt_reuse.data.frame_columns import parse_numbers
from pt_reuse.data.lines import (
    SKIP,
    Fields,
    document_in,
    place_of,
)
from pt_reuse.data.packed_files import guarded

#: what to do about a rank column that gives no order
NO_ORDER: tuple[Part, ...] = (
    Option("order", "rank"),
    " has no order to follow. Use ",
    Option("order", "trec_eval"),
    " (by score) or ",
    Option("order", "file"),
    ".",
)


def without_advice(error: InputError) -> InputError:
    """Return an error of a run file without the advice to leave out lines or files."""
    # an error of now words options as the caller calls them
    advice = InputError(*SKIP).parts
    if error.parts[-len(advice) :] == advice:
        error.parts = error.parts[: -len(advice)]
    return error


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
