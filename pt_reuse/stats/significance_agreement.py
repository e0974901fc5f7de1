"""How far two tests of the same pairs of systems agree about which differences are significant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import fraction
from pt_reuse._errors import InputError
from pt_reuse.stats.significance import PairTests

#: columns of a table of agreement -> what they count, or the share that they are
COUNTS = ("ss_a", "ss_d", "sn", "ns", "nn", "untested")
SHARES = ("agree", "active", "passive")


@dataclass(frozen=True)
class SignificanceAgreement:
    """How often two tests find the same differences significant; the pairs are those of two systems.

    Attributes:
        ss_a: pairs significant by both, with the same winner.
        ss_d: pairs significant by both, with opposite winners.
        sn: pairs significant by the first test alone.
        ns: pairs significant by the second test alone.
        nn: pairs significant by neither.
        untested: pairs for which one of the two has no p-value; they count nowhere else.
    """

    ss_a: int
    ss_d: int
    sn: int
    ns: int
    nn: int
    untested: int

    @property
    def weight(self) -> int:
        """Return what the shares are of: significant results, of both tests together."""
        return 2 * self.ss_a + 2 * self.ss_d + self.sn + self.ns

    @property
    def agree(self) -> float:
        """Return agree-SS_a, the share of significant results that the other test confirms; NaN where there are none.

        ``2 SS_a / (2 SS_a + 2 SS_d + SN + NS)``: 1 where both find the same pairs significant with the same winners.
        """
        return self._share(2 * self.ss_a)

    @property
    def active(self) -> float:
        """Return active disagreement, the share that the other test contradicts: ``2 SS_d`` of the same."""
        return self._share(2 * self.ss_d)

    @property
    def passive(self) -> float:
        """Return passive disagreement, the share that the other test leaves open: ``SN + NS`` of the same."""
        return self._share(self.sn + self.ns)

    def _share(self, n: int) -> float:
        return n / self.weight if self.weight else float("nan")

    def row(self) -> dict[str, float]:
        """Return the counts and the shares by name: ``ss_a ss_d sn ns nn untested agree active passive``."""
        return {name: getattr(self, name) for name in (*COUNTS, *SHARES)}


def winners(tests: PairTests, alpha: float, correction: str = "none") -> NDArray[np.int8]:
    """Return (pairs,) who is significantly better: 1 the first system, -1 the second, 0 neither.

    A pair is significant where its p-value is at most `alpha` and its means differ; without a p-value it is not.

    Args:
        tests: of pairs of systems.
        alpha: the level.
        correction: of the p-values for the number of pairs, see :meth:`PairTests.corrected`.
    """
    return np.where(tests.significant(alpha, correction), np.sign(tests.difference), 0).astype(np.int8)


def agreement_of_tests(
    one: PairTests, other: PairTests, alpha: float = 0.05, correction: str = "none"
) -> SignificanceAgreement:
    """Count on which pairs of systems two tests agree: of two collections, two measures, or two sets of judgments.

    Args:
        one: tests of pairs of systems, ``pair_tests(values)``.
        other: tests of the same pairs in the same order, on other data.
        alpha: the level: p-values of at most this are significant.
        correction: of the p-values of each test for the number of pairs; default none.

    Returns:
        SignificanceAgreement: the counts, agree-SS_a, active and passive disagreement.

    Raises:
        InputError: tests of other pairs, a level that is not between 0 and 1, an unknown correction.

    Source: Moffat, Scholer and Thomas 2012, Models and metrics: IR evaluation as a user process, ADCS, for the counts;
    Jones, Turpin, Mizzaro, Scholer and Sanderson 2014, Size and source matter, CIKM, for agree-SS_a.
    """
    level = fraction("alpha", alpha, ends=False)
    if not (np.array_equal(one.first, other.first) and np.array_equal(one.second, other.second)):
        raise InputError("the two tests are of other pairs of systems. Test the same systems, in one order.")
    tested = ~(np.isnan(one.p) | np.isnan(other.p))
    a, b = winners(one, level, correction)[tested], winners(other, level, correction)[tested]
    both = (a != 0) & (b != 0)
    return SignificanceAgreement(
        ss_a=int((both & (a == b)).sum()),
        ss_d=int((both & (a != b)).sum()),
        sn=int(((a != 0) & (b == 0)).sum()),
        ns=int(((a == 0) & (b != 0)).sum()),
        nn=int(((a == 0) & (b == 0)).sum()),
        untested=int((~tested).sum()),
    )
