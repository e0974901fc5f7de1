"""The results of one run, in any form in which they are given, as a PyTerrier frame."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import shown, told
from pt_reuse._errors import Call, InputError, Part
from pt_reuse.formats.foreign import frame_of_nested, frame_of_tuples, has_fields, in_our_columns, is_nested

#: what a frame of results, or the tuples of a run, must have
COLUMNS = ("qid", "docno", "score")
#: what to do with the file of one run
READ_FILES: tuple[Part, ...] = (" Files are read by ", Call("read_runs"), ", several into one field.")


def result_frame(results: Any) -> pd.DataFrame:
    """Return the results of one run as a frame with PyTerrier's names of columns; what they hold is not checked.

    Args:
        results: a frame with ``qid docno score`` or ``query_id doc_id score``, tuples with such fields, or a mapping of
            topic -> document -> score.

    Raises:
        InputError: something else, or no tuple at all.
    """
    if isinstance(results, pd.DataFrame):
        return in_our_columns(results)
    if isinstance(results, Mapping):
        if is_nested(results) or not results:
            return frame_of_nested(results, "score")
        raise _no_results(f"a dict of {told(next(iter(results)))} -> {_type(next(iter(results.values())))}")
    if isinstance(results, str | os.PathLike):
        raise _no_results(told(results), *READ_FILES)
    if isinstance(results, pt.Transformer | bytes) or not isinstance(results, Iterable):
        raise _no_results(told(results) if results is None else _type(results))
    items = list(results)
    if not items:
        raise InputError(
            "there is no result in it. Where it is an iterator that was read before, make it anew; for a run without "
            "results give an empty frame."
        )
    odd = [item for item in items if not has_fields(item, *COLUMNS)]
    if odd:
        raise _no_results(f"{_type(results)} of {shown(odd[0])}")
    return frame_of_tuples(items)


def _no_results(got: str, *more: Part) -> InputError:
    return InputError(
        "expected the results of a run: a frame with the columns 'qid', 'docno' and 'score', ScoredDoc tuples, or a "
        f"dict of topic -> document -> score, got {got}.",
        *more,
    )


def _type(value: Any) -> str:
    return type(value).__name__


def no_results_yet(argument: str) -> InputError:
    """Return the error that pipelines were given, which have no results yet."""
    return InputError(
        "these are pipelines, which have no results before they are run. Run them first: ",
        Call("RunSet.from_pipelines", "{name: pipeline}, topics"),
        ".",
        argument=argument,
    )
