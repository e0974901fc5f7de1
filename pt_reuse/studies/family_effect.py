"""family_effect: whether a judge favours the runs of a family, such as its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, number
from pt_reuse._report import Digits
from pt_reuse._text import with_ends
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import column_of, described, how_to_give
from pt_reuse.errors import InputError, warn
from pt_reuse.judge import JudgeRel, NamedJudge
from pt_reuse.options import Parameter
from pt_reuse.plots.forests import plot_family_forest
from pt_reuse.plots.maps import plot_family_map
from pt_reuse.result import KeyFigures, Result, Shown, View, clauses
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.studies.judged_fields import NOTES, AskedJudges, ComparedLabels, ScoredSides
from pt_reuse.study import Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
#: against whom a family is held
OTHERS, MATCHED, ALONE = "others", "matched", "alone"
AGAINST = (OTHERS, MATCHED, ALONE)
#: a line through fewer runs says nothing of another one
LEAST_IN_LINE = 3
#: means over runs that a row of the table has
_MEANS = ("rise", "others_rise", "rank_effect", "change", "others_change", "score_effect")


@dataclass(frozen=True)
class Contrast:
    """Positions of the (k,) runs of a family, of the (m,) other runs, and (p, 2) pairs of matched runs."""

    family: Positions
    others: Positions
    matches: Positions

    def sides(self, against: str) -> tuple[Positions, Positions]:
        """Return the runs of the family that count, and those that they are held against."""
        family, others = self.matches.T if against == MATCHED else (self.family, self.others)
        return family, others


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
        mine, theirs = self.gained[:, family], self.gained[:, others]
        if against == ALONE:
            # a rank is 1 and the better runs; without those of the family there remain the better ones of the others
            mine = mine - self._gained_among(family)
            theirs = self._gained_among(others)
        rise, others_rise = mine.mean(axis=1), theirs.mean(axis=1)
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
    by_name, found = np.argsort(runs["name"].to_numpy(dtype=object), kind="stable"), {}
    for family in runs["family"].dropna().unique():
        mine = np.flatnonzero(runs["family"] == family)
        others = np.setdiff1d(np.arange(len(runs)), mine)
        # of equally near runs the first by name, so that the order of the field has no part in it
        found[family] = Contrast(mine, others, matched(means, mine, by_name[np.isin(by_name, others)], caliper))
    return found


def _rows_of(
    sides: ScoredSides,
    measure: str,
    contrasts: Mapping[str, Contrast],
    bootstrap: TopicBootstrap | None,
    topics: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """Yield a row of the table per family and whom it is held against; topics of people are drawn for all judges."""
    labels, place = sides.labels, {topic: n for n, topic in enumerate(topics)}
    at = np.array([place[topic] for topic in sides.human.topics], dtype=np.int64)
    truth, estimate = sides.human.topic_means[measure], sides.judge.topic_means[measure]
    cells = [(family, against) for family in contrasts for against in AGAINST]
    counted = [cell for cell in cells if len(contrasts[cell[0]].sides(cell[1])[0])]
    drawn: dict[tuple[str, str], list[Floats]] = {cell: [] for cell in counted}
    for counts in bootstrap.blocks(len(topics)) if bootstrap and len(at) > 1 else ():
        mine = counts[:, at]
        # a judge may have labelled none of the topics of a draw
        nothing = mine.sum(axis=1) == 0
        gains = FieldGains(truth.means(mine), estimate.means(mine))
        for family, against in counted:
            found = gains.over(contrasts[family], against)
            both = np.stack([found["rank_effect"], found["score_effect"]])
            drawn[family, against].append(np.where(nothing, np.nan, both))
    gains = FieldGains(truth.means(), estimate.means())
    for family, against in cells:
        contrast, (runs, others) = contrasts[family], contrasts[family].sides(against)
        row: dict[str, Any] = {"measure": measure, "judge": labels.name, "judge_family": labels.family}
        row |= {"family": family, "own": labels.family == family, "against": against}
        row |= {"runs": len(runs), "others": len(np.unique(others)), "unmatched": len(contrast.family) - len(runs)}
        found = gains.over(contrast, against) if len(runs) else dict.fromkeys(_MEANS, np.full(1, np.nan))
        draws = np.concatenate(drawn.get((family, against)) or [np.full((2, 1), np.nan)], axis=1)
        for name, values in found.items():
            row[name] = value = float(values[0])
            if bootstrap is not None and name == "rank_effect":
                row[f"{name}_low"], row[f"{name}_high"] = bootstrap.interval(value, draws[0])
            if bootstrap is not None and name == "score_effect":
                row[f"{name}_low"], row[f"{name}_high"] = bootstrap.t_interval(value, draws[1], len(at))
        yield row


def _matches(sides: ScoredSides, m: int, contrasts: Mapping[str, Contrast]) -> Iterator[pd.DataFrame]:
    """Yield a row per run of a family, with the other run that is matched with it."""
    names, scores = np.array([*sides.human.names, None], dtype=object), np.append(sides.human.mean_values[m], np.nan)
    for family, contrast in contrasts.items():
        partner = np.full(len(names), -1)
        partner[contrast.matches[:, 0]] = contrast.matches[:, 1]
        mine, other = contrast.family, partner[contrast.family]
        rows = {"name": names[mine], "match": names[other], "score": scores[mine], "match_score": scores[other]}
        about = {"measure": sides.human.measures[m], "judge": sides.labels.name, "family": family}
        yield pd.DataFrame({**about, **rows})


def _by_run(sides: ScoredSides, m: int, runs: RunSet) -> pd.DataFrame:
    """Return one row per run under one judge by one measure."""
    table, measure = described(runs.run_table).drop(columns="pooled"), sides.human.measures[m]
    human, judge = sides.human.mean_values[[m]], sides.judge.mean_values[[m]]
    gains = FieldGains(human, judge)
    rank, judge_rank = (scores.ranks[measure].to_numpy() for scores in (sides.human, sides.judge))
    return table.assign(
        own=(table["family"] == sides.labels.family).to_numpy(dtype=bool),
        measure=measure,
        judge=sides.labels.name,
        score=human[0],
        judge_score=judge[0],
        change=gains.change[0],
        rank=rank,
        judge_rank=judge_rank,
        rise=gains.gained[0],
    )


def _judges_table(compared: Sequence[ComparedLabels]) -> pd.DataFrame:
    """Return one row per judge: what it labelled of what people judged."""
    columns = ["judge", "family", "relevant_from", "documents", "missing", "topics", "topics_without"]
    rows = [
        (one.name, one.family, one.judge_rel, len(one.pairs), one.missing, len(one.human.topics), len(one.without))
        for one in compared
    ]
    return pd.DataFrame(rows, columns=columns).astype({"family": object})


def _families_of(run_table: pd.DataFrame) -> pd.DataFrame:
    """Return ``name family`` of the runs; raise where no two runs are of different families, or of one and of none."""
    column = column_of(run_table, "family")
    of_run = [None if pd.isna(value) else str(value) for value in column]
    names = list(dict.fromkeys(of_run))
    if names == [None]:
        raise InputError(f"no run has a family. Give {how_to_give('family')}.", argument="runs")
    if len(names) == 1:
        raise InputError(
            f"{count(len(of_run), 'run')}, all of the family {names[0]!r}, so there is no other run to hold it "
            "against. Add runs of other families, or of none.",
            argument="runs",
        )
    return pd.DataFrame({"name": run_table["name"].to_numpy(), "family": pd.Series(of_run, dtype=object)})


def _family_caveats(runs: pd.DataFrame) -> Iterator[Caveat]:
    """Yield what keeps an effect of a family from saying something of the family."""
    sizes = runs["family"].value_counts(sort=False)
    single = sizes.index[sizes == 1]
    if len(single):
        which = examples(f"{row.family} ({row.name})" for row in runs.itertuples(index=False) if row.family in single)
        words = f"{count(len(single), 'family')} of one run"
        yield Caveat(words, f"{words}: {which}. What the effect says need not be true of another run.")
    few = sizes.index[len(runs) - sizes < LEAST_IN_LINE].tolist()
    if few:
        words = f"fewer than {LEAST_IN_LINE} other runs for {examples(few)}"
        yield Caveat(words, f"there are {words}. So there is no effect on scores; that on ranks is one of few places.")


def _warn_of_spelling(runs: pd.DataFrame, judges: Iterable[NamedJudge]) -> None:
    """Warn where the family of a judge is that of no run, and one of the runs is written almost alike."""
    names = runs["family"].dropna().unique().tolist()
    known = {family.casefold().strip(): family for family in names}
    for judge in judges:
        near = None if judge.family is None or judge.family in names else known.get(judge.family.casefold().strip())
        if near is not None:
            warn(
                f"{judge.name} is of the family {judge.family!r}, and runs are of {near!r}: these count as two "
                "families. Write both alike in families or in metadata= of the runs, where they are one."
            )


def _draw_map(result: FamilyEffect, measure: str, place: Place | None, *, of: str = "rank") -> Axes:
    """Draw a cell for each judge and family, framed where the judge is of the family."""
    cells, column = result.cells(measure), f"{choice('of', of, ('rank', 'score'))}_effect"
    return plot_family_map(cells, column=column, measure=measure, place=place)


def _draw_forest(result: FamilyEffect, measure: str, place: Place | None, *, of: str = "rank") -> Axes:
    """Draw a row for each judge and family with its interval; of many the own families, then the largest effects."""
    cells, column = result.cells(measure), f"{choice('of', of, ('rank', 'score'))}_effect"
    return plot_family_forest(cells, column=column, measure=measure, place=place)


def _view(of: str, digits: Digits, what: str) -> View:
    parts = [(heading, f"{begin}{of}_effect") for heading, begin in (("Effect", ""), ("Matched", "matched_"))]
    columns = [
        column
        for heading, name in parts
        for column in (
            Shown(heading, name, digits),
            Shown(f"Interval of {heading.lower()}", name, digits, interval=True),
        )
    ]
    return View(
        table="beside",
        columns=(Shown("Judge: family", "cell"), *columns),
        caption="What judges make of families of runs by {measure}, beside people: mean "
        f"{what} by the runs of a family, less that of all other runs (effect), and less that of runs that people "
        "score alike (matched).",
        noun="judges and families",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FamilyEffect(Result):
    """What each judge makes of each family of runs, beside what people make of them.

    Attributes:
        table: one row per measure, judge, family of runs and whom it is held ``against`` (``"others"``, ``"matched"``,
            ``"alone"``, see :func:`~pt_reuse.labels.family_effect`): ``measure judge judge_family family``, ``own``,
            whether the judge is of this family; ``runs`` of the family and ``others`` that count, ``unmatched`` runs of
            the family that do not; the mean ``rise`` in ranks of the one and ``others_rise`` of the others, and
            ``rank_effect``, the difference; the mean ``change`` of the score, less that of the whole field, and
            ``others_change``, and ``score_effect``, at equal scores by people; where intervals were asked for, their
            ends beside the effects, ``_low`` and ``_high``. NaN where no run is matched, and of ``score_effect`` with
            fewer than three other runs.
        by_run: one row per measure, judge and run: ``name team type family``, ``own``, ``score`` and ``rank`` by
            people, ``judge_score`` and ``judge_rank``, ``change``, of the score less that of the field, and the
            ``rise`` in ranks.
        matches: one row per measure, judge and run of a family: ``family name``, the ``match``, None where no other run
            is near enough, and the ``score`` and ``match_score`` of both by people.
        judges: one row per judge: ``judge family``, from which label a document is relevant for it, ``documents`` of
            people that it labelled, ``missing`` ones, ``topics`` that count and ``topics_without`` any label.
    """

    title = "Family effect"
    condition = (
        "It takes the labels of people as the truth, relevant: {relevant}; the effect is the {effect}; {missing}."
    )
    limit = "It does not say why: the runs of a family have more in common than their model."
    views = {
        "rank": _view("rank", Digits.PLACES, "ranks gained"),
        "score": _view("score", Digits.SCORE, "score gained at equal scores by people"),
    }
    plots = {"map": _draw_map, "forest": _draw_forest}
    key = (KeyFigures(("rank_effect", "score_effect"), "beside", "{judge} on {family}"),)
    sentences = {"matched within": "Matched within {matched within}.", **NOTES}

    by_run: pd.DataFrame
    matches: pd.DataFrame
    judges: pd.DataFrame

    def cells(self, measure: str | None = None, against: str = OTHERS) -> pd.DataFrame:
        """Return the rows of the table under one measure, held against one kind of other runs."""
        name = self.measures[0] if measure is None else measure
        kept = (self.table["measure"] == name) & (self.table["against"] == choice("against", against, AGAINST))
        return self.table[kept].reset_index(drop=True)

    def beside(self) -> pd.DataFrame:
        """Return the rows against all other runs, with the effects among matched ones beside them."""
        others, near = (self.table[self.table["against"] == one].reset_index(drop=True) for one in (OTHERS, MATCHED))
        own = others["own"].map({True: " (own)", False: ""})
        effects = {f"matched_{name}": near[name] for name in near if "_effect" in name}
        return others.assign(cell=others["judge"] + ": " + others["family"] + own, **effects)

    def headline(self) -> str:
        """Return what each judge makes of its own family by the first measure; else the largest effect."""
        cells = self.cells()
        shown = _most_telling(cells)
        found = clauses(
            [
                f"{row['judge']} on {row['family']} {with_ends(row, 'rank_effect', '+.2f')} ranks"
                for row in shown.to_dict("records")
            ]
        )
        whose = "own family" if shown["own"].all() else "largest effect:"
        of = f"{count(cells['judge'].nunique(), 'judge')}, {count(cells['family'].nunique(), 'family')} of runs"
        return f"{of}, {self.measures[0]}: {whose} {found}"

    def _further(self) -> list[str]:
        """Return of each judge its own family, else that on which its effect is largest; and how many leave out 0."""
        found: list[str] = []
        for (measure, _), rows in self.table.groupby(["measure", "judge"], sort=False):
            for cell in _most_telling(rows[rows["against"] == OTHERS]).to_dict("records"):
                same = rows[rows["family"] == cell["family"]].set_index("against")
                found.append(_of_cell(cell, same.loc[MATCHED].to_dict(), str(measure)))
        for measure, rows in self.table[self.table["against"] == ALONE].groupby("measure", sort=False):
            found += _leaving_out_0(rows, str(measure))
        return found


def _most_telling(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of own families; where there is none, the one of the largest effect."""
    own = cells[cells["own"]]
    return own if len(own) else cells.iloc[[int(cells["rank_effect"].abs().to_numpy().argmax())]]


def _of_cell(cell: Mapping[Any, Any], near: Mapping[Any, Any], measure: str) -> str:
    of = f"{near['runs']:,.0f} of {cell['runs']:,.0f} matched"
    text = (
        f"Under the labels of {cell['judge']} the mean gain of the {count(int(cell['runs']), 'run')} of "
        f"{'its own ' if cell['own'] else ''}family {cell['family']} over the other {cell['others']:,.0f} by "
        f"{measure} is {with_ends(cell, 'rank_effect', '+.2f')} ranks"
    )
    if near["runs"]:
        text += f", and {with_ends(near, 'rank_effect', '+.2f')} over runs that people score alike ({of})"
    if not pd.isna(cell["score_effect"]):
        text += f". At equal scores by people it is {with_ends(cell, 'score_effect', '+.4f')} in the score"
    return f"{text}."


def _leaving_out_0(rows: pd.DataFrame, measure: str) -> Iterator[str]:
    known = rows[rows.get("rank_effect_low", pd.Series(np.nan, rows.index)).notna()]
    if len(known) > 1:
        off = int(((known["rank_effect_low"] > 0) | (known["rank_effect_high"] < 0)).sum())
        yield (
            f"In {off:,} of {len(known):,} pairs of a judge and a family the interval of the ranks gained by {measure} "
            "leaves out 0; the intervals are not corrected for the number of pairs."
        )


@study(
    Parameter(
        name="caliper",
        meaning="how far apart two matched runs may be in their mean score by people, in standard deviations of the "
        "means of all runs; 0.2 by default, the usual width for matching (Austin 2011). An other run may be matched "
        "with several runs of the family; of equally near ones it is the first by name.",
        check=partial(number, "caliper"),
    ),
    entry=Entry(
        question="Does a judge favour its own family of runs?", command="audit", group="labels", papers="[B25]_"
    ),
)
def family_effect(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    caliper: float = 0.2,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    missing: str = "unjudged",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> FamilyEffect:
    """Compute how much more the runs of each family gain under each judge than other runs, in ranks and in scores.

    The *gain* of a run is how many ranks higher it is by the judge's labels than by those of people, both for the same
    documents. The effect of a judge on a family is the mean gain of its runs minus that of the runs that they are
    compared with: all ``"others"``; the ``"matched"`` ones, for each run of the family the other run whose score by
    people is nearest; or ``"alone"``, where each run of the family is ranked alone among the others. Without ties the
    first is the last times runs / others, since the others lose what the family gains.

    The effect on scores is computed at equal scores by people, since a judge that errs at random reduces all
    differences: good runs lose and bad ones gain, without any bias. It is how far the family's scores by the judge are
    above the regression line of the others (least squares, score by the judge on score by people); among matched runs
    it is the difference of the changes.

    Args:
        runs: the field, with a column ``family`` in its metadata: a RunSet. Runs without a family are others to every
            family.
        families: judge -> family, the family of runs that is the judge's own; default those of the judges.

    Returns:
        FamilyEffect: ``.table`` with a row per measure, judge, family and runs compared with; ``.by_run``,
        ``.matches``, ``.judges``, ``.report()``, ``.plot()``.

    Raises:
        InputError: no run has a family, or all have the same one; no judge; a judge that labelled nothing that people
            judged.

    Warns:
        ReuseWarning: a family of one run, fewer than three other runs, fewer than five topics; a judge whose family is
            spelt almost as one of the runs; topics in which a judge labelled nothing; a `rel` above every label of
            people.

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
    asked = AskedJudges(family_effect, locals())
    judges, field, people = asked.judges, asked.runs, asked.qrels
    of_runs = _families_of(field.run_table)
    _warn_of_spelling(of_runs, judges)
    asked.tell(asked.label_caveats(), _family_caveats(of_runs))
    rows: list[dict[str, Any]] = []
    by_run: list[pd.DataFrame] = []
    matches: list[pd.DataFrame] = []
    for sides in asked.both_scored():
        for m, measure in enumerate(sides.human.measures):
            contrasts = contrasts_of(sides.human.mean_values[m], of_runs, asked["caliper"])
            rows += _rows_of(sides, measure, contrasts, asked.bootstrap, people.topics)
            by_run.append(_by_run(sides, m, field))
            matches += _matches(sides, m, contrasts)
    order = {repr(measure): n for n, measure in enumerate(asked.measures)}
    table = pd.DataFrame(rows).astype({"judge_family": object})
    settings = asked.settings(
        effect="mean of (rank by people - rank by the judge) over the runs of the family, less the others'",
        score_effect="above the line through the others (judge on people); matched: difference of changes",
        against="others: all ranked together; matched: nearest by people; alone: others ranked without family",
        matched_within=f"{asked['caliper']:g} standard deviations of the runs' means by people, with replacement",
        runs_without_a_family=int(of_runs["family"].isna().sum()),
        **_interval_words(asked.bootstrap, len(judges) * of_runs["family"].nunique()),
    )
    return FamilyEffect(
        table=table.sort_values("measure", key=lambda one: one.map(order), kind="stable", ignore_index=True),
        by_run=pd.concat(by_run, ignore_index=True),
        matches=pd.concat(matches, ignore_index=True),
        judges=_judges_table(asked.compared),
        settings=settings,
    )


def _interval_words(bootstrap: TopicBootstrap | None, n_cells: int) -> dict[str, str]:
    if bootstrap is None:
        return {}
    by_chance = (1 - bootstrap.confidence) * n_cells
    words = (
        f"{bootstrap.words()}; of effects on scores t intervals from the same draws; not corrected for their number: "
        f"of {count(n_cells, 'cell')}, a judge and a family each, {by_chance:.2g} would leave out 0 by chance"
    )
    return {"intervals": words}
