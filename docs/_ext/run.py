"""``.. run::`` executes code when the pages are built, and shows what it prints, returns and draws.

.. code-block:: rst

   .. run::
      :needs: vaswani terrier
      :name: experiment
      :alt: what the figure shows, where there is one

      result = ptr.Experiment(...)
      result

The blocks of a page share a namespace. ``:value:`` in a sentence is the value of an expression. A block that ``needs``
what is not on this machine shows what is stored under its name; where it is, what comes out must be the same.
``stored("NAME")`` in a block is the result that a script has saved under ``docs/papers/stored/NAME``.
An error in a block ends the build, with file and line.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import machine
from docutils import nodes
from docutils.parsers.rst import directives
from execution import BlockError, Output, Page
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import SphinxDirective, SphinxRole
from stored import Stored, StoredError

from pt_reuse._saving import read_result

_PAGE = "pt_reuse_page"
#: no table that is printed has more columns
WIDEST_TABLE = 100


class RunError(SphinxError):
    """A block of a page failed."""

    category = "A block of the documentation failed"


def _shown(argument: str) -> str:
    return directives.choice(argument, ("both", "code", "output", "nothing"))


def _output(argument: str) -> str:
    return directives.choice(argument, ("any", "text"))


class Run(SphinxDirective):
    """Execute a block, and show its code and output.

    Options:
        shown: ``both`` (default), ``code``, ``output`` or ``nothing``.
        output: ``any`` (default: frames as tables) or ``text``, as a terminal shows the last value.
        needs: what must be on the building machine (``machine.NEEDS``).
        name: under which the output of a block with needs is stored.
        otherwise: a line of code that stands in for the block where its needs are not here.
        width: of figures on the page; default as drawn, 96 pixels an inch.
        alt: what figures show, in words; needed where there are any.
    """

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "shown": _shown,
        "output": _output,
        "needs": directives.unchanged_required,
        "name": directives.unchanged_required,
        "otherwise": directives.unchanged_required,
        "width": directives.length_or_percentage_or_unitless,
        "alt": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the code and of what came out."""
        code, line = "\n".join(self.content), self.content_offset + 1
        try:
            output = self.executed(code, line)
        except (StoredError, ValueError) as error:
            raise RunError(f"{_file(self)}:{line}: {error}") from error
        except BlockError as error:
            raise RunError(str(error)) from error
        shown = self.options.get("shown", "both")
        made: list[nodes.Node] = []
        if shown in ("both", "code"):
            made.append(self.shown(code))
        if shown in ("both", "output"):
            box = output_nodes(self, output, alt=self.options.get("alt"), width=self.options.get("width"))
            lacks = machine.missing(self.options.get("needs", ""))
            if box and lacks:
                said = f"Stored by an earlier build: there is no {' and no '.join(lacks)} here."
                box[0] += nodes.paragraph("", said, classes=["run-stored"])
            made += box
        return made

    def shown(self, code: str) -> nodes.literal_block:
        """Return the code as a reader sees it."""
        return code_node(code)

    def executed(self, code: str, line: int) -> Output:
        """Return the block's output: fresh where what it needs is here, else what is stored."""
        page, stored = page_of(self)
        page.seen(code)
        needs, name = self.options.get("needs", ""), self.options.get("name")
        if not needs:
            return page.run(code, line, as_text=self.options.get("output") == "text")
        stored_as = None if name is None else stored.folder / f"{name}.json"
        if stored_as is not None:
            self.env.note_dependency(str(stored_as))
        page.needed = True
        if machine.missing(needs):
            if "otherwise" in self.options:
                return page.run(self.options["otherwise"], line)
            page.skipped = True
            return Output() if name is None else stored.output(name, page.digest)
        output = page.run(code, line, as_text=self.options.get("output") == "text")
        if name is not None:
            stored.keep(name, page.digest, output)
        elif output != Output() and self.options.get("shown") not in ("code", "nothing"):
            raise StoredError("a block with needs that shows something has a :name:, to store it by")
        return output


class Value(SphinxRole):
    """The value of an expression of the page, in a sentence: ``:value:`f"{share:.0%}"```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the text."""
        page, stored = page_of(self)
        try:
            if page.skipped:
                text = stored.value(self.text, page.digest)
            else:
                text = page.value(self.text, self.lineno)
                if page.needed:
                    stored.keep_value(self.text, page.digest, text)
        except StoredError as error:
            raise RunError(f"{_file(self)}:{self.lineno}: {error}") from error
        except BlockError as error:
            raise RunError(str(error)) from error
        return [nodes.Text(text)], []


def _file(at: SphinxDirective | SphinxRole) -> str:
    return os.path.relpath(at.env.doc2path(at.env.docname))


def page_of(at: SphinxDirective | SphinxRole) -> tuple[Page, Stored]:
    """Return the blocks of the page that is being read so far, and its stored outputs."""
    kept = at.env.temp_data
    if _PAGE not in kept:
        stored = Stored(Path(at.env.srcdir) / "outputs" / at.env.docname)
        page = Page(_file(at))
        page.namespace |= {"outputs": stored.folder, "root": machine.ROOT, "stored": saved_results(at)}
        kept[_PAGE] = (page, stored)
    found: tuple[Page, Stored] = kept[_PAGE]
    return found


def saved_results(at: SphinxDirective | SphinxRole) -> Callable[[str], Any]:
    """Return what reads a result that the script of a paper has saved; the page is built anew when it has changed."""

    def stored(name: str) -> Any:
        folder = Path(at.env.srcdir) / "papers" / "stored" / name
        for file in sorted(folder.glob("*")):
            at.env.note_dependency(str(file))
        return read_result(folder)

    return stored


def code_node(code: str) -> nodes.Node:
    """Return code as it is shown."""
    return nodes.literal_block(code, code, language="python", classes=["run-code"])


def output_nodes(at: SphinxDirective, output: Output, *, alt: str | None, width: str | None) -> list[nodes.Node]:
    """Return what a block printed, returned and drew, in a box of its own."""
    box = nodes.container(classes=["run-output"])
    box += [nodes.paragraph("", "", nodes.Text(warning), classes=["run-warning"]) for warning in output.warned]
    for text in (output.printed, output.text):
        if text:
            box += text_nodes(text)
    if output.table:
        box += table_node(output.table)
    if output.html:
        box += nodes.raw("", f'<div class="run-html">{output.html}</div>', format="html")
    if output.figures and not alt:
        raise RunError(f"{_file(at)}:{at.lineno}: a block that draws says in :alt: what the figure shows")
    box += [image_node(at, figure, alt=alt or "", width=width) for figure in output.figures]
    return [box] if box.children else []


def text_nodes(text: str) -> list[nodes.Node]:
    """Return printed text in one block; sentences, which are wider than any table, each in a block that wraps."""
    lines = text.splitlines()
    if max(map(len, lines)) <= WIDEST_TABLE:
        return [nodes.literal_block(text, text, language="none")]
    return [nodes.literal_block(line, line, language="none", classes=["run-sentence"]) for line in lines]


def image_node(at: SphinxDirective, figure: bytes, *, alt: str, width: str | None = None) -> nodes.image:
    """Return a figure, which is written beside the doctrees for Sphinx to copy; as wide as drawn, or as told."""
    folder = Path(at.env.app.doctreedir) / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{at.env.docname.replace('/', '-')}-{hashlib.sha256(figure).hexdigest()[:12]}"
    file = folder / f"{stem}.png"
    file.write_bytes(figure)
    uri = Path(os.path.relpath(file, Path(at.env.doc2path(at.env.docname)).parent)).as_posix()
    pixels = int.from_bytes(figure[16:20], "big")
    return nodes.image(uri=uri, alt=alt, width=width or f"{pixels // 2}px")


def table_node(cells: list[list[str]]) -> nodes.table:
    """Return a table of texts; numbers stand to the right."""
    header, *rows = cells
    right = [bool(rows) and all(_is_number(row[n]) for row in rows) for n in range(len(header))]
    table = nodes.table(classes=["run-table"])
    group = nodes.tgroup(cols=len(header))
    table += group
    group += [nodes.colspec(colwidth=1) for _ in header]
    for kind, lines in ((nodes.thead, [header]), (nodes.tbody, rows)):
        part = kind()
        for line in lines:
            row = nodes.row()
            for text, is_right in zip(line, right, strict=True):
                entry = nodes.entry(classes=["number"] if is_right else [])
                entry += nodes.paragraph("", text)
                row += entry
            part += row
        group += part
    return table


def _is_number(text: str) -> bool:
    return text.lstrip("+-−").replace(",", "").replace(".", "", 1).rstrip(" %").isdigit() or text in ("–", "nan", "")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive and the role."""
    app.add_directive("run", Run)
    app.add_role("value", Value())
    app.add_css_file("run.css")
    return {"parallel_read_safe": False, "parallel_write_safe": True}
