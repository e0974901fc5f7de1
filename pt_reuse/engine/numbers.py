"""Decimal numbers in a byte buffer, to the last bit what `float()` gives, without a loop over rows."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.tokens import as_tokens, words_at

_U = np.uint64
_ZEROS, _DOTS = _U(0x3030303030303030), _U(0x2E2E2E2E2E2E2E2E)
_HIGH, _LOW7, _ONES = _U(0x8080808080808080), _U(0x7F7F7F7F7F7F7F7F), _U(0x0101010101010101)
_BYTE = _U(8)
_BELOW = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [2**64 - 1], dtype=np.uint64)  # the n first bytes of a word
_TENS = np.array([10.0**n for n in range(23)])  # exact in float64
_EXACT = 2**53
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def parse_numbers(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read the numbers at [starts, ends): (values, rows that hold no finite decimal number).

    A plain decimal of at most 15 digits is its digits as a whole number divided by a power of ten: both are exact,
    so their quotient is the nearest float64 (Clinger 1990). All others go through `float()`, one by one.
    """
    first = buffer[starts]
    negative = first == 45
    digits_from = starts + (negative | (first == 43))
    lengths = ends - digits_from
    loads = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    low = _zero_filled(loads[ends - 8], lengths)
    high = _zero_filled(loads[ends - 16], lengths - 8)
    low_dot, high_dot = _last_dot(low), _last_dot(high)

    in_low = low_dot < 8
    in_high = ~in_low & (high_dot < 8)
    carried = np.where(in_low, high >> _U(56), _U(0x30))
    decimals = np.where(in_low, 7 - low_dot, np.where(in_high, 15 - high_dot, 0))
    low = np.where(in_low, _without_byte(low, low_dot, carried), low)
    high = np.where(
        in_low,
        (high << _BYTE) | _U(0x30),
        np.where(in_high, _without_byte(high, high_dot, np.full(len(high), 0x30, dtype=np.uint64)), high),
    )
    whole = _eight_digits(high) * _U(100_000_000) + _eight_digits(low)
    plain = (lengths <= 16) & (lengths > (decimals > 0)) & _all_digits(low) & _all_digits(high) & (whole <= _EXACT)
    plain &= ~((lengths == 1) & (in_low | in_high))  # a lone dot
    values = whole.astype(np.float64) / _TENS[decimals]
    np.negative(values, out=values, where=negative)

    rest = np.flatnonzero(~plain)
    tokens = as_tokens(words_at(buffer, starts[rest], ends[rest])).tolist()
    values[rest], wrong = _one_by_one(tokens)
    return values, rest[wrong]


def _one_by_one(tokens: list[bytes]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    # nothing but these characters left: float() cannot read them as nan, inf or 1_0
    if not b"".join(tokens).translate(None, b"0123456789.+-eE"):
        try:
            values = np.array([float(token) for token in tokens], dtype=np.float64)
            return values, np.flatnonzero(~np.isfinite(values))
        except ValueError:
            pass
    values = np.array([float(token) if _NUMBER.fullmatch(token) else np.nan for token in tokens], dtype=np.float64)
    return values, np.flatnonzero(~np.isfinite(values))


def _zero_filled(word: NDArray[np.uint64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    # bytes in front of the token become the digit 0
    outside = _BELOW[np.clip(8 - lengths, 0, 8)]
    return (word & ~outside) | (_ZEROS & outside)


def _last_dot(word: NDArray[np.uint64]) -> NDArray[np.int64]:
    # index of the highest byte that is a dot, 8 where there is none; a second dot then fails the digit test
    other = word ^ _DOTS
    marks = ~(((other & _LOW7) + _LOW7) | other | _LOW7) & _HIGH
    marks = (marks >> _U(7)).astype(np.uint64)
    # a mark of bit 8k is a power of two: float64's exponent tells k
    found = np.frexp(marks.astype(np.float64))[1] - 1
    return np.where(marks == 0, 8, found // 8).astype(np.int64)


def _without_byte(word: NDArray[np.uint64], index: NDArray[np.int64], fill: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # drop byte `index`, move the bytes before it up by one and put `fill` first
    clipped = np.minimum(index, 7)
    before = word & _BELOW[clipped]
    after = word & ~_BELOW[clipped + 1]
    return after | (before << _BYTE) | fill


def _eight_digits(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # pairs, then fours, then eights: three multiplications for eight ASCII digits (first byte = first digit)
    value = word & _U(0x0F0F0F0F0F0F0F0F)
    value = (value * _U(2561)) >> _BYTE
    value = (value & _U(0x00FF00FF00FF00FF)) * _U(6553601) >> _U(16)
    return (value & _U(0x0000FFFF0000FFFF)) * _U(42949672960001) >> _U(32)


def _all_digits(word: NDArray[np.uint64]) -> NDArray[np.bool_]:
    top = _U(0xF0F0F0F0F0F0F0F0)
    return ((word & top) == _ZEROS) & (((word + _U(0x0606060606060606)) & top) == _ZEROS)
