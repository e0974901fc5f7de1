"""`pt-reuse lou` where documents are relevant from another label than 1, and where a collection knows its depth."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr

# hand-made judgments are no pool of these runs
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture
def graded(definition, tmp_path):
    """Return a definition that says from which label on documents are relevant, and how the runs were pooled."""
    before, after = definition.split("[runs]")
    path = tmp_path / "graded.toml"
    path.write_text(f'{before}rel = 2\n[runs]{after}pool_order = "file"\npool_depth = 5\n')
    return path


def lou(capsys, tmp_path, *words):
    """Return what leaving uniques out writes, and the folder's settings."""
    folder = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
    status, _, err = run(capsys, "lou", *words, "--out", folder)
    assert (status, err) == (0, "")
    found = ptr.read_result(folder)
    return found, [found.settings[name] for name in ("depth", "depth from", "relevant")]


def test_a_collection_knows_and_the_call_wins(graded, own, field, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("pt_reuse.cli.output.draw", lambda *_: {})
    measures = ("--measures", "nDCG@10,AP(rel=2)")
    found, settings = lou(capsys, tmp_path, "--collection", graded, *measures)
    assert settings == [5, "the field", "label of at least 2"]
    assert found.settings["pool order"] == "file"
    runs = field.runs.reorder("trec_eval")
    expected = ptr.leave_out_uniques(runs, field.qrels, ["nDCG@10", "AP(rel=2)"], depth=5, rel=2, pool_order="file")
    pd.testing.assert_frame_equal(found.summary, expected.summary)
    # judgments given beside a collection are still judgments of it
    assert lou(capsys, tmp_path, "--collection", graded, "--qrels", tmp_path / "qrels.txt", *measures)[1] == settings
    assert lou(capsys, tmp_path, "--collection", own, *measures)[1] == [100, "the default", "label of at least 1"]
    _, settings = lou(capsys, tmp_path, "--collection", graded, "--rel", 1, "--depth", 3, *measures)
    assert settings == [3, "the call", "label of at least 1"]
