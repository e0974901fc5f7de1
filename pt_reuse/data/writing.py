"""Write runs as TREC files that read back as they were."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from pt_reuse._check import examples, flag
from pt_reuse._errors import InputError
from pt_reuse._files import check_writable, checked_path, write_together
from pt_reuse.arrays import tokens
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.data.packed_files import guarded
from pt_reuse.data.trec import check_names, check_topics


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
        raise InputError(
            f"{folder} cannot be written to: {error.strerror or error}. It is as it was before.", argument="folder"
        ) from error


def _checked_names(field: AnyField, names: Sequence[str]) -> Sequence[str]:
    check_names(names, "run name")
    check_topics(field.topics)
    unsafe = [name for name in names if "/" in name or "\\" in name or name in (".", "..")]
    if unsafe:
        raise InputError(f"{examples(unsafe)} cannot be a file name. Rename the run first.")
    empty = [name for name, n in zip(names, field.lengths.sum(axis=0).tolist(), strict=True) if n == 0]
    if empty:
        raise InputError(
            f"{examples(empty)} has no documents, and an empty file is no run. Leave it out: runs.select(...)."
        )
    for i in range(len(field.parts)):
        block = field.part(i)
        used = np.zeros(len(block.vocabulary), dtype=np.bool_)
        used[block.all_docs()] = True
        check_names(tokens.decode(block.vocabulary[used]), "docno")
    return names
