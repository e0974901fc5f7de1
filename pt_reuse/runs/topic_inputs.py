"""What goes into a pipeline for each topic, and a checksum of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse._errors import InputError, located
from pt_reuse.formats.frames import text_groups


@dataclass(frozen=True)
class TopicInputs:
    """The rows that a pipeline gets, topic by topic.

    Attributes:
        frame: the rows.
        topics: the topics, as text, in the order of their first rows.
        of_row: the number of each row's topic.
        checks: topic -> checksum of all that its rows hold besides the topic.
    """

    frame: pd.DataFrame
    topics: tuple[str, ...]
    of_row: NDArray[np.int64]
    checks: Mapping[str, str]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> TopicInputs:
        """Return the topics of a frame.

        Raises:
            InputError: a topic that is missing, or a cell that cannot be compared with that of a further call.
        """
        with located("topics"):
            of_row, topics = text_groups("qid", frame["qid"])
            digests = [hashlib.sha256() for _ in topics]
            labels = sorted((str(label), i) for i, label in enumerate(frame.columns) if label != "qid")
            for label, i in labels:
                for digest in digests:
                    digest.update(_sized(b"column", label.encode("utf-8", "surrogatepass")))
                for topic, cell in zip(of_row.tolist(), frame.iloc[:, i].tolist(), strict=True):
                    digests[topic].update(_bytes(cell, label))
        checks = {topic: digest.hexdigest()[:32] for topic, digest in zip(topics, digests, strict=True)}
        return cls(frame, tuple(topics), of_row, checks)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns besides the topic, in the order of the alphabet."""
        return sorted(str(label) for label in self.frame.columns if label != "qid")

    def rows(self, topics: Sequence[str]) -> pd.DataFrame:
        """Return the rows of some topics, in the order of the topics."""
        numbers = {topic: i for i, topic in enumerate(self.topics)}
        place = np.full(len(self.topics), -1)
        place[[numbers[topic] for topic in topics]] = np.arange(len(topics))
        places = place[self.of_row]
        rows = np.flatnonzero(places >= 0)
        return self.frame.iloc[rows[np.argsort(places[rows], kind="stable")]].reset_index(drop=True)


def _sized(kind: bytes, data: bytes) -> bytes:
    # so that no two cells are one when they stand one behind the other
    return kind + len(data).to_bytes(8, "little") + data


def _bytes(cell: Any, label: str) -> bytes:
    """Return what a cell holds; cells that are equal in another type of column give the same."""
    if isinstance(cell, str):
        return _sized(b"text", cell.encode("utf-8", "surrogatepass"))
    if isinstance(cell, np.ndarray):
        if cell.dtype.kind in "iufb":
            return _sized(b"array", f"{cell.dtype.str}{cell.shape}".encode() + np.ascontiguousarray(cell).tobytes())
        cell = cell.tolist()
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, list | tuple):
        return _sized(b"list", b"".join(_bytes(inner, label) for inner in cell))
    if isinstance(cell, dict):
        return _sized(b"dict", b"".join(_bytes(inner, label) for pair in cell.items() for inner in pair))
    if isinstance(cell, bytes):
        return _sized(b"bytes", cell)
    if isinstance(cell, bool | int | float) and cell == cell:
        return _sized(b"number", repr(cell).encode())
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return _sized(b"missing", b"")
    raise InputError(
        f"the column {shown(label)} holds {type(cell).__name__} values, which cannot be compared with those of a "
        "further call. Leave the column out, or do without a cache.",
        argument="topics",
    )
