"""How the catalogue is built from the records, and what is shipped of it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys

import pytest
from catalogue_parts import RESULTS, ROOT, WITH_IRDS

from pt_reuse.collections.collection import catalogue_names, catalogued

SCRIPT = ROOT / "scripts" / "build_catalogue.py"


@pytest.fixture(scope="module")
def build():
    """Return the script that builds the catalogue, as a module."""
    spec = importlib.util.spec_from_file_location("build_catalogue", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_build_gives_what_is_shipped(data):
    environment = {**os.environ, "PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, str(SCRIPT), "--data", str(data), "--check"]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")


CHANGES = {
    "unsafe name": {"run": "../evil"},
    "name twice": {"run": "8MANEXT3D1N0"},
    "elsewhere": {"input_url": "https://example.org/x"},
    "unknown type": {"type": "psychic"},
    "no team": {"group": ""},
    "unknown name": {"run": "another"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_build_stops_at_what_is_wrong(change, messages, data, build, monkeypatch):
    rows = build.table(data / build.LIST)
    row = next(row for row in rows if row["run"] == "ok8alx")
    row.update(change)
    if "run" in change:
        row["input_url"] = f"{RESULTS}trec8/trec8.results.input/adhoc/input.{change['run']}.gz"
    read = build.table
    monkeypatch.setattr(build, "table", lambda path: rows if path.name == build.LIST.name else read(path))
    with pytest.raises(SystemExit) as caught:
        build.build(data)
    messages.told(caught.value)


def test_the_page_of_the_documentation_lists_every_collection(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    text = importlib.import_module("catalogue").page(*importlib.import_module("catalogue").shipped())
    assert all(re.search(rf"   \| {catalogued(name).irds_id}( \(.* only\))?[\n\"]", text) for name in WITH_IRDS)
    assert all(f'   "| ``{name}``: ' in text for name in catalogue_names())
