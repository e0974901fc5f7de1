"""significance_fidelity: which significant differences a judge claims that people do not see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, examples, fraction, positive
from pt_reuse._choices import CORRECTION, SAMPLES, TESTS
from pt_reuse._errors import InputError, Option, door, located
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import ends
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.arrays.significance import (
    RANDOM,
    PairTests,
    SignificanceAgreement,
    agreement_of_tests,
    check_test,
    drawn_agreement,
    pair_tests,
    winners,
)
from pt_reuse.data.units import described
from pt_reuse.judging.judges import JudgeRel
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE, noted, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.topic_sets import check_every_topic
from pt_reuse.studies.judged_fields import AskedJudges, JudgedField, ScoredSides, under, with_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: a pair without a p-value, which a test of fewer than two topics does not have
UNTESTED = "untested"
#: shares that may have intervals
SHARES = ("false_share", "missed_share", "agree_share")


@dataclass(frozen=True)
class TestedPairs:
    """The tests of every pair of runs by one measure, under the labels of people and of a judge.

    Attributes:
        human: tests under the labels of people.
        judge: tests of the same pairs under the labels of the judge.
        alpha: the level.
        correction: for the number of pairs.
    """

    __test__ = False  # no test of pytest

    human: PairTests
    judge: PairTests
    alpha: float
    correction: str

    def outcomes(self) -> NDArray[np.object_]:
        """Return (pairs,) the outcome of each, as a ``SignificanceFidelity`` names it."""
        people, judge = (winners(tests, self.alpha, self.correction) for tests in (self.human, self.judge))
        both = (people != 0) & (judge != 0)
        kinds = [
            (UNTESTED, np.isnan(self.human.p) | np.isnan(self.judge.p)),
            ("agree", both & (people == judge)),
            ("opposite", both),
            ("missed", people != 0),
            ("false claim", judge != 0),
        ]
        return np.select([where for _, where in kinds], [name for name, _ in kinds], "neither").astype(object)

    def agreement(self) -> SignificanceAgreement:
        """Return the counts of the outcomes."""
        return agreement_of_tests(self.human, self.judge, self.alpha, self.correction)

    def counts(self) -> dict[str, float]:
        """Return how many pairs have each outcome, and the shares of false claims, missed ones and agreement."""
        found = self.agreement()
        by_judge, by_people = found.ss_a + found.ss_d + found.ns, found.ss_a + found.ss_d + found.sn
        return {
            "pairs": len(self.human.p),
            UNTESTED: found.untested,
            "human_significant": by_people,
            "judge_significant": by_judge,
            "agree": found.ss_a,
            "false_claims": found.ns,
            "missed": found.sn,
            "opposite": found.ss_d,
            "neither": found.nn,
            "false_share": found.ns / by_judge if by_judge else np.nan,
            "missed_share": found.sn / by_people if by_people else np.nan,
            "agree_share": found.agree,
        }

    def frame(self, names: list[str]) -> pd.DataFrame:
        """Return one row per pair of runs."""
        run = np.array(names, dtype=object)
        return pd.DataFrame(
            {
                "first": run[self.human.first],
                "second": run[self.human.second],
                "outcome": self.outcomes(),
                "difference": self.human.difference,
                "p": self.human.p,
                "p_corrected": self.human.corrected(self.correction),
                "judge_difference": self.judge.difference,
                "judge_p": self.judge.p,
                "judge_p_corrected": self.judge.corrected(self.correction),
            }
        )

    def of_runs(self, n_runs: int) -> dict[str, NDArray[np.int64]]:
        """Return (runs,) how many pairs each run wins and loses falsely, and how many wins and losses are missed."""
        outcomes, found = self.outcomes(), {}
        for kind, outcome, tests in (("false", "false claim", self.judge), ("missed", "missed", self.human)):
            rows = outcomes == outcome
            ahead = tests.difference[rows] > 0
            pairs = tests.first[rows], tests.second[rows]
            won, lost = np.where(ahead, *pairs), np.where(ahead, *pairs[::-1])
            found[f"{kind}_wins"] = np.bincount(won, minlength=n_runs)
            found[f"{kind}_losses"] = np.bincount(lost, minlength=n_runs)
        turned = outcomes == "opposite"
        of_both = np.concatenate([self.human.first[turned], self.human.second[turned]])
        return {**found, "opposite": np.bincount(of_both, minlength=n_runs)}


def with_intervals(
    counts: dict[str, float],
    human: NDArray[np.float64],
    judge: NDArray[np.float64],
    bootstrap: TopicBootstrap,
    *,
    alpha: float,
    correction: str,
) -> dict[str, float]:
    """Return counts with the ends of an interval of each share, NaN with fewer than two topics.

    Args:
        counts: as :meth:`TestedPairs.counts` returns them, of Student's t test.
        human: (topics, runs) scores under the labels of people.
        judge: (topics, runs) scores under the labels of the judge.
        bootstrap: over topics.
        alpha: the level.
        correction: for the number of pairs.
    """
    found: dict[str, float] = {}
    drawn = drawn_agreement(human, judge, bootstrap, alpha, correction) if len(human) > 1 else None
    of_share = {"false_share": "only_second", "missed_share": "only_first", "agree_share": "agree"}
    for name, value in counts.items():
        found[name] = value
        if name in SHARES:
            values = np.full(1, np.nan) if drawn is None else getattr(drawn, of_share[name])
            found[f"{name}_low"], found[f"{name}_high"] = bootstrap.interval(value, values, within=(0, 1))
    return found


def claims(row: Mapping[Any, Any]) -> str:
    """Return in a line what a judge claims by a measure."""
    told = f"{row['measure']} by {row['judge']}: "
    if row["untested"] == row["pairs"]:
        return f"{told}no test of {count(row['pairs'], 'pair')}"
    claimed, found = int(row["judge_significant"]), int(row["human_significant"])
    return (
        f"{told}{int(row['false_claims']):,} of {count(claimed, 'claim')} false{_percent(row['false_share'])}, "
        f"{int(row['missed']):,} of {found:,} missed{_percent(row['missed_share'])}"
    )


def findings_of(table: pd.DataFrame, *, alpha: float, corrected: bool) -> list[str]:
    """Return what was found, sentence by sentence."""
    found = [sentence for row in table.to_dict("records") for sentence in _of_judge(row)]
    untested = table["untested"] == table["pairs"]
    if not corrected and not untested.all():
        found.append(
            f"The tests are not corrected for the number of pairs: of pairs of equal runs {100 * alpha:.4g} in 100 "
            "would be significant by chance, by people as by a judge."
        )
    return found


def _of_judge(row: Mapping[Any, Any]) -> Iterator[str]:
    about, pairs = f"{row['judge']}, {row['measure']}", int(row["pairs"])
    if row["untested"] == pairs:
        yield f"{about}: no pair was tested, since there are fewer than two topics."
        return
    claimed, people = int(row["judge_significant"]), int(row["human_significant"])
    if claimed:
        n = int(row["false_claims"])
        yield (
            f"{about}: {n:,} of the {count(claimed, 'pair')} that {_differ(claimed)} significantly by the judge "
            f"({_share(row, 'false_share')}) {'is a false claim' if n == 1 else 'are false claims'}: not significant "
            "by people."
        )
    else:
        yield f"{about}: no pair of {pairs:,} differs significantly by the judge, so it claims nothing."
    if people:
        n = int(row["missed"])
        yield (
            f"{about}: {n:,} of the {count(people, 'pair')} that {_differ(people)} significantly by people "
            f"({_share(row, 'missed_share')}) {'is' if n == 1 else 'are'} missed: not significant by the judge."
        )
    else:
        yield f"{about}: no pair of {pairs:,} differs significantly by people, so nothing can be missed."
    if row["opposite"]:
        n = int(row["opposite"])
        yield f"{about}: {count(n, 'pair')} {_differ(n)} significantly by both, with opposite winners."


def _differ(n: int) -> str:
    return "differs" if n == 1 else "differ"


def _share(row: Mapping[Any, Any], name: str) -> str:
    between = ends(row, name, ".1%")
    return f"{row[name]:.1%}" + (f", interval {between}" if between else "")


def _percent(share: float) -> str:
    return "" if pd.isna(share) else f" ({share:.1%})"


#: what a report shows of each judge
NUMBERS = ("counts", "shares")
KINDS = ("counts", "pairs")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SignificanceFidelity(Result):
    """For every pair of runs whether it differs significantly by the labels of people, and by those of each judge.

    An outcome is ``"agree"`` (significant by both, the same winner), ``"false claim"`` (by the judge only),
    ``"missed"`` (by people only), ``"opposite"`` (by both, the other winner), ``"neither"``, or ``"untested"`` where
    fewer than two topics give no p-value; what is untested counts nowhere else.

    Attributes:
        table: one row per judge and measure: ``judge family measure topics runs pairs untested``;
            ``human_significant judge_significant``, the pairs that differ significantly by either; the counts of the
            outcomes, ``agree false_claims missed opposite neither``; ``false_share``, the false claims as a share of
            what the judge finds significant; ``missed_share``, the missed pairs as a share of what people find;
            ``agree_share``, agree-SS_a, the share of all significant results that the other side confirms, 2 agree /
            (human_significant + judge_significant). A share of nothing is NaN. Where intervals were asked for, each
            share has its ends behind it, ``false_share_low false_share_high`` and so on.
        pairs: one row per judge, measure and pair: ``judge measure first second outcome``; ``difference`` of the means
            by people's labels, first minus second, ``p`` and ``p_corrected`` for the number of pairs; the same by the
            judge's, ``judge_difference judge_p judge_p_corrected``.
        by_run: one row per judge, measure and run: ``judge measure name team type``, and ``family`` where runs have
            one; ``false_wins false_losses``, the
            false claims that the run is better or worse than another one; ``missed_wins missed_losses``, the pairs that
            it wins or loses by people and that the judge misses; ``opposite``, pairs in which the other run wins.
        alpha: the level of significance.
        corrected: whether p-values allow for the number of pairs.
    """

    title: ClassVar[str] = "Significance fidelity"

    pairs: pd.DataFrame
    by_run: pd.DataFrame
    alpha: float
    corrected: bool

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges."""
        return list(dict.fromkeys(self.table["judge"]))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "by_run": self.by_run, "pairs": self.pairs}

    @property
    def has_intervals(self) -> bool:
        """Return whether the shares have intervals."""
        return "false_share_low" in self.table

    def key_figures(self) -> pd.DataFrame:
        """Return of each judge the shares of false claims and of missed pairs, and how many winners are opposite."""
        return key_figures_of(
            self.table, ["false_share", "missed_share", "opposite"], rows=self.table["judge"].tolist()
        )

    def headline(self) -> str:
        """Return what each judge claims by each measure, and what of it is false."""
        return "; ".join(claims(row) for row in self.table.to_dict("records"))

    def findings(self) -> list[str]:
        """Return what was found in plain sentences, each with its numbers and intervals, the first measure first."""
        return findings_of(self.table, alpha=self.alpha, corrected=self.corrected)

    @door
    def report(self, measure: MeasureLike | None = None, *, numbers: str = "counts") -> Report:
        """Return what a paper prints of one measure, a row per judge.

        Args:
            measure: one of the measures; default the first.
            numbers: ``"counts"`` of pairs (default), or the ``"shares"`` of false claims and missed pairs, with their
                intervals where there are any.
        """
        name = measure_among(self.measures, measure)
        choice("numbers", numbers, NUMBERS)
        rows = self.table[self.table["measure"] == name]
        columns = [Column("Judge", rows["judge"])]
        if numbers == "counts":
            columns += [
                Column("Significant", rows["judge_significant"], Digits.COUNT),
                Column("Same winner", rows["agree"], Digits.COUNT),
                Column("False claims", rows["false_claims"], Digits.COUNT),
                Column("Missed", rows["missed"], Digits.COUNT),
                Column("Opposite", rows["opposite"], Digits.COUNT),
            ]
        else:
            for share, said in (("false_share", "False claims"), ("missed_share", "Missed")):
                columns.append(Column(said, rows[share], Digits.SCORE))
                if self.has_intervals:
                    ends = (rows[f"{share}_low"], rows[f"{share}_high"])
                    columns.append(intervals(said.lower(), *ends, Digits.SCORE))
            columns.append(Column("Agreement", rows["agree_share"], Digits.SCORE))
        return Report(columns, caption=self._caption(name, rows), notes=self._notes(numbers))

    def _caption(self, measure: str, rows: pd.DataFrame) -> str:
        settings = self.settings
        by_people = sorted(set(rows["human_significant"].astype(int)))
        people = f"{by_people[0]:,}" if len(by_people) == 1 else f"{by_people[0]:,} to {by_people[-1]:,}"
        how = "not corrected for their number" if not self.corrected else f"corrected: {settings['correction']}"
        return (
            f"Of {count(int(rows['pairs'].max()), 'pair')} of runs, {people} differ significantly by {measure} and "
            f"the labels of people ({settings['test']}, p at most {self.alpha:g}, {how}); what each judge makes of "
            "them."
        )

    def _notes(self, numbers: str) -> list[str]:
        notes = ["False claim: significant by the judge only. Missed: significant by people only."]
        if numbers == "shares":
            notes.append(
                "False claims are a share of the judge's significant pairs, missed ones of people's; agreement is the "
                "share of all significant results that the other side confirms."
            )
            notes += [f"Intervals: {self.settings[INTERVALS]}."] if self.has_intervals else []
        notes.append(f"People: {self.settings['human']}. Judges: {self.settings['judges']}.")
        return [*notes, f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else notes

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "counts",
        judge: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how many pairs have which outcome, a bar per judge, or the outcome of every pair by one judge.

        Args:
            measure: one of the measures; default the first.
            kind: ``"counts"`` (default), a stacked bar per judge; ``"pairs"``, a cell for every two runs, the best by
                people first.
            judge: of ``"pairs"``: one of the judges; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the bars, or one image.
        """
        from pt_reuse.plots.bars import plot_outcomes
        from pt_reuse.plots.maps import plot_pairs
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        choice("kind", kind, KINDS)
        which = self.judges[0] if judge is None else choice("judge", judge, self.judges)
        place = Place(ax, title, legend, width)
        if kind == "counts":
            return plot_outcomes(self.table[self.table["measure"] == name], measure=name, place=place)
        rows = self.pairs[(self.pairs["measure"] == name) & (self.pairs["judge"] == which)]
        return plot_pairs(rows, measure=name, judge=which, place=place)


#: the test whose shares have intervals
WITH_INTERVALS = "t"
#: columns before those of pairs and of runs
ABOUT = ("judge", "measure")


@door
def significance_fidelity(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    test: str = "t",
    alpha: float = 0.05,
    correction: str = CORRECTION,
    samples: int = SAMPLES,
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
) -> SignificanceFidelity:
    """Say for every pair of runs whether a judge's labels find the significant differences that people's labels find.

    A pair on which both agree differs significantly under either, and the same run wins. A *false claim* is significant
    by the judge only, a *missed* pair by people only; with *opposite* winners it is significant by both. People's
    verdicts are the yardstick, and no more: they are tests, too, of so many topics.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`. Two runs at least.
        human: the judgments of people, in any form.
        judge: a judge, or a dict of name -> judge: judgments in any form, a :class:`~pt_reuse.judging.Judge`, a
            function or a pipeline. A judge is asked for the documents that people judged, and both count on the topics
            in which it labels a document.
        measures: ir_measures measures, or their names, one or several.
        test: two-sided, over topics: ``"t"`` (default), ``"wilcoxon"``, ``"randomisation"`` or ``"tukey"``, see
            :func:`~pt_reuse.profile.discriminative_power`.
        alpha: the level of significance, above 0 and below 1: a p-value of at most that is significant.
        correction: for the number of pairs, of each measure and set of labels alone: ``"none"`` (default), ``"holm"``,
            ``"bonferroni"`` or ``"benjamini-hochberg"``, see :func:`~pt_reuse.profile.discriminative_power`. The shares
            differ a lot without one.
        samples: of the tests that draw at random, at least 1.
        rel: the lowest label of people that is relevant; default what their judgments say, else 1.
        judge_rel: the same of the judge, or a dict of its label -> the label of people, as in :func:`audit_labels`.
        families: a dict of judge -> family of models, shown beside the judge.
        missing: a document without a label of the judge is ``"unjudged"`` for the judge (default), or is dropped for
            people, too (``"drop"``).
        resamples: how often the topics are drawn for intervals of the shares: all judges see the same draws, and all
            pairs are tested anew in each. Of the test ``"t"`` alone; give 0 for the other tests.
        confidence: of the intervals.
        seed: of the draws, and of the tests that draw at random.
        complete: a topic that a run lacks counts 0 (default). False, the mean over the topics of each run, is refused
            where runs lack topics.
        without_topics: a run with none of the topics is an ``"error"`` (default), or scores ``"zero"``.
        verbose: show progress bars.

    Returns:
        SignificanceFidelity: ``.table`` (per judge and measure), ``.pairs``, ``.by_run``, ``.findings()``,
        ``.report()``, ``.plot()``.

    Raises:
        InputError: a judge without labels for these documents, fewer than two runs, an unknown measure, test or
            correction, intervals of another test than ``"t"``.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing; fewer than five topics, which
            ``settings["beware"]`` says, too; a measure that counts labels as relevant that are not so for people;
            a `rel` above every label of people.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> noisy = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.25, range(3)), seed=1, name="noisy")
        >>> found = ptr.labels.significance_fidelity(field.runs, field.qrels, noisy, "nDCG@10", resamples=200)
        >>> found.table[["pairs", "human_significant", "judge_significant", "false_claims", "missed"]]
           pairs  human_significant  judge_significant  false_claims  missed
        0    153                 74                 71             2       5

    Source: Otero, Parapar and Barreiro 2025, Limitations of automatic relevance assessments with large language models
    for fair and reliable retrieval evaluation, SIGIR, for the question; Moffat, Scholer and Thomas 2012, Models and
    metrics: IR evaluation as a user process, ADCS, for the counts. The t test is checked against scipy, each correction
    is statsmodels'.
    """
    check_test(test, correction)
    level, drawn = fraction("alpha", alpha, ends=False), positive("samples", samples, "draws")
    start = checked_seed(seed)
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    if bootstrap is not None and test != WITH_INTERVALS:
        raise InputError(
            f"intervals are of the test {WITH_INTERVALS!r} alone, whose draws have a closed form; with {test!r} every "
            "pair would be tested anew in every draw. Give ",
            Option("resamples", 0),
            " for none.",
            argument="resamples",
        )
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
    if len(field.runs) < 2:
        raise InputError(f"it takes two runs to compare, got {examples(field.runs.names)}.", argument="runs")
    compared = field.compared()
    caveats = field.caveats(compared)
    tell(caveats)
    rows, pairs, by_run = [], [], []
    for sides in _scored(field, compared):
        labels, people, of_judge = sides.labels, sides.human, sides.judge
        for m, measure in enumerate(people.measures):
            by_people, by_judge = (
                pair_tests(scores.values[m], test, samples=drawn, seed=start) for scores in (people, of_judge)
            )
            tested = TestedPairs(by_people, by_judge, level, correction)
            counts = tested.counts()
            if bootstrap is not None:
                values = people.values[m], of_judge.values[m]
                counts = with_intervals(counts, *values, bootstrap, alpha=level, correction=correction)
            about = {"judge": labels.name, "family": labels.family, "measure": measure}
            rows.append({**about, "topics": len(people.topics), "runs": len(people.names), **counts})
            pairs.append(under(about, ABOUT, tested.frame(people.names)))
            of_runs = described(field.runs.run_table).drop(columns="pooled")
            of_runs = of_runs.assign(**tested.of_runs(len(people.names)))
            by_run.append(under(about, ABOUT, of_runs))
    settings = {
        "test": f"{TESTS[test]}, two-sided, over topics",
        "alpha": level,
        "correction": correction if test != "tukey" else "by the test itself",
        **({"samples": drawn, "seed": start} if test in RANDOM else {}),
        **field.settings(compared),
        **({INTERVALS: _in_words(bootstrap)} if bootstrap else {}),
        **noted(caveats),
    }
    return SignificanceFidelity(
        table=with_names(pd.DataFrame(rows), "family"),
        settings=settings,
        pairs=pd.concat(pairs, ignore_index=True),
        by_run=pd.concat(by_run, ignore_index=True),
        alpha=level,
        corrected=correction != "none" or test == "tukey",
    )


def _scored(field: JudgedField, compared: list[ComparedLabels]) -> list[ScoredSides]:
    """Return of each judge the scores under both labels, which a paired test takes of every run on every topic."""
    found = field.both_scored(compared)
    for sides in found:
        if not sides.human.complete:
            with located(sides.labels.name):
                check_every_topic(sides.human.names, sides.human.has_topic, "complete")
    return found


def _in_words(bootstrap: TopicBootstrap) -> str:
    return f"{bootstrap.words()}; every pair is tested and corrected anew in each draw, the same draws for all judges"
