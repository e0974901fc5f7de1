"""Texts: what people read of a topic and of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import Argument, InputError, warn
from pt_reuse.judging.people.manifest import Key

#: what is shown of a topic, in this order, where topics have it
TOPIC_FIELDS = ("query", "title", "description", "narrative")
#: what is shown of a document, in this order, where a corpus has it; else all its texts
_DOC_FIELDS = ("title", "text")


def topic_texts(topics: Any, qids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return topic -> field -> what people read of it; each topic has a query."""
    if isinstance(topics, Mapping):
        topics = pd.DataFrame({"qid": list(topics), "query": list(topics.values())}, dtype=object)
    if isinstance(topics, pd.DataFrame) and "query" not in topics and "title" in topics:
        # as ir_datasets has topics of several fields
        topics = topics.rename(columns={"title": "query"})
    if not isinstance(topics, pd.DataFrame) or not {"qid", "query"} <= set(topics.columns):
        got = list(topics.columns) if isinstance(topics, pd.DataFrame) else topics
        raise InputError(
            Argument("topics"),
            f" must be a frame with 'qid' and 'query', or a dict of qid -> query, got {told(got)}.",
            argument="topics",
        )
    shown = [field for field in TOPIC_FIELDS if field in topics.columns]
    found: dict[str, dict[str, str]] = {}
    for qid, *values in topics[["qid", *shown]].itertuples(index=False, name=None):
        texts = {field: value for field, value in zip(shown, values, strict=True) if isinstance(value, str)}
        found.setdefault(str(qid), {field: text for field, text in texts.items() if text.strip()})
    lacking = [qid for qid in qids if "query" not in found.get(qid, {})]
    if lacking:
        raise InputError(
            f"{count(len(lacking), 'topic')} of the pool without a query: {examples(lacking)}. People cannot judge "
            "what they do not know.",
            argument="topics",
        )
    return {qid: found[qid] for qid in qids}


def document_texts(texts: Any, keys: Sequence[Key], queries: Mapping[str, str], *, verbose: bool) -> dict[Key, str]:
    """Return (topic, document) -> what people read of the document."""
    if isinstance(texts, pd.DataFrame):
        texts = texts.to_dict("records")
    if isinstance(texts, pt.Transformer):
        found = _from_transformer(texts, keys, queries)
    elif isinstance(texts, Mapping):
        if isinstance(texts, dict):
            # a document may be called by a number, where its name is a text
            texts = {str(docno): text for docno, text in texts.items()}
        by_docno = {docno: _text(texts[docno], docno) for docno in dict.fromkeys(d for _, d in keys) if docno in texts}
        found = {key: by_docno[key[1]] for key in keys if key[1] in by_docno}
    elif isinstance(texts, Iterable) and not isinstance(texts, str | bytes):
        by_docno = _from_corpus(texts, {docno for _, docno in keys}, verbose=verbose)
        found = {key: by_docno[key[1]] for key in keys if key[1] in by_docno}
    else:
        raise InputError(
            Argument("texts"),
            " must be a dict of docno -> text, the documents of a corpus as dicts with 'docno' and 'text', or a "
            f"transformer that adds 'text', got {told(texts)}.",
            argument="texts",
        )
    lacking = [docno for _, docno in keys if (_, docno) not in found]
    if lacking:
        raise InputError(
            f"{count(len(lacking), 'document')} of {len(keys):,} without a text: {examples(lacking)}. Give the texts "
            "of all documents of the pool.",
            argument="texts",
        )
    blank = [docno for (_, docno), text in found.items() if not text.strip()]
    if blank:
        warn(f"{count(len(blank), 'document')} of {len(keys):,} with an empty text: {examples(blank)}.")
    return found


def _from_transformer(texts: pt.Transformer, keys: Sequence[Key], queries: Mapping[str, str]) -> dict[Key, str]:
    frame = pd.DataFrame(
        {"qid": [q for q, _ in keys], "query": [queries[q] for q, _ in keys], "docno": [d for _, d in keys]},
        dtype=object,
    )
    got = texts(frame)
    if not isinstance(got, pd.DataFrame) or not {"qid", "docno", "text"} <= set(got.columns):
        columns = list(got.columns) if isinstance(got, pd.DataFrame) else type(got).__name__
        raise InputError(
            Argument("texts"),
            f" is a transformer that must return 'qid', 'docno' and 'text', got {told(columns)}.",
            argument="texts",
        )
    rows = got[["qid", "docno", "text"]].itertuples(index=False, name=None)
    return {(str(qid), str(docno)): text for qid, docno, text in rows if isinstance(text, str)}


def _from_corpus(texts: Iterable[Any], wanted: set[str], *, verbose: bool) -> dict[str, str]:
    left, found = set(wanted), {}
    for document in pt.tqdm(texts, desc="texts", unit=" documents", disable=not verbose):
        if not isinstance(document, Mapping) or "docno" not in document:
            raise InputError(
                Argument("texts"),
                f" must be documents as dicts with 'docno' and 'text', got {told(document)}.",
                argument="texts",
            )
        docno = str(document["docno"])
        if docno in left:
            found[docno] = _text(document, docno)
            left.remove(docno)
            if not left:
                break
    return found


def _text(document: Any, docno: str) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, Mapping):
        fields = {field: value for field, value in document.items() if isinstance(value, str) and field != "docno"}
        chosen = _DOC_FIELDS if "text" in fields else tuple(fields)
        return "\n\n".join(fields[field] for field in chosen if fields.get(field, "").strip())
    raise InputError(f"the text of document {shown(docno)} must be text, got {told(document)}.", argument="texts")
