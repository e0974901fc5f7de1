"""TREC qrels files: read into arrays, and written from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import count, examples, flag
from pt_reuse._errors import InputError, Option, located, warn
from pt_reuse._files import checked_path, replacing, user_path
from pt_reuse.arrays import tokens
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.lines import QRELS_LINE
from pt_reuse.data.packed_files import UnreadableError, give_back, guarded, in_memory, read_bytes
from pt_reuse.data.qrels_arrays import JudgedRows, QrelsArrays, bare_topics
from pt_reuse.data.trec import QrelsRows, check_names, check_topics, parse_qrels

#: bytes of a file from which on what reading takes is given back to the system
_LARGE = 1 << 24


def read_arrays(path: Any, *, strata: bool = False) -> QrelsArrays:
    """Read a TREC qrels file, packed or not.

    Args:
        path: the file.
        strata: whether it is of a sample, with a column of strata before the labels.

    Raises:
        InputError: naming the file, the line and what to do.
    """
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(f"expected the path of a qrels file, got {path!r}.", argument="path")
    path = user_path(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give the qrels file, {QRELS_LINE}.", argument="path")
        if not path.exists():
            raise InputError(f"{path}: no such file.", argument="path")
    except OSError as error:
        raise InputError(f"{path} cannot be looked up: {error.strerror or error}.") from error
    try:
        data = read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{path} {error}. Give qrels, {QRELS_LINE}.") from error
    with located(str(path)), in_memory():
        rows = parse_qrels(data, strata=strata)
        extra = None if rows.strata is None else _of_sample(rows, rows.strata)
        judged = JudgedRows(rows.topics, rows.topic, rows.docs, rows.labels, extra, line_of=rows.line_of)
        arrays = judged.to_arrays()
    if len(data) >= _LARGE:
        give_back()
    return arrays


def _of_sample(rows: QrelsRows, words: Words) -> pd.DataFrame:
    # a file has no probabilities: they follow from how much of each stratum is judged
    frame = pd.DataFrame({"stratum": tokens.decode(tokens.as_tokens(words))})
    judged = pd.Series(rows.labels >= 0, dtype=float)
    return frame.assign(inclusion=judged.groupby([rows.topic, frame["stratum"]]).transform("mean"))


def write_arrays(arrays: QrelsArrays, path: str | Path, *, overwrite: bool, strata: bool = False) -> Path:
    """Write a TREC qrels file, ``qid 0 docno label``; warn of topics that it cannot hold.

    Raises:
        InputError: nothing to write, a file that exists, a name that cannot stand in a column.
    """
    flag("overwrite", overwrite)
    flag("strata", strata)
    path = checked_path(path)
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists. Pass ", Option("overwrite", True), " to replace it.", argument="path")
    written = qrels_file(arrays, strata=strata)
    try:
        with replacing(path) as file:
            file.write(written)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def qrels_file(arrays: QrelsArrays, *, strata: bool = False) -> bytes:
    """Return what a TREC qrels file of judgments has in it; warn of topics that it cannot hold.

    Raises:
        InputError: nothing to write, a name that cannot stand in a column.
    """
    middle = _strata(arrays) if strata else [""] * len(arrays.labels)
    documents = arrays.documents
    if not len(documents):
        raise InputError("there are no judgments, and an empty file is no qrels file.")
    qids, docnos = documents.qids().tolist(), documents.docnos().tolist()
    check_names(list(dict.fromkeys(docnos)), "docno")
    check_topics(list(documents.topics))
    bare = bare_topics(arrays)
    if bare:
        warn(
            f"{count(len(bare), 'topic')} without judgments cannot stand in a qrels file and will be missing when it "
            f"is read: {examples(bare)}."
        )
    rows = zip(qids, docnos, middle, arrays.labels.tolist(), strict=True)
    text = "".join(f"{qid} 0 {docno} {more}{label}\n" for qid, docno, more, label in rows)
    return guarded(text.encode("utf-8", "surrogateescape"))


def _strata(arrays: QrelsArrays) -> list[str]:
    if arrays.extra is None or "stratum" not in arrays.extra or arrays.extra["stratum"].isna().any():
        raise InputError(
            "not every judgment has a stratum, so they are not of a sample. Write them without ",
            Option("strata", True),
            ".",
            argument="strata",
        )
    names = arrays.extra["stratum"].astype(str).tolist()
    check_names(dict.fromkeys(names), "stratum")
    return [f"{name} " for name in names]
