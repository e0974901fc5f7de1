"""Rows of TREC run files: read, and written."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import examples, flag, shown
from pt_reuse._files import check_writable, checked_path, write_together
from pt_reuse.arrays import tokens
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.data.packed_files import guarded
from pt_reuse.errors import InputError

#: bytes that a run's name may have as part of a file's, of which most systems take 255
_LONGEST = 255 - len("input..gz")
#: what to do about a rank column that gives no order
NO_ORDER = "order='rank' has no order to follow. Use order='trec_eval' (by score) or order='file'."


def without_place(topic: Any, docno: Any, *, tied: bool = True, **where: Any) -> InputError:
    """Return the error for a document whose rank gives no order."""
    fault = "the rank of another document of the topic" if tied else "no number as its rank"
    return InputError(f"topic {shown(topic)}, document {shown(docno)} has {fault}. {NO_ORDER}", **where)


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
        raise InputError(f"{folder} cannot be written to: {error.strerror or error}.", argument="folder") from error


def _checked_names(field: AnyField, names: Sequence[str]) -> Sequence[str]:
    check_names(names, "run name")
    check_topics(field.topics)
    unsafe = [name for name in names if "/" in name or "\\" in name or name in (".", "..")]
    unsafe += [name for name in names if len(os.fsencode(name)) > _LONGEST]
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
