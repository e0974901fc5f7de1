"""Documents that two have labelled: people and a judge, people and several other people, or two of those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """

    pairs: pd.DataFrame
    rel: int
    judge_rel: int

    @classmethod
    def of(cls, compared: ComparedLabels) -> BothLabelled:
        """Return the documents that people and a judge labelled."""
        return cls(compared.pairs, compared.rel, compared.judge_rel)

    @classmethod
    def together(cls, several: Sequence[ComparedLabels]) -> BothLabelled:
        """Return the documents of several judges as if one had labelled them; one of two judges counts twice.

        Where they differ in what is relevant, relevant or not is all that is left of their labels.

        Args:
            several: what each says beside the same judgments, one or more.
        """
        parts = [cls.of(one) for one in several]
        if len({(part.rel, part.judge_rel) for part in parts}) > 1:
            parts = [part.binary() for part in parts]
        return cls(pd.concat([part.pairs for part in parts], ignore_index=True), parts[0].rel, parts[0].judge_rel)

    def binary(self) -> BothLabelled:
        """Return the same documents with labels 1 for relevant and 0 for not."""
        human, judge = self.pairs["human"] >= self.rel, self.pairs["judge"] >= self.judge_rel
        return BothLabelled(self.pairs.assign(human=human.astype(np.int64), judge=judge.astype(np.int64)), 1, 1)

    def as_labelled_by(self, other: ComparedLabels) -> BothLabelled:
        """Return those of the documents that another judge labelled, too, with the labels of that judge.

        Args:
            other: beside the same judgments of people.
        """
        theirs = other.pairs[["qid", "docno", "human", "judge"]]
        rows = self.pairs[["qid", "docno"]].merge(theirs, on=["qid", "docno"])
        return BothLabelled(rows, other.rel, other.judge_rel)

    def also_by(self, other: ComparedLabels) -> BothLabelled:
        """Return those of the documents that another judge labelled, too, with the labels that they have here."""
        rows = self.pairs.merge(other.pairs[["qid", "docno"]], on=["qid", "docno"])
        return BothLabelled(rows, self.rel, self.judge_rel)


def scale_of(compared: Sequence[ComparedLabels]) -> tuple[int, ...]:
    """Return the labels that people give, in order.

    Args:
        compared: labels of judges beside those of people, one or more.
    """
    given = [frame["human"] for one in compared for frame in (one.pairs, one.left)]
    return tuple(np.unique(np.concatenate(given)).tolist())
