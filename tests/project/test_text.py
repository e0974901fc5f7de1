"""Text of a given width: no line is wider, and what is left out is marked."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from pt_reuse._text import prose, table, visible


def wide(text):
    """Count columns in another way: a fully composed text, character by character."""
    kinds = [(unicodedata.category(c), unicodedata.east_asian_width(c)) for c in text]
    return sum(2 if width in ("W", "F") else 1 for kind, width in kinds if kind not in ("Mn", "Me", "Cf"))


def widest(text):
    # splitlines also breaks at characters that move the cursor, none of which may be left
    lines = text.split("\n")
    assert lines == (text.splitlines() or [""]) or text.endswith("\n")
    return max(map(wide, lines))


TEXTS = st.text(st.characters(blacklist_categories=()), max_size=60)
CELLS = st.one_of(
    TEXTS, st.floats(), st.integers(), st.booleans(), st.none(), st.just(pd.NA), st.integers(10**400, 10**401)
)


@st.composite
def frames(draw):
    n_rows, n_columns = draw(st.integers(0, 4)), draw(st.integers(1, 9))
    kinds = st.sampled_from([CELLS, st.floats(), TEXTS, st.text("ab日é", max_size=40)])
    columns = [draw(st.lists(draw(kinds), min_size=n_rows, max_size=n_rows)) for _ in range(n_columns)]
    frame = pd.DataFrame({at: pd.Series(column, dtype=object) for at, column in enumerate(columns)})
    frame.columns = pd.Index(draw(st.lists(TEXTS, min_size=n_columns, max_size=n_columns)), dtype=object)
    return frame


@given(frames(), st.integers(20, 130))
@example(pd.DataFrame({"x" * 99: [1e300], "日" * 50: ["é" * 90], "n": [-1e-300]}), 20)
def test_no_line_of_a_table_is_wider_than_asked(frame, width):
    assert widest(table(frame, width=width)) <= width
    assert widest(table(frame, width=width, most=1, what="日本 rows " * 9)) <= width


@given(TEXTS, st.integers(20, 130))
def test_no_line_of_prose_is_wider_and_no_word_is_lost(text, width):
    found = prose(text, width=width)
    assert all(wide(line) <= width for line in found.split("\n"))
    assert "".join(found.split()) == "".join(visible(text.expandtabs(4).replace("\n", " ")).split())


@given(
    st.lists(
        st.tuples(st.text("abc日é-_", min_size=1, max_size=70), st.floats(-1e6, 1e6), st.integers(0, 10**6)),
        min_size=1,
        max_size=5,
    ),
    st.integers(30, 130),
)
def test_no_text_of_a_cell_is_lost_but_for_marked_ones(rows, width):
    frame = pd.DataFrame(rows, columns=["name of a run", "score", "documents"])
    words = set(table(frame, width=width).split())
    for name, score, documents in rows:
        marked = [word for word in words if "..." in word]
        assert name in words or any(
            name.startswith(word.split("...")[0]) and name.endswith(word.split("...")[1]) for word in marked
        )
        assert f"{score:.4f}" in words
        assert str(documents) in words


def test_a_table_by_hand():
    frame = pd.DataFrame({"name": ["BM25", "日本語"], "score": [0.25, np.nan], "rank": [1, 12], "pooled": [True, None]})
    assert table(frame, width=40).split("\n") == [
        "name     score  rank  pooled",
        "BM25    0.2500     1  True",
        "日本語       -    12  -",
    ]


def test_characters_that_move_the_cursor_are_shown_as_escapes():
    frame = pd.DataFrame({"a\nb": ["x\x1b[31m\r\t\u2028\x85", "\udcff"]}, dtype=object)
    assert table(frame, width=60).split("\n") == ["a\\nb", "x\\x1b[31m\\r\\t\\u2028\\x85", "\\udcff"]
    table(frame, width=60).encode()


def test_prose_keeps_paragraphs_and_the_indent_of_lists():
    text = "One sentence that is longer than the line.\n\n- an item that is longer than the line\n  pt-reuse   lou"
    assert prose(text, width=24).split("\n") == [
        "One sentence that is",
        "longer than the line.",
        "",
        "- an item that is longer",
        "  than the line",
        "  pt-reuse   lou",
    ]
    assert prose("a" * 45, width=20).split("\n") == ["a" * 20, "a" * 20, "a" * 5]


def test_columns_of_one_value_go_first_and_their_value_is_said():
    frame = pd.DataFrame({"name": ["a", "b"], "by": ["team"] * 2, "depth": [10, 10], "tau": [0.5, 0.25]})
    frame = frame.assign(tau_low=[0.0, 0.0], other=["x" * 9, "y" * 9])
    spare = ["tau_low", "other", "tau", "depth", "by"]
    told = table(frame, width=40, spare=spare).split("\n")
    assert told[0].split() == ["name", "by", "tau", "tau_low", "other"]
    assert told[3:] == ["(the same in all rows: depth=10)"]
    told = table(frame, width=30, spare=spare).split("\n")
    # the end of an interval says nothing without the other
    assert told[0].split() == ["name", "tau", "other"]
    assert told[3:] == ["(the same in all rows:", "by=team, depth=10)", "(no room for: tau_low)"]
    # one row is the same as itself
    assert table(frame.head(1), width=30, spare=spare).split("\n")[2:] == ["(no room for: tau_low, other)"]
