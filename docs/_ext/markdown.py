"""``.. markdown:: FILE`` takes in plain Markdown: headings, lists, tables, code, links; enough for a changelog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_UNDER = {2: "-", 3: "~", 4: "^"}


def to_rst(text: str) -> str:
    """Return reStructuredText for Markdown; its first heading, the title of the page, is left out."""
    made: list[str] = []
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            made += ["", ".. code-block:: " + (line[3:].strip() or "text"), ""] if not fenced else [""]
            fenced = not fenced
        elif fenced:
            made.append(f"   {line}")
        elif line.startswith("|"):
            made += _row(line, first=not (made and made[-1].startswith("     ")))
        elif heading := re.fullmatch(r"(#+) (.*)", line):
            level, words = len(heading[1]), _inline(heading[2])
            made += [] if level == 1 else ["", words, _UNDER[level] * len(words), ""]
        else:
            made.append(re.sub(r"^(\s*)[-*] ", r"\1- ", _inline(line)))
    return "\n".join(made).strip() + "\n"


def _row(line: str, *, first: bool) -> list[str]:
    """Return a row of a table as one of a list-table, which the first row begins; nothing for the rule below it."""
    if not line.strip("|- "):
        return []
    cells = [_inline(cell.strip()) for cell in line.strip("|").split("|")]
    opened = ["", ".. list-table::", "   :header-rows: 1", ""] if first else []
    return [*opened, f"   * - {cells[0]}", *(f"     - {cell}" for cell in cells[1:])]


def _inline(line: str) -> str:
    """Return a line with code and links as reStructuredText has them, and nothing else that it takes for markup."""
    parts = re.split(r"(`[^`]+`|\[[^\]]+\]\([^)]+\)|\*\*[^*]+\*\*)", line)
    made = []
    for part in parts:
        if part.startswith("`"):
            made.append(f"`{part}`")
        elif link := re.fullmatch(r"\[([^\]]+)\]\(([^)]+)\)", part):
            made.append(f"`{link[1]} <{link[2]}>`__")
        elif part.startswith("**"):
            made.append(part)
        else:
            bullet = re.match(r"\s*[-*] ", part) if part is parts[0] else None
            start = bullet[0] if bullet else ""
            made.append(start + re.sub(r"([*_|@\\])", r"\\\1", part[len(start) :]))
    # code that ends where a word goes on needs an empty escape between the two
    return re.sub(r"``(?=\w)(?<=[^\s(\[]``)", r"``\\ ", "".join(made)) if "``" in "".join(made) else "".join(made)


class Markdown(SphinxDirective):
    """Take in a file of Markdown as sections of this page."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        path = (Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]).resolve()
        self.env.note_dependency(str(path))
        return self.parse_text_to_nodes(to_rst(path.read_text(encoding="utf-8")), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("markdown", Markdown)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
