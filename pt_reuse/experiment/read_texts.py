"""Texts that a judge reads: which columns of results are kept for it, and what they say of documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse.experiment.tap import Kept
from pt_reuse.judging.judges import AskedJudge, NamedJudge

#: what every judge is told
IDS = ("qid", "docno")
#: what topics know best
QUERY = "query"
#: nothing besides
NO_TEXTS = pd.DataFrame(columns=list(IDS))


def kept_for(judge: NamedJudge | None) -> Kept:
    """Return which columns of results are kept for a judge: those that it reads, all texts where nobody says which."""
    if judge is None:
        return Kept()
    if isinstance(judge.judge, AskedJudge):
        return Kept(texts=True)
    return Kept(tuple(column for column in judge.judge.needs() if column not in IDS))


def check_texts(kept: Kept, topics: pd.DataFrame, systems: Mapping[str, Any]) -> None:
    """Raise, before any pipeline is executed, where a judge reads a column that nobody gives."""
    missing = set(kept.names) - set(topics.columns)
    for system in systems.values():
        if isinstance(system, pd.DataFrame):
            missing -= set(system.columns)
    for system in systems.values():
        if not missing:
            return
        if isinstance(system, pt.Transformer):
            outputs = pt.inspect.transformer_outputs(system, list(topics.columns), strict=False)
            # who does not say what it returns may return it
            missing = set() if outputs is None else missing - set(outputs)
    if missing:
        some = examples(sorted(missing))
        raise InputError(
            f"the judge reads {some}, which neither the topics nor any system has. Let pipelines end with it, such as "
            "`>> pt.text.get_text(dataset, 'text')`.",
            argument="fill",
        )


def has_texts(documents: pd.DataFrame, judge: NamedJudge) -> NDArray[np.bool_]:
    """Return (documents,): whether nothing that the judge reads is missing; True where nobody says what it reads."""
    read = [column for column in kept_for(judge).names if column in documents]
    return documents[read].notna().all(axis=1).to_numpy(dtype=bool)


def with_texts(documents: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Return documents with what a judge reads of them: what systems say first, then what their topics do.

    The query is the other way round: that of a system may have been rewritten.

    Args:
        documents: ``qid docno``.
        texts: rows of systems, ``qid docno`` and texts; rows of topics, ``qid``, texts, and no docno.
    """
    columns = [column for column in texts if column not in IDS]
    if not columns:
        return documents
    of_topics = texts["docno"].isna() if "docno" in texts else pd.Series(True, index=texts.index)
    found = documents.copy()
    for keys, rows in ((list(IDS), texts[~of_topics]), (["qid"], texts[of_topics])):
        # the first that says something
        first = rows.groupby(keys, sort=False)[columns].first().reset_index() if len(rows) else None
        if first is not None:
            here = documents.merge(first, how="left", on=keys)
            for column in columns:
                told, before = here[column], found.get(column)
                if before is not None:
                    told = told.fillna(before) if column == QUERY else before.fillna(told)
                found[column] = told
    return found


def texts_of(frames: Iterable[pd.DataFrame], topics: pd.DataFrame, kept: Kept) -> pd.DataFrame:
    """Return what a judge reads, as :func:`with_texts` takes it."""
    parts = []
    for keys, some in ((list(IDS), list(frames)), (["qid"], [topics])):
        for frame in some:
            columns = [column for column in kept.of(frame) if column not in IDS]
            if columns:
                parts.append(frame[[*keys, *columns]].astype(dict.fromkeys(keys, str)))
    return pd.concat(parts, ignore_index=True) if parts else NO_TEXTS
