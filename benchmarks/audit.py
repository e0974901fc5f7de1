"""An audit of five judges over 63 runs, 53 topics and 1,000 resamples, against a loop over pytrec_eval and scipy.

    python benchmarks/audit.py [DATA]

DATA is a folder with dl21-passages (default: PT_REUSE_DATA, or ../shared/data beside the checkout). The audit is all of
audit_labels: agreement of labels with intervals, scores under people and under each judge, tau_b, gamma and tau_AP of all
runs and of the best ten with intervals, the ranks that each run gains with intervals, and the documents that move each
run. The loop is what one would write for tau_b alone: pytrec_eval scores each run under each judge, topics are drawn,
means are rounded, and scipy.stats.kendalltau gives tau_b of all runs and of the best ten. Both have their input ready,
runs and judgments in memory, each in its own form. Each route is a process of its own, in one thread; times are of the
processor, the best of three for ours and one for the loop. Every tau_b, of all topics and of each resample, is compared
before any time is reported, and a difference stops it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

RESAMPLES, SEED, BEST, RELEVANT = 1_000, 0, 10, 2


def read(data: Path) -> tuple:
    """Return the field, the judgments of people, and those of each judge by name."""
    import pt_reuse as ptr

    runs = ptr.read_runs(data / "inputs", teams=data / "runs-pids", order="trec_eval9")
    judges = {path.name.removesuffix(".gz"): ptr.read_qrels(path) for path in sorted((data / "llm-labels").iterdir())}
    return runs, ptr.read_qrels(data / "qrels.gz", rel=RELEVANT), judges


def ours(data: Path) -> dict:
    import pt_reuse as ptr

    runs, human, judges = read(data)
    seconds = float("inf")
    for _ in range(3):
        start = time.process_time()
        found = ptr.audit_labels(
            runs, human, judges, "nDCG@10", judge_rel={"exam-gpt-4": 2}, best=BEST, resamples=RESAMPLES, seed=SEED
        )
        seconds = min(seconds, time.process_time() - start)
    columns = ["tau_b", "tau_b_low", "tau_b_high"]
    rows = {f"{row['judge']}, {row['by']}": [row[name] for name in columns] for row in found.table.to_dict("records")}
    size = {"runs": len(runs), "topics": len(human.topics), "judges": len(judges)}
    return {"seconds": seconds, "values": rows, "size": size, "documents": len(found.documents)}


def loop(data: Path) -> dict:
    import pytrec_eval
    from scipy.stats import kendalltau

    from pt_reuse.arrays.bootstrap import TopicBootstrap

    runs, human, judges = read(data)
    lists = {}
    for name in runs.names:
        lists[name] = {
            qid: dict(zip(part["docno"], part["score"], strict=True)) for qid, part in runs[name].groupby("qid")
        }

    def nested(qrels, lowest=None):
        frame = qrels.to_frame()
        if lowest is not None and lowest != RELEVANT:
            # a binary 1 is relevant, which is 2 for people
            frame["label"] = frame["label"] * RELEVANT
        return {
            qid: dict(zip(part["docno"], part["label"].tolist(), strict=True)) for qid, part in frame.groupby("qid")
        }

    def lowest_of(qrels):
        return 1 if qrels.to_frame()["label"].max() <= 1 else RELEVANT

    sides = {"people": nested(human), **{name: nested(labels, lowest_of(labels)) for name, labels in judges.items()}}
    # the draws are ours, so that every number can be compared
    draws = [
        np.repeat(np.arange(len(human.topics)), row)
        for row in TopicBootstrap(RESAMPLES, SEED, 0.95).counts(len(human.topics))
    ]
    start, scores = time.process_time(), {}
    for side, labels in sides.items():
        evaluator = pytrec_eval.RelevanceEvaluator(labels, {"ndcg_cut.10"})
        scores[side] = np.zeros((len(human.topics), len(runs)))
        for r, name in enumerate(runs.names):
            found = evaluator.evaluate(lists[name])
            scores[side][:, r] = [found.get(qid, {}).get("ndcg_cut_10", 0.0) for qid in human.topics]
    truth, rows = scores.pop("people"), {}
    rank = 1 + (np.round(truth.mean(0), 12)[:, None] < np.round(truth.mean(0), 12)).sum(1)
    for judge, values in scores.items():
        for part, chosen in (("all", np.arange(len(runs))), ("best", np.flatnonzero(rank <= BEST))):
            taus = []
            for topics in (np.arange(len(truth)), *draws):
                x, y = (side[topics][:, chosen].mean(axis=0).round(12) for side in (truth, values))
                taus.append(float(kendalltau(x, y).statistic))
            low, high = np.percentile(taus[1:], [2.5, 97.5])
            reach = max(taus[0] - low, high - taus[0], 0.0)
            rows[f"{judge}, {part}"] = [taus[0], max(taus[0] - reach, -1), min(taus[0] + reach, 1)]
    return {"seconds": time.process_time() - start, "values": rows}


def run(name: str, data: Path) -> dict:
    print(f"... {name}", file=sys.stderr, flush=True)
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    command = [sys.executable, __file__, "--route", name, str(data)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **threads})
    return json.loads(done.stdout.splitlines()[-1])


def main(data: Path) -> None:
    if not (data / "llm-labels").is_dir():
        sys.exit(f"{data}: no labels of judges there. Give the folder that holds dl21-passages, or set PT_REUSE_DATA.")
    mine, peer = run("ours", data), run("loop", data)
    worst = max(
        abs(a - b) for part, values in peer["values"].items() for a, b in zip(values, mine["values"][part], strict=True)
    )
    if worst > 1e-9 or mine["values"].keys() != peer["values"].keys():
        sys.exit(f"Ours and the loop's differ by up to {worst:.1e}.")
    size = mine["size"]
    print(f"{size['judges']} judges, {size['runs']} runs, {size['topics']} topics, {RESAMPLES:,} resamples.")
    print(f"tau_b and its intervals differ from the loop's by at most {worst:.1e}.\n")
    print("| what | CPU s | peak MB |\n|---|---|---|")
    print(
        f"| audit_labels, all of it ({mine['documents']:,} documents of runs) | {mine['seconds']:.2f} | {mine['peak']:.0f} |"
    )
    print(
        f"| loop over pytrec_eval and scipy.stats.kendalltau, tau_b alone | {peer['seconds']:.2f} | {peer['peak']:.0f} |"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--route":
        result = {"ours": ours, "loop": loop}[sys.argv[2]](Path(sys.argv[3]))
        print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, **result}))
    else:
        default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
        main(Path(sys.argv[1] if len(sys.argv) > 1 else default) / "dl21-passages")
