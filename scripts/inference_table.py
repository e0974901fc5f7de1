"""Simulate pools that are known, infer them, and print how far the inference is right: the table of the docs.

    python scripts/inference_table.py > after.csv
    git worktree add ../before 3ec37b1                # another state of the package
    PYTHONPATH=../before python scripts/inference_table.py > before.csv
    python scripts/inference_table.py --join before.csv after.csv

Every field has 30 runs of 15 teams on 24 topics, about half of them pooled to depth 20 (simulated; nothing here is
evidence of what real systems do). Precision and recall are of the contributors; `depth` is the share of topics whose
depth is the true one; `range` the share of fields whose range of contributors holds the true number.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

import pt_reuse as ptr
from pt_reuse.demo.simulated import SimulatedField

N_TOPICS, N_TEAMS, DEPTH, LENGTH = 24, 15, 20, 100
Judged = set[tuple[str, str]]


@dataclass
class Case:
    """A field, what was judged, and the truth.

    Attributes:
        lists: run -> topic -> documents, best first.
        depths: topic -> depth of its pool.
        pooled: who contributed.
        judged: pairs of topic and document.
    """

    lists: dict[str, dict[str, list[str]]]
    depths: dict[str, int]
    pooled: list[str]
    judged: Judged


def pool_of(case: Case, names: list[str], depths: dict[str, int]) -> Judged:
    """Return the pool of some runs."""
    return {(qid, doc) for name in names for qid, docs in case.lists[name].items() for doc in docs[: depths[qid]]}


def plain(random: np.random.Generator, field: SimulatedField) -> Case:
    """Pool half of the runs to one depth."""
    frame = field.runs.to_frame()
    lists: dict[str, dict[str, list[str]]] = {}
    for (name, qid), docs in frame.groupby(["name", "qid"], sort=False)["docno"]:
        lists.setdefault(name, {})[qid] = docs.tolist()
    names = field.runs.names
    pooled = sorted(random.choice(names, size=len(names) // 2, replace=False).tolist())
    case = Case(lists, dict.fromkeys(field.runs.topics, DEPTH), pooled, set())
    case.judged = pool_of(case, pooled, case.depths)
    return case


def clones(random: np.random.Generator, case: Case) -> None:
    """Add an exact copy of four runs and a near copy of four others; no copy was pooled."""
    for at, name in enumerate(random.choice(sorted(case.lists), size=8, replace=False).tolist()):
        copy = {qid: list(docs) for qid, docs in case.lists[name].items()}
        if at >= 4:
            for qid in random.choice(sorted(copy), size=3, replace=False).tolist():
                place = int(random.integers(0, DEPTH))
                copy[qid].insert(place, copy[qid].pop(DEPTH + int(random.integers(0, DEPTH))))
        case.lists[f"{name}copy"] = copy


def shallow(random: np.random.Generator, case: Case) -> None:
    """Cut a quarter of the lists to 3 to 15 documents, and pool again."""
    for name in random.choice(sorted(case.lists), size=len(case.lists) // 4, replace=False).tolist():
        length = int(random.integers(3, 16))
        case.lists[name] = {qid: docs[:length] for qid, docs in case.lists[name].items()}
    case.judged = pool_of(case, case.pooled, case.depths)


def by_topic(random: np.random.Generator, case: Case) -> None:
    """Pool every topic to a depth of its own."""
    case.depths = {qid: int(random.choice([5, 10, 15, 20, 30])) for qid in case.depths}
    case.judged = pool_of(case, case.pooled, case.depths)


def by_run(random: np.random.Generator, case: Case) -> None:
    """Pool half of the contributors to half of the depth."""
    half = case.pooled[::2]
    rest = [name for name in case.pooled if name not in half]
    less = dict.fromkeys(case.depths, DEPTH // 2)
    case.judged = pool_of(case, rest, case.depths) | pool_of(case, half, less)


def old_topics(random: np.random.Generator, case: Case) -> None:
    """Judge half of the topics from other runs, which are not in the field, to depth 60."""
    others = [name for name in case.lists if name not in case.pooled][:10]
    old = set(random.choice(sorted(case.depths), size=N_TOPICS // 2, replace=False).tolist())
    deep = pool_of(case, others, dict.fromkeys(case.depths, 60))
    case.judged = {pair for pair in case.judged if pair[0] not in old} | {pair for pair in deep if pair[0] in old}
    case.lists = {name: lists for name, lists in case.lists.items() if name not in others}
    case.depths = {qid: 0 if qid in old else DEPTH for qid in case.depths}


def others(share: float) -> Callable[[np.random.Generator, Case], None]:
    """Return what judges further documents, the better a run ranks them the likelier, until they are this share."""

    def judge(random: np.random.Generator, case: Case) -> None:
        weight: dict[tuple[str, str], float] = {}
        for lists in case.lists.values():
            for qid, docs in lists.items():
                for rank, doc in enumerate(docs, 1):
                    if (qid, doc) not in case.judged:
                        weight[qid, doc] = weight.get((qid, doc), 0) + 1 / rank
        pairs = sorted(weight)
        p = np.array([weight[pair] for pair in pairs])
        n = round(len(case.judged) * share / (1 - share))
        chosen = random.choice(len(pairs), size=n, replace=False, p=p / p.sum())
        case.judged = case.judged | {pairs[at] for at in chosen.tolist()}

    return judge


def absent(random: np.random.Generator, case: Case) -> None:
    """Take a fifth of the runs out of the field."""
    for name in random.choice(sorted(case.lists), size=len(case.lists) // 5, replace=False).tolist():
        del case.lists[name]
    case.pooled = [name for name in case.pooled if name in case.lists]


def dropped(share: float) -> Callable[[np.random.Generator, Case], None]:
    """Return what takes this share of the judgments away."""

    def drop(random: np.random.Generator, case: Case) -> None:
        pairs = sorted(case.judged)
        kept = random.choice(len(pairs), size=round(len(pairs) * (1 - share)), replace=False)
        case.judged = {pairs[at] for at in kept.tolist()}

    return drop


CASES = {
    "plain": [],
    "clones": [clones],
    "shallow runs": [shallow],
    "a depth for each topic": [by_topic],
    "two depths, by run": [by_run],
    "half of the topics old": [old_topics],
    "5 % other judgments": [others(0.05)],
    "15 % other judgments": [others(0.15)],
    "30 % other judgments": [others(0.3)],
    "20 % of the runs missing": [absent],
    "2 % of the judgments dropped": [dropped(0.02)],
    "5 % of the judgments dropped": [dropped(0.05)],
    "clones, 2 % dropped": [clones, dropped(0.02)],
    "by topic, 2 % dropped": [by_topic, dropped(0.02)],
    "15 % other, 20 % of the runs missing, 2 % dropped": [others(0.15), absent, dropped(0.02)],
}


def made(name: str, seed: int) -> Case:
    """Return a simulated case; the same seed gives the same field for all of them."""
    random = np.random.default_rng(seed)
    field = ptr.demo.simulate_field(seed=seed, n_topics=N_TOPICS, n_teams=N_TEAMS, length=LENGTH, depth=DEPTH)
    case = plain(random, field)
    for change in CASES[name]:
        change(random, case)
    return case


def inferred(case: Case) -> dict[str, float]:
    """Infer the pool of a case, and say how far that is right."""
    frames = {}
    for name, lists in case.lists.items():
        rows = [(qid, doc, -rank) for qid, docs in lists.items() for rank, doc in enumerate(docs)]
        frames[name] = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    pairs = sorted(case.judged)
    qrels = ptr.Qrels(pd.DataFrame({"qid": [q for q, _ in pairs], "docno": [d for _, d in pairs], "label": 1}))
    begin = time.perf_counter()
    found = ptr.infer_pool(ptr.RunSet.from_frames(frames), qrels)
    seconds = time.perf_counter() - begin
    right = len(set(found.contributors) & set(case.pooled))
    depths = dict(zip(found.by_topic["qid"], found.by_topic["depth"], strict=True))
    low, high = getattr(found, "contributor_range", (len(found.contributors),) * 2)
    return {
        "precision": right / len(found.contributors) if found.contributors else 1.0,
        "recall": right / len(case.pooled),
        "depth": float(np.mean([depths.get(qid, 0) == depth for qid, depth in case.depths.items()])),
        "range": float(low <= len(case.pooled) <= high),
        "seconds": seconds,
    }


def print_rst(table: pd.DataFrame) -> None:
    """Print a table as reStructuredText."""
    rows = [table.columns.tolist(), *table.to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    print("\n".join([rule, lines[0], rule, *lines[1:], rule]))


def main() -> None:
    """Print the table of one state of the package, or join those of two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="fields of each kind; default 10")
    parser.add_argument("--only", help="one kind of fields")
    parser.add_argument("--join", nargs=2, metavar=("BEFORE", "AFTER"), help="print two tables as one, for the docs")
    options = parser.parse_args()
    if options.join:
        before, after = (pd.read_csv(path, index_col="field") for path in options.join)
        columns = ["precision", "recall", "depth", "range"]
        joined = before[columns].map("{:.2f}".format) + " / " + after[columns].map("{:.2f}".format)
        print_rst(joined.reset_index())
        return
    rows = []
    for name in [options.only] if options.only else CASES:
        figures = pd.DataFrame([inferred(made(name, seed)) for seed in range(1, options.seeds + 1)])
        rows.append({"field": name, **figures.mean().round(4)})
        print(name, dict(figures.mean().round(3)), file=sys.stderr)
    print(pd.DataFrame(rows).to_csv(index=False), end="")


if __name__ == "__main__":
    main()
