"""Systems on a part of a corpus: runs that are restricted to it, or pipelines that are built and run anew."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import pandas as pd
import pyterrier as pt

from pt_reuse._check import columns, count, examples, shown
from pt_reuse.data.frame_columns import as_ids
from pt_reuse.data.ordering import check_order
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, ReuseWarning

#: ``docno``, ``text`` and whatever else an index takes
Document: TypeAlias = Mapping[str, Any]
_Index = TypeVar("_Index")


@dataclass(frozen=True)
class RestrictedRuns:
    """Runs that exist, of which each part keeps its documents."""

    runs: RunSet
    #: what no run retrieves is not known
    knows_corpus: ClassVar[bool] = False
    settings: ClassVar[dict[str, Any]] = {"systems": "runs restricted to the documents of each part"}

    @property
    def names(self) -> list[str]:
        """Return the names of the runs."""
        return self.runs.names

    def docnos(self) -> list[str]:
        """Return the documents that any run retrieves."""
        return self.runs.docnos()

    def on_part(self, docnos: Iterable[str]) -> RunSet:
        """Return the runs with these documents only."""
        with warnings.catch_warnings():
            # lists that are left empty are counted in the table of parts
            warnings.simplefilter("ignore", ReuseWarning)
            return self.runs.restrict(docnos)


class Systems(Generic[_Index]):
    """Retrieval systems that can be built and run on any part of a corpus.

    :func:`~pt_reuse.profile.subcollections` takes them instead of runs, to index each part and run every system on it.

    Args:
        factories: system name -> a function that makes its pipeline from what `index` returned for the documents of a
            part or, without `index`, from these documents.
        documents: the corpus, each document a dict with ``docno`` and what an index takes, such as ``text``: a list, or
            a function that returns an iterator over them, such as a dataset's ``get_corpus_iter``.
        topics: frame with the columns ``qid``, ``query``.
        index: indexes the documents of a part, once for all systems; default None: each factory gets the documents.
        order: the ranking order of the runs.

    Raises:
        InputError: a factory or an index that is no function, documents that can be read only once, topics without
            ``qid``.

    Example:
        >>> import pandas as pd, pyterrier as pt, pt_reuse as ptr
        >>> documents = [{"docno": "d1", "text": "oak"}, {"docno": "d2", "text": "elm"}]
        >>> def first(documents):
        ...     docno = next(iter(documents))["docno"]
        ...     return pt.Transformer.from_df(pd.DataFrame({"qid": ["1"], "docno": [docno], "score": [1.0]}))
        >>> systems = ptr.profile.Systems({"first": first}, documents, pd.DataFrame({"qid": ["1"], "query": ["oak"]}))
        >>> systems
        Systems: 1 system on 1 topic, indexed by each system
        >>> systems.on_part(["d2"]).to_frame()["docno"].tolist()
        ['d2']
    """

    #: the documents are the corpus
    knows_corpus: ClassVar[bool] = True

    def __init__(
        self,
        factories: Mapping[str, Callable[[_Index], pt.Transformer]],
        documents: Iterable[Document] | Callable[[], Iterable[Document]],
        topics: pd.DataFrame,
        *,
        index: Callable[[Iterable[Document]], _Index] | None = None,
        order: str = "trec_eval",
    ):
        wrong = {
            "factories must be a dict of system name -> function that returns a pipeline": not (
                isinstance(factories, Mapping) and factories and all(map(callable, factories.values()))
            ),
            "documents must be read more than once: a list": not callable(documents) and iter(documents) is documents,
            "index must be a function": index is not None and not callable(index),
            "topics must be a frame with qid and query": not isinstance(topics, pd.DataFrame),
        }
        if problem := next((text for text, is_so in wrong.items() if is_so), ""):
            raise InputError(f"{problem}.", argument=problem.partition(" ")[0])
        columns("topics", topics.columns, ("qid",))
        check_order("order", order)
        self._factories, self._documents, self._topics = dict(factories), documents, topics
        self._index, self._order = index, order

    @property
    def names(self) -> list[str]:
        """Return the names of the systems."""
        return list(self._factories)

    @property
    def settings(self) -> dict[str, Any]:
        """Return how the systems are run on a part."""
        by = "once for all systems" if self._index is not None else "by each system"
        return {"systems": f"run anew on each part, indexed {by}", "order": self._order}

    def docnos(self) -> list[str]:
        """Return the documents of the corpus, in its order.

        Raises:
            InputError: a document without a docno, or two with the same one.
        """
        docnos: dict[str, None] = {}
        for n, document in enumerate(self._all_documents()):
            docno = document.get("docno") if isinstance(document, Mapping) else None
            if not isinstance(docno, str) or not docno or docno in docnos:
                problem = f"has the docno {docno!r} again" if docno in docnos else "has no docno"
                raise InputError(f"document {n:,} {problem}: {shown(document)}.", argument="documents")
            docnos[docno] = None
        return list(docnos)

    def on_part(self, docnos: Iterable[str]) -> RunSet:
        """Index the documents of a part, by their `docnos`, run every system on them, and return the runs.

        Raises:
            InputError: a system that retrieves a document which the part does not have.
        """
        wanted = frozenset(docnos)
        part = _PartDocuments(self._all_documents, wanted)
        index: Any = part if self._index is None else self._index(part)
        pipelines = {}
        for name, factory in self._factories.items():
            pipelines[name] = factory(index)
            if not isinstance(pipelines[name], pt.Transformer):
                problem = f"its factory must return a pipeline, got {shown(pipelines[name])}."
                raise InputError(problem, place=f"system {name!r}", argument="factories")
        runs = RunSet.from_pipelines(pipelines, self._topics, order=self._order)
        if outside := [docno for docno in runs.docnos() if docno not in wanted]:
            of = next(name for name in runs.names if not wanted.issuperset(runs[name]["docno"]))
            problem = f"retrieves documents that the part does not have, {examples(outside)}."
            raise InputError(problem, place=f"system {of!r}", argument="factories")
        return runs

    def check_topics(self, judged: Iterable[str]) -> None:
        """Raise if none of the topics is judged."""
        run_on, known = as_ids("qid", self._topics["qid"].tolist()), list(judged)
        if not set(run_on) & set(known):
            problem = f"none of the topics of the systems, {examples(run_on) or 'none'}, is judged: {examples(known)}."
            raise InputError(problem, argument="runs")

    def _all_documents(self) -> Iterator[Document]:
        return iter(self._documents() if callable(self._documents) else self._documents)

    def __repr__(self) -> str:
        n_systems, n_topics = count(len(self._factories), "system"), count(len(self._topics), "topic")
        return f"Systems: {n_systems} on {n_topics}, indexed {self.settings['systems'].rsplit('indexed ')[-1]}"


@dataclass(frozen=True)
class _PartDocuments:
    """The documents of a part, which can be read as often as one likes."""

    everything: Callable[[], Iterator[Document]]
    docnos: frozenset[str]

    def __iter__(self) -> Iterator[Document]:
        return (document for document in self.everything() if document["docno"] in self.docnos)
