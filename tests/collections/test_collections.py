"""Collections by name: their runs from the user's folders, their judgments through ir_datasets."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.collections import fetching, registry, run_files
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download.run_check import check_run_file
from pt_reuse.collections.download.runs import Fetched, FolderInUseError
from pt_reuse.collections.run_files import file_names, find_run_files, folders_of

TREC8 = ["1", "8manexT3D1N0", "INQ604", "READWARE"]


def no_network(urls, *_, **__):
    return Fetched(files={}, failed=dict.fromkeys(urls, "no network."))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return an empty folder of the user's; nothing outside it is looked at."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    monkeypatch.setattr(fetching, "fetch_runs", no_network)
    return tmp_path / "home"


def write_run(path: Path, tag: str, topics=("401", "450")):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{topic} Q0 FT911-{rank} {rank} {10 - rank} {tag}\n" for topic in topics for rank in (1, 2, 3))
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.fixture
def trec8_home(home):
    for name in TREC8:
        write_run(home / "trec-8" / "adhoc" / "runs" / f"input.{name}.gz", name)
    return home


def offline(name="trec-8/adhoc"):
    return pt.get_dataset(f"reuse:{name}")


def test_runs_carry_what_is_on_record(trec8_home):
    runs = offline().get_runs(missing="ignore")
    assert runs.names == TREC8
    table = runs.run_table.set_index("name")
    assert table["team"].tolist() == ["ntexas", "ge", "umass", "miti"]
    assert table["type"].tolist() == ["automatic", "manual", "automatic", "manual"]
    assert table["pooled"].tolist() == [True] * 4
    assert runs.order == "trec_eval"


def test_conditions_choose_before_anything_is_read(messages, trec8_home):
    (trec8_home / "trec-8" / "adhoc" / "runs" / "input.8manexT3D1N0.gz").write_text("no run at all")
    runs = offline().get_runs(type="automatic", pooled=True, missing="ignore")
    assert runs.names == ["1", "INQ604"]
    assert offline().get_runs(team="umass", names=["INQ604"], missing="ignore").names == ["INQ604"]
    messages.refused(lambda: offline().get_runs(team="umas"))
    messages.refused(lambda: offline().get_runs(type="neural"))


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


def test_teams_that_are_absent_are_those_without_any_run(messages, home):
    names = offline().submitted()
    umass = names.loc[names["team"] == "umass", "name"].tolist()
    write_run(home / "trec8-adhoc" / f"{umass[0]}.gz", umass[0])
    messages.warned(lambda: offline().get_runs())


def test_without_any_run_the_error_says_which_folder_to_fill(messages, home):
    with pytest.raises(ptr.InputError) as error:
        offline().get_runs()
    message = str(error.value)
    assert "none of 129 runs is on this machine, and none could be downloaded: no network. (129 runs)" in message
    assert f"{home / 'trec-8' / 'adhoc' / 'runs'}, named 'input.1.gz', 'input.8manexT3D1N0.gz'" in message
    messages.refused(lambda: offline().get_runs(download=False))


@pytest.mark.parametrize(
    "where", ["trec-8/adhoc/runs/input.1.gz", "trec-8/adhoc/1", "trec8-adhoc/inputs/input.1", "trec8/adhoc/1.gz"]
)
def test_layouts(home, where):
    write_run(home / where, "1")
    assert offline().get_runs(names="1").names == ["1"]


def test_a_folder_given_is_the_only_one_looked_at(messages, trec8_home, tmp_path):
    write_run(tmp_path / "mine" / "INQ604", "other-tag")
    assert offline().get_runs(runs=tmp_path / "mine", missing="ignore").names == ["INQ604"]
    messages.refused(lambda: offline().get_runs(runs=tmp_path / "nowhere"))
    messages.refused(lambda: offline().get_runs(runs=tmp_path / "mine", names="1"))


def test_a_second_place_is_only_read(home, tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_DATA", str(tmp_path / "data"))
    write_run(tmp_path / "data" / "trec8-adhoc" / "inputs" / "input.1.gz", "1")
    write_run(home / "trec-8" / "adhoc" / "runs" / "1", "1", topics=("401",))
    collection = registry.find_collection("trec-8/adhoc")
    assert find_run_files(collection, ["1", "INQ604"]) == {"1": home / "trec-8" / "adhoc" / "runs" / "1"}
    assert tmp_path / "data" / "trec8-adhoc" / "inputs" in folders_of(collection)


def test_two_files_of_one_run_are_told(messages, trec8_home):
    write_run(trec8_home / "trec-8" / "adhoc" / "runs" / "1", "1")
    messages.warned(lambda: offline().get_runs(names="1"))


def test_file_names():
    assert file_names("a")[:3] == ["input.a.gz", "input.a", "input.a.bz2"]
    assert "a.zst" in file_names("a")


def test_own_types_over_those_on_record(messages, trec8_home, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("name,type\n1,traditional\nREADWARE,interactive\n")
    runs = offline().get_runs(types=mine, missing="ignore")
    table = runs.run_table.set_index("name")
    assert table["type"].tolist() == ["traditional", "manual", "automatic", "interactive"]
    assert table["type_source"].tolist() == [str(mine), "catalogue", "catalogue", str(mine)]
    assert offline().get_runs(types=mine, type="interactive").names == ["READWARE"]
    messages.warned(lambda: offline().submitted(types={"1": "x", "nobody": "y"}))


def test_official_types_stay(home):
    core = offline("trec-2018/core").submitted()
    assert set(core["official_type"]) == {"automatic", "relauto", "manual"}
    assert set(core.loc[core["official_type"] == "relauto", "type"]) == {"feedback"}


def test_who_was_pooled_may_not_be_known(messages, home):
    ds = offline("trec-2019/deep/passages")
    messages.refused(lambda: ds.get_runs(pooled=True))
    name = ds.submitted()["name"][0]
    write_run(home / "trec-2019" / "deep" / "passages" / name, name, topics=("19335", "47923"))
    runs = messages.warned(lambda: ds.get_runs(names=name))
    assert runs.pooled.tolist() == [pd.NA]
    # it goes on to say so until somebody says who was pooled
    assert repr(runs).startswith("RunSet: 1 run (pooled: not on record), 1 team")
    qrels = ptr.Qrels(pd.DataFrame({"qid": ["19335"], "docno": ["FT911-1"], "label": [1]}))
    assert ptr.depth_pool(runs, depth=1).settings["pooled"] == "who was pooled is not on record: all count"
    assert "pooled" not in ptr.depth_pool(runs, depth=1, contributors="all").settings
    with pytest.warns(ptr.ReuseWarning):
        assert [run.pooled for run in ds.irds_ref().runs_iter()] == [None]
    settings = ptr.leave_out_uniques(runs, qrels, ["AP"], depth=1).settings
    assert settings["contributors"] == "pooled (1 of 1 run; who was pooled is not on record: all count)"
    assert repr(runs.with_metadata(pooled=[name])).startswith("RunSet: 1 run (1 pooled)")


def test_what_is_submitted_cannot_be_changed_by_accident(home):
    frame = offline().submitted()
    frame["team"] = "x"
    assert offline().submitted()["team"].nunique() == 41


def test_fetch_reports_each_run(trec8_home):
    report = offline().fetch(type="manual")
    assert report.set_index("name").loc["READWARE", "status"] == fetching.FetchStatus.HERE == "here"
    assert set(report["status"]) == {"here", "failed"}
    assert set(report["reason"]) == {None, "no network."}
    assert len(report) == 13


def test_unknown_names_say_what_is_near(messages):
    for name, advice in (("trec-8/ad-hoc", "Did you mean 'reuse:trec-8/adhoc'"), ("xyz", "list_collections")):
        with pytest.raises(KeyError) as error:
            pt.get_dataset(f"reuse:{name}")
        # PyTerrier has words of its own and ours as the cause
        assert advice in str(error.value.__cause__)
    messages.refused(lambda: registry.find_collection(8))


def test_list_collections(messages, trec8_home):
    table = ptr.list_collections("trec-8 ad hoc")
    row = table.iloc[0]
    assert (row["name"], row["year"], row["topics"], row["judged"]) == ("trec-8/adhoc", 1999, 50, 86830)
    assert (row["runs"], row["teams"], row["pooled"], row["here"]) == (129, 41, 71, 4)
    assert (row["irds"], row["published"]) == ("disks45/nocr/trec8", "password")
    assert set(ptr.list_collections("deep learning")["year"]) == {2019, 2020, 2021, 2022, 2023}
    # of the names, all are distinct and known to PyTerrier
    every = ptr.list_collections()
    assert every["name"].is_unique
    known = pt.datasets.list_datasets(en_only=False)["dataset"]
    assert {f"reuse:{name}" for name in every["name"]} <= set(known)
    assert {"irds:disks45/nocr/trec8", "vaswani"} <= set(known)
    assert ptr.list_collections(here=True)["name"].tolist() == ["demo", "trec-8/adhoc"]
    assert ptr.list_collections("no such thing").empty
    messages.refused(lambda: ptr.list_collections(8))


def test_sources_of_documents():
    ds = offline()
    docnos = ["FBIS3-10", "FT911-3", "FR940104-0-00001", "LA010189-0001", "XX1"]
    assert ds.sources_of(docnos).tolist() == ["FBIS", "FT", "FR94", "LA", None]
    assert offline("trec-covid/round5").source_of("ug7v899j") is None


def test_judgments_put_into_the_users_folder(messages, home):
    folder = home / "trec-2" / "adhoc"
    messages.refused(lambda: offline("trec-2/adhoc").get_qrels())
    folder.mkdir(parents=True)
    (folder / "qrels.txt").write_text("101 0 AP880212-0001 1\n102 0 WSJ1 0\n")
    (folder / "topics.tsv").write_text("101\tdesign of the star wars shield\n")
    assert offline("trec-2/adhoc").get_judgments().topics == ["101", "102"]
    assert offline("trec-2/adhoc").get_topics()["query"].tolist() == ["design of the star wars shield"]


def in_python(code: str, **environment) -> str:
    """Run code in a process of its own, since ir_datasets looks at its folder once."""
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)
    assert finished.returncode == 0, finished.stderr[-3000:]
    return finished.stdout


def test_judgments_where_ir_datasets_looks(data, tmp_path):
    covid, disks = tmp_path / "irds" / "cord19" / "trec-covid" / "round5", tmp_path / "irds" / "disks45"
    covid.mkdir(parents=True)
    disks.mkdir()
    with gzip.open(data / "trec-covid-round5" / "qrels.covid-round5.txt.gz") as packed:
        (covid / "qrels").write_bytes(packed.read())
    content = gzip.decompress((data / "trec8-adhoc" / "trec8.qrels.gz").read_bytes())
    with tarfile.open(disks / "qrels.trec8.adhoc.parts1-5.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("qrels.trec8.adhoc.parts1-5")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    code = (
        "import pyterrier as pt, ir_datasets, pt_reuse as ptr\n"
        "print(len(pt.get_dataset('reuse:trec-covid/round5').get_qrels()))\n"
        "print(pt.get_dataset('reuse:trec-8/adhoc').get_judgments())\n"
        "ptr.register_datasets()\n"
        "print(ir_datasets.load('reuse/trec-8/adhoc').qrels_count())\n"
        "print(len(pt.get_dataset('irds:reuse/trec-covid/round5').get_qrels()))\n"
        "print(len(pt.get_dataset('irds:cord19/trec-covid/round5').get_qrels()))\n"
    )
    lines = in_python(code, IR_DATASETS_HOME=tmp_path / "irds", PT_REUSE_HOME=tmp_path / "home").splitlines()
    assert lines == [
        "23151",
        "Qrels: 50 topics, 86,830 judgments, 4,728 relevant (labels 0: 82,102, 1: 4,728)",
        "86830",
        "23151",
        "23151",
    ]


def test_without_a_network_the_error_says_which_file_goes_where(tmp_path):
    code = (
        "import socket\n"
        "def refuse(*_, **__): raise OSError('no network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "import pyterrier as pt, pt_reuse as ptr\n"
        "ds = pt.get_dataset('reuse:trec-8/adhoc')\n"
        "for get in (ds.get_qrels, ds.get_topics, lambda: next(iter(ds.get_corpus_iter(verbose=False)))):\n"
        "    try:\n"
        "        get()\n"
        "    except ptr.InputError as error:\n"
        "        print(error)\n"
    )
    irds, home = tmp_path / "irds", tmp_path / "home"
    out = in_python(code, IR_DATASETS_HOME=irds, PT_REUSE_HOME=home, IR_DATASETS_DL_TRIES=1).splitlines()
    assert len(out) == 3
    assert "reuse:trec-8/adhoc: its judgments come through ir_datasets (disks45/nocr/trec8)" in out[0]
    assert f"put it into {home / 'trec-8' / 'adhoc'} as qrels.txt" in out[0]
    assert str(irds / "disks45" / "qrels.trec8.adhoc.parts1-5.tar.gz") in out[0]
    assert str(irds / "disks45" / "topics.401-450.gz") in out[1]
    assert "its documents" in out[2]
    assert str(irds / "disks45" / "corpus") in out[2]


def test_documents_through_ir_datasets(data, tmp_path):
    """An own collection over documents that ir_datasets has beside it."""
    shutil.copytree(data / "irds-cache" / "vaswani", tmp_path / "irds" / "vaswani")
    code = (
        "import pyterrier as pt, pt_reuse as ptr\n"
        "irds = 'irds:vaswani'\n"
        "ptr.register_collection('my/vaswani', documents=irds, topics=irds, qrels=irds)\n"
        "ds = pt.get_dataset('reuse:my/vaswani')\n"
        "print(sorted(next(iter(ds.get_corpus_iter(verbose=False)))), len(ds.get_topics()), len(ds.get_qrels()))\n"
        "print(len(pt.get_dataset('irds:reuse/my/vaswani').get_topics()), len(pt.get_dataset(irds).get_topics()))\n"
    )
    lines = in_python(code, IR_DATASETS_HOME=tmp_path / "irds", PT_REUSE_HOME=tmp_path / "home").splitlines()
    assert lines == ["['docno', 'text'] 93 2083", "93 93"]


@pytest.fixture
def real(data, tmp_path, monkeypatch):
    """Return the folder of real test data, set as the user's second place."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.setenv("PT_REUSE_DATA", str(data))
    return data


def test_trec8_is_what_nist_recorded(real, trec8):
    runs = pt.get_dataset("reuse:trec-8/adhoc").get_runs()
    assert (len(runs), len(runs.teams), int(runs.pooled.sum())) == (129, 41, 71)
    columns = ["name", "team", "type", "pooled"]
    pd.testing.assert_frame_equal(
        runs.run_table.set_index("name")[columns[1:]].sort_index(),
        trec8.runs.run_table.set_index("name")[columns[1:]].sort_index(),
    )
    assert runs.field.scores.sum() == pytest.approx(trec8.runs.field.scores.sum())


def test_covid_round5_is_what_the_leaderboard_says(real, covid):
    runs = pt.get_dataset("reuse:trec-covid/round5").get_runs()
    assert (len(runs), len(runs.teams), int(runs.pooled.sum())) == (126, 28, 99)
    columns = ["team", "type", "pooled"]
    pd.testing.assert_frame_equal(
        runs.run_table.set_index("name")[columns].sort_index(),
        covid.runs.run_table.set_index("name")[columns].sort_index(),
    )


def test_the_folder_of_real_data_may_be_the_users_own(data, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(data))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    runs = pt.get_dataset("reuse:trec-8/adhoc").get_runs(names=["READWARE2", "INQ604"])
    assert runs.names == ["INQ604", "READWARE2"]
    assert ptr.list_collections("trec-covid round 5")["here"].tolist() == [126]


@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_judgments_that_are_not_the_official_ones_are_told(home):
    folder = home / "trec-covid" / "round5"
    folder.mkdir(parents=True)
    (folder / "qrels.txt").write_text("1 0 ug7v899j 2\n51 0 x 0\n")
    ds = offline("trec-covid/round5")
    assert repr(ds) == f"ReuseDataset('reuse:trec-covid/round5', qrels={str(folder / 'qrels.txt')!r})"
    with pytest.warns(ptr.ReuseWarning) as caught:
        assert len(ds.get_qrels()) == 2
    message = next(str(one.message) for one in caught if one.category is ptr.ReuseWarning)
    assert "2 judgments instead of 23,151; 1 relevant instead of 10,910; topics that are not its own: '51'" in message


def test_the_official_judgments_in_the_users_folder_are_not_told(data, home):
    folder = home / "trec-covid-round5"
    folder.mkdir(parents=True)
    shutil.copy(data / "trec-covid-round5" / "qrels.covid-round5.txt.gz", folder / "qrels.txt.gz")
    assert len(offline("trec-covid/round5").get_qrels()) == 23_151


def test_a_run_of_another_collection_is_an_error(messages, trec8_home):
    path = trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz"
    write_run(path, "1", topics=("351", "352"))
    with pytest.raises(ptr.InputError) as error:
        offline().get_runs(missing="ignore")
    assert f"{path}, taken for run '1', has no topic of the collection: it has '351', '352'" in str(error.value)
    write_run(path, "1", topics=("352", "401"))
    messages.warned(lambda: offline().get_runs(missing="ignore"))


def test_local_topics_are_called_as_those_of_ir_datasets(messages, home):
    folder = home / "trec-covid" / "round5"
    folder.mkdir(parents=True)
    (folder / "topics.xml").write_text(
        '<topics><topic number="1"><query>origin</query><question>what is it</question><narrative>all</narrative>'
        "</topic></topics>"
    )
    topics = offline("trec-covid/round5").get_topics("description")
    assert topics.to_dict("records") == [{"qid": "1", "query": "what is it"}]
    messages.refused(lambda: offline("trec-covid/round5").get_topics("question"))


def test_ids_of_topics_are_those_of_the_judgments(home):
    """NIST numbers the topics of TREC-1 from 051 and judges 51; elsewhere 001 is not 1."""
    text = "<top>\n<num> Number: 051\n<title> Topic: Airbus Subsidies\n</top>\n"
    folder = home / "trec-1" / "adhoc"
    folder.mkdir(parents=True)
    (folder / "topics.txt").write_text(text)
    assert offline("trec-1/adhoc").get_topics()["qid"].tolist() == ["51"]
    ds = ptr.register_collection("mine", topics=folder / "topics.txt")
    assert ds.get_topics()["qid"].tolist() == ["051"]


def test_aspects_of_a_topic_are_merged_for_qrels(messages, home, monkeypatch):
    ds = offline("trec-2009/web/diversity")
    rows = [("1", "d1", 0, "1"), ("1", "d1", 1, "2"), ("1", "d2", 0, "1")]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label", "subtopic_id"])
    monkeypatch.setattr(ds, "get_qrels", lambda: frame)
    merged = messages.warned(lambda: ds.get_judgments().to_frame())
    assert merged.values.tolist() == [["1", "d1", 1], ["1", "d2", 0]]


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("trec8", "trec-8/adhoc"), ("trec8-adhoc", "trec-8/adhoc"), ("robust04", "trec-2004/robust"),
        ("disks45/nocr/trec8", "trec-8/adhoc"), ("dl19", "trec-2019/deep/docs"),
        ("trec-dl-2019", "trec-2019/deep/docs"), ("covid round5", "trec-covid/round5"),
        ("msmarco-passage/trec-dl-2019/judged", "trec-2019/deep/passages"), ("core17", "trec-2017/core"),
        ("trec-8/ad-hoc", "trec-8/adhoc"),
    ],
)  # fmt: skip
def test_near_names(wanted, near):
    with pytest.raises(registry.UnknownCollectionError) as error:
        registry.find_collection(wanted)
    assert f"Did you mean 'reuse:{near}'" in str(error.value)


def test_a_failed_registration_leaves_nothing(messages, home):
    messages.refused(lambda: ptr.register_collection("ref/x", topics="irds:reuse/nope"))
    assert "ref/x" not in registry.collection_names()
    ptr.register_collection("ref/x", topics="irds:reuse/demo")
    # the same again is no error, another is
    ptr.register_collection("ref/x", topics="irds:reuse/demo")
    messages.refused(lambda: ptr.register_collection("ref/x", qrels="irds:reuse/demo"))
    ptr.register_collection("ref/y", topics="irds:reuse/ref/x")
    messages.refused(lambda: ptr.register_collection("ref/x", topics="irds:reuse/ref/y", overwrite=True))
    assert registry.find_collection("ref/x").topics == "irds:reuse/demo"


def test_definitions_in_the_users_folder_that_cannot_be_used_are_left_out(messages, home):
    folder = home / "collections"
    folder.mkdir(parents=True)
    (folder / "a.toml").write_text('name = "same"\ntopics = "irds:reuse/demo"\n')
    (folder / "b.toml").write_text('name = "same"\nqrels = "irds:reuse/demo"\n')
    (folder / "c.toml").write_text('name = "lost"\nqrels = "irds:reuse/gone"\n')
    (folder / "d.toml").write_text('name = "demo"\n')
    (folder / "e.toml").write_text("name = \n")
    with pytest.warns(ptr.ReuseWarning) as caught:
        names = registry.collection_names()
    assert "same" in names
    assert "lost" not in names
    told = " ".join(str(warning.message) for warning in caught)
    assert f"{folder / 'a.toml'} has the name 'same', too" in told
    assert "no such collection" in told
    assert "is one of the package's" in told
    assert "no TOML" in told
    # told once, however often names are looked up
    messages.refused(lambda: ptr.register_collection("same", qrels="irds:reuse/demo"))


def test_one_odd_folder_does_not_keep_the_others_from_being_listed(home):
    folder = home / "trec-covid" / "round2"
    folder.mkdir(parents=True)
    for name in ("qrels", "qrels.txt"):
        (folder / name).write_text("1 0 x 0\n")
    with pytest.warns(ptr.ReuseWarning, match=r"has 'qrels', 'qrels.txt'; 'qrels' is used"):
        assert len(ptr.list_collections("trec-8 ad hoc")) == 1


def test_folders_that_cannot_be(messages, monkeypatch, tmp_path):
    monkeypatch.setenv("PT_REUSE_HOME", "~nobody-of-that-name/x")
    messages.refused(lambda: registry.find_collection("trec-8/adhoc"))
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.setenv("PT_REUSE_DATA", str(tmp_path / "gone"))
    messages.warned(lambda: registry.find_collection("trec-8/adhoc"))


def test_a_folder_of_own_runs_may_grow(messages, home, tmp_path):
    write_run(tmp_path / "mine" / "one", "one")
    ds = ptr.register_collection("mine", runs=tmp_path / "mine")
    write_run(tmp_path / "mine" / "two", "two")
    assert ds.get_runs().names == ["one", "two"]
    assert ptr.list_collections("mine")["here"].tolist() == [2]
    messages.refused(lambda: ds.get_runs(pooled=True))
    messages.refused(lambda: ds.get_runs(runs=""))
    ds = ptr.register_collection("mine", runs=tmp_path / "mine", pooled=["two"], overwrite=True)
    assert ds.get_runs(pooled=True).names == ["two"]


def test_what_cannot_be_had_of_an_own_collection(messages, home):
    ds = ptr.register_collection("mine", topics="irds:reuse/demo", note="Topics only.")
    messages.refused(lambda: ds.get_qrels())
    messages.refused(lambda: ds.get_runs())
    messages.refused(lambda: offline("trec-1/adhoc").get_runs())
    messages.refused(lambda: ptr.register_collection("frames", qrels=pd.DataFrame({"qid": ["1"]})))


def test_a_file_of_another_run_is_told(messages, trec8_home):
    path = trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz"
    write_run(path, "INQ604")
    messages.warned(lambda: offline().get_runs(missing="ignore"))
    # a tag that no other run has says nothing
    write_run(path, "someone")
    assert offline().get_runs(missing="ignore").names == TREC8


def test_a_run_with_few_topics_is_told(messages, trec8_home):
    write_run(trec8_home / "trec-8" / "adhoc" / "runs" / "input.1.gz", "1", topics=("401",))
    for name in TREC8[1:]:
        write_run(trec8_home / "trec-8" / "adhoc" / "runs" / f"input.{name}.gz", name, topics=("401", "402", "403"))
    messages.warned(lambda: offline().get_runs(missing="ignore"))


def test_where_not_all_topics_are_known_some_are(messages, home):
    deep = registry.find_collection("trec-2019/deep/docs")
    assert deep.topic_ids is None
    assert len(deep.some_topics) == 41
    path = home / "input.x"
    write_run(path, "x")
    messages.refused(
        lambda: check_run_file("x", path, Collection(name="x", title=deep.title, some_topics=deep.some_topics))
    )
    write_run(path, "x", topics=("1", sorted(deep.some_topics)[0]))
    assert check_run_file("x", path, Collection(name="x", title=deep.title, some_topics=deep.some_topics)) is None
    messages.refused(
        lambda: check_run_file(
            "y", path, Collection(name="x", title=deep.title, submitted=pd.DataFrame({"name": ["x", "y"]}))
        )
    )
    path.write_text(path.read_text().replace(" x\n", " bm\n") + "1 Q0 d 9 1 b")
    messages.refused(lambda: check_run_file("bm", path, Collection(name="x", title=deep.title)))


def test_the_same_run_in_two_places(messages, home):
    write_run(home / "trec-8" / "adhoc" / "runs" / "input.1", "1")
    write_run(home / "trec8-adhoc" / "inputs" / "input.1", "1")
    assert offline().get_runs(names="1").names == ["1"]
    write_run(home / "trec8-adhoc" / "inputs" / "input.1", "1", topics=("401",))
    messages.warned(lambda: offline().get_runs(names="1"))


def test_links_in_a_circle_keep_nobody_from_the_others(messages, trec8_home):
    folder = trec8_home / "trec-8" / "adhoc" / "runs"
    (folder / "input.INQ603.gz").symlink_to(folder / "input.INQ603.gz")
    assert offline().get_runs(names="INQ604").names == ["INQ604"]
    messages.refused(lambda: offline().get_runs(names="INQ603"))


def test_a_folder_that_may_not_be_looked_into(trec8_home, monkeypatch):
    closed = trec8_home / "trec-8" / "adhoc" / "runs"

    def scandir(path, really=os.scandir):
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return really(path)

    monkeypatch.setattr(run_files.os, "scandir", scandir)
    with pytest.warns(ptr.ReuseWarning, match=r"runs cannot be looked into \(Permission denied\)"):
        assert ptr.list_collections("trec-8 ad hoc")["here"].tolist() == [0]


@pytest.mark.parametrize("name", ["trec-8/adhoc", "demo"])
@pytest.mark.parametrize("argument", ["order", "verbose", "n_jobs", "download", "missing", "duplicates"])
def test_arguments_are_checked_before_anything_is_fetched(messages, home, monkeypatch, name, argument):
    monkeypatch.setattr(fetching, "fetch_runs", None)
    messages.refused(lambda: offline(name).get_runs(**{argument: -1}), argument=argument)


@pytest.mark.parametrize("runs", ["", 3, ["a"], "~nobody-of-that-name/x", "x" * 5000], ids=range(5))
def test_folders_that_are_none(messages, home, runs):
    messages.refused(lambda: offline().get_runs(runs=runs))


def test_a_folder_in_use_is_an_error_and_no_partial_field(messages, trec8_home, monkeypatch):
    def in_use(*_, **__):
        raise FolderInUseError("fetch_runs: another call is downloading")

    monkeypatch.setattr(fetching, "fetch_runs", in_use)
    messages.refused(lambda: offline().get_runs())


def test_conditions_that_nothing_meets_say_where_to_look(messages, trec8_home):
    messages.refused(lambda: offline().get_runs(names=[]))
    messages.refused(lambda: offline().get_runs(task="adhoc"))
    assert "url" not in offline().submitted()
    assert offline().fetch(names=["1", "READWARE"])["status"].tolist() == ["here", "here"]


def test_a_download_that_brings_nothing_leaves_no_folders(home, monkeypatch):
    def nothing(urls, folder, **_):
        folder.mkdir(parents=True)
        return no_network(urls)

    monkeypatch.setattr(fetching, "fetch_runs", nothing)
    home.mkdir()
    assert offline().fetch(names="1")[["status", "reason"]].values.tolist() == [["failed", "no network."]]
    assert list(home.iterdir()) == []


def test_a_file_put_there_after_an_error_is_found(messages, home):
    ds = offline("trec-2/adhoc")
    messages.refused(lambda: ds.get_qrels())
    folder = home / "trec-2" / "adhoc"
    folder.mkdir(parents=True)
    (folder / "qrels.txt").write_text("101 0 AP880212-0001 1\n")
    (folder / "topics.tsv").write_text("101\tstar wars\n")
    assert ds.get_judgments().topics == ["101"]
    assert ds.get_topics()["query"].tolist() == ["star wars"]


def test_judgments_packed_otherwise_than_ir_datasets_expects(data, tmp_path):
    disks = tmp_path / "irds" / "disks45"
    disks.mkdir(parents=True)
    shutil.copy(data / "trec8-adhoc" / "trec8.qrels.gz", disks / "qrels.trec8.adhoc.parts1-5.tar.gz")
    code = (
        "import pyterrier as pt, pt_reuse as ptr\n"
        "try:\n"
        "    pt.get_dataset('reuse:trec-8/adhoc').get_qrels()\n"
        "except ptr.InputError as error:\n"
        "    print(error)\n"
    )
    out = in_python(code, IR_DATASETS_HOME=tmp_path / "irds", PT_REUSE_HOME=tmp_path / "home")
    assert "which could not read them" in out
    assert f"packed as NIST publishes it, where ir_datasets looks: {disks}" in out


def test_a_dataset_by_its_name_alone(messages, home):
    assert repr(ptr.ReuseDataset("trec-8/adhoc")) == "ReuseDataset('reuse:trec-8/adhoc')"
    messages.refused(lambda: ptr.ReuseDataset(8))
    messages.refused(lambda: offline().source_of(None))


def test_a_dataset_in_a_notebook(home):
    page = offline()._repr_html_()
    assert "<th>runs</th><td>129 runs of 41 teams: 116 automatic, 13 manual</td>" in page
    assert "<th>pooled</th><td>71 of 129 runs, on record</td>" in page


def test_types_in_a_frame_may_be_called_as_in_a_file(home):
    types = pd.DataFrame({"run": ["1"], "type": ["traditional"]})
    assert offline().submitted(types=types).set_index("name").loc["1", "type"] == "traditional"


def test_own_types_over_those_of_a_definition(home, tmp_path):
    for name in ("one", "two"):
        write_run(tmp_path / "mine" / name, name)
    ds = ptr.register_collection("mine", runs=tmp_path / "mine", types={"one": "lexical", "two": "neural"})
    table = ds.get_runs(types={"two": "dense"}).run_table
    assert table["type"].tolist() == ["lexical", "dense"]
    assert table["type_source"].tolist() == ["definition", "given"]


def test_a_collection_knows_the_order_of_its_pool(messages, home):
    for name, topic, order in (("trec-covid/round5", "1", "file"), ("trec-8/adhoc", "401", None)):
        run = offline(name).submitted()["name"][0]
        write_run(home / name / "runs" / run, run, topics=(topic,))
        runs = offline(name).get_runs(names=run)
        assert (runs.order, runs.pool_order) == ("trec_eval", order)
    assert offline().get_runs(names=run, pool_order="rank").pool_order == "rank"
    messages.refused(lambda: offline().get_runs(pool_order="x"), argument="pool_order")
    assert ("pool order", "file: pooled in another order than that of scoring") in offline("trec-covid/round5").facts()
