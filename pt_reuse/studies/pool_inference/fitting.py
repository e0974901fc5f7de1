"""The runs and depths whose pool fits the judgments best, in one order and at one tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pt_reuse.studies.pool_inference.code_length import PoolCounts
from pt_reuse.studies.pool_inference.gains import Gains, Singles, is_tolerated, tolerated_to
from pt_reuse.studies.pool_inference.judged_ranks import JudgedRanks
from pt_reuse.studies.pool_inference.kinds_of_topics import Curves, near
from pt_reuse.studies.pool_inference.tops import Choice, Tops

_ROUNDS = 20  # of settling topic depths and runs; real fields need two or three
_CHANCE = 1e-6  # below which a run lacks more judgments than dropped documents explain
_SINGLES = 4  # topics from which runs and depths are found in turn
_SHARP = 0.5  # of the most bits that any answer saves by its ends, below which an answer is left out
_LEFT_OUT = 100.0  # fewer bits than the most, at least; small fields have no more
_SHARES = (0.5, 0.25)  # of the topics, the deepest: the groups to start from


@dataclass(frozen=True, eq=False)
class Fit:
    """Depths, and the runs that are judged to them.

    Attributes:
        depths: (topics,) of the judgments.
        runs: (runs,) which runs are judged to these depths and bring more judged than unjudged documents.
        tops: what the runs have down to these depths.
        counts: what their pool has, and where it is wrong.
        difference: judged documents outside the pool of these runs, and unjudged ones in it.
        bits: that it takes to write the judged set down, given this pool.
        up_to: the largest depth for all topics that differs as little.
        ends: bits saved by saying that the judged documents end at these depths, less those that name runs and depths.
    """

    depths: NDArray[np.int64]
    runs: NDArray[np.bool_]
    tops: Tops
    counts: PoolCounts
    difference: int
    bits: float
    up_to: int
    ends: float

    @property
    def is_exact(self) -> bool:
        """Return whether the pool is the judged set, but for documents that no run has."""
        return bool(self.runs.any()) and not self.counts.unjudged and not self.counts.unexplained

    @property
    def is_pool(self) -> bool:
        """Return whether the judged documents end at the depths, as they do in a pool."""
        return self.is_exact or self.ends > 0


def comparable(fits: list[Fit]) -> list[Fit]:
    """Return the answers that are to be compared by their bits.

    An exact one is compared to none. Runs that resemble the pooled ones save bits, too, though the judged documents do
    not end at any depth of theirs: answers that end far less sharply than another are left out.
    """
    exact = [fit for fit in fits if fit.is_exact]
    most = max(fit.ends for fit in fits)
    return exact or [fit for fit in fits if most <= 0 or fit.ends >= min(_SHARP * most, most - _LEFT_OUT)]


def best_of(fits: list[Fit]) -> Fit:
    """Return the answer of fewest bits, the first of several."""
    return min(comparable(fits), key=lambda fit: fit.bits)


class Fitter:
    """Fits pools to judgments at one tolerance.

    Args:
        ranks: the runs in one order.
        tolerance: share of a run's documents down to a depth that may be unjudged.
        alike: whether a run goes, too, of whose documents far more are unjudged than of those of the other runs.
    """

    def __init__(self, ranks: JudgedRanks, tolerance: float, *, alike: bool = False):
        self.ranks, self.tolerance, self.alike = ranks, tolerance, alike
        self._last: tuple[NDArray[np.bool_], Curves] | None = None

    @cached_property
    def tolerated(self) -> NDArray[np.bool_]:
        """Return (runs, longest + 1): whether a run is judged to depth k; to depth 0 every run is."""
        return tolerated_to(self.ranks.missing, self.ranks.entries, self.tolerance)

    @cached_property
    def judged_to(self) -> NDArray[np.int64]:
        """Return (runs,): the largest depth to which each run is judged, at most its length."""
        last = self.ranks.longest - np.argmax(self.tolerated[:, ::-1], axis=1)
        return np.minimum(last, self.ranks.lengths)

    def settle(self, depths: NDArray[np.int64], up_to: int = 0) -> Fit:
        """Return the runs that are judged to given depths and bring more judged than unjudged documents."""
        ranks, tops = self.ranks, self.ranks.tops(depths)
        choice = Choice(tops, is_tolerated(tops.missing, tops.entries, self.tolerance))
        while True:
            # a run whose own part is mostly unjudged is not why it was judged; the worst goes first
            loss = choice.unjudged - choice.judged
            if loss.max(initial=0) > 0:
                choice.drop(int(np.argmax(loss)))
                continue
            stranger = self._stranger(tops, choice)
            if stranger is None:
                break
            choice.drop(stranger)
        runs, pool = choice.runs, np.flatnonzero(choice.times > 0)
        found = len(pool) - choice.wrong
        counts = PoolCounts(
            runs=ranks.n_runs,
            chosen=int(runs.sum()),
            documents=len(pool),
            unjudged=len(pool) - found,
            outside=ranks.outside(pool, tops.judged),
        )
        of_topics, difference = depths[ranks.has_topic], ranks.n_judged - found + len(pool) - found
        bits = counts.bits(of_topics, ranks.longest)
        ends = float(self._curves(runs, near(depths)).ends(depths).sum()) - counts.names(of_topics, ranks.longest)
        return Fit(depths, runs, tops, counts, difference, bits, up_to, ends)

    def _curves(self, runs: NDArray[np.bool_], depth: int | None = None) -> Curves:
        # the runs of an answer are mostly those from which its depths came, whose curves are there to every depth
        if self._last is not None and (self._last[0] == runs).all():
            return self._last[1]
        curves = Curves(*self.ranks.found(runs, depth), self.tolerance)
        if depth is None:
            self._last = runs, curves
        return curves

    def _stranger(self, tops: Tops, choice: Choice) -> int | None:
        """Return the run that has more unjudged documents than chance leaves to one of the pool, None if none has."""
        runs, unjudged, own = choice.runs, choice.unjudged, choice.judged + choice.unjudged
        if not self.alike or not tops.missing[runs].any():
            return None
        from scipy.special import bdtrc

        # the share of the pool without the run's own part, never quite none
        share = (choice.wrong - unjudged + 1) / (choice.documents - own + 2)
        chance = np.ones(len(runs))
        for missing, documents in ((tops.missing, tops.entries), (unjudged, own)):
            some = runs & (missing > 0)
            chance[some] = np.minimum(chance[some], bdtrc(missing[some] - 1.0, documents[some], share[some]))
        worst = int(np.argmin(chance))
        return worst if chance[worst] < _CHANCE else None

    def differences(self) -> NDArray[np.int64]:
        """Return (longest + 1,): in how many documents the pool of the runs judged to depth k is not the judged set."""
        differences = np.full(self.ranks.longest + 1, self.ranks.n_judged, dtype=np.int64)
        for gained in self.ranks.over(Gains.of_tolerated(self.tolerated)):
            differences -= gained
        return differences

    def common_depth(self) -> Fit:
        """Return the one depth, the smallest of several as good, whose pool differs least from the judged set."""
        differences = self.differences()
        best = int(np.argmin(differences))
        last = int(np.flatnonzero(differences == differences[best])[-1]) if best else 0
        return self.settle(self.ranks.depths(best), last)

    def own_depths(self) -> Fit:
        """Return a depth for each topic: depths from runs and runs from depths in turn, from several starts.

        The starts are the runs of the common depth, those of single topics, and those of the deepest topics. An exact
        answer is kept, else that of fewest bits, the common depth among them.
        """
        fits = [self.common_depth()]
        seen = set()
        for runs in self._starts(fits[0]):
            for _ in range(_ROUNDS):
                if runs.tobytes() in seen or not runs.any():
                    break
                seen.add(runs.tobytes())
                fits.append(self.depths_of(runs))
                runs = fits[-1].runs
        return best_of(fits)

    def depths_of(self, runs: NDArray[np.bool_]) -> Fit:
        """Return the better of two answers: depths that fit some runs topic by topic, and those by kind of topic."""
        curves = self._curves(runs)
        fit = self.settle(curves.depths)
        if (curves.joined == curves.depths).all():
            return fit
        return best_of([fit, self.settle(curves.joined)])

    def _starts(self, common: Fit) -> Iterator[NDArray[np.bool_]]:
        yield common.runs
        single = list(chain.from_iterable(self.ranks.over(Singles(self.tolerance))))
        single.sort(key=lambda found: -found[1])
        yield from [runs for runs, _, _ in single[:_SINGLES]]
        single.sort(key=lambda found: -found[2])
        for share in _SHARES:
            # a run of the pool is judged on most topics of one kind
            group = [runs for runs, _, _ in single[: max(1, round(share * len(single)))]]
            yield np.mean(group, axis=0) > 0.5
