"""TableNotes: what a table of runs says of them in its metadata, as text that other programs keep."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pt_reuse._choices import ORDERS
from pt_reuse._errors import warn
from pt_reuse.formats.files import UnreadableError
from pt_reuse.formats.tables import opened

#: under which the notes stand in the metadata of a file
KEY = b"pt_reuse"
_VERSION = 1


@dataclass(frozen=True)
class TableNotes:
    """What is said of the runs of a table.

    Attributes:
        order: the ranking order in which they stood when they were written.
        pool_order: the order in which they were pooled, None where nobody said.
        pool_depth: to which depth they were pooled, None where nobody said.
        runs: of each run its ``name``, and what stands in the table of runs of it.
    """

    order: str
    pool_order: str | None
    pool_depth: int | None
    runs: Sequence[Mapping[str, Any]]

    def packed(self) -> bytes:
        """Return them as ASCII text."""
        said = {"version": _VERSION, **asdict(self)}
        return json.dumps({**said, "check": _digest(said)}).encode("ascii")

    @staticmethod
    def unpacked(data: bytes) -> TableNotes:
        """Return what :meth:`packed` was given.

        Raises:
            ValueError: a text that no such notes give.
        """
        try:
            said = json.loads(data)
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        if not isinstance(said, dict) or said.get("version") != _VERSION:
            raise ValueError(f"it is not of version {_VERSION}")
        if said.pop("check", None) != _digest(said):
            raise ValueError("it is damaged")
        order, pool_order, pool_depth, runs = (said.get(key) for key in ("order", "pool_order", "pool_depth", "runs"))
        if order not in ORDERS or pool_order not in (None, *ORDERS):
            raise ValueError("it names no ranking order")
        if pool_depth is not None and (type(pool_depth) is not int or not 0 < pool_depth < 2**31):
            raise ValueError("its pool depth is no whole number from 1 on")
        if not isinstance(runs, list) or not all(isinstance(run, dict) and _is_run(run) for run in runs):
            raise ValueError("it lists no runs")
        if len({run["name"] for run in runs}) < len(runs):
            raise ValueError("it lists a run twice")
        return TableNotes(order, pool_order, pool_depth, runs)


def _digest(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()


def _is_run(run: Mapping[str, Any]) -> bool:
    plain = all(value is None or isinstance(value, str | bool | int | float) for value in run.values())
    return plain and isinstance(run.get("name"), str) and isinstance(run.get("pooled"), bool | None)


def listed_runs(metadata: Mapping[bytes, bytes]) -> list[str]:
    """Return the runs of a table in the order in which its notes list them; none where there are no sound notes."""
    try:
        return [str(run["name"]) for run in TableNotes.unpacked(metadata[KEY]).runs]
    except (KeyError, ValueError):
        return []


def notes_of(path: Path) -> TableNotes | None:
    """Return what a table says of its runs, None where it says nothing; with a warning where that cannot be used."""
    try:
        with opened(path) as table:
            data = table.metadata.get(KEY)
    except UnreadableError:
        # whoever reads the runs says what is wrong with it
        return None
    try:
        return None if data is None else TableNotes.unpacked(data)
    except ValueError as error:
        warn(f"what it says of its runs is left aside: {error}.", place=str(path))
        return None
