"""Runs of real tracks, parsed once for all tests and workers."""

from __future__ import annotations

import os
from pathlib import Path

from pt_reuse.data.run_set import read_runs

#: the environment variable that names the folder of what has been parsed, which all workers share
PARSED = "PT_REUSE_TESTS_PARSED"


def read_real(folder: Path, **options):
    """Return what read_runs returns of a folder; its files are parsed when the first test asks for them."""
    shared, order = os.environ.get(PARSED), options.get("order", "as a rule")
    cache = Path(shared) / f"{folder.parent.name}, {folder.name}, {order}" if shared else None
    return read_runs(folder, cache=cache, **options)
