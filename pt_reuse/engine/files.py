"""Files that may be compressed: read whole, write by a temporary name."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

#: first bytes of a compressed file -> the format's name
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x28\xb5\x2f\xfd": "zstandard",
}


class UnreadableError(Exception):
    """A file that cannot be read or unpacked; the message is a clause that follows the file's name."""


def read_bytes(path: Path) -> bytes:
    """Return the contents of a file, unpacked as its first bytes say."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    for magic, name in MAGIC.items():
        if raw.startswith(magic):
            return _unpack(raw, name)
    return raw


def _unpack(raw: bytes, name: str) -> bytes:
    try:
        if name == "gzip":
            return _gunzip(raw)
        if name == "bzip2":
            return bz2.decompress(raw)
        if name == "xz":
            return lzma.decompress(raw)
        if name == "lz4":
            import lz4.frame

            return bytes(lz4.frame.decompress(raw))
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as stream:
            return bytes(stream.read())
    except ImportError as error:
        raise UnreadableError(f"is packed with {name}; reading it needs `pip install {error.name}`") from error
    except (EOFError, OSError, ValueError, RuntimeError, zlib.error, lzma.LZMAError) as error:
        raise UnreadableError(f"is a damaged or truncated {name} file ({error})") from error
    except Exception as error:
        # isal and zstandard raise classes of their own, which cannot be named without importing them
        if type(error).__module__.split(".")[0] in ("isal", "zstandard", "zstd"):
            raise UnreadableError(f"is a damaged or truncated {name} file ({error})") from error
        raise


def _gunzip(raw: bytes) -> bytes:
    try:
        from isal import igzip
    except ImportError:
        return gzip.decompress(raw)
    return bytes(igzip.decompress(raw))


def fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file as it lies on the disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _sha256(file)


def _sha256(file: IO[bytes]) -> str:
    # Python 3.10 has no hashlib.file_digest
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place only when all was written."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
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
