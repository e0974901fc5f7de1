"""How easy each topic is

The scores of all runs on each topic, as a box from quartile to quartile with a stroke at the median. Topics on which
the median is the highest possible score tell runs apart no more.
"""

import pyterrier as pt
from ir_measures import P

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
scores = ptr.score(demo.get_runs(), demo.get_judgments(), [P @ 5])

width = 7
ptr.profile.saturation(scores).plot(width=width)
