"""Five judges on Deep Learning 2021, and on 2019 with the runs that came later and eight other people."""

from __future__ import annotations

import csv

import pytest
from real_runs import read_real

import pt_reuse as ptr

#: judge -> tau_b of means and largest change of rank of nDCG@10, over the 63 runs of 2021
OF_2021 = {
    "umbrela-gpt-4": (0.924, 6),
    "binary-gpt-4o": (0.906, 9),
    "binary-gpt-4": (0.896, 9),
    "exam-gpt-4": (0.845, 12),
    "binary-llama-3.2": (0.790, 17),
}
MISSING_2021 = {"binary-gpt-4o": 4, "binary-gpt-4": 7}


def read_track(data, name):
    folder = data / name
    if not folder.is_dir():
        pytest.skip(f"the test data has no folder {name}")
    judges = {path.name.removesuffix(".gz"): path for path in sorted((folder / "llm-labels").iterdir())}
    runs = read_real(folder / "inputs", teams=folder / "runs-pids", order="trec_eval9")
    return folder, runs, ptr.read_qrels(folder / "qrels.gz", rel=2), judges


@pytest.fixture(scope="module")
def track_2021(data):
    return read_track(data, "dl21-passages")


@pytest.fixture(scope="module")
def of_2021(track_2021):
    _, runs, human, judges = track_2021
    return ptr.audit_labels(runs, human, judges, "nDCG@10", judge_rel={"exam-gpt-4": 2}, resamples=0)


@pytest.fixture(scope="module")
def of_2019(data):
    folder, runs, human, judges = read_track(data, "dl19-passages")
    later = read_real(folder / "later", names="file", order="trec_eval9")
    with (folder / "later.csv").open(newline="") as lines:
        families = {row["name"]: row["family"] for row in csv.DictReader(lines)}
    types = dict.fromkeys(runs.names, "official")
    types |= {name: "gpt" if family == "gpt" else "other" for name, family in families.items()}
    people = {path.stem: ptr.read_qrels(path, rel=2) for path in sorted((folder / "re-annotators").iterdir())}
    chosen = {name: judges[name] for name in ("umbrela-gpt-4", "binary-llama-3.2")}
    field = (runs | later).with_metadata(types=types)
    return ptr.audit_labels(field, human, chosen, "nDCG@10", people=people, by="type", resamples=0)


def test_rankings_of_2021(of_2021):
    rows = of_2021.table[of_2021.table["by"] == "all"].set_index("judge")
    assert (rows["runs"].unique().tolist(), rows["topics"].unique().tolist()) == ([63], [53])
    found = {judge: (round(row["tau_b"], 3), max(row["max_drop"], row["max_rise"])) for judge, row in rows.iterrows()}
    assert found == OF_2021
    assert {judge: 10_828 - n for judge, n in rows["documents"].items() if n < 10_828} == MISSING_2021
    moved = of_2021.movers.groupby("judge")["rise"]
    assert {judge: int(abs(rises).max()) for judge, rises in moved} == {judge: n for judge, (_, n) in OF_2021.items()}


def test_the_order_of_ties_makes_a_difference_of_2021(track_2021, of_2021):
    _, runs, human, judges = track_2021
    last = "binary-llama-3.2"
    found = ptr.audit_labels(runs.reorder("trec_eval"), human, judges[last], "nDCG@10", resamples=0)
    row = found.table.iloc[0]
    assert (round(row["tau_b"], 4), row["max_rise"]) == (0.7918, 16)
    assert found.settings["order"] == "trec_eval"
    assert of_2021.settings["order"] == "trec_eval9"


def test_runs_that_came_later_2019(of_2019):
    rows = of_2019.table.set_index(["judge", "part"])
    assert rows.loc[("umbrela-gpt-4", "all"), "runs"] == 61
    taus = {
        judge: tuple(round(rows.loc[(judge, part), "tau_b"], 3) for part in ("official", "all"))
        for judge in ("umbrela-gpt-4", "binary-llama-3.2")
    }
    assert taus == {"umbrela-gpt-4": (0.850, 0.823), "binary-llama-3.2": (0.831, 0.749)}
    # ranks gained in the whole field of 61 runs
    gained = {
        judge: [round(rows.loc[(judge, part), "mean_rise"], 1) for part in ("gpt", "other", "official")]
        for judge in ("umbrela-gpt-4", "binary-llama-3.2")
    }
    assert gained == {"umbrela-gpt-4": [4.4, 1.4, -1.6], "binary-llama-3.2": [-12.0, -0.4, 2.8]}


def test_other_people_of_2019(of_2019):
    people = of_2019.table[(of_2019.table["kind"] == "people") & (of_2019.table["by"] == "all")]
    assert people["judge"].tolist() == [f"annotator-{n}" for n in range(1, 9)]
    assert people["topics"].tolist() == [13, 13, 9, 9, 9, 9, 15, 15]
    assert people["documents"].tolist() == [1115, 1115, 1128, 1128, 1135, 1135, 1124, 1124]
    mean = of_2019.yardstick.set_index("judge")
    assert mean["people"].tolist() == [8, 8]
    assert mean["people_tau_b"].round(4).tolist() == [0.8017, 0.8017]
    assert mean.loc["umbrela-gpt-4", "tau_b"] == pytest.approx(0.8154, abs=5e-5)
    assert mean.loc["umbrela-gpt-4", "difference"] == pytest.approx(
        of_2019.beside.loc[of_2019.beside["judge"] == "umbrela-gpt-4", "difference"].mean(), abs=1e-12
    )
