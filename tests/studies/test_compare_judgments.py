"""compare_judgments against what is written out, and on odd input."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from audit_parts import as_frame, ranks
from scipy.stats import kendalltau

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import drawn_counts

FIELD = ptr.demo.simulate_field(seed=7, n_topics=8, n_docs=80, n_teams=4, length=12, depth=4)
RUNS, QRELS, COMPLETE = FIELD.runs, FIELD.qrels, FIELD.all_qrels
NAMES = ("old", "new")
DEPTH = 6
#: measure -> what pytrec_eval calls it
THEIRS = {"AP": "map", "nDCG@5": "ndcg_cut_5", "P@5": "P_5", "RR": "recip_rank"}


def judged(qrels, *, seed=None, topics=None):
    """Return judgments as a dict of (qid, docno) -> label; with a seed, every third label is another."""
    frame = qrels.to_frame()
    if seed is not None:
        random = np.random.default_rng(seed)
        other = random.integers(0, 3, len(frame))
        frame = frame.assign(label=np.where(random.random(len(frame)) < 1 / 3, other, frame["label"]))
    frame = frame if topics is None else frame[frame["qid"].isin(topics)]
    return {(row.qid, row.docno): int(row.label) for row in frame.itertuples()}


#: the pool's labels, of which a few documents are taken away, and other people's of all documents
OLD = {pair: label for n, (pair, label) in enumerate(judged(QRELS).items()) if n % 9}
NEW = {pair: label for n, (pair, label) in enumerate(judged(COMPLETE, seed=3).items()) if n % 5}
TOPICS = QRELS.topics


def compared(measures=("AP", "nDCG@5"), old=OLD, new=NEW, **options):
    given = {"names": NAMES, "depth": DEPTH, **options}
    return ptr.compare_judgments(RUNS, as_frame(old), as_frame(new), list(measures), **given)


def scored(judgments, measure, topics=TOPICS):
    """Return run -> topic -> score by pytrec_eval, 0 where it has none."""
    nested = {qid: {} for qid in topics}
    for (qid, docno), label in judgments.items():
        if qid in nested:
            nested[qid][docno] = label
    evaluator = pytrec_eval.RelevanceEvaluator(nested, {THEIRS[measure].replace("_5", ".5")})
    found = {}
    for name in RUNS.names:
        lists = {qid: dict(zip(part["docno"], part["score"], strict=True)) for qid, part in RUNS[name].groupby("qid")}
        by_topic = evaluator.evaluate(lists)
        found[name] = {qid: by_topic.get(qid, {}).get(THEIRS[measure], 0.0) for qid in topics}
    return found


def means(judgments, measure):
    return np.array([np.mean(list(of_topics.values())) for of_topics in scored(judgments, measure).values()])


def moves(x, y):
    """Return the most ranks lost, by whom, gained, and by whom: of several the best one by x, then the first."""
    drops = ranks(y) - ranks(x)
    best_first = sorted(range(len(x)), key=lambda r: -round(x[r], 12))
    lost, won = max(best_first, key=lambda r: drops[r]), max(best_first, key=lambda r: -drops[r])
    return (
        max(drops[lost], 0),
        RUNS.names[lost] if drops[lost] > 0 else None,
        max(-drops[won], 0),
        RUNS.names[won] if drops[won] < 0 else None,
    )


@pytest.fixture(scope="module")
def found():
    return compared(("AP", "nDCG@5", "P@5"))


def test_scores_ranks_and_coefficients(found):
    for measure in ("AP", "nDCG@5", "P@5"):
        x, y = means(OLD, measure), means(NEW, measure)
        changes = found.changes[found.changes["measure"] == measure]
        assert changes["name"].tolist() == RUNS.names
        assert changes["score"].to_numpy() == pytest.approx(x, abs=1e-9)
        assert changes["other_score"].to_numpy() == pytest.approx(y, abs=1e-9)
        assert changes["rank"].tolist() == ranks(x).tolist()
        assert changes["other_rank"].tolist() == ranks(y).tolist()
        row = found.table[found.table["measure"] == measure].iloc[0]
        assert row["other_measure"] == measure
        assert row["tau_b"] == pytest.approx(kendalltau(np.round(x, 12), np.round(y, 12)).statistic, abs=1e-12)
        signs = [np.sign(np.round(s, 12)[:, None] - np.round(s, 12)) for s in (x, y)]
        product = (signs[0] * signs[1])[np.triu_indices(len(x), 1)]
        assert row["gamma"] == pytest.approx(product.sum() / np.abs(product).sum(), abs=1e-12)
        assert (row["max_drop"], row["max_rise"]) == (moves(x, y)[0], moves(x, y)[2])


def test_what_is_relevant_is_what_each_says_or_rel():
    by_two = sum(label >= 2 for pair, label in NEW.items() if pair not in OLD)
    for options, expected in (({"rel": 2}, by_two), ({}, sum(NEW[pair] >= 1 for pair in NEW if pair not in OLD))):
        found = ptr.compare_judgments(RUNS, as_frame(OLD), as_frame(NEW), "nDCG@5", names=NAMES, **options)
        assert found.by_topic.loc[found.by_topic["new_by"] == "new", "new_relevant"].sum() == expected
    found = ptr.compare_judgments(RUNS, as_frame(OLD), ptr.Qrels(as_frame(NEW)).with_rel(2), "nDCG@5", names=NAMES)
    assert found.by_topic.loc[found.by_topic["new_by"] == "new", "new_relevant"].sum() == by_two


def test_complete_counts_topics_that_a_run_lacks(messages):
    short = {name: RUNS[name].drop(columns=["rank", "name"]) for name in RUNS.names}
    short["lex1a"] = short["lex1a"][short["lex1a"]["qid"] != TOPICS[0]]
    for complete in (True, False):
        call = partial(ptr.compare_judgments, short, as_frame(OLD), as_frame(NEW), "AP", resamples=3)
        # told of both judgments where the missing topic counts 0
        found = messages.warned(call, times=2 * complete, unpooled=True, complete=complete)
        score = found.changes.set_index("name").loc["lex1a", "score"]
        mine = [scored(OLD, "AP")["lex1a"][qid] for qid in TOPICS[1:]]
        assert score == pytest.approx(sum(mine) / (len(TOPICS) if complete else len(TOPICS) - 1), abs=1e-9)
    row = found.by_run.set_index(["new_by", "name"]).loc[("other judgments", "lex1a")]
    unjudged = ptr.score(short, as_frame(OLD), "Unjudged@100", without_topics="zero").mean.set_index("name")
    assert row["unjudged_rate"] == pytest.approx(unjudged.loc["lex1a", "Unjudged@100"], abs=1e-12)


def compare(a=QRELS, b=COMPLETE, measures="AP", runs=RUNS, **options):
    return ptr.compare_judgments(runs, a, b, measures, **{"names": ("old", "new"), "depth": 4, **options})


def test_judgments_that_have_nothing_in_common_are_refused(messages):
    other = ptr.Qrels(COMPLETE.to_frame().assign(qid=lambda frame: "0" + frame["qid"]))
    messages.refused(lambda: compare(b=other), argument="qrels_b")
    messages.refused(lambda: compare(b=other, topics="own"), argument="qrels_b")
    nothing = pd.DataFrame({"qid": [], "docno": [], "label": []})
    messages.refused(lambda: compare(b=nothing), argument="qrels_b")
    messages.refused(lambda: compare(a=nothing), argument="qrels_a")
    # intervals of two sets of topics
    messages.refused(lambda: compare(QRELS.select(TOPICS[:7]), COMPLETE, topics="own", resamples=5), argument="topics")


def test_topics_that_one_alone_has_are_left_out_and_told(messages):
    a, b = QRELS.select(TOPICS[:7]), COMPLETE.select(TOPICS[1:])
    found = messages.warned(lambda: compare(a, b))
    assert found.per_topic["qid"].tolist() == TOPICS[1:7]
    same = compare(QRELS.select(TOPICS[1:7]), COMPLETE.select(TOPICS[1:7]))
    for name, table in same.tables().items():
        pd.testing.assert_frame_equal(found.tables()[name], table)


def test_one_topic(messages):
    found = messages.warned(lambda: compare(QRELS.select(TOPICS[:1]), COMPLETE.select(TOPICS[:1]), resamples=5))
    assert "beware" in found.settings
    # there is nothing to draw
    row = found.table.iloc[0]
    assert np.isnan([row["tau_b_low"], row["tau_b_high"]]).all()
    assert [row["tau_b"]] == found.per_topic["tau_b"].tolist()


def test_all_tied(messages):
    nothing = ptr.Qrels(QRELS.to_frame().assign(label=0))
    found = messages.warned(lambda: compare(b=nothing, resamples=5))
    row = found.table.iloc[0]
    assert np.isnan(row[["tau_b", "gamma", "tau_ap_b", "weighted_tau", "tau_b_low"]].astype(float)).all()
    assert found.per_topic["tau_b"].isna().all()
    assert found.changes["other_rank"].eq(1).all()


def test_a_run_without_the_topics(messages):
    stranger = RUNS | ptr.RunSet.from_frames({"far": pd.DataFrame({"qid": ["99"], "docno": ["d"], "score": [1.0]})})
    messages.refused(lambda: compare(runs=stranger), argument="runs", place="old")


def test_runs_without_a_type_have_one_best():
    bare = ptr.RunSet.from_frames({name: RUNS[name].drop(columns=["rank", "name"]) for name in RUNS.names})
    found = ptr.compare_judgments(bare, as_frame(OLD), as_frame(NEW), "AP", depth=DEPTH).selected
    assert sorted(found["why"]) == ["best", "median"]


def test_documents_that_only_one_of_the_two_knows(found):
    for before, after, name in ((OLD, NEW, "new"), (NEW, OLD, "old")):
        tops = {
            run: {
                (row.qid, row.docno) for row in RUNS[run].itertuples() if row.rank < DEPTH
            }
            for run in RUNS.names
        }  # fmt: skip
        rows = found.by_run[found.by_run["new_by"] == name].set_index("name")
        assert rows.index.tolist() == RUNS.names
        for run, documents in tops.items():
            unjudged = {pair for pair in documents if pair not in before}
            rates = [
                sum(pair[0] == qid for pair in unjudged) / max(sum(pair[0] == qid for pair in documents), 1)
                for qid in TOPICS
            ]
            new = {pair for pair in unjudged if pair in after}
            row = rows.loc[run]
            assert (row["documents"], row["unjudged"], row["new"]) == (len(documents), len(unjudged), len(new))
            assert row["new_relevant"] == sum(after[pair] >= 1 for pair in new)
            assert row["unjudged_rate"] == pytest.approx(np.mean(rates), abs=1e-12)
        pool = set().union(*tops.values())
        topics = found.by_topic[found.by_topic["new_by"] == name].set_index("qid")
        assert topics.index.tolist() == TOPICS
        for qid in TOPICS:
            of = {pair: label for pair, label in before.items() if pair[0] == qid}
            new = {pair: label for pair, label in after.items() if pair[0] == qid and pair not in before}
            assert topics.loc[qid].drop("new_by").tolist() == [
                len(of),
                sum(label >= 1 for label in of.values()),
                sum(pair[0] == qid and pair not in before for pair in pool),
                len(new),
                sum(label >= 1 for label in new.values()),
            ]
        assert topics["new"].sum() > 10


def test_measures_against_others():
    """Each of the first is compared with its own of the second, which may be one for all, or one for several."""
    for others, partners in (("RR", ["RR"] * 3), (["RR", "RR", "P@5"], ["RR", "RR", "P@5"])):
        found = compared(["nDCG@5", "P@5", "AP"], measures_b=others)
        rows = found.table.set_index("measure")
        assert rows["other_measure"].to_dict() == dict(zip(["nDCG@5", "P@5", "AP"], partners, strict=True))
        for measure, other in rows["other_measure"].items():
            x, y = means(OLD, measure), means(NEW, other)
            assert rows.loc[measure, "tau_b"] == pytest.approx(
                kendalltau(x.round(12), y.round(12)).statistic, abs=1e-12
            )
            for table in (found.changes, found.per_topic):
                assert set(table.loc[table["measure"] == measure, "other_measure"]) == {other}
            changes = found.changes[found.changes["measure"] == measure]
            assert changes["other_score"].tolist() == pytest.approx(y.tolist(), abs=1e-9)


def best_of(scores, drawn, top):
    """Return the runs of scores by run and topic whose mean over drawn topics is among the best, with ties."""
    means = {name: round(float(np.mean([of_topic[q] for q in drawn])), 12) for name, of_topic in scores.items()}
    border = sorted(means.values(), reverse=True)[min(top, len(means)) - 1]
    return {name for name, mean in means.items() if mean >= border}


@pytest.mark.filterwarnings("ignore:.*resamples of the topics all runs tie:pt_reuse.ReuseWarning")
@pytest.mark.parametrize(("top", "measure"), [(1, "AP"), (3, "P@5"), (100, "AP")])
def test_the_best_runs_are_those_of_sets_of_names(measure, top):
    both = [scored(judgments, measure) for judgments in (OLD, NEW)]
    first, other = (best_of(scores, TOPICS, top) for scores in both)
    row = compared([measure], top=top, resamples=30, seed=5).table.iloc[0]
    counts = row[["top_runs", "other_top_runs", "top_shared"]].tolist()
    assert counts == [len(first), len(other), len(first & other)]
    assert row["top_overlap"] == len(first & other) / max(len(first), len(other))
    draws = []
    for counts in np.concatenate(list(drawn_counts(len(TOPICS), resamples=30, seed=5))):
        a, b = (best_of(scores, np.repeat(TOPICS, counts), top) for scores in both)
        draws.append(len(a & b) / max(len(a), len(b)))
    low, high = np.percentile(draws, [2.5, 97.5])
    reach = max(row["top_overlap"] - low, high - row["top_overlap"], 0)
    expected = max(0, row["top_overlap"] - reach), min(1, row["top_overlap"] + reach)
    assert row[["top_overlap_low", "top_overlap_high"]].tolist() == pytest.approx(expected)


def test_each_on_its_own_topics():
    a, b = QRELS.select(TOPICS[:7]), COMPLETE.select(TOPICS[1:])
    found = compare(a, b, topics="own")
    mine, theirs = ptr.score(RUNS, a, "AP"), ptr.score(RUNS, b, "AP")
    assert found.changes["score"].tolist() == mine.mean["AP"].tolist()
    assert found.changes["other_score"].tolist() == theirs.mean["AP"].tolist()
    assert found.per_topic["qid"].tolist() == TOPICS[1:7]
    assert set(found.by_topic["qid"]) == set(TOPICS[1:7])
    # documents are counted on the topics that both have
    shared = compare(a.select(TOPICS[1:7]), b.select(TOPICS[1:7]))
    pd.testing.assert_frame_equal(found.by_run, shared.by_run)
    # topics of both, in whatever order, may be drawn
    assert compare(topics="own", resamples=3).table["tau_b_low"].notna().all()
