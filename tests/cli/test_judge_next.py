"""`pt-reuse judge-next`: what it writes is exported, what comes back is taken, and a goal is several words."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=12, n_docs=600, n_teams=14, length=40)
NEW = FIELD.runs.select(names=FIELD.runs.select(pooled=True).names[-1:])
OTHERS = FIELD.runs.select(names=[name for name in FIELD.runs.names if name not in NEW.names])
KNOWN = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS, depth=10))


@pytest.fixture
def words(tmp_path):
    for folder, runs in (("runs", OTHERS), ("new", NEW)):
        (tmp_path / folder).mkdir()
        for name in runs.names:
            rows = runs[name]
            lines = (f"{r.qid} Q0 {r.docno} {r.rank} {r.score} {name}\n" for r in rows.itertuples())
            (tmp_path / folder / name).write_text("".join(lines))
    OTHERS.run_table.to_csv(tmp_path / "runs.csv", index=False)
    KNOWN.write(tmp_path / "qrels.txt")
    given = ("--runs", tmp_path / "runs", "--metadata", tmp_path / "runs.csv", "--qrels", tmp_path / "qrels.txt")
    return ["judge-next", *given, "--new", tmp_path / "new" / NEW.names[0], "--measures", "P@10", "--depth", 10]


def carried_out(capsys, *words):
    status, out, err = run(capsys, *words)
    assert status == 0, err
    return out


def test_a_plan_goes_out_and_its_labels_come_back(words, tmp_path, capsys):
    carried_out(capsys, *words, "--n", 6, "--out", tmp_path / "plan")
    asked = pd.read_csv(tmp_path / "plan" / "documents.csv", dtype=str)
    assert len(asked) == 6
    pd.DataFrame({"qid": KNOWN.topics, "query": KNOWN.topics}).to_csv(tmp_path / "topics.csv", index=False)
    texts = (json.dumps({"docno": docno, "text": docno}) for docno in asked["docno"])
    (tmp_path / "texts.jsonl").write_text("\n".join(texts))
    task = ("--topics", tmp_path / "topics.csv", "--texts", tmp_path / "texts.jsonl", "--annotators", "ann")
    pool = tmp_path / "plan" / "documents.csv"
    carried_out(capsys, "judge", "export", "--pool", pool, *task, "--out", tmp_path / "task")
    (sheet,) = (tmp_path / "task").glob("*.csv")
    pd.read_csv(sheet, dtype=str).assign(label="1").to_csv(sheet, index=False)
    carried_out(capsys, "judge", "import", tmp_path / "task", "--out", tmp_path / "labels.csv")
    carried_out(capsys, *words, "--n", 6, "--judged", tmp_path / "labels.csv", "--out", tmp_path / "later")
    judged = asked[["qid", "docno"]].assign(label=1)
    later = ptr.judge_next(OTHERS, KNOWN, "P@10", new=tmp_path / "new" / NEW.names[0], depth=10, n=6, judged=judged)
    found, wanted = (
        each.table.set_index(["first", "second"]).sort_index() for each in (ptr.read_result(tmp_path / "later"), later)
    )
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-9)
    assert not set(later.documents["docno"]) & set(asked["docno"])
