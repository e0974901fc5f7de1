"""Families of runs: a column of metadata, and a unit wherever teams, types and runs are one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from family_parts import simulated, with_families
from matplotlib.figure import Figure

import pt_reuse as ptr
from pt_reuse.data.units import described

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def field():
    return simulated()


@pytest.fixture(scope="module")
def runs(field):
    """Return runs whose families are their types, under the same names."""
    return with_families(field, lambda run: run.type)


def as_family(frame):
    return frame.rename(columns={"type": "family"})


def test_the_column_comes_from_metadata_of_any_kind(field, tmp_path):
    given = pd.DataFrame({"name": ["neu2a", "neu2b", "lex1a"], "family": ["gpt", " gpt ", ""]})
    given.to_csv(tmp_path / "runs.csv", index=False)
    for metadata in (given, tmp_path / "runs.csv", given.set_index("name")):
        runs = field.runs.with_metadata(metadata=metadata)
        families = dict(zip(runs.names, runs.run_table["family"], strict=True))
        assert {name: family for name, family in families.items() if family is not None} == {
            "neu2a": "gpt",
            "neu2b": "gpt",
        }
        assert runs.families == ["gpt"]
    # an empty cell takes nothing away from what was known
    again = runs.with_metadata(metadata=pd.DataFrame({"name": ["neu2a", "lex1a"], "family": [None, "bm25"]}))
    assert again.run_table.set_index("name")["family"][["neu2a", "neu2b", "lex1a"]].tolist() == ["gpt", "gpt", "bm25"]
    assert field.runs.families == []
    assert "family" not in field.runs.run_table


def test_whole_numbers_are_families_under_their_own_names(field):
    given = pd.DataFrame({"name": ["neu2a", "neu2b", "lex1a"], "family": [1, 1, None], "team": [7, None, 8.5]})
    table = field.runs.with_metadata(metadata=given).run_table.set_index("name").loc[given["name"]]
    assert table["family"].tolist() == ["1", "1", None]
    assert table["team"].tolist() == ["7", "team-2", "8.5"]


def test_a_family_stays_in_selections_unions_and_files(field, runs, tmp_path):
    some = runs.select(["neu2a", "lex1a"])
    assert some.families == ["lexical", "neural"]
    assert runs.select(family="neural").names == field.runs.select(type="neural").names
    both = some | field.runs.select(["man3a"])
    assert both.run_table["family"].tolist() == ["lexical", "neural", None]
    assert described(both.run_table).columns.tolist() == ["name", "team", "type", "pooled", "family"]
    assert described(field.runs.run_table).columns.tolist() == ["name", "team", "type", "pooled"]
    runs.write(tmp_path / "r")
    read = ptr.read_runs(tmp_path / "r", metadata=runs.run_table[["name", "family"]])
    assert set(read.families) == {"lexical", "neural", "manual"}


def test_units_are_those_of_types(runs):
    family, kind = runs.units("family"), runs.units("type")
    assert (family.by, family.column, family.names) == ("family", "family", kind.names)
    np.testing.assert_array_equal(family.of_run, kind.of_run)


def test_leave_out_uniques_is_that_of_types(field, runs):
    one, other = (ptr.leave_out_uniques(runs, field.qrels, ["AP", "P@5"], by=by, depth=5) for by in ("family", "type"))
    np.testing.assert_array_equal(one.reduced, other.reduced)
    pd.testing.assert_frame_equal(one.table, as_family(other.table))
    pd.testing.assert_frame_equal(one.unique_counts, as_family(other.unique_counts))
    pd.testing.assert_frame_equal(one.whole_field(), as_family(other.whole_field()))
    assert one.by_run["family"].tolist() == one.by_run["type"].tolist()
    assert one.report().columns[0].values is not None
    ax = one.plot(ax=Figure().subplots())
    assert ax.get_ylabel().endswith("without the uniques of its own family")
    assert one.plot_drops(ax=Figure().subplots()).get_xlabel().endswith("without the family")
    of_teams = ptr.leave_out_uniques(runs, field.qrels, "AP", depth=5)
    assert len(of_teams.plot(by="family", ax=Figure().subplots()).collections) == 3


def test_pools_know_families(runs):
    pool = ptr.depth_pool(runs, depth=3)
    pd.testing.assert_frame_equal(pool.uniques(by="family"), as_family(pool.uniques(by="type")))
    without, same = pool.without(family="neural"), pool.without(type="neural")
    pd.testing.assert_frame_equal(without.to_frame(), same.to_frame())
    assert without.settings["without_family"] == "neural"


def test_other_studies_take_a_family_as_a_unit(field, runs):
    found, of_types = (ptr.pools.found_by_depth(runs, field.qrels, by=by, depths=4) for by in ("family", "type"))
    pd.testing.assert_frame_equal(found.table, as_family(of_types.table))
    one, other = (ptr.profile.coverage(runs, field.qrels, "AP", by=by, depth=5) for by in ("family", "type"))
    pd.testing.assert_series_equal(one.table["unjudged_without_own"], other.table["unjudged_without_own"])
    assert (one.left_out, one.by_run["family"].tolist()) == ("family", one.by_run["type"].tolist())
    options = {"budgets": 1, "measures": "AP", "depth": 3, "repeats": 1}
    one, other = (
        ptr.pools.compare_strategies(runs, field.qrels, "rank", leave_out=by, **options).left_out
        for by in ("family", "type")
    )
    pd.testing.assert_frame_equal(one, other)
    teams = with_families(field, lambda run: run.team)
    options = {"measures": "AP", "pools": "lexical", "contributors": "all", "depth": 5, "splits": "all"}
    one, other = (ptr.by_type(teams, field.all_qrels, unit=unit, **options).table for unit in ("family", "team"))
    pd.testing.assert_frame_equal(one, other)


def test_an_experiment_takes_systems_that_know_their_family(field, runs, messages):
    topics = pd.DataFrame({"qid": field.runs.topics, "query": "q"})
    systems, official = runs.select(["neu2a"]), runs.select([name for name in runs.names if name != "neu2a"])
    options = {"field": official, "reuse": ["lou"], "depth": 5, "pooled": True}
    one, other = (ptr.Experiment(systems, topics, field.qrels, ["AP"], by=by, **options) for by in ("family", "type"))
    assert one["AP LOU"].tolist() == other["AP LOU"].tolist()
    bare = {"neu2a": field.runs["neu2a"]}
    messages.refused(lambda: ptr.Experiment(bare, topics, field.qrels, ["AP"], by="family", **options), argument="by")


def test_runs_without_a_family_are_told(field, messages):
    some = with_families(field, lambda run: "gpt" if run.type == "neural" else None)
    for runs in (field.runs, some):
        messages.refused(lambda runs=runs: ptr.leave_out_uniques(runs, field.qrels, "AP", by="family"), argument="by")
    lou = ptr.leave_out_uniques(field.runs, field.qrels, "AP", depth=5)
    messages.refused(lambda: lou.plot(by="family"), argument="by")
    messages.refused(lambda: field.runs.select(family="gpt"), argument="family")
    messages.refused(lambda: some.select(family="gtp"), argument="family")
    messages.refused(lambda: ptr.depth_pool(some, depth=2).without(family="bm25"), argument="family")
