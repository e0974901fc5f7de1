"""Packed files: how much of them is unpacked, in what memory, and that nothing of them is passed over."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packing_parts import compressed

import pt_reuse as ptr
from pt_reuse.data import packed_files as files
from pt_reuse.data.packed_files import TooLargeError, UnreadableError, read_beginning, read_blocks, read_bytes
from pt_reuse.errors import InputError

PACKINGS = ["gzip", "bzip2", "xz", "lz4", "zstandard", "compress"]


def packed(packing: str, text: bytes) -> bytes:
    if packing in ("lz4", "zstandard"):
        return bytes(pytest.importorskip({"lz4": "lz4.frame"}.get(packing, packing)).compress(text))
    return {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "compress": compressed}[packing](text)


def test_what_does_not_fit_in_memory_is_told(tmp_path, monkeypatch):
    def too_large(*_, **__):
        raise MemoryError

    (tmp_path / "f").write_bytes(gzip.compress(b"401 Q0 d 1 1 a\n"))
    monkeypatch.setattr(files, "_unpacked", too_large)
    for read in (ptr.read_runs, ptr.read_qrels):
        with pytest.raises(InputError, match="does not fit in memory"):
            read(tmp_path / "f")


@pytest.mark.parametrize("packing", PACKINGS)
def test_the_limit(packing, tmp_path, monkeypatch):
    (tmp_path / "f").write_bytes(raw := packed(packing, bytes(5000)))
    monkeypatch.setattr(files, "MOST_TIMES", 1)
    monkeypatch.setattr(files, "ANY_UNPACKED", 5000)
    assert read_bytes(tmp_path / "f") == bytes(5000)
    monkeypatch.setattr(files, "ANY_UNPACKED", 4999)
    with pytest.raises(TooLargeError, match=f"unpacks to more than 4,999 bytes, from {len(raw):,}"):
        read_bytes(tmp_path / "f")
    # what is larger may unpack to so many times its size, but never to more than anything may
    monkeypatch.setattr(files, "MOST_TIMES", -(-5000 // len(raw)))
    assert read_bytes(tmp_path / "f") == bytes(5000)
    monkeypatch.setattr(files, "MOST_UNPACKED", 4999)
    with pytest.raises(TooLargeError):
        list(read_blocks(tmp_path / "f"))


def test_archives_are_no_texts(tmp_path):
    (tmp_path / "one").write_text("1 Q0 d 1 1 a\n")
    for how in ("w", "w:gz", "w:xz"):
        with tarfile.open(tmp_path / "all.tar", how) as archive:
            archive.add(tmp_path / "one", "one")
        with pytest.raises(UnreadableError, match="is a tar archive"):
            read_bytes(tmp_path / "all.tar")
    with pytest.raises(InputError, match=r"all\.tar: .*is a tar archive\. Unpack it"):
        ptr.read_leaderboard(tmp_path / "all.tar")
    with pytest.raises(InputError, match="is a tar archive"):
        ptr.read_runs(tmp_path / "all.tar")


def test_limits():
    assert [files.most_unpacked(size) for size in (10, 10**6, 7 * 10**6, 10**9)] == [10**8, 10**8, 7 * 10**8, 8 * 10**9]


@given(
    packing=st.sampled_from(PACKINGS),
    texts=st.lists(st.binary(max_size=400), min_size=1, max_size=3),
    sizes=st.tuples(st.integers(1, 50), st.integers(1, 50)),
    data=st.data(),
)
def test_steps_of_any_size_give_the_whole(packing, texts, sizes, data, tmp_path_factory):
    texts = texts[:1] if packing == "compress" else texts
    path = tmp_path_factory.mktemp("packed") / "f"
    path.write_bytes(b"".join(packed(packing, text) for text in texts))
    whole = b"".join(texts)
    assert read_bytes(path) == whole
    chunk, step = sizes
    assert b"".join(files._blocks(path, chunk, step)) == whole
    n = data.draw(st.integers(1, len(whole) + 1))
    assert read_beginning(path, n) == whole[:n]
    # cut anywhere: the beginning of it, or an error, whatever the steps
    raw = path.read_bytes()
    path.write_bytes(raw[: data.draw(st.integers(11, max(11, len(raw) - 1)))])
    found = []
    for read in (lambda: read_bytes(path), lambda: b"".join(files._blocks(path, chunk, step))):
        try:
            found.append(read())
        except UnreadableError:
            # in whatever words: one byte of a further member is no gzip, or one that ended
            found.append(None)
    assert found[0] == found[1]


def test_gzip_by_the_standard_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "isal", None)
    pieces = [b"words %d " % i * i * 50 for i in range(100)] + [bytes(3 * files.STEP)]
    raw = b"".join(map(gzip.compress, pieces))
    (tmp_path / "f").write_bytes(raw + bytes(20))
    assert read_bytes(tmp_path / "f") == b"".join(pieces)
    for damaged in (raw[:-1], raw[:-20], raw + b"x", raw[:-5] + bytes([raw[-5] ^ 1]) + raw[-4:]):
        (tmp_path / "f").write_bytes(damaged)
        with pytest.raises(UnreadableError, match="damaged or truncated gzip"):
            read_bytes(tmp_path / "f")


# what Unix compress wrote, against the reader of another project


def unlzw(raw):
    """Unpack with another project's library."""
    return pytest.importorskip("unlzw3").unlzw(raw)


#: texts of few and of many different bytes, short ones and such as fill the table of ten bits
TEXTS = st.one_of(
    st.binary(max_size=600),
    st.text("ab", max_size=600).map(str.encode),
    st.integers(1, 4000).map(lambda n: b"".join(b"401 Q0 d%d 1 1 a\n" % (i * i % 997) for i in range(n % 300))),
)


def unpacked(raw):
    return b"".join(files._uncompressed(raw))


def expected(raw):
    try:
        return unlzw(raw)
    except ValueError:
        return None


@given(TEXTS, st.integers(9, 16), st.booleans(), st.sets(st.integers(1, 600), max_size=3))
def test_what_was_packed(text, widest, clears, cleared_at):
    raw = compressed(text, widest=widest, clears=clears, cleared_at=cleared_at if clears else ())
    assert unpacked(raw) == text


@given(TEXTS, st.integers(9, 16), st.booleans(), st.data())
def test_damaged_files(text, widest, clears, data):
    raw = bytearray(compressed(text, widest=widest, clears=clears))
    raw[data.draw(st.integers(2, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    raw = bytes(raw[: len(raw) - data.draw(st.integers(0, 2))])
    wanted = expected(raw) if len(raw) > 2 else None
    if wanted is None:
        with pytest.raises((ValueError, EOFError)):
            unpacked(raw)
    else:
        assert unpacked(raw) == wanted
