"""What the pages of the documentation promise: examples that give what they show, an API page that lacks no name."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest
from public import PUBLIC, RESULTS

from pt_reuse.study import DECLARED

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.rst"))
API = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text()], ids=lambda page: page.name)
def test_examples_of_the_pages_give_what_they_show(page):
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=FLAGS)
    assert tried > 0
    assert failed == 0


def has_members(value):
    """Return whether it is a class, but of errors, that defines a public method or property."""
    kinds = (property, classmethod, staticmethod)
    return (
        inspect.isclass(value)
        and not issubclass(value, Exception)
        and any(
            not name.startswith("_") and (isinstance(member, kinds) or inspect.isroutine(member))
            for base in value.__mro__
            if base.__module__.startswith("pt_reuse")
            for name, member in vars(base).items()
        )
    )


#: the page makes what it says of studies of their declarations
STUDIES = {".".join(filter(None, (each["entry"]["group"], each["entry"]["name"]))) for each in DECLARED}
STUDIES |= {each["result"] for each in DECLARED}


@pytest.mark.parametrize("name", sorted({*PUBLIC, *RESULTS} - STUDIES))
def test_the_api_page_has_a_line_and_an_entry_for_every_public_name(name):
    summary, entries = API.split("\nRuns\n----\n")
    value = {**PUBLIC, **RESULTS}[name]
    # a class that nobody makes is shown by its name, and found where it is defined
    line = f"~{value.__module__.removeprefix('pt_reuse.')}.{name}" if name in RESULTS else name
    entry = f"pt_reuse.{line.removeprefix('~')}" if "." in line else line
    assert re.search(rf"^   {re.escape(line)}$|:data:`{name}`\n", summary, re.MULTILINE)
    assert re.search(rf"^\.\. auto(?:function|class|data):: {re.escape(entry)}$", entries, re.MULTILINE)
    assert has_members(value) == (f"\n.. members:: {line.removeprefix('~')}\n" in summary)


@pytest.mark.parametrize("page", ["architecture.rst", "contributing.rst"])
def test_files_that_pages_for_developers_name_are_there(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = {name for name in re.findall(r"``([\w/]+\.py|\w+/[\w/.]+)``", text) if "NAME" not in name}
    assert len(named) > 5
    assert not [
        name for name in named if not any((ROOT / top / name).exists() for top in ("", "pt_reuse", "pt_reuse/plots"))
    ]
