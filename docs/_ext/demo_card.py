"""Writes the card of the demo collection beside the pages, where :doc:`report` links to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import pt_reuse as ptr


def write(app: Sphinx, failure: Exception | None) -> None:
    """Write the card when the pages are built."""
    if failure is None and app.builder.format == "html":
        ptr.report("demo").save(Path(app.outdir) / "demo-card.html", overwrite=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write it at the end."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
