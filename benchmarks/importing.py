"""What importing pyterrier costs with this package installed, against the same without it.

    python benchmarks/importing.py [REPEATS]

Every import happens in an interpreter of its own; the two routes take turns, and the best of each counts. Without us means
that the entry point by which pyterrier finds us is hidden; everything else that is installed stays. The difference of two
such times wavers by more than it is; so the time that pyterrier spends loading us is taken within the import, too.
"""

from __future__ import annotations

import json
import subprocess
import sys

HIDE = """
import importlib.metadata
every = importlib.metadata.entry_points
def others(**params):
    found = every(**params)
    return importlib.metadata.EntryPoints(point for point in found if not point.value.startswith("pt_reuse"))
importlib.metadata.entry_points = others
"""
TIMED = """
import json, sys, time
import importlib.metadata
load, loading = importlib.metadata.EntryPoint.load, 0.0
def timed_load(point):
    global loading
    start = time.perf_counter()
    module = load(point)
    if point.value.startswith("pt_reuse"):
        loading += time.perf_counter() - start
    return module
importlib.metadata.EntryPoint.load = timed_load
start = time.perf_counter()
import pyterrier
seconds = time.perf_counter() - start
ours = sorted(name for name in sys.modules if name.split(".")[0] == "pt_reuse")
print(json.dumps({"seconds": seconds, "loading": loading, "modules": len(sys.modules), "ours": ours}))
"""
ROUTES = {"with pt_reuse": TIMED, "without": HIDE + TIMED}


def measure(code: str) -> dict:
    finished = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def main(repeats: int) -> None:
    for code in ROUTES.values():
        measure(code)  # byte code and page cache
    found: dict[str, list[dict]] = {route: [] for route in ROUTES}
    for _ in range(repeats):
        for route, code in ROUTES.items():
            found[route].append(measure(code))
    if found["with pt_reuse"][0]["ours"] != ["pt_reuse", "pt_reuse._plugin"] or found["without"][0]["ours"]:
        sys.exit(f"Not what was to be measured: {found['with pt_reuse'][0]['ours']}, {found['without'][0]['ours']}.")
    best = {route: min(one["seconds"] for one in runs) * 1000 for route, runs in found.items()}
    loading = min(one["loading"] for one in found["with pt_reuse"]) * 1000
    modules = {route: runs[0]["modules"] for route, runs in found.items()}
    print("| what | with pt_reuse, ms | without, ms | on top, ms | of it in our import, ms | modules on top |")
    print("|---|---|---|---|---|---|")
    ours, theirs = best["with pt_reuse"], best["without"]
    print(
        f"| import pyterrier, best of {repeats} | {ours:.0f} | {theirs:.0f} | {ours - theirs:.1f} "
        f"| {loading:.1f} | {modules['with pt_reuse'] - modules['without']} |"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
