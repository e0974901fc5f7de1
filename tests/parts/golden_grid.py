"""What the golden harness calls: every study, pool, judge and reader, each option with its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import pandas as pd
from ir_measures import ERR, P
from public import PUBLIC
from small_field import write_field

import pt_reuse as ptr

MEASURES = ["AP", "nDCG@10"]


@dataclass(frozen=True)
class Golden:
    """What is called, and how."""

    call: Callable[..., Any]
    base: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, list[Any]] = field(default_factory=dict)


class Small:
    """The small field: in memory, and as files."""

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
    return ptr.labels.read_leaderboard(small.folder / "judges" / "lax.eval.txt", **{"format": "tot"} | options)


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
        {"types": ["lexical"], "down_to": [3], **MEASURED, **DEPTH, **POOLED, **GRADES, **DRAWN},
    ),
    "leave_out_dynamic": Golden(
        dynamic, {"depth": 4},
        {"by": ["type", "run"], "query_seed": [False], "presumed_negatives": [5], "measures": [MEASURES],
         **POOLED, **GRADES, **TOPICS, **DRAWN},
    ),
    "coverage": Golden(
        of("coverage", "runs", "qrels", measures=False), {},
        {"measures": ["AP", ["nDCG@5", "RBP(rel=1, p=0.9)"]], "depths": [7, [2, 4]], "p": [0.95],
         "by": ["team", "type"], **DEPTH, **POOLED, **GRADES, **TOPICS},
    ),
    "sensitivity": Golden(sensitive, {"grid": ["remove"]}, {"grid": [None, {"rel": [1, 2]}], "full": [True], **GRADES}),
    "compare_judgments": Golden(
        of("compare_judgments", "runs", "qrels", "other"), SHORT,
        {"names": [("ours", "theirs")], "measures_b": [["RR", "AP"]], "topics": ["own"], "selected": [["lex1a"]],
         "judge_rel": [2], **MEASURED, **DEPTH, **GRADES, **TOPICS, **DRAWN, **JOBS},
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
        {"depth": [4], "best": [3], **MEASURED, **GRADES, **MODEL, **TOPICS, **DRAWN},
    ),
    "family_effect": Golden(
        of("family_effect", "runs", "qrels", "judge_labels"), {"families": {"lax": "gpt", "strict": "old"}, **SHORT},
        {"caliper": [0.5], **MEASURED, **GRADES, "missing": ["drop"], "judge_rel": [2], **TOPICS, **DRAWN},
    ),
    "significance_fidelity": Golden(
        of("significance_fidelity", "runs", "qrels", "judge_labels"), {"resamples": 0},
        {**MEASURED, **TESTED, **CORRECTED, **GRADES, **MODEL, **TOPICS, **DRAWN},
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
        of("judging.label_distributions", "labels", measures=False), {}, {"least": [2], **GRADES}
    ),
    "rankings_by_annotator": Golden(
        of("judging.rankings_by_annotator", "runs", "people", "qrels"), {}, {"others": ["drop"], **MEASURED}
    ),
    "majority_vote": Golden(
        of("majority_vote", "labels", measures=False), {}, {"ties": ["higher", "median"], "min_labels": [2], **GRADES}
    ),
    "discriminative_power": Golden(
        of("discriminative_power", "both_scores", measures=False), {}, {**TESTED, **CORRECTED, "seed": [3], **JOBS}
    ),
    "stability": Golden(
        of("stability", "both_scores", measures=False), {"pairs": 200},
        {"sizes": [[2], [1, 3]], "bin_width": [0.05], "bins": [5], "replace": [False], **DRAWN, **JOBS},
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
    "top_agreement": Golden(
        of("top_agreement", "runs", "qrels", "other", measures=False), {"top": 3}, {"resamples": [20], "seed": [3]}
    ),
    "pool_costs": Golden(
        of("pool_costs", "runs", "qrels", measures=False), {"depths": [1, 5, 10], **SHORT},
        {**MEASURED, **POOLED, **GRADES, **TOPICS, **DRAWN, **JOBS},
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
    "infer_pool": Golden(
        of("infer_pool", "runs", "qrels", measures=False), {},
        {"depth": [5, "common", "topic"], "tolerance": [0.0, 0.2], "order": ["file", "rank"], **JOBS},
    ),
    "plan_labels": Golden(
        of("plan_labels", "ann", measures=False), {"width": 0.2},
        {"target": ["precision"], "width": [0.1], "confidence": [0.9], "by_topic": [True], "seed": [3],
         "judge_rel": [2], **GRADES},
    ),
    "label_estimate": Golden(estimated, {}, {"by_topic": [True], "seed": [2], "confidence": [0.8]}),
    "score": Golden(of("score", "runs", "qrels"), {}, {**MEASURED, **TOPICS, **JOBS}),
    "estimate_relevant": Golden(of("estimate_relevant", "sampled_qrels", measures=False), {}, GRADES),
    "infAP of a sample": Golden(of("score", "runs", "sampled_qrels"), {"measures": [ptr.xinfAP, ptr.xinfNDCG]}, TOPICS),
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
GROUPS = {"studies": STUDIES, "pools": POOLS, "judging": JUDGING}
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
#: what nobody can mean, for every option
BAD = [-1, "nonsense", float("nan"), [], None]
