"""What is expected of runs by now, what the labels to come may change, and when that decides a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.expected import Floats
from pt_reuse.studies.new_runs.estimators import Effects
from pt_reuse.studies.new_runs.predictor import NewRunPredictor, RunInCase

AS_JUDGED, EVERY, CONFIDENT, UNDECIDED = "as judged", "under every completion", "at the confidence", ""


class Span(NamedTuple):
    """What a run scores beside another, (topics,) or (topics, runs): expected, and at least and at most."""

    expected: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class ExpectedRun:
    """A new run: what it and the others are expected to score now, and its documents that are left."""

    row: RunInCase
    own: Span
    others: Span
    left: Effects
    shared: frozenset[str]  # runs of the field that have some of these where the measure looks
    why_bounds: tuple[str, ...]  # why only bounds decide


@dataclass(frozen=True)
class ExpectedPair:
    """Two runs, the one first that is expected to be better, and what the documents that are left may change."""

    first: str
    second: str
    by_topic: Floats  # (topics,) the expected difference
    difference: float
    effects: Effects  # of the documents that are left
    least: Floats  # (documents + 1,) by how much what is left after each may lower the difference
    most: Floats  # and raise it
    spread: Floats  # (documents + 1,) its deviation
    abstains: bool  # whether only bounds decide
    reach: Floats  # (documents + 1,) how many deviations the means must be apart after each
    n_shared: int  # documents until none is left that both have, of which the plan knows too little
    moves: Effects  # of the documents that are left on both runs, where both have some

    @property
    def shares(self) -> bool:
        """Return whether one has documents that are left to the other."""
        return self.n_shared > 0

    @property
    def critical_value(self) -> float:
        """Return how many deviations the means must be apart before a further document is judged."""
        return float(self.reach[0])

    @property
    def half(self) -> float:
        """Return by how much the means must differ for a decision at the confidence level."""
        return self.critical_value * float(self.spread[0]) if len(self.effects.row) else 0.0

    @property
    def decided(self) -> str:
        """Return what decides the pair before a further document is judged."""
        if not len(self.effects.row):
            return AS_JUDGED
        if self.difference + self.least[0] > CLOSE or self.difference + self.most[0] < -CLOSE:
            return EVERY
        return CONFIDENT if abs(self.difference) > self.half else UNDECIDED


class Expectations:
    """What is expected of new runs and others by a measure, given (documents,) further labels, below 0 for none."""

    def __init__(self, predictor: NewRunPredictor, m: int, known: NDArray[np.int16]):
        self._predictor, self._m, self._known = predictor, m, known
        self._rows = {predictor.name(row): row for row in predictor.rows()}
        #: (topics, runs) with what is judged by now
        self.judged = predictor.judged_since(m, known)
        self._new: dict[str, ExpectedRun] = {}

    def of(self, name: str) -> ExpectedRun:
        """Return what is expected of a new run."""
        if name not in self._new:
            predictor, m, row = self._predictor, self._m, self._rows[name]
            effects = predictor.effects(m, row)
            left = effects.take(self._known[effects.row] < 0)
            own, others = predictor.expected(m, row, self._known)
            why = tuple(predictor.why_not(m, row))
            self._new[name] = ExpectedRun(row, Span(*own), Span(*others), left, predictor.sharing(m, left), why)
        return self._new[name]

    def net(self, signs: Mapping[str, float], place: NDArray[np.int64]) -> Effects:
        return _summed([(self.of(name).left, sign) for name, sign in signs.items()], place)

    def _shared(self, name: str, other: str) -> Effects:
        """Return what the labels of documents that are left to a new run do to another that has them."""
        run = self.of(name)
        effects = self._predictor.effects_on(self._m, run.row, other)
        return effects.take(np.isin(effects.row, run.left.row))

    def pair(self, one: str, other: str, place: NDArray[np.int64]) -> ExpectedPair:
        """Return what is known of a pair with a new run, whose documents are judged in the order of their place."""
        spans = {one: self._beside(one, other), other: self._beside(other, one)}
        new = {name: self.of(name) for name in spans if name in self._rows}
        if not any(len(run.left.row) for run in new.values()):
            # documents below the cutoff, which nobody is asked for, do not count against what is judged
            judged = {name: self.judged[:, self._predictor.runs.row(name)] for name in spans}
            spans = {name: Span(scores, scores, scores) for name, scores in judged.items()}
        first, second = sorted(spans, key=lambda name: -float(spans[name].expected.mean()))
        effects = self.net({name: sign for name, sign in ((first, 1.0), (second, -1.0)) if name in new}, place)
        by_topic = spans[first].expected - spans[second].expected
        difference = float(by_topic.mean())
        # another run that has the documents gains by their labels, too; what it may gain is not in the bounds
        shared = [pair for pair in permutations(spans) if pair[0] in new and pair[1] in new[pair[0]].shared]
        beside = [(self._shared(*pair), 1.0 if pair[1] == first else -1.0) for pair in shared]
        is_shared = np.any([np.isin(effects.row, part.row) for part, _ in beside], axis=0)
        n_shared = 1 + int(np.flatnonzero(is_shared).max(initial=-1)) if beside else 0
        only_bounds = any(run.why_bounds for run in new.values())
        abstains = bool(len(effects.row)) and (n_shared > 0 or only_bounds)
        least, most = self._left(spans, first, second, effects, difference, n_shared)
        reach = np.full(len(least), np.inf if abstains and only_bounds else self._predictor.critical_value(self._m))
        reach[:n_shared] = np.inf
        moves = _summed([(effects, 1.0), *beside], place) if beside else effects
        spread = effects.spread()
        return ExpectedPair(
            first, second, by_topic, difference, effects, least, most, spread, abstains, reach, n_shared, moves
        )

    def _beside(self, name: str, other: str) -> Span:
        if name in self._rows:
            return self.of(name).own
        row = self._predictor.runs.row(name)
        return Span(*(scores[:, row] for scores in self.of(other).others))

    def _left(
        self, spans: Mapping[str, Span], first: str, second: str, effects: Effects, difference: float, n_shared: int
    ) -> tuple[Floats, Floats]:
        """Return (documents + 1,) by how much what is left then may lower and raise the expected difference."""
        if not self._predictor.bounds_are_exact(self._m):
            return np.full(len(effects.row) + 1, -np.inf), np.full(len(effects.row) + 1, np.inf)
        least, most = effects.ends()
        for name, sign in ((first, 1), (second, -1)):
            if name not in self._rows:
                # a run of the field has a larger or smaller divisor, too, as long as documents of a topic are left
                ends = [self._share_left(effects) @ (end - spans[name].expected) for end in spans[name][1:]]
                lower, raise_ = np.sort(sign * np.array(ends) / len(spans[name].expected), axis=0)
                least, most = least + lower, most + raise_
        if not self._predictor.is_linear(self._m):
            least[0] = (spans[first].low - spans[second].high).mean() - difference
            most[0] = (spans[first].high - spans[second].low).mean() - difference
        least[:n_shared], most[:n_shared] = -np.inf, np.inf
        return least, most

    def _share_left(self, effects: Effects) -> Floats:
        """Return (documents + 1, topics) which share of the documents of a topic is left after each."""
        n, topic = len(effects.row), self._predictor.evidence.topic[effects.row]
        judged = np.zeros((n + 1, self._predictor.evidence.n_topics))
        judged[np.arange(n) + 1, topic] = 1 / np.bincount(topic, minlength=judged.shape[1])[topic]
        found: Floats = 1 - np.cumsum(judged, axis=0)
        return found


def _summed(parts: Sequence[tuple[Effects, float]], place: NDArray[np.int64]) -> Effects:
    """Return the sum of effects, each with its sign; a document once, in the order of its place."""
    every, at = np.unique(np.concatenate([left.row for left, _ in parts]), return_inverse=True)
    labels = parts[0][0].labels
    change, chance = np.zeros((2, len(every), len(labels)))
    np.add.at(change, at, np.concatenate([sign * left.change for left, sign in parts]))
    np.add.at(chance, at, np.concatenate([left.chance for left, _ in parts]))
    chance /= np.bincount(at, minlength=len(every))[:, None]
    return Effects(every, labels, chance, change).take(np.argsort(place[every], kind="stable"))
