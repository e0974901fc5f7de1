"""The command that runs every script: none is forgotten, and each can be made small."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = runpy.run_path(str(ROOT / "scripts" / "run_all.py"))
SCRIPTS = COMMAND["SCRIPTS"]


def test_every_script_is_in_the_list():
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in COMMAND["FOLDERS"]
        for path in (ROOT / folder).rglob("*")
        if path.suffix in COMMAND["ENDINGS"] and "__pycache__" not in path.parts
    ]
    assert sorted(found) == sorted(SCRIPTS)


def test_the_constants_that_make_a_script_small_are_at_its_head():
    for name, script in SCRIPTS.items():
        source = (ROOT / name).read_text(encoding="utf-8")
        small = COMMAND["changed"](source, script.constants) if script.constants else ""
        assert small != source, name
        # what is put in is found again
        assert not small or COMMAND["changed"](small, script.constants) == small, name


def test_scripts_that_need_what_is_not_here_are_skipped(tmp_path):
    smallest, lacking = COMMAND["Smallest"], COMMAND["lacking"]
    (tmp_path / "here").mkdir()
    assert not lacking(smallest(needs=["here"], modules=["pandas"]), tmp_path)
    for one in (smallest(needs=["here", "not-here"]), smallest(modules=["not_here"]), smallest(not_run="reason")):
        assert lacking(one, tmp_path)


def test_a_script_that_is_not_in_the_list_is_refused():
    with pytest.raises(SystemExit, match="not_there"):
        COMMAND["main"](["scripts/not_there.py"])
