"""What people call a collection: every name, alias and id opens it, without a network, and it says which it is."""

from __future__ import annotations

import socket
from collections import Counter

import pyterrier as pt
import pytest
from catalogue_parts import metadata

import pt_reuse as ptr
from pt_reuse.collections import definition
from pt_reuse.collections.collection import catalogue_name, catalogue_names, catalogued
from pt_reuse.collections.definition import collection_names, find_collection, real_name

#: what people type -> the collection they mean
MEANT = {
    "robust04": "trec-2004/robust", "Robust-2004": "trec-2004/robust", "robust": "trec-2004/robust",
    "trec-robust-2004": "trec-2004/robust", "disks45/nocr/trec-robust-2004": "trec-2004/robust",
    "dl19": "trec-2019/deep/passages", "DL19": "trec-2019/deep/passages", "dl-19": "trec-2019/deep/passages",
    "trec-dl-2019": "trec-2019/deep/passages", "trec_dl19_passage": "trec-2019/deep/passages",
    "dl20-docs": "trec-2020/deep/docs", "dl20_doc": "trec-2020/deep/docs", "dl21": "trec-2021/deep/passages",
    "msmarco-passage/trec-dl-2019/judged": "trec-2019/deep/passages",
    "msmarco-passage/trec-dl-2019": "trec-2019/deep/passages",
    "msmarco-document-v2/trec-dl-2022/judged": "trec-2022/deep/docs",
    "covid": "trec-covid/round5", "trec-covid": "trec-covid/round5", "covid-round1": "trec-covid/round1",
    "cord19/trec-covid/round5": "trec-covid/round5",
    "trec8": "trec-8/adhoc", "TREC-8": "trec-8/adhoc", "trec-8/ad-hoc": "trec-8/adhoc", "trec8-adhoc": "trec-8/adhoc",
    "disks45/nocr/trec8": "trec-8/adhoc", "reuse:trec8": "trec-8/adhoc", "core17": "trec-2017/core",
    "rag24": "trec-2024/rag/retrieval", "rag25.test": "trec-2025/rag/retrieval", "tot2025": "trec-2025/tot",
    "neuclir24-zho": "trec-2024/neuclir/zho", "ikat23": "trec-2023/ikat", "cast22": "trec-2022/cast",
    "pmc/v1/trec-cds-2015": "trec-2015/clinical/a", "clinicaltrials/2021/trec-ct-2022": "trec-2022/trials",
}  # fmt: skip


def plain(text):
    """Return a text as the lookup compares it, written once more."""
    return "".join(letter for letter in text.lower() if letter in "abcdefghijklmnopqrstuvwxyz0123456789")


def test_what_people_type():
    assert {typed: definition.find_collection(typed).name for typed in MEANT} == MEANT
    assert {typed: definition.real_name(typed) for typed in MEANT} == MEANT


def test_no_alias_is_of_two_collections_and_none_is_a_name():
    names = {plain(name): name for name in catalogue_names()}
    aliases = Counter(plain(alias) for name in catalogue_names() for alias in catalogued(name).aliases)
    assert len(names) == len(catalogue_names())
    assert max(aliases.values()) == 1
    assert not set(aliases) & set(names)
    assert "demo" not in aliases
    # the word that may stand in front makes no difference
    for text in (*aliases, *names):
        assert catalogue_name(f"trec {text}") == catalogue_name(text)


def test_an_id_of_two_collections_opens_neither():
    for shared in ("trec-fair/2021/eval", "neuclir/1/fa"):
        assert catalogue_name(shared) is None


def test_every_collection_opens_by_name_alias_and_id_without_a_network(monkeypatch, tmp_path):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)

    def refuse(*_, **__):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    ids = Counter(catalogued(name).irds_id for name in catalogue_names())
    opened = Counter()
    for name in catalogue_names():
        collection = catalogued(name)
        irds_id = collection.irds_id
        shared = irds_id is None or ids[irds_id] > 1 or collection.topics is None
        for text in (name, name.upper(), *collection.aliases, *([] if shared else [irds_id])):
            assert real_name(text) == name
            opened[name] += 1
        dataset = pt.get_dataset(f"reuse:{[name, *collection.aliases][-1]}")
        assert repr(dataset).startswith(f"ReuseDataset('reuse:{name}'): {collection.title}")
        ref = dataset.irds_ref()
        parts = (ref.has_docs(), ref.has_queries(), ref.has_qrels())
        sources = (collection.documents, collection.topics, collection.qrels)
        assert parts == tuple(source is not None for source in sources)
        # as ir_datasets states them
        if collection.topics is not None and collection.n_topics is not None:
            assert collection.n_topics <= metadata(irds_id, "queries")["count"]
        if collection.qrels is not None:
            assert metadata(irds_id, "qrels")["count"] == collection.n_judged
    assert set(opened) == set(catalogue_names())
    assert sum(opened.values()) > 450


def test_ones_own_collection_comes_before_an_alias(mine):
    ptr.register_collection("dl19", topics=mine / "topics.tsv")
    ptr.register_collection("trec8/adhoc", topics=mine / "topics.tsv")
    assert pt.get_dataset("reuse:dl19").name == "dl19"
    # one name in two spellings must not open two collections
    assert pt.get_dataset("reuse:DL-19").name == pt.get_dataset("reuse: dl19 ").name == "dl19"
    assert pt.get_dataset("reuse:dl19-psg").name == "trec-2019/deep/passages"
    # what is spelled otherwise of a name of the catalogue is that name
    assert pt.get_dataset("reuse:trec8/adhoc").name == "trec8/adhoc"
    assert pt.get_dataset("reuse:TREC-8/adhoc").name == "trec-8/adhoc"


def test_a_name_is_matched_whole(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("looked up"))
    names = ["trec-8\\adhoc", "dl19::::", "dl19\n", "\ndl19", "dl19\t", ":demo", "demo:", "dl19?", "dl\u200b19"]
    for name in names:
        assert real_name(name) not in collection_names()
        with pytest.raises(ptr.InputError):
            find_collection(name)
