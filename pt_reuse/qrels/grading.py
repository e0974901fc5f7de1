"""grade_scores: scores or probabilities of relevance become grades, with thresholds that are stated."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import columns as check_columns
from pt_reuse._check import count, examples, shown, told
from pt_reuse._errors import Argument, InputError, door, located
from pt_reuse._files import user_path
from pt_reuse.formats.files import UnreadableError, read_bytes
from pt_reuse.formats.foreign import in_our_columns
from pt_reuse.formats.frames import number_column
from pt_reuse.qrels.judgments import Qrels, checked_rel

#: which column holds the numbers where nobody says: the first of these
USUAL = ("probability", "judge_score", "score", "label")
#: fields of a line of a file -> which of them is the number: qrels with numbers for labels, and runs
_NUMBER_IN = {4: 3, 6: 4}


@door
def grade_scores(
    scores: Any, thresholds: float | Iterable[float], *, column: str | None = None, rel: int | None = None
) -> Qrels:
    """Turn scores, or probabilities of relevance, into labels, at thresholds that you state.

    A document whose score is below the first threshold gets label 0, from the first on label 1, from the second on
    label 2, and so on.

    Args:
        scores: what a judge says of documents: a frame with ``qid docno`` and a column of numbers, as retrieval and
            re-ranking return it; or a file: lines of ``qid iteration docno number``, or those of a TREC run. A document
            without a number (NaN) gets no label.
        thresholds: the lowest score of each label from 1 on: one number, or several that ascend.
        column: which holds the numbers; default the first there is of ``probability``, ``judge_score``, ``score`` and
            ``label``.
        rel: the lowest label that is relevant; default: nobody says, which counts as 1.

    Returns:
        Qrels: the labels, with the number that each comes from in the column ``judge_score``.

    Raises:
        InputError: thresholds that do not ascend, a file or a frame without numbers, no number at all, a document that
            stands twice.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> said = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "probability": [0.2, 0.5, 0.97]})
        >>> ptr.grade_scores(said, 0.5).to_frame()
          qid docno  label  judge_score
        0   1     a      0         0.20
        1   1     b      1         0.50
        2   1     c      1         0.97
        >>> ptr.grade_scores(said, [0.4, 0.6, 0.9]).to_frame()["label"].tolist()
        [0, 1, 3]
    """
    bounds, lowest = _bounds(thresholds), checked_rel(rel)
    frame = _read(scores) if isinstance(scores, str | os.PathLike) else scores
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            Argument("scores"),
            f" must be a frame with qid, docno and numbers, or a file, got {told(scores)}.",
            argument="scores",
        )
    frame = in_our_columns(frame)
    check_columns("scores", frame.columns, ("qid", "docno"))
    name = column or next((known for known in USUAL if known in frame), None)
    if name is None or name not in frame:
        raise InputError(
            f"scores has no column {' or '.join(map(repr, USUAL if name is None else [name]))}, but "
            f"{examples(frame.columns, 12)}. Say which holds the numbers.",
            argument="column",
        )
    has = frame[name].notna().to_numpy()
    numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    odd = np.flatnonzero(has & ~np.isfinite(numbers))
    if len(odd):
        row = frame.iloc[int(odd[0])]
        raise InputError(
            f"the {name} of topic {shown(row['qid'])}, document {shown(row['docno'])} must be a finite number, got "
            f"{shown(row[name])}.",
            argument="scores",
        )
    if len(has) and not has.any():
        raise InputError(f"no document has a number in the column {shown(name)}.", argument="scores")
    labels = np.searchsorted(bounds, numbers, side="right")
    graded = frame[["qid", "docno"]].assign(label=labels, judge_score=numbers)[has]
    return Qrels(graded.reset_index(drop=True), topics=dict.fromkeys(frame["qid"].astype(str)), rel=lowest)


def _bounds(thresholds: Any) -> np.ndarray:
    one = isinstance(thresholds, int | float | np.number) and not isinstance(thresholds, bool)
    given = [thresholds] if one else thresholds
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else []
    numbers = number_column(pd.Series(several, dtype=object)) if several else np.zeros(0)
    if not len(numbers) or not np.isfinite(numbers).all() or (np.diff(numbers) <= 0).any():
        raise InputError(
            Argument("thresholds"),
            f" must be a number, or several that ascend, got {told(thresholds)}.",
            argument="thresholds",
        )
    return numbers


def _read(path: Any) -> pd.DataFrame:
    """Read a file of numbers: qrels with numbers in place of labels, or a run."""
    path = user_path(path)
    with located(str(path)):
        try:
            text = read_bytes(path).decode("utf-8", "surrogateescape")
        except (OSError, UnreadableError) as error:
            raise InputError(f"{error}.", argument="scores") from error
        rows = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        if not rows:
            raise InputError("is empty.", argument="scores")
        n = len(rows[0][1])
        odd = [(number, fields) for number, fields in rows if len(fields) != n or n not in _NUMBER_IN]
        if odd:
            number, fields = odd[0]
            raise InputError(
                f"line {number:,} has {count(len(fields), 'field')}. Give lines of qid, iteration, docno and number, "
                "or those of a run.",
                argument="scores",
            )
        return pd.DataFrame(
            [(fields[0], fields[2], fields[_NUMBER_IN[n]]) for _, fields in rows], columns=["qid", "docno", "score"]
        )
