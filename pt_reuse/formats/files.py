"""Files that may be compressed, read whole."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: first bytes of a compressed file -> the format's name
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"\x1f\x9d": "compress",
}
#: format -> the package that reads it, where the two have different names
_PACKAGE = {"compress": "unlzw3"}
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")  # what follows BZh and a digit; a topic may be called BZh9
_BOM = b"\xef\xbb\xbf"


class UnreadableError(Exception):
    """A file that cannot be read or unpacked; the message is a clause that follows the file's name."""


def read_bytes(path: Path) -> bytes:
    """Return the contents of a file, unpacked as its first bytes say."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    except MemoryError as error:
        raise UnreadableError("does not fit in memory") from error
    packed = packed_with(raw)
    return raw if packed is None else _unpack(raw, packed)


def packed_with(raw: bytes) -> str | None:
    """Return the name of the format that the first bytes tell, None for plain bytes."""
    for magic, name in MAGIC.items():
        if raw.startswith(magic):
            return name if name != "bzip2" or raw[4:10] in _BZIP2_BLOCKS else None
    return None


def guarded(text: bytes) -> bytes:
    """Put a byte order mark before a text that would be taken for a packed one, or that would lose its own mark."""
    return _BOM + text if text.startswith((_BOM, *MAGIC)) else text


def _unpack(raw: bytes, name: str) -> bytes:
    try:
        if name == "gzip":
            return _gunzip(raw)
        if name == "bzip2":
            return _each_stream(raw, bz2.BZ2Decompressor)
        if name == "xz":
            return _each_stream(raw, lzma.LZMADecompressor)
        if name == "lz4":
            import lz4.frame

            return _each_stream(raw, lz4.frame.LZ4FrameDecompressor)
        if name == "compress":
            from unlzw3 import unlzw

            return bytes(unlzw(raw))
        import zstandard

        return _each_stream(raw, zstandard.ZstdDecompressor().decompressobj)
    except ImportError as error:
        package = _PACKAGE.get(name, name)
        raise UnreadableError(f"is packed with {name}; reading it needs `pip install {package}`") from error
    except MemoryError as error:
        raise UnreadableError(f"is a damaged {name} file, or does not fit in memory") from error
    except Exception as error:
        # each library has classes of its own for what it finds wrong; all of them mean that the file cannot be used
        raise UnreadableError(f"is a damaged or truncated {name} file ({error})") from error


def _each_stream(raw: bytes, decompressor: Callable[[], Any]) -> bytes:
    # the convenience functions of these modules pass over what is wrong behind the first stream
    parts = []
    while raw:
        stream = decompressor()
        parts.append(stream.decompress(raw))
        if not stream.eof:
            raise EOFError("it ends before its end mark")
        rest = stream.unused_data or b""
        raw = rest.lstrip(b"\0")  # xz pads with zeros
    return b"".join(parts)


def _gunzip(raw: bytes) -> bytes:
    try:
        from isal import igzip
    except ImportError:
        return gzip.decompress(raw)
    return bytes(igzip.decompress(raw))
