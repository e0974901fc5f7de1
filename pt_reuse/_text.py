"""Text of a given width: tables that never run over it, prose that is wrapped, numbers with their intervals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from numbers import Rational, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


#: what a result or a noun prints is no wider than this, in columns
WIDTH = 80
#: how columns end that are beside a number
BESIDE = ("_low", "_high", "_sd", "_min", "_max")
#: the narrowest text that is laid out; less is taken for this
NARROWEST = 20
#: what stands between the blocks of a table whose columns do not stand side by side
_BLOCKS = "\n\n"
_GAP, _DOTS, _MISSING = 2, "...", "-"
#: a text of a cell is not cut below this, as long as columns can go to a further block instead
_LEAST_TEXT = 24
#: the first column takes so much of a block at most, or a third of it, that others have room beside it
_LEAST_FIRST = 8
_SPACES = re.compile(r"(?<=\s)")
#: a heading breaks after these, and, where this is not enough, after those
_BREAKS, _MORE_BREAKS = re.compile(r"(?<=[\s_])"), re.compile(r"(?<=[\s_/,(@=-])")
#: the heading of a column of ranks, or of differences of ranks
_OF_RANKS = re.compile(r"(?<![A-Za-z])(rank|drop|rise|fall)s?(?![A-Za-z])", re.IGNORECASE)
#: the classes of characters that turn the direction of what follows, the rest of the line among it
_TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
#: how a number is written that has no room, the first that fits
_SHORT_NUMBERS = ("{:.6g}", "{:.3g}", "{:.1g}")


@dataclass(frozen=True)
class TextColumn:
    """A column to be laid out."""

    heading: str  # what stands above it
    cells: tuple[str, ...]  # its texts
    right: bool = False  # align to the right, as numbers are
    numbers: tuple[float | None, ...] = ()  # the number behind each cell, None where there is none

    def within(self, width: int) -> list[str]:
        """Return the cells, those that are wider than `width` shortened."""
        numbers = self.numbers or (None,) * len(self.cells)
        return [_fitted(cell, number, width) for cell, number in zip(self.cells, numbers, strict=True)]


def table(
    frame: pd.DataFrame,
    *,
    width: int,
    numbers: str = "{:.4f}",
    most: int | None = None,
    what: str = "rows",
    spare: Sequence[str] = (),
) -> str:
    """Return a frame as a text table no line of which is wider than `width`.

    Columns of `spare` are left out, one by one, until the others stand side by side, those with one value in all rows
    first; what is left out is said.
    """
    shown = frame if most is None else frame.head(most)
    text = lay_out(text_columns(shown, numbers), width=width) if shown.shape[1] else ""
    of_all = [column for column in spare if _BLOCKS in text and _is_same(frame, column)]
    for column in sorted(spare, key=lambda column: column not in of_all):
        if _BLOCKS not in text:
            break
        shown = shown.drop(columns=column)
        text = lay_out(text_columns(shown, numbers), width=width)
    lines = [text] if text else []
    if not len(frame):
        lines.append(prose(f"(no {what})", width=width))
    elif len(shown) < len(frame):
        lines.append(prose(f"... and {len(frame) - len(shown):,} more {what}", width=width))
    gone = [name for name in frame if name not in shown]
    same = text_columns(frame.head(1)[[name for name in gone if name in of_all]], numbers)
    if same:
        said = ", ".join(f"{column.heading}={column.cells[0]}" for column in same)
        lines.append(prose(f"(the same in all rows: {said})", width=width))
    others = [str(name) for name in gone if name not in of_all]
    if others:
        lines.append(prose(f"(no room for: {', '.join(others)})", width=width))
    return "\n".join(lines)


def _is_same(frame: pd.DataFrame, column: str) -> bool:
    """Return whether a column says one thing of several rows; the end of an interval says none without the other."""
    return len(frame) > 1 and not column.endswith(BESIDE) and len(set(frame[column].astype(str))) == 1


def text_columns(frame: pd.DataFrame, numbers: str = "{:.4f}") -> list[TextColumn]:
    """Return the columns of a frame as texts, numbers to the right."""
    series = [frame.iloc[:, at] for at in range(frame.shape[1])]
    return [
        _column(name, each.tolist(), _is_numeric(each), numbers)
        for name, each in zip(frame.columns, series, strict=True)
    ]


def lay_out(columns: Sequence[TextColumn], *, width: int) -> str:
    """Return columns side by side, those that do not fit in further blocks below that repeat the first."""
    width = max(width, NARROWEST)
    widest, words = (
        [_widest(column.cells) for column in columns],
        [_longest_word(column.heading, _MORE_BREAKS) for column in columns],
    )
    longest = min(max(widest), width)
    for most in range(longest, min(longest, _LEAST_TEXT) - 1, -1):
        # a number keeps its digits as long as there is another way
        cells = [w if column.right else min(w, most) for column, w in zip(columns, widest, strict=True)]
        widths = [max(pair) for pair in zip(cells, words, strict=True)]
        if _total(widths) <= width:
            fitted = [_folded(columns[0], cells[0]), *map(_cut, columns[1:], cells[1:])]
            return _block(fitted, widths, width)
    others = columns[1:]
    most = max(_LEAST_FIRST, width // 3) if others else width
    first = _folded(columns[0], most)
    of_first = max(_widest(first.cells), min(words[0], most))
    room = width - of_first - _GAP
    blocks, narrow = [[first]], [[of_first]]
    for column, word in zip((_cut(other, room) for other in others), words[1:], strict=True):
        w = max(_widest(column.cells), min(word, room))
        if _total([*narrow[-1], w]) <= width:
            blocks[-1].append(column)
            narrow[-1].append(w)
        else:
            blocks.append([first, column])
            narrow.append([of_first, w])
    return _BLOCKS.join(_block(block, least, width) for block, least in zip(blocks, narrow, strict=True))


def prose(text: str, *, width: int) -> str:
    """Return a text wrapped at its spaces; its lines stay apart, and keep their indent, as items of a list do."""
    width = max(width, NARROWEST)
    return "\n".join(wrapped for line in text.expandtabs(4).split("\n") for wrapped in _wrapped(visible(line), width))


class Printed:
    """An object whose repr is one line: ``print`` wraps it, and so does IPython where a name is typed in a terminal."""

    def __init_subclass__(cls, **arguments: Any):
        super().__init_subclass__(**arguments)
        # IPython takes the repr of a class before what a class above it has
        cls._repr_pretty_ = Printed._repr_pretty_  # type: ignore[method-assign]

    def __str__(self) -> str:
        return prose(repr(self), width=WIDTH)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for wide characters, none for combining ones."""
    return sum(map(_width_of_character, text))


def visible(text: str) -> str:
    r"""Return a text with characters that move the cursor, turn the line or cannot be printed as escapes, ``\x1b``."""
    return "".join(_escaped(c) if _is_unprintable(c) else c for c in text)


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` columns: a name without its middle, whose end tells it apart, prose its end."""
    if display_width(text) <= width:
        return text
    room = width - len(_DOTS)
    tail = 0 if " " in text else room // 3
    return _start(text, room - tail) + _DOTS + _end(text, tail)


def _is_numeric(values: pd.Series) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _column(name: Any, values: list[Any], numeric: bool, written: str) -> TextColumn:
    heading = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    found = [_number(value) for value in values]
    known = [number for number, value in zip(found, values, strict=True) if not is_missing(value)]
    numeric = numeric or (bool(known) and None not in known)
    # ranks are whole, also where a missing one has made floats of them
    if _OF_RANKS.search(heading) and all(number is not None and number % 1 == 0 for number in known):
        written = "{:.0f}"
    cells = tuple(
        _MISSING if is_missing(value) else written.format(value) if _is_float(value) else visible(str(value))
        for value in values
    )
    return TextColumn(visible(heading), cells, right=numeric, numbers=tuple(found))


def _number(value: Any) -> float | None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return value if is_number and not is_missing(value) else None


def _is_float(value: Any) -> bool:
    # a number of numpy with a fraction is Real, one without is Integral
    return isinstance(value, Real) and not isinstance(value, Rational)


def is_missing(value: Any) -> bool:
    """Return whether a value is none: None, NaN, NA or NaT."""
    import pandas as pd

    return value is None or (_is_float(value) and value != value) or value is pd.NA or value is pd.NaT


def _fitted(cell: str, number: float | None, width: int) -> str:
    if display_width(cell) <= width:
        return cell
    for written in _SHORT_NUMBERS if number is not None else ():
        try:
            text = written.format(number)
        except OverflowError:
            break
        if len(text) <= width:
            return text
    return shorten(cell, width)


def _cut(column: TextColumn, width: int) -> TextColumn:
    return replace(column, cells=tuple(column.within(max(width, len(_DOTS) + 1))))


def _folded(column: TextColumn, width: int) -> TextColumn:
    """Return a column whose long texts take several lines, at their spaces; one without a space is shortened."""
    cut = _cut(column, width)
    if column.right:
        return cut
    cells = [
        "\n".join(_heading(text, max(width, 1), _SPACES)) if " " in text.strip() and text != short else short
        for text, short in zip(column.cells, cut.cells, strict=True)
    ]
    return replace(column, cells=tuple(cells))


def _widest(texts: Iterable[str]) -> int:
    return max((display_width(line) for text in texts for line in text.split("\n")), default=0)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _longest_word(heading: str, breaks: re.Pattern[str]) -> int:
    return max(_widest(part.rstrip() for part in breaks.split(heading)), 1)


def _heading(text: str, width: int, breaks: re.Pattern[str] = _MORE_BREAKS) -> list[str]:
    """Return a heading on lines of at most `width`, broken between its words, within them where it must be."""
    lines = [""]
    for part in breaks.split(text):
        if display_width(lines[-1] + part.rstrip()) <= width:
            lines[-1] += part
        else:
            word = part.rstrip()
            *begun, rest = [word] if display_width(word) <= width else _broken(word, width)
            # what follows keeps its distance
            lines += [*begun, rest + part[len(word) :]]
    return [line.rstrip() for line in lines if line.strip()] or [""]


def _block(columns: Sequence[TextColumn], narrow: Sequence[int], width: int) -> str:
    """Return one block, with as few lines of headings as there is room for."""
    headings, cells = [column.heading for column in columns], [_widest(column.cells) for column in columns]
    chosen, broken = list(narrow), _MORE_BREAKS
    for breaks in (_BREAKS, _MORE_BREAKS):
        least = [max(w, _longest_word(heading, breaks)) for heading, w in zip(headings, cells, strict=True)]
        height = max(len(_heading(heading, w, breaks)) for heading, w in zip(headings, least, strict=True))
        tried = (
            [_width_for(heading, w, lines, breaks) for heading, w in zip(headings, least, strict=True)]
            for lines in range(1, height + 1)
        )
        found = next((widths for widths in tried if _total(widths) <= width), None)
        if found is not None:
            chosen, broken = found, breaks
            break
    widths = _widened(headings, chosen, width)
    heads = [_heading(heading, w, broken) for heading, w in zip(headings, widths, strict=True)]
    height = max(map(len, heads))
    rows = [*zip(*([""] * (height - len(head)) + head for head in heads), strict=True)]
    for cells_of_row in zip(*(column.cells for column in columns), strict=True):
        rows += zip_longest(*(cell.split("\n") for cell in cells_of_row), fillvalue="")
    gap = " " * _GAP
    return "\n".join(
        gap.join(_padded(cell, w, column.right) for cell, w, column in zip(row, widths, columns, strict=True)).rstrip()
        for row in rows
    )


def _width_for(heading: str, narrow: int, lines: int, breaks: re.Pattern[str]) -> int:
    """Return the least width, from `narrow` on, at which the heading takes no more than so many lines."""
    widest = max(display_width(heading), narrow)
    return next((w for w in range(narrow, widest) if len(_heading(heading, w, breaks)) <= lines), widest)


def _widened(headings: Sequence[str], widths: Sequence[int], width: int) -> list[int]:
    """Return widths with which as many headings as there is room for stand on one line."""
    widths, spare = list(widths), width - _total(widths)
    missing = [max(display_width(heading) - w, 0) for heading, w in zip(headings, widths, strict=True)]
    for at in sorted(range(len(widths)), key=missing.__getitem__):
        if missing[at] <= spare:
            widths[at], spare = widths[at] + missing[at], spare - missing[at]
    return widths


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - display_width(text))
    return space + text if right else text + space


def _wrapped(line: str, width: int) -> list[str]:
    line = line.rstrip()
    if display_width(line) <= width:
        return [line]
    lead = re.match(r" *(?:- )?", line)
    indent = " " * min(len(lead.group()) if lead else 0, width // 2)
    lines, empty = [line[: len(indent)]], True
    for word in line[len(indent) :].split():
        for part in _broken(word, width - len(indent)):
            longer = lines[-1] + ("" if empty else " ") + part
            if display_width(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(indent + part)
            empty = False
    return lines


def _broken(text: str, width: int) -> list[str]:
    parts = []
    while display_width(text) > width:
        parts.append(_start(text, width) or text[0])
        text = text[len(parts[-1]) :]
    return [*parts, text] if text or not parts else parts


def _start(text: str, width: int) -> str:
    taken = 0
    for at, character in enumerate(text):
        taken += _width_of_character(character)
        if taken > width:
            return text[:at]
    return text


def _end(text: str, width: int) -> str:
    taken = 0
    for at in range(len(text) - 1, -1, -1):
        taken += _width_of_character(text[at])
        if taken > width:
            # what combines with a character that was cut off goes with it
            rest = text[at + 1 :]
            return rest.lstrip("".join(c for c in rest if not _width_of_character(c)))
    return text


def _width_of_character(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _is_unprintable(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or (
        unicodedata.bidirectional(character) in _TURNING
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def written(value: float, form: str) -> str:
    """Return a number in a format of Python's, without a sign where it rounds to 0.

    Example:
        >>> written(0.25, "+.2f"), written(-0.0001, "+.2f")
        ('+0.25', '0.00')
    """
    text = format(value, form)
    return text.lstrip("+-") if not text.strip("+-0.,%") else text


def ends(row: Mapping[Any, Any], name: str, form: str, *, factor: float = 1) -> str:
    """Return the interval of a number, ``0.9124 to 0.9871``; nothing where it has none."""
    low, high = (row.get(f"{name}_{end}") for end in ("low", "high"))
    if low is None or high is None or is_missing(low) or is_missing(high) or low == high:
        return ""
    return f"{written(factor * low, form)} to {written(factor * high, form)}"


def with_ends(row: Mapping[Any, Any], name: str, form: str, *, factor: float = 1) -> str:
    """Return a number with its interval behind it where it has one; see :func:`ends`. A missing one is undefined.

    Example:
        >>> with_ends({"tau_b": 0.95, "tau_b_low": 0.9124, "tau_b_high": 0.9871}, "tau_b", ".4f")
        '0.9500 (0.9124 to 0.9871)'
        >>> with_ends({"tau_b": 0.95}, "tau_b", ".4f")
        '0.9500'
    """
    if is_missing(row[name]):
        return "undefined"
    between = ends(row, name, form, factor=factor)
    return written(factor * row[name], form) + (f" ({between})" if between else "")
