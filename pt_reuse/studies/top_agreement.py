"""Whether two sets of judgments agree which systems are the best."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import positive
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.options import Flag, Parameter
from pt_reuse.plots.forests import plot_overlap
from pt_reuse.result import Result, Shown, View
from pt_reuse.studies.asked import Asked
from pt_reuse.study import Command, Entry, study


class TopAgreement(Result):
    """How many of the best systems two sets of judgments have in common, by measure.

    Attributes:
        table: ``measure best other_best shared overlap``: how many systems are among the best under the first and the
            other judgments (more than `top` where systems tie), how many under both, and their share of the larger of
            the two numbers; with resamples ``overlap_low overlap_high``.
    """

    title = "Agreement on the best systems"
    condition = (
        "It holds for these runs on the topics that both judgments have, the best {top} with those that tie; "
        "relevant: {relevant}."
    )
    limit = "It does not say which judgments are right, nor how far down a system went that is not shared."
    columns = (Shown("Best", "best"), Shown("By the other", "other_best"), Shown("Shared", "shared"))
    overlap = Shown("Overlap", "overlap", Digits.SCORE), Shown("Interval", "overlap", Digits.SCORE, interval=True)
    caption = "How many of the best {top} systems are the same under the other judgments."
    views = {"measure": View(columns=(Shown("Measure", "measure"), *columns, *overlap), caption=caption)}
    plots = {"overlap": plot_overlap}
    answer = (
        "table",
        "{measure}: of the {best:,} best systems, {shared:,} are among the {other_best:,} best by the other judgments, "
        "overlap {overlap:.4f}",
    )


@study(
    Parameter(
        name="top",
        meaning="how many systems are the best; those that tie with the last of them are, too.",
        check=partial(positive, "top", unit="systems"),
        flag=Flag(help="how many systems are the best"),
    ),
    command=Command(name="profile top-agreement", summary="whether two sets of judgments agree on the best systems"),
    entry=Entry(question="Do other judgments have the same best systems?", group="profile"),
)
def top_agreement(
    runs: Any, qrels: Any, other: Any, measures: Any = None, *, top: int = 10, resamples: int = 0, seed: int = 0
) -> TopAgreement:
    """Count the best systems that are the same under two sets of judgments, on their common topics.

    Returns:
        TopAgreement: ``.table`` (per measure), ``.plot()``.

    Raises:
        InputError: judgments without a common topic, an unknown measure, a run without any of the topics.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> top_agreement(field.runs, field.all_qrels, field.qrels, "AP", top=5).table
          measure  best  other_best  shared  overlap
        0      AP     5           5       5      1.0

    Source: Fagin, Kumar and Sivakumar 2003, Comparing top k lists, SIAM Journal on Discrete Mathematics 17.
    """
    asked = Asked(top_agreement, locals())
    rows = []
    for measure, first, second in asked.scores_of_both():
        best, others = (_best(side.means(), top)[0] for side in (first, second))
        counts = {"best": best.sum(), "other_best": others.sum(), "shared": (best & others).sum()}
        overlap = asked.number("overlap", partial(_overlap, top=top), first, second, within=(0, 1))
        rows.append({"measure": measure, **counts, **overlap})
    return TopAgreement(table=pd.DataFrame(rows), settings=asked.settings(top=top))


def _best(means: NDArray[np.float64], top: int) -> NDArray[np.bool_]:
    means = np.round(means, DECIMALS)
    return np.asarray(means >= -np.sort(-means, axis=1)[:, [min(top, means.shape[1]) - 1]])


def _overlap(means: NDArray[np.float64], other_means: NDArray[np.float64], top: int) -> NDArray[np.float64]:
    best, others = _best(means, top), _best(other_means, top)
    return np.asarray((best & others).sum(axis=1) / np.maximum(best.sum(axis=1), others.sum(axis=1)))
