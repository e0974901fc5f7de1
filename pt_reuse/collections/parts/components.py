"""A user's own documents, topics and judgments in the form in which ir_datasets keeps the parts of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple

from pt_reuse._check import count
from pt_reuse._errors import InputError
from pt_reuse.collections.parts.document_files import DocumentFiles
from pt_reuse.collections.parts.topic_files import TopicFile
from pt_reuse.qrels.reading import read_qrels


class OwnPart:
    """A part of a dataset, as ir_datasets composes them: an object with functions that begin with the part's name.

    Args:
        part: ``"docs"``, ``"queries"``, ``"qrels"``, or ``"runs"``, which it does not ask for.
        **functions: what ir_datasets asks of the part, by its own names without their beginning.
    """

    def __init__(self, part: str, **functions: Callable[..., Any]):
        self._part = part
        for name, function in {"handler": lambda: self, **functions}.items():
            setattr(self, f"{part}_{name}", function)

    def __getattr__(self, name: str) -> Any:
        # ir_datasets hangs further functions, such as queries_dict, on the base classes of its own parts
        part = self.__dict__.get("_part", "-")
        if name.startswith(f"{part}_"):
            from ir_datasets import formats

            bases = {"docs": formats.BaseDocs, "queries": formats.BaseQueries, "qrels": formats.BaseQrels}
            extensions = bases[part].EXTENSIONS if part in bases else {}
            if name in extensions:
                return MethodType(extensions[name], self)
        raise AttributeError(name)


def own_documents(paths: Sequence[str | Path], namespace: str, language: str | None = None) -> OwnPart:
    """Return the documents of files as a part of a dataset.

    Args:
        paths: the files.
        namespace: what the ids of the documents belong to.
        language: of the documents.
    """
    documents = Documents(DocumentFiles(paths), namespace)
    return OwnPart(
        "docs",
        iter=lambda: DocumentIterator(documents),
        store=lambda **_: documents,
        count=lambda: documents.total,
        cls=lambda: documents.record,
        namespace=lambda: namespace,
        lang=lambda: language,
    )


def own_topics(
    path: str | Path,
    namespace: str,
    language: str | None = None,
    *,
    ids: frozenset[str] | None = None,
    fields: Callable[[], Sequence[str]] = tuple,
) -> OwnPart:
    """Return the topics of a file as a part of a dataset.

    Args:
        path: the file.
        namespace: what the ids of the topics belong to.
        language: of the topics.
        ids: the topics there may be; NIST numbers its first ones from 051, and judges 51.
        fields: what the fields are to be called, where the file has as many.
    """
    file = TopicFile(path)

    @cache
    def record() -> Any:
        wanted = tuple(fields())
        names = dict(zip(file.fields, wanted if len(wanted) == len(file.fields) else file.fields, strict=True))
        return _record_type("OwnQuery", ("query_id", *names.values()), [names[file.query_field]])

    def topics() -> Iterator[Any]:
        for qid, *texts in file:
            bare = qid.lstrip("0")
            known = ids is None or qid in ids or bare not in ids
            yield record()(qid if known else bare, *texts)

    return OwnPart(
        "queries",
        iter=topics,
        count=lambda: sum(1 for _ in file),
        cls=record,
        namespace=lambda: namespace,
        lang=lambda: language,
    )


def own_judgments(path: str | Path) -> OwnPart:
    """Return the judgments of a TREC qrels file as a part of a dataset."""
    qrels = cache(lambda: read_qrels(Path(path)))

    def record() -> Any:
        from ir_datasets.formats import GenericQrel

        return GenericQrel

    def judgments() -> Iterator[Any]:
        frame = qrels().to_frame()
        return map(record(), frame["qid"], frame["docno"], frame["label"].tolist())

    def definitions() -> dict[int, str]:
        kinds = {0: "not relevant", -1: "pooled, not judged"}
        labels = sorted(set(qrels().arrays.labels.tolist()))
        return {label: kinds.get(label, "relevant" if label > 0 else "junk") for label in labels}

    return OwnPart("qrels", iter=judgments, count=lambda: len(qrels()), cls=record, defs=definitions)


class Documents:
    """Documents of files as records, and by id. The first look-up reads all of them into memory.

    Args:
        files: the documents.
        namespace: what their ids belong to, for errors.
    """

    def __init__(self, files: DocumentFiles, namespace: str):
        self._files, self._namespace = files, namespace

    @cached_property
    def record(self) -> Any:
        """Return the type of a document."""
        fields = self._files.fields
        return _record_type("OwnDoc", ("doc_id", *fields), [name for name in ("title", "text") if name in fields])

    @cached_property
    def total(self) -> int:
        """Return how many documents there are."""
        return sum(1 for _ in self._files)

    def read(self) -> Iterator[Any]:
        """Yield every document from the files."""
        return map(self.record._make, self._files)

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
        return self.total

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_id.values())

    @cached_property
    def _by_id(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for document in self.read():
            if found.setdefault(document.doc_id, document) is not document:
                place = self._namespace
                raise InputError(f"document {document.doc_id!r} stands more than once. Keep one.", place=place)
        return found


class DocumentIterator:
    """Documents one after the other, or a slice of them: ``docs_iter()[:100]``."""

    def __init__(self, documents: Documents, part: slice | None = None):
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

        whole = self._part or slice(0, self._documents.total, 1)
        if isinstance(key, slice):
            return DocumentIterator(self._documents, ir_datasets.util.apply_sub_slice(whole, key))
        place = ir_datasets.util.slice_idx(whole, key)
        found = next(DocumentIterator(self._documents, place), None) if place.start >= 0 else None
        if found is None:
            raise IndexError(f"document {key:,} of {count(whole.stop - whole.start, 'document')}")
        return found


def _record_type(name: str, fields: Sequence[str], text: Sequence[str]) -> Any:
    """Return a named tuple of texts whose ``default_text()`` joins the fields `text`."""
    # the types must be `str` itself, and a type checker knows fields only that stand in the code
    make: Any = NamedTuple
    made = make(name, [(field, str) for field in fields])

    def default_text(self: Any) -> str:
        return " ".join(getattr(self, field) for field in text)

    setattr(made, default_text.__name__, default_text)
    return made
