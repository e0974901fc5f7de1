"""Leaderboards as TREC AutoJudge's tools read and write them, a line for each run, topic and measure; and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, listed, shown
from pt_reuse.data.score_tables import ALL, FORMS, TableForm, number, parse_markdown, parse_table, told_table
from pt_reuse.data.task_columns import check_task_names, is_mean, is_measure_name
from pt_reuse.errors import InputError

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
_HEADINGS = {"metric", "measure", "eval_metric"}
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
    return number(row["value"]) is None and row["measure"].lower() in _HEADINGS
