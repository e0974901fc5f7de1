"""Two fields united, against all their runs coded together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import build_field, unite
from pt_reuse.arrays.lists import FileRows, RunRows, offsets, rank_places

DOCS = ["a", "b", "c", "12345678", "a-name-of-two-words", "a-name-of-two-wordz", "ä", "x" * 70]
# a run is topic -> its documents; topics appear in the order of the dict, as in a file
RUN = st.dictionaries(
    st.sampled_from(["1", "2", "03", "10", "topic"]),
    st.lists(st.sampled_from(DOCS), unique=True, min_size=1),
    max_size=5,
)
FIELD = st.lists(RUN, min_size=1, max_size=4)


def as_rows(name, run):
    docs = [docno for found in run.values() for docno in found]
    words = tokens.as_words(tokens.encode(docs))
    lengths = np.array([len(found) for found in run.values()], dtype=np.int64)
    scores = np.arange(len(docs)) * 0.5 % 3  # neither the file nor the ranks follow the scores
    rows = FileRows(list(run), np.repeat(np.arange(len(run)), lengths), words, scores)
    ranks = np.arange(len(docs))[::-1] * 7.0 % 11
    return rows.in_order(name, "trec_eval", rank_places(rows.starts, ranks))


def coded(field):
    return build_field([as_rows(str(r), run) for r, run in enumerate(field)])[0]


def rows_of(field, r):
    """Return a run as it was read, topics in natural order."""
    has = np.flatnonzero(field.lengths[:, r])
    starts, rows = offsets(field.lengths[has, r]), field.rows_of_run(r)
    return RunRows(
        str(r),
        [field.topics[t] for t in has.tolist()],
        starts,
        field.words_of(rows),
        field.scores[rows],
        field.file[rows],
        field.rank[rows] if field.ranked[r] else None,
    )


def read_back(field):
    return [
        (
            rows.topics,
            rows.starts.tolist(),
            tokens.decode(tokens.as_tokens(rows.docs)),
            rows.scores.tolist(),
            *(part is not None and part.tolist() for part in (rows.file, rows.rank)),
        )
        for rows in (rows_of(field, r) for r in range(field.n_runs))
    ]


@pytest.mark.parametrize("collide", [False, True], ids=["hashes", "all collide"])
@given(first=FIELD, second=FIELD)
def test_as_if_all_were_coded_together(collide, first, second):
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(tokens, "hashes", lambda words: words[:, 0] & np.uint64(1))
        united, together = unite(coded(first), coded(second)), coded([*first, *second])
        assert read_back(united) == read_back(together)
        for part in ("topics", "n_runs"):
            assert getattr(united, part) == getattr(together, part)
        for part in ("doc_starts", "starts", "codes", "scores"):
            mine, expected = getattr(united, part), getattr(together, part)
            np.testing.assert_array_equal(mine, expected)
            assert mine.dtype == expected.dtype
        names = [united.vocabulary[united.topic_docs], together.vocabulary[together.topic_docs]]
        np.testing.assert_array_equal(*names)
        found = tokens.find(tokens.as_words(together.vocabulary), tokens.as_words(united.vocabulary))
        assert sorted(found.tolist()) == list(range(len(united.vocabulary))), "a table in which names can be found"
        if not collide:
            np.testing.assert_array_equal(united.vocabulary, together.vocabulary)


@given(first=FIELD, second=FIELD, data=st.data())
def test_parts_of_fields_are_united_with_all_that_they_know(first, second, data):
    chosen = [
        data.draw(st.lists(st.sampled_from(range(len(field))), unique=True, min_size=1)) for field in (first, second)
    ]
    parts = [coded(field).take_runs(runs) for field, runs in zip((first, second), chosen, strict=True)]
    expected = coded([field[r] for field, runs in zip((first, second), chosen, strict=True) for r in runs])
    united = unite(*parts)
    assert united.topics == expected.topics
    assert read_back(united) == read_back(expected)
    again = unite(united, coded([{"1": DOCS}]))
    assert read_back(again) == read_back(
        coded([*(first[r] for r in chosen[0]), *(second[r] for r in chosen[1]), {"1": DOCS}])
    )


def test_codes_widen_where_a_topic_gets_more_documents_than_they_hold():
    half = [{"1": [f"{letter}{i}" for i in range(2**15 + 1)]} for letter in "ab"]
    fields = [coded([run]) for run in half]
    assert [field.codes.dtype for field in fields] == [np.uint16] * 2
    united = unite(*fields)
    assert united.codes.dtype == np.uint32
    assert read_back(united) == read_back(coded(half))
