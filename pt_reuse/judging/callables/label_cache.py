"""The answers of functions, kept in a folder: each is on the disk before the next call is made."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from pt_reuse._errors import arguments_as
from pt_reuse.judging.journal import Heading, Mark, open_journal

FILE = "labels.jsonl"
_HEADING = Heading("cache of labels", 1, {})
#: seconds to wait for another process that writes to the same cache
_PATIENCE = 60.0


class LabelCache:
    """Answers in a folder, which several judges and processes may share.

    The first answer of a document stands: where two processes ask at the same time, both go on with one.

    Args:
        folder: where the answers are; made when the first one comes.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._records: dict[str, Mapping[str, Any]] = {}
        self._mark: Mark | None = None
        self._one_at_a_time = threading.Lock()

    def look(self, keys: Sequence[str]) -> list[Mapping[str, Any] | None]:
        """Return the record of each key, None where there is none, those of other processes among them."""
        self._update([])
        return [self._records.get(key) for key in keys]

    def keep(self, records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Keep records, each under its ``key``, and return what stands under these now, on the disk."""
        self._update(records)
        return [self._records[record["key"]] for record in records]

    def records(self) -> list[Mapping[str, Any]]:
        """Return all records."""
        self._update([])
        return list(self._records.values())

    def _update(self, records: Sequence[Mapping[str, Any]]) -> None:
        path = self.folder / FILE
        with (
            self._one_at_a_time,
            arguments_as(path="cache"),
            open_journal(path, _HEADING, since=self._mark, patience=_PATIENCE) as journal,
        ):
            for record in journal.records:
                self._records.setdefault(record["key"], record)
            new = [record for record in records if record["key"] not in self._records]
            if new:
                journal.append(*new)
            self._records.update({record["key"]: record for record in new})
            self._mark = journal.mark


def key_of(*parts: Any) -> str:
    """Return what stands for parts that JSON can hold: equal for equal ones, and for no others."""
    return blake2b(json.dumps(parts).encode("ascii"), digest_size=16).hexdigest()


def written(cell: Any) -> str:
    """Return what a function reads as a text that tells it from all else: of an array or tensor each number."""
    if hasattr(cell, "__array__"):
        numbers = np.asarray(cell)
        if numbers.ndim:
            # as a text an array is cut short, and has few digits
            return f"{numbers.dtype} {numbers.tolist()}"
    return str(cell)
