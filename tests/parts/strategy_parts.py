"""What a strategy asks for, by the two methods of a chooser alone; and one that asks for one thing only."""

from __future__ import annotations

from pt_reuse.pooling.adaptive.bandits import topic_lists
from pt_reuse.pooling.adaptive.strategy import as_strategy


def asked_for(strategy, seed, *, runs, qrels, depth, contributing=None):
    """Return {topic: [(docno, label)]} in the order of judging; documents without a label are passed over."""
    counted = runs.pooled.fillna(True).to_numpy(dtype=bool) if contributing is None else contributing
    labels = {(row.qid, row.docno): row.label for row in qrels.to_frame().itertuples()}
    found = {}
    for lists in topic_lists(runs, depth, counted):
        chooser, order = as_strategy(strategy).start(lists, seed), []
        while (document := chooser.next()) is not None:
            label = labels.get((lists.qid, lists.docnos[document]), -1)
            chooser.learn(document, None if label < 0 else label >= qrels.rel)
            if label >= 0:
                order.append((lists.docnos[document], label))
        found[lists.qid] = order
    return found
