"""Files of labels: TREC qrels, one for each annotator, and CSV with a column that says who."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import InputError, located
from pt_reuse._files import user_path
from pt_reuse.formats.files import UnreadableError, read_bytes
from pt_reuse.formats.foreign import in_our_columns
from pt_reuse.judging.annotators.labels import AnnotatorLabels, as_annotator_labels
from pt_reuse.qrels.reading import read_qrels

_CSV = re.compile(r"\.csv(\.\w+)?$", re.IGNORECASE)
#: what stands between the cells of a file that a spreadsheet saved; in many languages it writes semicolons
SEPARATORS = ",;\t"
_COLUMNS = ("qid", "docno", "label")


def check_label_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return paths of files that exist and name each annotator once.

    Raises:
        InputError: no such file, or two qrels files of one name.
    """
    found = [user_path(path) for path in paths]
    missing = [path for path in found if not path.is_file()]
    if missing:
        raise InputError(f"{examples(missing)}: no such file.", argument="files")
    names = [_annotator(path) for path in found]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(
            f"several files are those of {examples(twice)}; a file is called as its annotator, and each has one. "
            "Rename them, or give one CSV file with the column 'annotator'.",
            argument="files",
        )
    return found


def read_labels(paths: Sequence[str | Path]) -> AnnotatorLabels:
    """Read labels of several annotators.

    Args:
        paths: TREC qrels files, each the labels of the annotator that the file is called after, and CSV files (commas,
            semicolons or tabs between cells; packed ones are unpacked) with the columns ``qid docno label`` and
            ``annotator``; without the last one it is the labels of whom the file is called after. An empty label is
            none.

    Raises:
        InputError: a file that cannot be read, no such column, or what :func:`as_annotator_labels` raises.
    """
    frames = []
    for path in check_label_files(paths):
        with located(str(path)):
            frame = read_csv_labels(path) if _CSV.search(path.name) else read_qrels(path).to_frame()
        frames.append(frame if "annotator" in frame else frame.assign(annotator=_annotator(path)))
    return as_annotator_labels(pd.concat(frames, ignore_index=True), "files")


def _annotator(path: Path) -> str:
    # notes.txt.gz is that of notes
    return path.name.split(".")[0] or path.name


def read_csv_labels(path: Path) -> pd.DataFrame:
    """Return ``qid docno label``, and ``annotator`` where it is there, as texts; an empty label is None.

    Raises:
        InputError: a file that cannot be read, or without these columns.
    """
    try:
        data = read_bytes(path)
        header = data.split(b"\n", 1)[0].decode("latin-1")
        separator = max(SEPARATORS, key=header.count)
        frame = in_our_columns(pd.read_csv(io.BytesIO(data), sep=separator, dtype=str, keep_default_na=False))
    except (UnreadableError, OSError, ValueError) as error:
        raise InputError(f"cannot be read as CSV: {error}") from error
    missing = [column for column in _COLUMNS if column not in frame.columns]
    if missing:
        raise InputError(
            f"a CSV file of labels must have the columns 'qid', 'docno', 'label' and 'annotator'; {examples(missing)} "
            f"not among {examples(frame.columns, 12)}.",
            argument="files",
        )
    kept: list[Any] = [column for column in (*_COLUMNS, "annotator") if column in frame.columns]
    return frame[kept].assign(label=frame["label"].where(frame["label"].str.strip() != "", None))
