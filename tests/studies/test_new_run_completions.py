"""check_new_run: what every completion allows, by enumeration; when nothing is predicted."""

from __future__ import annotations

import warnings

import completions
import ir_measures
import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr

MEASURES = ["nDCG@3", "AP", "P@2", "R@4", "RR", "Success@2", "nDCG"]
TOPICS, DEPTH = ("1", "2"), 3


def tiny(seed, *, teams):
    """Return a small field, two new runs, and its judgments: each new run has documents that nobody judged."""
    rng = np.random.default_rng(seed)
    frames = {}
    for run in ("a", "b", "c", "d", "x", "y"):
        rows = []
        for qid in TOPICS:
            old = [f"{qid}-{n}" for n in rng.permutation(6)] + [f"{qid}-{run}"]
            if run in "xy":
                mine = [f"{qid}-new{n}" for n in rng.permutation(3)[: 1 + rng.integers(2)]]
                docnos = [*rng.permutation([*mine, *old[: 4 - len(mine)]]), f"{qid}-low{run}"]
            else:
                docnos = [old[0], old[-1], *old[1:4]]
            rows += [{"qid": qid, "docno": d, "score": -float(at)} for at, d in enumerate(docnos)]
        frames[run] = pd.DataFrame(rows)
    field = ptr.RunSet.from_frames({run: frames[run] for run in "abcd"}, teams={r: r for r in "abcd"}, pooled=True)
    new = ptr.RunSet.from_frames({run: frames[run] for run in "xy"}, teams=teams, pooled=False)
    docs = sorted({d for run in "abcd" for d in frames[run]["docno"]})
    labels = [{"qid": d[0], "docno": d, "label": int(rng.integers(3))} for d in docs]
    labels += [{"qid": qid, "docno": f"{qid}-sure", "label": 2} for qid in TOPICS]
    return field, new, ptr.Qrels(pd.DataFrame(labels)), {run: frames[run] for run in frames}


def completed(known, frames, measure, run, qid):
    """Return the documents of a topic and their labels under each completion: of the tops of both new runs, and of what
    the measure sees; the first gives nobody a label above 0."""
    frame = known.to_frame()
    judged = frame[frame["qid"] == qid].set_index("docno")["label"].to_dict()
    lists = {name: listed(frames, name, qid) for name in "xy"}
    seen = {*completions.seen(measure, lists[run]), *lists["x"][:DEPTH], *lists["y"][:DEPTH]}
    return completions.completed(judged, sorted(seen - judged.keys()), 2)


def listed(frames, name, qid):
    return frames[name][frames[name]["qid"] == qid]["docno"].tolist()


@pytest.mark.parametrize(
    ("by", "teams", "seed"),
    [("team", {"x": "x", "y": "y"}, 0), ("team", {"x": "new", "y": "new"}, 1), ("run", None, 2)],
)
@pytest.mark.filterwarnings("ignore")
def test_every_completion_of_all_new_runs_by_enumeration(by, teams, seed):
    field, new, known, frames = tiny(seed, teams=teams)
    found = ptr.check_new_run(new, field, known, MEASURES, depth=DEPTH, by=by)
    judged = ptr.score(new, known, MEASURES).mean.set_index("name")
    tops = ptr.depth_pool(new, depth=DEPTH, contributors="all").remainder(known)
    assert found.settings["unjudged documents"] == len(tops)
    for row in found.table.itertuples():
        measure, scores = ir_measures.parse_measure(row.measure), []
        for qid in TOPICS:
            every = completed(known, frames, measure, row.name, qid)
            scores.append(completions.scores_of(measure, listed(frames, row.name, qid), *every))
        assert row.score == pytest.approx(np.mean([each[0] for each in scores]), abs=1e-9)
        assert row.score == pytest.approx(judged.loc[row.name, row.measure], abs=1e-9)
        assert row.score_low == pytest.approx(np.mean([min(each) for each in scores]), abs=1e-9)
        assert row.score_high == pytest.approx(np.mean([max(each) for each in scores]), abs=1e-9)
        assert row.score_low - 1e-12 <= row.predicted_low <= row.predicted_high <= row.score_high + 1e-12


FIELD = ptr.demo.simulate_field(seed=7, n_topics=12, n_docs=600, n_teams=16, length=40)
TEAMS = FIELD.runs.select(pooled=True).teams
NEW = FIELD.runs.select(team=TEAMS[-1], pooled=True)
OTHERS = FIELD.runs.select(team=TEAMS[:-1], pooled=True)
WHOLE = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS, depth=10))


def pooled_by(n):
    """Return the judgments of a pool that the first teams made, and how much of that of all is unjudged."""
    known = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS.select(team=TEAMS[:n]), depth=10))
    counts = ptr.depth_pool(OTHERS, depth=10).counts(known)
    return known, counts["to_judge"].sum() / counts["documents"].sum()


@pytest.fixture(scope="module")
def broken():
    """Return what is said over a pool of which a third and more is unjudged, all runs declared pooled."""
    known, share = pooled_by(6)
    assert share > 0.3
    with pytest.warns(ptr.ReuseWarning, match="are unjudged"):
        return known, ptr.check_new_run(NEW, OTHERS, known, ["nDCG@10", "P@10"], depth=10)


def test_nothing_is_predicted_over_a_broken_pool(broken):
    known, found = broken
    table = found.table
    assert table["abstains"].all()
    assert table[["predicted", "predicted_rank", "topics_low", "topics_high"]].isna().all(axis=None)
    assert found.topics["predicted"].isna().all()
    assert (table["predicted_low"] == table["score_low"]).all()
    assert (table["predicted_rank_high"] == table["rank_high"]).all()
    assert (table["both_low"] <= table["score_low"]).all()
    assert (table["both_high"] >= table["score_high"]).all()
    assert (table["to_judge"] > 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        plan = ptr.judge_next(OTHERS, known, "P@10", new=NEW, depth=10)
    assert plan.table["abstains"].all()
    # a sample needs no prediction
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        sample = ptr.judge_next(OTHERS, known, "P@10", new=NEW, depth=10, goal="score", n=40)
        labels = sample.pool.judge(FIELD.all_qrels)
        row = ptr.check_new_run(NEW, OTHERS, known, "P@10", depth=10, sampled=labels).table.iloc[0]
    assert not row["abstains"]
    assert row["predicted_low"] <= row["predicted"] <= row["predicted_high"]


def test_where_nothing_is_predicted_nothing_is_shown(broken):
    known, found = broken
    topics = pd.DataFrame({"qid": known.topics, "query": "x"})
    options = {"field": OTHERS, "depth": 10, "reuse": "predicted", "pooled": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        result = ptr.Experiment(NEW, topics, known, ["P@10"], **options)
        long = ptr.Experiment(NEW, topics, known, ["P@10"], perquery=True, **options)
        added = ptr.add_columns(result[["name", "P@10"]], NEW, known, topics=topics, **options)
    for frame in (result, added):
        assert frame["P@10 predicted"].isna().all()
        assert (frame["P@10 abstains"] == 1).all()
        mine = found.table[found.table["measure"] == "P@10"].set_index("name").loc[frame["name"]]
        for column, of in (("predicted low", "score_low"), ("predicted both rank high", "both_rank_high")):
            assert frame[f"P@10 {column}"].to_numpy(float) == pytest.approx(mine[of].to_numpy(float), abs=1e-6)
    assert long["predicted"].isna().all()


@pytest.mark.filterwarnings("ignore")
def test_what_makes_an_interval_too_narrow_stands_beside_it():
    known, share = pooled_by(10)
    assert 0.05 < share < 0.2
    for judgments, told in ((known, True), (WHOLE, False)):
        table = ptr.check_new_run(NEW, OTHERS, judgments, ["P@10", "P@20", "AP", "RBP(rel=1)"], depth=10).table
        speaks = table[~table["abstains"]]
        assert len(speaks)
        for row in speaks.itertuples():
            assert bool(row.caveat) == (told or row.measure in ("AP", "P@20"))
        assert (table.loc[table["abstains"], "caveat"] == "").all()


@pytest.mark.filterwarnings("ignore")
def test_ranks_under_completions():
    rng = np.random.default_rng(1)
    for seed in range(2):
        field, new, known, frames = tiny(seed, teams={"x": "x", "y": "y"})
        # below depth 3 no new run has anything that counts here, and the field has none of the new documents
        table = ptr.check_new_run(new, field, known, ["nDCG@3", "P@2"], depth=DEPTH).table
        for row in table.itertuples():
            measure = ir_measures.parse_measure(row.measure)
            every = {qid: completed(known, frames, measure, row.name, qid) for qid in TOPICS}
            for _ in range(30):
                drawn = {q: (docs, labels[[rng.integers(len(labels))]]) for q, (docs, labels) in every.items()}
                means = {
                    run: np.mean([completions.scores_of(measure, listed(frames, run, q), *drawn[q]) for q in TOPICS])
                    for run in frames
                }
                rank = 1 + sum(means[other] > means[row.name] + 1e-9 for other in "abcd")
                assert row.rank_low <= rank <= row.rank_high
                assert row.both_rank_low <= row.predicted_rank_low <= row.predicted_rank_high <= row.both_rank_high
