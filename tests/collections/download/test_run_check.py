"""What arrives and is no run of the collection."""

from __future__ import annotations

import bz2
import gzip

import pandas as pd
import pytest
from collection_parts import write_run
from download_parts import (
    GZ,
    fails,
    left,
    text_of,
)
from packing_parts import bomb
from run_server import whole

from pt_reuse._errors import InputError
from pt_reuse.collections import registry
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download import run_check
from pt_reuse.collections.download.run_check import check_run_file
from pt_reuse.data import packed_files as files

PAGE = b"\n<!DOCTYPE html>\n<html><title>Log in</title></html>\n"


@pytest.mark.parametrize(
    "form", [bytes, gzip.compress, bz2.compress, b"\xef\xbb\xbf".__add__], ids=["plain", "gzip", "bzip2", "mark"]
)
def test_a_web_page(server, folder, form):
    server.plans = {"/bm25": whole(form(PAGE))}
    reason = fails(server, folder)
    assert "begins like a web page" in reason
    assert "Is a login needed" in reason
    assert len(server.asked) == 1
    assert left(folder) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "is empty"),
        (gzip.compress(b""), "is empty"),
        (b" \n", "white space"),
        (b"401 0 d1 1\n", "looks like qrels"),
        (b"Not found\n", "expected six columns"),
        (b"PK\x03\x04\0\0\0", "NUL"),
        (b"\x28\xb5\x2f\xfd0000", "packed with zstandard"),
        (text_of("bm25", 10, ["1", "2"]), "no topic of trec-8/adhoc: its topics are '1', '2'"),
        (text_of("bm25", 10, ["401", "999"]), "1 topic of 2 that trec-8/adhoc does not have: '999'"),
        (GZ + b"garbage", "damaged"),
    ],
    ids=range(10),
)
def test_no_run_of_the_collection(server, folder, body, said):
    server.plans = {"/bm25": whole(body)}
    assert said in fails(server, folder)
    assert left(folder) == []


def test_any_topics(messages, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(text_of("bm25", 10, ["7"]))
    assert check_run_file("bm25", path, Collection(name="x", title="mine")) is None
    other = Collection(name="x", title="mine", topic_ids=frozenset({"8"}))
    messages.refused(lambda: check_run_file("bm25", path, other))


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


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "compress"])
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
    for size in (10**6, 1000, 70, 7):
        monkeypatch.setattr(run_check, "_PART", size)
        try:
            check_run_file("bm25", path, Collection(name="x", title="mine"))
            told.append("")
        except InputError as error:
            told.append(str(error))
    assert set(told) == {told[0]}
    assert ("middle of its last line" in told[0], "line 91" in told[0]) == (last.endswith(b"bm"), b" x " in last)


def test_memory_that_does_not_suffice(tmp_path, monkeypatch):
    def parse(data, order, skip):
        raise MemoryError

    (tmp_path / "f").write_bytes(text_of("bm25", 10, ["401"]))
    monkeypatch.setattr(run_check, "parse_run", parse)
    with pytest.raises(InputError, match="the file of run 'bm25': the text does not fit in memory"):
        check_run_file("bm25", tmp_path / "f", Collection(name="x", title="mine"))
