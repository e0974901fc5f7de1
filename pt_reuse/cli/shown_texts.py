"""What people are shown: topics and texts of documents, from files of the user's or from a collection known by name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._check import did_you_mean, shown
from pt_reuse._errors import InputError, located
from pt_reuse.cli.judgments import told_name

if TYPE_CHECKING:
    import pandas as pd

TOPICS_HELP = "topics: a CSV file with qid and query, a file of qid, tab and query, or a collection known by name"
TEXTS_HELP = "texts: a CSV or JSONL file with docno and text, a file of docno, tab and text, or a collection by name"
_IRDS = "irds:"


def read_topics(text: str) -> pd.DataFrame:
    """Return the topics that a user names: a file, a collection, or ``irds:`` and an id of ir_datasets."""
    if os.path.isfile(text):
        return _table(Path(text), "topics", ("qid", "query"))
    return _dataset(text, "topics").get_topics()


def named_texts(text: str) -> Iterable[Mapping[str, Any]]:
    """Return the texts that a user names, to be read one by one: a file, a collection, or an id of ir_datasets."""
    if not os.path.isfile(text):
        dataset = _dataset(text, "texts")
        return dataset.get_corpus_iter(verbose=False)
    path = Path(text)
    if path.suffix.lower() in (".jsonl", ".json"):
        return _lines(path)
    frame = _table(path, "texts", ("docno", "text"))
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _table(path: Path, argument: str, columns: tuple[str, str]) -> pd.DataFrame:
    """Read CSV with a header, or two columns with a tab between them, which may have one."""
    import pandas as pd

    with located(str(path)):
        try:
            if path.suffix.lower() == ".csv":
                frame = pd.read_csv(path, dtype=str, keep_default_na=False)
            else:
                lines = path.read_text(encoding="utf-8-sig").split("\n")
                rows = [line.rstrip("\r").split("\t", 1) for line in lines if line.strip()]
                odd = next((n for n, row in enumerate(rows, 1) if len(row) < 2), None)
                if odd is not None:
                    raise InputError(
                        f"must be {columns[0]}, a tab and {columns[1]}, got {shown(rows[odd - 1][0])}. Give such "
                        "lines, or a file called .csv with a header.",
                        argument=argument,
                        place=f"line {odd:,}",
                    )
                frame = pd.DataFrame(rows[1:] if rows[:1] == [list(columns)] else rows, columns=list(columns))
        except (UnicodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise InputError(f"cannot be read ({error}). Give UTF-8.", argument=argument) from error
        lacking = [column for column in columns if column not in frame]
        if lacking and not (lacking == ["query"] and "title" in frame):
            raise InputError(
                f"must have the columns {columns[0]} and {columns[1]}, got {', '.join(map(str, frame.columns))}.",
                argument=argument,
            )
        return frame


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8-sig") as file:
        for n, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise InputError(
                    f"no JSON ({error}). Give a document a line, with docno and text.",
                    argument="texts",
                    place=f"{path}, line {n:,}",
                ) from error


def _dataset(text: str, argument: str) -> Any:
    import pyterrier as pt

    from pt_reuse.collections.dataset import ReuseDataset
    from pt_reuse.collections.definition import read_definition
    from pt_reuse.collections.registry import collection_names, real_name

    if text.endswith(".toml"):
        return ReuseDataset(read_definition(text))
    name = text.removeprefix("reuse:")
    if not text.startswith(_IRDS) and real_name(name) not in collection_names():
        near = did_you_mean(name, collection_names())
        raise InputError(f"no such file, and no collection of this name.{near}", place=text, argument=argument)
    try:
        return pt.get_dataset(text if text.startswith(_IRDS) else f"reuse:{told_name(name)}")
    except (KeyError, ValueError) as error:
        raise InputError(f"no data set that ir_datasets knows ({error}).", place=text, argument=argument) from error
