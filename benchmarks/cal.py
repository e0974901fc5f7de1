"""Rounds of continuous active learning on vaswani's 11,429 documents, against loops that make the features each round.

    python benchmarks/cal.py [DATA]

DATA is a folder with irds-cache/vaswani (default: PT_REUSE_DATA). Both routes judge the same topics by the same
protocol with the same classifier, scikit-learn's, in a process each. The documents and their order are compared before
any time is reported. The peer is what the method's description reads like: in each round the texts become features, the
classifier is fitted on all columns, and every document is scored.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

N_TOPICS, BUDGET, BATCH, PRESUMED = 10, 100, 20, 100


def entries(path: Path) -> dict[str, str]:
    """Return number -> the lines below it."""
    return dict(re.findall(r"^(\d+)\n\s*(.*?)\s*/\s*$", path.read_text(), re.MULTILINE | re.DOTALL))


def load(folder: Path):
    import pandas as pd

    corpus = [{"docno": docno, "text": text} for docno, text in entries(folder / "docs.txt").items()]
    topics = pd.DataFrame(list(entries(folder / "queries.txt").items()), columns=["qid", "query"]).head(N_TOPICS)
    known = {qid: dict.fromkeys(found.split(), 1) for qid, found in entries(folder / "qrels.txt").items()}
    return corpus, topics, known


def ours(folder: Path) -> dict:
    import pt_reuse as ptr

    corpus, topics, known = load(folder)
    judge = ptr.judging.Oracle(known, unknown="not relevant")
    protocol = ptr.judging.AutoTAR(batch=BATCH, growth=0.0, presumed_negatives=PRESUMED, topic_budget=BUDGET)
    ptr.judging.judge_continuously(corpus[:200], topics.head(1), judge, protocol=protocol)  # imports
    start = time.perf_counter()
    scorer = ptr.judging.TfIdf(corpus)
    features = time.perf_counter()
    found = ptr.judging.judge_continuously(scorer, topics, judge, protocol=protocol)
    end = time.perf_counter()
    order = found.labels.groupby("qid")["docno"].apply(list).to_dict()
    return {"features": features - start, "rounds": end - features, "n": len(found.rounds), "order": order}


def peer(folder: Path) -> dict:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    from pt_reuse.pooling.adaptive.bandits import random_of_topic

    corpus, topics, known = load(folder)
    texts, names = [doc["text"] for doc in corpus], [doc["docno"] for doc in corpus]
    LogisticRegression(solver="newton-cg").fit([[0.0], [1.0]], [0, 1])  # imports
    start, n, order = time.perf_counter(), 0, {}
    for qid, query in topics.itertuples(index=False):
        random, judged = random_of_topic(0, qid), []
        tie = random.permutation(len(names))
        while len(judged) < BUDGET:
            vectorizer = TfidfVectorizer(sublinear_tf=True).fit(texts)
            matrix = vectorizer.transform([*texts, query])
            free = [i for i in range(len(names)) if i not in set(judged)]
            presumed = random.choice(free, size=PRESUMED, replace=False).tolist()
            relevant = [names[i] in known[qid] for i in judged]
            model = LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=1000)
            model.fit(matrix[[len(names), *judged, *presumed]], [True, *relevant, *[False] * PRESUMED])
            scores = model.decision_function(matrix)
            judged += sorted(free, key=lambda i: (-scores[i], tie[i]))[:BATCH]
            n += 1
        order[qid] = [names[i] for i in judged]
    return {"features": 0.0, "rounds": time.perf_counter() - start, "n": n, "order": order}


def main() -> None:
    """Measure both routes, each in a process of its own, and compare what they judged."""
    given = sys.argv[1:2] or [os.environ.get("PT_REUSE_DATA", "../shared/data")]
    folder = Path(given[0]) / "irds-cache" / "vaswani"
    found = {}
    for name in ("ours", "peer"):
        run = subprocess.run([sys.executable, __file__, "--route", name, str(folder)], capture_output=True, check=True)
        found[name] = json.loads(run.stdout)
    if found["ours"]["order"] != found["peer"]["order"]:
        sys.exit("the two routes judged other documents")
    print(f"{N_TOPICS} topics, {found['ours']['n']} rounds; the same documents in the same order\n")
    print("| what | features, s | a round, ms | peak MB |\n|---|---|---|---|")
    for name, made in found.items():
        print(f"| {name} | {made['features']:.2f} | {1000 * made['rounds'] / made['n']:.1f} | {made['peak']:.0f} |")
    ratio = found["peer"]["rounds"] / (found["ours"]["rounds"] + found["ours"]["features"])
    print(f"\nratio, features included: {ratio:.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--route"]:
        made = {"ours": ours, "peer": peer}[sys.argv[2]](Path(sys.argv[3]))
        made["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(made))
    else:
        main()
