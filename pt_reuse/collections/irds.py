"""The demo collection in the form in which ir_datasets keeps a dataset."""

# no postponed annotations here: pyterrier's text loader compares those of a document's fields with `str` itself

from collections.abc import Iterator
from typing import Any, NamedTuple

from pt_reuse.collections.demo import DemoDataset


class DemoDoc(NamedTuple):
    """A document of the demo collection."""

    doc_id: str
    source: str
    title: str
    text: str

    def default_text(self) -> str:
        """Return title and text."""
        return f"{self.title} {self.text}"


class DemoQuery(NamedTuple):
    """A topic of the demo collection."""

    query_id: str
    title: str
    description: str
    narrative: str

    def default_text(self) -> str:
        """Return the title, what a person would type."""
        return self.title


class DemoQrel(NamedTuple):
    """A judgment of the demo collection."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class DemoDocs:
    """What ir_datasets asks of documents."""

    def docs_iter(self) -> Iterator[DemoDoc]:
        """Yield every document."""
        for document in DemoDataset().documents():
            yield DemoDoc(document["docno"], document["source"], document["title"], document["text"])

    def docs_store(self, **_: Any) -> "DemoDocs":
        """Return a store to look documents up in."""
        return self

    def get(self, doc_id: str, field: str | None = None) -> Any:
        """Return one document, or one field of it."""
        return self.get_many([doc_id], field)[doc_id]

    def get_many(self, doc_ids: list[str], field: str | None = None) -> dict[str, Any]:
        """Return documents by id; an unknown id is left out, as in ir_datasets."""
        wanted = set(doc_ids)
        found = {document.doc_id: document for document in self.docs_iter() if document.doc_id in wanted}
        return {i: getattr(document, field) for i, document in found.items()} if field else found

    def get_many_iter(self, doc_ids: list[str]) -> Iterator[DemoDoc]:
        """Yield documents by id."""
        yield from self.get_many(list(doc_ids)).values()

    def docs_count(self) -> int:
        """Return how many documents there are."""
        return len(DemoDataset().documents())

    def docs_handler(self) -> "DemoDocs":
        """Return itself."""
        return self

    def docs_cls(self) -> type:
        """Return the type of a document."""
        return DemoDoc

    def docs_namespace(self) -> str:
        """Return a name for the ids of the documents."""
        return "reuse/demo"

    def docs_lang(self) -> str:
        """Return the language."""
        return "en"


class DemoTopics:
    """What ir_datasets asks of queries and qrels."""

    def queries_iter(self) -> Iterator[DemoQuery]:
        """Yield every topic."""
        for topic in DemoDataset().topics():
            yield DemoQuery(topic["qid"], topic["query"], topic["description"], topic["narrative"])

    def queries_dict(self) -> dict[str, DemoQuery]:
        """Return topics by id."""
        return {query.query_id: query for query in self.queries_iter()}

    def queries_count(self) -> int:
        """Return how many topics there are."""
        return len(DemoDataset().get_topics())

    def queries_handler(self) -> "DemoTopics":
        """Return itself."""
        return self

    def queries_cls(self) -> type:
        """Return the type of a topic."""
        return DemoQuery

    def queries_namespace(self) -> str:
        """Return a name for the ids of the topics."""
        return "reuse/demo"

    def queries_lang(self) -> str:
        """Return the language."""
        return "en"

    def qrels_iter(self) -> Iterator[DemoQrel]:
        """Yield a judgment for every topic and document."""
        qrels = DemoDataset().get_qrels()
        for qid, docno, label in zip(qrels["qid"], qrels["docno"], qrels["label"].tolist(), strict=True):
            yield DemoQrel(qid, docno, label, "0")

    def qrels_dict(self) -> dict[str, dict[str, int]]:
        """Return labels by topic and document."""
        found: dict[str, dict[str, int]] = {}
        for qrel in self.qrels_iter():
            found.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
        return found

    def qrels_count(self) -> int:
        """Return how many judgments there are."""
        return len(DemoDataset().get_qrels())

    def qrels_handler(self) -> "DemoTopics":
        """Return itself."""
        return self

    def qrels_cls(self) -> type:
        """Return the type of a judgment."""
        return DemoQrel

    def qrels_defs(self) -> dict[int, str]:
        """Return what the labels mean."""
        return {0: "not relevant", 1: "related", 2: "answers the need"}


def register_datasets() -> list[str]:
    """Make the collections of this package known to ir_datasets; calling it again changes nothing.

    Returns:
        list of str: the names for ``ir_datasets.load``, also behind ``irds:`` in ``pt.get_dataset``.

    Example:
        >>> import ir_datasets, pt_reuse as ptr
        >>> ptr.register_datasets()
        ['reuse/demo']
        >>> ir_datasets.load("reuse/demo").docs_count()
        480
    """
    # ir_datasets takes a third of a second to import, which `import pyterrier` should not pay for us
    import ir_datasets

    if "reuse/demo" not in ir_datasets.registry:
        ir_datasets.registry.register("reuse/demo", ir_datasets.Dataset(DemoDocs(), DemoTopics()))
    return ["reuse/demo"]
