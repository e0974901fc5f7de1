"""Report: the table of a paper as text, HTML and LaTeX."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse._report import Column, Digits, Report, latex

SPECIAL = "&%_#${}~^\\"


@pytest.fixture
def report():
    return Report(
        [
            Column("System", ["BM25_x & 50%", "[dense]", "*"]),
            Column("nDCG@10", [0.25125, np.nan, 0.3], Digits.SCORE),
            Column("tau_b", [0.99806, -0.2, 1.0], Digits.SCORE),
            Column("Worst loss, %", [-9.94, -0.04, 0.0], Digits.PERCENT),
            Column("Largest drop", pd.Series([2, 1234, 0], index=[7, 8, 9]), Digits.COUNT),
            Column("Whose", ["a_b", None, "-"]),
        ],
        caption="Scores and tau_b of 3 systems on 50 topics.",
        notes=["One swapped pair is worth a tau_b of .0002."],
    )


def test_as_text(report):
    assert str(report).split("\n") == [
        "Scores and tau_b of 3 systems on 50 topics.",
        "------------------------------------------------------------------",
        "System        nDCG@10    tau_b  Worst loss, %  Largest drop  Whose",
        "BM25_x & 50%   0.2512   0.9981           -9.9             2  a_b",
        "[dense]             -  -0.2000            0.0         1,234  -",
        "*              0.3000   1.0000            0.0             0  -",
        "------------------------------------------------------------------",
        "One swapped pair is worth a tau_b of .0002.",
    ]
    assert repr(report) == str(report)


def test_as_latex(report):
    assert report.to_latex(label="tab:x").split("\n") == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Scores and $\tau_b$ of 3 systems on 50 topics.}",
        r"\label{tab:x}",
        r"\small",
        r"\setlength{\tabcolsep}{4pt}",
        r"\begin{tabular}{lrrrrl}",
        r"\toprule",
        r"System & nDCG@10 & $\tau_b$ & \shortstack[r]{Worst \\ loss, \%} & \shortstack[r]{Largest \\ drop} & Whose \\",
        r"\midrule",
        r"BM25\_x \& 50\% & 0.2512 & 0.9981 & $-$9.9 & 2 & a\_b \\",
        r"{[}dense] & -- & $-$0.2000 & 0.0 & 1,234 & -- \\",
        r"{*} & 0.3000 & 1.0000 & 0.0 & 0 & - \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip{\footnotesize\raggedright One swapped pair is worth a $\tau_b$ of .0002.\par}",
        r"\end{table}",
    ]


def read_back(text):
    """Set a line of LaTeX as LaTeX does, letter by letter: the inverse of the escaping, for what it writes."""
    known = {
        r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<",
        r"\textgreater{}": ">", r"\textbar{}": "|", r"\`{}": "`", r"{}-": "-", "{}'": "'",
        **{f"\\{c}": c for c in "&%_#${}"},
    }  # fmt: skip
    letters = []
    while text:
        command = next((c for c in known if text.startswith(c)), text[0])
        letters.append((command, known.get(command, command)))
        text = text[len(command) :]
    return letters


@given(st.text(st.sampled_from(SPECIAL + "ab-<>|\"'`é[]* "), max_size=30))
def test_latex_sets_every_letter_and_nothing_else(text):
    letters = read_back(latex(text))
    assert "".join(letter for _, letter in letters) == text
    # no bare character of LaTeX's own, and no ligature
    assert not [command for command, _ in letters if len(command) == 1 and command in SPECIAL + "<>|`"]
    assert "--" not in latex(text)
    assert "''" not in latex(text)


def elements(page, tag):
    """Return the texts of the elements of a page."""
    return [html.unescape(text) for text in re.findall(rf"<{tag}\b[^>]*>([^<]*)</{tag}>", page)]


def test_as_html(report):
    page = report._repr_html_()
    assert elements(page, "th") == ["System", "nDCG@10", "tau_b", "Worst loss, %", "Largest drop", "Whose"]
    assert elements(page, "td")[:6] == ["BM25_x & 50%", "0.2512", "0.9981", "-9.9", "2", "a_b"]
    assert elements(page, "p") == ["Scores and tau_b of 3 systems on 50 topics."]
    assert "overflow-x:auto" in page
    assert "<b>" not in Report([Column("<b>", ["<b>"])], caption="<b>", notes=["<b>"])._repr_html_()


@pytest.mark.parametrize(
    ("digits", "value", "written"),
    [
        (Digits.SCORE, 0.00004, "0.0000"),
        (Digits.SCORE, np.float32(1), "1.0000"),
        (Digits.PERCENT, 0.0, "0.0"),
        (Digits.PERCENT, -0.00001, "0.0"),
        (Digits.PERCENT, 0.121, "+0.1"),
        (Digits.PERCENT, 0.05, "+0.1"),
        (Digits.PERCENT, -1234.56, "-1234.6"),
        (Digits.PERCENT, float("inf"), "+inf"),
        (Digits.P, 0.00012, "0.0001"),
        (Digits.P, 0.00009, "<0.0001"),
        (Digits.P, 1.0, "1.0000"),
        (Digits.SIZE, 0.000427, "0.00043"),
        (Digits.RANKS, 3.0, "3"),
        (Digits.RANKS, 2.5, "2.5"),
        (Digits.RANKS, 1234, "1,234"),
        (Digits.RANKS, float("nan"), "-"),
        (Digits.NUMBER, np.int64(3), "3"),
        (Digits.NUMBER, 3.0, "3.0000"),
        (Digits.COUNT, np.int64(1_000_000), "1,000,000"),
        (Digits.COUNT, pd.NA, "-"),
        (Digits.TEXT, "a\nb", "a\\nb"),
    ],
)
def test_digits(digits, value, written):
    assert digits.written(value) == written


def test_what_is_no_report(messages):
    columns = [Column(f"c{at}", [1]) for at in range(7)]
    assert len(Report(columns[:6], caption="").to_frame().columns) == 6
    messages.refused(lambda: Report(columns, caption=""))
    messages.refused(lambda: Report([], caption=""))
    messages.refused(lambda: Report([columns[0], columns[0]], caption=""))
    messages.refused(lambda: Report([columns[0], Column("d", [1, 2])], caption=""))
