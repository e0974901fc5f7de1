"""The command that runs every script: it knows those that there are, and each can be made small."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = runpy.run_path(str(ROOT / "scripts" / "run_all.py"))
TEXTS = COMMAND["found"]()


def test_what_the_list_says_is_of_scripts_that_there_are():
    assert {*COMMAND["SCRIPTS"]} <= {*TEXTS}
    assert all((ROOT / name).is_file() for name in COMMAND["OTHERS"])


def test_the_constants_that_make_a_script_small_are_in_it():
    for name, (_, constants) in COMMAND["SCRIPTS"].items():
        small = COMMAND["changed"](TEXTS[name], constants)
        assert (small != TEXTS[name]) == bool(constants), name
    with pytest.raises(KeyError, match="NOT_THERE"):
        COMMAND["changed"](TEXTS["benchmarks/audit.py"], "NOT_THERE = 1")


def test_a_script_is_a_command_or_has_results_that_are_stored():
    for name, text in TEXTS.items():
        assert name.startswith("examples/") or (COMMAND["MAIN"] in text) != (COMMAND["STORED"] in text), name


def test_scripts_that_need_what_is_not_here_are_skipped(tmp_path):
    names = COMMAND["NEEDED"]
    for name in names:
        (tmp_path / name).mkdir()
    assert not COMMAND["lacking"](TEXTS["scripts/judges.py"], tmp_path)
    (tmp_path / names[0]).rmdir()
    assert COMMAND["lacking"](TEXTS["scripts/judges.py"], tmp_path) == [names[0]]
    assert not COMMAND["lacking"](TEXTS["scripts/demo_numbers.py"], tmp_path)


def test_a_script_that_is_not_there_is_refused():
    with pytest.raises(SystemExit, match="not_there"):
        COMMAND["main"](["scripts/not_there.py"])
