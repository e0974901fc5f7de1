"""How runs fit judgments: topics and documents that either lacks, scores that are equal or rise with the rank."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse.arrays import tokens
from pt_reuse.arrays.kernels import UNJUDGED, Spec
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.arrays.tied_orders import TiedList, over_orders
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.score_shapes import TOPS, ListScores
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import base_scores

#: by so much the order of equal scores must be able to change a mean for a warning
WIDE = 0.1
#: runs are looked at of which more than this share of the first documents, or of all, have the score of the next
_MANY_FIRST, _MANY = 0.3, 0.9
#: where rows were put in at random, lists that rise all the way are as rare as this; a column of ranks is no chance
_CHANCE = 1e-4
#: what a study finds where it looks for more
_SEE = "check_runs(runs, qrels) shows every run."


@dataclass(frozen=True)
class RunFit:
    """How each run of a field fits judgments: (runs,) numbers; lists are of topics that are judged."""

    names: Sequence[str]
    order: str
    n_topics: int  # of the judgments
    topics: NDArray[np.int64]  # of the judgments, that it has
    unknown: NDArray[np.int64]  # topics that it has and the judgments lack
    lists: NDArray[np.int64]  # of two documents and more
    constant: NDArray[np.int64]  # of these: all scores are equal
    rising: NDArray[np.int64]  # of these: scores rise with the rank
    chance: NDArray[np.float64]  # how likely all that rise do so where only the order of rows says it; 1 for ranks

    @classmethod
    def of(cls, runs: RunSet, qrels: Qrels) -> RunFit:
        """Look at the lists of each run."""
        rows, shapes = _judged_topics(runs, qrels), runs.score_shapes
        lengths = runs.field.lengths
        topics = np.asarray(lengths[rows] > 0).sum(axis=0)
        return cls(
            names=runs.names,
            order=runs.order,
            n_topics=len(qrels.topics),
            topics=topics,
            unknown=np.asarray(lengths > 0).sum(axis=0) - topics,
            lists=np.asarray(lengths[rows] > 1).sum(axis=0),
            constant=shapes.constant[rows].sum(axis=0),
            rising=shapes.rising[rows].sum(axis=0),
            chance=np.exp(-shapes.surprise[rows].sum(axis=0)),
        )

    @property
    def lacking(self) -> NDArray[np.int64]:
        """Return how many topics of the judgments each run lacks."""
        return self.n_topics - self.topics

    @property
    def turned_round(self) -> NDArray[np.bool_]:
        """Return which runs are ranked by scores that rise with the rank, as distances do."""
        every = (self.rising > 0) & (self.rising + self.constant == self.lists) & (self.chance < _CHANCE)
        return np.asarray(every & (self.order in BY_SCORE))


def topics_of_runs(runs: RunSet, qrels: Qrels) -> NDArray[np.bool_]:
    """Return (topics of the qrels, runs): whether the run has documents for the topic."""
    rows = [runs.field.topic_row.get(topic, -1) for topic in qrels.topics]
    has = np.zeros((len(runs.field.topics) + 1, len(runs)), dtype=np.bool_)
    np.greater(runs.field.lengths, 0, out=has[:-1])
    return has[rows]


def _judged_topics(runs: RunSet, qrels: Qrels) -> NDArray[np.int64]:
    place = qrels.arrays.documents.place
    return np.array([row for row, topic in enumerate(runs.field.topics) if topic in place], dtype=np.int64)


def _by_topic(runs: RunSet, qrels: Qrels) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield of each judged topic (runs,) how many documents lists have, and how many of these have a judgment."""
    index = HitIndex(runs.field, qrels.arrays.documents)
    for t in index.topics:
        hits = index.gather(range(t, t + 1))
        yield hits.lengths, np.diff(hits.starts)


def judged_documents(runs: RunSet, qrels: Qrels) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (runs,): how many documents of judged topics each run has, and how many of these have a judgment."""
    documents, judged = np.zeros((2, len(runs)), dtype=np.int64)
    for lengths, of_judged in _by_topic(runs, qrels):
        documents += lengths
        judged += of_judged
    return documents, judged


def without_judged(runs: RunSet, qrels: Qrels) -> NDArray[np.bool_]:
    """Return (runs,): which runs have documents, none of which has a judgment."""
    some, none = np.zeros(len(runs), dtype=np.bool_), np.ones(len(runs), dtype=np.bool_)
    for lengths, judged in _by_topic(runs, qrels):
        some |= lengths > 0
        none &= judged == 0
        # nearly every run has a judged document of the first topic
        if some.all() and not none.any():
            break
    return np.asarray(none & some)


@dataclass(frozen=True)
class OverOrders:
    """The means of runs over all orders of documents with equal scores, (measures, runs); NaN where nobody knows."""

    low: NDArray[np.float64]
    mean: NDArray[np.float64]
    high: NDArray[np.float64]


def _tied_runs(runs: RunSet, qrels: Qrels, spec: Spec) -> NDArray[np.int64]:
    """Return the runs so many of whose scores are equal that their order may matter much to a measure."""
    rows, shapes = _judged_topics(runs, qrels), runs.score_shapes
    pairs = np.maximum(runs.field.lengths[rows] - 1, 0)
    first = 0 if spec.kernel in ("rr", "success") or (spec.cutoff or TOPS[1]) < TOPS[1] else 1
    top = _share(shapes.tied_top[first][rows], np.minimum(pairs, TOPS[first]))
    return np.flatnonzero((top > _MANY_FIRST) | (_share(shapes.tied[rows], pairs) > _MANY))


def _share(tied: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(tied.sum(axis=0) / np.maximum(pairs.sum(axis=0), 1))


def over_tied_orders(
    runs: RunSet, qrels: Qrels, measures: Sequence[ir_measures.Measure], values: NDArray[np.float64], *, complete: bool
) -> OverOrders:
    """Return the means over all orders of equal scores, of (measures, topics, runs) `values` in their own order."""
    specs = [native_spec(measure) for measure in measures]
    ends = np.repeat(values[None], 3, axis=0)
    ends[:, [m for m, spec in enumerate(specs) if spec is None]] = np.nan
    known = [(m, spec) for m, spec in enumerate(specs) if spec is not None]
    for t, r, ranked, first, judged in _tied_lists(runs, qrels):
        for m, spec in known:
            if spec.depth is None or first <= spec.depth:
                own, found = values[m, t, r], over_orders(spec, ranked, judged)
                # its own order is one of them, whatever the last bits say
                ends[:, m, t, r] = min(found[0], own), found[1], max(found[2], own)
    weights = np.ones(values.shape[1:])
    if not complete:
        weights = topics_of_runs(runs, qrels).astype(np.float64)
    means = (ends * weights).sum(axis=2) / np.maximum(weights.sum(axis=0), 1)
    return OverOrders(*means)


def tied_shares(runs: RunSet, qrels: Qrels, cutoffs: Sequence[int | None]) -> NDArray[np.float64]:
    """Return (cutoffs, runs): the share of documents down to each cutoff that have the score of the next."""
    tied, pairs = np.zeros((2, len(cutoffs), len(runs)), dtype=np.int64)
    for block, chosen in _blocks(runs, qrels):
        for c, cutoff in enumerate(cutoffs):
            tied[c] += block.tied(cutoff).reshape(-1, len(runs))[chosen].sum(axis=0)
            pairs[c] += block.neighbours(cutoff).reshape(-1, len(runs))[chosen].sum(axis=0)
    return np.asarray(tied / np.maximum(pairs, 1))


def _blocks(runs: RunSet, qrels: Qrels) -> Iterator[tuple[ListScores, NDArray[np.int64]]]:
    """Yield each block of a field, and its rows of topics that are judged, where it has some."""
    rows = _judged_topics(runs, qrels)
    for i, part in enumerate(runs.field.parts):
        chosen = rows[(rows >= part.start) & (rows < part.stop)] - part.start
        if len(chosen):
            yield ListScores(runs.field.part(i), runs.order), chosen


def _tied_lists(runs: RunSet, qrels: Qrels) -> Iterator[tuple[int, int, TiedList, int, NDArray[np.int16]]]:
    """Yield topic, run, list, rank of the first tie and labels of the topic, of each list with ties."""
    documents = qrels.arrays.documents
    index = HitIndex(runs.field, documents)
    for block, chosen in _blocks(runs, qrels):
        tied = block.tied().reshape(-1, len(runs))
        for at in chosen.tolist():
            some = np.flatnonzero(tied[at])
            if not len(some):
                continue
            t = documents.place[block.field.topics[at]]
            judged = qrels.arrays.labels[documents.rows(t)]
            (row_of_code,) = index.rows_of_codes(range(t, t + 1))
            labels = np.append(judged, UNJUDGED)[row_of_code]
            for r in some.tolist():
                rows = block.field.list_of(at, r)
                keys = block.keys[rows]
                # no difference: scores beyond float32 are infinite, and equal
                new = np.concatenate([[True], keys[1:] != keys[:-1]])
                yield t, r, TiedList(labels[block.field.codes[rows]], np.cumsum(new)), int(new.argmin()), judged


#: so many first documents are compared to find a run that is in a field under another name
_FIRST = 10


def copies(runs: RunSet, new: Collection[str]) -> Iterator[Caveat]:
    """Yield a caveat for each new run whose first documents are those of another run on every topic."""
    first = _first_documents(runs, _FIRST)
    of_lists = {first[r]: name for r, name in enumerate(runs.names) if name not in new}
    for r, name in enumerate(runs.names):
        if name in new and (same := of_lists.get(first[r])):
            yield Caveat(
                f"{name!r} is {same!r}",
                f"run {name!r} has the same first {_FIRST} documents as {same!r} of the field on every topic. If it "
                "was pooled it is no new run: leave_out_uniques leaves out each team.",
            )


def twins(runs: RunSet, depth: int, by: str, unit: Sequence[int], contributing: NDArray[np.bool_]) -> Iterator[Caveat]:
    """Yield a caveat where contributing runs of two units brought the same documents to a depth on every topic."""
    some = contributing & (runs.field.lengths.sum(axis=0) > 0)
    first, of_lists = _first_documents(runs, depth), dict[bytes, int]()
    for r in np.flatnonzero(some).tolist():
        other = of_lists.setdefault(first[r], r)
        if unit[other] != unit[r]:
            names = f"{runs.names[r]!r} and {runs.names[other]!r}"
            yield Caveat(
                f"{names} are the same",
                f"runs {names}, of two {by}s, have the same first {depth:,} documents on every topic: what they "
                "brought is unique to neither. Are they one run under two names?",
            )


def _first_documents(runs: RunSet, depth: int) -> list[bytes]:
    """Return of each run a digest of its first documents on all topics, alike where these are the same."""
    field, first = runs.field, [blake2b(digest_size=16) for _ in runs.names]
    for t in range(len(field.topics)):
        block, at = field.of(t)
        for r, tops in enumerate(first):
            codes = block.codes[block.list_of(at, r)][:depth]
            # with its length, so that no document is taken for one of the next topic
            tops.update(len(codes).to_bytes(4, "little") + codes.tobytes())
    return [tops.digest() for tops in first]


def _who(names: Sequence[str]) -> str:
    return f"run {names[0]!r}" if len(names) == 1 else f"{len(names):,} runs ({examples(names)})"


def misfits(
    runs: RunSet,
    qrels: Qrels,
    measures: Iterable[ir_measures.Measure] = (),
    *,
    complete: bool = True,
    without_topics: str = "error",
) -> Iterator[Caveat]:
    """Yield a caveat for what makes scores of runs other than they would be if they fitted the judgments.

    That a run lacks topics is none where its mean is over its own, or where it is said that these count 0.
    """
    fit, measures = RunFit.of(runs, qrels), list(measures)
    lacking = (fit.lacking > 0) & (fit.topics > 0)
    if complete and without_topics == "error" and lacking.any():
        yield _of_topics(runs, qrels, fit, lacking, scored=bool(measures))
    none = without_judged(runs, qrels)
    if none.any() and len(qrels):
        names = [runs.names[r] for r in np.flatnonzero(none).tolist()]
        mine = runs.select(names[0]).field.part(0)
        docno = tokens.decode(tokens.as_tokens(mine.words_of(np.zeros(1, dtype=np.int64))))[0]
        yield Caveat(
            f"{count(len(names), 'run')} without a judged document",
            f"no document of {_who(names)} has a judgment. Are docnos written alike? {names[0]!r} has {docno!r}, the "
            f"judgments {qrels.arrays.documents.docno(0)!r}. {_SEE}",
        )
    if fit.turned_round.any():
        names = [fit.names[r] for r in np.flatnonzero(fit.turned_round).tolist()]
        yield Caveat(
            f"{count(len(names), 'run')} with scores that rise with the rank",
            f"the scores of {_who(names)} rise with the rank, as distances do, and the highest ranks first. Give minus "
            f"the distance as score, or read the runs by their ranks: order='rank'. {_SEE}",
        )
    yield from _of_ties(runs, qrels, measures, complete)


def _of_topics(runs: RunSet, qrels: Qrels, fit: RunFit, lacking: NDArray[np.bool_], *, scored: bool) -> Caveat:
    worst, n_runs = int(np.where(lacking, fit.lacking, 0).argmax()), int(lacking.sum())
    n, name = int(fit.lacking[worst]), fit.names[worst]
    mine = runs.select(name).topics
    absent = [topic for topic in qrels.topics if topic not in set(mine)]
    other = [topic for topic in mine if topic not in qrels.arrays.documents.place]
    lacks = f"run {name!r} lacks {n:,} of {count(fit.n_topics, 'topic')}, such as {absent[0]!r}"
    lacks = f"{count(n_runs, 'run')} lack topics of the judgments; {lacks}" if n_runs > 1 else lacks
    ids = f" It has {examples(other)}, which the judgments lack: are the ids written alike?" if other else ""
    # ranks and pools have no mean in which it could count
    zero = " A topic that a run lacks counts 0." if scored else ""
    note = f"{count(n_runs, 'run')} without {count(n, 'topic')} of the judgments{' or fewer' if n > 1 else ''}"
    return Caveat(note, f"{lacks}.{zero}{ids} {_SEE}")


def _of_ties(runs: RunSet, qrels: Qrels, measures: Iterable[ir_measures.Measure], complete: bool) -> Iterator[Caveat]:
    specs = {measure: spec for measure in measures if (spec := native_spec(measure)) is not None}
    some = sorted({int(r) for spec in specs.values() for r in _tied_runs(runs, qrels, spec)})
    if not some:
        return
    tied, known = runs.select([runs.names[r] for r in some]), list(specs)
    found = over_tied_orders(tied, qrels, known, base_scores(tied, qrels, known), complete=complete)
    width = found.high - found.low
    wide = width > WIDE
    if not wide.any():
        return
    names = [tied.names[r] for r in np.flatnonzero(wide.any(axis=0))]
    m, r = np.unravel_index(int(width.argmax()), width.shape)
    low, mean, high = (of[m, r] for of in (found.low, found.mean, found.high))
    yield Caveat(
        f"{count(len(names), 'run')} whose scores depend on the order of equal scores",
        f"the means of {_who(names)} depend on the order of documents with equal scores: {known[m]!r} of "
        f"{tied.names[r]!r} is from {low:.4f} to {high:.4f}, in the mean of all orders {mean:.4f}. {_SEE}",
    )
