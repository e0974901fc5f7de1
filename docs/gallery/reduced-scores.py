"""Scores without the own team's uniques

How each run's score changes without the documents that only its own team put into the pool. A run on the line loses
nothing.
"""

import pyterrier as pt
from ir_measures import P

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments()
lou = ptr.leave_out_uniques(runs, judged, [P @ 10], depth=10)

width = 7
lou.plot("P@10", width=width)
