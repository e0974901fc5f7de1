"""Scores without the own team's uniques

Each run's score with all judgments, against its score without the documents that only its own team put into the pool. A
run on the diagonal loses nothing.
"""

import matplotlib.pyplot as plt
import pyterrier as pt
from ir_measures import P

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments()
lou = ptr.leave_out_uniques(runs, judged, [P @ 10], depth=10)

width = 7
figure, ax = plt.subplots(figsize=(width, 0.65 * width), layout="constrained")
lou.plot("P@10", ax=ax)
