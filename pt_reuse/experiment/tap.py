"""Pipeline pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt

_NEEDED = ["qid", "docno", "score"]
_KEPT = [*_NEEDED, "rank"]  # a pool may have followed the rank column
#: columns that say nothing of a document to whom judges it: of the run, and what is kept anyway
_OWN = (*_KEPT, "name", "team", "type")
#: the longest label of a schematic that pyterrier draws well
_LABEL = 20


@dataclass(frozen=True)
class Kept:
    """Which further columns of results are kept, for a judge to read."""

    names: tuple[str, ...] = ()
    texts: bool = False

    @property
    def any(self) -> bool:
        """Return whether there may be such columns."""
        return bool(self.names) or self.texts

    def of(self, frame: pd.DataFrame) -> list[str]:
        """Return the columns of a frame that are kept, besides those that ranks are made of."""
        named = [column for column in self.names if column in frame.columns]
        if not self.texts or frame.empty:
            return named
        return [column for column in frame.columns if column not in _OWN and _is_text(frame[column])]


def _is_text(cells: pd.Series) -> bool:
    # the first document may lack what others have
    there = cells[cells.notna()]
    return len(there) > 0 and isinstance(there.iloc[0], str)


class Tap(pt.Transformer):
    """Passes results through unchanged and keeps a copy of what it saw.

    Composed to the end of a pipeline, it gives the pipeline's results without running it a second time, whatever
    executes the pipeline: in batches, as part of a tree plan, or with other pipelines that share its prefix.

    Example:
        >>> import pandas as pd
        >>> tap = Tap("bm25")
        >>> frame = pd.DataFrame({"qid": ["1"], "docno": ["d1"], "score": [2.0], "rank": [0]})
        >>> tap(frame) is frame
        True
        >>> tap.results()
          qid docno  score  rank
        0   1    d1    2.0     0
    """

    #: what pt.inspect says that it takes; it is asked of results alone, since a batch may have none
    transform_inputs: ClassVar[list[list[str]]] = [_NEEDED]

    def __init__(self, label: str, kept: Kept | None = None):
        self.label, self._kept = label, kept or Kept()
        self._seen: list[pd.DataFrame] = []

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Keep ``qid docno score rank``, and what else is asked, of the results and return them as they are."""
        if len(inp):  # pyterrier inspects transformers by empty frames
            pt.validate.columns(inp, includes=_NEEDED, context=self)
            columns = [*(column for column in _KEPT if column in inp.columns), *self._kept.of(inp)]
            self._seen.append(inp[columns].copy())
        return inp

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out: those that went in."""
        return input_columns

    def schematic(self, *, input_columns: list[str] | None = None) -> dict[str, Any]:
        """Return what pt.schematic shows: the name of the system."""
        label = self.label if len(self.label) <= _LABEL else f"{self.label[: _LABEL - 3]}..."
        # without an address of its own pyterrier would look the documentation up on the network
        return {"label": label, "help_url": None}

    def results(self) -> pd.DataFrame:
        """Return all that has passed, batch after batch; what a later batch repeats stands once."""
        if not self._seen:
            return pd.DataFrame(columns=_NEEDED)
        seen = pd.concat(self._seen, ignore_index=True)
        if len(self._seen) == 1 or not seen.duplicated().any():
            return seen
        # a source that answers every batch with all it has; a repeat within one batch is the pipeline's own
        batch = np.repeat(np.arange(len(self._seen)), [len(part) for part in self._seen])
        first = pd.Series(batch).groupby([seen[column] for column in seen.columns], dropna=False).transform("min")
        return seen[batch == first.to_numpy()].reset_index(drop=True)

    def __repr__(self) -> str:
        return self.label  # pyterrier's errors say "in transformer" and this


class Tapped(pt.Compose):
    """A pipeline with a tap at its end, which prints as the pipeline does: pt.Experiment names it in its warnings."""

    def __init__(self, pipeline: pt.Transformer, tap: Tap):
        super().__init__(*pt.Compose(pipeline, tap))  # step by step, since a tree plan compares steps
        self._prints = str(pipeline)

    def __repr__(self) -> str:
        return self._prints
