"""Splits of the runs of a type: which half of its teams, or runs, makes the pool, and who is left to be tested."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, positive, told
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
    if not isinstance(splits, str):
        return positive("splits", splits, "random halves")
    if splits != "all":
        what = "a number of random halves, or 'all' for every half that there is"
        raise InputError(f"splits must be {what}, got {told(splits)}.", argument="splits")
    return None


def halves_of(names: Sequence[str], of: str, number: int | None, seed: int) -> NDArray[np.bool_]:
    """Return (halves, units) which units each half has, the smaller half of an odd number of them."""
    n = len(names)
    size, possible = n // 2, possible_halves(n)
    order = sorted(range(n), key=lambda at: names[at].encode("utf-8", "surrogateescape"))
    if number is None and possible > MOST:
        raise InputError(
            f"type {of!r} has {possible:,} halves, and at most {MOST:,} can be tried. Draw some at random: splits=100.",
            argument="splits",
        )
    if number is None or number >= possible:
        chosen = list(combinations(range(n), size))
    else:
        chosen = list(islice(_drawn(n, size, of, seed), number))
    picked = np.zeros((len(chosen), n), dtype=bool)
    for half, places in enumerate(chosen):
        picked[half, [order[place] for place in places]] = True
    return picked


def possible_halves(n: int) -> int:
    """Return how many halves there are of so many units."""
    return comb(n, n // 2)


def _drawn(n: int, size: int, of: str, seed: int) -> Iterator[tuple[int, ...]]:
    """Yield random halves, each once."""
    random = np.random.default_rng([seed, zlib.crc32(of.encode("utf-8", "surrogateescape"))])
    seen: set[tuple[int, ...]] = set()
    while True:
        half = tuple(sorted(random.permutation(n)[:size].tolist()))
        if half not in seen:
            seen.add(half)
            yield half


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


def splits_in_words(every: Sequence[TypeSplits], unit: str) -> str:
    """Return how many units of each type make a pool, and in which splits, for settings."""
    said = []
    for splits in every:
        n = count(len(splits.picked), "split")
        which = f"{n} at random" if splits.random else f"all {n}"
        said.append(f"{splits.type}: {splits.units // 2:,} of {count(splits.units, unit)}, {which}")
    return "; ".join(said)


def types_of(runs: RunSet) -> Units:
    """Return the types of a field."""
    table = runs.run_table
    lacking = table["name"][table["type"].isna()].tolist()
    if lacking:
        raise InputError(
            f"every run must have a type, got {count(len(lacking), 'run')} without one: {examples(lacking)}. Give "
            "types= when reading the runs.",
            argument="runs",
        )
    kinds = runs.units("type")
    if ALL in kinds.names:
        raise InputError(
            f"a type is called {ALL!r}, which here are all runs that are tested. Give it another name.", argument="runs"
        )
    return kinds


def checked_types(types: Any, argument: str = "types") -> list[str]:
    """Return the types that an argument of a user's names, one or several, or say that it names none."""
    several = isinstance(types, Iterable) and not isinstance(types, str | bytes)
    names = list(types) if several else [types]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"{argument} must be the name of a type or several, got {told(types)}.", argument=argument)
    return list(dict.fromkeys(names))


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
        if len(can) < 2:
            caveats.append(_single(name, can, units, n_runs=int((of_type & contributing).sum())))
            continue
        halves = halves_of([units.names[unit] for unit in can.tolist()], name, number, seed)
        has = np.zeros((len(halves), len(units)), dtype=bool)
        has[:, can] = halves
        random = len(halves) < possible_halves(len(can))
        found.append(TypeSplits(name, has[:, units.of_run] & of_type, len(can), random))
    if caveats and (wanted is not None or not found):
        raise InputError(caveats[0].text, argument="pools" if wanted is not None else "runs")
    return found, caveats


def _single(name: str, can: NDArray[np.int64], units: Units, *, n_runs: int) -> Caveat:
    """Return what is to be told of a type that has no two units to split, and of which so many runs contributed."""
    noun = units.by
    who = f"{count(len(can), noun)} that contributed to the pool"
    which = f" ({examples(units.names[unit] for unit in can.tolist())})" if len(can) else ""
    advice = " unit='run' splits its runs instead." if n_runs > 1 else ""
    return Caveat(
        f"type {name} is not split",
        f"type {name!r} has {who}{which}, and a half to pool and a half to test take two. So no pool is made of it; "
        f"its runs are tested with the pools of other types.{advice}",
    )
