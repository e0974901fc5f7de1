"""Whether a new run beats another, under every labelling or at a confidence, and which labels may change it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.completions import CompletionLists, largest_difference
from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.expected import Floats
from pt_reuse.arrays.kernels import UNJUDGED, Spec
from pt_reuse.arrays.significance import pair_tests
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, did_you_mean, names, shown
from pt_reuse.studies.bounds import Completions
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
    def half(self) -> float:
        """Return by how much the means must differ for a decision at the confidence level."""
        return float(self.reach[0] * self.spread[0]) if len(self.effects.row) else 0.0

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

    def pair(self, run: str, beside: str, place: NDArray[np.int64]) -> ExpectedPair:
        """Return what is known of a pair with a new run, whose documents are judged in the order of their place."""
        predictor, m = self._predictor, self._m
        new = {name: self.of(name) for name in (run, beside) if name in self._rows}
        spans, at = {}, {name: predictor.runs.row(name) for name in (run, beside)}
        for name, rival in ((run, beside), (beside, run)):
            expected = new[name].own if name in new else Span(*(scores[:, at[name]] for scores in new[rival].others))
            # documents below the cutoff, which nobody is asked for, do not count against what is judged
            judged = Span(*[self.judged[:, at[name]]] * 3)
            spans[name] = expected if any(len(each.left.row) for each in new.values()) else judged
        first, second = sorted(spans, key=lambda name: -float(spans[name].expected.mean()))
        effects = self.net({name: sign for name, sign in ((first, 1.0), (second, -1.0)) if name in new}, place)
        by_topic = spans[first].expected - spans[second].expected
        difference = float(by_topic.mean())
        # another run that has the documents gains by their labels, too; what it may gain is not in the bounds
        shared = []
        for name, rival in permutations(spans):
            if name in new and rival in new[name].shared:
                also = predictor.effects_on(m, new[name].row, rival)
                also = also.take(np.isin(also.row, new[name].left.row))
                shared.append((also, 1.0 if rival == first else -1.0))
        is_shared = np.any([np.isin(effects.row, part.row) for part, _ in shared], axis=0)
        n_shared = 1 + int(np.flatnonzero(is_shared).max(initial=-1)) if shared else 0
        only_bounds = any(each.why_bounds for each in new.values())
        abstains = bool(len(effects.row)) and (n_shared > 0 or only_bounds)
        least, most = self._left(spans, first, second, effects, difference)
        least[:n_shared], most[:n_shared] = -np.inf, np.inf
        reach = np.full(len(least), np.inf if abstains and only_bounds else predictor.critical_value(m))
        reach[:n_shared] = np.inf
        moves = _summed([(effects, 1.0), *shared], place) if shared else effects
        apart, left = (first, second, by_topic, difference), (effects, least, most, effects.spread())
        return ExpectedPair(*apart, *left, abstains, reach, n_shared, moves)

    def _left(
        self, spans: Mapping[str, Span], first: str, second: str, effects: Effects, difference: float
    ) -> tuple[Floats, Floats]:
        """Return (documents + 1,) by how much what is left then may lower and raise the expected difference."""
        n, evidence = len(effects.row), self._predictor.evidence
        if not self._predictor.bounds_are_exact(self._m):
            return np.full(n + 1, -np.inf), np.full(n + 1, np.inf)
        least, most = effects.ends()
        # (documents + 1, topics) which share of the documents of a topic is left after each
        topic, judged = evidence.topic[effects.row], np.zeros((n + 1, evidence.n_topics))
        judged[np.arange(n) + 1, topic] = 1 / np.bincount(topic, minlength=evidence.n_topics)[topic]
        left = 1 - np.cumsum(judged, axis=0)
        for name, sign in ((first, 1), (second, -1)):
            if name not in self._rows:
                # a run of the field has a larger or smaller divisor, too, as long as documents of a topic are left
                ends = [left @ (end - spans[name].expected) for end in spans[name][1:]]
                lower, higher = np.sort(sign * np.array(ends) / evidence.n_topics, axis=0)
                least, most = least + lower, most + higher
        if not self._predictor.is_linear(self._m):
            least[0] = (spans[first].low - spans[second].high).mean() - difference
            most[0] = (spans[first].high - spans[second].low).mean() - difference
        return least, most


def _summed(parts: Sequence[tuple[Effects, float]], place: NDArray[np.int64]) -> Effects:
    """Return the sum of effects, each with its sign; a document once, in the order of its place."""
    every, at = np.unique(np.concatenate([left.row for left, _ in parts]), return_inverse=True)
    labels = parts[0][0].labels
    change, chance = np.zeros((2, len(every), len(labels)))
    np.add.at(change, at, np.concatenate([sign * left.change for left, sign in parts]))
    np.add.at(chance, at, np.concatenate([left.chance for left, _ in parts]))
    chance /= np.bincount(at, minlength=len(every))[:, None]
    return Effects(every, labels, chance, change).take(np.argsort(place[every], kind="stable"))


EVERY_LABELLING, OPEN = "every labelling", "not decided"
#: a p-value of at most that is significant
ALPHA = 0.05


def _of_pair(lists: CompletionLists, pair: list[int]) -> CompletionLists:
    """Return the lists of two runs, in the order of the pair, and the unjudged documents that one of these has."""
    ranks = lists.ranks[pair]
    has = (ranks > 0).any(axis=0)
    return replace(
        lists,
        # in the order of memory in which sums are added up
        ranks=np.ascontiguousarray(ranks[:, has]),
        score=lists.score[pair],
        relevant=[lists.relevant[run] for run in pair],
        length=lists.length[pair],
    )


def named_rivals(against: Any, known: Sequence[str]) -> list[str]:
    """Return the names of the runs that new ones are compared with."""
    rivals = list(dict.fromkeys(names("against", against)))
    for name in rivals:
        if name not in known:
            raise InputError(
                f"against names {shown(name)}, which is no run here.{did_you_mean(name, known)}", argument="against"
            )
    return rivals


def neighbours(predictor: NewRunPredictor, m: int, score: float) -> list[str]:
    """Return the runs of the field that are next above and below a score, as judged."""
    field = [name for name in predictor.runs.names if name not in predictor.new]
    means = {name: float(predictor.scores[m][:, predictor.runs.row(name)].mean()) for name in field}
    above = min((name for name in field if means[name] >= score), key=means.__getitem__, default=None)
    below = max((name for name in field if means[name] < score), key=means.__getitem__, default=None)
    return [name for name in (above, below) if name is not None]


class PredictedDifference(NamedTuple):
    """What is predicted of the difference of two runs."""

    by_topic: Floats  # (topics,)
    mean: float
    low: float
    high: float

    def within(self, lowest: float, highest: float) -> list[float]:
        """Return the mean and its interval, inside the ends of the difference."""
        return np.clip([self.mean, self.low, self.high], lowest, highest).tolist()


class Rivals:
    """New runs against others; `own` has what is said of each new run, by measure and name."""

    def __init__(
        self,
        predictor: NewRunPredictor,
        own: Mapping[tuple[int, str], Mapping[str, Any]],
        qrels: Qrels,
        involved: Collection[str],
    ):
        self._predictor, self._own, self._sampled = predictor, own, predictor.sample is not None
        self._rows = {predictor.name(row): row for row in predictor.rows()}
        self._qrels, self._involved = qrels, involved
        self._expectations: dict[int, Expectations] = {}

    @cached_property
    def _lists(self) -> tuple[list[str], list[Spec], list[list[CompletionLists]]]:
        """Return the runs that are compared, and by measure their lists on each topic."""
        names = [name for name in self._predictor.runs.names if name in self._involved]
        work = Completions(self._predictor.runs.select(names=names), self._qrels, self._predictor.measures)
        topics = list(work.topics())
        return names, work.specs, [[work.lists(m, *topic) for topic in topics] for m in range(len(work.specs))]

    def _ends(self, m: int, first: str, second: str) -> tuple[Floats, Floats, int, bool]:
        """Return (topics,) the ends of a difference, how many documents are unjudged, and whether ends are reached."""
        names, specs, lists = self._lists
        pair = [names.index(first), names.index(second)]
        of_pair = [_of_pair(each, pair) for each in lists[m]]
        most = [largest_difference(each, specs[m]) for each in of_pair]
        least = [largest_difference(_of_pair(each, pair[::-1]), specs[m]) for each in lists[m]]
        (high, reached), (low, reached_too) = (zip(*ends, strict=True) for ends in (most, least))
        n_unjudged = sum(each.ranks.shape[1] for each in of_pair)
        return -np.array(low), np.array(high), n_unjudged, all(reached) and all(reached_too)

    def decides(self, m: int, first: str, second: str) -> str:
        """Return what says that the first is better, every labelling or the interval of what is predicted, or nothing.

        Two runs that score the same under every labelling are decided, too.
        """
        name, rival, sign = (first, second, 1) if first in self._rows else (second, first, -1)
        low, high = -np.inf, np.inf
        # by AP the ends of a single pair of long lists take a second and more
        if self._predictor.bounds_are_exact(m) or self._predictor.predicted[m].model.spec.kernel != "ap":
            low, high = (float(ends.mean()) for ends in self._ends(m, name, rival)[:2])
        if _sign(low, high) == sign or max(abs(low), abs(high)) <= CLOSE:
            return EVERY
        made = self._predicted(m, name, rival)
        return UNDECIDED if made is None or _sign(*made.within(low, high)[1:]) != sign else CONFIDENT

    def row(self, m: int, name: str, rival: str) -> dict[str, Any]:
        """Return what a table says of a new run against another."""
        predictor = self._predictor
        of_name, of_rival = (predictor.scores[m][:, predictor.runs.row(run)] for run in (name, rival))
        low_by_topic, high_by_topic, n_unjudged, is_exact = self._ends(m, name, rival)
        judged, critical = of_name - of_rival, predictor.topic_critical
        difference = centre = float(judged.mean())
        # sums of the same numbers in another order differ in the last bit
        lowest, highest = min(float(low_by_topic.mean()), difference), max(float(high_by_topic.mean()), difference)
        made = self._predicted(m, name, rival)
        by_topic, predicted, low, high = judged, np.nan, np.nan, np.nan
        if made is not None:
            by_topic, (centre, low, high) = made.by_topic, made.within(lowest, highest)
            predicted = centre
        error = critical * _deviation(by_topic)
        both = centre - np.hypot(centre - low, error), centre + np.hypot(high - centre, error)
        if made is None:
            # topics whose ends differ less than what is judged make neither end narrower
            spread_low, spread_high = (critical * _deviation(part) for part in (low_by_topic, high_by_topic))
            both = min(lowest - spread_low, centre - error), max(highest + spread_high, centre + error)
        p = float(pair_tests(np.stack([by_topic, np.zeros(len(by_topic))], axis=1)).p[0])
        decided_by, winner = EVERY_LABELLING, {1: name, -1: rival, 0: ""}[_sign(lowest, highest)]
        if highest - lowest <= CLOSE and abs(difference) <= CLOSE:
            winner = "neither"
        if not winner:
            winner = {1: name, -1: rival, 0: ""}[_sign(low, high)]
            if not winner and not self._sampled:
                # who is ahead by the rule of judge_next with no label
                none = np.full(len(predictor.evidence.labels), UNJUDGED)
                if m not in self._expectations:
                    self._expectations[m] = Expectations(predictor, m, none)
                pair = self._expectations[m].pair(name, rival, np.arange(len(none)))
                if pair.decided and np.isfinite(pair.reach[0]) and abs(pair.difference) > CLOSE:
                    winner = pair.first
            decided_by = f"at {100 * predictor.confidence:.4g}%" if winner else OPEN
        return {
            "measure": repr(predictor.measures[m]),
            "name": name,
            "rival": rival,
            "rival_score": float(of_rival.mean()),
            "difference": difference,
            "difference_low": lowest,
            "difference_high": highest,
            "predicted": predicted,
            "predicted_low": low,
            "predicted_high": high,
            "p": p,
            "decided_by": decided_by,
            "winner": winner,
            "significant": bool(p <= ALPHA),
            "topics_low": centre - error,
            "topics_high": centre + error,
            "both_low": both[0],
            "both_high": both[1],
            "unjudged": n_unjudged,
            "exact": is_exact,
        }

    def _predicted(self, m: int, name: str, rival: str) -> PredictedDifference | None:
        """Return what is predicted of a difference, None where nothing is."""
        own, row, predictor = self._own[m, name], self._rows[name], self._predictor
        if np.isnan(own["predicted"]):
            return None
        predicted = predictor.predicted[m]
        spreads = predicted.by[predicted.chosen]
        if rival in self._rows:
            # each errs by more with half of the probability that both may
            theirs, pair = self._own[m, rival]["predicted"], (row, self._rows[rival])
            if np.isnan(theirs) or self._sampled:
                return None
            calibration, other = predicted.calibrations[predicted.chosen], self._by_topic(m, rival)
            below = above = calibration.critical(calibration.errors, (1 + predictor.confidence) / 2) * sum(
                spreads[each.at].spread[each.place] for each in pair
            )
        else:
            run, units = predictor.runs.row(rival), predictor.units.of_run
            # what a run that was not pooled gains by the same documents no left-out team shows
            if not predictor.evidence.tested[run] and rival in predictor.sharing(m, predictor.effects(m, row)):
                return None
            at = int(np.flatnonzero(np.flatnonzero(~np.isin(units, predictor.evidence.new)) == run)[0])
            other = predicted.ranked[row.at].by_topic[:, at] * predictor.dilution(m, row)
            theirs = float(other.mean())
            below = above = predicted.critical_against(run) * spreads[row.at].spread[row.place]
            if self._sampled:
                below, above = own["predicted"] - own["predicted_low"], own["predicted_high"] - own["predicted"]
        if not np.isfinite([below, above]).all():
            return None
        mean = own["predicted"] - theirs
        return PredictedDifference(self._by_topic(m, name) - other, mean, mean - below, mean + above)

    def _by_topic(self, m: int, name: str) -> Floats:
        by_topic = self._predictor.by_topic(m, self._rows[name])
        off = self._own[m, name]["predicted"] - by_topic.mean()
        return by_topic + off if abs(off) > CLOSE else by_topic


def _sign(low: float, high: float) -> int:
    """Return 1 where a difference is above 0, -1 where it is below, 0 where its ends leave that open."""
    return 1 if low > CLOSE else -1 if high < -CLOSE else 0


def _deviation(by_topic: Floats) -> float:
    return float(by_topic.std(ddof=1)) if len(by_topic) > 1 else np.nan
