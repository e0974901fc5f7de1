"""The forms in which runs are given, each with what makes coded runs of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import examples, told
from pt_reuse._errors import Argument, Call, InputError, Part, arguments_as
from pt_reuse.formats.foreign import has_fields, in_our_columns, is_nested
from pt_reuse.runs.coded import CodedRuns
from pt_reuse.runs.coding import run_names
from pt_reuse.runs.framing import Framing
from pt_reuse.runs.metadata import given_metadata
from pt_reuse.runs.paths import run_paths
from pt_reuse.runs.results import COLUMNS, no_results_yet
from pt_reuse.runs.run_files import FileReading

_FORMS: tuple[Part, ...] = (
    " must be a RunSet (",
    Call("read_runs"),
    " or get_runs() makes one), a dict of run name -> results, a frame with the columns 'name', 'qid', 'docno' and "
    "'score', or run files",
)
_EXAMPLE = "'bm25'"


def coded_runs(given: Any, *, argument: str, order: str = "trec_eval", hint: str = "") -> CodedRuns:
    """Code runs that are given in another form than a RunSet.

    Args:
        given: run name -> results; a frame of several runs, told apart by its column ``name``; or run files.
        argument: the user's argument, for errors.
        order: the ranking order.
        hint: what errors say in the end of something that is not runs at all.

    Raises:
        InputError: nothing of the kind, or results that are no runs.
    """
    given = held(given)
    if is_files(given):
        with arguments_as("read_runs", source=argument):
            return FileReading(order=order).coded(run_paths(given), given_metadata())
    named = _by_name(given, argument, hint)
    with arguments_as("RunSet.from_frames", frames=argument):
        return Framing.of(run_names(argument, named, "results"), order=order).coded(named.values())


def held(given: Any) -> Any:
    """Return what is given one by one as a list, such as the paths that a pattern yields; all else as it is."""
    return list(given) if isinstance(given, Iterator) else given


def is_files(given: Any) -> bool:
    """Return whether something that is given as runs is the path of files, or several."""
    if isinstance(given, str | os.PathLike):
        return True
    several = isinstance(given, list | tuple | set | frozenset) and bool(given)
    return several and all(isinstance(item, str | os.PathLike) for item in given)


def holds_judgments(given: Any) -> bool:
    """Return whether something that is given as runs is a frame or a list of judgments."""
    if isinstance(given, pd.DataFrame):
        columns = in_our_columns(given.iloc[:0]).columns
        return "label" in columns and "score" not in columns
    return isinstance(given, list | tuple) and bool(given) and has_fields(given[0], "qid", "docno", "label")


def _by_name(given: Any, argument: str, hint: str) -> Mapping[Any, Any]:
    # run name -> results
    if isinstance(given, pt.Transformer):
        raise no_results_yet(argument)
    if isinstance(given, pd.DataFrame):
        return _split(given, argument, hint)
    if isinstance(given, Mapping):
        if any(isinstance(value, pt.Transformer) for value in given.values()):
            raise no_results_yet(argument)
        if is_nested(given) and any(given.values()):
            raise _unnamed("a dict of topic -> document -> score", argument)
        return given
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        first = next(iter(given), None)
        if has_fields(first, *COLUMNS):
            raise _unnamed(f"{type(given).__name__} of {type(first).__name__}", argument)
    raise _no_runs(argument, f"{told(given) if given is None else type(given).__name__}", hint)


def _split(frame: pd.DataFrame, argument: str, hint: str) -> dict[Any, pd.DataFrame]:
    frame = in_our_columns(frame)
    if not set(COLUMNS) <= set(frame.columns):
        raise _no_runs(argument, f"a frame with the columns {examples(frame.columns, 12)}", hint)
    if (frame.columns == "name").sum() != 1:
        raise _unnamed("a frame without a column 'name'", argument)
    bare = np.flatnonzero(frame["name"].isna())
    if len(bare):
        raise InputError(
            "the name of the run is missing. Fill it in or drop the row.", argument=argument, place=f"row {bare[0]:,}"
        )
    return {name: run for name, run in frame.groupby("name", sort=False, observed=True)}


def _unnamed(got: str, argument: str) -> InputError:
    parts: tuple[Part, ...] = (" is ", got, ", the results of one run without its name. Name the run: ")
    return InputError(Argument(argument), *parts, f"{{{_EXAMPLE}: results}}.", argument=argument)


def _no_runs(argument: str, got: str, hint: str) -> InputError:
    return InputError(Argument(argument), *_FORMS, f", got {got}.{hint}", argument=argument)
