"""One file of a judge: whether it holds labels or a leaderboard, and labels in the forms that tools write."""

from __future__ import annotations

import json
import re
from enum import Enum
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import count, examples, listed, shown
from pt_reuse._errors import InputError, located
from pt_reuse.formats.files import UnreadableError, read_bytes
from pt_reuse.formats.foreign import OURS
from pt_reuse.formats.leaderboards import ALL
from pt_reuse.judging.annotators.label_files import read_csv_labels
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.qrels.reading import read_qrels

#: lines that are looked at, from the beginning and from the end
_LOOKED_AT = 2000
_PACKED = r"(\.\w+)?$"
_CSV = re.compile(rf"\.csv{_PACKED}", re.IGNORECASE)
#: endings that tools give files of labels, and leaderboards
_OF_LABELS, _OF_BOARD = re.compile(r"\.qrels?\b", re.IGNORECASE), re.compile(r"\.eval\b", re.IGNORECASE)
#: what ir_measures and AutoJudge call the parts of a label -> what PyTerrier does
_NAMES = {**OURS, "topic_id": "qid", "docid": "docno", "grade": "label"}
_COLUMNS = ("qid", "docno", "label")
#: labels that AutoJudge reads as 1 and 0
_WORDS = {"True": "1", "False": "0"}
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?$")
#: what a judge is called that is given alone and says no name
ALONE = "judge"
#: ends of file names that are no part of a judge's name
_ENDS = {".gz", ".bz2", ".xz", ".zst", ".txt", ".qrels", ".qrel", ".tsv", ".csv", ".jsonl", ".json", ".eval"}


class Kind(Enum):
    """What a file of a judge holds."""

    QRELS = "TREC qrels"
    CSV = "CSV labels"
    JSON = "JSON labels"
    BOARD = "leaderboard"


def file_stem(path: str | Path) -> str:
    """Return what a judge is called whose labels or leaderboard are in a file: ``llama-3.2`` for llama-3.2.qrels.gz."""
    name = Path(path)
    while name.suffix.lower() in _ENDS:
        name = name.with_suffix("")
    return name.name or ALONE


def of_leaderboard(path: Path) -> bool:
    """Return whether a name says that it is a leaderboard: that of a folder, or with the ending ``.eval``."""
    return path.is_dir() or _OF_BOARD.search(path.name) is not None


def kind_of(path: Path) -> Kind:
    """Return what a file holds, by its name where that says it, else by its lines; a folder is a leaderboard.

    Raises:
        InputError: it cannot be read, or could be either.
    """
    if of_leaderboard(path):
        return Kind.BOARD
    if _CSV.search(path.name):
        return Kind.CSV
    with located(str(path)):
        lines = _text(path).split("\n")
    lines = [line for line in [*lines[:_LOOKED_AT], *lines[max(_LOOKED_AT, len(lines) - _LOOKED_AT) :]] if line.strip()]
    if lines and lines[0].lstrip().startswith("{"):
        return Kind.BOARD if _is_board(lines[0]) else Kind.JSON
    if _OF_LABELS.search(path.name):
        return Kind.QRELS
    rows = [line.split() for line in lines if not line.lstrip().startswith("#")]
    if rows and all(len(row) == 3 and _WHOLE.match(row[2]) and row[1] != ALL for row in rows):
        raise InputError(
            "lines of three columns that end with whole numbers, without a row `all`, can be labels without the second "
            f"column of TREC qrels, or a leaderboard of trec_eval. Write labels as `qid 0 docno label` to "
            f"{path.name}.qrels, or rename the leaderboard to {path.name}.eval.",
            argument="folder",
            place=str(path),
        )
    if not rows or any(len(row) != 4 for row in rows):
        # the reader of leaderboards says what is wrong
        return Kind.BOARD
    if not all(_WHOLE.match(row[3]) or row[3] in _WORDS for row in rows) or any(ALL in row[:3] for row in rows):
        return Kind.BOARD
    if all(row[1] in ("0", "Q0", "q0") for row in rows):
        return Kind.QRELS
    raise InputError(
        "lines of four columns that end with whole numbers can be judgments, `qid 0 docno label`, or a leaderboard. "
        f"Rename the file to {path.name}.qrels or {path.name}.eval.",
        argument="folder",
        place=str(path),
    )


def read_judge_labels(path: Path, kind: Kind) -> Qrels:
    """Read the labels of one judge.

    Args:
        path: the file, packed or not.
        kind: TREC qrels, in which ``True`` and ``False`` are 1 and 0; CSV with ``qid docno label``; or JSON by lines
            with these keys, those of ir_measures or those of AutoJudge (``topic_id doc_id grade``).

    Raises:
        InputError: another form, or a label that is no whole number.
    """
    if kind is Kind.QRELS and not _has_words(path):
        # which says itself where it is
        return read_qrels(path)
    with located(str(path)):
        return Qrels(_labels(path, kind))


def _labels(path: Path, kind: Kind) -> pd.DataFrame:
    if kind is Kind.JSON:
        return _json_labels(_text(path))
    if kind is Kind.QRELS:
        return _word_labels(_text(path))
    frame = read_csv_labels(path)
    people = frame["annotator"].unique().tolist() if "annotator" in frame else []
    if len(people) > 1:
        raise InputError(
            f"the labels are of {count(len(people), 'annotator')}: {examples(people)}. Give a file for each judge.",
            argument="folder",
        )
    return frame.loc[frame["label"].notna(), list(_COLUMNS)].reset_index(drop=True)


def _has_words(path: Path) -> bool:
    with located(str(path)):
        return any(line.rstrip().endswith(tuple(_WORDS)) for line in _text(path).split("\n", _LOOKED_AT))


def _word_labels(text: str) -> pd.DataFrame:
    rows = []
    for n, line in enumerate(text.split("\n"), 1):
        cells = line.split()
        if cells and len(cells) != 4:
            raise InputError(
                f"expected `qid 0 docno label`, got {shown(line)}.", argument="folder", place=f"line {n:,}"
            )
        if cells:
            rows.append((cells[0], cells[2], _WORDS.get(cells[3], cells[3])))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig", "surrogateescape")
    except UnreadableError as error:
        raise InputError(f"{error}.", argument="folder") from error


def _is_board(line: str) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"measure", "value"} <= set(found)


def _json_labels(text: str) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for n, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"no JSON ({error}). Give an object a line, with {listed(_COLUMNS)}.",
                argument="folder",
                place=f"line {n:,}",
            ) from error
        found = {_NAMES.get(key, key): value for key, value in row.items()} if isinstance(row, dict) else {}
        lacking = [name for name in _COLUMNS if name not in found]
        if lacking:
            raise InputError(
                f"no {listed(lacking)} among {listed(list(map(str, row)) if isinstance(row, dict) else [])}. Give an "
                f"object a line, with {listed(_COLUMNS)}.",
                argument="folder",
                place=f"line {n:,}",
            )
        strange = [name for name in ("qid", "docno") if isinstance(found[name], bool | list | dict)]
        if strange:
            raise InputError(
                f"{listed(strange)} must be a text, got {shown(str(found[strange[0]]))}.",
                argument="folder",
                place=f"line {n:,}",
            )
        rows.append({name: found[name] for name in _COLUMNS})
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return frame[frame["label"].notna()].reset_index(drop=True)
