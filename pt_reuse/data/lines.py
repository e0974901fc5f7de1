"""Lines of run files and judgments: split into fields without a loop, and a run file read chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.places import FileRows
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.frame_columns import LONGEST_NAME, parse_numbers, plain_decimal
from pt_reuse.errors import InputError

_SPARE = 40  # words are loaded 8 bytes at a time and numbers 40 bytes back from their end
_NEWLINE, _RETURN, _COMMENT = ord("\n"), ord("\r"), ord("#")
#: what stands for the number of fields of a line with a NUL byte, or of lines that a carriage return alone divides
NUL, RETURN = -1, -2


class BadLineError(Exception):
    """A line that does not have the expected number of fields; `first` where no line but comments is before it."""

    def __init__(self, line: int, found: int, text: str, *, first: bool):
        super().__init__(line, found, text)
        self.line, self.found, self.text, self.first = line, found, text, first


class Fields:
    """The fields of a text of `columns` fields a line: where each begins and ends in `buffer`."""

    def __init__(self, data: bytes, columns: int, *, more: bool = False, skip: bool = False, before: int = 0):
        close = b"" if data.endswith(b"\n") else b"\n"
        blank = b" " * _SPARE
        self.buffer = np.frombuffer(b"".join((blank, b"\n", data, close, blank)), dtype=np.uint8)
        self.columns, self._before = columns, before
        self._kept: dict[int, NDArray[np.int64]] = {}
        self.longer = self.bad = self.found = np.zeros(0, dtype=np.int64)
        #: the eight bytes from each byte on, as a number whose lowest byte comes first
        self.words = np.ndarray((len(self.buffer) - 7,), dtype="<u8", buffer=self.buffer, strides=(1,))
        inner = self.buffer[_SPARE:-_SPARE]
        spaces = np.flatnonzero(inner <= 32)
        found = inner[spaces]
        if not _are_white(found).all():
            # other control characters, which are part of words
            spaces = np.flatnonzero(_are_white(inner))
            found = inner[spaces]
        newlines = int(np.count_nonzero(found == _NEWLINE))
        # usually one byte stands between two fields; then these bytes alone say where all fields are
        gaps = np.diff(spaces)
        self._single = int(gaps.min()) > 1
        spaces += _SPARE
        first = None
        if self._single:
            self._edges = spaces
            fields, preceding = len(spaces) - 1, found[:-1:columns]
        else:
            first = np.flatnonzero(gaps > 1)
            self._edges = np.stack([spaces[first] + 1, spaces[first + 1]], axis=1).ravel()
            fields, preceding = len(first), found[first[::columns]]
        self._rows = fields // columns
        # no row is cut: each begins behind a newline of its own, and there are no more newlines than rows
        one_a_line = newlines == self._rows + 1 and bool((preceding == _NEWLINE).all())
        self.plain = fields % columns == 0 and one_a_line and not (skip and b"\0" in data)
        if self.plain and b"#" in data:
            self.plain = not (self.buffer[self.column(0)[0]] == _COMMENT).any()
        if not self.plain:
            line = np.cumsum(found == _NEWLINE)[:-1] if first is None else np.cumsum(found == _NEWLINE)[first]
            self._take_lines(line, more=more, skip=skip)

    def _take_lines(self, line: NDArray[np.int64], *, more: bool, skip: bool) -> None:
        # `line` is that of each field, from 1; rows are the lines that are no comments and have the fields
        starts, ends = (self._edges[:-1] + 1, self._edges[1:]) if self._single else self._edges.reshape(-1, 2).T
        begin = np.flatnonzero(np.diff(line, prepend=0))
        lines, counts = line[begin], np.diff(begin, append=len(line))
        comment = self.buffer[starts[begin]] == _COMMENT
        wrong = ~comment & ((counts < self.columns) if more else (counts != self.columns))
        says = counts
        if more and len(returns := np.flatnonzero(self.buffer == _RETURN)):
            longer = np.flatnonzero(~comment & (counts > self.columns))
            behind, last = ends[begin[longer] + self.columns - 1], starts[begin[longer] + counts[longer] - 1]
            longer = longer[np.searchsorted(returns, behind) < np.searchsorted(returns, last)]
            says = counts.copy()
            says[longer], wrong[longer] = RETURN, True
        if skip:
            nul = np.isin(lines, _lines_of(self.buffer, np.flatnonzero(self.buffer == 0)))
            wrong |= nul
            self.bad, self.found = lines[wrong] + self._before, np.where(nul, NUL, says)[wrong]
        elif wrong.any():
            i = int(np.argmax(wrong))
            text = self._text_of_line(int(lines[i]))
            raise BadLineError(int(lines[i]) + self._before, int(says[i]), text, first=bool(comment[:i].all()))
        rows = ~(comment | wrong)
        self.longer = lines[rows & (counts > self.columns)] + self._before
        self._set_edges(starts, ends, begin[rows])

    def _set_edges(self, starts: NDArray[np.int64], ends: NDArray[np.int64], firsts: NDArray[np.int64]) -> None:
        # rows begin with the fields `firsts` of those that start and end there
        edges = np.empty((len(firsts), self.columns, 2), dtype=np.int64)
        for c in range(self.columns):
            edges[:, c, 0], edges[:, c, 1] = starts[firsts + c], ends[firsts + c]
        self._rows, self._single, self._edges = len(firsts), False, edges.ravel()
        self._kept.clear()

    def __len__(self) -> int:
        return self._rows

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Keep the rows marked; the lines of the others count as bad no more than they did."""
        starts, ends = np.stack([self.column(c) for c in range(self.columns)], axis=2)
        self._set_edges(starts.ravel(), ends.ravel(), np.flatnonzero(rows) * self.columns)
        self.plain = False

    def column(self, c: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the fields of a column start and end, as indices into `buffer`."""
        if self._single:
            return self._edge(c) + 1, self._edge(c + 1)
        step = 2 * self.columns
        return self._edges[2 * c :: step].copy(), self._edges[2 * c + 1 :: step].copy()

    def _edge(self, c: int) -> NDArray[np.int64]:
        # the white space before each field of a column, kept as it is the end of the field before
        if c not in self._kept:
            if c == self.columns:
                self._kept[c] = np.append(self._edge(0)[1:], self._edges[-1])
            else:
                self._kept[c] = np.ascontiguousarray(self._edges[c : -1 : self.columns])
        return self._kept[c]

    def _text_of_line(self, line: int) -> str:
        newlines = np.flatnonzero(self.buffer == _NEWLINE)
        text: bytes = self.buffer[newlines[line - 1] + 1 : newlines[line]].tobytes()
        return text.strip().decode("utf-8", "backslashreplace")

    def line_of(self, row: int) -> int:
        """Return the number of the line, from 1, on which a row stands."""
        start = self._place(row, 0)[0]
        return int(np.count_nonzero(self.buffer[:start] == _NEWLINE)) + self._before

    def lines_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the lines, from 1, on which rows stand."""
        return _lines_of(self.buffer, self.column(0)[0][rows]) + self._before

    def text(self, row: int, column: int) -> str:
        """Return one field as text."""
        start, end = self._place(row, column)
        return self.buffer[start:end].tobytes().decode("utf-8", "backslashreplace")

    def _place(self, row: int, column: int) -> tuple[int, int]:
        i = row * self.columns + column
        if self._single:
            return int(self._edges[i]) + 1, int(self._edges[i + 1])
        return int(self._edges[2 * i]), int(self._edges[2 * i + 1])


def _lines_of(buffer: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.int64]:
    # the newline put in front makes this the number from 1 of the line of each place
    return np.searchsorted(np.flatnonzero(buffer == _NEWLINE), places)


def _are_white(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    # the white space of bytes.split(): blank, tab, newline, vertical tab, form feed, carriage return
    return ((text - np.uint8(9)) < 5) | (text == 32)


RUN_LINE = "six columns: qid Q0 docno rank score tag"
QRELS_LINE = "four columns: qid iteration docno label"
SAMPLE_LINE = "five columns: qid iteration docno stratum label"
BOM = b"\xef\xbb\xbf"
#: how run files can be read all the same
SKIP = " Pass bad_lines='skip' to leave out bad lines, or other_files='skip' files without a run line."
#: why a line of six columns is no run line
_REASONS = (
    "",
    f"a qid of more than {LONGEST_NAME:,} bytes",
    f"a docno of more than {LONGEST_NAME:,} bytes",
    "a score that is no finite number",
    "a rank that is no finite number",
)


@dataclass
class RunLines:
    """The run lines of a text, and the lines that are none."""

    fields: Fields  # the run lines
    scores: NDArray[np.float64]  # of each
    wrong: int | None  # the first row whose score is no number, None where all are
    bad: NDArray[np.int64]  # (m,) the lines that are left out, from 1
    reasons: list[str]  # why each of them is


def lines_of_run(fields: Fields, order: str, *, skip: bool) -> RunLines:
    """Tell the run lines of a text from those that are none."""
    scores, wrong = parse_numbers(fields.buffer, *fields.column(4))
    if not skip:
        return RunLines(fields, scores, int(wrong[0]) if len(wrong) else None, fields.bad, [])
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
    return RunLines(fields, scores, None, bad, reasons)


def _fields_missing(found: int) -> str:
    return {NUL: "a NUL byte", RETURN: "a carriage return behind the sixth column"}.get(found, f"{found} of 6 columns")


def is_commented(data: bytes) -> bool:
    """Return whether the first line of a text, or what there is of it, is a comment."""
    return data.removeprefix(BOM).startswith(b"#")


def has_run_lines(data: bytes, order: str) -> bool:
    """Return whether any line of a text is a run line."""
    data = data.removeprefix(BOM)
    if not data or data.isspace():
        return False
    fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=True)
    return len(lines_of_run(fields, order, skip=True).fields) > 0


def qrels_fields(data: bytes, columns: int, line: str) -> Fields:
    """Return the fields of the lines of a file of judgments."""
    data = data.removeprefix(BOM)
    if not data or data.isspace():
        raise nothing_in("holds nothing but white space" if data else "is empty", columns, line)
    fields = fields_of_part(data, columns, line)
    if not len(fields):
        raise nothing_in("holds nothing but comments", columns, line)
    return fields


def fields_of_part(
    data: bytes, columns: int, line: str, *, more: bool = False, skip: bool = False, before: int = 0, first: bool = True
) -> Fields:
    """Return the fields of the lines of a part of a file, which may have no row."""
    skip_advice = SKIP if columns == 6 else ""
    if b"\0" in data and not skip:
        at = before + data[: data.index(b"\0")].count(b"\n") + 1
        problem = "a NUL byte, so this is not a plain text file (an image, an archive, or UTF-16?)"
        raise InputError(f"{problem}. Expected UTF-8 text of {line}.{skip_advice}", place=f"line {at:,}")
    try:
        return Fields(data, columns, more=more, skip=skip, before=before)
    except BadLineError as error:
        place = f"line {error.line:,}"
        if error.found == RETURN:
            problem = f"a carriage return, but no newline, behind the sixth column in {shown(error.text)}. Where lines "
            problem += (
                "end so, as on old systems, all others would be passed over. Write newlines in their place first."
            )
            raise InputError(f"{problem}{SKIP}", place=place) from None
        problem = f"expected {line}; found {error.found:,} in {shown(error.text)}. "
        raise InputError(f"{problem}{_advice(error, columns, first=error.first and first)}", place=place) from None


def nothing_in(what: str, columns: int, line: str) -> InputError:
    """Return what is wrong with a file without a row."""
    advice = SKIP if columns == 6 else ""
    return InputError(f"the file {what}; expected one line per document of {line}.{advice}")


def _advice(error: BadLineError, columns: int, *, first: bool) -> str:
    # what to do about a line with another number of fields
    skip = SKIP if columns == 6 else ""
    if not first:
        return f"Mend or remove the line; names must not hold white space.{skip}"
    # by the white space of bytes: a text has more of it, which may stand in names
    cells = [plain_decimal(cell) for cell in error.text.encode().split()]
    if columns == 6 and error.found == 4 and cells[3].is_integer():
        return f"This looks like qrels (four columns). Use read_qrels().{SKIP}"
    if columns == 4 and error.found == 5 and cells[4].is_integer():
        return "Where this is a sample with its strata, qid iteration docno stratum label, pass strata=True."
    if columns == 4 and error.found == 6 and np.isfinite(cells[3] + cells[4]):
        return "This looks like a run file (six columns). Use read_runs()."
    return f"If this is no such file, move it away or give a pattern such as 'input.*'.{skip}"


def topics_in(fields: Fields) -> tuple[list[str], NDArray[np.int64]]:
    """Return the topics of the rows, in the order in which they appear, and which one each row has."""
    words = names_in(fields, 0, "qid")
    new = np.ones(len(words), dtype=np.bool_)
    np.not_equal(words[1:, 0], words[:-1, 0], out=new[1:])
    for w in range(1, words.shape[1]):
        new[1:] |= words[1:, w] != words[:-1, w]
    block_starts = np.flatnonzero(new)
    blocks = words[block_starts]
    codes, first = tokens.factorize(blocks)
    lengths = np.diff(np.concatenate([block_starts, [len(words)]]))
    return tokens.decode(tokens.as_tokens(blocks[first])), np.repeat(codes, lengths)


def names_in(fields: Fields, column: int, what: str) -> Words:
    """Return the names of a column; `what` they are is told of one that is too long."""
    starts, ends = fields.column(column)
    lengths = ends - starts
    if int(lengths.max()) > LONGEST_NAME:
        row, kind = int(np.argmax(lengths)), "run" if fields.columns == 6 else "qrels"
        problem = f"a {what} of {int(lengths[row]):,} bytes; the longest that can be read has {LONGEST_NAME:,}"
        advice = SKIP if fields.columns == 6 else ""
        raise InputError(f"{problem}. Is this a {kind} file?{advice}", place=place_of(fields, row))
    return tokens.words_at(fields.buffer, starts, ends)


def tags_in(fields: Fields) -> dict[str, int]:
    """Return each tag of the sixth column and the line on which it stands first."""
    starts, ends = fields.column(5)
    first = fields.buffer[starts[0] : ends[0]].tobytes()
    if _all_equal(fields, starts, ends, first):
        return {tokens.as_texts([first])[0]: fields.line_of(0)}
    rows: dict[bytes, int] = {}
    for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        rows.setdefault(fields.buffer[start:end].tobytes(), row)
    lines = fields.lines_of(np.fromiter(rows.values(), dtype=np.int64))
    return dict(zip(tokens.as_texts(list(rows)), lines.tolist(), strict=True))


def _all_equal(fields: Fields, starts: NDArray[np.int64], ends: NDArray[np.int64], token: bytes) -> bool:
    if (ends - starts != len(token)).any():
        return False
    for at in range(0, len(token), 8):
        part = token[at : at + 8]
        word, keep = np.uint64(int.from_bytes(part, "little")), np.uint64((1 << 8 * len(part)) - 1)
        if ((fields.words[starts + at] ^ word) & keep).any():
            return False
    return True


def bad_number(fields: Fields, row: int, what: str) -> InputError:
    """Return what is wrong with a ``score`` or ``rank`` that is no number."""
    got = fields.text(row, 3 if what == "rank" else 4)
    return InputError(
        f"the {what} of {document_in(fields, row)} must be a finite decimal number, got {shown(got)}. Mend the "
        f"line, or leave the document out of the run.{SKIP}",
        place=place_of(fields, row),
    )


def document_in(fields: Fields, row: int) -> str:
    """Return topic and document of a row in words."""
    return f"topic {shown(fields.text(row, 0))}, document {shown(fields.text(row, 2))}"


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
        self.tags: dict[str, int] = {}
        self.longer = (0, 0)
        self.bad: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self.reasons: list[str] = []
        self.commented = False
        self.n_rows = 0

    def has_run_lines(self) -> bool:
        """Return whether any line of the file is a run line."""
        return self.n_rows > 0 or any(has_run_lines(data, self.order) for data in self._chunks())

    def read(self) -> Iterator[RunPart]:
        """Yield the rows of each chunk; a fault is that of the first chunk with one."""
        what, n_lines, last = "is empty", 0, b""
        for i, data in enumerate(_without_mark(self._chunks())):
            n_lines, last = n_lines + last.count(b"\n"), data
            self.commented |= i == 0 and is_commented(data)
            if data and not data.isspace():
                what = "holds nothing but comments"
                first = not self.n_rows
                fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=self.skip, before=n_lines, first=first)
                yield from self._parts(lines_of_run(fields, self.order, skip=self.skip))
            elif data and what == "is empty":
                what = "holds nothing but white space"
        if not self.n_rows and self.skip:
            # what is said where nothing is left out
            yield from RunParts(self._chunks, self.order, skip=False).read()
        if not self.n_rows:
            raise nothing_in(what, 6, RUN_LINE)

    def _parts(self, lines: RunLines) -> Iterator[RunPart]:
        fields = lines.fields
        self.bad.append(lines.bad)
        self.reasons += lines.reasons
        if len(fields.longer):
            self.longer = (self.longer[0] + len(fields.longer), self.longer[1] or int(fields.longer[0]))
        if not len(fields):
            return
        topics, topic = topics_in(fields)
        docs = names_in(fields, 2, "docno")
        if lines.wrong is not None:
            raise bad_number(fields, lines.wrong, "score")
        for tag, line in tags_in(fields).items():
            self.tags.setdefault(tag, line)
        rows = FileRows(topics, topic, docs, lines.scores)
        ranks = self._ranks(fields, rows)
        self.n_rows += len(fields)
        docs = docs if rows.grouping is None else docs.take(rows.grouping, axis=0)
        yield RunPart(topics, rows.grouped(topic), docs, rows.grouped(lines.scores), ranks)

    def _ranks(self, fields: Fields, rows: FileRows) -> NDArray[np.float64]:
        # those that count the rows of this chunk need not be parsed
        zero = count_from_zero(fields, rows)
        ranks = ranges((~zero).astype(np.int64), np.diff(rows.starts)).astype(np.float64)
        other, written = other_ranks(fields, rows, zero)
        ranks[other] = written
        wrong = np.flatnonzero(np.isnan(ranks))
        if self.order == "rank" and len(wrong):
            row = int(wrong[0])
            raise bad_number(fields, row if rows.grouping is None else int(rows.grouping[row]), "rank")
        return ranks


def find_document(chunks: Iterable[bytes], topic: str, docno: str, most: int) -> list[int]:
    """Return the first lines, from 1, on which a document stands for a topic."""
    wanted = [name.encode("utf-8", "surrogateescape") for name in (topic, docno)]
    found: list[int] = []
    before = 0
    for data in _without_mark(chunks):
        lines = data.split(b"\n")
        if wanted[1] in data:
            found += [before + i for i, line in enumerate(lines, 1) if line.split()[:3:2] == wanted]
        if len(found) >= most:
            break
        before += len(lines) - 1
    return found[:most]


def lines_of_rows(
    chunks: Iterable[bytes], order: str, topics: Sequence[str], places: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return (n,) lines, from 1, of rows that are given by topic and place among the rows of the topic."""
    lines = np.zeros(len(topics), dtype=np.int64)
    for fields, wanted, rows in rows_in_file(chunks, order, topics, places):
        lines[wanted] = fields.lines_of(rows)
    return lines


def rows_in_file(
    chunks: Iterable[bytes], order: str, topics: Sequence[str], places: NDArray[np.int64]
) -> Iterator[tuple[Fields, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the fields of each chunk that has some of the rows, which rows these are, and which of the fields'."""
    number = {name: t for t, name in enumerate(dict.fromkeys(topics))}
    topic_of = np.array([number[name] for name in topics], dtype=np.int64)
    before, n_lines = np.zeros(len(number), dtype=np.int64), 0
    for data in _without_mark(chunks):
        if data and not data.isspace():
            fields = fields_of_part(data, 6, RUN_LINE, more=True, skip=True, before=n_lines)
            scores = lines_of_run(fields, order, skip=True).scores
            names, topic = topics_in(fields) if len(fields) else ([], np.zeros(0, dtype=np.int64))
            rows = FileRows(names, topic, np.zeros((len(scores), 1), dtype="<u8"), scores)
            starts, sizes = np.zeros((2, len(number)), dtype=np.int64)
            for t, name in enumerate(names):
                if name in number:
                    starts[number[name]], sizes[number[name]] = rows.starts[t], rows.starts[t + 1] - rows.starts[t]
            here = places - before[topic_of]
            wanted = np.flatnonzero((here >= 1) & (here <= sizes[topic_of]))
            grouped = starts[topic_of[wanted]] + here[wanted] - 1
            if len(wanted):
                yield fields, wanted, grouped if rows.grouping is None else rows.grouping[grouped]
            before += sizes
        n_lines += data.count(b"\n")


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for i, data in enumerate(chunks):
        yield data if i else data.removeprefix(BOM)


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
