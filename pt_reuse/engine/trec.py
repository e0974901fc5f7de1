"""TREC run files and qrels files: bytes in, columns out, every fault named with its line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import InputError, examples
from pt_reuse.engine import tokens
from pt_reuse.engine.field import RunRows
from pt_reuse.engine.lines import BadLineError, Fields
from pt_reuse.engine.numbers import parse_numbers
from pt_reuse.engine.order import TiedRankError, ranking
from pt_reuse.engine.tokens import Words

RUN_LINE = "six columns: qid Q0 docno rank score tag"
QRELS_LINE = "four columns: qid iteration docno label"
_LONGEST = 1024  # bytes of a qid or docno
_LABELS = (-(2**15), 2**15 - 1)


@dataclass
class QrelsRows:
    """The lines of a qrels file; `topic` numbers `topics`."""

    topics: list[str]
    topic: NDArray[np.int64]
    docs: Words
    labels: NDArray[np.int16]
    lines: Fields


def parse_run(data: bytes, source: str, order: str) -> tuple[list[str], RunRows]:
    """Read one run file: (the tags of its last column, its rows in ranking order, named by the first tag)."""
    fields = _fields(data, source, 6, RUN_LINE, {4: "This looks like qrels (four columns): give it to read_qrels."})
    topics, topic = _topics(fields, source)
    docs = _names(fields, 2, "docno", source)
    tags = _tags(fields)
    scores, wrong = parse_numbers(fields.buffer, fields.starts[:, 4], fields.ends[:, 4])
    if len(wrong):
        raise _bad_number(fields, int(wrong[0]), source, "score", 4)
    ranks = None
    if order == "rank":
        ranks, wrong = parse_numbers(fields.buffer, fields.starts[:, 3], fields.ends[:, 3])
        if len(wrong):
            raise _bad_number(fields, int(wrong[0]), source, "rank", 3)

    grouping = None
    if (topic[1:] < topic[:-1]).any():
        grouping = np.argsort(topic, kind="stable")
        topic, docs, scores = topic[grouping], docs[grouping], scores[grouping]
        ranks = ranks[grouping] if ranks is not None else None
    try:
        permutation = ranking(topic, docs, scores, order, ranks)
    except TiedRankError as error:
        row = error.row if grouping is None else int(grouping[error.row])
        raise InputError(
            f"{source}, line {fields.line_of(row)}: topic {fields.text(row, 0)!r} has rank {fields.text(row, 3)} twice, "
            f"so order='rank' has no order to follow. Read the run with order='trec_eval' (by score) or order='file'."
        ) from None
    if permutation is not None:
        docs, scores = docs[permutation], scores[permutation]
    starts = np.searchsorted(topic, np.arange(len(topics) + 1))
    return tags, RunRows(tags[0], topics, starts, docs, scores)


def parse_qrels(data: bytes, source: str) -> QrelsRows:
    """Read one qrels file in its own line order."""
    fields = _fields(data, source, 4, QRELS_LINE, {6: "This looks like a run file (six columns): give it to read_runs."})
    topics, topic = _topics(fields, source)
    docs = _names(fields, 2, "docno", source)
    values, wrong = parse_numbers(fields.buffer, fields.starts[:, 3], fields.ends[:, 3])
    odd = np.flatnonzero((values != np.floor(values)) | (values < _LABELS[0]) | (values > _LABELS[1]))
    if len(wrong) or len(odd):
        row = int(wrong[0] if len(wrong) else odd[0])
        raise InputError(
            f"{source}, line {fields.line_of(row)}: the label of topic {fields.text(row, 0)!r}, document "
            f"{fields.text(row, 2)!r} must be a whole number from {_LABELS[0]} to {_LABELS[1]}, got "
            f"{fields.text(row, 3)!r}. Map the labels to whole grades (0 not relevant, 1, 2, ... relevant) first."
        )
    return QrelsRows(topics, topic, docs, values.astype(np.int16), fields)


def _fields(data: bytes, source: str, columns: int, line: str, other_kinds: dict[int, str]) -> Fields:
    if not data.strip():
        raise InputError(f"{source}: the file is empty; expected one line per document of {line}.")
    if b"\0" in data:
        at = data[: data.index(b"\0")].count(b"\n") + 1
        raise InputError(
            f"{source}, line {at}: a NUL byte, so this is not a plain text file (an archive, or UTF-16?). "
            f"Expected UTF-8 text of {line}."
        )
    try:
        return Fields(data, columns)
    except BadLineError as error:
        shown = error.text if len(error.text) <= 80 else error.text[:77] + "..."
        hint = other_kinds.get(error.found, "") if error.line == 1 else ""
        raise InputError(
            f"{source}, line {error.line}: expected {line}; found {error.found} in {shown!r}."
            f" {hint or 'Mend or remove the line; names must not hold white space.'}"
        ) from None


def _topics(fields: Fields, source: str) -> tuple[list[str], NDArray[np.int64]]:
    words = _names(fields, 0, "qid", source)
    new = np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])
    blocks = words[new]
    codes, first = tokens.factorize(blocks)
    lengths = np.diff(np.concatenate([np.flatnonzero(new), [len(words)]]))
    return tokens.decode(tokens.as_tokens(blocks[first])), np.repeat(codes, lengths)


def _names(fields: Fields, column: int, what: str, source: str) -> Words:
    starts, ends = fields.starts[:, column], fields.ends[:, column]
    lengths = ends - starts
    if int(lengths.max()) > _LONGEST:
        row = int(np.argmax(lengths))
        raise InputError(
            f"{source}, line {fields.line_of(row)}: a {what} of {int(lengths[row]):,} bytes; the longest that can be "
            f"read has {_LONGEST:,}. Is this a run file?"
        )
    return tokens.words_at(fields.buffer, starts, ends)


def _tags(fields: Fields) -> list[str]:
    starts, ends = fields.starts[:, 5], fields.ends[:, 5]
    lengths = ends - starts
    first = fields.buffer[starts[0] : ends[0]]
    if (lengths == lengths[0]).all():
        loads = np.ndarray((len(fields.buffer) - 7,), dtype="<u8", buffer=fields.buffer, strides=(1,))
        # the last 8 bytes of an equal tag are equal in every row, whatever stands before a shorter one is masked
        steps = range(0, max(len(first) - 7, 1), 8)
        heads = [loads[starts + step] for step in steps] + [loads[ends - 8]]
        keep = np.uint64(2**64 - 1 if len(first) >= 8 else (1 << (8 * len(first))) - 1)
        heads = heads if len(first) >= 8 else [heads[0]]
        if all(((head & keep) == (head[0] & keep)).all() for head in heads):
            return [first.tobytes().decode("utf-8", "surrogateescape")]
    every = {fields.buffer[a:b].tobytes(): None for a, b in zip(starts.tolist(), ends.tolist(), strict=True)}
    return [tag.decode("utf-8", "surrogateescape") for tag in every]


def _bad_number(fields: Fields, row: int, source: str, what: str, column: int) -> InputError:
    return InputError(
        f"{source}, line {fields.line_of(row)}: the {what} of topic {fields.text(row, 0)!r}, document "
        f"{fields.text(row, 2)!r} must be a finite decimal number, got {fields.text(row, column)!r}. Mend the line, "
        f"or leave the document out of the run."
    )


def check_names(names: list[str], where: str) -> None:
    """Raise when a name could not stand in a file of white-space separated columns."""
    bad = [name for name in names if not name or len(name.split()) != 1 or name != name.strip() or "\0" in name]
    if bad:
        raise InputError(
            f"{where}: {examples(bad)} cannot be written to a TREC file, whose columns are separated by white space. "
            f"Rename it first."
        )
