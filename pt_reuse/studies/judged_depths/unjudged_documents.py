"""UnjudgedDocuments: how many of the documents at the top of runs have no judgment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import described
from pt_reuse.studies.judged_depths.judged_lists import JudgedLists


@dataclass(frozen=True)
class UnjudgedDocuments:
    """How many of the documents at the top of runs have no judgment.

    Attributes:
        cutoffs: the ranks down to which documents are counted.
        topics: the topics of the judgments.
        run_table: ``name team type pooled``, one row per run.
        documents: (cutoffs, topics, runs) how many documents a run returns down to a cutoff.
        unjudged: (cutoffs, topics, runs) how many of them have no judgment.
    """

    cutoffs: Sequence[int]
    topics: list[str]
    run_table: pd.DataFrame
    documents: NDArray[np.int64]
    unjudged: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        runs: RunSet,
        qrels: Qrels,
        cutoffs: Sequence[int],
        *,
        lists: JudgedLists | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> UnjudgedDocuments:
        """Count the documents at the top of runs, and those of them that have no judgment."""
        counted = JudgedLists.of(runs, qrels, cutoffs, n_jobs=n_jobs, verbose=verbose) if lists is None else lists
        return cls(
            cutoffs=cutoffs,
            topics=qrels.topics,
            run_table=described(runs.run_table),
            documents=counted.documents,
            unjudged=counted.documents - counted.judged,
        )

    @property
    def shares(self) -> NDArray[np.float64]:
        """Return (cutoffs, topics, runs): ``Unjudged@k``, 1 on a topic for which a run returns nothing."""
        return np.where(self.documents > 0, self.unjudged / np.maximum(self.documents, 1), 1.0)

    @property
    def of_cutoff(self) -> NDArray[np.float64]:
        """Return (cutoffs, topics, runs): ``Unjudged(of_cutoff=True)@k``, whose places left empty count as judged."""
        return self.unjudged / np.array(self.cutoffs, dtype=np.float64).reshape(-1, 1, 1)

    def by_run(self) -> pd.DataFrame:
        """Return one row per run, the one with most unjudged at the first cutoff first.

        The columns are ``name team type pooled topics`` and for each cutoff k ``Unjudged@k``, the mean over the topics,
        ``documents@k`` and ``unjudged@k``, the numbers behind it over all topics.
        """
        table = self.run_table.reset_index(drop=True).assign(topics=(self.documents[0] > 0).sum(axis=0))
        for c, cutoff in enumerate(self.cutoffs):
            table[f"Unjudged@{cutoff}"] = self.shares[c].mean(axis=0)
            table[f"documents@{cutoff}"] = self.documents[c].sum(axis=0)
            table[f"unjudged@{cutoff}"] = self.unjudged[c].sum(axis=0)
        return table.sort_values(f"Unjudged@{self.cutoffs[0]}", ascending=False, kind="stable", ignore_index=True)

    def by_unit(self, by: str) -> pd.DataFrame:
        """Return one row per team, type or family, the mean of its runs and the numbers of them all, the worst first.

        Args:
            by: ``"team"``, ``"type"`` or ``"family"``.
        """
        means = {f"Unjudged@{k}": (f"Unjudged@{k}", "mean") for k in self.cutoffs}
        sums = {f"{what}@{k}": (f"{what}@{k}", "sum") for k in self.cutoffs for what in ("documents", "unjudged")}
        groups = self.by_run().groupby(by, sort=False)
        table = groups.agg(runs=("name", "size"), **means, **sums).reset_index()
        ordered = [column for k in self.cutoffs for column in (f"Unjudged@{k}", f"documents@{k}", f"unjudged@{k}")]
        first = f"Unjudged@{self.cutoffs[0]}"
        return table.sort_values(first, ascending=False, kind="stable", ignore_index=True)[[by, "runs", *ordered]]

    def by_topic(self) -> pd.DataFrame:
        """Return one row per run, topic and cutoff: ``name qid cutoff documents unjudged Unjudged``."""
        n_cutoffs, n_topics, n_runs = self.documents.shape
        return pd.DataFrame(
            {
                "name": np.repeat(self.run_table["name"].to_numpy(dtype=object), n_topics * n_cutoffs),
                "qid": np.tile(np.repeat(np.array(self.topics, dtype=object), n_cutoffs), n_runs),
                "cutoff": np.tile(np.array(self.cutoffs), n_runs * n_topics),
                "documents": self.documents.transpose(2, 1, 0).ravel(),
                "unjudged": self.unjudged.transpose(2, 1, 0).ravel(),
                "Unjudged": self.shares.transpose(2, 1, 0).ravel(),
            }
        )
