"""The parser of a command: it knows its arguments by name, so that messages can call them as a shell does."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from enum import Enum
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from pt_reuse._check import did_you_mean
from pt_reuse.cli.output import complain, width_of
from pt_reuse.errors import InputError, ReuseWarning, located
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
        #: argument of Python -> what the command calls it, where it has another name
        self.called: dict[str, str] = {}
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


#: an argument with its value, or with none, outside of a call
_GIVEN = re.compile(r"(?<![\w.(])(\w+)=('[^']*'|True\b|(?=[\w\[{]))?")


def in_shell(message: InputError | ReuseWarning | str, parser: Parser) -> str:
    """Return a message with the arguments of a command as one types them: ``--names file`` for ``names='file'``."""

    def typed(given: re.Match[str]) -> str:
        action = parser.arguments.get(parser.called.get(given[1], given[1]))
        if action is None:
            return given[0]
        name = action.option_strings[0] if action.option_strings else str(action.metavar)
        value = None if action.nargs == 0 else given[2]
        return name if value is None else f"{name} {value.strip(chr(39))}"

    text, argument = (message, None) if isinstance(message, str) else (message.text, getattr(message, "argument", None))
    if argument and re.match(rf"{re.escape(argument)}\b(?!=)", text):
        text = f"{argument}={text[len(argument) :]}"
    text = _GIVEN.sub(typed, text)
    place = None if isinstance(message, str) else message.place
    return f"{place}: {text}" if place else text


def carry_out(options: argparse.Namespace) -> int:
    """Run a command and return its status; what it says has its own words for arguments."""
    parser: Parser = options.parser
    try:
        parser.check(options)
        with _noted_warnings(parser):
            status: int | None = options.run(options)
    except (InputError, ReuseWarning) as error:
        # a warning where the user wants them to be errors
        complain(f"pt-reuse: {in_shell(error, parser)}")
        return 2
    return status or 0


@contextmanager
def _noted_warnings(parser: Parser) -> Iterator[None]:
    """Have every warning meanwhile said as a note, in the words of a command."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if isinstance(message, ReuseWarning):
            complain(f"pt-reuse: note: {in_shell(message, parser)}")
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
    parser.called["n_jobs"] = "jobs"
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
            raise InputError(f"judge_rel {_JUDGE_REL}, got {text!r}.", argument="judge_rel")
        mine = grades.get(name, {})
        if name in rels or (not grade and name in grades) or int(label) in mine:
            whose = f"judge {name!r}" if name else "all judges"
            raise InputError(
                f"judge_rel must say once what the labels of {whose} mean, got {text!r}. Give one lowest relevant "
                "label (4) or a grade for each label (4:2,5:3).",
                argument="judge_rel",
            )
        if grade:
            grades[name] = {**mine, int(label): int(grade)}
        else:
            rels[name] = int(label)
    found: dict[str, Any] = {**rels, **grades}
    if not found:
        raise InputError(f"judge_rel {_JUDGE_REL}, got {text!r}.", argument="judge_rel")
    if "" in found and len(found) > 1:
        raise InputError(
            f"judge_rel must name a judge with every label, or with none, got {text!r}. Without JUDGE= a label is "
            "of all.",
            argument="judge_rel",
        )
    return found.get("", found)
