"""A small simulated field of runs: to try things on and to test with, not evidence of anything."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._report import Column, Digits, Report
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet, as_runs
from pt_reuse.errors import checked_seed, count, positive, whole
from pt_reuse.pooling.depth import checked_depth, depth_pool
from pt_reuse.result import Record

#: type -> (what it sees of lexical relevance, of semantic relevance, noise)
_SYSTEMS = {"lexical": (1.0, 0.25, 0.75), "neural": (0.45, 1.0, 0.75), "manual": (0.9, 0.8, 0.5)}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SimulatedField(Record):
    """A simulated field; see :func:`simulate_field`.

    Attributes:
        results: what the runs retrieve, one row each: ``name qid docno score rank``.
        run_table: one row per run: ``name team type pooled``.
        labels: ``qid docno label`` of every document that any run retrieves.
        depth: the depth of the pool that was judged.
    """

    title = "SimulatedField (simulated, not real)"
    valid_for = "a field drawn at random from seed {seed}."
    not_covered = "any real collection."

    results: pd.DataFrame
    run_table: pd.DataFrame
    labels: pd.DataFrame
    depth: int

    @cached_property
    def runs(self) -> RunSet:
        """Return the runs, with teams, types and pooled flags."""
        return as_runs(self.results).with_metadata(metadata=self.run_table)

    @cached_property
    def qrels(self) -> Qrels:
        """Return graded labels (0, 1, 2) of the depth-k pool of the pooled runs."""
        return self.all_qrels.restrict(depth_pool(self.runs, depth=self.depth))

    @cached_property
    def all_qrels(self) -> Qrels:
        """Return labels of every document that any run retrieves, which no real collection has."""
        return Qrels(self.labels)

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"results": self.results, "run_table": self.run_table, "labels": self.labels}

    def answers(self) -> list[str]:
        return [f"{self.runs!r}; {self.qrels!r}; pool depth {self.depth}"]

    def report(self) -> Report:
        by_type = self.run_table.groupby("type", sort=False)
        counts = {"Runs": by_type["name"].size(), "Teams": by_type["team"].nunique(), "Pooled": by_type["pooled"].sum()}
        numbers = [Column(heading, column.tolist(), Digits.COUNT) for heading, column in counts.items()]
        caption = f"{self.title}: {count(len(self.qrels.topics), 'topic')}, pool depth {self.depth}."
        return Report([Column("Type", list(by_type.groups)), *numbers], caption=caption, notes=self.conditions())

    def _shown(self) -> pd.DataFrame:
        return self.run_table

    def _rest(self) -> str:
        return "runs in .run_table"


def simulate_field(
    *, seed: int = 8, n_topics: int = 25, n_docs: int = 2000, n_teams: int = 9, length: int = 100, depth: int = 10
) -> SimulatedField:
    """Simulate a field of runs with teams, types, graded labels and unjudged documents.

    Every document has a true grade for every topic and two traits correlated with it: the share of the query's words,
    and similarity in meaning; some relevant documents are low in one of the two. A system scores documents by a
    weighted sum of the traits and noise. The weights depend on the type (lexical, neural, manual) and vary a little by
    team; runs of one team share most of their noise. The last neural team was not pooled. The judgments are the true
    grades of the depth-k pool of the others.

    Args:
        seed: the same seed gives the same field in every process.
        n_topics: topics, >= 1.
        n_docs: documents, >= 20.
        n_teams: teams, >= 3, of two runs each; types take turns.
        length: documents a run retrieves per topic, >= 1 and at most all.
        depth: pool depth, >= 1.

    Returns:
        SimulatedField: ``.runs``, ``.qrels``, ``.all_qrels``, ``.depth``.

    Raises:
        InputError: a number that is too small.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=8)
        >>> len(field.runs), field.runs.teams[:2], field.runs.types
        (18, ['team-1', 'team-2'], ['lexical', 'neural', 'manual'])
    """
    n_topics = positive("n_topics", n_topics, "topics")
    n_docs = whole("n_docs", n_docs, "documents", least=20)
    n_teams = whole("n_teams", n_teams, "teams", least=3)
    length = positive("length", length, "documents per run and topic")
    depth = checked_depth(depth)
    random = np.random.default_rng(checked_seed(seed))
    grades = (random.random((n_topics, n_docs)) < 0.03).astype(int)
    grades += grades * (random.random((n_topics, n_docs)) < 0.35)
    lexical = random.gumbel(size=(n_topics, n_docs)) * 0.6 + grades * random.choice([0.2, 1.6], size=grades.shape)
    semantic = random.gumbel(size=(n_topics, n_docs)) * 0.6 + grades * random.choice([0.4, 1.5], size=grades.shape)
    docnos = np.array([f"doc{d:05d}" for d in range(n_docs)], dtype=object)
    qids = np.array([str(t + 1) for t in range(n_topics)], dtype=object)

    frames, table = [], []
    kind_of = [list(_SYSTEMS)[team % len(_SYSTEMS)] for team in range(n_teams)]
    unpooled = max(team for team in range(n_teams) if kind_of[team] == "neural")
    for team, kind in enumerate(kind_of):
        words, meaning, noise = _SYSTEMS[kind]
        own = random.normal(size=(n_topics, n_docs))
        for variant in "ab":
            name = f"{kind[:3]}{team + 1}{variant}"
            weights = np.array([words, meaning]) * random.uniform(0.85, 1.15, size=2)
            scores = weights[0] * lexical + weights[1] * semantic
            scores = scores + noise * (0.9 * own + 0.4 * random.normal(size=scores.shape))
            frames.append(_top(scores.round(4), qids, docnos, length).assign(name=name))
            table.append({"name": name, "team": f"team-{team + 1}", "type": kind, "pooled": team != unpooled})
    results, run_table = pd.concat(frames, ignore_index=True), pd.DataFrame(table)
    labels = {"qid": np.repeat(qids, n_docs), "docno": np.tile(docnos, n_topics), "label": grades.ravel()}
    given = {"n_topics": n_topics, "n_docs": n_docs, "n_teams": n_teams, "length": length, "depth": depth}
    return SimulatedField(
        results=results,
        run_table=run_table,
        labels=Qrels(pd.DataFrame(labels)).restrict(results).to_frame(),
        depth=depth,
        settings={"seed": seed, **given},
    )


def _top(scores: NDArray, qids: NDArray, docnos: NDArray, length: int) -> pd.DataFrame:
    length = min(length, scores.shape[1])
    best = np.empty((len(scores), length), dtype=np.int64)
    for row, of_topic in zip(best, -scores, strict=True):
        # of documents of one score the first comes first; what cannot be among the best is not sorted
        some = np.flatnonzero(of_topic <= np.partition(of_topic, length - 1)[length - 1])
        row[:] = some[np.argsort(of_topic[some], kind="stable")[:length]]
    return pd.DataFrame(
        {
            "qid": np.repeat(qids, best.shape[1]),
            "docno": docnos[best.ravel()],
            "score": np.take_along_axis(scores, best, axis=1).ravel(),
            "rank": np.tile(np.arange(best.shape[1]), len(qids)),
        }
    )
