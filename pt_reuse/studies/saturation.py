"""Saturation: topics on which so many runs have the highest score that it tells them apart no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from ir_measures import P
from numpy.typing import NDArray

from pt_reuse._check import count, fraction, told
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.errors import InputError
from pt_reuse.options import PRECISION_AND_GAIN, Flag, Parameter
from pt_reuse.plots.topics import plot_saturation
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import BEWARE, Caveat, usual_measures
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.asked import Asked
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

_FEW = 5


def _draw(result: Saturation, measure: str, place: Place) -> Axes:
    """Draw the distribution of the scores over the runs as a box for each topic."""
    scores, rows = result.scores, result.table[result.table["measure"] == measure]
    values = scores.values[scores.measures.index(measure)]
    counted = [of_topic[has] for of_topic, has in zip(values, _counted(scores), strict=True)]
    return plot_saturation(rows, counted, measure=measure, maximum=result.maximum, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Saturation(Result):
    """How the scores of the runs are distributed on each topic, and on which topics they are at the top.

    Its figure has a box for each topic from quartile to quartile, with a stroke at the median and whiskers to the
    lowest and the highest score within 1.5 times the box; the topic with the highest median is on the right. Source:
    Voorhees, Craswell and Lin 2022, figures 2 and 7.

    Attributes:
        table: one row per measure and topic: ``measure qid runs`` (how many have a score there), ``mean median``, the
            quartiles ``low_quartile high_quartile``, ``lowest highest``, all over these runs; ``at_maximum``, how many
            of them have the highest possible score; ``saturated``, whether the median is the highest possible score,
            and ``near``, whether it is at least `share` of it.
        summary: one row per measure: ``measure topics saturated near``, how many topics there are and are so,
            ``mean_median``, the mean of the medians, and ``saturated_topics``, their names, separated by spaces.
        scores: what was looked at.
        maximum: the highest possible score.
        share: what share of it is near it.
    """

    title = "Saturation"
    condition = "It holds for these runs: {runs}. Saturated is a median score of {maximum:g}, nearly so {near}."
    limit = "It does not say that better runs or another measure could not be told apart on these topics."
    views = {
        "measure": View(
            table="summary",
            columns=(
                Shown("Measure", "measure"),
                Shown("Topics", "topics", Digits.COUNT),
                Shown("Saturated", "saturated", Digits.COUNT),
                Shown("Nearly", "near", Digits.COUNT),
                Shown("Mean median", "mean_median", Digits.SCORE),
            ),
            caption="Topics on which the median over the runs is the highest possible score, or nearly so.",
            noun="measures",
        ),
        "topic": View(
            columns=(
                Shown("Topic", "qid"),
                Shown("Median", "median", Digits.SCORE),
                Shown("Low quartile", "low_quartile", Digits.SCORE),
                Shown("High quartile", "high_quartile", Digits.SCORE),
                Shown("Highest", "highest", Digits.SCORE),
                Shown("Runs at the maximum", "at_maximum", Digits.COUNT),
            ),
            caption="Scores by {measure} of the runs on each topic, the highest median first.",
            descending=("median", "mean"),
            noun="topics",
        ),
    }
    plots = {"saturation": _draw}
    key = (KeyFigures(("saturated", "near", "mean_median"), "summary"),)
    answer = ("summary", "{measure}: {saturated:,} of {topics:topic} saturated, {near:,} nearly")
    sentences = {
        "maximum": "A topic is saturated where the median score is {maximum}, nearly so where it is near: {near}.",
        "runs": "Runs: {runs}.",
    }

    summary: pd.DataFrame
    scores: Scores
    maximum: float
    share: float


def checked_maximum(maximum: Any) -> float:
    """Return a user's ``maximum=`` as a float, or say that it is no highest score."""
    number = isinstance(maximum, Real) and not isinstance(maximum, bool)
    if not number or not 0 < maximum < np.inf:
        raise InputError(f"maximum must be a number above 0, got {told(maximum)}.", argument="maximum")
    return float(maximum)


@study(
    PRECISION_AND_GAIN,
    Parameter(
        name="scores",
        meaning="what :func:`score` returned, of any runs and measures. A run that lacks a topic counts 0 there, or "
        "not at all where the scores are over the topics that a run has (``complete=False``).",
    ),
    Parameter(
        name="share",
        meaning="of the highest possible score from which a median is near it, from 0 to 1.",
        check=partial(fraction, "share"),
        flag=Flag(help="share of the maximum that is near it", metavar="S", kind="float"),
    ),
    Parameter(
        name="maximum",
        meaning="the highest possible score of the measures; 1 for those of precision and gain. On a topic with fewer "
        "than k relevant documents no run can reach 1 by ``P@k``: such a topic is never saturated.",
        check=checked_maximum,
        flag=Flag(help="highest possible score of the measures", metavar="M", kind="float"),
    ),
    command=Command(
        name="profile saturation",
        summary="topics on which most runs have the highest score",
        details="A topic is saturated under a measure if the median score over the runs is the highest possible one: "
        "it does not distinguish the better half of the runs.",
    ),
    measures=partial(usual_measures, binary=P @ 10),
    entry=Entry(question="Which topics are too easy?", group="profile", papers="[V22b]_"),
)
def saturation(scores: Scores, *, share: float = 0.9, maximum: float = 1.0) -> Saturation:
    """Find the topics on which most runs have the highest score, so that the topic no longer distinguishes runs.

    A topic is *saturated* under a measure if the median score over the runs is the highest possible one: at least half
    of the runs cannot be improved there. It is *near* saturation if the median is at least `share` of it.

    Returns:
        Saturation: ``.table`` (per measure and topic), ``.summary`` (per measure), ``.plot(measure)``.

    Raises:
        InputError: anything but Scores, an invalid share, a score above the maximum.

    Warns:
        ReuseWarning: fewer than five runs, whose median is unreliable.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = saturation(ptr.score(field.runs, field.qrels, ["P@5", "AP"]))
        >>> found.summary[["measure", "topics", "saturated", "near"]]
          measure  topics  saturated  near
        0     P@5      25          4     8
        1      AP      25          0     0

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR. On TREC-8
    ad hoc the median ``P@10`` of 129 runs is 1 on 1 topic of 50, and at least .9 on 5.
    """
    asked = Asked(saturation, locals())
    if not isinstance(scores, Scores):
        problem = f" must be Scores, as score returns them, got {told(scores)}."
        raise InputError(f"scores{problem}", argument="scores")
    share, maximum = asked["share"], asked["maximum"]
    rows = []
    for name, values in zip(scores.measures, scores.values, strict=True):
        _check_highest(name, values, maximum)
        for qid, of_topic, has in zip(scores.topics, values, _counted(scores), strict=True):
            rows.append({"measure": name, "qid": qid, **_distribution(of_topic[has], maximum, share)})
    table = pd.DataFrame(rows)
    asked.tell(_few_runs(len(scores.names)))
    lacking = "a run that lacks a topic counts 0 there" if scores.complete else "a run counts on the topics it has"
    return Saturation(
        table=table,
        summary=_summary(table, scores),
        scores=scores,
        maximum=maximum,
        share=share,
        settings=asked.settings(
            maximum=f"{maximum:g}",
            near=f"a median of at least {share * maximum:g}",
            runs=f"{len(scores.names):,}; {lacking}",
            ties=f"scores equal to {DECIMALS} decimals",
            **{name: value for name, value in scores.settings.items() if name != BEWARE},
        ),
    )


def _check_highest(measure: str, values: NDArray[np.float64], maximum: float) -> None:
    highest = float(values.max(initial=0.0))
    if round(highest, DECIMALS) > maximum:
        raise InputError(
            f"{measure} has a score of {highest:g}, above the maximum of {maximum:g}. Give the highest possible "
            "score of the measure as maximum=, or leave the measure out.",
            argument="maximum",
        )


def _counted(scores: Scores) -> NDArray[np.bool_]:
    """Return (topics, runs): which scores count."""
    return np.ones(scores.has_topic.shape, dtype=bool) if scores.complete else scores.has_topic


def _distribution(values: NDArray[np.float64], maximum: float, share: float) -> dict[str, Any]:
    n = len(values)
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist() if n else [np.nan] * 3
    rounded = np.round(values, DECIMALS)
    return {
        "runs": n,
        "mean": float(values.mean()) if n else np.nan,
        "median": median,
        "low_quartile": low,
        "high_quartile": high,
        "lowest": float(values.min()) if n else np.nan,
        "highest": float(values.max()) if n else np.nan,
        "at_maximum": int((rounded >= maximum).sum()),
        "saturated": bool(n and round(median, DECIMALS) >= maximum),
        "near": bool(n and round(median, DECIMALS) >= round(share * maximum, DECIMALS)),
    }


def _summary(table: pd.DataFrame, scores: Scores) -> pd.DataFrame:
    by_measure = table.groupby("measure", sort=False)
    found = by_measure.agg(
        topics=("qid", "size"), saturated=("saturated", "sum"), near=("near", "sum"), mean_median=("median", "mean")
    )
    names = table[table["saturated"]].groupby("measure", sort=False)["qid"].agg(" ".join)
    found["saturated_topics"] = names.reindex(found.index, fill_value="")
    return found.reindex(scores.measures).reset_index(names="measure")


def _few_runs(n: int) -> Iterator[Caveat]:
    if n < _FEW:
        runs = count(n, "run")
        yield Caveat(f"{runs} only", f"a median of {runs} says little of how far a topic is saturated.")
