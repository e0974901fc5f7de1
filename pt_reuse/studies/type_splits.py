"""Splits of the runs of a type: which half of its teams, or runs, makes the pool, and who is left to be tested."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, positive, shown
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError
from pt_reuse.scoring.caveats import Caveat

#: as many halves are enumerated at most
MOST = 20_000
#: what all runs that are tested are called
ALL = "all"


def checked_splits(splits: Any) -> int | None:
    """Return how many random halves a user's ``splits=`` asks for, None for every half that there is."""
    if isinstance(splits, str) and splits != "all":
        raise InputError(f"splits must be a number of random halves, or 'all', got {shown(splits)}.", argument="splits")
    return None if isinstance(splits, str) else positive("splits", splits, "random halves")


def halves_of(names: Sequence[str], of: str, number: int | None, seed: int) -> NDArray[np.bool_]:
    """Return (halves, units) which units each half has, the smaller half of an odd number of them."""
    n = len(names)
    size, possible = n // 2, comb(n, n // 2)
    order = sorted(range(n), key=lambda at: names[at].encode("utf-8", "surrogateescape"))
    if number is None and possible > MOST:
        raise InputError(
            f"splits: type {of!r} has {possible:,} halves, more than {MOST:,}. Draw some at random.", argument="splits"
        )
    if number is None or number >= possible:
        chosen = list(combinations(range(n), size))
    else:
        random = np.random.default_rng([seed, zlib.crc32(of.encode("utf-8", "surrogateescape"))])
        drawn: dict[tuple[int, ...], None] = {}
        while len(drawn) < number:
            drawn[tuple(sorted(random.permutation(n)[:size].tolist()))] = None
        chosen = list(drawn)
    picked = np.zeros((len(chosen), n), dtype=bool)
    for half, places in enumerate(chosen):
        picked[half, [order[place] for place in places]] = True
    return picked


@dataclass(frozen=True)
class TypeSplits:
    """The splits of one type."""

    type: str  # its name
    picked: NDArray[np.bool_]  # (splits, runs)
    units: int  # how many there are to split
    random: bool  # whether the splits are a random part of all halves

    def tested(self, kinds: Units) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield each group of runs that is tested: its name, and (splits, runs) who is in it."""
        for k, name in enumerate(kinds.names):
            yield name, (kinds.of_run == k) & ~self.picked
        yield ALL, ~self.picked

    def words(self, unit: str) -> str:
        """Return how many units make a pool, and in which splits, for settings."""
        n = count(len(self.picked), "split")
        which = f"{n} at random" if self.random else f"all {n}"
        return f"{self.type}: {self.units // 2:,} of {count(self.units, unit)}, {which}"


def types_of(runs: RunSet) -> Units:
    """Return the types of a field."""
    table = runs.run_table
    lacking = table["name"][table["type"].isna()].tolist()
    if lacking:
        lack = f"{count(len(lacking), 'run')} without one: {examples(lacking)}"
        raise InputError(f"every run must have a type, got {lack}. Give types=.", argument="runs")
    kinds = runs.units("type")
    if ALL in kinds.names:
        raise InputError(f"a type is called {ALL!r}, which here are all tested runs. Rename it.", argument="runs")
    return kinds


def splits_of(
    kinds: Units,
    units: Units,
    contributing: NDArray[np.bool_],
    wanted: Sequence[str] | None,
    *,
    number: int | None,
    seed: int,
) -> tuple[list[TypeSplits], list[Caveat]]:
    """Return the splits of each type that can be split, and what is to be told of those that cannot."""
    for name in wanted or ():
        choice("pools", name, kinds.names)
    found: list[TypeSplits] = []
    caveats: list[Caveat] = []
    for k, name in enumerate(kinds.names):
        if wanted is not None and name not in wanted:
            continue
        of_type = kinds.of_run == k
        can = np.unique(units.of_run[of_type & contributing])
        names = [units.names[unit] for unit in can.tolist()]
        if len(can) < 2:
            which = f"type {name!r} has {count(len(can), units.by)} that contributed to the pool {names or ''}".strip()
            note = f"type {name} is not split"
            caveats.append(Caveat(note, f"{which}, and a split takes two. Its runs are tested with other pools."))
            continue
        halves = halves_of(names, name, number, seed)
        has = np.zeros((len(halves), len(units)), dtype=bool)
        has[:, can] = halves
        random = len(halves) < comb(len(can), len(can) // 2)
        found.append(TypeSplits(name, has[:, units.of_run] & of_type, len(can), random))
    if caveats and (wanted is not None or not found):
        raise InputError(caveats[0].text, argument="pools" if wanted is not None else "runs")
    return found, caveats
