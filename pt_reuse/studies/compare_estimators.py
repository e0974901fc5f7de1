"""compare_estimators: what runs would score had they been pooled, and which estimator tells it best for this field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import choice, names
from pt_reuse._report import Digits
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units, check_every_run_has
from pt_reuse.options import PRECISION_AND_GAIN, Flag, Parameter
from pt_reuse.plots.forests import plot_estimators
from pt_reuse.result import KeyFigures, Result, Shown, View
from pt_reuse.scoring.caveats import few_topics, usual_measures
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.new_runs.calibration import How, Predicted, check_predicted, of_units, ranked_among
from pt_reuse.studies.new_runs.estimators import ESTIMATORS, PLAIN, Cases, named_estimators
from pt_reuse.studies.new_runs.evidence import Evidence, Pooling, World, signals_of
from pt_reuse.studies.new_runs.outlook import CONFIDENCE, CORPUS, JUDGE, PoolGap
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: the row of the estimator that is best for the other units, whichever that is
CHOSEN = "chosen"
#: what figures call estimators whose names do not say what they do
_IN_WORDS = {CHOSEN: "the best on the others", "zero": "unjudged as not relevant", "condensed": "unjudged left out"}
_CLOSE = 10.0**-DECIMALS
#: what is left out at a time
LEFT_OUT = ("team", "run", "type")


def checked_estimators(given: Any) -> list[str] | None:
    """Return the names of estimators, each once."""
    if given is None:
        return None
    return [choice("estimators", name, list(ESTIMATORS)) for name in dict.fromkeys(names("estimators", given))]


def _draw(result: EstimatorComparison, measure: str, place: Place) -> Axes:
    """Draw the mean error of each estimator as a dot, the smallest on top."""
    rows = result.table[result.table["measure"] == measure]
    return plot_estimators(rows, used=CHOSEN, names=_IN_WORDS, measure=measure, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EstimatorComparison(Result):
    """How well estimators predict what the runs of a unit that is left out would score and where they would rank.

    Its figure has a dot per estimator at its mean error, the smallest on top.

    Attributes:
        table: one row per measure and estimator, the smallest error first: ``measure estimator``; means over units of
            the absolute ``error`` of the score and ``rank_error`` of the rank; ``coverage``, the share of scores inside
            their intervals, and their mean ``width``; ``rank_coverage`` and ``rank_width``, the same of ranks;
            ``decided``, the share of pairs with a run of another unit that the interval decides, and ``wrong``, how
            many of these it decides wrongly. The estimator ``"chosen"`` is in each case the one with the smallest error
            for the other units.
        by_run: one row per measure, estimator and run: ``measure estimator name team type``, ``score`` as judged, and
            as if its unit had not been pooled ``zero``, ``predicted`` with its interval ``low high``, the bounds
            ``lowest highest``, and ``clipped``, whether the prediction was outside them and is set to the nearest end;
            ``rank predicted_rank rank_low rank_high``; ``unjudged``, the share of its documents.
        bounds: one row per measure: ``measure width rank_width``, means over units of what the bounds allow.
    """

    title = "Estimators of unjudged runs"
    condition = (
        "It holds for runs like those that were left out ({left out}), pooled to depth {depth}; intervals "
        "are at {level}, calibrated on the others by {calibrated by}."
    )
    limit = "It does not say how an estimator does for another kind of system, nor for documents that no run found."
    views = {
        "estimator": View(
            columns=(
                Shown("Estimator", "estimator"),
                Shown("Error", "error", Digits.SCORE),
                Shown("Error of the rank", "rank_error", Digits.TENTHS),
                Shown("Covered", "coverage", Digits.SCORE),
                Shown("Width", "width", Digits.SCORE),
                Shown("Wrong pairs", "wrong", Digits.SCORE),
            ),
            caption="Estimators of {measure} for the runs of each {unit} that is left out: mean absolute errors, and "
            "how often and how widely the interval covers the score.",
            noun="estimators",
        ),
        "run": View(
            table="by_run",
            select={"estimator": CHOSEN},
            columns=(
                Shown("Run", "name"),
                Shown("Score", "score", Digits.SCORE),
                Shown("Unjudged as 0", "zero", Digits.SCORE),
                Shown("Predicted", "predicted", Digits.SCORE),
                Shown("Lowest", "low", Digits.SCORE),
                Shown("Highest", "high", Digits.SCORE),
            ),
            caption="{measure} of each run, and what is predicted of it with its own {unit} left out.",
            noun="runs",
        ),
    }
    plots = {"error": _draw}
    key = (KeyFigures(("error", "coverage", "width"), "_of_chosen"),)
    answer = (
        "_of_chosen",
        "{measure}: {best} errs least, by {error:.4f} (unjudged as not relevant: {zero:.4f}); intervals are "
        "{width:.4f} wide, bounds {bounds:.4f}, and cover {coverage:.2f}",
    )

    by_run: pd.DataFrame
    bounds: pd.DataFrame
    confidence: float
    unit: str

    def _of_chosen(self) -> pd.DataFrame:
        rows = []
        for measure, mine in self.table.groupby("measure", sort=False):
            by = mine.set_index("estimator")
            best = mine[mine["estimator"] != CHOSEN].iloc[0]["estimator"]
            row = by.loc[CHOSEN, ["error", "coverage", "width"]].to_dict()
            zero = by["error"].get("zero", np.nan)
            width = self.bounds.set_index("measure")["width"][measure]
            rows.append({"measure": measure, "best": best.replace("_", " "), "zero": zero, "bounds": width, **row})
        return pd.DataFrame(rows)


@study(
    PRECISION_AND_GAIN,
    CONFIDENCE,
    JUDGE,
    CORPUS,
    Parameter(
        name="by",
        meaning='what is left out and calibrated by: each ``"team"`` (default) or ``"run"``; with ``"type"`` all runs '
        "of a type are left out at once, and predicted from the teams of the other types.",
        choices=LEFT_OUT,
        flag=Flag(help="what to leave out: team, run or type", metavar="UNIT", kind="text"),
    ),
    Parameter(
        name="estimators",
        meaning="the names of some of them; default all.",
        check=checked_estimators,
        flag=Flag(help=f"comma-separated: {', '.join(PLAIN)}", metavar="LIST", kind="list", default="all"),
    ),
    command=Command(
        name="profile compare-estimators",
        summary="which estimator tells best what an unjudged run would score",
        details="Each team is left out of the pool, and what its runs would score is predicted from the other teams.",
        screen=("estimator",),
    ),
    measures=partial(usual_measures, binary=ir_measures.P @ 10),
    entry=Entry(
        question="How well can unjudged documents be made up for?",
        group="profile",
        papers="[W09]_",
        page="studies/new-runs",
    ),
)
def compare_estimators(
    runs: Any,
    qrels: Any,
    measures: Any = None,
    *,
    by: str = "team",
    estimators: Iterable[str] | str | None = None,
    judge: Any = None,
    corpus: Any = None,
    depth: int | None = None,
    rel: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    confidence: float = 0.9,
    verbose: bool = False,
) -> EstimatorComparison:
    """Leave each team out, predict what its runs would score, and compare that with what they do score.

    Without a team, the judged documents that it alone brought into the pool are unjudged. Everything is nested: an
    estimator learns, and its interval is calibrated, on the other teams, each left out in its turn of what is known
    without the first one. ``"zero"`` takes unjudged documents for not relevant, ``"condensed"`` leaves them out,
    ``"residual"`` adds half of what they weigh together, of RBP half of its residual to that depth, ``"webber_park"``
    adds the mean loss of the other teams, ``"hole_slope"`` a loss in proportion to what is unjudged, ``"bpref"`` reads
    the score off the run's bpref, ``"bootstrap"`` takes the labels of the run's other documents of the topic, and
    ``"documents"`` predicts each label by a logistic regression of who ranks the document where. With a `judge`,
    ``"judge"`` takes its labels as they are, and with a `corpus` ``"texts"`` what a classifier says that is trained on
    the judged texts of the topic, as often right as for the other teams; ``"documents_and_judge"`` and
    ``"documents_and_texts"`` add these to what is known of a document.

    An interval is the prediction, give or take the error that the other teams exceed with a probability of 1 -
    `confidence`, in units of the predicted deviation, one weight a team; the interval of a rank is calibrated on ranks.
    Both end where the bounds do.

    Returns:
        EstimatorComparison: ``.table`` (per measure and estimator), ``.by_run``, ``.bounds``, ``.plot(measure)``.

    Raises:
        InputError: a measure other than AP, nDCG, P, R, RBP(rel=1), RR and Success, fewer than three units that were
            pooled, runs without a type with ``by="type"``, ``"judge"`` without a judge.

    Warns:
        CaveatWarning: fewer than five topics.

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
    asked = Asked(compare_estimators, locals())
    runs, qrels, measures = asked.runs, asked.qrels, asked.measures
    check_predicted(measures)
    wanted = named_estimators(asked["estimators"], judge=judge, corpus=asked["corpus"])
    if by == "type":
        check_every_run_has(runs.run_table, "type")
    units, types = split_units(runs, by)
    gap = PoolGap.of(asked.ranked, qrels, asked.depth, asked.contributors)
    asked.tell(few_topics(len(qrels.topics)), gap.caveats())
    pooling = Pooling(asked.depth.value, asked.contributors, asked["pool_order"] or runs.pool_order)
    evidence = Evidence(runs, (), qrels, units, pooling)
    how = How(wanted, confidence)
    splits = list(_splits(evidence, by, types))
    signals = signals_of(evidence, [outside for outside, _ in splits], judge=judge, corpus=asked["corpus"])
    whole = evidence.without(measures, []).base.mean(axis=1)
    rows: list[pd.DataFrame] = []
    for outside, targets in pt.tqdm(splits, desc="left out", unit=by, disable=not verbose):
        train = [unit for unit in evidence.pooled if unit not in outside]
        cases = Cases(World(evidence, outside, evidence.every_label(measures), signals), train, targets)
        ranked = ranked_among(cases, measures, whole)
        for measure, fields in zip(measures, ranked, strict=True):
            predicted = Predicted.of(cases, measure, fields, how)
            rows += _rows(evidence, predicted, measure)
    by_run = pd.concat(rows, ignore_index=True)
    settings = {
        "left_out": f"each {by} at a time",
        "calibrated_by": "run" if by == "run" else "team",
        "level": f"{100 * confidence:.4g} %",
    }
    return EstimatorComparison(
        table=_table(by_run),
        by_run=by_run.drop(columns=["unit", "others", "decided", "wrong"]),
        bounds=_bounds(by_run),
        confidence=confidence,
        unit=by,
        settings=asked.settings(**settings),
    )


def split_units(runs: RunSet, by: str) -> tuple[Units, list[str]]:
    """Return the units, and the type of each; by type they are the runs of one team and type."""
    types = runs.run_table["type"].tolist()
    units = runs.units("run" if by == "run" else "team")
    if by != "type":
        return units, [""] * len(units)
    pairs = [(units.names[unit], kind) for unit, kind in zip(units.of_run.tolist(), types, strict=True)]
    codes, names = pd.factorize(pd.Series(pairs))
    found = Units("team", tuple(f"{team} ({kind})" for team, kind in names), codes.astype(np.int64), units.own)
    return found, [kind for _, kind in names]


def _splits(evidence: Evidence, by: str, types: Sequence[str]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield which units are outside, and which of them are predicted from the others."""
    if by != "type":
        yield from (([unit], [unit]) for unit in evidence.pooled)
        return
    for kind in dict.fromkeys(types):
        outside = [unit for unit, of in enumerate(types) if of == kind]
        targets = [unit for unit in evidence.pooled if unit in outside]
        if targets and len(evidence.pooled) - len(targets) > 1:
            yield outside, targets


def _rows(evidence: Evidence, predicted: Predicted, measure: ir_measures.Measure) -> Iterator[pd.DataFrame]:
    learned, table = predicted.learned, evidence.runs.run_table[["name", "team", "type"]]
    spec = learned.spec
    for at in range(len(learned.train), len(learned.cases)):
        case = learned.cases[at]
        bounds = tuple(ends[0].mean(axis=0) for ends in evidence.bounds(case, [measure]))
        score = learned.truth[at].mean(axis=1)
        for name in [*predicted.by, CHOSEN]:
            used = predicted.chosen if name == CHOSEN else name
            decided, wrong = predicted.pairs(at, used)
            about = table.iloc[case.runs].reset_index(drop=True)
            about = about.assign(
                measure=repr(measure),
                estimator=name,
                score=score,
                rank=predicted.ranked[at].true_rank(score),
                unjudged=learned.of.unjudged(min(spec.cutoff or evidence.depth, evidence.depth))[at],
                unit=case.unit,
                others=len(predicted.ranked[at].known),
                decided=decided,
                wrong=wrong,
            )
            yield pd.concat([about, predicted.table(at, used, (bounds[0], bounds[1]))], axis=1)


def _table(by_run: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (measure, estimator), mine in by_run.groupby(["measure", "estimator"], sort=False):
        unit = mine["unit"].to_numpy()
        inside = (mine["low"] - _CLOSE <= mine["score"]) & (mine["score"] <= mine["high"] + _CLOSE)
        ranked = (mine["rank_low"] <= mine["rank"]) & (mine["rank"] <= mine["rank_high"])
        means = {
            "error": (mine["predicted"] - mine["score"]).abs(),
            "rank_error": (mine["predicted_rank"] - mine["rank"]).abs(),
            "coverage": inside,
            "width": mine["high"] - mine["low"],
            "rank_coverage": ranked,
            "rank_width": mine["rank_high"] - mine["rank_low"],
        }
        row = {name: of_units(values.to_numpy(dtype=float), unit) for name, values in means.items()}
        pairs, decided = mine["others"].sum(), mine["decided"].sum()
        shares = {
            "decided": decided / pairs if pairs else np.nan,
            "wrong": mine["wrong"].sum() / decided if decided else np.nan,
        }
        rows.append({"measure": measure, "estimator": estimator, **row, **shares})
    found = pd.DataFrame(rows)
    place = found["measure"].map({measure: at for at, measure in enumerate(dict.fromkeys(found["measure"]))})
    return found.iloc[np.lexsort((found["estimator"] != CHOSEN, found["error"], place))].reset_index(drop=True)


def _bounds(by_run: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for measure, mine in by_run[by_run["estimator"] == CHOSEN].groupby("measure", sort=False):
        unit = mine["unit"].to_numpy()
        ends = {"width": mine["highest"] - mine["lowest"], "rank_width": mine["rank_worst"] - mine["rank_best"]}
        rows.append({"measure": measure, **{name: of_units(v.to_numpy(dtype=float), unit) for name, v in ends.items()}})
    return pd.DataFrame(rows)
