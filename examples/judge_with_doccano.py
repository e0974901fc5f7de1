"""Judge the pool of a new system with people, through Doccano: tasks out, exports in, agreement, judgments, scores."""

import json
import random
import tempfile
import zipfile
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
    format="doccano",
    annotators=["ann", "bob"],
    overlap=2,
    labels=scale,
    instructions="Would the text help somebody who asks this?",
    seed=1,
)
print(f"{tasks}\n")
print("Beside the tasks:", ", ".join(sorted(path.name for path in (folder / "tasks").iterdir())), "\n")

# In Doccano: for each annotator a project "Text Classification", "Allow single label"; import doccano-labels.json under
# Labels and the annotator's file under Dataset (JSONL); export as JSONL. Here two stand-ins do the reading: they know
# the demo's complete judgments, and err now and then. What they write is what Doccano exports.
truth = demo.get_judgments("complete").to_frame().set_index(["qid", "docno"])["label"]
returned = folder / "tasks" / "returned"
returned.mkdir()
chance = random.Random(7)
for file, annotator in tasks.table[["file", "annotator"]].itertuples(index=False):
    records = [json.loads(line) for line in (folder / "tasks" / file).read_text().split("\n") if line]
    for number, record in enumerate(records, 1):
        label = int(truth.get((record["qid"], record["docno"]), 0))
        label = max(0, min(3, label + chance.choice([0] * 18 + [-1, 1])))
        record |= {"id": number, "label": [scale[label]], "Comments": []}
    with zipfile.ZipFile(returned / f"{annotator}.zip", "w") as archive:
        archive.writestr("all.jsonl", pd.DataFrame(records).to_json(orient="records", lines=True, force_ascii=False))

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
