"""``.. studies::`` makes tables of questions, functions and commands, one for each aim of a user, of the declarations.

Its content is further rows of a csv-table, each with the key of its aim before it: ``fair: "question",...``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pt_reuse.study import AIMS, Study, studies, study_of

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


def tables(found: list[Study], more: list[str]) -> list[str]:
    """Return a section for each aim, with the table of its questions."""
    rows: dict[str, list[str]] = {aim: [] for aim in AIMS}
    for study in found:
        rows[study.words.aim].append(row(study))
    for line in more:
        aim, _, cells = line.partition(": ")
        rows[aim].append(cells)
    lines = []
    for aim, heading in AIMS.items():
        lines += [heading, "-" * len(heading), "", ".. csv-table::"]
        lines += ['   :header: "Question","Function","Command","Paper"', "   :widths: 40 30 16 14", ""]
        lines += [*(f"   {cells}" for cells in rows[aim]), ""]
    return lines


class Studies(SphinxDirective):
    """The tables of every study."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        self.env.note_dependency(str(Path(__file__)))
        lines = tables(STUDIES, list(self.content))
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("studies", Studies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
