"""What Unix compress wrote, against the reader of another project."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packing_parts import compressed

from pt_reuse.data import lzw

unlzw = pytest.importorskip("unlzw3").unlzw
#: texts of few and of many different bytes, short ones and such as fill the table of ten bits
TEXTS = st.one_of(
    st.binary(max_size=600),
    st.text("ab", max_size=600).map(str.encode),
    st.integers(1, 4000).map(lambda n: b"".join(b"401 Q0 d%d 1 1 a\n" % (i * i % 997) for i in range(n % 300))),
)


def unpacked(raw):
    return b"".join(lzw.unpack(raw))


def expected(raw):
    try:
        return unlzw(raw)
    except ValueError:
        return None


@given(TEXTS, st.integers(9, 16), st.booleans(), st.sets(st.integers(1, 600), max_size=3))
def test_what_was_packed(text, widest, clears, cleared_at):
    raw = compressed(text, widest=widest, clears=clears, cleared_at=cleared_at if clears else ())
    assert expected(raw) == text
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


def test_a_long_text_whose_table_is_full():
    lines = (b"%d Q0 doc-%d %d %.3f tag\n" % (i // 9, i * i % 9999, i % 100, 1 / (i + 1)) for i in range(9000))
    text = b"".join(lines)
    assert unpacked(compressed(text, widest=12)) == text
    assert unpacked(compressed(text, widest=13, cleared_at=[150_000])) == text
    assert unlzw(compressed(text, widest=13, cleared_at=[150_000])) == text
