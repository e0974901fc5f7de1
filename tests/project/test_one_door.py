"""Whatever takes runs takes them in every form, and judgments likewise, with equal results."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import NamedTuple

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from declared import STUDIES
from declared import call as find
from ir_datasets.formats import GenericQrel, GenericScoredDoc, TrecQrel
from public import PUBLIC, RESULTS

import pt_reuse as ptr
from pt_reuse.data.judgments import as_qrels
from pt_reuse.data.run_reading import as_runs
from pt_reuse.judging.judges import as_judge
from pt_reuse.scoring.caveats import told_elsewhere

FIELD = ptr.simulate_field(seed=7, n_topics=5, n_docs=40, n_teams=4, length=8, depth=3)
pytestmark = pytest.mark.filterwarnings("ignore:subcollections. :pt_reuse.ReuseWarning")
FRAMES = {name: FIELD.runs[name].drop(columns="name") for name in sorted(FIELD.runs.names)}
POOLED = FIELD.runs.select(pooled=True).names
RUNS, QRELS = ptr.RunSet.from_frames(FRAMES), FIELD.qrels
JUDGED = QRELS.to_frame()
TOPICS = pd.DataFrame({"qid": RUNS.topics, "query": "q"})
ERRORS = ptr.judging.flips(0.3, range(4))
VECTORS = ptr.judging.Vectors({docno: [1.0, n % 7] for n, docno in enumerate(sorted(set(RUNS.to_frame()["docno"])))})
KNOWN = ptr.judging.Oracle(FIELD.all_qrels, unknown="not relevant")
PROTOCOL = ptr.judging.TrecDL2021(pool_depth=2, pool_order="trec_eval", topic_budget=9)
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


def judgments_file(folder):
    return QRELS.write(folder / "qrels.txt", overwrite=True)


#: form -> the same runs in it; a function of a folder, since some can be used but once
RUN_FORMS = {
    "a dict of frames": lambda d: FRAMES,
    "frames of ir_measures": lambda d: {n: f.rename(columns=THEIRS).drop(columns="rank") for n, f in FRAMES.items()},
    "what pipelines return": lambda d: {
        name: pt.Transformer.from_df(frame.assign(query="q", docid=3))(TOPICS) for name, frame in FRAMES.items()
    },
    "ScoredDoc of ir_measures": lambda d: scored(ir_measures.ScoredDoc),
    "ScoredDoc of ir_datasets": lambda d: scored(GenericScoredDoc),
    "tuples one by one": lambda d: {name: iter(found) for name, found in scored(GenericScoredDoc).items()},
    "dicts of ir_measures": lambda d: {name: nested(frame, "score") for name, frame in FRAMES.items()},
    "forms mixed": lambda d: {**FRAMES, **dict(list(scored(ir_measures.ScoredDoc).items())[:2])},
    "one frame": lambda d: RUNS.to_frame(),
    "one frame of ir_measures": lambda d: RUNS.to_frame().rename(columns=THEIRS),
    "a folder": files,
    "a folder as text": lambda d: str(files(d)),
    "a pattern": lambda d: str(files(d) / "input.*"),
    "several files": lambda d: [str(path) for path in sorted(files(d).iterdir())],
    "files one by one": lambda d: iter(sorted(files(d).iterdir())),
}
QRELS_FORMS = {
    "a frame": lambda d: JUDGED,
    "a frame of ir_measures": lambda d: JUDGED.rename(columns=THEIRS).assign(iteration="0"),
    "a frame of ir_datasets": lambda d: JUDGED.rename(columns=THEIRS).assign(iter=0),
    "Qrel of ir_measures": lambda d: judged(ir_measures.Qrel),
    "TrecQrel of ir_datasets": lambda d: judged(TrecQrel, "Q0"),
    "GenericQrel of ir_datasets": lambda d: tuple(judged(GenericQrel)),
    "tuples one by one": lambda d: iter(judged(ir_measures.Qrel)),
    "tuples of two kinds": lambda d: [*judged(GenericQrel)[:5], *judged(TrecQrel, "0")[5:]],
    "tuples of one's own": lambda d: [Judged(docno, qid, label, "me") for qid, docno, label in judged(GenericQrel)],
    "a dict of ir_measures": lambda d: nested(JUDGED, "label"),
    "a file": judgments_file,
    "a file as text": lambda d: str(judgments_file(d)),
    "as ir_measures reads a file": lambda d: ir_measures.read_trec_qrels(str(judgments_file(d))),
}


def figures(folder):
    (folder / "mine.toml").write_text(
        'collection = "mine"\ntitle = "T"\n[[figure]]\nwhat = "AP"\nkind = "scores"\nmeasure = "AP"\n'
        f'values = {{ {RUNS.names[0]} = "0.5", {RUNS.names[1]} = "0.1" }}\nsource = "nobody"\n'
    )
    return folder / "mine.toml"


def own(folder):
    return ptr.register_collection("mine", runs=files(folder), pooled=RUNS.names[:3], overwrite=True)


def covered(runs, qrels):
    # three topics are few
    with told_elsewhere():
        return ptr.profile.coverage(runs, qrels, "AP", by="run", depth=3, contributors=POOLED).by_run


def told_of_few(audit):
    # three topics are few
    with told_elsewhere():
        return audit()


def labels_compared(human=FIELD.all_qrels, judge=FIELD.all_qrels, people=None):
    # three topics are few
    with told_elsewhere():
        return ptr.labels.compare_labels(human, judge, people=people, resamples=0).table


def fidelity(runs, human, judge):
    # the judge is named by its form
    return ptr.labels.significance_fidelity(runs, human, judge, "AP", resamples=0).pairs.drop(columns="judge")


def circle(runs, human, judge):
    return ptr.labels.circularity(runs, human, judge, "AP", resamples=0).by_run.drop(columns=["judge", "scorer"])


def powered(runs=RUNS, human=None, judge=FIELD.all_qrels):
    # two topics are few
    with told_elsewhere():
        some = FIELD.all_qrels.select(FIELD.all_qrels.topics[:2]) if human is None else human
        return ptr.labels.prediction_powered(runs, some, judge, "AP", lam=0.5)


#: public function -> what it makes of runs, or of runs and qrels, as frames; in a folder
TAKERS = {
    "score": lambda d, runs=RUNS, qrels=QRELS: ptr.score(runs, qrels, ["AP", "nDCG@5"]).per_topic,
    "depth_pool": lambda d, runs=RUNS: ptr.depth_pool(runs, depth=2).contributions(),
    "leave_out_uniques": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.leave_out_uniques(runs, qrels, "AP", by="run", depth=3, contributors=POOLED).by_run
    ),
    "compare_judgments": lambda d, runs=RUNS: (
        ptr.compare_judgments(runs, QRELS, FIELD.all_qrels, "AP", depth=3).changes
    ),
    "audit_labels": lambda d, runs=RUNS: (
        told_of_few(lambda: ptr.audit_labels(runs, QRELS, FIELD.all_qrels, "AP", resamples=0)).movers
    ),
    "labels.significance_fidelity": lambda d, runs=RUNS: fidelity(runs, QRELS, FIELD.all_qrels),
    "labels.circularity": lambda d, runs=RUNS: circle(runs, QRELS, FIELD.all_qrels),
    "labels.prediction_powered": lambda d, runs=RUNS: powered(runs=runs).table,
    "profile.density": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.profile.density(qrels, runs=runs, depths=[1, 2], contributors=POOLED).rounds
    ),
    "pools.minimum_ranks": lambda d, runs=RUNS, qrels=QRELS: ptr.pools.minimum_ranks(runs, qrels).table,
    "pools.pool_costs": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.pools.pool_costs(runs, qrels, depths=[1, 2], contributors=POOLED).agreement
    ),
    "pools.leave_out_dynamic": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.pools.leave_out_dynamic(
            runs, qrels, "AP", VECTORS, TOPICS, by="run", depth=3, contributors=POOLED, judge=KNOWN, query_seed=False
        ).by_run
    ),
    "profile.coverage": lambda d, runs=RUNS, qrels=QRELS: covered(runs, qrels),
    "profile.sensitivity": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.profile.sensitivity(
            ptr.leave_out_uniques, runs, qrels, "AP", grid=["depth"], by="run", depth=3, contributors=POOLED
        ).table
    ),
    "pools.compare_strategies": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.pools.compare_strategies(
            runs, qrels, "rank", budgets=3, measures="AP", depth=3, contributors=POOLED, repeats=1
        ).table
    ),
    "pools.found_by_depth": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.pools.found_by_depth(runs, qrels, by="run", contributors=POOLED, depths=3).table
    ),
    "profile.subcollections": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.profile.subcollections(runs, qrels, "AP", how="random", sizes=9, repeats=1, seed=4).by_pair
    ),
    "infer_pool": lambda d, runs=RUNS, qrels=QRELS: ptr.infer_pool(runs, qrels).table,
    "judging.judge_adaptively": lambda d, runs=RUNS: (
        ptr.judging.judge_adaptively(runs, "hedge", QRELS, budget=3, depth=3, contributors=POOLED)
        .to_frame()
        .drop(columns="time")
    ),
    "judging.judge_continuously": lambda d, runs=RUNS: ptr.judging.judge_continuously(
        VECTORS, TOPICS, ptr.judging.Oracle(QRELS, unknown="not relevant"), protocol=PROTOCOL, runs=runs
    ).labels.drop(columns="time"),
    "verify": lambda d, runs=RUNS, qrels=QRELS: ptr.verify(own(d), runs=runs, qrels=qrels, figures=figures(d)).table,
    "ReuseDataset.get_runs": lambda d, runs=RUNS: own(d).get_runs(runs=runs, pooled=True).to_frame(),
    "judging.rankings_by_annotator": lambda d, runs=RUNS, qrels=QRELS: (
        ptr.judging.rankings_by_annotator(runs, {"ann": FIELD.all_qrels.restrict(QRELS)}, qrels, "AP").by_run
    ),
    "Pool.remainder": lambda d, qrels=QRELS: ptr.depth_pool(RUNS, depth=5).remainder(qrels).to_frame(),
    "Pool.counts": lambda d, qrels=QRELS: ptr.depth_pool(RUNS, depth=5).counts(qrels),
    "pools.take_pool": lambda d, runs=RUNS: ptr.pools.take_pool(runs, n=3, contributors=POOLED).contributions(),
    "pools.fusion_pool": lambda d, runs=RUNS: ptr.pools.fusion_pool(runs, n=3, contributors=POOLED).contributions(),
}
#: those whose argument has another name
OTHERS = {
    "RunSet.union": lambda d, runs=RUNS: RUNS.select(RUNS.names[0]).union(strangers(d, runs)).to_frame(),
    "Qrels.union": lambda d, qrels=QRELS: (FIELD.all_qrels.union(qrels)).to_frame()[["qid", "docno", "label"]],
    "Qrels.__or__": lambda d, qrels=QRELS: (FIELD.all_qrels | qrels).to_frame()[["qid", "docno", "label"]],
    "judging.expand_judgments": lambda d, qrels=QRELS: ptr.judging.expand_judgments(FIELD.all_qrels, qrels).to_frame()[
        ["qid", "docno", "label", "round"]
    ],
    "judging.expand_judgments (old)": lambda d, qrels=QRELS: ptr.judging.expand_judgments(
        qrels, FIELD.all_qrels
    ).to_frame()[["qid", "docno", "label", "round"]],
    "Qrels.__sub__": lambda d, qrels=QRELS: (FIELD.all_qrels - qrels).to_frame(),
    "Qrels.restrict": lambda d, qrels=QRELS: FIELD.all_qrels.restrict(qrels).to_frame(),
    "Pool.judge": lambda d, qrels=QRELS: ptr.depth_pool(RUNS, depth=1, contributors=POOLED).judge(qrels).to_frame(),
    "judging.Oracle": lambda d, qrels=QRELS: ptr.judging.Oracle(qrels)(JUDGED[["qid", "docno"]]).drop(columns="time"),
    "judging.Noisy": lambda d, qrels=QRELS: ptr.judging.Noisy(qrels, ERRORS, seed=1)(JUDGED[["qid", "docno"]]).drop(
        columns="time"
    ),
    "judging.estimate_confusion": lambda d, qrels=QRELS: ptr.judging.estimate_confusion(
        qrels, FIELD.all_qrels.threshold()
    ).reset_index(),
    "compare_judgments (qrels_a)": lambda d, qrels=QRELS: (
        ptr.compare_judgments(RUNS, qrels, FIELD.all_qrels, "AP", depth=3).by_topic
    ),
    "compare_judgments (qrels_b)": lambda d, qrels=QRELS: (
        ptr.compare_judgments(RUNS, FIELD.all_qrels, qrels, "AP", depth=3).by_run
    ),
    "audit_labels (human)": lambda d, qrels=QRELS: (
        told_of_few(lambda: ptr.audit_labels(RUNS, qrels, FIELD.all_qrels, "AP", resamples=0)).documents
    ),
    "audit_labels (judge)": lambda d, qrels=QRELS: (
        told_of_few(lambda: ptr.audit_labels(RUNS, FIELD.all_qrels, {"judge": qrels}, "AP", resamples=0)).documents
    ),
    "labels.compare_labels (human)": lambda d, qrels=QRELS: labels_compared(human=qrels),
    "labels.compare_labels (judge)": lambda d, qrels=QRELS: labels_compared(judge={"model": qrels}),
    "labels.compare_labels (people)": lambda d, qrels=QRELS: labels_compared(people={"ann": qrels}),
    "labels.significance_fidelity (human)": lambda d, qrels=QRELS: fidelity(RUNS, qrels, FIELD.all_qrels),
    "labels.significance_fidelity (judge)": lambda d, qrels=QRELS: fidelity(RUNS, FIELD.all_qrels, qrels),
    "labels.circularity (human)": lambda d, qrels=QRELS: circle(RUNS, qrels, FIELD.all_qrels),
    "labels.circularity (judge)": lambda d, qrels=QRELS: circle(RUNS, FIELD.all_qrels, qrels),
    "as_judge": lambda d, qrels=QRELS: as_judge(qrels)(JUDGED[["qid", "docno"]]).drop(columns="time"),
    "as_runs": lambda d, runs=RUNS: as_runs(runs).to_frame(),
    "as_qrels": lambda d, qrels=QRELS: as_qrels(qrels).to_frame()[["qid", "docno", "label"]],
}
#: public functions that are tested elsewhere
ELSEWHERE = {
    "Experiment": {"qrels"},
    "pools.estimate_relevant": {"qrels"},
    # two runs at most
    "labels.plan_labels": {"runs"},
    # runs without types are none for these
    "by_type": {"runs", "qrels"},
    "pools.leave_out_type": {"runs", "qrels"},
    "labels.family_effect": {"runs"},
}
LAST_NAMES = {name.rpartition(".")[2]: name for name in [*TAKERS, *ELSEWHERE]}
PLACES = {name.rpartition(".")[2]: name for name in PUBLIC}
for name, study in STUDIES.items():
    taken = set(inspect.signature(study).parameters)
    if name in PLACES and name not in LAST_NAMES and taken >= {"runs", "qrels"}:
        TAKERS[PLACES[name]] = functools.partial(
            lambda name, d, runs=RUNS, qrels=QRELS: find(name, runs, qrels, FIELD.all_qrels).table, name
        )
    if "other" in taken:
        OTHERS[f"{name} (other)"] = functools.partial(
            lambda name, d, qrels=QRELS: find(name, RUNS, FIELD.all_qrels, qrels).table, name
        )
#: methods whose `runs` or `qrels` is no input of that kind
NONE_OF_THE_KIND: dict[str, set[str]] = {}


def strangers(folder, runs):
    """Return runs in the form in which they are given, but under names of their own, where that can be."""
    if isinstance(runs, dict):
        return {f"other {name}": results for name, results in runs.items()}
    if isinstance(runs, pd.DataFrame):
        return runs.assign(name="other " + runs["name"])
    if isinstance(runs, ptr.RunSet):
        return ptr.RunSet.from_frames({f"other {name}": FRAMES[name] for name in FRAMES})
    for path in (files(folder)).iterdir():
        path.unlink()
    ptr.RunSet.from_frames({f"other-{name}": FRAMES[name] for name in FRAMES}).write(folder / "r", overwrite=True)
    paths = sorted((folder / "r").iterdir())
    return runs if isinstance(runs, str | Path) else iter(paths)


def parameters():
    """Yield (function, parameter) of every public function and method that takes runs or judgments."""
    for name, value in {**PUBLIC, **RESULTS}.items():
        functions = {name: value} if inspect.isfunction(value) else {}
        if inspect.isclass(value) and value.__module__.startswith("pt_reuse"):
            members = {
                member: getattr(found := inspect.getattr_static(value, member), "__func__", found)
                for member in dir(value)
                if not member.startswith("_")
            }
            functions = {f"{name}.{member}": found for member, found in members.items() if inspect.isfunction(found)}
        for called, function in functions.items():
            for parameter in inspect.signature(function).parameters:
                if parameter in ("runs", "qrels"):
                    yield called, parameter


def test_every_function_that_takes_runs_or_judgments_is_here():
    found = {}
    for called, parameter in parameters():
        found.setdefault(called, set()).add(parameter)
    here = {name: set(inspect.signature(call).parameters) - {"d"} for name, call in TAKERS.items()}
    assert found == here | ELSEWHERE | NONE_OF_THE_KIND


def assert_equal(one, other):
    # names differ for what was written to files, which hold no white space
    if "name" in one:
        one = one.assign(name=one["name"].str.replace(" ", "-"))
        other = other.assign(name=other["name"].str.replace(" ", "-"))
    shared = [column for column in one if column in other and column not in ("team", "type")]
    assert len(shared) > 2
    pd.testing.assert_frame_equal(one[shared], other[shared], check_exact=True)


ALL = TAKERS | OTHERS


@functools.cache
def expected(taker, folder):
    """Return what a function makes of a RunSet and a Qrels."""
    return ALL[taker](folder)


#: those that are tried with every form; one function coerces for all, so the others meet every third form in turns
WITH_EVERY_FORM = {"as_runs", "as_qrels", "score", "leave_out_uniques"}


def cases(parameter, forms):
    takers = [name for name, call in ALL.items() if parameter in inspect.signature(call).parameters]
    return [
        (taker, form)
        for i, taker in enumerate(takers)
        for j, form in enumerate(forms)
        if taker in WITH_EVERY_FORM or (i + j) % 3 == 0
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("expected")


@pytest.mark.parametrize(("taker", "form"), cases("runs", RUN_FORMS))
def test_runs(taker, form, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    assert_equal(expected(taker, folder), ALL[taker](tmp_path, runs=RUN_FORMS[form](tmp_path)))


@pytest.mark.parametrize(("taker", "form"), cases("qrels", QRELS_FORMS))
def test_judgments(taker, form, folder, tmp_path):
    assert_equal(expected(taker, folder), ALL[taker](tmp_path, qrels=QRELS_FORMS[form](tmp_path)))


def test_what_a_dataset_of_ir_datasets_yields():
    found = as_qrels(ir_datasets.load("reuse/demo").qrels_iter())
    expected = pt.get_dataset("reuse:demo").get_qrels()
    assert len(found) == len(expected) == 989
    both = found.to_frame().merge(expected, on=["qid", "docno"])
    assert len(both) == len(found)
    assert np.array_equal(both["label_x"], both["label_y"])
