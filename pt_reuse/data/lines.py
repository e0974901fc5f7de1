"""Lines of run files and judgments: regular text is split without a loop, all other text line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import FileRows
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.frame_columns import LONGEST_NAME, parse_numbers, plain_decimal
from pt_reuse.errors import InputError, shown

RUN_LINE = "six columns: qid Q0 docno rank score tag"
QRELS_LINE = "four columns: qid iteration docno label"
SAMPLE_LINE = "five columns: qid iteration docno stratum label"
BOM = b"\xef\xbb\xbf"
#: how run files can be read all the same
SKIP = " Pass bad_lines='skip' to leave out bad lines, or other_files='skip' files without a run line."
_QID, _DOCNO, _RANK, _SCORE, _TAG = 0, 2, 3, 4, 5
_OF_RUN = 6  # columns
#: what lines of so many columns may be
_LOOKS = {4: "qrels (four columns)", 5: "a sample with its strata, for strata=True", 6: "a run file (six columns)"}
_SPARE = 40  # words are loaded 8 bytes at a time and numbers 40 bytes back from their end
_NEWLINE, _COMMENT = ord("\n"), ord("#")


class Fields:
    """The fields of a text of `columns` fields a line: where each begins and ends in `buffer`."""

    def __init__(self, data: bytes, columns: int, *, before: int = 0, lines: NDArray[np.int64] | None = None):
        close, blank = b"" if data.endswith(b"\n") else b"\n", b" " * _SPARE
        self.buffer = np.frombuffer(b"".join((blank, b"\n", data, close, blank)), dtype=np.uint8)
        #: the eight bytes from each byte on, as a number whose lowest byte comes first
        self.words = np.ndarray((len(self.buffer) - 7,), dtype="<u8", buffer=self.buffer, strides=(1,))
        self.columns, self._before, self._lines = columns, before, lines
        self._numbers: dict[int, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}
        inner = self.buffer[_SPARE:-_SPARE]
        spaces = np.flatnonzero(inner <= 32)
        white = inner[spaces]
        if not _are_white(white).all():
            # other control characters, which are part of words
            spaces = np.flatnonzero(_are_white(inner))
            white = inner[spaces]
        gaps = np.diff(spaces)
        newlines = int(np.count_nonzero(white == _NEWLINE))
        spaces += _SPARE
        if int(gaps.min()) > 1:
            # usually one byte stands between two fields
            self._begins, self._ends, in_front = spaces[:-1], spaces[1:], white[:-1:columns]
        else:
            first = np.flatnonzero(gaps > 1)
            self._begins, self._ends, in_front = spaces[first], spaces[first + 1], white[first[::columns]]
        self._rows, over = divmod(len(self._begins), columns)
        #: whether each line is a row; then each begins behind a newline, of which there are no more
        self.plain = (
            not over and newlines == self._rows + 1 and bool((in_front == _NEWLINE).all()) and b"\0" not in data
        )
        if self.plain and b"#" in data:
            self.plain = not (self.buffer[self.column(0)[0]] == _COMMENT).any()

    def __len__(self) -> int:
        return self._rows

    def column(self, c: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the fields of a column start and end, as indices into `buffer`."""
        return self._begins[c :: self.columns] + 1, self._ends[c :: self.columns].copy()

    def numbers(self, c: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the numbers of a column, and the rows that have no finite one; they are read once."""
        if c not in self._numbers:
            self._numbers[c] = parse_numbers(self.buffer, *self.column(c))
        return self._numbers[c]

    def line_of(self, row: int) -> int:
        """Return the number of the line, from 1, on which a row stands."""
        return int(self.lines_of(np.array([row]))[0])

    def lines_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the lines, from 1, on which rows stand."""
        return rows + 1 + self._before if self._lines is None else self._lines[rows]

    def text(self, row: int, column: int) -> str:
        """Return one field as text."""
        i = row * self.columns + column
        return self.buffer[self._begins[i] + 1 : self._ends[i]].tobytes().decode("utf-8", "backslashreplace")


def _are_white(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    # the white space of bytes.split(): blank, tab, newline, vertical tab, form feed, carriage return
    return ((text - np.uint8(9)) < 5) | (text == 32)


@dataclass
class Lines:
    """The rows of a text, and the lines that are none; numbers of lines are from 1."""

    fields: Fields
    longer: Sequence[int] = ()  # the rows' lines with text after their last column
    bad: Sequence[tuple[int, str]] = ()  # the lines that are left out, each with why


def _line_by_line(
    data: bytes,
    columns: int,
    fault_of: Callable[[bytes, list[bytes]], str | None],
    expected: str,
    *,
    skip: bool = False,
    before: int = 0,
    first: bool = True,
) -> Lines:
    """Return the rows of any text; a line with a fault is left out, or is an error."""
    rows: list[bytes] = []
    numbers, longer, bad = [], [], []
    for number, line in enumerate(BytesIO(data), before + 1):
        cells = line.split(None, columns)
        if b"\0" not in line and (not cells or cells[0].startswith(b"#")):
            continue
        fault = "a NUL byte" if b"\0" in line else fault_of(line, cells)
        if fault is None:
            rows.append(b" ".join(cells[:columns]))
            numbers.append(number)
            longer += [number] if len(cells) > columns else []
        elif skip:
            bad.append((number, fault))
        else:
            text = shown(line.strip().decode("utf-8", "backslashreplace"))
            advice = _advice(line.split(), columns, first=first and not rows)
            if b"\0" in data:
                advice = "It has NUL bytes, so it is no plain text: an image, an archive, or UTF-16?"
            raise InputError(f"expected {expected}; found {fault} in {text}. {advice}", place=f"line {number:,}")
    fields = Fields(b"\n".join(rows), columns, lines=np.array(numbers, dtype=np.int64))
    return Lines(fields, longer, bad)


def _advice(cells: list[bytes], columns: int, *, first: bool) -> str:
    # what to do about a line that is no row
    skip = SKIP if columns == _OF_RUN else ""
    if first and len(cells) in _LOOKS and len(cells) != columns:
        return f"This looks like {_LOOKS[len(cells)]}.{skip}"
    return f"Mend or remove the line; names must not hold white space.{skip}"


def nothing_in(columns: int, line: str) -> InputError:
    """Return what is wrong with a file without a row."""
    advice = SKIP if columns == _OF_RUN else ""
    return InputError(f"the file has no line but blank ones and comments; expected one per document of {line}.{advice}")


def qrels_fields(data: bytes, columns: int, line: str) -> Fields:
    """Return the fields of the lines of a file of judgments."""
    data = data.removeprefix(BOM)
    if not data or data.isspace():
        raise nothing_in(columns, line)

    def fault_of(text: bytes, cells: list[bytes]) -> str | None:
        return None if len(cells) == columns else f"{len(text.split())}"

    fields = Fields(data, columns)
    if not fields.plain:
        fields = _line_by_line(data, columns, fault_of, line).fields
    if not len(fields):
        raise nothing_in(columns, line)
    return fields


def lines_of_run(data: bytes, order: str, *, skip: bool, before: int = 0, first: bool = True) -> Lines:
    """Return the run lines of a part of a file, and the lines that are none."""
    fields = Fields(data, _OF_RUN, before=before)
    numbers = (_SCORE, _RANK) if order == "rank" else (_SCORE,)
    if fields.plain and not any(len(fields.numbers(c)[1]) for c in numbers):
        lengths = (np.subtract(*fields.column(c)) for c in (_QID, _DOCNO))
        if min(int(length.min(initial=0)) for length in lengths) >= -LONGEST_NAME:
            return Lines(fields)

    def fault_of(line: bytes, cells: list[bytes]) -> str | None:
        if len(cells) < _OF_RUN:
            return f"{len(cells)} of {_OF_RUN} columns"
        if len(cells) > _OF_RUN and b"\r" in line.split(None, _TAG)[_TAG].rstrip():
            # where lines end so, as on old systems, all others would be passed over
            return "a carriage return behind the sixth column"
        for column, what in ((_QID, "qid"), (_DOCNO, "docno")):
            if len(cells[column]) > LONGEST_NAME:
                return f"a {what} of more than {LONGEST_NAME:,} bytes"
        odd = next((column for column in numbers if not np.isfinite(plain_decimal(cells[column]))), None)
        return None if odd is None else f"a {'score' if odd == _SCORE else 'rank'} that is no finite number"

    return _line_by_line(data, _OF_RUN, fault_of, RUN_LINE, skip=skip, before=before, first=first)


def topics_in(fields: Fields) -> tuple[list[str], NDArray[np.int64]]:
    """Return the topics of the rows, in the order in which they appear, and which one each row has."""
    words = names_in(fields, _QID, "qid")
    new = np.ones(len(words), dtype=np.bool_)
    new[1:] = (words[1:] != words[:-1]).any(axis=1) if words.shape[1] > 1 else words[1:, 0] != words[:-1, 0]
    starts = np.flatnonzero(new)
    codes, first = tokens.factorize(words[starts])
    names = tokens.decode(tokens.as_tokens(words[starts][first]))
    return names, np.repeat(codes, np.diff(starts, append=len(words)))


def names_in(fields: Fields, column: int, what: str) -> Words:
    """Return the names of a column; `what` they are is told of one that is too long."""
    starts, ends = fields.column(column)
    lengths = ends - starts
    if int(lengths.max(initial=0)) > LONGEST_NAME:
        row = int(np.argmax(lengths))
        problem = f"a {what} of {int(lengths[row]):,} bytes; the longest that can be read has {LONGEST_NAME:,}"
        raise InputError(f"{problem}. Is this a qrels file?", place=place_of(fields, row))
    return tokens.words_at(fields.buffer, starts, ends)


def document_in(fields: Fields, row: int) -> str:
    """Return topic and document of a row in words."""
    return f"topic {shown(fields.text(row, _QID))}, document {shown(fields.text(row, _DOCNO))}"


def place_of(fields: Fields, row: int) -> str:
    """Return the line of a row in words."""
    return f"line {fields.line_of(row):,}"


@dataclass
class RunPart:
    """The rows of a chunk of a run, topic by topic, or of a row group of a table, as they stand there."""

    topics: list[str]  # topic names, each once
    topic: NDArray[np.int64]  # (rows,) the topic of each row, as a position among the topics
    docs: Words  # (rows, k) words of the document names
    scores: NDArray[np.float64]  # (rows,) finite
    ranks: NDArray[np.float64] | None  # (rows,) NaN where there is none; None without such a column
    run: NDArray[np.int64] | int = 0  # (rows,) the run of each row


class RunParts:
    """A run file that comes in chunks of whole lines; what is said of the file holds once the last was read."""

    def __init__(self, chunks: Callable[[], Iterator[bytes]], order: str, *, skip: bool):
        self._chunks, self.order, self.skip = chunks, order, skip
        self.tags: dict[str, int] = {}  # tag -> the first line that has it
        self.longer: list[int] = []
        self.bad: list[tuple[int, str]] = []
        self.n_rows = 0

    def has_run_lines(self) -> bool:
        """Return whether any line of the file is a run line."""
        every = (lines_of_run(data, self.order, skip=True) for data in _without_mark(self._chunks()))
        return self.n_rows > 0 or any(len(lines.fields) for lines in every)

    def read(self) -> Iterator[RunPart]:
        """Yield the rows of each chunk; a fault is that of the first chunk with one."""
        before, last = 0, b""
        for data in _without_mark(self._chunks()):
            before, last = before + last.count(b"\n"), data
            if data and not data.isspace():
                lines = lines_of_run(data, self.order, skip=self.skip, before=before, first=not self.n_rows)
                self.longer += lines.longer
                self.bad += lines.bad
                if len(lines.fields):
                    yield self._part(lines.fields)
        if not self.n_rows and self.skip:
            # what is said where nothing is left out
            yield from RunParts(self._chunks, self.order, skip=False).read()
        if not self.n_rows:
            raise nothing_in(_OF_RUN, RUN_LINE)

    def _part(self, fields: Fields) -> RunPart:
        self.n_rows += len(fields)
        for tag, line in _tags(fields).items():
            self.tags.setdefault(tag, line)
        rows = _rows(fields)
        docs = rows.docs if rows.grouping is None else rows.docs.take(rows.grouping, axis=0)
        ranks, wrong = parse_numbers(fields.buffer, *fields.column(_RANK))
        ranks[wrong] = np.nan
        topic, scores = rows.grouped(rows.topic), rows.grouped(rows.scores)
        return RunPart(rows.topics, topic, docs, scores, rows.grouped(ranks))


def _rows(fields: Fields) -> FileRows:
    topics, topic = topics_in(fields)
    return FileRows(topics, topic, names_in(fields, _DOCNO, "docno"), fields.numbers(_SCORE)[0])


def _tags(fields: Fields) -> dict[str, int]:
    # each tag, and the line on which it stands first
    starts, ends = fields.column(_TAG)
    text, first = fields.buffer[starts[0] : ends[0]].tobytes(), np.zeros(1, dtype=np.int64)
    alike = bool((ends - starts == len(text)).all())
    for at in range(0, len(text) if alike else 0, 8):
        # the bytes of the first tag are the lowest of a word
        word, beyond = int.from_bytes(text[at : at + 8], "little"), max(0, 64 - 8 * (len(text) - at))
        alike = alike and not ((fields.words[starts + at] ^ np.uint64(word)) << np.uint64(beyond)).any()
    if not alike:
        first = tokens.factorize(tokens.words_at(fields.buffer, starts, ends))[1]
    texts = tokens.as_texts([fields.buffer[starts[row] : ends[row]].tobytes() for row in first.tolist()])
    return dict(zip(texts, fields.lines_of(first).tolist(), strict=True))


def rows_in_file(
    chunks: Iterable[bytes], order: str, topics: Sequence[str], places: NDArray[np.int64]
) -> Iterator[tuple[Fields, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the fields of each chunk with some of the rows that are given by topic and place among its rows, from 1.

    Beside the fields: which of the given rows these are, and which rows of the fields.
    """
    number = {name: t for t, name in enumerate(dict.fromkeys(topics))}
    topic_of = np.array([number[name] for name in topics], dtype=np.int64)
    seen, before = np.zeros(len(number), dtype=np.int64), 0
    for data in _without_mark(chunks):
        fields = lines_of_run(data, order, skip=True, before=before).fields
        before += data.count(b"\n")
        if not len(fields):
            continue
        rows = _rows(fields)
        starts, sizes = np.zeros((2, len(number)), dtype=np.int64)
        for t, name in enumerate(rows.topics):
            if name in number:
                starts[number[name]], sizes[number[name]] = rows.starts[t], rows.starts[t + 1] - rows.starts[t]
        here = places - seen[topic_of]
        wanted = np.flatnonzero((here >= 1) & (here <= sizes[topic_of]))
        grouped = starts[topic_of[wanted]] + here[wanted] - 1
        if len(wanted):
            yield fields, wanted, grouped if rows.grouping is None else rows.grouping[grouped]
        seen += sizes


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for i, data in enumerate(chunks):
        yield data if i else data.removeprefix(BOM)
