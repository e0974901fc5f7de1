"""The script that redoes Yilmaz et al. 2020 by a collection's name, on a field with the names of its document task."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from same import assert_same

import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset

SCRIPT = Path(__file__).parents[2] / "scripts" / "papers" / "pools_of_one_type.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("pools_of_one_type", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def simulated(table):
    """Return runs of some names, and judgments: neural and traditional runs that each see half of the relevant."""
    random, topics, frames = np.random.default_rng(1), [str(t) for t in range(1, 7)], {}
    docnos = np.array([f"D{d}" for d in range(60)])
    # a document has a trait that one type sees
    grade = (random.random((6, 60)) < 0.3).astype(int) * random.integers(1, 4, (6, 60))
    sees = random.random((6, 60)) < 0.5
    for name, kind in zip(table["name"], table["type"], strict=True):
        gain = grade * np.where(sees == (kind == "neural"), 1.0, 0.2) + random.normal(size=grade.shape)
        order = np.argsort(-gain, axis=1)[:, :20]
        frames[name] = pd.DataFrame(
            {
                "qid": np.repeat(topics, 20),
                "docno": docnos[order.ravel()],
                "score": np.tile(np.arange(20, 0, -1.0), 6),
                "rank": np.tile(np.arange(20), 6),
            }
        )
    runs = ptr.RunSet.from_frames(frames, metadata=table[["name", "team", "type"]])
    labels = pd.DataFrame({"qid": np.repeat(topics, 60), "docno": np.tile(docnos, 6), "label": grade.ravel()})
    return runs, ptr.Qrels(labels).restrict(ptr.depth_pool(runs, depth=10))


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_it_makes_the_tables_and_figures_of_a_collection(script, tmp_path):
    record = ReuseDataset("trec-2019/deep/docs").submitted()
    assert (len(record), record["team"].nunique()) == (38, 11)
    # 11 of 38 are traditional here, of several teams; the true types are read off the descriptions of the runs
    table = record.assign(type=np.where(np.arange(38) % 7 < 2, "traditional", "neural"))
    runs, qrels = simulated(table)
    runs.write(tmp_path / "runs")
    qrels.write(tmp_path / "qrels.txt")
    for column, file in (("team", "teams"), ("type", "types")):
        lines = [f"{name}\t{value}\n" for name, value in zip(table["name"], table[column], strict=True)]
        (tmp_path / file).write_text("".join(lines))
    (tmp_path / "topics.tsv").write_text("".join(f"{topic}\tquery\n" for topic in qrels.topics))
    ptr.register_collection(
        "one-type",
        runs=tmp_path / "runs",
        qrels=tmp_path / "qrels.txt",
        topics=tmp_path / "topics.tsv",
        teams=tmp_path / "teams",
    )
    out = tmp_path / "out"
    words = ["--collection", "one-type", "--types", str(tmp_path / "types"), "--out", str(out)]
    script.main(words)
    for unit in ("team", "run"):
        found = ptr.read_result(out / f"by-{unit}")
        expected = ptr.by_type(ptr.read_runs(tmp_path / "runs", metadata=table), qrels, unit=unit)
        assert set(found.pools) == {"neural", "traditional"}
        assert_same(found.table, expected.table)
        assert str(found.report()) in (out / f"by-{unit}.txt").read_text()
    pdfs = {path.name for path in out.glob("by-*.pdf")}
    assert pdfs == {f"by-run-{measure}-{pool}.pdf" for measure in ("RR", "nDCG@10") for pool in found.pools}
    assert (out / "found.pdf").read_bytes().startswith(b"%PDF")
    assert ptr.read_result(out / "found").judged_to == 10
