"""Two systems in a ptr.Experiment among the official runs of a collection, what a paper prints, and a pool of both."""

import pandas as pd
import pyterrier as pt
from ir_measures import AP, nDCG

import pt_reuse as ptr

# a simulated field stands for the track's runs, and two of its runs for pipelines of your own
field = ptr.demo.simulate_field(seed=8)
topics = pd.DataFrame({"qid": field.runs.topics, "query": "a query"})
mine = {
    "BM25": pt.Transformer.from_df(field.runs["lex1a"]),
    "MiniLM": pt.Transformer.from_df(field.runs["neu8a"]),
}
official = field.runs.select([name for name in field.runs if name not in ("lex1a", "neu8a")])

result = ptr.Experiment(
    mine, topics, field.qrels, [nDCG @ 10, AP],
    field=official, pooled={"BM25": True, "MiniLM": False}, depth=field.depth, baseline="BM25", round=3,
)  # fmt: skip
print(result.report())

print("\nOver all", len(official) + len(mine), "runs:")
print(result.reuse_summary()[["measure", "own_tau_b", "own_gamma", "alone_max_drop"]].to_string(index=False))

# the runs were executed once: a pool of them, and how much of it the judgments lack
pool = ptr.depth_pool(result.runs, depth=10, contributors="all")
lacking = pool.remainder(field.qrels)
print(f"\nA pool of the two to depth 10 has {len(pool):,} documents, {len(lacking):,} of them without a judgment")

# MiniLM was not pooled: what nobody judged of its top 10 may have any label
row = result.set_index("name").loc["MiniLM"]
print(f"\nMiniLM: {row['nDCG@10 unjudged']:.1%} of the top 10 are unjudged, so that nDCG@10 may be anything from")
print(f"{row['nDCG@10 low']:.3f} to {row['nDCG@10 high']:.3f}; it is {row['nDCG@10']:.3f} with none of them relevant")
