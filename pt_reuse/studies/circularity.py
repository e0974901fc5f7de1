"""circularity: what a system gains that re-ranks by the judge that scores it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, positive
from pt_reuse._report import Digits
from pt_reuse._text import with_ends
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.correlation import rounded
from pt_reuse.data.judgment_changes import rerank_by_labels
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.units import described
from pt_reuse.errors import InputError, located, warn
from pt_reuse.judge import JudgeRel, NamedJudge, as_judges
from pt_reuse.options import Parameter
from pt_reuse.plots.forests import plot_gains, plot_run_gains
from pt_reuse.result import KeyFigures, Shown, View
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.scores import check_topics
from pt_reuse.studies.judged_fields import NOTES, AskedJudges, OfJudges, drawn_by_measure, under, verdict, with_names
from pt_reuse.study import Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

Floats = NDArray[np.float64]
#: what is ranked: runs as they were, the same re-ranked, or all of them together
FIELDS = ("original", "re-ranked", "both")
#: who scores when no judge does
PEOPLE = "people"


@dataclass(frozen=True)
class BeforeAfter:
    """Scores of runs by topic, as they were and re-ranked, under one scorer."""

    before: TopicScores
    after: TopicScores

    def of(self, field: str) -> TopicScores:
        """Return the scores of what is ranked, one of :data:`FIELDS`; of both, the runs as they were come first."""
        if field != "both":
            return self.before if field == "original" else self.after
        values = np.hstack([self.before.values, self.after.values])
        if self.before.has_topic is None or self.after.has_topic is None:
            return replace(self.before, values=values, has_topic=None)
        return replace(self.before, values=values, has_topic=np.hstack([self.before.has_topic, self.after.has_topic]))

    def gains(self, counts: NDArray[np.int64] | None = None) -> Floats:
        """Return (draws, runs) by how much the mean of each run is higher once it is re-ranked."""
        return self.after.means(counts) - self.before.means(counts)

    def ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (runs,) the rank of each run among all as they were, and its own re-ranked while they stay."""
        before, after = (rounded(scores.means()[0]) for scores in (self.before, self.after))
        better = before[None, :] > after[:, None]
        np.fill_diagonal(better, val=False)
        return pairs.ranks(before).astype(np.int64), 1 + better.sum(axis=1)

    def in_best(self, best: int) -> tuple[int, int]:
        """Return how many of the best of both are re-ranked, and how many are runs as they were, ties included."""
        ranks = pairs.ranks(rounded(self.of("both").means()[0]))
        n = self.before.values.shape[1]
        return int((ranks[n:] <= best).sum()), int((ranks[:n] <= best).sum())

    def numbers(self, people: BeforeAfter | None, best: int, bootstrap: TopicBootstrap | None) -> dict[str, float]:
        """Return the numbers of a row of the table; `people` is None where they score."""
        gains, (rank, reranked), in_best = rounded(self.gains()[0]), self.ranks(), self.in_best(best)
        return {
            "topics": len(self.before.values),
            "runs": len(rank),
            **gain_numbers(self, people, bootstrap),
            "gaining": int((gains > 0).sum()),
            "losing": int((gains < 0).sum()),
            "mean_rise": float((rank - reranked).mean()),
            "reranked_in_best": in_best[0],
            "originals_in_best": in_best[1],
        }

    def by_run(self, run_table: pd.DataFrame) -> pd.DataFrame:
        """Return one row per run: its scores and ranks before and after."""
        rank, other_rank = self.ranks()
        score, other = self.before.means()[0], self.after.means()[0]
        runs = described(run_table).drop(columns="pooled")
        return runs.assign(score=score, reranked_score=other, gain=other - score, rank=rank, reranked_rank=other_rank)


def gain_numbers(scorer: BeforeAfter, people: BeforeAfter | None, bootstrap: TopicBootstrap | None) -> dict[str, float]:
    """Return the mean gain of the runs, and what it is above that under people, with the ends of each."""
    found: dict[str, float] = {}
    n_topics = len(scorer.before.values)

    def mean(against: BeforeAfter | None, counts: NDArray[np.int64] | None = None) -> Floats:
        gain: Floats = scorer.gains(counts).mean(axis=1)
        return gain if against is None else np.asarray(gain - against.gains(counts).mean(axis=1))

    for name, against in (("mean_gain", None), ("excess_gain", people)):
        known = name == "mean_gain" or people is not None
        found[name] = float(mean(against)[0]) if known else np.nan
        if bootstrap is not None:
            blocks = bootstrap.blocks(n_topics) if known and n_topics > 1 else ()
            drawn = np.concatenate([mean(against, counts) for counts in blocks] or [np.full(1, np.nan)])
            found[f"{name}_low"], found[f"{name}_high"] = bootstrap.t_interval(found[name], drawn, n_topics)
    return found


def tau_numbers(
    people: TopicScores, scorer: TopicScores, best: int, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    """Return tau_b of people's ranking and a scorer's, of all systems and of the best by people, with the ends of each.

    The best are those of all topics in every draw; those that tie with the last of them are among them.
    """
    n_topics, n = people.values.shape
    first = np.flatnonzero(pairs.ranks(rounded(people.means()[0])) <= best)
    found: dict[str, float] = {"systems": n}
    for suffix, runs in (("", range(n)), ("_best", first.tolist())):
        truth, estimate = (scores.of(range(n_topics), runs) for scores in (people, scorer))
        row = ranking_agreement(truth, estimate, bootstrap, coefficients=("tau_b",))
        found |= {name.replace("tau_b", f"tau_b{suffix}"): row[name] for name in row if name.startswith("tau_b")}
    return found


def _draw_runs(result: Circularity, measure: str, place: Place | None, *, judge: str | None = None) -> Axes:
    """Draw the gain of each run under the judge itself and under people, by its score as people see it before."""
    which = result.judge(judge)
    rows = result.by_run[(result.by_run["measure"] == measure) & (result.by_run["judge"] == which)]
    own, people = (rows[rows["scorer"] == scorer] for scorer in (which, PEOPLE))
    return plot_run_gains(own, people, measure=measure, judge=which, place=place)


_WHO = (Shown("Re-ranked by", "judge"), Shown("Scored by", "scorer"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Circularity(OfJudges):
    """What runs gain whose first documents are re-ranked by a judge's labels, by who scores them.

    ``judge`` is who re-ranks, ``scorer`` who scores: the same judge, another one, or ``"people"``.

    Attributes:
        table: one row per judge, scorer and measure: ``judge family scorer measure``; ``same``, whether the judge
            scores itself; ``topics runs``; ``mean_gain``, by how much the mean score of the runs is higher once they
            are re-ranked; ``excess_gain``, by how much that is above the one under people, NaN for people;
            ``gaining losing``, how many runs score higher, and lower; ``mean_rise``, how many ranks a re-ranked run
            gains on average when the other runs stay as they were; ``reranked_in_best originals_in_best``, how many of
            the best systems are re-ranked, and how many are runs as they were, all of them ranked together (more than
            `best` where systems tie for the last place). Where intervals were asked for, both gains have their ends
            behind them, ``mean_gain_low mean_gain_high`` and so on.
        rankings: one row per judge, scorer but people, measure and field: ``judge family scorer measure same``;
            ``field``, what is ranked, ``"original"``, ``"re-ranked"`` (every run is) or ``"both"`` together;
            ``systems``; ``tau_b`` of the scorer's ranking with people's, and ``tau_b_best`` of the systems alone that
            are best by people (more than `best` where systems tie for the last place); with intervals the ends of
            both.
        by_run: one row per judge, scorer, measure and run: ``judge scorer measure name team type``, ``family`` where
            runs have one, ``score reranked_score gain``; ``rank`` among all runs as they were, and ``reranked_rank``,
            the one that it has re-ranked while the others stay as they were.
        depth: how many documents of each list are sorted.
        best: how many systems are the best.
    """

    title = "Circularity"
    condition = (
        "It holds for the first {depth} documents of each run, sorted by the labels of the judge, on {topics} "
        "topics; {missing}."
    )
    limit = (
        "It does not say what a system gains that uses the judge in another way, such as one that is trained on its "
        "labels."
    )
    views = {
        "gains": View(
            columns=(
                *_WHO,
                Shown("Mean gain", "mean_gain", Digits.SCORE),
                Shown("Interval of the gain", "mean_gain", Digits.SCORE, interval=True),
                Shown("Ranks gained", "mean_rise", Digits.PLACES),
                Shown("Re-ranked among the best", "reranked_in_best", Digits.COUNT),
            ),
            caption="By how much {measure} rises when runs are re-ranked by a judge's labels to depth {depth}, by who "
            "scores; how many ranks each alone gains among the others as they were; and how many of the {best} best "
            "systems, as they were and re-ranked together, are re-ranked.",
        ),
        "rankings": View(
            table="taus",
            columns=(
                *_WHO,
                *(Shown(f"Tau-b, {field}", field, Digits.SCORE) for field in FIELDS),
                Shown("Tau-b, best of both", "best", Digits.SCORE),
            ),
            caption="Tau-b of the rankings by {measure} with those by people: of the runs as they were, re-ranked by a "
            "judge's labels to depth {depth}, both together, and the {best} best of these by people.",
        ),
    }
    plots = {"gains": drawn_by_measure(plot_gains, people=PEOPLE), "runs": _draw_runs}
    key = (
        KeyFigures(("mean_gain", "excess_gain"), "own_gains", "{judge}"),
        KeyFigures(("tau_b",), "own_taus", "{judge}, both"),
    )
    answer = "own_gains", "{measure} of runs re-ranked by {judge}: {mean_gain:+.4f} by {judge}, {people:+.4f} by people"
    sentences = {"re-ranked": "Re-ranked: {re-ranked}.", **NOTES}

    rankings: pd.DataFrame
    by_run: pd.DataFrame
    depth: int
    best: int

    def taus(self) -> pd.DataFrame:
        """Return one row per judge, scorer and measure, with tau_b of each field, and of the best of both."""
        keys = ["judge", "scorer", "measure"]
        wide = self.rankings.pivot_table(index=keys, columns="field", values="tau_b", sort=False, dropna=False)
        both = self.rankings[self.rankings["field"] == "both"].set_index(keys)["tau_b_best"]
        return wide.assign(best=both).reset_index()

    def own_gains(self) -> pd.DataFrame:
        """Return the rows in which a judge scores itself, with what runs gain under people."""
        people = self.table[self.table["scorer"] == PEOPLE].set_index(["judge", "measure"]).filter(like="mean_gain")
        own = self.table[self.table["same"]]
        theirs = people.loc[list(zip(own["judge"], own["measure"], strict=True))]
        return own.assign(**{name.replace("mean_gain", "people"): theirs[name].to_numpy() for name in theirs})

    def _kind_of_intervals(self) -> str:
        # those of tau_b are others
        drawn = super()._kind_of_intervals().removeprefix("of tau_b ")
        return f"t intervals from the draws of the {drawn}" if drawn else ""

    def own_taus(self) -> pd.DataFrame:
        """Return the rankings of both fields together in which a judge scores itself."""
        return self.rankings[self.rankings["same"] & (self.rankings["field"] == "both")]

    def _further(self) -> list[str]:
        """Return of each judge what runs gain under itself and under people, and what becomes of the rankings."""
        found: list[str] = []
        for key, rows in self.table.groupby(["judge", "measure"], sort=False):
            taus = self.rankings.set_index(["judge", "measure"]).loc[[key]]
            found += _findings_of(rows.to_dict("records"), taus[taus["same"]], self.depth, self.best)
        return found


def _findings_of(rows: list[dict[Any, Any]], taus: pd.DataFrame, depth: int, best: int) -> Iterator[str]:
    # people come first
    people, own = rows[0], next(row for row in rows if row["same"])
    about = f"{own['judge']}, {own['measure']}"
    sorting = f"{about}: sorting the first {count(depth, 'document')} of each run by the judge's labels changes the"
    if not any(row["gaining"] or row["losing"] for row in rows):
        yield (
            f"{sorting} score of no run, whoever scores: {own['measure']} does not depend on the order of these "
            "documents, or they stand in this order already."
        )
        return
    told = partial(with_ends, form="+.4f")
    # an interval of no width says nothing
    chance = ", which may be chance" if own.get("excess_gain_low") != own.get("excess_gain_high") else ""
    ahead, behind = ": the judge rewards what it ranked itself", ": people reward it more than the judge"
    said = verdict(own, "excess_gain", ahead, behind, chance)
    yield (
        f"{sorting} mean score by {told(own, 'mean_gain')} under the judge itself and by {told(people, 'mean_gain')} "
        f"under people. The difference is {told(own, 'excess_gain')}{said}."
    )
    mine, theirs = (
        f"{row['reranked_in_best']:,.0f} of {row['reranked_in_best'] + row['originals_in_best']:,.0f}"
        for row in (own, people)
    )
    yield (
        f"{about}: a re-ranked run gains {own['mean_rise']:+.1f} ranks on average by the judge and "
        f"{people['mean_rise']:+.1f} by people; of the {best:,} best of all runs, as they were and re-ranked, {mine} "
        f"by the judge and {theirs} by people are re-ranked."
    )
    by_field = {row["field"]: row for row in taus.to_dict("records")}
    if pd.notna(by_field["both"]["tau_b"]):
        fields = [f"{with_ends(row, 'tau_b', '.4f')} ({field})" for field, row in by_field.items()]
        yield f"{about}: tau_b of the judge's ranking with people's is {', '.join(fields)}."


@dataclass(frozen=True)
class _CommonLabels:
    """The labels of everybody for the same documents, on the topics that all have; people score first."""

    people: Qrels
    own: dict[str, Qrels]
    scoring: dict[str, Qrels]

    @classmethod
    def of(cls, asked: AskedJudges) -> _CommonLabels:
        """Return the labels of all judges and of people."""
        topic_sets = [set(labels.human.topics) for labels in asked.compared]
        topics = [topic for topic in asked.qrels.topics if all(topic in topics for topics in topic_sets)]
        if not topics:
            raise InputError(
                "the judges have no topic in common in which all of them labelled a document, and who re-ranks and who "
                "scores need the same topics. Call it for each of them.",
                argument="judge",
            )
        most = max(map(len, topic_sets))
        if len(topics) < most:
            warn(
                f"the judges have {count(len(topics), 'topic')} in common, and one of them labelled documents in "
                f"{most:,}. Who re-ranks and who scores need the same topics, so the common ones count."
            )
        people = asked.qrels.select(topics)
        if asked["missing"] == "drop":
            for labels in asked.compared:
                people = people.restrict(labels.judge)
        if asked["without_topics"] == "error":
            check_topics(asked.runs, people)
        own = {labels.name: labels.judge.select(topics).restrict(people) for labels in asked.compared}
        scoring = {labels.name: labels.on_scale.select(topics).restrict(people) for labels in asked.compared}
        return cls(people, own, {PEOPLE: people, **scoring})


class _Asked(AskedJudges):
    """The same with judges that score and do not re-rank behind those that do."""

    @cached_property
    def rerankers(self) -> list[NamedJudge]:
        """Return the judges that re-rank; judgments may be given one by one and can be read but once."""
        return as_judges(self["judge"])

    def _named_judges(self) -> list[NamedJudge]:
        """Return those that re-rank, then the others."""
        rerankers = self.rerankers
        others = [] if self["scorers"] is None else as_judges(self["scorers"], "scorers")
        names = [one.name for one in rerankers]
        if both := [one.name for one in others if one.name in names]:
            raise InputError(
                f"{examples(both)} re-ranks, and who re-ranks scores, too. Give a scorer that is none of the judges, "
                "under a name of its own.",
                argument="scorers",
            )
        every = [*rerankers, *others]
        if any(one.name == PEOPLE for one in every):
            raise InputError(
                f"{PEOPLE!r} are those who made the judgments. Give the judge another name.",
                argument="judge" if PEOPLE in names else "scorers",
            )
        families = self["families"]
        if families is None:
            families = {one.name: one.family for one in every if one.family is not None}
        return as_judges({one.name: one.judge for one in every}, rel=self["judge_rel"], families=families)


@study(
    Parameter(
        name="scorers",
        meaning="further judges that score and do not re-rank, in the same forms. The judges that re-rank score, too, "
        "and so do people.",
    ),
    Parameter(
        name="depth",
        meaning="how many documents of each list are sorted.",
        check=partial(positive, "depth", unit="documents"),
    ),
    Parameter(
        name="best",
        meaning="how many systems are the best, for tau_b of the best and for who is among them; systems that tie with "
        "the last of them are among them.",
        check=partial(positive, "best", unit="systems"),
    ),
    entry=Entry(
        question="How much does a system gain if it re-ranks by the judge that scores it?",
        command="audit",
        group="labels",
        papers="[C24]_",
    ),
)
def circularity(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    scorers: Any = None,
    depth: int = 10,
    best: int = 10,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    missing: str = "unjudged",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> Circularity:
    """Re-rank runs by a judge's labels, and compute their gains under this judge, under other judges and under people.

    Each judge re-ranks every run: the first `depth` documents of a list are sorted by the judge's labels, the best
    label first; documents of one label stay in the order of the run, and those without a label keep their places. This
    is the best that a system can do that uses the same judge. Then every judge and people score the original and the
    re-ranked runs. If the judge's own scores rise more than those of people, the evaluation is circular: the system
    found what the judge prefers, not what people want.

    Returns:
        Circularity: ``.table`` (gains, per judge and scorer), ``.rankings`` (tau_b with people), ``.by_run``,
        ``.report()``, ``.plot()``.

    Raises:
        InputError: a judge without labels for these documents, judges without a common topic, a scorer with the name of
            a judge, an unknown measure.

    Warns:
        ReuseWarning: topics in which a judge labelled nothing, which are left out for all; fewer than five topics, also
            in ``settings["beware"]``; a measure that counts labels as relevant that are not relevant for people; a
            `rel` above every label of people. Also a field of one run.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> noisy = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.25, range(3)), seed=1, name="noisy")
        >>> found = ptr.labels.circularity(field.runs, field.qrels, noisy, "nDCG@10", resamples=200)
        >>> found.table[["judge", "scorer", "mean_gain", "reranked_in_best"]]
           judge  scorer  mean_gain  reranked_in_best
        0  noisy  people   0.044355                 6
        1  noisy   noisy   0.100913                 9

    Source: Clarke and Dietz 2024, LLM-based relevance assessment still can't replace human relevance assessment,
    https://arxiv.org/abs/2412.17156. They let all systems of a track re-rank by the judge; here this is the field
    ``"re-ranked"`` of ``.rankings``.
    """
    asked = _Asked(circularity, locals())
    rerankers, bootstrap = [one.name for one in asked.rerankers], asked.bootstrap
    family_of = {one.name: one.family for one in asked.judges}
    labels = _CommonLabels.of(asked)
    asked.tell(asked.label_caveats(len(labels.people.topics)))
    before = {scorer: asked.scored(qrels) for scorer, qrels in labels.scoring.items()}
    rows: list[dict[str, Any]] = []
    ranked: list[dict[str, Any]] = []
    by_run: list[pd.DataFrame] = []
    for name in rerankers:
        reranked = rerank_by_labels(asked.runs, labels.own[name], depth)
        after = {scorer: asked.scored(qrels, reranked) for scorer, qrels in labels.scoring.items()}
        for measure in before[PEOPLE].measures:
            sides = {
                scorer: BeforeAfter(scores.topic_means[measure], after[scorer].topic_means[measure])
                for scorer, scores in before.items()
            }
            people = sides[PEOPLE]
            for scorer, side in sides.items():
                about: dict[str, Any] = {"judge": name, "family": family_of[name], "scorer": scorer}
                about |= {"measure": measure, "same": scorer == name}
                rows.append({**about, **side.numbers(None if side is people else people, best, bootstrap)})
                by = {column: about[column] for column in ("judge", "scorer", "measure")}
                by_run.append(under(by, side.by_run(asked.runs.run_table)))
                if side is not people:
                    with located(f"{name}, scored by {scorer}, {measure}"):
                        for kind in FIELDS:
                            taus = tau_numbers(people.of(kind), side.of(kind), best, bootstrap)
                            ranked.append({**about, "field": kind, **taus})
    return Circularity(
        table=with_names(rows),
        settings=asked.settings(
            **{
                "re-ranked": f"the first {count(depth, 'document')} of each list by the judge's labels, best first, "
                "ties as in the run, documents without a label in their places"
            },
            topics=len(labels.people.topics),
            best=best,
            **_interval_words(bootstrap),
        ),
        rankings=with_names(ranked),
        by_run=pd.concat(by_run, ignore_index=True),
        depth=depth,
        best=best,
    )


def _interval_words(bootstrap: TopicBootstrap | None) -> dict[str, str]:
    words = "of gains t intervals from the same draws; the best systems are those of all topics"
    return {"intervals": f"of tau_b {bootstrap.words()}; {words}"} if bootstrap else {}
