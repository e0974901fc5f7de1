"""What judgments say of a run whose documents nobody judged: of a new one, and of each team as if it had been new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count
from pt_reuse._errors import InputError, warn, wrong
from pt_reuse.arrays.expected import Expected, Floats, Likely, expected_scores
from pt_reuse.arrays.kernels import UNJUDGED, Spec
from pt_reuse.arrays.rescore import Changes, HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.judging.continuous import places_of
from pt_reuse.judging.judges import Scale, as_judges, labels_of_holes
from pt_reuse.judging.scorers import LogisticScorer, Scorer, TfIdf, Training
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.pool import Contributors, Rule
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.studies.filled_uniques import with_unjudged

Rows = NDArray[np.int64]
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


@dataclass(frozen=True)
class Pooling:
    """How runs were pooled, or would be."""

    depth: int
    contributors: Contributors
    order: str | None  # None for that of the runs


#: what is known of documents beside who ranks them where: (holes,) of some, nan where nothing, given which are judged
Signal = Callable[[NDArray[np.bool_], Rows], Floats]


def signals_of(evidence: Evidence, outsides: Iterable[Sequence[int]], *, judge: Any, corpus: Any) -> dict[str, Signal]:
    """Return what a judge and a classifier of texts say, by its name, where there are such.

    They are asked about what may be unknown in a world without some units, or without them and one more.
    """
    asked = np.zeros(len(evidence.labels), dtype=bool)
    for outside in outsides if judge is not None or corpus is not None else ():
        asked |= evidence.n_brought - evidence.brought[:, list(outside)].sum(axis=1) <= 1
    rows, found = np.flatnonzero(asked & (evidence.n_brought > 0)), {}
    if judge is not None:
        found["judge"] = _of_judge(judge, evidence, rows)
    if corpus is not None:
        found["texts"] = _of_texts(corpus, evidence, rows)
    return found


def _of_judge(judge: Any, evidence: Evidence, rows: Rows) -> Signal:
    """Return what a judge says of some documents, as people would."""
    named = as_judges(judge)
    if len(named) != 1:
        raise wrong("judge", f" must be one judge, got {len(named)}.")
    frame = evidence.qrels.to_frame()[["qid", "docno"]].iloc[rows]
    said = labels_of_holes(named[0], frame, Scale.of(evidence.qrels, evidence.qrels.rel))
    if len(rows) and not said.known.any():
        raise InputError(
            f"the judge labelled none of {count(len(rows), 'document')}. Are these labels of the same collection, "
            "with ids written alike?",
            argument="judge",
        )
    labels = np.full(len(evidence.labels), np.nan)
    labels[rows[said.known]] = said.labels[said.known]
    return lambda _, holes: labels[holes]


def _of_texts(corpus: Any, evidence: Evidence, rows: Rows) -> Signal:
    """Return what a classifier of the topic's judged texts says, by default a logistic regression of their tf-idf."""
    scorer = corpus if isinstance(corpus, Scorer) else TfIdf(corpus)
    topics, (qids, docnos) = evidence.qrels.topics, evidence.names
    places = places_of(scorer, topics)
    place = np.array([places[qid].get(docno, -1) for qid, docno in zip(qids, docnos, strict=True)], dtype=np.int64)
    if isinstance(scorer, LogisticScorer):
        # of a large corpus, the documents that matter
        used, place[place >= 0] = np.unique(place[place >= 0], return_inverse=True)
        scorer = LogisticScorer(scorer.docnos[used], scorer.features[used], scorer.strength) if len(used) else scorer
    lacking = int((place[rows] < 0).sum())
    if lacking:
        documents = f"{count(len(rows), 'document')} that may be unknown"
        if lacking == len(rows):
            raise wrong("corpus", f" has none of {documents}. Are its ids written alike?")
        warn(f"`corpus` lacks {lacking:,} of {documents}; nothing is known of their texts.")
    relevant = evidence.labels >= evidence.qrels.rel

    def scores(known: NDArray[np.bool_], holes: Rows) -> Floats:
        found = np.full(len(holes), np.nan)
        for topic in np.unique(evidence.topic[holes]).tolist():
            mine = np.flatnonzero((evidence.topic[holes] == topic) & (place[holes] >= 0))
            judged = np.flatnonzero((evidence.topic == topic) & known & (place >= 0))
            if len(mine) and len(judged):
                training = Training(place[judged], relevant[judged], with_query=False)
                found[mine] = scorer.fit(topics[topic], None, training)[place[holes[mine]]]
        return found

    return scores


class Evidence:
    """A field, new runs, and the judgments, in which the documents of new runs that nobody judged stand, too.

    A *unit* is what is exchanged, by default a team. Without a unit, its uniques are unjudged: each document that it
    alone brought into the pool. A document that no run of the pool has stays judged.
    """

    def __init__(self, runs: RunSet, new: Sequence[str], qrels: Qrels, units: Units, pooling: Pooling):
        self.runs, self.units, self.depth = runs, units, pooling.depth
        is_new = np.isin(np.array(runs.names, dtype=object), list(new))
        contributing = pooling.contributors.runs & ~is_new
        self.qrels = self._with_holes(qrels, new)
        self.labels = self.qrels.arrays.labels
        documents = self.qrels.arrays.documents
        self.n_topics = len(documents.topics)
        self.topic = np.repeat(np.arange(self.n_topics), np.diff(documents.starts))
        self.new = sorted(set(units.of_run[is_new].tolist()))
        #: (runs,) those of which scores are predicted: new ones, and of the field those that were pooled
        self.tested = is_new | contributing
        #: the units of the field that were pooled
        self.pooled = sorted(set(units.of_run[contributing].tolist()))
        scored, pooled = self._hits(runs), None
        if pooling.order not in (None, runs.order):
            pooled = self._hits(runs.in_pool_order(pooling.order))
        row, rank, run, _ = scored if pooled is None else pooled
        brought = (rank <= pooling.depth) & np.where(is_new[run], self.labels[row] < 0, contributing[run])
        #: (documents, units) which units brought a document into the pool
        self.brought = np.zeros((len(self.labels), len(units)), dtype=bool)
        self.brought[row[brought], units.of_run[run[brought]]] = True
        if pooled is not None:
            # new runs have no lines of a pool; they are pooled as they are scored
            row, rank, run, _ = scored
            mine = is_new[run] & (rank <= pooling.depth) & (self.labels[row] < 0)
            self.brought[:, self.new] = False
            self.brought[row[mine], units.of_run[run[mine]]] = True
        self.n_brought = self.brought.sum(axis=1)
        self.row, self.rank, self.run, self.lengths = scored

    def _with_holes(self, qrels: Qrels, new: Sequence[str]) -> Qrels:
        if not new:
            return qrels
        runs = self.runs.select(names=list(new))
        pool = pool_to_depth(runs, self.depth, Contributors(Rule.ALL, np.ones(len(runs), dtype=bool))).remainder(qrels)
        pool = pool.take(np.flatnonzero(np.isin(pool.documents.qids(), qrels.topics)))
        return with_unjudged(qrels, pool.to_frame()[["qid", "docno"]])

    def _hits(self, runs: RunSet) -> tuple[Rows, Rows, Rows, Rows]:
        """Return (hits,) row of the judgments, rank and run; and (topics, runs) how long lists are."""
        index = HitIndex(runs.field, self.qrels.arrays.documents)
        hits = index.gather(index.topics)
        run = (hits.of % hits.n_runs).astype(np.int64)
        return hits.row.astype(np.int64), hits.rank.astype(np.int64), run, hits.lengths.reshape(-1, hits.n_runs)

    def bounds(
        self, case: Case, measures: Sequence[ir_measures.Measure], unknown: Rows | None = None
    ) -> tuple[Floats, Floats]:
        """Return (measures, topics, runs) the lowest and the highest scores under any labels of unknown documents.

        These are those of the case, or given ones, which other new runs may have brought.
        """
        runs = self.runs.select(names=[self.runs.names[run] for run in case.runs.tolist()])
        holes = case.holes if unknown is None else unknown
        whole = np.bincount(self.topic[holes], minlength=self.n_topics)
        is_hole = np.zeros(len(self.labels), dtype=bool)
        is_hole[holes] = True
        others = {}
        for measure in measures:
            spec = native_spec(measure)
            seen = is_hole[case.row] & (case.rank <= case.cutoff(spec or Spec("p")))
            cell = case.place[seen] * self.n_topics + case.topic[seen]
            others[measure] = whole[:, None] - np.bincount(cell, minlength=case.lengths.size).reshape(case.shape).T
        known = Qrels.of_arrays(self.qrels.arrays.labelled(case.labels)).keep(case.known)
        found = score_bounds(runs, known, measures, highest=self.qrels.arrays.highest, others=others)
        return found.low, found.high

    @cached_property
    def hits_of_unit(self) -> dict[int, Rows]:
        """Return the hits of the tested runs of each unit, run by run, in the order of topic and rank."""
        kept = np.flatnonzero(self.tested[self.run])
        order = kept[np.lexsort((self.run[kept], self.units.of_run[self.run[kept]]))]
        cuts = np.searchsorted(self.units.of_run[self.run[order]], np.arange(len(self.units) + 1))
        return {unit: order[cuts[unit] : cuts[unit + 1]] for unit in range(len(self.units))}

    @cached_property
    def names(self) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return (documents,) the topic and the name of each."""
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
        mine = self.brought[:, list(without)].sum(axis=1)
        return (self.labels >= 0) & ~((self.n_brought > 0) & (mine == self.n_brought))

    def by_topic(self, measures: Sequence[ir_measures.Measure], sets: Sequence[Sequence[int]]) -> Floats:
        """Return (measures, sets, topics, runs) scores without what the units of each set alone brought."""
        rows = [np.flatnonzero((self.labels >= 0) & ~self.known(units)) for units in sets]
        of_set = np.repeat(np.arange(len(sets)), [len(row) for row in rows])
        every = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
        changes = Changes(len(sets), of_set, every, np.full(len(every), UNJUDGED))
        found = np.empty((len(measures), len(sets), self.n_topics, len(self.runs)))
        for block in rescore(self.runs, self.qrels, measures, changes):
            here = slice(block.topics.start, block.topics.stop)
            found[:, :, here] = block.base[:, None]
            found[:, block.set, block.topic] = block.values
        return found


@dataclass(frozen=True)
class Case:
    """The runs of a unit as if it had not been pooled: what is known of them, and what its documents are."""

    unit: int
    runs: Rows  # those of the field
    place: Rows  # (hits,) which of the runs, then topic, rank and document of each hit
    topic: Rows
    rank: Rows
    row: Rows
    topic_of: Rows  # (documents,) the topic of every document
    lengths: Rows  # (runs, topics) how long lists are
    known: NDArray[np.bool_]  # (documents,) judged without the unit
    holes: Rows  # documents that the unit alone brought, ascending
    features: Floats  # (holes, features)
    labels: NDArray[np.int16]  # (documents,) as judged with the unit; below 0 for the holes of a new one
    found: Mapping[int, Floats]  # label -> (topics,) how many known documents have at least that
    judged: Floats  # (topics,) how many documents are known

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many runs and topics there are."""
        return len(self.runs), self.lengths.shape[1]

    def dense(self, values: NDArray, cutoff: int) -> Floats:
        """Return (runs, topics, ranks) the values of documents in the lists, 0 where there is none."""
        seen = self.rank <= cutoff
        found = np.zeros((*self.shape, cutoff))
        found[self.place[seen], self.topic[seen], self.rank[seen] - 1] = values[self.row[seen]]
        return found

    def cutoff(self, spec: Spec) -> int:
        """Return down to which rank a measure sees anything that matters."""
        return min(spec.cutoff or _LONGEST, max(int(self.rank.max(initial=1)), 1))

    def scored(self, spec: Spec, chances: Mapping[int, Floats], gains: Mapping[int, float]) -> Expected:
        """Return the expected scores, where `chances` has label -> (holes,) that a document has at least that."""
        at_least, total = {}, {}
        for label, chance in chances.items():
            values = (self.known & (self.labels >= label)).astype(float)
            values[self.holes] = chance
            at_least[label] = self.dense(values, self.cutoff(spec))
            total[label] = self.expected_total(label, chance)
        return expected_scores(spec, Likely(at_least, total, gains))

    def expected_total(self, label: int, chance: Floats) -> Floats:
        """Return (topics,) how many documents are expected to have at least a label."""
        return self.found[label] + np.bincount(self.topic_of[self.holes], weights=chance, minlength=self.shape[1])

    def judged_since(self, given: NDArray[np.int16]) -> tuple[Case, NDArray[np.bool_]]:
        """Return the case with further (documents,) labels, and which of the holes are left; below 0 is no label."""
        new = (given >= 0) & ~self.known
        left = given[self.holes] < 0
        n = self.shape[1]
        found = {
            label: known + np.bincount(self.topic_of[new & (given >= label)], minlength=n)
            for label, known in self.found.items()
        }
        labels, judged = np.where(new, given, self.labels), self.judged + np.bincount(self.topic_of[new], minlength=n)
        case = replace(self, known=self.known | new, labels=labels, found=found, judged=judged)
        return replace(case, holes=self.holes[left], features=self.features[left]), left

    def condensed(self, spec: Spec, gains: Mapping[int, float], labels: Sequence[int]) -> Floats:
        """Return (runs, topics) scores of the lists without unjudged documents."""
        known = self.known[self.row]
        place, topic, row = self.place[known], self.topic[known], self.row[known]
        cell = place * self.shape[1] + topic
        rank = np.arange(len(cell)) - np.searchsorted(cell, cell, side="left") + 1
        kept = replace(self, place=place, topic=topic, rank=rank, row=row)
        zeros = {label: np.zeros(len(self.holes)) for label in labels}
        return kept.scored(spec, zeros, gains)[0]

    def bpref(self, rel: int) -> Floats:
        """Return (runs, topics) bpref: it sees judged documents alone."""
        known = self.known[self.row]
        cell, topic = (self.place * self.shape[1] + self.topic)[known], self.topic[known]
        good = self.labels[self.row[known]] >= rel
        before: Rows = np.cumsum(~good) - ~good
        above: Rows = before - before[np.searchsorted(cell, cell, side="left")]
        relevant, others = self.found[rel], self.judged - self.found[rel]
        most = np.maximum(np.minimum(relevant, others), 1)
        lost = np.where(above > 0, np.minimum(above, relevant[topic]) / most[topic], 0.0)
        found = np.bincount(cell, weights=np.where(good, 1 - lost, 0.0), minlength=self.lengths.size)
        return np.divide(found.reshape(self.shape), relevant, out=np.zeros(self.shape), where=relevant > 0)

    def unjudged(self, depth: int) -> Floats:
        """Return (runs,) the mean share of the first documents that are not known."""
        seen = (self.rank <= depth) & self.known[self.row]
        cells = np.bincount(self.place[seen] * self.shape[1] + self.topic[seen], minlength=self.lengths.size)
        returned = np.minimum(self.lengths, depth)
        share = np.divide(cells.reshape(self.shape), returned, out=np.ones(self.shape), where=returned > 0)
        # a topic that a run lacks says nothing of how much of it is judged
        n_topics = np.maximum((returned > 0).sum(axis=1), 1)
        found: Floats = (1 - share).sum(axis=1) / n_topics
        return found


class World:
    """What could be known had some units, `outside`, not been pooled; each other one is left out of that in turn."""

    def __init__(
        self, evidence: Evidence, outside: Sequence[int], labels: Sequence[int], signals: Mapping[str, Signal]
    ):
        self.evidence, self.outside, self.labels, self._signals = evidence, list(outside), list(labels), signals
        others = evidence.n_brought - evidence.brought[:, self.outside].sum(axis=1)
        # what at most one unit brought beside those outside: what may be unknown
        self._contested = np.flatnonzero(((others <= 1) | (evidence.labels < 0)) & (evidence.n_brought > 0))
        place = np.full(len(evidence.labels), -1)
        place[self._contested] = np.arange(len(self._contested))
        kept = np.flatnonzero((place >= 0)[evidence.row])
        at, unit = place[evidence.row[kept]], evidence.units.of_run[evidence.run[kept]]
        shape = (len(self._contested), len(evidence.units))
        cell, rank, n = at * shape[1] + unit, evidence.rank[kept].astype(float), shape[0] * shape[1]
        best = np.full(n, np.inf)
        np.minimum.at(best, cell, rank)
        #: (documents, units) how many runs of a unit have one, their fused ranks, and the best one
        self._runs = np.bincount(cell, minlength=n).reshape(shape)
        self._fused = np.bincount(cell, weights=1 / (_FUSION + rank), minlength=n).reshape(shape)
        self._best = best.reshape(shape)
        self.truth = evidence.known([unit for unit in self.outside if unit not in evidence.new])

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
        mine = evidence.brought[:, unit] & ~known
        if unit not in self.outside:
            mine &= self.truth
        holes, hits = np.flatnonzero(mine), evidence.hits_of_unit[unit]
        runs = np.flatnonzero(evidence.tested & (evidence.units.of_run == unit))
        place = np.zeros(len(evidence.runs), dtype=np.int64)
        place[runs] = np.arange(len(runs))
        row, run, rank = evidence.row[hits], evidence.run[hits], evidence.rank[hits]
        found = {
            label: np.bincount(evidence.topic[known & (evidence.labels >= label)], minlength=evidence.n_topics).astype(
                float
            )
            for label in self.labels
        }
        return Case(
            unit=unit,
            runs=runs,
            place=place[run],
            topic=evidence.topic[row],
            rank=rank,
            row=row,
            topic_of=evidence.topic,
            lengths=evidence.lengths[:, runs].T,
            known=known,
            holes=holes,
            features=self._features((row, run, rank), holes, without, known),
            labels=np.where(self.truth | mine, evidence.labels, UNJUDGED),
            found=found,
            judged=np.bincount(evidence.topic[known], minlength=evidence.n_topics).astype(float),
        )

    def _features(
        self, hits: tuple[Rows, Rows, Rows], holes: Rows, without: Sequence[int], known: NDArray[np.bool_]
    ) -> Floats:
        """Return (holes, features): how the unit ranks what it alone brought, and how the other units do."""
        evidence, (row, run, rank) = self.evidence, hits
        at = np.searchsorted(self._contested, holes)
        others = np.setdiff1d(np.arange(len(evidence.units)), without)
        runs, fused, best = (part[at][:, others] for part in (self._runs, self._fused, self._best))
        relevant = evidence.labels >= 1
        # the run of the unit that has a document at the best rank
        own = np.full(len(evidence.labels), -1)
        own[holes] = np.arange(len(holes))
        mine = np.flatnonzero(own[row] >= 0)
        mine = mine[np.lexsort((run[mine], rank[mine], own[row[mine]]))]
        first = mine[np.diff(own[row[mine]], prepend=-1) > 0]
        best_run, topic = run[first], evidence.topic[holes]
        top = (rank <= evidence.depth) & known[row]
        cell, n = run * evidence.n_topics + evidence.topic[row], len(evidence.runs) * evidence.n_topics
        seen, good = (np.bincount(cell[kept], minlength=n) for kept in (top, top & relevant[row]))
        of_run = [part.reshape(-1, evidence.n_topics).sum(axis=1) for part in (seen, good)]
        precision = ((of_run[1] + 0.5) / (of_run[0] + 1))[best_run]
        here = best_run * evidence.n_topics + topic
        judged, found = (
            np.bincount(evidence.topic[kept], minlength=evidence.n_topics) for kept in (known, known & relevant)
        )
        columns = [
            np.ones(len(holes)),
            np.log(rank[first]),
            np.log1p(runs.sum(axis=1)),
            np.log1p((runs > 0).sum(axis=1)),
            np.log(np.minimum(best.min(axis=1, initial=_NOWHERE), _NOWHERE)),
            np.log(fused.sum(axis=1) + 0.001),
            _logit(((found + 0.5) / (judged + 1))[topic]),
            _logit(precision),
            _logit((good[here] + 2 * precision) / (seen[here] + 2)),
        ]
        for signal in self._signals.values():
            value = signal(known, holes)
            columns += [np.isnan(value).astype(float), np.nan_to_num(value)]
        return np.column_stack(columns)


def _logit(share: Floats) -> Floats:
    inside = np.clip(share, 0.01, 0.99)
    return np.log(inside / (1 - inside))
