"""TREC run files and qrels files: bytes in, columns out, every fault named with its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import examples, shown
from pt_reuse._errors import Call, InputError, Option, Part
from pt_reuse.engine import tokens
from pt_reuse.engine.places import NoPlaceError
from pt_reuse.engine.run_rows import FileRows, RunRows
from pt_reuse.engine.tokens import Words
from pt_reuse.formats.frames import LONGEST_NAME
from pt_reuse.formats.grades import LABELS, how_to_grade, not_labels
from pt_reuse.formats.lines import NUL, RETURN, BadLineError, Fields
from pt_reuse.formats.numbers import parse_numbers, plain_decimal
from pt_reuse.formats.rank_column import rank_places

RUN_LINE = "six columns: qid Q0 docno rank score tag"
QRELS_LINE = "four columns: qid iteration docno label"
SAMPLE_LINE = "five columns: qid iteration docno stratum label"
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
#: how run files can be read all the same
_SKIP_LINES: tuple[Part, ...] = (" Pass ", Option("bad_lines", "skip"), " to leave out bad lines.")
_SKIP_FILE: tuple[Part, ...] = (" Pass ", Option("other_files", "skip"), " to leave out files without a run line.")
_STRATA = Option("strata", True)
#: why a line of six columns is no run line
_REASONS = (
    "",
    f"a qid of more than {LONGEST_NAME:,} bytes",
    f"a docno of more than {LONGEST_NAME:,} bytes",
    "a score that is no finite number",
    "a rank that is no finite number",
)


@dataclass
class QrelsRows:
    """The lines of a qrels file; `topic` numbers `topics`; `strata` of a sample, else None."""

    topics: list[str]
    topic: NDArray[np.int64]
    docs: Words
    labels: NDArray[np.int16]
    fields: Fields
    strata: Words | None


@dataclass
class RunFile:
    """A run file as read.

    Attributes:
        tags: each tag of its last column with the line on which it stands first.
        rows: its rows in ranking order, named by the first tag.
        longer: (n,) the lines with text after the sixth column, from 1.
        bad: (m,) the lines that were left out, from 1, ascending.
        reasons: why each of them was.
    """

    tags: dict[str, int]
    rows: RunRows
    longer: NDArray[np.int64]
    bad: NDArray[np.int64]
    reasons: list[str]


def parse_run(data: bytes, order: str, *, skip: bool = False) -> RunFile:
    """Read one run file.

    Args:
        data: its text.
        order: the ranking order.
        skip: whether to leave out lines that are no run line.

    Raises:
        InputError: a line that is no run line, the first one; with `skip` where no line is one.
    """
    try:
        return _parse_run(data, order, skip=skip)
    except InputError as error:
        # in a file without any run line it does not help to leave out lines
        lines = _as_told(_SKIP_LINES)
        if error.parts[-len(lines) :] == lines and not has_run_lines(data, order):
            error.parts = (*error.parts[: -len(lines)], *_as_told(_SKIP_FILE))
        raise


def _parse_run(data: bytes, order: str, *, skip: bool) -> RunFile:
    lines = _run_lines(data, order, skip=skip)
    if skip and not len(lines.fields):
        # what is said where nothing is left out
        return parse_run(data, order)
    fields, scores = lines.fields, lines.scores
    topics, topic = _topics(fields)
    docs = _names(fields, 2, "docno")
    tags = _tags(fields)
    if lines.wrong is not None:
        raise _bad_number(fields, lines.wrong, "score")
    rows = FileRows(topics, topic, lambda rows: docs.take(rows, axis=0), scores)
    ranks = rank_places(fields, rows)
    if order == "rank":
        try:
            ranks.check(rows.starts)
        except NoPlaceError as error:
            row = error.row if rows.grouping is None else int(rows.grouping[error.row])
            raise _bad_rank(fields, row) if error.tied else _bad_number(fields, row, "rank") from None
    return RunFile(tags, rows.in_order(next(iter(tags)), order, ranks), fields.longer, lines.bad, lines.reasons)


def without_advice(error: InputError) -> InputError:
    """Return an error of :func:`parse_run` without the advice to leave out lines or files."""
    for advice in map(_as_told, (_SKIP_LINES, _SKIP_FILE)):
        if error.parts[-len(advice) :] == advice:
            error.parts = error.parts[: -len(advice)]
    return error


def _as_told(advice: tuple[Part, ...]) -> tuple[Part, ...]:
    # as an error of now has it, which words options as the caller calls them
    return InputError(*advice).parts


def is_commented(data: bytes) -> bool:
    """Return whether the first line of a text, or what there is of it, is a comment."""
    return data.removeprefix(_BOM).startswith(b"#")


def has_run_lines(data: bytes, order: str) -> bool:
    """Return whether any line of a file is a run line."""
    try:
        return len(_run_lines(data, order, skip=True).fields) > 0
    except InputError:  # nothing but white space
        return False


def lines_in_file(data: bytes, order: str, topics: Sequence[str], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lines, from 1, on which rows of a run stand that was read leaving out bad lines or none.

    Args:
        data: the text of the file.
        order: the ranking order in which it was read.
        topics: (n,) the topic of each row.
        places: (n,) its place among the rows of the topic as they stand in the file, from 1.
    """
    lines = _run_lines(data, order, skip=True)
    names, topic = _topics(lines.fields)
    rows = FileRows(names, topic, lambda rows: np.zeros((len(rows), 1), dtype="<u8"), lines.scores)
    place = {name: t for t, name in enumerate(names)}
    grouped = rows.starts[np.array([place[name] for name in topics], dtype=np.int64)] + places - 1
    return lines.fields.lines_of(grouped if rows.grouping is None else rows.grouping[grouped])


@dataclass
class _RunLines:
    """The run lines of a file, and the lines that are none."""

    fields: Fields
    scores: NDArray[np.float64]
    wrong: int | None  # the first row whose score is no number
    bad: NDArray[np.int64]
    reasons: list[str]


def _run_lines(data: bytes, order: str, *, skip: bool) -> _RunLines:
    fields = _fields(data, 6, RUN_LINE, more=True, skip=skip)
    scores, wrong = parse_numbers(fields.buffer, *fields.column(4))
    if not skip:
        return _RunLines(fields, scores, int(wrong[0]) if len(wrong) else None, fields.bad, [])
    why = np.zeros(len(fields), dtype=np.int8)
    if order == "rank":
        why[parse_numbers(fields.buffer, *fields.column(3))[1]] = 4
    why[wrong] = 3
    for column in (2, 0):
        starts, ends = fields.column(column)
        why[ends - starts > LONGEST_NAME] = 1 + column // 2
    odd = np.flatnonzero(why)
    # one text for all lines of one fault
    missing = {found: _fields_missing(found) for found in np.unique(fields.found).tolist()}
    bad, reasons = fields.bad, [missing[found] for found in fields.found.tolist()]
    if len(odd):
        bad = np.concatenate([bad, fields.lines_of(odd)])
        reasons += [_REASONS[kind] for kind in why[odd].tolist()]
        fields.keep(why == 0)
        scores = scores[why == 0]
        by_line = np.argsort(bad)
        bad, reasons = bad[by_line], [reasons[i] for i in by_line.tolist()]
    return _RunLines(fields, scores, None, bad, reasons)


def _fields_missing(found: int) -> str:
    return {NUL: "a NUL byte", RETURN: "a carriage return behind the sixth column"}.get(found, f"{found} of 6 columns")


def parse_qrels(data: bytes, *, strata: bool = False) -> QrelsRows:
    """Read one qrels file in its own line order, of judgments of a sample where it has `strata`."""
    fields = _fields(data, *((5, SAMPLE_LINE) if strata else (4, QRELS_LINE)))
    topics, topic = _topics(fields)
    docs = _names(fields, 2, "docno")
    values, _ = parse_numbers(fields.buffer, *fields.column(c := 3 + strata))
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row = int(odd[0])
        raise InputError(
            f"the label of {_document(fields, row)} must be a whole number from {LABELS[0]} to {LABELS[1]}, got "
            f"{shown(fields.text(row, c))}. ",
            *how_to_grade(float(values[row])),
            place=_line(fields, row),
        )
    found = _names(fields, 3, "stratum") if strata else None
    return QrelsRows(topics, topic, docs, values.astype(np.int16), fields, found)


def _fields(data: bytes, columns: int, line: str, *, more: bool = False, skip: bool = False) -> Fields:
    data = data.removeprefix(_BOM)
    if not data or data.isspace():
        raise _nothing("holds nothing but white space" if data else "is empty", columns, line)
    if b"\0" in data and not skip:
        at = data[: data.index(b"\0")].count(b"\n") + 1
        raise InputError(
            f"a NUL byte, so this is not a plain text file (an image, an archive, or UTF-16?). Expected UTF-8 text of "
            f"{line}.",
            *(_SKIP_LINES if columns == 6 else ()),
            place=f"line {at:,}",
        )
    try:
        fields = Fields(data, columns, more=more, skip=skip)
    except BadLineError as error:
        if error.found == RETURN:
            raise InputError(
                f"a carriage return, but no newline, behind the sixth column in {shown(error.text)}. Where lines end "
                f"so, as on old systems, all others would be passed over. Write newlines in their place first.",
                *_SKIP_LINES,
                place=f"line {error.line:,}",
            ) from None
        raise InputError(
            f"expected {line}; found {error.found:,} in {shown(error.text)}. ",
            *_advice(error, columns),
            place=f"line {error.line:,}",
        ) from None
    if not len(fields) and not skip:
        raise _nothing("holds nothing but comments", columns, line)
    return fields


def _nothing(what: str, columns: int, line: str) -> InputError:
    advice = _SKIP_FILE if columns == 6 else ()
    return InputError(f"the file {what}; expected one line per document of {line}.", *advice)


def _advice(error: BadLineError, columns: int) -> tuple[Part, ...]:
    # what to do about a line with another number of fields
    if not error.first:
        return ("Mend or remove the line; names must not hold white space.", *(_SKIP_LINES if columns == 6 else ()))
    # by the white space of bytes: a text has more of it, which may stand in names
    cells = [cell.decode() for cell in error.text.encode().split()]
    if columns == 6 and error.found == 4 and _is_whole(cells[3]):
        return ("This looks like qrels (four columns). Use ", Call("read_qrels"), ".", *_SKIP_FILE)
    if columns == 4 and error.found == 5 and _is_whole(cells[4]):
        return ("Where this is a sample with its strata, qid iteration docno stratum label, pass ", _STRATA, ".")
    if columns == 4 and error.found == 6 and np.isfinite(_number(cells[3]) + _number(cells[4])):
        return ("This looks like a run file (six columns). Use ", Call("read_runs"), ".")
    away = "If this is no such file, move it away or give a pattern such as 'input.*'."
    return (away, *(_SKIP_LINES if columns == 6 else ()))


def _is_whole(text: str) -> bool:
    value = _number(text)
    return bool(np.isfinite(value)) and value == int(value)


def _number(text: str) -> float:
    return plain_decimal(text.encode("utf-8", "replace"))


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
            f"Is this a {'run' if fields.columns == 6 else 'qrels'} file?",
            *(_SKIP_LINES if fields.columns == 6 else ()),
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
        f"the {what} of {_document(fields, row)} must be a finite decimal number, got {shown(got)}. ",
        "Mend the line, or leave the document out of the run.",
        *_SKIP_LINES,
        place=_line(fields, row),
    )


def _bad_rank(fields: Fields, row: int) -> InputError:
    return InputError(
        f"{_document(fields, row)} has rank {fields.text(row, 3)}, which another document of the topic has too, so ",
        *NO_ORDER,
        place=_line(fields, row),
    )


def _document(fields: Fields, row: int) -> str:
    return f"topic {shown(fields.text(row, 0))}, document {shown(fields.text(row, 2))}"


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


def check_topics(topics: Iterable[str]) -> None:
    """Raise when a topic id could not stand in a file: it is no one column, or its line would be a comment."""
    topics = list(topics)
    check_names(topics, "topic")
    comments = [topic for topic in topics if topic.startswith("#")]
    if comments:
        raise InputError(
            f"the topic {examples(comments)} cannot be written to a TREC file, in which a line that begins with # is a "
            f"comment. Rename it first."
        )


def _split(name: str) -> list[bytes]:
    return name.encode("utf-8", "surrogateescape").split()
