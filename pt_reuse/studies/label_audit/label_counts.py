"""Labels of two on the same documents, counted: agreement, kappa, alpha, precision and recall, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, InputError, located, warn
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.lists import natural_order
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.annotators.coefficients import (
    NO_ITEMS,
    ONE_LABEL,
    CohenKappa,
    KrippendorffAlpha,
    band,
    equal_share,
)
from pt_reuse.judging.annotators.labels import AnnotatorLabels
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import ComparedLabels, Scale, compared_labels, lowest_relevant
from pt_reuse.judging.oracle import Oracle


@dataclass(frozen=True)
class BothLabelled:
    """Documents that two have labelled.

    Attributes:
        pairs: ``qid docno human judge``, a row per document; per document and person where several count as one.
        rel: the lowest label of people that is relevant.
        judge_rel: the lowest label of the judge that is relevant.
        scale: the labels that both can give, in order, where their labels can be compared as grades; None where these
            are two, or mean something else. They mean the same where they are relevant from the same one on, and the
            judge gives none beyond those of people.
    """

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
        graded = graded and given.max() <= scale[-1] and scale[0] <= given.min()
        same = graded and compared.rel == compared.judge_rel
        known = tuple(np.union1d(scale, given.unique()).tolist()) if same else None
        return cls(compared.pairs, compared.rel, compared.judge_rel, known)

    @classmethod
    def together(cls, several: Sequence[BothLabelled]) -> BothLabelled:
        """Return the documents of several judges as if one had labelled them; one of two judges counts twice.

        Where they differ in what is relevant, relevant or not is all that is left of their labels.
        """
        if len({(part.rel, part.judge_rel) for part in several}) > 1:
            several = [part.binary() for part in several]
        scales = [part.scale for part in several if part.scale is not None]
        known = sorted({label for scale in scales for label in scale}) if len(scales) == len(several) else None
        pairs = pd.concat([part.pairs for part in several], ignore_index=True)
        return cls(pairs, several[0].rel, several[0].judge_rel, None if known is None else tuple(known))

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
        pairs = mine.pairs.assign(human=theirs.pairs["judge"])
        scale = None
        if self.scale is not None and other.scale is not None:
            scale = tuple(sorted({*self.scale, *other.scale}))
        return BothLabelled(pairs, other.judge_rel, self.judge_rel, scale)


def scale_of(compared: Sequence[ComparedLabels]) -> tuple[int, ...]:
    """Return the labels that people give, in order."""
    given = [frame["human"] for one in compared for frame in (one.pairs, one.left)]
    return tuple(np.unique(np.concatenate(given)).tolist())


#: over which documents, and what of the labels
ITEMS, TAKEN = ("all", "relevant"), ("grades", "binary")
#: one of each: how documents and labels are looked at
Way: TypeAlias = tuple[str, str]
#: what is computed of each way of looking, in the order of the columns
FIGURES = (
    "agreement", "kappa", "alpha_nominal", "alpha_ordinal", "human_relevant", "judge_relevant", "surplus", "precision",
    "recall",
)  # fmt: skip


@dataclass(frozen=True)
class LabelCounts:
    """How often each two labels meet.

    Attributes:
        human: the labels of people, in order.
        judge: the labels of the judge, in order; those of `human` where both are on one scale.
        topics: the topics, in natural order.
        counts: (topics, human, judge) how many documents have these two labels.
        rel: the lowest label of people that is relevant.
        judge_rel: the lowest label of the judge that is relevant.
        graded: whether grades can be compared: one scale for both, of more than two labels.
    """

    human: tuple[int, ...]
    judge: tuple[int, ...]
    topics: tuple[str, ...]
    counts: NDArray[np.float64]
    rel: int
    judge_rel: int
    graded: bool

    @classmethod
    def of(cls, labelled: BothLabelled) -> LabelCounts:
        """Count documents that both labelled."""
        pairs = labelled.pairs
        if labelled.scale is None:
            human, judge = (np.unique(pairs[who].to_numpy()) for who in ("human", "judge"))
        else:
            human = judge = np.array(labelled.scale)
        topics = pd.unique(pairs["qid"]).tolist()
        topics = [topics[t] for t in natural_order(topics)]
        place = pairs["qid"].map({topic: t for t, topic in enumerate(topics)}).to_numpy(dtype=np.int64)
        shape = (len(topics), len(human), len(judge))
        at = (place, np.searchsorted(human, pairs["human"]), np.searchsorted(judge, pairs["judge"]))
        counts = np.bincount(np.ravel_multi_index(at, shape), minlength=math.prod(shape)).reshape(shape)
        return cls(
            human=tuple(human.tolist()),
            judge=tuple(judge.tolist()),
            topics=tuple(topics),
            counts=counts.astype(float),
            rel=labelled.rel,
            judge_rel=labelled.judge_rel,
            graded=labelled.scale is not None,
        )

    @property
    def relevant(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (human,) and (judge,): which labels are relevant."""
        return np.array(self.human) >= self.rel, np.array(self.judge) >= self.judge_rel

    def binary(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, 2, 2): how often people and the judge say relevant, of (n, human, judge) sums; 1 is relevant."""
        rows, columns = (np.stack([~side, side]).astype(float) for side in self.relevant)
        found: NDArray[np.float64] = rows @ sums @ columns.T
        return found

    def ways(self, sums: NDArray[np.float64]) -> dict[Way, NDArray[np.float64]]:
        """Return (n, labels, labels) counts by items and labels, of (n, human, judge) sums.

        Labels are ``"grades"`` where these can be compared, and ``"binary"``; items are all, or the relevant ones:
        those that people or the judge call relevant.
        """
        views = [("grades", sums, np.logical_or.outer(*self.relevant))] if self.graded else []
        views.append(("binary", self.binary(sums), np.array([[False, True], [True, True]])))
        found = {}
        for labels, seen, anyone in views:
            found["all", labels] = seen
            found["relevant", labels] = seen * anyone
        return found

    def drawn(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (resamples, human, judge): the counts of (resamples, topics) draws."""
        flat = self.counts.reshape(len(self.topics), -1)
        found: NDArray[np.float64] = (times.astype(float) @ flat).reshape(len(times), *self.counts.shape[1:])
        return found


def figures_of(ways: Mapping[Way, NDArray[np.float64]], way: Way) -> dict[str, NDArray[np.float64]]:
    """Return the :data:`FIGURES` of confusion matrices, (n,) each, NaN where a figure has no value."""
    seen, relevant = ways[way], ways[way[0], "binary"]
    total, both = relevant.sum(axis=(1, 2)), relevant[:, 1, 1]
    human, judge = relevant[:, 1].sum(axis=1), relevant[:, :, 1].sum(axis=1)
    # of two labels of one document, each meets the other once
    coincidences = seen + seen.transpose(0, 2, 1)
    found = {
        "agreement": equal_share(seen),
        "kappa": CohenKappa(None)(seen),
        "alpha_nominal": KrippendorffAlpha("nominal")(coincidences),
        # of two labels there is no order to count steps in
        "alpha_ordinal": KrippendorffAlpha("ordinal")(coincidences)
        if seen.shape[1] > 2
        else np.full(len(seen), np.nan),
        "human_relevant": share(human, total),
        "judge_relevant": share(judge, total),
        "surplus": share(judge - human, total),
        "precision": share(both, judge),
        "recall": share(both, human),
    }
    return {figure: found[figure] for figure in FIGURES}


def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return parts over wholes, NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)


#: why a figure has no value
NONE_BY_JUDGE, NONE_BY_PEOPLE = "the judge calls none relevant", "people call none relevant"
WITH_ENDS = tuple(column for figure in FIGURES for column in (figure, f"{figure}_low", f"{figure}_high"))
OVERALL = ("items", "labels", "n_topics", "n_items", "missing", "without", *WITH_ENDS, "band", "why")
PER_TOPIC = ("qid", "items", "labels", "n_items", "missing", *FIGURES, "why")
BY_GRADE = (
    "given_by", "label", "relevant_label", "n", "share", "share_low", "share_high", "relevant", "relevant_low",
    "relevant_high",
)  # fmt: skip
CONFUSION = ("label", "judge_label", "n", "share", "of_label", "of_judge_label")


@dataclass(frozen=True)
class Compared:
    """One who is held against people: what was counted, and what is missing.

    Attributes:
        who: the first columns of each row, ``judge kind`` and the like.
        counts: how often two labels meet.
        missing: topic -> how many documents of it lack a label of the judge.
        without: topics of people in which the judge labelled nothing.
    """

    who: Mapping[str, object]
    counts: LabelCounts
    missing: Mapping[str, int]
    without: int

    def overall(self, bootstrap: TopicBootstrap | None) -> Iterator[dict[str, object]]:
        """Yield a row for all and for the relevant documents, in grades and as relevant or not, with intervals."""
        counts = self.counts
        how = usable(bootstrap, len(counts.topics))
        of_draws = None if how is None else counts.ways(counts.drawn(how.counts(len(counts.topics))))
        ways = counts.ways(counts.counts.sum(axis=0, keepdims=True))
        for way, seen in ways.items():
            items, labels = way
            found = figures_of(ways, way)
            again = {} if of_draws is None else figures_of(of_draws, way)
            row = {**self.who, "items": items, "labels": labels, "n_topics": len(counts.topics)}
            row |= {"n_items": int(seen.sum()), "missing": sum(self.missing.values()), "without": self.without}
            for figure, value in found.items():
                row |= with_ends(figure, float(value[0]), again.get(figure), how)
            yield row | {"band": band(float(found["kappa"][0])), "why": _why(seen[0], ways[items, "binary"][0])}

    def per_topic(self) -> pd.DataFrame:
        """Return a row per topic, for all and for the relevant documents, in grades and as relevant or not."""
        frames = []
        ways = self.counts.ways(self.counts.counts)
        for (items, labels), seen in ways.items():
            relevant = ways[items, "binary"]
            frame = pd.DataFrame({**self.who, "qid": list(self.counts.topics), "items": items, "labels": labels})
            frame = frame.assign(
                n_items=seen.sum(axis=(1, 2)).astype(np.int64),
                missing=[self.missing.get(topic, 0) for topic in self.counts.topics],
                **figures_of(ways, (items, labels)),
                why=[_why(one, two) for one, two in zip(seen, relevant, strict=True)],
            )
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def by_grade(self, bootstrap: TopicBootstrap | None) -> Iterator[dict[str, object]]:
        """Yield a row per label of people and of the judge: how often it is given, how often the other one agrees."""
        counts, how = self.counts, usable(bootstrap, len(self.counts.topics))
        drawn = None if how is None else counts.drawn(how.counts(len(counts.topics)))
        everything = counts.counts.sum(axis=0, keepdims=True)
        relevant = counts.relevant
        for given_by, labels, own, other, axis in (
            ("human", counts.human, relevant[0], relevant[1], 2),
            ("judge", counts.judge, relevant[1], relevant[0], 1),
        ):
            given, called = _by_label(everything, other, axis)
            again = None if drawn is None else _by_label(drawn, other, axis)
            for at, label in enumerate(labels):
                n = given[0, at]
                row = {**self.who, "given_by": given_by, "label": label, "relevant_label": bool(own[at]), "n": int(n)}
                of_draws = None if again is None else share(again[0][:, at], again[0].sum(axis=1))
                row |= with_ends("share", float(share(n, given[0].sum())), of_draws, how)
                of_draws = None if again is None else share(again[1][:, at], again[0][:, at])
                yield row | with_ends("relevant", float(share(called[0, at], n)), of_draws, how)

    def confusion(self) -> pd.DataFrame:
        """Return a row per label of people and label of the judge: how often the two meet."""
        n = self.counts.counts.sum(axis=0)
        return pd.DataFrame(
            {
                **self.who,
                "label": np.repeat(self.counts.human, len(self.counts.judge)),
                "judge_label": np.tile(self.counts.judge, len(self.counts.human)),
                "n": n.ravel().astype(np.int64),
                "share": (n / n.sum()).ravel(),
                "of_label": share(n, np.broadcast_to(n.sum(axis=1, keepdims=True), n.shape)).ravel(),
                "of_judge_label": share(n, np.broadcast_to(n.sum(axis=0, keepdims=True), n.shape)).ravel(),
            }
        )


def usable(bootstrap: TopicBootstrap | None, n_topics: int) -> TopicBootstrap | None:
    """Return how intervals of so many topics are made, None for none: of one topic every draw is the same.

    Figures here are ratios of sums or smooth functions of them, so that a percentile interval has no bias to speak of;
    but with few topics it is too narrow. So it is expanded (docs/experiments/label-agreement-coverage.txt).
    """
    return None if bootstrap is None or n_topics < 2 else bootstrap.expanded(n_topics)


def _by_label(
    sums: NDArray[np.float64], relevant: NDArray[np.bool_], axis: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (n, labels) twice: how often each label is given, and how often the other one calls that relevant."""
    called = sums[:, :, relevant] if axis == 2 else sums[:, relevant]
    return sums.sum(axis=axis), called.sum(axis=axis)


def with_ends(
    figure: str, value: float, drawn: NDArray[np.float64] | None, bootstrap: TopicBootstrap | None
) -> dict[str, float]:
    """Return a figure and the ends of its percentile interval, as columns.

    Args:
        figure: its name.
        value: of all topics.
        drawn: (resamples,) the same of each draw, None for no interval.
        bootstrap: how intervals are made.
    """
    low = high = math.nan
    if drawn is not None and bootstrap is not None:
        low, high = bootstrap.percentiles(value, drawn)
    return {figure: value, f"{figure}_low": low, f"{figure}_high": high}


def _why(seen: NDArray[np.float64], relevant: NDArray[np.float64]) -> str:
    """Return why figures of a confusion matrix have no value, nothing where all have one."""
    if not seen.any():
        return NO_ITEMS
    said = [ONE_LABEL] if ((seen.sum(axis=0) + seen.sum(axis=1)) > 0).sum() == 1 else []
    said += [] if relevant[:, 1].any() else [NONE_BY_JUDGE]
    return "; ".join(said + ([] if relevant[1].any() else [NONE_BY_PEOPLE]))


#: what other people are called where all of them count as one
TOGETHER = "people together"
COLUMNS = (
    "judge", "person", "labels", "figure", "n_topics", "n_items", "value", "value_low", "value_high", "person_value",
    "person_value_low", "person_value_high", "difference", "difference_low", "difference_high",
)  # fmt: skip
#: what is compared; how much each calls relevant is in the table of all documents
COMPARED = ("agreement", "kappa", "alpha_nominal", "alpha_ordinal", "precision", "recall")


def beside_people(
    judges: Mapping[str, BothLabelled], people: Mapping[str, BothLabelled], bootstrap: TopicBootstrap | None
) -> pd.DataFrame:
    """Return what each judge and each other person reach with people on the documents that both labelled.

    Args:
        judges: name -> labels beside those of people.
        people: name of another person -> labels beside those of the same people.
        bootstrap: how intervals are made: both are drawn on the same topics, so that their difference has an interval;
            None for none.
    """
    rows = [
        {"judge": judge, "person": person, **row}
        for judge, mine in judges.items()
        for person, theirs in people.items()
        for row in _rows(*theirs.with_other(mine), bootstrap)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(person: BothLabelled, judge: BothLabelled, bootstrap: TopicBootstrap | None) -> Iterator[dict[str, object]]:
    if not len(judge.pairs):
        return
    sides = [LabelCounts.of(judge), LabelCounts.of(person)]
    topics = sides[0].topics
    ways = [side.ways(side.counts.sum(axis=0, keepdims=True)) for side in sides]
    how = usable(bootstrap, len(topics))
    drawn = None if how is None else [side.ways(side.drawn(how.counts(len(topics)))) for side in sides]
    for labels in ("grades", "binary"):
        way = ("all", labels)
        if not all(way in each for each in ways):
            continue
        mine, theirs = (figures_of(each, way) for each in ways)
        again = None if drawn is None else [figures_of(each, way) for each in drawn]
        for figure in COMPARED:
            value, other = float(mine[figure][0]), float(theirs[figure][0])
            draws = (None, None) if again is None else (again[0][figure], again[1][figure])
            row: dict[str, object] = {"labels": labels, "figure": figure}
            row |= {"n_topics": len(topics), "n_items": len(judge.pairs)}
            row |= with_ends("value", value, draws[0], how)
            row |= with_ends("person_value", other, draws[1], how)
            between = None if draws[0] is None or draws[1] is None else draws[0] - draws[1]
            yield row | with_ends("difference", value - other, between, how)


def compared_people(human: Qrels, people: AnnotatorLabels) -> Iterator[ComparedLabels]:
    """Yield the labels of each other person beside judgments.

    People are often given a part of the topics. So the topics that a person has no label of do not count as missing.

    Args:
        human: the judgments.
        people: the other people; labels 0 and 1 are relevant from 1 on, others from where the labels say, or as those
            of the judgments.

    Raises:
        InputError: one who labelled none of the documents that are judged.

    Warns:
        ReuseWarning: one whose labels are 0 and 1 while others gave more, which may be grades, too.
    """
    _warn_of_few_grades(human, people)
    frame = human.to_frame()
    judged = frame.loc[frame["label"] >= 0, ["qid", "docno"]]
    for number, name in enumerate(people.annotators):
        # below 0 there is no label, as in judgments
        mine = people.values[:, number] >= 0
        columns = {"qid": people.qids, "docno": people.docnos, "label": people.values[:, number]}
        given = pd.DataFrame({column: values[mine] for column, values in columns.items()})
        there = set(judged.merge(given, on=["qid", "docno"])["qid"])
        if not there:
            with located(name):
                raise InputError(
                    f"this person labelled none of the {count(len(judged), 'document')} that are judged. Are these "
                    "labels of the same collection, with ids written alike?",
                    argument="people",
                )
        # people are taken to grade on one scale, whichever of its labels each of them gave
        scale = Scale(human.rel, int(given["label"].max()))
        lowest = lowest_relevant(given["label"], scale) if people.rel is None else people.rel
        person = NamedJudge(name, Oracle(Qrels(given)), lowest)
        yield compared_labels(human.select([topic for topic in human.topics if topic in there]), person)


def _warn_of_few_grades(human: Qrels, people: AnnotatorLabels) -> None:
    """Warn of people whose labels are 0 and 1 beside others who gave grades: few labels may happen to be the lowest."""
    highest = people.values.max(axis=0)
    if people.rel is not None or human.rel == 1 or highest.max() <= 1:
        return
    low = [name for name, most in zip(people.annotators, highest.tolist(), strict=True) if most <= 1]
    if low:
        warn(
            f"the labels of {examples(low)} are 0 and 1, and others gave up to {highest.max()}. They are taken as not "
            f"relevant and relevant. Where they are grades, say of all people from which one on they are relevant: ",
            Call("Qrels", f"..., rel={human.rel}"),
            ".",
        )
