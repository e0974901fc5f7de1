"""``.. catalogue::`` lists every collection of the shipped catalogue, a table for each group."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import pt_reuse

SHIPPED = Path(pt_reuse.__file__).parent / "collections" / "data" / "catalogue"
#: of the columns of the tables
WIDTHS = "42 9 11 8 9 9 12"
HEADER = "Name and id in ir_datasets, Topics, Judged, Runs, Teams, Pooled, Runs at"
#: what ir_datasets may lack of a collection
PARTS = ("documents", "topics", "judgments")


def shipped() -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return the file of collections and the runs, as the package has them."""
    lines = (SHIPPED / "runs.csv").read_text(encoding="utf-8").splitlines()
    collections = json.loads((SHIPPED / "collections.json").read_text(encoding="utf-8"))
    return collections, list(csv.DictReader(line for line in lines if not line.startswith("# ")))


def page(shipped: dict, runs: list[dict]) -> str:
    """Return the list of every collection."""
    collections = shipped["collections"]
    by_name: dict[str, list[dict]] = {entry["name"]: [] for entry in collections}
    for run in runs:
        by_name[run["collection"]].append(run)
    lines = [f"{len(collections)} test collections of TREC and {len(runs):,} runs submitted to them.", ""]
    for group in dict.fromkeys(entry["group"] for entry in collections):
        entries = [entry for entry in collections if entry["group"] == group]
        lines += [group, "-" * len(group), "", ".. csv-table::"]
        lines += [f"   :header: {HEADER}", f"   :widths: {WIDTHS}", ""]
        for entry in entries:
            lines += line_of(entry, by_name[entry["name"]])
        lines += [""]
        noted: dict[str, list[str]] = {}
        for entry in entries:
            if "note" in entry:
                noted.setdefault(entry["note"], []).append(f"``{entry['name']}``")
        lines += [f"- {', '.join(names)}: {note}" for note, names in noted.items()]
        lines += [""] if noted else []
    lines += ["Where this is from", "------------------", ""]
    lines += [f"- {line[0].upper()}{line[1:]}." for line in shipped["origin"]]
    return "\n".join(lines) + "\n"


def line_of(entry: dict, runs: list[dict]) -> list[str]:
    """Return the line of a collection in the table."""
    teams = len({run["team"] for run in runs})
    pooled = [run for run in runs if run["pooled"] == "yes"]
    counts = [f"{entry[key]:,}" if key in entry else "" for key in ("n_topics", "n_judged")]
    dated = entry["title"] if str(entry["year"]) in entry["title"] else f"{entry['title']}, {entry['year']}"
    # its name has the year
    title = dated.removeprefix(f"TREC {entry['year']} ")
    names = [f"| ``{entry['name']}``: {title}"]
    names += [f"   | {entry['irds']}{lacking(entry)}"] if "irds" in entry else []
    names += [f"   | also {', '.join(entry['aliases'])}"] if "aliases" in entry else []
    names += [f"   | `judgments <{entry['judgments_at']}>`__"] if "judgments_at" in entry else []
    return cells(
        "\n".join(names),
        *counts,
        str(len(runs) or ""),
        str(teams or ""),
        str(len(pooled) or ""),
        entry.get("access", ""),
    )


def lacking(entry: dict) -> str:
    """Return what ir_datasets has of a collection, where it has not all."""
    there = [part for part in PARTS if part not in entry.get("without", ())]
    return f" ({' and '.join(there)} only)" if len(there) < len(PARTS) else ""


def cells(*texts: str) -> list[str]:
    """Return one row of a csv-table."""
    quoted = [f'"{text}"' if set(text) & set(",\n|") else text for text in texts]
    return [f"   {','.join(quoted)}"]


class Catalogue(SphinxDirective):
    """The list, as sections of the page."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return self.parse_text_to_nodes(page(*shipped()), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("catalogue", Catalogue)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
