"""Arguments that Experiment hands over to pt.Experiment: what that would notice only after all systems have run."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyterrier as pt

from pt_reuse._check import did_you_mean, examples, flag, told
from pt_reuse._errors import InputError, Option
from pt_reuse._files import check_writable


def check_handed_over(given: Mapping[str, Any], ours: Callable[..., Any]) -> None:
    """Raise where pt.Experiment has no such argument, or could not end with its value."""
    known = inspect.signature(pt.Experiment).parameters
    _check_names(given, [name for name, p in known.items() if p.kind is not p.VAR_KEYWORD], ours)
    for name, value in given.items():
        default = known[name].default
        # verbose="auto" is its default in some versions
        if (isinstance(default, bool) or name == "verbose") and not (isinstance(value, str) and value == default):
            flag(name, value)
    if given.get("baseline") is not None:
        _check_significance(given)
    folder = given.get("save_dir")
    if isinstance(folder, str | Path) and os.path.isdir(folder):
        check_writable(Path(folder), [], overwrite=True, argument="save_dir")


def check_baseline(given: Mapping[str, Any], n_systems: int) -> None:
    """Raise where pt.Experiment could not test against the baseline."""
    baseline = given.get("baseline")
    if baseline is None:
        return
    if given["perquery"] is not False:
        raise InputError(
            "",
            Option("baseline", ...),
            " adds tests of the means, which pt.Experiment gives alone. Leave ",
            Option("perquery", ...),
            " out.",
            argument="baseline",
        )
    if isinstance(baseline, int | np.integer) and not 0 <= baseline < n_systems:
        raise InputError(
            f"baseline must be the name of a system, or its number from 0 to {n_systems - 1}, got {baseline}.",
            argument="baseline",
        )


def significance(systems: Sequence[str], given: Mapping[str, Any]) -> dict[str, str]:
    """Return what settings say of the test against a baseline; nothing without one."""
    baseline, test = given.get("baseline"), given.get("test", "t")
    if baseline is None:
        return {}
    names = {"t": "paired t-test", "wilcoxon": "Wilcoxon signed-rank test"}
    named = names.get(test) if isinstance(test, str) else f"the test {getattr(test, '__name__', type(test).__name__)}"
    corrected = {"correction": str(given["correction"])} if given.get("correction") is not None else {}
    name = baseline if isinstance(baseline, str) else systems[int(baseline)]
    return {"baseline": name, "test": str(named or test), **corrected}


def checked_perquery(perquery: Any) -> bool | str:
    """Return a user's ``perquery=``: True, False or ``"both"``."""
    if isinstance(perquery, str) and perquery == "both":
        return perquery
    try:
        return flag("perquery", perquery)
    except InputError:
        problem = f"perquery must be True, False or 'both', got {told(perquery)}."
        raise InputError(problem, argument="perquery") from None


def _check_names(given: Mapping[str, Any], known: list[str], ours: Callable[..., Any]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        renamed = " It is now filter_by_qrels." if unknown[0] == "drop_unused" else ""
        hint = renamed or did_you_mean(unknown[0], [*known, *inspect.signature(ours).parameters])
        raise InputError(
            f"neither ptr.Experiment nor pt.Experiment has an argument {examples(unknown)}.{hint}", argument=unknown[0]
        )


def _check_significance(given: Mapping[str, Any]) -> None:
    test, method, alpha = given.get("test", "t"), given.get("correction"), given.get("correction_alpha", 0.05)
    if not isinstance(test, str) and not callable(test):
        raise InputError(f"test must be 't', 'wilcoxon' or a function, got {told(test)}.", argument="test")
    if method is None:
        return
    try:
        from statsmodels.stats.multitest import multipletests

        multipletests([0.01, 0.5], alpha=alpha, method=method)
    except ImportError as error:
        raise InputError(
            "correction needs statsmodels; `pip install statsmodels` brings it.", argument="correction"
        ) from error
    except Exception as error:  # whatever it makes of a word or a number that it does not know
        raise InputError(
            f"statsmodels computes no correction={method!r} with correction_alpha={alpha!r}. Give a method that its "
            f"multipletests has, such as 'bonferroni' or 'holm', and a level such as 0.05.",
            argument="correction",
        ) from error
