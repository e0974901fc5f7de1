"""Leave-out-uniques under dynamic judging: the sets against plain loops, and what must hold of any field."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from relevant_parts import Near, as_qrels, as_runs

import pt_reuse as ptr
from pt_reuse.judge import Oracle
from pt_reuse.pooling.adaptive.bandits import random_of_topic

MEASURES = ["AP", "P@5", "Judged@5"]
DOCNOS = [f"d{n:02}" for n in range(50)]
QIDS = ["1", "2", "3", "4", "5"]


def made_field(seed=1):
    """Return runs of four teams that share little, and the labels of all documents."""
    random = np.random.default_rng(seed)
    labels = {qid: {docno: int(random.random() < 0.3) * int(random.integers(1, 3)) for docno in DOCNOS} for qid in QIDS}
    lists = {}
    for name in ("a1", "a2", "b1", "c1", "c2", "d1", "d2"):
        found = {}
        for qid in QIDS:
            luck = random.random(len(DOCNOS)) + [0.4 * labels[qid][docno] for docno in DOCNOS]
            found[qid] = [DOCNOS[i] for i in np.argsort(-luck)[:12]]
        lists[name] = found
    runs = as_runs(lists, teams={name: name[0] for name in lists}, pooled=[name for name in lists if name != "d2"])
    return runs, as_qrels(labels)


RUNS, COMPLETE = made_field()
TOPICS = pd.DataFrame({"qid": QIDS, "query": "q"})
ALL = {(r.qid, r.docno): r.label for r in COMPLETE.to_frame().itertuples()}


def judgments():
    """Return what was judged: the pool to depth 3, and each third document beside."""
    pool = ptr.depth_pool(RUNS, depth=3).to_frame()
    pairs = set(zip(pool["qid"], pool["docno"], strict=True))
    pairs |= {pair for n, pair in enumerate(sorted(ALL)) if n % 9 == 0}
    labels = {qid: {d: ALL.get((q, d), 0) for q, d in sorted(pairs) if q == qid} for qid in QIDS}
    return as_qrels(labels)


JUDGED = judgments()
KNOWN = Oracle(COMPLETE, unknown="not relevant")


@pytest.fixture(scope="module")
def found():
    return ptr.pools.leave_out_dynamic(RUNS, JUDGED, MEASURES, Near(DOCNOS), TOPICS, depth=3, judge=KNOWN, seed=2)


def slow_sets(seed=2, depth=3):
    """Return topic -> the documents of LOU-FULL, and (team, topic) -> those without the team, where it loses."""
    table = RUNS.run_table
    pooled = table[table["pooled"].fillna(True).astype(bool)]
    team_of = dict(zip(pooled["name"], pooled["team"], strict=True))
    labels = {(r.qid, r.docno): r.label for r in JUDGED.to_frame().itertuples()}
    full, without = {}, {}
    for qid in JUDGED.topics:
        teams = {}
        for name, team in team_of.items():
            for docno in RUNS[name].query("qid == @qid")["docno"].tolist()[:depth]:
                if (qid, docno) in labels:
                    teams.setdefault(docno, set()).add(team)
        n_judged = sum(q == qid for q, _ in labels)

        def judged(pool, qid=qid, n_judged=n_judged):
            random = random_of_topic(seed, qid)
            tie = random.permutation(len(DOCNOS)).tolist()
            good = [DOCNOS.index(d) for d in pool if labels[qid, d] >= 1 and d in DOCNOS]
            free = [i for i, d in enumerate(DOCNOS) if d not in pool]
            distance = {i: min([abs(i - g) for g in good], default=99) for i in free}
            best = sorted(free, key=lambda i: (-(-min(distance[i], 99) // 3), tie[i]))
            return set(pool) | {DOCNOS[i] for i in best[: n_judged - len(pool)]}

        full[qid] = judged(sorted(teams))
        for team in set(team_of.values()):
            mine = [d for d, who in teams.items() if who == {team}]
            if any(labels[qid, d] >= 1 for d in mine):
                without[team, qid] = judged(sorted(set(teams) - set(mine)))
    return full, without


FULL, WITHOUT = slow_sets()


def as_frame(sets):
    rows = [(qid, docno, ALL.get((qid, docno), 0)) for qid, docnos in sets.items() for docno in sorted(docnos)]
    return ptr.Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]), topics=JUDGED.topics)


def test_scores_are_those_of_the_sets_of_plain_loops(found):
    expected = ptr.score(RUNS, as_frame(FULL), MEASURES)
    assert np.allclose(found.scores.values, expected.values, atol=1e-12)
    for place, team in enumerate(found.units.names):
        sets = as_frame({qid: WITHOUT.get((team, qid), docnos) for qid, docnos in FULL.items()})
        reduced = ptr.score(RUNS, sets, MEASURES)
        assert np.allclose(found.reduced[:, place], reduced.mean_values, atol=1e-12), team
        own = found.units.of_run == place
        assert np.allclose(found.own_scores.values[:, :, own], reduced.values[:, :, own], atol=1e-12), team


def test_what_nobody_labelled_is_told(messages):
    call = lambda: ptr.pools.leave_out_dynamic(RUNS, JUDGED, "AP", Near(DOCNOS), TOPICS, depth=3)  # noqa: E731
    found = messages.warned(call)
    assert found.topics["unlabelled"].sum() > 0
    assert "has no label" in found.settings["beware"]


def test_a_corpus_that_ends_too_early_is_told(messages):
    scorer = Near(DOCNOS[:20])
    call = lambda: ptr.pools.leave_out_dynamic(RUNS, COMPLETE, "AP", scorer, TOPICS, depth=3)  # noqa: E731
    found = messages.warned(call, times=2)
    assert (found.topics["pooled"] + found.topics["chosen"] < found.topics["judged"]).all()
    assert found.settings["beware"] == "the corpus ended on 5 topics"


def test_what_cannot_be(messages):
    def call(measures="AP", corpus=None, topics=TOPICS, **options):
        return ptr.pools.leave_out_dynamic(RUNS, JUDGED, measures, corpus or Near(DOCNOS), topics, depth=3, **options)

    messages.refused(lambda: call(topics=TOPICS.head(2)), argument="topics")
    messages.refused(lambda: call(topics=TOPICS[["query"]]))
    messages.refused(lambda: call(corpus="a text"), argument="corpus")
    messages.refused(lambda: call(corpus=[{"docno": "a", "text": "b"}], topics=TOPICS[["qid"]]), argument="topics")
    odd = {"measures": "XYZ", "by": "colour", "seed": -1, "n_jobs": 0, "rel": 0, "resamples": -1}
    for argument, value in odd.items():
        messages.refused(call, **{argument: value}, argument=argument)


def test_the_tables_say_what_the_sets_are(found):
    relevant = {qid: {d for d in docnos if ALL.get((qid, d), 0) >= 1} for qid, docnos in FULL.items()}
    assert found.topics["judged"].tolist() == [len(FULL[qid]) for qid in JUDGED.topics]
    assert found.topics["relevant"].tolist() == [len(relevant[qid]) for qid in JUDGED.topics]
    assert (found.topics["pooled"] + found.topics["chosen"] == found.topics["judged"]).all()
    assert found.topics["units"].tolist() == [sum(q == qid for _, q in WITHOUT) for qid in JUDGED.topics]
    assert found.topics["unlabelled"].tolist() == [0] * len(JUDGED.topics)
    removed = found.table[found.table["measure"] == "AP"].set_index("team")["removed"]
    static = ptr.leave_out_uniques(RUNS, JUDGED, "AP", depth=3)
    counts = found.unique_counts.set_index("team")
    assert counts["unique_relevant"].to_dict() == static.unique_counts.set_index("team")["unique_relevant"].to_dict()
    for team in found.units.names:
        mine = {qid: WITHOUT.get((team, qid), FULL[qid]) for qid in JUDGED.topics}
        assert removed[team] == sum(len(FULL[qid] - docnos) for qid, docnos in mine.items())
        n_relevant = sum(ALL.get((qid, d), 0) >= 1 for qid, docnos in mine.items() for d in docnos)
        assert counts.loc[team, "relevant"] == n_relevant
        assert all(len(docnos) == len(FULL[qid]) for qid, docnos in mine.items())
    uniques = ptr.depth_pool(RUNS, depth=3).uniques().merge(JUDGED.to_frame()).query("label >= 1")
    for team, of in uniques.groupby("team"):
        again = sum(docno in WITHOUT[team, qid] for qid, docno in zip(of["qid"], of["docno"], strict=True))
        assert counts.loc[team, "found_again"] == again
