"""Scores of whole TREC fields: against pytrec_eval to the last bit, and against NIST's own figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytrec_eval
from ir_measures import AP, RBP, RR, Bpref, P, R, Rprec, Success, nDCG

from pt_reuse.scoring.run_scores import score

MEASURES = {
    "map": AP, "map_cut_100": AP @ 100, "P_10": P @ 10, "P_20": P @ 20, "recall_1000": R @ 1000, "ndcg": nDCG,
    "ndcg_cut_10": nDCG @ 10, "ndcg_cut_20": nDCG @ 20, "recip_rank": RR, "Rprec": Rprec, "bpref": Bpref,
    "success_1": Success @ 1,
}  # fmt: skip


#: runs of which a float32 score ties with another where the float64 score does not: deep in five of them, at 100000
#: and more everywhere in the sixth
TIED = ["Dm8Nbn", "Dm8NbnR", "UB99T", "ibmg99a", "ibmg99c", "uwmt8a0"]


def differing(collection, chosen, *cases):
    """Return for each (order, trec_eval's names, parameters) which of the runs differ from pytrec_eval in any bit."""
    frame = collection.qrels.to_frame()
    qrels = {topic: dict(zip(rows["docno"], rows["label"], strict=True)) for topic, rows in frame.groupby("qid")}
    found, evaluators = [], {}
    for order, names, params in cases:
        measures = [MEASURES[name](**params) for name in names]
        found.append(score(collection.runs.reorder(order).select(chosen), collection.qrels, measures))
        options = {"relevance_level": params.get("rel", 1), "judged_docs_only_flag": int("judged_only" in params)}
        if str(options) not in evaluators:
            evaluators[str(options)] = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES), **options)
    differ = [[] for _ in cases]
    for r, name in enumerate(chosen):
        run = collection.runs[name]
        lists = {topic: dict(zip(rows["docno"], rows["score"], strict=True)) for topic, rows in run.groupby("qid")}
        values = {options: evaluator.evaluate(lists) for options, evaluator in evaluators.items()}
        for i, (_, names, params) in enumerate(cases):
            options = {"relevance_level": params.get("rel", 1), "judged_docs_only_flag": int("judged_only" in params)}
            by_topic = values[str(options)]
            theirs = [[by_topic[t][m] if t in by_topic else 0.0 for t in found[i].topics] for m in names]
            if found[i].values[:, :, r].tolist() != theirs:
                differ[i].append(name)
    return differ


def test_trec8_equals_pytrec_eval(trec8):
    top = ["P_10", "ndcg_cut_10"]
    cases = ("trec_eval9", MEASURES, {}), ("trec_eval", MEASURES, {}), ("trec_eval", top, {})
    chosen = [name for r, name in enumerate(trec8.runs) if r % 6 == 0 or name in TIED]
    assert differing(trec8, chosen, *cases) == [[], TIED, ["uwmt8a0"]]


def test_covid_equals_pytrec_eval(covid):
    graded = ["map", "P_20", "recall_1000", "Rprec", "bpref", "recip_rank", "success_1"]
    condensed = ["map", "P_20", "recall_1000", "Rprec", "recip_rank", "success_1", "ndcg", "ndcg_cut_10"]
    found = differing(
        covid,
        covid.runs.names[::6],
        ("trec_eval9", MEASURES, {}),
        ("trec_eval9", graded, {"rel": 2}),
        ("trec_eval9", condensed, {"judged_only": True}),
    )
    assert found == [[], [], []]


def test_trec8_map_is_the_official(trec8):
    official = pd.read_csv(trec8.folder / "official-scores.map", sep=r"\s+", header=None, dtype={0: str})
    official = official.set_index(official.columns[0])[official.columns[-1]]
    found = score(trec8.runs, trec8.qrels, AP).mean.set_index("name")["AP"]
    assert len(official) == 129
    assert (found - official[found.index]).abs().max() < 1.4e-4
    kinds = trec8.runs.run_table["type"].to_numpy()
    assert [round(found[kinds == kind].max(), 4) for kind in ("manual", "automatic")] == [0.4692, 0.3303]


def test_covid_scores_are_the_official(covid):
    board = pd.read_csv(covid.folder / "leaderboard.csv", index_col="tag")
    # float32 scores; the official rbp_p5 has gain 1/2 for label 1, the mean of both thresholds
    columns = ["ndcg@20", "P@20", "bpref", "map", "rbp_p5"]
    measures = [nDCG @ 20, P @ 20, Bpref, AP, RBP(rel=1, p=0.5), RBP(rel=2, p=0.5)]
    found = score(covid.runs.reorder("trec_eval9"), covid.qrels, measures)
    means = np.vstack([found.mean_values[:4], found.mean_values[4:].mean(axis=0)])
    official = board.loc[found.names, columns].to_numpy().T
    assert np.abs(means - official).max() < 5e-5
