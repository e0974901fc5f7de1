"""Tables of names as 64-bit words: encoding, numbering, finding, also when hashes collide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.engine import tokens

names = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30), max_size=20
)


def words(texts):
    return tokens.as_words(tokens.encode(texts))


@given(names)
def test_decoding_gives_back_what_was_encoded(texts):
    assert tokens.decode(tokens.encode(texts)) == texts
    assert tokens.decode(tokens.as_tokens(words(texts))) == texts


@given(names)
def test_byte_order_sorts_as_bytes_do(texts):
    distinct = list(dict.fromkeys(texts))
    turned = tokens.byte_order(words(distinct))
    order = np.lexsort(turned.T[::-1])
    assert [distinct[i] for i in order] == sorted(distinct, key=lambda text: text.encode())


@pytest.mark.parametrize("collide", [False, True])
@given(table=names, needles=names)
def test_numbering_and_finding_are_exact_even_if_all_hashes_collide(collide, table, needles):
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(tokens, "hashes", lambda w: w[:, 0] & np.uint64(1))
        needles = needles + table[:4]
        codes, first = tokens.factorize(words(needles))
        seen = list(dict.fromkeys(needles))
        assert [seen[c] for c in codes] == needles
        assert [needles[f] for f in first] == seen

        distinct = list(dict.fromkeys(table))
        expected = [distinct.index(n) if n in distinct else -1 for n in needles]
        assert tokens.match(words(needles), words(distinct)).tolist() == expected
        order = tokens.in_hash_order(words(distinct))
        ordered = [distinct[i] for i in order]
        found = tokens.find(words(needles), words(distinct)[order])
        assert found.tolist() == [ordered.index(n) if n in ordered else -1 for n in needles]


def test_padding_does_not_change_a_hash():
    short = words(["a", "docno-17"])
    assert np.array_equal(tokens.hashes(short), tokens.hashes(tokens.widen(short, 4)))


def test_bytes_that_are_not_utf8_survive():
    assert tokens.encode(tokens.decode(np.array([b"caf\xe9", b"ok"], dtype="S8"))).tolist() == [b"caf\xe9", b"ok"]
