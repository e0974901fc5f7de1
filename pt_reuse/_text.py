"""Text of a given width, and the same as HTML: tables that never run over it, wrapped prose, numbers with intervals."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, zip_longest
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
#: a number that is longer than this as it is formatted has an exponent
_LONG_NUMBER = 18
#: a number with its interval, or an interval alone
_WITH_ENDS = re.compile(r"[-+<]?[\d,.]+%?( \(\S+ to \S+\)| to \S+)?")


# characters


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for wide characters, none for combining ones."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def visible(text: str) -> str:
    r"""Return a text with characters that move the cursor, turn the line or cannot be printed as escapes, ``\x1b``."""
    shown = []
    for letter in text:
        odd = unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(letter) in _TURNING
        shown.append(letter.encode("unicode_escape").decode("ascii") if odd else letter)
    return "".join(shown)


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` columns: a name without its middle, whose end tells it apart, prose its end."""
    if display_width(text) <= width:
        return text
    room = width - len(_DOTS)
    tail = 0 if " " in text else room // 3
    return _start(text, room - tail) + _DOTS + _start(text[::-1], tail)[::-1]


def _start(text: str, width: int) -> str:
    taken = 0
    for at, character in enumerate(text):
        taken += _width(character)
        if taken > width:
            return text[:at]
    return text


def _in_lines(text: str, width: int, breaks: re.Pattern[str] = _SPACES) -> list[str]:
    """Return a text on lines of at most `width`, broken between its words, within them where it must be."""
    lines = [""]
    for part in breaks.split(text):
        word = part.rstrip()
        if display_width(lines[-1] + word) <= width:
            lines[-1] += part
            continue
        while display_width(word) > width:
            lines.append(_start(word, width) or word[0])
            word = word[len(lines[-1]) :]
        # what follows keeps its distance
        lines.append(word + part[len(part.rstrip()) :])
    return [line.rstrip() for line in lines if line.strip()] or [""]


def prose(text: str, *, width: int) -> str:
    """Return a text wrapped at its spaces; its lines stay apart, and keep their indent, as items of a list do."""
    width, found = max(width, NARROWEST), []
    for line in map(str.rstrip, map(visible, text.expandtabs(4).split("\n"))):
        if display_width(line) <= width:
            found.append(line)
            continue
        lead = re.sub(r"^( *(?:- )?).*", r"\1", line)[: width // 2]
        first, *rest = _in_lines(" ".join(line[len(lead) :].split()), width - len(lead))
        found += [lead + first, *(" " * len(lead) + each for each in rest)]
    return "\n".join(found)


class Printed:
    """An object whose repr is one line: ``print`` wraps it, and so does IPython where a name is typed in a terminal."""

    def __init_subclass__(cls, **arguments: Any):
        super().__init_subclass__(**arguments)
        # IPython takes the repr of a class before what a class above it has
        setattr(cls, "_repr_pretty_", Printed._repr_pretty_)  # noqa: B010

    def __str__(self) -> str:
        return prose(repr(self), width=WIDTH)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


# numbers


def is_missing(value: Any) -> bool:
    """Return whether a value is none: None, NaN, NA or NaT."""
    import pandas as pd

    return pd.isna(value) is True


def written(value: float, form: str) -> str:
    """Return a number in a format of Python's, without a sign where it rounds to 0.

    Example:
        >>> written(0.25, "+.2f"), written(-0.0001, "+.2f")
        ('+0.25', '0.00')
    """
    text = format(value, form)
    return text.lstrip("+-") if not text.strip("+-0.,%") else text


def ends(row: Mapping[Any, Any], name: str, form: str | Callable[[Any], str]) -> str:
    """Return the interval of a number, ``0.9124 to 0.9871``; nothing where it has none, or one without width."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is None or high is None or is_missing(low) or is_missing(high) or low == high:
        return ""
    return " to ".join(form(end) if callable(form) else written(end, form) for end in (low, high))


def with_ends(row: Mapping[Any, Any], name: str, form: str | Callable[[Any], str]) -> str:
    """Return a number with its interval behind it where it has one; see :func:`ends`. A missing one is undefined.

    Example:
        >>> with_ends({"tau_b": 0.95, "tau_b_low": 0.9124, "tau_b_high": 0.9871}, "tau_b", ".4f")
        '0.9500 (0.9124 to 0.9871)'
    """
    if is_missing(row[name]):
        return "undefined"
    value, between = row[name], ends(row, name, form)
    return (form(value) if callable(form) else written(value, form)) + (f" ({between})" if between else "")


# tables


@dataclass(frozen=True)
class TextColumn:
    """A column to be laid out."""

    heading: str  # what stands above it
    cells: tuple[str, ...]  # its texts
    right: bool = False  # align to the right, as numbers are

    @property
    def is_cut(self) -> bool:
        """Return whether its cells may be shortened: not numbers, of which a part would be another one."""
        return not self.right and not all(t == _MISSING or _WITH_ENDS.fullmatch(t) for t in self.cells)


def text_columns(frame: pd.DataFrame) -> list[TextColumn]:
    """Return the columns of a frame as texts, numbers to the right."""
    return [_column(name, frame.iloc[:, at].tolist()) for at, name in enumerate(frame.columns)]


def _column(name: Any, values: list[Any]) -> TextColumn:
    heading = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    known = [value for value in values if not is_missing(value)]
    numeric = all(isinstance(value, Real) and not isinstance(value, bool) for value in known)
    # ranks are whole, also where a missing one has made floats of them
    whole = numeric and bool(_OF_RANKS.search(heading)) and all(value % 1 == 0 for value in known)
    return TextColumn(visible(heading), tuple(_cell(value, ".0f" if whole else ".4f") for value in values), numeric)


def _cell(value: Any, form: str) -> str:
    if is_missing(value):
        return _MISSING
    # a number of numpy with a fraction is Real, one without is Integral
    if not isinstance(value, Real) or isinstance(value, Rational):
        return visible(str(value))
    text = format(value, form)
    return text if len(text) <= _LONG_NUMBER else f"{value:.4g}"


def table(
    frame: pd.DataFrame, *, width: int, most: int | None = None, what: str = "rows", spare: Sequence[str] = ()
) -> str:
    """Return a frame as a text table no line of which is wider than `width`.

    Columns of `spare` are left out, one by one, until the others stand side by side, those with one value in all rows
    first; what is left out is said.
    """
    shown = _head(frame, most)
    text = lay_out(text_columns(shown), width=width) if shown.shape[1] else ""
    # the end of an interval says nothing without the other
    alike = (name for name in spare if len(frame) > 1 and not name.endswith(BESIDE))
    same = [name for name in alike if len(set(frame[name].astype(str))) == 1]
    for column in sorted(spare, key=lambda column: column not in same):
        if _BLOCKS not in text:
            break
        shown = shown.drop(columns=column)
        text = lay_out(text_columns(shown), width=width)
    gone = [name for name in frame if name not in shown]
    of_all = text_columns(frame.head(1)[[name for name in gone if name in same]])
    others, rest = [str(name) for name in gone if name not in same], len(frame) - len(shown)
    below = [
        f"(no {what})" if not len(frame) else f"... and {rest:,} more {what}" if rest else "",
        f"(the same in all rows: {', '.join(f'{c.heading}={c.cells[0]}' for c in of_all)})" if of_all else "",
        f"(no room for: {', '.join(others)})" if others else "",
    ]
    return "\n".join([*([text] if text else []), *(prose(line, width=width) for line in below if line)])


def _head(frame: pd.DataFrame, most: int | None) -> pd.DataFrame:
    """Return the first rows; a last one stands there in place of being counted."""
    return frame if most is None or len(frame) <= most + 1 else frame.head(most)


def lay_out(columns: Sequence[TextColumn], *, width: int) -> str:
    """Return columns side by side, those that do not fit in further blocks below that repeat the first."""
    width = max(width, NARROWEST)
    words, widest = [_longest_word(column.heading) for column in columns], [_widest(c.cells) for c in columns]
    longest = min(max(widest), width)
    for most in range(longest, min(longest, _LEAST_TEXT) - 1, -1):
        # a number keeps its digits as long as there is another way
        rooms = [min(w, most) if column.is_cut else w for column, w in zip(columns, widest, strict=True)]
        narrow = list(map(max, rooms, words))
        if sum(narrow) + _GAP * (len(columns) - 1) <= width:
            first, others = _fitted(columns[0], rooms[0], fold=True), map(_fitted, columns[1:], rooms[1:])
            return _block([first, *others], narrow, width)
    most = max(_LEAST_FIRST, width // 3) if len(columns) > 1 else width
    first = _fitted(columns[0], most, fold=True)
    of_first = max(_widest(first.cells), min(words[0], most))
    room = width - of_first - _GAP
    blocks, narrow_of = [[first]], [[of_first]]
    for column, word in zip(columns[1:], words[1:], strict=True):
        column = _fitted(column, room)
        needed = max(_widest(column.cells), min(word, room))
        if sum(narrow_of[-1]) + _GAP * len(narrow_of[-1]) + needed <= width:
            blocks[-1].append(column)
            narrow_of[-1].append(needed)
        else:
            blocks.append([first, column])
            narrow_of.append([of_first, needed])
    return _BLOCKS.join(_block(block, narrow, width) for block, narrow in zip(blocks, narrow_of, strict=True))


def _fitted(column: TextColumn, width: int, *, fold: bool = False) -> TextColumn:
    """Return a column whose long texts are shortened, or folded at their spaces on several lines."""
    width = max(width, len(_DOTS) + 1)
    fold = fold and not column.right
    texts = ["\n".join(_in_lines(t, width)) if fold and " " in t.strip() else shorten(t, width) for t in column.cells]
    return replace(column, cells=tuple(texts))


def _widest(texts: Iterable[str]) -> int:
    return max((display_width(line) for text in texts for line in text.split("\n")), default=0)


def _longest_word(heading: str, breaks: re.Pattern[str] = _MORE_BREAKS) -> int:
    return max(_widest(map(str.rstrip, breaks.split(heading))), 1)


def _block(columns: Sequence[TextColumn], narrow: Sequence[int], width: int) -> str:
    """Return one block, with as few lines of headings as there is room for; no column is narrower than `narrow`."""
    room, cells = width - _GAP * (len(columns) - 1), [_widest(column.cells) for column in columns]
    for breaks in (_BREAKS, _MORE_BREAKS):
        least = [max(w, _longest_word(c.heading, breaks)) for c, w in zip(columns, cells, strict=True)]
        if sum(least) <= room:
            break
    else:
        # one word of a heading is wider than the block
        least = list(narrow)
    tried = (
        [_width_for(c.heading, w, lines, breaks) for c, w in zip(columns, least, strict=True)] for lines in count(1)
    )
    widths = next(widths for widths in tried if sum(widths) <= room or widths == least)
    # as many headings as there is room for stand on one line
    missing = [max(display_width(c.heading) - w, 0) for c, w in zip(columns, widths, strict=True)]
    for n in sorted(range(len(columns)), key=missing.__getitem__):
        widths[n] += missing[n] if missing[n] <= room - sum(widths) else 0
    heads = [_in_lines(c.heading, w, breaks) for c, w in zip(columns, widths, strict=True)]
    height = max(map(len, heads))
    rows = [*zip(*([""] * (height - len(head)) + head for head in heads), strict=True)]
    for row in zip(*(column.cells for column in columns), strict=True):
        rows += zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    lines = []
    for row in rows:
        spaces = [" " * (w - display_width(cell)) for cell, w in zip(row, widths, strict=True)]
        padded = (s + cell if c.right else cell + s for cell, s, c in zip(row, spaces, columns, strict=True))
        lines.append((" " * _GAP).join(padded).rstrip())
    return "\n".join(lines)


def _width_for(heading: str, least: int, lines: int, breaks: re.Pattern[str]) -> int:
    """Return the least width at which a heading takes no more than so many lines."""
    widest = max(display_width(heading), least)
    return next((w for w in range(least, widest) if len(_in_lines(heading, w, breaks)) <= lines), widest)


# HTML for notebooks: tables that scroll inside their cell, settings that fold away, every name escaped

#: a cell up to this length stays on one line, as the table scrolls; a longer one has room for a few words
_SHORT, _ONE_LINE, _SEVERAL = 60, "white-space:nowrap", "min-width:24em"


def html_text(text: Any) -> str:
    """Return a text for HTML."""
    return html.escape(visible(str(text)))


def html_headline(title: str, *lines: str) -> str:
    """Return a title in bold, and lines below it."""
    below = "".join(f"<br>{html_text(line)}" for line in lines)
    return f'<p style="overflow-wrap:anywhere"><b>{html_text(title)}</b>{below}</p>'


def html_lines(texts: Iterable[str]) -> str:
    """Return lines below a table."""
    return "".join(f"<p><small>{html_text(text)}</small></p>" for text in texts)


def html_folded(settings: Mapping[str, Any]) -> str:
    """Return settings as a list that shows when one asks for it; nothing where there are none."""
    facts = html_facts(settings.items())
    return f"<details><summary>settings</summary>{facts}</details>" if settings else ""


def html_facts(facts: Iterable[tuple[str, Any]]) -> str:
    """Return facts as a table of two columns."""
    side = 'style="text-align:left"'
    rows = (f"<tr><th {side}>{html_text(name)}</th><td {side}>{html_text(value)}</td></tr>" for name, value in facts)
    return _scrolling("".join(rows))


def html_table(frame: pd.DataFrame, *, most: int | None = None, what: str = "rows") -> str:
    """Return a frame as a table that scrolls sideways, in the words of :func:`table`."""
    shown = _head(frame, most)
    rest = len(frame) - len(shown)
    more = f"... and {rest:,} more {what}" if rest else f"(no {what})" if not len(frame) else ""
    return html_columns(text_columns(shown)) + (f"<p>{html.escape(more)}</p>" if more else "")


def html_columns(columns: Sequence[TextColumn]) -> str:
    """Return columns as a table that scrolls sideways."""
    sides = [f"text-align:{'right' if column.right else 'left'}" for column in columns]
    headings = [html.escape(column.heading) for column in columns]
    head = "".join(f'<th style="{side}">{text}</th>' for text, side in zip(headings, sides, strict=True))
    body = ""
    for row in zip(*(column.cells for column in columns), strict=True):
        wide = (_ONE_LINE if len(cell) <= _SHORT else _SEVERAL for cell in row)
        cells = (f'<td style="{s};{w}">{html.escape(cell)}</td>' for cell, s, w in zip(row, sides, wide, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    return _scrolling(f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>")


def _scrolling(rows: str) -> str:
    return f'<div style="overflow-x:auto;max-width:100%"><table>{rows}</table></div>'
