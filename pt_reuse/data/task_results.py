"""Results of MTEB as they lie in its folders: a file for each model, revision and task."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import choice, count, did_you_mean, examples, names, shown
from pt_reuse._files import user_path
from pt_reuse.data.packed_files import UnreadableError, read_bytes
from pt_reuse.data.task_columns import LARGEST
from pt_reuse.errors import InputError, warn

#: which revision stands for a model
REVISIONS = ("most", "each")
#: whose scores are read: without those of authors, with them, or these alone
EXTERNAL = "external"
#: the split of a task where it is not ``test``
SPLITS = {"MSMARCO": "dev"}
#: the measure of what is read where it is not named
MAIN = "main_score"
#: what stands beside the results of a revision
_NO_RESULT = ("model_meta.json",)
#: how the name of a result ends behind ``.json``
_PACKED = ("", ".gz", ".bz2", ".xz", ".zst", ".lz4")
_COLUMNS = ("model", "revision", "qid", "value", "version", "place", "subsets")


@dataclass(frozen=True)
class ResultChoice:
    """Which of the scores in a folder of results are read."""

    score: str = MAIN
    split: str | Mapping[str, str] | None = None
    revisions: str = "most"
    external: str = "no"
    tasks: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()

    @classmethod
    def of(cls, *, score: Any, split: Any, revisions: Any, external: Any, tasks: Any, ignore: Any) -> ResultChoice:
        """Check what a user gave."""
        if not isinstance(score, str) or not score.strip():
            raise InputError(f"score must be a key, such as {MAIN!r}, got {shown(score)}.", argument="score")
        if not (split is None or isinstance(split, str) or (isinstance(split, Mapping) and split)):
            raise InputError(f"split must be a name, or a dict of task -> split, got {shown(split)}.", argument="split")
        choice("revisions", revisions, REVISIONS)
        choice("external", external, ("no", "yes", "only"))
        chosen = None if tasks is None else names("tasks", tasks)
        ignored = () if ignore is None else names("ignore", ignore)
        if both := [task for task in chosen or () if task in ignored]:
            raise InputError(f"ignore and tasks both name {examples(both)}. Take it out of one.", argument="ignore")
        return cls(score, split, revisions, external, chosen, ignored)

    def split_of(self, task: str) -> str:
        """Return the split of a task."""
        default = SPLITS.get(task, "test")
        return self.split.get(task, default) if isinstance(self.split, Mapping) else self.split or default

    def takes(self, revision: str) -> bool:
        """Return whether scores of a revision are read."""
        return self.external != "no" if revision == EXTERNAL else self.external != "only"


@dataclass(frozen=True)
class TaskResults:
    """What was read of a folder: scores, models and what was left out."""

    rows: pd.DataFrame  # name qid value place
    runs: pd.DataFrame  # name team model revision
    settings: dict[str, str]


def is_results_folder(path: Any) -> bool:
    """Return whether a path is that of results as MTEB keeps them, ``MODEL/REVISION/TASK.json``."""
    place = user_path(path) if isinstance(path, str | Path) and str(path) and "\0" not in str(path) else None
    return place is not None and place.is_dir() and next(_files(place), None) is not None


def _files(folder: Path) -> Iterator[tuple[str, str, str, Path]]:
    """Yield model, revision, task and file of each result."""
    for model in _below(folder):
        for revision in _below(model) if model.is_dir() else ():
            for file in _below(revision) if revision.is_dir() else ():
                task, json_ending, packed = file.name.rpartition(".json")
                if json_ending and packed in _PACKED and file.name not in _NO_RESULT:
                    yield model.name.replace("__", "/"), revision.name, task, file


def _below(folder: Path) -> list[Path]:
    return sorted(place for place in folder.iterdir() if not place.name.startswith("."))


def read_results(folder: Path, chosen: ResultChoice) -> TaskResults:
    """Read the scores of a folder of results; what has none is told in a warning."""
    found, lacking, faults = list[tuple[Any, ...]](), dict[str, list[str]](), list[InputError]()
    external, known = set[str](), set[str]()
    for model, revision, task, file in _files(folder):
        known.add(task)
        if task in chosen.ignore or (chosen.tasks is not None and task not in chosen.tasks):
            continue
        if not chosen.takes(revision):
            external |= {model} if revision == EXTERNAL else set()
            continue
        place = f"{model.replace('/', '__')}/{revision}/{file.name}"
        try:
            value, version, subsets = _score(file, task, chosen)
        except InputError as error:
            faults.append(InputError(error.text, argument="path", place=place))
        else:
            if isinstance(value, str):
                lacking.setdefault(value, []).append(place)
            else:
                found.append((model, revision, task, value, version, place, subsets))
    if faults:
        raise InputError.of_several(faults, len(found) + len(faults), "results")
    _check_tasks(chosen, known)
    rows = pd.DataFrame(found, columns=[*_COLUMNS])
    for place in rows.loc[rows.duplicated(["model", "revision", "qid"]), "place"].head(1):
        problem = "a second file of this task and revision. Keep one."
        raise InputError(problem, argument="path", place=place)
    for task, mine in rows.groupby("qid", sort=False)["subsets"]:
        # a mean over other subsets is another score; of sets that as many results have, the larger counts
        usual = max(mine.value_counts().items(), key=lambda item: (item[1], len(item[0]), item[0]))[0]
        other = rows.loc[mine.index[mine != usual], "place"].tolist()
        if other:
            lacking[f"{task} with other subsets than the {len(usual):,} of most results"] = other
    for what, places in lacking.items():
        warn(f"{count(len(places), 'result')} left out: {what}, such as {places[0]}.")
    rows = rows[~rows["place"].isin([place for places in lacking.values() for place in places])]
    if rows.empty:
        raise InputError("no result has a score that was asked for. Give other tasks, split= or external=.")
    _check_scale(rows, picked=chosen.tasks is not None)
    several = rows.groupby("model")["revision"].nunique()
    several = several[several > 1]
    kept = rows if chosen.revisions == "each" else _one_revision(rows)
    runs = kept[["model", "revision"]].drop_duplicates(ignore_index=True)
    runs["name"] = runs["model"]
    if chosen.revisions == "each":
        runs["name"] += "@" + runs["revision"].str[:7].where(runs["revision"] != EXTERNAL, EXTERNAL)
    again = runs["name"].duplicated(keep=False)
    runs.loc[again, "name"] = runs["model"] + "@" + runs["revision"]
    runs["team"] = runs["model"].str.partition("/")[0]
    kept = kept.merge(runs, on=["model", "revision"])[["name", "qid", "value", "place"]]
    return TaskResults(kept, runs[["name", "team", "model", "revision"]], _settings(chosen, several, external))


def _settings(chosen: ResultChoice, several: pd.Series, external: set[str]) -> dict[str, str]:
    whose = {
        "no": f"none that the authors reported ({count(len(external), 'model')} have such)",
        "yes": "those that the authors reported, as a revision, among them",
        "only": "those that the authors reported alone",
    }[chosen.external]
    which = "that with the most tasks, of equals the newest, stands for a model"
    if chosen.revisions == "each":
        which = "each is a system"
    return {
        "whose scores": whose,
        "revisions": f"{which} ({count(len(several), 'model')} with several"
        + (f": {examples(several.index)}" if len(several) else "")
        + ")",
        "score": f"{chosen.score!r}, split {chosen.split or SPLITS | {'other tasks': 'test'}}, mean over subsets",
    }


def _one_revision(rows: pd.DataFrame) -> pd.DataFrame:
    """Return of each model the rows of one revision: that with the most tasks, of equals the newest version's."""
    each = rows.groupby(["model", "revision"]).agg(n=("qid", "size"), version=("version", "max")).reset_index()
    each = each.sort_values(["model", "n", "version", "revision"]).drop_duplicates("model", keep="last")
    return rows.merge(each[["model", "revision"]], on=["model", "revision"])


def _check_tasks(chosen: ResultChoice, known: set[str]) -> None:
    for argument, given in (("tasks", chosen.tasks or ()), ("ignore", chosen.ignore)):
        for task in given:
            if task not in known:
                near = did_you_mean(task, known)
                raise InputError(
                    f"{argument} names {shown(task)}, of which there is no result.{near}", argument=argument
                )
    if isinstance(chosen.split, Mapping) and (odd := [task for task in chosen.split if task not in known]):
        raise InputError(f"split names {examples(odd)}, of which there is no result.", argument="split")


def _check_scale(rows: pd.DataFrame, *, picked: bool) -> None:
    """Raise where some scores of a task are per cent beside fractions, or all of a task, if it is not `picked`."""
    beyond = rows["value"].abs() > 1
    mixed = rows.loc[beyond & rows["qid"].isin(rows.loc[~beyond & (rows["value"] != 0), "qid"])]
    if len(mixed):
        row = mixed.iloc[0]
        raise InputError(
            f"the score {row['value']:g} is beyond 1, and other scores of {row['qid']} are within it "
            f"({count(len(mixed), 'such score')}): per cent beside fractions? Write all on one scale.",
            argument="path",
            place=row["place"],
        )
    large = rows.loc[beyond, "qid"].unique().tolist()
    if large and not beyond.all():
        problem = f"the scores of {examples(large)} are beyond 1, and those of other tasks within it"
        if not picked:
            raise InputError(
                f"{problem}: per cent beside fractions? Write all on one scale, leave tasks out by ignore=, or name "
                "those that count by tasks= if all are right.",
                argument="path",
                place=rows.loc[beyond, "place"].iloc[0],
            )
        warn(f"{problem}; all weigh alike in a mean.")


def _score(file: Path, task: str, chosen: ResultChoice) -> tuple[float | str, tuple[int, ...], tuple[str, ...]]:
    """Return the score in a file, or in words why it has none, the version of MTEB that wrote it, and the subsets."""
    try:
        read = json.loads(read_bytes(file), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON ({error}). Is the file cut short?") from error
    except UnreadableError as error:
        raise InputError(f"{error}.") from error
    if not isinstance(read, dict):
        raise InputError("no result of a task: an object with 'task_name' and 'scores'.")
    version = tuple(int(part) for part in str(read.get("mteb_version")).split(".") if part.isdecimal())
    if not isinstance(read.get("scores"), dict):
        if "mteb_dataset_name" in read:
            return "written by MTEB before 1.11, without 'scores'", version, ()
        raise InputError("no key 'scores'.")
    if read.get("task_name") not in (None, task):
        raise InputError(f"it has the result of {shown(read['task_name'])}, and not of {task!r}. Rename the file.")
    split = chosen.split_of(task)
    parts = read["scores"].get(split)
    if parts is None:
        return f"{task} without the split {split!r}", version, ()
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        raise InputError(f"scores.{split} must be a list of objects, got {shown(parts)}.")
    subsets = [str(part.get("hf_subset", "default")) for part in parts]
    if twice := [subset for subset, n in Counter(subsets).items() if n > 1]:
        raise InputError(f"scores.{split} has the subset {examples(twice)} more than once.")
    values = [_number(part, f"scores.{split}[{at}].{chosen.score}", chosen.score) for at, part in enumerate(parts)]
    return sum(values) / len(values), version, tuple(sorted(subsets))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; a key that it has twice is a fault."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]
        raise ValueError(f"the key {examples(twice)} stands twice in one object")
    return found


def _number(part: Mapping[str, Any], key: str, score: str) -> float:
    value = part.get(score)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise InputError(f"{key} must be a number, got {'nothing' if score not in part else shown(value)}.")
    return float(value)
