"""Run files with faults, as the commands read them: left out on request, listed, or told all at once."""

from __future__ import annotations

import pytest
from command_parts import run
from faults import OTHER, RUN, put

import pt_reuse as ptr

TEXTS = {
    "r/a": RUN + b"1 Q0 d3 3 nan bm25\n1 Q0 d1 4 0.5 bm25\n",
    "r/b": b"# dense\n" + OTHER + b"too short\n",
    "r/picture": b"\x89PNG\0",
    "qrels": b"1 0 d1 1\n1 0 d2 0\n",
}
# a note, which the command line prints, and no error
pytestmark = pytest.mark.filterwarnings("default::pt_reuse.errors.ReuseWarning")
SKIP = ["--bad-lines", "skip", "--other-files", "skip", "--duplicates", "best"]


@pytest.fixture
def folder(tmp_path):
    put(tmp_path, TEXTS)
    return tmp_path


def test_runs_lists_what_was_left_out(folder, capsys):
    status, out, err = run(capsys, "runs", folder / "r", *SKIP)
    assert status == 0
    assert "2 runs" in out
    assert "3 lines and 1 file left out" in out.splitlines()[0]
    listed = out[out.index("Left out:") :].splitlines()[1:]
    with pytest.warns(ptr.ReuseWarning, match="left out"):
        runs = ptr.read_runs(folder / "r", bad_lines="skip", other_files="skip", duplicates="best")
    reasons = runs.dropped["reason"]
    places = ["a, line 3", "a, line 4, topic 1, document d1", "b, line 4", "picture"]
    assert listed == [f"- {folder}/r/{place}: {reason}" for place, reason in zip(places, reasons, strict=True)]
    assert err.count("pt-reuse: note:") == 1


@pytest.mark.parametrize("command", ["lou", "infer-pool"])
def test_the_settings_say_so(command, folder, capsys):
    given = ["--runs", folder / "r", "--qrels", folder / "qrels", *SKIP]
    if command == "lou":
        given += ["--by", "run", "--measures", "AP"]
    status, out, _ = run(capsys, command, *given)
    assert status == 0
    assert "3 lines and 1 file" in out
