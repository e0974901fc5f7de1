"""Pools of any strategy: documents with and without contributors, further columns, and documents from anywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_lou import contributions_of, pairs_of, sole_units

import pt_reuse as ptr
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import sort_by_topic
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.metadata import given_metadata
from pt_reuse.pooling.pool import Contributions, Pool

TOPICS = ["1", "2", "10"]
NAMES = ["A", "B", "C", "D"]
TEAMS = {"A": "one", "B": "one", "C": "two", "D": "three"}
TYPES = {"A": "automatic", "B": "manual", "C": "automatic", "D": "manual"}
UNIT_OF = {"team": TEAMS, "type": TYPES, "run": {name: name for name in NAMES}}


def by_hand(found, *, names=NAMES, columns=None):
    """Return a pool of {(topic, docno): {run: rank}}."""
    pairs = sorted(found, key=lambda pair: TOPICS.index(pair[0]))
    words = tokens.as_words(tokens.encode([docno for _, docno in pairs]))
    documents, _ = sort_by_topic(TOPICS, np.array([TOPICS.index(t) for t, _ in pairs], dtype=np.int64), words)
    rows = [(names.index(name), rank) for pair in pairs for name, rank in sorted(found[pair].items())]
    entries = Contributions(
        np.concatenate([[0], np.cumsum([len(found[pair]) for pair in pairs])]).astype(np.int64),
        np.array([run for run, _ in rows], dtype=np.int32),
        np.array([rank for _, rank in rows], dtype=np.int32),
    )
    table = given_metadata(teams=TEAMS, types=TYPES).table(names)
    frame = None if columns is None else pd.DataFrame({"priority": [columns[pair] for pair in pairs]})
    return Pool(documents, entries, run_table=table, columns=frame, order="trec_eval", settings={"strategy": "hand"})


def records(frame):
    """Return a frame as a list of dicts, what is missing as None, whatever the version of pandas makes of it."""
    return [{k: None if v is pd.NA else v for k, v in row.items()} for row in frame.to_dict("records")]


def every_document(pool):
    return {(row["qid"], row["docno"]) for row in records(pool.to_frame())}


@st.composite
def mixed_pools(draw):
    """Draw {(topic, docno): {run: rank}}; about half of the documents have no contributor."""
    pairs = st.tuples(st.sampled_from(TOPICS), st.sampled_from([f"d{n}" for n in range(8)]))
    of_document = st.one_of(st.just({}), st.dictionaries(st.sampled_from(NAMES), st.integers(1, 30), max_size=4))
    return draw(st.dictionaries(pairs, of_document, max_size=14))


@settings(deadline=None, max_examples=17)
@given(mixed_pools(), st.sampled_from(["team", "type", "run"]), st.sets(st.sampled_from(NAMES)), st.data())
def test_any_pool_equals_the_brute_force(found, by, left_out, data):
    columns = {pair: n / 8 for n, pair in enumerate(found)}
    pool = by_hand(found, columns=columns)
    assert {(row["qid"], row["docno"]): row for row in records(pool.to_frame())} == {
        (topic, docno): {
            "qid": topic,
            "docno": docno,
            "rank": min(ranks.values(), default=None),
            "runs": len(ranks),
            "teams": len({TEAMS[name] for name in ranks}),
            "types": len({TYPES[name] for name in ranks}),
            "priority": columns[topic, docno],
        }
        for (topic, docno), ranks in found.items()
    }
    contributed = {pair: ranks for pair, ranks in found.items() if ranks}
    assert contributions_of(pool) == contributed
    column = {"team": "team", "type": "type", "run": "name"}[by]
    uniques = {(row["qid"], row["docno"]): row[column] for row in records(pool.uniques(by))}
    assert uniques == sole_units(contributed, UNIT_OF[by])

    def check(part, expected):
        assert every_document(part) == set(expected)
        assert contributions_of(part) == {pair: ranks for pair, ranks in expected.items() if ranks}
        assert {(row["qid"], row["docno"]): row["priority"] for row in records(part.to_frame())} == {
            pair: columns[pair] for pair in expected
        }
        assert part.topics == TOPICS
        assert part.order == "trec_eval"

    others = {pair: {n: r for n, r in ranks.items() if n not in left_out} for pair, ranks in found.items()}
    stay = {pair: ranks for pair, ranks in others.items() if ranks or not found[pair]}
    part = pool.without(run=sorted(left_out))
    check(part, stay)
    assert part.run_table["name"].tolist() == [name for name in NAMES if name not in left_out]

    judged = data.draw(st.dictionaries(st.sampled_from(sorted(found)), st.integers(-2, 2))) if found else {}
    frame = pd.DataFrame([(*pair, label) for pair, label in judged.items()], columns=["qid", "docno", "label"])
    qrels = Qrels(frame.astype({"label": int}))
    check(pool.remainder(qrels), {pair: ranks for pair, ranks in found.items() if judged.get(pair, -1) < 0})
    labels = pool.judge(lambda asked: [columns[pair] * 8 for pair in asked.itertuples(index=False, name=None)])
    assert {(row["qid"], row["docno"]): row["label"] / 8 for row in records(labels.to_frame())} == columns
    assert pairs_of(pool.to_qrels().to_frame()) == set(found)


# documents from anywhere


def test_a_pool_from_a_frame():
    frame = pd.DataFrame(
        {
            "docno": ["b", "a", "c", "a"],
            "qid": ["10", "2", "10", "10"],
            "strategy": ["classifier", "sample", "classifier", "sample"],
            "probability": [0.5, 0.25, 1.0, 0.125],
        },
        index=[7, 7, 8, 9],
    )
    pool = Pool.from_frame(frame, topics=["3"])
    assert pool.topics == ["2", "3", "10"]
    assert records(pool.to_frame().drop(columns=["teams", "types"])) == [
        {"qid": "2", "docno": "a", "rank": None, "runs": 0, "strategy": "sample", "probability": 0.25},
        {"qid": "10", "docno": "b", "rank": None, "runs": 0, "strategy": "classifier", "probability": 0.5},
        {"qid": "10", "docno": "c", "rank": None, "runs": 0, "strategy": "classifier", "probability": 1.0},
        {"qid": "10", "docno": "a", "rank": None, "runs": 0, "strategy": "sample", "probability": 0.125},
    ]
    assert len(pool.uniques()) == len(pool.contributions()) == len(pool.run_table) == 0
    assert every_document(pool.without()) == every_document(pool)


def test_frames_that_are_no_pool(messages):
    for frame, place in (
        ("no frame", ""),
        (pd.DataFrame({"qid": ["1"]}), ""),
        (pd.DataFrame({"qid": ["1", "1", "1"], "docno": ["a", "b", "a"]}), "rows 0 and 2"),
        (pd.DataFrame({"qid": ["1"], "docno": [None]}), "topic '1', row 0"),
        (pd.DataFrame({"qid": ["1"], "docno": ["a"], "rank": [0], "runs": [3]}), ""),
        (pd.DataFrame([["1", "a", 1, 2]], columns=["qid", "docno", "round", "round"]), ""),
    ):
        messages.refused(lambda frame=frame: Pool.from_frame(frame), place=place)


def test_ranks_and_runs_of_many_fit():
    # 300 runs and ranks beyond 255
    frames = {f"r{i}": pd.DataFrame({"qid": "1", "docno": [f"d{i}"], "score": [1.0]}) for i in range(299)}
    long = [f"e{i}" for i in range(400)]
    frames["long"] = pd.DataFrame({"qid": "1", "docno": long, "score": -np.arange(400.0)})
    pool = ptr.depth_pool(ptr.RunSet.from_frames(frames), depth=400, contributors="all")
    found = pool.contributions().set_index("docno")
    assert found.loc[long, "rank"].tolist() == list(range(1, 401))
    assert found.loc[["d0", "d298"], "name"].tolist() == ["r0", "r298"]
    kept = pool.without(run=["r0", "r1"])
    assert kept.contributions().set_index("docno").loc[["d298", "e399"], "name"].tolist() == ["r298", "long"]
    assert pool.entries.best_rank.dtype == np.int32
