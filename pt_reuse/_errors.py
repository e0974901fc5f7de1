"""Errors and warnings: who was called, where the fault is, what is wrong, and advice for Python and for a shell."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: the public function that the user called, None outside of any
_CALLED: ContextVar[str | None] = ContextVar("pt_reuse_called", default=None)
#: where the work at hand is: a file, a run, a line, from the outside to the inside
_PLACES: ContextVar[tuple[str, ...]] = ContextVar("pt_reuse_places", default=())
#: how arguments are worded, from the inside to the outside
_WORDINGS: ContextVar[tuple[_Wording, ...]] = ContextVar("pt_reuse_wordings", default=())
#: where warnings go that are made inside of a job, None outside of any
_HEARD: ContextVar[list[ReuseWarning] | None] = ContextVar("pt_reuse_heard", default=None)
#: what a study that is under way has found that a reader must know, in a few words each; None outside of any
_NOTES: ContextVar[list[str] | None] = ContextVar("pt_reuse_notes", default=None)
#: whole sentences, and the beginning of another
_SENTENCES = re.compile(r"(.*[.?])(?:\s+(.*)|\s*)", re.DOTALL)
_OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
#: libraries that call us on behalf of the user; a warning does not point into them
_BETWEEN = (f"{os.sep}pyterrier{os.sep}", f"{os.sep}contextlib.py", f"{os.sep}functools.py")


@dataclass(frozen=True)
class Option:
    """Advice to give an argument a value, ``...`` for any: ``names='file'`` in Python, ``--names file`` in a shell."""

    name: str
    value: Any


@dataclass(frozen=True)
class Call:
    """Advice to call a public function: ``infer_pool(runs, qrels)`` in Python, a command in a shell."""

    function: str
    arguments: str = ""


@dataclass(frozen=True)
class Argument:
    """The name of an argument: ``depth`` in Python, ``--depth`` in a shell."""

    name: str


@dataclass(frozen=True)
class Attribute:
    """Advice to look at an attribute: ``runs.dropped`` in Python, the command that shows it in a shell."""

    name: str


@dataclass(frozen=True)
class Aside:
    """Words for Python alone; a shell leaves them out."""

    text: str


@dataclass(frozen=True)
class _Wording:
    """How the caller of an inner function words its arguments."""

    names: Mapping[str, str]  # argument of the inner function -> that of the caller
    call: str | None  # the function whose options all other arguments are, None where the caller has them, too

    def of(self, part: Part) -> Part:
        if isinstance(part, Argument):
            return Argument(self.names.get(part.name, part.name))
        if not isinstance(part, Option):
            return part
        if part.name not in self.names and self.call is not None:
            return Call(self.call, f"..., {in_python(part)}")
        return Option(self.names.get(part.name, part.name), part.value)


class Message:
    """What an error or a warning says.

    Args:
        parts: texts, and advice between them; another message stands for its own parts.
        argument: the argument that is at fault, None where none is.
        place: where the fault is: a file and line, a run, a key of a definition.

    Attributes:
        function: the public function that the user called, None where it is not known.
    """

    def __init__(self, *parts: Part, argument: str | None = None, place: str | None = None):
        for wording in _WORDINGS.get():
            parts = tuple(map(wording.of, parts))
            argument = wording.names.get(argument, argument) if argument is not None else None
        # an exception is copied between processes by its `args` and its attributes
        super().__init__(*parts)
        self.parts, self.argument = parts, argument
        self.place = ", ".join([*_PLACES.get(), *([place] if place else [])]) or None
        self.function: str | None = _CALLED.get()

    def worded(self, advice: Callable[[Advice], str], *, function: bool = True) -> str:
        """Return the message with advice put into words by a function, with or without the name of who was called."""
        said = worded(self.parts, advice)
        return ": ".join([*([self.function] if function and self.function else []), *filter(None, [self.place]), said])

    def __str__(self) -> str:
        return self.worded(in_python)


Advice: TypeAlias = Option | Call | Argument | Attribute | Aside
Part: TypeAlias = str | Option | Call | Argument | Attribute | Aside | Message


class InputError(Message, ValueError):
    """The input cannot be used: the message says what, where, what was expected and what to do.

    Attributes:
        faults: if several files are faulty, the first fault of each, of which the message lists up to ten; else this
            error alone.
    """

    #: how many faults a message lists
    LISTED = 10

    _several: tuple[InputError, ...] = ()

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
        listed: list[Part] = [head]
        # what begins a message says what is wrong; advice that several have follows once
        parted = [(fault, *_parted(fault.parts)) for fault in faults[:most]]
        advice = Counter(rest for _, _, rest in parted)
        for fault, what, rest in parted:
            where = f"\n- {fault.place}: " if fault.place else "\n- "
            listed += [where, *(fault.parts if advice[rest] == 1 else what)]
        if len(faults) > most:
            more = f"\n- and {len(faults) - most:,} more. All of them: "
            listed += [more, Attribute("error.faults"), "."]
        for parts in (parts for parts, times in advice.items() if times > 1 and parts):
            listed += ["\n", *parts]
        error = cls(*listed)
        error._several = tuple(faults)
        return error


def _parted(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return what a message says first, to the end of a sentence, and the rest, which begins a sentence."""
    for at, part in enumerate(parts):
        found = _SENTENCES.fullmatch(part) if isinstance(part, str) else None
        if found:
            return (*parts[:at], found[1]), (*filter(None, [found[2]]), *parts[at + 1 :])
        if isinstance(part, Message):
            return parts[: at + 1], parts[at + 1 :]
    return parts, ()


def wrong(argument: str, *parts: Part, place: str | None = None) -> InputError:
    """Return the error of an argument at fault, whose name begins the message."""
    return InputError(Argument(argument), *parts, argument=argument, place=place)


class ReuseWarning(Message, UserWarning):
    """Something was computed, but read this before you publish the number."""


def worded(parts: Iterable[Part], advice: Callable[[Advice], str]) -> str:
    """Return the parts of a message as one text, with advice put into words by a function."""
    return "".join(
        part
        if isinstance(part, str)
        else part.worded(advice, function=False)
        if isinstance(part, Message)
        else advice(part)
        for part in parts
    )


def in_python(advice: Advice) -> str:
    """Return advice as one types it in Python."""
    if isinstance(advice, Argument | Attribute):
        return advice.name
    if isinstance(advice, Aside):
        return advice.text
    if isinstance(advice, Option):
        return f"{advice.name}=" + ("" if advice.value is ... else repr(advice.value))
    return f"{advice.function}({advice.arguments})"


def door(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function a public door: what is raised or warned inside bears its name, unless we ourselves called it."""
    owner, _, bare = function.__qualname__.rpartition(".")

    @wraps(function)
    def entered(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        by_us = sys._getframe(1).f_code.co_filename.startswith(_OURS)
        if by_us and _CALLED.get() is not None:
            return function(*args, **kwargs)
        name = _method_name(bare, args[0]) if owner and args else bare
        # a command of ours words the arguments of what it calls
        wording = _WORDINGS.get() if by_us else ()
        with having({_CALLED: name, _PLACES: (), _WORDINGS: wording}):
            try:
                return function(*args, **kwargs)
            except InputError as error:
                error.function = error.function or name
                raise

    return entered


def _method_name(method: str, owner: Any) -> str:
    # the class of the object at hand, which may inherit the method
    kind = owner if isinstance(owner, type) else type(owner)
    return (
        kind.__name__
        if method in ("__init__", "__post_init__", "__call__", "__getitem__")
        else f"{kind.__name__}.{method}"
    )


@contextmanager
def having(values: Mapping[ContextVar[Any], Any]) -> Iterator[None]:
    """Give context variables values while this lasts."""
    with ExitStack() as stack:
        for variable, value in values.items():
            stack.callback(variable.reset, variable.set(value))
        yield


@contextmanager
def located(place: str) -> Iterator[None]:
    """Say of every error and warning made inside that it is at a place; a place of its own is within this one."""
    with having({_PLACES: (*_PLACES.get(), place)}):
        yield


@contextmanager
def arguments_as(call: str | None = None, **names: str) -> Iterator[None]:
    """Say of the arguments of an inner function, in errors and warnings made inside, what the user calls them."""
    with having({_WORDINGS: (_Wording(names, call), *_WORDINGS.get())}):
        yield


@contextmanager
def collecting() -> Iterator[list[str]]:
    """Collect what is noted meanwhile, see :func:`note`."""
    notes: list[str] = []
    with having({_NOTES: notes}):
        yield notes


def note(text: str) -> None:
    """Have the study that is under way keep a few words in its settings."""
    notes = _NOTES.get()
    if notes is not None:
        notes.append(text)


@dataclass(frozen=True)
class Circumstances:
    """Who was called, where the work is and how arguments are worded: a job that knows them says what its caller would.

    Attributes:
        function: the public function that the user called.
        places: from the outside to the inside.
        wordings: from the inside to the outside.
    """

    function: str | None
    places: tuple[str, ...]
    wordings: tuple[_Wording, ...]

    @classmethod
    def now(cls) -> Circumstances:
        """Return those of the caller."""
        return cls(_CALLED.get(), _PLACES.get(), _WORDINGS.get())

    @contextmanager
    def hearing(self, heard: list[ReuseWarning]) -> Iterator[None]:
        """Work under them, in whichever thread or process, and have the warnings made inside in a list."""
        with having({_CALLED: self.function, _PLACES: self.places, _WORDINGS: self.wordings, _HEARD: heard}):
            yield


def warn(*parts: Part, place: str | None = None, category: type[ReuseWarning] = ReuseWarning) -> None:
    """Warn, pointing at the line of the user's that called us."""
    warn_as(category(*parts, place=place))


def warn_as(message: ReuseWarning) -> None:
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


def warn_again(text: str, category: type[Warning], file: str, line: int) -> None:
    """Give a warning of another library that was given in another process, at the line where it was."""
    warnings.warn_explicit(text, category, file, line)


def _action(message: ReuseWarning) -> str:
    """Return what the filters in force say is done with a warning, wherever it points."""
    for action, text, category, module, _ in warnings.filters:
        about = text is None or text.match(str(message))
        if about and isinstance(message, category) and module is None:
            return action
    return "default"


def _is_between(file: str) -> bool:
    return file.startswith(_OURS) or any(part in file for part in _BETWEEN)
