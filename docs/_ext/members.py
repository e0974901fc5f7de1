"""``.. members:: RunSet`` makes a table of a class: every public method and property, with a line each."""

from __future__ import annotations

import inspect
from operator import attrgetter
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.ext.autosummary import Autosummary

import pt_reuse


def public_members(kind: type) -> list[str]:
    """Return the names of the methods and properties that a class of ours, or a base of ours, defines."""
    found: dict[str, None] = {}
    for base in kind.__mro__:
        if base.__module__.startswith("pt_reuse"):
            found |= {name: None for name, value in vars(base).items() if _is_member(name, value)}
    return list(found)


def _is_member(name: str, value: Any) -> bool:
    # a function wrapped by functools is one, too; a plain value, such as a title, is not
    return not name.startswith("_") and (
        isinstance(value, (property, classmethod, staticmethod)) or inspect.isroutine(value) or hasattr(value, "func")
    )


class Members(Autosummary):
    """The table of a class of the package, always in step with the class."""

    required_arguments = 1
    has_content = False
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        (name,) = self.arguments
        self.options["nosignatures"] = True
        names = [f"~{name}.{member}" for member in public_members(attrgetter(name)(pt_reuse))]
        if not names:
            raise self.error(f"{name} has no public methods or properties")
        self.content = StringList(names, source=name)
        caption = nodes.rubric(text=f"Methods and properties of {name}")
        return [caption, *super().run()]


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.setup_extension("sphinx.ext.autosummary")
    app.add_directive("members", Members)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
