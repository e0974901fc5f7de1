"""A field of 200 runs x 6,980 topics x 1,000 documents, or a part of it: time and peak memory of reading, scoring and LOU.

    python benchmarks/scale.py [--share 0.1] [--curves] [--folder DIR]

The field is made here (see `made_field.py`), a tenth of the topics by default. Every measurement runs in a process of its
own, and its memory is that of the process and of all its workers together (see `process_tree.py`). What a peer computes
is compared before any time is reported. Ends with status 1 where a gate is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from statistics import median

import numpy as np
from joblib import parallel_config
from made_field import POOL_DEPTH, Size, make_field
from process_tree import measured

WHOLE = Size()
FEWER = 20  # memory at the topics of the share is compared with memory at a twentieth of them
PARSED, SCORED = Size(topics=25), Size(topics=10)  # what the peers are given
LOU = {"AP": "map", "P@10": "P_10", "nDCG@10": "ndcg_cut_10"}
SPARSE = ("RR@10", "nDCG@10")
MOST_MEMORY, OF_A_PART = 1.05, 1.15  # some MB by which peaks vary are more of the small peak of a part of the topics
LEAST_SPEEDUP = 1.9
MEMORY_MB = 500  # what reading may hold
TIMES = 6  # that work is done for its time; twice show its memory
PEAKS = 3  # of which the median counts


def read_field(field: Path, n_runs: int | None = None, *, memory: str | None = f"{MEMORY_MB}MB") -> object:
    import pt_reuse as ptr

    runs = ptr.read_runs(
        field / "runs", metadata=field / "metadata.csv", order="trec_eval9", cache=field / "cache", memory=memory
    )
    return runs if n_runs is None else runs.select(names=list(runs)[:n_runs])


def leave_out(runs: object, qrels: object, depth: int = POOL_DEPTH) -> object:
    import pt_reuse as ptr

    return ptr.leave_out_uniques(runs, qrels, list(LOU), depth=depth)


def bits(*arrays: np.ndarray) -> str:
    found = sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)  # a copy would be memory that is measured
    return found.hexdigest()


def parse(field: Path) -> dict:
    """Read the same files by turns, three times each; in one thread, as the peer has no more."""
    import pyterrier as pt

    import pt_reuse as ptr

    files = sorted((field / "runs").iterdir())
    ways: dict[str, Callable[[], int]] = {
        "ours": lambda: int(ptr.read_runs(field / "runs", n_jobs=1).field.lengths.sum()),
        "peer": lambda: sum(len(pt.io.read_results(str(path))) for path in files),
    }
    best: dict[str, float] = {}
    for _ in range(3):
        rows = {}
        for way, read in ways.items():
            begun = time.perf_counter()
            rows[way] = read()
            best[way] = min(best.get(way, np.inf), time.perf_counter() - begun)
        if rows["ours"] != rows["peer"]:
            sys.exit(f"{rows['ours']:,} rows read, {rows['peer']:,} by the peer.")
    return {"rows": rows["ours"], **best}


def timed(work: Callable, jobs: int, times: int) -> tuple[dict, object]:
    """Work by so many jobs, so many times: the seconds of the first time, in which workers start, and the fewest."""
    every, result = [], None
    with parallel_config(n_jobs=jobs):
        for _ in range(times):
            result = None  # two are not held at a time
            begun = time.perf_counter()
            result = work()
            every.append(time.perf_counter() - begun)
    return {"first": every[0], "seconds": min(every)}, result


def read(field: Path) -> dict:
    shutil.rmtree(field / "cache", ignore_errors=True)
    begun = time.perf_counter()
    rows = int(read_field(field).field.lengths.sum())
    return {"seconds": time.perf_counter() - begun, "rows": rows}


def score(field: Path, jobs: int = 1, times: int = TIMES) -> dict:
    import pt_reuse as ptr

    runs, qrels = read_field(field), ptr.read_qrels(field / "sparse.qrels")
    took, scores = timed(lambda: ptr.score(runs, qrels, list(SPARSE)), jobs, times)
    return took | {"check": bits(scores.values)}


def lou(
    field: Path,
    jobs: int = 1,
    times: int = TIMES,
    n_runs: int | None = None,
    depth: int = POOL_DEPTH,
    judged: float = 1.0,
) -> dict:
    import pt_reuse as ptr

    runs, qrels = read_field(field, n_runs), ptr.read_qrels(field / "deep.qrels")
    if judged < 1:
        qrels = qrels.sample(judged, seed=1)
    took, found = timed(lambda: leave_out(runs, qrels, depth), jobs, times)
    return took | {
        "judgments": len(qrels),
        "check": bits(found.reduced, found.scores.values, found.own_scores.values),
    }


def given(field: Path, of: str) -> dict:
    """Hold what scoring is given and returns, without a list of any run: the open field, judgments, arrays of scores."""
    import pt_reuse as ptr

    _ = ptr.score, ptr.leave_out_uniques  # their modules take memory, too
    runs = read_field(field)
    qrels = ptr.read_qrels(field / ("sparse.qrels" if of == "score" else "deep.qrels"))
    arrays, measures = (1, len(SPARSE)) if of == "score" else (2, len(LOU))
    return {"held": len(qrels) + np.ones((arrays, measures, *runs.field.lengths.shape)).size}


def peer(field: Path) -> dict:
    """Score every run again by pytrec_eval without each team's uniques, on the topics where it has any; seconds an evaluation."""
    import pytrec_eval

    import pt_reuse as ptr

    runs, qrels = read_field(field), ptr.read_qrels(field / "deep.qrels")
    found = leave_out(runs, qrels)
    pool = ptr.depth_pool(runs, depth=POOL_DEPTH)
    unique = pool.uniques(by="team")
    of_run = {}
    for name in list(runs):
        frame = runs[name]
        of_run[name] = {q: dict(zip(g["docno"], g["score"], strict=True)) for q, g in frame.groupby("qid")}
    labels: dict[str, dict[str, int]] = {}
    for qid, docno, label in qrels.to_frame()[["qid", "docno", "label"]].itertuples(index=False):
        labels.setdefault(qid, {})[docno] = int(label)
    topics = list(found.scores.topics)

    def evaluate(judged: dict) -> list[dict]:
        evaluator = pytrec_eval.RelevanceEvaluator(judged, set(LOU.values()))
        return [evaluator.evaluate({q: run[q] for q in judged if q in run}) for run in of_run.values()]

    begun = time.perf_counter()
    base, n_evaluated, means = evaluate(labels), len(topics) * len(of_run), []
    for team in found.units.names:
        mine = {q: dict(labels[q]) for q in unique.loc[unique["team"] == team, "qid"].unique()}
        for qid, docno in unique.loc[unique["team"] == team, ["qid", "docno"]].itertuples(index=False):
            if mine[qid].get(docno, 0) > 0:
                del mine[qid][docno]
        mine = {q: judged for q, judged in mine.items() if len(judged) < len(labels[q])}
        again = evaluate(mine) if mine else [{}] * len(of_run)
        n_evaluated += len(mine) * len(of_run)
        every = [{**old, **new} for old, new in zip(base, again, strict=True)]
        means.append([[sum(of[q][m] for q in topics) / len(topics) for of in every] for m in LOU.values()])
    seconds = time.perf_counter() - begun
    difference = float(np.abs(np.array(means).transpose(1, 0, 2) - found.reduced).max())
    if difference > 1e-14:
        sys.exit(f"pytrec_eval computes other means: they differ by {difference}.")
    begun = time.perf_counter()
    leave_out(runs, qrels)
    return {
        "seconds": seconds,
        "ours": time.perf_counter() - begun,
        "evaluations": n_evaluated,
        "difference": difference,
    }


ROUTES = {route.__name__: route for route in (parse, read, score, lou, given, peer)}


def run(route: str, field: Path, **options: float | str) -> dict:
    given = ", ".join(f"{name} {value}" for name, value in options.items())
    print(f"... {route} {field.name} {given}", file=sys.stderr, flush=True)
    return measured("--route", route, field, json.dumps(options), script=__file__)


def usual_peak(route: str, field: Path, **options: float | str) -> float:
    """Return the median of several peaks: one by itself varies by some MB in both directions."""
    return median(run(route, field, **options)["peak"] for _ in range(PEAKS))


def made(work: Path, size: Size) -> Path:
    """Return the field of a size, made unless it is there."""
    folder = work / f"{size.runs}x{size.topics}x{size.docs}"
    if not (folder / "size.json").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        begun = time.perf_counter()
        make_field(folder, size)
        print(f"... made {folder.name}, {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    return folder


class Gates:
    """What must hold, each printed, and whether all did."""

    def __init__(self) -> None:
        self.missed = 0

    def check(self, what: str, value: float, limit: float, *, least: bool) -> None:
        held = value >= limit if least else value <= limit
        self.missed += not held
        print(f"- {'held' if held else 'MISSED'}: {what} {value:.2f}, at {'least' if least else 'most'} {limit}")


def shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:,.3g}" if abs(cell) < 1 else f"{cell:,.1f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def table(head: list[str], rows: list[list[object]]) -> None:
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(shown, row)) + " |")
    print()


def main(share: float, work: Path) -> bool:
    size = Size(topics=max(FEWER, round(WHOLE.topics * share)))
    few = Size(topics=size.topics // FEWER)
    parsed = run("parse", made(work, PARSED))
    print(f"\n{size.runs} runs x {size.topics:,} topics x {size.docs:,} documents: {size.rows:,} rows\n")
    ours, theirs = (1e6 * parsed[way] / parsed["rows"] for way in ("ours", "peer"))
    head = ["reading, one thread", "microseconds a row", "pt.io.read_results", "ratio"]
    table(head, [["packed runs to a field", ours, theirs, theirs / ours]])
    small, large = made(work, few), made(work, size)
    named = {
        "read": f"reading within {MEMORY_MB} MB",
        "score": f"{', '.join(SPARSE)}, sparse labels",
        "lou": f"leave-out-uniques, {', '.join(LOU)}",
    }
    found, rows = {}, []
    for route, jobs in (("read", None), ("score", 1), ("score", 2), ("lou", 1), ("lou", 2)):
        for field in (small, large):
            of = run(route, field, **({} if jobs is None else {"jobs": jobs}))
            found[route, jobs, field] = of
            rows.append(
                [named[route], field.name, jobs or "", of.get("first", ""), of["seconds"], of["cpu"], of["peak"]]
            )
    table(["what", "field", "jobs", "first, s", "s", "whole process, CPU s", "peak MB"], rows)
    loop = run("peer", made(work, SCORED))
    head = ["leave-out-uniques on 10 topics, evaluations", "pytrec_eval loop, s", "ours, s", "ratio", "means differ by"]
    ratio = loop["seconds"] / loop["ours"]
    table(head, [[loop["evaluations"], loop["seconds"], loop["ours"], ratio, f"{loop['difference']:.1e}"]])
    gates = Gates()
    gates.check(f"{named['read']}: peak MB", found["read", None, large]["peak"], MEMORY_MB, least=False)
    for route in ("score", "lou"):
        # judgments and scores are in memory, and there are more of them: the runs may not add anything to that
        more = usual_peak("given", large, of=route) - usual_peak("given", small, of=route)
        peak, before = (usual_peak(route, field, jobs=1, times=2) for field in (large, small))
        what = f"{named[route]}: peak at {size.topics:,} topics / at {few.topics:,} ({peak / before:.2f})"
        most = MOST_MEMORY if size == WHOLE else OF_A_PART
        gates.check(f"{what}, less {more:.0f} MB of judgments and scores", (peak - more) / before, most, least=False)
    for route in ("score", "lou"):
        one, two = (found[route, jobs, large] for jobs in (1, 2))
        if one["check"] != two["check"]:
            sys.exit(f"{named[route]}: two workers compute other bits than one.")
    faster = found["lou", 1, large]["seconds"] / found["lou", 2, large]["seconds"]
    if size == WHOLE:
        gates.check(f"{named['lou']}: one job / two", faster, LEAST_SPEEDUP, least=True)
    else:  # starting and ending takes as long for few topics as for many
        print(f"- {named['lou']}: one job / two {faster:.2f}, which is tested on the whole field alone")
    return gates.missed == 0


def curves(share: float, work: Path) -> None:
    """Print what leave-out-uniques costs over topics, runs, judgments and the depth of the pool."""
    size = Size(topics=max(FEWER, round(WHOLE.topics * share)))
    whole, rows = made(work, size), []

    def add(what: str, value: object, of: dict) -> None:
        rows.append([what, value, of["seconds"], of["cpu"], of["peak"]])

    for part in (8, 4, 2, 1):
        field = made(work, Size(topics=size.topics // part))
        run("read", field)
        add("topics", size.topics // part, run("lou", field))
    for n_runs in (25, 50, 100, 200):
        add("runs", n_runs, run("lou", whole, n_runs=n_runs))
    for judged in (0.1, 0.3, 1.0):
        of = run("lou", whole, judged=judged)
        add("judgments", of["judgments"], of)
    for depth in (1, 10, 100, 1_000):
        add("pool depth", depth, run("lou", whole, depth=depth))
    print()
    table(["over", "at", "leave-out-uniques, s", "CPU s of the whole process", "peak MB"], rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--route"]:
        print(json.dumps(ROUTES[sys.argv[2]](Path(sys.argv[3]), **json.loads(sys.argv[4]))))
        time.sleep(0.2)  # for its peak to be seen
        sys.exit()
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--share", type=float, default=0.1, help="of the 6,980 topics (default 0.1; 1 writes 15 GB)")
    asked.add_argument(
        "--curves", action="store_true", help="what leave-out-uniques costs over topics, runs, judgments, depth"
    )
    asked.add_argument("--folder", type=Path, help="where fields are made, and kept; default a temporary one")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        where = given.folder or Path(scratch)
        if given.curves:
            curves(given.share, where)
        elif not main(given.share, where):
            sys.exit(1)
