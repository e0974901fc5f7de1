"""Run files and qrels read line by line, as slow and obvious as can be, and files to try it on."""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"


# files: good ones, and what may happen to them
