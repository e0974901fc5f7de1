"""A small collection in files of one's own, and ir_datasets' view of them."""

from __future__ import annotations

import gzip
import json

from pt_reuse.collections.definition import define
from pt_reuse.collections.own_files import OwnDocuments, OwnTopics

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
    "doc.txt": "<DOC>\n<DOCNO> 1 </DOCNO>\n green\n tea\n</DOC>\n<DOC><DOCNO>2</DOCNO>milk</DOC>",
}


def defined(folder, name="mine", **changes):
    parts = {"documents": "docs.jsonl", "topics": "topics.tsv", "qrels": "qrels.txt", "runs": "runs", **changes}
    return define(name, base=folder, teams={"bm25": "A", "dense": "B"}, **parts)
