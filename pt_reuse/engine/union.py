"""Unite coded fields without coding any of them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field, Late, LateField
from pt_reuse.engine.lists import offsets, taken
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.places import Places


def unite(*pieces: Field, columns: Sequence[NDArray[np.int64]] | None = None, n_runs: int | None = None) -> Field:
    """Return the field of the runs of all pieces, those of the first one first.

    It has the rows that coding all runs together gives. Documents that a field knows but no run retrieves stay.

    Args:
        *pieces: at least one.
        columns: the runs of the united field that each piece holds, where they are not appended one after the other; a
            run may stand in several pieces that have no topic in common.
        n_runs: how many runs it has, where the last ones may be in no piece.
    """
    if columns is None:
        ends = np.cumsum([piece.n_runs for piece in pieces])
        columns = [np.arange(end - piece.n_runs, end) for end, piece in zip(ends.tolist(), pieces, strict=True)]
    if n_runs is None:
        n_runs = 1 + max(int(runs.max(initial=-1)) for runs in columns)
    names = list(dict.fromkeys(topic for piece in pieces for topic in piece.topics))
    topics = [names[i] for i in natural_order(names)]
    place = {topic: t for t, topic in enumerate(topics)}
    topics_of = [np.array([place[name] for name in piece.topics], dtype=np.int64) for piece in pieces]
    # the lists of the united field, in the order of the pieces
    lists_of = [(of[:, None] * n_runs + runs).ravel() for of, runs in zip(topics_of, columns, strict=True)]
    lists, counts = np.concatenate(lists_of), np.concatenate([np.diff(piece.starts) for piece in pieces])
    some = np.flatnonzero(counts)
    order = some[np.argsort(lists[some], kind="stable")]
    lengths = np.zeros(len(topics) * n_runs, dtype=np.int64)
    lengths[lists[some]] = counts[some]
    begins = offsets(counts)[:-1][order]
    words, places = _vocabularies(pieces)
    docs, codes = _documents(pieces, topics_of, places, len(topics), len(words))
    n_docs = np.array([len(part) for part in docs], dtype=np.int64)
    every_code = np.concatenate(codes, dtype=np.uint16 if n_docs.max(initial=0) <= 2**16 else np.uint32)
    ranked = np.ones(n_runs, dtype=np.bool_)
    for piece, runs in zip(pieces, columns, strict=True):
        ranked[runs] &= piece.ranked
    early: dict[str, Any] = {
        "n_runs": n_runs,
        "topics": tuple(topics),
        "vocabulary": tokens.as_tokens(words),
        "topic_docs": np.concatenate([np.zeros(0, dtype=np.int32), *docs]),
        "doc_starts": offsets(n_docs),
        "starts": offsets(lengths),
        "codes": taken(every_code, begins, counts[order]),
        "ranked": ranked,
    }

    def late() -> Late:
        scores = np.concatenate([piece.scores for piece in pieces])
        return Late(
            taken(scores, begins, counts[order]),
            file=_joined([piece.file for piece in pieces], lists_of),
            rank=_joined([piece.rank for piece in pieces], lists_of),
        )

    if any(isinstance(piece, LateField) for piece in pieces):
        return LateField(late=late, **early)
    found = late()
    return Field(**early, scores=found.scores, file=found.file, rank=found.rank)


def _joined(places: Sequence[Places], lists: Sequence[NDArray[np.int64]]) -> Places:
    return Places.joined(places, [numbers[part.lists] for part, numbers in zip(places, lists, strict=True)])


def _vocabularies(pieces: Sequence[Field]) -> tuple[tokens.Words, list[NDArray[np.int64]]]:
    """Return the document names of all pieces in hash order, and where those of each piece are among them."""
    parts = [tokens.as_words(piece.vocabulary) for piece in pieces]
    words, place = tokens.in_hash_order(tokens.stacked(parts))
    ends = np.cumsum([len(part) for part in parts])
    return words, np.split(place, ends[:-1])


def _documents(
    pieces: Sequence[Field],
    topics_of: Sequence[NDArray[np.int64]],
    places: Sequence[NDArray[np.int64]],
    n_topics: int,
    n_words: int,
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.unsignedinteger]]]:
    """Return the documents of each topic, and the codes of the rows of each piece among them."""
    held: list[list[tuple[int, int]]] = [[] for _ in range(n_topics)]
    for k, of in enumerate(topics_of):
        for t, topic in enumerate(of.tolist()):
            held[topic].append((k, t))
    docs: list[NDArray[np.int32]] = []
    codes: list[NDArray[np.unsignedinteger]] = [np.empty(piece.n_rows, dtype=np.uint32) for piece in pieces]
    code_of = np.full(n_words, -1, dtype=np.int32)  # on the topic at hand
    for of_topic in held:
        mine = np.zeros(0, dtype=np.int32)
        for k, t in of_topic:
            theirs = places[k][pieces[k].docs(t)].astype(np.int32)
            new = theirs[code_of[theirs] < 0]
            code_of[new] = np.arange(len(mine), len(mine) + len(new), dtype=np.int32)
            mine = np.concatenate([mine, new])
            rows = pieces[k].rows(t)
            codes[k][rows] = code_of[theirs].take(pieces[k].codes[rows])
        docs.append(mine)
        code_of[mine] = -1
    return docs, codes
