"""A coded field as PyTerrier's frames: its rows, and how many they are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.lists import ranges
from pt_reuse.engine.open_field import AnyField


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
