"""significance_fidelity: which significant differences a judge claims that people do not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import examples
from pt_reuse.arrays.bootstrap import TopicBootstrap
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
from pt_reuse.columns import Table
from pt_reuse.errors import InputError
from pt_reuse.inputs import interval_settings, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.options import CORRECTION, SAMPLES, TESTS
from pt_reuse.plots.bars import plot_outcomes
from pt_reuse.plots.maps import plot_pairs
from pt_reuse.result import KeyFigures, cells, drawn_by_measure, records
from pt_reuse.studies.judged_fields import JudgedInputs, OfJudges, drawn_by_judge, under, usable, with_names
from pt_reuse.study import study

#: a pair without a p-value, which a test of fewer than two topics does not have
UNTESTED = "untested"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SignificanceFidelity(OfJudges):
    """For every pair of runs whether it differs significantly by the labels of people, and by those of each judge.

    An outcome is ``"agree"`` (significant by both, the same winner), ``"false claim"`` (by the judge only),
    ``"missed"`` (by people only), ``"opposite"`` (by both, the other winner), ``"neither"``, or ``"untested"`` where
    fewer than two topics give no p-value; what is untested counts nowhere else. A share of nothing is NaN. Labels are
    usable for significance where at most alpha of their claims are false, and none has the other winner.

    Attributes:
        alpha: the level of significance.
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
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge and measure",
            "judge family measure topics runs pairs untested human_significant judge_significant agree false_claims "
            "missed opposite neither false_share~ missed_share~ agree_share~",
            "judge measure judge_significant false_share missed_share opposite",
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and pair of runs",
            "judge measure first second outcome {,judge_}difference {,judge_}p {,judge_}p_corrected",
            "first second outcome difference p_corrected judge_p_corrected",
            select={"judge": None, "outcome": ...},
        ),
    ]
    alpha: float

    def answers(self) -> list[str]:
        line = (
            "{measure}, {judge}: {false_share:.1%} of {judge_significant} claims false, {missed_share:.1%} of "
            "{human_significant} differences missed, {opposite} with the other winner. Usable for significance: "
        )
        return [
            line.format_map(cells(row, self.columns))
            + ("no" if row["opposite"] else usable(row, "false_share", self.alpha, most=True))
            for row in records(self.table)
        ]


def _check(given: Mapping[str, Any]) -> None:
    check_test(given["test"], given["correction"])
    if given["resamples"] and given["test"] != "t":
        what = f"intervals are of the test 't' alone, got {given['test']!r}. Give resamples=0 for none."
        raise InputError(what, argument="resamples")


@study(
    question="Are differences that are significant by a judge also significant by people?",
    aim="models",
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
    without_topics: options.WithoutTopics = "error",
    verbose: options.Verbose = False,
) -> SignificanceFidelity:
    """Test every pair of runs by a judge's labels and by people's, and compare which differences are significant.

    Both *agree* on a pair that differs significantly by both, with the same winner. A *false claim* is significant by
    the judge only, a *missed* pair by people only; a pair with *opposite* winners is significant by both. Intervals of
    the shares are for the test ``"t"`` alone; give ``resamples=0`` for the others.

    Raises:
        InputError: a judge without labels for these documents, fewer than two runs, an unknown measure, test or
            correction, intervals for another test than ``"t"``.

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
    judged = JudgedInputs.read(runs, human, judges, measures, rel, without_topics=without_topics, missing=missing)
    field = judged.inputs.runs
    if len(field) < 2:
        raise InputError(f"it takes two runs to compare, got {examples(field.names)}.", argument="runs")
    judged.beware()
    bootstrap = judged.inputs.bootstrap(resamples, seed, confidence, None)
    rows, pairs = [], []
    for labels, people, by_judge in judged.both_scored(verbose=verbose):
        for m, measure in enumerate(people.measures):
            both = people.values[m], by_judge.values[m]
            mine, theirs = (pair_tests(values, test, samples=samples, seed=seed) for values in both)
            drawn = None
            if bootstrap is not None and len(people.topics) > 1:
                drawn = drawn_agreement(*both, bootstrap, alpha, correction)
            about = {"judge": labels.name, "measure": measure}
            sizes = {"topics": len(people.topics), "runs": len(field), "pairs": len(mine.p)}
            counts = _counts(agreement_of_tests(mine, theirs, alpha, correction), drawn, bootstrap)
            rows.append({"judge": labels.name, "family": labels.family, "measure": measure, **sizes, **counts})
            pairs.append(under(about, _pairs(mine, theirs, alpha, correction, people.names)))
    settings = settings_of(
        judged,
        interval_settings(
            bootstrap, "; every pair is tested and corrected anew in each draw, the same draws for all judges"
        ),
        {"samples": samples, "seed": seed} if test in RANDOM else {},
        test=f"{TESTS[test]}, two-sided, over topics",
        alpha=alpha,
        correction=correction if test != "tukey" else "by the test itself",
    )
    of_all = pd.concat(pairs, ignore_index=True)
    return SignificanceFidelity(table=with_names(rows), pairs=of_all, alpha=alpha, settings=settings)


def _counts(
    found: SignificanceAgreement, drawn: SignificanceAgreement | None, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    """Return how many pairs have each outcome, and the shares of them with their ends; people's is the first test."""
    both, row = found.ss_a + found.ss_d, dict[str, float]()
    row |= {"untested": found.untested, "human_significant": both + found.sn, "judge_significant": both + found.ns}
    row |= {"agree": found.ss_a, "false_claims": found.ns, "missed": found.sn, "opposite": found.ss_d}
    row["neither"] = found.nn
    for name, share in (("false_share", "only_second"), ("missed_share", "only_first"), ("agree_share", "agree")):
        row[name] = getattr(found, share)
        if bootstrap is not None:
            values = np.full(1, np.nan) if drawn is None else getattr(drawn, share)
            row[f"{name}_low"], row[f"{name}_high"] = bootstrap.interval(row[name], values, within=(0, 1))
    return row


def _outcomes(human: PairTests, judge: PairTests, alpha: float, correction: str) -> NDArray[np.object_]:
    of_people, of_judge = (winners(tests, alpha, correction) for tests in (human, judge))
    both = (of_people != 0) & (of_judge != 0)
    kinds = {
        UNTESTED: np.isnan(human.p) | np.isnan(judge.p),
        "agree": both & (of_people == of_judge),
        "opposite": both,
        "missed": of_people != 0,
        "false claim": of_judge != 0,
    }
    return np.select(list(kinds.values()), list(kinds), "neither").astype(object)


def _pairs(human: PairTests, judge: PairTests, alpha: float, correction: str, names: list[str]) -> pd.DataFrame:
    run, outcome = np.array(names, dtype=object), _outcomes(human, judge, alpha, correction)
    columns = {"first": run[human.first], "second": run[human.second], "outcome": outcome}
    for begin, tests in (("", human), ("judge_", judge)):
        columns |= {f"{begin}difference": tests.difference, f"{begin}p": tests.p}
        columns[f"{begin}p_corrected"] = tests.corrected(correction)
    return pd.DataFrame(columns)
