"""A study is a declaration: its options, its command and its default measures stand beside its mathematics."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pt_reuse.options import SHARED, Parameter, documented

if TYPE_CHECKING:
    from pt_reuse.result import Result

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: what every study declares; `scripts/declare.py` writes it, so that help imports no study
DECLARED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("studies.json").read_text(encoding="utf-8"))
#: what arguments of studies are that no check and no default of their own is for
_DATA = ("runs", "qrels", "scores")


@dataclass(frozen=True, kw_only=True)
class Command:
    """The command of a study."""

    name: str  # of the command, with its family where it has one: ``"profile pool-costs"``
    summary: str  # what it does, in a line of the list of commands
    details: str = ""  # further sentences for its own help
    needs: tuple[str, ...] = ()  # columns that must be filled for some run, such as ``type``
    screen: tuple[str, ...] = ()  # the views that are printed; default every one
    several: bool = False  # whether a study of scores takes those under ``--other`` judgments
    runs_for: tuple[str, ...] = ()  # options for which runs are read, where the study can do without runs


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Where users find a study: its public name, and its line in the documentation's list of studies."""

    question: str  # that it answers
    group: str = ""  # the namespace, such as ``pools``; default the package itself
    name: str = ""  # there; default that of the function
    page: str = ""  # of the documentation; default that of its name under ``studies``
    papers: str = ""  # keys of the list of papers
    command: str = ""  # that answers it, where none is declared


class Study:
    """What is declared of a study."""

    def __init__(
        self,
        call: Callable[..., Any],
        own: Mapping[str, Parameter],
        command: Command | None,
        entry: Entry,
        *,
        measures: Callable[[int], list[Any]] | None,
        depth: int | None,
        together: Callable[[Mapping[str, Any]], Any] | None,
    ):
        signature = inspect.signature(call).parameters
        self.name, self.call, self.command = call.__name__, call, command
        name = entry.name or self.name
        self.entry = replace(entry, name=name, page=entry.page or f"studies/{name.replace('_', '-')}")
        self.measures, self.depth, self.together = measures, depth, together
        self.parameters = {name: own[name] if name in own else SHARED[name] for name in signature}
        self.beside = {name: parameter for name, parameter in own.items() if name not in signature}
        self.defaults = {name: p.default for name, p in signature.items() if p.default is not p.empty}

    @property
    def declaration(self) -> dict[str, Any]:
        """Return what has to be known before the study is imported, as JSON has it."""
        flags = {name: parameter.flag for name, parameter in (self.beside | self.parameters).items()}
        needed = self.parameters.keys() - {*self.defaults, *_DATA}
        return {
            "function": self.name,
            "module": self.call.__module__,
            "result": self.result.__name__,
            "home": self.result.__module__,
            "command": self.command and asdict(self.command),
            "entry": asdict(self.entry),
            "data": [name for name in self.parameters if name in _DATA and name not in self.defaults],
            "contributors": self.defaults.get("contributors"),
            "flags": [
                {
                    "dest": name,
                    **asdict(flag),
                    "usual": self.defaults.get(name, flag.usual),
                    "needed": name in needed,
                }
                for name, flag in flags.items()
                if flag
            ],
        }

    @property
    def result(self) -> type[Result]:
        """Return the class of its result."""
        kind: type[Result] = self.call.__globals__[self.call.__annotations__["return"]]
        return kind

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments as they are used, as far as that shows before any data is read."""
        every, found = {**self.beside, **self.parameters}, dict(given)
        later = {name for name in every if name in self.beside or self.defaults.get(name, ...) is None}
        for name, value in given.items():
            if name not in _DATA and not (value is None and name in later):
                found[name] = every[name].checked(value)
        if self.together is not None:
            self.together(found)
        return found


def study(
    *own: Parameter,
    entry: Entry,
    command: Command | None = None,
    measures: Callable[[int], list[Any]] | None = None,
    depth: int | None = None,
    together: Callable[[Mapping[str, Any]], Any] | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Declare a study: a public function whose arguments are options."""

    def declare(call: Callable[_P, _R]) -> Callable[_P, _R]:
        mine = {parameter.name: parameter for parameter in own}
        call.__doc__ = documented(call, mine)
        # a function has no attributes that types know of
        call.study = Study(call, mine, command, entry, measures=measures, depth=depth, together=together)  # type: ignore[attr-defined]
        return call

    return declare


def study_of(call: Callable[..., Any]) -> Study:
    """Return what is declared of a public function."""
    found: Study = call.study  # type: ignore[attr-defined]  # as above
    return found
