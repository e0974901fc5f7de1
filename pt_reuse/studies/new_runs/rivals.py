"""Whether a new run beats another: under every labelling of their unjudged documents, at a confidence, on topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import numpy as np

from pt_reuse._check import did_you_mean, names, shown
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.expected import Floats
from pt_reuse.arrays.kernels import Labels, Spec
from pt_reuse.arrays.pair_bounds import TopicLists
from pt_reuse.arrays.pair_ends import largest_difference
from pt_reuse.arrays.rescore import Hits
from pt_reuse.arrays.significance import pair_tests
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError
from pt_reuse.scoring.rescoring import Rescoring, base_scores
from pt_reuse.studies.new_runs.calibration import spec_of
from pt_reuse.studies.new_runs.evidence import with_unjudged_tops
from pt_reuse.studies.new_runs.predictor import NewRunPredictor

EVERY_LABELLING, OPEN = "every labelling", "not decided"
#: a p-value of at most that is significant
ALPHA = 0.05
_CLOSE = 10.0**-DECIMALS


@dataclass(frozen=True)
class PairEnds:
    """The ends of a difference over every labelling of the documents of two runs that nobody judged."""

    low: Floats  # (topics,)
    high: Floats  # (topics,)
    unjudged: int  # documents
    exact: bool  # whether some labelling reaches them


class Labellings:
    """Runs, and what the labels of their unjudged documents may do to their differences."""

    def __init__(self, runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure]):
        self.runs, self.specs = runs, [spec_of(measure) for measure in measures]
        longest = max(1, int(runs.field.lengths.max(initial=0)))
        base = with_unjudged_tops(qrels, runs, max(spec.cutoff or longest for spec in self.specs))
        self.highest = max(qrels.arrays.highest, 1)
        self.scores = base_scores(runs, base, measures)
        work = Rescoring(runs.field, runs.names, base, measures)
        topics = [range(t, t + 1) for t in range(len(base.topics))]
        self._topics = [(work.index.gather(topic), work.judgments.of(topic).labels) for topic in topics]

    def ends(self, m: int, first: str, second: str) -> PairEnds:
        """Return the ends of the difference of two runs by a measure, topic by topic."""
        pair, spec = [self.runs.row(name) for name in (first, second)], self.specs[m]
        low, high, n_unjudged, is_exact = [], [], 0, True
        for (hits, labels), score in zip(self._topics, self.scores[m][:, pair], strict=True):
            lists = self._lists(hits.top(spec.cutoff), labels, spec, score, pair)
            turned = replace(lists, ranks=lists.ranks[::-1], score=score[::-1], relevant=lists.relevant[::-1])
            (most, reached), (least, reached_too) = (largest_difference(each, spec) for each in (lists, turned))
            low.append(-least)
            high.append(most)
            n_unjudged += lists.ranks.shape[1]
            is_exact &= reached and reached_too
        return PairEnds(np.array(low), np.array(high), n_unjudged, is_exact)

    def _lists(self, hits: Hits, labels: Labels, spec: Spec, score: Floats, pair: Sequence[int]) -> TopicLists:
        """Return the lists of two runs, in the order of the pair."""
        parts = [slice(hits.starts[run], hits.starts[run + 1]) for run in pair]
        unjudged = [hits.row[part][labels[hits.row[part]] < 0] for part in parts]
        rows = np.union1d(*unjudged)
        ranks = np.zeros((2, len(rows)), dtype=np.int32)
        for side, part in enumerate(parts):
            ranks[side, np.searchsorted(rows, unjudged[side])] = hits.rank[part][labels[hits.row[part]] < 0]
        return TopicLists(
            ranks=ranks,
            score=score,
            relevant=[hits.rank[part][labels[hits.row[part]] >= spec.rel] for part in parts],
            length=hits.lengths[pair],
            labels=labels,
            highest=self.highest,
            n_relevant=int((labels >= spec.rel).sum()),
            further=0,
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


@dataclass(frozen=True)
class PredictedDifference:
    """What is predicted of the difference of two runs."""

    by_topic: Floats  # (topics,)
    mean: float
    low: float
    high: float


class Rivals:
    """New runs against others; `own` has what is said of each new run, by measure and name."""

    def __init__(self, predictor: NewRunPredictor, own: Mapping[tuple[int, str], Mapping[str, Any]]):
        self._predictor, self._own, self._sampled = predictor, own, predictor.sample is not None
        self._rows = {predictor.name(row): row for row in predictor.rows()}

    def table(self, pairs: Sequence[tuple[int, str, str]], qrels: Qrels) -> list[dict[str, Any]]:
        """Return a row for each measure, new run and rival."""
        involved = dict.fromkeys(name for _, *pair in pairs for name in pair)
        runs = self._predictor.runs.select(names=[name for name in self._predictor.runs.names if name in involved])
        labellings = Labellings(runs, qrels, self._predictor.measures)
        return [self._row(labellings.ends(m, name, rival), m, name, rival) for m, name, rival in pairs]

    def _row(self, ends: PairEnds, m: int, name: str, rival: str) -> dict[str, Any]:
        predictor = self._predictor
        scores = predictor.scores[m]
        judged = scores[:, predictor.runs.row(name)] - scores[:, predictor.runs.row(rival)]
        difference = float(judged.mean())
        # sums of the same numbers in another order differ in the last bit
        lowest, highest = min(float(ends.low.mean()), difference), max(float(ends.high.mean()), difference)
        made = self._predicted(m, name, rival)
        by_topic, predicted, low, high = judged, np.nan, np.nan, np.nan
        if made is not None:
            by_topic = made.by_topic
            predicted, low, high = np.clip([made.mean, made.low, made.high], lowest, highest).tolist()
        centre, critical = difference if made is None else predicted, predictor.topic_critical
        error = critical * by_topic.std(ddof=1) if len(by_topic) > 1 else np.nan
        p = float(pair_tests(np.stack([by_topic, np.zeros(len(by_topic))], axis=1)).p[0])
        if made is None:
            spread_low, spread_high = (
                critical * part.std(ddof=1) if len(part) > 1 else np.nan for part in (ends.low, ends.high)
            )
            # topics whose ends differ less than what is judged make neither end narrower
            both = min(lowest - spread_low, centre - error), max(highest + spread_high, centre + error)
        else:
            both = centre - np.hypot(centre - low, error), centre + np.hypot(high - centre, error)
        level = f"at {100 * predictor.config.confidence:.4g}%"
        ends_by = {EVERY_LABELLING: (lowest, highest), level: (low, high)}
        decided_by = next((by for by, (a, b) in ends_by.items() if a > _CLOSE or b < -_CLOSE), OPEN)
        winner = "" if decided_by == OPEN else name if ends_by[decided_by][0] > _CLOSE else rival
        if highest - lowest <= _CLOSE and abs(difference) <= _CLOSE:
            decided_by, winner = EVERY_LABELLING, "neither"
        return {
            "measure": repr(predictor.measures[m]),
            "name": name,
            "rival": rival,
            "rival_score": float(scores[:, predictor.runs.row(rival)].mean()),
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
            "unjudged": ends.unjudged,
            "exact": ends.exact,
        }

    def _predicted(self, m: int, name: str, rival: str) -> PredictedDifference | None:
        """Return what is predicted of a difference, None where nothing is."""
        own, row, predictor = self._own[m, name], self._rows[name], self._predictor
        if own["abstains"]:
            return None
        if rival in self._rows:
            return self._between_new_runs(m, name, rival)
        predicted, run, units = predictor.predicted[m], predictor.runs.row(rival), predictor.units.of_run
        # what a run that was not pooled gains by the same documents no left-out team shows
        if not predictor.evidence.tested[run] and rival in predictor.sharing(m, predictor.effects(m, row)):
            return None
        at = int(np.flatnonzero(np.flatnonzero(~np.isin(units, predictor.evidence.new)) == run)[0])
        other = predicted.ranked[row.at].by_topic[:, at] * predictor.dilution(m, row)
        half = predicted.critical_against(run) * predicted.by[predicted.chosen][row.at].spread[row.place]
        below, above = half, half
        if self._sampled:
            below, above = own["predicted"] - own["predicted_low"], own["predicted_high"] - own["predicted"]
        if not np.isfinite([below, above]).all():
            return None
        mean = own["predicted"] - float(other.mean())
        return PredictedDifference(self._by_topic(m, name) - other, mean, mean - below, mean + above)

    def _by_topic(self, m: int, name: str) -> Floats:
        """Return (topics,) what is predicted of a new run, all moved alike where their mean is another one."""
        by_topic = self._predictor.by_topic(m, self._rows[name])
        off = self._own[m, name]["predicted"] - by_topic.mean()
        return by_topic + off if abs(off) > _CLOSE else by_topic

    def _between_new_runs(self, m: int, name: str, rival: str) -> PredictedDifference | None:
        """Return the difference of two new runs; each errs by more with half of the probability that both may."""
        predictor, predicted = self._predictor, self._predictor.predicted[m]
        if self._own[m, rival]["abstains"] or self._sampled:
            return None
        calibration, pair = predicted.calibrations[predicted.chosen], [self._rows[name], self._rows[rival]]
        critical = calibration.critical(calibration.errors, (1 + predictor.config.confidence) / 2)
        half = critical * sum(predicted.by[predicted.chosen][row.at].spread[row.place] for row in pair)
        if not np.isfinite(half):
            return None
        first, second = (self._by_topic(m, of) for of in (name, rival))
        mean = self._own[m, name]["predicted"] - self._own[m, rival]["predicted"]
        return PredictedDifference(first - second, mean, mean - half, mean + half)
