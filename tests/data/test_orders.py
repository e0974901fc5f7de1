"""Ranking orders: reading in one and going to another is reading in the other; and pools have an order of their own."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.data.coding import HowPooled
from pt_reuse.data.run_set import RunSet, read_runs
from pt_reuse.errors import ReuseWarning
from pt_reuse.options import ORDERS

QUICK = settings(deadline=None, max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same(ours, theirs):
    """Compare two sets of runs to the last row and bit of a score."""
    left, right = ours.to_frame(), theirs.to_frame()
    bits = [frame["score"].to_numpy().tobytes() for frame in (left, right)]
    return ours.order == theirs.order and left.equals(right) and bits[0] == bits[1]


# scores that tie in float64 and in float32, ranks in every writing, topics mixed among each other
score_texts = st.sampled_from(["1", "1.00000001", "2", "0.5", "-3", "-0", "0", "1e300", "2e300"])
docnos = st.one_of(
    st.integers(0, 30).map(lambda i: f"d{i}"), st.integers(0, 3).map(lambda i: "http://" + "x" * 70 + str(i))
)


@st.composite
def run_lines(draw, name):
    """Draw the lines of a run; the ranks of a topic count from 0 or 1, or are any numbers that do not tie."""
    topics = draw(st.lists(st.sampled_from(["1", "2", "10", "x"]), min_size=1, max_size=3, unique=True))
    lines = []
    for topic in topics:
        found = draw(st.lists(docnos, min_size=1, max_size=12, unique=True))
        how = draw(st.sampled_from(["0", "1", "shuffled", "any"]))
        ranks = {
            "0": range(len(found)),
            "1": range(1, len(found) + 1),
            "shuffled": draw(st.permutations(range(1, len(found) + 1))),
            "any": draw(st.lists(st.integers(-5, 99), min_size=len(found), max_size=len(found), unique=True)),
        }[how]
        written = [draw(st.sampled_from(["{}", "{}.0", "+{}", "{}e0"])) if how == "any" else "{}" for _ in found]
        for docno, rank, form in zip(found, ranks, written, strict=True):
            text = form.format(rank) if rank >= 0 else str(rank)
            lines.append(f"{topic} Q0 {docno} {text} {draw(score_texts)} {name}\n")
    return "".join(draw(st.permutations(lines)) if draw(st.booleans()) else lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("orders")


def in_every_order(given_runs, read):
    """Go from each order to each other, and compare with what is read in that order."""
    direct = {order: read(order) for order in ORDERS}
    for start in ORDERS:
        for order in ORDERS:
            assert same(direct[start].reorder(order), direct[order]), (start, order)
    for order in ORDERS:
        assert same(given_runs.reorder(order), direct[order])
    return direct


@pytest.mark.filterwarnings("ignore:.*no document is left")
@QUICK
@given(a=run_lines("a"), b=run_lines("b"), c=run_lines("c"))
def test_files(a, b, c, folder):
    for name, text in {"a": a, "b": b, "c": c}.items():
        (folder / name).write_text(text)
    paths = [folder / name for name in "abc"]

    def read(order, **arguments):
        return read_runs(paths, order=order, n_jobs=1, **arguments)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        read("file", cache=folder / "cache")
        direct = in_every_order(read("file", cache=folder / "cache"), read)
    for start in ("trec_eval", "rank"):
        runs = direct[start]
        some = sorted(set(runs.to_frame()["docno"]))[::2]
        united = runs.select(["c"]) | runs.select(["a", "b"])
        for order in ORDERS:
            there = direct[order]
            assert same(runs.select(["a", "c"]).reorder(order), there.select(["a", "c"]))
            assert same(runs.restrict(some).reorder(order), there.restrict(some))
            assert same(united.reorder(order), there.select(["c"]) | there.select(["a", "b"]))
            assert same(united.restrict(some).select(["a"]).reorder(order), there.restrict(some).select(["a"]))


def test_what_a_list_keeps_by_hand(tmp_path):
    # topic 1 as trec_eval ranks it, 2 with a tie in the other order, 3 by rank only
    lines = ["1 d1 0 3", "1 d2 1 2", "2 a 0 1", "2 b 1 1", "3 a 2 2", "3 b 1 1"]
    rows = [f"{q} Q0 {d} {r} {s} a\n" for q, d, r, s in map(str.split, lines)]
    (tmp_path / "a").write_text("".join(rows))
    runs = read_runs(tmp_path / "a")
    file, rank = runs.field.file, runs.field.rank
    assert file.tolist() == [1, 2, 2, 1, 1, 2]
    assert rank.tolist() == [1, 2, 2, 1, 2, 1]
    orders = {order: runs.reorder(order)["a"]["docno"].tolist() for order in ORDERS}
    assert orders == {
        "trec_eval": ["d1", "d2", "b", "a", "a", "b"],
        "trec_eval9": ["d1", "d2", "b", "a", "a", "b"],
        "file": ["d1", "d2", "a", "b", "a", "b"],
        "rank": ["d1", "d2", "a", "b", "b", "a"],
    }


@pytest.mark.parametrize("rank", ["1", "x", "nan", "1e999"])
def test_a_rank_that_gives_no_order_stays_out_of_the_way(rank, messages, tmp_path):
    (tmp_path / "a").write_text(f"1 Q0 a 1 3 t\n1 Q0 b {rank} 2 t\n2 Q0 a 2 3 t\n2 Q0 b 1 2 t\n")
    runs = read_runs(tmp_path / "a")
    assert runs["t"]["docno"].tolist() == ["a", "b", "a", "b"]
    messages.refused(lambda: runs.reorder("rank"), place="run 't'")
    # without the document the ranks are in order
    assert runs.restrict(["a"]).reorder("rank")["t"]["docno"].tolist() == ["a", "a"]


@pytest.mark.parametrize(
    "ranks",
    # among numbers around 1 the last two of each would be equal
    [["0", "2e-17", "1e-17"], ["0.1", "0.30000000000000004", "0.3"], ["0", "9007199254740992", "9007199254740991"]],
)
def test_ranks_that_begin_with_0_are_told_apart_as_they_are_written(ranks, tmp_path):
    (tmp_path / "a").write_text("".join(f"1 Q0 {d} {rank} 1 t\n" for d, rank in zip("abc", ranks, strict=True)))
    cells = {"qid": "1", "docno": list("abc"), "score": 1.0, "rank": list(map(float, ranks))}
    for runs in (read_runs(tmp_path / "a"), RunSet.from_frames({"t": pd.DataFrame(cells)})):
        assert runs.reorder("rank")["t"]["docno"].tolist() == ["a", "c", "b"]


# to which depth a collection pooled its runs: what a field knows of it, and who takes it as the default


FRAME = pd.DataFrame({"qid": "1", "docno": list("abc"), "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})


def field(name="a", **how):
    return ptr.RunSet.from_frames({name: FRAME}, teams={name: name}, **how)


def test_a_field_keeps_it(tmp_path):
    runs = field(pool_depth=2)
    assert (runs.pool_depth, field().pool_depth) == (2, None)
    assert repr(runs).endswith("order='trec_eval', pool_depth=2")
    assert repr(field(pool_depth=2, pool_order="file")).endswith("pool_order='file', pool_depth=2")
    other = field("b")
    for made in (runs.select("a"), runs.reorder("file"), runs.restrict(["a"]), runs.with_metadata(types={"a": "x"}),
                 runs | other, other | runs, runs | field("b", pool_depth=2)):  # fmt: skip
        assert made.pool_depth == 2
    runs.write(tmp_path / "runs")
    assert ptr.read_runs(tmp_path / "runs", pool_depth=7).pool_depth == 7
    assert ptr.read_runs(tmp_path / "runs").pool_depth is None


def test_two_fields_that_say_two_things(messages):
    messages.refused(lambda: field(pool_depth=2) | field("b", pool_depth=3), argument="other")
    messages.refused(lambda: field(pool_order="file") | field("b", pool_order="rank"), argument="other")
    assert HowPooled("file", None) | HowPooled(None, 3) == HowPooled("file", 3)
