"""What must not explode: a tag on every line, one very long docno, a million topics; against pt.io.read_results.

    python benchmarks/costs.py

All files are made here. Every route runs in a process of its own, so that peak memory is its own. What is read is
compared with the peer's rows first; the file with a tag on every line must end in an error that says so.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LONG = "x" * 1000
TAGS, DEPTH, TOPICS = 300_000, 1_000, 1_000_000


def make(folder: Path) -> None:
    """Write the files: `tags`, `plain` and `long` (the same runs, one with a long docno), `topics`."""
    for name in ("tags", "plain", "long", "topics", "first"):
        (folder / name).mkdir()
    (folder / "first" / "a").write_text("1 Q0 d1 1 1.5 a\n")  # read before the clock runs: imports
    (folder / "tags" / "a").write_text("".join(f"1 Q0 d{i} {i} 1.5 {TAGS - i}.5\n" for i in range(TAGS)))
    for r in range(10):
        rows = [
            f"{t} Q0 doc{(i * 7919 + r) % 50_021:06} {i} {DEPTH - i} run{r}\n" for t in range(50) for i in range(DEPTH)
        ]
        (folder / "plain" / f"run{r}").write_text("".join(rows))
        if r == 0:
            rows.append(f"49 Q0 {LONG} {DEPTH} -1 run{r}\n")
        (folder / "long" / f"run{r}").write_text("".join(rows))
    (folder / "topics" / "a").write_text("".join(f"{i} Q0 d{i % 5000} 1 1.5 a\n" for i in range(TOPICS)))


def ours(folder: Path) -> dict:
    import pt_reuse as ptr

    ptr.read_runs(folder.parent / "first")
    start = time.perf_counter()
    try:
        runs = ptr.read_runs(folder)
    except ptr.InputError as error:
        if "run tags in the sixth column" not in str(error):
            raise
        return {"seconds": time.perf_counter() - start, "rows": "refused"}
    return {"seconds": time.perf_counter() - start, "rows": int(runs.field.starts[-1])}


def peer(folder: Path) -> dict:
    import pyterrier as pt

    pt.io.read_results(str(folder.parent / "first" / "a"))
    start = time.perf_counter()
    frames = [pt.io.read_results(str(path)) for path in sorted(folder.iterdir())]
    return {"seconds": time.perf_counter() - start, "rows": sum(len(frame) for frame in frames)}


def run(route: str, folder: Path) -> dict:
    command = [sys.executable, __file__, "--route", route, str(folder)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def main() -> None:
    cases = {
        "tags": f"{TAGS:,} lines with a tag each, to the error", "plain": f"10 runs x 50 topics x {DEPTH:,}",
        "long": "the same and one docno of 1,000 bytes", "topics": f"a run of {TOPICS:,} topics",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as work:
        make(Path(work))
        found = {name: (run("ours", Path(work, name)), run("peer", Path(work, name))) for name in cases}
    for name, (mine, theirs) in found.items():
        if mine["rows"] not in ("refused", theirs["rows"]):
            sys.exit(f"{name}: {mine['rows']:,} rows read, {theirs['rows']:,} by the peer.")
    print("| what | ours, s | peak MB | pt.io.read_results, s | its peak MB | ratio |\n|---|---|---|---|---|---|")
    for name, (mine, theirs) in found.items():
        ratio = theirs["seconds"] / mine["seconds"]
        cells = (mine["seconds"], mine["peak"], theirs["seconds"], theirs["peak"])
        print(f"| {cases[name]} | {cells[0]:.2f} | {cells[1]:.0f} | {cells[2]:.2f} | {cells[3]:.0f} | {ratio:.1f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--route"]:
        result = {"ours": ours, "peer": peer}[sys.argv[2]](Path(sys.argv[3]))
        print(json.dumps({**result, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
    else:
        main()
