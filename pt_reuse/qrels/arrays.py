"""The arrays of a set of judgments, and the checks on the way in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, warn
from pt_reuse.engine import tokens
from pt_reuse.engine.tokens import Words
from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.formats.frames import text_words


@dataclass(frozen=True)
class QrelsArrays:
    """The arrays of a Qrels.

    Attributes:
        documents: the judged documents by topic.
        labels: (rows,) their labels.
    """

    documents: TopicDocs
    labels: NDArray[np.int16]


def first_occurrences(
    topic: NDArray[np.int64],
    words: Words,
    labels: NDArray[np.int16],
    topics: list[str],
    line_of: Callable[[int], int] | None,
) -> NDArray[np.int64] | None:
    """Return the first row of each (topic, document) pair, None when no pair stands twice.

    A pair with two labels is an error and one given twice a warning; both say where, by `line_of` where there is one.
    """
    if len(topic) == 0:
        return None
    codes, first = tokens.factorize(words)
    pairs, first_rows = tokens.factorize((topic * len(first) + codes).astype(np.uint64)[:, None])
    if len(first_rows) == len(topic):
        return None
    first_row = first_rows[pairs]

    def place(row: int) -> str:
        rows = [int(first_row[row]), row]
        if line_of is None:
            return "rows {:,} and {:,}".format(*rows)
        return "lines {:,} and {:,}".format(*map(line_of, rows))

    def document(row: int) -> str:
        docno = tokens.decode(tokens.as_tokens(words[row : row + 1]))[0]
        return f"topic {topics[topic[row]]!r}, document {docno!r}"

    clash = np.flatnonzero(labels != labels[first_row])
    if len(clash):
        row = int(clash[0])
        raise InputError(
            f"{document(row)} has label {int(labels[first_row[row]])} and {int(labels[row])} "
            f"({count(len(clash), 'conflicting label')} in all). Keep one label per document; "
            f"Qrels.union(conflict=...) merges two sets of judgments by a rule.",
            place=place(row),
        )
    again = np.flatnonzero(first_row != np.arange(len(topic)))
    row = int(again[0])
    warn(
        f"{count(len(again), 'judgment')} given more than once with the same label ({document(row)}, "
        f"{place(row)}); each counts once.",
    )
    return first_rows


def topic_set(topics: Any) -> list[str]:
    """Return topic ids as a list of texts."""
    if topics is None:
        return []
    if isinstance(topics, str | bytes | pd.DataFrame) or not isinstance(topics, Iterable):
        raise InputError(f"topics must be several topic ids, got {topics!r}.")
    names = [str(topic) for topic in topics]
    text_words("qid", names)
    odd = [name for name in names if not name or "\0" in name]
    if odd:
        raise InputError(f"{examples(odd)} cannot be a qid; it must be text without NUL bytes.")
    return names


def stack_extra(
    mine: pd.DataFrame | None, n_mine: int, theirs: pd.DataFrame | None, added: NDArray[np.int64]
) -> pd.DataFrame | None:
    """Put the further columns of added judgments below those of the ones at hand."""
    if mine is None and theirs is None:
        return None
    upper = mine if mine is not None else pd.DataFrame(index=range(n_mine))
    lower = theirs.iloc[added] if theirs is not None else pd.DataFrame(index=range(len(added)))
    return pd.concat([upper, lower], ignore_index=True)
