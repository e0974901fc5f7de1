"""Published figures and their replay: every kind against numbers worked out by hand, and the shipped files."""

from __future__ import annotations

import csv
import runpy
import shutil
from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pt_reuse
from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.collections import registry
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.registry import find_collection
from pt_reuse.collections.simulated import simulate_field
from pt_reuse.qrels.judgments import Qrels, read_qrels
from pt_reuse.runs.metadata import ASSUMED
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.run_scores import score
from pt_reuse.verification.figures import KINDS
from pt_reuse.verification.published import PublishedValue, published_figures, published_names, read_published
from pt_reuse.verification.verification import verify

SHIPPED = Path(pt_reuse.__file__).parent / "verification" / "data"
BUILD = Path(__file__).parents[2] / "scripts" / "build_published.py"
RANKED = {
    "A": {"1": "na nb wc", "2": "we nf"},
    "B": {"1": "nb wd na", "2": "nf ng"},
    "C": {"1": "wc wh na", "2": "we ng"},
}
LABELS = {"1": {"na": 1, "nb": 0, "wd": 1, "wh": -1}, "2": {"we": 1, "nf": 0, "ng": 2, "wj": 0, "wi": -2}}


def frame(lists):
    rows = [
        (qid, docno, float(-rank), rank) for qid, docnos in lists.items() for rank, docno in enumerate(docnos.split())
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])


def small_field():
    return RunSet.from_frames(
        {name: frame(lists) for name, lists in RANKED.items()},
        teams={"A": "x", "B": "y", "C": "z"},
        types={"A": "automatic", "B": "manual", "C": "automatic"},
        pooled=["A", "B"],
    )


def small_qrels():
    rows = [(qid, docno, label) for qid, labels in LABELS.items() for docno, label in labels.items()]
    return Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))


HEAD = 'collection = "mine"\ntitle = "Mine"\n'


def figure(lines, what="it"):
    return f'\n[[figure]]\nwhat = "{what}"\nsource = "by hand"\n{lines}\n'


def written(folder, *figures):
    path = folder / "mine.toml"
    path.write_text(HEAD + "".join(figures))
    return path


def replay(folder, *figures, runs=None, qrels=None):
    return verify(
        "mine",
        runs=small_field() if runs is None else runs,
        qrels=small_qrels() if qrels is None else qrels,
        figures=written(folder, *figures),
    )


# every kind, by hand: MAP is C .5833, A .5, B .4167; without x's na and we B .5, C .25, A 0; without y's wd and ng
# A 1, C .6667, B .1667

BY_HAND = [
    ('kind = "judgments"', {
        "topics": 2, "judgments": 9, "judged": 7, "relevant": 4, "unjudged": 1, "junk": 1, "smallest topic": 3,
        "largest topic": 4, "mean density": "0.58333", "largest density": "0.66667", "topics denser than 1/3": 2,
        "topics denser than 1/2": 1,
    }),
    ('kind = "prefixes"', {"n": 4, "w": 3, "we": 1, "q": 0}),
    ('kind = "prefixes"\ncount = "relevant"', {"n": 2, "w": 2}),
    ('kind = "field"', {
        "runs": 3, "teams": 3, "pooled runs": 2, "topics": 2, "rows": 15, "automatic runs": 2, "manual runs": 1,
    }),
    ('kind = "pool"\ndepth = 2', {
        "contributing runs": 2, "documents": 6, "relevant": 4, "smallest topic": 3, "largest topic": 3,
        "not judged": 0, "judged but not pooled": 1,
    }),
    ('kind = "pool"\ndepth = 2\ncontributors = "all"', {
        "contributing runs": 3, "documents": 8, "smallest topic": 3, "largest topic": 5, "not judged": 2,
    }),
    ('kind = "scores"\nmeasure = "AP"', {"A": "0.5", "B": "0.4167", "C": "0.5833"}),
    ('kind = "scores"\nmeasure = ["P@1", "AP"]', {"A": "0.75", "B": "0.2083", "C": "0.5417"}),
    ('kind = "score_statistic"\nmeasure = "AP"', {"automatic": "0.5833", "manual": "0.4167"}),
    ('kind = "score_statistic"\nmeasure = "AP"\nby = "pooled"\nstatistic = "mean"', {
        "pooled": "0.4583", "unpooled": "0.5833",
    }),
    ('kind = "score_statistic"\nmeasure = "AP"\nby = "all"\nstatistic = "median"', {"all": "0.500"}),
    ('kind = "score_statistic"\nmeasure = "AP"\nby = "team"\nstatistic = "min"', {"x": "0.500", "z": "0.5833"}),
    ('kind = "saturation"\nmeasure = "P@1"', {"1.0": 1, "0.5": 1, "0": 2}),
    ('kind = "uniques"\ndepth = 2', {"total": 4, "x": 2, "y": 2, "z": 0}),
    ('kind = "uniques"\ndepth = 2\ncontributors = "all"', {"total": 2, "x": 1, "y": 1, "z": 0}),
    ('kind = "uniques"\ndepth = 2\nby = "run"\ncount = "unique_nonrelevant"', {"total": 0, "A": 0}),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2', {"x": "-0.333", "y": "0.333", "z": "1.000"}),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2\nstatistic = "max_drop"', {"x": 1, "y": 1, "z": 0}),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2\nby = "type"\nstatistic = "removed"', {
        "automatic": 2, "manual": 2,
    }),
    ('kind = "left_out"\nmeasure = "AP"\ndepth = 2\nby = "run"\nstatistic = "gamma"', {"A": "-0.333", "C": "1.0"}),
    ('kind = "own_uniques"\nmeasure = "AP"\ndepth = 2', {"tau_b": "0.3333", "gamma": "0.3333", "max_drop": 1}),
    ('kind = "own_losses"\nmeasure = "AP"\ndepth = 2', {"automatic": "50.00", "manual": "60.00", "all": "53.33"}),
    ('kind = "own_losses"\nmeasure = "AP"\ndepth = 2\nstatistic = "max"', {"automatic": "100.0", "all": "100.0"}),
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1', {
        "documents": 4, "judged": 4, "relevant": 2, "tau_b": "0.3333", "max_drop": 1,
    }),
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1\ncontributors = "all"', {"documents": 5, "judged": 4}),
    # rounded to 1, 0 and 1, two runs tie
    ('kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1\ndecimals_of_scores = 1\npool_order = "trec_eval9"', {
        "tau_b": "0.33333",
    }),
    ('kind = "minimum_rank"\ndepth = 3', {"1-1": 2, "2-3": 2, "never": 0}),
    ('kind = "minimum_rank"\ndepth = 1\ncontributors = "pooled"', {"1-1": 2, "never": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "values"), BY_HAND)
def test_kinds_by_hand(tmp_path, lines, values):
    given = ", ".join(f'"{name}" = {value!r}' for name, value in values.items())
    found = replay(tmp_path, figure(f"{lines}\nvalues = {{ {given} }}"))
    assert found.table["name"].tolist() == list(values)
    assert found.table["equal"].tolist() == [True] * len(values), found.table
    assert found.holds


def test_every_kind_has_a_case():
    assert {lines.split('"')[1] for lines, _ in BY_HAND} == set(KINDS)


@pytest.mark.parametrize(("lines", "values"), BY_HAND)
def test_a_wrong_value_is_unequal(tmp_path, lines, values):
    """One unit of the last digit off is too much, for every kind and value."""
    exact = {name: Decimal(value) for name, value in values.items()}
    # more, and never what the number was rounded from
    wrong = {name: str(value + Decimal(1).scaleb(value.as_tuple().exponent)) for name, value in exact.items()}
    given = ", ".join(f'"{name}" = {value!r}' for name, value in wrong.items())
    found = replay(tmp_path, figure(f"{lines}\nvalues = {{ {given} }}"))
    assert found.table["equal"].tolist() == [False] * len(values)
    assert not found.holds


def test_against_published_scores(tmp_path):
    """The truth is what was published, C .6, A .5, B .4; the depth-1 pool gives 1, .6667, .1667, or 1, 1 and 0."""
    scores = figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.6", A = "0.5", B = "0.4" }', "MAP")
    shallow = 'kind = "shallow_pool"\nmeasure = "AP"\ndepth = 1\ntruth = "MAP"\nvalues = { tau_b = "0.333333" }'
    found = replay(tmp_path, scores, figure(shallow))
    assert found.table["equal"].tolist() == [True, True, True, True]
    # the same published scores the other way round
    scores = figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.1", A = "0.2", B = "0.0" }', "MAP")
    found = replay(tmp_path, scores, figure(shallow.replace("0.333333", "1.000000")))
    assert found.summary["convention"].tolist() == [
        "order=trec_eval", "order=trec_eval, contributors=pooled, depth=1, truth=MAP",
    ]  # fmt: skip
    assert found.table["equal"].tolist() == [False, False, False, True]


# the rule of equality


def test_half_a_unit_either_way():
    value = PublishedValue(0.4692, 1e-4)
    assert [value.agrees(x) for x in (0.46915, 0.4692, 0.46925)] == [True] * 3
    assert [value.agrees(x) for x in (0.4691499, 0.4692501)] == [False] * 2
    assert value.agrees(0.46929, "truncate")
    assert not value.agrees(0.46919, "truncate")
    assert not value.agrees(0.469301, "truncate")
    assert PublishedValue(-0.3, 0.1).agrees(-0.39, "truncate")
    assert not PublishedValue(-0.3, 0.1).agrees(-0.29, "truncate")


@given(st.floats(-1e4, 1e4), st.integers(0, 9), st.sampled_from([ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN]))
def test_every_way_of_rounding_agrees(x, decimals, rounding):
    unit = Decimal(1).scaleb(-decimals)
    rounded = Decimal(x).quantize(unit, rounding)
    assert PublishedValue(float(rounded), float(unit)).agrees(x)
    assert PublishedValue(float(Decimal(x).quantize(unit, ROUND_DOWN)), float(unit)).agrees(x, "truncate")
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
        (0.849, 1e-4), (1, 1e-4), (0, 1e-4),
    ]  # fmt: skip
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


@pytest.mark.parametrize("lines", REAL)
@pytest.mark.parametrize("value", ["0", '"1"', '"1."', '"1,131"'])
def test_a_whole_number_is_no_score(tmp_path, lines, value):
    """A 0 would stand for all from -.5 to .5."""
    with pytest.raises(InputError, match=r"mine\.toml, figure 'it', .* is a whole number, and this is no count"):
        replay(tmp_path, figure(lines.format(value)))
    # unless the decimals are given, also as none
    number = value.strip('".').replace(",", "")
    for decimals in (0, 4):
        replay(tmp_path, figure(lines.format(number) + f"\ndecimals = {decimals}"))
    replay(tmp_path, figure(lines.format('"0.0000"')))


def test_published_zeros_are_compared_to_their_digits(tmp_path):
    lines = 'kind = "score_statistic"\nmeasure = "Unjudged@2"\nby = "pooled"\nstatistic = "mean"\nvalues = {{ {} }}'
    # of C's four documents at 2 are wh, never judged but marked as pooled, and ng; with B unpooled it is another mean
    found = replay(tmp_path, figure(lines.format('pooled = "0.0000"')))
    assert found.table["equal"].tolist() == [True]
    runs = small_field().with_metadata(pooled=["A", "B", "C"])
    found = replay(tmp_path, figure(lines.format('pooled = "0.0000"')), runs=runs)
    assert found.table["equal"].tolist() == [False]


# conventions


def tied_files(folder):
    """Write a run whose scores tie as float32, and tie altogether at the end, in another order than docnos."""
    folder.mkdir()
    rows = [("d1", 100000.002), ("d2", 100000.001), ("d3", 5.0), ("d4", 5.0)]
    text = "".join(f"1 Q0 {docno} {rank} {score} R\n" for rank, (docno, score) in enumerate(rows, 1))
    # the file does not begin with the best score
    (folder / "R").write_text("1 Q0 d9 5 1.0 R\n" + text)
    return folder


def relevant(*docnos):
    judged = [f"d{n}" for n in range(1, 10)]
    return Qrels(pd.DataFrame({"qid": "1", "docno": judged, "label": [int(docno in docnos) for docno in judged]}))


@pytest.mark.parametrize(
    ("docno", "value", "convention"),
    [
        ("d1", "1.0", "order=trec_eval"),
        ("d2", "1.0", "order=trec_eval9"),
        ("d9", "1.0", "order=file"),
        ("d2", "0.0", "order=trec_eval"),
    ],
)
def test_the_first_convention_that_agrees(tmp_path, docno, value, convention):
    orders = ", ".join(f'{{ order = "{order}" }}' for order in ("trec_eval", "trec_eval9", "file_ties", "file"))
    lines = f'kind = "scores"\nmeasure = "P@1"\nvalues = {{ R = "{value}" }}\nconventions = [{orders}]'
    runs = read_runs(tied_files(tmp_path / "runs"), order="file")
    found = replay(tmp_path, figure(lines), runs=runs, qrels=relevant(docno))
    assert found.table[["equal", "convention"]].values.tolist() == [[True, convention]]
    assert found.summary["convention"].tolist() == [convention]
    assert found.conventions["convention"].str.removeprefix("order=").tolist() == [
        "trec_eval", "trec_eval9", "file_ties", "file",
    ]  # fmt: skip


def test_ties_as_in_the_file(tmp_path):
    """By score, d1 d2, then d3 and d4 as they stand, where trec_eval has d4 first."""
    runs = read_runs(tied_files(tmp_path / "runs"), order="file")
    lines = 'kind = "scores"\nmeasure = "RR"\nvalues = {{ R = "{}" }}\norder = "{}"'
    for order, value in (("file_ties", "0.3333"), ("trec_eval", "0.2500"), ("file", "0.2500")):
        found = replay(tmp_path, figure(lines.format(value, order)), runs=runs, qrels=relevant("d3"))
        assert found.holds, order


def test_an_order_that_cannot_be_had_is_no_difference(tmp_path):
    """Another order, that of the file, may be the one: so nothing is wrong yet."""
    orders = '{ order = "trec_eval" }, { order = "file" }'
    lines = f'kind = "scores"\nmeasure = "P@1"\nvalues = {{ R = "1.0" }}\nconventions = [{orders}]'
    runs = read_runs(tied_files(tmp_path / "runs"))
    found = replay(tmp_path, figure(lines), runs=runs, qrels=relevant("d9"))
    assert found.table["equal"].tolist() == [None]
    assert "needs the run files" in found.table["note"][0]
    # but trec_eval's order is enough when it agrees
    assert replay(tmp_path, figure(lines), runs=runs, qrels=relevant("d1")).table["equal"].tolist() == [True]


def test_rounding_and_contributors_are_conventions(tmp_path):
    lines = (
        'kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.583", A = "0.500", B = "0.416" }\n'
        'conventions = [{}, { rounding = "truncate" }]'
    )
    found = replay(tmp_path, figure(lines))
    # one convention explains all
    assert found.table["convention"].tolist() == ["order=trec_eval, rounding=truncate"] * 3
    assert found.summary["convention"].tolist() == ["order=trec_eval, rounding=truncate"]
    assert found.conventions["equal"].tolist() == [2, 3]
    lines = 'kind = "uniques"\ndepth = 2\nvalues = {{ x = {} }}\nconventions = [{{}}, {{ contributors = "all" }}]'
    for value, contributors in ((1, "all"), (2, "pooled")):
        found = replay(tmp_path, figure(lines.format(value)))
        assert found.table["convention"].tolist() == [f"order=trec_eval, contributors={contributors}, depth=2"]


UNIQUES = 'kind = "uniques"\ndepth = 2\nconventions = [{ contributors = "pooled" }, { contributors = "all" }]\n'


@pytest.mark.parametrize(
    ("values", "contributors", "equal"),
    [
        ("x = 2, y = 2, z = 0, total = 4", "pooled", [True] * 4),
        ("x = 1, y = 1, z = 0, total = 2", "all", [True] * 4),
        # each value is that of one convention, but of no single one
        ("x = 2, y = 2, z = 0, total = 2", "pooled", [True, True, True, False]),
        ("x = 2, y = 1, z = 0, total = 2", "all", [False, True, True, True]),
        # of two as good the closest
        ("x = 2, y = 1", "pooled", [True, False]),
        ("y = 9, total = 40", "pooled", [False, False]),
        ("y = 0, total = 0", "all", [False, False]),
    ],
)
def test_a_group_is_judged_under_one_convention(tmp_path, values, contributors, equal):
    found = replay(tmp_path, figure(f"{UNIQUES}values = {{ {values} }}"))
    assert found.table["equal"].tolist() == equal
    assert found.holds == all(equal)
    assert set(found.table["convention"]) == {f"order=trec_eval, contributors={contributors}, depth=2"}
    assert found.summary["convention"][0] == found.table["convention"][0]


def test_an_order_that_cannot_be_had_leaves_what_is_equal(tmp_path):
    """Where the order of the file cannot be had, the rest of the group may be equal under it, or not."""
    frames = {
        "R": pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]}),
        "S": pd.DataFrame({"qid": "1", "docno": ["d2", "d1"], "score": [2.0, 1.0]}),
    }
    lines = 'kind = "scores"\nmeasure = "P@1"\nvalues = { R = "1.0", S = "1.0" }\n'
    orders = 'conventions = [{ order = "trec_eval" }, { order = "file" }]'
    found = replay(tmp_path, figure(lines + orders), runs=RunSet.from_frames(frames), qrels=relevant("d1"))
    assert found.table["equal"].tolist() == [True, None]
    assert "needs the run files" in found.table["note"][1]
    assert found.holds


def test_the_convention_says_all_that_the_numbers_hang_on(tmp_path):
    def label(lines):
        return replay(tmp_path, figure(lines)).summary["convention"].tolist()

    scores = 'kind = "scores"\nvalues = { A = "0.5" }\n'
    assert label(f'{scores}measure = "P@1"') == ["order=trec_eval"]
    assert label(f'{scores}measure = "AP(judged_only=True)"\nrounding = "truncate"\ncomplete = false') == [
        "order=trec_eval, measure=AP(judged_only=True), complete=False, rounding=truncate"
    ]
    assert label(f'{scores}measure = ["RBP(rel=1,p=0.5)", "RBP(rel=2,p=0.5)"]\norder = "trec_eval9"') == [
        "order=trec_eval9, measure=RBP(rel=1,p=0.5) and RBP(rel=2,p=0.5)"
    ]
    shallow = 'kind = "shallow_pool"\nmeasure = "AP"\nvalues = { documents = 1 }\n'
    assert label(
        f'{shallow}decimals_of_scores = 4\ncontributors = "all"\nconventions = [{{ pool_order = "same" }}]'
    ) == ["order=trec_eval, contributors=all, decimals_of_scores=4, pool_order=same"]
    # what is computed is no convention
    left_out = 'kind = "left_out"\nmeasure = "AP"\nby = "type"\nstatistic = "removed"\nvalues = { manual = 1 }\n'
    assert label(f'{left_out}remove = "judged"') == ["order=trec_eval, contributors=pooled, remove=judged"]


# known differences


def test_known_differences(tmp_path):
    lines = 'kind = "scores"\nmeasure = "AP"\nvalues = {{ C = "0.9", A = "0.5", B = "{}" }}\ndiffers = "a misprint"\n'
    lines += 'computed = {{ C = "{}" }}\n'
    found = replay(tmp_path, figure(lines.format("0.4167", "0.5833")))
    assert found.table["note"].tolist() == ["a misprint", "", ""]
    assert found.table["known"].tolist() == [True, False, False]
    assert found.holds
    assert found.headline() == "Mine: 2 of 3 figures equal, 1 unequal (1 known to be)"
    assert found.summary[["unequal", "known", "note"]].values.tolist() == [[1, 1, "a misprint"]]
    assert "a misprint" in str(found)
    # another number than the one that is known is no known difference, nor is another figure of the group
    for values, unequal in ((("0.4167", "0.5834"), 1), (("0.4168", "0.5833"), 2)):
        found = replay(tmp_path, figure(lines.format(*values)))
        assert found.summary["unequal"].tolist() == [unequal]
        assert not found.holds


def test_a_known_difference_helps_to_choose_the_convention(tmp_path):
    known = 'values = { x = 1, y = 7 }\ndiffers = "a misprint"\ncomputed = { y = 1 }'
    found = replay(tmp_path, figure(UNIQUES + known))
    assert found.table[["equal", "known"]].values.tolist() == [[True, False], [False, True]]
    assert found.summary["convention"].tolist() == ["order=trec_eval, contributors=all, depth=2"]
    assert found.holds


# names of nothing, and what has no number


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        ('kind = "scores"\nmeasure = "AP"\nvalues = { AA = "0.5" }', "did you mean 'A'?"),
        ('kind = "score_statistic"\nmeasure = "AP"\nvalues = { manul = "0.5" }', "did you mean 'manual'?"),
        ('kind = "uniques"\nvalues = { w = 1 }', "nothing is named 'w', neither in the field nor on record"),
        ('kind = "left_out"\nmeasure = "AP"\nby = "run"\nvalues = { D = "1.0" }', "nothing is named 'D'"),
        ('kind = "own_losses"\nmeasure = "AP"\nvalues = { feedback = "1.0" }', "nothing is named 'feedback'"),
    ],
)
def test_a_name_of_nothing_does_not_hold(tmp_path, lines, hint):
    found = replay(tmp_path, figure(lines))
    assert found.table["equal"].tolist() == [False]
    assert found.table["computed"].isna().all()
    assert hint in found.table["note"][0]
    assert found.headline() == "Mine: 0 of 1 figure equal, 1 unequal (1 of no such name)"
    assert not found.holds


def test_runs_of_a_type_that_no_run_has_are_none(tmp_path):
    found = replay(tmp_path, figure('kind = "field"\nvalues = { "feedback runs" = 5, "manual runs" = 1 }'))
    assert found.table[["computed", "equal"]].values.tolist() == [[0, False], [1, True]]
    assert not found.holds


def test_labels_that_some_runs_lack(tmp_path):
    labels = pd.DataFrame({"name": ["A", "B", "C"], "type": ["manual", None, None]})
    runs = RunSet.from_frames({name: frame(lists) for name, lists in RANKED.items()}, metadata=labels)
    found = replay(
        tmp_path,
        figure('kind = "field"\nvalues = { runs = 3, teams = 2, "manual runs" = 1 }', "field"),
        figure('kind = "score_statistic"\nmeasure = "AP"\nvalues = { manual = "0.5" }', "best"),
        figure('kind = "score_statistic"\nmeasure = "AP"\nby = "pooled"\nvalues = { unpooled = "0.5" }', "unpooled"),
        figure('kind = "own_losses"\nmeasure = "AP"\nby = "run"\nvalues = { manual = "0.5" }', "losses"),
        runs=runs,
    )
    notes = found.table["note"].str.removeprefix("not computed: ").tolist()
    lacking = "needs the {} of every run: {} without: "
    assert notes == [
        "", lacking.format("team", "3 runs") + "'A', 'B', 'C'", lacking.format("type", "2 runs") + "'B', 'C'",
        lacking.format("type", "2 runs") + "'B', 'C'", "no run is unpooled",
        lacking.format("type", "2 runs") + "'B', 'C'",
    ]  # fmt: skip
    assert found.table["equal"].tolist() == [True] + [None] * 5


def test_what_is_not_defined_is_not_computed(tmp_path):
    runs = RunSet.from_frames({"A": frame(RANKED["A"]), "twin": frame(RANKED["A"])}, teams={"A": "x", "twin": "y"})
    found = replay(tmp_path, figure('kind = "own_uniques"\nmeasure = "AP"\nvalues = { gamma = "1.0" }'), runs=runs)
    assert found.table["note"].tolist() == ["not computed: it is not defined for these runs"]


# the record


def test_the_record(tmp_path):
    scores = figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.5833", D = "0.5", A = "0.4" }', "MAP")
    found = replay(tmp_path, scores, figure('kind = "judgments"\nvalues = { topics = 2 }'))
    assert found.table.columns.tolist() == [
        "what", "name", "published", "computed", "equal", "known", "difference", "unit", "convention", "source", "note",
    ]  # fmt: skip
    assert found.table["equal"].tolist() == [True, False, False, True]
    assert found.table["computed"].tolist() == pytest.approx([7 / 12, np.nan, 0.5, 2], nan_ok=True)
    assert found.table["difference"].tolist() == pytest.approx([7 / 12 - 0.5833, np.nan, 0.1, 0], nan_ok=True)
    nameless = "not computed: nothing is named 'D', neither in the field nor on record"
    assert found.table["note"].tolist() == ["", nameless, "", ""]
    assert found.summary[["what", "figures", "equal", "unequal", "not_computed"]].values.tolist() == [
        ["MAP", 3, 1, 2, 0], ["it", 1, 1, 0, 0],
    ]  # fmt: skip
    assert found.summary["largest_difference"].tolist() == pytest.approx([0.1, 0])
    assert repr(found) == (
        "Verification: Mine: 2 of 4 figures equal, 2 unequal (1 of no such name) "
        "[collection=Mine, judgments=9, runs=3 of 3]"
    )
    assert nameless in str(found)
    assert "Mine: 2 of 4" in found._repr_html_()
    files = found.save(tmp_path / "out")
    tables = ["summary.csv", "table.csv", "conventions.csv"]
    assert [path.name for path in files] == [*tables, "settings.json", "result.json"]


def test_labels_that_lack_are_told(tmp_path):
    runs = RunSet.from_frames({"A": frame(RANKED["A"]), "B": frame(RANKED["B"])})
    found = replay(
        tmp_path,
        figure('kind = "uniques"\nvalues = { total = 4 }', "uniques"),
        figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "0.5" }', "MAP"),
        runs=runs,
    )
    assert found.table["equal"].tolist() == [None, True]
    assert "needs the team of every run" in found.table["note"][0]


def test_runs_of_another_track(tmp_path):
    wrong = RunSet.from_frames({"A": frame({"7": "na nb"})})
    with pytest.raises(InputError, match="without any topic of the qrels"):
        replay(tmp_path, figure('kind = "field"\nvalues = { runs = 1 }'), runs=wrong)


# collections by name


def trec8_runs(folder, *names):
    folder.mkdir()
    for name in names:
        (folder / f"input.{name}").write_text(f"401 Q0 d1 1 2.0 {name}\n401 Q0 d2 2 1.0 {name}\n")
    return folder


def figures_of(collection, folder, *figures):
    path = folder / "f.toml"
    path.write_text(f'collection = "{collection}"\ntitle = "T"\n' + "".join(figures))
    return path


def test_missing_runs_leave_scores_to_be_checked(tmp_path):
    file = figures_of(
        "trec-8/adhoc",
        tmp_path,
        figure('kind = "field"\nvalues = { runs = 129 }', "runs"),
        figure(
            'kind = "scores"\nmeasure = "P@1"\nvalues = { READWARE2 = "1.0", orcl99man = "1.0", orcl99 = "1.0" }', "P@1"
        ),
        figure('kind = "judgments"\nvalues = { topics = 1 }', "judgments"),
    )
    qrels = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
    folder = trec8_runs(tmp_path / "runs", "READWARE2", "iit99ma1")
    found = verify("reuse:trec-8/adhoc", runs=folder, qrels=qrels, figures=file)
    assert found.table["equal"].tolist() == [None, True, None, False, True]
    assert found.table["note"][0].startswith("not computed: 127 runs missing: ")
    assert found.table["note"][2] == "not computed: its run file is missing"
    # on record there is none of this name either
    assert "nothing is named 'orcl99', neither in the field nor on record; did you mean" in found.table["note"][3]
    assert found.settings["runs"] == "2 of 129"
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="none of 129 runs"):
        verify("trec-8/adhoc", runs=tmp_path / "empty", qrels=qrels, figures=file)


def test_runs_that_were_not_submitted_are_left_out(tmp_path):
    file = figures_of("trec-8/adhoc", tmp_path, figure('kind = "judgments"\nvalues = { topics = 1 }'))
    qrels = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
    both = read_runs(trec8_runs(tmp_path / "runs", "READWARE2", "mine"))
    with pytest.warns(ReuseWarning, match="1 run not of this collection, left out: 'mine'"):
        found = verify("trec-8/adhoc", runs=both, qrels=qrels, figures=file)
    assert found.settings["runs"] == "1 of 129"
    with pytest.raises(InputError, match="none of 1 run was submitted to this collection: 'mine'"):
        verify("trec-8/adhoc", runs=both.select("mine"), qrels=qrels, figures=file)


def test_a_folder_gets_the_labels_on_record(tmp_path):
    lines = 'kind = "score_statistic"\nmeasure = "P@1"\nvalues = { manual = "1.0", automatic = "1.0" }'
    file = figures_of("trec-8/adhoc", tmp_path, figure(lines))
    record = find_collection("trec-8/adhoc").submitted
    folder = trec8_runs(tmp_path / "runs", *record["name"])
    qrels = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
    found = verify("trec-8/adhoc", runs=folder, qrels=qrels, figures=file, verbose=True)
    assert found.table["equal"].tolist() == [True, True]
    # a RunSet is taken as it is: without types there is nothing to group by
    found = verify("trec-8/adhoc", runs=read_runs(folder), qrels=qrels, figures=file)
    assert found.table["equal"].tolist() == [None, None]


def test_a_collection_of_ones_own(tmp_path, monkeypatch):
    """Its runs, labels and judgments come from its definition."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    small_field().write(tmp_path / "runs")
    qrels = small_qrels().write(tmp_path / "qrels.txt")
    labels = {"teams": {"A": "x", "B": "y", "C": "z"}, "pooled": ["A", "B"]}
    own = Collection(name="mine", title="Mine", qrels=(str(qrels),), runs=str(tmp_path / "runs"), labels=labels)
    monkeypatch.setattr(registry, "_OWN", {"mine": own})
    file = written(
        tmp_path,
        figure('kind = "uniques"\ndepth = 2\nvalues = { total = 4, x = 2 }', "uniques"),
        figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.5833" }\norder = "file"', "MAP"),
        figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.5833" }\norder = "rank"', "MAP, by the rank column"),
    )
    found = verify("mine", figures=file)
    assert found.table["equal"].tolist() == [True] * 4, found.table
    assert found.settings["runs"] == "3 of 3"


def test_no_runs_here_leaves_the_judgments_to_be_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    file = figures_of(
        "trec-8/adhoc",
        tmp_path,
        figure('kind = "field"\nvalues = { runs = 129 }', "runs"),
        figure('kind = "judgments"\nvalues = { topics = 1 }', "judgments"),
        figure('kind = "scores"\nmeasure = "AP"\nvalues = { READWARE2 = "0.5", READWARE9 = "0.5" }', "MAP"),
    )
    qrels = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
    found = verify("trec-8/adhoc", qrels=qrels, figures=file)
    assert found.table["equal"].tolist() == [None, True, None, False]
    assert found.table["note"][0].startswith("not computed: no runs: ")
    assert found.table["note"][2].startswith("not computed: no runs: ")
    assert "nothing is named 'READWARE9'" in found.table["note"][3]
    assert found.settings["runs"] == "none"


def test_a_run_file_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    (tmp_path / "trec-8" / "adhoc").mkdir(parents=True)
    (tmp_path / "trec-8" / "adhoc" / "READWARE2").write_text("<html>\n")
    file = figures_of("trec-8/adhoc", tmp_path, figure('kind = "judgments"\nvalues = { topics = 1 }'))
    qrels = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
    with pytest.raises(InputError, match="READWARE2, line 1"):
        verify("trec-8/adhoc", qrels=qrels, figures=file)


def test_calls_that_cannot_be_answered(tmp_path):
    with pytest.raises(InputError, match="no published figures of 'demo'; there are those of 'trec-8/adhoc'"):
        verify("demo")
    with pytest.raises(InputError, match="must be a text"):
        verify(None)
    with pytest.raises(InputError, match="has figures of 'mine', not of 'yours'"):
        verify("yours", figures=written(tmp_path, figure('kind = "judgments"\nvalues = { topics = 1 }')))
    mine = written(tmp_path, figure('kind = "judgments"\nvalues = { topics = 1 }'))
    for lacking in ({}, {"qrels": small_qrels()}, {"runs": tmp_path, "qrels": small_qrels()}, {"runs": small_field()}):
        with pytest.raises(
            InputError, match=r"is about 'mine', which .* both runs= \(a RunSet.*register_collection"
        ) as e:
            verify("mine", figures=mine, **lacking)
        assert "no collection 'reuse:mine'" in str(e.value)
    with pytest.raises(InputError, match="download must be True or False"):
        verify("trec-8/adhoc", download="yes")


# data files


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "is no TOML file"),
        ('title = "x"\n', 'needs collection = "..."'),
        ('collection = "x"\n', 'needs title = "..."'),
        (HEAD, "has no figures"),
        (HEAD + "figure = 3\n", "has no figures"),
        (HEAD + "more = 3\n" + figure('kind = "judgments"\nvalues = { topics = 1 }'), "'more' not among"),
        (HEAD + "\n[[figure]]\n", 'figure 1: needs what = "..."'),
        (HEAD + '\n[[figure]]\nwhat = "it"\nkind = "judgments"\n', "figure 'it': source must be a text, got None"),
        (HEAD + figure("values = { a = 1 }"), "kind must be a text, got None"),
        (HEAD + figure('kind = "judgement"\nvalues = { topics = 1 }'), "Did you mean 'judgments'"),
        (HEAD + figure('kind = "judgments"\nvalues = { topic = 1 }'), "Did you mean 'topics'"),
        (HEAD + figure('kind = "judgments"'), "either values"),
        (HEAD + figure('kind = "judgments"\nvalues = {}'), "values must be a table of names and values"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = 1.5 }'), "does not tell its digits"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = "x" }'), "must be a number such as"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = "." }'), "must be a number such as"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = true }'), "must be a number as text"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = inf }\ndecimals = 1'), "must be a finite number"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndecimals = "4"'), "give decimals = 4"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndecimals = 4\nplaces = 3'), "give decimals = 4"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\nplaces = 0'), "give decimals = 4"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndepth = 4'), "has no parameter 'depth'"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\nconventions = []'), "conventions must be a list"),
        (HEAD + figure('kind = "judgments"\nvalues = { topics = 1 }\ndiffers = 3'), "differs must be a text, got 3"),
        (HEAD + figure('kind = "scores"\nvalues = { a = 1 }'), "needs measure"),
        (HEAD + figure('kind = "scores"\nmeasure = "MAPP"\nvalues = { a = 1 }'), "unknown measure 'MAPP'"),
        (HEAD + figure('kind = "scores"\nmeasure = "AP"\norder = "x"\nvalues = { a = 1 }'), "order must be one of"),
        (
            HEAD + figure('kind = "scores"\nmeasure = "AP"\nconventions = [{ rounding = "up" }]\nvalues = { a = 1 }'),
            "rounding must be one of 'half', 'truncate', got 'up'",
        ),
        (HEAD + figure('kind = "scores"\nmeasure = "AP"\ncomplete = 1\nvalues = { a = 1 }'), "complete must be True"),
        (HEAD + figure('kind = "left_out"\nmeasure = ["AP", "RR"]\nvalues = { a = 1 }'), "takes one measure"),
        (HEAD + figure('kind = "pool"\ndepth = 0\nvalues = { documents = 1 }'), "depth must be a whole number"),
        (HEAD + figure('kind = "minimum_rank"\nvalues = { "1 to 3" = 1 }'), "must be ranks such as '11-50'"),
        (HEAD + figure('kind = "minimum_rank"\nvalues = { "10-1" = 0 }'), "ranks from 1 to the depth 100"),
        (HEAD + figure('kind = "minimum_rank"\nvalues = { "0-0" = 0 }'), "the better one first, got '0-0'"),
        (HEAD + figure('kind = "minimum_rank"\ndepth = 10\nvalues = { "11-50" = 0 }'), "ranks from 1 to the depth 10,"),
        (HEAD + figure('kind = "field"\nvalues = { run = 1 }'), "or a type as in 'manual runs', got 'run'"),
        (HEAD + figure('kind = "field"\nvalues = { " runs" = 1 }'), "or a type as in 'manual runs'"),
        (HEAD + figure('kind = "saturation"\nmeasure = "AP"\nvalues = { inf = 1 }'), "must be finite numbers"),
        (HEAD + figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "0,401" }'), "decimal point, not a comma"),
        (HEAD + figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "00,401" }'), "decimal point, not a comma"),
        (
            HEAD + figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "0.12" }\ndecimals = 1'),
            "digits than decimals = 1",
        ),
        (HEAD + figure('kind = "pool"\nvalues = { documents = "1,234" }\nplaces = 1'), "more digits than places = 1"),
        (HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"'), "needs both differs"),
        (
            HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ncomputed = { documents = 2 }'),
            "needs both differs",
        ),
        (
            HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"\ncomputed = { relevant = 2 }'),
            "computed has 'relevant', which is not among the values 'documents'",
        ),
        (
            HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"\ncomputed = { documents = 1 }'),
            "1 is equal to what was published",
        ),
        (
            HEAD + figure('kind = "pool"\nvalues = { documents = 1 }\ndiffers = "x"\ncomputed = 2'),
            "computed must be a table",
        ),
        (HEAD + figure('kind = "saturation"\nmeasure = "AP"\nvalues = { high = 1 }'), "must be numbers such as '0.9'"),
        (
            HEAD + figure('kind = "shallow_pool"\nmeasure = "AP"\ntruth = "no"\nvalues = { tau_b = 1 }'),
            "truth must be one of",
        ),
        (HEAD + figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'), "x.csv cannot be read"),
        (HEAD + figure('kind = "scores"\nmeasure = "AP"\nfile = "../x.csv"\ncolumn = "map"'), "the name of a CSV"),
        (HEAD + figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"'), "with its column"),
        (HEAD + 2 * figure('kind = "judgments"\nvalues = { topics = 1 }'), "'it' stands over two figures"),
    ],
)
def test_broken_files(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        verify("mine", runs=small_field(), qrels=small_qrels(), figures=path)
    assert message in str(error.value)
    assert "mine.toml" in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,p5\nA,0.5\n", "has no column 'map'; it has 'name', 'p5'"),
        ("name,map\nA,0.5\nA,0.6\n", "line 3: 'A' stands there twice"),
        ("name,map\nA\n", "line 2: needs a name and a value"),
        ("name,map\n,0.5\n", "line 2: needs a name and a value"),
        ("name,map\nA,-\n", "line 2, 'A', column 'map': a value must be a number"),
        ("name,map\nA,\n", "line 2, 'A', column 'map': a value must be a number"),
        ("name,map\n", "has a header and no values"),
        ("name,map\nB,0.1\nA,0,9999\n", "line 3: '9999' beyond the 2 columns of the header"),
        ('name,map\nA,"0,9999"\n', "line 2, 'A', column 'map': a value must be a number"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_broken_tables(tmp_path, text, message):
    (tmp_path / "x.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    path = written(tmp_path, figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'))
    with pytest.raises(InputError) as error:
        read_published(path)
    assert message in str(error.value)


def test_a_byte_order_mark_is_no_part_of_the_name(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbfname,map\nA,0.5\n")
    path = written(tmp_path, figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_published(path).figures[0].values == {"A": PublishedValue(0.5, 0.1)}


def test_no_file(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.toml cannot be read"):
        verify("mine", figures=tmp_path / "nothing.toml")


# what is shipped


def test_shipped_collections():
    assert published_names() == ["trec-8/adhoc", "trec-covid/round1", "trec-covid/round5"]
    for name in published_names():
        published = published_figures(name)
        assert published.collection == name
        assert (SHIPPED / f"{name.replace('/', '-')}.toml").is_file()
        submitted = set(find_collection(name).submitted["name"])
        scored = [one for one in published.figures if one.kind == "scores" and len(one.values) > 1]
        assert scored
        # a score for every run of the catalogue and for no other
        assert all(set(one.values) == submitted for one in scored)


def test_round_1_on_a_simulated_field(tmp_path):
    """The run files are published, but large: other runs under the same names, scored by ir_measures."""
    names = sorted(find_collection("trec-covid/round1").submitted["name"])
    field = simulate_field(seed=3, n_topics=30, n_teams=72, length=20, n_docs=300)
    frames = {name: field.runs[old].drop(columns="name") for name, old in zip(names, field.runs.names, strict=False)}
    runs, qrels = RunSet.from_frames(frames), field.qrels
    measures = dict(
        zip(
            ("ndcg@10", "P@5", "bpref", "map"),
            map(ir_measures.parse_measure, ("nDCG@10", "P@5", "Bpref", "AP")),
            strict=True,
        )
    )
    judged = qrels.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    with open(tmp_path / "trec-covid-round1.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", *measures])
        for name in names:
            run = runs[name].rename(columns={"qid": "query_id", "docno": "doc_id"})
            found = ir_measures.calc_aggregate(list(measures.values()), judged, run)
            rows.writerow([name, *(f"{found[measure]:.4f}" for measure in measures.values())])
    shutil.copy(SHIPPED / "trec-covid-round1.toml", tmp_path)
    found = verify("trec-covid/round1", runs=runs, qrels=qrels, figures=tmp_path / "trec-covid-round1.toml")
    scores = found.table[found.table["what"].str.endswith("of the runs")]
    assert len(scores) == 4 * 143
    assert scores["equal"].tolist() == [True] * len(scores)
    # but the judgments are not those of round 1
    assert found.table.set_index("name").loc["relevant", "equal"] is False


# real data


def test_trec8(data):
    folder = data / "trec8-adhoc"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec8-adhoc")
    found = verify("trec-8/adhoc", runs=folder, qrels=folder / "trec8.qrels.gz")
    unequal = found.table[found.table["equal"].map(lambda equal: equal is not True)]
    assert unequal[["what", "published", "computed"]].values.tolist() == [
        ["relevant documents of manual runs alone, as published", 1131, 1130],
    ]  # fmt: skip
    assert found.holds
    assert found.headline() == "TREC-8 ad hoc: 246 of 247 figures equal, 1 unequal (1 known to be)"
    summary, ways = found.summary.set_index("what"), found.conventions.set_index(["what", "convention"])
    assert summary.loc["MAP of the runs", ["figures", "equal"]].tolist() == [129, 129]
    # with scores as float32 one run differs
    assert ways.loc[("MAP of the runs", "order=trec_eval9"), "equal"] == 128
    assert summary.loc["best rank of a relevant document", "convention"].startswith("order=trec_eval9")
    assert summary.loc["pool of depth 10 of all runs", "convention"] == (
        "order=trec_eval, contributors=all, depth=10, measure=AP(judged_only=True), truth=MAP of the runs, "
        "decimals_of_scores=4, pool_order=file_ties"
    )
    assert found.table["known"].sum() == 1


def test_trec8_with_one_wrong_flag(data):
    """A run that was not pooled and is said to be has unjudged documents."""
    folder = data / "trec8-adhoc"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec8-adhoc")
    runs = read_runs(folder / "inputs", metadata=find_collection("trec-8/adhoc").submitted)
    qrels = read_qrels(folder / "trec8.qrels.gz")
    unjudged = score(runs, qrels, "Unjudged@10")
    worst = unjudged.names[int(np.argmax(unjudged.mean_values[0]))]
    runs = runs.with_metadata(pooled=[*runs.select(pooled=True).names, worst])
    found = verify("trec-8/adhoc", runs=runs, qrels=qrels)
    table = found.table.set_index(["what", "name"])
    for what in ("unjudged at 10, mean", "unjudged at 10, largest", "unjudged at 100, mean"):
        assert table.loc[(what, "pooled"), "equal"] is False
        assert table.loc[(what, "pooled"), "published"] == 0
    assert not found.holds


def test_covid_round_5(data):
    folder = data / "trec-covid-round5"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec-covid-round5")
    found = verify("trec-covid/round5", runs=folder, qrels=folder / "qrels.covid-round5.txt.gz")
    assert found.headline() == "TREC-COVID round 5: 643 of 643 figures equal"
    used = found.summary.set_index("what")["convention"]
    assert used[used.index.str.endswith("of the runs")].str.startswith("order=trec_eval9").all()
    alone = found.conventions[found.conventions["what"].str.endswith("of the runs")]
    alone = alone.assign(convention=alone["convention"].str.partition(",")[0])
    equal = alone.pivot_table(index="what", columns="convention", values="equal").astype(int)
    assert equal["order=trec_eval9"].tolist() == [126] * 5
    # as float64 some scores of four runs are not equal
    assert equal["order=trec_eval"].to_dict() == {
        "MAP of the runs": 125, "P@20 of the runs": 126, "bpref of the runs": 126, "nDCG@20 of the runs": 124,
        "graded RBP (p = .5) of the runs": 123,
    }  # fmt: skip


def test_covid_round_5_with_one_score_of_another_order(data, tmp_path):
    """Each score is that of one of the two orders, but of no single one."""
    folder = data / "trec-covid-round5"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec-covid-round5")
    for name in ("trec-covid-round5.csv", "trec-covid-round5.toml"):
        shutil.copy(SHIPPED / name, tmp_path)
    board = pd.read_csv(tmp_path / "trec-covid-round5.csv", dtype=str).set_index("name")
    runs = read_runs(folder / "runs", metadata=find_collection("trec-covid/round5").submitted)
    qrels = read_qrels(folder / "qrels.covid-round5.txt.gz")
    scores = score(runs, qrels, "nDCG@20")
    double = pd.Series(scores.mean_values[0], index=scores.names).map("{:.4f}".format)
    name = next(name for name in runs.names if double[name] != board.loc[name, "ndcg@20"])
    board.loc[name, "ndcg@20"] = double[name]
    board.to_csv(tmp_path / "trec-covid-round5.csv")
    found = verify("trec-covid/round5", runs=runs, qrels=qrels, figures=tmp_path / "trec-covid-round5.toml")
    unequal = found.table[found.table["equal"].map(lambda equal: equal is False)]
    # two scores tell the orders apart, so now either explains all but one
    assert unequal["what"].tolist() == ["nDCG@20 of the runs"]
    alone = found.conventions.set_index("what").loc["nDCG@20 of the runs", "equal"]
    assert alone.tolist() == [125, 125]
    assert not found.holds


def test_covid_round_1(data, tmp_path, monkeypatch):
    """The judgments are here, the run files are not."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    qrels = data / "qrels" / "qrels.covid-round1.txt.gz"
    if not qrels.is_file():
        pytest.skip("the test data has no qrels of TREC-COVID round 1")
    found = verify("trec-covid/round1", qrels=qrels)
    assert found.headline() == "TREC-COVID round 1: 4 of 583 figures equal, 579 not computed"
    assert found.holds


def test_shipped_scores_are_those_of_the_data(data, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", [str(BUILD), "--data", str(data), "--out", str(tmp_path)])
    runpy.run_path(str(BUILD), run_name="__main__")
    built = sorted(path.name for path in tmp_path.iterdir())
    if not built:
        pytest.skip("the test data has no published scores")
    assert {"trec-8-adhoc.csv", "trec-covid-round5.csv"} <= set(built)
    for name in built:
        assert (tmp_path / name).read_bytes() == (SHIPPED / name).read_bytes(), name


def test_scores_are_taken_over_as_text(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "trec-covid-round1"
    folder.mkdir(parents=True)
    header = "run,team,ndcg@10,p@5,bpref,MAP\n"
    (folder / "leaderboard.csv").write_text(header + "b,t,0.5000,1,0.2,0.3\na,t,0.10,0.20,0.30,0.40\n")
    monkeypatch.setattr("sys.argv", [str(BUILD), "--data", str(tmp_path / "data"), "--out", str(tmp_path / "out")])
    runpy.run_path(str(BUILD), run_name="__main__")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["trec-covid-round1.csv"]
    assert (tmp_path / "out" / "trec-covid-round1.csv").read_text() == (
        "name,ndcg@10,P@5,bpref,map\na,0.10,0.20,0.30,0.40\nb,0.5000,1,0.2,0.3\n"
    )
    (folder / "leaderboard.csv").write_text(header + "b,t,0,5000,1,0.2,0.3\n")
    with pytest.raises(SystemExit, match="line 2: not as many cells as the header has, 6"):
        runpy.run_path(str(BUILD), run_name="__main__")


def test_a_notebook_shows_what_is_unequal_in_full_digits(tmp_path):
    found = replay(tmp_path, figure('kind = "judgments"\nvalues = { judgments = 1, topics = 1 }'))
    page = found._repr_html_()
    for row in found.table.itertuples():
        assert row.equal is False
        assert f"<td>{row.name}</td>" in page
        assert f"<td>{row.computed:.10g}</td>" in page
    assert "unequal:" in page


def test_a_dataset_stands_for_its_name(tmp_path):
    with pytest.raises(InputError, match="no published figures of 'trec-7/adhoc'"):
        verify(ReuseDataset("trec-7/adhoc"))


def test_a_pool_that_nobody_recorded_is_no_figure(tmp_path):
    frame_of = pd.DataFrame({"name": ["A", "B", "C"], "pooled": True})
    unknown = small_field().with_metadata(metadata=frame_of.assign(pooled_source=ASSUMED))
    found = replay(
        tmp_path,
        figure('kind = "field"\nvalues = { "pooled runs" = 3, runs = 3 }'),
        figure('kind = "score_statistic"\nmeasure = "AP"\nby = "pooled"\nvalues = { pooled = "0.5" }', "means"),
        runs=unknown,
    )
    assert found.table["equal"].tolist() == [None, True, None]
    note = "not computed: who was pooled is not on record: all count"
    assert found.table["note"].tolist() == [note, "", note]
