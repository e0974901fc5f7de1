"""A collection's run files where a test wants them, and no network."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pyterrier as pt

from pt_reuse.collections.download import Fetched

TREC8 = ["1", "8manexT3D1N0", "INQ604", "READWARE"]


def no_network(urls, *_, **__):
    return Fetched(files={}, failed=dict.fromkeys(urls, "no network."))


def write_run(path: Path, tag: str, topics=("401", "450")):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{topic} Q0 FT911-{rank} {rank} {10 - rank} {tag}\n" for topic in topics for rank in (1, 2, 3))
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def offline(name="trec-8/adhoc"):
    return pt.get_dataset(f"reuse:{name}")


def in_python(code: str, **environment) -> str:
    """Run code in a process of its own, since ir_datasets looks at its folder once."""
    variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables)
    assert finished.returncode == 0, finished.stderr[-3000:]
    return finished.stdout
