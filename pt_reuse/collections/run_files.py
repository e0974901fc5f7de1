"""The runs on record of a collection, and where their files are on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import Call, InputError, Option, ReuseWarning, warn, wrong
from pt_reuse._files import user_path
from pt_reuse.collections.collection import Collection, home, places
from pt_reuse.data.ir_metadata import run_paths
from pt_reuse.data.metadata import OF_CHANGES, GivenMetadata, RunLabels, given_metadata
from pt_reuse.data.parsing import file_run_names
from pt_reuse.data.units import chosen_rows

#: types of runs that the user gives, and where they come from: a file, or ``"given"``
OwnTypes: TypeAlias = "tuple[GivenMetadata, str] | None"
#: below each folder of a collection: NIST's, trec_eval users' and our own ways to keep run files
_BELOW = ("runs", "inputs", "input", "")
#: where NIST publishes runs
_RESULTS = "https://trec.nist.gov/results/"
_PACKED = (".gz", "", ".bz2", ".xz", ".zst", ".lz4", ".Z")


class PoolUnknownWarning(ReuseWarning):
    """Nobody recorded which runs were pooled."""


def submitted_runs(collection: Collection) -> pd.DataFrame:
    """Return one row per run on record, or raise where there is no record."""
    if collection.submitted is None:
        reads = (Call("get_runs"), " reads what its folder, or ", Option("runs", "FOLDER"), ", holds.")
        raise InputError("no run of it is on record. ", *reads)
    return collection.submitted


def choose_runs(
    collection: Collection, types: OwnTypes, pooled: bool | None, **conditions: str | Iterable[str] | None
) -> pd.DataFrame:
    """Return the runs on record that meet all conditions, with the user's types over those on record."""
    submitted = submitted_runs(collection)
    if pooled is not None and not collection.pooled_is_on_record:
        raise InputError(
            "who was pooled is not on record. Leave out pooled, and let ",
            Call("infer_pool", "runs, qrels"),
            " say which runs must have contributed.",
            argument="pooled",
        )
    table = with_types(submitted, types)
    chosen = chosen_rows(table, pooled=pooled, shown_by="`submitted()`", **conditions)
    return table[chosen].reset_index(drop=True)


def run_metadata(collection: Collection, table: pd.DataFrame) -> pd.DataFrame:
    """Return what a RunSet keeps of each run; warn where nobody recorded who was pooled."""
    frame = table.drop(columns=["published", "url"], errors="ignore")
    if not collection.pooled_is_on_record:
        warn(
            "who was pooled is not on record, so every run counts as a contributor. ",
            Call("infer_pool", "runs, qrels"),
            " says which must have been; ",
            Call("runs.with_metadata", "pooled=..."),
            " keeps it.",
            category=PoolUnknownWarning,
        )
    blank = [column for column in ("task", "official_type") if not any(filter(None, frame[column]))]
    return frame.drop(columns=blank)


def read_types(types: RunLabels | None) -> OwnTypes:
    """Read a user's ``types=``, None where none are given."""
    if types is None:
        return None
    return given_metadata(types=types), str(types) if isinstance(types, str | Path) else "given"


def with_types(table: pd.DataFrame, types: OwnTypes, *, before: str = "catalogue") -> pd.DataFrame:
    """Return a table of runs with the user's types over those it had `before`; ``type_source`` says whose each is."""
    if types is None:
        return table.copy()
    labels, origin = types
    given = labels.table(table["name"].tolist(), table[["name"]].assign(team=None, type=None, pooled=True), OF_CHANGES)
    named = given["type"].notna().to_numpy()
    known = table["type_source"] if "type_source" in table.columns else before
    return table.assign(
        type=np.where(named, given["type"], table["type"]),
        type_source=np.where(named, origin, known).astype(object),
    )


def download_folder(collection: Collection) -> Path:
    """Return the folder that downloads go to, and in which run files are expected first."""
    return home() / collection.name / "runs"


def folders_of(collection: Collection, runs: str | Path | None = None) -> list[Path]:
    """Return the folders that may hold run files: those below `runs`, else below the user's; the likeliest first."""
    if runs is not None:
        tops = [given_folder(runs)]
    else:
        tops = [place / name for place in places() for name in collection.folder_names]
    return [folder for folder in dict.fromkeys(top / name for top in tops for name in _BELOW) if os.path.isdir(folder)]


def find_run_files(collection: Collection, names: Iterable[str], runs: str | Path | None = None) -> dict[str, Path]:
    """Return the file of each run that has one, in the order of the names."""
    found: dict[str, Path] = {}
    names = list(names)
    for folder in folders_of(collection, runs):
        there = _files_in(folder)
        for name in names if there else ():
            files = [folder / file for file in file_names(name) if file in there]
            first = found.setdefault(name, files[0]) if files else None
            # the same file in two places is nothing to tell
            others = files[1:] if first in files else [file for file in files[:1] if first and _differ(first, file)]
            if others:
                warn(
                    f"run {name!r} is there more than once: {first} is read, {examples(others)} not. Keep one of them."
                )
    if runs is None:
        found |= _provided(collection, [name for name in names if name not in found])
    return {name: found[name] for name in names if name in found}


def provider_folder() -> Path:
    """Return the folder in which ir_datasets' trec-browser-provider keeps what it downloaded; it need not exist."""
    return Path(os.environ.get("IR_DATASETS_HOME") or Path.home() / ".ir_datasets") / "trec-browser"


def looked_at(collection: Collection) -> list[Path]:
    """Return every folder there is in which run files are looked for, the trec-browser-provider's as the last."""
    return [*folders_of(collection), *filter(os.path.isdir, [provider_folder()])]


def _provided(collection: Collection, names: Sequence[str]) -> dict[str, Path]:
    top = provider_folder()
    found = {}
    for name in names if os.path.isdir(top) else ():
        address = collection.url_of(name) or ""
        below = address.removeprefix(_RESULTS)
        if below == address or ".." in below.split("/"):
            continue
        # a name that is written otherwise in an address would be that of another run
        paths = [path for path in (top / f"{below}.raw", top / below) if path.is_file()]
        if paths and file_run_names(paths[:1]) == [name]:
            found[name] = paths[0]
    return found


def own_run_files(collection: Collection) -> list[Path]:
    """Return the run files of an own collection, none where its folder is gone or it names none."""
    try:
        return [] if collection.runs is None else run_paths(collection.runs)
    except InputError:
        return []


def file_names(name: str) -> list[str]:
    """Return the file names under which a run is looked for."""
    return [f"{prefix}{name}{packed}" for prefix in ("input.", "") for packed in _PACKED]


def _differ(taken: Path, other: Path) -> bool:
    try:
        return taken.name == other.name and taken.stat().st_size != other.stat().st_size
    except OSError:
        return False


def given_folder(runs: str | os.PathLike[str]) -> Path:
    """Return the folder of run files that the user gives, or say that it is none."""
    if isinstance(runs, str | os.PathLike) and str(runs):
        top = user_path(runs)
        if os.path.isdir(top):
            return top
    raise wrong(
        "runs",
        f" must be the folder that holds the run files, named input.TAG.gz, TAG.gz or TAG; {str(runs)[:200]!r} is not.",
    )


def _files_in(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if not os.path.isdir(entry)}
    except OSError as error:
        warn(f"{folder} cannot be looked into ({error.strerror or error}): run files in it are not found.")
        return set()
