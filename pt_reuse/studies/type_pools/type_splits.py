"""TypeSplits: which runs of a type make the pool, split by split, and which are left to be tested."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, told
from pt_reuse._errors import Argument, Aside, InputError, Option
from pt_reuse.runs.named_runs import NamedRuns
from pt_reuse.runs.units import Units
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.studies.type_pools.halves import Splits, halves_of

#: what all runs that are tested are called
ALL = "all"


@dataclass(frozen=True)
class TypeSplits:
    """The splits of one type.

    Attributes:
        type: its name.
        of_type: (runs,) which runs are of the type.
        picked: (splits, runs) the runs of the type whose team, or which themselves, were picked for the pool.
        possible: how many halves there are in all.
    """

    type: str
    of_type: NDArray[np.bool_]
    picked: NDArray[np.bool_]
    possible: int

    @property
    def random(self) -> bool:
        """Return whether the splits are a random part of all halves."""
        return len(self.picked) < self.possible

    def tested(self, kinds: Units) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield each group of runs that is tested: its name, and (splits, runs) who is in it.

        Of the own type it is the held-out half, of another type all runs; last comes who is in any of these.
        """
        for k, name in enumerate(kinds.names):
            yield name, (kinds.of_run == k) & ~self.picked
        yield ALL, ~self.picked


def splits_in_words(every: Sequence[TypeSplits]) -> str:
    """Return which halves were taken of each type, for settings."""
    drawn, whole = ([splits for splits in every if splits.random == random] for random in (True, False))
    said = [f"{len(drawn[0].picked):,} at random, each once"] if drawn else []
    if whole:
        of = f" of {examples([splits.type for splits in whole])}" if drawn else ""
        said.append(f"every half{of}")
    return ", ".join(said)


def types_of(runs: NamedRuns) -> Units:
    """Return the types of a field.

    Raises:
        InputError: a run without a type, or a type that bears the name of all runs together.
    """
    table = runs.run_table
    lacking = table["name"][table["type"].isna()].tolist()
    if lacking:
        raise _untyped(f"got {count(len(lacking), 'run')} without one: {examples(lacking)}")
    kinds = runs.units("type")
    if ALL in kinds.names:
        raise InputError(
            f"a type is called {ALL!r}, which here are all runs that are tested. Give it another name.", argument="runs"
        )
    return kinds


def check_types_are_given(columns: Collection[str]) -> None:
    """Raise when no run will have a type, before runs are read whose tables have these columns filled."""
    if "type" not in columns:
        raise _untyped("and no run has one")


def _untyped(which: str) -> InputError:
    advice = (Option("types", ...), Aside(" when reading the runs"))
    return InputError(f"every run must have a type, {which}. Give ", *advice, ".", argument="runs")


def checked_types(types: Any) -> list[str] | None:
    """Return a user's ``types=`` as a list, None for None, or say that it lists no types."""
    if types is None:
        return None
    several = isinstance(types, Iterable) and not isinstance(types, str | bytes)
    names = list(types) if several else [types]
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(
            Argument("types"), f" must be the name of a type or several, got {told(types)}.", argument="types"
        )
    return list(dict.fromkeys(names))


def splits_of(
    kinds: Units, units: Units, contributing: NDArray[np.bool_], wanted: Sequence[str] | None, splits: Splits
) -> tuple[list[TypeSplits], list[Caveat]]:
    """Return the splits of each type that can be split, and what is to be told of those that cannot.

    Args:
        kinds: the types of the field.
        units: its teams or runs, which are split.
        contributing: (runs,) which runs can be in a pool.
        wanted: the types to split; None for all.
        splits: how many splits of each.

    Raises:
        InputError: an unknown type, one that was asked for and cannot be split, or no type that can be.
    """
    for name in wanted or ():
        choice("types", name, kinds.names)
    found, single = [], []
    for k, name in enumerate(kinds.names):
        if wanted is not None and name not in wanted:
            continue
        of_type = kinds.of_run == k
        can = np.unique(units.of_run[of_type & contributing])
        if len(can) < 2:
            single.append((name, can, int((of_type & contributing).sum())))
            continue
        halves = halves_of([units.names[unit] for unit in can.tolist()], name, splits)
        has = np.zeros((len(halves), len(units)), dtype=bool)
        has[:, can] = halves.picked
        found.append(TypeSplits(name, of_type, has[:, units.of_run] & of_type, halves.possible))
    caveats = [_single(name, can, units, n_runs=n_runs) for name, can, n_runs in single]
    if caveats and (wanted is not None or not found):
        raise InputError(*caveats[0].parts, argument="types" if wanted is not None else "runs")
    return found, caveats


def _single(name: str, can: NDArray[np.int64], units: Units, *, n_runs: int) -> Caveat:
    """Return what is to be told of a type that has no two units to split, and of which so many runs contributed."""
    noun = units.by
    who = f"{count(len(can), noun)} that contributed to the pool"
    which = f" ({examples(units.names[unit] for unit in can.tolist())})" if len(can) else ""
    advice = (" ", Option("unit", "run"), " splits its runs instead.") if n_runs > 1 else ()
    return Caveat(
        f"type {name} is not split",
        (
            f"type {name!r} has {who}{which}, and a half to pool and a half to test take two. So no pool is made of "
            "it; its runs are tested with the pools of other types.",
            *advice,
        ),
    )
