"""What those who judge read: queries of topics, texts of documents, and a judge that is handed both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse.data.frame_columns import as_id, as_pairs, check_frame, text_groups
from pt_reuse.errors import InputError, count, examples, flag, shown, warn
from pt_reuse.judge import Judge, as_judge

#: what is shown of a topic, in this order, where topics have it
TOPIC_FIELDS = ("query", "title", "description", "narrative")
#: what is shown of a document, in this order, where a corpus has it; else all its texts
_DOC_FIELDS = ("title", "text")
_IDS = ("qid", "docno")
_TEXTS = "a dict of docno -> text, documents as dicts with 'docno' and 'text', or a transformer that adds 'text'"


def topic_frame(topics: Any) -> pd.DataFrame:
    """Return topics with ``qid`` and ``query``, from a frame (whose ``title`` may be the query) or a dict."""
    if isinstance(topics, Mapping):
        topics = pd.DataFrame({"qid": list(topics), "query": list(topics.values())}, dtype=object)
    if isinstance(topics, pd.DataFrame) and "query" not in topics and "title" in topics:
        # as ir_datasets has topics of several fields
        topics = topics.rename(columns={"title": "query"})
    if not isinstance(topics, pd.DataFrame) or not {"qid", "query"} <= set(topics.columns):
        got = shown(list(topics.columns) if isinstance(topics, pd.DataFrame) else topics)
        what = "a frame with 'qid' and 'query', or a dict of qid -> query"
        raise InputError(f"topics must be {what}, got {got}.", argument="topics")
    return topics


def shown_topics(topics: Any, qids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return topic -> field -> what people read of it; each topic has a query."""
    frame = topic_frame(topics)
    fields = [field for field in TOPIC_FIELDS if field in frame.columns]
    of_topic: dict[str, dict[str, str]] = {}
    for qid, *values in frame[["qid", *fields]].itertuples(index=False, name=None):
        texts = zip(fields, values, strict=True)
        shown_texts = {field: text for field, text in texts if isinstance(text, str) and text.strip()}
        of_topic.setdefault(as_id("qid", qid), shown_texts)
    lacking = [qid for qid in qids if "query" not in of_topic.get(qid, {})]
    if lacking:
        lacks = f"{count(len(lacking), 'topic')} of the pool without a query: {examples(lacking)}. "
        raise InputError(f"{lacks}People cannot judge what they do not know.", argument="topics")
    return {qid: of_topic[qid] for qid in qids}


def document_texts(
    texts: Any, keys: Sequence[tuple[str, str]], queries: Mapping[str, str], *, verbose: bool
) -> dict[tuple[str, str], str]:
    """Return (topic, document) -> what people read of the document."""
    if isinstance(texts, pt.Transformer):
        asked = pd.DataFrame([(q, queries[q], d) for q, d in keys], columns=["qid", "query", "docno"], dtype=object)
        got = texts(asked)
        if not isinstance(got, pd.DataFrame) or not {"qid", "docno", "text"} <= set(got.columns):
            columns = shown(list(got.columns) if isinstance(got, pd.DataFrame) else type(got).__name__)
            what = "a transformer that returns 'qid', 'docno' and 'text'"
            raise InputError(f"texts must be {what}, got {columns}.", argument="texts")
        rows = zip(zip(*as_pairs(got), strict=True), got["text"].tolist(), strict=True)
        by_key = {pair: text for pair, text in rows if isinstance(text, str)}
    else:
        by_docno = _texts_of({docno for _, docno in keys}, texts, verbose=verbose)
        by_key = {key: by_docno[key[1]] for key in keys if key[1] in by_docno}
    lacking = [docno for qid, docno in keys if (qid, docno) not in by_key]
    if lacking:
        lacks = f"{count(len(lacking), 'document')} of {len(keys):,} without a text: {examples(lacking)}. "
        raise InputError(f"{lacks}Give the texts of all documents of the pool.", argument="texts")
    blank = [docno for (_, docno), text in by_key.items() if not text.strip()]
    if blank:
        warn(f"{count(len(blank), 'document')} of {len(keys):,} with an empty text: {examples(blank)}.")
    return by_key


def _texts_of(wanted: set[str], texts: Any, *, verbose: bool) -> dict[str, str]:
    """Return document -> text of those that are wanted, of a dict, a frame or a corpus, read no further than needed."""
    if isinstance(texts, pd.DataFrame):
        texts = texts.to_dict("records")
    if isinstance(texts, dict):
        # a document may be called by a number, where its name is a text
        texts = {as_id("docno", docno): text for docno, text in texts.items()}
    if isinstance(texts, Mapping):
        return {docno: _text(texts[docno], docno) for docno in wanted if docno in texts}
    if not isinstance(texts, Iterable) or isinstance(texts, str | bytes):
        raise InputError(f"texts must be {_TEXTS}, got {shown(texts)}.", argument="texts")
    by_docno: dict[str, str] = {}
    for document in pt.tqdm(texts, desc="texts", unit=" documents", disable=not verbose):
        if not isinstance(document, Mapping) or "docno" not in document:
            raise InputError(f"texts must be {_TEXTS}, got {shown(document)}.", argument="texts")
        docno = as_id("docno", document["docno"])
        if docno in wanted and docno not in by_docno:
            by_docno[docno] = _text(document, docno)
            if len(by_docno) == len(wanted):
                break
    return by_docno


def _text(document: Any, docno: str) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, Mapping):
        fields = {field: value for field, value in document.items() if isinstance(value, str) and field != "docno"}
        chosen = _DOC_FIELDS if "text" in fields else tuple(fields)
        return "\n\n".join(fields[field] for field in chosen if fields.get(field, "").strip())
    raise InputError(f"the text of document {shown(docno)} must be text, got {shown(document)}.", argument="texts")


class TopicTexts:
    """What a judge is told of topics, and of documents, where their `texts` are known."""

    def __init__(self, topics: Any):
        self._frame: pd.DataFrame | None = None
        self.texts: Mapping[str, str] | None = None
        if topics is None:
            return
        if not isinstance(topics, pd.DataFrame):
            raise InputError(f"topics must be a frame with qid and query, got {shown(topics)}.", argument="topics")
        check_frame(topics, ("qid",))
        codes, names = text_groups("qid", topics["qid"])
        twice = [names[code] for code in codes[pd.Series(codes).duplicated().to_numpy()].tolist()]
        if twice:
            stands = f"topic {examples(dict.fromkeys(twice))} stands more than once. Keep one row per topic."
            raise InputError(stands, argument="topics")
        self._frame = topics.drop(columns="qid").set_axis(pd.Index(names, dtype=object), axis=0)

    def queries(self) -> dict[str, str | None]:
        """Return topic -> query, None where there is none; in the order of the topics, of which there must be any."""
        frame = pd.DataFrame() if self._frame is None else self._frame
        if not len(frame):
            raise InputError("topics has no topic to judge.", argument="topics")
        given = list(frame["query"]) if "query" in frame else [None] * len(frame)
        texts = [query if isinstance(query, str) and query.strip() else None for query in given]
        return dict(zip(frame.index.tolist(), texts, strict=True))

    def check(self, qids: Sequence[str]) -> None:
        """Raise where a topic that is judged is not among those told of."""
        if self._frame is None:
            return
        if missing := [qid for qid in qids if qid not in self._frame.index]:
            n, known = f"{count(len(missing), 'topic')} of the {len(qids):,} to be judged", examples(self._frame.index)
            raise InputError(f"{n} not given: {examples(missing)}. There is {known}.", argument="topics")

    def beside(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with ``qid`` and what is told of each row's topic and document beside it."""
        if self._frame is not None:
            of_topic = self._frame.loc[pairs["qid"]].set_axis(pairs.index, axis=0)
            pairs = pd.concat([pairs, of_topic.drop(columns=[c for c in pairs if c in of_topic])], axis=1)
        if self.texts is not None:
            pairs = pairs.assign(text=pd.Series([self.texts.get(d) for d in pairs["docno"]], pairs.index, dtype=object))
        return pairs


class WithTexts(Judge):
    """A judge with the queries and texts that it reads.

    Studies know topics and documents by their ids. WithTexts adds ``query`` and ``text`` to the documents that the
    judge is asked about, and calls the judge once for all of them.

    Args:
        judge: the judge that reads: a :class:`Judge`, such as :class:`Callable`, a function of a frame, or a pipeline.
        topics: what it gets of each topic: a frame with ``qid`` and ``query`` (or ``title``, which is then the query)
            and whatever else it reads, one row per topic; or a dict of qid -> query.
        texts: a dict of docno -> text; a frame or a list of dicts with ``docno`` and ``text``; or a transformer that
            adds ``text`` to ``qid query docno``, such as ``pt.text.get_text(dataset)``. None: the judge reads no texts,
            or fetches them itself.
        verbose: show a progress bar while a corpus is read.

    Attributes:
        name: that of the judge, like `rel` and `family`.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> def overlap(query, text):
        ...     return int(bool(set(query.split()) & set(text.split())))
        >>> reader = ptr.judging.Callable(overlap, name="overlap")
        >>> judge = ptr.judging.WithTexts(reader, topics={"1": "tides"}, texts={"a": "the moon", "b": "the tides"})
        >>> judge(pd.DataFrame({"qid": "1", "docno": ["a", "b"]}))["label"].tolist()
        [0, 1]
    """

    def __init__(
        self,
        judge: Any,
        *,
        topics: pd.DataFrame | Mapping[str, str],
        texts: Mapping[str, str] | pd.DataFrame | Iterable[Mapping[str, Any]] | pt.Transformer | None = None,
        verbose: bool = False,
    ):
        self._judge = as_judge(judge)
        super().__init__(self._judge.name, rel=self._judge.rel)
        self.family = getattr(judge, "family", None)
        frame = topic_frame(topics).drop(columns=["docno", "text"], errors="ignore")
        self._topics = TopicTexts(frame)
        kinds = pd.DataFrame | Mapping | pt.Transformer | Iterable
        if texts is not None and (not isinstance(texts, kinds) or isinstance(texts, str | bytes | Iterator)):
            again = "which can be read again and again"
            raise InputError(f"texts must be {_TEXTS}, {again}; got {shown(texts)}.", argument="texts")
        self._texts, self._verbose = texts, flag("verbose", verbose)
        self._given = (*(column for column in frame if column != "qid"), *(() if texts is None else ("text",)))
        if lacking := [column for column in self._judge.needs() if column not in (*_IDS, *self._given)]:
            reads = f"judge {self.name} reads {examples(lacking)}, and is given"
            argument = "texts" if "text" in lacking else "topics"
            raise InputError(f"{reads} {examples([*_IDS, *self._given], 12)} alone.", argument=argument)

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, Any]:
        qids, docnos = as_pairs(pairs)
        self._topics.check(list(dict.fromkeys(qids)))
        own = pairs.drop(columns=[column for column in self._given if column in pairs])
        asked = self._topics.beside(own.assign(qid=qids, docno=docnos))
        if self._texts is not None:
            keys = list(zip(qids, docnos, strict=True))
            queries = dict(zip(qids, asked["query"].astype(str).tolist(), strict=True))
            texts = document_texts(self._texts, list(dict.fromkeys(keys)), queries, verbose=self._verbose)
            asked = asked.assign(text=[texts[key] for key in keys])
        answer = self._judge.transform(asked)
        return {str(column): answer[column].array for column in answer if column == "label" or column not in asked}
