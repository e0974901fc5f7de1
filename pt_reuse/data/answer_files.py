"""Files of answers judged by items, and of banks of items: of five projects, and tables, as rows of one form."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import count, examples, listed, shown
from pt_reuse._files import user_path
from pt_reuse._text import is_missing
from pt_reuse.data.csv_files import lines_of, parse_csv, read_utf8
from pt_reuse.errors import InputError, located, warn

#: what a match is called -> what it counts; a contradiction counts nothing, and is counted apart
MATCHES = {
    **dict.fromkeys(("support", "supports"), 1.0),
    **dict.fromkeys(("partial_support", "partial"), 0.5),
    **dict.fromkeys(("not_support", "none", "contradict", "contradicts"), 0.0),
}
#: what an item is called -> its weight in ``weighted``; others weigh nothing
WEIGHTS = {"vital": 1.0, "okay": 0.5, "none": 0.0, "failed": 0.0}
#: what every form is read into: a weight that is not said is NaN, `id` is another name of the item
COLUMNS = ("qid", "item", "run", "match", "contradicts", "importance", "weight", "judge", "qanswer", "id", "place")
_DRAGUN = {"topic_id": "qid", "answer_id": "item", "run_tag": "run", "auto_assessment": "match"}
_LONG = ("qid", "item", "run", "match")
_BESIDE = ("qid", "item", "importance", "weight", "judge", "qanswer", "place")
#: the lists of items in a line of JSON -> what an item is called there: the AutoNuggetizer's, and two of AutoJudge
_BANKS = {"nuggets": "text", "nugget_bank": "question", "claim_bank": "claim"}


def read_rows(path: Any, judge: str = "", *, unknown: str = "error", bank: bool = False) -> pd.DataFrame:
    """Return the rows of a frame, a file or a folder of files; those of a bank have no runs and matches."""
    rows = []
    for name, source in _sources(path):
        with located(name) if name else nullcontext():
            table = _content(source) if isinstance(source, Path) else source
            said = _of_table(table, bank) if isinstance(table, pd.DataFrame) else _of_json(table, name, bank)
            found = [_row(each, judge, unknown) for each in said]
        rows += [(*row, ", ".join(filter(None, (name, at)))) for *row, at in found]
    if all(row[2] is None for row in rows):
        where = "" if isinstance(path, pd.DataFrame) else str(path)
        raise _fault(f"there is no {'item' if bank else 'judged answer'}.", where)
    return pd.DataFrame(rows, columns=[*COLUMNS])


def _row(said: Mapping[Any, Any], judge: str, unknown: str) -> tuple[Any, ...]:
    """Return the row of what a file says of an item and a run, by the names of a long table; of an item alone none."""
    given = {name: str(value) for name, value in said.items() if not is_missing(value) and value != ""}
    at, called = said["place"], given.get("importance")
    qid, item = (_text(said[name], name, at) for name in ("qid", "item"))
    run, match, contradicts = None, math.nan, False
    if "run" in given or "match" in given:
        run = _text(said["run"], "run", at)
        where = f"{at}, topic {shown(qid)}, run {shown(run)}, item {shown(item)}"
        match, contradicts = _match(said["match"], unknown, where)
    weight = _number(said.get("weight", called))
    if "weight" not in said and weight is None:
        weight = math.nan if called is None else WEIGHTS.get(called, 0.0)
    elif weight is None or weight < 0:
        raise _fault(f"weight must be a number, 0 or more, got {shown(said.get('weight', called))}.", at)
    elif "weight" not in said:
        called = None
    others = (given.get(name) for name in ("qanswer", "id"))
    return qid, item, run, match, contradicts, called, weight, given.get("judge", judge), *others, at


def _text(value: Any, what: str, place: str) -> str:
    if isinstance(value, bool | float) or value is None or value == "":
        raise _fault(f"{what} must be a text, got {shown(value)}.", place)
    return str(value)


def _number(value: Any) -> float | None:
    try:
        found = float(value)
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
    if unknown == "zero" and number is None and value is not None:
        return 0.0, False
    raise _fault(
        f"a match must be {', '.join(MATCHES)}, or a number from 0 to 1, got {shown(value)}. unknown='zero' counts "
        "other words 0, as the AutoNuggetizer does; a file of items alone is a bank, not answers.",
        place,
    )


def _fault(text: str, place: str) -> InputError:
    return InputError(text, argument="path", place=place)


def _sources(path: Any) -> list[tuple[str, Any]]:
    """Return a frame, which says where each row is, or each file with its name."""
    if isinstance(path, pd.DataFrame):
        return [("", path.reset_index(drop=True).assign(place=[f"row {n:,}" for n in range(1, len(path) + 1)]))]
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"expected a frame or the path of a file, got {shown(path)}.", argument="path")
    place = user_path(path)
    if not place.is_dir():
        return [(str(path), place)]
    files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    return [(f"{path}/{file.name}", file) for file in files]


def _content(file: Path) -> pd.DataFrame | list[tuple[str, Any]]:
    """Return the table of a file, which says where each row is, or its values of JSON."""
    text = read_utf8(file, "path")
    if text.lstrip()[:1] not in ("{", "["):
        table = parse_csv(lines_of(text), "path")
        return table.frame.assign(place=[table.place(row) for row in range(len(table.frame))])
    try:
        return [("line 1", json.loads(text))]
    except (ValueError, RecursionError):
        lines = [(f"line {n:,}", line) for n, line in enumerate(lines_of(text), 1) if line.strip()]
    for n, (at, line) in enumerate(lines):
        try:
            lines[n] = at, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _fault(f"no JSON ({error}). Is the file cut short?", at) from error
    return lines


def _of_table(table: pd.DataFrame, bank: bool) -> list[dict[Any, Any]]:
    """Return the rows of DRAGUN's columns, of a long frame or of a wide one, in which every further column is a run."""
    names = [str(name) for name in table.columns]
    table = table.set_axis(names, axis=1)
    if bank:
        table = table.assign(run="the bank", match=0)
    elif set(_DRAGUN) <= set(names):
        table = table.rename(columns=_DRAGUN)
    elif {"qid", "item"} <= set(names) and "match" not in names:
        table = table.melt(id_vars=[key for key in _BESIDE if key in names], var_name="run", value_name="match")
        blank = table["match"].isna() | (table["match"] == "")
        if without := [run for run, of_run in blank.groupby(table["run"], sort=False) if of_run.all()]:
            warn(f"{count(len(without), 'run')} without a match left out: {examples(without)}.")
        # what nobody matched is an item all the same
        table.loc[blank, ["run", "match"]] = None
    lacking = [name for name in _LONG if name not in table]
    if lacking:
        raise InputError(
            f"the columns {listed(lacking)} are missing among {examples(names[:-1], 12)}. A long table has "
            f"{listed(_LONG)}, and may have weight, importance and judge; a wide one qid, item and a column a run.",
            argument="path",
        )
    return table.to_dict("records")


def _of_json(values: list[tuple[str, Any]], name: str, bank: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of JSON: a topic's bank or judged answer a line, or iKAT's dict of topics."""
    first = values[0][1]
    if not bank and isinstance(first, dict) and not set(_BANKS) & set(first):
        yield from _of_ikat(first)
        return
    for at, value in values:
        if not isinstance(value, dict) or not set(_BANKS) & set(value):
            raise _fault("no object with 'qid' and 'nuggets', or 'query_id' and 'nugget_bank' or 'claim_bank'.", at)
        named = (value.get("qid"), value.get("query_id"), (value.get("metadata") or {}).get("topic_id"))
        topic = next((name for name in named if name is not None), None)
        qid, run = _text(topic, "qid", at), str(value.get("run_id") or Path(name).name.partition(".json")[0])
        answer = {"qid": qid, "run": run, "qanswer": value.get("answer_text"), "place": at}
        nuggets = list(_nuggets(value, qid, at))
        if not nuggets:
            of_run = "" if bank else f", run {shown(run)}"
            raise _fault(f"topic {shown(qid)}{of_run}: there is no item. Leave out topics without any.", at)
        for nugget in nuggets:
            yield {**answer, **nugget, **({"match": 0} if bank else {})}


def _nuggets(value: Mapping[str, Any], qid: str, at: str) -> Iterator[dict[str, Any]]:
    """Yield the items of a line, with their ids and what they weigh, and the match where it is that of an answer."""
    texts = Counter[str]()
    for bank, key in _BANKS.items():
        items = value.get(bank) or []
        for item in items.values() if isinstance(items, Mapping) else items:
            text = item.get(key) if isinstance(item, Mapping) else None
            if not isinstance(text, str) or not text:
                raise _fault(f"topic {shown(qid)}: an item of {bank} has a {key}, got {shown(item)}.", at)
            texts[text] += 1
            # a bank may have a text twice, perhaps with other weights
            found = {"item": text + (f" ({texts[text]})" if texts[text] > 1 else ""), "match": item.get("assignment")}
            found["id"] = item.get(f"{key}_id") or hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
            # the AutoNuggetizer counts an item without importance nothing
            nothing = {"weight": 0.0} if bank == "nuggets" and not item.get("importance") else {}
            yield {**found, "importance": item.get("importance"), **nothing}


def _of_ikat(topics: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what each run's answer matched and did not, with items joined by their text."""
    left_out, without = 0, []
    for qid, runs in topics.items():
        for run, answer in runs.items() if isinstance(runs, Mapping) else [("", None)]:
            at = f"topic {shown(qid)}, run {shown(run)}"
            answer = answer if isinstance(answer, Mapping) else {}
            nuggets = answer.get("nuggets")
            if not isinstance(nuggets, Mapping) or not {"matched", "not-matched"} <= set(nuggets):
                raise _fault("no 'nuggets' with 'matched' and 'not-matched'.", at)
            if not any(str(item).strip() for items in nuggets.values() for item in items):
                without.append(at)
            said = {"qid": qid, "run": run, "qanswer": answer.get("response"), "place": at}
            for key, match in (("matched", 1.0), ("not-matched", 0.0)):
                items = dict.fromkeys(item for item in nuggets[key] if str(item).strip())
                left_out += len(nuggets[key]) - len(items)
                yield from ({**said, "item": item, "match": match} for item in items)
    if left_out:
        warn(f"{count(left_out, 'item')} left out, empty or a second time in an answer.")
    if without:
        warn(f"{count(len(without), 'answer')} without an item left out, the first is of {without[0]}.")
