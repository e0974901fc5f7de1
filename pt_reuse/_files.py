"""Files written by a temporary name, so that what stands under the final one is whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pt_reuse._errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place only when all was written."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".pt_reuse-")
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


def checked_path(path: str | Path) -> Path:
    """Return `path` as a Path, or say that it is none."""
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise InputError(f"expected a path to write to, got {path!r}.")
    return Path(path)
