"""What the commands write to files: tables and pictures in a folder."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from pt_reuse._errors import located
from pt_reuse._files import check_writable, checked_path, replacing
from pt_reuse.commands.screen import complain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Paint(Protocol):
    """Draws into axes."""

    def __call__(self, *, ax: Axes) -> object:
        """Draw into one."""


@dataclass(frozen=True)
class Drawing:
    """A picture to be drawn.

    Attributes:
        width: in inches.
        height: in inches.
        paint: what draws it.
    """

    width: float
    height: float
    paint: Paint

    def draw(self, path: Path) -> None:
        """Draw the picture into a PNG file; without a screen, and apart from figures that the user has open."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(self.width, self.height), layout="constrained")
        FigureCanvasAgg(figure)
        self.paint(ax=figure.subplots())
        with replacing(path) as file:
            figure.savefig(file, format="png", dpi=150)


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
    for name, drawing in drawings.items():
        try:
            drawing.draw(folder / name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "matplotlib":
                raise
            complain("No pictures: drawing needs matplotlib; `pip install pt-reuse[plots]` brings it.")
            return []
    return list(drawings)
