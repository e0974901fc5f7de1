"""Unpack what Unix ``compress`` packed (``.Z``), as some runs of the nineties are published.

A code stands for a byte, or for a string seen before: the string of the code before it and one byte more. As both were
written one behind the other, each string is a slice of the text itself, and no table of strings is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_HEADER = 3
#: codes that are read at once; the longest string of one has 65 kB, and eight codes fill whole bytes
_AT_ONCE = 512
_CLEAR = 256


def unpack(data: bytes) -> Iterator[bytes]:
    """Yield the text of a ``.Z`` file in blocks."""
    flags = data[2] if len(data) >= _HEADER else 0
    widest, clears = flags & 0x1F, bool(flags & 0x80)
    if flags & 0x60 or not 9 <= widest <= 16:
        raise ValueError("its header is none that compress writes")
    codes = _Codes(data, clears)
    # a width of nine bits at most is not what compress means by it
    widest = max(widest, 10)
    while codes.more():
        yield from _until_cleared(codes, widest, clears)


def _until_cleared(codes: _Codes, widest: int, clears: bool) -> Iterator[bytes]:
    text = bytearray()
    # code -> where its string begins in the text, and how long it is
    begins, lengths = [0] * (1 << widest), [1] * (1 << widest)
    last, bits = _CLEAR if clears else _CLEAR - 1, 9
    # the first code of all makes no string
    fresh, begun, length = True, 0, 0
    while codes.more() and (last < (1 << widest) - 1):
        bits += last == (1 << bits) - 1
        read, cleared = codes.take(bits, (1 << bits) - 1 - last + fresh)
        done = len(text)
        for code in read:
            here = len(text)
            if code < 256:
                text.append(code)
                now = 1
            elif code <= last and not fresh:
                now = lengths[code]
                text += text[begins[code] : begins[code] + now]
            elif code == last + 1 and not fresh:
                # the string that this very code makes
                now = length + 1
                text += text[begun:]
                text.append(text[begun])
            else:
                raise ValueError("it has a code that stands for nothing")
            if fresh:
                fresh = False
            else:
                last += 1
                begins[last], lengths[last] = begun, length + 1
            begun, length = here, now
        yield bytes(text[done:])
        if cleared:
            return
    # every code is taken: the strings stay as they are
    while codes.more():
        read, cleared = codes.take(widest, _AT_ONCE)
        yield b"".join(
            [bytes((code,)) if code < 256 else text[begins[code] : begins[code] + lengths[code]] for code in read]
        )
        if cleared:
            return


class _Codes:
    """The codes of a file, in groups of eight of one width."""

    def __init__(self, data: bytes, clears: bool):
        self._bytes, self._at, self._clears = np.frombuffer(data, dtype=np.uint8), _HEADER, clears

    def more(self) -> bool:
        return self._at < len(self._bytes)

    def take(self, bits: int, most: int) -> tuple[list[int], bool]:
        """Return the next codes, and whether the code that clears the table stands behind them."""
        wanted = min(most, _AT_ONCE)
        there = 8 * (len(self._bytes) - self._at)
        codes = self._read(bits, min(wanted, there // bits))
        if self._clears and len(found := np.flatnonzero(codes == _CLEAR)):
            if self._at == _HEADER and found[0] == 0:
                raise ValueError("it begins with a code that stands for nothing")
            self._skip(bits, int(found[0]) + 1)
            return codes[: int(found[0])].tolist(), True
        if len(codes) < wanted and there - len(codes) * bits >= 8:
            raise EOFError("it ends within a code")
        self._skip(bits, wanted)
        return codes.tolist(), False

    def _read(self, bits: int, n: int) -> NDArray[np.int64]:
        raw = self._bytes[self._at : self._at + -(-n * bits // 8)]
        each = np.unpackbits(raw, bitorder="little")[: n * bits].reshape(n, bits)
        return each @ (1 << np.arange(bits, dtype=np.int64))

    def _skip(self, bits: int, n: int) -> None:
        # a width, and a table, ends with a group of eight codes
        self._at += -(-n // 8) * bits
