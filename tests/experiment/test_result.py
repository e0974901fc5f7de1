"""What ptr.Experiment returns is a DataFrame in every respect, and knows the runs that were executed."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, frames, retrievers
from ir_measures import AP, P, nDCG

import pt_reuse as ptr
from pt_reuse.experiment.experiment_result import ExperimentResult

MEASURES = [AP, nDCG @ 10, P @ 5]


def experiment(**arguments):
    given = {"field": OTHERS, "depth": 8, **arguments}
    return ptr.Experiment(retrievers(), TOPICS, QRELS, MEASURES, **given)


@pytest.fixture(scope="module")
def made_once():
    """Return one result, which no test changes."""
    return experiment()


#: what pandas makes of a result, which knows the runs still
KEEPING = {
    "copy": lambda r: r.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda r: pickle.loads(pickle.dumps(r)),
    "sort_values": lambda r: r.sort_values("AP", ascending=False),
    "query": lambda r: r.query("AP > 0.3"),
    "loc": lambda r: r.loc[r["AP"] > 0.3],
    "columns": lambda r: r[["name", "AP"]],
    "filter": lambda r: r.filter(like="AP"),
    "round": lambda r: r.round(2),
    "assign": lambda r: r.assign(more=1),
    "drop": lambda r: r.drop(columns="AP"),
    "rename": lambda r: r.rename(columns={"AP": "map"}),
    "set_index": lambda r: r.set_index("name"),
    "reset_index": lambda r: r.set_index("name").reset_index(),
    "transpose": lambda r: r.T,
    "melt": lambda r: r.melt(id_vars="name"),
    "astype": lambda r: r.astype({"AP": "float32"}),
    "concat with itself": lambda r: pd.concat([r.head(2), r.tail(1)]),
    "style": lambda r: r.style.data,
    "merge": lambda r: r.merge(pd.DataFrame({"name": NAMES, "size": [1, 2, 3]}), on="name"),
    "merge into": lambda r: type(r)(pd.DataFrame({"name": NAMES, "size": [1, 2, 3]})).merge(r, on="name"),
    "join": lambda r: r.set_index("name").join(pd.DataFrame({"size": [1, 2, 3]}, index=NAMES)),
}


@pytest.mark.parametrize("make", KEEPING.values(), ids=KEEPING)
def test_what_pandas_makes_of_it_is_what_it_makes_of_a_plain_frame_and_knows_the_runs(make, made_once):
    result = made_once
    plain = pd.DataFrame(result)
    assert type(plain) is pd.DataFrame
    made = make(result)
    assert isinstance(made, ExperimentResult)
    pd.testing.assert_frame_equal(pd.DataFrame(made), make(plain))
    assert made.attrs == result.attrs
    assert made.runs.names == NAMES
    assert made.runs.to_frame().equals(result.runs.to_frame())


@pytest.mark.parametrize(
    "more",
    [{}, {"perquery": True}, {"perquery": "both"}, {"highlight": "bold"}, {"layout": "long"}, {"baseline": 0}],
    ids=str,
)
def test_every_form_knows_the_runs(more):
    result = experiment(**more)
    parts = result if isinstance(result, tuple) else [result]
    for part in parts:
        frame = getattr(part, "data", part)
        assert isinstance(frame, ExperimentResult)
        assert frame.runs.names == NAMES
    if isinstance(result, tuple):
        assert type(result) is type(pt.Experiment(frames(), TOPICS, QRELS, [AP], perquery="both"))
        assert result.averages.runs is result.perquery.runs


# the runs are those that were scored


def test_runs_are_executed_once_and_give_the_numbers_of_the_experiment():
    systems = retrievers()
    teams = {"lex1a": "us", "neu2a": "us", "man3a": "them"}
    result = ptr.Experiment(
        systems, TOPICS, QRELS, MEASURES, teams=teams, types=dict.fromkeys(NAMES, "any"), reuse="rank"
    )
    runs = result.runs
    pool = ptr.depth_pool(runs, depth=10)
    scores = ptr.score(runs, QRELS, MEASURES)
    assert [system.calls for system in systems.values()] == [1, 1, 1]
    assert runs.order == "trec_eval9"
    assert runs.run_table[["name", "team", "type"]].to_numpy().tolist() == [[n, teams[n], "any"] for n in NAMES]
    assert runs.pooled.isna().all(), "nobody said it"
    for measure in MEASURES:
        assert scores.mean[str(measure)].tolist() == pytest.approx(result[str(measure)].tolist(), abs=1e-12)
        assert scores.ranks[str(measure)].tolist() == result[f"{measure} rank"].tolist()
    # the pool by hand
    expected = set()
    for frame in frames().values():
        keyed = frame.assign(key=frame["score"].astype(np.float32)).sort_values(["key", "docno"], ascending=False)
        expected |= set(zip(*keyed.groupby("qid").head(10)[["qid", "docno"]].to_numpy().T, strict=True))
    assert set(zip(*pool.to_frame()[["qid", "docno"]].to_numpy().T, strict=True)) == expected


def test_runs_of_batches_trees_and_saved_files(tmp_path):
    whole = experiment().runs.to_frame()
    assert experiment(batch_size=2).runs.to_frame().equals(whole)
    assert experiment(plan="tree", verbose=False).runs.to_frame().equals(whole)
    save = {"save_dir": str(tmp_path), "save_format": pickle}
    experiment(**save)
    systems = {name: Retriever(FIELD.runs["lex1a"]) for name in NAMES}
    again = ptr.Experiment(systems, TOPICS, QRELS, MEASURES, field=OTHERS, depth=8, save_mode="reuse", **save)
    assert again.runs.to_frame().equals(whole)
    assert [system.calls for system in systems.values()] == [0, 0, 0]
