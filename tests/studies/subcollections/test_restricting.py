"""Parts of a corpus by restriction, against pytrec_eval on filtered files and literal loops over pairs of systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import scipy.stats

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=5, n_topics=9, n_docs=150, n_teams=4, length=60, depth=10)
MEASURES = {"AP": "map", "nDCG@10": "ndcg_cut_10"}
PARTS = ("x", "y", "z", "whole")


def source(docno):
    return "xyz"[int(docno[-1]) % 3]


def filtered(relevant="all", rel=1):
    """Return part -> (runs, judgments) as dicts, filtered document by document."""
    qrels = FIELD.qrels.to_frame()
    runs = {name: FIELD.runs[name] for name in FIELD.runs.names}
    added = set(qrels["docno"][qrels["label"] >= rel]) if relevant == "all" else set()
    parts = {}
    for name in PARTS:

        def kept(frame, name=name):
            return frame[[docno in added or name in ("whole", source(docno)) for docno in frame["docno"]]]

        judged = {q: dict(zip(f["docno"], f["label"].tolist(), strict=True)) for q, f in kept(qrels).groupby("qid")}
        scored = {
            run: {q: dict(zip(f["docno"], f["score"], strict=True)) for q, f in kept(frame).groupby("qid")}
            for run, frame in runs.items()
        }
        parts[name] = scored, judged
    return parts


def by_pytrec_eval(runs, judged, topics):
    """Return measure -> (topics, systems) scores, a topic that a run lacks counting 0."""
    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(MEASURES.values()))
    found = {name: evaluator.evaluate(run) for name, run in runs.items()}
    return {
        measure: np.array([[found[name].get(qid, {}).get(key, 0.0) for name in runs] for qid in topics])
        for measure, key in MEASURES.items()
    }


def compared(one, other, alpha):
    """Return the counts of two (topics, systems) arrays, pair by pair."""
    counts = dict.fromkeys(["ss_a", "ss_d", "sn", "ns", "nn"], 0)
    for i, j in combinations(range(one.shape[1]), 2):
        a, b = (
            0 if (v[:, i] == v[:, j]).all() or scipy.stats.ttest_rel(v[:, i], v[:, j]).pvalue >= alpha
            else np.sign(v[:, i].mean() - v[:, j].mean())
            for v in (one, other)
        )  # fmt: skip
        counts["nn" if a == b == 0 else "sn" if not b else "ns" if not a else "ss_a" if a == b else "ss_d"] += 1
    return counts


@pytest.mark.parametrize(("relevant", "alpha"), [("all", 0.05), ("own", 0.3)])
def test_every_number_is_that_of_filtered_files(relevant, alpha):
    found = ptr.profile.subcollections(
        FIELD.runs, FIELD.qrels, list(MEASURES), sources=source, relevant=relevant, alpha=alpha, whole=True
    )
    topics = FIELD.qrels.topics
    scores, counted = {}, {}
    for name, (runs, judged) in filtered(relevant).items():
        scores[name] = by_pytrec_eval(runs, judged, topics)
        counted[name] = [relevant == "all" or any(n > 0 for n in judged.get(q, {}).values()) for q in topics]
    assert found.names == FIELD.runs.names
    for i, name in enumerate(PARTS):
        for m, measure in enumerate(MEASURES):
            mine = scores[name][measure][counted[name]]
            assert np.allclose(found.means[i, m], mine.mean(axis=0), atol=1e-12)
            p = [
                1.0 if (mine[:, a] == mine[:, b]).all() else scipy.stats.ttest_rel(mine[:, a], mine[:, b]).pvalue
                for a, b in combinations(range(mine.shape[1]), 2)
            ]
            assert np.allclose(found.p[i, m], p, atol=1e-9)
    agree, of_part = {}, {}
    for row in found.by_pair.to_dict("records"):
        one, other = (scores[row[key]][row["measure"]][counted[row[key]]] for key in ("part", "other_part"))
        expected = compared(one, other, alpha)
        assert {name: row[name] for name in expected} == expected
        weight = 2 * expected["ss_a"] + 2 * expected["ss_d"] + expected["sn"] + expected["ns"]
        assert row["agree"] == pytest.approx(2 * expected["ss_a"] / weight)
        tau = scipy.stats.kendalltau(one.mean(axis=0).round(12), other.mean(axis=0).round(12)).statistic
        assert row["tau_b"] == pytest.approx(tau, abs=1e-12)
        agree.setdefault((row["measure"], row["other_part"] == "whole"), []).append(row["agree"])
        for name in (row["part"], row["other_part"]):
            of_part.setdefault((name, row["measure"]), []).append(row["agree"])
    assert len(found.by_pair) == 2 * 6
    # three pairs of sources, and each source with the whole
    for row in found.table.to_dict("records"):
        assert row["part_pairs"] == 3
        mine = agree[row["measure"], row["source"] == "whole"]
        assert row["agree"] == pytest.approx(np.mean(mine))
        assert row["agree_se"] == pytest.approx(np.std(mine) / np.sqrt(3))
    for row in found.by_part.to_dict("records"):
        mine = of_part[row["part"], row["measure"]]
        assert (len(mine), row["agree"]) == (3, pytest.approx(np.mean(mine)))
        assert row["agree_se"] == pytest.approx(np.std(mine) / np.sqrt(3))
    between = [compared(*(scores[name][m][counted[name]] for m in MEASURES), alpha) for name in PARTS]
    shares = [2 * c["ss_a"] / (2 * c["ss_a"] + 2 * c["ss_d"] + c["sn"] + c["ns"]) for c in between]
    assert found.between_measures["part"].tolist() == list(PARTS)
    assert found.between_measures["agree"].tolist() == pytest.approx(shares)
    assert found.by_measures()[["agree", "parts"]].to_numpy().tolist() == [[pytest.approx(np.mean(shares)), 4]]


def test_significance_of_every_pair_on_a_part():
    found = ptr.profile.subcollections(FIELD.runs, FIELD.qrels, list(MEASURES), sources=source)
    table = found.significance("y", "nDCG@10")
    runs, judged = filtered()["y"]
    scores = by_pytrec_eval(runs, judged, FIELD.qrels.topics)["nDCG@10"]
    place = {name: i for i, name in enumerate(FIELD.runs.names)}
    for row in table.to_dict("records"):
        x, y = scores[:, place[row["name"]]], scores[:, place[row["other_name"]]]
        assert row["difference"] == pytest.approx(x.mean() - y.mean(), abs=1e-12)
        better = row["name"] if x.mean() > y.mean() else row["other_name"]
        assert row["winner"] == (better if scipy.stats.ttest_rel(x, y).pvalue < 0.05 else None)
    row = found.by_part[(found.by_part["part"] == "y") & (found.by_part["measure"] == "nDCG@10")].iloc[0]
    assert row["significant"] == table["winner"].notna().sum() > 0
    assert row["pairs"] == len(table) == 28


def test_a_run_that_keeps_nothing_of_a_topic_scores_0_there(messages):
    good = pd.DataFrame([(str(q), f"{'ab'[d % 2]}{d}", 10.0 - d) for q in range(6) for d in range(6)],
                        columns=["qid", "docno", "score"])  # fmt: skip
    poor = good[(good["qid"] != "0") | good["docno"].isin(["b3", "b5"])]
    qrels = pd.DataFrame([(str(q), "b1", 1) for q in range(6)] + [("0", "a0", 0)], columns=["qid", "docno", "label"])
    found = messages.warned(
        lambda: ptr.profile.subcollections({"good": good, "poor": poor}, qrels, "AP", sources=["a", "b"]), times=2
    )
    assert found.parts["empty_lists"].tolist() == [1, 0]
    # b1 is second on its own part, where it is first without a0, a2 and a4
    assert found.means[:, 0].tolist() == [[0.5, 5 / 12], [1.0, 5 / 6]]
    assert "1 of 24 lists are empty" in found.settings["beware"]


def test_corrected_for_the_number_of_pairs():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    given = {"sources": source, "alpha": 0.2}
    plain = ptr.profile.subcollections(FIELD.runs, FIELD.qrels, "AP", **given)
    found = ptr.profile.subcollections(FIELD.runs, FIELD.qrels, "AP", correction="holm", **given)
    assert found.p.tobytes() == plain.p.tobytes()
    for i, name in enumerate("xyz"):
        yes, p = multitest.multipletests(found.p[i, 0], alpha=0.2, method="holm")[:2]
        table = found.significance(name)
        assert table["p_corrected"].tolist() == p.tolist()
        assert table["winner"].notna().tolist() == yes.tolist()
        assert found.by_part["significant"][i] == yes.sum() < plain.by_part["significant"][i]
        assert plain.significance(name)["p_corrected"].tolist() == found.p[i, 0].tolist()
    row = found.by_pair.iloc[0]
    assert 2 * (row["ss_a"] + row["ss_d"]) + row["sn"] + row["ns"] == found.by_part["significant"][:2].sum()
