"""What a family of runs gains under a judge over other runs, in ranks and in scores: arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

#: against whom a family is held
OTHERS, MATCHED, ALONE = "others", "matched", "alone"
AGAINST = (OTHERS, MATCHED, ALONE)
#: a line through fewer runs says nothing of another one
LEAST_IN_LINE = 3


@dataclass(frozen=True)
class Contrast:
    """A family of runs and those that it is held against.

    Attributes:
        family: (k,) positions of its runs in the field, one at least.
        others: (m,) positions of all other runs, one at least.
        matches: (p, 2) positions of runs of the family and of the other run that is matched with each.
    """

    family: Positions
    others: Positions
    matches: Positions


@dataclass(frozen=True)
class Gains:
    """What the runs of a family gain, and what those gain that they are held against.

    All are (draws,) means over runs.

    Attributes:
        gained: ranks that runs of the family gain.
        others_gained: ranks that the others gain.
        change: of the score of runs of the family, less the mean change of the whole field.
        others_change: the same of the others.
        score_effect: what the score of the family's runs has gained beyond that of the others, at equal scores by
            people; NaN where it cannot be told.
    """

    gained: Floats
    others_gained: Floats
    change: Floats
    others_change: Floats
    score_effect: Floats

    @property
    def rank_effect(self) -> Floats:
        """Return (draws,): how many more ranks runs of the family gain."""
        return self.gained - self.others_gained


class FieldGains:
    """What each run of a field gains under a judge.

    Args:
        human: (draws, runs) mean scores under the labels of people.
        judge: (draws, runs) the same under the judge's.
    """

    def __init__(self, human: Floats, judge: Floats):
        self.human, self.judge = human, judge
        self._ranked = np.round(human, DECIMALS), np.round(judge, DECIMALS)
        self.gained = self._gained_among(np.arange(human.shape[1]))
        change = judge - human
        # rounded as means are before they are ranked, so that nothing is no effect
        self.change = np.round(change - change.mean(axis=1, keepdims=True), DECIMALS) + 0.0

    def _gained_among(self, runs: Positions) -> NDArray[np.int64]:
        """Return (draws, len(runs)): the ranks that runs gain where they alone are the field."""
        human, judge = (scores[:, runs] for scores in self._ranked)
        return pairs.ranks(human) - pairs.ranks(judge)

    def over(self, contrast: Contrast, against: str) -> Gains:
        """Return what a family gains over others.

        Args:
            contrast: who they are.
            against: ``"others"``: all other runs, all ranked together; ``"matched"``: the other run that is matched
                with each run of the family; ``"alone"``: all other runs, ranked without the family, each of whose runs
                takes its place among them alone.
        """
        family, others = contrast.family, contrast.others
        if against == MATCHED:
            family, others = contrast.matches.T
        mine, theirs = self.gained[:, family], self.gained[:, others]
        if against == ALONE:
            # a rank is 1 and the better runs; without those of the family there remain the better ones of the others
            mine = mine - self._gained_among(family)
            theirs = self._gained_among(others)
        change, others_change = self.change[:, family].mean(axis=1), self.change[:, others].mean(axis=1)
        return Gains(
            gained=mine.mean(axis=1),
            others_gained=theirs.mean(axis=1),
            change=change,
            others_change=others_change,
            score_effect=change - others_change if against == MATCHED else self._above_line(family, others),
        )

    def _above_line(self, family: Positions, others: Positions) -> Floats:
        """Return (draws,): how far the family's scores by the judge lie above the line through those of the others.

        The line says what score by the judge goes with a score by people. A judge that errs at random draws all
        scores together, so that good runs lose and bad ones gain; that is its scale, and no favour to a family.
        """
        x, y = self.human[:, others], self.judge[:, others]
        x_mean, y_mean = x.mean(axis=1), y.mean(axis=1)
        off = x - x_mean[:, None]
        spread = (off**2).sum(axis=1)
        defined = (spread > 10.0**-DECIMALS) & (len(others) >= LEAST_IN_LINE)
        slope = np.full(len(x), np.nan)
        np.divide((off * y).sum(axis=1), spread, out=slope, where=defined)
        expected = y_mean + slope * (self.human[:, family].mean(axis=1) - x_mean)
        # + 0.0: what rounds to nothing has no sign
        return np.round(self.judge[:, family].mean(axis=1) - expected, DECIMALS) + 0.0


def matched(scores: Floats, family: Positions, others: Positions, caliper: float) -> Positions:
    """Return (p, 2): each run of a family with the other run whose score is nearest, where one is near enough.

    An other run may be matched with several. Of equally near ones it is the first of `others`.

    Args:
        scores: (runs,) by which they are matched.
        family: positions of the runs of the family.
        others: positions of the others.
        caliper: how far two may be apart at most, in standard deviations of the scores of all runs.
    """
    most = caliper * float(np.std(scores, ddof=1)) + 10.0**-DECIMALS
    apart = np.round(np.abs(scores[family][:, None] - scores[others][None]), DECIMALS)
    nearest = apart.argmin(axis=1)
    near = apart[np.arange(len(family)), nearest] <= most
    return np.column_stack([family[near], others[nearest[near]]]).astype(np.int64)
