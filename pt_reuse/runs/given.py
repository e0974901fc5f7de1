"""What a user gives as runs, checked."""

from __future__ import annotations

from typing import Any

from pt_reuse._errors import InputError
from pt_reuse.runs.run_set import RunSet


def check_runs(runs: Any, *others: Any) -> None:
    """Raise where the runs are no RunSet; say so where one of the other arguments is.

    Args:
        runs: what was given as runs.
        others: what was given after them.
    """
    if isinstance(runs, RunSet):
        return
    swapped = " The runs come first, then the qrels." if any(isinstance(other, RunSet) for other in others) else ""
    raise InputError(
        f"runs must be a RunSet (read_runs or get_runs() makes one), got {type(runs).__name__}.{swapped}",
        argument="runs",
    )
