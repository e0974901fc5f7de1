"""What results and nouns show: a report each, texts of 100 columns, pages with every name escaped."""

from __future__ import annotations

import html
import io
import re
from contextlib import suppress
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
import pytest
from every_result import ODD, every_result, odd_field
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from same import assert_same

import pt_reuse as ptr
from pt_reuse._report import Report
from pt_reuse._saving import read_result
from pt_reuse._text import WIDTH, display_width
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.columns import column
from pt_reuse.plots.sheet import Sheet
from pt_reuse.result import Record, Result, Told, cells, first_of

pytestmark = pytest.mark.filterwarnings("ignore:subcollections. :pt_reuse.ReuseWarning")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return every_result(tmp_path_factory.mktemp)


@pytest.fixture(scope="module")
def one_of_each_kind(results):
    """Return a result of each kind by its name, that of names that are hard to show where there is one."""
    by_kind = {}
    for name in sorted(results, key=lambda name: not name.endswith(", odd")):
        by_kind.setdefault(type(results[name]), name)
    return {name: results[name] for name in by_kind.values()}


@dataclass(frozen=True)
class Shown:
    """What something shows of itself."""

    text: str
    page: str
    report: Report | None

    @classmethod
    def of(cls, given):
        return cls(str(given), given._repr_html_(), given.report() if isinstance(given, Record) else None)


@pytest.fixture(scope="module")
def shown(results):
    return {name: Shown.of(result) for name, result in results.items()}


@pytest.fixture(scope="module")
def nouns():
    """Return the nouns, of names that are hard to show."""
    runs, qrels, _ = odd_field()
    return {
        "RunSet": runs,
        "Qrels": qrels,
        "Pool": ptr.depth_pool(runs, depth=10).without(team=runs.run_table["team"][0]),
        "ReuseDataset": ReuseDataset("trec-8/adhoc"),
    }


def test_reports_have_readable_headings_and_at_most_five_columns_beside_the_name(shown):
    for name, found in ((name, one.report) for name, one in shown.items()):
        assert isinstance(found, Report)
        frame = found.to_frame()
        assert 2 <= len(frame.columns) <= 6, name
        assert len(frame) > 0
        # the names of correlations and of a type stay as they are
        plain = [heading.replace("tau_b", "").replace("tau_AP", "") for heading in frame if ODD not in heading]
        assert not [heading for heading in plain if "_" in heading], name
        # a measure's name stays as it is
        assert all(heading[0].isupper() or heading in ("nDCG@10", "tau_b", "tau_AP", "gamma") for heading in frame)
        assert re.match(r"[A-Z].*[.]$", found.caption, re.DOTALL), name
        assert all(re.match(r"[A-Z].*[.]$", note, re.DOTALL) for note in found.notes), name
        assert max(map(display_width, str(found).split("\n"))) <= 80
        assert r"\begin{tabular}" in found.to_latex()
        if "odd" not in name and name != "Verification":
            assert max(map(len, frame.to_string(index=False).split("\n"))) <= 100, name


def test_no_printed_line_is_wider_than_80_columns(results, shown, nouns):
    for name, given in {**results, **nouns}.items():
        text = shown[name].text if name in shown else str(given)
        assert max(map(display_width, text.split("\n"))) <= WIDTH == 80, name
        assert "\n" not in repr(given), f"the repr of {name} is one line"
        assert "\x1b" not in text


def test_the_answer_is_printed_first_then_the_table_conditions_and_where_settings_are(results, shown):
    # names that are hard to show are escaped
    for name, result in results.items():
        if name.endswith("odd"):
            continue
        answers, conditions = first_of(result.answers()), result.conditions()
        texts = [shown[name].text, html.unescape(re.sub("<[^>]*>", " ", shown[name].page))]
        for text in texts:
            printed = "".join(text.split())
            places = [printed.find("".join(line.split())) for line in (result.heading(), *answers, *conditions)]
            assert places == sorted({*places} - {-1}), (name, places)
        assert shown[name].text.endswith(f"Settings: result.settings ({len(result.settings)})"), name
        assert repr(result).startswith(f"{result.heading()}: {answers[0]}"), name
        assert not re.search(r"\bnan\b|\bNone\b|<NA>|not recorded|\{\w", " ".join([*answers, *conditions])), name
        report = shown[name].report
        assert report.head(1).verdict == report.verdict
        assert answers[0] not in report.to_latex(), name


def test_nothing_is_said_of_an_empty_table(results):
    for name, result in results.items():
        if isinstance(result, Result) and "table" in {part.name for part in fields(result)}:
            nothing = replace(result, table=result.table.head(0))
            assert repr(nothing) == f"{nothing.heading()}: nothing was computed.", name


def test_pages_escape_every_name_and_scroll_and_fold(results, shown, nouns):
    for name, one in {**shown, **{name: Shown.of(noun) for name, noun in nouns.items()}}.items():
        assert "<script" not in one.page, name
        assert one.page.count("<table") == one.page.count("overflow-x:auto"), name
        if name in results:
            assert one.page.count("<details>") == 1, name
            assert all(f">{key}</th>" in one.page for key in results[name].settings), name
            assert "<script" not in one.report._repr_html_(), name


def test_a_result_read_back_is_equal_and_reports_the_same(results, one_of_each_kind, shown, tmp_path):
    for name, result in results.items():
        result.save(tmp_path / name)
        again = read_result(tmp_path / name)
        assert_same(result, again)
        if name in one_of_each_kind:
            assert (str(again), str(again.report())) == (shown[name].text, str(shown[name].report)), name


def test_every_view_is_a_report_and_says_its_options(one_of_each_kind):
    for name, result in one_of_each_kind.items():
        for view in getattr(result, "views", {}):
            # some are of what was asked for alone
            with suppress(ptr.InputError):
                assert len(result.report(view).columns) <= 6, (name, view)
            with pytest.raises(ptr.InputError) as caught:
                result.report(view, nothing_of_the_kind=1)
            assert caught.value.argument == "nothing_of_the_kind", (name, view)


_NUMBER = re.compile(r"(?<![\w.@])[-+]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?![\w@])")


def frames_of(result):
    """Return the tables of a result."""
    own = [value for part in fields(result) if isinstance(value := getattr(result, part.name), pd.DataFrame)]
    return [*result.tables().values(), *own]


def texts_of(result):
    """Return the texts that a result holds, the longest first: settings, names, and what its class declares."""
    words = [
        str(cell)
        for table in frames_of(result)
        for name in table.select_dtypes(exclude="number")
        for cell in table[name]
    ]
    declared = [result.valid_for, result.not_covered, str(getattr(result, "answer", "")), str(result.words())]
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


#: kind of result -> numbers of its answers that are counted or averaged from its tables
COMPUTED = {
    "LabelDistributions": lambda found: [(found.table["entropy"] == 0).sum(), found.table["majority_share"].mean()],
    "Scores": lambda found: [len(found.topics)],
    "SimulatedField": lambda found: [
        *found.qrels.to_frame()["label"].value_counts(),
        (found.qrels.arrays.labels > 0).sum(),
    ],
}


def is_among(text, numbers):
    """Return whether a number as it is printed is one of these, rounded, as it is or in per cent."""
    text = text.replace(",", "")
    places = len(text.partition(".")[2])
    shown, step = abs(float(text)), 0.5 * 10.0**-places * (1 + 1e-9)
    known = np.abs(numbers)
    return bool((np.abs(known - shown) <= step).any() or (np.abs(100 * known - shown) <= step).any())


def test_every_number_that_is_said_is_one_of_the_tables_or_settings(results):
    for name, result in results.items():
        known, text = numbers_of(result), " ".join([*result.answers(), *result.conditions()])
        known = np.append(known, COMPUTED.get(type(result).__name__, lambda _: [])(result))
        for own in texts_of(result):
            # what is cited as it stands
            text = text.replace(own, " ") if len(own) > 8 else text
        unknown = [number for number in _NUMBER.findall(text) if not is_among(number, known)]
        assert not unknown, (name, unknown, text)


def test_a_sentence_has_the_digits_of_the_table():
    row = {"max_drop": 2.5, "max_drop_low": 1.0, "max_drop_high": 3.5, "tau_b": 0.95}
    assert (
        "{max_drop}, {max_drop:rank}; {tau_b}".format_map(cells(row)) == "2.5 (1 to 3.5), 2.5 ranks (1 to 3.5); 0.9500"
    )
    for name in ("max_drop", "tau_b"):
        digits = column(name).digits
        assert format(Told({name: row[name]}, name), "") == digits.written(row[name])


# each report against the tables that it is made of


def rough_extent(renderer, text, prop, ismath, measured=RendererAgg.get_text_width_height_descent):
    """Measure formulas, and guess what other texts take."""
    size = prop.get_size_in_points()
    return measured(renderer, text, prop, ismath) if ismath else (0.8 * size * len(text), size, 0.0)


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning", "ignore:constrained_layout not applied:UserWarning")
def test_every_figure_is_drawn_into_axes_of_ones_own(results, one_of_each_kind, monkeypatch):
    # how figures are laid out is tested of each way of drawing, and takes most of the time
    monkeypatch.setattr(Sheet, "fit", lambda self, height: None)
    monkeypatch.setattr(RendererAgg, "get_text_width_height_descent", rough_extent)
    drawn = set()
    for name, result in {**one_of_each_kind, **results}.items():
        own = type(result).plot is not Result.plot if isinstance(result, Result) else hasattr(result, "plot")
        for kind in [None] if own else getattr(type(result), "plots", ()):
            lacks = (kind == "fill" and result.filled is None) or (kind == "gold" and result.gold.empty)
            if lacks or (type(result), kind) in drawn:
                continue
            how = {"kind": kind} if kind else {}
            if name.startswith("PoolsByType") and kind == "scores":
                how["pool"] = result.pools[0]
            ax = Figure(figsize=(7, 4)).subplots()
            with pytest.raises(ptr.InputError) as caught:
                result.plot(ax=ax, legend="no", **how)
            assert caught.value.argument == "legend", name
            assert result.plot(ax=ax, legend=np.False_, **how) is ax, name
            assert (ax.get_legend(), ax.get_title()) == (None, ""), name
            ax.figure.draw_without_rendering()
            drawn.add((type(result), kind))
    assert len(drawn) > 50
    ax.figure.savefig(held := io.BytesIO(), format="svg")
    assert held.tell() > 1000
