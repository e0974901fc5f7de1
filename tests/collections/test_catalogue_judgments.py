"""What the catalogue says of topics, judgments and documents, against ir_datasets and real judgments."""

from __future__ import annotations

import gzip
from collections import Counter

import pytest
from catalogue_parts import WITH_IRDS, metadata

from pt_reuse.collections.collection import catalogued
from pt_reuse.data.judgments import read_qrels

#: collection -> file of its judgments
QRELS = {
    "trec-7/adhoc": "qrels/qrels.adhoc.351-400.txt.gz", "trec-8/adhoc": "trec8-adhoc/trec8.qrels.gz",
    "trec-2005/robust": "qrels/qrels.robust05.txt.gz", "trec-2013/web/adhoc": "qrels/qrels.web.201-250.txt.gz",
    "trec-2017/core": "qrels/qrels.core17.txt.gz", "trec-2018/core": "qrels/qrels.core18.txt.gz",
    "trec-2019/deep/docs": "qrels/qrels.dl19-doc.txt.gz", "trec-2019/deep/passages": "qrels/qrels.dl19-passage.txt.gz",
    "trec-2020/deep/docs": "qrels/qrels.dl20-doc.txt.gz", "trec-2020/deep/passages": "qrels/qrels.dl20-passage.txt.gz",
    "trec-2021/deep/docs": "qrels/qrels.dl21-doc.txt.gz", "trec-2021/deep/passages": "qrels/qrels.dl21-passage.txt.gz",
    **{f"trec-covid/round{n}": f"qrels/qrels.covid-round{n}.txt.gz" for n in range(1, 5)},
    "trec-covid/round5": "trec-covid-round5/qrels.covid-round5.txt.gz",
    "trec-2025/rag/retrieval": "qrels/qrels.rag25.test.txt.gz",
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_IRDS)
def test_ir_datasets_has_topics_and_judgments(name):
    import ir_datasets

    collection = catalogued(name)
    dataset = ir_datasets.registry[collection.irds_id]
    there = {part: hasattr(dataset, f"{part}_handler") for part in ("docs", "queries", "qrels")}
    ours = {"docs": collection.documents, "queries": collection.topics, "qrels": collection.qrels}
    assert there == {part: source is not None for part, source in ours.items()}
    if collection.qrels is None:
        return
    qrels = metadata(collection.irds_id, "qrels")
    labels = qrels["fields"]["relevance"]["counts_by_value"]
    assert collection.n_judged == qrels["count"]
    assert collection.n_relevant == sum(times for label, times in labels.items() if int(label) > 0)
    queries = metadata(collection.irds_id, "queries")["count"]
    assert collection.n_topics is None or collection.n_topics <= queries
    # a dataset of the judged topics alone has as many of them
    if collection.irds_id.endswith("/judged"):
        assert collection.n_topics == queries


@pytest.mark.parametrize("name", QRELS)
def test_counts_are_those_of_the_judgments(name, data):
    path = data / QRELS[name]
    if not path.is_file():
        pytest.skip(f"the test data has no {QRELS[name]}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    collection = catalogued(name)
    topics = {row[0] for row in rows}
    assert collection.n_topics == len(topics)
    assert collection.n_judged == len(rows)
    assert collection.n_relevant == sum(int(row[3]) > 0 for row in rows)
    assert collection.topic_ids is None or topics <= collection.topic_ids
    assert collection.some_topics is None or collection.some_topics <= topics


def test_sources_of_trec8(data):
    qrels = read_qrels(data / "trec8-adhoc" / "trec8.qrels.gz")
    sources = catalogued("trec-8/adhoc").sources
    counts = Counter(sources.of(docno) for docno in qrels.to_frame()["docno"])
    assert counts == {"FBIS": 28_484, "FT": 22_516, "LA": 21_259, "FR94": 14_571}


@pytest.mark.parametrize(
    ("name", "docno", "source"),
    [
        ("trec-3/adhoc", "WSJ870324-0001", "WSJ"),
        ("trec-3/adhoc", "FR89103-0001", "FR"),
        ("trec-4/adhoc", "SJMN91-06182001", "SJMN"),
        ("trec-5/adhoc", "FR940104-0-00001", "FR94"),
        ("trec-5/adhoc", "FT921-1", "FT"),
        ("trec-6/adhoc", "CR93E-1", "CR"),
        ("trec-2004/robust", "FBIS3-1", "FBIS"),
        ("trec-2019/cast", "MARCO_1", "MARCO"),
        ("trec-8/adhoc", "GX000-00-0000000", None),
    ],
)
def test_sources(name, docno, source):
    assert catalogued(name).sources.of(docno) == source


def test_no_sources_where_a_docno_tells_none():
    assert catalogued("trec-covid/round5").sources is None
    assert catalogued("trec-2019/deep/passages").sources is None
