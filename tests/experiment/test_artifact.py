"""Runs, judgments, pools and scores as artifacts: packed, served, loaded; what is uploaded, and what is not."""

from __future__ import annotations

import functools
import http.server
import json
import sys
import tarfile
import threading
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from lz4.frame import LZ4FrameFile

import pt_reuse as ptr
from pt_reuse.experiment.artifact import ReuseArtifact

FIELD = ptr.demo.simulate_field(seed=3, n_topics=4, n_docs=50, n_teams=3, length=12, depth=5)
POOL = ptr.depth_pool(FIELD.runs, depth=5)
SAMPLED = ptr.pools.sample_pool(POOL, share=0.5, seed=1)
GIVEN = {
    "run_set": FIELD.runs.reorder("trec_eval9"),
    "qrels": FIELD.qrels.with_rel(2),
    "qrels with more": SAMPLED.judge(FIELD.all_qrels),
    "pool": POOL,
    "pool sampled": SAMPLED,
    "pool from a frame": ptr.Pool.from_frame(pd.DataFrame({"qid": ["1"], "docno": ["x"], "why": ["so"]})),
    "scores": ptr.score(FIELD.runs, FIELD.qrels, ["AP", "nDCG@5"]),
}


def same(one, other):
    assert type(one) is type(other)
    assert repr(one) == repr(other)
    if isinstance(one, ptr.Scores):
        pd.testing.assert_frame_equal(one.per_topic, other.per_topic)
        return
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
    for table in ("run_table", "columns"):
        if hasattr(one, table):
            pd.testing.assert_frame_equal(getattr(one, table), getattr(other, table), check_column_type=False)
    if isinstance(one, ptr.Pool):
        pd.testing.assert_frame_equal(one.contributions(), other.contributions())
        assert (one.unsampled is None) == (other.unsampled is None)
        if one.unsampled is not None:
            same(one.unsampled, other.unsampled)
    if isinstance(one, ptr.RunSet):
        assert one.how_pooled == other.how_pooled
        for name in one:
            pd.testing.assert_frame_equal(one[name], other[name])


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Return a folder and the address at which it is served, with a home of PyTerrier's own."""
    monkeypatch.setenv("PYTERRIER_HOME", str(tmp_path / "home"))
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("name", GIVEN)
def test_what_was_written_comes_back_and_nothing_that_was_altered(name, tmp_path, messages):
    made = GIVEN[name].to_artifact(tmp_path / "it")
    loaded = pt.Artifact.load(str(made.folder))
    assert type(loaded) is type(made)
    same(loaded.content, GIVEN[name])
    assert pt.inspect.artifact_type_format(loaded) == (name.split()[0], "reuse")
    for path in sorted(made.folder.rglob("*")):
        if path.is_file() and path.name != "pt_meta.json":
            data = path.read_bytes()
            path.write_bytes(data + b" ")
            with pytest.raises(ptr.InputError) as error:
                _ = pt.Artifact.load(str(made.folder)).content
            assert path.name in error.value.place
            path.unlink()
            with pytest.raises(ptr.InputError):
                _ = pt.Artifact.load(str(made.folder)).content
            path.write_bytes(data)
    meta = json.loads((made.folder / "pt_meta.json").read_text())
    assert meta.pop("digest")
    (made.folder / "pt_meta.json").write_text(json.dumps(meta))
    messages.refused(lambda: pt.Artifact.load(str(made.folder)).content)


def test_packed_served_and_loaded_from_its_address(served, capsys):
    folder, address = served
    made = FIELD.runs.to_artifact(folder / "field")
    made.build_package(str(folder / "field.tar.lz4"), verbose=False)
    loaded = pt.Artifact.from_url(f"{address}/field.tar.lz4")
    same(loaded.content, FIELD.runs)
    capsys.readouterr()


def uploaded(monkeypatch, artifact, **options):
    """Return the card that would be uploaded to the Hugging Face Hub."""
    cards = []
    hub = types.ModuleType("huggingface_hub")
    for name in ("create_repo", "create_branch", "update_repo_visibility"):
        setattr(hub, name, lambda *_, **__: None)
    hub.upload_folder = lambda folder_path, **_: cards.append(Path(folder_path, "README.md").read_text())
    hub.utils = types.SimpleNamespace(HfHubHTTPError=OSError)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    artifact.to_hf("me/mine", **options)
    return cards[0]


def test_the_card_is_filled_in(monkeypatch, tmp_path, capsys):
    about = {"title": "A field", "description": "Simulated runs.", "source": "a paper", "license": "cc0-1.0"}
    card = uploaded(monkeypatch, FIELD.runs.to_artifact(tmp_path / "a", **about))
    assert "TODO" not in card
    assert "artifact = " not in card
    for text in (*about.values(), "pt.Artifact.from_hf('me/mine').content", "- pyterrier-artifact.run_set.reuse",
                 "order: trec_eval", f"RunSet: {len(FIELD.runs)} runs"):  # fmt: skip
        assert text in card, text
    plain = uploaded(monkeypatch, FIELD.qrels.to_artifact(tmp_path / "b"), branch="v2")
    assert "from_hf('me/mine@v2')" in plain
    assert "Not stated." in plain
    capsys.readouterr()


#: as a hub's names: eight of one collection, and two of each of several
OF_TREC8 = ["acsys8alo", "Dm8TFbn", "CL99SD", "INQ601", "ok8alx", "pir9Attd", "uwmt8a1", "mds08a3"]
OF_SEVERAL = ["acsys8alo", "Dm8TFbn", "bm25tuned_ax_p", "idst_bert_p1", "p_f10_mdt53b", "pash_doc_f1"]
OWN = [f"own{i}" for i in range(9)]


def runs_named(names):
    frame = FIELD.runs[FIELD.runs.names[0]]
    return ptr.RunSet.from_frames(dict.fromkeys(names, frame), pooled=True)


@pytest.mark.parametrize(
    "names",
    [
        ["acsys8alo", "Dm8TFbn", "mine"],
        [*OF_TREC8, *OWN],
        [*OF_SEVERAL, *(f"mine{i}" for i in range(40))],
        ["ACSYS8ALO", *OWN],
        ["input.Acsys8Alo.gz", *OWN],
        # short names: one may be chance, two are not
        ["gmu1", "watd5", *OWN],
        *([*map(form.format, OF_TREC8), *OWN] for form in ("{}.csv", "run_{}", "{}\u200b", "{}.res.bak")),
    ],
)
def test_runs_under_an_agreement_are_not_shared(names, tmp_path, messages):
    theirs = runs_named(names)
    for i, content in enumerate((theirs, ptr.depth_pool(theirs, depth=3))):
        made = content.to_artifact(tmp_path / str(i))
        messages.refused(lambda made=made: made.build_package(str(tmp_path / "it.tar.lz4")))
    assert not (tmp_path / "it.tar.lz4").exists()
    # on one's own machine it is an artifact like any other
    assert pt.Artifact.load(str(tmp_path / "0")).content.names == names


@pytest.mark.parametrize(
    "names", [OWN, ["bm25", "run1", "run2", "run3", "BM25.gz", "rm3", "monoT5"], ["gmu1", *OWN], ["1", "2", "3"]]
)
def test_names_that_are_anybodys_are_chance(names, tmp_path, monkeypatch, capsys):
    made = runs_named(names).to_artifact(tmp_path / "own")
    uploaded(monkeypatch, made)
    made.build_package(str(tmp_path / "it.tar.lz4"))
    capsys.readouterr()


def test_scores_of_runs_under_an_agreement_are_figures(tmp_path, monkeypatch, capsys):
    scores = ptr.score(runs_named(OF_TREC8), FIELD.qrels, ["AP"])
    uploaded(monkeypatch, scores.to_artifact(tmp_path / "scores"))
    capsys.readouterr()


def test_who_allows_it_is_written_into_what_is_shared(tmp_path, monkeypatch, messages, capsys):
    made = runs_named(OF_TREC8).to_artifact(tmp_path / "a")
    who = "all eight are ours, J. Doe"
    for odd in ("", "  ", True, 3):
        messages.refused(lambda odd=odd: made.allowed(odd), argument="who")
    assert who in uploaded(monkeypatch, made.allowed(who))
    made.allowed(who).build_package(str(tmp_path / "it.tar.lz4"), verbose=False)
    with LZ4FrameFile(tmp_path / "it.tar.lz4") as packed, tarfile.open(fileobj=packed, mode="r|") as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    assert who in json.loads(found["pt_meta.json"]).values()
    # it holds for this once
    messages.refused(lambda: uploaded(monkeypatch, made))
    assert who not in (tmp_path / "a" / "pt_meta.json").read_text()
    capsys.readouterr()


def test_bad_input(tmp_path, messages):
    FIELD.qrels.to_artifact(tmp_path / "q")
    messages.refused(lambda: FIELD.qrels.to_artifact(tmp_path / "q"), argument="folder")
    messages.refused(lambda: FIELD.qrels.to_artifact(tmp_path / "x", title=3), argument="title")
    messages.refused(lambda: FIELD.qrels.to_artifact(tmp_path / "q" / "pt_meta.json" / "x"), argument="folder")
    long = ptr.RunSet.from_frames({"r" * 300: FIELD.runs[FIELD.runs.names[0]]})
    error = messages.refused(lambda: long.to_artifact(tmp_path / "x"))
    assert str(tmp_path) not in str(error)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["q"]
    # a damaged one says so
    table = tmp_path / "q" / "frames.judgments.csv"
    table.write_bytes(table.read_bytes()[:-9])
    with pytest.raises(ptr.InputError):
        _ = pt.Artifact.load(str(tmp_path / "q")).content
    meta = json.loads((tmp_path / "q" / "pt_meta.json").read_text())
    assert meta["package_hint"] == ReuseArtifact.ARTIFACT_PACKAGE_HINT
    assert np.all([name in meta for name in ("type", "format", "card")])


def test_zenodo_is_told_what_is_stated(monkeypatch, tmp_path):
    made = {"title": "TODO", "description": "TODO", "creators": []}
    monkeypatch.setattr(pt.Artifact, "_zenodo_metadata", lambda self, **_: dict(made))
    stated = {"title": "Mine <b>", "license": "cc-by-4.0", "source": "a <paper>"}
    told = FIELD.qrels.to_artifact(tmp_path / "stated", **stated)._zenodo_metadata(zenodo_id="7", metadata={})
    assert (told["title"], told["license"], told["creators"]) == ("Mine <b>", "cc-by-4.0", [])
    assert "a &lt;paper&gt;" in told["description"]
    assert "from_zenodo(&#x27;7&#x27;)" in told["description"]
    allowed = FIELD.runs.to_artifact(tmp_path / "plain")._zenodo_metadata(zenodo_id="7", metadata={})
    assert allowed["title"] == "TODO"
    assert "Licence</h2>\n<p>Not stated." in allowed["description"]
