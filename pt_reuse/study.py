"""A study is a declaration: its options, its command and its default measures stand beside its mathematics."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, get_type_hints

from pt_reuse.errors import collecting
from pt_reuse.options import Flag, Option, documented, options_of

if TYPE_CHECKING:
    from pt_reuse.result import Result

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: where studies are
_PACKAGES = ("pt_reuse.studies", "pt_reuse.judging")
#: what arguments of studies are that no check and no default of their own is for
DATA = ("runs", "qrels", "scores")
#: by what users look for a command or a study, in the order of the help and the pages
AIMS = {
    "new run": "I have a new run",
    "fair": "Is this collection fair?",
    "ranks": "Which ranks are real?",
    "judging": "What do I judge?",
    "models": "May a model's labels stand in?",
    "building": "I build a collection",
    "files": "Files and reports",
}


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a study says of itself; the command line reads it off the source, before the study is imported."""

    question: str = ""  # that it answers, in the documentation's list of studies
    group: str = ""  # the public namespace, such as ``pools``; default the package itself
    name: str = ""  # there; default that of the function
    page: str = ""  # of the documentation; default that of its name under ``studies``
    papers: str = ""  # keys of the documentation's list of papers
    command: str = ""  # with its family, such as ``"profile pool-costs"``; without a summary one declared elsewhere
    aim: str = ""  # of :data:`AIMS`, under which help lists the command and pages the study
    summary: str = ""  # what the command does, in a line
    details: str = ""  # further sentences for its help
    needs: tuple[str, ...] = ()  # columns that must be filled for some run, such as ``type``
    screen: tuple[str, ...] = ()  # the reports that it prints; default every one
    several: bool = False  # whether a study of scores takes those under ``--other`` judgments
    runs_for: tuple[str, ...] = ()  # options for which runs are read, where the study can do without runs


@dataclass(frozen=True)
class Study:
    """What is declared of a study."""

    call: Callable[..., Any]  # its body, which gets options as they are used
    words: Words
    own: Mapping[str, Option]  # the options of its signature, and those of the command alone
    measures: Callable[[int], list[Any]] | None  # the default measures, of the lowest relevant label
    together: Callable[[Mapping[str, Any]], Any] | None  # raises where options do not go together

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.call.__name__

    @property
    def public(self) -> str:
        """Return the public name."""
        return self.words.name or self.name

    @cached_property
    def parameters(self) -> dict[str, Option]:
        """Return the options of the signature."""
        return {name: self.own[name] for name in inspect.signature(self.call).parameters}

    @cached_property
    def beside(self) -> dict[str, Option]:
        """Return the options of the command alone, of scores that it computes."""
        return {name: option for name, option in self.own.items() if name not in self.parameters}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Return the default of each argument that has one."""
        signature = inspect.signature(self.call).parameters
        return {name: p.default for name, p in signature.items() if p.default is not p.empty}

    @cached_property
    def data(self) -> list[str]:
        """Return the data that it cannot do without."""
        return [name for name in self.parameters if name in DATA and name not in self.defaults]

    @cached_property
    def flags(self) -> dict[str, Flag]:
        """Return how the command takes each option that it has, with the default of the signature."""
        needed = self.parameters.keys() - {*self.defaults, *DATA}
        return {
            name: replace(flag, usual=self.defaults.get(name, flag.usual), needed=name in needed)
            for name, option in {**self.beside, **self.parameters}.items()
            if (flag := option.shell)
        }

    @property
    def result(self) -> type[Result]:
        """Return the class of its result."""
        return _result_of(self.call)

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


#: the public functions
_STUDIES: dict[Callable[..., Any], Study] = {}


def study(
    *beside: Option,
    measures: Callable[[int], list[Any]] | None = None,
    together: Callable[[Mapping[str, Any]], Any] | None = None,
    **words: Any,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Declare a study: a public function whose annotations say its options, see :mod:`pt_reuse.options`.

    The function gets every option as it is used; what :func:`beware` says inside stands in the result's settings.

    Args:
        beside: options of the command alone, of scores that it computes.
        measures: a function of ``rel`` that returns the default measures.
        together: raises where options do not go together.
        **words: those of :class:`Words`.
    """

    def declare(call: Callable[_P, _R]) -> Callable[_P, _R]:
        own = options_of(call) | {option.name: option for option in beside}
        kind = _result_of(call)
        tables = [f"``.{name}{'' if name in kind.declared else '()'}``" for name in getattr(kind, "views", ())]
        tables += ["``.plot()``"] if tables and kind.plots else []
        call.__doc__ = documented(call, own, f"{kind.__name__}: {', '.join(tables)}.")
        declared = Study(call, Words(**words), own, measures, together)
        run = cast("Callable[_P, _R]", _checked(declared))
        _STUDIES[run] = declared
        return run

    return declare


def _result_of(call: Callable[..., Any]) -> type[Result]:
    kind: type[Result] = inspect.unwrap(call).__globals__[call.__annotations__["return"]]
    return kind


def _checked(declared: Study) -> Callable[..., Any]:
    """Return the body of a study behind the checks of its options, its result with the caveats that were found."""
    signature = inspect.signature(declared.call)

    @wraps(declared.call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{declared.public}() {error}") from None
        bound.apply_defaults()
        with collecting() as notes:
            result = declared.call(**declared.checked(bound.arguments))
        if not notes:
            return result
        return replace(result, settings={**result.settings, "beware": "; ".join(dict.fromkeys(notes))})

    # what help and pages show is the type alone
    hints, public = get_type_hints(declared.call), cast("Any", checked)
    shown = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()]
    public.__signature__ = signature.replace(parameters=shown)
    return checked


def study_of(call: Callable[..., Any]) -> Study:
    """Return what is declared of a public function."""
    return _STUDIES[call]


@cache
def studies() -> dict[str, Callable[..., Any]]:
    """Import all studies, and return them by their names."""
    for package in _PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(module.name)
    ours = {study.name: call for call, study in _STUDIES.items() if study.call.__module__.startswith(_PACKAGES)}
    return dict(sorted(ours.items()))
