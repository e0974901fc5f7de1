"""The figures that the package ships, on real runs and judgments."""

from __future__ import annotations

import csv
import runpy
import shutil
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest

import pt_reuse
from pt_reuse.collections.registry import find_collection
from pt_reuse.data.run_set import RunSet
from pt_reuse.demo.simulated import simulate_field
from pt_reuse.scoring.run_scores import score
from pt_reuse.verification.published import published_figures, published_names
from pt_reuse.verification.verification import verify

SHIPPED = Path(pt_reuse.__file__).parent / "verification" / "data"


BUILD = Path(__file__).parents[2] / "scripts" / "build_published.py"


def test_shipped_collections():
    assert published_names() == [
        "trec-2019/deep/passages",
        "trec-2021/deep/passages",
        "trec-8/adhoc",
        "trec-covid/round1",
        "trec-covid/round5",
    ]
    for name in published_names():
        published = published_figures(name)
        assert published.collection == name
        assert (SHIPPED / f"{name.replace('/', '-')}.toml").is_file()
        submitted = set(find_collection(name).submitted["name"])
        scored = [one for one in published.figures if one.kind == "scores" and len(one.values) > 1]
        assert scored
        # a score for every run of the catalogue and for no other
        assert all(set(one.values) == submitted for one in scored)


def test_round_1_on_a_simulated_field(tmp_path):
    """The run files are published, but large: other runs under the same names, scored by ir_measures."""
    names = sorted(find_collection("trec-covid/round1").submitted["name"])
    field = simulate_field(seed=3, n_topics=30, n_teams=72, length=20, n_docs=300)
    frames = {name: field.runs[old].drop(columns="name") for name, old in zip(names, field.runs.names, strict=False)}
    runs, qrels = RunSet.from_frames(frames), field.qrels
    measures = dict(
        zip(
            ("ndcg@10", "P@5", "bpref", "map"),
            map(ir_measures.parse_measure, ("nDCG@10", "P@5", "Bpref", "AP")),
            strict=True,
        )
    )
    judged = qrels.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    with open(tmp_path / "trec-covid-round1.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", *measures])
        for name in names:
            run = runs[name].rename(columns={"qid": "query_id", "docno": "doc_id"})
            found = ir_measures.calc_aggregate(list(measures.values()), judged, run)
            rows.writerow([name, *(f"{found[measure]:.4f}" for measure in measures.values())])
    shutil.copy(SHIPPED / "trec-covid-round1.toml", tmp_path)
    found = verify("trec-covid/round1", runs=runs, qrels=qrels, figures=tmp_path / "trec-covid-round1.toml")
    scores = found.table[found.table["what"].str.endswith("of the runs")]
    assert len(scores) == 4 * 143
    assert scores["equal"].tolist() == [True] * len(scores)
    # but the judgments are not those of round 1
    assert found.table.set_index("name").loc["relevant", "equal"] is False


def test_trec8(data):
    folder = data / "trec8-adhoc"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec8-adhoc")
    found = verify("trec-8/adhoc", runs=folder, qrels=folder / "trec8.qrels.gz")
    unequal = found.table[found.table["equal"].map(lambda equal: equal is not True)]
    assert unequal[["what", "published", "computed"]].values.tolist() == [
        ["relevant documents of manual runs alone, as published", 1131, 1130],
    ]
    assert found.holds
    assert found.headline() == "TREC-8 ad hoc: 246 of 247 figures equal, 1 unequal (1 known to be)"
    summary, ways = found.summary.set_index("what"), found.conventions.set_index(["what", "convention"])
    assert summary.loc["MAP of the runs", ["figures", "equal"]].tolist() == [129, 129]
    # with scores as float32 one run differs
    assert ways.loc[("MAP of the runs", "order=trec_eval9"), "equal"] == 128
    assert summary.loc["best rank of a relevant document", "convention"].startswith("order=trec_eval9")
    assert summary.loc["pool of depth 10 of all runs", "convention"] == (
        "order=trec_eval, contributors=all, depth=10, measure=AP(judged_only=True), truth=MAP of the runs, "
        "decimals_of_scores=4, pool_order=file_ties"
    )
    assert found.table["known"].sum() == 1


def only(name, words, folder):
    """Write those of the shipped figures whose subject begins with some words, beside the scores of the runs."""
    for file in SHIPPED.glob(f"{name}.*"):
        shutil.copy(file, folder)
    head, *figures = (SHIPPED / f"{name}.toml").read_text(encoding="utf-8").split("[[figure]]\n")
    kept = [figure for figure in figures if figure.startswith(f'what = "{words}')]
    (folder / f"{name}.toml").write_text("[[figure]]\n".join([head, *kept]), encoding="utf-8")
    return folder / f"{name}.toml"


def test_trec8_with_one_wrong_flag(trec8, tmp_path):
    """A run that was not pooled and is said to be has unjudged documents."""
    unjudged = score(trec8.runs, trec8.qrels, "Unjudged@10")
    worst = unjudged.names[int(np.argmax(unjudged.mean_values[0]))]
    runs = trec8.runs.with_metadata(pooled=[*trec8.runs.select(pooled=True).names, worst])
    figures = only("trec-8-adhoc", "unjudged at", tmp_path)
    assert verify("trec-8/adhoc", runs=trec8.runs, qrels=trec8.qrels, figures=figures).holds
    found = verify("trec-8/adhoc", runs=runs, qrels=trec8.qrels, figures=figures)
    table = found.table.set_index(["what", "name"])
    for what in ("unjudged at 10, mean", "unjudged at 10, largest", "unjudged at 100, mean"):
        assert table.loc[(what, "pooled"), "equal"] is False
        assert table.loc[(what, "pooled"), "published"] == 0
    assert not found.holds


def test_covid_round_5(data):
    folder = data / "trec-covid-round5"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec-covid-round5")
    found = verify("trec-covid/round5", runs=folder, qrels=folder / "qrels.covid-round5.txt.gz")
    assert found.headline() == "TREC-COVID round 5: 643 of 643 figures equal"
    used = found.summary.set_index("what")["convention"]
    assert used[used.index.str.endswith("of the runs")].str.startswith("order=trec_eval9").all()
    alone = found.conventions[found.conventions["what"].str.endswith("of the runs")]
    alone = alone.assign(convention=alone["convention"].str.partition(",")[0])
    equal = alone.pivot_table(index="what", columns="convention", values="equal").astype(int)
    assert equal["order=trec_eval9"].tolist() == [126] * 5
    # as float64 some scores of four runs are not equal
    assert equal["order=trec_eval"].to_dict() == {
        "MAP of the runs": 125,
        "P@20 of the runs": 126,
        "bpref of the runs": 126,
        "nDCG@20 of the runs": 124,
        "graded RBP (p = .5) of the runs": 123,
    }


def test_covid_round_5_with_one_score_of_another_order(covid, tmp_path):
    """Each score is that of one of the two orders, but of no single one."""
    runs, qrels = covid.runs, covid.qrels
    figures = only("trec-covid-round5", "nDCG@20 of the runs", tmp_path)
    board = pd.read_csv(tmp_path / "trec-covid-round5.csv", dtype=str).set_index("name")
    scores = score(runs, qrels, "nDCG@20")
    double = pd.Series(scores.mean_values[0], index=scores.names).map("{:.4f}".format)
    name = next(name for name in runs.names if double[name] != board.loc[name, "ndcg@20"])
    board.loc[name, "ndcg@20"] = double[name]
    board.to_csv(tmp_path / "trec-covid-round5.csv")
    found = verify("trec-covid/round5", runs=runs, qrels=qrels, figures=figures)
    unequal = found.table[found.table["equal"].map(lambda equal: equal is False)]
    # two scores tell the orders apart, so now either explains all but one
    assert unequal["what"].tolist() == ["nDCG@20 of the runs"]
    alone = found.conventions.set_index("what").loc["nDCG@20 of the runs", "equal"]
    assert alone.tolist() == [125, 125]
    assert not found.holds


def test_covid_round_1(data, tmp_path, monkeypatch):
    """The judgments are here, the run files are not."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    qrels = data / "qrels" / "qrels.covid-round1.txt.gz"
    if not qrels.is_file():
        pytest.skip("the test data has no qrels of TREC-COVID round 1")
    found = verify("trec-covid/round1", qrels=qrels)
    assert found.headline() == "TREC-COVID round 1: 4 of 583 figures equal, 579 not computed"
    assert found.holds


def test_shipped_scores_are_those_of_the_data(data, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", [str(BUILD), "--data", str(data), "--out", str(tmp_path)])
    runpy.run_path(str(BUILD), run_name="__main__")
    built = sorted(path.name for path in tmp_path.iterdir())
    if not built:
        pytest.skip("the test data has no published scores")
    assert {"trec-8-adhoc.csv", "trec-covid-round5.csv"} <= set(built)
    for name in built:
        assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes(), name


def test_scores_are_taken_over_as_text(messages, tmp_path, monkeypatch):
    folder = tmp_path / "data" / "trec-covid-round1"
    folder.mkdir(parents=True)
    header = "run,team,ndcg@10,p@5,bpref,MAP\n"
    (folder / "leaderboard.csv").write_text(header + "b,t,0.5000,1,0.2,0.3\na,t,0.10,0.20,0.30,0.40\n")
    monkeypatch.setattr("sys.argv", [str(BUILD), "--data", str(tmp_path / "data"), "--out", str(tmp_path / "out")])
    runpy.run_path(str(BUILD), run_name="__main__")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["trec-covid-round1.csv"]
    assert (tmp_path / "out" / "trec-covid-round1.csv").read_text() == (
        "name,ndcg@10,P@5,bpref,map\na,0.10,0.20,0.30,0.40\nb,0.5000,1,0.2,0.3\n"
    )
    (folder / "leaderboard.csv").write_text(header + "b,t,0,5000,1,0.2,0.3\n")
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(BUILD), run_name="__main__")
    messages.told(caught.value)
