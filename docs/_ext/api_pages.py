"""A page for every public function and class, made when the pages are built, and the tables that lead to them.

.. code-block:: rst

   .. reference:: Which systems took part?

      read_runs
      RunSet
      judging.judge_continuously judging.continuous.ContinuousJudging

A line has a public name, behind ``ptr.``, and further classes that its page describes, such as what it returns. The
pages are written to ``docs/api``, which is not checked in. Studies stand on pages with their results, from their
declarations: ``.. reference::`` with the content ``studies`` lists them.
"""

from __future__ import annotations

import inspect
import re
import shutil
from contextlib import suppress
from operator import attrgetter
from typing import Any, get_type_hints

import pandas as pd
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from studies import DOCS, STUDIES, home, public_name

import pt_reuse
import pt_reuse.experiment.artifact  # nothing else imports it before runs are made one

#: the folder of the pages, and the page that lists them
FOLDER, INDEX = DOCS / "api", DOCS / "api.rst"
#: classes of others, and what pages leave out of them and above them
_THEIRS = ("Transformer", "ABC", "Artifact", "DataFrame", "Exception")
_LISTED = re.compile(r"^\.\. reference::.*\n\n((?:   .*\n)+)", re.MULTILINE)


def listed(text: str) -> dict[str, list[str]]:
    """Return public name -> the further classes of its page, in the order of a text that lists them."""
    found: dict[str, list[str]] = {}
    for block in _LISTED.findall(text):
        for line in block.split("\n"):
            name, *more = line.split() or [""]
            found |= {public_name(s): [home(s)] for s in STUDIES} if name == "studies" else {name: more} if name else {}
    return found


def described(name: str, more: list[str]) -> str:
    """Return the page of a public name."""
    title = f"ptr.{name}"
    parts = [title, "=" * len(title), ""]
    for each in (name, *more):
        value = attrgetter(each)(pt_reuse)
        kind = "class" if inspect.isclass(value) else "function" if inspect.isroutine(value) else "data"
        parts += [f".. auto{kind}:: pt_reuse.{each}"]
        if kind == "class" and not issubclass(value, Exception):
            inherited = "" if issubclass(value, pd.DataFrame) else f"   :inherited-members: {', '.join(_THEIRS)}"
            parts += ["   :members:", *([inherited] if inherited else [])]
        if kind == "data":
            # the text of a measure is that of its class
            parts += ["   :no-value:", "", f".. autoclass:: {type(value).__module__}.{type(value).__qualname__}"]
        parts += [""]
    return "\n".join(parts)


def write(app: Sphinx) -> None:
    """Write every page, those alone that changed, and remove those of names that are gone."""
    pages = {f"{name}.rst": described(name, more) for name, more in listed(INDEX.read_text(encoding="utf-8")).items()}
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        if path.name not in pages:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, text in pages.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def from_the_root(_app: Any, _what: str, _name: str, value: Any, _options: Any, lines: list[str]) -> None:
    """Have docstrings name pages from the root: PyTerrier's documentation has them in one folder, this one below it.

    A table that a method returns is described twice, among the attributes and with its method; the latter is indexed.
    """
    lines[:] = [re.sub(r":doc:`((?:[^`<]* <)?)([^/`])", r":doc:`\1/\2", line) for line in lines]
    for at in range(len(lines) - 1, -1, -1):
        name = lines[at].removeprefix(".. attribute:: ")
        if name != lines[at] and callable(getattr(value, name, None)):
            lines.insert(at + 1, "   :no-index:")


def with_plain_types(_app: Any, value: Any, _bound: bool) -> None:
    """Leave out of types what declarations keep in them: the words of an option, the columns of a table."""
    with suppress(NameError, TypeError, AttributeError):
        value.__annotations__ = get_type_hints(value)


def first_line(name: str) -> str:
    """Return the first sentence of what a name's docstring says, without markup."""
    value = attrgetter(name)(pt_reuse)
    documented = value if inspect.isclass(value) or inspect.isroutine(value) else type(value)
    said = inspect.cleandoc(documented.__doc__ or "").split("\n\n")[0]
    return re.sub(r":\w+:`[~.]?([^`]*)`", r"\1", " ".join(said.split())).replace("``", "")


class Reference(SphinxDirective):
    """A table of names, each with a link to its page and a line, and the pages in the tree."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        names = listed("\n".join([".. reference:: x", "", *(f"   {line}" for line in self.content), ""]))
        lines = [f".. rubric:: {self.arguments[0]}", "", ".. list-table::", "   :widths: 34 66", "   :class: names", ""]
        for name in names:
            lines += [f"   * - :doc:`{name} </api/{name}>`", f"     - {first_line(name)}"]
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   /api/{name}" for name in names), ""]
        return self.parse_text_to_nodes("\n".join(lines))


def signature(name: str) -> str:
    """Return how a public function is called, without the types of its arguments."""
    plain = inspect.signature(attrgetter(name)(pt_reuse))
    arguments = [each.replace(annotation=each.empty) for each in plain.parameters.values()]
    return f"{name}{plain.replace(parameters=arguments, return_annotation=plain.empty)}"


class Signatures(SphinxDirective):
    """A list of how all public functions are called."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        names = listed(INDEX.read_text(encoding="utf-8"))
        lines = [f"- ``{signature(name)}``" for name in sorted(names) if inspect.isfunction(attrgetter(name)(pt_reuse))]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the pages, and the directive known."""
    app.connect("builder-inited", write)
    app.connect("autodoc-before-process-signature", with_plain_types)
    app.connect("autodoc-process-docstring", from_the_root)
    app.add_directive("reference", Reference)
    app.add_directive("signatures", Signatures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
