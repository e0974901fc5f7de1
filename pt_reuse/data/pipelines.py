"""Pipelines run on topics, and their results kept in a folder, batch by batch."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._files import Alone, alone, check_writable, checked_path, sweep_temporary
from pt_reuse.data.coding import frame_rows
from pt_reuse.data.frame_columns import as_ids, as_pairs, in_our_columns, number_column
from pt_reuse.data.store import ArrayFile, DamagedError, write_arrays
from pt_reuse.errors import InputError, columns, count, examples, flag, located, positive, shown, warn

#: where an object lies in memory, as Python and Java print it
_ADDRESS = re.compile(r"(?<=0x)[0-9a-fA-F]+|(?<=@)[0-9a-f]{4,}")
#: what Python prints of an object that says nothing of itself: of where its class is, a script and a module differ
_OBJECT = re.compile(r"<\S*?(\w+) object at 0x\w+>")
#: topics that a pipeline runs, and keeps, at once where nobody says how many
BATCH = 10
_ENDING = ".results"
_SHOWN = 40  # characters of a run's name in that of its folder
_LISTED = 10  # topics that an error lists


@contextmanager
def pipeline_frames(
    pipelines: Mapping[str, pt.Transformer],
    topics: pd.DataFrame,
    *,
    batch_size: int | None,
    verbose: bool,
    cache: str | Path | None = None,
) -> Iterator[Iterator[pd.DataFrame]]:
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
    progress = {"desc": "pipelines", "disable": not verbose}
    if cache is None:
        yield (_results(pipeline, topics, batch_size) for pipeline in pt.tqdm(pipelines.values(), **progress))
        return
    folder = results_folder(cache)
    keeping = [KeptPipeline(str(name), one, folder, batch_size=batch_size) for name, one in pipelines.items()]
    with kept_in(folder, keeping, topics):
        yield (pipeline.transform(topics) for pipeline in pt.tqdm(keeping, **progress))


def _results(pipeline: pt.Transformer, topics: pd.DataFrame, batch_size: int | None) -> pd.DataFrame:
    if batch_size is None:
        return pipeline.transform(topics)
    return pd.concat(list(pipeline.transform_gen(topics, batch_size=batch_size)), ignore_index=True)


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


@contextmanager
def kept_in(folder: Path, pipelines: Sequence[KeptPipeline], topics: pd.DataFrame) -> Iterator[None]:
    """Have a folder to oneself while pipelines run, which find there what they gave for topics before."""
    with located("topics"):
        digests = topic_digests(topics)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    with alone(folder) as whether:
        if whether is Alone.NO:
            raise InputError(
                f"another process runs pipelines into {folder}. Wait until it is done, or give another folder.",
                argument="cache",
            )
        try:
            for pipeline in pipelines:
                pipeline.look(digests)
            yield
        finally:
            for pipeline in pipelines:
                pipeline.files = None


def _unwritable(folder: Path, error: OSError) -> InputError:
    problem = f"results cannot be written to {folder}: {error.strerror or error}. What was kept before stays; make "
    return InputError(f"{problem}room or mend the folder, and call again to go on.", argument="cache")


def topic_digests(topics: pd.DataFrame) -> dict[str, str]:
    """Return topic -> a digest of its rows, in whichever order the columns stand."""
    labels = sorted((str(label), i) for i, label in enumerate(topics.columns) if label != "qid")
    columns = [topics.iloc[:, i].tolist() for _, i in labels]
    digests: dict[str, Any] = {}
    for row, qid in enumerate(as_ids("qid", topics["qid"].tolist())):
        cells = json.dumps(
            [(label, column[row]) for (label, _), column in zip(labels, columns, strict=True)], default=_plain
        )
        digests.setdefault(qid, hashlib.sha256()).update(f"{cells}\n".encode())
    return {topic: digest.hexdigest() for topic, digest in digests.items()}


def _plain(cell: Any) -> Any:
    """Return what a cell that JSON does not know holds."""
    if isinstance(cell, np.ndarray):
        return ["array", cell.dtype.str, cell.tolist()]
    if isinstance(cell, np.generic):
        return cell.item()
    if isinstance(cell, bytes):
        return ["bytes", cell.hex()]
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return None
    raise InputError(
        f"there is a {type(cell).__name__}, which cannot be compared between calls. Leave its column out, or cache=.",
        argument="topics",
    )


class KeptPipeline(pt.Transformer):
    """Gives the results of a pipeline, those that are kept first, and keeps those that come."""

    def __init__(self, name: str, pipeline: pt.Transformer, folder: Path, *, batch_size: int | None = None):
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:_SHOWN].strip("-") or "run"
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self.name, self.pipeline, self.folder = name, pipeline, folder / f"{readable}-{mark}"
        self._batch_size = batch_size or BATCH
        #: topic and digest of its rows -> the file with its results; None while the folder is not one's own
        self.files: dict[tuple[str, str], Path] | None = None

    def _printed(self) -> str:
        return _ADDRESS.sub("", _OBJECT.sub(r"\1", repr(self.pipeline)))

    def look(self, digests: Mapping[str, str]) -> None:
        """Look through what is kept, and warn of topics that run again since their rows are others."""
        self.files = {}
        sweep_temporary(self.folder)
        for path in sorted(self.folder.glob(f"*{_ENDING}")):
            try:
                with ArrayFile(path) as file:
                    notes = file.notes
            except DamagedError as error:
                self._leave(path, error)
                continue
            if notes["pipeline"] != self._printed():
                raise InputError(
                    f"{self.folder.parent} holds results of another pipeline as {shown(self.name)}: "
                    f"{shown(notes['pipeline'])}, not {shown(self._printed())}. Give another name or folder, or delete "
                    f"{self.folder}.",
                    argument="cache",
                )
            self.files |= dict.fromkeys(notes["topics"].items(), path)
        known = {topic for topic, _ in self.files}
        changed = [topic for topic, digest in digests.items() if topic in known and (topic, digest) not in self.files]
        if changed:
            warn(
                f"run {shown(self.name)} runs again for {count(len(changed), 'topic')}, {examples(changed)}: their "
                f"input is not what the results in {self.folder} were made of."
            )

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the results for all topics of a frame; the pipeline runs for those alone that are not kept."""
        if self.files is None or not len(inp):  # pyterrier inspects transformers by empty frames
            return self.pipeline.transform(inp)
        digests = topic_digests(inp)
        frames = self._kept(digests)
        missing = [topic for topic, digest in digests.items() if (topic, digest) not in self.files]
        of_row = np.array(as_ids("qid", inp["qid"].tolist()), dtype=object)
        for at in range(0, len(missing), self._batch_size):
            batch = missing[at : at + self._batch_size]
            results = self._run(_in_order(inp, of_row, batch), batch, len(digests) - len(missing) + at)
            frames.append(self._keep(results, {topic: digests[topic] for topic in batch}))
        full = [frame for frame in frames if len(frame)]
        if not full:
            return frames[0]
        results = pd.concat(full, ignore_index=True)
        return _in_order(results, results["qid"].to_numpy(dtype=object), list(digests))

    def _kept(self, digests: Mapping[str, str]) -> list[pd.DataFrame]:
        """Return the results that are kept, of each file those of the topics that are asked."""
        files = self.files or {}
        of_file: dict[Path, list[str]] = {}
        for item in digests.items():
            if item in files:
                of_file.setdefault(files[item], []).append(item[0])
        frames = []
        for path, topics in of_file.items():
            try:
                frame = _frame(path)
            except DamagedError as error:
                self._leave(path, error)
            else:
                frames.append(frame[frame["qid"].isin(topics)] if len(frame) else frame)
        return frames

    def _leave(self, path: Path, error: DamagedError) -> None:
        """Warn of a file that cannot be used, and remove it."""
        warn(f"results of run {shown(self.name)} in {path} cannot be used: {error}. The topics in it run again.")
        self.files = {item: other for item, other in (self.files or {}).items() if other != path}
        # what a disk or a right keeps from being read may be whole
        if not isinstance(error.__cause__, OSError):
            with suppress(OSError):
                path.unlink()

    def _run(self, rows: pd.DataFrame, topics: Sequence[str], done: int) -> pd.DataFrame:
        """Return the results of the pipeline in PyTerrier's columns; what no field takes is an error."""
        try:
            results = self.pipeline.transform(rows)
        except Exception as error:  # whatever a pipeline raises
            # the text of another library may hold an address with a key
            what = str(error).rstrip(".") if isinstance(error, InputError) else type(error).__name__
            kept = f" What it gave for {count(done, 'topic')} is kept; call again to go on from there." if done else ""
            problem = f"run {shown(self.name)} failed for the topics {examples(topics, _LISTED)}: {what}.{kept}"
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
            raise InputError(
                f"run {shown(self.name)} returned results of {count(len(others), 'topic')} that it was not asked for "
                f"at this moment, {examples(others)}. Do without cache=, or pass the results as a frame.",
                argument="pipelines",
            )
        return results

    def _keep(self, results: pd.DataFrame, digests: Mapping[str, str]) -> pd.DataFrame:
        """Keep the results of a batch of topics, and return them as they will be read."""
        # of anything else no field is made
        texts = [[], []] if results.empty else as_pairs(results)
        numbers = [column for column in ("score", "rank") if (results.columns == column).sum() == 1]
        arrays: dict[str, np.ndarray] = {"names": np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)}
        arrays |= {column: number_column(results[column]) for column in numbers}
        name = hashlib.sha256("".join(digests.values()).encode()).hexdigest()[:16]
        path = self.folder / f"{name}{_ENDING}"
        notes = {"pipeline": self._printed(), "topics": dict(digests), "numbers": numbers}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_arrays(path, arrays, notes)
        except OSError as error:
            raise _unwritable(self.folder.parent, error) from error
        self.files = {**(self.files or {}), **dict.fromkeys(digests.items(), path)}
        return _frame(path)

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out: those of the pipeline of which a field is made."""
        there = pt.inspect.transformer_outputs(self.pipeline, input_columns)
        return [column for column in ("qid", "docno", "score", "rank") if column in there]

    def __repr__(self) -> str:
        return repr(self.pipeline)


def _in_order(frame: pd.DataFrame, of_row: np.ndarray, topics: Sequence[str]) -> pd.DataFrame:
    """Return the rows of some topics, topic by topic."""
    place = pd.Index(topics).get_indexer(pd.Index(of_row))
    rows = np.flatnonzero(place >= 0)
    return frame.iloc[rows[place[rows].argsort(kind="stable")]].reset_index(drop=True)


def _frame(path: Path) -> pd.DataFrame:
    """Return the results in a file; raise a DamagedError where they are not as they were written."""
    with ArrayFile(path) as file:
        columns = file.notes.get("numbers")
        if columns is None:
            raise DamagedError(f"{path.name} is of another version")
        names, *numbers = file.read("names", *columns)
    qids, docnos = json.loads(names.tobytes())
    frame = pd.DataFrame({"qid": qids, "docno": docnos}, dtype=object)
    return frame.assign(**dict(zip(columns, numbers, strict=True)))
