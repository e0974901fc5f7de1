"""The pages in the wheel that PyTerrier's documentation takes a plugin's part from: they build, and their code runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pt_reuse as ptr

FOLDER = Path(ptr.__file__).parent / "pt_docs"
PAGES = sorted(FOLDER.glob("*.rst"))
#: as PyTerrier's documentation defines them, less their looks: what they keep is what its indexes are made of
STAND_INS = """
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

class HowTo(SphinxDirective):
    has_content, required_arguments, final_argument_whitespace = True, 1, True

    def run(self):
        section = nodes.section(ids=[f"how-to-{self.env.new_serialno('how-to')}"])
        section += nodes.title(text=self.arguments[0])
        self.state.nested_parse(self.content, self.content_offset, section)
        return [nodes.transition(), section]

class Related(SphinxDirective):
    required_arguments = 1

    def run(self):
        return []

def setup(app):
    app.add_directive("how-to", HowTo)
    app.add_directive("related", Related)
"""
CONF = """
import sys
sys.path.insert(0, {here!r})
project = "PyTerrier"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "stand_ins"]
autoclass_content = "both"
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the pages where PyTerrier puts them; return page -> HTML, and what the build complained of."""
    pytest.importorskip("sphinx", reason="sphinx is not installed")
    top = tmp_path_factory.mktemp("pyterrier")
    shutil.copytree(FOLDER, top / "ext" / "pt-reuse")
    (top / "index.rst").write_text("PyTerrier\n=========\n\n.. toctree::\n\n   ext/pt-reuse/index.rst\n")
    (top / "stand_ins.py").write_text(STAND_INS)
    (top / "conf.py").write_text(CONF.format(here=str(top)))
    # in a process of its own, as it changes what is imported from where
    command = [sys.executable, "-m", "sphinx", "-q", "--no-color", "-b", "html", str(top), str(top / "out")]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    pages = (top / "out" / "ext" / "pt-reuse").glob("*.html")
    return {path.stem: path.read_text(encoding="utf-8") for path in pages}, finished.stderr


def test_the_pages_build_without_a_warning(built):
    pages, complaints = built
    assert complaints == ""
    assert set(pages) == {page.stem for page in PAGES} >= {"index", "overview", "how-to", "measures", "api"}


def test_what_is_called_related_is_described(built):
    pages, _ = built
    named = {name for page in PAGES for name in re.findall(r"^\.\. related:: (\S+)", page.read_text(), re.MULTILINE)}
    ours = {name for name in named if name.startswith("pt_reuse.")}
    assert len(ours) > 10
    assert not [name for name in ours if f'id="{name}"' not in pages["api"]]
    # described by PyTerrier itself
    assert named - ours == {"pyterrier.Experiment", "pyterrier.Evaluate", "pyterrier.get_dataset"}


def test_the_words_link_to_what_they_name(built):
    pages, _ = built
    for name in ("Experiment", "leave_out_uniques", "infer_pool", "verify", "RunSet.from_pipelines"):
        assert f'href="api.html#pt_reuse.{name}"' in pages["overview"]


def test_pages_that_docstrings_name_are_in_both_documentations():
    package, docs = FOLDER.parent, FOLDER.parents[1] / "docs"
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    named = {name for text in texts for name in re.findall(r":doc:`(?:[^`<]*<)?([^`>]+)>?`", text)}
    assert not [name for name in named if not (FOLDER / f"{name}.rst").is_file()]
    assert not [name for name in named if not (docs / f"{name}.rst").is_file()]


def blocks(page):
    """Yield the Python blocks of a page: what stands further in than the directive, less its options."""
    pattern = re.compile(r"^( *)\.\. code-block:: python\n((?:\1 +.*\n|\n)+)", re.MULTILINE)
    for _, block in pattern.findall(page.read_text(encoding="utf-8")):
        yield textwrap.dedent(re.sub(r"^:\w+:.*\n", "", textwrap.dedent(block), flags=re.MULTILINE))


# that a pool explains few of the complete judgments of the demo is what the study is there to say
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_the_code_of_the_pages_runs():
    code = [block for page in PAGES for block in blocks(page)]
    assert len(code) == 6
    for block in code:
        exec(compile(block, "<pt_docs>", "exec"), {"__name__": "pt_docs"})
