"""Live pipelines over the embedded collection: lexical ones by PISA, a dense one by its stored vectors."""

from __future__ import annotations

import re
from pathlib import Path

import pyterrier as pt

from pt_reuse._errors import InputError
from pt_reuse.collections.demo import DemoDataset

#: their names
LIVE = ("live-bm25", "live-bm25-desc", "live-minilm-desc")


def live_pipelines(folder: Path) -> dict[str, pt.Transformer]:
    """Index the collection with PISA and return pipelines: BM25 on queries, and BM25 and MiniLM with descriptions."""
    try:
        from pyterrier_pisa import PisaIndex
    except ImportError as error:
        raise InputError("the lexical pipelines need PISA; `pip install pt-reuse[demo]` brings it.") from error
    demo = DemoDataset()
    index = PisaIndex(str(folder / "pisa"), text_field="text", stemmer="porter2")
    index.index(demo.get_corpus_iter(verbose=False))
    described = {row["qid"]: f"{row['query']} {row['description']}" for row in demo.topics()}

    def plain(text: str) -> str:
        return re.sub(r"[^\w\s]", " ", text)

    short = pt.apply.query(lambda row: plain(row["query"]), verbose=False, label="words of the query")
    long = pt.apply.query(lambda row: plain(described[row["qid"]]), verbose=False, label="and description")
    bm25 = index.bm25(num_results=100)

    dense = demo.get_dense_retriever("described")
    return dict(zip(LIVE, (short >> bm25, long >> bm25, dense), strict=True))
