from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pandas as pd
import pytest

from pt_reuse.columns import Table
from pt_reuse.result import Result


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Found(Result):
    """A result with a second table."""

    title: ClassVar[str] = "Found"
    parts: pd.DataFrame

    def tables(self):
        return {"table": self.table, "parts": self.parts}


@pytest.fixture
def result():
    table = pd.DataFrame({"name": [f"run<{i}>" for i in range(10)], "tau_b": [i / 3 for i in range(10)]})
    return Found(table=table, settings={"depth": 100, "by": "<team>"}, parts=pd.DataFrame({"a": [1, 2]}))


def test_it_shows_title_answer_first_rows_and_where_settings_are(result):
    assert repr(result) == "Found: 10 rows"
    lines = str(result).splitlines()
    assert lines[:2] == ["Found", "10 rows"]
    assert lines[2].split() == ["name", "tau_b"]
    assert lines[3].split() == ["run<0>", "0.0000"]
    assert lines[-2:] == ["... and 2 more rows in .table", "Settings: result.settings (2)"]
    assert len(lines) == 3 + 8 + 2


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OfJudges(Result):
    """A result of which each report is of one judge."""

    table: Annotated[
        pd.DataFrame, Table("judge and run", "judge family name score", "name score", select={"judge": None})
    ]


@pytest.mark.parametrize("judges", [["a", "a"], ["a", "b"]])
def test_it_shows_what_tells_rows_apart_and_no_empty_column(judges):
    table = pd.DataFrame({"judge": judges, "family": None, "name": ["x", "y"], "score": [0.5, 0.25]})
    columns = ["judge"] * (judges[1] == "b") + ["name", "score"]
    assert str(OfJudges(table=table, settings={})).splitlines()[2].split() == columns
