"""What people get: who is asked what, in which order and in which rounds, and nothing of how documents were found."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people_parts import PAIRS, WORDS, export, fill, frame, pool, rows_of, texts

import pt_reuse as ptr
from pt_reuse.judging.people.export import MANIFEST, Pair, assign, read_manifest, wanted_for

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=5)
PEOPLE = ["ann", "bob", "cem", "dot", "eve"]


def pair(key, wanted, asked=()):
    return Pair("".join(key), *key, wanted, asked, strategy=None, round=1, reason=None, further={})


def keys_of(sizes):
    return [(str(t), f"d{i}") for t, size in enumerate(sizes) for i in range(size)]


@given(SIZES, st.integers(1, 5), st.data(), st.integers(0, 9))
def test_each_pair_has_its_people_and_loads_are_equal(sizes, n_people, data, seed):
    people, pairs = PEOPLE[:n_people], keys_of(sizes)
    overlap = data.draw(st.integers(1, n_people))
    wants = [pair(key, overlap) for key in pairs]
    given_to = assign(wants, people, Counter(), seed, whole_topics=False)
    assert all(len(set(who)) == len(who) == overlap for who in given_to)
    loads = Counter(one for who in given_to for one in who)
    assert sum(loads.values()) == overlap * len(pairs)
    assert max(loads[one] for one in people) - min(loads[one] for one in people) <= 1
    # the order in which pairs come, which may be that of ranks, changes nothing
    order = data.draw(st.permutations(range(len(pairs))))
    again = assign([wants[i] for i in order], people, Counter(), seed, whole_topics=False)
    assert [given_to[i] for i in order] == again


@settings(deadline=None, max_examples=15)
@given(SIZES, st.integers(1, 5), st.data())
def test_whole_topics_stay_together(sizes, n_people, data):
    people, overlap = PEOPLE[:n_people], data.draw(st.integers(1, n_people))
    wants = [pair(key, overlap) for key in keys_of(sizes)]
    new = assign(wants, people, Counter(), 3, whole_topics=True)
    teams = {}
    for want, who in zip(wants, new, strict=True):
        assert len(set(who)) == overlap
        teams.setdefault(want.qid, set()).add(who)
    assert all(len(team) == 1 for team in teams.values())
    # the longest list first to the least loaded: the loads differ by one topic at most
    loads = Counter(one for who in new for one in who)
    assert max(loads[p] for p in people) - min(loads[p] for p in people) <= max(sizes)


@settings(deadline=None, max_examples=15)
@given(SIZES, st.floats(0.01, 0.99), st.integers(0, 9), st.randoms())
def test_a_share_of_the_pairs_is_for_all(sizes, share, seed, random):
    pairs = keys_of(sizes)
    wanted = wanted_for(share, pairs, 4, seed)
    assert set(wanted) <= {1, 4}
    assert wanted.count(4) == int(round(share * len(pairs), 9) + 0.5)
    for topic, size in enumerate(sizes):
        mine = [n for (qid, _), n in zip(pairs, wanted, strict=True) if qid == str(topic)]
        assert abs(mine.count(4) - share * size) <= 1.0 + 1e-9
    # which of a topic are drawn does not depend on their order
    shuffled = [key for t in range(len(sizes)) for key in random.sample([k for k in pairs if k[0] == str(t)], sizes[t])]
    again = dict(zip(shuffled, wanted_for(share, shuffled, 4, seed), strict=True))
    assert again == dict(zip(pairs, wanted, strict=True))


FORMATS = ["csv", "label-studio"]


def keys(path):
    return [(row["qid"], row["docno"]) for row in rows_of(path)]


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_told_of_how_documents_were_found(form, tmp_path):
    field = ptr.demo.simulate_field(seed=7, n_topics=3, n_docs=40, n_teams=4, length=8, depth=3)
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


# ---- what is shown


def test_sheets_show_all_that_topics_say(tmp_path):
    queries, narratives = ["one", '=two "2"', "ten\nlines"], ["Relevant is\r\nwhat is.", None, ""]
    topics = pd.DataFrame({"qid": ["1", "2", "10"], "query": queries, "narrative": narratives, "other": "not shown"})
    export(tmp_path, topics=topics, annotators=["ann"], texts={**texts(), "a1": "@text\0, ü"})
    rows = {(row["qid"], row["docno"]): row for row in rows_of(tmp_path / "ann-round1.csv")}
    assert " ".join(rows["1", "a1"]) == "label note query narrative text qid docno pair annotator task"
    assert rows["1", "a1"]["text"] == "'@text\N{REPLACEMENT CHARACTER}, ü"
    assert rows["1", "a1"]["narrative"] == "Relevant is\r\nwhat is."
    assert [rows["2", "b1"][name] for name in ("query", "narrative", "label", "note")] == ['\'=two "2"', "", "", ""]
    assert (tmp_path / "ann-round1.csv").read_bytes().startswith(b"\xef\xbb\xbflabel,note,query,narrative,text,")


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
        rows = [row for file in (tmp_path / name).glob("*.csv") for row in rows_of(file)]
        assert {row["docno"]: row["text"] for row in rows} == expected
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
    export(tmp_path / "tool", texts=long, annotators=["ann"], format="label-studio")
    row = next(row for row in rows_of(tmp_path / "tool" / "ann-round1.json") if row["docno"] == "a1")
    assert row["text"] == long["a1"]


# ---- names of files


@settings(deadline=None, max_examples=15)
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
    "format": ["jsonl"],
    "annotators": ["ann", [], ["Ann", "ann"], [" ann"], ["a\nb"]],
    "overlap": [0, 3, "2", 1.0],
    "labels": [{1: "yes"}],
    "instructions": [3],
    "seed": [-1],
    "topics": [None, {"1": "only one"}, dict.fromkeys(PAIRS, " "), frame()],
    "pool": [None, frame().iloc[:0]],
    "folder": ["", 3],
    "verbose": ["yes"],
}


def test_arguments_are_checked_before_texts_are_read(tmp_path, messages):
    dollar = {"labels": {0: "no", 1: "$yes"}}
    messages.refused(lambda: export(tmp_path / "tasks", format="label-studio", **dollar), argument="labels")
    export(tmp_path / "sheets", **dollar)
    for argument, values in WRONG.items():
        for value in values:
            given = {"folder": tmp_path / "tasks", "texts": never(), argument: value}
            messages.refused(lambda given=given: export(given.pop("folder"), **given))
            assert not (tmp_path / "tasks").exists(), argument


def test_texts_are_whole_or_nothing_is_written(tmp_path, messages):
    some = {docno: text for docno, text in texts().items() if docno != "b2"}
    first = pt.apply.generic(lambda inp: inp.iloc[:3].assign(text="t"), transform_outputs=None)
    for form in (None, some, {**some, "b2": 3}, [("a1", "text")], [{"docno": "a1", "text": "t"}], first):
        messages.refused(lambda form=form: export(tmp_path / "tasks", texts=form), argument="texts")
        assert not (tmp_path / "tasks").exists()


MORE = {"1": ["a1", "a9"], "2": ["b1"], "3": ["d1"]}


def asked_of(folder):
    """Return annotator -> the pairs of all of the annotator's files."""
    found = {}
    for name, annotator in read_manifest(folder).files.items():
        found.setdefault(annotator, []).extend((row["qid"], row["docno"]) for row in rows_of(folder / name))
    return found


def test_a_further_round_asks_what_is_new_and_changes_no_file(tmp_path):
    export(tmp_path)
    fill(tmp_path / "ann-round1.csv")
    before = contents(tmp_path)
    result = ptr.judging.export_tasks(
        pool(MORE), tmp_path, topics=dict.fromkeys(MORE, "q"), texts=dict.fromkeys(["a1", "a9", "b1", "d1"], "t")
    )
    assert result.asked_before == 2
    assert sum(result.table["pairs"]) == 2
    assert all(name.endswith("-round2.csv") for name in result.table["file"])
    after = contents(tmp_path)
    assert all(after[name] == data for name, data in before.items() if name != MANIFEST)
    everybody = [key for mine in asked_of(tmp_path).values() for key in mine]
    assert sorted(everybody) == sorted({(q, d) for pairs in (PAIRS, MORE) for q, docs in pairs.items() for d in docs})
    # topics of all rounds, in their natural order
    assert list(dict.fromkeys(pair.qid for pair in read_manifest(tmp_path).pairs)) == ["1", "2", "3", "10"]
    assert {pair.round for pair in read_manifest(tmp_path).pairs if pair.docno in ("a9", "d1")} == {2}


EIGHT = [(q, f"x{i}") for q in "12" for i in range(4)]


@settings(deadline=None, max_examples=6)
@given(st.lists(st.sets(st.sampled_from(EIGHT), min_size=1), max_size=4), st.integers(1, 3))
def test_any_rounds_ask_each_pair_of_as_many(tmp_path_factory, rounds, overlap):
    folder, wanted = tmp_path_factory.mktemp("rounds"), set()
    for keys in rounds:
        wanted |= keys
        pairs = {}
        for qid, docno in sorted(keys):
            pairs.setdefault(qid, []).append(docno)
        export(folder, pairs, overlap=overlap, annotators=["ann", "bob", "cem"])
    everybody = [(who, *key) for who, mine in (asked_of(folder) if rounds else {}).items() for key in mine]
    assert len(set(everybody)) == len(everybody)
    assert sorted(key for _, *key in everybody) == sorted([list(key) for key in wanted for _ in range(overlap)])
    loads = [sum(one == who for one, *_ in everybody) for who in ("ann", "bob", "cem")]
    assert not rounds or max(loads) - min(loads) <= 1


# ---- nothing is written over


def test_a_file_in_the_way_is_never_written_over(tmp_path, messages):
    (tmp_path / "bob-round1.csv").write_text("of somebody")
    messages.refused(lambda: export(tmp_path), argument="folder")
    assert contents(tmp_path) == {"bob-round1.csv": b"of somebody"}


def test_labels_are_those_of_judgments(tmp_path):
    for highest, labels in ((1, "0 (not relevant) and 1 (relevant)"), (2, "0 (grade 0), 1 (grade 1) and 2 (grade 2)")):
        qrels = ptr.Qrels(pd.DataFrame({"qid": "1", "docno": ["x", "y"], "label": [-2, highest]}))
        tasks = export(tmp_path / str(highest), labels=qrels)
        assert tasks.headline().endswith(f"labels {labels}")
        # in a further round they are those of the folder
        export(tmp_path / str(highest), MORE, labels=ptr.Qrels(pd.DataFrame({"qid": ["1"], "docno": "x", "label": 3})))


def test_provenance_is_kept_as_the_pool_has_it(tmp_path):
    columns = {"strategy": ["a", None, *"cdefgh"], "round": range(3, 11), "reason": [None, *["why"] * 7]}
    columns |= {"inclusion": [0.5, float("nan"), *[0.25] * 6], "label": True}
    export(tmp_path, pool=ptr.Pool.from_frame(frame(**columns), settings={"strategy": "mtf"}), labels=WORDS)
    found = {pair.docno: pair for pair in read_manifest(tmp_path).pairs}
    first, second = found["b1"], found["b2"]
    assert (first.strategy, first.round, first.reason) == ("a", 3, None)
    assert (second.strategy, second.round, second.reason) == ("mtf", 4, "why")
    assert first.further == {"inclusion": 0.5, "label": True}
    assert second.further == {"inclusion": None, "label": True}


# ---- the manifest


def test_a_folder_without_a_whole_manifest_is_refused(tmp_path, messages):
    messages.refused(lambda: ptr.judging.import_labels(tmp_path / "none"), argument="folder")
    export(tmp_path)
    path = tmp_path / MANIFEST
    whole = path.read_text()
    for damaged in (whole[:-40], "{}"):
        path.write_text(damaged)
        messages.refused(lambda: ptr.judging.import_labels(tmp_path), argument="folder")
        messages.refused(lambda: export(tmp_path, MORE), argument="folder")
    path.unlink()
    messages.refused(lambda: ptr.judging.import_labels(tmp_path), argument="folder")


def test_two_who_write_at_once_do_not_lose_a_round(tmp_path, messages, monkeypatch):
    from pt_reuse.judging.people import export as module

    export(tmp_path)
    looked = module.document_texts

    def meanwhile(*given, **named):
        monkeypatch.setattr(module, "document_texts", looked)
        export(tmp_path, {"7": ["z1"]})
        return looked(*given, **named)

    monkeypatch.setattr(module, "document_texts", meanwhile)
    messages.refused(lambda: export(tmp_path, MORE), argument="folder")
    assert {pair.docno for pair in read_manifest(tmp_path).pairs} >= {"z1"}
    assert "a9" not in {pair.docno for pair in read_manifest(tmp_path).pairs}
