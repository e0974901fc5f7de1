"""An inferred pool as a result: what it shows, saves and draws, and how it compares with the record."""

from __future__ import annotations

import re

import pandas as pd
from pool_parts import (
    HAND,
    as_qrels,
    as_runs,
    hand,
    pool_of,
)

from pt_reuse.demo.simulated import simulate_field
from pt_reuse.studies.pool_inference.inference import infer_pool
from pt_reuse.studies.pool_inference.search import TOLERANCES


def test_by_rank_is_of_the_runs_judged_as_deep():
    found = infer_pool(*hand())
    # A, B, the twins and 'lucky', which is covered; 'lucky' and 'B' end or go wrong first
    assert found.by_rank["entries"].tolist() == [10, 9, 8, 4]
    assert found.by_rank["other_entries"].tolist() == [2, 1, 1, 0]
    deeper = infer_pool(as_runs({"A": {"1": ["a", "b", "c"]}}), as_qrels({("1", "a"), ("1", "c")}))
    assert deeper.unexplained["origin"].tolist() == ["below the depth"]


def test_covered_runs_and_groups_are_named_and_shown_first():
    runs, qrels = hand(pooled=["A", "B", "twin1"])
    found = infer_pool(runs, qrels)
    assert repr(found) == (
        "Inferred pool: depth 3, 3 to 5 of 6 runs contributed, 9 of 9 judgments explained. "
        "exact: the pool of these runs is the judged set. Between 3 and 5 runs contributed, 4 are taken to have: "
        "2 are needed, at least 1 of 2 that are needed together, 1 is covered. "
        "covered: 'lucky'. needed together: 'twin1', 'twin2'. "
        "[depth=3 (inferred), tolerance=0.0, order=trec_eval, tried=1, topics=2, judged=any label, "
        "record=3 of 6 runs pooled]"
    )
    lines = str(found).split("\n")
    assert max(map(len, lines)) <= 100
    assert " ".join(lines[1:3]) == found.explanation
    assert lines[3:5] == ["covered: 'lucky'", "needed together: 'twin1', 'twin2'"]
    assert " ".join(lines[5:7]) == (
        "to go on: runs.with_metadata(pooled=found.contributors), with depth=3, pool_order='trec_eval' in studies and "
        "when reading runs"
    )
    assert [line.split()[0] for line in lines[-6:]] == ["lucky", "twin1", "twin2", "A", "B", "not"]
    page = found._repr_html_()
    for text in (
        found.explanation,
        "covered: &#x27;lucky&#x27;",
        "needed together: &#x27;twin1&#x27;, &#x27;twin2&#x27;",
    ):
        assert text in page
    assert "&lt;NA&gt;" not in page
    assert page.index(">lucky<") < page.index(">twin2<") < page.index(">B<")


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


# the record


def test_who_was_pooled_is_not_on_record():
    found = infer_pool(*hand())
    assert found.table["pooled"].isna().all()
    assert found.confusion.drop(columns="pooled").to_dict("records") == [
        {"needed": 2, "needed together": 2, "covered": 1, "not pooled": 1, "no documents": 0},
    ]
    assert found.confusion["pooled"].isna().tolist() == [True]
    assert found.settings["record"] == "not on record"
    heading = next(line for line in str(found).split("\n") if line.startswith("name "))
    assert "pooled" not in heading.split()
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


def test_every_column_and_every_default_is_documented():
    field = simulate_field(seed=7, n_topics=3)
    found = infer_pool(field.runs, field.qrels)
    text = type(found).__doc__
    tables = {"summary": found.summary, "tried": found.tried, "by_topic": found.by_topic, "by_rank": found.by_rank}
    unsaid = [f"{at}.{name}" for at, table in tables.items() for name in table if not re.search(rf"\b{name}\b", text)]
    assert not unsaid
    said = re.search(r"None \(default\) tries ([^a]*) and (\S+),", infer_pool.__doc__)
    assert [float(number) for number in (*said[1].split(","), said[2])] == list(TOLERANCES)
