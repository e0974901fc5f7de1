"""The figures of judges and families of runs: what stands in the axes."""

from __future__ import annotations

import numpy as np
import pytest
from family_parts import noisy, simulated, with_families
from matplotlib.figure import Figure

import pt_reuse as ptr


@pytest.fixture(scope="module")
def found():
    field = simulated()
    runs = with_families(field, lambda run: {"lexical": "bm25", "neural": "gpt"}.get(run.type))
    judges = {"A": noisy(field, 1), "B": noisy(field, 2, favoured=["neu2a", "neu2b", "neu5a", "neu5b"], share=0.9)}
    families = {"A": "bm25", "B": "gpt"}
    return ptr.labels.family_effect(
        runs, field.all_qrels, judges, ["nDCG@10", "AP"], families=families, caliper=9.0, resamples=50
    )


def axes():
    return Figure(figsize=(7, 4)).subplots()


def said(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("of", ["rank", "score"])
def test_the_map_has_the_effect_of_each_cell_and_a_frame_around_own_ones(found, of):
    ax = found.plot("AP", of=of, ax=axes())
    cells = found.cells("AP")
    (image,) = ax.get_images()
    wide = cells.pivot_table(f"{of}_effect", index="family", columns="judge", sort=False)
    np.testing.assert_allclose(image.get_array(), wide.to_numpy())
    digits = 1 if of == "rank" else 3
    expected = []
    for cell in cells.to_dict("records"):
        off = cell[f"{of}_effect_low"] > 0 or cell[f"{of}_effect_high"] < 0
        number = f"{cell[f'{of}_effect']:+.{digits}f}".replace("-", "−")
        expected.append(number + ("*" if off else ""))
    assert [text.get_text() for text in ax.texts] == expected
    frames = [(patch.get_x() + 0.47, patch.get_y() + 0.46) for patch in ax.patches]
    assert frames == [pytest.approx((0, 0)), pytest.approx((1, 1))]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["A", "B"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["bm25", "gpt"]
    assert said(ax)[:3] == ["gains (+)", "loses (−)", "the judge's own family"]
    equal = ", at equal scores by people" if of == "score" else ""
    gained = "ranks gained" if of == "rank" else "score gained"
    assert " ".join(ax.get_legend().get_title().get_text().split()) == gained + (f" by AP over all other runs{equal}")
    # a gain and a loss as large are as far from white
    assert image.norm.vmin == -image.norm.vmax


@pytest.mark.parametrize("kind", ["map", "forest"])
@pytest.mark.parametrize("width", [3.3, 7])
def test_nothing_is_cut_off(found, kind, width):
    ax = found.plot(kind=kind, width=width)
    ax.figure.canvas.draw()
    page, box = ax.figure.bbox, ax.get_tightbbox()
    assert box.x0 >= page.x0 - 1
    assert box.x1 <= page.x1 + 1
    assert box.y0 >= page.y0 - 1
    assert box.y1 <= page.y1 + 1
    key = ax.get_legend().get_window_extent()
    assert key.y1 <= ax.get_window_extent().y0
