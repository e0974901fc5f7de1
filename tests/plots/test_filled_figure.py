"""The figure of filled holes draws what the table says."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection

import pt_reuse as ptr

FIELD = ptr.simulate_field(seed=7, n_topics=6)
LENIENT = FIELD.all_qrels.to_frame().assign(label=lambda f: (f["label"] + 1).clip(upper=2))


@pytest.fixture(scope="module")
def found():
    return ptr.leave_out_uniques(
        FIELD.runs, FIELD.qrels, ["nDCG@10", "AP"], depth=FIELD.depth, fill={"a": FIELD.qrels, "lenient": LENIENT},
        resamples=20,
    )  # fmt: skip


def points(ax):
    """Return what each of the two kinds of marks shows, the first unit on top."""
    removed, filled = (dots.get_offsets() for dots in ax.collections if isinstance(dots, PathCollection))
    return np.asarray(removed), np.asarray(filled)


@pytest.mark.parametrize("width", [3.3, 7])
def test_a_line_per_unit_from_removed_to_filled(found, width):
    ax = found.plot("AP", kind="fill", judge="lenient", width=width)
    rows = found.filled.query("judge == 'lenient' and measure == 'AP'").sort_values(["removed_change", "team"])
    removed, filled = points(ax)
    assert removed[:, 0].tolist() == rows["removed_change"].tolist()
    assert filled[:, 0].tolist() == rows["filled_change"].tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == rows["team"].tolist()
    assert removed[:, 1].tolist() == filled[:, 1].tolist() == list(range(len(rows)))[::-1]
    segments = np.array(ax.collections[0].get_segments())
    ends = np.sort(np.column_stack([rows["removed_change"], rows["filled_change"], np.zeros(len(rows))]), axis=1)
    np.testing.assert_allclose(segments[:, :, 0], ends[:, [0, -1]])
    for collection, way in zip(ax.collections[1:4:2], ("removed", "filled"), strict=True):
        drawn = np.array(collection.get_segments())[:, :, 0]
        np.testing.assert_allclose(drawn, rows[[f"{way}_change_low", f"{way}_change_high"]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["uniques removed", "filled by lenient"]
    assert "AP" in ax.get_xlabel()
