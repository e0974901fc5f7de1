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

import numpy as np
from made_field import POOL_DEPTH, Size, make_field
from process_tree import measured

WHOLE = Size()
FEWER = 20  # memory at the topics of the share is compared with memory at a twentieth of them
PARSED, SCORED = Size(topics=25), Size(topics=10)  # what the peers are given
LOU = {"AP": "map", "P@10": "P_10", "nDCG@10": "ndcg_cut_10"}
SPARSE = ("RR@10", "nDCG@10")
MOST_MEMORY = 1.05


def read_field(field: Path, n_runs: int | None = None) -> object:
    import pt_reuse as ptr

    runs = ptr.read_runs(field / "runs", metadata=field / "metadata.csv", order="trec_eval9")
    return runs if n_runs is None else runs.select(names=list(runs)[:n_runs])


def leave_out(runs: object, qrels: object, depth: int = POOL_DEPTH) -> object:
    import pt_reuse as ptr

    return ptr.leave_out_uniques(runs, qrels, list(LOU), depth=depth)


def bits(*arrays: np.ndarray) -> str:
    return sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


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


def read(field: Path) -> dict:
    begun = time.perf_counter()
    rows = int(read_field(field).field.lengths.sum())
    return {"seconds": time.perf_counter() - begun, "rows": rows}


def score(field: Path, n_runs: int | None = None) -> dict:
    import pt_reuse as ptr

    runs, qrels = read_field(field, n_runs), ptr.read_qrels(field / "sparse.qrels")
    begun = time.perf_counter()
    scores = ptr.score(runs, qrels, list(SPARSE))
    return {"seconds": time.perf_counter() - begun, "check": bits(scores.values)}


def lou(field: Path, n_runs: int | None = None, depth: int = POOL_DEPTH, judged: float = 1.0) -> dict:
    import pt_reuse as ptr

    runs, qrels = read_field(field, n_runs), ptr.read_qrels(field / "deep.qrels")
    if judged < 1:
        qrels = qrels.sample(judged, seed=1)
    begun = time.perf_counter()
    found = leave_out(runs, qrels, depth)
    seconds = time.perf_counter() - begun
    return {
        "seconds": seconds,
        "judgments": len(qrels),
        "check": bits(found.reduced, found.scores.values, found.own_scores.values),
    }


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


ROUTES = {route.__name__: route for route in (parse, read, score, lou, peer)}


def run(route: str, field: Path, **options: float) -> dict:
    given = ", ".join(f"{name} {value}" for name, value in options.items())
    print(f"... {route} {field.name} {given}", file=sys.stderr, flush=True)
    return measured("--route", route, field, json.dumps(options), script=__file__)


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


def table(head: list[str], rows: list[list[object]]) -> None:
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print(
            "| "
            + " | ".join(
                f"{cell:,.3g}"
                if isinstance(cell, float) and abs(cell) < 1
                else f"{cell:,.1f}"
                if isinstance(cell, float)
                else f"{cell:,}"
                if isinstance(cell, int)
                else str(cell)
                for cell in row
            )
            + " |"
        )
    print()


def main(share: float, work: Path) -> bool:
    size = Size(topics=max(FEWER, round(WHOLE.topics * share)))
    few = Size(topics=size.topics // FEWER)
    of_parse = run("parse", made(work, PARSED))
    print(f"\n{size.runs} runs x {size.topics:,} topics x {size.docs:,} documents: {size.rows:,} rows\n")
    us = {way: 1e6 * of_parse[way] / of_parse["rows"] for way in ("ours", "peer")}
    table(
        ["reading, one thread", "microseconds a row", "pt.io.read_results", "ratio"],
        [["packed runs to a field", us["ours"], us["peer"], us["peer"] / us["ours"]]],
    )
    small, large = made(work, few), made(work, size)
    found = {(route, field): run(route, field) for route in ("read", "score", "lou") for field in (small, large)}
    named = {
        "read": "reading",
        "score": f"{', '.join(SPARSE)}, sparse labels",
        "lou": f"leave-out-uniques, {', '.join(LOU)}",
    }
    rows = [
        [named[route], field.name, of["seconds"], of["wall"], of["cpu"], of["peak"]]
        for (route, field), of in found.items()
    ]
    table(["what", "field", "s", "whole process, s", "its CPU s", "peak MB"], rows)
    theirs = run("peer", made(work, SCORED))
    rows = [
        [
            theirs["evaluations"],
            theirs["seconds"],
            theirs["ours"],
            theirs["seconds"] / theirs["ours"],
            f"{theirs['difference']:.1e}",
        ]
    ]
    table(
        ["leave-out-uniques on 10 topics, evaluations", "pytrec_eval loop, s", "ours, s", "ratio", "means differ by"],
        rows,
    )
    gates = Gates()
    for route in ("score", "lou"):
        ratio = found[route, large]["peak"] / found[route, small]["peak"]
        gates.check(
            f"{named[route]}: peak at {size.topics:,} topics / at {few.topics:,}", ratio, MOST_MEMORY, least=False
        )
    return gates.missed == 0


def curves(share: float, work: Path) -> None:
    """Print what leave-out-uniques costs over topics, runs, judgments and the depth of the pool."""
    size = Size(topics=max(FEWER, round(WHOLE.topics * share)))
    whole, rows = made(work, size), []

    def add(what: str, value: object, of: dict) -> None:
        rows.append([what, value, of["seconds"], of["cpu"], of["peak"]])

    for part in (8, 4, 2, 1):
        topics = size.topics // part
        add("topics", topics, run("lou", made(work, Size(topics=topics))))
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
