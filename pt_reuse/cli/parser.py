"""The parser of a command: it knows its arguments by name, so that errors and advice are worded for a shell."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from pt_reuse._errors import Advice, Argument, Aside, Attribute, InputError, Option, ReuseWarning, in_python
from pt_reuse.cli.screen import complain, width_of
from pt_reuse.study import DECLARED

#: what the studies with a command declare
COMMANDS = [declared for declared in DECLARED if declared["command"]]
#: what a command adds its parser to
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class _Help(argparse.HelpFormatter):
    """Help as wide as the screen, and no wider than is read with ease."""

    def __init__(self, prog: str, **options: Any):
        # a column of options that leaves the words beside them room
        super().__init__(prog, **{"max_help_position": 28, "width": min(width_of(sys.stdout), 100), **options})

    def _format_action(self, action: argparse.Action) -> str:
        groups = getattr(action, "groups", None)
        if groups is None:
            return super()._format_action(action)
        shown = {each.dest: each for each in self._iter_indented_subactions(action)}
        # the commands stand a step further in than they were measured
        self._action_max_length += self._indent_increment
        parts = []
        for heading, names in groups.items():
            self._indent()
            lines = "".join(self._format_action(shown[name]) for name in names)
            self._dedent()
            parts.append(f"{' ' * self._current_indent}{heading}:\n{lines}")
        return "\n".join(parts)


class Parser(argparse.ArgumentParser):
    """A parser that ends with status 2 when it is given what it does not know."""

    def __init__(self, *args: Any, **kwargs: Any):
        self.arguments: dict[str, argparse.Action] = {}
        self.checks: list[Callable[[argparse.Namespace], None]] = []
        super().__init__(*args, **{"formatter_class": _Help, **kwargs})

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """Add an argument, as in the standard library, and remember it by its name."""
        action = super().add_argument(*args, **kwargs)
        self.arguments[action.dest] = action
        return action

    def add_option(self, name: str, metavar: str, what: str, **more: Any) -> None:
        """Add an option or a word: what stands for its value, what help says, and more for the standard library."""
        self.add_argument(name, metavar=metavar, help=what, **more)

    def add_switch(self, name: str, what: str) -> None:
        """Add an option that is given or not."""
        self.add_argument(name, action="store_true", help=what)

    def check(self, options: argparse.Namespace) -> None:
        """End with a message where the options of a call do not go together."""
        for check in self.checks:
            check(options)

    def error(self, message: str) -> NoReturn:
        """End with a message about how the command was called."""
        complain(f"{self.prog}: {message}\nSee {self.prog} --help.")
        self.exit(2)

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """End with a message about words that the command does not know, and say how files are given."""
        runs, hint = self.arguments.get("runs"), ""
        if not words[0].startswith("-"):
            # of two options the one that the command cannot do without
            for name, what in (("judge", "Labels of a judge"), ("runs", "Runs")):
                given = self.arguments.get(name)
                if given is not None and given.option_strings:
                    hint = f"\n{what} are given by an option here: --{name} {words[0]}"
                    break
        elif runs is not None and not runs.option_strings and words[0].partition("=")[0] == "--runs":
            hint = f"\nRuns are given without an option here: {self.prog} RUNS ..."
        self.error(f"unrecognized arguments: {' '.join(words)}{hint}")


def add_command(commands: Commands, name: str, summary: str, *details: str) -> Parser:
    """Add a command and return its parser."""
    described = " ".join([f"{summary[0].upper()}{summary[1:]}.", *details])
    return commands.add_parser(name, help=summary, description=described)


def add_commands(parser: Parser, groups: Mapping[str, Sequence[str]] | None = None) -> Commands:
    """Return what commands below a parser are added to."""
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)
    commands.groups = groups  # type: ignore[attr-defined]
    return commands


#: arguments of Python that have another name here, or one of several
_NAMES = {"download": ("no_download",), "n_jobs": ("jobs",), "pooled": ("pooled", "only_pooled")}
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


def carry_out(options: argparse.Namespace) -> int:
    """Run a command and return its status; what it says is worded for it."""
    shell: Shell = options.shell
    try:
        shell.running.check(options)
        with _noted_warnings(shell):
            status: int | None = options.run(options)
    except (InputError, ReuseWarning) as error:
        # a warning where the user wants them to be errors
        complain(f"pt-reuse: {error.worded(shell.in_shell, function=False)}")
        return 2
    return status or 0


@contextmanager
def _noted_warnings(shell: Shell) -> Iterator[None]:
    """Have every warning meanwhile said as a note, worded for a command."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if isinstance(message, ReuseWarning):
            complain(f"pt-reuse: note: {message.worded(shell.in_shell, function=False)}")
        else:
            complain(f"pt-reuse: {category.__name__}: {message}")

    # what was shown before is shown again; the filters that libraries set meanwhile stay
    with warnings.catch_warnings():
        pass
    before = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
