"""The judgments of the embedded collection, and every number and checksum that its datasheet gives."""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.util
import re
from pathlib import Path

import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr

ROOT = Path(__file__).parents[2]
DATA = ROOT / "pt_reuse" / "collections" / "data" / "demo"


@pytest.fixture(scope="module")
def demo():
    return pt.get_dataset("reuse:demo")


@pytest.fixture(scope="module")
def complete(demo):
    return demo.get_judgments("complete")


@pytest.fixture(scope="module")
def runs(demo):
    return demo.get_runs()


@pytest.fixture(scope="module")
def sheet(demo):
    """Return the datasheet in one line, without marks."""
    return " ".join(re.sub(r"[`|*]", " ", demo.datasheet()).split())


def read_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_number_of_the_datasheet_is_computed(demo):
    numbers = read_script("demo_numbers")
    said = list(numbers.sentences(demo))
    assert len(said) >= 14
    assert numbers.missing_from(demo.datasheet(), said) == []
    # a number that is not so is missed
    assert numbers.missing_from(demo.datasheet(), ["481 documents of 40 to 90 words"])


def test_judgments_are_those_of_the_pool_by_default(demo, complete, runs):
    labels = complete.to_frame().set_index(["qid", "docno"])["label"].to_dict()
    pooled = set()
    for name in runs.select(pooled=True):
        frame = runs[name].sort_values(["qid", "score", "docno"], ascending=[True, False, False])
        for qid, docnos in frame.groupby("qid")["docno"]:
            pooled |= {(qid, docno) for docno in docnos.tolist()[:10]}
    expected = {pair: labels[pair] for pair in pooled}
    assert len(expected) == 989
    frame = demo.get_qrels()
    assert dict(zip(zip(frame["qid"], frame["docno"], strict=True), frame["label"], strict=True)) == expected
    for found in (demo.get_qrels("pool"), demo.get_judgments().to_frame(), demo.get_judgments("pool").to_frame()):
        pd.testing.assert_frame_equal(found, frame)
    assert demo.get_judgments().topics == complete.topics
    pool = ptr.depth_pool(runs)  # the depth and the order on record
    assert len(pool) == 989
    assert len(pool.remainder(demo.get_judgments())) == 0


def test_the_judgments_are_plain_qrels_files_that_the_script_makes(demo, complete, monkeypatch, tmp_path):
    pd.testing.assert_frame_equal(ptr.read_qrels(DATA / "qrels.txt.gz").to_frame(), demo.get_judgments().to_frame())
    pd.testing.assert_frame_equal(ptr.read_qrels(DATA / "complete.txt.gz").to_frame(), complete.to_frame())
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # which the script would set
    read_script("build_demo").command(["--only-judgments", "--out", str(tmp_path)])
    names = ("complete.txt.gz", "labels.csv.gz", "qrels.txt.gz")
    for name in names:
        made, shipped = (folder / name for folder in (tmp_path, DATA))
        assert gzip.decompress(made.read_bytes()) == gzip.decompress(shipped.read_bytes())
        # no time of day in the head of the file: the same bytes tomorrow
        assert made.read_bytes()[4:8] == shipped.read_bytes()[4:8] == bytes(4)
    sums = [f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}  {name}" for name in names]
    assert (tmp_path / "SHA256SUMS").read_text().splitlines() == sums
    with gzip.open(DATA / "labels.csv.gz", "rt") as labels:
        assert {row["assessor"] for row in csv.DictReader(labels)} == {"second", "third"}


def test_every_data_file_has_its_checksum(demo, sheet):
    listed = dict(line.split("  ")[::-1] for line in (DATA / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    files = {path.relative_to(DATA).as_posix(): path for path in DATA.rglob("*") if path.is_file()}
    assert set(files) - set(listed) == {"SHA256SUMS", "DATASHEET.md"}
    assert len(listed) == 22 + 10
    assert {name: hashlib.sha256(files[name].read_bytes()).hexdigest() for name in listed} == listed
    assert "SHA256SUMS" in sheet
