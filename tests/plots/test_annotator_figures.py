"""Figures of annotators: whole at every width, and what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from annotator_parts import labelled
from drawing_parts import NASTY, check

import pt_reuse as ptr

LABELS = labelled(seed=41, n_annotators=4)
LONG = LABELS.assign(
    annotator=LABELS["annotator"].map(dict(zip(sorted(LABELS["annotator"].unique()), NASTY, strict=False)))
)


@pytest.fixture(scope="module")
def drawn():
    """Return name -> what draws a figure of it."""
    agreement = ptr.judging.annotator_agreement(LONG, gold=ptr.judging.majority_vote(LABELS), rel=2, resamples=40)
    return {
        "pairs": agreement.plot,
        "gold": lambda **how: agreement.plot("gold", labels="binary", **how),
        "relevant": lambda **how: agreement.plot("others", items="relevant", **how),
        "confusion": lambda **how: agreement.plot_confusion(NASTY[0], NASTY[2], **how),
    }


@pytest.mark.parametrize(
    ("name", "width"),
    [("pairs", 3.3), ("pairs", 7), ("confusion", 3.3), ("relevant", 2.5), ("gold", 3.3)],
)
def test_figures_are_whole(drawn, name, width):
    check(drawn[name](width=width), 7 if width < 4.5 else 9)


def test_kappas_are_those_of_the_table_largest_on_top():
    agreement = ptr.judging.annotator_agreement(LABELS, resamples=40)
    ax = agreement.plot()
    rows = agreement.pairs[(agreement.pairs["items"] == "all") & (agreement.pairs["labels"] == "grades")]
    points = np.asarray(ax.collections[1].get_offsets())
    assert points[:, 0].tolist() == sorted(rows["kappa"], reverse=True)
    assert points[:, 1].tolist() == [5, 4, 3, 2, 1, 0]
    ends = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    best = rows.sort_values("kappa", ascending=False).iloc[0]
    assert ends[0] == [best["kappa_low"], best["kappa_high"]]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels[0] == f"{best['first']} - {best['second']}"
    assert sorted({line.get_xdata()[0] for line in ax.get_lines()}) == [0.4, 0.6, 0.8]


def test_a_confusion_matrix_has_the_numbers_of_the_table():
    agreement = ptr.judging.annotator_agreement(LABELS, resamples=0)
    ax = agreement.plot_confusion("ann0", "ann1")
    matrix = agreement.confusion_of("ann0", "ann1")
    for note in ax.texts:
        column, row = (int(at) for at in note.get_position())
        assert note.get_text() == str(matrix.iloc[row, column])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2", "3"]
    assert ax.get_xlabel() == "label of ann1"
