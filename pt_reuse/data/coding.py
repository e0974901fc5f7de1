"""Runs coded as one field: the order of documents, the shapes of scores, and rows of TREC run files."""

from __future__ import annotations

import gzip
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._files import check_writable, checked_path, write_together
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField, Field, Repeats, build_field
from pt_reuse.arrays.lists import BY_SCORE, FileRows, NoPlaceError, Places, RunRows, check_places, ranges, rank_places
from pt_reuse.data.dropped import repeated, tell
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
from pt_reuse.data.metadata import given_metadata
from pt_reuse.data.packed_files import guarded
from pt_reuse.errors import InputError, choice, count, examples, flag, located, positive, shown, warn
from pt_reuse.options import ORDERS

#: down to which ranks neighbours with equal scores are counted
TOPS = (3, 10)


@dataclass(frozen=True)
class ScoreShapes:
    """The scores of each list: (topics, runs) arrays, 0 or False for a list of no document."""

    constant: NDArray[np.bool_]  # all scores are equal, of two documents or more
    rising: NDArray[np.bool_]  # they rise with the rank
    surprise: NDArray[np.float64]  # -log of the chance that they do by the order of rows alone; infinite by ranks
    tied_top: NDArray[np.int64]  # (tops, topics, runs) neighbours with equal scores down to each of `TOPS`
    tied: NDArray[np.int64]  # in the whole list

    @classmethod
    def of(cls, field: AnyField, order: str) -> ScoreShapes:
        """Look at each list of a field that stands in a ranking order."""
        shape = field.n_topics, field.n_runs
        constant, rising = np.zeros((2, *shape), dtype=np.bool_)
        surprise, tied = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        tied_top = np.zeros((len(TOPS), *shape), dtype=np.int64)
        for i, part in enumerate(field.parts):
            block = ListScores(field.part(i), order)
            at = slice(part.start, part.stop)
            tied[at], constant[at] = block.tied().reshape(-1, field.n_runs), block.constant.reshape(-1, field.n_runs)
            tied_top[:, at] = [block.tied(top).reshape(-1, field.n_runs) for top in TOPS]
            rises, by_rows = block.rising()
            rising[at] = rises.reshape(-1, field.n_runs)
            # the log of how many orders the rows of a list may have
            log_orders = np.array([math.lgamma(n + 1) for n in block.length.tolist()])
            surprising = np.where(by_rows, log_orders, np.where(rises, math.inf, 0.0))
            surprise[at] = surprising.reshape(-1, field.n_runs)
        return cls(constant, rising, surprise, tied_top, tied)


@dataclass(frozen=True)
class ListScores:
    """The scores of the lists of a block."""

    field: Field
    order: str

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        return self.field.starts[:-1]

    @cached_property
    def length(self) -> NDArray[np.int64]:
        return np.diff(self.field.starts)

    @cached_property
    def keys(self) -> NDArray[np.floating]:
        """Return (rows,): by what documents are ranked."""
        scores = np.asarray(self.field.scores)
        if self.order != "trec_eval9":
            return scores
        with np.errstate(over="ignore"):
            return scores.astype(np.float32)

    @cached_property
    def _equal(self) -> NDArray[np.int64]:
        """Return the rows that have the score of the row below, whosoever's that is."""
        return np.flatnonzero(self.keys[1:] == self.keys[:-1])

    def tied(self, cutoff: int | None = None) -> NDArray[np.int64]:
        """Return (lists,): how many documents down to a cutoff have the score of the next; 0 in orders not by score."""
        if self.order not in BY_SCORE:
            return np.zeros(len(self.length), dtype=np.int64)
        return np.diff(np.searchsorted(self._equal, [self.begin, self.begin + self.neighbours(cutoff)]), axis=0)[0]

    def neighbours(self, cutoff: int | None = None) -> NDArray[np.int64]:
        """Return (lists,): how many documents down to a cutoff have a next one."""
        pairs = np.maximum(self.length - 1, 0)
        return pairs if cutoff is None else np.minimum(pairs, cutoff)

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Return (lists,): whether all scores are equal, of two documents or more."""
        found = np.zeros(len(self.length), dtype=np.bool_)
        several = np.flatnonzero(self.length > 1)
        equal = np.diff(np.searchsorted(self._equal, [self.begin, self.begin + self.neighbours()]), axis=0)[0]
        found[several] = equal[several] == self.length[several] - 1
        return found

    def rising(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (lists,): whether scores rise with the rank; and where nothing but the order of rows says so."""
        found = np.zeros(len(self.length), dtype=np.bool_)
        if self.order not in BY_SCORE:
            # lists stand in the order of ranks or rows
            some = np.flatnonzero((self.length > 1) & ~self.constant)
            found[some] = self._ascends(some, None)
            return found, found & (self.order == "file")
        ranked = np.resize(np.asarray(self.field.ranked), len(self.length)) & ~self._of_one_rank
        for places, lists in ((self.field.rank, ranked), (self.field.file, ~ranked)):
            some = np.flatnonzero(lists & self._turned(places) & ~self.constant)
            found[some] = self._ascends(some, places)
        return found, found & ~ranked

    @cached_property
    def _of_one_rank(self) -> NDArray[np.bool_]:
        """Return (lists,): whether all ranks are the same, so that they say nothing."""
        some, same = np.flatnonzero(self.length), np.zeros(len(self.length), dtype=np.bool_)
        if len(some):
            # the first row is where it says
            places, begin = np.array(self.field.rank), self.begin[some]
            first, places[begin] = places[begin] == 1, 0
            same[some] = first & (np.maximum.reduceat(places, begin) == 1)
        return same

    def _turned(self, places: Places) -> NDArray[np.bool_]:
        """Return (lists,): whether the best score stands below the worst, which is looked at first."""
        found, some = np.zeros(len(self.length), dtype=np.bool_), np.flatnonzero(self.length)
        first, last = places[self.begin[some]], places[self.field.starts[some + 1] - 1]
        found[some] = (first > last) & (first != 1) & (last != self.length[some])
        return found

    def _ascends(self, some: NDArray[np.int64], places: Places | None) -> NDArray[np.bool_]:
        """Return for some lists, none of them empty, whether no score falls in the order of places."""
        rows = ranges(self.begin[some], self.length[some])
        of = np.repeat(np.arange(len(some)), self.length[some])
        if places is not None:
            rows = rows[np.lexsort((places[rows], of))]
        scores = np.asarray(self.field.scores)[rows]
        found = np.ones(len(some), dtype=np.bool_)
        found[of[1:][(scores[1:] < scores[:-1]) & (of[1:] == of[:-1])]] = False
        return found


#: bytes that a run's name may have as part of a file's, of which most systems take 255
_LONGEST_NAME = 255 - len("input..gz")
#: what to do about a rank column that gives no order
NO_ORDER = "order='rank' has no order to follow. Use order='trec_eval' (by score) or order='file'."


def without_place(topic: Any, docno: Any, *, tied: bool = True, **where: Any) -> InputError:
    """Return the error for a document whose rank gives no order."""
    fault = "the rank of another document of the topic" if tied else "no number as its rank"
    return InputError(f"topic {shown(topic)}, document {shown(docno)} has {fault}. {NO_ORDER}", **where)


def check_names(names: Iterable[str], what: str) -> None:
    """Raise when a name could not stand in a file of white-space separated columns."""
    encoded = ((name, name.encode("utf-8", "surrogateescape")) for name in names)
    bad = [name for name, written in encoded if b"\0" in written or [written] != written.split()]
    if bad:
        why = "cannot be written to a TREC file, whose columns are separated by white space"
        raise InputError(f"the {what} {examples(bad)} {why}. Rename it first.")


def check_topics(topics: Iterable[str]) -> None:
    """Raise when a topic id could not stand in a file: it is no one column, or its line would be a comment."""
    topics = list(topics)
    check_names(topics, "topic")
    comments = [topic for topic in topics if topic.startswith("#")]
    if comments:
        why = "cannot be written to a TREC file, in which a line that begins with # is a comment"
        raise InputError(f"the topic {examples(comments)} {why}. Rename it first.")


def write_runs(
    field: AnyField,
    names: Sequence[str],
    frame_of: Callable[[str], pd.DataFrame],
    folder: str | Path,
    *,
    compress: bool,
    overwrite: bool,
) -> list[Path]:
    """Write each run of a field as a file, all checked before the first is written; see :meth:`RunSet.write`."""
    flag("compress", compress)
    flag("overwrite", overwrite)
    folder = checked_path(folder)
    check_names(names, "run name")
    check_topics(field.topics)
    unsafe = [name for name in names if "/" in name or "\\" in name or len(os.fsencode(name)) > _LONGEST_NAME]
    if unsafe or {".", ".."} & set(names):
        raise InputError(f"{examples(unsafe or ['..'])} cannot be a file name. Rename the run first.")
    empty = [name for name, n in zip(names, field.lengths.sum(axis=0).tolist(), strict=True) if n == 0]
    if empty:
        why = "has no documents, and an empty file is no run"
        raise InputError(f"{examples(empty)} {why}. Leave it out: runs.select(...).")
    for block in map(field.part, range(len(field.parts))):
        check_names(tokens.decode(block.vocabulary[np.unique(block.all_docs())]), "docno")
    files = [f"input.{name}{'.gz' if compress else ''}" for name in names]
    check_writable(folder, files, overwrite=overwrite, argument="folder")

    def contents() -> Iterator[tuple[str, bytes]]:
        for name, file in zip(names, files, strict=True):
            frame = frame_of(name)
            cells = zip(frame["qid"], frame["docno"], frame["rank"], frame["score"].tolist(), strict=True)
            lines = [f"{qid} Q0 {docno} {rank + 1} {score!r} {name}\n" for qid, docno, rank, score in cells]
            data = guarded("".join(lines).encode("utf-8", "surrogateescape"))
            # no time stamp: the same run gives the same bytes
            yield file, gzip.compress(data, mtime=0) if compress else data

    try:
        return write_together(folder, contents(), overwrite=overwrite)
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror or error}.", argument="folder") from error


def check_order(argument: str, order: Any) -> None:
    """Raise unless a user's argument names a ranking order."""
    choice(argument, order, tuple(ORDERS))


def checked_pool_order(order: Any) -> str:
    """Return a user's ``pool_order=``, or say that it is no ranking order."""
    check_order("pool_order", order)
    return str(order)


def check_order_or_none(argument: str, order: Any) -> None:
    """Raise unless a user's argument names a ranking order, or leaves it to the field."""
    if order is not None:
        check_order(argument, order)


def check_in_order(field: AnyField, names: Sequence[str], now: str, wanted: str) -> None:
    """Raise where a field that stands in one ranking order cannot be put into another."""
    if wanted != "rank" or now == "rank":
        return
    without = [names[r] for r in np.flatnonzero(~field.ranked & field.lengths.any(axis=0)).tolist()]
    if without:
        raise InputError(f"{examples(without)} came without a column 'rank'. {NO_ORDER}", argument="order")
    # told now, not when a block is loaded
    for block in map(field.part, range(len(field.parts))):
        try:
            check_places(block.starts, block.rank)
        except NoPlaceError as error:
            topic, run = divmod(int(np.searchsorted(block.starts, error.row, side="right")) - 1, block.n_runs)
            docno = tokens.decode(tokens.as_tokens(block.words_of(np.array([error.row]))))[0]
            where = {"argument": "order", "place": f"run {shown(names[run])}"}
            raise without_place(block.topics[topic], docno, tied=error.tied, **where) from None


@dataclass(frozen=True)
class HowPooled:
    """How the pool of a field was made; one that is made has been checked."""

    order: str | None = None  # the order in which documents were taken
    depth: int | None = None  # documents per run and topic; None where nobody says

    def __post_init__(self) -> None:
        check_order_or_none("pool_order", self.order)
        if self.depth is not None:
            positive("pool_depth", self.depth, "documents per run and topic")

    def __or__(self, other: HowPooled) -> HowPooled:
        """Return what either says; raise where they say two things."""
        both = (("pool_order", self.order, other.order), ("pool_depth", self.depth, other.depth))
        for option, ours, theirs in both:
            if ours and theirs and ours != theirs:
                two = f"{option} of one field is {ours!r}, that of the other {theirs!r}. Give both the same "
                raise InputError(f"{two}{option}=.", argument="other")
        return HowPooled(self.order or other.order, self.depth or other.depth)

    def in_words(self, order: str) -> Iterator[str]:
        """Yield what the repr of a field in some ranking order says of its pool."""
        if self.order not in (None, order):
            yield f"pool_order={self.order!r}"
        if self.depth is not None:
            yield f"pool_depth={self.depth}"


#: nobody says
UNKNOWN = HowPooled()


def run_frame(field: AnyField, row: int, name: str) -> pd.DataFrame:
    """Return one run as a PyTerrier frame: ``qid docno rank score name``, ranks from 0."""
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
        ranks = None
        if (frame.columns == "rank").sum() == 1:
            ranks = finite_column(frame, "rank") if order == "rank" else number_column(frame["rank"])
        return in_ranking_order(name, FileRows(topics, topic, docs, scores), ranks, order)


class TiedError(InputError):
    """Two documents of a list have one rank, though the ranks count."""

    def __init__(self, topic: str, docno: str, at: int, run: int = 0):
        super().__init__(without_place(topic, docno).text)
        # one of them, and its place among the rows of the list, from 1; `run` is a run of a table
        self.topic, self.docno, self.at, self.run = topic, docno, at, run


def in_ranking_order(name: str, rows: FileRows, ranks: NDArray[np.float64] | None, order: str) -> RunRows:
    """Return a run in a ranking order; a TiedError where the ranks count and give none."""
    places = None if ranks is None else rank_places(rows.starts, rows.grouped(ranks))
    if places is not None and order == "rank":
        try:
            check_places(rows.starts, places)
        except NoPlaceError as error:
            t = int(np.searchsorted(rows.starts, error.row, side="right")) - 1
            row = error.row if rows.grouping is None else int(rows.grouping[error.row])
            docno = tokens.decode(tokens.as_tokens(rows.docs[row : row + 1]))[0]
            raise TiedError(rows.topics[t], docno, error.row - int(rows.starts[t]) + 1) from None
    return rows.in_order(name, order, places)


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
    dropped: pd.DataFrame  # what was left out


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
    table = given_metadata(**labels).table(names, strict=True)

    def rows_of(name: str, result: Any) -> RunRows:
        if isinstance(result, RunRows):
            return replace(result, name=name)
        with located(f"run {shown(name)}"):
            frame = result_frame(result)
        return frame_rows(name, frame, order)

    def coded(results: Iterable[Any]) -> CodedRuns:
        field, repeats = code_runs(list(map(rows_of, names, results)), duplicates=duplicates)
        dropped = repeated(repeats, names, field.topics)
        tell(dropped)
        warn_of_twin_topics(field.topics)
        warn_of_white_space(field.topics, tokens.as_words(field.vocabulary))
        return CodedRuns(field, table, order, how_pooled, dropped)

    return coded
