"""Subcollections: how far systems differ alike on parts of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, told
from pt_reuse._errors import InputError, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result, key_figures_of
from pt_reuse.arrays.significance import PairTests, winners
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.corpus_parts.tables import SETTING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: kind of figure -> what its upright axis, or a cell, shows
KINDS = {
    "agree": "agree-SSa",
    "active": "active disagreement",
    "passive": "passive disagreement",
    "tau_b": "tau-b",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Subcollections(Result):
    """How far the same pairs of systems differ significantly on two parts of a corpus.

    Of two parts, SS_a pairs of systems are significant on both with the same winner, SS_d with opposite winners, SN and
    NS on one part only, NN on neither. agree-SS_a is ``2 SS_a / (2 SS_a + 2 SS_d + SN + NS)``, active disagreement has
    ``2 SS_d`` above the line and passive disagreement ``SN + NS``: the three add to 1, and are NaN where no pair is
    significant. Columns that end in ``_se`` are standard errors; ``_low`` and ``_high``, where there are resamples, the
    ends of intervals over topics.

    Attributes:
        table: one row per measure and setting: ``source share size other_size`` as far as these are fixed (None or NaN
            where not); ``part_pairs``, pairs of parts, of so many ``draws``; the means of ``agree active passive
            tau_b`` over the pairs that have one, with their standard errors.
        by_pair: one row per pair of parts and measure: ``part other_part draw``, the setting, ``ss_a ss_d sn ns nn
            untested``, ``agree active passive``, ``tau_b`` of the rankings by means.
        between_measures: one row per pair of measures, ``measure other_measure``, on the same part: the same means over
            ``parts``.
        by_part: one row per part and measure: ``pairs`` of systems, how many are ``significant`` and which share of
            them, ``significant_share``; the ``least`` and the ``most`` mean.
        parts: one row per part: ``part draw source share``; documents ``drawn`` for it, and all its ``documents`` with
            those added to every part; ``judged``, its judgments; ``topics`` that count; ``per_list``, documents in a
            list of a run, on average; ``empty_lists``.
        names: of the systems.
        measures: of the scores.
        means: (parts, measures, systems) means of scores.
        p: (parts, measures, pairs) p-values of the pairs of systems, not corrected.
        alpha: the level.
        correction: of p-values for the number of pairs.
    """

    title: ClassVar[str] = "Subcollections"

    by_pair: pd.DataFrame
    between_measures: pd.DataFrame
    by_part: pd.DataFrame
    parts: pd.DataFrame
    names: list[str]
    measures: list[str]
    means: NDArray[np.float64]
    p: NDArray[np.float64]
    alpha: float
    correction: str = "none"

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "by_pair": self.by_pair,
            "between_measures": self.between_measures,
            "by_part": self.by_part,
            "parts": self.parts,
        }

    def key_figures(self) -> pd.DataFrame:
        """Return the mean agreements of each setting, see :meth:`Result.key_figures`."""
        rows = [", ".join(fixed) for fixed in _settings(self.table)]
        return key_figures_of(self.table, ["agree", "active", "passive", "tau_b"], rows=rows)

    @door
    def significance(self, part: str, measure: MeasureLike | None = None, *, draw: int = 1) -> pd.DataFrame:
        """Return the test of every pair of systems on one part.

        Args:
            part: its name, as in `parts`.
            measure: one of the measures; default the first.
            draw: which of the draws, from 1.

        Returns:
            DataFrame: ``name other_name``, ``difference`` of their means, ``p``, ``p_corrected`` for the number of
            pairs, and ``winner``, the system that is significantly better (None where neither is).

        Raises:
            InputError: no such part, measure or draw.
        """
        m = self.measures.index(measure_among(self.measures, measure))
        of_draw = self.parts[self.parts["draw"] == draw]
        if of_draw.empty:
            draws = examples(sorted(set(self.parts["draw"].tolist())))
            raise InputError(f"draw must be one of {draws}, got {told(draw)}.", argument="draw")
        choice("part", part, of_draw["part"].tolist())
        i = int(np.flatnonzero((self.parts["part"] == part) & (self.parts["draw"] == draw))[0])
        first, second = np.triu_indices(len(self.names), 1)
        mean, names = self.means[i, m], np.array(self.names, dtype=object)
        tests = PairTests(first, second, mean[first] - mean[second], self.p[i, m])
        better = winners(tests, self.alpha, self.correction)
        return pd.DataFrame(
            {
                "name": names[first],
                "other_name": names[second],
                "difference": tests.difference,
                "p": tests.p,
                "p_corrected": tests.corrected(self.correction),
                "winner": pd.Series(np.where(better > 0, names[first], names[second]), dtype=object).where(
                    better != 0, None
                ),
            }
        )

    def headline(self) -> str:
        """Return how many systems and parts there are, and the agreement by each measure, lowest and highest."""
        n_parts = count(len(self.parts), "part")
        said = []
        for measure in self.measures:
            rows = self.table.loc[self.table["measure"] == measure, "agree"]
            low, high = rows.min(), rows.max()
            number = "NaN, nothing is significant" if pd.isna(low) else f"{low:.3f}"
            number += f" to {high:.3f}" if low < high else ""
            said.append(f"{measure} agree-SSa {number}")
        return f"{count(len(self.names), 'system')} on {n_parts}: {', '.join(said)}"

    @door
    def report(self, between: str = "parts") -> Report:
        """Return what a paper prints: agreement of two parts by each measure, or of two measures on the same part.

        Args:
            between: ``"parts"`` (default) or ``"measures"``.

        Raises:
            InputError: another word, or a single measure where two are compared.
        """
        choice("between", between, ("parts", "measures"))
        rows = self.table if between == "parts" else self.between_measures
        if rows.empty:
            raise InputError(
                "there is one measure, so there is nothing to compare between measures.", argument="between"
            )
        if between == "parts":
            said = zip(rows["measure"], _settings(rows), strict=True)
            labels = [", ".join([measure, *setting]) for measure, setting in said]
            what = (
                f"Agreement of two parts of a corpus about which of {count(len(self.names), 'system')} differ, means "
                f"over {_range(rows['part_pairs'], 'pair')} of parts"
            )
        else:
            labels = [f"{one} and {other}" for one, other in zip(rows["measure"], rows["other_measure"], strict=True)]
            what = (
                f"Agreement of two measures on the same part about which of {count(len(self.names), 'system')} differ, "
                f"means over {_range(rows['parts'], 'part')}"
            )
        kept = ("test", "topics", "parts", "documents", "relevant", "standard error", "systems")
        notes = [f"{name.capitalize()}: {self.settings[name]}." for name in kept if name in self.settings]
        if BEWARE in self.settings:
            notes.append(f"Beware: {self.settings[BEWARE]}.")
        return Report(
            [
                Column("Measure" if between == "parts" else "Measures", labels),
                Column("Agree-SSa", rows["agree"], Digits.SCORE),
                Column("SE", rows["agree_se"], Digits.SCORE),
                Column("Active", rows["active"], Digits.SCORE),
                Column("Passive", rows["passive"], Digits.SCORE),
                Column("tau-b", rows["tau_b"], Digits.SCORE),
            ],
            caption=f"{what}; active and passive disagreement.",
            notes=notes,
        )

    @door
    def plot(
        self,
        kind: str = "agree",
        *,
        measure: MeasureLike | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the agreement of parts: by their sizes, by the share of one source, or of each two parts.

        Args:
            kind: what is shown: ``"agree"`` (default), ``"active"``, ``"passive"`` or ``"tau_b"``.
            measure: one of the measures; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: for parts of several sizes a line for each size of the one part against that of the other; for mixed
            parts a line for each source against the share of it, with standard errors; else a grid of parts.
        """
        from pt_reuse.plots.lines import plot_sizes, plot_source_shares
        from pt_reuse.plots.maps import plot_parts_grid
        from pt_reuse.plots.sheet import Place

        choice("kind", kind, tuple(KINDS))
        name = measure_among(self.measures, measure)
        place = Place(ax, title, legend, width)
        label = f"{KINDS[kind]} ({name})"
        rows = self.table[self.table["measure"] == name]
        if rows["share"].notna().any():
            return plot_source_shares(rows, column=kind, label=label, place=place)
        if rows["size"].notna().any():
            return plot_sizes(rows, column=kind, label=label, place=place)
        by_pair = self.by_pair[self.by_pair["measure"] == name]
        return plot_parts_grid(by_pair, column=kind, label=label, place=place)


def _settings(rows: pd.DataFrame) -> Iterator[list[str]]:
    """Yield what the setting of each row fixes, in words."""
    for source, share, size, other in zip(*(rows[name] for name in SETTING), strict=True):
        mixed = [] if pd.isna(share) else [f"{100 * share:g} % {source}"]
        yield mixed + ([] if pd.isna(size) else [f"{size:,.0f} x {other:,.0f}"])


def _range(counts: pd.Series, noun: str) -> str:
    low, high = int(counts.min()), int(counts.max())
    return count(low, noun) if low == high else f"{low:,} to {count(high, noun)}"
