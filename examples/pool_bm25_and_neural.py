"""BM25 and a neural ranker on the demo collection, under judgments of three different pools.

pip install 'pt-reuse[demo]' && python examples/pool_bm25_and_neural.py
"""

import tempfile

import pyterrier as pt
from ir_measures import AP, nDCG
from pyterrier_pisa import PisaIndex

import pt_reuse as ptr

demo = pt.get_dataset("reuse:demo")
index = PisaIndex(tempfile.mkdtemp() + "/pisa", text_field="text", stemmer="porter2")
index.index(demo.get_corpus_iter(verbose=False))

titles, described = demo.get_topics(), demo.get_topics("all")
titles = titles[titles["qid"] != "14"].reset_index(drop=True)  # has no relevant document: all would score 0
described = described.assign(query=described["query"] + " " + described["description"])[["qid", "query"]]
for topics in (titles, described):
    topics["query"] = topics["query"].str.replace(r"[^\w\s]", " ", regex=True)
with_description = pt.apply.query(lambda topic: dict(described.to_numpy())[topic["qid"]], verbose=False)

systems = {
    "BM25": index.bm25(num_results=100),
    "DPH": index.dph(num_results=100),
    "QLD": index.qld(num_results=100),
    "BM25-desc": with_description >> index.bm25(num_results=100),
    # all-MiniLM-L6-v2 by vectors that are shipped with the package
    "MiniLM": demo.get_dense_retriever(),
    "MiniLM-desc": demo.get_dense_retriever("described"),
}
types = {name: "neural" if name.startswith("MiniLM") else "lexical" for name in systems}
runs = ptr.RunSet.from_pipelines(systems, titles, types=types, order="trec_eval9")

complete = demo.get_judgments("complete").select(titles["qid"])
judgments = {
    "lexical pool": complete.restrict(ptr.depth_pool(runs.select(["BM25", "DPH", "QLD"]), depth=10)),
    "neural pool": complete.restrict(ptr.depth_pool(runs.select(type="neural"), depth=10)),
    "full pool": complete.restrict(ptr.depth_pool(runs, depth=10)),
}
frames = {name: runs[name] for name in runs}
tables, every = {}, ["lou", "rank", "unjudged"]
for pool, judged in judgments.items():
    # no field besides: these systems are all that was pooled, so their leave-out-uniques are those of the pool
    table = ptr.Experiment(frames, titles, judged, [nDCG @ 10, AP], reuse=every, types=types, depth=10, round=3)
    tables[pool] = table.rename(columns=lambda column: column.removesuffix(" (no field)"))
    print(f"\nJudged: {pool}, {len(judged):,} documents")
    print(
        tables[pool][["name", "nDCG@10", "nDCG@10 LOU", "nDCG@10 rank", "nDCG@10 drop", "nDCG@10 unjudged"]].to_string()
    )

truth = ptr.score(runs, complete, nDCG @ 10)
for pool, judged in judgments.items():
    agreement = truth.compare(ptr.score(runs, judged, nDCG @ 10))
    print(f"{pool}: tau_b {agreement.table['tau_b'].iloc[0]:.2f} to the ranking under complete judgments")

for pool in ("full pool", "lexical pool"):
    scores = tables[pool].set_index("name")["nDCG@10"]
    lead = scores["MiniLM-desc"] - scores["BM25-desc"]
    print(f"{pool}: with descriptions MiniLM leads BM25 by {lead:.3f}")

lexical = ptr.score(runs, judgments["lexical pool"], nDCG @ 10)
agreement = truth.compare(lexical, names=("complete judgments", "lexical pool"))
agreement.plot().figure.savefig("lexical_pool.png", dpi=120)
