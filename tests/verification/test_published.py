"""Published values and the files they are read from: digits, the rule of equality, what is wrong with a file."""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from figure_parts import figure, small_field, small_qrels, written
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.verification.verification import PublishedValue, read_published, verify


def test_half_a_unit_either_way():
    value = PublishedValue(0.4692, 1e-4)
    assert [value.agrees(x) for x in (0.46915, 0.4692, 0.46925)] == [True] * 3
    assert [value.agrees(x) for x in (0.4691499, 0.4692501)] == [False] * 2


@given(st.floats(-1e4, 1e4), st.integers(0, 9), st.sampled_from([ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN]))
def test_every_way_of_rounding_agrees(x, decimals, rounding):
    unit = Decimal(1).scaleb(-decimals)
    rounded = Decimal(x).quantize(unit, rounding)
    assert PublishedValue(float(rounded), float(unit)).agrees(x)
    assert not PublishedValue(float(rounded + 2 * unit), float(unit)).agrees(x)
    assert not PublishedValue(float(rounded - 2 * unit), float(unit)).agrees(x)


def units(tmp_path, *values):
    (only,) = read_published(written(tmp_path, figure("judgments", {f"v{n}": v for n, v in enumerate(values)})))["mine"]
    return [(value.number, value.unit) for value in only.values.values()]


def test_digits(tmp_path):
    assert units(tmp_path, "0.8490", ".5", "-2.0") == [(0.849, 1e-4), (0.5, 0.1), (-2, 0.1)]
    assert units(tmp_path, "1,131", 86_830, "12,345,678") == [(1131, 1), (86830, 1), (12345678, 1)]


def broken():
    """Yield tables with a fault, and the place of the fault."""
    row, none = figure("judgments", {"topics": 1})[0], [""] * 9
    for column, text in (
        (0, ""), (1, ""), (2, ""), (2, "judgement"), (3, "depth=4"), (3, "rel"), (3, "rel=up"), (3, "rel=1; rel=2"),
        (3, "rel=0"), (5, "x"), (5, "."), (5, ""), (5, "inf"), (5, "0,401"), (5, "00,401"), (6, ""), (7, "2"), (8, "x"),
    ):  # fmt: skip
        yield [[*row[:column], text, *row[column + 1 :]]], ", line 2"
    yield [row, row], ", line 3"
    yield [row, [*none[:4], "topics", *none[5:]]], ", line 3"
    yield [[*row[:5], "1", row[6], "1", "x"]], ", line 2"
    for kind, name, value in (
        ("scores", "a", ".5"), ("scores; measure=MAPP", "a", ".5"), ("scores; measure=AP; order=x", "a", ".5"),
        ("scores; measure=AP; rel=1", "a", ".5"), ("left_out; measure=AP + RR", "a", ".5"),
        ("pool; depth=0", "documents", 1),
        ("shallow_pool; measure=AP; truth=no", "tau_b", ".5"), ("scores; measure=AP", "", "../x.csv: map"),
        ("scores; measure=AP", "", "x.csv"),
        # a 0 would stand for all from -.5 to .5
        ("own_uniques; measure=AP", "tau_b", 0), ("own_uniques; measure=AP", "tau_b", "1,131"),
        ("judgments", "mean topic", 3), ("left_out; measure=AP", "x", 1),
    ):  # fmt: skip
        yield figure(kind, {name: value}), ", line 2"


def test_what_is_wrong_with_a_file_is_told_at_its_place_before_runs_are_read(tmp_path, messages):
    for rows, line in broken():
        path = written(tmp_path, rows)
        given = {"runs": small_field(), "qrels": small_qrels(), "figures": path}
        error = messages.refused(lambda given=given: verify("mine", **given))
        assert error.place.startswith(f"{path}{line}"), rows
    for text in ("", "nonsense", "collection,what\nmine,x\n", "a,0.5,b\n"):
        path.write_text(text)
        messages.refused(lambda: verify("mine", runs=small_field(), qrels=small_qrels(), figures=path))
    messages.refused(lambda: verify("yours", figures=written(tmp_path, figure("judgments", {"topics": 1}))))
    messages.refused(lambda: verify("mine", figures=tmp_path / "nothing.csv"), place="{d}/nothing.csv")
    messages.refused(lambda: verify("mine", figures=5), argument="figures")


def test_what_is_wrong_with_a_table_is_told_at_its_line(tmp_path, messages):
    faults = {
        b"name,p5\nA,0.5\n": "", b"\xff\xfe": "", b"name,map\nA,0.5\nA,0.6\n": ", line 3",
        b"name,map\nA\n": ", line 2", b"name,map\n,0.5\n": ", line 2", b"name,map\nA,\n": ", line 2",
        b'name,map\nA,"0,9999"\n': ", line 2",
        # a decimal comma must not be read as two cells
        b"name,map\nB,0.1\nA,0,9999\n": ", line 3",
    }  # fmt: skip
    path = written(tmp_path, figure("scores; measure=AP", {"": "x.csv: map"}))
    for text, line in faults.items():
        (tmp_path / "x.csv").write_bytes(text)
        error = messages.refused(lambda: read_published(path))
        assert error.place.startswith(f"{path}, line 2, {tmp_path / 'x.csv'}{line}"), text


def test_a_byte_order_mark_is_no_part_of_the_name(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfname,map\nA,0.5\n")
    path = written(tmp_path, figure("scores; measure=AP", {"": "x.csv: map"}))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_published(path)["mine"][0].values == {"A": PublishedValue(0.5, 0.1)}
