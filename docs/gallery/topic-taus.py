"""Rankings on single topics

Tau-b of the rankings of all runs by a lexical pool and by complete judgments, on each topic alone, the lowest first.
The dashed line is tau_b of the means.
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
found.plot(kind="topics", width=width)
