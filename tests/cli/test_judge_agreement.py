"""`pt-reuse judge agreement`: what it prints and writes, and what it refuses before it reads."""

from __future__ import annotations

import pandas as pd
import pytest
from annotator_parts import labelled
from command_parts import run

import pt_reuse as ptr

FRAME = labelled(seed=31, gaps=0.1)


@pytest.fixture
def files(tmp_path):
    """Return a qrels file for each annotator."""
    for name, part in FRAME.groupby("annotator"):
        ptr.Qrels(part.drop(columns="annotator")).write(tmp_path / f"{name}.txt")
    return sorted(tmp_path.iterdir())


def test_what_is_written_can_be_read(files, tmp_path, capsys):
    gold, folder = tmp_path / "gold.qrels", tmp_path / "out"
    ptr.judging.majority_vote(FRAME, ties="higher").write(gold)
    status, out, _ = run(
        capsys, "judge", "agreement", *files, "--gold", gold, "--ties", "unresolved", "--out", folder, "--resamples", 20
    )
    assert status == 0
    result = ptr.read_result(folder)
    expected = ptr.judging.annotator_agreement(
        {f"ann{i}": FRAME[FRAME["annotator"] == f"ann{i}"] for i in range(3)},
        gold=gold,
        ties="unresolved",
        resamples=20,
    )
    pd.testing.assert_frame_equal(result.table, expected.table)
    pd.testing.assert_frame_equal(result.gold, expected.gold)
    majority = ptr.read_qrels(folder / "majority.qrels").to_frame()
    voted = ptr.judging.majority_vote(FRAME, ties="unresolved").to_frame()
    keys = ["qid", "docno"]
    pd.testing.assert_frame_equal(
        majority.sort_values(keys, ignore_index=True), voted[[*keys, "label"]].sort_values(keys, ignore_index=True)
    )
    assert {"pairs.png", "others.png", "gold.png"} <= {path.name for path in folder.iterdir()}
    assert f"{int(voted['tied'].sum())} ties, decided by --ties unresolved" in out
    status, _, err = run(capsys, "judge", "agreement", *files, "--out", folder)
    assert status == 2
    assert "--overwrite" in err
