"""Scores: systems x topics x measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._report import MOST, Column, Digits, Report
from pt_reuse._result import Record
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicScores, checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.metadata import OF_FRAMES, RunLabels, given_metadata
from pt_reuse.scoring.agreement import UNNAMED, Agreement, checked_names, compare_scores
from pt_reuse.scoring.caveats import BEWARE, few_topics, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among, parse_measures
from pt_reuse.scoring.score_frames import MISSING, score_arrays
from pt_reuse.scoring.topic_sets import mean_over_topics
from pt_reuse.scoring.written import write_scores


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scores(Record):
    """Scores of every run on every topic under every measure; made by :func:`score`, or of a frame of scores.

    Attributes:
        run_table: one row per run with ``name``, ``team`` and ``type``.
        topics: topic names, those of the qrels.
        measures: measures as ir_measures writes them, ``"nDCG@10"``.
        values: (measures, topics, runs) array.
        complete: whether means are over all topics, or over those that a run has.
        has_topic: (topics, runs) whether the run has documents for the topic.
        settings: ranking order, topic set, and where each measure was computed.
    """

    title: ClassVar[str] = "Scores"

    run_table: pd.DataFrame
    topics: list[str]
    measures: list[str]
    values: NDArray[np.float64]
    complete: bool
    has_topic: NDArray[np.bool_]

    @classmethod
    @door
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        teams: RunLabels | None = None,
        types: RunLabels | None = None,
        metadata: pd.DataFrame | None = None,
        missing: str = "error",
    ) -> Scores:
        """Make Scores of scores that were computed elsewhere, such as what pt.Experiment returns with perquery=True.

        Args:
            frame: with the columns ``name qid measure value``, a row for each run, topic and measure, as `per_topic`
                has them. Runs, topics and measures keep the order in which they first stand there.
            teams: run name -> team, as :func:`read_runs` takes it.
            types: run name -> type.
            metadata: a frame with ``name`` and any of ``team`` and ``type``.
            missing: a topic that a run lacks is an ``"error"`` (default), counts ``"zero"``, as trec_eval -c has it, or
                is one to ``"leave_out"`` of the mean of this run.

        Returns:
            Scores: with the names of measures as ir_measures writes them (``AP`` for ``map``).

        Raises:
            InputError: a missing column or row, two rows for the same score, a value that is no finite number.

        Example:
            >>> import pandas as pd, pt_reuse as ptr
            >>> rows = [("A", "1", "map", 0.5), ("A", "2", "map", 0.1), ("B", "1", "map", 0.4), ("B", "2", "map", 0.4)]
            >>> ptr.Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])).mean
              name   AP
            0    A  0.3
            1    B  0.4
        """
        choice("missing", missing, MISSING)
        labels = given_metadata(teams=teams, types=types, metadata=metadata)
        found = score_arrays(frame, missing)
        lacking = int((~found.has_topic).sum())
        complete = missing != "leave_out"
        settings = {"scores": "given by topic", "complete": complete}
        return cls(
            run_table=labels.table(found.names, naming=OF_FRAMES)[["name", "team", "type"]],
            topics=found.topics,
            measures=found.measures,
            values=found.values,
            complete=complete,
            has_topic=found.has_topic,
            settings=settings | ({"topics that runs lack": lacking} if lacking else {}),
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables that `save` writes: ``mean``, ``ranks`` and ``run_table``."""
        return {"mean": self.mean, "ranks": self.ranks, "run_table": self.run_table}

    @property
    def names(self) -> list[str]:
        """Return the run names."""
        return self.run_table["name"].tolist()

    @property
    def mean_values(self) -> NDArray[np.float64]:
        """Return the mean over the topic set, (measures, runs)."""
        return mean_over_topics(self.values, None if self.complete else self.has_topic)

    @property
    def topic_means(self) -> dict[str, TopicScores]:
        """Return measure -> its scores by topic, and what their means are over, to be drawn again."""
        has_topic = None if self.complete else self.has_topic
        return {m: TopicScores(values, has_topic) for m, values in zip(self.measures, self.values, strict=True)}

    @property
    def mean(self) -> pd.DataFrame:
        """Return one row per run, ``name`` and the mean of each measure, also of counts that others add up (NumRet)."""
        return self._frame(self.mean_values)

    @property
    def ranks(self) -> pd.DataFrame:
        """Return one row per run, ``name`` and its rank under each measure, 1 + the number of strictly better runs.

        Means are compared after rounding to 12 decimals, so that equal runs tie.

        Example:
            >>> import pandas as pd, pt_reuse as ptr
            >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
            >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
            >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, teams={"A": "x", "B": "y"}, pooled=["A"])
            >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"], "label": [1, 0]})
            >>> scores = ptr.score(runs, qrels, ["P@1"])
            >>> scores.ranks
              name  P@1
            0    A    1
            1    B    2
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
        """Return one measure as a table, a row per topic and a column per run.

        Example:
            >>> import pandas as pd, pt_reuse as ptr
            >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
            >>> b = pd.DataFrame({"qid": "1", "docno": ["d2", "d3"], "score": [2.0, 1.0]})
            >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, teams={"A": "x", "B": "y"}, pooled=["A"])
            >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"], "label": [1, 0]})
            >>> scores = ptr.score(runs, qrels, ["P@1"])
            >>> scores.of("P@1")
                   A    B
            qid
            1    1.0  0.0
        """
        values = self.values[self.measures.index(measure_among(self.measures, measure))]
        return pd.DataFrame(values, index=pd.Index(self.topics, name="qid"), columns=self.names)

    @door
    def compare(
        self,
        other: Scores,
        names: tuple[str, str] = UNNAMED,
        *,
        resamples: int = 0,
        confidence: float = 0.95,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Agreement:
        """Compare the rankings of systems: these scores are the truth, `other` the estimate.

        Args:
            other: scores of the same runs under the same measures, for example under other judgments.
            names: what to call these scores and the others, such as ``("complete", "lexical pool")``: the Agreement
                bears the names in what it prints, draws and saves.
            resamples: how often the topics are drawn for bootstrap intervals of the correlations and of the largest
                changes of rank, in columns ``_low`` and ``_high``; default 0, none.
            confidence: of the intervals, above 0 and below 1.
            seed: of the draws.
            n_jobs: parts of the draws at a time, threads unless ``joblib.parallel_config`` says otherwise; default
                what that says, else 1. The numbers do not depend on it.

        Returns:
            Agreement: per measure the correlations and largest changes of rank, per run its changes, per topic tau_b.

        Raises:
            InputError: other runs or measures, names that are not two texts that differ, intervals of scores on other
                topics.

        Warns:
            CaveatWarning: intervals over fewer than five topics.
            ReuseWarning: resamples in which all runs tie, which intervals leave out.

        Example:
            >>> import pt_reuse as ptr
            >>> field = ptr.simulate_field(seed=7)
            >>> truth, pooled = (ptr.score(field.runs, q, "AP") for q in (field.all_qrels, field.qrels))
            >>> truth.compare(pooled, names=("complete", "depth 10")).headline()
            'depth 10 against complete: AP tau_b 0.7516, drop 3'
        """
        names = checked_names(names)
        bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence, n_jobs=n_jobs)
        if not isinstance(other, Scores):
            raise InputError(f"expected Scores, got {type(other).__name__}.", argument="other")
        for what, mine, theirs in (("runs", self.names, other.names), ("measures", self.measures, other.measures)):
            if set(mine) != set(theirs):
                odd = sorted(set(mine) ^ set(theirs))
                raise InputError(f"both need the same {what}; {examples(odd)} in one of them only.", argument="other")
        tell(few_topics(len(self.topics)) if bootstrap else ())
        return compare_scores(self, other, names, bootstrap)

    @door
    def write_leaderboard(self, path: str | Path, format: str = "ir_measures", *, overwrite: bool = False) -> Path:
        """Write the scores as a leaderboard that the tools of TREC AutoJudge read, the means in rows ``all``.

        The scores of topics come first, run by run, then the means. Columns end with tabs, and numbers have all their
        digits, so that :func:`~pt_reuse.labels.read_leaderboard` gives the same scores.

        Args:
            path: the file; of the format ``trec_eval``, which has no column of runs, a folder with a file for each run.
            format: one of those of :func:`~pt_reuse.labels.read_leaderboard`.
            overwrite: replace files that exist already; default is an error before anything is written.

        Returns:
            Path: of the file or folder.

        Raises:
            InputError: a file that exists, a name that cannot stand in a column, a folder with other files.

        Example:
            >>> import pandas as pd, pt_reuse as ptr, tempfile
            >>> rows = [("A", "1", "AP", 0.5), ("A", "2", "AP", 0.1)]
            >>> scores = ptr.Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"]))
            >>> file = scores.write_leaderboard(tempfile.mkdtemp() + "/judge.txt", "tot")
            >>> print(file.read_text().expandtabs(4), end="")
            A   AP  1   0.5
            A   AP  2   0.1
            A   AP  all 0.3
        """
        return write_scores(self, path, format, overwrite=overwrite)

    @door
    def report(self, measures: MeasureLike | Iterable[MeasureLike] | None = None) -> Report:
        """Return what a paper prints: each run's means, the best first by the first measure.

        Args:
            measures: at most five of the measures; default the first five, with a note that names the others.
        """
        if measures is None:
            names = self.measures[:MOST]
        else:
            names = [measure_among(self.measures, measure) for measure in parse_measures(measures)]
            if len(names) > MOST:
                got = examples(names, 12)
                raise InputError(Argument("measures"), f" must be at most {MOST}, got {got}.", argument="measures")
        first = np.round(self.mean_values[self.measures.index(names[0])], DECIMALS)
        rows = self.mean.iloc[np.argsort(-first, kind="stable")]
        topics = "a topic that a run lacks counts 0" if self.complete else "for each run over those that it has"
        order = self.settings.get("order")
        notes = ["The scores were given by topic." if order is None else f"Documents are ranked in the order {order}."]
        others = [name for name in self.measures if name not in names]
        if others and measures is None:
            notes.append(f"Not shown: {', '.join(others)}.")
        if BEWARE in self.settings:
            notes.append(f"Beware: {self.settings[BEWARE]}.")
        return Report(
            [Column("Run", rows["name"]), *(Column(name, rows[name], Digits.SCORE) for name in names)],
            caption=(
                f"Means of {count(len(self.names), 'run')} over {count(len(self.topics), 'topic')} ({topics}), the "
                f"best by {names[0]} first."
            ),
            notes=notes,
        )

    def _frame(self, values: NDArray) -> pd.DataFrame:
        return pd.DataFrame({"name": self.names, **dict(zip(self.measures, values, strict=True))})

    def headline(self) -> str:
        """Return how many runs and topics there are, and which measures."""
        return f"{count(len(self.names), 'run')}, {count(len(self.topics), 'topic')}, {', '.join(self.measures)}"
