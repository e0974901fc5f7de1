"""Every study, pool, judge, reader and command over its options: what each comes to is what it came to before.

Kept are the numbers of all tables, a weighted sum of each column; settings, messages and warnings are tested elsewhere.
With PT_REUSE_WRITE_GOLDEN=1 they are written anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from command_parts import run
from ir_measures import ERR, P
from ir_measures.providers import gdeval_provider
from public import PUBLIC
from small_field import write_field

import pt_reuse as ptr
from pt_reuse.plots import sheet

# what is called

MEASURES = ["AP", "nDCG@10"]


@dataclass(frozen=True)
class Golden:
    """What is called, and how."""

    call: Callable[..., Any]
    base: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, list[Any]] = field(default_factory=dict)


class Small:
    """The small field: in memory, as files, and as what options stand for that take data."""

    def __init__(self, folder: Path):
        self.folder = write_field(folder)
        self.runs = ptr.read_runs(folder / "runs", metadata=folder / "runs.csv")
        self.qrels = ptr.read_qrels(folder / "qrels.txt")
        self.other = ptr.read_qrels(folder / "other.qrels")
        self.people = {name: ptr.read_qrels(folder / "people" / f"{name}.qrels") for name in ("ann", "bob")}
        self.judges = ptr.judging.read_judges(folder / "judges")
        self.scores = ptr.score(self.runs, self.qrels, MEASURES)
        self.scores_of_other = ptr.score(self.runs, self.other, MEASURES)
        self.pool = ptr.depth_pool(self.runs, 5)
        self.topics = pd.DataFrame({"qid": self.qrels.topics, "query": [f"query {q}" for q in self.qrels.topics]})
        docnos = sorted(set(self.other.to_frame()["docno"]))
        self.vectors = ptr.judging.Vectors({docno: [1.0, n % 7, n % 3] for n, docno in enumerate(docnos)})
        self.oracle = ptr.judging.Oracle(self.other, unknown="not relevant")
        self.some_topics = self.qrels.select(self.qrels.topics[:4])
        self.sampled_qrels = ptr.pools.sample_pool(self.pool, share=0.5, seed=4).judge(self.other)
        # people's labels by annotator, some missing
        self.labels = pd.concat(
            [q.to_frame()[["qid", "docno", "label"]].iloc[n:].assign(annotator=name)
             for n, (name, q) in enumerate(self.people.items())]
        )  # fmt: skip
        self.judge_labels, self.boards, self.ann = self.judges.labels, self.judges.leaderboards, self.people["ann"]
        self.later = self.runs.select(names=self.runs.names[:2])
        self.earlier = self.runs.select(names=self.runs.names[2:])
        self.both_scores = {"own": self.scores, "other": self.scores_of_other}

    def stands_for(self, value: Any) -> Any:
        if value == ("STRATEGY", "epsilon-greedy"):
            return ptr.pools.Strategy("epsilon-greedy", epsilon=0.3)
        data = {
            "FILL": self.judge_labels,
            "PEOPLE": self.people,
            "GOLD": self.qrels,
            "RUNS": self.runs,
            "LATER": self.later,
        }
        return data.get(value, value) if isinstance(value, str) else value


#: public functions, without the names of their namespaces
BY_LAST_NAME = {name.rpartition(".")[2]: value for name, value in PUBLIC.items()}
#: options that many take, with values that all of them take
MEASURED = {"measures": ["AP", [P(rel=2) @ 5, "RR", "Rprec", "RBP(rel=1, p=0.5)", "Bpref", "Judged@10"], [ERR @ 10]]}
DEPTH = {"depth": [1, 8]}
POOLED = {
    "contributors": ["all", ["lex1a", "lex4a", "neu2a", "neu5b", "man3b", "man6a"]],
    "pool_order": ["file", "rank", "trec_eval9"],
}
GRADES = {"rel": [1, 2]}
TOPICS = {"complete": [False], "without_topics": ["zero"]}
DRAWN = {"resamples": [0, 7], "confidence": [0.9], "seed": [3]}
JOBS = {"n_jobs": [2]}
MODEL = {"judge_rel": [2, {0: 0, 1: 0, 2: 1}], "families": [{"lax": "gpt", "strict": "old"}], "missing": ["drop"]}
TESTED = {"test": ["wilcoxon", "randomisation", "tukey"], "alpha": [0.2], "samples": [50]}
CORRECTED = {"correction": ["holm", "benjamini-hochberg", "bonferroni"]}
SHORT = {"resamples": 5}


def of(name: str, *given: str, measures: bool = True) -> Callable[..., Any]:
    """Return what calls a function of the package with parts of the small field; measures where it has no default."""

    def call(small: Small, **options: Any) -> Any:
        found = [getattr(small, part) for part in given]
        if measures:
            found.append(options.pop("measures", MEASURES))
        return function(name)(*found, **options)

    return call


def function(name: str) -> Callable[..., Any]:
    """Return a function of the package by its name."""
    return BY_LAST_NAME[name.rpartition(".")[2]]


def dynamic(small: Small, **options: Any) -> Any:
    return ptr.pools.leave_out_dynamic(
        small.runs, small.qrels, options.pop("measures", "AP"), small.vectors, small.topics, **options
    )


def sampled(small: Small, **options: Any) -> Any:
    return ptr.pools.sample_pool(small.pool, **{"seed": 4, "share": 0.5} | options)


def sensitive(small: Small, **options: Any) -> Any:
    return ptr.profile.sensitivity(ptr.leave_out_uniques, small.runs, small.qrels, "AP", **options)


def subcollections(small: Small, **options: Any) -> Any:
    given = {"sources": ["doc000", "doc001", "doc002"]} | options
    return ptr.profile.subcollections(small.runs, small.qrels, given.pop("measures", MEASURES), **given)


def split_at_random(small: Small, **options: Any) -> Any:
    return ptr.profile.subcollections(small.runs, small.qrels, MEASURES, **{"how": "random", "sizes": 50} | options)


def mixed(small: Small, **options: Any) -> Any:
    given = {"how": "mixed", "sources": ["doc000", "doc001"], "shares": 0.5} | options
    return ptr.profile.subcollections(small.runs, small.qrels, MEASURES, **given)


def estimated(small: Small, **options: Any) -> Any:
    plan = ptr.labels.plan_labels(small.people["ann"], **{"width": 0.2} | options)
    return plan.estimate(small.other.restrict(plan.sample))


def judged(small: Small, **options: Any) -> Any:
    options = {"strategy": "mtf", "budget": 10} | options
    return ptr.judging.judge_adaptively(small.runs, options.pop("strategy"), small.oracle, **options)


def assisted(small: Small, **options: Any) -> Any:
    def model(frame: pd.DataFrame) -> list[float]:
        return [crc32(docno.encode()) % 101 / 101 for docno in frame["docno"]]

    return ptr.judging.judge_with_model(small.pool, small.oracle, model, **{"budget": 8, "rel": 1} | options)


def continuous(small: Small, **options: Any) -> Any:
    protocol = options.pop("protocol", ptr.judging.AutoTAR(topic_budget=30))
    return ptr.judging.judge_continuously(small.vectors, small.topics, small.oracle, protocol=protocol, **options)


def noisy(small: Small, **options: Any) -> Any:
    options = {"confusion": ptr.judging.flips(0.3, range(3)), "seed": 1} | options
    return ptr.judging.Noisy(small.qrels, **options)(small.other.to_frame()[["qid", "docno"]])


def calibrated(small: Small, **options: Any) -> Any:
    judge = ptr.judging.Calibrated(small.people["ann"], small.some_topics, **options)
    return judge(small.qrels.to_frame()[["qid", "docno"]])


def read_again(small: Small, **options: Any) -> Any:
    return ptr.read_runs(small.folder / "runs", **{"metadata": small.folder / "runs.csv"} | options)


def read_board(small: Small, **options: Any) -> Any:
    return ptr.read_leaderboard(small.folder / "judges" / "lax.eval.txt", **{"format": "tot"} | options)


def given_back(small: Small, **options: Any) -> Any:
    """Return the labels of a round of people who answered all."""
    folder = small.folder / f"tasks-{len(list(small.folder.glob('tasks-*')))}"
    texts = {docno: f"text of {docno}" for docno in small.pool.to_frame()["docno"]}
    tasks = ptr.judging.export_tasks(
        small.pool, folder, topics=dict(zip(small.topics["qid"], small.topics["query"], strict=True)), texts=texts,
        **{"annotators": ["ann", "bob"]} | options,
    )  # fmt: skip
    for name in tasks.table["file"].unique():
        rows = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
        rows.assign(label=[str(n % 2) for n in range(len(rows))]).to_csv(folder / name, index=False)
    return ptr.judging.import_labels(folder)


STUDIES: dict[str, Golden] = {
    "leave_out_uniques": Golden(
        of("leave_out_uniques", "runs", "qrels"),
        SHORT,
        {"by": ["run", "type", "family"], "remove": ["relevant", "judged"], "fill": ["FILL"],
         **MEASURED, **DEPTH, **POOLED, **GRADES, **TOPICS, **DRAWN, **JOBS},
    ),
    "leave_out_uniques, filled": Golden(
        of("leave_out_uniques", "runs", "qrels"), {"fill": "FILL", "depth": 8, **SHORT},
        {"by": ["type"], "holes": ["unjudged"], "judge_rel": [2], **GRADES, **DRAWN},
    ),
    "by_type": Golden(
        of("by_type", "runs", "qrels"),
        {"splits": 3, **SHORT},
        {"pools": ["lexical", ["neural", "manual"]], "unit": ["run"], "splits": ["all"], "gold": ["judgments"],
         **MEASURED, **DEPTH, **POOLED, **GRADES, **DRAWN, **JOBS},
    ),
    "found_by_depth": Golden(
        of("found_by_depth", "runs", "qrels", measures=False), {},
        {"by": ["team", "run", "family"], "depths": [3, [1, 9]], **POOLED, **GRADES},
    ),
    "leave_out_type": Golden(
        of("leave_out_type", "runs", "qrels"), SHORT,
        {"types": ["lexical"], **MEASURED, **DEPTH, **POOLED, **GRADES, **DRAWN},
    ),
    "leave_out_dynamic": Golden(
        dynamic, {"depth": 4},
        {"by": ["type", "run"], "measures": [MEASURES],
         **POOLED, **GRADES, **TOPICS, **DRAWN},
    ),
    "coverage": Golden(
        of("coverage", "runs", "qrels", measures=False), {},
        {"measures": ["AP", ["nDCG@5", "RBP(rel=1, p=0.9)"]], "depths": [7, [2, 4]], "p": [0.95],
         "by": ["team", "type"], **DEPTH, **POOLED, **GRADES, "complete": [False]},
    ),
    "sensitivity": Golden(sensitive, {"grid": ["remove"]}, {"grid": [None, {"rel": [1, 2]}], "full": [True], **GRADES}),
    "compare_judgments": Golden(
        of("compare_judgments", "runs", "qrels", "other"), SHORT,
        {"names": [("ours", "theirs")], "measures_b": [["RR", "AP"]], "topics": ["own"], "selected": [["lex1a"]],
         "judge_rel": [2], **MEASURED, **DEPTH, **GRADES, "complete": [False], **DRAWN, **JOBS},
    ),
    "compare_labels": Golden(
        of("compare_labels", "qrels", "judge_labels", measures=False), SHORT,
        {"people": ["PEOPLE"], "judge_rel": MODEL["judge_rel"], "families": MODEL["families"], **GRADES, **DRAWN},
    ),
    "audit_labels": Golden(
        of("audit_labels", "runs", "qrels", "judge_labels"), SHORT,
        {"people": ["PEOPLE"], "by": ["team", "type", "family"], "best": [3], **MEASURED, **GRADES, **MODEL, **TOPICS,
         **DRAWN, **JOBS},
    ),
    "circularity": Golden(
        of("circularity", "runs", "qrels", "judge_labels"), SHORT,
        {"depth": [4], "best": [3], **MEASURED, **GRADES, **MODEL, "complete": [False], **DRAWN},
    ),
    "family_effect": Golden(
        of("family_effect", "runs", "qrels", "judge_labels"), {"families": {"lax": "gpt", "strict": "old"}, **SHORT},
        {"caliper": [0.5], **MEASURED, **GRADES, "missing": ["drop"], "judge_rel": [2], "complete": [False], **DRAWN},
    ),
    "significance_fidelity": Golden(
        of("significance_fidelity", "runs", "qrels", "judge_labels"), {"resamples": 0},
        {**MEASURED, **TESTED, **CORRECTED, **GRADES, **MODEL, "without_topics": ["zero"], **DRAWN},
    ),
    "compare_leaderboards": Golden(
        of("compare_leaderboards", "scores", "boards", measures=False), SHORT,
        {"measures": ["AP"], "judge_measures": ["AP"], "topics": ["own"], "best": [3], **DRAWN},
    ),
    "prediction_powered": Golden(
        of("prediction_powered", "runs", "some_topics", "judge_labels"), {},
        {"lam": [0.5], "variance": ["plain", "jackknife"], "correction": ["none", "holm"], "confidence": [0.9],
         **MEASURED, **GRADES, "judge_rel": [2]},
    ),
    "annotator_agreement": Golden(
        of("annotator_agreement", "labels", measures=False), SHORT,
        {"gold": ["GOLD"], "weights": ["linear", "quadratic"], "ties": ["higher"], "over": ["items"], **GRADES,
         **DRAWN},
    ),
    "label_distributions": Golden(
        of("judging.label_distributions", "labels", measures=False), {}, GRADES
    ),
    "pilot_agreement": Golden(
        of("judging.pilot_agreement", "labels", measures=False), SHORT,
        {"target": [0.9], **GRADES, **DRAWN},
    ),
    "rankings_by_annotator": Golden(
        of("judging.rankings_by_annotator", "runs", "people", "qrels"), {},
        {"others": ["drop"], "majority": ["lower", ["higher", "median"]], **MEASURED},
    ),
    "majority_vote": Golden(
        of("majority_vote", "labels", measures=False), {}, {"ties": ["higher", "median"], **GRADES}
    ),
    "discriminative_power": Golden(
        of("discriminative_power", "both_scores", measures=False), {}, {**TESTED, **CORRECTED, "seed": [3], **JOBS}
    ),
    "stability": Golden(
        of("stability", "both_scores", measures=False), {"pairs": 200},
        {"sizes": [[2], [1, 3]], "bin_width": [0.05], "bins": [5], "replace": [False], **DRAWN, **JOBS},
    ),
    "rank_intervals": Golden(
        of("rank_intervals", "scores", measures=False), {}, {"confidence": [0.9]}
    ),
    "bounds": Golden(
        of("bounds", "runs", "qrels"), {},
        {**GRADES, "further": [2], "test": ["wilcoxon"], "alpha": [0.2], "correction": ["holm"]},
    ),
    "compare_estimators": Golden(
        of("compare_estimators", "runs", "qrels", measures=False), {"measures": ["P@5", "nDCG@10"], "by": "run"},
        {"estimators": [["zero", "documents"]], "confidence": [0.8], "depth": [8], "judge": ["FILL"], **POOLED},
    ),
    "check_new_run": Golden(
        of("check_new_run", "later", "earlier", "qrels", measures=False), {"measures": ["P@5", "nDCG@10"], "by": "run"},
        {"confidence": [0.8], "depth": [8], "judge": ["FILL"], "pool_order": ["file"]},
    ),
    "judge_next": Golden(
        of("judge_next", "earlier", "qrels", measures=False), {"new": "LATER", "measures": "P@5", "by": "run"},
        {"goal": ["score"], "n": [5], "confidence": [0.8], "depth": [8], "judge": ["FILL"], "seed": [3]},
    ),
    "saturation": Golden(of("saturation", "scores", measures=False), {}, {"share": [0.5], "maximum": [1.5]}),
    "density": Golden(of("density", "qrels", measures=False), {}, GRADES),
    "density of pools": Golden(
        of("density", "qrels", measures=False), {"runs": "RUNS"}, {"depths": [[1, 5]], **GRADES, **POOLED}
    ),
    "minimum_ranks": Golden(
        of("minimum_ranks", "runs", "qrels", measures=False), {},
        {**DEPTH, **GRADES, "contributors": ["pooled"], "pool_order": ["file"]},
    ),
    "pool_costs": Golden(
        of("pool_costs", "runs", "qrels", measures=False), {"depths": [1, 5, 10], **SHORT},
        {**MEASURED, **POOLED, **GRADES, **TOPICS, **DRAWN, **JOBS},
    ),
    "plan_collection": Golden(
        of("plan_collection", "runs", "qrels", measures=False),
        {"topics": [3, 6, 20], "depths": [1, 5], "repeats": 2, "draws": 3, "max_density": 0.9},
        {"tau": [0.99], "drop": [2], "width": [0.3], "strategies": [["rank", "mtf"]], "by": ["run"],
         "min_relevant": [9], "seed": [3], **MEASURED, **POOLED, **GRADES, **JOBS},
    ),
    "topic_yield": Golden(
        of("topic_yield", "qrels", measures=False), {"topics": [3, 51]},
        {"max_density": [0.9], "min_relevant": [9], **GRADES},
    ),
    "compare_strategies": Golden(
        of("compare_strategies", "runs", "qrels", measures=False),
        {"strategies": ["rank", "mtf"], "budgets": [0.1, 0.5], "repeats": 2},
        {"strategies": [["hedge", "mtc", "rrf", "random"], ["thompson", "ucb1-tuned", "epsilon-greedy", "max-mean"]],
         "budgets": [5], "leave_out": ["team", "type"], "seed": [3], **MEASURED, **DEPTH, **POOLED, **GRADES, **JOBS},
    ),
    "subcollections": Golden(
        subcollections, {"repeats": 2, "resamples": 3},
        {"relevant": ["own"], **MEASURED, **TESTED, **CORRECTED,
         **GRADES, **DRAWN, **JOBS},
    ),
    "subcollections at random": Golden(
        split_at_random, {"repeats": 2, "resamples": 3},
        {"sizes": [20, [50, 100]], "shares": [0.5], "relevant": ["own"]}
    ),
    "subcollections, mixed": Golden(mixed, {"repeats": 2, "resamples": 3}, {"sizes": [60], "shares": [[0.2, 0.5]]}),
    "check_runs": Golden(of("check_runs", "runs", "qrels"), {}, {"measures": [["RR", "infAP"]]}),
    "infer_pool": Golden(
        of("infer_pool", "runs", "qrels", measures=False), {},
        {"depth": [5, "common", "topic"], "tolerance": [0.0, 0.2], "order": ["file", "rank"]},
    ),
    "plan_labels": Golden(
        of("plan_labels", "ann", measures=False), {"width": 0.2},
        {"target": ["precision"], "width": [0.1], "confidence": [0.9], "seed": [3],
         "judge_rel": [2], **GRADES},
    ),
    "label_estimate": Golden(estimated, {}, {"seed": [2], "confidence": [0.8]}),
    "score": Golden(of("score", "runs", "qrels"), {}, {**MEASURED, **TOPICS, **JOBS}),
    "estimate_relevant": Golden(of("estimate_relevant", "sampled_qrels", measures=False), {}, GRADES),
    "infAP of a sample": Golden(
        of("score", "runs", "sampled_qrels"), {"measures": [ptr.pools.xinfAP, ptr.pools.xinfNDCG]}, TOPICS
    ),
}  # fmt: skip
POOLS: dict[str, Golden] = {
    "depth_pool": Golden(
        of("depth_pool", "runs", measures=False), {},
        {"depth": [1, 7], "depth_by_run": [{"lex1a": 3}], "contributors": ["all"], "order": ["file", "trec_eval9"],
         **JOBS},
    ),
    "take_pool": Golden(
        of("take_pool", "runs", measures=False), {"n": 20},
        {"per": ["all"], "depth": [4], "contributors": ["all"], "order": ["file"]},
    ),
    "fusion_pool": Golden(
        of("fusion_pool", "runs", measures=False), {"n": 20},
        {"method": ["rbp", "combsum", "combmnz", "borda"], "per": ["all"], "k": [10.0], "depth": [4],
         "contributors": ["all"], "order": ["file"]},
    ),
    "sample_pool": Golden(sampled, {}, {"share": [0.2], "seed": [1], "strata": ["runs"], "bands": [[1, 3, 99]]}),
}  # fmt: skip
JUDGING: dict[str, Golden] = {
    "judge_adaptively": Golden(
        judged, {},
        {"strategy": ["rank", "hedge", "mtc", "thompson", "max-mean-ns", ("STRATEGY", "epsilon-greedy")],
         "budget": [3, 0.5], "depth": [4], "contributors": ["all"], "order": ["file"], "batch_size": [3], "seed": [2],
         **GRADES},
    ),
    "judge_with_model": Golden(
        assisted, {}, {"budget": [0.5], "batch_size": [3], "calibrate": ["topic"], "seed": [2], **GRADES}
    ),
    "judge_continuously": Golden(continuous, {}, {"seed": [2], **GRADES}),
    "Noisy": Golden(noisy, {}, {"seed": [2], "unknown": ["not relevant", "error"]}),
    "Calibrated": Golden(calibrated, {}, {"share": [0.5], "seed": [2], **GRADES}),
    "read_runs": Golden(
        read_again, {},
        {"order": ["rank", "file", "trec_eval9"], "pool_order": ["file"], "pool_depth": [4], "names": ["file"],
         "duplicates": ["best"], "pooled": [["lex1a", "man3a"], True], "bad_lines": ["skip"], "other_files": ["skip"],
         **JOBS},
    ),
    "read_leaderboard": Golden(
        read_board, {}, {"rows": ["all"], "names": ["tag"], "missing": ["leave_out"], "header": [True]}
    ),
    "import_labels": Golden(given_back, {}, {"overlap": [2], "whole_topics": [True], "seed": [3]}),
}  # fmt: skip
#: words of commands, {} being the folder of files; each writes into a folder of its own
COMMANDS = [
    "score {}/runs --qrels {}/qrels.txt --measures AP,nDCG@10 --per-topic",
    "lou --runs {}/runs --qrels {}/qrels.txt --metadata {}/runs.csv --depth 8 --by type",
    "lou --runs {}/runs --qrels {}/qrels.txt --metadata {}/runs.csv --fill {}/judges/lax.qrels --resamples 5",
    "by-type --runs {}/runs --qrels {}/qrels.txt --metadata {}/runs.csv --splits 3",
    "profile found-by-depth --runs {}/runs --qrels {}/qrels.txt --metadata {}/runs.csv",
    "pool {}/runs --metadata {}/runs.csv --depth 4",
    "profile pool-costs --runs {}/runs --qrels {}/qrels.txt --metadata {}/runs.csv --depths 1,5 --measures AP",
    "profile coverage --runs {}/runs --qrels {}/qrels.txt --metadata {}/runs.csv --by team",
    "compare {}/runs --qrels {}/qrels.txt --other {}/other.qrels --judgment-names a,b",
    "audit --runs {}/runs --human {}/qrels.txt --metadata {}/runs.csv --judges {}/judges --resamples 5",
    "profile stability {}/runs --qrels {}/qrels.txt --pairs 100",
    "infer-pool --runs {}/runs --qrels {}/qrels.txt",
    "judge agreement {}/people/ann.qrels {}/people/bob.qrels --resamples 5",
    "judge plan-labels --judge {}/people/ann.qrels --width .2",
]

#: what nobody can mean, one for each option
BAD = [-1, "nonsense", float("nan"), [], None]


# what a call comes to

#: by how much numbers may differ from machine to machine
CLOSE = 1e-9


def outcome(call: Callable[[], Any]) -> dict[str, Any]:
    """Return what a call comes to: tables by name, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call()
        except Exception as error:  # whatever it is, it is what the user meets
            return {"error": type(error).__name__}
    # when a label was given is another time each time
    tables = {name: frame.drop(columns="time", errors="ignore") for name, frame in tables_of(found).items()}
    return {"tables": tables}


def tables_of(found: Any) -> dict[str, pd.DataFrame]:
    """Return the tables of whatever a function of the package returns."""
    if isinstance(found, pd.DataFrame):
        return {"table": found}
    if isinstance(found, ptr.RunSet):
        return {"frame": found.to_frame(), "run_table": found.run_table}
    if hasattr(found, "tables"):
        return found.tables()
    return {"frame": found.to_frame()}


def prints(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return an outcome in a number or two for each column, small enough to be kept beside the tests."""
    if "error" in found:
        return {"error": found["error"]}
    return {"tables": {name: _of_table(frame) for name, frame in found["tables"].items()}}


def _of_table(frame: pd.DataFrame) -> dict[str, Any]:
    """Return how many rows there are; of each column a weighted sum and how many values are missing, or a digest."""
    columns = [(str(name), frame.iloc[:, n]) for n, name in enumerate(frame.columns)]
    return {"rows": len(frame), "columns": {name: _of_column(column) for name, column in columns}}


def _of_column(column: pd.Series) -> Any:
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        weights = 1 + np.arange(len(values)) % 97 / 97
        finite = np.isfinite(values)
        return [float(f"{(values * weights)[finite].sum():.12g}"), int((~finite).sum())]
    return hashlib.sha256("\n".join(map(repr_of, column.tolist())).encode("utf-8", "replace")).hexdigest()[:12]


def repr_of(value: Any) -> str:
    """Return a cell as text; numbers of whatever kind alike."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.9g}"
    return "missing" if value is None or value is pd.NA or value is pd.NaT else str(value)


def differences(now: dict[str, Any], before: dict[str, Any]) -> Iterator[str]:
    """Yield where a call comes to something else: another error, table or number; what is new is no fault."""
    if "error" in now or "error" in before:
        if now != before:
            yield f"{before.get('error', 'a result')} is now {now.get('error', 'a result')}"
        return
    for table, kept in before["tables"].items():
        if table not in now["tables"]:
            yield f"{table}: gone"
            continue
        found = now["tables"][table]
        if found["rows"] != kept["rows"]:
            yield f"{table}: {kept['rows']} rows are now {found['rows']}"
        for column, value in kept["columns"].items():
            if column not in found["columns"]:
                yield f"{table}.{column}: gone"
            elif not _alike(found["columns"][column], value):
                yield f"{table}.{column}: {value} is now {found['columns'][column]}"


def _alike(now: Any, before: Any) -> bool:
    if isinstance(now, list) and isinstance(before, list):
        return now[1] == before[1] and abs(now[0] - before[0]) <= CLOSE * max(1, abs(before[0]))
    return now == before


# the tests


KEPT = Path(__file__).parent
WRITE = os.environ.get("PT_REUSE_WRITE_GOLDEN") == "1"
ALL = STUDIES | POOLS | JUDGING


def gdeval(command: list[str]) -> bytes:
    """Print ERR as gdeval.pl does, which would be a process for each of 1,600 runs."""
    *_, qrels, run, cutoff = command
    judged = [line.split() for line in Path(qrels).read_text().splitlines()]
    labels = {(qid, docno): max(int(label), 0) for qid, _, docno, label in judged}
    lists: dict[str, list[tuple[float, str]]] = {}
    for qid, _, docno, _, score, _ in map(str.split, Path(run).read_text().splitlines()):
        lists.setdefault(qid, []).append((float(score), docno))
    lines = ["runid,topic,ndcg,err"]
    for qid in lists.keys() & {qid for (qid, _), label in labels.items() if label}:
        err, going_on = 0.0, 1.0
        for rank, (_, docno) in enumerate(sorted(lists[qid], reverse=True)[: int(cutoff)], 1):
            satisfied = (2 ** labels.get((qid, docno), 0) - 1) / 16
            err, going_on = err + satisfied * going_on / rank, going_on * (1 - satisfied)
        lines.append(f"run,{qid},0,{err:.5f}")
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gdeval_provider.subprocess, "check_output", gdeval)
        yield Small(tmp_path_factory.mktemp("golden"))


def calls_of(name: str, golden: Golden) -> dict[str, dict]:
    """Return the options of every call by what it is called: all defaults, each value alone, some together."""
    found = {"defaults": {}}
    found |= {f"{o}={v!r}": {o: v} for o, values in golden.options.items() for v in values}
    drawn = random.Random(name)
    found["drawn 0"] = {o: drawn.choice(v) for o, v in golden.options.items() if drawn.random() < 0.4}
    for option in golden.options:
        value = BAD[-len(option) % len(BAD)]
        found[f"{option}={value!r}, bad"] = {option: value}
    return found


def check(name: str, now: dict[str, dict]) -> None:
    """Compare outcomes with those that are kept; keep them where that is asked for."""
    file, found = KEPT / f"{name}.json", {call: prints(one) for call, one in now.items()}
    if WRITE:
        lines = (f" {json.dumps(call)}: {json.dumps(one)}" for call, one in found.items())
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    kept, found = json.loads(file.read_text(encoding="utf-8")), json.loads(json.dumps(found))
    assert kept.keys() <= found.keys()
    wrong = [f"{call}: {said}" for call, one in kept.items() for said in differences(found[call], one)]
    assert not wrong, "\n".join(wrong[:40])


@pytest.mark.parametrize("name", ALL)
def test_calls_come_to_what_they_came_to(name, small):
    golden = ALL[name]
    now = {}
    for call, options in calls_of(name, golden).items():
        given = {option: small.stands_for(value) for option, value in {**golden.base, **options}.items()}
        now[call] = outcome(lambda given=given: golden.call(small, **given))
    check(name, now)


@pytest.mark.filterwarnings("default")
def test_commands_write_what_they_wrote(small, tmp_path, capsys, monkeypatch):
    def no_pictures():
        raise sheet.NoMatplotlibError("not drawn")

    monkeypatch.setattr(sheet, "off_screen", no_pictures)
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    now = {}
    for n, words in enumerate(COMMANDS):
        out = tmp_path / str(n)
        status, _, err = run(capsys, *words.replace("{}", str(small.folder)).split(), "--out", out)
        assert status == 0, err
        files = sorted(path for path in out.rglob("*") if path.is_file()) if out.is_dir() else [out]
        tables = {str(path.relative_to(out)): pd.read_csv(path) for path in files if path.suffix == ".csv"}
        now[words] = {"tables": tables}
    check("commands", now)
