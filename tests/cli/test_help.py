"""Help: every command lists its options with the defaults of its function, and no line is wider than the screen."""

from __future__ import annotations

import importlib
import re

from command_parts import COMMANDS, COMMANDS_OF_STUDIES, run

from pt_reuse.cli.entry import parser as top
from pt_reuse.study import AIMS, study_of


def parser_of(command):
    found = top()
    for word in command.split():
        found = found.filled().members()[word]
    return found.filled()


def test_help_has_the_options_of_the_study_with_its_defaults():
    for declared in COMMANDS_OF_STUDIES:
        has_options_of_study(declared)


def has_options_of_study(declared):
    study = study_of(getattr(importlib.import_module(declared.call.__module__), declared.name))
    parser = parser_of(declared.words.command)
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


def test_no_line_of_help_is_wider_than_the_screen(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    for command in ("", "profile", "judge", *COMMANDS):
        status, out, _ = run(capsys, *command.split(), "--help")
        assert status == 0
        assert max(map(len, out.splitlines())) <= 80, command


def test_help_lists_every_command_once_under_its_question(capsys):
    _, out, _ = run(capsys, "--help")
    lines = out[out.index(next(iter(AIMS.values()))) :].splitlines()
    assert [line.rstrip(":") for line in lines if line[:1].strip()] == list(AIMS.values())
    listed = [line.strip() for line in lines if line.startswith("  ") and line[2] != " "]
    assert sorted(re.split("  +", line)[0] for line in listed) == sorted(COMMANDS)
