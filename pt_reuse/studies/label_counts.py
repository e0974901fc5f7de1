"""Labels of two on the same documents, counted: agreement, kappa, alpha, precision and recall, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.lists import natural_order
from pt_reuse.judging.annotators.measuring import (
    NO_ITEMS,
    ONE_LABEL,
    CohenKappa,
    KrippendorffAlpha,
    band,
    equal_share,
)
from pt_reuse.judging.judges import ComparedLabels

Floats = NDArray[np.float64]
#: over which documents, and what of the labels
ITEMS, TAKEN = ("all", "relevant"), ("grades", "binary")
#: one of each: how documents and labels are looked at
Way: TypeAlias = tuple[str, str]
#: what is computed of each way of looking, in the order of the columns
FIGURES = (
    "agreement", "kappa", "alpha_nominal", "alpha_ordinal", "human_relevant", "judge_relevant", "surplus", "precision",
    "recall",
)  # fmt: skip
#: what is compared beside other people; how much each calls relevant is in the table of all documents
COMPARED = ("agreement", "kappa", "alpha_nominal", "alpha_ordinal", "precision", "recall")
#: why a figure has no value
NONE_BY_JUDGE, NONE_BY_PEOPLE = "the judge calls none relevant", "people call none relevant"


@dataclass(frozen=True)
class BothLabelled:
    """Documents that two labelled, ``qid docno human judge``; `scale` is that of both, None without grades of both."""

    pairs: pd.DataFrame
    rel: int
    judge_rel: int
    scale: tuple[int, ...] | None

    @classmethod
    def of(cls, compared: ComparedLabels, scale: tuple[int, ...]) -> BothLabelled:
        """Return the documents that people and a judge labelled."""
        given = compared.pairs["judge"]
        # labels 0 and 1 beside grades say relevant or not, but where they are relevant from 2 on
        graded = len(scale) > 2 and (given.max() > 1 or compared.judge_rel > 1)
        same = graded and given.max() <= scale[-1] and scale[0] <= given.min() and compared.rel == compared.judge_rel
        known = tuple(np.union1d(scale, given.unique()).tolist()) if same else None
        return cls(compared.pairs, compared.rel, compared.judge_rel, known)

    @classmethod
    def together(cls, several: Sequence[BothLabelled]) -> BothLabelled:
        """Return the documents of several judges as if one had labelled them; one of two judges counts twice."""
        if len({(part.rel, part.judge_rel) for part in several}) > 1:
            several = [part.binary() for part in several]
        scales = [part.scale for part in several if part.scale is not None]
        known = tuple(sorted({label for scale in scales for label in scale})) if len(scales) == len(several) else None
        pairs = pd.concat([part.pairs for part in several], ignore_index=True)
        return cls(pairs, several[0].rel, several[0].judge_rel, known)

    def binary(self) -> BothLabelled:
        """Return the same documents with labels 1 for relevant and 0 for not."""
        human, judge = self.pairs["human"] >= self.rel, self.pairs["judge"] >= self.judge_rel
        return BothLabelled(self.pairs.assign(human=human.astype(np.int64), judge=judge.astype(np.int64)), 1, 1, None)

    def with_other(self, other: BothLabelled) -> tuple[BothLabelled, BothLabelled]:
        """Return the documents that another judge labelled, too, with the labels of either."""
        theirs = other.pairs[["qid", "docno", "human", "judge"]]
        both = self.pairs.merge(theirs, on=["qid", "docno"], suffixes=("", "_other"))
        also = both.assign(human=both["human_other"], judge=both["judge_other"])
        return replace(self, pairs=both), replace(other, pairs=also)

    def against(self, other: BothLabelled) -> BothLabelled:
        """Return the documents that another judge labelled, too, with that one in the place of people."""
        mine, theirs = self.with_other(other)
        both = self.scale is not None and other.scale is not None
        scale = tuple(sorted({*(self.scale or ()), *(other.scale or ())})) if both else None
        return BothLabelled(mine.pairs.assign(human=theirs.pairs["judge"]), other.judge_rel, self.judge_rel, scale)


def scale_of(compared: Sequence[ComparedLabels]) -> tuple[int, ...]:
    """Return the labels that people give, in order."""
    given = [frame["human"] for one in compared for frame in (one.pairs, one.left)]
    return tuple(np.unique(np.concatenate(given)).tolist())


@dataclass(frozen=True)
class LabelCounts:
    """How often each two labels meet: (topics, human, judge) counts; labels in order, topics in natural order."""

    human: NDArray[np.int64]
    judge: NDArray[np.int64]
    topics: list[str]
    counts: Floats
    labelled: BothLabelled

    @classmethod
    def of(cls, labelled: BothLabelled) -> LabelCounts:
        """Count documents that both labelled."""
        pairs = labelled.pairs
        human, judge = (np.unique(pairs[who].to_numpy()) for who in ("human", "judge"))
        if labelled.scale is not None:
            human = judge = np.array(labelled.scale)
        topics = pd.unique(pairs["qid"]).tolist()
        topics = [topics[t] for t in natural_order(topics)]
        place = pairs["qid"].map({topic: t for t, topic in enumerate(topics)}).to_numpy(dtype=np.int64)
        counts = np.zeros((len(topics), len(human), len(judge)))
        np.add.at(counts, (place, np.searchsorted(human, pairs["human"]), np.searchsorted(judge, pairs["judge"])), 1)
        return cls(human, judge, topics, counts, labelled)

    @property
    def graded(self) -> bool:
        """Return whether grades can be compared: one scale for both, of more than two labels."""
        return self.labelled.scale is not None

    @property
    def relevant(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (human,) and (judge,): which labels are relevant."""
        return self.human >= self.labelled.rel, self.judge >= self.labelled.judge_rel

    def ways(self, sums: Floats) -> dict[Way, Floats]:
        """Return (n, labels, labels) counts by items and labels, of (n, human, judge) sums; 1 is relevant of binary."""
        rows, columns = (np.stack([~side, side]).astype(float) for side in self.relevant)
        views = [("grades", sums, np.logical_or.outer(*self.relevant))] if self.graded else []
        views.append(("binary", rows @ sums @ columns.T, np.array([[False, True], [True, True]])))
        return {
            (items, labels): seen if items == "all" else seen * anyone
            for labels, seen, anyone in views
            for items in ITEMS
        }

    def total(self) -> Floats:
        """Return (1, human, judge): the counts of all topics."""
        return np.asarray(self.counts.sum(axis=0, keepdims=True))

    def drawn(self, bootstrap: TopicBootstrap | None) -> tuple[TopicBootstrap, Floats] | None:
        """Return how intervals are made and (resamples, human, judge) counts; None where there is nothing to draw."""
        n_topics = len(self.topics)
        if bootstrap is None or n_topics < 2:
            return None
        times = bootstrap.counts(n_topics).astype(float)
        sums = (times @ self.counts.reshape(n_topics, -1)).reshape(len(times), *self.counts.shape[1:])
        return bootstrap.expanded(n_topics), sums


def figures_of(ways: Mapping[Way, Floats], way: Way) -> dict[str, Floats]:
    """Return the :data:`FIGURES` of confusion matrices, (n,) each, NaN where a figure has no value."""
    seen, relevant = ways[way], ways[way[0], "binary"]
    total, both = relevant.sum(axis=(1, 2)), relevant[:, 1, 1]
    human, judge = relevant[:, 1].sum(axis=1), relevant[:, :, 1].sum(axis=1)
    # of two labels of one document, each meets the other once
    coincidences = seen + seen.transpose(0, 2, 1)
    # of two labels there is no order to count steps in
    several = seen.shape[1] > 2
    found = (
        equal_share(seen),
        CohenKappa(None)(seen),
        KrippendorffAlpha("nominal")(coincidences),
        KrippendorffAlpha("ordinal")(coincidences) if several else np.full(len(seen), np.nan),
        share(human, total),
        share(judge, total),
        share(judge - human, total),
        share(both, judge),
        share(both, human),
    )
    return dict(zip(FIGURES, found, strict=True))


def share(part: Floats, whole: Floats) -> Floats:
    """Return parts over wholes, NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)


def with_ends(figure: str, value: float, bootstrap: TopicBootstrap | None, drawn: Floats | None) -> dict[str, float]:
    """Return a figure and the ends of its percentile interval by (resamples,) draws, as columns."""
    low = high = math.nan
    if drawn is not None and bootstrap is not None:
        low, high = bootstrap.percentiles(value, drawn)
    return {figure: value, f"{figure}_low": low, f"{figure}_high": high}


@dataclass(frozen=True)
class Compared:
    """One who is held against people: its first columns, what was counted, and what is missing."""

    who: Mapping[str, object]
    counts: LabelCounts
    missing: Mapping[str, int]
    without: int

    def overall(self, bootstrap: TopicBootstrap | None) -> Iterator[dict[str, object]]:
        """Yield a row for all and for the relevant documents, in grades and as relevant or not, with intervals."""
        counts, draws = self.counts, self.counts.drawn(bootstrap)
        how, drawn = (None, None) if draws is None else (draws[0], counts.ways(draws[1]))
        ways = counts.ways(counts.total())
        for (items, labels), seen in ways.items():
            found = figures_of(ways, (items, labels))
            again = {} if drawn is None else figures_of(drawn, (items, labels))
            row = {**self.who, "items": items, "labels": labels, "n_topics": len(counts.topics)}
            row |= {"n_items": int(seen.sum()), "missing": sum(self.missing.values()), "without": self.without}
            for figure, value in found.items():
                row |= with_ends(figure, float(value[0]), how, again.get(figure))
            yield row | {"band": band(float(found["kappa"][0])), "why": _why(seen[0], ways[items, "binary"][0])}

    def per_topic(self) -> Iterator[pd.DataFrame]:
        """Yield a row per topic, for all and for the relevant documents, in grades and as relevant or not."""
        ways = self.counts.ways(self.counts.counts)
        for (items, labels), seen in ways.items():
            frame = pd.DataFrame({**self.who, "qid": self.counts.topics, "items": items, "labels": labels})
            yield frame.assign(
                n_items=seen.sum(axis=(1, 2)).astype(np.int64),
                missing=[self.missing.get(topic, 0) for topic in self.counts.topics],
                **figures_of(ways, (items, labels)),
                why=[_why(one, two) for one, two in zip(seen, ways[items, "binary"], strict=True)],
            )

    def by_grade(self, bootstrap: TopicBootstrap | None) -> Iterator[dict[str, object]]:
        """Yield a row per label of people and of the judge: how often it is given, how often the other one agrees."""
        counts, draws, relevant = self.counts, self.counts.drawn(bootstrap), self.counts.relevant
        how, sums = (None, counts.total()) if draws is None else (draws[0], np.concatenate([counts.total(), draws[1]]))
        for given_by, labels, own, other, axis in (
            ("human", counts.human, relevant[0], relevant[1], 2),
            ("judge", counts.judge, relevant[1], relevant[0], 1),
        ):
            # of all topics, and of each draw
            given, called = sums.sum(axis=axis), sums.compress(other, axis=axis).sum(axis=axis)
            for at, label in enumerate(labels.tolist()):
                n = int(given[0, at])
                row = {**self.who, "given_by": given_by, "label": label, "relevant_label": bool(own[at]), "n": n}
                for figure, part, whole in (
                    ("share", given[:, at], given.sum(axis=1)),
                    ("relevant", called[:, at], given[:, at]),
                ):
                    values = share(part, whole)
                    row |= with_ends(figure, float(values[0]), how, values[1:])
                yield row

    def confusion(self) -> pd.DataFrame:
        """Return a row per label of people and label of the judge: how often the two meet."""
        n = self.counts.counts.sum(axis=0)
        shares = [n.sum(), *(np.broadcast_to(n.sum(axis=axis, keepdims=True), n.shape) for axis in (1, 0))]
        found: dict[str, Any] = {"label": np.repeat(self.counts.human, len(self.counts.judge))}
        found |= {"judge_label": np.tile(self.counts.judge, len(self.counts.human)), "n": n.ravel().astype(np.int64)}
        for name, whole in zip(("share", "of_label", "of_judge_label"), shares, strict=True):
            found[name] = share(n, np.broadcast_to(whole, n.shape)).ravel()
        return pd.DataFrame({**self.who, **found})


def _why(seen: Floats, relevant: Floats) -> str:
    """Return why figures of a confusion matrix have no value, nothing where all have one."""
    if not seen.any():
        return NO_ITEMS
    said = [ONE_LABEL] if ((seen.sum(axis=0) + seen.sum(axis=1)) > 0).sum() == 1 else []
    said += [] if relevant[:, 1].any() else [NONE_BY_JUDGE]
    return "; ".join(said + ([] if relevant[1].any() else [NONE_BY_PEOPLE]))


def beside_rows(
    person: BothLabelled, judge: BothLabelled, bootstrap: TopicBootstrap | None
) -> Iterator[dict[str, object]]:
    """Yield what a judge and another person reach with people on documents that both labelled, on the same draws."""
    person, judge = person.with_other(judge)
    if not len(judge.pairs):
        return
    sides = [LabelCounts.of(judge), LabelCounts.of(person)]
    ways = [side.ways(side.total()) for side in sides]
    draws = [side.drawn(bootstrap) for side in sides]
    how = None if draws[0] is None else draws[0][0]
    drawn = [side.ways(draw[1]) for side, draw in zip(sides, draws, strict=True) if draw is not None]
    for labels in TAKEN:
        way = ("all", labels)
        if not all(way in each for each in ways):
            continue
        mine, theirs = (figures_of(each, way) for each in ways)
        again = [figures_of(each, way) for each in drawn]
        for figure in COMPARED:
            value, other = float(mine[figure][0]), float(theirs[figure][0])
            first, second = (again[0][figure], again[1][figure]) if again else (None, None)
            between = None if first is None or second is None else first - second
            row: dict[str, object] = {"labels": labels, "figure": figure}
            row |= {"n_topics": len(sides[0].topics), "n_items": len(judge.pairs)}
            row |= with_ends("value", value, how, first) | with_ends("person_value", other, how, second)
            yield row | with_ends("difference", value - other, how, between)
