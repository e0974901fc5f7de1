"""What judges make of families of runs: gains in score and rank, and their means by judge and family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import Argument, InputError, Option, warn
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import column_of, described, how_to_give
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.studies.judged_fields import ScoredSides


class FamilyRuns:
    """Which runs of a field are of which family.

    Args:
        run_table: one row per run: ``name``, and ``family`` where anybody gave one. Runs without a family are of none,
            and others for every family.

    Attributes:
        names: the families, in order of appearance.
        of_run: (runs,) the family of each, None for none.

    Raises:
        InputError: no run has a family, or all runs are of the same one.
    """

    def __init__(self, run_table: pd.DataFrame):
        column = column_of(run_table, "family")
        self.of_run: list[str | None] = [None if pd.isna(value) else str(value) for value in column]
        self.names = list(dict.fromkeys(value for value in self.of_run if value is not None))
        self.runs = run_table["name"].tolist()
        if not self.names:
            raise InputError("no run has a family. Give ", *how_to_give("family"), ".", argument="runs")
        if len(self.names) == 1 and None not in self.of_run:
            raise InputError(
                f"{_every(len(self.of_run))} of the family {self.names[0]!r}, so there is no other run to hold it "
                "against. Add runs of other families, or of none.",
                argument="runs",
            )

    def positions(self, family: str) -> NDArray[np.int64]:
        """Return (k,) the positions of the runs of a family."""
        return np.flatnonzero([value == family for value in self.of_run])

    @property
    def without(self) -> int:
        """Return how many runs have no family."""
        return sum(value is None for value in self.of_run)

    def caveats(self) -> Iterator[Caveat]:
        """Yield what keeps an effect of a family from saying something of the family."""
        runs = {family: self.positions(family) for family in self.names}
        single = [family for family, rows in runs.items() if len(rows) == 1]
        if single:
            which = examples(f"{family} ({self.runs[runs[family][0]]})" for family in single)
            one = len(single) == 1
            yield Caveat(
                f"{count(len(single), 'family')} of one run",
                (
                    f"{count(len(single), 'family')} of one run: {which}. What {'its' if one else 'their'} effect says "
                    f"is true of {'this run' if one else 'these runs'}, and need not be of another run of "
                    f"the {'family' if one else 'families'}.",
                ),
            )
        few = [family for family, rows in runs.items() if len(self.of_run) - len(rows) < LEAST_IN_LINE]
        if few:
            yield Caveat(
                f"fewer than {LEAST_IN_LINE} other runs for {examples(few)}",
                (
                    f"there are fewer than {LEAST_IN_LINE} runs that are not of {examples(few)}. A line through so few "
                    "scores says nothing, so there is no effect on scores; that on ranks is one of "
                    "very few places.",
                ),
            )

    def check_judges(self, judges: Sequence[NamedJudge]) -> None:
        """Warn where the family of a judge is that of no run, and one of the runs is written almost alike."""
        known = {family.casefold().strip(): family for family in self.names}
        for judge in judges:
            if judge.family is None or judge.family in self.names:
                continue
            near = known.get(judge.family.casefold().strip())
            if near is not None:
                warn(
                    f"{judge.name} is of the family {judge.family!r}, and runs are of {near!r}: these count as two "
                    "families. Write both alike in ",
                    Argument("families"),
                    " or in ",
                    Option("metadata", ...),
                    " of the runs, where they are one.",
                )


def _every(n_runs: int) -> str:
    return "the only run is" if n_runs == 1 else f"all {n_runs:,} runs are"


Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

#: against whom a family is held
OTHERS, MATCHED, ALONE = "others", "matched", "alone"
AGAINST = (OTHERS, MATCHED, ALONE)
#: a line through fewer runs says nothing of another one
LEAST_IN_LINE = 3


@dataclass(frozen=True)
class Contrast:
    """A family of runs and those that it is held against.

    Attributes:
        family: (k,) positions of its runs in the field, one at least.
        others: (m,) positions of all other runs, one at least.
        matches: (p, 2) positions of runs of the family and of the other run that is matched with each.
    """

    family: Positions
    others: Positions
    matches: Positions


@dataclass(frozen=True)
class Gains:
    """What the runs of a family gain, and what those gain that they are held against.

    All are (draws,) means over runs.

    Attributes:
        gained: ranks that runs of the family gain.
        others_gained: ranks that the others gain.
        change: of the score of runs of the family, less the mean change of the whole field.
        others_change: the same of the others.
        score_effect: what the score of the family's runs has gained beyond that of the others, at equal scores by
            people; NaN where it cannot be told.
    """

    gained: Floats
    others_gained: Floats
    change: Floats
    others_change: Floats
    score_effect: Floats

    @property
    def rank_effect(self) -> Floats:
        """Return (draws,): how many more ranks runs of the family gain."""
        return self.gained - self.others_gained


class FieldGains:
    """What each run of a field gains under a judge.

    Args:
        human: (draws, runs) mean scores under the labels of people.
        judge: (draws, runs) the same under the judge's.
    """

    def __init__(self, human: Floats, judge: Floats):
        self.human, self.judge = human, judge
        self._ranked = np.round(human, DECIMALS), np.round(judge, DECIMALS)
        self.gained = self._gained_among(np.arange(human.shape[1]))
        change = judge - human
        # rounded as means are before they are ranked, so that nothing is no effect
        self.change = np.round(change - change.mean(axis=1, keepdims=True), DECIMALS) + 0.0

    def _gained_among(self, runs: Positions) -> NDArray[np.int64]:
        """Return (draws, len(runs)): the ranks that runs gain where they alone are the field."""
        human, judge = (scores[:, runs] for scores in self._ranked)
        return pairs.ranks(human) - pairs.ranks(judge)

    def over(self, contrast: Contrast, against: str) -> Gains:
        """Return what a family gains over others.

        Args:
            contrast: who they are.
            against: ``"others"``: all other runs, all ranked together; ``"matched"``: the other run that is matched
                with each run of the family; ``"alone"``: all other runs, ranked without the family, each of whose runs
                takes its place among them alone.
        """
        family, others = contrast.family, contrast.others
        if against == MATCHED:
            family, others = contrast.matches.T
        mine, theirs = self.gained[:, family], self.gained[:, others]
        if against == ALONE:
            # a rank is 1 and the better runs; without those of the family there remain the better ones of the others
            mine = mine - self._gained_among(family)
            theirs = self._gained_among(others)
        change, others_change = self.change[:, family].mean(axis=1), self.change[:, others].mean(axis=1)
        return Gains(
            gained=mine.mean(axis=1),
            others_gained=theirs.mean(axis=1),
            change=change,
            others_change=others_change,
            score_effect=change - others_change if against == MATCHED else self._above_line(family, others),
        )

    def _above_line(self, family: Positions, others: Positions) -> Floats:
        """Return (draws,): how far the family's scores by the judge lie above the line through those of the others.

        The line says what score by the judge goes with a score by people. A judge that errs at random draws all
        scores together, so that good runs lose and bad ones gain; that is its scale, and no favour to a family.
        """
        x, y = self.human[:, others], self.judge[:, others]
        x_mean, y_mean = x.mean(axis=1), y.mean(axis=1)
        off = x - x_mean[:, None]
        spread = (off**2).sum(axis=1)
        defined = (spread > 10.0**-DECIMALS) & (len(others) >= LEAST_IN_LINE)
        slope = np.full(len(x), np.nan)
        np.divide((off * y).sum(axis=1), spread, out=slope, where=defined)
        expected = y_mean + slope * (self.human[:, family].mean(axis=1) - x_mean)
        # + 0.0: what rounds to nothing has no sign
        return np.round(self.judge[:, family].mean(axis=1) - expected, DECIMALS) + 0.0


def matched(scores: Floats, family: Positions, others: Positions, caliper: float) -> Positions:
    """Return (p, 2): each run of a family with the other run whose score is nearest, where one is near enough.

    An other run may be matched with several. Of equally near ones it is the first of `others`.

    Args:
        scores: (runs,) by which they are matched.
        family: positions of the runs of the family.
        others: positions of the others.
        caliper: how far two may be apart at most, in standard deviations of the scores of all runs.
    """
    most = caliper * float(np.std(scores, ddof=1)) + 10.0**-DECIMALS
    apart = np.round(np.abs(scores[family][:, None] - scores[others][None]), DECIMALS)
    nearest = apart.argmin(axis=1)
    near = apart[np.arange(len(family)), nearest] <= most
    return np.column_stack([family[near], others[nearest[near]]]).astype(np.int64)


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
