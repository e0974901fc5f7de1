"""What becomes of each pair of runs whose difference people and a judge test: verdicts, and what they count up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import PairTests, SignificanceAgreement, agreement_of_tests, drawn_agreement, winners

#: a pair without a p-value, which a test of fewer than two topics does not have
UNTESTED = "untested"
#: shares that may have intervals
SHARES = ("false_share", "missed_share", "agree_share")


@dataclass(frozen=True)
class TestedPairs:
    """The tests of every pair of runs by one measure, under the labels of people and of a judge.

    Attributes:
        human: tests under the labels of people.
        judge: tests of the same pairs under the labels of the judge.
        alpha: the level.
        correction: for the number of pairs.
    """

    __test__ = False  # no test of pytest

    human: PairTests
    judge: PairTests
    alpha: float
    correction: str

    def outcomes(self) -> NDArray[np.object_]:
        """Return (pairs,) the outcome of each, as a ``SignificanceFidelity`` names it."""
        people, judge = (winners(tests, self.alpha, self.correction) for tests in (self.human, self.judge))
        both = (people != 0) & (judge != 0)
        kinds = [
            (UNTESTED, np.isnan(self.human.p) | np.isnan(self.judge.p)),
            ("agree", both & (people == judge)),
            ("opposite", both),
            ("missed", people != 0),
            ("false claim", judge != 0),
        ]
        return np.select([where for _, where in kinds], [name for name, _ in kinds], "neither").astype(object)

    def agreement(self) -> SignificanceAgreement:
        """Return the counts of the outcomes."""
        return agreement_of_tests(self.human, self.judge, self.alpha, self.correction)

    def counts(self) -> dict[str, float]:
        """Return how many pairs have each outcome, and the shares of false claims, missed ones and agreement."""
        found = self.agreement()
        by_judge, by_people = found.ss_a + found.ss_d + found.ns, found.ss_a + found.ss_d + found.sn
        return {
            "pairs": len(self.human.p),
            UNTESTED: found.untested,
            "human_significant": by_people,
            "judge_significant": by_judge,
            "agree": found.ss_a,
            "false_claims": found.ns,
            "missed": found.sn,
            "opposite": found.ss_d,
            "neither": found.nn,
            "false_share": found.ns / by_judge if by_judge else np.nan,
            "missed_share": found.sn / by_people if by_people else np.nan,
            "agree_share": found.agree,
        }

    def frame(self, names: list[str]) -> pd.DataFrame:
        """Return one row per pair of runs."""
        run = np.array(names, dtype=object)
        return pd.DataFrame(
            {
                "first": run[self.human.first],
                "second": run[self.human.second],
                "outcome": self.outcomes(),
                "difference": self.human.difference,
                "p": self.human.p,
                "p_corrected": self.human.corrected(self.correction),
                "judge_difference": self.judge.difference,
                "judge_p": self.judge.p,
                "judge_p_corrected": self.judge.corrected(self.correction),
            }
        )

    def of_runs(self, n_runs: int) -> dict[str, NDArray[np.int64]]:
        """Return (runs,) how many pairs each run wins and loses falsely, and how many wins and losses are missed."""
        outcomes, found = self.outcomes(), {}
        for kind, outcome, tests in (("false", "false claim", self.judge), ("missed", "missed", self.human)):
            rows = outcomes == outcome
            ahead = tests.difference[rows] > 0
            pairs = tests.first[rows], tests.second[rows]
            won, lost = np.where(ahead, *pairs), np.where(ahead, *pairs[::-1])
            found[f"{kind}_wins"] = np.bincount(won, minlength=n_runs)
            found[f"{kind}_losses"] = np.bincount(lost, minlength=n_runs)
        turned = outcomes == "opposite"
        of_both = np.concatenate([self.human.first[turned], self.human.second[turned]])
        return {**found, "opposite": np.bincount(of_both, minlength=n_runs)}


def with_intervals(
    counts: dict[str, float],
    human: NDArray[np.float64],
    judge: NDArray[np.float64],
    bootstrap: TopicBootstrap,
    *,
    alpha: float,
    correction: str,
) -> dict[str, float]:
    """Return counts with the ends of an interval of each share, NaN with fewer than two topics.

    Args:
        counts: as :meth:`TestedPairs.counts` returns them, of Student's t test.
        human: (topics, runs) scores under the labels of people.
        judge: (topics, runs) scores under the labels of the judge.
        bootstrap: over topics.
        alpha: the level.
        correction: for the number of pairs.
    """
    found: dict[str, float] = {}
    drawn = drawn_agreement(human, judge, bootstrap, alpha, correction) if len(human) > 1 else None
    of_share = {"false_share": "only_second", "missed_share": "only_first", "agree_share": "agree"}
    for name, value in counts.items():
        found[name] = value
        if name in SHARES:
            values = np.full(1, np.nan) if drawn is None else getattr(drawn, of_share[name])
            found[f"{name}_low"], found[f"{name}_high"] = bootstrap.interval(value, values, within=(0, 1))
    return found
