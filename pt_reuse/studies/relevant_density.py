"""Relevant density: which share of what was judged is relevant, topic by topic, and how it went as judging went on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import Argument, InputError, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse.data.judgments import as_qrels, checked_rel, relevant_from
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import depth_of
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, Caveat, noted, tell
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.judging_rounds import JudgingRounds, checked_depths, pools_by_name, sets_of_rounds
from pt_reuse.studies.relevant_documents import found_none

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: the numbers that sum a result up
KEY_FIGURES = ("mean_density", "largest_density", "above_third", "above_half", "judgments", "relevant")
_ROWS = ("round", "topic")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Density(Result):
    """Which share of the judged documents of each topic is relevant, after each round of judging.

    Attributes:
        table: one row per topic, after the last round: ``qid judged relevant density``, NaN where nothing is judged;
            ``above_third above_half``, whether the density is larger than 1/3, than 1/2; ``largest``, the density after
            the round in which it was largest.
        rounds: one row per topic and round: ``qid round judged relevant density``, of this round and all before it, and
            ``new_judged new_relevant``, of this round alone.
        summary: one row per round, that round and all before it: ``round topics judgments per_topic relevant
            mean_density largest_density above_third above_half``. ``topics`` are those with a judgment by then, over
            which the means are; the last two count topics.
        rel: the lowest label that counts as relevant.
    """

    title: ClassVar[str] = "Relevant density"

    rounds: pd.DataFrame
    summary: pd.DataFrame
    rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "rounds": self.rounds, "summary": self.summary}

    def key_figures(self) -> pd.DataFrame:
        """Return the densities and the flags after the last round, and how much was judged by then."""
        return key_figures_of(self.summary.tail(1), KEY_FIGURES)

    def headline(self) -> str:
        """Return the largest and the mean density at the end, and how many topics are above 1/3 and 1/2."""
        end = self.summary.iloc[-1]
        found = "nothing judged"
        if end["topics"]:
            found = f"largest density {end['largest_density']:.3f}, mean {end['mean_density']:.3f}"
        return (
            f"{count(len(self.table), 'topic')}, {found}, {end['above_third']} above 1/3, {end['above_half']} above 1/2"
        )

    @door
    def report(self, by: str = "round") -> Report:
        """Return what a paper prints: the judgments after each round, or the density of each topic.

        Args:
            by: the rows: each ``"round"`` (default) with its judgments, their number per topic, the relevant ones, and
                the topics above 1/3 and 1/2; or each ``"topic"``, the densest first.

        Source: Voorhees, Craswell and Lin 2022, table 1.
        """
        choice("by", by, _ROWS)
        notes = [
            f"A document is relevant from label {self.rel} on, judged with a label of at least 0.",
            *([f"Beware: {self.settings[BEWARE]}."] if BEWARE in self.settings else []),
        ]
        if by == "topic":
            rows = self.table.sort_values("density", ascending=False, kind="stable", na_position="last")
            return Report(
                [
                    Column("Topic", rows["qid"]),
                    Column("Judged", rows["judged"], Digits.COUNT),
                    Column("Relevant", rows["relevant"], Digits.COUNT),
                    Column("Density", rows["density"], Digits.SCORE),
                    Column("Largest", rows["largest"], Digits.SCORE),
                ],
                caption=f"Relevant densities of {count(len(rows), 'topic')}, relevant / judged, the densest first.",
                notes=[*notes, "Largest is the density after the round in which it was largest."],
            )
        rows = self.summary
        return Report(
            [
                Column("Judgments", rows["round"].str.capitalize()),
                Column("Number", rows["judgments"], Digits.COUNT),
                Column("Per topic", rows["per_topic"].round(1)),
                Column("Relevant", rows["relevant"], Digits.COUNT),
                Column("Above 1/3", rows["above_third"], Digits.COUNT),
                Column("Above 1/2", rows["above_half"], Digits.COUNT),
            ],
            caption=(
                f"Judgments of {count(len(self.table), 'topic')} by round, each with all before it, and how many "
                "topics have a relevant density (relevant / judged) above 1/3 and 1/2."
            ),
            notes=notes,
        )

    @door
    def plot(
        self,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw the relevant density of each topic after each round, with lines at 1/3 and 1/2.

        Args:
            ax: axes to draw into; default a new figure. This and the others are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: an upright line per topic, from its lowest to its highest density, the densest topic on the right; a
            ring after the first round, a small point after each further one, a large one at the end.

        Source: Voorhees, Craswell and Lin 2022, figure 1.
        """
        from pt_reuse.plots.run_scores import plot_density
        from pt_reuse.plots.sheet import Place

        names = self.summary["round"].tolist()
        return plot_density(
            self.rounds, self.table, first_said=names[0], last_said=names[-1], place=Place(ax, title, legend, width)
        )


@door
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
    """Say which share of the judged documents of each topic is relevant, and how it went round by round.

    The relevant density of a topic is relevant / judged. Where it stays above 1/3, the documents that nobody judged may
    not be taken for not relevant; where it stays above 1/2, more of what is judged is relevant than is not.

    The rounds are those of the judgments (a list of sets, or a column), or what pools would have had judged one after
    the other: of `runs` to several `depths`, or `pools` of any kind. After pools there is one more round, *all
    judgments*, where they leave some over.

    Args:
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`; or the sets of several
            rounds, a list of Qrels, frames or files, or a dict of name -> one of these. A set may hold what was judged
            in its round, or all that was judged by then.
        runs: the field whose pools are the rounds: a RunSet, a dict of run name -> results, or run files.
        depths: of these pools, one or several; default the one on record for the collection, else 100.
        pools: the pools instead, a list or a dict of name -> pool.
        by: the column of the judgments that says in which round each was made; default ``"round"`` where there is one.
        rel: the lowest label that is relevant; default what the judgments say (:attr:`Qrels.rel`), else 1.
        contributors: the runs that are pooled: ``"pooled"`` (default), ``"all"``, or run names.
        pool_order: the order in which the runs were pooled; default the one that the field knows of itself.

    Returns:
        Density: ``.table`` (per topic), ``.rounds``, ``.summary`` (per round), ``.plot()``.

    Raises:
        InputError: rounds given in two ways, a column that the judgments do not have, a document with two labels in two
            rounds, an unknown run or a depth that is none, options of pools of runs without runs, runs or a pool
            without any topic of the judgments.

    Warns:
        ReuseWarning: judgments of relevant documents only, of which every density is 1; no relevant judgment, of which
            every density is 0.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = density(field.qrels, runs=field.runs, depths=[1, 5])
        >>> found.summary[["round", "topics", "judgments", "relevant", "above_third"]]
                   round  topics  judgments  relevant  above_third
        0   depth-1 pool      25        127        89           25
        1   depth-5 pool      25        450       256           24
        2  all judgments      25        894       387           20

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR, section 4.
    On the passages of Deep Learning 2021 (relevant from label 2) 10 topics are above 1/2 and 19 above 1/3 after the
    depth-10 pool, 9 and 23 at the end.
    """
    checked_rel(rel)
    check_order_or_none("pool_order", pool_order)
    wanted = None if depths is None else checked_depths(depths)
    named = None if pools is None else pools_by_name(pools)
    sets = sets_of_rounds(qrels)
    _check_one_way(sets is not None, runs, named, by)
    if runs is None:
        named_runs = None if isinstance(contributors, str) and contributors == "pooled" else contributors
        _check_no_pools(depths=depths, contributors=named_runs, pool_order=pool_order)
    settings: dict[str, Any] = {}
    if sets is not None:
        rounds = JudgingRounds.of_sets(sets)
    elif runs is not None:
        field, qrels = as_runs_before(runs, qrels)
        chosen = contributors_of(field, contributors)
        qrels = as_qrels(qrels)
        check_topics(field, qrels)
        asked = [depth_of(field, None).value] if wanted is None else wanted
        rounds = JudgingRounds.of_depths(qrels, field, asked, contributors, pool_order)
        order = field.in_pool_order(pool_order).order
        settings = {"contributors": str(chosen), "pool order": order}
    elif named is not None:
        rounds = JudgingRounds.of_pools(as_qrels(qrels), named)
    else:
        rounds = JudgingRounds.of_column(as_qrels(qrels), by)
    lowest = relevant_from(rounds.qrels, rel)
    caveats = [*found_none(rounds.qrels, lowest), *_caveats(rounds)]
    tell(caveats)
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
            **noted(caveats),
        },
    )


def _check_one_way(sets: bool, runs: Any, pools: Any, by: Any) -> None:
    ways = {"qrels": "several sets of judgments", "runs": "pools of runs", "pools": "pools", "by": "a column"}
    given = {"qrels": sets, "runs": runs is not None, "pools": pools is not None, "by": by is not None}
    both = [name for name, is_given in given.items() if is_given]
    if len(both) > 1:
        raise InputError(
            f"the rounds are given in two ways, by {ways[both[0]]} (",
            Argument(both[0]),
            f") and by {ways[both[1]]} (",
            Argument(both[1]),
            "). Give one of them.",
            argument=both[1],
        )


def _check_no_pools(**given: Any) -> None:
    """Raise where somebody says how runs are pooled, and gives no runs."""
    for name, value in given.items():
        if value is not None:
            raise InputError(
                Argument(name), " says how ", Argument("runs"), " are pooled. Give the runs as well.", argument=name
            )


def _caveats(rounds: JudgingRounds) -> list[Caveat]:
    labels = rounds.qrels.arrays.labels
    judged = labels[labels >= 0]
    if not len(judged) or (judged == 0).any():
        return []
    n = len(judged)
    return [
        Caveat(
            "judgments of relevant documents only",
            (
                f"the judgments, {n:,}, are of relevant documents only, none has label 0. So every density is 1 (or "
                "the share of higher grades), and says nothing of how much was looked at.",
            ),
        )
    ]


def _topics(rounds: pd.DataFrame) -> pd.DataFrame:
    by_topic = rounds.groupby("qid", sort=False)
    table = by_topic[["judged", "relevant", "density"]].nth(-1).reset_index(drop=True)
    table.insert(0, "qid", rounds["qid"].drop_duplicates().tolist())
    return table.assign(
        above_third=3 * table["relevant"] > table["judged"],
        above_half=2 * table["relevant"] > table["judged"],
        largest=by_topic["density"].max().to_numpy(dtype=float),
    )


def _summary(rounds: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    rows = []
    for n, name in enumerate(names):
        at = rounds.iloc[n :: len(names)]
        topics, judged, relevant = int((at["judged"] > 0).sum()), int(at["judged"].sum()), int(at["relevant"].sum())
        rows.append(
            {
                "round": name,
                "topics": topics,
                "judgments": judged,
                "per_topic": judged / topics if topics else np.nan,
                "relevant": relevant,
                "mean_density": float(at["density"].mean()),
                "largest_density": float(at["density"].max()),
                "above_third": int((3 * at["relevant"] > at["judged"]).sum()),
                "above_half": int((2 * at["relevant"] > at["judged"]).sum()),
            }
        )
    return pd.DataFrame(rows)
