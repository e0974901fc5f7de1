"""discriminative_power: which share of the pairs of systems differs significantly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, positive
from pt_reuse._choices import CORRECTION, CORRECTIONS, SAMPLES, TESTS
from pt_reuse._jobs import run_jobs
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import RANDOM, PairTests, check_test, pair_tests
from pt_reuse.errors import InputError
from pt_reuse.options import SHARED, Flag, Parameter
from pt_reuse.plots.lines import plot_achieved_levels
from pt_reuse.result import KeyFigures, Result, Shown, View, clauses
from pt_reuse.scoring.caveats import BEWARE, few_topics
from pt_reuse.scoring.scores import Scores, check_every_topic, scores_in_words
from pt_reuse.studies.asked import Asked
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


def _draw(result: DiscriminativePower, measure: str, place: Place) -> Axes:
    """Draw the p-values of all pairs by a measure, the largest first, in a line for each set of judgments."""
    rows = result.pairs[result.pairs["measure"] == measure]
    return plot_achieved_levels(rows, lines="judgments", alpha=result.alpha, of=measure, place=place)


def _draw_measures(result: DiscriminativePower, _: str, place: Place, judgments: str | None = None) -> Axes:
    """Draw a line for each measure under one set of judgments."""
    which = result.judgments[0] if judgments is None else choice("judgments", judgments, result.judgments)
    rows = result.pairs[result.pairs["judgments"] == which]
    of = which if len(result.judgments) > 1 else ""
    return plot_achieved_levels(rows, lines="measure", alpha=result.alpha, of=of, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """Which share of the pairs of systems differs significantly, by each measure and under each set of judgments.

    Its figures are curves of achieved significance levels, the p-values of all pairs from the largest to the smallest,
    not corrected for the number of pairs: ``"levels"``, a line for each set of judgments by one measure, and
    ``"measures"``, a line for each measure under one of the ``judgments=``. The axis ends at four times `alpha`.

    Attributes:
        table: one row per measure and set of ``judgments``: ``topics pairs significant``; ``power``, the share of the
            pairs that is significant, NaN with fewer than two topics, which no test takes; the
            ``smallest_significant`` difference and the ``largest_not_significant`` one, NaN where there is none;
            ``always_significant_from``, the smallest difference such that it and every larger one is significant, NaN
            where the largest of all is not.
        pairs: one row per measure, set of judgments and pair: ``judgments measure first second``; ``difference`` of
            the means, first minus second; ``p`` of the test, NaN with fewer than two topics; ``p_corrected`` for the
            number of pairs; ``significant``, whether that is at most `alpha`.
        changed: with several sets of judgments, one row per pair whose verdict under a set (``judgments``) is not that
            of the first: ``verdict`` is ``"lost"`` (significant by the first only), ``"gained"`` (by the other only) or
            ``"turned"`` (by both, and the other system is the better one); ``difference p_corrected`` by the first and
            ``other_difference other_p_corrected``.
        against_first: the same counted, one row per measure and further set: ``both lost gained turned neither``.
        alpha: the level of significance.
    """

    title = "Discriminative power"
    condition = "It holds for {test}, p at most {alpha:g}, correction: {correction}; {scores}."
    limit = "It does not say which differences are true or large, nor that runs are equal where none is significant."
    views = {
        "measure": View(
            table="_against",
            columns=(
                Shown("Measure", "measure"),
                Shown("Judgments", "several"),
                Shown("Significant pairs", "significant", Digits.COUNT, unless="several"),
                Shown("Power", "power", Digits.SCORE),
                Shown("Always significant from", "always_significant_from", Digits.SCORE, unless="several"),
                Shown("Lost", "lost", Digits.COUNT),
                Shown("Gained", "gained", Digits.COUNT),
                Shown("Turned", "turned", Digits.COUNT),
            ),
            caption="Discriminative power: the share of the pairs of runs that differ significantly ({test}, p at most "
            "{alpha:g}, correction: {correction}); lost, gained and turned verdicts are against those by the first "
            "judgments.",
        ),
        "changed": View(
            table="changed",
            columns=(
                Shown("First", "first"),
                Shown("Second", "second"),
                Shown("Measure", "measure"),
                Shown("Verdict", "verdict"),
                Shown("p", "p_corrected", Digits.P),
                Shown("Other p", "other_p_corrected", Digits.P),
            ),
            caption="The pairs whose verdict changes by other judgments; p is corrected.",
            noun="pairs",
        ),
    }
    plots = {"levels": _draw, "measures": _draw_measures}
    key = (
        KeyFigures(("power", "significant", "always_significant_from"), "_against", row="{named}"),
        KeyFigures(("lost", "gained", "turned"), "against_first", row="{judgments}"),
    )

    pairs: pd.DataFrame
    changed: pd.DataFrame
    against_first: pd.DataFrame
    alpha: float

    @property
    def judgments(self) -> list[str]:
        """Return the names of the sets of judgments, the first one taken as right."""
        return list(dict.fromkeys(self.table["judgments"]))

    def _against(self) -> pd.DataFrame:
        """Return the table and, of several judgments, how many verdicts are lost, gained and turned."""
        if len(self.judgments) == 1:
            return self.table.assign(named="")
        keys = ["judgments", "measure"]
        found = self.table.merge(self.against_first[[*keys, "lost", "gained", "turned"]], how="left", on=keys)
        return found.assign(named=found["judgments"], several=found["judgments"])

    def headline(self) -> str:
        """Return the share of significant pairs by each measure, and how many verdicts change."""
        several, parts = len(self.judgments) > 1, []
        changes = self.against_first.set_index(["judgments", "measure"])
        for row in self.table.to_dict("records"):
            of = f" by {row['judgments']}" if several else ""
            pairs, text = count(row["pairs"], "pair"), f"{row['measure']}{of}: "
            untested = pd.isna(row["power"])
            text += (
                f"no test of {pairs}: fewer than two topics"
                if untested
                else f"{row['power']:.1%} of {pairs} significant"
            )
            if (row["judgments"], row["measure"]) in changes.index:
                moved = changes.loc[(row["judgments"], row["measure"])]
                text += f" ({moved['lost']:,} lost, {moved['gained']:,} gained, {moved['turned']:,} turned)"
            parts.append(text)
        return clauses(parts)


#: what becomes of the verdict on a pair
_KINDS = ("both", "lost", "gained", "turned", "neither")


@dataclass(frozen=True)
class PairJob:
    """What one job tests: all pairs of systems by one measure under one set of judgments."""

    values: NDArray[np.float64]  # (topics, systems) scores
    test: str  # a key of :data:`TESTS`
    samples: int  # of the tests that draw at random
    seed: int  # of what they draw
    place: str  # the measure and the judgments

    def run(self) -> PairTests:
        """Test every pair."""
        return pair_tests(self.values, self.test, samples=self.samples, seed=self.seed)


@study(
    SHARED["measures"],
    Parameter(
        name="scores",
        meaning="Scores, or a dict of a name -> Scores of the same runs by the same measures under several judgments, "
        "those taken as right first. Each is tested on its own topics.",
    ),
    Parameter(
        name="test",
        meaning='two-sided, over topics: ``"t"`` (default), Student\'s paired t test; ``"wilcoxon"``, the signed-rank '
        'test by its normal approximation; ``"randomisation"``, which turns signs of differences at random; '
        '``"tukey"``, the randomised Tukey HSD test, in which scores of all systems change places within each topic.',
        choices=tuple(TESTS),
        flag=Flag(help=f"one of {', '.join(TESTS)}", metavar="TEST", kind="text"),
    ),
    Parameter(
        name="correction",
        meaning='for the number of pairs, of each measure and set of judgments alone: ``"none"`` (default, as in '
        ':func:`~pt_reuse.labels.significance_fidelity` and :func:`~pt_reuse.profile.subcollections`); ``"holm"`` and '
        '``"bonferroni"`` bound the chance of any false claim, ``"benjamini-hochberg"`` the expected share of false '
        'ones among the claims. The test ``"tukey"`` allows for the number of pairs itself and takes ``"none"`` alone.',
        choices=tuple(CORRECTIONS),
        flag=Flag(
            help=f"correction for the number of pairs, one of {', '.join(CORRECTIONS)}", metavar="WHAT", kind="text"
        ),
    ),
    Parameter(
        name="samples",
        meaning="how often tests that use random numbers draw, at least 1.",
        check=partial(positive, "samples", unit="draws"),
        flag=Flag(help="draws of tests that use random numbers"),
    ),
    command=Command(
        name="profile discriminative-power",
        summary="the share of pairs of runs that differ significantly",
        details="Each pair of runs is tested over topics, by each measure. With --other the pairs are also tested "
        "under these judgments, and those that change are counted.",
        several=True,
    ),
    entry=Entry(question="How many pairs of systems differ significantly?", group="profile", papers="[S06]_"),
)
def discriminative_power(
    scores: Scores | Mapping[str, Scores],
    *,
    test: str = "t",
    alpha: float = 0.05,
    correction: str = CORRECTION,
    samples: int = SAMPLES,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> DiscriminativePower:
    """Compute the share of pairs of systems that differ significantly, by each measure and set of judgments.

    A measure has more discriminative power than another one if it finds more significant differences between the same
    runs on the same topics, so that it needs fewer topics. The differences need not be right: judgments that favour a
    system may separate it from the others too easily. So with several sets of judgments, ``.changed`` has the pairs
    whose verdict changes from the first set to each other one.

    Returns:
        DiscriminativePower: ``.table`` (per judgments and measure), ``.pairs``, ``.changed``, ``.against_first``,
        ``.plot()``.

    Raises:
        InputError: scores of other runs or measures in one of the sets, fewer than two runs, a mean over the topics of
            each run (``complete=False``) where runs lack topics, an unknown test or correction.

    Warns:
        CaveatWarning: fewer than five topics.

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
    asked = Asked(discriminative_power, locals())
    check_test(test, correction)
    sets, level = _checked_sets(asked), asked["alpha"]
    first = next(iter(sets.values()))
    asked.tell(few_topics(min(len(each.topics) for each in sets.values())))
    jobs = (
        PairJob(_values_of(each, measure, first.names), test, samples, seed, f"{measure} by {name}")
        for measure, (name, each) in product(first.measures, sets.items())
    )
    total = len(first.measures) * len(sets)
    tests = run_jobs(jobs, total, desc="testing", unit="measure", n_jobs=n_jobs, verbose=verbose, prefer="threads")
    rows, pairs, changed, against = [], [], [], []
    truths: dict[Any, pd.DataFrame] = {}
    for (measure, (name, each)), found in zip(product(first.measures, sets.items()), tests, strict=True):
        about = {"judgments": name, "measure": measure}
        tested = _pair_frame(about, found, correction, level, np.array(first.names, dtype=object))
        pairs.append(tested)
        rows.append({**about, "topics": len(each.topics), **_power(tested)})
        truth = truths.setdefault(measure, tested)
        verdicts = _verdicts(truth, tested)
        other = tested[["judgments", "measure", "first", "second"]].assign(
            verdict=verdicts,
            difference=truth["difference"],
            p_corrected=truth["p_corrected"],
            other_difference=tested["difference"],
            other_p_corrected=tested["p_corrected"],
        )
        changed.append(other[np.isin(verdicts, ("lost", "gained", "turned"))])
        if truth is not tested:
            against.append({**about, **{kind: int((verdicts == kind).sum()) for kind in _KINDS}})
    settings = {
        "test": f"{TESTS[test]}, two-sided",
        "alpha": level,
        "correction": correction if test != "tukey" else "by the test itself",
        **({"samples": samples, "seed": seed} if test in RANDOM else {}),
        "topics": "each set of judgments on its own",
        "scores": "; ".join(f"{name} ({scores_in_words(each)})" for name, each in sets.items()),
    }
    settings |= {name: value for name, value in asked.settings().items() if name == BEWARE}
    return DiscriminativePower(
        table=pd.DataFrame(rows),
        settings=settings,
        pairs=pd.concat(pairs, ignore_index=True),
        changed=pd.concat(changed, ignore_index=True),
        against_first=pd.DataFrame(against, columns=["judgments", "measure", *_KINDS]),
        alpha=level,
    )


def _checked_sets(asked: Asked) -> dict[str, Scores]:
    """Return name -> Scores of the same runs by the same measures, or say what is wrong with what was given."""
    given = asked.scores
    first_name, first = next(iter(given.items()))
    for name, each in given.items():
        odd = sorted(set(first.names) ^ set(each.names))
        if odd:
            problem = f"all scores need the same runs; {examples(odd)} in one of {first_name!r} and {name!r} only."
            raise InputError(problem, argument="scores")
        if not each.complete:
            check_every_topic(each.names, each.has_topic)
    return given


def _values_of(scores: Scores, measure: Any, names: list[str]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = scores.values[scores.measures.index(measure)]
    return values[:, [scores.names.index(run) for run in names]]


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
    if tested["p_corrected"].isna().all():
        unknown = ("power", "smallest_significant", "largest_not_significant", "always_significant_from")
        return {"pairs": len(size), "significant": 0, **dict.fromkeys(unknown, np.nan)}
    least_not = size[~yes].max(initial=-1.0)
    always = size[size > least_not]
    return {
        "pairs": len(size),
        "significant": int(yes.sum()),
        "power": yes.mean(),
        "smallest_significant": size[yes].min() if yes.any() else np.nan,
        "largest_not_significant": least_not if not yes.all() else np.nan,
        "always_significant_from": always.min() if len(always) else np.nan,
    }


def _verdicts(truth: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.str_]:
    """Return (pairs,) what becomes of each pair's verdict."""
    both = truth["significant"] & other["significant"]
    same = np.sign(truth["difference"]) == np.sign(other["difference"])
    kinds = [both & same, both & ~same, truth["significant"], other["significant"]]
    return np.select(kinds, ["both", "turned", "lost", "gained"], "neither")
