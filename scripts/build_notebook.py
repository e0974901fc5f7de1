"""Write the notebooks in examples from pages of the documentation: their blocks are the cells, executed."""

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
RUN = re.compile(r"^\.\. run::\n(?:   :.*\n)*\n((?:   .*\n|\n)+)", re.MULTILINE)
HEADING = re.compile(r"^(.+)\n([=-])\2{2,}$", re.MULTILINE)


def as_markdown(text):
    """Return reStructuredText of a page as Markdown, without paragraphs that have values or links of pages."""
    text = HEADING.sub(lambda found: f"{'#' if found[2] == '=' else '##'} {found[1]}", text)
    paragraphs = [part for part in text.split("\n\n") if not re.search(":value:|:doc:|^\\.\\. |^   ", part)]
    return re.sub(r":\w+:`([^`<]*)(?: <[^>]*>)?`", r"\1", "\n\n".join(paragraphs)).replace("``", "`")


def notebook(page):
    """Return the notebook of a page, not executed."""
    made, v4 = nbformat.v4.new_notebook(), nbformat.v4
    for i, part in enumerate(RUN.split((ROOT / "docs" / f"{page}.rst").read_text(encoding="utf-8"))):
        text = "\n".join(line.removeprefix("   ") if i % 2 else line for line in part.split("\n")).strip()
        text, cell = (text, v4.new_code_cell) if i % 2 else (as_markdown(text), v4.new_markdown_cell)
        if text:
            made.cells.append(cell(text, id=f"cell-{len(made.cells)}"))
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
