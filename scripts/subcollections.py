"""Redo "Size and source matter" on corpora that can be had, for the page of the paper.

The folder of the tracks has also corpora and irds-cache. The paper's sixteen weighting models of Terrier, which needs
Java, index and run each part of four small collections; the runs of TREC-8 are restricted to its parts. The smallest
reads the collections, and restricts a few runs.
"""

import gzip
import json
import os
import re
import shutil
import tempfile
from functools import partial

import pandas as pd
import pyterrier as pt
from store import trec8

import pt_reuse as ptr

MODELS = "BB2 BM25 DFR_BM25 DFRee DLH13 DLH DPH Hiemstra_LM IFB2 In_expB2 In_expC2 InL2 LemurTF_IDF LGD PL2 TF_IDF"
MEASURES = ["AP", "nDCG", "P@10"]
SOURCES = ["CACM", "CISI", "CRAN", "VASW"]
#: topics of each collection, so that none outweighs the others, and documents of a list
TOPICS, DEPTH = 25, 1000


def corpus(data):
    """Return the documents, topics and judgments of four collections, each name with the collection's in front."""
    documents, topics, qrels = [], [], []
    for source, (texts, queries, judged) in zip(SOURCES, (cacm(data), cisi(data), *irds()), strict=True):
        documents += [{"docno": f"{source}-{docno}", "text": text} for docno, text in texts]
        relevant = {qid for qid, _, label in judged if label > 0}
        asked = [qid for qid, _ in queries if qid in relevant][:TOPICS]
        # without signs that Terrier's query language would read
        plain = [(qid, " ".join(re.findall(r"\w+", text))) for qid, text in queries if qid in asked]
        topics += [{"qid": f"{source}-{qid}", "query": text} for qid, text in plain]
        qrels += [(f"{source}-{qid}", f"{source}-{docno}", label) for qid, docno, label in judged if qid in asked]
    frame = pd.DataFrame(qrels, columns=["qid", "docno", "label"]).drop_duplicates(["qid", "docno"])
    return documents, pd.DataFrame(topics), frame


def cacm(data):
    """Return the texts, queries and judgments of CACM."""
    folder = data / "corpora" / "cacm"
    with gzip.open(folder / "corpus" / "jsonl" / "cacm.json.gz", "rt", encoding="utf-8") as file:
        # documents are CACM-0115 here, and CACM-115 in the judgments
        texts = [(str(int(row["id"].removeprefix("CACM-"))), row["contents"]) for row in map(json.loads, file)]
    asked = (folder / "topics.cacm.txt").read_text()
    queries = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", asked, re.DOTALL)
    lines = (line.split() for line in (folder / "qrels.cacm.txt").read_text().splitlines())
    return texts, queries, [(qid, str(int(docno.removeprefix("CACM-"))), int(label)) for qid, _, docno, label in lines]


def cisi(data):
    """Return the texts, queries and judgments of CISI, files in SMART's form."""
    folder = data / "corpora" / "cisi"

    def fields(text):
        for record in re.split(r"^\.I\s+", text, flags=re.MULTILINE)[1:]:
            number, *parts = re.split(r"^\.([A-Z])\s*$", record, flags=re.MULTILINE)
            kept = [part for name, part in zip(parts[::2], parts[1::2], strict=True) if name in "TW"]
            yield number.strip(), " ".join(kept)

    whole = gzip.decompress((folder / "CISI.ALL.gz").read_bytes()).decode("utf-8", "replace")
    lines = (line.split() for line in (folder / "CISI.REL").read_text().splitlines() if line.strip())
    queries = list(fields((folder / "CISI.QRY").read_text()))
    return list(fields(whole)), queries, [(line[0], line[1], 1) for line in lines]


def irds():
    """Yield the texts, queries and judgments of cranfield and vaswani, as ir_datasets has them."""
    import ir_datasets

    for name in ("cranfield", "vaswani"):
        dataset = ir_datasets.load(name)
        texts = [(doc.doc_id, doc.default_text()) for doc in dataset.docs_iter()]
        queries = [(query.query_id, query.text) for query in dataset.queries_iter()]
        yield texts, queries, [(q.query_id, q.doc_id, int(q.relevance > 0)) for q in dataset.qrels_iter()]


def indexed(documents):
    """Index documents in memory."""
    with tempfile.TemporaryDirectory() as folder:
        return pt.IterDictIndexer(folder, type=pt.index.IndexingType.MEMORY, meta={"docno": 20}).index(documents)


def with_terrier(given):
    """By source and by chance with the sizes of the sources: table 1; by two sizes: figure 1; by shares: figure 2."""
    with tempfile.TemporaryDirectory() as home:
        # ir_datasets writes beside what it reads
        shutil.copytree(given.data / "irds-cache", home, dirs_exist_ok=True)
        os.environ["IR_DATASETS_HOME"] = home
        documents, topics, qrels = corpus(given.data)
    if given.smallest:
        print(f"{len(documents):,} documents, {len(topics)} topics, {len(qrels):,} judgments")
        return

    def retriever(index, name):
        # BB2 gives no number where one document, shorter than the average, has a term alone
        scored = pt.apply.generic(lambda results: results[results["score"].notna()])
        return pt.terrier.Retriever(index, wmodel=name, num_results=DEPTH) >> scored

    factories = {name: partial(retriever, name=name) for name in MODELS.split()}
    systems = ptr.profile.Systems(factories, documents, topics, index=indexed)
    by_source = {"sources": SOURCES, "how": "random", "repeats": 3}
    by_share = {"sources": SOURCES, "how": "mixed", "shares": [0, 0.5, 1], "repeats": 2}
    for name, measures, options in (
        ("sources", MEASURES, {"sources": SOURCES, "whole": True}),
        ("like-sources", MEASURES, by_source),
        ("sizes", MEASURES[:1], {"how": "random", "sizes": [250, 1000, 4000], "repeats": 4}),
        ("shares", MEASURES[:1], by_share),
    ):
        found = ptr.profile.subcollections(systems, qrels, measures, **options, verbose=True)
        given.save(f"subcollections-{name}", found, found.report())


def of_trec8(given):
    """Restrict runs to the four sources of TREC-8; there are too many pairs of runs to store, so the tables are."""
    runs, qrels = trec8(given.data, types=None, pooled=None)
    runs = given.size(runs, runs.select(runs.names[:4]))
    by = {"sources": ["FR94", "FBIS", "LA", "FT"]}
    by_source = ptr.profile.subcollections(runs, qrels, MEASURES, **by, whole=True)
    own = ptr.profile.subcollections(runs, qrels, MEASURES, **by, relevant="own")
    drawn = by_source.parts.loc[by_source.parts["part"] != "whole", "drawn"].tolist()
    repeats = given.size(8, 1)
    sizes = ptr.profile.subcollections(runs, qrels, "AP", how="random", sizes=drawn, repeats=repeats, verbose=True)
    by |= {"how": "mixed", "shares": [0.2, 0.4, 0.6, 0.8, 1], "repeats": given.size(3, 1)}
    mixed = ptr.profile.subcollections(runs, qrels, "AP", **by, verbose=True)
    alike = by_source.between_measures.query("measure == 'AP' and other_measure == 'nDCG'").set_index("part")
    of_part = by_source.by_part.query("measure == 'AP'").set_index("part")[["agree", "agree_se", "tau_b"]]
    pairs = by_source.by_pair.query("measure == 'AP'")
    parts = list(dict.fromkeys([*pairs["part"], *pairs["other_part"]]))
    grid = pairs.pivot_table(index="part", columns="other_part", values="agree")
    grid = grid.reindex(index=parts[:-1], columns=parts[1:])
    tables = {
        "sources": [of_part.join(alike["agree"].rename("AP and nDCG")), grid],
        "sizes": [sizes.table.pivot_table(index="size", columns="other_size", values="agree")],
        "shares": [mixed.table.pivot_table(index="source", columns="share", values="agree")],
    }
    given.write("subcollections-trec8-own", str(own.report()))
    for name, shown in tables.items():
        texts = [table.to_string(float_format="%.3f", na_rep="") for table in shown]
        given.write(f"subcollections-trec8-{name}", "\n\n".join(texts))


results = (with_terrier, of_trec8)
