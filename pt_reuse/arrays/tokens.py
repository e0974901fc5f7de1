"""Names as fixed-width `S` arrays seen as rows of 64-bit words, to compare them as numbers; stand-ins for long ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# One long name would widen the rows of all others. So a name beyond LONGEST bytes stands in tables as a NUL byte, with
# which no name begins, and a digest of it; the name itself is kept here, once a process. Stand-ins are compared in the
# place of names, and no two names share one: a second name with the same digest is refused. Only sorting by bytes looks
# the names up.
LONGEST = 64
STAND_IN_WIDTH = 16

_NAMES: dict[bytes, bytes] = {}  # by stand-in
_STAND_INS: dict[bytes, bytes] = {}  # by name


def stand_in(name: bytes) -> bytes:
    """Return what stands for a long name in tables, and keep the name."""
    known = _STAND_INS.get(name)
    if known is None:
        known = b"\0" + blake2b(name, digest_size=STAND_IN_WIDTH - 1).digest()
        if _NAMES.setdefault(known, name) != name:
            raise ValueError(f"the names {name!r} and {_NAMES[known]!r} have one digest; rename one of them")
        _STAND_INS[name] = known
    return known


def keep_long_names(names: Iterable[bytes]) -> None:
    """Keep names that another process had put stand-ins for."""
    for name in names:
        stand_in(name)


def are_stand_ins(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return (n,): which rows of words hold a stand-in."""
    return (words[:, 0] & np.uint64(0xFF)) == 0


def name_of(token: bytes) -> bytes:
    """Return the name that a token of a table stands for."""
    return _NAMES[token.ljust(STAND_IN_WIDTH, b"\0")] if token.startswith(b"\0") else token


class Portable(ABC):
    """Takes the long names of its tables along when it is copied to another process."""

    @abstractmethod
    def _long_names(self) -> list[bytes]:
        """Return the long names that the tables hold stand-ins for."""

    def __getstate__(self) -> tuple[dict[str, Any], list[bytes]]:
        return self.__dict__, self._long_names()

    def __setstate__(self, state: tuple[dict[str, Any], list[bytes]]) -> None:
        keep_long_names(state[1])
        self.__dict__.update(state[0])


Words = NDArray[np.uint64]
Tokens = NDArray[np.bytes_]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_STAND_IN_WORDS = STAND_IN_WIDTH // 8
_BLOCK = 1 << 15  # rows at a time, so that what lies between two steps stays in the processor's cache
_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [2**64 - 1], dtype=np.uint64)


def words_at(buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Words:
    """Gather tokens as (n, width) little-endian words, padded with zeros; `buffer` ends in 8 spare bytes."""
    lengths = ends - starts
    if int(lengths.max(initial=1)) > LONGEST:
        long = np.flatnonzero(lengths > LONGEST)
        # their places are taken as empty tokens, then filled with the stand-ins
        words = widen(words_at(buffer, starts, np.where(lengths > LONGEST, starts, ends)), _STAND_IN_WORDS)
        names = (buffer[start:end].tobytes() for start, end in zip(starts[long], ends[long], strict=True))
        stand_ins = np.frombuffer(b"".join(map(stand_in, names)), dtype="<u8")
        words[long, :_STAND_IN_WORDS] = stand_ins.reshape(-1, _STAND_IN_WORDS)
        return words
    shortest, longest = int(lengths.min(initial=1)), int(lengths.max(initial=1))
    width = max(1, -(-longest // 8))
    loads = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))  # a word at every byte
    words = np.empty((len(starts), width), dtype="<u8")
    last = len(loads) - 1
    inside = int(starts.max(initial=0)) + 8 * (width - 1) <= last
    # for each length and word the bytes that belong to the token
    keep = [_KEEP[np.clip(np.arange(longest + 1) - 8 * w, 0, 8)] for w in range(width)]
    for at in range(0, len(starts), _BLOCK):
        rows = slice(at, at + _BLOCK)
        for w in range(width):
            place = starts[rows] + 8 * w
            word = loads[place if inside else np.minimum(place, last)]
            if shortest == longest:
                word &= keep[w][longest]
            elif shortest < 8 * (w + 1):
                word &= keep[w][lengths[rows]]
            words[rows, w] = word
    return words


def as_words(tokens: Tokens) -> Words:
    """See an `S` array of width 8k as (n, k) little-endian words; no copy."""
    return np.ascontiguousarray(tokens).view("<u8").reshape(len(tokens), tokens.dtype.itemsize // 8)


def as_tokens(words: Words) -> Tokens:
    """See (n, k) words as an `S` array again; no copy."""
    return np.ascontiguousarray(words).view(f"S{8 * words.shape[1]}").reshape(len(words))


def with_odd_ends(words: Words) -> NDArray[np.int64]:
    """Return the rows of words with a name that may have white space at an end: any other byte than ASCII, too."""
    found = []
    for at in range(0, len(words), _BLOCK):
        raw = np.ascontiguousarray(words[at : at + _BLOCK]).view(np.uint8).reshape(-1, 8 * words.shape[1])
        # most have none anywhere; 0, which fills up, becomes the highest
        if raw[:, 0].all() and not ((raw - np.uint8(1)) < ord(" ")).any() and not (raw >= 0x80).any():
            continue
        lengths = np.count_nonzero(raw, axis=1)
        ends = raw[:, 0], raw[np.arange(len(raw)), lengths - 1]
        odd = np.logical_or(*((end <= ord(" ")) | (end >= 0x80) for end in ends))
        found.append(np.flatnonzero(odd) + at)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def widen(words: Words, width: int) -> Words:
    """Pad (n, k) words to at least `width` columns."""
    if words.shape[1] >= width:
        return words
    wide = np.zeros((len(words), width), dtype="<u8")
    wide[:, : words.shape[1]] = words
    return wide


def stacked(parts: Sequence[Words]) -> Words:
    """Return words of names, one part after the other; their widths may differ, and there may be no part."""
    width = max((part.shape[1] for part in parts), default=1)
    return np.concatenate([np.zeros((0, width), dtype="<u8"), *(widen(part, width) for part in parts)])


def encode(texts: Iterable[str]) -> Tokens:
    """Return the table of names given as texts."""
    return table(encoded(texts))


def encoded(texts: Iterable[str]) -> list[bytes]:
    """Encode names as UTF-8; bytes that were not UTF-8 when read come back as they were."""
    return [text.encode("utf-8", "surrogateescape") for text in texts]


def table(names: Sequence[bytes]) -> Tokens:
    """Return names as tokens of one width; a name that is too long for a table becomes its stand-in."""
    longest = max(map(len, names), default=1)
    if longest > LONGEST:
        names = [name if len(name) <= LONGEST else stand_in(name) for name in names]
        longest = max(map(len, names))
    return np.array(names, dtype=f"S{8 * max(1, -(-longest // 8))}")


def decode(tokens: Tokens) -> list[str]:
    """Decode tokens to strings, see :func:`as_texts`."""
    return as_texts(names_of(tokens))


def as_texts(names: Sequence[bytes]) -> list[str]:
    """Decode names to strings; bytes that are not UTF-8 are kept as surrogate escapes."""
    try:
        return [name.decode() for name in names]
    except UnicodeDecodeError:
        pd.set_option("mode.string_storage", "python")
        return [name.decode("utf-8", "surrogateescape") for name in names]


def names_of(tokens: Tokens) -> list[bytes]:
    """Return the names that tokens stand for."""
    items: list[bytes] = tokens.tolist()
    if are_stand_ins(as_words(tokens)).any():
        return [name_of(item) for item in items]
    return items


def long_names_in(words: Words) -> list[bytes]:
    """Return the names that have stand-ins among words, each once."""
    stand_ins = words[are_stand_ins(words)]
    return list(dict.fromkeys(names_of(as_tokens(stand_ins))))


def hashes(words: Words) -> Words:
    """Hash each row of words to 64 bits; rows of one word hash to themselves, so they never collide."""
    mixed = words[:, 0].copy()
    for w in range(1, words.shape[1]):
        column = words[:, w]
        # zero words change nothing: padding does not change a hash
        mixed ^= (column ^ (column >> _SHIFT)) * _MIX * np.uint64(2 * w + 1)
    return mixed


def descending(words: Words) -> list[Words]:
    """Return keys for np.lexsort that put names in descending order of their bytes."""
    if are_stand_ins(words).any():
        names = names_of(as_tokens(words))
        place = {name: i for i, name in enumerate(sorted(set(names), reverse=True))}
        return [np.array([place[name] for name in names], dtype=np.uint64)]
    # the first byte is the lowest of a word and must weigh most; inverted, what is larger comes first
    return list(np.invert(words.byteswap().T, order="C")[::-1])


def factorize(words: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number equal tokens alike: (code of each row, row of each code's first occurrence), exact despite hashing."""
    codes, first = _numbered(hashes(words) if words.shape[1] > 1 else np.ascontiguousarray(words[:, 0]))
    if words.shape[1] > 1 and not np.array_equal(words, words.take(first, axis=0).take(codes, axis=0)):
        # two tokens share a hash: number by the bytes themselves
        codes = pd.factorize(np.array(as_tokens(words).tolist(), dtype=object))[0].astype(np.int64)
        first = _first_rows(codes)
    return codes, first


def in_hash_order(words: Words, *, threads: int = 1) -> tuple[Words, NDArray[np.int64]]:
    """Return each distinct token once, in the order of hashes in which :func:`find` searches, and that of each row."""
    keys = hashes(words)
    # each thread sorts a range of the hashes
    part = ((keys >> np.uint64(32)) * np.uint64(threads)) >> np.uint64(32)
    rows = [np.flatnonzero(part == i) for i in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda some: _sorted_by_hash(words[some], keys[some]), rows))
    code, before = np.empty(len(words), dtype=np.int64), 0
    for some, (distinct, local) in zip(rows, found, strict=True):
        code[some] = local + before
        before += len(distinct)
    return np.concatenate([distinct for distinct, _ in found]), code


def _sorted_by_hash(words: Words, keys: NDArray[np.uint64]) -> tuple[Words, NDArray[np.int64]]:
    # pieces that are in order each are merged in one walk by a stable sort; others it takes longer to sort
    ordered = 64 * np.count_nonzero(keys[1:] < keys[:-1]) < len(keys)
    order = np.argsort(keys, kind="stable" if ordered else None)
    keys, words = keys.take(order), words.take(order, axis=0)
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    alike = ~new[1:]
    if any((alike & (words[1:, w] != words[:-1, w])).any() for w in range(words.shape[1])):
        # two tokens share a hash: tokens of one hash are put side by side, in the order of their own numbers
        codes = factorize(words)[0]
        regrouped = np.lexsort((codes, keys))
        order, words = order[regrouped], words[regrouped]
        new[1:] = np.diff(codes[regrouped]) != 0
    code = np.empty(len(order), dtype=np.int64)
    code[order] = np.cumsum(new) - 1
    return words[new], code


def match(needles: Words, table: Words) -> NDArray[np.int64]:
    """Find each needle among the distinct tokens of `table`: its row, or -1."""
    codes, first = factorize(stacked([table, needles]))
    row_of_code = np.where(first < len(table), first, -1)
    return row_of_code[codes[len(table) :]]


def find(needles: Words, table: Words) -> NDArray[np.int64]:
    """Find each needle among the distinct tokens of a table in hash order: its row, or -1."""
    found = np.full(len(needles), -1, dtype=np.int64)
    if not len(table):
        return found
    keys, wanted = hashes(table), hashes(needles)
    # needles in order walk through the table once, which the cache likes
    order = np.argsort(wanted)
    wanted = wanted.take(order)
    rows = np.searchsorted(keys, wanted)
    width = max(needles.shape[1], table.shape[1])
    needles, table = widen(needles, width).take(order, axis=0), widen(table, width)
    while len(rows):
        # beyond an equal hash lies another token with that hash, if any: no such hash is left elsewhere
        here = np.minimum(rows, len(keys) - 1)
        open_ = (rows < len(keys)) & (keys.take(here) == wanted)
        equal = open_ & (table.take(here, axis=0) == needles).all(axis=1)
        found[order[equal]] = rows[equal]
        open_ &= ~equal
        if not open_.any():
            break
        order, wanted, rows, needles = order[open_], wanted[open_], rows[open_] + 1, needles[open_]
    return found


def _numbered(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    codes = pd.factorize(keys)[0].astype(np.int64, copy=False)
    return codes, _first_rows(codes)


def _first_rows(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    # codes are given in order of appearance, so a code is new exactly where the running maximum grows
    if len(codes) == 0:
        return np.zeros(0, dtype=np.int64)
    top = np.maximum.accumulate(codes)
    return np.flatnonzero(np.concatenate([[True], top[1:] > top[:-1]]))
