"""The forms in which judgments are given in memory, other than Qrels, as a PyTerrier frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import shown, told
from pt_reuse._errors import Argument, InputError
from pt_reuse.formats.foreign import frame_of_nested, frame_of_tuples, has_fields, in_our_columns, is_nested

#: what a frame of judgments, or each tuple, must have
COLUMNS = ("qid", "docno", "label")


def judged_frame(given: Any, argument: str) -> pd.DataFrame:
    """Return judgments as a frame with PyTerrier's names of columns; what they hold is not checked.

    Args:
        given: a frame, tuples of ir_measures or ir_datasets, or a mapping of topic -> document -> label.
        argument: the user's argument, for errors.

    Raises:
        InputError: something else, results of a run among it, or no tuple at all.
    """
    if isinstance(given, pd.DataFrame):
        frame = in_our_columns(given)
        if "label" not in frame.columns and {"qid", "docno", "score"} <= set(frame.columns):
            raise _results("a frame", argument)
        return frame
    if isinstance(given, Mapping):
        if is_nested(given):
            return frame_of_nested(given, "label")
        first = next(iter(given.values()), None)
        if isinstance(first, Mapping | pd.DataFrame):
            raise _results(f"a dict of name -> {type(first).__name__}", argument)
        raise _no_judgments(f"a dict of {type(first).__name__}" if given else "an empty dict", argument)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable) or hasattr(given, "run_table"):
        raise _no_judgments(told(given) if given is None else type(given).__name__, argument)
    items = list(given)
    if not items:
        raise InputError(
            Argument(argument),
            " holds no judgment. Where it is an iterator that was read before, make it anew.",
            argument=argument,
        )
    odd = [item for item in items if not has_fields(item, *COLUMNS)]
    if odd and has_fields(odd[0], "qid", "docno", "score"):
        raise _results(f"{type(given).__name__} of {type(odd[0]).__name__}", argument)
    if odd:
        raise _no_judgments(f"{type(given).__name__} of {shown(odd[0])}", argument)
    return frame_of_tuples(items)


def _no_judgments(got: str, argument: str) -> InputError:
    return InputError(
        Argument(argument),
        " must be a Qrels, a frame with the columns 'qid', 'docno' and 'label', Qrel tuples, a dict of topic -> "
        f"document -> label, or a file, got {got}.",
        argument=argument,
    )


def _results(what: str, argument: str) -> InputError:
    return InputError(
        Argument(argument),
        f" is {what} with the results of runs, which hold no judgments. Give the judgments, a Qrels for instance.",
        argument=argument,
    )
