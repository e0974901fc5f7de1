"""TopicTexts: what a judge is told of the topics, beside their names: the query and whatever else their frame has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from pt_reuse._check import count, examples, told
from pt_reuse._errors import Argument, InputError, arguments_as
from pt_reuse.formats.frames import check_frame, text_groups


class TopicTexts:
    """What a judge is told of the topics.

    Args:
        topics: a frame with ``qid`` and what else a judge reads of a topic, such as ``query``; None for nothing.

    Raises:
        InputError: no such frame, or a topic that stands twice.
    """

    def __init__(self, topics: Any):
        self._frame: pd.DataFrame | None = None
        if topics is None:
            return
        if not isinstance(topics, pd.DataFrame):
            raise InputError(
                Argument("topics"), f" must be a frame with qid and query, got {told(topics)}.", argument="topics"
            )
        with arguments_as(frame="topics"):
            check_frame(topics, ("qid",))
            codes, names = text_groups("qid", topics["qid"])
        twice = [names[code] for code in codes[pd.Series(codes).duplicated().to_numpy()].tolist()]
        if twice:
            raise InputError(
                f"topic {examples(dict.fromkeys(twice))} stands more than once. Keep one row per topic.",
                argument="topics",
            )
        self._frame = topics.drop(columns="qid").set_axis(pd.Index(names, dtype=object), axis=0)

    def check(self, qids: Sequence[str]) -> None:
        """Raise where a topic that is judged is not among those told of."""
        if self._frame is None:
            return
        missing = [qid for qid in qids if qid not in self._frame.index]
        if missing:
            raise InputError(
                f"{count(len(missing), 'topic')} of the {len(qids):,} to be judged not among the topics given: "
                f"{examples(missing)}. There is {examples(self._frame.index)}.",
                argument="topics",
            )

    def beside(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with ``qid`` and what is told of each row's topic beside it."""
        if self._frame is None:
            return pairs
        told_of = self._frame.loc[pairs["qid"]].set_axis(pairs.index, axis=0)
        return pd.concat([pairs, told_of.drop(columns=[c for c in pairs if c in told_of])], axis=1)
