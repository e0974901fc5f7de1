"""RunTable: all runs of a table, each as a run file would give it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse.engine import tokens
from pt_reuse.engine.places import NoPlaceError, Places
from pt_reuse.engine.run_rows import FileRows
from pt_reuse.formats.table_rows import (
    RUN_TABLE,
    SKIP_FILE,
    SKIP_ROWS,
    BadRow,
    NoRunError,
    RowGroup,
    TableReading,
    reason,
    rows_of_runs,
)
from pt_reuse.formats.trec import NO_ORDER, RunFile

_ENDING = re.compile(r"\.(parquet|pq|arrow|feather|ipc)$")


def run_of_file(path: Path) -> str:
    """Return what the run of a table without a column ``name`` is called: as its file, without the ending."""
    return _ENDING.sub("", path.name).removeprefix("input.") or path.name


class RunTable:
    """The runs of a Parquet or Arrow file, read row group by row group.

    Args:
        path: a file for which :func:`pt_reuse.formats.tables.is_table` holds.
        order: the ranking order.

    Raises:
        UnreadableError: the file cannot be read or is damaged.
        NoRunError: no row of a run, or a column that is needed is missing or has another type.
        InputError: a row without the name of its run; pyarrow is missing.
    """

    def __init__(self, path: Path, order: str):
        self._reading = TableReading(path, run_of_file(path), order)
        groups = list(self._reading.groups())
        self.order = order
        #: the runs, in order of appearance
        self.names = list(self._reading.names)
        self._topics = [*self._reading.topics]
        self._bad: list[BadRow] = [group.first_bad for group in groups if group.first_bad is not None]
        if not any(len(group.row) for group in groups):
            if self._bad:
                raise self._bad[0].told(SKIP_FILE, NoRunError)
            raise NoRunError(f"the table has no rows; expected {RUN_TABLE}.", *SKIP_FILE)
        self._all = _joined(groups)
        self._rows_of = rows_of_runs(self._all.run, len(self.names))

    def runs(self, *, skip: bool) -> list[RunFile]:
        """Return the runs as the writer of the table lists them, else in order of appearance.

        Args:
            skip: whether to leave out bad rows.

        Raises:
            InputError: a bad row, the first one; with `skip` where all rows of a run are bad.
        """
        if self._bad and not skip:
            raise self._bad[0].told(SKIP_ROWS)
        bad = rows_of_runs(self._all.bad_run, len(self.names))
        for name, rows, odd in zip(self.names, self._rows_of, bad, strict=True):
            if not len(rows):
                raise InputError(
                    f"all rows of run {shown(name)} are bad, the first for {reason(int(self._all.bad_why[odd[0]]))}. "
                    f"Mend them or drop the run.",
                    place=self._reading.place(int(self._all.bad_row[odd[0]])),
                )
        in_order = map(self.names.index, self._reading.ordered())
        return [self._run(run, bad[run]) for run in in_order]

    def find(self, name: str, topic: str, docno: str) -> str:
        """Return in words the rows on which a document of a run stands for a topic."""
        rows = self._rows_of[self.names.index(name)]
        rows = rows[self._all.topic[rows] == self._topics.index(topic)]
        docnos = tokens.decode(tokens.as_tokens(self._all.docs.take(rows, axis=0)))
        found = [row for row, other in zip(rows.tolist(), docnos, strict=True) if other == docno]
        return ", ".join(self._reading.place(int(self._all.row[row])) for row in found[:5])

    def rows_at(self, name: str, topics: Sequence[str], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the file, from 1, at which documents of a run stand.

        Args:
            name: of the run.
            topics: (n,) the topic of each document.
            places: (n,) its place among the rows of the topic as they stand in the file, from 1.
        """
        run = self.names.index(name)
        rows = self._file_rows(run)
        place = {topic: t for t, topic in enumerate(rows.topics)}
        grouped = rows.starts[np.array([place[topic] for topic in topics], dtype=np.int64)] + places - 1
        return rows.grouped(self._all.row[self._rows_of[run]])[grouped]

    def _run(self, run: int, bad: NDArray[np.int64]) -> RunFile:
        name, rows = self.names[run], self._file_rows(run)
        places = None
        if self._all.ranks is not None:
            places = Places.of_rank_column(rows.starts, rows.grouped(self._all.ranks[self._rows_of[run]]))
            if self.order == "rank":
                self._check(run, rows, places)
        reasons = [reason(why) for why in self._all.bad_why[bad].tolist()]
        nothing = np.zeros(0, dtype=np.int64)
        return RunFile({name: 1}, rows.in_order(name, self.order, places), nothing, self._all.bad_row[bad], reasons)

    def _file_rows(self, run: int) -> FileRows:
        rows = self._rows_of[run]
        topic, held = pd.factorize(self._all.topic[rows])
        topics = [self._topics[t] for t in held.tolist()]
        docs = self._all.docs
        return FileRows(
            topics,
            topic.astype(np.int64, copy=False),
            lambda some: docs.take(rows[some], axis=0),
            self._all.scores[rows],
        )

    def _check(self, run: int, rows: FileRows, places: Places) -> None:
        try:
            places.check(rows.starts)
        except NoPlaceError as error:
            row = int(rows.grouped(self._rows_of[run])[error.row])
            docno = tokens.decode(tokens.as_tokens(self._all.docs[row : row + 1]))[0]
            ranks = self._all.ranks
            rank = shown(ranks[row]) if ranks is not None else ""
            raise InputError(
                f"run {shown(self.names[run])}, topic {shown(self._topics[int(self._all.topic[row])])}, document "
                f"{shown(docno)} has rank {rank}, which another document of the topic has too, so ",
                *NO_ORDER,
                place=self._reading.place(int(self._all.row[row])),
            ) from None


def _joined(groups: Sequence[RowGroup]) -> RowGroup:
    width = max(group.docs.shape[1] for group in groups)
    ranks = [group.ranks for group in groups if group.ranks is not None]
    return RowGroup(
        run=np.concatenate([group.run for group in groups]),
        topic=np.concatenate([group.topic for group in groups]),
        docs=np.concatenate([tokens.widen(group.docs, width) for group in groups]),
        scores=np.concatenate([group.scores for group in groups]),
        ranks=np.concatenate(ranks) if ranks else None,
        row=np.concatenate([group.row for group in groups]),
        bad_run=np.concatenate([group.bad_run for group in groups]),
        bad_row=np.concatenate([group.bad_row for group in groups]),
        bad_why=np.concatenate([group.bad_why for group in groups]),
        first_bad=None,
    )
