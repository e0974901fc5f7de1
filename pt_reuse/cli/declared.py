"""What studies declare, read off their source: help knows every option before anything heavy is imported."""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from pt_reuse import options
from pt_reuse.options import SHARED, Option
from pt_reuse.study import Words, declaration_of

_ROOT = Path(__file__).parents[1]
#: folders of studies
_FOLDERS = ("studies", "judging")
#: a decorator of a study and the name of its function
_STUDY = re.compile(r"^@study\((.*?)\)\ndef (\w+)\(", re.MULTILINE | re.DOTALL)
#: what is imported to evaluate the words of options, since nothing heavy comes with it
_LIGHT = ("dataclasses", "pt_reuse.options", "pt_reuse._check")
_WORDS = [field.name for field in fields(Words)]


class _Source(dict[str, Any]):
    """The names of a module with their values, evaluated from its source when they are asked for."""

    def __init__(self, module: str):
        path = _ROOT.parent / Path(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        self.body = ast.parse(path.read_text(encoding="utf-8")).body
        self._nodes: dict[str, ast.expr | None] = {}
        self._imported: dict[str, tuple[str, str]] = {}
        for line in self.body:
            if isinstance(line, ast.Assign):
                to, value = line.targets[0], line.value
                pairs: Any = [(to, value)]
                if isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = zip(to.elts, value.elts, strict=True)
                self._nodes |= {each.id: part for each, part in pairs if isinstance(each, ast.Name)}
            elif isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                self._nodes[line.target.id] = line.value
            elif isinstance(line, ast.ImportFrom):
                self._imported |= {each.asname or each.name: (str(line.module), each.name) for each in line.names}

    def __missing__(self, name: str) -> Any:
        if name in self._nodes:
            return self.value(self._nodes[name])
        module, known = self._imported[name]
        if (module, known) == ("pt_reuse", "options"):
            return options
        return getattr(importlib.import_module(module), known) if module in _LIGHT else _source(module)[known]

    def value(self, node: ast.expr | None) -> Any:
        """Return the value of an expression; of a name that is another's alone, where that is read."""
        return None if node is None else eval(compile(ast.Expression(node), "<options>", "eval"), {}, self)

    def option(self, node: ast.expr | None) -> Option | None:
        """Return the last option that an annotation has, its check left out."""
        if isinstance(node, ast.Attribute):
            return next((o for o in self.value(node).__metadata__[::-1] if isinstance(o, Option)), None)
        if isinstance(node, ast.Name) and node.id in self._nodes:
            return self.option(self._nodes[node.id])
        if isinstance(node, ast.Name) and self._imported.get(node.id, ("",))[0].startswith("pt_reuse."):
            module, name = self._imported[node.id]
            return _source(module).option(ast.Name(name, ast.Load()))
        if not isinstance(node, ast.Subscript) or ast.unparse(node.value) != "Annotated":
            return None
        base, *beside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found = [option for each in beside if (option := self.declared(each)) is not None]
        return found[-1] if found else self.option(base)

    def declared(self, node: ast.expr) -> Option | None:
        """Return the option that an expression makes, its check and choices left out."""
        if isinstance(node, ast.Call):
            kept = [word for word in node.keywords if word.arg not in ("check", "choices")]
            node = ast.copy_location(ast.Call(node.func, node.args, kept), node)
        found = self.value(ast.fix_missing_locations(node))
        return found if isinstance(found, Option) else None


@cache
def _source(module: str) -> _Source:
    return _Source(module)


@cache
def _found() -> dict[str, tuple[str, Words]]:
    """Return the module of every study and what its decorator says, by the name of its function."""
    found = {}
    for path in sorted(path for folder in _FOLDERS for path in (_ROOT / folder).rglob("*.py")):
        module = ".".join(path.relative_to(_ROOT.parent).with_suffix("").parts)
        for said, name in _STUDY.findall(path.read_text(encoding="utf-8")):
            call = ast.parse(f"study({said})", mode="eval").body
            words = {word.arg: word.value for word in getattr(call, "keywords", ()) if word.arg in _WORDS}
            found[name] = (module, Words(**{str(arg): ast.literal_eval(value) for arg, value in words.items()}))
    return found


def commands() -> dict[str, tuple[str, Words]]:
    """Return the function of each command of a study, and what the study says of itself, by the command's name."""
    found = {words.command: (function, words) for function, (_, words) in _found().items() if words.summary}
    return dict(sorted(found.items()))


def command_of(function: str) -> str:
    """Return the command of a function of the package, an empty text where it has none."""
    known = _found().get(function)
    return {"list_collections": "collections"}.get(function, "") if known is None else known[1].command


@cache
def declaration(function: str) -> dict[str, Any]:
    """Return what a study declares, as ``study_of(function).declaration`` does."""
    module, words = _found()[function]
    source = _source(module)
    (call,) = (line for line in source.body if isinstance(line, ast.FunctionDef) and line.name == function)
    calls = [each for each in call.decorator_list if isinstance(each, ast.Call)]
    (decorator,) = (each for each in calls if ast.unparse(each.func) == "study")
    parameters, n_needed = [*call.args.args, *call.args.kwonlyargs], len(call.args.args) - len(call.args.defaults)
    ends = [*[None] * n_needed, *call.args.defaults, *call.args.kw_defaults]
    defaults = {p.arg: source.value(node) for p, node in zip(parameters, ends, strict=True) if node is not None}
    own = {option.name: option for each in decorator.args if (option := source.declared(each)) is not None}
    signed = {p.arg: replace(option, name=p.arg) for p in parameters if (option := source.option(p.annotation))}
    every = {p.arg: own.get(p.arg) or signed.get(p.arg) or SHARED[p.arg] for p in parameters}
    beside = {name: option for name, option in own.items() if name not in every}
    return declaration_of(function, module, words, beside, every, defaults)


def flags_of(*functions: str) -> dict[str, dict[str, Any]]:
    """Return the options that studies declare, by their arguments; of the same in two studies that of the first."""
    return {name: flag for function in reversed(functions) for name, flag in declaration(function)["flags"].items()}
