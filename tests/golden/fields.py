"""Every study that takes runs, over real fields as wide as they are: each comes to what it came to before.

Of the nightly run, which names this file; pytest does not find it by itself. Also the tables of the examples, what
ir_datasets counts of collections, and what ptr.Experiment saves and reads again. Kept and compared as the small field
is; with PT_REUSE_WRITE_GOLDEN=1 written anew.
"""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

import ir_datasets
import pandas as pd
import pyterrier as pt
import pytest
from real_runs import read_real

import pt_reuse as ptr

SMALL = runpy.run_path(str(Path(__file__).with_name("test_golden.py")))
FUNCTIONS, outcome, WRITE = (SMALL[name] for name in ("BY_LAST_NAME", "outcome", "WRITE"))
ROOT, KEPT = Path(__file__).parents[2], Path(__file__).with_suffix(".json")
MEASURES = ["AP", "nDCG@10"]
#: collection -> the folder of its test data and the file of its judgments
FILES = {
    "trec-8/adhoc": ("trec8-adhoc", "trec8.qrels.gz"),
    "trec-2019/deep/passages": ("dl19-passages", "qrels.gz"),
    "trec-2021/deep/passages": ("dl21-passages", "qrels.gz"),
    "trec-covid/round5": ("trec-covid-round5", "qrels.covid-round5.txt.gz"),
}


@dataclass(frozen=True)
class Wide:
    """A real field, and what stands for further judgments: labels of models and of other people, a shallower pool."""

    runs: ptr.RunSet
    qrels: ptr.Qrels
    judges: Mapping[str, Path] = field(default_factory=dict)
    people: Mapping[str, Path] = field(default_factory=dict)

    @property
    def shallow(self) -> ptr.Qrels:
        return self.qrels.restrict(ptr.depth_pool(self.runs, 5))

    @property
    def annotators(self) -> Mapping[str, Path]:
        """Return people who labelled the same, or judges of two labels."""
        return self.people or {name: path for name, path in self.judges.items() if name.startswith("binary")}

    @property
    def scores(self) -> ptr.Scores:
        return ptr.score(self.runs, self.qrels, MEASURES)


def deep_learning(inputs: Path) -> Wide:
    """Return a field of Deep Learning; teams and types as far as they are known."""
    if not inputs.is_dir():
        pytest.skip(f"the test data has no folder {inputs.name}")
    labels, people = (
        {path.name.removesuffix(".gz").removesuffix(".txt"): path for path in sorted((inputs / part).glob("*"))}
        for part in ("llm-labels", "re-annotators")
    )
    types = {"types": inputs / "types"} if (inputs / "types").exists() else {}
    runs = read_real(inputs / "inputs", teams=inputs / "runs-pids", pooled=True, order="trec_eval9", **types)
    return Wide(runs, ptr.read_qrels(inputs / "qrels.gz", rel=2), labels, people)


def later_and_earlier(wide: Wide) -> tuple[ptr.RunSet, ptr.RunSet]:
    """Return two runs as later ones, and the others."""
    names = wide.runs.names
    return wide.runs.select(names=names[:2]), wide.runs.select(names=names[2:])


def with_families(wide: Wide) -> ptr.RunSet:
    """Return the runs, every third of the family of a judge."""
    families = ["gpt" if n % 3 == 0 else "other" for n in range(len(wide.runs))]
    return wide.runs.with_metadata(metadata=wide.runs.run_table[["name"]].assign(family=families))


def with_documents(wide: Wide) -> tuple[Any, pd.DataFrame]:
    """Return numbers that stand for vectors of the documents of the pool, and texts that stand for queries."""
    docnos = {*wide.qrels.to_frame()["docno"], *ptr.depth_pool(wide.runs, 10, contributors="all").to_frame()["docno"]}
    hashes = {docno: crc32(docno.encode()) for docno in sorted(docnos)}
    vectors = ptr.judging.Vectors({docno: [1.0, number % 7, number % 3] for docno, number in hashes.items()})
    return vectors, pd.DataFrame({"qid": wide.qrels.topics, "query": [f"query {qid}" for qid in wide.qrels.topics]})


def call(name: str, *given: Any, **options: Any) -> Any:
    return FUNCTIONS[name](*given, **options)


DL19, DL21 = "trec-2019/deep/passages", "trec-2021/deep/passages"
DEEP, ALL, TYPED = [DL19, DL21], [*FILES], [name for name in FILES if name != DL21]
LABELS = {"judge_rel": {"exam-gpt-4": 2}, "resamples": 20}
#: study -> the fields it is asked of, and the call
STUDIES: dict[str, tuple[list[str], Callable[[Wide], Any]]] = {
    "leave_out_uniques": (ALL, lambda w: call("leave_out_uniques", w.runs, w.qrels, resamples=20)),
    "by_type": (TYPED, lambda w: call("by_type", w.runs, w.qrels)),
    "found_by_depth": (TYPED, lambda w: call("found_by_depth", w.runs, w.qrels)),
    "leave_out_type": (TYPED, lambda w: call("leave_out_type", w.runs, w.qrels)),
    "leave_out_dynamic": (DEEP, lambda w: call("leave_out_dynamic", w.runs, w.qrels, "AP", *with_documents(w))),
    "coverage": (ALL, lambda w: call("coverage", w.runs, w.qrels)),
    # the ranks in the files of TREC-COVID have ties, so that one of its variants is refused
    "sensitivity": (
        [name for name in ALL if "covid" not in name],
        lambda w: call("sensitivity", ptr.leave_out_uniques, w.runs, w.qrels, "AP"),
    ),
    "compare_judgments": (ALL, lambda w: call("compare_judgments", w.runs, w.qrels, w.shallow, resamples=20)),
    "compare_labels": (DEEP, lambda w: call("compare_labels", w.qrels, w.judges, people=w.people or None, **LABELS)),
    "audit_labels": (DEEP, lambda w: call("audit_labels", w.runs, w.qrels, w.judges, **LABELS)),
    "circularity": (DEEP, lambda w: call("circularity", w.runs, w.qrels, w.judges, MEASURES, **LABELS)),
    "family_effect": (
        DEEP,
        lambda w: call("family_effect", with_families(w), w.qrels, w.judges, MEASURES,
                       families={judge: judge.split("-")[1] for judge in w.judges}, **LABELS),
    ),
    "significance_fidelity": (
        DEEP, lambda w: call("significance_fidelity", w.runs, w.qrels, w.judges, MEASURES, **LABELS)
    ),
    "compare_leaderboards": (
        ALL,
        lambda w: call("compare_leaderboards", w.scores, {"shallow": ptr.score(w.runs, w.shallow, MEASURES)},
                       resamples=20),
    ),
    "prediction_powered": (
        DEEP,
        lambda w: call("prediction_powered", w.runs, w.qrels.select(w.qrels.topics[:20]),
                       {"umbrela-gpt-4": w.judges["umbrela-gpt-4"]}, MEASURES),
    ),
    "plan_labels": (DEEP, lambda w: call("plan_labels", ptr.read_qrels(w.judges["umbrela-gpt-4"]), width=0.2)),
    "rankings_by_annotator": (DEEP, lambda w: call("rankings_by_annotator", w.runs, w.annotators, w.qrels, MEASURES)),
    "annotator_agreement": (DEEP, lambda w: call("annotator_agreement", w.annotators, resamples=20)),
    "discriminative_power": (ALL, lambda w: call("discriminative_power", w.scores)),
    "stability": (ALL, lambda w: call("stability", w.scores, pairs=500)),
    "rank_intervals": (ALL, lambda w: call("rank_intervals", w.scores)),
    "saturation": (ALL, lambda w: call("saturation", w.scores)),
    "bounds": (ALL, lambda w: call("bounds", w.runs, w.qrels)),
    "compare_estimators": (DEEP, lambda w: call("compare_estimators", w.runs, w.qrels)),
    "check_new_run": (ALL, lambda w: call("check_new_run", *later_and_earlier(w), w.qrels)),
    "judge_next": (
        ALL, lambda w: call("judge_next", later_and_earlier(w)[1], w.qrels, "P@10", new=later_and_earlier(w)[0])
    ),
    "density": (ALL, lambda w: call("density", w.qrels, runs=w.runs)),
    "minimum_ranks": (ALL, lambda w: call("minimum_ranks", w.runs, w.qrels)),
    "pool_costs": (ALL, lambda w: call("pool_costs", w.runs, w.qrels, resamples=20)),
    "plan_collection": (ALL, lambda w: call("plan_collection", w.runs, w.qrels, repeats=2, draws=3)),
    "compare_strategies": (DEEP, lambda w: call("compare_strategies", w.runs, w.qrels, repeats=1)),
    "subcollections": (ALL, lambda w: call("subcollections", w.runs, w.qrels, how="random", sizes=50, repeats=2)),
    "check_runs": (ALL, lambda w: call("check_runs", w.runs, w.qrels)),
    "infer_pool": (ALL, lambda w: call("infer_pool", w.runs, w.qrels)),
    "score": (ALL, lambda w: call("score", w.runs, w.qrels, MEASURES)),
}  # fmt: skip


@pytest.fixture(scope="module")
def kept():
    """Return what is kept; write it where that is asked for."""
    found = {} if WRITE else json.loads(KEPT.read_text(encoding="utf-8"))
    yield found
    if WRITE:
        lines = (f'"{name}": {json.dumps(one, separators=(",", ":"))}' for name, one in found.items())
        KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def compare(kept: dict[str, Any], name: str, at: str, called: Callable[[], Any]) -> None:
    """Hold what a call comes to, in one place of what is kept, to what it came to."""
    now = json.loads(json.dumps(SMALL["prints"](outcome(called))))
    assert "tables" in now, now
    if WRITE:
        kept.setdefault(name, {})[at] = now
    wrong = list(SMALL["differences"](now, kept[name][at]))
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def wide(data, request):
    """Return what reads a field the first time it is asked for."""
    read = {}

    def field_of(collection: str) -> Wide:
        if collection not in read:
            if collection in DEEP:
                read[collection] = deep_learning(data / FILES[collection][0])
            else:
                track = request.getfixturevalue("trec8" if "8" in collection else "covid")
                read[collection] = Wide(track.runs, track.qrels)
        return read[collection]

    return field_of


@pytest.mark.parametrize(("name", "collection"), [(name, at) for name in STUDIES for at in STUDIES[name][0]])
def test_studies_come_to_what_they_came_to(name, collection, wide, kept):
    given = wide(collection)
    compare(kept, name, collection, lambda: STUDIES[name][1](given))


@pytest.fixture
def home(data, tmp_path, monkeypatch):
    """Put the judgments of the test data where collections look for them."""
    for name, (folder, file) in FILES.items():
        if not (data / folder / file).is_file():
            pytest.skip(f"the test data has no file {folder}/{file}")
        (tmp_path / "home" / name).mkdir(parents=True)
        shutil.copyfile(data / folder / file, tmp_path / "home" / name / "qrels.txt.gz")
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PT_REUSE_DATA", str(data))


@pytest.mark.parametrize("collection", ALL)
def test_collections_by_name_count_what_they_counted(collection, home, kept):
    """What the README does with one of them, beside what ir_datasets counts."""

    def called() -> Any:
        dataset, loaded = pt.get_dataset(f"reuse:{collection}"), ir_datasets.load(f"reuse/{collection}")
        labels = [judged.relevance for judged in loaded.qrels_iter()]
        counts = {"qrels": loaded.qrels_count(), "runs": len(list(loaded.runs_iter()))}
        counts |= {"iterated": len(labels), "relevant": sum(label > 0 for label in labels)}
        lou = ptr.leave_out_uniques(dataset.get_runs(), dataset.get_judgments(), ["nDCG@10"])
        return Tables({"counts": pd.DataFrame([counts]), **lou.tables()})

    compare(kept, "leave_out_uniques", f"reuse:{collection}", called)


@dataclass(frozen=True)
class Tables:
    """Tables by name, as a result has them."""

    named: dict[str, pd.DataFrame]

    def tables(self) -> dict[str, pd.DataFrame]:
        return self.named


def tables_in(space: Mapping[str, Any]) -> Tables:
    """Return the tables of all results, fields, judgments and pools among the names of a script."""
    kinds = (pd.DataFrame, ptr.RunSet, ptr.Qrels, ptr.Pool, ptr.Scores)
    found = {}
    for name, value in space.items():
        for part, one in value.items() if type(value) is dict else [("", value)]:
            if isinstance(one, kinds) or (hasattr(one, "tables") and not isinstance(one, type)):
                found |= {f"{name} {part} {table}": frame for table, frame in SMALL["tables_of"](one).items()}
    return Tables(found)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_come_to_what_they_came_to(example, kept, tmp_path, monkeypatch):
    if "pisa" in (text := example.read_text(encoding="utf-8")):
        pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    if "sentence_transformers" in text and find_spec("sentence_transformers"):
        pytest.skip("with a model of its own it comes to something else")
    monkeypatch.setattr(sys, "argv", [str(example)])
    monkeypatch.chdir(tmp_path)
    compare(kept, "examples", example.name, lambda: tables_in(runpy.run_path(str(example), run_name="__main__")))


@pytest.mark.filterwarnings("ignore")
def test_what_an_experiment_saves_is_read_again_as_it_was(wide, kept, tmp_path):
    given = wide(DL19)
    new, others = later_and_earlier(given)
    topics = pd.DataFrame({"qid": given.qrels.topics, "query": "a query"})

    def called(save_mode: str, systems: Mapping[str, pt.Transformer]) -> pd.DataFrame:
        options = {"field": others, "pooled": True, "depth": 10, "save_dir": str(tmp_path), "save_mode": save_mode}
        return ptr.Experiment(systems, topics, given.qrels, ["AP(rel=2)", "nDCG@10"], **options)

    systems = {name: pt.Transformer.from_df(new[name]) for name in new}
    first = called("error", systems)
    never = {name: pt.apply.generic(lambda frame: 1 / 0) for name in new}
    pd.testing.assert_frame_equal(called("reuse", never), first)
    # pt.Experiment writes measures in an order that changes from process to process
    by = ["name", "qid", "measure"]
    saved = {path.name: pd.read_csv(path) for path in sorted(tmp_path.glob("*.csv"))}
    saved = {name: frame.sort_values([c for c in by if c in frame]).sort_index(axis=1) for name, frame in saved.items()}
    compare(kept, "Experiment", DL19, lambda: Tables({"result": first, **saved}))
