"""A study is a declaration: its options, its command and its default measures stand beside its mathematics."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_type_hints

from pt_reuse.errors import collecting
from pt_reuse.options import Option, documented, options_of

if TYPE_CHECKING:
    from pt_reuse.result import Result

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: where studies are
_PACKAGES = ("pt_reuse.studies", "pt_reuse.judging")
#: what arguments of studies are that no check and no default of their own is for
DATA = ("runs", "qrels", "scores")


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
        own: Mapping[str, Option],
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
        self.parameters = {name: own[name] for name in signature}
        self.beside = {name: parameter for name, parameter in own.items() if name not in signature}
        self.defaults = {name: p.default for name, p in signature.items() if p.default is not p.empty}

    @property
    def declaration(self) -> dict[str, Any]:
        """Return what the command line reads off the source, before the study is imported."""
        every = self.beside | self.parameters
        return declaration_of(self.name, self.call.__module__, self.command, every, self.parameters, self.defaults)

    @property
    def result(self) -> type[Result]:
        """Return the class of its result."""
        kind: type[Result] = inspect.unwrap(self.call).__globals__[self.call.__annotations__["return"]]
        return kind

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments as they are used, as far as that shows before any data is read."""
        every, found = {**self.beside, **self.parameters}, dict(given)
        later = {name for name in every if name in self.beside or self.defaults.get(name, ...) is None}
        for name, value in given.items():
            if name not in DATA and not (value is None and name in later):
                found[name] = every[name].checked(value, name)
        if self.together is not None:
            self.together(found)
        return found


def declaration_of(
    function: str,
    module: str,
    command: Command | None,
    options: Mapping[str, Option],
    parameters: Mapping[str, Option],
    defaults: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what the command of a study has to know: its options, some of them of no parameter."""
    needed = parameters.keys() - {*defaults, *DATA}
    return {
        "function": function,
        "module": module,
        "command": command and asdict(command),
        "data": [name for name in parameters if name in DATA and name not in defaults],
        "contributors": defaults.get("contributors"),
        "flags": {
            name: {"dest": name, **asdict(flag), "usual": defaults.get(name, flag.usual), "needed": name in needed}
            for name, option in options.items()
            if (flag := option.shell)
        },
    }


def study(
    *beside: Option,
    command: str = "",
    question: str = "",
    summary: str = "",
    details: str = "",
    group: str = "",
    name: str = "",
    page: str = "",
    papers: str = "",
    needs: tuple[str, ...] = (),
    screen: tuple[str, ...] = (),
    several: bool = False,
    runs_for: tuple[str, ...] = (),
    measures: Callable[[int], list[Any]] | None = None,
    depth: int | None = None,
    together: Callable[[Mapping[str, Any]], Any] | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Declare a study: a public function whose annotations say its options, see :mod:`pt_reuse.options`.

    The function gets every option as it is used; what :func:`beware` says inside stands in the result's settings.

    Args:
        beside: options of the command alone, of scores that it computes.
        command: its command, with its family where it has one: ``"profile pool-costs"``; without a summary, one that
            is declared elsewhere.
        question: that it answers, in the documentation's list of studies.
        summary: what the command does, in a line.
        details: further sentences for its help.
        group: the public namespace, such as ``pools``.
        name: the public name there, default that of the function.
        page: of the documentation.
        papers: keys of its list of papers.
        needs: columns that must be filled for some run, such as ``type``.
        screen: the reports that the command prints; default every one.
        several: whether a study of scores takes those under ``--other`` judgments.
        runs_for: options for which runs are read, where the study can do without runs.
        measures: a function of ``rel`` that returns the default measures.
        depth: of the pool where nobody says one.
        together: raises where options do not go together.
    """

    def declare(call: Callable[_P, _R]) -> Callable[_P, _R]:
        options = options_of(call) | {option.name: option for option in beside}
        call.__doc__ = documented(call, options)
        run = _checked(call)
        shell = None
        if summary:
            shown: dict[str, Any] = {"needs": needs, "screen": screen, "several": several, "runs_for": runs_for}
            shell = Command(name=command, summary=summary, details=details, **shown)
        elsewhere = "" if summary else command
        entry = Entry(question=question, group=group, name=name, page=page, papers=papers, command=elsewhere)
        # a function has no attributes that types know of
        run.study = Study(call, options, shell, entry, measures=measures, depth=depth, together=together)  # type: ignore[attr-defined]
        return run

    return declare


def _checked(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return the function behind the checks of its options, its result with the caveats that were found."""
    signature = inspect.signature(call)

    @wraps(call)
    def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        with collecting() as notes:
            result: Any = call(**study_of(checked).checked(bound.arguments))  # type: ignore[call-arg]
        beware = {"beware": "; ".join(dict.fromkeys(notes))} if notes else {}
        return result if not notes else replace(result, settings={**result.settings, **beware})

    # what help and pages show is the type alone
    hints = get_type_hints(call)
    shown = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()]
    checked.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return checked


def study_of(call: Callable[..., Any]) -> Study:
    """Return what is declared of a public function."""
    found: Study = call.study  # type: ignore[attr-defined]  # as above
    return found


@cache
def studies() -> dict[str, Callable[..., Any]]:
    """Import all studies, and return them by their names."""
    found = {}
    for package in _PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(getattr(value, "study", None), Study):
                    found[value.study.name] = value
    return dict(sorted(found.items()))
