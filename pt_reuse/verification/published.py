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
from pt_reuse._files import open_file, user_path
from pt_reuse.collections.definition import read_toml
from pt_reuse.errors import InputError, located

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"(?=\D*\d)[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_DATA = Path(str(files("pt_reuse.verification") / "data"))
#: key of a figure -> what its value is; all other keys are parameters of its kind
_KEYS: dict[str, type] = {
    "what": str, "kind": str, "source": str, "values": dict, "file": str, "column": str, "decimals": int,
    "places": int, "conventions": list, "differs": str, "computed": dict,
}  # fmt: skip
_WORDS = {str: "a text", dict: "a table of names and values", int: "a whole number", list: "a list of tables"}


@dataclass(frozen=True)
class PublishedValue:
    """A published number; one step of its last digit is worth `unit`, which the file may declare in so many digits."""

    number: float
    unit: float
    declared: bool = False

    def agrees(self, computed: float, *, truncated: bool = False) -> bool:
        """Return whether a computed number is published as this one."""
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        off = computed - self.number
        if truncated:
            # away from 0, and from 0 itself either way
            outwards = abs(off) if self.number == 0 else off * np.sign(self.number)
            return bool(-slack <= outwards <= self.unit + slack)
        return bool(abs(off) <= self.unit / 2 + slack)


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
        if content or not all(isinstance(text, str) and text for text in texts):
            raise InputError('the file needs collection = "...", title = "..." and one or several [[figure]] alone.')
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            raise InputError("there is no figure in it. Write one or several [[figure]].")
        figures = [_figure(path, number, entry) for number, entry in enumerate(entries, start=1)]
        names = [figure.what for figure in figures]
        if twice := {what for what in names if names.count(what) > 1}:
            raise InputError(f"two figures are named {examples(twice)}. Give each its own `what`.")
    return texts[0], texts[1], figures


def _figure(path: Path, number: int, entry: dict[str, Any]) -> PublishedFigure:
    place = f"figure {entry.get('what', number)!r}"
    with located(place):
        for key, kind in _KEYS.items():
            given = entry.get(key)
            if key in entry and (type(given) is not kind or (not given and given != 0)):
                raise InputError(f"{key} must be {_WORDS[kind]}, got {given!r}.")
        if lacking := [key for key in ("what", "kind", "source") if key not in entry]:
            raise InputError(f"the figure needs {lacking[0]}.")
        if {"decimals", "places"} <= entry.keys() or entry.get("decimals", 0) < 0 or entry.get("places", 1) < 1:
            raise InputError("give decimals = 4 or places = 6 (significant digits).")
        conventions = entry.get("conventions", [{}])
        if not all(isinstance(one, dict) for one in conventions):
            raise InputError(f'conventions must be a list such as [{{ order = "rank" }}], got {conventions!r}.')
        if ("values" in entry) == ("file" in entry) or ("file" in entry) != ("column" in entry):
            raise InputError('give either values = { name = "0.1234" } or file and column.')
        values = _from_csv(path.parent, entry) if "file" in entry else _values(entry["values"], entry)
        return PublishedFigure(
            **{key: entry.get(key, "") for key in ("what", "kind", "source", "differs")},
            values=values,
            parameters={key: value for key, value in entry.items() if key not in _KEYS},
            conventions=conventions,
            computed=_known(entry, values),
            place=f"{path}, {place}",
        )


def _known(entry: dict[str, Any], values: Mapping[str, PublishedValue]) -> dict[str, PublishedValue]:
    """Return name -> the number that is known to be computed in place of the published one."""
    if ("differs" in entry) != ("computed" in entry):
        raise InputError(
            "a known difference needs differs, why it is, and computed = { name = 1_130 }, what comes out."
        )
    known = _values(entry.get("computed", {}), entry)
    for name, value in known.items():
        if name not in values or values[name].agrees(value.number):
            raise InputError(f"computed has {name!r}, which is none of the values, or equal to it.")
    return known


def _values(given: Mapping[str, Any], entry: dict[str, Any]) -> dict[str, PublishedValue]:
    return {name: _value(name, written, entry) for name, written in given.items()}


def _value(name: str, written: Any, entry: dict[str, Any]) -> PublishedValue:
    """Return a value as it is written; the figure may say its digits, ``decimals`` or ``places``."""
    with located(repr(name)):
        declared = "decimals" in entry or "places" in entry
        number_types = (int, float) if declared else (int,)
        text = repr(written) if type(written) in number_types else written
        if not isinstance(text, str) or (type(written) is not float and not _NUMBER.fullmatch(text.strip())):
            raise InputError(
                f'a value must be a number as text with a decimal point, such as "0.1230", got {written!r}. Numbers '
                "of Python do not tell their digits, unless decimals are given."
            )
        number = Decimal(text.strip().replace(",", ""))
        if not number.is_finite():
            raise InputError(f"a value must be a finite number, got {written!r}.")
        exponent = int(number.as_tuple().exponent)
        if "decimals" in entry:
            exponent = -entry["decimals"]
        elif "places" in entry:
            exponent = number.adjusted() - entry["places"] + 1
        if number and int(number.normalize().as_tuple().exponent) < exponent:
            raise InputError(f"{written!r} has more digits than decimals or places say.")
        return PublishedValue(float(number), float(Decimal(10) ** exponent), declared)


def _from_csv(folder: Path, entry: dict[str, Any]) -> dict[str, PublishedValue]:
    """Return the values of a column of a CSV file beside the TOML file, by the column ``name``."""
    file, column = folder / entry["file"], entry["column"]
    if file.name != entry["file"]:
        raise InputError("file must be the name of a CSV beside the TOML file.")
    with located(str(file)):
        try:
            with open_file(file) as opened:
                rows = csv.DictReader(io.StringIO(opened.read().decode("utf-8-sig")))
            lines = [(rows.line_num, row) for row in rows]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error
        if not lines or not {"name", column} <= set(rows.fieldnames or ()):
            raise InputError(f"the table needs rows, and the columns 'name' and {column!r}.")
        values: dict[str, PublishedValue] = {}
        for line, row in lines:
            with located(f"line {line}"):
                if None in row or None in row.values() or not row["name"] or row["name"] in values:
                    raise InputError(f"a row needs a name of its own and a cell for each column, got {row!r}.")
                values[row["name"]] = _value(row["name"], row[column], entry)
        return values
