"""`pt-reuse lou` where documents are relevant from another label than 1, and where a collection knows its depth."""

from __future__ import annotations

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


def settings_of(out):
    line = next(line for line in out.splitlines() if line.startswith("Settings: "))
    return set(line.removeprefix("Settings: ").split(", "))


def test_a_collection_knows(graded, own, field, tmp_path, capsys):
    status, out, err = run(capsys, "lou", "--collection", graded, "--measures", "nDCG@10,AP(rel=2)", "--verbose")
    assert (status, err) == (0, "")
    settings = settings_of(out)
    assert settings >= {"depth=5", "depth from=the field", "relevant=label of at least 2", "pool order=file"}
    assert "pool_order='file', pool_depth=5" in out
    assert "relevant from label 2 (labels" in out
    runs = field.runs.reorder("trec_eval")
    expected = ptr.leave_out_uniques(runs, field.qrels, ["nDCG@10", "AP(rel=2)"], depth=5, rel=2, pool_order="file")
    assert f"{expected.summary['own_tau_b'].iloc[0]:.4f}" in out
    # judgments given beside a collection are still judgments of it
    _, same, _ = run(
        capsys, "lou", "--collection", graded, "--qrels", tmp_path / "qrels.txt", "--measures", "nDCG@10,AP(rel=2)",
        "--verbose",
    )  # fmt: skip
    assert settings_of(same) == settings
    _, plain, _ = run(capsys, "lou", "--collection", own, "--measures", "nDCG@10")
    assert settings_of(plain) >= {"depth=100", "depth from=the default", "relevant=label of at least 1"}


def test_the_call_wins(graded, own, capsys):
    _, out, _ = run(capsys, "lou", "--collection", graded, "--rel", 1, "--depth", 3, "--measures", "nDCG@10")
    assert settings_of(out) >= {"depth=3", "depth from=the call", "relevant=label of at least 1"}
    _, out, _ = run(capsys, "lou", "--collection", own, "--rel", 2, "--measures", "nDCG@10")
    assert "relevant=label of at least 2" in settings_of(out)


def test_measures_by_default_count_what_is_relevant(graded, own, capsys):
    for collection, rel, measure in ((graded, (), "AP(rel=2)"), (own, (), "AP"), (own, ("--rel", 3), "AP(rel=3)"),
                                     (graded, ("--rel", 1), "AP")):  # fmt: skip
        _, out, _ = run(capsys, "lou", "--collection", collection, *rel, "--verbose")
        assert f"\n{measure}: where all runs are scored" in out
        assert "\nnDCG@10: where all runs are scored" in out
