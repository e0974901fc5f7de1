"""Who made the pool, as far as that is known, and which judged documents one unit alone brought."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import Option, arguments_as
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.pooling.contributors import Contributors, Rule, contributors_of
from pt_reuse.pooling.depth import PoolDepth
from pt_reuse.pooling.fit import PoolFit
from pt_reuse.pooling.pool_uniques import Pooling, find_uniques
from pt_reuse.scoring.caveats import Caveat, one_unit
from pt_reuse.studies.judged_depths.judged_lists import Owners


@dataclass(frozen=True)
class PoolRecord:
    """Who made the pool.

    Attributes:
        contributors: the runs that did; None where none is on record as pooled.
        by: the unit that is left out of the pool, ``"team"``, ``"run"``, ``"type"`` or ``"family"``; None where nobody
            can be.
        why_nobody: why nobody can be left out; nothing where somebody can.
        order: the order in which the runs were pooled; None where nobody can be left out.
        owners: who alone brought each judged document; None where nobody can be left out.
        fit: how far the pool of the contributors and the judgments are the same documents; None likewise.
        units: the unit of each run; None likewise.
    """

    contributors: Contributors | None
    by: str | None
    why_nobody: str = ""
    order: str | None = None
    owners: Owners | None = None
    fit: PoolFit | None = None
    units: Units | None = None

    def caveats(self, *, asked: bool) -> Iterator[Caveat]:
        """Yield what keeps a share without the own unit from being there, or from meaning what it seems to."""
        if asked and self.by is None:
            text = f"nobody can be left out: {self.why_nobody}. So no share without the own unit is known. "
            yield Caveat("nobody is left out", (text, Option("contributors", ...), " says who made the pool."))
        if self.units is not None and self.contributors is not None:
            so = "without it nothing that these runs pooled is judged"
            yield from one_unit(self.units, self.contributors.runs, so)
        if self.fit is not None:
            yield from self.fit.caveats()

    @property
    def contributed(self) -> NDArray[np.bool_] | None:
        """Return (runs,) which contributed, None where that is not known."""
        return None if self.contributors is None or self.contributors.assumed else self.contributors.runs

    def in_words(self) -> str:
        """Return who is left out, for settings."""
        return f"nobody: {self.why_nobody}" if self.by is None else f"each {self.by}"


def record_of(
    runs: RunSet,
    qrels: Qrels,
    *,
    by: str | None,
    depth: PoolDepth,
    contributors: str | Iterable[str],
    pool_order: str | None,
) -> PoolRecord:
    """Return who made the pool, and who alone brought which of the judged documents.

    Args:
        runs: the field.
        qrels: the judgments.
        by: the unit to leave out; None for the team.
        depth: the pool's.
        contributors: ``"pooled"``, ``"all"`` or run names.
        pool_order: the order in which the runs were pooled; None for the field's own.

    Raises:
        InputError: a unit that some runs do not have, unknown contributors, an order that the field does not know.
    """
    units = None if by is None else runs.units(by)
    if contributors == Rule.POOLED.value and not runs.pooled.fillna(True).any():
        return PoolRecord(None, None, "no run is on record as pooled")
    chosen = contributors_of(runs, contributors)
    if chosen.assumed:
        return PoolRecord(chosen, None, f"who was pooled is not on record for {count(len(chosen.assumed), 'run')}")
    if units is None:
        units = runs.units("team")
    with arguments_as(order="pool_order"):
        pooling = Pooling.of(runs, chosen, units, depth=depth.value, pool_order=pool_order)
    found = find_uniques(runs, qrels, pooling)
    owner = np.full(len(qrels), -1, dtype=np.int64)
    owner[found.row] = found.owner
    fit = found.fit(qrels, chosen, depth=depth.value)
    return PoolRecord(chosen, units.by, order=pooling.order, owners=Owners(owner, units.of_run), fit=fit, units=units)
