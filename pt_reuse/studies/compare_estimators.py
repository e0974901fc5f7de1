"""compare_estimators: what runs would score had they been pooled, and which estimator tells it best for this field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse import options
from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.columns import Table
from pt_reuse.data.units import Units, check_every_run_has
from pt_reuse.errors import InputError, choice, count, names, per_cent
from pt_reuse.inputs import Inputs, Pooled, settings_of
from pt_reuse.options import Flag, Option
from pt_reuse.plots.forests import plot_estimators
from pt_reuse.result import Result, cells, drawn_by_measure, records
from pt_reuse.scoring.caveats import beware, few_topics, usual_measures
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.studies.new_runs.estimators import ESTIMATORS, Cases, named_estimators
from pt_reuse.studies.new_runs.evidence import Evidence, LeaveOneOutSetting, signals_of
from pt_reuse.studies.new_runs.predictor import (
    Confidence,
    Corpus,
    Judge,
    PoolGap,
    Predicted,
    check_predicted,
    mean_of_units,
    rank_among,
    ranked_among,
)
from pt_reuse.study import study

#: the row of the estimator that is best for the other units, whichever that is
CHOSEN = "chosen"
#: what figures call estimators whose names do not say what they do
_IN_WORDS = {CHOSEN: "the best on the others", "zero": "unjudged as not relevant", "condensed": "unjudged left out"}
_usual = partial(usual_measures, binary=ir_measures.P @ 10)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EstimatorComparison(Result):
    """How well estimators predict what the runs of a unit that is left out would score and where they would rank.

    Attributes:
        confidence: the level of the intervals.
        unit: what is left out.
    """

    title = "Estimators of unjudged runs"
    about = "each {unit} left out"
    valid_for = (
        "runs like these, pooled to depth {depth}; intervals at {level}, calibrated on the others by {calibrated by}."
    )
    not_covered = "other kinds of systems, and documents that no run found."
    plots = {"error": drawn_by_measure(plot_estimators, used=CHOSEN, names=_IN_WORDS)}
    columns = """
    estimator      | Estimator | | the estimator; ``"chosen"`` is in each case the best one for the other units
    error          | Error     | score | mean over units of the absolute error of the score
    rank_error     | Error of the rank | tenths | the same of the rank
    coverage       | Covered   | score | share of scores inside their intervals
    width          | Width     | score | mean width of the intervals, or of the bounds
    rank_coverage  | Ranks covered | score | share of ranks inside their intervals
    rank_width     | Rank width | tenths | mean width of these, or of the bounds
    decided        | Decided pairs | score | share of pairs with a run of another unit that the interval decides
    wrong          | Wrong pairs | score | how many of these it decides wrongly
    zero           | Unjudged as 0 | score | score as if its unit had not been pooled
    predicted      | Predicted | score | prediction of it
    low            | Lowest    | score | lower end of the interval
    high           | Highest   | score | upper end
    lowest         | Lower bound | score | lowest score under every completion
    highest        | Upper bound | score | highest one
    clipped        | At a bound | | whether the prediction was outside the bounds and is set to the nearest end
    rank           | Rank      | count | rank with all that is judged
    predicted_rank | Predicted rank | count | prediction of it
    rank_low       | Best      | count | best rank of its interval
    rank_high      | Worst     | count | worst one
    rank_best      | Best, bounds | count | best rank by the bounds; beside scores as judged by deep measures
    rank_worst     | Worst, bounds | count | worst one
    unjudged       | Unjudged  | score | share of its first documents that are unjudged without its unit
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and estimator, the smallest error first",
            "measure estimator* error* rank_error* coverage* width* rank_coverage rank_width decided wrong*",
        ),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "measure, estimator and run",
            "name* team type measure estimator score* rank unjudged zero* predicted* low* high* lowest highest "
            "clipped predicted_rank rank_low rank_high rank_best rank_worst",
            select={"estimator": CHOSEN},
        ),
    ]
    bounds: Annotated[
        pd.DataFrame, Table("measure: means over units of what the bounds allow", "measure width rank_width")
    ]
    confidence: float
    unit: str

    def answers(self) -> list[str]:
        lines, bounds = [], self.bounds.set_index("measure")["width"]
        for measure in self.measures:
            rows = self.table[self.table["measure"] == measure]
            by = {row["estimator"]: cells(row, self.columns) for row in records(rows)}
            best = rows.loc[rows["estimator"] != CHOSEN, "estimator"].iloc[0]
            zero = f" (unjudged as not relevant: {by['zero']['error']})" if "zero" in by else ""
            lines.append(
                f"{measure}: {best} errs least; chosen for each {self.unit}, the error is {by[CHOSEN]['error']}{zero}; "
                f"intervals are {by[CHOSEN]['width']} wide (bounds: {bounds[measure]:.4f}) and cover "
                f"{by[CHOSEN]['coverage']}"
            )
        return lines


@study(
    question="How well can unjudged documents be made up for?",
    command="profile compare-estimators",
    aim="new run",
    summary="which estimator tells best what an unjudged run would score",
    details="Each team is left out of the pool, and what its runs would score is predicted from the other teams.",
    screen=("table",),
    measures=_usual,
    group="profile",
    papers="[W09]_",
    page="studies/new-runs",
)
def compare_estimators(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: Annotated[Any, options.PRECISION_AND_GAIN] = None,
    *,
    by: Annotated[
        str,
        Option(
            'what is left out and calibrated by: each ``"team"`` (default) or ``"run"``; with ``"type"`` all runs of a '
            "type are left out at once, and predicted from the teams of the other types.",
            choices=("team", "run", "type"),
            flag=Flag(help="what to leave out: team, run or type", metavar="UNIT", kind="text"),
        ),
    ] = "team",
    estimators: Annotated[
        Any,
        Option(
            "the names of some of them; default all.",
            check=lambda given: (
                None if given is None else [choice("estimators", n, [*ESTIMATORS]) for n in names("estimators", given)]
            ),
            flag=Flag(
                help="comma-separated: documents, zero, condensed, residual, webber_park, hole_slope, bpref, bootstrap",
                metavar="LIST",
                kind="list",
                default="all",
            ),
        ),
    ] = None,
    judge: Judge = None,
    corpus: Corpus = None,
    depth: options.Depth = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    confidence: Confidence = 0.9,
    verbose: options.Verbose = False,
) -> EstimatorComparison:
    """Leave each team out, predict what its runs would score, and compare that with what they do score.

    Everything is nested: an estimator learns, and its interval is calibrated, on the other teams, each left out in its
    turn of what is known without the first one. ``"zero"`` takes unjudged documents for not relevant, ``"condensed"``
    leaves them out, ``"residual"`` adds half of what they weigh together, ``"webber_park"`` the mean loss of the other
    teams, ``"hole_slope"`` a loss in proportion to what is unjudged, ``"bpref"`` reads the score off the run's bpref,
    ``"bootstrap"`` takes the labels of the run's other documents of the topic, and ``"documents"`` predicts each label
    by a logistic regression of who ranks the document where. ``"judge"`` takes the labels of a `judge` as they are,
    ``"texts"`` what a classifier says that is trained on judged texts of the `corpus`; ``"documents_and_judge"`` and
    ``"documents_and_texts"`` add these to what is known of a document.

    An interval is the prediction, give or take the error that the other teams exceed with a probability of 1 -
    `confidence`, in units of the predicted deviation; that of a rank is calibrated on ranks. Both end at the bounds.

    Raises:
        InputError: a measure other than AP, nDCG, P, R, RBP(rel=1), RR and Success, fewer than three units that were
            pooled, runs without a type with ``by="type"``, ``"judge"`` without a judge.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_teams=12)
        >>> found = ptr.profile.compare_estimators(field.runs, field.qrels, "nDCG@10", depth=10)
        >>> found.table[["estimator", "error", "coverage"]].round(3).head(3)
            estimator  error  coverage
        0  hole_slope  0.003     1.000
        1   documents  0.003     0.955
        2      chosen  0.003     1.000

    Source: condensed lists, Sakai, SIGIR 2007; residuals, Moffat and Zobel, TOIS 2008; Webber and Park, SIGIR 2009;
    labels drawn from judged documents, Froebe et al., ECIR 2023; a relevance model of ranks, Carterette and Allan, CIKM
    2007; conformal intervals, Vovk et al. 2005.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, usual=_usual)
    check_predicted(inputs.measures)
    wanted = named_estimators(estimators, judge=judge, corpus=corpus)
    pooled = inputs.pooled(depth, contributors, pool_order)
    beware(few_topics(len(inputs.qrels.topics)), PoolGap.of(pooled, inputs.qrels).caveats())
    evidence, splits = _splits(inputs, pooled, by)
    if not splits:
        raise InputError(f"no {by} can be left out: two other pooled teams must remain.", argument="by")
    if any(len(set(evidence.pooled) - set(outside)) < 2 for outside, _ in splits):
        left = f"{count(len(evidence.pooled), by)} that had been pooled: where one is left out two must remain"
        raise InputError(f"{left}. Are these the pooled runs?", argument="runs")
    signals = signals_of(evidence, [outside for outside, _ in splits], judge=judge, corpus=corpus)
    whole = base_scores(evidence.runs, evidence.qrels, inputs.measures).mean(axis=1)
    parts: list[dict[str, Any]] = []
    for outside, targets in pt.tqdm(splits, desc="left out", unit=by, disable=not verbose):
        train = [unit for unit in evidence.pooled if unit not in outside]
        setting = LeaveOneOutSetting(evidence, outside, evidence.every_label(inputs.measures), signals)
        cases = Cases(setting, train, targets)
        ranked = ranked_among(cases, inputs.measures, whole)
        for measure, fields in zip(inputs.measures, ranked, strict=True):
            parts += _rows(evidence, Predicted.of(cases, measure, fields, wanted, confidence), measure)
    rows = pd.concat(map(pd.DataFrame, parts), ignore_index=True)
    about = inputs.runs.run_table[["name", "team", "type"]].iloc[rows.pop("run").to_numpy()].reset_index(drop=True)
    by_run = pd.concat([about, rows], axis=1)
    settings = settings_of(
        pooled,
        inputs,
        left_out=f"each {by} at a time",
        calibrated_by="run" if by == "run" else "team",
        level=per_cent(confidence),
    )
    bounds = []
    for measure, of_runs in by_run[by_run["estimator"] == CHOSEN].groupby("measure", sort=False):
        ends = {"width": of_runs["highest"] - of_runs["lowest"]}
        ends["rank_width"] = of_runs["rank_worst"] - of_runs["rank_best"]
        bounds.append({"measure": measure, **_means(ends, of_runs["unit"])})
    return EstimatorComparison(
        table=_table(by_run),
        by_run=by_run.drop(columns=["unit", "others", "decided", "wrong"]),
        bounds=pd.DataFrame(bounds),
        confidence=confidence,
        unit=by,
        settings=settings,
    )


def _splits(inputs: Inputs, pooled: Pooled, by: str) -> tuple[Evidence, list[tuple[list[int], list[int]]]]:
    """Return what is known, and which units are outside at a time, and which of them are predicted from the others."""
    runs, units = inputs.runs, inputs.runs.units("run" if by == "run" else "team")
    if by != "type":
        evidence = Evidence(runs, (), inputs.qrels, units, pooled)
        return evidence, [([unit], [unit]) for unit in evidence.pooled]
    # by type units are the runs of one team and type
    check_every_run_has(runs.run_table, "type")
    types = runs.run_table["type"].tolist()
    pairs = [(units.names[unit], kind) for unit, kind in zip(units.of_run.tolist(), types, strict=True)]
    codes, known = pd.factorize(pd.Series(pairs))
    named = tuple(f"{team} ({kind})" for team, kind in known)
    evidence = Evidence(runs, (), inputs.qrels, Units("team", named, codes.astype(np.int64), units.own), pooled)
    splits = []
    for kind in dict.fromkeys(of for _, of in known):
        outside = [unit for unit, (_, of) in enumerate(known) if of == kind]
        targets = [unit for unit in evidence.pooled if unit in outside]
        if targets and len(evidence.pooled) - len(targets) > 1:
            splits.append((outside, targets))
    return evidence, splits


def _rows(evidence: Evidence, predicted: Predicted, measure: ir_measures.Measure) -> Iterator[dict[str, Any]]:
    """Yield (runs,) columns of each case and estimator."""
    model = predicted.model
    depth = min(model.spec.cutoff or evidence.depth, evidence.depth)
    for at in range(len(model.train), len(model.cases)):
        case, score, field = model.cases[at], model.truth[at].mean(axis=1), predicted.ranked[at]
        low, high = (ends[0].mean(axis=0) for ends in evidence.bounds(case, [measure]))
        for name in [*predicted.by, CHOSEN]:
            used = predicted.chosen if name == CHOSEN else name
            decided, wrong = predicted.pairs(at, used)
            yield {
                "run": case.runs,
                "measure": repr(measure),
                "estimator": name,
                "score": score,
                "rank": rank_among(field.true, score),
                "unjudged": model.of.unjudged(depth)[at],
                "unit": case.unit,
                "others": len(field.expected),
                "decided": decided,
                "wrong": wrong,
                **predicted.columns(at, used, (low, high)),
            }


def _table(by_run: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (measure, estimator), runs in by_run.groupby(["measure", "estimator"], sort=False):
        means = {
            "error": (runs["predicted"] - runs["score"]).abs(),
            "rank_error": (runs["predicted_rank"] - runs["rank"]).abs(),
            "coverage": runs["score"].between(runs["low"] - CLOSE, runs["high"] + CLOSE),
            "width": runs["high"] - runs["low"],
            "rank_coverage": runs["rank"].between(runs["rank_low"], runs["rank_high"]),
            "rank_width": runs["rank_high"] - runs["rank_low"],
        }
        n_pairs, n_decided = runs["others"].sum(), runs["decided"].sum()
        decided, wrong = n_decided / (n_pairs or np.nan), runs["wrong"].sum() / (n_decided or np.nan)
        row = {"measure": measure, "estimator": estimator, **_means(means, runs["unit"])}
        rows.append(row | {"decided": decided, "wrong": wrong})
    table = pd.DataFrame(rows)
    place = pd.factorize(table["measure"])[0]
    return table.iloc[np.lexsort((table["estimator"] != CHOSEN, table["error"], place))].reset_index(drop=True)


def _means(columns: dict[str, pd.Series], unit: pd.Series) -> dict[str, float]:
    return {name: mean_of_units(values.to_numpy(dtype=float), unit.to_numpy()) for name, values in columns.items()}
