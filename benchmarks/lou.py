"""Reading a field of runs and leave-out-uniques, against what a user would write with PyTerrier and pytrec_eval.

    python benchmarks/lou.py [DATA]

DATA is a folder with trec8-adhoc (default: PT_REUSE_DATA, or ../shared/data beside the checkout). Every route runs in a
process of its own, so that peak memory is its own; what routes compute is compared before any time is reported.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

MEASURES = {"AP": "map", "P@10": "P_10", "nDCG@10": "ndcg_cut_10"}
TEAMS = 41  # that the peers leave out: all
ORDER = "trec_eval9"  # pytrec_eval's own, so that outputs can be compared to the last bit


def timed(work: Callable, repeats: int) -> tuple[float, object]:
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def field_arguments(data: Path) -> dict:
    table = [line.split(":") for line in (data / "runs_table.adhoc").read_text().splitlines() if line.strip()]
    return {
        "source": data / "inputs", "teams": data / "runs-pids", "order": ORDER,
        "pooled": [row[0] for row in table if row[12].strip()],
    }  # fmt: skip


def fingerprint(rows: list[tuple[str, int, float]]) -> str:
    return json.dumps(sorted((str(name), n, float(total).hex()) for name, n, total in rows))


def read_peer(data: Path, work: Path) -> dict:
    import pyterrier as pt

    files = sorted((data / "inputs").iterdir())
    seconds, frames = timed(lambda: [pt.io.read_results(str(path)) for path in files], 2)
    rows = [(frame["name"].iloc[0], len(frame), np.sort(frame["score"].to_numpy(float)).sum()) for frame in frames]
    return {"seconds": seconds, "check": fingerprint(rows)}


def _our_check(runs) -> str:
    of_run = [runs[name] for name in runs]
    rows = [(f["name"].iloc[0], len(f), np.sort(f["score"].to_numpy()).sum()) for f in of_run]
    return fingerprint(rows)


def read_ours(data: Path, work: Path) -> dict:
    import pt_reuse as ptr

    arguments = field_arguments(data)
    seconds, runs = timed(lambda: ptr.read_runs(**arguments), 3)
    peak = peak_mb()
    return {"seconds": seconds, "peak": peak, "check": _our_check(runs)}


def reload_ours(data: Path, work: Path) -> dict:
    import pt_reuse as ptr

    arguments = field_arguments(data)
    seconds, runs = timed(lambda: ptr.read_runs(**arguments, cache=work / "cache"), 5)
    peak = peak_mb()
    return {"seconds": seconds, "peak": peak, "check": _our_check(runs)}


def fill_cache(data: Path, work: Path) -> dict:
    import pt_reuse as ptr

    seconds, _ = timed(lambda: ptr.read_runs(**field_arguments(data), cache=work / "cache"), 1)
    return {"seconds": seconds}


def _peer_input(data: Path) -> tuple[list[str], list[str], list[dict], dict, list[dict], list[set], float]:
    """Read everything into the dicts that pytrec_eval takes; teams' uniques come from our pool in both routes."""
    import gzip

    import pyterrier as pt

    import pt_reuse as ptr

    start = time.perf_counter()
    names, runs = [], []
    for path in sorted((data / "inputs").iterdir()):
        frame = pt.io.read_results(str(path))
        names.append(str(frame["name"].iloc[0]))
        runs.append({q: dict(zip(g["docno"], g["score"], strict=True)) for q, g in frame.groupby("qid")})
    qrels: dict[str, dict[str, int]] = {}
    with gzip.open(data / "trec8.qrels.gz", "rt") as lines:
        for line in lines:
            qid, _, docno, label = line.split()
            qrels.setdefault(qid, {})[docno] = int(label)
    reading = time.perf_counter() - start
    pool = ptr.depth_pool(ptr.read_runs(**field_arguments(data)), depth=100)
    unique = pool.uniques(by="team")
    teams = list(
        dict.fromkeys(line.split()[1] for line in (data / "runs-pids").read_text().splitlines() if line.strip())
    )[:TEAMS]
    reduced, affected = [], []
    for team in teams:
        mine = {q: dict(docs) for q, docs in qrels.items()}
        touched = set()
        for qid, docno in unique.loc[unique["team"] == team, ["qid", "docno"]].itertuples(index=False):
            if mine[qid].get(docno, 0) > 0:
                del mine[qid][docno]
                touched.add(qid)
        reduced.append(mine)
        affected.append(touched)
    return teams, names, runs, qrels, reduced, affected, reading


def _evaluate(qrels: dict, runs: list[dict]) -> list[dict]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(MEASURES.values()))
    return [evaluator.evaluate(run) for run in runs]


def _mean(results: dict, topics: list[str]) -> list[float]:
    return [sum(results[q][m] for q in topics) / len(topics) for m in MEASURES.values()]


def kernel_peer(data: Path, work: Path) -> dict:
    teams, names, runs, qrels, reduced, _, reading = _peer_input(data)
    topics = sorted(qrels)
    seconds, found = timed(lambda: [_evaluate(judged, runs) for judged in reduced], 1)
    means = np.array([[_mean(result, topics) for result in of_team] for of_team in found])
    np.savez(work / "peer.npz", means=means, teams=teams, names=names)
    return {"seconds": seconds, "reading": reading}


def kernel_peer_affected(data: Path, work: Path) -> dict:
    teams, names, runs, qrels, reduced, affected, _ = _peer_input(data)
    topics = sorted(qrels)
    base = _evaluate(qrels, runs)

    def work_out() -> list[list[dict]]:
        every = []
        for judged, touched in zip(reduced, affected, strict=True):
            part = {q: judged[q] for q in touched}
            again = (
                _evaluate(part, [{q: run[q] for q in touched if q in run} for run in runs])
                if part
                else [{}] * len(runs)
            )
            every.append([{**old, **new} for old, new in zip(base, again, strict=True)])
        return every

    seconds, found = timed(work_out, 1)
    means = np.array([[_mean(result, topics) for result in of_team] for of_team in found])
    np.savez(work / "affected.npz", means=means, teams=teams, names=names)
    return {"seconds": seconds}


def kernel_ours(data: Path, work: Path) -> dict:
    import pt_reuse as ptr
    from pt_reuse.arrays.kernels import UNJUDGED, Cells, Changes, Judgments
    from pt_reuse.arrays.rescore import HitIndex, score_hits
    from pt_reuse.scoring.measures import native_spec, parse_measures

    runs, qrels = ptr.read_runs(**field_arguments(data), cache=work / "cache"), ptr.read_qrels(data / "trec8.qrels.gz")
    documents, labels, pool = qrels.arrays.documents, qrels.arrays.labels, ptr.depth_pool(runs)
    sole, contributing = pool.sole("team")
    rows = documents.find(pool.documents)
    taken = (sole >= 0) & (rows >= 0) & (np.append(labels, 0)[rows] > 0)
    units = runs.units("team")
    owner = units.positions(contributing.names)[sole[taken]]
    judgments = Judgments(
        documents.starts, labels, Changes(len(units), owner, rows[taken], np.full(len(owner), UNJUDGED))
    )
    specs = [native_spec(measure) for measure in parse_measures(list(MEASURES))]
    index = HitIndex(runs.field, documents)
    hits = index.gather(index.topics, labels > 0)  # built once, as the peer's dicts are

    def work_out() -> tuple:
        cells = Cells(judgments)
        return cells, score_hits(hits, judgments, cells, specs)

    seconds, (cells, values) = timed(work_out, 15)
    peak = peak_mb()
    n_topics = cells.n_topics
    every = np.repeat(values[:, :n_topics, None], len(units), axis=2)
    every[:, cells.topic[n_topics:], cells.set] = values[:, n_topics:]
    means = every.mean(axis=1).transpose(1, 2, 0)
    np.savez(work / "ours.npz", means=means, teams=units.names, names=runs.names)
    return {"seconds": seconds, "peak": peak}


def job_gzip(data: Path, work: Path) -> dict:
    return _job(data, {}, 3)


def job_cache(data: Path, work: Path) -> dict:
    return _job(data, {"cache": work / "cache"}, 7)


def _job(data: Path, more: dict, repeats: int) -> dict:
    import pt_reuse as ptr

    def whole() -> object:
        runs = ptr.read_runs(**field_arguments(data), **more)
        return ptr.leave_out_uniques(runs, ptr.read_qrels(data / "trec8.qrels.gz"), list(MEASURES))

    whole()  # imports and page cache
    seconds, _ = timed(whole, repeats)
    return {"seconds": seconds}


ROUTES = {
    function.__name__: function
    for function in (
        read_peer, read_ours, fill_cache, reload_ours, kernel_peer, kernel_peer_affected, kernel_ours, job_gzip, job_cache,
    )
}  # fmt: skip


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(route: str, data: Path, work: Path) -> dict:
    print(f"... {route}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--route", route, str(data), str(work)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def same_means(work: Path, peer: str) -> float:
    ours, theirs = np.load(work / "ours.npz"), np.load(work / peer)
    teams = [ours["teams"].tolist().index(team) for team in theirs["teams"].tolist()]
    names = [ours["names"].tolist().index(name) for name in theirs["names"].tolist()]
    return float(np.abs(ours["means"][np.ix_(teams, names)] - theirs["means"]).max())


def main(data: Path) -> None:
    if not (data / "inputs").is_dir():
        sys.exit(f"{data}: no TREC-8 runs there. Give the folder that holds trec8-adhoc, or set PT_REUSE_DATA.")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        found = {route: run(route, data, work) for route in ROUTES}
        if not found["read_peer"]["check"] == found["read_ours"]["check"] == found["reload_ours"]["check"]:
            sys.exit("The routes do not read the same rows.")
        differences = [same_means(work, peer) for peer in ("peer.npz", "affected.npz")]
        if max(differences) > 1e-14:
            sys.exit(f"The routes do not compute the same means: they differ by {max(differences)}.")
    seconds = {route: result["seconds"] for route, result in found.items()}
    whole = found["kernel_peer"]["reading"] + seconds["kernel_peer"]
    rows = [
        ("(a) 129 gzipped runs to a coded, ordered field", "read_ours", "pt.io.read_results per file", seconds["read_peer"]),
        ("(b) the same from the cache, sources fingerprinted", "reload_ours", "pt.io.read_results per file", seconds["read_peer"]),
        (f"(c) 129 runs under {TEAMS} reduced judgment sets, 3 measures", "kernel_ours", "pytrec_eval loop", seconds["kernel_peer"]),
        ("(c) the same", "kernel_ours", "pytrec_eval loop, affected topics only", seconds["kernel_peer_affected"]),
        ("(d) whole job from gzip", "job_gzip", "read_results, dicts, pytrec_eval loop", whole),
        ("(d) whole job from the cache", "job_cache", "read_results, dicts, pytrec_eval loop", whole),
    ]  # fmt: skip
    print(f"Rows read are equal; means differ by at most {max(differences):.1e} over {TEAMS} x 129 x 3.\n")
    print("| what | ours, s | peak MB | peer | peer, s | ratio |\n|---|---|---|---|---|---|")
    for what, route, peer, theirs in rows:
        ours = seconds[route]
        print(f"| {what} | {ours:.4f} | {found[route]['peak']:.0f} | {peer} | {theirs:.2f} | {theirs / ours:,.1f} |")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--route":
        result = ROUTES[sys.argv[2]](Path(sys.argv[3]), Path(sys.argv[4]))
        print(json.dumps({"peak": peak_mb(), **result}))
    else:
        default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
        main(Path(sys.argv[1] if len(sys.argv) > 1 else default) / "trec8-adhoc")
