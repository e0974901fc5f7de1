"""What to say of runs of a collection that cannot be had: which, why, and where to put their files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, Option, Part, warn
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download.runs import Fetched
from pt_reuse.collections.fetching import Sources, runs_by_reason
from pt_reuse.collections.run_files import download_folder, folders_of


def tell_lacking(collection: Collection, table: pd.DataFrame, had: Fetched, sources: Sources, missing: str) -> None:
    """Raise where no run is to be had; where some are not, raise, warn or pass over it.

    Args:
        collection: whose runs they are.
        table: the runs that were wanted, ``name`` and ``team``.
        had: the files there are, and why others could not be downloaded.
        sources: where files were looked for.
        missing: ``"error"``, ``"warn"`` or ``"ignore"``.
    """
    there = table["name"].isin(had.files).to_numpy()
    lacking = table["name"][~there].tolist()
    if not lacking:
        return
    by_reason = runs_by_reason(collection, had.failed)
    why = " ".join(f"{reason} ({count(len(names), 'run')})" for reason, names in by_reason.items())
    folder = Path(sources.folder) if sources.folder is not None else download_folder(collection)
    files = examples([f"input.{name}.gz" for name in lacking])
    todo: list[Part] = [f"Put the files into {folder}, named {files} (or without 'input.', packed or not)"]
    todo += ["."] if sources.download or sources.folder is not None else [", or pass ", Option("download", True), "."]
    if not there.any():
        looked = [str(path) for path in folders_of(collection, sources.folder)]
        raise InputError(
            f"none of {count(len(table), 'run')} is on this machine"
            f"{f', and none could be downloaded: {why} ' if why else '. '}", *todo,
            f" Looked in {examples(looked, 4)}." if looked else "",
        )  # fmt: skip
    absent = sorted(set(table["team"]) - set(table["team"][there]))
    gone = f"; {count(len(absent), 'team')} without any run left: {', '.join(absent)}" if absent else ""
    message = (
        f"{len(lacking):,} of {count(len(table), 'run')} missing, {int(there.sum()):,} there "
        f"(missing {examples(lacking)}{gone}).{f' Download: {why}' if why else ''} "
    )
    if missing == "error":
        raise InputError(message, *todo)
    if missing == "warn":
        warn(message, *todo)
