"""What was left out of a field when it was read: a frame of lines, rows of frames, and whole files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Repeats
from pt_reuse.errors import count, listed, shown, warn

COLUMNS = ("file", "line", "reason", "name", "qid", "docno")
#: why a document of `duplicates="best"` was left out
REPEATED = "a document that stands at a better rank of the list"
_SHOWN = 4  # reasons in a warning


def left_out(n: int = 0, **columns: Any) -> pd.DataFrame:
    """Return n rows of what was left out; a line of 0 is none, and so is a column that is not given.

    A file that was left out whole is of no run, and has no ``name``; a row of a frame or table has no line.
    """
    given = {column: columns.get(column, np.full(n, None)) for column in COLUMNS}
    frame = pd.DataFrame({column: pd.Series(given[column], index=range(n), dtype=object) for column in COLUMNS})
    lines = frame["line"].fillna(0).astype("Int64")
    return frame.assign(line=lines.where(lines > 0))


def repeated(
    repeats: Repeats,
    names: Sequence[str],
    topics: Sequence[str],
    file: Any = None,
    line: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Return rows of documents that stand in their list again, with file and line of each where they are of files."""
    where = {} if line is None else {"file": np.array(file, dtype=object)[repeats.run], "line": line}
    return left_out(
        len(repeats),
        reason=REPEATED,
        name=np.array(names, dtype=object)[repeats.run],
        qid=np.array(topics, dtype=object)[repeats.topic],
        docno=tokens.decode(tokens.as_tokens(repeats.docs)),
        **where,
    )


def stacked(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return all of several, one after the other."""
    frames = [part for part in parts if len(part)]
    return pd.concat(frames, ignore_index=True) if frames else left_out()


def of_both(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Return what was left out of two fields; a whole file that was left out of both counts once."""
    again = theirs["name"].isna() & theirs["file"].isin(ours["file"][ours["name"].isna()])
    return stacked([ours, theirs[~again]])


def _kinds(frame: pd.DataFrame) -> list[str]:
    return np.where(frame["name"].isna(), "file", np.where(frame["line"].isna(), "row", "line")).tolist()


def in_words(frame: pd.DataFrame) -> str:
    """Return how much it is: ``3 lines and 1 file``; nothing where nothing was left out."""
    times = Counter(_kinds(frame))
    return listed([count(times[kind], kind) for kind in ("line", "row", "file") if times[kind]])


def tell(frame: pd.DataFrame) -> None:
    """Warn of all of it at once, if there is anything."""
    if not len(frame):
        return
    kinds = _kinds(frame)
    reasons = ["no run line" if kind == "file" else reason for kind, reason in zip(kinds, frame["reason"], strict=True)]
    times = Counter(zip(kinds, reasons, strict=True)).most_common()
    why = [f"{count(n, kind)} with {reason}" for (kind, reason), n in times[:_SHOWN]]
    more = f"; and {count(len(times) - _SHOWN, 'more reason')}" if len(times) > _SHOWN else ""
    first = frame.iloc[0]
    where = f"run {shown(first['name'])}, topic {shown(first['qid'])}" if kinds[0] == "row" else first["file"]
    where += f", line {first['line']:,}" if kinds[0] == "line" else ""
    warn(f"{in_words(frame)} left out: {'; '.join(why)}{more}. First {where}. All of it: runs.dropped.")
