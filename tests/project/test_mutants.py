"""The command that changes the code: which places it changes, and to what."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

MUTANTS = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "mutants.py"))["mutants_of"]


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("a = b < c <= d", ["a = b <= c <= d", "a = b < c < d"]),
        ("a = é + (b) * c", ["a = é - (b) * c", "a = é + (b) / c"]),
        ("a = b and c", ["a = b or c"]),
        ("a = not b", ["a = b"]),
        ("a = b not in c", ["a = b in c"]),
        ("a = -b", ["a = b"]),
        ("a = b[c:]", ["a = b[(c) + 1:]"]),
        ("a = b.argmax()", ["a = b.argmin()"]),
        ("a = b.sort(ascending=True)", ["a = b.sort(ascending=False)"]),
        ("a = 0", ["a = 1"]),
        # words, paths, types, looks and what Python alone reads
        ("import b", []),
        ('a = "b" + c', []),
        ('a = b / "c"', []),
        ("a: b[1] = c", []),
        ("def a(b: c[1]) -> d[1]: pass", []),
        ("raise a(1 + b)", []),
        ("a = f'{b + 1}'", []),
        ("a(linewidth=3, s=4)", []),
        ("a = Annotated[b, 1]", []),
    ],
)
def test_what_is_changed(code, changed, tmp_path):
    (file := tmp_path / "code.py").write_text(code, encoding="utf-8")
    found = MUTANTS(file)
    content = code.encode()
    assert [
        (content[:begin] + after.encode() + content[stop:]).decode() for _, _, begin, stop, _, after in found
    ] == changed
    assert all(content[begin:stop].decode() == before for _, _, begin, stop, before, _ in found)
