"""Scores under several judgments, as studies of score matrices take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pt_reuse._check import examples, told
from pt_reuse._errors import InputError, wrong
from pt_reuse.scoring.scores import Scores

#: what judgments are called that nobody names
UNNAMED = "judgments"


def named_scores(scores: Any) -> dict[str, Scores]:
    """Return name -> Scores of a user's ``scores=``, all good to compare runs by, with the same measures."""
    several = isinstance(scores, Mapping)
    sets: dict[Any, Any] = dict(scores) if several else {UNNAMED: scores}
    if not sets:
        raise wrong("scores", " is empty. Give Scores, or a name -> Scores.")
    for name, found in sets.items():
        at = f"{name!r}" if several else None
        if not isinstance(found, Scores):
            hint = " Score the runs first, or make Scores of a frame by Scores.from_frame."
            raise InputError(f"expected Scores, got {told(found)}.{hint}", argument="scores", place=at)
        if not isinstance(name, str) or not name.strip():
            raise wrong("scores", f" must have names as keys, got {told(name)}.")
        _check(found, at)
    (first_name, first), *others = sets.items()
    for name, found in others:
        odd = sorted(set(found.measures) ^ set(first.measures))
        if odd:
            problem = f"all need the same measures; {examples(odd)} in one of {first_name!r} and {name!r} only."
            raise InputError(problem, argument="scores")
    return sets


def _check(scores: Scores, place: str | None) -> None:
    if len(scores.names) < 2:
        problem = f"it takes two runs to compare, got {examples(scores.names) or 'none'}."
        raise InputError(problem, argument="scores", place=place)
    if not scores.topics:
        raise InputError("there is no topic to compare runs on.", argument="scores", place=place)
    bad = np.argwhere(~np.isfinite(scores.values))
    if len(bad):
        raise InputError(
            f"{score_in_words(scores, *bad[0].tolist())}; a score must be a finite number. Take the measure out.",
            argument="scores",
            place=place,
        )


def score_in_words(scores: Scores, measure: int, topic: int, run: int) -> str:
    """Return what one score is, for messages."""
    value = scores.values[measure, topic, run]
    return f"{scores.measures[measure]} of run {scores.names[run]!r} is {value} on topic {scores.topics[topic]!r}"
