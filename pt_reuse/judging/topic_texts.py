"""WithTexts: a judge that is handed the queries and texts that it reads, so that it can be asked with ids alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import count, examples, flag, told
from pt_reuse._errors import Argument, InputError, arguments_as, door
from pt_reuse.data.frame_columns import check_frame, text_groups
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.judges import as_judge
from pt_reuse.judging.people.manifest import document_texts


class TopicTexts:
    """What a judge is told of the topics."""

    def __init__(self, topics: Any):
        self._frame: pd.DataFrame | None = None
        if topics is None:
            return
        if not isinstance(topics, pd.DataFrame):
            raise InputError(
                Argument("topics"), f" must be a frame with qid and query, got {told(topics)}.", argument="topics"
            )
        with arguments_as(frame="topics"):
            check_frame(topics, ("qid",))
            codes, names = text_groups("qid", topics["qid"])
        twice = [names[code] for code in codes[pd.Series(codes).duplicated().to_numpy()].tolist()]
        if twice:
            raise InputError(
                f"topic {examples(dict.fromkeys(twice))} stands more than once. Keep one row per topic.",
                argument="topics",
            )
        self._frame = topics.drop(columns="qid").set_axis(pd.Index(names, dtype=object), axis=0)

    def check(self, qids: Sequence[str]) -> None:
        """Raise where a topic that is judged is not among those told of."""
        if self._frame is None:
            return
        missing = [qid for qid in qids if qid not in self._frame.index]
        if missing:
            raise InputError(
                f"{count(len(missing), 'topic')} of the {len(qids):,} to be judged not among the topics given: "
                f"{examples(missing)}. There is {examples(self._frame.index)}.",
                argument="topics",
            )

    def beside(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with ``qid`` and what is told of each row's topic beside it."""
        if self._frame is None:
            return pairs
        told_of = self._frame.loc[pairs["qid"]].set_axis(pairs.index, axis=0)
        return pd.concat([pairs, told_of.drop(columns=[c for c in pairs if c in told_of])], axis=1)


_IDS = ("qid", "docno")


class WithTexts(Judge):
    """A judge with the queries and texts that it reads.

    Studies know topics and documents by their ids. A judge that reads is handed ``query`` and ``text`` by this one, of
    those documents alone that it is asked about, and is then asked itself, once for all of them. It goes wherever a
    judge goes.

    Args:
        judge: who reads and gives the labels: a :class:`Judge`, such as :class:`Callable`, a function of a frame, or a
            pipeline.
        topics: what it is told of each topic: a frame with ``qid`` and ``query`` (or ``title``, which is then the
            query) and whatever else it reads, one row per topic; or a dict of qid -> query.
        texts: a dict of docno -> text; a frame or a list of dicts with ``docno`` and ``text``; or a transformer that
            adds ``text`` to ``qid query docno``, such as ``pt.text.get_text(dataset)``. None: the judge reads no texts,
            or gets them itself.
        verbose: show a progress bar while a corpus is read.

    Attributes:
        name: that of the judge, and so are `rel` and `family`.

    Raises:
        InputError: no judge, topics or texts that are none, or a judge that reads what neither has; when it judges, a
            topic without a query or a document without a text.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> def overlap(query, text):
        ...     return int(bool(set(query.split()) & set(text.split())))
        >>> reader = ptr.judging.Callable(overlap, name="overlap")
        >>> judge = ptr.judging.WithTexts(reader, topics={"1": "tides"}, texts={"a": "the moon", "b": "the tides"})
        >>> judge(pd.DataFrame({"qid": "1", "docno": ["a", "b"]}))["label"].tolist()
        [0, 1]
    """

    @door
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
        frame = _topics(topics)
        self._told = TopicTexts(frame)
        self._texts, self._verbose = _checked(texts), flag("verbose", verbose)
        self._given = (*(column for column in frame if column != "qid"), *(() if texts is None else ("text",)))
        lacking = [column for column in self._judge.needs() if column not in (*_IDS, *self._given)]
        if lacking:
            raise InputError(
                f"judge {self.name} reads {examples(lacking)}, and is given {examples([*_IDS, *self._given], 12)}. A "
                "topic has what its frame has, a document has 'text'.",
                argument="texts" if "text" in lacking else "topics",
            )

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, Any]:
        """Return what the judge says of each document, now that it can read.

        Args:
            pairs: the documents, one a row: ``qid docno``.
        """
        qids, docnos = ([str(name) for name in pairs[column]] for column in _IDS)
        self._told.check(list(dict.fromkeys(qids)))
        shown = pairs.drop(columns=[column for column in self._given if column in pairs])
        shown = self._told.beside(shown.assign(qid=qids, docno=docnos))
        if self._texts is not None:
            keys = list(zip(qids, docnos, strict=True))
            queries = dict(zip(qids, shown["query"].astype(str).tolist(), strict=True))
            found = document_texts(self._texts, list(dict.fromkeys(keys)), queries, verbose=self._verbose)
            shown = shown.assign(text=[found[key] for key in keys])
        said = self._judge.transform(shown)
        return {str(column): said[column].array for column in said if column == "label" or column not in shown}


def _topics(topics: Any) -> pd.DataFrame:
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
    return topics.drop(columns=["docno", "text"], errors="ignore")


def _checked(texts: Any) -> Any:
    """Return texts that can be read again and again."""
    if isinstance(texts, Iterator):
        raise InputError(
            Argument("texts"),
            " can be read but once here, and a judge may be asked again. Give pt.text.get_text(dataset), a dict of "
            f"docno -> text, or a list of documents, got {type(texts).__name__}.",
            argument="texts",
        )
    known = isinstance(texts, pd.DataFrame | Mapping | pt.Transformer | Iterable) and not isinstance(texts, str | bytes)
    if texts is None or known:
        return texts
    raise InputError(
        Argument("texts"),
        " must be a dict of docno -> text, a frame with 'docno' and 'text', or a transformer that adds 'text', got "
        f"{told(texts)}.",
        argument="texts",
    )
