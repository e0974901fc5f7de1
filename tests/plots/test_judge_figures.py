"""The figures of significant pairs by judge, and of runs re-ranked by judges, draw what the tables say."""

from __future__ import annotations

import numpy as np
import pytest

import pt_reuse as ptr
from pt_reuse.plots.bars import OUTCOMES
from pt_reuse.plots.sheet import off_screen

FIELD = ptr.simulate_field(seed=7, n_topics=12, n_teams=5)
JUDGES = {
    name: ptr.judging.Noisy(FIELD.qrels, ptr.judging.flips(share, range(3)), seed=1)
    for name, share in (("sharp", 0.15), ("blunt", 0.6))
}
CLAIMS = ptr.labels.significance_fidelity(FIELD.runs, FIELD.qrels, JUDGES, ["nDCG@10", "AP"], resamples=0)


def drawn(result, **options):
    with off_screen():
        return result.plot(**options)


def labels(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("width", [3.3, 7])
def test_a_bar_for_each_judge_of_all_outcomes(width):
    ax = drawn(CLAIMS, measure="AP", width=width)
    rows = CLAIMS.table[CLAIMS.table["measure"] == "AP"]
    for container, (column, *_) in zip(ax.containers, OUTCOMES.values(), strict=True):
        assert [bar.get_width() for bar in container] == rows[column].tolist()
    # the first judge on top, the parts end to end
    assert [text.get_text() for text in ax.get_yticklabels()] == ["sharp", "blunt"]
    assert ax.containers[0][0].get_y() > ax.containers[0][1].get_y()
    ends = [bar.get_x() + bar.get_width() for bar in ax.containers[-1]]
    assert ends == rows["pairs"].tolist()
    assert ax.get_xlabel().replace("\n", " ") == "pairs of runs by AP"
    written = {int(text.get_text().replace(",", "")) for text in ax.texts}
    assert written <= set(rows[[column for column, *_ in OUTCOMES.values()]].to_numpy().ravel().tolist())
    assert rows["agree"].max() in written


@pytest.mark.parametrize("width", [3.3, 7])
def test_a_cell_for_every_two_runs(width):
    ax = drawn(CLAIMS, kind="pairs", judge="blunt", width=width)
    (image,) = ax.images
    cells = image.get_array()
    mean = ptr.score(FIELD.runs, FIELD.qrels, "nDCG@10").mean.set_index("name")["nDCG@10"]
    names = mean.round(12).sort_values(ascending=False, kind="stable").index.tolist()
    at = {name: row for row, name in enumerate(names)}
    codes = {outcome: code for code, outcome in enumerate(OUTCOMES)}
    rows = CLAIMS.pairs.query("judge == 'blunt' and measure == 'nDCG@10'")
    for row in rows.to_dict("records"):
        i, j = at[row["first"]], at[row["second"]]
        assert cells[i, j] == cells[j, i] == codes[row["outcome"]]
    assert np.ma.getmaskarray(cells).sum() == len(names)
    assert "blunt" in ax.get_title()
    if width == 7:
        assert [text.get_text() for text in ax.get_yticklabels()] == names
