"""Where the judgments end

The share of documents at each rank that is judged: of the runs that an inferred pool holds, of their documents that are
new at a rank, and of all other runs. The dotted line is the inferred depth.
"""

import pyterrier as pt

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs = demo.get_runs()
judged = demo.get_judgments("complete").restrict(ptr.depth_pool(runs, depth=20))
found = ptr.infer_pool(runs, judged)

width = 7
found.plot(width=width)
