"""OpenRows: the rows of the documents that are left, to be added up document by document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.pooling.adaptive.lists import TopicLists

#: the part of the rows that may be of judged documents before these are dropped
_DROPPED = 0.1


class OpenRows:
    """The rows of the lists, document by document; those of judged documents are dropped now and then.

    Args:
        topic: the lists of the runs.

    Attributes:
        documents: (some documents,) ascending; all that are left are among them.
        run: (rows,) the run of each row of these documents.
        judged: (some documents,) minus infinity for those that are judged, 0 for those that are left.
    """

    def __init__(self, topic: TopicLists):
        starts, rows = topic.by_document
        n_rows = np.diff(starts)
        self._n_rows: list[int] = n_rows.tolist()
        self._place: NDArray[np.int64] = np.arange(len(topic))
        self._keep(np.arange(len(topic)), topic.run[rows], np.repeat(self._place, n_rows))

    def _keep(self, documents: NDArray[np.int64], run: NDArray[np.int64], of_row: NDArray[np.int64]) -> None:
        self.documents, self.run, self._of_row = documents, run, of_row
        self.judged: NDArray[np.float64] = np.zeros(len(documents))
        self._left = len(run)
        self._place[documents] = np.arange(len(documents))

    def place_of(self, document: int) -> int:
        """Return where a document that is left stands among `documents`."""
        return int(self._place[document])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (some documents,): the sum of (rows,) values over the rows of each document."""
        return np.bincount(self._of_row, values, len(self.documents))

    def leave(self, document: int) -> NDArray[np.int64] | None:
        """Mark a document as judged; where rows are dropped, return those that are kept, for the caller's own."""
        self.judged[self._place[document]] = -np.inf
        self._left -= self._n_rows[document]
        if self._left > (1 - _DROPPED) * len(self.run):
            return None
        left = self.judged == 0
        kept = np.flatnonzero(left[self._of_row])
        new = np.cumsum(left) - 1
        self._keep(self.documents[left], self.run[kept], new[self._of_row[kept]])
        return kept
