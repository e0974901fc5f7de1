"""The one door for runs: whatever a user gives as runs, as a RunSet."""

from __future__ import annotations

from typing import Any

from pt_reuse._errors import InputError
from pt_reuse.qrels.judgments import Qrels, as_qrels
from pt_reuse.runs.forms import coded_runs, holds_judgments
from pt_reuse.runs.run_set import RunSet

_SWAPPED = " The runs come first, then the qrels."


def as_runs(runs: Any, *others: Any, argument: str = "runs", order: str = "trec_eval") -> RunSet:
    """Return what a user gives as runs as a RunSet: the one place that takes runs of any kind.

    Args:
        runs: a RunSet, which is returned as it is; a dict of run name -> results (a frame with PyTerrier's or
            ir_measures' columns, ScoredDoc tuples, or topic -> document -> score); a frame of several runs with a
            column ``name``; run files (a folder, a pattern, a file or several), read as :func:`read_runs` does.
        *others: what was given after the runs, to tell where the two were swapped.
        argument: what the user calls the runs, for errors.
        order: the ranking order of runs that are no RunSet yet.

    Raises:
        InputError: something else, such as pipelines without results; results or files that are no runs.
    """
    if isinstance(runs, RunSet):
        return runs
    judged = isinstance(runs, Qrels) or holds_judgments(runs)
    swapped = any(isinstance(other, RunSet) for other in others)
    if judged and others and not swapped:
        swapped = not any(isinstance(other, Qrels) or holds_judgments(other) for other in others)
    return RunSet.of_coded(coded_runs(runs, argument=argument, order=order, hint=_SWAPPED if swapped else ""))


def as_runs_before(runs: Any, qrels: Any) -> tuple[RunSet, Any]:
    """Return the runs as a RunSet, and the judgments beside them: read first where runs are read, which takes longer.

    Judgments beside a RunSet are returned as they are, so that what hangs on the runs alone can be checked before.
    """
    if isinstance(runs, RunSet):
        return runs, qrels
    try:
        found = qrels if isinstance(qrels, RunSet) else as_qrels(qrels)
    except InputError:
        # of two that are swapped, the runs are told
        if isinstance(runs, Qrels) or holds_judgments(runs):
            as_runs(runs, qrels)
        raise
    return as_runs(runs, found), found
