"""What the commands write to files: tables and pictures in a folder."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pt_reuse._errors import located
from pt_reuse._files import check_writable, checked_path, replacing
from pt_reuse.commands.screen import complain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_DOTS = 150  # of a picture, per inch


class Drawing(Protocol):
    """Draws a figure of its own."""

    def __call__(self) -> Axes:
        """Draw it and return its axes."""


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


def write_settings(settings: Mapping[str, Any], path: Path) -> None:
    """Write under which conventions tables were made, as JSON."""
    with replacing(path) as file:
        file.write((json.dumps(dict(settings), indent=1, default=str) + "\n").encode())


def draw(drawings: Mapping[str, Drawing], folder: Path) -> list[str]:
    """Draw pictures as PNG; return the names written, none where matplotlib is missing."""
    from pt_reuse.plots.sheet import NoMatplotlibError, off_screen

    for name, drawing in drawings.items():
        try:
            # the process may have no screen, or figures that its user has open
            with off_screen(), replacing(folder / name) as file:
                drawing().figure.canvas.figure.savefig(file, format="png", dpi=_DOTS)
        except NoMatplotlibError:
            complain(f"No pictures: {NoMatplotlibError.TEXT}")
            return []
    return list(drawings)
