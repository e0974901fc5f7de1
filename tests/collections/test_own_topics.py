"""Own files of topics and judgments, as ir_datasets' queries and qrels."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_files import QUERIES, TOPICS, documents, topics, written

from pt_reuse.collections.own_files import TOPIC_IDS, OwnJudgments


@pytest.mark.parametrize("name", TOPICS)
def test_topics(tmp_path, name):
    found = topics(written(tmp_path / name, TOPICS[name]))
    assert [tuple(query) for query in found.queries_iter()] == QUERIES
    assert found.queries_count() == 2
    assert found.queries_dict()["2"].default_text() == "milk"
    assert found.queries_namespace() == "reuse/mine"


BROKEN_TOPICS = [
    ("t.tsv", "1\ttea\n2\tmilk\tx\n"),
    ("t.tsv", "1\ttea\n1\tmilk\n"),
    ("t.tsv", "1\ttea\n2\t \n"),
    ("t.tsv", "1 1\ttea\n"),
    ("t.csv", "topic,query\n1,tea\n"),
    ("t.jsonl", '{"qid": "1"'),
    ("t.csv", "qid,query\n"),
    ("t.xml", "<topics><topic>"),
    ("t.xml", "<topics><topic><query>a</query></topic></topics>"),
    ("t.txt", "<top>\n<num> 1\n<title> a\n"),
    ("t.txt", "<top>\n<title> a\n</top>"),
    ("t.txt", "what is this"),
    ("t.gz", b""),
]


def test_broken_topics_name_the_file(tmp_path, messages):
    for name, text in BROKEN_TOPICS:
        path = written(tmp_path / name, text)
        messages.refused(lambda path=path: list(topics(path).queries_iter()), place=f"{{d}}/{name}")


@pytest.mark.parametrize(
    ("name", "n", "fields", "first"),
    [
        ("topics.adhoc.401-450.txt", 50, ("title", "description", "narrative"), ("401", "foreign minorities, Germany")),
        ("topics.covid-round5.xml", 50, ("query", "question", "narrative"), ("1", "coronavirus origin")),
        ("topics.dl19-doc.txt", 43, ("query",), ("156493", "do goldfish grow")),
        ("topics.dl19-passage.txt", 43, ("query",), ("156493", "do goldfish grow")),
        ("topics.dl20.txt", 200, ("query",), ("1030303", "who is aziz hashim")),
        ("topics.dl21.txt", 477, ("query",), ("787021", "what is produced by muscle")),
    ],
)
def test_topics_as_nist_publishes_them(data, name, n, fields, first):
    found = list(topics(data / "topics" / name).queries_iter())
    assert len(found) == n
    assert found[0]._fields[1:] == fields
    assert tuple(found[0])[:2] == first
    assert all(value for query in found for value in query)


def test_judgments(tmp_path):
    found = OwnJudgments(written(tmp_path / "qrels.gz", "1 0 d1 2\n1 0 d2 0\n2 0 d1 -1\n2 0 d3 -2\n"))
    assert [tuple(qrel) for qrel in found.qrels_iter()] == [
        ("1", "d1", 2),
        ("1", "d2", 0),
        ("2", "d1", -1),
        ("2", "d3", -2),
    ]
    assert found.qrels_dict() == {"1": {"d1": 2, "d2": 0}, "2": {"d1": -1, "d3": -2}}
    assert found.qrels_count() == 4
    assert found.qrels_defs() == {-2: "junk", -1: "pooled, not judged", 0: "not relevant", 2: "relevant"}
    graded = OwnJudgments(written(tmp_path / "graded", "1 0 d1 1\n1 0 d2 2\n1 0 d3 3\n"), rel=2)
    assert graded.qrels_defs() == {1: "not relevant", 2: "relevant", 3: "relevant"}


WORDS = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1, max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@given(st.dictionaries(WORDS, TEXTS, min_size=1, max_size=8), st.booleans())
def test_every_format_gives_back_what_was_written(tmp_path_factory, rows, packed):
    folder = tmp_path_factory.mktemp("rows")
    end = ".gz" if packed else ""
    frame = pd.DataFrame({"qid": list(rows), "query": list(rows.values())})
    as_documents = frame.set_axis(["docno", "text"], axis=1)
    for part, given_rows, read in (("t", frame, topics), ("d", as_documents, documents)):
        given_rows.to_json(folder / f"{part}.jsonl{end}", orient="records", lines=True)
        given_rows.to_csv(folder / f"{part}.csv{end}", index=False)
        lines = "".join(f"{i}\t{text}\n" for i, text in rows.items())
        # a first topic called "id" is taken for a header
        kinds = ["jsonl", "csv"] + (["tsv"] if next(iter(rows)).lower() not in TOPIC_IDS else [])
        written(folder / f"{part}.tsv{end}", lines)
        for kind in kinds:
            component = read(folder / f"{part}.{kind}{end}")
            found = component.queries_iter() if part == "t" else component.docs_iter()
            assert {row[0]: row[1] for row in found} == rows
