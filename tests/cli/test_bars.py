"""Progress bars: on a terminal, on standard error alone, and not where the user wants quiet."""

from __future__ import annotations

import os
import re
import sys

import pytest
from command_parts import run

import pt_reuse as ptr

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals")

#: what ends what a terminal shows
END = "\x04"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    simulated = ptr.demo.simulate_field(seed=3, n_topics=5, n_docs=60, n_teams=3, length=12, depth=4)
    folder = tmp_path_factory.mktemp("bars")
    simulated.runs.write(folder / "runs")
    simulated.runs.run_table.to_csv(folder / "runs.csv", index=False)
    simulated.qrels.write(folder / "qrels.txt")
    return folder


@pytest.fixture
def on_terminal(capsys, monkeypatch):
    """Return what runs a command with standard error on a terminal: its status, its output, what the terminal shows."""
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    stream = os.fdopen(follower, "w")

    def call(*words):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stderr", stream)
            status, out, _ = run(capsys, *words)
        stream.write(END)
        stream.flush()
        shown = b""
        while not shown.endswith(END.encode()):
            shown += os.read(leader, 65536)
        return status, out, shown.decode().removesuffix(END)

    yield call
    stream.close()
    os.close(leader)


@pytest.mark.filterwarnings("ignore:.*3 topics only")
def test_a_bar_shows_on_a_terminal_alone_and_the_output_is_the_same(folder, on_terminal, capsys):
    words = ["lou", "--runs", folder / "runs", "--qrels", folder / "qrels.txt", "--metadata", folder / "runs.csv"]
    words += ["--depth", 4]
    status, loud, shown = on_terminal(*words)
    assert status == 0
    assert "reading runs: " in shown
    assert "scoring: " in shown
    assert "\r" in shown
    assert "\r" not in loud
    status, quiet, shown = on_terminal(*words, "--quiet")
    assert (status, quiet) == (0, loud)
    assert "scoring" not in shown
    _, out, err = run(capsys, *words)
    assert not {"%|", "\r"} & set(re.findall(r"%\||\r", out + err))


def test_fetching_shows_one(published, on_terminal):
    status, _, shown = on_terminal("fetch", "small", "--only-pooled")
    assert status == 0
    assert "downloading runs: 100%|" in shown
    assert "downloading" not in on_terminal("fetch", "small", "--quiet")[2]
