"""Scores under two sets of judgments

Each run's score under complete judgments, and how much it changes when only lexical runs were pooled. Colours and
markers are types.
"""

import pyterrier as pt
from ir_measures import P

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs, complete = demo.get_runs(), demo.get_judgments("complete")
pool = ptr.depth_pool(runs.select(type="lexical", pooled=True), depth=10)
truth = ptr.score(runs, complete, [P @ 10])
partial = ptr.score(runs, complete.restrict(pool), [P @ 10])
agreement = truth.compare(partial, names=("complete judgments", "lexical pool"))

width = 7
agreement.plot(width=width)
