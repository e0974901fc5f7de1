"""The rounds in which judgments were made, however somebody says which they were."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import examples, shown
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, located
from pt_reuse.pooling.depth import checked_depth, pool_to_depth
from pt_reuse.pooling.pool import Contributors, Pool

#: the column of judgments that says in which round each was made
ROUND = "round"
#: what a single round is called, and the one after all pools
ALL = "all judgments"
_UNKNOWN = "no round given"


@dataclass(frozen=True)
class JudgingRounds:
    """Judgments, and in which round each document was first judged."""

    qrels: Qrels  # the judgments of all rounds
    names: tuple[str, ...]  # of the rounds, in order
    of_row: NDArray[np.int64]  # (judgments,) the round of each, as a position among the names
    origin: str  # what says which rounds there were

    @classmethod
    def of_column(cls, qrels: Qrels, by: str | None) -> JudgingRounds:
        """Return the rounds that a column of the judgments names, ascending; those without one come first."""
        extra = qrels.arrays.extra
        if by is None and (extra is None or ROUND not in extra):
            return cls(qrels, (ALL,), np.zeros(len(qrels), dtype=np.int64), "one round")
        column = ROUND if by is None else by
        # raises where there is no such column
        qrels.counts(by=column)
        frame = pd.DataFrame({column: []}) if extra is None else extra
        codes, values = pd.factorize(frame[column])
        order = sorted(range(len(values)), key=lambda at: _ascending(values[at]))
        place = np.empty(len(order) + 1, dtype=np.int64)
        place[[*order, -1]] = [*range(len(order)), -1]
        codes, names = place[codes], [_name(values[at]) for at in order]
        if (codes < 0).any():
            codes, names = codes + 1, [_UNKNOWN, *names]
        return cls(qrels, tuple(names), codes, f"column {column}")

    @classmethod
    def of_sets(cls, sets: Mapping[str, Any]) -> JudgingRounds:
        """Return the rounds of several sets of judgments, each made in a round, or all that was made by then."""
        found = {}
        for name, given in sets.items():
            with located(name):
                found[name] = as_qrels(given)
        whole = next(iter(found.values()))
        for name, qrels in list(found.items())[1:]:
            with located(name):
                whole = whole.union(qrels)
        of_row = np.full(len(whole), len(found) - 1, dtype=np.int64)
        for i, qrels in reversed(list(enumerate(found.values()))):
            rows = qrels.arrays.documents.find(whole.arrays.documents)
            of_row[(rows >= 0) & (np.append(qrels.arrays.labels, np.int16(-1))[rows] >= 0)] = i
        return cls(whole, tuple(found), of_row, "sets of judgments")

    @classmethod
    def of_depths(
        cls, qrels: Qrels, ranked: RunSet, depths: Sequence[int], contributors: Contributors
    ) -> JudgingRounds:
        """Return rounds as if each depth of the pool had been judged after the one before, and then all else."""
        pool = pool_to_depth(ranked, depths[-1], contributors)
        first = np.searchsorted(depths, pool.entries.best_rank)
        of_row = np.full(len(qrels), len(depths), dtype=np.int64)
        rows = qrels.arrays.documents.find(pool.documents)
        of_row[rows[rows >= 0]] = first[rows >= 0]
        return cls._with_rest(qrels, of_row, [f"depth-{depth} pool" for depth in depths], "pools of the runs")

    @classmethod
    def of_pools(cls, qrels: Qrels, pools: Mapping[str, Pool]) -> JudgingRounds:
        """Return rounds as if each pool had been judged after the one before, and then all else."""
        _check_topics_of(pools, qrels)
        of_row = np.full(len(qrels), len(pools), dtype=np.int64)
        for i, pool in reversed(list(enumerate(pools.values()))):
            rows = qrels.arrays.documents.find(pool.documents)
            of_row[rows[rows >= 0]] = i
        return cls._with_rest(qrels, of_row, list(pools), "pools")

    @classmethod
    def _with_rest(cls, qrels: Qrels, of_row: NDArray[np.int64], names: list[str], origin: str) -> JudgingRounds:
        judged = qrels.arrays.labels >= 0
        rest = [ALL] if (of_row[judged] == len(names)).any() else []
        return cls(qrels, (*names, *rest), np.minimum(of_row, len(names) + len(rest) - 1), origin)

    def counts(self, lowest: int) -> pd.DataFrame:
        """Return one row per topic and round, ``qid round judged relevant density new_judged new_relevant``."""
        labels, documents = self.qrels.arrays.labels, self.qrels.arrays.documents
        n_rounds, n_topics = len(self.names), len(documents.topics)
        cell = documents.topic * n_rounds + self.of_row
        new = [
            np.bincount(cell[rows], minlength=n_topics * n_rounds).reshape(n_topics, n_rounds)
            for rows in (labels >= 0, labels >= lowest)
        ]
        judged, relevant = (counts.cumsum(axis=1).ravel() for counts in new)
        density = np.divide(relevant, judged, out=np.full(len(judged), np.nan), where=judged > 0)
        return pd.DataFrame(
            {
                "qid": np.repeat(np.array([*documents.topics, None], dtype=object)[:-1], n_rounds),
                "round": np.tile(np.array(self.names, dtype=object), n_topics),
                "judged": judged,
                "relevant": relevant,
                "density": density,
                "new_judged": new[0].ravel(),
                "new_relevant": new[1].ravel(),
            }
        )


def sets_of_rounds(given: Any) -> dict[str, Any] | None:
    """Return the judgments of each round by name, where somebody gives several sets; None where it is one set."""
    if isinstance(given, Mapping):
        values = list(given.values())
        if values and all(map(_is_a_set, values)):
            return {str(name): one for name, one in given.items()}
        return None
    if isinstance(given, list | tuple) and given and all(map(_is_a_set, given)):
        return {f"round {n}": one for n, one in enumerate(given, 1)}
    return None


def _check_topics_of(pools: Mapping[str, Pool], qrels: Qrels) -> None:
    """Raise where a pool has no topic in common with the judgments."""
    for name, pool in pools.items():
        if len(pool) and not set(pool.topics) & set(qrels.topics):
            raise InputError(
                f"the pool {name!r} has no topic in common with the judgments: it has {examples(pool.topics)}, the "
                f"judgments {examples(qrels.topics)}. Are they of the same collection?",
                argument="pools",
            )


def _ascending(value: Any) -> tuple[bool, float, list[tuple[bool, int, str]]]:
    """Return what puts rounds in order: numbers by value, then texts, the numbers in them by value too."""
    if isinstance(value, Real):
        return False, float(value), []
    parts = [part for part in re.split("([0-9]+)", str(value)) if part]
    return True, 0.0, [(False, int(part), "") if "0" <= part[0] <= "9" else (True, 0, part) for part in parts]


def _name(value: Any) -> str:
    """Return what a round is called; a column with gaps holds whole numbers as 1.0."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _is_a_set(value: Any) -> bool:
    # a file by its path; tuples and mappings are parts of one set
    return isinstance(value, Qrels | pd.DataFrame | str | os.PathLike)


def pools_by_name(given: Any) -> dict[str, Pool]:
    """Return a user's ``pools=`` by name, in order."""
    named = dict(given) if isinstance(given, Mapping) else None
    if named is None and isinstance(given, list | tuple):
        named = {f"pool {n}": pool for n, pool in enumerate(given, 1)}
    if not named or not all(isinstance(pool, Pool) for pool in named.values()):
        raise InputError(
            f"pools must be a list of pools, or a dict of name -> pool, got {shown(given)}.", argument="pools"
        )
    if ALL in named:
        raise InputError(
            f"pools have one called {ALL!r}, as the round after all pools is. Call it something else.", argument="pools"
        )
    return {str(name): pool for name, pool in named.items()}


def checked_depths(depths: Any) -> list[int]:
    """Return a user's depths, one or several, as ascending numbers, each once."""
    several = isinstance(depths, Iterable) and not isinstance(depths, str | bytes)
    given = list(depths) if several else [depths]
    if not given:
        raise InputError("depths names no depth. Give one or several.", argument="depths")
    return sorted({checked_depth(depth, "depths") for depth in given})
