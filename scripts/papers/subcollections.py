"""Redo "Size and source matter" on corpora that can be had, and store what its page shows.

    python scripts/papers/subcollections.py [DATA] [WHAT ...]

DATA is a folder with corpora, irds-cache and trec8-adhoc (default: PT_REUSE_DATA). WHAT is any of `four`, `sizes` and
`shares`, which index and run the paper's sixteen weighting models of Terrier on each part, and `trec8`, which restricts
the runs of TREC-8; default all. Terrier needs Java; without it, or with `pisa` among the words, models and settings of
PISA stand in: the numbers are others, and are stored beside those of Terrier (`subcollections-sources-pisa`). It takes
about half an hour.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyterrier as pt

import pt_reuse as ptr
from pt_reuse.studies.subcollections.subcollections import Subcollections

TARGET = Path(__file__).resolve().parents[2] / "docs" / "papers" / "stored"
MODELS = (
    "BB2", "BM25", "DFR_BM25", "DFRee", "DLH13", "DLH", "DPH", "Hiemstra_LM",
    "IFB2", "In_expB2", "In_expC2", "InL2", "LemurTF_IDF", "LGD", "PL2", "TF_IDF",
)  # fmt: skip
MEASURES = ["AP", "nDCG", "P@10"]
SOURCES = ["CACM", "CISI", "CRAN", "VASW"]
#: topics of each collection, so that none outweighs the others, and documents of a list
TOPICS, DEPTH = 25, 1000


def plain(text: str) -> str:
    """Return the words of a text without signs that Terrier's query language would read."""
    return " ".join(re.findall(r"\w+", text))


def corpus(data: Path) -> tuple[list[dict[str, str]], pd.DataFrame, pd.DataFrame]:
    """Return the documents, topics and judgments of four collections, each name with the collection's in front."""
    documents, topics, qrels = [], [], []
    for source, (texts, queries, judged) in zip(SOURCES, (cacm(data), cisi(data), *irds(data)), strict=True):
        documents += [{"docno": f"{source}-{docno}", "text": text} for docno, text in texts]
        relevant = {qid for qid, _, label in judged if label > 0}
        asked = [qid for qid, _ in queries if qid in relevant][:TOPICS]
        topics += [{"qid": f"{source}-{qid}", "query": plain(text)} for qid, text in queries if qid in asked]
        qrels += [(f"{source}-{qid}", f"{source}-{docno}", label) for qid, docno, label in judged if qid in asked]
    frame = pd.DataFrame(qrels, columns=["qid", "docno", "label"]).drop_duplicates(["qid", "docno"])
    return documents, pd.DataFrame(topics), frame


Read = tuple[list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, str, int]]]


def cacm(data: Path) -> Read:
    """Return the texts, queries and judgments of CACM."""
    folder = data / "corpora" / "cacm"
    with gzip.open(folder / "corpus" / "jsonl" / "cacm.json.gz", "rt", encoding="utf-8") as file:
        # documents are CACM-0115 here, and CACM-115 in the judgments
        texts = [(str(int(row["id"].removeprefix("CACM-"))), row["contents"]) for row in map(json.loads, file)]
    asked = (folder / "topics.cacm.txt").read_text()
    queries = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", asked, re.DOTALL)
    lines = (line.split() for line in (folder / "qrels.cacm.txt").read_text().splitlines())
    return texts, queries, [(qid, str(int(docno.removeprefix("CACM-"))), int(label)) for qid, _, docno, label in lines]


def cisi(data: Path) -> Read:
    """Return the texts, queries and judgments of CISI."""
    folder = data / "corpora" / "cisi"
    whole = gzip.decompress((folder / "CISI.ALL.gz").read_bytes()).decode("utf-8", "replace")
    queries = list(fields((folder / "CISI.QRY").read_text(), "TW"))
    lines = (line.split() for line in (folder / "CISI.REL").read_text().splitlines() if line.strip())
    return list(fields(whole, "TW")), queries, [(line[0], line[1], 1) for line in lines]


def fields(text: str, wanted: str) -> Iterator[tuple[str, str]]:
    """Yield the number and the wanted fields of each record of a file in SMART's form."""
    for record in re.split(r"^\.I\s+", text, flags=re.MULTILINE)[1:]:
        number, *parts = re.split(r"^\.([A-Z])\s*$", record, flags=re.MULTILINE)
        kept = [part for name, part in zip(parts[::2], parts[1::2], strict=True) if name in wanted]
        yield number.strip(), " ".join(kept)


def irds(data: Path) -> Iterator[Read]:
    """Yield the texts, queries and judgments of cranfield and vaswani, as ir_datasets has them."""
    import ir_datasets

    for name in ("cranfield", "vaswani"):
        dataset = ir_datasets.load(name)
        texts = [(doc.doc_id, doc.default_text()) for doc in dataset.docs_iter()]
        queries = [(query.query_id, query.text) for query in dataset.queries_iter()]
        yield texts, queries, [(q.query_id, q.doc_id, int(q.relevance > 0)) for q in dataset.qrels_iter()]


def weighting_model(name: str) -> Callable[[Any], pt.Transformer]:
    """Return a function that makes Terrier's retriever of an index."""
    return lambda index: pt.terrier.Retriever(index, wmodel=name, num_results=DEPTH) >> pt.apply.generic(without_nan)


def without_nan(results: pd.DataFrame) -> pd.DataFrame:
    """Leave out documents that have no score, and say which.

    BB2 takes the logarithm of a term's frequency in the collection less that in the document, which is normalised: no
    number where one document, shorter than the average, has the term alone.
    """
    without = results["score"].isna()
    for row in results[without].itertuples():
        print(f"no score: topic {row.qid}, document {row.docno}", flush=True)
    return results[~without]


def indexed(documents: Iterable[Mapping[str, Any]]) -> Any:
    """Index documents in memory."""
    folder = tempfile.mkdtemp()
    try:
        return pt.IterDictIndexer(folder, type=pt.index.IndexingType.MEMORY, meta={"docno": 20}).index(documents)
    finally:
        shutil.rmtree(folder)


def of_pisa(documents: Iterable[Mapping[str, Any]]) -> Any:
    """Index documents with PISA."""
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(tempfile.mkdtemp(), text_field="text", stemmer="porter2", overwrite=True)
    index.index(documents)
    return index


#: sixteen systems without Java: four models, each with four settings
PISA: dict[str, Callable[[Any], pt.Transformer]] = {
    **{f"BM25 b={b}": lambda index, b=b: index.bm25(b=b, num_results=DEPTH) for b in (0.1, 0.4, 0.75, 0.95)},
    **{f"QLD mu={mu}": lambda index, mu=mu: index.qld(mu=mu, num_results=DEPTH) for mu in (50, 250, 1000, 4000)},
    **{f"PL2 c={c}": lambda index, c=c: index.pl2(c=c, num_results=DEPTH) for c in (0.5, 1, 4, 16)},
    **{f"BM25 k1={k1}": lambda index, k1=k1: index.bm25(k1=k1, num_results=DEPTH) for k1 in (0.3, 0.6, 2, 4)},
}


@dataclass(frozen=True)
class Engine:
    """What indexes and runs sixteen systems.

    Attributes:
        factories: system -> a function that makes its pipeline of an index.
        index: indexes the documents of a part.
        suffix: of the names of what is stored.
    """

    factories: Mapping[str, Callable[[Any], pt.Transformer]]
    index: Callable[[Iterable[Mapping[str, Any]]], Any]
    suffix: str

    def systems(self, documents: list[dict[str, str]], topics: pd.DataFrame) -> ptr.profile.Systems[Any]:
        """Return the sixteen systems on a corpus."""
        return ptr.profile.Systems(self.factories, documents, topics, index=self.index)

    def keep(self, found: Subcollections, name: str) -> None:
        """Store a result, and print it."""
        found.save(TARGET / f"subcollections-{name}{self.suffix}", overwrite=True)
        print(found.report(), flush=True)


TERRIER = Engine({name: weighting_model(name) for name in MODELS}, indexed, "")
OF_PISA = Engine(PISA, of_pisa, "-pisa")


def four(engine: Engine, data: Path) -> None:
    """By source and by chance with the sizes of the sources: table 1."""
    documents, topics, qrels = corpus(data)
    mine = engine.systems(documents, topics)
    engine.keep(ptr.profile.subcollections(mine, qrels, MEASURES, sources=SOURCES, whole=True, verbose=True), "sources")
    found = ptr.profile.subcollections(mine, qrels, MEASURES, sources=SOURCES, how="random", repeats=3, verbose=True)
    engine.keep(found, "like-sources")


def sizes(engine: Engine, data: Path) -> None:
    """By two sizes: figure 1."""
    documents, topics, qrels = corpus(data)
    found = ptr.profile.subcollections(
        engine.systems(documents, topics),
        qrels,
        MEASURES[:1],
        how="random",
        sizes=[250, 1000, 4000],
        repeats=4,
        verbose=True,
    )
    engine.keep(found, "sizes")


def shares(engine: Engine, data: Path) -> None:
    """By the share of one source: figure 2."""
    documents, topics, qrels = corpus(data)
    found = ptr.profile.subcollections(
        engine.systems(documents, topics),
        qrels,
        MEASURES[:1],
        sources=SOURCES,
        how="mixed",
        shares=[0, 0.5, 1],
        repeats=2,
        verbose=True,
    )
    engine.keep(found, "shares")


def trec8(data: Path) -> None:
    """The four sources of TREC-8, by restriction; too many pairs of runs to store, so the tables are."""
    folder = data / "trec8-adhoc"
    runs, qrels = (
        ptr.read_runs(folder / "inputs", teams=folder / "runs-pids"),
        ptr.read_qrels(folder / "trec8.qrels.gz"),
    )
    prefixes = ["FR94", "FBIS", "LA", "FT"]
    by_source = ptr.profile.subcollections(runs, qrels, MEASURES, sources=prefixes, whole=True)
    own = ptr.profile.subcollections(runs, qrels, MEASURES, sources=prefixes, relevant="own")
    given = by_source.parts.loc[by_source.parts["part"] != "whole", "drawn"].tolist()
    sizes = ptr.profile.subcollections(runs, qrels, "AP", how="random", sizes=given, repeats=8, verbose=True)
    mixed = ptr.profile.subcollections(
        runs, qrels, "AP", sources=prefixes, how="mixed", shares=[0.2, 0.4, 0.6, 0.8, 1], repeats=3, verbose=True
    )
    alike = by_source.between_measures.query("measure == 'AP' and other_measure == 'nDCG'").set_index("part")
    of_part = by_source.by_part.query("measure == 'AP'").set_index("part")[["agree", "agree_se", "tau_b"]]
    texts = {
        "sources": [
            of_part.join(alike["agree"].rename("AP and nDCG")),
            _grid(by_source.by_pair.query("measure == 'AP'")),
        ],
        "own": [str(own.report())],
        "sizes": [sizes.table.pivot_table(index="size", columns="other_size", values="agree")],
        "shares": [mixed.table.pivot_table(index="source", columns="share", values="agree")],
    }
    for name, said in texts.items():
        path = TARGET.parents[1] / "experiments" / f"subcollections-trec8-{name}.txt"
        tables = (each if isinstance(each, str) else each.to_string(float_format="%.3f", na_rep="") for each in said)
        text = "\n\n".join(tables)
        path.write_text(text + "\n", encoding="utf-8")
        print(text)


def _grid(by_pair: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of each two parts, the one in a row and the other in a column."""
    grid = by_pair.pivot_table(index="part", columns="other_part", values="agree")
    names = list(dict.fromkeys([*by_pair["part"], *by_pair["other_part"]]))
    return grid.reindex(index=names[:-1], columns=names[1:])


STUDIES = {"four": four, "sizes": sizes, "shares": shares}


def main(arguments: list[str]) -> None:
    """Compute what is asked for."""
    engine = OF_PISA if "pisa" in arguments or shutil.which("java") is None else TERRIER
    studies = {**{name: partial(study, engine) for name, study in STUDIES.items()}, "trec8": trec8}
    wanted = [name for name in arguments if name in studies] or list(studies)
    folders = [name for name in arguments if name not in (*studies, "pisa")]
    data = Path(folders[0] if folders else os.environ.get("PT_REUSE_DATA", ""))
    with tempfile.TemporaryDirectory() as home:
        # ir_datasets writes beside what it reads
        shutil.copytree(data / "irds-cache", home, dirs_exist_ok=True)
        os.environ["IR_DATASETS_HOME"] = home
        # indexes of parts are made in folders that go in the end
        tempfile.tempdir = home
        for name in wanted:
            start = time.perf_counter()
            studies[name](data)
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
