"""What was never judged

For each run the share of unjudged documents in its top ten: the mean over topics, and their quartiles. The runs with
most unjudged documents stand first.
"""

import pyterrier as pt

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments()
covered = ptr.profile.coverage(runs, judged, ["nDCG@10"])

width = 7
covered.plot("runs", width=width)
