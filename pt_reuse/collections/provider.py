"""Collections as PyTerrier and ir_datasets have them: by name, the embedded one and one's own."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.definition import (
    UnknownCollectionError,
    add,
    collection_names,
    define,
    find_collection,
    read_definition,
)
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, choice, examples, flag, positive, shown

#: judgments: those of the pool, those of every topic and document, and the labels of two further assessors
JUDGMENTS = ("pool", "complete", "second", "third")


#: what a retriever adds to the columns of the topics
_FOUND = ("docno", "score", "rank")


class DenseRetriever(pt.Transformer):
    """Ranks the documents of the demo by the cosine of stored vectors; see :meth:`DemoDataset.get_dense_retriever`."""

    # without an address of its own pyterrier would look the documentation up on the network
    schematic: ClassVar[dict[str, Any]] = {"label": "MiniLM", "help_url": None}

    def __init__(
        self,
        variant: str,
        num_results: int,
        docnos: list[str],
        documents: NDArray[np.float32],
        queries: dict[str, NDArray[np.float32]],
    ):
        self.variant, self.num_results = variant, num_results
        self._docnos, self._documents, self._queries = np.array(docnos), documents, queries

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the nearest documents of each topic: the columns of the topics, ``docno score rank``."""
        pt.validate.columns(inp, includes=["qid"], excludes=["docno"], context=self)
        unknown = [qid for qid in inp["qid"] if qid not in self._queries]
        if unknown:
            raise InputError(f"{examples(unknown)}: not a topic of reuse:demo, whose vectors alone are stored.")
        # pyterrier asks with no topics, too
        vectors = np.array([self._queries[qid] for qid in inp["qid"]], dtype=self._documents.dtype)
        cosines = vectors.reshape(len(inp), self._documents.shape[1]) @ self._documents.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, : self.num_results]
        topics = inp[[column for column in inp.columns if column not in _FOUND]]
        return (
            topics.iloc[np.repeat(np.arange(len(inp)), order.shape[1])]
            .assign(
                docno=self._docnos[order.ravel()],
                score=np.take_along_axis(cosines, order, axis=1).ravel().astype(float),
                rank=np.tile(np.arange(order.shape[1]), len(inp)),
            )
            .reset_index(drop=True)
        )

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out."""
        pt.validate.columns(input_columns, includes=["qid"], excludes=["docno"], context=self)
        return [*(column for column in input_columns if column not in _FOUND), *_FOUND]

    def __repr__(self) -> str:
        return f"DenseRetriever('reuse:demo', {self.variant!r}, num_results={self.num_results})"


class DemoDataset(ReuseDataset):
    """A small test collection to teach and to test with: ``pt.get_dataset("reuse:demo")``.

    Short texts from three sources (encyclopedia entries ``ENC-``, news items ``NEWS-``, forum posts ``FORUM-``),
    written for this project and in the public domain (CC0); topics with narratives; a label of 0 (not relevant), 1
    (related) or 2 (answers) for every document and topic; runs of lexical, dense, hybrid and manual systems. Its
    judgments are those of the depth-10 pool of the runs on record as pooled; ``get_judgments("complete")`` has every
    topic and document. Its effect sizes are evidence of nothing but itself. The datasheet says how it came about.

    Example:
        >>> import pyterrier as pt
        >>> demo = pt.get_dataset("reuse:demo")
        >>> sorted(next(demo.get_corpus_iter(verbose=False)))
        ['docno', 'text']
        >>> demo.get_runs(type="dense", pooled=True).names
        ['lumen-minilm', 'mosaic-lsa']
        >>> demo.source_of("NEWS-001")
        'NEWS'
        >>> len(demo.get_judgments()), len(demo.get_judgments("complete"))
        (989, 19680)
    """

    def __init__(self) -> None:
        super().__init__(find_collection("demo"))

    def get_corpus_iter(
        self, verbose: bool = True, start: int = 0, count: int | None = None
    ) -> Iterator[dict[str, str]]:
        """Return ``docno text`` of each, the title in front of it: an index of all fields counts no word twice."""
        documents = super().get_corpus_iter(verbose, start, count)
        return ({"docno": doc["docno"], "text": f"{doc['title']} {doc['text']}"} for doc in documents)

    def documents(self) -> list[dict[str, str]]:
        """Return every document as ``docno source title text``."""
        return [{"docno": doc[0], **dict(zip(doc._fields[1:], doc[1:], strict=True))} for doc in self._irds.docs_iter()]

    def topics(self) -> list[dict[str, str]]:
        """Return every topic as ``qid query description narrative``."""
        rows = self._irds.queries_iter()
        return [{"qid": topic[0], **dict(zip(topic._fields[1:], topic[1:], strict=True))} for topic in rows]

    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid query``.

        `variant` is the field that is the query: ``"query"`` (default), ``"description"``, ``"narrative"``, or
        ``"all"`` for a frame with the three.
        """
        return pd.DataFrame(self.topics()) if variant == "all" else super().get_topics(variant or "query")

    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid docno label``.

        `variant` is ``"pool"`` (default), the depth-10 pool of the runs on record as pooled; ``"complete"``, every
        topic and document; or ``"second"`` or ``"third"``, the labels of two further assessors of what any run has in
        its top 20, what the first called relevant, and a random sample of the rest.
        """
        name = choice("variant", "pool" if variant is None else variant, JUDGMENTS)
        if name == "pool":
            return super().get_qrels()
        if name == "complete":
            lines = gzip.decompress(_data("complete.txt.gz")).decode("utf-8").splitlines()
            rows = [(qid, docno, int(label)) for qid, _, docno, label in map(str.split, lines)]
            return pd.DataFrame(rows, columns=["qid", "docno", "label"])
        given = csv.DictReader(io.StringIO(gzip.decompress(_data("labels.csv.gz")).decode("utf-8")))
        rows = [(row["qid"], row["docno"], int(row["label"])) for row in given if row["assessor"] == name]
        return pd.DataFrame(rows, columns=["qid", "docno", "label"])

    def get_judgments(self, variant: str | None = None) -> Qrels:
        """Return the judgments of :meth:`get_qrels`, of which `variant` says which, as a :class:`Qrels`."""
        return Qrels(self.get_qrels(variant))

    def get_embeddings(
        self, variant: str = "query"
    ) -> tuple[list[str], NDArray[np.float32], dict[str, NDArray[np.float32]]]:
        """Return unit vectors of all-MiniLM-L6-v2, stored as float16: docnos, (documents, 384), and qid -> (384,).

        `variant` is what of a topic was encoded: its ``"query"``, or ``"described"``, query and description.
        """
        stored_as = {"query": "queries", "described": "described"}
        choice("variant", variant, tuple(stored_as))
        with np.load(io.BytesIO(_data("embeddings.npz")), allow_pickle=False) as stored:
            documents, queries = stored["documents"].astype(np.float32), stored[stored_as[variant]].astype(np.float32)
        docnos = [document["docno"] for document in self.documents()]
        return docnos, documents, dict(zip([topic["qid"] for topic in self.topics()], queries, strict=True))

    def get_dense_retriever(self, variant: str = "query", *, num_results: int = 100) -> pt.Transformer:
        """Return a dense retriever: all-MiniLM-L6-v2 by its stored vectors, so that no model is needed.

        It ranks by cosine for the topics of the collection, by their ids: what stands in ``query`` is not read.
        A topic that the collection does not have is an InputError. `variant` is that of :meth:`get_embeddings`.

        Example:
            >>> import pyterrier as pt
            >>> demo = pt.get_dataset("reuse:demo")
            >>> dense = demo.get_dense_retriever(num_results=2)
            >>> dense(demo.get_topics().head(1))[["qid", "docno", "rank"]].values.tolist()
            [['1', 'FORUM-049', 0], ['1', 'NEWS-049', 1]]
        """
        positive("num_results", num_results, "documents per topic")
        return DenseRetriever(variant, num_results, *self.get_embeddings(variant))

    def datasheet(self) -> str:
        """Return how the collection was made, as Markdown."""
        return _data("DATASHEET.md").decode("utf-8")


def _data(name: str) -> bytes:
    return (files("pt_reuse.collections") / "data" / "demo" / name).read_bytes()


class Registered:
    """What ir_datasets keeps under an id: the collection that has the name now, since its registry takes none back."""

    def __init__(self, name: str):
        self._dataset = ReuseDataset(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        now = find_collection(self._dataset.name)
        if not self._dataset.collection.same_as(now):
            self._dataset = ReuseDataset(now)
        return getattr(self._dataset.irds_ref(), name)


def irds_dataset(irds_id: str) -> Any:
    """Return what ``ir_datasets.load("reuse/NAME")`` gives; nothing is opened before it is asked for."""
    import ir_datasets

    return ir_datasets.Dataset(Registered(irds_id.removeprefix("reuse/")))


def register_collection(definition: str | Path | Collection, *, overwrite: bool = False, **parts: Any) -> ReuseDataset:
    """Register a collection of your own, in PyTerrier as ``reuse:NAME`` and in ir_datasets as ``reuse/NAME``.

    It is known until the process ends; a TOML file in ``PT_REUSE_HOME/collections`` is always known.

    Args:
        definition: the path of a TOML file that names its parts; or its name, and the parts as arguments.
        overwrite: replace your own collection of the same name.
        **parts: what :func:`define` takes: ``documents``, ``topics``, ``qrels``, ``runs``, ``teams`` and so on.

    Returns:
        ReuseDataset: what ``pt.get_dataset("reuse:NAME")`` gives.

    Raises:
        InputError: a part that cannot be used, or a name that is taken.

    Example:
        >>> import pyterrier as pt, pt_reuse as ptr
        >>> mine = ptr.register_collection("example/half", topics="irds:reuse/demo", note="Topics only.")
        >>> len(pt.get_dataset("reuse:example/half").get_topics("query"))
        41
    """
    flag("overwrite", overwrite)
    if isinstance(definition, Collection) and not parts:
        collection = definition
    elif isinstance(definition, str) and parts and not definition.endswith(".toml"):
        collection = define(definition, **parts)
    elif isinstance(definition, str | Path) and not parts and _is_file(str(definition)):
        collection = read_definition(definition)
    else:
        call = "register_collection('mine', documents=..., topics=..., qrels=..., runs=...)"
        raise InputError(
            f"definition must be a TOML file, or a name with the collection's parts, got {shown(definition)}. Call "
            f"{call}.",
            argument="definition",
        )
    add(collection, overwrite=overwrite)
    return ReuseDataset(collection)


def _is_file(path: str) -> bool:
    return path.endswith(".toml") or (bool(path) and os.path.exists(path))


class NoDataset(pt.datasets.Dataset):
    """What stands for an unknown name until PyTerrier configures it, which would replace an error by its own."""

    def __init__(self, error: UnknownCollectionError):
        self._error = error

    def _configure(self, **_: Any) -> None:
        raise self._error


class ReuseDatasets(pt.datasets.DatasetProvider):
    """The datasets of this package, as ``pt.get_dataset("reuse:NAME")``."""

    def get_dataset(self, name: str) -> pt.datasets.Dataset:
        """Return a dataset by name or alias; an unknown name is a KeyError of PyTerrier's `get_dataset`."""
        try:
            collection = find_collection(name)
        except UnknownCollectionError as error:
            return NoDataset(error)
        return DemoDataset() if collection.name == "demo" else ReuseDataset(collection)

    def list_dataset_names(self) -> Iterable[str]:
        """Return the names without the prefix."""
        return collection_names()
