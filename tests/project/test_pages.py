"""What the pages of the documentation promise: examples that give what they show, an API page that lacks no name."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest
from public import PUBLIC, RESULTS
from sources import parsed, statements

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


def docstrings():
    """Yield (where, whether it is a property's, text) for every docstring of the package."""
    for path in sorted((ROOT / "pt_reuse").rglob("*.py")):
        for node in statements(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node):
                decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", ())]
                is_property = any(each.split(".")[-1] in ("property", "cached_property") for each in decorators)
                line = getattr(node, "lineno", 1)
                yield f"{path.relative_to(ROOT)}:{line}", is_property, ast.get_docstring(node)


def test_no_measure_in_a_docstring_becomes_a_mail_address():
    found = []
    for where, _, text in docstrings():
        prose = re.sub(r"^\s*(?:>>>|\.\.\.) .*(?:\n.+)*", "", text, flags=re.MULTILINE)  # examples are code
        prose = re.sub(r"``.*?``|`[^`\n]+`", "", prose, flags=re.DOTALL)
        found += [(where, match) for match in re.findall(r"\w+@\w+", prose)]
    assert found == []


def test_the_first_line_of_a_public_property_has_no_colon():
    # napoleon takes what stands before it for a type, and drops it from the summary
    public = re.compile(r"pt_reuse/(?:data/(?:run_set|named_runs|judgments)|scoring/(?:scores|agreement)|pooling/pool)")
    lines = [(where, text.split("\n")[0]) for where, is_property, text in docstrings() if is_property]
    faulty = [each for each in lines if public.match(each[0]) and ": " in each[1]]
    assert len(lines) > 50
    assert faulty == []


def test_the_glossary_has_the_words_of_the_tables():
    words = set(re.findall(r"^   (\S.*)$", (ROOT / "docs" / "glossary.rst").read_text(), re.MULTILINE))
    wanted = (
        "pool depth contributor unique own alone field covered judged unjudged relevant run team type tau_b drop LOU "
        "subcollection saturation coverage density interval split gold"
    )
    assert {*wanted.split(), "swap rate", "discriminative power", "minimum rank", "remainder pool"} <= words


def test_the_drawing_is_whole_and_shows_what_the_example_computes():
    text = (ROOT / "docs" / "_static" / "pooling.svg").read_text(encoding="utf-8")
    for shown in ("P@3 = 2/3", "P@3 = 1/3", "Unjudged@3 = 1/3", "a, b, c, f"):
        assert shown in text
    assert "_static/pooling.svg" in (ROOT / "docs" / "concepts.rst").read_text(encoding="utf-8")
