"""``.. picture:: FILE.py`` shows a script of the gallery and its figure at two widths; ``.. gallery::`` a grid of them.

A script begins with a docstring, a title and what the figure shows, and has a line ``width = 7``. It is executed as it
is, and once more with ``width = 3.3``, the column of a paper.
"""

from __future__ import annotations

import ast
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from execution import BlockError, Page
from run import RunError, code_node, image_node
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: inches: of a page, and of one of two columns
WIDTHS = (7.0, 3.3)


@lru_cache
def drawn(script: Path, width: float) -> bytes:
    """Return the figure of a script, drawn at a width."""
    code = script.read_text(encoding="utf-8")
    tree = ast.parse(code)
    found = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "width"]
    if len(found) != 1 or ast.literal_eval(found[0].value) != WIDTHS[0]:
        raise BlockError(f"{script}: a script of the gallery has one line `width = {WIDTHS[0]:g}`")
    lines = code.splitlines()
    at = found[0].lineno - 1
    lines[at] = lines[at].replace(f"{WIDTHS[0]:g}", f"{width:g}", 1)
    figures = Page(os.path.relpath(script)).run("\n".join(lines), 1).figures
    if len(figures) != 1:
        raise BlockError(f"{script}: makes {len(figures)} figures, not one")
    return figures[0]


def described(script: Path) -> tuple[str, str, str]:
    """Return the title of a script, what its figure shows, and its code without these."""
    code = script.read_text(encoding="utf-8")
    tree = ast.parse(code)
    title, _, text = (ast.get_docstring(tree) or "").partition("\n\n")
    if not title or not text:
        raise BlockError(f"{script}: begins with a docstring: a title, an empty line, what the figure shows")
    return title, text, "\n".join(code.splitlines()[tree.body[0].end_lineno :]).strip()


class Picture(SphinxDirective):
    """A script of the gallery: what it shows, its code, its figure at two widths."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Return text, code and figures."""
        script = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        self.env.note_dependency(str(script))
        try:
            _, text, code = described(script)
            figures = [drawn(script, width) for width in WIDTHS]
        except BlockError as error:
            raise RunError(str(error)) from error
        made = self.parse_text_to_nodes(text)
        words = " ".join(text.split()).replace("``", "")
        for width, figure in zip(WIDTHS, figures, strict=True):
            caption = f"{width:g} inches wide" if width == WIDTHS[0] else f"width = {width:g}: a column of a paper"
            box = nodes.figure("", image_node(self, figure, alt=words), nodes.caption("", caption), classes=["picture"])
            made.append(box)
        made.insert(-1, code_node(code))
        return made


class Gallery(SphinxDirective):
    """A grid of the pictures of pages in the folder ``gallery``, each a link to its page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the grid."""
        folder = Path(self.env.srcdir) / "gallery"
        grid = nodes.container(classes=["gallery"])
        for name in filter(None, map(str.strip, self.content)):
            script = folder / f"{name}.py"
            self.env.note_dependency(str(script))
            try:
                title, _, _ = described(script)
                figure = drawn(script, WIDTHS[0])
            except BlockError as error:
                raise RunError(str(error)) from error
            link = nodes.reference("", "", refuri=f"gallery/{name}.html", classes=["gallery-item"])
            link += image_node(self, figure, alt=title, width="100%")
            link += nodes.inline("", title, classes=["gallery-title"])
            grid += link
        # a link is a piece of text, and text stands in a paragraph
        for link in list(grid.children):
            grid.replace(link, nodes.paragraph("", "", link))
        return [grid]


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives."""
    app.add_directive("picture", Picture)
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
