"""Files of answers judged by items, and of banks of items: of four projects, and tables, as rows of one form."""

from __future__ import annotations

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
    "support": 1.0,
    "supports": 1.0,
    "partial_support": 0.5,
    "partial": 0.5,
    "not_support": 0.0,
    "none": 0.0,
    "contradict": 0.0,
    "contradicts": 0.0,
}
#: what an item is called -> its weight in ``weighted``; others weigh nothing
WEIGHTS = {"vital": 1.0, "okay": 0.5}
#: what every form is read into; a weight that is not said is NaN
COLUMNS = ("qid", "item", "run", "match", "contradicts", "importance", "weight", "judge", "qanswer", "place")
#: what the files are
FORMATS = ("nuggetizer", "dragun", "ikat", "long", "wide")
_DRAGUN = {"topic_id": "qid", "answer_id": "item", "run_tag": "run", "auto_assessment": "match"}
_LONG = ("qid", "item", "run", "match")
_BESIDE = ("qid", "item", "importance", "weight", "judge", "qanswer", "place")


def read_rows(path: Any, format: str | None, judge: str, *, unknown: str) -> pd.DataFrame:
    """Return the rows of a frame, a file or a folder of files."""
    if format is not None:
        choice("format", format, FORMATS)
    frames = []
    for name, content in _contents(path, "path"):
        with located(name):
            if isinstance(content, pd.DataFrame):
                frames.append(_of_table(content, format, judge, unknown))
            else:
                frames.append(pd.DataFrame(_of_json(content, name, format, judge, unknown), columns=[*COLUMNS]))
    if not frames or not (rows := pd.concat(frames, ignore_index=True)).size:
        raise InputError("there is no judged answer.", argument="path", place=str(path))
    return rows


def read_bank(path: Any) -> pd.DataFrame:
    """Return ``qid item importance weight id place``, the items of a bank; `id` is another name that an item has."""
    rows: list[tuple[Any, ...]] = []
    for name, content in _contents(path, "bank"):
        with located(name):
            rows += _items_of_table(content) if isinstance(content, pd.DataFrame) else _items_of_json(content)
    bank = pd.DataFrame(rows, columns=["qid", "item", "importance", "weight", "id", "place"])
    if bank.empty:
        raise InputError(
            "there is no item.", argument="bank", place="" if isinstance(path, pd.DataFrame) else str(path)
        )
    twice = bank.duplicated(["qid", "item"])
    if twice.any():
        qid, item, *_, place = bank[twice].iloc[0]
        said = f"topic {shown(qid)} has item {shown(item)} a second time. Keep one."
        raise InputError(said, argument="bank", place=place)
    return bank


def _contents(path: Any, argument: str) -> Iterator[tuple[str, pd.DataFrame | list[tuple[str, Any]]]]:
    """Yield the name of each file with its table, which says where each row is, or its values of JSON."""
    if isinstance(path, pd.DataFrame):
        yield "", path.reset_index(drop=True).assign(place=[f"row {n:,}" for n in range(1, len(path) + 1)])
        return
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"expected a frame or the path of a file, got {shown(path)}.", argument=argument)
    place = user_path(path)
    if not place.exists():
        raise InputError("no such file.", argument=argument, place=str(path))
    files = [place]
    if place.is_dir():
        files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    for file in files:
        name = str(path) if file == place else f"{path}/{file.name}"
        with located(name):
            content = _content(file, argument)
        yield name, content


def _content(file: Path, argument: str) -> pd.DataFrame | list[tuple[str, Any]]:
    from io import StringIO

    try:
        text = read_bytes(file).decode("utf-8-sig")
    except UnreadableError as error:
        raise InputError(f"{error}.", argument=argument) from error
    except UnicodeDecodeError as error:
        raise InputError(f"no text in UTF-8 (byte {error.start:,}).", argument=argument) from error
    if text.lstrip()[:1] not in ("{", "["):
        table = pd.read_csv(StringIO(text), sep=None, engine="python", dtype=str, keep_default_na=False)
        return table.assign(place=[f"line {n:,}" for n in range(2, len(table) + 2)])
    try:
        return [("line 1", json.loads(text))]
    except (ValueError, RecursionError):
        pass
    values = []
    for n, line in enumerate(text.splitlines(), 1):
        try:
            values += [(f"line {n:,}", json.loads(line))] if line.strip() else []
        except (ValueError, RecursionError) as error:
            said = f"no JSON ({error}). Is the file cut short?"
            raise InputError(said, argument=argument, place=f"line {n:,}") from error
    return values


# tables


def _of_table(table: pd.DataFrame, format: str | None, judge: str, unknown: str) -> pd.DataFrame:
    """Return the rows of DRAGUN's columns, of a long frame or of a wide one, in which every further column is a run."""
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1)
    if format == "dragun" or (format is None and set(_DRAGUN) <= set(names)):
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
    places = table["place"].tolist()
    qid, item, run = (_texts(table, name, "path") for name in ("qid", "item", "run"))
    cells = zip(table["match"], qid, item, run, places, strict=True)
    matches = [_match(match, unknown, _place(*cell)) for match, *cell in cells]
    importance, weight = _weights(table, "path")
    return pd.DataFrame(
        {
            "qid": qid,
            "item": item,
            "run": run,
            "match": [match for match, _ in matches],
            "contradicts": [contradicts for _, contradicts in matches],
            "importance": importance,
            "weight": weight,
            "judge": table["judge"].astype(str).tolist() if "judge" in table else judge,
            "qanswer": table["qanswer"].tolist() if "qanswer" in table else None,
            "place": places,
        }
    )


def _items_of_table(table: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    lacking = [name for name in ("qid", "item") if name not in table]
    if lacking:
        raise InputError(f"a bank has the columns qid and item; {listed(lacking)} is missing.", argument="bank")
    importance, weight = _weights(table, "bank")
    columns = (_texts(table, "qid", "bank"), _texts(table, "item", "bank"), importance, weight)
    yield from zip(*columns, [""] * len(table), table["place"], strict=True)


def _texts(table: pd.DataFrame, name: str, argument: str) -> list[str]:
    return [_text(value, name, at, argument) for value, at in zip(table[name], table["place"], strict=True)]


def _text(value: Any, what: str, place: str, argument: str = "path") -> str:
    if isinstance(value, bool | float) or value is None or value == "":
        raise InputError(f"{what} must be a text, got {shown(value)}.", argument=argument, place=place)
    return str(value)


def _weights(table: pd.DataFrame, argument: str) -> tuple[list[Any], list[float]]:
    """Return what items are called, and what they weigh, where a table says so."""
    called = table["importance"].astype(str).tolist() if "importance" in table else [None] * len(table)
    if "weight" not in table:
        return called, [WEIGHTS.get(each, 0.0) if each is not None else math.nan for each in called]
    weights = []
    for value, place in zip(table["weight"], table["place"], strict=True):
        number = _number(value)
        if number is None or number < 0:
            said = f"weight must be a number, 0 or more, got {shown(value)}."
            raise InputError(said, argument=argument, place=place)
        weights.append(number)
    return called, weights


def _number(value: Any) -> float | None:
    try:
        found = float(value) if not isinstance(value, bool) else float(int(value))
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _match(value: Any, unknown: str, place: str) -> tuple[float, bool]:
    """Return what a match counts, from 0 to 1, and whether it is a contradiction."""
    if isinstance(value, str) and value in MATCHES:
        return MATCHES[value], value.startswith("contradict")
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


def _of_json(
    values: list[tuple[str, Any]], name: str, format: str | None, judge: str, unknown: str
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of JSON: a value of the AutoNuggetizer a line, or iKAT's dict of topics."""
    first = values[0][1]
    if format == "ikat" or (format is None and isinstance(first, dict) and not _IS_BANK & set(first)):
        yield from _of_ikat(first if isinstance(first, dict) else {}, judge)
        return
    seen: dict[tuple[str, str], str] = {}
    for at, answer in values:
        qid, nuggets = _nuggets_of(answer, at, "path")
        run = str(answer.get("run_id") or Path(name).name.partition(".json")[0])
        if (run, qid) in seen:
            said = f"a second answer of run {shown(run)} to topic {shown(qid)}; the first is on {seen[run, qid]}."
            raise InputError(said, argument="path", place=at)
        seen[run, qid] = at
        for item, nugget in nuggets:
            if "assignment" not in nugget:
                said = f"topic {shown(qid)}: a nugget without an assignment. A bank, which has no answers, is bank=."
                raise InputError(said, argument="path", place=at)
            match, contradicts = _match(nugget["assignment"], unknown, _place(qid, item, run, at))
            importance = str(nugget.get("importance", ""))
            weight = WEIGHTS.get(importance, 0.0)
            yield qid, item, run, match, contradicts, importance, weight, judge, answer.get("answer_text"), at


#: what tells a line of a bank, or of an answer that was judged by one, from iKAT's topics
_IS_BANK = {"nuggets", "nugget_bank", "claim_bank"}


def _nuggets_of(value: Any, at: str, argument: str) -> tuple[str, list[tuple[str, Mapping[str, Any]]]]:
    """Return the topic of a line of the AutoNuggetizer, and its nuggets by their texts."""
    if not isinstance(value, dict) or not isinstance(value.get("nuggets"), list):
        raise InputError("no object with 'qid' and 'nuggets'.", argument=argument, place=at)
    qid, texts, named = _text(value.get("qid"), "qid", at, argument), Counter[str](), []
    for nugget in value["nuggets"]:
        if not isinstance(nugget, Mapping) or not isinstance(nugget.get("text"), str):
            said = f"topic {shown(qid)}: a nugget has text and importance, got {shown(nugget)}."
            raise InputError(said, argument=argument, place=at)
        texts[nugget["text"]] += 1
        # a bank may have a text twice, perhaps with other weights
        again = f" ({texts[nugget['text']]})" if texts[nugget["text"]] > 1 else ""
        named.append((nugget["text"] + again, nugget))
    return qid, named


def _items_of_json(values: list[tuple[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the items of banks of the AutoNuggetizer, and of AutoJudge, which has questions and claims with ids."""
    for at, value in values:
        if not isinstance(value, dict) or not _IS_BANK & set(value):
            raise InputError("no object with 'nuggets', 'nugget_bank' or 'claim_bank'.", argument="bank", place=at)
        if "nuggets" in value:
            qid, nuggets = _nuggets_of(value, at, "bank")
            for text, nugget in nuggets:
                yield qid, text, *_importance(nugget.get("importance", "")), "", at
            continue
        qid = _text(value.get("query_id") or (value.get("metadata") or {}).get("topic_id"), "query_id", at, "bank")
        for bank, key in (("nugget_bank", "question"), ("claim_bank", "claim")):
            items = value.get(bank) or []
            for item in items.values() if isinstance(items, Mapping) else items:
                text = _text(item.get(key), key, at, "bank")
                other = item.get(f"{key}_id") or hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
                yield qid, text, *_importance(item.get("importance")), other, at


def _importance(given: Any) -> tuple[str | None, float]:
    """Return what an item is called, and its weight: that of its name, a number, or 1 where nothing is said."""
    number = _number(given)
    if given is None or number is not None:
        return None, 1.0 if number is None else number
    return str(given), WEIGHTS.get(str(given), 0.0)


def _of_ikat(topics: Mapping[str, Any], judge: str) -> Iterator[tuple[Any, ...]]:
    """Yield what each run's answer matched and did not, with items joined by their text."""
    left_out = Counter[str]()
    for qid, runs in topics.items():
        for run, answer in runs.items() if isinstance(runs, Mapping) else [("", None)]:
            at = f"topic {shown(qid)}, run {shown(run)}"
            answer = answer if isinstance(answer, Mapping) else {}
            nuggets = answer.get("nuggets")
            if not isinstance(nuggets, Mapping) or not {"matched", "not-matched"} <= set(nuggets):
                raise InputError("no 'nuggets' with 'matched' and 'not-matched'.", argument="path", place=at)
            for key, match in (("matched", 1.0), ("not-matched", 0.0)):
                given = [item for item in nuggets[key] if str(item).strip()]
                left_out["empty"] += len(nuggets[key]) - len(given)
                left_out["a second time in an answer"] += len(given) - len(set(given))
                for item in dict.fromkeys(given):
                    text = _text(item, "item", at)
                    yield qid, text, run, match, False, None, math.nan, judge, answer.get("response"), at
    few = [f"{n:,} {what}" for what, n in left_out.items() if n]
    if few:
        warn(f"items left out: {listed(few)}.")
