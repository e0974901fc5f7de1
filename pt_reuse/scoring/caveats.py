"""How runs fit judgments, and where a number does not mean what it seems to."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.kernels import UNJUDGED, TiedList, over_orders
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.coding import TOPS, ListScores
from pt_reuse.data.judgments import WHOLE, Qrels, Whole, is_relevant_only
from pt_reuse.data.metadata import grade_of
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import Units
from pt_reuse.errors import ReuseWarning, count, examples, note, plural, warn
from pt_reuse.scoring.measures import made_of, native_spec
from pt_reuse.scoring.rescoring import base_scores

#: measures that set judged documents against unjudged ones, besides those with judged_only=True
_OF_JUDGED = ("Judged", "Unjudged", "Bpref", "infAP", "xinfAP", "xinfNDCG", "Low", "High", "Residual", "Condensed")
#: what judgments of relevant documents only cannot show
_NOT_TOLD_APART = (
    "A document that was found not relevant cannot be told from one without a judgment: unjudged is 1 - precision for "
    "every run."
)
#: the key of `settings` under which caveats stand in a few words
BEWARE = "beware"
#: the key of `settings` for runs that leaving their unit out cannot change, which most fields have some of
UNPOOLED = "without contributors"
#: on fewer topics a ranking is mostly chance
FEW_TOPICS = 5


class CaveatWarning(ReuseWarning):
    """A number was computed as it is defined, and does not mean here what it usually means."""


@dataclass(frozen=True)
class Caveat:
    """What one must know beside a number."""

    note: str
    text: str


def relevant_only(qrels: Qrels, whose: str = "") -> Iterator[Caveat]:
    """Yield a caveat where judgments hold relevant documents only, so that unjudged and not relevant are the same."""
    labels, place = qrels.arrays.labels, f"{whose}: " if whose else ""
    if is_relevant_only(labels):
        n = int((labels >= 0).sum())
        less = f" Labels below 0, {len(labels) - n:,} of them, count as no judgment." if n < len(labels) else ""
        said = f"{place}the judgments, {n:,}, are of relevant documents only, none has label 0.{less} {_NOT_TOLD_APART}"
        yield Caveat(f"{place}judgments of relevant documents only", said)


def tell_of_frame(measure: ir_measures.Measure, qrels: pd.DataFrame, whole: Whole | None) -> None:
    """Warn of judgments of relevant documents only that ir_measures hands to a measure; `whole` is known of them."""
    whole = whole or qrels.attrs.get(WHOLE)
    if is_relevant_only(qrels["relevance"].to_numpy()) if whole is None else whole.relevant_only:
        said = f"{measure!r}: the judgments that it gets are of relevant documents only, none has label 0."
        warn(f"{said} {_NOT_TOLD_APART}", category=CaveatWarning)


def none_relevant(qrels: Qrels, rel: int) -> Iterator[Caveat]:
    """Yield a caveat where no judgment is relevant, so that there is nothing to find or to miss."""
    labels = qrels.arrays.labels
    if (labels >= 0).any() and not (labels >= rel).any():
        text = f"no judgment has a label of at least rel={rel}, the largest has {int(labels.max())}: none is relevant."
        yield Caveat(f"no judgment is relevant from label {rel}", text)


def grade_unstated(qrels: Qrels, rel: int | None = None, known: tuple[str, int] | None = None) -> Iterator[Caveat]:
    """Yield a caveat where nobody says from which label documents of a known collection are relevant.

    It is told by its counts, or is `known`: its name and the label from which its track counts.
    """
    if rel is None and qrels.stated_rel is None:
        yield from grade_of_known(len(qrels.topics), qrels.arrays.labels, known)


def grade_of_known(
    n_topics: int, labels: NDArray[np.integer], known: tuple[str, int] | None = None
) -> Iterator[Caveat]:
    """Yield the caveat of :func:`grade_unstated` for labels that state no grade."""
    known = grade_of(n_topics, labels) if known is None else known
    # judgments that were made binary have no such label
    if known is not None and 1 < known[1] <= labels.max(initial=0):
        name, rel = known
        yield Caveat(
            f"relevant from label 1, and from {rel} in the track",
            f"these are the judgments of reuse:{name}, whose track counts documents as relevant from label {rel}, here "
            f"from 1. Give rel={rel!r} with the judgments, or rel=1 where label 1 is meant.",
        )


def few_topics(n_topics: int, where: str = "") -> Iterator[Caveat]:
    """Yield a caveat where there are so few topics that they say little of any other topic."""
    if n_topics < FEW_TOPICS:
        place, topics = f"{where}: " if where else "", count(n_topics, "topic")
        yield Caveat(
            f"{place}{topics} only",
            f"{place}there {'is' if n_topics == 1 else 'are'} {topics} only, which say little of other topics. Have "
            f"{FEW_TOPICS} topics at least; 50 are usual.",
        )


def one_run(n_runs: int) -> Iterator[Caveat]:
    """Yield a caveat where there is one run, and so no ranking."""
    if n_runs == 1:
        what = "there is one run, so there is no ranking: correlations have no value, and no rank can change."
        yield Caveat("1 run only", what)


def one_unit(units: Units, counted: NDArray[np.bool_], so: str) -> Iterator[Caveat]:
    """Yield a caveat where all runs that count are of one team, type or family, so that nothing is told of others."""
    found = np.unique(units.of_run[counted])
    # a single run is told by itself
    if len(found) == 1 and not (units.by == "run" and len(units.of_run) == 1):
        who = f"only one {units.by} counts here, {units.names[found[0]]!r} ({count(int(counted.sum()), 'run')})"
        yield Caveat(f"1 {units.by} only", f"{who}, so {so}.")


def alone(units: Units, counted: NDArray[np.bool_]) -> Iterator[Caveat]:
    """Yield what keeps leaving out each unit from saying anything: one run, or contributing runs of one unit."""
    yield from one_run(len(units.of_run))
    so = "without it nothing is in the pool, and what leaving it out does says nothing of the judgments"
    yield from one_unit(units, counted, so)


def not_pooled(
    units: Units, contributed: NDArray[np.bool_], asked: NDArray[np.bool_] | None = None
) -> Iterator[Caveat]:
    """Yield a caveat where units have runs, of those asked about, and none that contributed to the pool."""
    without = np.bincount(units.of_run[contributed], minlength=len(units))[units.of_run] == 0
    without = without if asked is None else without & asked
    n, lacking = int(without.sum()), [units.names[u] for u in np.unique(units.of_run[without])]
    if n:
        of = units.by if len(lacking) == 1 else plural(units.by)
        mates = "" if units.by == "run" else f", nor did any other of {'its' if n == 1 else 'their'} {of}"
        yield Caveat(
            f"{count(n, 'run')} that did not contribute{mates}",
            f"{count(n, 'run')} did not contribute to the pool{mates} ({examples(lacking)}), so no unique is taken out "
            "and the score is the same whatever the pool is: that nothing is lost says nothing of the judgments. "
            "check_new_run(new, runs, qrels) predicts what such a run would score.",
        )


def of_judged(measures: Iterable[ir_measures.Measure]) -> list[str]:
    """Return the names of the measures that set judged documents against unjudged ones."""
    return [repr(m) for m in measures if _sees_unjudged(m)]


def _sees_unjudged(measure: ir_measures.Measure) -> bool:
    of = made_of(measure)
    mine = measure.NAME in _OF_JUDGED or bool(measure.params.get("judged_only"))
    return mine or (of is not measure and _sees_unjudged(of))


def tell(caveats: Iterable[Caveat]) -> None:
    """Warn of each caveat."""
    for caveat in caveats:
        warn(caveat.text, category=CaveatWarning)


def beware(*caveats: Iterable[Caveat]) -> None:
    """Warn of caveats, of each once, and have the study that is under way keep them in its settings."""
    for caveat in (caveat for some in caveats for caveat in some):
        if note(caveat.note):
            tell([caveat])


def noted(caveats: Iterable[Caveat], key: str = BEWARE) -> dict[str, str]:
    """Return the settings that caveats add: one entry, or none."""
    notes = "; ".join(caveat.note for caveat in caveats)
    return {key: notes} if notes else {}


@contextmanager
def told_elsewhere() -> Iterator[None]:
    """Let what is called inside warn of no caveat, since the caller tells them in words of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        yield


def usual_measures(rel: int | None, binary: ir_measures.Measure = ir_measures.AP) -> list[ir_measures.Measure]:
    """Return the measures that are taken where nobody names any: a binary one, and ``nDCG@10``.

    Example:
        >>> usual_measures(1), usual_measures(2, ir_measures.P @ 10)
        ([AP, nDCG@10], [P(rel=2)@10, nDCG@10])
    """
    return [binary if rel in (None, 1) else binary(rel=rel), ir_measures.nDCG @ 10]


def warn_of_lower_grades(measures: Iterable[ir_measures.Measure], rel: int) -> None:
    """Warn of binary measures that count labels as relevant that for these judgments are not."""
    counting = [measure for measure in measures if counts_from_1(measure)]
    if rel == 1 or not counting:
        return
    meant = ", ".join(repr(measure(rel=rel)) for measure in counting)
    one = len(counting) == 1
    warn(
        f"{', '.join(map(repr, counting))} {'counts' if one else 'count'} documents of label 1 as relevant, and for "
        f"these judgments they are so from label {rel}. Take {meant}, or write (rel=1) where label 1 is meant.",
    )


def counts_from_1(measure: ir_measures.Measure) -> bool:
    """Return whether a measure is binary and nobody said from which label on documents are relevant to it.

    Example:
        >>> [counts_from_1(ir_measures.parse_measure(name)) for name in ("AP", "AP(rel=2)", "nDCG@10", "RBP")]
        [True, False, False, False]
    """
    of = made_of(measure)
    parameter = of.SUPPORTED_PARAMS.get("rel")
    return parameter is not None and parameter.default == 1 and "rel" not in of.params


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
    # runs so many of whose scores are equal that their order may matter much to a measure
    rows, shapes = _judged_topics(runs, qrels), runs.score_shapes
    pairs = np.maximum(runs.field.lengths[rows] - 1, 0)
    some = np.full(len(runs), bool(specs)) & (_share(shapes.tied[rows], pairs) > _MANY)
    for spec in specs.values():
        first = 0 if spec.kernel in ("rr", "success") or (spec.cutoff or TOPS[1]) < TOPS[1] else 1
        some |= _share(shapes.tied_top[first][rows], np.minimum(pairs, TOPS[first])) > _MANY_FIRST
    if not some.any():
        return
    tied, known = runs.select([runs.names[r] for r in np.flatnonzero(some).tolist()]), list(specs)
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
