"""What the commands write: tables on the screen, tables and pictures in a folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pandas as pd

from pt_reuse._errors import located
from pt_reuse._files import check_writable, checked_path, replacing
from pt_reuse.plots.sheet import NoMatplotlibError, off_screen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: rows of a long table on the screen
SHOWN = 12
_DOTS = 150  # of a picture, per inch


class Drawing(Protocol):
    """Draws a figure of its own."""

    def __call__(self) -> Axes:
        """Draw it and return its axes."""


def print_table(frame: pd.DataFrame, most: int, what: str, *, numbers: str = "{:.4f}") -> None:
    """Print the first rows of a table, and how many of `what` are left out."""
    shown = frame.head(most).astype(object).where(frame.head(most).notna(), "-")
    print(shown.to_string(index=False, float_format=numbers.format))
    if len(frame) > most:
        print(f"... and {len(frame) - most:,} more {what}")


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


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV; bytes of names that are no UTF-8 stay what they were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(frame.to_csv(index=False).encode("utf-8", "surrogateescape"))


def draw(drawings: Mapping[str, Drawing], folder: Path) -> list[str]:
    """Draw pictures as PNG; return the names written, none where matplotlib is missing."""
    for name, drawing in drawings.items():
        try:
            # the process may have no screen, or figures that its user has open
            with off_screen(), replacing(folder / name) as file:
                drawing().figure.canvas.figure.savefig(file, format="png", dpi=_DOTS)
        except NoMatplotlibError:
            print(f"No pictures: {NoMatplotlibError.TEXT}", file=sys.stderr)
            return []
    return list(drawings)
