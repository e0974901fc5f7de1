"""The tables of continuous judging: one row per label, one per topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from pt_reuse.judging.continuous.asking import CAL, Judged
from pt_reuse.judging.continuous.rounds import Rounds
from pt_reuse.judging.continuous.topic_judging import TopicJudging
from pt_reuse.qrels.labelling import PROVENANCE


def labels_table(judged: Iterable[Judged]) -> pd.DataFrame:
    """Return one row per label, in the order in which they were given."""
    rows = [row for batch in judged for row in batch.rows()]
    table = pd.DataFrame(rows, columns=["qid", "docno", "label", *PROVENANCE], dtype=object)
    return table.astype({"label": "int64", "round": "int64"})


def topics_table(topics: Sequence[TopicJudging], rounds: Rounds) -> pd.DataFrame:
    """Return one row per topic: how it ended, and how many judgments it has."""
    counts = {(topic.qid, by_cal): [0, 0] for topic in topics for by_cal in (False, True)}
    n_rounds = dict.fromkeys((topic.qid for topic in topics), 0)
    for batch in rounds.judged:
        labels = [label for label in batch.labels if label is not None and label >= 0]
        tally = counts[batch.qid, batch.strategy == CAL]
        tally[0] += len(labels)
        tally[1] += sum(label >= rounds.rel for label in labels)
        n_rounds[batch.qid] += 1
    return pd.DataFrame(
        [
            {
                "qid": topic.qid,
                "status": topic.decision.status.value,
                "evaluated": rounds.protocol.evaluated(topic.decision.status, topic.progress),
                "rounds": n_rounds[topic.qid],
                "asked": topic.progress.asked,
                "judged": topic.progress.judged,
                "relevant": topic.progress.relevant,
                "density": topic.progress.density if topic.progress.judged else float("nan"),
                "pool_judged": counts[topic.qid, False][0],
                "pool_relevant": counts[topic.qid, False][1],
                "cal_judged": counts[topic.qid, True][0],
                "cal_relevant": counts[topic.qid, True][1],
            }
            for topic in topics
        ]
    )
