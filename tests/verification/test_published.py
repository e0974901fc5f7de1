"""Published values and the files they are read from: digits, the rule of equality, what is wrong with a file."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from figure_parts import HEAD, figure, replay, small_field, small_qrels, written
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.verification.published import PublishedValue, Rounding, read_published
from pt_reuse.verification.verification import verify


def test_half_a_unit_either_way():
    value = PublishedValue(0.4692, 1e-4)
    assert [value.agrees(x) for x in (0.46915, 0.4692, 0.46925)] == [True] * 3
    assert [value.agrees(x) for x in (0.4691499, 0.4692501)] == [False] * 2
    assert value.agrees(0.46929, Rounding.TRUNCATE)
    assert not value.agrees(0.46919, Rounding.TRUNCATE)
    assert not value.agrees(0.469301, Rounding.TRUNCATE)
    assert PublishedValue(-0.3, 0.1).agrees(-0.39, Rounding.TRUNCATE)
    assert not PublishedValue(-0.3, 0.1).agrees(-0.29, Rounding.TRUNCATE)


@given(st.floats(-1e4, 1e4), st.integers(0, 9), st.sampled_from([ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN]))
def test_every_way_of_rounding_agrees(x, decimals, rounding):
    unit = Decimal(1).scaleb(-decimals)
    rounded = Decimal(x).quantize(unit, rounding)
    assert PublishedValue(float(rounded), float(unit)).agrees(x)
    assert PublishedValue(float(Decimal(x).quantize(unit, ROUND_DOWN)), float(unit)).agrees(x, Rounding.TRUNCATE)
    assert not PublishedValue(float(rounded + 2 * unit), float(unit)).agrees(x)
    assert not PublishedValue(float(rounded - 2 * unit), float(unit)).agrees(x)


def units(tmp_path, lines):
    (only,) = read_published(written(tmp_path, figure(f'kind = "scores"\nmeasure = "AP"\n{lines}'))).figures
    return [(value.number, value.unit) for value in only.values.values()]


def test_digits(tmp_path):
    found = units(tmp_path, 'values = { a = "0.8490", b = ".5", e = "-2.0" }')
    assert found == [(0.849, 1e-4), (0.5, 0.1), (-2, 0.1)]
    found = units(tmp_path, 'values = { a = "1,131", b = 86_830, c = "12,345,678" }')
    assert found == [(1131, 1), (86830, 1), (12345678, 1)]
    assert units(tmp_path, 'values = { a = 0.849, b = "1", c = 0 }\ndecimals = 4') == [
        (0.849, 1e-4),
        (1, 1e-4),
        (0, 1e-4),
    ]
    assert units(tmp_path, "values = { a = 0.00849, b = 849.0 }\nplaces = 4") == [(0.00849, 1e-6), (849, 0.1)]
    # zeros at the end are no digits
    assert units(tmp_path, 'values = { a = "0.500", b = 1200 }\ndecimals = 1') == [(0.5, 0.1), (1200, 0.1)]
    assert units(tmp_path, "values = { b = 1200 }\nplaces = 2") == [(1200, 100)]


REAL = [
    'kind = "scores"\nmeasure = "AP"\nvalues = {{ A = {} }}',
    'kind = "score_statistic"\nmeasure = "AP"\nvalues = {{ manual = {} }}',
    'kind = "judgments"\nvalues = {{ "mean density" = {} }}',
    'kind = "left_out"\nmeasure = "AP"\nvalues = {{ x = {} }}',
    'kind = "own_uniques"\nmeasure = "AP"\nvalues = {{ tau_b = {} }}',
    'kind = "own_losses"\nmeasure = "AP"\nvalues = {{ manual = {} }}',
    'kind = "shallow_pool"\nmeasure = "AP"\nvalues = {{ gamma = {} }}',
]


@pytest.mark.parametrize("lines", REAL, ids=lambda lines: lines.split('"')[1])
@pytest.mark.parametrize("value", ["0", '"1"', '"1."', '"1,131"'])
def test_a_whole_number_is_no_score(tmp_path, lines, value, messages):
    """A 0 would stand for all from -.5 to .5."""
    error = messages.refused(lambda: replay(tmp_path, figure(lines.format(value))))
    assert error.place.startswith(f"{tmp_path / 'mine.toml'}, figure 'it', '")
    # unless the decimals are given, also as none
    number = value.strip('".').replace(",", "")
    for decimals in (0, 4):
        replay(tmp_path, figure(lines.format(number) + f"\ndecimals = {decimals}"))
    replay(tmp_path, figure(lines.format('"0.0000"')))


#: what is wrong with a file, in words -> the file
BROKEN_FILES = {
    "is no toml file": "nonsense",
    "needs collection": 'title = "x"\n',
    "needs title": 'collection = "x"\n',
    "has no figures": HEAD,
    "has no figures 2": HEAD + "figure = 3\n",
    "more not among": HEAD + "more = 3\n" + figure('kind = "judgments"\nvalues = { topics = 1 }'),
    "figure 1 needs what": HEAD + "\n[[figure]]\n",
    "figure it source must be a text got none": HEAD + '\n[[figure]]\nwhat = "it"\nkind = "judgments"\n',
    "kind must be a text got none": HEAD + figure("values = { a = 1 }"),
    "did you mean judgments": HEAD + figure('kind = "judgement"\nvalues = { topics = 1 }'),
    "did you mean topics": HEAD + figure('kind = "judgments"\nvalues = { topic = 1 }'),
    "either values": HEAD + figure('kind = "judgments"'),
    "values must be a table of names and values": HEAD + figure('kind = "judgments"\nvalues = {}'),
    "does not tell its digits": HEAD + figure('kind = "judgments"\nvalues = { topics = 1.5 }'),
    "must be a number such as": HEAD + figure('kind = "judgments"\nvalues = { topics = "x" }'),
    "must be a number such as 2": HEAD + figure('kind = "judgments"\nvalues = { topics = "." }'),
    "must be a number as text": HEAD + figure('kind = "judgments"\nvalues = { topics = true }'),
    "must be a finite number": HEAD + figure('kind = "judgments"\nvalues = { topics = inf }\ndecimals = 1'),
    "give decimals 4": HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndecimals = "4"'),
    "give decimals 4 2": HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndecimals = 4\nplaces = 3'),
    "give decimals 4 3": HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\nplaces = 0'),
    "has no parameter depth": HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndepth = 4'),
    "conventions must be a list": HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\nconventions = []'),
    "differs must be a text got 3": HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndiffers = 3'),
    "needs measure": HEAD + figure('kind = "scores"\nvalues = { a = 1 }'),
    "unknown measure mapp": HEAD + figure('kind = "scores"\nmeasure = "MAPP"\nvalues = { a = 1 }'),
    "order must be one of": HEAD + figure('kind = "scores"\nmeasure = "AP"\norder = "x"\nvalues = { a = 1 }'),
    "rounding must be one of half truncate got up": HEAD
    + figure('kind = "scores"\nmeasure = "AP"\nconventions = [{ rounding = "up" }]\nvalues = { a = 1 }'),
    "complete must be true": HEAD + figure('kind = "scores"\nmeasure = "AP"\ncomplete = 1\nvalues = { a = 1 }'),
    "takes one measure": HEAD + figure('kind = "left_out"\nmeasure = ["AP", "RR"]\nvalues = { a = 1 }'),
    "depth must be a whole number": HEAD + figure('kind = "pool"\ndepth = 0\nvalues = { documents = 1 }'),
    "must be ranks such as 1150": HEAD + figure('kind = "minimum_rank"\nvalues = { "1 to 3" = 1 }'),
    "ranks from 1 to the depth 100": HEAD + figure('kind = "minimum_rank"\nvalues = { "10-1" = 0 }'),
    "the better one first got 00": HEAD + figure('kind = "minimum_rank"\nvalues = { "0-0" = 0 }'),
    "ranks from 1 to the depth 10": HEAD + figure('kind = "minimum_rank"\ndepth = 10\nvalues = { "11-50" = 0 }'),
    "or a type as in manual runs got run": HEAD + figure('kind = "field"\nvalues = { run = 1 }'),
    "or a type as in manual runs": HEAD + figure('kind = "field"\nvalues = { " runs" = 1 }'),
    "must be finite numbers": HEAD + figure('kind = "saturation"\nmeasure = "AP"\nvalues = { inf = 1 }'),
    "decimal point not a comma": HEAD + figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "0,401" }'),
    "decimal point not a comma 2": HEAD + figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "00,401" }'),
    "digits than decimals 1": HEAD + figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "0.12" }\ndecimals = 1'),
    "more digits than places 1": HEAD + figure('kind = "pool"\nvalues = { documents = "1,234" }\nplaces = 1'),
    "needs both differs": HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"'),
    "needs both differs 2": HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ncomputed = { documents = 2 }'),
    "computed has relevant which is not among the values documents": HEAD
    + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"\ncomputed = { relevant = 2 }'),
    "1 is equal to what was published": HEAD
    + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"\ncomputed = { documents = 1 }'),
    "computed must be a table": HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"\ncomputed = 2'),
    "must be numbers such as 09": HEAD + figure('kind = "saturation"\nmeasure = "AP"\nvalues = { high = 1 }'),
    "truth must be one of": HEAD
    + figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "0.5" }', "MAP")
    + figure('kind = "shallow_pool"\nmeasure = "AP"\ntruth = "MPA"\nvalues = { tau_b = "1.0" }'),
    "truth without scores": HEAD
    + figure('kind = "shallow_pool"\nmeasure = "AP"\ntruth = "no"\nvalues = { tau_b = 1 }'),
    "xcsv cannot be read": HEAD + figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'),
    "the name of a csv": HEAD + figure('kind = "scores"\nmeasure = "AP"\nfile = "../x.csv"\ncolumn = "map"'),
    "with its column": HEAD + figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"'),
    "it stands over two figures": HEAD + 2 * figure('kind = "judgments"\nvalues = { topics = 1 }'),
}


@pytest.mark.parametrize("fault", BROKEN_FILES)
def test_broken_files(tmp_path, fault, messages):
    path = tmp_path / "mine.toml"
    path.write_text(BROKEN_FILES[fault])
    error = messages.refused(lambda: verify("mine", runs=small_field(), qrels=small_qrels(), figures=path))
    assert error.place.startswith(str(path))


#: what is wrong with a table, in words -> the table
BROKEN_TABLES = {
    "has no column map it has name p5": "name,p5\nA,0.5\n",
    "line 3 a stands there twice": "name,map\nA,0.5\nA,0.6\n",
    "line 2 needs a name and a value": "name,map\nA\n",
    "line 2 needs a name and a value 2": "name,map\n,0.5\n",
    "line 2 a column map a value must be a number": "name,map\nA,-\n",
    "line 2 a column map a value must be a number 2": "name,map\nA,\n",
    "has a header and no values": "name,map\n",
    "line 3 9999 beyond the 2 columns of the header": "name,map\nB,0.1\nA,0,9999\n",
    "line 2 a column map a value must be a number 3": 'name,map\nA,"0,9999"\n',
    "cannot be read": b"\xff\xfe",
}


@pytest.mark.parametrize("fault", BROKEN_TABLES)
def test_broken_tables(tmp_path, fault, messages):
    text = BROKEN_TABLES[fault]
    (tmp_path / "x.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    path = written(tmp_path, figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'))
    error = messages.refused(lambda: read_published(path))
    assert error.place.startswith(f"{path}, figure 'it', {tmp_path / 'x.csv'}")


def test_a_byte_order_mark_is_no_part_of_the_name(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfname,map\nA,0.5\n")
    path = written(tmp_path, figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_published(path).figures[0].values == {"A": PublishedValue(0.5, 0.1)}


def test_no_file(tmp_path, messages):
    messages.refused(lambda: verify("mine", figures=tmp_path / "nothing.toml"), place="{d}/nothing.toml")
    messages.refused(lambda: verify("mine", figures=5), argument="figures")
