"""Which pairs of systems differ significantly: discriminative_power and significance_fidelity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
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
from pt_reuse.errors import InputError, count, examples
from pt_reuse.inputs import interval_settings, settings_of
from pt_reuse.judge import as_judges
from pt_reuse.options import CORRECTION, SAMPLES, TESTS
from pt_reuse.plots.bars import plot_outcomes, plot_pairs
from pt_reuse.plots.lines import plot_achieved_levels
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import KeyFigures, Result, cells, drawn_by_measure, records
from pt_reuse.scoring.caveats import beware, few_topics
from pt_reuse.scoring.scores import named_scores, scores_in_words
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
            "judge measure first* second* outcome* difference* judge_difference {,judge_}p {,judge_}p_corrected*",
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

    Intervals of the shares are for the test ``"t"`` alone; give ``resamples=0`` for the others.

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
    for fair and reliable retrieval evaluation, SIGIR, for the question; Moffat, Scholer and Thomas 2012, ADCS, for the
    counts.
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
            by_people, of_judge = (pair_tests(values, test, samples=samples, seed=seed) for values in both)
            drawn = None
            if bootstrap is not None and len(people.topics) > 1:
                drawn = drawn_agreement(*both, bootstrap, alpha, correction)
            about = {"judge": labels.name, "measure": measure}
            sizes = {"topics": len(people.topics), "runs": len(field), "pairs": len(by_people.p)}
            counts = _counts(agreement_of_tests(by_people, of_judge, alpha, correction), drawn, bootstrap)
            rows.append({"judge": labels.name, "family": labels.family, "measure": measure, **sizes, **counts})
            pairs.append(under(about, _pairs(by_people, of_judge, alpha, correction, people.names)))
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


def _pairs(human: PairTests, judge: PairTests, alpha: float, correction: str, names: list[str]) -> pd.DataFrame:
    of_people, of_judge = (winners(tests, alpha, correction) for tests in (human, judge))
    both = (of_people != 0) & (of_judge != 0)
    kinds = {
        UNTESTED: np.isnan(human.p) | np.isnan(judge.p),
        "agree": both & (of_people == of_judge),
        "opposite": both,
        "missed": of_people != 0,
        "false claim": of_judge != 0,
    }
    run, outcome = np.array(names, dtype=object), np.select(list(kinds.values()), list(kinds), "neither")
    columns = {"first": run[human.first], "second": run[human.second], "outcome": outcome.astype(object)}
    for begin, tests in (("", human), ("judge_", judge)):
        columns |= {f"{begin}difference": tests.difference, f"{begin}p": tests.p}
        columns[f"{begin}p_corrected"] = tests.corrected(correction)
    return pd.DataFrame(columns)


#: what becomes of the verdict on a pair
_VERDICTS = ("both", "lost", "gained", "turned", "neither")
_KEYS = ["judgments", "measure"]


def _draw(result: DiscriminativePower, measure: str, place: Place) -> Axes:
    rows = result.pairs[result.pairs["measure"] == measure]
    return plot_achieved_levels(rows, lines="judgments", alpha=result.alpha, of=measure, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """Which share of the pairs of systems differs significantly, by each measure and under each set of judgments.

    Attributes:
        alpha: the level of significance.
    """

    title = "Discriminative power"
    key = "power significant always_significant_from"
    valid_for = "{test}, p at most {alpha:g}, correction: {correction}; {scores}."
    not_covered = "which differences are true or large; runs may differ where no difference is significant."
    plots = {"levels": _draw}
    columns = """
    power       | Power       | score | their share, NaN with fewer than two topics, which no test takes
    smallest_significant    | Smallest significant    | score | the smallest significant difference
    largest_not_significant | Largest not significant | score | the largest difference that is not
    always_significant_from | Always significant from | score | from which on every difference is, NaN if none
    first       | First       |       | a system
    second      | Second      |       | another one
    verdict     | Verdict     |       | ``lost``, significant by the first judgments only, ``gained`` or ``turned``
    other_      | other       |       | under the other judgments
    both        | Both        | count | pairs that are significant under both, with the same winner
    lost        | Lost        | count | pairs that are significant under the first judgments only
    gained      | Gained      | count | pairs that are significant under the other judgments only
    turned      | Turned      | count | pairs that are significant under both, with opposite winners
    neither     | Neither     | count | pairs that are significant under neither
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and set of judgments",
            "judgments* measure* topics pairs significant* power* smallest_significant largest_not_significant "
            "always_significant_from*",
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table(
            "measure, set of judgments and pair",
            "judgments* measure first* second* difference* p p_corrected* significant",
        ),
    ]
    changed: Annotated[
        pd.DataFrame,
        Table(
            "pair whose verdict is not that under the first judgments",
            "judgments measure first second verdict {,other_}difference {,other_}p_corrected",
            report="first second measure verdict p_corrected other_p_corrected",
        ),
    ]
    against_first: Annotated[
        pd.DataFrame, Table("measure and further set of judgments", f"judgments measure {' '.join(_VERDICTS)}")
    ]
    alpha: float

    @property
    def judgments(self) -> list[str]:
        return list(dict.fromkeys(self.table["judgments"]))

    def answers(self) -> list[str]:
        lines = []
        for row in records(self.table.merge(self.against_first, how="left", on=_KEYS)):
            of = f"{row['measure']} by {row['judgments']}" if len(self.judgments) > 1 else row["measure"]
            share = "none" if np.isnan(row["power"]) else f"{row['power']:.1%}"
            moved = ", ".join(f"{row[kind]:,.0f} {kind}" for kind in ("lost", "gained", "turned"))
            moved = f" ({moved})" if row["both"] >= 0 else ""
            lines.append(f"{of}: {share} of {count(row['pairs'], 'pair')} significant{moved}")
        return lines


@dataclass(frozen=True)
class PairJob:
    """The job that tests all pairs of systems by one measure under one set of judgments."""

    values: NDArray[np.float64]  # (topics, systems) scores
    test: str  # a key of :data:`TESTS`
    samples: int  # of the tests that draw at random
    seed: int  # of what they draw
    place: str  # the measure and the judgments

    def run(self) -> PairTests:
        return pair_tests(self.values, self.test, samples=self.samples, seed=self.seed)


@study(
    options.SHARED["measures"],
    question="How many pairs of systems differ significantly?",
    command="profile discriminative-power",
    aim="ranks",
    summary="the share of pairs of runs that differ significantly",
    details="Each pair of runs is tested over topics, by each measure. With --other the pairs are also tested under "
    "these judgments, and those that change are counted.",
    group="profile",
    papers="[S06]_",
    screen=("table", "against_first", "changed"),
    several=True,
)
def discriminative_power(
    scores: options.ScoresOf,
    *,
    test: options.Test = "t",
    alpha: options.Alpha = 0.05,
    correction: options.Correction = CORRECTION,
    samples: Annotated[options.Samples, replace(options.SHARED["samples"], flag=options.Flag())] = SAMPLES,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> DiscriminativePower:
    """Compute the share of pairs of systems that differ significantly, by each measure and set of judgments.

    The differences need not be right: judgments that favour a system may separate it from the others too easily. So
    with several sets of judgments, ``.changed`` has the pairs whose verdict changes from the first set to another one.

    Args:
        scores: Scores, or a dict of a name -> Scores of the same runs by the same measures under several judgments,
            those taken as right first. Each is tested on its own topics.

    Raises:
        InputError: scores of other runs or measures in one of the sets, fewer than two runs, a mean over the topics of
            each run (``complete=False``) where runs lack topics, an unknown test or correction.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> scores = ptr.score(field.runs, field.qrels, ["AP", "P@10"])
        >>> ptr.profile.discriminative_power(scores).table[["measure", "pairs", "significant"]]
          measure  pairs  significant
        0      AP    153           78
        1    P@10    153           79

    Source: Sakai 2006, Evaluating evaluation metrics based on the bootstrap, SIGIR; Sakai 2012, WWW (the randomised
    Tukey HSD test); Carterette 2012, TOIS 30. Each test is checked against scipy, each correction is statsmodels'.
    """
    check_test(test, correction)
    sets = named_scores(scores, every_topic=True)
    first = next(iter(sets.values()))
    for name, each in sets.items():
        if odd := sorted(set(first.names) ^ set(each.names)):
            problem = f"all scores need the same runs; {examples(odd)} not in the first and in {name!r}."
            raise InputError(problem, argument="scores")
    beware(few_topics(min(len(each.topics) for each in sets.values())))
    parts = list(product(first.measures, sets))
    jobs = (
        PairJob(sets[name].of(measure)[first.names].to_numpy(), test, samples, seed, f"{measure} by {name}")
        for measure, name in parts
    )
    tests = run_jobs(jobs, len(parts), desc="testing", unit="measure", n_jobs=n_jobs, verbose=verbose, prefer="threads")
    rows, pairs, changed, against = [], [], [], []
    truths: dict[str, pd.DataFrame] = {}
    for (measure, name), of_pairs in zip(parts, tests, strict=True):
        about = {"judgments": name, "measure": measure}
        run, corrected = np.array(first.names, dtype=object), of_pairs.corrected(correction)
        sides = {"first": run[of_pairs.first], "second": run[of_pairs.second], "difference": of_pairs.difference}
        numbers = {"p": of_pairs.p, "p_corrected": corrected, "significant": corrected <= alpha}
        tested = pd.DataFrame({**about, **sides, **numbers})
        pairs.append(tested)
        rows.append({**about, "topics": len(sets[name].topics), **_power(tested)})
        truth = truths.setdefault(measure, tested)
        claimed, others = truth["significant"], tested["significant"]
        same = np.sign(truth["difference"]) == np.sign(tested["difference"])
        kinds = [claimed & others & same, claimed & others & ~same, claimed, others]
        verdict = np.select(kinds, ["both", "turned", "lost", "gained"], "neither")
        both = tested[[*_KEYS, "first", "second"]].assign(verdict=verdict)
        for prefix, frame in (("", truth), ("other_", tested)):
            both[[f"{prefix}difference", f"{prefix}p_corrected"]] = frame[["difference", "p_corrected"]]
        changed.append(both[both["verdict"].isin(["lost", "gained", "turned"])])
        if truth is not tested:
            against.append(about | {kind: int((both["verdict"] == kind).sum()) for kind in _VERDICTS})
    settings = {
        "test": f"{TESTS[test]}, two-sided",
        "alpha": alpha,
        "correction": correction if test != "tukey" else "by the test itself",
        **({"samples": samples, "seed": seed} if test in RANDOM else {}),
        "topics": "each set of judgments on its own",
        "scores": "; ".join(f"{name} ({scores_in_words(each)})" for name, each in sets.items()),
    }
    return DiscriminativePower(
        table=pd.DataFrame(rows),
        settings=settings,
        pairs=pd.concat(pairs, ignore_index=True),
        changed=pd.concat(changed, ignore_index=True),
        against_first=pd.DataFrame(against, columns=[*_KEYS, *_VERDICTS]),
        alpha=alpha,
    )


def _power(tested: pd.DataFrame) -> dict[str, Any]:
    """Return how many pairs differ, and from which difference on all do; NaN where no pair has a p-value."""
    size, yes = np.round(np.abs(tested["difference"].to_numpy()), DECIMALS), tested["significant"].to_numpy()
    known = tested["p_corrected"].notna().any()
    least_not = size[~yes].max(initial=-1.0)
    always = size[size > least_not]
    return {
        "pairs": len(size),
        "significant": int(yes.sum()),
        "power": yes.mean() if known else np.nan,
        "smallest_significant": size[yes].min() if yes.any() else np.nan,
        "largest_not_significant": least_not if known and not yes.all() else np.nan,
        "always_significant_from": always.min() if known and len(always) else np.nan,
    }
