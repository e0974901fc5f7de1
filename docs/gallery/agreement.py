"""Scores under two sets of judgments

Each run's score under complete judgments, against its score when only lexical runs were pooled. Colours are types.
"""

import matplotlib.pyplot as plt
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
figure, ax = plt.subplots(figsize=(width, 0.65 * width), layout="constrained")
agreement.plot(ax=ax)
