"""What was never judged

For each run and topic: the share of unjudged documents in the top ten. Runs stand by type, and the topics with most
unjudged documents stand last.
"""

import pyterrier as pt

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments()
covered = ptr.profile.coverage(runs, judged, ["nDCG@10"])

width = 7
covered.plot("topics", width=width)
