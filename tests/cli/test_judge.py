"""`pt-reuse judge export` and `import`: a pool goes to people and comes back as labels and as judgments."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_parts import lines_of_table, run
from people_parts import fill, rows_of

import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.judging.people.export import read_manifest


@pytest.fixture
def files(tmp_path, field):
    """Return a folder with runs, a pool of them, topics and texts."""
    field.runs.write(tmp_path / "runs")
    pool = ptr.depth_pool(field.runs, depth=2)
    (tmp_path / "pool").mkdir()
    pool.to_frame().to_csv(tmp_path / "pool" / "pool.csv", index=False)
    (tmp_path / "pool" / "settings.json").write_text(json.dumps({"strategy": "depth", "depth": 2}))
    pool.to_qrels().write(tmp_path / "pool" / "to_judge.txt")
    (tmp_path / "topics.tsv").write_text("".join(f"{qid}\tquery {qid}\n" for qid in pool.topics))
    docnos = sorted(set(field.runs.to_frame()["docno"]))
    (tmp_path / "texts.jsonl").write_text(
        "".join(json.dumps({"docno": d, "text": f"text of {d}"}) + "\n" for d in docnos)
    )
    pd.DataFrame({"docno": docnos, "text": "a text"}).to_csv(tmp_path / "texts.csv", index=False)
    (tmp_path / "texts.tsv").write_text("docno\ttext\n" + "".join(f"{d}\ta  text\n" for d in docnos))
    return tmp_path


def export(files, *more, pool=("--pool", "pool/pool.csv"), texts="texts.jsonl", out="tasks"):
    source = [pool[0], files / pool[1]]
    shown = ["--topics", files / "topics.tsv", "--texts", files / texts]
    return ["judge", "export", *source, *shown, "--out", files / out, "--quiet", *more]


def keys(pool):
    frame = pool.to_frame()
    return set(zip(frame["qid"], frame["docno"], strict=True))


def pairs_of(files, out="tasks"):
    return {pair.key for pair in read_manifest(files / out).pairs}


def test_a_pool_goes_out_and_comes_back(files, field, capsys):
    pool = ptr.depth_pool(field.runs, depth=2)
    status, out, err = run(capsys, *export(files, "--annotators", "ann,bob"))
    assert (status, err) == (0, "")
    assert f"{len(pool)} pairs to judge in 2 files in {files}/tasks" in out
    rows = {line[1]: line for line in lines_of_table(out) if line[0].endswith(".csv")}
    assert sum(int(rows[who][3]) for who in ("ann", "bob")) == len(pool)
    assert f"pt-reuse judge import {files}/tasks --out FILE.csv" in out
    assert pairs_of(files) == keys(pool)
    assert {pair.strategy for pair in read_manifest(files / "tasks").pairs} == {"depth"}

    fill(files / "tasks" / "ann-round1.csv", lambda row: "relevant")
    status, out, err = run(capsys, "judge", "import", files / "tasks", "--out", files / "labels.csv")
    assert status == 2
    assert "pass --partial to take what is there" in err
    assert not (files / "labels.csv").exists()
    fill(files / "tasks" / "bob-round1.csv", lambda row: "0")
    written = ("--out", files / "labels.csv", "--as-qrels", files / "qrels.txt")
    status, out, err = run(capsys, "judge", "import", files / "tasks", *written)
    assert (status, err) == (0, "")
    assert f"{len(pool)} labels of 2 annotators for {len(pool)} documents, 0 missing" in out
    labels = pd.read_csv(files / "labels.csv", dtype={"qid": str})
    assert set(zip(labels["qid"], labels["docno"], strict=True)) == keys(pool)
    assert set(zip(labels["annotator"], labels["label"], strict=True)) == {("ann", 1), ("bob", 0)}
    assert set(labels["strategy"]) == {"depth"}
    judged = ptr.read_qrels(files / "qrels.txt").to_frame()
    assert judged["label"].sum() == (labels["annotator"] == "ann").sum()
    status, _, err = run(capsys, "judge", "import", files / "tasks", *written)
    assert status == 2
    assert "Pass --overwrite" in err
    assert run(capsys, "judge", "import", files / "tasks", *written, "--overwrite")[0] == 0


def test_what_several_judged_becomes_judgments_by_a_vote(files, capsys, messages, monkeypatch):
    monkeypatch.chdir(files)
    pool, topics = ptr.read_qrels(files / "pool" / "to_judge.txt"), files / "topics.tsv"
    pool = ptr.Pool.from_frame(pool.to_frame()[["qid", "docno"]])
    texts = pd.read_csv(files / "texts.csv")
    topics = pd.read_csv(topics, sep="\t", names=["qid", "query"], dtype=str)
    people = {"annotators": ["ann", "bob", "cem"], "overlap": 3}
    ptr.judging.export_tasks(pool, files / "tasks", topics=topics, texts=texts, **people)
    for sheet in (files / "tasks").glob("*.csv"):
        fill(sheet, lambda row, sheet=sheet: "0" if sheet.name.startswith("cem") else str(int(row["docno"][-1]) % 2))
    status, _, err = run(capsys, "judge", "import", "tasks", "--as-qrels", "new.txt")
    assert status == 2
    messages.told(err)
    assert run(capsys, "judge", "import", "tasks", "--out", "labels.csv")[0] == 0
    assert run(capsys, "judge", "agreement", "labels.csv", "--resamples", "2", "--out", "agreed")[0] == 0
    qrels = files / "agreed" / "majority.qrels"
    voted = ptr.read_qrels(qrels).to_frame()
    assert set(zip(voted["qid"], voted["docno"], strict=True)) == pairs_of(files)
    assert voted["label"].tolist() == [int(docno[-1]) % 2 for docno in voted["docno"]]
    assert run(capsys, "score", files / "runs", "--qrels", qrels, "--measures", "AP")[0] == 0


def test_pools_and_texts_in_all_forms(files, field, capsys):
    expected = {"texts.jsonl": "text of {}", "texts.csv": "a text", "texts.tsv": "a  text"}
    for pool, texts in (("pool.csv", "texts.jsonl"), ("to_judge.txt", "texts.csv"), ("pool.csv", "texts.tsv")):
        out = f"{pool} {texts}"
        status, _, err = run(capsys, *export(files, pool=("--pool", f"pool/{pool}"), texts=texts, out=out))
        assert (status, err) == (0, "")
        row = rows_of(files / out / "tasks-round1.csv")[0]
        assert row["query"] == f"query {row['qid']}"
        assert row["text"] == expected[texts].format(row["docno"])
        assert pairs_of(files, out) == keys(ptr.depth_pool(field.runs, depth=2))


def test_a_pool_is_made_of_runs(files, field, capsys):
    qrels = ptr.Qrels(field.qrels.to_frame().iloc[::2])
    qrels.write(files / "some.txt")
    status, _, err = run(capsys, *export(files, "--depth", 3, pool=("--runs", "runs")))
    assert (status, err) == (0, "")
    whole = ptr.depth_pool(ptr.read_runs(files / "runs"), depth=3)
    assert pairs_of(files) == keys(whole)
    again = export(files, "--depth", 3, "--qrels", files / "some.txt", pool=("--runs", "runs"), out="again")
    status, out, _ = run(capsys, *again)
    assert status == 0
    assert pairs_of(files, "again") == keys(whole.remainder(qrels))
    # the labels are those of the judgments, and are told
    assert read_manifest(files / "again").scale.words == {n: f"grade {n}" for n in range(3)}
    assert "labels 0 (grade 0), 1 (grade 1) and 2 (grade 2)" in " ".join(out.split())


def test_topics_and_texts_of_a_collection(tmp_path, capsys):
    more = ("--contributors", "all", "--depth", 1, "--annotators", "ann", "--quiet")
    status, _, err = run(capsys, "judge", "export", "--collection", "demo", *more, "--out", tmp_path / "tasks")
    assert (status, err) == (0, "")
    demo = ReuseDataset("demo")
    # the labels are those of the collection, where nobody says others
    assert list(read_manifest(tmp_path / "tasks").scale.words) == [0, 1, 2]
    row = rows_of(tmp_path / "tasks" / "ann-round1.csv")[0]
    texts = {document["docno"]: document["text"] for document in demo.get_corpus_iter(verbose=False)}
    assert texts[row["docno"]] in row["text"]
    named = ("--pool", tmp_path / "p.csv", "--topics", "demo", "--texts", "reuse:demo", "--out", tmp_path / "named")
    pd.DataFrame({"qid": [row["qid"]], "docno": [row["docno"]]}).to_csv(tmp_path / "p.csv", index=False)
    assert run(capsys, "judge", "export", *named, "--quiet")[0] == 0
    (other,) = rows_of(tmp_path / "named" / "tasks-round1.csv")
    assert [other[name] for name in ("query", "text", "qid", "docno")] == [
        row[name] for name in ("query", "text", "qid", "docno")
    ]


def test_users_of_a_tool_are_named(files, capsys):
    run(capsys, *export(files, "--annotators", "ann"))
    rows = rows_of(files / "tasks" / "ann-round1.csv")
    back = files / "back.csv"
    pd.DataFrame(rows).assign(label="1", annotator="Anna").to_csv(back, index=False)
    status, _, err = run(capsys, "judge", "import", files / "tasks", back)
    assert status == 2
    assert "Say who it is by --annotators" in " ".join(err.split())
    status, out, _ = run(capsys, "judge", "import", files / "tasks", back, "--annotators", "Anna=ann")
    assert status == 0
    assert f"{len(rows)} labels of 1 annotator" in out
