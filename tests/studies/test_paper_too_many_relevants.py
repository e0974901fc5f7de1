"""What is stored of Too many relevants."""

from __future__ import annotations

from pathlib import Path

import pt_reuse as ptr

STORED = Path(__file__).parents[2] / "docs" / "papers" / "stored"


def test_what_is_stored_holds_no_judgments():
    for folder in STORED.glob("too-many-ranks-*"):
        found = ptr.read_result(folder)
        assert found.table["docno"].tolist() == [str(n) for n in range(1, len(found.table) + 1)]
