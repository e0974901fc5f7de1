"""What a pool costs and what it finds

The share of the relevant documents that pools of several depths find, over the number of documents to be judged.
``plot("tau_b")`` draws how far the ranking of the runs agrees with the one by all judgments.
"""

import pyterrier as pt
from ir_measures import AP

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
runs, complete = demo.get_runs(), demo.get_judgments("complete")
found = ptr.pools.pool_costs(runs, complete, [AP], depths=[1, 2, 5, 10, 20, 50])

width = 7
found.plot(width=width)
