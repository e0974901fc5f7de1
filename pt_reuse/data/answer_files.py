"""Files of answers judged by items: of the AutoNuggetizer, DRAGUN and iKAT, and tables, as rows of one form."""

from __future__ import annotations

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
    "support": 1.0,
    "supports": 1.0,
    "partial_support": 0.5,
    "partial": 0.5,
    "not_support": 0.0,
    "none": 0.0,
    "contradict": 0.0,
    "contradicts": 0.0,
}
CONTRADICTS = ("contradict", "contradicts")
#: what an item is called -> its weight in ``weighted``; others weigh nothing
WEIGHTS = {"vital": 1.0, "okay": 0.5}
#: what every form is read into
COLUMNS = ("qid", "item", "run", "match", "contradicts", "importance", "weight", "judge", "place")
#: what the files are
FORMATS = ("nuggetizer", "dragun", "ikat", "long", "wide")
_DRAGUN = {"topic_id": "qid", "answer_id": "item", "run_tag": "run", "auto_assessment": "match"}
_LONG = ("qid", "item", "run", "match")


def read_rows(path: Any, format: str | None, judge: str | None, *, unknown: str) -> pd.DataFrame:
    """Return the rows of a frame, a file or a folder of files."""
    if format is not None:
        choice("format", format, FORMATS)
    if isinstance(path, pd.DataFrame):
        places = [f"row {n:,}" for n in range(1, len(path) + 1)]
        return _of_table(path.reset_index(drop=True), places, format, judge, unknown)
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"expected a frame or the path of judged answers, got {shown(path)}.", argument="path")
    place = user_path(path)
    if not place.exists():
        raise InputError("no such file.", argument="path", place=str(path))
    files = [place]
    if place.is_dir():
        files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    frames = []
    for file in files:
        with located(str(path) if file == place else f"{path}/{file.name}"):
            frames.append(_of_file(file, format, judge, unknown))
    if not frames or not (rows := pd.concat(frames, ignore_index=True)).size:
        raise InputError("there is no judged answer.", argument="path", place=str(path))
    return rows


def _of_file(file: Path, format: str | None, judge: str | None, unknown: str) -> pd.DataFrame:
    try:
        text = read_bytes(file).decode("utf-8-sig")
    except UnreadableError as error:
        raise InputError(f"{error}.", argument="path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"no text in UTF-8 (byte {error.start:,}).", argument="path") from error
    if format in ("nuggetizer", "ikat") or (format is None and text.lstrip()[:1] in ("{", "[")):
        rows = _of_json(text, file, format, judge, unknown)
        return pd.DataFrame(rows, columns=[*COLUMNS]).assign(place=lambda frame: str(file.name) + ", " + frame["place"])
    from io import StringIO

    table = pd.read_csv(StringIO(text), sep=None, engine="python", dtype=str, keep_default_na=False)
    places = [f"{file.name}, line {n:,}" for n in range(2, len(table) + 2)]
    return _of_table(table, places, format, judge, unknown)


# tables


def _of_table(
    table: pd.DataFrame, places: list[str], format: str | None, judge: str | None, unknown: str
) -> pd.DataFrame:
    """Return the rows of DRAGUN's columns, of a long frame or of a wide one, in which every further column is a run."""
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1).assign(place=places)
    if format == "dragun" or (format is None and set(_DRAGUN) <= set(names)):
        table = table.rename(columns=_DRAGUN)
    elif format == "wide" or (format is None and {"qid", "item"} <= set(names) and "match" not in names):
        keys = [name for name in ("qid", "item", "importance", "weight", "judge", "place") if name in table]
        table = table.melt(id_vars=keys, var_name="run", value_name="match")
        table = table[~(table["match"].isna() | (table["match"] == ""))]
    lacking = [name for name in _LONG if name not in table]
    if lacking:
        raise InputError(
            f"the columns {listed(lacking)} are missing among {examples(names, 12)}. A long table has {listed(_LONG)}, "
            "and may have weight, importance and judge; a wide one qid, item and a column for each run.",
            argument="path",
        )
    marks = zip(*(table[name].tolist() for name in (*_LONG, "place")), strict=True)
    rows = [(*_match(match, unknown, _place(qid, item, run, place)),) for qid, item, run, match, place in marks]
    importance = table["importance"].astype(str) if "importance" in table else None
    weight: Any = importance.map(WEIGHTS).fillna(0.0) if importance is not None else 1.0
    if "weight" in table:
        weight = [_weight(value, place) for value, place in zip(table["weight"], table["place"], strict=True)]
    return pd.DataFrame(
        {
            **{name: [_text(value, name, at) for value, at in zip(table[name], table["place"], strict=True)]
               for name in ("qid", "item", "run")},
            "match": [match for match, _ in rows],
            "contradicts": [contradicts for _, contradicts in rows],
            "importance": importance,
            "weight": weight,
            "judge": table["judge"].astype(str) if "judge" in table else judge or "judge",
            "place": table["place"],
        }
    ).reset_index(drop=True)  # fmt: skip


def _text(value: Any, what: str, place: str) -> str:
    if isinstance(value, bool | float) or value is None or value == "":
        raise InputError(f"{what} must be a text, got {shown(value)}.", argument="path", place=place)
    return str(value)


def _weight(value: Any, place: str) -> float:
    number = _number(value)
    if number is None or number < 0:
        raise InputError(f"weight must be a number, 0 or more, got {shown(value)}.", argument="path", place=place)
    return number


def _number(value: Any) -> float | None:
    try:
        found = float(value) if not isinstance(value, bool) else float(int(value))
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _match(value: Any, unknown: str, place: str) -> tuple[float, bool]:
    """Return what a match counts, from 0 to 1, and whether it is a contradiction."""
    if isinstance(value, str) and value in MATCHES:
        return MATCHES[value], value in CONTRADICTS
    number = _number(value)
    if number is not None and 0 <= number <= 1:
        return number, False
    if unknown == "zero" and number is None:
        return 0.0, False
    raise InputError(
        f"a match must be {', '.join(MATCHES)}, or a number from 0 to 1, got {shown(value)}. unknown='zero' counts "
        "other words 0, as the AutoNuggetizer does.",
        argument="path",
        place=place,
    )


def _place(qid: Any, item: Any, run: Any, place: str) -> str:
    return f"{place}, topic {shown(qid)}, run {shown(run)}, item {shown(item)}"


# JSON


def _of_json(text: str, file: Path, format: str | None, judge: str | None, unknown: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of JSON: a value of the AutoNuggetizer a line, or iKAT's dict of topics."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if format == "ikat" or (isinstance(whole, dict) and "nuggets" not in whole):
        if not isinstance(whole, dict):
            raise InputError("no JSON of topics. Is the file cut short?", argument="path")
        yield from _of_ikat(whole, judge or "judge")
        return
    seen: dict[tuple[str, str], int] = {}
    for n, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        at = f"line {n:,}"
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"no JSON ({error}). Is the file cut short?", argument="path", place=at) from error
        if not isinstance(answer, dict) or not isinstance(answer.get("nuggets"), list):
            raise InputError("no object with 'qid' and 'nuggets'.", argument="path", place=at)
        qid = _text(answer.get("qid"), "qid", at)
        run = str(answer.get("run_id") or file.name.partition(".json")[0])
        if (run, qid) in seen:
            raise InputError(
                f"a second answer of run {shown(run)} to topic {shown(qid)}; the first is on line {seen[run, qid]:,}.",
                argument="path",
                place=at,
            )
        seen[run, qid] = n
        yield from _of_nuggets(answer["nuggets"], qid, run, judge or "judge", unknown, at)


def _of_nuggets(nuggets: list[Any], qid: str, run: str, judge: str, unknown: str, at: str) -> Iterator[tuple[Any, ...]]:
    texts = Counter[str]()
    for nugget in nuggets:
        if not isinstance(nugget, Mapping) or "assignment" not in nugget or not isinstance(nugget.get("text"), str):
            raise InputError(
                f"topic {shown(qid)}: a nugget has text, importance and assignment, got {shown(nugget)}. A bank "
                "without assignments has no answers.",
                argument="path",
                place=at,
            )
        texts[nugget["text"]] += 1
        # a bank may have a text twice, perhaps with other weights
        item = nugget["text"] + (f" ({texts[nugget['text']]})" if texts[nugget["text"]] > 1 else "")
        match, contradicts = _match(nugget["assignment"], unknown, _place(qid, item, run, at))
        importance = str(nugget.get("importance", ""))
        yield qid, item, run, match, contradicts, importance, WEIGHTS.get(importance, 0.0), judge, at


def _of_ikat(topics: Mapping[str, Any], judge: str) -> Iterator[tuple[Any, ...]]:
    """Yield what each run's answer matched and did not, with items joined by their text."""
    left_out = Counter[str]()
    for qid, runs in topics.items():
        for run, answer in runs.items() if isinstance(runs, Mapping) else [("", None)]:
            at = f"topic {shown(qid)}, run {shown(run)}"
            nuggets = answer.get("nuggets") if isinstance(answer, Mapping) else None
            if not isinstance(nuggets, Mapping) or not {"matched", "not-matched"} <= set(nuggets):
                raise InputError("no 'nuggets' with 'matched' and 'not-matched'.", argument="path", place=at)
            for key, match in (("matched", 1.0), ("not-matched", 0.0)):
                given = [item for item in nuggets[key] if str(item).strip()]
                left_out["empty"] += len(nuggets[key]) - len(given)
                left_out["a second time in an answer"] += len(given) - len(set(given))
                for item in dict.fromkeys(given):
                    yield qid, _text(item, "item", at), run, match, False, None, 1.0, judge, at
    few = [f"{n:,} {what}" for what, n in left_out.items() if n]
    if few:
        warn(f"items left out: {listed(few)}.")
