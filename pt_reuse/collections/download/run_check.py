"""Checks of a run file that has just arrived: is it whole, is it a run, is it a run of these topics?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, located
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download.transfer import BrokenOffError
from pt_reuse.data.lines import RUN_LINE
from pt_reuse.data.packed_files import (
    DamagedFileError,
    UnreadableError,
    in_memory,
    packed_with,
    read_beginning,
    read_blocks,
)
from pt_reuse.data.run_parts import RunParts
from pt_reuse.data.trec import without_advice

_SUFFIX = {None: "", "gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "compress": ".Z"}
SUFFIXES = tuple(_SUFFIX.values())
#: bytes of a run that are looked at together; what is made of them takes some twenty times as many
_PART = 1 << 22
_HEAD = 1 << 14
_BOM = b"\xef\xbb\xbf"


class FaultyRunError(InputError):
    """A run with lines that are no run line, which can be read without them; the message says how many."""


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
        for part in _parts(path):
            seen._add(part, before)
            before += part.count(b"\n")
        return seen

    def _add(self, part: bytes, before: int) -> None:
        try:
            run = RunParts(lambda: iter([part]), "file", skip=True)
            topics = [topic for rows in run.read() for topic in rows.topics]
        except InputError as error:
            if not self.good:
                raise without_advice(error) from None
            bad, reason, self.last_is_bad = _filled(part), "no run line", True
        else:
            bad, reason = [line for lines in run.bad for line in lines.tolist()], next(iter(run.reasons), "")
            self.last_is_bad = part.count(b"\n") + (not part.endswith(b"\n")) in bad
            self.tags |= dict.fromkeys(run.tags)
            self.topics |= dict.fromkeys(topics)
            self.good += run.n_rows
        if bad and not self.bad:
            self.first_bad, self.reason = bad[0] + before, reason
        self.bad += len(bad)
        self.ended = part.endswith((b"\n", b"\r"))


def _filled(part: bytes) -> list[int]:
    return [n for n, line in enumerate(part.split(b"\n"), 1) if line.strip()]


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
