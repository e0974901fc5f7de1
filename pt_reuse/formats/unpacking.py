"""Packed bytes in, blocks of unpacked bytes out: one step at a time, so that whoever asks may stop."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from pt_reuse.formats import lzw

#: bytes of the largest block that is unpacked at once, about
STEP = 1 << 20
#: what one kibibyte holds at most is unpacked at once, since zstandard's library knows no other bound
_ZSTANDARD_STEP = 1 << 10


class Decompressor(Protocol):
    """What unpacks one stream, as the classes of :mod:`bz2` and :mod:`lzma` do."""

    @property
    def eof(self) -> bool:
        """Whether the end mark was reached."""

    @property
    def needs_input(self) -> bool:
        """Whether all that was given is unpacked."""

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the end mark."""

    def decompress(self, data: bytes | memoryview, max_length: int) -> bytes:
        """Return at most so many bytes; what else there is comes with the next call."""


def unpack(chunks: Iterator[bytes] | Iterator[memoryview], packed: str, step: int = STEP) -> Iterator[bytes]:
    """Yield what a packed file holds, in blocks; streams one behind the other are one text.

    Args:
        chunks: the packed bytes.
        packed: ``"gzip"``, ``"bzip2"``, ``"xz"``, ``"lz4"``, ``"zstandard"`` or ``"compress"``.
        step: bytes of the largest block, about; zstandard's and compress's have the size that they have.

    Raises:
        ImportError: the format's library is not installed.
        Exception: of a class of the library's, where the bytes are damaged; EOFError where they end too early.
    """
    if packed == "compress":
        return lzw.unpack(b"".join(chunks))
    return _each_stream(chunks, _decompressor(packed), step)


def _decompressor(packed: str) -> Callable[[], Decompressor]:
    made: Callable[[], Any]
    if packed == "gzip":
        made = _gzip()
    elif packed == "bzip2":
        made = bz2.BZ2Decompressor
    elif packed == "xz":
        made = lzma.LZMADecompressor
    elif packed == "lz4":
        import lz4.frame

        made = lz4.frame.LZ4FrameDecompressor
    else:
        import zstandard

        made = lambda: _Zstandard(zstandard.ZstdDecompressor().decompressobj())  # noqa: E731
    return made


def _gzip() -> Callable[[], Any]:
    try:
        from isal import igzip_lib
    except ImportError:
        return _Gzip
    return lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def _each_stream(
    chunks: Iterator[bytes] | Iterator[memoryview], made: Callable[[], Decompressor], step: int
) -> Iterator[bytes]:
    # the convenience functions of these modules pass over what is wrong behind the first stream
    rest: bytes | memoryview = next(chunks, b"")
    while rest:
        stream = made()
        while True:
            yield stream.decompress(rest, step)
            if stream.eof:
                break
            rest = b""
            if stream.needs_input and not (rest := next(chunks, b"")):
                raise EOFError("it ends before its end mark")
        # streams may be padded with zeros
        behind = (stream.unused_data or b"").lstrip(b"\0")
        while not behind and (more := next(chunks, b"")):
            behind = bytes(more).lstrip(b"\0")
        rest = behind


class _Gzip:
    """One member of a gzip file, unpacked by Python's own library."""

    def __init__(self) -> None:
        self._stream, self._full = zlib.decompressobj(wbits=31), False

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail and not self._full

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes | memoryview, max_length: int) -> bytes:
        found = self._stream.decompress(data or self._stream.unconsumed_tail, max_length)
        self._full = len(found) == max_length
        return found


class _Zstandard:
    """One frame of a zstandard file."""

    def __init__(self, stream: Any):
        self._stream, self._waiting = stream, memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data) + bytes(self._waiting)

    def decompress(self, data: bytes | memoryview, max_length: int) -> bytes:
        self._waiting = memoryview(data) if data else self._waiting
        given, self._waiting = self._waiting[:_ZSTANDARD_STEP], self._waiting[_ZSTANDARD_STEP:]
        return bytes(self._stream.decompress(given))
