"""Answers, which items of a bank (nuggets, rubric answers, claims) they have as judges say, and their files."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import check_writable, checked_path, replacing, user_path
from pt_reuse._text import is_missing
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.metadata import RunLabels, given_metadata
from pt_reuse.data.packed_files import lines_of, parse_csv, read_utf8
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import check_known, chosen_rows
from pt_reuse.errors import InputError, choice, count, examples, flag, listed, located, names, shown, warn

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
    if isinstance(path, pd.DataFrame):
        places = [f"row {n:,}" for n in range(1, len(path) + 1)]
        sources: list[tuple[str, Any]] = [("", path.reset_index(drop=True).assign(place=places))]
    elif isinstance(path, str | Path) and str(path):
        place, sources = user_path(path), [(str(path), user_path(path))]
        if place.is_dir():
            files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
            sources = [(f"{path}/{file.name}", file) for file in files]
    else:
        raise InputError(f"expected a frame or the path of a file, got {shown(path)}.", argument="path")
    rows = []
    for name, source in sources:
        with located(name) if name else nullcontext():
            table = _content(source) if isinstance(source, Path) else source
            given = _of_table(table, bank) if isinstance(table, pd.DataFrame) else _of_json(table, name, bank)
            found = [_row(each, judge, unknown) for each in given]
        rows += [(*row, ", ".join(filter(None, (name, at)))) for *row, at in found]
    if all(row[2] is None for row in rows):
        where = "" if isinstance(path, pd.DataFrame) else str(path)
        raise _fault(f"there is no {'item' if bank else 'judged answer'}.", where)
    return pd.DataFrame(rows, columns=[*COLUMNS])


def _row(cells: Mapping[Any, Any], judge: str, unknown: str) -> tuple[Any, ...]:
    """Return the row of what a file says of an item and a run, by the names of a long table; of an item alone none."""
    given = {name: str(value) for name, value in cells.items() if not is_missing(value) and value != ""}
    at, called = cells["place"], given.get("importance")
    qid, item = (_text(cells[name], name, at) for name in ("qid", "item"))
    run, match, contradicts = None, math.nan, False
    if "run" in given or "match" in given:
        run, value = _text(cells["run"], "run", at), cells["match"]
        number = _number(value)
        if isinstance(value, str) and value in MATCHES:
            match, contradicts = MATCHES[value], value.startswith("contradict")
        elif number is not None and 0 <= number <= 1:
            match = number
        elif unknown == "zero" and number is None and value is not None:
            match = 0.0
        else:
            where = f"{at}, topic {shown(qid)}, run {shown(run)}, item {shown(item)}"
            raise _fault(
                f"a match must be {', '.join(MATCHES)}, or from 0 to 1, got {shown(value)}. See unknown=.", where
            )
    weight = _number(cells.get("weight", called))
    if "weight" not in cells and weight is None:
        weight = math.nan if called is None else WEIGHTS.get(called, 0.0)
    elif weight is None or weight < 0:
        raise _fault(f"weight must be a number, 0 or more, got {shown(cells.get('weight', called))}.", at)
    elif "weight" not in cells:
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


def _fault(text: str, place: str) -> InputError:
    return InputError(text, argument="path", place=place)


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
        problem = f"the columns {listed(lacking)} are missing among {examples(names[:-1], 12)}. A long table has "
        raise InputError(f"{problem}{listed(_LONG)}; a wide one qid, item and a column a run.", argument="path")
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
            shared = {"qid": qid, "run": run, "qanswer": answer.get("response"), "place": at}
            for key, match in (("matched", 1.0), ("not-matched", 0.0)):
                items = dict.fromkeys(item for item in nuggets[key] if str(item).strip())
                left_out += len(nuggets[key]) - len(items)
                yield from ({**shared, "item": item, "match": match} for item in items)
    if left_out:
        warn(f"{count(left_out, 'item')} left out, empty or a second time in an answer.")
    if without:
        warn(f"{count(len(without), 'answer')} without an item left out, the first is of {without[0]}.")


Floats = NDArray[np.float64]

#: every item alike; every item by its weight (vital 1, okay .5, others 0, or as given); vital items alone
_SCORES = ("all_score", "weighted_score", "vital_score")
MEASURES = (*_SCORES, *(f"strict_{name}" for name in _SCORES))


@dataclass(frozen=True, eq=False, repr=False)
class Answers:
    """A matrix of topics with their items, and runs: what of each item a run's answer has, as judges say.

    Made by :func:`read_answers`. A *match* is 1 (support), .5 (partial support) or 0, or any number between; NaN where
    a judge said nothing of an item and a run. An item is *found* by a run whose match is above 0.

    Attributes:
        items: a row for each item: ``qid item importance weight``, by topic.
        run_table: a row for each run: ``name team type`` and further metadata.
        judges: their names.
        matches: (judges, items, runs).
        contradicts: (judges, items, runs) whether an answer contradicts an item.
        texts: topic and run -> the answer, as far as the file has answers.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> rows = [("1", "a", "A", 1), ("1", "b", "A", 0.5), ("1", "a", "B", 0), ("1", "b", "B", 1)]
        >>> ptr.read_answers(pd.DataFrame(rows, columns=["qid", "item", "run", "match"]))
        Answers: 2 runs, 2 teams, 1 topic, 2 items (2 found), 1 judge
    """

    items: pd.DataFrame
    run_table: pd.DataFrame
    judges: list[str]
    matches: Floats
    contradicts: NDArray[np.bool_]
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Return the run names."""
        return self.run_table["name"].tolist()

    @property
    def types(self) -> list[str]:
        """Return the types of the runs."""
        return self.run_table["type"].dropna().unique().tolist()

    @property
    def topics(self) -> list[str]:
        """Return the topics that have items."""
        return self.items["qid"].drop_duplicates().tolist()

    def of_judge(self, judge: str | None = None) -> int:
        """Return the position of a judge; without `judge` that of the only one."""
        if judge is None and len(self.judges) > 1:
            raise InputError(f"judge must be one of {examples(self.judges, 12)}, got None.", argument="judge")
        return self.judges.index(choice("judge", judge or self.judges[0], self.judges))

    def found(self, judge: str | None = None, *, strict: bool = False) -> NDArray[np.bool_]:
        """Return (items, runs) whether a `judge` says that a run has an item: a match above 0, or of 1 if `strict`."""
        matches, strict = self.matches[self.of_judge(judge)], flag("strict", strict)
        return matches >= 1 if strict else matches > 0

    def weights(self, measure: str) -> Floats:
        """Return (items,) what each item weighs in a `measure`, such as ``"weighted_score"``."""
        kind, importance = choice("measures", measure, MEASURES).removeprefix("strict_"), self.items["importance"]
        weight: Floats = self.items["weight"].to_numpy(dtype=float)
        vital = weight >= 1 if importance.isna().all() else importance == "vital"
        weights = {"all_score": np.ones(len(weight)), "weighted_score": weight, "vital_score": vital}
        return np.asarray(weights[kind], dtype=float)

    def credit(self, measure: str, judge: str | None = None) -> Floats:
        """Return (items, runs) what each match of a `judge` counts in a `measure`; nothing where there is none."""
        matches = np.nan_to_num(self.matches[self.of_judge(judge)])
        return (matches >= 1).astype(float) if measure.startswith("strict_") else matches

    @property
    def topic(self) -> NDArray[np.int64]:
        """Return (items,) the topic of each, as a position."""
        return np.asarray(pd.factorize(self.items["qid"])[0], dtype=np.int64)

    def select(
        self,
        names: str | Iterable[str] | None = None,
        *,
        team: str | Iterable[str] | None = None,
        type: str | Iterable[str] | None = None,
        topics: str | Iterable[str] | None = None,
        judges: str | Iterable[str] | None = None,
    ) -> Answers:
        """Return the answers of some runs by names, team or type, and of some topics and judges.

        Each is one value or several. Items stay, found or not.
        """
        runs = np.flatnonzero(chosen_rows(self.run_table, names=names, team=team, type=type))
        kept = self.items["qid"].isin(_known("topics", topics, self.items["qid"])).to_numpy()
        chosen = _known("judges", judges, pd.Series(self.judges))
        at = [self.judges.index(judge) for judge in chosen]
        cells = np.ix_(np.array(at, dtype=np.int64), np.flatnonzero(kept), runs)
        items, table = (part.reset_index(drop=True) for part in (self.items[kept], self.run_table.iloc[runs]))
        pairs = set(itertools.product(items["qid"], table["name"]))
        texts = {pair: text for pair, text in self.texts.items() if pair in pairs}
        return Answers(items, table, chosen, self.matches[cells], self.contradicts[cells], texts)

    def __or__(self, other: Any) -> Answers:
        """Return the matches of both, of further runs, judges or topics; what both have must be the same."""
        if not isinstance(other, Answers):
            return NotImplemented
        both = pd.concat([answers.to_frame() for answers in (self, other)], ignore_index=True)
        both = both.rename(columns={"name": "run"}).assign(place="")
        both = both.drop_duplicates(["qid", "item", "run", "judge", "match", "contradicts"])
        items = pd.concat([self.items, other.items]).drop_duplicates()
        for _, row in items[items.duplicated(["qid", "item"])].head(1).iterrows():
            where = f"topic {shown(row['qid'])}, item {shown(row['item'])}"
            raise InputError("the item weighs one thing in the one and another in the other.", place=where)
        table = pd.concat([self.run_table, other.run_table])
        for column in ("team", "type"):
            labels = table[["name", column]].dropna().drop_duplicates()
            for name in labels.loc[labels["name"].duplicated(), "name"].head(1):
                known = examples(labels.loc[labels["name"] == name, column])
                raise InputError(f"it has the {column} {known} in one and the other.", place=f"run {shown(name)}")
        table = table.groupby("name", sort=False, as_index=False).first()
        texts = table[["team", "type"]].astype(object)
        table = table.assign(**texts.where(texts.notna(), None))
        return _of_rows(both, table, items, {**self.texts, **other.texts})

    def to_frame(self) -> pd.DataFrame:
        """Return ``qid item name match contradicts importance weight judge``, a row for each match."""
        judge, item, run = np.nonzero(~np.isnan(self.matches))
        frame = (
            self.items.iloc[item]
            .reset_index(drop=True)
            .assign(
                name=np.array(self.names, dtype=object)[run],
                match=self.matches[judge, item, run],
                contradicts=self.contradicts[judge, item, run],
                judge=np.array(self.judges, dtype=object)[judge],
            )
        )
        return frame[["qid", "item", "name", "match", "contradicts", "importance", "weight", "judge"]]

    def to_runs(self) -> RunSet:
        """Return runs, so that studies of judgments can be asked of matches: a document is an item in a run's answer.

        A run returns those of all items of a topic. ``"SetP(rel=2)"`` is then the strict score of all items, and its
        mean with ``"SetP(rel=1)"`` the one in which a partial match counts .5. See :meth:`to_qrels`.
        """
        numbers = self._numbers()
        ranked = self.items[["qid"]].assign(score=-np.arange(len(numbers)))
        frames = {run: ranked.assign(docno=numbers + f"/{run}") for run in self.names}
        return RunSet.from_frames(frames, metadata=self.run_table)

    def to_qrels(self, judge: str | None = None) -> Qrels:
        """Return the matches of a `judge` as judgments of what :meth:`to_runs` returns: 2 full, 1 partial, 0 none."""
        matches = self.matches[self.of_judge(judge)]
        item, run = np.nonzero(~np.isnan(matches))
        docnos = self._numbers().to_numpy()[item] + "/" + np.array(self.names, dtype=object)[run]
        labels = (matches > 0).astype(int) + (matches >= 1)
        return Qrels(pd.DataFrame({"qid": self.items["qid"].iloc[item], "docno": docnos, "label": labels[item, run]}))

    def _numbers(self) -> pd.Series:
        return (self.items.groupby("qid").cumcount() + 1).astype(str).astype(object)

    def write(self, path: str | Path) -> Path:
        """Write the long form, ``qid item run match weight judge`` and ``importance``, to a CSV file at `path`."""
        place, frame = checked_path(path), self.to_frame().rename(columns={"name": "run"})
        check_writable(place.parent, [place.name], overwrite=True, argument="path")
        frame["match"] = frame["match"].astype(object).mask(frame["contradicts"], "contradict")
        # an item that nobody matched has a line without a run
        frame = pd.concat([frame, self.items[np.isnan(self.matches).all(axis=(0, 2))]], ignore_index=True)
        if self.texts:
            first = ~frame.duplicated(["qid", "run"])
            pairs = zip(frame["qid"], frame["run"], first, strict=True)
            frame["qanswer"] = [self.texts.get((qid, run), "") if new else "" for qid, run, new in pairs]
        text = frame.drop(columns="contradicts").to_csv(index=False)
        with replacing(place) as file:
            file.write(text.encode())
        return place

    def __repr__(self) -> str:
        teams = self.run_table["team"].fillna(self.run_table["name"]).nunique()
        numbers = {"run": len(self.names), "team": teams, "topic": len(self.topics), "item": len(self.items)}
        sizes, found = ", ".join(count(n, noun) for noun, n in numbers.items()), (self.matches > 0).any(axis=(0, 2))
        return f"Answers: {sizes} ({found.sum():,} found), {count(len(self.judges), 'judge')}"


def _known(argument: str, given: str | Iterable[str] | None, there: pd.Series) -> list[str]:
    """Return the values that are given, each of which is there; all where none is."""
    known = there.dropna().unique().tolist()
    wanted = known if given is None else list(dict.fromkeys(names(argument, given)))
    for value in wanted:
        check_known(argument, value, known, argument=argument)
    return wanted


def read_answers(
    path: str | Path | pd.DataFrame,
    *,
    bank: Any = None,
    judge: str | None = None,
    unknown: str = "error",
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    metadata: pd.DataFrame | None = None,
) -> Answers:
    """Read answers that were judged by items; columns or keys tell which of these forms they have.

    ============== ================================================================================
    ``nuggetizer`` the AutoNuggetizer's JSON, a line for each run and topic: ``qid run_id nuggets``,
                   with ``text importance assignment`` of each; items are joined by their text
    ``dragun``     DRAGUN's CSV: ``topic_id run_tag answer_id auto_assessment``
    ``ikat``       iKAT's JSON, topic -> run -> ``nuggets`` ``matched`` and ``not-matched``
    ``long``       CSV or a frame: ``qid item run match``, maybe ``weight importance judge qanswer``
    ``wide``       CSV or a frame: ``qid item``, maybe these, and a column of matches for each run
    ============== ================================================================================

    Args:
        path: a file, packed or not, a folder of files, or a frame.
        bank: the items, where `path` lacks some or their weights: a bank of AutoJudge (``query_id nugget_bank
            claim_bank``) or of the AutoNuggetizer (``qid nuggets``), JSON, a line for each topic; or a table ``qid
            item`` with ``importance`` or ``weight``. Matches name an item of AutoJudge by its text or id.
        judge: the name of who matched, where no column says so; default ``"judge"``.
        unknown: a match of another name is an ``"error"`` (default), or counts ``"zero"``, as in the AutoNuggetizer.
        teams: run name -> team.
        types: run name -> type.
        metadata: a frame with ``name`` and any of ``team``, ``type`` and further columns.

    Returns:
        Answers: a matrix of items and runs.

    Raises:
        InputError: with file, line, topic, run and item: an unknown match, two matches of one judge for one item and
            run, an item that the bank lacks or whose weight differs, an empty bank, a file that cannot be read.

    Warns:
        ReuseWarning: topics of the bank without a match, which are left out; what else a file has in a wrong form.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> wide = pd.DataFrame({"qid": ["1", "1"], "item": ["a", "b"], "A": [1, 0.5], "B": [0, 1]})
        >>> answers = ptr.read_answers(wide, teams={"A": "one", "B": "two"})
        >>> answers.found()
        array([[ True, False],
               [ True,  True]])

    Source: scores and their names, Pradeep et al. 2025, The great nugget recall, SIGIR (the AutoNuggetizer).
    """
    choice("unknown", unknown, ("error", "zero"))
    if judge is not None and (not isinstance(judge, str) or not judge):
        raise InputError(f"judge must be a name, got {shown(judge)}.", argument="judge")
    labels = given_metadata(teams=teams, types=types, metadata=metadata)
    rows = read_rows(path, judge or "judge", unknown=unknown)
    items = None if bank is None else _bank(bank, rows)
    every = rows if items is None else items
    odd = every.loc[(every["weight"] == 0) & ~every["importance"].fillna("vital").isin(WEIGHTS), "importance"]
    if len(odd):
        warn(f"items of the importance {examples(odd.unique())} weigh nothing: known are {listed([*WEIGHTS])}.")
    given = rows[["qid", "run", "qanswer"]].drop_duplicates().dropna()
    texts = {(qid, run): text for qid, run, text in given.to_numpy().tolist()}
    return _of_rows(rows, labels.table(rows["run"].dropna().drop_duplicates().tolist(), strict=True), items, texts)


def _bank(bank: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the items of a bank, by whose names rows are called that have the ids of items."""
    try:
        items = read_rows(bank, bank=True)
    except InputError as error:
        error.argument = "bank"
        raise
    twice = items[items.duplicated(["qid", "item"])]
    for qid, item, place in twice[["qid", "item", "place"]].to_numpy().tolist()[:1]:
        raise InputError(f"topic {shown(qid)} has item {shown(item)} a second time.", argument="bank", place=place)
    known = {(qid, other): item for qid, item, other in items[["qid", "item", "id"]].to_numpy().tolist()}
    rows["item"] = [known.get(key, key[1]) for key in zip(rows["qid"], rows["item"], strict=True)]
    matched = items["qid"].isin(rows.loc[rows["run"].notna(), "qid"])
    if len(without := items.loc[~matched, "qid"].unique()):
        warn(f"{count(len(without), 'topic')} of the bank without a match, left out: {examples(without)}.")
    return items[matched]


def as_answers(given: Any, argument: str = "answers", *, unknown: str = "error") -> Answers:
    """Return answers of a user's argument."""
    if isinstance(given, Answers):
        return given
    if not isinstance(given, str | Path | pd.DataFrame):
        raise InputError(f"{argument} must be Answers, a frame or a path, got {shown(given)}.", argument=argument)
    try:
        return read_answers(given, unknown=unknown)
    except InputError as error:
        of = "unknown" if error.argument == "unknown" else argument
        raise InputError(str(error), argument=of) from error


def _of_rows(
    rows: pd.DataFrame, run_table: pd.DataFrame, bank: pd.DataFrame | None, texts: Mapping[tuple[str, str], str]
) -> Answers:
    """Return the matrix of rows, of which no two are of one cell and which agree on what items weigh.

    A row without a run is of an item alone.
    """
    cells = ["qid", "item", "run", "judge"]
    for _, row in rows[rows.duplicated(cells) & rows["run"].notna()].head(1).iterrows():
        before = rows[(rows[cells] == row[cells]).all(axis=1)].iloc[0]
        first = f"; the first is at {before['place']}" if before["place"] else ""
        problem = f"a second match of judge {shown(row['judge'])}{first}: {row['match']:g} and {before['match']:g}."
        raise _fault_of_row(f"{problem} Keep one.", row)
    items = rows if bank is None else bank
    items = items.drop_duplicates(["qid", "item"])[["qid", "item", "importance", "weight"]].fillna({"weight": 1.0})
    items = items.sort_values("qid", key=lambda qid: pd.factorize(qid)[0], kind="stable", ignore_index=True)
    merged = rows.merge(items.reset_index(), on=["qid", "item"], how="left", suffixes=("", "_first"))
    lacking, weighed = merged["index"].isna(), merged["weight"].notna()
    called, first = (merged[name].fillna("").astype(str) for name in ("importance", "importance_first"))
    other = lacking | (weighed & ((merged["weight"] != merged["weight_first"]) | (called != first)))
    for at, row in merged[other].head(1).iterrows():
        if lacking[at]:
            raise _fault_of_row("the bank lacks the item.", row)
        weights = f"{row['weight']:g} ({row['importance']}), and {row['weight_first']:g} ({row['importance_first']})"
        raise _fault_of_row(f"the item weighs {weights} elsewhere. Give it one weight.", row)
    rows, merged = (frame[frame["run"].notna()] for frame in (rows, merged))
    judge, judges = pd.factorize(rows["judge"])
    cell = judge, merged["index"].to_numpy(dtype=int), pd.Index(run_table["name"]).get_indexer(rows["run"])
    matches = np.full((len(judges), len(items), len(run_table)), np.nan)
    contradicts = np.zeros(matches.shape, dtype=bool)
    matches[cell], contradicts[cell] = rows["match"].to_numpy(dtype=float), rows["contradicts"].to_numpy(dtype=bool)
    return Answers(items, run_table.reset_index(drop=True), judges.tolist(), matches, contradicts, texts)


def _fault_of_row(text: str, row: pd.Series) -> InputError:
    cell = f"topic {shown(row['qid'])}, run {shown(row['run'])}, item {shown(row['item'])}"
    return InputError(text, argument="path", place=f"{row['place']}, {cell}" if row["place"] else cell)
