"""Relevant density after each round

How dense the relevant documents of each topic are among the judged ones, after the initial pool and after each round in
which a classifier chose what to judge. Above one half, more of what was judged is relevant than not.
"""

import pyterrier as pt

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
assessor = demo.get_judgments("complete")
protocol = ptr.judging.TrecDL2021(batch=5, topic_budget=50)
corpus, topics = demo.get_corpus_iter(verbose=False), demo.get_topics()
runs = demo.get_runs()
found = ptr.judging.judge_continuously(corpus, topics, assessor, protocol=protocol, runs=runs)

width = 7
found.plot(width=width)
