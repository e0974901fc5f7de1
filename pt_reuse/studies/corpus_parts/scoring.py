"""Systems scored and tested on parts of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._choices import TESTS
from pt_reuse._errors import located
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.significance import RANDOM, PairTests, pair_tests, winners
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.topic_sets import mean_over_topics
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
