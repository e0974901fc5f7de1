"""What is no regular file is refused wherever a file is read, and nobody waits for a pipe to be written to."""

from __future__ import annotations

import os
import threading

import pytest

import pt_reuse as ptr
from pt_reuse.errors import InputError

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
RUN = "1 Q0 d1 1 2.5 a\n"


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run").write_text(RUN)
    return tmp_path / "run"


READERS = {
    "runs": lambda pipe, run: ptr.read_runs([run, pipe]),
    "runs in a folder": lambda pipe, run: ptr.read_runs(pipe.parent),
    "runs to a cache": lambda pipe, run: ptr.read_runs([run, pipe], cache=pipe.parent / "cache"),
    "runs within memory": lambda pipe, run: ptr.read_runs([run, pipe], cache=pipe.parent / "cache", memory="64MB"),
    "runs named by files": lambda pipe, run: ptr.read_runs([run, pipe], names="file", other_files="skip"),
    "teams": lambda pipe, run: ptr.read_runs(run, teams=pipe),
    "pooled": lambda pipe, run: ptr.read_runs(run, pooled=str(pipe)),
    "metadata": lambda pipe, run: ptr.read_runs(run, metadata=pipe),
    "qrels": lambda pipe, run: ptr.read_qrels(pipe),
    "labels": lambda pipe, run: ptr.judging.read_judges(pipe.parent),
}


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "device"])
def test_a_pipe_or_a_device_is_refused_at_once(kind, pipe, run):
    place = pipe
    if kind == "link to a pipe":
        place = pipe.with_name("link")
        place.symlink_to(pipe)
    elif kind == "device":
        pipe.unlink()
        pipe.symlink_to("/dev/zero")
    for reader in READERS:
        if reader == "labels":
            run.unlink()
        check_refused(reader, kind, place, run)


def check_refused(reader, kind, place, run):
    told: list[BaseException] = []

    def read():
        try:
            READERS[reader](place, run)
        except BaseException as error:
            told.append(error)

    # a reader that waits would wait beyond any signal
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it waits for the pipe"
    assert len(told) == 1
    assert isinstance(told[0], InputError)
    what = "a device" if kind == "device" else "a pipe"
    assert what in str(told[0])
    assert place.name in str(told[0]) or "pipe" in str(told[0])
