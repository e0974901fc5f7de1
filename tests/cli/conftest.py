"""A small field as files and as a collection of one's own, and a collection whose runs are served from this machine."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.cli import output
from pt_reuse.collections.collection import Collection
from pt_reuse.plots import sheet

# commands import what they work with when they run; what is first imported under a patch would keep it
for _name in ptr.__all__:
    getattr(ptr, _name)


@pytest.fixture(autouse=True)
def user_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    # wide, so that messages and tables are compared whole; how they are laid out is tested by itself
    monkeypatch.setenv("COLUMNS", "1000")
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def rough_pictures(monkeypatch):
    """Have pictures drawn and not fitted, which takes most of their time; how they look is tested by itself."""
    monkeypatch.setattr(sheet.Sheet, "fit", lambda self, height: None)
    monkeypatch.setattr(output, "_DOTS", 40)


@pytest.fixture
def no_pictures(monkeypatch):
    """Have commands draw nothing, as where there is no matplotlib: pictures take most of the time of a small study."""

    def no_screen():
        raise sheet.NoMatplotlibError("not drawn")

    monkeypatch.setattr(sheet, "off_screen", no_screen)


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=3, n_topics=5, n_docs=200, n_teams=4, length=30, depth=5)


@pytest.fixture
def files(tmp_path, field):
    """Return a folder with runs, what is known of them, and judgments."""
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path


@pytest.fixture
def definition(tmp_path, field):
    """Return the definition of a collection of one's own, with runs, teams, types and who was pooled."""
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return (
        f'name = "mine/sim"\ntitle = "Simulated"\nyear = 2024\nnote = "For tests."\nqrels = "{tmp_path}/qrels.txt"\n'
        f'[runs]\nfolder = "{tmp_path}/runs"\nmetadata = "{tmp_path}/runs.csv"\n'
    )


@pytest.fixture
def own(tmp_path, definition):
    """Return the file of that definition."""
    path = tmp_path / "mine.toml"
    path.write_text(definition)
    return path


@pytest.fixture
def at_home(user_home, definition):
    """Return the name of that collection, its definition being in the user's folder."""
    (user_home / "collections").mkdir(parents=True)
    (user_home / "collections" / "sim.toml").write_text(definition)
    return "mine/sim"


class _Server(BaseHTTPRequestHandler):
    runs: ClassVar[dict[str, bytes]] = {}

    def do_GET(self):
        content = self.runs.get(self.path.strip("/"))
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


@pytest.fixture
def published(monkeypatch):
    """Serve two of four runs of a collection from this machine; the first is pooled."""
    _Server.runs = {name: f"1 Q0 d1 1 2.0 {name}\n".encode() for name in ("a", "b")}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    submitted = pd.DataFrame(
        {
            "name": ["a", "b", "gone", "lost"],
            "team": list("ABBC"),
            "type": ["automatic", "manual", "manual", "manual"],
            "official_type": "",
            "task": "",
            "pooled": [True, False, False, False],
            "published": True,
        }
    )
    collection = Collection(
        name="small",
        title="Small",
        submitted=submitted,
        url=f"http://127.0.0.1:{server.server_port}/{{tag}}",
        access="open",
        topic_ids=frozenset("1"),
    )
    monkeypatch.setattr("pt_reuse.collections.definition.find_collection", lambda name: collection)
    yield collection
    server.shutdown()
    server.server_close()
    thread.join()
