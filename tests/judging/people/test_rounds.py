"""Further rounds into the same folder: files are added, none is written over, nobody is asked twice."""

from __future__ import annotations

import json
import os
import signal

import pytest
from forking import fork
from hypothesis import given, settings
from hypothesis import strategies as st
from people_parts import PAIRS, WORDS, export, fill, frame, pool, returned, rows_of

import pt_reuse as ptr
from pt_reuse.judging.people.manifest import MANIFEST, read_manifest

MORE = {"1": ["a1", "a9"], "2": ["b1"], "3": ["d1"]}


def asked_of(folder):
    """Return annotator -> the pairs of all of the annotator's files."""
    found = {}
    for name, file in read_manifest(folder).files.items():
        found.setdefault(file.annotator, []).extend((row["qid"], row["docno"]) for row in rows_of(folder / name))
    return found


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_a_further_round_asks_what_is_new_and_changes_no_file(tmp_path):
    export(tmp_path)
    fill(tmp_path / "ann-round1.csv")
    before = contents(tmp_path)
    result = ptr.judging.export_tasks(
        pool(MORE), tmp_path, topics=dict.fromkeys(MORE, "q"), texts=dict.fromkeys(["a1", "a9", "b1", "d1"], "t")
    )
    assert result.asked_before == 2
    assert result.headline().endswith("2 of the pool asked before")
    assert sum(result.table["pairs"]) == 2
    assert all(name.endswith("-round2.csv") for name in result.table["file"])
    after = contents(tmp_path)
    assert {name: data for name, data in after.items() if name in before and name != MANIFEST} == {
        name: data for name, data in before.items() if name != MANIFEST
    }
    everybody = [key for mine in asked_of(tmp_path).values() for key in mine]
    assert sorted(everybody) == sorted({(q, d) for pairs in (PAIRS, MORE) for q, docs in pairs.items() for d in docs})
    # topics of all rounds, in their natural order
    assert list(dict.fromkeys(pair.qid for pair in read_manifest(tmp_path).pairs)) == ["1", "2", "3", "10"]
    assert {pair.round for pair in read_manifest(tmp_path).pairs if pair.docno in ("a9", "d1")} == {2}


def test_tasks_for_anybody_ask_each_pair_once(tmp_path):
    export(tmp_path, annotators=None, overlap=2)
    export(tmp_path, MORE, annotators=None, overlap=3)
    assert len(asked_of(tmp_path)[None]) == len(set(asked_of(tmp_path)[None])) == 10
    assert {pair.docno: pair.wanted for pair in read_manifest(tmp_path).pairs if pair.docno in ("a1", "a9")} == {
        "a1": 2,
        "a9": 3,
    }


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sets(st.sampled_from([(q, f"x{i}") for q in "12" for i in range(4)]), min_size=1), max_size=4),
       st.integers(1, 3))  # fmt: skip
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


REFUSED = {
    "another format": {"format": "jsonl"},
    "other labels": {"labels": {0: "no", 1: "yes"}},
    "other instructions": {"instructions": "Other."},
}


# ---- nothing is written over


def test_a_new_task_over_one_without_answers(tmp_path):
    export(tmp_path)
    task = read_manifest(tmp_path).task
    result = export(tmp_path, MORE, annotators=["cem"], labels={0: "no", 1: "yes"}, overwrite=True)
    assert read_manifest(tmp_path).task != task
    assert sorted(contents(tmp_path)) == ["cem-round1.csv", "instructions.txt", "tasks.json"]
    assert result.table["pairs"].tolist() == [4]
    assert "1: yes" in (tmp_path / "instructions.txt").read_text()


@pytest.mark.parametrize("where", ["in place", "returned"])
def test_answers_are_never_written_over(where, tmp_path, messages):
    export(tmp_path)
    if where == "in place":
        fill(tmp_path / "bob-round1.csv", lambda row: "")
    else:
        (returned(tmp_path) / "export.zip").write_bytes(b"PK")
    before = contents(tmp_path)
    messages.refused(lambda: export(tmp_path, MORE, overwrite=True), argument="folder")
    assert contents(tmp_path) == before


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


def killed(folder, left):
    """Export a further round in a process that kills itself instead of putting a file in its place, after so many."""
    child = fork()
    if child:
        return os.waitpid(child, 0)[1]
    replace, done = os.replace, []

    def killing(*given):
        if len(done) == left:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(given)
        replace(*given)

    os.replace = killing
    try:
        export(folder, SECOND)
    finally:
        os._exit(0)


SECOND = {"1": ["a1", "a9"], "3": ["d1"]}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_killed_export_is_taken_up_by_the_next(tmp_path):
    whole = tmp_path / "whole"
    for pairs in (None, SECOND):
        export(whole, pairs)
    for left in range(3):
        folder = tmp_path / str(left)
        export(folder)
        assert killed(folder, left) == signal.SIGKILL
        # what the round would have asked is not asked yet, and all that was is
        assert {pair.docno for pair in read_manifest(folder).pairs} == {d for docs in PAIRS.values() for d in docs}
        export(folder, SECOND)
        left_behind = {n: data for n, data in contents(folder).items() if not n.startswith(".pt_reuse-")}
        assert left_behind == contents(whole)


# ---- the manifest


def test_provenance_is_kept_as_the_pool_has_it(tmp_path):
    columns = {
        "strategy": ["a", None, "c", "d", "e", "f", "g", "h"],
        "round": range(3, 11),
        "reason": [None, *["why"] * 7],
        "inclusion": [0.5, float("nan"), *[0.25] * 6],
        "label": True,
    }
    export(tmp_path, pool=ptr.Pool.from_frame(frame(**columns), settings={"strategy": "mtf"}), labels=WORDS)
    found = {pair.docno: pair for pair in read_manifest(tmp_path).pairs}
    first, second = found["b1"], found["b2"]
    assert (first.strategy, first.round, first.reason) == ("a", 3, None)
    assert (second.strategy, second.round, second.reason) == ("mtf", 4, "why")
    assert first.further == {"inclusion": 0.5, "label": True}
    assert second.further == {"inclusion": None, "label": True}


def damaged(folder, what):
    path = folder / MANIFEST
    found = json.loads(path.read_text())
    if what == "no manifest":
        path.unlink()
    elif what == "another pair":
        found["pairs"][0]["docno"] = "zz"
        path.write_text(json.dumps(found))
    elif what == "cut off":
        path.write_text(path.read_text()[:-40])
    elif what == "another file":
        path.write_text("{}")
    elif what == "newer":
        path.write_text(json.dumps({**found, "format": 99}))


@pytest.mark.parametrize("what", ["no folder", "no manifest", "another pair", "cut off", "another file", "newer"])
def test_a_folder_without_a_whole_manifest_is_refused(what, tmp_path, messages):
    folder = tmp_path / "tasks"
    if what != "no folder":
        export(folder)
        damaged(folder, what)
    messages.refused(lambda: ptr.judging.import_labels(folder), argument="folder")
    if what not in ("no folder", "no manifest"):
        messages.refused(lambda: export(folder, MORE), argument="folder")
