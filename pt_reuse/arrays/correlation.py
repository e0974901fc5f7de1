"""Agreement of two rankings of the same systems, from their scores.

Every function ranks systems by scores, one per system, where larger is better, rounded to `DECIMALS` decimals before
they are compared. Two pandas Series are matched by their index; anything else is matched by position. Where no pair can
agree or disagree, a coefficient is NaN, with a `ReuseWarning` that says why. "Checked against ircor" means: it gives
the numbers in the tests, README and manual of the R package ircor (J. Urbano, version 1.0).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pt_reuse.arrays import pairs
from pt_reuse.errors import InputError, count, examples, shown, warn

_P = ParamSpec("_P")
_R = TypeVar("_R")
Floats: TypeAlias = NDArray[np.float64]

#: scores are compared after rounding to this many decimals
DECIMALS = 12
#: what differs by no more is equal
CLOSE = 10.0**-DECIMALS
#: what the docstrings of all functions of two rankings say, by their first argument
_ARGUMENTS = {
    "x": (
        "x: scores, shape (n,), larger is better.",
        "y: other scores of the same systems, shape (n,); swapping the two changes nothing.",
    ),
    "truth": (
        "truth: scores of the ranking taken as right, shape (n,), larger is better.",
        "estimate: scores of the ranking to be judged, shape (n,), for the same systems.",
    ),
}
_RETURNS = "The coefficient, in [-1, 1]; NaN, with a warning, for fewer than two systems or where one side ties all."
_RAISES = "InputError: the two are not finite numbers, shape (n,), for the same systems."


def _of_two_rankings(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Write what all functions of two rankings have in common into its docstring."""
    said, _, example = inspect.cleandoc(call.__doc__ or "").partition("Example:")
    said, _, returns = said.partition("Returns:")
    arguments = "\n    ".join(_ARGUMENTS[next(iter(inspect.signature(call).parameters))])
    sections = {"Args": arguments, "Returns": returns.strip() or _RETURNS, "Raises": _RAISES}
    written = "".join(f"{heading}:\n    {text}\n\n" for heading, text in sections.items())
    call.__doc__ = f"{said.rstrip()}\n\n{written}Example:{example}"
    return call


def rounded(scores: Floats) -> Floats:
    """Round scores before they are compared; those too large to be rounded stay as they are."""
    with np.errstate(over="ignore"):
        rounded = np.round(scores, DECIMALS)
    return np.where(np.isfinite(rounded), rounded, scores)


def _two_arrays(**given: ArrayLike) -> tuple[Floats, Floats, pd.Index]:
    """Check two lists of scores, by argument, and match them in the order of the first; with the systems."""
    (first, x), (second, y) = given.items()
    a, b = _numbers(first, x), _numbers(second, y)
    labels = [scores.index for scores in (x, y) if isinstance(scores, pd.Series)]
    if len(labels) == 2 and not labels[0].equals(labels[1]):
        twice = [label for index in labels for label in index[index.duplicated()]]
        only = labels[0].symmetric_difference(labels[1])
        if twice or len(only):
            what = f"{examples(twice)} more than once" if twice else f"{examples(only)} in one of them alone"
            raise InputError(
                f"{first} and {second} must score the same systems once each, got {what}. Keep the systems that both "
                "have, or pass arrays to match by position.",
                argument=second,
            )
        b = b[labels[1].get_indexer(labels[0])]
    if len(a) != len(b):
        got = f"got {len(a)} and {len(b)}"
        raise InputError(f"{first} and {second} must score the same systems, {got}.", argument=second)
    return a, b, labels[0] if labels else pd.RangeIndex(len(a))


def _numbers(argument: str, values: ArrayLike) -> Floats:
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO" or any(isinstance(value, str) for value in raw.flat if raw.dtype.kind == "O"):
            raise TypeError
        scores = raw.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{argument} must be numbers, one per system, got {shown(values)}.", argument=argument
        ) from None
    if scores.ndim != 1:
        problem = f"{argument} must be one score per system, shape (n,), got shape {scores.shape}."
        raise InputError(problem, argument=argument)
    bad = ~np.isfinite(scores)
    if bad.any():
        where = (values.index if isinstance(values, pd.Series) else pd.RangeIndex(len(scores)))[bad]
        raise InputError(
            f"{argument} must be finite numbers, got {scores[bad][0]} ({count(len(where), 'system')}: "
            f"{examples(where)}). Leave them out of both rankings, or score them 0.",
            argument=argument,
        )
    return scores


def _coefficient(name: str, **scores: ArrayLike) -> float:
    a, b, labels = _two_arrays(**scores)
    a, b = rounded(a), rounded(b)
    by_argument, n, reason = dict(zip(scores, (a, b), strict=True)), len(labels), ""
    tying = [argument for argument, values in by_argument.items() if n and (values == values[0]).all()]
    if n < 2:
        reason = f"it takes at least 2 systems, got {n}."
    elif tying:
        reason = f"{tying[0]} ties all {n} systems: no pair can agree."
    for argument in {"tau_ap": ("truth", "estimate"), "tau_ap_a": ("truth",)}.get(name, ()) if not reason else ():
        twice = pd.Series(by_argument[argument]).duplicated(keep=False).to_numpy()
        if twice.any() and not reason:
            reason = (
                f"it is defined without ties and {argument} has some: {examples(labels[twice])}. Use tau_ap_b(x, y)"
            )
            reason += ", or tau_ap_a(truth, estimate)."
    if reason:
        warn(f"{name} is NaN, because {reason}")
        return float("nan")
    if name == "weighted_tau":
        from scipy.stats import weightedtau

        return min(1.0, max(-1.0, float(weightedtau(a, b, rank=True, weigher=None, additive=True)[0])))
    return float(pairs.COEFFICIENTS[name](pairs.compare(a, b[np.newaxis]))[0])


def _drops(truth: ArrayLike, estimate: ArrayLike) -> pairs.Ints:
    a, b, _ = _two_arrays(truth=truth, estimate=estimate)
    return pairs.rank_drops(rounded(a), rounded(b))


@_of_two_rankings
def tau_a(x: ArrayLike, y: ArrayLike) -> float:
    """Return Kendall's tau-a: 1 when both order every pair of systems alike, -1 when they reverse every pair.

    ``(C - D) / (n (n - 1) / 2)`` with C concordant and D discordant pairs of n systems. A pair tied on either side
    counts in the denominator only, so with ties tau-a cannot reach 1.

    Example:
        >>> tau_a([.4, .3, .2, .1], [.4, .2, .3, .3])  # 3 pairs concordant, 2 discordant, 1 tied
        0.16666666666666666

    Source:
        M. G. Kendall, Biometrika 30, 1938, https://doi.org/10.1093/biomet/30.1-2.81. Checked against ircor.
    """
    return _coefficient("tau_a", x=x, y=y)


@_of_two_rankings
def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Return Kendall's tau_b: 1 when both give the same ranking, ties included, -1 when one is the other reversed.

    ``(C - D) / sqrt(U_x U_y)`` with C concordant and D discordant pairs, U_x pairs untied in x and U_y untied in y. It
    is `tau_a` when there are no ties, the tau of most papers on reusability, and scipy's.

    Example:
        >>> round(tau_b([.4, .3, .2, .1], [.4, .2, .3, .3]), 6)  # (3 - 2) / sqrt(6 * 5)
        0.182574

    Source:
        M. G. Kendall, Biometrika 33, 1945, https://doi.org/10.1093/biomet/33.3.239. Checked against scipy and ircor.
    """
    return _coefficient("tau_b", x=x, y=y)


@_of_two_rankings
def gamma(x: ArrayLike, y: ArrayLike) -> float:
    """Return Goodman and Kruskal's gamma: 1 if no pair untied on both sides is discordant, -1 if all of them are.

    ``(C - D) / (C + D)`` with C concordant and D discordant pairs: pairs tied on either side are left out. It is never
    closer to 0 than `tau_b`; with few distinct scores it can be 1 although few pairs count.

    Example:
        >>> gamma([.4, .3, .2, .1], [.4, .2, .3, .3])  # (3 - 2) / (3 + 2)
        0.2

    Source:
        L. A. Goodman and W. H. Kruskal, JASA 49, 1954, https://doi.org/10.1080/01621459.1954.10501231.
    """
    return _coefficient("gamma", x=x, y=y)


@_of_two_rankings
def tau_ap(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Return the AP correlation: 1 when the estimate orders every pair as the truth does, -1 when it reverses them all.

    Of the systems above the system at place i of the *estimated* ranking, C(i) are above it in the truth, too::

        tau_ap = 2 / (n - 1) * sum over i = 2 .. n of C(i) / (i - 1)  -  1

    An error near the top of the estimate costs most. The coefficient is not symmetric. A tie on either side gives NaN:
    use `tau_ap_a` when only the estimate has ties, `tau_ap_b` when both may.

    Example:
        >>> truth = [.4, .3, .2, .1]
        >>> round(tau_ap(truth, [.3, .4, .2, .1]), 6)  # the first two swapped: 2/3 (0/1 + 2/2 + 3/3) - 1
        0.333333
        >>> round(tau_ap(truth, [.4, .3, .1, .2]), 6)  # the last two swapped: 2/3 (1/1 + 2/2 + 2/3) - 1
        0.777778

    Source:
        E. Yilmaz, J. A. Aslam and S. Robertson, SIGIR 2008, https://doi.org/10.1145/1390334.1390435. Checked against
        ircor.
    """
    return _coefficient("tau_ap", truth=truth, estimate=estimate)


@_of_two_rankings
def tau_ap_a(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Return the AP correlation of an estimate with ties, against a truth without: 1 when it orders every pair right.

    It is the mean of `tau_ap` over all orders that the estimate's ties leave open, in closed form. Of t systems that
    tie at rank p (1 + number strictly better), a system with C others strictly above it on both sides is expected to
    add to the sum in `tau_ap` the mean of ``(C + (i - p) / 2) / (i - 1)`` over the places i = p .. p + t - 1; place 1
    adds nothing.

    Example:
        >>> round(tau_ap_a([.4, .3, .2], [.4, .4, .2]), 6)  # the mean of 1 and 0
        0.5

    Source:
        J. Urbano and M. Marrero, ICTIR 2017, https://doi.org/10.1145/3121050.3121106, the case of accuracy. Checked
        against ircor.
    """
    return _coefficient("tau_ap_a", truth=truth, estimate=estimate)


@_of_two_rankings
def tau_ap_b(x: ArrayLike, y: ArrayLike) -> float:
    """Return the symmetric AP correlation with ties: 1 when both give the same ranking, -1 when one is the reverse.

    For each system below the top group of ties in y, take the systems strictly above it in y, and the share of them
    that is strictly above it in x, too; with m the mean share, ``walk(x, y) = 2 m - 1``. Then::

        tau_ap_b = (walk(x, y) + walk(y, x)) / 2

    Without ties this is the mean of `tau_ap` in both directions. A pair tied only in x is wrong in ``walk(x, y)`` and
    does not count in ``walk(y, x)``, and the reverse.

    Example:
        >>> tau_ap_b([.4, .3, .2], [.4, .4, .2])  # down y: 2 (2/2) - 1; down x: 2 (0/1 + 2/2)/2 - 1
        0.5

    Source:
        J. Urbano and M. Marrero, ICTIR 2017, https://doi.org/10.1145/3121050.3121106, the case of agreement. Checked
        against ircor.
    """
    return _coefficient("tau_ap_b", x=x, y=y)


@_of_two_rankings
def weighted_tau(x: ArrayLike, y: ArrayLike) -> float:
    """Return Vigna's weighted tau: 1 when both give the same ranking, ties included, -1 when one is the other reversed.

    It is `tau_b` with each pair weighted in all its sums: a system at place r, counted from 0, weighs ``1 / (r + 1)``,
    and a pair the *sum* of its two. Places are taken once from x (ties broken by y) and once from y (ties broken by x);
    the mean is returned.

    Example:
        >>> round(weighted_tau([.4, .3, .2, .1], [.3, .4, .2, .1]), 6)  # the first two swapped: 1 - 2 (3/2) / (25/4)
        0.52

    Source:
        S. Vigna, WWW 2015, https://doi.org/10.1145/2736277.2741088; `scipy.stats.weightedtau` of the rounded scores.
    """
    return _coefficient("weighted_tau", x=x, y=y)


@_of_two_rankings
def largest_drop(truth: ArrayLike, estimate: ArrayLike) -> int:
    """Return the largest number of ranks that a system loses.

    The maximum over systems of rank under the estimate minus rank under the truth; a rank is 1 + number strictly
    better.

    Returns:
        Ranks, 0 .. n - 1; 0 if no system falls or there is none.

    Example:
        >>> largest_drop([.4, .3, .2, .1], [.1, .4, .3, .2])  # the best system becomes the last
        3

    Source:
        E. M. Voorhees, I. Soboroff and J. Lin, 2022, https://arxiv.org/abs/2201.11086. Checked by hand only.
    """
    return int(_drops(truth, estimate).max(initial=0))


@_of_two_rankings
def largest_rise(truth: ArrayLike, estimate: ArrayLike) -> int:
    """Return the largest number of ranks that a system gains.

    The maximum over systems of rank under the truth minus rank under the estimate, the opposite of `largest_drop`.

    Returns:
        Ranks, 0 .. n - 1; 0 if no system rises or there is none.

    Example:
        >>> largest_rise([.4, .3, .2, .1], [.1, .4, .3, .2])
        1

    Source:
        As `largest_drop`. Checked by hand only.
    """
    return -int(_drops(truth, estimate).min(initial=0))


def rank_changes(truth: ArrayLike, estimate: ArrayLike, names: Sequence[Any] | None = None) -> pd.DataFrame:
    """Return both ranks of every system and its drop, the number of ranks it loses.

    A rank is 1 + number strictly better, so that tied systems share the best of their places; a drop is the rank under
    the estimate minus the rank under the truth, negative for a system that rises.

    Args:
        truth: scores of the ranking taken as right, shape (n,), larger is better.
        estimate: scores of the ranking to be judged, shape (n,), for the same systems.
        names: n different names of the systems in the order of `truth`; default: the index of `truth` if it is a
            Series, else that of `estimate` if it is one, else 0 .. n - 1.

    Returns:
        One row per system in the order of `truth`: name, score and other_score (as given, not rounded), rank,
        other_rank, drop.

    Raises:
        InputError: the two are not finite numbers, shape (n,), for the same systems, or `names` are not n.

    Example:
        >>> rank_changes([.4, .3, .2], [.1, .4, .3], names=["a", "b", "c"])
          name  score  other_score  rank  other_rank  drop
        0    a    0.4          0.1     1           3     2
        1    b    0.3          0.4     2           1    -1
        2    c    0.2          0.3     3           2    -1

    Source:
        As `largest_drop`. Checked by hand only.
    """
    a, b, labels = _two_arrays(truth=truth, estimate=estimate)
    if names is not None:
        labels = pd.Index(list(names), tupleize_cols=False)
        if len(labels) != len(a) or not labels.is_unique:
            problem = (
                f"names must be {len(a)} different names, one per system, in the order of truth, got {shown(names)}."
            )
            raise InputError(problem, argument="names")
    rank, other_rank = pairs.ranks(rounded(a)), pairs.ranks(rounded(b))
    frame = {"name": labels, "score": a, "other_score": b, "rank": rank, "other_rank": other_rank}
    return pd.DataFrame(frame | {"drop": other_rank - rank})


def correlations(truth: Floats, estimates: Floats) -> pd.DataFrame:
    """Return how well (S, n) estimated rankings agree with one truth; high coefficients and low drops mean: well."""
    names = ("tau_a", "tau_b", "gamma", "tau_ap", "tau_ap_b")
    return pd.DataFrame(pairs.coefficients(rounded(truth), rounded(estimates), names))
