"""Verdicts: what every result says it found, under which condition, and what that does not say."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from every_result import every_result

import pt_reuse as ptr
from pt_reuse.result import Result, Told, cells

pytestmark = pytest.mark.filterwarnings("ignore:subcollections. :pt_reuse.ReuseWarning")

_NUMBER = re.compile(r"(?<![\w.@])[-+]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?![\w@])")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return every_result(tmp_path_factory.mktemp)


def frames_of(result):
    """Return the tables of a result, and its key figures."""
    own = [value for part in fields(result) if isinstance(value := getattr(result, part.name), pd.DataFrame)]
    return [*result.tables().values(), *own, *([result.key_figures()] if getattr(result, "key", ()) else [])]


def texts_of(result):
    """Return the texts that a result holds, the longest first: settings, names, and what its class declares."""
    words = [
        str(cell)
        for table in frames_of(result)
        for name in table.select_dtypes(exclude="number")
        for cell in table[name]
    ]
    declared = [result.condition, result.limit, str(getattr(result, "answer", "")), str(result.words())]
    return sorted({*words, *map(str, result.settings.values()), *declared}, key=len, reverse=True)


def numbers_of(result):
    """Return the numbers in the tables of a result and in its texts, and how many rows and names there are."""
    found = [float(number.replace(",", "")) for text in texts_of(result) for number in _NUMBER.findall(text)]
    for table in frames_of(result):
        found += [len(table), *(table[name].nunique() for name in table.select_dtypes(exclude="number"))]
        for name in table.select_dtypes(include=["number", "boolean"]):
            values = table[name].to_numpy(dtype=float, na_value=np.nan)
            found += [*values[np.isfinite(values)], *([values.sum()] if table[name].dtype.kind in "biu" else [])]
    return np.array(found, dtype=float)


#: kind of result -> numbers of its verdict that are counted or averaged from its tables
COMPUTED = {
    "LabelDistributions": lambda found: [(found.table["entropy"] == 0).sum(), found.table["majority_share"].mean()],
    "Scores": lambda found: [len(found.topics)],
    "SimulatedField": lambda found: found.qrels.to_frame()["label"].value_counts(),
}


def is_among(text, numbers):
    """Return whether a number as it is printed is one of these, rounded, as it is or in per cent."""
    text = text.replace(",", "")
    places = len(text.partition(".")[2])
    shown, step = abs(float(text)), 0.5 * 10.0**-places * (1 + 1e-9)
    known = np.abs(numbers)
    return bool((np.abs(known - shown) <= step).any() or (np.abs(100 * known - shown) <= step).any())


def test_every_result_says_what_was_found_under_which_condition_and_what_that_does_not_say(results):
    for name, result in results.items():
        verdict = result.verdict()
        assert len(verdict) == 3, name
        assert verdict[0] == f"{result.headline()}.", name
        assert result.findings()[:3] == verdict, name
        assert all(re.search(r"\w.*[\w)}\\]\.$", sentence, re.DOTALL) for sentence in verdict), (name, verdict)
        assert not re.search(r"\bnan\b|\bNone\b|not recorded|\{|\}", " ".join(verdict[1:]).replace("{}", "")), (
            name,
            verdict,
        )
        assert not [said for said in result.findings() if re.search(r"\bnan\b|<NA>", said)], name


def test_every_number_of_a_verdict_is_one_of_the_tables_or_settings(results):
    for name, result in results.items():
        known, text = numbers_of(result), " ".join(result.verdict())
        known = np.append(known, COMPUTED.get(type(result).__name__, lambda _: [])(result))
        for own in texts_of(result):
            # what is cited as it stands
            text = text.replace(own, " ") if len(own) > 8 else text
        unknown = [number for number in _NUMBER.findall(text) if not is_among(number, known)]
        assert not unknown, (name, unknown, result.verdict())


def test_the_verdict_stands_first_wherever_a_result_is_shown(results):
    for name, result in results.items():
        verdict = result.verdict()
        begins = [repr(result), str(result)]
        for shown in begins:
            assert "".join(shown.split()).startswith("".join(f"{result.title}: {verdict[0]}".split())), name
        report = result.report()
        assert report.verdict == tuple(verdict), name
        assert "".join(str(report).split()).startswith("".join(" ".join(verdict).split())), name
        assert report.head(1).verdict == report.verdict
        for page in (result._repr_html_(), report._repr_html_()):
            assert page.index("</p>") < page.index("<table"), name
        assert verdict[-1] not in report.to_latex(), name


def test_nothing_is_said_of_an_empty_table(results):
    for name, result in results.items():
        if isinstance(result, Result) and "table" in {part.name for part in fields(result)}:
            figures = {"verdicts": ()} if name == "Verification" else {}
            nothing = replace(result, table=result.table.head(0), **figures)
            assert nothing.verdict() == nothing.findings() == [], name
            assert repr(nothing).startswith(f"{result.title}: nothing was computed. "), name
            assert f"<b>{result.title}: nothing was computed.</b>" in nothing._repr_html_(), name


def test_intervals_are_named_where_there_are_any(results):
    field = ptr.demo.simulate_field(seed=7)
    without = ptr.leave_out_uniques(field.runs, field.qrels, "AP", depth=10, resamples=0)
    assert "Intervals" not in " ".join(without.verdict())
    assert "Intervals: 95 % bootstrap over topics, 9 resamples, seed 0." in results["LeaveOutUniques"].verdict()[1]


def test_the_numbers_of_a_verdict_on_uniques(results):
    found = results["LeaveOutUniques"]
    row = found.summary.iloc[0]
    said = found.headline().split("; P@10")[0]
    assert _NUMBER.findall(said) == [
        f"{row['largest_loss_pct']:.1f}",
        *(f"{row[name]}" for name in ("alone_max_drop", "alone_max_drop_low", "alone_max_drop_high")),
        *(f"{row[name]:.4f}" for name in ("own_tau_b", "own_tau_b_low", "own_tau_b_high")),
    ]


@pytest.mark.parametrize(
    ("row", "form", "said"),
    [
        ({"x": 0.95}, ".2f", "0.95"),
        ({"x": 0.95, "x_low": 0.9, "x_high": 1.0}, ".2f", "0.95 (0.90 to 1.00)"),
        ({"x": 1}, "rank", "1 rank"),
        ({"x": 2.0, "x_low": 1.0, "x_high": 4.0}, "rank", "2 ranks (1 to 4)"),
        ({"x": np.nan}, "rank", "undefined"),
        ({"x": np.nan}, ".4f", "undefined"),
        ({"x": "a"}, "", "a"),
    ],
)
def test_cells_in_words(row, form, said):
    assert format(Told(row, "x"), form) == said
    assert cells(row).keys() == row.keys()
