"""Published figures: a table of values with their digits, and how far from a value a computed number may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import numpy as np

from pt_reuse._check import shown
from pt_reuse._files import user_path
from pt_reuse.data.csv_files import read_csv
from pt_reuse.errors import InputError, located
from pt_reuse.result import records

#: a group of thousands follows digits that do not begin with 0, so ``0,401`` is none
_NUMBER = re.compile(r"(?=\D*\d)[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)?(\.\d*)?")
_COLUMNS = ("collection", "what", "kind", "arguments", "name", "value", "source")
#: the package's own figures
FIGURES = Path(str(files("pt_reuse.verification") / "data")) / "figures.csv"


@dataclass(frozen=True)
class PublishedValue:
    """A published number; one step of its last digit is worth `unit`."""

    number: float
    unit: float

    @classmethod
    def of(cls, text: str) -> PublishedValue:
        """Return a value by its digits as they are written."""
        if not _NUMBER.fullmatch(text):
            raise InputError(f"a value must be a number with all its digits, such as 0.1230 or 1,130, got {text!r}.")
        number = Decimal(text.replace(",", ""))
        return cls(float(number), float(Decimal(10) ** int(number.as_tuple().exponent)))

    def agrees(self, computed: float) -> bool:
        """Return whether a computed number is published as this one, either way of rounding."""
        slack = self.unit * 1e-5 + 4 * float(np.spacing(abs(self.number)))
        return bool(abs(computed - self.number) <= self.unit / 2 + slack)


@dataclass(frozen=True)
class PublishedFigure:
    """Published values of one kind, from one source, by the name of a run, a team or a statistic."""

    what: str
    kind: str
    source: str
    arguments: Mapping[str, list[str]]  # the texts to try for each
    place: str
    values: dict[str, PublishedValue]
    known: dict[str, tuple[PublishedValue, str]]  # what is computed in place of a value, and why


def read_published(path: str | Path = FIGURES) -> dict[str, list[PublishedFigure]]:
    """Read a table of published figures; return those of each collection.

    A row that says ``what`` begins a figure, and those below have its further values. A collection holds for the rows
    below. A row without a name has a file beside the table and one of its columns, ``FILE.csv: COLUMN``.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"figures must be the path of a CSV file, got {shown(path)}.", argument="figures")
    path, found, collection = user_path(path), dict[str, list[PublishedFigure]](), ""
    with located(str(path)):
        table = read_csv(path, "figures", utf8=True)
        table.need(_COLUMNS, "figures")
        for at, row in enumerate(records(table.frame)):
            with located(table.place(at)):
                cells = {"computed": "", "differs": ""} | {name: cell.strip() for name, cell in row.items()}
                collection = cells["collection"] or collection
                figures = found.setdefault(collection, [])
                if cells["what"]:
                    figures.append(_figure(cells, f"{path}, {table.place(at)}"))
                    if not collection or cells["what"] in [each.what for each in figures[:-1]]:
                        raise InputError("a figure needs a collection, and a name (`what`) of its own in it.")
                if not figures:
                    raise InputError("the first row of a collection must say `what` the figure is.")
                _add(figures[-1], cells, path.parent)
    return found


def _figure(cells: Mapping[str, str], place: str) -> PublishedFigure:
    if not cells["kind"] or not cells["source"]:
        raise InputError("a figure needs its `kind` and its `source`.")
    arguments = dict[str, list[str]]()
    for part in filter(None, cells["arguments"].split(";")):
        name, equals, texts = (text.strip() for text in part.partition("="))
        if not equals or name in arguments:
            raise InputError(f"arguments must be such as 'depth=10; order=file|rank', got {cells['arguments']!r}.")
        arguments[name] = [text.strip() for text in texts.split("|")]
    return PublishedFigure(cells["what"], cells["kind"], cells["source"], arguments, place, {}, {})


def _add(figure: PublishedFigure, cells: Mapping[str, str], folder: Path) -> None:
    name, value = cells["name"], cells["value"]
    added = {name: PublishedValue.of(value)} if name else _from_file(folder, *value.partition(": ")[::2])
    if not added.keys().isdisjoint(figure.values):
        raise InputError(f"the figure has a value of {name!r} already.")
    figure.values.update(added)
    if cells["computed"] or cells["differs"]:
        known = PublishedValue.of(cells["computed"])
        if not name or not cells["differs"] or added[name].agrees(known.number):
            raise InputError("a known difference needs another number as `computed`, and why it `differs`.")
        figure.known[name] = known, cells["differs"]


def _from_file(folder: Path, file: str, column: str) -> dict[str, PublishedValue]:
    if not file or not column or Path(file).name != file:
        raise InputError("a row needs a name and a value, or the value 'FILE.csv: COLUMN' of a file beside the table.")
    found = dict[str, PublishedValue]()
    with located(str(folder / file)):
        table = read_csv(folder / file, utf8=True)
        table.need(("name", column))
        table.check_filled("name", column)
        for at, row in enumerate(records(table.frame)):
            with located(table.place(at)):
                if row["name"] in found:
                    raise InputError(f"{row['name']!r} stands there twice.")
                found[row["name"]] = PublishedValue.of(row[column].strip())
    return found
