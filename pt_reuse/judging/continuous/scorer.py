"""Scorer: says which documents of a topic are likely to be relevant, from the labels so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Training:
    """What a scorer learns from in a round.

    Attributes:
        documents: (examples,) positions among the topic's documents: those judged, in the order in which they were
            judged, then those presumed not to be relevant.
        relevant: (examples,) whether each is relevant.
        with_query: whether the query is one more relevant example.
    """

    documents: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    with_query: bool


class Scorer(ABC):
    """Scores the documents of a topic, anew in each round; the best that were not judged are judged next.

    A scorer of your own has two methods, :meth:`documents` and :meth:`fit`. What it returns must follow from its
    arguments alone, so that an interrupted session can be taken up again.

    Attributes:
        texts: document -> text, for judges that read it; None where the scorer keeps none.

    Example:
        >>> import numpy as np, pandas as pd, pt_reuse as ptr
        >>> class Longest(ptr.judging.Scorer):
        ...     def documents(self, qid):
        ...         return np.array(["a", "bbb", "cc"], dtype=object)
        ...     def fit(self, qid, query, training):
        ...         return np.array([len(docno) for docno in self.documents(qid)], dtype=float)
        >>> found = ptr.judge_continuously(
        ...     Longest(),
        ...     pd.DataFrame({"qid": ["1"], "query": ["how long?"]}),
        ...     lambda pairs: [int(docno == "cc") for docno in pairs["docno"]],
        ...     protocol=ptr.judging.AutoTAR(topic_budget=2),
        ... )
        >>> found.qrels.to_frame()[["docno", "label", "round", "reason"]].values.tolist()
        [['bbb', 0, 1, 'score 3'], ['cc', 1, 2, 'score 2']]
    """

    texts: Mapping[str, str] | None = None

    @abstractmethod
    def documents(self, qid: str) -> NDArray[np.object_]:
        """Return (documents,) the names of a topic's documents, each once, as texts; the same array each time.

        Args:
            qid: the topic.
        """

    @abstractmethod
    def fit(self, qid: str, query: str | None, training: Training) -> NDArray[np.float64]:
        """Return (documents,) the score of each document of a topic, the higher the sooner it is judged.

        Args:
            qid: the topic.
            query: its query, None where there is none.
            training: what is known of its documents.
        """

    def lacks_query(self, qid: str, query: str | None) -> bool:
        """Return whether the scorer needs more than it has to take the query of a topic for an example.

        Args:
            qid: the topic.
            query: its query, None where there is none.
        """
        return False

    def reason(self, score: float) -> str:
        """Return a score in words, for the provenance of a label.

        Args:
            score: what :meth:`fit` returned for the document.
        """
        return f"score {score:.4g}"

    def fingerprint(self) -> str:
        """Return what tells this scorer from others, so that a session is taken up with the same documents alone."""
        return type(self).__name__


def digest(*parts: Any) -> str:
    """Return a short name of texts, bytes and arrays that is the same in every process.

    Args:
        *parts: texts, lists of texts, and arrays of numbers.
    """
    made = blake2b(digest_size=12)
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            made.update(np.ascontiguousarray(part).data)
        else:
            for text in [part] if isinstance(part, str) else part:
                held = text.encode("utf-8", "surrogateescape")
                made.update(len(held).to_bytes(8, "little"))
                made.update(held)
    return made.hexdigest()
