"""StudyCall: a study, what it takes, and how it is called under other conventions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pt_reuse._check import did_you_mean, examples, told
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse._result import Result
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.how_pooled import HowPooled
from pt_reuse.runs.run_set import RunSet

#: the order in which documents are ranked for scoring: of the runs, not of the study
ORDER = "order"
#: a function of runs and judgments, with options, that returns a result
Study: TypeAlias = Callable[..., Result]
_DATA = ("runs", "qrels", "measures")


@dataclass(frozen=True)
class StudyCall:
    """A study and the options that it is called with.

    Attributes:
        study: the function.
        name: what it is called.
        options: the options that it takes, besides runs, judgments and measures -> their defaults.
        takes_any: whether it takes options that it does not name.
        fixed: the options that the user gives.
    """

    study: Study
    name: str
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
            InputError: what is no function, measures for a study that takes none, none for one that needs them, an
                option that the study does not have.
        """
        if not callable(study):
            raise InputError(
                Argument("study"),
                f" must be a function of runs and judgments, such as leave_out_uniques, got {told(study)}.",
                argument="study",
            )
        name = getattr(study, "__name__", type(study).__name__)
        parameters = inspect.signature(study).parameters
        takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        named = [one for one in parameters.values() if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
        # the first two are the runs and the judgments, however they are called
        own = [one for one in named if one.kind is one.KEYWORD_ONLY or list(parameters).index(one.name) > 1]
        takes = {one.name: one.default for one in own if one.name not in _DATA}
        call = cls(study, name, takes, takes_any, dict(options))
        needed = parameters.get("measures")
        if measures is not None:
            if needed is None and not takes_any:
                raise InputError(f"{name} takes no measures.", argument="measures")
            call = replace(call, fixed={**call.fixed, "measures": measures})
        elif needed is not None and needed.default is needed.empty:
            raise InputError(f"{name} needs measures. Give ", Option("measures", ...), ".", argument="measures")
        unknown = [option for option in options if not call.takes(option)]
        if unknown:
            raise InputError(
                f"{name} has no option {examples(unknown)}; it has {examples(takes, 20)}."
                f"{did_you_mean(unknown[0], takes)}",
                argument=unknown[0],
            )
        return call

    def takes(self, name: str) -> bool:
        """Return whether a convention can be varied: the order of the runs, or an option of the study."""
        return name == ORDER or name in self.options or (self.takes_any and name not in _DATA and name.isidentifier())

    def knows_default(self, name: str) -> bool:
        """Return whether the user or the study says what an option is where it is not varied."""
        return name in self.fixed or self.options.get(name, inspect.Parameter.empty) is not inspect.Parameter.empty

    def given(self, name: str) -> Any:
        """Return what the user gives for an option, else the study's default, else None."""
        found = self.fixed.get(name, self.options.get(name))
        return None if found is inspect.Parameter.empty else found

    def pool_order(self, runs: RunSet) -> str:
        """Return the order in which the study pools the runs where nobody says another."""
        return runs.pool_order or runs.order

    def under(self, runs: RunSet, qrels: Qrels, conventions: Mapping[str, Any]) -> Result:
        """Return the study's result under conventions.

        Args:
            runs: the field, in the ranking order of the conventions.
            qrels: the judgments.
            conventions: options of the study -> their values.
        """
        return self.study(runs, qrels, **{**self.fixed, **conventions})


def in_order(runs: RunSet, order: str) -> RunSet:
    """Return the runs in another ranking order, still pooled in the order in which they were pooled before."""
    return runs.reorder(order).pooled_as(HowPooled(runs.pool_order or runs.order))
