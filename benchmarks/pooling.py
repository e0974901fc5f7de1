"""Every strategy that chooses what to judge, against the loop over plain dicts that a user would write for one of them.

    python benchmarks/pooling.py [DATA]

DATA is a folder with trec8-adhoc (default: PT_REUSE_DATA, or ../shared/data beside the checkout). All 129 runs of TREC-8
ad hoc contribute to depth 100, and every document of the 50 pools is judged. Every route runs in a process of its own,
which reads nothing but the lists, in one thread; times are of the processor, so that other work on the machine counts
little. What routes compute is compared before any time is reported: the loop's MaxMean must
judge every document in our order, and every strategy all documents, each once.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np

SEED, DEPTH = 1, 100


def write_lists(data: Path, work: Path) -> dict:
    """Write the lists of every topic and which documents are relevant, for the other routes to read."""
    import pt_reuse as ptr
    from pt_reuse.pooling.adaptive.bandits import topic_lists

    runs = ptr.read_runs(data / "inputs", teams=data / "runs-pids")
    judged = ptr.read_qrels(data / "trec8.qrels.gz").to_frame()
    relevant = judged[judged["label"] > 0].groupby("qid")["docno"].agg(set).to_dict()
    every = np.ones(len(runs.names), dtype=bool)
    topics = [
        (lists, np.array([docno in relevant[lists.qid] for docno in lists.docnos], dtype=np.int8))
        for lists in topic_lists(runs.in_pool_order(None), DEPTH, every)
    ]
    (work / "lists.pickle").write_bytes(pickle.dumps(topics))
    return {"runs": len(runs.names), "topics": len(topics), "documents": sum(len(lists) for lists, _ in topics)}


def read_lists(work: Path) -> list:
    return pickle.loads((work / "lists.pickle").read_bytes())


def fingerprint(orders: list[list[str]]) -> str:
    return sha256(json.dumps(orders).encode()).hexdigest()


def ours(name: str, work: Path) -> dict:
    from pt_reuse.pooling.adaptive.strategy import Strategy, judged_in_order

    topics, strategy = read_lists(work), Strategy(name)
    seconds, orders = float("inf"), []
    for _ in range(2):
        start = time.process_time()
        orders = [
            judged_in_order(strategy, lists, labels, seed=SEED, budget=len(lists)).tolist() for lists, labels in topics
        ]
        seconds = min(seconds, time.process_time() - start)
    named = [[lists.docnos[i] for i in order] for order, (lists, _) in zip(orders, topics, strict=True)]
    whole = all(sorted(order) == list(range(len(lists))) for order, (lists, _) in zip(orders, topics, strict=True))
    return {"seconds": seconds, "whole": whole, "check": fingerprint(named)}


def dict_loop(lists: dict[str, list[str]], labels: dict[str, int], pick: Callable) -> list[str]:
    """Judge every document of a topic, as one would write it down: a bandit over dicts of runs."""
    has: dict[str, list[str]] = {}
    for run, docnos in lists.items():
        for docno in docnos:
            has.setdefault(docno, []).append(run)
    found, seen, place = (dict.fromkeys(lists, 0) for _ in range(3))
    left = {run: len(docnos) for run, docnos in lists.items()}
    live, judged = [run for run in lists if left[run]], {}
    while live:
        run = pick(live, found, seen)
        docnos = lists[run]
        while docnos[place[run]] in judged:
            place[run] += 1
        docno = docnos[place[run]]
        judged[docno] = labels[docno]
        for each in has[docno]:
            seen[each] += 1
            found[each] += judged[docno]
            left[each] -= 1
        live = [run for run in live if left[run]]
    return list(judged)


def max_mean(live: list[str], found: dict[str, int], seen: dict[str, int]) -> str:
    return max(live, key=lambda run: (1 + found[run]) / (2 + seen[run]))


def thompson(live: list[str], found: dict[str, int], seen: dict[str, int]) -> str:
    return max(live, key=lambda run: random.betavariate(1 + found[run], 1 + seen[run] - found[run]))


def peer(pick: Callable, work: Path) -> dict:
    from pt_reuse.pooling.adaptive.strategy import Strategy

    random.seed(SEED)
    given = []
    for lists, labels in read_lists(work):
        tried = Strategy("max-mean").start(lists, SEED).topic  # equal runs are tried in our order
        named = {run: [tried.docnos[i] for i in tried.list_of(r).tolist()] for r, run in enumerate(tried.names)}
        given.append((named, dict(zip(lists.docnos, labels.tolist(), strict=True))))
    start = time.process_time()
    orders = [dict_loop(named, labels, pick) for named, labels in given]
    return {"seconds": time.process_time() - start, "check": fingerprint(orders)}


PEERS = {"max-mean": max_mean, "thompson": thompson}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(route: str, data: Path, work: Path) -> dict:
    print(f"... {route}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--route", route, str(data), str(work)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def route(name: str, data: Path, work: Path) -> dict:
    kind, _, strategy = name.partition(" ")
    if kind == "lists":
        return write_lists(data, work)
    return peer(PEERS[strategy], work) if kind == "peer" else ours(strategy, work)


def main(data: Path) -> None:
    from pt_reuse.pooling.adaptive.strategy import CHOOSERS

    if not (data / "inputs").is_dir():
        sys.exit(f"{data}: no TREC-8 runs there. Give the folder that holds trec8-adhoc, or set PT_REUSE_DATA.")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        size = run("lists", data, work)
        peers = {name: run(f"peer {name}", data, work) for name in PEERS}
        found = {name: run(f"ours {name}", data, work) for name in CHOOSERS}
    if found["max-mean"]["check"] != peers["max-mean"]["check"]:
        sys.exit("Our MaxMean and the loop's do not judge the same documents in the same order.")
    if not all(result["whole"] for result in found.values()):
        sys.exit("A strategy does not judge every document once.")
    print("MaxMean judges the same documents in the same order in both; every strategy judges each document once.")
    print(f"{size['runs']} runs, {size['topics']} topics, {size['documents']:,} documents.\n")
    print("| strategy | ours, CPU s | peak MB | loop over dicts, CPU s | ratio |\n|---|---|---|---|---|")
    for name, result in found.items():
        theirs = peers.get(name)
        ratio = f"{theirs['seconds']:.2f} | {theirs['seconds'] / result['seconds']:.1f}" if theirs else "|"
        print(f"| {name} | {result['seconds']:.2f} | {result['peak']:.0f} | {ratio} |")
    total, one = sum(result["seconds"] for result in found.values()), peers["thompson"]["seconds"]
    peak = max(result["peak"] for result in found.values())
    print(f"| all {len(found)} | {total:.2f} | {peak:.0f} | {one:.2f} (thompson alone) | {one / total:.1f} |")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--route":
        result = route(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
        print(json.dumps({"peak": peak_mb(), **result}))
    else:
        default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
        main(Path(sys.argv[1] if len(sys.argv) > 1 else default) / "trec8-adhoc")
