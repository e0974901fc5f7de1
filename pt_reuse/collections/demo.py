"""The embedded collection: text, topics, complete graded judgments and runs, shipped with the package."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import choice
from pt_reuse.qrels import Qrels
from pt_reuse.reading import read_runs
from pt_reuse.runs import RunSet

#: which field of a topic is its query
TOPIC_FIELDS = ("query", "description", "narrative")
#: whose labels; the first are the collection's judgments, complete, the others label what runs ranked high and a sample
ASSESSORS = ("first", "second", "third")


class DemoDataset(pt.datasets.Dataset):
    """A small test collection to teach and to test with: ``pt.get_dataset("reuse:demo")``.

    Short texts from three sources (encyclopedia entries ``ENC-``, news items ``NEWS-``, forum posts ``FORUM-``),
    written for this project and in the public domain (CC0); topics with narratives; a label of 0 (not relevant), 1
    (related) or 2 (answers) for every document and topic; runs of lexical, dense, hybrid and manual systems. It was
    made to show what pools do: its effect sizes are evidence of nothing but itself. The datasheet says how everything
    came about.

    Example:
        >>> import pyterrier as pt
        >>> demo = pt.get_dataset("reuse:demo")
        >>> sorted(next(demo.get_corpus_iter(verbose=False)))
        ['docno', 'text']
        >>> demo.get_runs(type="dense", pooled=True).names
        ['lumen-minilm', 'mosaic-lsa']
    """

    def get_corpus_iter(self, *, verbose: bool = True) -> Iterator[dict[str, str]]:
        """Yield ``docno text``, the title in front of the text: an index of all fields counts no word twice."""
        for document in pt.tqdm(_documents(), desc="reuse:demo", unit="doc", disable=not verbose):
            yield {"docno": document["docno"], "text": f"{document['title']} {document['text']}"}

    def documents(self) -> list[dict[str, str]]:
        """Return every document as ``docno source title text``."""
        return [dict(document) for document in _documents()]

    def topics(self) -> list[dict[str, str]]:
        """Return every topic as ``qid query description narrative``."""
        return [dict(topic) for topic in _topics()]

    def get_corpus_lang(self) -> str:
        """Return ``"en"``."""
        return "en"

    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid query``.

        Args:
            variant: which field of the topics is the query: ``"query"`` (default), ``"description"``, ``"narrative"``,
                or ``"all"`` for a frame with the three.
        """
        frame = pd.DataFrame(_topics())
        if variant == "all":
            return frame
        name = choice("get_topics", "variant", variant or "query", (*TOPIC_FIELDS, "all"))
        return frame[["qid"]].assign(query=frame[name])

    def get_topics_lang(self) -> str:
        """Return ``"en"``."""
        return "en"

    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        """Return ``qid docno label``.

        Args:
            variant: whose labels: ``"first"`` (default), a label for every topic and document; ``"second"`` or
                ``"third"``, who labelled what any run has in its top 20 and a random sample of the rest.
        """
        name = choice("get_qrels", "variant", variant or "first", ASSESSORS)
        given = pd.DataFrame(_labels(), columns=["qid", "docno", "assessor", "label"])
        mine = given[given["assessor"] == name].drop(columns="assessor").reset_index(drop=True)
        if name != "first":
            return mine
        # the first assessor read everything: what is not listed is 0
        every = pd.MultiIndex.from_product(
            [[topic["qid"] for topic in _topics()], [document["docno"] for document in _documents()]],
            names=["qid", "docno"],
        )
        return mine.set_index(["qid", "docno"]).reindex(every, fill_value=0).reset_index()

    def get_judgments(self, assessor: str = "first") -> Qrels:
        """Return the labels of :meth:`get_qrels` as a :class:`Qrels`."""
        return Qrels(self.get_qrels(assessor))

    def get_runs(self, **chosen: Any) -> RunSet:
        """Return the stored runs with their teams, types and pooled flags.

        Args:
            **chosen: conditions of :meth:`RunSet.select`, such as ``type="dense"`` or ``pooled=True``.
        """
        runs = _runs()
        return runs.select(**chosen) if chosen else runs

    def get_embeddings(
        self, variant: str = "query"
    ) -> tuple[list[str], NDArray[np.float32], dict[str, NDArray[np.float32]]]:
        """Return unit vectors of all-MiniLM-L6-v2, stored as float16: docnos, (documents, 384), and qid -> (384,).

        Args:
            variant: what of a topic was encoded: its ``"query"``, or ``"described"``, query and description.
        """
        stored_as = {"query": "queries", "described": "described"}
        choice("get_embeddings", "variant", variant, tuple(stored_as))
        with np.load(io.BytesIO(_data("embeddings.npz")), allow_pickle=False) as stored:
            documents, queries = stored["documents"].astype(np.float32), stored[stored_as[variant]].astype(np.float32)
        docnos = [document["docno"] for document in _documents()]
        return docnos, documents, dict(zip([topic["qid"] for topic in _topics()], queries, strict=True))

    def datasheet(self) -> str:
        """Return how the collection was made, as Markdown."""
        return _data("DATASHEET.md").decode("utf-8")

    def __repr__(self) -> str:
        return "DemoDataset('reuse:demo')"


def _data(name: str) -> bytes:
    return (files("pt_reuse.collections") / "data" / "demo" / name).read_bytes()


@lru_cache(maxsize=1)
def _documents() -> list[dict[str, str]]:
    return [json.loads(line) for line in gzip.decompress(_data("documents.jsonl.gz")).decode("utf-8").splitlines()]


@lru_cache(maxsize=1)
def _topics() -> list[dict[str, str]]:
    return [json.loads(line) for line in _data("topics.jsonl").decode("utf-8").splitlines()]


@lru_cache(maxsize=1)
def _labels() -> list[tuple[str, str, str, int]]:
    rows = csv.DictReader(io.StringIO(gzip.decompress(_data("labels.csv.gz")).decode("utf-8")))
    return [(row["qid"], row["docno"], row["assessor"], int(row["label"])) for row in rows]


@lru_cache(maxsize=1)
def _runs() -> RunSet:
    folder = files("pt_reuse.collections") / "data" / "demo"
    return read_runs(Path(str(folder / "runs")), metadata=Path(str(folder / "runs.csv")))
