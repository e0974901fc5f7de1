"""Compare what is said of unjudged runs with the truth, on designs that have one, and write it into docs/experiments.

    python scripts/build_decisions.py [DATA]

DATA is a folder with trec8-adhoc, dl19-passages and dl21-passages (default: PT_REUSE_DATA). A *left-out* design leaves
each team out of the pool, learns and calibrates on the others, and predicts its pooled runs. *Later* runs are those of
DL 2019 that came after the pool, *unpooled* ones those of TREC-8 beside the depth-10 pool; *neural* runs of DL 2019 are
predicted from the pool of the traditional ones, *manual* runs of TREC-8 from the depth-10 pool of the automatic ones.
The truth is the score with all documents judged down to rank 10, DL 2019's further judgments included. It takes
about six minutes of the processor.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from build_strategies import deep_learning, trec8
from scipy.stats import t

import pt_reuse as ptr
from pt_reuse.arrays.expected import conformal_quantile
from pt_reuse.inputs import Inputs
from pt_reuse.inputs import Pooled as PooledRuns
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.studies.new_runs.calibration import mean_of_units, ranked_among
from pt_reuse.studies.new_runs.estimators import Cases, MeasureModel, wrong_stop
from pt_reuse.studies.new_runs.evidence import Evidence, LeaveOneOutSetting
from pt_reuse.studies.new_runs.predictor import NewRunPredictor, as_new_runs
from pt_reuse.studies.new_runs.sampling import Sample, draw, inclusion

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments"
CONFIDENCE, SEEDS = 0.9, 100
#: those that teams are left out of
LEFT_OUT = ("DL 2021", "DL 2019", "TREC-8, depth 10")
BINARY = ["AP", "P@10", "RBP(rel=1)", "nDCG@10"]
GRADED = ["AP(rel=2)", "P(rel=2)@10", "RBP(rel=2)", "nDCG@10"]


@dataclass(frozen=True)
class Pooled:
    """A field that was pooled to a depth, and its judgments."""

    name: str
    runs: ptr.RunSet
    qrels: ptr.Qrels
    depth: int
    measures: Sequence[str]


def fields(data: Path) -> list[Pooled]:
    """Return DL 2021 and DL 2019, pooled to 10, and TREC-8 cut to the same."""
    found = []
    for name, folder in (("DL 2021", "dl21-passages"), ("DL 2019", "dl19-passages")):
        of = deep_learning(data, folder)
        runs = of["runs"].with_metadata(pooled=True)
        found.append(Pooled(name, _in_file_order(runs, data / folder), of["qrels"], 10, GRADED))
    of = trec8(data)
    cut = of["qrels"].restrict(ptr.depth_pool(of["runs"], depth=10))
    return [*found, Pooled("TREC-8, depth 10", of["runs"], cut, 10, BINARY)]


def _in_file_order(runs: ptr.RunSet, folder: Path) -> ptr.RunSet:
    """Return runs that say that they were pooled as they stand in their files."""
    return ptr.read_runs(folder / "inputs", metadata=runs.run_table, pool_order="file", pool_depth=10)


def left_out(field: Pooled) -> pd.DataFrame:
    """Return a row per measure: errors of the chosen estimator and of the best simple one, and intervals."""
    found = ptr.profile.compare_estimators(field.runs, field.qrels, field.measures, depth=field.depth)
    bounds, rows = found.bounds.set_index("measure"), []
    for measure, of in found.table.groupby("measure", sort=False):
        by = of.set_index("estimator")
        others = by["error"].drop(["chosen", "documents", "bootstrap", "bpref"])
        rows.append(
            {
                "design": field.name,
                "measure": measure,
                "error": by["error"]["chosen"],
                "best other": others.min(),
                "which": others.idxmin(),
                "covered": by["coverage"]["chosen"],
                "width": by["width"]["chosen"],
                "bounds/width": bounds["width"][measure] / by["width"]["chosen"],
                "rank error": by["rank_error"]["chosen"],
                "ranks covered": by["rank_coverage"]["chosen"],
                "bounds/ranks": bounds["rank_width"][measure] / max(by["rank_width"]["chosen"], 1e-9),
                "wrong pairs %": 100 * by["wrong"]["chosen"],
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Later:
    """Runs that came after a pool, and all judgments."""

    name: str
    runs: ptr.RunSet
    new: ptr.RunSet
    known: ptr.Qrels
    truth: ptr.Qrels
    measures: Sequence[str]


def later_runs(data: Path, every: Sequence[Pooled]) -> Iterator[Later]:
    """Yield the designs with runs that are not those of the pool."""
    dl19, trec = every[1], every[2]
    new = ptr.read_runs(data / "dl19-passages" / "later", names="file", pooled=False)
    tops = ptr.depth_pool(new, depth=10, contributors="all")
    holes = tops.remainder(dl19.qrels.restrict(ptr.depth_pool(dl19.runs, depth=10, order="file")))
    yield Later("later runs, DL 2019", dl19.runs, new, dl19.qrels - holes.to_qrels(), dl19.qrels, GRADED)
    judged = trec8(data)["qrels"]
    pooled, others = trec.runs.select(pooled=True), trec.runs.select(pooled=False)
    alone = {name: f"{name} (unpooled)" for name in others.names}
    whole = judged.restrict(ptr.depth_pool(trec.runs, depth=10, contributors="all"))
    yield Later("unpooled runs, TREC-8", pooled, others.with_metadata(teams=alone), trec.qrels, whole, BINARY)
    for name, field, kinds, truth, measures in (
        ("neural on traditional, DL 2019", dl19.runs, ("traditional", "neural"), dl19.qrels, GRADED),
        ("manual on automatic, TREC-8", pooled, ("automatic", "manual"), trec.qrels, BINARY),
    ):
        one, other = (field.select(type=kind) for kind in kinds)
        teams = {run: f"{team} ({kinds[1]})" for run, team in other.run_table[["name", "team"]].itertuples(index=False)}
        order = field.pool_order
        known = truth.restrict(ptr.depth_pool(one, depth=10, order=order))
        yield Later(name, one, other.with_metadata(teams=teams, pooled=False), known, truth, measures)


def checked(design: Later) -> pd.DataFrame:
    """Return a row per measure: errors, how often it abstains, and how often the truth is inside where it does not.

    Errors are of all runs, those among them of which it does not say what it would predict.
    """
    found = ptr.check_new_run(design.new, design.runs, design.known, design.measures, depth=10)
    truth = ptr.score(design.new, design.truth, design.measures).mean.set_index("name")
    predictor = predictor_of(design, [ir_measures.parse_measure(name) for name in design.measures])
    rows = []
    for m, (measure, of) in enumerate(found.table.groupby("measure", sort=False)):
        true = truth[measure].loc[of["name"]].to_numpy()
        predicted, other = (
            np.array([predictor.predicted[m].by[name][row.at].score[row.place] for row in predictor.rows()])
            for name in (predictor.predicted[m].chosen, "condensed")
        )
        inside = (of["predicted_low"] - 1e-12 <= true) & (true <= of["predicted_high"] + 1e-12)
        speaks = ~of["abstains"].to_numpy(dtype=bool)
        rows.append(
            {
                "design": design.name,
                "measure": measure,
                "runs": len(of),
                "estimator": of["estimator"].iloc[0],
                "zero": np.abs(of["score"] - true).mean(),
                "condensed": np.abs(other - true).mean(),
                "error": np.abs(predicted - true).mean(),
                "abstains": (~speaks).mean(),
                "covered": inside[speaks].mean() if speaks.any() else np.nan,
                "width": (of["predicted_high"] - of["predicted_low"])[speaks].mean() if speaks.any() else np.nan,
            }
        )
    return pd.DataFrame(rows)


def predictor_of(design: Later, measures: Sequence[ir_measures.Measure], estimators: Any = None) -> NewRunPredictor:
    """Return what is predicted of the runs of a design."""
    inputs = Inputs.read(design.runs, design.known, measures)
    new = as_new_runs(design.new, design.runs, design.known, None)
    return NewRunPredictor(inputs, inputs.pooled(10), new, estimators=estimators, confidence=CONFIDENCE)


def sampled(design: Later, sizes: Sequence[int]) -> pd.DataFrame:
    """Return a row per measure and size of the sample: how often estimates cover the truth, and how widely."""
    rows = []
    for name in ["P@10", "RBP(rel=1)", "nDCG@10"]:
        measure = ir_measures.parse_measure(name)
        predictor = predictor_of(design, [measure], ["documents"])
        holes, labels = predictor.evidence.qrels, predictor.evidence.labels
        at = design.truth.arrays.documents.find(holes.arrays.documents)
        said = np.append(design.truth.arrays.labels, 0)[at]
        labels = np.where(labels >= 0, labels, np.maximum(said, 0)).astype(np.int16)
        truth = ptr.score(design.new, ptr.Qrels.of_arrays(holes.arrays.labelled(labels)), [measure])
        true = dict(zip(truth.names, truth.mean_values[0].tolist(), strict=True))
        for n in sizes:
            inside, widths, unjudged = [], [], []
            for row in predictor.rows():
                effects = predictor.effects(0, row)
                probability = inclusion(effects.size, n)
                unjudged.append(len(effects.row))
                for seed in range(SEEDS):
                    mine = draw(probability, seed)
                    drawn = effects.row[mine]
                    sample = Sample(drawn, labels[drawn], probability[mine])
                    score, anew, _ = predictor.as_sampled(0, row, sample)
                    place = np.full(len(labels), -1)
                    place[anew.row] = np.arange(len(anew.row))
                    part = anew.take(place[drawn])
                    changes = part.of_labels(sample.label) - part.mean
                    estimate, error = sample.estimate(score, changes, np.square(part.size))
                    half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
                    inside.append(abs(estimate - true[predictor.name(row)]) <= half)
                    widths.append(2 * half)
            rows.append(
                {
                    "design": design.name,
                    "measure": name,
                    "unjudged": np.mean(unjudged),
                    "sampled": n,
                    "covered": np.mean(inside),
                    "width": np.mean(widths),
                }
            )
    return pd.DataFrame(rows)


def stops(field: Pooled) -> pd.DataFrame:
    """Return a row per measure: decisions on each left-out run against every other, looked at after each label.

    The share of runs with a wrong one gives each team one weight, as the calibration does.
    """
    units = field.runs.units("team")
    contributors = contributors_of(field.runs, "pooled")
    evidence = Evidence(field.runs, (), field.qrels, units, PooledRuns(field.runs, field.depth, "", contributors))
    rows = []
    for name in field.measures:
        measure = ir_measures.parse_measure(name)
        whole = base_scores(evidence.runs, evidence.qrels, [measure]).mean(axis=1)
        found: list[dict[str, Any]] = []
        for out in evidence.pooled:
            train = [unit for unit in evidence.pooled if unit != out]
            cases = Cases(LeaveOneOutSetting(evidence, [out], evidence.every_label([measure]), {}), train, [out])
            model, ranked = MeasureModel(cases, native_spec(measure)), ranked_among(cases, [measure], whole)[0]
            worst, unit, last = [], [], []
            for at, case in enumerate(model.cases):
                for place in range(len(case.runs)):
                    effects = model.effects(at, place)
                    course = model.course(at, place, effects, case.labels[effects.row], ranked[at].by_topic)
                    # what the others gain deeper than the pool shows once all is judged
                    others = course.others[:, -1] if model.dilutes else ranked[at].true
                    if case.unit == out:
                        last.append((course, course.score[-1] - others, effects))
                    else:
                        truth = course.score[-1] - others
                        worst.append(wrong_stop(course.score - course.others, truth, effects.spread()))
                        unit.append(case.unit)
            reach = conformal_quantile(np.array(worst), np.array(unit), CONFIDENCE)
            found += [{"unit": out, **_stopped(*each, reach, model.dilutes)} for each in last]
        every = pd.DataFrame(found)
        rows.append(
            {
                "design": field.name,
                "measure": name,
                "decisions": every["decisions"].sum(),
                "wrong %": 100 * every["wrong"].sum() / every["decisions"].sum(),
                "runs with one %": 100 * mean_of_units((every["wrong"] > 0).to_numpy(float), every["unit"].to_numpy()),
                "labels": every["labels"].mean(),
                "by bounds": every["by bounds"].mean(),
                "of these": every["labels"].mean() / every["by bounds"].mean(),
            }
        )
    return pd.DataFrame(rows)


def _stopped(course: Any, true: np.ndarray, effects: Any, reach: float, exact: bool) -> dict[str, float]:
    low, high = effects.ends()
    apart = course.score - course.others
    sure = (course.score + low - course.most > 1e-12) | (course.score + high - course.least < -1e-12)
    sure &= exact
    sure[:, -1] = True
    stop, by_bounds = ((sure | (np.abs(apart) > reach * effects.spread())).argmax(axis=1), sure.argmax(axis=1))
    wrong = (np.sign(apart[np.arange(len(stop)), stop]) != np.sign(true)) & (np.abs(true) > 1e-12)
    # with the last label all runs are scored anew
    wrong &= stop < len(effects.row)
    nearest = np.argsort(np.abs(apart[:, 0]), kind="stable")[:5]
    return {
        "decisions": len(stop),
        "wrong": wrong.sum(),
        "labels": stop[nearest].mean(),
        "by bounds": by_bounds[nearest].mean(),
    }


def write(name: str, parts: Sequence[pd.DataFrame]) -> None:
    """Write a table into the documentation."""
    frame = pd.concat(parts, ignore_index=True)
    shown = frame.copy()
    for column in frame.select_dtypes("float"):
        digits = 4 if frame[column].abs().max() < 1 else 2
        shown[column] = [f"{value:.{digits}f}" for value in frame[column]]
    text = shown.to_string(index=False) + "\n"
    (TARGET / f"decisions-{name}.txt").write_text(text, encoding="utf-8")
    print(text)


def main() -> None:
    """Write all tables."""
    data = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["PT_REUSE_DATA"])
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    every = fields(data)
    wanted = [field for field in every if field.name in LEFT_OUT]
    write("left-out", [left_out(field) for field in wanted])
    designs = list(later_runs(data, every))
    write("new-runs", [checked(design) for design in designs])
    write("samples", [sampled(designs[-1], [20, 40])])
    write("stops", [stops(field) for field in wanted])


if __name__ == "__main__":
    main()
