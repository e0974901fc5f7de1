"""Halves: the ways to put one half of the teams, or runs, of a type into the pool."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import positive, told
from pt_reuse._errors import Argument, InputError, Option

#: as many halves are enumerated at most
MOST = 20_000


@dataclass(frozen=True)
class Splits:
    """How many halves are wanted.

    Attributes:
        number: of random ones; None for every half that there is.
        seed: of what is drawn.
    """

    number: int | None
    seed: int


def checked_splits(splits: Any, seed: int) -> Splits:
    """Return what a user's ``splits=`` asks for: a number of random halves, or ``"all"``.

    Raises:
        InputError: anything else.
    """
    if isinstance(splits, str):
        if splits != "all":
            raise InputError(
                Argument("splits"),
                f" must be a number of random halves, or 'all' for every half that there is, got {told(splits)}.",
                argument="splits",
            )
        return Splits(None, seed)
    return Splits(positive("splits", splits, "random halves"), seed)


@dataclass(frozen=True)
class Halves:
    """Halves of some units.

    Attributes:
        picked: (halves, units) which units each half has.
        possible: how many halves there are in all.
    """

    picked: NDArray[np.bool_]
    possible: int

    def __len__(self) -> int:
        return len(self.picked)

    @property
    def random(self) -> bool:
        """Return whether they are a random part of all halves."""
        return len(self) < self.possible


def halves_of(names: Sequence[str], of: str, splits: Splits) -> Halves:
    """Return halves of some units, the smaller half of an odd number of them.

    Random halves all differ. They do not depend on the order in which the units stand, nor on other types, and fewer
    of the same seed are the first of more.

    Args:
        names: of the units, two at least.
        of: the type that they are of.
        splits: how many are wanted; where there are no more, all there are.

    Raises:
        InputError: all are wanted, and they are more than anybody would wait for.
    """
    n = len(names)
    size, possible = n // 2, comb(n, n // 2)
    order = sorted(range(n), key=lambda at: names[at].encode("utf-8", "surrogateescape"))
    if splits.number is None and possible > MOST:
        raise InputError(
            f"type {of!r} has {possible:,} halves, and at most {MOST:,} can be tried. Draw some at random: ",
            Option("splits", 100),
            ".",
            argument="splits",
        )
    if splits.number is None or splits.number >= possible:
        chosen = list(combinations(range(n), size))
    else:
        chosen = list(islice(_drawn(n, size, of, splits.seed), splits.number))
    picked = np.zeros((len(chosen), n), dtype=bool)
    for half, places in enumerate(chosen):
        picked[half, [order[place] for place in places]] = True
    return Halves(picked, possible)


def _drawn(n: int, size: int, of: str, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield random halves, each once."""
    random = np.random.default_rng([seed, zlib.crc32(of.encode("utf-8", "surrogateescape"))])
    seen: set[tuple[int, ...]] = set()
    while True:
        half = tuple(sorted(random.permutation(n)[:size].tolist()))
        if half not in seen:
            seen.add(half)
            yield half
