"""Scores as spreadsheets and TREC AutoJudge keep them: systems by tasks, or a line for each score."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.data.metadata import is_missing
from pt_reuse.data.packed_files import parse_csv, separator_of
from pt_reuse.data.task_columns import (
    ScoreMatrix,
    Selection,
    beside_measures,
    check_names,
    check_task_names,
    doubtful_names,
    is_mean,
    is_measure_name,
    proposed,
)
from pt_reuse.errors import InputError, count, examples, listed, shown, warn

#: a line for each score under a line that names the columns; a line for each system, or topic, and a column for each
#: task, or system; a line for each system, and maybe topic, and a column for each measure
LONG, TABLE, MEASURES = "long", "table", "measures"
FORMS = (LONG, TABLE, MEASURES)
#: the topic under which a value over all topics stands; gdeval and ndeval call it ``amean``
ALL = "all"
#: our name of a column -> what it is called, without its case, blanks and underscores
_HEADINGS = {
    "name": {"name", "run", "runid", "runname", "runtag", "tag", "system", "systemid", "model", "modelname", "method"},
    "qid": {"qid", "topic", "topicid", "query", "queryid", "task", "taskname", "dataset"},
    "measure": {"measure", "metric", "evalmetric"},
    "value": {"value", "score", "mainscore"},
}
#: what a column of documents is called: beside topics, the table is one of labels or of a run
_OF_DOCUMENTS = {
    *("docno", "docid", "doc", "document", "documentid", "corpusid", "passageid", "pid", "did", "relevance", "label"),
}
_EMPTY = {"", "nan", "na", "n/a", "null", "none", "-", "\N{EN DASH}", "\N{EM DASH}"}
#: what tools write for a name that is missing
NO_NAME = {"", "nan", "none", "null", "<na>", "nat"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = {"nan", "inf", "infinity"}
_HTML = re.compile(r"<a\s[^>]*>(?P<text>[^<]+)</a>", re.IGNORECASE)
#: what a page sets in bold, italics or code
_MARKS = ("**", "__", "*", "_", "`", "~~")
#: longer cells keep their marks, of which each is taken off once
_LONG_CELL = 1000
_PIPE = re.compile(r"(?<!\\)\|")
#: the column of numbers of rows that pandas writes
_ROW_NUMBERS = {"", "unnamed: 0", "index"}
_COLUMNS = ["name", "qid", "measure", "value", "line"]


@dataclass(frozen=True)
class TableForm:
    """How a table is read: which tasks; topics as lines; the measure of its scores."""

    selection: Selection
    transposed: bool
    measure: str


def number(cell: str) -> float | None:
    """Return the number of a text in ASCII digits, NaN and infinity among them; None where it is none."""
    cell = cell.strip()
    if _NUMBER.fullmatch(cell) or cell.lstrip("+-").lower() in _NOT_FINITE:
        return float(cell)
    return None


def decimals(cell: str) -> int:
    """Return how many decimals a number is written with, many where it has an exponent."""
    return 99 if "e" in cell.lower() else len(cell.partition(".")[2])


def _is_empty(cell: str) -> bool:
    return cell.strip().lower() in _EMPTY


def _is_score(cell: str) -> bool:
    return _is_empty(cell) or number(cell) is not None


def told_table(lines: Sequence[str], file_name: str, widths: set[int]) -> bool:
    """Return whether lines are a table; else they are columns at white space, of these widths."""
    separator = separator_of(lines[0])
    if separator not in lines[0]:
        return False
    header = [cell.strip(' "') for cell in lines[0].split(separator)]
    if _is_long(header) or _is_of_documents(header):
        return True
    found = [len(line.split()) for line in lines]
    if separator != "\t":
        # columns at white space, and a comma in a number or a name
        alike = len(set(found)) == 1 and found[0] in widths
        return ".csv" in file_name.lower() or not alike
    named = number(header[-1]) is None and ALL not in header
    if max(found, key=found.count) in widths:
        rows = [line.split(separator) for line in lines[1:]]
        return named and all(_is_score(cell) for row in rows for cell in row[1:])
    return named or len(header) > max(widths)


def parse_table(lines: Sequence[str], format: str | None, form: TableForm) -> tuple[str, pd.DataFrame]:
    """Return the format of the lines of a file, and ``name qid measure value line``, texts all but the line."""
    table = parse_csv(lines, "path")
    return _table([*table.frame.columns], table.frame.to_numpy(dtype=object), table.lines.tolist(), format, form)


def parse_markdown(
    lines: Sequence[tuple[int, str]], format: str | None, form: TableForm
) -> tuple[str, pd.DataFrame] | None:
    """Return what `parse_table` does of the table in Markdown, None where there is none."""
    starts = [
        at
        for at, (_, line) in enumerate(lines)
        if at and "|" in lines[at - 1][1] and {"|", "-"} <= set(line) and set(line.strip()) <= set("|:-+ \t")
    ]
    if not starts:
        return None
    if len(starts) > 1:
        raise InputError(
            f"there are {len(starts):,} tables, under lines {listed([f'{lines[at - 1][0]:,}' for at in starts[:12]])}. "
            "Give a file with one of them.",
            argument="path",
        )
    start = starts[0]
    header = _piped(lines[start - 1][1])
    numbers: list[int] = []
    rows: list[list[str]] = []
    # a table ends at the first empty line, or line of text
    for n, line in lines[start + 1 :]:
        if n != lines[start][0] + len(rows) + 1 or "|" not in line:
            break
        numbers.append(n)
        rows.append(_piped(line))
        if len(rows[-1]) != len(header):
            problem = (
                f"{len(rows[-1]):,} cells where the header has {len(header):,}. Leave those of missing scores empty."
            )
            raise InputError(problem, argument="path", place=f"line {n:,}")
    return _table(header, np.array(rows, dtype=object).reshape(len(rows), len(header)), numbers, format, form)


def _piped(line: str) -> list[str]:
    """Return the cells of a line in Markdown."""
    cells = [_unmarked(cell.strip().replace("\\|", "|")) for cell in _PIPE.split(line.strip())]
    first, last = int(line.lstrip().startswith("|")), len(cells) - int(len(cells) > 1 and not cells[-1])
    return cells[first:last]


def _unmarked(cell: str) -> str:
    for mark in _MARKS:
        if len(cell) > 2 * len(mark) and cell.startswith(mark) and cell.endswith(mark):
            return _unmarked(cell[len(mark) : -len(mark)].strip()) if len(cell) < _LONG_CELL else cell
    return cell


def parse_frame(frame: pd.DataFrame, format: str | None, form: TableForm) -> tuple[str, pd.DataFrame]:
    """Return the format of a frame and what `parse_table` does, lines being rows from 1."""
    # an index without a name is that of rows that were chosen, or of names
    unnamed = frame.index.names == [None]
    named = frame if unnamed and pd.api.types.is_integer_dtype(frame.index) else frame.reset_index()
    odd = [name for name in named.columns if not isinstance(name, str | int | np.integer | ir_measures.Measure)]
    if odd:
        raise InputError(f"the name of a column must be a text, got {shown(odd[0])}. Rename it.", argument="path")
    header = [str(name).strip() for name in named.columns]
    columns = [named.iloc[:, at].tolist() for at in range(len(header))]
    for at in [place for role, places in _roles(header).items() if role != "value" for place in places] or [0]:
        _check_cells_of_names(columns[at], header[at])
    cells = np.array([[_text(cell) for cell in column] for column in columns], dtype=object)
    return _table(header, cells.reshape(len(header), len(named)).T, list(range(1, len(named) + 1)), format, form)


def _check_cells_of_names(cells: Sequence[object], column: str) -> None:
    """Raise where a cell would be another text as a name: bytes, a list."""
    for n, cell in enumerate(cells, 1):
        known = isinstance(cell, str | int | np.integer | ir_measures.Measure) and not isinstance(cell, bool)
        if not (known or is_missing(cell) or (isinstance(cell, float | np.floating) and len(cells) > 1)):
            raise InputError(
                f"column {shown(column)} must have texts for names, got {shown(cell)}. Write it as a text.",
                argument="path",
                place=f"row {n:,}",
            )


def _text(cell: object) -> str:
    """Return a cell of a frame as text, a number with all its digits, nothing where it is missing."""
    if is_missing(cell):
        return ""
    return repr(float(cell)) if isinstance(cell, float | np.floating) else str(cell)


def _plain_heading(cell: str) -> str:
    return re.sub(r"[\s_-]", "", cell).lower()


def _roles(header: Sequence[str]) -> dict[str, list[int]]:
    """Return our name of a column -> the places of the columns that are called so."""
    plain = [_plain_heading(cell) for cell in header]
    found = {role: [at for at, name in enumerate(plain) if name in names] for role, names in _HEADINGS.items()}
    return {role: places for role, places in found.items() if places}


def _is_long(header: Sequence[str]) -> bool:
    roles = set(_roles(header))
    return {"name", "value"} <= roles and not {"qid", "measure"}.isdisjoint(roles)


def _is_of_documents(header: Sequence[str]) -> bool:
    """Return whether a table has a column of documents beside one of topics: it holds labels, or a run."""
    return "qid" in _roles(header) and not _OF_DOCUMENTS.isdisjoint(map(_plain_heading, header))


def _table(
    header: list[str], cells: NDArray[np.object_], numbers: list[int], format: str | None, form: TableForm
) -> tuple[str, pd.DataFrame]:
    if not len(cells):
        return format or TABLE, pd.DataFrame(columns=_COLUMNS, dtype=object)
    if _is_of_documents(header):
        raise InputError(
            f"the columns {examples(header, 6)} are those of labels or of a run, topics and documents, and no "
            "leaderboard. Give labels as judgments, and a run to read_runs().",
            argument="path",
        )
    cells = each(cells, str.strip)
    if len(header) > 1 and header[0].lower() in _ROW_NUMBERS and len(_roles(header[1:]).get("name", [])) == 1:
        counted = [number(cell) for cell in cells[:, 0]]
        if counted in ([*range(len(cells))], [*range(1, len(cells) + 1)]):
            header, cells = header[1:], cells[:, 1:]
    if format == LONG or (format is None and _is_long(header)):
        return LONG, _long(header, cells, numbers, form)
    return _wide(header, cells, numbers, format, form)


def each(cells: NDArray[Any], what: Callable[[Any], object], dtype: type = object) -> NDArray:
    """Return what a function says of each cell, which it is asked of each text or number once."""
    at, known = pd.factorize(cells.ravel())
    found: NDArray[Any] = np.empty(len(known), dtype=dtype)
    for place, cell in enumerate(known):
        found[place] = what(cell)
    return found[at].reshape(cells.shape)


def _without_link(name: str) -> str:
    """Return a name without the link around it, in Markdown and HTML."""
    if name.startswith("[") and name.endswith(")"):
        text, link, address = name[1:-1].rpartition("](")
        if link and text and address.split() in ([], [address]):
            return text.strip()
    found = _HTML.fullmatch(name)
    return found["text"].strip() if found else name


def _plain(scores: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return scores without the signs of per cent, where each has one."""
    if not all(cell.endswith("%") or _is_empty(cell) for cell in scores.ravel()):
        return scores
    return each(scores, lambda cell: cell.removesuffix("%").strip())


def _long(header: list[str], cells: NDArray[np.object_], numbers: list[int], form: TableForm) -> pd.DataFrame:
    """Return the rows of a table with a line for each score."""
    roles = _roles(header)
    missing = [role for role in ("name", "value") if role not in roles]
    missing += [] if {"qid", "measure"} & set(roles) else ["qid"]
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
    frame = pd.DataFrame({"qid": ALL, "measure": form.measure, **columns, "line": numbers}, dtype=object)
    frame = frame.assign(name=frame["name"].map(_without_link), value=_plain(columns["value"]))
    topics, picked = frame.loc[frame["qid"] != ALL, "qid"].unique().tolist(), form.selection.tasks is not None
    kept = [topics[at] for at in form.selection.places(topics)]
    frame = frame[frame["qid"].isin([ALL, *kept])]
    there = ~frame["value"].map(_is_empty).astype(bool)
    for role, noun in (("name", "system"), ("qid", "task")):
        _check_some(frame[role].unique(), set(frame.loc[there, role]), noun)
    if not picked:
        check_task_names(kept, "task")
    check_systems(frame["name"].unique(), "system")
    frame = frame[there]
    _check_long(frame[frame["qid"] != ALL], kept, picked=picked)
    if picked:
        frame = frame.sort_values("qid", key=lambda qids: qids.map({q: n for n, q in enumerate(kept)}), kind="stable")
    return frame[_COLUMNS]


def _check_long(rows: pd.DataFrame, tasks: Sequence[str], *, picked: bool) -> None:
    """Check the values of lines as those of a table, by each measure."""
    for measure, mine in rows.groupby("measure", sort=False):
        found = [number(cell) for cell in mine["value"]]
        # what is no number is told elsewhere
        if None in found or mine.duplicated(["name", "qid"]).any() or str(measure).lower().startswith("num"):
            continue
        systems = mine["name"].unique().tolist()
        at = (pd.Index(systems).get_indexer(mine["name"]), pd.Index(tasks).get_indexer(mine["qid"]))
        cells = np.full((len(systems), len(tasks)), "", dtype=object)
        cells[at] = mine["value"]
        _matrix(systems, tasks, cells).check(picked=picked, where="task")


def _matrix(systems: Sequence[str], tasks: Sequence[str], cells: NDArray[np.object_]) -> ScoreMatrix:
    values = each(cells, lambda cell: np.nan if _is_empty(cell) else float(cell), float)
    return ScoreMatrix(systems, tasks, values, each(cells, lambda cell: 0 if _is_empty(cell) else decimals(cell), int))


def check_systems(names: Iterable[str], where: str) -> None:
    """Raise where a name is that of a mean over systems, or of none."""
    names = list(names)
    odd = [name for name in names if is_mean(name, fused=False)]
    if odd:
        raise InputError(
            f"the {where} {examples(odd)} sums up systems, by its name, and would count as one. Take it out of the "
            "table, or rename the system.",
            argument="path",
        )
    if len(names) > 1 and all(is_measure_name(name) and name.lower() not in {"p", "r"} for name in names):
        raise InputError(
            f"the {where}s {examples(names)} are measures, and no systems. Turn the table, so that each system has a "
            "line and each measure a column.",
            argument="path",
        )


def _wide(
    header: list[str], cells: NDArray[np.object_], numbers: list[int], format: str | None, form: TableForm
) -> tuple[str, pd.DataFrame]:
    """Return the format, and the rows, of a table with a column for each task, system or measure."""
    rows, at = _row_names(header, cells, form.transposed)
    tasks = [name for place, name in enumerate(header) if place != at]
    scores = cells if at is None else np.delete(cells, at, axis=1)
    lines = np.repeat(np.array(numbers)[:, None], len(tasks), axis=1)
    systems, across, along, picked = rows, "line", "column", form.selection.tasks is not None
    if form.transposed:
        systems, tasks, scores, lines, across, along = tasks, rows, scores.T, lines.T, "column", "line"
    # the topics of lines that have a run and a topic, as gdeval and ndeval write them
    of_topic = [] if form.transposed or "name" not in _roles(header) else _roles(tasks).get("qid", [])
    topics = scores[:, of_topic[0]] if len(of_topic) == 1 else None
    places = [place for place in form.selection.places(tasks) if topics is None or place != of_topic[0]]
    tasks, scores, lines = [tasks[place] for place in places], _plain(scores[:, places]), lines[:, places]
    systems = [_without_link(name) for name in systems]
    measures = _places_of_measures(tasks, scores, format, picked=picked)
    if measures is not None:
        _tell_left_out([task for place, task in enumerate(tasks) if place not in set(measures)])
        tasks, scores, lines = [tasks[place] for place in measures], scores[:, measures], lines[:, measures]
        check_names(tasks, "measure", along)
    elif topics is not None:
        raise InputError(
            f"there are lines by {shown(header[_roles(header)['qid'][0]])}, and columns that are no measures, "
            f"{examples(tasks)}. Write a line for each score with the columns name, qid, measure, value; leave the "
            f"column out; or give format={MEASURES!r}.",
            argument="path",
        )
    if topics is None:
        check_names(systems, "system", across)
    check_systems(systems, across)
    score = each(scores, _is_score, bool)
    there = score & ~each(scores, _is_empty, bool)
    if measures is None:
        check_names(tasks, "task", along)
        _check_tasks(tasks, scores, there, picked=picked, where=along)
    wrong = np.argwhere(~score)
    if len(wrong):
        s, t = wrong[0]
        raise InputError(
            f"system {shown(systems[s])}, task {shown(tasks[t])} must be a number, got {shown(scores[s, t])}. Write "
            "numbers such as 0.5, leave a missing score empty, or choose the scores by tasks= or ignore=.",
            argument="path",
            place=f"line {lines[s, t]:,}",
        )
    _check_some(systems, {systems[s] for s in np.flatnonzero(there.any(axis=1))}, "system")
    s, t = np.nonzero(there)
    named = np.array(tasks, dtype=object)[t]
    if measures is None:
        _matrix(systems, tasks, scores).check(picked=picked, where=along)
        about = {"qid": named, "measure": form.measure}
    else:
        called = [ALL] * len(systems) if topics is None else [ALL if name == "amean" else name for name in topics]
        about = {"qid": np.array(called, dtype=object)[s], "measure": named}
    found = {"name": np.array(systems, dtype=object)[s], **about, "value": scores[s, t], "line": lines[s, t].tolist()}
    return TABLE if measures is None else MEASURES, pd.DataFrame(found, dtype=object)[_COLUMNS]


def _places_of_measures(
    tasks: Sequence[str], scores: NDArray[np.object_], format: str | None, *, picked: bool
) -> list[int] | None:
    """Return the places of the measures where columns are no tasks but measures, and what stands beside them."""
    if format == TABLE or (picked and format is None):
        return None
    measures = [place for place, name in enumerate(tasks) if is_measure_name(name)]
    if format == MEASURES:
        return list(range(len(tasks))) if picked or not measures else measures
    rest = [place for place in range(len(tasks)) if place not in set(measures)]
    names = [tasks[place] for place in rest]
    known = {*doubtful_names(names), *beside_measures(tasks)}
    known |= {tasks[place] for place in rest if not any(number(cell) is not None for cell in scores[:, place])}
    of_letters = bool(rest) and all(len(tasks[place]) == 1 for place in measures)
    return measures if measures and not of_letters and set(names) <= known else None


def _tell_left_out(names: list[str]) -> None:
    if names:
        warn(
            f"the columns are measures, and not tasks; left out, as they are none: {examples(names, 12)}. "
            f"{proposed('ignore', names)} leaves them out without this warning."
        )


def _row_names(header: list[str], cells: NDArray[np.object_], transposed: bool) -> tuple[list[str], int | None]:
    """Return what the lines are called, and which column says it; they are numbered where none does."""
    role, noun = ("qid", "topic") if transposed else ("name", "system")
    roles = _roles(header)
    if role not in roles and 0 in roles.get("name" if transposed else "qid", []):
        raise InputError(
            f"the first column is {shown(header[0])}, and its names would be taken for those of {noun}s. Give "
            f"transposed={not transposed!r}, or call the column {role!r}.",
            argument="transposed",
        )
    at = roles.get(role, [0])[0]
    first = cells[:, at].tolist()
    found = [number(cell) for cell in first]
    if role in roles or header[0].lower() in {"", "unnamed: 0"} or None in found:
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


def _check_tasks(
    tasks: list[str], scores: NDArray[np.object_], there: NDArray[np.bool_], *, picked: bool, where: str
) -> None:
    """Raise where a column, or line, is none of scores of a task, by its name or because it has no number."""
    if not tasks:
        raise InputError("the table has no column of scores.", argument="path")
    empty = np.flatnonzero(~there.any(axis=0)).tolist()
    if not picked:
        cell = next((cell for t in empty[:1] for cell in scores[:, t] if not _is_empty(cell)), None)
        check_task_names(tasks, where, [tasks[t] for t in empty], "" if cell is None else f", such as {shown(cell)}")
    elif empty:
        raise InputError(
            f"there is no number in {where} {examples([tasks[t] for t in empty], 12)}. Write numbers such as 0.5, or "
            "choose others.",
            argument="tasks",
        )
    if ALL in map(str.lower, tasks) and len(tasks) > 1:
        raise InputError(f"{where} 'all' is no task beside others. Leave it out of the tasks.", argument="tasks")


#: format -> what stands in its columns; the run of `trec_eval` is what its file is called
COLUMNS = {
    "ir_measures": ("name", "qid", "measure", "value"),
    "tot":         ("name", "measure", "qid", "value"),
    "trec_eval":   ("measure", "qid", "value"),
    "rag4reports": ("qid", "name", "measure", "value"),
    "ranking":     ("qid", "Q0", "name", "rank", "value", "measure"),
    "jsonl":       ("run_id", "topic_id", "measure", "value"),
}  # fmt: skip
FORMATS = tuple(COLUMNS)
#: what the command of ir_measures prints of one run, with -q and without
OF_COMMAND = {"ir_measures_topics": ("qid", "measure", "value"), "ir_measures_means": ("measure", "value")}
#: format -> what stands in its columns at white space
_AT_SPACE = {**{name: columns for name, columns in COLUMNS.items() if name != "jsonl"}, **OF_COMMAND}
#: those that are read
READ = (*FORMATS, *OF_COMMAND, *FORMS)
#: our name of a column -> the key of a line of JSON
_KEYS = {"name": "run_id", "qid": "topic_id", "measure": "measure", "value": "value"}
#: what the column of measures is called in a first line that names the columns
_MEASURE_HEADINGS = {"metric", "measure", "eval_metric"}
#: what stands second in lines of judgments
_ITERATIONS = {"0", "Q0", "q0"}
_BOM = "\ufeff"


def parse_leaderboard(
    data: bytes, format: str | None, form: TableForm, *, file_name: str, header: bool = False
) -> tuple[str, pd.DataFrame]:
    """Read one file: its format, and ``name qid measure value line``, texts all but the number of the line, from 1."""
    try:
        text = data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        raise InputError(
            f"no text in UTF-8 (byte {error.start:,}). A leaderboard is text: save it as UTF-8.", argument="path"
        ) from error
    # the ends of lines that AutoJudge's readers know
    ends = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [(n, line) for n, line in enumerate(ends.split("\n"), 1) if line.strip()][int(header) :]
    if not lines:
        raise InputError("there is no line. Give a leaderboard, such as `run topic measure value`.", argument="path")
    if format == "jsonl" or (format is None and _is_json(lines[0][1], file_name)):
        _check_lines_of_json(text)
        rows = [_of_json(n, line, file_name) for n, line in lines]
        return "jsonl", _selected(pd.DataFrame(rows, columns=[*_KEYS, "line"]), form)
    if format is None or format in FORMS:
        if not header and (found := parse_markdown(lines, format, form)) is not None:
            return found
        widths = {len(columns) for columns in _AT_SPACE.values()}
        if format in FORMS or told_table([line for _, line in lines], file_name, widths):
            if header:
                raise InputError(
                    "header is for lines at white space: the first line of CSV and TSV names the columns.",
                    argument="header",
                )
            return parse_table(ends.split("\n"), format, form)
    cells = [line.split() for _, line in lines]
    known = told_format(cells) if format is None else format
    _check_no_labels(cells, known)
    for (n, line), row in zip(lines, cells, strict=True):
        if len(row) != len(_AT_SPACE[known]):
            fit = [name for name in _of_width(len(row)) if name != known]
            so_many = f"So many has {' or '.join(map(repr, fit))}. " if fit else ""
            raise InputError(
                f"a line of the format {known!r} has {len(_AT_SPACE[known])} columns, {' '.join(_AT_SPACE[known])}; "
                f"this one has {len(row)}: {shown(line.strip())}. {so_many}Give the format= of the file, or correct "
                "the line.",
                argument="path",
                place=f"line {n:,}",
            )
    if _names_columns(known, cells[0]):
        lines, cells = lines[1:], cells[1:]
    columns = dict(zip(_AT_SPACE[known], zip(*cells, strict=True), strict=True)) if cells else {}
    columns.setdefault("name", (file_name,) * len(cells))
    columns.setdefault("qid", (ALL,) * len(cells))
    frame = pd.DataFrame({name: columns.get(name, ()) for name in _KEYS}, dtype=object)
    return known, _selected(frame.assign(line=[n for n, _ in lines]), form)


def _selected(rows: pd.DataFrame, form: TableForm) -> pd.DataFrame:
    """Return the rows of the topics that are chosen, and those of all topics; no mean may pass for a topic."""
    topics = rows.loc[rows["qid"] != ALL, "qid"].unique().tolist()
    kept = [topics[at] for at in form.selection.places(topics)]
    rows = rows[rows["qid"].isin([ALL, *kept])]
    if form.selection.tasks is not None:
        place = {topic: at for at, topic in enumerate(kept)}
        return rows.sort_values("qid", key=lambda qids: qids.map(place), kind="stable")
    if odd := [topic for topic in kept if is_mean(topic)]:
        check_task_names(odd, "topic")
    return rows


def _of_width(width: int) -> list[str]:
    return [name for name, columns in _AT_SPACE.items() if len(columns) == width]


def told_format(cells: Sequence[Sequence[str]]) -> str:
    """Return the format of lines split at white space, by their number of columns, ``all`` and the measures."""
    width = max(map(len, cells), key=[len(row) for row in cells].count)
    known, rows = _of_width(width), [row for row in cells if len(row) == width]
    if not known:
        raise _no_form(f"most lines have {count(width, 'column')}")

    def of_measures(name: str) -> bool:
        # a first line may name the columns
        at = _AT_SPACE[name].index("measure")
        return all(is_measure_name(row[at]) for row in rows[1:] or rows)

    if width == len(OF_COMMAND["ir_measures_means"]):
        if not of_measures(known[0]):
            raise _no_form("lines of two columns are a measure and its value, and the first column is none of measures")
        return known[0]
    summed = [name for name in known if any(row[_AT_SPACE[name].index("qid")] == ALL for row in rows)]
    fit = summed
    if not summed and width == len(OF_COMMAND["ir_measures_topics"]):
        fit = [name for name in known if of_measures(name)]
    if len(fit) == 1:
        return fit[0]
    why = f"{ALL!r} stands in several columns" if summed else f"no line has the topic {ALL!r}"
    forms = listed([f"{name} ({' '.join(_AT_SPACE[name])})" for name in summed or known])
    others = "" if summed else f", or {'a run' if width == 6 else 'labels'}"
    raise InputError(
        f"lines of {width} columns can be {forms}{others}, and {why}, which would tell. Give "
        f"format={(summed or known)[0]!r}{' or another of these' if len(summed or known) > 1 else ''}.",
        argument="format",
    )


def _no_form(why: str) -> InputError:
    return InputError(
        f"{why}. A leaderboard has {'; '.join(' '.join(columns) for columns in _AT_SPACE.values())}; or is JSON by "
        "lines, a table in Markdown, or CSV or TSV whose first line names the columns. Give a file of one of these "
        "forms.",
        argument="path",
    )


def _check_no_labels(cells: Sequence[Sequence[str]], format: str) -> None:
    """Raise where lines are those of qrels or of a run, whatever format is given."""
    width = len(_AT_SPACE[format])
    rows = [row for row in cells if len(row) == width]
    if any(ALL in row for row in rows) or any(map(is_measure_name, {cell for row in rows[:1000] for cell in row})):
        return
    qrels = width == 4 and all(row[1] in _ITERATIONS and row[3].lstrip("+-").isdecimal() for row in rows)
    run = width == 6 and all(row[1] == "Q0" and row[3].isdecimal() and row[3] != "0" for row in rows)
    if qrels or run:
        raise InputError(
            f"the lines are those of {'judgments, topic 0 document label' if qrels else 'a run'}, and no "
            f"leaderboard: {shown(' '.join(rows[0]))}. Give them to {'read_qrels' if qrels else 'read_runs'}().",
            argument="path",
        )


def leaderboard_text(
    format: str,
    names: Sequence[str],
    topics: Sequence[str],
    measures: Sequence[str],
    values: NDArray[np.float64],
    *,
    has_topic: NDArray[np.bool_],
    means: NDArray[np.float64],
) -> str:
    """Return scores as the lines of a leaderboard, of ``trec_eval`` those of one run; the rows ``all`` last."""
    if ALL in topics and len(topics) > 1:
        raise InputError(f"the topic {ALL!r} would be taken for the value over all topics. Rename it first.")
    for what, texts in (("run name", names), ("topic", topics), ("measure", measures)):
        bad = [text for text in texts if text.split() != [text] or text.startswith(_BOM)]
        if bad and format != "jsonl":
            raise InputError(
                f"the {what} {examples(bad)} cannot stand in a column that ends with white space. Rename it first, "
                "or write with format='jsonl'."
            )
    rows = [
        (name, topic, measure, float(values[m, t, r]))
        for r, name in enumerate(names)
        for t, topic in enumerate(topics)
        if topic != ALL and has_topic[t, r]
        for m, measure in enumerate(measures)
    ]
    rows += [(name, ALL, one, float(means[m, r])) for r, name in enumerate(names) for m, one in enumerate(measures)]
    return "".join(f"{_line(format, row)}\n" for row in rows)


def _line(format: str, row: tuple[str, str, str, float]) -> str:
    if format == "jsonl":
        return json.dumps(dict(zip(_KEYS.values(), row, strict=True)))
    # AutoJudge has no rank, and writes 0
    cells = {**dict(zip(_KEYS, row, strict=True)), "value": repr(row[-1]), "Q0": "Q0", "rank": "0"}
    return "\t".join(str(cells[column]) for column in COLUMNS[format])


def _is_json(line: str, file_name: str) -> bool:
    begins = line.lstrip().startswith(("{", "["))
    if not begins or ".json" in file_name.lower():
        return begins
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False


def _check_lines_of_json(text: str) -> None:
    """Raise where a file is one value of JSON over several lines, and say how it becomes a leaderboard."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict) and isinstance(found.get("scores"), dict) and "task_name" in found:
        raise InputError(
            f"this is MTEB's result of the task {shown(found['task_name'])} for one model, without its name. Give "
            "the folder of all results, in which files are called MODEL/REVISION/TASK.json.",
            argument="path",
        )
    if not isinstance(found, dict) or "measure" not in found:
        raise InputError(
            f"one {'object' if isinstance(found, dict) else 'value'} of JSON; a leaderboard has an object a line, with "
            f"{listed(list(_KEYS.values()))}. Read it with pandas, and give a frame with a row for each system and a "
            "column for each task, or with the columns name, qid, measure, value.",
            argument="path",
        )


def _of_json(n: int, line: str, file_name: str) -> list[Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    known = found if isinstance(found, dict) else {}
    # the command of ir_measures has no run, calls the topic query_id or leaves it out, and adds what some measures know
    if known and not {"run_id", "topic_id"} & set(known) and {"measure", "value"} <= set(known):
        known = {"run_id": file_name, "topic_id": known.get("query_id", ALL), **known}
    odd = [
        key
        for key in _KEYS.values()
        if key not in known
        or (key != "value" and (isinstance(known[key], bool) or not isinstance(known[key], str | int)))
    ]
    if odd:
        raise InputError(
            f"no object with {listed(list(_KEYS.values()))}, the first three texts or whole numbers: "
            f"{f'{listed(odd)} of ' if known else ''}{shown(line.strip())}. Give one a line.",
            argument="path",
            place=f"line {n:,}",
        )
    return [*(known[key] if isinstance(known[key], str) else repr(known[key]) for key in _KEYS.values()), n]


def _names_columns(format: str, cells: Sequence[str]) -> bool:
    """Return whether a line names the columns: a measure called measure, whose value is no number."""
    row = dict(zip(_AT_SPACE[format], cells, strict=True))
    return number(row["value"]) is None and row["measure"].lower() in _MEASURE_HEADINGS
