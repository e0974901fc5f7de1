"""The figures of coverage and of sensitivity: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from coverage_parts import DEPTHS, POOL_DEPTH, ragged_field
from drawing_parts import check

import pt_reuse as ptr
from pt_reuse.plots.maps import SHADES

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
RUNS, QRELS = ragged_field()


@pytest.fixture(scope="module")
def found():
    return ptr.profile.coverage(RUNS, QRELS, ["nDCG@10", "AP"], depths=DEPTHS, depth=POOL_DEPTH)


@pytest.fixture(scope="module")
def moved():
    return ptr.profile.sensitivity(
        ptr.leave_out_uniques,
        RUNS,
        QRELS,
        ["nDCG@10", "AP"],
        depth=POOL_DEPTH,
        grid={"depth": [1, 3, 5], "contributors": None, "by": ["team", "type"], "remove": None},
    )


def test_the_map_has_a_cell_for_each_run_and_topic(found):
    ax = found.plot("topics", depth=3)
    cells = ax.images[0].get_array()
    assert cells.shape == (len(RUNS), len(QRELS.topics))
    expected = found.per_topic().query("depth == 3")
    shown = expected[expected["documents"] > 0]["unjudged"]
    assert sorted(cells.compressed()) == pytest.approx(sorted(shown))
    # what a run does not return is no share
    assert cells.mask.sum() == (expected["documents"] == 0).sum() > 0
    # by type, and the run with most unjudged on top of each
    names = [text.get_text() for text in ax.get_yticklabels()]
    table = found.by_run.set_index("name").loc[names]
    assert table["type"].tolist() == ["lexical"] * 3 + ["neural"] * 3
    row = expected[(expected["name"] == names[0]) & (expected["documents"] > 0)]["unjudged"]
    assert sorted(cells[0].compressed()) == pytest.approx(sorted(row))
    means = np.array([np.ma.mean(cells[:, t]) for t in range(cells.shape[1])])
    assert (np.diff(means) >= -1e-12).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [said for *_, said in SHADES] + ["no document"]


def test_a_line_for_each_type_and_one_of_the_contributors(found):
    ax = found.plot("depths")
    groups = found.groups[found.groups["by"] == "type"]
    *lines, dotted = ax.get_lines()
    assert len(lines) == 2
    for line in lines:
        values = [found_group["unjudged"].tolist() for _, found_group in groups.groupby("group")]
        assert line.get_ydata().tolist() in values
        assert line.get_xdata().tolist() == [0, 1, 2]
    contributors = found.table[found.table["contributed"]]
    assert dotted.get_ydata() == pytest.approx(contributors.groupby("depth")["unjudged_without_own"].mean())
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "3", "10"]
    assert len(found.plot("depths", by="team").get_lines()) == 4


@pytest.mark.parametrize(("width", "size"), [(3.3, 7), (7, 9)])
def test_figures_are_whole_and_can_be_read_at_both_widths(found, moved, width, size):
    for ax in [
        *(found.plot(kind, width=width) for kind in ("topics", "depths", "residual", "rise")),
        moved.plot(figure="own_tau_b", width=width),
        moved.plot("AP", figure="field_max_drop", width=width),
    ]:
        check(ax, size)
