"""Runs before and after they were re-ranked, under the labels of one scorer: what they gain, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.units import described

Floats = NDArray[np.float64]

#: what is ranked: runs as they were, the same re-ranked, or all of them together
FIELDS = ("original", "re-ranked", "both")


@dataclass(frozen=True)
class BeforeAfter:
    """Scores of runs by topic, as they were and re-ranked, under one scorer.

    Attributes:
        before: of the runs as they were.
        after: of the same runs re-ranked.
    """

    before: TopicScores
    after: TopicScores

    def of(self, field: str) -> TopicScores:
        """Return the scores of what is ranked, one of :data:`FIELDS`; of both, the runs as they were come first."""
        if field != "both":
            return self.before if field == "original" else self.after
        values = np.hstack([self.before.values, self.after.values])
        if self.before.has_topic is None or self.after.has_topic is None:
            return TopicScores(values)
        return TopicScores(values, np.hstack([self.before.has_topic, self.after.has_topic]))

    def gains(self, counts: NDArray[np.int64] | None = None) -> Floats:
        """Return (draws, runs) by how much the mean of each run is higher once it is re-ranked."""
        return self.after.means(counts) - self.before.means(counts)

    def ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (runs,) the rank of each run among all as they were, and the one that it has there re-ranked.

        Re-ranked it stands in its own place among the others, which are as they were. A rank is 1 + the number of runs
        that are strictly better.
        """
        before, after = (rounded(scores.means()[0]) for scores in (self.before, self.after))
        better = before[None, :] > after[:, None]
        np.fill_diagonal(better, val=False)
        return pairs.ranks(before).astype(np.int64), 1 + better.sum(axis=1)

    def in_best(self, best: int) -> tuple[int, int]:
        """Return how many of the best of both are re-ranked, and how many are runs as they were, ties included."""
        ranks = pairs.ranks(rounded(self.of("both").means()[0]))
        n = self.before.values.shape[1]
        return int((ranks[n:] <= best).sum()), int((ranks[:n] <= best).sum())

    def by_run(self, run_table: pd.DataFrame) -> pd.DataFrame:
        """Return one row per run: its scores and ranks before and after."""
        rank, other_rank = self.ranks()
        score, other_score = self.before.means()[0], self.after.means()[0]
        return (
            described(run_table)
            .drop(columns="pooled")
            .assign(
                score=score,
                reranked_score=other_score,
                gain=other_score - score,
                rank=rank,
                reranked_rank=other_rank,
            )
        )


def gain_numbers(scorer: BeforeAfter, people: BeforeAfter | None, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    """Return the mean gain of the runs, and by how much it is above the one under people, with the ends of each.

    Args:
        scorer: the runs under who scores.
        people: the same runs under people; None where people score.
        bootstrap: over topics, whose draws both share; None for no intervals.
    """
    found: dict[str, float] = {}
    n_topics = len(scorer.before.values)
    for name, against in (("mean_gain", None), ("excess_gain", people)):
        if name == "excess_gain" and against is None:
            found |= {name: np.nan} | ({f"{name}_low": np.nan, f"{name}_high": np.nan} if bootstrap else {})
            continue
        found[name] = float(_mean_gain(scorer, against)[0])
        if bootstrap is not None:
            drawn = np.full(1, np.nan)
            if n_topics > 1:
                drawn = np.concatenate([_mean_gain(scorer, against, counts) for counts in bootstrap.blocks(n_topics)])
            found[f"{name}_low"], found[f"{name}_high"] = bootstrap.t_interval(found[name], drawn, n_topics)
    return found


def tau_numbers(
    people: TopicScores, scorer: TopicScores, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    """Return tau_b of people's ranking and a scorer's, of all systems and of the best by people, with the ends of each.

    Args:
        people: scores under people, taken as right.
        scorer: scores of the same systems under the scorer.
        best: how many systems are the best; those that tie with the last of them are among them.
        bootstrap: over topics; None for no intervals. The best are those of all topics in every draw.
    """
    n_topics, n = people.values.shape
    first = np.flatnonzero(pairs.ranks(rounded(people.means()[0])) <= best)
    found: dict[str, float] = {"systems": n}
    for suffix, runs in (("", range(n)), ("_best", first.tolist())):
        truth, estimate = (scores.of(range(n_topics), runs) for scores in (people, scorer))
        row = ranking_agreement(truth, estimate, bootstrap, coefficients=("tau_b",))
        found |= {name.replace("tau_b", f"tau_b{suffix}"): row[name] for name in row if name.startswith("tau_b")}
    return found


def common_topics(sets: Sequence[Sequence[str]]) -> list[str]:
    """Return the topics that all sets have, in the order of the first."""
    others = [set(topics) for topics in sets[1:]]
    return [topic for topic in sets[0] if all(topic in other for other in others)]


def _mean_gain(scorer: BeforeAfter, people: BeforeAfter | None, counts: NDArray[np.int64] | None = None) -> Floats:
    gain = scorer.gains(counts).mean(axis=1)
    found: Floats = gain if people is None else gain - people.gains(counts).mean(axis=1)
    return found
