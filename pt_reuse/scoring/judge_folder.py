"""read_judges: the labels and leaderboards of a folder of judges, in whatever forms tools write them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._files import user_path
from pt_reuse.data.frame_columns import OURS
from pt_reuse.data.judgments import Qrels, checked_rel, read_qrels
from pt_reuse.data.packed_files import UnreadableError, headed_judgments, read_bytes, read_csv, read_csv_labels
from pt_reuse.data.score_tables import ALL, FORMATS
from pt_reuse.errors import InputError, choice, count, did_you_mean, examples, listed, located, shown
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.scores import MISSING, Scores

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
_ENDS_WITH_WORD = re.compile(r"\s(?:True|False)[^\S\n]*$", re.MULTILINE)
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?$")
#: what a judge is called that is given alone and says no name
ALONE = "judge"
#: ends of file names that are no part of a judge's name
_ENDS = {".gz", ".bz2", ".xz", ".zst", ".txt", ".qrels", ".qrel", ".tsv", ".csv", ".jsonl", ".json", ".eval"}


class Kind(Enum):
    """What a file of a judge holds."""

    QRELS = "TREC qrels"
    CSV = "CSV labels"
    HEADED = "labels with a header"
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
    """Return what a file holds, by its name where that says it, else by its lines; a folder is a leaderboard."""
    if of_leaderboard(path):
        return Kind.BOARD
    if _CSV.search(path.name):
        return Kind.CSV
    with located(str(path)):
        text = _text(path)
    if headed_judgments(text.encode("utf-8", "surrogateescape")) is not None:
        return Kind.HEADED
    lines = text.split("\n")
    lines = [line for line in [*lines[:_LOOKED_AT], *lines[max(_LOOKED_AT, len(lines) - _LOOKED_AT) :]] if line.strip()]
    if lines and lines[0].lstrip().startswith("{"):
        return Kind.BOARD if {"measure", "value"} <= set(_json_object(lines[0])) else Kind.JSON
    if _OF_LABELS.search(path.name):
        return Kind.QRELS
    rows = [line.split() for line in lines if not line.lstrip().startswith("#")]
    whole = [len(row) == 4 and (_WHOLE.match(row[3]) or row[3] in _WORDS) and ALL not in row[:3] for row in rows]
    if rows and all(whole) and all(row[1] in ("0", "Q0", "q0") for row in rows):
        return Kind.QRELS
    if rows and (all(whole) or all(len(row) == 3 and _WHOLE.match(row[2]) and row[1] != ALL for row in rows)):
        either = (
            f"Write labels as `qid 0 docno label` to {path.name}.qrels, or rename a leaderboard to {path.name}.eval."
        )
        raise _fault(f"these lines can be labels or a leaderboard. {either}", str(path))
    # the reader of leaderboards says what is wrong
    return Kind.BOARD


def _fault(message: str, place: str | None = None) -> InputError:
    return InputError(message, argument="folder", place=place)


def read_judge_labels(path: Path, kind: Kind) -> Qrels:
    """Read the labels of one judge."""
    frame: pd.DataFrame | None = None
    with located(str(path)):
        if kind in (Kind.CSV, Kind.HEADED):
            frame = read_csv_labels(path)
            people = frame["annotator"].unique().tolist() if "annotator" in frame else []
            if len(people) > 1:
                whose = f"{count(len(people), 'annotator')}: {examples(people)}"
                raise _fault(f"the labels are of {whose}. Give a file for each judge.")
        else:
            text, parse = _text(path), _json_label if kind is Kind.JSON else _word_label
            if kind is not Kind.QRELS or _ENDS_WITH_WORD.search(text):
                rows = [parse(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
                frame = pd.DataFrame(rows, columns=list(_COLUMNS))
        if frame is not None:
            return Qrels(frame.loc[frame["label"].notna(), list(_COLUMNS)].reset_index(drop=True))
    # which says itself where it is
    return read_qrels(path)


def _word_label(n: int, line: str) -> tuple[Any, ...]:
    cells = line.split()
    if len(cells) != 4:
        raise _fault(f"expected `qid 0 docno label`, got {shown(line)}.", f"line {n:,}")
    return cells[0], cells[2], _WORDS.get(cells[3], cells[3])


def _json_label(n: int, line: str) -> tuple[Any, ...]:
    found = {_NAMES.get(key, key): value for key, value in _json_object(line).items()}
    if not set(_COLUMNS) <= set(found) or any(isinstance(found[name], bool | list | dict) for name in _COLUMNS[:2]):
        wanted = f"an object of JSON with {listed(_COLUMNS)}, the first two texts"
        raise _fault(f"expected {wanted}, got {shown(line)}.", f"line {n:,}")
    return tuple(found[name] for name in _COLUMNS)


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig", "surrogateescape")
    except UnreadableError as error:
        raise _fault(f"{error}.") from error


def _json_object(line: str) -> dict[str, Any]:
    """Return an object of JSON, an empty one where a line is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


#: the table of judges in their folder, and its columns
TABLE = "judges.csv"
COLUMNS = ("name", "family", "rel", "format")
#: ends of files beside labels and leaderboards: what people write of them, and how AutoJudge says what it did
_OF_PEOPLE = (".md", ".rst", ".pdf", ".png", ".yml", ".yaml", ".toml", ".log", ".py")
_BESIDE = (*_OF_PEOPLE, ".nuggets.jsonl", ".responses.jsonl")


@dataclass(frozen=True, repr=False)
class JudgeFolder:
    """Judges of a folder.

    Attributes:
        folder: where they are.
        labels: judge -> its labels, relevant from the label in ``judges.csv``.
        leaderboards: judge -> the scores that it gives runs.
        families: judge -> its family of models, if ``judges.csv`` has one.
        table: a row for each file: ``judge holds file family rel topics size``, the size in labels, or in runs.
        skipped: files that were left out: hidden ones, and those that are beside labels, such as README.md.
    """

    folder: Path
    labels: Mapping[str, Qrels]
    leaderboards: Mapping[str, Scores]
    families: Mapping[str, str]
    table: pd.DataFrame = field(compare=False)
    skipped: tuple[str, ...] = ()

    @property
    def label_families(self) -> dict[str, str]:
        """Return judge -> family of the judges with labels, for studies of labels."""
        return {name: family for name, family in self.families.items() if name in self.labels}

    def __repr__(self) -> str:
        parts = [f"labels of {len(self.labels)}"] if self.labels else []
        parts += [f"leaderboards of {len(self.leaderboards)}"] if self.leaderboards else []
        left = f"; left out: {examples(self.skipped, 12)}" if self.skipped else ""
        judges = count(self.table["judge"].nunique(), "judge")
        return f"JudgeFolder: {judges} in {self.folder}, {' and '.join(parts)}{left}"


def read_judges(folder: str | Path, *, families: str | Path | None = None, missing: str = "error") -> JudgeFolder:
    r"""Read a folder of judges: for each a file of labels, a leaderboard, or both, in several formats.

    A judge has the name of its file, without endings such as ``.qrels.txt.gz`` or ``.eval.jsonl``. The content of a
    file is recognised by its lines, and by ``.qrels`` and ``.eval`` in its name, as TREC AutoJudge writes them:

    - labels: TREC qrels; CSV or tab-separated lines with ``qid docno label`` in the first line, or JSON by lines with
      these keys; or with the names of ir_measures, BEIR or AutoJudge;
    - a leaderboard in one of the formats of :func:`~pt_reuse.read_leaderboard`; a folder within the folder is a
      leaderboard of a file for each run.

    The file ``judges.csv`` may give for a judge (``name``) its ``family``; ``rel``, the lowest of its labels that is
    relevant; and the ``format`` of its leaderboard, if the lines do not show it.

    Args:
        folder: the folder, or the one file of a single judge.
        families: a CSV file instead of ``judges.csv``, with the same columns; default that of the folder, if any.
        missing: of topics of a leaderboard, as of :func:`~pt_reuse.read_leaderboard`.

    Returns:
        JudgeFolder: labels and leaderboards by judge, families, and a table of the files.

    Raises:
        InputError: no such folder or nothing in it, the first fault of each file that cannot be read, two files of
            one judge that hold the same, a ``judges.csv`` that names a judge without a file.

    Example:
        >>> import tempfile, pathlib, pt_reuse as ptr
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "two.jsonl").write_text('{"qid": "1", "docno": "d1", "label": 3}\n')
        >>> _ = (folder / "judges.csv").write_text("name,family,rel\ntwo,gpt,2\n")
        >>> ptr.judging.read_judges(folder).labels["two"]
        Qrels: 1 topic, 1 judgment, 1 relevant from label 2 (labels 3: 1)
    """
    choice("missing", missing, MISSING)
    place, table = checked_folder(folder), checked_table(families)
    inside = sorted(place.iterdir()) if place.is_dir() else [place]
    tables = [path for path in inside if path.name.lower() == TABLE and place.is_dir()]
    skipped = [path for path in inside if path not in tables and place.is_dir() and _is_beside(path)]
    files = [path for path in inside if path not in (*tables, *skipped)]
    if not files:
        left = f" beside {examples(path.name for path in skipped)}" if skipped else ""
        raise _fault(f"there is no file of a judge{left}. Give a file of labels or a leaderboard for each.", str(place))
    said_in = table or next(iter(tables), None)
    of_judge = {} if said_in is None else _table(said_in, [file_stem(path) for path in files])
    labels: dict[str, Qrels] = {}
    boards: dict[str, Scores] = {}
    rows, faults = [], []
    for path in files:
        name = file_stem(path)
        family, rel, form = of_judge.get(name, (None, None, None))
        try:
            kind = kind_of(path)
            if name in (boards if kind is Kind.BOARD else labels):
                raise _fault(f"{name!r} has a file of this kind already ({kind.value}). Rename one.", str(path))
            if kind is Kind.BOARD:
                boards[name] = read_leaderboard(path, form, missing=missing)
                size, topics = len(boards[name].names), len(boards[name].topics)
            else:
                labels[name] = read_judge_labels(path, kind).with_rel(rel)
                size, topics = len(labels[name].arrays.labels), len(labels[name].topics)
        except InputError as error:
            if error.argument == "format":
                also = "" if of_leaderboard(path) else f" Labels are whole numbers; write them to {path.name}.qrels."
                which = f"Say which in a column `format` of {TABLE}: {listed(FORMATS)}.{also}"
                error = _fault(f"the lines can be a leaderboard in several formats. {which}", str(path))
            faults.append(error)
            continue
        rows.append((name, kind.value, path.name, family, rel, topics, size))
    if faults:
        raise InputError.of_several(faults, len(files), "files")
    found = pd.DataFrame(rows, columns=["judge", "holds", "file", "family", "rel", "topics", "size"])
    return JudgeFolder(
        place,
        labels,
        boards,
        {name: family for name, (family, *_) in of_judge.items() if family is not None},
        found.assign(rel=found["rel"].astype("Int64"), family=found["family"].astype(object)),
        tuple(path.name for path in skipped),
    )


def checked_table(families: Any) -> Path | None:
    """Return the table of judges that a user names, None for that of the folder."""
    place = None if families is None else checked_folder(families, "families")
    if place is not None and place.is_dir():
        raise InputError(f"{place} is a folder. Give a CSV file with name and family.", argument="families")
    return place


def checked_folder(folder: Any, argument: str = "folder") -> Path:
    """Return the folder of judges, or the file of one, that a user names."""
    if not isinstance(folder, str | os.PathLike) or not os.fspath(folder) or "\0" in os.fspath(folder):
        raise InputError(f"{argument} must be a path, got {shown(folder)}.", argument=argument)
    place = user_path(folder)
    if not place.exists():
        raise InputError(f"{place}: no such file or folder.", argument=argument)
    return place


def _is_beside(path: Path) -> bool:
    return path.name.startswith(".") or (path.is_file() and path.name.lower().endswith(_BESIDE))


def _table(path: Path, known: list[str]) -> dict[str, tuple[str | None, int | None, str | None]]:
    """Return the family, the lowest relevant label and the format that ``judges.csv`` says of each judge."""
    with located(str(path)):
        rows = read_csv(path, "folder", utf8=True).frame.apply(lambda column: column.str.strip())
        if "name" not in rows or not set(rows) <= set(COLUMNS):
            given = examples(rows.columns, 12)
            raise _fault(f"the columns must be {listed(COLUMNS)}, the last three as you like, got {given}.")
        found: dict[str, tuple[str | None, int | None, str | None]] = {}
        for row in rows.to_dict("records"):
            name, family, rel, form = (row.get(column, "") for column in COLUMNS)
            with located(f"judge {shown(name)}"):
                if name not in known or name in found:
                    raise _fault(f"there must be one row for each file of a judge.{did_you_mean(name, known)}")
                if rel and not rel.isdecimal():
                    raise _fault(f"rel must be a whole number, the lowest relevant label, got {shown(rel)}.")
                lowest = checked_rel(int(rel)) if rel else None
                found[name] = family or None, lowest, choice("format", form, FORMATS) if form else None
        return found
