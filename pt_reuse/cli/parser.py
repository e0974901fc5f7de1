"""The parser of a command: it knows its arguments by their names, so that advice can be worded for it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from pt_reuse._errors import wrong
from pt_reuse.cli.screen import complain, width_of

#: what --judge-rel has to be
_JUDGE_REL = "must be a label such as 4, grades such as 4:2,5:3, or JUDGE= and one of these, such as exam=4"
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


def add_out(parser: Parser, what: str) -> None:
    """Add the folder that a command writes to, and whether it may replace what is there."""
    parser.add_argument("--out", metavar="DIR", help=f"write {what} there")
    parser.add_argument("--overwrite", action="store_true", help="replace files in --out")


def add_quiet(parser: Parser) -> None:
    """Add the flag that turns progress bars off."""
    parser.add_argument("--quiet", action="store_true", help="no progress bars")


def add_jobs(parser: Parser, noun: str) -> None:
    """Add ``--jobs``, how many of some noun in the plural are worked on at a time."""
    parser.add_argument("--jobs", type=int, metavar="N", help=f"how many {noun} at a time, -1 for all cores; default 1")


def add_all(parser: Parser, noun: str) -> None:
    """Add the flag that shows a long table whole, one line for every `noun`."""
    parser.add_argument("--all", action="store_true", help=f"one line for every {noun}, however many")


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


def add_judge_rel(parser: argparse.ArgumentParser) -> None:
    """Add ``--judge-rel``, which :func:`given_judge_rel` reads."""
    parser.add_argument(
        "--judge-rel",
        metavar="LABEL",
        help="lowest label of the judges that is relevant, or LABEL:GRADE,... for the label of people that each stands "
        "for; JUDGE=... of one judge alone; default 1 where all are 0 and 1, else as for people, where labels above "
        "those of people are an error",
    )


def given_judge_rel(text: str | None) -> Any:
    """Return ``--judge-rel`` as ``judge_rel=`` takes it: ``4``, ``4:2,5:3``, ``exam=4,other=4:2,other=5:3``."""
    if text is None:
        return None
    rels: dict[str, int] = {}
    grades: dict[str, dict[int, int]] = {}
    for part in listed(text):
        name, _, said = part.rpartition("=")
        label, _, grade = said.partition(":")
        numbers = label.isdecimal() and (grade or "0").isdecimal() and not said.endswith(":")
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
