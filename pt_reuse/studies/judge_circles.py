"""circularity: what a system gains that re-ranks by the judge that scores it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, positive
from pt_reuse._errors import InputError, door, located, warn
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, checked_bootstrap, ranking_agreement
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.judgment_changes import rerank_by_labels
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.units import described
from pt_reuse.judging.judges import JudgeRel, NamedJudge, as_judges
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE, noted, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.judged_fields import AskedJudges, JudgedField, under, with_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: what is ranked: runs as they were, the same re-ranked, or all of them together
FIELDS = ("original", "re-ranked", "both")


@dataclass(frozen=True)
class BeforeAfter:
    """Scores of runs by topic, as they were and re-ranked, under one scorer.

    Attributes:
        before: of the runs as they were.
        after: of the same runs re-ranked.
    """

    before: TopicScores
    after: TopicScores

    def of(self, field: str) -> TopicScores:
        """Return the scores of what is ranked, one of :data:`FIELDS`; of both, the runs as they were come first."""
        if field != "both":
            return self.before if field == "original" else self.after
        values = np.hstack([self.before.values, self.after.values])
        if self.before.has_topic is None or self.after.has_topic is None:
            return TopicScores(values)
        return TopicScores(values, np.hstack([self.before.has_topic, self.after.has_topic]))

    def gains(self, counts: NDArray[np.int64] | None = None) -> Floats:
        """Return (draws, runs) by how much the mean of each run is higher once it is re-ranked."""
        return self.after.means(counts) - self.before.means(counts)

    def ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (runs,) the rank of each run among all as they were, and the one that it has there re-ranked.

        Re-ranked it stands in its own place among the others, which are as they were. A rank is 1 + the number of runs
        that are strictly better.
        """
        before, after = (rounded(scores.means()[0]) for scores in (self.before, self.after))
        better = before[None, :] > after[:, None]
        np.fill_diagonal(better, val=False)
        return pairs.ranks(before).astype(np.int64), 1 + better.sum(axis=1)

    def in_best(self, best: int) -> tuple[int, int]:
        """Return how many of the best of both are re-ranked, and how many are runs as they were, ties included."""
        ranks = pairs.ranks(rounded(self.of("both").means()[0]))
        n = self.before.values.shape[1]
        return int((ranks[n:] <= best).sum()), int((ranks[:n] <= best).sum())

    def by_run(self, run_table: pd.DataFrame) -> pd.DataFrame:
        """Return one row per run: its scores and ranks before and after."""
        rank, other_rank = self.ranks()
        score, other_score = self.before.means()[0], self.after.means()[0]
        return (
            described(run_table)
            .drop(columns="pooled")
            .assign(
                score=score,
                reranked_score=other_score,
                gain=other_score - score,
                rank=rank,
                reranked_rank=other_rank,
            )
        )


def gain_numbers(scorer: BeforeAfter, people: BeforeAfter | None, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    """Return the mean gain of the runs, and by how much it is above the one under people, with the ends of each.

    Args:
        scorer: the runs under who scores.
        people: the same runs under people; None where people score.
        bootstrap: over topics, whose draws both share; None for no intervals.
    """
    found: dict[str, float] = {}
    n_topics = len(scorer.before.values)
    for name, against in (("mean_gain", None), ("excess_gain", people)):
        if name == "excess_gain" and against is None:
            found |= {name: np.nan} | ({f"{name}_low": np.nan, f"{name}_high": np.nan} if bootstrap else {})
            continue
        found[name] = float(_mean_gain(scorer, against)[0])
        if bootstrap is not None:
            drawn = np.full(1, np.nan)
            if n_topics > 1:
                drawn = np.concatenate([_mean_gain(scorer, against, counts) for counts in bootstrap.blocks(n_topics)])
            found[f"{name}_low"], found[f"{name}_high"] = bootstrap.t_interval(found[name], drawn, n_topics)
    return found


def tau_numbers(
    people: TopicScores, scorer: TopicScores, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    """Return tau_b of people's ranking and a scorer's, of all systems and of the best by people, with the ends of each.

    Args:
        people: scores under people, taken as right.
        scorer: scores of the same systems under the scorer.
        best: how many systems are the best; those that tie with the last of them are among them.
        bootstrap: over topics; None for no intervals. The best are those of all topics in every draw.
    """
    n_topics, n = people.values.shape
    first = np.flatnonzero(pairs.ranks(rounded(people.means()[0])) <= best)
    found: dict[str, float] = {"systems": n}
    for suffix, runs in (("", range(n)), ("_best", first.tolist())):
        truth, estimate = (scores.of(range(n_topics), runs) for scores in (people, scorer))
        row = ranking_agreement(truth, estimate, bootstrap, coefficients=("tau_b",))
        found |= {name.replace("tau_b", f"tau_b{suffix}"): row[name] for name in row if name.startswith("tau_b")}
    return found


def common_topics(sets: Sequence[Sequence[str]]) -> list[str]:
    """Return the topics that all sets have, in the order of the first."""
    others = [set(topics) for topics in sets[1:]]
    return [topic for topic in sets[0] if all(topic in other for other in others)]


def _mean_gain(scorer: BeforeAfter, people: BeforeAfter | None, counts: NDArray[np.int64] | None = None) -> Floats:
    gain = scorer.gains(counts).mean(axis=1)
    found: Floats = gain if people is None else gain - people.gains(counts).mean(axis=1)
    return found


Row = Mapping[Any, Any]


def gains_of(table: pd.DataFrame) -> Iterator[str]:
    """Yield in a line what runs gain by a judge's labels, judge by judge and measure by measure."""
    for own, people, _ in _by_judge(table):
        yield (
            f"{own['measure']} of runs re-ranked by {own['judge']}: {own['mean_gain']:+.4f} by {own['judge']}, "
            f"{people['mean_gain']:+.4f} by people"
        )


def findings_of(table: pd.DataFrame, rankings: pd.DataFrame, *, depth: int, best: int) -> list[str]:
    """Return what was found, sentence by sentence."""
    found = []
    for own, people, others in _by_judge(table):
        about = f"{own['judge']}, {own['measure']}"
        if not any(row["gaining"] or row["losing"] for row in (own, people, *others)):
            found.append(
                f"{about}: sorting the first {count(depth, 'document')} of each run by the judge's labels changes the "
                f"score of no run, whoever scores: {own['measure']} does not depend on the order of these documents, "
                "or they stand in this order already."
            )
            continue
        found.append(
            f"{about}: sorting the first {count(depth, 'document')} of each run by the judge's labels changes the "
            f"mean score by {_told(own, 'mean_gain')} under the judge itself and by {_told(people, 'mean_gain')} under "
            f"people. The difference is {_told(own, 'excess_gain')}{_meant(own)}."
        )
        if others:
            least, most = (pick(others, key=lambda row: row["mean_gain"]) for pick in (min, max))
            between = (
                f"by {_told(least, 'mean_gain')} under {least['scorer']}"
                if len(others) == 1
                else f"under other judges by {least['mean_gain']:+.4f} ({least['scorer']}) to {most['mean_gain']:+.4f} "
                f"({most['scorer']})"
            )
            found.append(f"{about}: the same sorting changes the mean score {between}.")
        found.append(
            f"{about}: a re-ranked run gains {own['mean_rise']:+.1f} ranks on average by the judge and "
            f"{people['mean_rise']:+.1f} by people; of the {best:,} best of all runs, as they were and re-ranked, "
            f"{_in_best(own)} by the judge and {_in_best(people)} by people are re-ranked."
        )
        mine = rankings[(rankings["judge"] == own["judge"]) & (rankings["measure"] == own["measure"])]
        taus = {row["field"]: row for row in mine[mine["same"]].to_dict("records")}
        if not pd.isna(taus["both"]["tau_b"]):
            found.append(
                f"{about}: tau_b of the judge's ranking with people's is {_told(taus['original'], 'tau_b', '.4f')} of "
                f"the runs as they were, {_told(taus['re-ranked'], 'tau_b', '.4f')} if every run is re-ranked, and "
                f"{_told(taus['both'], 'tau_b', '.4f')} of both together; of the {best:,} best of these by people "
                f"{_told(taus['both'], 'tau_b_best', '.4f')}."
            )
    return found


def _by_judge(table: pd.DataFrame) -> Iterator[tuple[Row, Row, list[Row]]]:
    """Yield of each judge and measure the row of the judge itself, of people, and of the other judges."""
    for _, part in table.groupby(["judge", "measure"], sort=False):
        rows: list[Row] = list(part.to_dict("records"))
        own = next(row for row in rows if row["same"])
        # people come first
        yield own, rows[0], [row for row in rows[1:] if not row["same"]]


def _meant(own: Row) -> str:
    """Return what the difference between the judge and people says, where it has an interval."""
    low, high = own.get("excess_gain_low"), own.get("excess_gain_high")
    if low is None or high is None or pd.isna(low):
        return ""
    if low > 0:
        return ": the judge rewards what it ranked itself"
    if high < 0:
        return ": people reward it more than the judge"
    return "" if low == high else ", which may be chance"


def _in_best(row: Row) -> str:
    return f"{int(row['reranked_in_best']):,} of {int(row['reranked_in_best'] + row['originals_in_best']):,}"


def _told(row: Row, name: str, digits: str = "+.4f") -> str:
    return with_ends(row, name, digits)


#: who scores when no judge does
PEOPLE = "people"
NUMBERS = ("gains", "rankings")
KINDS = ("gains", "runs")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Circularity(Result):
    """What runs gain whose first documents are re-ranked by a judge's labels, by who scores them.

    ``judge`` is who re-ranks, ``scorer`` who scores: the same judge, another one, or ``"people"``.

    Attributes:
        table: one row per judge, scorer and measure: ``judge family scorer measure``; ``same``, whether the judge
            scores itself; ``topics runs``; ``mean_gain``, by how much the mean score of the runs is higher once they
            are re-ranked; ``excess_gain``, by how much that is above the one under people, NaN for people;
            ``gaining losing``, how many runs score higher, and lower; ``mean_rise``, how many ranks a re-ranked run
            gains on average when the other runs stay as they were; ``reranked_in_best originals_in_best``, how many of
            the best systems are re-ranked, and how many are runs as they were, all of them ranked together (more than
            `best` where systems tie for the last place). Where intervals were asked for, both gains have their ends
            behind them, ``mean_gain_low mean_gain_high`` and so on.
        rankings: one row per judge, scorer but people, measure and field: ``judge family scorer measure same``;
            ``field``, what is ranked, ``"original"``, ``"re-ranked"`` (every run is) or ``"both"`` together;
            ``systems``; ``tau_b`` of the scorer's ranking with people's, and ``tau_b_best`` of the systems alone that
            are best by people (more than `best` where systems tie for the last place); with intervals the ends of
            both.
        by_run: one row per judge, scorer, measure and run: ``judge scorer measure name team type``, ``family`` where
            runs have one, ``score reranked_score gain``; ``rank`` among all runs as they were, and ``reranked_rank``,
            the one that it has re-ranked while the others stay as they were.
        depth: how many documents of each list are sorted.
        best: how many systems are the best.
    """

    title: ClassVar[str] = "Circularity"

    rankings: pd.DataFrame
    by_run: pd.DataFrame
    depth: int
    best: int

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges."""
        return list(dict.fromkeys(self.table["judge"]))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "rankings": self.rankings, "by_run": self.by_run}

    @property
    def scorers(self) -> list[str]:
        """Return who scores, people first."""
        return list(dict.fromkeys(self.table["scorer"]))

    @property
    def has_intervals(self) -> bool:
        """Return whether gains and correlations have intervals."""
        return "mean_gain_low" in self.table

    def key_figures(self) -> pd.DataFrame:
        """Return of each judge what runs gain under itself, how much of it people do not see, and tau_b of both."""
        own = self.table[self.table["same"]]
        taus = self.rankings[self.rankings["same"] & (self.rankings["field"] == "both")]
        return pd.concat(
            [
                key_figures_of(own, ["mean_gain", "excess_gain"], rows=own["judge"].tolist()),
                key_figures_of(taus, ["tau_b"], rows=[f"{judge}, both" for judge in taus["judge"]]),
            ],
            ignore_index=True,
        )

    def headline(self) -> str:
        """Return what runs gain by each judge's labels, under itself and under people."""
        return "; ".join(gains_of(self.table))

    def findings(self) -> list[str]:
        """Return what was found in plain sentences, each with its numbers and intervals."""
        return findings_of(self.table, self.rankings, depth=self.depth, best=self.best)

    @door
    def report(self, measure: MeasureLike | None = None, *, numbers: str = "gains") -> Report:
        """Return what a paper prints of one measure, a row per judge that re-ranks and who scores.

        Args:
            measure: one of the measures; default the first.
            numbers: ``"gains"`` of score and ranks (default), or the ``"rankings"``: tau_b with people.
        """
        name = measure_among(self.measures, measure)
        choice("numbers", numbers, NUMBERS)
        rows = self.table[self.table["measure"] == name]
        if numbers == "gains":
            columns = [Column("Re-ranked by", rows["judge"]), Column("Scored by", rows["scorer"])]
            columns.append(Column("Mean gain", rows["mean_gain"], Digits.SCORE))
            if self.has_intervals:
                columns.append(intervals("the gain", rows["mean_gain_low"], rows["mean_gain_high"], Digits.SCORE))
            columns.append(Column("Ranks gained", rows["mean_rise"].map("{:+.1f}".format)))
            columns.append(Column("Re-ranked among the best", rows["reranked_in_best"], Digits.COUNT))
            caption = (
                f"By how much {name} rises when {count(int(rows['runs'].max()), 'run')} are re-ranked by a judge's "
                f"labels to depth {self.depth:,}, by who scores; and how many of the {self.best:,} best systems are "
                "re-ranked."
            )
        else:
            taus = self.rankings[self.rankings["measure"] == name]
            wide = {field: part for field, part in taus.groupby("field", sort=False)}
            first = wide["original"]
            columns = [Column("Re-ranked by", first["judge"]), Column("Scored by", first["scorer"])]
            for field in ("original", "re-ranked", "both"):
                columns.append(Column(f"Tau-b, {field}", wide[field]["tau_b"], Digits.SCORE))
            columns.append(Column(f"Tau-b, {self.best:,} best of both", wide["both"]["tau_b_best"], Digits.SCORE))
            caption = (
                f"Tau-b of the rankings by {name} with those by people: of {count(int(rows['runs'].max()), 'run')} as "
                f"they were, re-ranked by a judge's labels to depth {self.depth:,}, and both together."
            )
        return Report(columns, caption=caption, notes=self._notes(numbers))

    def _notes(self, numbers: str) -> list[str]:
        settings = self.settings
        convention = (
            "Ranks gained: each run alone re-ranked among the others as they were. The best are those of all runs, as "
            "they were and re-ranked together"
            if numbers == "gains"
            else "The best are those by people"
        )
        notes = [
            f"Re-ranked: {settings['re-ranked']}.",
            f"{convention}; systems that tie for the last place are among them.",
            f"People: {settings['human']}. Judges: {settings['judges']}.",
        ]
        notes += [f"Intervals: {settings[INTERVALS]}."] if self.has_intervals else []
        return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "gains",
        judge: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what runs gain by each judge's labels under each scorer, or the gain of every run by one judge.

        Args:
            measure: one of the measures; default the first.
            kind: ``"gains"`` (default), the mean gain under each scorer, with its interval, a row per judge that
                re-ranks; ``"runs"``, the gain of each run under the judge itself and under people, by its score as
                people see it before.
            judge: of ``"runs"``: one of the judges that re-rank; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a point per scorer, or two per run.
        """
        from pt_reuse.plots.forests import plot_gains, plot_run_gains
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        choice("kind", kind, KINDS)
        which = self.judges[0] if judge is None else choice("judge", judge, self.judges)
        place = Place(ax, title, legend, width)
        if kind == "gains":
            return plot_gains(self.table[self.table["measure"] == name], measure=name, people=PEOPLE, place=place)
        rows = self.by_run[(self.by_run["measure"] == name) & (self.by_run["judge"] == which)]
        own, people = (rows[rows["scorer"] == scorer] for scorer in (which, PEOPLE))
        return plot_run_gains(own, people, measure=name, judge=which, place=place)


#: columns before those of runs
ABOUT = ("judge", "scorer", "measure")


@dataclass(frozen=True)
class _Labels:
    """The labels of everybody for the same documents, on the topics that all have.

    Attributes:
        people: the judgments of people.
        own: judge -> its labels, on its own scale, by which it sorts.
        scoring: who scores -> the labels that measures take; people first.
    """

    people: Qrels
    own: dict[str, Qrels]
    scoring: dict[str, Qrels]


@door
def circularity(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    scorers: Any = None,
    depth: int = 10,
    best: int = 10,
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
) -> Circularity:
    """Say what runs gain that re-rank by a judge's labels, under the same judge, under other judges and under people.

    Each judge re-ranks every run: the first `depth` documents of a list are sorted by the judge's labels, the best
    label first; documents of one label stay in the order of the run, and those without a label keep their places. That
    is the best a system can do that asks the same judge. Then everybody scores the runs as they were and re-ranked.
    What the judge's own scores rise above those of people is its circle: the system found what the judge likes, not
    what people want.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        human: the judgments of people, in any form.
        judge: a judge that re-ranks, or a dict of name -> judge: judgments in any form, a
            :class:`~pt_reuse.judging.Judge`, a function or a pipeline. A judge is asked for the documents that people
            judged alone, so that the labels that sort are the labels that score.
        measures: ir_measures measures, or their names, one or several.
        scorers: further judges that score and do not re-rank, in the same forms. The judges that re-rank score, too,
            and so do people.
        depth: how many documents of each list are sorted.
        best: how many systems are the best, for tau_b of the best and for who is among them; systems that tie with the
            last of them are among them.
        rel: the lowest label of people that is relevant; default what their judgments say, else 1.
        judge_rel: the same of the judges, or a dict of their label -> the label of people, as in :func:`audit_labels`.
        families: a dict of judge -> family of models, shown beside the judge.
        missing: a document without a label of a judge is ``"unjudged"`` for it (default), or is dropped for everybody
            (``"drop"``).
        resamples: how often the topics are drawn for intervals, the same draws for all; 0 for none.
        confidence: of the intervals.
        seed: of the draws.
        complete: the mean is over all topics, a topic that a run lacks counting 0 (default), or over those that the run
            has.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        verbose: show progress bars.

    Returns:
        Circularity: ``.table`` (gains, per judge and scorer), ``.rankings`` (tau_b with people), ``.by_run``,
        ``.findings()``, ``.report()``, ``.plot()``.

    Raises:
        InputError: a judge without labels for these documents, judges without a common topic, a scorer of the name of a
            judge, an unknown measure.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing, which count for nobody; fewer than five topics, which
            ``settings["beware"]`` says, too; a measure that counts labels as relevant that are not so for people;
            a `rel` above every label of people.
            Also a field of one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> noisy = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.25, range(3)), seed=1, name="noisy")
        >>> found = ptr.labels.circularity(field.runs, field.qrels, noisy, "nDCG@10", resamples=200)
        >>> found.table[["judge", "scorer", "mean_gain", "reranked_in_best"]]
           judge  scorer  mean_gain  reranked_in_best
        0  noisy  people   0.044355                 6
        1  noisy   noisy   0.100913                 9

    Source: Clarke and Dietz 2024, LLM-based relevance assessment still can't replace human relevance assessment,
    https://arxiv.org/abs/2412.17156. They have all systems of a track re-rank by the judge, which here is the field
    ``"re-ranked"`` of ``.rankings``.
    """
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    to, top = positive("depth", depth, "documents"), positive("best", best, "systems")
    rerankers = as_judges(judge)
    mine, every = [one.name for one in rerankers], [*rerankers, *_further(scorers, rerankers)]
    if families is None:
        families = {one.name: one.family for one in every if one.family is not None}
    asked = AskedJudges.of(
        {one.name: one.judge for one in every},
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
    compared = field.compared()
    labels = _common_labels(field, compared)
    caveats = field.caveats(compared, len(labels.people.topics))
    tell(caveats)
    before = {scorer: field.scored(qrels) for scorer, qrels in labels.scoring.items()}
    rows, ranked, by_run = [], [], []
    for name in mine:
        reranked = rerank_by_labels(field.runs, labels.own[name], to)
        after = {scorer: field.scored(qrels, reranked) for scorer, qrels in labels.scoring.items()}
        for measure in before[PEOPLE].measures:
            sides = _sides(before, after, measure)
            for scorer, side in sides.items():
                about = {
                    "judge": name,
                    "family": next(one.family for one in compared if one.name == name),
                    "scorer": scorer,
                    "measure": measure,
                    "same": scorer == name,
                }
                rows.append({**about, **_numbers(side, sides[PEOPLE] if scorer != PEOPLE else None, top, bootstrap)})
                by_run.append(under(about, ABOUT, side.by_run(field.runs.run_table)))
                if scorer != PEOPLE:
                    with located(f"{name}, scored by {scorer}, {measure}"):
                        ranked += [
                            {**about, "field": kind, **_taus(sides[PEOPLE], side, kind, top, bootstrap)}
                            for kind in FIELDS
                        ]
    return Circularity(
        table=with_names(pd.DataFrame(rows), "family"),
        settings={
            "re-ranked": f"the first {count(to, 'document')} of each list by the judge's labels, best first, ties as "
            "in the run, documents without a label in their places",
            **field.settings(compared),
            "topics": len(labels.people.topics),
            "best": top,
            **({INTERVALS: _in_words(bootstrap)} if bootstrap else {}),
            **noted(caveats),
        },
        rankings=with_names(pd.DataFrame(ranked), "family"),
        by_run=pd.concat(by_run, ignore_index=True),
        depth=to,
        best=top,
    )


def _further(scorers: Any, judges: Sequence[NamedJudge]) -> list[NamedJudge]:
    """Return the judges that score and do not re-rank."""
    others = [] if scorers is None else as_judges(scorers, "scorers")
    names = [one.name for one in judges]
    both = [one.name for one in others if one.name in names]
    if both:
        raise InputError(
            f"{examples(both)} re-ranks, and who re-ranks scores, too. Give a scorer that is none of the judges, under "
            "a name of its own.",
            argument="scorers",
        )
    for argument, some in (("judge", judges), ("scorers", others)):
        if any(one.name == PEOPLE for one in some):
            problem = f"{PEOPLE!r} are those who made the judgments. Give the judge another name."
            raise InputError(problem, argument=argument)
    return others


def _common_labels(field: JudgedField, compared: list[ComparedLabels]) -> _Labels:
    """Return the labels of all judges and of people on the topics that all of them have."""
    topics = common_topics([labels.human.topics for labels in compared])
    if not topics:
        raise InputError(
            "the judges have no topic in common in which all of them labelled a document, and who re-ranks and who "
            "scores need the same topics. Call it for each of them.",
            argument="judge",
        )
    most = max(len(labels.human.topics) for labels in compared)
    if len(topics) < most:
        warn(
            f"the judges have {count(len(topics), 'topic')} in common, and one of them labelled documents in {most:,}. "
            "Who re-ranks and who scores need the same topics, so the common ones count."
        )
    people = field.human.select(topics)
    if field.asked.missing == "drop":
        for labels in compared:
            people = people.restrict(labels.judge)
    own, scoring = {}, {PEOPLE: people}
    for labels in compared:
        own[labels.name] = labels.judge.select(topics).restrict(people)
        scoring[labels.name] = labels.on_scale.select(topics).restrict(people)
    if field.asked.without_topics == "error":
        check_topics(field.runs, people)
    return _Labels(people, own, scoring)


def _sides(before: Mapping[str, Scores], after: Mapping[str, Scores], measure: str) -> dict[str, BeforeAfter]:
    """Return scorer -> the runs as they were and re-ranked, by one measure."""
    return {
        scorer: BeforeAfter(scores.topic_means[measure], after[scorer].topic_means[measure])
        for scorer, scores in before.items()
    }


def _numbers(
    side: BeforeAfter, people: BeforeAfter | None, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    gains, (rank, reranked) = rounded(side.gains()[0]), side.ranks()
    in_best = side.in_best(best)
    return {
        "topics": len(side.before.values),
        "runs": len(rank),
        **gain_numbers(side, people, bootstrap),
        "gaining": int((gains > 0).sum()),
        "losing": int((gains < 0).sum()),
        "mean_rise": float((rank - reranked).mean()),
        "reranked_in_best": in_best[0],
        "originals_in_best": in_best[1],
    }


def _taus(
    people: BeforeAfter, scorer: BeforeAfter, field: str, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    return tau_numbers(people.of(field), scorer.of(field), best, bootstrap)


def _in_words(bootstrap: TopicBootstrap) -> str:
    return (
        f"of tau_b {bootstrap.words()}, the best systems being those of all topics; of gains t intervals from the same "
        "draws"
    )
