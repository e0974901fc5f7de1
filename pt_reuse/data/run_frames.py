"""A run of a field as a frame, and as a system that looks its results up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field
from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.open_field import AnyField


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
    """Returns what a run has for the topics asked; a topic that the run lacks has no rows.

    Args:
        field: the lists.
        row: of the run.
        name: of the run.
    """

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
        """Return the columns that come out.

        Args:
            input_columns: those that go in.
        """
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
    """Return scores that give the order of the rows wherever documents are sorted by them, in float32, too.

    A score stays where the one above it is greater; else it is lowered to the next smaller number of float32.

    Args:
        scores: (rows,) topic by topic, in ranking order.
        topic: (rows,) the topic of each.
        rank: (rows,) the rank in its list, from 0.
    """
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
