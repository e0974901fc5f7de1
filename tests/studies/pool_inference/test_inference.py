from __future__ import annotations

import dataclasses
import gzip
import json

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.pooling.depth import depth_pool
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet
from pt_reuse.studies.pool_inference.certainty import Certainty
from pt_reuse.studies.pool_inference.evidence import Evidence
from pt_reuse.studies.pool_inference.inference import infer_pool
from pt_reuse.studies.pool_inference.judged_ranks import JudgedRanks

# slow and obvious: a field is {run: {topic: [documents, best first]}}, judged is a set of (topic, document)


def as_runs(field, **metadata):
    frames = {}
    for name, lists in field.items():
        rows = [(topic, doc, -rank) for topic, docs in lists.items() for rank, doc in enumerate(docs)]
        frames[name] = pd.DataFrame(rows, columns=["qid", "docno", "score"]).astype(
            {"qid": str, "docno": str, "score": float}
        )
    return RunSet.from_frames(frames, **metadata)


def as_qrels(judged, label=0):
    rows = sorted(judged)
    return Qrels(pd.DataFrame({"qid": [t for t, _ in rows], "docno": [d for _, d in rows], "label": label}))


def top(lists, topics, depths):
    return [(topic, doc) for topic in topics for doc in lists.get(topic, [])[: depths[topic]]]


def is_tolerated(documents, judged, tolerance):
    missing = sum(pair not in judged for pair in documents)
    return bool(documents) and missing <= tolerance * len(documents) + 1e-9


def pool_of(field, names, topics, depths):
    return {pair for name in names for pair in top(field[name], topics, depths)}


def alone_of(field, names, name, topics, depths):
    return set(top(field[name], topics, depths)) - pool_of(field, set(names) - {name}, topics, depths)


def slow_settle(field, judged, topics, depths, tolerance):
    names = [name for name in field if is_tolerated(top(field[name], topics, depths), judged, tolerance)]
    while True:
        loss = {}
        for name in names:
            alone = alone_of(field, names, name, topics, depths)
            loss[name] = len(alone - judged) - len(alone & judged)
        worst = max(names, key=lambda name: loss[name], default=None)
        if worst is None or loss[worst] <= 0:
            return names
        names.remove(worst)


def slow_common_depth(field, judged, topics, tolerance):
    longest = max((len(lists.get(topic, [])) for lists in field.values() for topic in topics), default=0)
    differences = []
    for k in range(longest + 1):
        depths = dict.fromkeys(topics, k)
        names = [name for name in field if is_tolerated(top(field[name], topics, depths), judged, tolerance)]
        differences.append(len(judged ^ pool_of(field, names, topics, depths)))
    return int(np.argmin(differences)), differences


def slow_judged_to(lists, judged, topics, tolerance):
    longest = max((len(lists.get(topic, [])) for topic in topics), default=0)
    good = [
        k
        for k in range(1, longest + 1)
        if is_tolerated(top(lists, topics, dict.fromkeys(topics, k)), judged, tolerance)
    ]
    return max(good, default=0)


def slow_evidence(field, judged, topics, depths, names):
    needed = [name for name in names if alone_of(field, names, name, topics, depths) & judged]
    still_open = (pool_of(field, names, topics, depths) - pool_of(field, needed, topics, depths)) & judged
    evidence = {}
    for name, lists in field.items():
        if name in needed:
            evidence[name] = "needed"
        elif name in names:
            evidence[name] = "needed together" if still_open & set(top(lists, topics, depths)) else "covered"
        else:
            evidence[name] = "not pooled" if any(lists.get(topic) for topic in topics) else "no documents"
    return evidence


DOCS = [f"d{i}" for i in range(9)]
TOPICS = ["1", "2", "3"]


@st.composite
def fields(draw, most_runs=6):
    field = {}
    for r in range(draw(st.integers(1, most_runs))):
        if field and draw(st.integers(0, 4)) == 0:
            field[f"r{r}"] = field[draw(st.sampled_from(sorted(field)))]  # a copy
            continue
        field[f"r{r}"] = {
            topic: draw(st.lists(st.sampled_from(DOCS), unique=True, max_size=7))
            for topic in TOPICS[: draw(st.integers(1, 3))]
        }
    if not any(field["r0"].values()):
        field["r0"] = {"1": ["d0"]}
    return field


@st.composite
def pooled_fields(draw):
    """Return a field, its contributors, a depth, and the judged set: all of their pool and, perhaps, noise."""
    field = draw(fields())
    names = draw(st.lists(st.sampled_from(sorted(field)), min_size=1, unique=True))
    depth = draw(st.integers(1, 6))
    judged = pool_of(field, names, TOPICS, dict.fromkeys(TOPICS, depth))
    if draw(st.booleans()):
        judged = judged ^ draw(st.sets(st.tuples(st.sampled_from(TOPICS), st.sampled_from(DOCS)), max_size=4))
    return field, names, depth, judged


def comparable(field, judged):
    """Whether a field and a judged set can be compared at all: some run has a document for a judged topic."""
    return bool({t for t, _ in judged} & {t for lists in field.values() for t, docs in lists.items() if docs})


@settings(deadline=None, max_examples=250)
@given(pooled_fields(), st.sampled_from([0.0, 0.1, 0.25, 0.5]), st.sampled_from([None, None, 1, 2, 4, 50]))
def test_agrees_with_the_slow_reference(made, tolerance, depth):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    topics = sorted({topic for topic, _ in judged})
    runs, qrels = as_runs(field), as_qrels(judged)
    found = infer_pool(runs, qrels, depth=depth, tolerance=tolerance)

    expected_depth, differences = slow_common_depth(field, judged, topics, tolerance)
    assert JudgedRanks(runs, qrels, tolerance).differences().tolist() == differences
    used = expected_depth if depth is None else depth
    depths = dict.fromkeys(topics, used)
    with_runs = {topic for lists in field.values() for topic, docs in lists.items() if docs}
    assert found.depth == used
    assert found.by_topic["depth"].tolist() == [used if topic in with_runs else 0 for topic in found.by_topic["qid"]]

    names = slow_settle(field, judged, topics, depths, tolerance)
    evidence = slow_evidence(field, judged, topics, depths, names)
    pool = pool_of(field, names, topics, depths)
    assert dict(zip(found.table["name"], found.table["evidence"], strict=True)) == evidence
    assert found.contributors == [name for name in field if evidence[name].startswith("needed")]
    for row in found.table.to_dict("records"):
        lists = field[row["name"]]
        mine = top(lists, topics, depths)
        alone = alone_of(field, names, row["name"], topics, depths)
        first = [
            rank for topic in topics for rank, doc in enumerate(lists.get(topic, []), 1) if (topic, doc) not in judged
        ]
        assert row["judged_to"] == slow_judged_to(lists, judged, topics, tolerance)
        assert (row["entries"], row["missing"]) == (len(mine), sum(pair not in judged for pair in mine))
        assert (row["alone"], row["alone_unjudged"]) == (len(alone & judged), len(alone - judged))
        assert first == [] if pd.isna(row["first_missing"]) else row["first_missing"] == min(first)
        shared = {
            other: len(set(mine) & set(top(field[other], topics, depths)))
            for other in found.contributors
            if other != row["name"]
        }
        if max(shared.values(), default=0) == 0:
            assert row["nearest"] is None
            assert np.isnan(row["common"])
        else:
            assert shared[row["nearest"]] == max(shared.values())
            assert row["common"] == pytest.approx(shared[row["nearest"]] / len(mine))

    summary = found.summary.iloc[0]
    assert summary["explained"] == len(judged & pool)
    assert summary["unjudged"] == len(pool - judged)
    deeper = pool_of(field, names, topics, dict.fromkeys(topics, 99)) - pool
    every = pool_of(field, field, topics, dict.fromkeys(topics, 99))
    origin = dict(
        zip(
            zip(found.unexplained["qid"], found.unexplained["docno"], strict=True),
            found.unexplained["origin"],
            strict=True,
        )
    )
    assert origin == {
        pair: "below the depth" if pair in deeper else "other run" if pair in every else "no run"
        for pair in judged - pool
    }
    for row in found.unexplained.to_dict("records"):
        ranks = {
            name: lists[row["qid"]].index(row["docno"]) + 1
            for name, lists in field.items()
            if row["docno"] in lists.get(row["qid"], [])
        }
        assert (
            ranks == {}
            if row["best_run"] is None
            else ranks[row["best_run"]] == row["best_rank"] == min(ranks.values())
        )
    for row in found.by_topic.to_dict("records"):
        mine = {pair for pair in judged if pair[0] == row["qid"]}
        assert row["judged"] == len(mine)
        assert row["explained"] == len(mine & pool)
        assert row["explained"] + row["deeper"] + row["other"] + row["nowhere"] == row["judged"]
        assert row["unjudged"] == len({pair for pair in pool - judged if pair[0] == row["qid"]})
        if row["qid"] in with_runs:
            fits = []
            for k in range(8):
                part = pool_of(field, names, [row["qid"]], {row["qid"]: k})
                fits.append(len(mine ^ part))
            assert row["own_depth"] == int(np.argmin(fits))
    for row in found.by_rank.to_dict("records"):
        at = [
            (topic, field[name][topic][row["rank"] - 1])
            for name in names
            for topic in topics
            if len(field[name].get(topic, [])) >= row["rank"]
        ]
        new = set(at) - pool_of(field, names, topics, dict.fromkeys(topics, row["rank"] - 1))
        assert (row["entries"], row["new"]) == (len(at), len(new))
        if at:
            assert row["judged"] == pytest.approx(np.mean([pair in judged for pair in at]))
        if new:
            assert row["new_judged"] == pytest.approx(np.mean([pair in judged for pair in new]))


@settings(deadline=None, max_examples=120)
@given(pooled_fields())
def test_what_a_complete_pool_proves(made):
    """The judged set is exactly the pool of known contributors to one depth."""
    field, names, depth, _ = made
    judged = pool_of(field, names, TOPICS, dict.fromkeys(TOPICS, depth))
    if not judged:
        return
    runs, qrels = as_runs(field), as_qrels(judged)
    of_topics = {(topic, doc) for topic, _ in judged for doc in DOCS}
    given_depth = infer_pool(runs, qrels, depth=depth)
    evidence = dict(zip(given_depth.table["name"], given_depth.table["evidence"], strict=True))
    assert len(given_depth.unexplained) == 0
    assert given_depth.certainty is Certainty.EXACT
    # at the true depth: what is needed did contribute, and whatever contributed is recognised as judged as deep
    assert {name for name, word in evidence.items() if word == "needed"} <= set(names)
    assert not {name for name in names if evidence[name] == "not pooled"}
    # of each group that is needed together, one contributed
    for _, group in given_depth.table.dropna(subset="group").groupby("group"):
        assert set(group["name"]) & set(names)
    # the contributors suffice: their pool is the judged set
    pool = depth_pool(runs, depth=depth, contributors=given_depth.contributors).to_frame()
    assert set(zip(pool["qid"], pool["docno"], strict=True)) & of_topics == judged

    free = infer_pool(runs, qrels)
    assert free.depth <= depth <= max(free.summary.iloc[0]["depth_up_to"], depth)
    assert len(free.unexplained) == 0
    pool = depth_pool(runs, depth=free.depth, contributors=free.contributors).to_frame()
    assert set(zip(pool["qid"], pool["docno"], strict=True)) & of_topics == judged
    by_topic = infer_pool(runs, qrels, depth="topic")
    assert len(by_topic.unexplained) == 0


@settings(deadline=None, max_examples=100)
@given(pooled_fields(), st.sampled_from([0.0, 0.2]))
def test_topic_depths_never_fit_worse(made, tolerance):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    runs, qrels = as_runs(field), as_qrels(judged)
    ranks = JudgedRanks(runs, qrels, tolerance)
    assert ranks.own_depths().difference <= ranks.common_depth().difference
    found = infer_pool(runs, qrels, depth="topic", tolerance=tolerance).summary.iloc[0]
    assert found["judged"] - found["explained"] + found["unjudged"] == ranks.own_depths().difference


# by hand

HAND = {
    "A": {"1": ["a", "b", "c", "x1"], "2": ["p", "q", "r"]},
    "B": {"1": ["b", "d", "a", "x2"], "2": ["q", "s", "p"]},
    "twin1": {"1": ["e", "a", "b", "x3"], "2": ["p", "q", "r"]},
    "twin2": {"1": ["a", "e", "b", "x4"], "2": ["q", "p", "r"]},
    "lucky": {"1": ["b", "a"], "2": ["p"]},
    "not": {"1": ["a", "x6", "b"], "2": ["p"]},
}


def hand(**metadata):
    judged = pool_of(HAND, ["A", "B", "twin1"], ["1", "2"], {"1": 3, "2": 3})
    return as_runs(HAND, **metadata), as_qrels(judged)


def test_evidence_by_hand():
    runs, qrels = hand(pooled=["A", "B", "twin1"])
    found = infer_pool(runs, qrels)
    table = found.table.set_index("name")
    assert table["evidence"].tolist() == [
        "needed",
        "needed",
        "needed together",
        "needed together",
        "covered",
        "not pooled",
    ]
    assert table["contributed"].tolist() == [True, True, True, True, False, False]
    assert table["group"].tolist() == [pd.NA, pd.NA, 1, 1, pd.NA, pd.NA]
    assert table["alone"].tolist() == [1, 2, 0, 0, 0, 0]  # c; d and s
    assert table["judged_to"].tolist() == [3, 3, 3, 3, 2, 1]
    assert table["first_missing"].tolist() == [4, 4, 4, 4, pd.NA, 2]
    assert table.loc["not", ["entries", "missing", "alone_unjudged"]].tolist() == [4, 1, 1]
    assert table.loc["twin2", ["nearest", "common"]].tolist() == ["twin1", 1.0]
    assert table.loc["B", "common"] == pytest.approx(4 / 6)
    assert found.headline() == (
        "depth 3, 4 of 6 runs contributed (1 more is judged as deep), 9 of 9 judgments explained"
    )
    assert found.explanation == "exact: the pool of these runs is the judged set."
    assert found.confusion.to_dict("list") == {
        "pooled": [True, False],
        "needed": [2, 0],
        "needed together": [1, 1],
        "covered": [0, 1],
        "not pooled": [0, 1],
        "no documents": [0, 0],
    }
    row = found.summary.iloc[0]
    assert (row["at_depth"], row["below"], row["new_at_depth"], row["new_below"]) == (1, 0, 1, 0)
    assert runs.with_metadata(pooled=found.contributors).pooled.tolist() == [True, True, True, True, False, False]


def test_runs_that_cover_each_other_are_all_needed_together():
    lists = {"1": ["a", "b"]}
    other = {"1": ["c", "d"]}
    runs = as_runs({"A": lists, "B": lists, "C": other, "D": other})
    found = infer_pool(runs, as_qrels({("1", d) for d in "abcd"}))
    assert found.table["evidence"].tolist() == ["needed together"] * 4
    assert found.table["group"].tolist() == [1, 1, 2, 2]
    assert found.contributors == ["A", "B", "C", "D"]


def test_a_chain_of_overlaps_is_one_group():
    runs = as_runs({"A": {"1": ["a", "c"]}, "B": {"1": ["b", "a"]}, "C": {"1": ["c", "b"]}, "E": {"1": ["e", "a"]}})
    found = infer_pool(runs, as_qrels({("1", d) for d in "abce"}), depth=2)
    assert found.table["evidence"].tolist() == ["needed together"] * 3 + ["needed"]
    # a is explained by E; c joins A and C, b joins B and C
    assert found.table["group"].tolist() == [1, 1, 1, pd.NA]


def test_any_label_counts_as_pooled():
    runs = as_runs({"A": {"1": ["a", "b", "c", "d"]}})
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [-1, 1, -2]})
    assert infer_pool(runs, frame).depth == 3


def test_the_order_decides_who_is_at_the_depth():
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [1.0, 1.0]})
    qrels = as_qrels({("1", "b")})
    by_docno = RunSet.from_frames({"A": frame})
    assert infer_pool(by_docno, qrels).depth == 1  # docno descending among ties
    as_given = RunSet.from_frames({"A": frame}, order="file")
    assert infer_pool(as_given, qrels).depth == 0


def test_a_run_that_brings_mostly_unjudged_documents_is_not_pooled():
    field = {"A": {"1": list("abcdefgh")}, "B": {"1": ["a", "b", "x", "c", "y", "d", "z", "e"]}}
    runs, qrels = as_runs(field), as_qrels({("1", d) for d in "abcdefgh"})
    found = infer_pool(runs, qrels, depth=8, tolerance=0.5)
    table = found.table.set_index("name")
    assert table["evidence"].tolist() == ["needed", "not pooled"]
    assert table.loc["B", ["missing", "alone", "alone_unjudged"]].tolist() == [3, 0, 3]


# edges


def test_no_pool_is_said_plainly():
    runs = as_runs({"A": {"1": ["x", "a"], "2": ["b"]}, "B": {"1": ["y", "a"]}})
    for depth in (None, "topic"):
        found = infer_pool(runs, as_qrels({("1", "a"), ("2", "c")}), depth=depth)
        assert (found.depth, found.contributors) == (0, [])
        assert found.headline() == "no pool found, 0 of 2 judgments explained"
        assert found.explanation.startswith("none: no run is judged closely enough to any depth.")
        assert found.table["evidence"].tolist() == ["not pooled"] * 2
        assert found.unexplained["origin"].tolist() == ["other run", "no run"]
        assert found.unexplained["best_rank"].tolist() == [2, pd.NA]
        assert found.unexplained["best_run"].tolist() == ["A", None]
        assert found.summary.iloc[0][["at_depth", "below"]].isna().all()
        assert "no pool found" in str(found)


def test_topics_and_lists_that_are_not_there():
    field = {"A": {"1": ["a", "b"], "9": ["z"]}, "B": {"1": ["c"]}, "none": {"9": ["y"]}}
    judged = {("1", "a"), ("1", "b"), ("1", "c"), ("2", "d")}
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert found.depth == 2
    assert found.table["evidence"].tolist() == ["needed", "needed", "no documents"]
    assert found.table["judged_to"].tolist() == [2, 1, 0]
    assert found.by_topic[["qid", "explained", "nowhere"]].to_numpy().tolist() == [["1", 3, 0], ["2", 0, 1]]
    assert found.explanation.startswith("most: these runs explain 75.0% of the judgments; the rest has another origin")
    by_topic = infer_pool(as_runs(field), as_qrels(judged), depth="topic")
    assert by_topic.depth == 2  # a topic that no run has is at no depth
    assert by_topic.by_topic["own_depth"].tolist() == [2, 0]


def test_a_depth_beyond_every_list():
    runs = as_runs({"A": {"1": ["a", "b"]}, "B": {"1": ["a", "x"]}})
    found = infer_pool(runs, as_qrels({("1", "a"), ("1", "b")}), depth=1000)
    assert (found.depth, found.contributors) == (1000, ["A"])
    assert found.settings["depth"] == "1000 (given)"
    none = infer_pool(runs, as_qrels({("1", "b")}), depth=1000)
    assert none.contributors == []
    assert none.explanation.startswith("none: no run is judged closely enough to depth 1000.")


def test_depths_by_topic():
    # each topic was pooled as deep as its budget allowed
    field = {
        "A": {"1": list("abcdefghij"), "2": list("klmnopqrst")},
        "B": {"1": list("abxcdefghi"), "2": list("klUVWXYZmn")},
    }
    judged = pool_of(field, ["A", "B"], ["1", "2"], {"1": 7, "2": 2})
    runs, qrels = as_runs(field), as_qrels(judged)
    common = infer_pool(runs, qrels)
    assert common.depth == 2
    assert common.by_topic["own_depth"].tolist() == [7, 2]
    assert common.explanation.endswith("With a depth for each topic (2 to 7) a pool fits better: depth='topic'.")
    own = infer_pool(runs, qrels, depth="topic")
    assert own.depth is None
    assert own.by_topic["depth"].tolist() == [7, 2]
    assert own.certainty is Certainty.EXACT
    assert own.headline().startswith("depth 2 to 7 by topic, 2 of 2 runs contributed, ")
    assert own.settings["depth"] == "2 to 7 by topic (inferred for each topic)"


@pytest.mark.parametrize("tolerance", [-0.1, 1, 1.0, "0.1", None, True, float("nan")])
def test_bad_tolerance(tolerance, messages):
    messages.refused(lambda: infer_pool(*hand(), tolerance=tolerance), argument="tolerance")


@pytest.mark.parametrize("depth", [0, -1, 2.5, True])
def test_bad_depth(depth, messages):
    messages.refused(lambda: infer_pool(*hand(), depth=depth), argument="depth")


def test_bad_input(messages):
    runs, qrels = hand()
    messages.refused(lambda: infer_pool(runs, qrels, depth="topics"), argument="depth")
    messages.refused(lambda: infer_pool(qrels, runs), argument="runs")
    messages.refused(lambda: infer_pool(runs, as_qrels({("7", "a")})), argument="qrels")
    messages.refused(lambda: infer_pool(runs, qrels.keep(np.zeros(len(qrels), dtype=bool))), argument="qrels")
    messages.refused(lambda: infer_pool(runs, qrels, order="score"), argument="order")


def test_a_result_is_frozen_and_saved(tmp_path):
    found = infer_pool(*hand())
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.depth = 4
    saved = {path.name for path in found.save(tmp_path / "out")}
    assert saved == {f"{name}.csv" for name in found.tables()} | {"settings.json", "result.json"}
    assert json.loads((tmp_path / "out" / "settings.json").read_text()) == {
        "depth": "3 (inferred)",
        "tolerance": 0.0,
        "order": "trec_eval",
        "topics": 2,
        "judged": "any label",
        "record": "not on record",
    }


def test_plot():
    pytest.importorskip("matplotlib").use("Agg")
    found = infer_pool(*hand())
    axes = found.plot()
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines["runs judged as deep"].get_ydata().tolist() == found.by_rank["judged"].tolist()
    assert lines["other runs"].get_ydata().tolist()[0] == 1.0
    assert lines["runs judged as deep"].axes is axes


# what is said of the answer


def test_covered_runs_and_groups_are_named_and_shown_first():
    runs, qrels = hand(pooled=["A", "B", "twin1"])
    found = infer_pool(runs, qrels)
    assert repr(found) == (
        "Inferred pool: depth 3, 4 of 6 runs contributed (1 more is judged as deep), 9 of 9 judgments explained. "
        "exact: the pool of these runs is the judged set. covered: 'lucky'. needed together: 'twin1', 'twin2'. "
        "[depth=3 (inferred), tolerance=0.0, order=trec_eval, topics=2, judged=any label, record=3 of 6 runs pooled]"
    )
    lines = str(found).split("\n")
    assert lines[1:4] == [found.explanation, "covered: 'lucky'", "needed together: 'twin1', 'twin2'"]
    assert [line.split()[0] for line in lines[6:]] == ["lucky", "twin1", "twin2", "A", "B", "not"]
    page = found._repr_html_()
    for text in (
        found.explanation,
        "covered: &#x27;lucky&#x27;",
        "needed together: &#x27;twin1&#x27;, &#x27;twin2&#x27;",
    ):
        assert text in page
    assert "&lt;NA&gt;" not in page
    assert page.index("<td>lucky") < page.index("<td>twin2") < page.index("<td>B<")


def test_long_fields_are_cut_and_say_so():
    field = {f"r{i:02}": {"1": [f"d{i}"]} for i in range(20)} | {f"same{i}": {"1": ["s"]} for i in range(8)}
    found = infer_pool(as_runs(field), as_qrels(pool_of(field, field, ["1"], {"1": 1})))
    text, page = str(found), found._repr_html_()
    assert "needed together: 'same0', 'same1', 'same2', 'same3', 'same4', 'same5' and 2 more" in text
    assert "... and 20 more rows in .table" in text
    assert "... and 12 more rows in .table" in page
    pairs = {f"p{i}{twin}": {"1": [f"d{i}"]} for i in range(8) for twin in "ab"}
    found = infer_pool(as_runs(pairs), as_qrels(pool_of(pairs, pairs, ["1"], {"1": 1})))
    assert "needed together: 'p5a', 'p5b'. 2 more groups in .table." in repr(found)
    assert "p6a" not in repr(found)


def test_certainty_looks_at_both_sides():
    lists = {"1": [f"d{i:03}" for i in range(100)]}
    runs = as_runs({"A": lists})

    def certainty(judged, extra=0, **options):
        pairs = {("1", doc) for doc in lists["1"][:judged]} | {("1", f"x{i}") for i in range(extra)}
        return infer_pool(runs, as_qrels(pairs), depth=100, **options)

    assert certainty(100).explanation.startswith("exact")
    assert certainty(99, tolerance=0.5).explanation == (
        "nearly exact: these runs explain all of the judgments, and 1 document in their pool (1.0%) lacks a judgment."
    )
    assert certainty(95, tolerance=0.5).explanation.startswith("nearly exact")
    assert certainty(94, tolerance=0.5).explanation.startswith("most")
    assert certainty(51, tolerance=0.5).explanation.startswith("most")
    assert certainty(100, extra=5).explanation.startswith("nearly exact: these runs explain 95.2% of the judgments;")
    assert certainty(100, extra=6).explanation.startswith("most")
    partial = certainty(100, extra=150)
    assert partial.explanation.startswith("partial: these runs explain 40.0% of the judgments;")
    assert partial.headline() == "depth 100, 1 of 1 run contributed, 100 of 250 judgments explained (partial)"
    none = certainty(1, tolerance=0.5)
    assert none.explanation.startswith("none")
    assert none.headline() == "no pool found to depth 100, 0 of 1 judgment explained"


def test_almost_all_is_not_all():
    lists = {"1": [f"d{i}" for i in range(3000)]}
    judged = {("1", doc) for doc in lists["1"]}
    found = infer_pool(as_runs({"A": lists}), as_qrels(judged | {("1", "x")}))
    assert found.explanation.startswith("nearly exact: these runs explain 99.9% of the judgments; the rest")
    found = infer_pool(as_runs({"A": lists}), as_qrels(judged - {("1", "d7")}), depth=3000, tolerance=0.1)
    assert "and 1 document in their pool (below 0.1%) lacks a judgment." in found.explanation


def test_who_was_pooled_is_not_on_record():
    found = infer_pool(*hand())
    assert found.table["pooled"].isna().all()
    assert found.confusion.drop(columns="pooled").to_dict("records") == [
        {"needed": 2, "needed together": 2, "covered": 1, "not pooled": 1, "no documents": 0},
    ]
    assert found.confusion["pooled"].isna().tolist() == [True]
    assert found.settings["record"] == "not on record"
    assert "pooled" not in str(found).split("\n")[5].split()
    runs, qrels = hand(pooled=["A"])
    assert infer_pool(runs, qrels).settings["record"] == "1 of 6 runs pooled"
    runs, qrels = hand(pooled=[name for name in HAND if name != "not"])
    assert infer_pool(runs, qrels).confusion["pooled"].tolist() == [True, False]


def test_a_record_that_all_were_pooled_is_a_record():
    found = infer_pool(*hand(pooled=True))
    assert found.table["pooled"].tolist() == [True] * 6
    assert found.settings["record"] == "6 of 6 runs pooled"
    assert found.confusion.to_dict("list") == {
        "pooled": [True, False],
        "needed": [2, 0],
        "needed together": [2, 0],
        "covered": [1, 0],
        "not pooled": [1, 0],
        "no documents": [0, 0],
    }


def test_a_record_of_some_runs():
    found = infer_pool(*hand(pooled={**dict.fromkeys(HAND), "A": True, "not": False}))
    assert found.table["pooled"].tolist() == [True, pd.NA, pd.NA, pd.NA, pd.NA, False]
    assert found.settings["record"] == "1 of 6 runs pooled, 4 not on record"
    assert found.confusion["pooled"].tolist() == [True, False, pd.NA]
    assert found.confusion.drop(columns="pooled").to_dict("list") == {
        "needed": [1, 0, 1],
        "needed together": [0, 0, 2],
        "covered": [0, 0, 1],
        "not pooled": [0, 1, 0],
        "no documents": [0, 0, 0],
    }


def test_the_order_may_be_tried():
    near = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [1.00000001, 1.0]})
    runs, qrels = RunSet.from_frames({"A": near}), as_qrels({("1", "b")})
    assert infer_pool(runs, qrels).depth == 0
    found = infer_pool(runs, qrels, order="trec_eval9")  # a tie as float32
    assert (found.depth, found.settings["order"], runs.order) == (1, "trec_eval9", "trec_eval")


def test_by_rank_is_of_the_runs_judged_as_deep():
    found = infer_pool(*hand())
    # A, B, the twins and 'lucky', which is covered; 'lucky' and 'B' end or go wrong first
    assert found.by_rank["entries"].tolist() == [10, 9, 8, 4]
    assert found.by_rank["other_entries"].tolist() == [2, 1, 1, 0]
    deeper = infer_pool(as_runs({"A": {"1": ["a", "b", "c"]}}), as_qrels({("1", "a"), ("1", "c")}))
    assert deeper.unexplained["origin"].tolist() == ["below the depth"]


@pytest.mark.parametrize("depth", [10**30, 2**31])
def test_a_depth_that_is_no_rank(depth, messages):
    messages.refused(lambda: infer_pool(*hand(), depth=depth), argument="depth")
    # a rank, and deeper than every list
    assert infer_pool(*hand(), depth=2**31 - 1).contributors == ["lucky"]


@pytest.mark.parametrize("depth", [None, 2, "topic"])
def test_a_topic_that_no_run_has_is_at_no_depth(depth):
    found = infer_pool(as_runs({"A": {"1": ["a", "b"]}}), as_qrels({("1", "a"), ("1", "b"), ("2", "c")}), depth=depth)
    assert found.by_topic["depth"].tolist() == [2, 0]
    assert found.depth == 2
    assert found.headline().startswith("depth 2, 1 of 1 run")


# known collections


def test_demo_pool():
    demo = pt.get_dataset("reuse:demo")
    runs, qrels = demo.get_runs(), demo.get_judgments()
    found = infer_pool(runs, qrels.restrict(depth_pool(runs, depth=10)))
    assert found.headline() == (
        "depth 10, 11 of 22 runs contributed (2 more are judged as deep), 989 of 989 judgments explained"
    )
    table = found.table.set_index("name")
    recorded = set(runs.select(pooled=True).names)
    assert recorded - set(found.contributors) == {"quarry-bm25-stem"}  # pooled, but 'covered': nothing tells
    assert set(found.contributors) <= recorded
    assert table.index[table["evidence"] == "covered"].tolist() == ["quarry-bm25-stem", "weave-sum"]
    assert list(infer_pool(runs, qrels.restrict(depth_pool(runs, depth=10)), depth="topic").contributors) == (
        found.contributors
    )


def test_a_sample_of_a_pool_has_no_depth():
    demo = pt.get_dataset("reuse:demo")
    runs = demo.get_runs()
    sample = demo.get_judgments().restrict(depth_pool(runs, depth=10)).sample(0.1, seed=1)
    found = infer_pool(runs, sample)
    assert found.depth == 0
    assert found.contributors == []
    # nine tenths of a pool are still a pool, when a few unjudged documents are tolerated
    most = demo.get_judgments().restrict(depth_pool(runs, depth=10)).sample(0.9, seed=1)
    found = infer_pool(runs, most, tolerance=0.15)
    assert (found.depth, len(found.contributors)) == (10, 11)
    assert found.explanation == (
        "most: these runs explain all of the judgments, and 99 documents in their pool (10.0%) lack a judgment."
    )


def test_trec8_is_the_record(trec8):
    for depth in (None, "topic"):
        found = infer_pool(trec8.runs, trec8.qrels, depth=depth)
        assert found.depth == 100
        assert found.contributors == trec8.runs.select(pooled=True).names
        assert len(found.contributors) == 71
        assert found.headline() == (
            "depth 100, 71 of 129 runs contributed (1 more is judged as deep), 86,830 of 86,830 judgments explained"
        )
        assert found.explanation == "exact: the pool of these runs is the judged set."
    assert found.confusion.to_dict("records") == [
        {"pooled": True, "needed": 69, "needed together": 2, "covered": 0, "not pooled": 0, "no documents": 0},
        {"pooled": False, "needed": 0, "needed together": 0, "covered": 1, "not pooled": 57, "no documents": 0},
    ]
    table = found.table.set_index("name")
    accident = table.loc["Dm8TFidf"]
    assert (accident["evidence"], accident["contributed"], accident["judged_to"]) == ("covered", False, 100)
    assert (accident["nearest"], round(accident["common"] * accident["entries"])) == ("Dm8TFbn", 4999)
    assert table.index[table["group"] == 1].tolist() == ["Mer8Adtd1", "Mer8Adtd2"]
    assert table.loc["READWARE", "judged_to"] == 173
    row = found.summary.iloc[0]
    assert (row["at_depth"], row["new_at_depth"], row["new_below"]) == (1, 1, 0)
    # of the 72 runs judged as deep; of the 71 on record it is .7658
    assert row["below"] == pytest.approx(0.763719, abs=1e-6)
    assert "covered: 'Dm8TFidf'. needed together: 'Mer8Adtd1', 'Mer8Adtd2'. [" in repr(found)
    recorded = JudgedRanks(trec8.runs.select(pooled=True), trec8.qrels, 0.0)
    at_101 = np.diff(recorded.missing, axis=1)[:, 100].sum() / np.diff(recorded.entries, axis=1)[:, 100].sum()
    assert 1 - at_101 == pytest.approx(0.7658, abs=5e-5)
    assert set(found.by_topic["own_depth"]) == {100}


def test_another_order_is_not_that_of_the_trec8_pool(trec8):
    runs = read_runs(trec8.folder / "inputs", metadata=trec8.runs.run_table, order="file")
    found = infer_pool(runs, trec8.qrels)
    assert (found.depth, len(found.contributors)) == (98, 64)
    assert found.explanation.startswith("most: these runs explain 80.8% of the judgments; the rest")
    assert infer_pool(trec8.runs.reorder("trec_eval9"), trec8.qrels).explanation.startswith("exact")


#: what speaks for a run that is judged as deep as the pool
CLOSE = [evidence.value for evidence in (Evidence.NEEDED, Evidence.TOGETHER, Evidence.COVERED)]


def figures(found):
    row = found.summary.iloc[0]
    recorded = found.table["pooled"].to_numpy(dtype=bool)
    pooled = found.table["evidence"].isin(CLOSE).to_numpy()
    return (
        int(row["explained"]),
        int(row["unjudged"]),
        int((pooled & recorded).sum()),
        int((pooled & ~recorded).sum()),
    )


def test_covid_with_one_depth(covid):
    strict = infer_pool(covid.runs, covid.qrels)
    assert (strict.depth, figures(strict)) == (5, (5126, 0, 88, 5))
    recorded = strict.table["pooled"].to_numpy(dtype=bool)
    assert (strict.table["missing"][recorded] > 0).sum() == 11
    assert strict.explanation.endswith("With a depth for each topic (5 to 50) a pool fits better: depth='topic'.")
    lenient = infer_pool(covid.runs, covid.qrels, tolerance=0.02)
    assert (lenient.depth, figures(lenient)) == (7, (7474, 156, 95, 7))


def test_covid_was_pooled_to_a_depth_for_each_topic(covid):
    found = infer_pool(covid.runs, covid.qrels, depth="topic", tolerance=0.02)
    assert figures(found) == (16541, 168, 95, 1)
    table = found.table.set_index("name")
    differs = table[table["pooled"].astype(bool) != table["evidence"].isin(CLOSE)]
    # four recorded runs with many tied scores are not recognised in trec_eval's order
    assert differs[["missing", "first_missing"]].to_dict("index") == {
        "DoRA_MSMARCO_1k": {"missing": 95, "first_missing": 1},
        "DoRA_NO_Judgments_1k": {"missing": 95, "first_missing": 1},
        "DoRA_NO_Judgments_6k": {"missing": 291, "first_missing": 1},
        "UPrrf80-r5": {"missing": 2, "first_missing": 9},
        "rk_ir_bdl_trf_brx_lm": {"missing": 44, "first_missing": 3},
    }
    row = found.summary.iloc[0]
    assert (row["deeper"], row["other"], row["nowhere"]) == (5614, 208, 788)
    assert found.explanation.startswith("most: these runs explain 71.4% of the judgments, and 168 documents")
    assert figures(infer_pool(covid.runs, covid.qrels, depth="topic")) == (8767, 0, 36, 0)
    assert figures(infer_pool(covid.runs, covid.qrels, depth="topic", tolerance=0.5)) == (17688, 619, 99, 2)


def test_covid_in_the_order_of_the_files_is_the_record(covid):
    runs = read_runs(covid.folder / "runs", metadata=covid.runs.run_table, order="file")
    found = infer_pool(runs, covid.qrels, depth="topic", tolerance=0.01)
    assert found.headline() == (
        "depth 5 to 50 by topic, 100 of 126 runs contributed, 18,099 of 23,151 judgments explained"
    )
    assert found.confusion.to_dict("records") == [
        {"pooled": True, "needed": 94, "needed together": 5, "covered": 0, "not pooled": 0, "no documents": 0},
        {"pooled": False, "needed": 1, "needed together": 0, "covered": 0, "not pooled": 26, "no documents": 0},
    ]
    assert set(found.contributors) - set(runs.select(pooled=True).names) == {"UPrrf80-r5"}
    table = found.table.set_index("name")
    missing = table["missing"][table["pooled"].astype(bool)]
    assert ((missing > 0).sum(), round(missing.mean(), 1), missing.max()) == (58, 1.2, 7)
    strict = infer_pool(runs, covid.qrels)
    assert (strict.depth, figures(strict)) == (5, (5987, 0, 98, 5))
    assert table.loc["UPrrf80-r5", ["missing", "alone", "alone_unjudged"]].tolist() == [2, 3, 2]
    groups = table.reset_index().dropna(subset="group").groupby("group")["name"].agg(list).tolist()
    assert groups == [["DoRA_MSMARCO_1k", "DoRA_NO_Judgments_1k"], ["UIowaS_Run1", "UIowaS_Run2", "UIowaS_Run3"]]
    depths = found.by_topic.set_index("qid")["depth"]
    old, new = depths[[str(t) for t in range(1, 36)]], depths[[str(t) for t in range(36, 51)]]
    assert (old.min(), old.max(), new.min(), new.max(), (new == 50).sum()) == (5, 15, 49, 50, 14)
    row = found.summary.iloc[0]
    assert (row["deeper"], row["other"], row["nowhere"], row["unjudged"]) == (4209, 55, 788, 104)
    edges = row[["at_depth", "below", "new_at_depth", "new_below"]].to_numpy(dtype=float)
    assert edges == pytest.approx([0.981, 0.794, 0.915, 0.125], abs=5e-4)
    # the second column of NIST's file says in which batch a document was judged
    lines = gzip.decompress((covid.folder / "qrels.covid-round5.txt.gz").read_bytes()).decode().split("\n")
    batch = {(line.split()[0], line.split()[2]): line.split()[1] for line in lines if line}
    left = pd.Series([batch[pair] for pair in zip(found.unexplained["qid"], found.unexplained["docno"], strict=True)])
    assert pd.Series(list(batch.values())).value_counts().to_dict() == {"5": 17197, "4.5": 5954}
    assert left.value_counts().to_dict() == {"4.5": 4327, "5": 725}
