"""compare_leaderboards: whether two leaderboards rank runs alike, such as those of judges and of people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import (
    CHANGES,
    OF_DROPS,
    USUAL_COEFFICIENTS,
    TopicBootstrap,
    TopicScores,
    numbers_of,
    ranking_agreement,
    whole_changes,
)
from pt_reuse.arrays.correlation import CLOSE, DECIMALS, rounded
from pt_reuse.columns import Table
from pt_reuse.data.score_tables import ALL
from pt_reuse.errors import InputError, choice, count, examples, located, names, per_cent, shown, warn
from pt_reuse.inputs import interval_settings
from pt_reuse.judge import of_each
from pt_reuse.plots.forests import plot_judge_taus
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.judge_folder import ALONE, file_stem
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.measures import canonical_name
from pt_reuse.scoring.scores import MISSING, Scores
from pt_reuse.studies.judged_fields import Best, as_declared, number_with_ends, parts_of
from pt_reuse.study import study

Floats = NDArray[np.float64]
#: `over` of the table -> what means are over, for settings
_OVER = {
    "given means": "as leaderboards give them, which have no scores by topic",
    "the same topics": "over the topics, which are the same of both",
    "shared": "over the topics that both have",
    "own": "over the topics that each has",
}
#: what is drawn for intervals
TOPICS, RUNS = "topics", "runs"
#: those that have an interval where runs are drawn
_COEFFICIENTS = (*USUAL_COEFFICIENTS, "spearman", "pearson")


def _draw(result: LeaderboardAgreement, measure: str, place: Place | None) -> Axes:
    """Draw tau_b of each judge in a row, the highest on top."""
    rows = result.of_all()
    if len(set(rows["judge_measure"])) > 1:
        rows = rows.assign(judge=rows["judge"] + ", " + rows["judge_measure"])
    return plot_judge_taus(rows[rows["measure"] == measure].assign(kind="model"), measure=measure, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaderboardAgreement(Result):
    """How far the rankings of runs by leaderboards agree with that of a reference, such as judges' with people's."""

    title = "Agreement of leaderboards"
    answer = (
        "of_all",
        "{judge}, {judge_measure} against {measure} of the reference, {runs:run}: tau_b {tau_b}, {best_tau_b} of the "
        "best",
    )
    key = "tau_b gamma tau_ap_b max_drop max_rise"
    valid_for = "the runs that both score; means: {means}; best: {best}."
    not_covered = "which of the two is right, and which labels make runs change places."
    plots = {"agreement": _draw}
    columns = """
    measure       | Reference |        | the measure of the reference
    judge_        | judge    |         | of or by the judge, that is the other leaderboard
    over          | Over     |         | what means are over: the shared or own topics, or means as they are given
    by            | By       |         | ``all`` runs, or the ``best`` of them
    part          | Runs of  |         | ``all``, or such as ``best 10``
    topics        | Topics   | count   | over how many topics the reference's means are, 0 where that is not known
    drawn         | Drawn    |         | what is drawn for intervals, ``topics`` or ``runs``
    spearman      | Spearman | score   | Spearman's correlation of the means
    pearson       | Pearson  | score   | Pearson's correlation of them
    best_tau_b    | tau_b, best | score | tau_b of the best runs
    rise          | Rise     | count   | ranks gained under the judge
    lacks         | Lacks it |         | who has no score of it, ``judge`` or, the reference, ``people``
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure of people and measure of the judge, of all runs, and of the best of them",
            "judge* family measure judge_measure* topics over drawn by part* runs tau_b~* gamma~ tau_ap_b~ max_drop~* "
            "max_rise~* spearman~ pearson~",
            noun="leaderboards",
            about="Where runs are drawn, drops have no ends, nor has a number that no run left out changes.",
        ),
    ]
    changes: Annotated[
        pd.DataFrame,
        Table(
            "judge, both measures and run, those first that rise furthest",
            "judge family measure judge_measure name* score* judge_score* rank* judge_rank* rise* team type",
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


@study(
    question="Do two leaderboards rank runs alike, such as a judge's and people's?",
    aim="models",
    command="audit",
    group="labels",
)
def compare_leaderboards(
    human: Annotated[
        Any,
        options.Option(
            "the reference, such as the scores of people: Scores, as of :func:`score`, or the path of a leaderboard."
        ),
    ],
    leaderboards: Annotated[
        Any,
        options.Option(
            "the others, such as those of judges: a dict of name -> Scores, path or, for scores of the reference on "
            "other tasks, a list of these; or one of them.",
            check=_named,
        ),
    ],
    *,
    tasks: Annotated[
        MeasureNames, options.Option("the topics or tasks that count of the reference; default all.")
    ] = None,
    measures: Annotated[MeasureNames, options.Option("of the reference, one or several; default all.")] = None,
    judge_measures: Annotated[
        MeasureNames, options.Option("of the judges, one or several, of those that a judge has; default all.")
    ] = None,
    missing: Annotated[
        str,
        options.Option(
            'a run without scores of one of the two is left out (``"leave_out"``, default, with a warning); counts '
            '``"zero"`` where a judge lacks it; or is an ``"error"``. Runs that only the judge has are never ranked; '
            "``.missing`` names them.",
            choices=tuple(MISSING),
        ),
    ] = "leave_out",
    topics: Annotated[
        str,
        options.Option(
            'means are over the topics that are ``"shared"`` (default), or of each over its ``"own"``, as always where '
            "a list names the tasks, or one of the two has no scores by topic, only the rows ``all``.",
            choices=("shared", "own"),
        ),
    ] = "shared",
    best: Best = 10,
    families: options.Families = None,
    resamples: options.Resamples = 1000,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
) -> LeaderboardAgreement:
    """Compare the rankings of runs by leaderboards with that of a reference, given scores of runs and no labels.

    Each measure of the reference is compared with each of the other, as TREC AutoJudge's ``meta-evaluate`` does. If you
    have labels of a judge, :func:`audit_labels` computes more. Runs are matched by name, and by revision where both
    say it.

    Intervals are of topics drawn where both have the same, two at least. Elsewhere, as of a task against its repaired
    version, or of some tasks against all, runs are drawn and tasks are not: the interval says how far the number
    depends on which runs were compared, as if these were drawn one by one from many like them. It is a jackknife over
    runs, with Student's t on Fisher's scale, ``arctanh``.

    Args:
        resamples: how often the topics are drawn for intervals; 0 for no interval at all.

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
    given = _scores(human, "human")
    truth = given if tasks is None else _of_tasks(given, tasks, "tasks")
    lists = [name for name, board in leaderboards.items() if isinstance(board, list | tuple)]
    boards = {
        name: _of_tasks(given, board, "leaderboards") if name in lists else _scores(board, "leaderboards", place=name)
        for name, board in leaderboards.items()
    }
    chosen = _chosen(measures, truth.measures, "measures")
    known = list(dict.fromkeys(measure for board in boards.values() for measure in board.measures))
    of_judges = _chosen(judge_measures, known, "judge_measures")
    bootstrap = TopicBootstrap(resamples, seed, confidence, None) if resamples else None
    rows, changes, means_over = [], [], []
    lacking: list[tuple[str, str, str]] = []
    for name, board in boards.items():
        with located(name):
            board = _of_same_revisions(truth, board)
            mean_of, other_of, over = _on_topics(truth, board, "own" if name in lists else topics)
            lacking += _lacking(name, mean_of, other_of, missing)
            means_over.append(_OVER[over])
            ranked = [run for run in mean_of.names if missing == "zero" or run in set(other_of.names)]
            n_topics = 0 if mean_of.topics == [ALL] else len(mean_of.topics)
            # draws of topics are of the same for both
            drawn = TOPICS if over in ("the same topics", "shared") and n_topics > 1 else RUNS
            beware(few_topics(n_topics) if drawn == TOPICS else (), _with_gaps(mean_of, other_of))
            for measure, other in ((m, o) for m in chosen for o in of_judges if o in board.measures):
                sides = _of_runs(mean_of, measure, ranked), _of_runs(other_of, other, ranked)
                head = {"judge": name, "family": groups.get(name), "measure": measure, "judge_measure": other}
                scores = [side.means()[0] for side in sides]
                ranks = [pairs.ranks(rounded(values)) for values in scores]
                both = {"score": scores[0], "judge_score": scores[1], "rank": ranks[0], "judge_rank": ranks[1]}
                moved = pd.DataFrame({**head, "name": ranked, **both, "rise": ranks[0] - ranks[1]})
                changes.append(moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable"))
                head |= {"topics": n_topics, "over": over, "drawn": drawn if bootstrap else ""}
                rows += [head | part for part in _of_parts(*sides, best, drawn, bootstrap)]
    table = whole_changes(as_declared(LeaderboardAgreement, "table", rows, ends=bootstrap is not None))
    none = table[(table["by"] == "all") & table["tau_b"].isna()]
    if len(none):
        named = none["measure"] + " and " + none["judge_measure"] + " of " + none["judge"]
        warn(f"all runs tie in one of the two, so that there is no ranking to compare: {examples(named)}.")
    return LeaderboardAgreement(
        table=table,
        settings={
            "human": _conventions(truth),
            "leaderboards": "; ".join(
                f"{name}: {'its tasks of the reference' if name in lists else _conventions(board)}"
                for name, board in boards.items()
            ),
            "tasks": "all" if tasks is None else ", ".join(truth.topics),
            "means": "; ".join(dict.fromkeys(means_over)),
            "missing": missing,
            "topics": topics,
            "best": f"the {best:,} best runs by the reference, over all topics",
            "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
            **_intervals(bootstrap, set(table["drawn"])),
        },
        changes=pd.concat(changes, ignore_index=True).merge(
            truth.run_table[["name", "team", "type"]], on="name", how="left"
        ),
        missing=pd.DataFrame(lacking, columns=["judge", "name", "lacks"], dtype=object),
    )


def _scores(given: Any, argument: str, *, place: str | None = None) -> Scores:
    if isinstance(given, Scores):
        return given
    if not isinstance(given, str | Path):
        problem = f"{argument} must be Scores or the path of a leaderboard, got {shown(given)}."
        raise InputError(problem, argument=argument, place=place)
    try:
        return read_leaderboard(given)
    except InputError as error:
        raise InputError(str(error), argument=argument, place=place) from None


def _chosen(given: MeasureNames, known: list[str], argument: str) -> list[str]:
    if given is None:
        return known
    several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    chosen = [choice(argument, canonical_name(str(name)), known) for name in dict.fromkeys(several)]
    if not chosen:
        raise InputError(f"{argument} must be of {examples(known, 12)}, got none.", argument=argument)
    return list(dict.fromkeys(chosen))


def _of_tasks(scores: Scores, given: Any, argument: str) -> Scores:
    """Return scores on some tasks."""
    tasks = dict.fromkeys(choice(argument, task, scores.topics) for task in names(argument, given))
    return _part(scores, [scores.topics.index(task) for task in tasks])


def _part(scores: Scores, topics: list[int]) -> Scores:
    """Return scores on some topics, without the runs that have none of them."""
    some = [scores.topics[topic] for topic in topics]
    part = replace(scores, topics=some, values=scores.values[:, topics], has_topic=scores.has_topic[topics])
    return _of_some(part, np.flatnonzero(part.has_topic.any(axis=0) | scores.complete))


def _of_some(scores: Scores, runs: NDArray[np.int64]) -> Scores:
    table = scores.run_table.iloc[runs].reset_index(drop=True)
    return replace(scores, run_table=table, values=scores.values[:, :, runs], has_topic=scores.has_topic[:, runs])


def _on_topics(truth: Scores, board: Scores, topics: str) -> tuple[Scores, Scores, str]:
    """Return the scores of the reference and of another on the topics that count, and what means are over."""
    sides = (truth, board)
    means = any(side.topics == [ALL] for side in sides)
    shared = [topic for topic in truth.topics if topic in set(board.topics)]
    if not means and not shared and topics != "own":
        problem = f"no topic in common: {examples(truth.topics)} of the reference, {examples(board.topics)} here."
        raise InputError(f"{problem} Give topics='own' to compare the means of each.", argument="leaderboards")
    same = not means and set(truth.topics) == set(board.topics)
    over = "given means" if means else "the same topics" if same else topics
    if over == "shared":
        left = [count(len(side.topics) - len(shared), "topic") for side in sides]
        warn(f"{left[0]} of the reference and {left[1]} of this left out: means are over the {len(shared):,} of both.")
    # what both have is in the order of the reference, so that it is drawn together
    counted = [shared if over in ("the same topics", "shared") else side.topics for side in sides]
    parts = [_part(side, [side.topics.index(t) for t in some]) for side, some in zip(sides, counted, strict=True)]
    return parts[0], parts[1], over


def _conventions(scores: Scores) -> str:
    return ", ".join(f"{key}={value}" for key, value in scores.settings.items())


def _of_same_revisions(truth: Scores, board: Scores) -> Scores:
    """Return the scores without runs of other revisions than the reference has of them, and warn of these."""
    if not all("revision" in side.run_table for side in (truth, board)):
        return board
    wanted = board.run_table["name"].map(truth.run_table.set_index("name")["revision"])
    other = (wanted.notna() & (wanted != board.run_table["revision"])).to_numpy()
    if not other.any():
        return board
    names = board.run_table.loc[other, "name"]
    warn(f"{count(len(names), 'run')} of another revision than in the reference, left out: {examples(names)}.")
    return _of_some(board, np.flatnonzero(~other))


def _lacking(judge: str, truth: Scores, board: Scores, missing: str) -> list[tuple[str, str, str]]:
    """Return the runs that one of the two lacks, and warn of them; raise where what is left is no ranking."""
    absent = {
        who: [name for name in has.names if name not in set(lacks.names)]
        for who, has, lacks in (("judge", truth, board), ("people", board, truth))
    }
    n_shared = len(truth.names) - len(absent["judge"])
    if missing == "error" and any(absent.values()):
        only = absent["judge"] + absent["people"]
        problem = f"{count(len(only), 'run')} in one of the two only: {examples(sorted(only))}."
        raise InputError(f"{problem} Give missing='leave_out' or 'zero'.", argument="missing")
    if not n_shared or (len(truth.names) if missing == "zero" else n_shared) < 2:
        raise InputError(
            f"there {'is' if n_shared == 1 else 'are'} {count(n_shared, 'run')} in common, and a ranking takes 2: the "
            f"reference has {examples(truth.names)}, and this {examples(board.names)}.",
            argument="leaderboards",
        )
    for who, runs in absent.items():
        if runs:
            where = "here" if who == "judge" else "of the reference"
            became = "count 0" if who == "judge" and missing == "zero" else "are not ranked"
            warn(f"{count(len(runs), 'run')} without scores {where} {became}: {examples(runs)}.")
    return [(judge, name, who) for who, runs in absent.items() for name in runs]


def _with_gaps(*sides: Scores) -> Iterator[Caveat]:
    """Yield a caveat where means are over other topics for some runs than for others."""
    lacking = {name for side in sides for name, has in zip(side.names, side.has_topic.T, strict=True) if not has.all()}
    if lacking and not all(side.complete for side in sides):
        few = f"{count(len(lacking), 'run')} without a score on some topic"
        yield Caveat(
            f"{few}, left out of the mean",
            f"{few}, whose means are over the topics that they have, and so over others than those of other runs: "
            f"{examples(sorted(lacking))}. read_leaderboard(..., missing='drop_systems') leaves them out.",
        )


def _of_runs(scores: Scores, measure: str, names: list[str]) -> TopicScores:
    """Return the scores of some runs by a measure; one that is not there has 0."""
    given, place = scores.topic_means[measure], pd.Index(scores.names).get_indexer(names)
    has_topic = None if given.has_topic is None else given.has_topic[:, place] & (place >= 0)
    return replace(given, values=np.where(place >= 0, given.values[:, place], 0.0), has_topic=has_topic)


def _of_parts(
    truth: TopicScores, estimate: TopicScores, best: int, drawn: str, bootstrap: TopicBootstrap | None
) -> Iterator[dict[str, Any]]:
    """Yield a row for all runs, and one for the best of them."""
    topics = range(len(truth.values)), range(len(estimate.values))
    over_topics = bootstrap if drawn == TOPICS else None
    for by, part, runs in parts_of(truth.means()[0], best):
        sides = truth.of(topics[0], runs.tolist()), estimate.of(topics[1], runs.tolist())
        row: dict[str, Any] = {"by": by, "part": part, "runs": len(runs)}
        row |= ranking_agreement(sides[0], sides[1], over_topics)
        for name, ranked in (("spearman", True), ("pearson", False)):
            correlation = partial(_correlation_of_draws, sides, ranked)
            row |= number_with_ends(name, correlation, len(truth.values), over_topics, (-1, 1))
        if bootstrap is not None and drawn == RUNS:
            row |= ends_over_runs(sides[0].means()[0], sides[1].means()[0], bootstrap.confidence)
        yield row


def ends_over_runs(truth: Floats, estimate: Floats, confidence: float) -> dict[str, float]:
    """Return the ends of intervals of two rankings' agreement by a jackknife over (runs,) means of both.

    The t interval is on Fisher's scale, on which a rank correlation of 1 is half the least step below it. NaN for
    drops, of fewer than three runs, and where no run left out changes the number.
    """
    from scipy.special import stdtrit

    n = len(truth)
    ends = {f"{name}{end}": float("nan") for name in (*_COEFFICIENTS, *CHANGES) for end in ("_low", "_high")}
    if n < 3:
        return ends
    without = np.arange(n - 1) + (np.arange(n - 1) >= np.arange(n)[:, None])
    everything = agreement_of_means(truth[None], estimate[None])
    left_out = agreement_of_means(truth[without], estimate[without])
    reach = float(stdtrit(n - 1, (1 + confidence) / 2))
    for name in _COEFFICIENTS:
        most = 1 - (1e-12 if name == "pearson" else 6 / (n * (n**2 - 1)))
        value, others = (np.arctanh(np.clip(of[name], -most, most)) for of in (everything, left_out))
        error = np.sqrt((n - 1) / n * ((others - others.mean()) ** 2).sum())
        if np.ptp(left_out[name]) > CLOSE and not np.isnan(error + value[0]):
            ends[f"{name}_low"], ends[f"{name}_high"] = np.tanh(value[0] + np.array([-reach, reach]) * error).tolist()
    return ends


def agreement_of_means(truths: Floats, estimates: Floats) -> dict[str, Floats]:
    """Return (draws,) coefficients of (draws, runs) means."""
    others = {name: _correlation(truths, estimates, ranked=name == "spearman") for name in ("spearman", "pearson")}
    return numbers_of(truths, estimates) | others


def _intervals(bootstrap: TopicBootstrap | None, drawn: set[str]) -> dict[str, str]:
    """Return the settings that say how intervals are made."""
    if bootstrap is None or RUNS not in drawn:
        return {**interval_settings(bootstrap), **(OF_DROPS if bootstrap else {})}
    of_runs = f"{per_cent(bootstrap.confidence)} jackknife over runs as if these were drawn, and topics not"
    if TOPICS not in drawn:
        return {"intervals": of_runs}
    return {**interval_settings(bootstrap, f"; where the two have not the same topics, {of_runs}"), **OF_DROPS}


def _correlation_of_draws(sides: Sequence[TopicScores], ranked: bool, counts: NDArray[np.int64] | None) -> Floats:
    return _correlation(sides[0].means(counts), sides[1].means(counts), ranked=ranked)


def _correlation(truths: Floats, estimates: Floats, *, ranked: bool) -> Floats:
    """Return (draws,) correlations of means, or of their ranks; NaN where one of the two ties all runs."""
    from scipy.stats import rankdata

    of_both = [rounded(means) for means in (truths, estimates)]
    of_both = [rankdata(values, axis=1) for values in of_both] if ranked else of_both
    x, y = (values - values.mean(axis=1, keepdims=True) for values in of_both)
    # what is left of equal values is rounding
    spread = [np.sqrt((values**2).sum(axis=1)) * (np.ptp(values, axis=1) > 0) for values in (x, y)]
    below = spread[0] * spread[1]
    return np.clip(np.divide((x * y).sum(axis=1), below, out=np.full(len(x), np.nan), where=below > 0), -1, 1)
