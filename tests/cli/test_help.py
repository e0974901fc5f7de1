"""Help: every command lists its options with the defaults of its function, and no line is wider than the screen."""

from __future__ import annotations

import importlib

import pytest
from command_parts import COMMANDS, COMMANDS_OF_STUDIES, run

from pt_reuse.cli.entry import parser as top
from pt_reuse.study import study_of


def parser_of(command):
    found = top()
    for word in command.split():
        found = found.filled().members()[word]
    return found.filled()


@pytest.mark.parametrize("declared", COMMANDS_OF_STUDIES, ids=lambda declared: declared["command"])
def test_help_has_the_options_of_the_study_with_its_defaults(declared):
    study = study_of(getattr(importlib.import_module(declared["module"]), declared["function"]))
    parser = parser_of(declared["command"])
    told = "".join(parser.format_help().split())
    for name, option in (study.beside | study.parameters).items():
        flag = option.shell
        if flag is None:
            continue
        action = parser.arguments["judgment_names" if flag.kind == "names" else name]
        default = study.defaults.get(name, flag.usual)
        assert action.option_strings == [flag.name or f"--{name.replace('_', '-')}"]
        expected = None if flag.kind == "names" else default
        assert action.default == (list(expected) if isinstance(action.default, list) else expected), name
        assert "".join(action.help.replace("%%", "%").split()) in told
        if flag.default or isinstance(default, str | float):
            assert f"default {flag.default or default}" in action.help or flag.kind in ("switch", "off")
    if "contributors" in study.defaults:
        assert parser.arguments["contributors"].default == study.defaults["contributors"]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", ["", "profile", "judge", *COMMANDS])
def test_no_line_of_help_is_wider_than_the_screen(command, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, _ = run(capsys, *command.split(), "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= width
