"""discriminative_power: which share of the pairs of systems differs significantly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import count, examples, positive
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import RANDOM, PairTests, check_test, pair_tests
from pt_reuse.columns import Table
from pt_reuse.errors import InputError
from pt_reuse.options import CORRECTION, SAMPLES, TESTS
from pt_reuse.plots.lines import plot_achieved_levels
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result, records
from pt_reuse.scoring.caveats import beware, few_topics
from pt_reuse.scoring.scores import Scores, named_scores, scores_in_words
from pt_reuse.study import study

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
    pairs       | Pairs       | count | how many pairs of systems
    significant | Significant | count | how many of them differ significantly, or whether p_corrected is at most `alpha`
    power       | Power       | score | their share, NaN with fewer than two topics, which no test takes
    smallest_significant    | Smallest significant    | score | the smallest significant difference
    largest_not_significant | Largest not significant | score | the largest difference that is not
    always_significant_from | Always significant from | score | from which on every difference is, NaN if none
    first       | First       |       | a system
    second      | Second      |       | another one
    difference  | Difference  | difference | of the means, first minus second
    p           | p           | p     | of the test, NaN with fewer than two topics
    p_corrected | p, corrected | p    | the same, corrected for the number of pairs
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
    samples: Annotated[
        int,
        options.Option(
            "how often tests that use random numbers draw, at least 1.",
            check=partial(positive, "samples", unit="draws"),
            flag=options.Flag(),
        ),
    ] = SAMPLES,
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
        test: two-sided, over topics: ``"t"`` (default), Student's paired t test; ``"wilcoxon"``, the signed-rank test
            by its normal approximation; ``"randomisation"``, which turns signs of differences at random; ``"tukey"``,
            the randomised Tukey HSD test, in which scores of all systems change places within each topic.
        correction: for the number of pairs, of each measure and set of judgments alone: ``"none"`` (default);
            ``"holm"`` and ``"bonferroni"`` bound the chance of any false claim, ``"benjamini-hochberg"`` the expected
            share of false ones. The test ``"tukey"`` allows for the number of pairs itself and takes ``"none"``.

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

    Source: T. Sakai 2006, Evaluating evaluation metrics based on the bootstrap, SIGIR; T. Sakai 2012, Evaluation with
    informational and navigational intents, WWW (the randomised Tukey HSD test); B. Carterette 2012, Multiple testing in
    statistical analysis of systems-based information retrieval experiments, TOIS 30. Each test is checked against
    scipy, each correction is statsmodels'.
    """
    check_test(test, correction)
    sets = _of_same_runs(named_scores(scores, every_topic=True))
    first = next(iter(sets.values()))
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
        tested = _pair_frame(about, of_pairs, correction, alpha, np.array(first.names, dtype=object))
        pairs.append(tested)
        rows.append({**about, "topics": len(sets[name].topics), **_power(tested)})
        truth = truths.setdefault(measure, tested)
        both = tested[[*_KEYS, "first", "second"]].assign(verdict=_verdicts(truth, tested))
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


def _of_same_runs(sets: dict[str, Scores]) -> dict[str, Scores]:
    """Return Scores by name, of the same runs with all topics of each, or say what is wrong."""
    first_name, first = next(iter(sets.items()))
    for name, each in sets.items():
        if odd := sorted(set(first.names) ^ set(each.names)):
            problem = f"all scores need the same runs; {examples(odd)} in one of {first_name!r} and {name!r} only."
            raise InputError(problem, argument="scores")
    return sets


def _pair_frame(
    about: Mapping[str, str], tests: PairTests, correction: str, alpha: float, run: NDArray[np.object_]
) -> pd.DataFrame:
    """Return the tests of one measure under one set of judgments, one row per pair."""
    corrected = tests.corrected(correction)
    sides = {"first": run[tests.first], "second": run[tests.second], "difference": tests.difference}
    return pd.DataFrame({**about, **sides, "p": tests.p, "p_corrected": corrected, "significant": corrected <= alpha})


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


def _verdicts(truth: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.str_]:
    both = truth["significant"] & other["significant"]
    same = np.sign(truth["difference"]) == np.sign(other["difference"])
    kinds = [both & same, both & ~same, truth["significant"], other["significant"]]
    return np.select(kinds, ["both", "turned", "lost", "gained"], "neither")
