"""Where the run files of a collection are found on this machine."""

from __future__ import annotations

import gzip
import warnings

import pytest
from collection_parts import offline, write_run

import pt_reuse as ptr
from pt_reuse.collections import definition
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import facts_of
from pt_reuse.collections.runs import find_run_files


@pytest.mark.parametrize(
    "where",
    ["trec-8/adhoc/runs/input.1.gz", "trec-8/adhoc/1", "trec8-adhoc/inputs/input.1", "trec8/adhoc/1.gz", "trec8/1"],
)
def test_layouts(home, where):
    write_run(home / where, "1")
    assert offline().get_runs(names="1").names == ["1"]


def test_a_folder_given_is_the_only_one_looked_at(messages, trec8_home, tmp_path):
    write_run(tmp_path / "mine" / "INQ604", "other-tag")
    assert offline().get_runs(runs=tmp_path / "mine", missing="ignore").names == ["INQ604"]
    messages.refused(lambda: offline().get_runs(runs=tmp_path / "nowhere"))
    messages.refused(lambda: offline().get_runs(runs=tmp_path / "mine", names="1"))


def test_files_beside_the_runs_on_record_are_told(trec8_home, tmp_path):
    for name in ("INQ604", "mine"):
        write_run(tmp_path / "runs" / name, name)
    with pytest.warns(ptr.ReuseWarning, match="1 file of no run of this collection left out: 'mine'"):
        assert offline().get_runs(runs=tmp_path / "runs", missing="ignore").names == ["INQ604"]


def test_a_folder_of_ones_own_collection_is_not_that_of_its_alias(home, mine):
    (home / "covid").mkdir(parents=True)
    (home / "covid" / "qrels.txt").write_text("1 0 d1 1\n")
    assert definition.find_collection("trec-covid/round5").qrels == (str(home / "covid" / "qrels.txt"),)
    ptr.register_collection("covid", topics=mine / "topics.tsv")
    assert definition.find_collection("trec-covid/round5").qrels == "irds:cord19/trec-covid/round5"


# what ir_datasets' trec-browser-provider has downloaded

#: the addresses of runs below NIST's `results/`, and what the provider calls their files
PROVIDED = {
    "trec-2019/deep/passages": ("ICT-BERT2", "trec28/deep/input.ICT-BERT2.gz.raw"),
    "trec-8/adhoc": ("INQ604", "trec8/trec8.results.input/adhoc/input.INQ604.gz"),
    "trec-2003/robust": ("MU03rob01", "trec12/robust/inputs/input.MU03rob01.gz"),
}


@pytest.mark.parametrize("name", PROVIDED)
def test_what_the_trec_browser_provider_downloaded(home, tmp_path, monkeypatch, name):
    monkeypatch.undo()
    monkeypatch.setenv("PT_REUSE_HOME", str(home))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    run, path = PROVIDED[name]
    collection = definition.find_collection(name)
    assert find_run_files(collection, [run]) == {}
    path = tmp_path / "irds" / "trec-browser" / path
    topic = sorted(collection.topic_ids or collection.some_topics)[0]
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(f"{topic} Q0 d1 1 2.5 {run}\n".encode()))
    assert find_run_files(collection, [run]) == {run: path}
    # what is found there is said to be looked for there
    assert dict(facts_of(collection))["looked at"] == str(tmp_path / "irds" / "trec-browser")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        assert offline(name).get_runs(names=run, download=False).names == [run]
    # the user's own file comes first, and a folder given is the only one looked at
    own = home / name / "runs" / f"input.{run}"
    write_run(own, run, topics=(topic,))
    assert find_run_files(collection, [run]) == {run: own}
    assert find_run_files(collection, [run], own.parent.parent) == {run: own}
    own.unlink()
    assert find_run_files(collection, [run], own.parent.parent) == {}


def test_addresses_that_lead_out_of_its_folder_are_passed_over(home, tmp_path):
    (tmp_path / "trec-browser").mkdir()
    write_run(tmp_path / "input.x", "x")
    for url in ("https://trec.nist.gov/results/../input.{tag}", "https://example.org/results/a/input.{tag}"):
        collection = Collection(name="x", title="x", url=url)
        assert find_run_files(collection, ["x"]) == {}


def test_missing_runs_are_counted_with_the_teams_that_go(messages, trec8_home):
    with pytest.warns(ptr.ReuseWarning) as caught:
        offline().get_runs(pooled=True)
    message = str(caught[0].message)
    assert "67 of 71 runs missing, 4 there" in message
    pooled = offline().submitted().query("pooled")
    absent = set(pooled["team"]) - {"ntexas", "ge", "umass", "miti"}
    assert f"{len(absent)} teams without any run left: {', '.join(sorted(absent))})" in message
    assert "Download: no network. (67 runs)" in message
    assert str(trec8_home / "trec-8" / "adhoc" / "runs") in message
    messages.refused(lambda: offline().get_runs(pooled=True, missing="error"))
    messages.refused(lambda: offline().get_runs(missing="drop"))


def test_fetch_reports_each_run(trec8_home):
    report = offline().fetch(type="manual")
    assert report.set_index("name").loc["READWARE", "status"] == "here"
    assert set(report["status"]) == {"here", "failed"}
    assert set(report["reason"]) == {None, "no network."}
    assert len(report) == 13
