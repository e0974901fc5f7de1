"""Published figures of a collection: read from data files, with the digits they were published with."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pt_reuse._check import examples, told
from pt_reuse._errors import Argument, InputError, Option, located
from pt_reuse._files import open_file, user_path

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_FILE_KEYS = ("collection", "title", "figure")
_FIGURE_KEYS = (
    "what", "kind", "source", "values", "file", "column", "decimals", "places", "conventions", "differs", "computed",
)  # fmt: skip


class Rounding(Enum):
    """How a number was rounded before it was published: to the nearest, or by cutting off further digits."""

    HALF = "half"
    TRUNCATE = "truncate"


@dataclass(frozen=True)
class PublishedValue:
    """A number as it was published: it stands for all numbers that round to it.

    Attributes:
        number: the value.
        unit: what one step of its last published digit is worth.
        declared: whether `decimals` or `places` gave the unit, and not the digits that are written.
    """

    number: float
    unit: float
    declared: bool = False

    def agrees(self, computed: float, rounding: Rounding = Rounding.HALF) -> bool:
        """Return whether a computed number is published as this one.

        Rounded to the nearest, it may be off by half a unit of the last published digit, on either side: a number that
        lies between two is right however it was rounded. One part in a hundred thousand of a unit is granted to
        floating point, and four steps between doubles.
        """
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        off = computed - self.number
        if rounding is Rounding.TRUNCATE:
            # away from 0, and from 0 itself either way
            outwards = abs(off) if self.number == 0 else off * np.sign(self.number)
            return bool(-slack <= outwards <= self.unit + slack)
        return bool(abs(off) <= self.unit / 2 + slack)


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """Published values of one kind, from one source.

    Attributes:
        what: what they are, unique in the file; the group in a verification's summary.
        kind: how they are computed, one of those in :mod:`pt_reuse.verification.kinds`.
        values: name (a run, a team, a statistic) -> value.
        parameters: what the kind needs to know: measure, depth, ...
        conventions: parameters to lay over the others, one set after the other, until all values agree.
        source: where they were published, in words.
        differs: why some are known not to agree; empty where all should.
        computed: name -> what is known to be computed in place of the published value.
        place: file and figure, for errors.
    """

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
    """Return the collections of which the package has published figures.

    Example:
        >>> "trec-8/adhoc" in published_names()
        True
    """
    return [_parse_toml(path)["collection"] for path in sorted(_folder().glob("*.toml"))]


def published_figures(name: str) -> PublishedFigures:
    """Return the published figures of a collection of the package.

    Raises:
        InputError: nothing is published here for a collection of that name.
    """
    path = _folder() / f"{name.replace('/', '-')}.toml"
    known = published_names()
    if name not in known or not path.is_file():
        raise InputError(
            f"no published figures of {name!r}; there are those of {examples(known, 20)}. Give your own with ",
            Option("figures", "FILE.toml"),
            ".",
        )
    return read_published(path)


def read_published(path: str | Path) -> PublishedFigures:
    """Read a file of published figures.

    Raises:
        InputError: naming the file, the figure and what to do.
    """
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(
            Argument("figures"), f" must be the path of a TOML file, got {told(path)}.", argument="figures"
        )
    path = user_path(path)
    content = _parse_toml(path)
    with located(str(path)):
        odd = [key for key in content if key not in _FILE_KEYS]
        if odd:
            raise InputError(f"the file has {examples(odd)}, not among {examples(_FILE_KEYS)}.")
        for key in ("collection", "title"):
            if not isinstance(content.get(key), str) or not content[key]:
                raise InputError(f'the file needs {key} = "...", got {content.get(key)!r}.')
        entries = content.get("figure")
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            raise InputError("there is no figure in it. Write one or several [[figure]].")
        figures = tuple(_figure(path, number, entry) for number, entry in enumerate(entries, start=1))
        names = [figure.what for figure in figures]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"two figures are named {examples(twice)}. Give each its own `what`.")
    return PublishedFigures(content["collection"], content["title"], figures)


def _folder() -> Path:
    return Path(str(files("pt_reuse.verification") / "data"))


def _parse_toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open_file(path) as file:
            return tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}.", place=str(path)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the file cannot be read as TOML: {error}.", place=str(path)) from error


def _figure(path: Path, number: int, entry: dict[str, Any]) -> PublishedFigure:
    what = entry.get("what")
    if not isinstance(what, str) or not what:
        raise InputError(f'the figure needs what = "...", got {what!r}.', place=f"figure {number}")
    place = f"figure {what!r}"
    with located(place):
        for key, needed in (("kind", True), ("source", True), ("differs", False)):
            if not isinstance(entry.get(key, "" if not needed else None), str) or (needed and not entry[key]):
                raise InputError(f"{key} must be a text, got {entry.get(key)!r}.")
        digits = _digits(entry)
        values = _values(entry, path.parent, digits)
        return PublishedFigure(
            what=what,
            kind=entry["kind"],
            source=entry["source"],
            differs=entry.get("differs", ""),
            values=values,
            computed=_known(entry, values, digits),
            place=f"{path}, {place}",
            parameters={key: value for key, value in entry.items() if key not in _FIGURE_KEYS},
            conventions=_conventions(entry.get("conventions", [{}])),
        )


@dataclass(frozen=True)
class _Digits:
    """How many digits values have behind the point, or significant ones, where the file says so."""

    decimals: int | None
    places: int | None

    @property
    def declared(self) -> bool:
        return self.decimals is not None or self.places is not None

    def __str__(self) -> str:
        return f"decimals = {self.decimals}" if self.decimals is not None else f"places = {self.places}"


def _digits(entry: dict[str, Any]) -> _Digits:
    given = {key: entry[key] for key in ("decimals", "places") if key in entry}
    if len(given) == 2 or any(type(n) is not int or n < 0 for n in given.values()) or given.get("places") == 0:
        raise InputError(f"give decimals = 4 or places = 6 (significant digits), got {given}.")
    return _Digits(given.get("decimals"), given.get("places"))


def _values(entry: dict[str, Any], folder: Path, digits: _Digits) -> dict[str, PublishedValue]:
    if ("values" in entry) == ("file" in entry):
        raise InputError('give either values = { name = "0.1234" } or file and column.')
    if "values" in entry:
        return _table(entry["values"], "values", digits)
    file, column = entry["file"], entry.get("column")
    if not isinstance(file, str) or Path(file).name != file or not isinstance(column, str):
        raise InputError("file must be the name of a CSV beside the TOML file, with its column.")
    with located(str(folder / file)):
        return _column(folder / file, column, digits)


def _table(given: Any, what: str, digits: _Digits) -> dict[str, PublishedValue]:
    if not isinstance(given, dict) or not given:
        raise InputError(f"{what} must be a table of names and values, got {given!r}.")
    found = {}
    for name, value in given.items():
        with located(repr(name)):
            found[name] = _value(value, digits)
    return found


def _known(entry: dict[str, Any], values: Mapping[str, PublishedValue], digits: _Digits) -> dict[str, PublishedValue]:
    """Return name -> the number that is known to be computed in place of the published one."""
    if not entry.get("differs") and "computed" not in entry:
        return {}
    name = next(iter(values))
    if not entry.get("differs") or "computed" not in entry:
        raise InputError(
            f"a known difference needs both differs, why it is, and computed, the number that is known to come out in "
            f"place of the published one: computed = {{ {name} = 1_130 }}."
        )
    known = _table(entry["computed"], "computed", digits)
    for name, value in known.items():
        if name not in values:
            raise InputError(f"computed has {name!r}, which is not among the values {examples(values)}.")
        if values[name].agrees(value.number):
            raise InputError(f"{value.number:.10g} is equal to what was published: no difference.", place=repr(name))
    return known


def _conventions(given: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise InputError(f'conventions must be a list such as [{{ order = "trec_eval" }}], got {given!r}.')
    return tuple(given)


def _value(given: Any, digits: _Digits) -> PublishedValue:
    if type(given) is float and not digits.declared:
        raise InputError(f'{given!r} does not tell its digits. Write it as text, "0.1230", or give decimals.')
    text = repr(given) if type(given) in (int, float) else given
    if not isinstance(text, str):
        raise InputError(f'a value must be a number as text, such as "0.1234", got {given!r}.')
    text = text.strip()
    comma = " Write a decimal point, not a comma." if "," in text else ""
    if type(given) is not float and (not _NUMBER.fullmatch(text) or not re.search(r"\d", text)):
        raise InputError(f'a value must be a number such as "0.1234" or 86830, got {given!r}.{comma}')
    number = Decimal(text.replace(",", ""))
    if not number.is_finite():
        raise InputError(f"a value must be a finite number, got {given!r}.")
    exponent = int(number.as_tuple().exponent) if digits.decimals is None else -digits.decimals
    if digits.places is not None:
        exponent = number.adjusted() - digits.places + 1
    if number and int(number.normalize().as_tuple().exponent) < exponent:
        raise InputError(f"{given!r} has more digits than {digits} says.")
    return PublishedValue(float(number), float(Decimal(10) ** exponent), digits.declared)


def _column(path: Path, column: str, digits: _Digits) -> dict[str, PublishedValue]:
    """Return the values of a column of a CSV file, by the column ``name``."""
    try:
        with open_file(path) as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the file cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    rows = csv.DictReader(io.StringIO(text))
    try:
        header, lines = list(rows.fieldnames or []), [(rows.line_num, row) for row in rows]
    except csv.Error as error:
        raise InputError(f"the file is no CSV ({error}). Mend it.") from error
    lacking = [needed for needed in ("name", column) if needed not in header]
    if lacking:
        raise InputError(f"the table has no column {examples(lacking)}; it has {examples(header, 12)}.")
    found: dict[str, PublishedValue] = {}
    for line, row in lines:
        with located(f"line {line}"):
            over: Any = row.pop(None, [])
            if not row["name"] or row[column] is None:
                raise InputError(f"a row needs a name and a value of {column!r}, got {list(row.values())!r}.")
            if over:
                raise InputError(
                    f"the row has {examples(over)} beyond the {len(header)} columns of the header. Numbers have a "
                    f"decimal point, not a comma."
                )
            if row["name"] in found:
                raise InputError(f"{row['name']!r} stands there twice.")
            with located(f"{row['name']!r}, column {column!r}"):
                found[row["name"]] = _value(row[column], digits)
    if not found:
        raise InputError("the table has a header and no values.")
    return found
