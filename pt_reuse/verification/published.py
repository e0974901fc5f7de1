"""Files of published figures: groups of published values, and how far from a value a computed number may be."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pt_reuse._check import examples, shown
from pt_reuse._files import read_file, user_path
from pt_reuse.collections.definition import read_toml
from pt_reuse.errors import InputError, located

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"(?=\D*\d)[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_DATA = Path(str(files("pt_reuse.verification") / "data"))
#: key of a figure -> what its value is; all other keys are parameters of its kind
_KEYS: dict[str, type] = dict.fromkeys(("what", "kind", "source", "file", "column", "differs"), str)
_KEYS |= {"values": dict, "computed": dict, "conventions": list}
_WORDS: dict[type, str] = {str: "a text", dict: "a table of names and values", list: "a list of tables"}


@dataclass(frozen=True)
class PublishedValue:
    """A published number; one step of its last digit is worth `unit`."""

    number: float
    unit: float

    def agrees(self, computed: float) -> bool:
        """Return whether a computed number is published as this one, either way of rounding."""
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        return bool(abs(computed - self.number) <= self.unit / 2 + slack)


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """Published values of one kind, from one source, by the name of a run, a team or a statistic."""

    what: str
    kind: str
    source: str
    values: Mapping[str, PublishedValue]
    parameters: Mapping[str, Any]
    conventions: list[Mapping[str, Any]]
    differs: str
    computed: Mapping[str, PublishedValue]
    place: str


def published_names() -> list[str]:
    """Return the collections of which the package has published figures."""
    return [read_toml(path)["collection"] for path in sorted(_DATA.glob("*.toml"))]


def published_file(name: str) -> Path:
    """Return the package's file of the figures of a collection."""
    known = published_names()
    if name not in known:
        own = "Give your own with figures='FILE.toml'."
        raise InputError(f"no published figures of {name!r}; there are those of {examples(known, 20)}. {own}")
    return _DATA / f"{name.replace('/', '-')}.toml"


def read_published(path: str | Path) -> tuple[str, str, list[PublishedFigure]]:
    """Read a file of published figures: the name of the collection, its title and the figures."""
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(f"figures must be the path of a TOML file, got {shown(path)}.", argument="figures")
    path = user_path(path)
    content = read_toml(path)
    with located(str(path)):
        texts = [content.pop(key, None) for key in ("collection", "title")]
        entries = content.pop("figure", None)
        tables = isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)
        if content or not tables or not all(isinstance(text, str) and text for text in texts):
            raise InputError('the file needs collection = "...", title = "..." and one or several [[figure]] alone.')
        figures = [_figure(path, number, entry) for number, entry in enumerate(entries, start=1)]
        names = [figure.what for figure in figures]
        if twice := {what for what in names if names.count(what) > 1}:
            raise InputError(f"two figures are named {examples(twice)}. Give each its own `what`.")
    return texts[0], texts[1], figures


def _figure(path: Path, number: int, entry: dict[str, Any]) -> PublishedFigure:
    place = f"figure {entry.get('what', number)!r}"
    with located(place):
        for key, kind in _KEYS.items():
            if key in entry and (type(entry[key]) is not kind or not entry[key]):
                raise InputError(f"{key} must be {_WORDS[kind]}, got {entry[key]!r}.")
        if lacking := [key for key in ("what", "kind", "source") if key not in entry]:
            raise InputError(f"the figure needs {lacking[0]}.")
        conventions = entry.get("conventions", [{}])
        if not all(isinstance(one, dict) for one in conventions):
            raise InputError(f'conventions must be a list such as [{{ order = "rank" }}], got {conventions!r}.')
        if ("values" in entry) == ("file" in entry) or ("file" in entry) != ("column" in entry):
            raise InputError('give either values = { name = "0.1234" } or file and column.')
        values = _from_csv(path.parent, entry["file"], entry["column"]) if "file" in entry else _values(entry["values"])
        known = _values(entry.get("computed", {}))
        odd = [name for name, value in known.items() if name not in values or values[name].agrees(value.number)]
        if odd or ("differs" in entry) != ("computed" in entry):
            raise InputError("differs says why a value differs, and needs computed = { name = 1_130 }, another number.")
        return PublishedFigure(
            **{key: entry.get(key, "") for key in ("what", "kind", "source", "differs")},
            values=values,
            parameters={key: value for key, value in entry.items() if key not in _KEYS},
            conventions=conventions,
            computed=known,
            place=f"{path}, {place}",
        )


def _values(given: Mapping[str, Any]) -> dict[str, PublishedValue]:
    return {name: _value(name, written) for name, written in given.items()}


def _value(name: str, written: Any) -> PublishedValue:
    """Return a value by its digits as they are written."""
    text = str(written).strip()
    if type(written) not in (str, int) or not _NUMBER.fullmatch(text):
        wanted = 'a whole number, or a text with a decimal point and all digits, such as "0.1230"'
        raise InputError(f"a value must be {wanted}, got {written!r}.", place=repr(name))
    number = Decimal(text.replace(",", ""))
    return PublishedValue(float(number), float(Decimal(10) ** int(number.as_tuple().exponent)))


def _from_csv(folder: Path, name: str, column: str) -> dict[str, PublishedValue]:
    """Return the values of a column of a CSV file beside the TOML file, by the column ``name``."""
    if Path(name).name != name:
        raise InputError("file must be the name of a CSV beside the TOML file.")
    values: dict[str, PublishedValue] = {}
    with located(str(folder / name)):
        try:
            rows = csv.DictReader(io.StringIO(read_file(folder / name).decode("utf-8-sig")))
            lines = [(rows.line_num, row) for row in rows]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error
        if not lines or not {"name", column} <= set(rows.fieldnames or ()):
            raise InputError(f"the table needs rows, and the columns 'name' and {column!r}.")
        for line, row in lines:
            with located(f"line {line}"):
                if None in row or None in row.values() or not row["name"] or row["name"] in values:
                    raise InputError(f"a row needs a name of its own and a cell for each column, got {row!r}.")
                values[row["name"]] = _value(row["name"], row[column])
    return values
