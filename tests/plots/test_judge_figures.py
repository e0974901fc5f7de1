"""Figures of judges and annotators: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from drawing_parts import check
from family_parts import noisy, simulated, with_families
from label_parts import judged, labelled, row_of
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import pt_reuse as ptr
from pt_reuse.plots.bars import OUTCOMES
from pt_reuse.plots.sheet import off_screen

HUMAN = judged(n_topics=5)
ODD = "<b>$x_1$ & 50 %</b>"
PEOPLE = {"ann": labelled(HUMAN, seed=4, right=0.9), "bob": labelled(HUMAN, seed=5, right=0.5)}


@pytest.fixture(scope="module")
def found():
    judges = {"graded": labelled(HUMAN), "binary": labelled(HUMAN.threshold(2), right=0.9), ODD: HUMAN}
    return ptr.labels.compare_labels(HUMAN, judges, people=PEOPLE, resamples=30)


def rows_of(ax):
    """Return name -> (value, low, high) of what is drawn in each row."""
    names = {tick: label.get_text() for tick, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}
    lines, dots = {}, {}
    for drawn in ax.collections:
        if hasattr(drawn, "get_segments") and drawn.get_segments():
            lines |= {segment[0][1]: (segment[0][0], segment[1][0]) for segment in drawn.get_segments()}
        else:
            dots |= {y: x for x, y in np.asarray(drawn.get_offsets())}
    return {names[y]: (dots[y], *lines[y]) for y in sorted(names, reverse=True)}


def test_judges_stand_above_other_people_on_the_same_documents(found):
    ax = found.plot(width=3.3)
    rows = rows_of(ax)
    assert list(rows)[1:] == ["binary", "graded", "people together", "ann", "bob"]
    for name, drawn in rows.items():
        if name in PEOPLE or name == "people together":
            row = row_of(found.table, judge=name, items="all", labels="binary")
            assert drawn == pytest.approx(row[["kappa", "kappa_low", "kappa_high"]].tolist())
            continue
        judge = name if name in ("graded", "binary") else ODD
        row = row_of(found.beside, judge=judge, person="people together", labels="binary", figure="kappa")
        assert drawn == pytest.approx(row[["value", "value_low", "value_high"]].tolist())
    full, hollow = (each for each in ax.collections if not hasattr(each, "get_segments"))
    # in black and white a hollow square is told from a full dot
    assert tuple(hollow.get_facecolor()[0][:3]) == to_rgb(ax.get_facecolor())
    assert tuple(full.get_facecolor()[0]) == tuple(full.get_edgecolor()[0])


@pytest.mark.parametrize(("of", "column"), [("label", "of_label"), ("judge_label", "of_judge_label"), ("all", "share")])
@pytest.mark.parametrize("judge", ["graded", "binary"])
def test_each_cell_of_a_confusion_matrix_has_number_and_share(found, judge, of, column):
    ax = found.plot(kind="confusion", judge=judge, of=of, width=3.3)
    rows = found.confusion[found.confusion["judge"] == judge]
    across, down = ([label.get_text() for label in labels] for labels in (ax.get_xticklabels(), ax.get_yticklabels()))
    assert (across, down) == (["0", "1", "2", "3"] if judge == "graded" else ["0", "1"], ["0", "1", "2", "3"])
    cells = {text.get_position()[::-1]: text.get_text() for text in ax.texts}
    assert len(cells) == len(rows) == len(across) * 4
    shades = ax.images[0].get_array()
    for row in rows.to_dict("records"):
        at = down.index(str(row["label"])), across.index(str(row["judge_label"]))
        assert cells[at] == f"{row['n']:,}\n{100 * row[column]:.0f}%"
        assert shades[at] == pytest.approx(row[column])
    lines = [(line.get_xdata(), line.get_ydata()) for line in ax.lines]
    assert [line[1][0] for line in lines[:1]] == [1.5]
    assert [line[0][0] for line in lines[1:]] == [1.5 if judge == "graded" else 0.5]


# the figures of significant pairs by judge, and of runs re-ranked by judges, draw what the tables say

CLAIMED = ptr.demo.simulate_field(seed=7, n_topics=12, n_teams=5)
NOISY = {
    name: ptr.judging.Noisy(CLAIMED.qrels, ptr.judging.flips(share, range(3)), seed=1)
    for name, share in (("sharp", 0.15), ("blunt", 0.6))
}
CLAIMS = ptr.labels.significance_fidelity(CLAIMED.runs, CLAIMED.qrels, NOISY, ["nDCG@10", "AP"], resamples=0)


def drawn(result, **options):
    with off_screen():
        return result.plot(**options)


def test_a_bar_for_each_judge_of_all_outcomes():
    ax = drawn(CLAIMS, measure="AP", width=3.3)
    rows = CLAIMS.table[CLAIMS.table["measure"] == "AP"]
    for container, (column, *_) in zip(ax.containers, OUTCOMES.values(), strict=True):
        assert [bar.get_width() for bar in container] == rows[column].tolist()
    # the first judge on top, the parts end to end
    assert [text.get_text() for text in ax.get_yticklabels()] == ["sharp", "blunt"]
    assert ax.containers[0][0].get_y() > ax.containers[0][1].get_y()
    ends = [bar.get_x() + bar.get_width() for bar in ax.containers[-1]]
    assert ends == rows["pairs"].tolist()
    written = {int(text.get_text().replace(",", "")) for text in ax.texts}
    assert written <= set(rows[[column for column, *_ in OUTCOMES.values()]].to_numpy().ravel().tolist())
    assert rows["agree"].max() in written


def test_a_cell_for_every_two_runs():
    ax = drawn(CLAIMS, kind="pairs", judge="blunt", width=7)
    (image,) = ax.images
    cells = image.get_array()
    mean = ptr.score(CLAIMED.runs, CLAIMED.qrels, "nDCG@10").mean.set_index("name")["nDCG@10"]
    names = mean.round(12).sort_values(ascending=False, kind="stable").index.tolist()
    at = {name: row for row, name in enumerate(names)}
    codes = {outcome: code for code, outcome in enumerate(OUTCOMES)}
    rows = CLAIMS.pairs.query("judge == 'blunt' and measure == 'nDCG@10'")
    for row in rows.to_dict("records"):
        i, j = at[row["first"]], at[row["second"]]
        assert cells[i, j] == cells[j, i] == codes[row["outcome"]]
    assert np.ma.getmaskarray(cells).sum() == len(names)
    assert "blunt" in ax.get_title()
    assert [text.get_text() for text in ax.get_yticklabels()] == names


# the figures of judges and families of runs: what stands in the axes


@pytest.fixture(scope="module")
def families():
    field = simulated()
    runs = with_families(field, lambda run: {"lexical": "bm25", "neural": "gpt"}.get(run.type))
    judges = {"A": noisy(field, 1), "B": noisy(field, 2, favoured=["neu2a", "neu2b", "neu5a", "neu5b"], share=0.9)}
    families = {"A": "bm25", "B": "gpt"}
    return ptr.labels.family_effect(
        runs, field.all_qrels, judges, ["nDCG@10", "AP"], families=families, caliper=9.0, resamples=50
    )


def axes():
    return Figure(figsize=(7, 4)).subplots()


@pytest.mark.parametrize("of", ["rank", "score"])
def test_the_map_has_the_effect_of_each_cell_and_a_frame_around_own_ones(families, of):
    ax = families.plot("AP", of=of, ax=axes())
    cells = families.cells("AP")
    (image,) = ax.get_images()
    wide = cells.pivot_table(f"{of}_effect", index="family", columns="judge", sort=False)
    np.testing.assert_allclose(image.get_array(), wide.to_numpy())
    digits = 1 if of == "rank" else 3
    drawn = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(drawn) == len(cells)
    for cell in cells.to_dict("records"):
        off = cell[f"{of}_effect_low"] > 0 or cell[f"{of}_effect_high"] < 0
        number = f"{cell[f'{of}_effect']:+.{digits}f}".replace("-", "−") + ("*" if off else "")
        assert drawn[list(wide.columns).index(cell["judge"]), list(wide.index).index(cell["family"])] == number
    frames = [(patch.get_x() + 0.47, patch.get_y() + 0.46) for patch in ax.patches]
    assert frames == [pytest.approx((0, 0)), pytest.approx((1, 1))]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["A", "B"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["bm25", "gpt"]
    # a gain and a loss as large are as far from white
    assert image.norm.vmin == -image.norm.vmax


@pytest.mark.parametrize(("kind", "width"), [("map", 3.3), ("forest", 3.3), ("forest", 7)])
def test_nothing_is_cut_off(families, kind, width):
    ax = families.plot(kind=kind, width=width)
    check(ax, 7 if width < 4.5 else 9)
    key = ax.get_legend().get_window_extent()
    assert key.y1 <= ax.get_window_extent().y0
