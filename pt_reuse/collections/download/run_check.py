"""Checks of a run file that has just arrived: is it whole, is it a run, is it a run of these topics?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, located
from pt_reuse.collections.collection import Collection
from pt_reuse.data.lines import RUN_LINE
from pt_reuse.data.packed_files import (
    DamagedFileError,
    UnreadableError,
    in_memory,
    packed_with,
    read_beginning,
    read_blocks,
)
from pt_reuse.data.trec import parse_run, without_advice

_SUFFIX = {None: "", "gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "compress": ".Z"}
SUFFIXES = tuple(_SUFFIX.values())
#: bytes of a run that are looked at together; what is made of them takes some twenty times as many
_PART = 1 << 22
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
        packed = packed_with(file.read(_HEAD))
    if packed not in _SUFFIX:
        raise InputError(f"it is packed with {packed}; expected gzip, bzip2, xz, compress, or plain text.")
    head = b""
    try:
        for block in read_blocks(path):
            head = head or block
            if packed is None:
                break
    except DamagedFileError as error:
        raise DamagedError(f"the {packed} file is cut off or damaged ({str(error.__cause__).rstrip('.')})") from None
    except UnreadableError as error:
        raise InputError(f"the file {error}.") from None
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
    with located(source), in_memory():
        seen = _look_at(path)
    tags, topics = list(seen.tags), list(seen.topics)
    # a packed file that was cut off would be damaged
    if not seen.ended and ((len(tags) > 1 and tags[0].startswith(tags[-1])) or (seen.last_is_bad and _is_plain(path))):
        raise InputError(f"{source} ends in the middle of its last line. It was cut off on its way.")
    bad = f"{source} has {count(seen.bad, 'bad line')} of {seen.bad + seen.good:,}"
    bad += f"; the first is line {seen.first_bad:,}: {seen.reason}."
    if seen.bad >= seen.good:
        raise InputError(f"{bad} Expected a run file, {RUN_LINE}.")
    others = () if collection.submitted is None else set(collection.submitted["name"])
    strange = [tag for tag in tags if tag != name and tag in others]
    if strange:
        raise InputError(f"{source} holds run {strange[0]!r} by the last column of its lines.")
    known = collection.topic_ids or collection.some_topics or frozenset(topics)
    odd = [topic for topic in topics if topic not in known]
    of = f"Expected a run of {collection.title}, with topics such as {examples(sorted(known))}."
    if len(odd) == len(topics):
        raise InputError(f"{source} has no topic of {collection.title}: its topics are {examples(odd)}. {of}")
    if odd and collection.topic_ids is not None:
        raise InputError(
            f"{source} has {count(len(odd), 'topic')} of {len(topics):,} that {collection.title} does not have: "
            f"{examples(odd)}. {of}"
        )
    if seen.bad:
        raise FaultyRunError(bad)


@dataclass
class _Looked:
    """What was seen in a file, part by part: tags and topics of its run lines, and which of its lines are none."""

    tags: dict[str, None] = dataclass_field(default_factory=dict)
    topics: dict[str, None] = dataclass_field(default_factory=dict)
    good: int = 0
    bad: int = 0
    first_bad: int = 0
    reason: str = ""
    last_is_bad: bool = False
    ended: bool = False


def _look_at(path: Path) -> _Looked:
    seen, before = _Looked(), 0
    for part in _parts(path):
        try:
            run = parse_run(part, "file", skip=True)
        except InputError as error:
            if not seen.good:
                raise without_advice(error) from None
            bad, reason, last = [n for n, line in enumerate(part.split(b"\n"), 1) if line.strip()], "no run line", True
        else:
            bad, reason = run.bad.tolist(), next(iter(run.reasons), "")
            last = part.count(b"\n") + (not part.endswith(b"\n")) in bad
            seen.tags |= dict.fromkeys(run.tags)
            seen.topics |= dict.fromkeys(run.rows.topics)
            seen.good += int(run.rows.starts[-1])
        if bad and not seen.bad:
            seen.first_bad, seen.reason = bad[0] + before, reason
        seen.bad, seen.last_is_bad = seen.bad + len(bad), last
        before += part.count(b"\n")
        seen.ended = part.endswith((b"\n", b"\r"))
    return seen


def _is_plain(path: Path) -> bool:
    with path.open("rb") as file:
        return packed_with(file.read(_HEAD)) is None


def _parts(path: Path) -> Iterator[bytes]:
    """Yield the text of a run file in parts of whole lines, the first even where it is empty."""
    waiting, size, first = [b""], 0, True
    try:
        for block in read_blocks(path):
            waiting.append(block)
            size += len(block)
            if size < _PART:
                continue
            text = b"".join(waiting)
            # a line that is longer than a part is no line of a run
            end = text.rfind(b"\n") + 1 or len(text)
            yield text[:end]
            waiting, size, first = [text[end:]], len(text) - end, False
    except UnreadableError as error:
        raise InputError(f"it {error}. Expected a run file, {RUN_LINE}.") from None
    last = b"".join(waiting)
    if first or last.strip():
        yield last


def tag_of(path: Path) -> str | None:
    """Return the tag in the first line of a run file, None where it cannot be told without reading all of it."""
    try:
        head = read_beginning(path, _HEAD)
    except UnreadableError:
        # whoever reads it says what is wrong with it
        return None
    cells = head.removeprefix(_BOM).lstrip().partition(b"\n")[0].split()
    return cells[5].decode("utf-8", "surrogateescape") if len(cells) == 6 else None
