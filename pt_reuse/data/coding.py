"""Runs coded as one field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field, Repeats, build_field
from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.places import FileRows, NoPlaceError, Places, RunRows, check_places, rank_places
from pt_reuse.data.dropped import Dropped
from pt_reuse.data.frame_columns import (
    as_id,
    check_frame,
    check_text,
    finite_column,
    number_column,
    result_frame,
    text_column,
    text_groups,
    warn_of_white_space,
)
from pt_reuse.data.metadata import OF_FRAMES, given_metadata
from pt_reuse.data.ordering import HowPooled, check_order
from pt_reuse.data.trec import without_place
from pt_reuse.errors import InputError, located, warn


def run_frame(field: AnyField, row: int, name: str) -> pd.DataFrame:
    """Return one run as a PyTerrier frame: ``qid docno rank score name``, ranks from 0."""
    if isinstance(field, Field):
        return _block_frame(field, row, name)
    # a frame without rows has other types of columns
    held = [i for i, part in enumerate(field.parts) if field.lengths[part.start : part.stop, row].any()]
    # no block is left of a field whose runs have no rows
    blocks = [field.part(i) for i in held] or [field.take_topics([])]
    return pd.concat([_block_frame(block, row, name) for block in blocks], ignore_index=True)


def _block_frame(field: Field, row: int, name: str) -> pd.DataFrame:
    rows, lengths = field.rows_of_run(row), field.lengths[:, row]
    distinct, place = np.unique(field.docs_of(rows), return_inverse=True)
    docnos = np.array([*tokens.decode(field.vocabulary[distinct]), None], dtype=object)[:-1]
    columns = {
        "qid": np.repeat(np.array([*field.topics, None], dtype=object)[:-1], lengths),
        "docno": docnos[place],
        "rank": ranges(np.zeros_like(lengths), lengths),
        "score": field.scores[rows],
        "name": np.full(len(rows), name, dtype=object),
    }
    return pd.DataFrame(columns)


def run_sizes(field: AnyField) -> pd.DataFrame:
    """Return one row per run: ``topics rows shortest longest``, lists without documents aside."""
    # an open field has them in 32 bits
    lengths = field.lengths.astype(np.int64, copy=False)
    most = np.iinfo(np.int64).max
    shortest = np.where(lengths > 0, lengths, most).min(axis=0, initial=most)
    columns = {
        "topics": (lengths > 0).sum(axis=0),
        "rows": lengths.sum(axis=0),
        "shortest": np.where(lengths.sum(axis=0) > 0, shortest, 0),
        "longest": lengths.max(axis=0, initial=0),
    }
    return pd.DataFrame(columns)


#: what it adds to the columns of the topics
_FOUND = ["docno", "rank", "score"]
_LARGEST = int(np.array(np.finfo(np.float32).max, dtype=np.float32).view(np.int32))


class StoredRun(pt.Transformer):
    """Returns what a run has for the topics asked; a topic that the run lacks has no rows."""

    def __init__(self, field: AnyField, row: int, name: str):
        self.field, self.row, self.name = field, row, name
        # without an address of its own pyterrier would look the documentation up on the network
        self.schematic: dict[str, Any] = {"label": name, "help_url": None}

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return what the run has for the topics, in its order: the columns of the topics, ``docno rank score``."""
        pt.validate.columns(inp, includes=["qid"], excludes=["docno"], context=self)
        found = run_frame(self.field, self.row, self.name)
        found = found[found["qid"].isin(set(inp["qid"]))].reset_index(drop=True)
        found["score"] = _in_order(found["score"].to_numpy(), found["qid"], found["rank"].to_numpy())
        found["rank"] += pt.model.FIRST_RANK
        topics = inp[[column for column in inp.columns if column not in _FOUND]]
        return topics.merge(found[["qid", *_FOUND]], on="qid")

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out."""
        pt.validate.columns(input_columns, includes=["qid"], excludes=["docno"], context=self)
        return [*(column for column in input_columns if column not in _FOUND), *_FOUND]

    def __repr__(self) -> str:
        return f"StoredRun({self.name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StoredRun):
            return NotImplemented
        return self.field is other.field and self.row == other.row

    def __hash__(self) -> int:
        return hash((id(self.field), self.row))


def _in_order(scores: NDArray[np.float64], topic: pd.Series, rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return scores that give the order of the rows wherever documents are sorted by them, in float32, too."""
    with np.errstate(over="ignore"):
        bits = scores.astype(np.float32).view(np.int32).astype(np.int64)
    # whole numbers in the order of the numbers of float32, without a gap
    place = np.minimum(np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF)), _LARGEST)
    lowered = pd.Series(place + rank).groupby(topic).cummin().to_numpy() - rank
    kept = np.maximum(lowered, -_LARGEST)
    number = np.where(kept >= 0, kept, -kept | 0x80000000).astype(np.uint32).view(np.float32).astype(float)
    # a list at the very end of float32 has no smaller numbers: it counts down from 0
    ended = pd.Series(lowered < -_LARGEST).groupby(topic).transform("any").to_numpy(dtype=bool)
    return np.where(ended, -rank.astype(float), np.where(lowered == place, scores, number))


#: tells in words where rows of topics stand
Lines = Callable[[Repeats, Sequence[str]], list[str]]


def run_names(argument: str, given: Any, what: str) -> list[str]:
    """Return the run names of a dict of run name -> frame or pipeline."""
    if not isinstance(given, Mapping) or not given:
        got = "an empty one" if isinstance(given, Mapping) else type(given).__name__
        raise InputError(f"{argument} must be a dict of run name -> {what}, got {got}.", argument=argument)
    try:
        names = [as_id("name of a run", name) for name in given]
    except InputError as error:
        raise InputError(error.text, argument=argument) from error
    check_text("run name", names)
    odd = [name for name in names if not name or "\0" in name]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if odd or twice:
        problem = f"{examples(odd)} cannot be a run name" if odd else f"{examples(twice)} given more than once"
        raise InputError(f"{problem}. Name each run by a text of its own.", argument=argument)
    return names


def frame_rows(name: str, frame: pd.DataFrame, order: str) -> RunRows:
    """Turn a result frame into rows in ranking order; the order of its rows counts as that of a file."""
    with located(f"run {shown(name)}"):
        check_frame(frame, ("qid", "docno", "score", *(["rank"] if order == "rank" else [])))
        scores = finite_column(frame, "score")
        topic, topics = text_groups("qid", frame["qid"])
        docs = text_column("docno", frame["docno"], frame["qid"])
        rows = FileRows(topics, topic, docs, scores)
        return rows.in_order(name, order, _rank_places(frame, rows, order))


def _rank_places(frame: pd.DataFrame, rows: FileRows, order: str) -> Places | None:
    if (frame.columns == "rank").sum() != 1:
        return None
    ranks = finite_column(frame, "rank") if order == "rank" else number_column(frame["rank"])
    places = rank_places(rows.starts, rows.grouped(ranks))
    if order == "rank":
        try:
            check_places(rows.starts, places)
        except NoPlaceError as error:
            row = frame.iloc[error.row if rows.grouping is None else int(rows.grouping[error.row])]
            raise without_place(row["qid"], row["docno"]) from None
    return places


def code_runs(
    rows: Sequence[RunRows], *, duplicates: str, threads: int = 1, lines: Lines | None = None
) -> tuple[Field, Repeats]:
    """Code runs as one field, with the rows of documents that stand in their list at a better rank."""
    field, repeats = build_field(rows, threads=threads)
    if len(repeats) and duplicates == "error":
        names = [run.name for run in rows]
        raise InputError.of_several([*repeat_faults(field.topics, repeats, names, lines).values()], len(rows), "runs")
    return field, repeats


def repeat_faults(
    topics: Sequence[str], repeats: Repeats, names: Sequence[str], lines: Lines | None
) -> dict[int, InputError]:
    """Return for each run with a document twice in a list what is wrong, the first such document."""
    first = repeats.take(np.unique(repeats.run, return_index=True)[1])
    docnos = tokens.decode(tokens.as_tokens(first.docs))
    places = lines(first, topics) if lines else [""] * len(first)
    return {
        run: InputError(
            f"run {shown(names[run])} has document {shown(docno)} more than once for topic {shown(topics[t])}{place}. "
            "Mend the run, or pass duplicates='best' to keep the better-ranked."
        )
        for run, t, docno, place in zip(first.run.tolist(), first.topic.tolist(), docnos, places, strict=True)
    }


def warn_of_twin_topics(topics: Sequence[str]) -> None:
    """Warn when two topic ids are the same number in different writing, like 1 and 001."""
    twins: dict[int, list[str]] = {}
    for topic in topics:
        if topic.isascii() and topic.isdigit() and len(topic) < 19:
            twins.setdefault(int(topic), []).append(topic)
    mixed = [same for same in twins.values() if len(same) > 1]
    if mixed:
        warn(
            f"topic ids are strings, so {examples(mixed[0])} are different topics ({count(len(mixed), 'such group')})."
        )


@dataclass(frozen=True)
class CodedRuns:
    """Runs, coded and labelled."""

    field: AnyField  # the coded arrays
    run_table: pd.DataFrame  # one row per run, with ``name team type pooled``
    order: str  # the ranking order in which the rows stand
    how_pooled: HowPooled  # in which order and to which depth the pool was made, as far as somebody says
    dropped: Dropped  # what was left out


def coder(
    names: Sequence[str],
    order: str = "trec_eval",
    pool_order: str | None = None,
    pool_depth: int | None = None,
    duplicates: str = "error",
    **labels: Any,
) -> Callable[[Iterable[Any]], CodedRuns]:
    """Check how the results of some runs become a field, and return what makes it of them, each in any form of one run.

    The options are those of :meth:`RunSet.from_frames`; `labels` are ``teams types pooled metadata``.
    """
    check_order("order", order)
    choice("duplicates", duplicates, ("error", "best"))
    how_pooled = HowPooled(pool_order, pool_depth)
    table = given_metadata(**labels).table(names, naming=OF_FRAMES)

    def rows_of(name: str, result: Any) -> RunRows:
        if isinstance(result, RunRows):
            return replace(result, name=name)
        with located(f"run {shown(name)}"):
            frame = result_frame(result)
        return frame_rows(name, frame, order)

    def coded(results: Iterable[Any]) -> CodedRuns:
        field, repeats = code_runs(list(map(rows_of, names, results)), duplicates=duplicates)
        dropped = Dropped.of_repeats(repeats, names, field.topics)
        dropped.tell()
        warn_of_twin_topics(field.topics)
        warn_of_white_space(field.topics, tokens.as_words(field.vocabulary))
        return CodedRuns(field, table, order, how_pooled, dropped)

    return coded
