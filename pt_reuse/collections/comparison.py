"""Files that are taken for a collection's, compared with what is on record of it: runs, and judgments of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, warn
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download.run_check import tag_of
from pt_reuse.collections.submitted import submitted_runs
from pt_reuse.engine.order import natural_order
from pt_reuse.runs.run_set import RunSet


def compare_runs(collection: Collection, runs: RunSet, files: Mapping[str, Path]) -> None:
    """Raise where a run has no topic of the collection; warn where it has others, few, or another run's lines."""
    _compare_tags(collection, files)
    has = runs.field.lengths > 0
    topics = np.array(runs.topics, dtype=object)
    known = collection.topic_ids
    if known is not None:
        own = np.array([topic in known for topic in runs.topics], dtype=bool)
        for row in np.flatnonzero(~has[own].any(axis=0)).tolist():
            name, ids = runs.names[row], list(known)
            raise InputError(
                f"{files[name]}, taken for run {name!r}, has no topic of the collection: it has "
                f"{examples(topics[has[:, row]])}; {collection.title} has topics such as "
                f"{examples(ids[i] for i in natural_order(ids))}. Take the file away, or give the right one."
            )
        if not own.all():
            odd = np.flatnonzero(has[~own].any(axis=0))
            _warn(runs, odd, f"with topics that are not of the collection: {examples(topics[~own])}")
        has = has[own]
    usual = has[has.mean(axis=1) >= 0.5]
    few = np.flatnonzero(usual.mean(axis=0) < 0.5) if len(usual) else np.zeros(0, dtype=int)
    if len(few):
        _warn(runs, few, f"with less than half of the {len(usual):,} topics that most runs have")


def compare_judgments(collection: Collection, frame: pd.DataFrame) -> None:
    """Warn where judgments that the user put in place of the official ones are not what is on record."""
    if not collection.is_replaced("qrels") or "label" not in frame:
        return
    positive = "relevant" if collection.rel in (None, 1) else "with a label above 0"
    found = {"judgments": len(frame), positive: int((frame["label"] > 0).sum())}
    expected = {"judgments": collection.n_judged, positive: collection.n_relevant}
    odd = [f"{found[key]:,} {key} instead of {n:,}" for key, n in expected.items() if n not in (None, found[key])]
    ids = collection.topic_ids
    strange = [] if ids is None else [qid for qid in dict.fromkeys(frame["qid"]) if qid not in ids]
    odd += [f"topics that are not its own: {examples(strange)}"] if strange else []
    if odd and collection.qrels:
        warn(
            f"the judgments in {collection.qrels[0]}, which are used in place of the official ones, have "
            f"{'; '.join(odd)}. Are they those of another collection?",
            place=f"reuse:{collection.name}",
        )


def _compare_tags(collection: Collection, files: Mapping[str, Path]) -> None:
    every = set(submitted_runs(collection)["name"])
    with ThreadPoolExecutor() as pool:
        tags = dict(zip(files, pool.map(tag_of, files.values()), strict=True))
    odd = [f"{files[name]} holds run {tag!r}" for name, tag in tags.items() if tag != name and tag in every]
    if odd:
        warn(
            f"{count(len(odd), 'file')} whose last column has the tag of another run: {'; '.join(odd[:3])}. A file "
            f"stands for the run it is named by: rename or replace it."
        )


def _warn(runs: RunSet, rows: NDArray[np.int64], what: str) -> None:
    names = [runs.names[row] for row in rows.tolist()]
    warn(f"{count(len(names), 'run')} ({examples(names)}) {what}.")
