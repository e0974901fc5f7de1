"""DocumentMatrix: what each run says of each document that is left, added up document by document."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.lists import offsets, ranges
from pt_reuse.pooling.adaptive.lists import TopicLists

#: the part of the rows that may be of judged documents before these are dropped
_DROPPED = 0.2


class DocumentMatrix:
    """The rows of the lists, document by document; those of judged documents are dropped now and then.

    Args:
        topic: the lists of the runs.

    Attributes:
        documents: (some documents,) ascending; all that are left are among them.
        run: (rows,) the run of each row of these documents.
        judged: (some documents,) minus infinity for those that are judged, 0 for those that are left.
    """

    def __init__(self, topic: TopicLists):
        self._starts, rows = topic.by_document
        self._n_runs = topic.n_runs
        self._of_document = np.diff(self._starts).tolist()
        self._place: NDArray[np.int64] = np.arange(len(topic))
        self._keep(np.arange(len(topic)), topic.run[rows])

    def _keep(self, documents: NDArray[np.int64], run: NDArray[np.int64]) -> None:
        from scipy.sparse import csr_matrix

        self.documents, self.run = documents, run
        self.judged: NDArray[np.float64] = np.zeros(len(documents))
        self._left = len(run)
        self._place[documents] = np.arange(len(documents))
        parts = np.zeros(len(run)), run.astype(np.int32), self._starts.astype(np.int32)
        self._matrix: Any = csr_matrix(parts, shape=(len(documents), self._n_runs))

    def place_of(self, document: int) -> int:
        """Return where a document that is left stands among `documents`."""
        return int(self._place[document])

    def times(self, values: NDArray[np.float64], of_run: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (some documents,): the sum over a document's rows of (rows,) values times (runs,) factors."""
        self._matrix.data = values
        product: NDArray[np.float64] = self._matrix @ of_run
        return product

    def leave(self, document: int) -> NDArray[np.int64] | None:
        """Mark a document as judged; where rows are dropped, return those that are kept, for the caller's own."""
        self.judged[self._place[document]] = -np.inf
        self._left -= self._of_document[document]
        if self._left > (1 - _DROPPED) * len(self.run):
            return None
        left = np.flatnonzero(self.judged == 0)
        lengths = np.diff(self._starts)[left]
        kept = ranges(self._starts[left], lengths)
        self._starts = offsets(lengths)
        self._keep(self.documents[left], self.run[kept])
        return kept
