"""What a lexical pool misses, against a brute force that shares no code with it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from scipy.stats import binom

import pt_reuse as ptr
from pt_reuse.demo.walk import compare_held_out

LEXICAL_POOLS = {
    "furrow": ["quarry-bm25", "quarry-bm25-stem", "quarry-dph", "ridge-bm25", "ridge-bo1"],
    "quarry": ["furrow-bm25-long", "ridge-bm25", "ridge-bo1"],
    "ridge": ["furrow-bm25-long", "quarry-bm25", "quarry-bm25-stem", "quarry-dph"],
}
#: (team left out, length of query) -> team -> its runs of that length
COMPARED = {
    ("furrow", "described"): {"furrow": ["furrow-bm25-desc", "furrow-pl2-desc"], "lumen": ["lumen-minilm-desc"]},
    ("quarry", "short"): {
        "quarry": ["quarry-bm25", "quarry-bm25-stem", "quarry-dph", "quarry-qld"],
        "lumen": ["lumen-minilm"],
        "mosaic": ["mosaic-lsa", "mosaic-lsa-50"],
    },
    ("ridge", "short"): {
        "ridge": ["ridge-bm25", "ridge-bo1", "ridge-hiemstra", "ridge-rm3"],
        "lumen": ["lumen-minilm"],
        "mosaic": ["mosaic-lsa", "mosaic-lsa-50"],
    },
    ("ridge", "described"): {"ridge": ["ridge-bo1-desc"], "lumen": ["lumen-minilm-desc"]},
}

#: (team left out, length of query, team) -> unjudged documents of the top tens, all of the top tens, relevant ones
#: of the unjudged, and their share of the unjudged with its interval, in per cent
PUBLISHED = {
    ("furrow", "described", "furrow"): (259, 800, 64, 24.7, 17.6, 32.5),
    ("furrow", "described", "lumen"): (180, 400, 117, 65.0, 57.4, 72.9),
    ("quarry", "short", "quarry"): (106, 1548, 1, 0.9, 0.0, 3.3),
    ("quarry", "short", "lumen"): (118, 400, 53, 44.9, 32.2, 58.2),
    ("quarry", "short", "mosaic"): (179, 800, 33, 18.4, 11.7, 26.4),
    ("ridge", "short", "ridge"): (81, 1580, 0, 0.0, 0.0, 3.6),  # one-sided: 1 - .05 ** (1 / 81)
    ("ridge", "short", "lumen"): (115, 400, 52, 45.2, 32.5, 58.3),
    ("ridge", "short", "mosaic"): (156, 800, 33, 21.2, 13.3, 30.4),
    ("ridge", "described", "ridge"): (50, 400, 7, 14.0, 5.3, 24.5),
    ("ridge", "described", "lumen"): (117, 400, 60, 51.3, 40.8, 62.1),
}


@pytest.fixture(scope="module")
def demo():
    return pt.get_dataset("reuse:demo")


@pytest.fixture(scope="module")
def runs(demo):
    return demo.get_runs()


@pytest.fixture(scope="module")
def labels(demo):
    frame = demo.get_qrels("complete")
    return {pair: label for *pair, label in frame.itertuples(index=False) for pair in [tuple(pair)]}


@pytest.fixture(scope="module")
def topics(labels):
    return sorted({qid for (qid, _), label in labels.items() if label > 0}, key=int)


@pytest.fixture(scope="module")
def rankings(runs):
    """Return run -> topic -> docnos, by score and, in ties, by docno from the last on."""
    found = {}
    for name in runs:
        frame = runs[name].sort_values(["score", "docno"], ascending=False, kind="stable")
        found[name] = frame.groupby("qid")["docno"].agg(list).to_dict()
    return found


@pytest.fixture(scope="module")
def held_out(demo, runs):
    return compare_held_out(runs, demo.get_judgments("complete"))


def counts_of(rankings, labels, names, pooled, topics):
    """Return per topic the documents in the top tens, those not in the pool, and the relevant ones of these."""
    rows = []
    for qid in topics:
        pool = {docno for name in pooled for docno in rankings[name][qid][:10]}
        top = [docno for name in names for docno in rankings[name][qid][:10]]
        unjudged = [docno for docno in top if docno not in pool]
        rows.append((len(top), len(unjudged), sum(labels[qid, docno] > 0 for docno in unjudged)))
    return rows


def ndcg_of(ranking, qid, known):
    """Return nDCG@10 under judgments docno -> label."""
    gains = [known.get(docno, 0) / np.log2(place) for place, docno in enumerate(ranking[:10], 2)]
    best = sorted(known.values(), reverse=True)[:10]
    ideal = sum(label / np.log2(place) for place, label in enumerate(best, 2))
    return sum(gains) / ideal if ideal else 0.0


def test_only_teams_that_gave_nothing_to_the_pool_are_compared(runs, held_out):
    table = runs.run_table.set_index("name")
    pooled = table["pooled"].astype(bool)
    for left_out, names in LEXICAL_POOLS.items():
        lexical = table.index[pooled & (table["type"] == "lexical") & (table["team"] != left_out)]
        assert sorted(lexical) == names
        assert set(table.loc[names, "team"]) & {left_out, "lumen", "mosaic"} == set()
    for (left_out, queries), teams in COMPARED.items():
        for team, names in teams.items():
            assert sorted(table.index[(table["team"] == team) & (table["queries"] == queries)]) == names
        rows = held_out.table[(held_out.table["left_out"] == left_out) & (held_out.table["queries"] == queries)]
        assert dict(zip(rows["team"], rows["runs"], strict=True)) == {team: len(n) for team, n in teams.items()}
        assert rows["type"].tolist() == ["lexical", *["dense"] * (len(rows) - 1)]
    assert len(held_out.table) == sum(map(len, COMPARED.values()))


def test_unjudged_and_relevant_documents_are_those_of_the_brute_force(rankings, labels, topics, held_out):
    assert held_out.n_topics == len(topics) == 40
    for row in held_out.table.itertuples():
        names = COMPARED[row.left_out, row.queries][row.team]
        counted = np.sum(counts_of(rankings, labels, names, LEXICAL_POOLS[row.left_out], topics), axis=0)
        assert (row.top, row.unjudged, row.relevant) == tuple(counted)
        assert row.share == pytest.approx(row.relevant / row.unjudged, abs=1e-12)


def test_leads_are_those_of_the_brute_force(rankings, labels, topics, held_out):
    of_topic = {qid: {docno: label for (q, docno), label in labels.items() if q == qid} for qid in topics}
    for row in held_out.leads.itertuples():
        teams, pooled = COMPARED[row.left_out, row.queries], LEXICAL_POOLS[row.left_out]
        leads = []
        for qid in topics:
            pool = {docno for name in pooled for docno in rankings[name][qid][:10]}
            known = {docno: label for docno, label in of_topic[qid].items() if docno in pool}
            leads.append([])
            for judged in (of_topic[qid], known):
                dense, lexical = (
                    np.mean([ndcg_of(rankings[name][qid], qid, judged) for name in teams[team]])
                    for team in (row.team, row.left_out)
                )
                leads[-1].append(dense - lexical)
        true, pool = np.mean(leads, axis=0)
        assert (row.lead, row.pool_lead, row.change) == pytest.approx((true, pool, pool - true), abs=1e-6)


def test_intervals_are_those_of_the_brute_force(demo, runs, rankings, labels, topics):
    found = compare_held_out(runs, demo.get_judgments("complete"), resamples=200, seed=3)
    random = np.random.default_rng(3)
    drawn = [random.integers(0, 40, 40) for _ in range(200)]
    assert np.array_equal(np.random.default_rng(3).integers(0, 40, (200, 40)), drawn)
    shares = {}
    for row in found.table.itertuples():
        names = COMPARED[row.left_out, row.queries][row.team]
        counts = counts_of(rankings, labels, names, LEXICAL_POOLS[row.left_out], topics)
        # the package's order of the topics
        counts = dict(zip(topics, counts, strict=True))
        order = [qid for qid in demo.get_judgments("complete").topics if qid in counts]
        values = []
        for sample in drawn:
            _, unjudged, relevant = (sum(column) for column in zip(*(counts[order[at]] for at in sample), strict=True))
            values.append(relevant / unjudged if unjudged else np.nan)
        shares[row.left_out, row.queries, row.team] = np.array(values)
        ends = tuple(np.nanpercentile(values, [2.5, 97.5]))
        if row.relevant == 0:
            # the largest share of independent documents of which none turns up in one of twenty cases
            ends = (0.0, 1 - 0.05 ** (1 / row.unjudged))
            assert binom.cdf(0, row.unjudged, ends[1]) == pytest.approx(0.05)
        assert (row.low, row.high) == pytest.approx(ends, abs=1e-12)
    for row in found.leads.itertuples():
        key = (row.left_out, row.queries)
        more = shares[(*key, row.team)] - shares[(*key, row.left_out)]
        assert (row.more_low, row.more_high) == pytest.approx(tuple(np.nanpercentile(more, [2.5, 97.5])), abs=1e-12)
        assert row.more_low <= row.more <= row.more_high


def test_documents_without_a_label_are_no_zeros(demo, runs, messages):
    messages.refused(lambda: compare_held_out(runs, demo.get_judgments("pool")), argument="complete")


def test_teams_without_an_unjudged_document_have_no_share(demo, runs):
    names = {"one": "ridge-bm25", "other": "ridge-bm25", "dense": "lumen-minilm"}
    twins = ptr.RunSet.from_frames({name: runs[of].drop(columns="name") for name, of in names.items()})
    known = pd.DataFrame({"name": list(names), "team": list(names), "type": ["lexical", "lexical", "dense"]})
    twins = twins.with_metadata(metadata=known.assign(pooled=[True, True, False], queries="short"))
    found = compare_held_out(twins, demo.get_judgments("complete"), resamples=20)
    table = found.table.set_index(["left_out", "team"])
    assert table["unjudged"].tolist() == [0, table.loc[("one", "dense"), "unjudged"]] * 2
    assert table.loc[[("one", "one"), ("other", "other")], ["share", "low", "high"]].isna().all(axis=None)
    assert table.loc[("one", "dense"), ["low", "share", "high"]].is_monotonic_increasing
    assert found.leads[["more", "more_low", "more_high"]].isna().all(axis=None)
    assert found.leads[["change_low", "change", "change_high"]].notna().all(axis=None)


def test_the_numbers_are_those_that_were_published(held_out):
    table = held_out.table.set_index(["left_out", "queries", "team"])
    for key, (unjudged, top, relevant, *percent) in PUBLISHED.items():
        row = table.loc[key]
        assert (row["unjudged"], row["top"], row["relevant"]) == (unjudged, top, relevant)
        assert [round(100 * row[name], 1) for name in ("share", "low", "high")] == percent
    assert len(table) == len(PUBLISHED)
    leads = held_out.leads.set_index(["left_out", "queries", "team"])
    for key, lead, pool_lead, low, high in (
        (("ridge", "short", "lumen"), 0.315, 0.243, 32.5, 58.3),
        (("quarry", "short", "lumen"), 0.314, 0.238, 31.3, 57.1),
        (("quarry", "short", "mosaic"), 0.168, 0.162, 10.2, 25.7),
        (("furrow", "described", "lumen"), 0.266, 0.069, 30.2, 50.6),
    ):
        row = leads.loc[key]
        assert (round(row["lead"], 3), round(row["pool_lead"], 3)) == (lead, pool_lead)
        assert (round(100 * row["more_low"], 1), round(100 * row["more_high"], 1)) == (low, high)
    assert leads["more_low"].idxmin() == ("quarry", "short", "mosaic")
