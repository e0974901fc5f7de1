"""Scores of systems on parts of a corpus, and how far two parts agree about pairs of systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._choices import TESTS
from pt_reuse._errors import located
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays import pairs as rank_pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import RANDOM, SHARES, PairTests, agreement_of_tests, pair_tests, winners
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.topic_sets import mean_over_topics
from pt_reuse.studies.corpus_parts.sources import PairOfParts, Part
from pt_reuse.studies.corpus_parts.systems import OnParts


@dataclass(frozen=True)
class Testing:
    """How differences are tested.

    Attributes:
        test: one of :data:`~pt_reuse.arrays.significance.TESTS`.
        alpha: the level.
        correction: one of :data:`~pt_reuse.arrays.significance.CORRECTIONS`.
        samples: of a test that draws at random.
        seed: of what it draws.
        bootstrap: over topics; None for no intervals.
    """

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
    def in_settings(self) -> dict[str, Any]:
        """Return how differences are tested, in words."""
        corrected = {"none": "not corrected for the number of pairs"}.get(
            self.correction, f"corrected for the number of pairs ({self.correction})"
        )
        if self.test == "tukey":
            corrected = "which allows for the number of pairs"
        return {
            "test": f"{TESTS[self.test]}, two-sided, p at most {self.alpha:g}, {corrected}",
            **({"samples": self.samples} if self.test in RANDOM else {}),
        }


@dataclass(frozen=True)
class ScoredPart:
    """What systems score on a part.

    Attributes:
        values: (measures, topics, systems), the topics those of all judgments.
        counts: (topics,) whether a topic counts on this part.
        tests: for each measure the tests of all pairs of systems, over the topics that count.
        drawn: for each measure (resamples, pairs) who is significantly better in each resample of topics; none without
            a bootstrap.
        judged: how many judgments the part has.
        retrieved: documents in a list of a run, on average.
        emptied: lists of a run and a topic without a document.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.bool_]
    tests: list[PairTests]
    drawn: list[NDArray[np.int8]]
    judged: int
    retrieved: float
    emptied: int

    def topic_scores(self, measure: int) -> TopicScores:
        """Return the scores by one measure, and which topics count."""
        values = self.values[measure]
        if self.counts.all():
            return TopicScores(values)
        return TopicScores(values, np.repeat(self.counts[:, None], values.shape[1], axis=1))

    def means(self, measure: int) -> NDArray[np.float64]:
        """Return (systems,) means over the topics that count, as scores have them."""
        return mean_over_topics(self.values[measure], self.topic_scores(measure).has_topic)


@dataclass(frozen=True)
class PartTask:
    """What one job works on.

    Attributes:
        name: of the part.
        systems: what can be had on a part.
        docnos: of the part.
        qrels: the judgments of its documents.
        counts: (topics,) whether a topic counts.
        measures: the measures.
        testing: how differences are tested.
    """

    name: str
    systems: OnParts
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
        tests = [self.testing.pairs(mine[self.counts]) for mine in values]
        bootstrap = self.testing.bootstrap
        drawn = [] if bootstrap is None else [self._drawn(mine, bootstrap) for mine in values]
        lengths = _lengths(runs, self.qrels.topics)[self.counts]
        return ScoredPart(
            values, self.counts, tests, drawn, len(self.qrels), float(lengths.mean()), int((lengths == 0).sum())
        )

    def _drawn(self, values: NDArray[np.float64], bootstrap: TopicBootstrap) -> NDArray[np.int8]:
        """Return (resamples, pairs) who is significantly better in each resample of the topics."""
        found = []
        for times in bootstrap.counts(len(values)):
            sample = np.repeat(values, np.where(self.counts, times, 0), axis=0)
            found.append(self.testing.winners(self.testing.pairs(sample)))
        return np.stack(found)


def scored_parts(tasks: Iterable[PartTask], n_tasks: int, *, n_jobs: int | None, verbose: bool) -> list[ScoredPart]:
    """Run tasks by joblib, and return what each returns, in order."""
    return list(run_jobs(tasks, n_tasks, desc="parts", unit="part", n_jobs=n_jobs, verbose=verbose))


def _lengths(runs: RunSet, topics: Sequence[str]) -> NDArray[np.int64]:
    """Return (topics, runs): how many documents each list has."""
    rows = [runs.field.topic_row.get(topic, -1) for topic in topics]
    lengths: NDArray[np.int64] = np.vstack([runs.field.lengths, np.zeros((1, len(runs)), dtype=np.int64)])[rows]
    return lengths


#: what pairs of parts have in common over which means are taken
SETTING = ("source", "share", "size", "other_size")
#: what is averaged over pairs of parts
AVERAGED = (*SHARES, "tau_b")
_WITH_INTERVALS = {"agree": (0.0, 1.0), "tau_b": (-1.0, 1.0)}


class Agreements:
    """Compares scored parts, and scored measures on a part.

    Args:
        parts: the parts.
        scored: what the systems score on each.
        measures: names of the measures.
        testing: how differences are tested.
    """

    def __init__(self, parts: Sequence[Part], scored: Sequence[ScoredPart], measures: Sequence[str], testing: Testing):
        self.parts, self.scored, self.measures, self.testing = parts, scored, measures, testing
        bootstrap = testing.bootstrap
        n_topics = len(scored[0].counts)
        self._times = None if bootstrap is None else bootstrap.counts(n_topics)
        self._means: dict[tuple[int, int], NDArray[np.float64]] = {}

    def of_pairs(self, pairs: Iterable[PairOfParts]) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """Return a row per pair of parts and measure, and (rows, numbers, resamples) of their resamples of topics."""
        rows, drawn = [], []
        for pair in pairs:
            one, other = self.parts[pair.first], self.parts[pair.second]
            for m, measure in enumerate(self.measures):
                at = ((pair.first, m), (pair.second, m))
                key = {"part": one.name, "other_part": other.name, "draw": one.draw, **asdict(pair.setting)}
                numbers, resampled = self._compared(*at)
                rows.append({**key, "measure": measure, **numbers})
                drawn.append(resampled)
        return pd.DataFrame(rows).astype({"share": float, "size": "Int64", "other_size": "Int64"}), np.array(drawn)

    def of_measures(self) -> pd.DataFrame:
        """Return a row per part and pair of measures."""
        rows = []
        for i, part in enumerate(self.parts):
            for m, k in combinations(range(len(self.measures)), 2):
                key = {"part": part.name, "draw": part.draw, "measure": self.measures[m]}
                rows.append({**key, "other_measure": self.measures[k], **self._compared((i, m), (i, k))[0]})
        return pd.DataFrame(rows, columns=None if rows else ["part", "draw", "measure", "other_measure", *AVERAGED])

    def _compared(self, one: tuple[int, int], other: tuple[int, int]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Return the numbers of two (part, measure), and (numbers, resamples) of those with intervals."""
        tests = [self.scored[part].tests[measure] for part, measure in (one, other)]
        numbers = agreement_of_tests(tests[0], tests[1], self.testing.alpha, self.testing.correction).row()
        numbers["tau_b"] = tau_of(*(self.scored[part].means(measure) for part, measure in (one, other)))
        if self.testing.bootstrap is None or self._times is None:
            return numbers, np.empty((len(_WITH_INTERVALS), 0))
        a, b = (self.scored[part].drawn[measure] for part, measure in (one, other))
        agreed = agreement_of_draws(a, b)
        means = [self._drawn_means(*at) for at in (one, other)]
        taus = np.array([tau_of(x, y) for x, y in zip(*means, strict=True)])
        resampled = np.stack([agreed, taus])
        for (name, within), values in zip(_WITH_INTERVALS.items(), resampled, strict=True):
            ends = self.testing.bootstrap.interval(numbers[name], values, within=within)
            numbers[f"{name}_low"], numbers[f"{name}_high"] = ends
        return numbers, resampled

    def _drawn_means(self, part: int, measure: int) -> NDArray[np.float64]:
        if (part, measure) not in self._means:
            scores: TopicScores = self.scored[part].topic_scores(measure)
            self._means[part, measure] = scores.means(self._times)
        return self._means[part, measure]


def tau_of(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return tau-b of two (systems,) means; NaN where one side ties all."""
    return float(
        rank_pairs.coefficients(np.round(one, DECIMALS), np.round(other, DECIMALS)[None], ("tau_b",))["tau_b"][0]
    )


def agreement_of_draws(one: NDArray[np.int8], other: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return (resamples,) agree-SS_a of two (resamples, pairs) of winners; NaN where nothing is significant."""
    alike = 2 * ((one == other) & (one != 0)).sum(axis=1)
    weight = (one != 0).sum(axis=1) + (other != 0).sum(axis=1)
    return np.divide(alike, weight, out=np.full(len(one), np.nan), where=weight > 0)


def averaged(
    rows: pd.DataFrame,
    keys: Sequence[str],
    counted: str,
    drawn: NDArray[np.float64] | None = None,
    bootstrap: TopicBootstrap | None = None,
) -> pd.DataFrame:
    """Return means over rows, with their standard errors, and intervals over topics where there are resamples.

    Args:
        rows: with the keys, ``draw`` and the numbers.
        keys: of the rows over which a mean is taken.
        counted: what the number of these rows is called.
        drawn: (rows, numbers, resamples) of the numbers that have intervals.
        bootstrap: that made these.
    """
    found = []
    for key, mine in rows.groupby(list(keys), sort=False, dropna=False):
        row: dict[str, object] = dict(zip(keys, key, strict=True))
        row[counted] = len(mine)
        row["draws"] = mine["draw"].nunique()
        for name in AVERAGED:
            row[name] = mine[name].mean()
            row[f"{name}_se"] = standard_error(mine[name].to_numpy(dtype=float), mine["draw"].to_numpy())
        if bootstrap is not None and drawn is not None:
            of_rows = drawn[rows.index.get_indexer(mine.index)]
            for i, (name, within) in enumerate(_WITH_INTERVALS.items()):
                known = ~np.isnan(of_rows[:, i])
                total = np.where(known, of_rows[:, i], 0).sum(axis=0)
                means = np.divide(total, known.sum(axis=0), out=np.full(len(total), np.nan), where=known.any(axis=0))
                ends = bootstrap.interval(float(mine[name].mean()), means, within=within)
                row[f"{name}_low"], row[f"{name}_high"] = ends
        found.append(row)
    return pd.DataFrame(found)


def standard_error(values: NDArray[np.float64], draw: NDArray[np.int64]) -> float:
    """Return the standard error of a mean that a bootstrap comes to with ever more resamples; NaN for one value alone.

    What is drawn again are whole draws, each with its values, where there are several; else the values. Values that are
    NaN count nowhere.

    Args:
        values: (rows,) what the mean is of.
        draw: (rows,) the draw that each belongs to.
    """
    known = ~np.isnan(values)
    values, draw = values[known], draw[known]
    several = len(np.unique(draw)) > 1
    units = np.unique(draw, return_inverse=True)[1] if several else np.arange(len(values))
    if len(values) < 2:
        return float("nan")
    # the mean is a ratio of sums over units, since a unit may have fewer values than another
    off = np.bincount(units, values - values.mean())
    return float(np.sqrt((off**2).sum()) / len(values))


def part_table(parts: Sequence[Part], scored: Sequence[ScoredPart], added: int) -> pd.DataFrame:
    """Return a row per part: what it is, and what is left of judgments and runs on it."""
    rows = [
        {
            "part": part.name,
            "draw": part.draw,
            "source": part.source,
            "share": part.share,
            "drawn": len(part.documents),
            "documents": len(part.documents) + added,
            "judged": found.judged,
            "topics": int(found.counts.sum()),
            "per_list": found.retrieved,
            "empty_lists": found.emptied,
        }
        for part, found in zip(parts, scored, strict=True)
    ]
    return pd.DataFrame(rows).astype({"share": float})


def tested_table(
    parts: Sequence[Part], scored: Sequence[ScoredPart], measures: Sequence[str], found: NDArray[np.int8]
) -> pd.DataFrame:
    """Return a row per part and measure: how many pairs of systems differ significantly, and which mean is best.

    Args:
        parts: the parts.
        scored: what the systems score on each.
        measures: names of the measures.
        found: (parts, measures, pairs) who is significantly better.
    """
    rows: list[Mapping[str, object]] = []
    for i, (part, one) in enumerate(zip(parts, scored, strict=True)):
        for m, measure in enumerate(measures):
            n = int((found[i, m] != 0).sum())
            mean = one.means(m)
            rows.append(
                {
                    "part": part.name,
                    "draw": part.draw,
                    "measure": measure,
                    "pairs": found.shape[2],
                    "significant": n,
                    "significant_share": n / found.shape[2],
                    "least": float(mean.min()),
                    "most": float(mean.max()),
                }
            )
    return pd.DataFrame(rows)
