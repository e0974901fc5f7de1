"""Ranks lost without a team

For each team: how many ranks a run loses at most when the team is left out of the pool, and which run that is.
"""

import pyterrier as pt
from ir_measures import P

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments()
lou = ptr.leave_out_uniques(runs, judged, [P @ 10], depth=10)

width = 7
lou.plot("P@10", kind="drops", width=width)
