"""How many runs contributed, at least and at most, where runs are interchangeable."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from pool_parts import as_qrels, as_runs, comparable, pool_of, pooled_fields

from pt_reuse.studies.pool_inference.inference import infer_pool


def slow_range(field, judged, found):
    """Try every set of the runs judged as deep, the small ones first."""
    depths = dict(zip(found.by_topic["qid"], found.by_topic["depth"], strict=True))
    deep = found.table["name"][found.table["evidence"].isin(["needed", "needed together", "covered"])].tolist()
    topics = sorted(depths)
    explained = pool_of(field, deep, topics, depths) & judged
    for n in range(len(deep) + 1):
        for names in combinations(deep, n):
            if pool_of(field, names, topics, depths) & judged == explained:
                return n, len(deep)
    raise AssertionError


@settings(deadline=None, max_examples=15)
@given(pooled_fields())
def test_agrees_with_trying_every_set(made):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    found = infer_pool(as_runs(field), as_qrels(judged), depth="common", tolerance=0.2)
    assert found.contributor_range == slow_range(field, judged, found)


def test_three_runs_of_which_two_do():
    # each document is in two of three runs, so that any two of them have all
    field = {"A": {"1": ["a", "b"]}, "B": {"1": ["b", "c"]}, "C": {"1": ["c", "a"]}, "not": {"1": ["x", "a"]}}
    found = infer_pool(as_runs(field), as_qrels({("1", doc) for doc in "abc"}), depth=2)
    assert (found.depth, found.contributor_range) == (2, (2, 3))
    assert found.headline() == "depth 2, 2 to 3 of 4 runs contributed, 3 of 3 judgments explained"
    assert found.explanation.endswith(
        "Between 2 and 3 runs contributed, 3 are taken to have: at least 2 of 3 that are needed together."
    )


def test_copies_of_runs_widen_the_range():
    """Five of ten runs have an exact copy, and whether the copy was pooled cannot be known: not 15, but 10 to 15."""
    field = {f"r{i}": {"1": [f"d{i}", f"e{i}"], "2": [f"d{i}"]} for i in range(10)}
    judged = pool_of(field, field, ["1", "2"], {"1": 2, "2": 2})
    field |= {f"copy{i}": field[f"r{i}"] for i in range(5)}
    field |= {f"not{i}": {"1": [f"x{i}"]} for i in range(5)}
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert found.contributor_range == (10, 15)
    assert found.headline() == "depth 2, 10 to 15 of 20 runs contributed, 30 of 30 judgments explained"
    assert "10 to 15 of 20 runs contributed" in repr(found)
    assert found.summary.iloc[0][["least_contributors", "most_contributors"]].tolist() == [10, 15]


def test_no_range_where_there_is_no_doubt():
    field = {"A": {"1": ["a"]}, "B": {"1": ["b"]}, "not": {"1": ["x"]}}
    found = infer_pool(as_runs(field), as_qrels({("1", "a"), ("1", "b")}))
    assert found.contributor_range == (2, 2)
    assert found.headline() == "depth 1, 2 of 3 runs contributed, 2 of 2 judgments explained"
    assert found.explanation == "exact: the pool of these runs is the judged set."


def test_a_covered_run_contributed_where_no_run_is_left_out():
    """That every run was pooled is the simplest record; one run left out, and a covered run is in doubt again."""
    field = {"A": {"1": ["a", "b"]}, "B": {"1": ["c", "d"]}, "covered": {"1": ["a", "c"]}}
    judged = pool_of(field, ["A", "B"], ["1"], {"1": 2})
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert (found.contributors, found.contributor_range) == (["A", "B", "covered"], (2, 3))
    found = infer_pool(as_runs(field | {"not": {"1": ["x"]}}), as_qrels(judged))
    assert (found.contributors, found.contributor_range) == (["A", "B"], (2, 3))
