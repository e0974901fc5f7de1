"""Split white-space separated text into fields without a loop over lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    """The fields of a text of `columns` fields a line: where each begins and ends in `buffer`.

    A line whose first field begins with ``#`` is a comment; it is no row, and neither is a line of white space.

    Args:
        data: the text, not empty.
        columns: fields of a line.
        more: whether a line may have more fields, which are passed over. A carriage return among these may be the end
            of a line on old systems, so that such a line is no row.
        skip: whether lines that are no rows, or have a NUL byte, are passed over; else the first one raises.
        before: lines of the file that stand before the text.

    Attributes:
        columns: as given.
        plain: whether each line is a row.
        longer: (n,) the lines that have more fields, from 1.
        bad: (m,) the lines that are no rows, from 1.
        found: (m,) the fields of each of these, or :data:`NUL` or :data:`RETURN`.

    Raises:
        BadLineError: a line with another number of fields.
    """

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
