"""rank_intervals: between which ranks each system is, all at once, whichever topics are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import count, told
from pt_reuse._choices import TESTS
from pt_reuse.arrays.correlation import CLOSE, DECIMALS, rounded
from pt_reuse.arrays.pairs import ranks
from pt_reuse.arrays.significance import PairTests, pair_tests, winners
from pt_reuse.columns import Table
from pt_reuse.errors import InputError
from pt_reuse.plots.forests import plot_rank_intervals
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import beware, few_topics
from pt_reuse.scoring.scores import Scores, named_scores, scores_in_words
from pt_reuse.study import study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

Floats = NDArray[np.float64]
_TEST, _CORRECTION = "t", "holm"


def _draw(result: RankIntervals, measure: str, place: Place, top: int | None = None) -> Axes:
    """Draw the rank of each system by a measure as a point, and its interval as a line, the best on top."""
    rows = result.table[result.table["measure"] == measure]
    said = f"{100 * result.confidence:.4g} % intervals for all at once"
    return plot_rank_intervals(rows, measure=measure, said=said, noun="systems", top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankIntervals(Result):
    """Between which ranks each system is, for all systems at once, and which of them cannot be told apart.

    Its figure has a point at the rank of each system and a line over its interval, the best system on top.

    Attributes:
        confidence: of all intervals of a measure together.
    """

    title = "Rank intervals"
    answer = (
        "summary",
        "{measure}: a system's possible ranks span {mean_width} on average; {candidates} of {systems:system} may be "
        "the best, {adjacent_differ} of {adjacent:pair} of neighbours differ significantly",
    )
    key = "exact mean_width adjacent_differ groups"
    valid_for = "{intervals}, if {assumed}, for topics like these ({test}); {scores}."
    not_covered = "what other judgments would change; systems within an interval need not be equal."
    plots = {"ranks": _draw}
    derived = {"summary": "summary"}
    columns = """
    name       | System      |            | the system
    score      | Score       | score      | its mean score
    rank       | Rank        | count      | 1 and the number of strictly better systems
    rank_low   | Best        | count      | its best possible rank
    rank_high  | Worst       | count      | its worst possible rank
    better     | Significantly better | count | how many systems are significantly better
    worse      | Significantly worse  | count | how many systems are significantly worse
    first      | Best        |            | the better system, of a group the best
    second     | Second      |            | the other one
    last       | Worst       |            | the worst system
    systems    | Systems     | count      | how many systems
    difference | Difference  | difference | of the means
    p          | p           | p          | corrected for the number of pairs
    differs    | Differs     |            | whether p is at most 1 - `confidence`
    adjacent   | Neighbours  | count      | whether no system is between the two, or how many such pairs
    candidates | Candidates  | count      | how many systems may be the best
    exact      | Exact       | count      | how many have a single possible rank
    mean_width | Mean width  | tenths     | mean number of possible ranks
    adjacent_differ | Neighbours that differ | count | how many of these pairs differ
    groups     | Groups      | count      | how many groups
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and system, the best first",
            "measure name score rank rank_low rank_high better worse",
            report="name score rank rank_low rank_high worse",
            noun="systems",
        ),
    ]
    groups: Annotated[
        pd.DataFrame,
        Table(
            "measure and longest stretch of neighbours of which no two differ significantly",
            "measure first last systems",
            report="first last systems",
            about="Groups overlap; systems of equal means stand in the same groups.",
            noun="groups",
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table(
            "measure and pair",
            "measure first second difference p differs adjacent",
            report="first second difference p",
            noun="pairs",
        ),
    ]
    confidence: float

    def summary(
        self,
    ) -> Annotated[
        pd.DataFrame,
        Table(
            "measure",
            "measure systems candidates exact mean_width adjacent adjacent_differ groups",
            report="measure systems candidates exact mean_width adjacent_differ",
            noun="measures",
        ),
    ]:
        """Return what the intervals of each measure say together."""
        width = self.table["rank_high"] - self.table["rank_low"] + 1
        about = {"candidates": self.table["rank_low"] == 1, "exact": width == 1, "width": width}
        by_measure = self.table[["measure"]].assign(**about).groupby("measure", sort=False)
        near = self.pairs[self.pairs["adjacent"]].groupby("measure")["differs"]
        counts = by_measure[["candidates", "exact"]].sum()
        counts.insert(0, "systems", by_measure.size())
        counts = counts.assign(mean_width=by_measure["width"].mean(), adjacent=near.size(), adjacent_differ=near.sum())
        return counts.assign(groups=self.groups.groupby("measure").size()).reset_index()


@study(
    options.SHARED["measures"],
    question="Which ranks are real?",
    command="profile rank-intervals",
    summary="between which ranks each run is, all at once",
    details="Every pair of runs is tested over topics, allowing for the number of pairs. A run is at best behind those "
    "that are significantly better, and at worst before those that are significantly worse.",
    papers="[H79]_",
    screen=("table", "groups"),
)
def rank_intervals(scores: options.ScoresOf, *, confidence: options.Confidence = 0.95) -> RankIntervals:
    """Compute between which ranks each system is, so that all intervals hold at once, and which systems tie.

    Every pair is tested over topics by Student's paired t test, with Holm's correction for the number of pairs. A
    system is at best behind the systems that are significantly better, at worst before those that are significantly
    worse. Higher scores are better. It needs a matrix of systems by topics or tasks, and no runs.

    Args:
        scores: what :func:`score` returned, or any matrix of systems by topics or tasks: :meth:`Scores.from_frame`,
            :func:`~pt_reuse.read_leaderboard`.

    Returns:
        RankIntervals: ``.table`` (per measure and system), ``.groups``, ``.pairs``, ``.summary()``, ``.plot(measure)``.

    Raises:
        InputError: fewer than two systems or topics, a mean over the topics of each run (``complete=False``) where runs
            lack topics.

    Warns:
        CaveatWarning: fewer than five topics.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> scores = ptr.score(field.runs, field.qrels, "AP")
        >>> found = ptr.rank_intervals(scores)
        >>> found.table[["name", "rank", "rank_low", "rank_high"]].head(3)
            name  rank  rank_low  rank_high
        0  man3a     1         1          6
        1  man6a     2         1          6
        2  man9b     3         1          6

    Source: S. Holm 1979, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6.
    That all intervals hold at once assumes differences over topics near normal, or topics enough for how skewed
    they are. Of 500 fields of 10, 25 and 50 topics, at 95 %, all hold in .948 to 1 with normal errors, ties, binary
    scores, t errors of 2.2 degrees, and samples of the topics of three tracks. With skewed errors of unequal size and
    equal means they hold in .82, .90 and .91 (exponential), and in .64, .75 and .84 (lognormal).
    """
    if not isinstance(scores, Scores):
        raise InputError(f"scores must be Scores, as score returns them, got {told(scores)}.", argument="scores")
    named_scores(scores, every_topic=True)
    if len(scores.topics) < 2:
        problem = f"ranks are tested over topics, and there is {count(len(scores.topics), 'topic')}."
        raise InputError(problem, argument="scores")
    beware(few_topics(len(scores.topics)))
    frames: list[list[pd.DataFrame]] = [[], [], []]
    for measure, values, means in zip(scores.measures, scores.values, scores.mean_values, strict=True):
        for kept, frame in zip(frames, _of_measure(values, means, scores.names, 1 - confidence), strict=True):
            frame.insert(0, "measure", measure)
            kept.append(frame)
    table, groups, pairs = (pd.concat(kept, ignore_index=True) for kept in frames)
    settings = {
        "test": f"{TESTS[_TEST]}, two-sided, correction for the number of pairs: {_CORRECTION}",
        "intervals": f"{100 * confidence:.4g} % for all systems at once",
        "assumed": "differences over topics are near normal, or topics enough for how skewed they are",
        "scores": scores_in_words(scores),
    }
    return RankIntervals(table=table, groups=groups, pairs=pairs, confidence=confidence, settings=settings)


def _of_measure(values: Floats, means: Floats, names: list[str], alpha: float) -> tuple[pd.DataFrame, ...]:
    """Return the table, the groups and the pairs of one measure, the best system first."""
    tests, differs = significant_pairs(values, alpha)
    exact = rounded(means)
    order = np.lexsort((np.array(names), -exact))
    exact, name, n = exact[order], np.array(names, dtype=object)[order], len(names)
    differs = differs[np.ix_(order, order)]
    p, apart = np.zeros((2, n, n))
    p[tests.first, tests.second], p[tests.second, tests.first] = tests.p, tests.p
    apart[tests.first, tests.second], apart[tests.second, tests.first] = tests.difference, -tests.difference
    better, worse = (differs < 0).sum(axis=1), (differs > 0).sum(axis=1)
    table = {"name": name, "score": means[order], "rank": ranks(exact), "rank_low": 1 + better, "rank_high": n - worse}
    # systems of one level have equal means
    level = np.cumsum(np.diff(exact, prepend=exact[0]) < 0, dtype=np.int64)
    groups = [(name[first], name[stop - 1], stop - first) for first, stop in _stretches(level, differs)]
    first, second = np.triu_indices(n, 1)
    sides = order[first], order[second]
    pairs = {
        "first": name[first],
        "second": name[second],
        "difference": rounded(apart[sides]) + 0.0,
        "p": p[sides],
        "differs": differs[first, second] != 0,
        "adjacent": level[second] - level[first] <= 1,
    }
    return (
        pd.DataFrame({**table, "better": better, "worse": worse}),
        pd.DataFrame(groups, columns=["first", "last", "systems"]),
        pd.DataFrame(pairs),
    )


def significant_pairs(values: Floats, alpha: float) -> tuple[PairTests, NDArray[np.int8]]:
    """Return the corrected tests of (topics, systems) scores, and (systems, systems): 1 better, -1 worse, 0 neither."""
    tests = pair_tests(values, _TEST)
    apart = values[:, tests.first] - values[:, tests.second]
    # the t test takes a difference that is the same on every topic for certain, however few these are; of coarse scores
    # it comes about by chance, with the p-value of its signs
    same = (np.ptp(apart, axis=0) < CLOSE) & (np.abs(tests.difference) > CLOSE)
    tests = replace(tests, p=np.where(same, np.maximum(tests.p, 2.0 ** (1 - len(values))), tests.p))
    tests = replace(tests, p=tests.corrected(_CORRECTION))
    differs = np.zeros((values.shape[1],) * 2, dtype=np.int8)
    differs[tests.first, tests.second] = winners(tests, round(alpha, DECIMALS))
    return tests, differs - differs.T


def _stretches(level: NDArray[np.int64], differs: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield where the longest stretches of neighbouring levels begin and stop in which no two systems differ."""
    starts = [*np.flatnonzero(np.diff(level, prepend=-1)).tolist(), len(level)]
    end = last = 0
    for first, start in enumerate(starts[:-1]):
        last = max(last, first + 1)
        while last < len(starts) - 1 and not differs[start : starts[last], starts[last] : starts[last + 1]].any():
            last += 1
        if last > end:
            yield start, starts[last]
        end = max(end, last)
