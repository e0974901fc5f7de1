"""Judge the pool of a new system with people: sheets out, labels in, agreement, judgments, scores."""

import random
import tempfile
from pathlib import Path

import pandas as pd
import pyterrier as pt

import pt_reuse as ptr

folder = Path(tempfile.mkdtemp())
demo = pt.get_dataset("reuse:demo")
runs, judged = demo.get_runs(), demo.get_judgments()

# what the dense systems rank high and nobody has judged yet, for twenty topics
some = demo.get_topics().head(20)
pool = ptr.depth_pool(runs.select(type="dense"), depth=10, contributors="all").remainder(judged)
wanted = pool.to_frame()[lambda frame: frame["qid"].isin(some["qid"])]
scale = {0: "not relevant", 1: "related", 2: "relevant", 3: "highly relevant"}
tasks = ptr.judging.export_tasks(
    ptr.Pool.from_frame(wanted[["qid", "docno"]], settings={"strategy": "depth-10 of dense runs"}),
    folder / "tasks",
    topics=some,
    texts=demo.get_corpus_iter(verbose=False),
    annotators=["ann", "bob"],
    overlap=2,
    labels=scale,
    instructions="Would the text help somebody who asks this?",
    seed=1,
)
print(f"{tasks}\n")
print("Beside the tasks:", ", ".join(sorted(path.name for path in (folder / "tasks").iterdir())), "\n")

# People write into the column "label" of their sheet. Here two stand-ins do the reading: they know the demo's complete
# judgments, and err now and then. (With format="label-studio", what the tool exports goes into the folder "returned".)
truth = demo.get_judgments("complete").to_frame().set_index(["qid", "docno"])["label"]
chance = random.Random(7)
for file in tasks.table["file"]:
    sheet = pd.read_csv(folder / "tasks" / file, dtype=str, keep_default_na=False)
    known = [int(truth.get(key, 0)) for key in zip(sheet["qid"], sheet["docno"], strict=True)]
    sheet["label"] = [scale[max(0, min(3, label + chance.choice([0] * 18 + [-1, 1])))] for label in known]
    sheet.to_csv(folder / "tasks" / file, index=False)

labels = ptr.judging.import_labels(folder / "tasks")
print(f"{labels}\n\n{labels.report()}\n")

# how often did they agree? Nearly all is not relevant, so that much of it is chance, and kappa is lower than agreement.
# Then one label of theirs for each document, of two different ones the lower
print(f"{ptr.judging.annotator_agreement(labels).report()}\n")
new = ptr.judging.majority_vote(labels, ties="lower")
print(f"{new!r}\n{new.to_frame()[['qid', 'docno', 'label', 'judge', 'votes']].head(3).to_string(index=False)}\n")

# the old judgments of these topics with the new ones: what of each system's top ten is judged now?
old = judged.select(some["qid"])
types = runs.run_table.set_index("name")["type"]
shares = {}
for name, qrels in (("before", old), ("after", old | new)):
    unjudged = ptr.score(runs, qrels, [ptr.Unjudged @ 10]).mean.set_index("name")["Unjudged@10"]
    shares[name] = unjudged.groupby(types).mean().round(3)
print(f"Unjudged of the top ten, mean by type, twenty topics:\n{pd.DataFrame(shares).to_string()}")
