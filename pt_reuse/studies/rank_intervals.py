"""rank_intervals: between which ranks each system is, all at once, whichever topics are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.pairs import ranks
from pt_reuse.arrays.significance import CONVENTIONS, PairTests, counted, task_pair_tests, winners
from pt_reuse.columns import Table
from pt_reuse.data.score_tables import ALL
from pt_reuse.errors import InputError, choice, count, did_you_mean, examples, names, shown
from pt_reuse.options import TESTS, Flag, Option
from pt_reuse.plots.forests import plot_rank_intervals
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.scores import Scores, named_scores, of_all_topics, scores_in_words
from pt_reuse.study import study

Floats = NDArray[np.float64]
_TEST, _CORRECTION = "t", "holm"
#: how systems are compared that lack scores
PAIRWISE = "each pair on the tasks of both"
#: what becomes of missing scores, in words
_MISSING = {
    "error": "an error",
    "pairwise": f"{PAIRWISE}, by which a rank counts the better systems",
    "drop_tasks": "only tasks that every system has",
    "drop_systems": "only systems that have every task",
}


def _draw(result: RankIntervals, measure: str, place: Place, top: int | None = None) -> Axes:
    """Draw the rank of each system by a measure as a point, and its interval as a line, the best on top."""
    rows = result.table[result.table["measure"] == measure]
    said = f"{100 * result.confidence:.4g}% intervals for all at once"
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
    p          | p           | p          | corrected for the number of pairs
    differs    | Differs     |            | whether p is at most 1 - `confidence`
    adjacent   | Neighbours  | count      | whether no system is between the two, or how many such pairs
    candidates | Candidates  | count      | how many systems may be the best
    exact      | Exact       | count      | how many have a single possible rank
    mean_width | Mean width  | tenths     | mean number of possible ranks
    adjacent_differ | Neighbours that differ | count | how many of these pairs differ
    groups     | Groups      | count      | how many groups
    swapped    | Swapped     | score      | share of pairs, as compared, in the other order than by the first measure
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and system, the best first",
            "measure name* score* rank* rank_low* rank_high* better worse*",
            noun="systems",
        ),
    ]
    groups: Annotated[
        pd.DataFrame,
        Table(
            "measure and longest stretch of neighbours of which no two differ significantly",
            "measure first* last* systems*",
            about="Groups overlap; systems of equal means stand in the same groups.",
            noun="groups",
        ),
    ]
    pairs: Annotated[
        pd.DataFrame, Table("measure and pair", "measure first* second* difference* p* differs adjacent", noun="pairs")
    ]
    confidence: float

    def summary(
        self,
    ) -> Annotated[
        pd.DataFrame,
        Table(
            "measure",
            "measure* systems* candidates* exact* mean_width* adjacent adjacent_differ groups swapped*",
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
        # the share of pairs that are in the other order than by the first measure
        systems, swapped, of_first = pd.Index(self.table["name"].unique()), dict[str, float](), None
        for measure, rows in self.pairs.groupby("measure", sort=False):
            first, second = (systems.get_indexer(rows[name]) for name in ("first", "second"))
            side = np.zeros((len(systems),) * 2)
            side[first, second], side[second, first] = np.sign(rows["difference"]), -np.sign(rows["difference"])
            of_first = side if of_first is None else of_first
            swapped[str(measure)] = float((side * of_first < 0).sum() / 2 / len(rows))
        return counts.assign(groups=self.groups.groupby("measure").size(), swapped=swapped).reset_index()


def _conventions(given: Any) -> list[str]:
    return [choice("convention", name, tuple(CONVENTIONS)) for name in dict.fromkeys(names("convention", given))]


@study(
    options.SHARED["measures"],
    question="Which ranks are real?",
    command="profile rank-intervals",
    aim="ranks",
    summary="between which ranks each run is, all at once",
    details="Every pair of runs is tested over topics, allowing for the number of pairs. A run is at best behind those "
    "that are significantly better, and at worst before those that are significantly worse.",
    papers="[H79]_",
    screen=("table", "groups"),
)
def rank_intervals(
    scores: options.ScoresOf,
    *,
    convention: Annotated[
        str | Iterable[str],
        Option(
            'what is ranked by: ``"mean"`` (default), ``"borda"`` as MTEB counts, ``"mean_rank"`` or ``"z_score"``; of '
            "several each is a measure of its own.",
            check=_conventions,
            flag=Flag(help="mean, borda, mean_rank or z_score, or several", metavar="WHICH", kind="list"),
        ),
    ] = "mean",
    families: Annotated[
        Mapping[str, str] | None, Option("task -> family, whose tasks are drawn together; others are alone.")
    ] = None,
    missing: Annotated[
        str,
        Option(
            'a missing score is an ``"error"`` (default), or each pair is compared on the tasks that both have '
            '(``"pairwise"``); ``"drop_tasks"`` and ``"drop_systems"`` leave out what some system, or task, lacks. '
            "None is filled in; Borda counts it 0 votes.",
            choices=tuple(_MISSING),
        ),
    ] = "error",
    confidence: options.Confidence = 0.95,
) -> RankIntervals:
    """Compute between which ranks each system is, so that all intervals hold at once, and which systems tie.

    Every pair is tested over topics by Student's paired t test, with Holm's correction for the number of pairs. A
    system is at best behind the systems that are significantly better, at worst before those that are significantly
    worse. Higher scores are better.

    Args:
        scores: what :func:`score` returned, or any matrix of systems by topics or tasks: what ``pt.Experiment`` returns
            with ``perquery=True``, a table as a frame or a file, or what :func:`~pt_reuse.read_leaderboard` reads.

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
    they are: of 500 fields of 10, 25 and 50 topics, at 95%, all hold in .948 to 1 with normal errors, in .64, .75 and
    .84 with lognormal ones of unequal size and equal means.
    """
    scores, there = _whole(_as_scores(scores), missing)
    named_scores(scores)
    if len(scores.topics) < 2 or len(scores.names) < 2:
        sizes = f"{count(len(scores.topics), 'topic')} and {count(len(scores.names), 'system')}"
        hint = " Of pt.Experiment give what it returns with perquery=True." if scores.topics == [ALL] else ""
        raise InputError(f"it takes two systems and two topics, got {sizes}.{hint}", argument="scores")
    of_families = _families(families, scores.topics)
    beware(few_topics(len(scores.topics)))
    frames: list[list[pd.DataFrame]] = [[], [], []]
    for measure, values in zip(scores.measures, scores.values, strict=True):
        for name in convention:
            counts, has = counted(values, there, name)
            means = of_all_topics(counts[None], [measure], None if has.all() else has)[0]
            parts = _of_measure(counts, means, has, of_families, scores.names, 1 - confidence)
            # votes are summed, and a smaller mean rank is better
            parts[0]["score"] *= {"borda": float(len(counts)), "mean_rank": -1.0}.get(name, 1.0)
            for kept, frame in zip(frames, parts, strict=True):
                frame.insert(0, "measure", measure + CONVENTIONS[name][0])
                kept.append(frame)
    table, groups, pairs = (pd.concat(kept, ignore_index=True) for kept in frames)
    untested = int(pairs["p"].isna().sum())
    if untested:
        few = f"{count(untested, 'pair')} of systems share fewer than two tasks, and count as equal; "
        few += "missing='drop_systems' leaves out who lacks tasks."
        beware([Caveat(f"{count(untested, 'pair')} not tested", few)])
    n_families = 0 if of_families is None else len(set(of_families.tolist()))
    clustered = f", {count(n_families, 'family')} of tasks drawn together" if n_families else ""
    settings = {
        "test": f"{TESTS[_TEST]}, two-sided, correction for the number of pairs: {_CORRECTION}{clustered}",
        "intervals": f"{100 * confidence:.4g}% for all systems at once",
        "assumed": "differences over topics are near normal, or topics enough for how skewed they are",
        "convention": "; ".join(CONVENTIONS[name][1] for name in convention),
        "missing": "none"
        if there.all()
        else f"{_MISSING[missing]} ({int((~there).sum()):,} of {there.size:,} missing)",
        "scores": scores_in_words(scores),
        **{key: value for key, value in scores.settings.items() if key in ("systems", "whose scores", "revisions")},
    }
    return RankIntervals(table=table, groups=groups, pairs=pairs, confidence=confidence, settings=settings)


def _as_scores(scores: Any) -> Scores:
    """Return scores, also those that a frame or a file has."""
    if isinstance(scores, pd.DataFrame) and {"name", "qid", "measure", "value"} <= set(scores):
        return Scores.from_frame(scores, missing="leave_out")
    if isinstance(scores, str | Path | pd.DataFrame):
        return read_leaderboard(scores, missing="leave_out")
    if not isinstance(scores, Scores):
        problem = f"scores must be Scores, a frame or the path of a leaderboard, got {shown(scores)}."
        raise InputError(problem, argument="scores")
    return scores


def _families(given: Mapping[str, str] | None, tasks: list[str]) -> NDArray[np.int64] | None:
    """Return (tasks,) the family of each; one that is not named is alone."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise InputError(f"families must be a dict of task -> family, got {shown(given)}.", argument="families")
    if odd := [task for task in given if task not in tasks]:
        problem = f"families names {shown(odd[0])}, which is no task here.{did_you_mean(odd[0], tasks)}"
        raise InputError(problem, argument="families")
    named = [("family", given[task]) if task in given else ("task", task) for task in tasks]
    found: NDArray[np.int64] = pd.factorize(pd.Series(named, dtype=object))[0].astype(np.int64)
    if len(set(found.tolist())) < 2:
        raise InputError("all tasks are of one family, and it takes two.", argument="families")
    return found


def _whole(scores: Scores, missing: str) -> tuple[Scores, NDArray[np.bool_]]:
    """Return scores and (topics, systems) which of them are there, without what `missing` leaves out."""
    there = np.ones_like(scores.has_topic) if scores.complete else scores.has_topic
    if missing == "error" and not there.all():
        lacking = np.array(scores.names, dtype=object)[~there.all(axis=0)].tolist()
        raise InputError(
            f"{int((~there).sum()):,} of {there.size:,} scores are missing, those of {examples(lacking)}. "
            "missing='pairwise' compares each pair on the topics of both; 'drop_tasks' and 'drop_systems' leave out "
            "what lacks scores.",
            argument="missing",
        )
    n_topics, n_systems = there.shape
    topics = there.sum(axis=1) == n_systems if missing == "drop_tasks" else np.ones(n_topics, dtype=bool)
    systems = there.sum(axis=0) == n_topics if missing == "drop_systems" else np.ones(n_systems, dtype=bool)
    if not systems.any() or not topics.any():
        raise InputError(f"missing={missing!r} leaves nothing. Take some tasks and systems out.", argument="missing")
    cells = np.ix_(topics, systems)
    kept = replace(
        scores,
        run_table=scores.run_table[systems].reset_index(drop=True),
        topics=[topic for topic, keep in zip(scores.topics, topics, strict=True) if keep],
        values=scores.values[:, topics][:, :, systems],
        has_topic=scores.has_topic[cells],
    )
    return kept, there[cells]


def _of_measure(
    values: Floats,
    means: Floats,
    there: NDArray[np.bool_],
    families: NDArray[np.int64] | None,
    names: list[str],
    alpha: float,
) -> tuple[pd.DataFrame, ...]:
    """Return the table, the groups and the pairs of one measure, the best system first."""
    tests, differs = significant_pairs(values, alpha, there, families)
    n = len(names)
    p, apart = np.zeros((2, n, n))
    p[tests.first, tests.second], p[tests.second, tests.first] = tests.p, tests.p
    apart[tests.first, tests.second], apart[tests.second, tests.first] = tests.difference, -tests.difference
    # where each pair has its own tasks, a rank counts the systems that are better on those of both
    rank = ranks(rounded(means)) if there.all() else 1 + (rounded(np.nan_to_num(apart)) < 0).sum(axis=1)
    order = np.lexsort((np.array(names), -rounded(means), rank))
    name, rank, differs = np.array(names, dtype=object)[order], rank[order], differs[np.ix_(order, order)]
    better, worse = (differs < 0).sum(axis=1), (differs > 0).sum(axis=1)
    table = {"name": name, "score": means[order], "rank": rank, "rank_low": 1 + better, "rank_high": n - worse}
    # systems of one level have equal ranks
    level = np.cumsum(np.diff(rank, prepend=rank[0]) > 0, dtype=np.int64)
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


def significant_pairs(
    values: Floats, alpha: float, there: NDArray[np.bool_] | None = None, families: NDArray[np.int64] | None = None
) -> tuple[PairTests, NDArray[np.int8]]:
    """Return the corrected tests of (topics, systems) scores, and (systems, systems): 1 better, -1 worse, 0 neither."""
    tests = task_pair_tests(values, np.ones_like(values, dtype=bool) if there is None else there, families)
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
