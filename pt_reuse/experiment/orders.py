"""Whether the systems of an experiment score otherwise in another ranking order than pt.Experiment's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, warn
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.experiment.columns import BOUNDS, ORDER, Asked, Columns, unjudged_to
from pt_reuse.experiment.systems import Systems
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.measures import cutoff_of, native_spec
from pt_reuse.scoring.rescoring import rescore

#: the order in which `score` and the studies rank what nobody orders otherwise
USUAL = BY_SCORE[0]


@dataclass(frozen=True)
class OtherOrder:
    """What the systems score in another order."""

    order: str
    topics: dict[str, int]
    systems: int
    example: str

    def in_words(self) -> str:
        """Return it in the few words of a setting."""
        return f"by {self.order} the scores of {len(self.topics):,} of {count(self.systems, 'system')} are different"

    def warn(self) -> None:
        """Warn of it."""
        equal, what = "", "the order of the runs given"
        if self.order == USUAL:
            equal, what = (
                ", to which different scores may be equal",
                "float64, the default of ptr.score and the studies",
            )
        warn(
            f"pt.Experiment ranks documents by float32 scores (order={ORDER!r}){equal}. In order={self.order!r} "
            f"({what}) the scores of {len(self.topics):,} of {count(self.systems, 'system')} are different: "
            f"{_examples(self.topics)}. {self.example} For the scores in that order use ",
            Call("ptr.score", f"result.runs.reorder({self.order!r}), qrels, measures"),
            ".",
        )


def order_given(systems: Systems) -> str:
    """Return the order in which `score` ranks the systems: that of a RunSet, the usual one of all else."""
    return USUAL if systems.runs is None else systems.runs.order


def tell_other_order(
    columns: Columns,
    runs: RunSet,
    order: str,
    qrels: Qrels,
    measures: Mapping[str, ir_measures.Measure],
    asked: Asked,
) -> Columns:
    """Warn where the systems score otherwise in another order, and return the columns with a setting that says it."""
    known = [(name, m) for name, m in measures.items() if asked.ranked or native_spec(m) is not None]
    if "unjudged" in asked.kinds:
        shares = {unjudged_to(measure): f"{name} unjudged" for name, measure in reversed(list(measures.items()))}
        known += [(name, share) for share, name in shares.items()]
    bounded = [(name, measures[name]) for name in columns.added.get(BOUNDS[0], {})]
    found = other_order(runs, order, qrels, known, bounded, asked.labels)
    if found is None:
        return columns
    found.warn()
    return columns.with_settings({"other order": found.in_words()})


def other_order(
    runs: RunSet,
    order: str,
    qrels: Qrels,
    measures: Sequence[tuple[str, ir_measures.Measure]],
    bounded: Sequence[tuple[str, ir_measures.Measure]] = (),
    labels: NDArray[np.int16] | None = None,
) -> OtherOrder | None:
    """Return what the runs score in another order, None where it is the same."""
    if order == runs.order or not (measures or bounded):
        return None
    ordered = runs.reorder(order)
    cutoffs = [cutoff_of(measure) for _, measure in (*measures, *bounded)]
    deepest = None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)
    moved = _moved(runs, ordered, deepest)
    topics = [topic for topic in qrels.topics if topic in runs.field.topic_row]
    topics = [topic for topic in topics if moved[runs.field.topic_row[topic]].any()]
    if not topics:
        return None
    names = [runs.names[r] for r in np.flatnonzero(moved.any(axis=0))]
    judged, parts = qrels.select(topics), [part.select(names) for part in (runs, ordered)]
    shown = [name for name, _ in measures]
    here, there = (_scores(part, judged, [measure for _, measure in measures]) for part in parts)
    if bounded and (here == there).all():
        # a document without a label has changed places with one of label 0: no score sees it, its bounds may
        shown = [f"{name} {column}" for column in BOUNDS for name, _ in bounded]
        here, there = (_bounds(part, judged, [measure for _, measure in bounded], labels) for part in parts)
    differ = here != there
    if not differ.any():
        return None
    n = differ.any(axis=0).sum(axis=0)
    m, t, r = (int(axis[0]) for axis in np.nonzero(differ))
    example = (
        f"{shown[m]} of {names[r]!r} on topic {judged.topics[t]!r} is {here[m, t, r]:.6f} here and "
        f"{there[m, t, r]:.6f} there."
    )
    return OtherOrder(order, {names[i]: int(n[i]) for i in np.flatnonzero(n)}, len(runs), example)


def _examples(topics: Mapping[str, int]) -> str:
    shown = [f"{examples([name])} on {count(n, 'topic')}" for name, n in list(topics.items())[:3]]
    return ", ".join(shown) + (f" and {len(topics) - 3} more" if len(topics) > 3 else "")


def _moved(runs: RunSet, ordered: RunSet, deepest: int | None) -> NDArray[np.bool_]:
    """Return (topics, runs): which lists have other documents at the top."""
    moved = np.zeros((runs.field.n_topics, runs.field.n_runs), dtype=bool)
    for i, topics in enumerate(runs.field.parts):
        field = runs.field.part(i)
        rows = np.flatnonzero(field.codes != ordered.field.part(i).codes)
        lists = np.searchsorted(field.starts, rows, side="right") - 1
        seen = lists if deepest is None else lists[rows - field.starts[lists] < deepest]
        moved[topics.start + seen // field.n_runs, seen % field.n_runs] = True
    return moved


def _scores(runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure]) -> NDArray[np.float64]:
    values = np.empty((len(measures), len(qrels.topics), len(runs)))
    for block in rescore(runs, qrels, list(measures)):
        values[:, block.topics.start : block.topics.stop] = block.base
    return values


def _bounds(
    runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], labels: NDArray[np.int16] | None
) -> NDArray[np.float64]:
    found = score_bounds(runs, qrels, measures, labels)
    # sums of the same numbers in another order differ in the last bit
    return np.round(np.concatenate([found.low, found.high]), DECIMALS)
