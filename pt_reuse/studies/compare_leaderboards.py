"""compare_leaderboards: whether judges rank runs as people do, by their leaderboards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, did_you_mean, examples, positive, told
from pt_reuse._report import Digits
from pt_reuse._text import with_ends
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import OF_DROPS, TopicBootstrap, TopicScores, ranking_agreement, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.data.leaderboards import ALL
from pt_reuse.errors import InputError, located, warn
from pt_reuse.judge import of_each
from pt_reuse.options import Parameter
from pt_reuse.plots.forests import plot_judge_taus
from pt_reuse.result import KeyFigures, Result, Shown, Told, View, clauses
from pt_reuse.scoring.caveats import Caveat, few_topics, noted
from pt_reuse.scoring.judge_folder import ALONE, file_stem
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.measures import canonical_name
from pt_reuse.scoring.scores import MISSING, Scores
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.judged_fields import drawn_by_measure, parts_of
from pt_reuse.study import Entry, study

Floats = NDArray[np.float64]
#: over which topics means are
TOPICS = ("shared", "own")
#: `over` of the table -> what means are over, for settings
_OVER = {
    "given means": "as leaderboards give them, which have no scores by topic",
    "the same topics": "over the topics, which are the same of both",
    "shared": "over the topics that both have",
    "own": "over the topics that each has",
}


@dataclass(frozen=True)
class TwoRankings:
    """The scores of the same runs by people and by a judge, on the same topics where there is a bootstrap."""

    truth: TopicScores
    estimate: TopicScores
    names: list[str]
    bootstrap: TopicBootstrap | None

    def rows(self, best: int, *, asked: bool) -> list[dict[str, object]]:
        """Return a row for all runs, and one for the best of them; with ends of NaN where intervals were asked for."""
        found = []
        for by, part, runs in parts_of(self.truth.means()[0], best, None):
            truth, estimate = (side.of(range(len(side.values)), runs.tolist()) for side in (self.truth, self.estimate))
            numbers = ranking_agreement(truth, estimate, self.bootstrap) | linear(truth, estimate, self.bootstrap)
            if asked and self.bootstrap is None:
                numbers = {
                    f"{name}{end}": np.nan if end else value
                    for name, value in numbers.items()
                    for end in ("", "_low", "_high")
                }
            found.append({"by": by, "part": part, "runs": len(runs), **numbers})
        return found

    def changes(self) -> pd.DataFrame:
        """Return ``name score judge_score rank judge_rank rise`` of each run, those that rise furthest first."""
        scores = [side.means()[0] for side in (self.truth, self.estimate)]
        ranks = [pairs.ranks(rounded(values)) for values in scores]
        columns = {"name": self.names, "score": scores[0], "judge_score": scores[1]}
        moved = pd.DataFrame(columns | {"rank": ranks[0], "judge_rank": ranks[1], "rise": ranks[0] - ranks[1]})
        return moved.sort_values(["rise", "rank"], ascending=[False, True], kind="stable", ignore_index=True)


def linear(truth: TopicScores, estimate: TopicScores, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    """Return Spearman's and Pearson's correlation of means, with the ends of each where there is a bootstrap."""
    n_topics, row = len(truth.values), dict[str, float]()
    blocks = bootstrap.blocks(n_topics) if bootstrap and n_topics > 1 else ()
    drawn = [_correlations(truth.means(counts), estimate.means(counts)) for counts in blocks]
    for name, values in _correlations(truth.means(), estimate.means()).items():
        row[name] = value = float(values[0])
        if bootstrap is not None:
            draws = np.concatenate([one[name] for one in drawn] or [np.full(1, np.nan)])
            row[f"{name}_low"], row[f"{name}_high"] = bootstrap.interval(value, draws, within=(-1, 1))
    return row


def _correlations(truths: Floats, estimates: Floats) -> dict[str, Floats]:
    """Return (draws,) correlations of (draws, runs) means; NaN where one of the two ties all runs."""
    from scipy.stats import rankdata

    x, y = rounded(truths), rounded(estimates)
    return {"spearman": _pearson(rankdata(x, axis=1), rankdata(y, axis=1)), "pearson": _pearson(x, y)}


def _pearson(x: Floats, y: Floats) -> Floats:
    x, y = (values - values.mean(axis=1, keepdims=True) for values in (x, y))
    # what is left of equal values is rounding
    spread = [np.sqrt((values**2).sum(axis=1)) * (np.ptp(values, axis=1) > 0) for values in (x, y)]
    below = spread[0] * spread[1]
    return np.clip(np.divide((x * y).sum(axis=1), below, out=np.full(len(x), np.nan), where=below > 0), -1, 1)


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

    title = "Agreement of leaderboards"
    condition = "It takes the scores by people as the truth, for the runs that both score; means: {means}."
    limit = "It does not say whether either is right, nor which labels make runs change places."
    views = {
        "judge": View(
            table="of_all",
            columns=(
                Shown("Judge", "named"),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("Interval of tau_b", "tau_b", Digits.SCORE, interval=True),
                Shown("Among the best", "at_k", Digits.SCORE),
                Shown("tau_AP", "tau_ap_b", Digits.SCORE),
                Shown("Largest drop", "max_drop", Digits.COUNT),
            ),
            caption="The ranking of runs by {measure} and the leaderboards of judges against the one by people: "
            "correlations (tau_AP symmetric and with ties), of all and of {best}, and the most ranks that a run loses.",
            noun="leaderboards",
        )
    }
    plots = {"agreement": drawn_by_measure(plot_judge_taus, "_drawn")}
    key = (KeyFigures(("tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"), "of_all", "{judge}, {judge_measure}"),)
    sentences = {"means": "Means: {means}.", **{name: f"{name.capitalize()}: {{{name}}}." for name in OF_DROPS}}

    changes: pd.DataFrame
    missing: pd.DataFrame

    def of_all(self) -> pd.DataFrame:
        """Return the rows of all runs, with tau_b of the best and a name of each row."""
        keys = ["judge", "measure", "judge_measure"]
        rows, best = (self.table[self.table["by"] == by] for by in ("all", "best"))
        at_k = rows[keys].merge(best[[*keys, "tau_b"]], how="left", on=keys)["tau_b"].to_numpy()
        several = len(set(rows["judge_measure"])) > 1
        named = rows["judge"] + ", " + rows["judge_measure"] if several else rows["judge"]
        return rows.assign(named=named, at_k=rows["tau_b"].where(np.isnan(at_k), at_k))

    def _drawn(self) -> pd.DataFrame:
        """Return the rows of all runs, each judge under the name of its row."""
        rows = self.of_all()
        return rows.assign(judge=rows["named"], kind="model")

    def headline(self) -> str:
        """Return tau_b of each judge by each two measures, the first three."""
        rows = self.of_all().to_dict("records")
        named = [f"{row['judge']}: {row['measure']} against {row['judge_measure']}" for row in rows]
        return clauses([f"{name} tau_b {Told(row, 'tau_b'):.4f}" for name, row in zip(named, rows, strict=True)])

    def _further(self) -> list[str]:
        """Return how far each ranking agrees with people's, and which runs one of the two lacks."""
        found = []
        for row in self.of_all().to_dict("records"):
            topics = f" on {count(row['topics'], 'topic')}" if row["topics"] else ""
            said = f"{row['judge']}: the ranking of {count(row['runs'], 'run')}{topics} by {row['judge_measure']} has "
            if pd.isna(row["tau_b"]):
                found.append(f"{said}no tau_b with people's by {row['measure']}: all runs tie in one of the two.")
                continue
            found.append(
                f"{said}tau_b {with_ends(row, 'tau_b', '.4f')} with people's by {row['measure']}; the run that loses "
                f"most loses {count(int(row['max_drop']), 'rank')}, the one that gains most gains {row['max_rise']:,}."
            )
        for (judge, who), rows in self.missing.groupby(["judge", "lacks"], sort=False):
            lacks = f"{judge} has no scores of" if who == "judge" else f"{judge} alone scores"
            zero = who == "judge" and self.settings["missing"] == "zero"
            it, they = ("It counts", "It is") if len(rows) == 1 else ("They count", "They are")
            became = f"{it} 0" if zero else f"{they} not ranked"
            found.append(f"{lacks} {count(len(rows), 'run')}: {examples(rows['name'])}. {became}.")
        return found


@dataclass(frozen=True)
class _Aligned:
    """Scores of people and of one judge, with the positions of the topics that count for each."""

    truth: Scores
    board: Scores
    at: tuple[list[int], list[int]]
    over: str
    bootstrap: TopicBootstrap | None

    @classmethod
    def of(cls, truth: Scores, board: Scores, topics: str, bootstrap: TopicBootstrap | None) -> _Aligned:
        """Find the topics that count; warn of those that one of the two lacks."""
        sides = (truth, board)
        means = any(side.topics == [ALL] for side in sides)
        shared = [topic for topic in truth.topics if topic in set(board.topics)]
        if not means and not shared:
            raise InputError(
                f"people and the judge have no topic in common; people {examples(truth.topics)}, the judge "
                f"{examples(board.topics)}.",
                argument="leaderboards",
            )
        own = topics == "own" or means
        same = not means and set(truth.topics) == set(board.topics)
        if not same and not own:
            lost = [count(len(side.topics) - len(shared), "topic") for side in sides]
            warn(
                f"means are over {count(len(shared), 'topic')} that both have, without {lost[0]} of people and "
                f"{lost[1]} of the judge."
            )
        # where both have the same, both in the order of people, so that they are drawn together
        lists = [truth.topics, truth.topics] if same and own else [s.topics if own else shared for s in sides]
        at = [[side.topics.index(topic) for topic in some] for side, some in zip(sides, lists, strict=True)]
        over = "given means" if means else "the same topics" if same else topics
        return cls(truth, board, (at[0], at[1]), over, bootstrap if same or not own else None)

    @property
    def n_topics(self) -> int:
        """Return over how many topics people's means are, 0 where that is not known."""
        return 0 if self.truth.topics == [ALL] else len(self.at[0])

    def rankings(self, measure: str, other: str, *, zero: bool) -> TwoRankings:
        """Return the two rankings by a measure of people and one of the judge."""
        place = {name: r for r, name in enumerate(self.board.names)}
        names = [name for name in self.truth.names if zero or name in place]
        truth = self.truth.topic_means[measure].of(self.at[0], [self.truth.names.index(name) for name in names])
        there = [r for r, name in enumerate(names) if name in place]
        part = self.board.topic_means[other].of(self.at[1], [place[names[r]] for r in there])
        values, has = np.zeros((2, len(self.at[1]), len(names)))
        values[:, there] = part.values
        has[:, there] = 1 if part.has_topic is None else part.has_topic
        has_topic = None if part.has_topic is None else has > 0
        return TwoRankings(truth, replace(part, values=values, has_topic=has_topic), names, self.bootstrap)


def _named(given: Any) -> dict[str, Any]:
    alone = file_stem(given) if isinstance(given, str | Path) else ALONE
    named = dict(given) if isinstance(given, Mapping) else {alone: given}
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
        near = did_you_mean(strange[0], known) if strange else ""
        raise InputError(
            f"must be some of the measures of {all_of}, {examples(known, 12)}, got "
            f"{examples(strange) or 'none'}.{near}",
            argument=argument,
        )
    return list(dict.fromkeys(names))


def _check_runs(truth: Scores, board: Scores, missing: str) -> None:
    """Raise where the runs that would be ranked are others than asked for, or fewer than a ranking takes."""
    shared = set(truth.names) & set(board.names)
    differ = sorted(set(truth.names) ^ set(board.names))
    if missing == "error" and differ:
        raise InputError(
            f"{count(len(differ), 'run')} in one of the two only: {examples(differ)}. missing='leave_out' ranks "
            "those of both, missing='zero' has those that the judge lacks count 0.",
            argument="missing",
        )
    if not shared or (len(truth.names) if missing == "zero" else len(shared)) < 2:
        raise InputError(
            f"people and the judge have {count(len(shared), 'run')} in common, and a ranking takes 2 at least; people "
            f"{examples(truth.names)}, the judge {examples(board.names)}. Are the names written alike?",
            argument="leaderboards",
        )


def _lacking(judge: str, truth: Scores, board: Scores, missing: str) -> pd.DataFrame:
    """Return the runs that one of the two lacks, and warn of them."""
    rows = [(judge, name, "judge") for name in truth.names if name not in set(board.names)]
    rows += [(judge, name, "people") for name in board.names if name not in set(truth.names)]
    for who, lacks in (("judge", "the judge lacks"), ("people", "people lack")):
        names = [name for _, name, lacking in rows if lacking == who]
        if names:
            became = "count 0" if who == "judge" and missing == "zero" else "are not ranked"
            warn(f"{count(len(names), 'run')} that {lacks} {became}: {examples(names)}.")
    return pd.DataFrame(rows, columns=["judge", "name", "lacks"], dtype=object)


@study(
    Parameter(
        name="human",
        meaning="the scores of people: Scores, such as those of :func:`score`, or the path of a leaderboard.",
    ),
    Parameter(
        name="leaderboards",
        meaning="those of judges: a dict of judge -> Scores or path, or one of them.",
        check=_named,
    ),
    Parameter(name="measures", meaning="of people, one or several; default all."),
    Parameter(name="judge_measures", meaning="of the judges, one or several, of those that a judge has; default all."),
    Parameter(
        name="missing",
        meaning='a run of people that a judge lacks, or the other way round, is one to ``"leave_out"`` (default, '
        "with a "
        'warning); counts ``"zero"`` under the judge; or is an ``"error"``. Runs that only the judge has are never '
        "ranked; ``.missing`` names them.",
        choices=tuple(MISSING),
    ),
    Parameter(
        name="topics",
        meaning='means are over the topics that are ``"shared"`` (default), or of each over its ``"own"``. Where one '
        "of the two has no scores by topic, only the rows ``all``, its own are those.",
        choices=TOPICS,
    ),
    Parameter(
        name="best",
        meaning="how many runs are the best: tau of these is *tau at k*. Those that tie with the last of them belong "
        "to them, and they are the best by all topics, also in resamples.",
        check=partial(positive, "best", unit="runs"),
    ),
    entry=Entry(question="Do the leaderboards of judges rank runs as people do?", command="audit", group="labels"),
)
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
    """Compare the rankings of runs by judges and by people, given scores of runs and no labels of documents.

    Each measure of people is compared with each measure of a judge, as TREC AutoJudge's ``meta-evaluate`` does. If you
    have labels, :func:`audit_labels` computes more.

    Args:
        resamples: how often the topics are drawn for intervals; 0 for none. There are intervals only if both have the
            same topics.

    Returns:
        LeaderboardAgreement: ``.table`` (how far rankings agree), ``.changes`` (each run), ``.missing`` (runs that one
        of the two lacks), ``.findings()``, ``.report()``, ``.plot()``.

    Raises:
        InputError: a leaderboard that cannot be read, different runs if that is an error, fewer than two runs, no
            common topic, a measure that none has.

    Warns:
        ReuseWarning: runs that are left out or count 0, topics that only one of the two has, fewer than five topics,
            runs that all tie.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> people, judge = (ptr.score(field.runs, qrels, "AP") for qrels in (field.all_qrels, field.qrels))
        >>> found = ptr.labels.compare_leaderboards(people, {"judge": judge}, resamples=200)
        >>> found.headline()
        'judge: AP against AP tau_b 0.7516 (0.5163 to 0.9869)'

    Source: TREC AutoJudge, ``meta-evaluate`` of autojudge-evaluate 1.1.0, for the question and the forms of files.
    Correlations are those of :func:`~pt_reuse.rankings.tau_b`, :func:`~pt_reuse.rankings.gamma` and
    :func:`~pt_reuse.rankings.tau_ap_b`; spearman and pearson are checked against scipy.
    """
    asked = Asked(compare_leaderboards, locals())
    given, bootstrap = asked["leaderboards"], asked.bootstrap
    groups = of_each(families, given, "families")
    truth = _scores(human, "human")
    boards = {name: _scores(one, "leaderboards", place=name) for name, one in given.items()}
    mine = _chosen(measures, truth.measures, "measures", all_of="people")
    known = list(dict.fromkeys(m for board in boards.values() for m in board.measures))
    theirs = _chosen(judge_measures, known, "judge_measures", all_of="the judges")
    for name, board in boards.items():
        with located(name):
            _check_runs(truth, board, missing)
    rows, changes, lacks, over = [], [], [], []
    caveats: dict[str, Caveat] = {}
    for name, board in boards.items():
        with located(name):
            pair = _Aligned.of(truth, board, topics, bootstrap)
            lacks.append(_lacking(name, truth, board, missing))
            over.append(pair.over)
            caveats |= {caveat.note: caveat for caveat in (few_topics(pair.n_topics) if pair.n_topics else ())}
            for measure, other in ((m, o) for m in mine for o in theirs if o in board.measures):
                two = pair.rankings(measure, other, zero=missing == "zero")
                head = {"judge": name, "family": groups.get(name), "measure": measure, "judge_measure": other}
                of_topics = {"topics": pair.n_topics, "over": pair.over}
                rows += [{**head, **of_topics, **row} for row in two.rows(best, asked=bootstrap is not None)]
                changes.append(pd.DataFrame({**head, **two.changes()}))
    asked.tell(caveats.values())
    table = whole_changes(pd.DataFrame(rows))
    none = table[(table["by"] == "all") & table["tau_b"].isna()]
    if len(none):
        named = none["measure"] + " and " + none["judge_measure"] + " of " + none["judge"]
        warn(f"all runs tie in one of the two, so that there is no ranking to compare: {examples(named)}.")
    settings = {
        "human": ", ".join(f"{key}={value}" for key, value in truth.settings.items()),
        "means": "; ".join(dict.fromkeys(map(_OVER.__getitem__, over))),
        "missing": missing,
        "topics": topics,
        "best": f"the {best:,} best runs by people, over all topics",
        "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        "intervals": "none" if bootstrap is None else bootstrap.words(),
        **({} if bootstrap is None else OF_DROPS),
        **noted(caveats.values()),
    }
    return LeaderboardAgreement(
        table=table,
        settings=settings,
        changes=pd.concat(changes, ignore_index=True).merge(truth.run_table, on="name", how="left"),
        missing=pd.concat(lacks, ignore_index=True),
    )
