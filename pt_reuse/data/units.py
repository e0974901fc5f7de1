"""Units of a field: teams, types, families and runs; and a part of its runs, documents or topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField, Field
from pt_reuse.arrays.prediction_powered import share_of
from pt_reuse.arrays.tokens import Words
from pt_reuse.data.frame_columns import as_ids, text_words
from pt_reuse.data.metadata import record_in_words
from pt_reuse.errors import InputError, checked_seed, choice, count, did_you_mean, examples, flag, shown, warn


def distinct(column: pd.Series) -> list[str]:
    """Return the distinct values of a column of a table of runs, in order of appearance."""
    return [value for value in dict.fromkeys(column) if value is not None]


def counts_in_words(field: AnyField, table: pd.DataFrame) -> Iterator[str]:
    """Return how many runs, teams, types, topics and rows there are, each in words."""
    yield f"{count(len(table), 'run')} ({record_in_words(table['pooled'])})"
    yield from (count(n, noun) for noun in ("team", "type") if (n := len(distinct(table[noun]))))
    yield count(len(field.topics), "topic")
    yield count(field.n_rows, "row")


#: by -> the column of a table of runs that names the unit
COLUMNS = {"team": "team", "run": "name", "type": "type", "family": "family"}
#: what every table of runs has
_OF_EVERY_RUN = ("name", "team", "type", "pooled")


@dataclass(frozen=True)
class Units:
    """The units of a table of runs."""

    by: str  # ``"team"``, ``"run"``, ``"type"`` or ``"family"``
    names: tuple[str, ...]  # of the units, in order of appearance
    of_run: NDArray[np.int64]  # (runs,) the unit of each run, as a position among the names
    own: int = 0  # how many runs without a team are each a team of their own

    def __len__(self) -> int:
        return len(self.names)

    @property
    def column(self) -> str:
        """Return the column in which frames name the unit: ``team``, ``type``, ``family`` or, for a run, ``name``."""
        return COLUMNS[self.by]

    @property
    def settings(self) -> dict[str, str]:
        """Return what the settings of a result say of runs without a team."""
        return {"teams": f"{count(self.own, 'run')} without a team, each a team of its own"} if self.own else {}

    def runs(self) -> NDArray[np.int64]:
        """Return (units,): how many runs each has."""
        return np.bincount(self.of_run, minlength=len(self))

    def positions(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the position of each of some names among the units."""
        place = {name: u for u, name in enumerate(self.names)}
        return np.array([place[name] for name in names], dtype=np.int64)


def check_unit_is_given(by: str, columns: Collection[str], *, argument: str = "by", grouping: bool = False) -> None:
    """Raise when no run will have the unit, before runs are read whose tables have these columns filled."""
    # a run without a team is a team of its own
    if by not in ("run", "team") and COLUMNS[by] not in columns:
        raise _without_unit(by, "no run has one", argument, grouping=grouping)


def units_of(run_table: pd.DataFrame, by: str, *, grouping: bool = False) -> Units:
    """Return the units of a table of runs: a run without a team is a team of its own, by its name."""
    choice("by", by, tuple(COLUMNS))
    if by != "team":
        check_every_run_has(run_table, by, grouping=grouping)
    values = column_of(run_table, by)
    lacking = run_table["name"][values.isna()].tolist()
    if lacking:
        if clash := sorted(set(lacking) & set(values.dropna())):
            who = f"{examples(clash)} is a team, and a run without one has this name, which would be its own team"
            raise InputError(f"{who}. Give {how_to_give('team')}.", argument="by")
        who = f"{count(len(lacking), 'run')} without a team, each taken for a team of its own: {examples(lacking)}. "
        warn(f"{who}{how_to_give('team')} says whose they are.")
        values = values.where(values.notna(), run_table["name"])
    codes, names = pd.factorize(values)
    return Units(by, tuple(str(name) for name in names), codes.astype(np.int64), own=len(lacking))


def check_every_run_has(run_table: pd.DataFrame, by: str, *, grouping: bool = False) -> None:
    """Raise where a run has no unit, also where it could be a team of its own; see :func:`check_unit_is_given`."""
    lacking = run_table["name"][column_of(run_table, by).isna()].tolist()
    if lacking:
        raise _without_unit(by, f"{count(len(lacking), 'run')} without: {examples(lacking)}", grouping=grouping)


def column_of(run_table: pd.DataFrame, by: str) -> pd.Series:
    """Return which unit each run is of, None where that is not on record."""
    column = COLUMNS[by]
    if column in run_table:
        return run_table[column]
    # a family is a further column of metadata, which a table need not have
    return pd.Series([None] * len(run_table), index=run_table.index, dtype=object, name=column)


def described(run_table: pd.DataFrame) -> pd.DataFrame:
    """Return what tables of results say of each run: ``name team type pooled``, and ``family`` where one was given."""
    return run_table[[*_OF_EVERY_RUN, *(("family",) if "family" in run_table else ())]]


def how_to_give(by: str) -> str:
    """Return the advice that says of which unit each run is; a family has no argument of its own."""
    given = "metadata= with a column 'family'" if by == "family" else f"{by}s="
    return f"{given} when reading the runs"


def _without_unit(by: str, who: str, argument: str = "by", *, grouping: bool = False) -> InputError:
    other = f"leave out {argument}=" if grouping else f"use {argument}='run'"
    problem = f"{argument}={by!r} needs the {by} of every run; {who}. Give {how_to_give(by)}, or {other}."
    return InputError(problem, argument=argument)


#: condition -> column of a table of runs
_COLUMNS = {"names": "name", "team": "team", "type": "type", "family": "family", "task": "task"}


def chosen_rows(
    table: pd.DataFrame,
    *,
    pooled: bool | None = None,
    shown_by: str = "`runs.run_table`",
    **conditions: str | Iterable[str] | None,
) -> NDArray[np.bool_]:
    """Return which rows of a table of runs meet every condition that is not None; at least one does."""
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
        unknown = table["pooled"].isna().to_numpy()
        if unknown.all() and len(unknown):
            problem = "who was pooled is not on record. Leave out pooled=, or say it: runs.with_metadata(pooled=...)."
            raise InputError(problem, argument="pooled")
        if left := int((unknown & chosen).sum()):
            warn(f"{count(left, 'run')} left out: not on record whether pooled.")
        chosen &= table["pooled"].astype("boolean").fillna(not pooled).to_numpy(dtype=bool) == bool(pooled)
    if not chosen.any():
        raise InputError(f"no run meets all conditions. See {shown_by} for what there is.")
    return chosen


def checked_conditions(*, pooled: bool | None = None, **conditions: str | Iterable[str] | None) -> dict[str, Any]:
    """Return the conditions that are not None, each with a list of values, ``pooled`` with its flag."""
    checked: dict[str, Any] = {}
    for condition, wanted in conditions.items():
        if isinstance(wanted, bytes | Mapping) or not isinstance(wanted, Iterable | None):
            raise InputError(f"{condition} must be a text or several, got {shown(wanted)}.", argument=condition)
        if wanted is not None:
            checked[condition] = [wanted] if isinstance(wanted, str) else list(wanted)
    return checked if pooled is None else {**checked, "pooled": flag("pooled", pooled)}


def check_known(what: str, value: Any, known: list[str], *, argument: str | None = None) -> None:
    """Raise when `value`, a `what`, is not among those known; the error names what is near."""
    if isinstance(value, str) and value in known:
        return
    if not known:
        given = what in ("team", "type", "family")
        advice = f" Give {how_to_give(what)}." if given else ""
        raise InputError(f"no {what} {shown(value)}; no run has a {what}.{advice}", argument=argument)
    there = examples(known, 12) if len(known) <= 12 else examples(known)
    raise InputError(f"no {what} {shown(value)} among {there}.{did_you_mean(value, known)}", argument=argument)


def subsample_corpus(corpus: Iterable[str] | Iterable[Mapping[str, Any]], *, share: float, seed: int) -> list[str]:
    """Draw a random share of a corpus: the documents are shuffled once, and the first share is kept.

    Runs are restricted to it by :meth:`RunSet.restrict`, as if nothing else had been in the corpus. A smaller share of
    the same seed is a part of a larger one.

    Args:
        corpus: document names, or documents with a ``docno``, as ``get_corpus_iter()`` of a PyTerrier dataset yields
            them. Without a corpus, give ``runs.docnos()``, the documents that any run retrieves.
        share: above 0, at most 1; ``1/3`` keeps a third. The number of documents is rounded, halves up.
        seed: the same seed draws the same documents, whatever the order of the corpus.

    Returns:
        list of str: document names, in the order in which they were drawn.

    Raises:
        InputError: no documents, something that is no document, a share out of range or one of no document.

    Example:
        >>> import pt_reuse as ptr
        >>> third = ptr.profile.subsample_corpus((f"d{i}" for i in range(90)), share=1 / 3, seed=1)
        >>> len(third), third[:10] == ptr.profile.subsample_corpus((f"d{i}" for i in range(90)), share=1 / 9, seed=1)
        (30, True)
    """
    part, number = _share(share, whole_allowed=True), checked_seed(seed)
    if isinstance(corpus, str | bytes | Mapping | pd.DataFrame) or not isinstance(corpus, Iterable):
        problem = f"corpus must be docnos, or documents with one, got {type(corpus).__name__}."
        raise InputError(problem, argument="corpus")
    try:
        names = as_ids("docno", (each.get("docno") if isinstance(each, Mapping) else each for each in corpus))
    except InputError as error:
        raise InputError(f"corpus, {error}", argument="corpus") from error
    if not names or not all(names):
        raise InputError(f"corpus has {'an empty docno' if names else 'no documents'}.", argument="corpus")
    distinct = sorted(set(tokens.encoded(names)))
    if len(distinct) < len(names):
        warn(f"the corpus has {count(len(names) - len(distinct), 'document')} more than once; each counts once.")
    n = share_of(part, len(distinct))
    if not n:
        raise InputError(f"share {shown(share)} of {count(len(distinct), 'document')} is none.", argument="share")
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
    raise InputError(f"share must be a number above 0 and {upto}, got {shown(share)}.", argument="share")


#: says of a docno whether the document is meant
OfDocno: TypeAlias = Callable[[str], bool]
#: says of distinct document names, as words, which are meant
_Among: TypeAlias = Callable[[Words], NDArray[np.bool_]]


def restricted(field: AnyField, names: Sequence[str], docnos: Any, prefix: Any, where: Any) -> AnyField:
    """Return a field with only some documents, see :meth:`RunSet.restrict`."""
    values = {"docnos": docnos, "prefix": prefix, "where": where}
    given = [argument for argument, value in values.items() if value is not None]
    if len(given) != 1:
        got = " and ".join(given) or "none of them"
        raise InputError(f"give one of docnos, prefix and where, got {got}.", argument=["docnos", *given][-1])
    among = _among(given[0], values[given[0]])
    left = np.zeros(field.lengths.shape, dtype=field.lengths.dtype)
    for i, topics in enumerate(field.parts):
        block = field.part(i)
        here = np.diff(np.concatenate([[0], np.cumsum(_rows_of(among, block))])[block.starts])
        left[topics.start : topics.stop] = here.reshape(block.lengths.shape)
    if not left.any():
        raise InputError("no run retrieves any of these documents. Are they of this collection?", argument=given[0])
    emptied = np.argwhere((field.lengths > 0) & (left == 0))
    if len(emptied):
        topic, run = emptied[0]
        gone = int((left == 0).all(axis=1).sum())
        warn(
            f"no document is left in {count(len(emptied), 'list')}, such as that of run {shown(names[run])} for topic "
            f"{shown(field.topics[topic])}; {count(gone, 'topic')} without a document of any run left out."
        )
    return field.changed(partial(_kept, among), left)


def _kept(among: _Among, block: Field) -> Field:
    return block.keep(_rows_of(among, block))


def _rows_of(among: _Among, block: Field) -> NDArray[np.bool_]:
    docs = block.all_docs()
    retrieved, kept = np.zeros((2, len(block.vocabulary)), dtype=bool)
    retrieved[docs] = True
    kept[retrieved] = among(tokens.as_words(block.vocabulary)[retrieved])
    return kept[docs]


def _among(argument: str, given: Any) -> _Among:
    """Return what says of documents whether they are meant by a user's ``docnos=``, ``prefix=`` or ``where=``."""
    if argument == "docnos":
        if isinstance(given, str | bytes | Mapping | pd.DataFrame) or not isinstance(given, Iterable):
            raise InputError(f"docnos must be several document names, got {type(given).__name__}.", argument="docnos")
        wanted = text_words("docno", list(dict.fromkeys(as_ids("docno", given))))
        return lambda words: tokens.match(words, wanted) >= 0
    where = given
    if argument == "prefix":
        several = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else []
        if not several or not all(isinstance(prefix, str) and prefix for prefix in several):
            raise InputError(f"prefix must be a text or several, got {shown(given)}.", argument="prefix")
        where = partial(_begins, tuple(several))
    elif not callable(where):
        raise InputError(f"where must be a function of a docno, got {shown(where)}.", argument="where")
    return lambda words: np.array([holds(where, docno) for docno in tokens.decode(tokens.as_tokens(words))], dtype=bool)


def _begins(prefixes: tuple[str, ...], docno: str) -> bool:
    return docno.startswith(prefixes)


def holds(where: OfDocno, docno: str) -> bool:
    """Return what a user's ``where=`` says of a document name, or raise where that is neither True nor False."""
    answer: object = where(docno)
    if type(answer).__name__ not in ("bool", "bool_"):
        raise InputError(f"where must return True or False, got {shown(answer)} for {shown(docno)}.", argument="where")
    return bool(answer)
