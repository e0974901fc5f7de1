"""Stability: how often another sample of topics would turn a comparison of two systems round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from pt_reuse._check import choice, count, examples, fraction, told
from pt_reuse._choices import USUAL_RATE
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import OfMeasures, Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.swap_rates import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("bins", "sizes")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Stability(OfMeasures, Result):
    """How often two samples of topics order a pair of runs differently.

    Attributes:
        table: one row per judgments, measure, size of the samples and bin: ``judgments measure size bin``; ``at_least``
            and ``below``, the differences that fall into the bin, the last one open; ``pairs``, how many pairs of runs
            and samples did; ``swaps``, how many of these the second sample orders differently; ``rate`` = swaps /
            pairs, NaN where no pair fell into the bin, where all runs tie on every topic, and where there is one topic
            only. With ``resamples``, ``rate_low`` and ``rate_high``, the ends of its interval over topics.
    """

    title: ClassVar[str] = "Stability"

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name; what a rate needs is told for one of .05."""
        return {"table": self.table, "differences": self.differences_needed(), "topics": self.topics_needed()}

    @property
    def judgments(self) -> list[str]:
        """Return the names of the judgments."""
        return list(dict.fromkeys(self.table["judgments"]))

    @door
    def differences_needed(self, rate: float = USUAL_RATE) -> pd.DataFrame:
        """Return how far apart two runs must be, by the number of topics, for another sample to agree.

        Args:
            rate: the largest swap rate that is wanted, above 0 and below 1.

        Returns:
            DataFrame: one row per judgments, measure and size: ``judgments measure size``; ``pairs swaps rate`` of all
            bins together; ``difference``, the lower end of the first bin from which on no bin has a larger rate, NaN
            where the last bin has; ``share`` of the pairs that are at least so far apart.
        """
        return needed.differences(self.table, fraction("rate", rate, ends=False))

    @door
    def topics_needed(self, rate: float = USUAL_RATE) -> pd.DataFrame:
        """Return how many topics it takes, by the difference of two runs, for another sample to agree.

        Args:
            rate: the largest swap rate that is wanted, above 0 and below 1.

        Returns:
            DataFrame: one row per judgments, measure and bin: ``judgments measure bin at_least below``; ``topics``, the
            smallest size of the samples from which on none has a larger rate; where none of them is large enough, what
            the curve ``start * exp(-decay * topics)`` says, fitted to the logarithms of the rates of three sizes or
            more, each weighted by its number of swaps. ``extrapolated`` says which of the two; NaN topics where neither
            can be told.

        Source: Voorhees and Buckley 2002, The effect of topic set size on retrieval experiment error, SIGIR: they
        measured up to 25 topics, and extrapolated.
        """
        return needed.topics(self.table, fraction("rate", rate, ends=False))

    def key_figures(self) -> pd.DataFrame:
        """Return the swap rate of the largest samples, and the difference that they need for one of .05."""
        rows = self.differences_needed().groupby(["judgments", "measure"], sort=False).tail(1)
        several = len(self.judgments) > 1
        named = [name if several else "" for name in rows["judgments"]]
        rows = rows.rename(columns={"rate": "swap_rate"})
        return key_figures_of(rows, ["swap_rate", "difference"], rows=named)

    def headline(self) -> str:
        """Return of each judgments and measure the difference that the largest samples need."""
        parts = []
        for row in self.differences_needed().groupby(["judgments", "measure"], sort=False).tail(1).to_dict("records"):
            where = f"{row['judgments']}, {row['measure']}" if len(self.judgments) > 1 else row["measure"]
            if pd.isna(row["rate"]):
                parts.append(f"{where}: nothing that could be turned round")
                continue
            need = "no bin" if pd.isna(row["difference"]) else f"differences from {row['difference']:.4g}"
            parts.append(
                f"{where} at {count(row['size'], 'topic')}: swaps {row['rate']:.2%}, {need} at most {USUAL_RATE:.0%}"
            )
        return "; ".join(parts)

    @door
    def report(self, measure: MeasureLike | None = None, *, rate: float = USUAL_RATE) -> Report:
        """Return what a paper prints: by size of the samples, how often they disagree and what a difference must be.

        Args:
            measure: one of the measures; default the first.
            rate: the largest swap rate that is wanted.
        """
        name = measure_among(self.measures, measure)
        rows = self.differences_needed(rate)
        rows = rows[rows["measure"] == name]
        said = ("samples", "bins", "swaps", "ties")
        notes = [
            " ".join(f"{what.capitalize()}: {self.settings[what]}." for what in said),
            *([f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else []),
        ]
        return Report(
            [
                Column("Judgments", rows["judgments"]),
                Column("Topics", rows["size"], Digits.COUNT),
                Column("Swap rate", rows["rate"], Digits.SCORE),
                Column("Difference needed", rows["difference"], Digits.SIZE),
                Column("Pairs so far apart", rows["share"], Digits.SCORE),
            ],
            caption=(
                f"How often two samples of so many topics order a pair of runs differently by {name}; the difference "
                f"on the first from which on at most {100 * rate:g} % of the pairs in any bin are swaps; "
                "and the share of pairs at least so far apart."
            ),
            notes=notes,
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        judgments: str | None = None,
        kind: str = "bins",
        sizes: Iterable[int] | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the swap rate against the difference, a line for each size of the samples.

        Args:
            measure: one of the measures; default the first.
            judgments: one of the judgments; default the first.
            kind: ``"bins"`` (default), a line per size against the difference; ``"sizes"``, a line per bin against the
                size.
            sizes: which sizes to draw; default all.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the lines, the largest samples and the smallest differences dark, and a rate of .05. Intervals are
            bands around the lines where these are three at most, else around the darkest alone.
        """
        from pt_reuse.plots.lines import plot_swap_rates
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        which = self.judgments[0] if judgments is None else choice("judgments", judgments, self.judgments)
        choice("kind", kind, KINDS)
        rows = self.table[(self.table["measure"] == name) & (self.table["judgments"] == which)]
        rows = rows[rows["size"].isin(self._sizes(sizes, rows))]
        place = Place(ax, title, legend, width)
        return plot_swap_rates(rows, by_size=kind == "sizes", measure=name, wanted=USUAL_RATE, place=place)

    def _sizes(self, sizes: Any, rows: pd.DataFrame) -> list[int]:
        known = [int(size) for size in dict.fromkeys(rows["size"])]
        chosen = known if sizes is None else [sizes] if isinstance(sizes, int) else list(sizes)
        odd = [size for size in chosen if size not in known]
        if odd or not chosen:
            problem = f" must be among {examples(known, 12)}, got {told(sizes)}."
            raise InputError(Argument("sizes"), problem, argument="sizes")
        return chosen
