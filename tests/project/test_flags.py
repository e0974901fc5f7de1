"""Every argument of a public function that is True or False is checked: a word such as "no" would count as true."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from matplotlib.figure import Figure
from public import PUBLIC

import pt_reuse as ptr
from pt_reuse._errors import InputError
from pt_reuse._result import Record

FIELD = ptr.simulate_field(seed=7, n_topics=2, n_docs=40, n_teams=3, length=6, depth=2)
RUNS, QRELS = FIELD.runs, FIELD.qrels
SCORES, LOU = ptr.score(RUNS, QRELS, "AP"), ptr.leave_out_uniques(RUNS, QRELS, "AP", depth=2)
TOPICS = pd.DataFrame({"qid": RUNS.topics, "query": "q"})
#: function -> how it is called with a value for one of its flags, in a folder
CALLS = {
    "Agreement.plot": lambda d, **flag: SCORES.compare(SCORES).plot(ax=Figure().subplots(), **flag),
    "ContinuousJudging.plot": lambda d, **flag: judged().plot(ax=Figure().subplots(), **flag),
    "Experiment": lambda d, **flag: ptr.Experiment({"x": RUNS["lex1a"]}, TOPICS, QRELS, ["AP"], **flag),
    "InferredPool.plot": lambda d, **flag: ptr.infer_pool(RUNS, QRELS, depth=2).plot(ax=Figure().subplots(), **flag),
    "LeaveOutUniques.plot": lambda d, **flag: LOU.plot(ax=Figure().subplots(), **flag),
    "LeaveOutUniques.plot_drops": lambda d, **flag: LOU.plot_drops(ax=Figure().subplots(), **flag),
    "LeaveOutUniques.plot_uniques": lambda d, **flag: LOU.plot_uniques(ax=Figure().subplots(), **flag),
    "ReuseDataset.fetch": lambda d, **flag: ptr.ReuseDataset("trec-8/adhoc").fetch(names=[], **flag),
    "ReuseDataset.get_corpus_iter": lambda d, **flag: ptr.ReuseDataset("demo").get_corpus_iter(**flag),
    "ReuseDataset.get_runs": lambda d, **flag: ptr.ReuseDataset("demo").get_runs(type="dense", **flag),
    "RunSet.from_pipelines": lambda d, **flag: ptr.RunSet.from_pipelines(
        {"x": pt.Transformer.from_df(RUNS["lex1a"])}, TOPICS, **flag
    ),
    "RunSet.select": lambda d, **flag: RUNS.select(**flag),
    "RunSet.write": lambda d, **flag: RUNS.write(d, **flag),
    "Report.to_latex": lambda d, **flag: ptr.score(RUNS, QRELS, "AP").report().to_latex(**flag),
    "Qrels.write": lambda d, **flag: QRELS.write(d / "qrels", **flag),
    "infer_pool": lambda d, **flag: ptr.infer_pool(RUNS, QRELS, **flag),
    "judge_continuously": lambda d, **flag: judged(**flag),
    "leave_out_uniques": lambda d, **flag: ptr.leave_out_uniques(RUNS, QRELS, "AP", depth=2, **flag),
    "list_collections": lambda d, **flag: ptr.list_collections("trec-8", **flag),
    "read_runs": lambda d, **flag: ptr.read_runs(RUNS.write(d / "r", overwrite=True), **flag),
    "register_collection": lambda d, **flag: ptr.register_collection("flags", topics="irds:reuse/demo", **flag),
    "register_datasets": lambda d, **flag: ptr.register_datasets(**flag),
    "save": lambda d, **flag: ptr.score(RUNS, QRELS, "AP").save(d, **flag),
    "score": lambda d, **flag: ptr.score(RUNS, QRELS, "AP", **flag),
    "verify": lambda d, **flag: ptr.verify("mine", runs=RUNS, qrels=QRELS, figures=figures(d), **flag),
}


def judged(**flag):
    scorer, protocol = ptr.judging.Vectors({"d1": [1.0], "d2": [2.0]}), ptr.judging.AutoTAR(topic_budget=1)
    return ptr.judge_continuously(scorer, TOPICS, QRELS, protocol=protocol, **flag)


def figures(folder):
    (folder / "figures.toml").write_text(
        'collection = "mine"\ntitle = "T"\n[[figure]]\nwhat = "it"\nkind = "judgments"\nsource = "nobody"\n'
        "values = { topics = 2 }\n"
    )
    return folder / "figures.toml"


def flags():
    """Return (function, flag) of every public function, and of every public method of a public class."""
    found = []
    for name, value in PUBLIC.items():
        functions = {name: value} if inspect.isfunction(value) else {}
        if inspect.isclass(value) and not issubclass(value, Exception):
            members = {
                member: getattr(inspect.getattr_static(value, member), "__func__", None) for member in dir(value)
            }
            members |= {member: function for member, function in inspect.getmembers(value, inspect.isfunction)}
            functions = {f"{name}.{member}": f for member, f in members.items() if f and not member.startswith("_")}
        for called, function in functions.items():
            if function.__module__.startswith("pt_reuse"):
                # one function for all records; labels may be one flag for all runs, or something else
                called = "save" if inspect.unwrap(function) is inspect.unwrap(Record.save) else called
                for argument, parameter in inspect.signature(function).parameters.items():
                    kinds = re.findall(r"\w+", str(parameter.annotation))
                    if "bool" in kinds and "RunLabels" not in kinds:
                        found.append((called, argument))
    return list(dict.fromkeys(found))


FLAGS = flags()


def test_the_flags_are_found():
    assert {called for called, _ in FLAGS} == set(CALLS)
    assert {("score", "verbose"), ("save", "overwrite"), ("RunSet.from_pipelines", "verbose")} <= set(FLAGS)
    assert len(FLAGS) > 20


@pytest.mark.parametrize("value", ["no", 1])
@pytest.mark.parametrize(("called", "argument"), FLAGS)
def test_what_is_no_flag_is_refused(called, argument, value, tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    with pytest.raises(InputError, match="True") as caught:
        CALLS[called](tmp_path, **{argument: value})
    assert caught.value.argument == argument
    assert str(caught.value).endswith(f", got {value!r}.")


@pytest.mark.parametrize("value", [np.True_, np.False_])
@pytest.mark.parametrize(("called", "argument"), [flag for flag in FLAGS if flag[0] != "ReuseDataset.fetch"])
def test_flags_of_numpy_are_flags(called, argument, value, tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    CALLS[called](tmp_path, **{argument: value})
