"""Labels of people and of judges, made at random, and slow versions of what is said of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pt_reuse.data.judgments import Qrels
from pt_reuse.judge import as_judges
from pt_reuse.studies.judged_fields import compared_labels


def judged(seed=1, *, n_topics=6, n_docs=30, scale=(0, 1, 2, 3), rel=2):
    """Return judgments of people."""
    random = np.random.default_rng(seed)
    rows = [(str(t + 1), f"d{d}", int(random.choice(scale))) for t in range(n_topics) for d in range(n_docs)]
    return Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]), rel=rel)


def labelled(human, seed=2, *, right=0.6, scale=None, gaps=0.0):
    """Return labels of somebody who says the same in a share of the cases; a share of the documents gets none."""
    random = np.random.default_rng(seed)
    frame = human.to_frame()[["qid", "docno", "label"]]
    given = sorted(frame["label"].unique()) if scale is None else scale
    other = random.choice(given, len(frame))
    same = (random.random(len(frame)) < right) & frame["label"].isin(given).to_numpy()
    frame = frame.assign(label=np.where(same, frame["label"], other))
    return Qrels(frame[random.random(len(frame)) >= gaps])


def compared(human, judges, *, rel=None, families=None):
    """Return labels of judges beside those of people."""
    return [compared_labels(human, judge) for judge in as_judges(judges, rel=rel, families=families)]


def meeting(human, judge):
    """Return (qid, docno) -> the labels of people and of a judge, of documents that both labelled."""
    frames = [
        one.to_frame().loc[lambda frame: frame["label"] >= 0, ["qid", "docno", "label"]] for one in (human, judge)
    ]
    both = frames[0].merge(frames[1], on=["qid", "docno"])
    pairs = zip(both["label_x"].tolist(), both["label_y"].tolist(), strict=True)
    return dict(zip(zip(both["qid"], both["docno"], strict=True), pairs, strict=True))


def row_of(table, **wanted):
    """Return the one row of a table that has these values."""
    for column, value in wanted.items():
        table = table[table[column] == value]
    assert len(table) == 1, f"{len(table)} rows have {wanted}"
    return table.iloc[0]
