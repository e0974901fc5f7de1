"""Figures of labels by judges beside those of people: what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from label_parts import judged, labelled, row_of
from matplotlib.colors import to_rgb

import pt_reuse as ptr

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


@pytest.mark.parametrize("width", [3.3, 7])
def test_judges_stand_above_other_people_on_the_same_documents(found, width):
    ax = found.plot(width=width)
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
    said = " ".join(ax.get_xlabel().split())
    assert said.startswith("Cohen's kappa, relevant or not; on the documents that other people labelled, too")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["judge", "other people"]
    full, hollow = (each for each in ax.collections if not hasattr(each, "get_segments"))
    # in black and white a hollow square is told from a full dot
    assert tuple(hollow.get_facecolor()[0][:3]) == to_rgb(ax.get_facecolor())
    assert tuple(full.get_facecolor()[0]) == tuple(full.get_edgecolor()[0])


@pytest.mark.parametrize(
    ("of", "column", "said"),
    [
        ("label", "of_label", "of the row"),
        ("judge_label", "of_judge_label", "of the column"),
        ("all", "share", "of all"),
    ],
)
@pytest.mark.parametrize("judge", ["graded", "binary"])
def test_each_cell_of_a_confusion_matrix_has_number_and_share(found, judge, of, column, said):
    ax = found.plot(kind="confusion", judge=judge, of=of, width=3.3)
    rows = found.confusion[found.confusion["judge"] == judge]
    across, down = ([label.get_text() for label in labels] for labels in (ax.get_xticklabels(), ax.get_yticklabels()))
    assert (across, down) == (["0", "1", "2", "3"] if judge == "graded" else ["0", "1"], ["0", "1", "2", "3"])
    cells = {(round(text.get_position()[1] - 0.5), round(text.get_position()[0] - 0.5)): text for text in ax.texts}
    assert len(cells) == len(rows) == len(across) * 4
    shades = ax.collections[0].get_array().reshape(4, len(across))
    for row in rows.to_dict("records"):
        at = down.index(str(row["label"])), across.index(str(row["judge_label"]))
        assert cells[at].get_text() == f"{row['n']:,}\n{100 * row[column]:.0f} %"
        assert shades[at] == pytest.approx(row[column])
        assert cells[at].get_color() == ("white" if row[column] > 0.6 else "black")
    assert f"label of {judge} (in per cent: {said}" in " ".join(ax.get_xlabel().split())
    lines = [(line.get_xdata(), line.get_ydata()) for line in ax.lines]
    assert [line[1][0] for line in lines[:1]] == [2]
    assert [line[0][0] for line in lines[1:]] == [2 if judge == "graded" else 1]
