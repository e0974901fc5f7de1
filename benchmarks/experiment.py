"""What ptr.Experiment costs on top of pt.Experiment: a field of 109 runs and 20 systems, from the 129 of TREC-8 ad hoc.

    python benchmarks/experiment.py [DATA] [REPEATS]

DATA is a folder with trec8-adhoc (default: PT_REUSE_DATA, or ../shared/data beside the checkout). Both run in one process, in
turns, after one round that does not count; the best of each is reported. First the columns that both return are compared, and
the ranks and leave-out-uniques with those that the studies give for all 129 runs. Then each runs once more in a process of its
own, for its peak of memory.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import AP, P, nDCG

import pt_reuse as ptr

MEASURES = [AP, P @ 10, nDCG @ 10]
ORDER = "trec_eval9"  # pt.Experiment's own
DEPTH, SYSTEMS = 100, 20


def load(data: Path) -> tuple[ptr.RunSet, ptr.Qrels]:
    table = [line.split(":") for line in (data / "runs_table.adhoc").read_text().splitlines() if line.strip()]
    pooled = [row[0] for row in table if row[12].strip()]
    runs = ptr.read_runs(data / "inputs", teams=data / "runs-pids", pooled=pooled, order=ORDER)
    return runs, ptr.read_qrels(data / "trec8.qrels.gz")


class Question:
    """The same question to both: systems as result frames, or as pipelines that answer with a frame."""

    def __init__(self, runs: ptr.RunSet, qrels: ptr.Qrels, kind: str):
        self.all_runs, self.qrels = runs, qrels
        self.names = runs.names[::6][:SYSTEMS]
        self.field = runs.select([name for name in runs.names if name not in self.names])
        self.topics = pd.DataFrame({"qid": qrels.topics, "query": "as read"})
        self.judged = qrels.to_frame()
        frames = {name: runs[name].drop(columns="name") for name in self.names}
        as_pipelines = {name: pt.Transformer.from_df(frame) for name, frame in frames.items()}
        self.systems = as_pipelines if kind == "pipelines" else frames
        of_run = runs.run_table.set_index("name").loc[self.names]
        self.labels = {"teams": of_run["team"].to_dict(), "pooled": of_run["pooled"].to_dict()}

    def theirs(self) -> pd.DataFrame:
        return pt.Experiment(self.systems, self.topics, self.judged, MEASURES)

    def ours(self) -> pd.DataFrame:
        given = {**self.labels, "field": self.field, "depth": DEPTH, "reuse": ("lou", "rank", "unjudged", "bounds")}
        return ptr.Experiment(self.systems, self.topics, self.judged, MEASURES, **given)

    def check(self) -> str:
        """Compare the columns, or stop."""
        theirs, ours = self.theirs(), self.ours()
        if not theirs.equals(ours[list(theirs)]):
            sys.exit("The two do not return the same scores.")
        lou = ptr.leave_out_uniques(self.all_runs, self.qrels, MEASURES, depth=DEPTH)
        by_run = lou.by_run.set_index(["measure", "name"])
        widest = 0.0
        for measure in map(str, MEASURES):
            expected = by_run.loc[measure].loc[self.names]
            widest = max(widest, np.abs(ours[f"{measure} LOU"].to_numpy() - expected["reduced_score"].to_numpy()).max())
            for suffix, column in (("rank", "rank"), ("LOU rank", "reduced_rank"), ("drop", "drop")):
                if ours[f"{measure} {suffix}"].tolist() != expected[column].tolist():
                    sys.exit(f"{measure} {suffix} is not that of the study.")
        if widest > 1e-12:
            sys.exit(f"{widest} between leave-out-uniques here and in the study.")
        return f"{theirs.shape[1] - 1} columns are equal, {ours.shape[1] - theirs.shape[1]} added; LOU differs by {widest:.0e}."


def timed(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak_alone(data: Path, kind: str, route: str) -> float:
    command = [sys.executable, __file__, "--route", str(data), kind, route]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def main(data: Path, repeats: int) -> None:
    if not (data / "inputs").is_dir():
        sys.exit(f"{data}: no TREC-8 runs there. Give the folder that holds trec8-adhoc, or set PT_REUSE_DATA.")
    runs, qrels = load(data)
    rows = []
    for kind in ("pipelines", "frames"):
        question = Question(runs, qrels, kind)
        print(f"{kind}: {question.check()}", file=sys.stderr, flush=True)
        seconds: dict[str, list[float]] = {"theirs": [], "ours": []}
        for _ in range(repeats):
            for route, found in seconds.items():
                found.append(timed(getattr(question, route)))
        ours, theirs = min(seconds["ours"]), min(seconds["theirs"])
        before, after = (peak_alone(data, kind, route) for route in ("theirs", "ours"))
        rows.append(
            f"| {SYSTEMS} {kind} | {ours:.2f} | {theirs:.2f} | {100 * (ours / theirs - 1):.0f} | {after:.0f} | {before:.0f} |"
        )
    print("| systems | ptr.Experiment, s | pt.Experiment, s | on top, % | its peak MB | pt.Experiment's |")
    print("|---|---|---|---|---|---|", *rows, sep="\n")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--route":
        getattr(Question(*load(Path(sys.argv[2])), sys.argv[3]), sys.argv[4])()
        print(peak_mb())
    else:
        default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else default) / "trec8-adhoc"
        main(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
