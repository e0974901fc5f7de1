"""Whatever takes runs takes them in every form, and judgments likewise, with equal results."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import NamedTuple

import ir_measures
import pandas as pd
import pytest
from declared import STUDIES
from ir_datasets.formats import GenericQrel, GenericScoredDoc, TrecQrel

import pt_reuse as ptr
from pt_reuse.data.judgments import as_qrels
from pt_reuse.data.run_set import as_runs
from pt_reuse.judge import as_judge

FIELD = ptr.demo.simulate_field(seed=7, n_topics=5, n_docs=40, n_teams=4, length=8, depth=3)
pytestmark = pytest.mark.filterwarnings("ignore:subcollections. :pt_reuse.ReuseWarning")
FRAMES = {name: FIELD.runs[name].drop(columns="name") for name in sorted(FIELD.runs.names)}
POOLED = FIELD.runs.select(pooled=True).names
RUNS, QRELS = ptr.RunSet.from_frames(FRAMES), FIELD.qrels
JUDGED = QRELS.to_frame()
ERRORS = ptr.judging.flips(0.3, range(4))
THEIRS = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}


class Judged(NamedTuple):
    """A judgment with fields as PyTerrier has them, and one more."""

    docno: str
    qid: str
    label: int
    who: str


def rows(frame, *columns):
    return list(frame[list(columns)].itertuples(index=False, name=None))


def scored(kind):
    return {name: [kind(*row) for row in rows(frame, "qid", "docno", "score")] for name, frame in FRAMES.items()}


def judged(kind, *more):
    return [kind(*row, *more) for row in rows(JUDGED, "qid", "docno", "label")]


def nested(frame, column):
    return {qid: dict(zip(part["docno"], part[column].tolist(), strict=True)) for qid, part in frame.groupby("qid")}


def files(folder):
    RUNS.write(folder / "r", overwrite=True)
    return folder / "r"


def files_by_name(folder):
    paths = sorted(files(folder).iterdir())
    return {path.name.removeprefix("input.").removesuffix(".gz"): str(path) for path in paths}


def named(folder, **part):
    return f"reuse:{ptr.register_collection('named', overwrite=True, **part).name}"


def judgments_file(folder):
    return QRELS.write(folder / "qrels.txt", overwrite=True)


#: form -> the same runs in it; a function of a folder, since some can be used but once
RUN_FORMS = {
    "a dict of frames": lambda d: FRAMES,
    "frames of ir_measures": lambda d: {n: f.rename(columns=THEIRS).drop(columns="rank") for n, f in FRAMES.items()},
    "ScoredDoc of ir_measures": lambda d: scored(ir_measures.ScoredDoc),
    "ScoredDoc of ir_datasets": lambda d: scored(GenericScoredDoc),
    "tuples one by one": lambda d: {name: iter(found) for name, found in scored(GenericScoredDoc).items()},
    "dicts of ir_measures": lambda d: {name: nested(frame, "score") for name, frame in FRAMES.items()},
    "one frame": lambda d: RUNS.to_frame(),
    "a folder": files,
    "a pattern": lambda d: str(files(d) / "input.*"),
    "several files": lambda d: [str(path) for path in sorted(files(d).iterdir())],
    "files by name": lambda d: files_by_name(d),
    "a collection's name": lambda d: named(d, runs=files(d)),
}
QRELS_FORMS = {
    "a frame": lambda d: JUDGED,
    "a frame of ir_measures": lambda d: JUDGED.rename(columns=THEIRS).assign(iteration="0"),
    "Qrel of ir_measures": lambda d: judged(ir_measures.Qrel),
    "TrecQrel of ir_datasets": lambda d: judged(TrecQrel, "Q0"),
    "GenericQrel of ir_datasets": lambda d: tuple(judged(GenericQrel)),
    "tuples one by one": lambda d: iter(judged(ir_measures.Qrel)),
    "tuples of one's own": lambda d: [Judged(docno, qid, label, "me") for qid, docno, label in judged(GenericQrel)],
    "a dict of ir_measures": lambda d: nested(JUDGED, "label"),
    "a file": judgments_file,
    "a collection's name": lambda d: named(d, qrels=judgments_file(d)),
}


def answers(judge):
    return judge(JUDGED[["qid", "docno"]]).drop(columns="time")


def kept(qrels):
    return qrels.to_frame()[["qid", "docno", "label"]]


#: what takes runs or judgments -> what it makes of runs, or of runs and qrels, as a frame; in a folder
TAKERS = {
    "as_runs": lambda d, runs=RUNS: as_runs(runs).to_frame(),
    "as_qrels": lambda d, qrels=QRELS: kept(as_qrels(qrels)),
    "score": lambda d, runs=RUNS, qrels=QRELS: ptr.score(runs, qrels, ["AP", "nDCG@5"]).per_topic,
    "leave_out_uniques": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.leave_out_uniques(runs, qrels, "AP", by="run", depth=3, contributors=POOLED).by_run
    ),
    "depth_pool": lambda d, runs=RUNS: ptr.depth_pool(runs, depth=2).contributions(),
    "pools.take_pool": lambda d, runs=RUNS: ptr.pools.take_pool(runs, n=3, contributors=POOLED).contributions(),
    "pools.fusion_pool": lambda d, runs=RUNS: ptr.pools.fusion_pool(runs, n=3, contributors=POOLED).contributions(),
    "pools.compare_strategies": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.pools.compare_strategies(
            runs, qrels, "rank", budgets=3, measures="AP", depth=3, contributors=POOLED, repeats=1
        ).table
    ),
    "judging.judge_adaptively": lambda d, runs=RUNS: (
        ptr.judging.judge_adaptively(runs, "hedge", QRELS, budget=3, depth=3, contributors=POOLED)
        .to_frame()
        .drop(columns="time")
    ),
    "Pool.remainder": lambda d, qrels=QRELS: ptr.depth_pool(RUNS, depth=5).remainder(qrels).to_frame(),
    "Pool.counts": lambda d, qrels=QRELS: ptr.depth_pool(RUNS, depth=5).counts(qrels),
}
#: those whose argument has another name
OTHERS = {
    "RunSet.union": lambda d, runs=RUNS: ptr.RunSet.from_frames(STRANGER).union(runs).to_frame(),
    "Qrels.__or__": lambda d, qrels=QRELS: kept(FIELD.all_qrels | qrels),
    "Qrels.__sub__": lambda d, qrels=QRELS: (FIELD.all_qrels - qrels).to_frame(),
    "Qrels.restrict": lambda d, qrels=QRELS: FIELD.all_qrels.restrict(qrels).to_frame(),
    "Pool.judge": lambda d, qrels=QRELS: ptr.depth_pool(RUNS, depth=1, contributors=POOLED).judge(qrels).to_frame(),
    "judging.Oracle": lambda d, qrels=QRELS: answers(ptr.judging.Oracle(qrels)),
    "judging.Noisy": lambda d, qrels=QRELS: answers(ptr.judging.Noisy(qrels, ERRORS, seed=1)),
    "as_judge": lambda d, qrels=QRELS: answers(as_judge(qrels)),
    "judging.estimate_confusion": lambda d, qrels=QRELS: ptr.judging.estimate_confusion(
        qrels, FIELD.all_qrels.threshold()
    ).reset_index(),
}
STRANGER = {"stranger": FRAMES[RUNS.names[0]]}
#: what studies call runs and judgments
PARTS = {
    "runs": RUNS, "qrels": QRELS, "other": FIELD.all_qrels, "qrels_a": QRELS, "qrels_b": FIELD.all_qrels,
    "human": QRELS, "judge": FIELD.all_qrels,
}  # fmt: skip
OPTIONS = {"measures": "AP", "resamples": 0, "contributors": POOLED, "depths": [1, 2], "repeats": 1, "sizes": 9}
#: study -> what else it takes
MORE = {
    "found_by_depth": {"by": "run"},
    "check_new_run": {"new": STRANGER, "by": "run", "depth": 3},
    "compare_estimators": {"by": "run", "depth": 3},
    "coverage": {"by": "run", "depth": 3},
    "judge_next": {"new": STRANGER, "by": "run", "depth": 3},
    "plan_collection": {"by": "run", "max_density": 1.0, "min_relevant": 0, "draws": 2, "topics": 2},
    "subcollections": {"how": "random"},
    "prediction_powered": {"human": QRELS.select(QRELS.topics[:2]), "lam": 0.5},
}


def studied(name, **parts):
    """Return what a study finds of runs and judgments, without what is named by their form."""
    every = OPTIONS | PARTS | MORE.get(name, {}) | parts
    taken = set(inspect.signature(STUDIES[name]).parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        result = STUDIES[name](**{part: value for part, value in every.items() if part in taken})
    return result.table.drop(columns=["judge", "scorer"], errors="ignore")


def assert_equal(one, other):
    # names differ for what was written to files, which hold no white space
    if "name" in one:
        one = one.assign(name=one["name"].str.replace(" ", "-"))
        other = other.assign(name=other["name"].str.replace(" ", "-"))
    shared = [column for column in one if column in other and column not in ("team", "type")]
    assert len(shared) > 2
    pd.testing.assert_frame_equal(one[shared], other[shared], check_exact=True)


#: studies that take types or families of runs, two runs at most, scores, or data of their own, and those among TAKERS
APART = {name.rpartition(".")[2] for name in TAKERS} | {
    "by_type", "leave_out_type", "family_effect", "plan_labels", "compare_leaderboards", "sensitivity_of_uniques",
    "leave_out_dynamic", "rankings_by_annotator",
}  # fmt: skip
STUDIED = {
    f"{name} ({part})": (name, part)
    for name in sorted(STUDIES.keys() - APART)
    for part in PARTS.keys() & inspect.signature(STUDIES[name]).parameters.keys() - MORE.get(name, {}).keys()
}
CALLS = TAKERS | OTHERS


@functools.cache
def expected(taker, folder):
    """Return what a function makes of a RunSet and a Qrels."""
    return CALLS[taker](folder)


@functools.cache
def expected_of_study(name, part):
    """Return what a study finds of a RunSet and a Qrels: once, unless the part is usually of other judgments."""
    return studied(name, **({} if part is None else {part: QRELS}))


#: those that are tried with every form; one function coerces for all, so the others meet one form each, in turns
WITH_EVERY_FORM = {"as_runs", "as_qrels"}


def cases(parameter, forms):
    takers = [name for name, call in CALLS.items() if parameter in inspect.signature(call).parameters]
    takers += [name for name, (_, part) in sorted(STUDIED.items()) if (part == "runs") == (parameter == "runs")]
    return [
        (taker, form)
        for i, taker in enumerate(takers)
        for j, form in enumerate(forms)
        if taker in WITH_EVERY_FORM or (i - j) % len(forms) == 0
    ]


FORMS = {"runs": RUN_FORMS, "qrels": QRELS_FORMS}


@pytest.mark.parametrize("parameter", FORMS)
def test_forms(parameter, tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    (tmp_path / "expected").mkdir()
    faults = []
    for n, (taker, form) in enumerate(cases(parameter, FORMS[parameter])):
        folder = tmp_path / str(n)
        folder.mkdir()
        try:
            value = FORMS[parameter][form](folder)
            if taker in CALLS:
                found, right = CALLS[taker](folder, **{parameter: value}), expected(taker, tmp_path / "expected")
            else:
                name, part = STUDIED[taker]
                found = studied(name, **{part: value})
                right = expected_of_study(name, None if PARTS[part] in (RUNS, QRELS) else part)
            assert_equal(right, found)
        except Exception as error:
            faults.append(f"{taker} of {form}: {error!r:.300}")
    assert faults == []
