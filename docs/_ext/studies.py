"""``.. studies::`` makes the table of questions, functions and commands, of the declarations of all studies.

Its content is further rows of a csv-table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pt_reuse.study import Study, studies, study_of

#: where the pages are
DOCS = Path(__file__).parents[1]
GROUPS = ("", "pools", "profile", "labels", "items", "judging")
STUDIES = sorted(map(study_of, studies().values()), key=lambda study: (GROUPS.index(study.words.group), study.name))


def public_name(study: Study) -> str:
    """Return what users call a study behind ``ptr.``."""
    return ".".join(part for part in (study.words.group, study.public) if part)


def home(study: Study) -> str:
    """Return where its result is defined, behind the name of the package."""
    return f"{study.result.__module__.removeprefix('pt_reuse.')}.{study.result.__name__}"


def row(study: Study) -> str:
    """Return its row of the table of questions."""
    words = study.words
    page = words.page or f"studies/{study.public.replace('_', '-')}"
    function = f":func:`{public_name(study)}`"
    if (DOCS / f"{page}.rst").exists():
        function += f", :doc:`{page}`"
    cells = (words.question, function, f"``{words.command}``" if words.command else "", words.papers)
    return ",".join(f'"{cell}"' for cell in cells)


def questions(found: list[Study], rows: list[str]) -> list[str]:
    """Return the table of questions."""
    lines = [".. csv-table::", '   :header: "Question","Function","Command","Paper"', "   :widths: 40 30 16 14", ""]
    return [*lines, *(f"   {line}" for line in [*map(row, found), *rows])]


class Studies(SphinxDirective):
    """The table of every study."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(Path(__file__)))
        return self.parse_text_to_nodes("\n".join(questions(STUDIES, list(self.content))))


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("studies", Studies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
