"""The promises around the code: examples that run, README commands and documentation in step."""

from __future__ import annotations

import re
import runpy
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from public import NAMESPACES, PUBLIC

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.rst") if "_build" not in page.parts)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example, capsys, monkeypatch, tmp_path):
    if "pisa" in example.read_text():
        pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    monkeypatch.setattr(sys, "argv", [str(example)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert len(capsys.readouterr().out) > 200
    assert 20 <= len(example.read_text().splitlines()) <= 85


@pytest.mark.parametrize("notebook", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_run_and_give_the_outputs_they_keep(notebook, tmp_path):
    pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    kept, run = (nbformat.read(notebook, as_version=4) for _ in range(2))
    client.NotebookClient(run, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()

    def texts(book):
        outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
        return [output.data["text/plain"] for output in outputs if output.output_type == "execute_result"]

    assert len(texts(kept)) >= 7
    assert texts(run) == texts(kept)


def test_every_public_name_is_documented():
    pages = "".join(page.read_text() for page in PAGES)
    documented = set(re.findall(r"auto(?:function|class|data):: (?:pt_reuse[.])?([\w.]+)", pages))
    missing = set(PUBLIC) - documented
    assert not missing


def test_lines_of_tables_and_headings_of_the_docs_are_whole():
    """A merge once joined the upper line of a table with its heading, and left a mark of its own before a section."""
    for page in PAGES:
        lines = page.read_text(encoding="utf-8").splitlines()
        for number, (before, line) in enumerate(pairwise(["", *lines]), 1):
            at = f"{page.name}:{number}"
            assert not re.search(r"={4}[^=\s`]", line), f"{at}: a line of a table and more"
            if re.fullmatch(r"([=~-])\1{3,}", line):
                assert before.strip(), f"{at}: a line under nothing"
                assert len(line) == len(before), f"{at}: not as long as its heading"


def test_public_names_have_docstrings():
    assert [name for name, value in {**PUBLIC, **NAMESPACES}.items() if not (value.__doc__ or "").strip()] == []


def test_readme_gives_two_commands_first():
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert "pt-reuse demo --out out" in blocks[0]
    assert blocks[1].strip().endswith("-m pytest")
    assert all("\n" not in block.strip() for block in blocks[:2])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT / "docs").as_posix())
def test_no_measure_becomes_a_mail_address(page):
    # outside of literals, docutils takes nDCG@10 for one and makes a link of it
    blocks = re.split(r"^(?=\S)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    prose = "".join(block for block in blocks if not block.startswith((".. code-block", ".. run", ".. command")))
    assert re.findall(r"\w+@\d+", re.sub(r"``.*?``|:value:`.*?`", "", prose, flags=re.DOTALL)) == []
