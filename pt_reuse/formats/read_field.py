"""ReadField: a field as run files gave it, with what has to be told of the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import warn
from pt_reuse.engine.field import Field


@dataclass(frozen=True)
class Beyond:
    """Text after the sixth column, which is passed over.

    Attributes:
        files: how many have such lines.
        lines: how many lines.
        file: the first one.
        line: the first one in it.
    """

    files: int
    lines: int
    file: str
    line: int

    def tell(self) -> None:
        """Warn of it."""
        warn(
            f"{count(self.lines, 'line')} of {count(self.files, 'file')} with text after the sixth column, which is "
            f"passed over, as trec_eval does. First {self.file}, line {self.line:,}. Where a name holds white space, "
            f"the columns after it are shifted: mend such lines."
        )


@dataclass(frozen=True)
class ReadField:
    """A field as run files gave it.

    Attributes:
        field: the runs.
        names: of the runs.
        dropped: what was left out, see :mod:`pt_reuse.formats.dropped_rows`.
        beyond: text after the sixth column, None where there is none.
        commented: the runs, by position, whose files begin with a comment, which may be ir_metadata.
        files: the file of each run, by position; a table may hold several runs.
    """

    field: Field
    names: list[str]
    dropped: pd.DataFrame
    beyond: Beyond | None
    commented: tuple[int, ...]
    files: tuple[int, ...]

    def placed(self, places: Mapping[str, str]) -> ReadField:
        """Return the same with the paths of files written in another way."""
        if self.dropped.empty and self.beyond is None:
            return self
        files = [places.get(file, file) for file in self.dropped["file"]]
        dropped = self.dropped.assign(file=pd.Series(files, index=self.dropped.index, dtype=object))
        beyond = self.beyond and replace(self.beyond, file=places.get(self.beyond.file, self.beyond.file))
        return replace(self, dropped=dropped, beyond=beyond)
