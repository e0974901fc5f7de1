"""Execute a block of code as the pages show it, and keep what a reader would see: text, a table, HTML, figures."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

_SCRATCH = tempfile.TemporaryDirectory(prefix="pt-reuse-pages-")  # goes with the process
DPI = 192  # two points of the screen for each of the page


class BlockError(Exception):
    """A block failed: `str()` says in which file and line, and how."""


@dataclass(frozen=True)
class Output:
    """What a reader sees of a block: one of `table`, `html` and `text` for its last value, where there is one.

    Attributes:
        printed: what it printed.
        warned: its warnings, each with its class.
        text: the repr of the last value.
        html: its `_repr_html_`.
        table: its header and rows, where it is a frame.
        figures: the matplotlib figures that it made, as PNG.
        drawn: the numbers and words in each figure, to compare figures by; a drawing library may set them otherwise.
    """

    printed: str = ""
    warned: tuple[str, ...] = ()
    text: str | None = None
    html: str | None = None
    table: list[list[str]] | None = None
    figures: tuple[bytes, ...] = ()
    drawn: tuple[list[Any], ...] = ()


@dataclass
class Page:
    """The blocks of a page, in order: they share a namespace.

    Attributes:
        file: the path of the page, for errors.
        namespace: the names that blocks have made.
        folder: the working folder of its code.
        needed: whether a block needed something that not every machine has.
        skipped: whether such a block was left out, because what it needs is not here.
        digest: of all code of the page so far, executed or not.
    """

    file: str
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(dir=_SCRATCH.name)))
    needed: bool = False
    skipped: bool = False
    digest: str = ""

    def seen(self, code: str) -> None:
        """Take a block into the digest, which says later whether an output is of this code and what stood before."""
        self.digest = hashlib.sha256(f"{self.digest}\n{code}".encode()).hexdigest()[:16]

    def run(self, code: str, line: int, *, as_text: bool = False) -> Output:
        """Execute a block that begins at a line of the page; return what it shows.

        Args:
            code: the code; the value of its last expression is shown.
            line: the line of the page that it begins at.
            as_text: show the last value as text, though it has an HTML form.
        """
        import matplotlib.pyplot as plt

        plt.close("all")
        tree = self._parsed(code, line)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with self._caught(line) as caught, _inside(self.folder):
            exec(compile(tree, self.file, "exec"), self.namespace)
            value = None
            if last is not None:
                value = eval(compile(ast.Expression(last.value), self.file, "eval"), self.namespace)
            shown = _shown(value, as_text)
            figures = [plt.figure(number) for number in plt.get_fignums()]
            made = {
                "figures": tuple(_png(each) for each in figures),
                "drawn": tuple(drawn_in(each) for each in figures),
            }
        plt.close("all")
        return Output(printed=caught.printed.getvalue().rstrip(), warned=tuple(caught.warned), **made, **shown)

    def value(self, expression: str, line: int) -> str:
        """Return the text of an expression."""
        with self._caught(line):
            return str(eval(compile("\n" * (line - 1) + expression, self.file, "eval"), self.namespace))

    def _parsed(self, code: str, line: int) -> ast.Module:
        try:
            return ast.increment_lineno(ast.parse(code, self.file), line - 1)
        except SyntaxError as error:
            raise BlockError(f"{self.file}:{line - 1 + (error.lineno or 1)}: SyntaxError: {error.msg}") from error

    @contextlib.contextmanager
    def _caught(self, line: int) -> Iterator[_Said]:
        said = _Said()
        try:
            with warnings.catch_warnings(record=True) as caught, _quiet(), contextlib.redirect_stdout(said.printed):
                warnings.simplefilter("always")
                yield said
                ours = [warning for warning in caught if warning.filename == self.file]
                texts = [f"{warning.category.__name__}: {warning.message}" for warning in ours]
                said.warned += dict.fromkeys(texts)  # each once, as Python shows a warning in a loop
        except Exception as error:
            lines = [at.lineno or 0 for at in traceback.extract_tb(error.__traceback__) if at.filename == self.file]
            message = f"{self.file}:{lines[-1] if lines else line}: {type(error).__name__}: {error}"
            raise BlockError(message) from error


@dataclass
class _Said:
    """What a block has said so far."""

    printed: io.StringIO = field(default_factory=io.StringIO)
    warned: list[str] = field(default_factory=list)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder for a while, as a reader does who tries the code in an empty one."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep progress bars and what engines written in other languages say off the building terminal."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as nowhere, contextlib.redirect_stderr(io.StringIO()):
        kept = [os.dup(number) for number in (1, 2)]
        try:
            for number in (1, 2):
                os.dup2(nowhere.fileno(), number)
            yield
        finally:
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)


def _shown(value: Any, as_text: bool) -> dict[str, Any]:
    several = value if isinstance(value, tuple | list | np.ndarray) else [value]
    if value is None or any(type(each).__module__.startswith("matplotlib.") for each in several):
        return {}
    if as_text:
        return {"text": str(value)}
    if isinstance(value, pd.Series):
        value = value.to_frame()
    if isinstance(value, pd.DataFrame):
        return {"table": cells(value)}
    if hasattr(value, "_repr_html_"):
        return {"html": value._repr_html_()}
    return {"text": value if isinstance(value, str) else repr(value)}


def cells(frame: pd.DataFrame) -> list[list[str]]:
    """Return a frame's header and rows as texts; an index that only counts is left out, another one is a column."""
    if frame.index.name or not pd.api.types.is_integer_dtype(frame.index):
        first = frame.index.name or frame.columns.name or ""
        frame = frame.rename_axis(columns=None).reset_index(names=first)
    columns = [[_cell(value, _is_whole(frame[column])) for value in frame[column]] for column in frame]
    return [[str(column) for column in frame.columns], *map(list, zip(*columns, strict=True))]


def _is_whole(column: pd.Series) -> bool:
    numbers = [value for value in column if isinstance(value, float) and np.isfinite(value)]
    return bool(numbers) and all(value == int(value) and abs(value) >= 2 for value in numbers)


def _cell(value: Any, whole: bool) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer) or (whole and isinstance(value, float)):
        return f"{int(value):,}"
    return f"{value:.4f}" if isinstance(value, float | np.floating) else str(value)


def _png(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return file.getvalue()


def drawn_in(figure: Any) -> list[Any]:
    """Return the words and rounded numbers of a figure: labels, lines, points and bars of its axes."""
    found: list[Any] = []
    for axes in figure.axes:
        words = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        legend = axes.get_legend()
        words += [text.get_text() for text in legend.get_texts()] if legend else []
        found.append(words)
        found += [_numbers(line.get_xydata()) for line in axes.lines]
        found += [_numbers(points.get_offsets()) for points in axes.collections]
        found += [
            [round(float(x), 4) for x in patch.get_bbox().bounds]
            for patch in axes.patches
            if hasattr(patch, "get_bbox")
        ]
    return found


def _numbers(values: Any) -> list[float]:
    return [round(float(number), 4) for number in np.ma.filled(np.ma.asarray(values, dtype=float), 0.0).ravel()]
