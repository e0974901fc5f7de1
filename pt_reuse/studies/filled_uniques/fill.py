"""Fill: what a user wants filled and by whom, checked before anybody is asked, and carried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.judging.judges import NamedJudge, as_judges
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.filled_uniques.holes import HOLES, Filling, fitted_on_uniques, only_relevant
from pt_reuse.studies.filled_uniques.tables import WAYS, FilledRows, FilledScores, FilledTables, Way, stacked
from pt_reuse.studies.unique_sets import RemovedUniques, SetScores, UniqueSets


@dataclass(frozen=True)
class Fill:
    """What a user wants filled.

    Attributes:
        judges: who labels.
        holes: which documents, one of :data:`HOLES`.
    """

    judges: tuple[NamedJudge, ...]
    holes: str

    def ask(self, runs: RunSet, qrels: Qrels, rel: int, removed: RemovedUniques, depth: int) -> Filling:
        """Ask the judges for every document that people judged, and for the holes that nobody did."""
        further = pd.DataFrame({"qid": [], "docno": []}, dtype=object)
        if self.holes == "unjudged":
            top = pool_to_depth(runs, depth, contributors_of(runs, "all")).remainder(qrels).to_frame()[["qid", "docno"]]
            further = top[top["qid"].isin(qrels.topics)].reset_index(drop=True)
        return Filling.of(qrels, rel, removed, further, self.judges)

    def caveats(self, filling: Filling, remove: str) -> list[Caveat]:
        """Return what keeps filled scores from meaning what they seem to."""
        found = list(filling.caveats())
        for judge in self.judges:
            found += fitted_on_uniques(judge, filling)
        return [*found, only_relevant(self.judges)] if remove == "relevant" else found


def checked_fill(fill: Any, *, judge_rel: Any, holes: Any) -> Fill | None:
    """Return what the arguments of a study ask for, None where nothing is to be filled.

    Args:
        fill: a judge, a dict of name -> judge, or None.
        judge_rel: the lowest label of a judge that is relevant, as :func:`as_judges` takes it.
        holes: one of :data:`HOLES`.

    Raises:
        InputError: no judge, an unknown word, or a `judge_rel` or `holes` without a judge.
    """
    choice("holes", holes, HOLES)
    if fill is not None:
        return Fill(tuple(as_judges(fill, "fill", rel=judge_rel)), holes)
    for name, idle in (("judge_rel", judge_rel is None), ("holes", holes == HOLES[0])):
        if not idle:
            raise InputError(Argument(name), " is of a judge. Give one by ", Option("fill", ...), ".", argument=name)
    return None


def filled_tables(
    sets: UniqueSets,
    found: SetScores,
    filling: Filling,
    scores: Scores,
    units: Units,
    contributed: NDArray[np.bool_],
    *,
    bootstrap: TopicBootstrap | None,
    field: pd.DataFrame,
) -> FilledTables:
    """Return the tables of what filling does.

    Args:
        sets: the sets of judgments.
        found: the scores under them.
        filling: what the judges said.
        scores: the runs under the full judgments.
        units: the units of the field.
        contributed: (runs,) whether the run contributed to the pool.
        bootstrap: over topics; None for no intervals.
        field: the runs' ``name team type pooled``.
    """
    make, n = FilledRows(units, scores, contributed, bootstrap), len(units)
    has_topic = None if scores.complete else scores.has_topic
    of_units, of_runs, summary = {}, {}, []
    for j, judge in enumerate(filling.judges):
        counts, first = filling.counts(j, n), sets.filled(j)
        for m, measure in enumerate(scores.measures):
            removed, filled, alone = (
                TopicScores(values[m], has_topic) for values in (found.removed, found.filled[j], found.alone[j])
            )
            means = found.means[m]
            of_alone = np.broadcast_to(means[sets.alone(j)], (n, means.shape[1]))
            ways = (Way(removed, means[:n]), Way(filled, means[first : first + n]), Way(alone, of_alone, alone=True))
            mine = FilledScores(TopicScores(found.full[m], has_topic), dict(zip(WAYS, ways, strict=True)))
            rows = of_units[judge.name, measure] = make.of_units(mine, counts)
            of_runs[judge.name, measure] = make.of_runs(mine, field)
            summary.append({"judge": judge.name, "measure": measure, **make.summary(mine, rows)})
    return FilledTables(stacked(of_units, units.column), stacked(of_runs, "contributed"), pd.DataFrame(summary))
