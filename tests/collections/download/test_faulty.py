"""Runs that arrive with bad lines: kept aside, told, never fetched twice, and read when asked for."""

from __future__ import annotations

import gzip
import shutil
import warnings

import pytest
from download_parts import TOPICS, check, collection_at, fetch, left, text_of
from run_server import whole

import pt_reuse as ptr
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.download.run_check import FaultyRunError, check_run_file
from pt_reuse.collections.getting import FetchStatus
from pt_reuse.collections.registry import find_collection
from pt_reuse.collections.run_files import find_run_files, folders_of

SHORT, NAN = b"401 d1 1 2.5 bm25\n", b"402 Q0 d1 3 NaN bm25\n"
GOOD = text_of("bm25", 40)
#: two lines of 42 are none
FAULTY = GOOD[: GOOD.index(b"\n402") + 1] + SHORT + GOOD[GOOD.index(b"\n402") + 1 :] + NAN
OTHER = text_of("dense", 40)


@pytest.fixture
def small(server, tmp_path, monkeypatch, messages):
    """Return a collection of two runs, one with bad lines, and the folder of its downloads."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "mine"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    server.plans = {"/bm25": whole(gzip.compress(FAULTY, mtime=0)), "/dense": whole(OTHER)}
    messages.hidden[server.url] = "{url}"
    collection = collection_at(server.url, ["bm25", "dense"], topic_ids=TOPICS)
    return ReuseDataset(collection), tmp_path / "mine" / "small" / "runs"


def quiet(call, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(**given)


def test_kept_aside_and_told(small, server, messages):
    dataset, folder = small
    runs = messages.warned(dataset.get_runs)
    assert runs.names == ["dense"]
    aside = folder / "faulty" / "input.bm25.gz"
    assert gzip.decompress(aside.read_bytes()) == FAULTY
    assert sorted(path.name for path in folder.iterdir()) == ["faulty", "input.dense"]
    # nothing takes it for a run
    assert list(find_run_files(dataset.collection, ["bm25", "dense"])) == ["dense"]
    assert all(path.name != "faulty" for path in folders_of(dataset.collection))
    assert ptr.read_runs(folder).names == ["dense"]
    # it is not fetched again, neither by this call nor by the other
    asked = len(server.asked)
    messages.warned(dataset.get_runs)
    messages.warned(dataset.get_runs, download=False)
    messages.refused(dataset.get_runs, missing="error")
    messages.refused(dataset.get_runs, names="bm25")
    assert len(server.asked) == asked


def test_skipping_bad_lines_takes_it(small, server, messages):
    dataset, folder = small
    for download in (True, False):  # fresh, and from where it was kept
        runs = messages.warned(dataset.get_runs, bad_lines="skip", download=download)
        assert runs.names == ["bm25", "dense"]
        assert runs.dropped[["line", "reason"]].values.tolist() == [
            [21, "5 of 6 columns"],
            [42, "a score that is no finite number"],
        ]
        assert len(runs.field.codes) == 80
        assert (folder / "faulty" / "input.bm25.gz").exists()
    assert len(server.asked) == 2
    good = folder.parent / "good"
    good.write_bytes(GOOD)
    assert runs.to_frame().query("name == 'bm25'")["docno"].tolist() == ptr.read_runs(good).to_frame()["docno"].tolist()


def test_mended_deleted_or_spoilt(small, server, messages):
    dataset, folder = small
    messages.warned(dataset.get_runs)
    aside = folder / "faulty" / "input.bm25.gz"
    # mended where it is, or moved to its place: the same
    aside.write_bytes(GOOD)
    assert quiet(dataset.get_runs).names == ["bm25", "dense"]
    shutil.move(aside, folder / "input.bm25.gz")
    assert quiet(dataset.get_runs).names == ["bm25", "dense"]
    (folder / "input.bm25.gz").unlink()
    # deleted, it is fetched again
    server.plans["/bm25"] = whole(GOOD)
    assert quiet(dataset.get_runs).names == ["bm25", "dense"]
    assert len(server.headers("/bm25")) == 2
    # what is no run at all is not taken from there either
    (folder / "input.bm25").unlink()
    aside.write_bytes(b"no run\n")
    for bad_lines in ("error", "skip"):
        runs = messages.warned(dataset.get_runs, bad_lines=bad_lines)
        assert runs.names == ["dense"]


def test_the_report_of_a_download(small):
    dataset, folder = small
    for status in (FetchStatus.FETCHED, FetchStatus.HERE):
        report = dataset.fetch().set_index("name")
        assert report["status"].to_dict() == {"bm25": "faulty", "dense": status}
        assert report.loc["bm25", "file"] == str(folder / "faulty" / "input.bm25.gz")
        assert report.loc["bm25", "reason"] == (
            "the file of run 'bm25' has 2 bad lines of 42; the first is line 21: 5 of 6 columns."
        )
        assert report.loc["dense", "reason"] is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>\n" + FAULTY, "begins like a web page"),
        (FAULTY.replace(b"\n402 ", b"\n9 ").replace(b"\n401 ", b"\n8 ").replace(b"401", b"8", 1), "no topic of"),
        (FAULTY.replace(b" bm25\n", b" dense\n"), "holds run 'dense'"),
        (SHORT * 30 + GOOD[: GOOD.index(b"\n") + 1], "30 bad lines of 31; the first is line 1: 5 of 6 columns"),
        (GOOD[:-20], "cut off on its way"),
    ],
    ids=["a page", "other topics", "another run", "hardly a run line", "cut off"],
)
def test_no_run_at_all_is_not_kept(server, folder, body, said):
    names = Collection(name="x", title="x", topic_ids=TOPICS, submitted=collection_at("", ["bm25", "dense"]).submitted)
    server.plans = {"/bm25": whole(body)}
    reason = fetch(server, folder, check=lambda name, path: check_run_file(name, path, names)).failed["bm25"]
    assert reason.startswith("what arrived is not the run and was removed: ")
    assert said in reason
    assert left(folder) == []
    assert list(folder.iterdir()) == []


def test_a_packed_file_whose_last_line_is_cut_is_as_published(tmp_path):
    (tmp_path / "f").write_bytes(gzip.compress(GOOD[:-20]))
    with pytest.raises(FaultyRunError, match="1 bad line of 40; the first is line 40: 3 of 6 columns"):
        check("bm25", tmp_path / "f")


def test_a_catalogued_collection_says_nothing_else(home, messages):
    # a folder of that name beside the runs of a known collection
    collection = find_collection("trec-8/adhoc")
    aside = home / "trec-8" / "adhoc" / "runs" / "faulty" / "input.INQ604.gz"
    aside.parent.mkdir(parents=True)
    aside.write_bytes(gzip.compress(FAULTY.replace(b"bm25", b"INQ604")))
    assert find_run_files(collection, ["INQ604"]) == {}
    messages.refused(lambda: ReuseDataset("trec-8/adhoc").get_runs(names="INQ604", download=False))
