"""A small odd field."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.demo.simulated import simulate_field


def odd_field() -> tuple[RunSet, Qrels]:
    """Return runs and judgments of which each has topics that the other lacks.

    A run lacks topics, rows stand in another order than the scores, some labels are -1 and some topics have no
    relevant document, one no judged one.
    """
    field = simulate_field(seed=3, n_topics=9, n_docs=150, n_teams=5, length=25)
    results = field.results.sample(frac=1, random_state=1)
    short = field.run_table["name"].iloc[2]
    results = results[(results["name"] != short) | ~results["qid"].isin(["2", "3"])]
    table = field.run_table
    frames = {name: results.loc[results["name"] == name, ["qid", "docno", "score"]] for name in table["name"]}
    runs = RunSet.from_frames(frames, metadata=table.assign(family=np.arange(len(table)) % 3))
    labels = field.qrels.to_frame()
    labels = labels[labels["qid"] != "5"]
    labels.loc[labels.index[::7], "label"] = -1
    labels.loc[labels["qid"] == "6", "label"] = 0
    labels.loc[labels["qid"] == "7", "label"] = -1
    further = pd.DataFrame({"qid": ["40", "40", "1"], "docno": ["d1", "d2", "nobody-has-it"], "label": [1, 0, 2]})
    return runs, Qrels(pd.concat([labels, further]), topics=["41"])
