"""Files of answers judged by items, and of banks of items: of five projects, and tables, as rows of one form."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import choice, examples, listed, shown
from pt_reuse._files import user_path
from pt_reuse.data.packed_files import UnreadableError, read_bytes
from pt_reuse.errors import InputError, located, warn

#: what a match is called -> what it counts; a contradiction counts nothing, and is counted apart
MATCHES = {
    **dict.fromkeys(("support", "supports"), 1.0),
    **dict.fromkeys(("partial_support", "partial"), 0.5),
    **dict.fromkeys(("not_support", "none", "contradict", "contradicts"), 0.0),
}
#: what an item is called -> its weight in ``weighted``; others weigh nothing
WEIGHTS = {"vital": 1.0, "okay": 0.5}
#: what every form is read into: a weight that is not said is NaN, `id` is another name of the item
COLUMNS = ("qid", "item", "run", "match", "contradicts", "importance", "weight", "judge", "qanswer", "id", "place")
#: what the files are
FORMATS = ("nuggetizer", "dragun", "ikat", "long", "wide")
_DRAGUN = {"topic_id": "qid", "answer_id": "item", "run_tag": "run", "auto_assessment": "match"}
_LONG = ("qid", "item", "run", "match")
_BESIDE = ("qid", "item", "importance", "weight", "judge", "qanswer", "place")
#: what tells a line of a bank, or of an answer that was judged by one, from iKAT's topics
_OF_BANKS = {"nuggets", "nugget_bank", "claim_bank"}


def read_rows(
    path: Any, judge: str = "", *, format: str | None = None, unknown: str = "error", bank: bool = False
) -> pd.DataFrame:
    """Return the rows of a frame, a file or a folder of files; those of a bank have no runs and matches."""
    if format is not None:
        choice("format", format, FORMATS)
    frames = []
    for name, content in _contents(path):
        with located(name):
            table = isinstance(content, pd.DataFrame)
            rows = (_of_table if table else _of_json)(content, name, format, unknown, bank)
            frames.append(pd.DataFrame(rows, columns=[*COLUMNS]))
    if not frames or not (found := pd.concat(frames, ignore_index=True)).size:
        where = "" if isinstance(path, pd.DataFrame) else str(path)
        raise _fault(f"there is no {'item' if bank else 'judged answer'}.", where)
    found["judge"] = found["judge"].fillna(judge)
    return found


def _fault(text: str, place: str) -> InputError:
    return InputError(text, argument="path", place=place)


def _contents(path: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name of each file with its table, which says where each row is, or its values of JSON."""
    if isinstance(path, pd.DataFrame):
        yield "", path.reset_index(drop=True).assign(place=[f"row {n:,}" for n in range(1, len(path) + 1)])
        return
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"expected a frame or the path of a file, got {shown(path)}.", argument="path")
    place = user_path(path)
    if not place.exists():
        raise _fault("no such file.", str(path))
    files = [place]
    if place.is_dir():
        files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    for file in files:
        name = str(path) if file == place else f"{path}/{file.name}"
        with located(name):
            content = _content(file)
        yield name, content


def _content(file: Path) -> pd.DataFrame | list[tuple[str, Any]]:
    from io import StringIO

    try:
        text = read_bytes(file).decode("utf-8-sig")
    except UnreadableError as error:
        raise InputError(f"{error}.", argument="path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"no text in UTF-8 (byte {error.start:,}).", argument="path") from error
    if text.lstrip()[:1] not in ("{", "["):
        try:
            table = pd.read_csv(StringIO(text), sep=None, engine="python", dtype=str, keep_default_na=False)
        except (ValueError, csv.Error) as error:
            raise InputError(f"no table of answers can be read ({error}).", argument="path") from error
        return table.assign(place=[f"line {n:,}" for n in range(2, len(table) + 2)])
    try:
        return [("line 1", json.loads(text))]
    except (ValueError, RecursionError):
        lines = [(f"line {n:,}", line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    for n, (at, line) in enumerate(lines):
        try:
            lines[n] = at, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _fault(f"no JSON ({error}). Is the file cut short?", at) from error
    return lines


def _of_table(table: pd.DataFrame, _: str, format: str | None, unknown: str, bank: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of DRAGUN's columns, of a long frame or of a wide one, in which every further column is a run."""
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1)
    if bank:
        table = table.assign(run="the bank", match=0)
    elif format == "dragun" or (format is None and set(_DRAGUN) <= set(names)):
        table = table.rename(columns=_DRAGUN)
    elif format == "wide" or (format is None and {"qid", "item"} <= set(names) and "match" not in names):
        table = table.melt(id_vars=[key for key in _BESIDE if key in names], var_name="run", value_name="match")
        table = table[~(table["match"].isna() | (table["match"] == ""))]
    lacking = [name for name in _LONG if name not in table]
    if lacking:
        raise InputError(
            f"the columns {listed(lacking)} are missing among {examples(names[:-1], 12)}. A long table has "
            f"{listed(_LONG)}, and may have weight, importance and judge; a wide one qid, item and a column a run.",
            argument="path",
        )
    for row in table.to_dict("records"):
        at = row["place"]
        qid, item, run = (_text(row[name], name, at) for name in ("qid", "item", "run"))
        called = str(row["importance"]) if "importance" in row else None
        weight = math.nan if called is None else WEIGHTS.get(called, 0.0)
        if "weight" in row:
            number = _number(row["weight"])
            if number is None or number < 0:
                raise _fault(f"weight must be a number, 0 or more, got {shown(row['weight'])}.", at)
            weight = number
        match = _match(row["match"], unknown, qid, item, run, at)
        judge = str(row["judge"]) if "judge" in row else None
        yield qid, item, run, *match, called, weight, judge, row.get("qanswer"), "", at


def _text(value: Any, what: str, place: str) -> str:
    if isinstance(value, bool | float) or value is None or value == "":
        raise _fault(f"{what} must be a text, got {shown(value)}.", place)
    return str(value)


def _number(value: Any) -> float | None:
    try:
        found = float(value) if not isinstance(value, bool) else float(int(value))
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _match(value: Any, unknown: str, qid: str, item: str, run: str, at: str) -> tuple[float, bool]:
    """Return what a match counts, from 0 to 1, and whether it is a contradiction."""
    if isinstance(value, str) and value in MATCHES:
        return MATCHES[value], value.startswith("contradict")
    number = _number(value)
    if number is not None and 0 <= number <= 1:
        return number, False
    if unknown == "zero" and number is None:
        return 0.0, False
    raise _fault(
        f"a match must be {', '.join(MATCHES)}, or a number from 0 to 1, got {shown(value)}. unknown='zero' counts "
        "other words 0, as the AutoNuggetizer does.",
        f"{at}, topic {shown(qid)}, run {shown(run)}, item {shown(item)}",
    )


def _of_json(
    values: list[tuple[str, Any]], name: str, format: str | None, unknown: str, bank: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of JSON: a topic's bank or judged answer a line, or iKAT's dict of topics."""
    first = values[0][1]
    if format == "ikat" or (not bank and format is None and isinstance(first, dict) and not _OF_BANKS & set(first)):
        yield from _of_ikat(first if isinstance(first, dict) else {})
        return
    seen: dict[tuple[str, str], str] = {}
    for at, value in values:
        if not isinstance(value, dict) or not _OF_BANKS & set(value):
            raise _fault("no object with 'qid' and 'nuggets', or 'query_id' and 'nugget_bank' or 'claim_bank'.", at)
        topic = value.get("qid") or value.get("query_id") or (value.get("metadata") or {}).get("topic_id")
        qid, run = _text(topic, "qid", at), str(value.get("run_id") or Path(name).name.partition(".json")[0])
        if (run, qid) in seen:
            said = f"a second answer of run {shown(run)} to topic {shown(qid)}; the first is on {seen[run, qid]}."
            raise _fault(said, at)
        seen[run, qid] = at
        for item, other, nugget in _nuggets(value, qid, at):
            if not bank and "assignment" not in nugget:
                raise _fault(f"topic {shown(qid)}: a nugget without an assignment. A bank of items alone is bank=.", at)
            match = (math.nan, False) if bank else _match(nugget["assignment"], unknown, qid, item, run, at)
            said = nugget.get("importance", "" if "nuggets" in value else None)
            weight = 1.0 if said is None else _number(said)
            called, weight = (str(said), WEIGHTS.get(str(said), 0.0)) if weight is None else (None, weight)
            yield qid, item, run, *match, called, weight, None, value.get("answer_text"), other, at


def _nuggets(value: Mapping[str, Any], qid: str, at: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the items of the AutoNuggetizer, or AutoJudge's questions and claims, with their ids."""
    texts = Counter[str]()
    for bank, key in (("nuggets", "text"), ("nugget_bank", "question"), ("claim_bank", "claim")):
        items = value.get(bank) or []
        for item in items.values() if isinstance(items, Mapping) else items:
            text = item.get(key) if isinstance(item, Mapping) else None
            if not isinstance(text, str) or not text:
                raise _fault(f"topic {shown(qid)}: an item of {bank} has a {key}, got {shown(item)}.", at)
            other = item.get(f"{key}_id") or hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
            texts[text] += 1
            # a bank may have a text twice, perhaps with other weights
            yield text + (f" ({texts[text]})" if texts[text] > 1 else ""), other, item


def _of_ikat(topics: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what each run's answer matched and did not, with items joined by their text."""
    left_out = Counter[str]()
    for qid, runs in topics.items():
        for run, answer in runs.items() if isinstance(runs, Mapping) else [("", None)]:
            at = f"topic {shown(qid)}, run {shown(run)}"
            answer = answer if isinstance(answer, Mapping) else {}
            nuggets = answer.get("nuggets")
            if not isinstance(nuggets, Mapping) or not {"matched", "not-matched"} <= set(nuggets):
                raise _fault("no 'nuggets' with 'matched' and 'not-matched'.", at)
            for key, match in (("matched", 1.0), ("not-matched", 0.0)):
                given = [item for item in nuggets[key] if str(item).strip()]
                left_out["empty"] += len(nuggets[key]) - len(given)
                left_out["a second time in an answer"] += len(given) - len(set(given))
                for item in dict.fromkeys(given):
                    text = _text(item, "item", at)
                    yield qid, text, run, match, False, None, math.nan, None, answer.get("response"), "", at
    few = [f"{n:,} {what}" for what, n in left_out.items() if n]
    if few:
        warn(f"items left out: {listed(few)}.")
