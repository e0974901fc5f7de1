"""read_judges: the labels and leaderboards of a folder of judges, in whatever forms they are."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import choice, count, did_you_mean, examples, listed, shown, told
from pt_reuse._errors import Argument, InputError, arguments_as, door, located
from pt_reuse._files import user_path
from pt_reuse._saving import CsvReader
from pt_reuse.formats.files import UnreadableError, read_bytes
from pt_reuse.formats.leaderboards import FORMATS
from pt_reuse.judging.annotators.label_files import SEPARATORS
from pt_reuse.judging.judge_files import Kind, file_stem, kind_of, of_leaderboard, read_judge_labels
from pt_reuse.qrels.judgments import Qrels, checked_rel
from pt_reuse.scoring.leaderboards import read_leaderboard
from pt_reuse.scoring.score_frames import MISSING
from pt_reuse.scoring.scores import Scores

#: the table of judges in their folder, and its columns
TABLE = "judges.csv"
COLUMNS = ("name", "family", "rel", "format")
#: ends of files beside labels and leaderboards: what people write of them, and how AutoJudge says what it did
_BESIDE = (
    ".md", ".rst", ".pdf", ".png", ".yml", ".yaml", ".toml", ".log", ".py", ".nuggets.jsonl", ".responses.jsonl",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class JudgeFolder:
    """Judges of a folder.

    Attributes:
        folder: where they are.
        labels: judge -> its labels, relevant from the label that ``judges.csv`` says.
        leaderboards: judge -> the scores that it gives runs.
        families: judge -> the family of models that it is of, where ``judges.csv`` says one.
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
        """Return judge -> family of those that have labels, as studies of labels take it."""
        return {name: family for name, family in self.families.items() if name in self.labels}

    def __repr__(self) -> str:
        n = self.table["judge"].nunique()
        parts = [
            f"{what} of {len(of)}"
            for what, of in (("labels", self.labels), ("leaderboards", self.leaderboards))
            if len(of)
        ]
        left = f"; left out: {examples(self.skipped, 12)}" if self.skipped else ""
        return f"JudgeFolder: {count(n, 'judge')} in {self.folder}, {' and '.join(parts)}{left}"


@dataclass(frozen=True)
class _Said:
    """What ``judges.csv`` says of a judge."""

    family: str | None = None
    rel: int | None = None
    format: str | None = None


@door
def read_judges(folder: str | Path, *, families: str | Path | None = None, missing: str = "error") -> JudgeFolder:
    r"""Read a folder of judges: a file of labels or a leaderboard each, or both, in any of the forms that tools write.

    A judge is called as its file, without endings such as ``.qrels.txt.gz`` or ``.eval.jsonl``. What a file holds is
    told by its lines, and by ``.qrels`` and ``.eval`` in its name, as TREC AutoJudge writes them:

    - labels: TREC qrels; CSV with ``qid docno label``; JSON by lines with these keys, or with those of ir_measures or
      AutoJudge;
    - a leaderboard in one of the formats of :func:`read_leaderboard`; a folder within the folder is a leaderboard of
      a file for each run.

    The file ``judges.csv`` may say of a judge (``name``) its ``family``; ``rel``, the lowest of its labels that is
    relevant; and the ``format`` of its leaderboard, where the lines do not tell it.

    Args:
        folder: the folder, or the one file of a single judge.
        families: a CSV file in the place of ``judges.csv``, with the same columns; default that of the folder, if any.
        missing: a topic that a run of a leaderboard lacks is an ``"error"`` (default), counts ``"zero"``, or is one to
            ``"leave_out"``, see :func:`read_leaderboard`.

    Returns:
        JudgeFolder: labels and leaderboards by judge, families, and a table of the files.

    Raises:
        InputError: no such folder or nothing in it, the first fault of each file that cannot be read, two files of
            one judge that hold the same, a ``judges.csv`` that names a judge without a file.

    Example:
        >>> import tempfile, pathlib, pt_reuse as ptr
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "one.qrels").write_text("1 0 d1 1\n1 0 d2 0\n")
        >>> _ = (folder / "two.jsonl").write_text('{"qid": "1", "docno": "d1", "label": 3}\n')
        >>> _ = (folder / "judges.csv").write_text("name,family,rel\ntwo,gpt,2\n")
        >>> judges = ptr.judging.read_judges(folder)
        >>> judges.labels["two"]
        Qrels: 1 topic, 1 judgment, 1 relevant from label 2 (labels 3: 1)
        >>> judges.families
        {'two': 'gpt'}
    """
    choice("missing", missing, MISSING)
    place = checked_folder(folder)
    return _read(place, checked_table(families), missing)


def checked_table(families: Any) -> Path | None:
    """Return the table of judges that a user names, None for that of the folder.

    Raises:
        InputError: no path, or no file there.
    """
    if families is None:
        return None
    place = checked_folder(families, "families")
    if place.is_dir():
        raise InputError(f"{place} is a folder. Give a CSV file with name and family.", argument="families")
    return place


def checked_folder(folder: Any, argument: str = "folder") -> Path:
    """Return the folder of judges, or the file of one, that a user names.

    Raises:
        InputError: no path, or nothing there.
    """
    if not isinstance(folder, str | os.PathLike) or not os.fspath(folder) or "\0" in os.fspath(folder):
        raise InputError(Argument(argument), f" must be a path, got {told(folder)}.", argument=argument)
    place = user_path(folder)
    if not place.exists():
        raise InputError(f"{place}: no such file or folder.", argument=argument)
    return place


def _read(place: Path, table: Path | None, missing: str) -> JudgeFolder:
    inside = sorted(place.iterdir()) if place.is_dir() else [place]
    tables = [path for path in inside if path.name.lower() == TABLE and place.is_dir()]
    named = [path for path in inside if path not in tables]
    skipped = [path for path in named if place.is_dir() and _is_beside(path)]
    files = [path for path in named if path not in skipped]
    if not files:
        left = f" beside {examples([path.name for path in skipped])}" if skipped else ""
        raise InputError(
            f"there is no file of a judge{left}. Give a file of labels or a leaderboard for each.",
            argument="folder",
            place=str(place),
        )
    names = [file_stem(path) for path in files]
    said_in = table if table is not None else next(iter(tables), None)
    of_judge = {} if said_in is None else _table(said_in, names)
    labels: dict[str, Qrels] = {}
    boards: dict[str, Scores] = {}
    rows, faults = [], []
    for path in files:
        name = file_stem(path)
        of = of_judge.get(name, _Said())
        try:
            kind = kind_of(path)
            known: Mapping[str, Any] = boards if kind is Kind.BOARD else labels
            if name in known:
                raise InputError(
                    f"{name!r} has {'a leaderboard' if kind is Kind.BOARD else 'labels'} already, in another file. "
                    "Rename one of the two.",
                    argument="folder",
                    place=str(path),
                )
            if kind is Kind.BOARD:
                with arguments_as("read_leaderboard", missing="missing"):
                    boards[name] = read_leaderboard(path, of.format, missing=missing)
                size, topics = len(boards[name].names), len(boards[name].topics)
            else:
                labels[name] = read_judge_labels(path, kind).with_rel(of.rel)
                size, topics = len(labels[name].arrays.labels), len(labels[name].topics)
        except InputError as error:
            faults.append(_of_unknown_format(path) if error.argument == "format" else error)
            continue
        rows.append((name, kind.value, path.name, of.family, of.rel, topics, size))
    if faults:
        raise InputError.of_several(faults, len(files), "files")
    found = pd.DataFrame(rows, columns=["judge", "holds", "file", "family", "rel", "topics", "size"])
    families = {name: of.family for name, of in of_judge.items() if of.family is not None}
    return JudgeFolder(
        place,
        labels,
        boards,
        families,
        found.assign(rel=found["rel"].astype("Int64"), family=found["family"].astype(object)),
        tuple(path.name for path in skipped),
    )


def _of_unknown_format(path: Path) -> InputError:
    labels = "" if of_leaderboard(path) else f" If they are labels, write whole numbers, to {path.name}.qrels."
    return InputError(
        "the lines can be a leaderboard in several formats. Say which in a column `format` of "
        f"{TABLE}: {listed(FORMATS)}.{labels}",
        argument="folder",
        place=str(path),
    )


def _is_beside(path: Path) -> bool:
    return path.name.startswith(".") or (path.is_file() and path.name.lower().endswith(_BESIDE))


def _table(path: Path, names: list[str]) -> dict[str, _Said]:
    """Return what ``judges.csv`` says of each judge."""
    with located(str(path)):
        try:
            text = read_bytes(path).decode("utf-8-sig")
        except (UnreadableError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read: {error}. Give UTF-8.", argument="folder") from error
        header = text.partition("\n")[0]
        lines = CsvReader(io.StringIO(text, newline=""), delimiter=max(SEPARATORS, key=header.count))
        try:
            rows = [(lines.line_num, cells) for cells in lines]
        except csv.Error as error:
            where = f"line {lines.line_num:,}"
            raise InputError(f"no CSV ({error}). Mend the line.", argument="folder", place=where) from error
        columns = [column.strip() for column in (rows[0][1] if rows else [])]
        strange = [column for column in columns if column not in COLUMNS]
        if "name" not in columns or strange or len(set(columns)) != len(columns):
            raise InputError(
                f"the columns must be {listed(COLUMNS)}, the last three as you like, got {examples(columns, 12)}.",
                argument="folder",
            )
        found: dict[str, _Said] = {}
        for line, cells in rows[1:]:
            if not any(cell.strip() for cell in cells):
                continue
            with located(f"line {line}"):
                row = dict(zip(columns, (cell.strip() for cell in cells), strict=False))
                name = row.get("name", "")
                if name not in names:
                    raise InputError(
                        f"there is no file of the judge {shown(name)}.{did_you_mean(name, names)}", argument="folder"
                    )
                if name in found:
                    raise InputError(f"the judge {shown(name)} has a row already. Keep one.", argument="folder")
                found[name] = _Said(row.get("family") or None, _rel(row.get("rel", "")), _format(row.get("format", "")))
        return found


def _format(cell: str) -> str | None:
    return choice("format", cell, FORMATS) if cell else None


def _rel(cell: str) -> int | None:
    if not cell:
        return None
    if not cell.isdecimal():
        raise InputError(
            f"rel must be a whole number, the lowest relevant label, got {shown(cell)}.", argument="folder"
        )
    return checked_rel(int(cell))
