"""Run files from where they are published into a folder: each is checked before it gets its name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

import pyterrier as pt

from pt_reuse._check import count, examples
from pt_reuse._files import Alone, alone
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download.transfer import BrokenOffError, Transfer, TransferError
from pt_reuse.data.lines import RUN_LINE, RunParts
from pt_reuse.data.packed_files import (
    DamagedFileError,
    UnreadableError,
    chunks_of_lines,
    in_memory,
    packed_with,
    read_beginning,
    read_blocks,
)
from pt_reuse.data.trec import without_advice
from pt_reuse.errors import InputError, located

_T = TypeVar("_T")
#: raises where a file is not the run of a name
Check: TypeAlias = Callable[[str, Path], None]
_SUFFIX = {None: "", "gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "compress": ".Z"}
PARTIAL_FOLDER = ".partial"
#: for runs with bad lines: where nothing else takes them for runs
FAULTY_FOLDER = "faulty"
#: bytes of a run that are looked at together, what is made of them takes some twenty times as many; and of a line
_PART, _LONGEST_LINE = 1 << 22, 1 << 22
_HEAD = 1 << 14
_BOM = b"\xef\xbb\xbf"
_LONGEST_NAME = 200  # bytes; file systems take 255, and a beginning and an end are added
_PACKED = (".gz", ".bz2", ".xz", ".lz4", ".zst", ".z")
_PATIENCE = 2.0  # seconds that ctrl-C waits for what is under way to end


class FaultyRunError(InputError):
    """A run with lines that are no run line, which can be read without them; the message says how many."""


class FolderInUseError(InputError):
    """Another process is downloading into the folder now."""


@dataclass(frozen=True)
class FaultyFile:
    """A run that is none in the strict sense: where it was kept aside, and what is wrong with it, a sentence."""

    path: Path
    fault: str


@dataclass
class Fetched:
    """What came of runs: name -> its file, why it is not there, or its file that was kept aside."""

    files: dict[str, Path] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    faulty: dict[str, FaultyFile] = field(default_factory=dict)

    def __or__(self, other: Fetched) -> Fetched:
        return Fetched(self.files | other.files, self.failed | other.failed, self.faulty | other.faulty)


def file_names(name: str) -> list[str]:
    """Return the names that the downloaded file of a run may have."""
    return [f"input.{name}{suffix}" for suffix in _SUFFIX.values()]


# ---- is it whole, is it a run, is it a run of these topics?


def _packing(path: Path) -> str | None:
    with path.open("rb") as file:
        return packed_with(file.read(_HEAD))


def whole_file_suffix(path: Path) -> str:
    """Read a file to its end and return the suffix its name should have; a damaged one is a BrokenOffError."""
    packed = _packing(path)
    if packed not in _SUFFIX:
        raise InputError(f"it is packed with {packed}; expected gzip, bzip2, xz, compress, or plain text.")
    head = b""
    try:
        for block in read_blocks(path):
            head = head or block
            if packed is None:
                break
    except DamagedFileError as error:
        raise BrokenOffError(f"the {packed} file is cut off or damaged ({str(error.__cause__).rstrip('.')})") from None
    except UnreadableError as error:
        raise InputError(f"the file {error}.") from None
    if not head:
        raise InputError("the file is empty.")
    if head.removeprefix(_BOM).lstrip().startswith(b"<"):
        raise InputError(
            "it begins like a web page (HTML or XML), not like a run. Is a login needed, or has the file moved?"
        )
    return _SUFFIX[packed]


def check_run_file(name: str, path: Path, collection: Collection) -> None:
    """Raise unless a file, packed or not, is the run of a name, with topics of the collection."""
    source = f"the file of run {name!r}"
    with located(source), in_memory():
        seen = _Lines.of(path)
    tags, topics = list(seen.tags), list(seen.topics)
    # a packed file that was cut off would be damaged
    is_cut = (len(tags) > 1 and tags[0].startswith(tags[-1])) or (seen.last_is_bad and _packing(path) is None)
    if is_cut and not seen.ended:
        raise InputError(f"{source} ends in the middle of its last line. It was cut off on its way.")
    bad = f"{source} has {count(seen.bad, 'bad line')} of {seen.bad + seen.good:,}"
    bad += f"; the first is line {seen.first_bad:,}: {seen.reason}."
    if seen.bad >= seen.good:
        raise InputError(f"{bad} Expected a run file, {RUN_LINE}.")
    others = () if collection.submitted is None else set(collection.submitted["name"])
    other = next((tag for tag in tags if tag != name and tag in others), None)
    if other is not None:
        raise InputError(f"{source} holds run {other!r} by the last column of its lines.")
    known = collection.topic_ids or collection.some_topics or frozenset(topics)
    odd = [topic for topic in topics if topic not in known]
    # of a collection of which some topics are known a run has others, too
    if len(odd) == len(topics) or (odd and collection.topic_ids is not None):
        raise InputError(
            f"{source} has {count(len(odd), 'topic')} of {len(topics):,} that {collection.title} does not have: "
            f"{examples(odd)}. Expected topics such as {examples(sorted(known))}."
        )
    if seen.bad:
        raise FaultyRunError(bad)


@dataclass
class _Lines:
    """What stands in a file: tags and topics of its run lines, and which of its lines are none."""

    tags: dict[str, None] = field(default_factory=dict)
    topics: dict[str, None] = field(default_factory=dict)
    good: int = 0
    bad: int = 0
    first_bad: int = 0
    reason: str = ""
    last_is_bad: bool = False
    ended: bool = False

    @classmethod
    def of(cls, path: Path) -> _Lines:
        seen, before = cls(), 0
        try:
            parts = chunks_of_lines(path, _PART, _LONGEST_LINE)
            part: bytes | None = next(parts, b"")
            while part is not None:
                if not before or part.strip():
                    seen._add(part, before)
                before += part.count(b"\n")
                part = next(parts, None)
        except UnreadableError as error:
            raise InputError(f"it {error}. Expected a run file, {RUN_LINE}.") from None
        return seen

    def _add(self, part: bytes, before: int) -> None:
        try:
            run = RunParts(lambda: iter([part]), "file", skip=True)
            topics = [topic for rows in run.read() for topic in rows.topics]
        except InputError as error:
            if not self.good:
                raise without_advice(error) from None
            bad = [n for n, line in enumerate(part.split(b"\n"), 1) if line.strip()]
            reason, self.last_is_bad = "no run line", True
        else:
            bad, reason = run.bad, next(iter(run.reasons), "")
            self.last_is_bad = part.count(b"\n") + (not part.endswith(b"\n")) in bad
            self.tags |= dict.fromkeys(run.tags)
            self.topics |= dict.fromkeys(topics)
            self.good += run.n_rows
        if bad and not self.bad:
            self.first_bad, self.reason = bad[0] + before, reason
        self.bad += len(bad)
        self.ended = part.endswith((b"\n", b"\r"))


def tag_of(path: Path) -> str | None:
    """Return the tag in the first line of a run file, None where it cannot be told without reading all of it."""
    try:
        head = read_beginning(path, _HEAD)
    except UnreadableError:
        # whoever reads it says what is wrong with it
        return None
    cells = head.removeprefix(_BOM).lstrip().partition(b"\n")[0].split()
    return cells[5].decode("utf-8", "surrogateescape") if len(cells) == 6 else None


# ---- into the folder


def fetch_runs(
    wanted: Mapping[str, str],
    folder: str | Path,
    *,
    check: Check,
    n_jobs: int = 8,
    timeout: float = 30,
    tries: int = 3,
    verbose: bool = False,
) -> Fetched:
    """Download run files (name -> URL) into a folder; every name comes back with its file, or why there is none."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            transfer = Transfer(timeout=timeout, tries=tries, connections=n_jobs)
            return _fetch_all(wanted, folder, check, transfer, verbose)
    except OSError as error:
        why = "it is a file" if isinstance(error, FileExistsError) else error.strerror or type(error).__name__
        raise InputError(
            f"{error.filename or folder} cannot be used ({why}). Give a folder that can be written to."
        ) from None


def _fetch_all(wanted: Mapping[str, str], folder: Path, check: Check, transfer: Transfer, verbose: bool) -> Fetched:
    found, to_do = _there(wanted, folder)
    pool = ThreadPoolExecutor(transfer.connections, thread_name_prefix="fetch_runs")
    futures: list[Future[Fetched]] = []
    with pt.tqdm(total=len(to_do), desc="downloading runs", unit="run", disable=not verbose) as bar:
        try:
            for name in to_do:
                futures.append(pool.submit(_fetch, name, wanted[name], folder, check, transfer))
            for future in as_completed(futures):
                found |= future.result()
                bar.update(1)
        finally:
            # after ctrl-C or an error in `check` what has not begun is not begun, and what is under way ends
            pool.shutdown(wait=False, cancel_futures=True)
            transfer.close()
            wait([future for future in futures if not future.cancelled()], timeout=_PATIENCE)
    return Fetched(_in_order(found.files, wanted), _in_order(found.failed, wanted), _in_order(found.faulty, wanted))


def _in_order(part: Mapping[str, _T], names: Iterable[str]) -> dict[str, _T]:
    return {name: part[name] for name in names if name in part}


def _fetch(name: str, url: str, folder: Path, check: Check, transfer: Transfer) -> Fetched:
    arriving = folder / PARTIAL_FOLDER / name
    try:
        suffix = transfer.fetch(url, arriving, whole_file_suffix)
        file_name = f"input.{name}{suffix}"
        try:
            check(name, arriving)
        except FaultyRunError as error:
            aside = folder / FAULTY_FOLDER
            aside.mkdir(exist_ok=True)
            _place(arriving, aside / file_name, transfer)
            return Fetched(faulty={name: FaultyFile(aside / file_name, str(error))})
        _place(arriving, folder / file_name, transfer)
        return Fetched(files={name: folder / file_name})
    except TransferError as error:
        why = str(error)
    except InputError as error:
        why = f"what arrived is not the run and was removed: {error}"
    except OSError as error:
        why = f"it cannot be stored: {error.strerror or type(error).__name__}."
    finally:
        with suppress(OSError):
            arriving.unlink(missing_ok=True)
    return Fetched(failed={name: transfer.hide(why)})


def _place(arrived: Path, path: Path, transfer: Transfer) -> None:
    with arrived.open("rb+") as file:
        os.fsync(file.fileno())
    transfer.raise_if_stopped()
    if os.path.lexists(path):
        raise TransferError(f"{path.name} has appeared in the meantime and was left as it is.")
    os.replace(arrived, path)


def _there(wanted: Iterable[str], folder: Path) -> tuple[Fetched, list[str]]:
    """Return the files that are in the folder and why some cannot be had, and the names that are to be fetched."""
    # names are compared as they are listed: a file system may not tell upper from lower case, but runs do
    listed, folds = set(os.listdir(folder)), _folds_case(folder)
    taken = {name.casefold() for name in listed}
    found = Fetched()
    to_do: list[str] = []
    for name in wanted:
        names = file_names(name)
        there = next((folder / file for file in names if file in listed), None)
        if not _is_safe(name):
            found.failed[name] = (
                "the name cannot be that of a file: it is empty, too long, or has characters that lead astray."
            )
        elif there is not None and there.is_file():
            found.files[name] = there
        elif there is not None:
            found.failed[name] = f"{there.name} is in the folder already but is no file. Move it away."
        elif folds and any(file.casefold() in taken for file in names):
            found.failed[name] = (
                "this file system does not tell upper from lower case, and another run's file would have the same "
                "name. Use a folder on one that does."
            )
        else:
            to_do.append(name)
            taken |= {file.casefold() for file in names}
    return found, to_do


def _folds_case(folder: Path) -> bool:
    return (folder / PARTIAL_FOLDER.upper()).exists()


def _is_safe(name: str) -> bool:
    """Return whether a name, which may be anybody's, neither leads out of the folder nor hides a file."""
    odd = any(letter in "/\\:" or letter.isspace() or not letter.isprintable() for letter in name)
    is_long = len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME
    return not (name in ("", ".", "..") or name.startswith("~") or odd or is_long or name.lower().endswith(_PACKED))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    # two at once in one folder would write to the same files
    partial = folder / PARTIAL_FOLDER
    with alone(folder) as whether:
        if whether is Alone.NO:
            raise FolderInUseError(f"another call is downloading into {folder} now. Wait until it has ended.")
        if whether is Alone.YES:
            shutil.rmtree(partial, ignore_errors=True)  # what a call that was killed left
        partial.mkdir(exist_ok=True)
        try:
            yield
        finally:
            with suppress(OSError):
                partial.rmdir()


def sweep_downloads(folder: Path) -> None:
    """Remove what a call that was killed left in a folder that has all its runs."""
    if (folder / PARTIAL_FOLDER).is_dir():
        with suppress(OSError, FolderInUseError), _alone(folder):
            pass


def kept_aside(folder: Path, names: Iterable[str], check: Check) -> Fetched:
    """Return what there is of runs that were kept aside: mended meanwhile, still faulty, or no runs any more."""
    aside, found = folder / FAULTY_FOLDER, Fetched()
    there = set(os.listdir(aside)) if aside.is_dir() else set()
    for name in names:
        path = next((aside / file for file in file_names(name) if file in there), None)
        if path is None:
            continue
        try:
            check(name, path)
            found.files[name] = path
        except FaultyRunError as error:
            found.faulty[name] = FaultyFile(path, str(error))
        except InputError as error:
            why = str(error)
            found.failed[name] = f"{path}, which was kept aside: {why} Delete it to have it fetched again."
    return found
