"""Judgments as arrays, and the files that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import checked_path, replacing, user_path
from pt_reuse.arrays import tokens
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.lists import TopicDocs, sort_by_topic
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.coding import check_names, check_topics
from pt_reuse.data.frame_columns import (
    LABELS,
    as_ids,
    how_to_grade,
    label_values,
    not_labels,
    number_column,
    parse_numbers,
    text_column,
    text_groups,
    text_words,
    warn_of_white_space,
)
from pt_reuse.data.lines import QRELS_LINE, SAMPLE_LINE, document_in, names_in, place_of, qrels_fields, topics_in
from pt_reuse.data.packed_files import (
    WHITE,
    UnreadableError,
    guarded,
    headed_judgments,
    in_memory,
    read_bytes,
    read_judgment_rows,
)
from pt_reuse.errors import InputError, count, examples, flag, located, shown, warn


@dataclass(frozen=True)
class QrelsArrays:
    """The arrays of a Qrels."""

    documents: TopicDocs  # the judged documents by topic
    labels: NDArray[np.int16]  # (rows,) their labels
    extra: pd.DataFrame | None = None  # (rows) further columns, None where there are none: who judged, which round
    scale: int = 0  # the highest label of the judgments from which these topics were selected

    @property
    def highest(self) -> int:
        """Return the highest label of the scale, which topics that were selected need not have themselves."""
        return max(int(self.labels.max(initial=0)), self.scale)

    def take(self, rows: NDArray[np.int64]) -> QrelsArrays:
        """Return some rows, which ascend; all topics stay."""
        return QrelsArrays(self.documents.take(rows), self.labels[rows], _taken(self.extra, rows), self.scale)

    def of_topics(self, topics: Iterable[int]) -> QrelsArrays:
        """Return the rows of some topics, in that order; the scale of labels stays."""
        documents, rows = self.documents.select(topics)
        return QrelsArrays(documents, self.labels[rows], _taken(self.extra, rows), self.highest)

    def labels_of(self, documents: TopicDocs) -> NDArray[np.int16]:
        """Return (documents,) the label of each, `UNJUDGED` where it has none."""
        found: NDArray[np.int16] = np.append(self.labels, UNJUDGED)[self.documents.find(documents)]
        return found

    def labelled(self, labels: NDArray[np.int16]) -> QrelsArrays:
        """Return the same documents with other labels of the same scale."""
        return replace(self, labels=labels)


@dataclass(frozen=True)
class JudgedRows:
    """Judgments in the order in which they were given, a row each."""

    names: Sequence[str]  # topic names, each once
    topic: NDArray[np.int64]  # (rows,) the topic of each row, as a position among the names
    words: Words  # (rows, k) words of the document names
    labels: NDArray[np.int16]  # (rows,) their labels
    extra: pd.DataFrame | None = None  # (rows) further columns, None where there are none
    line_of: Callable[[int], int] | None = None  # the line of a file that a row comes from

    def to_arrays(self, topics: Iterable[str] = ()) -> QrelsArrays:
        """Return each judgment once, by topic; `topics` are further ones, without judgments."""
        kept = self._first_occurrences()
        documents, order = sort_by_topic(self.names, self.topic[kept], self.words.take(kept, axis=0), topics)
        kept = kept if order is None else kept[order]
        extra = None if self.extra is None or self.extra.shape[1] == 0 else _taken(self.extra, kept)
        return QrelsArrays(documents, self.labels[kept], extra)

    def _first_occurrences(self) -> NDArray[np.int64]:
        """Return the first row of each (topic, document) pair."""
        codes, first = tokens.factorize(self.words)
        pairs, first_rows = tokens.factorize((self.topic * len(first) + codes).astype(np.uint64)[:, None])
        if len(first_rows) == len(self.topic):
            return np.arange(len(self.topic))
        first_row = first_rows[pairs]
        clash = np.flatnonzero(self.labels != self.labels[first_row])
        again = clash if len(clash) else np.flatnonzero(first_row != np.arange(len(self.topic)))
        row, kept = int(again[0]), int(first_row[again[0]])
        docno = tokens.decode(tokens.as_tokens(self.words[row : row + 1]))[0]
        document = f"topic {shown(self.names[self.topic[row]])}, document {shown(docno)}"
        place = f"rows {kept:,} and {row:,}"
        if self.line_of is not None:
            place = f"lines {self.line_of(kept):,} and {self.line_of(row):,}"
        if len(clash):
            two = f"{document} has label {int(self.labels[kept])} and {int(self.labels[row])}"
            problem = (
                f"{two} ({count(len(clash), 'conflicting label')} in all). Keep one, or Qrels.union(conflict=...)."
            )
            raise InputError(problem, place=place)
        many = f"{count(len(again), 'judgment')} given more than once with the same label"
        warn(f"{many} ({document}, {place}); each counts once.")
        return first_rows


def topic_set(topics: Any) -> list[str]:
    """Return topic ids as a list of texts."""
    if topics is None:
        return []
    if isinstance(topics, str | bytes | pd.DataFrame) or not isinstance(topics, Iterable):
        raise InputError(f"topics must be several topic ids, got {topics!r}.", argument="topics")
    with located("topics"):
        names = as_ids("qid", topics)
    text_words("qid", names)
    odd = [name for name in names if not name or "\0" in name]
    if odd:
        raise InputError(f"{examples(odd)} cannot be a qid; it must be text without NUL bytes.", argument="topics")
    return names


def _taken(extra: pd.DataFrame | None, rows: NDArray[np.int64]) -> pd.DataFrame | None:
    return None if extra is None else extra.iloc[rows].reset_index(drop=True)


def _bare_topics(arrays: QrelsArrays) -> list[str]:
    """Return the topics that have no judgment."""
    documents = arrays.documents
    return [documents.topics[t] for t in np.flatnonzero(documents.sizes == 0).tolist()]


def tell_bare_topics(arrays: QrelsArrays) -> None:
    """Warn of topics that are lost where judgments go to PyTerrier or ir_measures."""
    if bare := _bare_topics(arrays):
        warn(
            f"{count(len(bare), 'topic')} without judgments, {examples(bare)}: PyTerrier and ir_measures do not see "
            "them, and their means are over the others. Here such a topic counts 0."
        )


CONFLICTS = ("error", "first", "second", "higher", "lower")


def united(ours: QrelsArrays, theirs: QrelsArrays, conflict: str) -> QrelsArrays:
    """Return the judgments of both."""
    found = ours.documents.find(theirs.documents)
    both = np.flatnonzero(found >= 0)
    old, new = ours.labels[found[both]], theirs.labels[both]
    clash = (old != new) & (old != -1) & (new != -1)
    if conflict == "error" and clash.any():
        row = int(both[np.flatnonzero(clash)[0]])
        document = f"topic {shown(theirs.documents.qid(row))}, document {shown(theirs.documents.docno(row))}"
        two = f"{int(ours.labels[found[row]])} and {int(theirs.labels[row])}"
        many = f"({count(int(clash.sum()), 'such document')}). Choose "
        others = "conflict='first', 'second', 'higher' or 'lower'."
        raise InputError(f"{document} has label {two} {many}{others}", argument="conflict")
    chosen = {"second": new, "higher": np.maximum(old, new), "lower": np.minimum(old, new)}.get(conflict, old)
    merged = np.where(clash, chosen, np.where(old == -1, new, old))
    # a judgment that takes over another's label takes over its further columns, too: who judged, which round
    wins = both[merged != old]
    stays = np.ones(len(ours.labels), dtype=bool)
    stays[found[wins]] = False
    parts = [ours.take(np.flatnonzero(stays)), theirs.take(np.union1d(np.flatnonzero(found < 0), wins))]
    # no document is in both; within a topic those of the first come first
    place: dict[str, int] = {}
    for part in parts:
        for name in part.documents.topics:
            place.setdefault(name, len(place))
    topic = [
        np.array([place[name] for name in part.documents.topics], np.int64)[part.documents.topic] for part in parts
    ]
    words = tokens.stacked([part.documents.words for part in parts])
    extra = None
    if any(part.extra is not None for part in parts):
        bare = [pd.DataFrame(index=range(len(part.labels))) if part.extra is None else part.extra for part in parts]
        extra = pd.concat(bare, ignore_index=True)
    rows = JudgedRows(list(place), np.concatenate(topic), words, np.concatenate([part.labels for part in parts]), extra)
    return replace(rows.to_arrays(), scale=max(ours.scale, theirs.scale))


def count_labels(arrays: QrelsArrays, lowest: int, by: str | None) -> pd.DataFrame:
    """Return per topic ``qid judged relevant unjudged junk density``, see :meth:`Qrels.counts`."""
    labels, documents = arrays.labels, arrays.documents
    # the group of each judgment, and the value of each group, ascending, none last
    group, values = np.zeros(len(labels), dtype=np.int64), pd.Series([None])
    if by is not None:
        known = [] if arrays.extra is None else list(arrays.extra.columns)
        if arrays.extra is None or by not in known:
            there = examples(known, 12) if known else "none"
            raise InputError(f"the judgments have no further column {shown(by)}; there is {there}.", argument="by")
        column = arrays.extra[by]
        codes, distinct = pd.factorize(column, sort=True)
        values = pd.Series(distinct, dtype=column.dtype if len(distinct) else object)
        if (codes < 0).any():
            values = pd.concat([values, pd.Series([column[codes < 0].iloc[0]], dtype=column.dtype)], ignore_index=True)
        group = np.where(codes < 0, len(distinct), codes).astype(np.int64)
    n_groups, n_topics = len(values), len(documents.topics)
    cell = documents.topic * n_groups + group

    def tally(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(cell[rows], minlength=n_topics * n_groups)

    judged, relevant = tally(labels >= 0), tally(labels >= lowest)
    table = pd.DataFrame(
        {
            "qid": [topic for topic in documents.topics for _ in range(n_groups)],
            "judged": judged,
            "relevant": relevant,
            "unjudged": tally(labels == -1),
            "junk": tally(labels < -1),
            "density": relevant / np.maximum(judged, 1),
        }
    )
    if by is not None:
        table.insert(1, by, values.take(np.tile(np.arange(n_groups), n_topics)).array)
    return table


def read_arrays(path: Any, *, strata: bool = False, argument: str = "path") -> QrelsArrays:
    """Read a TREC qrels file, packed or not."""
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(f"expected the path of a qrels file, got {path!r}.", argument=argument)
    path = user_path(path)
    try:
        if not path.exists() or path.is_dir():
            what = "is a folder" if path.is_dir() else "is no file"
            hint = " Runs are given first, then the qrels." if path.is_dir() else ""
            raise InputError(f"{path} {what}. Give the qrels file, {QRELS_LINE}.{hint}", argument=argument)
        data = read_bytes(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnreadableError as error:
        raise InputError(f"{path} {error}. Give qrels, {QRELS_LINE}.") from error
    with located(str(path)), in_memory():
        headed = headed_judgments(data) is not None
        rows = (_headed if headed else parse_qrels)(data, strata=strata)
        if strata and rows.extra is not None:
            # a file has no probabilities: they follow from how much of each stratum is judged
            judged = pd.Series(rows.labels >= 0, dtype=float).groupby([rows.topic, rows.extra["stratum"]])
            rows = replace(rows, extra=rows.extra.assign(inclusion=judged.transform("mean")))
        arrays = rows.to_arrays()
        if headed:
            warn_of_white_space(arrays.documents.topics, arrays.documents.words)
    return arrays


def _headed(data: bytes, *, strata: bool) -> JudgedRows:
    """Read judgments whose first line names the columns, as BEIR has them."""
    table = read_judgment_rows(data)
    if strata:
        table.need(["stratum"])
    if not len(table.frame):
        raise InputError("there is no judgment below the line that names the columns.")
    table.check_filled("qid", "docno", "label")
    frame = table.frame.where(table.frame != "", None).assign(label=table.frame["label"].str.strip(WHITE))
    if "inclusion" in frame:
        table.check_filled("inclusion")
        frame = frame.assign(inclusion=table.numbers("inclusion"))
    odd = np.flatnonzero(not_labels(number_column(frame["label"])))
    with located(table.place(int(odd[0]))) if len(odd) else nullcontext():
        rows = judged_rows(frame)
    return replace(rows, line_of=lambda row: int(table.lines[row]))


def judged_rows(frame: pd.DataFrame) -> JudgedRows:
    """Return the judgments of a frame; further columns come along."""
    values = label_values(frame, frame["label"])
    topic, names = text_groups("qid", frame["qid"])
    words = text_column("docno", frame["docno"], frame["qid"])
    return JudgedRows(names, topic, words, values.astype(np.int16), frame.drop(columns=["qid", "docno", "label"]))


def parse_qrels(data: bytes, *, strata: bool = False) -> JudgedRows:
    """Read the text of a qrels file in its own line order, of judgments of a sample where it has `strata`."""
    fields = qrels_fields(data, *((5, SAMPLE_LINE) if strata else (4, QRELS_LINE)))
    topics, topic = topics_in(fields)
    docs = names_in(fields, 2, "docno")
    values, _ = parse_numbers(fields.buffer, *fields.column(c := 3 + strata))
    odd = np.flatnonzero(not_labels(values))
    if len(odd):
        row = int(odd[0])
        raise InputError(
            f"the label of {document_in(fields, row)} must be a whole number from {LABELS[0]} to {LABELS[1]}, got "
            f"{shown(fields.text(row, c))}. {how_to_grade(float(values[row]))}",
            place=place_of(fields, row),
        )
    found = tokens.decode(tokens.as_tokens(names_in(fields, 3, "stratum"))) if strata else None
    extra = None if found is None else pd.DataFrame({"stratum": found})
    return JudgedRows(topics, topic, docs, values.astype(np.int16), extra, fields.line_of)


def write_arrays(arrays: QrelsArrays, path: str | Path, *, overwrite: bool, strata: bool = False) -> Path:
    """Write a TREC qrels file, ``qid 0 docno label``; warn of topics that it cannot hold."""
    flag("overwrite", overwrite)
    flag("strata", strata)
    path = checked_path(path)
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists. Pass overwrite=True to replace it.", argument="path")
    written = qrels_file(arrays, strata=strata)
    try:
        with replacing(path) as file:
            file.write(written)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def qrels_file(arrays: QrelsArrays, *, strata: bool = False) -> bytes:
    """Return what a TREC qrels file of judgments has in it; warn of topics that it cannot hold."""
    documents, middle = arrays.documents, [""] * len(arrays.labels)
    if strata:
        if arrays.extra is None or "stratum" not in arrays.extra or arrays.extra["stratum"].isna().any():
            raise InputError("not every judgment has a stratum. Write them without strata=True.", argument="strata")
        names = arrays.extra["stratum"].astype(str).tolist()
        check_names(dict.fromkeys(names), "stratum")
        middle = [f"{name} " for name in names]
    if not len(documents):
        raise InputError("there are no judgments, and an empty file is no qrels file.")
    qids, docnos = documents.qids().tolist(), documents.docnos().tolist()
    check_names(list(dict.fromkeys(docnos)), "docno")
    check_topics(list(documents.topics))
    if bare := _bare_topics(arrays):
        lost = "cannot stand in a qrels file and will be missing when it is read"
        warn(f"{count(len(bare), 'topic')} without judgments {lost}: {examples(bare)}.")
    rows = zip(qids, docnos, middle, arrays.labels.tolist(), strict=True)
    text = "".join(f"{qid} 0 {docno} {more}{label}\n" for qid, docno, more, label in rows)
    return guarded(text.encode("utf-8", "surrogateescape"))
