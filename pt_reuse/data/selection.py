"""Some of the runs, or of the corpus: by name, drawn at random, by the names of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, count, did_you_mean, examples, flag, shown, told
from pt_reuse._errors import Argument, Aside, Call, InputError, Option, door, warn
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.stratified import share_of
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.frame_columns import text_words
from pt_reuse.data.units import column_of, how_to_give, units_of

#: condition -> column of a table of runs
_COLUMNS = {"names": "name", "team": "team", "type": "type", "family": "family", "task": "task"}


def chosen_rows(
    table: pd.DataFrame,
    *,
    pooled: bool | None = None,
    shown_by: str = "`runs.run_table`",
    **conditions: str | Iterable[str] | None,
) -> NDArray[np.bool_]:
    """Return which rows of a table of runs meet every condition that is not None; at least one does.

    Args:
        table: one row per run.
        pooled: True for the runs on record as pooled, False for those on record as not pooled.
        shown_by: what shows the table to the user.
        **conditions: ``names``, ``team``, ``type``, ``family``, ``task``: a value or several.

    Raises:
        InputError: a value that no run has, `pooled` where nothing is on record, or no run left.
    """
    chosen = np.ones(len(table), dtype=bool)
    for condition, values in checked_conditions(pooled=pooled, **conditions).items():
        if condition == "pooled":
            continue
        column = column_of(table, condition) if condition == "family" else table[_COLUMNS[condition]]
        known = [value for value in dict.fromkeys(column) if isinstance(value, str) and value]
        for value in values:
            check_known("run" if condition == "names" else condition, value, known, argument=condition)
        chosen &= column.isin(values).to_numpy()
    if pooled is not None:
        chosen &= _recorded(table["pooled"], bool(pooled), chosen)
    if not chosen.any():
        raise InputError(f"no run meets all conditions. See {shown_by} for what there is.")
    return chosen


def checked_conditions(*, pooled: bool | None = None, **conditions: str | Iterable[str] | None) -> dict[str, Any]:
    """Return the conditions that are not None, each with a list of values, ``pooled`` with its flag.

    Raises:
        InputError: something that is no flag, or no text and not several.
    """
    checked: dict[str, Any] = {
        condition: _several(condition, wanted) for condition, wanted in conditions.items() if wanted is not None
    }
    return checked if pooled is None else {**checked, "pooled": flag("pooled", pooled)}


def _recorded(column: pd.Series, pooled: bool, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which runs are on record as pooled, or as not; tell of runs of which neither is on record."""
    unknown = column.isna().to_numpy()
    if unknown.all() and len(unknown):
        raise InputError(
            "who was pooled is not on record. Leave out ",
            Option("pooled", pooled),
            ", or say it first: ",
            Call("runs.with_metadata", "pooled=..."),
            "; ",
            Call("infer_pool", "runs, qrels"),
            " says which runs must have contributed.",
            argument="pooled",
        )
    left = int((unknown & among).sum())
    if left:
        warn(f"{count(left, 'run')} left out: not on record whether pooled.")
    return column.astype("boolean").fillna(not pooled).to_numpy(dtype=bool) == pooled


def check_known(what: str, value: Any, known: list[str], *, argument: str | None = None) -> None:
    """Raise when `value`, a `what`, is not among those known; the error names what is near."""
    if isinstance(value, str) and value in known:
        return
    if not known:
        advice = (
            (" Give ", *how_to_give(what), Aside(" when reading the runs"), ".")
            if what in ("team", "type", "family")
            else ()
        )
        raise InputError(f"no {what} {shown(value)}; no run has a {what}.", *advice, argument=argument)
    raise InputError(
        f"no {what} {shown(value)} among {examples(known)}.{did_you_mean(value, known)}", argument=argument
    )


def _several(argument: str, given: Any) -> list[Any]:
    if isinstance(given, str):
        return [given]
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{argument} must be a text or several, got {shown(given)}.", argument=argument)
    return list(given)


@door
def subsample_corpus(corpus: Iterable[str] | Iterable[Mapping[str, Any]], *, share: float, seed: int) -> list[str]:
    """Draw a random share of a corpus: the documents are shuffled once, and the first share is kept.

    Runs are restricted to it by :meth:`RunSet.restrict`, as if nothing else had been in the corpus. A smaller share of
    the same seed is a part of a larger one.

    Args:
        corpus: document names, or documents with a ``docno``, as ``get_corpus_iter()`` of a PyTerrier dataset yields
            them. Where there is no corpus at hand, ``runs.docnos()`` has the documents that any run retrieves: the same
            share of these stays, although how many of them a real third of the corpus has would vary a little.
        share: above 0, at most 1; ``1/3`` keeps a third. The number of documents is rounded, half up.
        seed: the same seed draws the same documents in every process, in whichever order the corpus comes.

    Returns:
        list of str: document names, in the order in which they were drawn.

    Raises:
        InputError: no documents, something that is no document, a share out of range or one of no document.

    Warns:
        ReuseWarning: a document that is in the corpus more than once, which counts once.

    Example:
        >>> import pt_reuse as ptr
        >>> third = ptr.profile.subsample_corpus((f"d{i}" for i in range(90)), share=1 / 3, seed=1)
        >>> len(third), third[:10] == ptr.profile.subsample_corpus((f"d{i}" for i in range(90)), share=1 / 9, seed=1)
        (30, True)
    """
    part, number = _share(share, whole_allowed=True), checked_seed(seed)
    names = _docnos(corpus)
    distinct = sorted(set(names))
    if len(distinct) < len(names):
        warn(f"the corpus has {count(len(names) - len(distinct), 'document')} more than once; each counts once.")
    n = share_of(part, len(distinct))
    if not n:
        raise InputError(
            Argument("share"), f" {told(share)} of {count(len(distinct), 'document')} is no document.", argument="share"
        )
    drawn = np.random.default_rng(number).permutation(len(distinct))[:n]
    return tokens.as_texts([distinct[i] for i in drawn.tolist()])


def drawn_teams(run_table: pd.DataFrame, share: Any, seed: Any) -> tuple[list[str], list[str]]:
    """Return the runs of a random share of the teams, and those of the others; both have at least one team."""
    part, number = _share(share, whole_allowed=False), checked_seed(seed)
    units = units_of(run_table, "team")
    teams = sorted(units.names, key=lambda team: team.encode("utf-8", "surrogateescape"))
    if len(teams) < 2:
        raise InputError(f"there is no second team beside {examples(teams)}, so teams cannot be split.")
    shuffled = [teams[i] for i in np.random.default_rng(number).permutation(len(teams)).tolist()]
    n = min(max(share_of(part, len(teams)), 1), len(teams) - 1)
    drawn = np.isin(units.of_run, units.positions(shuffled[:n]))
    names = run_table["name"].to_numpy()
    return names[drawn].tolist(), names[~drawn].tolist()


def _share(share: Any, *, whole_allowed: bool) -> float:
    number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
    if number and (0 < share < 1 or (whole_allowed and share == 1)):
        return float(share)
    upto = "at most 1" if whole_allowed else "below 1"
    raise InputError(Argument("share"), f" must be a number above 0 and {upto}, got {told(share)}.", argument="share")


def _docnos(corpus: Any) -> list[bytes]:
    if isinstance(corpus, str | bytes | Mapping | pd.DataFrame) or not isinstance(corpus, Iterable):
        got = "one string" if isinstance(corpus, str) else type(corpus).__name__
        raise InputError(
            Argument("corpus"),
            f" must be document names, or documents with a docno, got {got}.",
            argument="corpus",
        )
    names: list[Any] = [document.get("docno") if isinstance(document, Mapping) else document for document in corpus]
    if not names:
        raise InputError(Argument("corpus"), " has no documents.", argument="corpus")
    odd = next((i for i, name in enumerate(names) if not isinstance(name, str) or not name), None)
    if odd is not None:
        raise InputError(
            Argument("corpus"),
            f" must be document names, or documents with a docno; document {odd:,} has {shown(names[odd])}.",
            argument="corpus",
        )
    return tokens.encoded(names)


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
