"""Budget: what may be held in memory while runs are read, and how it is shared out."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import Any

from pt_reuse._check import count, told
from pt_reuse._errors import Argument, InputError, Option, wrong

#: bytes of the least that can be given
LEAST = 64 * 10**6
_UNITS = {"": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_TEXT = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)
#: bytes that reading a chunk takes, for each of its own
_OF_CHUNK = 16
#: bytes of the largest chunk, beyond which nothing is faster, and of the least
_LARGEST, _SMALLEST = 1 << 22, 1 << 19
#: bytes that reading a row of a table takes, and for each byte of its columns
_OF_TABLE_ROW, _OF_TABLE_BYTE = 120, 5
_TABLE_ROW = 60  # bytes of a row of a table, about
#: bytes that coding a row takes, and for each word of the longest document name
_OF_ROW, _OF_WORD = 144, 72
#: of the memory what is left to what nobody counts: tables of topics, buffers of the system
_SPARE = 0.15
#: how many times its file a block takes when a study works with it
_OF_BLOCK = 4


def memory_bytes(memory: Any) -> int:
    """Return a user's ``memory=`` in bytes, be it a number or a text such as ``"1.5 GiB"``, or say what is wrong."""
    if isinstance(memory, str):
        found = _TEXT.fullmatch(memory)
        if found:
            number, unit, binary = found.groups()
            power = _UNITS[unit.upper()]
            size = float(number) * ((1024 if binary else 1000) ** power if unit else 1)
            if (unit or not binary) and math.isfinite(size):
                return _enough(int(size), memory)
    elif not isinstance(memory, bool):
        try:
            return _enough(operator.index(memory), memory)
        except TypeError:
            pass
    raise wrong(
        "memory", f" must be a number of bytes or a text such as '500MB', '2GB' or '1.5 GiB', got {told(memory)}."
    )


def _enough(size: int, memory: Any) -> int:
    if size < LEAST:
        raise wrong(
            "memory", f" must be at least {in_units(LEAST)}, got {told(memory)}. A topic of all runs is held at once."
        )
    return size


def in_units(size: float) -> str:
    """Write a number of bytes as people do: ``64 MB``, ``1.5 GB``."""
    for unit, one in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size:.0f} bytes"


@dataclass(frozen=True)
class Budget:
    """What may be held in memory, in bytes, and how many threads may work at once."""

    memory: int
    threads: int

    @property
    def parsers(self) -> int:
        """Return how many files are parsed at once."""
        return max(1, min(self.threads, self.usable // (_OF_CHUNK * _SMALLEST)))

    @property
    def chunk(self) -> int:
        """Return the bytes of a file that are parsed at once."""
        return min(_LARGEST, self.longest)

    @property
    def longest(self) -> int:
        """Return the bytes of the longest line that is read."""
        return self.usable // (_OF_CHUNK * self.parsers)

    @property
    def usable(self) -> int:
        """Return the bytes of which somebody keeps count."""
        return int(self.memory * (1 - _SPARE))

    def rows(self, width: int, tables: int) -> int:
        """Return how many rows with names of `width` words can be coded at once beside so many bytes of tables."""
        return max(0, self.usable - tables) // _cost(width)

    def check_group(self, rows: int, size: int, held: int) -> None:
        """Raise unless a row group of so many rows and bytes can be read beside so many bytes."""
        if _of_group(rows, size, held) > self.usable:
            # how many bytes there are is known only when they are read; what is told should do then
            needed = _of_group(rows, max(size, rows * _TABLE_ROW), held)
            how = "write the table in smaller parts, as pyarrow.parquet.write_table(..., row_group_size=100_000) does"
            what = f"{count(rows, 'row')} of {in_units(size)} are read at once: this takes about"
            raise self._too_little(what, needed, how)

    def holds(self, size: int) -> bool:
        """Return whether a study can work with a block whose file has a size."""
        return _OF_BLOCK * size <= self.memory

    def check_topic(self, topic: str, rows: int, width: int, tables: int) -> None:
        """Raise unless the rows of one topic can be coded."""
        if rows > self.rows(width, tables):
            what = f"topic {topic!r} has {rows:,} rows in all runs, which are held at once: this takes about"
            raise self._too_little(what, rows * _cost(width) + tables, "read fewer runs at a time")

    def _too_little(self, what: str, size: float, how: str) -> InputError:
        needed = size / (1 - _SPARE)
        memory = in_units(1.05 * needed).replace(" ", "")
        parts = (f"{what} {in_units(needed)}, and ", Argument("memory"), f" is {in_units(self.memory)}. Pass ")
        return InputError(*parts, Option("memory", memory), f", or {how}.", argument="memory")


def _of_group(rows: int, size: int, held: int) -> int:
    return rows * _OF_TABLE_ROW + size * _OF_TABLE_BYTE + held


def _cost(width: int) -> int:
    return _OF_ROW + _OF_WORD * width
