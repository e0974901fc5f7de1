"""Fields made of fields: the documents that are kept of one, and whether two can be united."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, shown, told
from pt_reuse._errors import Argument, Call, InputError, warn
from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.open_field import AnyField
from pt_reuse.engine.tokens import Words
from pt_reuse.formats.frames import text_words

#: says of a docno whether the document is meant
OfDocno: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True)
class Part:
    """Some documents of a field, as a user says which; one that is made has been checked.

    Attributes:
        among: says of distinct document names, as words, which are among them.
        argument: by which the user said so.
    """

    among: Callable[[Words], NDArray[np.bool_]]
    argument: str

    @classmethod
    def of(cls, docnos: Any, prefix: Any, where: Any) -> Part:
        """Return the documents that one of three arguments says: names, how names begin, or a function of a name."""
        given = {name: value for name, value in (("docnos", docnos), ("prefix", prefix), ("where", where))}
        said = [name for name, value in given.items() if value is not None]
        if len(said) != 1:
            got = f"got {' and '.join(said)}" if said else "got none of them"
            raise InputError(f"give one of docnos, prefix and where, {got}.", argument=said[-1] if said else "docnos")
        if docnos is not None:
            return cls(_among(docnos), "docnos")
        if prefix is not None:
            return cls(_beginning(prefix), "prefix")
        if not callable(where):
            raise InputError(Argument("where"), f" must be a function of a docno, got {told(where)}.", argument="where")
        return cls(_that(lambda docno: holds(where, docno)), "where")


def restricted(field: AnyField, names: Sequence[str], part: Part) -> AnyField:
    """Return a field with only some documents, see :meth:`RunSet.restrict`.

    Args:
        field: the runs.
        names: (runs,) their names, for the warning.
        part: the documents to keep.
    """
    kept = [_rows_of(field.part(i), part) for i in range(len(field.parts))] if isinstance(field, Field) else None
    left = np.zeros(field.lengths.shape, dtype=field.lengths.dtype)
    for i, topics in enumerate(field.parts):
        block = field.part(i)
        rows = _rows_of(block, part) if kept is None else kept[i]
        here = np.diff(np.concatenate([[0], np.cumsum(rows)])[block.starts])
        left[topics.start : topics.stop] = here.reshape(block.lengths.shape)
    if not left.any():
        raise InputError(
            "no run retrieves any of these documents. Are they docnos of this collection?", argument=part.argument
        )
    _tell_of_emptied((field.lengths > 0) & (left == 0), field, names)
    if isinstance(field, Field):
        return field.keep(np.concatenate(kept or []))
    return field.changed(Kept(part), left)


@dataclass(frozen=True)
class Kept:
    """Keeps some documents of a block."""

    part: Part

    def of(self, block: Field) -> Field:
        """Return the block with these documents; lists close up."""
        return block.keep(_rows_of(block, self.part))


def _rows_of(block: Field, part: Part) -> NDArray[np.bool_]:
    docs = block.all_docs()
    retrieved = np.zeros(len(block.vocabulary), dtype=bool)
    retrieved[docs] = True
    kept = np.zeros(len(block.vocabulary), dtype=bool)
    kept[retrieved] = part.among(tokens.as_words(block.vocabulary)[retrieved])
    return kept[docs]


def _tell_of_emptied(emptied: NDArray[np.bool_], field: AnyField, names: Sequence[str]) -> None:
    if not emptied.any():
        return
    topic, run = (int(places[0]) for places in np.nonzero(emptied))
    of = (emptied.sum(), emptied.any(axis=0).sum(), emptied.any(axis=1).sum())
    lists, of_runs, of_topics = (count(int(n), noun) for n, noun in zip(of, ("list", "run", "topic"), strict=True))
    gone = int((emptied | (field.lengths == 0)).all(axis=1).sum())
    and_gone = f" {count(gone, 'topic')} without a document of any run {'goes' if gone == 1 else 'go'}." if gone else ""
    warn(
        f"no document is left in {lists} of {of_runs} on {of_topics}, such as that of run {shown(names[run])} for "
        f"topic {shown(field.topics[topic])}.{and_gone}"
    )


def _among(docnos: Any) -> Callable[[Words], NDArray[np.bool_]]:
    if isinstance(docnos, str | bytes | Mapping | pd.DataFrame) or not isinstance(docnos, Iterable):
        got = "one string" if isinstance(docnos, str) else type(docnos).__name__
        raise InputError(f"docnos must be several document names, got {got}.", argument="docnos")
    wanted = text_words("docno", list(dict.fromkeys(str(docno) for docno in docnos)))
    return lambda words: tokens.match(words, wanted) >= 0


def _beginning(prefix: Any) -> Callable[[Words], NDArray[np.bool_]]:
    several = [prefix] if isinstance(prefix, str) else list(prefix) if isinstance(prefix, Iterable) else []
    if not several or not all(isinstance(one, str) and one for one in several):
        raise InputError(Argument("prefix"), f" must be a text or several, got {told(prefix)}.", argument="prefix")
    return _that(lambda docno: docno.startswith(tuple(several)))


def _that(chosen: OfDocno) -> Callable[[Words], NDArray[np.bool_]]:
    return lambda words: np.fromiter(map(chosen, tokens.decode(tokens.as_tokens(words))), dtype=bool, count=len(words))


def holds(where: OfDocno, docno: str) -> bool:
    """Return what a user's ``where=`` says of a document name, or raise where that is neither True nor False."""
    answer: object = where(docno)
    if type(answer).__name__ not in ("bool", "bool_"):
        raise InputError(
            Argument("where"), f" must return True or False, got {told(answer)} for {shown(docno)}.", argument="where"
        )
    return bool(answer)


def check_same_order(mine: str, other: str) -> None:
    """Raise where two fields that are to be united stand in two ranking orders."""
    if mine != other:
        raise InputError(
            f"one field is ordered {mine!r}, the other {other!r}. Put the other in order by ",
            Call("RunSet.reorder", repr(mine)),
            ".",
            argument="other",
        )
