"""Unite two coded fields without coding either of them again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.lists import offsets
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.places import Places
from pt_reuse.engine.tokens import Tokens


def unite(first: Field, second: Field) -> Field:
    """Return the field of the runs of both, those of `second` last.

    It has the rows that coding all runs together gives. Documents that a field knows but no run retrieves stay.
    """
    names = list(dict.fromkeys([*first.topics, *second.topics]))
    topics = [names[i] for i in natural_order(names)]
    pairs = [(first.topic_row.get(topic), second.topic_row.get(topic)) for topic in topics]
    vocabulary, place_first, place_second = _unite_vocabularies(first.vocabulary, second.vocabulary)
    docs, code_of_second = _unite_documents(first, second, pairs, place_first, place_second)
    n_docs = np.array([len(part) for part in docs], dtype=np.int64)
    rows = len(first.codes) + len(second.codes)
    codes = np.empty(rows, dtype=np.uint16 if n_docs.max(initial=0) <= 2**16 else np.uint32)
    scores, lengths = np.empty(rows), np.zeros((len(topics), first.n_runs + second.n_runs), dtype=np.int64)
    at = 0
    for i, (a, b) in enumerate(pairs):  # a topic's rows stand together, so each field gives one piece of them
        if a is not None:
            piece = first.rows(a)
            to = slice(at, at + piece.stop - piece.start)
            codes[to], scores[to] = first.codes[piece], first.scores[piece]
            lengths[i, : first.n_runs], at = first.lengths[a], to.stop
        if b is not None:
            piece = second.rows(b)
            to = slice(at, at + piece.stop - piece.start)
            codes[to], scores[to] = code_of_second[i][second.codes[piece]], second.scores[piece]
            lengths[i, first.n_runs :], at = second.lengths[b], to.stop
    return Field(
        lengths.shape[1],
        tuple(topics),
        vocabulary,
        np.concatenate(docs) if docs else np.zeros(0, dtype=np.int32),
        offsets(n_docs),
        offsets(lengths.ravel()),
        codes,
        scores,
        file=_unite_places(first, second, topics, (first.file, second.file)),
        rank=_unite_places(first, second, topics, (first.rank, second.rank)),
        ranked=np.concatenate([first.ranked, second.ranked]),
    )


def _unite_vocabularies(first: Tokens, second: Tokens) -> tuple[Tokens, NDArray[np.int32], NDArray[np.int32]]:
    """Return both vocabularies as one in hash order, and where the names of each are in it."""
    mine, theirs = tokens.as_words(first), tokens.as_words(second)
    rows = tokens.find(theirs, mine)
    new = np.flatnonzero(rows < 0)
    width = max(mine.shape[1], theirs.shape[1])
    mine, added = tokens.widen(mine, width), tokens.widen(theirs, width).take(new, axis=0)
    before = np.searchsorted(tokens.hashes(mine), tokens.hashes(added), side="right")
    here = np.arange(len(mine))
    place_first = (here + np.searchsorted(before, here, side="right")).astype(np.int32)
    place_second = np.empty(len(theirs), dtype=np.int32)
    place_second[rows >= 0] = place_first[rows[rows >= 0]]
    place_second[new] = before + np.arange(len(new))
    return tokens.as_tokens(np.insert(mine, before, added, axis=0)), place_first, place_second


def _unite_documents(
    first: Field,
    second: Field,
    pairs: list[tuple[int | None, int | None]],
    place_first: NDArray[np.int32],
    place_second: NDArray[np.int32],
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]]:
    """Return the documents of each topic, and the new code of each that the second field has there."""
    docs, codes = [], []
    code_of = np.full(len(place_first) + len(place_second), -1, dtype=np.int32)  # on the topic at hand
    for a, b in pairs:
        mine = place_first[first.docs(a)] if a is not None else place_first[:0]
        theirs = place_second[second.docs(b)] if b is not None else place_second[:0]
        code_of[mine] = np.arange(len(mine), dtype=np.int32)
        both = np.concatenate([mine, theirs[code_of[theirs] < 0]])
        code_of[both] = np.arange(len(both), dtype=np.int32)
        docs.append(both)
        codes.append(code_of[theirs])
        code_of[both] = -1
    return docs, codes


def _unite_places(first: Field, second: Field, topics: list[str], places: tuple[Places, Places]) -> Places:
    place, n_runs = {topic: i for i, topic in enumerate(topics)}, first.n_runs + second.n_runs
    lists = []
    for field, part, before in ((first, places[0], 0), (second, places[1], first.n_runs)):
        topic = np.array([place[name] for name in field.topics], dtype=np.int64)
        lists.append(topic[part.lists // field.n_runs] * n_runs + before + part.lists % field.n_runs)
    return Places.joined(places, lists)
