"""Partial: what has arrived of a file, and what it is part of, so that a later try goes on from there."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pt_reuse._files import read_file, replacing

_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
#: what the names of the bytes and of the record end in
BYTES, RECORD = ".part", ".json"
_KEYS = {"url", "etag", "modified", "length"}


class Partial:
    """The bytes that have arrived of one file, with the record of what they are part of.

    Attributes:
        path: of the bytes; the record is beside it.
        length: bytes of the whole file, None where the server did not say.
    """

    def __init__(self, folder: Path, name: str, url: str):
        self.path = folder / f"{name}{BYTES}"
        self._record = folder / f"{name}{RECORD}"
        # an address may hold what should not be in a file
        self._url = hashlib.sha256(url.encode("utf-8", "surrogateescape")).hexdigest()
        self._about = self._read()
        if self._about is None or self.size() > (self.length or self.size()):
            self.discard()

    @property
    def length(self) -> int | None:
        """Return the bytes of the whole file, None where the server did not say."""
        return self._about["length"] if self._about else None

    def size(self) -> int:
        """Return how many bytes have arrived."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def complete(self) -> bool:
        """Return whether all bytes have arrived, as far as the server said how many there are."""
        return self.length is not None and self.size() == self.length > 0

    def validator(self) -> str | None:
        """Return what tells this file from a later one of the same address; None: do not resume."""
        if self._about is None:
            return None
        etag = self._about["etag"]
        # a weak tag does not vouch for the bytes
        return etag if etag and etag.startswith('"') else self._about["modified"]

    def start(self, headers: Mapping[str, str]) -> None:
        """Forget what arrived before, and note which file it is that begins now."""
        self.discard()
        about = {
            "url": self._url,
            "etag": headers.get("ETag"),
            "modified": headers.get("Last-Modified"),
            "length": content_length(headers),
        }
        with replacing(self._record) as file:
            file.write(json.dumps(about).encode())
        self._about = about

    def continued_by(self, headers: Mapping[str, str]) -> bool:
        """Return whether a partial answer goes on exactly where this ends, with the same file."""
        first, total = content_range(headers)
        if self._about is None or first != self.size() or (total or 0) != (self.length or total or 0):
            return False
        said = (headers.get("ETag"), self._about["etag"]), (headers.get("Last-Modified"), self._about["modified"])
        return all(now is None or now == then for now, then in said)

    def discard(self) -> None:
        """Remove what arrived, and the record."""
        self.path.unlink(missing_ok=True)
        self._record.unlink(missing_ok=True)
        self._about = None

    def forget(self) -> None:
        """Remove the record of a file that has been moved into place."""
        self._record.unlink(missing_ok=True)
        self._about = None

    def _read(self) -> dict[str, Any] | None:
        try:
            about: dict[str, Any] = json.loads(read_file(self._record))
            whole = about.keys() == _KEYS and about["url"] == self._url and isinstance(about["length"], int | None)
            texts = whole and all(isinstance(about[key], str | None) for key in ("etag", "modified"))
            return about if texts else None
        except (OSError, ValueError, AttributeError, RecursionError):  # there is none, or it is no such record
            return None


def content_length(headers: Mapping[str, str]) -> int | None:
    """Return the bytes that an answer says it has; None where it does not."""
    text = headers.get("Content-Length", "").strip()
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def content_range(headers: Mapping[str, str]) -> tuple[int | None, int | None]:
    """Return (first byte, bytes of the whole file) of a partial answer; None where it does not say."""
    found = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if found is None:
        return None, None
    first, _, total = found.groups()
    return (int(first) if first else None), (int(total) if total != "*" else None)
