"""Runs, judgments, pools and scores as artifacts: packed, served, loaded; what is uploaded, and what is not."""

from __future__ import annotations

import functools
import http.server
import json
import sys
import threading
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.experiment.artifact import ReuseArtifact

FIELD = ptr.simulate_field(seed=3, n_topics=4, n_docs=50, n_teams=3, length=12, depth=5)
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
def test_what_was_written_comes_back(name, tmp_path):
    made = ptr.to_artifact(GIVEN[name], tmp_path / "it")
    assert isinstance(made, pt.Artifact)
    loaded = pt.Artifact.load(str(tmp_path / "it"))
    assert type(loaded) is type(made)
    same(loaded.content, GIVEN[name])
    assert pt.inspect.artifact_type_format(loaded) == (name.split()[0], "reuse")


def test_packed_served_and_loaded_from_its_address(served, capsys):
    folder, address = served
    made = ptr.to_artifact(FIELD.runs, folder / "field")
    made.build_package(str(folder / "field.tar.lz4"), verbose=False)
    loaded = pt.Artifact.from_url(f"{address}/field.tar.lz4")
    same(loaded.content, FIELD.runs)
    capsys.readouterr()


def test_a_pool_that_came_back_is_worked_with(tmp_path):
    ptr.to_artifact(POOL, tmp_path / "pool")
    loaded = pt.Artifact.load(str(tmp_path / "pool")).content
    team = POOL.run_table["team"].iloc[0]
    pd.testing.assert_frame_equal(loaded.uniques(), POOL.uniques())
    assert repr(loaded.without(team)) == repr(POOL.without(team))
    assert loaded.judge(FIELD.all_qrels).to_frame().equals(POOL.judge(FIELD.all_qrels).to_frame())


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
    card = uploaded(monkeypatch, ptr.to_artifact(FIELD.runs, tmp_path / "a", **about))
    assert "TODO" not in card
    assert "artifact = " not in card
    for text in (*about.values(), "pt.Artifact.from_hf('me/mine').content", "- pyterrier-artifact.run_set.reuse",
                 "order: trec_eval", f"RunSet: {len(FIELD.runs)} runs"):  # fmt: skip
        assert text in card, text
    plain = uploaded(monkeypatch, ptr.to_artifact(FIELD.qrels, tmp_path / "b"), branch="v2")
    assert "from_hf('me/mine@v2')" in plain
    assert "Not stated." in plain
    capsys.readouterr()


def test_zenodo_gets_a_description_with_names_escaped(tmp_path, monkeypatch):
    sent = []

    class Answer:
        """What the server answers."""

        def raise_for_status(self):
            """Do nothing."""

        def json(self):
            links = dict.fromkeys(("html", "latest_draft", "bucket", "discard"), "http://z")
            return {"id": 7, "links": links}

    def put(url, **given):
        sent.append(given.get("json"))
        return Answer()

    monkeypatch.setattr("requests.post", lambda *_, **__: Answer())
    monkeypatch.setattr("requests.put", put)
    made = ptr.to_artifact(FIELD.qrels, tmp_path / "q", title="Q", description="a < b", license="cc0-1.0")
    made.to_zenodo()
    metadata = next(one for one in sent if one)["metadata"]
    assert metadata["title"] == "Q"
    assert metadata["license"] == "cc0-1.0"
    assert "a &lt; b" in metadata["description"]
    assert "TODO" not in metadata["description"]
    assert "from_zenodo(&#x27;7&#x27;)" in metadata["description"]


def test_runs_under_an_agreement_are_not_shared(tmp_path, monkeypatch, messages, capsys):
    names = ["acsys8alo", "Dm8TFbn", "mine"]
    frames = {name: FIELD.runs[FIELD.runs.names[i]] for i, name in enumerate(names)}
    theirs = ptr.RunSet.from_frames(frames, pooled=True)
    for i, content in enumerate((theirs, ptr.depth_pool(theirs, depth=3))):
        made = ptr.to_artifact(content, tmp_path / str(i))
        for share in (lambda made=made: made.to_hf("me/mine"), made.to_zenodo, lambda made=made: made.to_p2p()):
            error = messages.refused(share)
            assert "TREC-8" in str(error)
    # on one's own machine it is an artifact like any other
    same(pt.Artifact.load(str(tmp_path / "0")).content, theirs)
    # scores are figures, and one name among many is a chance
    own = ptr.RunSet.from_frames({**frames, **{f"own{i}": frames["mine"] for i in range(9)}})
    uploaded(monkeypatch, ptr.to_artifact(own, tmp_path / "own"))
    uploaded(monkeypatch, ptr.to_artifact(ptr.score(theirs, FIELD.qrels, ["AP"]), tmp_path / "scores"))
    capsys.readouterr()


def test_bad_input(tmp_path, messages):
    ptr.to_artifact(FIELD.qrels, tmp_path / "q")
    messages.refused(lambda: ptr.to_artifact(FIELD.qrels, tmp_path / "q"), argument="folder")
    messages.refused(lambda: ptr.to_artifact(FIELD.qrels.to_frame(), tmp_path / "x"), argument="content")
    messages.refused(lambda: ptr.to_artifact(FIELD.qrels, tmp_path / "x", title=3), argument="title")
    messages.refused(lambda: ptr.to_artifact(FIELD.qrels, tmp_path / "q" / "pt_meta.json" / "x"), argument="folder")
    error = messages.refused(lambda: ptr.to_artifact(FIELD, tmp_path / "x"), argument="content")
    assert ".runs" in str(error)
    long = ptr.RunSet.from_frames({"r" * 300: FIELD.runs[FIELD.runs.names[0]]})
    error = messages.refused(lambda: ptr.to_artifact(long, tmp_path / "x"))
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


def test_an_artifact_says_what_it_is_and_a_result_is_no_artifact(tmp_path, messages):
    made = ptr.to_artifact(FIELD.qrels, tmp_path / "q")
    assert repr(made) == f"QrelsArtifact({str(tmp_path / 'q')!r})"
    scores = ptr.score(FIELD.runs, FIELD.qrels, "AP")
    result = scores.compare(scores, names=("one", "other"))
    error = messages.refused(lambda: ptr.to_artifact(result, tmp_path / "r"), argument="content")
    assert "read_result()" in str(error)
    assert "read_result()" not in str(messages.refused(lambda: ptr.to_artifact(3, tmp_path / "r")))
