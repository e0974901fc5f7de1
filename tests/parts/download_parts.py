"""Runs as a server has them, fetching with what must hold of every answer, and passwords that nobody may see."""

from __future__ import annotations

import base64
import bz2
import gzip
import lzma
import random
import socket

import pandas as pd

from pt_reuse._files import is_temporary
from pt_reuse.collections import download
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download import check_run_file, fetch_runs

TOPICS = frozenset({"401", "402", "403"})
USER, SECRET = "alice-of-acme", "s3cret-Pass%word"
TOKEN = base64.b64encode(f"{USER}:{SECRET}".encode()).decode()


def text_of(tag, lines=3000, topics=("401", "402")):
    random.seed(tag)
    rows = [
        f"{qid} Q0 d{random.randrange(10**9):09d}-{i} {i} {lines - i}.5 {tag}\n"
        for qid in topics
        for i in range(lines // len(topics))
    ]
    return "".join(rows).encode()


PLAIN = {name: text_of(name) for name in ("bm25", "dense", "manual")}
#: one line as Unix compress packs it, every byte a code of nine bits
LINE = b"401 Q0 d1 1 2.5 bm25\n"
COMPRESSED = b"\x1f\x9d\x90" + sum(byte << 9 * i for i, byte in enumerate(LINE)).to_bytes(24, "little")
PACKED = {name: gzip.compress(text, mtime=0) for name, text in PLAIN.items()}
GZ, TEXT = PACKED["bm25"], PLAIN["bm25"]


def collection_at(url, names, **more):
    """Return a collection whose runs are published at an address, as the catalogue has one."""
    table = pd.DataFrame({"name": list(names), "team": "t", "type": "automatic", "pooled": True, "published": True})
    table = table.assign(official_type="", task="")
    given = {"name": "small", "title": "small", "origin": "catalogue", "access": "open", **more}
    return Collection(submitted=table, url=f"{url}/{{tag}}", **given)


def check(name, path):
    check_run_file(name, path, Collection(name="x", title="trec-8/adhoc", topic_ids=TOPICS))


def fetch(server, folder, *names, path="/{}", check=check, **arguments):
    """Fetch runs of these names from the server, and look whether what is said of them is sound."""
    wanted = {name: server.url + path.format(name) for name in names or ["bm25"]}
    fetched = fetch_runs(wanted, folder, check=check, **{"timeout": 10, **arguments})
    assert sorted([*fetched.files, *fetched.failed]) == sorted(wanted)
    assert all(path.is_file() and path.parent == folder for path in fetched.files.values())
    assert not secrets_in(repr(fetched))
    assert all(reason.endswith((".", "?")) and "\n" not in reason for reason in fetched.failed.values())
    return fetched


def fails(server, folder, *names, **arguments):
    """Fetch one run that must fail; return the reason."""
    fetched = fetch(server, folder, *names, **arguments)
    assert not fetched.files
    assert not list(folder.iterdir())
    (reason,) = set(fetched.failed.values())
    return reason


def left(folder):
    return sorted(path.name for path in folder.iterdir() if is_temporary(path.name)) if folder.exists() else []


def assert_sound(folder, around):
    for path in folder.iterdir() if folder.is_dir() else []:
        data = path.read_bytes()
        name = (
            path.name.removeprefix("input.")
            .removesuffix(".gz")
            .removesuffix(".bz2")
            .removesuffix(".xz")
            .removesuffix(".Z")
        )
        assert path.name.startswith("input.")
        assert run_text(data).split()[5].decode() in (name, "bm25")
        assert run_text(data) in (*PLAIN.values(), LINE)
        assert check(name, path) is None
    assert sorted(path.name for path in around.iterdir()) == sorted({"home", *(["runs"] if folder.is_dir() else [])})
    for path in around.rglob("*"):
        if path.is_file() and "netrc" not in path.name:
            assert not secrets_in(path.read_bytes().decode("latin-1"))


def run_text(data):
    for magic, unpack in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7z", lzma)):
        if data.startswith(magic):
            return unpack.decompress(data)
    return LINE if data == COMPRESSED else data


def secrets_in(text):
    return [secret for secret in (SECRET, TOKEN, USER) if secret in text]


def nobody():
    """Return a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def trust(monkeypatch, server):
    """Let a server of the tests stand for NIST's."""
    monkeypatch.setattr(download, "PASSWORD_FOR", server.url + "/")


def set_login(monkeypatch, username=USER, password=SECRET):
    for variable, value in zip(download.VARIABLES[0], (username, password), strict=True):
        monkeypatch.setenv(variable, value)


def sent(server):
    return [asked.headers["authorization"] for asked in server.asked if "authorization" in asked.headers]
