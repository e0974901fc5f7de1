"""What was left out of a field when it was read: lines, rows of frames, and whole files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def _frame(n: int, **columns: Any) -> pd.DataFrame:
    """Return n rows of what was left out; a line of 0 is none, and so is a column that is not given."""
    given = {column: columns.get(column, np.full(n, None)) for column in COLUMNS}
    frame = pd.DataFrame({column: pd.Series(given[column], index=range(n), dtype=object) for column in COLUMNS})
    lines = frame["line"].fillna(0).astype("Int64")
    return frame.assign(line=lines.where(lines > 0))


def _taken(texts: Sequence[str], codes: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return the texts of some codes, each text once in memory."""
    return np.array(texts, dtype=object)[codes]


@dataclass(frozen=True)
class Dropped:
    """Lines, rows of frames and whole files that were left out."""

    frame: pd.DataFrame

    @staticmethod
    def none() -> Dropped:
        """Return that nothing was left out."""
        return Dropped(_frame(0))

    def kept(self, files: Sequence[str]) -> dict[str, list[Any]]:
        """Return it as JSON has it, column by column; a file is its place among all."""
        cells = self.frame.astype(object).where(self.frame.notna(), None)
        return {**cells.to_dict("list"), "file": [files.index(file) for file in cells["file"]]}

    @staticmethod
    def of_kept(kept: Mapping[str, list[Any]], files: Sequence[str]) -> Dropped:
        """Return what :meth:`kept` gave."""
        return Dropped(_frame(len(kept["file"]), **{**kept, "file": [files[i] for i in kept["file"]]}))

    @staticmethod
    def of_lines(file: str, lines: Sequence[int], reasons: Sequence[str], name: str) -> Dropped:
        """Return lines of the file of one run, each left out for a reason."""
        return Dropped(_frame(len(lines), file=file, line=lines, reason=list(reasons), name=name))

    @staticmethod
    def of_file(file: str, reason: str) -> Dropped:
        """Return a file that was left out whole."""
        return Dropped(_frame(1, file=file, reason=reason))

    @staticmethod
    def of_repeats(
        repeats: Repeats,
        names: Sequence[str],
        topics: Sequence[str],
        *,
        files: Sequence[str] | None = None,
        lines: NDArray[np.int64] | None = None,
    ) -> Dropped:
        """Return rows of documents that stand in their list again; a line of 0 is that of a frame."""
        columns: dict[str, Any] = {
            "reason": REPEATED,
            "name": _taken(names, repeats.run),
            "qid": _taken(topics, repeats.topic),
            "docno": tokens.decode(tokens.as_tokens(repeats.docs)),
        }
        if files is not None:
            columns |= {"file": _taken(files, repeats.run), "line": lines}
        return Dropped(_frame(len(repeats), **columns))

    @staticmethod
    def stacked(parts: Iterable[Dropped]) -> Dropped:
        """Return all of several, one after the other."""
        frames = [part.frame for part in parts if len(part)]
        return Dropped(pd.concat(frames, ignore_index=True)) if frames else Dropped.none()

    def __len__(self) -> int:
        return len(self.frame)

    def by_file(self, files: Sequence[str]) -> Dropped:
        """Return it in the order of the files and of their lines."""
        at = self.frame["file"].map({file: i for i, file in enumerate(files)})
        return Dropped(self.frame.iloc[np.lexsort((self.frame["line"].fillna(0), at))].reset_index(drop=True))

    def of_runs(self, names: Sequence[str]) -> Dropped:
        """Return what was left out of some runs; whole files are of no run and stay."""
        return self._chosen(self.frame["name"].isna() | self.frame["name"].isin(names))

    def __or__(self, other: Dropped) -> Dropped:
        """Return what was left out of two fields; a whole file that was left out of both counts once."""
        again = (other._kinds() == "file") & other.frame["file"].isin(self.frame["file"][self._kinds() == "file"])
        return Dropped.stacked([self, other._chosen(~again)])

    def _chosen(self, rows: pd.Series) -> Dropped:
        return Dropped(self.frame[rows].reset_index(drop=True))

    def _kinds(self) -> pd.Series:
        """Return of each whether it is a ``line``, a ``row`` of a frame or a whole ``file``, which is of no run."""
        kinds = np.where(self.frame["name"].isna(), "file", np.where(self.frame["line"].isna(), "row", "line"))
        return pd.Series(kinds, index=self.frame.index, dtype=object)

    def in_words(self) -> str:
        """Return how much it is: ``3 lines and 1 file``; nothing where nothing was left out."""
        times = Counter(self._kinds())
        return listed([count(times[kind], kind) for kind in ("line", "row", "file") if times[kind]])

    def tell(self) -> None:
        """Warn of all of it at once, if there is anything."""
        if not len(self):
            return
        kinds = self._kinds()
        reasons = self.frame["reason"].where(kinds != "file", "without any run line")
        why = [
            count(n, kind) + (f" {reason}" if kind == "file" else f" with {reason}")
            for (kind, reason), n in Counter(zip(kinds, reasons, strict=True)).most_common()
        ]
        more = f"; and {count(len(why) - _SHOWN, 'more reason')}" if len(why) > _SHOWN else ""
        first = self.frame.iloc[0]
        if kinds[0] == "row":
            where = f"run {shown(first['name'])}, topic {shown(first['qid'])}"
        else:
            where = first["file"] + (f", line {first['line']:,}" if kinds[0] == "line" else "")
        warn(f"{self.in_words()} left out: {'; '.join(why[:_SHOWN])}{more}. First {where}. All of it: runs.dropped.")
