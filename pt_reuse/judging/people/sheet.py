"""Sheet: CSV as spreadsheets read and write it: no cell is taken for a formula, and what they do to ids is told."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse._saving import CsvReader
from pt_reuse.judging.annotators.labels import SEPARATORS


def drawn(seed: int, *names: str) -> str:
    """Return a random text for some names; to sort by it is to shuffle.

    Whoever sorts by what is drawn for each thing gets an order that tells nothing of the one in which they came.
    """
    # a length before each name, so that no two lists of names are one text
    parts = [f"{len(name)}:{name}" for name in (str(seed), *names)]
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


#: what a spreadsheet may take for the beginning of a formula, as letters of full width, too
_FORMULA = "=+-@＝＋－＠"
#: what keeps a cell a text
_GUARD = "'"
#: characters that a cell holds in the spreadsheets in use; a longer one is cut, or spills into the next
LONGEST_CELL = 32_767
#: digits of a number that a spreadsheet keeps, and digits of one that it shows without an exponent
_KEPT, _SHOWN = 15, 11
#: the largest exponent of a number of a spreadsheet
_LARGEST = 308
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*"
_BETWEEN = r"[-/. ]+"
#: what may be taken for a date, and what a date is written as
_DATE = re.compile(
    rf"\d{{1,4}}{_BETWEEN}\d{{1,2}}({_BETWEEN}\d{{1,4}})?|{_MONTH}[-/. ]*\d+|\d+[-/. ]*{_MONTH}({_BETWEEN}\d+)?",
    re.IGNORECASE,
)


def guarded(cell: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula; :func:`restored` gives it back.

    Source: the first characters are those of OWASP's "CSV Injection".
    """
    begins = cell.lstrip()[:1]
    needs = cell[:1] in ("\t", "\r", "\n", _GUARD) or (begins and begins in _FORMULA)
    return _GUARD + cell if cell and needs else cell


def restored(cell: str) -> str:
    """Return the text of a cell that was guarded."""
    return cell.removeprefix(_GUARD)


def sheet_text(text: str) -> str:
    """Return a text as a cell can hold it: cut where it is too long, without what no file can hold."""
    text = storable(text)
    if len(text) < LONGEST_CELL:
        return text
    kept = LONGEST_CELL - 60
    return f"{text[:kept]} [cut here: {len(text) - kept:,} more characters]"


def storable(text: str) -> str:
    """Return a text with a mark for what databases, JSON and XML cannot hold: NUL, control characters, stray bytes."""
    text = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def write_sheet(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows of texts as CSV; it begins with the mark by which spreadsheets know UTF-8."""
    held = io.StringIO(newline="")
    writer = csv.writer(held)
    writer.writerow(header)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return held.getvalue().encode("utf-8-sig")


def read_sheet(data: bytes, needed: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the line and the cells of each row of a CSV file, as whatever program saved it; empty rows are left out.

    UTF-8 and UTF-16 are known by their marks, else a file that is no UTF-8 is taken for one of Western Europe. Commas,
    semicolons and tabs are known by the header.
    """
    text = _decoded(data).replace("\0", "")
    # what a spreadsheet writes above the header to say how cells are separated
    said = re.match(r"sep=.(\r\n|\n|\r)", text)
    line = 1 if said else 0
    text = text[said.end() :] if said else text
    return list(_rows(text, *_header(text, needed), line))


def _rows(text: str, header: list[str], separator: str, above: int) -> Iterator[tuple[int, dict[str, str]]]:
    reader = CsvReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line, is_header = above, True
    try:
        for row in reader:
            at, line = line + 1, reader.line_num + above
            if not any(cell.strip() for cell in row):
                continue
            if is_header:
                is_header = False
                continue
            if any(cell.strip() for cell in row[len(header) :]):
                raise InputError(
                    f"{len(row)} cells under a header of {len(header)}. Save the sheet as CSV once more, with quotes "
                    "around texts.",
                    place=f"line {at:,}",
                )
            # programs leave out empty cells at the end
            yield at, dict(zip(header, [*row, *[""] * len(header)], strict=False))
    except csv.Error as error:
        raise InputError(
            f"no CSV from here on ({error}). Save the sheet as CSV once more.", place=f"line {line + 1:,}"
        ) from error


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _header(text: str, needed: Sequence[str]) -> tuple[list[str], str]:
    for separator in SEPARATORS:
        reader = CsvReader(io.StringIO(text, newline=""), delimiter=separator)
        try:
            found = next((row for row in reader if any(cell.strip() for cell in row)), [])
        except csv.Error:
            continue
        names = [cell.strip() for cell in found]
        if set(needed) <= set(names):
            twice = [name for name in needed if names.count(name) > 1]
            if twice:
                raise InputError(
                    f"the header has {examples(twice)} more than once. Keep one column of each.", place="line 1"
                )
            return names, separator
    raise InputError(
        f"no header with {examples(needed, len(needed))}. Keep the first line as it was written.", place="line 1"
    )


def changed_by_sheet(cell: str, was: str) -> bool:
    """Return whether a cell is what a spreadsheet can make of an id: a number, a date, capitals, marks for letters."""
    cell, was = cell.strip().removeprefix(_GUARD), was.strip()
    if cell.casefold() == was.casefold():
        return True
    number, old = _number(cell), _number(was)
    if number is not None and old is not None:
        return number == old or _rounded(cell, number, was, old)
    if _DATE.fullmatch(was) and (_DATE.fullmatch(cell) or number is not None):
        return True
    if len(cell) != len(was) or cell.isascii() == was.isascii():
        return False
    return all(
        a == b or (a in "?\N{REPLACEMENT CHARACTER}" and not b.isascii()) for a, b in zip(cell, was, strict=True)
    )


def _rounded(cell: str, number: Decimal, was: str, old: Decimal) -> bool:
    """Return whether a number is what a spreadsheet keeps of a long one, or shows of it: 1.23457E+15."""
    if not was.isdecimal() or len(was) <= _SHOWN:
        return False
    if "e" in cell.casefold():
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int) or abs(number.adjusted()) > _LARGEST:
            # no number of a spreadsheet, nor one that can be computed with
            return False
        return abs(number - old) * 2 <= Decimal(10) ** exponent
    return len(was) > _KEPT and cell == was[:_KEPT] + "0" * (len(was) - _KEPT)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.replace(",", ".") if text.count(",") == 1 else text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
