"""discriminative_power: which share of the pairs of systems differs significantly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, checked_seed, choice, count, examples, flag, fraction, positive
from pt_reuse._choices import CORRECTION, SAMPLES, TESTS
from pt_reuse._errors import InputError, door
from pt_reuse._jobs import run_jobs
from pt_reuse._report import Column, Digits, Report
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.significance import RANDOM, PairTests, check_test, pair_tests
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, few_topics, noted, tell
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.score_sets import named_scores
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_every_topic

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """Which share of the pairs of systems differs significantly, by each measure and under each set of judgments.

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

    title: ClassVar[str] = "Discriminative power"

    pairs: pd.DataFrame
    changed: pd.DataFrame
    against_first: pd.DataFrame
    alpha: float

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "against_first": self.against_first,
            "changed": self.changed,
            "pairs": self.pairs,
        }

    @property
    def judgments(self) -> list[str]:
        """Return the names of the sets of judgments, the first one taken as right."""
        return list(dict.fromkeys(self.table["judgments"]))

    def key_figures(self) -> pd.DataFrame:
        """Return the share and number of significant pairs, and how many verdicts change by other judgments."""
        several = len(self.judgments) > 1
        rows, changed = self.table, self.against_first
        figures = ["power", "significant", "always_significant_from"]
        parts = [
            key_figures_of(rows, figures, rows=[name if several else "" for name in rows["judgments"]]),
            key_figures_of(changed, ["lost", "gained", "turned"], rows=changed["judgments"].tolist()),
        ]
        return pd.concat(parts[: 1 + several], ignore_index=True)

    def headline(self) -> str:
        """Return the share of significant pairs by each measure, and how many verdicts change."""
        several, parts = len(self.judgments) > 1, []
        changes = self.against_first.set_index(["judgments", "measure"])
        for row in self.table.to_dict("records"):
            of = f" by {row['judgments']}" if several else ""
            share = "no test of" if pd.isna(row["power"]) else f"{row['power']:.1%} of"
            text = f"{row['measure']}{of}: {share} {count(row['pairs'], 'pair')}"
            if (row["judgments"], row["measure"]) in changes.index:
                moved = changes.loc[(row["judgments"], row["measure"])]
                text += f" ({moved['lost']:,} lost, {moved['gained']:,} gained, {moved['turned']:,} turned)"
            parts.append(text)
        return "; ".join(parts)

    def report(self) -> Report:
        """Return what a paper prints: per measure and set of judgments the share of significant pairs.

        With several sets of judgments also how many pairs lose, gain or turn their verdict against the first.
        """
        table, several = self.table, len(self.judgments) > 1
        columns = [Column("Measure", table["measure"])]
        if several:
            rows = table[["judgments", "measure"]].merge(self.against_first, how="left", on=["judgments", "measure"])
            columns += [
                Column("Judgments", table["judgments"]),
                Column("Power", table["power"], Digits.SCORE),
                *(Column(name.capitalize(), rows[name], Digits.COUNT) for name in ("lost", "gained", "turned")),
            ]
        else:
            columns += [
                Column("Significant pairs", table["significant"], Digits.COUNT),
                Column("Power", table["power"], Digits.SCORE),
                Column("Always significant from", table["always_significant_from"], Digits.SCORE),
            ]
        settings, n_pairs = self.settings, int(table["pairs"].iloc[0])
        correction = settings["correction"]
        how = "without a correction" if correction == "none" else f"corrected for their number: {correction}"
        against = f"; lost, gained and turned verdicts are against those by {self.judgments[0]}" if several else ""
        topics = sorted(set(table["topics"]))
        over = count(topics[0], "topic") if len(topics) == 1 else f"{topics[0]:,} to {topics[-1]:,} topics"
        notes = [f"Beware: {settings[BEWARE]}."] if BEWARE in settings else []
        return Report(
            columns,
            caption=(
                f"Discriminative power: the share of {count(n_pairs, 'pair')} of runs that differ significantly over "
                f"{over} ({settings['test']}, p at most {self.alpha:g}, {how}){against}."
            ),
            notes=notes,
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        judgments: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the p-values of all pairs from the largest to the smallest: the curves of achieved significance levels.

        A curve nearer to the origin has fewer pairs that are not significant. The p-values are those of the tests, not
        corrected for the number of pairs; the legend says which share of the pairs is significant when they are. The
        upright axis ends at four times `alpha`, which a line marks.

        Args:
            measure: one of the measures: a line for each set of judgments under it. Default: a line for each measure
                where there is one set of judgments, else the first measure.
            judgments: one of the sets of judgments: a line for each measure under it.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a line per measure or set of judgments, 18 at most told apart.
        """
        from pt_reuse.plots.lines import plot_achieved_levels
        from pt_reuse.plots.sheet import Place

        name = None if measure is None else measure_among(self.measures, measure)
        if judgments is not None:
            choice("judgments", judgments, self.judgments)
        elif name is None and len(self.judgments) == 1:
            judgments = self.judgments[0]
        elif name is None:
            name = self.measures[0]
        rows, lines, said = self.pairs, "measure", ""
        if judgments is not None:
            rows, said = rows[rows["judgments"] == judgments], judgments if len(self.judgments) > 1 else ""
        if name is not None:
            rows, said = rows[rows["measure"] == name], ", ".join(filter(None, [name, said]))
            lines = "judgments"
        return plot_achieved_levels(rows, lines=lines, alpha=self.alpha, of=said, place=Place(ax, title, legend, width))


@dataclass(frozen=True)
class _Tested:
    """The tests of one measure under one set of judgments."""

    pairs: PairTests
    p: NDArray[np.float64]
    significant: NDArray[np.bool_]


@dataclass(frozen=True)
class PairJob:
    """What one job tests: all pairs of systems by one measure under one set of judgments.

    Attributes:
        values: (topics, systems) scores.
        test: a key of :data:`TESTS`.
        samples: of the tests that draw at random.
        seed: of what they draw.
        place: the measure and the judgments.
    """

    values: NDArray[np.float64]
    test: str
    samples: int
    seed: int
    place: str

    def run(self) -> PairTests:
        """Test every pair."""
        return pair_tests(self.values, self.test, samples=self.samples, seed=self.seed)


@door
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
    """Say which share of all pairs of systems differs significantly, by each measure and under each judgment set.

    A measure has more discriminative power than another one if it finds more pairs of the same runs to differ on the
    same topics: it needs fewer topics to say so. That is not to say that it is right: judgments that favour a system
    may tell it from the others all too well. So with several sets of judgments the pairs are named whose verdict
    changes from the first of them to each of the others.

    Args:
        scores: Scores, or a dict of a name -> Scores of the same runs by the same measures under several judgments,
            those taken as right first. Each is tested on its own topics.
        test: two-sided, over topics: ``"t"`` (default), Student's paired t test; ``"wilcoxon"``, the signed-rank test
            by its normal approximation; ``"randomisation"``, which turns signs of differences at random; ``"tukey"``,
            the randomised Tukey HSD test, in which scores of all systems change places within each topic.
        alpha: the level of significance, above 0 and below 1.
        correction: for the number of pairs, of each measure and set of judgments alone: ``"none"`` (default, as in
            :func:`~pt_reuse.labels.significance_fidelity` and :func:`~pt_reuse.profile.subcollections`); ``"holm"`` and
            ``"bonferroni"`` bound the chance of any false claim, ``"benjamini-hochberg"`` the expected share of false
            ones among the claims. The test ``"tukey"`` allows for the number of pairs itself and takes ``"none"``
            alone.
        samples: of the tests that draw at random, at least 1.
        seed: of what they draw.
        n_jobs: how many at a time of the measures under each set of judgments, threads unless
            ``joblib.parallel_config`` says otherwise; default 1. The numbers do not depend on it.
        verbose: show a progress bar.

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
        >>> field = ptr.simulate_field(seed=7)
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
    level, drawn, start = (
        fraction("alpha", alpha, ends=False),
        positive("samples", samples, "draws"),
        checked_seed(seed),
    )
    checked_jobs(n_jobs)
    flag("verbose", verbose)
    sets = _checked_sets(scores)
    first = next(iter(sets.values()))
    caveats = list(few_topics(min(len(each.topics) for each in sets.values())))
    tell(caveats)
    jobs = (
        PairJob(_values_of(each, measure, first.names), test, drawn, start, f"{measure} by {name}")
        for measure, (name, each) in product(first.measures, sets.items())
    )
    total = len(first.measures) * len(sets)
    tests = run_jobs(jobs, total, desc="testing", unit="measure", n_jobs=n_jobs, verbose=verbose, prefer="threads")
    rows, pairs, changed, against = [], [], [], []
    truths: dict[Any, _Tested] = {}
    for (measure, (name, each)), found in zip(product(first.measures, sets.items()), tests, strict=True):
        p = found.corrected(correction)
        tested = _Tested(found, p, p <= level)
        of_pairs = _pair_frame(tested, name, measure, first.names)
        pairs.append(of_pairs)
        rows.append({"judgments": name, "measure": measure, "topics": len(each.topics), **_power(tested)})
        truth = truths.setdefault(measure, tested)
        if truth is tested:
            continue
        verdicts = _verdicts(truth, tested)
        against.append({"judgments": name, "measure": measure, **_counted(verdicts)})
        other = of_pairs[["judgments", "measure", "first", "second"]].assign(
            verdict=verdicts,
            difference=truth.pairs.difference,
            p_corrected=truth.p,
            other_difference=tested.pairs.difference,
            other_p_corrected=tested.p,
        )
        changed.append(other[np.isin(verdicts, ("lost", "gained", "turned"))])
    columns = ["judgments", "measure", "both", "lost", "gained", "turned", "neither"]
    settings = {
        "test": f"{TESTS[test]}, two-sided",
        "alpha": level,
        "correction": correction if test != "tukey" else "by the test itself",
        **({"samples": drawn, "seed": start} if test in RANDOM else {}),
        "topics": "each set of judgments on its own",
        "scores": "; ".join(f"{name} ({_in_words(each)})" for name, each in sets.items()),
        **noted(caveats),
    }
    empty = [] if changed else [_no_changes(pairs[0])]
    return DiscriminativePower(
        table=pd.DataFrame(rows),
        settings=settings,
        pairs=pd.concat(pairs, ignore_index=True),
        changed=pd.concat(changed or empty, ignore_index=True),
        against_first=pd.DataFrame(against, columns=columns),
        alpha=level,
    )


def _checked_sets(scores: Any) -> dict[str, Scores]:
    """Return name -> Scores of the same runs by the same measures, or say what is wrong with what was given."""
    given = named_scores(scores)
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


def _in_words(scores: Scores) -> str:
    return f"{count(len(scores.topics), 'topic')}, {', '.join(f'{k}={v}' for k, v in scores.settings.items())}"


def _pair_frame(tested: _Tested, judgments: str, measure: str, names: list[str]) -> pd.DataFrame:
    run = np.array(names, dtype=object)
    return pd.DataFrame(
        {
            "judgments": judgments,
            "measure": measure,
            "first": run[tested.pairs.first],
            "second": run[tested.pairs.second],
            "difference": tested.pairs.difference,
            "p": tested.pairs.p,
            "p_corrected": tested.p,
            "significant": tested.significant,
        }
    )


def _power(tested: _Tested) -> dict[str, Any]:
    """Return how many pairs differ, and from which difference on all do; NaN where no pair has a p-value."""
    size, yes = np.round(np.abs(tested.pairs.difference), DECIMALS), tested.significant
    if np.isnan(tested.p).all():
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


def _verdicts(truth: _Tested, other: _Tested) -> NDArray[np.str_]:
    """Return (pairs,) what becomes of each pair's verdict."""
    both = truth.significant & other.significant
    same = np.sign(truth.pairs.difference) == np.sign(other.pairs.difference)
    kinds = [both & same, both & ~same, truth.significant, other.significant]
    return np.select(kinds, ["both", "turned", "lost", "gained"], "neither")


def _counted(verdicts: NDArray[np.str_]) -> dict[str, int]:
    return {kind: int((verdicts == kind).sum()) for kind in ("both", "lost", "gained", "turned", "neither")}


def _no_changes(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return no rows, of the columns that changed pairs have."""
    none = pairs[["judgments", "measure", "first", "second"]].assign(
        verdict="", difference=0.0, p_corrected=0.0, other_difference=0.0, other_p_corrected=0.0
    )
    return none.head(0)
