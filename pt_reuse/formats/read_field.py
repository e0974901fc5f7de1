"""ReadField: a field as run files gave it, with what has to be told of the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from pt_reuse._check import count
from pt_reuse._errors import warn
from pt_reuse.engine.open_field import AnyField


@dataclass(frozen=True)
class Longer:
    """Lines of a file with text after the sixth column, which is passed over.

    Attributes:
        file: the file.
        lines: how many.
        first: the first of them.
    """

    file: str
    lines: int
    first: int


def tell_of_longer(files: Sequence[Longer]) -> None:
    """Warn of text after the sixth column, if there is any."""
    if files:
        warn(
            f"{count(sum(file.lines for file in files), 'line')} of {count(len(files), 'file')} with text after the "
            f"sixth column, which is passed over, as trec_eval does. First {files[0].file}, line "
            f"{files[0].first:,}. Where a name holds white space, the columns after it are shifted: mend such lines."
        )


@dataclass(frozen=True)
class ReadField:
    """A field as run files gave it.

    Attributes:
        field: the runs.
        names: of the runs.
        dropped: what was left out, see :mod:`pt_reuse.formats.dropped_rows`.
        longer: the files with text after the sixth column.
        commented: the runs, by position, whose files begin with a comment, which may be ir_metadata.
        files: the file of each run, by position; a table may hold several runs.
    """

    field: AnyField
    names: list[str]
    dropped: pd.DataFrame
    longer: tuple[Longer, ...]
    commented: tuple[int, ...]
    files: tuple[int, ...]

    def placed(self, places: Mapping[str, str]) -> ReadField:
        """Return the same with the paths of files written in another way."""
        if self.dropped.empty and not self.longer:
            return self
        files = [places.get(file, file) for file in self.dropped["file"]]
        dropped = self.dropped.assign(file=pd.Series(files, index=self.dropped.index, dtype=object))
        longer = tuple(replace(item, file=places.get(item.file, item.file)) for item in self.longer)
        return replace(self, dropped=dropped, longer=longer)
