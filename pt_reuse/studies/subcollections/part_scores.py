"""Scores of systems on parts of a corpus, and how far two parts agree about pairs of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs as rank_pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import RANDOM, SHARES, PairTests, agreement_of_tests, pair_tests, winners
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import located
from pt_reuse.options import TESTS
from pt_reuse.scoring.measures import adds_up
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import of_all_topics
from pt_reuse.studies.subcollections.sources import Drawing, Part, compared
from pt_reuse.studies.subcollections.systems import RestrictedRuns, Systems

#: what pairs of parts have in common over which means are taken
SETTING = ("source", "share", "size", "other_size")
#: what is averaged over pairs of parts
_AVERAGED = (*SHARES, "tau_b")
_WITH_INTERVALS = {"agree": (0.0, 1.0), "tau_b": (-1.0, 1.0)}


@dataclass(frozen=True)
class Testing:
    """How differences are tested; without a bootstrap over topics there are no intervals."""

    test: str
    alpha: float
    correction: str
    samples: int
    seed: int
    bootstrap: TopicBootstrap | None

    def pairs(self, values: NDArray[np.float64]) -> PairTests:
        """Return the tests of all pairs of systems with these (topics, systems) scores."""
        return pair_tests(values, self.test, samples=self.samples, seed=self.seed)

    def winners(self, tests: PairTests) -> NDArray[np.int8]:
        """Return (pairs,) who is significantly better: 1 the first system, -1 the second, 0 neither."""
        return winners(tests, self.alpha, self.correction)

    @property
    def settings(self) -> dict[str, Any]:
        """Return how differences are tested, in words."""
        corrected = f"corrected for the number of pairs ({self.correction})"
        corrected = "not corrected for the number of pairs" if self.correction == "none" else corrected
        corrected = "which allows for the number of pairs" if self.test == "tukey" else corrected
        samples = {"samples": self.samples} if self.test in RANDOM else {}
        return {"test": f"{TESTS[self.test]}, two-sided, p at most {self.alpha:g}, {corrected}", **samples}


@dataclass(frozen=True)
class ScoredPart:
    """What systems score on a part."""

    counts: NDArray[np.bool_]  # (topics,) whether a topic counts
    means: NDArray[np.float64]  # (measures, systems) over the topics that count
    tests: list[PairTests]  # of all pairs of systems, for each measure
    # for each measure (resamples, pairs) who is better, and (resamples, systems) means, in each resample of topics
    drawn: list[tuple[NDArray[np.int8], NDArray[np.float64]]]
    judged: int  # how many judgments the part has
    retrieved: float  # documents in a list of a run, on average
    emptied: int  # lists of a run and a topic without a document


@dataclass(frozen=True)
class PartTask:
    """A part to be scored: its documents, their judgments, and whether each topic counts."""

    name: str
    systems: RestrictedRuns | Systems[Any]
    docnos: Sequence[str]
    qrels: Qrels
    counts: NDArray[np.bool_]
    measures: Sequence[ir_measures.Measure]
    testing: Testing

    def run(self) -> ScoredPart:
        """Have the systems on the part, score them, and test all pairs."""
        with located(f"part {self.name!r}"):
            runs = self.systems.on_part(self.docnos).select(self.systems.names)
            values = np.empty((len(self.measures), len(self.qrels.topics), len(runs)))
            for block in rescore(runs, self.qrels, self.measures):
                values[:, block.topics.start : block.topics.stop] = block.base
        every = None if self.counts.all() else np.repeat(self.counts[:, None], len(runs), axis=1)
        lengths = _lengths(runs, self.qrels.topics)[self.counts]
        bootstrap, added = self.testing.bootstrap, adds_up(self.measures).tolist()
        by_topic = [TopicScores(scores, every, add) for scores, add in zip(values, added, strict=True)]
        return ScoredPart(
            counts=self.counts,
            means=of_all_topics(values, self.measures, every),
            tests=[self.testing.pairs(scores[self.counts]) for scores in values],
            drawn=[self._drawn(bootstrap, scores) for scores in by_topic] if bootstrap else [],
            judged=len(self.qrels),
            retrieved=float(lengths.mean()),
            emptied=int((lengths == 0).sum()),
        )

    def _drawn(self, bootstrap: TopicBootstrap, scores: TopicScores) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Return (resamples, pairs) who is significantly better in each resample of topics, and the systems' means."""
        resamples = bootstrap.counts(len(self.counts))
        samples = (np.repeat(scores.values, np.where(self.counts, times, 0), axis=0) for times in resamples)
        better = [self.testing.winners(self.testing.pairs(sample)) for sample in samples]
        return np.stack(better), scores.means(resamples)


def _lengths(runs: RunSet, topics: Sequence[str]) -> NDArray[np.int64]:
    rows = [runs.field.topic_row.get(topic, -1) for topic in topics]
    lengths: NDArray[np.int64] = np.vstack([runs.field.lengths, np.zeros((1, len(runs)), dtype=np.int64)])[rows]
    return lengths


@dataclass(frozen=True)
class ScoredParts:
    """All parts, what systems score on each, and the tables of these."""

    parts: list[Part]
    scored: list[ScoredPart]
    measures: list[str]
    testing: Testing

    def by_pair(self, drawing: Drawing) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """Return a row per pair of parts and measure, and (rows, numbers, resamples) of their resamples of topics."""
        rows, drawn = [], []
        for i, j in compared(self.parts):
            first, second = self.parts[i], self.parts[j]
            key = {"part": first.name, "other_part": second.name, "draw": first.draw, **drawing.setting(first, second)}
            for m, measure in enumerate(self.measures):
                numbers, resampled = self._compared((i, m), (j, m))
                rows.append({**key, "measure": measure, **numbers})
                drawn.append(resampled)
        return pd.DataFrame(rows).astype({"share": float, "size": "Int64", "other_size": "Int64"}), np.array(drawn)

    def between_measures(self) -> pd.DataFrame:
        """Return a row per part and pair of measures."""
        rows = [
            {"part": part.name, "draw": part.draw, "measure": self.measures[m], "other_measure": self.measures[k]}
            | self._compared((i, m), (i, k))[0]
            for i, part in enumerate(self.parts)
            for m, k in combinations(range(len(self.measures)), 2)
        ]
        return pd.DataFrame(rows, columns=["part", "draw", "measure", "other_measure", *_AVERAGED])

    def by_part(self, by_pair: pd.DataFrame) -> pd.DataFrame:
        """Return a row per part and measure: how many pairs of systems differ significantly, how others agree."""
        ends = pd.concat([by_pair.assign(part=by_pair[name]) for name in ("part", "other_part")])
        agreed = dict(iter(ends.groupby(["part", "draw", "measure"], sort=False)))
        rows = []
        for part, scored in zip(self.parts, self.scored, strict=True):
            for measure, tests, means in zip(self.measures, scored.tests, scored.means, strict=True):
                differs, others = self.testing.winners(tests) != 0, agreed[part.name, part.draw, measure]
                spread = standard_error(others["agree"].to_numpy(), others["draw"].to_numpy())
                significance = (len(differs), int(differs.sum()), differs.mean(), means.min(), means.max())
                agreement = (others["agree"].mean(), spread, others["tau_b"].mean())
                rows.append((part.name, part.draw, measure, *significance, *agreement))
        numbers = ["pairs", "significant", "significant_share", "least", "most", "agree", "agree_se", "tau_b"]
        return pd.DataFrame(rows, columns=["part", "draw", "measure", *numbers])

    def table(self, added: int) -> pd.DataFrame:
        """Return a row per part: what it is, and what is left of judgments and runs on it."""
        of_part = [(part.name, part.draw, part.source, part.share, len(part.documents)) for part in self.parts]
        found = pd.DataFrame(of_part, columns=["part", "draw", "source", "share", "drawn"]).astype({"share": float})
        return found.assign(
            documents=found["drawn"] + added,
            judged=[scored.judged for scored in self.scored],
            topics=[int(scored.counts.sum()) for scored in self.scored],
            per_list=[scored.retrieved for scored in self.scored],
            empty_lists=[scored.emptied for scored in self.scored],
        )

    def _compared(self, one: tuple[int, int], other: tuple[int, int]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Return the numbers of two (part, measure), and (numbers, resamples) of those with intervals."""
        (i, m), (j, k), testing = one, other, self.testing
        a, b = self.scored[i], self.scored[j]
        numbers = agreement_of_tests(a.tests[m], b.tests[k], testing.alpha, testing.correction).row()
        numbers["tau_b"] = _tau(a.means[m], b.means[k])
        if testing.bootstrap is None:
            return numbers, np.empty((len(_WITH_INTERVALS), 0))
        (better, means), (others_better, others_means) = a.drawn[m], b.drawn[k]
        taus = [_tau(x, y) for x, y in zip(means, others_means, strict=True)]
        resampled = np.stack([_agree(better, others_better), np.array(taus)])
        for (name, within), values in zip(_WITH_INTERVALS.items(), resampled, strict=True):
            ends = testing.bootstrap.interval(numbers[name], values, within=within)
            numbers[f"{name}_low"], numbers[f"{name}_high"] = ends
        return numbers, resampled


def _tau(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return tau_b of two (systems,) means; NaN where one side ties all."""
    rounded = np.round(one, DECIMALS), np.round(other, DECIMALS)[None]
    return float(rank_pairs.coefficients(*rounded, ("tau_b",))["tau_b"][0])


def _agree(one: NDArray[np.int8], other: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return (resamples,) agree-SS_a of two (resamples, pairs) of winners; NaN where nothing is significant."""
    alike = 2 * ((one == other) & (one != 0)).sum(axis=1)
    return _ratio(alike, (one != 0).sum(axis=1) + (other != 0).sum(axis=1))


def _ratio(parts: NDArray[Any], wholes: NDArray[Any]) -> NDArray[np.float64]:
    return np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes > 0)


def averaged(
    rows: pd.DataFrame,
    keys: Sequence[str],
    counted: str,
    drawn: NDArray[np.float64] | None = None,
    bootstrap: TopicBootstrap | None = None,
) -> pd.DataFrame:
    """Return means over rows with the same keys, how many these are under the name `counted`, and standard errors.

    With (rows, numbers, resamples) of the numbers that have intervals, there are intervals over topics.
    """
    means = []
    for key, alike in rows.groupby(list(keys), sort=False, dropna=False):
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        row |= {counted: len(alike), "draws": alike["draw"].nunique()}
        for name in _AVERAGED:
            row[name] = alike[name].mean()
            row[f"{name}_se"] = standard_error(alike[name].to_numpy(dtype=float), alike["draw"].to_numpy())
        if bootstrap is not None and drawn is not None:
            for i, (name, within) in enumerate(_WITH_INTERVALS.items()):
                values = drawn[alike.index, i]
                resampled = _ratio(np.nansum(values, axis=0), (~np.isnan(values)).sum(axis=0))
                row[f"{name}_low"], row[f"{name}_high"] = bootstrap.interval(float(row[name]), resampled, within=within)
        means.append(row)
    return pd.DataFrame(means)


def standard_error(values: NDArray[np.float64], draw: NDArray[np.int64]) -> float:
    """Return the standard error of the mean of (rows,) values that a bootstrap over their draws comes to.

    Whole draws are drawn again where there are several, else the values; NaN counts nowhere, and of one value is left.
    """
    known = ~np.isnan(values)
    values, draw = values[known], draw[known]
    if len(values) < 2:
        return float("nan")
    several = len(np.unique(draw)) > 1
    units = np.unique(draw, return_inverse=True)[1] if several else np.arange(len(values))
    # the mean is a ratio of sums over units, since a unit may have fewer values than another
    off = np.bincount(units, values - values.mean())
    return float(np.sqrt((off**2).sum()) / len(values))
