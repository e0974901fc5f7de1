"""What prediction-powered scores say, print, draw and save."""

from __future__ import annotations

import few_label_parts as parts
import numpy as np
import pytest


def of(frame, judge="one", measure="nDCG@10"):
    return frame[(frame["judge"] == judge) & (frame["measure"] == measure)].reset_index(drop=True)


def test_the_summary_counts_what_the_tables_hold():
    found = parts.by_topics()
    for row in found.summary.to_dict("records"):
        table, pairs, ranks = (
            of(frame, row["judge"], row["measure"]) for frame in (found.table, found.pairs, found.ranks)
        )
        assert row["reach"] == pytest.approx(np.median(table["estimate_high"] - table["estimate"]))
        assert row["human_reach"] == pytest.approx(np.median(table["human_high"] - table["human"]))
        assert row["n_eff"] == pytest.approx(table["n_eff"].median())
        assert (row["significant"], row["pairs"]) == (pairs["significant"].sum(), 45)
        inside = (table["estimate_low"] <= table["by_judge"]) & (table["by_judge"] <= table["estimate_high"])
        assert row["outside"] == 10 - inside.sum()
        assert row["rank_width"] == pytest.approx((ranks["rank_high"] - ranks["rank_low"]).mean())
    figures = found.key_figures()
    assert figures["figure"][:2].tolist() == ["n_eff, one", "lambda, one"]
    assert figures["value"][0] == found.summary["n_eff"][0]
