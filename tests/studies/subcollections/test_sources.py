"""Rules that say which source a document comes from."""

from __future__ import annotations

import re

import pytest

from pt_reuse.studies.subcollections.sources import source_rule

DOCNOS = ["FBIS3-1", "FR940104-0-1", "FT911-3", "FT911-4", "LA010189-0001"]
# fmt: off
RULES = {
    "letters": (None, ["FBIS", "FR", "FT", "LA"], [0, 1, 2, 2, 3]),
    "prefixes": (["LA", "FT", "FBIS", "FR94"], ["LA", "FT", "FBIS", "FR94"], [2, 3, 1, 1, 0]),
    "the longest prefix": (["F", "FT", "LA"], ["F", "FT", "LA"], [0, 0, 1, 1, 2]),
    "a dict": (dict(zip(DOCNOS, "babab", strict=True)).get, ["a", "b"], [1, 0, 1, 0, 1]),
    "a dict with documents of none": ({DOCNOS[0]: "a", DOCNOS[2]: "b"}.get, ["a", "b"], [0, -1, 1, -1, -1]),
    "a function": (lambda docno: docno[-1], ["1", "3", "4"], [0, 0, 1, 2, 0]),
}
# fmt: on


@pytest.mark.filterwarnings("ignore:. documents? of 5 to be split without a source:pt_reuse.ReuseWarning")
@pytest.mark.parametrize("rule", RULES)
def test_the_source_of_each_document(rule):
    given, names, code = RULES[rule]
    found = source_rule(given).members(DOCNOS)
    expected = {name: [i for i, at in enumerate(code) if at == n] for n, name in enumerate(names)}
    assert {name: mine.tolist() for name, mine in found.items()} == expected
    assert list(found) == names


WRONG = {
    "a prefix of none": ["FT", "WSJ", "AP"],
    "a function that returns no name": len,
    "a text": "FT",
    "an empty prefix": ["FT", ""],
    "an expression": re.compile("^([A-Z]+)"),
    "a dict": {"FT": ["FT"]},
}


@pytest.mark.parametrize("rule", WRONG)
def test_what_is_no_rule_or_matches_no_document(rule, messages):
    messages.refused(lambda: source_rule(WRONG[rule]).members(DOCNOS), argument="sources")
