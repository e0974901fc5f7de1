"""A user's own documents, topics and judgments in the form in which ir_datasets keeps the parts of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple

from pt_reuse._check import count
from pt_reuse._errors import InputError
from pt_reuse.collections.parts.document_files import DocumentFiles
from pt_reuse.collections.parts.topic_files import TopicFile
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.qrels.reading import read_qrels

# made by a call, because PyTerrier's text loader compares the types of fields with `str` itself, not with its name
OwnQrel = NamedTuple("OwnQrel", [("query_id", str), ("doc_id", str), ("relevance", int)])  # noqa: UP014


def record_type(name: str, fields: Sequence[str], text: Sequence[str]) -> Any:
    """Return a named tuple of texts whose ``default_text()`` joins the fields `text`."""
    # the types must be `str` itself, and a type checker knows fields only that stand in the code
    make: Any = NamedTuple
    made = make(name, [(field, str) for field in fields])

    def default_text(self: Any) -> str:
        """Return what to index, or to search for."""
        return " ".join(getattr(self, field) for field in text)

    setattr(made, default_text.__name__, default_text)
    return made


class OwnDocuments:
    """What ir_datasets asks of documents.

    Args:
        paths: the files.
        namespace: what the ids of the documents belong to.
    """

    def __init__(self, paths: Sequence[str | Path], namespace: str, language: str | None = None):
        self._files = DocumentFiles(paths)
        self._namespace, self._language = namespace, language

    def __getattr__(self, name: str) -> Any:
        return _extension("docs", self, name)

    def docs_iter(self) -> DocumentIterator:
        """Return an iterator over every document, which can be sliced."""
        return DocumentIterator(self)

    def docs_store(self, **_: Any) -> DocumentStore:
        """Return a store to look documents up in; it keeps them in memory."""
        return self._store

    def docs_count(self) -> int:
        """Return how many documents there are."""
        return self._count

    def docs_handler(self) -> OwnDocuments:
        """Return itself."""
        return self

    def docs_cls(self) -> Any:
        """Return the type of a document."""
        return self._type

    def docs_namespace(self) -> str:
        """Return a name for the ids of the documents."""
        return self._namespace

    def docs_lang(self) -> str | None:
        """Return the language, None where nobody said which."""
        return self._language

    @cached_property
    def _type(self) -> Any:
        fields = self._files.fields
        return record_type("OwnDoc", ("doc_id", *fields), [name for name in ("title", "text") if name in fields])

    @cached_property
    def _store(self) -> DocumentStore:
        return DocumentStore(self)

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self._files)

    def read(self) -> Iterator[Any]:
        """Yield every document."""
        return map(self._type._make, self._files)


class DocumentIterator:
    """Documents one after the other, or a slice of them: ``docs_iter()[:100]``."""

    def __init__(self, documents: OwnDocuments, part: slice | None = None):
        self._documents = documents
        self._part = part
        self._rows: Iterator[Any] | None = None

    def __iter__(self) -> DocumentIterator:
        return self

    def __next__(self) -> Any:
        if self._rows is None:
            part = self._part or slice(None)
            self._rows = islice(self._documents.read(), part.start, part.stop, part.step)
        return next(self._rows)

    def __getitem__(self, key: slice | int) -> Any:
        import ir_datasets

        whole = self._part or slice(0, self._documents.docs_count(), 1)
        if isinstance(key, slice):
            return DocumentIterator(self._documents, ir_datasets.util.apply_sub_slice(whole, key))
        place = ir_datasets.util.slice_idx(whole, key)
        found = next(DocumentIterator(self._documents, place), None) if place.start >= 0 else None
        if found is None:
            raise IndexError(f"document {key:,} of {count(whole.stop - whole.start, 'document')}")
        return found


class DocumentStore:
    """Documents by id. The first look-up reads all of them into memory."""

    def __init__(self, documents: OwnDocuments):
        self._documents = documents

    def get(self, doc_id: str, field: str | None = None) -> Any:
        """Return one document, or one field of it; a KeyError where there is none."""
        found = self._by_id[doc_id]
        return getattr(found, field) if field else found

    def get_many(self, doc_ids: Iterable[str], field: str | None = None) -> dict[str, Any]:
        """Return documents by id; an unknown id is left out, as in ir_datasets."""
        return {doc_id: self.get(doc_id, field) for doc_id in doc_ids if doc_id in self._by_id}

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[Any]:
        """Yield documents by id."""
        yield from self.get_many(doc_ids).values()

    def count(self) -> int:
        """Return how many documents there are."""
        return len(self._by_id)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_id.values())

    @cached_property
    def _by_id(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for document in self._documents.read():
            if document.doc_id in found:
                raise InputError(
                    f"{self._documents.docs_namespace()}: document {document.doc_id!r} stands more than once. Keep one."
                )
            found[document.doc_id] = document
        return found


class OwnTopics:
    """What ir_datasets asks of queries.

    Args:
        path: the file.
        namespace: what the ids of the topics belong to.
        language: of the topics.
        ids: the topics there may be; NIST numbers its first ones from 051, and judges 51.
        fields: what the fields are to be called, where the file has as many.
    """

    def __init__(
        self,
        path: str | Path,
        namespace: str,
        language: str | None = None,
        *,
        ids: frozenset[str] | None = None,
        fields: Callable[[], Sequence[str]] = tuple,
    ):
        self._file = TopicFile(path)
        self._namespace, self._language = namespace, language
        self._ids, self._fields = ids, fields

    def __getattr__(self, name: str) -> Any:
        return _extension("queries", self, name)

    def queries_iter(self) -> Iterator[Any]:
        """Yield every topic."""
        for qid, *texts in self._file:
            bare = qid.lstrip("0")
            known = self._ids is None or qid in self._ids or bare not in self._ids
            yield self._type(qid if known else bare, *texts)

    def queries_count(self) -> int:
        """Return how many topics there are."""
        return sum(1 for _ in self._file)

    def queries_handler(self) -> OwnTopics:
        """Return itself."""
        return self

    def queries_cls(self) -> Any:
        """Return the type of a topic."""
        return self._type

    def queries_namespace(self) -> str:
        """Return a name for the ids of the topics."""
        return self._namespace

    def queries_lang(self) -> str | None:
        """Return the language, None where nobody said which."""
        return self._language

    @cached_property
    def _type(self) -> Any:
        own, wanted = self._file.fields, tuple(self._fields())
        names = dict(zip(own, wanted if len(wanted) == len(own) else own, strict=True))
        return record_type("OwnQuery", ("query_id", *names.values()), [names[self._file.query_field]])


class OwnJudgments:
    """What ir_datasets asks of qrels.

    Args:
        path: the file.
    """

    def __init__(self, path: str | Path):
        self._path = Path(path)

    def __getattr__(self, name: str) -> Any:
        return _extension("qrels", self, name)

    def qrels_iter(self) -> Iterator[OwnQrel]:
        """Yield every judgment."""
        frame = self._qrels.to_frame()
        for qid, docno, label in zip(frame["qid"], frame["docno"], frame["label"].tolist(), strict=True):
            yield OwnQrel(qid, docno, label)

    def qrels_count(self) -> int:
        """Return how many judgments there are."""
        return len(self._qrels)

    def qrels_handler(self) -> OwnJudgments:
        """Return itself."""
        return self

    def qrels_cls(self) -> Any:
        """Return the type of a judgment."""
        return OwnQrel

    def qrels_defs(self) -> dict[int, str]:
        """Return what the labels mean, by convention."""
        labels = sorted(set(self._qrels.arrays.labels.tolist()))
        kinds = {0: "not relevant", -1: "pooled, not judged"}
        return {label: kinds.get(label, "relevant" if label > 0 else "junk") for label in labels}

    @cached_property
    def _qrels(self) -> Qrels:
        return read_qrels(self._path)


def _extension(part: str, component: Any, name: str) -> Any:
    # ir_datasets hangs further functions, such as queries_dict, on the base classes of its own components
    if name.startswith(f"{part}_"):
        from ir_datasets import formats

        base = {"docs": formats.BaseDocs, "queries": formats.BaseQueries, "qrels": formats.BaseQrels}[part]
        if name in base.EXTENSIONS:
            return MethodType(base.EXTENSIONS[name], component)
    raise AttributeError(name)
