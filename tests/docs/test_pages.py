"""The pages as they are written: their order, what is stored for them, and a small project that is built."""

from __future__ import annotations

import ast
import fnmatch
import re
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

import pt_reuse

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: those that are written; the pages of the API are made when the others are built
PAGES = sorted(path for path in DOCS.rglob("*.rst") if not {"_build", "api"} & {*path.relative_to(DOCS).parent.parts})
sys.path.insert(0, str(DOCS / "_ext"))


def toctrees(page):
    """Return caption -> the pages below it."""
    found = {}
    for block in re.findall(r"^\.\. toctree::\n((?:   .*\n|\n)*)", page.read_text(encoding="utf-8"), re.MULTILINE):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        caption = next((line.removeprefix(":caption: ") for line in lines if line.startswith(":caption:")), "")
        found[caption] = [line for line in lines if not line.startswith(":")]
    return found


def blocks(page):
    """Yield (options, code) of each block that is executed."""
    text = page.read_text(encoding="utf-8")
    for options, code in re.findall(r"^\.\. run::\n((?:   :.*\n)*)((?:   .*\n|\n)*)", text, re.MULTILINE):
        yield dict(re.findall(r"^   :(\w+): (.*)$", options, re.MULTILINE)), code


def names(code):
    """Return (the names that code makes, those that it uses)."""
    found = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
    imported = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    made = {node.id for node in found if isinstance(node.ctx, ast.Store)}
    made |= {(each.asname or each.name).split(".")[0] for node in imported for each in node.names}
    return made, {node.id for node in found if isinstance(node.ctx, ast.Load)}


def test_what_a_reader_sees_needs_nothing_that_a_page_hides():
    for page in PAGES:
        hidden, shown, used = {"outputs", "root", "stored"}, set(), set()
        for options, code in blocks(page):
            made, needed = names(textwrap.dedent(code))
            if options.get("shown") in ("nothing", "output"):
                hidden |= made
            else:
                used |= needed - shown
                shown |= made
        assert not used & hidden - shown, page.name


def test_every_page_is_in_one_table_of_contents():
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - {"index"}
    listed = []
    for name in (name for page in PAGES for names in toctrees(page).values() for name in names):
        listed += fnmatch.filter(pages, name) if "*" in name else [name]
    assert len(listed) == len(set(listed))
    assert pages <= set(listed)


def test_every_stored_output_is_of_a_block_and_every_block_with_needs_has_one():
    for page in PAGES:
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        named = {options["name"] for options, _ in blocks(page) if "name" in options}
        kept = {path.stem for path in (DOCS / "outputs" / name).glob("*.json")} - {"values"}
        assert kept == named, name
        assert all("needs" in options for options, _ in blocks(page) if "name" in options), name
    folders = {path.parent.relative_to(DOCS / "outputs").as_posix() for path in (DOCS / "outputs").rglob("*.json")}
    assert all((DOCS / f"{folder}.rst").is_file() for folder in folders)


def test_every_saved_result_is_small_and_on_a_page_and_every_one_that_a_page_names_is_saved():
    code = "\n".join(code for page in PAGES for _, code in blocks(page))
    saved = {path.parent.name: path.parent for path in (DOCS / "papers" / "stored").rglob("result.json")}
    assert set(re.findall(r"""\bstored\(["']([^"'{]+)["']\)""", code)) <= set(saved)
    assert [name for name in saved if name not in code] == []
    sizes = {name: sum(file.stat().st_size for file in folder.iterdir()) for name, folder in saved.items()}
    assert {name: size for name, size in sizes.items() if size > 200_000} == {}


def test_the_installation_names_every_extra():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split("[project.optional-dependencies]\n")[1].split("\n[")[0]
    extras = re.findall(r"^(\w+) = \[", section, re.MULTILINE)
    shown = re.findall(r"^``(\w+)``  ", (DOCS / "install.rst").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(extras)


def test_code_that_is_only_shown_calls_what_there_is():
    shown = re.compile(r"^\.\. code-block:: python\n((?:   .*\n|\n)*)", re.MULTILINE)
    for page in PAGES:
        for body in shown.findall(page.read_text(encoding="utf-8")):
            names = {name for _, name in re.findall(r"(?<![\w.])(ptr|pt_reuse)\.([A-Za-z]\w*)", body)}
            unknown = [name for name in sorted(names) if not hasattr(pt_reuse, name)]
            assert not unknown, f"{page.name} shows calls of {unknown}"


COMMAND = ".. command::\n\n   pt-reuse {}\n"


CONF = (
    f"import sys\nsys.path.insert(0, {str(DOCS / '_ext')!r})\nextensions = ['run', 'command']\nhtml_theme = 'basic'\n"
)
NEEDY = ".. run::\n   :needs: vaswani\n   :name: count\n\n   40 + 2\n\nIt is :value:`40 + 2`.\n"


@pytest.fixture
def build(tmp_path, capsys):
    """Return what builds a project of one page, with the data or without it, and returns its errors and the page."""
    main = pytest.importorskip("sphinx.cmd.build", reason="Sphinx is not installed").main

    def built(text, *, data):
        conf = f"{CONF}import machine\nmachine.NEEDS = {{**machine.NEEDS, 'vaswani': lambda: {data}}}\n"
        (tmp_path / "conf.py").write_text(conf, encoding="utf-8")
        (tmp_path / "index.rst").write_text(f"Title\n=====\n\n{text}", encoding="utf-8")
        page = tmp_path / "_build" / "index.html"
        page.unlink(missing_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            status = main(["-q", "-W", "-E", "-b", "html", str(tmp_path), str(page.parent)])
        said = " ".join(capsys.readouterr().err.split())
        shown = re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")) if page.is_file() else ""
        assert (status == 0) == bool(shown)
        return said, shown

    return built


def test_what_the_machine_lacks_is_shown_as_stored_and_what_it_has_must_be_the_same(build, tmp_path, monkeypatch):
    said, _ = build(NEEDY, data=False)
    assert "index.rst:8: there is no stored output of 'count'" in said
    with monkeypatch.context() as patched:
        patched.setenv("PT_REUSE_REFRESH_DOCS", "1")
        assert build(NEEDY, data=True)[1]
    assert "It is 42." in build(NEEDY, data=False)[1]
    file = tmp_path / "outputs" / "index" / "count.json"
    file.write_text(file.read_text().replace("42", "41"))
    said, _ = build(NEEDY, data=True)
    assert "'count' now shows another text: 42" in said


def test_an_error_in_a_block_ends_the_build_with_file_and_line(build):
    said, _ = build(".. run::\n\n   x = 1\n   x / 0\n", data=True)
    assert "index.rst:7: ZeroDivisionError: division by zero" in said


def test_a_command_is_executed_and_its_error_ends_the_build(build):
    _, shown = build(COMMAND.format("unjudged --collection demo --by type"), data=True)
    assert "$ pt-reuse unjudged --collection demo --by type" in shown
    assert "dense       4       0.0591  97 of 1,640" in shown
    assert max(map(len, shown.splitlines())) <= 88
    _, longer = build(COMMAND.format("unjudged --collection demo \\\n       --by type"), data=True)
    assert "$ pt-reuse unjudged --collection demo \\\n    --by type" in longer
    assert longer.split("--by type")[1] == shown.split("--by type")[1]
    said, _ = build(COMMAND.format("unjudged --collection nonsense"), data=True)
    assert "index.rst:6: RuntimeError: pt-reuse ended with status 2" in said
    assert "no collection 'reuse:nonsense'" in said
