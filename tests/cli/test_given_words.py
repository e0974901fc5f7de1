"""Numbers in other digits are no numbers, and a word that is neither a file nor a collection is told as that."""

from __future__ import annotations

import pytest
from command_parts import run

from pt_reuse.cli.parser import amounts, bands, decimal_number, whole_amounts, whole_number, whole_numbers

ODD = ["1_0", "\u0661\u0660", "\uff11\uff10", "1_0.5", "\u0661.5"]


@pytest.mark.parametrize("read", [whole_number, decimal_number, whole_amounts, amounts, whole_numbers, bands])
@pytest.mark.parametrize("text", ODD)
def test_other_digits_are_no_number(read, text):
    with pytest.raises(Exception, match=r".") as caught:
        read(text)
    assert type(caught.value).__name__ in ("ValueError", "ArgumentTypeError")
    assert [whole_number("-10"), decimal_number("1e-3"), whole_numbers("1,2")] == [-10, 0.001, [1, 2]]


@pytest.mark.parametrize(
    "words", [("report", "demo", "--resamples"), ("pool", "demo", "--depth"), ("report", "--seed")]
)
@pytest.mark.parametrize("text", ODD[:2])
def test_an_option_takes_no_other_digits(words, text, capsys):
    status, _, err = run(capsys, *words, text)
    assert status == 2
    assert words[-1] in err


@pytest.mark.parametrize("command", ["report", "lou"])
@pytest.mark.parametrize("name", ["nosuch", "../x", "", "http://x.y/z", "dl20x"])
def test_a_word_that_is_no_collection_is_told(command, name, capsys):
    status, _, err = run(capsys, command, name)
    assert status == 2
    assert "no collection of this name" in err
    assert "--qrels" not in err


def test_files_without_judgments_still_ask_for_them(files, capsys):
    for word in (files / "runs", "nothing*.run"):
        status, _, err = run(capsys, "report", word)
        assert status == 2
        assert "--qrels" in err
