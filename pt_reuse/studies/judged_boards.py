"""compare_leaderboards: whether judges rank runs as people do, by their leaderboards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, did_you_mean, examples, positive, told
from pt_reuse._errors import InputError, Option, arguments_as, door, located, warn
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import ends, with_ends
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import (
    OF_DROPS,
    TopicBootstrap,
    TopicScores,
    checked_bootstrap,
    ranking_agreement,
    whole_changes,
)
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.data.leaderboards import ALL
from pt_reuse.judging.judge_folder import ALONE, file_stem
from pt_reuse.judging.judges import of_each
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, Caveat, few_topics, noted, tell
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.measures import MeasureLike, canonical_name, measure_among
from pt_reuse.scoring.scores import MISSING, Scores
from pt_reuse.studies.label_audit.rankings import parts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class TwoRankings:
    """The scores of the same runs by people and by a judge.

    Attributes:
        truth: those of people.
        estimate: those of the judge; on the same topics where `bootstrap` is given.
        names: of the runs.
        bootstrap: over the topics; None where there is nothing to draw.
    """

    truth: TopicScores
    estimate: TopicScores
    names: Sequence[str]
    bootstrap: TopicBootstrap | None

    def rows(self, best: int, *, asked: bool) -> list[dict[str, object]]:
        """Return a row for all runs, and one for the best of them where these are not all."""
        return [
            {"by": part.by, "part": part.name, "runs": len(part.runs), **self._numbers(part.runs, asked=asked)}
            for part in parts_of(self.truth.means()[0], best, None)
        ]

    def changes(self) -> pd.DataFrame:
        """Return ``name score judge_score rank judge_rank rise`` of each run, those that rise furthest first."""
        scores = [side.means()[0] for side in (self.truth, self.estimate)]
        ranks = [pairs.ranks(rounded(values)) for values in scores]
        moved = pd.DataFrame(
            {
                "name": list(self.names),
                "score": scores[0],
                "judge_score": scores[1],
                "rank": ranks[0],
                "judge_rank": ranks[1],
                "rise": ranks[0] - ranks[1],
            }
        )
        return moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable", ignore_index=True)

    def _numbers(self, runs: NDArray[np.int64], *, asked: bool) -> dict[str, float]:
        truth, estimate = (side.of(range(len(side.values)), runs.tolist()) for side in (self.truth, self.estimate))
        found = ranking_agreement(truth, estimate, self.bootstrap)
        found |= _linear(truth, estimate, self.bootstrap)
        if not asked or self.bootstrap is not None:
            return found
        return {
            name: value
            for number, of in found.items()
            for name, value in ((number, of), (f"{number}_low", np.nan), (f"{number}_high", np.nan))
        }


def _linear(truth: TopicScores, estimate: TopicScores, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    found = _correlations(truth.means(), estimate.means())
    if bootstrap is None:
        return {name: float(values[0]) for name, values in found.items()}
    n_topics = len(truth.values)
    blocks = [
        _correlations(truth.means(counts), estimate.means(counts))
        for counts in (bootstrap.blocks(n_topics) if n_topics > 1 else ())
    ]
    row: dict[str, float] = {}
    for name, values in found.items():
        drawn = np.concatenate([block[name] for block in blocks]) if blocks else np.full(1, np.nan)
        ends = bootstrap.interval(float(values[0]), drawn, within=(-1, 1))
        row |= {name: float(values[0]), f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return row


def _correlations(truths: NDArray[np.float64], estimates: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return (draws,) correlations of (draws, runs) means; NaN where one of the two ties all runs."""
    from scipy.stats import rankdata

    x, y = rounded(truths), rounded(estimates)
    return {"spearman": _pearson(rankdata(x, axis=1), rankdata(y, axis=1)), "pearson": _pearson(x, y)}


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    # what is left of equal values is rounding
    spread = [np.sqrt((values**2).sum(axis=1)) * (np.ptp(values, axis=1) > 0) for values in (x, y)]
    below = spread[0] * spread[1]
    return np.clip(np.divide((x * y).sum(axis=1), below, out=np.full(len(x), np.nan), where=below > 0), -1, 1)


#: pairs of measures that a headline names
_NAMED = 3
#: `over` of the table -> what means are over, in words
_OVER = {
    "given means": "as leaderboards give them, which have no scores by topic",
    "the same topics": "over the topics, which are the same of both",
    "shared": "over the topics that both have",
    "own": "over the topics that each has",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaderboardAgreement(Result):
    """How far the rankings of runs by judges' leaderboards agree with the ranking by people.

    Attributes:
        table: a row for all runs, and one for the best of them, per judge, measure of people and measure of the judge:
            ``judge family measure judge_measure topics over by part runs tau_b gamma tau_ap_b max_drop max_rise
            spearman pearson``, and where intervals were asked for the ends of each number, ``tau_b_low tau_b_high``;
            NaN where the two do not have the same topics. ``over`` says what means are over.
        changes: per judge, both measures and run: ``name score judge_score rank judge_rank rise team type``, those that
            rise furthest first.
        missing: runs that one of the two lacks: ``judge name lacks``.
    """

    title: ClassVar[str] = "Agreement of leaderboards"

    changes: pd.DataFrame
    missing: pd.DataFrame

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges."""
        return list(dict.fromkeys(self.table["judge"]))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "changes": self.changes, "missing": self.missing}

    @property
    def of_all(self) -> pd.DataFrame:
        """Return the rows of all runs."""
        return self.table[self.table["by"] == "all"]

    def headline(self) -> str:
        """Return tau_b of each judge by each two measures, the first of them."""
        rows = self.of_all.to_dict("records")
        said = [
            f"{row['judge']}: {row['measure']} against {row['judge_measure']} tau_b {with_ends(row, 'tau_b', '.4f')}"
            for row in rows[:_NAMED]
        ]
        return "; ".join(said) + (f"; and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else "")

    def findings(self) -> list[str]:
        """Return what was found in sentences, each with its number, and its interval where there is one."""
        found = []
        for row in self.of_all.to_dict("records"):
            topics = f" on {count(row['topics'], 'topic')}" if row["topics"] else ""
            runs = f"{row['judge']}: the ranking of {count(row['runs'], 'run')}{topics} by {row['judge_measure']}"
            if pd.isna(row["tau_b"]):
                found.append(f"{runs} has no tau_b with people's by {row['measure']}: all runs tie in one of the two.")
                continue
            best = self._best(row)
            at_k = "" if best is None else f"; among the {best['part']} it is {with_ends(best, 'tau_b', '.4f')}"
            found.append(
                f"{runs} has tau_b {with_ends(row, 'tau_b', '.4f')} with people's by {row['measure']}{at_k}; "
                f"the run that loses most loses {count(int(row['max_drop']), 'rank')}{_ends(row, 'max_drop')}, "
                f"the one that gains most gains {with_ends(row, 'max_rise', ',.0f')}."
            )
        return [*found, *self._without()]

    def key_figures(self) -> pd.DataFrame:
        """Return tau_b, gamma, tau_ap_b and the largest moves of each judge over all runs."""
        rows = self.of_all
        names = [f"{judge}, {other}" for judge, other in zip(rows["judge"], rows["judge_measure"], strict=True)]
        return key_figures_of(rows, ["tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"], rows=names)

    def report(self) -> Report:
        """Return what a paper prints: of each judge tau-b of all runs, its interval, of the best, and tau-AP."""
        rows = self.of_all
        table = rows.to_dict("records")
        several = [len(set(rows[column])) > 1 for column in ("measure", "judge_measure")]
        measures = "" if several[0] else f", by {rows['measure'].iloc[0]}"
        best = [self._best(row) for row in table]
        names = [
            " ".join([row["judge"], *[row["measure"]][: several[0]], *[row["judge_measure"]][: several[1]]])
            for row in table
        ]
        columns = [Column("tau-b", rows["tau_b"], Digits.SCORE)]
        if "tau_b_low" in rows:
            columns.append(intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE))
        at_k = [row["tau_b"] if of is None else of["tau_b"] for row, of in zip(table, best, strict=True)]
        columns += [
            Column("Among the best", at_k, Digits.SCORE),
            Column("tau-AP", rows["tau_ap_b"], Digits.SCORE),
            Column("Largest drop", rows["max_drop"], Digits.COUNT),
        ]
        said = (
            "best",
            "ties",
            *(("intervals",) if "tau_b_low" in rows else ()),
            *(name for name in OF_DROPS if name in self.settings),
            *((BEWARE,) if BEWARE in self.settings else ()),
        )
        return Report(
            [Column("Judge", names), *columns],
            caption=(
                f"The ranking of runs by the leaderboards of judges against the one by people{measures}: correlations "
                "(tau-AP symmetric and with ties), and the most ranks that a run loses."
            ),
            notes=[
                f"Means: {'; '.join(dict.fromkeys(rows['over'].map(_OVER)))}.",
                *self._without(),
                *(f"{name.capitalize()}: {self.settings[name]}." for name in said),
            ],
        )

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw tau_b of each judge, and of each measure of it, with its interval.

        Args:
            measure: of people; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: there is none; all figures take this argument.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row for each judge and measure, the highest tau_b on top.
        """
        from pt_reuse.plots.forests import plot_judge_taus
        from pt_reuse.plots.sheet import Place

        name = measure_among(self.measures, measure)
        rows = self.of_all[self.of_all["measure"] == name]
        several = len(set(rows["judge_measure"])) > 1
        named = [
            f"{judge}, {other}" if several else judge
            for judge, other in zip(rows["judge"], rows["judge_measure"], strict=True)
        ]
        rows = rows.assign(judge=named, kind="model")
        own = "Rankings of the runs by other leaderboards" if ax is None and title is None else title
        return plot_judge_taus(rows, measure=name, place=Place(ax, own, legend, width))

    def _without(self) -> list[str]:
        """Return sentences about the runs that one of the two lacks."""
        found = []
        zero = self.settings["missing"] == "zero"
        for (judge, who), rows in self.missing.groupby(["judge", "lacks"], sort=False):
            runs, one = f"{count(len(rows), 'run')}: {examples(rows['name'])}", len(rows) == 1
            if who == "judge" and zero:
                became = "It counts 0" if one else "They count 0"
            else:
                became = "It is not ranked" if one else "They are not ranked"
            lacks = f"{judge} has no scores of" if who == "judge" else f"{judge} alone scores"
            found.append(f"{lacks} {runs}. {became}.")
        return found

    def _best(self, row: dict[Any, Any]) -> dict[Any, Any] | None:
        """Return the row of the best runs beside that of all; None where the best are all, or tie."""
        table = self.table
        same = (table["by"] == "best") & (table["judge"] == row["judge"]) & (table["measure"] == row["measure"])
        found = table[same & (table["judge_measure"] == row["judge_measure"]) & table["tau_b"].notna()]
        return None if found.empty else found.iloc[0].to_dict()


def _ends(row: dict[Any, Any], name: str) -> str:
    between = ends(row, name, ",.0f")
    return f" ({between})" if between else ""


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
