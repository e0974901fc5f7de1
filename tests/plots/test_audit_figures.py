"""Figures of rankings under judges: whole at every width, and what they draw is what the tables say."""

from __future__ import annotations

import numpy as np
import pytest
from audit_parts import FIELD, RUNS, as_frame, relabelled
from drawing_parts import NASTY, check

import pt_reuse as ptr

JUDGES = {name: as_frame(relabelled(n, share=0.5)) for n, name in enumerate((*NASTY[:4], "plain"))}
PEOPLE = {"ann": as_frame(relabelled(9, share=0.2)), NASTY[4]: as_frame(relabelled(10, share=0.2))}


@pytest.fixture(scope="module")
def found():
    frames = {f"{NASTY[n % 6]}{n}": RUNS[name] for n, name in enumerate(RUNS.names)}
    types = {name: NASTY[n % 3] for n, name in enumerate(frames)}
    runs = ptr.RunSet.from_frames(frames, types=types)
    return ptr.audit_labels(runs, FIELD.qrels, JUDGES, ["AP", "nDCG@5"], people=PEOPLE, resamples=20)


@pytest.mark.parametrize(("kind", "width"), [("agreement", 3.3), ("scores", 3.3), ("ranks", 3.3), ("ranks", 7)])
def test_figures_are_whole(found, kind, width):
    judge = None if kind == "agreement" else NASTY[0]
    options = {} if kind == "agreement" else {"judge": judge}
    check(found.plot(kind=kind, width=width, **options), 7 if width < 4.5 else 9)


def test_taus_are_those_of_the_table_judges_first(found):
    ax = found.plot("nDCG@5")
    rows = found.table[(found.table["measure"] == "nDCG@5") & (found.table["by"] == "all")]
    models, people = (rows[rows["kind"] == kind].sort_values("tau_b", ascending=False) for kind in ("model", "people"))
    for lines, dots, mine in ((*ax.collections[:2], models), (*ax.collections[2:], people)):
        assert np.asarray(dots.get_offsets())[:, 0].tolist() == mine["tau_b"].tolist()
        ends = sorted(segment[:, 0].tolist() for segment in lines.get_segments())
        assert ends == sorted(mine[["tau_b_low", "tau_b_high"]].to_numpy().tolist())
    assert np.asarray(ax.collections[1].get_offsets())[:, 1].tolist() == [6, 5, 4, 3, 2]
    assert len(ax.get_legend().get_texts()) == 2
    assert "nDCG@5" in ax.get_xlabel()
