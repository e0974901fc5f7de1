"""Split white-space separated text into fields without a loop over lines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BOM = b"\xef\xbb\xbf"
_SPARE = 24  # words are loaded 8 bytes at a time and numbers 16 bytes back from their end


class BadLineError(Exception):
    """A line that does not have the expected number of fields."""

    def __init__(self, line: int, found: int, text: str):
        super().__init__(line, found, text)
        self.line, self.found, self.text = line, found, text


class Fields:
    """The fields of a text: `starts` and `ends` (rows, columns) index into `buffer`."""

    def __init__(self, data: bytes, columns: int):
        if data.startswith(_BOM):
            data = data[len(_BOM) :]
        self.buffer = np.frombuffer(b" " * _SPARE + b"\n" + data + b"\n" + b" " * _SPARE, dtype=np.uint8)
        # the white space of bytes.split(): blank, tab, newline, vertical tab, form feed, carriage return
        space = (self.buffer - np.uint8(9)) < 5
        space |= self.buffer == 32
        edges = np.flatnonzero(space[1:] != space[:-1]) + 1
        tokens = edges.reshape(-1, 2)
        if len(tokens) % columns or not self._one_row_a_line(tokens[::columns, 0]):
            self._check_each_line(tokens[:, 0], columns)
        rows = edges.reshape(-1, 2 * columns)
        self.starts, self.ends = rows[:, 0::2], rows[:, 1::2]

    def __len__(self) -> int:
        return len(self.starts)

    def _one_row_a_line(self, firsts: NDArray[np.int64]) -> bool:
        # each row starts behind a newline of its own and there are no more newlines than rows: no row is cut
        newlines = np.count_nonzero(self.buffer == 10)
        closed = self.buffer[-_SPARE - 2] == 10  # the text's own last newline, before the one added
        behind = bool((self.buffer[firsts - 1] == 10).all())
        return behind and newlines == len(firsts) + 1 + int(closed)

    def _check_each_line(self, starts: NDArray[np.int64], columns: int) -> None:
        newlines = np.flatnonzero(self.buffer == 10)
        line = np.searchsorted(newlines, starts)  # the newline put in front makes this the line's number from 1
        counts = np.bincount(line)
        wrong = np.flatnonzero((counts != 0) & (counts != columns))
        if len(wrong):
            bad = int(wrong[0])
            text = self.buffer[newlines[bad - 1] + 1 : newlines[bad]].tobytes().decode("utf-8", "backslashreplace")
            raise BadLineError(bad, int(counts[bad]), text.strip())

    def line_of(self, row: int) -> int:
        """Return the number of the line, from 1, on which a row stands."""
        return int(np.count_nonzero(self.buffer[: self.starts[row, 0]] == 10))

    def text(self, row: int, column: int) -> str:
        """Return one field as text."""
        raw = self.buffer[self.starts[row, column] : self.ends[row, column]].tobytes()
        return raw.decode("utf-8", "backslashreplace")
