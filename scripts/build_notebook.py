"""Write the notebooks in examples from pages of the documentation: their blocks are the cells, executed.

python scripts/build_notebook.py
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
#: by page
NOTEBOOKS = {
    "ten-minutes": ROOT / "examples" / "ten_minutes.ipynb",
    "questions/fifty-labels": ROOT / "examples" / "fifty_labels.ipynb",
}
_RUN = re.compile(r"^\.\. run::\n(?:   :.*\n)*\n((?:   .*\n|\n)+)", re.MULTILINE)
_HEADING = re.compile(r"^(.+)\n([=-])\2{2,}$", re.MULTILINE)


def cells(page: str) -> list[tuple[str, str]]:
    """Return ``("markdown" or "code", text)`` of a page."""
    found = []
    for i, part in enumerate(_RUN.split(page)):
        lines = [line.removeprefix("   ") if i % 2 else line for line in part.split("\n")]
        text = "\n".join(lines).strip()
        found.append(("code", text) if i % 2 else ("markdown", as_markdown(text)))
    return [(kind, text) for kind, text in found if text]


def as_markdown(text: str) -> str:
    """Return reStructuredText of a page as Markdown, without paragraphs that have values or links of pages."""
    text = _HEADING.sub(lambda found: f"{'#' if found[2] == '=' else '##'} {found[1]}", text)
    paragraphs = [part for part in text.split("\n\n") if not re.search(":value:|:doc:|^\\.\\. |^   ", part)]
    return re.sub(r":\w+:`([^`<]*)(?: <[^>]*>)?`", r"\1", "\n\n".join(paragraphs)).replace("``", "`")


def notebook(page: str) -> nbformat.NotebookNode:
    """Return the notebook of a page, not executed."""
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    made = nbformat.v4.new_notebook()
    for i, (kind, text) in enumerate(cells((ROOT / "docs" / f"{page}.rst").read_text(encoding="utf-8"))):
        made.cells.append(make[kind](text, id=f"cell-{i}"))
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return made


if __name__ == "__main__":
    for page, path in NOTEBOOKS.items():
        executed = notebook(page)
        NotebookClient(executed, timeout=120).execute()
        for cell in executed.cells:
            cell.metadata.pop("execution", None)
            if cell.cell_type == "code":
                # a picture is drawn again by whoever runs it, and the place of its axes is of no use
                cell["outputs"] = [one for one in cell["outputs"] if "image/png" not in one.get("data", {})]
        nbformat.write(executed, path)
        print(path.relative_to(ROOT))
