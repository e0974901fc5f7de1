"""Pipelines run on topics, for the frames that a field is made of, and their results kept in a folder."""

from __future__ import annotations

import dis
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import columns, count, examples, flag, positive, shown
from pt_reuse._files import Alone, alone, check_writable, is_temporary, sweep_temporary, user_path
from pt_reuse.data.array_file import ArrayFile, DamagedError, write_arrays
from pt_reuse.data.coding import frame_rows
from pt_reuse.data.frame_columns import as_ids, in_our_columns, number_column, text_groups
from pt_reuse.errors import InputError, located, warn

#: where an object lies in memory, as Python and Java print it
_ADDRESS = re.compile(r"(?<=0x)[0-9a-fA-F]+|(?<=@)[0-9a-f]{4,}")
#: attributes that change nothing of the results
_IDLE = ("verbose", "label")
#: the longest words that are kept as they are
_LONG = 2000
#: characters of two long lines that are shown before they differ, and of their beginning
_AROUND = 25
#: how deep pipelines, lists and functions lie in one another at most
_DEEP = 12
_CODE = re.compile(r"code [0-9a-f]+ ")


def steps_of(pipeline: pt.Transformer) -> list[str]:
    """Return the steps of a pipeline with their attributes, a line for each.

    What a step was made with is known as far as it keeps it under its name, as PyTerrier's own inspection expects:
    texts, numbers, lists of these, frames, other steps, and the code of functions. An index, a model or another object
    is known by its type alone, and what it holds is not.

    Example:
        >>> steps_of(pt.RankCutoff(10))
        ['RankCutoff k=10', 'RankCutoff RankCutoff(10)']
    """
    return list(_lines(pipeline, "", _DEEP))


def difference(kept: Sequence[str], now: Sequence[str]) -> tuple[str, str] | None:
    """Return the first lines in which two pipelines differ, of long ones where they begin to, or None where none does.

    The code of functions is told apart by the same version of Python alone.
    """
    if kept[-1] != now[-1]:
        kept, now = ([_CODE.sub("", line) for line in lines] for lines in (kept, now))
    pairs = zip_longest(kept[:-1], now[:-1], fillvalue="nothing more")
    before, after = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    if before == after:
        return None
    alike = len(os.path.commonprefix([before, after])) - _AROUND  # noqa: RUF071
    if alike <= _AROUND:
        return before, after
    return f"{before[:_AROUND]}...{before[alike:]}", f"{after[:_AROUND]}...{after[alike:]}"


def python_version() -> str:
    """Return the version of Python, as far as the code of functions hangs on it."""
    return "Python {}.{}".format(*sys.version_info)


def has_address(name: str) -> bool:
    """Return whether a name holds where an object lies in memory, which is elsewhere in every process."""
    return _ADDRESS.search(name) is not None


def _lines(step: pt.Transformer, before: str, deep: int) -> Iterator[str]:
    name = f"{before}{type(step).__name__}"
    parts = _parts(step) if deep else {}
    inner = [part for value in parts.values() for part in _steps_in(value)]
    for attribute, value in parts.items():
        if not _steps_in(value):
            yield _short(f"{name} {attribute}={_words(value, deep - 1)}")
    # the text of a pipeline is that of its steps
    own_text = type(step).__repr__ is not object.__repr__ and not inner
    yield _short(f"{name} {_ADDRESS.sub('', repr(step))}" if own_text else name)
    for i, part in enumerate(inner, 1):
        yield from _lines(part, f"{name} > {i} ", deep - 1)


def _parts(step: pt.Transformer) -> dict[str, Any]:
    try:
        attributes = pt.inspect.transformer_attributes(step, strict=False)
    except Exception:  # whatever a transformer of the user's makes of being asked
        return {}
    known = [one for one in attributes if one.value is not pt.inspect.TransformerAttribute.MISSING]
    return {one.name: one.value for one in known if one.name not in _IDLE}


def _steps_in(value: Any) -> list[pt.Transformer]:
    steps = list(value) if isinstance(value, list | tuple) else [value]
    return steps if all(isinstance(step, pt.Transformer) for step in steps) else []


def _words(value: Any, deep: int) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bytes | bool | int | float | complex):
        return repr(value)
    if deep <= 0:
        return type(value).__name__
    if isinstance(value, list | tuple):
        return f"[{', '.join(_words(part, deep - 1) for part in value)}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(_words(part, deep - 1) for part in value))}}}"
    if isinstance(value, dict):
        pairs = (f"{_words(key, deep - 1)}: {_words(part, deep - 1)}" for key, part in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, pt.Transformer):
        return "; ".join(_lines(value, "", deep - 1))
    return _of_object(value, deep)


def _of_object(value: Any, deep: int) -> str:
    if isinstance(value, pd.DataFrame | pd.Series):
        return _of_frame(pd.DataFrame(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        return f"array {value.shape} {_digest(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, FunctionType):
        return _of_function(value, deep)
    if isinstance(value, type):
        return value.__name__
    # methods and the like have names; an object has none, and what it holds is not looked at
    return str(getattr(value, "__qualname__", type(value).__name__))


def _of_frame(frame: pd.DataFrame) -> str:
    try:
        rows = _digest(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    except TypeError:
        rows = "of lists"
    return f"frame of {len(frame)} rows {list(map(str, frame.columns))} {rows}"


def _of_function(fn: FunctionType, deep: int) -> str:
    code = fn.__code__
    changed = {step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_GLOBAL", "STORE_DEREF")}
    used = {name: fn.__globals__[name] for name in code.co_names if name in fn.__globals__}
    for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True):
        # one may be empty still
        with suppress(ValueError):
            used[name] = cell.cell_contents
    given = [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
    # lists may be counters of calls; of what a function uses besides, only what it does not change counts
    known = []
    for name, value in sorted(used.items()):
        if isinstance(value, FunctionType):
            known.append(f"{name}={_named(value)}")
        elif name not in changed and (value is None or isinstance(value, str | bool | int | float)):
            known.append(f"{name}={value!r}")
    defaults = ", ".join(_words(value, deep - 1) for value in given)
    return f"{_named(fn)}({defaults})" + (f" with {', '.join(known)}" if known else "")


def _named(fn: FunctionType) -> str:
    return f"function {fn.__name__} code {_digest(_of_code(fn.__code__, fn.__doc__))} "


def _of_code(code: CodeType, documented: str | None = None) -> bytes:
    constants = [_constant(one) for one in code.co_consts if documented is None or one != documented]
    return repr((code.co_code, constants, code.co_names, code.co_varnames)).encode("utf-8", "surrogatepass")


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return _digest(_of_code(value))
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _short(line: str) -> str:
    if len(line) <= _LONG:
        return line
    return f"{line[:_LONG]}... {_digest(line.encode('utf-8', 'surrogatepass'))}"


@dataclass(frozen=True)
class TopicInputs:
    """The rows that a pipeline gets, topic by topic."""

    frame: pd.DataFrame
    topics: tuple[str, ...]
    of_row: NDArray[np.int64]
    checks: Mapping[str, str]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> TopicInputs:
        """Return the topics of a frame."""
        with located("topics"):
            of_row, topics = text_groups("qid", frame["qid"])
            digests = [hashlib.sha256() for _ in topics]
            labels = sorted((str(label), i) for i, label in enumerate(frame.columns) if label != "qid")
            for label, i in labels:
                for digest in digests:
                    digest.update(_sized(b"column", label.encode("utf-8", "surrogatepass")))
                for topic, cell in zip(of_row.tolist(), frame.iloc[:, i].tolist(), strict=True):
                    digests[topic].update(_bytes(cell, label))
        checks = {topic: digest.hexdigest()[:32] for topic, digest in zip(topics, digests, strict=True)}
        return cls(frame, tuple(topics), of_row, checks)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns besides the topic, in the order of the alphabet."""
        return sorted(str(label) for label in self.frame.columns if label != "qid")

    def rows(self, topics: Sequence[str]) -> pd.DataFrame:
        """Return the rows of some topics, in the order of the topics."""
        places = pd.Index(list(topics)).get_indexer(pd.Index(list(self.topics)))[self.of_row]
        rows = np.flatnonzero(places >= 0)
        return self.frame.iloc[rows[np.argsort(places[rows], kind="stable")]].reset_index(drop=True)


def _sized(kind: bytes, data: bytes) -> bytes:
    # so that no two cells are one when they stand one behind the other
    return kind + len(data).to_bytes(8, "little") + data


def _bytes(cell: Any, label: str) -> bytes:
    """Return what a cell holds; cells that are equal in another type of column give the same."""
    if isinstance(cell, str):
        return _sized(b"text", cell.encode("utf-8", "surrogatepass"))
    if isinstance(cell, np.ndarray):
        if cell.dtype.kind in "iufb":
            return _sized(b"array", f"{cell.dtype.str}{cell.shape}".encode() + np.ascontiguousarray(cell).tobytes())
        cell = cell.tolist()
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, list | tuple):
        return _sized(b"list", b"".join(_bytes(inner, label) for inner in cell))
    if isinstance(cell, dict):
        return _sized(b"dict", b"".join(_bytes(inner, label) for pair in cell.items() for inner in pair))
    if isinstance(cell, bytes):
        return _sized(b"bytes", cell)
    if isinstance(cell, bool | int | float) and cell == cell:
        return _sized(b"number", repr(cell).encode())
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return _sized(b"missing", b"")
    raise InputError(
        f"the column {shown(label)} holds {type(cell).__name__} values, which cannot be compared with those of a "
        "further call. Leave the column out, or do without a cache.",
        argument="topics",
    )


#: text columns keep lone surrogates, which bytes that were no UTF-8 become when they are read
_ERRORS = "surrogatepass"


def rows_of(
    notes: Mapping[str, Any], arrays: Callable[..., Sequence[NDArray]], rows: NDArray[np.bool_] | None = None
) -> pd.DataFrame:
    """Return the frame that :func:`coded_rows` coded, all of its rows or some; `arrays` gives arrays by their names."""
    kept = notes["columns"]
    series = [_column(arrays, i, kind, rows) for _, i, kind in kept]
    n = notes["rows"] if rows is None else int(rows.sum())
    # by number, since a frame may have two columns of one name
    frame = pd.DataFrame(dict(enumerate(series)), index=pd.RangeIndex(n))
    frame.columns = pd.Index([label for label, _, _ in kept], dtype=None if kept else object)
    return frame


def _column(arrays: Callable[..., Sequence[NDArray]], i: int, kind: str, rows: NDArray[np.bool_] | None) -> pd.Series:
    if kind == "number":
        (values,) = arrays(f"{i}.values")
        return pd.Series(values if rows is None else values[rows])
    codes, lengths, data = arrays(f"{i}.codes", f"{i}.lengths", f"{i}.text")
    text, ends = data.tobytes().decode("utf-8", _ERRORS), np.cumsum(lengths)
    # None stands last, where the code -1 finds it
    distinct = np.array([*map(text.__getitem__, map(slice, ends - lengths, ends)), None], dtype=object)
    cells = distinct[codes if rows is None else codes[rows]]
    # pandas' own texts are Python's before pandas 3
    return pd.Series(cells.tolist(), dtype=object if kind == "object" else pd.Series(["a"]).dtype)


def coded_rows(frame: pd.DataFrame) -> tuple[dict[str, NDArray], dict[str, Any]]:
    """Return the columns of numbers and texts of a frame: arrays of one dimension, and notes as JSON has them."""
    columns: list[list[Any]] = []
    arrays: dict[str, NDArray] = {}
    for i, label in enumerate(frame.columns):
        if isinstance(label, str) and (coded := _coded(frame.iloc[:, i])):
            columns.append([label, i, coded[0]])
            arrays |= {f"{i}.{part}": array for part, array in coded[1].items()}
    return arrays, {"columns": columns, "rows": len(frame)}


def _coded(cells: pd.Series) -> tuple[str, dict[str, NDArray]] | None:
    own, numbers = cells.astype(object), cells
    if not isinstance(cells.dtype, np.dtype) or cells.dtype == object:
        of_one_kind = pd.api.types.infer_dtype(own, skipna=False) in ("integer", "floating", "boolean")
        numbers = own.infer_objects() if of_one_kind else own
    if isinstance(numbers.dtype, np.dtype) and numbers.dtype.kind in "iufb" and numbers.dtype.itemsize <= 8:
        return "number", {"values": numbers.to_numpy()}
    missing = own.isna()
    if not all(isinstance(cell, str) for cell in own[~missing]):
        return None
    codes, distinct = pd.factorize(own.where(~missing, None))
    texts = distinct.tolist()
    data = np.frombuffer("".join(texts).encode("utf-8", _ERRORS), dtype=np.uint8)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    kind = "object" if cells.dtype == object else "text"
    return kind, {"codes": codes.astype(np.int32), "lengths": lengths, "text": data}


#: to be raised when what stands in a file, or the checksum of a topic's input, changes
FORMAT = 1
_ENDING = ".results"
_FILE = re.compile(r"(\d{6,})-[0-9a-f]{8}\.results")
_OF_ROW = "topic"
#: characters of a run's name that the name of its folder has, so that people find it
_SHOWN = 40


#: columns that a field is made of -> how a field would read them
_NEEDED: dict[str, Callable[[pd.Series], Any]] = {
    "qid": lambda cells: as_ids("qid", cells),
    "docno": lambda cells: as_ids("docno", cells),
    "score": number_column,
    "rank": number_column,
}
#: where the results of a topic are: in which file, and as which of its topics
_Place: TypeAlias = "tuple[ArrayFile, int]"


class KeptRun:
    """The results of one pipeline."""

    def __init__(self, folder: Path, name: str, steps: Sequence[str]):
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:_SHOWN].strip("-")
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self.folder, self.name, self._steps = folder / f"{readable or 'run'}-{mark}", name, list(steps)
        self._last = 0
        self._damaged: list[Path] = []
        #: topic -> checksum of its input -> where its results are; what was written later counts
        self._places: dict[str, dict[str, _Place]] = {}

    def look(self) -> None:
        """Look through the results that are kept; raise where they are of another pipeline, or of a newer version."""
        there = list(self.folder.iterdir()) if self.folder.is_dir() else []
        for path in sorted((path for path in there if _FILE.fullmatch(path.name)), key=_number):
            file, self._last = ArrayFile(path), _number(path)[0]
            try:
                notes = file.notes
            except DamagedError as error:
                self._tell_damaged(path, error)
                continue
            self._check(notes)
            for number, (topic, check) in enumerate(zip(notes["topics"], notes["checks"], strict=True)):
                self._places.setdefault(topic, {})[check] = file, number

    def _check(self, notes: dict[str, Any]) -> None:
        if notes["format"] > FORMAT:
            raise InputError(
                f"{self.folder} was written by a newer version of pt_reuse (format {notes['format']}; this one reads "
                f"{FORMAT}). Give another folder, or install a newer version.",
                argument="cache",
            )
        differ = difference(notes["steps"], self._steps)
        if differ is not None:
            raise InputError(
                f"{self.folder.parent} holds results of another pipeline as {shown(self.name)}: that one had "
                f"{shown(differ[0])}, this one has {shown(differ[1])}. Give this one another name, or give another "
                f"folder, or delete {self.folder}.",
                argument="cache",
            )

    def _tell_damaged(self, path: Path, error: DamagedError) -> None:
        warn(
            f"results of run {shown(self.name)} in {path} cannot be used: {error}. The topics in it run again when "
            "they are asked for."
        )
        # what a disk or a right keeps from being read may be whole
        if not isinstance(error.__cause__, OSError):
            self._damaged.append(path)

    def pieces(self, inputs: TopicInputs) -> Iterator[tuple[list[str], pd.DataFrame]]:
        """Yield topics whose results are here, and their rows, a file after the other."""
        of_file: dict[ArrayFile, dict[int, str]] = {}
        for topic, check in inputs.checks.items():
            if check in self._places.get(topic, {}):
                file, number = self._places[topic][check]
                of_file.setdefault(file, {})[number] = topic
        for file, topics in of_file.items():
            try:
                (of_row,) = file.read(_OF_ROW)
                rows = None if len(topics) == len(file.notes["topics"]) else np.isin(of_row, list(topics))
                found = rows_of(file.notes, file.read, rows)
            except DamagedError as error:
                self._tell_damaged(file.path, error)
                for places in self._places.values():
                    for check in [check for check, (of, _) in places.items() if of is file]:
                        del places[check]
            else:
                yield list(topics.values()), found

    def tell_other_inputs(self, inputs: TopicInputs) -> None:
        """Warn of the topics whose results are here for another input alone."""
        other = {topic: self._places[topic] for topic in inputs.topics if self._places.get(topic)}
        other = {topic: places for topic, places in other.items() if inputs.checks[topic] not in places}
        if not other:
            return
        before = next(reversed(next(iter(other.values())).values()))[0].notes["inputs"]
        columns = ""
        if before != inputs.columns:
            columns = f" (columns {examples(before, 9) or 'none'} then, {examples(inputs.columns, 9) or 'none'} now)"
        warn(
            f"run {shown(self.name)} runs again for {count(len(other), 'topic')}, {examples(other)}: what goes into it "
            f"for them is not what the results in {self.folder} were made of{columns}."
        )

    def write(self, topics: Sequence[str], inputs: TopicInputs, results: pd.DataFrame) -> pd.DataFrame:
        """Keep the results of a batch of topics, of these alone, and return them as they will be read."""
        arrays, notes = coded_rows(results)
        coded = {label for label, *_ in notes["columns"]}
        odd = [column for column in _NEEDED if column in results.columns and column not in coded]
        if odd:
            # such as names of which some are numbers
            arrays, notes = coded_rows(results.assign(**{column: _NEEDED[column](results[column]) for column in odd}))
        numbers = {topic: number for number, topic in enumerate(topics)}
        qids = results["qid"].tolist() if len(results) else []
        of_row = np.array([numbers[qid] for qid in as_ids("qid", qids)], dtype=np.int32)
        checks = [inputs.checks[topic] for topic in topics]
        notes |= {"format": FORMAT, "name": self.name, "steps": self._steps}
        notes |= {"topics": list(topics), "checks": checks, "inputs": inputs.columns}
        self.folder.mkdir(parents=True, exist_ok=True)
        self._last += 1
        file = ArrayFile(self.folder / f"{self._last:06}-{secrets.token_hex(4)}{_ENDING}")
        write_arrays(file.path, {_OF_ROW: of_row, **arrays}, notes)
        for number, (topic, check) in enumerate(zip(topics, checks, strict=True)):
            self._places.setdefault(topic, {})[check] = file, number
        return rows_of(notes, lambda *names: [arrays[name] for name in names])

    def forget_damaged(self) -> None:
        """Remove the files that could not be used, when their topics have run again."""
        while self._damaged:
            with suppress(OSError):
                self._damaged.pop().unlink()


def _number(path: Path) -> tuple[int, str]:
    return int(path.name.split("-")[0]), path.name


#: the folder of a run; and what earlier versions wrote beside them
_OF_RUN = re.compile(r"[A-Za-z0-9_-]+-[0-9a-f]{16}|pt_reuse-results\.json")
#: topics that a pipeline runs, and keeps, at once where nobody says how many
BATCH = 10


class KeptResults:
    """A folder of results, which has been looked at when this is made, and is made by :meth:`opened`."""

    def __init__(self, cache: Any):
        if not isinstance(cache, str | os.PathLike) or not str(cache) or "\0" in str(cache):
            raise InputError(f"cache must be the path of a folder, got {cache!r}.", argument="cache")
        self.folder = user_path(cache)
        if not self._holds_results():
            check_writable(self.folder, [], overwrite=True, argument="cache")

    def _holds_results(self) -> bool:
        try:
            there = sorted(os.listdir(self.folder)) if self.folder.exists() else []
        except OSError as error:
            problem = f"{self.folder} cannot be looked into: {error.strerror or error}. Give another folder."
            raise InputError(problem, argument="cache") from error
        others = [name for name in there if not is_temporary(name) and not _OF_RUN.fullmatch(name)]
        if others:
            raise InputError(
                f"{self.folder} holds other things than results of pipelines, such as {examples(others, 1)}. Give a "
                "folder of its own; it is made if missing.",
                argument="cache",
            )
        return bool(there)

    @contextmanager
    def opened(self, pipelines: Mapping[str, pt.Transformer], topics: pd.DataFrame) -> Iterator[dict[str, KeptRun]]:
        """Have the folder to oneself and return what it keeps of each pipeline."""
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
            self._holds_results()  # it may have changed since it was looked at
            version = python_version()
            runs = {name: KeptRun(self.folder, name, [*steps_of(p), version]) for name, p in pipelines.items()}
            for run in runs.values():
                sweep_temporary(run.folder)
                run.look()
            for run in runs.values():
                run.tell_other_inputs(inputs)
            yield runs

    def unwritable(self, error: OSError, name: str | None = None) -> InputError:
        """Return the error that nothing can be written here."""
        what = "the folder of results" if name is None else f"the batch of run {shown(name)} at hand"
        return InputError(
            f"{what} cannot be written to {self.folder}: {error.strerror or error}. What was kept before stays; make "
            "room or mend the folder, and call again to go on.",
            argument="cache",
        )


#: topics that an error lists
_LISTED = 10


class KeptPipeline(pt.Transformer):
    """Gives the results of a pipeline, those that are kept first, and keeps those that come."""

    def __init__(
        self,
        name: str,
        pipeline: pt.Transformer,
        results: KeptResults,
        *,
        batch_size: int | None = None,
        verbose: bool = False,
    ):
        self.name, self.pipeline, self._results = name, pipeline, results
        self._batch_size, self._verbose = batch_size or BATCH, verbose
        self.kept: KeptRun | None = None

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the results for all topics of a frame; the pipeline runs for those alone that are not kept."""
        if self.kept is None or not len(inp):  # pyterrier inspects transformers by empty frames
            return self.pipeline.transform(inp)
        inputs = TopicInputs.of(inp)
        pieces = list(self.kept.pieces(inputs))
        there = {topic for topics, _ in pieces for topic in topics}
        missing = [topic for topic in inputs.topics if topic not in there]
        progress = {"total": len(inputs.topics), "initial": len(there), "desc": self.name, "unit": "topic"}
        with pt.tqdm(**progress, leave=False, disable=not self._verbose) as bar:
            for at in range(0, len(missing), self._batch_size):
                batch = missing[at : at + self._batch_size]
                results = self._run(batch, inputs, done=len(there) + at)
                try:
                    pieces.append((batch, self.kept.write(batch, inputs, results)))
                except OSError as error:
                    raise self._results.unwritable(error, self.name) from error
                del results
                bar.update(len(batch))
        self.kept.forget_damaged()
        return _in_order([piece for _, piece in pieces], inputs)

    def _run(self, topics: Sequence[str], inputs: TopicInputs, *, done: int) -> pd.DataFrame:
        kept = f" What it gave for {count(done, 'topic')} is kept; call again to go on from there." if done else ""
        try:
            results = self.pipeline.transform(inputs.rows(topics))
        except Exception as error:  # whatever a pipeline raises
            # the text of another library may hold an address with a key
            what = str(error).rstrip(".") if isinstance(error, InputError) else type(error).__name__
            problem = f"run {shown(self.name)} failed for the topics {examples(topics, _LISTED)}: {what}.{kept}"
            raise InputError(problem, argument="pipelines") from error
        return self._checked(results, topics)

    def _checked(self, results: Any, topics: Sequence[str]) -> pd.DataFrame:
        """Return results as a frame in PyTerrier's columns; what no field takes is not kept."""
        if not isinstance(results, pd.DataFrame):
            problem = f"run {shown(self.name)} returned a {type(results).__name__} where a frame was expected."
            raise InputError(problem, argument="pipelines")
        if not len(results):
            return results
        results = in_our_columns(results)
        frame_rows(self.name, results, "trec_eval")
        asked = set(topics)
        others = [qid for qid in dict.fromkeys(as_ids("qid", results["qid"].tolist())) if qid not in asked]
        if others:
            problem = f"run {shown(self.name)} returned results of {count(len(others), 'topic')} for which it was not "
            problem += f"asked at this moment, {examples(others)}, and results are kept topic by topic. Do without "
            advice = "cache=, or pass the results as a frame."
            raise InputError(f"{problem}{advice}", argument="pipelines")
        return results

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """Return the columns that come out: those of the pipeline."""
        return pt.inspect.transformer_outputs(self.pipeline, input_columns)

    def __repr__(self) -> str:
        return repr(self.pipeline)


def _in_order(pieces: Sequence[pd.DataFrame], inputs: TopicInputs) -> pd.DataFrame:
    full = [piece for piece in pieces if len(piece)]
    if not full:
        return pieces[0]
    results = full[0] if len(full) == 1 else pd.concat(full, ignore_index=True)
    numbers = {topic: number for number, topic in enumerate(inputs.topics)}
    place = np.array([numbers[qid] for qid in as_ids("qid", results["qid"].tolist())])
    return results if (np.diff(place) >= 0).all() else results.iloc[place.argsort(kind="stable")].reset_index(drop=True)


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

    def frames(run: Callable[[str], pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from map(run, pt.tqdm(pipelines, desc="pipelines", disable=not verbose))

    if cache is None:
        yield frames(lambda name: _results(pipelines[name], topics, batch_size))
        return
    results = KeptResults(cache)
    with results.opened({str(name): pipeline for name, pipeline in pipelines.items()}, topics) as kept:

        def resumed(name: str) -> pd.DataFrame:
            pipeline = KeptPipeline(str(name), pipelines[name], results, batch_size=batch_size, verbose=verbose)
            pipeline.kept = kept[str(name)]
            return pipeline.transform(topics)

        yield frames(resumed)


def _results(pipeline: pt.Transformer, topics: pd.DataFrame, batch_size: int | None) -> pd.DataFrame:
    if batch_size is None:
        return pipeline.transform(topics)
    return pd.concat(list(pipeline.transform_gen(topics, batch_size=batch_size)), ignore_index=True)
