"""compare_leaderboards: whether judges rank runs as people do, by their leaderboards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import choice, count, examples, shown
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import OF_DROPS, TopicBootstrap, TopicScores, ranking_agreement, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.columns import Table
from pt_reuse.data.leaderboards import ALL
from pt_reuse.errors import InputError, located, warn
from pt_reuse.inputs import interval_settings
from pt_reuse.judge import of_each
from pt_reuse.plots.forests import plot_judge_taus
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import beware, few_topics
from pt_reuse.scoring.judge_folder import ALONE, file_stem
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.measures import canonical_name
from pt_reuse.scoring.scores import MISSING, Scores
from pt_reuse.studies.judged_fields import Best, as_declared, number_with_ends, parts_of
from pt_reuse.study import study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

Floats = NDArray[np.float64]
#: `over` of the table -> what means are over, for settings
_OVER = {
    "given means": "as leaderboards give them, which have no scores by topic",
    "the same topics": "over the topics, which are the same of both",
    "shared": "over the topics that both have",
    "own": "over the topics that each has",
}


def _draw(result: LeaderboardAgreement, measure: str, place: Place | None) -> Axes:
    """Draw tau_b of each judge in a row, the highest on top."""
    rows = result.of_all()
    if len(set(rows["judge_measure"])) > 1:
        rows = rows.assign(judge=rows["judge"] + ", " + rows["judge_measure"])
    return plot_judge_taus(rows[rows["measure"] == measure].assign(kind="model"), measure=measure, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaderboardAgreement(Result):
    """How far the rankings of runs by judges' leaderboards agree with the ranking by people."""

    title = "Agreement of leaderboards"
    answer = ("of_all", "{judge}, {judge_measure} against people's {measure}: tau_b {tau_b}, {best_tau_b} of the best")
    key = "tau_b gamma tau_ap_b max_drop max_rise"
    valid_for = "the runs that both score, those of people the reference; means: {means}; best: {best}."
    not_covered = "which of the two is right, and which labels make runs change places."
    plots = {"agreement": _draw}
    columns = """
    measure       | People   |         | the measure of people
    judge_        | judge    |         | of or by the judge
    over          | Over     |         | what means are over: the shared or own topics, or means as they are given
    by            | By       |         | ``all`` runs, or the ``best`` of them
    part          | Runs of  |         | ``all``, or such as ``best 10``
    runs          | Runs     | count   | how many these are
    topics        | Topics   | count   | over how many topics people's means are, 0 where that is not known
    spearman      | Spearman | score   | Spearman's correlation of the means
    pearson       | Pearson  | score   | Pearson's correlation of them
    best_tau_b    | tau_b, best | score | tau_b of the best runs
    rise          | Rise     | count   | ranks gained under the judge
    lacks         | Lacks it |         | who has no score of it, ``judge`` or ``people``
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure of people and measure of the judge, of all runs, and of the best of them",
            "judge family measure judge_measure topics over by part runs tau_b~ gamma~ tau_ap_b~ max_drop~ max_rise~ "
            "spearman~ pearson~",
            report="judge judge_measure part tau_b max_drop max_rise",
            noun="leaderboards",
            about="Ends are NaN where the two do not have the same topics.",
        ),
    ]
    changes: Annotated[
        pd.DataFrame,
        Table(
            "judge, both measures and run, those first that rise furthest",
            "judge family measure judge_measure name score judge_score rank judge_rank rise team type",
            report="name score judge_score rank judge_rank rise",
            select={"judge": None, "judge_measure": None},
            noun="runs",
        ),
    ]
    missing: Annotated[pd.DataFrame, Table("run that one of the two lacks", "judge name lacks", noun="runs")]

    def of_all(self) -> pd.DataFrame:
        """Return the rows of all runs, with tau_b of the best, which may be all, as ``best_tau_b``."""
        keys = ["judge", "measure", "judge_measure"]
        rows, best = (self.table[self.table["by"] == by] for by in ("all", "best"))
        best_tau = rows[keys].merge(best[[*keys, "tau_b"]], how="left", on=keys)["tau_b"].to_numpy()
        return rows.assign(best_tau_b=rows["tau_b"].where(np.isnan(best_tau), best_tau))


def _named(given: Any) -> dict[str, Any]:
    alone = file_stem(given) if isinstance(given, str | Path) else ALONE
    named = dict(given) if isinstance(given, Mapping) else {alone: given}
    odd = [name for name in named if not isinstance(name, str) or not name.strip()]
    if odd or not named:
        problem = f"must have texts as names of judges, got {shown(odd[0])}" if odd else "has no leaderboard"
        raise InputError(f"leaderboards {problem}.", argument="leaderboards")
    return named


MeasureNames: TypeAlias = str | Iterable[str] | None


@study(question="Do the leaderboards of judges rank runs as people do?", aim="models", command="audit", group="labels")
def compare_leaderboards(
    human: Annotated[
        Any,
        options.Option("the scores of people: Scores, such as those of :func:`score`, or the path of a leaderboard."),
    ],
    leaderboards: Annotated[
        Any, options.Option("those of judges: a dict of judge -> Scores or path, or one of them.", check=_named)
    ],
    *,
    measures: Annotated[MeasureNames, options.Option("of people, one or several; default all.")] = None,
    judge_measures: Annotated[
        MeasureNames, options.Option("of the judges, one or several, of those that a judge has; default all.")
    ] = None,
    missing: Annotated[
        str,
        options.Option(
            'a run of people that a judge lacks, or the other way round, is one to ``"leave_out"`` (default, with a '
            'warning); counts ``"zero"`` under the judge; or is an ``"error"``. Runs that only the judge has are never '
            "ranked; ``.missing`` names them.",
            choices=tuple(MISSING),
        ),
    ] = "leave_out",
    topics: Annotated[
        str,
        options.Option(
            'means are over the topics that are ``"shared"`` (default), or of each over its ``"own"``. Where one of '
            "the two has no scores by topic, only the rows ``all``, its own are those.",
            choices=("shared", "own"),
        ),
    ] = "shared",
    best: Best = 10,
    families: options.Families = None,
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
) -> LeaderboardAgreement:
    """Compare the rankings of runs by judges and by people, given scores of runs and no labels of documents.

    Each measure of people is compared with each measure of a judge, as TREC AutoJudge's ``meta-evaluate`` does. If you
    have labels, :func:`audit_labels` computes more.

    Args:
        resamples: how often the topics are drawn for intervals; 0 for none. There are intervals only if both have the
            same topics.

    Returns:
        LeaderboardAgreement: ``.table`` (how far rankings agree), ``.changes`` (each run), ``.missing`` (runs that one
        of the two lacks), ``.report()``, ``.plot()``.

    Raises:
        InputError: a leaderboard that cannot be read, different runs if that is an error, fewer than two runs, no
            common topic, a measure that none has.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> people, judge = (ptr.score(field.runs, qrels, "AP") for qrels in (field.all_qrels, field.qrels))
        >>> found = ptr.labels.compare_leaderboards(people, {"judge": judge}, resamples=200)
        >>> found.table[["part", "runs", "tau_b", "tau_b_low", "max_drop"]].round(4)
              part  runs   tau_b  tau_b_low  max_drop
        0      all    18  0.7516     0.5163         3
        1  best 10    10  0.8667     0.5556         2

    Source: TREC AutoJudge, ``meta-evaluate`` of autojudge-evaluate 1.1.0, for the question and the forms of files.
    Correlations are those of :func:`~pt_reuse.rankings.tau_b`, :func:`~pt_reuse.rankings.gamma` and
    :func:`~pt_reuse.rankings.tau_ap_b`; spearman and pearson are checked against scipy.
    """
    groups = of_each(families, leaderboards, "families")
    truth = _scores(human, "human")
    boards = {name: _scores(board, "leaderboards", place=name) for name, board in leaderboards.items()}
    mine = _chosen(measures, truth.measures, "measures")
    known = list(dict.fromkeys(measure for board in boards.values() for measure in board.measures))
    theirs = _chosen(judge_measures, known, "judge_measures")
    for name, board in boards.items():
        with located(name):
            _check_runs(truth, board, missing)
    bootstrap = TopicBootstrap(resamples, seed, confidence, None) if resamples else None
    rows, changes, every = [], [], []
    lacking: list[tuple[str, str, str]] = []
    for name, board in boards.items():
        with located(name):
            at, over = _topics_of(truth, board, topics)
            lacking += _lacking(name, truth, board, missing)
            every.append(_OVER[over])
            n_topics = 0 if truth.topics == [ALL] else len(at[0])
            beware(few_topics(n_topics) if n_topics else ())
            # draws are of the same topics for both
            drawn = bootstrap if over in ("the same topics", "shared") else None
            for measure, other in ((m, o) for m in mine for o in theirs if o in board.measures):
                names, sides = _rankings(truth, board, at, (measure, other), zero=missing == "zero")
                head = {"judge": name, "family": groups.get(name), "measure": measure, "judge_measure": other}
                changes.append(pd.DataFrame({**head, **_changes(names, *sides)}))
                for part in _of_parts(*sides, best, drawn):
                    rows.append({**head, "topics": n_topics, "over": over, **part})
    table = whole_changes(as_declared(LeaderboardAgreement, "table", rows, ends=bootstrap is not None))
    none = table[(table["by"] == "all") & table["tau_b"].isna()]
    if len(none):
        named = none["measure"] + " and " + none["judge_measure"] + " of " + none["judge"]
        warn(f"all runs tie in one of the two, so that there is no ranking to compare: {examples(named)}.")
    return LeaderboardAgreement(
        table=table,
        settings={
            "human": ", ".join(f"{key}={value}" for key, value in truth.settings.items()),
            "means": "; ".join(dict.fromkeys(every)),
            "missing": missing,
            "topics": topics,
            "best": f"the {best:,} best runs by people, over all topics",
            "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
            **interval_settings(bootstrap),
            **(OF_DROPS if bootstrap else {}),
        },
        changes=pd.concat(changes, ignore_index=True).merge(
            truth.run_table[["name", "team", "type"]], on="name", how="left"
        ),
        missing=pd.DataFrame(lacking, columns=["judge", "name", "lacks"], dtype=object),
    )


def _scores(given: Any, argument: str, *, place: str | None = None) -> Scores:
    if isinstance(given, Scores):
        return given
    problem = f"{argument} must be Scores or the path of a leaderboard, got {shown(given)}."
    if isinstance(given, str | Path):
        try:
            return read_leaderboard(given)
        except InputError as error:
            problem = str(error)
    raise InputError(problem, argument=argument, place=place)


def _chosen(given: MeasureNames, known: list[str], argument: str) -> list[str]:
    if given is None:
        return known
    several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    chosen = [choice(argument, canonical_name(str(name)), known) for name in dict.fromkeys(several)]
    if not chosen:
        raise InputError(f"{argument} must be of {examples(known, 12)}, got none.", argument=argument)
    return list(dict.fromkeys(chosen))


def _check_runs(truth: Scores, board: Scores, missing: str) -> None:
    """Raise where the runs that would be ranked are others than asked for, or fewer than a ranking takes."""
    shared, differ = (set(truth.names) & set(board.names)), sorted(set(truth.names) ^ set(board.names))
    if missing == "error" and differ:
        problem = f"{count(len(differ), 'run')} in one of the two only: {examples(differ)}."
        raise InputError(f"{problem} Give missing='leave_out' or 'zero'.", argument="missing")
    if not shared or (len(truth.names) if missing == "zero" else len(shared)) < 2:
        raise InputError(
            f"people and the judge have {count(len(shared), 'run')} in common, and a ranking takes 2: people "
            f"{examples(truth.names)}, the judge {examples(board.names)}.",
            argument="leaderboards",
        )


def _lacking(judge: str, truth: Scores, board: Scores, missing: str) -> Iterator[tuple[str, str, str]]:
    """Yield the runs that one of the two lacks, and warn of them."""
    for who, has, lacks in (("judge", truth, board), ("people", board, truth)):
        names = [name for name in has.names if name not in set(lacks.names)]
        if names:
            became = "count 0" if who == "judge" and missing == "zero" else "are not ranked"
            warn(f"{count(len(names), 'run')} without scores of {who} {became}: {examples(names)}.")
        yield from ((judge, name, who) for name in names)


def _topics_of(truth: Scores, board: Scores, topics: str) -> tuple[list[list[int]], str]:
    """Return the positions of the topics that count for people and for a judge, and what means are over."""
    sides = (truth, board)
    means = any(side.topics == [ALL] for side in sides)
    shared = [topic for topic in truth.topics if topic in set(board.topics)]
    if not means and not shared and topics != "own":
        problem = f"no topic in common: people {examples(truth.topics)}, the judge {examples(board.topics)}."
        raise InputError(problem, argument="leaderboards")
    same = not means and set(truth.topics) == set(board.topics)
    over = "given means" if means else "the same topics" if same else topics
    if over == "shared":
        left = [count(len(side.topics) - len(shared), "topic") for side in sides]
        warn(f"{left[0]} of people and {left[1]} of the judge left out: means are over the {len(shared):,} of both.")
    # what both have is in the order of people, so that it is drawn together
    counted = [shared if over in ("the same topics", "shared") else side.topics for side in sides]
    return [[side.topics.index(topic) for topic in some] for side, some in zip(sides, counted, strict=True)], over


def _rankings(
    truth: Scores, board: Scores, at: Sequence[Sequence[int]], measures: tuple[str, str], *, zero: bool
) -> tuple[list[str], tuple[TopicScores, TopicScores]]:
    """Return the runs that are ranked, and their scores by a measure of people and one of the judge."""
    names = [name for name in truth.names if zero or name in set(board.names)]
    there = [r for r, name in enumerate(names) if name in set(board.names)]
    of_people = truth.topic_means[measures[0]].of(at[0], [truth.names.index(name) for name in names])
    part = board.topic_means[measures[1]].of(at[1], [board.names.index(names[r]) for r in there])
    values = np.zeros((len(at[1]), len(names)))
    values[:, there] = part.values
    has_topic = None
    if part.has_topic is not None:
        has_topic = np.zeros(values.shape, dtype=np.bool_)
        has_topic[:, there] = part.has_topic
    return names, (of_people, replace(part, values=values, has_topic=has_topic))


def _of_parts(
    truth: TopicScores, estimate: TopicScores, best: int, bootstrap: TopicBootstrap | None
) -> Iterator[dict[str, Any]]:
    """Yield a row for all runs, and one for the best of them."""
    topics = range(len(truth.values)), range(len(estimate.values))
    for by, part, runs in parts_of(truth.means()[0], best):
        sides = truth.of(topics[0], runs.tolist()), estimate.of(topics[1], runs.tolist())
        found = ranking_agreement(sides[0], sides[1], bootstrap)
        row: dict[str, Any] = {"by": by, "part": part, "runs": len(runs), **found}
        for name, ranked in (("spearman", True), ("pearson", False)):
            row |= number_with_ends(name, partial(_correlation, sides, ranked), len(truth.values), bootstrap, (-1, 1))
        yield row


def _changes(names: list[str], truth: TopicScores, estimate: TopicScores) -> pd.DataFrame:
    """Return ``name score judge_score rank judge_rank rise`` of each run, those that rise furthest first."""
    scores = [side.means()[0] for side in (truth, estimate)]
    ranks = [pairs.ranks(rounded(values)) for values in scores]
    columns = {"name": names, "score": scores[0], "judge_score": scores[1], "rank": ranks[0], "judge_rank": ranks[1]}
    moved = pd.DataFrame(columns | {"rise": ranks[0] - ranks[1]})
    return moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable", ignore_index=True)


def _correlation(sides: Sequence[TopicScores], ranked: bool, counts: NDArray[np.int64] | None) -> Floats:
    """Return (draws,) correlations of means, or of their ranks; NaN where one of the two ties all runs."""
    from scipy.stats import rankdata

    of_both = [rounded(side.means(counts)) for side in sides]
    of_both = [rankdata(values, axis=1) for values in of_both] if ranked else of_both
    x, y = (values - values.mean(axis=1, keepdims=True) for values in of_both)
    # what is left of equal values is rounding
    spread = [np.sqrt((values**2).sum(axis=1)) * (np.ptp(values, axis=1) > 0) for values in (x, y)]
    below = spread[0] * spread[1]
    return np.clip(np.divide((x * y).sum(axis=1), below, out=np.full(len(x), np.nan), where=below > 0), -1, 1)
