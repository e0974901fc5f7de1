"""Relevant density: the share of judged documents that are relevant, by topic and by round of judging."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels, check_not_empty, relevant_from
from pt_reuse.errors import InputError, count, located
from pt_reuse.inputs import Inputs
from pt_reuse.options import Flag, Option
from pt_reuse.plots.bars import plot_density
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.depth import checked_depths, pool_to_depth
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import KeyFigures, Result
from pt_reuse.scoring.caveats import beware, grade_unstated, none_relevant, relevant_only
from pt_reuse.study import study

#: what a single round is called, and the one after all pools
_ALL = "all judgments"


def _draw(result: Density, _: None, place: Place) -> Axes:
    names = result.summary["round"].tolist()
    return plot_density(result.rounds, result.table, first_said=names[0], last_said=names[-1], place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Density(Result):
    """Which share of the judged documents of each topic is relevant, after each round of judging.

    Attributes:
        rel: the lowest label that counts as relevant.
    """

    title = "Relevant density"
    valid_for = "these rounds: {rounds}; relevant: {relevant}; density is relevant / judged."
    not_covered = "relevant documents that are not judged."
    plots = {"density": _draw}
    key = (KeyFigures(("mean_density", "largest_density", "above_third", "above_half"), "summary", last=True),)
    columns = """
    round        | Round          |       | the round of judging
    topics       | Topics         | count | topics with a judgment by then, over which means are
    density      | Density        | score | relevant / judged, NaN where nothing is judged
    above_third  | Above 1/3      | count | whether the density is larger than 1/3, or on how many topics it is
    above_half   | Above 1/2      | count | the same of 1/2
    largest      | Largest        | score | the density after the round in which it was largest
    knee         | Knee           |       | the round from which on judging found fewer relevant documents, else None
    slope_ratio  | Slope ratio    | tenths | the density until the knee over that of what was judged later
    new_judged   | New            | count | judged in this round alone
    judgments    | Judgments      | count | judged documents, of this round and all before it
    per_topic    | Per topic      | tenths | the same per topic
    mean_density | Mean density   | score | the mean density
    largest_density | Largest density | score | the largest density of a topic
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "topic, after the last round",
            "qid* judged* relevant* density* above_third above_half largest knee* slope_ratio*",
            descending=("density",),
        ),
    ]
    rounds: Annotated[
        pd.DataFrame,
        Table(
            "topic and round, of this round and all before it",
            "qid round judged relevant density new_judged new_relevant",
        ),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "round, with all before it",
            "round* topics judgments* per_topic* relevant* mean_density largest_density above_third* above_half*",
        ),
    ]
    rel: int

    def answers(self) -> list[str]:
        """Return on how many topics the density is above 1/3 and 1/2 at the end, the mean and the largest."""
        end, n = self.summary.iloc[-1], count(len(self.table), "topic")
        if not end["topics"]:
            return [f"Nothing is judged on {n}"]
        above = f"{end['above_third']} of {n} have a relevant density above 1/3, {end['above_half']} above 1/2"
        return [f"{above}; mean {end['mean_density']:.4f}, largest {end['largest_density']:.4f}"]


@study(
    Option(
        name="rounds",
        flag=Flag(help="judgment files of several rounds, in place of --qrels", metavar="FILES", kind="rounds"),
    ),
    question="Are there too many relevant documents to judge all?",
    command="profile density",
    aim="fair",
    summary="the share of judged documents that are relevant, by topic",
    details="Above 1/3, unjudged documents should not be assumed to be not relevant.",
    group="profile",
    papers="[V22b]_",
    runs_for=("depths",),
    screen=("summary", "table"),
)
def density(
    qrels: Annotated[
        Any,
        Option(
            "the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`; or the sets of several "
            "rounds, a list of Qrels, frames or files, or a dict of name -> one of these. A set may hold what was "
            "judged in its round, or all that was judged by then."
        ),
    ],
    *,
    runs: Annotated[Any, Option("the field whose pools are the rounds, in any form, see :doc:`runs`.")] = None,
    depths: Annotated[
        Any,
        Option(
            "of these pools, one or several; default the one on record for the collection, else 100.",
            check=checked_depths,
            flag=Flag(help="depths of pools of the runs, in place of rounds", metavar="LIST", kind="counts"),
        ),
    ] = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
) -> Density:
    """Compute the share of judged documents that are relevant, by topic and by round of judging.

    The relevant density of a topic is relevant / judged. If it stays above 1/3, unjudged documents must not be assumed
    to be not relevant; if it stays above 1/2, more judged documents are relevant than not.

    The rounds are those of the judgments (a list of sets, or their column ``round``), or of pools judged one after the
    other, of `runs` to several `depths`. If pools do not contain all judgments, a last round is *all judgments*.

    The *knee* of a topic is the round whose share of the relevant documents exceeds its share of the judged ones by
    most, and the slope ratio (relevant / judged) until then over (1 + relevant) / judged since then. Cormack and
    Grossman end a search from a ratio of 156 - min(relevant, 150) on.

    Raises:
        InputError: rounds given in two ways, a document with two labels in two rounds, an unknown run or an invalid
            depth, options of pools of runs without runs, runs without any topic of the judgments.

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
    """
    sets, pooled = _sets_of_rounds(qrels), None
    if runs is not None and sets is not None:
        what = "qrels= and runs= both say which rounds there were. Give one of them."
        raise InputError(what, argument="runs")
    if runs is not None:
        inputs = Inputs.read(runs, qrels, (), rel)
        pooled = inputs.pooled(None, contributors, pool_order)
        wanted = depths or [pooled.depth]
        pools = (pool_to_depth(pooled.ranked, depth, pooled.contributors) for depth in wanted)
        rounds = _of_pools(inputs.qrels, [f"depth-{depth} pool" for depth in wanted], pools)
    else:
        named = None if isinstance(contributors, str) and contributors == "pooled" else contributors
        for name, given in {"depths": depths, "contributors": named, "pool_order": pool_order}.items():
            if given is not None:
                raise InputError(f"{name} says how runs are pooled. Give runs= as well.", argument=name)
        rounds = _of_column(as_qrels(qrels)) if sets is None else _of_sets(sets)
        beware(relevant_only(rounds.qrels), grade_unstated(rounds.qrels, rel))
    check_not_empty(rounds.qrels)
    lowest = relevant_from(rounds.qrels, rel)
    beware(none_relevant(rounds.qrels, lowest))
    by_round = _counts(rounds, lowest)
    who = {} if pooled is None else {"contributors": str(pooled.contributors), "pool order": pooled.ranked.order}
    words = {"relevant": f"label of at least {lowest}", "judged": "label of at least 0", "rounds": rounds.origin}
    return Density(
        table=_topics(by_round),
        rounds=by_round,
        summary=_summary(by_round, rounds.names),
        rel=lowest,
        settings={**words, **who},
    )


class _Rounds(NamedTuple):
    """Judgments, and in which round each document was first judged."""

    qrels: Qrels  # the judgments of all rounds
    names: list[str]  # of the rounds, in order
    of_row: NDArray[np.int64]  # (judgments,) the round of each, as a position among the names
    origin: str  # what says which rounds there were


def _of_column(qrels: Qrels) -> _Rounds:
    """Return the rounds of the column ``round``, ascending; judgments without one come first."""
    extra = qrels.arrays.extra
    if extra is None or "round" not in extra:
        return _Rounds(qrels, [_ALL], np.zeros(len(qrels), dtype=np.int64), "one round")
    codes, values = pd.factorize(extra["round"])
    # a column with gaps holds whole numbers as 1.0
    names = [f"{v:.0f}" if isinstance(v, float) and v.is_integer() else str(v) for v in values]
    # numbers in texts by value: ten comes after nine; the parts are texts and digits in turn
    parts = [[int(part) if n % 2 else part for n, part in enumerate(re.split("([0-9]+)", name))] for name in names]
    numeric = pd.api.types.is_numeric_dtype(extra["round"])
    order = sorted(range(len(values)), key=values.__getitem__ if numeric else parts.__getitem__)
    codes, names = np.append(np.argsort(order), -1)[codes], [names[at] for at in order]
    if (codes < 0).any():
        codes, names = codes + 1, ["no round given", *names]
    return _Rounds(qrels, names, codes, "column round")


def _of_sets(sets: Mapping[str, Any]) -> _Rounds:
    """Return the rounds of several sets of judgments, each made in a round, or all that was made by then."""
    read: dict[str, Qrels] = {}
    for name, given in sets.items():
        with located(name):
            read[name] = as_qrels(given)
    whole, *others = read.values()
    for name, qrels in zip([*read][1:], others, strict=True):
        with located(name):
            whole = whole.union(qrels)
    judged = [qrels.arrays.labels_of(whole.arrays.documents) >= 0 for qrels in read.values()]
    # what no set judges counts with the last one
    of_row = np.argmax([*judged[:-1], np.ones(len(whole), dtype=bool)], axis=0)
    return _Rounds(whole, list(read), of_row, "sets of judgments")


def _of_pools(qrels: Qrels, names: list[str], pools: Iterable[Pool]) -> _Rounds:
    """Return rounds as if each pool had been judged after the one before, and then all else."""
    held = [pool.documents.find(qrels.arrays.documents) >= 0 for pool in pools]
    of_row = np.argmax([*held, np.ones(len(qrels), dtype=bool)], axis=0)
    if (of_row[qrels.arrays.labels >= 0] == len(names)).any():
        names = [*names, _ALL]
    return _Rounds(qrels, names, np.minimum(of_row, len(names) - 1), "pools of the runs")


def _counts(rounds: _Rounds, lowest: int) -> pd.DataFrame:
    """Return one row per topic and round, ``qid round judged relevant density new_judged new_relevant``."""
    labels, documents = rounds.qrels.arrays.labels, rounds.qrels.arrays.documents
    shape = len(documents.topics), len(rounds.names)
    cell = documents.topic * shape[1] + rounds.of_row
    new = [np.bincount(cell[rows], minlength=shape[0] * shape[1]) for rows in (labels >= 0, labels >= lowest)]
    judged, relevant = (counts.reshape(shape).cumsum(axis=1).ravel() for counts in new)
    return pd.DataFrame(
        {
            "qid": np.repeat(np.array([*documents.topics, None], dtype=object)[:-1], shape[1]),
            "round": np.tile(np.array(rounds.names, dtype=object), shape[0]),
            "judged": judged,
            "relevant": relevant,
            "density": np.divide(relevant, judged, out=np.full(len(judged), np.nan), where=judged > 0),
            "new_judged": new[0],
            "new_relevant": new[1],
        }
    )


def _sets_of_rounds(given: Any) -> dict[str, Any] | None:
    """Return the judgments of each round by name, where somebody gives several sets; None where it is one set."""
    sets = {f"round {n}": judged for n, judged in enumerate(given, 1)} if isinstance(given, list | tuple) else given
    # a file by its path; tuples and mappings are parts of one set
    kinds = (Qrels, pd.DataFrame, str, os.PathLike)
    if not isinstance(sets, Mapping) or not sets or not all(isinstance(judged, kinds) for judged in sets.values()):
        return None
    return {str(name): judged for name, judged in sets.items()}


def _topics(rounds: pd.DataFrame) -> pd.DataFrame:
    """Return the end of each topic, after which round the density of what is added is smaller, and how much."""
    by_topic = rounds.groupby("qid", sort=False)
    table = by_topic[["judged", "relevant", "density"]].nth(-1).reset_index(drop=True)
    table.insert(0, "qid", rounds["qid"].drop_duplicates().tolist())
    n_topics = len(table)
    # every topic has a row for each round
    judged, relevant, names = (rounds[c].to_numpy().reshape(n_topics, -1) for c in ("judged", "relevant", "round"))
    # what is above the line from nothing to the end, exactly, in units of relevant times judged
    above = relevant * judged[:, -1:] - judged * relevant[:, -1:]
    at, topics = np.argmax(above, axis=1), np.arange(n_topics)
    has = above[topics, at] > 0
    before, after = judged[topics, at], judged[:, -1] - judged[topics, at]
    earlier, later = relevant[topics, at], relevant[:, -1] - relevant[topics, at]
    return table.assign(
        above_third=3 * table["relevant"] > table["judged"],
        above_half=2 * table["relevant"] > table["judged"],
        largest=by_topic["density"].max().to_numpy(dtype=float),
        knee=pd.Series(np.where(has, names[topics, at], None), dtype=object),
        slope_ratio=np.divide(earlier * after, before * (1 + later), out=np.full(n_topics, np.nan), where=has),
    )


def _summary(rounds: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    third, half = (factor * rounds["relevant"] > rounds["judged"] for factor in (3, 2))
    by_round = rounds.assign(some=rounds["judged"] > 0, third=third, half=half).groupby("round", sort=False)
    summary = by_round.agg(
        topics=("some", "sum"),
        judgments=("judged", "sum"),
        relevant=("relevant", "sum"),
        mean_density=("density", "mean"),
        largest_density=("density", "max"),
        above_third=("third", "sum"),
        above_half=("half", "sum"),
    ).reindex(names)
    summary.insert(2, "per_topic", summary["judgments"] / summary["topics"].replace(0, np.nan))
    return summary.reset_index(names="round")
