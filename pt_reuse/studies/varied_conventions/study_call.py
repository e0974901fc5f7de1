"""StudyCall: a study, what it takes, and how it is called under other conventions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

from pt_reuse._check import did_you_mean, examples, listed, told
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse._result import Result
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.run_scores import score

#: the order in which documents are ranked for scoring: of the runs, not of the study
ORDER = "order"
#: a function of runs and judgments, or of judgments or scores, with options, that returns a result
Study: TypeAlias = Callable[..., Result]
#: options of scoring, which a study of scores has besides its own -> their defaults
_OF_SCORING = {"complete": True, "without_topics": "error"}
_DATA = ("runs", "qrels", "measures", "scores")
_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_EMPTY = inspect.Parameter.empty


class Takes(Enum):
    """What a study is a function of."""

    RUNS = "runs and judgments"
    QRELS = "judgments"
    QRELS_AND_RUNS = "judgments and, by name, runs"
    SCORES = "scores"


@dataclass(frozen=True)
class StudyCall:
    """A study and the options that it is called with.

    Attributes:
        study: the function.
        name: what it is called.
        takes: what it is a function of.
        options: the options that it takes, besides data and measures -> their defaults; of a study of scores those of
            scoring, too.
        takes_any: whether it takes options that it does not name.
        fixed: the options that the user gives.
    """

    study: Study
    name: str
    takes: Takes
    options: Mapping[str, Any]
    takes_any: bool
    fixed: Mapping[str, Any]

    @classmethod
    def of(cls, study: Any, measures: Any, options: Mapping[str, Any]) -> StudyCall:
        """Return the call of a study, or say why it cannot be called so.

        Args:
            study: what the user gives as a study.
            measures: what the user gives as measures, None for nothing.
            options: what else the user gives.

        Raises:
            InputError: what is no function of such data, measures for a study that takes none, none for one that needs
                them, an option that the study does not have.
        """
        parameters = _parameters(study)
        # the function within a partial one bears the name
        name: str = getattr(study, "__name__", getattr(getattr(study, "func", study), "__name__", "the study"))
        takes, data = _data(name, parameters)
        own = {one.name: one.default for one in parameters.values() if one.kind in _NAMED}
        taken = {option: default for option, default in own.items() if option not in (*data, "measures")}
        taken |= _OF_SCORING if takes is Takes.SCORES else {}
        takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        # what can be read once only is needed in every combination
        measures, *given = (list(one) if isinstance(one, Iterator) else one for one in (measures, *options.values()))
        call = cls(study, name, takes, taken, takes_any, dict(zip(options, given, strict=True)))
        default = _EMPTY if takes is Takes.SCORES else own.get("measures")
        if measures is not None:
            if takes is not Takes.SCORES and "measures" not in own and not takes_any:
                raise InputError(f"{name} takes no measures.", argument="measures")
            call = replace(call, fixed={**call.fixed, "measures": measures})
        elif default is _EMPTY:
            raise InputError(f"{name} needs measures. Give ", Option("measures", ...), ".", argument="measures")
        unknown = [option for option in options if not call.has(option)]
        if unknown:
            raise InputError(
                f"{name} has no option {examples(unknown)}; it has {examples(taken, 20)}."
                f"{did_you_mean(unknown[0], taken)}",
                argument=unknown[0],
            )
        return call

    @property
    def unusual(self) -> dict[str, Any]:
        """Return what the user gives that is not the study's default."""

        def usual(name: str, value: Any) -> bool:
            default = self.options.get(name, _EMPTY)
            return value is default or (isinstance(value, str | int | float) and value == default)

        return {name: value for name, value in self.fixed.items() if not usual(name, value)}

    def check_complete(self, varied: Mapping[str, Any]) -> None:
        """Raise where neither the user nor the grid gives an option that the study needs."""
        missing = [one for one, default in self.options.items() if default is _EMPTY and one not in self.fixed]
        missing = [one for one in missing if not varied.get(one)]
        if missing:
            raise InputError(
                f"{self.name} needs {listed(missing)}, besides {self.takes.value}. Give ",
                Option(missing[0], ...),
                ".",
                argument=missing[0],
            )

    def has(self, name: str) -> bool:
        """Return whether a convention can be varied: the order of the runs, or an option of the study."""
        if name == ORDER:
            return self.takes is not Takes.QRELS
        return name in self.options or (self.takes_any and name.isidentifier() and name not in _DATA)

    def knows_default(self, name: str) -> bool:
        """Return whether the user or the study says what an option is where it is not varied."""
        return name in self.fixed or self.options.get(name, _EMPTY) is not _EMPTY

    def given(self, name: str) -> Any:
        """Return what the user gives for an option, else the study's default, else None."""
        found = self.fixed.get(name, self.options.get(name))
        return None if found is _EMPTY else found

    def under(self, runs: RunSet, qrels: Qrels, conventions: Mapping[str, Any]) -> Result:
        """Return the study's result under conventions."""
        options = {**self.fixed, **conventions}
        if self.takes is Takes.QRELS:
            return self.study(qrels, **options)
        if self.takes is Takes.QRELS_AND_RUNS:
            return self.study(qrels, runs=runs, **options)
        if self.takes is Takes.RUNS:
            return self.study(runs, qrels, **options)
        of_scoring = {name: options.pop(name) for name in ("measures", *_OF_SCORING) if name in options}
        return self.study(score(runs, qrels, **of_scoring), **options)


def _parameters(study: Any) -> Mapping[str, inspect.Parameter]:
    try:
        if callable(study):
            return inspect.signature(study).parameters
    except ValueError:
        # a function of C, of which nobody knows what it takes
        pass
    raise InputError(
        Argument("study"),
        f" must be a function of runs and judgments, such as leave_out_uniques, got {told(study)}.",
        argument="study",
    )


def _data(name: str, parameters: Mapping[str, inspect.Parameter]) -> tuple[Takes, tuple[str, ...]]:
    """Return what a study is a function of, and the parameters that take it."""
    placed = [one.name for one in parameters.values() if one.kind in _PLACED]
    if placed[:1] == ["scores"]:
        return Takes.SCORES, ("scores",)
    if placed[:1] == ["qrels"]:
        return (Takes.QRELS_AND_RUNS, ("qrels", "runs")) if "runs" in parameters else (Takes.QRELS, ("qrels",))
    anything = any(one.kind is one.VAR_POSITIONAL for one in parameters.values())
    elsewhere = "runs" in parameters and placed[:1] != ["runs"]
    # the first two are the runs and the judgments, however they are called
    if (len(placed) > 1 or anything) and not elsewhere:
        return Takes.RUNS, tuple(placed[:2])
    raise InputError(
        f"{name} is a function of {listed(placed) or 'nothing'}. Give one of runs and judgments, of judgments (qrels), "
        "or of scores.",
        argument="study",
    )
