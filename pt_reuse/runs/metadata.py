"""The table of runs: team and type of each, and whether it was pooled, where somebody recorded it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, did_you_mean, examples
from pt_reuse._errors import Argument, InputError, Option, Part, warn
from pt_reuse.runs.labels import (
    Labels,
    LabelsOf,
    RunLabels,
    is_blank,
    is_missing,
    read_labels,
    read_metadata,
    read_pooled,
)

#: column of a table of runs -> the argument that gives it
_ARGUMENTS = {"team": "teams", "type": "types", "pooled": "pooled"}


@dataclass(frozen=True, kw_only=True)
class Naming:
    """What is made of names that are not there, on either side.

    Attributes:
        noun: what messages call a run.
        strict: whether a key that is near the name of a run without a value is an error; it is misspelt. Names in a
            file that are not among the runs are told at most, since official lists name more runs than one has.
        complete: whether runs are told that are left without a team or type, or of which it is not said whether they
            were pooled, though this is given for others.
    """

    noun: str = "run"
    strict: bool = False
    complete: bool = True


#: runs read from files; result frames and pipelines by name; changes to a table that there is
OF_FILES, OF_FRAMES, OF_CHANGES = Naming(), Naming(strict=True), Naming(complete=False)
#: the systems of an experiment; those of which nothing is said have the caller's default
OF_SYSTEMS = Naming(noun="system", strict=True, complete=False)
_TRUE = {"true", "yes", "y", "1", "1.0", "pooled"}
#: with more names that are no run's, it is another list, and not a misspelt name
_FEW = 20
_FALSE = {"false", "no", "n", "0", "0.0", "unpooled"}


@dataclass(frozen=True)
class GivenMetadata:
    """What a user gives to label runs with, read and checked as far as that goes before the runs are known.

    Attributes:
        frame: what is given as ``metadata``, None where nothing is.
        labels: ``"team"``, ``"type"`` or ``"pooled"`` -> what says it of each run; those given alone.
        all_pooled: one flag for all runs, None where none is given.
        from_files: the arguments that are given as a file.
    """

    frame: pd.DataFrame | None
    labels: Mapping[str, LabelsOf]
    all_pooled: bool | None
    from_files: frozenset[str] = frozenset()

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs that are given, for some of the runs at least."""
        frame = pd.DataFrame() if self.frame is None else self.frame
        filled = {str(column) for column in frame.columns if not all(map(is_blank, frame[column]))}
        return filled | set(self.labels) | ({"pooled"} if self.all_pooled is not None else set())

    def table(self, names: Sequence[str], base: pd.DataFrame | None = None, naming: Naming = OF_FILES) -> pd.DataFrame:
        """Return one row per run, as :func:`make_run_table` does.

        Args:
            names: the runs.
            base: a table of the same runs, which says of each what it has where nothing else is given of it: defaults,
                or what is known from elsewhere. None: no team, no type, and whether it was pooled is not on record.
            naming: what is made of names that are not there.
        """
        if base is None:
            table = pd.DataFrame(
                {"name": pd.Series(list(names), dtype=object), "team": None, "type": None, "pooled": pd.NA}
            )
        else:
            table = base.copy()

        def fill(column: str, given: Labels, argument: str) -> None:
            old = table[column].tolist() if column in table.columns else [None] * len(table)
            values = [given.of.get(name, given.rest) for name in names]
            # an empty cell records nothing of a team or a flag; in other columns it may be a value
            nothing = is_blank if column in ("team", "pooled", "family") else is_missing
            values = [
                before if (name not in given.of and given.rest is None) or nothing(value) else value
                for name, value, before in zip(names, values, old, strict=True)
            ]
            if column == "pooled":
                values = [_as_flag(name, value, argument) for name, value in zip(names, values, strict=True)]
            kinds = {type(value) for value in values if not is_missing(value)}
            if str in kinds:
                values = [None if is_missing(value) else value for value in values]
            # a column of texts stays one, whatever pandas makes of it
            table[column] = pd.Series(
                values, dtype=object if str in kinds or len(kinds) != 1 else None, index=table.index
            )

        said: dict[str, set[str]] = {}
        if self.frame is not None:
            runs = self.frame["name"]
            self._check_names("metadata", Labels(dict.fromkeys(runs)), names, naming)
            for column in self.frame.columns.drop("name"):
                fill(column, Labels(dict(zip(runs, self.frame[column], strict=True))), "metadata")
                # tables often have the type of some runs only
                if column != "type":
                    said.setdefault(column, set()).update(runs)
        for column, labels in self.labels.items():
            given, argument = labels(names), _ARGUMENTS[column]
            self._check_names(argument, given, names, naming)
            fill(column, given, argument)
            said.setdefault(column, set()).update(given.of if given.rest is None else names)
        if self.all_pooled is not None:
            table["pooled"] = self.all_pooled
        table["pooled"] = table["pooled"].astype("boolean")
        for column in ("team", "type", *(("family",) if "family" in table else ())):
            table[column] = pd.Series([None if is_blank(v) else _as_text(v) for v in table[column]], dtype=object)
        if naming.complete:
            _tell_lacking(table, said, naming.noun)
        return table

    def _check_names(self, argument: str, given: Labels, names: Sequence[str], naming: Naming) -> None:
        """Raise where no run is named, or one is misspelt; warn of others that are not there."""
        known = set(names)
        strangers = [name for name in given.of if name not in known]
        # what is named already is not what another name means
        unnamed = [name for name in names if name not in given.of]
        hints = {name: did_you_mean(name, unnamed) for name in strangers} if len(strangers) < _FEW else {}
        strangers.sort(key=lambda name: not hints.get(name))
        hint = hints.get(strangers[0], "") if strangers else ""
        if hint and naming.strict and argument not in self.from_files:
            problem = f" names {strangers[0]!r}, which is not among the {naming.noun}s.{hint}"
            raise InputError(Argument(argument), problem, argument=argument)
        if len(strangers) == len(given.of) and (strangers or given.rest is None):
            raise _no_name_fits(argument, list(given.of), names, naming)
        if strangers:
            many = count(len(strangers), "name")
            warn(Argument(argument), f" has {many} not among the {naming.noun}s: {examples(strangers)}.{hint}")


def given_metadata(
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
) -> GivenMetadata:
    """Read what a user gives to label runs with, as :func:`make_run_table` takes it.

    Raises:
        InputError: something of another kind, a file that cannot be read, a run with two values.
    """
    frame = None if metadata is None else read_metadata(metadata)
    given_as = {"teams": teams, "types": types, "pooled": pooled, "metadata": metadata}
    files = frozenset(name for name, value in given_as.items() if isinstance(value, str | Path))
    labels = {}
    for column, given in (("team", teams), ("type", types)):
        if given is not None:
            labels[column] = read_labels(given, column, _ARGUMENTS[column])
    if isinstance(pooled, bool | np.bool_):
        return GivenMetadata(frame, labels, bool(pooled), files)
    if pooled is not None:
        labels["pooled"] = read_pooled(pooled)
    return GivenMetadata(frame, labels, None, files)


def make_run_table(
    names: Sequence[str],
    *,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Collection[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    base: pd.DataFrame | None = None,
    naming: Naming = OF_FILES,
) -> pd.DataFrame:
    """Return one row per run: ``name team type pooled`` and every further column of `metadata`.

    A team or type that nobody gave is None. ``pooled`` is of the dtype ``boolean``: True, False, or <NA> where nobody
    recorded it; an empty cell records nothing. With `base`, the table of the same runs, all that is not given stays as
    it is there, and a run that is not named anew keeps what it had.

    Args:
        names: the runs, in the order of the rows.
        teams: run name -> team, as :func:`read_runs` takes it.
        types: run name -> type.
        pooled: which runs contributed to the pool: names, run name -> true or false, or one bool for all.
        metadata: one row per run, with ``name`` and any of ``team``, ``type``, ``pooled``, ``family`` and others.
        base: a table of the same runs.
        naming: what is made of names that are not there.

    Raises:
        InputError: names of which none is a run's, or one is misspelt; a flag that is neither true nor false.
    """
    return given_metadata(teams=teams, types=types, pooled=pooled, metadata=metadata).table(names, base, naming)


def record_in_words(pooled: pd.Series) -> str:
    """Return how many runs were pooled, as far as it is on record, in few words.

    Args:
        pooled: the column of a table of runs.
    """
    unknown = int(pooled.isna().sum())
    if unknown and unknown == len(pooled):
        return "pooled: not on record"
    return f"{int(pooled.sum()):,} pooled" + (f", {unknown:,} not on record" if unknown else "")


def stack_tables(upper: pd.DataFrame, lower: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of two tables of runs, one after the other; a column that one of them lacks is None there."""
    columns = list(dict.fromkeys([*upper.columns, *lower.columns]))
    stacked = {}
    for column in columns:
        parts = [table[column] if column in table.columns else None for table in (upper, lower)]
        values = [
            value
            for table, part in zip((upper, lower), parts, strict=True)
            for value in (part if part is not None else [None] * len(table))
        ]
        same = parts[0] is not None and parts[1] is not None and parts[0].dtype == parts[1].dtype
        stacked[column] = pd.Series(values, dtype=parts[0].dtype if same and parts[0] is not None else object)
    return pd.DataFrame(stacked, columns=columns)


def _no_name_fits(argument: str, given: Sequence[str], names: Sequence[str], naming: Naming) -> InputError:
    has = f"it has {examples(given)}" if given else "it is empty"
    parts: list[Part] = [f" names none of the {count(len(names), naming.noun)} ({examples(names)}); {has}."]
    if naming.noun == "run" and not naming.strict:
        parts += [" Are these the run tags? ", Option("names", "file"), " takes run names from the file names instead."]
    else:
        parts.append(f" Use the names of the {naming.noun}s.")
    return InputError(Argument(argument), *parts, argument=argument)


def _tell_lacking(table: pd.DataFrame, said: Mapping[str, set[str]], noun: str) -> None:
    """Warn of runs without a team or type where others are given one, and of those that no record of pooling names."""
    for column in ("team", "type"):
        without = table["name"][table[column].isna()].tolist() if column in said else []
        if without and len(without) < len(table):
            who = f"{count(len(without), noun)} without a {column}, though {column}s are given: {examples(without)}. "
            what = " takes each for a team of its own." if column == "team" else " needs one of every run."
            warn(who, Option("by", column), what)
    # an empty flag says that nobody recorded it
    unnamed = [name for name in table["name"][table["pooled"].isna()] if name not in said.get("pooled", ())]
    if "pooled" in said and unnamed:
        warn(
            f"nothing is said of whether {count(len(unnamed), noun)} had been pooled, which is taken as not on record: "
            f"{examples(unnamed)}."
        )


def _as_text(value: Any) -> str:
    """Return a team, type or family as a text; of whole numbers pandas makes floats where a cell is empty."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _as_flag(name: str, value: Any, argument: str) -> Any:
    if is_blank(value):
        return pd.NA
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise InputError(
        f"pooled must be true or false (yes/no, 1/0), or empty where nobody recorded it, got {value!r}.",
        argument=argument,
        place=f"run {name!r}",
    )
