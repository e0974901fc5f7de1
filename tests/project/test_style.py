"""What docstrings say of what is public."""

from __future__ import annotations

import inspect
import re

from public import PUBLIC
from sources import every

FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
SECTIONS = ("Args", "Returns", "Yields", "Raises", "Example", "Source", "Attributes", "Differences")
#: folders whose functions compute a number that somebody defined
NUMERIC = ("pt_reuse.arrays.", "pt_reuse.studies.")


def sections(text):
    """Return heading -> text of a docstring of Google's form; what stands before the first heading under ``""``."""
    found, heading = {"": ""}, ""
    for line in inspect.cleandoc(text).splitlines():
        match = re.match(rf"({'|'.join(SECTIONS)}):(.*)", line)
        if match:
            heading, line = match.groups()
        found[heading] = found.get(heading, "") + line + "\n"
    return found


def entries(text):
    """Return parameter -> what an Args section says of it."""
    found = re.split(r"^    (\*{0,2}\w+): ", text, flags=re.MULTILINE)[1:]
    return {name.lstrip("*"): said for name, said in zip(found[::2], found[1::2], strict=True)}


def parameters_of(function):
    given = inspect.signature(function).parameters
    return {name: str(p.annotation) for name, p in given.items() if name not in ("self", "cls")}


def methods(kind):
    """Yield (name, function) for every public method that a class of ours defines, and every property's getter."""
    for base in kind.__mro__:
        if base.__module__.startswith("pt_reuse"):
            for name, value in vars(base).items():
                function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                function = getattr(value, "func", function)  # a cached property
                if not name.startswith("_") and inspect.isfunction(function):
                    yield name, function


METHODS = {f"{kind}.{name}": function for kind, value in CLASSES.items() for name, function in methods(value)}


@every(PUBLIC)
def test_public_names_have_a_docstring_of_one_line_and_more(name):
    text = inspect.cleandoc(PUBLIC[name].__doc__ or "")
    first = text.split("\n")[0]
    assert first.endswith((".", ":", "?"))
    assert text.count("\n") > 1 or issubclass(PUBLIC[name], Exception)


@every(FUNCTIONS)
def test_public_functions_document_parameters_results_and_errors(name):
    function = FUNCTIONS[name]
    found, parameters = sections(function.__doc__), parameters_of(function)
    said = entries(found.get("Args", ""))
    assert list(said) == list(parameters) or set(said) == set(parameters)
    assert {"Returns", "Raises"} <= set(found)
    assert ">>> " in found.get("Example", "")
    shapeless = [n for n, kind in parameters.items() if re.search("ArrayLike|NDArray", kind) and "(" not in said[n]]
    assert not shapeless, "arrays are given with their shape"
    if function.__module__.startswith(NUMERIC):
        assert found.get("Source", "").strip() or "Source" in found[""], "says who defined the number"


@every(METHODS)
def test_public_methods_document_what_they_take(name):
    text = METHODS[name].__doc__ or ""
    assert text.strip()
    unsaid = [parameter for parameter in parameters_of(METHODS[name]) if not re.search(rf"\b{parameter}\b", text)]
    assert not unsaid


def test_the_checks_see_what_they_should():
    parts = sections("One.\n\nArgs:\n    a: shape (n,),\n        more.\n    **b: all.\n\nReturns:\n    float: it.\n")
    assert set(parts) == {"", "Args", "Returns"}
    assert list(entries(parts["Args"])) == ["a", "b"]
    assert "more" in entries(parts["Args"])["a"]
    assert len(METHODS) > 30
    assert len(FUNCTIONS) > 15
