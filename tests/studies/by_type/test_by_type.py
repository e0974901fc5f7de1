"""Pools of one type against a slow version, and what is refused, told and left out of means."""

from __future__ import annotations

from itertools import combinations

import ir_measures
import numpy as np
import pandas as pd
import pytest
from same import assert_same
from scipy.stats import kendalltau

import pt_reuse as ptr
from pt_reuse.studies import by_type as estimates
from pt_reuse.studies.by_type import by_type

# the slow version: judgments restricted by hand, scored by ir_measures, ranked by scipy


def pool(frames, names, depth):
    """Return the (qid, docno) of the first documents of some runs."""
    return {
        (qid, docno)
        for name in names
        for qid, rows in frames[name].groupby("qid")
        for docno in rows.sort_values("rank")["docno"].head(depth)
    }


def means(frames, judged, topics, measures):
    """Return measure -> run -> its mean over all topics, of judgments given as (qid, docno) -> label."""
    qrels = [ir_measures.Qrel(qid, docno, label) for (qid, docno), label in judged.items()]
    parsed = [ir_measures.parse_measure(measure) for measure in measures]
    found = {measure: {} for measure in measures}
    for name, frame in frames.items():
        # minus the rank, so that every provider follows the order of the run
        rows = frame[["qid", "docno", "rank"]].itertuples(index=False)
        run = [ir_measures.ScoredDoc(qid, docno, -float(rank)) for qid, docno, rank in rows]
        total = dict.fromkeys(map(repr, parsed), 0.0)
        for value in ir_measures.iter_calc(parsed, qrels, run) if qrels else ():
            total[repr(value.measure)] += value.value
        for measure, one in zip(measures, parsed, strict=True):
            found[measure][name] = total[repr(one)] / len(topics)
    return found


def tau(gold, estimate, names):
    """Return tau_b of some runs by scipy, NaN where it has none."""
    if len(names) < 2:
        return np.nan
    x, y = ([round(of[name], 12) for name in names] for of in (gold, estimate))
    return kendalltau(x, y).statistic


def every_half(field, unit, measures, *, depth, gold, contributors=None):
    """Return one row per measure, type of the pool, tested group and half: the picked units, tau_b, and counts."""
    frames = {name: field.runs[name] for name in field.runs.names}
    table = field.runs.run_table.set_index("name")
    table["unit"] = table["team"] if unit == "team" else table.index
    can = set(frames) if contributors is None else set(contributors)
    rows = field.qrels.to_frame()
    labels = {(q, d): label for q, d, label in zip(rows["qid"], rows["docno"], rows["label"], strict=True)}
    if gold == "pool":
        everyone = pool(frames, can, depth)
        labels = {pair: label for pair, label in labels.items() if pair in everyone}
    truth = means(frames, labels, field.qrels.topics, measures)
    found = []
    for kind in dict.fromkeys(table["type"]):
        mine = table[table["type"] == kind]
        units = sorted(set(mine.loc[mine.index.isin(can), "unit"]))
        if len(units) < 2:
            continue
        for picked in combinations(units, len(units) // 2):
            out = set(mine.index[mine["unit"].isin(picked)])
            documents = pool(frames, out & can, depth)
            kept = {pair: label for pair, label in labels.items() if pair in documents}
            estimate = means(frames, kept, field.qrels.topics, measures)
            groups = {other: table.index[table["type"] == other] for other in dict.fromkeys(table["type"])}
            groups["all"] = table.index
            for measure in measures:
                for name, names in groups.items():
                    tested = [run for run in names if run not in out]
                    found.append(
                        {
                            "measure": measure,
                            "pool": kind,
                            "tested": name,
                            "picked": ", ".join(picked),
                            "runs": len(tested),
                            "judged": len(kept),
                            "tau_b": tau(truth[measure], estimate[measure], tested),
                        }
                    )
    return pd.DataFrame(found)


# the tests


LEXICAL = ["lex1a", "lex1b", "lex4a", "lex4b"]
KEYS = ["measure", "pool", "tested"]
MEASURES = ["nDCG@5", "RR(rel=2)", "Bpref"]

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=3, n_topics=6, n_docs=120, n_teams=8, length=20, depth=6)


@pytest.mark.parametrize(
    ("unit", "gold", "depth", "contributors"),
    [("team", "pool", 4, "all"), ("team", "judgments", 3, "pooled"), ("run", "pool", 2, LEXICAL)],
)
def test_every_half_equals_the_slow_version(field, unit, gold, depth, contributors):
    chosen = {"all": field.runs.names, "pooled": field.runs.select(pooled=True).names}
    named = chosen[contributors] if isinstance(contributors, str) else contributors
    slow = every_half(field, unit, MEASURES, depth=depth, gold=gold, contributors=named)
    options = {"unit": unit, "gold": gold, "depth": depth, "contributors": contributors}
    found = by_type(field.runs, field.qrels, MEASURES, splits="all", **options)
    mine = found.by_split.merge(found.splits[["pool", "split", "picked", "judged"]], on=["pool", "split"])
    both = slow.merge(mine, on=[*KEYS, "picked"], suffixes=("", "_found"))
    assert len(both) == len(slow) == len(mine) > 20
    assert both["runs"].tolist() == both["runs_found"].tolist()
    assert both["judged"].tolist() == both["judged_found"].tolist()
    np.testing.assert_allclose(both["tau_b_found"], both["tau_b"], atol=1e-12)
    of = slow.groupby(KEYS)["tau_b"]
    expected = pd.concat([of.mean(), of.std(), of.min(), of.max(), of.count()], axis=1).set_axis(
        ["tau_b", "tau_b_sd", "tau_b_min", "tau_b_max", "splits"], axis=1
    )
    table = found.table.set_index(KEYS)[expected.columns]
    pd.testing.assert_frame_equal(table.sort_index(), expected.sort_index(), check_dtype=False, atol=1e-12)


def test_random_halves_are_some_of_all_and_the_same_in_every_process(field):
    def drawn(splits, seed=5):
        return by_type(
            field.runs, field.qrels, "nDCG", unit="run", depth=3, splits=splits, pools=["lexical"], seed=seed
        )

    every, some = drawn("all"), drawn(7)
    assert (len(every.splits), len(some.splits)) == (20, 7)
    assert some.splits["picked"].nunique() == 7
    assert set(some.splits["picked"]) < set(every.splits["picked"])
    names = field.runs.names[::-1]
    turned = ptr.RunSet.from_frames(
        {name: field.runs[name] for name in names}, metadata=field.runs.run_table, pool_depth=3
    )
    again = by_type(turned, field.qrels, "nDCG", unit="run", splits=7, pools="lexical", seed=5)
    assert again.splits["picked"].tolist() == some.splits["picked"].tolist()
    assert again.splits["judged"].tolist() == some.splits["judged"].tolist()
    for tested in some.tested:
        mine, theirs = (r.by_split[r.by_split["tested"] == tested]["tau_b"].tolist() for r in (some, again))
        assert mine == theirs
    assert drawn(3).splits["picked"].tolist() == some.splits["picked"].tolist()[:3]
    assert drawn(7, seed=6).splits["picked"].tolist() != some.splits["picked"].tolist()


def test_more_jobs_change_no_number(field, monkeypatch):
    """Also where the splits are cut into other parts."""
    options = {"unit": "run", "splits": 4, "depth": 2, "contributors": "all", "resamples": 2}
    alone = by_type(field.runs, field.qrels, ["AP"], n_jobs=1, **options)
    monkeypatch.setattr(estimates, "_AT_ONCE", 5)
    assert len(alone.splits) == 12
    assert_same(by_type(field.runs, field.qrels, ["AP"], n_jobs=2, **options), alone)


def test_intervals_of_means_over_splits(field):
    """Against a literal bootstrap that draws the topics, and the random splits, that ours draws."""
    options = {"depth": 3, "unit": "run", "splits": 4, "pools": "lexical", "seed": 2, "gold": "judgments"}
    plain = by_type(field.runs, field.qrels, "AP", **options)
    found = by_type(field.runs, field.qrels, "AP", resamples=40, confidence=0.9, **options)
    assert_same(found.by_split, plain.by_split)
    from scipy.stats import kendalltau

    from pt_reuse.arrays.bootstrap import TopicBootstrap

    bootstrap = TopicBootstrap(40, 2, 0.9)
    counts = bootstrap.counts(6)
    gold = ptr.score(field.runs, field.qrels, "AP").values[0]
    types = found.run_table["type"].to_numpy()
    drawn = np.empty((40, 4))
    for split, picked in enumerate(found.picked):
        names = np.array(field.runs.names)[picked & found.run_table["pooled"].to_numpy(dtype=bool)]
        part = field.qrels.restrict(ptr.depth_pool(field.runs, depth=3, contributors=names.tolist()))
        estimate = ptr.score(field.runs, part, "AP").values[0]
        tested = (types == "lexical") & ~picked
        for b, often in enumerate(counts):
            x, y = ((often @ values[:, tested] / 6).round(12) for values in (gold, estimate))
            drawn[b, split] = kendalltau(x, y).statistic
    weights = np.random.default_rng([2, 4]).multinomial(4, [0.25] * 4, 40)
    expected = bootstrap.interval(
        plain.table.set_index("tested").loc["lexical", "tau_b"], (drawn * weights).sum(axis=1) / 4, within=(-1, 1)
    )
    row = found.table.set_index("tested").loc["lexical"]
    assert (row["tau_b_low"], row["tau_b_high"]) == pytest.approx(expected, abs=1e-12)
    assert "tau_b_low" not in plain.table


def test_scores_are_means_over_the_splits_that_test_a_run(field):
    found = by_type(field.runs, field.qrels, ["AP", "nDCG"], unit="run", splits="all", depth=3, pools="lexical")
    frame = found.scores("lexical", measure="nDCG").set_index("name")
    for run in ("lex1a", "neu2a"):
        r = found.run_table["name"].tolist().index(run)
        values = [found.estimated[1, s, r] for s in range(len(found.splits)) if not found.picked[s, r]]
        assert frame.loc[run, "estimated"] == pytest.approx(np.mean(values), abs=1e-14)
        assert frame.loc[run, "splits"] == len(values) == (10 if run == "lex1a" else 20)
        assert frame.loc[run, "score"] == found.gold[1, r]


# what is refused, and what is told


def test_a_type_with_one_team(field, messages):
    """It makes no pool; asked for by name it is refused; the others go on."""
    one = field.runs.select([name for name in field.runs.names if name[:4] not in ("man3", "neu8", "neu5")])
    found = messages.warned(lambda: by_type(one, field.qrels, "AP", depth=3), times=2)
    assert found.pools == ["lexical"]
    assert found.tested == ["lexical", "neural", "manual", "all"]
    messages.refused(lambda: by_type(one, field.qrels, "AP", depth=3, pools=["manual"]), argument="pools")
    assert by_type(one, field.qrels, "AP", depth=3, pools=["manual"], unit="run").pools == ["manual"]
    messages.refused(lambda: by_type(one.select(type=["manual", "neural"]), field.qrels, "AP"), argument="runs")


def test_a_split_that_leaves_nothing_to_test(field):
    """One run is left of the type in every split: it has no tau, and says so; the other groups go on."""
    two = field.runs.select(["lex1a", "lex4a", "neu2a", "neu2b", "neu5a"])
    found = by_type(two, field.qrels, "AP", depth=3, pools="lexical")
    table = found.table.set_index("tested")
    assert np.isnan(table.loc["lexical", "tau_b"])
    assert table.loc["lexical", ["runs", "splits", "undefined"]].tolist() == [1, 0, 2]
    assert table.loc["neural", ["splits", "undefined"]].tolist() == [2, 0]
    assert not np.isnan(table.loc["all", "tau_b"])


def test_all_systems_tie(field):
    found = by_type(field.runs, field.qrels, "P(rel=9)@5", depth=3, pools="manual")
    assert found.table["tau_b"].isna().all()
    assert found.table["max_drop"].tolist() == [0.0] * 4


def test_teams_of_several_types(field, messages):
    mixed = field.runs.with_metadata(types={"lex1b": "neural"})
    found = messages.warned(lambda: by_type(mixed, field.qrels, "AP", depth=3, pools="manual"))
    assert found.settings["beware"] == "1 team with runs of several types"


def test_runs_without_a_label(field, messages):
    frames = {name: field.runs[name] for name in field.runs.names}
    table = field.runs.run_table
    bare = ptr.RunSet.from_frames(frames, metadata=table.assign(type=table["type"].where(table["name"] != "lex1a")))
    messages.refused(lambda: by_type(bare, field.qrels, "AP"), argument="runs")
    messages.refused(lambda: by_type(frames, field.qrels, "AP"), argument="runs")
    named = field.runs.with_metadata(types={"lex1a": "all"})
    messages.refused(lambda: by_type(named, field.qrels, "AP"), argument="runs")


def test_too_many_halves(field, messages):
    many = ptr.RunSet.from_frames(
        {f"r{i}": field.runs["lex1a"] for i in range(20)}, types=dict.fromkeys([f"r{i}" for i in range(20)], "copy")
    )
    messages.refused(lambda: by_type(many, field.qrels, "AP", unit="run", splits="all"), argument="splits")


def test_few_topics_and_an_unjudged_pool(field, messages):
    qrels = field.qrels.select(["1", "2"])
    found = messages.warned(lambda: by_type(field.runs, qrels, "AP", depth=20, pools="lexical", resamples=2), times=2)
    share = found.settings["pool of all without judgment"] / found.settings["pool of all"]
    assert f"{share:.0%} of the depth-20 pool" in found.settings["beware"]
