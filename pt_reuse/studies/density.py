"""Relevant density: the share of judged documents that are relevant, by topic and by round of judging."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse._report import Digits
from pt_reuse.data.judgments import as_qrels, check_not_empty, relevant_from
from pt_reuse.errors import InputError
from pt_reuse.options import Flag, Parameter
from pt_reuse.plots.topics import plot_density
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import grade_unstated, none_relevant, noted, relevant_only
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.judging_rounds import JudgingRounds, checked_depths, pools_by_name, sets_of_rounds
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place


def _draw(result: Density, _: None, place: Place) -> Axes:
    """Draw the relevant density of each topic after each round, with lines at 1/3 and 1/2."""
    names = result.summary["round"].tolist()
    return plot_density(result.rounds, result.table, first_said=names[0], last_said=names[-1], place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Density(Result):
    """Which share of the judged documents of each topic is relevant, after each round of judging.

    Its figure has an upright line per topic, from its lowest to its highest density, the densest topic on the right,
    with a ring after the first round, a small point after each further one and a large one at the end. Source:
    Voorhees, Craswell and Lin 2022, figure 1 and table 1.

    Attributes:
        table: one row per topic, after the last round: ``qid judged relevant density``, NaN where nothing is judged;
            ``above_third above_half``, whether the density is larger than 1/3, than 1/2; ``largest``, the density after
            the round in which it was largest; ``knee``, the round from which on judging found fewer relevant documents,
            None where it did not, and ``slope_ratio``, the density until then over that of what was judged later, see
            :func:`density`.
        rounds: one row per topic and round: ``qid round judged relevant density``, of this round and all before it, and
            ``new_judged new_relevant``, of this round alone.
        summary: one row per round, that round and all before it: ``round topics judgments per_topic relevant
            mean_density largest_density above_third above_half``. ``topics`` are those with a judgment by then, over
            which the means are; the last two count topics.
        rel: the lowest label that counts as relevant.
    """

    title = "Relevant density"
    condition = "It holds for these rounds: {rounds}; relevant: {relevant}; density is relevant / judged."
    limit = "It does not say how many relevant documents nobody judged."
    views = {
        "round": View(
            table="summary",
            columns=(
                Shown("Judgments", "round"),
                Shown("Number", "judgments", Digits.COUNT),
                Shown("Per topic", "per_topic", Digits.TENTHS),
                Shown("Relevant", "relevant", Digits.COUNT),
                Shown("Above 1/3", "above_third", Digits.COUNT),
                Shown("Above 1/2", "above_half", Digits.COUNT),
            ),
            caption="Judgments by round, each with all before it, and how many topics have a relevant density "
            "(relevant / judged) above 1/3 and 1/2.",
            noun="rounds",
        ),
        "topic": View(
            columns=(
                Shown("Topic", "qid"),
                Shown("Judged", "judged", Digits.COUNT),
                Shown("Relevant", "relevant", Digits.COUNT),
                Shown("Density", "density", Digits.SCORE),
                Shown("Largest", "largest", Digits.SCORE),
            ),
            caption="Relevant densities of {rows} topics, relevant / judged, the densest first; largest is the density "
            "after the round in which it was largest.",
            descending=("density",),
            noun="topics",
        ),
        "knee": View(
            columns=(
                Shown("Topic", "qid"),
                Shown("Knee", "knee"),
                Shown("Slope ratio", "slope_ratio", Digits.TENTHS),
                Shown("Relevant", "relevant", Digits.COUNT),
                Shown("Density", "density", Digits.SCORE),
            ),
            caption="After which round judging found fewer relevant documents, and how many times as few, on {rows} "
            "topics; a search may end from a ratio of 156 on, less one for each relevant document up to 150.",
            descending=("slope_ratio",),
            noun="topics",
        ),
    }
    plots = {"density": _draw}
    key = (
        KeyFigures(
            ("mean_density", "largest_density", "above_third", "above_half", "judgments", "relevant"),
            "summary",
            last=True,
        ),
    )

    rounds: pd.DataFrame
    summary: pd.DataFrame
    rel: int

    def headline(self) -> str:
        """Return the largest and the mean density at the end, and how many topics are above 1/3 and 1/2."""
        end = self.summary.iloc[-1]
        found = "nothing judged"
        if end["topics"]:
            found = f"largest density {end['largest_density']:.3f}, mean {end['mean_density']:.3f}"
        return (
            f"{count(len(self.table), 'topic')}, {found}, {end['above_third']} above 1/3, {end['above_half']} above 1/2"
        )


@study(
    Parameter(
        name="rounds",
        flag=Flag(
            help="comma-separated judgment files of several rounds, in order, in place of --qrels",
            metavar="FILES",
            kind="rounds",
        ),
    ),
    Parameter(
        name="qrels",
        meaning="the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`; or the sets of several "
        "rounds, a list of Qrels, frames or files, or a dict of name -> one of these. A set may hold what was judged "
        "in its round, or all that was judged by then.",
    ),
    Parameter(name="runs", meaning="the field whose pools are the rounds, in any form, see :doc:`runs`."),
    Parameter(
        name="depths",
        meaning="of these pools, one or several; default the one on record for the collection, else 100.",
        check=checked_depths,
        flag=Flag(
            help="comma-separated depths of pools of the runs, in place of rounds; needs --runs or --collection",
            metavar="LIST",
            kind="counts",
        ),
    ),
    Parameter(name="pools", meaning="the pools instead, a list or a dict of name -> pool.", check=pools_by_name),
    Parameter(
        name="by",
        meaning='the column of the judgments that says in which round each was made; default ``"round"`` where there '
        "is one.",
    ),
    command=Command(
        name="profile density",
        summary="the share of judged documents that are relevant, by topic",
        details="The relevant density of a topic is relevant / judged. Above 1/3, unjudged documents should not be "
        "assumed to be not relevant; above 1/2, most judged documents are relevant. The rounds of judging are those "
        "of --rounds, those of a column of the judgments, or pools of --depths.",
        runs_for=("depths",),
    ),
    entry=Entry(question="Are there too many relevant documents to judge all?", group="profile", papers="[V22b]_"),
)
def density(
    qrels: Any,
    *,
    runs: Any = None,
    depths: int | Iterable[int] | None = None,
    pools: Sequence[Pool] | Mapping[str, Pool] | None = None,
    by: str | None = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
) -> Density:
    """Compute the share of judged documents that are relevant, by topic and by round of judging.

    The relevant density of a topic is relevant / judged. If it stays above 1/3, unjudged documents must not be assumed
    to be not relevant; if it stays above 1/2, more judged documents are relevant than not.

    The rounds are those of the judgments (a list of sets, or a column), or of pools judged one after the other: of
    `runs` to several `depths`, or `pools` of any kind. If pools do not contain all judgments, a last round is *all
    judgments*.

    The *knee* of a topic is the round whose share of the relevant documents exceeds its share of the judged ones by
    most, and the slope ratio (relevant / judged) until then over (1 + relevant) / judged since then. Cormack and
    Grossman end a search from a ratio of 156 - min(relevant, 150) on, which is 6 only from 150 relevant documents on. A
    topic without a knee found relevant documents as often at the end as at the beginning.

    Returns:
        Density: ``.table`` (per topic), ``.rounds``, ``.summary`` (per round), ``.plot()``.

    Raises:
        InputError: rounds given in two ways, a column that the judgments do not have, a document with two labels in two
            rounds, an unknown run or an invalid depth, options of pools of runs without runs, runs or a pool without
            any topic of the judgments.

    Warns:
        ReuseWarning: judgments of relevant documents only, so that every density is 1; no relevant judgment, so that
            every density is 0.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = density(field.qrels, runs=field.runs, depths=[1, 5])
        >>> found.summary[["round", "topics", "judgments", "relevant", "above_third"]]
                   round  topics  judgments  relevant  above_third
        0   depth-1 pool      25        127        89           25
        1   depth-5 pool      25        450       256           24
        2  all judgments      25        894       387           20

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR, section 4;
    the knee, Cormack and Grossman, Engineering quality and reliability in technology-assisted review, SIGIR 2016.
    On the passages of Deep Learning 2021 (relevant from label 2) 10 topics are above 1/2 and 19 above 1/3 after the
    depth-10 pool, 9 and 23 at the end.
    """
    asked = Asked(density, locals())
    sets = sets_of_rounds(qrels)
    _check_one_way(sets is not None, runs, pools, by)
    if runs is None:
        named_runs = None if isinstance(contributors, str) and contributors == "pooled" else contributors
        _check_no_pools(depths=depths, contributors=named_runs, pool_order=pool_order)
    settings: dict[str, Any] = {}
    if sets is not None:
        rounds = JudgingRounds.of_sets(sets)
    elif runs is not None:
        contributing, judged = asked.contributors, asked.qrels
        wanted = [asked.depth.value] if depths is None else asked["depths"]
        rounds = JudgingRounds.of_depths(judged, asked.ranked, wanted, contributing)
        settings = {"contributors": str(contributing), "pool order": asked.ranked.order}
    elif pools is not None:
        rounds = JudgingRounds.of_pools(as_qrels(qrels), asked["pools"])
    else:
        rounds = JudgingRounds.of_column(as_qrels(qrels), by)
    check_not_empty(rounds.qrels)
    lowest = relevant_from(rounds.qrels, asked["rel"])
    asked.tell(
        grade_unstated(rounds.qrels, asked["rel"]),
        none_relevant(rounds.qrels, lowest),
        relevant_only(rounds.qrels) if runs is None else (),
    )
    by_round = rounds.counts(lowest)
    return Density(
        table=_topics(by_round),
        rounds=by_round,
        summary=_summary(by_round, rounds.names),
        rel=lowest,
        settings={
            "relevant": f"label of at least {lowest}",
            "judged": "label of at least 0",
            "rounds": rounds.origin,
            **settings,
            **noted(asked.caveats),
        },
    )


def _check_one_way(sets: bool, runs: Any, pools: Any, by: Any) -> None:
    ways = {"qrels": "several sets of judgments", "runs": "pools of runs", "pools": "pools", "by": "a column"}
    given = {"qrels": sets, "runs": runs is not None, "pools": pools is not None, "by": by is not None}
    both = [name for name, is_given in given.items() if is_given]
    if len(both) > 1:
        raise InputError(
            f"the rounds are given in two ways, by {ways[both[0]]} ({both[0]}) and by {ways[both[1]]} ({both[1]}). "
            "Give one of them.",
            argument=both[1],
        )


def _check_no_pools(**given: Any) -> None:
    """Raise where somebody says how runs are pooled, and gives no runs."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} says how runs are pooled. Give the runs as well.", argument=name)


def _topics(rounds: pd.DataFrame) -> pd.DataFrame:
    by_topic = rounds.groupby("qid", sort=False)
    table = by_topic[["judged", "relevant", "density"]].nth(-1).reset_index(drop=True)
    table.insert(0, "qid", rounds["qid"].drop_duplicates().tolist())
    return table.assign(
        above_third=3 * table["relevant"] > table["judged"],
        above_half=2 * table["relevant"] > table["judged"],
        largest=by_topic["density"].max().to_numpy(dtype=float),
        **_knees(rounds, len(table)),
    )


def _knees(rounds: pd.DataFrame, n_topics: int) -> dict[str, Any]:
    """Return (topics,) after which round the density of what is added is smaller than before, and how much."""
    # every topic has a row for each round
    judged, relevant = (rounds[name].to_numpy().reshape(n_topics, -1) for name in ("judged", "relevant"))
    names = rounds["round"].to_numpy().reshape(n_topics, -1)
    # what is above the line from nothing to the end, exactly, in units of relevant times judged
    above = relevant * judged[:, -1:] - judged * relevant[:, -1:]
    at, topics = np.argmax(above, axis=1), np.arange(n_topics)
    has = above[topics, at] > 0
    before, after = judged[topics, at], judged[:, -1] - judged[topics, at]
    found, later = relevant[topics, at], relevant[:, -1] - relevant[topics, at]
    ratio = np.divide(found * after, before * (1 + later), out=np.full(n_topics, np.nan), where=has)
    knee = pd.Series(np.where(has, names[topics, at], None), dtype=object)
    return {"knee": knee, "slope_ratio": ratio}


def _summary(rounds: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    third, half = (factor * rounds["relevant"] > rounds["judged"] for factor in (3, 2))
    by_round = rounds.assign(some=rounds["judged"] > 0, third=third, half=half).groupby("round", sort=False)
    found = by_round.agg(
        topics=("some", "sum"),
        judgments=("judged", "sum"),
        relevant=("relevant", "sum"),
        mean_density=("density", "mean"),
        largest_density=("density", "max"),
        above_third=("third", "sum"),
        above_half=("half", "sum"),
    ).reindex(list(names))
    found.insert(2, "per_topic", found["judgments"] / found["topics"].replace(0, np.nan))
    return found.reset_index(names="round")
