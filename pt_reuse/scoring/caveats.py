"""Caveats: what keeps a number, right by its definition, from meaning what it seems to mean."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import ir_measures

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, Part, ReuseWarning, warn
from pt_reuse.qrels.judgments import Qrels

#: a larger share of judgments without a contributor, or of a pool without judgments, is told by a warning
MOSTLY = 0.5
#: up to this share a pool and judgments fit; nobody's record of a pool is cleaner
SLACK = 0.05
#: measures that set judged documents against unjudged ones, besides those with judged_only=True
_OF_JUDGED = ("Judged", "Unjudged", "Bpref", "infAP")
#: the key of `settings` under which caveats stand in a few words
BEWARE = "beware"
_INFER = Call("infer_pool", "runs, qrels")


class CaveatWarning(ReuseWarning):
    """A number was computed as it is defined, and does not mean here what it usually means."""


@dataclass(frozen=True)
class Caveat:
    """What one must know beside a number.

    Attributes:
        note: in a few words, for `settings`.
        parts: the message of the warning.
    """

    note: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class PoolFit:
    """How far a pool and the judgments are the same documents.

    Attributes:
        depth: the pool's.
        judged: documents with a label of at least 0.
        strangers: how many of them no contributing run has down to the depth.
        pooled: documents of the pool.
        unjudged: how many of them have no judgment.
        contributors: runs that made the pool.
        assumed: how many of them count only because nobody recorded whether they were pooled.
    """

    depth: int
    judged: int
    strangers: int
    pooled: int
    unjudged: int
    contributors: int
    assumed: int

    @property
    def stranger_share(self) -> float:
        """Return the share of the judged documents that no contributing run has, 0 where nothing is judged."""
        return self.strangers / max(self.judged, 1)

    @property
    def unjudged_share(self) -> float:
        """Return the share of the pool that has no judgment, 0 where the pool is empty."""
        return self.unjudged / max(self.pooled, 1)

    def in_words(self) -> str:
        """Return how many judged documents have no contributor, as the beginning of a sentence."""
        of = f"{self.strangers:,} of {self.judged:,} judged documents ({self.stranger_share:.0%})"
        return f"{of} are within depth {self.depth} of no contributing run"

    def caveats(self) -> Iterator[Caveat]:
        """Yield what is to be told: judgments that the pool does not explain, a pool that was not judged."""
        yield from self.of_judgments()
        yield from self.of_pool()

    def of_judgments(self) -> Iterator[Caveat]:
        """Yield a caveat where most judgments have no contributor."""
        if self.stranger_share > MOSTLY:
            yield Caveat(
                f"{self.stranger_share:.0%} of the judgments have no contributor",
                (
                    f"{self.in_words()}. If contributing runs are missing here, or the depth or the order is not the "
                    "pool's, uniques are not what they were. If the documents were chosen otherwise, by a classifier "
                    "for instance, they stay whoever is left out. ",
                    _INFER,
                    " says which runs and which depth fit the judgments.",
                ),
            )

    def of_pool(self) -> Iterator[Caveat]:
        """Yield a caveat where most of the pool has no judgment, or more than a little under assumed contributors."""
        without = f"{self.unjudged:,} of the {self.pooled:,} pooled documents ({self.unjudged_share:.0%})"
        if self.assumed and self.unjudged_share > SLACK:
            who = f"{self.assumed:,} of {count(self.contributors, 'contributing run')}"
            yield Caveat(
                f"{who} assumed, {self.unjudged_share:.0%} of the pool unjudged",
                (
                    f"who was pooled is not on record for {who}. They count as contributors, and {without} have no "
                    f"judgment: some were not pooled, or not to depth {self.depth}, and uniques are not what they "
                    "were. ",
                    _INFER,
                    " says which runs must have been; ",
                    Call("runs.with_metadata", "pooled=..."),
                    " keeps it.",
                ),
            )
        elif self.unjudged_share > MOSTLY:
            yield Caveat(
                f"{self.unjudged_share:.0%} of the pool is unjudged",
                (
                    f"{without} have no judgment: nobody judged these runs to depth {self.depth}, and uniques are not "
                    "what they were. ",
                    _INFER,
                    " says which depth fits the judgments.",
                ),
            )


def relevant_only(qrels: Qrels, what: Iterable[str]) -> Iterator[Caveat]:
    """Yield a caveat where judgments hold relevant documents only, so that unjudged and not relevant are the same.

    Args:
        qrels: the judgments.
        what: the names of the numbers that set judged documents against unjudged ones; where there are none, nothing
            needs to be told.
    """
    names, labels = list(what), qrels.arrays.labels
    n = int((labels >= 0).sum())
    if not names or not n or (labels == 0).any():
        return
    negative = len(labels) - n
    less = f" {count(negative, 'label')} below 0 count as no judgment." if negative else ""
    yield Caveat(
        "judgments of relevant documents only",
        (
            f"the {count(n, 'judgment')} are of relevant documents only, none has label 0.{less} So {examples(names)} "
            "cannot tell a document that was found not relevant from one that nobody judged: unjudged is 1 - precision "
            "for every run, and says nothing of how far the judgments cover it.",
        ),
    )


def of_judged(measures: Iterable[ir_measures.Measure]) -> list[str]:
    """Return the names of the measures that set judged documents against unjudged ones."""
    return [repr(m) for m in measures if m.NAME in _OF_JUDGED or m.params.get("judged_only")]


def tell(caveats: Iterable[Caveat]) -> None:
    """Warn of each caveat."""
    for caveat in caveats:
        warn(*caveat.parts, category=CaveatWarning)


def noted(caveats: Iterable[Caveat]) -> dict[str, str]:
    """Return the settings that caveats add: one entry, or none."""
    notes = "; ".join(caveat.note for caveat in caveats)
    return {BEWARE: notes} if notes else {}


@contextmanager
def told_elsewhere() -> Iterator[None]:
    """Let what is called inside warn of no caveat, since the caller tells them in words of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaveatWarning)
        yield
