"""Compare what is said of unjudged runs with the truth, on designs that have one.

A *left-out* design leaves each team out of the pool, learns and calibrates on the others, and predicts its pooled runs.
*Later* runs are those of DL 2019 that came after the pool, *unpooled* ones those of TREC-8 beside the depth-10 pool;
*neural* runs of DL 2019 are predicted from the pool of the traditional ones, *manual* runs of TREC-8 from the depth-10
pool of the automatic ones. The truth is the score with all documents judged down to rank 10, DL 2019's further
judgments included. It takes about six minutes of the processor.
"""

from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd
from scipy.stats import t
from store import deep, trec8

import pt_reuse as ptr
from pt_reuse.arrays.expected import conformal_quantile
from pt_reuse.inputs import Inputs, Pooled
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.studies.new_runs.estimators import Cases, MeasureModel, wrong_stop
from pt_reuse.studies.new_runs.evidence import Evidence, LeaveOneOutSetting
from pt_reuse.studies.new_runs.predictor import NewRunPredictor, as_new_runs, mean_of_units, ranked_among
from pt_reuse.studies.new_runs.sampling import Sample, draw, inclusion

CONFIDENCE = 0.9
BINARY = ["AP", "P@10", "RBP(rel=1)", "nDCG@10"]
GRADED = ["AP(rel=2)", "P(rel=2)@10", "RBP(rel=2)", "nDCG@10"]


def fields(data):
    """Return name -> runs, judgments and measures: DL 2021 and DL 2019, pooled to 10, and TREC-8 cut to the same."""
    dl = {f"DL 20{year}": (*deep(data, year, order="trec_eval", pool_depth=10), GRADED) for year in (21, 19)}
    runs, qrels = trec8(data)
    return {**dl, "TREC-8, depth 10": (runs, qrels.restrict(ptr.depth_pool(runs, depth=10)), BINARY)}


def left_out(name, runs, qrels, measures):
    """Return a row per measure: errors of the chosen estimator, and intervals of scores and of ranks."""
    found = ptr.profile.compare_estimators(runs, qrels, measures, depth=10)
    bounds, rows = found.bounds.set_index("measure"), []
    for measure, of in found.table.groupby("measure", sort=False):
        mine = of.set_index("estimator").loc["chosen"]
        row = {"design": name, "measure": measure, "error": mine["error"], "covered": mine["coverage"]}
        row |= {"width": mine["width"], "bounds/width": bounds["width"][measure] / mine["width"]}
        row |= {"rank error": mine["rank_error"], "ranks covered": mine["rank_coverage"]}
        rows.append({**row, "bounds/ranks": bounds["rank_width"][measure] / max(mine["rank_width"], 1e-9)})
    return rows


class Later(NamedTuple):
    """Runs that came after a pool, and all judgments."""

    name: str
    runs: ptr.RunSet
    new: ptr.RunSet
    known: ptr.Qrels
    truth: ptr.Qrels
    measures: list

    def predictor(self, measures, estimators=None):
        """Return what is predicted of the runs."""
        inputs = Inputs.read(self.runs, self.known, measures)
        new = as_new_runs(self.new, self.runs, self.known, None)
        return NewRunPredictor(inputs, inputs.pooled(10), new, estimators=estimators, confidence=CONFIDENCE)


def later_runs(data, every):
    """Yield the designs with runs that are not those of the pool."""
    runs, qrels, _ = every["DL 2019"]
    new = ptr.read_runs(data / "dl19-passages" / "later", names="file", pooled=False)
    tops = ptr.depth_pool(new, depth=10, contributors="all")
    holes = tops.remainder(qrels.restrict(ptr.depth_pool(runs, depth=10, order="file")))
    yield Later("later runs, DL 2019", runs, new, qrels - holes.to_qrels(), qrels, GRADED)
    trec, cut, _ = every["TREC-8, depth 10"]
    pooled, others = trec.select(pooled=True), trec.select(pooled=False)
    whole = trec8(data)[1].restrict(ptr.depth_pool(trec, depth=10, contributors="all"))
    others = others.with_metadata(teams={name: f"{name} (unpooled)" for name in others.names})
    yield Later("unpooled runs, TREC-8", pooled, others, cut, whole, BINARY)
    for name, field, kinds, truth, measures in (
        ("neural on traditional, DL 2019", runs, ("traditional", "neural"), qrels, GRADED),
        ("manual on automatic, TREC-8", pooled, ("automatic", "manual"), cut, BINARY),
    ):
        one, other = (field.select(type=kind) for kind in kinds)
        teams = {run: f"{team} ({kinds[1]})" for run, team in other.run_table[["name", "team"]].itertuples(index=False)}
        known = truth.restrict(ptr.depth_pool(one, depth=10, order=field.pool_order))
        yield Later(name, one, other.with_metadata(teams=teams, pooled=False), known, truth, measures)


def checked(design):
    """Return a row per measure: errors, how often it abstains, and how often the truth is inside where it does not.

    Errors are of all runs, those among them of which it does not say what it would predict.
    """
    found = ptr.check_new_run(design.new, design.runs, design.known, design.measures, depth=10)
    truth = ptr.score(design.new, design.truth, design.measures).mean.set_index("name")
    predictor, rows = design.predictor([ir_measures.parse_measure(name) for name in design.measures]), []
    for of_measure, (measure, of) in zip(predictor.predicted, found.table.groupby("measure", sort=False), strict=True):
        true, speaks = truth[measure].loc[of["name"]].to_numpy(), ~of["abstains"].to_numpy(dtype=bool)
        chosen = of_measure.by[of_measure.chosen]
        predicted = np.array([chosen[row.at].score[row.place] for row in predictor.rows()])
        inside = (of["predicted_low"] - 1e-12 <= true) & (true <= of["predicted_high"] + 1e-12)
        row = {"design": design.name, "measure": measure, "runs": len(of), "estimator": of["estimator"].iloc[0]}
        row |= {"zero": np.abs(of["score"] - true).mean(), "error": np.abs(predicted - true).mean()}
        row |= {"abstains": (~speaks).mean(), "covered": inside[speaks].mean() if speaks.any() else np.nan}
        row["width"] = (of["predicted_high"] - of["predicted_low"])[speaks].mean() if speaks.any() else np.nan
        rows.append(row)
    return rows


def sampled(design, sizes, seeds):
    """Return a row per measure and size of the sample: how often estimates cover the truth, and how widely."""
    rows = []
    for name in ["P@10", "RBP(rel=1)", "nDCG@10"]:
        measure = ir_measures.parse_measure(name)
        predictor = design.predictor([measure], ["documents"])
        holes, labels = predictor.evidence.qrels, predictor.evidence.labels
        said = np.append(design.truth.arrays.labels, 0)[design.truth.arrays.documents.find(holes.arrays.documents)]
        labels = np.where(labels >= 0, labels, np.maximum(said, 0)).astype(np.int16)
        truth = ptr.score(design.new, ptr.Qrels.of_arrays(holes.arrays.labelled(labels)), [measure])
        true = dict(zip(truth.names, truth.mean_values[0].tolist(), strict=True))
        for n in sizes:
            found = []
            for row in predictor.rows():
                effects = predictor.effects(0, row)
                probability, reach = inclusion(effects.size, n), float(t.ppf((1 + CONFIDENCE) / 2, n - 1))
                for seed in range(seeds):
                    mine = draw(probability, seed)
                    drawn = effects.row[mine]
                    sample, place = Sample(drawn, labels[drawn], probability[mine]), np.full(len(labels), -1)
                    score, anew, _ = predictor.as_sampled(0, row, sample)
                    place[anew.row] = np.arange(len(anew.row))
                    part = anew.take(place[drawn])
                    changes = part.of_labels(sample.label) - part.mean
                    estimate, error = sample.estimate(score, changes, np.square(part.size))
                    away = abs(estimate - true[predictor.name(row)])
                    found.append((len(effects.row), away <= reach * error, 2 * reach * error))
            unjudged, covered, width = np.mean(found, axis=0)
            row = {"design": design.name, "measure": name, "unjudged": unjudged, "sampled": n}
            rows.append({**row, "covered": covered, "width": width})
    return rows


def stops(name, runs, qrels, measures):
    """Return a row per measure: decisions on each left-out run against every other, looked at after each label.

    The share of runs with a wrong one gives each team one weight, as the calibration does.
    """
    pooled = Pooled(runs, 10, "", contributors_of(runs, "pooled"))
    evidence, rows = Evidence(runs, (), qrels, runs.units("team"), pooled), []
    for measure in map(ir_measures.parse_measure, measures):
        whole, found = base_scores(evidence.runs, evidence.qrels, [measure]).mean(axis=1), []
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
                    truth = course.score[-1] - (course.others[:, -1] if model.dilutes else ranked[at].true)
                    if case.unit == out:
                        last.append((course, truth, effects))
                    else:
                        worst.append(wrong_stop(course.score - course.others, truth, effects.spread()))
                        unit.append(case.unit)
            reach = conformal_quantile(np.array(worst), np.array(unit), CONFIDENCE)
            found += [(out, *stopped(*each, reach, model.dilutes)) for each in last]
        every = pd.DataFrame(found, columns=["unit", "decisions", "wrong", "labels", "by bounds"])
        with_one = mean_of_units((every["wrong"] > 0).to_numpy(float), every["unit"].to_numpy())
        n, labels, by_bounds = every["decisions"].sum(), every["labels"].mean(), every["by bounds"].mean()
        row = {"design": name, "measure": str(measure), "decisions": n, "wrong %": 100 * every["wrong"].sum() / n}
        row |= {"runs with one %": 100 * with_one, "labels": labels}
        rows.append({**row, "by bounds": by_bounds, "of these": labels / by_bounds})
    return rows


def stopped(course, true, effects, reach, exact):
    """Return how many decisions there are, how many of them wrong, and after how many labels, also by bounds alone."""
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
    return len(stop), wrong.sum(), stop[nearest].mean(), by_bounds[nearest].mean()


def results(given):
    """Write all tables; the smallest are of DL 2019 by precision, and of runs that came later."""
    every = fields(given.data)
    smallest = {"DL 2019": (*every["DL 2019"][:2], GRADED[1:2])}
    known = [(name, *field) for name, field in given.size(every, smallest).items()]
    designs = list(later_runs(given.data, every))
    made = {
        "left-out": [left_out(*field) for field in known],
        "new-runs": [checked(design) for design in given.size(designs, [designs[0]._replace(measures=GRADED[1:2])])],
        "samples": [sampled(designs[-1], *given.size(([20, 40], 100), ([20], 1)))],
        "stops": [stops(*field) for field in known],
    }
    for name, parts in made.items():
        frame = pd.DataFrame([row for part in parts for row in part])
        for column in frame.select_dtypes("float"):
            digits = 4 if frame[column].abs().max() < 1 else 2
            frame[column] = [f"{value:.{digits}f}" for value in frame[column]]
        given.write(f"decisions-{name}", frame.to_string(index=False))
