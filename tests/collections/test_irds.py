"""Own files as ir_datasets' documents, topics, judgments and runs, and what is registered there."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import pickle
import subprocess
import sys

import ir_datasets
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.definition import define
from pt_reuse.collections.irds import SubmittedRun, build_irds
from pt_reuse.collections.parts.documents import OwnDocuments
from pt_reuse.collections.parts.topics import ID_FIELDS, OwnJudgments, OwnTopics
from pt_reuse.collections.registration import register_collection, register_datasets, register_one
from pt_reuse.collections.registry import find_collection

EXPECTED = [("d1", "Tea", "green & black"), ("d2", "Milk", "of almonds")]


def documents(path):
    return OwnDocuments([path], "reuse/mine")


def topics(path):
    return OwnTopics(path, "reuse/mine")


def written(path, text):
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


JSON = "".join(json.dumps({"docno": i, "title": t, "text": x}) + "\n" for i, t, x in EXPECTED)
DOCUMENTS = {
    "docs.jsonl": JSON,
    "docs.jsonl.gz": JSON,
    "bom.jsonl": b"\xef\xbb\xbf" + JSON.replace("\n", "\r\n\r\n").encode(),
    "anserini.json": JSON.replace('"docno"', '"id"').replace('"text"', '"contents"'),
    "beir.jsonl": JSON.replace('"docno"', '"_id"'),
    "docs.csv": "docno,title,text\nd1,Tea,green & black\nd2,Milk,of almonds\n",
    "docs.CSV.GZ": "doc_id,title,text\r\nd1,Tea,green & black\r\nd2,Milk,of almonds\r\n",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_with_fields(tmp_path, name):
    found = documents(written(tmp_path / name, DOCUMENTS[name]) if name != "docs.CSV.GZ" else _gz(tmp_path / name))
    assert [tuple(document) for document in found.docs_iter()] == EXPECTED
    assert found.docs_cls()._fields == ("doc_id", "title", "text")
    assert all(kind is str for kind in found.docs_cls().__annotations__.values())
    assert found.docs_store().get("d1").default_text() == "Tea green & black"
    assert found.docs_store().get("d2", "title") == "Milk"


def _gz(path):
    path.write_bytes(gzip.compress(DOCUMENTS[path.name].encode()))
    return path


SGML = (
    "<DOC>\r\n<DOCNO> d1 </DOCNO>\r\n<DOCID>17</DOCID>\n<!-- no text -->\n<TEXT>\ngreen &amp; black\n</TEXT>\n</DOC>\n"
    "<doc id='2'><docno>d2</docno><p>of <b>almonds</b>, 1 < 2</p></doc>"
)


def test_plain_documents(tmp_path):
    lines = documents(written(tmp_path / "docs.tsv.gz", "d1\tgreen & black\n\nd2\tof almonds\n"))
    assert [tuple(document) for document in lines.docs_iter()] == [("d1", "green & black"), ("d2", "of almonds")]
    tagged = documents(written(tmp_path / "FB396001", SGML))
    assert [(d.doc_id, " ".join(d.text.split())) for d in tagged.docs_iter()] == [
        ("d1", "green & black"),
        ("d2", "of almonds , 1 < 2"),
    ]
    old = documents(written(tmp_path / "latin", "<DOC><DOCNO>a</DOCNO>caf\xe9</DOC>".encode("latin-1")))
    assert next(old.docs_iter()).text == "café"


def test_tagged_documents_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("pt_reuse.collections.parts.documents._BLOCK", 7)
    found = documents(written(tmp_path / "FB396001", SGML * 3))
    assert [document.doc_id for document in found.docs_iter()] == ["d1", "d2"] * 3


def test_several_files_slices_and_lookup(tmp_path):
    for part in range(3):
        written(tmp_path / f"{part}.tsv", "".join(f"d{part * 4 + i}\ttext {i}\n" for i in range(4)))
    found = OwnDocuments(sorted(tmp_path.glob("*.tsv")), "reuse/mine")
    every = [f"d{i}" for i in range(12)]
    assert found.docs_count() == 12

    def ids(part):
        return [document.doc_id for document in part]

    assert ids(found.docs_iter()) == every
    assert ids(found.docs_iter()[2:5]) == every[2:5]
    assert ids(found.docs_iter()[2:10:3]) == every[2:10:3]
    assert ids(found.docs_iter()[-2:]) == every[-2:]
    assert found.docs_iter()[-1].doc_id == "d11"
    with pytest.raises(IndexError):
        found.docs_iter()[12]
    store = found.docs_store()
    assert list(store.get_many(["d3", "none", "d1"])) == ["d3", "d1"]
    assert ids(store.get_many_iter(["d3", "none"])) == ["d3"]
    assert (store.count(), ids(store)) == (12, every)
    with pytest.raises(KeyError):
        store.get("none")
    assert len(found.docs_hash()) == 32
    with pytest.raises(AttributeError):
        found.docs_nothing  # noqa: B018


def test_fields_that_are_no_text_are_told(tmp_path, messages):
    lines = [{"docno": "d1", "text": "a", "year": 1999, "my field": "x"}, {"docno": "d2", "text": "b", "late": "y"}]
    found = documents(written(tmp_path / "d.jsonl", "\n".join(map(json.dumps, lines))))
    assert messages.warned(found.docs_cls)._fields == ("doc_id", "text")
    rows = list(found.docs_iter())
    assert [tuple(document) for document in rows] == [("d1", "a"), ("d2", "b")]


GOOD = '{"docno": "d1", "text": "a"}\n'


BROKEN_DOCUMENTS = [
    ("d.jsonl", GOOD + "\n{broken\n"),
    ("d.jsonl", GOOD + '["d2"]'),
    ("d.jsonl", GOOD + '{"text": "b"}'),
    ("d.jsonl", GOOD + '{"docno": "d 2", "text": "b"}'),
    ("d.jsonl", GOOD + '{"docno": null, "text": "b"}'),
    ("d.jsonl", GOOD + '{"docno": "d2", "text": 5}'),
    ("d.jsonl", GOOD + '{"docno": "d2", "text": 0}'),
    ("d.jsonl", '{"docno": "d1", "title": "b"}'),
    ("d.jsonl", GOOD.encode() + b"\xff\xfe"),
    ("d.jsonl", "\n"),
    ("d.tsv", "d1\ta\nd2 b\n"),
    ("d.tsv", "d1\ta\nd2\tb\tc\n"),
    ("d.csv", "docno,text\nd1,a\nd2\n"),
    ("d.csv", "docno,text,text\nd1,a,b\n"),
    ("d.csv", 'docno,text\nd1,"a\n'),
    ("d.txt", "no tags at all"),
    ("d.sgml", "\n<DOC>\n<TEXT>x</TEXT>\n</DOC>\n"),
    ("d.sgml", "<DOC><DOCNO>a</DOCNO>x\n</DOC>\n\n<DOC>\n<DOCNO>b"),
    ("d.sgml", "x</DOC>\n"),
    ("d.sgml", "<DOC><DOCNO>a</DOCNO>x</DOC>\n<DO"),
    ("d.sgml", "<DOC><DOCNO>a</DOCNO>x\n<DOC><DOCNO>b</DOCNO>y</DOC>"),
    ("d.jsonl", bz2.compress(GOOD.encode())),
    ("d.jsonl", lzma.compress(GOOD.encode())),
    ("d.jsonl", b"\x1f\x8b\x08\x00broken"),
    ("d.jsonl", b"\x28\xb5\x2f\xfd" + b"x" * 20),
]


@pytest.mark.parametrize(("name", "text"), BROKEN_DOCUMENTS, ids=range(len(BROKEN_DOCUMENTS)))
def test_broken_documents_name_the_file(tmp_path, messages, name, text):
    path = written(tmp_path / name, text)
    messages.refused(lambda: list(documents(path).docs_iter()), place=f"{{d}}/{name}")


def test_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "d.jsonl.gz"
    whole = gzip.compress(b"".join(GOOD.replace("d1", f"d{i * 7919}").encode() for i in range(2000)))
    path.write_bytes(whole)
    assert documents(path).docs_count() == 2000
    half = len(whole) // 2
    for damaged in (whole[:half], whole[:half] + b"\xff" * 50 + whole[half + 50 :]):
        path.write_bytes(damaged)
        with pytest.raises(ptr.InputError) as caught:
            list(documents(path).docs_iter())
        assert caught.value.place == str(path)


def test_a_document_twice_is_told_when_looked_up(tmp_path, messages):
    twice = documents(written(tmp_path / "d.jsonl", GOOD * 2))
    messages.refused(lambda: twice.docs_store().get("d1"), place="reuse/mine")


QUERIES = [("1", "green tea"), ("2", "milk")]
TOPICS = {
    "t.tsv": "1\tgreen tea\n2\tmilk\n",
    "bom.tsv": b"\xef\xbb\xbf1\tgreen tea\n\n2\tmilk",
    "t.txt": "1\tgreen tea\r\n2\tmilk\r\n",
    "t.tsv.gz": "qid\tquery\n1\tgreen tea\n2\tmilk\n",
    "t.csv": "qid,query\n1,green tea\n2,milk\n",
    "t.jsonl": '{"qid": 1, "query": "green tea"}\n{"qid": "2", "query": "milk"}\n',
    "number.jsonl": '{"number": 1, "query": "green tea"}\n{"number": "2", "query": "milk"}\n',
    "t.xml": '<topics><topic number="1"><query>green\n tea</query></topic><topic number="2">milk</topic></topics>',
    "num.xml": "<topics><t><num>1</num><query>green tea</query></t><t><num>2</num><query>milk</query></t></topics>",
    "title.txt": "<top>\n<num> Number: 1\n<title> Topic: green tea\n</top>\n\n"
    "<top>\n<num>2</num>\n<title>milk</title>\n</top>",
}


@pytest.mark.parametrize("name", TOPICS)
def test_topics(tmp_path, name):
    found = topics(written(tmp_path / name, TOPICS[name]))
    assert [tuple(query) for query in found.queries_iter()] == QUERIES
    assert found.queries_count() == 2
    assert found.queries_dict()["2"].default_text() == "milk"
    assert found.queries_namespace() == "reuse/mine"


def test_topics_with_several_fields(tmp_path):
    lines = '{"qid": "1", "note": "n", "query": "tea"}\n{"qid": "2", "query": "milk", "year": "1999"}\n'
    found = topics(written(tmp_path / "t.jsonl", lines))
    assert found.queries_cls()._fields == ("query_id", "note", "query", "year")
    assert [tuple(query) for query in found.queries_iter()] == [("1", "n", "tea", ""), ("2", "", "milk", "1999")]
    assert [query.default_text() for query in found.queries_iter()] == ["tea", "milk"]
    web = topics(
        written(
            tmp_path / "t.xml",
            '<w><topic number="1" type="faceted"><query>tea</query>'
            '<subtopic number="1">a</subtopic><subtopic number="2">b</subtopic></topic></w>',
        )
    )
    assert next(web.queries_iter())._asdict() == {
        "query_id": "1",
        "type": "faceted",
        "query": "tea",
        "subtopic": "a\nb",
    }


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


@pytest.mark.parametrize(("name", "text"), BROKEN_TOPICS, ids=range(len(BROKEN_TOPICS)))
def test_broken_topics_name_the_file(tmp_path, messages, name, text):
    path = written(tmp_path / name, text)
    messages.refused(lambda: list(topics(path).queries_iter()), place=f"{{d}}/{name}")


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


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    (folder / "runs").mkdir(parents=True)
    written(folder / "docs.jsonl", JSON)
    written(folder / "topics.tsv", TOPICS["t.tsv"])
    written(folder / "qrels.txt", "1 0 d1 1\n2 0 d2 1\n")
    for name in ("bm25", "dense"):
        rows = [f"{qid} Q0 d{rank} {rank} {3 - rank} {name}\n" for qid in (1, 2) for rank in (1, 2)]
        written(folder / "runs" / f"input.{name}", "".join(rows))
    return folder


def defined(folder, name="mine", **changes):
    parts = {"documents": "docs.jsonl", "topics": "topics.tsv", "qrels": "qrels.txt", "runs": "runs", **changes}
    return define(name, base=folder, teams={"bm25": "A", "dense": "B"}, **parts)


def test_runs_are_read_when_they_are_asked_for(mine):
    calls = []

    def get_runs():
        calls.append(1)
        return ptr.read_runs(mine / "runs", teams={"bm25": "A", "dense": "B"}, pooled=["bm25"])

    dataset = build_irds(defined(mine), get_runs)
    assert dataset.runs_cls() is SubmittedRun
    assert not calls
    first, second = dataset.runs_iter()
    assert first[:4] == ("bm25", "A", None, True)
    assert second[:4] == ("dense", "B", None, False)
    assert dataset.runs_count() == len(first.scoreddocs) // 2 == 2
    assert next(first.scoreddocs_iter()) == ir_datasets.formats.GenericScoredDoc("1", "d1", 2.0)
    assert [row.doc_id for row in second.scoreddocs] == ["d1", "d2", "d1", "d2"]
    assert repr(first.scoreddocs) == "RunDocs('bm25', 4 documents)"
    assert len(calls) == 1


def test_a_part_that_is_not_named_is_absent(mine):
    nothing = build_irds(Collection(name="nothing", title="nothing"), lambda: None)
    assert not any(nothing.has(part) for part in ir_datasets.EntityType)
    assert not hasattr(nothing, "runs_iter")
    only = build_irds(define("only", qrels=mine / "qrels.txt"))
    assert (only.has_docs(), only.has_queries(), only.has_qrels()) == (False, False, True)
    assert only.dataset_id() == "reuse/only"


def test_parts_of_different_datasets_of_ir_datasets(mine):
    mixed = build_irds(
        define("mixed", documents="irds:cranfield", topics="irds:vaswani", qrels=mine / "qrels.txt", note="for a test")
    )
    assert mixed.docs_handler() is ir_datasets.load("cranfield").docs_handler()
    assert mixed.queries_handler() is ir_datasets.load("vaswani").queries_handler()
    assert mixed.docs_count() == 1400
    assert mixed.qrels_count() == 2


def test_an_unknown_id_is_told_when_it_is_used(messages):
    messages.hidden[ir_datasets.__version__] = "{version}"
    dataset = build_irds(Collection(name="x", title="x", documents="irds:cranfeld", topics="irds:cranfield"))
    assert dataset.has_docs()
    messages.refused(lambda: dataset.docs_iter())
    lacking = build_irds(Collection(name="x", title="x", qrels="irds:msmarco-passage"))
    messages.refused(lambda: lacking.qrels_iter())


def test_registering_again_changes_nothing_without_overwrite(messages, mine):
    assert register_one(defined(mine, "test/again")) == "reuse/test/again"
    loaded = ir_datasets.load("reuse/test/again")
    register_one(defined(mine, "test/again"))
    assert ir_datasets.load("reuse/test/again") is loaded
    changed = defined(mine, "test/again", qrels=None)
    messages.refused(lambda: register_one(changed))
    assert ir_datasets.load("reuse/test/again").has_qrels()
    register_one(changed, overwrite=True)
    assert not ir_datasets.load("reuse/test/again").has_qrels()


def test_a_registered_collection_through_pyterrier(mine):
    register_one(defined(mine, "test/through"))
    found = pt.get_dataset("irds:reuse/test/through")
    assert found.get_topics().to_dict("list") == {"qid": ["1", "2"], "query": ["green tea", "milk"]}
    assert found.get_qrels().columns.tolist() == ["qid", "docno", "label"]
    assert list(found.get_corpus_iter(verbose=False, start=1)) == [
        {"docno": "d2", "title": "Milk", "text": "of almonds"}
    ]
    texts = pt.text.get_text(found, ["title", "text"])(pd.DataFrame({"docno": ["d2", "d1"]}))
    assert texts["title"].tolist() == ["Milk", "Tea"]
    assert [run.run_id for run in ir_datasets.load("reuse/test/through").runs_iter()] == ["bm25", "dense"]


def test_own_collections_are_registered_by_one_call(messages, mine, monkeypatch, tmp_path):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    parts = {"topics": "topics.tsv", "qrels": "qrels.txt", "runs": "runs", "base": mine}
    made = register_collection("test/call", documents="docs.jsonl", **parts)
    assert repr(made) == repr(pt.get_dataset("reuse:test/call")) == "ReuseDataset('reuse:test/call')"
    assert made.get_runs().names == ["bm25", "dense"]
    assert ir_datasets.load("reuse/test/call").docs_count() == 2
    messages.refused(lambda: register_collection("test/call", **parts))
    assert ir_datasets.load("reuse/test/call").has_docs()
    register_collection("test/call", overwrite=True, **parts)
    assert not ir_datasets.load("reuse/test/call").has_docs()
    messages.refused(lambda: pt.get_dataset("reuse:test/call").get_corpus_iter())
    for name in ("demo", "trec-8/adhoc"):
        messages.refused(register_collection, definition=name, **parts)
        assert find_collection(name).origin != "own"
    for wrong in ("nowhere", "nowhere.toml", 5, mine / "docs.jsonl"):
        with pytest.raises(ptr.InputError, match=r"is no file|cannot be read|expected the path|no TOML"):
            register_collection(wrong)
    messages.refused(lambda: register_collection(mine / "mine.toml", note="x"))


def test_a_collection_may_use_another_of_ours(messages, mine):
    messages.hidden[ir_datasets.__version__] = "{version}"
    messages.refused(lambda: define("test/self", topics="irds:reuse/test/self"))
    register_one(define("test/uses", topics="irds:reuse/trec-8/adhoc", qrels="irds:reuse/demo"))
    loaded = ir_datasets.load("reuse/test/uses")
    assert loaded.queries_handler() is ir_datasets.load("disks45/nocr/trec8").queries_handler()
    assert loaded.qrels_count() == 41 * 480
    lost = build_irds(define("test/lost", topics="irds:reuse/nobody"))
    messages.refused(lambda: lost.queries_iter())


def test_one_that_cannot_be_registered_stops_no_other(mine, monkeypatch):
    monkeypatch.setattr("pt_reuse.collections.registration.collection_names", lambda: ["test/gone", "test/other"])

    def find(name):
        if name == "test/gone":
            raise ptr.InputError("two files")
        return defined(mine, name)

    monkeypatch.setattr("pt_reuse.collections.registration.find_collection", find)
    with pytest.warns(ptr.ReuseWarning, match="'reuse/test/gone' is left out: two files"):
        assert register_datasets() == ["reuse/test/other"]


def test_all_collections_are_registered_and_irds_still_works():
    names = register_datasets()
    assert names == register_datasets()
    assert {"reuse/demo", "reuse/trec-8/adhoc", "reuse/trec-covid/round5"} <= set(names) <= set(ir_datasets.registry)
    trec8 = ir_datasets.load("reuse/trec-8/adhoc")
    assert trec8.queries_handler() is ir_datasets.load("disks45/nocr/trec8").queries_handler()
    assert pt.get_dataset("irds:vaswani").irds_ref() is ir_datasets.load("vaswani")


def test_importing_the_package_imports_no_ir_datasets():
    code = "import sys, pt_reuse; assert not {'ir_datasets', 'tomllib', 'tomli'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


WORDS = st.text(st.characters(blacklist_categories=("C", "Z")), min_size=1, max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=60, deadline=None)
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
        kinds = ["jsonl", "csv"] + (["tsv"] if next(iter(rows)).lower() not in ID_FIELDS else [])
        written(folder / f"{part}.tsv{end}", lines)
        for kind in kinds:
            component = read(folder / f"{part}.{kind}{end}")
            found = component.queries_iter() if part == "t" else component.docs_iter()
            assert {row[0]: row[1] for row in found} == rows


def test_what_is_registered_can_go_to_another_process(mine):
    register_one(defined(mine, "test/travels"))
    travelled = pickle.loads(pickle.dumps(ir_datasets.load("reuse/test/travels")))
    assert [document.doc_id for document in travelled.docs_iter()] == ["d1", "d2"]
    dataset = ReuseDataset(defined(mine, "test/travels"))
    assert len(dataset.get_topics()) == 2
    assert len(pickle.loads(pickle.dumps(dataset)).get_topics()) == 2
