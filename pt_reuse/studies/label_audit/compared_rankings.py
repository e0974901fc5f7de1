"""Rankings under the labels of people and of each judge: agreement by part of the field, and how far each run moves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._errors import ReuseWarning, located
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.units import Units
from pt_reuse.studies.label_audit.field_parts import ALL, FieldPart, parts_of

#: who gives the labels that are compared with those of people
MODEL, PEOPLE = "model", "people"


@dataclass(frozen=True)
class Comparison:
    """Who is compared with people, and on what.

    Attributes:
        judge: the name.
        kind: :data:`MODEL` or :data:`PEOPLE`.
        family: of the judge, None where nobody says.
        truth: the number of the labels of people among those scored.
        estimate: the number of the judge's.
        topics: those that count, as positions among the topics of people.
        documents: how many documents both labelled.
    """

    judge: str
    kind: str
    family: str | None
    truth: int
    estimate: int
    topics: NDArray[np.int64]
    documents: int

    @property
    def columns(self) -> dict[str, object]:
        """Return what each row of a table says of the judge."""
        return {"judge": self.judge, "kind": self.kind}


@dataclass(frozen=True)
class RankedField:
    """The field ranked under two sets of labels by one measure.

    Attributes:
        truth: scores under the labels of people.
        estimate: under those of a judge, on the same topics.
        bootstrap: over these topics, None for no intervals.
    """

    truth: TopicScores
    estimate: TopicScores
    bootstrap: TopicBootstrap | None

    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (runs,) means of both."""
        return self.truth.means()[0], self.estimate.means()[0]

    def rises(self, counts: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return (draws, runs): how many ranks each run gains under the judge, negative where it loses."""
        before, after = (pairs.ranks(rounded(side.means(counts))) for side in (self.truth, self.estimate))
        return before - after

    @cached_property
    def drawn_rises(self) -> NDArray[np.float64]:
        """Return (draws, runs) ranks gained in each draw; one draw of NaN where there is nothing to draw."""
        n_topics, n_runs = self.truth.values.shape
        if self.bootstrap is None or n_topics < 2:
            return np.full((1, n_runs), np.nan)
        return np.concatenate([self.rises(counts) for counts in self.bootstrap.blocks(n_topics)]).astype(np.float64)

    def rise_interval(self, runs: NDArray[np.int64], *, integer: bool) -> dict[str, float]:
        """Return the ends of the interval of the mean rise of some runs, by name; nothing without a bootstrap."""
        if self.bootstrap is None:
            return {}
        mean, most = float(self.rises()[0][runs].mean()), float(self.truth.values.shape[1] - 1)
        drawn = self.drawn_rises[:, runs].mean(axis=1)
        low, high = self.bootstrap.interval(mean, drawn, within=(-most, most), integer=integer)
        return {"low": low, "high": high}

    def of(self, part: FieldPart) -> tuple[TopicScores, TopicScores]:
        """Return the scores of some of the runs, to be ranked among themselves."""
        topics, runs = range(len(self.truth.values)), part.runs.tolist()
        return self.truth.of(topics, runs), self.estimate.of(topics, runs)


def agreement_rows(
    compared: Comparison, measure: str, field: RankedField, *, best: int, groups: Units | None
) -> list[dict[str, object]]:
    """Return a row per part of the field: how far the two rank its runs alike.

    Args:
        compared: who is compared.
        measure: by which the runs are scored.
        field: the two rankings.
        best: how many runs are the best.
        groups: of the runs, or None.

    Returns:
        Rows: ``judge kind family measure by part runs topics documents``, the numbers of
        :func:`~pt_reuse.arrays.bootstrap.ranking_agreement` within the part, and ``mean_rise``, the mean number of
        ranks that its runs gain in the whole field; each with its ends where there is a bootstrap.
    """
    rises = field.rises()[0]
    rows = []
    for part in parts_of(field.means()[0], best, groups):
        with located(f"{compared.judge}, {measure}"), warnings.catch_warnings():
            if part.by != ALL:
                # of a few runs all tie in some draws as a rule, which settings tell
                warnings.simplefilter("ignore", ReuseWarning)
            found = ranking_agreement(*field.of(part), field.bootstrap)
        ends = field.rise_interval(part.runs, integer=False)
        rows.append(
            {
                **compared.columns,
                "family": compared.family,
                "measure": measure,
                "by": part.by,
                "part": part.name,
                "runs": len(part.runs),
                "topics": len(compared.topics),
                "documents": compared.documents,
                **found,
                "mean_rise": float(rises[part.runs].mean()),
                **{f"mean_rise_{end}": value for end, value in ends.items()},
            }
        )
    return rows


def moved_runs(compared: Comparison, measure: str, field: RankedField, run_table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run, in the order of the field.

    Returns:
        DataFrame: ``judge kind measure name team type score judge_score change relative by_documents rank judge_rank
        rise``, and ``rise_low rise_high`` where there is a bootstrap. ``relative`` is the change of the score less the
        mean change of all runs; ``by_documents`` is not known here, NaN.
    """
    score, judge_score = field.means()
    change, rises = judge_score - score, field.rises()[0]
    rank = pairs.ranks(rounded(score))
    moved = pd.DataFrame({name: run_table[name].to_numpy() for name in ("name", "team", "type")})
    for at, (column, value) in enumerate({**compared.columns, "measure": measure}.items()):
        moved.insert(at, column, value)
    ends = [field.rise_interval(np.array([run]), integer=True) for run in range(len(rises))]
    return moved.assign(
        score=score,
        judge_score=judge_score,
        change=change,
        relative=change - change.mean(),
        by_documents=np.nan,
        rank=rank,
        judge_rank=rank - rises,
        rise=rises,
        **{f"rise_{end}": [of_run[end] for of_run in ends] for end in ends[0]},
    )


def furthest_first(moved: pd.DataFrame) -> pd.DataFrame:
    """Return runs that moved, the one that gains most ranks first; of several the best one under people."""
    return moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable").reset_index(drop=True)


def without_ranking(table: pd.DataFrame) -> Sequence[str]:
    """Return which rankings of all runs do not exist, since all tie under people or under the judge."""
    none = table[(table["by"] == ALL) & table["tau_b"].isna()]
    return [f"{row.measure} of {row.judge}" for row in none.itertuples()]
