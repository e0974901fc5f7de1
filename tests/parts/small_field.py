"""A small field as files: runs, graded judgments, judges, people, leaderboards, and a collection of them."""

from __future__ import annotations

import pandas as pd

import pt_reuse as ptr


def write_field(folder):
    """Write a field of nine teams, and who else judged it, into a folder."""
    field = ptr.demo.simulate_field(seed=5, n_topics=6, n_docs=300, n_teams=9, length=20, depth=20)
    field.runs.write(folder / "runs")
    field.qrels.write(folder / "qrels.txt")
    field.all_qrels.write(folder / "other.qrels")
    table = field.runs.run_table.assign(family=lambda f: f["type"].map({"neural": "gpt"}).fillna("old"))
    table.to_csv(folder / "runs.csv", index=False)
    for name, share, place in (
        ("lax", 0.3, "judges"),
        ("strict", 0.1, "judges"),
        ("ann", 0.2, "people"),
        ("bob", 0.1, "people"),
    ):
        (folder / place).mkdir(exist_ok=True)
        judge = ptr.judging.Noisy(field.qrels, ptr.judging.flips(share, range(3)), seed=len(name))
        found = judge(field.qrels.to_frame()[["qid", "docno"]])[["qid", "docno", "label"]]
        ptr.Qrels(found).write(folder / place / f"{name}.qrels")
    for name, qrels in (("lax", field.all_qrels), ("strict", field.qrels)):
        ptr.score(field.runs, qrels, ["AP", "nDCG@10"]).write_leaderboard(folder / "judges" / f"{name}.eval.txt", "tot")
    first = field.runs[field.runs.names[0]]
    new = first.assign(score=-first["score"]).drop(columns=["name", "rank"], errors="ignore")
    strangers = new.iloc[:40].drop_duplicates("qid").assign(docno="nobody-else", score=99.0)
    ptr.RunSet.from_frames({"new": pd.concat([new, strangers])}).write(folder / "new", compress=False)
    (folder / "graded.toml").write_text(
        f'name = "mine/graded"\ntitle = "Graded"\nqrels = "{folder}/qrels.txt"\nrel = 2\n[runs]\n'
        f'folder = "{folder}/runs"\nmetadata = "{folder}/runs.csv"\npool_depth = 15\npool_order = "file"\n'
    )
    return folder
