"""Cells: what one judge makes of each family of runs, with intervals over topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import described
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.studies.judge_families.family_runs import FamilyRuns
from pt_reuse.studies.judge_families.gains import AGAINST, MATCHED, Contrast, FieldGains, matched
from pt_reuse.studies.judged_fields import ScoredSides


class Cells:
    """One judge, and all families of runs.

    Args:
        scored: the runs under both labels.
        of_runs: the families.
        caliper: within which runs are matched.
    """

    def __init__(self, scored: ScoredSides, of_runs: FamilyRuns, caliper: float):
        self.scored, self.of_runs = scored, of_runs
        every = np.arange(len(of_runs.runs))
        by_name = np.argsort(np.array(of_runs.runs, dtype=object), kind="stable")
        self.contrasts: dict[tuple[str, str], Contrast] = {}
        for measure, means in zip(scored.human.measures, scored.human.mean_values, strict=True):
            for family in of_runs.names:
                mine = of_runs.positions(family)
                others = np.setdiff1d(every, mine)
                # of equally near runs the first by name, so that the order of the field has no part in it
                pairs = matched(means, mine, by_name[np.isin(by_name, others)], caliper)
                self.contrasts[measure, family] = Contrast(mine, others, pairs)

    def _gains(self, measure: str, counts: NDArray[np.int64] | None = None) -> FieldGains:
        return FieldGains(
            self.scored.human.topic_means[measure].means(counts), self.scored.judge.topic_means[measure].means(counts)
        )

    def table(self, bootstrap: TopicBootstrap | None, topics: Sequence[str]) -> pd.DataFrame:
        """Return one row per measure, family and whom it is held against.

        Args:
            bootstrap: None for no intervals.
            topics: of the people, which are drawn for all judges together.
        """
        labels, measures = self.scored.labels, self.scored.human.measures
        place = {topic: n for n, topic in enumerate(topics)}
        at = np.array([place[topic] for topic in self.scored.human.topics], dtype=np.int64)
        draws: dict[tuple[str, str, str], list[NDArray[np.float64]]] = {}
        for counts in bootstrap.blocks(len(topics)) if bootstrap and len(at) > 1 else ():
            mine = counts[:, at]
            # a judge may have labelled none of the topics of a draw
            nothing = mine.sum(axis=1) == 0
            for measure in measures:
                gains = self._gains(measure, mine)
                for family, against, contrast in self._of(measure):
                    found = gains.over(contrast, against)
                    both = np.stack([found.rank_effect, found.score_effect])
                    draws.setdefault((measure, family, against), []).append(np.where(nothing, np.nan, both))
        rows = []
        for measure in measures:
            gains = self._gains(measure)
            for family in self.of_runs.names:
                contrast = self.contrasts[measure, family]
                for against in AGAINST:
                    rows.append(
                        {
                            "measure": measure,
                            "judge": labels.name,
                            "judge_family": labels.family,
                            "family": family,
                            "own": labels.family == family,
                            **_row(gains, contrast, against),
                        }
                    )
                    if bootstrap is not None:
                        drawn = draws.get((measure, family, against))
                        both = np.full((2, 1), np.nan) if drawn is None else np.concatenate(drawn, axis=1)
                        rows[-1] = _with_ends(rows[-1], bootstrap, both, len(at))
        return pd.DataFrame(rows).astype({"judge_family": object})

    def _of(self, measure: str) -> list[tuple[str, str, Contrast]]:
        """Return the family, against whom, and who they are, of each number that there is."""
        return [
            (family, against, self.contrasts[measure, family])
            for family in self.of_runs.names
            for against in AGAINST
            if against != MATCHED or len(self.contrasts[measure, family].matches)
        ]

    def matches(self) -> pd.DataFrame:
        """Return one row per measure and run of a family, with the other run that is matched with it."""
        names = np.array([*self.of_runs.runs, None], dtype=object)
        parts = []
        for (measure, family), contrast in self.contrasts.items():
            scores = np.append(self.scored.human.mean_values[self.scored.human.measures.index(measure)], np.nan)
            partner = np.full(len(names), -1)
            partner[contrast.matches[:, 0]] = contrast.matches[:, 1]
            of = partner[contrast.family]
            parts.append(
                pd.DataFrame(
                    {
                        "measure": measure,
                        "judge": self.scored.labels.name,
                        "family": family,
                        "name": names[contrast.family],
                        "match": names[of],
                        "score": scores[contrast.family],
                        "match_score": scores[of],
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)


def _row(gains: FieldGains, contrast: Contrast, against: str) -> dict[str, Any]:
    """Return who is held against whom, and by how much they differ."""
    pairs = contrast.matches
    n_runs, n_others = len(contrast.family), len(contrast.others)
    if against == MATCHED:
        n_runs, n_others = len(pairs), len(np.unique(pairs[:, 1]))
    row: dict[str, Any] = {
        "against": against,
        "runs": n_runs,
        "others": n_others,
        "unmatched": len(contrast.family) - n_runs,
    }
    if not n_runs:
        names = "rise", "others_rise", "rank_effect", "change", "others_change", "score_effect"
        return row | dict.fromkeys(names, float("nan"))
    found = gains.over(contrast, against)
    return row | {
        "rise": float(found.gained[0]),
        "others_rise": float(found.others_gained[0]),
        "rank_effect": float(found.rank_effect[0]),
        "change": float(found.change[0]),
        "others_change": float(found.others_change[0]),
        "score_effect": float(found.score_effect[0]),
    }


def _with_ends(
    row: dict[str, Any], bootstrap: TopicBootstrap, drawn: NDArray[np.float64], n_topics: int
) -> dict[str, Any]:
    """Return a row with the ends of the intervals of both effects behind each."""
    found: dict[str, Any] = {}
    ends = {
        "rank_effect": bootstrap.interval(row["rank_effect"], drawn[0]),
        "score_effect": bootstrap.t_interval(row["score_effect"], drawn[1], n_topics),
    }
    for name, value in row.items():
        found[name] = value
        if name in ends:
            found[f"{name}_low"], found[f"{name}_high"] = ends[name]
    return found


def by_run(scored: ScoredSides, runs: RunSet) -> pd.DataFrame:
    """Return one row per measure and run under one judge."""
    table = described(runs.run_table).drop(columns="pooled")
    own = (table["family"] == scored.labels.family).to_numpy(dtype=bool)
    parts = []
    for m, measure in enumerate(scored.human.measures):
        human, judge = scored.human.mean_values[[m]], scored.judge.mean_values[[m]]
        gains = FieldGains(human, judge)
        rank, judge_rank = (scores.ranks[measure].to_numpy() for scores in (scored.human, scored.judge))
        parts.append(
            table.assign(
                own=own,
                measure=measure,
                judge=scored.labels.name,
                score=human[0],
                judge_score=judge[0],
                change=gains.change[0],
                rank=rank,
                judge_rank=judge_rank,
                rise=gains.gained[0],
            )
        )
    return pd.concat(parts, ignore_index=True)


def judges_table(compared: Sequence[ComparedLabels]) -> pd.DataFrame:
    """Return one row per judge: what it labelled of what people judged."""
    rows = [
        {
            "judge": labels.name,
            "family": labels.family,
            "relevant_from": labels.judge_rel,
            "documents": len(labels.pairs),
            "missing": labels.missing,
            "topics": len(labels.human.topics),
            "topics_without": len(labels.without),
        }
        for labels in compared
    ]
    return pd.DataFrame(rows).astype({"family": object})
