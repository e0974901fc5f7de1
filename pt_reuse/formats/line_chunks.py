"""A file in chunks of whole lines, unpacked as its first bytes say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pt_reuse._errors import InputError
from pt_reuse.formats.files import read_blocks


def chunks_of_lines(path: Path, size: int, most: int, begin: int = 0) -> Iterator[bytes]:
    """Yield a file in chunks that end with a line's end, but for the last one.

    Args:
        path: the file.
        size: bytes of a chunk, about.
        most: bytes of the longest line that is read.
        begin: the byte with which to begin, of a file that is not packed.

    Raises:
        UnreadableError: as :func:`read_bytes`; the chunks before it have been seen.
        InputError: a line that is too long.
    """
    held: list[bytes] = []
    n = 0
    for block in read_blocks(path, max(1, size // 4), begin):
        held.append(block)
        n += len(block)
        if n < size:
            continue
        cut = block.rfind(b"\n") + 1
        if cut:
            held[-1] = block[:cut]
            yield b"".join(held)
            held, n = [block[cut:]], len(block) - cut
        elif n > most:
            raise InputError(
                f"a line of more than {most:,} bytes, which is more than is read of a line at once. Is this a run file?"
            )
    if n:
        yield b"".join(held)


def pieces_of_lines(data: bytes, size: int) -> Iterator[bytes]:
    """Yield a text in pieces of about so many bytes that end with a line's end, but for the last one."""
    first = 0
    while first < len(data):
        end = data.find(b"\n", min(first + size, len(data)) - 1) + 1 or len(data)
        yield data[first:end]
        first = end
