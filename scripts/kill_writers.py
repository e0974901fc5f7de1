"""Kill processes at random moments while they write a cache, read within memory or save; run by hand.

    python scripts/kill_writers.py [KILLS] [PROCESSES]

The default is 200 kills with eight processes at work. Then two save 500 results into one folder, which a third reads.
The tests do the same with fewer.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARTS = Path(__file__).parents[1] / "tests" / "parts"
sys.path.insert(0, str(PARTS))

from cache_parts import run_bytes  # noqa: E402


def main() -> None:
    """Run the trials and print their figures."""
    kills, processes = [*sys.argv[1:], "200", "8"][:2] if len(sys.argv) != 2 else [sys.argv[1], "8"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "runs").mkdir()
        for i in range(6):
            body = gzip.compress(run_bytes(f"run{i}", seed=i, topics=20), mtime=0)
            (place / "runs" / f"{i}.gz").write_bytes(body)
        for what in ("cache", "memory", "save", "read while saved"):
            begun = time.perf_counter()
            command = [
                sys.executable,
                str(PARTS / "kills.py"),
                what,
                name,
                "500" if what == "read while saved" else kills,
                processes,
                "0" if what == "memory" else "0.1",
            ]
            figures = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            print(what, figures, f"{time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
