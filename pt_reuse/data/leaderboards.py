"""Leaderboards as TREC AutoJudge's tools read and write them, a line for each run, topic and measure; and tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, listed, shown
from pt_reuse._errors import InputError, Option, wrong
from pt_reuse.data.score_tables import LONG, TABLE, TableForm, parse_table, told_table

#: the topic under which a run's value over all topics stands
ALL = "all"
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
#: those that are read
READ = (*FORMATS, LONG, TABLE)
#: our name of a column -> the key of a line of JSON
_KEYS = {"name": "run_id", "qid": "topic_id", "measure": "measure", "value": "value"}
#: what the column of measures is called in a first line that names the columns
_HEADINGS = {"metric", "measure", "eval_metric"}
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
        return "jsonl", pd.DataFrame([_of_json(n, line) for n, line in lines], columns=[*_KEYS, "line"])
    if format is None:
        format = told_table([line for _, line in lines], file_name, {len(columns) for columns in COLUMNS.values()})
    if format in (LONG, TABLE):
        if header:
            raise wrong("header", " is for lines at white space: the first line of CSV and TSV names the columns.")
        return format, parse_table(lines, format, form)
    cells = [line.split() for _, line in lines]
    found = told_format(cells) if format is None else format
    for (n, line), row in zip(lines, cells, strict=True):
        if len(row) != len(COLUMNS[found]):
            fit = [name for name in _of_width(len(row)) if name != found]
            so_many = f"So many has {' or '.join(map(repr, fit))}. " if fit else ""
            raise InputError(
                f"a line of the format {found!r} has {len(COLUMNS[found])} columns, {' '.join(COLUMNS[found])}; this "
                f"one has {len(row)}: {shown(line.strip())}. {so_many}Give the ",
                Option("format", ...),
                " of the file, or correct the line.",
                argument="path",
                place=f"line {n:,}",
            )
    if _names_columns(found, cells[0]):
        lines, cells = lines[1:], cells[1:]
    columns = dict(zip(COLUMNS[found], zip(*cells, strict=True), strict=True)) if cells else {}
    columns.setdefault("name", (file_name,) * len(cells))
    frame = pd.DataFrame({name: columns.get(name, ()) for name in _KEYS}, dtype=object)
    return found, frame.assign(line=[n for n, _ in lines])


def _of_width(width: int) -> list[str]:
    return [name for name, columns in COLUMNS.items() if len(columns) == width and name != "jsonl"]


def told_format(cells: Sequence[Sequence[str]]) -> str:
    """Return the format of lines split at white space, by their number of columns and the place of ``all``."""
    width = max(map(len, cells), key=[len(row) for row in cells].count)
    known, rows = _of_width(width), [row for row in cells if len(row) == width]
    fit = [name for name in known if any(row[COLUMNS[name].index("qid")] == ALL for row in rows)]
    measure_last = width == 3 and not fit and any(row[0] == ALL for row in rows)
    if not known or measure_last:
        raise InputError(
            f"most lines have {count(width, 'column')}{', and the topic all in the first' * measure_last}. A "
            f"leaderboard has {'; '.join(' '.join(columns) for name, columns in COLUMNS.items() if name != 'jsonl')}; "
            "or is JSON by lines, or CSV or TSV whose first line names the columns. Give a file of one of these forms.",
            argument="path",
        )
    if len(fit) == 1 or len(known) == 1:
        return (fit or known)[0]
    forms = listed([f"{name} ({' '.join(COLUMNS[name])})" for name in fit or known])
    why = f"no line has the topic {ALL!r}" if not fit else f"{ALL!r} stands in several columns"
    raise InputError(
        f"lines of four columns can be {forms}, and {why}, which would tell. Give ",
        Option("format", (fit or known)[0]),
        " or another of these.",
        argument="format",
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
                f"the {what} {examples(bad)} cannot stand in a column that ends with white space. Rename it first, or "
                "write with ",
                Option("format", "jsonl"),
                ".",
            )
    rows = [
        (name, topic, measure, float(values[m, t, r]))
        for r, name in enumerate(names)
        for t, topic in enumerate(topics)
        if topic != ALL and has_topic[t, r]
        for m, measure in enumerate(measures)
    ]
    of_all = [(name, ALL, one, float(means[m, r])) for r, name in enumerate(names) for m, one in enumerate(measures)]
    return "".join(f"{line}\n" for line in _lines(format, [*rows, *of_all]))


def _lines(format: str, rows: Sequence[tuple[str, str, str, float]]) -> Iterator[str]:
    for row in rows:
        if format == "jsonl":
            yield json.dumps(dict(zip(_KEYS.values(), row, strict=True)))
            continue
        # AutoJudge has no rank, and writes 0
        cells = {**dict(zip(_KEYS, row, strict=True)), "value": repr(row[-1]), "Q0": "Q0", "rank": "0"}
        yield "\t".join(str(cells[column]) for column in COLUMNS[format])


def _is_json(line: str, file_name: str) -> bool:
    if not line.lstrip().startswith("{") or ".json" in file_name.lower():
        return line.lstrip().startswith("{")
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _of_json(n: int, line: str) -> list[Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    known = found if isinstance(found, dict) else {}
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
    row = dict(zip(COLUMNS[format], cells, strict=True))
    try:
        float(row["value"])
    except ValueError:
        return row["measure"].lower() in _HEADINGS
    return False
