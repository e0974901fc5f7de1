"""Files written by a temporary name, so that what stands under the final one is whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EEXIST
from pathlib import Path
from typing import IO, Any

from pt_reuse._check import examples
from pt_reuse._errors import InputError, Option

#: of files that are being written
_PREFIX = ".pt_reuse-"


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place only when all was written."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def checked_path(path: Any) -> Path:
    """Return `path` as a Path, or say that it is none."""
    given = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(given, str) or not given or "\0" in given:
        raise InputError(f"expected a path to write to, got {path!r}.")
    return Path(given)


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
    except OSError as error:
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
    with tempfile.NamedTemporaryFile(dir=folder, prefix=_PREFIX):
        pass
