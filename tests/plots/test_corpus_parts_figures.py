"""Figures of parts of a corpus: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from drawing_parts import check

import pt_reuse as ptr

FIELD = ptr.simulate_field(seed=6, n_topics=8, n_docs=120, n_teams=4, length=50, depth=10)
pytestmark = pytest.mark.filterwarnings("ignore:.*no pair of systems:pt_reuse.ReuseWarning")


def study(**options):
    return ptr.profile.subcollections(
        FIELD.runs, FIELD.qrels, ["AP", "P@5"], sources=lambda docno: "xyz"[int(docno[-1]) % 3], **options
    )


@pytest.fixture(scope="module")
def results():
    return {
        "grid": study(),
        "sizes": study(how="random", sizes=[5, 12, 25], repeats=2),
        "shares": study(how="mixed", shares=[0, 0.5, 1], repeats=3),
    }


@pytest.mark.parametrize("width", [3.3, 7])
@pytest.mark.parametrize("name", ["grid", "sizes", "shares"])
def test_figures_are_whole_at_every_width(results, name, width):
    check(results[name].plot(width=width), 7 if width < 4.5 else 9)


@pytest.mark.parametrize("kind", ["agree", "tau_b"])
def test_a_line_for_each_source_against_the_share(results, kind):
    table = results["shares"].table.query("measure == 'P@5'")
    ax = results["shares"].plot(kind, measure="P@5")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y", "z"]
    for name, drawn in zip("xyz", ax.containers, strict=True):
        mine = table[table["source"] == name].sort_values("share")
        middle, errors = (mine[column].to_numpy(dtype=float) for column in (kind, f"{kind}_se"))
        line, _, (bars,) = drawn.lines
        assert line.get_xdata().tolist() == [0, 50, 100]
        assert np.allclose(line.get_ydata().astype(float), middle, equal_nan=True)
        ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
        expected = np.column_stack([middle - errors, middle + errors])
        assert np.allclose(ends, expected[~np.isnan(expected).any(axis=1)])
    assert len({line.get_marker() for line in [drawn.lines[0] for drawn in ax.containers]}) == 3
