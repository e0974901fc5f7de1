"""Tables of the labels of people and judges beside each other: overall, by topic, by grade, and how often two meet."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.judging.annotators.coefficients import NO_ITEMS, ONE_LABEL, band
from pt_reuse.studies.label_audit.label_counts import FIGURES, LabelCounts, figures_of, share

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
