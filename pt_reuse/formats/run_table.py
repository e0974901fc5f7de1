"""RunTable: all runs of a table, each as a run file would give it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.places import NoPlaceError, Places
from pt_reuse.engine.run_rows import FileRows
from pt_reuse.formats.table_rows import (
    RowGroup,
    TableReading,
    reason,
    rows_of_runs,
)
from pt_reuse.formats.table_search import tied_row
from pt_reuse.formats.trec import RunFile


class RunTable:
    """The runs of a Parquet or Arrow file, read row group by row group.

    Args:
        path: a file for which :func:`pt_reuse.formats.tables.is_table` holds.
        order: the ranking order.

    Raises:
        UnreadableError: the file cannot be read or is damaged.
        NoRunError: a column that is needed is missing or has another type.
        InputError: a row without the name of its run; pyarrow is missing.
    """

    def __init__(self, path: Path, order: str):
        self._reading = TableReading(path, order)
        groups = list(self._reading.groups())
        self.order = order
        #: the runs, in order of appearance
        self.names = list(self._reading.names)
        self._topics = [*self._reading.topics]
        self._groups = groups

    def runs(self, *, skip: bool) -> list[RunFile]:
        """Return the runs as the writer of the table lists them, else in order of appearance.

        Args:
            skip: whether to leave out bad rows.

        Raises:
            NoRunError: no row of a run.
            InputError: a bad row, the first one; with `skip` where all rows of a run are bad.
        """
        self._reading.check(skip=skip)
        self._all = _joined(self._groups)
        self._rows_of = rows_of_runs(self._all.run, len(self.names))
        bad = rows_of_runs(self._all.bad_run, len(self.names))
        in_order = map(self.names.index, self._reading.ordered())
        return [self._run(run, bad[run]) for run in in_order]

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
            topic, ranks = self._topics[int(self._all.topic[row])], self._all.ranks
            raise tied_row(
                self.names[run],
                topic,
                self._all.docs[row : row + 1],
                np.nan if ranks is None else ranks[row],
                self._reading.place(int(self._all.row[row])),
            ) from None


def _joined(groups: Sequence[RowGroup]) -> RowGroup:
    ranks = [group.ranks for group in groups if group.ranks is not None]
    return RowGroup(
        run=np.concatenate([group.run for group in groups]),
        topic=np.concatenate([group.topic for group in groups]),
        docs=tokens.stacked([group.docs for group in groups]),
        scores=np.concatenate([group.scores for group in groups]),
        ranks=np.concatenate(ranks) if ranks else None,
        row=np.concatenate([group.row for group in groups]),
        bad_run=np.concatenate([group.bad_run for group in groups]),
        bad_row=np.concatenate([group.bad_row for group in groups]),
        bad_why=np.concatenate([group.bad_why for group in groups]),
        first_bad=None,
    )
