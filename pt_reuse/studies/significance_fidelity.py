"""significance_fidelity: which significant differences a judge claims that people do not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import examples
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import RANDOM, PairTests, check_test, drawn_agreement, pair_tests, winners
from pt_reuse.columns import Table
from pt_reuse.data.units import described
from pt_reuse.errors import InputError, located
from pt_reuse.inputs import interval_settings, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.options import CORRECTION, SAMPLES, TESTS
from pt_reuse.plots.bars import plot_outcomes
from pt_reuse.plots.maps import plot_pairs
from pt_reuse.result import KeyFigures, cells, records
from pt_reuse.scoring.scores import check_every_topic
from pt_reuse.studies.judged_fields import (
    JudgedInputs,
    OfJudges,
    drawn_by_judge,
    drawn_by_measure,
    under,
    usable,
    with_names,
)
from pt_reuse.study import study

Floats = NDArray[np.float64]
#: a pair without a p-value, which a test of fewer than two topics does not have
UNTESTED = "untested"
#: shares that may have intervals -> what they are called where both sides of a test are drawn
SHARES = {"false_share": "only_second", "missed_share": "only_first", "agree_share": "agree"}
#: the test whose shares have intervals
WITH_INTERVALS = "t"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SignificanceFidelity(OfJudges):
    """For every pair of runs whether it differs significantly by the labels of people, and by those of each judge.

    An outcome is ``"agree"`` (significant by both, the same winner), ``"false claim"`` (by the judge only),
    ``"missed"`` (by people only), ``"opposite"`` (by both, the other winner), ``"neither"``, or ``"untested"`` where
    fewer than two topics give no p-value; what is untested counts nowhere else. A share of nothing is NaN. Labels are
    usable for significance where at most alpha of their claims are false, and none has the other winner.

    Attributes:
        alpha: the level of significance.
        corrected: whether p-values allow for the number of pairs.
    """

    title = "Significance fidelity"
    valid_for = (
        "the labels of people as the truth, relevant: {relevant}; test: {test}, alpha {alpha:g}, correction: "
        "{correction}; {missing}. Usable: at most alpha of the claims are false, none has the other winner."
    )
    not_covered = "which differences are true: the labels of people, too, show only some of them on these topics."
    plots = {"counts": drawn_by_measure(plot_outcomes), "pairs": drawn_by_judge(plot_pairs, "pairs")}
    key = (KeyFigures(("false_share", "missed_share", "opposite"), row="{judge}"),)
    columns = """
    pairs | Pairs | count | pairs of runs
    untested | Untested | count | pairs without a p-value
    human_significant | By people | count | pairs that differ significantly by people
    judge_significant | Significant | count | pairs that differ significantly by the judge
    agree | Same winner | count | significant by both, the same winner
    false_claims | False claims | count | significant by the judge only
    missed | Missed | count | significant by people only
    opposite | Opposite | count | significant by both, the other winner
    neither | Neither | count | significant by neither
    false_share | False claims, share | score | false claims as a share of what the judge finds significant
    missed_share | Missed, share | score | missed pairs as a share of what people find significant
    agree_share | Agreement | score | share of all significant results that the other side confirms (agree-SS_a)
    first | First | | a run
    second | Second | | another
    outcome | Outcome | | the outcome
    difference | Difference | difference | mean score of the first less that of the second, by people
    p | p | p | its p-value
    p_corrected | p, corrected | p | that for the number of pairs
    judge_ | judge | | the same by the judge
    false_wins | False wins | count | false claims that the run is better than another one
    false_losses | False losses | count | false claims that it is worse
    missed_wins | Missed wins | count | pairs that it wins by people and that the judge misses
    missed_losses | Missed losses | count | pairs that it loses by people and that the judge misses
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge and measure",
            "judge family measure topics runs pairs untested human_significant judge_significant agree false_claims "
            "missed opposite neither false_share~ missed_share~ agree_share~",
            "judge measure judge_significant false_share missed_share opposite",
            noun="judges",
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and pair of runs",
            "judge measure first second outcome {,judge_}difference {,judge_}p {,judge_}p_corrected",
            "first second outcome difference p_corrected judge_p_corrected",
            select={"judge": None, "outcome": ...},
            noun="pairs",
        ),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and run",
            "judge measure name team type family? false_wins false_losses missed_wins missed_losses opposite",
            "name false_wins false_losses missed_wins missed_losses opposite",
            select={"judge": None},
            noun="runs",
        ),
    ]
    alpha: float
    corrected: bool

    def answers(self) -> list[str]:
        """Return of each judge and measure which share of its claims is false, and whether it may claim at all."""
        lines = []
        for row in records(self.table):
            can = "no" if row["opposite"] else usable(row, "false_share", self.alpha, most=True)
            line = (
                "{measure}, {judge}: {false_share:.1%} of {judge_significant} claims false, {missed_share:.1%} of "
                "{human_significant} differences missed, {opposite} with the other winner"
            )
            lines.append(f"{line.format_map(cells(row, self.columns))}. Usable for significance: {can}")
        return lines


def _check(given: Mapping[str, Any]) -> None:
    check_test(given["test"], given["correction"])
    if given["resamples"] and given["test"] != WITH_INTERVALS:
        raise InputError(
            f"intervals are of the test {WITH_INTERVALS!r} alone, whose draws have a closed form; with "
            f"{given['test']!r} every pair would be tested anew in every draw. Give resamples=0 for none.",
            argument="resamples",
        )


@study(
    question="Are differences that are significant by a judge also significant by people?",
    command="audit",
    group="labels",
    papers="[O25]_",
    together=_check,
)
def significance_fidelity(
    runs: options.Runs,
    human: options.HumanJudgments,
    judge: options.JudgeLabels,
    measures: options.Measures,
    *,
    test: options.Test = "t",
    alpha: options.Alpha = 0.05,
    correction: options.Correction = CORRECTION,
    samples: options.Samples = SAMPLES,
    rel: options.Rel = None,
    judge_rel: options.JudgeGrade = None,
    families: options.Families = None,
    missing: options.Missing = "unjudged",
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    complete: options.Complete = True,
    without_topics: options.WithoutTopics = "error",
    verbose: options.Verbose = False,
) -> SignificanceFidelity:
    """Test every pair of runs by a judge's labels and by people's, and compare which differences are significant.

    Both *agree* on a pair that differs significantly by both, with the same winner. A *false claim* is significant by
    the judge only, a *missed* pair by people only; a pair with *opposite* winners is significant by both. People's
    tests are the reference, but not the truth: they, too, depend on the number of topics.

    Intervals of the shares are for the test ``"t"`` alone, with the same draws for all judges; give ``resamples=0`` for
    the others. ``complete=False`` is refused if runs lack topics.

    Returns:
        SignificanceFidelity: ``.table`` (per judge and measure), ``.pairs``, ``.by_run``, ``.plot()``.

    Raises:
        InputError: a judge without labels for these documents, fewer than two runs, an unknown measure, test or
            correction, intervals for another test than ``"t"``.


    Warns:
        ReuseWarning: topics in which a judge labelled nothing; fewer than five topics; grades that do not fit.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> noisy = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.25, range(3)), seed=1, name="noisy")
        >>> found = ptr.labels.significance_fidelity(field.runs, field.qrels, noisy, "nDCG@10", resamples=200)
        >>> found.table[["pairs", "human_significant", "judge_significant", "false_claims", "missed"]]
           pairs  human_significant  judge_significant  false_claims  missed
        0    153                 74                 71             2       5

    Source: Otero, Parapar and Barreiro 2025, Limitations of automatic relevance assessments with large language models
    for fair and reliable retrieval evaluation, SIGIR, for the question; Moffat, Scholer and Thomas 2012, Models and
    metrics: IR evaluation as a user process, ADCS, for the counts. The t test is checked against scipy, the
    corrections against statsmodels.
    """
    judges = as_judges(judge, rel=judge_rel, families=families)
    of_topics: dict[str, Any] = {"complete": complete, "without_topics": without_topics, "missing": missing}
    judged = JudgedInputs.read(runs, human, judges, measures, rel, **of_topics)
    field = judged.inputs.runs
    if len(field) < 2:
        raise InputError(f"it takes two runs to compare, got {examples(field.names)}.", argument="runs")
    judged.beware()
    bootstrap = judged.inputs.bootstrap(resamples, seed, confidence, None)
    rows, pairs, by_run = [], [], []
    for labels, people, by_judge in judged.both_scored(verbose=verbose):
        if not complete:
            with located(labels.name):
                check_every_topic(people.names, people.has_topic, "complete")
        for m, measure in enumerate(people.measures):
            both = people.values[m], by_judge.values[m]
            mine, theirs = (pair_tests(values, test, samples=samples, seed=seed) for values in both)
            tested = TestedPairs(mine, theirs, alpha, correction)
            counts = tested.counts() if bootstrap is None else tested.with_intervals(*both, bootstrap)
            about = {"judge": labels.name, "measure": measure}
            sizes = {"topics": len(people.topics), "runs": len(people.names)}
            rows.append({"judge": labels.name, "family": labels.family, "measure": measure, **sizes, **counts})
            pairs.append(under(about, tested.frame(people.names)))
            of_runs = described(field.run_table).drop(columns="pooled").assign(**tested.of_runs(len(field)))
            by_run.append(under(about, of_runs))
    drawn = "; every pair is tested and corrected anew in each draw, the same draws for all judges"
    settings = settings_of(
        judged,
        interval_settings(bootstrap, drawn),
        {"samples": samples, "seed": seed} if test in RANDOM else {},
        test=f"{TESTS[test]}, two-sided, over topics",
        alpha=alpha,
        correction=correction if test != "tukey" else "by the test itself",
    )
    return SignificanceFidelity(
        table=with_names(rows),
        pairs=pd.concat(pairs, ignore_index=True),
        by_run=pd.concat(by_run, ignore_index=True),
        alpha=alpha,
        corrected=correction != "none" or test == "tukey",
        settings=settings,
    )


@dataclass(frozen=True)
class TestedPairs:
    """The tests of every pair of runs by one measure, under the labels of people and of a judge."""

    __test__ = False  # no test of pytest

    human: PairTests
    judge: PairTests
    alpha: float
    correction: str

    @cached_property
    def outcomes(self) -> NDArray[np.object_]:
        """Return (pairs,) the outcome of each, as a ``SignificanceFidelity`` names it."""
        people, judge = (winners(tests, self.alpha, self.correction) for tests in (self.human, self.judge))
        both = (people != 0) & (judge != 0)
        kinds = {
            UNTESTED: np.isnan(self.human.p) | np.isnan(self.judge.p),
            "agree": both & (people == judge),
            "opposite": both,
            "missed": people != 0,
            "false claim": judge != 0,
        }
        return np.select(list(kinds.values()), list(kinds), "neither").astype(object)

    def counts(self) -> dict[str, float]:
        """Return how many pairs have each outcome, and the shares of false claims, missed ones and agreement."""
        kinds = (UNTESTED, "agree", "false claim", "missed", "opposite", "neither")
        untested, agree, false, missed, opposite, neither = (int((self.outcomes == kind).sum()) for kind in kinds)
        people, judge = agree + opposite + missed, agree + opposite + false
        found = {"pairs": len(self.outcomes), UNTESTED: untested, "human_significant": people}
        found |= {"judge_significant": judge, "agree": agree, "false_claims": false, "missed": missed}
        shares = {"false_share": (false, judge), "missed_share": (missed, people)}
        shares |= {"agree_share": (2 * agree, people + judge)}
        of_all = {name: n / whole if whole else np.nan for name, (n, whole) in shares.items()}
        return {**found, "opposite": opposite, "neither": neither, **of_all}

    def with_intervals(self, human: Floats, judge: Floats, bootstrap: TopicBootstrap) -> dict[str, float]:
        """Return the counts of Student's t test with the ends of each share, of (topics, runs) scores by both."""
        found: dict[str, float] = {}
        drawn = drawn_agreement(human, judge, bootstrap, self.alpha, self.correction) if len(human) > 1 else None
        for name, value in self.counts().items():
            found[name] = value
            if name in SHARES:
                values = np.full(1, np.nan) if drawn is None else getattr(drawn, SHARES[name])
                found[f"{name}_low"], found[f"{name}_high"] = bootstrap.interval(value, values, within=(0, 1))
        return found

    def frame(self, names: list[str]) -> pd.DataFrame:
        """Return one row per pair of runs."""
        run = np.array(names, dtype=object)
        columns = {"first": run[self.human.first], "second": run[self.human.second], "outcome": self.outcomes}
        for begin, tests in (("", self.human), ("judge_", self.judge)):
            columns |= {f"{begin}difference": tests.difference, f"{begin}p": tests.p}
            columns[f"{begin}p_corrected"] = tests.corrected(self.correction)
        return pd.DataFrame(columns)

    def of_runs(self, n_runs: int) -> dict[str, NDArray[np.int64]]:
        """Return (runs,) how many pairs each run wins and loses falsely, and how many wins and losses are missed."""
        found, pairs = {}, (self.human.first, self.human.second)
        for kind, outcome, tests in (("false", "false claim", self.judge), ("missed", "missed", self.human)):
            rows = self.outcomes == outcome
            for side, of in (("wins", pairs), ("losses", pairs[::-1])):
                run = np.where(tests.difference > 0, *of)[rows]
                found[f"{kind}_{side}"] = np.bincount(run, minlength=n_runs)
        of_both = np.concatenate([run[self.outcomes == "opposite"] for run in pairs])
        return {**found, "opposite": np.bincount(of_both, minlength=n_runs)}
