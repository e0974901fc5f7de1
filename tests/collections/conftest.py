"""Folders of the user's: one that holds what the test puts there, and one with a small collection."""

from __future__ import annotations

import logging
import os

import pytest
from collection_parts import TREC8, no_network, write_run
from download_parts import assert_sound, secrets_in
from own_files import JSON, TOPICS, written
from run_server import RunServer

from pt_reuse.collections import download, runs


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return an empty folder of the user's; nothing outside it is looked at."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    monkeypatch.setattr(runs, "provider_folder", lambda: tmp_path / "trec-browser")
    monkeypatch.setattr(runs, "fetch_runs", no_network)
    return tmp_path / "home"


@pytest.fixture
def trec8_home(home):
    for name in TREC8:
        write_run(home / "trec-8" / "adhoc" / "runs" / f"input.{name}.gz", name)
    return home


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    (folder / "runs").mkdir(parents=True)
    written(folder / "docs.jsonl", JSON)
    written(folder / "topics.tsv", TOPICS["t.tsv"])
    written(folder / "qrels.txt", "1 0 d1 1\n2 0 d2 1\n")
    for name in ("bm25", "dense"):
        rows = [f"{qid} Q0 d{rank} {rank} {3 - rank} {name}\n" for qid in (1, 2) for rank in (1, 2)]
        written(folder / "runs" / f"input.{name}", "".join(rows))
    return folder


@pytest.fixture
def server():
    with RunServer() as server:
        yield server


@pytest.fixture
def other():
    with RunServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path, caplog, monkeypatch):
    """Return the folder for runs; in the end it must hold whole runs, and no password may be anywhere.

    The user's proxies and passwords are kept out, and nobody waits between tries.
    """
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("NETRC", *download.VARIABLES[0], *download.VARIABLES[1]):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "BACKOFF", 0.0)
    caplog.set_level(logging.DEBUG)
    yield tmp_path / "runs"
    assert_sound(tmp_path / "runs", tmp_path)
    assert not secrets_in(caplog.text)
