"""Own files of documents, as ir_datasets' documents."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

import pytest
from own_files import EXPECTED, JSON, documents, written

from pt_reuse.collections.own_files import OwnDocuments

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


def test_tagged_documents_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("pt_reuse.collections.own_files._BLOCK", 7)
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


def test_broken_documents_name_the_file(tmp_path, messages):
    for name, text in BROKEN_DOCUMENTS:
        path = written(tmp_path / name, text)
        messages.refused(lambda path=path: list(documents(path).docs_iter()), place=f"{{d}}/{name}")
