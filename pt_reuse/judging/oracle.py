"""Oracle: a judge that knows the answers, from judgments that exist."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pt_reuse._check import choice, count, shown
from pt_reuse._errors import InputError, Option, door
from pt_reuse.judging.judge import Judge
from pt_reuse.qrels.judgments import Qrels, as_qrels

#: what a judge with judgments may say of a document that they do not know
UNKNOWN = ("skip", "not relevant", "error")


class KnownLabels:
    """The labels of judgments by topic and document; a label below 0 (pooled and not judged, junk) is none.

    Args:
        qrels: the judgments.
        unknown: what to say of a document that has no label, one of :data:`UNKNOWN`.
    """

    def __init__(self, qrels: Qrels, unknown: str):
        self._unknown = choice("unknown", unknown, UNKNOWN)
        frame, judged = qrels.to_frame(), qrels.arrays.labels >= 0
        known = frame[judged]
        self._rows = {pair: row for row, pair in enumerate(zip(known["qid"], known["docno"], strict=True))}
        self.labels = known["label"].tolist()
        self._said = {column: known[column].tolist() for column in ("judge", "time") if column in known}

    def pairs(self) -> pd.DataFrame:
        """Return ``qid docno`` of the documents that have a label, one a row."""
        return pd.DataFrame(list(self._rows), columns=["qid", "docno"], dtype=object)

    def rows(self, pairs: pd.DataFrame) -> list[int]:
        """Return the judgment of each document, -1 where there is none.

        Raises:
            InputError: there is none, and that is an error.
        """
        found = [
            self._rows.get((str(qid), str(docno)), -1) for qid, docno in zip(pairs["qid"], pairs["docno"], strict=True)
        ]
        if self._unknown == "error" and -1 in found:
            row = pairs.iloc[found.index(-1)]
            raise InputError(
                f"{count(found.count(-1), 'document')} without a judgment, such as {shown(row['docno'])} of topic "
                f"{shown(row['qid'])}. Judge documents that have one, or choose what is said of the others: ",
                Option("unknown", "skip"),
                " or 'not relevant'.",
                argument="unknown",
            )
        return found

    def label(self, row: int) -> int | None:
        """Return the label of a judgment, or what is said where there is none."""
        return self.labels[row] if row >= 0 else 0 if self._unknown == "not relevant" else None

    def said(self, column: str, rows: list[int]) -> list[Any]:
        """Return ``judge`` or ``time`` of each judgment, None where nobody says."""
        cells = self._said.get(column)
        return [None if cells is None or row < 0 else cells[row] for row in rows]


class Oracle(Judge):
    """Gives the labels of judgments that exist.

    A label of -1 or less says that a document was pooled and not judged, or is junk: such a document is unknown to the
    oracle like one that is not there.

    Args:
        qrels: the judgments, in any form (see :doc:`runs`).
        unknown: what is said of a document that has no judgment: ``"skip"`` (no label; default), ``"not relevant"``
            (label 0), or ``"error"``.
        name: what the oracle is called in the provenance of its labels. Where the judgments say themselves who gave a
            label (column ``judge``) and when (``time``), that stands; else it is the oracle, now.

    Attributes:
        rel: the lowest label that is relevant, as the judgments say.

    Raises:
        InputError: no judgments, or another word for `unknown`; when it judges, an unknown document where that is an
            error.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> qrels = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [2, 0, -1]})
        >>> asked = pd.DataFrame({"qid": "1", "docno": ["b", "a", "c", "z"]})
        >>> ptr.judging.Oracle(qrels)(asked)["label"].tolist()
        [0, 2, <NA>, <NA>]
        >>> ptr.judging.Oracle(qrels, unknown="not relevant")(asked)["label"].tolist()
        [0, 2, 0, 0]
    """

    @door
    def __init__(self, qrels: Any, unknown: str = "skip", name: str = "oracle"):
        judgments = as_qrels(qrels)
        super().__init__(name, rel=judgments.stated_rel)
        self._known = KnownLabels(judgments, unknown)

    def known_pairs(self) -> pd.DataFrame:
        """Return ``qid docno`` of the documents that the judgments have a label for."""
        return self._known.pairs()

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the label of each document, and who gave it, and when, where the judgments say so.

        Args:
            pairs: the documents, one a row: ``qid docno``.
        """
        rows = self._known.rows(pairs)
        said = {column: self._known.said(column, rows) for column in ("judge", "time")}
        return {"label": [self._known.label(row) for row in rows], **said}
