"""Journal: a file of JSON lines that only grows, of which each line is on the disk before the next step is taken."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any

from pt_reuse._check import count, listed, shown
from pt_reuse._errors import InputError, located, warn
from pt_reuse._files import open_file
from pt_reuse._version import __version__

#: of the lines themselves: to be raised when their form changes; each kind of journal has a number of its own, too
LINES = 1
#: a line: the checksum of what it holds and of the line before, and what it holds
_LINE = re.compile(rb'\{"check": "([0-9a-f]{16})", "record": (\{.*\})\}')
#: seconds between two looks whether another writer is done
_LOOK = 0.01

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Heading:
    """The first line of a journal: what it is, and what it belongs to.

    Attributes:
        kind: what is recorded, as a message says it: ``"session"``, ``"cache of labels"``.
        format: of the records of this kind; to be raised when they change.
        belongs: whatever must be the same when the journal is opened again, as JSON can hold it.
    """

    kind: str
    format: int
    belongs: Record

    def to_record(self) -> dict[str, Any]:
        """Return the heading as the first line has it."""
        return {
            "journal": LINES,
            "kind": self.kind,
            "format": self.format,
            "by": __version__,
            "belongs": json.loads(json.dumps(self.belongs)),
        }


@dataclass(frozen=True)
class Mark:
    """A place in a journal between two lines, from which on it can be read again.

    Attributes:
        end: bytes before it.
        line: lines before it.
        check: the checksum of the line before it.
        file: the number that the system gives the file, and that of its disk.
    """

    end: int = 0
    line: int = 0
    check: bytes = b""
    file: tuple[int, int] = (0, 0)

    def after(self, line: bytes, check: bytes) -> Mark:
        """Return the place behind a line that begins here."""
        return Mark(self.end + len(line), self.line + 1, check, self.file)


@dataclass(frozen=True)
class Reading:
    """What a journal holds.

    Attributes:
        heading: its first line.
        records: the others, in the order in which they were written.
        mark: behind the last whole line.
    """

    heading: Heading
    records: Sequence[dict[str, Any]]
    mark: Mark


class Journal:
    """A journal that is open for writing, by nobody else; made by :func:`open_journal`, a context manager.

    Attributes:
        path: the file.
        records: what it held when it was opened, in the order in which it was written; with a mark, what came since.
        mark: behind the last line.
    """

    def __init__(self, path: Path, handle: int, reading: Reading):
        self.path, self.records, self.mark = path, reading.records, reading.mark
        self._handle: int | None = handle
        self._process, self._one_at_a_time = os.getpid(), threading.Lock()

    def append(self, *records: Record) -> None:
        """Write records, all of them in one go; when this returns they are on the disk.

        Args:
            records: of what JSON can hold; each becomes a line.

        Raises:
            InputError: the file cannot be written to; it is then as it was before.
            ValueError: the journal is closed, or open in another process.
        """
        with self._one_at_a_time:
            if self._handle is None or self._process != os.getpid():
                raise ValueError(f"{self.path} is not open in this process")
            lines, mark = [], self.mark
            for record in records:
                line, check = _line(record, mark.check)
                mark = mark.after(line, check)
                lines.append(line)
            with located(str(self.path)):
                _write(self._handle, b"".join(lines), self.mark.end)
            self.mark = mark

    def close(self) -> None:
        """Let others write; closing again does nothing."""
        with self._one_at_a_time:
            if self._handle is not None:
                handle, self._handle = self._handle, None
                if self._process == os.getpid():
                    _unlock(handle)
                os.close(handle)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open_journal(path: Path, heading: Heading, *, since: Mark | None = None, patience: float = 0.0) -> Journal:
    """Open a journal for writing, or begin it; a last line that was not written to its end is removed.

    Args:
        path: the file; its folder is made when there is none.
        heading: what the journal must be; a new one becomes that.
        since: where an earlier look ended: what is before it is not read again, where the file is still the same one.
        patience: seconds to wait for another writer.

    Returns:
        Journal: with the records that it holds.

    Raises:
        InputError: another writer has it open; it is none, or belongs to something else; a line is damaged; it cannot
            be written to.
    """
    with located(str(path)), _of_the_system("written to"):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(handle, patience)
            status = os.fstat(handle)
            start = Mark(file=(status.st_dev, status.st_ino))
            if since is not None and since.file == start.file and since.end <= status.st_size:
                start = since
            data, first = _rest(handle, start.end), _line(heading.to_record(), b"")[0]
            if not start.line and data != first and first.startswith(data):
                # new, or a writer was killed within the first line
                _write(handle, first, 0)
                _keep_name(path)
                data = first
            reading = _parsed(data, heading, start)
            if reading.mark.end < start.end + len(data):
                os.ftruncate(handle, reading.mark.end)
            return Journal(path, handle, reading)
        except BaseException:
            _unlock(handle)
            os.close(handle)
            raise


def read_journal(path: Path, heading: Heading | None = None) -> Reading:
    """Read a journal, which somebody may be writing to; the file stays as it is.

    Args:
        path: the file.
        heading: what the journal must be; None: whatever it is, its heading says.

    Returns:
        Reading: its heading and its records, without a last line that was not written to its end.

    Raises:
        InputError: there is none, or it is none; it belongs to something else; a line is damaged.
    """
    with located(str(path)), _of_the_system("read"):
        with open_file(path) as file:
            data = file.read()
        return _parsed(data, heading, Mark())


def _parsed(data: bytes, expected: Heading | None, start: Mark) -> Reading:
    mark, records = start, []
    *lines, torn = data.split(b"\n")
    for place, line in enumerate(lines):
        found = _LINE.fullmatch(line)
        if found is None or found[1] != _check(mark.check, found[2]):
            number = mark.line + 1
            if number == 1:
                raise InputError("this is no journal of pt_reuse. Name another file or folder.", argument="path")
            if place < len(lines) - 1 or torn:
                raise InputError(
                    "the line is not as it was written, or does not follow the one before it: the file was changed or "
                    "is damaged. Take it from a copy, or remove this line and all after it.",
                    argument="path",
                    place=f"line {number:,}",
                )
            warn("the last line is damaged, and is left out.", place=f"line {number:,}")
            break
        records.append(json.loads(found[2]))
        mark = mark.after(line + b"\n", found[1])
    if start.line and expected is not None:
        return Reading(expected, records, mark)
    if not records:
        raise InputError(
            "this is no journal of pt_reuse: it has no whole line. Name another file or folder, or remove it.",
            argument="path",
        )
    return Reading(_checked_heading(records[0], expected), records[1:], mark)


def _checked_heading(found: Record, expected: Heading | None) -> Heading:
    heading = Heading(str(found.get("kind")), int(found.get("format", 0)), found.get("belongs", {}))
    if expected is not None and heading.kind != expected.kind:
        raise InputError(f"this is a {heading.kind}, no {expected.kind}. Name another file or folder.", argument="path")
    if found.get("journal") != LINES or (expected is not None and heading.format != expected.format):
        raise InputError(
            f"this was written by pt_reuse {found.get('by')}, in another format than that of this version, "
            f"{__version__}. Use that version, or begin anew in another place.",
            argument="path",
        )
    if expected is None:
        return heading
    belongs = expected.to_record()["belongs"]
    if heading.belongs != belongs:
        raise InputError(
            f"this belongs to something else: {_differences(heading.belongs, belongs)}. Give what it was begun with, "
            "or name another file or folder.",
            argument="path",
        )
    return heading


def _differences(kept: Record, now: Record) -> str:
    keys = [key for key in dict.fromkeys([*kept, *now]) if kept.get(key) != now.get(key)]
    said = [f"its {key} is {shown(kept.get(key))}, now {shown(now.get(key))}" for key in keys[:3]]
    return listed([*said, *([count(len(keys) - 3, "further difference")] if len(keys) > 3 else [])])


def _check(before: bytes, body: bytes) -> bytes:
    # with the checksum of the line before, so that a line that is gone is missed
    return blake2b(before + body, digest_size=8).hexdigest().encode("ascii")


def _line(record: Record, before: bytes) -> tuple[bytes, bytes]:
    body = json.dumps(record, allow_nan=False).encode("ascii")
    check = _check(before, body)
    return b'{"check": "%s", "record": %s}\n' % (check, body), check


def _rest(handle: int, start: int) -> bytes:
    os.lseek(handle, start, os.SEEK_SET)
    parts = []
    while part := os.read(handle, 1 << 22):
        parts.append(part)
    return b"".join(parts)


def _write(handle: int, data: bytes, end: int) -> None:
    try:
        os.ftruncate(handle, end)
        os.lseek(handle, end, os.SEEK_SET)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except BaseException as error:
        os.ftruncate(handle, end)
        if not isinstance(error, OSError):
            raise
        raise InputError(
            f"it cannot be written to: {error.strerror or error}. What it held before is kept.", argument="path"
        ) from error


def _keep_name(path: Path) -> None:
    """Bring the name of a new file onto the disk, where the system can."""
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _lock(handle: int, patience: float) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    until = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise InputError(
                    "somebody else is writing to it: another process, or an object of this one. Wait for it to end, or "
                    "close it.",
                    argument="path",
                ) from None
        except OSError:  # a file system without locks
            return
        time.sleep(_LOOK)


def _unlock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:
        return
    # closing would not do where a process that was forked meanwhile has the file open, too
    with suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def _of_the_system(doing: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            f"cannot be {doing}: {error.strerror or error}. Name another file or folder.", argument="path"
        ) from error
