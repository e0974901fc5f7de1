"""What is in a field, counted: its runs, teams, types, topics and rows."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from pt_reuse._check import count
from pt_reuse.engine.open_field import AnyField
from pt_reuse.runs.metadata import record_in_words


def distinct(column: pd.Series) -> list[str]:
    """Return the distinct values of a column of a table of runs, in order of appearance."""
    return [value for value in dict.fromkeys(column) if value is not None]


def counts_in_words(field: AnyField, table: pd.DataFrame) -> Iterator[str]:
    """Return how many runs, teams, types, topics and rows there are, each in words."""
    yield f"{count(len(table), 'run')} ({record_in_words(table['pooled'])})"
    yield from (count(n, noun) for noun in ("team", "type") if (n := len(distinct(table[noun]))))
    yield count(len(field.topics), "topic")
    yield count(field.n_rows, "row")
