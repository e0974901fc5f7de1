"""`pt-reuse lou` where documents are relevant from another label than 1, and where a collection knows its depth."""

from __future__ import annotations

import warnings

import pytest
from command_parts import run

import pt_reuse as ptr
from pt_reuse.collections.definition import read_definition

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
    return next(line for line in out.splitlines() if line.startswith("Settings: "))


def test_a_collection_knows(graded, own, field, tmp_path, capsys):
    status, out, err = run(capsys, "lou", "--collection", graded, "--measures", "nDCG@10,AP(rel=2)")
    assert (status, err) == (0, "")
    settings = settings_of(out)
    assert "depth=5, depth from=the field, remove=relevant, relevant=label of at least 2" in settings
    assert "pool order=file" in settings
    assert "pool_order='file', pool_depth=5" in out
    assert "relevant from label 2 (labels" in out
    runs = field.runs.reorder("trec_eval")
    expected = ptr.leave_out_uniques(runs, field.qrels, ["nDCG@10", "AP(rel=2)"], depth=5, rel=2, pool_order="file")
    assert f"{expected.summary['own_tau_b'].iloc[0]:.4f}" in out
    # judgments given beside a collection are still judgments of it
    _, same, _ = run(
        capsys, "lou", "--collection", graded, "--qrels", tmp_path / "qrels.txt", "--measures", "nDCG@10,AP(rel=2)"
    )
    assert settings_of(same) == settings
    _, plain, _ = run(capsys, "lou", "--collection", own, "--measures", "nDCG@10")
    assert "depth=100, depth from=the default, remove=relevant, relevant=label of at least 1" in settings_of(plain)


def test_the_call_wins(graded, own, capsys):
    _, out, _ = run(capsys, "lou", "--collection", graded, "--rel", 1, "--depth", 3, "--measures", "nDCG@10")
    assert "depth=3, depth from=the call, remove=relevant, relevant=label of at least 1" in settings_of(out)
    assert "relevant from" not in out
    _, out, _ = run(capsys, "lou", "--collection", own, "--rel", 2, "--measures", "nDCG@10")
    assert "relevant=label of at least 2" in settings_of(out)
    assert "relevant from label 2" in out


def test_what_cannot_be(own, graded, capsys, messages):
    for arguments in (("--rel", 0), ("--depth", 0)):
        status, _, err = run(capsys, "lou", "--collection", own, *arguments)
        assert status != 0
        messages.told(err)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ptr.ReuseWarning)
        _, _, err = run(capsys, "lou", "--collection", graded, "--measures", "AP,P@10")
    messages.told(err)


def test_measures_by_default_count_what_is_relevant(graded, own, capsys):
    for collection, rel, measure in ((graded, (), "AP(rel=2)"), (own, (), "AP"), (own, ("--rel", 3), "AP(rel=3)"),
                                     (graded, ("--rel", 1), "AP")):  # fmt: skip
        _, out, _ = run(capsys, "lou", "--collection", collection, *rel)
        assert f"\n{measure}: judged without its own team" in out
        assert "\nnDCG@10: judged without its own team" in out


def test_facts_of_it(graded, capsys):
    _, out, _ = run(capsys, "collections", graded)
    assert "relevant   from label 2 on" in out
    collection = read_definition(graded)
    assert (collection.rel, collection.pool_order, collection.pool_depth) == (2, "file", 5)
    _, out, _ = run(capsys, "collections", "trec-2019/deep/passages")
    for line in (
        "9,260 (4,102 with a label above 0)",
        "from label 2 on",
        "10 documents per run and topic",
        "37 runs of 12 teams: 26 neural, 11 traditional",
        "not official",
    ):
        assert line in out


@pytest.mark.parametrize("line", ["rel = 0", 'rel = "two"', "rel = 2.0"])
def test_definitions_with_no_grade(definition, line, tmp_path, messages):
    path = tmp_path / "odd.toml"
    path.write_text(f"{line}\n{definition}")
    messages.refused(lambda: read_definition(path))


@pytest.mark.parametrize("line", ["pool_depth = 0", 'pool_depth = "ten"', 'pool_order = "lines"'])
def test_definitions_with_no_such_pool(definition, line, tmp_path, messages):
    path = tmp_path / "odd.toml"
    path.write_text(f"{definition}{line}\n")
    messages.refused(lambda: read_definition(path))


def test_a_definition_without_runs_has_no_pool(tmp_path, messages, definition):
    path = tmp_path / "odd.toml"
    path.write_text('name = "mine/x"\n[runs]\npool_depth = 3\n')
    messages.refused(lambda: read_definition(path))
