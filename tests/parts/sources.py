"""One test for many files or names."""

from __future__ import annotations

from collections.abc import Callable, Iterable


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
