"""A field whose lists are short, empty or unjudged, and coverage counted document by document."""

from __future__ import annotations

import math
import random
from statistics import mean, median

import pandas as pd

import pt_reuse as ptr

TOPICS = [str(n) for n in range(1, 8)]
DEPTHS = (1, 3, 10)
POOL_DEPTH = 3
P = 0.8


def ragged_field(seed=1, n_runs=6, longest=14):
    """Return runs of three teams, some lists short or empty, and judgments of some of the pool and of other documents.

    No two scores of a list are equal. Some labels are negative; topic 7 has no judgment of at least 0.
    """
    rng = random.Random(seed)
    frames = {}
    for r in range(n_runs):
        rows = []
        for qid in TOPICS:
            if rng.random() < 0.12 and not (r < 2 and qid == "1"):
                continue  # a run that lacks the topic
            n = rng.choice([1, 4, longest])
            docs = rng.sample([f"d{i}" for i in range(30)], n)
            rows += [(qid, docno, float(-rank)) for rank, docno in enumerate(docs)]
        frames[f"run{r}"] = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    runs = ptr.RunSet.from_frames(
        frames,
        teams={f"run{r}": f"team{r // 2}" for r in range(n_runs)},
        types={f"run{r}": ("lexical", "neural")[r % 2] for r in range(n_runs)},
        pooled=[f"run{r}" for r in range(n_runs - 1)],
    )
    rows = []
    for qid in TOPICS:
        for i in range(30):
            if rng.random() < 0.7:
                label = rng.choice([-2, -1]) if qid == "7" else rng.choice([-2, -1, 0, 0, 1, 2])
                rows.append((qid, f"d{i}", label))
    return runs, ptr.Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))


def lists_of(runs):
    """Return run -> topic -> its documents in order."""
    found = {}
    for name in runs.names:
        frame = runs[name].sort_values("rank")
        found[name] = {qid: part["docno"].tolist() for qid, part in frame.groupby("qid")}
    return found


def labels_of(qrels):
    """Return topic -> document -> label."""
    found = {qid: {} for qid in qrels.topics}
    for row in qrels.to_frame().itertuples():
        found[row.qid][row.docno] = row.label
    return found


def judged_of(labels):
    """Return topic -> the documents with a label of at least 0."""
    return {qid: {docno for docno, label in of.items() if label >= 0} for qid, of in labels.items()}


def share(docs, known, k):
    top = docs[:k]
    return sum(docno not in known for docno in top) / len(top) if top else 1.0


def residual(docs, known):
    """Return the residual of RBP as it is defined: unjudged documents, and p^n for what follows the list."""
    return sum((1 - P) * P**i for i, docno in enumerate(docs) if docno not in known) + P ** len(docs)


def by_hand(runs, labels, judged):
    """Return per run: its shares by depth in two conventions, how deep it is judged, its residual and its RBP."""
    found = {}
    for name, lists in lists_of(runs).items():
        longest = max(len(docs) for docs in lists.values())
        deep = []
        for qid, known in judged.items():
            docs = lists.get(qid, [])
            gaps = [i for i, docno in enumerate(docs) if docno not in known]
            deep += [gaps[0] if gaps else longest] if docs else []
        found[name] = {
            "unjudged": {k: mean(share(lists.get(q, []), known, k) for q, known in judged.items()) for k in DEPTHS},
            "of_k": {
                k: mean(sum(d not in known for d in lists.get(q, [])[:k]) / k for q, known in judged.items())
                for k in DEPTHS
            },
            "documents": {k: sum(len(lists.get(q, [])[:k]) for q in judged) for k in DEPTHS},
            "judged_to": min(deep),
            "median_judged_to": median(deep),
            "residual": mean(residual(lists.get(q, []), known) for q, known in judged.items()),
            "RBP": mean(
                sum((1 - P) * P**i for i, d in enumerate(lists.get(q, [])) if labels[q].get(d, 0) >= 1) for q in judged
            ),
        }
    return found


def left_out(runs, judged, depth=POOL_DEPTH):
    """Return team -> what is judged when the team takes no part: topic -> documents."""
    table = runs.run_table
    team_of, pooled = dict(zip(table["name"], table["team"], strict=True)), set(table["name"][table["pooled"]])
    teams: dict[tuple[str, str], set[str]] = {}
    for name, lists in lists_of(runs).items():
        for qid, docs in lists.items() if name in pooled else ():
            for docno in docs[:depth]:
                teams.setdefault((qid, docno), set()).add(team_of[name])
    return {
        team: {q: {d for d in known if teams.get((q, d)) != {team}} for q, known in judged.items()}
        for team in set(table["team"])
    }


def condensed_ndcg(docs, labels, cutoff=10):
    """Return nDCG at the cutoff of a list without unjudged documents."""
    kept = [docno for docno in docs if labels.get(docno, -1) >= 0]
    gain = sum(labels[docno] / math.log2(i + 2) for i, docno in enumerate(kept[:cutoff]))
    best = sorted((label for label in labels.values() if label > 0), reverse=True)[:cutoff]
    ideal = sum(label / math.log2(i + 2) for i, label in enumerate(best))
    return gain / ideal if ideal else 0.0
