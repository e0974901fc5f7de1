"""The page of the command line shows what commands print today that the build of the pages does not execute."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_parts import run

from pt_reuse.cli.output import PIPED

PAGE = Path(__file__).parents[2] / "docs" / "command-line.rst"
_SET_IN, _LEFT_OUT = "   ", "..."


def shown():
    """Return command -> the lines that the page shows below it, of each command that shows any."""
    found, lines = {}, None
    # a command may go on in the next line
    for line in re.sub(r" \\\n +", " ", PAGE.read_text()).splitlines():
        if line.startswith(f"{_SET_IN}$ pt-reuse "):
            lines = found.setdefault(line.removeprefix(f"{_SET_IN}$ pt-reuse "), [])
        elif line and not line.startswith(_SET_IN):
            lines = None
        elif lines is not None and line.strip() not in ("", _LEFT_OUT):
            lines.append(line.removeprefix(_SET_IN))
    return {command: lines for command, lines in found.items() if lines}


SHOWN = shown()
#: what needs files or the network
ELSEWHERE = ("infer-pool trec-8/adhoc", "fetch ", "verify ")
HERE = [command for command in SHOWN if not command.startswith(ELSEWHERE)]


@pytest.mark.parametrize("command", HERE)
def test_the_page_shows_what_is_printed(command, monkeypatch, capsys):
    # the page has the home of its reader; this one is as short, and not there
    monkeypatch.setenv("PT_REUSE_HOME", "/~/.pt_reuse")
    monkeypatch.setenv("COLUMNS", str(PIPED))
    status, out, err = run(capsys, *shlex.split(command))
    assert (status, err) == (0, "")
    printed = iter(out.replace("/~", "~").splitlines())
    # each of them, in this order
    assert [line for line in SHOWN[command] if line not in printed] == []
