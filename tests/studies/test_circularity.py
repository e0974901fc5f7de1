"""Runs re-ranked by the labels of a judge, against the same written out with ir_measures."""

from __future__ import annotations

import itertools
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pytest
import scipy.stats

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap

FIELD = ptr.demo.simulate_field(seed=7, n_topics=8, n_teams=5)
RUNS, PEOPLE = FIELD.runs, FIELD.qrels
PAIRS = PEOPLE.to_frame()[["qid", "docno"]]


def labelled(judge, share=1.0):
    """Return the labels of a judge as a frame, of a share of the documents."""
    rows = PAIRS.sample(frac=share, random_state=1) if share < 1 else PAIRS
    return rows.assign(label=judge(rows)["label"].astype(int)).reset_index(drop=True)


#: the judges grade from 0 to 3, the people here from 0 to 2
circularity = partial(ptr.labels.circularity, judge_rel=1)
LABELS = {
    "sharp": labelled(ptr.judging.Noisy(PEOPLE, ptr.judging.flips(0.15, range(4)), seed=1)),
    # without a label of every fifth document
    "blunt": labelled(ptr.judging.Noisy(PEOPLE, ptr.judging.flips(0.6, range(4)), seed=2), 0.8),
}
DEPTH, BEST, RESAMPLES = 5, 6, 30
EVERYBODY = {"people": PEOPLE.to_frame()[["qid", "docno", "label"]], **LABELS}


@pytest.fixture(scope="module")
def found():
    return circularity(RUNS, PEOPLE, LABELS, "nDCG@5", depth=DEPTH, best=BEST, resamples=RESAMPLES)


def reranked(frame, labels):
    """Return a run whose first documents are sorted by their labels, list by list."""
    of = {(row.qid, row.docno): row.label for row in labels.itertuples()}
    parts = []
    for qid, part in frame.groupby("qid", sort=False):
        docnos = part["docno"].tolist()
        at = [i for i in range(min(DEPTH, len(docnos))) if (qid, docnos[i]) in of]
        for place, docno in zip(at, sorted((docnos[i] for i in at), key=lambda d: -of[qid, d]), strict=True):
            docnos[place] = docno
        parts.append(part.assign(docno=docnos, score=-np.arange(len(docnos), dtype=float)))
    return pd.concat(parts)


@pytest.fixture(scope="module")
def literal():
    """Return (judge or None, scorer) -> (topics, runs) scores by ir_measures."""
    names = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    scores = {}
    for judge, labels in ((None, None), *LABELS.items()):
        frames = {name: RUNS[name] if judge is None else reranked(RUNS[name], labels) for name in RUNS.names}
        for scorer, qrels in EVERYBODY.items():
            evaluator = ir_measures.evaluator([ir_measures.nDCG @ 5], qrels.rename(columns=names))
            columns = []
            for name in RUNS.names:
                rows = {m.query_id: m.value for m in evaluator.iter_calc(frames[name].rename(columns=names))}
                columns.append([rows.get(topic, 0.0) for topic in PEOPLE.topics])
            scores[judge, scorer] = np.array(columns).T
    return scores


def pairs():
    return [(judge, scorer) for judge in LABELS for scorer in EVERYBODY]


def row_of(frame, judge, scorer, **more):
    rows = frame[(frame["judge"] == judge) & (frame["scorer"] == scorer)]
    for column, value in more.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_gains_and_places_are_those_written_out(found, literal):
    for judge, scorer in pairs():
        before, after = literal[None, scorer].mean(axis=0), literal[judge, scorer].mean(axis=0)
        people = literal[judge, "people"].mean(axis=0) - literal[None, "people"].mean(axis=0)
        row = row_of(found.table, judge, scorer)
        assert row["mean_gain"] == pytest.approx((after - before).mean())
        excess = np.nan if scorer == "people" else (after - before).mean() - people.mean()
        assert row["excess_gain"] == pytest.approx(excess, nan_ok=True)
        assert row["gaining"] == ((after - before).round(12) > 0).sum()
        assert row["losing"] == ((after - before).round(12) < 0).sum()
        runs = found.by_run[(found.by_run["judge"] == judge) & (found.by_run["scorer"] == scorer)]
        assert runs["name"].tolist() == RUNS.names
        assert runs["score"].tolist() == pytest.approx(before)
        assert runs["reranked_score"].tolist() == pytest.approx(after)
        was = [1 + sum(other > mine + 1e-12 for other in before) for mine in before]
        assert runs["rank"].tolist() == was
        now = []
        for i, mine in enumerate(after):
            others = np.delete(before, i)
            now.append(1 + sum(other > mine + 1e-12 for other in others))
        assert runs["reranked_rank"].tolist() == now
        assert row["mean_rise"] == pytest.approx(np.mean(np.array(was) - now))
        both = np.concatenate([before, after]).round(12)
        rank = np.array([1 + (both > score).sum() for score in both])
        n = len(before)
        assert (row["reranked_in_best"], row["originals_in_best"]) == (
            (rank[n:] <= BEST).sum(),
            (rank[:n] <= BEST).sum(),
        )


def test_systems_that_tie_for_the_last_place_are_all_among_the_best():
    """So that tau of the best does not hang on the order of the field."""
    found = []
    for names in (RUNS.names, RUNS.names[::-1]):
        rows = circularity(RUNS.select(names), PEOPLE, LABELS, "P@5", depth=10, best=3, resamples=0).rankings
        found.append(rows["tau_b_best"].tolist())
        means = ptr.score(RUNS, PEOPLE, "P@5").mean["P@5"].round(12).tolist()
        assert sum(means.count(mean) > 1 for mean in sorted(means)[-3:]), "there is a tie"
    assert found[0] == pytest.approx(found[1], nan_ok=True)


def test_judges_count_on_the_topics_that_all_have(messages):
    first, last = (
        PEOPLE.to_frame()[lambda f, t=topics: f["qid"].isin(t)] for topics in (PEOPLE.topics[:6], PEOPLE.topics[1:])
    )
    judges = {"first": first, "last": last}
    found = messages.warned(lambda: circularity(RUNS, PEOPLE, judges, "AP", resamples=0), times=3)
    assert set(found.table["topics"]) == {5}
    people = ptr.score(RUNS, PEOPLE.select(PEOPLE.topics[1:6]), "AP").mean["AP"]
    rows = found.by_run[(found.by_run["scorer"] == "people") & (found.by_run["judge"] == "first")]
    assert rows["score"].tolist() == pytest.approx(people.tolist())


def test_what_cannot_be_compared_is_refused(messages):
    refused = lambda argument, *given, **options: messages.refused(  # noqa: E731
        lambda: circularity(*given, **options), argument=argument
    )
    refused("judge", RUNS, PEOPLE, {"a": PEOPLE, "b": pd.DataFrame({"qid": ["1"], "docno": ["x"], "label": [1]})}, "AP")
    refused("judge", RUNS, PEOPLE, {"people": PEOPLE}, "AP")
    refused("judge_rel", RUNS, PEOPLE, {"a": PEOPLE}, "AP", judge_rel={"b": 1})
    refused(None, RUNS, PEOPLE, PEOPLE.to_frame().assign(label=0.5), "AP")
    parts = {name: PEOPLE.select([topic]) for name, topic in (("a", "1"), ("b", "2"))}
    with pytest.warns(ptr.ReuseWarning):
        refused("judge", RUNS, PEOPLE, parts, "AP")


def test_correlations_are_those_of_scipy(found, literal):
    def means(judge, of, who):
        fields = {"original": [literal[None, who]], "re-ranked": [literal[judge, who]]}
        fields["both"] = fields["original"] + fields["re-ranked"]
        return np.hstack(fields[of]).mean(axis=0).round(12)

    scored = [pair for pair in pairs() if pair[1] != "people"]
    for (judge, scorer), field in itertools.product(scored, ("original", "re-ranked", "both")):
        people, theirs = means(judge, field, "people"), means(judge, field, scorer)
        row = row_of(found.rankings, judge, scorer, field=field)
        assert row["systems"] == len(people)
        assert row["tau_b"] == pytest.approx(scipy.stats.kendalltau(people, theirs).statistic)
        best = [i for i, mine in enumerate(people) if (people > mine).sum() < BEST]
        tau = scipy.stats.kendalltau(people[best], theirs[best]).statistic
        assert row["tau_b_best"] == pytest.approx(tau, nan_ok=True)
        assert row["tau_b_low"] <= row["tau_b"] <= row["tau_b_high"]


def test_intervals_draw_the_same_topics_for_all(found, literal):
    row = row_of(found.table, "sharp", "sharp")
    counts = TopicBootstrap(RESAMPLES, 0, 0.95).counts(len(PEOPLE.topics))
    gains = {
        who: (counts @ (literal["sharp", who] - literal[None, who]) / len(PEOPLE.topics)).mean(axis=1)
        for who in ("sharp", "people")
    }
    n = len(PEOPLE.topics)
    for number, drawn in (("mean_gain", gains["sharp"]), ("excess_gain", gains["sharp"] - gains["people"])):
        error = np.std(drawn, ddof=1) * np.sqrt(n / (n - 1))
        ends = scipy.stats.t.interval(0.95, n - 1, loc=row[number], scale=error)
        assert [row[f"{number}_low"], row[f"{number}_high"]] == pytest.approx(ends)
    people = row_of(found.table, "sharp", "people")
    assert np.isnan([people["excess_gain"], people["excess_gain_low"]]).all()
