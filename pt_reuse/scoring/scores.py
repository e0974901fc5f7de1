"""Scores of every run on every topic under every measure: how they are made, read, compared and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import check_writable, checked_path, write_together
from pt_reuse._report import MOST, Column, Digits, Report
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import (
    OF_DROPS,
    TopicBootstrap,
    TopicScores,
    checked_bootstrap,
    ranking_agreement,
    whole_changes,
)
from pt_reuse.arrays.correlation import DECIMALS, correlations, rank_changes, weighted_tau
from pt_reuse.data.judgments import Qrels, as_qrels, check_not_empty
from pt_reuse.data.metadata import RunLabels, given_metadata
from pt_reuse.data.packed_files import guarded
from pt_reuse.data.run_set import RunSet, as_runs_before
from pt_reuse.data.score_tables import FORMATS, leaderboard_text
from pt_reuse.data.sharing import Shareable
from pt_reuse.data.task_columns import LARGEST
from pt_reuse.errors import (
    InputError,
    checked_jobs,
    choice,
    columns,
    count,
    examples,
    flag,
    listed,
    located,
    shown,
    warn,
)
from pt_reuse.result import Record, first_of
from pt_reuse.scoring.agreement import COEFFICIENTS, UNNAMED, Agreement, checked_names
from pt_reuse.scoring.caveats import (
    BEWARE,
    counts_from_1,
    few_topics,
    grade_unstated,
    misfits,
    noted,
    of_judged,
    relevant_only,
    tell,
    topics_of_runs,
    warn_of_lower_grades,
)
from pt_reuse.scoring.measures import (
    MeasureLike,
    adds_up,
    canonical_name,
    measure_among,
    native_spec,
    parse_measures,
)
from pt_reuse.scoring.rescoring import base_scores, check_provided

_COLUMNS = ("name", "qid", "measure", "value")
#: what becomes of a topic that a run lacks
MISSING = ("error", "zero", "leave_out")


def mean_over_topics(values: NDArray[np.float64], has_topic: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Average (..., topics, runs) over the topics: all of them, or those that `has_topic` (topics, runs) marks."""
    if has_topic is None:
        return values.sum(axis=-2) / max(values.shape[-2], 1)
    return np.where(has_topic, values, 0.0).sum(axis=-2) / np.maximum(has_topic.sum(axis=0), 1)


def of_all_topics(
    values: NDArray[np.float64], measures: Iterable[MeasureLike], has_topic: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return (measures, runs) of (measures, topics, runs): means, or the sums of measures that are added up."""
    means = mean_over_topics(values, has_topic)
    sums = (values if has_topic is None else np.where(has_topic, values, 0.0)).sum(axis=-2)
    return np.where(adds_up(measures)[:, None], sums, means)


def _texts(frame: pd.DataFrame, column: str) -> NDArray[Any]:
    """Return the cells of a column as texts: of whole numbers, such as topics often are, the digits."""
    cells = frame[column].to_numpy(dtype=object)
    for cell in pd.unique(cells):
        if isinstance(cell, bool) or cell == "" or not isinstance(cell, str | int | np.integer | ir_measures.Measure):
            what = "is empty in some row" if pd.isna(cell) or cell == "" else f"holds {shown(cell)}"
            raise InputError(f"column {column!r} {what}. Give every row a text there.", argument="frame")
    return np.array([str(cell) for cell in cells], dtype=object)


def _place(row: Any) -> str:
    return f"run {shown(row['name'])}, topic {shown(row['qid'])}, measure {shown(row['measure'])}"


def _coded(frame: Any) -> tuple[NDArray[np.signedinteger], NDArray[np.float64], list[str], list[str], list[str]]:
    if not isinstance(frame, pd.DataFrame):
        hint = " pt.Experiment returns one with perquery=True and dataframe=True." if isinstance(frame, dict) else ""
        problem = f"frame must be a DataFrame with {listed(_COLUMNS)}, got {shown(frame)}.{hint}"
        raise InputError(problem, argument="frame")
    columns("frame", frame.columns, _COLUMNS)
    if frame.empty:
        raise InputError("frame has no row.", argument="frame")
    kind = frame["value"].dtype
    number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    values = frame["value"].to_numpy(dtype=np.float64, na_value=np.nan) if number else np.full(len(frame), np.nan)
    bad = ~(np.abs(values) <= LARGEST)
    (run, names), (topic, topics), (measure, called) = (pd.factorize(_texts(frame, c)) for c in _COLUMNS[:3])
    measures = [canonical_name(name) for name in called]
    cell = np.ravel_multi_index((measure, topic, run), (len(measures), len(topics), len(names)))
    for wrong, problem in (
        (bad, f"no number within {LARGEST:g}, and a mean would be none. Score it 0, or take the measure out"),
        (pd.Series(cell).duplicated().to_numpy(), "a second one of its run, topic and measure. Give each one row"),
        (pd.Series(measures).duplicated().to_numpy()[measure], "of a measure that has another name, too. Keep one"),
    ):
        if wrong.any():
            row = frame.iloc[int(np.flatnonzero(wrong)[0])]
            first = (
                f"{count(int(wrong.sum()), 'row')} of {len(frame):,}, such as {shown(row['value'])} at {_place(row)}"
            )
            raise InputError(f"{first}: {problem}.", argument="frame")
    return cell, values, list(names), list(topics), measures


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scores(Record, Shareable):
    """Scores of every run on every topic under every measure; made by :func:`score`, or from a frame of scores.

    Attributes:
        run_table: one row per run with ``name``, ``team`` and ``type``.
        topics: topic names, those of the qrels.
        measures: measures as ir_measures writes them, ``"nDCG@10"``.
        values: (measures, topics, runs) array.
        complete: True if means are over all topics, False if over those that a run has.
        has_topic: (topics, runs) whether the run has documents for the topic.
        settings: ranking order, topic set, and where each measure was computed.
    """

    _artifact_type: ClassVar[str] = "scores"

    title: ClassVar[str] = "Scores"
    valid_for = "means {means}; documents ranked in the order {order}."
    not_covered = "whether differences are significant, and what judgments of unjudged documents would change."

    run_table: pd.DataFrame
    topics: list[str]
    measures: list[str]
    values: NDArray[np.float64]
    complete: bool
    has_topic: NDArray[np.bool_]

    def __post_init__(self) -> None:
        shape = (len(self.measures), len(self.topics), len(self.run_table))
        if self.values.shape != shape or self.has_topic.shape != shape[1:]:
            raise InputError(f"scores of shape {self.values.shape} are not those of {shape} measures, topics and runs.")

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        teams: RunLabels | None = None,
        types: RunLabels | None = None,
        metadata: pd.DataFrame | None = None,
        missing: str = "error",
    ) -> Scores:
        """Make Scores from scores that were computed elsewhere, such as the output of pt.Experiment with perquery=True.

        Args:
            frame: with the columns ``name qid measure value``, a row for each run, topic and measure, as `per_topic`
                has them. Runs, topics and measures keep the order in which they first stand there.
            teams: run name -> team, as :func:`read_runs` takes it.
            types: run name -> type.
            metadata: a frame with ``name`` and any of ``team`` and ``type``.
            missing: ``"error"`` (default): a topic that a run lacks is an error; ``"zero"``: it counts 0, as in
                trec_eval -c; ``"leave_out"``: it is left out of the mean of this run.

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
        cell, values, names, topics, named = _coded(frame)
        scores = np.zeros((len(named), len(topics), len(names)))
        there = np.zeros(scores.shape, dtype=bool)
        scores.flat[cell], there.flat[cell] = values, True
        has_topic, complete = np.asarray(there.any(axis=0)), missing != "leave_out"
        absent = ~there if missing == "error" else ~there & has_topic
        if absent.any():
            m, t, r = (int(at[0]) for at in np.nonzero(absent))
            advice = "The run has the topic by other measures. Give the score."
            if not has_topic[t, r]:
                without = [names[run] for run in np.flatnonzero(~has_topic.all(axis=0))]
                advice = f"{count(len(without), 'run')} without a topic: {examples(without)}. missing='zero' counts it "
                advice += "0, missing='leave_out' averages over the topics that a run has."
            place = _place({"name": names[r], "qid": topics[t], "measure": named[m]})
            said = f"{int(absent.sum()):,} of {there.size:,} scores are missing, the first of {place}."
            raise InputError(f"{said} {advice}", argument="frame")
        lacking = int((~has_topic).sum())
        settings = {"scores": "given by topic", "complete": complete}
        return cls(
            run_table=labels.table(names, strict=True)[["name", "team", "type"]],
            topics=topics,
            measures=named,
            values=scores,
            complete=complete,
            has_topic=has_topic,
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
        """Return the mean over the topic set, (measures, runs); of counts the sum, as `mean` has it."""
        return of_all_topics(self.values, self.measures, None if self.complete else self.has_topic)

    @property
    def topic_means(self) -> dict[str, TopicScores]:
        """Return measure -> its scores by topic, with the topics of their means, for resampling."""
        has_topic = None if self.complete else self.has_topic
        every = zip(self.measures, self.values, adds_up(self.measures).tolist(), strict=True)
        return {measure: TopicScores(values, has_topic, added) for measure, values, added in every}

    @property
    def mean(self) -> pd.DataFrame:
        """Return one row per run, ``name`` and the mean of each measure; of counts (NumRet, NumRel, NumQ) the sum."""
        return self._frame(self.mean_values)

    @property
    def ranks(self) -> pd.DataFrame:
        """Return one row per run, ``name`` and its rank under each measure, 1 + the number of strictly better runs.

        Means are compared after rounding to 12 decimals, so that equal runs tie.

        Example:
            >>> rows = [("A", "1", "P@1", 1.0), ("B", "1", "P@1", 0.0)]
            >>> Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])).ranks
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

    def to_frame(self) -> pd.DataFrame:
        """Return the scores as a frame, see :attr:`per_topic`, as :meth:`from_frame` takes it."""
        return self.per_topic

    def of(self, measure: MeasureLike) -> pd.DataFrame:
        """Return one measure as a table, a row per topic and a column per run.

        Example:
            >>> rows = [("A", "1", "P@1", 1.0), ("B", "1", "P@1", 0.0)]
            >>> Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])).of("P@1")
                   A    B
            qid
            1    1.0  0.0
        """
        values = self.values[self.measures.index(measure_among(self.measures, measure))]
        return pd.DataFrame(values, index=pd.Index(self.topics, name="qid"), columns=self.names)

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
        """Compare the rankings of systems: these scores are the reference, `other` the estimate.

        Args:
            other: scores of the same runs under the same measures, for example under other judgments.
            names: names of these scores and the others, such as ``("complete", "lexical pool")``.
            resamples: how often the topics are drawn for bootstrap intervals; default 0, none.
            confidence: of the intervals, above 0 and below 1.
            seed: of the draws.
            n_jobs: parts of the draws at a time, as joblib takes it. The numbers do not depend on it.

        Returns:
            Agreement: per measure the correlations and largest changes of rank, per run its changes, per topic tau_b.

        Raises:
            InputError: other runs or measures, names that are not two texts that differ, intervals of scores on other
                topics.

        Warns:
            CaveatWarning: intervals over fewer than five topics.
            ReuseWarning: resamples in which all runs tie, which the intervals leave out.

        Example:
            >>> import pt_reuse as ptr
            >>> field = ptr.demo.simulate_field(seed=7)
            >>> truth, pooled = (ptr.score(field.runs, q, "AP") for q in (field.all_qrels, field.qrels))
            >>> truth.compare(pooled, names=("complete", "depth 10")).answers()
            ['AP: tau_b 0.7516, largest drop 3 ranks, largest rise 4 ranks']
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

    def write_leaderboard(self, path: str | Path, format: str = "ir_measures", *, overwrite: bool = False) -> Path:
        """Write the scores as a leaderboard that the tools of TREC AutoJudge read, the means in rows ``all``.

        Numbers have all their digits, so that :func:`~pt_reuse.read_leaderboard` gives the same scores.

        Args:
            path: the file; for the format ``trec_eval``, which has no column of runs, a folder with a file for each
                run.
            format: one of those of AutoJudge, see :func:`~pt_reuse.read_leaderboard`.
            overwrite: replace existing files; default is an error before anything is written.

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
        choice("format", format, FORMATS)
        flag("overwrite", overwrite)
        place = checked_path(path)
        # where a topic that a run lacks counts 0, the line says 0
        there = np.ones_like(self.has_topic) if self.complete else self.has_topic
        folder, parts = place.parent, {place.name: list(range(len(self.names)))}
        if format == "trec_eval":
            folder, parts = place, {name: [r] for r, name in enumerate(self.names)}
            if unsafe := [name for name in parts if set("/\\\0") & set(name) or name.startswith(".")]:
                raise InputError(f"{examples(unsafe)} cannot be a file name that is read back. Rename the run first.")
            others = [file.name for file in folder.iterdir()] if folder.is_dir() else []
            if strange := sorted(name for name in others if not name.startswith(".") and name not in parts):
                raise InputError(
                    f"{folder} has other files, which would be read as runs: {examples(strange)}. Give a folder of its "
                    "own.",
                    argument="path",
                )
        check_writable(folder, list(parts), overwrite=overwrite, argument="path")
        try:
            files = []
            for file, runs in parts.items():
                text = leaderboard_text(
                    format,
                    [self.names[r] for r in runs],
                    self.topics,
                    self.measures,
                    self.values[:, :, runs],
                    has_topic=there[:, runs],
                    means=self.mean_values[:, runs],
                )
                files.append((file, guarded(text.encode("utf-8"))))
            write_together(folder, files, overwrite=overwrite)
        except UnicodeEncodeError as error:
            raise InputError("a name is no text that UTF-8 can hold. Rename it first.", argument="path") from error
        except OSError as error:
            raise InputError(f"{place} cannot be written: {error.strerror or error}.", argument="path") from error
        return place

    def report(self, measures: MeasureLike | Iterable[MeasureLike] | None = None) -> Report:
        """Return a table for a paper: each run's means, the best first by the first measure.

        Args:
            measures: at most five of the measures; default the first five, with a note that names the others.
        """
        every = self.measures if measures is None else parse_measures(measures)
        names = [measure_among(self.measures, measure) for measure in every[:MOST]]
        left = self.measures[MOST:] if measures is None else every[MOST:]
        if left and measures is not None:
            raise InputError(f"measures must be at most {MOST}, got {examples(every, 12)}.", argument="measures")
        first = np.round(self.mean_values[self.measures.index(names[0])], DECIMALS)
        rows = self.mean.iloc[np.argsort(-first, kind="stable")]
        order, beware = self.settings.get("order"), self.settings.get(BEWARE)
        notes = ["The scores were given by topic." if order is None else f"Documents are ranked in the order {order}."]
        notes += [f"Not shown: {', '.join(left)}."] if left else []
        notes += [f"Beware: {beware}."] if beware else []
        return Report(
            [Column("Run", rows["name"]), *(Column(name, rows[name], Digits.SCORE) for name in names)],
            caption=f"Means of {self.sizes()} ({self.words()['means']}), the best by {names[0]} first.",
            notes=notes,
            verdict=[f"{line}." for line in self.answers()],
        )

    def _frame(self, values: NDArray) -> pd.DataFrame:
        return pd.DataFrame({"name": self.names, **dict(zip(self.measures, values, strict=True))})

    def answers(self) -> list[str]:
        """Return how many runs and topics there are, and the best run by each measure."""
        best = []
        for measure, means in zip(self.measures, np.round(self.mean_values, DECIMALS), strict=True):
            more = int((means == means.max()).sum()) - 1
            tied = f" and {count(more, 'other')}" if more else ""
            best.append(f"{measure} {means.max():.4f} ({self.names[int(means.argmax())]}{tied})")
        return [f"{self.sizes()}; highest: {'; '.join(first_of(best))}"]

    def sizes(self) -> str:
        """Return how many runs and topics there are, in words."""
        return f"{count(len(self.names), 'run')} on {count(len(self.topics), 'topic')}"

    def words(self) -> dict[str, Any]:
        """Return the words of the verdict: the settings, and which topics count."""
        means = "over all topics, of which those that a run lacks count 0" if self.complete else "over its own topics"
        summed = [name for name, added in zip(self.measures, adds_up(self.measures), strict=True) if added]
        return {**super().words(), "means": means + (f"; of {listed(summed)} the sum" if summed else "")}


#: what judgments are called that nobody names
ONLY_SET = "judgments"


def named_scores(scores: Any, *, every_topic: bool = False) -> dict[str, Scores]:
    """Return name -> Scores of a user's ``scores=``, all good to compare runs by, with the same measures.

    With `every_topic` means must be over all topics, or every run have each.
    """
    several = isinstance(scores, Mapping)
    sets: dict[Any, Any] = dict(scores) if several else {ONLY_SET: scores}
    if not sets:
        raise InputError("scores is empty. Give Scores, or a name -> Scores.", argument="scores")
    first = next(iter(sets.values()))
    for name, found in sets.items():
        problem = ""
        if not isinstance(name, str) or not name.strip():
            problem = f"scores must have names as keys, got {shown(name)}."
        elif not isinstance(found, Scores):
            problem = f"expected Scores, got {shown(found)}. Score the runs first, or make Scores by Scores.from_frame."
        elif len(found.names) < 2:
            problem = f"it takes two runs to compare, got {examples(found.names) or 'none'}."
        elif not found.topics:
            problem = "there is no topic to compare runs on."
        elif len(bad := np.argwhere(~np.isfinite(found.values))):
            what = score_in_words(found, *bad[0].tolist())
            problem = f"{what}; a score must be a finite number. Take the measure out."
        elif odd := sorted(set(found.measures) ^ set(first.measures)):
            problem = f"all need the same measures; {examples(odd)} in one of this and {next(iter(sets))!r} only."
        elif every_topic and not found.complete and not found.has_topic.all():
            lacking = np.flatnonzero(~found.has_topic.all(axis=0)).tolist()
            problem = f"{count(len(lacking), 'run')} without some topics: {examples(found.names[r] for r in lacking)}. "
            problem += "Tests of pairs need each run on each topic: give complete=True, or topics that all runs have."
        if problem:
            raise InputError(problem, argument="scores", place=f"{name!r}" if several else None)
    return sets


def score_in_words(scores: Scores, measure: int, topic: int, run: int) -> str:
    """Return what one score is, for messages."""
    value = scores.values[measure, topic, run]
    return f"{scores.measures[measure]} of run {scores.names[run]!r} is {value} on topic {scores.topics[topic]!r}"


def scores_in_words(scores: Scores) -> str:
    """Return over how many topics scores are, and under which conventions, for settings."""
    return ", ".join([count(len(scores.topics), "topic"), *(f"{k}={v}" for k, v in scores.settings.items())])


def score(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    complete: bool = True,
    without_topics: str = "error",
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Scores:
    """Score every run of a field.

    AP, P, R, nDCG, RR, Rprec, Bpref, RBP, Success, Judged and Unjudged are computed here, in the order of the runs and
    bit for bit as trec_eval does; every other measure by ir_measures, in the same order.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`. Documents without a judgment
            count as not relevant.
        measures: ir_measures measures, or their names. Binary ones such as AP count labels of at least 1 as relevant
            unless they state another, AP(rel=2); a warning names those that differ from :attr:`Qrels.rel`.
        complete: True (default): the mean is over all topics of the qrels, and a topic that a run lacks counts 0
            (trec_eval -c); False: over the topics that the run has.
        without_topics: a run with none of the topics of the qrels is an ``"error"`` (default), or scores ``"zero"``.
        n_jobs: topics at a time, as joblib takes it. The scores do not depend on it.
        verbose: show a progress bar.

    Returns:
        Scores: ``.mean``, ``.per_topic``, ``.ranks``, ``.compare(other)``.

    Raises:
        InputError: an unknown measure, a measure of subtopics, a run that has no topic in common with the qrels.

    Warns:
        ReuseWarning: judgments of relevant documents only, under a measure that distinguishes unjudged documents; runs
            that do not fit the judgments, as :func:`check_runs` shows. ``settings["beware"]`` has it, too.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["d2", "d3", "d4"], "label": [1, 1, 0]})
        >>> ptr.score(ptr.RunSet.from_frames({"A": run}), qrels, ["AP", "P@1", "Judged@2"]).mean
          name    AP  P@1  Judged@2
        0    A  0.25  0.0       0.5

    Differences: ir_measures' default provider, pytrec_eval, orders by float32 scores (``order="trec_eval9"``); its
    Judged and ``RR@k`` break ties by ascending docno. As in trec_eval, a negative label is the same as no judgment;
    Judged alone counts it.
    """
    parsed = checked_measures(measures)
    flag("complete", complete)
    choice("without_topics", without_topics, ("error", "zero"))
    flag("verbose", verbose)
    jobs = checked_jobs(n_jobs)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    warn_of_lower_grades(parsed, qrels.rel)
    if without_topics == "error":
        check_topics(runs, qrels)
    only = relevant_only(qrels) if of_judged(parsed) else ()
    graded = grade_unstated(qrels) if any(map(counts_from_1, parsed)) else ()
    fitting = misfits(runs, qrels, parsed, complete=complete, without_topics=without_topics)
    caveats = [*only, *graded, *fitting]
    tell(caveats)
    scores = scored(runs, qrels, parsed, complete=complete, n_jobs=jobs, verbose=verbose)
    return replace(scores, settings={**scores.settings, **noted(caveats)})


def scored(
    runs: RunSet,
    qrels: Qrels,
    measures: list[ir_measures.Measure],
    *,
    complete: bool,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Scores:
    """Return what :func:`score` returns of arguments that were checked, and whose caveats were told."""
    values = base_scores(runs, qrels, measures, verbose=verbose, n_jobs=n_jobs)
    return scores_of(runs, qrels, measures, values, complete=complete)


def checked_measures(measures: MeasureLike | Iterable[MeasureLike]) -> list[ir_measures.Measure]:
    """Return what a user's ``measures=`` names, or say which of them cannot be computed."""
    parsed = parse_measures(measures)
    check_provided(measure for measure in parsed if native_spec(measure) is None)
    return parsed


def scores_of(
    runs: RunSet,
    qrels: Qrels,
    measures: Sequence[ir_measures.Measure],
    values: NDArray[np.float64],
    *,
    complete: bool,
) -> Scores:
    """Label (measures, topics, runs) values."""
    settings: dict[str, Any] = {**runs.settings, "complete": complete}
    provided = provided_measures(measures)
    return Scores(
        run_table=runs.run_table[["name", "team", "type"]],
        topics=qrels.topics,
        measures=[repr(measure) for measure in measures],
        values=values,
        complete=complete,
        has_topic=topics_of_runs(runs, qrels),
        settings=settings | ({"by ir_measures": provided} if provided else {}),
    )


def provided_measures(measures: Iterable[ir_measures.Measure]) -> str:
    """Return the names of the measures that ir_measures computes, as settings show them."""
    return ", ".join(repr(measure) for measure in measures if native_spec(measure) is None)


def check_topics(runs: RunSet, qrels: Qrels) -> None:
    """Raise when a run has no topic in common with the qrels."""
    check_not_empty(qrels)
    has = np.asarray(topics_of_runs(runs, qrels).any(axis=0))
    if has.all():
        return
    lost = [name for name, some in zip(runs.names, has, strict=True) if not some]
    row = runs.row(lost[0])
    mine = [topic for topic, n in zip(runs.topics, runs.field.lengths[:, row].tolist(), strict=True) if n]
    stripped = {topic.lstrip("0") or "0" for topic in qrels.topics}
    padded = any((topic.lstrip("0") or "0") in stripped for topic in mine)
    hint = "They differ in leading zeros only: write the ids alike." if padded else "Are these the qrels of this track?"
    raise InputError(
        f"{count(len(lost), 'run')} without any topic of the qrels: {examples(lost)}. Run {lost[0]!r} has "
        f"{f'the topics {examples(mine)}' if mine else 'no row'}, the qrels {examples(qrels.topics)}. {hint}",
        argument="runs",
    )


def compare_scores(
    truth: Scores, estimate: Scores, names: tuple[str, str], bootstrap: TopicBootstrap | None = None
) -> Agreement:
    """Compare two scorings of the same runs under the same measures, each mean over the topics of its own."""
    runs = [estimate.names.index(name) for name in truth.names]
    shared = [topic for topic in truth.topics if topic in set(estimate.topics)]
    if bootstrap is not None and not len(shared) == len(truth.topics) == len(estimate.topics):
        raise InputError(
            f"intervals draw the same topics for both, and the two share {len(shared):,} of {len(truth.topics):,} "
            f"and {len(estimate.topics):,}. Score both on those that they share, or give resamples=0.",
            argument="resamples",
        )
    at, other_at = ([scores.topics.index(topic) for topic in shared] for scores in (truth, estimate))
    rows, changes, topics = [], [], []
    for m, measure in enumerate(truth.measures):
        o = estimate.measures.index(measure)
        means, other_means = truth.mean_values[m], estimate.mean_values[o][runs]
        # without intervals the topics may be others, and their order is of no matter
        drawn = other_at if bootstrap is not None else range(len(estimate.topics))
        with located(measure):
            found = ranking_agreement(
                truth.topic_means[measure],
                estimate.topic_means[measure].of(drawn, runs),
                bootstrap,
                coefficients=COEFFICIENTS,
            )
        both = zip(names, (means, other_means), strict=True)
        tying = [name for name, of in both if len(np.unique(of.round(DECIMALS))) == 1]
        if tying and len(runs) > 1:
            warn(f"{measure}: all {len(runs):,} runs tie by {' and by '.join(tying)}: no coefficient has a value.")
        ranked = len(runs) > 1 and not tying
        rows.append(
            {"measure": measure, **found, "weighted_tau": weighted_tau(means, other_means) if ranked else np.nan}
        )
        moved = rank_changes(means, other_means, truth.names)
        moved[["team", "type"]] = truth.run_table[["team", "type"]].to_numpy()
        moved.insert(1, "measure", measure)
        changes.append(moved)
        of_both = zip(truth.values[m][at], estimate.values[o][other_at][:, runs], strict=True)
        taus = [float(correlations(x, y[None])["tau_b"].iloc[0]) for x, y in of_both]
        topics.append(pd.DataFrame({"qid": shared, "measure": measure, "tau_b": taus}))
    table = whole_changes(pd.DataFrame(rows))
    # in the order in which it is declared, ends behind their number
    table.insert(list(table).index("max_drop"), "weighted_tau", table.pop("weighted_tau"))
    conventions = (", ".join(f"{name}={value}" for name, value in s.settings.items()) for s in (truth, estimate))
    of_each = [f"{name} ({words})" for name, words in zip(names, conventions, strict=True)]
    return Agreement(
        table=table,
        settings={
            "truth": of_each[0],
            "estimate": of_each[1],
            "ties": f"means equal to {DECIMALS} decimals",
            **({"intervals": bootstrap.words(), **OF_DROPS} if bootstrap else {}),
        },
        changes=pd.concat(changes, ignore_index=True),
        per_topic=pd.concat(topics, ignore_index=True),
        names=names,
    )
