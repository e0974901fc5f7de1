"""Which ranks by RBP a run can have, whatever the labels of unjudged documents are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet

#: what the documents may weigh that are not looked at, as nothing compared is so exact
_NOTHING = 1e-14


@dataclass(frozen=True)
class RankBounds:
    """The bounds of RBP, and whose documents they are.

    Attributes:
        runs: the field.
        qrels: the judgments.
        p: the persistence of RBP.
        share: (topics, runs) what a topic weighs in the mean of a run.
    """

    runs: RunSet
    qrels: Qrels
    p: float
    share: NDArray[np.float64]

    def table(self, lower: NDArray[np.float64], residual: NDArray[np.float64]) -> pd.DataFrame:
        """Return ``rank best_rank worst_rank`` of each run.

        A run's best rank is 1 + the number of runs that are better under every labelling of the unjudged documents; its
        worst counts each run that is better under some. An unjudged document that two runs share is relevant for both
        or for neither; what follows the end of a list is its own.

        Args:
            lower: (runs,) RBP with unjudged documents not relevant.
            residual: (runs,) what all of them may add.
        """
        low, high = lower, lower + residual
        # which of the columns can be better than which of the rows, the bounds of each by itself
        open_pairs = (high[None] > low[:, None]) & (high[:, None] > low[None])
        np.fill_diagonal(open_pairs, False)
        open_runs = np.flatnonzero(open_pairs.any(axis=0) & (residual > 0))
        shared = np.zeros_like(open_pairs, dtype=np.float64)
        shared[np.ix_(open_runs, open_runs)] = self._shared(open_runs)
        least = np.round(low[None] - high[:, None] + shared, DECIMALS)
        most = np.round(high[None] - low[:, None] - shared, DECIMALS)
        np.fill_diagonal(most, 0.0)
        return pd.DataFrame(
            {
                "rank": pairs.ranks(np.round(low, DECIMALS)),
                "best_rank": 1 + (least > 0).sum(axis=1),
                "worst_rank": 1 + (most > 0).sum(axis=1),
            }
        )

    def _shared(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (chosen, chosen) what the unjudged documents of two runs weigh in both: the smaller of two weights."""
        index, documents = HitIndex(self.runs.field, self.qrels.arrays.documents), self.qrels.arrays
        weight = (1 - self.p) * self.p ** np.arange(math.ceil(math.log(_NOTHING) / math.log(self.p)), dtype=float)
        found, field = np.zeros((len(chosen), len(chosen))), self.runs.field
        if not len(chosen):
            return found
        for t, row_of_code in zip(index.topics, index.rows_of_codes(index.topics, documents.labels >= 0), strict=True):
            if row_of_code is None:
                continue
            block, at = field.of(index.field_topic[t])
            lists = []
            weights = np.zeros((len(row_of_code), len(chosen)))
            for column, run in enumerate(chosen.tolist()):
                top = block.codes[block.list_of(at, run)][: len(weight)]
                unjudged = np.flatnonzero(row_of_code[top] < 0)
                lists.append(top[unjudged])
                weights[top[unjudged], column] = weight[unjudged] * self.share[t, run]
            for column, mine in enumerate(lists):
                found[column] += np.minimum(weights[mine], weights[mine, column][:, None]).sum(axis=0)
        return found
