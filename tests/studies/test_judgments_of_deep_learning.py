"""compare_judgments on Deep Learning 2019 and 2021: runs that came later, models, people, strict and sparse labels."""

from __future__ import annotations

import pandas as pd
import pytest
from ir_measures import AP, RR, P, nDCG
from real_runs import read_real

import pt_reuse as ptr
from pt_reuse.data.judgments import read_qrels

#: labels of relevant documents only cannot say what is unjudged
SPARSE = "ignore::pt_reuse.scoring.caveats.CaveatWarning"
#: model -> tau_b of nDCG@10 over the 37 official runs and over all 61; mean ranks that GPT re-rankers, other later runs
#: and official runs gain
MODELS = {
    "umbrela-gpt-4": (0.850, 0.823, 4.4, 1.4, -1.6),
    "binary-llama-3.2": (0.831, 0.749, -12.0, -0.4, 2.8),
}
KINDS = ["GPT re-ranker", "other later run", "official"]
#: annotator -> topics and tau_b of nDCG@10 with the official judgments
PEOPLE = {
    "annotator-1": (13, 0.8288), "annotator-2": (13, 0.8992), "annotator-3": (9, 0.8855), "annotator-4": (9, 0.8072),
    "annotator-5": (9, 0.7940), "annotator-6": (9, 0.8914), "annotator-7": (15, 0.9129), "annotator-8": (15, 0.9219),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(data):
    if not (data / "dl19-passages").is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    return data / "dl19-passages"


@pytest.fixture(scope="module")
def field(folder):
    """Return the official runs, and the later ones as runs that were not pooled."""
    how = {"order": "trec_eval9", "pool_order": "file"}
    official = read_real(folder / "inputs", teams=folder / "runs-pids", types=folder / "types", pooled=True, **how)
    families = pd.read_csv(folder / "later.csv").set_index("name")["family"]
    later = read_real(folder / "later", names="file", pooled=False, **how)
    types = {name: "GPT re-ranker" if families.get(name) == "gpt" else "other later run" for name in later.names}
    return official.with_metadata(pooled=True) | later.with_metadata(types=types)


@pytest.fixture(scope="module")
def nist(folder):
    return read_qrels(folder / "qrels.gz", rel=2)


@pytest.mark.parametrize("model", MODELS)
def test_runs_that_came_after_the_pool(model, folder, field, nist):
    labels = folder / "llm-labels" / f"{model}.gz"
    found = ptr.compare_judgments(field, nist, labels, nDCG @ 10, names=("people", model), depth=10)
    over_official = ptr.compare_judgments(field.select(pooled=True), nist, labels, nDCG @ 10, depth=10)
    official, every, *gains = MODELS[model]
    assert round(float(over_official.table["tau_b"].iloc[0]), 3) == official
    assert round(float(found.table["tau_b"].iloc[0]), 3) == every
    kind = field.run_table.set_index("name")["type"].where((~field.pooled).to_numpy(), "official")
    gained = -found.changes.groupby(found.changes["name"].map(kind))["drop"].mean()
    assert gained[KINDS].round(1).tolist() == gains
    # the share of unjudged documents beside the ranks
    rows = found.by_run[found.by_run["new_by"] == model]
    assert rows.groupby(rows["name"].map(kind))["unjudged_rate"].mean()[KINDS].round(3).tolist() == [0.061, 0.047, 0.0]
    # the model labelled what people had, so that nothing is new
    assert found.by_topic.loc[found.by_topic["new_by"] == model, "new"].sum() == 0
    later = found.selected[found.selected["why"].str.contains("not pooled")]
    assert len(later) == 10
    assert (later["unjudged_rate"] > 0).all()


@pytest.mark.filterwarnings("ignore:.*left out. both count:pt_reuse.ReuseWarning")
def test_people_against_people(folder, field, nist):
    official, found = field.select(pooled=True), {}
    for name in PEOPLE:
        other = read_qrels(folder / "re-annotators" / f"{name}.txt", rel=2)
        # what a re-annotator did not see keeps its label
        put_in = other.union(nist.select(other.topics), conflict="first")
        result = ptr.compare_judgments(official, nist, put_in, nDCG @ 10, names=("NIST", name), depth=10)
        found[name] = (result.per_topic["qid"].nunique(), round(float(result.table["tau_b"].iloc[0]), 4))
    assert found == PEOPLE


@pytest.mark.filterwarnings(SPARSE)
def test_sparse_and_dense_labels(field, nist):
    """One relevant passage per topic, the first of the highest grade, under RR; all labels under nDCG@10."""
    frame = nist.to_frame()
    best = frame[frame["label"] == frame.groupby("qid")["label"].transform("max")].drop_duplicates("qid")
    sparse = ptr.Qrels(best.assign(label=1), topics=nist.topics)
    official = field.select(pooled=True)
    found = ptr.compare_judgments(official, nist, sparse, nDCG @ 10, measures_b=RR @ 10, names=("dense", "sparse"))
    by_hand = ptr.rankings.tau_b(
        ptr.score(official, nist, nDCG @ 10).mean["nDCG@10"], ptr.score(official, sparse, RR @ 10).mean["RR@10"]
    )
    row = found.table.iloc[0]
    assert (row["measure"], row["other_measure"], len(best)) == ("nDCG@10", "RR@10", 43)
    assert row["tau_b"] == pytest.approx(by_hand, abs=1e-12)
    assert 0 < row["tau_b"] < 0.9
    assert found.settings["beware"] == "sparse: judgments of relevant documents only"


#: measure with lenient, with strict labels -> tau_b, largest drop, largest rise
STRICT = {
    ("AP", "AP(rel=2)"): (0.7696, 19, 20),
    ("P@10", "P(rel=2)@10"): (0.8137, 13, 12),
    ("nDCG@10", "nDCG@10"): (0.9374, 5, 6),
}


def test_strict_and_lenient_labels(data):
    """Grades 2 and 3 against 1, 2 and 3: Voorhees, Craswell and Lin 2022 have tau .7796 and a change of 26 by P@10."""
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    runs = read_real(folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file")
    qrels = read_qrels(folder / "qrels.gz")
    found = ptr.compare_judgments(runs, qrels, qrels.threshold(2), [AP, P @ 10, nDCG @ 10], names=("1-3", "2-3"))
    for (measure, _), expected in STRICT.items():
        row = found.table.set_index("measure").loc[measure]
        assert (round(float(row["tau_b"]), 4), row["max_drop"], row["max_rise"]) == expected
    by_rel = ptr.compare_judgments(runs, qrels, qrels, [AP, P @ 10], measures_b=[AP(rel=2), P(rel=2) @ 10])
    columns = ["tau_b", "gamma", "max_drop", "max_rise"]
    pd.testing.assert_frame_equal(found.table[columns].head(2), by_rel.table[columns])
