"""A collection of one's own by name, and who must have been pooled for its judgments."""

import tempfile
import warnings
from pathlib import Path

import pandas as pd
import pyterrier as pt

import pt_reuse as ptr

folder = Path(tempfile.mkdtemp())
demo = pt.get_dataset("reuse:demo")

# what an organiser has: run files, whose they are, and the judgments of a pool; nobody wrote down who was pooled
field = demo.get_runs()
field.write(folder / "runs")
field.run_table[["name", "team", "type"]].to_csv(folder / "runs.csv", index=False)
demo.get_judgments("complete").restrict(ptr.depth_pool(field, depth=20)).write(folder / "qrels.txt")
(folder / "collection.toml").write_text(
    """
name = "my/demo"
title = "The demo collection, judged to depth 20"
documents = "irds:reuse/demo"
topics = "irds:reuse/demo"
qrels = "qrels.txt"

[runs]
folder = "runs"
metadata = "runs.csv"
"""
)

ptr.register_collection(folder / "collection.toml")
print(ptr.list_collections("demo")[["name", "title", "runs", "here"]].to_string(index=False))

collection = pt.get_dataset("reuse:my/demo")
runs, qrels = collection.get_runs(), collection.get_judgments()
print(f"\n{runs!r}\n{qrels!r}")

inferred = ptr.infer_pool(runs, qrels)
print("\n", *inferred.answers(), sep="\n")
table = inferred.table[["name", "team", "type", "contributed", "evidence", "judged_to", "alone", "nearest"]]
print(table.to_string(index=False))

# the record, which the inference did not see
record = dict(zip(field.names, field.pooled, strict=True))
said = dict(zip(table["name"], table["contributed"], strict=True))
differ = [name for name in record if record[name] != said[name]]
print(f"\nDiffers from the record: {differ or 'no run'}")

# the judgments, the runs and who was pooled go on into any study
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    lou = ptr.leave_out_uniques(runs.with_metadata(pooled=inferred.contributors), qrels, ["AP"], depth=inferred.depth)
with pd.option_context("display.width", 120, "display.max_columns", None):
    print(f"\n{lou.summary}")
