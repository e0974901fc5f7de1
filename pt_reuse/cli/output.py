"""What commands print, as wide as the screen, and the files that they write."""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from pt_reuse._check import count
from pt_reuse._files import check_writable, checked_path, replacing, write_together
from pt_reuse._text import display_width, prose, table, visible
from pt_reuse.errors import located

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pt_reuse._result import Record
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet

#: rows of a long table on the screen
SHOWN = 12
#: findings on the screen
_FINDINGS = 4
#: settings that numbers depend on in most studies, and how much is shown of one
_CONVENTIONS, _SETTING = ("relevant", "depth", "contributors", "order", "pool order", "intervals", "complete"), 48
#: with which the details begin that a noun says of itself
_DETAILS = re.compile(r", [\d,]+ rows?, | \(labels ")
#: columns of a line that goes to a file or a pipe, whatever the terminal
PIPED = 100
#: a line narrower than this holds no word
_LEAST = 30
#: what begins the item of a list, or a line that is set in
_BEGINNING = re.compile(r" *(?:- )?")


def width_of(stream: TextIO) -> int:
    """Return how many columns a line may have: those of ``COLUMNS``, else of the terminal, else :data:`PIPED`."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return max(int(said), _LEAST)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        # no terminal, or a stream without a file
        return PIPED
    return max(columns, _LEAST) if columns else PIPED


def shows_bars(options: argparse.Namespace) -> bool:
    """Return whether work that lasts is to show progress bars: on a terminal, unless told to be quiet."""
    return not options.quiet and sys.stderr.isatty()


def say(text: str = "") -> None:
    """Print a text, wrapped to the screen."""
    print(wrapped(text, width_of(sys.stdout)), flush=True)


def say_beside(head: str, text: str) -> None:
    """Print a text beside a head, wrapped to the screen and set in as far as the head is long."""
    width, indent = width_of(sys.stdout), " " * len(head)
    print(head + prose(text, width=max(width - len(head), 1)).replace("\n", "\n" + indent), flush=True)


def complain(text: str) -> None:
    """Print an error or a note to standard error, wrapped to the screen, where it can be written."""
    with suppress(OSError):
        print(wrapped(text, width_of(sys.stderr)), file=sys.stderr, flush=True)


@contextmanager
def lasting_streams() -> Iterator[None]:
    """Have what is written to a standard stream that is closed, or whose reader has gone, go nowhere."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    with ExitStack() as opened:
        for name, stream in before.items():
            if stream is None:
                setattr(sys, name, opened.enter_context(open(os.devnull, "w", encoding="utf-8")))
            else:
                setattr(sys, name, Lasting(stream))
        try:
            yield
        finally:
            for name, stream in before.items():
                setattr(sys, name, stream)


class Lasting:
    """A stream whose reader may go."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, where somebody reads it."""
        with self._until_broken():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is in the buffer, where somebody reads it."""
        with self._until_broken():
            self._stream.flush()

    @contextmanager
    def _until_broken(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            # what is still in the buffer goes nowhere, either
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def held_logs() -> Iterator[list[str]]:
    """Hold back what ir_datasets logs meanwhile, such as each attempt at a download, in a list."""
    logger, held = logging.getLogger("ir_datasets"), list[str]()

    def hold(record: logging.LogRecord) -> bool:
        held.append(record.getMessage())
        return False

    logger.addFilter(hold)
    try:
        yield held
    finally:
        logger.removeFilter(hold)


def print_table(
    frame: pd.DataFrame, most: int, what: str, *, numbers: str = "{:.4f}", spare: Sequence[str] = ()
) -> None:
    """Print the first rows of a table, as wide as the screen, and how many of `what` are left out."""
    there = [column for column in spare if column in frame]
    print(table(frame, width=width_of(sys.stdout), numbers=numbers, most=most, what=what, spare=there))


def say_answer(result: Record, *, verbose: bool) -> None:
    """Print what was found: the headline and the first findings, every one where `verbose`."""
    found = result.verdict() or [f"{result.headline()}."]
    shown = found if verbose else found[:_FINDINGS]
    say("\n".join(shown))
    if len(shown) < len(found):
        say(f"({count(len(found) - len(shown), 'further finding')}: --verbose)")


def say_end(settings: Mapping[str, Any], read: Sequence[RunSet | Qrels], *, verbose: bool) -> None:
    """Print what was read, and the settings: where not `verbose`, in short, and those that numbers depend on most."""
    say()
    if verbose:
        say("\n".join(map(repr, read)))
    elif read:
        say(f"Read: {'; '.join(map(_counts, read))}.")
    if "beware" in settings:
        say(f"Note: {settings['beware']}.")
    if verbose:
        say(f"Settings: {', '.join(f'{name}={value}' for name, value in settings.items())}")
    elif settings:
        say(_in_short(settings, width_of(sys.stdout)))


def _counts(read: RunSet | Qrels) -> str:
    """Return how much was read."""
    # what stands behind, each label and each convention, is for --verbose
    return _DETAILS.split(repr(read).partition(": ")[2])[0]


def _in_short(settings: Mapping[str, Any], width: int) -> str:
    """Return as many settings as two lines have room for, the conventions that studies share first."""
    told = {name: value for name, value in settings.items() if name != "beware" and value not in (None, "none")}
    names = [*(name for name in _CONVENTIONS if name in told), *(name for name in told if name not in _CONVENTIONS)]
    more = f" ... (--verbose: all {len(settings):,})"
    line = "Settings:"
    for name in names:
        longer = f"{line} {name}={_clipped(str(told[name]))},"
        if prose(longer + more, width=width).count("\n") > 1:
            return line + more
        line = longer
    return line.rstrip(",")


def _clipped(text: str) -> str:
    """Return a setting, of a long one the first whole words."""
    if display_width(text) <= _SETTING:
        return text
    first, *words = text.split()
    for word in words:
        if display_width(f"{first} {word} ...") > _SETTING:
            return f"{first} ..."
        first += f" {word}"
    return first


def say_command(words: Sequence[str]) -> None:
    """Print a command to be typed, which goes on in the next line where it is long; its words stay whole."""
    lines, width = ["  " + words[0]], width_of(sys.stdout) - 2
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"      {word}")
    print(" \\\n".join(lines), flush=True)


def wrapped(text: str, width: int) -> str:
    """Return a text with every line wrapped, the rest of a list's item set in; a path is never broken.

    Example:
        >>> print(wrapped("- a list of many words", 20))
        - a list of many
          words
    """
    return "\n".join(_around_paths(line, width) for line in text.split("\n"))


def _around_paths(line: str, width: int) -> str:
    if not any("/" in word and display_width(word) > width for word in line.split()):
        return prose(line, width=width)
    beginning = _BEGINNING.match(line)
    indent = " " * (beginning.end() if beginning else 0)
    return textwrap.fill(visible(line), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


_DOTS = 150  # of a picture, per inch


#: draws a figure of its own
Drawing: TypeAlias = "Callable[[], Axes]"


def out_folder(options: argparse.Namespace, names: Sequence[str]) -> Path | None:
    """Return the folder of --out, None without; raise, before anything is computed, when it cannot take these files."""
    if options.out is None:
        return None
    with located("--out"):
        folder = checked_path(options.out)
        check_writable(folder, names, overwrite=options.overwrite, argument="out")
    return folder


def out_file(options: argparse.Namespace) -> Path | None:
    """Return the file of --out, None without; raise, before anything is computed, when it cannot be written."""
    if options.out is None:
        return None
    with located("--out"):
        path = checked_path(options.out)
        check_writable(path.parent, [path.name], overwrite=options.overwrite, argument="out")
    return path


def table_file(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV; bytes of names that are no UTF-8 stay what they were."""
    return frame.to_csv(index=False).encode("utf-8", "surrogateescape")


def settings_file(settings: Mapping[str, Any]) -> bytes:
    """Return under which conventions tables were made, as JSON."""
    return (json.dumps(dict(settings), indent=1, default=str) + "\n").encode()


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(table_file(frame))


def save_result(
    result: Record,
    folder: Path,
    options: argparse.Namespace,
    drawings: Mapping[str, Drawing],
    beside: Mapping[str, Callable[[], bytes]] | None = None,
) -> list[str]:
    """Write a result, its pictures and further files together, and return their names."""
    from pt_reuse._result import save_with

    files: dict[str, bytes] = {}
    try:
        for name, make in (beside or {}).items():
            files[name] = make()
        files |= draw(drawings)
    finally:
        # what was computed is not lost with a picture, or with a name that a file cannot hold
        written = save_with(result, files, folder, overwrite=options.overwrite)
    return [path.name for path in written]


def write_result(result: Record, folder: Path, options: argparse.Namespace, *files: Any) -> None:
    """Write what :func:`save_result` takes, and say so."""
    say(f"\nWritten to {folder}: {', '.join(save_result(result, folder, options, *files))}")


def write_files(files: Mapping[str, bytes], folder: Path, options: argparse.Namespace, earlier: Sequence[str]) -> None:
    """Write files together and say so; with --overwrite, those of an earlier call go."""
    outdated = [folder / name for name in earlier] if options.overwrite else []
    write_together(folder, files.items(), overwrite=options.overwrite, outdated=lambda: outdated)
    say(f"\nWritten to {folder}: {', '.join(files)}")


def remove_result(folder: Path) -> None:
    """Remove what :func:`save_result` has written to a folder, where it did, and nobody has altered it."""
    from pt_reuse._result import CONTENTS, saved_in

    if (folder / CONTENTS).is_file():
        write_together(folder, (), outdated=lambda: [*saved_in(folder), folder / CONTENTS])
        with suppress(OSError):
            folder.rmdir()


def pictures(
    plots: Mapping[str, Any], measures: Sequence[str], each: Mapping[str, Mapping[str, str]], *, beginning: str = ""
) -> dict[str, dict[str, Any]]:
    """Return what :meth:`Result.plot` is told for each picture, by the name of its file.

    Every kind of figure is drawn for every measure, where it shows one, and for every value of an option of `each` that
    it takes, such as a judge, by what the value is called there. A file's name begins as is said, or with the kind.
    """
    from pt_reuse.result import drawing

    found: dict[str, dict[str, Any]] = {}
    for measure in measures or [""]:
        for kind, figure in plots.items():
            _, second, _, *more = signature(drawing(figure)).parameters
            name, told = beginning or kind, {"kind": kind}
            # no file's name has these signs everywhere
            end = f"-{re.sub(r'[/:]', '-', measure)}.png" if measure and second != "_" else ".png"
            if measure and second != "_":
                told["measure"] = measure
            option = next((option for option in each if option in more), None)
            if option is None:
                found[name + end] = told
            else:
                found |= {f"{name}-{called}{end}": told | {option: value} for value, called in each[option].items()}
    return found


def draw(drawings: Mapping[str, Drawing]) -> dict[str, bytes]:
    """Draw pictures as PNG; return the files, none where matplotlib is missing."""
    from pt_reuse.plots.sheet import NoMatplotlibError, off_screen

    files = {}
    for name, drawing in drawings.items():
        file = io.BytesIO()
        try:
            # the process may have no screen, or figures that its user has open
            with off_screen():
                drawing().figure.canvas.figure.savefig(file, format="png", dpi=_DOTS)
        except NoMatplotlibError:
            complain(f"No pictures: {NoMatplotlibError.TEXT}")
            return {}
        files[name] = file.getvalue()
    return files
