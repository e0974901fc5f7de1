"""Servers on this machine, and a folder for the runs that is looked through after each test."""

from __future__ import annotations

import logging
import os

import pytest
from download_parts import assert_sound, secrets_in
from run_server import RunServer

from pt_reuse.collections.download import transfer


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Keep the user's proxies and passwords out of the tests, and do not wait between tries."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("NETRC", *transfer.VARIABLES[0], *transfer.VARIABLES[1]):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(transfer, "BACKOFF", 0.0)


@pytest.fixture
def server():
    with RunServer() as server:
        yield server


@pytest.fixture
def other():
    with RunServer() as server:
        yield server


@pytest.fixture
def logs(caplog):
    caplog.set_level(logging.DEBUG)
    return caplog


@pytest.fixture
def folder(tmp_path, logs):
    """Return the folder for the runs; in the end it must hold whole runs, and no password may be anywhere."""
    folder = tmp_path / "runs"
    yield folder
    assert_sound(folder, tmp_path)
    assert not secrets_in(logs.text)
