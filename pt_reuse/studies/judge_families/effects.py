"""family_effect: whether a judge favours the runs of a family, such as its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, told
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.judging.judges import JudgeRel
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE, noted, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.judge_families.cells import (
    AGAINST,
    ALONE,
    MATCHED,
    OTHERS,
    Cells,
    FamilyRuns,
    by_run,
    judges_table,
)
from pt_reuse.studies.judged_fields import AskedJudges

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DIGITS = {"rank": Digits.PLACES, "score": Digits.SCORE}


def of_cells(others: pd.DataFrame, matched: pd.DataFrame, measure: str, of: str, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and family.

    Args:
        others: the effects against all other runs.
        matched: the same cells among matched runs.
        measure: by which runs are scored.
        of: ``"rank"`` or ``"score"``.
        settings: of the result.
    """
    digits, name = _DIGITS[of], f"{of}_effect"
    cells = [
        f"{row.judge}: {row.family}{' (own)' if row.own else ''}"
        for row in others[["judge", "family", "own"]].itertuples(index=False)
    ]
    columns = [Column("Judge: family", cells), Column("Effect", others[name], digits)]
    ends = f"{name}_low" in others
    if ends:
        columns.append(intervals("effect", others[f"{name}_low"], others[f"{name}_high"], digits))
    columns.append(Column("Matched", matched[name], digits))
    if ends:
        columns.append(intervals("matched", matched[f"{name}_low"], matched[f"{name}_high"], digits))
    unmatched = int(matched["unmatched"].sum())
    sizes = dict(zip(others["family"], others["runs"], strict=True))
    what = "ranks gained" if of == "rank" else "score gained at equal scores by people"
    return Report(
        columns,
        caption=(
            f"What judges make of families of runs by {measure}, beside people: mean {what} by the runs of a family, "
            "less that of all other runs (effect), and less that of runs that people score alike (matched)."
        ),
        notes=[
            f"Runs: {', '.join(f'{family} {n:,}' for family, n in sizes.items())}.",
            f"Matched within {settings['matched within']}; {count(unmatched, 'run')} in all rows without a match.",
            *([f"Intervals: {settings[INTERVALS]}."] if ends else []),
            *([f"Beware: {settings[BEWARE]}."] if BEWARE in settings else []),
        ],
    )


def effect_in_words(row: Mapping[str, Any], of: str) -> str:
    """Return an effect with its interval: ``+4.41 (+2.10 to +6.72)``."""
    return with_ends(row, f"{of}_effect", "+.2f" if of == "rank" else "+.4f")


def sentences(table: pd.DataFrame, n_runs: int) -> list[str]:
    """Return what was found in sentences."""
    found: list[str] = []
    for measure, rows in table.groupby("measure", sort=False):
        for _, of_judge in rows.groupby("judge", sort=False):
            found.extend(_of_judge(of_judge, str(measure), n_runs))
        found.extend(_of_all(rows, str(measure)))
    return found


def _of_judge(rows: pd.DataFrame, measure: str, n_runs: int) -> Iterator[str]:
    """Yield a sentence on each own family of a judge, else on the one on which its effect is largest."""
    cells = rows[rows["against"] == OTHERS]
    shown = cells[cells["own"]]
    which = "its own family, {},"
    if shown.empty:
        shown = cells.iloc[[int(cells["rank_effect"].abs().to_numpy().argmax())]]
        which = "family {}" if len(cells) == 1 else "family {}, which it moves most,"
    for cell in shown.to_dict("records"):
        same = rows[rows["family"] == cell["family"]].set_index("against")
        near, runs = same.loc[MATCHED].to_dict(), count(int(cell["runs"]), "run")
        whose = which.format(cell["family"])
        text = (
            f"Under the labels of {cell['judge']} the mean gain of the {runs} of {whose} over the other "
            f"{n_runs - int(cell['runs']):,} by {measure} is {effect_in_words(cell, 'rank')} ranks"
        )
        if near["runs"]:
            of = f"{int(near['runs']):,} of {int(cell['runs']):,} matched"
            text += f", and {effect_in_words(near, 'rank')} over runs that people score alike ({of})"
        else:
            text += "; no other run is scored alike by people"
        if not pd.isna(cell["score_effect"]):
            text += f". At equal scores by people it is {effect_in_words(cell, 'score')} in the score"
        yield f"{text}."


def _of_all(rows: pd.DataFrame, measure: str) -> Iterator[str]:
    """Yield in how many cells the interval leaves out 0."""
    if "rank_effect_low" not in rows:
        return
    cells = rows[rows["against"] == ALONE]
    known = cells[cells["rank_effect_low"].notna()]
    if len(known) < 2:
        return
    off = int(((known["rank_effect_low"] > 0) | (known["rank_effect_high"] < 0)).sum())
    yield (
        f"In {off:,} of {len(known):,} pairs of a judge and a family the interval of the ranks gained by {measure} "
        "leaves out 0; the intervals are not corrected for the number of pairs."
    )


#: what an effect is one of
OF = ("rank", "score")
KINDS = ("map", "forest")


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

    title: ClassVar[str] = "Family effect"

    by_run: pd.DataFrame
    matches: pd.DataFrame
    judges: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "by_run": self.by_run, "matches": self.matches, "judges": self.judges}

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals were asked for."""
        return "rank_effect_low" in self.table

    @door
    def cells(self, measure: MeasureLike | None = None, against: str = OTHERS) -> pd.DataFrame:
        """Return the rows of the table under one measure, held against one kind of other runs.

        Args:
            measure: default the first.
            against: ``"others"`` (default), ``"matched"`` or ``"alone"``.
        """
        name = measure_among(self.measures, measure)
        kept = (self.table["measure"] == name) & (self.table["against"] == choice("against", against, AGAINST))
        return self.table[kept].reset_index(drop=True)

    def key_figures(self) -> pd.DataFrame:
        """Return the effects of each judge on each family against all other runs, see :meth:`Result.key_figures`."""
        rows = self.table[self.table["against"] == OTHERS]
        named = [f"{row.judge} on {row.family}" for row in rows.itertuples()]
        return key_figures_of(rows, ["rank_effect", "score_effect"], rows=named)

    def headline(self) -> str:
        """Return what each judge makes of its own family by the first measure; else the largest effect."""
        cells = self.cells()
        shown, whose = cells[cells["own"]], "own family "
        if shown.empty:
            at = int(cells["rank_effect"].abs().to_numpy().argmax())
            shown, whose = cells.iloc[[at]], "largest effect: "
        found = "; ".join(
            f"{row['judge']} on {row['family']} {effect_in_words(row, 'rank')}" for row in shown.to_dict("records")
        )
        families = count(cells["family"].nunique(), "family")
        return f"{count(cells['judge'].nunique(), 'judge')}, {families} of runs, {self.measures[0]}: {whose}{found}"

    def findings(self) -> list[str]:
        """Return what was found in sentences, each with its number and its interval.

        Of each judge its own family, or where no run is of it the family on which its effect is largest; and last in
        how many cells the interval leaves out 0.
        """
        return sentences(self.table, self.by_run["name"].nunique())

    @door
    def report(self, measure: MeasureLike | None = None, *, of: str = "rank") -> Report:
        """Return what a paper prints: a row per judge and family, against all other runs and among matched ones.

        Args:
            measure: one of the measures; default the first.
            of: effects on the ``"rank"`` (default) or on the ``"score"``.
        """
        choice("of", of, OF)
        name = measure_among(self.measures, measure)
        return of_cells(self.cells(name, OTHERS), self.cells(name, MATCHED), name, of, self.settings)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "map",
        of: str = "rank",
        against: str = OTHERS,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the effect of every judge on every family.

        Args:
            measure: one of the measures; default the first.
            kind: ``"map"``: a cell for each judge and family with its effect, framed where the judge is of the family;
                or ``"forest"``: a row for each, with its interval.
            of: effects on the ``"rank"`` (default) or on the ``"score"``.
            against: whom families are held against: ``"others"`` (default), ``"matched"`` or ``"alone"``.
            top: how many rows of a forest at most, own families first, then the largest effects; default 30, 15 in a
                column.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the cells or rows.
        """
        from pt_reuse.plots.forests import plot_family_forest
        from pt_reuse.plots.maps import plot_family_map
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        choice("kind", kind, KINDS)
        column = f"{choice('of', of, OF)}_effect"
        cells, name = self.cells(measure, against), measure_among(self.measures, measure)
        place = Place(ax, title, legend, width)
        if kind == "map":
            return plot_family_map(cells, column=column, measure=name, against=against, place=place)
        return plot_family_forest(
            cells, column=column, measure=name, against=against, top=checked_top(top), place=place
        )


@door
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
    """Say how much more the runs of each family gain under each judge than other runs do, in ranks and in scores.

    A run *gains* as many ranks as it stands higher by the judge's labels than by those of people, both for the same
    documents. The effect of a judge on a family is the mean gain of its runs, less that of the runs that they are held
    against: all ``"others"``; the ``"matched"`` ones, for each run of the family the other run whose score by people is
    nearest; or the others with the family left out of the field (``"alone"``): they are ranked without the family,
    each of whose runs takes its place among them alone. Without ties the first is the last times runs / others, since
    the others lose what the family gains.

    The effect on scores is told at equal scores by people, since a judge that errs at random draws all scores together:
    good runs lose and bad ones gain, without any favour. It is how far the family's scores by the judge lie above the
    line through those of the others (least squares, score by the judge on score by people); among matched runs it is
    the difference of the changes.

    Args:
        runs: the field, with a column ``family`` in its metadata: a RunSet. Runs without a family are others to every
            family. Pipelines come in by :meth:`RunSet.from_pipelines`, with ``metadata=``.
        human: the judgments of people, in any form.
        judge: a judge, or a dict of name -> judge: judgments in any form, a Judge, a function or a pipeline.
        measures: ir_measures measures, or their names, one or several.
        caliper: how far apart two matched runs may be in their mean score by people, in standard deviations of the
            means of all runs; 0.2 by default, the usual width for matching (Austin 2011). An other run may be matched
            with several runs of the family; of equally near ones it is the first by name. Runs of the family without
            one that is near enough are counted, and do not count among the matched.
        rel: the lowest relevant label of people; default what the judgments say.
        judge_rel: the lowest relevant label of the judges, or a dict of their label -> the label of people, as in
            :func:`audit_labels`.
        families: judge -> family, the family of runs that is the judge's own; default what the judges say.
        missing: a document that people judged and the judge did not is ``"unjudged"`` for the judge (default), or is
            left out for both (``"drop"``).
        resamples: how often the topics are drawn for intervals, the same draws for all judges; 0 for none.
        confidence: of the intervals, above 0 and below 1.
        seed: of the draws.
        complete: the mean is over all topics, a topic that a run lacks counting 0 (default), or over those that the run
            has.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        verbose: show progress bars.

    Returns:
        FamilyEffect: ``.table`` with a row per measure, judge, family and whom it is held against; ``.by_run``,
        ``.matches``, ``.judges``, ``.report()``, ``.plot()``, ``.findings()``.

    Raises:
        InputError: no run has a family, or all are of one; no judge; a judge that labelled nothing that people judged.

    Warns:
        ReuseWarning: a family of one run, fewer than three other runs, fewer than five topics; a judge whose family is
            spelt almost as one of the runs; topics in which a judge labelled nothing; a `rel` above every label of
            people.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
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
    width = _checked_caliper(caliper)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    asked = AskedJudges.of(
        judge,
        measures,
        rel=rel,
        judge_rel=judge_rel,
        families=families,
        missing=missing,
        complete=complete,
        without_topics=without_topics,
        verbose=verbose,
    )
    field = asked.read(runs, human)
    of_runs = FamilyRuns(field.runs.run_table)
    of_runs.check_judges(asked.judges)
    compared = field.compared()
    caveats = [*field.caveats(compared), *of_runs.caveats()]
    tell(caveats)
    scored = field.both_scored(compared)
    drawn = [Cells(one, of_runs, width) for one in scored]
    table = pd.concat([cells.table(bootstrap, field.human.topics) for cells in drawn], ignore_index=True)
    order = {repr(measure): n for n, measure in enumerate(asked.measures)}
    table = table.sort_values("measure", key=lambda column: column.map(order), kind="stable", ignore_index=True)
    n_cells = len(compared) * len(of_runs.names)
    return FamilyEffect(
        table=table,
        by_run=pd.concat([by_run(one, field.runs) for one in scored], ignore_index=True),
        matches=pd.concat([cells.matches() for cells in drawn], ignore_index=True),
        judges=judges_table(compared),
        settings={
            "effect": "mean of (rank by people - rank by the judge) over the runs of the family, less the others'",
            "score effect": "above the line through the others (judge on people); matched: difference of changes",
            "against": "others: all ranked together; matched: nearest by people; alone: others ranked without family",
            "matched within": f"{width:g} standard deviations of the runs' means by people, with replacement",
            "runs without a family": of_runs.without,
            **field.settings(compared),
            "ties": f"means equal to {DECIMALS} decimals",
            **({INTERVALS: _intervals_in_words(bootstrap, n_cells)} if bootstrap else {}),
            **noted(caveats),
        },
    )


def _checked_caliper(caliper: Any) -> float:
    number = isinstance(caliper, int | float | np.number) and not isinstance(caliper, bool)
    if not number or not 0 <= caliper < np.inf:
        raise InputError(
            Argument("caliper"),
            f" must be a number of standard deviations, 0 or more, got {told(caliper)}.",
            argument="caliper",
        )
    return float(caliper)


def _intervals_in_words(bootstrap: TopicBootstrap, n_cells: int) -> str:
    by_chance = (1 - bootstrap.confidence) * n_cells
    return (
        f"{bootstrap.words()}; of effects on scores t intervals from the same draws; not corrected for "
        f"their number: of {count(n_cells, 'cell')}, a judge and a family each, {by_chance:.2g} would leave out 0 by "
        "chance"
    )
