"""The added columns in the folder where pt.Experiment saves: two CSVs beside the two of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import InputError, warn
from pt_reuse._files import write_together
from pt_reuse.experiment.adding import Adding

#: what pt.Experiment writes on every call -> what stands beside it, with the added columns
BESIDE = {"aggregated.csv": "reuse-aggregated.csv", "perquery.csv": "reuse-perquery.csv"}
#: says of each row among which runs its ranks are, since rows of several calls may stand in one file
AMONG = "ranked among"
_KEYS = {"aggregated.csv": ["name"], "perquery.csv": ["name", "qid", "measure"]}


@dataclass(frozen=True)
class SavedTables:
    """Where the tables of an experiment are saved, and what stands there of other systems."""

    folder: Path
    before: Mapping[str, pd.DataFrame]

    def save(self, added: Adding) -> None:
        """Write the tables that pt.Experiment has written of the systems again, with the added columns.

        Rows of other systems stay, as they do in its own.
        """
        systems, files = added.columns.systems, []
        among = added.columns.settings.get(AMONG, "not ranked")
        for name, beside in BESIDE.items():
            # versions of pt.Experiment there are that write none
            if not (self.folder / name).exists():
                continue
            theirs = _read(self.folder / name)
            theirs = theirs[theirs["name"].isin(systems)].reset_index(drop=True)
            table = added.to_means(theirs) if _KEYS[name] == ["name"] else added.to_topics(theirs)
            table = table.assign(**{AMONG: among})
            if name in self.before:
                others = self.before[name][~self.before[name]["name"].isin(systems)]
                table = pd.concat([table, others], ignore_index=True) if len(others) else table
            files.append((beside, table.to_csv(index=False).encode("utf-8", "surrogateescape")))
        try:
            write_together(self.folder, files)
        except OSError as error:
            # what was computed is worth more than its tables
            warn(
                f"{self.folder} cannot be written to: {error.strerror or error}. The results of the systems and the "
                f"tables of pt.Experiment are there, {' and '.join(BESIDE.values())} are not, or those of before."
            )


def plan_tables(arguments: Mapping[str, Any]) -> SavedTables | None:
    """Return where the tables will be saved, None for an experiment that is not saved."""
    if arguments.get("save_dir") is None:
        return None
    folder, before = Path(arguments["save_dir"]), {}
    for name, ours in BESIDE.items():
        path = folder / ours
        if not path.exists():
            continue
        try:
            before[name] = _read(path)
        except (OSError, ValueError) as error:
            raise _not_ours(path, "it cannot be read as one") from error
        missing = [column for column in (*_KEYS[name], AMONG) if column not in before[name].columns]
        if missing:
            raise _not_ours(path, f"it lacks {examples(missing)}")
    return SavedTables(folder, before)


def _read(path: Path) -> pd.DataFrame:
    # a system may be called "NA"
    texts = {"name": str, "qid": str, "measure": str}
    header = pd.read_csv(path, nrows=0).columns
    empty: dict[Any, list[str]] = {column: [] if column in texts else [""] for column in header}
    return pd.read_csv(
        path,
        dtype={column: str for column in header if column in texts},
        na_values=empty,
        keep_default_na=False,
    )


def _not_ours(path: Path, why: str) -> InputError:
    return InputError(
        f"{path} is not a table that Experiment wrote ({why}), and would be replaced. Move it, or give another folder.",
        argument="save_dir",
    )
