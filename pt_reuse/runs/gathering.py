"""Code runs that lie in spools as blocks of a store, one block after the other."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._errors import InputError
from pt_reuse._memory import give_back
from pt_reuse.engine import tokens
from pt_reuse.engine.building import Repeats, build_field
from pt_reuse.engine.field import Field
from pt_reuse.engine.lists import neighbours
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.places import Places
from pt_reuse.engine.run_rows import RunRows
from pt_reuse.formats.array_file import DamagedError
from pt_reuse.formats.block import check_block, write_block
from pt_reuse.formats.spool import Spool
from pt_reuse.formats.store import Layer
from pt_reuse.formats.stored_blocks import block_name
from pt_reuse.runs.budget import Budget
from pt_reuse.runs.coding import repeat_faults
from pt_reuse.runs.file_runs import Conventions, LinesInFiles


@dataclass
class Gathering:
    """The runs of some spools, topic by topic.

    Attributes:
        spools: of the runs.
        names: of the runs.
        columns: which runs these are of the field.
        lines: where documents stand in their files.
        conventions: how they were read.
        budget: what may be held in memory.
        topics: of all runs, in natural order.
        lengths: (topics, runs) rows of each list.
        parts: the topics of each block.
    """

    spools: Sequence[Spool]
    names: list[str]
    columns: tuple[int, ...]
    lines: LinesInFiles
    conventions: Conventions
    budget: Budget

    def __post_init__(self) -> None:
        held = [spool.sizes() for spool in self.spools]
        every = list(dict.fromkeys(name for names, _ in held for name in names))
        self.topics = tuple(every[i] for i in natural_order(every))
        place = {topic: t for t, topic in enumerate(self.topics)}
        self.lengths = np.zeros((len(self.topics), len(self.spools)), dtype=np.int32)
        for r, (names, sizes) in enumerate(held):
            self.lengths[[place[name] for name in names], r] = sizes
        del held
        width, tables = max((spool.width for spool in self.spools), default=1), 3 * self.lengths.nbytes
        rows = self.lengths.sum(axis=1, dtype=np.int64)
        if len(rows):
            largest = int(np.argmax(rows))
            self.budget.check_topic(self.topics[largest], int(rows[largest]), width, tables)
        self.parts = neighbours(rows, self.budget.rows(width, tables))
        self._repeats: list[Repeats] = []

    def layer(self, place: str) -> Layer:
        """Return them as a layer of a store, whose blocks are in a folder of it."""
        ends, ranked = tuple(part.stop for part in self.parts), tuple(spool.ranked for spool in self.spools)
        return Layer(place, self.columns, self.topics, ends, self.lengths, ranked)

    def write(self, folder: Path, *, verbose: bool) -> None:
        """Write the blocks to a folder; those that are there already stay.

        Raises:
            OSError: a block cannot be written.
        """
        with pt.tqdm(total=len(self.parts), desc="coding runs", unit="block", disable=not verbose) as bar:
            for part in self.parts:
                path = folder / block_name(part.start, part.stop)
                if not self._is_there(path, part):
                    give_back()
                    field, repeats = self._coded(part)
                    if len(repeats):
                        self._keep(part, repeats)
                    if not len(repeats) or self.conventions.duplicates == "best":
                        write_block(path, field)
                        self.lengths[part.start : part.stop] = field.lengths
                bar.update(1)

    def faults(self) -> dict[int, InputError]:
        """Return for each run with a document twice in a list what is wrong, the first such document, by position."""
        for part in self.parts:
            repeats = self._coded(part)[1]
            if len(repeats):
                self._keep(part, repeats)
        return self.found_faults()

    def found_faults(self) -> dict[int, InputError]:
        """Return the same as far as blocks were coded."""
        faults: dict[int, InputError] = {}
        for repeats in self._repeats:
            new = _some(repeats, ~np.isin(repeats.run, list(faults)))
            faults |= repeat_faults(self.topics, new, self.names, self.lines.told)
        return {self.columns[i]: fault for i, fault in sorted(faults.items())}

    def repeats(self) -> Repeats:
        """Return the rows of documents that stand in their list again, as far as blocks were coded."""
        none = np.zeros(0, dtype=np.int64)
        run, topic, place = (
            np.concatenate([none, *(getattr(found, name) for found in self._repeats)])
            for name in ("run", "topic", "place")
        )
        return Repeats(run, topic, tokens.stacked([found.docs for found in self._repeats]), place)

    def _keep(self, part: range, repeats: Repeats) -> None:
        found = Repeats(repeats.run, repeats.topic + part.start, repeats.docs, repeats.place)
        if self.conventions.duplicates == "error":
            first = np.zeros(len(found), dtype=np.bool_)
            first[np.unique(found.run, return_index=True)[1]] = True
            found = _some(found, first)
        self._repeats.append(found)

    def _is_there(self, path: Path, part: range) -> bool:
        # a block with fewer rows than the spools have is coded again, to tell which were left out
        try:
            lengths = check_block(path, self.topics[part.start : part.stop], len(self.names))
        except DamagedError:
            return False
        return bool((lengths == self.lengths[part.start : part.stop]).all())

    def _coded(self, part: range) -> tuple[Field, Repeats]:
        topics, held = self.topics[part.start : part.stop], self.lengths[part.start : part.stop] > 0
        before = np.count_nonzero(self.lengths[: part.start], axis=0)

        def rows(r: int) -> RunRows:
            here = np.flatnonzero(held[:, r])
            if not len(here):
                return _no_rows(self.names[r], ranked=self.spools[r].ranked)
            first, names = int(before[r]), [topics[t] for t in here.tolist()]
            return self.spools[r].rows(first, first + len(here), self.names[r], names, self.conventions.order)

        with ThreadPoolExecutor(self.budget.threads) as pool:
            runs = list(pool.map(rows, range(len(self.names))))
        return build_field(runs, threads=self.budget.threads)


def _no_rows(name: str, *, ranked: bool) -> RunRows:
    docs, starts = np.zeros((0, 1), dtype="<u8"), np.zeros(1, dtype=np.int64)
    return RunRows(name, [], starts, docs, np.zeros(0), Places.none(), Places.none() if ranked else None)


def _some(repeats: Repeats, chosen: NDArray[np.bool_]) -> Repeats:
    return Repeats(repeats.run[chosen], repeats.topic[chosen], repeats.docs[chosen], repeats.place[chosen])
