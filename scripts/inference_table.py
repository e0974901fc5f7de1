"""Simulate pools that are known, infer them, and print how far the inference is right.

Every field has 30 runs of 15 teams on 24 topics, about half of them pooled to depth 20; real systems may be others.
Precision and recall are of the contributors; `depth` is the share of topics whose depth is the true one.
"""

from collections import Counter

import numpy as np
import pandas as pd
from store import laid_out

import pt_reuse as ptr

N_TOPICS, N_TEAMS, DEPTH, LENGTH = 24, 15, 20, 100


class Case:
    """A field, what was judged (pairs of topic and document), and the truth: who contributed, and depths by topic."""

    def __init__(self, random, seed):
        """Simulate a field, and pool half of its runs."""
        options = {"n_topics": N_TOPICS, "n_teams": N_TEAMS, "length": LENGTH, "depth": DEPTH}
        runs, self.lists = ptr.demo.simulate_field(seed=seed, **options).runs, {}
        for (name, qid), docs in runs.to_frame().groupby(["name", "qid"], sort=False)["docno"]:
            self.lists.setdefault(name, {})[qid] = docs.tolist()
        self.pooled = sorted(random.choice(runs.names, size=len(runs.names) // 2, replace=False).tolist())
        self.depths = dict.fromkeys(runs.topics, DEPTH)
        self.judged = self.pool(self.pooled, self.depths)

    def pool(self, names, depths):
        """Return the pool of some runs."""
        return {(qid, doc) for name in names for qid, docs in self.lists[name].items() for doc in docs[: depths[qid]]}

    def some(self, random, n):
        """Return some runs."""
        return random.choice(sorted(self.lists), size=n, replace=False).tolist()


def clones(random, case):
    """Add an exact copy of four runs and a near copy of four others; no copy was pooled."""
    for at, name in enumerate(case.some(random, 8)):
        copy = {qid: list(docs) for qid, docs in case.lists[name].items()}
        if at >= 4:
            for qid in random.choice(sorted(copy), size=3, replace=False).tolist():
                place = int(random.integers(0, DEPTH))
                copy[qid].insert(place, copy[qid].pop(DEPTH + int(random.integers(0, DEPTH))))
        case.lists[f"{name}copy"] = copy


def by_topic(random, case):
    """Pool every topic to a depth of its own."""
    case.depths = {qid: int(random.choice([5, 10, 15, 20, 30])) for qid in case.depths}
    case.judged = case.pool(case.pooled, case.depths)


def by_run(random, case):
    """Pool half of the contributors to half of the depth."""
    half = case.pooled[::2]
    rest, less = [name for name in case.pooled if name not in half], dict.fromkeys(case.depths, DEPTH // 2)
    case.judged = case.pool(rest, case.depths) | case.pool(half, less)


def others(random, case, share):
    """Judge further documents, the better a run ranks them the likelier, until they are this share."""
    weight = Counter()
    for qid, docs in (pair for lists in case.lists.values() for pair in lists.items()):
        for rank, doc in enumerate(docs, 1):
            weight[qid, doc] += 1 / rank if (qid, doc) not in case.judged else 0
    weight = +weight
    pairs, n = sorted(weight), round(len(case.judged) * share / (1 - share))
    p = np.array([weight[pair] for pair in pairs])
    case.judged |= {pairs[at] for at in random.choice(len(pairs), size=n, replace=False, p=p / p.sum()).tolist()}


def absent(random, case):
    """Take a fifth of the runs out of the field."""
    for name in case.some(random, len(case.lists) // 5):
        del case.lists[name]
    case.pooled = [name for name in case.pooled if name in case.lists]


def dropped(random, case, share):
    """Take this share of the judgments away."""
    pairs = sorted(case.judged)
    kept = random.choice(len(pairs), size=round(len(pairs) * (1 - share)), replace=False)
    case.judged = {pairs[at] for at in kept.tolist()}


CASES = {
    "plain": [],
    "clones": [(clones,)],
    "a depth for each topic": [(by_topic,)],
    "two depths, by run": [(by_run,)],
    "5 % other judgments": [(others, 0.05)],
    "15 % other judgments": [(others, 0.15)],
    "30 % other judgments": [(others, 0.3)],
    "20 % of the runs missing": [(absent,)],
    "2 % of the judgments dropped": [(dropped, 0.02)],
    "5 % of the judgments dropped": [(dropped, 0.05)],
    "clones, 2 % dropped": [(clones,), (dropped, 0.02)],
    "by topic, 2 % dropped": [(by_topic,), (dropped, 0.02)],
    "15 % other, 20 % of the runs missing, 2 % dropped": [(others, 0.15), (absent,), (dropped, 0.02)],
}


def inferred(name, seed):
    """Infer the pool of a simulated case, and return precision, recall and the share of depths that are right."""
    random, frames = np.random.default_rng(seed), {}
    case = Case(random, seed)
    for change, *share in CASES[name]:
        change(random, case, *share)
    for run, lists in case.lists.items():
        rows = [(qid, doc, -rank) for qid, docs in lists.items() for rank, doc in enumerate(docs)]
        frames[run] = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    judged = pd.DataFrame(sorted(case.judged), columns=["qid", "docno"]).assign(label=1)
    found = ptr.infer_pool(ptr.RunSet.from_frames(frames), ptr.Qrels(judged))
    right, n = len(set(found.contributors) & set(case.pooled)), len(found.contributors)
    depths = dict(zip(found.by_topic["qid"], found.by_topic["depth"], strict=True))
    of_depth = np.mean([depths.get(qid, 0) == depth for qid, depth in case.depths.items()])
    return right / n if n else 1.0, right / len(case.pooled), of_depth


def results(given):
    """Print the table."""
    rows = [["field", "precision", "recall", "depth"]]
    for name in CASES:
        found = given.each(inferred, [(name, seed) for seed in range(1, given.size(10, 1) + 1)])
        rows.append([name, *(f"{figure:.2f}" for figure in np.mean(found, axis=0))])
    print(laid_out(rows))
