"""Scorers that learn a logistic regression of the documents' features: tf-idf of their texts, or vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.data.frame_columns import as_id
from pt_reuse.errors import InputError, count, examples, flag, located, shown


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
    """Scores the documents of a topic in each round; the best unjudged ones are judged next.

    A scorer of your own has two methods, :meth:`documents` and :meth:`fit`. Their results must depend only on the
    arguments, so that an interrupted session can continue.

    Attributes:
        texts: document -> text, for judges that read it; None if the scorer keeps none.

    Example:
        >>> import numpy as np, pandas as pd, pt_reuse as ptr
        >>> class Longest(ptr.judging.Scorer):
        ...     def documents(self, qid):
        ...         return np.array(["a", "bbb", "cc"], dtype=object)
        ...     def fit(self, qid, query, training):
        ...         return np.array([len(docno) for docno in self.documents(qid)], dtype=float)
        >>> found = ptr.judging.judge_continuously(
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
        """Return (documents,) the names of the documents of topic `qid`, each once, as texts; the same array always."""

    @abstractmethod
    def fit(self, qid: str, query: str | None, training: Training) -> NDArray[np.float64]:
        """Return (documents,) the score of each document of topic `qid`; the highest are judged first.

        The `query` is None if there is none; `training` has the examples among its documents.
        """

    def lacks_query(self, qid: str, query: str | None) -> bool:
        """Return whether the scorer cannot use the `query` of topic `qid` as an example."""
        return False

    def reason(self, score: float) -> str:
        """Return in words a `score` of :meth:`fit`, for the provenance of a label."""
        return f"score {score:.4g}"

    def fingerprint(self) -> str:
        """Return what identifies this scorer, so that a session continues only with the same documents."""
        return type(self).__name__


def digest(*parts: Any) -> str:
    """Return a short name of texts and arrays that is the same in every process."""
    made = blake2b(digest_size=12)
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            made.update(np.ascontiguousarray(part).data)
            continue
        for text in [part] if isinstance(part, str) else part:
            held = text.encode("utf-8", "surrogateescape")
            made.update(len(held).to_bytes(8, "little") + held)
    return made.hexdigest()


#: how exactly the regression is solved; so exactly that it depends on no order of documents
_TOLERANCE = 1e-8
_STEPS = 1000


class LogisticScorer(Scorer):
    """Scores documents by a logistic regression of their features, scikit-learn's, fitted again in each round.

    The score is the logit of the probability to be relevant. Where no example is not relevant, a document without
    features stands for one; where none is relevant, all scores are 0.
    """

    def __init__(self, docnos: NDArray[np.object_], features: Any):
        logistic_regression()
        if not len(docnos):
            raise InputError("there are no documents.")
        check_documents(docnos)
        self.docnos: NDArray[np.object_] = docnos
        self.features: Any = features

    def documents(self, qid: str) -> NDArray[np.object_]:
        """Return all documents, whatever `qid` is."""
        return self.docnos

    def features_of_query(self, qid: str, query: str | None) -> Any:
        """Return (1, features) those of the `query` of topic `qid`; None where it has none."""
        return None

    def fit(self, qid: str, query: str | None, training: Training) -> NDArray[np.float64]:
        """Return (documents,) the logit of each document's probability to be relevant to `query`, by `training`."""
        rows, relevant = [self.features[training.documents]], training.relevant
        if training.with_query and (seed := self.features_of_query(qid, query)) is not None:
            rows, relevant = [seed, *rows], np.append(True, relevant)
        if not relevant.any():
            return np.zeros(len(self.docnos))
        if relevant.all():
            rows, relevant = [*rows, 0 * rows[0][:1]], np.append(relevant, False)
        if isinstance(rows[0], np.ndarray):
            stacked = np.concatenate(rows)
        else:
            from scipy import sparse

            stacked = sparse.vstack(rows, format="csr")
        # a feature that no example has gets no weight
        seen = np.unique(stacked.nonzero()[1])
        model = logistic_regression()(solver="newton-cg", tol=_TOLERANCE, max_iter=_STEPS)
        model.fit(stacked[:, seen], relevant)
        weights = np.zeros(self.features.shape[1])
        weights[seen] = model.coef_[0]
        return np.asarray(self.features @ weights + model.intercept_[0])

    def reason(self, score: float) -> str:
        """Return the probability that a `score` stands for."""
        return f"probability {1 / (1 + np.exp(-score)):.2f}".replace(" 0.", " .")


class TfIdf(LogisticScorer):
    """Scores documents by a logistic regression of tf-idf features of their texts.

    The features are those of scikit-learn's TfidfVectorizer: lower case, words of two letters or more, 1 + ln tf times
    idf, each document of length 1. They are computed once; those of a query in the same way.

    Args:
        corpus: the documents, one dict each with ``docno`` and ``text``, such as a dataset's ``get_corpus_iter()``; or
            a frame with these columns.
        keep_text: whether texts are kept, for a judge that reads ``text``.

    Raises:
        InputError: scikit-learn is not installed, a document without a text, or that is there twice, no document.

    Example:
        >>> import pt_reuse as ptr
        >>> corpus = [{"docno": "a", "text": "a red apple"}, {"docno": "b", "text": "blue sky"}]
        >>> ptr.judging.TfIdf(corpus).features.shape
        (2, 4)
    """

    def __init__(
        self,
        corpus: Iterable[Mapping[str, Any]] | pd.DataFrame,
        *,
        keep_text: bool = False,
    ):
        checked_corpus(corpus)
        from sklearn.feature_extraction.text import TfidfVectorizer

        kept: list[str] | None = [] if flag("keep_text", keep_text) else None
        docnos: list[str] = []
        self._vectorizer = TfidfVectorizer(sublinear_tf=True)
        try:
            features = self._vectorizer.fit_transform(_texts(corpus, docnos, kept))
        except InputError:
            raise
        except ValueError as error:
            of = count(len(docnos), "document")
            raise InputError(f"no features of the texts of {of}: {error}.", argument="corpus") from error
        super().__init__(np.array(docnos, dtype=object), features.tocsr())
        if kept is not None:
            self.texts = dict(zip(docnos, kept, strict=True))

    def features_of_query(self, qid: str, query: str | None) -> Any:
        """Return (1, words) the features of `query`, whatever `qid` is; None if there is none."""
        return None if query is None else self._vectorizer.transform([query]).tocsr()

    def lacks_query(self, qid: str, query: str | None) -> bool:
        """Return whether there is no `query`, whatever `qid` is."""
        return query is None

    def fingerprint(self) -> str:
        """Return a name of the documents and their features."""
        features = self.features
        # not the values, which may differ in the last bit where numpy does
        return f"TfIdf {digest(self.docnos.tolist(), features.indptr, features.indices)}"


class Vectors(LogisticScorer):
    """Scores documents by a logistic regression of vectors that you give, such as those of a dense encoder.

    Args:
        docnos: the documents, in the order of the rows of `vectors`; or a mapping of document -> vector.
        vectors: (documents, dimensions) numbers; None with a mapping.
        queries: topic -> (dimensions,) the vector of its query, which can then be an example; None for no such vectors.

    Raises:
        InputError: scikit-learn is not installed, another number of documents than of vectors, a vector of other
            dimensions or with a value that is no number, a document that is there twice.

    Example:
        >>> import pt_reuse as ptr
        >>> scorer = ptr.judging.Vectors({"a": [1.0, 0.0], "b": [0.0, 1.0]}, queries={"1": [1.0, 0.1]})
        >>> scorer.features.shape
        (2, 2)
    """

    def __init__(
        self,
        docnos: Sequence[str] | Mapping[str, Any],
        vectors: Any = None,
        *,
        queries: Mapping[str, Any] | None = None,
    ):
        if isinstance(docnos, Mapping) == (vectors is not None):
            raise InputError(
                "give the vectors of the documents, one a row, or a mapping of document -> vector.", argument="vectors"
            )
        known = list(docnos)
        array = _numbers(list(docnos.values()) if isinstance(docnos, Mapping) else vectors, "vectors")
        if array.ndim != 2 or len(array) != len(known):
            wanted = f"one row for each of {count(len(known), 'document')}"
            raise InputError(f"vectors must have {wanted}, got the shape {array.shape}.", argument="vectors")
        super().__init__(np.array(known, dtype=object), array)
        if queries is not None and not isinstance(queries, Mapping):
            raise InputError(f"queries must be a mapping of topic -> vector, got {shown(queries)}.", argument="queries")
        self._queries: dict[str, NDArray[np.float64]] = {}
        for qid, given in (queries or {}).items():
            vector = _numbers(given, "queries")
            if vector.shape not in (array.shape[1:], (1, *array.shape[1:])):
                wanted = f"the vectors of documents have {count(array.shape[1], 'dimension')}"
                problem = f"the query of topic {shown(qid)} has the shape {vector.shape}; {wanted}."
                raise InputError(problem, argument="queries")
            self._queries[as_id("qid", qid)] = vector.reshape(1, -1)

    def lacks_query(self, qid: str, query: str | None) -> bool:
        """Return whether topic `qid` has no query vector although other topics have one; no `query` is read."""
        return bool(self._queries) and qid not in self._queries

    def features_of_query(self, qid: str, query: str | None) -> Any:
        """Return (1, dimensions) the vector of the query of topic `qid`, or None; the text of `query` is not read."""
        return self._queries.get(qid)

    def fingerprint(self) -> str:
        """Return a name of the documents and their vectors."""
        queries = [part for qid, vector in sorted(self._queries.items()) for part in (qid, vector)]
        return f"Vectors {digest(self.docnos.tolist(), self.features, *queries)}"


def check_documents(docnos: Any) -> None:
    """Raise where (documents,) names that a scorer has are no texts, or one stands twice."""
    is_array = isinstance(docnos, np.ndarray) and docnos.ndim == 1
    if not is_array or not all(isinstance(docno, str) for docno in docnos.tolist()):
        raise InputError(f"documents must be an array of names, each a text, got {shown(docnos)}.")
    twice = docnos[pd.Series(docnos, dtype=object).duplicated().to_numpy()]
    if len(twice):
        raise InputError(f"document {examples(dict.fromkeys(twice))} stands twice. Give each document once.")


def places_of(scorer: Scorer, qids: Sequence[str]) -> dict[str, Mapping[str, int]]:
    """Return topic -> document -> its position among the scorer's documents of the topic."""
    made: dict[int, tuple[Any, Mapping[str, int]]] = {}
    found = {}
    for qid in qids:
        docnos = scorer.documents(qid)
        # most scorers have the same documents for all topics; an array is held, so that its id is its own
        if id(docnos) not in made:
            with located(f"{type(scorer).__name__}.documents, topic {shown(qid)}"):
                check_documents(docnos)
            made[id(docnos)] = (docnos, {docno: place for place, docno in enumerate(docnos.tolist())})
        found[qid] = made[id(docnos)][1]
    return found


def checked_corpus(corpus: Any) -> Any:
    """Return a corpus that texts can come of, or a scorer, before it is read."""
    if isinstance(corpus, Scorer):
        return corpus
    logistic_regression()
    if isinstance(corpus, str | bytes | Mapping) or not isinstance(corpus, Iterable):
        what = "yield one dict per document, with 'docno' and 'text'"
        raise InputError(
            f"corpus must {what}, got {shown(corpus)}. A dataset's get_corpus_iter() does.", argument="corpus"
        )
    return corpus


def logistic_regression() -> Any:
    """Return scikit-learn's logistic regression, or say what to install."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise InputError(
            "this needs scikit-learn, which is not installed. Install it: pip install 'pt-reuse[judging]'."
        ) from error
    return LogisticRegression


def _texts(corpus: Any, docnos: list[str], kept: list[str] | None) -> Iterator[str]:
    if isinstance(corpus, pd.DataFrame):
        corpus = corpus.to_dict("records")
    for n, document in enumerate(corpus):
        docno, text = (document.get(name) if isinstance(document, Mapping) else None for name in ("docno", "text"))
        if not isinstance(docno, str) or not isinstance(text, str):
            wanted = "texts as 'docno' and 'text'"
            raise InputError(f"document {n:,} of the corpus must have {wanted}: {shown(document)}.", argument="corpus")
        docnos.append(docno)
        if kept is not None:
            kept.append(text)
        yield text


def _numbers(values: Any, argument: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{argument} must be vectors of numbers, all of one length.", argument=argument) from error
    if not np.isfinite(array).all():
        raise InputError(f"{argument} must hold numbers alone, no NaN and no infinity.", argument=argument)
    return array
