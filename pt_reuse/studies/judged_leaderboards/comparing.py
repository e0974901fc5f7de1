"""compare_leaderboards: how the leaderboards of judges rank runs, beside how people do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, did_you_mean, examples, positive, told
from pt_reuse._errors import InputError, Option, arguments_as, door, located, warn
from pt_reuse.arrays.bootstrap import OF_DROPS, TopicBootstrap, TopicScores, checked_bootstrap, whole_changes
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.leaderboards import ALL
from pt_reuse.judging.judge_folder import ALONE, file_stem
from pt_reuse.judging.judges import of_each
from pt_reuse.scoring.caveats import Caveat, few_topics, noted, tell
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.measures import canonical_name
from pt_reuse.scoring.score_frames import MISSING
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.judged_leaderboards.agreement import LeaderboardAgreement
from pt_reuse.studies.judged_leaderboards.rankings import TwoRankings

#: over which topics means are
TOPICS = ("shared", "own")
#: runs without which there is no ranking
_LEAST = 2


@door
def compare_leaderboards(
    human: Any,
    leaderboards: Any,
    *,
    measures: str | Iterable[str] | None = None,
    judge_measures: str | Iterable[str] | None = None,
    missing: str = "leave_out",
    topics: str = "shared",
    best: int = 10,
    families: Mapping[str, str] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> LeaderboardAgreement:
    """Compare how judges rank runs with how people do, where there are scores of runs and no labels of documents.

    Each measure of people is compared with each measure of a judge, as TREC AutoJudge's ``meta-evaluate`` does. Where
    there are labels, :func:`audit_labels` says more.

    Args:
        human: the scores of people: Scores, such as those of :func:`score`, or the path of a leaderboard.
        leaderboards: those of judges: a dict of judge -> Scores or path, or one of them.
        measures: of people, one or several; default all.
        judge_measures: of the judges, one or several, of those that a judge has; default all.
        missing: a run of people that a judge lacks, or the other way round, is one to ``"leave_out"`` (default, with
            a warning); counts ``"zero"`` under the judge; or is an ``"error"``. Runs that only the judge has are never
            ranked; ``.missing`` names them.
        topics: means are over the topics that are ``"shared"`` (default), or of each over its ``"own"``. Where one of
            the two has no scores by topic, only the rows ``all``, its own are those.
        best: how many runs are the best: tau of these is *tau at k*. Those that tie with the last of them belong to
            them, and they are the best by all topics, also in resamples.
        families: judge -> family of models.
        resamples: how often the topics are drawn for intervals; 0 for none. There are intervals where both have the
            same topics.
        confidence: of the intervals.
        seed: of the draws.

    Returns:
        LeaderboardAgreement: ``.table`` (how far rankings agree), ``.changes`` (each run), ``.missing`` (runs that one
        of the two lacks), ``.findings()``, ``.report()``, ``.plot()``.

    Raises:
        InputError: a leaderboard that cannot be read, other runs where that is an error, fewer than two runs, no topic
            in common, a measure that nobody has.

    Warns:
        ReuseWarning: runs that are left out or count 0, topics that only one of the two has, fewer than five topics,
            runs that all tie.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> people, judge = (ptr.score(field.runs, qrels, "AP") for qrels in (field.all_qrels, field.qrels))
        >>> found = ptr.labels.compare_leaderboards(people, {"judge": judge}, resamples=200)
        >>> found.headline()
        'judge: AP against AP tau_b 0.7516 (0.5163 to 0.9869)'

    Source: TREC AutoJudge, ``meta-evaluate`` of autojudge-evaluate 1.1.0, for the question and the forms of files.
    Correlations are those of :func:`~pt_reuse.rankings.tau_b`, :func:`~pt_reuse.rankings.gamma` and
    :func:`~pt_reuse.rankings.tau_ap_b`; spearman and pearson are checked against scipy.
    """
    choice("missing", missing, MISSING)
    choice("topics", topics, TOPICS)
    k = positive("best", best, "runs")
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    given = _named(leaderboards)
    groups = of_each(families, given, "families")
    truth = _scores(human, "human")
    boards = {name: _scores(one, "leaderboards", place=name) for name, one in given.items()}
    mine = _chosen(measures, truth.measures, "measures", all_of="people")
    known = list(dict.fromkeys(m for board in boards.values() for m in board.measures))
    theirs = _chosen(judge_measures, known, "judge_measures", all_of="the judges")
    for name, board in boards.items():
        with located(name):
            _check_runs(truth, board, missing)
    tables, changes, lacks = [], [], []
    caveats: dict[str, Caveat] = {}
    asked = _Asked(topics, k, bootstrap)
    for name, board in boards.items():
        with located(name):
            pair = _aligned(truth, board, asked)
            lacking = _lacking(name, truth, board)
            _tell_lacking(lacking, missing)
            lacks.append(lacking)
            caveats |= {caveat.note: caveat for caveat in (few_topics(pair.n_topics) if pair.n_topics else ())}
            for measure in mine:
                for other in [m for m in theirs if m in board.measures]:
                    two = pair.rankings(measure, other, zero=missing == "zero")
                    head = {"judge": name, "family": groups.get(name), "measure": measure, "judge_measure": other}
                    rows = two.rows(k, asked=bootstrap is not None)
                    tables += [{**head, "topics": pair.n_topics, "over": pair.over, **row} for row in rows]
                    moved = two.changes()
                    changes.append(pd.DataFrame({**head, **moved}))
    tell(tuple(caveats.values()))
    table = whole_changes(pd.DataFrame(tables))
    _tell_ties(table)
    settings = {
        "human": ", ".join(f"{key}={value}" for key, value in truth.settings.items()),
        "missing": missing,
        "topics": topics,
        "best": f"the {k:,} best runs by people, over all topics",
        "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        "intervals": "none" if bootstrap is None else bootstrap.words(),
        **({} if bootstrap is None else OF_DROPS),
        **noted(tuple(caveats.values())),
    }
    return LeaderboardAgreement(
        table=table,
        settings=settings,
        changes=pd.concat(changes, ignore_index=True).merge(truth.run_table, on="name", how="left"),
        missing=pd.concat(lacks, ignore_index=True),
    )


@dataclass(frozen=True)
class _Asked:
    """What a user asks for."""

    topics: str
    best: int
    bootstrap: TopicBootstrap | None


@dataclass(frozen=True)
class _Aligned:
    """People and one judge, on the topics that count for each.

    Attributes:
        truth: scores of people.
        board: scores of the judge.
        at: positions of the topics that count, of people and of the judge.
        over: what the means are over, in words.
        bootstrap: over the topics, None where the two do not have the same.
    """

    truth: Scores
    board: Scores
    at: tuple[list[int], list[int]]
    over: str
    bootstrap: TopicBootstrap | None

    @property
    def n_topics(self) -> int:
        """Return over how many topics people's means are, 0 where that is not known."""
        return 0 if self.truth.topics == [ALL] else len(self.at[0])

    def rankings(self, measure: str, other: str, *, zero: bool) -> TwoRankings:
        """Return the two rankings by a measure of people and one of the judge."""
        names = [name for name in self.truth.names if zero or name in set(self.board.names)]
        place = {name: r for r, name in enumerate(self.board.names)}
        runs = [self.truth.names.index(name) for name in names]
        truth = self.truth.topic_means[measure].of(self.at[0], runs)
        whole = self.board.topic_means[other]
        values = np.zeros((len(self.at[1]), len(names)))
        has = None if whole.has_topic is None else np.zeros(values.shape, dtype=bool)
        there = [r for r, name in enumerate(names) if name in place]
        part = whole.of(self.at[1], [place[names[r]] for r in there])
        values[:, there] = part.values
        if has is not None and part.has_topic is not None:
            has[:, there] = part.has_topic
        return TwoRankings(truth, TopicScores(values, has), names, self.bootstrap)


def _named(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        named = dict(given)
    elif isinstance(given, str | Path):
        named = {file_stem(given): given}
    else:
        named = {ALONE: given}
    odd = [name for name in named if not isinstance(name, str) or not name.strip()]
    if odd or not named:
        raise InputError(
            f"the name of a judge must be a text, got {told(odd[0])}." if odd else "there is no leaderboard.",
            argument="leaderboards",
        )
    return named


def _scores(given: Any, argument: str, *, place: str | None = None) -> Scores:
    if isinstance(given, Scores):
        return given
    if isinstance(given, str | Path):
        with arguments_as("read_leaderboard", path=argument):
            return read_leaderboard(given)
    raise InputError(
        f"expected Scores or the path of a leaderboard, got {told(given)}.", argument=argument, place=place
    )


def _chosen(given: Any, known: list[str], argument: str, *, all_of: str) -> list[str]:
    if given is None:
        return known
    several = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    names = [canonical_name(str(name)) for name in several]
    strange = [name for name in names if name not in known]
    if strange or not names:
        raise InputError(
            f"{examples(strange)} not among the measures of {all_of}: {examples(known, 12)}."
            f"{did_you_mean(strange[0], known)}"
            if strange
            else f"there is no measure. Give some of those of {all_of}: {examples(known, 12)}.",
            argument=argument,
        )
    return list(dict.fromkeys(names))


def _check_runs(truth: Scores, board: Scores, missing: str) -> None:
    """Raise where the runs that would be ranked are others than asked for, or fewer than a ranking takes."""
    shared = set(truth.names) & set(board.names)
    differ = sorted(set(truth.names) ^ set(board.names))
    if missing == "error" and differ:
        raise InputError(
            f"{count(len(differ), 'run')} in one of the two only: {examples(differ)}. ",
            Option("missing", "leave_out"),
            " ranks those of both, ",
            Option("missing", "zero"),
            " has those that the judge lacks count 0.",
            argument="missing",
        )
    if not shared:
        raise InputError(
            f"people and the judge have no run in common; people {examples(truth.names)}, the judge "
            f"{examples(board.names)}. Are the names written alike?",
            argument="leaderboards",
        )
    ranked = len(truth.names) if missing == "zero" else len(shared)
    if ranked < _LEAST:
        raise InputError("there is 1 run, and a ranking takes 2 at least.", argument="leaderboards")


def _aligned(truth: Scores, board: Scores, asked: _Asked) -> _Aligned:
    sides = (truth, board)
    means = [side.topics == [ALL] for side in sides]
    shared = [topic for topic in truth.topics if topic in set(board.topics)]
    if not any(means) and not shared:
        raise InputError(
            f"people and the judge have no topic in common; people {examples(truth.topics)}, the judge "
            f"{examples(board.topics)}.",
            argument="leaderboards",
        )
    own = asked.topics == "own" or any(means)
    lists = [side.topics if own else shared for side in sides]
    at = [[side.topics.index(topic) for topic in topics] for side, topics in zip(sides, lists, strict=True)]
    same = not any(means) and set(truth.topics) == set(board.topics)
    if not same and not own:
        lost = [count(len(side.topics) - len(shared), "topic") for side in sides]
        warn(
            f"means are over {count(len(shared), 'topic')} that both have, without {lost[0]} of people and {lost[1]} "
            "of the judge."
        )
    if same:
        # both in the order of people, so that they are drawn together
        at[1] = [board.topics.index(topic) for topic in lists[0]]
    over = "given means" if any(means) else "the same topics" if same else asked.topics
    return _Aligned(truth, board, (at[0], at[1]), over, asked.bootstrap if same or not own else None)


def _lacking(judge: str, truth: Scores, board: Scores) -> pd.DataFrame:
    rows = [(judge, name, "judge") for name in truth.names if name not in set(board.names)]
    rows += [(judge, name, "people") for name in board.names if name not in set(truth.names)]
    return pd.DataFrame(rows, columns=["judge", "name", "lacks"], dtype=object)


def _tell_lacking(lacking: pd.DataFrame, missing: str) -> None:
    for who, words in (
        ("judge", "is not ranked" if missing == "leave_out" else "counts 0"),
        ("people", "is not ranked"),
    ):
        names = lacking.loc[lacking["lacks"] == who, "name"].tolist()
        if names:
            said = words if len(names) == 1 else words.replace("is", "are").replace("counts", "count")
            lacks = "the judge lacks" if who == "judge" else "people lack"
            warn(f"{count(len(names), 'run')} that {lacks} {said}: {examples(names)}.")


def _tell_ties(table: pd.DataFrame) -> None:
    none = table[(table["by"] == "all") & table["tau_b"].isna()]
    if len(none):
        named = [f"{row.measure} and {row.judge_measure} of {row.judge}" for row in none.itertuples()]
        warn(f"all runs tie in one of the two, so that there is no ranking to compare: {examples(named)}.")
