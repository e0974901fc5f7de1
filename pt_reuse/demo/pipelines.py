"""Live pipelines over the embedded collection: lexical ones by PISA, a dense one by its stored vectors."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
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
    docnos, documents, queries = demo.get_embeddings("described")
    described = {row["qid"]: f"{row['query']} {row['description']}" for row in demo.topics()}

    def plain(text: str) -> str:
        return re.sub(r"[^\w\s]", " ", text)

    short = pt.apply.query(lambda row: plain(row["query"]), verbose=False, label="words of the query")
    long = pt.apply.query(lambda row: plain(described[row["qid"]]), verbose=False, label="and description")
    bm25 = index.bm25(num_results=100)

    def nearest(topics: pd.DataFrame) -> pd.DataFrame:
        # pyterrier asks with no topics, too
        vectors = np.array([queries[qid] for qid in topics["qid"]], dtype=documents.dtype)
        cosines = vectors.reshape(len(topics), documents.shape[1]) @ documents.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :100]
        return pd.DataFrame(
            {
                "qid": np.repeat(topics["qid"].to_numpy(), order.shape[1]),
                "docno": np.array(docnos)[order.ravel()],
                "score": np.take_along_axis(cosines, order, axis=1).ravel().astype(float),
                "rank": np.tile(np.arange(order.shape[1]), len(topics)),
            }
        )

    outputs = ["qid", "docno", "score", "rank"]
    dense = pt.apply.generic(
        nearest, required_columns=["qid"], transform_outputs=lambda columns: outputs, label="MiniLM"
    )
    return dict(zip(LIVE, (short >> bm25, long >> bm25, dense), strict=True))
