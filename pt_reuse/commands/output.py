"""What the commands write: tables on the screen, tables and pictures in a folder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse._files import replacing

#: rows of a long table on the screen
SHOWN = 12
#: width and height in inches, and what draws into axes
Drawing = tuple[float, float, Callable[..., Any]]


def print_table(frame: pd.DataFrame, most: int, what: str, *, numbers: str = "{:.4f}") -> None:
    """Print the first rows of a table, and how many of `what` are left out."""
    shown = frame.head(most).astype(object).where(frame.head(most).notna(), "-")
    print(shown.to_string(index=False, float_format=numbers.format))
    if len(frame) > most:
        print(f"... and {len(frame) - most:,} more {what}")


def refuse_existing(folder: Path, names: Sequence[str], overwrite: bool) -> None:
    """Raise, before anything is computed, when a file of these names would be replaced unasked."""
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise InputError(f"--out: {folder} has {examples(there)} already. Pass --overwrite to replace them.")


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV; bytes of names that are no UTF-8 stay what they were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(frame.to_csv(index=False).encode("utf-8", "surrogateescape"))


def draw(figures: Mapping[str, Drawing], folder: Path) -> list[str]:
    """Draw pictures as PNG; return the names written, none where matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        print("No pictures: drawing needs matplotlib; `pip install pt-reuse[plots]` brings it.", file=sys.stderr)
        return []
    for name, (width, height, paint) in figures.items():
        figure = Canvas(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        paint(ax=figure.subplots())
        with replacing(folder / name) as file:
            figure.savefig(file, format="png", dpi=150)
    return list(figures)
