"""Published values and the files they are read from: digits, the rule of equality, what is wrong with a file."""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from figure_parts import HEAD, figure, replay, small_field, small_qrels, written
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.verification.published import PublishedValue, read_published
from pt_reuse.verification.verification import verify


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


def units(tmp_path, lines):
    (only,) = read_published(written(tmp_path, figure(f'kind = "judgments"\n{lines}')))[2]
    return [(value.number, value.unit) for value in only.values.values()]


def test_digits(tmp_path):
    found = units(tmp_path, 'values = { a = "0.8490", b = ".5", e = "-2.0" }')
    assert found == [(0.849, 1e-4), (0.5, 0.1), (-2, 0.1)]
    found = units(tmp_path, 'values = { a = "1,131", b = 86_830, c = "12,345,678" }')
    assert found == [(1131, 1), (86830, 1), (12345678, 1)]


def test_a_whole_number_is_no_score(tmp_path, messages):
    """A 0 would stand for all from -.5 to .5."""
    lines = 'kind = "own_uniques"\nmeasure = "AP"\nvalues = {{ tau_b = {} }}'
    for value in ("0", '"1,131"'):
        error = messages.refused(lambda value=value: replay(tmp_path, figure(lines.format(value))))
        assert error.place == f"{tmp_path / 'mine.toml'}, figure 'it', 'tau_b'"


#: figures with a fault: kind (or none), value and further lines
BROKEN = [
    ("", "a = 1", ""), ("judgement", "topics = 1", ""), ("judgments", "", ""), ("judgments", None, ""),
    ("judgments", "topics = 1.5", ""), ("judgments", 'topics = "x"', ""), ("judgments", 'topics = "."', ""),
    ("judgments", "topics = true", ""), ("judgments", "topics = inf", ""), ("judgments", "topics = 1", "depth = 4"),
    ("judgments", "topics = 1", "conventions = []"), ("judgments", "topics = 1", "differs = 3"),
    ("scores", "a = 1", ""), ("scores", "a = 1", 'measure = "MAPP"'),
    ("scores", "a = 1", 'measure = "AP"\norder = "x"'),
    ("scores", "a = 1", 'measure = "AP"\nconventions = [{ rel = "up" }]'),
    ("left_out", "a = 1", 'measure = ["AP", "RR"]'), ("pool", "documents = 1", "depth = 0"),
    ("scores", 'A = "0,401"', 'measure = "AP"'), ("scores", 'A = "00,401"', 'measure = "AP"'),
    ("pool", "documents = 1", 'differs = "x"'), ("pool", "documents = 1", "computed = { documents = 2 }"),
    ("pool", "documents = 1", 'differs = "x"\ncomputed = { relevant = 2 }'),
    ("pool", "documents = 1", 'differs = "x"\ncomputed = { documents = 1 }'),
    ("shallow_pool", "tau_b = 1", 'measure = "AP"\ntruth = "no"'),
    ("scores", None, 'measure = "AP"\nfile = "../x.csv"\ncolumn = "map"'),
    ("scores", None, 'measure = "AP"\nfile = "x.csv"'),
]  # fmt: skip


def broken():
    one = figure('kind = "judgments"\nvalues = { topics = 1 }')
    yield from ("nonsense", 'title = "x"\n', HEAD, HEAD + "figure = 3\n", HEAD + "more = 3\n" + one, HEAD + 2 * one)
    for kind, values, lines in BROKEN:
        kind = f'kind = "{kind}"\n' if kind else ""
        yield HEAD + figure(kind + (f"values = {{ {values} }}\n" if values is not None else "") + lines)


def test_what_is_wrong_with_a_file_is_told_at_its_place_before_runs_are_read(tmp_path, messages):
    path = tmp_path / "mine.toml"
    for text in broken():
        path.write_text(text)
        error = messages.refused(lambda: verify("mine", runs=small_field(), qrels=small_qrels(), figures=path))
        assert error.place.startswith(str(path)), text


def test_a_value_of_no_such_name_is_unequal(tmp_path):
    cases = {
        'kind = "judgments"': "topic", 'kind = "field"': "run", 'kind = "saturation"\nmeasure = "AP"': "inf",
        'kind = "minimum_rank"\ndepth = 10': ("1 to 3", "10-1", "0-0", "11-50"),
    }  # fmt: skip
    for lines, names in cases.items():
        given = ", ".join(f'"{name}" = 0' for name in ([names] if isinstance(names, str) else names))
        assert not any(replay(tmp_path, figure(f"{lines}\nvalues = {{ {given} }}")).table["equal"]), lines


def test_what_is_wrong_with_a_table_is_told_at_its_line(tmp_path, messages):
    faults = {
        b"name,p5\nA,0.5\n": "", b"name,map\n": "", b"\xff\xfe": "", b"name,map\nA,0.5\nA,0.6\n": ", line 3",
        b"name,map\nA\n": ", line 2", b"name,map\n,0.5\n": ", line 2", b"name,map\nA,\n": ", line 2, 'A'",
        b'name,map\nA,"0,9999"\n': ", line 2, 'A'",
        # a decimal comma must not be read as two cells
        b"name,map\nB,0.1\nA,0,9999\n": ", line 3",
    }  # fmt: skip
    path = written(tmp_path, figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'))
    for text, line in faults.items():
        (tmp_path / "x.csv").write_bytes(text)
        error = messages.refused(lambda: read_published(path))
        assert error.place == f"{path}, figure 'it', {tmp_path / 'x.csv'}{line}", text


def test_a_byte_order_mark_is_no_part_of_the_name(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfname,map\nA,0.5\n")
    path = written(tmp_path, figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_published(path)[2][0].values == {"A": PublishedValue(0.5, 0.1)}


def test_no_file(tmp_path, messages):
    messages.refused(lambda: verify("mine", figures=tmp_path / "nothing.toml"), place="{d}/nothing.toml")
    messages.refused(lambda: verify("mine", figures=5), argument="figures")
