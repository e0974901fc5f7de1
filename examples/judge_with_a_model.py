"""Judge a pool with a model, and have people check it where it is least sure.

    python examples/judge_with_a_model.py

The model here compares stored vectors, and the people are the judgments of the demo collection, so that it runs
anywhere. Put a function that asks a model of yours in the place of `read`, and a judge of yours in the place of
`people`.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt

import pt_reuse as ptr

folder = Path(tempfile.mkdtemp())
demo = pt.get_dataset("reuse:demo")
pool = ptr.depth_pool(demo.get_runs(), depth=20)
print(pool)


docnos, documents, queries = demo.get_embeddings("described")
row = {docno: n for n, docno in enumerate(docnos)}


def read(qids, found):
    """Return for each document how near its vector is to the query's. A model would read the query and the text."""
    return [float(queries[qid] @ documents[row[docno]]) for qid, docno in zip(qids, found, strict=True)]


# each answer is on the disk before the next call, and no document is asked for twice
model = ptr.judging.Callable(
    read,
    name="vectors",
    reads=("qid", "docno"),  # by default ("query", "text"): pt.text.get_text(demo, "text") >> model would bring texts
    batch_size=100,
    answers="score",
    thresholds=[0.4],
    cache=folder / "answers",
    version="1",
)

# people judge a tenth of the pool; the session keeps what they say, so that they can stop and go on
people = ptr.judging.Oracle(demo.get_judgments("complete"), name="people")
checked = ptr.judging.judge_with_model(
    pool, people, model, total=len(pool) // 10, batch_size=25, seed=1, session=folder / "session"
)
print(f"\n{checked}\n{model.cost}\n")
labels = checked.to_frame()
print(labels.groupby(["judge", "label"], sort=False).size().rename("labels").reset_index().to_string(index=False))

# what was it worth? Here all labels of people are known: beside the model alone, and as many documents at random
pairs = pool.to_frame()[["qid", "docno"]]
truth = (people(pairs)["label"] >= 1).to_numpy()
alone = (model(pairs)["label"] >= 1).to_numpy()
some = np.random.default_rng(1).permutation(len(pairs))[: int((labels["judge"] == "people").sum())]
at_random = alone.copy()
at_random[some] = truth[some]
where_unsure = (pairs.merge(labels, on=["qid", "docno"])["label"] >= 1).to_numpy()
ways = {"the model alone": alone, "people at random": at_random, "people where it is unsure": where_unsure}
rows = [(way, found.sum(), (found & truth).sum(), (found == truth).mean()) for way, found in ways.items()]
print(f"\nRelevant: {truth.sum()} of {len(truth):,}")
print(pd.DataFrame(rows, columns=["labels of", "called relevant", "rightly", "labels that agree"]).round(3).to_string())
