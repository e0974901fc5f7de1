"""New relevant documents of each run

How many of the top documents of each run a lexical pool does not know, and how many of these are relevant by complete
judgments. Dense and manual runs are further up than lexical ones: what the pool misses of them is relevant more often.
"""

import pyterrier as pt
from ir_measures import P

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs, complete = demo.get_runs(), demo.get_judgments("complete")
pool = ptr.depth_pool(runs.select(type="lexical", pooled=True), depth=10)
old, names = complete.restrict(pool), ("lexical pool", "complete judgments")
found = ptr.compare_judgments(runs, old, complete, [P @ 10], names=names)

width = 7
found.plot(kind="runs", width=width)
