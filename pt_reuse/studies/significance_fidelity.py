"""significance_fidelity: which significant differences a judge claims that people do not see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._choices import CORRECTION, SAMPLES, TESTS
from pt_reuse._report import Digits
from pt_reuse._text import ends, with_ends
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import (
    RANDOM,
    PairTests,
    check_test,
    drawn_agreement,
    pair_tests,
    winners,
)
from pt_reuse.data.units import described
from pt_reuse.errors import InputError, located
from pt_reuse.judge import JudgeRel
from pt_reuse.plots.bars import plot_outcomes
from pt_reuse.plots.maps import plot_pairs
from pt_reuse.result import KeyFigures, Shown, View, clauses, records
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.scores import check_every_topic
from pt_reuse.studies.judged_fields import (
    NOTES,
    AskedJudges,
    OfJudges,
    drawn_by_judge,
    drawn_by_measure,
    under,
    with_names,
)
from pt_reuse.study import Entry, study

Floats = NDArray[np.float64]
#: a pair without a p-value, which a test of fewer than two topics does not have
UNTESTED = "untested"
#: shares that may have intervals -> what they are called where both sides of a test are drawn
SHARES = {"false_share": "only_second", "missed_share": "only_first", "agree_share": "agree"}
#: the test whose shares have intervals
WITH_INTERVALS = "t"


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
        by_people, by_judge = agree + opposite + missed, agree + opposite + false
        return {
            "pairs": len(self.outcomes),
            UNTESTED: untested,
            "human_significant": by_people,
            "judge_significant": by_judge,
            "agree": agree,
            "false_claims": false,
            "missed": missed,
            "opposite": opposite,
            "neither": neither,
            "false_share": false / by_judge if by_judge else np.nan,
            "missed_share": missed / by_people if by_people else np.nan,
            "agree_share": 2 * agree / (by_people + by_judge) if by_people + by_judge else np.nan,
        }

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


_CAPTION = (
    "Of all pairs of runs, those that differ significantly by {measure} ({test}, p at most {alpha:g}, correction: "
    "{correction})"
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SignificanceFidelity(OfJudges):
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
            one; ``false_wins false_losses``, the false claims that the run is better or worse than another one;
            ``missed_wins missed_losses``, the pairs that it wins or loses by people and that the judge misses;
            ``opposite``, pairs in which the other run wins.
        alpha: the level of significance.
        corrected: whether p-values allow for the number of pairs.
    """

    title = "Significance fidelity"
    condition = (
        "It takes the labels of people as the truth, relevant: {relevant}; test: {test}, alpha {alpha:g}, "
        "correction: {correction}; {missing}."
    )
    limit = "It does not say which differences are true, only which of them the labels of people show on these topics."
    views = {
        "counts": View(
            columns=(
                Shown("Judge", "judge"),
                Shown("Significant", "judge_significant", Digits.COUNT),
                Shown("Same winner", "agree", Digits.COUNT),
                Shown("False claims", "false_claims", Digits.COUNT),
                Shown("Missed", "missed", Digits.COUNT),
                Shown("Opposite", "opposite", Digits.COUNT),
            ),
            caption=f"{_CAPTION}: by each judge, with the same winner as by people, by the judge only (false claims), "
            "by people only (missed), and with the other winner.",
            noun="judges",
        ),
        "shares": View(
            columns=(
                Shown("Judge", "judge"),
                Shown("False claims", "false_share", Digits.SCORE),
                Shown("Interval of false claims", "false_share", Digits.SCORE, interval=True),
                Shown("Missed", "missed_share", Digits.SCORE),
                Shown("Interval of missed", "missed_share", Digits.SCORE, interval=True),
                Shown("Agreement", "agree_share", Digits.SCORE),
            ),
            caption=f"{_CAPTION}: the share of the judge's that are significant by the judge only (false claims), of "
            "people's that are so by people only (missed), and of all that the other side confirms (agreement).",
            noun="judges",
        ),
    }
    plots = {"counts": drawn_by_measure(plot_outcomes), "pairs": drawn_by_judge(plot_pairs, "pairs")}
    key = (KeyFigures(("false_share", "missed_share", "opposite"), row="{judge}"),)
    sentences = NOTES

    pairs: pd.DataFrame
    by_run: pd.DataFrame
    alpha: float
    corrected: bool

    def headline(self) -> str:
        """Return of each judge and measure which share of its claims is false, and which it misses."""
        return clauses([_in_short(row) for row in records(self.table)])

    def _further(self) -> list[str]:
        """Return what each judge claims falsely, and what it misses, the first measure first."""
        found = [sentence for row in self.table.to_dict("records") for sentence in _of_judge(row)]
        if not self.corrected and (self.table["untested"] < self.table["pairs"]).any():
            found.append(
                f"The tests are not corrected for the number of pairs: of pairs of equal runs {100 * self.alpha:.4g} "
                "in 100 would be significant by chance, by people as by a judge."
            )
        return found


def _in_short(row: Mapping[str, Any]) -> str:
    pairs = count(int(row["pairs"]), "pair")
    text = f"{row['measure']} by {row['judge']}: "
    if row["untested"] == row["pairs"]:
        return f"{text}no test of {pairs}: fewer than two topics"
    claims = "no pair is significant by the judge"
    if row["judge_significant"]:
        claims = f"{row['false_claims']:,.0f} of {row['judge_significant']:,.0f} claims are false, "
        claims += with_ends(row, "false_share", ".1%")
    missed = "none is significant by people"
    if row["human_significant"]:
        missed = f"{row['missed']:,.0f} of {row['human_significant']:,.0f} differences are missed, "
        missed += with_ends(row, "missed_share", ".1%")
    return f"{text}of {pairs}, {claims}, and {missed}"


def _of_judge(row: Mapping[Any, Any]) -> Iterator[str]:
    about, pairs = f"{row['judge']}, {row['measure']}", int(row["pairs"])
    if row["untested"] == pairs:
        yield f"{about}: no pair was tested, since there are fewer than two topics."
        return
    for found, n, share, who, what in (
        ("judge_significant", "false_claims", "false_share", "the judge", "false claims: not significant by people"),
        ("human_significant", "missed", "missed_share", "people", "missed: not significant by the judge"),
    ):
        if not row[found]:
            yield f"{about}: no pair of {pairs:,} differs significantly by {who}."
            continue
        between = ends(row, share, ".1%")
        interval = f", interval {between}" if between else ""
        yield (
            f"{about}: of {count(int(row[found]), 'significant pair')} by {who}, {row[n]:,.0f} ({row[share]:.1%}"
            f"{interval}) {'is' if row[n] == 1 else 'are'} {what}."
        )
    if row["opposite"]:
        yield f"{about}: {count(int(row['opposite']), 'significant pair')} by both, with opposite winners."


@study(
    entry=Entry(
        question="Are differences that are significant by a judge also significant by people?",
        command="audit",
        group="labels",
        papers="[O25]_",
    )
)
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
    """Test every pair of runs by a judge's labels and by people's, and compare which differences are significant.

    Both *agree* on a pair that differs significantly by both, with the same winner. A *false claim* is significant by
    the judge only, a *missed* pair by people only; a pair with *opposite* winners is significant by both. People's
    tests are the reference, but not the truth: they, too, depend on the number of topics.

    Args:
        resamples: how often the topics are drawn for intervals of the shares: all judges get the same draws, and all
            pairs are tested again in each. Only for the test ``"t"``; give 0 for the other tests.
        complete: a topic that a run lacks counts 0 (default). False, the mean over the topics of each run, is refused
            if runs lack topics.

    Returns:
        SignificanceFidelity: ``.table`` (per judge and measure), ``.pairs``, ``.by_run``,
        ``.report()``, ``.plot()``.

    Raises:
        InputError: a judge without labels for these documents, fewer than two runs, an unknown measure, test or
            correction, intervals for another test than ``"t"``.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing; fewer than five topics, also in ``settings["beware"]``;
            a measure that counts labels as relevant that are not relevant for people; a `rel` above every label of
            people.

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
    asked = AskedJudges(significance_fidelity, locals())
    check_test(test, correction)
    bootstrap = asked.bootstrap
    if bootstrap is not None and test != WITH_INTERVALS:
        raise InputError(
            f"intervals are of the test {WITH_INTERVALS!r} alone, whose draws have a closed form; with {test!r} "
            "every pair would be tested anew in every draw. Give resamples=0 for none.",
            argument="resamples",
        )
    field = asked.runs
    if len(field) < 2:
        raise InputError(f"it takes two runs to compare, got {examples(field.names)}.", argument="runs")
    asked.tell(asked.label_caveats())
    rows, pairs, by_run = [], [], []
    for sides in asked.both_scored():
        labels, people, by_judge = sides.labels, sides.human, sides.judge
        with located(labels.name):
            if not complete:
                check_every_topic(people.names, people.has_topic, "complete")
        for m, measure in enumerate(people.measures):
            mine, theirs = (pair_tests(s.values[m], test, samples=samples, seed=seed) for s in (people, by_judge))
            tested = TestedPairs(mine, theirs, alpha, correction)
            both = people.values[m], by_judge.values[m]
            counts = tested.counts() if bootstrap is None else tested.with_intervals(*both, bootstrap)
            about = {"judge": labels.name, "measure": measure}
            sizes = {"topics": len(people.topics), "runs": len(people.names)}
            rows.append({"judge": labels.name, "family": labels.family, "measure": measure, **sizes, **counts})
            pairs.append(under(about, tested.frame(people.names)))
            of_runs = described(field.run_table).drop(columns="pooled").assign(**tested.of_runs(len(field)))
            by_run.append(under(about, of_runs))
    words = "every pair is tested and corrected anew in each draw, the same draws for all judges"
    return SignificanceFidelity(
        table=with_names(rows),
        settings=asked.settings(
            test=f"{TESTS[test]}, two-sided, over topics",
            alpha=alpha,
            correction=correction if test != "tukey" else "by the test itself",
            **({"samples": samples, "seed": seed} if test in RANDOM else {}),
            **({"intervals": f"{bootstrap.words()}; {words}"} if bootstrap else {}),
        ),
        pairs=pd.concat(pairs, ignore_index=True),
        by_run=pd.concat(by_run, ignore_index=True),
        alpha=alpha,
        corrected=correction != "none" or test == "tukey",
    )
