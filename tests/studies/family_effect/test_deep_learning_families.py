"""Families of runs that came after the pool of Deep Learning 2019, under five judges that are models."""

from __future__ import annotations

import pandas as pd
import pytest
from real_runs import read_real

import pt_reuse as ptr


@pytest.fixture(scope="module")
def found(data):
    """Return the effects of all judges, the official runs a family, too, and the other later ones together."""
    folder = data / "dl19-passages"
    if not (folder / "later").is_dir():
        pytest.skip("the test data has no folder dl19-passages/later")
    later = pd.read_csv(folder / "later.csv")
    later["family"] = later["family"].where(later["family"] == "gpt", "other later")
    official = read_real(folder / "inputs", order="trec_eval9").with_metadata(pooled=True)
    official = official.with_metadata(metadata=official.run_table[["name"]].assign(family="official"))
    runs = official | read_real(folder / "later", names="file", order="trec_eval9", metadata=later)
    judges = {path.stem: path for path in sorted((folder / "llm-labels").glob("*.gz"))}
    human = ptr.read_qrels(folder / "qrels.gz")
    families = {name: "llama" if "llama" in name else "gpt" for name in judges}
    options = {"judge_rel": {"exam-gpt-4": 2}, "resamples": 100}
    return ptr.labels.family_effect(runs, human, judges, "nDCG@10", rel=2, families=families, **options)


#: judge -> mean rank gained by GPT re-rankers, other later runs and official runs, of reference numbers
GAINED = {"umbrela-gpt-4": (4.4, 1.4, -1.6), "binary-llama-3.2": (-12.0, -0.4, 2.8)}


@pytest.mark.parametrize("judge", GAINED)
def test_mean_ranks_gained(found, judge):
    cells = found.cells("nDCG@10").query("judge == @judge").set_index("family")
    gained = cells.loc[["gpt", "other later", "official"], "rise"]
    assert tuple(gained.round(1)) == GAINED[judge]
    assert cells["runs"].to_dict() == {"official": 37, "other later": 16, "gpt": 8}


def test_the_own_family_and_what_is_missing(found):
    own = found.cells("nDCG@10").query("own")
    assert own["judge"].tolist() == ["binary-gpt-4", "binary-gpt-4o", "exam-gpt-4", "umbrela-gpt-4"]
    assert set(own["family"]) == {"gpt"}
    # no judge of the family favours it beyond what 43 topics can tell; a judge of another one marks it down
    assert ((own["rank_effect_low"] < 0) & (own["rank_effect_high"] > 0)).all()
    llama = found.cells("nDCG@10").query("judge == 'binary-llama-3.2' and family == 'gpt'").iloc[0]
    assert llama["rank_effect_high"] < 0
    assert llama["score_effect_high"] < 0
    assert found.judges.set_index("judge")["missing"].to_dict() == {
        "binary-gpt-4": 2,
        "binary-gpt-4o": 4,
        "binary-llama-3.2": 0,
        "exam-gpt-4": 0,
        "umbrela-gpt-4": 0,
    }


def test_tau_of_all_runs(found):
    """The scores behind the effects are those of the reference: tau_b over all 61 runs."""
    rows = found.by_run.pivot_table("judge_score", index="name", columns="judge")
    human = found.by_run.drop_duplicates("name").set_index("name")["score"].loc[rows.index]
    taus = {judge: round(float(ptr.rankings.tau_b(human, rows[judge])), 3) for judge in GAINED}
    assert taus == {"umbrela-gpt-4": 0.823, "binary-llama-3.2": 0.749}
