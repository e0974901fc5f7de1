"""The script that redoes Too many relevants: what it does for a collection known by name, on a simulated field."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import pt_reuse as ptr

SCRIPT = Path(__file__).parents[2] / "scripts" / "papers" / "too_many_relevants.py"


@pytest.fixture(scope="module")
def script():
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("too_many_relevants", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
@pytest.mark.parametrize("rel", [1, 2])
def test_a_field_of_other_runs(script, rel, tmp_path):
    field = ptr.demo.simulate_field(seed=7)
    runs, qrels = field.runs, field.qrels.with_rel(rel)
    found = dict(script.of_field(runs, qrels))
    assert set(found) == {"density", "saturation", "ranks", "costs", "uniques"}
    precision = "P@10" if rel == 1 else "P(rel=2)@10"
    assert found["saturation"].scores.measures == found["costs"].measures == [precision, "nDCG@10"]
    assert len(found["ranks"].table) == qrels.counts()["relevant"].sum()
    for name, result in found.items():
        result.save(tmp_path / name)
        assert ptr.read_result(tmp_path / name).headline() == result.headline()


def test_what_is_stored_holds_no_judgments():
    stored = SCRIPT.parents[2] / "docs" / "papers" / "stored"
    for folder in stored.glob("too-many-ranks-*"):
        found = ptr.read_result(folder)
        assert found.table["docno"].tolist() == [str(n) for n in range(1, len(found.table) + 1)]
