"""Scores of systems as users give them: checked, matched by label, rounded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pt_reuse._check import count, examples, told
from pt_reuse._errors import Call, InputError, Part

Floats: TypeAlias = NDArray[np.float64]

#: scores are compared after rounding to this many decimals
DECIMALS = 12


def undefined(coefficient: str, a: Floats, b: Floats, labels: pd.Index, arguments: tuple[str, str]) -> tuple[Part, ...]:
    """Say why a coefficient is undefined; nothing where it is defined."""
    if len(a) < 2:
        return (f"{coefficient} is NaN, because it takes at least 2 systems, got {len(a)}.",)
    for argument, scores in zip(arguments, (a, b), strict=True):
        if (scores == scores[0]).all():
            why = f"{argument} ties all its {len(a)} systems, so that no pair can agree."
            return (f"{coefficient} is NaN, because {why}",)
    untied = {"tau_ap": (a, b), "tau_ap_a": (a,)}.get(coefficient, ())
    for argument, scores in zip(arguments, untied, strict=False):
        order = np.argsort(-scores, kind="stable")
        tied = np.flatnonzero(np.diff(scores[order]) == 0)
        if len(tied):
            return (
                f"{coefficient} is NaN, because it is defined without ties and {argument} ties "
                f"{examples(labels[order[tied[0] : tied[0] + 2]])}, among others. Use ",
                Call("tau_ap_b", "x, y"),
                ", or ",
                Call("tau_ap_a", "truth, estimate"),
                " when only the estimate has ties.",
            )
    return ()


def two_rankings(x: ArrayLike, y: ArrayLike, arguments: tuple[str, str]) -> tuple[Floats, Floats, pd.Index]:
    """Check, match and round two lists of scores; with the labels of the systems."""
    a, b, labels = two_arrays(x, y, arguments)
    return rounded(a), rounded(b), labels


def two_arrays(x: ArrayLike, y: ArrayLike, arguments: tuple[str, str]) -> tuple[Floats, Floats, pd.Index]:
    """Check and match two lists of scores, in the order of the first; with the labels of the systems."""
    a, b = numbers(arguments[0], x, 1), numbers(arguments[1], y, 1)
    if isinstance(x, pd.Series) and isinstance(y, pd.Series):
        b = b[positions(x.index, y.index, arguments)]
    same_length(len(a), len(b), arguments)
    labelled = x if isinstance(x, pd.Series) else y
    return a, b, labelled.index if isinstance(labelled, pd.Series) else pd.RangeIndex(len(a))


def rounded(scores: Floats) -> Floats:
    """Round scores before they are compared; those too large to be rounded stay as they are."""
    with np.errstate(over="ignore"):
        rounded = np.round(scores, DECIMALS)
    return np.where(np.isfinite(rounded), rounded, scores)


def numbers(argument: str, values: ArrayLike, dimensions: int) -> Floats:
    """Return finite float64 scores of so many dimensions, else raise."""
    wanted = "one score per system, shape (n,)" if dimensions == 1 else "one row per estimate, shape (S, n)"
    try:
        raw = values.to_numpy() if isinstance(values, pd.Series | pd.DataFrame) else np.asarray(values)
    except ValueError:
        raise InputError(f"{argument} must be {wanted}, got rows of different lengths.", argument=argument) from None
    if raw.ndim != dimensions:
        raise InputError(f"{argument} must be {wanted}, got shape {raw.shape}.", argument=argument)
    try:
        if raw.dtype.kind not in "biufO" or any(isinstance(v, str) for v in raw.flat if raw.dtype.kind == "O"):
            raise TypeError
        scores = raw.astype(np.float64)
    except (TypeError, ValueError):
        odd = examples(v for v in raw.flat if not isinstance(v, float | int))
        raise InputError(f"{argument} must be numbers, got {odd}. Score each system.", argument=argument) from None
    bad = ~np.isfinite(scores)
    if bad.any():
        labels: pd.Index = pd.RangeIndex(scores.shape[-1])
        if isinstance(values, pd.Series | pd.DataFrame):
            labels = values.index if isinstance(values, pd.Series) else values.columns
        where = labels[np.unique(np.nonzero(bad)[-1])]
        raise InputError(
            f"{argument} must be finite numbers, got {scores[bad][0]} ({count(len(where), 'system')}: "
            f"{examples(where)}). Leave them out of both rankings, or score them 0.",
            argument=argument,
        )
    return scores


def positions(wanted: pd.Index, given: pd.Index, arguments: tuple[str, str]) -> NDArray[np.intp]:
    """Return where each wanted label stands among those given, which must be the same ones."""
    if wanted.equals(given):
        return np.arange(len(wanted))
    only = []
    for argument, labels, others in ((arguments[0], wanted, given), (arguments[1], given, wanted)):
        if not labels.is_unique:
            twice = examples(labels[labels.duplicated()].unique())
            raise InputError(
                f"{argument} must name each system once, got {twice} again. Rename them.", argument=argument
            )
        missing = labels[~labels.isin(others)]
        if len(missing):
            only.append(f"{examples(missing)} only in {argument}")
    if only:
        raise InputError(
            f"{arguments[0]} and {arguments[1]} must score the same systems, got {', '.join(only)}. "
            "Keep the systems that both have, or pass arrays to match by position.",
            argument=arguments[1],
        )
    return given.get_indexer(wanted)


def same_length(n_first: int, n_second: int, arguments: tuple[str, str]) -> None:
    """Raise when two rankings differ in their number of systems."""
    if n_first != n_second:
        raise InputError(
            f"{arguments[0]} and {arguments[1]} must score the same systems, got {n_first} and {n_second}.",
            argument=arguments[1],
        )


def name_index(names: Any, n: int) -> pd.Index:
    """Return n different names of systems, or say what was given in their place."""
    several = list(names) if isinstance(names, Iterable) and not isinstance(names, str | bytes) else []
    listed = bool(several) and all(isinstance(name, Hashable) for name in several)
    labels = pd.Index(several if listed else [], tupleize_cols=False)
    if len(labels) != n or not labels.is_unique:
        got = f"{len(labels)}, {labels.nunique()} different" if listed else told(names)
        raise InputError(
            f"names must be {n} different names, one per system, got {got}. Give them in the order of truth.",
            argument="names",
        )
    return labels
