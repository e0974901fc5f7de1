"""Results as folders: tables as CSV for people, with JSON that says what CSV cannot, so that they read back equal."""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
import math
import re
import struct
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from itertools import groupby
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd

from pt_reuse._files import check_writable, checked_path, read_file, read_together, write_together
from pt_reuse.errors import InputError, examples, located

Json = Any
#: the file that makes a folder a saved record: what kind it is, and what the other files cannot say
CONTENTS, SETTINGS, ARRAYS = "result.json", "settings.json", "arrays.npz"
#: to be raised when what `CONTENTS` holds changes its meaning
FORMAT = 1
#: every kind of record by its name
KINDS: dict[str, type] = {}
#: what a file that was altered makes the libraries raise that read it
DAMAGED = (
    OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, MemoryError, ArithmeticError, SyntaxError,
    RuntimeError, struct.error, zipfile.BadZipFile, zlib.error, tokenize.TokenError,
)  # fmt: skip
#: characters of the longest cell that the csv module can be made to read, and who makes it
_LONGEST_CELL, _LIMIT = 2**31 - 1, threading.Lock()


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


# saving


def save_with(record: Any, beside: Mapping[str, bytes], folder: Path, *, overwrite: bool) -> list[Path]:
    """Save a record, and write further files beside it at the same time; see :meth:`Record.save`."""
    # what says that the others belong together comes last
    files = {**beside, **files_of(record, beside)}
    check_writable(folder, list(files), overwrite=overwrite, argument="folder")
    try:
        return write_together(folder, files.items(), overwrite=overwrite, outdated=lambda: _saved_in(folder))
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written to: {error.strerror or error}. It is as it was before.", argument="folder"
        ) from error


def files_of(record: Any, beside: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a record: tables, settings as people read them, arrays, and what says how to read these."""
    tables = record.tables()
    encoder = _Encoder({id(frame): name for name, frame in tables.items()})
    parts = {each.name: encoder.encode(getattr(record, each.name), each.name) for each in fields(record)}
    frames = {**tables, **encoder.frames}
    files = {}
    for name, frame in frames.items():
        text = frame.to_csv(index=False, lineterminator="\n")
        if "\r" in text:
            # a lone carriage return would end the line when it is read
            text = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        files[f"{name}.csv"] = text.encode("utf-8", "surrogateescape")
    files[SETTINGS] = _json_of(dict(record.settings))
    if encoder.arrays:
        # an archive of numpy's; equal arrays are equal bytes at any time of day
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, array in encoder.arrays.items():
                np.save(held := io.BytesIO(), array, allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), held.getvalue())
        files[ARRAYS] = packed.getvalue()
    about = {"format": FORMAT, "kind": type(record).__name__, "files": digests_of(files), "fields": parts}
    about |= {"beside": digests_of(beside)} if beside else {}
    return {**files, CONTENTS: _json_of(about)}


def _saved_in(folder: Path) -> list[Path]:
    """Return what the call before wrote to a folder, and nobody has altered: files of a result, and those beside it."""
    try:
        contents = _contents(folder / CONTENTS)
    except InputError:
        return []
    return [path for part in ("files", "beside") for path in SavedFiles(folder, contents.get(part)).as_saved()]


def digests_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the sha256 of each file."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def _json_of(value: Any) -> bytes:
    """Return a value as JSON; what JSON does not know is a text."""
    known: Callable[[Any], Any] = lambda value: value.item() if isinstance(value, np.generic) else str(value)  # noqa: E731
    return (json.dumps(value, indent=1, default=known) + "\n").encode("ascii")


@dataclass
class _Encoder:
    """Turns the values of a record into JSON, and keeps apart what goes to files of its own."""

    names: Mapping[int, str]  # of each table, by the identity of its frame
    frames: dict[str, pd.DataFrame] = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def encode(self, value: Any, place: str) -> Json:
        """Return a value as JSON; what it holds is named after its place."""
        if isinstance(value, pd.DataFrame):
            name = self.names.get(id(value), place)
            self.frames[name] = value
            columns = [_column(value.columns[i], value.iloc[:, i]) for i in range(value.shape[1])]
            return {"table": name, "rows": len(value), "columns": columns}
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            return {"objects": [self.encode(item, place) for item in value.tolist()]}
        if isinstance(value, np.ndarray):
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
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": repr(value)}
        # what is none of these stands in settings, which are for display
        return value if value is None or isinstance(value, str | bool | int | float) else str(value)


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
    "b": _CELLS["bool"],
    "i": int,
    "u": int,
    "f": lambda text: float(text or "nan"),
}
#: pandas' dtypes with a missing value of their own -> how a text is read
_NULLABLE: dict[str, Callable[[str], Any]] = {"boolean": _CELLS["bool"], "Int64": int, "Int32": int, "Float64": float}
#: dtypes of columns of objects
_OBJECTS = ("object", "str", "string")


def _column(name: Any, column: pd.Series) -> Json:
    """Return what CSV does not say of a column: its dtype, and what its cells are where they are mixed."""
    name = name.item() if isinstance(name, np.integer) else name
    if not isinstance(name, str | int):
        raise InputError(f"column {name!r} cannot be saved: name the columns with texts.")
    kept: dict[str, Json] = {"name": name, "dtype": str(column.dtype)}
    if kept["dtype"] in _NULLABLE or (isinstance(column.dtype, np.dtype) and column.dtype.kind in _NUMBERS):
        return kept
    if kept["dtype"] not in _OBJECTS:
        raise InputError(f"column {name!r} of dtype {column.dtype} cannot be saved. Make it text or numbers first.")
    return kept | {"cells": [[word, len(list(run))] for word, run in groupby(_cell(value, name) for value in column)]}


def _cell(value: Any, column: str | int) -> str:
    if value is None or value is pd.NA:
        return "None" if value is None else "NA"
    if isinstance(value, str):
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InputError(f"column {column!r} holds the text {value!r}, which UTF-8 cannot hold.") from None
        return "text"
    if isinstance(value, float | np.floating):
        return "NaN" if math.isnan(value) else "float"
    for word, kinds in (("bool", bool | np.bool_), ("int", int | np.integer)):
        if isinstance(value, kinds):
            return word
    raise InputError(f"column {column!r} holds a {type(value).__name__}, which cannot be saved. Make it text first.")


# reading


def read_result(folder: str | Path) -> Any:
    """Read a result or Scores that `save` wrote.

    Args:
        folder: the folder given to `save`.

    Returns:
        The result, of its original class: its tables, arrays and settings are equal to those saved. Settings that JSON
        does not know (a path, a date) become texts.

    Raises:
        InputError: a folder that holds no saved result, one that a newer version wrote, or one with a damaged file.

    Example:
        >>> import pt_reuse as ptr, tempfile
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> scores = ptr.score(field.runs, field.qrels, ["AP"])
        >>> folder = tempfile.mkdtemp()
        >>> _ = scores.save(folder)
        >>> ptr.read_result(folder).mean.equals(scores.mean)
        True
    """
    folder = checked_path(folder, "folder")
    with located(str(folder)):
        if not folder.is_dir():
            raise InputError("there is no such folder. Give one that a result was saved to.", argument="folder")
        return read_together(folder, lambda: _read(folder))


def _read(folder: Path) -> Any:
    if not (folder / CONTENTS).is_file():
        raise InputError(f"no saved result: it has no {CONTENTS}. Save the result (again).", argument="folder")
    contents = _contents(folder / CONTENTS)
    kind, files = _kind(contents["kind"]), SavedFiles(folder, contents["files"])
    try:
        arrays = _unpack_arrays(files.read(ARRAYS)) if ARRAYS in contents["files"] else {}
        record = _Decoder(files, arrays).record(kind, contents["fields"])
        files.check_others()
        return record
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError(f"cannot be read ({error}). Save the result anew.", argument="folder") from error


def _contents(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_file(path))
        version, kind, kept, files = (found[part] for part in ("format", "kind", "fields", "files"))
        parts = [files, found.get("beside", {})]
        known = isinstance(version, int) and isinstance(kind, str) and isinstance(kept, dict)
        if not known or not all(isinstance(digest, str) for part in parts for digest in dict(part).values()):
            raise ValueError("it is not as it is written")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{CONTENTS} is damaged ({error!r}). Save the result anew.", argument="folder") from error
    if version > FORMAT:
        raise InputError(
            f"written by a newer version of pt_reuse (format {version}; this one reads up to {FORMAT}). Update "
            f"pt_reuse, or save the result with this version.",
            argument="folder",
        )
    return dict(found)


def _kind(name: str) -> type:
    if name not in KINDS:
        # the module that defines it is found in the sources
        root, defined = Path(__file__).parent, re.compile(rf"^class {re.escape(name)}\(", re.MULTILINE)
        places = (path for path in sorted(root.rglob("*.py")) if defined.search(path.read_text(encoding="utf-8")))
        if home := next(places, None):
            importlib.import_module(".".join(home.relative_to(root.parent).with_suffix("").parts))
    if name not in KINDS:
        raise InputError(f"a result of the kind {name!r}, which is not known here. Import what defines it first.")
    return KINDS[name]


class SavedFiles:
    """The files of a saved record, each checked when it is read."""

    def __init__(self, folder: Path, digests: Mapping[str, str] | None):
        self._folder, self._digests = folder, digests or {}
        self._seen: set[str] = set()

    def check_others(self) -> None:
        """Raise an InputError that names a file which is not what was saved, of those that have not been read."""
        for name in self._digests.keys() - self._seen:
            self.read(name)

    def as_saved(self) -> Iterator[Path]:
        """Yield the paths of the files that nobody has altered."""
        for name in self._digests:
            with suppress(InputError, OSError):
                self.read(name)
                yield self._folder / name

    def read(self, name: str) -> bytes:
        """Return what a file holds."""
        path = self._folder / name
        inside = path.name == name and "\\" not in name and path.resolve().parent == self._folder.resolve()
        if name not in self._digests or not inside:
            raise InputError("it is no file of the result in its folder. Save the result anew.", place=name)
        if not path.is_file():
            raise InputError("there is no such file. Save the result anew.", place=name)
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != self._digests[name]:
            raise InputError("the file is not as it was saved. Put it back, or save the result anew.", place=name)
        self._seen.add(name)
        return data


#: how the header of an array is read, by the version of the format that numpy writes
_ARRAY_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def _unpack_arrays(data: bytes) -> dict[str, np.ndarray]:
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


def _read_frame(text: str, kept: Json) -> pd.DataFrame:
    rows = list(CsvReader(io.StringIO(text, newline="")))[1:]
    columns, n_rows = kept["columns"], kept["rows"]
    if not all(isinstance(column["name"], str | int) for column in columns):
        raise InputError("a column has no name. Save the result anew.")
    if len(rows) != n_rows or any(len(row) != len(columns) for row in rows):
        raise InputError(
            f"it has not the {n_rows} rows of {len(columns)} columns that were saved. Save the result anew."
        )
    series = [_read_column([row[i] for row in rows], column) for i, column in enumerate(columns)]
    if not series:
        return pd.DataFrame(index=range(n_rows))
    return pd.concat(series, axis=1).set_axis(pd.Index([column["name"] for column in columns]), axis=1)


def _read_column(texts: list[str], column: Json) -> pd.Series:
    dtype = column["dtype"]
    if "cells" in column:
        times = [n for _, n in column["cells"]]
        if dtype not in _OBJECTS or sum(times) != len(texts) or min(times, default=0) < 0:
            raise InputError(f"what is said of column {column['name']!r} is damaged. Save the result anew.")
        words = [word for word, n in column["cells"] for _ in range(n)]
        return pd.Series([_CELLS[word](text) for word, text in zip(words, texts, strict=True)], dtype=dtype)
    if dtype in _NULLABLE:
        return pd.Series([_NULLABLE[dtype](text) if text else pd.NA for text in texts], dtype=dtype)
    return pd.Series(np.array([_NUMBERS[np.dtype(dtype).kind](text) for text in texts], dtype=dtype))


@dataclass
class _Decoder:
    """Turns JSON back into the values of a record."""

    files: SavedFiles
    arrays: Mapping[str, np.ndarray]

    def record(self, kind: type, parts: Mapping[str, Json]) -> Any:
        """Return a record made of its fields, each of which is of its type."""
        hints, expected = get_type_hints(kind), {each.name: each for each in fields(kind) if each.init}
        lacking = [
            name for name, each in expected.items()
            if each.default is MISSING and each.default_factory is MISSING and name not in parts
        ]  # fmt: skip
        unknown = [name for name in parts if name not in expected]
        if lacking or unknown:
            said = (("lacks", lacking), ("has", unknown))
            wrong = " and ".join(f"{what} {examples(names)}" for what, names in said if names)
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
            data = self.files.read(f"{part['table']}.csv")
            with located(f"{part['table']}.csv"):
                return _read_frame(data.decode("utf-8", "surrogateescape"), part)
        if "array" in part:
            return self.arrays[part["array"]]
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
            return _kind_in(hint, part["choice"])[part["name"]]
        if "record" in part:
            return self.record(_kind_in(hint, part["record"]), part["fields"])
        kind = list if "list" in part else tuple
        return kind(self.decode(item, hint) for item in part[kind.__name__])


def _kind_in(hint: Any, name: str) -> Any:
    """Return the class of a name among those that a field's type speaks of."""
    for kind in _types_in(hint):
        if kind.__name__ == name:
            return kind
    raise InputError(f"this version knows no {name} in such a place.")


def _types_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
        for kind in hint.__subclasses__() if is_dataclass(hint) else ():
            yield from _types_in(kind)
    for part in get_args(hint):
        yield from _types_in(part)


#: what a field of numbers may hold
_NUMERIC: dict[Any, Any] = {float: (float, int), Any: object, None: type(None)}


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
    return not (isinstance(value, list) and parts) or all(_fits(item, parts[0]) for item in value)
