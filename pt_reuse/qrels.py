"""Qrels: judgments, and the algebra that makes new ones of them."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import InputError, ReuseWarning, choice, columns, count, examples
from pt_reuse.engine import tokens
from pt_reuse.engine.files import UnreadableError, read_bytes, replacing
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.tokens import Words
from pt_reuse.engine.trec import QRELS_LINE, check_names, parse_qrels

CONFLICTS = ("error", "first", "second", "higher", "lower")


@dataclass(frozen=True)
class Judgments:
    """The arrays of a Qrels: rows grouped by topic; topic t has the rows ``starts[t]:starts[t + 1]``."""

    topics: tuple[str, ...]
    starts: NDArray[np.int64]
    docs: Words
    labels: NDArray[np.int16]


class Qrels:
    """Judgments of documents for topics; immutable, every operation returns a new one.

    Labels: > 0 relevant at that grade, 0 judged not relevant, -1 pooled but not judged, -2 junk. *Judged* means a
    label >= 0. The topic set is kept by all operations but :meth:`select`: a topic that loses its last document stays,
    and counts 0 in means.

    Args:
        frame: columns ``qid``, ``docno``, ``label``; further columns (who judged, which round) are carried along.
        topics: the topic set, when it is larger than the topics of the rows.

    Raises:
        InputError: a missing column, a label that is no whole number, one document with two labels.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> old = ptr.Qrels(pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]}))
        >>> new = ptr.Qrels(pd.DataFrame({"qid": ["1", "2"], "docno": ["c", "a"], "label": [2, 0]}))
        >>> old | new
        Qrels: 2 topics, 4 judgments, 2 relevant (labels 0: 2, 1: 1, 2: 1)
        >>> (old | new).threshold(2).to_frame()["label"].tolist()
        [0, 0, 1, 0]
    """

    def __init__(self, frame: pd.DataFrame, *, topics: Iterable[str] | None = None):
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"Qrels: expected a DataFrame, got {type(frame).__name__}. Use read_qrels for a file.")
        columns("Qrels", "the frame", frame.columns, ("qid", "docno", "label"))
        if frame[["qid", "docno", "label"]].isna().any(axis=None):
            row = int(np.flatnonzero(frame[["qid", "docno", "label"]].isna().any(axis=1))[0])
            raise InputError(f"Qrels: row {row} has a missing qid, docno or label. Fill it in or drop the row.")
        values = pd.to_numeric(frame["label"], errors="coerce").to_numpy(dtype=np.float64)
        odd = np.flatnonzero(~((values == np.floor(values)) & (np.abs(values) < 2**15)))
        if len(odd):
            row = frame.iloc[int(odd[0])]
            raise InputError(
                f"Qrels: the label of topic {row['qid']!r}, document {row['docno']!r} must be a whole number below "
                f"{2**15:,}, got {row['label']!r}."
            )
        topic, names = pd.factorize(frame["qid"].astype(str))
        doc_codes, docnos = pd.factorize(frame["docno"].astype(str))
        bad = [text for text in [*names, *docnos] if not text or "\0" in text]
        if bad:
            raise InputError(f"Qrels: {examples(bad)} cannot be a qid or docno; it must be text without NUL bytes.")
        words = tokens.as_words(tokens.encode(docnos))[doc_codes]
        extra = frame.drop(columns=["qid", "docno", "label"])
        self._build([str(name) for name in names], topic, words, values.astype(np.int16), extra, topics, "Qrels")

    @classmethod
    def _of(
        cls,
        names: list[str],
        topic: NDArray[np.int64],
        words: Words,
        labels: NDArray[np.int16],
        extra: pd.DataFrame | None,
        topics: Iterable[str] | None,
        where: str,
    ) -> Qrels:
        made = cls.__new__(cls)
        made._build(names, topic, words, labels, extra, topics, where)
        return made

    def _build(
        self,
        names: list[str],
        topic: NDArray[np.int64],
        words: Words,
        labels: NDArray[np.int16],
        extra: pd.DataFrame | None,
        topics: Iterable[str] | None,
        where: str,
    ) -> None:
        every = list(dict.fromkeys([*names, *(str(t) for t in topics or ())]))
        order = natural_order(every)
        place = np.empty(len(every), dtype=np.int64)
        place[order] = np.arange(len(every))
        topic = place[: len(names)][topic] if len(names) else topic.astype(np.int64)
        if (topic[1:] < topic[:-1]).any():
            sort = np.argsort(topic, kind="stable")
            topic, words, labels = topic[sort], words[sort], labels[sort]
            extra = extra.iloc[sort] if extra is not None else None
        kept = _once(topic, words, labels, [every[i] for i in order], where)
        if kept is not None:
            topic, words, labels = topic[kept], words[kept], labels[kept]
            extra = extra.iloc[kept] if extra is not None else None
        starts = np.searchsorted(topic, np.arange(len(every) + 1))
        self.judgments = Judgments(tuple(every[i] for i in order), starts, words, labels)
        self._extra = None if extra is None or extra.shape[1] == 0 else extra.reset_index(drop=True)

    @property
    def topics(self) -> list[str]:
        """Return the topic set, in natural order."""
        return list(self.judgments.topics)

    def __len__(self) -> int:
        return len(self.judgments.labels)

    @cached_property
    def _topic(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.judgments.topics)), np.diff(self.judgments.starts))

    def to_frame(self) -> pd.DataFrame:
        """Return the judgments as a PyTerrier frame: ``qid docno label`` and all further columns."""
        frame = pd.DataFrame({
            "qid": np.array(self.judgments.topics, dtype=object)[self._topic],
            "docno": np.array(tokens.decode(tokens.as_tokens(self.judgments.docs)), dtype=object),
            "label": self.judgments.labels.astype(np.int64),
        })  # fmt: skip
        return frame if self._extra is None else pd.concat([frame, self._extra], axis=1)

    def summary(self) -> pd.DataFrame:
        """Return per topic: ``qid judged relevant unjudged junk density``.

        ``unjudged`` counts label -1, ``junk`` all labels below; ``density`` is relevant / judged (0 where none is judged).
        """
        labels, n = self.judgments.labels, len(self.judgments.topics)

        def tally(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
            return np.bincount(self._topic[rows], minlength=n)

        judged, relevant = tally(labels >= 0), tally(labels > 0)
        return pd.DataFrame({
            "qid": list(self.judgments.topics), "judged": judged, "relevant": relevant,
            "unjudged": tally(labels == -1), "junk": tally(labels < -1),
            "density": relevant / np.maximum(judged, 1),
        })  # fmt: skip

    def __or__(self, other: Qrels) -> Qrels:
        """Unite; a document with two labels is an error. Use :meth:`union` to choose another rule."""
        return self.union(other)

    def union(self, other: Qrels, *, conflict: str = "error") -> Qrels:
        """Return the judgments of both.

        Args:
            other: further judgments.
            conflict: the label of a document that has two: ``"error"`` (default), the label of the ``"first"`` or
                ``"second"`` Qrels, the ``"higher"`` or the ``"lower"`` one. A label of -1 (pooled, not judged) gives way
                to any judgment without a conflict.

        Returns:
            Qrels: all (topic, document) pairs of either.
        """
        choice("Qrels.union", "conflict", conflict, CONFLICTS)
        mine, theirs = self.judgments, as_qrels(other, "Qrels.union").judgments
        found = self.rows_of(theirs.topics, theirs.starts, theirs.docs)
        both = np.flatnonzero(found >= 0)
        labels = mine.labels.copy()
        old, new = mine.labels[found[both]], theirs.labels[both]
        clash = (old != new) & (old != -1) & (new != -1)
        if conflict == "error" and clash.any():
            row = int(both[np.flatnonzero(clash)[0]])
            topic = theirs.topics[int(np.searchsorted(theirs.starts, row, side="right")) - 1]
            docno = tokens.decode(tokens.as_tokens(theirs.docs[row : row + 1]))[0]
            raise InputError(
                f"Qrels.union: topic {topic!r}, document {docno!r} has label {int(mine.labels[found[row]])} and "
                f"{int(theirs.labels[row])} ({count(int(clash.sum()), 'such document')}). Choose conflict='first', 'second', "
                f"'higher' or 'lower'."
            )
        chosen = {"error": old, "first": old, "second": new, "higher": np.maximum(old, new), "lower": np.minimum(old, new)}
        merged = np.where(clash, chosen[conflict], np.where(old == -1, new, old))
        labels[found[both]] = merged
        added = np.flatnonzero(found < 0)
        names = [*mine.topics, *theirs.topics]
        their_topic = np.repeat(np.arange(len(theirs.topics)), np.diff(theirs.starts))[added] + len(mine.topics)
        every = list(dict.fromkeys(names))
        place = np.array([every.index(name) for name in names], dtype=np.int64)
        width = max(mine.docs.shape[1], theirs.docs.shape[1])
        return Qrels._of(
            every,
            place[np.concatenate([self._topic, their_topic])] if names else their_topic,
            np.concatenate([tokens.widen(mine.docs, width), tokens.widen(theirs.docs, width)[added]]),
            np.concatenate([labels, theirs.labels[added]]),
            _stack(self._extra, len(self), other._extra, added),
            None,
            "Qrels.union",
        )

    def __sub__(self, other: Any) -> Qrels:
        """Remove every judgment whose (topic, document) stands in `other`, a Qrels, Pool or frame."""
        return self.keep(self._find_rows(other, "Qrels.difference") < 0)

    def restrict(self, pool: Any) -> Qrels:
        """Keep the judgments whose (topic, document) stands in a pool.

        Args:
            pool: a Pool, a Qrels, or a frame with ``qid`` and ``docno``.

        Returns:
            Qrels: the same topic set, fewer judgments.
        """
        return self.keep(self._find_rows(pool, "Qrels.restrict") >= 0)

    def threshold(self, rel: int) -> Qrels:
        """Make the labels binary: 1 at grade `rel` or above, 0 for lower judged grades; negative labels stay."""
        labels = self.judgments.labels
        binary = np.where(labels >= rel, 1, np.where(labels < 0, labels, 0)).astype(np.int16)
        j = self.judgments
        return Qrels._of(list(j.topics), self._topic, j.docs, binary, self._extra, None, "Qrels.threshold")

    def sample(self, share: float, *, seed: int) -> Qrels:
        """Keep a random share of the judgments of each topic, rounded to whole documents, without replacement.

        Args:
            share: between 0 and 1.
            seed: the same seed gives the same sample in every process.
        """
        if not 0 <= share <= 1:
            raise InputError(f"Qrels.sample: share must be between 0 and 1, got {share!r}.")
        random = np.random.default_rng(seed)
        kept = np.zeros(len(self), dtype=bool)
        for start, stop in zip(self.judgments.starts[:-1].tolist(), self.judgments.starts[1:].tolist(), strict=True):
            kept[start + random.permutation(stop - start)[: round(share * (stop - start))]] = True
        return self.keep(kept)

    def select(self, topics: Iterable[str]) -> Qrels:
        """Return the judgments of these topics alone; this alone changes the topic set."""
        wanted = list(dict.fromkeys([topics] if isinstance(topics, str) else [str(topic) for topic in topics]))
        unknown = [topic for topic in wanted if topic not in self.judgments.topics]
        if unknown:
            raise InputError(f"Qrels.select: {examples(unknown)} not among the topics {examples(self.topics)}.")
        j = self.judgments
        kept = np.isin(self._topic, [j.topics.index(topic) for topic in wanted])
        rows = np.flatnonzero(kept)
        extra = None if self._extra is None else self._extra.iloc[rows]
        place = {topic: i for i, topic in enumerate(wanted)}
        codes = np.array([place.get(topic, -1) for topic in j.topics], dtype=np.int64)[self._topic[rows]]
        return Qrels._of(wanted, codes, j.docs[rows], j.labels[rows], extra, None, "Qrels.select")

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a TREC qrels file, ``qid 0 docno label``; topics without judgments cannot stand in one."""
        path = Path(path)
        if path.exists() and not overwrite:
            raise InputError(f"Qrels.write: {path} exists. Pass overwrite=True to replace it.")
        frame = self.to_frame()
        check_names(frame["docno"].unique().tolist(), "Qrels.write: docno")
        check_names(self.topics, "Qrels.write: topic")
        rows = zip(frame["qid"], frame["docno"], frame["label"], strict=True)
        text = "".join(f"{qid} 0 {docno} {label}\n" for qid, docno, label in rows)
        with replacing(path) as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        return path

    def __repr__(self) -> str:
        values, counts = np.unique(self.judgments.labels, return_counts=True)
        labels = ", ".join(f"{v}: {c:,}" for v, c in zip(values.tolist(), counts.tolist(), strict=True))
        relevant = int((self.judgments.labels > 0).sum())
        head = f"{count(len(self.judgments.topics), 'topic')}, {count(len(self), 'judgment')}, {relevant:,} relevant"
        return f"Qrels: {head} (labels {labels or 'none'})"

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(repr(self))}</b></p>{self.summary().to_html(max_rows=12, index=False, escape=True)}"

    def keep(self, kept: NDArray[np.bool_]) -> Qrels:
        """Return the judgments that a mask (one flag per row) marks; the topic set stays."""
        rows = np.flatnonzero(kept)
        extra = None if self._extra is None else self._extra.iloc[rows]
        j = self.judgments
        return Qrels._of(list(j.topics), self._topic[rows], j.docs[rows], j.labels[rows], extra, None, "Qrels")

    def _find_rows(self, other: Any, function: str) -> NDArray[np.int64]:
        if hasattr(other, "to_qrels"):  # a Pool
            other = other.to_qrels()
        elif isinstance(other, pd.DataFrame) and "label" not in other.columns:
            columns(function, "the frame", other.columns, ("qid", "docno"))
            other = Qrels(other[["qid", "docno"]].drop_duplicates().assign(label=0))
        j = self.judgments
        return as_qrels(other, function).rows_of(j.topics, j.starts, j.docs)

    def rows_of(self, topics: Sequence[str], starts: NDArray[np.int64], docs: Words) -> NDArray[np.int64]:
        """Return the row of each (topic, document) among the judgments, or -1.

        Args:
            topics: topic names.
            starts: (topics + 1,) documents of each topic.
            docs: (documents, k) words of the document names.
        """
        rows = np.full(len(docs), -1, dtype=np.int64)
        place = {topic: t for t, topic in enumerate(self.judgments.topics)}
        for t, topic in enumerate(topics):
            mine = place.get(topic)
            if mine is None:
                continue
            here, there = slice(*self.judgments.starts[mine : mine + 2]), slice(*starts[t : t + 2])
            found = tokens.match(docs[there], self.judgments.docs[here])
            rows[there] = np.where(found >= 0, found + here.start, -1)
        return rows


def read_qrels(path: str | Path) -> Qrels:
    """Read a TREC qrels file: four columns, ``qid iteration docno label``, separated by any white space.

    Args:
        path: the file; packed files are recognised by their first bytes.

    Returns:
        Qrels: all judgments, negative labels included.

    Raises:
        InputError: naming the file, the line and what to do.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"read_qrels: {path} is a folder. Give the qrels file, {QRELS_LINE}.")
    if not path.exists():
        raise InputError(f"read_qrels: {path}: no such file.")
    try:
        data = read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{path}: {error}. Expected qrels, {QRELS_LINE}.") from error
    rows = parse_qrels(data, str(path))
    return Qrels._of(rows.topics, rows.topic, rows.docs, rows.labels, None, None, str(path))


def as_qrels(value: Any, function: str) -> Qrels:
    """Return a Qrels of a Qrels, a frame or a file's path."""
    if isinstance(value, Qrels):
        return value
    if isinstance(value, pd.DataFrame):
        return Qrels(value)
    if isinstance(value, str | Path):
        return read_qrels(value)
    raise InputError(f"{function}: qrels must be a Qrels, a DataFrame or a file, got {type(value).__name__}.")


def _once(
    topic: NDArray[np.int64], words: Words, labels: NDArray[np.int16], topics: list[str], where: str
) -> NDArray[np.int64] | None:
    # rows of first occurrences, None when no pair stands twice
    if len(topic) == 0:
        return None
    codes, first = tokens.factorize(words)
    pairs = pd.Series(topic * len(first) + codes)
    again = pairs.duplicated().to_numpy()
    if not again.any():
        return None
    first_label = pd.Series(labels).groupby(pairs.to_numpy()).transform("first").to_numpy()
    clash = np.flatnonzero(labels != first_label)
    if len(clash):
        row = int(clash[0])
        docno = tokens.decode(tokens.as_tokens(words[row : row + 1]))[0]
        raise InputError(
            f"{where}: topic {topics[topic[row]]!r}, document {docno!r} has label {int(first_label[row])} and {int(labels[row])} "
            f"({count(len(clash), 'conflicting label')}). Keep one label per document; Qrels.union(conflict=...) merges "
            f"two sets of judgments by a rule."
        )
    row = int(np.flatnonzero(again)[0])
    docno = tokens.decode(tokens.as_tokens(words[row : row + 1]))[0]
    warnings.warn(
        f"{where}: {count(int(again.sum()), 'judgment')} given more than once with the same label (topic "
        f"{topics[topic[row]]!r}, document {docno!r}); each counts once.",
        ReuseWarning,
        stacklevel=5,
    )
    return np.flatnonzero(~again)


def _stack(
    mine: pd.DataFrame | None, n_mine: int, theirs: pd.DataFrame | None, added: NDArray[np.int64]
) -> pd.DataFrame | None:
    if mine is None and theirs is None:
        return None
    upper = mine if mine is not None else pd.DataFrame(index=range(n_mine))
    lower = theirs.iloc[added] if theirs is not None else pd.DataFrame(index=range(len(added)))
    return pd.concat([upper, lower], ignore_index=True)
