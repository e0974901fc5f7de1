"""family_effect: whether a judge favours the runs of a family, such as its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.columns import Table
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import column_of, described
from pt_reuse.errors import InputError, choice, count, number, warn
from pt_reuse.inputs import interval_settings, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.plots.bars import plot_family_map
from pt_reuse.plots.forests import plot_family_forest
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import KeyFigures, cells, records
from pt_reuse.studies.judged_fields import JudgedInputs, OfJudges
from pt_reuse.study import study

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
#: against whom a family is held
OTHERS, MATCHED, ALONE = "others", "matched", "alone"
AGAINST = (OTHERS, MATCHED, ALONE)
#: a line through fewer runs says nothing of another one
LEAST_IN_LINE = 3
#: means over runs that a row of the table has
_MEANS = ("rise", "others_rise", "rank_effect", "change", "others_change", "score_effect")
#: cells of which the answer speaks
_IN_ANSWER = 3


@dataclass(frozen=True)
class Contrast:
    """Positions of the (k,) runs of a family, of the (m,) other runs, and (p, 2) pairs of matched runs."""

    family: Positions
    others: Positions
    matches: Positions

    def sides(self, against: str) -> tuple[Positions, Positions]:
        """Return the runs of the family that count, and those that they are held against."""
        return (self.matches[:, 0], self.matches[:, 1]) if against == MATCHED else (self.family, self.others)


class FieldGains:
    """What each run of a field gains under a judge, by (draws, runs) mean scores under people and under the judge."""

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

    def over(self, contrast: Contrast, against: str) -> dict[str, Floats]:
        """Return (draws,) each of :data:`_MEANS`, of a family and whom it is held against."""
        family, others = contrast.sides(against)
        of_family, of_others = self.gained[:, family], self.gained[:, others]
        if against == ALONE:
            # a rank is 1 and the better runs; without those of the family there remain the better ones of the others
            of_family, of_others = of_family - self._gained_among(family), self._gained_among(others)
        rise, others_rise = of_family.mean(axis=1), of_others.mean(axis=1)
        change, others_change = self.change[:, family].mean(axis=1), self.change[:, others].mean(axis=1)
        effect = change - others_change if against == MATCHED else self._above_line(family, others)
        return dict(zip(_MEANS, (rise, others_rise, rise - others_rise, change, others_change, effect), strict=True))

    def _above_line(self, family: Positions, others: Positions) -> Floats:
        """Return (draws,): how far the family's scores by the judge lie above the line through those of the others."""
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
    """Return (p, 2): each run of a family with the other run whose score is nearest, where one is near enough."""
    most = caliper * float(np.std(scores, ddof=1)) + 10.0**-DECIMALS
    apart = np.round(np.abs(scores[family][:, None] - scores[others][None]), DECIMALS)
    nearest = apart.argmin(axis=1)
    near = apart[np.arange(len(family)), nearest] <= most
    return np.column_stack([family[near], others[nearest[near]]]).astype(np.int64)


def contrasts_of(means: Floats, runs: pd.DataFrame, caliper: float) -> dict[str, Contrast]:
    """Return family -> its contrast, of (runs,) means by people and a table ``name family`` of the runs."""
    by_name, contrasts = np.argsort(runs["name"].to_numpy(dtype=object), kind="stable"), {}
    for family in runs["family"].dropna().unique():
        is_of = (runs["family"] == family).to_numpy(dtype=bool)
        of_family, others = np.flatnonzero(is_of), np.flatnonzero(~is_of)
        # of equally near runs the first by name, so that the order of the field has no part in it
        matches = matched(means, of_family, by_name[~is_of[by_name]], caliper)
        contrasts[family] = Contrast(of_family, others, matches)
    return contrasts


def _draw(
    plot: Callable[..., Axes], result: FamilyEffect, measure: str, place: Place | None, *, of: str = "rank"
) -> Axes:
    column = f"{choice('of', of, ('rank', 'score'))}_effect"
    return plot(result.cells(measure), column=column, measure=measure, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FamilyEffect(OfJudges):
    """What each judge makes of each family of runs, beside what people make of them."""

    title = "Family effect"
    valid_for = "labels of people as the truth, relevant: {relevant}; effect: {effect}; {missing}."
    not_covered = "why: the runs of a family have more in common than their model."
    plots = {"map": partial(_draw, plot_family_map), "forest": partial(_draw, plot_family_forest)}
    key = (KeyFigures(("rank_effect", "score_effect"), row="{judge} on {family}, {against}"),)
    columns = """
    judge_family    | Judge's family  |        | the family of models that the judge is of
    own             | Own             |        | whether the judge is of this family
    against         | Against         |        | whom the family is held against: "others", "matched" or "alone"
    runs            | Runs            | count  | runs of the family that count
    others          | Others          | count  | other runs that count
    unmatched       | Unmatched       | count  | runs of the family without a match
    rise            | Ranks gained    | places | ranks gained under the judge, of a family the mean over its runs
    others_rise     | Ranks gained, others | places | the mean of the others
    rank_effect     | Effect on ranks | places | the difference of both
    change          | Change          | difference | change of the score less that of the whole field, likewise
    others_change   | Change, others  | difference | the mean of the others
    score_effect    | Effect on scores | difference | the same at equal scores by people, NaN with under three others
    score           | Score           | score  | mean score by people
    judge_score     | Score, judge    | score  | mean score by the judge
    judge_rank      | Rank, judge     | ranks  | rank by it
    match           | Match           |        | the other run that is nearest by people, None where none is near enough
    match_score     | Score of match  | score  | its mean score by people
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure, judge, family of runs and whom it is held against",
            "measure judge* judge_family family* own against* runs others unmatched rise others_rise rank_effect~* "
            "change others_change score_effect~*",
            select={"against": None},
        ),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "measure, judge and run",
            "name* team type family* own measure judge score* judge_score* change* rank judge_rank rise*",
            select={"judge": None},
        ),
    ]
    matches: Annotated[
        pd.DataFrame,
        Table(
            "measure, judge and run of a family",
            "measure judge family* name* match* score* match_score*",
            select={"judge": None},
        ),
    ]

    def cells(self, measure: str | None = None, against: str = OTHERS) -> pd.DataFrame:
        """Return the rows of the table under one measure, held against one kind of other runs."""
        name = self.measures[0] if measure is None else measure
        kept = (self.table["measure"] == name) & (self.table["against"] == choice("against", against, AGAINST))
        return self.table[kept].reset_index(drop=True)

    def answers(self) -> list[str]:
        lines = []
        for measure in self.measures:
            rows = self.cells(measure)
            largest = rows.index == int(rows["rank_effect"].abs().to_numpy().argmax())
            for row in records(rows[rows["own"] if rows["own"].any() else largest]):
                line = "{rank_effect:+.2f} ranks, {score_effect:+.4f} of the score at equal scores by people"
                own = "its own family " if row["own"] else ""
                effect = line.format_map(cells(row, self.columns))
                lines.append(f"{measure}: {row['judge']} on {own}{row['family']} {effect}")
        return lines[:_IN_ANSWER]


@study(
    question="Does a judge favour its own family of runs?",
    aim="models",
    command="audit",
    group="labels",
    papers="[B25]_",
)
def family_effect(
    runs: options.Runs,
    human: options.HumanJudgments,
    judge: options.JudgeLabels,
    measures: options.Measures,
    *,
    caliper: Annotated[
        float,
        options.Option(
            "how far apart two matched runs may be in their mean score by people, in standard deviations of the means "
            "of all runs; 0.2 by default, the usual width for matching (Austin 2011). An other run may be matched with "
            "several runs of the family; of equally near ones it is the first by name.",
            check=partial(number, "caliper"),
        ),
    ] = 0.2,
    rel: options.Rel = None,
    judge_rel: options.JudgeGrade = None,
    families: options.Families = None,
    missing: options.Missing = "unjudged",
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    complete: options.Complete = True,
    verbose: options.Verbose = False,
) -> FamilyEffect:
    """Compute how much more the runs of each family gain under each judge than other runs, in ranks and in scores.

    The *gain* of a run is how many ranks higher it is by the judge's labels than by those of people. The effect on a
    family is the mean gain of its runs minus that of the runs that they are compared with: all ``"others"``; the
    ``"matched"`` ones, for each run of the family the other run whose score by people is nearest; or ``"alone"``, where
    each run of the family is ranked alone among the others.

    The effect on scores is how far the family's scores by the judge are above the least-squares line of the others
    (judge on people); among matched runs it is the difference of the changes.

    Args:
        runs: the field, with a column ``family`` in its metadata: a RunSet. Runs without a family are others to every
            family.
        families: judge -> family, the family of runs that is the judge's own; default those of the judges.

    Raises:
        InputError: no run has a family, or all have the same one; no judge; a judge that labelled nothing that people
            judged.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> types = field.run_table[["name", "type"]].rename(columns={"type": "family"})
        >>> runs = field.runs.with_metadata(metadata=types)
        >>> judge = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.2, labels=[0, 1, 2]), seed=1)
        >>> families = {"noisy": "neural"}
        >>> found = ptr.labels.family_effect(runs, field.qrels, judge, "nDCG@10", families=families, resamples=200)
        >>> own = found.table.query("own and against == 'others'")
        >>> own[["family", "runs", "rank_effect", "rank_effect_low", "rank_effect_high"]].round(2).values.tolist()
        [['neural', 6, -4.5, -11.27, 2.27]]

    Source: Balog, Metzler and Qin 2025, Rankers, judges, and assistants: towards understanding the interplay of LLMs in
    information retrieval evaluation, SIGIR, https://arxiv.org/abs/2503.19092, who ask whether judges favour rankers of
    their own kind; caliper: Austin 2011, Optimal caliper widths for propensity-score matching, Pharmaceutical
    Statistics 10.
    """
    judges = as_judges(judge, rel=judge_rel, families=families)
    asked = JudgedInputs.read(runs, human, judges, measures, rel, complete=complete, missing=missing)
    field, people = asked.inputs.runs, asked.inputs.qrels
    of_runs = _families_of(field.run_table)
    families_of_runs = of_runs["family"].dropna().unique().tolist()
    known = {family.casefold().strip(): family for family in families_of_runs}
    for named in judges:
        near = known.get(str(named.family).casefold().strip())
        if named.family is not None and near not in (None, named.family):
            warn(f"{named.name} is of the family {named.family!r}, and runs are of {near!r}: these count as two.")
    asked.beware()
    bootstrap = asked.inputs.bootstrap(resamples, seed, confidence, None)

    rows, by_run, matches = list[dict[str, Any]](), list[pd.DataFrame](), list[pd.DataFrame]()
    for labels, by_people, by_judge in asked.both_scored(verbose=verbose):
        at = np.array([people.arrays.documents.place[topic] for topic in by_people.topics], dtype=np.int64)
        for m, measure in enumerate(by_people.measures):
            about = {"measure": measure, "judge": labels.name}
            sides = by_people.topic_means[measure], by_judge.topic_means[measure]
            contrasts = contrasts_of(by_people.mean_values[m], of_runs, caliper)
            # topics of people are drawn for all judges; some draws have no topic that the judge labelled
            blocks = bootstrap.blocks(len(people.topics)) if bootstrap and len(at) > 1 else ()
            draws = [
                (FieldGains(*(side.means(counts) for side in sides)), counts.sum(axis=1) == 0)
                for counts in (block[:, at] for block in blocks)
            ]
            of_all = _rows_of(FieldGains(*(side.means() for side in sides)), draws, contrasts, bootstrap, len(at))
            rows += [{**about, "judge_family": labels.family, **row} for row in of_all]
            gains = FieldGains(by_people.mean_values[[m]], by_judge.mean_values[[m]])
            by_run.append(_by_run(gains, field, labels.family).assign(**about))
            matches += [frame.assign(**about) for frame in _matches(by_people.names, gains.human[0], contrasts)]
    table = pd.DataFrame(rows).astype({"judge_family": object})
    table["own"] = table["judge_family"] == table["family"]
    order = {repr(measure): n for n, measure in enumerate(asked.inputs.measures)}
    cells_of_all = len(judges) * len(families_of_runs)
    words = f"; of effects on scores t intervals; not corrected for their number, {cells_of_all:,}"
    settings = settings_of(
        asked,
        interval_settings(bootstrap, words),
        effect="mean of (rank by people - rank by the judge) over the runs of a family, less the others'",
        score_effect="above the line through the others (judge on people); matched: difference of changes",
        against="others: all ranked together; matched: nearest by people; alone: others ranked without family",
        matched_within=f"{caliper:g} standard deviations of the runs' means by people, with replacement",
        runs_without_a_family=int(of_runs["family"].isna().sum()),
    )
    return FamilyEffect(
        table=table.sort_values("measure", key=lambda names: names.map(order), kind="stable", ignore_index=True),
        by_run=pd.concat(by_run, ignore_index=True),
        matches=pd.concat(matches, ignore_index=True),
        settings=settings,
    )


#: gains in some draws, and (draws,) which of these have no topic that the judge labelled
_Draws = list[tuple[FieldGains, NDArray[np.bool_]]]


def _rows_of(
    gains: FieldGains, draws: _Draws, contrasts: Mapping[str, Contrast], bootstrap: TopicBootstrap | None, n_topics: int
) -> Iterator[dict[str, Any]]:
    """Yield a row of the table per family and whom it is held against."""
    for (family, contrast), against in product(contrasts.items(), AGAINST):
        family_runs, others = contrast.sides(against)
        n = len(family_runs)
        row: dict[str, Any] = {"family": family, "against": against, "runs": n}
        row |= {"others": len(np.unique(others)), "unmatched": len(contrast.family) - n}
        means = gains.over(contrast, against) if n else dict.fromkeys(_MEANS, np.full(1, np.nan))
        row |= {name: float(values[0]) for name, values in means.items()}
        if bootstrap is not None:
            drawn = [(some.over(contrast, against), none) for some, none in draws if n]
            ranks, scores = (
                np.concatenate([np.full(1, np.nan), *(np.where(none, np.nan, of[name]) for of, none in drawn)])
                for name in ("rank_effect", "score_effect")
            )
            row["rank_effect_low"], row["rank_effect_high"] = bootstrap.interval(row["rank_effect"], ranks)
            ends = bootstrap.t_interval(row["score_effect"], scores, n_topics)
            row["score_effect_low"], row["score_effect_high"] = ends
        yield row


def _matches(names: list[str], scores: Floats, contrasts: Mapping[str, Contrast]) -> Iterator[pd.DataFrame]:
    every, of_each = np.array([*names, None], dtype=object), np.append(scores, np.nan)
    for family, contrast in contrasts.items():
        partner = np.full(len(every), -1)
        partner[contrast.matches[:, 0]] = contrast.matches[:, 1]
        run, other = contrast.family, partner[contrast.family]
        rows = {"name": every[run], "match": every[other], "score": of_each[run], "match_score": of_each[other]}
        yield pd.DataFrame({"family": family, **rows})


def _by_run(gains: FieldGains, runs: RunSet, judge_family: str | None) -> pd.DataFrame:
    table = described(runs.run_table).drop(columns="pooled")
    rank, judge_rank = (pairs.ranks(rounded(scores[0])) for scores in (gains.human, gains.judge))
    return table.assign(
        own=(table["family"] == judge_family).to_numpy(dtype=bool),
        score=gains.human[0],
        judge_score=gains.judge[0],
        change=gains.change[0],
        rank=rank,
        judge_rank=judge_rank,
        rise=gains.gained[0],
    )


def _families_of(run_table: pd.DataFrame) -> pd.DataFrame:
    """Return ``name family`` of the runs; raise where no two runs are of different families, or of one and of none."""
    of_run = [None if pd.isna(value) else str(value) for value in column_of(run_table, "family")]
    names = list(dict.fromkeys(of_run))
    if names == [None]:
        raise InputError("no run has a family. Give a column family in the metadata of the runs.", argument="runs")
    if len(names) == 1:
        what = f"{count(len(of_run), 'run')}, all of the family {names[0]!r}. Add runs of other families, or of none."
        raise InputError(what, argument="runs")
    return pd.DataFrame({"name": run_table["name"].to_numpy(), "family": pd.Series(of_run, dtype=object)})
