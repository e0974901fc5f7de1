"""What the pages of the documentation promise: examples that give what they show, an API page that lacks no name."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest
from public import PUBLIC, RESULTS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from api_pages import described, listed  # noqa: E402 - found there

PAGES = sorted((ROOT / "docs").rglob("*.rst"))
API = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text()], ids=lambda page: page.name)
def test_examples_of_the_pages_give_what_they_show(page):
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert tried > 0
    assert failed == 0


def test_the_api_has_a_page_for_every_public_name_and_what_it_returns():
    pages = listed(API)
    assert set(pages) == set(PUBLIC)
    returned = {name.rpartition(".")[2] for more in pages.values() for name in more}
    assert returned - set(PUBLIC) >= set(RESULTS) - set(PUBLIC)
    page = described("leave_out_uniques", pages["leave_out_uniques"])
    assert ".. autoclass:: pt_reuse.studies.leave_out_uniques.LeaveOutUniques\n" in page


def test_files_that_pages_for_developers_name_are_there():
    text = "".join(
        (ROOT / "docs" / f"{page}.rst").read_text(encoding="utf-8") for page in ("architecture", "contributing")
    )
    named = {name for name in re.findall(r"``([\w/]+\.py|\w+/[\w/.]+)``", text) if "NAME" not in name}
    assert len(named) > 5
    assert not [
        name for name in named if not any((ROOT / top / name).exists() for top in ("", "pt_reuse", "pt_reuse/plots"))
    ]
