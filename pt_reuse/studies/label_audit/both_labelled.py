"""Documents that two have labelled: people and a judge, people and several other people, or two of those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pt_reuse.judging.label_pairs import ComparedLabels


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
