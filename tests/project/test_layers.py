"""The form of the source: which part may import which, how long files are, how many parameters functions have."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from sources import every

import pt_reuse
from pt_reuse.study import studies

ROOT = Path(pt_reuse.__file__).parent
TOP = "pt_reuse"
MOST_LINES = 800
MOST_PARAMETERS = 6

#: file or folder -> layer; imports go to lower layers, or to the same one without a cycle
LAYERS = {
    "_files": 0,
    "_jobs": 0, "_report": 0, "_saving": 0, "_text": 0,
    "_version": 0, "_plugin": 0, "errors": 0, "options": 0, "columns": 0, "result": 0, "study": 0,
    "arrays": 1, "plots": 1,
    "data": 2,
    "scoring": 3,
    "pooling": 4,
    "inputs": 5, "judge": 5,
    "studies": 6,
    "judging": 7, "collections": 7,
    "experiment": 8, "verification": 8,
    "demo": 9, "cards": 9,
    "cli": 10,
    "__init__": 11, "pools": 11, "labels": 11, "items": 11, "profile": 11, "rankings": 11,
}  # fmt: skip


def module_name(path):
    return ".".join([TOP, *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}
EVERY_FILE = every(FILES)
TEST_FILES = sorted(Path(__file__).parents[1].rglob("*.py"))


@cache
def tree_of(module):
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def outside_expressions(tree):
    """Yield the children of a node but its expressions, in which nothing is defined, imported or asserted."""
    return (node for node in ast.iter_child_nodes(tree) if not isinstance(node, ast.expr))


def layer(module):
    part = [*module.split("."), "__init__"][1]
    assert part in LAYERS, f"{module}: say in LAYERS and in the design on which layer {part!r} is"
    return LAYERS[part]


def imports(tree, inside="file"):
    """Yield (module of ours that is imported, where: in the ``file``, a ``function``, or for ``types`` only)."""
    for node in outside_expressions(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports(node, "function")
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from imports(node, "types")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                inner = [f"{node.module}.{name}" for name in names]
                names = [name if name in FILES else node.module for name in inner]
            for name in dict.fromkeys(names):
                if name is not None and name.split(".")[0] == TOP:
                    yield name, inside
        else:
            yield from imports(node, inside)


@EVERY_FILE
def test_imports_go_down(module):
    for imported, inside in imports(tree_of(module)):
        assert imported in FILES, f"{module} imports {imported}, which is no module"
        if inside != "function":
            assert layer(imported) <= layer(module), (
                f"{module} [{layer(module)}] imports {imported} [{layer(imported)}]"
            )


@EVERY_FILE
def test_only_plots_are_imported_late_and_what_a_command_runs(module):
    late = [imported for imported, inside in imports(tree_of(module)) if inside == "function"]
    # the parser of a command is there at once, without what the command works with
    assert module.startswith(f"{TOP}.cli") or all(imported.startswith(f"{TOP}.plots") for imported in late), late


def test_no_module_imports_itself_by_way_of_others():
    graph = {module: {name for name, inside in imports(tree_of(module)) if inside == "file"} for module in FILES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


@EVERY_FILE
def test_no_function_bears_the_name_of_its_module(module):
    names = [n.name for n in tree_of(module).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    # the decorator of studies is read as a word, and a study is looked for by its name
    declared = module.startswith(f"{TOP}.studies.") or module in {study.__module__ for study in studies().values()}
    allowed = {"study", *module.split(".")[2:]} if declared else {"study"}
    assert not set(module.split(".")[1:]) & set(names) - allowed


def test_a_study_is_where_its_name_says():
    several = {"by_type", "item_banks", "relevant_ranks", "significance"}
    declared = [study for study in studies().values() if study.__module__.startswith(f"{TOP}.studies.")]
    assert len(declared) > 20
    for study in declared:
        file = study.__module__.split(".")[2]
        assert file in several or file == study.__name__.removesuffix("_of_uniques")


def test_files_are_short():
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in (*FILES.values(), *TEST_FILES)}
    assert len(lengths) > 200
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def functions(tree, inside_class=False):
    """Yield (function, whether it is a method) for every function of a file."""
    for node in outside_expressions(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, inside_class
        yield from functions(node, isinstance(node, ast.ClassDef))


def positional(function, is_method):
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    names = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
    return names[1:] if is_method and not static else names


@EVERY_FILE
def test_no_function_has_many_positional_parameters(module):
    many = {
        f"{function.name}, line {function.lineno}": len(positional(function, is_method))
        for function, is_method in functions(tree_of(module))
        if len(positional(function, is_method)) > MOST_PARAMETERS
    }
    assert not many


#: an import of another package's, under a name that begins with `_`
PRIVATE = re.compile(
    r"^(?:from|import) (?!pt_reuse)(?:\S*[.])?_(?!_)|^from (?!pt_reuse)\S+ import .*\b_(?!_)", re.MULTILINE
)


def test_hardly_anything_private_of_others_is_imported():
    found = [module for module, path in FILES.items() if PRIVATE.search(path.read_text(encoding="utf-8"))]
    assert len(found) <= 1, found


def test_the_checks_see_what_they_should():
    tree = ast.parse(
        "from pt_reuse.errors import count\n"
        "def f():\n    if 1:\n        from pt_reuse.plots import marks\n"
        "if TYPE_CHECKING:\n    from pt_reuse import data\n"
        "import os, pt_reuse.arrays.pairs\n"
    )
    assert list(imports(tree)) == [
        (f"{TOP}.errors", "file"),
        (f"{TOP}.plots.marks", "function"),
        (f"{TOP}.data", "types"),
        (f"{TOP}.arrays.pairs", "file"),
    ]
    assert layer("pt_reuse") == 11
    assert set(LAYERS) == {[*module.split("."), "__init__"][1] for module in FILES}
    assert layer("pt_reuse.arrays.pairs") == 1
    assert len(FILES) > 20
    tree = ast.parse("class C:\n    def m(self, a, b, /, c, *, d): pass\n    @staticmethod\n    def s(a): pass\n")
    methods = {f.name: positional(f, method) for f, method in functions(tree)}
    assert methods == {"m": ["a", "b", "c"], "s": ["a"]}
    for line in ("from numpy._core import x", "from ir_datasets import _log", "import a._b"):
        assert PRIVATE.search(f"import numpy as np\n{line}\n")
    assert not PRIVATE.search("from __future__ import annotations\nfrom pt_reuse.errors import warn\n")
