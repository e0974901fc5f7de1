"""Where relevant documents were first found

How many relevant documents each topic has at each minimum rank, the best rank that any run gave them. The row on top is
of documents that no run has.
"""

import pyterrier as pt

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
found = ptr.pools.minimum_ranks(demo.get_runs(), demo.get_judgments("complete"))

width = 7
found.plot(width=width)
