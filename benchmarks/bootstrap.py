"""10,000 bootstrap replicates of tau_b, then of gamma and tau_AP too, for 129 systems, against a loop over scipy.

    python benchmarks/bootstrap.py [DATA]

DATA is a folder with trec8-adhoc (default: PT_REUSE_DATA, or ../shared/data beside the checkout). The truth is AP of
the 129 runs of TREC-8 ad hoc under all judgments, the estimate AP under the pool of depth 10. In the first case the
ranking by all topics is the one truth of all replicates; in the second both sides are drawn together, as intervals of
studies are. The loop is what one would write: it draws the topics, takes means, rounds them and asks
scipy.stats.kendalltau for tau_b, or sums up pairs by numpy for gamma and tau_AP, which scipy does not have. It runs
the first 2,000 replicates, and its time is scaled. Every route draws the topics and takes the means itself, in a process
of its own and in one thread; times are of the processor, the best of several. What routes compute is compared before any
time is reported.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESAMPLES, OF_LOOP, SEED = 10_000, 2_000, 1
CASES = ("one truth", "both drawn")
COEFFICIENTS = {"tau_b": ("tau_b",), "tau_b, gamma, tau_AP": ("tau_b", "gamma", "tau_ap_b")}


def write_scores(data: Path, work: Path) -> dict:
    """Write the scores of both sides, for the other routes to read."""
    import pt_reuse as ptr

    runs = ptr.read_runs(data / "inputs", teams=data / "runs-pids")
    qrels = ptr.read_qrels(data / "trec8.qrels.gz")
    pooled = qrels.restrict(ptr.depth_pool(runs, depth=10))
    both = np.stack([ptr.score(runs, judged, "AP").values[0] for judged in (qrels, pooled)])
    np.save(work / "scores.npy", both)
    return {"topics": both.shape[1], "runs": both.shape[2]}


def ours(case: str, names: tuple[str, ...], work: Path) -> dict:
    from pt_reuse.arrays import pairs
    from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
    from pt_reuse.arrays.correlation import rounded

    truth, estimate = (TopicScores(side) for side in np.load(work / "scores.npy"))
    seconds, found = float("inf"), []
    for _ in range(5):
        start = time.process_time()
        found = []
        for counts in TopicBootstrap(RESAMPLES, SEED, 0.95).blocks(len(truth.values)):
            x = truth.means()[0] if case == "one truth" else truth.means(counts)
            found.append(pairs.coefficients(rounded(x), rounded(estimate.means(counts)), names))
        seconds = min(seconds, time.process_time() - start)
    return {"seconds": seconds, "values": {n: np.concatenate([b[n] for b in found])[:OF_LOOP].tolist() for n in names}}


def literal(x: np.ndarray, y: np.ndarray, names: tuple[str, ...]) -> list[float]:
    """Return the coefficients as one would write them for one pair of rankings."""
    from scipy.stats import kendalltau

    values = [float(kendalltau(x, y).statistic)]
    if len(names) > 1:
        up, down = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
        product = up * down
        values.append(float(product.sum() / np.abs(product).sum()))
        walks = []
        for side in (up, down):
            above, right = (side < 0).sum(axis=1), ((up < 0) & (down < 0)).sum(axis=1)
            walks.append(2 * (right[above > 0] / above[above > 0]).mean() - 1)
        values.append(float(np.mean(walks)))
    return values


def loop(case: str, names: tuple[str, ...], work: Path) -> dict:
    truth, estimate = np.load(work / "scores.npy")
    literal(truth[0], estimate[0], names)  # imports
    start, random = time.process_time(), np.random.default_rng(SEED)
    rows, fixed = [], truth.mean(axis=0).round(12)
    for _ in range(OF_LOOP):
        topics = random.integers(0, len(truth), len(truth))
        x = fixed if case == "one truth" else truth[topics].mean(axis=0).round(12)
        rows.append(literal(x, estimate[topics].mean(axis=0).round(12), names))
    seconds = (time.process_time() - start) * RESAMPLES / OF_LOOP
    return {"seconds": seconds, "values": dict(zip(names, np.array(rows).T.tolist(), strict=True))}


def run(name: str, data: Path, work: Path) -> dict:
    print(f"... {name}", file=sys.stderr, flush=True)
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    command = [sys.executable, __file__, "--route", name, str(data), str(work)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads})
    return json.loads(done.stdout.splitlines()[-1])


def route(name: str, data: Path, work: Path) -> dict:
    if name == "scores":
        return write_scores(data, work)
    who, case, what = name.split("|")
    return {"ours": ours, "loop": loop}[who](case, COEFFICIENTS[what], work)


def main(data: Path) -> None:
    if not (data / "inputs").is_dir():
        sys.exit(f"{data}: no TREC-8 runs there. Give the folder that holds trec8-adhoc, or set PT_REUSE_DATA.")
    lines, worst = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        size = run("scores", data, work)
        for case in CASES:
            for what in COEFFICIENTS:
                mine, peer = (run(f"{who}|{case}|{what}", data, work) for who in ("ours", "loop"))
                for name, values in peer["values"].items():
                    worst = max(worst, float(np.abs(np.array(values) - mine["values"][name]).max()))
                ratio = peer["seconds"] / mine["seconds"]
                lines.append(
                    f"| {case} | {what} | {mine['seconds']:.3f} | {mine['peak']:.0f} | {peer['seconds']:.2f} | {ratio:.0f} |"
                )
    if worst > 1e-12:
        sys.exit(f"Ours and the loop's differ by up to {worst:.1e}.")
    print(f"{size['runs']} runs, {size['topics']} topics, {RESAMPLES:,} replicates.")
    print(f"The first {OF_LOOP:,} of ours and of the loop's differ by at most {worst:.1e}.\n")
    print("| case | coefficients | ours, CPU s | peak MB | loop, CPU s | ratio |\n|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--route":
        result = route(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
        print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, **result}))
    else:
        default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
        main(Path(sys.argv[1] if len(sys.argv) > 1 else default) / "trec8-adhoc")
