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
    "runs within memory": lambda pipe, run: ptr.read_runs([run, pipe], cache=pipe.parent / "cache", memory="64MB"),
    "runs named by files": lambda pipe, run: ptr.read_runs([run, pipe], names="file", other_files="skip"),
    "teams": lambda pipe, run: ptr.read_runs(run, teams=pipe),
    "qrels": lambda pipe, run: ptr.read_qrels(pipe),
    "labels": lambda pipe, run: ptr.judging.read_judges(pipe.parent),
}


def note_error(told, read, *given):
    try:
        read(*given)
    except BaseException as error:
        told.append(error)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_is_refused_at_once(kind, pipe, run):
    if kind == "device":
        pipe.unlink()
        pipe.symlink_to("/dev/zero")
    for reader, read in READERS.items():
        if reader == "labels":
            run.unlink()
        told = []
        # a reader that waits would wait beyond any signal
        thread = threading.Thread(target=note_error, args=(told, read, pipe, run), daemon=True)
        thread.start()
        thread.join(30)
        assert not thread.is_alive(), f"{reader} wait for the pipe"
        assert [type(error) for error in told] == [InputError], reader
        assert f"a {kind}" in str(told[0])
