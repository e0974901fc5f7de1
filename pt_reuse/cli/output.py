"""What commands print, as wide as the screen, and the files that they write."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._files import check_writable, checked_path, replacing, write_together
from pt_reuse._text import display_width, prose, table, visible
from pt_reuse.errors import InputError, located

if TYPE_CHECKING:
    import pandas as pd

    from pt_reuse.result import Record, Result

#: rows of a long table on the screen
SHOWN = 12
#: of a picture, per inch
_DOTS = 150


def width_of() -> int:
    """Return how many columns a line may have: those of ``COLUMNS``, else of the terminal, else 100; 30 at least."""
    return max(shutil.get_terminal_size((100, 24)).columns, 30)


def shows_bars(options: argparse.Namespace) -> bool:
    """Return whether work that lasts is to show progress bars: on a terminal, unless told to be quiet."""
    return not options.quiet and sys.stderr is not None and sys.stderr.isatty()


def say(text: str = "") -> None:
    """Print a text, wrapped to the screen."""
    put(_wrapped(text, width_of()))


def put(text: str) -> None:
    """Print a text as it is; where the reader has gone, the work goes on."""
    with suppress(BrokenPipeError):
        print(text, flush=True)
    flush()


def complain(text: str) -> None:
    """Print an error or a note to standard error, wrapped to the screen, where it can be written."""
    # print takes None, which a closed stream is, for standard output
    if sys.stderr is not None:
        with suppress(OSError):
            print(_wrapped(text, width_of()), file=sys.stderr, flush=True)


def flush() -> None:
    """Write what is left to the screen, or nowhere if its reader has gone: else Python would end with an error."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _wrapped(text: str, width: int) -> str:
    """Return a text with every line wrapped, the rest of a list's item set in; a path is never broken.

    Example:
        >>> print(_wrapped("- a list of many words", 20))
        - a list of many
          words
    """
    lines = []
    for line in text.split("\n"):
        if any("/" in word and display_width(word) > width for word in line.split()):
            indent = re.sub(r"^( *(?:- )?).*", lambda lead: " " * len(lead[1]), line)
            line = textwrap.fill(
                visible(line), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
            )
        else:
            line = prose(line, width=width)
        lines.append(line)
    return "\n".join(lines)


def print_table(frame: pd.DataFrame, what: str, *, most: int | None = SHOWN, spare: Sequence[str] = ()) -> None:
    """Print the first rows of a table, as wide as the screen, and how many of `what` are left out; None for all."""
    there = [column for column in spare if column in frame]
    put(table(frame, width=width_of(), most=most, what=what, spare=there))


def say_answers(result: Record) -> None:
    """Print what a result is of, and its answers."""
    from pt_reuse.result import first_of

    say("\n".join([result.heading(), *first_of(result.answers())]))


def show(result: Result, screen: Sequence[str] = (), options: Mapping[str, Any] | None = None) -> None:
    """Print a result as Python does, with more than one of its reports where a study says which."""
    say_answers(result)
    shown = []
    for name in screen or result.views:
        view, rows = result.views[name], result.tables().get(name)
        given = {option: value for option, value in (options or {}).items() if option in result.options_of(name)}
        if rows is None or not rows.empty:
            measures = result.measures if view.of_measure else [None]
            shown += [(view, measure, result.report(name, measure=measure, **given)) for measure in measures]
    for view, measure, report in shown:
        # the title of the result is there already
        caption = f"Per {view.rows}{f', {measure}' if measure else ''}"
        say(f"\n{report.caption.rstrip('.') if view.caption else caption}:")
        # the tables share the screen
        frame, most = report.shown(), max(SHOWN // 2, 2 * SHOWN // len(shown))
        print_table(frame, f"{view.noun}; --out DIR writes all", most=most, spare=list(frame.columns[:1:-1]))
    if result.conditions():
        say("\n".join(["", *result.conditions()]))


# files


def out_folder(options: argparse.Namespace, *below: str) -> Path | None:
    """Return the folder of --out, None without; raise, before anything is computed, where it has files already.

    So have the folders below it that are named.
    """
    if options.out is None:
        return None
    with located("--out"):
        folder = checked_path(options.out)
        for place in (folder, *(folder / name for name in below)):
            there = [path.name for path in place.iterdir() if path.is_file()] if place.is_dir() else []
            check_writable(place, there or ["settings.json"], overwrite=options.overwrite, argument="out")
    return folder


def out_file(options: argparse.Namespace, name: str = "out", *, page: bool = False) -> Path | None:
    """Return the file of --out, None without; raise, before anything is computed, when it cannot be written."""
    if getattr(options, name) is None:
        return None
    with located(f"--{name.replace('_', '-')}"):
        path = checked_path(getattr(options, name))
        if page and path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"what is written is a page: give a name that ends with .html, got {path.name!r}.")
        check_writable(path.parent, [path.name], overwrite=options.overwrite, argument=name)
    return path


def table_file(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV; bytes of names that are no UTF-8 stay what they were."""
    return frame.to_csv(index=False).encode("utf-8", "surrogateescape")


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(table_file(frame))


def write_result(
    result: Record,
    folder: Path | None,
    options: argparse.Namespace,
    plots: Mapping[str, Mapping[str, Any]],
    beside: Mapping[str, bytes] | None = None,
) -> None:
    """Write a result, its pictures and further files together, and say so; nothing without a folder."""
    from pt_reuse._saving import save_with

    if folder is not None:
        written = save_with(result, {**(beside or {}), **draw(result, plots)}, folder, overwrite=options.overwrite)
        say(f"\nWritten to {folder}: {', '.join(path.name for path in written)}")


def write_files(
    files: Mapping[str, bytes | pd.DataFrame],
    folder: Path | None,
    options: argparse.Namespace,
    settings: Mapping[str, Any] | None = None,
    earlier: Sequence[str] = (),
) -> None:
    """Write files and tables together, with their settings, and say so; with --overwrite, those of before go.

    Nothing is written without a folder.
    """
    if folder is None:
        return
    every = {name: file if isinstance(file, bytes) else table_file(file) for name, file in files.items()}
    if settings is not None:
        every["settings.json"] = (json.dumps(dict(settings), indent=1, default=str) + "\n").encode()
    outdated = [folder / name for name in earlier] if options.overwrite else []
    write_together(folder, every.items(), overwrite=options.overwrite, outdated=lambda: outdated)
    say(f"\nWritten to {folder}: {', '.join(every)}")


def pictures(
    result: Result, each: Mapping[str, Mapping[str, str]], given: Mapping[str, Any], alone: str = ""
) -> dict[str, dict[str, Any]]:
    """Return what :meth:`Result.plot` is told for each picture, by the name of its file.

    Every kind of figure is drawn for every measure, where it shows one, and for every value of an option of `each` that
    it takes, such as a judge, by what the value is called there. What has the name of an option is drawn where this is
    given; a figure that is alone is called `alone`.
    """
    plots = {kind: figure for kind, figure in result.plots.items() if given.get(kind, ...) is not None}
    found: dict[str, dict[str, Any]] = {}
    for measure in result.measures or [""]:
        for kind, figure in plots.items():
            _, second, _, *more = signature(figure).parameters
            of_measure = {"measure": measure} if measure and second != "_" else {}
            # no file's name has these signs everywhere
            end = f"-{re.sub(r'[/:]', '-', measure)}.png" if of_measure else ".png"
            option = next((option for option in each if option in more), "")
            for value, called in each.get(option, {"": ""}).items():
                name = f"{alone if alone and len(plots) == 1 else kind}{f'-{called}' if option else ''}{end}"
                found[name] = {"kind": kind, **of_measure, **({option: value} if option else {})}
    return found


def draw(result: Any, plots: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """Draw pictures of a result as PNG; return the files, none where matplotlib is missing."""
    from pt_reuse.plots.sheet import NoMatplotlibError, off_screen

    files = {}
    for name, how in plots.items():
        file = io.BytesIO()
        try:
            # the process may have no screen, or figures that its user has open
            with off_screen():
                result.plot(**how).figure.canvas.figure.savefig(file, format="png", dpi=_DOTS)
        except NoMatplotlibError:
            complain(f"No pictures: {NoMatplotlibError.TEXT}")
            return {}
        files[name] = file.getvalue()
    return files
