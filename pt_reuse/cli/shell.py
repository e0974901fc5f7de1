"""Errors, warnings and their advice, worded for a shell: options and commands in place of arguments and functions."""

from __future__ import annotations

import argparse
import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from pt_reuse._errors import Advice, Argument, Aside, Attribute, InputError, Option, ReuseWarning, in_python
from pt_reuse.cli.parser import Parser
from pt_reuse.cli.screen import complain
from pt_reuse.cli.study_commands import COMMANDS

#: arguments of Python that have another name here, or one of several
_NAMES = {
    "download": ("no_download",),
    "n_jobs": ("jobs",),
    "pooled": ("pooled", "only_pooled"),
}
#: functions and methods whose work an option does
_BY_OPTION = {
    "read_qrels": Option("qrels", ...),
    "read_runs": Option("runs", ...),
    "reorder": Option("order", ...),
    "with_metadata": Option("pooled", ...),
}
#: functions and methods whose work a command, or something else, does
_BY_COMMAND = {
    "Experiment": "`ptr.Experiment` in Python",
    "audit_labels": "`pt-reuse audit`",
    "compare": "`pt-reuse compare`",
    "compare_judgments": "`pt-reuse compare`",
    "compare_strategies": "`pt-reuse judge compare-strategies`",
    "depth_pool": "`pt-reuse pool`",
    "dropped": "`pt-reuse runs`",
    "export_tasks": "`pt-reuse judge export`",
    "fetch": "`pt-reuse fetch NAME`",
    "get_runs": "`pt-reuse runs --collection NAME`",
    "infer_pool": "`pt-reuse infer-pool`",
    "leave_out_uniques": "`pt-reuse lou`",
    "list_collections": "`pt-reuse collections`",
    "majority_vote": "`pt-reuse judge agreement FILE.csv --out DIR`, where FILE.csv is what --out writes here",
    "plan_labels": "`pt-reuse judge plan-labels`",
    "remainder": "`pt-reuse pool`",
    "sample": "to_check.csv of the plan",
    "score": "`pt-reuse score`",
    "register_collection": "a TOML file in the folder `collections` of PT_REUSE_HOME",
    "submitted": "`pt-reuse collections NAME`",
    "verify": "`pt-reuse verify NAME`",
    **{declared["function"]: f"`pt-reuse {declared['command']['name']}`" for declared in COMMANDS},
}
_QUOTES = "'\""


@dataclass(frozen=True)
class Shell:
    """Words advice for the one who called a command."""

    running: Parser
    commands: Sequence[Parser]

    def in_shell(self, advice: Advice) -> str:
        """Return advice as one types it in a shell, or in Python where no command can follow it."""
        if isinstance(advice, Argument):
            action = _action(self.running, advice.name)
            return advice.name if action is None else _named(action)
        if isinstance(advice, Aside):
            return ""
        if isinstance(advice, Attribute):
            shown_by = _BY_COMMAND.get(advice.name.rpartition(".")[2], f"{advice.name} in Python")
            # what the command at hand shows stands on the screen in a moment
            return "below" if shown_by == f"`{self.running.prog}`" else shown_by
        if isinstance(advice, Option):
            return self._option(advice)
        function = advice.function.rpartition(".")[2]
        if function in _BY_OPTION:
            return self._option(_BY_OPTION[function])
        if function == "list_collections" and advice.arguments:
            return f"`pt-reuse collections {advice.arguments.strip(_QUOTES)}`"
        return _BY_COMMAND.get(function, f"{in_python(advice)} in Python")

    def _option(self, advice: Option) -> str:
        if advice == Option("download", True):
            return _BY_COMMAND["fetch"]
        for parser in (self.running, *self.commands):
            action = _action(parser, advice.name)
            # of another command only what has a name of its own
            if action is not None and (parser is self.running or action.option_strings):
                words = _typed(action, advice.value)
                return words if parser is self.running else f"{words} of `{parser.prog}`"
        return f"{in_python(advice)} in Python"


def _action(parser: Parser, name: str) -> argparse.Action | None:
    names = (name, *_NAMES.get(name, ()))
    return next((parser.arguments[known] for known in names if known in parser.arguments), None)


def _named(action: argparse.Action) -> str:
    return action.option_strings[0] if action.option_strings else str(action.metavar)


def _typed(action: argparse.Action, value: Any) -> str:
    if action.nargs == 0:
        # --overwrite stands for True, --no-download for False
        stands_for = action.const and not action.dest.startswith("no_")
        opposed = isinstance(value, bool) and value != stands_for
        return f"no {_named(action)}" if opposed else _named(action)
    if value is ... or isinstance(value, bool):
        text = str(action.metavar)
    else:
        listing = isinstance(value, Sequence) and not isinstance(value, str)
        text = shlex.quote(",".join(map(str, value)) if listing else str(value))
    return f"{_named(action)} {text}" if action.option_strings else text


@contextmanager
def noted_warnings(shell: Shell) -> Iterator[None]:
    """Have every warning meanwhile said as a note, worded for a command."""
    # what was shown before is shown again; the filters that libraries set meanwhile stay
    with warnings.catch_warnings():
        pass
    before = warnings.showwarning
    warnings.showwarning = partial(_show_warning, shell)
    try:
        yield
    finally:
        warnings.showwarning = before


def show_error(shell: Shell, error: InputError | ReuseWarning) -> None:
    """Say an error, worded for a command."""
    complain(f"pt-reuse: {error.worded(shell.in_shell, function=False)}")


def _show_warning(shell: Shell, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if isinstance(message, ReuseWarning):
        complain(f"pt-reuse: note: {message.worded(shell.in_shell, function=False)}")
    else:
        complain(f"pt-reuse: {category.__name__}: {message}")
