"""The code of the pages: what a block shows, where it failed, and what is stored of it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from execution import BlockError, Output, Page  # noqa: E402
from stored import REFRESH, Stored, StoredError  # noqa: E402

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture
def page(tmp_path):
    return Page("page.rst", folder=tmp_path)


def test_a_block_shows_what_it_prints_and_its_last_value(page):
    assert page.run("x = 2\nprint('two')\nx * 3", 10) == Output(printed="two", text="6")
    assert page.run("x", 20).text == "2", "the blocks of a page share a namespace"
    assert page.run("x = 3", 30) == Output()
    assert page.value("f'{x / 4:.0%}'", 40) == "75%"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("1\n1 / 0", "page.rst:11: ZeroDivisionError: division by zero"),
        ("1\n\nx =", "page.rst:12: SyntaxError: invalid syntax"),
        ("import json\njson.loads('{')", "page.rst:11: JSONDecodeError"),
    ],
)
def test_an_error_says_file_and_line(page, code, told):
    with pytest.raises(BlockError) as caught:
        page.run(code, 10)
    assert str(caught.value).startswith(told)


OUTPUT = Output(
    printed="said", warned=("W: a",), table=[["a"], ["1"]], figures=(b"png",), drawn=([["title"], [0.5, 1.0]],)
)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    found = Stored(tmp_path / "page")
    monkeypatch.setenv(REFRESH, "1")
    found.keep("block", "digest", OUTPUT)
    found.keep_value("x", "digest", "7")
    monkeypatch.delenv(REFRESH)
    return found


def test_an_output_comes_back_as_it_was_stored(stored):
    assert stored.output("block", "digest") == OUTPUT
    assert stored.value("x", "digest") == "7"
    stored.keep("block", "digest", OUTPUT)
    stored.keep_value("x", "digest", "7")
    assert json.loads((stored.folder / "block.json").read_text())["figures"] == ["block-1.png"]


@pytest.mark.parametrize(
    "other",
    [
        replace(OUTPUT, table=[["a"], ["2"]]),
        replace(OUTPUT, printed=""),
        replace(OUTPUT, warned=()),
        replace(OUTPUT, drawn=([["title"], [0.5, 1.1]],)),
    ],
)
def test_a_fresh_output_that_differs_is_an_error(stored, other):
    with pytest.raises(StoredError, match=REFRESH):
        stored.keep("block", "digest", other)


def test_a_stored_output_of_other_code_is_an_error(stored):
    with pytest.raises(StoredError, match="the code has changed"):
        stored.output("block", "another")
    with pytest.raises(StoredError, match="no stored output"):
        stored.output("other", "digest")
    with pytest.raises(StoredError, match="no stored value"):
        stored.value("x", "another")
    with pytest.raises(StoredError, match="'x' is now 8, and was 7"):
        stored.keep_value("x", "digest", "8")
