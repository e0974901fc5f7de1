"""FrameCall: a pipeline as a function of columns, so that it is called in batches and its answers are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import examples, shown, told
from pt_reuse._errors import InputError

IDS = ("qid", "docno")


class FrameCall:
    """A pipeline as a function of columns.

    Args:
        pipeline: what is called, with a frame.
        reads: the columns of the frame, ``qid`` and ``docno`` among them.
        column: in which the answers are.
        several: whether it is called with lists of documents, or with one.
    """

    def __init__(self, pipeline: pt.Transformer, reads: Sequence[str], column: str, *, several: bool):
        self._pipeline, self._reads, self._column, self._several = pipeline, tuple(reads), column, several

    def __call__(self, *columns: Any) -> Any:
        """Return the answer for one document, or one for each of a batch, None where the pipeline has no row for it."""
        cells = [list(column) if self._several else [column] for column in columns]
        asked = pd.DataFrame(dict(zip(self._reads, cells, strict=True)))
        said = self._pipeline(asked.copy())
        if not isinstance(said, pd.DataFrame) or not {*IDS, self._column} <= set(said.columns):
            got = list(said.columns) if isinstance(said, pd.DataFrame) else said
            raise InputError(
                f"the pipeline must return {examples([*IDS, self._column])}, got {told(got)}.", argument="fn"
            )
        wanted, found = (list(map(tuple, frame[[*IDS]].astype(str).to_numpy())) for frame in (asked, said))
        answers = said[self._column].tolist()
        if wanted != found:
            # a pipeline may sort its rows, and leave some out
            known = dict(zip(found, answers, strict=True))
            if len(known) < len(found):
                twice = next(key for key in found if found.count(key) > 1)
                raise InputError(
                    f"the pipeline returned topic {shown(twice[0])}, document {shown(twice[1])} more than once. Return "
                    "one row for each document.",
                    argument="fn",
                )
            answers = [known.get(key) for key in wanted]
        answers = [None if self._missing(answer) else answer for answer in answers]
        return answers if self._several else answers[0]

    @staticmethod
    def _missing(answer: Any) -> bool:
        return answer is None or answer is pd.NA or (isinstance(answer, float) and answer != answer)
