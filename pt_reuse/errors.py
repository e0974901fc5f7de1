"""Errors, warnings and checks of arguments: what is wrong, at which argument, and where."""

from __future__ import annotations

import operator
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any

#: where the work at hand is: a file, a run, a line, from the outside to the inside
_PLACES: ContextVar[tuple[str, ...]] = ContextVar("pt_reuse_places", default=())
#: where warnings go that are made inside of a job, None outside of any
_HEARD: ContextVar[list[ReuseWarning] | None] = ContextVar("pt_reuse_heard", default=None)
#: what a study that is under way has found that a reader must know, in a few words each; None outside of any
_NOTES: ContextVar[list[str] | None] = ContextVar("pt_reuse_notes", default=None)
#: a first sentence, and those after it
_SENTENCES = re.compile(r"(.*?[.?])\s+([A-Z].*)", re.DOTALL)
_OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
#: libraries that call us on behalf of the user; a warning does not point into them
_BETWEEN = (f"{os.sep}pyterrier{os.sep}", f"{os.sep}contextlib.py", f"{os.sep}functools.py")


def in_parts(text: str) -> tuple[str, str]:
    """Return what a text says is wrong, its first sentence, and the advice after it."""
    sentences = _SENTENCES.fullmatch(text)
    return (sentences[1], sentences[2]) if sentences else (text, "")


class _Placed(Exception):  # noqa: N818
    """A text that begins with its place."""

    def __init__(self, text: str, *, place: str | None = None):
        # an exception is copied between processes by its `args` and its attributes
        super().__init__(text)
        self.text = text
        self.place = ", ".join([*_PLACES.get(), *([place] if place else [])]) or None

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


class InputError(_Placed, ValueError):
    """The input cannot be used: the text says what, where, what was expected and what to do.

    Args:
        text: what is wrong; where an argument is at fault it begins with its name.
        argument: the argument that is at fault, None where none is.
        place: where the fault is: a file and line, a run, a key of a definition.

    Attributes:
        faults: if several files are faulty, the first fault of each, of which the text lists up to ten; else this
            error alone.
    """

    #: how many faults a text lists
    LISTED = 10

    _several: tuple[InputError, ...] = ()

    def __init__(self, text: str, *, argument: str | None = None, place: str | None = None):
        super().__init__(text, place=place)
        self.argument = argument

    @property
    def faults(self) -> tuple[InputError, ...]:
        """Return the first fault of each file."""
        return self._several or (self,)

    @classmethod
    def of_several(cls, faults: Sequence[InputError], of: int, noun: str) -> InputError:
        """Return one error for the faults of several files; a single fault is returned itself.

        Args:
            faults: the first fault of each faulty file; at least one.
            of: how many files there are.
            noun: what they are, such as ``"files"``.
        """
        head = f"{len(faults):,} of {of:,} {noun} are at fault; the first fault of each:"
        return cls.listing(faults, head)

    @classmethod
    def listing(cls, faults: Sequence[InputError], head: str, *, most: int = LISTED) -> InputError:
        """Return one error that lists faults below a head, `most` at most; a single fault is returned itself."""
        if len(faults) == 1:
            return faults[0]
        parted = [in_parts(str(fault)) for fault in faults[:most]]
        # what all advise follows once
        shared = {rest for _, rest in parted} == {parted[0][1]}
        lines = [f"- {what if shared else fault}" for fault, (what, _) in zip(faults, parted, strict=False)]
        if len(faults) > most:
            lines.append(f"- and {len(faults) - most:,} more. All of them: error.faults.")
        error = cls("\n".join([head, *lines, parted[0][1] if shared else ""]).rstrip())
        error._several = tuple(faults)
        return error


class ReuseWarning(_Placed, UserWarning):
    """Something was computed, but read this before you publish the number."""


@contextmanager
def located(place: str) -> Iterator[None]:
    """Say of every error and warning made inside that it is at a place; a place of its own is within this one."""
    before = _PLACES.set((*_PLACES.get(), place))
    try:
        yield
    finally:
        _PLACES.reset(before)


def places() -> tuple[str, ...]:
    """Return the places of the work at hand, which a job has to know as its caller does."""
    return _PLACES.get()


@contextmanager
def hearing(heard: list[ReuseWarning], at: tuple[str, ...]) -> Iterator[None]:
    """Work at places, in whichever thread or process, and have the warnings made inside in a list."""
    before, outer = _PLACES.set(at), _HEARD.set(heard)
    try:
        yield
    finally:
        _HEARD.reset(outer)
        _PLACES.reset(before)


@contextmanager
def collecting() -> Iterator[list[str]]:
    """Collect what is noted meanwhile, see :func:`note`."""
    notes: list[str] = []
    before = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(before)


def note(text: str) -> bool:
    """Have the study that is under way keep a few words in its settings; return whether it did not have them yet."""
    notes = _NOTES.get()
    if notes is None:
        return True
    notes.append(text)
    return notes.count(text) == 1


def warn(text: str, *, place: str | None = None, category: type[ReuseWarning] = ReuseWarning) -> None:
    """Warn, pointing at the line of the user's that called us."""
    give(category(text, place=place))


def give(message: ReuseWarning) -> None:
    """Give a warning that is made already, pointing at the line of the user's that called us."""
    heard = _HEARD.get()
    if heard is not None:
        # what the filters in force say is done with it, wherever it points
        filters = (known for known in warnings.filters if known[3] is None and isinstance(message, known[2]))
        action = next((how for how, text, *_ in filters if text is None or text.match(str(message))), "default")
        if action == "error":
            raise message
        if action != "ignore":
            heard.append(message)
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OURS) and not any(part in file for part in _BETWEEN):
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


#: the longest value that a message shows, in characters
_LONG = 100
#: what a count of 32 bits can hold
_MOST = 2**31 - 1
#: how much a name has in common with one that is near: not 4 of 6 letters, as neural has with manual
_NEAR = 0.7
#: letters that may be all that one remembers of a name
_WORD = 3


def shown(value: Any) -> str:
    """Write a value for a message, on one line: a text in quotes, cut where it is long; of what takes more its type."""
    if isinstance(value, PurePath):
        return repr(str(value))
    if isinstance(value, str):
        return repr(value if len(value) <= _LONG else f"{value[: _LONG - 3]}...")
    try:
        # a number without its numpy type
        text = repr(value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value)
    except (ValueError, RecursionError):
        # a number of thousands of digits, lists within lists
        return type(value).__name__
    return text if len(text) <= _LONG and "\n" not in text else type(value).__name__


def examples(values: Iterable[Any], limit: int = 3) -> str:
    """Quote the first few values and count the rest: ``'a', 'b', 'c' and 4 more``; long ones are shortened."""
    values = list(values)
    text = ", ".join(map(shown, values[:limit]))
    return f"{text} and {len(values) - limit} more" if len(values) > limit else text


def count(n: int, noun: str) -> str:
    """Write a number with its noun: ``1 run``, ``2,000 runs``."""
    return f"{n:,} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return several of a noun: ``runs``, ``families``, ``other people``."""
    if noun.endswith("person"):
        return noun.removesuffix("person") + "people"
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def per_cent(share: float) -> str:
    """Write a share in per cent: ``95%``."""
    return f"{100 * share:.4g}%"


def listed(texts: Sequence[str]) -> str:
    """List texts in a sentence: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the nearest of the known values, nothing where none is near."""
    # the case of letters alone makes nothing far
    names = {name.lower(): name for name in reversed([*known])}
    meant = str(value).lower()
    near = get_close_matches(meant, names, n=1, cutoff=_NEAR)
    if len(meant) >= _WORD:
        near += sorted((name for name in names if meant in name), key=len)
    return f" Did you mean {shown(names[near[0]])}?" if near else ""


def choice(argument: str, value: Any, allowed: Sequence[str], *, most: int = 12) -> str:
    """Return `value` when it is one of `allowed`, else raise and list the first of them."""
    if isinstance(value, str) and value in allowed:
        return value
    near = did_you_mean(value, allowed) if isinstance(value, str) else ""
    problem = f"{argument} must be one of {examples(allowed, most)}, got {shown(value)}.{near}"
    raise InputError(problem, argument=argument)


def flag(argument: str, value: Any) -> bool:
    """Return `value` when it is True or False, else raise."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise InputError(f"{argument} must be True or False, got {shown(value)}.", argument=argument)


def positive(argument: str, value: Any, unit: str) -> int:
    """Return `value` as an int when it is a whole number of at least 1 that counts can hold, else raise."""
    return whole(argument, value, unit, least=1)


def ascending(argument: str, value: Any, unit: str) -> list[int]:
    """Return whole numbers of at least 1, one or several, as ascending ones, each once, else raise."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
    if not several:
        raise InputError(f"{argument} names no number of {unit}. Give one or several.", argument=argument)
    return sorted({positive(argument, each, unit) for each in several})


def whole(argument: str, value: Any, unit: str, *, least: int) -> int:
    """Return `value` as an int when it is a whole number of at least `least` that counts can hold, else raise."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        expected = f"{argument} must be a whole number of {unit}, at least {least}"
        raise InputError(f"{expected}, got {shown(value)}.", argument=argument)
    if number > _MOST:
        raise InputError(f"{argument} must be at most {_MOST:,}, got {shown(value)}.", argument=argument)
    return number


def checked_seed(seed: Any) -> int:
    """Return a user's ``seed=`` as an int, or say that it is none."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, got {shown(seed)}.", argument="seed")
    return int(seed)


def checked_jobs(n_jobs: Any) -> int | None:
    """Return a user's ``n_jobs=`` as joblib takes it, None where joblib is to decide, or say that it is none."""
    if n_jobs is None or (isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and n_jobs):
        return None if n_jobs is None else int(n_jobs)
    expected = "a whole number of jobs, 1 or more, or below 0 to count from all cores (-1)"
    raise InputError(f"n_jobs must be {expected}, got {shown(n_jobs)}.", argument="n_jobs")


def fraction(argument: str, value: Any, *, ends: bool = True) -> float:
    """Return `value` as a float when it is a number from 0 to 1, else raise; without `ends` 0 and 1 are none."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if number and (0 <= value <= 1 if ends else 0 < value < 1):
        return float(value)
    expected = "from 0 to 1" if ends else "above 0 and below 1"
    raise InputError(f"{argument} must be a number {expected}, got {shown(value)}.", argument=argument)


def number(argument: str, value: Any, *, least: float = 0.0) -> float:
    """Return `value` as a float when it is a finite number of at least `least`, else raise."""
    if isinstance(value, Real) and not isinstance(value, bool) and least <= float(value) < float("inf"):
        return float(value)
    raise InputError(f"{argument} must be a number, {least:g} or more, got {shown(value)}.", argument=argument)


def names(argument: str, value: Any) -> tuple[str, ...]:
    """Return a text, or several, as texts, else raise."""
    found = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    if found and all(isinstance(name, str) for name in found):
        return found
    raise InputError(f"{argument} must be a name or several, got {shown(value)}.", argument=argument)


def columns(what: str, found: Iterable[Any], needed: Sequence[str]) -> None:
    """Raise when a frame lacks one of the columns that are needed."""
    found = list(found)
    missing = [column for column in needed if column not in found]
    if missing:
        raise InputError(
            f"{what} must have the columns {examples(needed, len(needed))}; "
            f"{examples(missing, len(missing))} not among {examples(found, 12) or 'none'}.",
            argument=what if what.isidentifier() else None,
        )
