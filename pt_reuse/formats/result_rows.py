"""Result frames as plain arrays, from which they come back with every bit of every number and every character."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: text columns keep lone surrogates, which bytes that were no UTF-8 become when they are read
_ERRORS = "surrogatepass"
#: what pandas calls cells of Python's own numbers of one kind, and as what they are kept
_OWN_NUMBERS = {"integer": np.int64, "floating": np.float64, "boolean": np.bool_}


@dataclass(frozen=True)
class CodedRows:
    """The rows of a result frame, coded column by column.

    Columns of numbers and of texts are kept; others, such as vectors of features, are not.

    Attributes:
        columns: of each column that is kept its name, its number in the frame and its kind.
        n_rows: how many rows there are.
        arrays: returns arrays by their names.

    Example:
        >>> frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["d2", "d1"], "score": np.float32([0.1, 2])})
        >>> arrays, notes = coded_rows(frame)
        >>> CodedRows.of(notes, lambda *names: [arrays[name] for name in names]).frame().equals(frame)
        True
    """

    columns: Sequence[tuple[str, int, str]]
    n_rows: int
    arrays: Callable[..., Sequence[NDArray]]

    @classmethod
    def of(cls, notes: Mapping[str, Any], arrays: Callable[..., Sequence[NDArray]]) -> CodedRows:
        """Return rows that :func:`coded_rows` coded."""
        return cls(notes["columns"], notes["rows"], arrays)

    def frame(self, rows: NDArray[np.bool_] | None = None, only: Collection[str] | None = None) -> pd.DataFrame:
        """Return rows and columns of the frame.

        Args:
            rows: which; default all.
            only: the columns; default all.
        """
        kept = [column for column in self.columns if only is None or column[0] in only]
        series = [self._column(i, kind, rows) for _, i, kind in kept]
        n = self.n_rows if rows is None else int(rows.sum())
        # by number, since a frame may have two columns of one name
        frame = pd.DataFrame(dict(enumerate(series)), index=pd.RangeIndex(n))
        frame.columns = pd.Index([label for label, _, _ in kept], dtype=None if kept else object)
        return frame

    def _column(self, i: int, kind: str, rows: NDArray[np.bool_] | None) -> pd.Series:
        if kind == "number":
            (values,) = self.arrays(f"{i}.values")
            return pd.Series(values if rows is None else values[rows])
        codes, lengths, data = self.arrays(f"{i}.codes", f"{i}.lengths", f"{i}.text")
        text, ends = data.tobytes().decode("utf-8", _ERRORS), np.cumsum(lengths)
        # None stands last, where the code -1 finds it
        distinct = np.array([*map(text.__getitem__, map(slice, ends - lengths, ends)), None], dtype=object)
        cells = distinct[codes if rows is None else codes[rows]]
        return pd.Series(cells, dtype=object) if kind == "object" else pd.Series(cells.tolist(), dtype=_text_type())


def coded_rows(frame: pd.DataFrame) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Return the columns of a frame that can be kept: arrays of one dimension by names, and notes as JSON has them."""
    columns: list[list[Any]] = []
    arrays: dict[str, NDArray] = {}
    for i, label in enumerate(frame.columns):
        coded = _coded(frame.iloc[:, i]) if isinstance(label, str) else None
        if coded is not None:
            kind, parts = coded
            columns.append([label, i, kind])
            arrays |= {f"{i}.{part}": array for part, array in parts.items()}
    return arrays, {"columns": columns, "rows": len(frame)}


def _text_type() -> Any:
    # that of pandas' own texts, which are Python's before pandas 3
    return pd.Series(["a"]).dtype


def _coded(cells: pd.Series) -> tuple[str, dict[str, NDArray]] | None:
    if isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "iufb" and cells.dtype.itemsize <= 8:
        return "number", {"values": cells.to_numpy()}
    found = pd.api.types.infer_dtype(cells, skipna=True)
    if found in _OWN_NUMBERS and not cells.isna().any():
        return _own_numbers(cells, _OWN_NUMBERS[found])
    own = cells.astype(object)
    missing = own.isna()
    # infer_dtype calls a column of missing cells empty
    if not all(isinstance(cell, str) for cell in own[~missing]):
        return None
    codes, distinct = pd.factorize(own.where(~missing, None))
    texts = distinct.tolist()
    data = np.frombuffer("".join(texts).encode("utf-8", _ERRORS), dtype=np.uint8)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    kind = "object" if cells.dtype == object else "text"
    return kind, {"codes": codes.astype(np.int32), "lengths": lengths, "text": data}


def _own_numbers(cells: pd.Series, kind: Any) -> tuple[str, dict[str, NDArray]] | None:
    given = cells.tolist()
    try:
        values = np.array(given, dtype=kind)
    except OverflowError:
        return None
    return ("number", {"values": values}) if values.tolist() == given or kind is np.float64 else None
