"""Frames and values as files that read back as what they were: CSV for people, with JSON that says what it cannot."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import threading
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from itertools import groupby
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd

from pt_reuse._check import examples
from pt_reuse.errors import InputError

Json = Any
#: what a cell of a column of objects can be: word in the file -> how its text is read
_CELLS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "bool": lambda text: text == "True",
    "int": int,
    "float": float,
    "None": lambda text: None,
    "NaN": lambda text: math.nan,
    "NA": lambda text: pd.NA,
}
#: dtypes whose cells numpy reads: kind of the dtype -> how a text is read
_NUMBERS: dict[str, Callable[[str], Any]] = {
    "b": lambda text: text == "True",
    "i": int,
    "u": int,
    "f": lambda text: float(text or "nan"),
}
#: pandas' dtypes with a missing value of their own
_NULLABLE = ("boolean", "Int64", "Int32", "Float64")
#: dtypes of columns of objects
_OBJECTS = ("object", "str", "string")
#: characters of the longest cell that the csv module can be made to read, and who makes it
_LONGEST_CELL, _LIMIT = 2**31 - 1, threading.Lock()
#: what a field of numbers may hold
_NUMERIC: dict[Any, Any] = {float: (float, int), Any: object, None: type(None)}
#: how the header of an array is read, by the version of the format that numpy writes
_ARRAY_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class CsvReader:
    """A csv.reader that reads cells of any length, where that of the library stops at 128 KB in the whole process."""

    def __init__(self, lines: Iterable[str], **how: Any):
        self._reader = csv.reader(lines, **how)

    @property
    def line_num(self) -> int:
        """Return the line in which the last row ended."""
        return self._reader.line_num

    def __iter__(self) -> CsvReader:
        return self

    def __next__(self) -> list[str]:
        with _LIMIT:
            before = csv.field_size_limit(_LONGEST_CELL)
            try:
                return next(self._reader)
            finally:
                csv.field_size_limit(before)


class SavedFiles:
    """The files of a saved record, each checked when it is read."""

    def __init__(self, folder: Path, digests: Mapping[str, str] | None):
        self._folder, self._digests = folder, digests
        self._seen: set[str] = set()

    def check_others(self) -> None:
        """Raise an InputError that names a file which is not what was saved, of those that have not been read."""
        for name in (self._digests or {}).keys() - self._seen:
            self.read(name)

    def as_saved(self) -> list[Path]:
        """Return the paths of the files that nobody has altered."""
        found = []
        for name in self._digests or {}:
            with suppress(InputError, OSError):
                self.read(name)
                found.append(self._folder / name)
        return found

    def has(self, name: str) -> bool:
        """Return whether the record has a file."""
        return (self._folder / name).exists() if self._digests is None else name in self._digests

    def read(self, name: str) -> bytes:
        """Return what a file holds."""
        path = self._folder / name
        if not self.has(name) or path.name != name or "\\" in name or path.resolve().parent != self._folder.resolve():
            raise InputError("it is no file of the result in its folder. Save the result anew.", place=name)
        if not path.is_file():
            raise InputError("there is no such file. Save the result anew.", place=name)
        data = path.read_bytes()
        if self._digests is not None and hashlib.sha256(data).hexdigest() != self._digests[name]:
            raise InputError("the file is not as it was saved. Put it back, or save the result anew.", place=name)
        self._seen.add(name)
        return data


def digests_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the sha256 of each file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def json_of(value: Any) -> bytes:
    """Return a value as JSON; what JSON does not know is a text."""
    return (json.dumps(value, indent=1, default=_known) + "\n").encode("ascii")


def _known(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def csv_of(frame: pd.DataFrame) -> str:
    """Return a frame as CSV, without its index."""
    text = frame.to_csv(index=False, lineterminator="\n")
    # a lone carriage return would end the line when it is read
    return text if "\r" not in text else frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)


def columns_of(frame: pd.DataFrame) -> Json:
    """Return what CSV does not say of a frame: its columns, their dtypes, and what the cells of mixed columns are."""
    return {"rows": len(frame), "columns": [_column(frame.iloc[:, i], i, frame) for i in range(frame.shape[1])]}


def _column(column: pd.Series, place: int, frame: pd.DataFrame) -> Json:
    name = frame.columns[place]
    name = name.item() if isinstance(name, np.integer) else name
    if not isinstance(name, str | int):
        raise InputError(f"column {name!r} cannot be saved: name the columns with texts.")
    kept: dict[str, Json] = {"name": name, "dtype": str(column.dtype)}
    if kept["dtype"] in _NULLABLE or (isinstance(column.dtype, np.dtype) and column.dtype.kind in _NUMBERS):
        return kept
    if kept["dtype"] not in _OBJECTS:
        raise InputError(f"column {name!r} of dtype {column.dtype} cannot be saved. Make it text or numbers first.")
    cells = [_cell(value, name) for value in column]
    kept["cells"] = [[word, len(list(run))] for word, run in groupby(cells)]
    return kept


def _cell(value: Any, column: str | int) -> str:
    if value is None or value is pd.NA:
        return "None" if value is None else "NA"
    if isinstance(value, str):
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InputError(f"column {column!r} holds the text {value!r}, which UTF-8 cannot hold.") from None
        return "text"
    for word, kinds in (("bool", bool | np.bool_), ("int", int | np.integer)):
        if isinstance(value, kinds):
            return word
    if isinstance(value, float | np.floating):
        return "NaN" if math.isnan(value) else "float"
    raise InputError(f"column {column!r} holds a {type(value).__name__}, which cannot be saved. Make it text first.")


def read_frame(text: str, kept: Json) -> pd.DataFrame:
    """Return the frame that was saved as CSV with its :func:`columns_of`."""
    rows = list(CsvReader(io.StringIO(text, newline="")))[1:]
    columns, n_rows = kept["columns"], kept["rows"]
    if not all(isinstance(column["name"], str | int) for column in columns):
        raise InputError("a column has no name. Save the result anew.")
    if len(rows) != n_rows or any(len(row) != len(columns) for row in rows):
        raise InputError(
            f"it has not the {n_rows} rows of {len(columns)} columns that were saved. Save the result anew."
        )
    frame = pd.DataFrame(index=range(n_rows))
    series = [_read_column([row[i] for row in rows], column) for i, column in enumerate(columns)]
    if series:
        frame = pd.concat(series, axis=1)
        frame.columns = pd.Index([column["name"] for column in columns])
    return frame


def _read_column(texts: list[str], column: Json) -> pd.Series:
    dtype = column["dtype"]
    if "cells" in column:
        times = [n for _, n in column["cells"]]
        if dtype not in _OBJECTS or sum(times) != len(texts) or min(times, default=0) < 0:
            raise InputError(f"what is said of column {column['name']!r} is damaged. Save the result anew.")
        words = [word for word, n in column["cells"] for _ in range(n)]
        values = [_CELLS[word](text) for word, text in zip(words, texts, strict=True)]
        return pd.Series(values, dtype=dtype)
    if dtype in _NULLABLE:
        read = _NUMBERS[{"b": "b", "I": "i", "F": "f"}[dtype[0]]]
        return pd.Series([read(text) if text else pd.NA for text in texts], dtype=dtype)
    return pd.Series(np.array([_NUMBERS[np.dtype(dtype).kind](text) for text in texts], dtype=dtype))


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return arrays as an archive of numpy's; equal ones are equal bytes at any time of day."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), held.getvalue())
    return packed.getvalue()


def unpack_arrays(data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays that were packed."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        is_plain = all(member.compress_type == zipfile.ZIP_STORED for member in members)
        if not is_plain or sum(member.file_size for member in members) > len(data):
            raise InputError("its arrays are larger than the file. Save the result anew.")
        for member in members:
            held = io.BytesIO(archive.read(member))
            shape, _, dtype = _ARRAY_HEADERS[np.lib.format.read_magic(held)](held)
            if math.prod(shape) * dtype.itemsize != len(held.getbuffer()) - held.tell():
                raise InputError(f"array {member.filename!r} is not as large as it says. Save the result anew.")
            held.seek(0)
            found[member.filename.removesuffix(".npy")] = np.lib.format.read_array(held, allow_pickle=False)
    return found


class Encoder:
    """Turns the values of a record into JSON, and keeps apart what goes to files of its own."""

    def __init__(self, names: Mapping[int, str]):
        """Begin; `names` is the name of each table by the identity of its frame."""
        self.frames: dict[str, pd.DataFrame] = {}
        self.arrays: dict[str, np.ndarray] = {}
        self._names = names

    def encode(self, value: Any, place: str) -> Json:
        """Return a value as JSON; what it holds is named after its place."""
        if isinstance(value, pd.DataFrame):
            name = self._names.get(id(value), place)
            self.frames[name] = value
            return {"table": name, **columns_of(value)}
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                return {"objects": [self.encode(item, place) for item in value.tolist()]}
            self.arrays[place] = value
            return {"array": place}
        if value is ...:
            return {"any": True}
        if isinstance(value, Enum):
            return {"choice": type(value).__name__, "name": value.name}
        if is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: self.encode(getattr(value, f.name), f"{place}.{f.name}") for f in fields(value) if f.init}
            return {"record": type(value).__name__, "fields": parts}
        if isinstance(value, Mapping):
            return {"mapping": [[self.encode(k, place), self.encode(v, f"{place}.{k}")] for k, v in value.items()]}
        if isinstance(value, list | tuple):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.encode(item, f"{place}.{i}") for i, item in enumerate(value)]}
        return _plain(value)


def _plain(value: Any) -> Json:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    # what is none of these stands in settings, which are for display
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


class Decoder:
    """Turns JSON back into the values of a record; frames and arrays are asked for by name."""

    def __init__(self, frame: Callable[[str, Json], pd.DataFrame], arrays: Mapping[str, np.ndarray]):
        self._frame, self._arrays = frame, arrays

    def record(self, kind: type, parts: Mapping[str, Json]) -> Any:
        """Return a record made of its fields."""
        hints, expected = get_type_hints(kind), [field for field in fields(kind) if field.init]
        unset = [f.name for f in expected if f.default is MISSING and f.default_factory is MISSING]
        lacking = [name for name in unset if name not in parts]
        unknown = [name for name in parts if name not in {field.name for field in expected}]
        if lacking or unknown:
            wrong = " and ".join(
                f"{what} {examples(names)}" for what, names in (("lacks", lacking), ("has", unknown)) if names
            )
            raise InputError(
                f"a {kind.__name__} that another version of pt_reuse saved: it {wrong}. Make the result with this "
                "version and save it, or read it with that one."
            )
        values = {name: self.decode(part, hints.get(name, object)) for name, part in parts.items()}
        odd = [name for name, value in values.items() if not _fits(value, hints.get(name, object))]
        if odd:
            raise InputError(f"{examples(odd)} of a {kind.__name__} holds what it cannot hold. Save the result anew.")
        return kind(**values)

    def decode(self, part: Json, hint: Any = object) -> Any:
        """Return one value; `hint` is the type of the field that it stands in."""
        if not isinstance(part, dict):
            return part
        if "table" in part:
            return self._frame(part["table"], part)
        if "array" in part:
            return self._arrays[part["array"]]
        if "objects" in part:
            values = [self.decode(item, hint) for item in part["objects"]]
            return np.array([*values, None], dtype=object)[:-1]
        if "any" in part:
            return ...
        if "float" in part:
            return float(part["float"])
        if "mapping" in part:
            return {self.decode(key, hint): self.decode(value, hint) for key, value in part["mapping"]}
        if "choice" in part:
            return _named(part["choice"], hint)[part["name"]]
        if "record" in part:
            return self.record(_named(part["record"], hint), part["fields"])
        kind = list if "list" in part else tuple
        return kind(self.decode(item, hint) for item in part[kind.__name__])


def _named(name: str, hint: Any) -> Any:
    """Return the class of a name among those that a field's type speaks of."""
    for kind in _types_in(hint):
        if kind.__name__ == name:
            return kind
    raise InputError(f"this version knows no {name} in such a place.")


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of a field's type, as far as that says what it holds."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is np.ndarray:
        scalar = next(iter(get_args(parts[1])), Any)
        kind = scalar if isinstance(scalar, type) else np.generic
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, kind)
    kind = _NUMERIC.get(hint, origin or hint)
    if not isinstance(kind, type | tuple):
        return True
    if not isinstance(value, kind) or (isinstance(value, bool) and hint in (int, float)):
        return False
    if isinstance(value, Mapping):
        return len(parts) != 2 or all(_fits(k, parts[0]) and _fits(v, parts[1]) for k, v in value.items())
    if isinstance(value, list) and parts:
        return all(_fits(item, parts[0]) for item in value)
    return True


def _types_in(hint: Any) -> Iterable[type]:
    if isinstance(hint, type):
        yield hint
        if is_dataclass(hint):
            for kind in hint.__subclasses__():
                yield from _types_in(kind)
    for part in get_args(hint):
        yield from _types_in(part)
