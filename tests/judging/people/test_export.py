"""What people get: who is asked what, in which order, and nothing of how the documents were found."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people_parts import PAIRS, WORDS, export, frame, rows_of, texts

import pt_reuse as ptr
from pt_reuse.judging.people.manifest import read_manifest

FORMATS = ["csv", "jsonl", "doccano", "label-studio"]
KEYS = {(qid, docno) for qid, docnos in PAIRS.items() for docno in docnos}


def keys(path):
    return [(row["qid"], row["docno"]) for row in rows_of(path)]


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_told_of_how_documents_were_found(form, tmp_path):
    field = ptr.simulate_field(seed=7, n_topics=3, n_docs=40, n_teams=4, length=8, depth=3)
    made = ptr.depth_pool(field.runs, depth=3)
    made.columns["reason"] = "SECRETREASON"
    made.columns["priority"] = 0.123456789
    of = {docno: "a text" for docno in made.to_frame()["docno"]}
    result = export(tmp_path, pool=made, topics={qid: "q" for qid in made.topics}, texts=of, format=form)
    for name in [*result.table["file"], "instructions.txt"]:
        shown = (tmp_path / name).read_text(encoding="utf-8")
        for secret in [*field.runs.names, *set(field.runs.teams), "SECRETREASON", "0.12345", "depth", "strategy"]:
            assert secret not in shown, (name, secret)
    columns = {name for file in result.table["file"] for row in rows_of(tmp_path / file) for name in row}
    assert columns <= {"label", "note", "query", "text", "qid", "docno", "pair", "annotator", "assigned", "task"}
    assert len(read_manifest(tmp_path).pairs) == len(made)


def test_topics_stay_in_order_and_documents_are_shuffled_for_each(tmp_path):
    pairs = {"2": [f"b{i}" for i in range(40)], "10": [f"c{i}" for i in range(40)]}
    seen = {}
    for seed in (0, 1):
        export(tmp_path / str(seed), pairs, overlap=2, seed=seed)
        for who in ("ann", "bob"):
            mine = keys(tmp_path / str(seed) / f"{who}-round1.csv")
            assert [qid for qid, _ in mine] == ["2"] * 40 + ["10"] * 40
            for qid, docnos in pairs.items():
                order = [docno for q, docno in mine if q == qid]
                assert sorted(order) == sorted(docnos)
                ranks = [docnos.index(docno) for docno in order]
                # no trace of the ranks: 0.5 is some four standard errors of 40 shuffled documents off
                assert abs(np.corrcoef(ranks, range(40))[0, 1]) < 0.5
                seen[seed, who, qid] = tuple(ranks)
    assert len(set(seen.values())) == len(seen)
    export(tmp_path / "again", pairs, overlap=2, seed=1)
    assert contents(tmp_path / "again") == contents(tmp_path / "1")


@pytest.mark.parametrize("form", FORMATS)
def test_neither_place_nor_annotator_nor_overlap_tells_the_rank(form, tmp_path):
    """The documents are called by their ranks; four standard errors bound what chance does to each number."""
    ranks = np.arange(400)
    pairs = {"1": [f"d{rank:03}" for rank in ranks]}
    people = ["ann", "bob", "cem", "dot"]
    export(tmp_path, pairs, annotators=people, overlap=0.25, format=form)
    seen = {who: [int(docno[1:]) for _, docno in keys(next(tmp_path.glob(f"{who}-round1.*")))] for who in people}
    for mine in seen.values():
        assert abs(np.corrcoef(mine, range(len(mine)))[0, 1]) < 4 / np.sqrt(len(mine))
    of_all = set.intersection(*map(set, seen.values()))
    assert len(of_all) == 100
    for some in (of_all, *(set(mine) - of_all for mine in seen.values())):
        assert abs(np.mean(list(some)) - ranks.mean()) < 4 * ranks.std() / np.sqrt(len(some))


# ---- what is shown


def test_sheets_show_all_that_topics_say(tmp_path):
    topics = pd.DataFrame(
        {
            "qid": ["1", "2", "10"],
            "query": ["one", '=two "2"', "ten\nlines"],
            "narrative": ["Relevant is\r\nwhat is.", None, ""],
            "other": "not shown",
        }
    )
    export(tmp_path, topics=topics, annotators=["ann"], texts={**texts(), "a1": "@text\0, ü"})
    rows = {(row["qid"], row["docno"]): row for row in rows_of(tmp_path / "ann-round1.csv")}
    assert list(rows["1", "a1"]) == [
        "label", "note", "query", "narrative", "text", "qid", "docno", "pair", "annotator", "task",
    ]  # fmt: skip
    assert rows["1", "a1"]["text"] == "'@text\N{REPLACEMENT CHARACTER}, ü"
    assert rows["1", "a1"]["narrative"] == "Relevant is\r\nwhat is."
    assert [rows["2", "b1"][name] for name in ("query", "narrative", "label", "note")] == ['\'=two "2"', "", "", ""]
    assert (tmp_path / "ann-round1.csv").read_bytes().startswith(b"\xef\xbb\xbflabel,note,query,narrative,text,")


def test_doccano_shows_query_and_document_and_takes_the_labels(tmp_path):
    topics = pd.DataFrame({"qid": list(PAIRS), "query": "a query", "description": "What?"})
    export(tmp_path, topics=topics, annotators=["ann"], format="doccano")
    row = rows_of(tmp_path / "ann-round1.jsonl")[0]
    assert row["text"] == f"QUERY: a query\n\nDESCRIPTION: What?\n\nDOCUMENT:\n\ntext of {row['docno']}"
    assert row["label"] == []
    # its export writes its own id over what is called id
    assert set(row) == {"text", "label", "qid", "docno", "pair", "assigned", "task"}
    types = json.loads((tmp_path / "doccano-labels.json").read_text())
    assert [(each["text"], each["suffix_key"]) for each in types] == [(w, str(label)) for label, w in WORDS.items()]


def test_label_studio_gets_an_interface_that_is_xml(tmp_path):
    from xml.etree import ElementTree

    odd = {0: '<none> & "nothing"', 1: "it's", 2: "ü 日"}
    topics = pd.DataFrame({"qid": list(PAIRS), "query": "a query", "narrative": "<b>"})
    told = 'Judge "<&>" for $5.\nAnd\0 so on.'
    export(tmp_path, topics=topics, labels=odd, instructions=told, format="label-studio", annotators=["ann"])
    config = ElementTree.fromstring((tmp_path / "label-studio.xml").read_text(encoding="utf-8"))
    assert [each.get("value") for each in config.iter("Choice")] == list(odd.values())
    assert config.find("Header").get("value") == 'Judge "<&>" for ＄5. And\N{REPLACEMENT CHARACTER} so on.'
    shown = {each.get("name"): each.get("value") for each in config.iter("Text")}
    assert shown == {"query": "$query", "narrative": "$narrative", "text": "$text"}
    data = rows_of(tmp_path / "ann-round1.json")[0]
    assert {value.lstrip("$") for value in shown.values()} <= set(data)
    # what its short export calls by these names would be lost
    assert not {"label", "note", "annotator", "id", "created_at"} & set(data)
    targets = {each.get("toName") for each in [*config.iter("Choices"), *config.iter("TextArea")]}
    assert targets == {"text"}


def test_texts_come_in_all_forms(tmp_path):
    expected = {docno: f"text of {docno}" for docno in texts()}
    corpus = [{"docno": docno, "text": text} for docno, text in expected.items()]
    never = iter([*corpus, None])
    adds = pt.apply.text(lambda row: f"{expected[row['docno']]} for {row['query']}")
    forms = {
        "dict": expected,
        "dicts": {docno: {"text": text, "url": "x"} for docno, text in expected.items()},
        "frame": pd.DataFrame(corpus),
        "corpus": (dict(each) for each in [{"docno": "far", "text": "y"}, *corpus]),
        "read no further": never,
    }
    for name, form in forms.items():
        export(tmp_path / name, texts=form)
        assert {row["docno"]: row["text"] for file in (tmp_path / name).glob("*.csv") for row in rows_of(file)} == (
            expected
        )
    assert next(never) is None
    export(tmp_path / "transformer", texts=adds, annotators=["ann"])
    found = {row["docno"]: row["text"] for row in rows_of(tmp_path / "transformer" / "ann-round1.csv")}
    assert found["b1"] == "text of b1 for query 2"
    titled = {docno: {"docno": docno, "title": "T", "text": text} for docno, text in expected.items()}
    fields = {docno: {"docno": docno, "head": "H", "body": text, "n": 3} for docno, text in expected.items()}
    for name, form, begin in (("titled", titled, "T"), ("fields", fields, "H")):
        export(tmp_path / name, texts=form.values())
        row = rows_of(tmp_path / name / "ann-round1.csv")[0]
        assert row["text"] == f"{begin}\n\ntext of {row['docno']}"


def test_a_text_that_no_cell_holds_is_cut_and_told(tmp_path, messages):
    long = {**texts(), "a1": "x" * 40_000}
    messages.warned(lambda: export(tmp_path / "csv", texts=long, annotators=["ann"]))
    export(tmp_path / "jsonl", texts=long, annotators=["ann"], format="jsonl")
    row = next(row for row in rows_of(tmp_path / "jsonl" / "ann-round1.jsonl") if row["docno"] == "a1")
    assert row["text"] == long["a1"]


# ---- names of files


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=4))
def test_names_of_people_make_safe_names_of_files(names):
    from pt_reuse.judging.people.export import file_name

    made = [file_name(name, 1, "csv") for name in names]
    assert all(all(c.isascii() and (c.isalnum() or c in "_-.") for c in name) for name in made)
    assert all(len(name) <= 80 and not name.startswith((".", "-")) for name in made)
    # on systems that take capitals for the same, too
    assert len({name.casefold() for name in made}) == len(set(names))


def never():
    raise AssertionError("texts are read before all else is checked")
    yield {}


WRONG = {
    "format": ["xlsx", 3],
    "annotators": ["ann", [], ["Ann", "ann"], [" ann"], [""], ["a\nb"], [3], 5],
    "overlap": [0, 3, "2", True, 1.0, float("nan")],
    "labels": [{1: "yes"}],
    "instructions": [3],
    "seed": [-1, 1.5, True, None],
    "topics": [
        None,
        "topics.txt",
        {},
        {"1": "only one"},
        dict.fromkeys(PAIRS, " "),
        frame(),
        {**dict.fromkeys(PAIRS, "q"), "2": 7},
    ],
    "pool": [None, frame().iloc[:0], [("1", "a1")]],
    "folder": ["", 3, "a\0b"],
    "verbose": ["yes"],
}


CASES = {f"{name} {n}": (name, value) for name, values in WRONG.items() for n, value in enumerate(values)}


@pytest.mark.parametrize("case", CASES)
def test_arguments_are_checked_before_texts_are_read(case, tmp_path, messages):
    argument, value = CASES[case]
    given = {"folder": tmp_path / "tasks", "texts": never(), argument: value}
    messages.refused(lambda: export(given.pop("folder"), **given))
    assert not (tmp_path / "tasks").exists()


TEXTS = {
    "None": None,
    "a file": "texts.jsonl",
    "one is missing": {docno: text for docno, text in texts().items() if docno != "b2"},
    "a number": {**texts(), "b2": 3},
    "no dicts": [("a1", "text")],
    "no docno": [{"id": "a1", "text": "t"}],
    "a corpus that ends": [{"docno": "a1", "text": "t"}],
    "a transformer without texts": pt.Transformer.identity(),
    "a transformer that drops some": pt.apply.generic(
        lambda inp: inp.iloc[:3].assign(text="t"), transform_outputs=None
    ),
}


@pytest.mark.parametrize("what", TEXTS)
def test_texts_are_whole_or_nothing_is_written(what, tmp_path, messages):
    messages.refused(lambda: export(tmp_path / "tasks", texts=TEXTS[what]), argument="texts")
    assert not (tmp_path / "tasks").exists()


def test_a_dollar_in_a_word_is_refused_where_it_means_something(tmp_path, messages):
    words = {0: "no", 1: "$yes"}
    messages.refused(lambda: export(tmp_path, labels=words, format="label-studio"), argument="labels")
    export(tmp_path, labels=words)
