"""Measures that ir_measures computes, under many judgment sets: what is converted is converted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._errors import InputError
from pt_reuse.arrays import tokens
from pt_reuse.arrays.cells import UNJUDGED, Cells
from pt_reuse.arrays.field import Field
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import Judgments
from pt_reuse.data.judgments import Qrels
from pt_reuse.scoring.inferred import check_sampled

#: judgments as a provider takes them: {topic: {document: label}}, or a frame with ir_measures' columns
Given: TypeAlias = "dict[str, dict[str, int]] | pd.DataFrame"
#: what bytes that are not UTF-8 become, one character each: trec_eval crashes on surrogates
_NOT_UTF8 = {0xDC00 + byte: chr(0x10FE00 + byte) for byte in range(0x80, 0x100)}


@dataclass(frozen=True)
class _Set:
    """One judgment set on the topics that it changes: an evaluator for each measure, and the cell of each topic."""

    cell_of_topic: Mapping[str, int]
    evaluators: Sequence[Any]


class Provided:
    """Scores a field by ir_measures."""

    def __init__(
        self,
        field: AnyField,
        names: Sequence[str],
        qrels: Qrels,
        measures: Sequence[ir_measures.Measure],
    ):
        self.names, self.field, self.measures = names, field, list(measures)
        self.documents = qrels.arrays.documents
        self._docnos = _as_utf8(self.documents.docnos())
        frame = pt.model.to_ir_measures(qrels.to_frame())
        for measure in self.measures:
            check_sampled(measure, frame)
        # what a measure may ask of judgments beyond their labels stands in further columns
        self._frame = frame if qrels.arrays.extra is not None else None
        if self._frame is not None:
            self._frame = self._frame.assign(
                query_id=_as_utf8(self._frame["query_id"].to_numpy(dtype=object)), doc_id=self._docnos
            )
        self._topics = _as_utf8(np.array([*self.documents.topics, None], dtype=object)[:-1])

    def score(self, topics: range, judgments: Judgments, cells: Cells, *, verbose: bool = False) -> NDArray[np.float64]:
        """Return (measures, cells, runs): first these topics under the base set, then the changed cells."""
        values = np.empty((len(self.measures), len(cells), len(self.names)))
        for m, measure in enumerate(self.measures):
            values[m] = getattr(measure, "DEFAULT", 0.0)
        names = {self.documents.topics[t]: self._topics[t] for t in topics}
        sets = list(self._sets(topics, judgments, cells))
        run_names = pt.tqdm(self.names, desc="ir_measures", unit="run", disable=not verbose)
        for r, (name, ranking) in enumerate(zip(run_names, _rankings(self.field, names), strict=True)):
            for one in sets:
                mine = {topic: ranking[topic] for topic in one.cell_of_topic if topic in ranking}
                for m, evaluator in enumerate(one.evaluators):
                    if not mine and not hasattr(self.measures[m], "runtime_impl"):
                        continue  # not every provider takes a run without topics
                    for metric in self._evaluate(m, evaluator, mine, name):
                        cell = one.cell_of_topic.get(metric.query_id)
                        if cell is not None:
                            values[m, cell, r] = metric.value
        return values

    def _sets(self, topics: range, judgments: Judgments, cells: Cells) -> Iterator[_Set]:
        """Yield the base set on all topics, then each further one on those that it changes."""
        yield self._set(topics, judgments, judgments.labels, list(topics))
        changed = np.arange(cells.n_topics, len(cells))
        for s in np.unique(cells.set).tolist():
            mine = judgments.changes.in_set == s
            labels = judgments.labels.copy()
            labels[judgments.changes.row[mine]] = judgments.changes.label[mine]
            at = changed[cells.set == s]
            found = self._set(topics, judgments, labels, (cells.topic[at] + topics.start).tolist())
            yield _Set(dict(zip(found.cell_of_topic, at.tolist(), strict=True)), found.evaluators)

    def _set(self, topics: range, judgments: Judgments, labels: NDArray[np.int16], wanted: Sequence[int]) -> _Set:
        names = [self._topics[t] for t in wanted]
        kept, by_topic = [], {}
        first, trec_labels = int(self.documents.starts[topics.start]), labels.astype(np.int64)
        for name, t in zip(names, wanted, strict=True):
            start, stop = judgments.starts[t - topics.start : t - topics.start + 2].tolist()
            rows = start + np.flatnonzero(labels[start:stop] != UNJUDGED)
            if not len(rows):
                continue
            if labels[rows].max() < -1:
                # trec_eval takes all negative labels alike, and crashes on a topic that has none above -2
                trec_labels[rows] = -1
            kept.append(rows)
            by_topic[name] = dict(zip(self._docnos[first + rows].tolist(), trec_labels[rows].tolist(), strict=True))
        given: Given = by_topic
        if self._frame is not None:
            every = np.concatenate([np.zeros(0, dtype=np.int64), *kept])
            given = self._frame.iloc[first + every].assign(relevance=trec_labels[every])
        return _Set(
            dict(zip(names, range(len(names)), strict=True)), [_evaluator(measure, given) for measure in self.measures]
        )

    def _evaluate(self, m: int, evaluator: Any, ranking: dict[str, dict[str, float]], run: str) -> list[Any]:
        try:
            return list(evaluator.iter_calc(ranking))
        except Exception as error:  # a provider may run other programs, and a measure may be the user's own
            what = f"{self.measures[m]!r} of run {run!r}"
            raise InputError(f"ir_measures cannot compute {what}: {error}", argument="measures") from error


def check_provided(measures: Iterable[ir_measures.Measure]) -> None:
    """Raise where ir_measures cannot compute a measure, whatever the runs and judgments are."""
    for measure in measures:
        if not ir_measures.DefaultPipeline.supports(measure):
            # says why not
            _evaluator(measure, {})


def _evaluator(measure: ir_measures.Measure, judgments: Given) -> Any:
    try:
        # one by one: together, the parameters of one measure can leak into another
        return ir_measures.evaluator([measure], judgments)
    except (ValueError, TypeError, AssertionError, RuntimeError) as error:
        hint = " Give the lowest grade that counts as relevant: RBP(rel=1)." if measure.NAME == "RBP" else ""
        hint = " Leave the cutoff out." if hint and "rel" in measure.params else hint
        raise InputError(f"ir_measures cannot compute {measure!r}: {error}{hint}", argument="measures") from error


def _as_utf8(names: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return names of which every provider can make UTF-8."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        pass
    else:
        return names
    return np.array([*(name.translate(_NOT_UTF8) for name in names), None], dtype=object)[:-1]


def _rankings(whole: AnyField, topics: Mapping[str, str]) -> Iterator[dict[str, dict[str, float]]]:
    """Yield for each run {topic: {document: score}}, of these topics and under their new names, best document first."""
    rows = [whole.topic_row[topic] for topic in topics if topic in whole.topic_row]
    if not rows:
        yield from ({} for _ in range(whole.n_runs))
        return
    # these topics of all runs at once: blocks are not loaded again for every run
    field = whole if isinstance(whole, Field) else whole.take_topics(rows)
    at = {name: field.topic_row[topic] for topic, name in topics.items() if topic in field.topic_row}
    docnos = {}
    for topic, t in at.items():
        docnos[topic] = _as_utf8(np.array([*tokens.decode(field.vocabulary[field.docs(t)]), None], dtype=object)[:-1])
    # every provider sorts by score, and Compat takes 0 for the score of what is not retrieved: counting down to 1
    # gives each of them the runs' own order
    countdown = np.arange(int(field.lengths.max(initial=0)), 0, -1).astype(float).tolist()
    for r in range(field.n_runs):
        ranking = {}
        for topic, t in at.items():
            codes = field.codes[field.list_of(t, r)]
            if len(codes):
                ranking[topic] = dict(zip(docnos[topic][codes].tolist(), countdown[-len(codes) :], strict=True))
        yield ranking
