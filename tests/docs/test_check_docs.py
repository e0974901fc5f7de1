"""The checker of built pages sees each fault, and the words and links that are right."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from public import PUBLIC

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location("check_docs", ROOT / "scripts" / "check_docs.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def found(check, tmp_path):
    """Return what finds the faults of a first page with some text and of an API with all names."""

    def faults(text, *, source="", names=tuple(PUBLIC), second="<h1>B</h1>"):
        pages, sources = tmp_path / "html", tmp_path / "docs"
        pages.mkdir(), sources.mkdir()
        links = "<a href='api.html'>API</a>"
        (pages / "index.html").write_text(f"<title>A</title><h1>A</h1>{links}{text}")
        ids = "".join(f"<dt id='pt_reuse.{name}'></dt>" for name in names)
        (pages / "api.html").write_text(f"<title>B</title>{second}{ids}")
        (pages / "genindex.html").write_text("<p>made by Sphinx")
        (pages / "there.png").write_text("")
        (sources / "index.rst").write_text(source)
        return check.faults(pages, sources)

    return faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<a href='mailto:P%4010'>P@10</a>", "index.html: links to a mail address: mailto:P%4010"),
        ("<a href='no.html'>no</a>", "index.html: links to no.html, which is no page"),
        ("<a href='api.html#no'>no</a>", "index.html: links to api.html#no, and there is no such place"),
        ("<img src='no.png' alt='a'>", "index.html: lacks the picture no.png"),
        ("<img src='there.png' alt=''>", "index.html: says nothing of the picture there.png"),
        ("<h1>again</h1>", "index.html: has the title 'A' and 2 headings of the first level"),
        ("<p>see ``this``</p>", "index.html: shows markup: 'see ``this``'"),
        ("<p>see :doc:`this`</p>", "index.html: shows markup: 'see :doc:`this`'"),
        ("<span class='problematic'>x</span>", "index.html: has a message of docutils in its text"),
        (
            "<table class='autosummary docutils'><tr><td><p><code>names</code></p></td><td>the names</td></tr></table>",
            "index.html: names 'names' in a summary, and has no entry for it",
        ),
    ],
)
def test_a_fault_is_told_with_its_page(found, text, fault):
    assert found(text) == [fault]


def test_what_is_right_is_no_fault(found):
    good = "<a href='api.html#pt_reuse.RunSet'>x</a><a href='https://x.org'>x</a><a href='#top' id='top'>x</a>"
    good += "<table class='autosummary'><tr><td><a href='#top'><code>x</code></a></td><td>a line</td></tr></table>"
    assert found(good + "<img src='there.png' alt='a picture'><code>``x``</code><p>P@10</p>") == []


def test_a_page_that_nothing_leads_to_is_told(check, found, tmp_path):
    assert found("") == []
    (tmp_path / "html" / "lost.html").write_text("<title>C</title><h1>C</h1>")
    assert check.faults(tmp_path / "html", tmp_path / "docs") == ["lost.html: the first page does not lead to it"]
