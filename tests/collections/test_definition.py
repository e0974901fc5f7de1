"""Collections of one's own: what a call or a TOML file may say, and what is said when it is wrong."""

from __future__ import annotations

import gzip
import json
import re

import ir_datasets
import pyterrier as pt
import pytest

from pt_reuse.collections.definition import define, read_definition
from pt_reuse.collections.provider import register_collection

TOML = """
name = "mine/2024"
title = "Mine"
year = 2024
note = "For a test."
documents = "docs/*.jsonl"
topics = "topics.tsv"
qrels = "qrels.txt.gz"

[runs]
folder = "runs"
teams = { bm25 = "A", dense = "B" }
types = "types.txt"
pooled = ["bm25"]

[sources]
prefixes = { "a-" = "alpha", "b-" = "beta" }
pattern = "([^-]+)-"
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with everything that a definition may name."""
    top = tmp_path / "mine"
    for inside in ("docs", "runs", "empty"):
        (top / inside).mkdir(parents=True)
    for part in "ab":
        rows = [json.dumps({"docno": f"{part}-{i}", "text": f"text {part} {i}"}) for i in (1, 2)]
        (top / "docs" / f"{part}.jsonl").write_text("\n".join(rows))
    (top / "docs" / "other.tsv").write_text("c-1\ttext\n")
    (top / "topics.tsv").write_text("1\tgreen tea\n2\tmilk\n")
    (top / "qrels.txt.gz").write_bytes(gzip.compress(b"1 0 a-1 1\n2 0 b-1 2\n2 0 a-1 0\n"))
    (top / "types.txt").write_text("bm25 lexical\ndense neural\n")
    (top / "meta.csv").write_text("name,team,type,pooled\nbm25,A,lexical,yes\ndense,B,neural,no\n")
    for name in ("bm25", "dense"):
        rows = [
            f"{qid} Q0 {docno} {rank} {3 - rank} {name}\n" for qid in (1, 2) for rank, docno in ((1, "a-1"), (2, "b-1"))
        ]
        (top / "runs" / f"input.{name}").write_text("".join(rows))
    return top


def toml(folder, text):
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_toml_file_round_trip_through_pyterrier(folder, tmp_path, monkeypatch):
    # a definition in the user's folder is found by its name
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "collections").mkdir(parents=True)
    text = TOML
    for inside in ("docs/*.jsonl", "topics.tsv", "qrels.txt.gz", "types.txt"):
        text = text.replace(f'"{inside}"', json.dumps(str(folder / inside)))
    text = text.replace('folder = "runs"', f"folder = {json.dumps(str(folder / 'runs'))}")
    (tmp_path / "home" / "collections" / "mine.toml").write_text(text, encoding="utf-8")
    found = pt.get_dataset("reuse:mine/2024")
    assert found.get_topics().to_dict("list") == {"qid": ["1", "2"], "query": ["green tea", "milk"]}
    assert found.get_qrels()[["qid", "docno", "label"]].to_numpy().tolist() == [
        ["1", "a-1", 1],
        ["2", "b-1", 2],
        ["2", "a-1", 0],
    ]
    assert [document["docno"] for document in found.get_corpus_iter(verbose=False)] == ["a-1", "a-2", "b-1", "b-2"]
    runs = found.get_runs()
    assert runs.run_table[["name", "team", "type", "pooled"]].to_numpy().tolist() == [
        ["bm25", "A", "lexical", True],
        ["dense", "B", "neural", False],
    ]
    assert found.get_runs(pooled=True).names == ["bm25"]
    assert found.source_of("b-1") == "beta"
    assert "mine/2024" in pt.datasets.list_datasets(en_only=False)["dataset"].str.removeprefix("reuse:").tolist()
    loaded = ir_datasets.load("reuse/mine/2024")
    assert [run.team for run in loaded.runs_iter()] == ["A", "B"]
    assert loaded.docs_store().get("a-2").text == "text a 2"


def test_a_call_says_the_same_as_the_file(folder):
    called = define(
        "mine/2024",
        title="Mine",
        year=2024,
        note="For a test.",
        documents=[folder / "docs/a.jsonl", "docs/b.jsonl"],
        topics="topics.tsv",
        qrels="qrels.txt.gz",
        runs="runs",
        teams={"bm25": "A", "dense": "B"},
        types="types.txt",
        pooled=["bm25"],
        sources={"prefixes": {"a-": "alpha", "b-": "beta"}, "pattern": "([^-]+)-"},
        base=folder,
    )
    read = read_definition(toml(folder, TOML))
    assert vars(called) == vars(read)
    assert [read.sources.of(docno) for docno in ("a-1", "b-7", "gamma-1", "none")] == ["alpha", "beta", "gamma", None]
    register_collection(called, overwrite=True)
    register_collection(read)


NAMES = ["Mine", "my own", "a\\b", "", "/a", "a/", "a//b", "../a", "a/../b", "a..b", "a/.hidden", ".", "a\n", 5]


def test_names_that_cannot_be_used(messages):
    for name in NAMES:
        messages.refused(lambda name=name: define(name), argument="name")


WRONG = [
    {"title": 5}, {"year": True}, {"year": 10**5000}, {"documents": "docs/c.jsonl"}, {"documents": "empty"},
    {"documents": "docs"}, {"documents": "meta.csv"}, {"documents": []}, {"documents": 5}, {"topics": "docs"},
    {"documents": "irds:vaswano"}, {"documents": ["irds:vaswani", "docs/a.jsonl"]}, {"qrels": "irds:msmarco-passage"},
    {"topics": "docs/*"}, {"topics": "types.txt"}, {"topics": "a\0b"}, {"teams": {"bm25": "A"}}, {"runs": "empty"},
    {"runs": "runs", "teams": "nowhere.txt"}, {"runs": "runs", "teams": 5}, {"runs": "runs", "pooled": [1]},
    {"sources": 5}, {"sources": {"a": 5}}, {"sources": {}}, {"sources": "(a"}, {"sources": "(a)(b)"},
    {"sources": {"pattern": 5}}, {"topics": "~nobody-of-that-name/topics.tsv"},
]  # fmt: skip


def test_what_is_wrong_is_told(messages, folder):
    messages.hidden[ir_datasets.__version__] = "{version}"
    for given in WRONG:
        error = messages.refused(lambda given=given: define("mine", base=folder, **given))
        # of several, the last is at fault
        assert error.argument == list(given)[-1] or repr(list(given)[-1]) in error.place


WRONG_IN_A_FILE = [
    "title = 'x'", "name = 'a'\ntopic = 'topics.tsv'", "name = 'a'\n[runs]\nfolder = 'runs'\nteam = 'x'",
    "name = 'a'\n[runs]\nteams = {a = 'b'}", "name = 'a'\n[runs]\nfolder = 'runs'\nfiles = ['x']",
    "name = 'a'\n[runs]\nfolder = 'nowhere'", "name = 'a'\nsources = 'FT'", "name = 'a'\n[sources]\nprefixes = 'FT'",
    "name = 'a'\nyear = 2024-01-01", "name = ['a']", "name = 'a'\nqrels = {file = 'qrels.txt.gz'}",
]  # fmt: skip


def test_what_is_wrong_in_a_file_is_told(messages, folder):
    for text in WRONG_IN_A_FILE:
        messages.refused(lambda text=text: read_definition(toml(folder, text)), place="{d}/mine/mine.toml")


def test_the_example_of_the_documentation_works(tmp_path, monkeypatch):
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "own-collections.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"\.\. code-block:: (\w+)\n\n((?:   .*\n|\n)+)", page)
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for language, text in blocks:
        body = re.sub(r"^   ", "", text, flags=re.MULTILINE)
        if language == "toml":
            (tmp_path / "tea" / "tea.toml").write_text(body, encoding="utf-8")
        elif language == "python":
            exec(compile(body, "own-collections.rst", "exec"), {})
