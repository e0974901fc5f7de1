"""Decimal numbers in a byte buffer, to the last bit what `float()` gives, without a loop over rows."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.tokens import as_tokens, words_at

_U = np.uint64
_ALL, _BYTE, _TOP = _U(2**64 - 1), _U(8), _U(56)
_ZEROS, _LOW7, _HIGH = _U(0x3030303030303030), _U(0x7F7F7F7F7F7F7F7F), _U(0x8080808080808080)
_DOTS = _U(0x1E1E1E1E1E1E1E1E)  # "." ^ "0" in every byte
_SIX = _U(0x7676767676767676)  # added to a byte sets its top bit when it is above 9
_PLACES = _U(0x0706050403020100)
_MOST = 16  # characters that are read as two words
_LAST = np.array([(2**64 - 1) & ~((1 << 8 * (8 - min(n, 8))) - 1) for n in range(_MOST + 1)], dtype=np.uint64)
_BEFORE = np.array([(2**64 - 1) & ~((1 << 8 * (16 - max(n, 8))) - 1) for n in range(_MOST + 1)], dtype=np.uint64)
_TENS = np.array([10.0**n for n in range(_MOST)])  # exact in float64
_MOST_LONG = 40  # characters that are read as words with more digits than float64 has
_HUNDRED_MILLION = np.longdouble(10**8)
_TENS_LONG = np.array([np.longdouble(f"1e{n}") for n in range(_MOST_LONG)])
#: eleven roundings to 64 bits at most make an error of less than 2^-60
_AROUND = (1 - np.longdouble(2) ** -60, 1 + np.longdouble(2) ** -60)
_EXACT = np.finfo(np.longdouble).nmant >= 63  # whether there are 64 bits: not so on every machine
_BLOCK = 1 << 15  # rows at a time, so that what lies between two steps stays in the processor's cache
_LONG = 64  # bytes of a number; longer ones are not gathered into a table
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def parse_numbers(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read the numbers at [starts, ends): (values, rows that hold no finite decimal number).

    A plain decimal of at most 16 characters is its digits as a whole number divided by a power of ten. With a dot there
    are 15 digits at most: both numbers are exact, so their quotient is the nearest float64 (Clinger 1990); without one
    the whole number is rounded once, to the nearest. One of at most 40 characters is computed with more digits than
    float64 has, and taken where all numbers within the error round to the same float64. All others go through
    `float()`, one by one. `buffer` has 40 spare bytes at its front.
    """
    values = np.empty(len(starts))
    plain = np.empty(len(starts), dtype=np.bool_)
    loads = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))  # a word at every byte
    for at in range(0, len(starts), _BLOCK):
        block = slice(at, at + _BLOCK)
        _read_block(buffer, loads, starts[block], ends[block], values[block], plain[block])
    rest = np.flatnonzero(~plain)
    for at in range(0, len(rest) if _EXACT else 0, _BLOCK):
        some = rest[at : at + _BLOCK]
        values[some], plain[some] = _read_long(buffer, loads, starts[some], ends[some])
    rest = rest[~plain[rest]]
    if len(rest):
        values[rest] = _one_by_one(buffer, starts[rest], ends[rest])
    return values, rest[~np.isfinite(values[rest])]


def plain_decimal(token: bytes) -> float:
    """Read one number; NaN for all that is not a decimal number, such as nan, inf, 1_0 and 0x1."""
    return float(token) if _NUMBER.fullmatch(token) else np.nan


def _read_block(
    buffer: NDArray[np.uint8],
    loads: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    values: NDArray[np.float64],
    plain: NDArray[np.bool_],
) -> None:
    # Fill `values` where the token is a sign, at most 16 characters, digits and one dot; mark these rows in `plain`.
    # What is the same in all rows (mostly the length, the place of the dot) is held in arrays of one element.
    lengths = ends - starts
    first = buffer[starts]
    negative = None
    if int(first.min()) < 46:
        negative = first == 45
        lengths -= negative | (first == 43)
    longest = int(lengths.max())
    kept = _if_alike(np.minimum(lengths, _MOST))
    low = (loads[ends - 8] ^ _ZEROS) & _LAST[kept]  # the digits are 0..9 now, and so is what stands in front
    high = (loads[ends - 16] ^ _ZEROS) & _BEFORE[kept] if longest > 8 else np.zeros(1, dtype=np.uint64)

    low_dot, high_dot = _if_alike(_dots(low)), _if_alike(_dots(high))
    in_low = (low_dot != 0).astype(np.uint64)
    in_high = (high_dot != 0).astype(np.uint64)
    decimals = ((low_dot * _PLACES) >> _TOP) + ((high_dot * _PLACES) >> _TOP) + _BYTE * in_high
    # close the gap of the dot: what stands before it moves up by one byte; a second dot stays and is no digit
    low = _close(low, (low_dot << _BYTE) - in_low) | ((high >> _TOP) * in_low)
    high = _close(high, np.where(in_low != 0, _ALL, (high_dot << _BYTE) - in_high))

    wrong = low | (low + _SIX) | high | (high + _SIX)
    whole = _eight_digits(low)
    if longest > 8:
        whole = _eight_digits(high) * _U(100_000_000) + whole
    np.divide(whole, _TENS[decimals.astype(np.int64) & 15], out=values)
    if negative is not None:
        np.negative(values, out=values, where=negative)
    np.equal(wrong & _HIGH, 0, out=plain)
    plain &= lengths > (in_low | in_high).astype(np.int64)  # one digit at least
    if longest > _MOST:
        plain &= lengths <= _MOST


def _read_long(
    buffer: NDArray[np.uint8], loads: NDArray[np.uint64], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    # (values, whether each is the nearest float64) of tokens of a sign, at most 40 characters, digits and one dot
    first = buffer[starts]
    negative = first == 45
    lengths = ends - starts - (negative | (first == 43))
    n_words = -(-min(int(lengths.max()), _MOST_LONG) // 8)
    words, dots = [], []
    for w in range(n_words):  # from the end
        held = np.clip(lengths - 8 * w, 0, 8)
        words.append((loads[ends - 8 * (w + 1)] ^ _ZEROS) & _LAST[held])
        dots.append(_dots(words[-1]))
    words.append(np.zeros(1, dtype=np.uint64))

    value = np.zeros(len(starts), dtype=np.longdouble)
    behind = [np.zeros(len(starts), dtype=np.bool_)]  # whether the dot stands in a word nearer to the end
    decimals, wrong = np.zeros(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=np.uint64)
    for w, dot in enumerate(dots):
        here = dot != 0
        decimals += np.where(here, ((dot * _PLACES) >> _TOP).astype(np.int64) + 8 * w, 0)
        behind.append(behind[-1] | here)
    for w in reversed(range(n_words)):
        # close the gap of the dot: what stands before it moves up by one byte
        through = np.where(behind[w], _ALL, (dots[w] << _BYTE) - (dots[w] != 0).astype(np.uint64))
        word = _close(words[w], through) | ((words[w + 1] >> _TOP) * behind[w + 1])
        wrong |= word | (word + _SIX)
        value = value * _HUNDRED_MILLION + _eight_digits(word)
    value /= _TENS_LONG[np.minimum(decimals, _MOST_LONG - 1)]
    low, high = (value * factor for factor in _AROUND)
    nearest = low.astype(np.float64)
    known = (wrong & _HIGH == 0) & (nearest == high.astype(np.float64))
    known &= (lengths > behind[-1]) & (lengths <= _MOST_LONG)
    return np.where(negative, -nearest, nearest), known


def _one_by_one(buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    if int((ends - starts).max()) <= _LONG:
        tokens = as_tokens(words_at(buffer, starts, ends)).tolist()
    else:
        tokens = [buffer[start:end].tobytes() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    # nothing but these characters left: float() cannot read them as nan, inf or 1_0
    if not b"".join(tokens).translate(None, b"0123456789.+-eE"):
        try:
            return np.fromiter(map(float, tokens), dtype=np.float64, count=len(tokens))
        except ValueError:
            pass
    return np.array([plain_decimal(token) for token in tokens], dtype=np.float64)


def _if_alike(values: NDArray) -> NDArray:
    # one element instead of many equal ones
    return values[:1] if (values == values[0]).all() else values


def _dots(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # the lowest bit of each byte that is a dot
    other = word ^ _DOTS
    return (~(((other & _LOW7) + _LOW7) | other | _LOW7)) >> _U(7)


def _close(word: NDArray[np.uint64], through: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # drop the last byte under the mask `through` and move the others under it up by one
    return (word & ~through) | ((word << _BYTE) & through)


def _eight_digits(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # pairs, then fours, then eights: three multiplications for eight digits (first byte = first digit)
    value = (word * _U(2561)) >> _BYTE
    value = (value & _U(0x00FF00FF00FF00FF)) * _U(6553601) >> _U(16)
    return (value & _U(0x0000FFFF0000FFFF)) * _U(42949672960001) >> _U(32)
