"""Who contributes to a pool, and which documents each has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, did_you_mean, examples, told
from pt_reuse._errors import InputError, Option, wrong
from pt_reuse.arrays.lists import offsets, ranges
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units


class Rule(Enum):
    """Which runs of a field contribute to a pool."""

    POOLED = "pooled"
    ALL = "all"
    NAMED = "named"


@dataclass(frozen=True)
class Contributors:
    """The runs of a field that contribute to a pool."""

    rule: Rule  # by which they were chosen
    runs: NDArray[np.bool_]  # (runs,) which runs of the field they are; at least one
    assumed: tuple[str, ...] = ()  # the names of those that count only because nobody recorded whether they were pooled

    def __len__(self) -> int:
        return int(self.runs.sum())

    @property
    def note(self) -> str:
        """Return in words what was assumed, nothing where nothing was."""
        if not self.assumed:
            return ""
        if len(self.assumed) == len(self.runs):
            return "who was pooled is not on record: all count"
        return f"not on record for {count(len(self.assumed), 'run')}, counted all the same"

    def __str__(self) -> str:
        """Return rule, number and assumption: ``pooled (71 of 129 runs)``."""
        note = f"; {self.note}" if self.note else ""
        return f"{self.rule.value} ({len(self):,} of {count(len(self.runs), 'run')}{note})"


def contributors_of(runs: RunSet, contributors: str | Iterable[str]) -> Contributors:
    """Return the runs of a field that a user's ``contributors=`` names: ``"pooled"``, ``"all"``, or run names."""
    if isinstance(contributors, str):
        if contributors in runs and contributors not in (Rule.POOLED.value, Rule.ALL.value):
            raise wrong(
                "contributors",
                " is the name of a run. Give run names as a list: ",
                Option("contributors", [contributors]),
                ".",
            )
        rule = Rule(choice("contributors", contributors, (Rule.POOLED.value, Rule.ALL.value)))
        if rule is Rule.ALL:
            return Contributors(rule, np.ones(len(runs), dtype=bool))
        unknown = runs.pooled.isna().to_numpy()
        chosen = runs.pooled.fillna(True).to_numpy(dtype=bool)
        if not chosen.any():
            raise InputError(
                "no run is marked as pooled. Pass ",
                Option("contributors", Rule.ALL.value),
                ", or mark runs with ",
                Option("pooled", ...),
                ".",
                argument="contributors",
            )
        return Contributors(rule, chosen, tuple(runs.names[row] for row in np.flatnonzero(unknown).tolist()))
    names = named_contributors(contributors, runs.names)
    chosen = np.zeros(len(runs), dtype=bool)
    chosen[[runs.row(name) for name in names]] = True
    return Contributors(Rule.NAMED, chosen)


def named_contributors(contributors: Any, known: Sequence[str] | None = None) -> list[Any]:
    """Return the run names that a user's ``contributors=`` lists; with `known` None it is not known which there are."""
    names = list(contributors) if isinstance(contributors, Iterable) else []
    if not names:
        raise wrong("contributors", f" must be 'pooled', 'all' or run names, got {told(contributors)}.")
    if known is None:
        return names
    there = set(known)
    strangers = [name for name in names if not isinstance(name, str) or name not in there]
    if strangers:
        hint = did_you_mean(strangers[0], known) or f" There is {examples(known)}."
        raise wrong("contributors", f" names {examples(strangers)}, not among the {count(len(known), 'run')}.{hint}")
    return names


@dataclass(frozen=True)
class Contributions:
    """The runs that contributed each of some documents; a document may have none, and then it belongs to nobody."""

    starts: NDArray[np.int64]  # (documents + 1,)
    run: NDArray[np.integer]  # (rows,) the run, as a position in the table of contributing runs; each once per document
    rank: NDArray[np.integer]  # (rows,) the rank, from 1, at which the run has the document

    @classmethod
    def none(cls, n_documents: int) -> Contributions:
        """Return the contributions to documents that no run has."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls(np.zeros(n_documents + 1, dtype=np.int64), nothing, nothing)

    def __len__(self) -> int:
        return len(self.run)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return (documents,): how many runs have each."""
        return np.diff(self.starts)

    @property
    def document(self) -> NDArray[np.int64]:
        """Return (rows,): the document of each contribution, as a position."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def best_rank(self) -> NDArray[np.int32]:
        """Return (documents,): the best rank at which a run has it, 0 where none has."""
        return self._reduced(np.minimum, self.rank, 0).astype(np.int32)

    @property
    def best_run(self) -> NDArray[np.int64]:
        """Return (documents,): the run that has it at the best rank, the first of several, -1 where none has."""
        n_runs = int(self.run.max()) + 1 if len(self.run) else 0
        best = self._reduced(np.minimum, self.rank.astype(np.int64) * n_runs + self.run, -1)
        return np.where(best < 0, -1, best % max(n_runs, 1))

    def sole(self, units: Units) -> NDArray[np.int64]:
        """Return (documents,): the one unit whose runs alone have the document, -1 where none or several have."""
        of_row = units.of_run[self.run]
        low, high = self._reduced(np.minimum, of_row, -1), self._reduced(np.maximum, of_row, -1)
        return np.where(low == high, low, -1)

    def count_distinct(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (documents,): how many of the (runs,) codes its runs have, each once and none below 0."""
        code, n_codes = codes[self.run], max(1, int(codes.max(initial=-1)) + 1)
        pairs = pd.unique((self.document * n_codes + code)[code >= 0])
        return np.bincount(pairs // n_codes, minlength=len(self.sizes))

    def take(self, documents: NDArray[np.int64]) -> Contributions:
        """Return the contributions to some documents, in that order."""
        sizes = self.sizes[documents]
        gather = ranges(self.starts[:-1][documents], sizes)
        return Contributions(offsets(sizes), self.run[gather], self.rank[gather])

    def without(self, runs: NDArray[np.bool_]) -> Contributions:
        """Return the contributions of all but some (runs,), numbered anew; the documents stay."""
        place = (np.cumsum(~runs) - 1).astype(self.run.dtype)
        stays = ~runs[self.run]
        before = np.concatenate([[0], np.cumsum(stays)]).astype(np.int64)
        return Contributions(before[self.starts], place[self.run[stays]], self.rank[stays])

    def _reduced(self, reduce: np.ufunc, values: NDArray[Any], nothing: int) -> NDArray[Any]:
        # reduceat gives a document without rows the next one's first value: such documents are left out of it
        some = np.flatnonzero(self.sizes)
        reduced = np.full(len(self.sizes), nothing, dtype=values.dtype)
        if len(some):
            reduced[some] = reduce.reduceat(values, self.starts[some])
        return reduced
