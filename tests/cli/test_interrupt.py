"""Ctrl-C ends a command quietly, at whatever moment it comes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pt_reuse.cli import entry as cli
from pt_reuse.cli.entry import main

SCRIPT = "import sys; from pt_reuse.cli.entry import main; sys.exit(main())"
#: sends the signal of ctrl-C where a module begins to be imported
HOOK = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            signal.raise_signal(signal.SIGINT)

# a process that a script put into the background begins with ctrl-C ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
"""


def interrupted(folder, module, *command):
    (folder / "sitecustomize.py").write_text(HOOK)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "INTERRUPT_AT": module, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, *command, "collections", "demo"], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("pt_reuse.errors", ("-m", "pt_reuse.cli.entry")),
        ("pandas._libs", ("-m", "pt_reuse.cli.entry")),
        ("pt_reuse.errors", ("-c", SCRIPT)),
    ],
)
def test_while_importing(module, command, tmp_path):
    finished = interrupted(tmp_path, module, *command)
    assert finished.returncode == 130
    # what a command works with is imported when it runs
    said = "; files already written are whole" if not module.startswith("pt_reuse") else " before anything was done"
    assert finished.stderr == f"pt-reuse: interrupted{said}.\n"
    assert finished.stdout == ""


@pytest.mark.parametrize("moment", ["pt_reuse.cli.entry.parser", "pt_reuse.cli.study_commands._run"])
def test_later(moment, monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    # parsers are kept, and with them what each command runs
    monkeypatch.setattr(cli, "parser", cli.parser.__wrapped__)
    monkeypatch.setattr(moment, interrupt)
    assert main(["lou", "--runs", "r", "--qrels", "q"]) == 130
    assert capsys.readouterr().err == "pt-reuse: interrupted; files already written are whole.\n"
