"""Families of runs: a column of metadata, and a unit wherever teams, types and runs are one."""

from __future__ import annotations

import pandas as pd
import pytest
from family_parts import simulated, with_families

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
