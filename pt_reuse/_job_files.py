"""Files for other processes of this machine, and from them: large arrays go through files, as pipes are slow."""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import tempfile
import threading
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakSet

from pt_reuse._errors import InputError
from pt_reuse._files import Alone, alone, machine
from pt_reuse._job_tasks import Outcome, Task, run_task

#: bytes from which on an array goes through the file
_LARGE = 1 << 16
#: files that are mapped at a time; each stays open, and a process may have few of them
_MOST_MAPPED = 64
_MAPPED: WeakSet[mmap.mmap] = WeakSet()
#: what the names of folders begin with; locks of another machine may not be seen from here
_PREFIX = f"pt_reuse-jobs-{machine()}-"
#: whether this worker process looks whether its caller lives, and every how many seconds
_WATCHED = threading.Event()
_SECONDS = 0.5


def temporary_folder() -> str:
    """Return the folder in which files for workers are put: the one that joblib is told, else the system's."""
    from joblib import parallel

    # what parallel_config(temp_folder=...) says; joblib has no public way to ask
    settings = getattr(getattr(parallel, "_backend", None), "config", None) or {}
    folder = settings.get("temp_folder")
    if isinstance(folder, str | os.PathLike):
        return os.path.expanduser(folder)
    return os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()


class _Folder(tempfile.TemporaryDirectory[str]):
    """A folder that its process holds a lock on; the system ends the lock with the process, however that ends."""

    def __init__(self, inside: str):
        super().__init__(prefix=_PREFIX, dir=inside, ignore_cleanup_errors=True)
        self._lock = ExitStack()
        try:
            held = self._lock.enter_context(alone(Path(self.name))) is not Alone.NO
        except FileNotFoundError:
            held = False
        #: whether nobody has swept it before it was locked
        self.is_ours = held and os.path.isdir(self.name)

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        self._lock.close()


def _sweep(inside: str) -> None:
    """Remove the folders of processes of this user that were killed, whose locks are free."""
    with suppress(OSError), os.scandir(inside) as entries:
        for entry in entries:
            with suppress(OSError):
                # where the system has no locks, nobody knows whether one is in use
                if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False) and _is_ours(entry):
                    with alone(Path(entry.path)) as whether:
                        if whether is Alone.YES:
                            shutil.rmtree(entry.path, ignore_errors=True)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()


def folder_for_jobs() -> AbstractContextManager[str]:
    """Make a folder for files for workers, which goes in the end; those that killed processes left go before.

    Raises:
        InputError: joblib's temporary folder cannot be written to.
    """
    inside = temporary_folder()
    _sweep(inside)
    try:
        while not (folder := _Folder(inside)).is_ours:
            folder.cleanup()
        return folder
    except OSError as error:
        raise InputError(
            f"the folder in which joblib puts files for workers cannot be written to: {inside} "
            f"({error.strerror or error}). Make it, or name another one with joblib.parallel_config(temp_folder=...)."
        ) from error


def folder_for_results() -> AbstractContextManager[str | None]:
    """Make a folder for the files of results, which goes in the end; None where there can be none: pipes need none."""
    try:
        return folder_for_jobs()
    except InputError:
        return nullcontext()


@dataclass(frozen=True)
class Parcel:
    """What came of a job; its large arrays are in a file.

    Attributes:
        packed: the outcome, without them.
        path: of the file.
        sizes: bytes of each array; each begins with a page of memory.
    """

    packed: bytes
    path: str
    sizes: list[int]

    def opened(self) -> Outcome[Any]:
        """Return the outcome; its large arrays are mapped, and the file goes with the last of them.

        Where many files are mapped already, the arrays are read.
        """
        data = _data_of(self.path)
        with suppress(OSError):  # Windows keeps a file that is mapped
            os.unlink(self.path)
        views, at = [], 0
        for size in self.sizes:
            views.append(data[at : at + size])
            at += _pages(size)
        outcome: Outcome[Any] = pickle.loads(self.packed, buffers=views)
        return outcome


def run_packing(task: Task[Any], folder: str | None) -> Outcome[Any] | Parcel:
    """Do a job, and return what came of it; its large arrays through a file of a folder, where there is one.

    Other parallel work inside of the job is done one at a time: the cores are those of the jobs beside it.
    """
    from joblib import parallel_config

    _end_with(task.sender.process)
    with parallel_config("threading", n_jobs=1):
        outcome = run_task(task)
    if folder is None or not isinstance(outcome.value, dict):
        return outcome
    large: list[memoryview] = []

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes >= _LARGE:
            large.append(view)
        return view.nbytes < _LARGE

    try:
        packed = pickle.dumps(outcome, protocol=5, buffer_callback=is_small)
    except Exception:  # what a script itself defines, such as a kind of warnings, loky can send and pickle cannot
        return outcome
    if not large:
        return outcome
    try:
        return Parcel(packed, _written(large, folder), [view.nbytes for view in large])
    except OSError:  # the disk is full: pipes need none
        return outcome


def _end_with(sender: int) -> None:
    """Have this worker process end when its caller does: it would wait for minutes for a job of a process that died."""
    if os.name != "posix":  # a process of Windows is told nothing of its parent
        return
    parent = os.getppid()
    if parent != sender:
        try:
            os.kill(sender, 0)
        except ProcessLookupError:
            os._exit(1)
    if _WATCHED.is_set():
        return
    _WATCHED.set()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="pt_reuse: ends with the caller").start()


def _data_of(path: str) -> memoryview:
    with open(path, "rb") as file:
        if len(_MAPPED) < _MOST_MAPPED:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            _MAPPED.add(mapped)
            return memoryview(mapped)
        data = bytearray(os.fstat(file.fileno()).st_size)
        file.readinto(data)
        return memoryview(data)


def _written(views: list[memoryview], folder: str) -> str:
    handle, path = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            for view in views:
                begin, done = file.tell(), 0
                while done < view.nbytes:
                    done += file.write(view[done:])
                file.seek(begin + _pages(view.nbytes))
    except OSError:
        os.unlink(path)
        raise
    return path


def _pages(size: int) -> int:
    return -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
