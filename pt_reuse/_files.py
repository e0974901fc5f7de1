"""Files written by a temporary name, so that what stands under the final one is whole; and folders to oneself."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from errno import EEXIST, EILSEQ, EINVAL, ENAMETOOLONG
from pathlib import Path
from typing import IO, Any

from pt_reuse._check import examples
from pt_reuse._errors import InputError, Option

#: of files that are being written
_PREFIX = ".pt_reuse-"
#: seconds after which what lies about is taken for that of a writer that died, where no lock says so
STALE = 3600.0


class Alone(Enum):
    """Whether nobody else works in a folder."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "the system has no locks for it"


#: characters of a long name that a message shows
_SHOWN = 60
#: what a system says of a name that no file can have
_BAD_NAMES = (ENAMETOOLONG, EINVAL, EILSEQ)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place only when all was written.

    Temporary files beside it that writers of long ago left behind when they were killed are removed.
    """
    sweep_temporary(path.parent, older=STALE)
    temporary = _temporary(path.parent)
    # made by name, not by tempfile, so that it has the rights that a new file of the user's has
    with temporary.open("xb") as file:
        try:
            yield file
            file.close()
            os.replace(temporary, path)
        except BaseException:
            file.close()
            temporary.unlink(missing_ok=True)
            raise


def sweep_temporary(folder: Path, *, older: float) -> None:
    """Remove temporary files that have not been written to for some seconds; 0 where no writer can be at work."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(_PREFIX):
                with suppress(OSError):
                    if is_stale(folder / name, older):
                        os.unlink(folder / name)


def is_temporary(name: str) -> bool:
    """Return whether a file's name is one of those that are being written."""
    return name.startswith(_PREFIX)


def is_stale(path: Path, older: float) -> bool:
    """Return whether a file or folder has not been changed for some seconds.

    Raises:
        OSError: it is gone, or may not be looked at.
    """
    return older <= 0 or time.time() - path.lstat().st_mtime > older


@contextmanager
def alone(folder: Path) -> Iterator[Alone]:
    """Try to be the only one at work in a folder, without waiting, and leave no trace of it there.

    The system ends the lock with the process, however that ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows, which lets nobody move or remove a file that another has open
        yield Alone.UNKNOWN
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        answer = Alone.YES
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            answer = Alone.NO
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


def checked_path(path: Any) -> Path:
    """Return `path` as a Path, or say that it is none."""
    given = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(given, str) or not given or "\0" in given:
        raise InputError(f"expected a path to write to, got {path!r}.")
    return user_path(given)


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file or folder that a user names, with ``~`` as the home folder that a shell takes it for.

    A ``~`` whose home nobody knows stays as it is.
    """
    return Path(os.path.expanduser(path))


def check_writable(folder: Path, names: Sequence[str], *, overwrite: bool, argument: str) -> None:
    """Raise when files cannot be written to a folder, or would be replaced unasked; the disk stays as it is.

    Args:
        folder: where to; it need not exist. A file without a name is made in what there is of it, and is gone at once.
        names: of the files.
        overwrite: whether files that are there may be replaced.
        argument: the user's argument, for errors.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file. Give a folder; it is made if missing.", argument=argument)
        there = [name for name in names if (folder / name).exists()]
        folders = [name for name in there if (folder / name).is_dir()]
        if folders:
            raise InputError(
                f"{folder / folders[0]} is a folder, where a file is to be written. Give another place.",
                argument=argument,
            )
        if there and not overwrite:
            advice = Option("overwrite", True)
            raise InputError(
                f"{folder} has {examples(there)} already. Pass ", advice, " to replace them.", argument=argument
            )
        _try(folder, names)
    except UnicodeError as error:
        raise InputError(
            "a name cannot be written in the system's encoding. Give another.", argument=argument
        ) from error
    except OSError as error:
        if error.errno in _BAD_NAMES and error.filename is not None:
            place, name = os.path.split(os.fsdecode(error.filename))
            shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
            problem = f"{shown!r} cannot be the name of a file or folder in {place or '.'}: {error.strerror}."
            raise InputError(f"{problem} Give another name.", argument=argument) from error
        raise InputError(
            f"{folder} cannot be written to: {error.strerror or error}. Give a folder in which files can be made.",
            argument=argument,
        ) from error


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


def write_together(folder: Path, files: Iterable[tuple[str, bytes]], *, seal: str | None = None) -> list[Path]:
    """Write files of a folder, all or none: where one cannot be written, the folder is as it was before.

    Args:
        folder: where to; made when it does not exist.
        files: the name and the contents of each; what is there by a name is replaced.
        seal: the one that says that the others belong together, and comes last: it is not there while they change.

    Raises:
        OSError: a file could not be written.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    #: file -> what is to become it, and file -> what it was
    coming: dict[Path, Path] = {}
    before: dict[Path, Path] = {}
    placed: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files:
            path = folder / name
            coming[path] = _temporary(folder)
            with coming[path].open("xb") as file:
                file.write(data)
        for path in coming:
            if os.path.lexists(path):
                before[path] = _temporary(folder)
                _keep(path, before[path])
        if seal is not None:
            (folder / seal).unlink(missing_ok=True)
        for path, new in coming.items():
            os.replace(new, path)
            placed.append(path)
    except BaseException:
        for path in coming:
            if path in placed or not path.exists():
                path.unlink(missing_ok=True)
                if path in before:
                    _keep(before[path], path)
        _remove([*coming.values(), *before.values()])
        for path in made:
            with suppress(OSError):
                path.rmdir()
        raise
    _remove(before.values())
    return placed


def _temporary(folder: Path) -> Path:
    return folder / f"{_PREFIX}{secrets.token_hex(8)}"


def _keep(path: Path, name: Path) -> None:
    # a second name for the same file, where the file system has such
    try:
        os.link(path, name, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(path, name, follow_symlinks=False)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
