"""Noisy: an oracle that errs, at known rates, and the same way whenever it is asked."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import pandas as pd

from pt_reuse._check import checked_seed
from pt_reuse._errors import door
from pt_reuse.judging.confusion import as_confusion
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.oracle import KnownLabels
from pt_reuse.qrels.judgments import as_qrels


class Noisy(Judge):
    """Gives the labels of judgments that exist, confused at given rates.

    What a document is given depends on the seed, its topic and its name alone: not on when it is asked for, beside
    which other documents, or in which process.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`). A label below 0 is no judgment.
        confusion: how probable each given label is by true label: a mapping of true label -> given label ->
            probability, or -> probabilities of labels 0, 1, 2 ...; a frame, true labels down and given labels across;
            an array, whose labels are 0, 1, 2 ... See :func:`flips` and :func:`estimate_confusion`.
        seed: the same seed gives the same labels in every process.
        unknown: what is said of a document that has no judgment: ``"skip"`` (no label; default), ``"not relevant"`` (it
            counts as label 0, and is confused as such), or ``"error"``.
        name: what the judge is called in the provenance of its labels.

    Attributes:
        rel: the lowest label that is relevant, as the judgments say.

    Raises:
        InputError: rows of the matrix that do not sum to 1, a label of the judgments that has no row.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(1000)], "label": 1})
        >>> judge = ptr.judging.Noisy(qrels, ptr.judging.flips(0.25), seed=1)
        >>> float(judge(qrels)["label"].mean())
        0.752
    """

    @door
    def __init__(self, qrels: Any, confusion: Any, seed: int, *, unknown: str = "skip", name: str = "noisy"):
        judgments = as_qrels(qrels)
        super().__init__(name, rel=judgments.stated_rel)
        checked_seed(seed)
        self._known = KnownLabels(judgments, unknown)
        needed = {*self._known.labels, *([0] if unknown == "not relevant" else [])}
        self._confusion = as_confusion(confusion, needed)
        self._seed = int(seed)

    def known_pairs(self) -> pd.DataFrame:
        """Return ``qid docno`` of the documents that the judgments have a label for."""
        return self._known.pairs()

    def labels_of(self, pairs: pd.DataFrame) -> list[int | None]:
        """Return the label that each document is given.

        Args:
            pairs: the documents, one a row: ``qid docno``.
        """
        found = []
        for qid, docno, row in zip(pairs["qid"], pairs["docno"], self._known.rows(pairs), strict=True):
            true = self._known.label(row)
            found.append(None if true is None else self._confusion.label(true, _draw(self._seed, str(qid), str(docno))))
        return found


def _draw(seed: int, qid: str, docno: str) -> float:
    """Return the number from 0 to less than 1 that belongs to a document, for a seed."""
    # no qid holds a NUL byte, so that no two pairs are written the same
    text = f"{seed}\0{qid}\0{docno}".encode("utf-8", "surrogateescape")
    return (int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 11) / 2**53
