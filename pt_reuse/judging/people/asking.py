"""Asking: what a round asks of whom, given what earlier rounds asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import choice, examples, shown, told
from pt_reuse._errors import Argument, InputError
from pt_reuse.engine.order import natural_order
from pt_reuse.judging.people.assignment import Overlap, Want, assign
from pt_reuse.judging.people.hashing import drawn
from pt_reuse.judging.people.manifest import Cell, Manifest, Pair, TaskFormat, pair_name
from pt_reuse.judging.people.scale import DEFAULT, Scale
from pt_reuse.judging.people.writing import Sheet
from pt_reuse.pooling.pool import Pool
from pt_reuse.pooling.provenance import provenance_of

FORMATS = tuple(each.value for each in TaskFormat)
#: columns of a pool that have a place of their own in what comes back
_PROVENANCE = ("strategy", "round", "reason")
#: what anybody is called who may answer
_ANYBODY = ""


@dataclass(frozen=True)
class Terms:
    """What holds for all rounds of a folder, and who judges in this one.

    Attributes:
        form: of the files.
        scale: the labels.
        instructions: what people are told.
        annotators: who judges; empty where anybody may answer.
    """

    form: TaskFormat
    scale: Scale
    instructions: str
    annotators: tuple[str, ...]


def agree_terms(
    before: Manifest | None, *, format: str | None, labels: Any, instructions: str | None, annotators: Any
) -> Terms:
    """Return the terms: those of the folder where a user says nothing, or the usual ones of a new folder.

    Raises:
        InputError: terms that none can be, or others than those of the folder.
    """
    form = None if format is None else TaskFormat(choice("format", format, FORMATS))
    scale = None if labels is None else Scale.of(labels)
    people = None if annotators is None else _checked_people(annotators)
    if instructions is not None and not isinstance(instructions, str):
        raise InputError(
            Argument("instructions"), f" must be a text, got {told(instructions)}.", argument="instructions"
        )
    if before is None:
        terms = Terms(form or TaskFormat.CSV, scale or Scale.of(DEFAULT), instructions or "", people or ())
    else:
        _check_same("format", form, before.form, before.form.value)
        _check_same("labels", scale, before.scale, str(before.scale))
        _check_same("instructions", instructions, before.instructions, shown(before.instructions))
        if before.named != bool(people or before.named):
            raise InputError(
                Argument("annotators"),
                " cannot be named in a further round of tasks that anybody may answer. Leave them out, or "
                "give a folder of its own.",
                argument="annotators",
            )
        terms = Terms(before.form, before.scale, before.instructions, people or before.rounds[-1].annotators)
    odd = [word for word in terms.scale.words.values() if "$" in word]
    if terms.form is TaskFormat.LABEL_STUDIO and odd:
        raise InputError(
            Argument("labels"),
            f" cannot have a dollar sign in Label Studio, which takes {shown(odd[0])} for a field of the task. "
            "Use another word.",
            argument="labels",
        )
    return terms


def _check_same(argument: str, mine: object, theirs: object, said: str) -> None:
    if mine is not None and mine != theirs:
        raise InputError(
            Argument(argument),
            f" cannot be another in a further round than before: {said}. Leave it out, or give a folder of its own.",
            argument=argument,
        )


def _checked_people(annotators: Any) -> tuple[str, ...]:
    if isinstance(annotators, str) or not isinstance(annotators, Iterable):
        raise InputError(
            Argument("annotators"), f" must be a list of names, got {told(annotators)}.", argument="annotators"
        )
    people = list(annotators)
    odd = [name for name in people if not isinstance(name, str) or name != name.strip() or not name.isprintable()]
    if odd or not people or "" in people:
        got = told(odd[0]) if odd else "an empty name" if people else "none"
        raise InputError(
            Argument("annotators"),
            f" must be names on one line, without white space around them, got {got}.",
            argument="annotators",
        )
    twice = [name for name, n in Counter(name.casefold() for name in people).items() if n > 1]
    if twice:
        raise InputError(
            Argument("annotators"),
            f" has {examples(twice)} more than once. Name everybody once.",
            argument="annotators",
        )
    return tuple(people)


@dataclass(frozen=True)
class Asked:
    """What a round asks.

    Attributes:
        number: of the round, from 1.
        manifest: of all pairs, those of this round among them; without the record of this round.
        sheets: what each annotator gets, in the order of the annotators; nobody without a pair.
        pairs: what is asked of anybody in this round.
        n_before: pairs of the pool of which nothing is asked now.
    """

    number: int
    manifest: Manifest
    sheets: tuple[Sheet, ...]
    pairs: tuple[Pair, ...]
    n_before: int


def ask(pool: Pool, before: Manifest | None, terms: Terms, overlap: Overlap, *, seed: int, whole_topics: bool) -> Asked:
    """Return what a round asks of whom.

    Args:
        pool: the documents.
        before: what earlier rounds asked; None where there are none.
        terms: what holds for all rounds.
        overlap: how many people judge a pair.
        seed: of what is drawn.
        whole_topics: whether topics go to the same people as a whole.
    """
    number = 1 if before is None else len(before.rounds) + 1
    keys = list(zip(pool.documents.qids().tolist(), pool.documents.docnos().tolist(), strict=True))
    known = {} if before is None else before.by_key
    wanted = overlap.wanted(keys, len(terms.annotators), seed)
    if overlap.by_all or not terms.annotators:
        # what all are to judge was drawn when a pair came first, and anybody could answer what is there already
        wanted = [known[key].wanted if key in known else n for key, n in zip(keys, wanted, strict=True)]
    wants = [Want(key, n, known[key].asked if key in known else ()) for key, n in zip(keys, wanted, strict=True)]
    if terms.annotators:
        loads = Counter(who for pair in known.values() for who in pair.asked)
        given = assign(wants, terms.annotators, loads, seed, whole_topics=whole_topics)
    else:
        given = [() if want.key in known else (_ANYBODY,) for want in wants]

    task = before.task if before is not None else _task_name(seed, terms, keys)
    more = _further(pool)
    pairs = dict(known)
    for i, (want, people) in enumerate(zip(wants, given, strict=True)):
        named = tuple(who for who in people if who != _ANYBODY)
        if want.key in known:
            old = known[want.key]
            pairs[want.key] = replace(old, wanted=max(old.wanted, want.annotators), asked=(*old.asked, *named))
        else:
            pairs[want.key] = _pair(task, want, named, more[i], number)
    topics = list(dict.fromkeys(qid for qid, _ in pairs))
    place = {topics[t]: i for i, t in enumerate(natural_order(topics))}
    # by their names, which tell nothing of the order of the pool
    ordered = tuple(sorted(pairs.values(), key=lambda pair: (place[pair.qid], pair.name)))
    rounds = () if before is None else before.rounds
    manifest = Manifest(task, terms.form, terms.scale, terms.instructions, bool(terms.annotators), rounds, ordered)
    of: dict[str, list[Pair]] = {}
    for want, people in zip(wants, given, strict=True):
        for who in people:
            of.setdefault(who, []).append(pairs[want.key])
    sheets = tuple(
        Sheet(who, sorted(of[who], key=lambda pair: (place[pair.qid], drawn(seed, "order", who, *pair.key))))
        for who in (terms.annotators or (_ANYBODY,))
        if who in of
    )
    now = tuple(pairs[want.key] for want, people in zip(wants, given, strict=True) if people)
    return Asked(number, manifest, sheets, now, len(wants) - len(now))


def _task_name(seed: int, terms: Terms, keys: Sequence[tuple[str, str]]) -> str:
    pairs = sorted(drawn(seed, *key) for key in keys)
    return "t" + drawn(seed, terms.form.value, str(terms.scale), terms.instructions, *terms.annotators, *pairs)[:11]


def _pair(task: str, want: Want, asked: tuple[str, ...], more: Mapping[str, Cell], number: int) -> Pair:
    known = {name: more.get(name) for name in _PROVENANCE}
    chosen, said, why = known["strategy"], known["round"], known["reason"]
    return Pair(
        name=pair_name(task, want.key),
        qid=want.key[0],
        docno=want.key[1],
        wanted=want.annotators,
        asked=asked,
        strategy=None if chosen is None else str(chosen),
        round=int(said) if isinstance(said, int | float) else number,
        reason=None if why is None else str(why),
        further={name: value for name, value in more.items() if name not in _PROVENANCE},
    )


def _further(pool: Pool) -> list[dict[str, Cell]]:
    """Return how the pool chose each document, and what else it knows of it, as JSON has it."""
    known = provenance_of(pool)
    columns = {str(name): [_cell(value) for value in known[name].tolist()] for name in known}
    return [{name: values[i] for name, values in columns.items()} for i in range(len(pool))]


def _cell(value: Any) -> Cell:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else str(value)
