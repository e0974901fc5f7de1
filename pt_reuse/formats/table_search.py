"""Where documents stand in a table of runs, which is read once more for it, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse.engine import tokens
from pt_reuse.formats.table_rows import RowGroup, TableReading
from pt_reuse.formats.trec import NO_ORDER

_NONE = -1  # the key of a list of which no row was seen yet


@dataclass(frozen=True)
class ListsOfGroup:
    """The rows of a row group, list by list.

    Attributes:
        order: (rows,) the rows by run and topic, those of a list as they stand.
        keys: (rows,) the list of each of these: its run in the upper half of the number, its topic below; ascending.
    """

    order: NDArray[np.int64]
    keys: NDArray[np.int64]

    @staticmethod
    def of(group: RowGroup) -> ListsOfGroup:
        """Return those of a row group."""
        keys = (group.run << 32) | group.topic
        order = np.argsort(keys, kind="stable")
        return ListsOfGroup(order, keys[order])

    def bounds(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the rows of some lists begin and end in `order`."""
        return np.searchsorted(self.keys, keys, "left"), np.searchsorted(self.keys, keys, "right")


def find_in_table(path: Path, order: str, wanted: Sequence[tuple[str, str, str]], most: int) -> list[str]:
    """Return in words the rows on which documents stand.

    Args:
        path: of the table.
        order: the ranking order.
        wanted: the run, topic and name of each document.
        most: rows that are told of one.

    Raises:
        UnreadableError: the file cannot be read.
    """
    reading, found = TableReading(path, order), [list[int]() for _ in wanted]
    lists = [(run, topic) for run, topic, _ in wanted]
    for group in reading.groups():
        held = ListsOfGroup.of(group)
        for i, (begin, end) in enumerate(zip(*held.bounds(_keys(reading, lists)), strict=True)):
            rows = held.order[begin:end]
            docnos = tokens.decode(tokens.as_tokens(group.docs.take(rows, axis=0)))
            same = [row for row, docno in zip(group.row[rows].tolist(), docnos, strict=True) if docno == wanted[i][2]]
            found[i] += same[: most - len(found[i])]
    return [", ".join(map(reading.place, rows)) for rows in found]


def rows_in_table(
    reading: TableReading, lists: Sequence[tuple[str, str]], places: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], RowGroup, NDArray[np.int64]]]:
    """Yield which of some documents stand in a row group, the row group, and their rows in it.

    Args:
        reading: of the table, not begun.
        lists: (n,) the run and topic of each document.
        places: (n,) its place among the rows of its list as they stand in the file, from 1.

    Raises:
        UnreadableError: the file cannot be read.
    """
    before = np.zeros(len(lists), dtype=np.int64)
    for group in reading.groups():
        held = ListsOfGroup.of(group)
        begins, ends = held.bounds(_keys(reading, lists))
        here = np.flatnonzero((before < places) & (places <= before + ends - begins))
        if len(here):
            yield here, group, held.order[(begins + places - before - 1)[here]]
        before += ends - begins


def tied_row(run: str, topic: str, docs: NDArray[np.uint64], rank: float, place: str) -> InputError:
    """Return what is wrong with a rank that two documents of a list have.

    Args:
        run: the run.
        topic: the topic.
        docs: (1, k) words of the name of one of the documents.
        rank: its rank.
        place: where its row is, in words.
    """
    docno = tokens.decode(tokens.as_tokens(docs))[0]
    return InputError(
        f"run {shown(run)}, topic {shown(topic)}, document {shown(docno)} has rank {shown(rank)}, which another "
        f"document of the topic has too, so ",
        *NO_ORDER,
        place=place,
    )


def _keys(reading: TableReading, lists: Sequence[tuple[str, str]]) -> NDArray[np.int64]:
    names, topics = reading.names, reading.topics
    keys = [(names[run] << 32) | topics[topic] if run in names and topic in topics else _NONE for run, topic in lists]
    return np.array(keys, dtype=np.int64)
