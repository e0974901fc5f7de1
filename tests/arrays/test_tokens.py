"""Tables of names as 64-bit words: encoding, numbering, finding, also when hashes collide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.arrays import tokens

text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30)
#: some are too long for a table, and differ at their very end only
names = st.lists(text | st.integers(0, 9).map(lambda i: "long" * 30 + str(i)) | text.map(lambda t: t * 40), max_size=20)


def words(texts):
    return tokens.as_words(tokens.encode(texts))


@given(names)
def test_decoding_gives_back_what_was_encoded(texts):
    assert tokens.decode(tokens.encode(texts)) == texts
    assert tokens.decode(tokens.as_tokens(words(texts))) == texts


@given(names)
def test_names_descend_in_the_order_of_their_bytes(texts):
    distinct = list(dict.fromkeys(texts))
    order = np.lexsort(tokens.descending(words(distinct)))
    assert [distinct[i] for i in order] == sorted(distinct, key=lambda text: text.encode(), reverse=True)


@pytest.mark.parametrize("collide", [False, True])
@given(table=names, needles=names, threads=st.integers(1, 3))
def test_numbering_and_finding_are_exact_even_if_all_hashes_collide(collide, table, needles, threads):
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(tokens, "hashes", lambda w: w[:, 0] & np.uint64(256))
        needles = needles + table[:4]
        codes, first = tokens.factorize(words(needles))
        seen = list(dict.fromkeys(needles))
        assert [seen[c] for c in codes] == needles
        assert [needles[f] for f in first] == seen

        distinct = list(dict.fromkeys(table))
        expected = [distinct.index(n) if n in distinct else -1 for n in needles]
        assert tokens.match(words(needles), words(distinct)).tolist() == expected
        repeated = distinct + distinct[::2]
        ordered, code = tokens.in_hash_order(words(repeated), threads=threads)
        names = tokens.decode(tokens.as_tokens(ordered))
        assert sorted(names) == sorted(distinct)
        assert [names[i] for i in code] == repeated
        found = tokens.find(words(needles), ordered)
        assert found.tolist() == [names.index(n) if n in names else -1 for n in needles]


# names too long for a table

LIMIT = tokens.LONGEST


def test_a_long_name_does_not_widen_the_table():
    short, long = "d" * LIMIT, "d" * (LIMIT + 1)
    assert words(["d1", long]).shape == (2, tokens.STAND_IN_WIDTH // 8)
    assert words(["d1", short]).shape == (2, LIMIT // 8)
    assert tokens.decode(tokens.encode(["d1", long, short])) == ["d1", long, short]


def test_a_long_name_in_a_buffer():
    names = [b"d1", b"x" * 900, b"d" * LIMIT, b"y" * 65, b"d2"]
    buffer = np.frombuffer(b" ".join(names) + bytes(8), dtype=np.uint8)
    ends = np.cumsum([len(name) + 1 for name in names]) - 1
    starts = ends - [len(name) for name in names]
    found = tokens.words_at(buffer, starts, ends)
    assert tokens.names_of(tokens.as_tokens(found)) == names
    same = tokens.as_words(tokens.table(names))
    assert np.array_equal(found, same)
    assert tokens.match(found, same).tolist() == list(range(5))


def test_a_digest_that_ends_in_nul(messages, monkeypatch):
    monkeypatch.setattr(tokens, "_NAMES", {})
    monkeypatch.setattr(tokens, "_STAND_INS", {})
    monkeypatch.setattr(tokens, "blake2b", lambda name, digest_size: Digest(b"x" + bytes(digest_size - 1)))
    assert tokens.decode(tokens.encode(["a" * 100, "b"])) == ["a" * 100, "b"]
    with pytest.raises(ValueError) as caught:  # never one name for another
        tokens.encode(["c" * 100])
    messages.told(caught.value)


class Digest:
    def __init__(self, raw):
        self.raw = raw

    def digest(self):
        return self.raw
