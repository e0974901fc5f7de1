"""Names too long for a table of words: each has a stand-in of 16 bytes, the same one in every table and process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

# One long name would widen the rows of all others. So a name beyond LIMIT bytes stands in tables as a NUL byte, with
# which no name begins, and a digest of it; the name itself is kept here, once a process. Stand-ins are compared in the
# place of names, and no two names share one: a second name with the same digest is refused. Only sorting by bytes looks
# the names up.
LIMIT = 64
WIDTH = 16

_NAMES: dict[bytes, bytes] = {}  # by stand-in
_STAND_INS: dict[bytes, bytes] = {}  # by name


def stand_in(name: bytes) -> bytes:
    """Return what stands for a long name in tables, and keep the name."""
    known = _STAND_INS.get(name)
    if known is None:
        known = b"\0" + blake2b(name, digest_size=WIDTH - 1).digest()
        if _NAMES.setdefault(known, name) != name:
            raise ValueError(f"the names {name!r} and {_NAMES[known]!r} have one digest; rename one of them")
        _STAND_INS[name] = known
    return known


def keep(names: Iterable[bytes]) -> None:
    """Keep names that another process had put stand-ins for."""
    for name in names:
        stand_in(name)


def are_stand_ins(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return (n,): which rows of words hold a stand-in."""
    return (words[:, 0] & np.uint64(0xFF)) == 0


def name_of(token: bytes) -> bytes:
    """Return the name that a token of a table stands for."""
    return _NAMES[token.ljust(WIDTH, b"\0")] if token.startswith(b"\0") else token


class Portable(ABC):
    """Takes the long names of its tables along when it is copied to another process."""

    @abstractmethod
    def _long_names(self) -> list[bytes]:
        """Return the long names that the tables hold stand-ins for."""

    def __getstate__(self) -> tuple[dict[str, Any], list[bytes]]:
        return self.__dict__, self._long_names()

    def __setstate__(self, state: tuple[dict[str, Any], list[bytes]]) -> None:
        keep(state[1])
        self.__dict__.update(state[0])
