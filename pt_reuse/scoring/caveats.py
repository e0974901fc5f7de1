"""Where a number does not mean what it seems to: notes on judgments, topics and runs; grades of measures."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, plural
from pt_reuse.data.catalogue import grade_of
from pt_reuse.data.judgments import WHOLE, Qrels, Whole, is_relevant_only
from pt_reuse.data.units import Units
from pt_reuse.errors import ReuseWarning, note, warn
from pt_reuse.scoring.measures import made_of

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
