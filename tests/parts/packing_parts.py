"""Packed files made by hand: what Unix compress would write, and files that unpack to far more than they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Collection

import pytest


def compressed(data: bytes, *, widest: int = 16, clears: bool = True, cleared_at: Collection[int] = ()) -> bytes:
    """Pack bytes as Unix compress does; the table is cleared before the strings that begin at some places."""
    out = bytearray(b"\x1f\x9d" + bytes([widest | (0x80 if clears else 0)]))
    first, limit = 257 if clears else 256, 1 << max(widest, 10)
    table: dict[bytes, int] = {}
    group: list[int] = []
    bits, codes, at = 9, 0, 0

    def flush() -> None:
        packed = sum(code << bits * i for i, code in enumerate(group))
        out.extend(packed.to_bytes(bits if len(group) == 8 else (len(group) * bits + 7) // 8, "little"))
        group.clear()

    def pad() -> None:
        if group:
            group.extend([0] * (8 - len(group)))
            flush()

    def put(code: int) -> None:
        nonlocal bits, codes
        # the reader has one string fewer than codes were written
        if first - 1 + max(codes - 1, 0) >= (1 << bits) - 1 and 1 << bits < limit:
            pad()
            bits += 1
        group.append(code)
        codes += 1
        if len(group) == 8:
            flush()

    while at < len(data):
        if at in cleared_at:
            put(256)
            pad()
            table, bits, codes = {}, 9, 0
        length = 1
        while at + length < len(data) and data[at : at + length + 1] in table:
            length += 1
        piece = data[at : at + length]
        put(table[piece] if length > 1 else piece[0])
        if first + len(table) < limit and at + length < len(data):
            table[data[at : at + length + 1]] = first + len(table)
        at += length
    flush()
    return bytes(out)


def bomb(packing: str, size: int) -> bytes:
    """Return a small packed file of lines of a run, or of zeros, that unpacks to at least so many bytes."""
    lines = b"401 Q0 d 1 1 a\n" * (1 << 20)
    times = -(-size // len(lines))
    if packing == "gzip":
        # members may stand one behind the other
        return gzip.compress(lines) * times
    if packing == "bzip2":
        return bz2.compress(bytes(len(lines))) * times
    if packing == "xz":
        return lzma.compress(lines) * times
    if packing == "lz4":
        return bytes(pytest.importorskip("lz4.frame").compress(lines)) * times
    if packing == "zstandard":
        return bytes(pytest.importorskip("zstandard").compress(lines)) * times
    # of zeros, each string is one byte longer than the one before
    return _compressed_zeros(int((2 * size) ** 0.5) + 1)


def _compressed_zeros(n: int) -> bytes:
    out, group, bits = bytearray(b"\x1f\x9d\x90"), [0], 9
    for code in range(257, 256 + n):
        if code == 1 << bits and bits < 16:
            # eight codes fill each width
            bits += 1
        group.append(code)
        if len(group) == 8:
            out += sum(value << bits * i for i, value in enumerate(group)).to_bytes(bits, "little")
            group.clear()
    return bytes(out)
