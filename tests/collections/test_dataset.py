"""A collection as a dataset: its runs, topics and judgments, with what is on record of them."""

from __future__ import annotations

import pickle

import pandas as pd
import pyterrier as pt
import pytest
from collection_parts import TREC8, offline, write_run
from ir_measures import AP

import pt_reuse as ptr
from pt_reuse.collections.collection import catalogued


def test_runs_carry_what_is_on_record(trec8_home):
    runs = offline().get_runs(missing="ignore")
    assert runs.names == TREC8
    table = runs.run_table.set_index("name")
    assert table["team"].tolist() == ["ntexas", "ge", "umass", "miti"]
    assert table["type"].tolist() == ["automatic", "manual", "automatic", "manual"]
    assert table["pooled"].tolist() == [True] * 4
    assert runs.order == "trec_eval"


def test_a_dataset_goes_to_other_processes():
    """PyTerrier puts a function of its own on what it returns, which cannot be pickled."""
    for name in ("demo", "trec-8/adhoc"):
        dataset = pt.get_dataset(f"reuse:{name}")
        again = pickle.loads(pickle.dumps(dataset))
        assert (repr(again), type(again)) == (repr(dataset), type(dataset))
    assert pickle.loads(pickle.dumps(pt.get_dataset("reuse:demo"))).get_topics().shape == (41, 2)


def test_conditions_choose_before_anything_is_read(messages, trec8_home):
    (trec8_home / "trec-8" / "adhoc" / "runs" / "input.8manexT3D1N0.gz").write_text("no run at all")
    runs = offline().get_runs(type="automatic", pooled=True, missing="ignore")
    assert runs.names == ["1", "INQ604"]
    assert offline().get_runs(team="umass", names=["INQ604"], missing="ignore").names == ["INQ604"]
    messages.refused(lambda: offline().get_runs(team="umas"))
    messages.refused(lambda: offline().get_runs(type="neural"))


def test_who_was_pooled_may_not_be_known(messages, home):
    ds = offline("trec-2020/deep/passages")
    messages.refused(lambda: ds.get_runs(pooled=True))
    name = ds.submitted()["name"][0]
    write_run(home / "trec-2020" / "deep" / "passages" / name, name, topics=("3505", "23849"))
    runs = messages.warned(lambda: ds.get_runs(names=name))
    assert runs.pooled.tolist() == [pd.NA]
    # it goes on to say so until somebody says who was pooled
    assert repr(runs).startswith("RunSet: 1 run (pooled: not on record), 1 team")
    qrels = ptr.Qrels(pd.DataFrame({"qid": ["3505"] * 2, "docno": ["FT911-1", "FT911-2"], "label": [1, 0]}))
    assert ptr.depth_pool(runs, depth=1).settings["pooled"] == "who was pooled is not on record: all count"
    assert "pooled" not in ptr.depth_pool(runs, depth=1, contributors="all").settings
    with pytest.warns(ptr.ReuseWarning):
        assert [run.pooled for run in ds.irds_ref().runs_iter()] == [None]
    with pytest.warns(ptr.ReuseWarning, match="one run|only one team"):
        settings = ptr.leave_out_uniques(runs, qrels, ["AP"], depth=1).settings
    assert settings["contributors"] == "pooled (1 of 1 run; who was pooled is not on record: all count)"
    assert repr(runs.with_metadata(pooled=[name])).startswith("RunSet: 1 run (1 pooled)")


def test_a_collection_knows_the_order_of_its_pool(messages, home):
    for name, topic, order in (("trec-covid/round5", "1", "file"), ("trec-8/adhoc", "401", None)):
        run = offline(name).submitted()["name"][0]
        write_run(home / name / "runs" / run, run, topics=(topic,))
        runs = offline(name).get_runs(names=run)
        assert (runs.order, runs.pool_order) == ("trec_eval", order)
    assert offline().get_runs(names=run, pool_order="rank").pool_order == "rank"
    messages.refused(lambda: offline().get_runs(pool_order="x"), argument="pool_order")
    assert ("pool order", "file: pooled in another order than that of scoring") in offline("trec-covid/round5").facts()


def test_ids_of_topics_are_those_of_the_judgments(home):
    """NIST numbers the topics of TREC-1 from 051 and judges 51; elsewhere 001 is not 1."""
    text = "<top>\n<num> Number: 051\n<title> Topic: Airbus Subsidies\n</top>\n"
    folder = home / "trec-1" / "adhoc"
    folder.mkdir(parents=True)
    (folder / "topics.txt").write_text(text)
    assert offline("trec-1/adhoc").get_topics()["qid"].tolist() == ["51"]
    ds = ptr.register_collection("mine", topics=folder / "topics.txt")
    assert ds.get_topics()["qid"].tolist() == ["051"]


def test_judgments_of_another_name_are_refused(messages, home):
    error = messages.refused(lambda: offline().get_judgments("llm"), argument="variant")
    assert "'relevance'" in str(error)
    demo = pt.get_dataset("reuse:demo")
    messages.refused(lambda: demo.get_judgments("llm"), argument="variant")
    assert len(demo.get_judgments()) == len(demo.get_judgments("pool")) == 989


@pytest.mark.filterwarnings("ignore:LOU:pt_reuse.ReuseWarning")
def test_a_collections_name_stands_for_its_runs_and_judgments(messages):
    demo = pt.get_dataset("reuse:demo")
    runs, qrels = demo.get_runs(), demo.get_judgments()
    found = ptr.leave_out_uniques("reuse:demo", "reuse:demo", "AP")
    pd.testing.assert_frame_equal(found.table, ptr.leave_out_uniques(runs, qrels, "AP").table)
    named, given = (
        pt.Experiment([demo.get_dense_retriever()], demo.get_topics(), demo.get_qrels(), [ptr.LOU(AP, field=field)])
        for field in ("reuse:demo", runs)
    )
    assert named.equals(given)
    error = messages.refused(lambda: ptr.score("reuse:dmo", qrels, "AP"))
    assert str(error).count("'reuse:demo'") == 1


def test_aspects_of_a_topic_are_merged_for_qrels(messages, home, monkeypatch):
    ds = offline("trec-2009/web/diversity")
    rows = [("1", "d1", 0, "1"), ("1", "d1", 1, "2"), ("1", "d2", 0, "1")]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label", "subtopic_id"])
    monkeypatch.setattr(ds, "get_qrels", lambda variant: frame)
    merged = messages.warned(lambda: ds.get_judgments().to_frame())
    assert merged.values.tolist() == [["1", "d1", 1], ["1", "d2", 0]]


# real data


@pytest.fixture
def real(data, tmp_path, monkeypatch):
    """Return the folder of real test data, set as the user's second place."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.setenv("PT_REUSE_DATA", str(data))
    return data


@pytest.mark.parametrize(("name", "track"), [("trec-8/adhoc", "trec8"), ("trec-covid/round5", "covid")])
def test_real_runs_are_what_their_tracks_recorded(name, track, real, request):
    recorded = request.getfixturevalue(track).runs
    theirs, ours = recorded.run_table.set_index("name"), catalogued(name).submitted.set_index("name")
    labels = ours.rename(columns={"type": "general", "official_type": "type"})[["team", "type", "pooled"]]
    assert labels.to_dict() == theirs[["team", "type", "pooled"]].to_dict()
    recorded = recorded.select(recorded.names[:8])
    runs = pt.get_dataset(f"reuse:{name}").get_runs(names=recorded.names)
    tables = [some.run_table.set_index("name")[["team", "type", "pooled"]].sort_index() for some in (runs, recorded)]
    pd.testing.assert_frame_equal(*tables)
    assert runs.field.scores.sum() == pytest.approx(recorded.field.scores.sum())
