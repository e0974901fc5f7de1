"""`pt-reuse demo`: its tables, as the screen shows them and as they are written."""

from __future__ import annotations

import pytest

from pt_reuse._text import table as text_table
from pt_reuse.demo.walk import SUBJECTS, answer, narrate


@pytest.fixture(scope="module")
def told():
    pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    return dict(zip(SUBJECTS, narrate(answer()), strict=True))


def test_every_table_stands_in_one_block_on_a_terminal_of_80_columns(told):
    for subject, part in told.items():
        lines = text_table(part.shown, width=80).splitlines()
        assert max(map(len, lines)) <= 80
        assert "" not in lines, subject
        assert len(part.shown) == len(part.table)


def test_an_interval_is_one_column_and_in_the_files_two(told):
    shares, leads = told["lexical-pool"], told["leads"]
    for shown, row in zip(shares.shown.to_dict("records"), shares.table.to_dict("records"), strict=True):
        assert shown["95 % interval"] == f"{row['low']:.2f} to {row['high']:.2f}"
        assert shown["share"] == f"{row['relevant'] / row['unjudged']:.2f}"
        assert shown["unjudged"] == f"{row['unjudged']} of {row['top']}"
    for shown, row in zip(leads.shown.to_dict("records"), leads.table.to_dict("records"), strict=True):
        assert shown["95 % interval"] == f"{row['change_low']:.4f} to {row['change_high']:.4f}"
        assert shown["lead under the pool"] == row["pool_lead"]
    assert list(shares.table)[-5:] == ["unjudged", "relevant", "share", "low", "high"]
