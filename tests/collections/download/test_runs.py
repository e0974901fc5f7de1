"""What a call for runs leaves: files of whole, right runs under the runs' names, and nothing beside them."""

from __future__ import annotations

import bz2
import lzma

import pytest
from download_parts import COMPRESSED, GZ, PACKED, TEXT, check, fails, fetch, left
from run_server import whole

from pt_reuse.collections.download import runs as download
from pt_reuse.collections.download import transfer
from pt_reuse.collections.download.runs import FolderInUseError, fetch_runs
from pt_reuse.data.run_reading import read_runs


def test_several_files(server, folder):
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    fetched = fetch(server, folder, *PACKED, n_jobs=2)
    assert fetched.failed == {}
    assert list(fetched.files) == list(PACKED)
    assert {name: path.name for name, path in fetched.files.items()} == {name: f"input.{name}.gz" for name in PACKED}
    assert all(path.read_bytes() == PACKED[name] for name, path in fetched.files.items())
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"input.{name}.gz" for name in PACKED)
    assert read_runs(folder).names == sorted(PACKED)
    assert all(asked.headers["accept-encoding"] == "identity" for asked in server.asked)


@pytest.mark.parametrize(
    ("body", "suffix"),
    [(TEXT, ""), (GZ, ".gz"), (bz2.compress(TEXT), ".bz2"), (lzma.compress(TEXT), ".xz"), (COMPRESSED, ".Z")],
    ids=["plain", "gzip", "bzip2", "xz", "compress"],
)
def test_the_suffix_is_that_of_the_bytes(server, folder, body, suffix):
    server.plans = {"/bm25": whole(body)}
    path = fetch(server, folder).files["bm25"]
    assert path.name == "input.bm25" + suffix
    assert path.read_bytes() == body


def test_what_is_there_is_left(server, folder):
    folder.mkdir()
    (folder / "input.bm25").write_bytes(TEXT)
    before = (folder / "input.bm25").stat()
    server.plans = {"/bm25": whole(GZ), "/dense": whole(PACKED["dense"])}
    fetched = fetch(server, folder, "bm25", "dense")
    assert fetched.files == {"bm25": folder / "input.bm25", "dense": folder / "input.dense.gz"}
    assert (folder / "input.bm25").stat() == before
    assert not server.headers("/bm25")


def test_a_file_that_appears_meanwhile_is_left(server, folder):
    def slow_check(name, path):
        (folder / "input.bm25.gz").write_bytes(PACKED["dense"])

    server.plans = {"/bm25": whole(GZ)}
    reason = fetch(server, folder, check=slow_check).failed["bm25"]
    assert "has appeared in the meantime" in reason
    assert (folder / "input.bm25.gz").read_bytes() == PACKED["dense"]
    assert left(folder) == []
    (folder / "input.bm25.gz").unlink()


def test_two_calls_at_once_in_one_folder(messages, server, folder):
    pytest.importorskip("fcntl")
    server.plans = {"/bm25": whole(GZ)}

    def inside(name, path):
        error = messages.refused(lambda: fetch(server, folder))
        assert isinstance(error, FolderInUseError)

    assert fetch(server, folder, check=inside).files


def test_a_full_disk(server, folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(transfer.Transfer, "_receive", full)
    server.plans = {"/bm25": whole(GZ)}
    assert fails(server, folder) == "it cannot be stored: No space left on device."


# names

UNSAFE = ["../../evil", "/evil", "a/b", "a\\b", "..", ".", "", "~root", "a\0b", "a\nb", "a b", "c:x", "é" * 150, "x.gz",
          "x.XZ", "\u202eevil", "\ud800"]  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_are_refused(server, folder, name):
    server.plans = {"/x": whole(GZ)}
    fetched = fetch(server, folder, name, path="/x")
    assert fetched.failed[name].startswith("the name ")
    assert not server.asked
    assert list(folder.iterdir()) == []


def test_names_in_upper_and_lower_case(server, folder, monkeypatch):
    server.plans = {"/bm25": whole(GZ), "/BM25": whole(GZ), "/Bm25": whole(GZ)}
    monkeypatch.setattr(download, "_folds_case", lambda folder: True)
    fetched = fetch(server, folder, "bm25", "BM25")
    assert list(fetched.files) == ["bm25"]
    assert "upper from lower case" in fetched.failed["BM25"]
    assert "upper from lower case" in fetch(server, folder, "Bm25").failed["Bm25"]


@pytest.mark.parametrize("path", ["/../../evil", "/%2e%2e/%2e%2e/evil", "/..%5c..%5cevil", "//evil", "/x?name=../evil"])
def test_paths_that_lead_elsewhere(server, folder, path):
    class Any(dict):
        def get(self, path, otherwise):
            return whole(GZ, Content_Disposition='attachment; filename="../../evil"')

    server.plans = Any()
    fetched = fetch_runs({"bm25": server.url + path}, folder, check=check)
    assert fetched.files == {"bm25": folder / "input.bm25.gz"}
    assert [path.name for path in folder.rglob("*")] == ["input.bm25.gz"]
