"""Scores written as a leaderboard, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pt_reuse._check import choice, examples, flag
from pt_reuse._errors import InputError
from pt_reuse._files import check_writable, checked_path, write_together
from pt_reuse.data.leaderboards import FORMATS, leaderboard_text
from pt_reuse.data.packed_files import guarded

if TYPE_CHECKING:
    from pt_reuse.scoring.scores import Scores


def write_scores(scores: Scores, path: str | Path, format: str, *, overwrite: bool) -> Path:
    """Write scores as a leaderboard, see :meth:`Scores.write_leaderboard`."""
    choice("format", format, FORMATS)
    flag("overwrite", overwrite)
    place = checked_path(path)
    # where a topic that a run lacks counts 0, the line says 0
    there = np.ones_like(scores.has_topic) if scores.complete else scores.has_topic
    if format != "trec_eval":
        folder, parts = place.parent, {place.name: list(range(len(scores.names)))}
    else:
        folder, parts = place, {name: [r] for r, name in enumerate(scores.names)}
        _check_folder(folder, scores.names)
    texts = {
        file: leaderboard_text(
            format,
            [scores.names[r] for r in runs],
            scores.topics,
            scores.measures,
            scores.values[:, :, runs],
            has_topic=there[:, runs],
            means=scores.mean_values[:, runs],
        )
        for file, runs in parts.items()
    }
    check_writable(folder, list(parts), overwrite=overwrite, argument="path")
    try:
        files = [(name, guarded(text.encode("utf-8"))) for name, text in texts.items()]
        write_together(folder, files, overwrite=overwrite)
    except UnicodeEncodeError as error:
        raise InputError("a name is no text that UTF-8 can hold. Rename it first.", argument="path") from error
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror or error}.", argument="path") from error
    return place


def _check_folder(folder: Path, names: list[str]) -> None:
    unsafe = [name for name in names if "/" in name or "\\" in name or name.startswith(".") or "\0" in name]
    if unsafe:
        raise InputError(f"{examples(unsafe)} cannot be a file name that is read back. Rename the run first.")
    others = [file.name for file in folder.iterdir() if not file.name.startswith(".")] if folder.is_dir() else []
    strange = sorted(set(others) - set(names))
    if strange:
        raise InputError(
            f"{folder} has other files, which would be read as runs: {examples(strange)}. Give a folder of its own.",
            argument="path",
        )
