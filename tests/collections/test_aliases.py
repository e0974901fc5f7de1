"""What people call a collection: every name, alias and id opens it, without a network, and it says which it is."""

from __future__ import annotations

import re
import socket
from collections import Counter

import pyterrier as pt
import pytest
from catalogue_parts import metadata, rows_of

import pt_reuse as ptr
from pt_reuse.cli.entry import main
from pt_reuse.collections import registry
from pt_reuse.collections.collection import catalogue_name, catalogue_names, catalogued

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


@pytest.mark.parametrize("typed", MEANT)
def test_what_people_type(typed):
    assert registry.find_collection(typed).name == registry.real_name(typed) == MEANT[typed]


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


def test_aliases_are_data():
    curated = {row["name"]: tuple(row["aliases"].split()) for row in rows_of("collections.csv")}
    assert curated == {name: catalogued(name).aliases for name in catalogue_names()}
    assert sum(map(bool, curated.values())) > 100


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
            dataset = pt.get_dataset(f"reuse:{text}")
            assert dataset.name == name
            assert repr(dataset).startswith(f"ReuseDataset('reuse:{name}'): {collection.title}")
            opened[name] += 1
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


def test_a_dataset_says_what_it_is():
    assert repr(pt.get_dataset("reuse:covid")) == (
        "ReuseDataset('reuse:trec-covid/round5'): TREC-COVID round 5, 2020; 50 topics, 23,151 judgments, 126 runs of "
        "28 teams, 99 of them pooled"
    )
    assert repr(pt.get_dataset("reuse:robust04")) == (
        "ReuseDataset('reuse:trec-2004/robust'): TREC 2004 Robust; 249 topics, 311,410 judgments, 110 runs of 14 "
        "teams, who was pooled is not on record"
    )
    assert repr(pt.get_dataset("reuse:trec1")) == "ReuseDataset('reuse:trec-1/adhoc'): TREC-1 ad hoc, 1992; 50 topics"
    assert repr(pt.get_dataset("reuse:demo")).startswith("DemoDataset('reuse:demo'): Demo collection; 41 topics")
    shown = pt.get_dataset("reuse:dl19")._repr_html_()
    assert "<b>ReuseDataset(&#x27;reuse:trec-2019/deep/passages&#x27;): TREC 2019 Deep Learning, passages</b>" in shown
    assert re.search("<th[^>]*>also</th><td[^>]*>dl19, ", shown)


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


def test_letters_of_other_alphabets_make_another_name():
    for text in ("Ж/dl19", "dl19é", "我的robust04"):
        assert catalogue_name(text) is None
    assert catalogue_name("ｄｌ１９") == "trec-2019/deep/passages"


def test_names_that_say_nothing_or_too_much(messages):
    for text in ("", "  ", "☃", "\0"):
        assert pt.get_dataset("reuse:Demo").name == "demo"
        error = messages.refused(lambda text=text: registry.find_collection(text))
        assert "Names are such as 'reuse:trec-8/adhoc'" in str(error)
    messages.refused(lambda: registry.find_collection("dmeo"))
    assert len(str(messages.refused(lambda: registry.find_collection("dl19" * 1000)))) < 500


def test_commands_say_which_collection_an_alias_is(capsys, home):
    assert main(["collections", "dl20-docs"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("trec-2020/deep/docs: TREC 2020 Deep Learning, documents (2020)\n")
    assert err == "pt-reuse: dl20-docs is trec-2020/deep/docs.\n"
    # words that are said of others, too
    assert main(["collections", "dl19"]) == 0
    out, err = capsys.readouterr()
    assert re.findall(r"^trec\S+", out, re.MULTILINE) == ["trec-2019/deep/passages:"]
    told = err.splitlines()
    assert told[0] == "pt-reuse: dl19 is trec-2019/deep/passages."
    assert " ".join(told[1:]).startswith(
        "pt-reuse: 'dl19' finds 1 other collection, too: `pt-reuse collections dl19 --all`"
    )
    assert main(["runs", "--collection", "covid", "--no-download"]) == 2
    assert capsys.readouterr().err.startswith("pt-reuse: covid is trec-covid/round5.\n")
    # a name that is no alias is not said again
    main(["collections", "trec-8/adhoc"])
    assert capsys.readouterr().err == ""


def test_verify_takes_an_alias(capsys):
    assert main(["verify", "robust04"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "pt-reuse: robust04 is trec-2004/robust."
    assert told[1].startswith("pt-reuse: no published figures of 'trec-2004/robust'")
    with pytest.raises(ptr.InputError, match="no published figures of 'trec-2004/robust'"):
        ptr.verify("Robust-04")


def test_figures_may_name_their_collection_by_an_alias(tmp_path, capsys, home):
    file, qrels = tmp_path / "mine.toml", tmp_path / "qrels"
    file.write_text(
        'collection = "dl19"\ntitle = "Mine"\n[[figure]]\nwhat = "judgments"\nkind = "judgments"\n'
        'values = { topics = 1 }\nsource = "here"\n'
    )
    qrels.write_text("19335 0 d1 1\n")
    assert main(["verify", "trec-2019/deep/passages", "--figures", str(file), "--qrels", str(qrels)]) == 0
    assert "Verification: Mine: 1 of 1 figure" in capsys.readouterr().out
