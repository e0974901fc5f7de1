"""What each team found alone

For each team the number of judged documents that it alone put into the pool, relevant and not relevant. The number
beside a bar counts the relevant ones.
"""

import pyterrier as pt
from ir_measures import nDCG

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments()
lou = ptr.leave_out_uniques(runs, judged, [nDCG @ 10], depth=10)

width = 7
lou.plot("uniques", width=width)
