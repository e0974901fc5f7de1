"""What the commands write to files: tables and pictures in a folder."""

from __future__ import annotations

import argparse
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pt_reuse._errors import located
from pt_reuse._files import check_writable, checked_path, replacing, write_together
from pt_reuse.cli.screen import complain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pt_reuse._result import Record

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


def write_result(
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


def write_files(
    files: Mapping[str, bytes], folder: Path, options: argparse.Namespace, names: Sequence[str]
) -> list[str]:
    """Write files together, and return their names."""
    earlier = [folder / name for name in names] if options.overwrite else []
    written = write_together(folder, files.items(), overwrite=options.overwrite, outdated=lambda: earlier)
    return [path.name for path in written]


def remove_result(folder: Path) -> None:
    """Remove what :func:`write_result` has written to a folder, where it did, and nobody has altered it."""
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
