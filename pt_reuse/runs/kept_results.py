"""KeptResults: a folder in which pipelines keep their results, so that they go on where they stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import examples, shown
from pt_reuse._errors import Argument, InputError, warn
from pt_reuse._files import Alone, alone, check_writable, is_temporary, read_file, replacing, sweep_temporary, user_path
from pt_reuse.runs.kept_run import FORMAT, KeptRun, newer
from pt_reuse.runs.pipeline_steps import python_version, steps_of
from pt_reuse.runs.topic_inputs import TopicInputs

HEADER = "pt_reuse-results.json"
#: topics that a pipeline runs, and keeps, at once where nobody says how many
BATCH = 10


class KeptResults:
    """A folder of results, which has been looked at when this is made, and is made by :meth:`opened`.

    Args:
        cache: the user's path.

    Raises:
        InputError: it is no folder, holds something else, cannot be written to, or a newer version wrote it.
    """

    def __init__(self, cache: Any):
        if not isinstance(cache, str | os.PathLike) or not str(cache) or "\0" in str(cache):
            raise InputError(Argument("cache"), f" must be the path of a folder, got {cache!r}.", argument="cache")
        self.folder = user_path(cache)
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(
                Argument("cache"),
                f" {self.folder} is a file. Give a folder for the results; it is made if missing.",
                argument="cache",
            )
        if not self._is_ours():
            check_writable(self.folder, [HEADER], overwrite=True, argument="cache")

    def _is_ours(self) -> bool:
        try:
            there = os.listdir(self.folder)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be looked into: {error.strerror or error}. Give another folder.",
                argument="cache",
            ) from error
        others = [name for name in sorted(there) if not is_temporary(name)]
        if HEADER in others:
            self._check_format()
            return True
        if others:
            raise InputError(
                f"{self.folder} holds other things than results of pipelines, such as {examples(others, 1)}. Give a "
                "folder of its own; it is made if missing.",
                argument="cache",
            )
        return False

    def _check_format(self) -> bool:
        # what cannot be read is told when the folder is opened
        header = None
        with suppress(OSError, ValueError, RecursionError):
            header = json.loads(read_file(self.folder / HEADER))
        written = header.get("format") if isinstance(header, dict) else None
        if isinstance(written, int) and written > FORMAT:
            raise newer(self.folder, written)
        return written == FORMAT

    @contextmanager
    def opened(self, pipelines: Mapping[str, pt.Transformer], topics: pd.DataFrame) -> Iterator[dict[str, KeptRun]]:
        """Have the folder to oneself and return what it keeps of each pipeline.

        Args:
            pipelines: run name -> pipeline.
            topics: the topics to run them on.

        Raises:
            InputError: topics that cannot be compared, another process works in it, or it holds results of another
                pipeline under one of the names.
        """
        inputs = TopicInputs.of(topics)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.unwritable(error) from error
        with alone(self.folder) as whether:
            if whether is Alone.NO:
                raise InputError(
                    f"another process runs pipelines into {self.folder} at this moment. Wait until it is done, or give "
                    "another folder.",
                    argument="cache",
                )
            sweep_temporary(self.folder)
            # it may have changed since it was looked at
            if not self._is_ours() or not self._check_format():
                self._write_header()
            version = python_version()
            runs = {name: KeptRun(self.folder, name, [*steps_of(p), version]) for name, p in pipelines.items()}
            for run in runs.values():
                sweep_temporary(run.folder)
                run.check()
            for run in runs.values():
                run.tell_other_inputs(inputs)
            yield runs

    def _write_header(self) -> None:
        if (self.folder / HEADER).exists():
            warn(f"the header of {self.folder} was damaged and is written anew. Each file of results has its own.")
        try:
            with replacing(self.folder / HEADER) as file:
                file.write(json.dumps({"format": FORMAT}).encode("ascii"))
        except OSError as error:
            raise self.unwritable(error) from error

    def unwritable(self, error: OSError, name: str | None = None) -> InputError:
        """Return the error that nothing can be written here.

        Args:
            error: of the system's.
            name: the run whose results it is about.
        """
        what = "the folder of results" if name is None else f"the batch of run {shown(name)} at hand"
        return InputError(
            f"{what} cannot be written to {self.folder}: {error.strerror or error}. What was kept before stays; make "
            "room or mend the folder, and call again to go on.",
            argument="cache",
        )
