"""Qrels: judgments, and the algebra that makes new ones of them."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, columns, count, examples
from pt_reuse._errors import InputError, door, located, warn
from pt_reuse._files import checked_path, replacing
from pt_reuse.engine import tokens
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.tokens import Words
from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.formats.files import UnreadableError, guarded, read_bytes
from pt_reuse.formats.frames import check_frame, number_column, shown, text_column, text_groups
from pt_reuse.formats.trec import LABELS, QRELS_LINE, check_names, not_labels, parse_qrels
from pt_reuse.qrels.arrays import QrelsArrays, first_occurrences, stack_extra, topic_set

CONFLICTS = ("error", "first", "second", "higher", "lower")


class Qrels:
    """QrelsArrays of documents for topics; immutable, every operation returns a new one.

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

    @door
    def __init__(self, frame: pd.DataFrame, *, topics: Iterable[str] | None = None):
        if not isinstance(frame, pd.DataFrame):
            raise InputError(f"expected a DataFrame, got {type(frame).__name__}. Use read_qrels for a file.")
        check_frame(frame, ("qid", "docno", "label"))
        values = number_column(frame["label"])
        odd = np.flatnonzero(not_labels(values))
        if len(odd):
            row = frame.iloc[int(odd[0])]
            raise InputError(
                f"the label of topic {row['qid']!r}, document {row['docno']!r} must be a whole number from "
                f"{LABELS[0]} to {LABELS[1]}, got {shown(row['label'])}. Map the labels to whole grades (0 not "
                f"relevant, 1, 2, ... relevant) first."
            )
        topic, names = text_groups("qid", frame["qid"])
        words = text_column("docno", frame["docno"])
        extra = frame.drop(columns=["qid", "docno", "label"])
        self._build(names, topic, words, values.astype(np.int16), extra, topic_set(topics))

    @classmethod
    def _of(
        cls,
        names: list[str],
        topic: NDArray[np.int64],
        words: Words,
        labels: NDArray[np.int16],
        extra: pd.DataFrame | None,
        topics: Iterable[str] | None,
        line_of: Callable[[int], int] | None = None,
    ) -> Qrels:
        made = cls.__new__(cls)
        made._build(names, topic, words, labels, extra, topics, line_of)
        return made

    def _build(
        self,
        names: list[str],
        topic: NDArray[np.int64],
        words: Words,
        labels: NDArray[np.int16],
        extra: pd.DataFrame | None,
        topics: Iterable[str] | None,
        line_of: Callable[[int], int] | None = None,
    ) -> None:
        every = list(dict.fromkeys([*names, *(str(t) for t in topics or ())]))
        order = natural_order(every)
        place = np.empty(len(every), dtype=np.int64)
        place[order] = np.arange(len(every))
        topic = place[: len(names)][topic] if len(names) else topic.astype(np.int64)
        kept = first_occurrences(topic, words, labels, [every[i] for i in order], line_of)
        if kept is not None:
            topic, words, labels = topic[kept], words.take(kept, axis=0), labels[kept]
            extra = extra.iloc[kept] if extra is not None else None
        if (topic[1:] < topic[:-1]).any():
            sort = np.argsort(topic, kind="stable")
            topic, words, labels = topic[sort], words.take(sort, axis=0), labels[sort]
            extra = extra.iloc[sort] if extra is not None else None
        starts = np.searchsorted(topic, np.arange(len(every) + 1))
        self.arrays = QrelsArrays(TopicDocs(tuple(every[i] for i in order), starts, words), labels)
        self._extra = None if extra is None or extra.shape[1] == 0 else extra.reset_index(drop=True)

    @property
    def topics(self) -> list[str]:
        """Return the topic set, in natural order."""
        return list(self.arrays.documents.topics)

    def __len__(self) -> int:
        return len(self.arrays.labels)

    def to_frame(self) -> pd.DataFrame:
        """Return the judgments as a PyTerrier frame: ``qid docno label`` and all further columns."""
        frame = pd.DataFrame({
            "qid": np.array(self.arrays.documents.topics, dtype=object)[self.arrays.documents.topic],
            "docno": np.array(tokens.decode(tokens.as_tokens(self.arrays.documents.words)), dtype=object),
            "label": self.arrays.labels.astype(np.int64),
        })  # fmt: skip
        return frame if self._extra is None else pd.concat([frame, self._extra], axis=1)

    def counts(self) -> pd.DataFrame:
        """Return per topic: ``qid judged relevant unjudged junk density``.

        ``unjudged`` counts label -1, ``junk`` all labels below; ``density`` is relevant / judged, 0 where none is
        judged.
        """
        labels, n = self.arrays.labels, len(self.arrays.documents.topics)

        def tally(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
            return np.bincount(self.arrays.documents.topic[rows], minlength=n)

        judged, relevant = tally(labels >= 0), tally(labels > 0)
        return pd.DataFrame({
            "qid": list(self.arrays.documents.topics), "judged": judged, "relevant": relevant,
            "unjudged": tally(labels == -1), "junk": tally(labels < -1),
            "density": relevant / np.maximum(judged, 1),
        })  # fmt: skip

    @door
    def __or__(self, other: Qrels) -> Qrels:
        """Unite; a document with two labels is an error. Use :meth:`union` to choose another rule."""
        return self.union(other)

    @door
    def union(self, other: Qrels, *, conflict: str = "error") -> Qrels:
        """Return the judgments of both.

        Args:
            other: further judgments.
            conflict: the label of a document that has two: ``"error"`` (default), the label of the ``"first"`` or
                ``"second"`` Qrels, the ``"higher"`` or the ``"lower"`` one. A label of -1 (pooled, not judged) gives
                way to any judgment without a conflict.

        Returns:
            Qrels: all (topic, document) pairs of either.
        """
        choice("conflict", conflict, CONFLICTS)
        other = as_qrels(other)
        mine, theirs = self.arrays, other.arrays
        found = mine.documents.find(theirs.documents)
        both = np.flatnonzero(found >= 0)
        old, new = mine.labels[found[both]], theirs.labels[both]
        clash = (old != new) & (old != -1) & (new != -1)
        if conflict == "error" and clash.any():
            row = int(both[np.flatnonzero(clash)[0]])
            topic = theirs.documents.topics[int(np.searchsorted(theirs.documents.starts, row, side="right")) - 1]
            docno = tokens.decode(tokens.as_tokens(theirs.documents.words[row : row + 1]))[0]
            raise InputError(
                f"topic {topic!r}, document {docno!r} has label {int(mine.labels[found[row]])} and "
                f"{int(theirs.labels[row])} ({count(int(clash.sum()), 'such document')}). Choose conflict='first', "
                f"'second', 'higher' or 'lower'."
            )
        chosen = {
            "error": old,
            "first": old,
            "second": new,
            "higher": np.maximum(old, new),
            "lower": np.minimum(old, new),
        }
        merged = np.where(clash, chosen[conflict], np.where(old == -1, new, old))
        # a judgment that takes over another's label takes over its further columns, too: who judged, which round
        wins = both[merged != old]
        stays = np.ones(len(self), dtype=bool)
        stays[found[wins]] = False
        added = np.union1d(np.flatnonzero(found < 0), wins)
        names = [*mine.documents.topics, *theirs.documents.topics]
        their_topic = np.repeat(np.arange(len(theirs.documents.topics)), np.diff(theirs.documents.starts))[added] + len(
            mine.documents.topics
        )
        every = list(dict.fromkeys(names))
        place_of = {name: i for i, name in enumerate(every)}
        place = np.array([place_of[name] for name in names], dtype=np.int64)
        width = max(mine.documents.words.shape[1], theirs.documents.words.shape[1])
        return Qrels._of(
            every,
            place[np.concatenate([self.arrays.documents.topic[stays], their_topic])] if names else their_topic,
            np.concatenate(
                [tokens.widen(mine.documents.words, width)[stays], tokens.widen(theirs.documents.words, width)[added]]
            ),
            np.concatenate([mine.labels[stays], theirs.labels[added]]),
            stack_extra(None if self._extra is None else self._extra[stays], int(stays.sum()), other._extra, added),
            None,
        )

    @door
    def __sub__(self, other: Any) -> Qrels:
        """Remove every judgment whose (topic, document) stands in `other`, a Qrels, Pool or frame."""
        return self.keep(self._find_rows(other) < 0)

    @door
    def restrict(self, pool: Any) -> Qrels:
        """Keep the judgments whose (topic, document) stands in a pool.

        Args:
            pool: a Pool, a Qrels, or a frame with ``qid`` and ``docno``.

        Returns:
            Qrels: the same topic set, fewer judgments.
        """
        return self.keep(self._find_rows(pool) >= 0)

    @door
    def threshold(self, rel: int) -> Qrels:
        """Make the labels binary: 1 at grade `rel` or above, 0 for lower judged grades; negative labels stay."""
        if isinstance(rel, bool) or not isinstance(rel, int | np.integer) or rel < 1:
            raise InputError(f"rel must be a grade, a whole number of at least 1, got {rel!r}.")
        labels = self.arrays.labels
        binary = np.where(labels >= rel, 1, np.where(labels < 0, labels, 0)).astype(np.int16)
        j = self.arrays
        return Qrels._of(
            list(j.documents.topics), self.arrays.documents.topic, j.documents.words, binary, self._extra, None
        )

    @door
    def sample(self, share: float, *, seed: int) -> Qrels:
        """Keep a random share of the judgments of each topic, rounded to whole documents, without replacement.

        Args:
            share: between 0 and 1.
            seed: the same seed gives the same sample in every process.
        """
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise InputError(f"share must be a number between 0 and 1, got {share!r}.")
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"seed must be a whole number, 0 or more, got {seed!r}.")
        random = np.random.default_rng(seed)
        kept = np.zeros(len(self), dtype=bool)
        for start, stop in zip(
            self.arrays.documents.starts[:-1].tolist(), self.arrays.documents.starts[1:].tolist(), strict=True
        ):
            kept[start + random.permutation(stop - start)[: round(share * (stop - start))]] = True
        return self.keep(kept)

    @door
    def select(self, topics: Iterable[str]) -> Qrels:
        """Return the judgments of these topics alone; this alone changes the topic set."""
        if not isinstance(topics, Iterable) or isinstance(topics, bytes):
            raise InputError(f"topics must be topic ids, got {topics!r}.")
        wanted = list(dict.fromkeys([topics] if isinstance(topics, str) else [str(topic) for topic in topics]))
        j = self.arrays
        known = set(j.documents.topics)
        unknown = [topic for topic in wanted if topic not in known]
        if unknown:
            raise InputError(f"{examples(unknown)} not among the topics {examples(self.topics)}.")
        place = {topic: i for i, topic in enumerate(wanted)}
        codes = np.array([place.get(topic, -1) for topic in j.documents.topics], dtype=np.int64)[
            self.arrays.documents.topic
        ]
        rows = np.flatnonzero(codes >= 0)
        extra = None if self._extra is None else self._extra.iloc[rows]
        docs = j.documents.words.take(rows, axis=0)
        return Qrels._of(wanted, codes[rows], docs, j.labels[rows], extra, None)

    @door
    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a TREC qrels file, ``qid 0 docno label``.

        Topics without judgments cannot stand in one: they are left out, with a warning, and so are further columns.
        """
        path = checked_path(path)
        if path.exists() and not overwrite:
            raise InputError(f"{path} exists. Pass overwrite=True to replace it.")
        frame = self.to_frame()
        if not len(frame):
            raise InputError("there are no judgments, and an empty file is no qrels file.")
        check_names(frame["docno"].unique().tolist(), "docno")
        check_names(self.topics, "topic")
        bare = [
            topic for topic, n in zip(self.topics, np.diff(self.arrays.documents.starts).tolist(), strict=True) if not n
        ]
        if bare:
            warn(
                f"{count(len(bare), 'topic')} without judgments cannot stand in a qrels file and will be "
                f"missing when it is read: {examples(bare)}.",
            )
        rows = zip(frame["qid"], frame["docno"], frame["label"], strict=True)
        text = "".join(f"{qid} 0 {docno} {label}\n" for qid, docno, label in rows)
        try:
            with replacing(path) as file:
                file.write(guarded(text.encode("utf-8", "surrogateescape")))
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
        return path

    def __repr__(self) -> str:
        values, counts = np.unique(self.arrays.labels, return_counts=True)
        labels = ", ".join(f"{v}: {c:,}" for v, c in zip(values.tolist(), counts.tolist(), strict=True))
        relevant = int((self.arrays.labels > 0).sum())
        head = f"{count(len(self.topics), 'topic')}, {count(len(self), 'judgment')}, {relevant:,} relevant"
        return f"Qrels: {head} (labels {labels or 'none'})"

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(repr(self))}</b></p>{self.counts().to_html(max_rows=12, index=False, escape=True)}"

    def keep(self, kept: NDArray[np.bool_]) -> Qrels:
        """Return the judgments that a mask (one flag per row) marks; the topic set stays."""
        rows = np.flatnonzero(kept)
        extra = None if self._extra is None else self._extra.iloc[rows]
        j = self.arrays
        return Qrels._of(
            list(j.documents.topics),
            self.arrays.documents.topic[rows],
            j.documents.words[rows],
            j.labels[rows],
            extra,
            None,
        )

    def _find_rows(self, other: Any) -> NDArray[np.int64]:
        if hasattr(other, "to_qrels"):  # a Pool
            other = other.to_qrels()
        elif isinstance(other, pd.DataFrame) and "label" not in other.columns:
            columns("the frame", other.columns, ("qid", "docno"))
            other = Qrels(other[["qid", "docno"]].drop_duplicates().assign(label=0))
        return as_qrels(other).arrays.documents.find(self.arrays.documents)


@door
def read_qrels(path: str | Path) -> Qrels:
    """Read a TREC qrels file: four columns, ``qid iteration docno label``, separated by any white space.

    Args:
        path: the file; packed files are recognised by their first bytes.

    Returns:
        Qrels: all judgments, negative labels included.

    Raises:
        InputError: naming the file, the line and what to do.
    """
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(f"expected the path of a qrels file, got {path!r}.")
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give the qrels file, {QRELS_LINE}.")
        if not path.exists():
            raise InputError(f"{path}: no such file.")
    except OSError as error:
        raise InputError(f"{path} cannot be looked up: {error.strerror or error}.") from error
    try:
        data = read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{path} {error}. Give qrels, {QRELS_LINE}.") from error
    rows = parse_qrels(data, str(path))
    with located(str(path)):
        return Qrels._of(rows.topics, rows.topic, rows.docs, rows.labels, None, None, rows.fields.line_of)


def as_qrels(value: Any) -> Qrels:
    """Return a Qrels of a Qrels, a frame or a file's path."""
    if isinstance(value, Qrels):
        return value
    if isinstance(value, pd.DataFrame):
        return Qrels(value)
    if isinstance(value, str | Path):
        return read_qrels(value)
    raise InputError(f"qrels must be a Qrels, a DataFrame or a file, got {type(value).__name__}.")
