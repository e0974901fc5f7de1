"""What a user gives as a judge, made one: the one place that takes judges of any kind."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pt_reuse.judging.judge import Judge
from pt_reuse.judging.oracle import Oracle
from pt_reuse.qrels.asking import Asked, labels_by, name_of, rel_of
from pt_reuse.qrels.judgments import as_qrels


class AskedJudge(Judge):
    """A function of a frame, or a pipeline, that gives labels.

    Args:
        asked: the function or pipeline.
    """

    def __init__(self, asked: Asked):
        super().__init__(name_of(asked), rel=rel_of(asked))
        self._asked = asked

    def labels_of(self, pairs: pd.DataFrame) -> dict[str, Any]:
        """Return what is answered of each document.

        Args:
            pairs: the documents, one a row; the function has all columns but what is known of labels before.
        """
        found = labels_by(self._asked, pairs.drop(columns=["label", "judge", "time"], errors="ignore"), self.name)
        return {column: found[column].array for column in found.columns}


def as_judge(value: Any, argument: str = "judge") -> Judge:
    """Return what a user gives as a judge as one.

    Args:
        value: a :class:`Judge`, which is returned as it is; a function of a frame, such as a transformer or a pipeline,
            that returns one label per row or a frame with ``qid docno label``; or judgments in any form, which become
            an :class:`Oracle` that gives an unknown document no label.
        argument: what the user calls the judge, for errors.

    Raises:
        InputError: anything else.
    """
    if isinstance(value, Judge):
        return value
    if callable(value):
        return AskedJudge(value)
    return Oracle(as_qrels(value, argument))
