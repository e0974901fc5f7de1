"""Checks of a run file that has just arrived: is it whole, is it a run, is it a run of these topics?"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from typing import Any

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, located
from pt_reuse.collections.collection import Collection
from pt_reuse.formats.files import UnreadableError, packed_with, read_bytes
from pt_reuse.formats.trec import RUN_LINE, RunFile, parse_run

#: bytes of the largest text that is unpacked to look at it
MOST_UNPACKED = 4 * 10**9
_OPEN: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_SUFFIX = {None: "", "gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "compress": ".Z"}
SUFFIXES = tuple(_SUFFIX.values())
_BLOCK = 1 << 20
_HEAD = 1 << 14
_BOM = b"\xef\xbb\xbf"


class DamagedError(Exception):
    """A file that was cut off or altered on its way; the message is a clause. To ask again may help."""


def whole_file_suffix(path: Path) -> str:
    """Read a file to its end and return the suffix its name should have: ``""``, ``.gz``, ``.bz2``, ``.xz``, ``.Z``.

    Raises:
        DamagedError: a packed file that ends early or whose checksum is wrong.
        InputError: what cannot be a run: nothing, a web page, a text that unpacks without end.
    """
    with path.open("rb") as file:
        head = file.read(_BLOCK)
    packed = packed_with(head)
    if packed not in _SUFFIX:
        raise InputError(f"it is packed with {packed}; expected gzip, bzip2, xz, compress, or plain text.")
    if packed == "compress":
        head = _unpacked(path)[:_BLOCK]
    elif packed is not None:
        head = _beginning(path, packed)
    if not head:
        raise InputError("the file is empty.")
    if head.removeprefix(_BOM).lstrip().startswith(b"<"):
        raise InputError(
            "it begins like a web page (HTML or XML), not like a run. Is a login needed, or has the file moved?"
        )
    return _SUFFIX[packed]


class FaultyRunError(InputError):
    """A run with lines that are no run line, which can be read without them; the message says how many."""


def check_run_file(name: str, path: Path, collection: Collection) -> None:
    """Raise unless a file, packed or not, is the run of a name, with topics of the collection.

    A plain text that was cut off between two lines cannot be told from a whole one.

    Raises:
        FaultyRunError: it is the run, but not in the strict sense: some of its lines are no run line.
        InputError: the file is no run file, its last line is cut off, it is another run, or it has other topics.
    """
    source = f"the file of run {name!r}"
    try:
        data = read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{source} {error}. Expected a run file, {RUN_LINE}.") from None
    with located(source):
        run, fault = _parsed(data)
    tags, rows = run.tags, run.rows
    ended = data.endswith((b"\n", b"\r"))
    if not ended and len(tags) > 1 and next(iter(tags)).startswith(list(tags)[-1]):
        raise InputError(f"{source} ends in the middle of its last line. It was cut off on its way.")
    if not ended and fault is not None and data.count(b"\n") + 1 in run.bad and _is_plain(path):
        # a packed file that was cut off would be damaged
        raise InputError(fault, " That line is the last, and does not end: the file was cut off on its way.")
    others = () if collection.submitted is None else set(collection.submitted["name"])
    strange = [tag for tag in tags if tag != name and tag in others]
    if strange:
        raise InputError(f"{source} holds run {strange[0]!r} by the last column of its lines.")
    known = collection.topic_ids or collection.some_topics or frozenset(rows.topics)
    odd = [topic for topic in rows.topics if topic not in known]
    of = f"Expected a run of {collection.title}, with topics such as {examples(sorted(known))}."
    if len(odd) == len(rows.topics):
        raise InputError(f"{source} has no topic of {collection.title}: its topics are {examples(odd)}. {of}")
    if odd and collection.topic_ids is not None:
        raise InputError(
            f"{source} has {count(len(odd), 'topic')} of {len(rows.topics):,} that {collection.title} does not have: "
            f"{examples(odd)}. {of}"
        )

    if fault is not None:
        first = f"the first is line {int(run.bad[0]):,}: {run.reasons[0]}"
        raise FaultyRunError(f"{source} has {count(len(run.bad), 'bad line')} of {_lines(run):,}; {first}.")


def _parsed(data: bytes) -> tuple[RunFile, InputError | None]:
    """Return a file as read, and what is wrong with it; raise where most of its lines are no run line."""
    try:
        return parse_run(data, "file"), None
    except InputError as fault:
        run = parse_run(data, "file", skip=True)
        if len(run.bad) >= int(run.rows.starts[-1]):
            raise
        return run, fault


def _lines(run: RunFile) -> int:
    return len(run.bad) + int(run.rows.starts[-1])


def _is_plain(path: Path) -> bool:
    with path.open("rb") as file:
        return packed_with(file.read(_HEAD)) is None


def _beginning(path: Path, packed: str) -> bytes:
    # the first block, returned only when the whole file was read: nothing is said of a file that was cut short
    first, size = b"", 0
    try:
        with _OPEN[packed](path, "rb") as file:
            while size <= MOST_UNPACKED and (block := bytes(file.read(_BLOCK))):
                first, size = first or block, size + len(block)
    except (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise DamagedError(f"the {packed} file is cut off or damaged ({str(error).rstrip('.')})") from None
    if size > MOST_UNPACKED:
        raise InputError(f"it unpacks to more than {MOST_UNPACKED:,} bytes; no run is that long.")
    return first


def _unpacked(path: Path) -> bytes:
    # what Unix compress wrote, as some runs of 1995 are published; it has no checksum and cannot be read in parts
    try:
        import unlzw3  # noqa: F401
    except ImportError:
        raise InputError("it is packed with compress; reading it needs `pip install unlzw3`.") from None
    try:
        return read_bytes(path)
    except UnreadableError as error:
        raise DamagedError(f"the file {error}") from None


def tag_of(path: Path) -> str | None:
    """Return the tag in the first line of a run file, None where it cannot be told without reading all of it."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        packed = packed_with(head)
        if packed is not None and packed not in _OPEN:
            return None
        if packed is not None:
            with _OPEN[packed](path, "rb") as file:
                head = file.read(_HEAD)
    except (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError):
        # whoever reads it says what is wrong with it
        return None
    cells = head.removeprefix(_BOM).lstrip().partition(b"\n")[0].split()
    return cells[5].decode("utf-8", "surrogateescape") if len(cells) == 6 else None
