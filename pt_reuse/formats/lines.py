"""Split white-space separated text into fields without a loop over lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SPARE = 40  # words are loaded 8 bytes at a time and numbers 40 bytes back from their end


class BadLineError(Exception):
    """A line that does not have the expected number of fields."""

    def __init__(self, line: int, found: int, text: str):
        super().__init__(line, found, text)
        self.line, self.found, self.text = line, found, text


class Fields:
    """The fields of a text of `columns` fields a line: where each begins and ends in `buffer`."""

    def __init__(self, data: bytes, columns: int):
        close = b"" if data.endswith(b"\n") else b"\n"
        blank = b" " * _SPARE
        self.buffer = np.frombuffer(b"".join((blank, b"\n", data, close, blank)), dtype=np.uint8)
        self._columns = columns
        self._kept: dict[int, NDArray[np.int64]] = {}
        #: the eight bytes from each byte on, as a number whose lowest byte comes first
        self.words = np.ndarray((len(self.buffer) - 7,), dtype="<u8", buffer=self.buffer, strides=(1,))
        inner = self.buffer[_SPARE:-_SPARE]
        spaces = np.flatnonzero(inner <= 32)
        found = inner[spaces]
        if not _are_white(found).all():
            # other control characters, which are part of words
            spaces = np.flatnonzero(_are_white(inner))
            found = inner[spaces]
        self._newlines = int(np.count_nonzero(found == 10))
        # usually one byte stands between two fields; then these bytes alone say where all fields are
        gaps = np.diff(spaces)
        self._single = int(gaps.min()) > 1
        spaces += _SPARE
        if self._single:
            self._edges = spaces
            tokens, before = len(self._edges) - 1, found[:-1:columns]
        else:
            first = np.flatnonzero(gaps > 1)
            self._edges = np.stack([spaces[first] + 1, spaces[first + 1]], axis=1).ravel()
            tokens, before = len(self._edges) // 2, found[first[::columns]]
        self._rows = tokens // columns
        # no row is cut: each begins behind a newline of its own, and there are no more newlines than rows
        one_a_line = self._newlines == self._rows + 1 and bool((before == 10).all())
        if tokens % columns or not one_a_line:
            self._check_each_line()

    def __len__(self) -> int:
        return self._rows

    def column(self, c: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the fields of a column start and end, as indices into `buffer`."""
        if self._single:
            return self._edge(c) + 1, self._edge(c + 1)
        step = 2 * self._columns
        return self._edges[2 * c :: step].copy(), self._edges[2 * c + 1 :: step].copy()

    def _edge(self, c: int) -> NDArray[np.int64]:
        # the white space before each field of a column, kept as it is the end of the field before
        if c not in self._kept:
            if c == self._columns:
                self._kept[c] = np.append(self._edge(0)[1:], self._edges[-1])
            else:
                self._kept[c] = np.ascontiguousarray(self._edges[c : -1 : self._columns])
        return self._kept[c]

    def _check_each_line(self) -> None:
        starts = self._edges[:-1] + 1 if self._single else self._edges[::2]
        newlines = np.flatnonzero(self.buffer == 10)
        line = np.searchsorted(newlines, starts)  # the newline put in front makes this the line's number from 1
        counts = np.bincount(line)
        wrong = np.flatnonzero((counts != 0) & (counts != self._columns))
        if len(wrong):
            bad = int(wrong[0])
            text = self.buffer[newlines[bad - 1] + 1 : newlines[bad]].tobytes().decode("utf-8", "backslashreplace")
            raise BadLineError(bad, int(counts[bad]), text.strip())

    def line_of(self, row: int) -> int:
        """Return the number of the line, from 1, on which a row stands."""
        start = self._place(row, 0)[0]
        return int(np.count_nonzero(self.buffer[:start] == 10))

    def lines_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the lines, from 1, on which rows stand."""
        return np.searchsorted(np.flatnonzero(self.buffer == 10), self.column(0)[0][rows])

    def text(self, row: int, column: int) -> str:
        """Return one field as text."""
        start, end = self._place(row, column)
        return self.buffer[start:end].tobytes().decode("utf-8", "backslashreplace")

    def _place(self, row: int, column: int) -> tuple[int, int]:
        i = row * self._columns + column
        if self._single:
            return int(self._edges[i]) + 1, int(self._edges[i + 1])
        return int(self._edges[2 * i]), int(self._edges[2 * i + 1])


def _are_white(text: NDArray[np.uint8]) -> NDArray[np.bool_]:
    # the white space of bytes.split(): blank, tab, newline, vertical tab, form feed, carriage return
    return ((text - np.uint8(9)) < 5) | (text == 32)
