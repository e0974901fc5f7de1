"""Scores of a field under judgments and under many other sets that each differ from them in some labels.

This is the one place that scores. Who asks says what changes and reduces what comes back. The work is cut into blocks
of topics that share nothing but what they read: a block can be computed alone, in any order, by anyone who has the
field and the judgments, and its bits do not depend on how the topics are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField, Field
from pt_reuse.arrays.kernels import NO_CHANGES, UNJUDGED, Cells, Changes, Judgments
from pt_reuse.arrays.lists import stable_order
from pt_reuse.arrays.rescore import HitIndex, score_topics
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import (
    TOPICS,
    Arrays,
    ArrayWork,
    cut_where,
    part_topics,
    parts_of,
    run_topics,
    topics_array,
)
from pt_reuse.errors import InputError
from pt_reuse.scoring.inferred import check_sampled
from pt_reuse.scoring.measures import OwnMeasure, check_no_subtopics, native_spec

#: judgments as a provider takes them: {topic: {document: label}}, or a frame with ir_measures' columns
Given: TypeAlias = "dict[str, dict[str, int]] | pd.DataFrame"
#: what bytes that are not UTF-8 become, one character each: trec_eval crashes on surrogates
_NOT_UTF8 = {0xDC00 + byte: chr(0x10FE00 + byte) for byte in range(0x80, 0x100)}


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
        self._docnos, self._topics = _as_utf8(self.documents.docnos()), _as_utf8(self.documents.topics)
        frame = pt.model.to_ir_measures(qrels.to_frame())
        check_no_subtopics(self.measures)
        for measure in self.measures:
            check_sampled(measure, frame)
        # what a measure may ask of judgments beyond their labels stands in further columns
        frame = frame.assign(query_id=_as_utf8(frame["query_id"]), doc_id=self._docnos)
        self._frame = frame if qrels.arrays.extra is not None else None

    def score(self, topics: range, judgments: Judgments, cells: Cells, *, verbose: bool = False) -> NDArray[np.float64]:
        """Return (measures, cells, runs): first these topics under the base set, then the changed cells."""
        values = np.empty((len(self.measures), len(cells), len(self.names)))
        for m, measure in enumerate(self.measures):
            values[m] = getattr(measure, "DEFAULT", 0.0)
        names = {self.documents.topics[t]: self._topics[t] for t in topics}
        sets = [
            (cell_of, [_evaluator(measure, given) for measure in self.measures])
            for cell_of, given in self._sets(topics, judgments, cells)
        ]
        run_names = pt.tqdm(self.names, desc="ir_measures", unit="run", disable=not verbose)
        for r, (name, ranking) in enumerate(zip(run_names, _rankings(self.field, names), strict=True)):
            for cell_of, evaluators in sets:
                mine = {topic: ranking[topic] for topic in cell_of if topic in ranking}
                for m, (measure, evaluator) in enumerate(zip(self.measures, evaluators, strict=True)):
                    if not mine and not hasattr(measure, "runtime_impl"):
                        continue  # not every provider takes a run without topics
                    try:
                        found = list(evaluator.iter_calc(mine))
                    except Exception as error:  # a provider may run other programs, and a measure be the user's own
                        what = f"{measure!r} of run {name!r}"
                        raise InputError(f"ir_measures cannot compute {what}: {error}", argument="measures") from error
                    for metric in found:
                        if metric.query_id in cell_of:
                            values[m, cell_of[metric.query_id], r] = metric.value
        return values

    def _sets(self, topics: range, judgments: Judgments, cells: Cells) -> Iterator[tuple[dict[str, int], Given]]:
        """Yield the base set on all topics, then each further one on those that it changes: cells, and judgments."""
        yield self._set(topics, judgments, judgments.labels, {t: t - topics.start for t in topics})
        changed = np.arange(cells.n_topics, len(cells))
        for s in np.unique(cells.set).tolist():
            mine = judgments.changes.in_set == s
            labels = judgments.labels.copy()
            labels[judgments.changes.row[mine]] = judgments.changes.label[mine]
            at = changed[cells.set == s]
            cell_of = zip((cells.topic[at] + topics.start).tolist(), at.tolist(), strict=True)
            yield self._set(topics, judgments, labels, dict(cell_of))

    def _set(
        self, topics: range, judgments: Judgments, labels: NDArray[np.int16], cell_of: dict[int, int]
    ) -> tuple[dict[str, int], Given]:
        kept, by_topic = [np.zeros(0, dtype=np.int64)], {}
        first, trec_labels = int(self.documents.starts[topics.start]), labels.astype(np.int64)
        for t in cell_of:
            start, stop = judgments.starts[t - topics.start : t - topics.start + 2].tolist()
            rows = start + np.flatnonzero(labels[start:stop] != UNJUDGED)
            if not len(rows):
                continue
            if labels[rows].max() < -1:
                # trec_eval takes all negative labels alike, and crashes on a topic that has none above -2
                trec_labels[rows] = -1
            kept.append(rows)
            docnos = self._docnos[first + rows].tolist()
            by_topic[self._topics[t]] = dict(zip(docnos, trec_labels[rows].tolist(), strict=True))
        cells = {self._topics[t]: cell for t, cell in cell_of.items()}
        if self._frame is None:
            return cells, by_topic
        every = np.concatenate(kept)
        given = self._frame.iloc[first + every].assign(relevance=trec_labels[every])
        if {"stratum", "inclusion"} <= set(given):
            # the judgments were whole; what is changed in them is no sample with fewer labels than were drawn
            labelled = given["relevance"].ge(0).groupby([given["query_id"], given["stratum"]])
            given["inclusion"] = given["inclusion"].clip(upper=labelled.transform("mean"))
        return cells, given


def check_provided(measures: Iterable[ir_measures.Measure]) -> None:
    """Raise where ir_measures cannot compute a measure, whatever the runs and judgments are."""
    measures = list(measures)
    check_no_subtopics(measures)
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


def _as_utf8(names: Iterable[str]) -> NDArray[np.object_]:
    found = list(names)
    try:
        "".join(found).encode()
    except UnicodeEncodeError:
        found = [name.translate(_NOT_UTF8) for name in found]
    return np.array([*found, None], dtype=object)[:-1]


def _rankings(whole: AnyField, topics: Mapping[str, str]) -> Iterator[dict[str, dict[str, float]]]:
    """Yield for each run {topic: {document: score}}, of these topics and under their new names, best document first."""
    rows = [whole.topic_row[topic] for topic in topics if topic in whole.topic_row]
    if not rows:
        yield from ({} for _ in range(whole.n_runs))
        return
    # these topics of all runs at once: blocks are not loaded again for every run
    field = whole if isinstance(whole, Field) else whole.take_topics(rows)
    at = {name: field.topic_row[topic] for topic, name in topics.items() if topic in field.topic_row}
    docnos = {topic: _as_utf8(tokens.decode(field.vocabulary[field.docs(t)])) for topic, t in at.items()}
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


#: what a judgment takes as an entry of a provider's dictionary, in numbers of 8 bytes
_IN_A_DICTIONARY = 12


@dataclass(frozen=True)
class Block:
    """The scores of neighbouring topics, whose positions among those of the judgments are `topics`."""

    topics: range
    base: NDArray[np.float64]
    topic: NDArray[np.int64]
    set: NDArray[np.int64]
    values: NDArray[np.float64]

    def cells_of(self, topic: int) -> slice:
        first, stop = np.searchsorted(self.topic, [topic, topic + 1]).tolist()
        return slice(first, stop)


class Rescoring(ArrayWork):
    """What is to be scored, and how it can be cut; it holds nothing that a block changes."""

    axes: ClassVar[Mapping[str, int]] = {"base": 1, "values": 1}

    def __init__(
        self,
        field: AnyField,
        names: Sequence[str],
        qrels: Qrels,
        measures: Sequence[ir_measures.Measure],
        changes: Changes = NO_CHANGES,
    ):
        self.field, self.names, self.qrels = field, names, qrels
        # a block has its own judgments alone
        self.measures = [m.of_judgments(qrels.whole) if isinstance(m, OwnMeasure) else m for m in measures]
        self.topics, self.documents = qrels.arrays.documents.topics, qrels.arrays.documents
        self.judgments = Judgments(self.documents.starts, qrels.arrays.labels, changes.take(stable_order(changes.row)))
        specs = [native_spec(measure) for measure in measures]
        self._native = [m for m, spec in enumerate(specs) if spec is not None]
        self._other = [m for m, spec in enumerate(specs) if spec is None]
        self._specs = [spec for spec in specs if spec is not None]
        self._sees_all = bool(self._other) or any(spec.sees_nonrelevant for spec in self._specs)
        self.has_own_bar = bool(self._other)

    def prepare(self) -> None:
        """Find the judged documents among the runs, and what ir_measures takes; once."""
        _ = self.index
        if self._other:
            _ = self._provided

    @cached_property
    def index(self) -> HitIndex:
        return HitIndex(self.field, self.documents)

    @cached_property
    def _provided(self) -> Provided:
        return Provided(self.field, self.names, self.qrels, [self.measures[m] for m in self._other])

    def cut(self, at_once: int) -> list[range]:
        """Return blocks of neighbouring topics, as few as hold at most so many numbers; a topic is never cut."""
        cells = Cells(self.judgments)
        sets = np.bincount(cells.topic, minlength=cells.n_topics)
        at = [self.field.topic_row.get(topic, -1) for topic in self.topics]
        rows = np.append(self.field.lengths.sum(axis=1), 0)[at]
        held = len(self.measures) * self.field.n_runs + _IN_A_DICTIONARY * len(self._other) * self.documents.sizes
        return cut_where((sets * held + rows).tolist(), parts_of(self.field, at), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        return {**vars(self.block(topics, verbose=verbose)), TOPICS: topics_array(topics)}

    def block(self, topics: range, changes: Changes | None = None, *, verbose: bool = False) -> Block:
        """Return the scores of some neighbouring topics; what else is being computed makes no difference to them."""
        judgments = self.judgments.of(topics)
        if changes is not None:
            judgments = replace(judgments, changes=changes)
        if not self._sees_all:
            judgments = judgments.visible()
        cells = Cells(judgments)
        values = np.empty((len(self.measures), len(cells), self.field.n_runs))
        if self._native:
            values[self._native] = score_topics(self.index, judgments, topics, self._specs, cells)
        if self._other:
            values[self._other] = self._provided.score(topics, judgments, cells, verbose=verbose)
        n = cells.n_topics
        return Block(topics, values[:, :n], cells.topic[n:] + topics.start, cells.set, values[:, n:])

    def rows_before(self, t: int) -> int:
        """Return how many judgments the topics before one have."""
        return int(self.documents.starts[t])

    def of_topics(self, topics: range, field: AnyField) -> Rescoring:
        rows = slice(*self.documents.starts[[topics.start, topics.stop]].tolist())
        mine = Qrels.of_arrays(self.qrels.arrays.of_topics(topics), self.qrels.stated_rel)
        return Rescoring(field, self.names, mine, self.measures, self.judgments.changes.within(rows))


def rescore(
    runs: RunSet,
    qrels: Qrels,
    measures: Sequence[ir_measures.Measure],
    changes: Changes = NO_CHANGES,
    *,
    verbose: bool = False,
    at_once: int | None = None,
    n_jobs: int | None = None,
) -> Iterator[Block]:
    """Score every run under the judgments and under every changed set, a block of topics at a time."""
    work = Rescoring(runs.field, runs.names, qrels, measures, changes)
    for part in run_topics(work, runs.field, n_jobs=n_jobs, verbose=verbose, desc="scoring", at_once=at_once):
        yield Block(part_topics(part), part["base"], part["topic"], part["set"], part["values"])


def base_scores(runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], **how: Any) -> NDArray[np.float64]:
    """Return (measures, topics, runs) scores under the judgments as they are; see :func:`rescore`."""
    values = np.empty((len(measures), len(qrels.topics), len(runs)))
    for block in rescore(runs, qrels, measures, **how):
        values[:, block.topics.start : block.topics.stop] = block.base
    return values
