"""gzip files of any make, against Python's own reader."""

import gzip
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.data.packed_files import UnreadableError, read_bytes

#: texts among which are equal ones, empty ones and the bytes with which a member begins
TEXT = st.sampled_from([b"", b"1 Q0 d 1 2 t\n", b"1 Q0 e 1 2 t\n", b"\x1f\x8b\x08", b"words " * 1000])
BEHIND = st.sampled_from([b"", b"", bytes(8), b"\n", b"\x1f", b"garbage", (13).to_bytes(4, "little")])


def expected(raw):
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError):
        return None


@given(
    members=st.lists(st.tuples(TEXT, st.integers(0, 9)), min_size=1, max_size=3), behind=BEHIND, cut=st.integers(0, 9)
)
def test_gzip_files_are_read_as_python_reads_them(members, behind, cut, tmp_path_factory):
    pytest.importorskip("isal")
    raw = b"".join(gzip.compress(text, level) for text, level in members) + behind
    path = tmp_path_factory.mktemp("gzip") / "file"
    path.write_bytes(raw[: len(raw) - cut])
    wanted = expected(path.read_bytes())
    if wanted is None:
        with pytest.raises(UnreadableError):
            read_bytes(path)
    else:
        assert read_bytes(path) == wanted


@given(text=st.binary(min_size=1, max_size=300), data=st.data())
def test_a_changed_byte_of_a_gzip_file_is_noticed(text, data, tmp_path_factory):
    raw = bytearray(gzip.compress(text))
    # the header of ten bytes holds a time and the like, which are not checked
    at = data.draw(st.integers(10, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("gzip") / "file"
    path.write_bytes(raw)
    with suppress(UnreadableError):
        assert read_bytes(path) == text
