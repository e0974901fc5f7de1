"""What moves with a convention

How far one convention at a time moves the largest loss of a run without the uniques of its own team. Each point is a
value of the convention, and the upright line is the default.
"""

import pyterrier as pt

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments()
moved = ptr.profile.sensitivity(ptr.leave_out_uniques, runs, judged, "nDCG@10")

width = 7
moved.plot(figure="largest_loss_pct", width=width)
