"""Which part of the package may import which: the tree of the design, checked on the source."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from public import NAMESPACES
from sources import Trees, every, outside_expressions

import pt_reuse
from pt_reuse.study import studies

ROOT = Path(pt_reuse.__file__).parent
TOP = "pt_reuse"
MOST_LINES = 800

#: file or folder -> layer; imports go to lower layers, or to the same one without a cycle
LAYERS = {
    "_check": 0, "_files": 0,
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
TREES = Trees(FILES)
EVERY_FILE = every(FILES)


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
    for imported, inside in imports(TREES[module]):
        assert imported in FILES, f"{module} imports {imported}, which is no module"
        if inside != "function":
            assert layer(imported) <= layer(module), (
                f"{module} [{layer(module)}] imports {imported} [{layer(imported)}]"
            )


def test_what_is_asked_of_a_field_needs_nothing_of_how_documents_are_judged():
    judging = f"{TOP}.judging"
    parts = {
        module.split(".")[1] for module in FILES if any(name.startswith(judging) for name, _ in imports(TREES[module]))
    }
    assert parts <= {"judging", "experiment", "cli"}


@EVERY_FILE
def test_only_plots_are_imported_late_and_what_a_command_runs(module):
    late = [imported for imported, inside in imports(TREES[module]) if inside == "function"]
    # the parser of a command is there at once, without what the command works with
    assert module.startswith(f"{TOP}.cli") or all(imported.startswith(f"{TOP}.plots") for imported in late), late


def test_no_module_imports_itself_by_way_of_others():
    graph = {module: {name for name, inside in imports(tree) if inside == "file"} for module, tree in TREES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


@EVERY_FILE
def test_no_function_bears_the_name_of_its_module(module):
    names = [n.name for n in TREES[module].body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    # the decorator of studies is read as a word, and a study is looked for by its name
    declared = module.startswith(f"{TOP}.studies.") or module in {study.__module__ for study in studies().values()}
    allowed = {"study", *module.split(".")[2:]} if declared else {"study"}
    assert not set(module.split(".")[1:]) & set(names) - allowed


def test_a_study_is_where_its_name_says():
    declared = [study for study in studies().values() if study.__module__.startswith(f"{TOP}.studies.")]
    assert len(declared) > 20
    for study in declared:
        assert study.__module__.split(".")[2] == study.__name__.removesuffix("_of_uniques")


def test_no_public_name_hides_a_module():
    modules = {module.split(".")[1] for module in FILES if "." in module} - set(NAMESPACES)
    assert not set(pt_reuse.__all__) & modules


@EVERY_FILE
def test_files_are_short(module):
    assert len(FILES[module].read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_the_checks_see_what_they_should():
    tree = ast.parse(
        "from pt_reuse._check import count\n"
        "def f():\n    if 1:\n        from pt_reuse.plots import marks\n"
        "if TYPE_CHECKING:\n    from pt_reuse import data\n"
        "import os, pt_reuse.arrays.pairs\n"
    )
    assert list(imports(tree)) == [
        (f"{TOP}._check", "file"),
        (f"{TOP}.plots.marks", "function"),
        (f"{TOP}.data", "types"),
        (f"{TOP}.arrays.pairs", "file"),
    ]
    assert layer("pt_reuse") == 11
    assert set(LAYERS) == {[*module.split("."), "__init__"][1] for module in FILES}
    assert layer("pt_reuse.arrays.pairs") == 1
    assert len(FILES) > 20
