"""The source of the package as syntax trees, parsed once a process, and one test for many files."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def outside_expressions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node but its expressions, in which nothing is defined, imported or asserted."""
    return (node for node in ast.iter_child_nodes(tree) if not isinstance(node, ast.expr))


class Trees(Mapping[str, ast.Module]):
    """Name -> the syntax tree of its file."""

    def __init__(self, files: Mapping[str, Path]):
        self._files = files

    def __getitem__(self, name: str) -> ast.Module:
        return parsed(self._files[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def every(things: Iterable[str]) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """Return a decorator that makes a test of a check of one thing: a thousand tests of a millisecond take seconds."""
    names = list(things)

    def of_all(check: Callable[[str], None]) -> Callable[[], None]:
        def test() -> None:
            faults = []
            for name in names:
                try:
                    check(name)
                except AssertionError as error:
                    faults.append(f"{name}: {error}")
            assert names
            assert not faults, "\n".join(faults)

        # without __wrapped__, by which pytest would look for a fixture
        for attribute in ("__name__", "__doc__", "__module__"):
            setattr(test, attribute, getattr(check, attribute))
        return test

    return of_all
