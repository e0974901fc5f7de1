"""Files of published figures: each figure with its values, and how far from a value a computed number may be."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pt_reuse._check import examples, shown
from pt_reuse._files import open_file, user_path
from pt_reuse.collections.definition import read_toml
from pt_reuse.errors import InputError, located

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"(?=\D*\d)[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_FILE_KEYS = ("collection", "title", "figure")
_FIGURE_KEYS = (
    "what", "kind", "source", "values", "file", "column", "decimals", "places", "conventions", "differs", "computed",
)  # fmt: skip
_DATA = Path(str(files("pt_reuse.verification") / "data"))
#: ``decimals`` or ``places`` (significant digits) of a figure's values, where the file says so
_Digits: TypeAlias = Mapping[str, int]


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
    values: Mapping[str, PublishedValue]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    conventions: tuple[Mapping[str, Any], ...] = ({},)
    source: str
    differs: str = ""
    computed: Mapping[str, PublishedValue] = field(default_factory=dict)
    place: str = ""


@dataclass(frozen=True)
class PublishedFigures:
    """All published figures of a collection; see :func:`read_published`."""

    collection: str
    title: str
    figures: tuple[PublishedFigure, ...]


def published_names() -> list[str]:
    """Return the collections of which the package has published figures."""
    return [read_toml(path)["collection"] for path in sorted(_DATA.glob("*.toml"))]


def published_figures(name: str) -> PublishedFigures:
    """Return the published figures of a collection of the package."""
    known = published_names()
    if name not in known:
        raise InputError(
            f"no published figures of {name!r}; there are those of {examples(known, 20)}. Give your own with "
            "figures='FILE.toml'."
        )
    return read_published(_DATA / f"{name.replace('/', '-')}.toml")


def read_published(path: str | Path) -> PublishedFigures:
    """Read a file of published figures."""
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(f"figures must be the path of a TOML file, got {shown(path)}.", argument="figures")
    path = user_path(path)
    content = read_toml(path)
    with located(str(path)):
        if odd := [key for key in content if key not in _FILE_KEYS]:
            raise InputError(f"the file has {examples(odd)}, not among {examples(_FILE_KEYS)}.")
        for key in ("collection", "title"):
            if not isinstance(content.get(key), str) or not content[key]:
                raise InputError(f'the file needs {key} = "...", got {content.get(key)!r}.')
        entries = content.get("figure")
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            raise InputError("there is no figure in it. Write one or several [[figure]].")
        figures = tuple(_figure(path, number, entry) for number, entry in enumerate(entries, start=1))
        times = Counter(figure.what for figure in figures)
        if twice := [what for what, n in times.items() if n > 1]:
            raise InputError(f"two figures are named {examples(twice)}. Give each its own `what`.")
    return PublishedFigures(content["collection"], content["title"], figures)


def _text_of(path: Path) -> str:
    try:
        with open_file(path) as file:
            return file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _figure(path: Path, number: int, entry: dict[str, Any]) -> PublishedFigure:
    what = entry.get("what")
    if not isinstance(what, str) or not what:
        raise InputError(f'the figure needs what = "...", got {what!r}.', place=f"figure {number}")
    place = f"figure {what!r}"
    with located(place):
        texts = {key: entry.get(key, "") for key in ("kind", "source", "differs")}
        for key, text in texts.items():
            if not isinstance(text, str) or not (text or key == "differs"):
                raise InputError(f"{key} must be a text, got {entry.get(key)!r}.")
        digits: dict[str, int] = {key: entry[key] for key in ("decimals", "places") if key in entry}
        if len(digits) == 2 or any(type(n) is not int or n < 0 for n in digits.values()) or digits.get("places") == 0:
            raise InputError(f"give decimals = 4 or places = 6 (significant digits), got {digits}.")
        conventions = entry.get("conventions", [{}])
        if not isinstance(conventions, list) or not conventions or not all(isinstance(c, dict) for c in conventions):
            wanted = '[{ order = "trec_eval" }]'
            raise InputError(f"conventions must be a list such as {wanted}, got {conventions!r}.")
        values = _values(entry, path.parent, digits)
        return PublishedFigure(
            what=what,
            values=values,
            computed=_known(entry, values, digits),
            place=f"{path}, {place}",
            parameters={key: value for key, value in entry.items() if key not in _FIGURE_KEYS},
            conventions=tuple(conventions),
            **texts,
        )


def _values(entry: dict[str, Any], folder: Path, digits: _Digits) -> dict[str, PublishedValue]:
    if ("values" in entry) == ("file" in entry):
        raise InputError('give either values = { name = "0.1234" } or file and column.')
    if "values" in entry:
        return _table(entry["values"], "values", digits)
    file, column = entry["file"], entry.get("column")
    if not isinstance(file, str) or Path(file).name != file or not isinstance(column, str):
        raise InputError("file must be the name of a CSV beside the TOML file, with its column.")
    with located(str(folder / file)):
        return _column(_text_of(folder / file), column, digits)


def _table(values: Any, what: str, digits: _Digits) -> dict[str, PublishedValue]:
    if not isinstance(values, dict) or not values:
        raise InputError(f"{what} must be a table of names and values, got {values!r}.")
    return {name: _value(name, value, digits) for name, value in values.items()}


def _known(entry: dict[str, Any], values: Mapping[str, PublishedValue], digits: _Digits) -> dict[str, PublishedValue]:
    """Return name -> the number that is known to be computed in place of the published one."""
    if not entry.get("differs") and "computed" not in entry:
        return {}
    if not entry.get("differs") or "computed" not in entry:
        raise InputError(
            f"a known difference needs both differs, why it is, and computed, the number that is known to come out in "
            f"place of the published one: computed = {{ {next(iter(values))} = 1_130 }}."
        )
    known = _table(entry["computed"], "computed", digits)
    for name, value in known.items():
        if name not in values:
            raise InputError(f"computed has {name!r}, which is not among the values {examples(values)}.")
        if values[name].agrees(value.number):
            raise InputError(f"{value.number:.10g} is equal to what was published: no difference.", place=repr(name))
    return known


def _value(name: str, written: Any, digits: _Digits) -> PublishedValue:
    with located(repr(name)):
        if type(written) is float and not digits:
            raise InputError(f'{written!r} does not tell its digits. Write it as text, "0.1230", or give decimals.')
        text = repr(written) if type(written) in (int, float) else written
        if not isinstance(text, str) or (type(written) is not float and not _NUMBER.fullmatch(text.strip())):
            comma = " Write a decimal point, not a comma." if isinstance(text, str) and "," in text else ""
            raise InputError(f'a value must be a number as text, such as "0.1234", got {written!r}.{comma}')
        number = Decimal(text.strip().replace(",", ""))
        if not number.is_finite():
            raise InputError(f"a value must be a finite number, got {written!r}.")
        exponent = int(number.as_tuple().exponent)
        if "decimals" in digits:
            exponent = -digits["decimals"]
        elif "places" in digits:
            exponent = number.adjusted() - digits["places"] + 1
        if number and int(number.normalize().as_tuple().exponent) < exponent:
            declared = " and ".join(f"{key} = {n}" for key, n in digits.items())
            raise InputError(f"{written!r} has more digits than {declared} says.")
        return PublishedValue(float(number), float(Decimal(10) ** exponent), bool(digits))


def _column(text: str, column: str, digits: _Digits) -> dict[str, PublishedValue]:
    """Return the values of a column of a CSV file, by the column ``name``."""
    rows = csv.DictReader(io.StringIO(text))
    try:
        header, lines = list(rows.fieldnames or []), [(rows.line_num, row) for row in rows]
    except csv.Error as error:
        raise InputError(f"the file is no CSV ({error}). Mend it.") from error
    if lacking := [needed for needed in ("name", column) if needed not in header]:
        raise InputError(f"the table has no column {examples(lacking)}; it has {examples(header, 12)}.")
    values: dict[str, PublishedValue] = {}
    for line, row in lines:
        with located(f"line {line}"):
            beyond: Any = row.pop(None, [])
            if not row["name"] or row[column] is None or beyond:
                raise InputError(
                    f"a row needs a name, a value of {column!r}, and no cell beyond the {len(header)} columns of the "
                    f"header, got {[*row.values(), *beyond]!r}. Numbers have a decimal point, not a comma."
                )
            if row["name"] in values:
                raise InputError(f"{row['name']!r} stands there twice.")
            with located(f"column {column!r}"):
                values[row["name"]] = _value(row["name"], row[column], digits)
    if not values:
        raise InputError("the table has a header and no values.")
    return values
