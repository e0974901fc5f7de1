"""Commands that are made of declarations, with every option, compared with the functions."""

from __future__ import annotations

import pytest
from command_parts import lines_of_table, run
from same import assert_same

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
OPTIONS = ["--depth", 4, "--measures", "P(rel=2)@5,nDCG@5"]


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return ["--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--metadata", tmp_path / "runs.csv"]


def test_it_writes_what_the_functions_find(files, tmp_path, capsys):
    more = ["--pools", "lexical", "--unit", "run", "--splits", 3, "--gold", "judgments", "--rel", 2, "--seed", 4]
    draws = ["--resamples", 5, "--confidence", 0.9, "--jobs", 1, "--contributors", "all", "--out", tmp_path / "out"]
    status, out, _ = run(capsys, "by-type", *files, *OPTIONS, *more, *draws)
    assert status == 0
    runs, qrels = ptr.read_runs(files[1], metadata=files[5]), ptr.read_qrels(files[3]).with_rel(2)
    found = ptr.by_type(
        runs,
        qrels,
        ["P(rel=2)@5", "nDCG@5"],
        pools="lexical",
        unit="run",
        splits=3,
        gold="judgments",
        depth=4,
        contributors="all",
        seed=4,
        resamples=5,
        confidence=0.9,
    )
    assert_same(ptr.read_result(tmp_path / "out"), found)
    pictures = {"tau_b-P(rel=2)@5.png", "tau_b-nDCG@5.png", "scores-P(rel=2)@5.png", "scores-nDCG@5.png"}
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == pictures
    for name in pictures:
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
        assert name in out
    lines = lines_of_table(out)
    row = found.table[found.table["measure"] == "nDCG@5"].iloc[-1]
    numbers = [f"{row[name]:.4f}" for name in ("tau_b", "tau_b_sd", "tau_b_low")]
    end = [f"{row['tau_b_high']:.4f}", f"{row['max_drop']:.1f}"]
    assert ["lexical", "all", *numbers, "to", *end] in lines


def test_what_pools_of_each_type_find(files, tmp_path, capsys):
    status, out, _ = run(capsys, "profile found-by-depth", *files, "--depths", "1,5", "--out", tmp_path / "out")
    assert status == 0
    found = ptr.pools.found_by_depth(
        ptr.read_runs(files[1], metadata=files[5]), ptr.read_qrels(files[3]), depths=[1, 5]
    )
    assert_same(ptr.read_result(tmp_path / "out"), found)
    assert (tmp_path / "out" / "found-by-depth.png").is_file()
    counts = found.table[found.table["type"] == "lexical"]["relevant"]
    assert ["lexical", *map(str, counts)] in lines_of_table(out)


@pytest.mark.parametrize(
    "words",
    ["splits some", "splits 0", "pools dense", "unit type", "gold best", "jobs 0", "confidence 2", "measures Foo"],
)
def test_odd_options(files, capsys, words):
    status, _, err = run(capsys, "by-type", *files, *f"--{words}".split())
    assert status == 2
    assert words.split()[0].removesuffix("s") in " ".join(err.split())


def test_runs_without_types(tmp_path, files, capsys):
    status, _, err = run(capsys, "by-type", *files[:4])
    assert status == 2
    assert "--types FILE" in " ".join(err.split())
