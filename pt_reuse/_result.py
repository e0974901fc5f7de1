"""The base of records that studies return: named tables, the settings behind them, one way to show, save and read."""

from __future__ import annotations

import importlib
import json
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import pandas as pd
from pandas.api.types import is_numeric_dtype

from pt_reuse import _html
from pt_reuse._check import flag
from pt_reuse._files import check_writable, checked_path, read_file, read_together, user_path, write_together
from pt_reuse._saving import (
    Decoder,
    Encoder,
    SavedFiles,
    csv_of,
    digests_of,
    json_of,
    pack_arrays,
    read_frame,
    unpack_arrays,
)
from pt_reuse._text import BESIDE, WIDTH, Printed, prose, table
from pt_reuse.errors import InputError, located

#: rows of a table that are printed; a notebook has twice as many
_SHOWN = 8
#: the file that makes a folder a saved record: what kind it is, and what the other files cannot say
CONTENTS, SETTINGS, ARRAYS = "result.json", "settings.json", "arrays.npz"
#: to be raised when what `CONTENTS` holds changes its meaning
FORMAT = 1
#: what a file that was altered makes the libraries raise that read it
DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    MemoryError,
    ArithmeticError,
    SyntaxError,
    RuntimeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
)
#: answers that are printed
_LINES = 3
#: what is said of an empty table
_NOTHING = "nothing was computed."
#: what an interval looks like behind its number
_INTERVAL = re.compile(r"\(\S+ to \S+\)")
_KINDS: dict[str, type[Record]] = {}


class Words(dict[str, Any]):
    """What sentences speak of; what an earlier version has not saved is not recorded."""

    def __missing__(self, name: str) -> str:
        return "not recorded"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Record(Printed):
    """Tables, arrays and settings that can be saved to a folder, and read back by :func:`read_result`.

    What a kind of record declares: ``title``; ``about``, what of, behind the title; ``valid_for``, for what the answers
    hold, and ``not_covered``, what they do not say. All speak of settings and attributes by their names.

    Attributes:
        settings: under which conventions it was made, for display.
    """

    title: ClassVar[str] = "Result"
    about: ClassVar[str] = ""
    valid_for: ClassVar[str] = ""
    not_covered: ClassVar[str] = ""

    settings: Mapping[str, Any]

    def __init_subclass__(cls, **arguments: Any):
        super().__init_subclass__(**arguments)
        _KINDS[cls.__name__] = cls

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name, the main one first; each is saved as a file of its own."""
        return {}

    def answers(self) -> list[str]:
        """Return the answer, a line for each measure or judge, the main number first."""
        return []

    def headline(self) -> str:
        """Return the answer in one line."""
        return "; ".join(self.answers())

    def words(self) -> dict[str, Any]:
        """Return what captions, notes and the verdict speak of: the settings, and numbers and names beside them."""
        return dict(self.settings)

    def conditions(self) -> list[str]:
        """Return for what the answers hold, with which intervals, and what is not covered, a line each."""
        words, kind = Words(self.words()), self._kind_of_intervals()
        named = f" Intervals: {kind}." if kind and _INTERVAL.search(self.headline()) else ""
        parts = [("For", self.valid_for), ("Not covered", self.not_covered)]
        lines = [f"{what}: {text.format_map(words)}" for what, text in parts if text]
        return [lines[0] + named, *lines[1:]] if lines else []

    def _kind_of_intervals(self) -> str:
        """Return the level and the kind of the intervals in the headline, nothing without any."""
        made = str(self.settings.get("intervals", "none")).partition(": ")[0]
        return "" if made == "none" else made

    def save(self, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Write every table as CSV, the settings as JSON, and what else it takes to read the whole back.

        Args:
            folder: where to; made when it does not exist.
            overwrite: replace files that exist already; default is an error before anything is written.

        Returns:
            list of Path: what was written: a ``.csv`` per table, ``settings.json``, ``arrays.npz`` where there are
            arrays, and ``result.json``, which :func:`read_result` needs.

        Raises:
            InputError: a file that exists, a folder that cannot be written to, a table with cells that cannot be
                saved.
        """
        return save_with(self, {}, checked_path(folder), overwrite=flag("overwrite", overwrite))

    def _files(self, beside: Mapping[str, bytes] = MappingProxyType({})) -> dict[str, bytes]:
        tables = self.tables()
        encoder = Encoder({id(frame): name for name, frame in tables.items()})
        # the settings are written by themselves, as people read them
        parts = {field.name: encoder.encode(getattr(self, field.name), field.name) for field in fields(self)}
        frames = {**tables, **encoder.frames}
        files = {f"{name}.csv": csv_of(frame).encode("utf-8", "surrogateescape") for name, frame in frames.items()}
        files[SETTINGS] = json_of(dict(self.settings))
        if encoder.arrays:
            files[ARRAYS] = pack_arrays(encoder.arrays)
        about = {"format": FORMAT, "kind": type(self).__name__, "files": digests_of(files), "fields": parts}
        about |= {"beside": digests_of(beside)} if beside else {}
        return {**files, CONTENTS: json_of(about)}

    def _settings_line(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())

    def _shown(self) -> pd.DataFrame:
        """Return the table whose first rows are shown."""
        return next(iter(self.tables().values()))

    def _rest(self) -> str:
        """Return what the rows are that are not shown, and where they are."""
        return f"rows in .{next(iter(self.tables()))}"

    def _answers(self) -> list[str]:
        """Return the columns that hold the answer, the most telling first."""
        return []

    def _spare(self, shown: pd.DataFrame) -> list[str]:
        """Return the columns that a narrow screen goes without, the first to be left out first."""
        answers = [name for name in self._answers() if name in shown]
        worth = dict.fromkeys(answers, 2)
        if answers:
            # what the rows are says more than all numbers but one
            before = shown.columns[: shown.columns.get_loc(answers[0])]
            worth |= {answers[0]: 4, **{name: 3 for name in before if not is_numeric_dtype(shown[name])}}
        # numbers say more than their ends, and the first columns more than the last
        return sorted(shown.columns[:1:-1], key=lambda name: 0 if name.endswith(BESIDE) else worth.get(name, 1))

    def __repr__(self) -> str:
        return f"{self.heading()}: {self.headline() if len(self._shown()) else _NOTHING}"

    def heading(self) -> str:
        """Return the title, and what of."""
        return self.title + (f", {self.about.format_map(Words(self.words()))}" if self.about else "")

    def __str__(self) -> str:
        shown = self._shown()
        answers, conditions = ([_NOTHING], []) if shown.empty else (first_of(self.answers()), self.conditions())
        return "\n".join(
            [
                *(prose(line, width=WIDTH) for line in (self.heading(), *answers)),
                table(shown, width=WIDTH, most=_SHOWN, what=self._rest(), spare=self._spare(shown)),
                *(prose(line, width=WIDTH) for line in conditions),
                f"Settings: result.settings ({len(self.settings)})",
            ]
        )

    def _repr_html_(self) -> str:
        shown = self._shown()
        answers, conditions = ([_NOTHING], []) if shown.empty else (first_of(self.answers()), self.conditions())
        below = _html.table(shown, most=2 * _SHOWN, what=self._rest()) + _html.lines(conditions)
        return _html.headline(self.heading(), *answers) + below + _html.folded(self.settings)


def first_of(lines: list[str]) -> list[str]:
    """Return the first lines, and how many there are beside them."""
    more = len(lines) - _LINES
    return lines if more <= 1 else [*lines[:_LINES], f"and {more:,} more"]


def save_with(record: Record, beside: Mapping[str, bytes], folder: Path, *, overwrite: bool) -> list[Path]:
    """Save a record, and write further files beside it at the same time; see :meth:`Record.save`."""
    # what says that the others belong together comes last
    files = {**beside, **record._files(beside)}
    check_writable(folder, list(files), overwrite=overwrite, argument="folder")
    try:
        return write_together(folder, files.items(), overwrite=overwrite, outdated=lambda: saved_in(folder))
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written to: {error.strerror or error}. It is as it was before.", argument="folder"
        ) from error


def saved_in(folder: Path) -> list[Path]:
    """Return what the call before wrote to a folder, and nobody has altered: files of a result, and those beside it."""
    try:
        contents = _contents(folder / CONTENTS)
    except InputError:
        return []
    return [path for part in ("files", "beside") for path in SavedFiles(folder, contents.get(part)).as_saved()]


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
        >>> read_result(folder).mean.equals(scores.mean)
        True
    """
    if not isinstance(folder, str | Path) or not str(folder) or "\0" in str(folder):
        raise InputError(f"folder must be a folder's path, got {folder!r}.", argument="folder")
    folder = user_path(folder)
    with located(str(folder)):
        if not folder.is_dir():
            raise InputError("there is no such folder. Give one that a result was saved to.", argument="folder")
        return read_together(folder, lambda: _read(folder))


def _read(folder: Path) -> Any:
    if not (folder / CONTENTS).is_file():
        raise InputError(f"no saved result: it has no {CONTENTS}. Save the result (again).", argument="folder")
    contents = _contents(folder / CONTENTS)
    kind, files = _kind(contents["kind"]), SavedFiles(folder, contents.get("files"))

    def frame(name: str, kept: Any) -> pd.DataFrame:
        data = files.read(f"{name}.csv")
        with located(f"{name}.csv"):
            return read_frame(data.decode("utf-8", "surrogateescape"), kept)

    try:
        arrays = unpack_arrays(files.read(ARRAYS)) if files.has(ARRAYS) else {}
        record = Decoder(frame, arrays).record(kind, contents["fields"])
        files.check_others()
        return record
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError(f"cannot be read ({error}). Save the result anew.", argument="folder") from error


def _contents(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_file(path))
        version, kind, kept = found["format"], found["kind"], found["fields"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{CONTENTS} is damaged ({error!r}). Save the result anew.", argument="folder") from error
    digests = [found[part] for part in ("files", "beside") if found.get(part) is not None]
    if not (isinstance(version, int) and isinstance(kind, str) and isinstance(kept, dict)) or not all(
        isinstance(part, dict) and all(isinstance(one, str) for one in part.values()) for part in digests
    ):
        raise InputError(f"{CONTENTS} is damaged. Save the result anew.", argument="folder")
    if version > FORMAT:
        raise InputError(
            f"written by a newer version of pt_reuse (format {version}; this one reads up to {FORMAT}). Update "
            f"pt_reuse, or save the result with this version.",
            argument="folder",
        )
    return found


def home_of(name: str) -> str | None:
    """Return the module that defines a kind of record, None where none does, found in the sources."""
    root, defined = Path(__file__).parent, re.compile(rf"^class {re.escape(name)}\(", re.MULTILINE)
    places = (path for path in sorted(root.rglob("*.py")) if defined.search(path.read_text(encoding="utf-8")))
    found = next(places, None)
    return None if found is None else ".".join(found.relative_to(root.parent).with_suffix("").parts)


def _kind(name: str) -> type:
    home = None if name in _KINDS else home_of(name)
    if home is not None:
        importlib.import_module(home)
    if name not in _KINDS:
        raise InputError(f"a result of the kind {name!r}, which is not known here. Import what defines it first.")
    return _KINDS[name]
