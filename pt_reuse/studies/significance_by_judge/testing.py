"""significance_fidelity: which significant differences a judge claims that people do not see, and which it misses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import checked_seed, examples, fraction, positive
from pt_reuse._choices import CORRECTION, SAMPLES, TESTS
from pt_reuse._errors import InputError, Option, door, located
from pt_reuse.arrays.bootstrap import TopicBootstrap, checked_bootstrap
from pt_reuse.arrays.significance import RANDOM, check_test, pair_tests
from pt_reuse.data.units import described
from pt_reuse.judging.judges import JudgeRel
from pt_reuse.judging.label_pairs import ComparedLabels
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import noted, tell
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.topic_sets import check_every_topic
from pt_reuse.studies.judged_fields import AskedJudges, JudgedField, ScoredSides, under, with_names
from pt_reuse.studies.significance_by_judge.fidelity import SignificanceFidelity
from pt_reuse.studies.significance_by_judge.verdicts import TestedPairs, with_intervals

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
            correction, intervals of another test than ``"t"``, statsmodels missing.

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
