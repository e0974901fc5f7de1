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
from pt_reuse._check import InputError, ReuseWarning
from pt_reuse.collections import registry
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.registry import find_collection
from pt_reuse.collections.simulated import simulate_field
from pt_reuse.qrels import Qrels
from pt_reuse.reading import read_runs
from pt_reuse.runs import RunSet
from pt_reuse.verification.figures import KINDS
from pt_reuse.verification.published import PublishedValue, published_figures, published_names, read_published
from pt_reuse.verification.verification import verify

SHIPPED = Path(pt_reuse.__file__).parent / "verification" / "data"
BUILD = Path(__file__).parents[1] / "scripts" / "build_published.py"
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
    assert units(tmp_path, 'values = { a = "0.8490", b = ".5", c = "1,131", d = 86_830, e = "-2." }') == [
        (0.849, 1e-4), (0.5, 0.1), (1131, 1), (86830, 1), (-2, 1),
    ]  # fmt: skip
    assert units(tmp_path, 'values = { a = 0.849, b = "1" }\ndecimals = 4') == [(0.849, 1e-4), (1, 1e-4)]
    assert units(tmp_path, "values = { a = 0.00849, b = 849.0 }\nplaces = 4") == [(0.00849, 1e-6), (849, 0.1)]


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
    assert found.table["convention"].tolist() == ["order=trec_eval"] * 2 + ["order=trec_eval, rounding=truncate"]
    # one convention explains all
    assert found.summary["convention"].tolist() == ["order=trec_eval, rounding=truncate"]
    assert found.conventions["equal"].tolist() == [2, 3]
    lines = 'kind = "uniques"\ndepth = 2\nvalues = { x = 1 }\nconventions = [{}, { contributors = "all" }]'
    assert replay(tmp_path, figure(lines)).table["convention"].tolist() == ["order=trec_eval, contributors=all"]


def test_known_differences(tmp_path):
    lines = 'kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.9", A = "0.5" }\ndiffers = "a misprint"'
    found = replay(tmp_path, figure(lines))
    assert found.table["note"].tolist() == ["a misprint", ""]
    assert found.holds
    assert found.headline() == "Mine: 1 of 2 figures equal, 1 unequal (1 known to be)"
    assert "a misprint" in str(found)


# the record


def test_the_record(tmp_path):
    scores = figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.5833", D = "0.5", A = "0.4" }', "MAP")
    found = replay(tmp_path, scores, figure('kind = "judgments"\nvalues = { topics = 2 }'))
    assert found.table.columns.tolist() == [
        "what", "name", "published", "computed", "equal", "difference", "unit", "convention", "source", "note",
    ]  # fmt: skip
    assert found.table["equal"].tolist() == [True, None, False, True]
    assert found.table["computed"].tolist() == pytest.approx([7 / 12, np.nan, 0.5, 2], nan_ok=True)
    assert found.table["difference"].tolist() == pytest.approx([7 / 12 - 0.5833, np.nan, 0.1, 0], nan_ok=True)
    assert found.table["note"].tolist() == ["", "not computed: there is nothing of that name", "", ""]
    assert found.summary[["what", "figures", "equal", "unequal", "not_computed"]].values.tolist() == [
        ["MAP", 3, 1, 1, 1], ["it", 1, 1, 0, 0],
    ]  # fmt: skip
    assert found.summary["largest_difference"].tolist() == pytest.approx([0.1, 0])
    assert repr(found) == (
        "Verification: Mine: 2 of 4 figures equal, 1 unequal, 1 not computed "
        "[collection=Mine, judgments=9, runs=3 of 3]"
    )
    assert "1 figure not computed: there is nothing of that name" in str(found)
    assert "Mine: 2 of 4" in found._repr_html_()
    files = found.save(tmp_path / "out")
    assert [path.name for path in files] == ["summary.csv", "table.csv", "conventions.csv", "settings.json"]


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
        figure('kind = "scores"\nmeasure = "P@1"\nvalues = { READWARE2 = "1.0", orcl99man = "1.0" }', "P@1"),
        figure('kind = "judgments"\nvalues = { topics = 1 }', "judgments"),
    )
    qrels = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
    folder = trec8_runs(tmp_path / "runs", "READWARE2", "iit99ma1")
    found = verify("reuse:trec-8/adhoc", runs=folder, qrels=qrels, figures=file)
    assert found.table["equal"].tolist() == [None, True, None, True]
    assert found.table["note"][0].startswith("not computed: 127 runs missing: ")
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
    lines = 'kind = "score_statistic"\nmeasure = "P@1"\nvalues = { manual = 1, automatic = 1 }'
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
    monkeypatch.setattr(registry, "_OWN", {})
    registry.add(Collection(name="mine", title="Mine", qrels=(str(qrels),), runs=str(tmp_path / "runs"), labels=labels))
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
    )
    qrels = pd.DataFrame({"qid": ["401"], "docno": ["d1"], "label": [1]})
    found = verify("trec-8/adhoc", qrels=qrels, figures=file)
    assert found.table["equal"].tolist() == [None, True]
    assert found.table["note"][0].startswith("not computed: no runs: ")
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
    with pytest.raises(InputError, match="no collection 'reuse:mine'"):
        verify("mine", figures=written(tmp_path, figure('kind = "judgments"\nvalues = { topics = 1 }')))
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
        ("name,map\nA,-\n", "'A': a value must be a number"),
        ("name,map\nA,\n", "'A': a value must be a number"),
        ("name,map\n", "values must be a table of names and values"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_broken_tables(tmp_path, text, message):
    (tmp_path / "x.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    path = written(tmp_path, figure('kind = "scores"\nmeasure = "AP"\nfile = "x.csv"\ncolumn = "map"'))
    with pytest.raises(InputError) as error:
        read_published(path)
    assert message in str(error.value)


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
    assert summary.loc["pool of depth 10 of all runs", "convention"].endswith("pool_order=file_ties")


def test_covid_round_5(data):
    folder = data / "trec-covid-round5"
    if not folder.is_dir():
        pytest.skip("the test data has no folder trec-covid-round5")
    found = verify("trec-covid/round5", runs=folder, qrels=folder / "qrels.covid-round5.txt.gz")
    assert found.headline() == "TREC-COVID round 5: 643 of 643 figures equal"
    alone = found.conventions[found.conventions["what"].str.endswith("of the runs")]
    equal = alone.pivot_table(index="what", columns="convention", values="equal").astype(int)
    assert equal["order=trec_eval9"].tolist() == [126] * 5
    # as float64 some scores of four runs are not equal
    assert equal["order=trec_eval"].to_dict() == {
        "MAP of the runs": 125, "P@20 of the runs": 126, "bpref of the runs": 126, "nDCG@20 of the runs": 124,
        "graded RBP (p = .5) of the runs": 123,
    }  # fmt: skip


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
