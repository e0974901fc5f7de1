"""Pipelines run on topics, and their results kept in a folder, batch by batch."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._files import check_writable, checked_path, sweep_temporary
from pt_reuse.data.coding import frame_rows
from pt_reuse.data.frame_columns import as_ids, as_pairs, in_our_columns, number_column
from pt_reuse.data.store import ArrayFile, DamagedError, write_arrays
from pt_reuse.errors import InputError, columns, examples, flag, positive, shown, warn

#: where an object lies in memory, as Python and Java print it
_ADDRESS = re.compile(r"(?<=0x)[0-9a-fA-F]+|(?<=@)[0-9a-f]{4,}")
#: what Python prints of an object that says nothing of itself: of where its class is, a script and a module differ
_OBJECT = re.compile(r"<\S*?(\w+) object at 0x\w+>")
#: topics that a pipeline runs, and keeps, at once where nobody says how many
BATCH = 10
_ENDING = ".results"
_SHOWN = 40  # characters of a run's name in that of its folder


def pipeline_frames(
    pipelines: Mapping[str, pt.Transformer],
    topics: pd.DataFrame,
    *,
    batch_size: int | None,
    verbose: bool,
    cache: str | Path | None = None,
) -> Iterator[pd.DataFrame]:
    """Give the results of one pipeline after the other, each run when it is asked for; see :meth:`from_pipelines`."""
    if batch_size is not None:
        positive("batch_size", batch_size, "topics")
    if not isinstance(topics, pd.DataFrame):
        raise InputError(f"topics must be a frame with qid and query, got {type(topics).__name__}.", argument="topics")
    columns("topics", topics.columns, ("qid",))
    flag("verbose", verbose)
    for name, pipeline in pipelines.items():
        if not isinstance(pipeline, pt.Transformer):
            raise InputError(f"{shown(name)} must be a pipeline, got {type(pipeline).__name__}.", argument="pipelines")
    if cache is not None:
        folder = results_folder(cache)
        pipelines = {name: KeptPipeline(str(name), each, folder, batch_size) for name, each in pipelines.items()}
        batch_size = None
    return (
        pipeline.transform(topics)
        if batch_size is None
        else pd.concat(list(pipeline.transform_gen(topics, batch_size=batch_size)), ignore_index=True)
        for pipeline in pt.tqdm(pipelines.values(), desc="pipelines", disable=not verbose)
    )


def has_address(name: str) -> bool:
    """Return whether a name holds where an object lies in memory, which is elsewhere in every process."""
    return _ADDRESS.search(name) is not None


def results_folder(cache: Any) -> Path:
    """Return a user's ``cache=`` as a folder in which results are, or can be, kept."""
    folder = checked_path(cache, "cache")
    # what is there already may be of use even where nothing can be written
    if next(folder.glob(f"*/*{_ENDING}"), None) is None:
        check_writable(folder, [], overwrite=True, argument="cache")
    return folder


def digest_of(topics: pd.DataFrame) -> str:
    """Return a digest of the rows of topics, in whichever order the columns stand."""
    labels = sorted((str(label), i) for i, label in enumerate(topics.columns))
    cells = [(label, topics.iloc[:, i].tolist()) for label, i in labels]
    return hashlib.sha256(json.dumps(cells, default=_plain).encode()).hexdigest()[:32]


def _plain(cell: Any) -> Any:
    """Return what a cell that JSON does not know holds."""
    if isinstance(cell, np.ndarray):
        return ["array", cell.dtype.str, cell.tolist()]
    if isinstance(cell, bytes):
        return ["bytes", cell.hex()]
    if isinstance(cell, np.generic):
        return cell.item()
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return None
    raise InputError(
        f"there is a {type(cell).__name__}, which cannot be compared between calls. Leave its column out, or cache=.",
        argument="topics",
    )


class KeptPipeline(pt.Transformer):
    """Gives the results of a pipeline, kept by its name and what is asked, and keeps those that come."""

    def __init__(self, name: str, pipeline: pt.Transformer, folder: Path, batch_size: int | None = None):
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:_SHOWN].strip("-") or "run"
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self.name, self.pipeline, self.folder = name, pipeline, folder / f"{readable}-{mark}"
        self._batch_size = batch_size or BATCH
        self._printed = _ADDRESS.sub("", _OBJECT.sub(r"\1", repr(pipeline)))

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the results for all topics of a frame; the pipeline runs for batches that are not kept."""
        if not len(inp):  # pyterrier inspects transformers by empty frames
            return self.pipeline.transform(inp)
        number = pd.factorize(np.array(as_ids("qid", inp["qid"].tolist()), dtype=object))[0]
        batches = dict(iter(inp.groupby(number // self._batch_size)))
        paths = {b: self.folder / f"{digest_of(rows)}{_ENDING}" for b, rows in batches.items()}
        sweep_temporary(self.folder)
        frames = [self._batch(batches[b], paths[b]) for b in batches]
        return pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)

    def _batch(self, rows: pd.DataFrame, path: Path) -> pd.DataFrame:
        """Return the results of some topics, which are in a file, or are run and kept in it."""
        try:
            if path.exists():
                return self._kept(path)
        except DamagedError as error:
            warn(f"results of run {shown(self.name)} in {path} cannot be used: {error}. The topics in it run again.")
        found = self._run(rows)
        # of anything else no field is made
        texts = [[], []] if found.empty else as_pairs(found)
        numbers = [column for column in ("score", "rank") if (found.columns == column).sum() == 1]
        arrays: dict[str, np.ndarray] = {"names": np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)}
        arrays |= {column: number_column(found[column]) for column in numbers}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_arrays(path, arrays, {"numbers": numbers, "pipeline": self._printed})
        except OSError as error:
            problem = (
                f"results cannot be written to {path.parent}: {error.strerror or error}. What was kept before stays."
            )
            raise InputError(problem, argument="cache") from error
        return self._kept(path)

    def _kept(self, path: Path) -> pd.DataFrame:
        """Return the results in a file; raise where they are of another pipeline, or not as they were written."""
        with ArrayFile(path) as file:
            try:
                columns, printed = list(file.notes["numbers"]), file.notes["pipeline"]
            except (KeyError, TypeError) as error:
                raise DamagedError("it is no file of results") from error
            names, *numbers = file.read("names", *columns)
        if printed != self._printed:
            raise InputError(
                f"{path.parent.parent} holds results of another pipeline as {shown(self.name)}: {shown(printed)}, not "
                f"{shown(self._printed)}. Give another name or folder, or delete {path.parent}.",
                argument="cache",
            )
        qids, docnos = json.loads(names.tobytes())
        frame = pd.DataFrame({"qid": qids, "docno": docnos}, dtype=object)
        return frame.assign(**dict(zip(columns, numbers, strict=True)))

    def _run(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the results of the pipeline in PyTerrier's columns; what no field takes is an error."""
        topics = list(dict.fromkeys(as_ids("qid", rows["qid"].tolist())))
        try:
            results = self.pipeline.transform(rows.reset_index(drop=True))
        except Exception as error:  # whatever a pipeline raises
            # the text of another library may hold an address with a key
            what = str(error).rstrip(".") if isinstance(error, InputError) else type(error).__name__
            problem = f"run {shown(self.name)} failed for the topics {examples(topics, 10)}: {what}."
            if next(self.folder.glob(f"*{_ENDING}"), None) is not None:
                problem += " What it gave for other topics is kept; call again to go on."
            raise InputError(problem, argument="pipelines") from error
        if not isinstance(results, pd.DataFrame):
            got = type(results).__name__
            raise InputError(f"run {shown(self.name)} returned a {got}, not a frame.", argument="pipelines")
        if not len(results):
            return results
        results = in_our_columns(results)
        frame_rows(self.name, results, "trec_eval")
        others = sorted(set(as_ids("qid", results["qid"].tolist())) - set(topics))
        if others:
            problem = (
                f"run {shown(self.name)} returned results of topics that it was not asked for, {examples(others)}. "
            )
            raise InputError(f"{problem}Do without cache=.", argument="pipelines")
        return results

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out: those of the pipeline of which a field is made."""
        there = pt.inspect.transformer_outputs(self.pipeline, input_columns)
        return [column for column in ("qid", "docno", "score", "rank") if column in there]

    def __repr__(self) -> str:
        return repr(self.pipeline)
