"""The columns of filled holes: what systems would score with their unjudged documents labelled by a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.engine.rescore import Changes
from pt_reuse.experiment.columns import SUMMED, Columns, Values
from pt_reuse.experiment.read_texts import IDS, with_texts
from pt_reuse.judging.hole_labels import HoleLabels, higher_grades, labels_of_holes
from pt_reuse.judging.judges import NamedJudge, as_judges
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import cutoff_of
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.run_scores import scores_of
from pt_reuse.studies.filled_uniques.holes import with_unjudged


def checked_filler(fill: Any, judge_rel: Any, kinds: Iterable[str]) -> NamedJudge | None:
    """Return the judge that fills holes, None where no column of filled scores is asked for.

    Args:
        fill: what the user gives as a judge; None for nobody.
        judge_rel: the lowest label of the judge that is relevant; None for what it says.
        kinds: kinds of columns that are asked for.

    Raises:
        InputError: a judge without such a column or such a column without a judge, several judges.
    """
    wanted = "filled" in kinds
    if fill is None:
        if wanted:
            raise InputError("'filled' needs a judge. Give one by ", Option("fill", ...), ".", argument="reuse")
        if judge_rel is not None:
            parts = "judge_rel is of a judge. Give one by ", Option("fill", ...), "."
            raise InputError(*parts, argument="judge_rel")
        return None
    if not wanted:
        parts = "a judge fills holes for the columns of 'filled' alone. Name it in ", Option("reuse", ["filled"]), "."
        raise InputError(*parts, argument="fill")
    judges = as_judges(fill, "fill", rel=judge_rel)
    if len(judges) > 1:
        names = examples([judge.name for judge in judges])
        problem = f"one judge fills the holes of an experiment, got {len(judges)}: {names}. Give one of them."
        raise InputError(problem, argument="fill")
    return judges[0]


def caveats_of(given: HoleLabels) -> Iterator[Caveat]:
    """Yield that documents stay unjudged, where the judge does not know some."""
    unknown, n = int((~given.known).sum()), len(given.labels)
    if not unknown:
        return
    of = f"{unknown:,} of {count(n, 'unjudged document')}"
    all_of_them = " So these columns are the scores as they are." if unknown == n else ""
    yield Caveat(
        f"{given.name} gave no label to {of}",
        (
            f"judge {given.name!r} gave no label to {of} of the systems; they stay unjudged in the columns 'filled', "
            f"and 'filled unknown' counts them.{all_of_them}",
        ),
    )


def filled_columns(
    columns: Columns,
    systems: RunSet,
    qrels: Qrels,
    measures: Mapping[str, ir_measures.Measure],
    judge: NamedJudge,
    texts: pd.DataFrame,
) -> Columns:
    """Return columns with ``filled``, ``filled docs`` and ``filled unknown`` besides.

    Args:
        columns: the others.
        systems: what was executed.
        qrels: the judgments of the topics asked.
        measures: as pt.Experiment names them.
        judge: who labels; asked once, for the unjudged documents of all systems down to the deepest cutoff.
        texts: ``qid``, ``docno`` where it is of documents, and what the judge reads.
    """
    cutoffs = {name: cutoff_of(measure) for name, measure in measures.items()}
    longest = max(1, int(systems.field.lengths.max(initial=0)))
    depths = {name: longest if cutoff is None else cutoff for name, cutoff in cutoffs.items()}
    pool = pool_to_depth(systems, max(depths.values()), contributors_of(systems, "all")).remainder(qrels)
    frame = pool.to_frame()[list(IDS)]
    mine = np.flatnonzero(frame["qid"].isin(qrels.topics))
    asked = with_texts(frame.iloc[mine].reset_index(drop=True), texts)
    given = (
        labels_of_holes(judge, asked, qrels.rel) if len(asked) else HoleLabels(judge.name, qrels.rel, np.zeros(0, "i2"))
    )
    labels = np.full(len(frame), UNJUDGED, dtype=np.int16)
    labels[mine] = given.labels
    holes = _Holes.of(systems, qrels, pool, labels, mine)
    added = holes.values(measures, depths)
    caveats = [*caveats_of(given), *higher_grades(given, qrels.arrays.labels, measures.values())]
    settings = {**columns.settings, "fill": given.words(), "filled": "the unjudged documents of each system, by itself"}
    return replace(columns, added={**columns.added, **added}, settings=settings, caveats=tuple(caveats))


@dataclass(frozen=True)
class _Holes:
    """The unjudged documents of systems, an entry for each that a system has.

    Attributes:
        systems: the systems.
        base: the judgments, in which the documents stand as unjudged.
        row: (entries,) the row of the document in them.
        run: (entries,) the system.
        rank: (entries,) from 1.
        label: (entries,) what the judge says, unjudged where nothing.
    """

    systems: RunSet
    base: Qrels
    row: NDArray[np.int64]
    run: NDArray[np.int64]
    rank: NDArray[np.int64]
    label: NDArray[np.int16]

    @classmethod
    def of(
        cls, systems: RunSet, qrels: Qrels, pool: Pool, labels: NDArray[np.int16], mine: NDArray[np.int64]
    ) -> _Holes:
        """Return the entries of the documents at the places `mine` of the pool."""
        frame = pool.to_frame()[list(IDS)]
        base = with_unjudged(qrels, frame.iloc[mine])
        row = base.arrays.documents.find(pool.documents)
        document = pool.entries.document
        kept = np.isin(document, mine)
        names = pool.run_table["name"].tolist()
        at = np.array([systems.row(name) for name in names], dtype=np.int64)
        document, run = document[kept], at[pool.entries.run[kept]]
        return cls(systems, base, row[document], run, pool.entries.rank[kept].astype(np.int64), labels[document])

    def values(
        self, measures: Mapping[str, ir_measures.Measure], depths: Mapping[str, int]
    ) -> dict[str, dict[str, Values]]:
        """Return added column -> measure -> its values.

        Args:
            measures: as pt.Experiment names them.
            depths: measure -> the rank down to which documents are filled.
        """
        n, distinct = len(self.systems), list(dict.fromkeys(measures.values()))
        levels = sorted(set(depths.values()))
        known = self.label != UNJUDGED
        parts = []
        for level, depth in enumerate(levels):
            here = known & (self.rank <= depth)
            parts.append((level * n + self.run[here], self.row[here], self.label[here]))
        in_set, row, label = (np.concatenate(part) for part in zip(*parts, strict=True))
        scores = np.empty((len(levels), len(distinct), len(self.base.topics), n))
        changes = Changes(len(levels) * n, in_set, row, label.astype(np.int16))
        for block in rescore(self.systems, self.base, distinct, changes):
            scores[:, :, block.topics.start : block.topics.stop] = block.base
            of_level, run = np.divmod(block.set, n)
            scores[of_level, :, block.topic, run] = block.values[:, np.arange(len(run)), run].T
        found: dict[str, dict[str, Values]] = {"filled": {}, "filled docs": {}, "filled unknown": {}}
        for name, measure in measures.items():
            level = levels.index(depths[name])
            of = scores_of(self.systems, self.base, [measure], scores[level, [distinct.index(measure)]], complete=True)
            times = len(self.base.topics) if name in SUMMED else 1
            found["filled"][name] = Values(of.mean_values[0] * times, of.values[0])
            for column, chosen in (("filled docs", known), ("filled unknown", ~known)):
                found[column][name] = self._counted(chosen & (self.rank <= depths[name]))
        return found

    def _counted(self, chosen: NDArray[np.bool_]) -> Values:
        topic, shape = self.base.arrays.documents.topic[self.row[chosen]], (len(self.base.topics), len(self.systems))
        numbers = np.bincount(topic * shape[1] + self.run[chosen], minlength=shape[0] * shape[1]).reshape(shape)
        return Values(numbers.sum(axis=0), numbers)
