"""RunSource: where the runs that were submitted to a collection are, and what to say of those that are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, ReuseWarning, warn
from pt_reuse.collections.collection import Collection, home
from pt_reuse.collections.download.run_check import Expected, check_run_file, tag_of
from pt_reuse.collections.download.runs import Fetched, FolderInUseError, fetch_runs
from pt_reuse.collections.run_files import download_folder, expected_files, find_run_files, folders_of
from pt_reuse.engine.order import natural_order
from pt_reuse.runs.metadata import ASSUMED, RunLabels, make_run_table
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.selection import chosen_rows

HERE, FETCHED = "here", "fetched"


class PoolUnknownWarning(ReuseWarning):
    """Nobody recorded which runs were pooled, so all of them count as contributors."""


class RunSource:
    """The runs on record of a collection, on this machine or where they are published.

    Args:
        collection: the collection; it has a record of its runs.
    """

    def __init__(self, collection: Collection):
        if collection.submitted is None:
            raise InputError("no run of it is on record. get_runs() reads what its folder, or runs='FOLDER', holds.")
        self.collection = collection
        self.submitted = collection.submitted

    def wanted(
        self, pooled: bool | None, types: RunLabels | None, **conditions: str | Iterable[str] | None
    ) -> pd.DataFrame:
        """Return the runs on record that meet all conditions, with the user's types over those on record."""
        if pooled is not None and not self.collection.pooled_is_on_record:
            raise InputError(
                "who was pooled is not on record. Leave out pooled=, and let infer_pool(runs, qrels) "
                "say which runs must have contributed."
            )
        table = with_types(self.submitted, types)
        chosen = chosen_rows(table, pooled=pooled, shown_by="`submitted()`", **conditions)
        return table[chosen].reset_index(drop=True)

    def files(
        self, table: pd.DataFrame, *, runs: str | Path | None, missing: str, download: bool, n_jobs: int, verbose: bool
    ) -> dict[str, Path]:
        """Return the file of each run that can be had; of the others, raise or warn as `missing` says."""
        found = find_run_files(self.collection, table["name"], runs)
        lacking = [name for name in table["name"] if name not in found]
        failed: Mapping[str, str] = {}
        if lacking and runs is None and download:
            fetched = self._fetch(lacking, n_jobs, verbose)
            failed = fetched.failed
            found = {name: file for name in table["name"] if (file := found.get(name) or fetched.files.get(name))}
            lacking = [name for name in table["name"] if name not in found]
        if lacking:
            self._tell_missing(table, lacking, failed, runs, missing, download)
        return found

    def fetch(self, table: pd.DataFrame, *, n_jobs: int, verbose: bool) -> pd.DataFrame:
        """Download what is not here; return ``name file status`` per run."""
        here = find_run_files(self.collection, table["name"])
        fetched = self._fetch([name for name in table["name"] if name not in here], n_jobs, verbose)
        rows = []
        for name in table["name"]:
            file = here.get(name) or fetched.files.get(name)
            status = HERE if name in here else FETCHED if name in fetched.files else fetched.failed[name]
            rows.append((name, str(file) if file else None, status))
        return pd.DataFrame(rows, columns=["name", "file", "status"])

    def check(self, runs: RunSet, files: Mapping[str, Path]) -> None:
        """Raise where a run has no topic of the collection; warn where it has others, few, or another run's lines."""
        self._check_tags(files)
        has = runs.field.lengths > 0
        topics = np.array(runs.topics, dtype=object)
        known = self.collection.topic_ids
        if known is not None:
            own = np.array([topic in known for topic in runs.topics], dtype=bool)
            sample = examples([ids[i] for ids in [list(known)] for i in natural_order(ids)])
            for row in np.flatnonzero(~has[own].any(axis=0)).tolist():
                name = runs.names[row]
                raise InputError(
                    f"{files[name]}, taken for run {name!r}, has no topic of the collection: it has "
                    f"{examples(topics[has[:, row]])}; {self.collection.title} has topics such as {sample}. Take the "
                    f"file away, or give the right one."
                )
            if not own.all():
                odd = np.flatnonzero(has[~own].any(axis=0))
                self._warn(runs, odd, f"with topics that are not of the collection: {examples(topics[~own])}")
            has = has[own]
        usual = has[has.mean(axis=1) >= 0.5]
        few = np.flatnonzero(usual.mean(axis=0) < 0.5) if len(usual) else np.zeros(0, dtype=int)
        if len(few):
            self._warn(runs, few, f"with less than half of the {len(usual):,} topics that most runs have")

    def _check_tags(self, files: Mapping[str, Path]) -> None:
        every = set(self.submitted["name"])
        with ThreadPoolExecutor() as pool:
            tags = dict(zip(files, pool.map(tag_of, files.values()), strict=True))
        odd = [(name, tag) for name, tag in tags.items() if tag != name and tag in every]
        if odd:
            told = [f"{files[name]} holds run {tag!r}" for name, tag in odd]
            warn(
                f"{count(len(odd), 'file')} whose last column has the tag of another run: "
                f"{'; '.join(told[:3])}. A file stands for the run it is named by: rename or replace it.",
            )

    def _warn(self, runs: RunSet, rows: NDArray[np.int64], what: str) -> None:
        names = [runs.names[row] for row in rows.tolist()]
        warn(
            f"{count(len(names), 'run')} ({examples(names)}) {what}.",
        )

    def metadata(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return what a RunSet keeps of each run; warn when all count as pooled because nobody knows better."""
        frame = table.drop(columns=["published", "url"], errors="ignore")
        if not self.collection.pooled_is_on_record:
            warn(
                "who was pooled is not on record, so every run counts as a contributor. "
                "infer_pool(runs, qrels) says which must have been; runs.with_metadata(pooled=...) keeps it.",
            )
            frame = frame.assign(pooled=True, pooled_source=ASSUMED)
        blank = [column for column in ("task", "official_type") if not any(map(_is_text, frame[column]))]
        return frame.drop(columns=blank)

    def reasons(self, failed: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the runs behind each reason; a reason that names a run's own address counts as one."""
        grouped: dict[str, list[str]] = {}
        for name, reason in failed.items():
            general = reason.replace(str(self.collection.url_of(name)), self.collection.url or "the address")
            grouped.setdefault(general, []).append(name)
        return grouped

    def _fetch(self, names: list[str], n_jobs: int, verbose: bool) -> Fetched:
        published = dict(zip(self.submitted["name"], self.submitted["published"], strict=True))
        urls = {name: url for name in names if published[name] and (url := self.collection.url_of(name)) is not None}
        failed = {name: "not published anywhere that is known." for name in names if name not in urls}
        if not urls:
            return Fetched(files={}, failed=failed)

        collection, others = self.collection, set(self.submitted["name"])

        expected = Expected(
            title=collection.title, topic_ids=collection.topic_ids, some_topics=collection.some_topics, others=others
        )

        def check(name: str, path: Path) -> None:
            check_run_file(name, path, expected)

        try:
            fetched = fetch_runs(urls, download_folder(collection), check=check, n_jobs=n_jobs, verbose=verbose)
        except FolderInUseError:
            raise
        except InputError as error:
            # a folder that cannot be written to keeps nobody from the runs that are there
            return Fetched(files={}, failed={**failed, **dict.fromkeys(urls, str(error).removeprefix("fetch_runs: "))})
        finally:
            _remove_empty(download_folder(collection))
        return Fetched(files=fetched.files, failed={**failed, **fetched.failed})

    def _tell_missing(
        self,
        table: pd.DataFrame,
        lacking: list[str],
        failed: Mapping[str, str],
        runs: str | Path | None,
        missing: str,
        download: bool,
    ) -> None:
        why = " ".join(f"{reason} ({count(len(names), 'run')})" for reason, names in self.reasons(failed).items())
        folder = Path(runs) if runs is not None else download_folder(self.collection)
        todo = f"Put the files into {folder}, named {expected_files(lacking)} (or without 'input.', packed or not)"
        todo += "." if download or runs is not None else ", or pass download=True."
        n_here = len(table) - len(lacking)
        if n_here == 0:
            looked = [str(path) for path in folders_of(self.collection, runs)]
            raise InputError(
                f"none of {count(len(table), 'run')} is on this machine"
                f"{', and none could be downloaded: ' + why if why else '.'} {todo}"
                f"{' Looked in ' + examples(looked, 4) + '.' if looked else ''}"
            )
        absent = sorted(set(table["team"]) - set(table["team"][~table["name"].isin(lacking)]))
        gone = f"; {count(len(absent), 'team')} without any run left: {', '.join(absent)}" if absent else ""
        message = (
            f"{len(lacking):,} of {count(len(table), 'run')} missing, {n_here:,} there "
            f"(missing {examples(lacking)}{gone}).{' Download: ' + why if why else ''} {todo}"
        )
        if missing == "error":
            raise InputError(message)
        if missing == "warn":
            warn(
                message,
            )


def with_types(table: pd.DataFrame, types: RunLabels | None, *, before: str = "catalogue") -> pd.DataFrame:
    """Return a table of runs with the user's types over those it had `before`; ``type_source`` says whose each is."""
    if types is None:
        return table.copy()
    names = table["name"].tolist()
    given = make_run_table(names, types=types, base=table[["name"]].assign(team=None, type=None, pooled=True))
    said = given["type"].notna().to_numpy()
    label = str(types) if isinstance(types, str | Path) else "given"
    return table.assign(
        type=np.where(said, given["type"], table["type"]), type_source=np.where(said, label, before).astype(object)
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _remove_empty(folder: Path) -> None:
    # where nothing came, nothing is left; a folder with anything in it stays
    with suppress(OSError):
        while folder != home():
            folder.rmdir()
            folder = folder.parent
