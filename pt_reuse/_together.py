"""Files of a folder that belong together: written and read all or none, whoever else is at work there."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from errno import EBUSY, EEXIST
from pathlib import Path
from typing import TypeVar

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse._files import LOOKS, NEXT, UNDO, Alone, alone, is_temporary, sweep_temporary, temporary, undo

T = TypeVar("T")
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
    """Write files of a folder, all or none: where one cannot be written, the folder is as it was before.

    Of several calls for one folder each waits for the other, as do those who read it by :func:`read_together`. What one
    did that was killed is undone by the next.

    Args:
        folder: where to; made when it does not exist.
        files: the name and the contents of each, in the order in which they take their places; what is there by a name
            is replaced.
        overwrite: whether what has come to be there by then may be replaced.
        outdated: gives files of the folder that are of no use when these are there, and go.

    Raises:
        OSError: a file could not be written.
    """
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
    """Return what is read of a folder while nobody writes to it by :func:`write_together`.

    What one did who was killed while it wrote is undone. What is found wrong is looked at again as long as somebody
    seems to write, for the system may have no locks.

    Raises:
        InputError: as `read` does.
    """
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
        if os.path.lexists(stage.parent / name):
            _keep(stage.parent / name, stage / f"was-{i}")
    try:
        (stage / UNDO).write_bytes(os.fsencode("\0".join(names)))
        for i, name in enumerate(names):
            # the new file keeps its name, by which it is known in its place, where a file can have two
            try:
                os.link(stage / f"new-{i}", stage / NEXT)
            except (OSError, NotImplementedError):
                os.rename(stage / f"new-{i}", stage / NEXT)
            os.replace(stage / NEXT, stage.parent / name)
        (stage / UNDO).unlink()
    except BaseException:
        if (stage / UNDO).exists():
            undo(stage)
        raise


def _keep(path: Path, name: Path) -> None:
    # a second name for the same file, where the file system has such
    try:
        os.link(path, name, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(path, name, follow_symlinks=False)
