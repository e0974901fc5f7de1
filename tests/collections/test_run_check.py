"""What arrives and is no run of the collection."""

from __future__ import annotations

import gzip

import pytest
from download_parts import GZ, TOPICS, collection_at, fails, fetch, left, text_of
from packing_parts import bomb
from run_server import whole

import pt_reuse as ptr
from pt_reuse.collections import download as downloads
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.download import check_run_file
from pt_reuse.data import packed_files as files
from pt_reuse.errors import InputError

PAGE = b"\n<!DOCTYPE html>\n<html><title>Log in</title></html>\n"


def test_a_web_page(server, folder):
    server.plans = {"/bm25": whole(gzip.compress(PAGE))}
    assert "expected six columns" in fails(server, folder)
    assert len(server.asked) == 1
    assert left(folder) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "has no line"),
        (gzip.compress(b""), "has no line"),
        (b" \n", "has no line"),
        (b"401 0 d1 1\n", "looks like qrels"),
        (b"Not found\n", "expected six columns"),
        (b"PK\x03\x04\0\0\0", "NUL"),
        (b"\x28\xb5\x2f\xfd0000", "packed with zstandard"),
        (text_of("bm25", 10, ["1", "2"]), "2 topics of 2 that trec-8/adhoc does not have: '1', '2'"),
        (text_of("bm25", 10, ["401", "999"]), "1 topic of 2 that trec-8/adhoc does not have: '999'"),
        (GZ + b"garbage", "damaged"),
    ],
    ids=range(10),
)
def test_no_run_of_the_collection(server, folder, body, said):
    server.plans = {"/bm25": whole(body)}
    assert said in fails(server, folder)
    assert left(folder) == []


@pytest.mark.parametrize("packing", ["gzip", "compress"])
def test_a_text_that_unpacks_without_end(packing, server, folder, monkeypatch):
    monkeypatch.setattr(files, "ANY_UNPACKED", 10**6)
    server.plans = {"/bm25": whole(bomb(packing, 10**7))}
    assert "unpacks to more than" in fails(server, folder)
    # asked for once, and nothing stays that would fail again
    assert len(server.asked) == 1
    assert left(folder) == []


@pytest.mark.parametrize("form", [bytes, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("last", [b"401 Q0 e 1 1 bm25\n", b"401 Q0 e 1 1 bm", b"401 Q0 e 1 x bm25\n", b" \n", b""])
def test_the_parts_of_a_run_are_the_whole(last, form, tmp_path, monkeypatch):
    text = b"".join(b"40%d Q0 d%d 1 1 bm25\n" % (i % 3 + 1, i) for i in range(90)) + last
    path = tmp_path / "f"
    path.write_bytes(form(text))
    told = []
    for size in (10**6, 1000, 800, 400, 250):
        monkeypatch.setattr(downloads, "_PART", size)
        try:
            check_run_file("bm25", path, Collection(name="x", title="mine"))
            told.append("")
        except InputError as error:
            told.append(str(error))
    assert set(told) == {told[0]}
    assert ("middle of its last line" in told[0]) == last.endswith(b"bm")


SHORT, NAN = b"401 d1 1 2.5 bm25\n", b"402 Q0 d1 3 NaN bm25\n"
GOOD = text_of("bm25", 40)
#: two lines of 42 are none
FAULTY = GOOD[: GOOD.index(b"\n402") + 1] + SHORT + GOOD[GOOD.index(b"\n402") + 1 :] + NAN
OTHER = text_of("dense", 40)


def test_bad_lines_are_told_when_the_run_is_read(server, tmp_path, monkeypatch, messages):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "mine"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    server.plans = {"/bm25": whole(gzip.compress(FAULTY, mtime=0)), "/dense": whole(OTHER)}
    dataset = ReuseDataset(collection_at(server.url, ["bm25", "dense"], topic_ids=TOPICS))
    file = tmp_path / "mine" / "small" / "runs" / "input.bm25.gz"
    error = messages.refused(dataset.get_runs)
    assert f"{file}, line 21" in str(error)
    assert gzip.decompress(file.read_bytes()) == FAULTY
    with pytest.warns(ptr.ReuseWarning):
        runs = dataset.get_runs(bad_lines="skip")
    assert runs.names == ["bm25", "dense"]
    assert runs.dropped["line"].tolist() == [21, 42]
    assert len(runs.field.codes) == 80
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (PAGE, "expected six columns"),
        (FAULTY.replace(b"\n402 ", b"\n9 ").replace(b"\n401 ", b"\n8 ").replace(b"401", b"8", 1), "2 topics of 2"),
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
