"""Saturation: topics on which so many runs have the highest score that it tells them apart no more."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, fraction, told
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, Caveat, noted, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = ("measure", "topic")
_FEW = 5


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Saturation(Result):
    """How the scores of the runs are distributed on each topic, and on which topics they are at the top.

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

    title: ClassVar[str] = "Saturation"

    summary: pd.DataFrame
    scores: Scores
    maximum: float
    share: float

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "summary": self.summary}

    def key_figures(self) -> pd.DataFrame:
        """Return how many topics are saturated, or nearly, by each measure, see :meth:`Result.key_figures`."""
        return key_figures_of(self.summary, ["saturated", "near", "mean_median"])

    def headline(self) -> str:
        """Return for each measure how many topics are saturated, and nearly so."""
        level = f"{self.share * self.maximum:g}"
        parts = [
            f"{row['measure']}: median {self.maximum:g} on {row['saturated']} of {count(row['topics'], 'topic')}, at "
            f"least {level} on {row['near']}"
            for row in self.summary.to_dict("records")
        ]
        return "; ".join(parts)

    @door
    def report(self, by: str = "measure", *, measure: MeasureLike | None = None) -> Report:
        """Return what a paper prints: how many topics are saturated, or the distribution on each topic.

        Args:
            by: the rows: each ``"measure"`` (default), or each ``"topic"``, the one with the highest median first.
            measure: the one that topics are shown under; default the first.
        """
        choice("by", by, _ROWS)
        name = measure_among(self.scores.measures, measure)
        runs = count(len(self.scores.names), "run")
        what = f"the median over {runs}"
        level = f"{self.share * self.maximum:g}"
        notes = [
            f"A topic is saturated where the median score is {self.maximum:g}, nearly so where it is at least {level}.",
            f"Runs: {self.settings['runs']}.",
            *([f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else []),
        ]
        if by == "topic":
            rows = _highest_first(self.table[self.table["measure"] == name])
            return Report(
                [
                    Column("Topic", rows["qid"]),
                    Column("Median", rows["median"], Digits.SCORE),
                    Column("Low quartile", rows["low_quartile"], Digits.SCORE),
                    Column("High quartile", rows["high_quartile"], Digits.SCORE),
                    Column("Highest", rows["highest"], Digits.SCORE),
                    Column("Runs at the maximum", rows["at_maximum"], Digits.COUNT),
                ],
                caption=f"{name} of {runs} on each topic, the highest median first.",
                notes=notes,
            )
        rows = self.summary
        return Report(
            [
                Column("Measure", rows["measure"]),
                Column("Topics", rows["topics"], Digits.COUNT),
                Column("Saturated", rows["saturated"], Digits.COUNT),
                Column("Nearly", rows["near"], Digits.COUNT),
                Column("Mean median", rows["mean_median"], Digits.SCORE),
            ],
            caption=f"Topics on which {what} is the highest possible score, or nearly so.",
            notes=notes,
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the distribution of the scores over the runs as a box for each topic.

        Args:
            measure: one of the measures; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a box for each topic from quartile to quartile, with a stroke at the median and whiskers to the lowest
            and the highest score within 1.5 times the box; scores beyond are rings. The topic with the highest median
            is on the right; saturated topics are right of an upright line, and their boxes dark.

        Source: Voorhees, Craswell and Lin 2022, figures 2 and 7.
        """
        from pt_reuse.plots.bars import plot_saturation
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.scores.measures, measure)
        rows = self.table[self.table["measure"] == name]
        values, counted = self.scores.values[self.scores.measures.index(name)], _counted(self.scores)
        scores = [of_topic[has] for of_topic, has in zip(values, counted, strict=True)]
        place = Place(ax, title, legend, width)
        return plot_saturation(rows, scores, measure=name, maximum=self.maximum, place=place)


@door
def saturation(scores: Scores, *, share: float = 0.9, maximum: float = 1.0) -> Saturation:
    """Say on which topics the scores of most runs are at the top, so that the topic tells runs apart no more.

    A topic is *saturated* under a measure where the median score over the runs is the highest possible one: at least
    half of the runs cannot be improved on there. It is nearly so where the median is at least `share` of it.

    Args:
        scores: what :func:`score` returned, of any runs and measures. A run that lacks a topic counts 0 there, or not
            at all where the scores are over the topics that a run has (``complete=False``).
        share: of the highest possible score from which a median is near it, from 0 to 1.
        maximum: the highest possible score of the measures; 1 for those of precision and gain. On a topic with fewer
            than k relevant documents no run can reach 1 by ``P@k``: such a topic is never saturated.

    Returns:
        Saturation: ``.table`` (per measure and topic), ``.summary`` (per measure), ``.plot(measure)``.

    Raises:
        InputError: something else than Scores, a share that is none, a score above the maximum.

    Warns:
        ReuseWarning: fewer than five runs, whose median says little.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = saturation(ptr.score(field.runs, field.qrels, ["P@5", "AP"]))
        >>> found.summary[["measure", "topics", "saturated", "near"]]
          measure  topics  saturated  near
        0     P@5      25          4     8
        1      AP      25          0     0

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR. On TREC-8
    ad hoc the median ``P@10`` of 129 runs is 1 on 1 topic of 50, and at least .9 on 5.
    """
    if not isinstance(scores, Scores):
        raise InputError(
            Argument("scores"), f" must be Scores, as score returns them, got {told(scores)}.", argument="scores"
        )
    near = fraction("share", share)
    top = checked_maximum(maximum)
    counted = _counted(scores)
    rows = []
    for name, values in zip(scores.measures, scores.values, strict=True):
        _check_highest(name, values, top)
        for qid, of_topic, has in zip(scores.topics, values, counted, strict=True):
            rows.append({"measure": name, "qid": qid, **_distribution(of_topic[has], top, near)})
    table = pd.DataFrame(rows)
    caveats = list(_caveats(scores))
    tell(caveats)
    lacking = "a run that lacks a topic counts 0 there" if scores.complete else "a run counts on the topics it has"
    return Saturation(
        table=table,
        summary=_summary(table, scores),
        scores=scores,
        maximum=top,
        share=near,
        settings={
            "maximum": f"{top:g}",
            "near": f"a median of at least {near * top:g}",
            "runs": f"{len(scores.names):,}; {lacking}",
            "ties": f"scores equal to {DECIMALS} decimals",
            **{name: value for name, value in scores.settings.items() if name != BEWARE},
            **noted(caveats),
        },
    )


def checked_maximum(maximum: Any) -> float:
    """Return a user's ``maximum=`` as a float, or say that it is no highest score."""
    number = isinstance(maximum, Real) and not isinstance(maximum, bool)
    if not number or not 0 < maximum < np.inf:
        raise InputError(Argument("maximum"), f" must be a number above 0, got {told(maximum)}.", argument="maximum")
    return float(maximum)


def _check_highest(measure: str, values: NDArray[np.float64], maximum: float) -> None:
    highest = float(values.max(initial=0.0))
    if round(highest, DECIMALS) > maximum:
        raise InputError(
            f"{measure} has a score of {highest:g}, above the maximum of {maximum:g}. Give the highest possible score "
            "of the measure as ",
            Option("maximum", ...),
            ", or leave the measure out.",
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
    rows = []
    for name in scores.measures:
        of = table[table["measure"] == name]
        rows.append(
            {
                "measure": name,
                "topics": len(of),
                "saturated": int(of["saturated"].sum()),
                "near": int(of["near"].sum()),
                "mean_median": float(of["median"].mean()),
                "saturated_topics": " ".join(of.loc[of["saturated"], "qid"]),
            }
        )
    return pd.DataFrame(rows)


def _caveats(scores: Scores) -> list[Caveat]:
    n = len(scores.names)
    if n >= _FEW:
        return []
    runs = count(n, "run")
    return [Caveat(f"{runs} only", (f"a median of {runs} says little of how far a topic is saturated.",))]


def _highest_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(["median", "mean"], ascending=False, kind="stable", na_position="last")
