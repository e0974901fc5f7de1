"""Files and folders that are written whole or not at all, whoever else is at work there."""

from __future__ import annotations

import os
import platform
import random
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from enum import Enum
from errno import EBUSY, EEXIST, EINVAL
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, TypeVar

from pt_reuse._text import shorten
from pt_reuse.errors import InputError, examples

T = TypeVar("T")
#: what begins an address; a drive has one letter
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
#: of files that are being written
_PREFIX = ".pt_reuse-"
#: such a file, or a folder of them; names of before have no machine
_TEMPORARY = re.compile(rf"{re.escape(_PREFIX)}(?:([0-9a-f]{{8}})-)?[0-9a-f]{{16}}")
#: what a temporary folder holds: new files, those they replace, the names of all while that is not done, and a file
#: that is about to take its place
UNDO, NEXT = "undo", "next"
#: a folder in it that is to take its place, with all that it holds
TREE = "tree"
_STAGED = re.compile(rf"(new|was)-\d+|{UNDO}|{NEXT}")
#: seconds after which what lies about is taken for that of a writer that died, where no lock says so
STALE = 3600.0
#: seconds between two looks whether another is done; at random, so that of several who wait each has its turn
LOOKS = (0.001, 0.01)


class Alone(Enum):
    """Whether nobody else works in a folder."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "the system has no locks for it"


_SHOWN = 200  # columns of a path that a message shows


def open_file(path: str | os.PathLike[str], *, buffering: int = -1) -> Any:
    """Open a file to be read as bytes; links are followed, and nothing but a regular file is opened."""
    return open(path, "rb", buffering=buffering, opener=_regular)


def read_file(path: Path) -> bytes:
    """Return what a file holds; see :func:`open_file`."""
    with open_file(path) as file:
        data: bytes = file.read()
    return data


def _regular(path: str, flags: int) -> int:
    # without the flag, opening a pipe, which may never end, waits until somebody writes to it
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return handle
    os.close(handle)
    raise OSError(EINVAL, "it is a pipe or a device, not a file (write what comes out of it to a file first)", path)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place only when all was written."""
    with temporary(path.parent) as written, written.open("wb") as file:
        yield file
        file.close()
        os.replace(written, path)


@contextmanager
def temporary(folder: Path, *, of_files: bool = False) -> Iterator[Path]:
    """Make a temporary file, or a folder of such, that nobody sweeps before this ends or the process does."""
    sweep_temporary(folder)
    while True:
        path = folder / f"{_PREFIX}{machine()}-{secrets.token_hex(8)}"
        # made by name, not by tempfile, so that it has the rights that a new file of the user's has
        if of_files:
            path.mkdir()
        else:
            path.open("xb").close()
        with ExitStack() as held:
            held.callback(_remove_temporary, path)
            # one who sweeps may come before the lock
            try:
                whether = held.enter_context(alone(path))
            except FileNotFoundError:
                continue
            if whether is not Alone.NO and path.exists():
                yield path
                return


def sweep_temporary(folder: Path, *, locked: bool = False) -> None:
    """Remove temporary files whose writers have ended; what one had replaced who was killed in the midst comes back."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if match := _TEMPORARY.fullmatch(name):
                with suppress(OSError):
                    _sweep(folder / name, own=match[1] == machine(), locked=locked)


def _sweep(path: Path, *, own: bool, locked: bool) -> None:
    kind = path.lstat().st_mode
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        return
    with alone(path) as whether:
        known = whether is Alone.YES and own
        if known and (path / UNDO).exists():
            with nullcontext(Alone.YES) if locked else alone(path.parent) as free:
                if free is Alone.YES:
                    undo(path)
        if known or (whether is not Alone.NO and time.time() - path.lstat().st_mtime > STALE):
            _remove_temporary(path, given_up=not known)


def undo(stage: Path) -> None:
    """Put back what new files have replaced, and remove those that replaced nothing; what came later stays."""
    for i, name in enumerate(os.fsdecode(read_file(stage / UNDO)).split("\0")):
        if Path(name).name != name or name in ("", ".."):  # one may come with somebody's folder
            continue
        path, new, before = stage.parent / name, stage / f"new-{i}", stage / f"was-{i}"
        if not new.exists() or (path.exists() and path.samefile(new)):
            if os.path.lexists(before):
                os.replace(before, path)
            else:
                path.unlink(missing_ok=True)
    (stage / UNDO).unlink()


def _remove_temporary(path: Path, *, given_up: bool = False) -> None:
    with suppress(OSError):
        if not path.is_dir():
            path.unlink(missing_ok=True)
            return
        if (path / UNDO).exists() and not given_up:
            return
        for name in os.listdir(path):
            if name == TREE:
                shutil.rmtree(path / name)
            elif _STAGED.fullmatch(name):
                (path / name).unlink(missing_ok=True)
        path.rmdir()


def machine() -> str:
    """Return a short name of this machine, by which those that share a folder are told apart."""
    return blake2b(platform.node().encode(), digest_size=4).hexdigest()


def is_temporary(name: str) -> bool:
    """Return whether a file's name is one of those that are being written."""
    return name.startswith(_PREFIX)


@contextmanager
def alone(folder: Path, *, patience: float = 0.0, reading: bool = False) -> Iterator[Alone]:
    """Try to be the only one at work in a folder, or with a file, and leave no trace of it there."""
    try:
        import fcntl
    except ImportError:  # Windows, which lets nobody move or remove a file that another has open
        yield Alone.UNKNOWN
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder that may be written to, but not listed
        yield Alone.UNKNOWN
        return
    try:
        answer, until = Alone.NO, time.monotonic() + patience
        while answer is Alone.NO:
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if reading else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                answer = Alone.YES
            except BlockingIOError:
                if time.monotonic() >= until:
                    break
                time.sleep(random.uniform(*LOOKS))
            except OSError:
                answer = Alone.UNKNOWN
        try:
            yield answer
        finally:
            if answer is Alone.YES:
                # closing would not do where a process that was forked meanwhile has the folder open, too
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def checked_path(path: Any, argument: str | None = None) -> Path:
    """Return `path` as a Path, with ``~`` as the home folder, or say that it is none."""
    given = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(given, str) or not given or "\0" in given:
        raise InputError(f"expected the path of a file or folder, got {path!r}.", argument=argument)
    return user_path(given)


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file or folder that a user names, with ``~`` as the home folder that a shell takes it for.

    A ``~`` whose home nobody knows stays as it is. An address is refused, whatever is at it: nothing is fetched.
    """
    if isinstance(path, str) and _ADDRESS.match(path):
        shown = shorten(path, _SHOWN)
        raise InputError(f"{shown!r} is an address, and files are read from the disk alone. Download it first.")
    return Path(os.path.expanduser(path))


def check_writable(folder: Path, names: Sequence[str], *, overwrite: bool, argument: str) -> None:
    """Raise when files cannot be written to a folder, or would be replaced unasked; the disk stays as it is."""
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file. Give a folder; it is made if missing.", argument=argument)
        there = [name for name in names if (folder / name).exists()]
        folders = [name for name in there if (folder / name).is_dir()]
        if folders:
            problem = f"{folder / folders[0]} is a folder, where a file is to be written. Give another place."
            raise InputError(problem, argument=argument)
        if there and not overwrite:
            problem = f"{folder} has {examples(there)} already. Pass overwrite=True to replace them."
            raise InputError(problem, argument=argument)
        _try(folder, names)
    except UnicodeError as error:
        problem = "a name cannot be written in the system's encoding. Give another."
        raise InputError(problem, argument=argument) from error
    except OSError as error:
        at = os.fsdecode(error.filename or folder)
        place = shorten(str(folder) if is_temporary(os.path.basename(at)) else at, _SHOWN)
        problem = f"{place} cannot be written: {error.strerror or error}. Give a name that can be written, or a folder."
        raise InputError(problem, argument=argument) from error


def _try(folder: Path, names: Sequence[str]) -> None:
    missing = list(names)
    while not folder.exists() and folder != folder.parent:
        if folder.is_symlink():
            raise FileExistsError(EEXIST, "it is a link that leads nowhere")
        missing.append(folder.name)
        folder = folder.parent
    for name in missing:
        # folders of other processes come and go, so none is made: of a name that cannot be one, this tells, too
        with suppress(FileNotFoundError):
            os.lstat(folder / name)
    # without a name, where the system can: so no kill can leave it behind
    with tempfile.TemporaryFile(dir=folder, prefix=_PREFIX):
        pass


#: seconds to wait for another writer of a folder, who takes as long as some files take to be renamed
PATIENCE = 60.0
#: seconds after which what is wrong is not for a writer whom no lock shows
_OVERTAKEN = 5.0


def write_together(
    folder: Path,
    files: Iterable[tuple[str, bytes]],
    *,
    overwrite: bool = True,
    outdated: Callable[[], Iterable[Path]] = tuple,
) -> list[Path]:
    """Write files of a folder, all or none: where one cannot be written, the folder is as it was before."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with temporary(folder, of_files=True) as stage:
            names: list[str] = []
            for name, data in files:
                (stage / f"new-{len(names)}").write_bytes(data)
                names.append(name)
            coming = [folder / name for name in names]
            with alone(folder, patience=PATIENCE) as whether:
                if whether is Alone.NO:
                    raise OSError(EBUSY, f"others have been at work in it for {PATIENCE:.0f} seconds")
                # of one who was killed while this one waited
                sweep_temporary(folder, locked=whether is Alone.YES)
                if not overwrite and (there := [path.name for path in coming if os.path.lexists(path)]):
                    raise FileExistsError(EEXIST, f"another call has written {examples(there)} in the meantime")
                gone = [path for path in outdated() if path not in coming]
                _place(names, stage)
                for path in gone:
                    with suppress(OSError):
                        path.unlink()
            return coming
    except BaseException:
        for path in made:
            with suppress(OSError):
                path.rmdir()
        raise


def read_together(folder: Path, read: Callable[[], T]) -> T:
    """Return what is read of a folder while nobody writes to it by :func:`write_together`."""
    until = time.monotonic() + _OVERTAKEN
    while True:
        sweep_temporary(folder)
        with alone(folder, patience=PATIENCE, reading=True):
            try:
                return read()
            except InputError:
                if time.monotonic() >= until or not any(map(is_temporary, os.listdir(folder))):
                    raise
        time.sleep(LOOKS[1])


def _place(names: Sequence[str], stage: Path) -> None:
    """Put the new files of a temporary folder in their places beside it, in order."""
    for i, name in enumerate(names):
        if os.path.lexists(path := stage.parent / name):
            # a second name for the same file, where the file system has such, and the system for what is itself a link
            try:
                os.link(path, stage / f"was-{i}", follow_symlinks=False)
            except (OSError, NotImplementedError):
                shutil.copy2(path, stage / f"was-{i}", follow_symlinks=False)
    try:
        (stage / UNDO).write_bytes(os.fsencode("\0".join(names)))
        for i, name in enumerate(names):
            # the new file keeps its name, by which it is known in its place, where a file can have two
            try:
                os.link(stage / f"new-{i}", stage / NEXT)
            except OSError:
                os.rename(stage / f"new-{i}", stage / NEXT)
            os.replace(stage / NEXT, stage.parent / name)
        (stage / UNDO).unlink()
    except BaseException:
        if (stage / UNDO).exists():
            undo(stage)
        raise
