"""Published figures of a collection: read from data files, with the digits they were published with."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pt_reuse._check import examples
from pt_reuse._errors import InputError

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_FILE_KEYS = ("collection", "title", "figure")
_FIGURE_KEYS = (
    "what", "kind", "source", "values", "file", "column", "decimals", "places", "conventions", "differs", "computed",
)  # fmt: skip


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

    def agrees(self, computed: float, rounding: str = "half") -> bool:
        """Return whether a computed number is published as this one.

        With ``"half"`` it may be off by half a unit of the last published digit, on either side, so that a number that
        lies between two is right however it was rounded; with ``"truncate"`` the further digits were cut off. One part
        in a hundred thousand of a unit is granted to floating point, and four steps between doubles.
        """
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        off = computed - self.number
        if rounding == "truncate":
            # away from 0, and from 0 itself either way
            outwards = abs(off) if self.number == 0 else off * np.sign(self.number)
            return bool(-slack <= outwards <= self.unit + slack)
        return bool(abs(off) <= self.unit / 2 + slack)


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """Published values of one kind, from one source.

    Attributes:
        what: what they are, unique in the file; the group in a verification's summary.
        kind: how they are computed, one of those in :mod:`pt_reuse.verification.figures`.
        values: name (a run, a team, a statistic) -> value.
        parameters: what the kind needs to know: measure, depth, ...
        conventions: parameters to lay over the others, one set after the other, until all values agree.
        source: where they were published, in words.
        differs: why some are known not to agree; empty where all should.
        computed: name -> what is known to be computed in place of the published value.
        where: file and figure, for errors.
    """

    what: str
    kind: str
    values: Mapping[str, PublishedValue]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    conventions: tuple[Mapping[str, Any], ...] = ({},)
    source: str
    differs: str = ""
    computed: Mapping[str, PublishedValue] = field(default_factory=dict)
    where: str = ""


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
            f"no published figures of {name!r}; there are those of {examples(known, 20)}. Give your own with "
            f"figures='FILE.toml'."
        )
    return read_published(path)


def read_published(path: str | Path) -> PublishedFigures:
    """Read a file of published figures.

    Args:
        path: a TOML file with ``collection``, ``title`` and a ``[[figure]]`` for each group of values; a CSV that a
            figure names lies beside it.

    Raises:
        InputError: naming the file, the figure and what to do.
    """
    path = Path(path)
    content = _parse_toml(path)
    odd = [key for key in content if key not in _FILE_KEYS]
    if odd:
        raise InputError(f"{path}: {examples(odd)} not among {examples(_FILE_KEYS)}.")
    for key in ("collection", "title"):
        if not isinstance(content.get(key), str) or not content[key]:
            raise InputError(f'{path}: needs {key} = "...", got {content.get(key)!r}.')
    entries = content.get("figure")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: has no figures. Write one or several [[figure]].")
    figures = tuple(_figure(path, number, entry) for number, entry in enumerate(entries, start=1))
    names = [figure.what for figure in figures]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{path}: {examples(twice)} stands over two figures. Give each its own `what`.")
    return PublishedFigures(content["collection"], content["title"], figures)


def _folder() -> Path:
    return Path(str(files("pt_reuse.verification") / "data"))


def _parse_toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is no TOML file: {error}.") from error


def _figure(path: Path, number: int, entry: dict[str, Any]) -> PublishedFigure:
    what = entry.get("what")
    if not isinstance(what, str) or not what:
        raise InputError(f'{path}, figure {number}: needs what = "...", got {what!r}.')
    where = f"{path}, figure {what!r}"
    for key, needed in (("kind", True), ("source", True), ("differs", False)):
        if not isinstance(entry.get(key, "" if not needed else None), str) or (needed and not entry[key]):
            raise InputError(f"{where}: {key} must be a text, got {entry.get(key)!r}.")
    digits: dict[str, int] = {key: entry[key] for key in ("decimals", "places") if key in entry}
    if len(digits) == 2 or any(type(n) is not int or n < 0 for n in digits.values()) or digits.get("places") == 0:
        raise InputError(f"{where}: give decimals = 4 or places = 6 (significant digits), got {digits}.")
    if ("values" in entry) == ("file" in entry):
        raise InputError(f'{where}: give either values = {{ name = "0.1234" }} or file and column.')
    if "values" in entry:
        values = _values(entry["values"], "values", where, digits)
    else:
        column = _column(path.parent, entry, where)
        values = {name: _value(text, place, **digits) for name, (text, place) in column.items()}
    return PublishedFigure(
        what=what, kind=entry["kind"], source=entry["source"], differs=entry.get("differs", ""), where=where,
        values=values, computed=_known(entry, values, where, digits),
        parameters={key: value for key, value in entry.items() if key not in _FIGURE_KEYS},
        conventions=_conventions(entry.get("conventions", [{}]), where),
    )  # fmt: skip


def _values(given: Any, what: str, where: str, digits: dict[str, int]) -> dict[str, PublishedValue]:
    if not isinstance(given, dict) or not given:
        raise InputError(f"{where}: {what} must be a table of names and values, got {given!r}.")
    return {name: _value(value, f"{where}, {name!r}", **digits) for name, value in given.items()}


def _known(
    entry: dict[str, Any], values: Mapping[str, PublishedValue], where: str, digits: dict[str, int]
) -> dict[str, PublishedValue]:
    """Return name -> the number that is known to be computed in place of the published one."""
    if not entry.get("differs") and "computed" not in entry:
        return {}
    name = next(iter(values))
    if not entry.get("differs") or "computed" not in entry:
        raise InputError(
            f"{where}: a known difference needs both differs, why it is, and computed, the number that is known to "
            f"come out in place of the published one: computed = {{ {name} = 1_130 }}."
        )
    known = _values(entry["computed"], "computed", where, digits)
    for name, value in known.items():
        if name not in values:
            raise InputError(f"{where}: computed has {name!r}, which is not among the values {examples(values)}.")
        if values[name].agrees(value.number):
            raise InputError(f"{where}, {name!r}: {value.number:.10g} is equal to what was published: no difference.")
    return known


def _conventions(given: Any, where: str) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(given, list) or not given or not all(isinstance(item, dict) for item in given):
        raise InputError(f'{where}: conventions must be a list such as [{{ order = "trec_eval" }}], got {given!r}.')
    return tuple(given)


def _value(given: Any, where: str, decimals: int | None = None, places: int | None = None) -> PublishedValue:
    if type(given) is float and decimals is None and places is None:
        raise InputError(f'{where}: {given!r} does not tell its digits. Write it as text, "0.1230", or give decimals.')
    text = repr(given) if type(given) in (int, float) else given
    if not isinstance(text, str):
        raise InputError(f'{where}: a value must be a number as text, such as "0.1234", got {given!r}.')
    text = text.strip()
    if type(given) is not float and (not _NUMBER.fullmatch(text) or not re.search(r"\d", text)):
        raise InputError(f'{where}: a value must be a number such as "0.1234" or 86830, got {given!r}.{_comma(text)}')
    number = Decimal(text.replace(",", ""))
    if not number.is_finite():
        raise InputError(f"{where}: a value must be a finite number, got {given!r}.")
    exponent = int(number.as_tuple().exponent) if decimals is None else -decimals
    if places is not None:
        exponent = number.adjusted() - places + 1
    if number and int(number.normalize().as_tuple().exponent) < exponent:
        declared = f"decimals = {decimals}" if decimals is not None else f"places = {places}"
        raise InputError(f"{where}: {given!r} has more digits than {declared} says.")
    return PublishedValue(float(number), float(Decimal(10) ** exponent), decimals is not None or places is not None)


def _comma(text: str) -> str:
    return " Write a decimal point, not a comma." if "," in text else ""


def _column(folder: Path, entry: dict[str, Any], where: str) -> dict[str, tuple[str, str]]:
    """Return name -> (value, where it stands) of a column of a CSV file."""
    name, column = entry["file"], entry.get("column")
    if not isinstance(name, str) or Path(name).name != name or not isinstance(column, str):
        raise InputError(f"{where}: file must be the name of a CSV beside the TOML file, with its column.")
    try:
        text = (folder / name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: {folder / name} cannot be read: {error}.") from error
    rows = csv.DictReader(io.StringIO(text))
    header = list(rows.fieldnames or [])
    lacking = [needed for needed in ("name", column) if needed not in header]
    if lacking:
        raise InputError(f"{where}: {folder / name} has no column {examples(lacking)}; it has {examples(header, 12)}.")
    found: dict[str, tuple[str, str]] = {}
    for row in rows:
        place = f"{where}: {folder / name}, line {rows.line_num}"
        over: Any = row.pop(None, [])
        if not row["name"] or row[column] is None:
            raise InputError(f"{place}: needs a name and a value of {column!r}, got {list(row.values())!r}.")
        if over:
            raise InputError(
                f"{place}: {examples(over)} beyond the {len(header)} columns of the header. Numbers have a decimal "
                f"point, not a comma."
            )
        if row["name"] in found:
            raise InputError(f"{place}: {row['name']!r} stands there twice.")
        found[row["name"]] = row[column], f"{place}, {row['name']!r}, column {column!r}"
    if not found:
        raise InputError(f"{where}: {folder / name} has a header and no values.")
    return found
