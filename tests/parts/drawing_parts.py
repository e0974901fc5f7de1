"""What a figure must be whatever is drawn: nothing cut off, nothing on top of another, letters that can be read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

NASTY = ("$x_1$ & <b>", "_hidden_100%", "back\\slash#~^{}", "Ünï-çødé Ω", "W" * 60, "  two\nlines ", "plain")
#: rounding of places to pixels
SLACK = 1.0


def names(n, what="run"):
    return [f"{NASTY[i % len(NASTY)]}-{what}{i}" for i in range(n)]


def by_run(n=129, teams=40, *, change="some", types=True, seed=1):
    """Return a `by_run` table of leave-out-uniques for two measures."""
    random = np.random.default_rng(seed)
    frames = []
    for measure in ("AP", "nDCG(dcg='exp-log2')@10"):
        score = random.uniform(0.05, 0.6, n)
        loss = {"some": random.exponential(0.01, n), "none": np.zeros(n), "gain": -random.exponential(0.01, n)}[change]
        frame = pd.DataFrame({"name": names(n), "measure": measure, "score": score, "reduced_score": score - loss})
        unit = random.integers(0, teams, n)
        frame["team"] = [names(teams, "team")[u] for u in unit]
        frame["type"] = [["lexical", "neural", "manual"][u % 3] if types else None for u in unit]
        frame["drop"] = random.integers(-2, 5, n)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def changes(n=129, teams=40, **how):
    """Return a `changes` table of an Agreement."""
    return by_run(n, teams, **how).rename(columns={"reduced_score": "other_score"})


def units(n=40, column="team"):
    """Return a `table` of leave-out-uniques."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame({column: names(n, column), "measure": "AP", "max_drop": random.integers(0, 30, n)})
    frame["tau_b"] = random.uniform(0.8, 1, n)
    return frame.assign(
        dropped=[name if drop else None for name, drop in zip(names(n), frame["max_drop"], strict=True)]
    )


def ranks(n=200, others=True):
    """Return a `by_rank` table of an inferred pool."""
    rank = np.arange(1, n + 1)
    judged = np.where(rank <= n // 2, 1.0, 0.6 - rank / (5 * n))
    other = np.where(rank < n, 0.9 - rank / (2 * n), np.nan) if others else np.full(n, np.nan)
    new = np.where(rank <= n // 2, 1.0, 0.0)
    return pd.DataFrame({"rank": rank, "judged": judged, "new_judged": new, "other_judged": other})


def depths(*values):
    """Return a `by_topic` table of an inferred pool."""
    return pd.DataFrame({"qid": [str(i) for i in range(len(values))], "depth": values})


def box(artist):
    return artist.get_window_extent()


def shown_ticks(axis):
    """Return the tick labels that are seen."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in axis.get_major_ticks() if tick.label1.get_text() and low <= tick.get_loc() <= high]


def texts(ax):
    """Return every text of the axes that is seen, by what it is."""
    legend = ax.get_legend()
    found = {
        "title": [ax.title],
        "label": [ax.xaxis.label, ax.yaxis.label, ax.xaxis.get_offset_text(), ax.yaxis.get_offset_text()],
        "x tick": shown_ticks(ax.xaxis),
        "y tick": shown_ticks(ax.yaxis),
        "legend": [*legend.get_texts(), legend.get_title()] if legend else [],
        "note": list(ax.texts),
    }
    return {what: [text for text in all_ if text.get_text()] for what, all_ in found.items()}


def within(inner, outer, slack=SLACK):
    across = outer.x0 - slack <= inner.x0 and inner.x1 <= outer.x1 + slack
    return across and outer.y0 - slack <= inner.y0 and inner.y1 <= outer.y1 + slack


def overlaps(one, other, slack=SLACK):
    return (
        min(one.x1, other.x1) - max(one.x0, other.x0) > slack and min(one.y1, other.y1) - max(one.y0, other.y0) > slack
    )


def check(ax, size):
    """Assert that a figure is whole and can be read, with letters of that size in points."""
    figure = ax.figure.canvas.figure
    figure.draw_without_rendering()
    page, found = figure.bbox, texts(ax)
    whole, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(whole.x0, whole.y0, width - whole.x1, height - whole.y1) > 0.02, whole
    for what, all_ in found.items():
        for text in all_:
            assert within(box(text), page), (what, text.get_text(), box(text))
            assert text.get_fontsize() == size, (what, text.get_text())
    for what in ("x tick", "y tick"):
        for one, other in pairwise(found[what]):
            assert not overlaps(box(one), box(other)), (what, one.get_text(), other.get_text())
    frame = box(ax)
    parts = {"axes": frame, "x axis": ax.xaxis.get_tightbbox(), "y axis": ax.yaxis.get_tightbbox()}
    parts = {what: place for what, place in parts.items() if place is not None}
    if found["title"]:
        parts["title"] = box(ax.title)
    if ax.get_legend():
        parts["legend"] = box(ax.get_legend())
    for outer in ("title", "legend"):
        for other in {*parts} - {outer} if outer in parts else ():
            assert not overlaps(parts[outer], parts[other]), (outer, other)
    for i, note in enumerate(found["note"]):
        place = box(note)
        # a column of notes may stand right of the axes
        beside = note.get_position()[0] > 0 and place.x0 >= frame.x1
        assert beside or within(place, frame, 3 * SLACK), note.get_text()
        for other in found["note"][:i]:
            assert not overlaps(place, box(other)), (note.get_text(), other.get_text())
    return found


# relevant documents


def saturation(n=53, runs=63):
    """Return the `table` of a Saturation of one measure, and the scores of each topic."""
    random = np.random.default_rng(5)
    scores = [np.clip(random.normal(level, 0.25, runs), 0, 1) for level in np.linspace(0, 1.2, n)]
    table = pd.DataFrame(
        {
            "qid": names(n, "topic"),
            "median": [float(np.median(of)) for of in scores],
            "mean": [float(of.mean()) for of in scores],
        }
    )
    return table.assign(saturated=table["median"] >= 1), scores
