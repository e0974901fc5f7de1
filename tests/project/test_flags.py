"""Every argument of a public function that is True or False is checked: a word such as "no" would count as true."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from declared import STUDIES as DECLARED
from public import functions

import pt_reuse as ptr
from pt_reuse.collections import definition
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.errors import InputError
from pt_reuse.result import Record

FIELD = ptr.demo.simulate_field(seed=7, n_topics=5, n_docs=40, n_teams=3, length=6, depth=2)
pytestmark = pytest.mark.filterwarnings("ignore:subcollections. :pt_reuse.ReuseWarning")
RUNS, QRELS = FIELD.runs, FIELD.qrels
SCORES = ptr.score(RUNS, QRELS, "AP")
SAMPLE = ptr.pools.sample_pool(ptr.depth_pool(RUNS, depth=2), share=0.5, seed=1).judge(QRELS)
TOPICS = pd.DataFrame({"qid": RUNS.topics, "query": "q"})
#: function -> how it is called with a value for one of its flags, in a folder
ANSWERS = ptr.read_answers(pd.DataFrame({"qid": ["1"], "item": ["a"], "x": [1.0]}), teams={"x": "one"})
CALLS = {
    "pools.Chooser.learn": lambda d, **flag: chooser().learn(0, **flag),
    "profile.sensitivity": lambda d, **flag: ptr.profile.sensitivity(
        ptr.leave_out_uniques, RUNS, QRELS, "AP", grid=["remove"], depth=2, **flag
    ),
    "Experiment": lambda d, **flag: ptr.Experiment({"x": RUNS["lex1a"]}, TOPICS, QRELS, ["AP"], **flag),
    "Scores.write_leaderboard": lambda d, **flag: SCORES.write_leaderboard(d / "board", **flag),
    "read_leaderboard": lambda d, **flag: ptr.read_leaderboard(table(d) if "transposed" in flag else headed(d), **flag),
    "Answers.found": lambda d, **flag: ANSWERS.found(**flag),
    "ReuseDataset.fetch": lambda d, **flag: ReuseDataset("trec-8/adhoc").fetch(names=[], **flag),
    "ReuseDataset.get_corpus_iter": lambda d, **flag: ReuseDataset("demo").get_corpus_iter(**flag),
    "ReuseDataset.get_runs": lambda d, **flag: ReuseDataset("demo").get_runs(type="dense", **flag),
    "RunSet.from_pipelines": lambda d, **flag: ptr.RunSet.from_pipelines(
        {"x": pt.Transformer.from_df(RUNS["lex1a"])}, TOPICS, **flag
    ),
    "RunSet.select": lambda d, **flag: RUNS.select(**flag),
    "RunSet.write": lambda d, **flag: RUNS.write(d, **flag),
    "RunSet.write_table": lambda d, **flag: RUNS.write_table(d / "runs.parquet", **flag),
    "Report.to_latex": lambda d, **flag: ptr.score(RUNS, QRELS, "AP").report().to_latex(**flag),
    "judging.export_tasks": lambda d, **flag: tasks(d, **flag),
    "judging.import_labels": lambda d, **flag: ptr.judging.import_labels(judged(d), **flag),
    "Qrels.write": lambda d, **flag: SAMPLE.write(d / "qrels", **flag),
    "judging.judge_adaptively": lambda d, **flag: ptr.judging.judge_adaptively(
        RUNS, "mtf", QRELS, budget=1, depth=2, **flag
    ),
    "judging.judge_with_model": lambda d, **flag: ptr.judging.judge_with_model(
        ptr.depth_pool(RUNS, depth=2), QRELS, FIELD.all_qrels, total=5, **flag
    ),
    "judging.judge_continuously": lambda d, **flag: judged_by_protocol(**flag),
    "list_collections": lambda d, **flag: ptr.list_collections("trec-8", **flag),
    "read_qrels": lambda d, **flag: ptr.read_qrels(
        SAMPLE.write(d / "qrels", strata=flag["strata"] is np.True_), **flag
    ),
    "read_runs": lambda d, **flag: ptr.read_runs(RUNS.write(d / "r", overwrite=True), **flag),
    "register_collection": lambda d, **flag: ptr.register_collection("flags", topics="irds:reuse/demo", **flag),
    "report": lambda d, **flag: ptr.report(None, QRELS, **flag),
    "save": lambda d, **flag: ptr.score(RUNS, QRELS, "AP").save(d, **flag),
    "score": lambda d, **flag: ptr.score(RUNS, QRELS, "AP", **flag),
    "verify": lambda d, **flag: ptr.verify("mine", runs=RUNS, qrels=QRELS, figures=figures(d), **flag),
}


def headed(folder):
    """Return a leaderboard whose first line names the columns."""
    (folder / "headed").write_text("run topic measure value\na 1 AP .5\na all AP .5\n")
    return folder / "headed"


def table(folder):
    """Return a table of topics by systems."""
    (folder / "table.csv").write_text("topic,a,b\n1,.5,.4\n2,.5,.1\n")
    return folder / "table.csv"


def chooser():
    """Return a chooser that has asked for the document 0."""
    chooser = ptr.pools.Strategy("rank").start(ptr.pools.TopicLists.of("1", {"r": ["a", "b"]}), seed=1)
    assert chooser.next() == 0
    return chooser


def tasks(folder, **options):
    shown = {"topics": TOPICS, "texts": [{"docno": docno, "text": "t"} for docno in set(RUNS.to_frame()["docno"])]}
    return ptr.judging.export_tasks(ptr.depth_pool(RUNS, depth=1), folder, annotators=["ann"], **shown, **options)


def judged(folder):
    sheet = folder / tasks(folder).table["file"][0]
    pd.read_csv(sheet, dtype=str).assign(label="1").to_csv(sheet, index=False)
    return folder


def judged_by_protocol(**flag):
    scorer, protocol = ptr.judging.Vectors({"d1": [1.0], "d2": [2.0]}), ptr.judging.AutoTAR(topic_budget=1)
    judge = ptr.judging.Oracle(QRELS, unknown="not relevant")
    return ptr.judging.judge_continuously(scorer, TOPICS, judge, protocol=protocol, **flag)


def figures(folder):
    (folder / "figures.toml").write_text(
        'collection = "mine"\ntitle = "T"\n[[figure]]\nwhat = "it"\nkind = "judgments"\nsource = "nobody"\n'
        "values = { topics = 2 }\n"
    )
    return folder / "figures.toml"


def flags():
    """Return (function, flag) of every public function, and of every public method of a public class."""
    found = []
    for called, function in functions():
        # options of declared studies are held to their declarations; what a subclass of the user's defines we call
        if function in DECLARED.values() or getattr(function, "__isabstractmethod__", False):
            continue
        # one function for all records
        called = "save" if inspect.unwrap(function) is inspect.unwrap(Record.save) else called
        for argument, parameter in inspect.signature(function).parameters.items():
            kinds = re.findall(r"\w+", str(parameter.annotation))
            # the legend of every result is asked for where all are drawn
            drawn = called.endswith(".plot") and argument == "legend"
            # labels may be one flag for all runs, or something else
            if (
                function.__module__.startswith("pt_reuse")
                and "bool" in kinds
                and "RunLabels" not in kinds
                and not drawn
            ):
                found.append((called, argument))
    return list(dict.fromkeys(found))


FLAGS = flags()


def test_the_flags_are_found():
    assert {called for called, _ in FLAGS} == set(CALLS)
    assert {("score", "verbose"), ("save", "overwrite"), ("RunSet.from_pipelines", "verbose")} <= set(FLAGS)
    assert len(FLAGS) > 20


def test_what_is_no_flag_is_refused_and_a_flag_of_numpy_is_one(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path_factory.mktemp("home")))
    refused = {}
    for called, argument in FLAGS:
        monkeypatch.setattr(definition, "_OWN", {})
        with pytest.raises(InputError) as caught:
            CALLS[called](tmp_path_factory.mktemp("refused"), **{argument: "no"})
        refused[called, argument] = caught.value.argument
        # what is fetched comes from the network
        if called != "ReuseDataset.fetch":
            CALLS[called](tmp_path_factory.mktemp("taken"), **{argument: np.True_})
    assert refused == {(called, argument): argument for called, argument in FLAGS}
