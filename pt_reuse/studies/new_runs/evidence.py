"""What judgments say of a run whose documents nobody judged: of a new one, and of each team as if it had been new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.expected import Expected, Floats, Likely, expected_scores
from pt_reuse.arrays.kernels import UNJUDGED, Spec
from pt_reuse.arrays.lists import offsets, ranges, stable_order
from pt_reuse.arrays.rescore import HitIndex, Hits
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import cut_where, parts_of
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError, count, warn
from pt_reuse.inputs import Pooled
from pt_reuse.judge import Scale, as_judges, labels_of_holes
from pt_reuse.pooling.fit import unjudged_tops, with_unjudged
from pt_reuse.pooling.scorers import LogisticScorer, Scorer, TfIdf, Training, places_of
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.perturbed import scores_under

Rows = NDArray[np.int64]
#: 4 bytes each: there may be tens of millions
Short = NDArray[np.int32]
#: rows of runs that are looked at together
_AT_ONCE = 1 << 21
#: ranks and documents that no run has: as if at this rank
_NOWHERE = 1000.0
#: what the document model knows of a document
FEATURES = (
    "constant",
    "log of its best rank in the runs of the unit",
    "log of 1 + the number of runs of other units that have it",
    "log of 1 + the number of other units that have it",
    "log of the best rank in their runs",
    "log of its ranks there, fused by reciprocal ranks",
    "logit of the share of relevant documents among those judged of the topic",
    "logit of the same among the first documents of the run that has it at the best rank",
    "logit of the same on the topic",
)
#: of reciprocal rank fusion
_FUSION = 60
#: of a list; no run of a track is longer by far
_LONGEST = 1 << 20


#: what is known of some documents beside who ranks them where, nan where nothing, given which are judged
Signal = Callable[[NDArray[np.bool_], Rows], Floats]


def signals_of(evidence: Evidence, outsides: Iterable[Sequence[int]], *, judge: Any, corpus: Any) -> dict[str, Signal]:
    """Return what a judge and a classifier of texts say, by its name, where there are such.

    They are asked about what may be unknown in a setting without some units, or without them and one more.
    """
    asked = np.zeros(len(evidence.labels), dtype=bool)
    for outside in outsides if judge is not None or corpus is not None else ():
        asked |= evidence.n_brought - evidence.n_bringing(outside) <= 1
    rows, found = np.flatnonzero(asked & (evidence.n_brought > 0)), dict[str, Signal]()
    if judge is not None:
        named = as_judges(judge)
        if len(named) != 1:
            raise InputError(f"judge must be one judge, got {len(named)}.", argument="judge")
        frame = evidence.qrels.to_frame()[["qid", "docno"]].iloc[rows]
        by_judge = labels_of_holes(named[0], frame, Scale.of(evidence.qrels, evidence.qrels.rel))
        if len(rows) and not by_judge.known.any():
            problem = f"the judge labelled none of {count(len(rows), 'document')}. Are ids written alike?"
            raise InputError(problem, argument="judge")
        labels = np.full(len(evidence.labels), np.nan)
        labels[rows[by_judge.known]] = by_judge.labels[by_judge.known]
        found["judge"] = lambda _, unjudged_docs: labels[unjudged_docs]
    if corpus is not None:
        found["texts"] = _of_texts(corpus, evidence, rows)
    return found


def _of_texts(corpus: Any, evidence: Evidence, rows: Rows) -> Signal:
    """Return what a classifier of the topic's judged texts says, by default a logistic regression of their tf-idf."""
    scorer = corpus if isinstance(corpus, Scorer) else TfIdf(corpus)
    topics, (qids, docnos) = evidence.qrels.topics, evidence.names
    places = places_of(scorer, topics)
    place = np.array([places[qid].get(docno, -1) for qid, docno in zip(qids, docnos, strict=True)], dtype=np.int64)
    if isinstance(scorer, LogisticScorer):
        # of a large corpus, the documents that matter
        used, place[place >= 0] = np.unique(place[place >= 0], return_inverse=True)
        scorer = LogisticScorer(scorer.docnos[used], scorer.features[used]) if len(used) else scorer
    lacking = int((place[rows] < 0).sum())
    if lacking:
        documents = f"{count(len(rows), 'document')} that may be unknown"
        if lacking == len(rows):
            raise InputError(f"corpus has none of {documents}. Are its ids written alike?", argument="corpus")
        warn(f"`corpus` lacks {lacking:,} of {documents}; nothing is known of their texts.")
    relevant = evidence.labels >= evidence.qrels.rel

    def scores(known: NDArray[np.bool_], unjudged_docs: Rows) -> Floats:
        found = np.full(len(unjudged_docs), np.nan)
        for topic in np.unique(evidence.topic[unjudged_docs]).tolist():
            asked = np.flatnonzero((evidence.topic[unjudged_docs] == topic) & (place[unjudged_docs] >= 0))
            judged = np.flatnonzero((evidence.topic == topic) & known & (place >= 0))
            if len(asked) and len(judged):
                training = Training(place[judged], relevant[judged], with_query=False)
                found[asked] = scorer.fit(topics[topic], None, training)[place[unjudged_docs[asked]]]
        return found

    return scores


@dataclass(frozen=True)
class Lists:
    """The documents of the judgments in the lists of runs, run by run, those of a unit one after the other."""

    order: Rows  # (runs,) unit by unit
    starts: Rows  # (runs * topics + 1,) where each list begins, run by run in that order
    row: Short  # (hits,) of the judgments
    rank: Short  # (hits,) from 1
    lengths: Rows  # (topics, runs) documents retrieved

    @classmethod
    def of(cls, runs: RunSet, qrels: Qrels, unit: Rows, cutoff: int | None = None) -> Lists:
        """Find the documents of the judgments in the lists of runs, each of its (runs,) unit, down to a rank."""
        order = np.argsort(unit, kind="stable")
        documents, field, parts = qrels.arrays.documents, runs.field, list[tuple[range, Hits]]()
        n_topics, n_runs, index = len(qrels.topics), len(runs), HitIndex(field, documents)
        sizes = np.append(field.lengths.sum(axis=1), 0)[index.field_topic]
        # some topics at a time
        for topics in cut_where(sizes.tolist(), parts_of(field, index.field_topic), _AT_ONCE):
            hits = index.gather(topics).top(cutoff)
            parts.append((topics, replace(hits, row=hits.row + np.int32(documents.starts[topics.start]))))
        none = np.zeros(0, dtype=np.int64)
        lengths = np.concatenate([none, *(hits.lengths for _, hits in parts)]).reshape(n_topics, n_runs)
        counts = np.concatenate([none, *(np.diff(hits.starts) for _, hits in parts)]).reshape(n_topics, n_runs)
        starts = offsets(counts[:, order].T.ravel())
        row, rank = (np.empty(starts[-1], dtype=np.int32) for _ in range(2))
        begins = np.empty((n_runs, n_topics), dtype=np.int64)
        begins[order] = starts[:-1].reshape(n_runs, n_topics)
        while parts:
            # one by one, so that what was copied is freed
            topics, hits = parts.pop()
            where = ranges(begins[:, topics.start : topics.stop].T.ravel(), np.diff(hits.starts))
            row[where], rank[where] = hits.row, hits.rank
        return cls(order, starts, row, rank, lengths)

    def of_runs(self, runs: Rows) -> tuple[Rows, Short, Short]:
        """Return of some runs of one unit (runs * topics,) how many hits each list has, and (hits,) row and rank."""
        n_topics = len(self.lengths)
        at = np.flatnonzero(np.isin(self.order, runs))
        lists = ranges(at * n_topics, np.full(len(at), n_topics))
        counts = self.starts[lists + 1] - self.starts[lists]
        first, stop = self.starts[at * n_topics], self.starts[(at + 1) * n_topics]
        neighbours = bool(len(at)) and bool((np.diff(at) == 1).all())
        hits = slice(int(first[0]), int(stop[-1])) if neighbours else ranges(first, stop - first)
        return counts, self.row[hits], self.rank[hits]

    def runs_of(self, hits: NDArray[np.bool_]) -> list[int]:
        ends = self.starts[:: max(len(self.lengths), 1)]
        at = np.searchsorted(ends, np.flatnonzero(hits), side="right") - 1
        return sorted(set(self.order[np.unique(at)].tolist()))


class Evidence:
    """A field, new runs, and the judgments, in which the documents of new runs that nobody judged stand, too.

    A *unit* is what is exchanged, by default a team. Without a unit, its uniques are unjudged: each document that it
    alone brought into the pool. A document that no run of the pool has stays judged.
    """

    def __init__(self, runs: RunSet, new: Sequence[str], qrels: Qrels, units: Units, pooled: Pooled):
        self.runs, self.units, self.depth = runs, units, pooled.depth
        is_new = np.isin(np.array(runs.names, dtype=object), list(new))
        contributing = pooled.contributors.runs & ~is_new
        new_runs = runs.select(names=list(new)) if new else None
        self.qrels = qrels if new_runs is None else with_unjudged(qrels, unjudged_tops(new_runs, qrels, self.depth))
        self.labels = self.qrels.arrays.labels
        documents = self.qrels.arrays.documents
        self.n_topics = len(documents.topics)
        self.topic = np.repeat(np.arange(self.n_topics), np.diff(documents.starts))
        self.new = sorted(set(units.of_run[is_new].tolist()))
        #: (runs,) those of which scores are predicted: new ones, and of the field those that were pooled
        self.tested = is_new | contributing
        #: the units of the field that were pooled
        self.pooled = sorted(set(units.of_run[contributing].tolist()))
        self.lists = Lists.of(runs, self.qrels, units.of_run)
        pool = self.lists
        if pooled.ranked.order != runs.order:
            # new runs, which come after those of the field, were not pooled
            pool = Lists.of(pooled.ranked, self.qrels, units.of_run[: len(pooled.runs)], pooled.depth)
        #: by unit the documents that it brought into the pool, ascending
        self.brought: list[Rows] = []
        for unit in range(len(units)):
            # new runs have no lines of a pool: they are pooled as they are scored, and bring what nobody judged
            is_later = unit in self.new
            _, row, rank = (self.lists if is_later else pool).of_runs(self.runs_of(unit))
            row = row[rank <= self.depth]
            self.brought.append(np.unique(row[self.labels[row] < 0] if is_later else row).astype(np.int64))
        self.n_brought = self.n_bringing(range(len(units)))

    def runs_of(self, unit: int) -> Rows:
        return np.flatnonzero(self.tested & (self.units.of_run == unit))

    @cached_property
    def unknown(self) -> Rows:
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(self.brought[unit] for unit in self.new)]))

    def n_bringing(self, units: Iterable[int]) -> NDArray[np.int16]:
        """Return (documents,) how many of some units brought each into the pool."""
        found = np.zeros(len(self.labels), dtype=np.int16)
        for unit in units:
            found[self.brought[unit]] += 1
        return found

    def bounds(
        self, case: Case, measures: Sequence[ir_measures.Measure], unknown: Rows | None = None
    ) -> tuple[Floats, Floats]:
        """Return (measures, topics, runs) the lowest and the highest scores under any labels of unknown documents.

        These are those of the case, or given ones, which other new runs may have brought.
        """
        runs = self.runs.select(names=[self.runs.names[run] for run in case.runs.tolist()])
        unjudged_docs = case.unjudged_docs if unknown is None else unknown
        whole = np.bincount(self.topic[unjudged_docs], minlength=self.n_topics)
        is_hole = np.zeros(len(self.labels), dtype=bool)
        is_hole[unjudged_docs] = True
        others = {}
        for measure in measures:
            spec = native_spec(measure)
            seen = is_hole[case.row] & (case.rank <= case.cutoff(spec or Spec("p")))
            n_seen = np.bincount(case.cell[seen], minlength=case.lengths.size)
            others[measure] = whole[:, None] - n_seen.reshape(case.shape).T
        known = Qrels.of_arrays(self.qrels.arrays.labelled(case.labels)).keep(case.known)
        found = score_bounds(runs, known, measures, highest=self.qrels.arrays.highest, others=others)
        return found.low, found.high

    @cached_property
    def names(self) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        documents = self.qrels.arrays.documents
        return documents.qids(), documents.docnos()

    def every_label(self, measures: Sequence[ir_measures.Measure]) -> list[int]:
        """Return each label above 0 that a document may have, or from which on a measure counts one as relevant."""
        if not (self.labels > 0).any():
            raise InputError("no judged document has a label above 0, so nothing can be learned.", argument="qrels")
        lowest = [spec.rel for measure in measures if (spec := native_spec(measure)) is not None]
        return list(range(1, max([int(self.labels.max()), *lowest]) + 1))

    def known(self, without: Sequence[int]) -> NDArray[np.bool_]:
        """Return (documents,) which are judged without what some units alone brought."""
        bringing = self.n_bringing(without)
        return (self.labels >= 0) & ~((self.n_brought > 0) & (bringing == self.n_brought))

    def without(self, measures: Sequence[ir_measures.Measure], sets: Sequence[Sequence[int]]) -> Floats:
        """Return (measures, sets, topics, runs) scores without what the units of each set alone brought."""
        gone = [(self.labels >= 0) & ~self.known(units) for units in sets]
        labels = np.where(np.array(gone), np.int16(UNJUDGED), self.labels)
        return scores_under(self.runs, self.qrels, measures, labels).swapaxes(0, 1)


@dataclass(frozen=True)
class Case:
    """The runs of a unit as if it had not been pooled: what is known of them, and what its documents are."""

    unit: int
    runs: Rows  # those of the field
    counts: Rows  # (runs * topics,) how many hits each list has
    rank: Short  # (hits,) from 1, list by list
    row: Short  # (hits,) the document of each
    topic_of: Rows  # (documents,) the topic of every document
    lengths: Rows  # (runs, topics) how long lists are
    judged_or_hole: NDArray[np.bool_]  # (documents,) judged without the unit; of unjudged_docs it says nothing
    unjudged_docs: Rows  # documents that the unit alone brought, ascending
    features: Floats  # (unjudged_docs, features)
    labels: NDArray[np.int16]  # (documents,) as judged with the unit; below 0 for the unjudged_docs of a new one
    found: Mapping[int, Floats]  # label -> (topics,) how many known documents have at least that
    judged: Floats  # (topics,) how many documents are known

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.runs), self.lengths.shape[1]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return (documents,) which are judged without the unit."""
        found = self.judged_or_hole.copy()
        found[self.unjudged_docs] = False
        return found

    @property
    def cell(self) -> Rows:
        """Return (hits,) the list of each, run by run, then topic by topic."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def of_run(self, place: int) -> slice:
        """Return which hits are those of a run."""
        n = self.shape[1]
        first = int(self.counts[: place * n].sum())
        return slice(first, first + int(self.counts[place * n : (place + 1) * n].sum()))

    def ranks(self, place: int) -> Rows:
        """Return (documents,) the rank of each in the list of a run, 0 where it is not there."""
        found, hits = np.zeros(len(self.labels), dtype=np.int64), self.of_run(place)
        found[self.row[hits]] = self.rank[hits]
        return found

    def dense(self, values: NDArray, cutoff: int) -> Floats:
        """Return (runs, topics, ranks) the values of documents in the lists, 0 where there is none."""
        seen = self.rank <= cutoff
        found = np.zeros((*self.shape, cutoff))
        found.ravel()[self.cell[seen] * cutoff + self.rank[seen] - 1] = values[self.row[seen]]
        return found

    def cutoff(self, spec: Spec) -> int:
        """Return down to which rank a measure sees anything that matters."""
        return min(spec.cutoff or _LONGEST, max(int(self.rank.max(initial=1)), 1))

    def scored(self, spec: Spec, chances: Mapping[int, Floats], gains: Mapping[int, float]) -> Expected:
        """Return the expected scores; `chances` has label -> how likely each unjudged document has at least that."""
        at_least, total = {}, {}
        for label, chance in chances.items():
            values = (self.judged_or_hole & (self.labels >= label)).astype(float)
            values[self.unjudged_docs] = chance
            at_least[label] = self.dense(values, self.cutoff(spec))
            total[label] = self.expected_total(label, chance)
        return expected_scores(spec, Likely(at_least, total, gains))

    def expected_total(self, label: int, chance: Floats) -> Floats:
        """Return (topics,) how many documents are expected to have at least a label."""
        return self.found[label] + np.bincount(
            self.topic_of[self.unjudged_docs], weights=chance, minlength=self.shape[1]
        )

    def judged_since(self, given: NDArray[np.int16]) -> tuple[Case, NDArray[np.bool_]]:
        """Return the case with further (documents,) labels, below 0 for none, and which unjudged documents are left."""
        new = (given >= 0) & ~self.known
        left = given[self.unjudged_docs] < 0
        n = self.shape[1]
        found = {
            label: known + np.bincount(self.topic_of[new & (given >= label)], minlength=n)
            for label, known in self.found.items()
        }
        labels, judged = np.where(new, given, self.labels), self.judged + np.bincount(self.topic_of[new], minlength=n)
        case = replace(self, judged_or_hole=self.known | new, labels=labels, found=found, judged=judged)
        return replace(case, unjudged_docs=self.unjudged_docs[left], features=self.features[left]), left

    def condensed(self, spec: Spec, gains: Mapping[int, float], labels: Sequence[int]) -> Floats:
        """Return (runs, topics) scores of the lists without unjudged documents."""
        known = self.known[self.row]
        counts = np.bincount(self.cell[known], minlength=len(self.counts))
        rank = ranges(np.ones_like(counts), counts).astype(np.int32)
        kept = replace(self, counts=counts, rank=rank, row=self.row[known])
        zeros = {label: np.zeros(len(self.unjudged_docs)) for label in labels}
        return kept.scored(spec, zeros, gains)[0]

    def bpref(self, rel: int) -> Floats:
        """Return (runs, topics) bpref: it sees judged documents alone."""
        known = self.known[self.row]
        cell = self.cell[known]
        topic = cell % self.shape[1]
        good = self.labels[self.row[known]] >= rel
        before: Rows = np.cumsum(~good) - ~good
        counts = np.bincount(cell, minlength=len(self.counts))
        above: Rows = before - before[np.repeat(offsets(counts)[:-1], counts)]
        relevant, others = self.found[rel], self.judged - self.found[rel]
        most = np.maximum(np.minimum(relevant, others), 1)
        lost = np.where(above > 0, np.minimum(above, relevant[topic]) / most[topic], 0.0)
        found = np.bincount(cell, weights=np.where(good, 1 - lost, 0.0), minlength=self.lengths.size)
        return np.divide(found.reshape(self.shape), relevant, out=np.zeros(self.shape), where=relevant > 0)

    def unjudged(self, depth: int) -> Floats:
        """Return (runs,) the mean share of the first documents that are not known."""
        seen = (self.rank <= depth) & self.known[self.row]
        cells = np.bincount(self.cell[seen], minlength=self.lengths.size)
        returned = np.minimum(self.lengths, depth)
        share = np.divide(cells.reshape(self.shape), returned, out=np.ones(self.shape), where=returned > 0)
        # a topic that a run lacks says nothing of how much of it is judged
        return np.sum(1 - share, axis=1) / np.maximum((returned > 0).sum(axis=1), 1)


class LeaveOneOutSetting:
    """What could be known had some units, `outside`, not been pooled; each other one is left out of that in turn."""

    def __init__(
        self, evidence: Evidence, outside: Sequence[int], labels: Sequence[int], signals: Mapping[str, Signal]
    ):
        self.evidence, self.outside, self.labels, self._signals = evidence, list(outside), list(labels), signals
        others = evidence.n_brought - evidence.n_bringing(self.outside)
        # what at most one unit brought beside those outside: what may be unknown
        self._contested = np.flatnonzero(((others <= 1) | (evidence.labels < 0)) & (evidence.n_brought > 0))
        self.truth = evidence.known([unit for unit in self.outside if unit not in evidence.new])
        #: (documents,) what the cases to learn from share
        self._labels = np.where(self.truth, evidence.labels, UNJUDGED)
        # which units have what may be unknown in their lists, document by document: (documents + 1,) where the units of
        # each begin, and of each unit how many of its runs have it, their fused ranks, and the best one
        place = np.full(len(evidence.labels), -1, dtype=np.int32)
        place[self._contested] = np.arange(len(self._contested))
        parts = []
        for unit in range(len(evidence.units)):
            _, row, rank = evidence.lists.of_runs(np.flatnonzero(evidence.units.of_run == unit))
            kept = np.flatnonzero(place[row] >= 0)
            at = place[row[kept]]
            order = stable_order(at)
            at, rank = at[order], rank[kept[order]]
            first = np.flatnonzero(np.diff(at, prepend=-1))
            group = np.repeat(np.arange(len(first)), np.diff(first, append=len(at)))
            fused = np.bincount(group, weights=1 / (_FUSION + rank.astype(float)), minlength=len(first))
            best = np.minimum.reduceat(rank, first) if len(first) else rank
            parts.append((at[first], np.full(len(first), unit), np.bincount(group, minlength=len(first)), fused, best))
        of_document, *listed = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = stable_order(of_document)
        starts = np.searchsorted(of_document[order], np.arange(len(self._contested) + 1))
        self._listed: tuple[NDArray[Any], ...] = (starts, *(values[order] for values in listed))

    def columns(self, *names: str) -> tuple[int, ...]:
        """Return which features are of ``"documents"`` and of each signal; without a name all."""
        at, n = {"documents": range(len(FEATURES))}, len(FEATURES)
        for place, name in enumerate(self._signals):
            at[name] = range(n + 2 * place, n + 2 * place + 2)
        return tuple(column for name in names or at for column in at[name])

    def case(self, unit: int) -> Case:
        """Return the case of a unit; of one that is outside its labels are all that there are."""
        evidence, without = self.evidence, sorted({*self.outside, unit})
        known = evidence.known(without)
        brought = evidence.brought[unit]
        unjudged_docs = brought[~known[brought] if unit in self.outside else ~known[brought] & self.truth[brought]]
        runs = evidence.runs_of(unit)
        counts, row, rank = evidence.lists.of_runs(runs)
        labels = self._labels
        if unit in self.outside:
            labels = labels.copy()
            labels[unjudged_docs] = evidence.labels[unjudged_docs]

        def of_topics(which: NDArray[np.bool_]) -> Floats:
            return np.bincount(evidence.topic[which], minlength=evidence.n_topics).astype(float)

        return Case(
            unit=unit,
            runs=runs,
            counts=counts,
            rank=rank,
            row=row,
            topic_of=evidence.topic,
            lengths=evidence.lists.lengths[:, runs].T,
            judged_or_hole=self.truth,
            unjudged_docs=unjudged_docs,
            features=self._features((counts, row, rank), unjudged_docs, without, known),
            labels=labels,
            found={label: of_topics(known & (evidence.labels >= label)) for label in self.labels},
            judged=of_topics(known),
        )

    def _features(
        self, hits: tuple[Rows, Short, Short], unjudged_docs: Rows, without: Sequence[int], known: NDArray[np.bool_]
    ) -> Floats:
        """Return (unjudged_docs, features): how the unit ranks what it alone brought, and how the other units do."""
        evidence, (counts, row, rank) = self.evidence, hits
        n_topics = evidence.n_topics
        cell, n = np.repeat(np.arange(len(counts)), counts), len(counts)
        relevant = evidence.labels >= 1
        # the run of the unit that has a document at the best rank
        own = np.full(len(evidence.labels), -1)
        own[unjudged_docs] = np.arange(len(unjudged_docs))
        listed = np.flatnonzero(own[row] >= 0)
        listed = listed[np.lexsort((cell[listed], rank[listed], own[row[listed]]))]
        first = listed[np.diff(own[row[listed]], prepend=-1) > 0]
        best_run, topic = cell[first] // n_topics, evidence.topic[unjudged_docs]
        top = (rank <= evidence.depth) & known[row]
        seen, good = (np.bincount(cell[kept], minlength=n) for kept in (top, top & relevant[row]))
        of_run = [part.reshape(-1, n_topics).sum(axis=1) for part in (seen, good)]
        precision = ((of_run[1] + 0.5) / (of_run[0] + 1))[best_run]
        here = best_run * n_topics + topic
        judged, found = (np.bincount(evidence.topic[kept], minlength=n_topics) for kept in (known, known & relevant))
        # how many runs and units but those left out have each, the best rank, and the fused ranks
        starts, unit, runs, fused, best = self._listed
        place = np.searchsorted(self._contested, unjudged_docs)
        sizes, n_docs = starts[place + 1] - starts[place], len(unjudged_docs)
        where, hole = ranges(starts[place], sizes), np.repeat(np.arange(n_docs), sizes)
        others = ~np.isin(unit[where], without)
        where, hole = where[others], hole[others]
        nearest = np.full(n_docs, _NOWHERE)
        np.minimum.at(nearest, hole, best[where])
        columns = [
            np.ones(len(unjudged_docs)),
            np.log(rank[first]),
            np.log1p(np.bincount(hole, weights=runs[where], minlength=n_docs)),
            np.log1p(np.bincount(hole, minlength=n_docs)),
            np.log(nearest),
            np.log(np.bincount(hole, weights=fused[where], minlength=n_docs) + 0.001),
            _logit(((found + 0.5) / (judged + 1))[topic]),
            _logit(precision),
            _logit((good[here] + 2 * precision) / (seen[here] + 2)),
        ]
        for signal in self._signals.values():
            value = signal(known, unjudged_docs)
            columns += [np.isnan(value).astype(float), np.nan_to_num(value)]
        return np.column_stack(columns)


def _logit(share: Floats) -> Floats:
    inside = np.clip(share, 0.01, 0.99)
    return np.log(inside / (1 - inside))
