"""The parser of a command, and what studies declare, read off their source before anything heavy is imported."""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pt_reuse.cli.output import complain, width_of
from pt_reuse.errors import InputError, ReuseWarning, did_you_mean, located
from pt_reuse.options import options_of
from pt_reuse.study import Study, Words

if TYPE_CHECKING:
    import ir_measures


_ROOT = Path(__file__).parents[1]
#: folders of studies
_FOLDERS = ("studies", "judging")
#: a decorator of a study and the name of its function
_STUDY = re.compile(r"^@study\((.*?)\)\ndef (\w+)\(", re.MULTILINE | re.DOTALL)
#: what is imported to evaluate the words of options, since nothing heavy comes with it
_LIGHT = ("typing", "collections.abc", "dataclasses", "functools", "pt_reuse", "pt_reuse.options", "pt_reuse.errors")
_WORDS = [field.name for field in fields(Words)]


class _Unknown:
    """Stands for what takes long to import, or is no constant: a type in an annotation, a check."""

    def __call__(self, *_: Any, **__: Any) -> _Unknown:
        return self

    __getitem__ = __or__ = __ror__ = __call__

    def __getattr__(self, name: str) -> _Unknown:
        # typing looks for names of its own
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class _Source(dict[str, Any]):
    """The names of a module with their values, evaluated from its source when they are asked for."""

    def __init__(self, module: str):
        super().__init__(vars(builtins))
        path = _ROOT.parent / Path(*module.split("."))
        path = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        self.body = ast.parse(path.read_text(encoding="utf-8")).body
        self._nodes: dict[str, ast.expr] = {}
        self._imported: dict[str, tuple[str, str]] = {}
        for line in self.body:
            if isinstance(line, ast.Assign):
                to, value = line.targets[0], line.value
                pairs: Any = [(to, value)]
                if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = zip(to.elts, value.elts, strict=True)
                self._nodes |= {each.id: part for each, part in pairs if isinstance(each, ast.Name)}
            elif isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
                self._nodes[line.target.id] = line.value
            elif isinstance(line, ast.ImportFrom):
                self._imported |= {each.asname or each.name: (str(line.module), each.name) for each in line.names}

    def __missing__(self, name: str) -> Any:
        if name in self._nodes:
            return self.value(self._nodes[name])
        module, known = self._imported.get(name, ("", ""))
        if module in _LIGHT:
            return getattr(importlib.import_module(module), known)
        return _source(module)[known] if module.startswith("pt_reuse.") else _Unknown()

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        return eval(compile(ast.Expression(node), "<options>", "eval"), self)


@cache
def _source(module: str) -> _Source:
    return _Source(module)


@cache
def _declared() -> dict[str, tuple[str, Words]]:
    """Return the module of every study and what its decorator says, by the name of its function."""
    declared = {}
    for path in sorted(path for folder in _FOLDERS for path in (_ROOT / folder).rglob("*.py")):
        module = ".".join(path.relative_to(_ROOT.parent).with_suffix("").parts)
        for written, name in _STUDY.findall(path.read_text(encoding="utf-8")):
            call = ast.parse(f"study({written})", mode="eval").body
            words = {word.arg: word.value for word in getattr(call, "keywords", ()) if word.arg in _WORDS}
            declared[name] = (module, Words(**{str(arg): ast.literal_eval(value) for arg, value in words.items()}))
    return declared


def commands() -> dict[str, tuple[str, Words]]:
    """Return the function of each command of a study, and what the study says of itself, by the command's name."""
    named = ((words.command, (function, words)) for function, (_, words) in _declared().items() if words.summary)
    return dict(sorted(named))


@cache
def declaration(function: str) -> Study:
    """Return what a study declares, which has no body, no checks and no measures."""
    module, words = _declared()[function]
    source = _source(module)
    (line,) = (each for each in source.body if isinstance(each, ast.FunctionDef) and each.name == function)
    calls = [each for each in line.decorator_list if isinstance(each, ast.Call)]
    (decorator,) = (each for each in calls if ast.unparse(each.func) == "study")
    beside = {option.name: option for option in map(source.value, decorator.args)}
    # the signature alone, with what it names evaluated as far as that is light
    line.body, line.decorator_list = line.body[:1], []
    exec(compile(ast.Module([line], []), "<study>", "exec"), source)
    call = source[function]
    call.__module__ = module
    return Study(call, words, options_of(call) | beside, None, None)


#: the groups in which help shows the options of a command
INPUT, READING, COMPUTED, OUTPUT = _GROUPS = "input", "how the input is read", "what is computed", "output"


class _Help(argparse.HelpFormatter):
    """Help no wider than is read with ease, whose usage names only what the command cannot do without."""

    def __init__(self, prog: str, **options: Any):
        super().__init__(prog, **{"max_help_position": 32, "width": min(width_of(), 100), **options})

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add the usage."""
        needed = [one for one in actions if one.required or not one.option_strings]
        self._prog = self._prog if len(actions) == len(needed) else f"{self._prog} [options]"
        super().add_usage(usage, needed, (), prefix)


class Parser(argparse.ArgumentParser):
    """A parser that gets its arguments when it is used, and ends with status 2 when it is given what it does not know.

    Args:
        add: adds the arguments.
    """

    def __init__(self, *args: Any, add: Callable[[Parser], None] = lambda _: None, **kwargs: Any):
        self.arguments: dict[str, argparse.Action] = {}
        self.checks: list[Callable[[argparse.Namespace], Any]] = []
        #: argument of Python -> what the command calls it, where it has another name
        self.called: dict[str, str] = {}
        #: what each command below this one does, by the headings of the help
        self.listed: dict[str, dict[str, str]] = {}
        self._add = [add]
        super().__init__(*args, **{"formatter_class": _Help, **kwargs})
        self._in_help = {name: self.add_argument_group(name) for name in _GROUPS}

    def filled(self) -> Parser:
        """Return the parser with its arguments."""
        while self._add:
            self._add.pop()(self)
        return self

    def members(self) -> Mapping[str, Parser]:
        """Return the commands below this one by their names."""
        actions = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return next((action.choices for action in actions), {})

    def add_commands(self, commands: Mapping[str, tuple[str, Callable[[Parser], None]]]) -> None:
        """Add commands below this one: by name what each does, and what adds its arguments."""
        self.usage = f"{self.prog} [options] COMMAND ..."
        below = self.add_subparsers(help=argparse.SUPPRESS, required=True, metavar="COMMAND", parser_class=Parser)
        for name, (summary, add) in commands.items():
            described = f"{summary[0].upper()}{summary[1:]}."
            below.add_parser(name, prog=f"{self.prog} {name}", description=described, add=add)
        self.listed = {"commands": {name: summary for name, (summary, _) in commands.items()}}

    def format_help(self) -> str:
        """Return the help."""
        formatter = self._get_formatter()
        for heading, commands in self.listed.items():
            formatter.start_section(heading)
            formatter.add_arguments([argparse.Action([], name, help=what) for name, what in commands.items()])
            formatter.end_section()
        # the library puts a colon behind every heading
        listed = formatter.format_help().replace("?:\n", "?\n")
        return "\n".join(filter(None, [super().format_help(), listed]))

    def tell(self, more: str) -> None:
        """Add to what help says of the command."""
        self.description = f"{self.description} {more}"

    def add_option(self, name: str, metavar: str, what: str, *, group: str = COMPUTED, **more: Any) -> None:
        """Add an option or a word: what stands for its value, nothing of a switch, and what help says."""
        how = {"metavar": metavar} if metavar else {"action": "store_true"}
        action = self._in_help[group].add_argument(name, help=what.replace("%", "%%"), **{**how, **more})
        self.arguments[action.dest] = action

    def add_options(self, options: Mapping[str, tuple[str, str]], *, group: str = COMPUTED, **more: Any) -> None:
        """Add several: name -> what stands for the value, and what help says."""
        for name, (metavar, what) in options.items():
            self.add_option(name, metavar, what, group=group, **more)

    def add_flags(self, function: str, *names: str, **changed: Any) -> None:
        """Add options that a study declares, those of some names or all; `changed` replaces what it says of them."""
        flags = declaration(function).flags
        for each in names or flags:
            flag = replace(flags[each], **changed)
            name, usual = flag.name or f"--{each.replace('_', '-')}", flag.usual
            if flag.kind in _SWITCHES:
                self.add_option(name, "", flag.help, dest=each, action=_SWITCHES[flag.kind])
                continue
            shown = ",".join(map(str, usual)) if isinstance(usual, list | tuple) else usual
            default = flag.default or ("" if usual is None else shown)
            self.add_option(
                name,
                flag.metavar,
                "; default ".join(filter(None, [flag.help, str(default)])),
                group=INPUT if flag.kind in _INPUT else COMPUTED,
                dest="judgment_names" if flag.kind == "names" else each,
                type=_KINDS.get(flag.kind, str),
                default=None if flag.kind == "names" else usual,
                nargs="+" if flag.kind in ("judges", "runs", "words") else None,
                required=flag.needed,
            )

    def add_out(self, what: str, metavar: str = "DIR") -> None:
        """Add the folder or file that a command writes to, and whether it may replace what is there."""
        options = {"--out": (metavar, f"write {what} there"), "--overwrite": ("", "replace what --out names")}
        self.add_options(options, group=OUTPUT)

    def add_quiet(self) -> None:
        """Add the flag that turns progress bars off."""
        self.add_option("--quiet", "", "no progress bars", group=OUTPUT)

    def add_jobs(self) -> None:
        """Add how many topics are worked on at a time."""
        self.called["n_jobs"] = "jobs"
        self.add_option("--jobs", "N", "how many topics at a time, -1 for all cores; default 1", type=int)

    def add_contributors(self, default: str = "pooled") -> None:
        """Add the option that says which runs made the pool."""
        what = f"runs that made the pool: pooled, all, names between commas, or a file with one name a line; {default} "
        self.add_option("--contributors", "WHICH", f"{what}by default", default=default)

    def add_unknown(self) -> None:
        """Add what becomes of matches of another name in files of answers."""
        self.add_option("--unknown", "WHAT", "a match of another name: error (default) or zero", default="error")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words as the standard library does; a misspelt option is told before one that is missing."""
        words: list[str] = sys.argv[1:] if args is None else list(args)
        names = [] if self.filled().members() else [word.partition("=")[0] for word in words if word.startswith("--")]
        unknown = [name for name in names if not any(known.startswith(name) for known in self._option_string_actions)]
        if unknown:
            self.refuse(unknown)
        found, rest = super().parse_known_args(words, namespace)
        if "parser" not in found:
            found.parser = self
        return found, rest

    def take(self, options: argparse.Namespace, words: Sequence[str]) -> None:
        """Take words that stand behind options for runs, where the command takes any; else end with a message."""
        if "runs" not in self.arguments or any(word.startswith("-") for word in words):
            self.refuse(words)
        options.runs = [*(options.runs or ()), *words]

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """End with a message about unknown words, and what may be meant."""
        options = [word for word in words if word.startswith("-")]
        near = [f"there is no option {one}.{did_you_mean(one, self._option_string_actions)}" for one in options]
        self.error("\n".join(near) or f"unrecognized arguments: {' '.join(words)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.error(f"there is no command {value!r}.{did_you_mean(value.replace('_', '-'), action.choices)}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """End with a message about how the command was called."""
        complain(f"{self.prog}: {message}\nSee {self.prog} --help.")
        self.exit(2)


#: an argument with its value, or with none, outside of a call
_GIVEN = re.compile(r"(?<![\w.(])(\w+)=('[^']*'|\{'[^'{}]*': [^'{},]*\}|\['[^\[\]]*'\]|True\b|(?=[\w\[{]))?")

#: a call of a function, as messages name it
_CALL = re.compile(r"\b([a-z]+(?:_[a-z]+)+)\(([^()]*)\)")


def in_shell(message: InputError | ReuseWarning | str, parser: Parser) -> str:
    """Return a message with the arguments of a command as one types them: ``--names file`` for ``names='file'``."""

    def typed(given: re.Match[str]) -> str:
        action = parser.arguments.get(parser.called.get(given[1], given[1]))
        if action is None:
            return given[0]
        name = action.option_strings[0] if action.option_strings else str(action.metavar)
        value = None if action.nargs == 0 else given[2]
        if value and value.startswith("{"):
            # one entry of a dict, which the command line takes as name=value
            value = value.strip("{}").replace("'", "").replace(": ", "=")
        if value and value.startswith("["):
            value = ",".join(re.findall("'([^']*)'", value))
        return name if value is None else f"{name} {value.strip(chr(39))}"

    def command(call: re.Match[str]) -> str:
        if call[1] == "list_collections":
            return f"`pt-reuse {f'collections {call[2]}'.strip()}`"
        known = _declared().get(call[1])
        return f"`pt-reuse {known[1].command}`" if known and known[1].command else call[0]

    text = message if isinstance(message, str) else message.text
    argument, place = getattr(message, "argument", None), getattr(message, "place", None)
    if argument and re.match(rf"{re.escape(argument)}\b(?!=)", text):
        text = f"{argument}={text[len(argument) :]}"
    text = _GIVEN.sub(typed, _CALL.sub(command, text)).replace(" All of them: error.faults.", "")
    return f"{place}: {text}" if place else text


# what words stand for


def listed(text: str) -> list[str]:
    """Return what an option lists between commas; a comma inside parentheses belongs to a value.

    Example:
        >>> listed("AP, P(rel=2,judged_only=True)@10 ,")
        ['AP', 'P(rel=2,judged_only=True)@10']
    """
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def numbers(text: str) -> list[float]:
    """Return the numbers between commas, whole ones as ints.

    Example:
        >>> numbers("1,.5")
        [1, 0.5]
    """
    try:
        found = [float(part) if re.search(r"[.\D]", part.lstrip("-")) else int(part) for part in listed(text)]
    except ValueError:
        found = []
    if not found:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}: give numbers between commas")
    return found


def number_or_numbers(text: str) -> float | list[float]:
    """Return one number, or several between commas."""
    found = numbers(text)
    return found if len(found) > 1 else found[0]


def number_or_text(text: str) -> int | str:
    """Return a whole number, or a word."""
    return int(text) if text.isdecimal() else text


#: kind of an option -> what reads its text; of others it is a text
_KINDS: dict[str, Any] = {
    "int": int,
    "float": float,
    "list": listed,
    "counts": number_or_numbers,
    "count or text": number_or_text,
    "rounds": listed,
    "budgets": numbers,
}
#: of these, what names files
_INPUT = ("judgments", "judges", "rounds", "runs", "answers")
_SWITCHES = {"switch": "store_true", "off": "store_false"}


def given_judge_rel(text: str | None) -> Any:
    """Return ``--judge-rel`` as ``judge_rel=`` takes it.

    Example:
        >>> given_judge_rel("4"), given_judge_rel("4:2,5:3"), given_judge_rel("exam=4,other=4:2,other=5:3")
        (4, {4: 2, 5: 3}, {'exam': 4, 'other': {4: 2, 5: 3}})
    """
    if text is None:
        return None
    found: dict[str, Any] = {}
    for part in listed(text):
        said = re.fullmatch(r"(?:(.*)=)?(\d+)(?::(\d+))?", part)
        name, known = (said[1] or "", found.get(said[1] or "", {})) if said else ("", None)
        # a label is said once, and not beside grades
        if said is None or not isinstance(known, dict) or (known and said[3] is None):
            break
        found[name] = int(said[2]) if said[3] is None else {**known, int(said[2]): int(said[3])}
    else:
        if found and ("" not in found or len(found) == 1):
            return found.get("", found)
    raise InputError(
        f"judge_rel must be a label such as 4, grades such as 4:2,5:3, or JUDGE= and one of these, such as exam=4, "
        f"each said once, got {text!r}.",
        argument="judge_rel",
    )


def chosen_measures(named: list[str] | None, rel: int | None) -> list[ir_measures.Measure]:
    """Return the measures that the user names, else AP and ``nDCG@10``."""
    from pt_reuse.scoring.caveats import usual_measures
    from pt_reuse.scoring.scores import checked_measures

    if named is None:
        return usual_measures(rel)
    with located("--measures"):
        return checked_measures(named)


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
