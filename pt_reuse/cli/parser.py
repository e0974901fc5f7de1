"""The parser of a command: it knows its arguments by name, so that errors and advice are worded for a shell."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from pt_reuse._check import did_you_mean
from pt_reuse._errors import (
    Advice,
    Argument,
    Aside,
    Attribute,
    InputError,
    Option,
    ReuseWarning,
    in_python,
    located,
    wrong,
)
from pt_reuse.cli.output import complain, width_of
from pt_reuse.study import DECLARED

if TYPE_CHECKING:
    import ir_measures

#: what the studies with a command declare
COMMANDS = [declared for declared in DECLARED if declared["command"]]
#: what a command adds its parser to
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class Group(Enum):
    """The groups in which help shows the options of a command."""

    INPUT = "input"
    READING = "how the input is read"
    COMPUTED = "what is computed"
    OUTPUT = "output"


#: usage lists so many options; of more it says only that there are any
_LISTED = 4


class _Help(argparse.HelpFormatter):
    """Help as wide as the screen, and no wider than is read with ease."""

    def __init__(self, prog: str, **options: Any):
        # a column of options that leaves the words beside them room
        super().__init__(prog, **{"max_help_position": 28, "width": min(width_of(sys.stdout), 100), **options})

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add the usage; of many options only those that the command cannot do without."""
        needed = [action for action in actions if action.required or not action.option_strings]
        if len(actions) - len(needed) > _LISTED:
            self._prog, actions, groups = f"{self._prog} [options]", needed, ()
        super().add_usage(usage, actions, groups, prefix)

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
        #: the group that arguments are added to
        self.at_hand: Group | None = None
        super().__init__(*args, **{"formatter_class": _Help, **kwargs})
        self._groups = {group: self.add_argument_group(group.value) for group in Group}

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """Add an argument, as in the standard library, to the group at hand, and remember it by its name."""
        if kwargs.get("type") in _READERS:
            kwargs["type"] = _READERS[kwargs["type"]]
        add = super().add_argument if self.at_hand is None else self._groups[self.at_hand].add_argument
        action = add(*args, **kwargs)
        self.arguments[action.dest] = action
        return action

    def members(self) -> Mapping[str, Parser]:
        """Return the commands below this one by their names."""
        actions = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return next((action.choices for action in actions), {})

    @contextmanager
    def group(self, group: Group) -> Iterator[None]:
        """Have the arguments that are added meanwhile shown in a group of the help."""
        before, self.at_hand = self.at_hand, group
        try:
            yield
        finally:
            self.at_hand = before

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words as the standard library does; a misspelt option is told before one that is missing."""
        words = sys.argv[1:] if args is None else list(args)
        if words[:1] == ["help"] and self.members():
            words = [*words[1:], "--help"]
        of_mine = takewhile(lambda word: word != "--" and not (self.members() and word[:1] != "-"), words)
        known = self._option_string_actions
        names = [word.partition("=")[0] for word in of_mine if word.startswith("--")]
        unknown = [name for name in names if not any(option.startswith(name) for option in known)]
        if unknown:
            self.refuse(unknown)
        return super().parse_known_args(words, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.error(f"there is no command {value!r}.{_nearest_command(value, action.choices)}")
        super()._check_value(action, value)

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

    def take(self, options: argparse.Namespace, words: Sequence[str]) -> None:
        """Take words that stand behind options for runs, where the command takes any; else end with a message."""
        if "runs" not in self.arguments or any(word.startswith("-") for word in words):
            self.refuse(words)
        options.runs = [*(options.runs or ()), *words]

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """End with a message about unknown words: what may be meant, or how labels are given."""
        options = [word for word in words if word.startswith("-")]
        near = [f"there is no option {name}.{self._meant(name)}" for name in options]
        judge = self.arguments.get("judge")
        hint = "" if options or judge is None else f"\nLabels of a judge are given by an option: --judge {words[0]}"
        self.error("\n".join(near) if near else f"unrecognized arguments: {' '.join(words)}{hint}")

    def _meant(self, option: str) -> str:
        """Return what may be meant by an option that is not there: an argument without a name, or another option."""
        word = self.arguments.get(option.lstrip("-"))
        if word is not None and not word.option_strings:
            return f" {word.metavar} stands alone: {self.prog} {word.metavar}."
        return did_you_mean(option, self._option_string_actions)


def _nearest_command(name: str, commands: Mapping[str, Parser]) -> str:
    """Return which command may be meant, of a family too, by its name or by that of its function."""
    known = {str(each["function"]).replace("_", "-"): each["command"]["name"] for each in COMMANDS}
    for command, parser in commands.items():
        known |= {command: command, **{member: f"{command} {member}" for member in parser.members()}}
    near = get_close_matches(name.replace("_", "-"), known, n=1)
    return f" Did you mean {known[near[0]]!r}?" if near else ""


def add_command(commands: Commands, name: str, summary: str, *details: str) -> Parser:
    """Add a command and return its parser."""
    described = " ".join([f"{summary[0].upper()}{summary[1:]}.", *details])
    parser = commands.add_parser(name, help=summary, description=described)
    parser.at_hand = Group.COMPUTED
    return parser


def add_commands(parser: Parser, groups: Mapping[str, Sequence[str]] | None = None) -> Commands:
    """Return what commands below a parser are added to."""
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)
    # the standard library's commands have no groups; `_Help` asks for them
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
    "check_runs": "`pt-reuse runs --qrels FILE`",
    "audit_labels": "`pt-reuse audit`",
    "compare": "`pt-reuse compare`",
    "depth_pool": "`pt-reuse pool`",
    "dropped": "`pt-reuse runs`",
    "export_tasks": "`pt-reuse judge export`",
    "fetch": "`pt-reuse fetch NAME`",
    "get_runs": "`pt-reuse runs --collection NAME`",
    "infer_pool": "`pt-reuse infer-pool`",
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
    elif isinstance(value, Mapping):
        text = shlex.quote(",".join(f"{name}={said}" for name, said in value.items()))
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


_Number = TypeVar("_Number", int, float)
#: what --judge-rel has to be
_JUDGE_REL = "must be a label such as 4, grades such as 4:2,5:3, or JUDGE= and one of these, such as exam=4"


def listed(text: str) -> list[str]:
    """Return what an option lists between commas.

    A comma inside parentheses belongs to a value: ``AP(rel=2),P(rel=2,judged_only=True)@10`` are two measures.

    Example:
        >>> listed("AP, P(rel=2,judged_only=True)@10 ,")
        ['AP', 'P(rel=2,judged_only=True)@10']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def whole_number(text: str) -> int:
    """Return the whole number that a text in ASCII digits is; Python alone takes 1_0 and the digits of all scripts.

    Example:
        >>> whole_number("-10")
        -10
    """
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return int(text)


def decimal_number(text: str) -> float:
    """Return the number that a text in ASCII digits is.

    Example:
        >>> decimal_number("1e-3")
        0.001
    """
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


# what an error of usage calls them
whole_number.__name__, decimal_number.__name__ = "int", "float"
_READERS: Mapping[Any, Callable[[str], Any]] = {int: whole_number, float: decimal_number}


def _numbers(text: str, read: Callable[[str], _Number], expected: str) -> list[_Number]:
    try:
        found = [read(part) for part in listed(text)]
    except ValueError:
        found = []
    if not found:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}: give {expected}")
    return found


def _one_or_several(text: str, read: Callable[[str], _Number], expected: str) -> _Number | list[_Number]:
    found = _numbers(text, read, f"{expected}, or several between commas")
    return found if len(found) > 1 else found[0]


def _either(text: str) -> float:
    try:
        return whole_number(text)
    except ValueError:
        return decimal_number(text)


#: what reads the text of an option: one number or a list, always a list, and lists in which whole numbers are ints
whole_amounts = partial(_one_or_several, read=whole_number, expected="a whole number")
amounts = partial(_one_or_several, read=decimal_number, expected="a number")
whole_numbers = partial(_numbers, read=whole_number, expected="whole numbers between commas")
bands = partial(_numbers, read=_either, expected="numbers between commas")
budgets = partial(
    _numbers, read=_either, expected="shares such as .1,.25, or whole numbers such as 10,50, between commas"
)


def add_out(parser: Parser, what: str) -> None:
    """Add the folder that a command writes to, and whether it may replace what is there."""
    with parser.group(Group.OUTPUT):
        parser.add_option("--out", "DIR", f"write {what} there")
        parser.add_switch("--overwrite", "replace files in --out")


def add_verbose(parser: Parser, what: str = "every finding, row, note and setting") -> None:
    """Add the flag that prints what a screen has no room for."""
    with parser.group(Group.OUTPUT):
        parser.add_switch("--verbose", f"print {what}")


def add_quiet(parser: Parser) -> None:
    """Add the flag that turns progress bars off."""
    with parser.group(Group.OUTPUT):
        parser.add_switch("--quiet", "no progress bars")


def add_jobs(parser: Parser, noun: str) -> None:
    """Add ``--jobs``, how many of some noun in the plural are worked on at a time."""
    parser.add_option("--jobs", "N", f"how many {noun} at a time, -1 for all cores; default 1", type=int)


def chosen_measures(named: list[str] | None, rel: int | None) -> list[ir_measures.Measure]:
    """Return the measures that the user names, else AP and ``nDCG@10``."""
    from pt_reuse.scoring.caveats import usual_measures
    from pt_reuse.scoring.scores import checked_measures

    if named is None:
        return usual_measures(rel)
    with located("--measures"):
        return checked_measures(named)


def add_contributors(parser: Parser, *, default: str = "pooled") -> None:
    """Add the option that says which runs made the pool."""
    words = ", ".join(f"{word} (default)" if word == default else word for word in ("pooled", "all"))
    parser.add_option(
        "--contributors",
        "WHICH",
        f"runs that made the pool: {words}, comma-separated names, or a file with one name a line",
        default=default,
    )


def chosen_contributors(options: argparse.Namespace, known: list[str] | None) -> str | list[str]:
    """Return ``"pooled"``, ``"all"``, or the names that are listed or that a file lists."""
    from pt_reuse.data.metadata import read_lines
    from pt_reuse.pooling.pool import named_contributors

    text: str = options.contributors
    if text in ("pooled", "all"):
        return text
    # a long list of names is too long for a path, which pathlib would raise about
    if os.path.isfile(os.path.expanduser(text)):
        with located(text):
            lines = read_lines(text, "contributors", "a file of one name a line")
        return named_contributors((line.strip() for line in lines if line.strip()), known)
    return named_contributors(listed(text), known)


def given_judge_rel(text: str | None) -> Any:
    """Return ``--judge-rel`` as ``judge_rel=`` takes it: ``4``, ``4:2,5:3``, ``exam=4,other=4:2,other=5:3``."""
    if text is None:
        return None
    rels: dict[str, int] = {}
    grades: dict[str, dict[int, int]] = {}
    for part in listed(text):
        name, _, said = part.rpartition("=")
        label, _, grade = said.partition(":")
        numbers = label.isdecimal() and (grade or "0").isdecimal() and said.isascii() and not said.endswith(":")
        if not numbers or (not name and "=" in part):
            raise wrong("judge_rel", f" {_JUDGE_REL}, got {text!r}.")
        mine = grades.get(name, {})
        if name in rels or (not grade and name in grades) or int(label) in mine:
            whose = f"judge {name!r}" if name else "all judges"
            raise wrong(
                "judge_rel",
                f" must say once what the labels of {whose} mean, got {text!r}. Give one lowest relevant label (4) or "
                "a grade for each label (4:2,5:3).",
            )
        if grade:
            grades[name] = {**mine, int(label): int(grade)}
        else:
            rels[name] = int(label)
    found: dict[str, Any] = {**rels, **grades}
    if not found:
        raise wrong("judge_rel", f" {_JUDGE_REL}, got {text!r}.")
    if "" in found and len(found) > 1:
        raise wrong(
            "judge_rel",
            f" must name a judge with every label, or with none, got {text!r}. Without JUDGE= a label is of all.",
        )
    return found.get("", found)
