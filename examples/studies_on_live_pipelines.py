"""Studies on live pipelines: of what ptr.Experiment ran, of a dict of pipelines, and of its scores by topic.

pip install 'pt-reuse[demo,studies]' && python examples/studies_on_live_pipelines.py
"""

import tempfile
import warnings

import pyterrier as pt
from ir_measures import AP, nDCG
from pyterrier_pisa import PisaIndex

import pt_reuse as ptr

warnings.simplefilter("ignore", ptr.ReuseWarning)  # the demo has one topic without a relevant document
demo = pt.get_dataset("reuse:demo")
index = PisaIndex(tempfile.mkdtemp() + "/pisa", text_field="text", stemmer="porter2")
index.index(demo.get_corpus_iter(verbose=False))
topics = demo.get_topics()
topics["query"] = topics["query"].str.replace(r"[^\w\s]", " ", regex=True)
official = demo.get_runs().reorder("trec_eval9")  # as pt.Experiment ranks: float32 scores
judged, complete = demo.get_judgments(), demo.get_judgments("complete")

pipelines = {
    "BM25": index.bm25(num_results=100),
    "DPH": index.dph(num_results=100),
    "QLD": index.qld(num_results=100),
    "BM25, k1 = 3": index.bm25(k1=3, num_results=100),
}

# pt.Experiment runs each pipeline once; what they returned stands among the official runs of the collection
result = ptr.Experiment(pipelines, topics, judged, [AP, nDCG @ 10], field=official, pooled=False, perquery="both")
means, by_topic = result
runs = official | means.runs

# how far do the judgments cover each pipeline, and would more judgments rank it elsewhere?
covered = ptr.profile.coverage(runs, judged)
print(covered.report("by_run"))
moved = ptr.compare_judgments(runs, judged, complete, [nDCG @ 10], names=("pool", "complete"), selected=list(pipelines))
print(f"\n{moved.report('selected')}")

# a dict of pipelines is a field, too
alone = ptr.RunSet.from_pipelines(pipelines, topics)
print(f"\n{ptr.profile.coverage(alone, judged).answers()[0]}")

# what pt.Experiment says of each topic is enough for studies that look at scores alone
scores = ptr.Scores.from_frame(by_topic[["name", "qid", "measure", "value"]])
print("", *ptr.profile.stability(scores, pairs=500).answers(), sep="\n")
both = {"pool": ptr.score(runs, judged, [AP]), "complete": ptr.score(runs, complete, [AP])}
print(f"\n{ptr.profile.discriminative_power(both).report()}")
