"""Which topics count: those that runs and judgments share, and means over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet


def mean_over_topics(values: NDArray[np.float64], has_topic: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Average (..., topics, runs) over the topics: all of them, or those that `has_topic` (topics, runs) marks."""
    if has_topic is None:
        return values.sum(axis=-2) / max(values.shape[-2], 1)
    return np.where(has_topic, values, 0.0).sum(axis=-2) / np.maximum(has_topic.sum(axis=0), 1)


def topics_of_runs(runs: RunSet, qrels: Qrels) -> NDArray[np.bool_]:
    """Return (topics of the qrels, runs): whether the run has documents for the topic."""
    rows = [runs.field.topic_row.get(topic, -1) for topic in qrels.topics]
    has = np.zeros((len(runs.field.topics) + 1, len(runs)), dtype=np.bool_)
    np.greater(runs.field.lengths, 0, out=has[:-1])
    return has[rows]


def check_topics(runs: RunSet, qrels: Qrels) -> None:
    """Raise when a run has no topic in common with the qrels."""
    has = np.asarray(topics_of_runs(runs, qrels).any(axis=0))
    if has.all():
        return
    lost = [name for name, some in zip(runs.names, has, strict=True) if not some]
    row = runs.row(lost[0])
    mine = [topic for topic, n in zip(runs.topics, runs.field.lengths[:, row].tolist(), strict=True) if n]
    stripped = {topic.lstrip("0") or "0" for topic in qrels.topics}
    padded = any((topic.lstrip("0") or "0") in stripped for topic in mine)
    hint = "They differ in leading zeros only: write the ids alike." if padded else "Are these the qrels of this track?"
    raise InputError(
        f"{count(len(lost), 'run')} without any topic of the qrels: {examples(lost)}. Run {lost[0]!r} has "
        f"the topics {examples(mine) or 'none'}, the qrels {examples(qrels.topics)}. {hint}",
        argument="runs",
    )


def check_every_topic(
    names: Sequence[str], has_topic: NDArray[np.bool_], argument: str = "scores", *, what: str = "A test of pairs"
) -> None:
    """Raise where a run lacks a topic, in means over the topics of each run, and something needs every score."""
    has = np.asarray(has_topic.all(axis=0))
    if has.all():
        return
    lacking = [run for run, every in zip(names, has.tolist(), strict=True) if not every]
    raise InputError(
        f"{count(len(lacking), 'run')} without some of the topics: {examples(lacking)}. {what} needs "
        "a score of every run on every topic; score with ",
        Option("complete", True),
        ", where a topic that a run lacks counts 0, or on the topics that all runs have.",
        argument=argument,
    )
