"""What was left out of a field when it was read: lines, rows of frames, and whole files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import starmap
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Repeats
from pt_reuse.errors import warn

#: columns of texts, in the order in which they are kept
_TEXTS = ("file", "reason", "name", "qid", "docno")
COLUMNS = ("file", "line", "reason", "name", "qid", "docno")


def blank_rows(n: int) -> pd.DataFrame:
    """Return a frame of rows in which nothing stands: ``file line reason name qid docno``."""
    texts = pd.Series(np.full(n, None, dtype=object), dtype=object)
    lines = pd.Series(np.zeros(n, dtype=np.int64)).astype("Int64").where(np.zeros(n, dtype=np.bool_))
    return pd.DataFrame({column: lines if column == "line" else texts for column in COLUMNS})


def packed(rows: pd.DataFrame) -> tuple[NDArray[np.int64], dict[str, list[str]]]:
    """Return the frame as numbers, column after column, and the texts of each column that they number."""
    columns, texts = [rows["line"].fillna(0).to_numpy(dtype=np.int64)], {}
    for column in _TEXTS:
        codes, found = pd.factorize(rows[column])
        columns.append(codes.astype(np.int64))
        texts[column] = [str(text) for text in found]
    return np.concatenate(columns), texts


def unpacked(numbers: NDArray[np.int64], texts: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return the frame that :func:`packed` was given."""
    line, *coded = numbers.reshape(1 + len(_TEXTS), -1)
    rows = blank_rows(len(line))
    rows["line"] = pd.Series(line).astype("Int64").where(line > 0)
    for column, codes in zip(_TEXTS, coded, strict=True):
        rows[column] = pd.Series(np.array([*texts[column], None], dtype=object)[codes], dtype=object)  # -1 is None
    return rows


#: why a document of `duplicates="best"` was left out
REPEATED = "a document that stands at a better rank of the list"
_SHOWN = 4  # reasons in a warning


@dataclass(frozen=True)
class Dropped:
    """Lines, rows of frames and whole files that were left out."""

    frame: pd.DataFrame

    @staticmethod
    @cache
    def none() -> Dropped:
        """Return that nothing was left out."""
        return Dropped(blank_rows(0))

    @staticmethod
    def of_lines(file: str, lines: Sequence[int], reasons: Sequence[str], name: str) -> Dropped:
        """Return lines of the file of one run, each left out for a reason."""
        return _rows(len(lines), file=file, line=lines, reason=np.array(reasons, dtype=object), name=name)

    @staticmethod
    def of_file(file: str, reason: str) -> Dropped:
        """Return a file that was left out whole."""
        return _rows(1, file=file, reason=reason)

    @staticmethod
    def of_repeats(
        repeats: Repeats,
        names: Sequence[str],
        topics: Sequence[str],
        *,
        files: Sequence[str] | None = None,
        lines: NDArray[np.int64] | None = None,
    ) -> Dropped:
        """Return rows of documents that stand in their list again."""
        return _rows(
            len(repeats),
            file=None if files is None else _taken(files, repeats.run),
            line=lines,
            reason=REPEATED,
            name=_taken(names, repeats.run),
            qid=_taken(topics, repeats.topic),
            docno=_taken(tokens.decode(tokens.as_tokens(repeats.docs)), np.arange(len(repeats))),
        )

    @staticmethod
    def stacked(parts: Iterable[Dropped]) -> Dropped:
        """Return all of several, one after the other."""
        frames = [part.frame for part in parts if len(part)]
        if len(frames) < 2:
            return Dropped(frames[0]) if frames else Dropped.none()
        return Dropped(pd.concat(frames, ignore_index=True))

    def __len__(self) -> int:
        return len(self.frame)

    def by_file(self, files: Sequence[str]) -> Dropped:
        """Return it in the order of the files and of their lines."""
        if not len(self):
            return self
        at = self.frame["file"].map({file: i for i, file in enumerate(files)}).to_numpy(dtype=np.int64)
        lines = self.frame["line"].fillna(0).to_numpy(dtype=np.int64)
        return Dropped(self.frame.iloc[np.lexsort((lines, at))].reset_index(drop=True))

    def of_runs(self, names: Sequence[str]) -> Dropped:
        """Return what was left out of some runs; whole files are of no run and stay."""
        kept = self.frame["name"].isna() | self.frame["name"].isin(names)
        return self if kept.all() else Dropped(self.frame[kept].reset_index(drop=True))

    def __or__(self, other: Dropped) -> Dropped:
        """Return what was left out of two fields; a whole file that was left out of both counts once."""
        both = pd.MultiIndex.from_frame(self.frame[["file", "reason"]][self._kinds()[0]])
        again = other._kinds()[0] & pd.MultiIndex.from_frame(other.frame[["file", "reason"]]).isin(both)
        return Dropped.stacked([self, Dropped(other.frame[~again].reset_index(drop=True))])

    def in_words(self) -> str:
        """Return how much it is: ``3 lines and 1 file``; nothing where nothing was left out."""
        if not len(self):
            return ""
        whole, rows = self._kinds()
        lines = len(self) - int(whole.sum()) - int(rows.sum())
        counts = ((lines, "line"), (int(rows.sum()), "row"), (int(whole.sum()), "file"))
        return " and ".join(count(n, noun) for n, noun in counts if n)

    def tell(self) -> None:
        """Warn of all of it at once, if there is anything."""
        if not len(self):
            return
        whole, rows = self._kinds()
        inside = self.frame[~whole]
        sources = inside["name"].nunique() if rows.any() else inside["file"].nunique()
        of = f" of {count(sources, 'run' if rows.any() else 'file')}" if len(inside) else ""
        said = zip(whole, rows, self.frame["reason"], strict=True)
        why = [f"{count(n, noun)} {what}" for (noun, what), n in Counter(starmap(_as_said, said)).most_common()]
        more = f"; and {count(len(why) - _SHOWN, 'more reason')}" if len(why) > _SHOWN else ""
        inner = Dropped(inside).in_words() if len(inside) else ""
        outer = count(int(whole.sum()), "file") if whole.any() else ""
        what = " and ".join(filter(None, [inner + of, outer]))
        warn(f"{what} left out: {'; '.join(why[:_SHOWN])}{more}. First {self._first()}. All of it: runs.dropped.")

    def _first(self) -> str:
        row = self.frame.iloc[0]
        if row["file"] is None:
            return f"run {shown(row['name'])}, topic {shown(row['qid'])}"
        return str(row["file"]) if pd.isna(row["line"]) else f"{row['file']}, line {row['line']:,}"

    def _kinds(self) -> tuple[pd.Series, pd.Series]:
        # (which are whole files, which are rows of frames)
        without = self.frame["line"].isna()
        return without & self.frame["file"].notna(), without & self.frame["file"].isna()


def _as_said(whole: bool, row: bool, reason: str) -> tuple[str, str]:
    # what was left out, and which of its kind
    return ("file", "without any run line") if whole else ("row" if row else "line", f"with {reason}")


def _rows(n: int, **columns: Any) -> Dropped:
    frame = blank_rows(n)
    for column, values in columns.items():
        if values is not None:
            frame[column] = pd.Series(values, index=frame.index, dtype=frame[column].dtype)
    return Dropped(frame)


def _taken(texts: Sequence[str], codes: NDArray[np.int64]) -> NDArray[np.object_]:
    # the texts of some codes, each text once in memory
    return np.array([*texts, None], dtype=object)[:-1][codes]
