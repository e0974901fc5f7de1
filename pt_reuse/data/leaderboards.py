"""Leaderboards as TREC AutoJudge's tools read and write them: a line for each run, topic and measure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, listed, shown
from pt_reuse._errors import InputError, Option

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
#: our name of a column -> the key of a line of JSON
_KEYS = {"name": "run_id", "qid": "topic_id", "measure": "measure", "value": "value"}
#: what the column of measures is called in a first line that names the columns
_HEADINGS = {"metric", "measure", "eval_metric"}
_BOM = "\ufeff"


@dataclass(frozen=True)
class LeaderboardRows:
    """The lines of one file.

    Attributes:
        format: which one it is, of :data:`FORMATS`.
        frame: ``name qid measure value line``, texts all but the number of the line, from 1.
    """

    format: str
    frame: pd.DataFrame


def parse_leaderboard(data: bytes, format: str | None, *, file_name: str, header: bool = False) -> LeaderboardRows:
    """Read one file.

    Args:
        data: its contents.
        format: one of :data:`FORMATS`; None to tell it by the lines.
        file_name: what the file is called, the name of the run in the format ``trec_eval``.
        header: the first line is left out, whatever it says; one that names the columns is known without.

    Raises:
        InputError: a line of another form, or lines that could be of several formats.
    """
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
        return LeaderboardRows("jsonl", _of_json(lines))
    cells = [line.split() for _, line in lines]
    found = told_format(cells) if format is None else format
    width = len(COLUMNS[found])
    for (n, line), row in zip(lines, cells, strict=True):
        if len(row) != width:
            raise InputError(
                f"a line of the format {found!r} has {width} columns, {' '.join(COLUMNS[found])}; this one has "
                f"{len(row)}: {shown(line.strip())}. {_other_formats(len(row))}Give the ",
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
    return LeaderboardRows(found, frame.assign(line=[n for n, _ in lines]))


def told_format(cells: Sequence[Sequence[str]]) -> str:
    """Return the format of lines split at white space.

    The number of columns tells most. Of four columns the one tells in which the topic ``all`` stands.

    Raises:
        InputError: no format has so many columns, or several could be meant.
    """
    width = max(map(len, cells), key=[len(row) for row in cells].count)
    known = [name for name, columns in COLUMNS.items() if len(columns) == width and name != "jsonl"]
    if not known:
        raise InputError(
            f"most lines have {count(width, 'column')}, and a leaderboard has {_widths()}, or is JSON by lines. Give a "
            "file of one of these forms.",
            argument="path",
        )
    rows = [row for row in cells if len(row) == width]
    fit = [name for name in known if any(row[COLUMNS[name].index("qid")] == ALL for row in rows)]
    if len(fit) == 1:
        return fit[0]
    if len(known) == 1 and not (width == 3 and any(row[0] == ALL for row in rows)):
        return known[0]
    if len(known) == 1:
        raise InputError(
            "'all' stands in the first column, and the format 'trec_eval' has topics in the second: measure qid value. "
            "Put the measure first.",
            argument="path",
        )
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
    """Return scores as the lines of a leaderboard, the rows ``all`` last.

    Args:
        format: one of :data:`FORMATS`; of ``trec_eval`` the scores of one run.
        names: of the runs.
        topics: the topics; ``["all"]`` where there are no scores by topic.
        measures: the measures.
        values: (measures, topics, runs).
        has_topic: (topics, runs) whether there is a line for it.
        means: (measures, runs) the values of the rows ``all``.

    Raises:
        InputError: a name that cannot stand in a column, or a topic called ``all`` among others.
    """
    if ALL in topics and len(topics) > 1:
        raise InputError(f"the topic {ALL!r} would be taken for the value over all topics. Rename it first.")
    if format != "jsonl":
        for what, texts in (("run name", names), ("topic", topics), ("measure", measures)):
            _check_column(texts, what)
    rows = [
        (name, topic, measure, float(values[m, t, r]))
        for r, name in enumerate(names)
        for t, topic in enumerate(topics)
        if topic != ALL and has_topic[t, r]
        for m, measure in enumerate(measures)
    ]
    rows += [
        (name, ALL, measure, float(means[m, r])) for r, name in enumerate(names) for m, measure in enumerate(measures)
    ]
    return "".join(f"{line}\n" for line in _lines(format, rows))


def _lines(format: str, rows: Iterable[tuple[str, str, str, float]]) -> Iterator[str]:
    for name, qid, measure, value in rows:
        if format == "jsonl":
            yield json.dumps({"run_id": name, "topic_id": qid, "measure": measure, "value": value})
            continue
        # AutoJudge has no rank, and writes 0
        cells = {"name": name, "qid": qid, "measure": measure, "value": repr(value), "Q0": "Q0", "rank": "0"}
        yield "\t".join(cells[column] for column in COLUMNS[format])


def _check_column(names: Iterable[str], what: str) -> None:
    bad = [name for name in names if name.split() != [name] or name.startswith(_BOM)]
    if bad:
        raise InputError(
            f"the {what} {examples(bad)} cannot stand in a column that ends with white space. Rename it first, or "
            "write with ",
            Option("format", "jsonl"),
            ".",
        )


def _is_json(line: str, file_name: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    if ".json" in file_name.lower():
        return True
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _of_json(lines: Sequence[tuple[int, str]]) -> pd.DataFrame:
    rows = []
    for n, line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"no JSON ({error}). Give an object a line, with {listed(list(_KEYS.values()))}.",
                argument="path",
                place=f"line {n:,}",
            ) from error
        lacking = [key for key in _KEYS.values() if not isinstance(found, dict) or key not in found]
        if lacking:
            raise InputError(
                f"the object has no {listed(lacking)}. Give an object a line, with {listed(list(_KEYS.values()))}.",
                argument="path",
                place=f"line {n:,}",
            )
        strange = [key for key in _KEYS.values() if key != "value" and not _is_name(found[key])]
        if strange:
            raise InputError(
                f"{listed(strange)} must be a text or a whole number, got {shown(str(found[strange[0]]))}.",
                argument="path",
                place=f"line {n:,}",
            )
        rows.append([*(_text_of(found[key]) for key in _KEYS.values()), n])
    return pd.DataFrame(rows, columns=[*_KEYS, "line"])


def _is_name(cell: Any) -> bool:
    return isinstance(cell, str | int) and not isinstance(cell, bool)


def _text_of(cell: Any) -> str:
    return cell if isinstance(cell, str) else repr(cell)


def _names_columns(format: str, cells: Sequence[str]) -> bool:
    """Return whether a line names the columns: a measure called measure, whose value is no number."""
    row = dict(zip(COLUMNS[format], cells, strict=True))
    try:
        float(row["value"])
    except ValueError:
        return row["measure"].lower() in _HEADINGS
    return False


def _other_formats(width: int) -> str:
    fit = [name for name, columns in COLUMNS.items() if len(columns) == width and name != "jsonl"]
    return f"So many has {' or '.join(map(repr, fit))}. " if fit else ""


def _widths() -> str:
    widths = sorted({len(columns) for name, columns in COLUMNS.items() if name != "jsonl"})
    return f"{', '.join(map(str, widths[:-1]))} or {widths[-1]}"
