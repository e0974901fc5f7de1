"""Scores as spreadsheets keep them: tables of systems by tasks, and CSV or TSV with a line for each score."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import did_you_mean, examples, listed, shown
from pt_reuse._errors import InputError, Option, warn

#: a line for each score under a line that names the columns; a line for each system, or topic, and a column for each
#: task, or system
LONG, TABLE = "long", "table"
#: what stands between cells, if no tab does; in many languages spreadsheets write semicolons
_SEPARATORS = ",;"
#: how many lines tell it
_LOOKED_AT = 20
#: our name of a column -> what it is called, without its case, blanks and underscores
_HEADINGS = {
    "name": {"name", "run", "runid", "runname", "runtag", "tag", "system", "systemid", "model", "modelname", "method"},
    "qid": {"qid", "topic", "topicid", "query", "queryid", "task", "taskname", "dataset"},
    "measure": {"measure", "metric", "evalmetric"},
    "value": {"value", "score", "mainscore"},
}
#: words of columns that are no scores of a task
_NO_TASK = {
    *("average", "avg", "mean", "median", "overall", "total", "sum", "rank", "ranking", "borda", "size", "parameters"),
    *("params", "memory", "dimension", "dimensions", "dim", "tokens", "latency", "price", "cost", "year", "date", "#"),
    *("downloads", "likes", "votes", "submissions", "context"),
}
#: whole names of such columns
_NO_TASK_NAMES = {"", "all", "unnamed: 0", "zero-shot"}
#: what scores and percentages stay within
_LARGEST = 100
#: what sums up systems, as the last line of a table may
_NO_SYSTEM = {"average", "avg", "mean", "median", "overall", "total", "all", "sum", "rank"}
_EMPTY = {"", "nan", "na", "n/a", "null", "none", "-", "\N{EN DASH}", "\N{EM DASH}"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|#")
#: names as pages link them: Markdown, HTML
_LINKED = re.compile(r"\[(?P<md>.+)\]\(\S*\)|<a\s[^>]*>(?P<html>[^<]+)</a>", re.IGNORECASE)
#: how many tasks an error proposes
_PROPOSED = 12


@dataclass(frozen=True)
class TableForm:
    """How a table is read: the tasks that are scores, None for all; topics as lines; the measure of its scores."""

    tasks: tuple[str, ...] | None
    transposed: bool
    measure: str


def told_table(lines: Sequence[str], file_name: str, widths: set[int]) -> str | None:
    """Return whether lines are ``long`` or a ``table``; None where they are columns at white space, of these widths."""
    separator = _separator(lines)
    if separator not in lines[0]:
        return None
    header = [cell.strip(' "') for cell in lines[0].split(separator)]
    if told_header(header):
        return LONG
    found = [len(line.split()) for line in lines]
    if separator != "\t":
        # columns at white space, and a comma in a number or a name
        alike = len(set(found)) == 1 and found[0] in widths
        return TABLE if ".csv" in file_name.lower() or not alike else None
    named = _number(header[-1]) is None and "all" not in header
    if max(found, key=found.count) in widths:
        rows = [line.split(separator) for line in lines[1:]]
        return TABLE if named and all(_is_score(cell) for row in rows for cell in row[1:]) else None
    return TABLE if named or len(header) > max(widths) else None


def parse_table(lines: Sequence[tuple[int, str]], format: str, form: TableForm) -> pd.DataFrame:
    """Return ``name qid measure value line`` of the lines of a file, each with its number, texts all but the number."""
    separator = _separator([line for _, line in lines])
    (_, header), *rows = _rows(lines, separator)
    for n, row in rows:
        if len(row) != len(header):
            raise InputError(
                f"the first line names {len(header):,} columns, and this one has {len(row):,}, separated by "
                f"{shown(separator)}. Give each line a cell for each column, an empty one where a score is missing.",
                argument="path",
                place=f"line {n:,}",
            )
    if not rows:
        return pd.DataFrame(columns=["name", "qid", "measure", "value", "line"], dtype=object)
    cells = np.array([row for _, row in rows], dtype=object).reshape(len(rows), len(header))
    return _table(header, cells, [n for n, _ in rows], format, form)


def parse_frame(frame: pd.DataFrame, format: str | None, form: TableForm) -> tuple[str, pd.DataFrame]:
    """Return the format of a frame and what `parse_table` does, lines being rows from 1."""
    # an index without a name is that of rows that were chosen, or of names
    unnamed = frame.index.names == [None]
    named = frame if unnamed and pd.api.types.is_integer_dtype(frame.index) else frame.reset_index()
    header = [str(name).strip() for name in named.columns]
    found = told_header(header) or TABLE if format is None else format
    texts = [[_text(cell) for cell in named.iloc[:, at].tolist()] for at in range(len(header))]
    cells = np.array(texts, dtype=object).reshape(len(header), len(named)).T
    return found, _table(header, cells, list(range(1, len(named) + 1)), found, form)


def told_header(header: Sequence[str]) -> str | None:
    """Return ``long`` where names of columns are those of a score a line."""
    return LONG if {"name", "qid", "value"} <= set(_roles(header)) else None


def _text(cell: object) -> str:
    """Return a cell of a frame as text, a number with all its digits."""
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return ""
    return repr(float(cell)) if isinstance(cell, float | np.floating) else str(cell)


def _table(
    header: list[str], cells: NDArray[np.object_], numbers: list[int], format: str, form: TableForm
) -> pd.DataFrame:
    return (_long if format == LONG else _wide)(header, cells, numbers, form)


def _linked(names: Iterable[str]) -> list[str]:
    """Return names without the links around them."""
    names = list(names)
    found = [_LINKED.fullmatch(name) for name in names]
    return [(link["md"] or link["html"]).strip() if link else name for name, link in zip(names, found, strict=True)]


def _plain(scores: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return scores without the signs of per cent, where each has one."""
    numbers = [cell for cell in scores.ravel() if cell.lower() not in _EMPTY]
    if not numbers or not all(cell.endswith("%") for cell in numbers):
        return scores
    return np.array([cell.removesuffix("%").strip() for cell in scores.ravel()], dtype=object).reshape(scores.shape)


def _separator(lines: Sequence[str]) -> str:
    """Return a tab where the first line has one, else what parts the first lines alike."""

    def fits(separator: str) -> tuple[bool, int]:
        try:
            widths = {len(row) for row in csv.reader(lines[:_LOOKED_AT], delimiter=separator)}
        except csv.Error:
            return False, 0
        return len(widths) == 1 and widths != {1}, lines[0].count(separator)

    return "\t" if "\t" in lines[0] else max(_SEPARATORS, key=fits)


def _rows(lines: Sequence[tuple[int, str]], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, and the number of the line at which it begins."""
    reader = csv.reader([f"{line}\n" for _, line in lines], delimiter=separator, strict=True)
    start = 0
    try:
        for cells in reader:
            yield lines[start][0], [cell.strip() for cell in cells]
            start = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"quotes that do not fit ({error}). Quote a whole cell, and double a quote within.",
            argument="path",
            place=f"line {lines[start][0]:,}",
        ) from error


def _roles(header: Sequence[str]) -> dict[str, list[int]]:
    """Return our name of a column -> the places of the columns that are called so."""
    plain = [re.sub(r"[\s_-]", "", cell).lower() for cell in header]
    found = {role: [at for at, name in enumerate(plain) if name in names] for role, names in _HEADINGS.items()}
    return {role: places for role, places in found.items() if places}


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _is_score(cell: str) -> bool:
    return cell.strip().lower() in _EMPTY or _number(cell) is not None


def _long(header: list[str], cells: NDArray[np.object_], numbers: list[int], form: TableForm) -> pd.DataFrame:
    roles = _roles(header)
    missing = [role for role in ("name", "qid", "value") if role not in roles]
    twice = [role for role, places in roles.items() if len(places) > 1]
    if missing or twice:
        several = [header[at] for role in twice for at in roles[role]]
        raise InputError(
            f"the first line must name the columns name, qid, value and maybe measure, each once; "
            f"{f'there is no {listed(missing)}' if missing else f'{examples(several, 8)} are the same'}. Rename the "
            "columns.",
            argument="path",
        )
    columns = {role: cells[:, places[0]] for role, places in roles.items()}
    frame = pd.DataFrame({"measure": form.measure, **columns, "line": numbers}, dtype=object)
    frame = frame.assign(name=_linked(frame["name"]), value=_plain(columns["value"]))
    there = ~frame["value"].str.lower().isin(_EMPTY)
    for role, noun in (("name", "system"), ("qid", "task")):
        _check_some(frame[role].unique(), set(frame.loc[there, role]), noun)
    return frame.loc[there, ["name", "qid", "measure", "value", "line"]]


def _wide(header: list[str], cells: NDArray[np.object_], numbers: list[int], form: TableForm) -> pd.DataFrame:
    rows, at = _row_names(header, cells, form.transposed)
    columns = [name for place, name in enumerate(header) if place != at]
    scores = cells if at is None else np.delete(cells, at, axis=1)
    lines = np.repeat(np.array(numbers)[:, None], len(columns), axis=1)
    systems, tasks = rows, columns
    if form.transposed:
        systems, tasks, scores, lines = columns, rows, scores.T, lines.T
    across, along = ("column", "line") if form.transposed else ("line", "column")
    if form.tasks is not None:
        places = _places(form.tasks, tasks)
        tasks, scores, lines = [tasks[place] for place in places], scores[:, places], lines[:, places]
    systems, scores = _linked(systems), _plain(scores)
    _check_names(systems, "system", across)
    empty = np.array([[cell.lower() in _EMPTY for cell in row] for row in scores], dtype=bool).reshape(scores.shape)
    score = np.array([[_is_score(cell) for cell in row] for row in scores], dtype=bool).reshape(scores.shape)
    number = score & ~empty
    _check_tasks(tasks, scores, number, picked=form.tasks is not None, where=along)
    wrong = np.argwhere(~score)
    if len(wrong):
        s, t = wrong[0]
        raise InputError(
            f"system {shown(systems[s])}, task {shown(tasks[t])} must be a number, got {shown(scores[s, t])}. Write "
            "numbers such as 0.5, leave a missing score empty, or choose the scores by ",
            Option("tasks", ...),
            ".",
            argument="path",
            place=f"line {lines[s, t]:,}",
        )
    _check_some(systems, {systems[s] for s in np.flatnonzero(number.any(axis=1))}, "system")
    s, t = np.nonzero(number)
    found = {"name": np.array(systems, dtype=object)[s], "qid": np.array(tasks, dtype=object)[t]}
    return pd.DataFrame(
        {**found, "measure": form.measure, "value": scores[s, t], "line": lines[s, t].tolist()}, dtype=object
    )


def _row_names(header: list[str], cells: NDArray[np.object_], transposed: bool) -> tuple[list[str], int | None]:
    """Return what the lines are called, and which column says it; they are numbered where none does."""
    role, noun = ("qid", "topic") if transposed else ("name", "system")
    roles = _roles(header)
    if role not in roles and 0 in roles.get("name" if transposed else "qid", []):
        raise InputError(
            f"the first column is {shown(header[0])}, and its names would be taken for those of {noun}s. Give ",
            Option("transposed", not transposed),
            f", or call the column {role!r}.",
            argument="transposed",
        )
    at = roles.get(role, [0])[0]
    first = cells[:, at].tolist()
    known = role in roles or header[0].lower() in {"", "unnamed: 0"}
    found = [_number(cell) for cell in first]
    if known or not found or None in found:
        return first, at
    # scores of the first system on topics without names
    if transposed and (len(set(found)) < len(found) or any(value != round(value or 0) for value in found)):
        return [str(n) for n in range(1, len(found) + 1)], None
    raise InputError(
        f"no column is called {role!r}, and the first one, {shown(header[0])}, has numbers alone. Call the column with "
        f"the names of the {noun}s {role!r}, or add one.",
        argument="path",
    )


def _check_some(names: Sequence[str], there: set[str], noun: str) -> None:
    """Raise where a system or task has not one score, so that it would vanish."""
    without = [name for name in names if name not in there]
    if without:
        raise InputError(f"no score at all of {noun} {examples(without)}. Take it out of the table.", argument="path")


def _places(wanted: tuple[str, ...], tasks: list[str]) -> list[int]:
    strange = [name for name in wanted if name not in tasks]
    if strange or len(set(wanted)) < len(wanted):
        problem = (
            f"{examples(strange)} not among the tasks {examples(tasks, 12)}.{did_you_mean(strange[0], tasks)}"
            if strange
            else f"a task is there twice: {examples(wanted, 12)}."
        )
        raise InputError(problem, argument="tasks")
    again = [name for name in wanted if tasks.count(name) > 1]
    _check_names([name for name in tasks if name in again], "task", "column")
    return [tasks.index(name) for name in wanted]


def _check_names(names: Sequence[str], noun: str, where: str) -> None:
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if "" in names or twice:
        what = f"a {where} has no name of a {noun}" if "" in names else f"several {where}s are called {examples(twice)}"
        raise InputError(f"{what}. Give each {noun} one {where} and a name of its own.", argument="path")
    odd = [name for name in names if noun == "system" and name.lower() in _NO_SYSTEM]
    if odd:
        raise InputError(
            f"the {where} {examples(odd)} sums up systems, by its name, and would count as one. Take it out of the "
            "table, or rename the system.",
            argument="path",
        )


def _check_tasks(
    tasks: list[str], scores: NDArray[np.object_], number: NDArray[np.bool_], *, picked: bool, where: str
) -> None:
    """Raise where a column, or line, is none of scores of a task, by its name or by what is in it."""
    if not tasks:
        raise InputError("the table has no column of scores.", argument="path")
    odd = [] if picked else [name for name in tasks if _is_no_task(name)]
    empty = [t for t in np.flatnonzero(~number.any(axis=0)).tolist() if tasks[t] not in odd]
    if odd or empty:
        rest = [name for t, name in enumerate(tasks) if name not in odd and t not in empty]
        said = [f"the {where}s {examples(odd, 12)} are no tasks by their names, and would count as such"] if odd else []
        if empty:
            cell = next((cell for cell in scores[:, empty[0]] if cell.lower() not in _EMPTY), "")
            like = f", such as {shown(cell)}" if cell else ""
            said += [f"there is no number in {where} {examples([tasks[t] for t in empty], 12)}{like}"]
        raise InputError(
            f"{', and '.join(said)}. Write numbers such as 0.5, and choose the {where}s that are scores of a task by ",
            Option("tasks", rest if 0 < len(rest) <= _PROPOSED else ...),
            ".",
            argument="tasks" if picked else "path",
        )
    _check_names(tasks, "task", where)
    values = np.zeros(scores.shape)
    values[number] = scores[number].astype(np.float64)
    large = ((np.abs(values) > _LARGEST) & np.isfinite(values)).any(axis=0)
    if not picked and large.any() and not large.all():
        # such as how often a model was loaded, beside scores
        warn(
            f"values beyond {_LARGEST} in {where} {examples([tasks[t] for t in np.flatnonzero(large)])}, and not in "
            "others, all of which weigh alike in a mean. Choose those that are scores of a task by ",
            Option("tasks", ...),
            ".",
        )
    if "all" in map(str.lower, tasks) and len(tasks) > 1:
        raise InputError(f"{where} 'all' is no task beside others. Leave it out of the tasks.", argument="tasks")


def _is_no_task(name: str) -> bool:
    return name.lower() in _NO_TASK_NAMES or any(word.lower() in _NO_TASK for word in _WORD.findall(name))
