"""Scores: systems x topics x measures."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, door
from pt_reuse._result import Record
from pt_reuse.engine import pairs
from pt_reuse.scoring.agreement import UNNAMED, Agreement, checked_names, compare_scores
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.topic_sets import mean_over_topics
from pt_reuse.stats.correlation import DECIMALS


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scores(Record):
    """Scores of every run on every topic under every measure; made by :func:`score`.

    Attributes:
        run_table: one row per run with ``name``, ``team`` and ``type``.
        topics: topic names, those of the qrels.
        measures: measures as ir_measures writes them, ``"nDCG@10"``.
        values: (measures, topics, runs) array.
        complete: whether means are over all topics, or over those that a run has.
        has_topic: (topics, runs) whether the run has documents for the topic.
        settings: ranking order, topic set, and where each measure was computed.
    """

    run_table: pd.DataFrame
    topics: list[str]
    measures: list[str]
    values: NDArray[np.float64]
    complete: bool
    has_topic: NDArray[np.bool_]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables that `save` writes: ``mean``, ``ranks`` and ``run_table``."""
        return {"mean": self.mean, "ranks": self.ranks, "run_table": self.run_table}

    @property
    def names(self) -> list[str]:
        """Return the run names."""
        return self.run_table["name"].tolist()

    @property
    def mean_values(self) -> NDArray[np.float64]:
        """Return (measures, runs): the mean over the topic set."""
        return mean_over_topics(self.values, None if self.complete else self.has_topic)

    @property
    def mean(self) -> pd.DataFrame:
        """Return one row per run: ``name`` and the mean of each measure, also of counts that others add up (NumRet)."""
        return self._frame(self.mean_values)

    @property
    def ranks(self) -> pd.DataFrame:
        """Return one row per run: ``name`` and its rank under each measure, 1 + the number of strictly better runs.

        Means are compared after rounding to 12 decimals, so that equal runs tie.
        """
        return self._frame(pairs.ranks(np.round(self.mean_values, DECIMALS)))

    @property
    def per_topic(self) -> pd.DataFrame:
        """Return ``name qid measure value``, one row each, as pt.Experiment's ``perquery`` does."""
        n_measures, n_topics, n_runs = self.values.shape
        return pd.DataFrame(
            {
                "name": np.repeat(np.array(self.names, dtype=object), n_topics * n_measures),
                "qid": np.tile(np.repeat(np.array(self.topics, dtype=object), n_measures), n_runs),
                "measure": np.tile(np.array(self.measures, dtype=object), n_runs * n_topics),
                "value": self.values.transpose(2, 1, 0).ravel(),
            }
        )

    @door
    def of(self, measure: MeasureLike) -> pd.DataFrame:
        """Return one measure as a table, a row per topic and a column per run."""
        values = self.values[self.measures.index(measure_among(self.measures, measure))]
        return pd.DataFrame(values, index=pd.Index(self.topics, name="qid"), columns=self.names)

    @door
    def compare(self, other: Scores, names: tuple[str, str] = UNNAMED) -> Agreement:
        """Compare the rankings of systems: these scores are the truth, `other` the estimate.

        Args:
            other: scores of the same runs under the same measures, for example under other judgments.
            names: what to call these scores and the others, such as ``("complete", "lexical pool")``: the Agreement
                bears the names in what it prints, draws and saves.

        Returns:
            Agreement: per measure the correlations and largest changes of rank, per run its changes, per topic tau_b.

        Raises:
            InputError: other runs or measures, or names that are not two texts that differ.

        Example:
            >>> import pt_reuse as ptr
            >>> field = ptr.simulate_field(seed=7)
            >>> truth, pooled = (ptr.score(field.runs, q, "AP") for q in (field.all_qrels, field.qrels))
            >>> truth.compare(pooled, names=("complete", "depth 10")).headline()
            'depth 10 against complete: AP tau_b 0.7516, drop 3'
        """
        names = checked_names(names)
        if not isinstance(other, Scores):
            raise InputError(f"expected Scores, got {type(other).__name__}.", argument="other")
        for what, mine, theirs in (("runs", self.names, other.names), ("measures", self.measures, other.measures)):
            if set(mine) != set(theirs):
                odd = sorted(set(mine) ^ set(theirs))
                raise InputError(f"both need the same {what}; {examples(odd)} in one of them only.", argument="other")
        return compare_scores(self, other, names)

    def _frame(self, values: NDArray) -> pd.DataFrame:
        return pd.DataFrame({"name": self.names, **dict(zip(self.measures, values, strict=True))})

    def __repr__(self) -> str:
        sizes = f"{count(len(self.names), 'run')}, {count(len(self.topics), 'topic')}, {', '.join(self.measures)}"
        return f"Scores: {sizes} ({self._settings_line()})"

    def _repr_html_(self) -> str:
        table = self.mean.to_html(max_rows=16, index=False, escape=True, float_format="{:.4f}".format)
        return f"<p><b>{html.escape(repr(self))}</b></p>{table}"
