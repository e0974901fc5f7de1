"""TREC run files and qrels files: bytes in, columns out, every fault named with its line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import examples
from pt_reuse._errors import Call, InputError, Option, Part
from pt_reuse.engine import tokens
from pt_reuse.engine.places import NoPlaceError
from pt_reuse.engine.run_rows import FileRows, RunRows
from pt_reuse.engine.tokens import Words
from pt_reuse.formats.frames import LONGEST_NAME
from pt_reuse.formats.lines import BadLineError, Fields
from pt_reuse.formats.numbers import parse_numbers
from pt_reuse.formats.rank_column import rank_places

RUN_LINE = "six columns: qid Q0 docno rank score tag"
QRELS_LINE = "four columns: qid iteration docno label"
_BOM = b"\xef\xbb\xbf"
#: what to do about a rank column that gives no order
NO_ORDER: tuple[Part, ...] = (
    Option("order", "rank"),
    " has no order to follow. Use ",
    Option("order", "trec_eval"),
    " (by score) or ",
    Option("order", "file"),
    ".",
)
LABELS = (-(2**15), 2**15 - 1)


@dataclass
class QrelsRows:
    """The lines of a qrels file; `topic` numbers `topics`."""

    topics: list[str]
    topic: NDArray[np.int64]
    docs: Words
    labels: NDArray[np.int16]
    fields: Fields


def parse_run(data: bytes, order: str) -> tuple[dict[str, int], RunRows]:
    """Read one run file: (each tag of its last column with its first line, its rows in ranking order).

    The rows are named by the first tag.
    """
    fields = _fields(data, 6, RUN_LINE, {4: ("This looks like qrels (four columns). Use ", Call("read_qrels"))})
    topics, topic = _topics(fields)
    docs = _names(fields, 2, "docno")
    tags = _tags(fields)
    scores, wrong = parse_numbers(fields.buffer, *fields.column(4))
    if len(wrong):
        raise _bad_number(fields, int(wrong[0]), "score")
    rows = FileRows(topics, topic, lambda rows: docs.take(rows, axis=0), scores)
    ranks = rank_places(fields, rows)
    if order == "rank":
        try:
            ranks.check(rows.starts)
        except NoPlaceError as error:
            row = error.row if rows.grouping is None else int(rows.grouping[error.row])
            raise _bad_rank(fields, row) if error.tied else _bad_number(fields, row, "rank") from None
    return tags, rows.in_order(next(iter(tags)), order, ranks)


def parse_qrels(data: bytes) -> QrelsRows:
    """Read one qrels file in its own line order."""
    fields = _fields(data, 4, QRELS_LINE, {6: ("This looks like a run file (six columns). Use ", Call("read_runs"))})
    topics, topic = _topics(fields)
    docs = _names(fields, 2, "docno")
    values, _ = parse_numbers(fields.buffer, *fields.column(3))
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row = int(odd[0])
        raise InputError(
            f"the label of {_document(fields, row)} must be a whole number from {LABELS[0]} to {LABELS[1]}, got "
            f"{fields.text(row, 3)!r}. Map the labels to whole grades (0 not relevant, 1, 2, ... relevant) first.",
            place=_line(fields, row),
        )
    return QrelsRows(topics, topic, docs, values.astype(np.int16), fields)


def not_labels(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are no labels: not whole, too large, or not finite."""
    return ~((values == np.floor(values)) & (values >= LABELS[0]) & (values <= LABELS[1]))


def _fields(data: bytes, columns: int, line: str, other_kinds: dict[int, tuple[str, Call]]) -> Fields:
    data = data.removeprefix(_BOM)
    if not data or data.isspace():
        what = "holds nothing but white space" if data else "is empty"
        raise InputError(f"the file {what}; expected one line per document of {line}.")
    if b"\0" in data:
        at = data[: data.index(b"\0")].count(b"\n") + 1
        raise InputError(
            f"a NUL byte, so this is not a plain text file (an image, an archive, or UTF-16?). Expected UTF-8 text of "
            f"{line}.",
            place=f"line {at:,}",
        )
    try:
        return Fields(data, columns)
    except BadLineError as error:
        shown = error.text if len(error.text) <= 80 else error.text[:77] + "..."
        advice: tuple[Part, ...] = ("Mend or remove the line; names must not hold white space.",)
        if error.line == 1:
            away = "If this is no such file, move it away or give a pattern such as 'input.*'."
            advice = (*other_kinds[error.found], ".") if error.found in other_kinds else (away,)
        raise InputError(
            f"expected {line}; found {error.found:,} in {shown!r}. ", *advice, place=f"line {error.line:,}"
        ) from None


def _topics(fields: Fields) -> tuple[list[str], NDArray[np.int64]]:
    words = _names(fields, 0, "qid")
    new = np.ones(len(words), dtype=np.bool_)
    np.not_equal(words[1:, 0], words[:-1, 0], out=new[1:])
    for w in range(1, words.shape[1]):
        new[1:] |= words[1:, w] != words[:-1, w]
    block_starts = np.flatnonzero(new)
    blocks = words[block_starts]
    codes, first = tokens.factorize(blocks)
    lengths = np.diff(np.concatenate([block_starts, [len(words)]]))
    return tokens.decode(tokens.as_tokens(blocks[first])), np.repeat(codes, lengths)


def _names(fields: Fields, column: int, what: str) -> Words:
    starts, ends = fields.column(column)
    lengths = ends - starts
    if int(lengths.max()) > LONGEST_NAME:
        row = int(np.argmax(lengths))
        raise InputError(
            f"a {what} of {int(lengths[row]):,} bytes; the longest that can be read has {LONGEST_NAME:,}. "
            f"Is this a run file?",
            place=_line(fields, row),
        )
    return tokens.words_at(fields.buffer, starts, ends)


def _tags(fields: Fields) -> dict[str, int]:
    # each tag and the line on which it stands first
    starts, ends = fields.column(5)
    first = fields.buffer[starts[0] : ends[0]].tobytes()
    if _all_equal(fields, starts, ends, first):
        return {first.decode("utf-8", "surrogateescape"): fields.line_of(0)}
    rows: dict[bytes, int] = {}
    for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        rows.setdefault(fields.buffer[start:end].tobytes(), row)
    lines = fields.lines_of(np.fromiter(rows.values(), dtype=np.int64))
    return {tag.decode("utf-8", "surrogateescape"): line for tag, line in zip(rows, lines.tolist(), strict=True)}


def _all_equal(fields: Fields, starts: NDArray[np.int64], ends: NDArray[np.int64], token: bytes) -> bool:
    if (ends - starts != len(token)).any():
        return False
    for at in range(0, len(token), 8):
        part = token[at : at + 8]
        word, keep = np.uint64(int.from_bytes(part, "little")), np.uint64((1 << 8 * len(part)) - 1)
        if ((fields.words[starts + at] ^ word) & keep).any():
            return False
    return True


def _bad_number(fields: Fields, row: int, what: str) -> InputError:
    got = fields.text(row, 3 if what == "rank" else 4)
    return InputError(
        f"the {what} of {_document(fields, row)} must be a finite decimal number, got {got!r}. Mend the line, or leave "
        f"the document out of the run.",
        place=_line(fields, row),
    )


def _bad_rank(fields: Fields, row: int) -> InputError:
    return InputError(
        f"{_document(fields, row)} has rank {fields.text(row, 3)}, which another document of the topic has too, so ",
        *NO_ORDER,
        place=_line(fields, row),
    )


def _document(fields: Fields, row: int) -> str:
    return f"topic {fields.text(row, 0)!r}, document {fields.text(row, 2)!r}"


def _line(fields: Fields, row: int) -> str:
    return f"line {fields.line_of(row):,}"


def find_document(data: bytes, topic: str, docno: str) -> list[int]:
    """Return the lines, from 1, on which a document stands for a topic."""
    wanted = [name.encode("utf-8", "surrogateescape") for name in (topic, docno)]
    lines = data.removeprefix(_BOM).split(b"\n")
    return [number for number, line in enumerate(lines, 1) if line.split()[:3:2] == wanted]


def check_names(names: Iterable[str], what: str) -> None:
    """Raise when a name could not stand in a file of white-space separated columns."""
    bad = [name for name in names if "\0" in name or [name.encode("utf-8", "surrogateescape")] != _split(name)]
    if bad:
        raise InputError(
            f"the {what} {examples(bad)} cannot be written to a TREC file, whose columns are separated by white space. "
            f"Rename it first."
        )


def _split(name: str) -> list[bytes]:
    return name.encode("utf-8", "surrogateescape").split()
