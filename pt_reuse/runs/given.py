"""What a user gives as runs, checked and made a RunSet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pt_reuse._errors import InputError
from pt_reuse.runs.run_set import RunSet


def as_runs(runs: Any, *others: Any, argument: str = "runs") -> RunSet:
    """Return a RunSet of a RunSet or of a dict of frames; say so where one of the other arguments is the RunSet.

    Args:
        runs: what was given as runs.
        others: what was given after them.
        argument: what messages call it.
    """
    if isinstance(runs, RunSet):
        return runs
    if isinstance(runs, Mapping):
        return RunSet.from_frames(runs)
    swapped = " The runs come first, then the qrels." if any(isinstance(other, RunSet) for other in others) else ""
    raise InputError(
        f"{argument} must be a RunSet (read_runs or get_runs() makes one), got {type(runs).__name__}.{swapped}",
        argument=argument,
    )


def check_runs(runs: Any, *others: Any) -> None:
    """Raise where the runs are no RunSet; say so where one of the other arguments is.

    Args:
        runs: what was given as runs.
        others: what was given after them.
    """
    if not isinstance(runs, Mapping):
        as_runs(runs, *others)
        return
    raise InputError(
        f"runs must be a RunSet (read_runs or get_runs() makes one), got {type(runs).__name__}.", argument="runs"
    )
