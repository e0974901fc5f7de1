"""`pt-reuse score`, compared with the library and with trec_eval."""

from __future__ import annotations

import pandas as pd
import pytest
import pytrec_eval
from command_parts import lines_of_table, run

import pt_reuse as ptr


def by_trec_eval(field):
    """Return name -> qid -> measure -> value by pytrec_eval; the scores of the field are float32 as they are."""
    qrels: dict[str, dict[str, int]] = {}
    for qid, docno, label in field.qrels.to_frame().itertuples(index=False):
        qrels.setdefault(qid, {})[docno] = int(label)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10"})
    found = {}
    for name in field.runs.names:
        frame = field.runs[name]
        lists = {qid: dict(zip(g["docno"], g["score"].astype(float), strict=True)) for qid, g in frame.groupby("qid")}
        found[name] = evaluator.evaluate(lists)
    return found


def test_means_ranks_and_topics_are_those_of_trec_eval(files, field, capsys):
    out = files / "out"
    given = ["score", files / "runs", "--qrels", files / "qrels.txt", "--metadata", files / "runs.csv"]
    status, printed, err = run(capsys, *given, "--out", out, "--per-topic")
    assert (status, err) == (0, "")
    expected = by_trec_eval(field)
    mean = pd.read_csv(out / "mean.csv").set_index("name")
    topics = pd.read_csv(out / "per_topic.csv", dtype={"qid": str})
    for name, values in expected.items():
        assert mean.loc[name, "AP"] == pytest.approx(sum(v["map"] for v in values.values()) / len(values), abs=1e-9)
        for qid, value in values.items():
            mine = topics[(topics["name"] == name) & (topics["qid"] == qid)].set_index("measure")["value"]
            assert mine["AP"] == pytest.approx(value["map"], abs=1e-9)
            assert mine["nDCG@10"] == pytest.approx(value["ndcg_cut_10"], abs=1e-9)
    lines = lines_of_table(printed)
    best = mean["AP"].sort_values(ascending=False)
    at = lines.index(["Run", "AP", "nDCG@10"])
    shown = lines[at + 1 : at + 1 + len(best)]
    assert [line[0] for line in shown] == list(best.index)
    assert [line[1:] for line in shown] == [[f"{mean.loc[n, m]:.4f}" for m in ("AP", "nDCG@10")] for n in best.index]
    ranks = pd.read_csv(out / "ranks.csv").set_index("name")
    assert ranks["nDCG@10"].equals(mean["nDCG@10"].rank(ascending=False, method="min").astype(int))
    saved = ptr.read_result(out)
    assert saved.mean.equals(ptr.score(ptr.read_runs(files / "runs"), field.qrels, ["AP", "nDCG@10"]).mean)


@pytest.mark.parametrize("command", ["unjudged", "pool"])
def test_topics_at_a_time(files, field, command, capsys):
    given = [files / "runs", "--qrels", files / "qrels.txt", "--metadata", files / "runs.csv"]
    one = run(capsys, command, *given)
    assert run(capsys, command, *given, "--jobs", "2") == one
    assert one[0] == 0
    status, printed, err = run(capsys, command, *given, "--jobs", "0")
    assert (status, printed) == (2, "")
    assert "--jobs must be a whole number of jobs" in err
