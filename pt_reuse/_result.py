"""The base of result records: named tables, the settings behind them, and one way to show and save both."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import InputError, door
from pt_reuse._files import replacing

_SHOWN = 8


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result:
    """A study's answer: `table` is the truth, one row per unit; `settings` says under which conventions.

    Attributes:
        table: the main table.
        settings: the resolved value of every convention the numbers depend on.
    """

    title: ClassVar[str] = "Result"

    table: pd.DataFrame
    settings: Mapping[str, Any]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table of the result by name, the main one first."""
        return {"table": self.table}

    def headline(self) -> str:
        """Return the answer in one line."""
        return f"{len(self.table):,} rows"

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the main table."""
        return self.table.copy()

    @door
    def save(self, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Write every table as CSV and the settings as JSON.

        Args:
            folder: where to; made when it does not exist.
            overwrite: replace files that exist already; default is an error before anything is written.

        Returns:
            list of Path: what was written.

        Raises:
            InputError: a file that exists, or a folder that is a file.
        """
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file. Give a folder; it is made if missing.")
        texts = {f"{name}.csv": frame.to_csv(index=False) for name, frame in self.tables().items()}
        texts["settings.json"] = json.dumps(dict(self.settings), indent=1, default=str) + "\n"
        there = [name for name in texts if (folder / name).exists()]
        if there and not overwrite:
            raise InputError(f"{folder} has {examples(there)} already. Pass overwrite=True to replace them.")
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with replacing(folder / name) as file:
                file.write(text.encode("utf-8", "surrogateescape"))
        return [folder / name for name in texts]

    def __repr__(self) -> str:
        return f"{self.title}: {self.headline()} [{self._settings_line()}]"

    def __str__(self) -> str:
        shown = self.table.head(_SHOWN).to_string(index=False, float_format="{:.4f}".format)
        rest = len(self.table) - _SHOWN
        return f"{self!r}\n{shown}" + (f"\n... and {rest:,} more rows in .table" if rest > 0 else "")

    def _repr_html_(self) -> str:
        head, settings = html.escape(f"{self.title}: {self.headline()}"), html.escape(self._settings_line())
        body = self.table.to_html(max_rows=_SHOWN * 2, index=False, escape=True, float_format="{:.4f}".format)
        return f"<p><b>{head}</b><br><small>{settings}</small></p>{body}"

    def _settings_line(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())
