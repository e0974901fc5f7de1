"""saturation: topics on which so many runs have the highest score that they tell runs apart no more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
import pandas as pd
from ir_measures import P
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.columns import Table
from pt_reuse.errors import InputError, count, fraction, number, shown
from pt_reuse.inputs import settings_of
from pt_reuse.plots.bars import plot_saturation
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import BEWARE, Caveat, beware, usual_measures
from pt_reuse.scoring.scores import Scores
from pt_reuse.study import study


def _draw(result: Saturation, measure: str, place: Place) -> Axes:
    rows, values = result.table[result.table["measure"] == measure], _by_topic(result.scores, measure)
    return plot_saturation(rows, values, measure=measure, maximum=result.maximum, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Saturation(Result):
    """How the scores of the runs are distributed on each topic, and on which topics they are at the top.

    Its figure has a box for each topic, the highest median on the right. Source: Voorhees, Craswell and Lin 2022,
    figures 2 and 7.

    Attributes:
        scores: what was looked at.
        maximum: the highest possible score.
        share: what share of it is near it.
    """

    title = "Saturation"
    answer = ("summary", "{measure}: {saturated} of {topics:topic} saturated, {near} at least nearly")
    key = "saturated near mean_median"
    valid_for = "runs: {runs}; saturated: a median score of {maximum:g}; nearly: {near}."
    not_covered = "whether better runs or another measure could be told apart on these topics."
    plots = {"saturation": _draw}
    columns = """
    runs          | Runs          | count | how many runs have a score there
    mean          | Mean          | score | mean score of the runs
    median        | Median        | score | their median score
    low_quartile  | Low quartile  | score | their lower quartile
    high_quartile | High quartile | score | their upper quartile
    lowest        | Lowest        | score | the lowest score
    highest       | Highest       | score | the highest score
    at_maximum    | Runs at the maximum | count | how many runs have the highest possible score
    saturated     | Saturated     | count | whether the median is the highest possible score, or on how many topics
    near          | Nearly        | count | the same of a median of at least `share` of it
    mean_median   | Mean median   | score | the mean of the medians
    saturated_topics | Saturated topics | | their names, separated by spaces
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and topic",
            "measure qid* runs mean median* low_quartile* high_quartile* lowest highest* at_maximum* saturated near",
            descending=("median", "mean"),
            noun="topics",
        ),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table("measure", "measure* topics* saturated* near* mean_median* saturated_topics", noun="measures"),
    ]
    scores: Scores
    maximum: float
    share: float


@study(
    options.PRECISION_AND_GAIN,
    question="Which topics are too easy?",
    command="profile saturation",
    aim="fair",
    summary="topics on which most runs have the highest score",
    details="That is where the median score over the runs is the highest possible one.",
    group="profile",
    papers="[V22b]_",
    measures=partial(usual_measures, binary=P @ 10),
)
def saturation(
    scores: Annotated[
        Scores,
        options.Option(
            "what :func:`score` returned, of any runs and measures. A run that lacks a topic counts 0 there, or not at "
            "all where the scores are over the topics that a run has (``complete=False``)."
        ),
    ],
    *,
    share: Annotated[
        float,
        options.Option(
            "of the highest possible score from which a median is near it, from 0 to 1.",
            check=partial(fraction, "share"),
            flag=options.Flag(metavar="S", kind="float"),
        ),
    ] = 0.9,
    maximum: Annotated[
        float,
        options.Option(
            "the highest possible score of the measures; 1 for those of precision and gain. On a topic with fewer than "
            "k relevant documents no run can reach 1 by ``P@k``: such a topic is never saturated.",
            check=partial(number, "maximum"),
            flag=options.Flag(metavar="M", kind="float"),
        ),
    ] = 1.0,
) -> Saturation:
    """Find the topics on which most runs have the highest score, so that the topic no longer distinguishes runs.

    A topic is *saturated* under a measure if the median score over the runs is the highest possible one: at least half
    of the runs cannot be improved there. It is *near* saturation if the median is at least `share` of it.

    Raises:
        InputError: anything but Scores, an invalid share, a score above the maximum.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = saturation(ptr.score(field.runs, field.qrels, ["P@5", "AP"]))
        >>> found.summary[["measure", "topics", "saturated", "near"]]
          measure  topics  saturated  near
        0     P@5      25          4     8
        1      AP      25          0     0

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR. On TREC-8
    ad hoc the median ``P@10`` of 129 runs is 1 on 1 topic of 50, and at least .9 on 5.
    """
    if not isinstance(scores, Scores):
        raise InputError(f"scores must be Scores, as score returns them, got {shown(scores)}.", argument="scores")
    for name, values in zip(scores.measures, scores.values, strict=True):
        if round(highest := float(values.max(initial=0.0)), DECIMALS) > maximum:
            raise InputError(f"{name} has a score of {highest:g}, above {maximum:g}. See maximum=.", argument="maximum")
    if len(runs := scores.names) < 5:
        beware([Caveat(f"{count(len(runs), 'run')} only", "the median of so few runs says little of a topic.")])
    rows, ends = [], ("lowest", "low_quartile", "median", "high_quartile", "highest")
    for measure in scores.measures:
        for qid, values in zip(scores.topics, _by_topic(scores, measure), strict=True):
            n = len(values)
            quantiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist() if n else [np.nan] * 5
            of = dict(zip(ends, quantiles, strict=True))
            row = {"measure": measure, "qid": qid, "runs": n, "mean": float(values.mean()) if n else np.nan}
            row |= {name: of[name] for name in ("median", "low_quartile", "high_quartile", "lowest", "highest")}
            median = round(of["median"], DECIMALS)
            row |= {"at_maximum": int((np.round(values, DECIMALS) >= maximum).sum()), "saturated": median >= maximum}
            rows.append({**row, "near": median >= round(share * maximum, DECIMALS)})
    table = pd.DataFrame(rows)
    by_measure = table.groupby("measure", sort=False)
    summary = by_measure.agg(
        topics=("qid", "size"), saturated=("saturated", "sum"), near=("near", "sum"), mean_median=("median", "mean")
    ).reset_index()
    summary["saturated_topics"] = [" ".join(rows["qid"][rows["saturated"]]) for _, rows in by_measure]
    lacking = "a run that lacks a topic counts 0 there" if scores.complete else "a run counts on the topics it has"
    settings = settings_of(
        {name: value for name, value in scores.settings.items() if name != BEWARE},
        maximum=f"{maximum:g}",
        near=f"a median of at least {share * maximum:g}",
        runs=f"{len(runs):,}; {lacking}",
        ties=f"scores equal to {DECIMALS} decimals",
    )
    return Saturation(table=table, summary=summary, scores=scores, maximum=maximum, share=share, settings=settings)


def _by_topic(scores: Scores, measure: str) -> list[NDArray[np.float64]]:
    values = scores.values[scores.measures.index(measure)]
    return [row if scores.complete else row[has] for row, has in zip(values, scores.has_topic, strict=True)]
