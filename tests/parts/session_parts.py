"""A small strategy, judges and fields for sessions, and what judging them slowly gives."""

from __future__ import annotations

import json

import pandas as pd

from pt_reuse.judge import Judge
from pt_reuse.pooling.adaptive.bandits import Chooser


class Greedy(Chooser):
    """Stays with the run that found most; its choice hangs on chance and on all labels before it."""

    name = "greedy"

    def __init__(self, topic, random, *, greed=0.5):
        super().__init__(topic, random)
        self.greed = greed
        self.found = [0] * topic.n_runs

    def choose(self):
        runs = [run for run in range(self.topic.n_runs) if any(self.left[self.topic.list_of(run)])]
        best = max(runs, key=lambda run: self.found[run])
        run = best if self.random.random() < self.greed else runs[self.random.integers(len(runs))]
        return next(doc for doc in self.topic.list_of(run).tolist() if self.left[doc])

    def observe(self, document, relevant):
        for run in self.topic.runs_of[document]:
            self.found[run] += 1 if relevant else -1

    def reason(self, document):
        return f"of {len(self.topic.runs_of[document])} runs"


class Watched(Judge):
    """Looks labels up, keeps what it was asked, and stops or fails after so many documents."""

    def __init__(self, labels, stop_after=None, error=KeyboardInterrupt):
        super().__init__("watched")
        self.labels, self.stop_after, self.error = labels, stop_after, error
        self.asked, self.calls = [], []

    def labels_of(self, pairs):
        self.calls.append(pairs)
        found = []
        for qid, docno in zip(pairs["qid"], pairs["docno"], strict=True):
            if self.stop_after is not None and len(self.asked) >= self.stop_after:
                raise self.error
            self.asked.append((qid, docno))
            found.append(self.labels.get(qid, {}).get(docno))
        return found


def records_in(path):
    """Return the records of a journal, without a last line that a kill tore."""
    lines = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [json.loads(line) for line in lines[1:]]


def told_of(qrels):
    """Return judgments but for the moments at which they were given."""
    return qrels.to_frame().drop(columns="time")


def same(one, other):
    pd.testing.assert_frame_equal(told_of(one), told_of(other))
    assert (one.topics, one.rel) == (other.topics, other.rel)


def in_turns(orders, most, total=None):
    """Return (topic, document) in the order of rounds: one document of each topic a round, within the budgets."""
    asked, depth = [], max(most.values(), default=0)
    for n in range(depth):
        asked += [(qid, order[n]) for qid, order in orders.items() if n < min(most[qid], len(order))]
    return asked[:total]
