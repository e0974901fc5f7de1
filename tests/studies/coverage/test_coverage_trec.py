"""Coverage of TREC-8 ad hoc and of Deep Learning 2019 with the runs that came later."""

from __future__ import annotations

import gzip
from collections import defaultdict

import ir_measures
import numpy as np
import pandas as pd
import pytest
from real_runs import read_real

import pt_reuse as ptr
from pt_reuse.data.judgments import read_qrels


@pytest.fixture(scope="module")
def found(trec8):
    return ptr.profile.coverage(trec8.runs, trec8.qrels, ["AP"], depths=[10, 100])


def test_what_is_unjudged_of_trec8(found):
    pooled = found.table[found.table["pooled"]]
    assert (pooled["unjudged"] == 0).all()
    others = found.table[~found.table["pooled"]]
    at_10, at_100 = (others[others["depth"] == depth] for depth in (10, 100))
    assert (len(pooled), len(others)) == (2 * 71, 2 * 58)
    assert round(at_10["unjudged"].mean(), 4) == 0.0465
    assert at_10["unjudged"].max() == pytest.approx(0.882)
    assert round(at_100["unjudged_of_k"].mean(), 4) == 0.1003
    assert found.headline().startswith("Unjudged@10 in the mean: pooled runs 0.0000, other runs 0.0465; most 0.8820")
    # every pooled run is judged to the depth of the pool
    by_run = found.by_run.set_index("pooled")["judged_to"]
    assert by_run.loc[True].min() == 100
    assert by_run.loc[False].min() == 0


def test_what_ir_measures_says_of_it(found, trec8):
    qrels = trec8.qrels.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    for name in ("surffal2", "isa25t"):
        run = trec8.runs[name].rename(columns={"qid": "query_id", "docno": "doc_id"})
        value = ir_measures.calc_aggregate([ir_measures.Judged @ 10], qrels, run)[ir_measures.Judged @ 10]
        mine = found.table[(found.table["name"] == name) & (found.table["depth"] == 10)]["unjudged"].item()
        assert mine == pytest.approx(1 - value, abs=2e-3)  # it breaks ties its own way


def test_without_the_own_team_as_nist_says_who_contributed(trec8):
    """NIST's list of contributing teams, over all 129 runs, and the lists of some runs, document by document."""
    found = ptr.profile.coverage(trec8.runs, trec8.qrels, ["AP"], depths=[10], contributors="all")
    teams = defaultdict(set)
    with gzip.open(trec8.folder / "annotated-qrels.gz", "rt") as file:
        for line in file:
            qid, _, docno, _, _, *who = line.split()
            teams[qid, docno] = set(who)
    team_of = dict(zip(trec8.runs.run_table["name"], trec8.runs.run_table["team"], strict=True))
    rows = found.by_run.set_index("name")
    for name in ("READWARE", "8manexT3D1N0", "disco1", "surffal2"):
        frame = trec8.runs[name]
        top = frame[frame["rank"] < 10]
        shares = [
            np.mean([teams.get((qid, docno), set()) <= {team_of[name]} for docno in part["docno"]])
            for qid, part in top.groupby("qid")
        ]
        assert rows.loc[name, "unjudged_without_own"] == pytest.approx(np.mean(shares)), name


def test_runs_that_came_after_the_pool(data):
    folder = data / "dl19-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    official = read_real(folder / "inputs", teams=folder / "runs-pids", types=folder / "types", pooled=True)
    later = read_real(folder / "later", names="file").with_metadata(pooled=False)
    families = pd.read_csv(folder / "later.csv")
    names = set(families.loc[families["family"].str.contains("gpt", case=False), families.columns[0]])
    runs = official | later.with_metadata(teams={name: name for name in later.names})
    with pytest.warns(ptr.ReuseWarning, match="judged documents"):
        found = ptr.profile.coverage(runs, read_qrels(folder / "qrels.gz"), depths=[10], depth=10, pool_order="file")
    unjudged = found.by_run.set_index("name")["unjudged"]
    # pooled in the order of the lines and ranked by score: one document of one run was not judged
    assert sorted(unjudged[official.names])[-2:] == [0, pytest.approx(1 / 430)]
    gpt = [name for name in later.names if name in names]
    others = [name for name in later.names if name not in names]
    assert (round(unjudged[gpt].mean(), 3), round(unjudged[others].mean(), 3)) == (0.061, 0.047)
    # less of them is unjudged than would be of most participants, had these not taken part
    assert found.by_run.set_index("name").loc[gpt, "above_contributors"].max() < 1
