"""Errors and warnings: what is wrong, at which argument, and where; a warning points at the line of the user's."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

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
        action = _action(message)
        if action == "error":
            raise message
        if action != "ignore":
            heard.append(message)
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_between(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def _action(message: ReuseWarning) -> str:
    """Return what the filters in force say is done with a warning, wherever it points."""
    for action, text, category, module, _ in warnings.filters:
        if module is None and isinstance(message, category) and (text is None or text.match(str(message))):
            return action
    return "default"


def _is_between(file: str) -> bool:
    return file.startswith(_OURS) or any(part in file for part in _BETWEEN)
