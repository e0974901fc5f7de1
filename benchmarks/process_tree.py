"""Measuring a script of its own: its time, its processor time and its peak memory, with all processes it starts.

Memory is that of ``/proc/*/smaps_rollup``: what each process has of its own, and the pages of mapped files of the one that
has most of them, which the others share; other programs that have them in use make no difference. It is read up to fifty
times a second, less often where reading takes long. A shorter peak of one process is seen by what the system keeps of it
(VmHWM); one of several processes at a time can be missed. Linux only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
EVERY = 0.02


def tree(root: int) -> list[int]:
    """Return the process and all that descend from it."""
    found = [root]
    for pid in found:  # grows on the way
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def _memory(pid: int) -> tuple[int, int, int]:
    """Return what a process has of its own, its pages of files, and both at most, kB."""
    lines = [
        f"{part} 0"
        for name in ("smaps_rollup", "status")
        for part in Path(f"/proc/{pid}/{name}").read_text().splitlines()
    ]
    kb = {key: int(n) for key, n, *_ in map(str.split, lines) if key in ("Anonymous:", "Rss:", "VmHWM:")}
    return kb["Anonymous:"], kb["Rss:"] - kb["Anonymous:"], kb["VmHWM:"]


def _processor(pid: int) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(after_name[11]) + int(after_name[12])) / _TICK


class Watch(threading.Thread):
    """Looks at a process and its descendants until told to stop.

    Attributes:
        peak: most memory of all together, kB.
        spent: process -> its processor time when last seen.
    """

    def __init__(self, root: int):
        super().__init__(daemon=True)
        self.root, self.peak, self.spent, self._over = root, 0, {}, threading.Event()

    def run(self) -> None:
        pause = EVERY
        while not self._over.wait(pause):
            total, files, begun = 0, 0, time.perf_counter()
            for pid in tree(self.root):
                with suppress(OSError, IndexError, KeyError):  # it has ended
                    own, of_files, most = _memory(pid)
                    total, files = total + own, max(files, of_files)
                    self.peak = max(self.peak, most)
                    self.spent[pid] = _processor(pid)
            self.peak = max(self.peak, total + files)
            # looking stops a process for a moment, and takes a core: at most a hundredth of the time
            pause = max(EVERY, 100 * (time.perf_counter() - begun))

    def stop(self) -> None:
        self._over.set()
        self.join()


def measured(*arguments: object, script: str) -> dict:
    """Run a script in a process of its own and return what it prints last, a JSON object, with what it took.

    Returns:
        dict: what it printed, and ``wall`` and ``cpu`` in seconds, ``peak`` in MB.
    """
    begun = time.perf_counter()
    process = subprocess.Popen([sys.executable, script, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    watch = Watch(process.pid)
    watch.start()
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begun
    watch.stop()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: ended with status {process.returncode}.")
    found = {
        "wall": wall,
        "cpu": max(usage.ru_utime + usage.ru_stime, sum(watch.spent.values())),
        "peak": watch.peak / 1024,
    }
    return found | json.loads(printed.splitlines()[-1])
